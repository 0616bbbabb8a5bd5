/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "scan-value.h"

/* A format as small as can be: { "number": -5, "flag": true, "name": "x", "list": [ { ... } ] } */
struct thing {
	int8_t number;
	bool has_number, flag;
	const char *name;
	unsigned n_listed, sum;
};

static int take_listed(struct scan *s, void *into);

static int stream_list(struct scan *s, void *into)
{
	return scan_array(s, take_listed, into);
}

#define AT(member) SCAN_AT(struct thing, member)

static const struct scan_field fields[] = {
	{ "number", true, AT(number), .has = offsetof(struct thing, has_number) + 1,
	  .read = scan_value_number, .min = -100, .max = 100 },
	{ "flag", AT(flag), .read = scan_value_bool },
	{ "name", AT(name), .read = scan_value_name, .max = 5 },
	{ "list", .stream = stream_list },
};

static int take_listed(struct scan *s, void *into)
{
	struct thing one = { .number = 0 }, *sum = into;
	int r;

	r = scan_element(s, fields, 3, &one);
	sum->n_listed++;
	sum->sum += (unsigned) one.number;
	return r;
}

static char error[512];

/* What the text makes of the thing; r is what scan_object() and scan_end() returned. */
static struct thing read_text(const char *text, int *ret)
{
	const struct fault fault = {
		.name = "it",
		.advice = "mend it",
		.error = error,
		.error_size = sizeof(error),
	};
	struct thing thing = { .number = 0 };
	uint32_t seen = 0;
	struct scan s;

	error[0] = '\0';
	*ret = scan_init(&s, &fault, text, strlen(text));
	if (*ret == 0)
		*ret = scan_object(&s, fields, ELEMENTSOF(fields), &thing, &seen);
	if (*ret == 0)
		*ret = scan_end(&s);
	thing.name = NULL; /* it goes with s */
	scan_done(&s);
	return thing;
}

static struct thing take(const char *text)
{
	struct thing thing;
	int r;

	thing = read_text(text, &r);
	if (r != 0)
		fail_msg("%i: %s", r, error);
	return thing;
}

static void refuse(const char *text, const char *expected)
{
	int r;

	(void) read_text(text, &r); /* refused: nothing of use */
	assert_int_equal(r, SCAN_E_REFUSED);
	assert_string_equal(error, expected);
}

static void values_get_into_their_members(void **state)
{
	struct thing thing = take("{\"number\": -5, \"flag\":true,\n\t\"name\" : \"x\"}\r\n");

	(void) state;
	assert_int_equal(thing.number, -5);
	assert_true(thing.has_number && thing.flag);
}

static void arrays_are_walked_element_by_element(void **state)
{
	struct thing thing = take("{ \"list\": [ {\"number\":1}, {\"number\":2} ,{\"number\":3}],"
				  "\"number\":0}\n");

	(void) state;
	assert_int_equal(thing.n_listed, 3);
	assert_int_equal(thing.sum, 6);
	assert_int_equal(take("{\"number\":0,\"list\":[ ]}\n").n_listed, 0);
}

static void errors_name_the_way_to_the_field(void **state)
{
	(void) state;
	refuse("{\"number\":0,\"list\":[{\"number\":1},{\"number\":101}]}\n",
	       "it: list[1].number: found 101, expected a whole number from -100 to 100; mend it");
	refuse("{\"number\":0,\"list\":[{\"number\":1},{}]}\n",
	       "it: list[1].number: found nothing, expected a value; mend it");
	refuse("{\"number\":0,\"list\":[{\"number\":1},[]]}\n",
	       "it: list[1]: found an array, expected an object; mend it");
	refuse("{\"number\":0,\"list\":{}}\n",
	       "it: list: found an object, expected an array; mend it");
	refuse("{\"number\":0,\"name\":\"sixsix\"}\n",
	       "it: name: found \"sixsix\", expected UTF-8 text without control characters, 1 to 5 "
	       "bytes; mend it");
}

static void numbers_at_the_edge_of_a_range_are_in_it(void **state)
{
	(void) state;
	assert_int_equal(take("{\"number\":-100}\n").number, -100);
	assert_int_equal(take("{\"number\":100}\n").number, 100);
	refuse("{\"number\":-101}\n",
	       "it: number: found -101, expected a whole number from -100 to 100; mend it");
	refuse("{\"number\":1.0}\n",
	       "it: number: found 1.0, expected a whole number from -100 to 100; mend it");
}

static void names_are_utf8_and_nothing_else(void **state)
{
	static const struct {
		const char *name;
		bool good;
	} rows[] = {
		{ "abcde", true },
		{ "\xc3\xbc", true },
		{ "\xe6\x97\xa5", true },
		{ "\xf0\x9f\x98\x80", true },
		{ "", false },
		{ "\x01", false },
		{ "\x7f", false },
		{ "\xc2\x85", false },
		{ "\xc0\xaf", false },
		{ "\xe0\x80\xaf", false },
		{ "\xed\xa0\x80", false },
		{ "\xf4\x90\x80\x80", false },
		{ "\xf0\x80\x80\xaf", false },
		{ "\xff", false },
		{ "\xc3", false },
		{ "\xe6\x97", false },
	};

	(void) state;
	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		char text[64];
		int r;

		(void) stpcpy(stpcpy(stpcpy(text, "{\"number\":0,\"name\":\""), rows[i].name),
			      "\"}\n");
		(void) read_text(text, &r); /* only whether it is taken counts */
		if (r != (rows[i].good ? 0 : SCAN_E_REFUSED))
			fail_msg("row %u: %i: %s", i, r, error);
	}
}

static void null_is_absent_but_not_where_a_value_is_needed(void **state)
{
	(void) state;
	assert_false(take("{\"number\":0,\"flag\":null,\"name\":null}\n").flag);
	refuse("{\"number\":null}\n", "it: number: found null, expected a value; mend it");
}

static void a_key_given_twice_is_refused(void **state)
{
	(void) state;
	refuse("{\"number\":0,\"number\":1}\n",
	       "it: number: found it a second time, expected it once; mend it");
}

static void each_byte_cut_off_is_an_error(void **state)
{
	static const char text[] =
		"{\"number\":12,\"list\":[{\"number\":3,\"name\":\"\\u00fc\"}]}\n";

	(void) state;
	for (size_t size = 0; size < strlen(text); size++) {
		char cut[sizeof(text)];
		int r;

		memcpy(cut, text, size);
		(void) stpcpy(cut + size, "\n");
		(void) read_text(cut, &r); /* refused: nothing of use */
		assert_int_equal(r, size == strlen(text) - 1 ? 0 : SCAN_E_REFUSED);
	}
}

static void unknown_keys_are_counted_at_every_level(void **state)
{
	static const char text[] = "{\"number\":1,\"a\":{\"deep\":[1]},\"list\":[{\"number\":1,"
				   "\"b\":2}],\"c\":null}\n";
	struct thing thing = { .number = 0 };
	const struct fault fault = { .name = "it", .error = error, .error_size = 512 };
	uint32_t seen;
	struct scan s;

	(void) state;
	assert_int_equal(scan_init(&s, &fault, text, strlen(text)), 0);
	assert_int_equal(scan_object(&s, fields, ELEMENTSOF(fields), &thing, &seen), 0);
	assert_int_equal(s.n_unknown, 3);
	assert_string_equal(s.first_unknown, "a");
	assert_int_equal(seen, 1 << 0 | 1 << 3);
	scan_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_get_into_their_members),
		cmocka_unit_test(arrays_are_walked_element_by_element),
		cmocka_unit_test(errors_name_the_way_to_the_field),
		cmocka_unit_test(numbers_at_the_edge_of_a_range_are_in_it),
		cmocka_unit_test(names_are_utf8_and_nothing_else),
		cmocka_unit_test(null_is_absent_but_not_where_a_value_is_needed),
		cmocka_unit_test(a_key_given_twice_is_refused),
		cmocka_unit_test(each_byte_cut_off_is_an_error),
		cmocka_unit_test(unknown_keys_are_counted_at_every_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
