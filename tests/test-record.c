/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "record-fields.h"
#include "record-read.h"
#include "record-save.h"

/* A sound record with one of each, small enough to be broken in one place at a time. */
static const char sound[] =
	"{ \"format\": \"vf-restore-record\", \"version\": 1,\n"
	"  \"execNs\": 100, \"loadNs\": 200, \"hotNs\": 300, \"overNs\": 900,\n"
	"  \"realtimeUsec\": 1796068800000000, \"manifest\": \"/m.json\", \"generation\": 42,\n"
	"  \"budgetExact\": true, \"uevents\": 9, \"overruns\": 0,\n"
	"  \"tally\": { \"sysfs\": { \"sriov_numvfs\": { \"read\": 1, \"write\": 1 },\n"
	"      \"driver\": { \"link\": 2 }, \"vf/driver\": { \"link\": 3 } }, \"opens\": 1 },\n"
	"  \"budget\": { \"sysfs\": { }, \"opens\": 0 },\n"
	"  \"owners\": [ { \"name\": \"vm-1\", \"vfs\": 2, \"ready\": 1, \"lacks\": 1 } ],\n"
	"  \"physicalFunctions\": [ { \"address\": \"0000:01:00.0\", \"state\": \"done\",\n"
	"      \"mode\": \"cold\", \"strategy\": \"id\", \"numVfs\": 2, \"vfNodes\": 0,\n"
	"      \"steps\": [ { \"name\": \"enable\", \"begunNs\": 310, \"doneNs\": 410 } ],\n"
	"      \"virtualFunctions\": [\n"
	"        { \"index\": 0, \"address\": \"0000:01:10.0\", \"state\": \"ready\",\n"
	"          \"owner\": \"vm-1\", \"readyNs\": 500 },\n"
	"        { \"index\": 1, \"address\": \"0000:01:10.2\", \"state\": \"lacks\",\n"
	"          \"cause\": \"held\", \"place\": \"write to bind\", \"error\": 16 } ] } ] }\n";

static int parse(const char *text, struct record *ret, char error[static RECORD_ERROR_LEN])
{
	error[0] = '\0';
	return record_parse(ret, "r.json", text, strlen(text), error);
}

static void a_sound_record_is_read(void **state)
{
	struct record r;
	char error[RECORD_ERROR_LEN];

	assert_int_equal(parse(sound, &r, error), 0);
	assert_int_equal(r.exec_ns, 100);
	assert_int_equal(r.realtime_usec, 1796068800000000);
	assert_string_equal(r.manifest_path, "/m.json");
	assert_true(r.budget_exact);
	assert_int_equal(r.tally.sysfs[SYSFS_PF_NUMVFS][SYSFS_WRITE], 1);
	assert_int_equal(r.tally.sysfs[SYSFS_PF_DRIVER][SYSFS_LINK], 2);
	assert_int_equal(r.tally.sysfs[SYSFS_VF_DRIVER][SYSFS_LINK], 3);
	assert_int_equal(r.tally.opens, 1);
	assert_int_equal(r.n_lanes, 1);
	assert_null(r.lanes[0].interface);
	assert_int_equal(r.lanes[0].steps[0].done_ns, 410);
	assert_int_equal(r.lanes[0].vfs[1].address.rid, 0x182);
	assert_string_equal(r.lanes[0].vfs[1].cause, "held");
	assert_int_equal(r.lanes[0].vfs[1].error, 16);
	assert_int_equal(r.n_vfs, 2);
	assert_int_equal(r.n_ready, 1);
	assert_int_equal(r.n_lacks, 1);
	record_done(&r);
}

static void reading_and_writing_are_one_anothers_reverse(void **state)
{
	char path[512], error[RECORD_ERROR_LEN], *first = NULL, *second = NULL;
	size_t first_size = 0, second_size = 0;
	struct record r, again;

	(void) snprintf(path, sizeof(path), "%s/corpus/record/partly.json", getenv("TESTS_DIR"));
	assert_int_equal(record_load(&r, path, error), 0);
	assert_int_equal(record_to_text(&r, &first, &first_size), 0);
	assert_int_equal(first[first_size - 1], '\n');
	assert_int_equal(strlen(first), first_size);
	assert_int_equal(record_parse(&again, "again", first, first_size, error), 0);
	assert_int_equal(record_to_text(&again, &second, &second_size), 0);
	assert_string_equal(first, second);
	assert_memory_equal(&r.tally, &again.tally, sizeof(r.tally));
	assert_memory_equal(&r.budget, &again.budget, sizeof(r.budget));
	free(first);
	free(second);
	record_done(&r);
	record_done(&again);
}

static void no_two_nodes_share_a_key(void **state)
{
	char a[RECORD_FIELDS_NODE_MAX], b[RECORD_FIELDS_NODE_MAX];

	for (unsigned i = 0; i < _SYSFS_NODE_MAX; i++)
		for (unsigned k = 0; k < i; k++) {
			record_fields_node_key(i, a);
			record_fields_node_key(k, b);
			assert_string_not_equal(a, b);
		}
}

static void only_touches_that_were_are_written(void **state)
{
	struct record r = { .exec_ns = 1 };
	char *text = NULL;
	size_t size = 0;

	r.tally.sysfs[SYSFS_PF_NUMVFS][SYSFS_READ] = 4;
	r.tally.sysfs[SYSFS_PF_NUMVFS][SYSFS_WRITE] = 3;
	r.tally.sysfs[SYSFS_VF_OVERRIDE][SYSFS_WRITE] = 2;
	r.tally.opens = 7;
	assert_int_equal(record_to_text(&r, &text, &size), 0);
	assert_non_null(strstr(text, "\"tally\": { \"sysfs\": { \"sriov_numvfs\": { \"read\": 4, "
				     "\"write\": 3 }, \"vf/driver_override\": { \"write\": 2 } }, "
				     "\"vfNodes\": 2, \"writes\": 5, \"opens\": 7 }"));
	assert_non_null(strstr(text, "\"budget\": { \"sysfs\": { }, \"vfNodes\": 0, "));
	free(text);
}

/* `sound` with the first `from` in it replaced. */
static char *broken(const char *from, const char *to)
{
	const char *at = strstr(sound, from);
	char *text = NULL;

	assert_non_null(at);
	assert_true(asprintf(&text, "%.*s%s%s", (int) (at - sound), sound, to, at + strlen(from)) >
		    0);
	return text;
}

static void a_wrong_record_is_refused_with_the_field(void **state)
{
	static const struct {
		const char *from, *to, *error;
	} rows[] = {
		{ "vf-restore-record", "vf-restore-manifest",
		  "r.json: format: found \"vf-restore-manifest\", expected \"vf-restore-record\"" },
		{ "\"version\": 1", "\"version\": 2", "r.json: version: found 2, expected 1" },
		{ "\"version\": 1,", "", "r.json: version: found nothing, expected 1" },
		{ "\"execNs\": 100", "\"execNs\": -1",
		  "r.json: execNs: found -1, expected a number from 0 to 9223372036854775807" },
		{ "\"overNs\": 900", "\"overNs\": 1.5",
		  "r.json: overNs: found 1.5, expected a number from 0 to 9223372036854775807" },
		{ "\"/m.json\"", "17", "r.json: manifest: found 17, expected a text" },
		{ "\"/m.json\"", "\"\\u001b[2J\"",
		  "r.json: manifest: found \"\\u001b[2J\", expected a text without control "
		  "characters" },
		{ "\"/m.json\"", "\"a\\u0000b\"",
		  "r.json: manifest: found \"a\\u0000b\", expected a text without control "
		  "characters" },
		{ "\"/m.json\"", "\"\\u009b2J\"",
		  "r.json: manifest: found \"\xc2\x9b"
		  "2J\", expected a text without control characters" },
		{ "true", "1", "r.json: budgetExact: found 1, expected true or false" },
		{ "{ \"read\": 1, \"write\": 1 }", "4",
		  "r.json: tally.sysfs.sriov_numvfs: found 4, expected an object" },
		{ "\"write\": 1", "\"write\": \"x\"",
		  "r.json: tally.sysfs.sriov_numvfs.write: found \"x\", expected a number from 0 "
		  "to 4294967295" },
		{ "\"opens\": 0", "\"opens\": 4294967296",
		  "r.json: budget.opens: found 4294967296, expected a number from 0 to 4294967295" },
		{ "\"budget\"", "\"budged\"", "r.json: budget: found nothing, expected an object" },
		{ "[ { \"name\": \"vm-1\"", "[ 3, { \"name\": \"vm-1\"",
		  "r.json: owners[0]: found 3, expected an object" },
		{ "\"0000:01:00.0\"", "\"01:00\"",
		  "r.json: physicalFunctions[0].address: found \"01:00\", expected a PCI address "
		  "such as 0000:3b:00.2" },
		{ "\"state\": \"done\"", "\"state\": \"dead\"",
		  "r.json: physicalFunctions[0].state: found \"dead\", expected one of waits, "
		  "at-work, late, done, refused, stuck" },
		{ "\"mode\": \"cold\"", "\"mode\": null",
		  "r.json: physicalFunctions[0].mode: found nothing, expected a text" },
		{ "\"begunNs\": 310", "\"begunNs\": [ ]",
		  "r.json: physicalFunctions[0].steps[0].begunNs: found an array, expected a "
		  "number from 0 to 9223372036854775807" },
		{ "\"index\": 1", "\"index\": { }",
		  "r.json: physicalFunctions[0].virtualFunctions[1].index: found an object, "
		  "expected a number from 0 to 4294967295" },
		{ "\"state\": \"lacks\"", "\"state\": \"lost\"",
		  "r.json: physicalFunctions[0].virtualFunctions[1].state: found \"lost\", "
		  "expected one of waits, ready, held, lacks" },
		{ "] } ] }\n", "] } ] } }",
		  "r.json: line 16: found more text after the end, expected the JSON of a "
		  "vf-restore-record" },
		{ "] } ] }\n", "] } ]",
		  "r.json: line 16: found the end of the text too early, expected the JSON of a "
		  "vf-restore-record" },
	};

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		char *text = broken(rows[i].from, rows[i].to), error[RECORD_ERROR_LEN];
		struct record r;

		if (parse(text, &r, error) != RECORD_E_REFUSED)
			fail_msg("'%s' was not refused", rows[i].to);
		assert_string_equal(error, rows[i].error);
		free(text);
	}
}

static void broken_json_is_refused_with_its_line(void **state)
{
	static const char begin[] = "r.json: line 14: found ", /* then json-c's words */
		end[] = ", expected the JSON of a vf-restore-record";
	char *text = broken("\"readyNs\": 500", "\"readyNs\" 500"), error[RECORD_ERROR_LEN];
	struct record r;

	assert_int_equal(parse(text, &r, error), RECORD_E_REFUSED);
	assert_memory_equal(error, begin, sizeof(begin) - 1);
	assert_string_equal(error + strlen(error) - strlen(end), end);
	free(text);
}

static void what_is_no_object_is_refused(void **state)
{
	static const char *const texts[] = { "",   " ",    "null",
					     "[]", "7",    "\"x\"",
					     "{",  "\xff", "{\"a\":[[[[[[[[[[1]]]]]]]]]]}" };
	char error[RECORD_ERROR_LEN];
	struct record r;

	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		assert_int_equal(parse(texts[i], &r, error), RECORD_E_REFUSED);
		assert_true(strlen(error) > 0);
	}
}

static void no_cut_record_is_taken_for_a_whole(void **state)
{
	char error[RECORD_ERROR_LEN];
	struct record r;

	for (size_t size = 0; size + 2 < sizeof(sound); size++) /* all but } and newline */
		assert_int_equal(record_parse(&r, "r", sound, size, error), RECORD_E_REFUSED);
}

static void keys_of_the_future_are_passed_over(void **state)
{
	char *text = broken("\"overNs\": 900", "\"overNs\": 900, \"moon\": { \"phase\": [ 3 ] }");
	char error[RECORD_ERROR_LEN];
	struct record r;

	assert_int_equal(parse(text, &r, error), 0);
	assert_int_equal(r.over_ns, 900);
	record_done(&r);
	free(text);
}

static void an_absent_file_is_told_apart(void **state)
{
	char error[RECORD_ERROR_LEN];
	struct record r;

	assert_int_equal(record_load(&r, "/nonexistent/r.json", error), RECORD_E_ABSENT);
	assert_string_equal(error, "/nonexistent/r.json: found nothing, expected the record of a "
				   "restore");
}

static char *copy(const char *text)
{
	char *p = strdup(text);

	assert_non_null(p);
	return p;
}

static void make_big(struct record *r, unsigned n_lanes, unsigned n_vfs)
{
	*r = (struct record){ .exec_ns = 1, .n_lanes = n_lanes };
	r->lanes = calloc(n_lanes, sizeof(*r->lanes));
	for (unsigned l = 0; l < n_lanes; l++) {
		struct record_lane *lane = &r->lanes[l];

		*lane = (struct record_lane){ .state = copy("done"),
					      .mode = copy("cold"),
					      .strategy = copy("id"),
					      .num_vfs = n_vfs,
					      .n_vfs = n_vfs };
		lane->vfs = calloc(n_vfs, sizeof(*lane->vfs));
		for (unsigned i = 0; i < n_vfs; i++)
			lane->vfs[i] = (struct record_vf){ .index = i,
							   .state = copy("held"),
							   .owner = copy("vm \"<&>\" \xc3\xa4"),
							   .ready_ns = i };
	}
	record_sum(r);
}

static void five_thousand_vfs_come_back(void **state)
{
	char *text = NULL, error[RECORD_ERROR_LEN];
	struct record r, again;
	size_t size = 0;

	make_big(&r, 20, 250);
	assert_int_equal(r.n_held, 5000);
	assert_int_equal(record_to_text(&r, &text, &size), 0);
	record_done(&r);
	assert_int_equal(record_parse(&again, "big", text, size, error), 0);
	assert_int_equal(again.n_vfs, 5000);
	assert_int_equal(again.n_held, 5000);
	assert_int_equal(record_lane_served(&again.lanes[19]), 250);
	assert_string_equal(record_lane_word(&again.lanes[19]), "done");
	assert_string_equal(again.lanes[19].vfs[249].owner, "vm \"<&>\" \xc3\xa4");
	record_done(&again);
	free(text);
}

static void an_empty_record_is_a_record(void **state)
{
	struct record r = { .exec_ns = 0 }, again;
	char *text = NULL, error[RECORD_ERROR_LEN];
	size_t size = 0;

	assert_int_equal(record_to_text(&r, &text, &size), 0);
	assert_int_equal(record_parse(&again, "empty", text, size, error), 0);
	assert_int_equal(again.n_lanes, 0);
	record_done(&again);
	record_done(&again); /* once more is fine */
	free(text);
}

static void causes_are_known_by_name(void **state)
{
	assert_non_null(record_cause_meaning("stuck"));
	assert_non_null(record_cause_advice("stuck"));
	assert_null(record_cause_meaning("moon-phase"));
	assert_null(record_cause_advice("moon-phase"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_record_is_read),
		cmocka_unit_test(reading_and_writing_are_one_anothers_reverse),
		cmocka_unit_test(no_two_nodes_share_a_key),
		cmocka_unit_test(only_touches_that_were_are_written),
		cmocka_unit_test(a_wrong_record_is_refused_with_the_field),
		cmocka_unit_test(broken_json_is_refused_with_its_line),
		cmocka_unit_test(what_is_no_object_is_refused),
		cmocka_unit_test(no_cut_record_is_taken_for_a_whole),
		cmocka_unit_test(keys_of_the_future_are_passed_over),
		cmocka_unit_test(an_absent_file_is_told_apart),
		cmocka_unit_test(five_thousand_vfs_come_back),
		cmocka_unit_test(an_empty_record_is_a_record),
		cmocka_unit_test(causes_are_known_by_name),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
