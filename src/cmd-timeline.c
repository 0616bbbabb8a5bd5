/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include "cmd.h"
#include "record-read.h"
#include "record-save.h"
#include "timeline.h"
#include "timeline-svg.h"
#include "vf-restore.h"

static const char help[] =
	"Usage: vf-restore timeline [OPTIONS]\n"
	"\n"
	"Draws when a restore did what: a line a PF.\n"
	"\n"
	"  --record FILE      of this restore, instead of the last (" VF_RESTORE_RECORD ")\n"
	"  --steps            a line a step as well\n"
	"  --svg              a picture instead of a chart for the terminal\n"
	"  --json             the record itself\n"
	"  -o, --output FILE  into FILE; - for the standard output\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 5 the record is unsound.\n";

struct timeline_options {
	const char *record, *output;
	bool steps, svg, json, help;
};

static int refuse(const char *what, const char *value)
{
	(void) fprintf(stderr, "vf-restore: timeline: %s%s; see --help\n", what, value);
	return VF_RESTORE_EXIT_USAGE;
}

static bool take_option(struct timeline_options *o, int c)
{
	switch (c) {
	case 'r':
		o->record = optarg;
		return true;
	case 'o':
		o->output = optarg;
		return true;
	case 's':
		o->steps = true;
		return true;
	case 'g':
		o->svg = true;
		return true;
	case 'j':
		o->json = true;
		return true;
	case 'h':
		o->help = true;
		return true;
	default:
		return false;
	}
}

static int parse_options(int argc, char *argv[], struct timeline_options *o)
{
	static const struct option options[] = {
		{ "record", required_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'o' },
		{ "steps", no_argument, NULL, 's' },
		{ "svg", no_argument, NULL, 'g' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) >= 0)
		if (!take_option(o, c))
			return VF_RESTORE_EXIT_USAGE;
	if (optind < argc)
		return refuse("unexpected argument ", argv[optind]);
	if (o->svg && o->json)
		return refuse("--svg and --json are two forms", ": choose one");
	return 0;
}

static unsigned columns_of(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

static bool wants_colour(FILE *out)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fileno(out)) && term && strcmp(term, "dumb") && !(no && no[0]);
}

static int draw(const struct record *r, const struct timeline_options *o, FILE *out)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size = 0;
	int q;

	if (o->svg) {
		timeline_svg(r, out);
		return 0;
	}
	if (!o->json) {
		timeline_print(r, out, columns_of(out), wants_colour(out), o->steps);
		return 0;
	}
	q = record_to_text(r, &text, &size);
	if (!q)
		(void) fwrite(text, 1, size, out); /* whoever closes it looks at its errors */
	return q;
}

static int fail(const char *path, int error)
{
	(void) fprintf(stderr, "vf-restore: Failed to write %s: %s\n", path, strerror(error));
	return VF_RESTORE_EXIT_FAILED;
}

static int draw_into_file(const struct record *r, const struct timeline_options *o)
{
	FILE *out = fopen(o->output, "we");
	int q;

	if (!out)
		return fail(o->output, errno);
	q = draw(r, o, out);
	if (fflush(out) && !q)
		q = -errno;
	(void) fclose(out); /* flushed: nothing is left to fail */
	return q ? fail(o->output, -q) : VF_RESTORE_EXIT_DONE;
}

static int load(struct record *ret, const char *path)
{
	char error[RECORD_ERROR_LEN] = "";
	int r = record_load(ret, path, error);

	if (!r)
		return 0;
	if (r < 0)
		(void) snprintf(error, sizeof(error), "Failed to read %.200s: %s", path,
				strerror(-r)); /* cut at worst */
	(void) fprintf(stderr, "vf-restore: %s%s\n", error,
		       r == RECORD_E_ABSENT ? "; `vf-restore restore` writes it" : "");
	return r == RECORD_E_REFUSED ? VF_RESTORE_EXIT_REFUSED : VF_RESTORE_EXIT_FAILED;
}

int cmd_timeline(int argc, char *argv[])
{
	_cleanup_(record_done) struct record record = { .n_lanes = 0 };
	struct timeline_options o = { .record = VF_RESTORE_RECORD, .output = "-" };
	int r = parse_options(argc, argv, &o);

	if (r)
		return r;
	if (o.help) {
		(void) fputs(help, stdout); /* main looks at stdout's errors */
		return VF_RESTORE_EXIT_DONE;
	}
	r = load(&record, o.record);
	if (r)
		return r;
	if (strcmp(o.output, "-"))
		return draw_into_file(&record, &o);
	r = draw(&record, &o, stdout);
	return r ? fail("the record", -r) : VF_RESTORE_EXIT_DONE;
}
