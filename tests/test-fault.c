/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "fault.h"

static char error[512];

static struct fault make(void)
{
	return (struct fault){
		.name = "file",
		.advice = "mend it",
		.error = error,
		.error_size = sizeof(error),
	};
}

static void a_path_has_dots_before_keys_and_brackets_round_indexes(void **state)
{
	struct fault f = make();
	char path[FAULT_PATH_LEN];

	(void) state;
	fault_path(&f, NULL, path);
	assert_string_equal(path, "the text");
	fault_enter(&f, "owners", 0);
	fault_enter(&f, NULL, 3);
	fault_path(&f, "name", path);
	assert_string_equal(path, "owners[3].name");
	fault_enter(&f, "x", 0);
	fault_path(&f, NULL, path);
	assert_string_equal(path, "owners[3].x");
	fault_leave(&f);
	fault_path(&f, NULL, path);
	assert_string_equal(path, "owners[3]");
}

static void an_error_says_file_field_found_expected_and_what_now(void **state)
{
	struct fault f = make();

	(void) state;
	fault_enter(&f, "uid", 0);
	fault_tell(&f, NULL, "-1", "a number");
	assert_string_equal(error, "file: uid: found -1, expected a number; mend it");
	fault_tell(&f, "gid", "-1", "a number");
	assert_string_equal(error, "file: gid: found -1, expected a number; mend it");
}

static void an_error_without_room_is_cut(void **state)
{
	char small[12];
	struct fault f = { .name = "file", .advice = "x", .error = small, .error_size = 12 };

	(void) state;
	fault_tell(&f, "a field", "this", "that");
	assert_string_equal(small, "file: a fie");
}

static void what_a_terminal_obeys_is_quoted(void **state)
{
	char quoted[FAULT_QUOTE_LEN];

	(void) state;
	fault_quote("a\x1b[2J\n\x7f\xc2\x9b%s", 11, '"', quoted);
	assert_string_equal(quoted, "\"a\\x1b[2J\\x0a\\x7f\\xc2\\x9b%s\"");
	fault_quote("", 0, '\0', quoted);
	assert_string_equal(quoted, "");
}

static void what_is_long_is_cut(void **state)
{
	char quoted[FAULT_QUOTE_LEN], bytes[1000];

	(void) state;
	memset(bytes, 1, sizeof(bytes));
	fault_quote(bytes, sizeof(bytes), '\'', quoted);
	assert_int_equal(strlen(quoted), 48 * 4 + strlen("''..."));
	assert_string_equal(quoted + strlen(quoted) - 4, "...'");
}

static void a_deep_path_is_cut(void **state)
{
	struct fault f = make();
	char key[200], path[FAULT_PATH_LEN];

	(void) state;
	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 1] = '\0';
	for (unsigned i = 0; i < FAULT_DEPTH_MAX; i++)
		fault_enter(&f, key, 0);
	fault_path(&f, "x", path);
	assert_int_equal(strlen(path), FAULT_PATH_LEN - 1);
}

static void a_place_in_the_text_has_line_and_column(void **state)
{
	static const char text[] = "one\ntwo x\n";
	const char *end = text + strlen(text);
	struct fault f = make();

	(void) state;
	fault_tell_syntax(&f, text, text + 8, end, "y");
	assert_string_equal(error, "file: line 2, column 5: found 'x', expected y; mend it");
	fault_tell_syntax(&f, text, text + 9, end, "y");
	assert_string_equal(
		error, "file: line 2, column 6: found the end of the line, expected y; mend it");
	fault_tell_syntax(&f, text, end, end, "y");
	assert_string_equal(
		error, "file: line 3, column 1: found the end of the text, expected y; mend it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_has_dots_before_keys_and_brackets_round_indexes),
		cmocka_unit_test(an_error_says_file_field_found_expected_and_what_now),
		cmocka_unit_test(an_error_without_room_is_cut),
		cmocka_unit_test(what_a_terminal_obeys_is_quoted),
		cmocka_unit_test(what_is_long_is_cut),
		cmocka_unit_test(a_deep_path_is_cut),
		cmocka_unit_test(a_place_in_the_text_has_line_and_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
