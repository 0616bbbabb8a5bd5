/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "record-read.h"
#include "report.h"

static void load(struct record *ret)
{
	char path[512], error[RECORD_ERROR_LEN] = "";

	(void) snprintf(path, sizeof(path), "%s/corpus/record/partly.json", getenv("TESTS_DIR"));
	if (record_load(ret, path, error))
		fail_msg("%s", error);
}

static char *print(const struct record *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	report_record(r, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static const char golden_sums[] =
	"PF           Interface      VFs Mode Strategy Enable/ms Bind/ms Total/ms VF nodes\n"
	"0000:01:00.0 enp1s0       16/16 cold id           118.4    50.1    170.0        0\n"
	"0000:02:00.0 enp2s0         3/7 cold override     190.4    94.0    286.0        7\n"
	"0000:03:00.0 -              0/4 cold id               -       -    499.0        0\n"
	"0000:3b:00.0 ens1f0<&>      4/4 warm id               -       -      6.0        0\n"
	"0000:3c:00.0 enp60s0        0/2 -    id               -       -      2.4        0\n"
	"By override: 0000:02:00.0 - 0000:02:00.0 has the same id as its VFs and is not seen bound\n"
	"\n"
	"21 of 33 VFs bound and opened, 2 held by their owners already, 6 lacking, 4 still waited "
	"for\n"
	"531.0 ms from exec to done: exec 4.0, load 27.0, hot 500.0\n"
	"Touched: 7 sysfs nodes in VF directories (0.21 a VF), 25 writes, 27 device nodes opened\n"
	"and 0 directory reads, by construction\n"
	"Touches differ from the plan's budget, which leaves out PFs that did not come to their "
	"end:\n"
	"  sriov_numvfs             read  5 instead of 4\n"
	"  new_id                   write 1 instead of 0\n"
	"  device nodes             open  27 instead of 26\n";

/* The words of cause.c are its own to change. */
static char *golden_lacking(void)
{
	char *text = NULL;

	assert_true(
		asprintf(&text,
			 "\nLacking:\n"
			 "  VFs 2-4 of 0000:02:00.0: %s (write to bind: Input/output error, EIO)\n"
			 "    %s\n"
			 "  VF 6 of 0000:02:00.0: %s (open of the device node: No such file or "
			 "directory, ENOENT)\n"
			 "    %s\n"
			 "  0000:03:00.0, 4 of 4 VFs: %s (enable)\n"
			 "    %s\n"
			 "  0000:3c:00.0, 2 of 2 VFs: %s, found 8 (any first look)\n"
			 "    %s\n"
			 "Owners without all: vm-0002 (2 of 3), vm-0003 (2 of 7), vm-0004 (2 of "
			 "3), vm-0011 (0 of 2)\n",
			 record_cause_meaning("refused-by-driver"),
			 record_cause_advice("refused-by-driver"), record_cause_meaning("no-node"),
			 record_cause_advice("no-node"), record_cause_meaning("stuck"),
			 record_cause_advice("stuck"), record_cause_meaning("number-differs"),
			 record_cause_advice("number-differs")) > 0);
	return text;
}

static void what_went_and_what_did_not_is_told(void **state)
{
	char *text, *lacking = golden_lacking();
	struct record r;

	load(&r);
	text = print(&r);
	assert_memory_equal(text, golden_sums, sizeof(golden_sums) - 1);
	assert_string_equal(text + sizeof(golden_sums) - 1, lacking);
	free(lacking);
	free(text);
	record_done(&r);
}

static char *copy(const char *text)
{
	char *p = strdup(text);

	assert_non_null(p);
	return p;
}

/* n VFs that are ready, on one PF. */
static void make(struct record *r, unsigned n)
{
	struct record_lane *lane = calloc(1, sizeof(*lane));

	assert_non_null(lane);
	*lane = (struct record_lane){ .state = copy("done"),
				      .mode = copy("cold"),
				      .strategy = copy("id"),
				      .num_vfs = n,
				      .n_vfs = n };
	lane->vfs = calloc(n, sizeof(*lane->vfs));
	assert_non_null(lane->vfs);
	for (unsigned i = 0; i < n; i++)
		lane->vfs[i] = (struct record_vf){ .index = i, .state = copy("ready") };
	*r = (struct record){ .lanes = lane, .n_lanes = 1, .budget_exact = true };
	record_sum(r);
}

static void nothing_lacking_needs_no_words(void **state)
{
	struct record r;
	char *text;

	make(&r, 508);
	text = print(&r);
	assert_non_null(strstr(text, "\n508 of 508 VFs bound and opened\n"));
	assert_non_null(strstr(text, "\nEvery touch is in the plan's budget, and no more\n"));
	assert_null(strstr(text, "Lacking"));
	assert_null(strstr(text, "By "));
	free(text);
	record_done(&r);
}

static void a_cause_of_the_future_is_told_by_its_name(void **state)
{
	struct record r;
	char *text;

	make(&r, 3);
	free(r.lanes[0].vfs[1].state);
	r.lanes[0].vfs[1].state = copy("lacks");
	r.lanes[0].vfs[1].cause = copy("moon-phase");
	r.lanes[0].vfs[1].error = 99999;
	record_sum(&r);
	text = print(&r);
	assert_non_null(strstr(text, "\n  VF 1 of 0000:00:00.0: moon-phase (error 99999)\n"));
	free(text);
	record_done(&r);
}

static void a_vf_still_waited_for_is_told(void **state)
{
	struct record r;
	char *text;

	make(&r, 3);
	for (unsigned i = 0; i < 2; i++) {
		free(r.lanes[0].vfs[i].state);
		r.lanes[0].vfs[i].state = copy("waits");
	}
	record_sum(&r);
	text = print(&r);
	assert_non_null(strstr(text, "1 of 3 VFs bound and opened, 2 still waited for"));
	assert_non_null(
		strstr(text, "\n  VFs 0-1 of 0000:00:00.0: not ready when the run ended\n"));
	free(text);
	record_done(&r);
}

static void an_empty_record_is_reported(void **state)
{
	const struct record r = { .exec_ns = 0 };
	char *text = print(&r);

	assert_non_null(strstr(text, "0 of 0 VFs"));
	assert_non_null(strstr(text, "(0.00 a VF)"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_went_and_what_did_not_is_told),
		cmocka_unit_test(nothing_lacking_needs_no_words),
		cmocka_unit_test(a_cause_of_the_future_is_told_by_its_name),
		cmocka_unit_test(a_vf_still_waited_for_is_told),
		cmocka_unit_test(an_empty_record_is_reported),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
