/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * hotpath - the loop's side of the hot path: admits lanes, keeps their deadlines, turns uevents
 * into proof, opens device nodes, and knows of each VF and owner how far it is.
 *
 * Allocates nothing and never blocks; the caller (agent) owns the memory and the event loop.
 */
#include "base.h"
#include "cause.h"
#include "conf.h"
#include "journal.h"
#include "lane.h"
#include "plan.h"
#include "uevent.h"
#include "vfio.h"

enum vf_state {
	VF_WAITS, /* not there yet */
	VF_READY, /* bound, and its device node open where it wants one */
	VF_HELD,  /* bound before we came, its group open in another process: its owner has it */
	VF_LACKS, /* failed: cause, error, place tell */
	_VF_STATE_MAX,
};

struct hot_vf {
	enum vf_state state;
	enum cause cause;
	enum place place;
	int error;
	bool has_node;
	bool is_bound;      /* its bind event came */
	struct bdf seen_at; /* where its device was seen */
	struct vfio_node node;
	int fd; /* of the open node, else -1 */
	uint64_t seen_ns, ready_ns;
};

enum lane_state {
	LANE_WAITS, /* for its turn (Workers=) */
	LANE_AT_WORK,
	LANE_LATE,         /* its PF (or a VF) is not there yet */
	LANE_WANTS_ID,     /* waits for its registrar, but not for long */
	LANE_WANTS_SURVEY, /* waits for other warm lanes, but not for long */
	LANE_DONE,         /* all that could be done is done; its VFs tell how it went */
	LANE_REFUSED,      /* by rule or by the kernel: cause tells; nothing of it works */
	LANE_STUCK,        /* did not come back by its deadline */
	_LANE_STATE_MAX,
};

struct hot_lane {
	struct lane lane;
	enum lane_state state;
	struct hot_vf *vfs;   /* one for each of plan->vfs */
	unsigned n_settled;   /* VFs that are ready, held or lacking */
	unsigned n_lacks;     /* of them */
	bool running;         /* it counts as one of Workers= */
	bool ended;           /* its thread said LANE_OVER */
	bool has_layout;      /* of the lane, and what was seen before is open */
	bool pf_event;        /* something came for its PF or VFs since it last looked */
	uint64_t admitted_ns; /* 0: not yet */
	uint64_t over_ns;     /* 0: some VF is not settled, or the thread is at work */
	uint64_t deadline_ns; /* of what it does or waits for now */
};

struct hot_owner {
	unsigned n, n_ready, n_lacks; /* its VFs */
	uint64_t ready_ns;            /* when the last of them became ready; 0: not all are */
};

struct hotpath {
	/* set by the caller before hotpath_init() */
	const struct plan *plan;
	const struct conf *conf;
	struct uevents *uevents;
	struct hot_lane *lanes;   /* plan->n_lanes, each with its vfs, lane.outcomes, lane.left */
	struct hot_owner *owners; /* manifest->n_owners */
	struct registrar *registrars; /* plan->n_id_groups; left: set where an id was left */

	struct baton baton;
	struct sysfs sysfs; /* of the loop's own thread */
	struct vfio vfio;
	struct tally tally; /* of the loop's own thread */
	int report_fd;      /* eventfd: lanes report; for the loop to watch */
	unsigned n_running, n_over;
	unsigned n_ready, n_held, n_lacks; /* VFs */
	unsigned n_group_links;            /* groups that the order of events did not tell */
	bool resync;                       /* events were lost: survey when the socket is empty */
	bool group_order_lost;
	bool in_vain; /* a node was opened in vain: the budget is not exact */
	bool has_last_group, last_group_noiommu;
	unsigned last_group;
	uint64_t begun_ns, over_ns; /* over: every VF is settled */
	uint64_t end_by_ns;         /* until when registrars may take back what they registered */
	bool ended;                 /* they have, or it is too late */
	char message[UEVENT_SIZE_MAX];
};

/* Memory for it all, zeroed, is the caller's. Opens the eventfds and starts the threads, which
 * sleep; touches no sysfs. */
int hotpath_init(struct hotpath *h, int sysfs_root, int dev, const struct journal *journal)
	_must_check_;
/* Closes the device nodes and what else is open; a lane that hangs keeps its memory and fds in
 * use: the caller must not free anything then, but end the process. */
void hotpath_done(struct hotpath *h);

void hotpath_begin(struct hotpath *h, uint64_t now);
/* The socket is readable; the eventfd is; the deadline is reached. */
void hotpath_on_uevent(struct hotpath *h, uint64_t now);
void hotpath_on_report(struct hotpath *h, uint64_t now);
void hotpath_on_time(struct hotpath *h, uint64_t now);
/* When hotpath_on_time() has something to do next; UINT64_MAX: never. */
uint64_t hotpath_next_deadline(const struct hotpath *h);
bool hotpath_is_over(const struct hotpath *h);
/* Does a thread hang in the kernel? */
bool hotpath_hangs(const struct hotpath *h);

/* Sums over all threads; exact when it is over and no lane is stuck. */
void hotpath_tally(const struct hotpath *h, struct tally *ret);
/* What the plan says that this run had to touch, as it went. Not exact when something failed: a
 * failed step leaves others out. */
void hotpath_budget(const struct hotpath *h, struct tally *ret, bool *ret_exact);
