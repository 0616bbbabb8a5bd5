/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * account - the record of a run that is over (or was broken off), from the state of the hot path.
 */
#include "hotpath.h"
#include "record.h"

/* Fills all of *ret but the times of the program, the manifest's path and the events' counts.
 * -ENOMEM, or 0; the caller's to record_done(). A stuck lane's own state is left alone. */
int account_make(const struct hotpath *h, struct record *ret) _must_check_;
