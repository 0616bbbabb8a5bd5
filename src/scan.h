/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * scan - JSON text into structs, by tables of fields, with errors that name the field.
 *
 * Knows how json-c is fed: objects and arrays that hold thousands of things are walked in the text
 * and json-c gets one small value at a time, whose tree is freed again before the next. A tree of
 * the whole text costs four times as much, mostly in page faults (tests/bench-manifest.c). So
 * strings are copied out, each once (names.h).
 */
#include "base.h"
#include "fault.h"
#include "names.h"

struct json_object;
struct json_tokener;

enum {
	SCAN_NESTING_MAX = 16, /* of what is below a field, known or not */
	SCAN_FIELDS_MAX = 32,  /* of one object: bits of `seen` */
};

enum {
	_SCAN_E_SUCCESS,
	SCAN_E_REFUSED, /* the error text says why; given on through the readers to the starter */
};

struct scan {
	struct fault fault;
	const char *text, *at, *end;
	struct json_tokener *tokener;
	struct names names;
	unsigned n_unknown;
	char *first_unknown; /* the path of the first key that is in no table */
};

struct scan_field {
	const char *key;
	bool required;
	/* One of the two. read: the value is no null, which counts as absent. stream: the value
	 * is still in the text, for scan_object() or scan_array(). */
	int (*read)(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into);
	int (*stream)(struct scan *s, void *into);
	size_t at, size; /* of the member of *into that read fills: SCAN_AT */
	size_t has;      /* of its flag: SCAN_HAS; 0: none */
	/* What the readers of scan-value.h want to know. */
	int64_t min, max;
	bool (*parse)(const char *text, void *ret);
	bool (*allows)(const char *text);
	const char *expected;
};

#define SCAN_AT(type, member) .at = offsetof(type, member), .size = sizeof(((type *) 0)->member)
#define SCAN_HAS(type, member) .has = offsetof(type, member) + 1

/* Checks what can be told of the text as a whole: size, a newline at its end, no NUL.
 * SCAN_E_REFUSED or -ENOMEM; scan_done() takes it in any case. */
int scan_init(struct scan *s, const struct fault *fault, const char *text, size_t size)
	_must_check_;
void scan_done(struct scan *s);

/* The object that comes next in the text, member by member into *into. A missing required field
 * is refused. *ret_seen: bit i for fields[i]. */
int scan_object(struct scan *s, const struct scan_field *fields, unsigned n, void *into,
		uint32_t *ret_seen) _must_check_;
/* The array that comes next in the text: each() takes one element. */
int scan_array(struct scan *s, int (*each)(struct scan *s, void *into), void *into) _must_check_;
/* The object that comes next in the text, through json-c as a whole: for small ones. */
int scan_element(struct scan *s, const struct scan_field *fields, unsigned n, void *into)
	_must_check_;
/* Nothing but space may follow. */
int scan_end(struct scan *s) _must_check_;

/* A reader's way into an object that it was given. */
int scan_members(struct scan *s, const struct scan_field *fields, unsigned n,
		 struct json_object *value, void *into) _must_check_;

/* Write the error of the field at hand, or of `key` (NULL: none) in it; SCAN_E_REFUSED. */
int scan_refuse(struct scan *s, const char *key, const char *found, const char *expected)
	_must_check_;
int scan_refuse_value(struct scan *s, struct json_object *value, const char *expected) _must_check_;
