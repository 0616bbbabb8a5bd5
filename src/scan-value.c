/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include "scan-value.h"

enum { EXPECTED_LEN = 128 };

static void store(void *at, size_t size, int64_t number)
{
	switch (size) {
	case 0: /* only checked */
		return;
	case sizeof(uint8_t):
		*(uint8_t *) at = (uint8_t) number;
		return;
	case sizeof(uint16_t):
		*(uint16_t *) at = (uint16_t) number;
		return;
	case sizeof(uint32_t):
		*(uint32_t *) at = (uint32_t) number;
		return;
	case sizeof(uint64_t):
		*(uint64_t *) at = (uint64_t) number;
		return;
	}
	assert(false); /* a table names a member that is no integer */
}

int scan_value_number(struct scan *s, const struct scan_field *f, struct json_object *value,
		      void *into)
{
	char expected[EXPECTED_LEN];
	int64_t number;

	/* Beyond its range json-c gives the nearest it has: INT64_MIN, or over INT64_MAX what
	 * json_object_get_int64() makes INT64_MAX. So INT64_MAX itself is out of any range. */
	number = json_object_get_int64(value);
	if (json_object_is_type(value, json_type_int) && number >= f->min && number <= f->max &&
	    number < INT64_MAX) {
		store((char *) into + f->at, f->size, number);
		return 0;
	}
	(void) snprintf(expected, sizeof(expected), "a whole number from %lld to %lld",
			(long long) f->min, (long long) f->max); /* always fits */
	return scan_refuse_value(s, value, f->expected ? f->expected : expected);
}

int scan_value_bool(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into)
{
	if (!json_object_is_type(value, json_type_boolean))
		return scan_refuse_value(s, value, "true or false");
	*(bool *) ((char *) into + f->at) = json_object_get_boolean(value);
	return 0;
}

int scan_value_text(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into)
{
	if (!json_object_is_type(value, json_type_string) ||
	    !f->parse(json_object_get_string(value), (char *) into + f->at))
		return scan_refuse_value(s, value, f->expected);
	return 0;
}

/* How many bytes the first character takes; 0: none that UTF-8 knows (RFC 3629: neither
 * overlong, nor a surrogate, nor beyond U+10FFFF), or a control character. */
static unsigned character_length(const unsigned char *c)
{
	unsigned length = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;

	if (c[0] < ' ' || c[0] == 0x7f || (c[0] >= 0x80 && c[0] < 0xc2) || c[0] > 0xf4)
		return 0;
	for (unsigned i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if (c[0] == 0xc2 && c[1] < 0xa0) /* U+0080 to U+009F */
		return 0;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return length;
}

static bool is_clean(const char *text)
{
	const unsigned char *c = (const unsigned char *) text;
	unsigned length;

	for (; *c; c += length) {
		length = character_length(c);
		if (length == 0)
			return false;
	}
	return true;
}

static int refuse_name(struct scan *s, const struct scan_field *f, struct json_object *value)
{
	char expected[EXPECTED_LEN];

	(void) snprintf(expected, sizeof(expected), "%s, 1 to %lld bytes",
			f->expected ? f->expected : "UTF-8 text without control characters",
			(long long) f->max); /* always fits */
	return scan_refuse_value(s, value, expected);
}

int scan_value_take_name(struct scan *s, const struct scan_field *f, struct json_object *value,
			 unsigned *ret_number, const char **ret)
{
	const char *text;
	int length;

	if (!json_object_is_type(value, json_type_string))
		return refuse_name(s, f, value);
	text = json_object_get_string(value);
	length = json_object_get_string_len(value);
	if (length < 1 || length > f->max || !is_clean(text) || (f->allows && !f->allows(text)))
		return refuse_name(s, f, value);
	return names_add(&s->names, text, (size_t) length, ret_number, ret);
}

int scan_value_name(struct scan *s, const struct scan_field *f, struct json_object *value,
		    void *into)
{
	unsigned number;

	return scan_value_take_name(s, f, value, &number, (const char **) ((char *) into + f->at));
}
