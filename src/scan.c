/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "scan.h"

/* ---- Errors -------------------------------------------------------------------------------- */

int scan_refuse(struct scan *s, const char *key, const char *found, const char *expected)
{
	char path[FAULT_PATH_LEN];

	fault_path(&s->fault, key, path);
	fault_tell(&s->fault, path, found, expected);
	return SCAN_E_REFUSED;
}

int scan_refuse_value(struct scan *s, struct json_object *value, const char *expected)
{
	char quoted[FAULT_QUOTE_LEN];
	const char *text;

	if (json_object_is_type(value, json_type_object))
		return scan_refuse(s, NULL, "an object", expected);
	if (json_object_is_type(value, json_type_array))
		return scan_refuse(s, NULL, "an array", expected);
	text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		return -ENOMEM;
	fault_quote(text, strlen(text), '\0', quoted);
	return scan_refuse(s, NULL, quoted, expected);
}

static int refuse_syntax(struct scan *s, const char *at, const char *expected)
{
	fault_tell_syntax(&s->fault, s->text, at, s->end, expected);
	return SCAN_E_REFUSED;
}

static void note_unknown(struct scan *s)
{
	char path[FAULT_PATH_LEN];

	fault_path(&s->fault, NULL, path);
	if (s->n_unknown++ == 0)
		s->first_unknown = strdup(path); /* NULL: warned of by number only */
}

/* ---- The text as a whole ------------------------------------------------------------------- */

static bool is_ascii(const char *text, size_t size)
{
	uint64_t word, all = 0;
	size_t i = 0;

	for (; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		all |= word;
	}
	for (; i < size; i++)
		all |= (unsigned char) text[i];
	return (all & UINT64_C(0x8080808080808080)) == 0;
}

static int check_text(struct scan *s, size_t size)
{
	if (size == 0)
		return scan_refuse(s, NULL, "nothing", "a JSON object");
	if (size > INT32_MAX)
		return scan_refuse(s, NULL, "more than 2 GiB", "less");
	if (s->text[size - 1] != '\n')
		return refuse_syntax(s, s->end, "a newline before it (is the rest cut off?)");
	if (memchr(s->text, '\0', size))
		return refuse_syntax(s, memchr(s->text, '\0', size), "text");
	/* json-c cuts a key there, and would take it for another. */
	if (memmem(s->text, size, "\\u0000", strlen("\\u0000")))
		return refuse_syntax(s, memmem(s->text, size, "\\u0000", strlen("\\u0000")),
				     "no NUL in a string");
	return 0;
}

int scan_init(struct scan *s, const struct fault *fault, const char *text, size_t size)
{
	int flags = JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS, r;

	*s = (struct scan){ .fault = *fault, .text = text, .at = text, .end = text + size };
	r = check_text(s, size);
	if (r != 0)
		return r;
	s->tokener = json_tokener_new_ex(SCAN_NESTING_MAX);
	if (!s->tokener)
		return -ENOMEM;
	if (!is_ascii(text, size))
		flags |= JSON_TOKENER_VALIDATE_UTF8;
	json_tokener_set_flags(s->tokener, flags);
	/* Quotes and commas of the text make room for the NULs. */
	return names_init(&s->names, size);
}

void scan_done(struct scan *s)
{
	if (s->tokener)
		json_tokener_free(s->tokener);
	free(s->first_unknown);
	names_done(&s->names);
}

static char next_char(struct scan *s)
{
	while (s->at < s->end &&
	       (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r'))
		s->at++;
	return s->at < s->end ? *s->at : '\0';
}

int scan_end(struct scan *s)
{
	return next_char(s) == '\0' ? 0 : refuse_syntax(s, s->at, "the end of the text");
}

/* ---- One value ----------------------------------------------------------------------------- */

static void put_object(struct json_object **object)
{
	(void) json_object_put(*object); /* tells only whether it was the last reference */
}

/* What comes next, through json-c. */
static int take_value(struct scan *s, struct json_object **ret)
{
	enum json_tokener_error error;
	struct json_object *value;
	size_t length;

	if (next_char(s) == '\0')
		return refuse_syntax(s, s->at, "a value");
	value = json_tokener_parse_ex(s->tokener, s->at, (int) (s->end - s->at));
	error = json_tokener_get_error(s->tokener);
	length = json_tokener_get_parse_end(s->tokener);
	if (error != json_tokener_success)
		return refuse_syntax(s, s->at + length,
				     error == json_tokener_error_depth ? "less nesting" : "JSON");
	s->at += length;
	json_tokener_reset(s->tokener);
	*ret = value;
	return 0;
}

/* ---- Objects and arrays in the text -------------------------------------------------------- */

static int open_with(struct scan *s, char bracket, const char *expected)
{
	_cleanup_(put_object) struct json_object *value = NULL;
	int r;

	if (next_char(s) == bracket) {
		s->at++;
		return 0;
	}
	r = take_value(s, &value);
	return r != 0 ? r : scan_refuse_value(s, value, expected);
}

/* After a member or an element: is there another one? */
static int go_on(struct scan *s, char bracket, bool *ret_more)
{
	char c = next_char(s);

	if (c != ',' && c != bracket)
		return refuse_syntax(s, s->at, bracket == '}' ? "',' or '}'" : "',' or ']'");
	s->at++;
	*ret_more = c == ',';
	return 0;
}

static bool is_empty(struct scan *s, char bracket)
{
	if (next_char(s) != bracket)
		return false;
	s->at++;
	return true;
}

static int take_key(struct scan *s, struct json_object **ret)
{
	int r;

	if (next_char(s) != '"')
		return refuse_syntax(s, s->at, "a key in double quotes");
	r = take_value(s, ret);
	if (r != 0)
		return r;
	if (next_char(s) != ':')
		return refuse_syntax(s, s->at, "':'");
	s->at++;
	return 0;
}

/* Keys mostly come in the table's order: the search begins where the last one ended. */
static const struct scan_field *find_field(const struct scan_field *fields, unsigned n,
					   const char *key, unsigned hint)
{
	for (unsigned i = 0; i < n; i++) {
		const struct scan_field *f = &fields[hint + i < n ? hint + i : hint + i - n];

		if (strcmp(f->key, key) == 0)
			return f;
	}
	return NULL;
}

static int read_value(struct scan *s, const struct scan_field *f, struct json_object *value,
		      void *into, bool *ret_present)
{
	int r;

	*ret_present = value != NULL;
	if (!value)
		return f->required
			       ? scan_refuse(s, NULL, "null", f->expected ? f->expected : "a value")
			       : 0;
	r = f->read(s, f, value, into);
	if (r == 0 && f->has > 0)
		*(bool *) ((char *) into + f->has - 1) = true;
	return r;
}

static int take_member(struct scan *s, const struct scan_field *f, void *into, bool *ret_present)
{
	_cleanup_(put_object) struct json_object *value = NULL;
	int r;

	if (f && f->stream) {
		*ret_present = true;
		return f->stream(s, into);
	}
	r = take_value(s, &value);
	if (r != 0)
		return r;
	if (f)
		return read_value(s, f, value, into, ret_present);
	note_unknown(s);
	return 0;
}

static int refuse_missing(struct scan *s, const struct scan_field *fields, unsigned n,
			  uint32_t seen)
{
	for (unsigned i = 0; i < n; i++)
		if (fields[i].required && !(seen & UINT32_C(1) << i))
			return scan_refuse(s, fields[i].key, "nothing",
					   fields[i].expected ? fields[i].expected : "a value");
	return 0;
}

static int take_keyed(struct scan *s, const struct scan_field *fields, unsigned n, void *into,
		      uint32_t *seen, unsigned *hint)
{
	_cleanup_(put_object) struct json_object *key = NULL;
	const struct scan_field *f;
	bool present = false;
	int r;

	r = take_key(s, &key);
	if (r != 0)
		return r;
	f = find_field(fields, n, json_object_get_string(key), *hint);
	fault_enter(&s->fault, json_object_get_string(key), 0);
	if (f && *seen & UINT32_C(1) << (f - fields))
		return scan_refuse(s, NULL, "it a second time", "it once");
	r = take_member(s, f, into, &present);
	if (r != 0)
		return r;
	fault_leave(&s->fault);
	if (f)
		*hint = (unsigned) (f - fields) + 1;
	if (present)
		*seen |= UINT32_C(1) << (f - fields);
	return 0;
}

int scan_object(struct scan *s, const struct scan_field *fields, unsigned n, void *into,
		uint32_t *ret_seen)
{
	unsigned hint = 0;
	uint32_t seen = 0;
	bool more;
	int r;

	assert(n <= SCAN_FIELDS_MAX);
	r = open_with(s, '{', "an object");
	if (r != 0)
		return r;
	for (more = !is_empty(s, '}'); more;) {
		r = take_keyed(s, fields, n, into, &seen, &hint);
		if (r != 0)
			return r;
		r = go_on(s, '}', &more);
		if (r != 0)
			return r;
	}
	*ret_seen = seen;
	return refuse_missing(s, fields, n, seen);
}

int scan_array(struct scan *s, int (*each)(struct scan *s, void *into), void *into)
{
	unsigned index = 0;
	bool more;
	int r;

	r = open_with(s, '[', "an array");
	if (r != 0)
		return r;
	for (more = !is_empty(s, ']'); more; index++) {
		fault_enter(&s->fault, NULL, index);
		r = each(s, into);
		if (r != 0)
			return r;
		fault_leave(&s->fault);
		r = go_on(s, ']', &more);
		if (r != 0)
			return r;
	}
	return 0;
}

/* ---- Objects as json-c has them ------------------------------------------------------------ */

int scan_members(struct scan *s, const struct scan_field *fields, unsigned n,
		 struct json_object *value, void *into)
{
	unsigned hint = 0;
	uint32_t seen = 0;

	assert(n <= SCAN_FIELDS_MAX);
	if (!json_object_is_type(value, json_type_object))
		return scan_refuse_value(s, value, "an object");
	json_object_object_foreach(value, key, member) {
		const struct scan_field *f = find_field(fields, n, key, hint);
		bool present = false;
		int r = 0;

		fault_enter(&s->fault, key, 0);
		if (f)
			r = read_value(s, f, member, into, &present);
		else
			note_unknown(s);
		if (r != 0)
			return r;
		fault_leave(&s->fault);
		if (f)
			hint = (unsigned) (f - fields) + 1;
		if (present)
			seen |= UINT32_C(1) << (f - fields);
	}
	return refuse_missing(s, fields, n, seen);
}

int scan_element(struct scan *s, const struct scan_field *fields, unsigned n, void *into)
{
	_cleanup_(put_object) struct json_object *value = NULL;
	int r;

	r = take_value(s, &value);
	return r != 0 ? r : scan_members(s, fields, n, value, into);
}
