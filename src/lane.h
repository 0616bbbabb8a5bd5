/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * lane - what the worker of one PF and the loop share: the lane's state, how it asks the loop for
 * something and is woken, how failures are noted. worker.c and bind.c work on it, hotpath.c
 * watches it. A lane knows its PF and its VFs and no other lane.
 */
#include <pthread.h>
#include <stdatomic.h>
#include "base.h"
#include "cause.h"
#include "journal.h"
#include "plan.h"
#include "registrar.h"
#include "sysfs.h"

/* What a lane says to the loop; it then sleeps until it is woken. */
enum lane_ask {
	LANE_RUNS,        /* nothing: it is at work (or not admitted yet) */
	LANE_ASKS_PF,     /* the PF is not there, or has no driver yet: wake me when that changed */
	LANE_ASKS_VFS,    /* VFs are not there though they were enabled: wake me likewise */
	LANE_ASKS_ID,     /* have the id registered, and wake me when it is, or will not be soon */
	LANE_ASKS_SURVEY, /* warm: find the nodes of the VFs that are bound, then wake me */
	LANE_OVER,        /* the thread has ended its work */
};

/* Of one VF; the lane's until published by its act. */
enum vf_act { VF_UNTOUCHED, VF_WAS_RIGHT, VF_BOUND_BY_US, VF_FAILED };
enum vf_need { VF_NEEDS_BIND, VF_NEEDS_REBIND, VF_NEEDS_NOTHING };
struct vf_outcome {
	_Atomic uint8_t act; /* enum vf_act; stored last */
	uint8_t need;        /* enum vf_need */
	uint8_t place;       /* enum place, when failed */
	uint8_t cause;       /* enum cause, when failed */
	int error;           /* positive errno, 0: by rule */
	uint64_t begun_ns, done_ns;
};

/* Binding one VF at a time lets the loop tell groups from the order of events, where there is no
 * cdev. Given up (broken) for good when somebody holds it for too long. */
struct baton {
	pthread_mutex_t mutex;
	_Atomic bool broken;
	bool needed; /* set before the lanes start */
};

struct lane {
	/* set before worker_start(), constant afterwards */
	const struct plan_lane *plan;
	const struct journal *journal;
	struct journal_autoprobe left;     /* by a killed run before this one */
	const struct registrar *registrar; /* NULL without STRATEGY_ID */
	struct baton *baton;
	int report_fd; /* a dup of the loop's eventfd; the thread closes it at its end */
	int wake_fd;   /* eventfd of this lane */

	/* the lane's own while it runs; the loop may read what is atomic at any time, the rest
	 * while the lane asks for something */
	struct sysfs sysfs;
	struct tally tally;
	struct plan_facts facts;
	struct vf_outcome *outcomes; /* one for each of plan->vfs */
	unsigned offset, stride;     /* valid when has_layout, and then constant */
	int pf_fd;                   /* the same; the loop reads groups through it */
	bool serial_proven, autoprobe_now, autoprobe_changed, id_asked;
	bool journal_failed;  /* it went on: guests wait */
	_Atomic bool gave_up; /* set by the loop before it wakes a lane that asked in vain */
	_Atomic bool has_layout;
	_Atomic uint8_t step; /* enum step_kind: where it is, for the status */
	_Atomic uint8_t ask;  /* enum lane_ask */
	uint64_t step_begun_ns[_STEP_MAX], step_done_ns[_STEP_MAX]; /* 0: not reached */
	enum cause cause; /* of the PF as a whole; CAUSE_NONE: only VFs may have failed */
	enum place place;
	int error;
	char found[64]; /* what was there instead of what was expected, for the report; "" */
};

enum {
	_LANE_E_SUCCESS,
	LANE_E_STOP, /* no further step: cause, place and error of the lane are set */
};

/* The loop's: wakes a lane that asked, or that waits to be admitted. */
void lane_wake(struct lane *l);

/* The rest is the lane's own thread's. */
void lane_tell(struct lane *l, enum lane_ask ask);
/* Tells and sleeps until answered. false: the loop gave it up, and will answer no more. */
bool lane_ask(struct lane *l, enum lane_ask ask);

/* r: what the sysfs door returned; never 0. Both return LANE_E_STOP. */
int lane_stop(struct lane *l, enum place place, int r) _must_check_;
int lane_stop_by_rule(struct lane *l, enum cause cause, enum place place, const char *found)
	_must_check_;
/* One VF failed; the others go on. error: positive errno, 0 by rule. */
void lane_fail_vf(struct lane *l, unsigned i, enum place place, enum cause cause, int error);

/* To the journal of intents. A journal that cannot be written is noted, and we go on. */
void lane_note(struct lane *l, enum journal_word word, const char *text);

/* The address of the i-th VF of the plan's lane; after STEP_LAYOUT. */
struct bdf lane_vf_address(const struct lane *l, unsigned i);
