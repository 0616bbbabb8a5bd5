/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every operation of a run fails in every way, or is the last before a kill -9; the run after it
 * completes the work, and takes nothing from anybody.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "hot-rig.h"

/* -- what a run finds -- */

static void cold_by_override(void)
{
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
}

static void cold_by_id_as_they_come(void)
{
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
}

static void cold_by_id_one_by_one(void)
{
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig_give_vfs_an_id_of_their_own();
}

static void cold_with_two_drivers(void)
{
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig.pfs[0].serial_number = "1";
	strcpy(fake_pfs[0].serial, "1");
	rig.vfs[0][1].driver = "mlx5_vfio_pci";
}

/* Right, wrong, none, and wrong with somebody's override. */
static void warm_and_mixed(void)
{
	struct fake_pf *pf = &fake_pfs[0];

	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	pf->num_vfs = RIG_VFS;
	strcpy(pf->vfs[0].driver, "vfio-pci");
	pf->vfs[0].vfio = 40;
	strcpy(pf->vfs[1].driver, "native");
	strcpy(pf->vfs[3].driver, "native");
	strcpy(pf->vfs[3].override, "native");
}

/* A killed run has left autoprobe at 0, the id, and its VFs unbound. */
static void warm_after_a_kill(void)
{
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig_give_vfs_an_id_of_their_own();
	fake_pfs[0].num_vfs = RIG_VFS;
	fake_pfs[0].autoprobe = false;
	strcpy(fake_ids[0], "1b36 0011");
	assert_false(journal_write(&rig.journal, rig.pfs[0].address, JOURNAL_AUTOPROBE_WAS, "1"));
	assert_false(
		journal_write(&rig.journal, rig.pfs[0].address, JOURNAL_ID, "1b36 0011 vfio-pci"));
}

static void cold_with_a_promised_autoprobe_of_0(void)
{
	cold_by_id_one_by_one();
	rig.pfs[0].drivers_autoprobe = fake_pfs[0].autoprobe = false;
}

static void cold_in_groups(void)
{
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	fake_has_cdevs = false;
}

/* Of events whose order tells nothing, while the VFs come. */
static void cold_by_id_in_groups(void)
{
	struct uevent group = { .kind = UEVENT_GROUP_ADD, .number = 9 };

	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	fake_has_cdevs = false;
	fake_uevent_send(&group);
	fake_uevent_send(&group);
}

static const struct {
	const char *name;
	void (*make)(void);
} scenes[] = {
	{ "cold, by override", cold_by_override },
	{ "cold, by id as they come", cold_by_id_as_they_come },
	{ "cold, by id one by one", cold_by_id_one_by_one },
	{ "cold, two drivers and a serial number", cold_with_two_drivers },
	{ "cold, autoprobe 0", cold_with_a_promised_autoprobe_of_0 },
	{ "cold, in groups", cold_in_groups },
	{ "cold, by id in groups", cold_by_id_in_groups },
	{ "warm, mixed", warm_and_mixed },
	{ "warm, after a kill", warm_after_a_kill },
};

static void make_scene(unsigned scene, unsigned n_pfs)
{
	rig_reset(n_pfs);
	rig.conf.late_pf_timeout_ns = NSEC_PER_USEC;
	rig.conf.proof_timeout_ns = 60 * NSEC_PER_SEC;
	scenes[scene].make();
}

/* -- the k-th operation -- */

static _Atomic unsigned count;
static unsigned fault_at;
static int fault_result;
static bool is_kill;
static char fault_name[128];

/* As the real door: what cannot be opened or followed does not exist. But it tells no lies: that
 * somebody's id is gone, or that a VF has not the driver that it has. */
static int as_the_door_says(enum sysfs_node node, enum sysfs_op op, int r)
{
	bool looks_up = op == SYSFS_LINK || op == FAKE_OPEN;
	bool is_absent = r == -ENOENT || r == -ENODEV || r == SYSFS_E_ABSENT;

	if (is_absent && (node == SYSFS_DRIVER_REMOVE_ID || node == SYSFS_DRIVER_DEVICE))
		return -EIO;
	if (is_absent && looks_up)
		return SYSFS_E_ABSENT;
	return op == SYSFS_WRITE && r == SYSFS_E_STRANGE ? -EIO : r;
}

/* A killed process writes nothing any more, its journal neither. */
static void kill_journal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_true(null >= 0);
	assert_true(dup3(null, rig.journal.fd, O_CLOEXEC) >= 0);
	close_fd(&null);
}

static int fail_kth(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	/* the loop's looks at vfio<n> are many, and one like the other: see test-proof.c */
	unsigned k = atomic_fetch_add(&count, node != SYSFS_VFIO_DEV) + (node != SYSFS_VFIO_DEV);

	(void) device;
	if (node == SYSFS_VFIO_DEV && k == fault_at && !is_kill)
		return 0;
	if (k < fault_at || (k > fault_at && !is_kill))
		return 0;
	if (k == fault_at)
		snprintf(fault_name, sizeof(fault_name), "node %d, operation %d", (int) node,
			 (int) op);
	if (k == fault_at && is_kill)
		kill_journal();
	return as_the_door_says(node, op, fault_result);
}

static void set_fault(unsigned k, int result, bool kill)
{
	count = 0;
	fault_at = k;
	fault_result = result;
	is_kill = kill;
	fault_name[0] = '\0';
	fake_fault = fail_kth;
}

static bool was_reached(void)
{
	return count >= fault_at;
}

/* -- what is true after each run -- */

#define demand(x, scene)                                                                           \
	do                                                                                         \
		if (!(x))                                                                          \
			fail_msg("%s; at %u (%s), result %d: %s", scenes[scene].name, fault_at,    \
				 fault_name, fault_result, #x);                                    \
	while (0)

static bool is_right(unsigned p, unsigned i)
{
	return !strcmp(fake_pfs[p].vfs[i].driver, rig.vfs[p][i].driver);
}

static void demand_promises(unsigned scene)
{
	char id[REGISTRAR_ID_LEN];

	demand(rig.hot.n_ready + rig.hot.n_lacks == rig.manifest.n_vfs, scene);
	demand(!hotpath_hangs(&rig.hot), scene);
	demand(fake_writes_of_zero == 0, scene);
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++) {
		struct journal_autoprobe left;

		journal_find_autoprobe(rig_journal(), rig.pfs[p].address, &left);
		demand(fake_pfs[p].autoprobe == rig.pfs[p].drivers_autoprobe || left.left, scene);
		for (unsigned i = 0; i < RIG_VFS; i++) {
			const struct hot_vf *vf = &rig_lane(p)->vfs[i];
			unsigned index = rig_lane(p)->lane.plan->vfs[i]->index;

			demand(vf->state != VF_READY || (is_right(p, index) && vf->fd >= 0), scene);
			demand(vf->state != VF_LACKS || vf->cause != CAUSE_NONE, scene);
		}
	}
	for (unsigned i = 0; i < rig.plan.n_id_groups; i++) {
		registrar_id_text(&rig.plan.id_groups[i], id);
		demand(!fake_ids[0][0] || journal_find_id(rig_journal(), id), scene);
	}
}

static void demand_complete(unsigned scene)
{
	struct tally tally, budget;
	bool exact;

	demand_promises(scene);
	demand(rig.hot.n_ready == rig.manifest.n_vfs, scene);
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++) {
		struct journal_autoprobe left;

		journal_find_autoprobe(rig_journal(), rig.pfs[p].address, &left);
		demand(!left.left, scene);
		demand(fake_pfs[p].autoprobe == rig.pfs[p].drivers_autoprobe, scene);
		demand(fake_pfs[p].num_vfs == RIG_VFS, scene);
	}
	demand(!fake_ids[0][0], scene);
	hotpath_tally(&rig.hot, &tally);
	hotpath_budget(&rig.hot, &budget, &exact);
	demand(exact && !memcmp(&tally, &budget, sizeof(tally)), scene);
}

/* What VFs have, to see that the next run does not take it. */
static unsigned devices[FAKE_PFS][RIG_VFS];
static bool has_device[FAKE_PFS][RIG_VFS];

static void remember_devices(void)
{
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++)
		for (unsigned i = 0; i < RIG_VFS; i++) {
			has_device[p][i] = fake_pfs[p].num_vfs > 0 && is_right(p, i);
			devices[p][i] = fake_pfs[p].vfs[i].vfio;
		}
}

static void demand_devices(unsigned scene)
{
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++)
		for (unsigned i = 0; i < RIG_VFS; i++)
			demand(!has_device[p][i] ||
				       (is_right(p, i) && fake_pfs[p].vfs[i].vfio == devices[p][i]),
			       scene);
}

static void run_whole(unsigned scene)
{
	fake_fault = NULL;
	rig.conf.proof_timeout_ns = 60 * NSEC_PER_SEC;
	remember_devices();
	rig_again();
	rig_run();
	demand_complete(scene);
	demand_devices(scene);
}

/* -- the loops -- */

static void without_faults_each_scene_is_whole(void **state)
{
	(void) state;
	for (unsigned scene = 0; scene < ELEMENTSOF(scenes); scene++) {
		make_scene(scene, 1);
		set_fault(UINT32_MAX, 0, false);
		rig_run();
		demand_complete(scene);
		run_whole(scene);
	}
}

static void fail_each_operation(unsigned scene, int result)
{
	for (unsigned k = 1;; k++) {
		make_scene(scene, 1);
		set_fault(k, result, false);
		remember_devices();
		rig_run();
		demand_promises(scene);
		demand_devices(scene);
		if (!was_reached())
			break;
		run_whole(scene);
	}
}

static void c15_after_any_fault_the_next_run_is_whole(void **state)
{
	static const int results[] = { -EIO,    -ENOMEM, -ENOSPC,        -EBUSY,
				       -EAGAIN, -ENODEV, -ENOENT,        -EACCES,
				       -EINTR,  -EINVAL, SYSFS_E_ABSENT, SYSFS_E_STRANGE };

	(void) state;
	for (unsigned scene = 0; scene < ELEMENTSOF(scenes); scene++)
		for (unsigned i = 0; i < ELEMENTSOF(results); i++)
			fail_each_operation(scene, results[i]);
}

/* A run killed before its k-th operation. */
static void run_killed(unsigned k)
{
	int journal = fcntl(rig.journal.fd, F_DUPFD_CLOEXEC, 0);

	assert_true(journal >= 0);
	set_fault(k, -EIO, true);
	rig.conf.proof_timeout_ns = NSEC_PER_USEC; /* nobody would see it */
	rig_run();
	assert_true(dup3(journal, rig.journal.fd, O_CLOEXEC) >= 0);
	close_fd(&journal);
}

static void kill_at_each_operation(unsigned scene, unsigned n_pfs)
{
	bool reached = true;

	for (unsigned k = 1; reached; k++) {
		make_scene(scene, n_pfs);
		run_killed(k);
		reached = was_reached();
		run_whole(scene);
	}
}

static void b6_after_a_kill_at_any_operation_the_next_run_is_whole(void **state)
{
	(void) state;
	for (unsigned scene = 0; scene < ELEMENTSOF(scenes); scene++)
		kill_at_each_operation(scene, 1);
}

static void b6_likewise_with_several_pfs_at_a_time(void **state)
{
	(void) state;
	for (unsigned scene = 0; scene < 3; scene++)
		kill_at_each_operation(scene, 3);
}

static void b6_likewise_when_the_next_run_is_killed_too(void **state)
{
	bool reached = true;

	(void) state;
	for (unsigned k = 1; reached; k++) {
		bool again = true;

		for (unsigned j = 1; again; j += 2) {
			make_scene(2, 1);
			run_killed(k);
			reached = was_reached();
			rig_again();
			run_killed(j);
			again = was_reached();
			run_whole(2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_faults_each_scene_is_whole),
		cmocka_unit_test(c15_after_any_fault_the_next_run_is_whole),
		cmocka_unit_test(b6_after_a_kill_at_any_operation_the_next_run_is_whole),
		cmocka_unit_test(b6_likewise_with_several_pfs_at_a_time),
		cmocka_unit_test(b6_likewise_when_the_next_run_is_killed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
