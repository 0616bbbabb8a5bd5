/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record-save.h"
#include <inttypes.h>
#include <stdio.h>
#include "json-out.h"
#include "record-fields.h"

static bool is_left_out(const struct record_field *f, const void *value)
{
	switch (f->kind) {
	case RECORD_ERRNO:
		return *(const int *) value == 0;
	case RECORD_TIME:
		return *(const uint64_t *) value == 0;
	case RECORD_MAYBE:
		return !*(char *const *) value || !**(char *const *) value;
	case RECORD_ADDRESS:
	case RECORD_COUNT:
	case RECORD_FLAG:
	case RECORD_LONG:
	case RECORD_TEXT:
		return false;
	}
	return false;
}

static int put_value(FILE *out, const struct record_field *f, const void *value)
{
	char address[BDF_STRLEN + 1];

	switch (f->kind) {
	case RECORD_ADDRESS:
		bdf_format(*(const struct bdf *) value, address);
		return json_out_text(out, address);
	case RECORD_COUNT:
		fprintf(out, "%u", *(const unsigned *) value);
		return 0;
	case RECORD_ERRNO:
		fprintf(out, "%d", *(const int *) value);
		return 0;
	case RECORD_FLAG:
		fputs(*(const bool *) value ? "true" : "false", out);
		return 0;
	case RECORD_LONG:
	case RECORD_TIME:
		fprintf(out, "%" PRIu64, *(const uint64_t *) value);
		return 0;
	case RECORD_TEXT:
	case RECORD_MAYBE:
		assert(*(char *const *) value);
		return json_out_text(out, *(char *const *) value);
	}
	return 0;
}

/* The members of an object, without its braces. */
static int put_fields(FILE *out, const struct record_fields *f, const void *base)
{
	const char *separator = "";
	int r;

	for (size_t i = 0; i < f->n_fields; i++) {
		const struct record_field *field = &f->fields[i];
		const void *value = (const char *) base + field->at;

		if (is_left_out(field, value))
			continue;
		fprintf(out, "%s\"%s\": ", separator, field->key);
		r = put_value(out, field, value);
		if (r)
			return r;
		separator = ", ";
	}
	return 0;
}

static int put_owners(FILE *out, const struct record *r)
{
	int q;

	fputs(",\n  \"owners\": [", out);
	for (unsigned i = 0; i < r->n_owners; i++) {
		fputs(i ? ",\n    { " : "\n    { ", out);
		q = put_fields(out, &record_fields_owner, &r->owners[i]);
		if (q)
			return q;
		fputs(" }", out);
	}
	fputs(" ]", out);
	return 0;
}

static int put_steps(FILE *out, const struct record_lane *l)
{
	int r;

	fputs(",\n      \"steps\": [", out);
	for (unsigned i = 0; i < l->n_steps; i++) {
		fputs(i ? ",\n        { " : "\n        { ", out);
		r = put_fields(out, &record_fields_step, &l->steps[i]);
		if (r)
			return r;
		fputs(" }", out);
	}
	fputs(" ]", out);
	return 0;
}

static int put_vfs(FILE *out, const struct record_lane *l)
{
	int r;

	fputs(",\n      \"virtualFunctions\": [", out);
	for (unsigned i = 0; i < l->n_vfs; i++) {
		fputs(i ? ",\n        { " : "\n        { ", out);
		r = put_fields(out, &record_fields_vf, &l->vfs[i]);
		if (r)
			return r;
		fputs(" }", out);
	}
	fputs(" ]", out);
	return 0;
}

static int put_lanes(FILE *out, const struct record *r)
{
	int q;

	fputs(",\n  \"physicalFunctions\": [", out);
	for (unsigned i = 0; i < r->n_lanes; i++) {
		fputs(i ? ",\n    { " : "\n    { ", out);
		q = put_fields(out, &record_fields_lane, &r->lanes[i]);
		if (!q)
			q = put_steps(out, &r->lanes[i]);
		if (!q)
			q = put_vfs(out, &r->lanes[i]);
		if (q)
			return q;
		fputs(" }", out);
	}
	fputs(" ]", out);
	return 0;
}

static int put_record(FILE *out, const struct record *r)
{
	int q;

	fprintf(out, "{ \"format\": \"%s\", \"version\": %d,\n  ", RECORD_FORMAT, RECORD_VERSION);
	q = put_fields(out, &record_fields_top, r);
	if (q)
		return q;
	fprintf(out, ",\n  \"counts\": { \"vfs\": %u, \"ready\": %u, \"held\": %u, \"lacks\": %u }",
		r->n_vfs, r->n_ready, r->n_held, r->n_lacks);
	fputs(",\n  \"tally\": ", out);
	json_out_tally(out, &r->tally);
	fputs(",\n  \"budget\": ", out);
	json_out_tally(out, &r->budget);
	q = put_owners(out, r);
	if (!q)
		q = put_lanes(out, r);
	fputs(" }\n", out);
	return q;
}

int record_to_text(const struct record *r, char **ret, size_t *ret_size)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int q;

	if (!out)
		return -ENOMEM;
	q = put_record(out, r);
	if (fclose(out) && !q)
		q = -ENOMEM;
	if (q)
		return q;
	*ret = TAKE(text);
	*ret_size = size;
	return 0;
}
