/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan-json.h"
#include <inttypes.h>
#include "json-out.h"

static int put_member(FILE *out, const char *key, const char *text)
{
	if (!text || !text[0])
		return 0;
	fprintf(out, ", \"%s\": ", key);
	return json_out_text(out, text);
}

/* Indices of VFs, in the order in which they have their turn. */
static void put_vfs(FILE *out, const struct plan_lane *lane, unsigned first, unsigned n)
{
	fputs(", \"virtualFunctions\": [", out);
	for (unsigned i = first; i < first + n; i++)
		fprintf(out, "%s%u", i > first ? ", " : "", lane->vfs[i]->index);
	fputc(']', out);
}

static int put_step(FILE *out, const struct plan_lane *lane, const struct step *s)
{
	int r;

	fprintf(out, "{ \"name\": \"%s\"", step_name(s->kind));
	r = put_member(out, "driver", s->driver);
	if (s->driver)
		put_vfs(out, lane, s->first, s->n);
	fputs(" }", out);
	return r;
}

static int put_steps(FILE *out, const struct plan_lane *lane)
{
	int r;

	fputs(",\n      \"steps\": [", out);
	for (unsigned i = 0; i < lane->n_steps; i++) {
		fputs(i ? ",\n        " : "\n        ", out);
		r = put_step(out, lane, &lane->steps[i]);
		if (r)
			return r;
	}
	fputs(" ]", out);
	return 0;
}

static void put_price(FILE *out, const struct plan_lane *lane)
{
	struct plan_facts facts;
	struct tally price;

	plan_facts_foreseen(lane, &facts);
	plan_price_lane(lane, &facts, &price);
	fputs(",\n      \"price\": ", out);
	json_out_tally(out, &price);
}

static int put_lane(FILE *out, const struct plan *p, unsigned i)
{
	const struct plan_lane *lane = &p->lanes[i];
	char pf[BDF_STRLEN + 1];
	int r;

	bdf_format(lane->pf->address, pf);
	fprintf(out, "{ \"address\": \"%s\"", pf);
	r = put_member(out, "interface", lane->pf->interface);
	if (!r)
		r = put_member(out, "driver", lane->pf->driver);
	fprintf(out, ", \"numVfs\": %u, \"priority\": %d, \"strategy\": \"%s\"", lane->pf->num_vfs,
		lane->priority, strategy_name(lane->strategy));
	if (!r)
		r = put_member(out, "strategyReason", lane->strategy_reason);
	if (!r)
		r = put_steps(out, lane);
	put_vfs(out, lane, 0, lane->n_vfs);
	put_price(out, lane);
	fputs(" }", out);
	return r;
}

static int put_plan(FILE *out, const struct plan *p)
{
	struct tally price;
	int r;

	fprintf(out,
		"{ \"format\": \"vf-restore-plan\", \"version\": 1, \"generation\": %" PRIu64
		", \"vfs\": %u,\n  \"price\": ",
		p->manifest->generation, p->n_vfs);
	plan_price(p, &price);
	json_out_tally(out, &price);
	fputs(",\n  \"physicalFunctions\": [", out);
	for (unsigned i = 0; i < p->n_lanes; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		r = put_lane(out, p, i);
		if (r)
			return r;
	}
	fputs(" ] }\n", out);
	return 0;
}

int plan_json_text(const struct plan *p, char **ret, size_t *ret_size)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r;

	if (!out)
		return -ENOMEM;
	r = put_plan(out, p);
	if (fclose(out) && !r)
		r = -ENOMEM;
	if (r)
		return r;
	*ret = TAKE(text);
	*ret_size = size;
	return 0;
}
