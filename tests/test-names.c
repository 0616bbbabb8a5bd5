/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "names.h"

static unsigned add(struct names *n, const char *text, const char **ret)
{
	unsigned number;

	assert_int_equal(names_add(n, text, strlen(text), &number, ret), 0);
	return number;
}

static void equal_strings_have_one_number_and_one_address(void **state)
{
	const char *first, *second, *other;
	struct names n;

	(void) state;
	assert_int_equal(names_init(&n, 100), 0);
	assert_int_equal(add(&n, "vm-1", &first), 0);
	assert_int_equal(add(&n, "vm-2", &other), 1);
	assert_int_equal(add(&n, "vm-1", &second), 0);
	assert_ptr_equal(first, second);
	assert_string_equal(first, "vm-1");
	assert_string_equal(other, "vm-2");
	names_done(&n);
}

static void thousands_keep_their_numbers_and_addresses(void **state)
{
	enum { MANY = 5000 };
	static const char *texts[MANY];
	struct names n;
	char name[32];

	(void) state;
	assert_int_equal(names_init(&n, MANY * sizeof(name)), 0);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < MANY; i++) {
			const char *text;

			(void) snprintf(name, sizeof(name), "name-%u", i); /* always fits */
			assert_int_equal(add(&n, name, &text), i);
			if (round == 0)
				texts[i] = text;
			assert_ptr_equal(text, texts[i]);
			assert_string_equal(text, name);
		}
	names_done(&n);
}

static void beyond_the_capacity_is_an_error(void **state)
{
	const char *text;
	unsigned number;
	struct names n;

	(void) state;
	assert_int_equal(names_init(&n, 4), 0);
	assert_int_equal(names_add(&n, "1234", 4, &number, &text), -ENOBUFS);
	assert_int_equal(names_add(&n, "123", 3, &number, &text), 0);
	assert_int_equal(names_add(&n, "", 0, &number, &text), -ENOBUFS);
	assert_int_equal(names_add(&n, "123", 3, &number, &text), 0);
	names_done(&n);
}

static void the_texts_outlive_the_names(void **state)
{
	const char *text;
	struct names n;
	char *texts;

	(void) state;
	assert_int_equal(names_init(&n, 100), 0);
	(void) add(&n, "vm-1", &text); /* the first: number 0 */
	texts = names_take_texts(&n);
	names_done(&n);
	assert_string_equal(text, "vm-1");
	free(texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_have_one_number_and_one_address),
		cmocka_unit_test(thousands_keep_their_numbers_and_addresses),
		cmocka_unit_test(beyond_the_capacity_is_an_error),
		cmocka_unit_test(the_texts_outlive_the_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
