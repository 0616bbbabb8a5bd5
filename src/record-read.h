/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * record-read - reads a record from its JSON text and checks it in full, so that those who draw
 * and report need not.
 */
#include "record.h"

enum { RECORD_ERROR_LEN = 512, RECORD_SIZE_MAX = 64 << 20 };
enum {
	_RECORD_E_SUCCESS,
	RECORD_E_ABSENT,  /* no such file */
	RECORD_E_REFUSED, /* not a sound record: text says file, field, found, expected */
};

/* Fills *ret, sums included, from a text in memory; `name` is what the error calls it. Keys that
 * are not known are passed over. *ret is a whole record or untouched. */
int record_parse(struct record *ret, const char *name, const char *text, size_t size,
		 char ret_error[static RECORD_ERROR_LEN]) _must_check_;
/* The same from a file; VF_RESTORE_RECORD of vf-restore.h is the last run's. */
int record_load(struct record *ret, const char *path, char ret_error[static RECORD_ERROR_LEN])
	_must_check_;
