/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "hot-rig.h"
#include "proof.h"

static int reset(void **state)
{
	(void) state;
	rig_reset(2);
	rig.conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	return 0;
}

static int reset_groups(void **state)
{
	reset(state);
	fake_has_cdevs = false;
	return 0;
}

static const struct hot_vf *vf(unsigned pf, unsigned i)
{
	return &rig_lane(pf)->vfs[i];
}

static void assert_groups_are_right(void)
{
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++)
		for (unsigned i = 0; i < RIG_VFS; i++) {
			assert_int_equal(vf(p, i)->node.kind, VFIO_GROUP);
			assert_int_equal(vf(p, i)->node.number, 100 + fake_pfs[p].vfs[i].vfio);
		}
}

static void send_bound(struct bdf address)
{
	struct uevent e = { .kind = UEVENT_PCI_BIND, .bdf = address, .driver = "vfio-pci" };

	fake_uevent_send(&e);
}

static void send_device(struct bdf address, unsigned number)
{
	struct uevent e = {
		.kind = UEVENT_DEVICE_ADD, .bdf = address, .has_node = true, .number = number
	};

	fake_uevent_send(&e);
}

static void send_group(unsigned number)
{
	struct uevent e = { .kind = UEVENT_GROUP_ADD, .number = number };

	fake_uevent_send(&e);
}

/* -- events -- */

static void a_vf_is_opened_when_it_is_bound_with_the_node_of_its_device(void **state)
{
	(void) state;
	rig_run();
	rig_assert_complete();
	for (unsigned i = 0; i < RIG_VFS; i++) {
		assert_int_equal(vf(1, i)->node.kind, VFIO_CDEV);
		assert_int_equal(vf(1, i)->node.number, fake_pfs[1].vfs[i].vfio);
		assert_true(vf(1, i)->fd >= 0);
		assert_true(vf(1, i)->seen_ns > 0 && vf(1, i)->ready_ns >= vf(1, i)->seen_ns);
	}
	assert_int_equal(rig.hot.tally.opens, 2 * RIG_VFS);
}

static void tell_device_only(struct bdf address, unsigned vfio)
{
	send_device(address, vfio);
}

/* Between its device event and the end of the driver's probe the kernel says ENODEV. */
static void a_device_that_is_not_bound_yet_is_not_opened(void **state)
{
	(void) state;
	fake_vfio_added = tell_device_only;
	rig.conf.proof_timeout_ns = 60 * NSEC_PER_SEC;
	rig_start();
	while (vf(0, 3)->seen_ns == 0 || vf(1, 3)->seen_ns == 0)
		rig_turn();
	assert_int_equal(rig.hot.tally.opens, 0);
	assert_int_equal(rig.hot.n_ready, 0);
	for (unsigned p = 0; p < 2; p++)
		for (unsigned i = 0; i < RIG_VFS; i++)
			send_bound(fake_vf_address(p, i));
	rig_finish();
	rig_assert_complete();
}

static void tell_bound_only(struct bdf address, unsigned vfio)
{
	(void) vfio;
	send_bound(address);
}

static void a_bound_vf_whose_device_was_not_seen_is_found_at_the_deadline(void **state)
{
	(void) state;
	fake_vfio_added = tell_bound_only;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
}

static void tell_twice(struct bdf address, unsigned vfio)
{
	for (unsigned i = 0; i < 2; i++) {
		send_device(address, vfio);
		send_bound(address);
	}
}

static void an_event_told_twice_counts_once(void **state)
{
	(void) state;
	fake_vfio_added = tell_twice;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
}

static void events_of_others_are_passed_over(void **state)
{
	struct uevent removed = { .kind = UEVENT_PCI_REMOVE, .bdf = { 0, 0x101 } };
	struct uevent other = { .kind = UEVENT_OTHER };

	(void) state;
	send_device((struct bdf){ 0, 0x4201 }, 900);
	send_bound((struct bdf){ 0, 0x4201 });
	send_device(fake_vf_address(0, RIG_VFS), 901); /* one more than there are */
	send_bound(fake_vf_address(0, RIG_VFS));
	send_device((struct bdf){ 7, 0x101 }, 902); /* another domain */
	send_bound((struct bdf){ 7, 0x101 });
	fake_uevent_send(&removed);
	fake_uevent_send(&other);
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
}

static void a_vf_that_is_not_in_the_manifest_is_not_opened(void **state)
{
	(void) state;
	rig.pfs[0].n_vfs = RIG_VFS - 1;
	rig.manifest.n_vfs--;
	send_device(fake_vf_address(0, 3), 903);
	send_bound(fake_vf_address(0, 3));
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS - 1);
	assert_int_equal(rig.hot.tally.opens, 2 * RIG_VFS - 1);
}

/* -- VFs that are bound as they come: seen before the lane has read where they are -- */

static void vfs_bound_as_they_come_are_opened_when_the_layout_is_confirmed(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_true(rig_lane(0)->lane.facts.bound_as_they_came);
	assert_int_equal(rig_lane(0)->lane.facts.n_bound_by_id, 0);
}

/* By the manifest's offset the events name other VFs than they are. */
static void n6_vfs_that_moved_are_not_taken_for_each_other(void **state)
{
	(void) state;
	rig.conf.bind_strategy = CONF_STRATEGY_ID;
	rig.pfs[0].serial_number = "a";
	strcpy(fake_pfs[0].serial, "a");
	fake_pfs[0].offset = 3;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	for (unsigned i = 0; i < RIG_VFS; i++)
		assert_int_equal(vf(0, i)->node.number, fake_pfs[0].vfs[i].vfio);
}

/* -- groups -- */

static void groups_are_told_by_the_order_of_events(void **state)
{
	(void) state;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_groups_are_right();
	assert_int_equal(rig.hot.n_group_links, 0);
}

static void two_groups_in_a_row_tell_nothing_any_more(void **state)
{
	(void) state;
	send_group(7);
	send_group(8);
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_groups_are_right();
	assert_int_equal(rig.hot.n_group_links, 2 * RIG_VFS);
}

static void a_device_without_a_group_tells_nothing_any_more(void **state)
{
	struct uevent device = { .kind = UEVENT_DEVICE_ADD, .bdf = { 0, 0x4201 } };

	(void) state;
	fake_uevent_send(&device);
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_groups_are_right();
	assert_int_equal(rig.hot.n_group_links, 2 * RIG_VFS);
}

static int no_group_of_vf_1(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) op;
	if (node != SYSFS_VF_GROUP || bdf_compare(device, fake_vf_address(0, 1)) != 0)
		return 0;
	return SYSFS_E_ABSENT;
}

static void a_vf_whose_group_cannot_be_read_lacks_alone(void **state)
{
	(void) state;
	rig.hot.group_order_lost = true;
	fake_fault = no_group_of_vf_1;
	rig_run();
	assert_int_equal(vf(0, 1)->state, VF_LACKS);
	assert_int_equal(vf(0, 1)->place, PLACE_PROOF);
	assert_int_equal(vf(0, 1)->cause, CAUSE_NOT_BOUND);
	assert_int_equal(vf(0, 1)->error, ENOENT);
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS - 1);
}

static _Atomic bool released, hangs;

static int hang_in_first_bind(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	while (node == SYSFS_DRIVER_BIND && op == SYSFS_WRITE && !released &&
	       bdf_compare(device, fake_vf_address(0, 0)) == 0) {
		hangs = true;
		nanosleep(&nap, NULL);
	}
	/* the other lane comes to its binds when the baton is held */
	while (device.rid >> 8 == 2 && node == SYSFS_VF_OVERRIDE && !hangs)
		nanosleep(&nap, NULL);
	return 0;
}

static void c8_a_bind_that_hangs_with_the_baton_holds_back_nobody(void **state)
{
	(void) state;
	released = hangs = false;
	fake_fault = hang_in_first_bind;
	rig_start();
	while (!hangs)
		rig_turn();
	while (rig.hot_owners[1].n_ready < RIG_VFS)
		rig_turn();
	assert_int_equal(rig.hot_owners[0].n_ready, 0);
	released = true;
	rig_finish();
	rig_assert_complete();
	rig_assert_budget();
	assert_groups_are_right();
}

/* -- B17: no IOMMU -- */

static void tell_noiommu(struct bdf address, unsigned vfio)
{
	struct uevent group = { .kind = UEVENT_GROUP_ADD, .number = vfio, .noiommu = true };
	struct uevent device = { .kind = UEVENT_DEVICE_ADD,
				 .bdf = address,
				 .has_node = fake_has_cdevs,
				 .noiommu = true,
				 .number = vfio };

	fake_uevent_send(&group);
	fake_uevent_send(&device);
	send_bound(address);
}

static void b17_a_device_without_iommu_is_not_opened_unless_allowed(void **state)
{
	for (unsigned cdevs = 0; cdevs < 2; cdevs++) {
		reset(state);
		fake_has_cdevs = cdevs;
		fake_vfio_added = tell_noiommu;
		rig_run();
		assert_int_equal(rig.hot.n_lacks, 2 * RIG_VFS);
		assert_int_equal(vf(0, 0)->cause, CAUSE_NO_IOMMU);
		assert_int_equal(vf(0, 0)->fd, -1);
		assert_int_equal(rig.hot.tally.opens, 0);
	}
}

static void b17_a_device_without_iommu_is_opened_by_its_own_name_when_allowed(void **state)
{
	for (unsigned cdevs = 0; cdevs < 2; cdevs++) {
		reset(state);
		fake_has_cdevs = cdevs;
		rig.conf.allow_noiommu = true;
		fake_vfio_added = tell_noiommu;
		rig_run();
		rig_assert_complete();
		assert_int_equal(vf(0, 2)->node.kind,
				 cdevs ? VFIO_NOIOMMU_CDEV : VFIO_NOIOMMU_GROUP);
		assert_int_equal(vf(0, 2)->node.number, fake_pfs[0].vfs[2].vfio);
	}
}

/* -- a node that cannot be opened -- */

static int open_error;

static int open_fault(struct vfio_node node)
{
	(void) node;
	return open_error;
}

static void each_errno_of_a_node_has_its_cause(void **state)
{
	static const struct {
		int error;
		enum cause cause;
	} rows[] = {
		{ EBUSY, CAUSE_HELD },          { EACCES, CAUSE_TOKEN_NEEDED },
		{ EPERM, CAUSE_NOT_PERMITTED }, { ENOENT, CAUSE_NO_NODE },
		{ ENODEV, CAUSE_NO_NODE },      { EMFILE, CAUSE_NO_MEMORY },
		{ EIO, CAUSE_INPUT_OUTPUT },    { ENXIO, CAUSE_NO_NODE },
		{ EINTR, CAUSE_INPUT_OUTPUT },
	};

	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		reset(state);
		open_error = -rows[i].error;
		fake_open_fault = open_fault;
		rig_run();
		assert_int_equal(rig.hot.n_lacks, 2 * RIG_VFS);
		assert_int_equal(vf(0, 0)->cause, rows[i].cause);
		assert_int_equal(vf(0, 0)->place, PLACE_NODE);
		assert_int_equal(vf(0, 0)->error, rows[i].error);
		assert_int_equal(vf(0, 0)->ready_ns, 0);
		assert_int_equal(rig_lane(0)->state, LANE_DONE);
	}
}

static void l6_only_an_adopted_vf_may_be_held(void **state)
{
	(void) state;
	rig_run();
	rig_again();
	open_error = -EBUSY;
	fake_open_fault = open_fault;
	rig_run();
	assert_int_equal(rig.hot.n_held, 2 * RIG_VFS);
	assert_int_equal(rig.hot.n_lacks, 0);
	assert_int_equal(rig.hot_owners[0].n_ready, RIG_VFS);
	assert_true(rig.hot_owners[0].ready_ns > 0);
	rig_assert_budget();
}

/* -- the survey -- */

static void a_survey_bridges_gaps_in_the_numbers(void **state)
{
	(void) state;
	for (unsigned p = 0; p < 2; p++) {
		fake_pfs[p].num_vfs = RIG_VFS;
		for (unsigned i = 0; i < RIG_VFS; i++) {
			strcpy(fake_pfs[p].vfs[i].driver, "vfio-pci");
			fake_pfs[p].vfs[i].vfio = 900 * p + 200 * i;
		}
	}
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_int_equal(vf(1, 3)->node.number, 1500);
}

static void a_survey_passes_over_vfs_with_a_driver_that_is_to_be_replaced(void **state)
{
	(void) state;
	fake_pfs[0].num_vfs = RIG_VFS;
	strcpy(fake_pfs[0].vfs[0].driver, "vfio-pci");
	strcpy(fake_pfs[0].vfs[1].driver, "mlx5_vfio_pci");
	fake_pfs[0].vfs[1].vfio = 30;
	fake_pfs[0].vfs[0].vfio = 31;
	rig_run();
	rig_assert_complete();
	rig_assert_budget();
	assert_int_not_equal(vf(0, 1)->node.number, 30);
}

static int survey_error;

static int no_vfio_dev(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) op;
	(void) device;
	return node == SYSFS_VFIO_DEV ? survey_error : 0;
}

/* Every look fails, for ever. */
static void a_survey_that_sees_nothing_ends(void **state)
{
	static const int errors[] = { SYSFS_E_ABSENT, -EACCES, -EIO, -ENOMEM };

	for (unsigned i = 0; i < ELEMENTSOF(errors); i++) {
		reset(state);
		survey_error = errors[i];
		fake_fault = no_vfio_dev;
		fake_vfio_added = NULL;
		rig.conf.proof_timeout_ns = NSEC_PER_MSEC;
		rig_run();
		assert_int_equal(rig.hot.n_lacks, 2 * RIG_VFS);
		assert_int_equal(vf(0, 0)->cause, CAUSE_NO_NODE);
		assert_int_equal(vf(0, 0)->place, PLACE_PROOF);
		assert_int_equal(rig_lane(0)->state, LANE_DONE);
	}
}

/* -- settling -- */

static void a_vf_is_settled_once(void **state)
{
	struct hot_lane *hl;

	(void) state;
	rig_run();
	hl = rig_lane(0);
	proof_settle_vf(&rig.hot, hl, 0, VF_LACKS, CAUSE_STUCK, PLACE_BIND, EIO, now_ns());
	assert_int_equal(hl->vfs[0].state, VF_READY);
	assert_int_equal(hl->vfs[0].cause, CAUSE_NONE);
	assert_int_equal(hl->n_settled, RIG_VFS);
	rig_assert_complete();
}

static void vfs_without_owner_are_nobodys(void **state)
{
	(void) state;
	rig.vfs[0][1].has_owner = false;
	rig_run();
	assert_int_equal(rig.hot.n_ready, 2 * RIG_VFS);
	assert_int_equal(rig.hot_owners[0].n, RIG_VFS - 1);
	assert_int_equal(rig.hot_owners[0].n_ready, RIG_VFS - 1);
	assert_true(rig.hot_owners[0].ready_ns > 0);
}

static void an_owner_of_vfs_of_two_pfs_is_ready_with_the_last_of_them(void **state)
{
	uint64_t last = 0;

	(void) state;
	for (unsigned i = 0; i < RIG_VFS; i++)
		rig.vfs[1][i].owner = 0;
	rig_run();
	for (unsigned p = 0; p < 2; p++)
		for (unsigned i = 0; i < RIG_VFS; i++)
			last = vf(p, i)->ready_ns > last ? vf(p, i)->ready_ns : last;
	assert_int_equal(rig.hot_owners[0].n_ready, 2 * RIG_VFS);
	assert_int_equal(rig.hot_owners[0].ready_ns, last);
	assert_int_equal(rig.hot_owners[1].n, 0);
}

static void every_step_is_at_a_place(void **state)
{
	struct lane lane = { 0 };

	(void) state;
	for (unsigned kind = 0; kind < _STEP_MAX; kind++) {
		atomic_store(&lane.step, kind);
		assert_true(proof_place_of_step(&lane) < _PLACE_MAX);
	}
	atomic_store(&lane.step, STEP_ENABLE);
	assert_int_equal(proof_place_of_step(&lane), PLACE_ENABLE);
	atomic_store(&lane.step, STEP_BIND_ID);
	assert_int_equal(proof_place_of_step(&lane), PLACE_BIND);
}

int main(void)
{
#define with_cdevs(f) cmocka_unit_test_setup(f, reset)
#define with_groups(f) cmocka_unit_test_setup(f, reset_groups)
	const struct CMUnitTest tests[] = {
		with_cdevs(a_vf_is_opened_when_it_is_bound_with_the_node_of_its_device),
		with_cdevs(a_device_that_is_not_bound_yet_is_not_opened),
		with_cdevs(a_bound_vf_whose_device_was_not_seen_is_found_at_the_deadline),
		with_cdevs(an_event_told_twice_counts_once),
		with_cdevs(events_of_others_are_passed_over),
		with_cdevs(a_vf_that_is_not_in_the_manifest_is_not_opened),
		with_cdevs(vfs_bound_as_they_come_are_opened_when_the_layout_is_confirmed),
		with_cdevs(n6_vfs_that_moved_are_not_taken_for_each_other),
		with_groups(groups_are_told_by_the_order_of_events),
		with_groups(two_groups_in_a_row_tell_nothing_any_more),
		with_groups(a_device_without_a_group_tells_nothing_any_more),
		with_groups(a_vf_whose_group_cannot_be_read_lacks_alone),
		with_groups(c8_a_bind_that_hangs_with_the_baton_holds_back_nobody),
		with_cdevs(b17_a_device_without_iommu_is_not_opened_unless_allowed),
		with_cdevs(b17_a_device_without_iommu_is_opened_by_its_own_name_when_allowed),
		with_cdevs(each_errno_of_a_node_has_its_cause),
		with_cdevs(l6_only_an_adopted_vf_may_be_held),
		with_cdevs(a_survey_bridges_gaps_in_the_numbers),
		with_cdevs(a_survey_passes_over_vfs_with_a_driver_that_is_to_be_replaced),
		with_cdevs(a_survey_that_sees_nothing_ends),
		with_cdevs(a_vf_is_settled_once),
		with_cdevs(vfs_without_owner_are_nobodys),
		with_cdevs(an_owner_of_vfs_of_two_pfs_is_ready_with_the_last_of_them),
		with_cdevs(every_step_is_at_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
