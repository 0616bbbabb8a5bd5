/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "account.h"

static const char *const vf_states[] = {
	[VF_WAITS] = "waits",
	[VF_READY] = "ready",
	[VF_HELD] = "held",
	[VF_LACKS] = "lacks",
};
_Static_assert(ELEMENTSOF(vf_states) == _VF_STATE_MAX, "every state of a VF has a name");

static const char *const lane_states[] = {
	[LANE_WAITS] = "waits",      [LANE_AT_WORK] = "at-work",      [LANE_LATE] = "late",
	[LANE_WANTS_ID] = "at-work", [LANE_WANTS_SURVEY] = "at-work", [LANE_DONE] = "done",
	[LANE_REFUSED] = "refused",  [LANE_STUCK] = "stuck",
};
_Static_assert(ELEMENTSOF(lane_states) == _LANE_STATE_MAX, "every state of a lane has a name");

/* A copy; NULL stays NULL. *ok becomes false when there is no memory. */
static char *copy(const char *text, bool *ok)
{
	char *p = text ? strdup(text) : NULL;

	*ok &= !text || p;
	return p;
}

static void account_vf(const struct hotpath *h, const struct hot_lane *hl, unsigned i,
		       struct record_vf *ret, bool *ok)
{
	const struct manifest_vf *promised = hl->lane.plan->vfs[i];
	const struct vf_outcome *o = &hl->lane.outcomes[i];
	const struct hot_vf *vf = &hl->vfs[i];
	char path[VFIO_PATH_MAX];

	ret->address = promised->address;
	if (atomic_load(&hl->lane.has_layout))
		ret->address = lane_vf_address(&hl->lane, i);
	ret->index = promised->index;
	if (promised->has_owner)
		ret->owner = copy(h->plan->manifest->owners[promised->owner].name, ok);
	ret->name = copy(promised->name, ok);
	ret->driver = copy(promised->driver, ok);
	ret->state = copy(vf_states[vf->state], ok);
	if (vf->state == VF_LACKS) {
		ret->cause = copy(cause_name(vf->cause), ok);
		ret->place = copy(place_name(vf->place), ok);
		ret->error = vf->error;
	}
	if (vf->has_node) {
		vfio_node_path(vf->node, path);
		ret->node = copy(path, ok);
	}
	if (atomic_load(&o->act) != VF_UNTOUCHED) {
		ret->begun_ns = o->begun_ns;
		ret->bound_ns = o->done_ns;
	}
	ret->seen_ns = vf->seen_ns;
	ret->ready_ns = vf->ready_ns;
}

static void account_steps(const struct lane *l, struct record_lane *ret, bool *ok)
{
	ret->steps = calloc(_STEP_MAX, sizeof(*ret->steps));
	*ok &= ret->steps != NULL;
	for (unsigned kind = 0; *ok && kind < _STEP_MAX; kind++)
		if (l->step_begun_ns[kind])
			ret->steps[ret->n_steps++] =
				(struct record_step){ copy(step_name((enum step_kind) kind), ok),
						      l->step_begun_ns[kind],
						      l->step_done_ns[kind] };
}

/* What was lacking first when the lane as a whole is stuck. */
static void account_lane_cause(const struct hot_lane *hl, struct record_lane *ret, bool *ok)
{
	const struct lane *l = &hl->lane;

	if (hl->state == LANE_STUCK) {
		ret->cause = copy(cause_name(CAUSE_STUCK), ok);
		ret->place = copy(step_name((enum step_kind) atomic_load(&l->step)), ok);
	} else if (hl->ended && l->cause != CAUSE_NONE) {
		ret->cause = copy(cause_name(l->cause), ok);
		ret->place = copy(place_name(l->place), ok);
		ret->error = l->error;
		ret->found = l->found[0] ? copy(l->found, ok) : NULL;
	}
}

static enum strategy strategy_used(const struct hot_lane *hl, const char **ret_reason)
{
	const struct lane *l = &hl->lane;

	*ret_reason = l->plan->strategy_reason;
	if (!l->registrar || l->facts.by_id || l->facts.n_bound_by_override == 0)
		return l->plan->strategy;
	*ret_reason = "its id could not be registered in time";
	if (atomic_load(&l->registrar->state) == REGISTRAR_GONE)
		*ret_reason = l->registrar->refused
				      ? "a PF of that id is not bound to its own driver"
			      : l->registrar->looked && !l->registrar->registered
				      ? "the kernel did not register its id"
				      : *ret_reason;
	return STRATEGY_OVERRIDE;
}

static void account_lane(const struct hotpath *h, const struct hot_lane *hl,
			 struct record_lane *ret, bool *ok)
{
	const struct manifest_pf *pf = hl->lane.plan->pf;
	const char *mode = hl->lane.facts.warm ? "warm" : "cold", *reason;

	ret->pf = pf->address;
	ret->interface = copy(pf->interface, ok);
	ret->state = copy(lane_states[hl->state], ok);
	ret->mode = copy(hl->lane.step_done_ns[STEP_COUNT] ? mode : "unknown", ok);
	ret->strategy = copy(strategy_name(strategy_used(hl, &reason)), ok);
	ret->strategy_reason = copy(reason, ok);
	account_lane_cause(hl, ret, ok);
	ret->num_vfs = pf->num_vfs;
	ret->vf_nodes = tally_vf_nodes(&hl->lane.tally);
	ret->admitted_ns = hl->admitted_ns;
	ret->over_ns = hl->over_ns;
	account_steps(&hl->lane, ret, ok);
	ret->vfs = calloc(hl->lane.plan->n_vfs + 1, sizeof(*ret->vfs));
	*ok &= ret->vfs != NULL;
	for (; *ok && ret->n_vfs < hl->lane.plan->n_vfs; ret->n_vfs++)
		account_vf(h, hl, ret->n_vfs, &ret->vfs[ret->n_vfs], ok);
}

static void account_owners(const struct hotpath *h, struct record *ret, bool *ok)
{
	const struct manifest *m = h->plan->manifest;

	ret->owners = calloc(m->n_owners + 1, sizeof(*ret->owners));
	*ok &= ret->owners != NULL;
	for (; *ok && ret->n_owners < m->n_owners; ret->n_owners++) {
		const struct hot_owner *o = &h->owners[ret->n_owners];

		ret->owners[ret->n_owners] =
			(struct record_owner){ copy(m->owners[ret->n_owners].name, ok), o->n,
					       o->n_ready, o->n_lacks, o->ready_ns };
	}
}

int account_make(const struct hotpath *h, struct record *ret)
{
	_cleanup_(record_done) struct record r = { 0 };
	bool ok;

	r.lanes = calloc(h->plan->n_lanes + 1, sizeof(*r.lanes));
	ok = r.lanes != NULL;
	for (; ok && r.n_lanes < h->plan->n_lanes; r.n_lanes++)
		account_lane(h, &h->lanes[r.n_lanes], &r.lanes[r.n_lanes], &ok);
	if (ok)
		account_owners(h, &r, &ok);
	if (!ok)
		return -ENOMEM;
	r.hot_ns = h->begun_ns;
	r.over_ns = h->over_ns;
	r.generation = h->plan->manifest->generation;
	hotpath_tally(h, &r.tally);
	hotpath_budget(h, &r.budget, &r.budget_exact);
	record_sum(&r);
	*ret = TAKE_AS(r, (struct record){ 0 });
	return 0;
}
