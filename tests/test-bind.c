/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include "bind.h"
#include "fake-sysfs.h"

enum { VFS = 4 };

/* A lane without thread and loop, whose PF has its VFs already. */
static struct manifest_pf pf;
static struct manifest_vf vfs[VFS];
static const struct manifest_vf *order[VFS];
static struct plan_lane plan;
static struct vf_outcome outcomes[VFS];
static struct journal journal;
static struct baton baton;
static struct lane lane;
static const struct step all = { STEP_BIND_OVERRIDE, "vfio-pci", 0, VFS };
static const struct step by_id = { STEP_BIND_ID, "vfio-pci", 0, VFS };

static int setup(void **state)
{
	(void) state;
	fake_sysfs_reset();
	fake_pfs[0].num_vfs = VFS;
	fake_pfs[0].autoprobe = false;
	pf = (struct manifest_pf){ .address = fake_pfs[0].address, .num_vfs = VFS };
	for (unsigned i = 0; i < VFS; i++) {
		vfs[i] = (struct manifest_vf){ .index = i, .driver = "vfio-pci" };
		order[i] = &vfs[i];
	}
	plan = (struct plan_lane){ .pf = &pf, .vfs = order, .n_vfs = VFS };
	baton = (struct baton){ .mutex = PTHREAD_MUTEX_INITIALIZER };
	journal.fd = memfd_create("journal", MFD_CLOEXEC);
	assert_true(journal.fd >= 0);
	memset(outcomes, 0, sizeof(outcomes));
	memset(&lane, 0, sizeof(lane));
	lane.plan = &plan;
	lane.journal = &journal;
	lane.baton = &baton;
	lane.outcomes = outcomes;
	lane.offset = lane.stride = 1;
	lane.sysfs = (struct sysfs){ -1, &lane.tally };
	return sysfs_open_pf(&lane.sysfs, pf.address, &lane.pf_fd);
}

static int teardown(void **state)
{
	(void) state;
	close_fd(&lane.pf_fd);
	journal_close(&journal);
	return 0;
}

static const char *journal_text(void)
{
	static char text[1024];
	ssize_t k = pread(journal.fd, text, sizeof(text) - 1, 0);

	assert_true(k >= 0);
	text[k] = '\0';
	return text;
}

/* -- a trace of what is touched, and faults at VF 1 -- */

static char trace[1024];
static enum sysfs_node fault_node;
static enum sysfs_op fault_op;
static int fault_result;
static unsigned fault_from; /* the first that fails, from 1 */

static const char *const words[_SYSFS_NODE_MAX] = {
	[SYSFS_VF_DRIVER] = "driver",         [SYSFS_VF_OVERRIDE] = "override",
	[SYSFS_DRIVER_BIND] = "bind",         [SYSFS_DRIVER_UNBIND] = "unbind",
	[SYSFS_DRIVER_DEVICE] = "driver-has",
};

static int trace_and_fail(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	static const char *const ops[] = { "?", "=", "->" };

	if (op == FAKE_OPEN || bdf_compare(device, fake_vf_address(0, 1)) != 0)
		return 0;
	strcat(strcat(strcat(trace, trace[0] ? " " : ""), words[node]), ops[op]);
	if (node != fault_node || op != fault_op || fault_from == 0)
		return 0;
	return --fault_from == 0 ? fault_result : 0;
}

static void follow(void)
{
	trace[0] = '\0';
	fault_from = 0;
	fake_fault = trace_and_fail;
}

static void fail_at(enum sysfs_node node, enum sysfs_op op, unsigned nth, int result)
{
	follow();
	fault_node = node;
	fault_op = op;
	fault_from = nth;
	fault_result = result;
}

static void assert_bound(unsigned i)
{
	assert_int_equal(atomic_load(&outcomes[i].act), VF_BOUND_BY_US);
	assert_int_equal(outcomes[i].need, VF_NEEDS_NOTHING);
	assert_true(outcomes[i].begun_ns > 0 && outcomes[i].done_ns >= outcomes[i].begun_ns);
	assert_string_equal(fake_pfs[0].vfs[i].driver, "vfio-pci");
}

static void assert_failed(unsigned i, enum place place, enum cause cause, int error)
{
	assert_int_equal(atomic_load(&outcomes[i].act), VF_FAILED);
	assert_int_equal(outcomes[i].need, VF_NEEDS_NOTHING);
	assert_int_equal(outcomes[i].place, place);
	assert_int_equal(outcomes[i].cause, cause);
	assert_int_equal(outcomes[i].error, error);
}

static void assert_others_bound(void)
{
	assert_bound(0);
	assert_bound(2);
	assert_bound(3);
}

/* -- by override -- */

static void b2_override_comes_first_and_bind_proves_it(void **state)
{
	(void) state;
	follow();
	assert_int_equal(bind_by_override(&lane, &all), 0);
	for (unsigned i = 0; i < VFS; i++)
		assert_bound(i);
	assert_string_equal(trace, "override= bind=");
	assert_int_equal(lane.facts.n_bound_by_override, VFS);
	assert_int_equal(lane.facts.n_bound_by_id, 0);
}

static void b3_what_needs_nothing_is_not_touched(void **state)
{
	(void) state;
	follow();
	outcomes[1].need = VF_NEEDS_NOTHING;
	assert_true(bind_is_needed(&lane, &all));
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_string_equal(trace, "");
	assert_int_equal(atomic_load(&outcomes[1].act), VF_UNTOUCHED);
	assert_others_bound();
	assert_false(bind_is_needed(&lane, &all));
}

static void a_range_is_kept(void **state)
{
	const struct step part = { STEP_BIND_OVERRIDE, "vfio-pci", 1, 2 };

	(void) state;
	assert_int_equal(bind_by_override(&lane, &part), 0);
	assert_int_equal(atomic_load(&outcomes[0].act), VF_UNTOUCHED);
	assert_bound(1);
	assert_bound(2);
	assert_int_equal(atomic_load(&outcomes[3].act), VF_UNTOUCHED);
	assert_false(bind_is_needed(&lane, &part));
	assert_true(bind_is_needed(&lane, &all));
}

static void b5_bound_to_the_right_driver_in_the_meantime_is_fine(void **state)
{
	(void) state;
	strcpy(fake_pfs[0].vfs[1].driver, "vfio-pci");
	follow();
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_string_equal(trace, "override= bind= driver-has->");
	assert_bound(1);
	assert_others_bound();
}

static void b5_bound_to_another_driver_in_the_meantime_is_put_right(void **state)
{
	(void) state;
	strcpy(fake_pfs[0].vfs[1].driver, "native");
	follow();
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_string_equal(trace, "override= bind= driver-has-> driver-> override= "
				   "unbind= bind=");
	assert_bound(1);
	assert_others_bound();
	assert_int_equal(lane.facts.n_busy, 1);
	assert_int_equal(lane.facts.n_wrong, 1);
}

static void one_vf_that_fails_is_one_vf(void **state)
{
	static const struct {
		enum sysfs_node node;
		int result;
		enum place place;
		enum cause cause;
	} rows[] = {
		{ SYSFS_VF_OVERRIDE, -EIO, PLACE_OVERRIDE, CAUSE_INPUT_OUTPUT },
		{ SYSFS_VF_OVERRIDE, -ENOMEM, PLACE_OVERRIDE, CAUSE_NO_MEMORY },
		{ SYSFS_VF_OVERRIDE, -EACCES, PLACE_OVERRIDE, CAUSE_NOT_PERMITTED },
		{ SYSFS_VF_OVERRIDE, -ENODEV, PLACE_OVERRIDE, CAUSE_VF_GONE },
		{ SYSFS_DRIVER_BIND, -ENODEV, PLACE_BIND, CAUSE_NOT_BOUND },
		{ SYSFS_DRIVER_BIND, -EAGAIN, PLACE_BIND, CAUSE_NOT_BOUND },
		{ SYSFS_DRIVER_BIND, -EINVAL, PLACE_BIND, CAUSE_NO_IOMMU },
		{ SYSFS_DRIVER_BIND, -ENOMEM, PLACE_BIND, CAUSE_NO_MEMORY },
		{ SYSFS_DRIVER_BIND, -EPERM, PLACE_BIND, CAUSE_NOT_PERMITTED },
		{ SYSFS_DRIVER_BIND, -ENXIO, PLACE_BIND, CAUSE_REFUSED_BY_DRIVER },
	};

	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		fail_at(rows[i].node, SYSFS_WRITE, 1, rows[i].result);
		assert_int_equal(bind_by_override(&lane, &all), 0);
		assert_failed(1, rows[i].place, rows[i].cause, -rows[i].result);
		assert_string_equal(fake_pfs[0].vfs[1].driver, "");
		assert_others_bound();
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

static void c12_a_vf_that_is_not_there_yet_still_needs_its_bind(void **state)
{
	(void) state;
	fail_at(SYSFS_VF_OVERRIDE, SYSFS_WRITE, 1, SYSFS_E_ABSENT);
	assert_int_equal(bind_by_override(&lane, &all), 1);
	assert_int_equal(outcomes[1].need, VF_NEEDS_BIND);
	assert_int_equal(atomic_load(&outcomes[1].act), VF_UNTOUCHED);
	assert_others_bound();
	assert_int_equal(bind_by_override(&lane, &all), 0); /* now it is */
	assert_bound(1);
	assert_int_equal(lane.facts.n_bound_by_override, VFS);
}

static void c12_a_vf_that_never_comes_is_gone(void **state)
{
	(void) state;
	fail_at(SYSFS_VF_OVERRIDE, SYSFS_WRITE, 1, SYSFS_E_ABSENT);
	assert_int_equal(bind_by_override(&lane, &all), 1);
	bind_give_up_absent(&lane, &all);
	assert_failed(1, PLACE_OVERRIDE, CAUSE_VF_GONE, 0);
	assert_others_bound();
}

static void b21_a_driver_that_is_not_there_fails_its_range_only(void **state)
{
	const struct step absent = { STEP_BIND_OVERRIDE, "absent", 1, 2 };

	(void) state;
	outcomes[2].need = VF_NEEDS_NOTHING;
	assert_int_equal(bind_by_override(&lane, &absent), 0);
	assert_failed(1, PLACE_DRIVER, CAUSE_DRIVER_ABSENT, 0);
	assert_int_equal(atomic_load(&outcomes[2].act), VF_UNTOUCHED);
	assert_int_equal(atomic_load(&outcomes[0].act), VF_UNTOUCHED);
	assert_string_equal(fake_pfs[0].vfs[1].override, "");
	assert_int_equal(tally_writes(&lane.tally), 0);
}

static int no_fds(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) device;
	return node == SYSFS_DRIVER_BIND && op == FAKE_OPEN ? -EMFILE : 0;
}

static void a_driver_that_cannot_be_opened_fails_its_range(void **state)
{
	(void) state;
	fake_fault = no_fds;
	assert_int_equal(bind_by_override(&lane, &all), 0);
	for (unsigned i = 0; i < VFS; i++)
		assert_failed(i, PLACE_DRIVER, CAUSE_NO_MEMORY, EMFILE);
	assert_int_equal(tally_writes(&lane.tally), 0);
}

/* -- what is there -- */

static void b3_a_survey_tells_right_wrong_and_unbound(void **state)
{
	(void) state;
	strcpy(fake_pfs[0].vfs[0].driver, "vfio-pci");
	strcpy(fake_pfs[0].vfs[1].driver, "native");
	vfs[3].driver = NULL;
	outcomes[3].need = VF_NEEDS_NOTHING;
	lane.facts.warm = true;
	(void) !bind_survey(&lane);
	assert_int_equal(atomic_load(&outcomes[0].act), VF_WAS_RIGHT);
	assert_int_equal(outcomes[0].need, VF_NEEDS_NOTHING);
	assert_int_equal(outcomes[1].need, VF_NEEDS_REBIND);
	assert_int_equal(outcomes[2].need, VF_NEEDS_BIND);
	assert_int_equal(atomic_load(&outcomes[3].act), VF_UNTOUCHED);
	assert_int_equal(lane.facts.n_right, 1);
	assert_int_equal(lane.facts.n_missing, 2);
	assert_int_equal(lane.tally.sysfs[SYSFS_DRIVER_DEVICE][SYSFS_LINK], 3);
	assert_int_equal(lane.tally.sysfs[SYSFS_VF_DRIVER][SYSFS_LINK], 2);
	assert_int_equal(tally_writes(&lane.tally), 0);
}

/* Cold, they are ours: bound by the kernel as they came, for our id. */
static void a_survey_of_vfs_that_were_bound_as_they_came_says_by_us(void **state)
{
	(void) state;
	strcpy(fake_pfs[0].vfs[0].driver, "vfio-pci");
	(void) !bind_survey(&lane);
	assert_int_equal(atomic_load(&outcomes[0].act), VF_BOUND_BY_US);
	assert_int_equal(outcomes[0].need, VF_NEEDS_NOTHING);
}

/* B22: vfio-pci is the wrong one where a variant driver was. */
static void b22_another_vfio_driver_is_a_wrong_one(void **state)
{
	(void) state;
	vfs[1].driver = "mlx5_vfio_pci";
	strcpy(fake_pfs[0].vfs[1].driver, "vfio-pci");
	(void) !bind_survey(&lane);
	assert_int_equal(outcomes[1].need, VF_NEEDS_REBIND);
}

static void a_vf_that_cannot_be_surveyed_fails(void **state)
{
	(void) state;
	fail_at(SYSFS_DRIVER_DEVICE, SYSFS_LINK, 1, -EACCES);
	(void) !bind_survey(&lane);
	assert_failed(1, PLACE_PROOF, CAUSE_NOT_PERMITTED, EACCES);
	teardown(state);
	assert_int_equal(setup(state), 0);
	fail_at(SYSFS_VF_DRIVER, SYSFS_LINK, 1, SYSFS_E_STRANGE);
	(void) !bind_survey(&lane);
	assert_failed(1, PLACE_PROOF, CAUSE_INPUT_OUTPUT, 0);
	assert_int_equal(outcomes[2].need, VF_NEEDS_BIND);
}

/* -- a wrong driver -- */

/* VF 1 has its native driver, and somebody's override or none. */
static void bind_wrongly(const char *override)
{
	strcpy(fake_pfs[0].vfs[1].driver, "native");
	strcpy(fake_pfs[0].vfs[1].override, override);
	outcomes[1].need = VF_NEEDS_REBIND;
}

static void b2_a_wrong_driver_goes_after_the_override_and_before_the_bind(void **state)
{
	(void) state;
	bind_wrongly("");
	follow();
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_string_equal(trace, "driver-> override? override= unbind= bind=");
	for (unsigned i = 0; i < VFS; i++)
		assert_bound(i);
	assert_int_equal(lane.facts.n_wrong, 1);
	assert_int_equal(lane.facts.n_bound_by_override, VFS - 1);
	assert_non_null(
		strstr(journal_text(), " 0000:01:00.0 vf-was 0000:01:00.2 native (null)\n"));
}

static void b13_the_journal_keeps_somebodys_override(void **state)
{
	(void) state;
	bind_wrongly("native");
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_non_null(strstr(journal_text(), " vf-was 0000:01:00.2 native native\n"));
}

static void b9_a_refused_override_leaves_the_driver_alone(void **state)
{
	static const int errors[] = { EIO, ENOMEM, EACCES, EINTR };

	for (unsigned i = 0; i < ELEMENTSOF(errors); i++) {
		bind_wrongly("");
		fail_at(SYSFS_VF_OVERRIDE, SYSFS_WRITE, 1, -errors[i]);
		assert_int_equal(bind_by_override(&lane, &all), 0);
		assert_int_equal(atomic_load(&outcomes[1].act), VF_FAILED);
		assert_int_equal(outcomes[1].place, PLACE_OVERRIDE);
		assert_int_equal(outcomes[1].error, errors[i]);
		assert_string_equal(trace, "driver-> override? override=");
		assert_string_equal(fake_pfs[0].vfs[1].driver, "native");
		assert_string_equal(fake_pfs[0].vfs[1].override, "");
		assert_others_bound();
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

static void b9_what_cannot_be_looked_at_is_not_touched(void **state)
{
	(void) state;
	bind_wrongly("");
	fail_at(SYSFS_VF_OVERRIDE, SYSFS_READ, 1, -EIO);
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_failed(1, PLACE_PROOF, CAUSE_INPUT_OUTPUT, EIO);
	assert_string_equal(trace, "driver-> override?");
	assert_string_equal(fake_pfs[0].vfs[1].driver, "native");
}

static void b8_a_refused_unbind_takes_the_override_back(void **state)
{
	(void) state;
	bind_wrongly("");
	fail_at(SYSFS_DRIVER_UNBIND, SYSFS_WRITE, 1, -EIO);
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_failed(1, PLACE_UNBIND, CAUSE_INPUT_OUTPUT, EIO);
	assert_string_equal(fake_pfs[0].vfs[1].driver, "native");
	assert_string_equal(fake_pfs[0].vfs[1].override, "");
	assert_others_bound();
}

static void b8_a_refused_bind_gives_driver_and_override_back(void **state)
{
	static const int errors[] = { EINVAL, ENODEV, ENOMEM, EIO, EBUSY, EAGAIN };
	static const char *const overrides[] = { "", "native" };

	for (unsigned i = 0; i < ELEMENTSOF(errors); i++)
		for (unsigned k = 0; k < ELEMENTSOF(overrides); k++) {
			fake_pfs[0].autoprobe = true;
			bind_wrongly(overrides[k]);
			fail_at(SYSFS_DRIVER_BIND, SYSFS_WRITE, 1, -errors[i]);
			assert_int_equal(bind_by_override(&lane, &all), 0);
			assert_string_equal(trace, "driver-> override? override= unbind= bind= "
						   "override= bind= override=");
			assert_failed(1, PLACE_BIND, cause_of(PLACE_BIND, errors[i]), errors[i]);
			assert_string_equal(fake_pfs[0].vfs[1].driver, "native");
			assert_string_equal(fake_pfs[0].vfs[1].override, overrides[k]);
			assert_others_bound();
			teardown(state);
			assert_int_equal(setup(state), 0);
		}
}

/* The override at least is not left behind. */
static void b8_a_driver_that_does_not_come_back_leaves_no_override(void **state)
{
	(void) state;
	bind_wrongly("");
	strcpy(fake_pfs[0].vfs[1].driver, "absent"); /* its module was removed */
	fail_at(SYSFS_DRIVER_BIND, SYSFS_WRITE, 1, -EINVAL);
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_int_equal(atomic_load(&outcomes[1].act), VF_FAILED);
	assert_string_equal(fake_pfs[0].vfs[1].override, "");
}

static void b7_a_vf_whose_driver_went_is_not_unbound(void **state)
{
	(void) state;
	bind_wrongly("");
	fake_pfs[0].vfs[1].driver[0] = '\0';
	follow();
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_null(strstr(trace, "unbind"));
	assert_others_bound();
}

/* -- by id -- */

static void by_id_no_vf_directory_is_touched(void **state)
{
	(void) state;
	fake_pfs[0].autoprobe = true;
	strcpy(fake_ids[0], "1b36 0010");
	follow();
	bind_by_id(&lane, &by_id);
	for (unsigned i = 0; i < VFS; i++)
		assert_bound(i);
	assert_string_equal(trace, "bind=");
	assert_int_equal(tally_vf_nodes(&lane.tally), 0);
	assert_int_equal(lane.facts.n_bound_by_id, VFS);
}

static void k5_what_the_id_does_not_bind_still_needs_its_bind(void **state)
{
	static const int errors[] = { ENODEV, EIO, EBUSY, ENOMEM, EINTR };

	for (unsigned i = 0; i < ELEMENTSOF(errors); i++) {
		fake_pfs[0].autoprobe = true;
		strcpy(fake_ids[0], "1b36 0010");
		fail_at(SYSFS_DRIVER_BIND, SYSFS_WRITE, 1, -errors[i]);
		bind_by_id(&lane, &by_id);
		assert_int_equal(outcomes[1].need, VF_NEEDS_BIND);
		assert_int_equal(atomic_load(&outcomes[1].act), VF_UNTOUCHED);
		assert_others_bound();
		assert_int_equal(bind_by_override(&lane, &by_id), 0);
		assert_bound(1);
		assert_int_equal(lane.facts.n_bound_by_override, 1);
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
}

static void by_id_a_wrong_driver_is_left_to_the_override(void **state)
{
	(void) state;
	fake_pfs[0].autoprobe = true;
	strcpy(fake_ids[0], "1b36 0010");
	bind_wrongly("");
	follow();
	bind_by_id(&lane, &by_id);
	assert_string_equal(trace, "");
	assert_int_equal(outcomes[1].need, VF_NEEDS_REBIND);
	assert_others_bound();
}

static void by_id_a_driver_that_cannot_be_opened_is_left_to_the_override(void **state)
{
	(void) state;
	fake_fault = no_fds;
	bind_by_id(&lane, &by_id);
	assert_true(bind_is_needed(&lane, &by_id));
	assert_int_equal(tally_writes(&lane.tally), 0);
}

/* -- the baton -- */

static int baton_is_held(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) device;
	if (node == SYSFS_DRIVER_BIND && op == SYSFS_WRITE)
		assert_int_equal(pthread_mutex_trylock(&baton.mutex), EBUSY);
	return 0;
}

static void without_cdevs_a_bind_holds_the_baton(void **state)
{
	(void) state;
	baton.needed = true;
	fake_fault = baton_is_held;
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_int_equal(pthread_mutex_trylock(&baton.mutex), 0); /* given on */
	assert_int_equal(pthread_mutex_unlock(&baton.mutex), 0);
	assert_false(atomic_load(&baton.broken));
}

static void a_baton_that_is_not_given_is_broken_for_good(void **state)
{
	uint64_t begun = now_ns();

	(void) state;
	baton.needed = true;
	assert_int_equal(pthread_mutex_lock(&baton.mutex), 0); /* and hang */
	assert_int_equal(bind_by_override(&lane, &all), 0);
	assert_true(atomic_load(&baton.broken));
	for (unsigned i = 0; i < VFS; i++)
		assert_bound(i);
	assert_true(now_ns() - begun >= 500 * NSEC_PER_MSEC); /* once, not for each VF */
	assert_int_equal(pthread_mutex_unlock(&baton.mutex), 0);
}

int main(void)
{
#define with_setup(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		with_setup(b2_override_comes_first_and_bind_proves_it),
		with_setup(b3_what_needs_nothing_is_not_touched),
		with_setup(a_range_is_kept),
		with_setup(b5_bound_to_the_right_driver_in_the_meantime_is_fine),
		with_setup(b5_bound_to_another_driver_in_the_meantime_is_put_right),
		with_setup(one_vf_that_fails_is_one_vf),
		with_setup(c12_a_vf_that_is_not_there_yet_still_needs_its_bind),
		with_setup(c12_a_vf_that_never_comes_is_gone),
		with_setup(b21_a_driver_that_is_not_there_fails_its_range_only),
		with_setup(a_driver_that_cannot_be_opened_fails_its_range),
		with_setup(b3_a_survey_tells_right_wrong_and_unbound),
		with_setup(a_survey_of_vfs_that_were_bound_as_they_came_says_by_us),
		with_setup(b22_another_vfio_driver_is_a_wrong_one),
		with_setup(a_vf_that_cannot_be_surveyed_fails),
		with_setup(b2_a_wrong_driver_goes_after_the_override_and_before_the_bind),
		with_setup(b13_the_journal_keeps_somebodys_override),
		with_setup(b9_a_refused_override_leaves_the_driver_alone),
		with_setup(b9_what_cannot_be_looked_at_is_not_touched),
		with_setup(b8_a_refused_unbind_takes_the_override_back),
		with_setup(b8_a_refused_bind_gives_driver_and_override_back),
		with_setup(b8_a_driver_that_does_not_come_back_leaves_no_override),
		with_setup(b7_a_vf_whose_driver_went_is_not_unbound),
		with_setup(by_id_no_vf_directory_is_touched),
		with_setup(k5_what_the_id_does_not_bind_still_needs_its_bind),
		with_setup(by_id_a_wrong_driver_is_left_to_the_override),
		with_setup(by_id_a_driver_that_cannot_be_opened_is_left_to_the_override),
		with_setup(without_cdevs_a_bind_holds_the_baton),
		with_setup(a_baton_that_is_not_given_is_broken_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
