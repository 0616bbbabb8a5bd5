/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

	memset(ret, 0, OUTPUT_LEN);
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
	log_event(&l, &(struct log_event){ .level = LOG_ERR, .error = -ENODEV },
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
		log_event(&l, &(struct log_event){ .level = level }, "level %i", level);
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
	log_event(&l, &(struct log_event){ .level = LOG_INFO, .vm = "a\nPRIORITY=0" },
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
	log_event(&l, &(struct log_event){ .level = LOG_INFO, .vm = text }, "%s", text);
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

/* A socket where journald's is, in a /run that nobody else sees; -1: not permitted here. */
static int open_journal_of_our_own(void)
{
	const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/systemd/journal/socket",
	};
	int fd;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL) < 0)
		return -1;
	assert_int_equal(mkdir("/run/systemd", 0755), 0);
	assert_int_equal(mkdir("/run/systemd/journal", 0755), 0);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
	return fd;
}

/* Says on stderr what the journal got; "skip" when there can be none. */
static void say_all_facts_to_a_journal(void)
{
	const struct log l = { .to_journal = true, .level_max = LOG_DEBUG };
	int fd = open_journal_of_our_own();
	char entry[4096];
	ssize_t n;

	if (fd < 0) {
		(void) dprintf(STDERR_FILENO, "skip"); /* the parent looks for it */
		return;
	}
	log_event(&l,
		  &(struct log_event){ .level = LOG_WARNING,
				       .message_id = "4c1b7c4dbd6c4a0f8a8cf2f8a4b5f2d1",
				       .phase = "hot",
				       .vm = "vm\n1",
				       .bdf = "0000:3b:02.1",
				       .cause = "not-bound",
				       .error = -ENODEV },
		  "%s is absent, ignoring", "It");
	n = recv(fd, entry, sizeof(entry), 0);
	assert_true(n > 0);
	assert_int_equal(write(STDERR_FILENO, entry, (size_t) n), n); /* the parent looks for it */
}

static void the_journal_gets_each_fact_as_a_field_and_no_line_on_stderr(void **state)
{
	static const char *const fields[] = {
		"PRIORITY=4\n",
		"SYSLOG_IDENTIFIER=",
		"MESSAGE_ID=4c1b7c4dbd6c4a0f8a8cf2f8a4b5f2d1\n",
		"VFR_PHASE=hot\n",
		"VFR_VM\n",
		"VFR_BDF=0000:3b:02.1\n",
		"VFR_CAUSE=not-bound\n",
		"ERRNO=19\n",
		"MESSAGE=It is absent, ignoring\n",
	};
	char output[OUTPUT_LEN];

	(void) state;
	capture(say_all_facts_to_a_journal, output);
	if (strcmp(output, "skip") == 0)
		skip();
	/* The value with a line break is binary, behind its length. */
	for (char *c = output; c < output + OUTPUT_LEN - 8; c++)
		if (memcmp(c, "VFR_VM\n\004", 8) == 0)
			memset(c + 7, ' ', 8);
	for (unsigned i = 0; i < ELEMENTSOF(fields); i++)
		if (!strstr(output, fields[i]))
			fail_msg("%s is not in %s", fields[i], output);
	assert_null(strstr(output, ": It is absent"));
	assert_null(strstr(output, "CODE_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_journal_an_event_is_one_line_on_stderr),
		cmocka_unit_test(what_is_above_the_level_is_dropped),
		cmocka_unit_test(a_name_cannot_forge_a_second_line),
		cmocka_unit_test(a_long_message_is_cut),
		cmocka_unit_test(the_journal_is_taken_only_when_stderr_is_its_stream),
		cmocka_unit_test(the_journal_gets_each_fact_as_a_field_and_no_line_on_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
