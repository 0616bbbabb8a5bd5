/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * json-out - JSON text put out piece by piece, for documents too large to be built as a tree first.
 *
 * Errors of the stream are the stream's to remember: whoever closes it looks.
 */
#include <stdio.h>
#include "tally.h"

/* A string in its quotes. -ENOMEM. */
int json_out_text(FILE *out, const char *text) _must_check_;
/* { "sysfs": { "sriov_numvfs": { "read": 4, "write": 4 } }, "vfNodes": 0, "writes": 4, "opens": 8 }:
 * of the touches those that are not zero, then sums. */
void json_out_tally(FILE *out, const struct tally *t);
