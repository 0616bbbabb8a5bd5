/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * report - how the outcome of a restore reads to people: a table a PF, the sums, what is missing,
 * why, and what to do now.
 */
#include <stdio.h>
#include "record.h"

void report_record(const struct record *r, FILE *out);
