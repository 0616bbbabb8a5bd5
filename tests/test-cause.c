/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "cause.h"

enum { ERRNO_MAX = 200 };

static void c5_each_errno_at_each_place_has_a_cause(void **state)
{
	(void) state;
	for (unsigned place = 0; place < _PLACE_MAX; place++)
		for (int error = 1; error < ERRNO_MAX; error++)
			assert_in_range(cause_of(place, error), CAUSE_NONE + 1, _CAUSE_MAX - 1);
}

static void c5_errno_table(void **state)
{
	static const struct {
		enum place place;
		int error;
		const char *cause;
	} rows[] = {
		{ PLACE_PF_LOOK, ENOENT, "pf-absent" },
		{ PLACE_PF_LOOK, EACCES, "not-permitted" },
		{ PLACE_ENABLE, ENOENT, "pf-no-driver" }, /* C4, K2 */
		{ PLACE_ENABLE, ERANGE, "too-many" },     /* C6, K1 */
		{ PLACE_ENABLE, ENOMEM, "no-mmio" },      /* C7 */
		{ PLACE_ENABLE, ENOSPC, "no-vectors" },
		{ PLACE_ENABLE, EBUSY, "number-differs" }, /* C1, C2, K1 */
		{ PLACE_ENABLE, EPERM, "not-permitted" },
		{ PLACE_ENABLE, EACCES, "not-permitted" }, /* S1 */
		{ PLACE_ENABLE, EINVAL, "refused-by-pf-driver" },
		{ PLACE_ENABLE, EIO, "input-output" },
		{ PLACE_ENABLE, ENODEV, "pf-absent" }, /* C17 */
		{ PLACE_AUTOPROBE, ENODEV, "pf-absent" },
		{ PLACE_LAYOUT, ENODEV, "pf-absent" },
		{ PLACE_DRIVER, ENOENT, "driver-absent" }, /* B20 */
		{ PLACE_OVERRIDE, ENOENT, "vf-gone" },
		{ PLACE_OVERRIDE, ENOMEM, "no-memory" },
		{ PLACE_BIND, ENODEV, "not-bound" },   /* K3, K5 */
		{ PLACE_BIND, EBUSY, "wrong-driver" }, /* B5, K3 */
		{ PLACE_BIND, EINVAL, "no-iommu" },    /* B17 */
		{ PLACE_BIND, ENXIO, "refused-by-driver" },
		{ PLACE_ID, EEXIST, "refused-by-driver" }, /* B4 */
		{ PLACE_PROOF, ENOENT, "not-bound" },      /* K4 */
		{ PLACE_NODE, EBUSY, "held" },             /* B14 */
		{ PLACE_NODE, EACCES, "token-needed" },    /* B15, K9 */
		{ PLACE_NODE, EPERM, "not-permitted" },    /* S3 */
		{ PLACE_NODE, ENOENT, "no-node" },
		{ PLACE_NODE, EMFILE, "no-memory" },
	};

	(void) state;
	for (unsigned i = 0; i < ELEMENTSOF(rows); i++)
		assert_string_equal(cause_name(cause_of(rows[i].place, rows[i].error)),
				    rows[i].cause);
}

static void s1_what_is_not_permitted_names_selinux_and_lockdown(void **state)
{
	const char *advice = cause_advice(CAUSE_NOT_PERMITTED);

	(void) state;
	assert_non_null(strstr(advice, "SELinux"));
	assert_non_null(strstr(advice, "lockdown"));
	assert_non_null(strstr(advice, "cgroup"));
}

static void c6_too_many_names_the_firmware_limit(void **state)
{
	(void) state;
	assert_non_null(strstr(cause_meaning(CAUSE_TOO_MANY), "sriov_totalvfs"));
	assert_non_null(strstr(cause_advice(CAUSE_TOO_MANY), "firmware"));
}

static void names_are_words_of_their_own_for_programs(void **state)
{
	(void) state;
	for (unsigned i = 0; i < _CAUSE_MAX; i++) {
		const char *name = cause_name(i);

		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(name, cause_name(k));
	}
}

static void each_cause_has_a_meaning_and_advice_that_end_without_a_stop(void **state)
{
	(void) state;
	for (unsigned i = 0; i < _CAUSE_MAX; i++) {
		const char *texts[] = { cause_meaning(i), cause_advice(i) };

		for (unsigned k = 0; k < 2; k++) {
			assert_in_range(strlen(texts[k]), 10, 200);
			assert_null(strchr("\n.", texts[k][strlen(texts[k]) - 1]));
		}
	}
}

static void each_place_has_a_name(void **state)
{
	(void) state;
	for (unsigned i = 0; i < _PLACE_MAX; i++)
		assert_true(strlen(place_name(i)) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c5_each_errno_at_each_place_has_a_cause),
		cmocka_unit_test(c5_errno_table),
		cmocka_unit_test(s1_what_is_not_permitted_names_selinux_and_lockdown),
		cmocka_unit_test(c6_too_many_names_the_firmware_limit),
		cmocka_unit_test(names_are_words_of_their_own_for_programs),
		cmocka_unit_test(each_cause_has_a_meaning_and_advice_that_end_without_a_stop),
		cmocka_unit_test(each_place_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
