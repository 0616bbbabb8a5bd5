/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * cost - how long the kernel takes for a thing, and under which lock.
 *
 * A lock is one of the PF ("pf"), none, or a named one that all who name it share. Costs are slept
 * with the lock held, so what the locks allow in parallel runs in parallel, on any machine.
 */
#include "model.h"

enum cost {
	COST_NUMVFS,  /* enabling: so much, and so much per VF */
	COST_DISABLE, /* sriov_numvfs = 0 */
	COST_BIND,    /* each probe, by whatever way */
	_COST_MAX,
};

/* A preset (none, today, parallel) or a file of lines "bind lock=NAME ms=1.5 per-vf-ms=0.5". */
int cost_load(const char *preset_or_file) _must_check_;
void cost_begin(enum cost cost, struct device *pf);
void cost_each(enum cost cost, unsigned i); /* before the i-th VF, between begin and end */
void cost_end(enum cost cost, struct device *pf);
