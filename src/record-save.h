/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * record-save - how a record is written down: as JSON text, piece by piece, so that the text is
 * all the memory it needs.
 */
#include "record.h"

/* The text as record.c reads it, ending with a newline; the caller's to free. The sums must be up
 * to date: record_sum(). */
int record_to_text(const struct record *r, char **ret, size_t *ret_size) _must_check_;
