/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * phase - which phase it is, since when, and who may walk the tree.
 *
 * Phases go one way. A function that looks around (directory reads, dumps) takes a
 * walk_pass, and only this file mints one: in PREPARE and from DEFERRED on. So code of the hot
 * path cannot call it.
 */
#include "base.h"

enum phase_id {
	PHASE_PREPARE, /* old kernel: capture, or an operator's own look */
	PHASE_LOAD,
	PHASE_HOT,
	PHASE_HANDOFF,
	PHASE_DEFERRED,
	PHASE_DONE,
	_PHASE_MAX,
};

struct phase {
	enum phase_id now;
	uint64_t since_ns[_PHASE_MAX]; /* CLOCK_BOOTTIME; 0: not reached */
};

struct walk_pass; /* incomplete everywhere but in phase.c */

/* Starts in PREPARE (a capture) or LOAD (a restore); anything else is our own mistake. */
void phase_init(struct phase *p, enum phase_id first, uint64_t at_ns);
/* Goes on to a later phase; steps may be left out, never taken back. */
void phase_enter(struct phase *p, enum phase_id next, uint64_t at_ns);
bool phase_is_hot(const struct phase *p); /* LOAD, HOT or HANDOFF: looking around costs downtime */
const char *phase_name(enum phase_id id);

/* The pass while the phase allows walking, else NULL. Borrowed from p. */
const struct walk_pass *phase_walk_pass(const struct phase *p);
