/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * record - the account of one restore: every lane and VF with times, outcomes and causes, the
 * touches against the budget. Saved as JSON so that `timeline` can show it later; the same JSON
 * is what --json prints. Format: vf-restore-record, version 1.
 */
#include "base.h"
#include "bdf.h"
#include "tally.h"

struct record_vf {
	struct bdf address;
	unsigned index;
	char *owner, *name, *driver; /* NULL: none */
	char *state;                 /* waits, ready, held, lacks */
	char *cause, *place;         /* NULL: none */
	int error;
	char *node;                                     /* /dev/vfio/devices/vfio3; NULL: none */
	uint64_t begun_ns, bound_ns, seen_ns, ready_ns; /* 0: did not happen */
};

struct record_step {
	char *name;
	uint64_t begun_ns, done_ns; /* done 0: still in it */
};

struct record_lane {
	struct bdf pf;
	char *interface; /* NULL: none */
	char *state;     /* done, refused, stuck, late; waits, at-work: it was broken off */
	char *mode;      /* cold, warm, unknown */
	char *strategy, *strategy_reason;
	char *cause, *place, *found; /* NULL: none */
	int error;
	unsigned num_vfs;
	unsigned vf_nodes; /* sysfs nodes inside VF directories that this lane touched */
	uint64_t admitted_ns, over_ns;
	struct record_step *steps;
	unsigned n_steps;
	struct record_vf *vfs;
	unsigned n_vfs;
};

struct record_owner {
	char *name;
	unsigned n, n_ready, n_lacks;
	uint64_t ready_ns;
};

struct record {
	uint64_t exec_ns, load_ns, hot_ns, over_ns; /* CLOCK_BOOTTIME: start of the program, of
						       LOAD, of HOT, end of HOT */
	uint64_t realtime_usec;                     /* CLOCK_REALTIME at hot_ns */
	char *manifest_path;
	uint64_t generation;
	struct tally tally, budget;
	bool budget_exact;
	uint64_t n_uevents, n_overruns;
	uint64_t max_rss_kib; /* peak of resident memory, libraries included; 0: not known */
	struct record_lane *lanes;
	unsigned n_lanes;
	struct record_owner *owners;
	unsigned n_owners;
	/* sums: record_sum() derives them from the lanes */
	unsigned n_vfs, n_ready, n_held, n_lacks;
};

unsigned record_lane_served(const struct record_lane *l); /* its VFs that are ready or held */
/* A lane's state; "partly" where it is done and some VF lacks. */
const char *record_lane_word(const struct record_lane *l);
/* cause_meaning() and cause_advice() by the name of the cause; NULL for a name of the future. */
const char *record_cause_meaning(const char *cause);
const char *record_cause_advice(const char *cause);

/* Counts the VFs of all lanes by state into r->n_vfs, n_ready, n_held, n_lacks. */
void record_sum(struct record *r);

/* Frees what it points to; all of it is the record's own, from malloc(). */
void record_done(struct record *r);
