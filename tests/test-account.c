/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "account.h"
#include "hot-rig.h"
#include "record-read.h"
#include "record-save.h"

static struct record record;

static int reset(void **state)
{
	(void) state;
	rig_reset(2);
	rig.conf.late_pf_timeout_ns = NSEC_PER_MSEC;
	return 0;
}

static int done(void **state)
{
	(void) state;
	record_done(&record);
	return 0;
}

static void account(void)
{
	record_done(&record);
	assert_int_equal(account_make(&rig.hot, &record), 0);
}

static const struct record_lane *lane(unsigned pf)
{
	for (unsigned i = 0; i < record.n_lanes; i++)
		if (!bdf_compare(record.lanes[i].pf, rig.pfs[pf].address))
			return &record.lanes[i];
	fail();
	return NULL;
}

static bool has_step(const struct record_lane *l, enum step_kind kind)
{
	for (unsigned i = 0; i < l->n_steps; i++)
		if (!strcmp(l->steps[i].name, step_name(kind)))
			return true;
	return false;
}

static void assert_times(const struct record_lane *l)
{
	assert_true(record.hot_ns <= l->admitted_ns && l->admitted_ns <= l->over_ns);
	assert_true(l->over_ns <= record.over_ns);
	for (unsigned i = 0; i < l->n_steps; i++) {
		assert_true(l->steps[i].begun_ns >= l->admitted_ns);
		assert_true(l->steps[i].done_ns >= l->steps[i].begun_ns);
		assert_true(l->over_ns >= l->steps[i].done_ns);
		assert_true(i == 0 || l->steps[i].begun_ns >= l->steps[i - 1].done_ns);
	}
	for (unsigned i = 0; i < l->n_vfs; i++)
		assert_true(l->vfs[i].ready_ns <= l->over_ns);
}

static void a_cold_run_is_accounted_for(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig.manifest.generation = 42;
	rig.vfs[0][0].name = "net0";
	rig_run();
	account();
	assert_int_equal(record.generation, 42);
	assert_int_equal(record.n_lanes, 2);
	assert_int_equal(record.n_vfs, 2 * RIG_VFS);
	assert_int_equal(record.n_ready, 2 * RIG_VFS);
	assert_int_equal(record.n_lacks + record.n_held, 0);
	for (unsigned p = 0; p < 2; p++) {
		assert_string_equal(lane(p)->state, "done");
		assert_string_equal(lane(p)->mode, "cold");
		assert_string_equal(lane(p)->strategy, "override");
		assert_string_equal(lane(p)->strategy_reason, "the settings say override");
		assert_null(lane(p)->cause);
		assert_null(lane(p)->found);
		assert_int_equal(lane(p)->num_vfs, RIG_VFS);
		assert_int_equal(lane(p)->vf_nodes, RIG_VFS);
		assert_int_equal(record_lane_served(lane(p)), RIG_VFS);
		assert_true(has_step(lane(p), STEP_ENABLE));
		assert_true(has_step(lane(p), STEP_BIND_OVERRIDE));
		assert_false(has_step(lane(p), STEP_BIND_ID));
		assert_times(lane(p));
	}
	assert_string_equal(lane(0)->vfs[0].name, "net0");
	assert_null(lane(1)->vfs[0].name);
}

static void a_vf_is_accounted_for_from_its_bind_to_its_fd(void **state)
{
	char node[VFIO_PATH_MAX];

	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	rig_run();
	account();
	for (unsigned i = 0; i < RIG_VFS; i++) {
		const struct record_vf *vf = &lane(1)->vfs[i];

		assert_int_equal(vf->index, i);
		assert_int_equal(bdf_compare(vf->address, fake_vf_address(1, i)), 0);
		assert_string_equal(vf->owner, "vm-1");
		assert_string_equal(vf->driver, "vfio-pci");
		assert_string_equal(vf->state, "ready");
		assert_null(vf->cause);
		assert_null(vf->place);
		vfio_node_path(rig_lane(1)->vfs[i].node, node);
		assert_string_equal(vf->node, node);
		assert_true(vf->begun_ns >= lane(1)->admitted_ns);
		assert_true(vf->bound_ns >= vf->begun_ns);
		assert_true(vf->ready_ns >= vf->seen_ns && vf->seen_ns > 0);
	}
}

static void owners_are_accounted_for(void **state)
{
	(void) state;
	rig.vfs[1][3].driver = "absent";
	rig_run();
	account();
	assert_int_equal(record.n_owners, 2);
	assert_string_equal(record.owners[0].name, "vm-0");
	assert_int_equal(record.owners[0].n, RIG_VFS);
	assert_int_equal(record.owners[0].n_ready, RIG_VFS);
	assert_true(record.owners[0].ready_ns >= record.hot_ns);
	assert_int_equal(record.owners[1].n_ready, RIG_VFS - 1);
	assert_int_equal(record.owners[1].n_lacks, 1);
	assert_int_equal(record.owners[1].ready_ns, 0);
}

static void the_tally_is_the_budgets(void **state)
{
	(void) state;
	rig_run();
	account();
	assert_true(record.budget_exact);
	assert_memory_equal(&record.tally, &record.budget, sizeof(record.tally));
	assert_int_equal(record.tally.opens, 2 * RIG_VFS);
}

static void a_vf_that_lacks_says_why_and_where(void **state)
{
	const struct record_vf *vf;

	(void) state;
	rig.vfs[0][3].driver = "absent";
	rig_run();
	account();
	assert_int_equal(record.n_lacks, 1);
	assert_false(record.budget_exact);
	assert_string_equal(lane(0)->state, "done");
	assert_string_equal(record_lane_word(lane(0)), "partly");
	for (unsigned i = 0; i < RIG_VFS; i++) {
		vf = &lane(0)->vfs[i];
		assert_string_equal(vf->state, vf->index == 3 ? "lacks" : "ready");
		if (vf->index != 3)
			continue;
		assert_string_equal(vf->cause, "driver-absent");
		assert_string_equal(vf->place, place_name(PLACE_DRIVER));
		assert_int_equal(vf->error, 0);
		assert_int_equal(vf->ready_ns, 0);
		assert_null(vf->node);
	}
}

static void c6_a_refused_lane_says_what_was_found(void **state)
{
	(void) state;
	fake_pfs[0].total_vfs = 3;
	rig_run();
	account();
	assert_string_equal(lane(0)->state, "refused");
	assert_string_equal(lane(0)->cause, "too-many");
	assert_string_equal(lane(0)->place, place_name(PLACE_ENABLE));
	assert_string_equal(lane(0)->found, "3");
	assert_int_equal(lane(0)->error, ERANGE);
	assert_string_equal(lane(0)->vfs[0].state, "lacks");
	assert_string_equal(lane(0)->vfs[0].cause, "too-many");
	assert_string_equal(lane(0)->mode, "cold");
	assert_false(has_step(lane(0), STEP_LAYOUT));
	assert_true(has_step(lane(0), STEP_AUTOPROBE_BACK));
	assert_int_equal(bdf_compare(lane(0)->vfs[0].address, rig.vfs[0][0].address), 0);
	assert_times(lane(0));
}

static void a_pf_that_was_never_seen_has_no_mode(void **state)
{
	(void) state;
	fake_pfs[0].absent = true;
	rig_run();
	account();
	assert_string_equal(lane(0)->state, "refused");
	assert_string_equal(lane(0)->cause, "pf-absent");
	assert_string_equal(lane(0)->mode, "unknown");
	assert_int_equal(lane(0)->error, 0);
	assert_null(lane(0)->found);
}

static int busy(struct vfio_node node)
{
	return node.kind == VFIO_GROUP ? -EBUSY : 0;
}

static void l6_adopted_vfs_are_warm_and_may_be_held(void **state)
{
	(void) state;
	fake_has_cdevs = false;
	rig_run();
	rig_again();
	fake_open_fault = busy;
	rig_run();
	account();
	assert_int_equal(record.n_held, 2 * RIG_VFS);
	assert_int_equal(record.n_lacks, 0);
	assert_string_equal(lane(0)->mode, "warm");
	assert_string_equal(lane(0)->vfs[0].state, "held");
	assert_null(lane(0)->vfs[0].cause);
	assert_int_equal(record_lane_served(lane(0)), RIG_VFS);
	assert_int_equal(tally_writes(&record.tally), 0);
}

static int no_new_id(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) device;
	return node == SYSFS_DRIVER_NEW_ID && op == SYSFS_WRITE ? -EINVAL : 0;
}

static void the_strategy_is_the_one_that_was_used(void **state)
{
	(void) state;
	rig_run();
	account();
	assert_string_equal(lane(0)->strategy, "id");
	assert_string_equal(lane(0)->strategy_reason, "");
	assert_int_equal(lane(0)->vf_nodes, 0);

	reset(state);
	fake_fault = no_new_id;
	rig_run();
	account();
	assert_string_equal(lane(0)->strategy, "override");
	assert_string_equal(lane(0)->strategy_reason, "the kernel did not register its id");

	reset(state);
	fake_pfs[1].driver[0] = '\0';
	rig_run();
	account();
	assert_string_equal(lane(0)->strategy, "override");
	assert_string_equal(lane(0)->strategy_reason,
			    "a PF of that id is not bound to its own driver");
}

static _Atomic bool released;

static int hang_in_numvfs(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	while (node == SYSFS_PF_NUMVFS && op == SYSFS_WRITE && device.rid == 0x100 && !released)
		nanosleep(&nap, NULL);
	return 0;
}

static void c8_a_stuck_lane_is_told_by_its_step(void **state)
{
	(void) state;
	released = false;
	fake_fault = hang_in_numvfs;
	rig.conf.lane_timeout_ns = 500 * NSEC_PER_MSEC;
	rig_run();
	account();
	assert_string_equal(lane(0)->state, "stuck");
	assert_string_equal(lane(0)->cause, "stuck");
	assert_string_equal(lane(0)->place, "enable");
	assert_string_equal(lane(0)->vfs[0].cause, "stuck");
	assert_int_equal(record.n_lacks, RIG_VFS);
	assert_false(record.budget_exact);
	for (unsigned i = 0; i < lane(0)->n_steps; i++)
		assert_int_equal(lane(0)->steps[i].done_ns == 0,
				 !strcmp(lane(0)->steps[i].name, "enable"));
	assert_string_equal(lane(1)->state, "done");
	released = true;
	rig_await_threads();
}

/* As when a signal ends it: the account of a run in the middle. */
static void a_run_that_was_broken_off_is_accounted_for(void **state)
{
	(void) state;
	released = false;
	fake_fault = hang_in_numvfs;
	rig_start();
	while (rig.hot_owners[1].n_ready < RIG_VFS || rig_lane(1)->over_ns == 0)
		rig_turn();
	account();
	assert_string_equal(lane(0)->state, "at-work");
	assert_string_equal(lane(0)->vfs[0].state, "waits");
	assert_int_equal(lane(0)->over_ns, 0);
	assert_int_equal(record.over_ns, 0);
	assert_int_equal(record.n_ready, RIG_VFS);
	assert_int_equal(record.n_lacks, 0);
	released = true;
	rig_finish();
	rig_assert_complete();
}

static void what_is_accounted_for_can_be_saved_and_read(void **state)
{
	_cleanup_(record_done) struct record read = { 0 };
	_cleanup_(free_pointer) char *text = NULL;
	char error[RECORD_ERROR_LEN];
	size_t size;

	(void) state;
	rig.vfs[1][3].driver = "absent";
	rig_run();
	account();
	record.manifest_path = strdup("/m.json");
	record.exec_ns = record.load_ns = record.hot_ns;
	assert_int_equal(record_to_text(&record, &text, &size), 0);
	assert_int_equal(record_parse(&read, "r", text, size, error), 0);
	assert_int_equal(read.n_ready, record.n_ready);
	assert_int_equal(read.n_lacks, 1);
	assert_int_equal(read.n_lanes, record.n_lanes);
}

int main(void)
{
#define with_record(f) cmocka_unit_test_setup_teardown(f, reset, done)
	const struct CMUnitTest tests[] = {
		with_record(a_cold_run_is_accounted_for),
		with_record(a_vf_is_accounted_for_from_its_bind_to_its_fd),
		with_record(owners_are_accounted_for),
		with_record(the_tally_is_the_budgets),
		with_record(a_vf_that_lacks_says_why_and_where),
		with_record(c6_a_refused_lane_says_what_was_found),
		with_record(a_pf_that_was_never_seen_has_no_mode),
		with_record(l6_adopted_vfs_are_warm_and_may_be_held),
		with_record(the_strategy_is_the_one_that_was_used),
		with_record(c8_a_stuck_lane_is_told_by_its_step),
		with_record(a_run_that_was_broken_off_is_accounted_for),
		with_record(what_is_accounted_for_can_be_saved_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
