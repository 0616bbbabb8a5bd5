/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "phase.h"

struct walk_pass {
	char paper;
};

static const struct walk_pass granted;

static const char *const names[] = {
	[PHASE_PREPARE] = "prepare", [PHASE_LOAD] = "load",         [PHASE_HOT] = "hot",
	[PHASE_HANDOFF] = "handoff", [PHASE_DEFERRED] = "deferred", [PHASE_DONE] = "done",
};
_Static_assert(ELEMENTSOF(names) == _PHASE_MAX, "a name for each phase");

void phase_init(struct phase *p, enum phase_id first, uint64_t at_ns)
{
	assert(first == PHASE_PREPARE || first == PHASE_LOAD);
	*p = (struct phase){ .now = first };
	p->since_ns[first] = at_ns;
}

void phase_enter(struct phase *p, enum phase_id next, uint64_t at_ns)
{
	assert(next > p->now && next < _PHASE_MAX);
	p->now = next;
	p->since_ns[next] = at_ns;
}

bool phase_is_hot(const struct phase *p)
{
	return p->now >= PHASE_LOAD && p->now <= PHASE_HANDOFF;
}

const char *phase_name(enum phase_id id)
{
	assert(id < _PHASE_MAX);
	return names[id];
}

const struct walk_pass *phase_walk_pass(const struct phase *p)
{
	return phase_is_hot(p) ? NULL : &granted;
}
