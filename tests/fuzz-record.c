/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text for a record: what is taken for sound is written and read again to the same text, and
 * can be drawn and reported. */
#include <stdio.h>
#include <string.h>
#include "record-read.h"
#include "record-save.h"
#include "report.h"
#include "timeline.h"
#include "timeline-svg.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void draw(const struct record *r)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out);
	timeline_print(r, out, 80, true, true);
	timeline_svg(r, out);
	report_record(r, out);
	assert(!fclose(out));
}

static char *write_and_read(const struct record *r, struct record *ret)
{
	char error[RECORD_ERROR_LEN], *text = NULL;
	size_t size = 0;
	int q = record_to_text(r, &text, &size);

	assert(!q && text[size - 1] == '\n' && strlen(text) == size);
	q = record_parse(ret, "again", text, size, error);
	assert(!q);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	_cleanup_(free_pointer) char *first = NULL, *second = NULL;
	_cleanup_(record_done) struct record r = { .n_lanes = 0 }, again = { .n_lanes = 0 },
					     third = { .n_lanes = 0 };
	char error[RECORD_ERROR_LEN] = "";
	int q = record_parse(&r, "fuzz", (const char *) input, size, error);

	assert(!q == !error[0]);
	if (q)
		return 0;
	draw(&r);
	first = write_and_read(&r, &again);
	second = write_and_read(&again, &third);
	assert(!strcmp(first, second));
	return 0;
}
