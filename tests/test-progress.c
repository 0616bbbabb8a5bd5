/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <cmocka.h>
#include "progress.h"

/* A terminal: what is written to `out` can be read from `master`. */
struct terminal {
	int master;
	FILE *out;
	struct progress progress;
};

static const struct progress_counts half = { .n_vfs = 508, .n_done = 254 };

static void terminal_open(struct terminal *t, unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int slave;

	t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(t->master >= 0);
	assert_int_equal(grantpt(t->master), 0);
	assert_int_equal(unlockpt(t->master), 0);
	assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
	slave = open(ptsname(t->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	t->out = fdopen(slave, "w");
	assert_non_null(t->out);
	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	progress_init(&t->progress, t->out);
}

static void terminal_close(struct terminal *t)
{
	assert_int_equal(fclose(t->out), 0);
	close_fd(&t->master);
}

static void assert_drawn(const struct terminal *t, const char *expected)
{
	struct pollfd p = { .fd = t->master, .events = POLLIN };
	char text[512];
	ssize_t n = 0;

	if (poll(&p, 1, 0) == 1)
		n = read(t->master, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

static void a_line_is_drawn_and_erased(void **state)
{
	struct terminal t;

	terminal_open(&t, 80);
	progress_update(&t.progress, &half, NSEC_PER_SEC);
	assert_drawn(&t, "\r\033[K254 of 508 VFs");
	progress_update(&t.progress, &half, 2 * NSEC_PER_SEC);
	assert_drawn(&t, "\r\033[K254 of 508 VFs, 254 a second");
	progress_done(&t.progress);
	assert_drawn(&t, "\r\033[K");
	terminal_close(&t);
}

static void it_tells_what_lacks_and_what_is_stuck(void **state)
{
	const struct progress_counts counts = {
		.n_vfs = 508, .n_done = 254, .n_lacks = 3, .n_stuck = 2, .stuck = "0000:3b:00.0"
	};
	struct terminal t;

	terminal_open(&t, 80);
	progress_update(&t.progress, &counts, NSEC_PER_SEC);
	assert_drawn(&t, "\r\033[K254 of 508 VFs, 3 lacking, stuck: 0000:3b:00.0 and 1 more");
	terminal_close(&t);
}

static void it_draws_ten_times_a_second_at_most(void **state)
{
	struct terminal t;

	terminal_open(&t, 80);
	progress_update(&t.progress, &half, NSEC_PER_SEC);
	assert_drawn(&t, "\r\033[K254 of 508 VFs");
	for (unsigned i = 1; i < 100; i++)
		progress_update(&t.progress, &half, NSEC_PER_SEC + i * NSEC_PER_MSEC);
	assert_drawn(&t, "");
	progress_update(&t.progress, &half, NSEC_PER_SEC + 100 * NSEC_PER_MSEC);
	assert_drawn(&t, "\r\033[K254 of 508 VFs, 2540 a second");
	terminal_close(&t);
}

static void it_never_wraps(void **state)
{
	struct terminal t;

	terminal_open(&t, 10);
	progress_update(&t.progress, &half, NSEC_PER_SEC);
	assert_drawn(&t, "\r\033[K254 of 50");
	terminal_close(&t);
}

/* ^S: the terminal takes nothing, and a write would wait for ^Q. */
static void a_held_terminal_holds_nobody(void **state)
{
	struct terminal t;

	terminal_open(&t, 80);
	assert_int_equal(tcflow(fileno(t.out), TCOOFF), 0);
	(void) alarm(10); /* ends the test if it does wait */
	progress_update(&t.progress, &half, NSEC_PER_SEC);
	progress_done(&t.progress);
	(void) alarm(0);
	assert_int_equal(tcflow(fileno(t.out), TCOON), 0);
	assert_drawn(&t, "");
	terminal_close(&t);
}

static void a_pipe_gets_nothing(void **state)
{
	struct progress progress;
	int ends[2];
	FILE *out;
	char c;

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	out = fdopen(ends[1], "w");
	assert_non_null(out);
	progress_init(&progress, out);
	progress_update(&progress, &half, NSEC_PER_SEC);
	progress_done(&progress);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(read(ends[0], &c, 1), 0);
	close_fd(&ends[0]);
}

static void a_dumb_terminal_gets_nothing(void **state)
{
	struct terminal t;

	terminal_open(&t, 80);
	assert_int_equal(setenv("TERM", "dumb", 1), 0);
	progress_init(&t.progress, t.out);
	progress_update(&t.progress, &half, NSEC_PER_SEC);
	progress_done(&t.progress);
	assert_drawn(&t, "");
	terminal_close(&t);
}

static void what_was_said_before_comes_before(void **state)
{
	struct terminal t;

	terminal_open(&t, 80);
	assert_true(fputs("first", t.out) >= 0);
	progress_init(&t.progress, t.out);
	progress_update(&t.progress, &half, NSEC_PER_SEC);
	assert_drawn(&t, "first\r\033[K254 of 508 VFs");
	terminal_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_drawn_and_erased),
		cmocka_unit_test(it_tells_what_lacks_and_what_is_stuck),
		cmocka_unit_test(it_draws_ten_times_a_second_at_most),
		cmocka_unit_test(it_never_wraps),
		cmocka_unit_test(a_held_terminal_holds_nobody),
		cmocka_unit_test(a_pipe_gets_nothing),
		cmocka_unit_test(a_dumb_terminal_gets_nothing),
		cmocka_unit_test(what_was_said_before_comes_before),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
