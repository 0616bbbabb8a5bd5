/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "timeline-svg.h"
#include <inttypes.h>
#include <string.h>
#include "timeline.h"

/* All lengths are px of the viewBox. A row has a bar above and its VFs' dots below it. */
enum {
	WIDTH = 1080,
	LEFT = 236,
	RIGHT = 28,
	CHART = WIDTH - LEFT - RIGHT,
	TOP = 88,
	PHASES_HEIGHT = 30,
	ROW = 46,
	BAR = 13,
	DOTS = 20,
	OWNERS_HEIGHT = 36,
	FOOT = 54,
	TICKS_MAX = 12,
	LABEL_MAX = 24, /* bytes */
};

/* Text and lines turn light where the viewer wants dark; the hues are readable on both. */
static const char style[] =
	"<style>\n"
	"text { font-family: 'DejaVu Sans', Verdana, sans-serif; font-size: 11px; fill: #24292f }\n"
	".mono { font-family: 'DejaVu Sans Mono', Consolas, monospace; font-size: 12px }\n"
	".title { font-size: 17px; font-weight: bold }\n"
	".faint { fill: #6a737d }\n"
	".bad { fill: #cf3a3a }\n"
	".in { fill: #ffffff; font-size: 9.5px }\n"
	".end { text-anchor: end }\n"
	".mid { text-anchor: middle }\n"
	".paper { fill: #ffffff }\n"
	".band { fill: #f5f7f9 }\n"
	".grid { stroke: #d9dee3; stroke-width: 1 }\n"
	".border { stroke: #7d8590; stroke-width: 1; stroke-dasharray: 3 3 }\n"
	".wait { stroke: #9aa5b1; stroke-width: 2 }\n"
	".look { fill: #8593a5 }\n"
	".enable { fill: #3b7dd8 }\n"
	".bind { fill: #8a5cd0 }\n"
	".hangs { fill: #cf3a3a }\n"
	".dot { fill: #22a06b; fill-opacity: 0.75 }\n"
	".owner { fill: #22a06b; fill-opacity: 0.7 }\n"
	".exec { fill: #b6bfc9 }\n"
	".load { fill: #86a7b5 }\n"
	".hot { fill: #3e6f85 }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"text { fill: #e3e8ee }\n"
	".faint { fill: #97a1ac }\n"
	".bad { fill: #ff7b72 }\n"
	".in { fill: #ffffff }\n"
	".paper { fill: #14181d }\n"
	".band { fill: #1b2027 }\n"
	".grid { stroke: #2c333b }\n"
	".exec { fill: #55606b }\n"
	".load { fill: #3f7488 }\n"
	"}\n"
	"</style>\n";

static const char *const sort_classes[] = {
	[TIMELINE_LOOK] = "look",
	[TIMELINE_ENABLE] = "enable",
	[TIMELINE_BIND] = "bind",
};
_Static_assert(ELEMENTSOF(sort_classes) == _TIMELINE_SORT_MAX, "every sort has a class");

struct picture {
	const struct record *record;
	FILE *out;
	struct timeline_scale scale;
	unsigned lanes_top, lanes_bottom, height;
};

static double ms_since(const struct picture *p, uint64_t t)
{
	return t > p->scale.origin_ns ? (double) (t - p->scale.origin_ns) / NSEC_PER_MSEC : 0;
}

static double x_of(const struct picture *p, uint64_t t)
{
	return LEFT + CHART * timeline_fraction(&p->scale, t);
}

/* U+FFFE and U+FFFF are UTF-8 but no XML. */
static bool is_no_character(const char *text)
{
	return !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3);
}

/* Escaped, and cut to about max bytes where a character ends. */
static void put_text(FILE *out, const char *text, size_t max)
{
	for (size_t i = 0; text[i]; i++) {
		unsigned char c = (unsigned char) text[i];

		if (i >= max && (c & 0xc0) != 0x80) {
			fputs("…", out);
			return;
		}
		if (c == '<')
			fputs("&lt;", out);
		else if (c == '>')
			fputs("&gt;", out);
		else if (c == '&')
			fputs("&amp;", out);
		else if (c == '"')
			fputs("&quot;", out);
		else if (c < 0x20 || c == 0x7f)
			fputc('?', out);
		else if (is_no_character(text + i))
			i += 2;
		else
			fputc(c, out);
	}
}

static void put_headline(const struct picture *p)
{
	const struct record *r = p->record;
	time_t at = (time_t) (r->realtime_usec / 1000000);
	struct tm tm;
	char date[64] = "";

	fprintf(p->out, "<text class=\"title\" x=\"20\" y=\"32\">");
	fprintf(p->out, "%u of %u VFs ready %.1f ms after exec</text>\n", r->n_ready + r->n_held,
		r->n_vfs, ms_since(p, r->over_ns));
	if (at && gmtime_r(&at, &tm))
		(void) strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC · ", &tm);
	fprintf(p->out,
		"<text class=\"faint\" x=\"20\" y=\"51\">%smanifest generation %" PRIu64
		" · %u PFs · %u sysfs nodes touched in VF directories · %u writes</text>\n",
		date, r->generation, r->n_lanes, tally_vf_nodes(&r->tally),
		tally_writes(&r->tally));
}

static void put_axis(const struct picture *p)
{
	uint64_t span = p->scale.end_ns - p->scale.origin_ns;

	for (uint64_t t = 0; t <= span; t += p->scale.tick_ns) {
		double x = x_of(p, p->scale.origin_ns + t);

		fprintf(p->out,
			"<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\"/>"
			"<text class=\"faint mid\" x=\"%.1f\" y=\"%d\">%.6g%s</text>\n",
			x, TOP - 8, x, p->lanes_bottom, x, TOP - 13, (double) t / NSEC_PER_MSEC,
			t ? "" : " ms");
	}
}

static void put_phase(const struct picture *p, const char *name, uint64_t from, uint64_t to)
{
	double x = x_of(p, from), w = x_of(p, to) - x;

	if (!from || to < from)
		return;
	fprintf(p->out,
		"<g><title>%s: %.1f ms, from %.1f to %.1f ms</title><rect class=\"%s\" x=\"%.1f\" "
		"y=\"%d\" width=\"%.1f\" height=\"15\" rx=\"2\"/>",
		name, ms_since(p, to) - ms_since(p, from), ms_since(p, from), ms_since(p, to), name,
		x, TOP, w > 1 ? w : 1);
	if (w > 34)
		fprintf(p->out, "<text class=\"in mid\" x=\"%.1f\" y=\"%d\">%s</text>", x + w / 2,
			TOP + 11, name);
	fputs("</g>\n", p->out);
}

static void put_border(const struct picture *p, uint64_t t)
{
	if (!t)
		return;
	fprintf(p->out, "<line class=\"border\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\"/>\n",
		x_of(p, t), TOP, x_of(p, t), p->lanes_bottom);
}

static void put_phases(const struct picture *p)
{
	const struct record *r = p->record;

	fprintf(p->out, "<text class=\"faint\" x=\"20\" y=\"%d\">phases: exec, load, hot</text>\n",
		TOP + 12);
	put_phase(p, "exec", r->exec_ns, r->load_ns);
	put_phase(p, "load", r->load_ns, r->hot_ns);
	put_phase(p, "hot", r->hot_ns, r->over_ns);
	put_border(p, r->load_ns);
	put_border(p, r->hot_ns);
}

static void put_bar(const struct picture *p, const struct record_lane *l,
		    const struct record_step *s, unsigned y)
{
	uint64_t end = timeline_step_end(p->record, l, s);
	double x = x_of(p, s->begun_ns), w = x_of(p, end) - x;
	bool hangs = timeline_step_hangs(l, s);

	fputs("<g><title>", p->out);
	put_text(p->out, s->name, SIZE_MAX);
	fprintf(p->out, "%s: %.3f ms, from %.3f to %.3f ms</title>", hangs ? " (stuck)" : "",
		(double) (end - s->begun_ns) / NSEC_PER_MSEC, ms_since(p, s->begun_ns),
		ms_since(p, end));
	fprintf(p->out,
		"<rect class=\"%s\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"2\"/>",
		hangs ? "hangs" : sort_classes[timeline_sort_of(s)], x, y, w > 1 ? w : 1, BAR);
	if (w > 14 + 6 * (double) strlen(s->name)) {
		fprintf(p->out, "<text class=\"in mid\" x=\"%.1f\" y=\"%u\">", x + w / 2, y + 10);
		put_text(p->out, s->name, LABEL_MAX);
		fputs("</text>", p->out);
	}
	fputs("</g>\n", p->out);
}

static void put_dot(const struct picture *p, const struct record_vf *v, double x, double y)
{
	fprintf(p->out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"><title>VF %u", x, y,
		v->index);
	if (v->owner) {
		fputs(" of ", p->out);
		put_text(p->out, v->owner, SIZE_MAX);
	}
	fprintf(p->out, ": ready at %.3f ms</title></circle>\n", ms_since(p, v->ready_ns));
}

/* The dots rise from the row's foot as VFs get ready in their order: a steep line is a fast one. */
static void put_dots(const struct picture *p, const struct record_lane *l, unsigned y)
{
	for (unsigned i = 0; i < l->n_vfs; i++) {
		const struct record_vf *v = &l->vfs[i];
		double share = l->n_vfs > 1 ? (double) i / (l->n_vfs - 1) : 0.5;

		if (v->ready_ns)
			put_dot(p, v, x_of(p, v->ready_ns), y + DOTS * (1 - share));
	}
}

static void put_label(const struct picture *p, const struct record_lane *l, unsigned y)
{
	char pf[BDF_STRLEN + 1];
	unsigned served = record_lane_served(l);
	bool bad = served < l->n_vfs || strcmp(l->state, "done");

	bdf_format(l->pf, pf);
	fprintf(p->out, "<text class=\"mono\" x=\"20\" y=\"%u\">%s</text>", y + 14, pf);
	fprintf(p->out, "<text class=\"mono end%s\" x=\"%d\" y=\"%u\">%u/%u</text>",
		bad ? " bad" : "", LEFT - 16, y + 14, served, l->n_vfs);
	fprintf(p->out, "<text class=\"faint\" x=\"20\" y=\"%u\">", y + 30);
	if (l->interface) {
		put_text(p->out, l->interface, 16);
		fputs(" · ", p->out);
	}
	put_text(p->out, l->mode, LABEL_MAX);
	fputs(" · ", p->out);
	put_text(p->out, l->strategy, LABEL_MAX);
	fprintf(p->out, "</text><text class=\"end %s\" x=\"%d\" y=\"%u\">", bad ? "bad" : "faint",
		LEFT - 16, y + 30);
	put_text(p->out, record_lane_word(l), LABEL_MAX);
	fputs("</text>\n", p->out);
}

static void put_step_in(const struct picture *p, const struct record_lane *l)
{
	for (unsigned i = 0; i < l->n_steps; i++) {
		if (!timeline_step_hangs(l, &l->steps[i]))
			continue;
		fputs(" in ", p->out);
		put_text(p->out, l->steps[i].name, LABEL_MAX);
	}
}

/* The cause of the first VF that lacks; n says how many do. */
static const char *first_cause(const struct record_lane *l, unsigned *ret_n)
{
	const char *first = NULL;

	*ret_n = 0;
	for (unsigned i = 0; i < l->n_vfs; i++) {
		if (strcmp(l->vfs[i].state, "lacks"))
			continue;
		if (!first)
			first = l->vfs[i].cause;
		(*ret_n)++;
	}
	return first;
}

static void put_cause(const struct picture *p, const struct record_lane *l, unsigned y)
{
	const char *cause, *meaning;
	unsigned n_lack;

	cause = first_cause(l, &n_lack);
	if (l->cause)
		cause = l->cause;
	if (!cause)
		return;
	meaning = record_cause_meaning(cause);
	fprintf(p->out, "<text class=\"bad\" x=\"%.1f\" y=\"%u\">",
		LEFT + 4 + CHART * timeline_fraction(&p->scale, p->record->hot_ns), y);
	if (l->cause) {
		put_text(p->out, l->state, LABEL_MAX);
		put_step_in(p, l);
	} else {
		fprintf(p->out, "%u lack", n_lack);
	}
	fputs(": ", p->out);
	put_text(p->out, meaning ? meaning : cause, 120);
	fputs("</text>\n", p->out);
}

static void put_lane(const struct picture *p, unsigned i)
{
	const struct record_lane *l = &p->record->lanes[i];
	unsigned y = p->lanes_top + i * ROW;
	uint64_t end = l->over_ns ? l->over_ns : p->record->over_ns;

	put_label(p, l, y);
	if (l->admitted_ns && end > l->admitted_ns)
		fprintf(p->out, "<path class=\"wait\" d=\"M%.1f %.1fH%.1f\"/>\n",
			x_of(p, l->admitted_ns), y + 4 + BAR / 2.0, x_of(p, end));
	for (unsigned s = 0; s < l->n_steps; s++)
		put_bar(p, l, &l->steps[s], y + 4);
	put_dots(p, l, y + 4 + BAR + 5);
	put_cause(p, l, y + 4 + BAR + 17);
}

static void put_bands(const struct picture *p)
{
	for (unsigned i = 0; i < p->record->n_lanes; i += 2)
		fprintf(p->out,
			"<rect class=\"band\" x=\"10\" y=\"%u\" width=\"%d\" height=\"%d\"/>\n",
			p->lanes_top + i * ROW, WIDTH - 20, ROW);
}

static void put_owner(const struct picture *p, const struct record_owner *o, unsigned y)
{
	double x = x_of(p, o->ready_ns);

	fprintf(p->out, "<path class=\"owner\" d=\"M%.1f %uL%.1f %uH%.1fZ\"><title>", x, y, x + 4,
		y + 8, x - 4);
	put_text(p->out, o->name, SIZE_MAX);
	fprintf(p->out, ": all %u VFs ready at %.3f ms</title></path>\n", o->n,
		ms_since(p, o->ready_ns));
}

static void put_owners(const struct picture *p)
{
	const struct record *r = p->record;
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_owners; i++) {
		if (!r->owners[i].ready_ns)
			continue;
		put_owner(p, &r->owners[i], p->lanes_bottom + 10);
		n++;
	}
	fprintf(p->out,
		"<text x=\"20\" y=\"%u\">owners ready</text>"
		"<text class=\"mono end%s\" x=\"%d\" y=\"%u\">%u/%u</text>\n",
		p->lanes_bottom + 19, n < r->n_owners ? " bad" : "", LEFT - 16,
		p->lanes_bottom + 19, n, r->n_owners);
}

static void put_legend(const struct picture *p)
{
	static const struct {
		const char *class, *word;
	} entries[] = {
		{ "look", "look, layout" },
		{ "enable", "enable" },
		{ "bind", "bind" },
		{ "hangs", "stuck" },
	};
	unsigned y = p->height - 24, x = LEFT;

	for (unsigned i = 0; i < ELEMENTSOF(entries); i++, x += 104)
		fprintf(p->out,
			"<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" rx=\"2\"/>"
			"<text class=\"faint\" x=\"%u\" y=\"%u\">%s</text>\n",
			entries[i].class, x, y - 10, x + 17, y, entries[i].word);
	fprintf(p->out,
		"<circle class=\"dot\" cx=\"%u\" cy=\"%u\" r=\"3\"/>"
		"<text class=\"faint\" x=\"%u\" y=\"%u\">VF ready</text>\n",
		x + 5, y - 4, x + 14, y);
	fprintf(p->out,
		"<path class=\"owner\" d=\"M%u %uL%u %uH%uZ\"/>"
		"<text class=\"faint\" x=\"%u\" y=\"%u\">owner has all of its VFs</text>\n",
		x + 94, y - 9, x + 98, y - 1, x + 90, x + 104, y);
}

void timeline_svg(const struct record *r, FILE *out)
{
	struct picture p = { .record = r, .out = out };

	timeline_scale(r, TICKS_MAX, &p.scale);
	p.lanes_top = TOP + PHASES_HEIGHT;
	p.lanes_bottom = p.lanes_top + r->n_lanes * ROW;
	p.height = p.lanes_bottom + OWNERS_HEIGHT + FOOT;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" "
		"height=\"%u\">\n<title>vf-restore: timeline of a restore</title>\n%s"
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		WIDTH, p.height, WIDTH, p.height, style);
	put_bands(&p);
	put_headline(&p);
	put_axis(&p);
	put_phases(&p);
	for (unsigned i = 0; i < r->n_lanes; i++)
		put_lane(&p, i);
	put_owners(&p);
	put_legend(&p);
	fputs("</svg>\n", out);
}
