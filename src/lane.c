/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "lane.h"
#include "thread.h"

struct bdf lane_vf_address(const struct lane *l, unsigned i)
{
	struct bdf vf = { 0 };
	int r = bdf_of_vf(l->plan->pf->address, l->offset, l->stride, l->plan->vfs[i]->index, &vf);

	assert(r == 0); /* STEP_LAYOUT has computed the last one */
	return vf;
}

void lane_wake(struct lane *l)
{
	atomic_store(&l->ask, LANE_RUNS);
	thread_tell(l->wake_fd);
}

void lane_tell(struct lane *l, enum lane_ask ask)
{
	int report_fd = l->report_fd;

	atomic_store(&l->ask, ask); /* after LANE_OVER l may be gone */
	thread_tell(report_fd);
}

bool lane_ask(struct lane *l, enum lane_ask ask)
{
	if (atomic_load(&l->gave_up))
		return false; /* a late answer would overwrite that the lane is over */
	lane_tell(l, ask);
	thread_sleep(l->wake_fd);
	return !atomic_load(&l->gave_up);
}

int lane_stop_by_rule(struct lane *l, enum cause cause, enum place place, const char *found)
{
	l->cause = cause;
	l->place = place;
	l->error = 0;
	(void) strncpy(l->found, found, sizeof(l->found) - 1); /* may be cut: for people */
	return LANE_E_STOP;
}

int lane_stop(struct lane *l, enum place place, int r)
{
	if (r == SYSFS_E_ABSENT)
		return lane_stop_by_rule(l, CAUSE_PF_ABSENT, place, "");
	if (r == SYSFS_E_STRANGE)
		return lane_stop_by_rule(l, CAUSE_INPUT_OUTPUT, place,
					 "not what the kernel writes");
	l->cause = cause_of(place, -r);
	l->place = place;
	l->error = -r;
	return LANE_E_STOP;
}

void lane_fail_vf(struct lane *l, unsigned i, enum place place, enum cause cause, int error)
{
	struct vf_outcome *o = &l->outcomes[i];

	o->need = VF_NEEDS_NOTHING;
	o->place = (uint8_t) place;
	o->cause = (uint8_t) cause;
	o->error = error;
	o->done_ns = now_ns();
	atomic_store(&o->act, VF_FAILED);
}

void lane_note(struct lane *l, enum journal_word word, const char *text)
{
	if (journal_write(l->journal, l->plan->pf->address, word, text))
		l->journal_failed = true;
}
