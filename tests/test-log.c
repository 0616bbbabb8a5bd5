/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "log.h"

enum { OUTPUT_LEN = 8192 };

/* What a child says on stderr that does these things. */
static void capture(void (*act)(void), char ret[static OUTPUT_LEN])
{
	int pipe_fds[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (dup2(pipe_fds[1], STDERR_FILENO) < 0)
			_exit(1);
		act();
		_exit(0);
	}
	close_fd(&pipe_fds[1]);
	while ((n = read(pipe_fds[0], ret + used, OUTPUT_LEN - 1 - used)) > 0)
		used += (size_t) n;
	ret[used] = '\0';
	close_fd(&pipe_fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void say_one_thing(void)
{
	struct log l;

	log_open(&l, LOG_INFO);
	log_event(&l, &(struct log_event) { .level = LOG_ERR, .error = -ENODEV },
		  "Failed to bind %s to '%s': %m", "0000:3b:02.1", "vfio-pci");
}

static void without_the_journal_an_event_is_one_line_on_stderr(void **state)
{
	char output[OUTPUT_LEN];

	(void) state;
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
	capture(say_one_thing, output);
	assert_non_null(strstr(output, ": Failed to bind 0000:3b:02.1 to 'vfio-pci': "
				       "No such device\n"));
	assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
}

static void say_things_of_each_level(void)
{
	struct log l;

	log_open(&l, LOG_WARNING);
	for (int level = LOG_ERR; level <= LOG_DEBUG; level++)
		log_event(&l, &(struct log_event) { .level = level }, "level %i", level);
}

static void what_is_above_the_level_is_dropped(void **state)
{
	char output[OUTPUT_LEN];

	(void) state;
	capture(say_things_of_each_level, output);
	assert_non_null(strstr(output, "level 3"));
	assert_non_null(strstr(output, "level 4"));
	assert_null(strstr(output, "level 5"));
	assert_null(strstr(output, "level 7"));
}

static void say_what_would_forge_a_line(void)
{
	struct log l;

	log_open(&l, LOG_INFO);
	log_event(&l, &(struct log_event) { .level = LOG_INFO, .vm = "a\nPRIORITY=0" },
		  "a\nforged line\x1b[31m\x7f");
}

static void a_name_cannot_forge_a_second_line(void **state)
{
	char output[OUTPUT_LEN];

	(void) state;
	capture(say_what_would_forge_a_line, output);
	assert_non_null(strstr(output, ": a forged line [31m \n"));
	assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
}

static void say_very_much(void)
{
	struct log l;
	char text[4000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	log_open(&l, LOG_INFO);
	log_event(&l, &(struct log_event) { .level = LOG_INFO, .vm = text }, "%s", text);
}

static void a_long_message_is_cut(void **state)
{
	char output[OUTPUT_LEN];

	(void) state;
	capture(say_very_much, output);
	assert_in_range(strlen(output), 1900, 2200);
	assert_int_equal(output[strlen(output) - 1], '\n');
}

static void the_journal_is_taken_only_when_stderr_is_its_stream(void **state)
{
	char stream[64];
	struct stat st;
	struct log l;

	(void) state;
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	(void) snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long) st.st_dev,
			(unsigned long long) st.st_ino); /* always fits */
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	log_open(&l, LOG_INFO);
	assert_true(l.to_journal);
	assert_int_equal(setenv("JOURNAL_STREAM", "1:1", 1), 0);
	log_open(&l, LOG_INFO);
	assert_false(l.to_journal);
	assert_int_equal(setenv("JOURNAL_STREAM", "nonsense", 1), 0);
	log_open(&l, LOG_INFO);
	assert_false(l.to_journal);
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
}

static void say_all_facts_to_a_journal(void)
{
	const struct log l = { .to_journal = true, .level_max = LOG_DEBUG };

	log_event(&l,
		  &(struct log_event) { .level = LOG_DEBUG,
					.message_id = "4c1b7c4dbd6c4a0f8a8cf2f8a4b5f2d1",
					.phase = "hot",
					.vm = "vm-0001",
					.bdf = "0000:3b:02.1",
					.cause = "not-bound",
					.error = ENODEV },
		  "Test of vf-restore, ignoring");
}

static void a_journal_that_is_not_there_leaves_stderr(void **state)
{
	char output[OUTPUT_LEN];

	(void) state;
	if (access("/run/systemd/journal/socket", F_OK) == 0)
		skip(); /* it would take it */
	capture(say_all_facts_to_a_journal, output);
	assert_non_null(strstr(output, ": Test of vf-restore, ignoring\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_journal_an_event_is_one_line_on_stderr),
		cmocka_unit_test(what_is_above_the_level_is_dropped),
		cmocka_unit_test(a_name_cannot_forge_a_second_line),
		cmocka_unit_test(a_long_message_is_cut),
		cmocka_unit_test(the_journal_is_taken_only_when_stderr_is_its_stream),
		cmocka_unit_test(a_journal_that_is_not_there_leaves_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
