/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"
#include <string.h>
#include "plan.h"
#include "record-fields.h"
#include "vf-set.h"

enum { OWNERS_MAX = 8, PFS_MAX = 4 }; /* named one by one before "and N more" */

static double ms(uint64_t from, uint64_t to)
{
	return to > from ? (double) (to - from) / NSEC_PER_MSEC : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* --- the table --- */

/* Sum of the lane's steps of two kinds; 0: none of them came to its end. */
static double step_ms(const struct record_lane *l, enum step_kind a, enum step_kind b)
{
	double sum = 0;

	for (unsigned i = 0; i < l->n_steps; i++) {
		const struct record_step *s = &l->steps[i];

		if (!strcmp(s->name, step_name(a)) || !strcmp(s->name, step_name(b)))
			sum += ms(s->begun_ns, s->done_ns);
	}
	return sum;
}

static void put_ms(FILE *out, int width, double value)
{
	if (value > 0)
		fprintf(out, " %*.1f", width, value);
	else
		fprintf(out, " %*s", width, "-");
}

static int widest_address(const struct record *r)
{
	char pf[BDF_STRLEN + 1];
	int widest = (int) sizeof("0000:00:00.0") - 1;

	for (unsigned i = 0; i < r->n_lanes; i++) {
		int width = (int) bdf_format(r->lanes[i].pf, pf);

		widest = width > widest ? width : widest;
	}
	return widest;
}

static void put_row(FILE *out, int width, const struct record_lane *l)
{
	char pf[BDF_STRLEN + 1], count[32];

	bdf_format(l->pf, pf);
	(void) snprintf(count, sizeof(count), "%u/%u", record_lane_served(l), l->n_vfs);
	fprintf(out, "%-*s %-10s %7s %-4s %-8s", width, pf, l->interface ? l->interface : "-",
		count, strcmp(l->mode, "unknown") ? l->mode : "-", l->strategy);
	put_ms(out, 9, step_ms(l, STEP_ENABLE, STEP_ENABLE));
	put_ms(out, 7, step_ms(l, STEP_BIND_OVERRIDE, STEP_BIND_ID));
	put_ms(out, 8, ms(l->admitted_ns, l->over_ns));
	fprintf(out, " %8u\n", l->vf_nodes);
}

static void put_table(FILE *out, const struct record *r)
{
	int width = widest_address(r);

	fprintf(out, "%-*s %-10s %7s %-4s %-8s %9s %7s %8s %8s\n", width, "PF", "Interface", "VFs",
		"Mode", "Strategy", "Enable/ms", "Bind/ms", "Total/ms", "VF nodes");
	for (unsigned i = 0; i < r->n_lanes; i++)
		put_row(out, width, &r->lanes[i]);
}

static bool has_reason(const struct record_lane *l)
{
	return l->strategy_reason && l->strategy_reason[0];
}

/* Why not `id`: once a reason, with the PFs that it holds for. */
static void put_reason(FILE *out, const struct record *r, unsigned at)
{
	const char *reason = r->lanes[at].strategy_reason;
	char pf[BDF_STRLEN + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < at; i++)
		if (same_text(r->lanes[i].strategy_reason, reason))
			return;
	fprintf(out, "By %s:", r->lanes[at].strategy);
	for (unsigned i = at; i < r->n_lanes; i++) {
		if (!same_text(r->lanes[i].strategy_reason, reason))
			continue;
		bdf_format(r->lanes[i].pf, pf);
		if (n++ < PFS_MAX)
			fprintf(out, "%s %s", n > 1 ? "," : "", pf);
	}
	if (n > PFS_MAX)
		fprintf(out, " and %u more", n - PFS_MAX);
	fprintf(out, " - %s\n", reason);
}

/* --- the sums --- */

static void put_count(FILE *out, unsigned n, const char *what)
{
	if (n)
		fprintf(out, ", %u %s", n, what);
}

static void put_outcome(FILE *out, const struct record *r)
{
	fprintf(out, "\n%u of %u VFs bound and opened", r->n_ready, r->n_vfs);
	put_count(out, r->n_held, "held by their owners already");
	put_count(out, r->n_lacks, "lacking");
	put_count(out, r->n_vfs - r->n_ready - r->n_held - r->n_lacks, "still waited for");
	fprintf(out, "\n%.1f ms from exec to done: exec %.1f, load %.1f, hot %.1f\n",
		ms(r->exec_ns, r->over_ns), ms(r->exec_ns, r->load_ns), ms(r->load_ns, r->hot_ns),
		ms(r->hot_ns, r->over_ns));
}

static void put_touches(FILE *out, const struct record *r)
{
	unsigned nodes = tally_vf_nodes(&r->tally);

	fprintf(out,
		"Touched: %u sysfs nodes in VF directories (%.2f a VF), %u writes, "
		"%u device nodes opened\nand 0 directory reads, by construction\n",
		nodes, r->n_vfs ? (double) nodes / r->n_vfs : 0, tally_writes(&r->tally),
		r->tally.opens);
}

static void put_difference(FILE *out, const char *name, const char *op, unsigned found,
			   unsigned expected)
{
	if (found != expected)
		fprintf(out, "  %-24s %-5s %u instead of %u\n", name, op, found, expected);
}

static void put_budget(FILE *out, const struct record *r)
{
	const struct tally *t = &r->tally, *b = &r->budget;
	char name[RECORD_FIELDS_NODE_MAX];

	if (!memcmp(t, b, sizeof(*t))) {
		fputs("Every touch is in the plan's budget, and no more\n", out);
		return;
	}
	fprintf(out, "Touches differ from the plan's budget%s:\n",
		r->budget_exact ? "" : ", which leaves out PFs that did not come to their end");
	for (unsigned node = 0; node < _SYSFS_NODE_MAX; node++) {
		record_fields_node_key(node, name);
		for (unsigned op = 0; op < _SYSFS_OP_MAX; op++)
			put_difference(out, name, record_fields_op_key(op), t->sysfs[node][op],
				       b->sysfs[node][op]);
	}
	put_difference(out, "device nodes", "open", t->opens, b->opens);
}

/* --- what lacks --- */

/* " (write to bind: Input/output error, EIO)": as much of it as is known. */
static void put_where(FILE *out, const char *place, int error, const char *found)
{
	const char *text = strerrordesc_np(error), *name = strerrorname_np(error);

	if (found)
		fprintf(out, ", found %s", found);
	if (!place && !error)
		return;
	fprintf(out, " (%s", place ? place : "");
	if (error && name)
		fprintf(out, "%s%s, %s", place ? ": " : "", text, name);
	else if (error)
		fprintf(out, "%serror %d", place ? ": " : "", error);
	fputc(')', out);
}

static void put_cause(FILE *out, const char *cause, const char *place, int error, const char *found)
{
	const char *meaning = cause ? record_cause_meaning(cause) : "not ready when the run ended";
	const char *advice = cause ? record_cause_advice(cause) : NULL;

	fprintf(out, ": %s", meaning ? meaning : cause);
	put_where(out, place, error, found);
	fprintf(out, "%s%s\n", advice ? "\n    " : "", advice ? advice : "");
}

static bool is_served(const struct record_vf *v)
{
	return !strcmp(v->state, "ready") || !strcmp(v->state, "held");
}

/* The lane's own line tells about it. */
static bool is_the_lanes(const struct record_lane *l, const struct record_vf *v)
{
	return l->cause &&
	       (!v->cause || !strcmp(v->cause, l->cause) || !strcmp(v->cause, "pf-failed"));
}

static bool is_same(const struct record_vf *a, const struct record_vf *b)
{
	return !is_served(b) && a->error == b->error && same_text(a->cause, b->cause) &&
	       same_text(a->place, b->place);
}

/* One line for all VFs of the lane that lack for the reason of vfs[at]; none for the later. */
static void put_lacking_vfs(FILE *out, const struct record_lane *l, unsigned at)
{
	const struct record_vf *first = &l->vfs[at];
	struct vf_set set = { .n = 0 };
	char pf[BDF_STRLEN + 1];

	for (unsigned i = 0; i < at; i++)
		if (is_same(first, &l->vfs[i]))
			return;
	for (unsigned i = at; i < l->n_vfs; i++)
		if (is_same(first, &l->vfs[i]))
			vf_set_add(&set, l->vfs[i].index);
	bdf_format(l->pf, pf);
	fputs("  ", out);
	vf_set_print(&set, out);
	fprintf(out, " of %s", pf);
	put_cause(out, first->cause, first->place, first->error, NULL);
}

static void put_lacking(FILE *out, const struct record_lane *l)
{
	unsigned served = record_lane_served(l);
	char pf[BDF_STRLEN + 1];

	if (l->cause) {
		bdf_format(l->pf, pf);
		fprintf(out, "  %s, %u of %u VFs", pf, l->n_vfs - served, l->n_vfs);
		put_cause(out, l->cause, l->place, l->error, l->found);
	}
	for (unsigned i = 0; i < l->n_vfs; i++)
		if (!is_served(&l->vfs[i]) && !is_the_lanes(l, &l->vfs[i]))
			put_lacking_vfs(out, l, i);
}

static void put_owners(FILE *out, const struct record *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_owners; i++) {
		const struct record_owner *o = &r->owners[i];

		if (o->n_ready >= o->n)
			continue;
		if (n++ < OWNERS_MAX)
			fprintf(out, "%s %s (%u of %u)", n == 1 ? "Owners without all:" : ",",
				o->name, o->n_ready, o->n);
	}
	if (n > OWNERS_MAX)
		fprintf(out, " and %u more", n - OWNERS_MAX);
	if (n)
		fputc('\n', out);
}

void report_record(const struct record *r, FILE *out)
{
	bool all = r->n_ready + r->n_held == r->n_vfs;

	put_table(out, r);
	for (unsigned i = 0; i < r->n_lanes; i++)
		if (has_reason(&r->lanes[i]))
			put_reason(out, r, i);
	put_outcome(out, r);
	put_touches(out, r);
	put_budget(out, r);
	for (unsigned i = 0; i < r->n_lanes; i++)
		all = all && !r->lanes[i].cause;
	if (all)
		return;
	fputs("\nLacking:\n", out);
	for (unsigned i = 0; i < r->n_lanes; i++)
		put_lacking(out, &r->lanes[i]);
	put_owners(out, r);
}
