/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * hot-rig - a hot path on the fake doors: a manifest of some PFs of four VFs each for one owner a
 * PF, everything that runs it, and a loop without an event library.
 */
#include "fake-sysfs.h"
#include "fake-uevent.h"
#include "fake-vfio.h"
#include "hotpath.h"

enum { RIG_VFS = 4 };

struct rig {
	struct manifest manifest;
	struct manifest_owner owners[FAKE_PFS];
	struct manifest_pf pfs[FAKE_PFS];
	struct manifest_vf vfs[FAKE_PFS][RIG_VFS];
	struct conf conf;
	struct plan plan;
	struct journal journal;
	struct uevents uevents;
	struct hotpath hot;
	struct hot_lane lanes[FAKE_PFS];
	struct hot_owner hot_owners[FAKE_PFS];
	struct registrar registrars[FAKE_PFS];
	struct hot_vf hot_vfs[FAKE_PFS][RIG_VFS];
	struct vf_outcome outcomes[FAKE_PFS][RIG_VFS];
	/* Deadlines pass while a registrar works. Else they wait for it, so that a busy machine
	 * changes nothing: for tests in which a registrar hangs. */
	bool id_may_be_late;
};

extern struct rig rig;

/* Before a test: n PFs; strategy auto, short times. Tests may change manifest and conf then. */
void rig_reset(unsigned n_pfs);
/* As most NICs do: VFs are not bound as they come then, but by a bind for each. */
void rig_give_vfs_an_id_of_their_own(void);
/* A second run over the same fake host. */
void rig_again(void);
/* Makes the plan and starts the hot path, without running it. */
void rig_start(void);
/* One turn of the loop. */
void rig_turn(void);
/* Runs it to its end. */
void rig_finish(void);
void rig_run(void);
/* Waits until each thread has come to its end, when it is over and what hung was let go. */
void rig_await_threads(void);
/* The text of the journal. */
const char *rig_journal(void);

/* For the plan's lanes, in their order: which is the PF's? */
struct hot_lane *rig_lane(unsigned pf);
/* Asserts that all VFs are ready, bound to vfio-pci, and every PF's autoprobe is as promised. */
void rig_assert_complete(void);
/* Asserts that the tally is the budget's. */
void rig_assert_budget(void);
