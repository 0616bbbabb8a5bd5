/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * registrar - registers the VFs' id with their driver (new_id) and takes it back (remove_id), in a
 * thread of its own: new_id makes the kernel walk the bus and lock every function that has the id
 * (drivers/base/dd.c: __driver_attach), so it hangs behind any PF or VF whose lock somebody holds.
 * While the id is registered and the PF's sriov_drivers_autoprobe is 1, a plain bind is enough for
 * a VF, without a touch of its directory.
 */
#include <stdatomic.h>
#include "base.h"
#include "journal.h"
#include "plan.h"
#include "sysfs.h"

enum registrar_state {
	REGISTRAR_IDLE,       /* nobody asked */
	REGISTRAR_AT_WORK,    /* looks at PFs, writes new_id */
	REGISTRAR_REGISTERED, /* the id may be used */
	REGISTRAR_REFUSED,    /* a PF of the id is not bound to its own driver */
	REGISTRAR_FAILED,     /* new_id was refused by the kernel */
	REGISTRAR_LEAVING,    /* writes remove_id */
	REGISTRAR_GONE,       /* the thread has ended, nothing of ours is registered */
};

struct registrar {
	/* set before registrar_start(), constant afterwards */
	const struct plan_id_group *group;
	const struct journal *journal;
	struct bdf journal_pf; /* in whose name the journal's lines are: any PF of the group */
	bool left;             /* a killed run before us registered it */
	int report_fd;         /* the thread closes it at its end */
	int wake_fd;

	struct sysfs sysfs;
	struct tally tally;
	_Atomic uint8_t state;
	_Atomic bool leave; /* the loop's: take it back and end */
	unsigned n_looks;
	bool looked, registered, refused; /* the thread's, for the loop when it is gone */
};

enum { REGISTRAR_ID_LEN = 96 };
/* "<vendor> <device> <driver>", as in the journal. */
void registrar_id_text(const struct plan_id_group *g, char ret[static REGISTRAR_ID_LEN]);

/* Starts the thread; it sleeps. -errno of pthread_create. */
int registrar_start(struct registrar *r) _must_check_;
/* The loop's: registers, when it was idle. */
void registrar_ask(struct registrar *r);
/* The loop's: takes the id back and ends the thread. */
void registrar_end(struct registrar *r);

/* What this registrar had to touch, as it went; exact once it is gone and nothing failed. */
void registrar_price(const struct registrar *r, struct tally *ret);
