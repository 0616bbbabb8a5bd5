/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record.h"
#include <string.h>
#include "cause.h"

unsigned record_lane_served(const struct record_lane *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->n_vfs; i++)
		n += !strcmp(l->vfs[i].state, "ready") || !strcmp(l->vfs[i].state, "held");
	return n;
}

const char *record_lane_word(const struct record_lane *l)
{
	if (!strcmp(l->state, "done") && record_lane_served(l) < l->n_vfs)
		return "partly";
	return l->state;
}

const char *record_cause_meaning(const char *cause)
{
	for (unsigned c = 0; c < _CAUSE_MAX; c++)
		if (!strcmp(cause_name(c), cause))
			return cause_meaning(c);
	return NULL;
}

const char *record_cause_advice(const char *cause)
{
	for (unsigned c = 0; c < _CAUSE_MAX; c++)
		if (!strcmp(cause_name(c), cause))
			return cause_advice(c);
	return NULL;
}

void record_sum(struct record *r)
{
	r->n_vfs = r->n_ready = r->n_held = r->n_lacks = 0;
	for (unsigned l = 0; l < r->n_lanes; l++) {
		r->n_vfs += r->lanes[l].n_vfs;
		for (unsigned i = 0; i < r->lanes[l].n_vfs; i++) {
			const char *state = r->lanes[l].vfs[i].state;

			r->n_ready += !strcmp(state, "ready");
			r->n_held += !strcmp(state, "held");
			r->n_lacks += !strcmp(state, "lacks");
		}
	}
}

static void done_vf(struct record_vf *v)
{
	free(v->owner);
	free(v->name);
	free(v->driver);
	free(v->state);
	free(v->cause);
	free(v->place);
	free(v->node);
}

static void done_lane(struct record_lane *l)
{
	for (unsigned i = 0; i < l->n_steps; i++)
		free(l->steps[i].name);
	for (unsigned i = 0; i < l->n_vfs; i++)
		done_vf(&l->vfs[i]);
	free(l->interface);
	free(l->state);
	free(l->mode);
	free(l->strategy);
	free(l->strategy_reason);
	free(l->cause);
	free(l->place);
	free(l->found);
	free(l->steps);
	free(l->vfs);
}

void record_done(struct record *r)
{
	for (unsigned i = 0; i < r->n_lanes; i++)
		done_lane(&r->lanes[i]);
	for (unsigned i = 0; i < r->n_owners; i++)
		free(r->owners[i].name);
	free(r->lanes);
	free(r->owners);
	free(r->manifest_path);
	*r = (struct record){ .n_lanes = 0 };
}
