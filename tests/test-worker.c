/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include "hot-rig.h"

/* PF 0 is the one that things happen to, PF 1 the one that must not notice. */
static int reset(void **state)
{
	(void) state;
	rig_reset(2);
	rig.conf.late_pf_timeout_ns = NSEC_PER_MSEC;
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	return 0;
}

/* -- a fault at PF 0 or one of its VFs: at the first `fault_count` operations of this kind -- */

static enum sysfs_node fault_node;
static enum sysfs_op fault_op;
static int fault_result;
static _Atomic unsigned fault_count;

static int fault_of_pf_0(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	if (device.rid >> 8 != 1 || node != fault_node || op != fault_op || fault_count == 0)
		return 0;
	fault_count--;
	return fault_result;
}

static void fail_at(enum sysfs_node node, enum sysfs_op op, int result)
{
	fault_node = node;
	fault_op = op;
	fault_result = result;
	fault_count = 1000;
	fake_fault = fault_of_pf_0;
}

static const struct lane *lane(void)
{
	return &rig_lane(0)->lane;
}

/* PF 0 was refused, all its VFs lack for that, its autoprobe is as promised; PF 1 is whole. */
static void assert_refused(enum cause cause, enum place place, int error)
{
	assert_int_equal(rig_lane(0)->state, LANE_REFUSED);
	assert_int_equal(lane()->cause, cause);
	assert_int_equal(lane()->place, place);
	assert_int_equal(lane()->error, error);
	for (unsigned i = 0; i < RIG_VFS; i++) {
		assert_int_equal(rig_lane(0)->vfs[i].state, VF_LACKS);
		assert_int_equal(rig_lane(0)->vfs[i].cause, cause);
	}
	assert_int_equal(fake_pfs[0].autoprobe, rig.pfs[0].drivers_autoprobe);
	assert_int_equal(rig_lane(1)->state, LANE_DONE);
	assert_int_equal(rig.hot_owners[1].n_ready, RIG_VFS);
	assert_int_equal(fake_writes_of_zero, 0);
}

static unsigned writes(enum sysfs_node node)
{
	return lane()->tally.sysfs[node][SYSFS_WRITE];
}

static void rerun_whole(void)
{
	fake_fault = NULL;
	rig_again();
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
}

/* -- is it our PF? -- */

static void n6_another_device_is_refused_untouched(void **state)
{
	(void) state;
	fake_pfs[0].device = 0x11;
	rig_run();
	assert_refused(CAUSE_PF_CHANGED, PLACE_PF_LOOK, 0);
	assert_non_null(strstr(lane()->found, "d00000011"));
	assert_int_equal(tally_writes(&lane()->tally), 0);
	fake_pfs[0].device = 0x10;
	fake_pfs[0].vendor = 0x8086;
	rig_again();
	rig_run();
	assert_refused(CAUSE_PF_CHANGED, PLACE_PF_LOOK, 0);
}

static void n6_another_serial_number_is_refused_untouched(void **state)
{
	(void) state;
	rig.pfs[0].serial_number = "a";
	strcpy(fake_pfs[0].serial, "b");
	rig_run();
	assert_refused(CAUSE_PF_CHANGED, PLACE_PF_LOOK, 0);
	assert_string_equal(lane()->found, "b");
	assert_int_equal(tally_writes(&lane()->tally), 0);
}

static void n6_a_kernel_that_tells_no_serial_number_proves_nothing(void **state)
{
	(void) state;
	rig.pfs[0].serial_number = "a";
	rig_run();
	assert_false(lane()->serial_proven);
	rig_assert_complete();
	rig_assert_budget();
}

static void n6_a_vf_that_moved_is_refused_by_itself(void **state)
{
	(void) state;
	rig.vfs[0][2].address.rid++;
	rig_run();
	assert_int_equal(rig_lane(0)->vfs[2].state, VF_LACKS);
	assert_int_equal(rig_lane(0)->vfs[2].cause, CAUSE_VF_MOVED);
	assert_int_equal(rig_lane(0)->vfs[2].place, PLACE_LAYOUT);
	assert_string_equal(fake_pfs[0].vfs[2].driver, "");
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS - 1);
	assert_int_equal(rig_lane(0)->state, LANE_DONE);
}

static void n6_a_vf_that_moved_is_served_when_the_serial_number_proves_the_card(void **state)
{
	(void) state;
	rig.pfs[0].serial_number = "a";
	strcpy(fake_pfs[0].serial, "a");
	for (unsigned i = 0; i < RIG_VFS; i++)
		rig.vfs[0][i].address.rid += 16;
	rig_run();
	assert_true(lane()->serial_proven);
	rig_assert_complete();
	rig_assert_budget();
}

static void n6_vfs_that_were_promised_no_address_may_be_anywhere(void **state)
{
	(void) state;
	for (unsigned i = 0; i < RIG_VFS; i++)
		rig.vfs[0][i].has_address = false;
	fake_pfs[0].offset = 3;
	rig_run();
	rig_assert_complete();
}

static void n6_vfs_beyond_the_last_bus_are_refused(void **state)
{
	(void) state;
	fake_pfs[0].offset = 0xffff;
	rig_run();
	assert_refused(CAUSE_VF_MOVED, PLACE_LAYOUT, 0);
	assert_string_equal(lane()->found, "beyond the last bus");
}

static void c4_a_pf_without_driver_is_waited_for_and_named(void **state)
{
	(void) state;
	fake_pfs[0].driver[0] = '\0';
	rig_run();
	assert_refused(CAUSE_PF_NO_DRIVER, PLACE_PF_LOOK, 0);
	assert_int_equal(tally_writes(&lane()->tally), 0);
}

static void c4_a_pf_with_a_wrong_driver_is_refused_and_not_unbound(void **state)
{
	(void) state;
	strcpy(fake_pfs[0].driver, "vfio-pci");
	rig_run();
	assert_refused(CAUSE_PF_CHANGED, PLACE_PF_LOOK, 0);
	assert_string_equal(lane()->found, "vfio-pci");
	assert_string_equal(fake_pfs[0].driver, "vfio-pci");
	assert_int_equal(tally_writes(&lane()->tally), 0);
}

static void an_absent_pf_is_named(void **state)
{
	(void) state;
	fake_pfs[0].absent = true;
	rig_run();
	assert_refused(CAUSE_PF_ABSENT, PLACE_PF_LOOK, 0);
}

/* -- how many VFs are there? -- */

static void c1_another_number_of_vfs_is_refused_without_a_write(void **state)
{
	(void) state;
	fake_pfs[0].num_vfs = RIG_VFS - 1;
	rig_run();
	assert_refused(CAUSE_NUMBER_DIFFERS, PLACE_PF_LOOK, 0);
	assert_string_equal(lane()->found, "3");
	assert_int_equal(tally_writes(&lane()->tally), 0);
	assert_int_equal(fake_pfs[0].num_vfs, RIG_VFS - 1);
}

static void c2_more_vfs_than_promised_are_not_taken_away(void **state)
{
	(void) state;
	fake_pfs[0].num_vfs = RIG_VFS + 2;
	rig_run();
	assert_refused(CAUSE_NUMBER_DIFFERS, PLACE_PF_LOOK, 0);
	assert_string_equal(lane()->found, "6");
	assert_int_equal(tally_writes(&lane()->tally), 0);
}

static void c18_exactly_the_promised_number_is_made(void **state)
{
	(void) state;
	rig_run();
	assert_int_equal(fake_pfs[0].num_vfs, RIG_VFS);
	assert_int_equal(writes(SYSFS_PF_NUMVFS), 1);
}

/* -- the write to sriov_numvfs fails -- */

static void c5_each_errno_of_numvfs_has_its_cause(void **state)
{
	static const struct {
		int error;
		enum cause cause;
	} rows[] = {
		{ ENOENT, CAUSE_PF_NO_DRIVER },
		{ ENOMEM, CAUSE_NO_MMIO },
		{ ENOSPC, CAUSE_NO_VECTORS },
		{ EBUSY, CAUSE_NUMBER_DIFFERS },
		{ ENODEV, CAUSE_PF_ABSENT },
		{ EIO, CAUSE_INPUT_OUTPUT },
		{ EPERM, CAUSE_NOT_PERMITTED },
		{ EACCES, CAUSE_NOT_PERMITTED },
		{ EINVAL, CAUSE_REFUSED_BY_PF_DRIVER },
		{ EAGAIN, CAUSE_REFUSED_BY_PF_DRIVER },
		{ ENOSYS, CAUSE_REFUSED_BY_PF_DRIVER },
	};

	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		reset(state);
		fail_at(SYSFS_PF_NUMVFS, SYSFS_WRITE, -rows[i].error);
		rig_run();
		assert_refused(rows[i].cause, PLACE_ENABLE, rows[i].error);
		assert_int_equal(fake_pfs[0].num_vfs, 0);
		assert_int_equal(writes(SYSFS_PF_NUMVFS), 1); /* no retry */
		rerun_whole();
	}
}

static void c6_too_many_names_the_firmwares_limit(void **state)
{
	(void) state;
	fake_pfs[0].total_vfs = 3;
	rig_run();
	assert_refused(CAUSE_TOO_MANY, PLACE_ENABLE, ERANGE);
	assert_string_equal(lane()->found, "3");
}

static void c6_the_limit_is_left_out_when_it_cannot_be_read(void **state)
{
	(void) state;
	fake_pfs[0].total_vfs = 3;
	fail_at(SYSFS_PF_TOTALVFS, SYSFS_READ, -EIO);
	rig_run();
	assert_refused(CAUSE_TOO_MANY, PLACE_ENABLE, ERANGE);
	assert_string_equal(lane()->found, "");
}

static void c7_enomem_with_vfs_on_the_pfs_own_bus_is_mmio(void **state)
{
	(void) state;
	rig.pfs[0].offset = 252; /* the last VF at 01:1f.7 */
	rig.pfs[0].stride = 1;
	fail_at(SYSFS_PF_NUMVFS, SYSFS_WRITE, -ENOMEM);
	rig_run();
	assert_refused(CAUSE_NO_MMIO, PLACE_ENABLE, ENOMEM);
}

static void c7_enomem_with_vfs_on_another_bus_is_bus_numbers(void **state)
{
	(void) state;
	rig.pfs[0].offset = 253; /* the last VF at 02:00.0 */
	rig.pfs[0].stride = 1;
	fail_at(SYSFS_PF_NUMVFS, SYSFS_WRITE, -ENOMEM);
	rig_run();
	assert_refused(CAUSE_NO_BUS_NUMBERS, PLACE_ENABLE, ENOMEM);
}

/* -- C15: autoprobe is as promised on every way out, or the journal says so -- */

static void c15_faults_before_the_first_write_leave_autoprobe_alone(void **state)
{
	static const struct {
		enum sysfs_node node;
		enum sysfs_op op;
		enum place place;
	} rows[] = {
		{ SYSFS_PF_MODALIAS, SYSFS_READ, PLACE_PF_LOOK },
		{ SYSFS_PF_NUMVFS, SYSFS_READ, PLACE_PF_LOOK },
		{ SYSFS_PF_AUTOPROBE, SYSFS_READ, PLACE_AUTOPROBE },
		{ SYSFS_PF_AUTOPROBE, SYSFS_WRITE, PLACE_AUTOPROBE },
	};

	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		reset(state);
		fail_at(rows[i].node, rows[i].op, -EIO);
		rig_run();
		assert_refused(CAUSE_INPUT_OUTPUT, rows[i].place, EIO);
		assert_int_equal(fake_pfs[0].num_vfs, 0);
		assert_false(strstr(rig_journal(), "0000:01:00.0 enable"));
		rerun_whole();
	}
}

static void c15_faults_after_it_put_autoprobe_back(void **state)
{
	static const struct {
		enum sysfs_node node;
		enum sysfs_op op;
		enum place place;
	} rows[] = {
		{ SYSFS_PF_NUMVFS, SYSFS_WRITE, PLACE_ENABLE },
		{ SYSFS_PF_OFFSET, SYSFS_READ, PLACE_LAYOUT },
		{ SYSFS_PF_STRIDE, SYSFS_READ, PLACE_LAYOUT },
	};

	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		reset(state);
		fail_at(rows[i].node, rows[i].op, -EIO);
		rig_run();
		assert_refused(CAUSE_INPUT_OUTPUT, rows[i].place, EIO);
		assert_int_equal(writes(SYSFS_PF_AUTOPROBE), 2);
		rerun_whole();
	}
}

/* PF 0 takes no VFs, and takes its autoprobe once only. */
static int numvfs_and_second_autoprobe(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	if (device.rid >> 8 != 1 || op != SYSFS_WRITE)
		return 0;
	if (node == SYSFS_PF_NUMVFS)
		return -ENOMEM;
	return node == SYSFS_PF_AUTOPROBE && fault_count++ > 0 ? -EIO : 0;
}

static void c15_an_autoprobe_that_stays_0_is_repaired_by_the_next_run(void **state)
{
	struct journal_autoprobe left;

	(void) state;
	fault_count = 0;
	fake_fault = numvfs_and_second_autoprobe;
	rig_run();
	assert_int_equal(lane()->cause, CAUSE_NO_MMIO); /* the first failure counts */
	assert_int_equal(lane()->place, PLACE_ENABLE);
	assert_int_equal(lane()->error, ENOMEM);
	assert_false(fake_pfs[0].autoprobe);
	journal_find_autoprobe(rig_journal(), rig.pfs[0].address, &left);
	assert_true(left.left && left.was);
	rerun_whole();
	journal_find_autoprobe(rig_journal(), rig.pfs[0].address, &left);
	assert_false(left.left);
}

static void c14_a_promised_autoprobe_of_0_stays_0(void **state)
{
	static const enum conf_strategy strategies[] = { CONF_STRATEGY_OVERRIDE, CONF_STRATEGY_ID };

	for (unsigned i = 0; i < ELEMENTSOF(strategies); i++) {
		reset(state);
		rig.conf.bind_strategy = strategies[i];
		rig.pfs[0].drivers_autoprobe = fake_pfs[0].autoprobe = false;
		rig_run();
		rig_assert_complete();
		rig_assert_budget();
		assert_int_equal(writes(SYSFS_PF_AUTOPROBE), i == 0 ? 0 : 2);
	}
}

/* Somebody has changed it since, and it is his: we put back only what we changed. */
static void c15_an_autoprobe_that_we_did_not_change_is_not_ours(void **state)
{
	(void) state;
	rig.pfs[0].drivers_autoprobe = true;
	fake_pfs[0].autoprobe = false;
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_false(fake_pfs[0].autoprobe);
	assert_int_equal(writes(SYSFS_PF_AUTOPROBE), 0);
	rig_assert_budget();
}

static void c15_autoprobe_left_by_a_killed_run_is_put_back_though_nothing_else_is_to_do(
	void **state)
{
	(void) state;
	rig_run();
	rig_again();
	fake_pfs[0].autoprobe = false;
	assert_int_equal(journal_write(&rig.journal, rig.pfs[0].address, JOURNAL_AUTOPROBE_WAS,
				       "1"),
			 0);
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_int_equal(tally_writes(&lane()->tally), 1);
}

/* -- the end of a lane in the journal -- */

static void the_journal_tells_a_lane_from_its_begin_to_its_end(void **state)
{
	static const char *const words[] = { " autoprobe-was 1\n", " enable 4\n",
					     " bind vfio-pci 4\n", " over\n" };
	const char *at;

	(void) state;
	rig_reset(1);
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig_run();
	at = rig_journal();
	for (unsigned i = 0; i < ELEMENTSOF(words); i++) {
		at = strstr(at, words[i]);
		assert_non_null(at);
		at++;
	}
}

/* -- wrong drivers, by a run -- */

static void b2_a_vf_with_a_wrong_driver_is_taken_over_within_budget(void **state)
{
	static const enum conf_strategy strategies[] = { CONF_STRATEGY_OVERRIDE, CONF_STRATEGY_ID };

	for (unsigned i = 0; i < ELEMENTSOF(strategies); i++) {
		reset(state);
		rig.conf.bind_strategy = strategies[i];
		fake_pfs[0].num_vfs = RIG_VFS;
		strcpy(fake_pfs[0].vfs[1].driver, "native");
		rig_run();
		rig_assert_complete();
		rig_assert_budget();
		assert_int_equal(lane()->facts.n_wrong, 1);
		assert_true(lane()->facts.warm);
	}
}

static void c20_a_warm_pf_keeps_vfs_that_are_not_in_the_manifest(void **state)
{
	(void) state;
	rig.pfs[0].n_vfs = RIG_VFS - 1;
	rig.manifest.n_vfs--;
	fake_pfs[0].num_vfs = RIG_VFS;
	strcpy(fake_pfs[0].vfs[3].driver, "native");
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS - 1);
	assert_string_equal(fake_pfs[0].vfs[3].driver, "native");
	assert_string_equal(fake_pfs[0].vfs[3].override, "");
	rig_assert_budget();
}

static void c3_a_vf_that_is_promised_no_driver_gets_none(void **state)
{
	(void) state;
	rig.vfs[0][3].driver = NULL;
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_string_equal(fake_pfs[0].vfs[3].driver, "");
	assert_string_equal(fake_pfs[0].vfs[3].override, "");
	rig_assert_budget();
}

static void c3_a_vf_that_is_promised_its_native_driver_waits_for_no_node(void **state)
{
	(void) state;
	rig.vfs[0][3].driver = "native";
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_string_equal(fake_pfs[0].vfs[3].driver, "native");
	assert_int_equal(rig_lane(0)->vfs[3].fd, -1);
	rig_assert_budget();
}

/* -- C12: numvfs returns before the VFs are there -- */

static void let_vf_2_be_late(void)
{
	fake_pfs[0].late = 1U << 2;
	rig.conf.late_pf_timeout_ns = 60 * NSEC_PER_SEC;
}

static void run_until_late(void)
{
	rig_start();
	while (rig_lane(0)->state != LANE_LATE || rig.hot.n_ready < 2 * RIG_VFS - 1)
		rig_turn();
	assert_int_equal(rig_lane(0)->vfs[2].state, VF_WAITS);
}

static void c12_a_late_vf_is_bound_when_it_comes(void **state)
{
	static const enum conf_strategy strategies[] = { CONF_STRATEGY_OVERRIDE, CONF_STRATEGY_ID };

	for (unsigned i = 0; i < ELEMENTSOF(strategies); i++) {
		struct uevent add = { .kind = UEVENT_PCI_ADD };

		reset(state);
		rig.conf.bind_strategy = strategies[i];
		let_vf_2_be_late();
		run_until_late();
		add.bdf = fake_vf_address(0, 2);
		fake_vf_appears(0, 2);
		fake_uevent_send(&add);
		rig_finish();
		rig_assert_complete();
	}
}

static void c12_lost_events_make_it_look_again(void **state)
{
	(void) state;
	let_vf_2_be_late();
	run_until_late();
	fake_vf_appears(0, 2);
	fake_uevent_overrun();
	rig_finish();
	rig_assert_complete();
}

static void c12_a_vf_that_never_comes_lacks_and_autoprobe_is_put_back(void **state)
{
	(void) state;
	let_vf_2_be_late();
	rig.conf.late_pf_timeout_ns = NSEC_PER_MSEC;
	rig_run();
	assert_int_equal(rig_lane(0)->state, LANE_DONE);
	assert_int_equal(rig_lane(0)->vfs[2].cause, CAUSE_VF_GONE);
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS - 1);
	assert_true(fake_pfs[0].autoprobe);
	fake_vf_appears(0, 2);
	rerun_whole();
}

/* Two ranges with a late VF each: the second asks nobody any more. */
static void c12_vfs_of_two_drivers_that_never_come_lack(void **state)
{
	(void) state;
	fail_at(SYSFS_VF_OVERRIDE, SYSFS_WRITE, SYSFS_E_ABSENT);
	rig.vfs[0][2].driver = rig.vfs[0][3].driver = "mlx5_vfio_pci";
	rig_run();
	assert_int_equal(rig_lane(0)->state, LANE_DONE);
	assert_int_equal(rig.hot_owners[0].n_lacks, RIG_VFS);
	assert_int_equal(rig_lane(0)->vfs[3].cause, CAUSE_VF_GONE);
	assert_false(hotpath_hangs(&rig.hot));
}

/* Warm VFs are not late: they are gone. */
static void c17_an_adopted_vf_that_is_not_there_is_not_waited_for(void **state)
{
	(void) state;
	fake_pfs[0].num_vfs = RIG_VFS;
	let_vf_2_be_late();
	rig_run();
	assert_int_equal(rig_lane(0)->vfs[2].cause, CAUSE_VF_GONE);
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS - 1);
}

/* -- by id -- */

static void b4_ids_of_others_are_left_alone(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	strcpy(fake_ids[0], "8086 0001");
	rig_run();
	assert_string_equal(fake_ids[0], "8086 0001");
	assert_string_equal(fake_ids[1], "");
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_true(lane()->facts.by_id);
	rig_assert_budget();
}

static int no_new_id(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) device;
	return node == SYSFS_DRIVER_NEW_ID && op == SYSFS_WRITE ? -EINVAL : 0;
}

static void b4_an_id_that_the_kernel_refuses_is_done_without(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	fake_fault = no_new_id;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_false(lane()->facts.by_id);
	assert_int_equal(writes(SYSFS_VF_OVERRIDE), RIG_VFS);
}

static _Atomic bool released;

static int hang_in_new_id(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	(void) device;
	while (node == SYSFS_DRIVER_NEW_ID && op == SYSFS_WRITE && !released)
		nanosleep(&nap, NULL);
	return 0;
}

static void c8_a_new_id_that_hangs_holds_back_nobody_for_long(void **state)
{
	(void) state;
	released = false;
	fake_fault = hang_in_new_id;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig.id_may_be_late = true;
	rig.conf.proof_timeout_ns = 100 * NSEC_PER_MSEC;
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_int_equal(rig_lane(0)->state, LANE_DONE);
	assert_int_equal(writes(SYSFS_VF_OVERRIDE), RIG_VFS);
	assert_true(fake_pfs[0].autoprobe);
	assert_true(hotpath_hangs(&rig.hot)); /* the process must end, not free */
	assert_true(rig.hot.ended && rig.hot.over_ns < rig.hot.end_by_ns);
	released = true;
	rig_await_threads();
	assert_string_equal(fake_ids[0], "");
	assert_false(journal_find_id(rig_journal(), "1b36 0010 vfio-pci"));
}

static int enodev_by_id(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	static _Atomic bool done;

	if (node == SYSFS_PF_NUMVFS && op == SYSFS_READ)
		done = false;
	if (node != SYSFS_DRIVER_BIND || bdf_compare(device, fake_vf_address(0, 1)) != 0 || done)
		return 0;
	done = true;
	return -ENODEV;
}

static void k5_a_vf_that_its_id_does_not_bind_is_bound_by_override(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig_give_vfs_an_id_of_their_own();
	fake_fault = enodev_by_id;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_int_equal(lane()->facts.n_bound_by_id, RIG_VFS);
	assert_int_equal(lane()->facts.n_bound_by_override, 1);
	assert_int_equal(tally_vf_nodes(&lane()->tally), 1);
}

static void b6_an_id_left_by_a_killed_run_is_used_and_removed(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	strcpy(fake_ids[0], "1b36 0010");
	assert_int_equal(journal_write(&rig.journal, rig.pfs[0].address, JOURNAL_ID,
				       "1b36 0010 vfio-pci"),
			 0);
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_true(lane()->facts.by_id);
}

static void b4_an_id_of_somebody_else_is_used_and_stays(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	strcpy(fake_ids[0], "1b36 0010");
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_true(lane()->facts.by_id);
	assert_string_equal(fake_ids[0], "1b36 0010");
	rig_assert_budget();
}

static void a_journal_that_cannot_be_written_stops_nobody(void **state)
{
	(void) state;
	journal_close(&rig.journal);
	rig.journal.fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	assert_true(rig.journal.fd >= 0);
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_true(lane()->journal_failed);
}

int main(void)
{
#define with_reset(f) cmocka_unit_test_setup(f, reset)
	const struct CMUnitTest tests[] = {
		with_reset(n6_another_device_is_refused_untouched),
		with_reset(n6_another_serial_number_is_refused_untouched),
		with_reset(n6_a_kernel_that_tells_no_serial_number_proves_nothing),
		with_reset(n6_a_vf_that_moved_is_refused_by_itself),
		with_reset(n6_a_vf_that_moved_is_served_when_the_serial_number_proves_the_card),
		with_reset(n6_vfs_that_were_promised_no_address_may_be_anywhere),
		with_reset(n6_vfs_beyond_the_last_bus_are_refused),
		with_reset(c4_a_pf_without_driver_is_waited_for_and_named),
		with_reset(c4_a_pf_with_a_wrong_driver_is_refused_and_not_unbound),
		with_reset(an_absent_pf_is_named),
		with_reset(c1_another_number_of_vfs_is_refused_without_a_write),
		with_reset(c2_more_vfs_than_promised_are_not_taken_away),
		with_reset(c18_exactly_the_promised_number_is_made),
		with_reset(c5_each_errno_of_numvfs_has_its_cause),
		with_reset(c6_too_many_names_the_firmwares_limit),
		with_reset(c6_the_limit_is_left_out_when_it_cannot_be_read),
		with_reset(c7_enomem_with_vfs_on_the_pfs_own_bus_is_mmio),
		with_reset(c7_enomem_with_vfs_on_another_bus_is_bus_numbers),
		with_reset(c15_faults_before_the_first_write_leave_autoprobe_alone),
		with_reset(c15_faults_after_it_put_autoprobe_back),
		with_reset(c15_an_autoprobe_that_stays_0_is_repaired_by_the_next_run),
		with_reset(c14_a_promised_autoprobe_of_0_stays_0),
		with_reset(c15_an_autoprobe_that_we_did_not_change_is_not_ours),
		with_reset(
			c15_autoprobe_left_by_a_killed_run_is_put_back_though_nothing_else_is_to_do),
		with_reset(the_journal_tells_a_lane_from_its_begin_to_its_end),
		with_reset(b2_a_vf_with_a_wrong_driver_is_taken_over_within_budget),
		with_reset(c20_a_warm_pf_keeps_vfs_that_are_not_in_the_manifest),
		with_reset(c3_a_vf_that_is_promised_no_driver_gets_none),
		with_reset(c3_a_vf_that_is_promised_its_native_driver_waits_for_no_node),
		with_reset(c12_a_late_vf_is_bound_when_it_comes),
		with_reset(c12_lost_events_make_it_look_again),
		with_reset(c12_a_vf_that_never_comes_lacks_and_autoprobe_is_put_back),
		with_reset(c12_vfs_of_two_drivers_that_never_come_lack),
		with_reset(c17_an_adopted_vf_that_is_not_there_is_not_waited_for),
		with_reset(b4_ids_of_others_are_left_alone),
		with_reset(b4_an_id_that_the_kernel_refuses_is_done_without),
		with_reset(c8_a_new_id_that_hangs_holds_back_nobody_for_long),
		with_reset(k5_a_vf_that_its_id_does_not_bind_is_bound_by_override),
		with_reset(b6_an_id_left_by_a_killed_run_is_used_and_removed),
		with_reset(b4_an_id_of_somebody_else_is_used_and_stays),
		with_reset(a_journal_that_cannot_be_written_stops_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
