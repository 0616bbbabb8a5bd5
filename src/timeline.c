/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "timeline.h"
#include <langinfo.h>
#include <string.h>
#include "plan.h"

static const enum timeline_sort sorts[] = {
	[STEP_LOOK] = TIMELINE_LOOK,      [STEP_COUNT] = TIMELINE_LOOK,
	[STEP_AUTOPROBE] = TIMELINE_LOOK, [STEP_ID] = TIMELINE_LOOK,
	[STEP_ENABLE] = TIMELINE_ENABLE,  [STEP_LAYOUT] = TIMELINE_LOOK,
	[STEP_SURVEY] = TIMELINE_LOOK,    [STEP_BIND_OVERRIDE] = TIMELINE_BIND,
	[STEP_BIND_ID] = TIMELINE_BIND,   [STEP_AUTOPROBE_BACK] = TIMELINE_LOOK,
};
_Static_assert(ELEMENTSOF(sorts) == _STEP_MAX, "every step is of a sort");

/* What a column of the chart shows. The sorts of steps come first, as they are numbered. */
enum cell {
	CELL_WAITS = _TIMELINE_SORT_MAX,
	CELL_HANGS,
	CELL_READY,
	CELL_EXEC,
	CELL_LOAD,
	CELL_HOT,
	CELL_EMPTY,
	_CELL_MAX,
};

static const struct {
	const char *block, *ascii, *colour, *word;
} cells[] = {
	[TIMELINE_LOOK] = { "░", "l", "90", "look" },
	[TIMELINE_ENABLE] = { "▒", "E", "34", "enable" },
	[TIMELINE_BIND] = { "█", "B", "35", "bind" },
	[CELL_WAITS] = { "·", ".", "90", "wait" },
	[CELL_HANGS] = { "╳", "!", "31", "stuck" },
	[CELL_READY] = { "▲", "^", "32", "owner ready" },
	[CELL_EXEC] = { "┄", "~", "90", "exec" },
	[CELL_LOAD] = { "─", "-", "36", "load" },
	[CELL_HOT] = { "━", "=", "36", "hot" },
	[CELL_EMPTY] = { " ", " ", NULL, NULL },
};
_Static_assert(ELEMENTSOF(cells) == _CELL_MAX, "every cell has a look");

enum { COLUMNS_MIN = 20, COLUMNS_MAX = 512, STATE_WIDTH = 7 };

struct chart {
	const struct record *record;
	FILE *out;
	struct timeline_scale scale;
	unsigned columns; /* of the chart itself */
	unsigned pf_width, count_width, label_width;
	bool blocks, colour;
};

static double ms(uint64_t ns)
{
	return (double) ns / NSEC_PER_MSEC;
}

enum timeline_sort timeline_sort_of(const struct record_step *s)
{
	for (unsigned kind = 0; kind < _STEP_MAX; kind++)
		if (!strcmp(step_name(kind), s->name))
			return sorts[kind];
	return TIMELINE_LOOK;
}

bool timeline_step_hangs(const struct record_lane *l, const struct record_step *s)
{
	return !s->done_ns && !strcmp(l->state, "stuck");
}

uint64_t timeline_step_end(const struct record *r, const struct record_lane *l,
			   const struct record_step *s)
{
	uint64_t end = s->done_ns;

	if (!end && !timeline_step_hangs(l, s))
		end = l->over_ns;
	if (!end)
		end = r->over_ns;
	return end > s->begun_ns ? end : s->begun_ns;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t last_of(const struct record *r)
{
	uint64_t last = later(later(r->load_ns, r->hot_ns), r->over_ns);

	for (unsigned i = 0; i < r->n_owners; i++)
		last = later(last, r->owners[i].ready_ns);
	for (unsigned i = 0; i < r->n_lanes; i++) {
		const struct record_lane *l = &r->lanes[i];

		last = later(last, l->over_ns);
		for (unsigned k = 0; k < l->n_steps; k++)
			last = later(last, timeline_step_end(r, l, &l->steps[k]));
	}
	return last;
}

void timeline_scale(const struct record *r, unsigned max_ticks, struct timeline_scale *ret)
{
	static const unsigned factors[] = { 2, 5, 10 };
	uint64_t last = last_of(r), power = 1, tick = 1, span;

	ret->origin_ns = r->exec_ns;
	ret->end_ns = last > r->exec_ns ? last : r->exec_ns + 1;
	span = ret->end_ns - ret->origin_ns;
	for (unsigned i = 0; span / tick > max_ticks; i = (i + 1) % ELEMENTSOF(factors)) {
		tick = power * factors[i];
		if (factors[i] == 10)
			power = tick;
	}
	ret->tick_ns = tick;
}

double timeline_fraction(const struct timeline_scale *s, uint64_t t)
{
	if (t <= s->origin_ns)
		return 0;
	if (t >= s->end_ns)
		return 1;
	return (double) (t - s->origin_ns) / (double) (s->end_ns - s->origin_ns);
}

/* --- the terminal's chart --- */

static unsigned column_of(const struct chart *c, uint64_t t)
{
	unsigned column = (unsigned) (timeline_fraction(&c->scale, t) * c->columns);

	return column < c->columns ? column : c->columns - 1;
}

static void put_cells(const struct chart *c, const unsigned char *row)
{
	const char *now = NULL;
	unsigned end = c->columns;

	while (end && row[end - 1] == CELL_EMPTY)
		end--;
	for (unsigned i = 0; i < end; i++) {
		const char *colour = c->colour ? cells[row[i]].colour : NULL;

		if (now && now != colour)
			fputs("\033[0m", c->out);
		if (colour && now != colour)
			fprintf(c->out, "\033[%sm", colour);
		fputs(c->blocks ? cells[row[i]].block : cells[row[i]].ascii, c->out);
		now = colour;
	}
	fputs(now ? "\033[0m\n" : "\n", c->out);
}

static double overlap(double from, double to, double low, double high)
{
	double begin = from > low ? from : low, end = to < high ? to : high;

	return end - begin;
}

/* What took most of the time of one column; a step that took none shows where nothing else is. */
static unsigned char lane_cell(const struct chart *c, const struct record_lane *l, unsigned column)
{
	double low = (double) column / c->columns, high = (double) (column + 1) / c->columns;
	double longest = -1;
	unsigned char cell = CELL_EMPTY;

	if (l->admitted_ns && column >= column_of(c, l->admitted_ns) &&
	    column <= column_of(c, l->over_ns ? l->over_ns : c->scale.end_ns))
		cell = CELL_WAITS;
	for (unsigned i = 0; i < l->n_steps; i++) {
		const struct record_step *s = &l->steps[i];
		uint64_t end = timeline_step_end(c->record, l, s);
		double share = overlap(timeline_fraction(&c->scale, s->begun_ns),
				       timeline_fraction(&c->scale, end), low, high);

		if (share < 0 || share <= longest)
			continue;
		longest = share;
		cell = timeline_step_hangs(l, s) ? CELL_HANGS : timeline_sort_of(s);
	}
	return cell;
}

static void put_label(const struct chart *c, const char *name, unsigned n, unsigned of,
		      const char *state)
{
	bool bad = strcmp(state, "done") && state[0] && c->colour;
	char count[32] = "";

	if (of)
		(void) snprintf(count, sizeof(count), "%u/%u", n, of);
	fprintf(c->out, "%-*s %*s  %s%-*s%s ", (int) c->pf_width, name, (int) c->count_width, count,
		bad ? "\033[31m" : "", STATE_WIDTH, state, bad ? "\033[0m" : "");
}

static void put_step(const struct chart *c, const struct record_lane *l,
		     const struct record_step *s)
{
	uint64_t end = timeline_step_end(c->record, l, s);
	unsigned char row[COLUMNS_MAX];
	unsigned first = column_of(c, s->begun_ns), last = column_of(c, end);
	int width = (int) c->label_width - 6;

	memset(row, CELL_EMPTY, sizeof(row));
	for (unsigned i = first; i <= last; i++)
		row[i] = timeline_step_hangs(l, s) ? CELL_HANGS : timeline_sort_of(s);
	fprintf(c->out, "  %-15.15s%*.1f ms ", s->name, width - 15 > 0 ? width - 15 : 1,
		ms(end - s->begun_ns));
	put_cells(c, row);
}

static void put_lane(const struct chart *c, const struct record_lane *l, bool steps)
{
	char pf[BDF_STRLEN + 1];
	unsigned char row[COLUMNS_MAX];

	for (unsigned i = 0; i < c->columns; i++)
		row[i] = lane_cell(c, l, i);
	bdf_format(l->pf, pf);
	put_label(c, pf, record_lane_served(l), l->n_vfs, record_lane_word(l));
	put_cells(c, row);
	for (unsigned i = 0; steps && i < l->n_steps; i++)
		put_step(c, l, &l->steps[i]);
}

static void put_owners(const struct chart *c)
{
	unsigned char row[COLUMNS_MAX];
	unsigned n = 0;

	if (!c->record->n_owners)
		return;
	memset(row, CELL_EMPTY, sizeof(row));
	for (unsigned i = 0; i < c->record->n_owners; i++) {
		const struct record_owner *o = &c->record->owners[i];

		if (!o->ready_ns)
			continue;
		row[column_of(c, o->ready_ns)] = CELL_READY;
		n++;
	}
	put_label(c, "owners ready", n, c->record->n_owners, "");
	put_cells(c, row);
}

static void put_phases(const struct chart *c)
{
	const struct record *r = c->record;
	uint64_t hot = r->hot_ns ? r->hot_ns : r->over_ns, load = r->load_ns ? r->load_ns : hot;
	unsigned char row[COLUMNS_MAX];

	memset(row, CELL_EMPTY, sizeof(row));
	for (unsigned i = 0; i <= column_of(c, load); i++)
		row[i] = CELL_EXEC;
	for (unsigned i = column_of(c, load); i <= column_of(c, hot); i++)
		row[i] = CELL_LOAD;
	for (unsigned i = column_of(c, hot); i <= column_of(c, r->over_ns); i++)
		row[i] = CELL_HOT;
	put_label(c, "phases", 0, 0, "");
	put_cells(c, row);
}

/* Two lines: times, and below each the mark of its column. */
static void put_axis(const struct chart *c)
{
	char marks[COLUMNS_MAX + 1], label[32];
	unsigned at = 0;

	memset(marks, ' ', sizeof(marks));
	fprintf(c->out, "%*s", (int) c->label_width, "");
	for (uint64_t t = 0; t <= c->scale.end_ns - c->scale.origin_ns; t += c->scale.tick_ns) {
		unsigned column = column_of(c, c->scale.origin_ns + t);
		int n = snprintf(label, sizeof(label), "%.6g%s", ms(t), t ? "" : " ms");

		marks[column] = '|';
		if (column < at || column + (unsigned) n > c->columns)
			continue;
		fprintf(c->out, "%*s%s", (int) (column - at), "", label);
		at = column + (unsigned) n;
	}
	for (at = c->columns; marks[at - 1] == ' '; at--)
		;
	marks[at] = '\0';
	fprintf(c->out, "\n%*s%s\n", (int) c->label_width, "", marks);
}

static void put_legend(const struct chart *c)
{
	const char *separator = "\n";

	for (unsigned i = 0; i < CELL_EMPTY; i++) {
		bool colour = c->colour && cells[i].colour;

		fprintf(c->out, "%s%s%s%s%s%s %s", separator, colour ? "\033[" : "",
			colour ? cells[i].colour : "", colour ? "m" : "",
			c->blocks ? cells[i].block : cells[i].ascii, colour ? "\033[0m" : "",
			cells[i].word);
		separator = i + 1 == CELL_EXEC ? "\n" : "  ";
	}
	fputs("\n", c->out);
}

/* Why a lane did not end well: its line in the chart only says that. */
static void put_note(const struct chart *c, const struct record_lane *l)
{
	const char *meaning = l->cause ? record_cause_meaning(l->cause) : NULL;
	char pf[BDF_STRLEN + 1];

	if (!l->cause)
		return;
	bdf_format(l->pf, pf);
	fprintf(c->out, "%s %s", pf, l->state);
	for (unsigned i = 0; i < l->n_steps; i++)
		if (timeline_step_hangs(l, &l->steps[i]))
			fprintf(c->out, " in %s", l->steps[i].name);
	fprintf(c->out, ": %s%s%s\n", meaning ? meaning : l->cause, l->found ? ", found " : "",
		l->found ? l->found : "");
}

static void put_headline(const struct chart *c)
{
	const struct record *r = c->record;
	uint64_t span = r->over_ns > r->exec_ns ? r->over_ns - r->exec_ns : 0;

	fprintf(c->out, "%u of %u VFs ready %.1f ms after exec", r->n_ready + r->n_held, r->n_vfs,
		ms(span));
	if (r->load_ns >= r->exec_ns && r->hot_ns >= r->load_ns && r->over_ns >= r->hot_ns)
		fprintf(c->out, " (exec %.1f, load %.1f, hot %.1f)", ms(r->load_ns - r->exec_ns),
			ms(r->hot_ns - r->load_ns), ms(r->over_ns - r->hot_ns));
	fputs("\n\n", c->out);
}

/* How wide the labels must be, and what is left of `width` for the chart. */
static void lay_out(struct chart *c, unsigned width)
{
	const struct record *r = c->record;
	char text[32];

	c->pf_width = sizeof("owners ready") - 1;
	c->count_width = (unsigned) snprintf(text, sizeof(text), "%u/%u", r->n_owners, r->n_owners);
	for (unsigned i = 0; i < r->n_lanes; i++) {
		unsigned n = r->lanes[i].n_vfs;
		unsigned pf = (unsigned) bdf_format(r->lanes[i].pf, text);
		unsigned count = (unsigned) snprintf(text, sizeof(text), "%u/%u", n, n);

		c->pf_width = pf > c->pf_width ? pf : c->pf_width;
		c->count_width = count > c->count_width ? count : c->count_width;
	}
	c->label_width = c->pf_width + 1 + c->count_width + 2 + STATE_WIDTH + 1;
	c->columns = width > c->label_width + COLUMNS_MIN ? width - c->label_width : COLUMNS_MIN;
	if (c->columns > COLUMNS_MAX)
		c->columns = COLUMNS_MAX;
}

void timeline_print(const struct record *r, FILE *out, unsigned width, bool colour, bool steps)
{
	struct chart c = {
		.record = r,
		.out = out,
		.colour = colour,
		.blocks = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};

	lay_out(&c, width);
	timeline_scale(r, c.columns / 10, &c.scale);
	put_headline(&c);
	put_axis(&c);
	put_phases(&c);
	for (unsigned i = 0; i < r->n_lanes; i++)
		put_lane(&c, &r->lanes[i], steps);
	put_owners(&c);
	put_legend(&c);
	for (unsigned i = 0; i < r->n_lanes; i++)
		put_note(&c, &r->lanes[i]);
}
