/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * progress - one line on a terminal that tells how far a restore is, and goes away.
 *
 * Draws on terminals only, at most ten times a second, never when the terminal would make us
 * wait, and allocates nothing: it is called from the hot path's loop.
 */
#include <stdio.h>
#include "base.h"

struct progress {
	int fd;     /* -1: nothing is drawn */
	bool drawn; /* there is a line to erase */
	bool has_begun;
	uint64_t begun_ns, drawn_ns;
};

struct progress_counts {
	unsigned n_vfs, n_done, n_lacks; /* done: ready or held */
	unsigned n_stuck;                /* lanes that hang */
	const char *stuck;               /* the PF of the first of them */
};

/* `out` is borrowed until progress_done(). */
void progress_init(struct progress *p, FILE *out);
/* now: CLOCK_BOOTTIME; the first call's is where the rate counts from. */
void progress_update(struct progress *p, const struct progress_counts *counts, uint64_t now);
/* Erases the line. */
void progress_done(struct progress *p);
