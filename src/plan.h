/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * plan - the order of steps that fulfils a manifest, and their price. Pure: touches nothing.
 *
 * One lane a PF, lanes in the order in which they start (owners' priority, then address).
 * A step is one act on the PF, or one act on each VF of a range.
 */
#include "base.h"
#include "conf.h"
#include "manifest.h"
#include "tally.h"

enum step_kind {
	STEP_LOOK,           /* readlink of the PF's driver, modalias, serial number where known */
	STEP_COUNT,          /* read sriov_numvfs: N warm, 0 cold, else refuse */
	STEP_ID,             /* cold, by id: ask the registrar, before this PF's lock is held */
	STEP_AUTOPROBE,      /* read; cold: 0, or 1 where the VFs are to be bound as they come */
	STEP_ENABLE,         /* cold: write sriov_numvfs */
	STEP_LAYOUT,         /* read offset and stride, compute every address */
	STEP_SURVEY,         /* warm, or bound as they came: which VFs are bound to what */
	STEP_BIND_OVERRIDE,  /* override and bind, for each VF of the range */
	STEP_BIND_ID,        /* autoprobe 1, then bind alone, for each VF of the lane */
	STEP_AUTOPROBE_BACK, /* to what the manifest says, where we changed it */
	_STEP_MAX,
};

enum strategy { STRATEGY_OVERRIDE, STRATEGY_ID, _STRATEGY_MAX };

struct step {
	enum step_kind kind;
	const char *driver; /* of BIND_*; borrowed from the manifest */
	unsigned first, n;  /* range of plan_lane.vfs */
};

enum { PLAN_DRIVERS_MAX = 16, PLAN_STEPS_MAX = 8 + PLAN_DRIVERS_MAX };

struct plan_lane {
	const struct manifest_pf *pf;
	enum strategy strategy;
	const char *strategy_reason;    /* why `id` was not taken; "" where it was */
	int priority;                   /* the highest of the owners of its VFs */
	unsigned id_group;              /* with STRATEGY_ID: index into plan.id_groups */
	bool binds_as_they_come;        /* with STRATEGY_ID: see bound_by_enabling() in plan.c */
	const struct manifest_vf **vfs; /* by driver, in it by priority, then index */
	unsigned n_vfs;
	int *position; /* of the VF with index i in vfs, -1 when unlisted; pf->num_vfs of them */
	struct step steps[PLAN_STEPS_MAX];
	unsigned n_steps;
};

/* Lanes that bind by the same id to the same driver. PFs that have this id themselves (NVMe) are
 * seen bound to their own driver first: an unbound one would be taken too. */
struct plan_id_group {
	uint16_t vendor, device;
	const char *driver;
	const struct manifest_pf **pfs;
	unsigned n_pfs;
	char text[sizeof("vvvv dddd") - 1 + 1]; /* what new_id takes */
};

struct plan {
	const struct manifest *manifest; /* borrowed */
	struct plan_lane *lanes;
	unsigned n_lanes;
	unsigned n_vfs;
	struct plan_id_group *id_groups;
	unsigned n_id_groups;
};

/* What a lane met, as far as it changes the price. plan_facts_foreseen() tells what the plan
 * counts on: cold and undisturbed. */
struct plan_facts {
	bool warm;
	unsigned n_looks; /* readlinks of the PF's driver: more than 1 when it came late */
	bool autoprobe_was_off;
	bool autoprobe_left; /* a killed run before this one had changed it */
	bool by_id;          /* the id was registered when it was needed */
	bool bound_as_they_came;
	unsigned n_right;       /* VFs found bound as they should be by the survey */
	unsigned n_missing;     /* ... with another driver or none */
	unsigned n_absent;      /* overrides of VFs that were not there yet */
	bool in_vain;           /* a touch failed and another way was gone: no exact price */
	unsigned n_busy;        /* VFs that had a driver when they were to be bound */
	unsigned n_wrong;       /* VFs taken from a wrong driver */
	unsigned n_bound_by_id; /* binds without an override */
	unsigned n_bound_by_override;
};

enum { PLAN_ERROR_LEN = 512 };
enum { _PLAN_E_SUCCESS, PLAN_E_REFUSED };

/* Computes the plan. Refused (text says why) when the settings ask for `id` where the manifest
 * does not prove it, or a PF's VFs want more than 16 drivers. The manifest must outlive it. */
int plan_make(struct plan *ret, const struct manifest *m, const struct conf *c,
	      char ret_error[static PLAN_ERROR_LEN]) _must_check_;
void plan_done(struct plan *p);

void plan_facts_foreseen(const struct plan_lane *l, struct plan_facts *ret);
/* The price of one lane under the facts given: what it will touch (facts foreseen) or should have
 * touched (facts met), as long as nothing failed. */
void plan_price_lane(const struct plan_lane *l, const struct plan_facts *facts, struct tally *ret);
/* The price of registering an id and taking it back. */
void plan_price_id(const struct plan_id_group *g, struct tally *ret);
/* The price of the whole plan if all is cold and undisturbed. */
void plan_price(const struct plan *p, struct tally *ret);

bool plan_driver_is_vfio(const char *driver); /* vfio-pci or a variant driver; false for NULL */
bool plan_vf_wants_node(const struct manifest_vf *vf); /* true: done when its device node is open */
const char *step_name(enum step_kind kind);            /* "enable" */
const char *strategy_name(enum strategy s);
