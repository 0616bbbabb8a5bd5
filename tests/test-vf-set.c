/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "vf-set.h"

static void assert_prints(const struct vf_set *s, const char *expected)
{
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	vf_set_print(s, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
}

static void runs_are_folded_in_any_order(void **state)
{
	static const unsigned indices[] = { 9, 3, 0, 1, 2, 3, 65535 };
	struct vf_set s = { .n = 0 };

	for (size_t i = 0; i < ELEMENTSOF(indices); i++)
		vf_set_add(&s, indices[i]);
	assert_int_equal(s.n, 6);
	assert_prints(&s, "VFs 0-3, 9, 65535");
}

static void one_is_one_and_none_is_none(void **state)
{
	struct vf_set s = { .n = 0 };

	assert_prints(&s, "no VF");
	vf_set_add(&s, 63);
	assert_prints(&s, "VF 63");
	vf_set_add(&s, 64);
	assert_prints(&s, "VFs 63-64");
}

static void what_cannot_be_is_passed_over(void **state)
{
	struct vf_set s = { .n = 0 };

	vf_set_add(&s, 65536);
	vf_set_add(&s, UINT32_MAX);
	assert_prints(&s, "no VF");
}

static void many_runs_are_cut(void **state)
{
	struct vf_set s = { .n = 0 };

	for (unsigned i = 0; i < 40; i += 2)
		vf_set_add(&s, i);
	assert_prints(&s, "VFs 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 8 more");
}

static void all_can_be_in_it(void **state)
{
	struct vf_set s = { .n = 0 };

	for (unsigned i = 0; i < VF_SET_MAX; i++)
		vf_set_add(&s, i);
	assert_prints(&s, "VFs 0-65535");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_folded_in_any_order),
		cmocka_unit_test(one_is_one_and_none_is_none),
		cmocka_unit_test(what_cannot_be_is_passed_over),
		cmocka_unit_test(many_runs_are_cut),
		cmocka_unit_test(all_can_be_in_it),
	};

	return cmocka_run_group_tests_name("vf-set", tests, NULL, NULL);
}
