/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record-value.h"
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "record-read.h"

enum { PATH_LEN = 128, FOUND_LEN = 48 };

struct record_where record_value_key(const struct record_where *up, const char *key)
{
	return (struct record_where){ .up = up, .file = up->file, .error = up->error, .key = key };
}

struct record_where record_value_item(const struct record_where *up, unsigned index)
{
	return (struct record_where){
		.up = up, .file = up->file, .error = up->error, .index = index
	};
}

static void where_format(const struct record_where *w, char ret[static PATH_LEN])
{
	size_t used;

	ret[0] = '\0';
	if (!w->up)
		return;
	where_format(w->up, ret);
	used = strlen(ret);
	if (w->key)
		(void) snprintf(ret + used, PATH_LEN - used, "%s%s", used ? "." : "", w->key);
	else
		(void) snprintf(ret + used, PATH_LEN - used, "[%u]", w->index);
}

static void found_format(struct json_object *value, char ret[static FOUND_LEN])
{
	const char *text = NULL;

	if (json_object_is_type(value, json_type_object))
		text = "an object";
	else if (json_object_is_type(value, json_type_array))
		text = "an array";
	else if (value)
		text = json_object_to_json_string(value);
	(void) snprintf(ret, FOUND_LEN, "%.44s", text ? text : "nothing");
}

int record_value_refuse(const struct record_where *w, struct json_object *value,
			const char *expected)
{
	char path[PATH_LEN], found[FOUND_LEN];

	where_format(w, path);
	found_format(value, found);
	(void) snprintf(w->error, RECORD_ERROR_LEN, "%.200s: %s: found %s, expected %s", w->file,
			path[0] ? path : "the whole", found, expected);
	return RECORD_E_REFUSED;
}

/* No control characters: the text will go to terminals. C1 ones are C2 80..9F in UTF-8. */
static bool text_is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char) text[i];

		if (c < 0x20 || c == 0x7f)
			return false;
		if (c == 0xc2 && (unsigned char) text[i + 1] < 0xa0)
			return false;
	}
	return true;
}

static int refuse_word(const struct record_where *w, struct json_object *value,
		       const char *const *words)
{
	char expected[128] = "one of";
	size_t used;

	for (; *words; words++) {
		used = strlen(expected);
		(void) snprintf(expected + used, sizeof(expected) - used, " %s%s", *words,
				words[1] ? "," : "");
	}
	return record_value_refuse(w, value, expected);
}

static int read_text(const struct record_where *w, struct json_object *value,
		     const struct record_field *f, char **ret)
{
	const char *text;
	const char *const *word = f->words;

	if (!json_object_is_type(value, json_type_string))
		return record_value_refuse(w, value, "a text");
	text = json_object_get_string(value);
	if (!text_is_plain(text, (size_t) json_object_get_string_len(value)))
		return record_value_refuse(w, value, "a text without control characters");
	while (word && *word && strcmp(*word, text))
		word++;
	if (word && !*word)
		return refuse_word(w, value, f->words);
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

int record_value_number(const struct record_where *w, struct json_object *value, uint64_t max,
			uint64_t *ret)
{
	char expected[64];
	bool fits = json_object_is_type(value, json_type_int) &&
		    json_object_get_int64(value) >= 0 && json_object_get_uint64(value) <= max;

	if (!fits) {
		(void) snprintf(expected, sizeof(expected), "a number from 0 to %" PRIu64, max);
		return record_value_refuse(w, value, expected);
	}
	*ret = json_object_get_uint64(value);
	return 0;
}

static int read_address(const struct record_where *w, struct json_object *value, struct bdf *ret)
{
	if (!json_object_is_type(value, json_type_string) ||
	    bdf_parse(json_object_get_string(value), ret))
		return record_value_refuse(w, value, "a PCI address such as 0000:3b:00.2");
	return 0;
}

static int read_flag(const struct record_where *w, struct json_object *value, bool *ret)
{
	if (!json_object_is_type(value, json_type_boolean))
		return record_value_refuse(w, value, "true or false");
	*ret = json_object_get_boolean(value);
	return 0;
}

int record_value_read(const struct record_where *w, struct json_object *value,
		      const struct record_field *f, void *ret)
{
	uint64_t number = 0;
	int r;

	switch (f->kind) {
	case RECORD_ADDRESS:
		return read_address(w, value, ret);
	case RECORD_COUNT:
		r = record_value_number(w, value, UINT32_MAX, &number);
		*(unsigned *) ret = (unsigned) number;
		return r;
	case RECORD_ERRNO:
		r = record_value_number(w, value, INT_MAX, &number);
		*(int *) ret = (int) number;
		return r;
	case RECORD_FLAG:
		return read_flag(w, value, ret);
	case RECORD_LONG:
	case RECORD_TIME:
		return record_value_number(w, value, INT64_MAX, ret); /* so that sums of two fit */
	case RECORD_TEXT:
	case RECORD_MAYBE:
		return read_text(w, value, f, ret);
	}
	return 0;
}
