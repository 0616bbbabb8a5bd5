/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "names.h"

enum { FIRST_SLOTS = 256 };

/* FNV-1a. The texts are root's own: nobody gains from making them collide. */
static uint32_t hash_of(const char *text, size_t length)
{
	uint32_t hash = UINT32_C(2166136261);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char) text[i]) * UINT32_C(16777619);
	return hash;
}

int names_init(struct names *n, size_t capacity)
{
	*n = (struct names){ .capacity = capacity };
	n->texts = malloc(capacity > 0 ? capacity : 1);
	return n->texts ? 0 : -ENOMEM;
}

void names_done(struct names *n)
{
	free(n->texts);
	free(n->entries);
	free(n->slots);
	*n = (struct names){ .n = 0 };
}

char *names_take_texts(struct names *n)
{
	n->capacity = n->used;
	return TAKE(n->texts);
}

/* Keeps the table at most half full; entries fill exactly half of the slots. */
static int grow(struct names *n)
{
	unsigned n_slots = n->n_slots > 0 ? n->n_slots * 2 : FIRST_SLOTS;
	struct names_entry *entries;
	unsigned *slots;

	entries = realloc(n->entries, n_slots / 2 * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	n->entries = entries;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (unsigned i = 0; i < n->n; i++) {
		unsigned slot = entries[i].hash & (n_slots - 1);

		while (slots[slot] != 0)
			slot = (slot + 1) & (n_slots - 1);
		slots[slot] = i + 1;
	}
	free(n->slots);
	n->slots = slots;
	n->n_slots = n_slots;
	return 0;
}

/* Where the string is, or would go. */
static unsigned find_slot(const struct names *n, const char *text, size_t length, uint32_t hash)
{
	unsigned slot = hash & (n->n_slots - 1);

	for (; n->slots[slot] != 0; slot = (slot + 1) & (n->n_slots - 1)) {
		const struct names_entry *e = &n->entries[n->slots[slot] - 1];

		if (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0)
			break;
	}
	return slot;
}

static int add_new(struct names *n, const char *text, size_t length, uint32_t hash, unsigned slot)
{
	char *kept = n->texts + n->used;

	if (length >= n->capacity - n->used)
		return -ENOBUFS;
	memcpy(kept, text, length);
	kept[length] = '\0';
	n->used += length + 1;
	n->entries[n->n] = (struct names_entry){ kept, hash, (uint32_t) length };
	n->slots[slot] = ++n->n;
	return 0;
}

int names_add(struct names *n, const char *text, size_t length, unsigned *ret_number,
	      const char **ret_text)
{
	uint32_t hash = hash_of(text, length);
	unsigned slot;
	int r;

	if (n->n >= n->n_slots / 2) {
		r = grow(n);
		if (r < 0)
			return r;
	}
	slot = find_slot(n, text, length, hash);
	if (n->slots[slot] == 0) {
		r = add_new(n, text, length, hash, slot);
		if (r < 0)
			return r;
	}
	*ret_number = n->slots[slot] - 1;
	*ret_text = n->entries[*ret_number].text;
	return 0;
}
