/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "thread.h"

struct sleeper {
	pthread_t thread;
	int wake_fd, report_fd;
	_Atomic unsigned n_woken;
	_Atomic bool asleep;
	unsigned n_sleeps;
};

static int setup(void **state)
{
	struct sleeper *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->wake_fd = eventfd(0, EFD_CLOEXEC);
	s->report_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(s->wake_fd >= 0 && s->report_fd >= 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct sleeper *s = *state;

	close_fd(&s->wake_fd);
	close_fd(&s->report_fd);
	free(s);
	return 0;
}

static void *sleeper_main(void *argument)
{
	struct sleeper *s = argument;
	int report_fd = s->report_fd;

	s->thread = pthread_self();
	for (unsigned i = 0; i < s->n_sleeps; i++) {
		atomic_store(&s->asleep, true);
		thread_sleep(s->wake_fd);
		atomic_store(&s->asleep, false);
		atomic_fetch_add(&s->n_woken, 1);
	}
	thread_tell(report_fd);
	return NULL;
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = 1000000 };

	nanosleep(&t, NULL);
}

static void a_thread_runs_with_its_argument(void **state)
{
	struct sleeper *s = *state;

	s->n_sleeps = 0;
	assert_int_equal(thread_start(sleeper_main, s), 0);
	thread_sleep(s->report_fd);
	assert_false(pthread_equal(s->thread, pthread_self()));
}

static void a_sleeper_is_woken_when_it_is_told_and_not_earlier(void **state)
{
	struct sleeper *s = *state;

	s->n_sleeps = 1;
	assert_int_equal(thread_start(sleeper_main, s), 0);
	while (!atomic_load(&s->asleep))
		nap();
	nap();
	assert_int_equal(atomic_load(&s->n_woken), 0);
	thread_tell(s->wake_fd);
	thread_sleep(s->report_fd);
	assert_int_equal(atomic_load(&s->n_woken), 1);
}

static void what_was_told_before_the_sleep_is_not_lost(void **state)
{
	struct sleeper *s = *state;

	thread_tell(s->wake_fd);
	thread_sleep(s->wake_fd);
}

static void one_sleep_is_ended_by_all_that_was_told_before(void **state)
{
	struct sleeper *s = *state;

	s->n_sleeps = 2;
	thread_tell(s->wake_fd);
	thread_tell(s->wake_fd);
	thread_tell(s->wake_fd);
	assert_int_equal(thread_start(sleeper_main, s), 0);
	while (atomic_load(&s->n_woken) < 1 || !atomic_load(&s->asleep))
		nap();
	nap();
	assert_int_equal(atomic_load(&s->n_woken), 1);
	thread_tell(s->wake_fd);
	thread_sleep(s->report_fd);
	assert_int_equal(atomic_load(&s->n_woken), 2);
}

static void ignore_signal(int signal)
{
	(void) signal;
}

static void a_signal_does_not_wake_a_sleeper(void **state)
{
	struct sigaction act = { .sa_handler = ignore_signal }; /* no SA_RESTART: EINTR */
	struct sleeper *s = *state;

	assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
	s->n_sleeps = 1;
	assert_int_equal(thread_start(sleeper_main, s), 0);
	while (!atomic_load(&s->asleep))
		nap();
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(pthread_kill(s->thread, SIGUSR1), 0);
		nap();
	}
	assert_int_equal(atomic_load(&s->n_woken), 0);
	thread_tell(s->wake_fd);
	thread_sleep(s->report_fd);
}

/* A lane that hangs is nobody's to join: the threads are detached. */
static void threads_are_detached(void **state)
{
	struct sleeper *s = *state;
	pthread_attr_t attr;
	int detached;

	s->n_sleeps = 1;
	assert_int_equal(thread_start(sleeper_main, s), 0);
	while (!atomic_load(&s->asleep))
		nap();
	assert_int_equal(pthread_getattr_np(s->thread, &attr), 0);
	assert_int_equal(pthread_attr_getdetachstate(&attr, &detached), 0);
	assert_int_equal(detached, PTHREAD_CREATE_DETACHED);
	assert_int_equal(pthread_attr_destroy(&attr), 0);
	thread_tell(s->wake_fd);
	thread_sleep(s->report_fd);
}

static void *run_nothing(void *argument)
{
	return argument;
}

/* In a child that may have no thread more. */
static _Noreturn void start_without_a_right_to(void)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_NPROC, &none) < 0 || (geteuid() == 0 && setuid(65534) < 0))
		_exit(77);
	_exit(thread_start(run_nothing, NULL) == -EAGAIN ? 0 : 1);
}

static void no_thread_to_be_had_is_an_errno(void **state)
{
	pid_t child = fork();
	int status;

	(void) state;
	assert_true(child >= 0);
	if (child == 0)
		start_without_a_right_to();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define with_sleeper(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		with_sleeper(a_thread_runs_with_its_argument),
		with_sleeper(a_sleeper_is_woken_when_it_is_told_and_not_earlier),
		with_sleeper(what_was_told_before_the_sleep_is_not_lost),
		with_sleeper(one_sleep_is_ended_by_all_that_was_told_before),
		with_sleeper(a_signal_does_not_wake_a_sleeper),
		with_sleeper(threads_are_detached),
		with_sleeper(no_thread_to_be_had_is_an_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
