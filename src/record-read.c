/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record-read.h"
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include "fdio.h"
#include "record-value.h"

enum { DEPTH_MAX = 32 }; /* we need 5; keys of the future may need more */

static int read_fields(const struct record_where *w, struct json_object *from,
		       const struct record_fields *table, void *base)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct record_field *f = &table->fields[i];
		struct record_where at = record_value_key(w, f->key);
		bool optional = f->kind == RECORD_TIME || f->kind == RECORD_ERRNO ||
				f->kind == RECORD_MAYBE;
		struct json_object *value = json_object_object_get(from, f->key);
		int r;

		if (!value && optional)
			continue;
		r = record_value_read(&at, value, f, (char *) base + f->at);
		if (r)
			return r;
	}
	return 0;
}

/* An array of objects, each read by `read` into a struct of `size` bytes. What was allocated is
 * handed out on failure too, for record_done(). */
static int read_array(const struct record_where *w, struct json_object *from, const char *key,
		      int (*read)(const struct record_where *w, struct json_object *from,
				  void *ret),
		      size_t size, void **ret, unsigned *ret_n)
{
	struct record_where at = record_value_key(w, key), item;
	struct json_object *array = json_object_object_get(from, key), *value;
	unsigned n;
	int r;

	if (!json_object_is_type(array, json_type_array))
		return record_value_refuse(&at, array, "an array");
	n = (unsigned) json_object_array_length(array);
	if (!n)
		return 0;
	*ret = calloc(n, size);
	if (!*ret)
		return -ENOMEM;
	*ret_n = n;
	for (unsigned i = 0; i < n; i++) {
		item = record_value_item(&at, i);
		value = json_object_array_get_idx(array, i);
		if (!json_object_is_type(value, json_type_object))
			return record_value_refuse(&item, value, "an object");
		r = read(&item, value, (char *) *ret + i * size);
		if (r)
			return r;
	}
	return 0;
}

static int read_owner(const struct record_where *w, struct json_object *from, void *ret)
{
	return read_fields(w, from, &record_fields_owner, ret);
}

static int read_step(const struct record_where *w, struct json_object *from, void *ret)
{
	return read_fields(w, from, &record_fields_step, ret);
}

static int read_vf(const struct record_where *w, struct json_object *from, void *ret)
{
	return read_fields(w, from, &record_fields_vf, ret);
}

static int read_lane(const struct record_where *w, struct json_object *from, void *ret)
{
	struct record_lane *l = ret;
	void *steps = NULL, *vfs = NULL;
	int r;

	r = read_fields(w, from, &record_fields_lane, l);
	if (r)
		return r;
	r = read_array(w, from, "steps", read_step, sizeof(*l->steps), &steps, &l->n_steps);
	l->steps = steps;
	if (r)
		return r;
	r = read_array(w, from, "virtualFunctions", read_vf, sizeof(*l->vfs), &vfs, &l->n_vfs);
	l->vfs = vfs;
	return r;
}

static int read_ops(const struct record_where *w, struct json_object *from,
		    uint32_t ret[static _SYSFS_OP_MAX])
{
	for (unsigned op = 0; op < _SYSFS_OP_MAX; op++) {
		struct record_where at = record_value_key(w, record_fields_op_key(op));
		struct json_object *value = json_object_object_get(from, at.key);
		uint64_t number = 0;
		int r;

		if (!value)
			continue;
		r = record_value_number(&at, value, UINT32_MAX, &number);
		if (r)
			return r;
		ret[op] = (uint32_t) number;
	}
	return 0;
}

static int read_touches(const struct record_where *w, struct json_object *from, struct tally *ret)
{
	char key[RECORD_FIELDS_NODE_MAX];
	struct json_object *ops;
	int r;

	for (unsigned node = 0; node < _SYSFS_NODE_MAX; node++) {
		struct record_where at = record_value_key(w, key);

		record_fields_node_key(node, key);
		ops = json_object_object_get(from, key);
		if (!ops)
			continue;
		if (!json_object_is_type(ops, json_type_object))
			return record_value_refuse(&at, ops, "an object");
		r = read_ops(&at, ops, ret->sysfs[node]);
		if (r)
			return r;
	}
	return 0;
}

static int get_object(const struct record_where *at, struct json_object *from,
		      struct json_object **ret)
{
	struct json_object *object = json_object_object_get(from, at->key);

	if (!json_object_is_type(object, json_type_object))
		return record_value_refuse(at, object, "an object");
	*ret = object;
	return 0;
}

/* The sums in it (vfNodes, writes) follow from the touches: they are for others to read. */
static int read_tally(const struct record_where *w, struct json_object *from, const char *key,
		      struct tally *ret)
{
	struct record_where at = record_value_key(w, key),
			    at_sysfs = record_value_key(&at, "sysfs"),
			    at_opens = record_value_key(&at, "opens");
	struct json_object *tally = NULL, *touches = NULL;
	uint64_t opens = 0;
	int r;

	r = get_object(&at, from, &tally);
	if (!r)
		r = get_object(&at_sysfs, tally, &touches);
	if (!r)
		r = read_touches(&at_sysfs, touches, ret);
	if (!r)
		r = record_value_number(&at_opens, json_object_object_get(tally, "opens"),
					UINT32_MAX, &opens);
	ret->opens = (uint32_t) opens;
	return r;
}

static int read_format(const struct record_where *w, struct json_object *from)
{
	struct record_where at_format = record_value_key(w, "format"),
			    at_version = record_value_key(w, "version");
	struct json_object *format = json_object_object_get(from, "format");
	struct json_object *version = json_object_object_get(from, "version");

	if (!json_object_is_type(format, json_type_string) ||
	    strcmp(json_object_get_string(format), RECORD_FORMAT))
		return record_value_refuse(&at_format, format, "\"" RECORD_FORMAT "\"");
	if (!json_object_is_type(version, json_type_int) ||
	    json_object_get_int64(version) != RECORD_VERSION)
		return record_value_refuse(&at_version, version, "1");
	return 0;
}

static int read_record(const struct record_where *w, struct json_object *from, struct record *ret)
{
	void *lanes = NULL, *owners = NULL;
	int r;

	r = read_format(w, from);
	if (!r)
		r = read_fields(w, from, &record_fields_top, ret);
	if (!r)
		r = read_tally(w, from, "tally", &ret->tally);
	if (!r)
		r = read_tally(w, from, "budget", &ret->budget);
	if (r)
		return r;
	r = read_array(w, from, "owners", read_owner, sizeof(*ret->owners), &owners,
		       &ret->n_owners);
	ret->owners = owners;
	if (r)
		return r;
	r = read_array(w, from, "physicalFunctions", read_lane, sizeof(*ret->lanes), &lanes,
		       &ret->n_lanes);
	ret->lanes = lanes;
	return r;
}

static void put_json(struct json_object **object)
{
	(void) json_object_put(*object); /* the last reference: 1, or 0 for NULL */
}

static void free_tokener(struct json_tokener **tokener)
{
	if (*tokener)
		json_tokener_free(*tokener);
}

static int refuse_syntax(const struct record_where *w, const char *text, size_t at, const char *why)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	(void) snprintf(w->error, RECORD_ERROR_LEN,
			"%.200s: line %u: found %s, expected the JSON of a " RECORD_FORMAT, w->file,
			line, why);
	return RECORD_E_REFUSED;
}

static int parse_json(const struct record_where *w, const char *text, size_t size,
		      struct json_object **ret)
{
	_cleanup_(free_tokener) struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	_cleanup_(put_json) struct json_object *whole = NULL;
	enum json_tokener_error error;
	size_t end;

	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8 |
						JSON_TOKENER_ALLOW_TRAILING_CHARS);
	whole = json_tokener_parse_ex(tokener, text, (int) size);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	if (error == json_tokener_continue)
		return refuse_syntax(w, text, size, "the end of the text too early");
	if (error != json_tokener_success)
		return refuse_syntax(w, text, end, json_tokener_error_desc(error));
	while (end < size && strchr(" \t\r\n", text[end]) && text[end])
		end++;
	if (end < size)
		return refuse_syntax(w, text, end, "more text after the end");
	if (!json_object_is_type(whole, json_type_object))
		return record_value_refuse(w, whole, "an object");
	*ret = TAKE(whole);
	return 0;
}

int record_parse(struct record *ret, const char *name, const char *text, size_t size,
		 char ret_error[static RECORD_ERROR_LEN])
{
	const struct record_where whole = { .file = name, .error = ret_error };
	_cleanup_(put_json) struct json_object *json = NULL;
	_cleanup_(record_done) struct record record = { .n_lanes = 0 };
	int r;

	if (size > RECORD_SIZE_MAX)
		return refuse_syntax(&whole, text, 0, "more than 64 MiB");
	r = parse_json(&whole, text, size, &json);
	if (!r)
		r = read_record(&whole, json, &record);
	if (r)
		return r;
	record_sum(&record);
	*ret = TAKE_AS(record, (struct record){ .n_lanes = 0 });
	return 0;
}

int record_load(struct record *ret, const char *path, char ret_error[static RECORD_ERROR_LEN])
{
	_cleanup_(free_pointer) char *text = NULL;
	const struct record_where whole = { .file = path, .error = ret_error };
	size_t size = 0;
	int r = fdio_read_file(AT_FDCWD, path, RECORD_SIZE_MAX, &text, &size);

	if (r == FDIO_E_ABSENT) {
		(void) snprintf(ret_error, RECORD_ERROR_LEN,
				"%.200s: found nothing, expected the record of a restore", path);
		return RECORD_E_ABSENT;
	}
	if (r == FDIO_E_TOO_BIG)
		return refuse_syntax(&whole, "", 0, "more than 64 MiB");
	if (r)
		return r;
	return record_parse(ret, path, text, size, ret_error);
}
