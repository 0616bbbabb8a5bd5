/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "hot-rig.h"

static int reset(void **state)
{
	(void) state;
	rig_reset(2);
	return 0;
}

static void a_cold_host_by_id_becomes_whole_within_budget(void **state)
{
	struct tally t;

	(void) state;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	hotpath_tally(&rig.hot, &t);
	assert_int_equal(tally_vf_nodes(&t), 0);
	assert_int_equal(t.sysfs[SYSFS_DRIVER_NEW_ID][SYSFS_WRITE], 1);
	assert_int_equal(t.sysfs[SYSFS_DRIVER_REMOVE_ID][SYSFS_WRITE], 1);
}

static void a_cold_host_by_override_touches_one_node_a_vf(void **state)
{
	struct tally t;

	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	hotpath_tally(&rig.hot, &t);
	assert_int_equal(tally_vf_nodes(&t), 2 * RIG_VFS);
}

static void l6_a_second_run_writes_nothing(void **state)
{
	struct tally t;

	(void) state;
	rig_run();
	rig_again();
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	hotpath_tally(&rig.hot, &t);
	assert_int_equal(tally_writes(&t), 0);
	assert_int_equal(tally_vf_nodes(&t), 0);
	assert_true(rig_lane(0)->lane.facts.warm);
}

static void groups_are_told_by_the_order_of_events(void **state)
{
	(void) state;
	fake_has_cdevs = false;
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_int_equal(rig.hot.n_group_links, 0);
	for (unsigned p = 0; p < 2; p++)
		for (unsigned i = 0; i < RIG_VFS; i++) {
			assert_int_equal(rig_lane(p)->vfs[i].node.kind, VFIO_GROUP);
			assert_int_equal(rig_lane(p)->vfs[i].node.number,
					 100 + fake_pfs[p].vfs[i].vfio);
		}
}

/* Somebody else's device between group and device of ours. */
static void group_links_are_read_when_the_order_tells_nothing(void **state)
{
	struct uevent group = { .kind = UEVENT_GROUP_ADD, .number = 9 };

	(void) state;
	fake_has_cdevs = false;
	fake_uevent_send(&group);
	fake_uevent_send(&group);
	rig_run();
	rig_assert_complete();
	assert_int_equal(rig.hot.n_group_links, 2 * RIG_VFS);
	assert_int_equal(rig_lane(1)->vfs[2].node.number, 100 + fake_pfs[1].vfs[2].vfio);
}

static int busy(struct vfio_node node)
{
	return node.kind == VFIO_GROUP ? -EBUSY : 0;
}

static void l6_adopted_groups_held_by_their_vmms_are_not_lacking(void **state)
{
	(void) state;
	fake_has_cdevs = false;
	rig_run();
	rig_again();
	fake_open_fault = busy;
	rig_run();
	assert_int_equal(rig.hot.n_held, 2 * RIG_VFS);
	assert_int_equal(rig.hot.n_lacks, 0);
}

static void a_node_that_cannot_be_opened_lacks(void **state)
{
	(void) state;
	fake_has_cdevs = false;
	fake_open_fault = busy;
	rig_run();
	assert_int_equal(rig.hot.n_lacks, 2 * RIG_VFS);
	assert_int_equal(rig_lane(0)->vfs[0].cause, CAUSE_HELD);
	assert_int_equal(rig_lane(0)->vfs[0].error, EBUSY);
}

static void u3_lost_events_are_made_up_for(void **state)
{
	(void) state;
	fake_vfio_added = NULL; /* nobody tells */
	rig_start();
	fake_uevent_overrun();
	rig_finish();
	rig_assert_complete();
}

static void no_event_at_all_is_made_up_for_at_the_deadline(void **state)
{
	(void) state;
	fake_vfio_added = NULL;
	rig_run();
	rig_assert_complete();
	rig_again();
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig_run();
	rig_assert_complete();
}

static _Atomic bool released;
static int hang_in_numvfs(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	while (node == SYSFS_PF_NUMVFS && op == SYSFS_WRITE && device.rid == 0x100 && !released)
		nanosleep(&nap, NULL);
	return 0;
}

static void c8_a_lane_that_hangs_is_stuck_and_holds_back_nobody(void **state)
{
	struct timespec nap = { .tv_nsec = 10000000 };

	(void) state;
	released = false;
	fake_fault = hang_in_numvfs;
	rig.conf.lane_timeout_ns = 300 * NSEC_PER_MSEC;
	rig_run();
	assert_int_equal(rig_lane(0)->state, LANE_STUCK);
	assert_true(hotpath_hangs(&rig.hot));
	assert_int_equal(rig_lane(0)->vfs[0].cause, CAUSE_STUCK);
	assert_int_equal(rig_lane(0)->vfs[0].place, PLACE_ENABLE);
	assert_int_equal(rig_lane(1)->state, LANE_DONE);
	assert_int_equal(rig.hot.n_ready, RIG_VFS);
	assert_int_equal(rig.hot.n_lacks, RIG_VFS);
	assert_true(rig_lane(1)->over_ns < rig_lane(0)->over_ns);
	released = true;
	while (atomic_load(&rig_lane(0)->lane.ask) != LANE_OVER)
		nanosleep(&nap, NULL);
}

/* One worker only: the stuck lane gives its place away. */
static void a_stuck_lane_gives_its_place_away(void **state)
{
	struct timespec nap = { .tv_nsec = 10000000 };

	(void) state;
	released = false;
	fake_fault = hang_in_numvfs;
	rig.conf.workers = 1;
	rig.conf.lane_timeout_ns = 300 * NSEC_PER_MSEC;
	rig_run();
	assert_int_equal(rig_lane(0)->state, LANE_STUCK);
	assert_int_equal(rig_lane(1)->state, LANE_DONE);
	released = true;
	while (atomic_load(&rig_lane(0)->lane.ask) != LANE_OVER)
		nanosleep(&nap, NULL);
}

static void one_worker_is_enough(void **state)
{
	(void) state;
	rig_reset(4);
	rig.conf.workers = 1;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
}

static void c4_a_pf_without_driver_is_named_at_its_deadline(void **state)
{
	(void) state;
	fake_pfs[0].driver[0] = '\0';
	rig_run();
	assert_int_equal(rig_lane(0)->state, LANE_REFUSED);
	assert_int_equal(rig_lane(0)->lane.cause, CAUSE_PF_NO_DRIVER);
	assert_int_equal(rig.hot.n_ready, RIG_VFS);
}

/* NVMe: the PFs have the id too, so an unbound one would be taken. */
static void b4_an_unbound_pf_of_the_id_forbids_it(void **state)
{
	struct tally t;

	(void) state;
	fake_pfs[0].driver[0] = '\0';
	rig_run();
	hotpath_tally(&rig.hot, &t);
	assert_int_equal(t.sysfs[SYSFS_DRIVER_NEW_ID][SYSFS_WRITE], 0);
	assert_int_equal(t.sysfs[SYSFS_VF_OVERRIDE][SYSFS_WRITE], RIG_VFS);
	assert_int_equal(rig.hot.n_ready, RIG_VFS);
	assert_string_equal(fake_pfs[0].driver, "");
}

static void u6_a_late_pf_joins_and_holds_back_nobody(void **state)
{
	struct uevent add = { .kind = UEVENT_PCI_BIND, .bdf = { 0, 0x100 }, .driver = "nvme" };
	struct timespec nap = { .tv_nsec = 1000000 };

	(void) state;
	fake_pfs[0].absent = true;
	rig.conf.late_pf_timeout_ns = 20 * NSEC_PER_SEC;
	rig_start();
	while (rig.hot_owners[1].n_ready < RIG_VFS || rig_lane(0)->state != LANE_LATE) {
		hotpath_on_report(&rig.hot, now_ns());
		hotpath_on_uevent(&rig.hot, now_ns());
		nanosleep(&nap, NULL);
	}
	assert_true(rig.hot_owners[1].ready_ns > 0);
	assert_int_equal(rig_lane(0)->state, LANE_LATE);
	fake_pfs[0].absent = false;
	fake_uevent_send(&add);
	rig_finish();
	rig_assert_complete();
	assert_true(rig.hot_owners[0].ready_ns > rig.hot_owners[1].ready_ns);
}

static void owners_are_ready_when_their_own_vfs_are(void **state)
{
	(void) state;
	rig.vfs[1][3].driver = "absent";
	rig_run();
	assert_int_equal(rig.hot_owners[0].n_ready, RIG_VFS);
	assert_true(rig.hot_owners[0].ready_ns > 0);
	assert_int_equal(rig.hot_owners[1].n_ready, RIG_VFS - 1);
	assert_int_equal(rig.hot_owners[1].n_lacks, 1);
	assert_int_equal(rig.hot_owners[1].ready_ns, 0);
}

int main(void)
{
#define with_reset(f) cmocka_unit_test_setup(f, reset)
	const struct CMUnitTest tests[] = {
		with_reset(a_cold_host_by_id_becomes_whole_within_budget),
		with_reset(a_cold_host_by_override_touches_one_node_a_vf),
		with_reset(l6_a_second_run_writes_nothing),
		with_reset(groups_are_told_by_the_order_of_events),
		with_reset(group_links_are_read_when_the_order_tells_nothing),
		with_reset(l6_adopted_groups_held_by_their_vmms_are_not_lacking),
		with_reset(a_node_that_cannot_be_opened_lacks),
		with_reset(u3_lost_events_are_made_up_for),
		with_reset(no_event_at_all_is_made_up_for_at_the_deadline),
		with_reset(c8_a_lane_that_hangs_is_stuck_and_holds_back_nobody),
		with_reset(a_stuck_lane_gives_its_place_away),
		with_reset(one_worker_is_enough),
		with_reset(c4_a_pf_without_driver_is_named_at_its_deadline),
		with_reset(b4_an_unbound_pf_of_the_id_forbids_it),
		with_reset(u6_a_late_pf_joins_and_holds_back_nobody),
		with_reset(owners_are_ready_when_their_own_vfs_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
