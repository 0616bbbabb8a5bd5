/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <stddef.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "bdf.h"

static void parses(const char *text, uint32_t domain, unsigned bus, unsigned slot, unsigned fn)
{
	struct bdf b;

	assert_int_equal(bdf_parse(text, &b), 0);
	assert_int_equal(b.domain, domain);
	assert_int_equal(b.rid, bus << 8 | slot << 3 | fn);
}

static void reads_the_usual_forms(void **state)
{
	(void) state;
	parses("0000:3b:02.1", 0, 0x3b, 2, 1);
	parses("3b:02.1", 0, 0x3b, 2, 1);
	parses("ffff:ff:1f.7", 0xffff, 0xff, 0x1f, 7);
	parses("0:0:0.0", 0, 0, 0, 0);
}

static void n1_upper_case_is_read_and_lower_case_written(void **state)
{
	struct bdf b;
	char text[BDF_STRLEN + 1];

	(void) state;
	assert_int_equal(bdf_parse("0000:AB:1F.7", &b), 0);
	assert_int_equal(bdf_format(b, text), 12);
	assert_string_equal(text, "0000:ab:1f.7");
}

static void n2_parts_are_hex_and_bounded(void **state)
{
	static const char *const wrong[] = {
		"",
		":",
		"0000:3b:02",
		"0000:3b:02.",
		"0000:3b:02.8",
		"0000:3b:20.0",
		"0000:3b:1f.77",
		"0000:13b:02.1",
		"0000::02.1",
		"0000:3b:.1",
		"3b.02.1",
		"3b:02:1",
		"0000:3b:02.1 ",
		" 3b:02.1",
		"0000:3b:02.1\n",
		"0000:3g:02.1",
		"0x3b:02.1",
		"0000:3b:002.1",
		"-1:00:00.0",
		":3b:02.1",
		"000:0000:3b:02.1",
		"000000000:3b:02.1",
		"vfio-pci",
		"0000:3b:02.g",
	};
	struct bdf b;

	(void) state;
	parses("0000:a0:00.0", 0, 0xa0, 0, 0);
	parses("0000:b3:10.2", 0, 0xb3, 0x10, 2);
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(bdf_parse(wrong[i], &b), BDF_E_SYNTAX);
}

static void n3_domains_have_up_to_eight_digits_and_sort_as_numbers(void **state)
{
	char text[BDF_STRLEN + 1];
	struct bdf a, b;

	(void) state;
	parses("5d0505:01:00.0", 0x5d0505, 1, 0, 0);
	parses("ffffffff:01:00.0", 0xffffffff, 1, 0, 0);
	assert_int_equal(bdf_parse("10000:00:00.0", &a), 0);
	assert_int_equal(bdf_parse("9000:ff:1f.7", &b), 0);
	assert_true(bdf_compare(a, b) > 0);
	assert_int_equal(bdf_format(a, text), strlen("10000:00:00.0"));
	assert_string_equal(text, "10000:00:00.0");
}

/* Every requester id, in domains of every length, survives being written and read. */
static void property_written_is_what_is_read(void **state)
{
	static const uint32_t domains[] = { 0, 1, 0xfff, 0xffff, 0x10000, 0x5d0505, UINT32_MAX };
	char text[BDF_STRLEN + 1];

	(void) state;
	for (size_t d = 0; d < ELEMENTSOF(domains); d++)
		for (unsigned rid = 0; rid <= UINT16_MAX; rid += d == 0 ? 1 : 251) {
			struct bdf b = { domains[d], (uint16_t) rid }, back;

			size_t len = bdf_format(b, text);

			assert_int_equal(len, strlen(text));
			assert_int_equal(bdf_parse(text, &back), 0);
			assert_int_equal(bdf_compare(b, back), 0);
			for (char *p = text; *p; p++)
				*p = (char) toupper(*p);
			assert_int_equal(bdf_parse(text, &back), 0);
			assert_int_equal(bdf_compare(b, back), 0);
		}
}

/* igb: VF 0, 1 and 6 are 01:10.0, 01:10.2, 01:11.4 (CASES K17). */
static void k17_vf_addresses_are_not_dense(void **state)
{
	struct bdf pf, vf;
	char text[BDF_STRLEN + 1];

	(void) state;
	assert_int_equal(bdf_parse("0000:01:00.0", &pf), 0);
	assert_int_equal(bdf_of_vf(pf, 128, 2, 6, &vf), 0);
	(void) bdf_format(vf, text);
	assert_string_equal(text, "0000:01:11.4");
}

static void a_vf_beyond_the_last_bus_is_an_error(void **state)
{
	struct bdf pf = { 0, 0xff00 }, vf;

	(void) state;
	assert_int_equal(bdf_of_vf(pf, 1, 1, 254, &vf), 0);
	assert_int_equal(bdf_of_vf(pf, 1, 1, 255, &vf), BDF_E_RANGE);
	assert_int_equal(bdf_of_vf(pf, UINT32_MAX, UINT32_MAX, UINT32_MAX, &vf), BDF_E_RANGE);
}

static void property_index_and_address_are_inverse(void **state)
{
	struct bdf pf = { 7, 0x0100 };

	(void) state;
	for (unsigned stride = 1; stride < 5; stride++)
		for (unsigned i = 0; i < 64; i++) {
			unsigned index = UINT32_MAX;
			struct bdf vf;

			assert_int_equal(bdf_of_vf(pf, 128, stride, i, &vf), 0);
			assert_true(bdf_vf_index(pf, 128, stride, 64, vf, &index));
			assert_int_equal(index, i);
			assert_false(bdf_vf_index(pf, 128, stride, i, vf, &index));
			vf.domain = 8;
			assert_false(bdf_vf_index(pf, 128, stride, 64, vf, &index));
		}
}

static void an_address_between_two_vfs_is_none_of_them(void **state)
{
	struct bdf pf = { 0, 0x0100 }, between = { 0, 0x0100 + 128 + 1 };
	unsigned index;

	(void) state;
	assert_false(bdf_vf_index(pf, 128, 2, 7, between, &index));
	assert_false(bdf_vf_index(pf, 128, 2, 7, pf, &index));
	assert_false(bdf_vf_index(pf, 128, 2, 0, (struct bdf){ 0, 0x0100 + 128 }, &index));
}

static void a_single_vf_needs_no_stride(void **state)
{
	struct bdf pf = { 0, 0x0100 };
	unsigned index;

	(void) state;
	assert_true(bdf_vf_index(pf, 1, 0, 1, (struct bdf){ 0, 0x0101 }, &index));
	assert_int_equal(index, 0);
	assert_false(bdf_vf_index(pf, 1, 0, 1, (struct bdf){ 0, 0x0102 }, &index));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_usual_forms),
		cmocka_unit_test(n1_upper_case_is_read_and_lower_case_written),
		cmocka_unit_test(n2_parts_are_hex_and_bounded),
		cmocka_unit_test(n3_domains_have_up_to_eight_digits_and_sort_as_numbers),
		cmocka_unit_test(property_written_is_what_is_read),
		cmocka_unit_test(k17_vf_addresses_are_not_dense),
		cmocka_unit_test(a_vf_beyond_the_last_bus_is_an_error),
		cmocka_unit_test(property_index_and_address_are_inverse),
		cmocka_unit_test(an_address_between_two_vfs_is_none_of_them),
		cmocka_unit_test(a_single_vf_needs_no_stride),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
