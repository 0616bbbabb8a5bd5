/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * names - every string of a text kept once, and numbered: equal strings have one address and one
 * number, so that thousands of names are compared as numbers.
 */
#include "base.h"

struct names_entry {
	const char *text;
	uint32_t hash;
	uint32_t length;
};

struct names {
	char *texts; /* one block, so that it outlives the rest in other hands */
	size_t used, capacity;
	struct names_entry *entries;
	unsigned n;
	unsigned *slots; /* number + 1 of an entry; 0: free */
	unsigned n_slots;
};

/* capacity: bytes that all different strings may need, with a NUL each. */
int names_init(struct names *n, size_t capacity) _must_check_;
void names_done(struct names *n);
/* The strings' memory, to be freed with free(); n gives no new ones then. */
char *names_take_texts(struct names *n);

int names_add(struct names *n, const char *text, size_t length, unsigned *ret_number,
	      const char **ret_text) _must_check_;
