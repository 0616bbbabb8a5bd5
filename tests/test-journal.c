/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "journal.h"

static const struct bdf pf = { 0, 0x0100 }, other = { 0, 0x0101 };
static char dir[] = "/tmp/test-journal.XXXXXX";
static int dir_fd = -1;

static int set_up(void **state)
{
	(void) state;
	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	return dir_fd < 0;
}

static int tear_down(void **state)
{
	(void) state;
	assert_int_equal(unlinkat(dir_fd, "journal", 0), 0);
	close_fd(&dir_fd);
	return rmdir(dir);
}

static void two_runs_at_a_time_are_impossible(void **state)
{
	struct journal one = { -1 }, two = { -1 };

	(void) state;
	assert_int_equal(journal_open(&one, dir_fd), 0);
	assert_int_equal(journal_open(&two, dir_fd), JOURNAL_E_LOCKED);
	journal_close(&one);
	assert_int_equal(journal_open(&two, dir_fd), 0);
	journal_close(&two);
}

static void what_is_written_is_found(void **state)
{
	struct journal j = { -1 };
	struct journal_autoprobe left;
	char text[512];
	ssize_t k;

	(void) state;
	assert_int_equal(journal_open(&j, dir_fd), 0);
	assert_int_equal(journal_write(&j, pf, JOURNAL_AUTOPROBE_WAS, "1"), 0);
	assert_int_equal(journal_write(&j, pf, JOURNAL_ID, "1b36 0010 vfio-pci"), 0);
	k = pread(j.fd, text, sizeof(text) - 1, 0);
	assert_true(k > 0);
	text[k] = '\0';
	journal_find_autoprobe(text, pf, &left);
	assert_true(left.left && left.was);
	journal_find_autoprobe(text, other, &left);
	assert_false(left.left);
	assert_true(journal_find_id(text, "1b36 0010 vfio-pci"));
	assert_int_equal(journal_truncate(&j), 0);
	assert_int_equal(pread(j.fd, text, sizeof(text), 0), 0);
	journal_close(&j);
}

/* A value that a killed run put there is not taken for the first one. */
static void the_first_value_counts(void **state)
{
	struct journal_autoprobe left;

	(void) state;
	journal_find_autoprobe("1 0000:01:00.0 autoprobe-was 1\n"
			       "2 0000:01:00.0 autoprobe-was 0\n",
			       pf, &left);
	assert_true(left.left && left.was);
}

static void a_lane_that_ended_leaves_nothing(void **state)
{
	struct journal_autoprobe left;

	(void) state;
	journal_find_autoprobe("1 0000:01:00.0 autoprobe-was 1\n2 0000:01:00.0 over\n", pf, &left);
	assert_false(left.left);
	journal_find_autoprobe("1 0000:01:00.0 autoprobe-was 1\n2 0000:01:00.0 over\n"
			       "3 0000:01:00.0 autoprobe-was 0\n",
			       pf, &left);
	assert_true(left.left && !left.was);
}

static void an_id_is_left_until_somebody_removed_it(void **state)
{
	static const char id[] = "1b36 0010 vfio-pci";

	(void) state;
	assert_true(journal_find_id("1 0000:01:00.0 id 1b36 0010 vfio-pci\n", id));
	assert_false(journal_find_id("1 0000:01:00.0 id 1b36 0010 vfio-pci\n"
				     "2 0000:02:00.0 id-removed 1b36 0010 vfio-pci\n",
				     id));
	assert_false(journal_find_id("1 0000:01:00.0 id 1b36 0011 vfio-pci\n", id));
	assert_false(journal_find_id("1 0000:01:00.0 id 1b36 0010 vfio-pci2\n", id));
}

static void torn_and_strange_lines_are_passed_over(void **state)
{
	struct journal_autoprobe left;

	(void) state;
	journal_find_autoprobe("", pf, &left);
	assert_false(left.left);
	journal_find_autoprobe("\n \nx\n1 0000:01:00.0\n1 0000:01:00.0 autoprobe-was\n"
			       "1 0000:01:00.0 autoprobe-was 2\n1 0000:01:00.0 autoprobe-was 11\n"
			       "1 0000:01:00.00 autoprobe-was 1\n"
			       "1 0000:01:00.0 autoprobe-was 1" /* torn */,
			       pf, &left);
	assert_false(left.left);
	assert_false(journal_find_id("1\n1 \n1 x\n1 x id\n1 x id \nid 1b36", "1b36"));
}

static void every_word_is_one_line(void **state)
{
	struct journal j = { -1 };
	char text[2048];
	ssize_t k;
	unsigned lines = 0;

	(void) state;
	assert_int_equal(journal_open(&j, dir_fd), 0);
	for (unsigned w = 0; w < _JOURNAL_WORD_MAX; w++)
		assert_int_equal(journal_write(&j, pf, (enum journal_word) w, "a b"), 0);
	k = pread(j.fd, text, sizeof(text), 0);
	for (ssize_t i = 0; i < k; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, _JOURNAL_WORD_MAX);
	assert_int_equal(journal_truncate(&j), 0);
	journal_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_runs_at_a_time_are_impossible),
		cmocka_unit_test(what_is_written_is_found),
		cmocka_unit_test(the_first_value_counts),
		cmocka_unit_test(a_lane_that_ended_leaves_nothing),
		cmocka_unit_test(an_id_is_left_until_somebody_removed_it),
		cmocka_unit_test(torn_and_strange_lines_are_passed_over),
		cmocka_unit_test(every_word_is_one_line),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
