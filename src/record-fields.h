/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * record-fields - the keys of a record's JSON: one table a struct, which serves reading and
 * writing alike, so that neither can know a key that the other does not.
 */
#include "record.h"

enum record_kind {
	RECORD_ADDRESS, /* struct bdf */
	RECORD_COUNT,   /* unsigned */
	RECORD_ERRNO,   /* int, positive; left out when 0 */
	RECORD_FLAG,    /* bool */
	RECORD_LONG,    /* uint64_t, always there */
	RECORD_TIME,    /* uint64_t, left out when 0 */
	RECORD_TEXT,    /* char *, always there */
	RECORD_MAYBE,   /* char *, left out when NULL or empty */
};

struct record_field {
	const char *key;
	size_t at; /* offset of the member */
	enum record_kind kind;
	const char *const *words; /* what a text may be, NULL-terminated; NULL: anything */
};

struct record_fields {
	const struct record_field *fields;
	size_t n_fields;
};

extern const struct record_fields record_fields_top, record_fields_owner, record_fields_lane,
	record_fields_step, record_fields_vf;

#define RECORD_FORMAT "vf-restore-record"
enum { RECORD_VERSION = 1, RECORD_FIELDS_NODE_MAX = 64 };

/* "sriov_numvfs"; "vf/driver" for what lies in a VF's directory, as a PF has a driver too. */
void record_fields_node_key(enum sysfs_node node, char ret[static RECORD_FIELDS_NODE_MAX]);
const char *record_fields_op_key(enum sysfs_op op); /* "read" */
