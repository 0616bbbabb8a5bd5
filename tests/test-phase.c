/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "phase.h"
#include <cmocka.h>

static void starts_in_prepare_or_load(void **state)
{
	struct phase p;

	phase_init(&p, PHASE_PREPARE, 7);
	assert_int_equal(p.now, PHASE_PREPARE);
	assert_int_equal(p.since_ns[PHASE_PREPARE], 7);
	phase_init(&p, PHASE_LOAD, 8);
	assert_int_equal(p.now, PHASE_LOAD);
	assert_int_equal(p.since_ns[PHASE_PREPARE], 0);
	assert_int_equal(p.since_ns[PHASE_LOAD], 8);
}

static void goes_on_and_may_leave_out(void **state)
{
	struct phase p;

	phase_init(&p, PHASE_LOAD, 1);
	phase_enter(&p, PHASE_HOT, 2);
	phase_enter(&p, PHASE_DEFERRED, 3);
	phase_enter(&p, PHASE_DONE, 4);
	assert_int_equal(p.now, PHASE_DONE);
	assert_int_equal(p.since_ns[PHASE_HOT], 2);
	assert_int_equal(p.since_ns[PHASE_HANDOFF], 0);
	assert_int_equal(p.since_ns[PHASE_DEFERRED], 3);
	assert_int_equal(p.since_ns[PHASE_DONE], 4);
}

/* From LOAD to HANDOFF nobody gets a pass. */
static void only_cold_phases_may_walk(void **state)
{
	static const bool hot[] = {
		[PHASE_PREPARE] = false, [PHASE_LOAD] = true,      [PHASE_HOT] = true,
		[PHASE_HANDOFF] = true,  [PHASE_DEFERRED] = false, [PHASE_DONE] = false,
	};

	_Static_assert(ELEMENTSOF(hot) == _PHASE_MAX, "each phase");
	for (unsigned id = 0; id < _PHASE_MAX; id++) {
		struct phase p = { .now = id };

		assert_int_equal(phase_is_hot(&p), hot[id]);
		assert_int_equal(phase_walk_pass(&p) == NULL, hot[id]);
	}
}

static void has_names(void **state)
{
	assert_string_equal(phase_name(PHASE_PREPARE), "prepare");
	assert_string_equal(phase_name(PHASE_DONE), "done");
	for (unsigned id = 0; id < _PHASE_MAX; id++)
		assert_true(strlen(phase_name(id)) > 0);
}

/* Does it end in abort()? In a child, whose words are of no interest. */
static bool dies(void (*act)(void))
{
	struct rlimit no_core = { 0 };
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		(void) setrlimit(RLIMIT_CORE, &no_core);
		(void) signal(SIGABRT, SIG_DFL);
		(void) close(STDERR_FILENO); /* the words of assert() */
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void go_back(void)
{
	struct phase p;

	phase_init(&p, PHASE_LOAD, 1);
	phase_enter(&p, PHASE_DEFERRED, 2);
	phase_enter(&p, PHASE_HOT, 3);
}

static void stay(void)
{
	struct phase p;

	phase_init(&p, PHASE_LOAD, 1);
	phase_enter(&p, PHASE_LOAD, 2);
}

static void start_in_the_middle(void)
{
	struct phase p;

	phase_init(&p, PHASE_DEFERRED, 1);
}

static void never_goes_back(void **state)
{
	assert_true(dies(go_back));
	assert_true(dies(stay));
	assert_true(dies(start_in_the_middle));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_in_prepare_or_load),
		cmocka_unit_test(goes_on_and_may_leave_out),
		cmocka_unit_test(only_cold_phases_may_walk),
		cmocka_unit_test(has_names),
		cmocka_unit_test(never_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
