/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include "fake-sysfs.h"
#include "lane.h"
#include "thread.h"

static struct manifest_pf pf;
static struct manifest_vf vfs[3];
static const struct manifest_vf *order[3];
static struct plan_lane plan;
static struct vf_outcome outcomes[3];
static struct journal journal;
static struct lane lane;

static int setup(void **state)
{
	(void) state;
	pf = (struct manifest_pf){ .address = { 0, 0x100 }, .num_vfs = 8 };
	for (unsigned i = 0; i < 3; i++) {
		vfs[i] = (struct manifest_vf){ .index = 7 - i };
		order[i] = &vfs[i];
	}
	plan = (struct plan_lane){ .pf = &pf, .vfs = order, .n_vfs = 3 };
	journal.fd = memfd_create("journal", MFD_CLOEXEC);
	memset(outcomes, 0, sizeof(outcomes));
	memset(&lane, 0, sizeof(lane));
	lane.plan = &plan;
	lane.journal = &journal;
	lane.outcomes = outcomes;
	lane.report_fd = eventfd(0, EFD_CLOEXEC);
	lane.wake_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(journal.fd >= 0 && lane.report_fd >= 0 && lane.wake_fd >= 0);
	return 0;
}

static int teardown(void **state)
{
	(void) state;
	close_fd(&lane.report_fd);
	close_fd(&lane.wake_fd);
	journal_close(&journal);
	return 0;
}

static bool is_told(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void k17_addresses_are_computed_from_offset_and_stride(void **state)
{
	(void) state;
	lane.offset = 128;
	lane.stride = 2;
	assert_int_equal(lane_vf_address(&lane, 0).rid, 0x100 + 128 + 7 * 2);
	assert_int_equal(lane_vf_address(&lane, 2).rid, 0x100 + 128 + 5 * 2);
}

static void n3_addresses_keep_their_domain(void **state)
{
	(void) state;
	pf.address.domain = 0x5d0505;
	lane.offset = lane.stride = 1;
	assert_int_equal(lane_vf_address(&lane, 0).domain, 0x5d0505);
}

static void an_absent_node_is_an_absent_pf(void **state)
{
	(void) state;
	assert_int_equal(lane_stop(&lane, PLACE_ENABLE, SYSFS_E_ABSENT), LANE_E_STOP);
	assert_int_equal(lane.cause, CAUSE_PF_ABSENT);
	assert_int_equal(lane.place, PLACE_ENABLE);
	assert_int_equal(lane.error, 0);
}

static void a_strange_node_says_so(void **state)
{
	(void) state;
	assert_int_equal(lane_stop(&lane, PLACE_LAYOUT, SYSFS_E_STRANGE), LANE_E_STOP);
	assert_int_equal(lane.cause, CAUSE_INPUT_OUTPUT);
	assert_string_equal(lane.found, "not what the kernel writes");
	assert_int_equal(lane.error, 0);
}

static void c5_an_errno_means_what_it_means_at_its_place(void **state)
{
	(void) state;
	assert_int_equal(lane_stop(&lane, PLACE_ENABLE, -ENOENT), LANE_E_STOP);
	assert_int_equal(lane.cause, CAUSE_PF_NO_DRIVER);
	assert_int_equal(lane.error, ENOENT);
	assert_int_equal(lane_stop(&lane, PLACE_AUTOPROBE, -ENOENT), LANE_E_STOP);
	assert_int_equal(lane.cause, CAUSE_PF_ABSENT);
	assert_int_equal(lane.place, PLACE_AUTOPROBE);
}

static void a_rule_has_no_errno(void **state)
{
	(void) state;
	lane.error = EIO;
	assert_int_equal(lane_stop_by_rule(&lane, CAUSE_NUMBER_DIFFERS, PLACE_PF_LOOK, "3"),
			 LANE_E_STOP);
	assert_int_equal(lane.error, 0);
	assert_int_equal(lane.cause, CAUSE_NUMBER_DIFFERS);
	assert_string_equal(lane.found, "3");
}

static void what_was_found_may_be_long(void **state)
{
	char found[200];

	(void) state;
	memset(found, 'x', sizeof(found) - 1);
	found[sizeof(found) - 1] = '\0';
	assert_int_equal(lane_stop_by_rule(&lane, CAUSE_PF_CHANGED, PLACE_PF_LOOK, found),
			 LANE_E_STOP);
	assert_int_equal(strlen(lane.found), sizeof(lane.found) - 1);
	assert_int_equal(lane_stop_by_rule(&lane, CAUSE_PF_CHANGED, PLACE_PF_LOOK, ""),
			 LANE_E_STOP);
	assert_string_equal(lane.found, "");
}

static void a_failed_vf_needs_nothing_more_and_the_lane_goes_on(void **state)
{
	uint64_t before = now_ns();

	(void) state;
	outcomes[1].need = VF_NEEDS_REBIND;
	lane_fail_vf(&lane, 1, PLACE_UNBIND, CAUSE_NOT_PERMITTED, EACCES);
	assert_int_equal(atomic_load(&outcomes[1].act), VF_FAILED);
	assert_int_equal(outcomes[1].need, VF_NEEDS_NOTHING);
	assert_int_equal(outcomes[1].place, PLACE_UNBIND);
	assert_int_equal(outcomes[1].cause, CAUSE_NOT_PERMITTED);
	assert_int_equal(outcomes[1].error, EACCES);
	assert_true(outcomes[1].done_ns >= before && outcomes[1].done_ns <= now_ns());
	assert_int_equal(lane.cause, CAUSE_NONE);
	assert_int_equal(atomic_load(&outcomes[0].act), VF_UNTOUCHED);
	assert_int_equal(atomic_load(&outcomes[2].act), VF_UNTOUCHED);
}

static void notes_stand_in_the_journal_under_the_pf(void **state)
{
	struct journal_autoprobe left;
	char text[256] = "";

	(void) state;
	lane_note(&lane, JOURNAL_AUTOPROBE_WAS, "1");
	assert_false(lane.journal_failed);
	assert_true(pread(journal.fd, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, " 0000:01:00.0 autoprobe-was 1\n"));
	journal_find_autoprobe(text, pf.address, &left);
	assert_true(left.left && left.was);
}

static void a_journal_that_cannot_be_written_is_noted(void **state)
{
	struct journal closed = { -1 };

	(void) state;
	lane.journal = &closed;
	lane_note(&lane, JOURNAL_ENABLE, "4");
	assert_true(lane.journal_failed);
}

static void to_tell_wakes_the_loop_and_to_wake_answers_the_lane(void **state)
{
	(void) state;
	lane_tell(&lane, LANE_ASKS_ID);
	assert_int_equal(atomic_load(&lane.ask), LANE_ASKS_ID);
	assert_true(is_told(lane.report_fd));
	assert_false(is_told(lane.wake_fd));
	lane_wake(&lane);
	assert_int_equal(atomic_load(&lane.ask), LANE_RUNS);
	assert_true(is_told(lane.wake_fd));
}

static _Atomic int answer = -1;

static void *ask_for_vfs(void *argument)
{
	atomic_store(&answer, lane_ask(argument, LANE_ASKS_VFS));
	return NULL;
}

static int ask_and_answer(bool give_up)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	atomic_store(&answer, -1);
	assert_int_equal(thread_start(ask_for_vfs, &lane), 0);
	thread_sleep(lane.report_fd);
	assert_int_equal(atomic_load(&lane.ask), LANE_ASKS_VFS);
	nanosleep(&nap, NULL);
	assert_int_equal(atomic_load(&answer), -1);
	atomic_store(&lane.gave_up, give_up);
	lane_wake(&lane);
	while (atomic_load(&answer) < 0)
		nanosleep(&nap, NULL);
	return atomic_load(&answer);
}

static void a_lane_that_asks_sleeps_until_it_is_answered(void **state)
{
	(void) state;
	assert_int_equal(ask_and_answer(false), true);
	assert_int_equal(ask_and_answer(false), true);
}

static void a_lane_that_asks_in_vain_is_told_so(void **state)
{
	(void) state;
	assert_int_equal(ask_and_answer(true), false);
}

/* Nobody would answer: and a late answer to a question would overwrite that it is over. */
static void a_lane_that_asked_in_vain_asks_no_more(void **state)
{
	(void) state;
	atomic_store(&lane.gave_up, true);
	assert_false(lane_ask(&lane, LANE_ASKS_VFS));
	assert_int_equal(atomic_load(&lane.ask), LANE_RUNS);
	assert_false(is_told(lane.report_fd));
}

int main(void)
{
#define with_setup(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		with_setup(k17_addresses_are_computed_from_offset_and_stride),
		with_setup(n3_addresses_keep_their_domain),
		with_setup(an_absent_node_is_an_absent_pf),
		with_setup(a_strange_node_says_so),
		with_setup(c5_an_errno_means_what_it_means_at_its_place),
		with_setup(a_rule_has_no_errno),
		with_setup(what_was_found_may_be_long),
		with_setup(a_failed_vf_needs_nothing_more_and_the_lane_goes_on),
		with_setup(notes_stand_in_the_journal_under_the_pf),
		with_setup(a_journal_that_cannot_be_written_is_noted),
		with_setup(to_tell_wakes_the_loop_and_to_wake_answers_the_lane),
		with_setup(a_lane_that_asks_sleeps_until_it_is_answered),
		with_setup(a_lane_that_asks_in_vain_is_told_so),
		with_setup(a_lane_that_asked_in_vain_asks_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
