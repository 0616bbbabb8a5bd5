/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "json-out.h"

enum { TEXT_LEN = 512 };

static void text_of(const char *text, char ret[static TEXT_LEN])
{
	FILE *out = fmemopen(ret, TEXT_LEN, "w");

	assert_non_null(out);
	assert_int_equal(json_out_text(out, text), 0);
	assert_int_equal(fclose(out), 0);
}

static void texts_are_quoted(void **state)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{ "", "\"\"" },
		{ "/dev/vfio/3", "\"/dev/vfio/3\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\033[2J", "\"\\n\\u001b[2J\"" },
		{ "\xc3\xa4", "\"\xc3\xa4\"" },
	};
	char found[TEXT_LEN];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		text_of(rows[i].text, found);
		assert_string_equal(found, rows[i].json);
	}
}

static void tally_of(const struct tally *t, char ret[static TEXT_LEN])
{
	FILE *out = fmemopen(ret, TEXT_LEN, "w");

	assert_non_null(out);
	json_out_tally(out, t);
	assert_int_equal(fclose(out), 0);
}

static void a_tally_has_what_was_touched_and_sums(void **state)
{
	struct tally t = { .opens = 5 };
	char found[TEXT_LEN];

	t.sysfs[SYSFS_PF_DRIVER][SYSFS_LINK] = 1;
	t.sysfs[SYSFS_VF_DRIVER][SYSFS_LINK] = 2;
	t.sysfs[SYSFS_PF_NUMVFS][SYSFS_READ] = 3;
	t.sysfs[SYSFS_PF_NUMVFS][SYSFS_WRITE] = 4;
	tally_of(&t, found);
	assert_string_equal(found, "{ \"sysfs\": { \"driver\": { \"link\": 1 }, "
				   "\"sriov_numvfs\": { \"read\": 3, \"write\": 4 }, "
				   "\"vf/driver\": { \"link\": 2 } }, "
				   "\"vfNodes\": 2, \"writes\": 4, \"opens\": 5 }");
}

static void nothing_touched_is_an_object_too(void **state)
{
	const struct tally t = { .opens = 0 };
	char found[TEXT_LEN];

	tally_of(&t, found);
	assert_string_equal(found,
			    "{ \"sysfs\": { }, \"vfNodes\": 0, \"writes\": 0, \"opens\": 0 }");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_quoted),
		cmocka_unit_test(a_tally_has_what_was_touched_and_sums),
		cmocka_unit_test(nothing_touched_is_an_object_too),
	};

	return cmocka_run_group_tests_name("json-out", tests, NULL, NULL);
}
