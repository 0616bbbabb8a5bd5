/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "record-read.h"
#include "timeline.h"

/* Five lanes: done, partly, stuck, warm with held VFs, refused. */
static void load(struct record *ret)
{
	char path[512], error[RECORD_ERROR_LEN] = "";

	(void) snprintf(path, sizeof(path), "%s/corpus/record/partly.json", getenv("TESTS_DIR"));
	if (record_load(ret, path, error))
		fail_msg("%s", error);
}

static char *print(const struct record *r, unsigned width, bool colour, bool steps)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	timeline_print(r, out, width, colour, steps);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The golden chart, and why lanes ended badly below it. */
static void assert_printed(const char *golden, unsigned width, bool steps)
{
	char *expected = NULL, *text;
	struct record r;

	load(&r);
	text = print(&r, width, false, steps);
	assert_true(asprintf(&expected,
			     "%s0000:03:00.0 stuck in enable: %s\n"
			     "0000:3c:00.0 refused: %s, found 8\n",
			     golden, record_cause_meaning("stuck"),
			     record_cause_meaning("number-differs")) > 0);
	assert_string_equal(text, expected);
	free(expected);
	free(text);
	record_done(&r);
}

static void a_chart_has_a_line_a_lane(void **state)
{
	assert_non_null(setlocale(LC_CTYPE, "C"));
	assert_printed(
		"23 of 33 VFs ready 531.0 ms after exec (exec 4.0, load 27.0, hot 500.0)\n"
		"\n"
		"                            0 ms     100       200       300       400      500\n"
		"                            |        |         |         |         |        |\n"
		"phases                      ---=================================================\n"
		"0000:01:00.0 16/16  done       EEEEEEEEEEEEBBBBB\n"
		"0000:02:00.0   3/7  partly     EEEEEEEEEEEEEEEEEEEBBBBBBBBBB\n"
		"0000:03:00.0   0/4  stuck      !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!\n"
		"0000:3b:00.0   4/4  done       l\n"
		"0000:3c:00.0   0/2  refused    l\n"
		"owners ready  6/10             ^              ^^   ^^\n"
		"\n"
		"l look  E enable  B bind  . wait  ! stuck  ^ owner ready\n"
		"~ exec  - load  = hot\n",
		80, false);
}

static void it_shades_where_the_locale_can(void **state)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_printed("23 of 33 VFs ready 531.0 ms after exec (exec 4.0, load 27.0, hot 500.0)\n"
		       "\n"
		       "                            0 ms        200         400\n"
		       "                            |           |           |\n"
		       "phases                      ─━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━\n"
		       "0000:01:00.0 16/16  done     ▒▒▒▒▒▒▒▒████\n"
		       "0000:02:00.0   3/7  partly   ▒▒▒▒▒▒▒▒▒▒▒▒███████\n"
		       "0000:03:00.0   0/4  stuck    ╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳\n"
		       "0000:3b:00.0   4/4  done     ░░\n"
		       "0000:3c:00.0   0/2  refused  ░░\n"
		       "owners ready  6/10            ▲        ▲  ▲▲\n"
		       "\n"
		       "░ look  ▒ enable  █ bind  · wait  ╳ stuck  ▲ owner ready\n"
		       "┄ exec  ─ load  ━ hot\n",
		       60, false);
}

static void steps_have_lines_of_their_own(void **state)
{
	struct record r;
	char *text;

	assert_non_null(setlocale(LC_CTYPE, "C"));
	load(&r);
	text = print(&r, 80, false, true);
	assert_non_null(strstr(text, "\n  enable           118.4 ms    EEEEEEEEEEEE\n"
				     "  layout             0.2 ms               l\n"
				     "  bind-id           50.1 ms               BBBBBB\n"));
	assert_non_null(strstr(text, "\n  enable           498.8 ms    !!!!"));
	free(text);
	record_done(&r);
}

/* Columns, not bytes: in ASCII they are the same. */
static void no_line_is_wider_than_the_terminal(void **state)
{
	struct record r;

	assert_non_null(setlocale(LC_CTYPE, "C"));
	load(&r);
	free(r.lanes[2].cause); /* notes are sentences, and may wrap */
	free(r.lanes[4].cause);
	r.lanes[2].cause = r.lanes[4].cause = NULL;
	for (unsigned width = 80; width < 1000; width += 37) {
		char *text = print(&r, width, false, true);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= width);
		free(text);
	}
	record_done(&r);
}

static void colours_are_codes_only_when_asked_for(void **state)
{
	struct record r;
	char *text;

	load(&r);
	text = print(&r, 80, true, false);
	assert_non_null(strstr(text, "\033[31mstuck  \033[0m"));
	free(text);
	text = print(&r, 80, false, false);
	assert_null(strchr(text, '\033'));
	free(text);
	record_done(&r);
}

static void an_empty_record_has_a_chart(void **state)
{
	const struct record r = { .exec_ns = 5 };
	char *text = print(&r, 0, true, true);

	assert_non_null(strstr(text, "0 of 0 VFs ready"));
	free(text);
}

static void ticks_are_round(void **state)
{
	static const struct {
		uint64_t span, tick;
	} rows[] = { { 1, 1 },
		     { 10, 2 },
		     { 11, 2 },
		     { 99, 20 },
		     { 531000000, 100000000 },
		     { 1250000000, 200000000 } };
	struct timeline_scale s;

	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		const struct record r = { .exec_ns = 1000, .over_ns = 1000 + rows[i].span };

		timeline_scale(&r, 6, &s);
		assert_int_equal(s.tick_ns, rows[i].tick);
		assert_int_equal(s.end_ns - s.origin_ns, rows[i].span);
	}
}

static void a_time_outside_lies_at_the_edge(void **state)
{
	const struct timeline_scale s = { .origin_ns = 100, .end_ns = 200, .tick_ns = 10 };

	assert_true(timeline_fraction(&s, 0) == 0);
	assert_true(timeline_fraction(&s, 150) == 0.5);
	assert_true(timeline_fraction(&s, 201) == 1);
}

static void a_step_without_an_end_ends_with_its_lane(void **state)
{
	char done[] = "done", stuck[] = "stuck", name[] = "enable";
	const struct record r = { .over_ns = 900 };
	struct record_lane lane = { .state = done, .over_ns = 500 };
	const struct record_step open = { name, 300, 0 }, closed = { name, 300, 400 },
				 backwards = { name, 300, 200 };

	assert_int_equal(timeline_step_end(&r, &lane, &closed), 400);
	assert_int_equal(timeline_step_end(&r, &lane, &backwards), 300);
	assert_int_equal(timeline_step_end(&r, &lane, &open), 500);
	assert_false(timeline_step_hangs(&lane, &open));
	lane.state = stuck;
	assert_true(timeline_step_hangs(&lane, &open));
	assert_false(timeline_step_hangs(&lane, &closed));
	assert_int_equal(timeline_step_end(&r, &lane, &open), 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chart_has_a_line_a_lane),
		cmocka_unit_test(it_shades_where_the_locale_can),
		cmocka_unit_test(steps_have_lines_of_their_own),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(colours_are_codes_only_when_asked_for),
		cmocka_unit_test(an_empty_record_has_a_chart),
		cmocka_unit_test(ticks_are_round),
		cmocka_unit_test(a_time_outside_lies_at_the_edge),
		cmocka_unit_test(a_step_without_an_end_ends_with_its_lane),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
