/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "record-read.h"
#include "timeline-svg.h"

enum { DEPTH_MAX = 16, NAME_LEN = 16 };

static char *draw(const struct record *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	timeline_svg(r, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static char *draw_partly(void)
{
	char path[512], error[RECORD_ERROR_LEN] = "", *text;
	struct record r;

	(void) snprintf(path, sizeof(path), "%s/corpus/record/partly.json", getenv("TESTS_DIR"));
	if (record_load(&r, path, error))
		fail_msg("%s", error);
	text = draw(&r);
	record_done(&r);
	return text;
}

/* One tag, from behind its '<'; opens and closes elements on the stack. Returns its end. */
static const char *take_tag(const char *p, char stack[DEPTH_MAX][NAME_LEN], unsigned *depth)
{
	const char *end = strchr(p, '>');
	bool closes = *p == '/';
	size_t length = strcspn(p + closes, " />");

	assert_non_null(end);
	assert_true(length > 0 && length < NAME_LEN);
	if (closes) {
		assert_true(*depth > 0);
		assert_int_equal(strlen(stack[*depth - 1]), length);
		assert_memory_equal(stack[*depth - 1], p + 1, length);
		(*depth)--;
	} else if (end[-1] != '/') {
		assert_true(*depth < DEPTH_MAX);
		memcpy(stack[*depth], p, length);
		stack[(*depth)++][length] = '\0';
	}
	return end + 1;
}

/* Elements nest, text has no bare & or <, attributes have their quotes. tests/test-cli.py asks a
 * real XML parser too. */
static void assert_is_xml(const char *text)
{
	static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
	char stack[DEPTH_MAX][NAME_LEN];
	unsigned depth = 0;
	const char *p = text + strlen(head);

	assert_memory_equal(text, head, strlen(head));
	while (*p) {
		if (*p == '<') {
			p = take_tag(p + 1, stack, &depth);
			continue;
		}
		assert_true(*p != '&' || !strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4) ||
			    !strncmp(p, "&amp;", 5) || !strncmp(p, "&quot;", 6));
		assert_true((unsigned char) *p >= 0x20 || *p == '\n');
		p++;
	}
	assert_int_equal(depth, 0);
}

static void a_picture_is_xml(void **state)
{
	char *text = draw_partly();

	assert_is_xml(text);
	free(text);
}

static void it_shows_lanes_steps_vfs_and_owners(void **state)
{
	char *text = draw_partly();

	assert_non_null(strstr(text, ">0000:01:00.0</text>"));
	assert_non_null(strstr(text, "<title>bind-id: 50.100 ms, from 150.400 to 200.500 ms"));
	assert_non_null(strstr(text, "<title>enable (stuck): 498.800 ms"));
	assert_non_null(strstr(text, "<rect class=\"hangs\""));
	assert_non_null(strstr(text, "<title>VF 0 of vm-0000: ready at "));
	assert_non_null(strstr(text, "<title>vm-0001: all 3 VFs ready at "));
	assert_non_null(strstr(text, ">stuck in enable: "));
	assert_non_null(strstr(text, ">4 lack: "));
	free(text);
}

static void a_text_is_escaped(void **state)
{
	char *text = draw_partly(); /* has an interface ens1f0<&> */

	assert_non_null(strstr(text, "ens1f0&lt;&amp;&gt;"));
	assert_null(strstr(text, "f0<&>"));
	free(text);
}

/* What the agent hands over comes from elsewhere; the picture stays one. */
static void strange_names_do_not_break_it(void **state)
{
	char lane_state[] = "done", mode[] = "cold", strategy[] = "id",
	     owner[] = "a\001\"\xef\xbf\xbf>";
	char interface[] = "an-interface-with-a-name-that-has-no-end-\xc3\xa4\xc3\xa4\xc3\xa4";
	struct record_lane lane = {
		.state = lane_state, .mode = mode, .strategy = strategy, .interface = interface
	};
	struct record_owner o = { .name = owner, .n = 1, .n_ready = 1, .ready_ns = 7 };
	struct record r = { .lanes = &lane, .n_lanes = 1, .owners = &o, .n_owners = 1 };
	char *text = draw(&r);

	assert_is_xml(text);
	assert_non_null(strstr(text, "<title>a?&quot;&gt;: all 1 VFs"));
	assert_non_null(strstr(text, ">an-interface-wit… · cold"));
	free(text);
}

static void an_empty_record_is_a_picture(void **state)
{
	const struct record r = { .exec_ns = 0 };
	char *text = draw(&r);

	assert_is_xml(text);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_picture_is_xml),
		cmocka_unit_test(it_shows_lanes_steps_vfs_and_owners),
		cmocka_unit_test(a_text_is_escaped),
		cmocka_unit_test(strange_names_do_not_break_it),
		cmocka_unit_test(an_empty_record_is_a_picture),
	};

	return cmocka_run_group_tests_name("timeline-svg", tests, NULL, NULL);
}
