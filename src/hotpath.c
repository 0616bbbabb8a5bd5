/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/eventfd.h>
#include "hotpath.h"
#include "proof.h"

/* Events handled before the loop looks at other things: a storm must not starve deadlines. */
enum { UEVENTS_AT_ONCE = 256 };

/* How long a lane waits for its id to be registered before it binds by override: new_id takes
 * microseconds, unless it hangs behind a function that somebody has locked. */
enum { ID_PATIENCE_MSEC = 50 };

/* How long a warm lane waits for others, so that one survey serves all. */
enum { SURVEY_PATIENCE_MSEC = 3 };

/* How long the end waits for ids to be taken back: nobody needs it, the next run can do it. */
enum { END_PATIENCE_MSEC = 1000 };

/* -- admission: lanes start in the plan's order, Workers= at a time -- */

static uint64_t lane_time(const struct hotpath *h, const struct hot_lane *hl)
{
	return h->conf->lane_timeout_ns + hl->lane.plan->pf->num_vfs * h->conf->vf_timeout_ns;
}

static void set_running(struct hotpath *h, struct hot_lane *hl, bool running)
{
	if (hl->running && !running)
		h->n_running--;
	if (!hl->running && running)
		h->n_running++;
	hl->running = running;
}

static void run_lane(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	hl->state = LANE_AT_WORK;
	hl->deadline_ns = now + lane_time(h, hl);
	hl->pf_event = false;
	set_running(h, hl, true);
	lane_wake(&hl->lane);
}

static void admit(struct hotpath *h, uint64_t now)
{
	for (unsigned i = 0; i < h->plan->n_lanes && h->n_running < h->conf->workers; i++) {
		struct hot_lane *hl = &h->lanes[i];

		if (hl->admitted_ns)
			continue;
		hl->admitted_ns = now;
		run_lane(h, hl, now);
	}
}

/* -- settling: what has become of each VF -- */

static void settle_lane(struct hotpath *h, struct hot_lane *hl, enum cause cause, enum place place,
			int error, uint64_t now)
{
	for (unsigned i = 0; i < hl->lane.plan->n_vfs; i++)
		proof_settle_vf(h, hl, i, VF_LACKS, cause, place, error, now);
}

/* The lane stopped before it came to these. */
static void settle_untouched(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	const struct lane *l = &hl->lane;

	for (unsigned i = 0; i < l->plan->n_vfs; i++)
		if (atomic_load(&l->outcomes[i].act) == VF_UNTOUCHED)
			proof_settle_vf(h, hl, i, VF_LACKS, l->cause, l->place, l->error, now);
}

static bool registrars_are_gone(const struct hotpath *h)
{
	for (unsigned i = 0; i < h->plan->n_id_groups; i++)
		if (atomic_load(&h->registrars[i].state) != REGISTRAR_GONE)
			return false;
	return true;
}

/* Every VF is settled: no guest waits any more, and the ids are taken back. */
static void end_hot(struct hotpath *h, uint64_t now)
{
	h->over_ns = now;
	h->end_by_ns = now + END_PATIENCE_MSEC * NSEC_PER_MSEC;
	for (unsigned i = 0; i < h->plan->n_id_groups; i++)
		registrar_end(&h->registrars[i]);
	h->ended = registrars_are_gone(h);
}

/* The lane is over when its thread has ended (or is given up) and each VF is settled. */
static void finish_lane(struct hotpath *h, struct hot_lane *hl, enum lane_state state, uint64_t now)
{
	hl->state = state;
	hl->over_ns = now;
	h->n_over++;
	set_running(h, hl, false);
	admit(h, now);
	if (h->n_over == h->plan->n_lanes)
		end_hot(h, now);
}

static void try_to_finish(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	bool refused = hl->lane.cause != CAUSE_NONE && hl->n_lacks == hl->lane.plan->n_vfs;

	if (!hl->over_ns && hl->ended && hl->n_settled == hl->lane.plan->n_vfs)
		finish_lane(h, hl, refused ? LANE_REFUSED : LANE_DONE, now);
}

/* The thread has ended: its outcomes are ours to read. VFs that are bound but whose event has
 * not come keep waiting, until ProofTimeoutSec=. */
static void on_lane_over(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	struct lane *l = &hl->lane;

	hl->ended = true;
	set_running(h, hl, false);
	proof_read_outcomes(h, hl, now);
	if (l->cause != CAUSE_NONE)
		settle_untouched(h, hl, now);
	hl->deadline_ns = now + h->conf->proof_timeout_ns;
	try_to_finish(h, hl, now);
	admit(h, now);
}

/* -- what lanes ask for -- */

/* An event may have come between the lane's look and its question: then it looks again. */
static void on_lane_waits(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	if (hl->state == LANE_LATE)
		return;
	if (hl->pf_event) {
		run_lane(h, hl, now);
		return;
	}
	hl->state = LANE_LATE;
	/* PFs are late since the beginning, VFs since they were enabled, which may take long */
	hl->deadline_ns = h->conf->late_pf_timeout_ns +
			  (atomic_load(&hl->lane.ask) == LANE_ASKS_PF ? h->begun_ns : now);
	if (hl->deadline_ns < now)
		hl->deadline_ns = now;
	set_running(h, hl, false);
	admit(h, now);
}

static void on_lane_wants_id(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	struct registrar *r = &h->registrars[hl->lane.plan->id_group];

	registrar_ask(r);
	if (atomic_load(&r->state) != REGISTRAR_AT_WORK) {
		run_lane(h, hl, now);
	} else if (hl->state != LANE_WANTS_ID) {
		hl->state = LANE_WANTS_ID;
		hl->deadline_ns = now + ID_PATIENCE_MSEC * NSEC_PER_MSEC;
	}
}

/* A survey goes through all devices there are, so one serves all warm lanes: they look at their VFs
 * in microseconds and ask at about the same time. A cold one must not be waited for. */
static bool others_will_ask_soon(const struct hotpath *h)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++) {
		const struct hot_lane *hl = &h->lanes[i];

		if (hl->running && hl->state == LANE_AT_WORK &&
		    atomic_load(&hl->lane.ask) == LANE_RUNS &&
		    atomic_load(&hl->lane.step) <= STEP_SURVEY)
			return true;
	}
	return false;
}

static void answer_surveys(struct hotpath *h, uint64_t now)
{
	proof_survey(h, now);
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		if (h->lanes[i].state == LANE_WANTS_SURVEY)
			run_lane(h, &h->lanes[i], now);
}

static void on_lane_wants_survey(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	if (hl->state != LANE_WANTS_SURVEY) {
		hl->state = LANE_WANTS_SURVEY;
		hl->deadline_ns = now + SURVEY_PATIENCE_MSEC * NSEC_PER_MSEC;
	}
	if (!others_will_ask_soon(h))
		answer_surveys(h, now);
}

static void answer_lane(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	switch ((enum lane_ask) atomic_load(&hl->lane.ask)) {
	case LANE_RUNS:
		break;
	case LANE_ASKS_PF:
	case LANE_ASKS_VFS:
		on_lane_waits(h, hl, now);
		break;
	case LANE_ASKS_SURVEY:
		on_lane_wants_survey(h, hl, now);
		break;
	case LANE_ASKS_ID:
		on_lane_wants_id(h, hl, now);
		break;
	case LANE_OVER:
		if (!hl->ended)
			on_lane_over(h, hl, now);
		break;
	}
}

static void answer_lanes(struct hotpath *h, uint64_t now)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		if (!h->lanes[i].over_ns && h->lanes[i].admitted_ns)
			answer_lane(h, &h->lanes[i], now);
}

void hotpath_on_report(struct hotpath *h, uint64_t now)
{
	eventfd_t n;

	(void) eventfd_read(h->report_fd, &n); /* empties it; the lanes tell themselves */
	proof_open_pending(h, now);
	answer_lanes(h, now);
	h->ended = h->over_ns && registrars_are_gone(h);
}

/* -- events -- */

/* Something is new at this address: a lane that waits for its PF or VFs looks again. */
static void on_pci_event(struct hotpath *h, const struct uevent *e, uint64_t now)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++) {
		struct hot_lane *hl = &h->lanes[i];
		const struct manifest_pf *pf = hl->lane.plan->pf;
		unsigned index;

		if (bdf_compare(pf->address, e->bdf) != 0 &&
		    !bdf_vf_index(pf->address, pf->offset, pf->stride, pf->num_vfs, e->bdf, &index))
			continue;
		hl->pf_event = true;
		if (hl->state == LANE_LATE)
			run_lane(h, hl, now);
	}
}

static void on_event(struct hotpath *h, const struct uevent *e, uint64_t now)
{
	switch (e->kind) {
	case UEVENT_PCI_BIND:
		proof_on_bound(h, e, now);
		on_pci_event(h, e, now);
		break;
	case UEVENT_PCI_ADD:
		on_pci_event(h, e, now);
		break;
	case UEVENT_GROUP_ADD:
		proof_on_group(h, e);
		break;
	case UEVENT_DEVICE_ADD:
		proof_on_device(h, e, now);
		break;
	case UEVENT_OTHER:
	case UEVENT_PCI_REMOVE:
	case UEVENT_DEVICE_REMOVE:
	case _UEVENT_KIND_MAX:
		break;
	}
}

/* After lost events: device nodes by survey, and every lane that waits for its PF looks again. */
static void resync(struct hotpath *h, uint64_t now)
{
	h->resync = false;
	proof_survey(h, now);
	for (unsigned i = 0; i < h->plan->n_lanes; i++) {
		h->lanes[i].pf_event = true;
		if (h->lanes[i].state == LANE_LATE)
			run_lane(h, &h->lanes[i], now);
	}
}

static void finish_all(struct hotpath *h, uint64_t now)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		try_to_finish(h, &h->lanes[i], now);
}

void hotpath_on_uevent(struct hotpath *h, uint64_t now)
{
	struct uevent e;
	int r = 0;

	for (unsigned i = 0; i < UEVENTS_AT_ONCE && r != UEVENT_E_NOTHING; i++) {
		r = uevents_next(h->uevents, h->message, &e);
		if (!r) {
			on_event(h, &e, now);
		} else if (r != UEVENT_E_NOTHING) {
			/* ENOBUFS: everything is dropped until the queue was drained once */
			h->resync = h->group_order_lost = true;
		}
	}
	if (r == UEVENT_E_NOTHING && h->resync)
		resync(h, now);
	finish_all(h, now);
}

/* -- time -- */

static void on_lane_deadline(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	if (hl->ended) { /* bound, says the kernel, but no event: a last look for the nodes */
		proof_survey(h, now);
		settle_lane(h, hl, CAUSE_NO_NODE, PLACE_PROOF, 0, now);
		try_to_finish(h, hl, now);
	} else if (hl->state == LANE_LATE) {
		atomic_store(&hl->lane.gave_up, true);
		run_lane(h, hl, now);
	} else if (hl->state == LANE_WANTS_ID) {
		run_lane(h, hl, now);
	} else if (hl->state == LANE_WANTS_SURVEY) {
		answer_surveys(h, now);
	} else {
		settle_lane(h, hl, CAUSE_STUCK, proof_place_of_step(&hl->lane), 0, now);
		atomic_store(&hl->lane.gave_up, true); /* should it come back, it goes on alone */
		lane_wake(&hl->lane);
		finish_lane(h, hl, LANE_STUCK, now);
	}
}

static bool has_deadline(const struct hot_lane *hl)
{
	return hl->admitted_ns && !hl->over_ns;
}

void hotpath_on_time(struct hotpath *h, uint64_t now)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		if (has_deadline(&h->lanes[i]) && h->lanes[i].deadline_ns <= now)
			on_lane_deadline(h, &h->lanes[i], now);
	if (h->over_ns && h->end_by_ns <= now)
		h->ended = true;
}

uint64_t hotpath_next_deadline(const struct hotpath *h)
{
	uint64_t next = h->over_ns && !h->ended ? h->end_by_ns : UINT64_MAX;

	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		if (has_deadline(&h->lanes[i]) && h->lanes[i].deadline_ns < next)
			next = h->lanes[i].deadline_ns;
	return next;
}

/* -- beginning and end -- */

void hotpath_begin(struct hotpath *h, uint64_t now)
{
	h->begun_ns = now;
	if (h->plan->n_lanes == 0)
		end_hot(h, now);
	admit(h, now);
}

bool hotpath_is_over(const struct hotpath *h)
{
	return h->ended;
}

bool hotpath_hangs(const struct hotpath *h)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		if (h->lanes[i].state == LANE_STUCK)
			return true;
	return !registrars_are_gone(h);
}
