/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * record-value - reads one value of a record's JSON, and tells what is wrong with it: in which
 * file, at which path of keys, what was found and what was expected.
 */
#include "record-fields.h"

struct json_object;

/* Where in the text we are; a chain from the inside out. */
struct record_where {
	const struct record_where *up; /* NULL: the whole */
	const char *file;
	char *error;     /* RECORD_ERROR_LEN */
	const char *key; /* NULL: an item of an array */
	unsigned index;
};

struct record_where record_value_key(const struct record_where *up, const char *key);
struct record_where record_value_item(const struct record_where *up, unsigned index);

/* Writes the message. Always RECORD_E_REFUSED. value: what was found, NULL for nothing. */
int record_value_refuse(const struct record_where *w, struct json_object *value,
			const char *expected);

int record_value_number(const struct record_where *w, struct json_object *value, uint64_t max,
			uint64_t *ret) _must_check_;
/* A value of the field's kind into *ret, the member it stands for. */
int record_value_read(const struct record_where *w, struct json_object *value,
		      const struct record_field *f, void *ret) _must_check_;
