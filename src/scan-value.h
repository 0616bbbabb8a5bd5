/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * scan-value - readers of scan fields for single values: what type json-c gave, whether it is in
 * range, and how it gets into a member of the struct.
 */
#include "scan.h"

/* Into an integer member of any size, from f->min to f->max; signed where f->min < 0; only
 * checked where f->size is 0. */
int scan_value_number(struct scan *s, const struct scan_field *f, struct json_object *value,
		      void *into) _must_check_;

int scan_value_bool(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into) _must_check_;

/* A string, by f->parse() into the member; f->expected says what it takes. */
int scan_value_text(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into) _must_check_;

/* Into a const char * that lives as long as s->names' texts: UTF-8 without control characters, 1
 * to f->max bytes, and f->allows() (NULL: any), which f->expected puts in words then. */
int scan_value_name(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into) _must_check_;
/* The string alone, and its number in s->names. */
int scan_value_take_name(struct scan *s, const struct scan_field *f, struct json_object *value,
			 unsigned *ret_number, const char **ret) _must_check_;
