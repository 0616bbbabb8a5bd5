/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "uevent-trust.h"

static void only_the_kernel_is_the_kernel(void **state)
{
	(void) state;
	assert_true(uevent_is_from_kernel(0, 0, 0));
	assert_false(uevent_is_from_kernel(1, 0, 0));
	assert_false(uevent_is_from_kernel(0, 1234, 0)); /* injected by a process of root's */
	assert_false(uevent_is_from_kernel(0, 0, 65534));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_the_kernel_is_the_kernel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
