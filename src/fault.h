/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * fault - where in somebody's file a reader is, and how a refusal is worded: file, field, what was
 * found, what was expected, what now.
 */
#include "base.h"

enum {
	FAULT_DEPTH_MAX = 12, /* of fields that a reader knows */
	FAULT_PATH_LEN = 256,
	FAULT_QUOTE_LEN = 256, /* more than fault_quote() writes */
};

/* A step on the way to a field: a key, or when it is NULL an index. */
struct fault_step {
	const char *key;
	unsigned index;
};

struct fault {
	const char *name;   /* what the text is called */
	const char *advice; /* what now */
	char *error;        /* the caller's, for the text */
	size_t error_size;
	struct fault_step path[FAULT_DEPTH_MAX];
	unsigned depth;
};

void fault_enter(struct fault *f, const char *key, unsigned index);
void fault_leave(struct fault *f);

/* The way to the field at hand, or to `key` (NULL: none) in it: "owners[3].name". */
void fault_path(const struct fault *f, const char *key, char ret[static FAULT_PATH_LEN]);

/* Writes the error. path NULL: of the field at hand. */
void fault_tell(struct fault *f, const char *path, const char *found, const char *expected);
/* The same for a place in a text that cannot be read on. */
void fault_tell_syntax(struct fault *f, const char *text, const char *at, const char *end,
		       const char *expected);

/* Somebody's bytes for people's eyes: nothing that a terminal obeys, and not too much of it.
 * Between `mark`s, if that is not NUL. */
void fault_quote(const char *from, size_t length, char mark, char ret[static FAULT_QUOTE_LEN]);
