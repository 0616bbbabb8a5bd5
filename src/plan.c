/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include "plan.h"

static const char *const step_names[] = {
	[STEP_LOOK] = "look",       [STEP_COUNT] = "count",
	[STEP_ID] = "id",           [STEP_AUTOPROBE] = "autoprobe",
	[STEP_ENABLE] = "enable",   [STEP_LAYOUT] = "layout",
	[STEP_SURVEY] = "survey",   [STEP_BIND_OVERRIDE] = "bind-override",
	[STEP_BIND_ID] = "bind-id", [STEP_AUTOPROBE_BACK] = "autoprobe-back",
};
_Static_assert(ELEMENTSOF(step_names) == _STEP_MAX, "every step has a name");

static const char *const strategy_names[] = {
	[STRATEGY_OVERRIDE] = "override",
	[STRATEGY_ID] = "id",
};
_Static_assert(ELEMENTSOF(strategy_names) == _STRATEGY_MAX, "every strategy has a name");

const char *step_name(enum step_kind kind)
{
	return step_names[kind];
}

const char *strategy_name(enum strategy s)
{
	return strategy_names[s];
}

bool plan_driver_is_vfio(const char *driver)
{
	return driver && strstr(driver, "vfio");
}

bool plan_vf_wants_node(const struct manifest_vf *vf)
{
	return plan_driver_is_vfio(vf->driver);
}

/* For the order of a lane's VFs, which needs the owners' priorities. */
struct ranked_vf {
	const struct manifest_vf *vf;
	int priority;
};

static int compare_drivers(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b; /* those that stay unbound come last */
	if (plan_driver_is_vfio(a) != plan_driver_is_vfio(b))
		return plan_driver_is_vfio(a) ? -1 : 1; /* guests wait for these */
	return strcmp(a, b);
}

static int compare_vfs(const void *pa, const void *pb)
{
	const struct ranked_vf *a = pa, *b = pb;
	int r = compare_drivers(a->vf->driver, b->vf->driver);

	if (r)
		return r;
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return a->vf->index < b->vf->index ? -1 : a->vf->index > b->vf->index;
}

static int vf_priority(const struct manifest *m, const struct manifest_vf *vf)
{
	return vf->has_owner ? m->owners[vf->owner].priority : 0;
}

static int rank_vfs(struct plan_lane *lane, const struct manifest *m)
{
	const struct manifest_pf *pf = lane->pf;
	_cleanup_(free_pointer) struct ranked_vf *ranked = calloc(pf->n_vfs + 1, sizeof(*ranked));

	lane->vfs = calloc(pf->n_vfs + 1, sizeof(*lane->vfs));
	lane->position = calloc(pf->num_vfs, sizeof(*lane->position));
	if (!ranked || !lane->vfs || !lane->position)
		return -ENOMEM;
	lane->priority = INT32_MIN;
	for (unsigned i = 0; i < pf->n_vfs; i++) {
		ranked[i] = (struct ranked_vf){ &pf->vfs[i], vf_priority(m, &pf->vfs[i]) };
		if (ranked[i].priority > lane->priority)
			lane->priority = ranked[i].priority;
	}
	qsort(ranked, pf->n_vfs, sizeof(*ranked), compare_vfs);
	for (unsigned i = 0; i < pf->num_vfs; i++)
		lane->position[i] = -1;
	for (unsigned i = 0; i < pf->n_vfs; i++) {
		lane->vfs[i] = ranked[i].vf;
		lane->position[ranked[i].vf->index] = (int) i;
	}
	lane->n_vfs = pf->n_vfs;
	return 0;
}

/* Why the lane cannot bind by id; NULL: it can. */
static const char *id_obstacle(const struct plan_lane *lane)
{
	const char *driver = lane->n_vfs > 0 ? lane->vfs[0]->driver : NULL;

	if (lane->n_vfs < lane->pf->num_vfs)
		return "not all of its VFs are in the manifest";
	for (unsigned i = 0; i < lane->n_vfs; i++)
		if (!lane->vfs[i]->driver || strcmp(lane->vfs[i]->driver, driver) != 0)
			return "its VFs do not all go to one driver";
	if (!plan_driver_is_vfio(driver))
		return "its VFs' driver is not a VFIO driver";
	if (!lane->pf->vf_id_is_ours)
		return "the manifest does not say that the VFs' id is ours alone";
	return NULL;
}

/* Where the VFs have their PF's id (NVMe), their native driver is the PF's and there. Such a driver
 * that probes in the background (PROBE_PREFER_ASYNCHRONOUS: nvme does) looks at
 * sriov_drivers_autoprobe only when its turn comes, which may be after we set it to 1 for a bind by
 * id: it then takes the VF (seen on 7.3 with 508 VFs). But when autoprobe is 1 and the id registered
 * as the VFs come, the kernel tries the drivers that probe at once first (drivers/base/dd.c:
 * __device_attach), so vfio-pci has them before. Where ids differ it is the other way round: a
 * native driver that probes at once comes before vfio-pci, so autoprobe has to be 0 meanwhile. */
static bool bound_by_enabling(const struct manifest_pf *pf)
{
	return pf->device == pf->vf_device;
}

static int choose_strategy(struct plan_lane *lane, const struct conf *c,
			   char ret_error[static PLAN_ERROR_LEN])
{
	const char *obstacle = id_obstacle(lane);
	char name[BDF_STRLEN + 1];

	if (c->bind_strategy == CONF_STRATEGY_ID && obstacle) {
		(void) bdf_format(lane->pf->address, name); /* returns the length */
		(void) snprintf(ret_error, PLAN_ERROR_LEN,
				"BindStrategy=id is not possible for %s: %s; use auto or override",
				name, obstacle); /* cut at worst */
		return PLAN_E_REFUSED;
	}
	if (c->bind_strategy == CONF_STRATEGY_OVERRIDE)
		obstacle = "the settings say override";
	lane->strategy = obstacle ? STRATEGY_OVERRIDE : STRATEGY_ID;
	lane->binds_as_they_come = !obstacle && bound_by_enabling(lane->pf);
	lane->strategy_reason = obstacle ? obstacle : "";
	return 0;
}

static void add_step(struct plan_lane *lane, struct step step)
{
	assert(lane->n_steps < PLAN_STEPS_MAX);
	lane->steps[lane->n_steps++] = step;
}

/* The end of the run of VFs that go to the same driver as the one at `first`. */
static unsigned driver_run_end(const struct plan_lane *lane, unsigned first)
{
	unsigned i = first + 1;

	while (i < lane->n_vfs && !compare_drivers(lane->vfs[i]->driver, lane->vfs[first]->driver))
		i++;
	return i;
}

static int add_binds(struct plan_lane *lane, char ret_error[static PLAN_ERROR_LEN])
{
	unsigned n_drivers = 0;

	for (unsigned i = 0, end; i < lane->n_vfs && lane->vfs[i]->driver; i = end) {
		if (n_drivers++ == PLAN_DRIVERS_MAX) {
			(void) snprintf(ret_error, PLAN_ERROR_LEN, /* cut at worst */
					"the VFs of one PF go to more than %d drivers; "
					"correct the manifest or capture again",
					PLAN_DRIVERS_MAX);
			return PLAN_E_REFUSED;
		}
		end = driver_run_end(lane, i);
		add_step(lane, (struct step){ lane->strategy == STRATEGY_ID ? STEP_BIND_ID
									    : STEP_BIND_OVERRIDE,
					      lane->vfs[i]->driver, i, end - i });
	}
	return 0;
}

static int lay_steps(struct plan_lane *lane, char ret_error[static PLAN_ERROR_LEN])
{
	static const enum step_kind before[] = { STEP_LOOK,      STEP_COUNT,  STEP_ID,
						 STEP_AUTOPROBE, STEP_ENABLE, STEP_LAYOUT,
						 STEP_SURVEY };
	int r;

	for (unsigned i = 0; i < ELEMENTSOF(before); i++)
		if (before[i] != STEP_ID || lane->strategy == STRATEGY_ID)
			add_step(lane, (struct step){ .kind = before[i], .n = lane->n_vfs });
	r = add_binds(lane, ret_error);
	if (!r)
		add_step(lane, (struct step){ .kind = STEP_AUTOPROBE_BACK });
	return r;
}

static int compare_lanes(const void *pa, const void *pb)
{
	const struct plan_lane *a = pa, *b = pb;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return bdf_compare(a->pf->address, b->pf->address);
}

/* PFs that have the group's id themselves, with VFs to restore or not. */
static int find_id_pfs(struct plan_id_group *g, const struct manifest *m)
{
	g->pfs = calloc(m->n_pfs, sizeof(*g->pfs));
	if (!g->pfs)
		return -ENOMEM;
	for (unsigned i = 0; i < m->n_pfs; i++)
		if (m->pfs[i].vendor == g->vendor && m->pfs[i].device == g->device)
			g->pfs[g->n_pfs++] = &m->pfs[i];
	return 0;
}

static int join_id_group(struct plan *p, struct plan_lane *lane)
{
	const char *driver = lane->vfs[0]->driver;
	struct plan_id_group *g;

	for (unsigned i = 0; i < p->n_id_groups; i++) {
		g = &p->id_groups[i];
		if (g->vendor == lane->pf->vendor && g->device == lane->pf->vf_device &&
		    !strcmp(g->driver, driver)) {
			lane->id_group = i;
			return 0;
		}
	}
	lane->id_group = p->n_id_groups;
	g = &p->id_groups[p->n_id_groups++];
	g->vendor = lane->pf->vendor;
	g->device = lane->pf->vf_device;
	g->driver = driver;
	(void) snprintf(g->text, sizeof(g->text), "%04x %04x", g->vendor, g->device); /* fits */
	return find_id_pfs(g, p->manifest);
}

static int make_lane(struct plan *p, const struct manifest_pf *pf, const struct conf *c,
		     char ret_error[static PLAN_ERROR_LEN])
{
	struct plan_lane *lane = &p->lanes[p->n_lanes++];
	int r;

	lane->pf = pf;
	p->n_vfs += pf->n_vfs;
	r = rank_vfs(lane, p->manifest);
	if (!r)
		r = choose_strategy(lane, c, ret_error);
	return r ? r : lay_steps(lane, ret_error);
}

static int make_lanes(struct plan *p, const struct conf *c, char ret_error[static PLAN_ERROR_LEN])
{
	const struct manifest *m = p->manifest;
	int r = 0;

	p->lanes = calloc(m->n_pfs + 1, sizeof(*p->lanes));
	p->id_groups = calloc(m->n_pfs + 1, sizeof(*p->id_groups));
	if (!p->lanes || !p->id_groups)
		return -ENOMEM;
	for (unsigned i = 0; i < m->n_pfs && !r; i++)
		if (m->pfs[i].num_vfs > 0)
			r = make_lane(p, &m->pfs[i], c, ret_error);
	if (r)
		return r;
	qsort(p->lanes, p->n_lanes, sizeof(*p->lanes), compare_lanes);
	for (unsigned i = 0; i < p->n_lanes && !r; i++)
		if (p->lanes[i].strategy == STRATEGY_ID)
			r = join_id_group(p, &p->lanes[i]);
	return r;
}

int plan_make(struct plan *ret, const struct manifest *m, const struct conf *c,
	      char ret_error[static PLAN_ERROR_LEN])
{
	_cleanup_(plan_done) struct plan p = { .manifest = m };
	int r;

	r = make_lanes(&p, c, ret_error);
	if (r)
		return r;
	*ret = TAKE_AS(p, (struct plan){ 0 });
	return 0;
}

void plan_done(struct plan *p)
{
	for (unsigned i = 0; i < p->n_lanes; i++) {
		free(p->lanes[i].vfs);
		free(p->lanes[i].position);
	}
	for (unsigned i = 0; i < p->n_id_groups; i++)
		free(p->id_groups[i].pfs);
	free(p->lanes);
	free(p->id_groups);
	*p = (struct plan){ 0 };
}

static unsigned count_to_bind(const struct plan_lane *lane)
{
	unsigned n = 0;

	while (n < lane->n_vfs && lane->vfs[n]->driver)
		n++;
	return n;
}

void plan_facts_foreseen(const struct plan_lane *l, struct plan_facts *ret)
{
	bool by_id = l->strategy == STRATEGY_ID;
	unsigned n = count_to_bind(l);

	*ret = (struct plan_facts){ .n_looks = 1,
				    .autoprobe_was_off = !l->pf->drivers_autoprobe,
				    .by_id = by_id,
				    .bound_as_they_came = l->binds_as_they_come,
				    .n_right = l->binds_as_they_come ? n : 0,
				    .n_bound_by_id = by_id && !l->binds_as_they_come ? n : 0,
				    .n_bound_by_override = by_id ? 0 : n };
}

static void price_pf(const struct plan_lane *lane, const struct plan_facts *f, struct tally *t)
{
	t->sysfs[SYSFS_PF_DRIVER][SYSFS_LINK] += f->n_looks;
	t->sysfs[SYSFS_PF_MODALIAS][SYSFS_READ]++;
	if (lane->pf->serial_number)
		t->sysfs[SYSFS_PF_SERIAL][SYSFS_READ]++;
	t->sysfs[SYSFS_PF_NUMVFS][SYSFS_READ]++;
	t->sysfs[SYSFS_PF_AUTOPROBE][SYSFS_READ]++;
	t->sysfs[SYSFS_PF_OFFSET][SYSFS_READ]++;
	t->sysfs[SYSFS_PF_STRIDE][SYSFS_READ]++;
	if (!f->warm)
		t->sysfs[SYSFS_PF_NUMVFS][SYSFS_WRITE]++;
}

static void set(bool *now, bool *changed, bool value, uint32_t *writes)
{
	if (*now == value)
		return;
	*now = value;
	*changed = true;
	(*writes)++;
}

/* Follows the value of sriov_drivers_autoprobe through the lane. */
static void price_autoprobe(const struct plan_lane *lane, const struct plan_facts *f,
			    struct tally *t)
{
	bool now = !f->autoprobe_was_off, changed = f->autoprobe_left;
	uint32_t *writes = &t->sysfs[SYSFS_PF_AUTOPROBE][SYSFS_WRITE];

	if (!f->warm)
		set(&now, &changed, f->bound_as_they_came, writes);
	if (f->n_bound_by_id > 0)
		set(&now, &changed, true, writes);
	if (changed)
		set(&now, &changed, lane->pf->drivers_autoprobe, writes);
}

static void price_binds(const struct plan_facts *f, struct tally *t)
{
	unsigned overrides = f->n_bound_by_override + f->n_wrong;

	t->sysfs[SYSFS_VF_OVERRIDE][SYSFS_WRITE] += overrides + f->n_absent;
	t->sysfs[SYSFS_DRIVER_BIND][SYSFS_WRITE] += overrides + f->n_bound_by_id;
	t->sysfs[SYSFS_VF_OVERRIDE][SYSFS_READ] += f->n_wrong;
	t->sysfs[SYSFS_DRIVER_UNBIND][SYSFS_WRITE] += f->n_wrong;
	t->sysfs[SYSFS_DRIVER_DEVICE][SYSFS_LINK] += f->n_right + f->n_missing + f->n_busy;
	t->sysfs[SYSFS_VF_DRIVER][SYSFS_LINK] += f->n_missing + f->n_wrong;
}

void plan_price_lane(const struct plan_lane *l, const struct plan_facts *facts, struct tally *ret)
{
	*ret = (struct tally){ 0 };
	price_pf(l, facts, ret);
	price_autoprobe(l, facts, ret);
	price_binds(facts, ret);
	for (unsigned i = 0; i < l->n_vfs; i++)
		ret->opens += plan_vf_wants_node(l->vfs[i]);
}

void plan_price_id(const struct plan_id_group *g, struct tally *ret)
{
	*ret = (struct tally){ 0 };
	ret->sysfs[SYSFS_PF_DRIVER][SYSFS_LINK] = g->n_pfs;
	ret->sysfs[SYSFS_DRIVER_NEW_ID][SYSFS_WRITE] = 1;
	ret->sysfs[SYSFS_DRIVER_REMOVE_ID][SYSFS_WRITE] = 1;
}

void plan_price(const struct plan *p, struct tally *ret)
{
	struct tally t;

	*ret = (struct tally){ 0 };
	for (unsigned i = 0; i < p->n_lanes; i++) {
		struct plan_facts facts;

		plan_facts_foreseen(&p->lanes[i], &facts);
		plan_price_lane(&p->lanes[i], &facts, &t);
		tally_add(ret, &t);
	}
	for (unsigned i = 0; i < p->n_id_groups; i++) {
		plan_price_id(&p->id_groups[i], &t);
		tally_add(ret, &t);
	}
}
