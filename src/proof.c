/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "proof.h"

static void settle_owner(struct hotpath *h, const struct manifest_vf *vf, enum vf_state state,
			 uint64_t now)
{
	struct hot_owner *o = &h->owners[vf->owner];

	if (state == VF_LACKS)
		o->n_lacks++;
	else
		o->n_ready++;
	if (o->n_ready == o->n)
		o->ready_ns = now;
}

void proof_settle_vf(struct hotpath *h, struct hot_lane *hl, unsigned i, enum vf_state state,
		     enum cause cause, enum place place, int error, uint64_t now)
{
	const struct manifest_vf *promised = hl->lane.plan->vfs[i];
	struct hot_vf *vf = &hl->vfs[i];

	if (vf->state != VF_WAITS)
		return;
	vf->state = state;
	vf->cause = cause;
	vf->place = place;
	vf->error = error;
	vf->ready_ns = state == VF_LACKS ? 0 : now;
	hl->n_settled++;
	hl->n_lacks += state == VF_LACKS;
	h->n_ready += state == VF_READY;
	h->n_held += state == VF_HELD;
	h->n_lacks += state == VF_LACKS;
	if (promised->has_owner)
		settle_owner(h, promised, state, now);
}

/* The number of a group does not tell whether it has an IOMMU, its node's name does (CASES B17).
 * true: it has none, and that is not allowed; else it is open, or not there either. */
static bool has_noiommu_group(struct hotpath *h, struct hot_vf *vf)
{
	struct vfio_node node = { VFIO_NOIOMMU_GROUP, vf->node.number };

	h->in_vain = true;
	if (vfio_open(&h->vfio, node, &vf->fd))
		return false;
	vf->node = node;
	if (h->conf->allow_noiommu)
		return false;
	close_fd(&vf->fd);
	return true;
}

static void open_node(struct hotpath *h, struct hot_lane *hl, unsigned i, uint64_t now)
{
	struct hot_vf *vf = &hl->vfs[i];
	int r = vfio_open(&h->vfio, vf->node, &vf->fd);

	if (r == -ENOENT && vf->node.kind == VFIO_GROUP && has_noiommu_group(h, vf)) {
		proof_settle_vf(h, hl, i, VF_LACKS, CAUSE_NO_IOMMU, PLACE_NODE, 0, now);
		return;
	}
	if (vf->fd >= 0)
		r = 0;
	if (!r)
		proof_settle_vf(h, hl, i, VF_READY, CAUSE_NONE, PLACE_NODE, 0, now);
	else if (r == -EBUSY && hl->lane.facts.warm) /* adopted: its VMM has it already */
		proof_settle_vf(h, hl, i, VF_HELD, CAUSE_NONE, PLACE_NODE, 0, now);
	else
		proof_settle_vf(h, hl, i, VF_LACKS, cause_of(PLACE_NODE, -r), PLACE_NODE, -r, now);
}

static bool read_group_number(const char *text, unsigned *ret)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9' && n <= UINT32_MAX; text++)
		n = n * 10 + (unsigned) (*text - '0');
	*ret = (unsigned) n;
	return !*text && n <= UINT32_MAX;
}

/* The group by the VF's own link: one node of it is touched. Where it was seen, for the lane may not
 * have read the layout yet. */
static int read_group(struct hotpath *h, struct hot_lane *hl, unsigned i)
{
	char text[SYSFS_TEXT_MAX];
	int r;

	h->n_group_links++;
	r = sysfs_link_vf(&h->sysfs, hl->lane.pf_fd, SYSFS_VF_GROUP, hl->vfs[i].seen_at, text,
			  sizeof(text));
	if (r)
		return r < 0 ? r : -ENOENT;
	return read_group_number(text, &hl->vfs[i].node.number) ? 0 : -EINVAL;
}

static void take_group(struct hotpath *h, struct hot_lane *hl, unsigned i, uint64_t now)
{
	struct hot_vf *vf = &hl->vfs[i];
	bool in_order = h->has_last_group && !h->group_order_lost && h->baton.needed &&
			!atomic_load(&h->baton.broken);
	int r = 0;

	vf->node.kind = VFIO_GROUP;
	if (in_order)
		vf->node = (struct vfio_node){ h->last_group_noiommu ? VFIO_NOIOMMU_GROUP
								     : VFIO_GROUP,
					       h->last_group };
	else
		r = read_group(h, hl, i);
	if (r)
		proof_settle_vf(h, hl, i, VF_LACKS, cause_of(PLACE_PROOF, -r), PLACE_PROOF, -r,
				now);
}

/* A VF's device was seen: with a cdev or without. It cannot be opened yet. */
static void see_device(struct hotpath *h, struct hot_lane *hl, unsigned i, struct bdf at,
		       const struct vfio_node *cdev, uint64_t now)
{
	struct hot_vf *vf = &hl->vfs[i];

	if (vf->state != VF_WAITS || !plan_vf_wants_node(hl->lane.plan->vfs[i]))
		return;
	vf->seen_ns = now;
	vf->seen_at = at;
	if (cdev)
		vf->node = *cdev;
	else
		take_group(h, hl, i, now);
	vf->has_node = vf->state == VF_WAITS;
}

static void open_if_seen(struct hotpath *h, struct hot_lane *hl, unsigned i, uint64_t now)
{
	struct hot_vf *vf = &hl->vfs[i];

	if (vf->state != VF_WAITS || !vf->has_node || !atomic_load(&hl->lane.has_layout))
		return;
	if (bdf_compare(vf->seen_at, lane_vf_address(&hl->lane, i)) != 0) {
		vf->has_node = false; /* it was another VF's: the lane asks for a survey */
		return;
	}
	if (vf->node.kind >= VFIO_NOIOMMU_CDEV && !h->conf->allow_noiommu)
		proof_settle_vf(h, hl, i, VF_LACKS, CAUSE_NO_IOMMU, PLACE_NODE, 0, now);
	else
		open_node(h, hl, i, now);
}

/* Is it a VF of this lane? While the lane has not read the layout, the manifest's stands for it. */
static bool is_in_lane(const struct hot_lane *hl, struct bdf address, unsigned *ret_i)
{
	const struct plan_lane *p = hl->lane.plan;
	bool known = atomic_load(&hl->lane.has_layout);
	unsigned offset = known ? hl->lane.offset : p->pf->offset, index;
	unsigned stride = known ? hl->lane.stride : p->pf->stride;

	if (hl->over_ns || !hl->admitted_ns ||
	    !bdf_vf_index(p->pf->address, offset, stride, p->pf->num_vfs, address, &index) ||
	    p->position[index] < 0)
		return false;
	*ret_i = (unsigned) p->position[index];
	return true;
}

/* Which VF of ours is at this address? */
static struct hot_lane *find_vf(struct hotpath *h, struct bdf address, unsigned *ret_i)
{
	for (unsigned n = 0; n < h->plan->n_lanes; n++)
		if (is_in_lane(&h->lanes[n], address, ret_i))
			return &h->lanes[n];
	return NULL;
}

void proof_on_group(struct hotpath *h, const struct uevent *e)
{
	if (h->has_last_group) /* two groups in a row: binds are not one at a time */
		h->group_order_lost = true;
	h->has_last_group = true;
	h->last_group = e->number;
	h->last_group_noiommu = e->noiommu;
}

void proof_on_device(struct hotpath *h, const struct uevent *e, uint64_t now)
{
	struct vfio_node cdev = { e->noiommu ? VFIO_NOIOMMU_CDEV : VFIO_CDEV, e->number };
	struct hot_lane *hl;
	unsigned i;

	if (!h->has_last_group) /* a device of a group that was there: order tells nothing */
		h->group_order_lost = true;
	hl = find_vf(h, e->bdf, &i);
	if (hl)
		see_device(h, hl, i, e->bdf, e->has_node ? &cdev : NULL, now);
	h->has_last_group = false;
}

void proof_on_bound(struct hotpath *h, const struct uevent *e, uint64_t now)
{
	unsigned i;
	struct hot_lane *hl = find_vf(h, e->bdf, &i);
	const char *promised = hl ? hl->lane.plan->vfs[i]->driver : NULL;

	if (!promised || strcmp(promised, e->driver) != 0) /* somebody else's bind is no proof */
		return;
	hl->vfs[i].is_bound = true;
	open_if_seen(h, hl, i, now);
}

void proof_open_pending(struct hotpath *h, uint64_t now)
{
	for (unsigned n = 0; n < h->plan->n_lanes; n++) {
		struct hot_lane *hl = &h->lanes[n];

		if (hl->has_layout || !atomic_load(&hl->lane.has_layout))
			continue;
		hl->has_layout = true;
		for (unsigned i = 0; i < hl->lane.plan->n_vfs; i++)
			if (hl->vfs[i].is_bound)
				open_if_seen(h, hl, i, now);
	}
}

/* Bound, and its node is all that it waits for. A device that a lane is about to take from a wrong
 * driver is not. */
static bool waits_for_node(const struct hot_lane *hl, unsigned i)
{
	uint8_t act = atomic_load(&hl->lane.outcomes[i].act);

	return (act == VF_WAS_RIGHT || act == VF_BOUND_BY_US) && hl->vfs[i].state == VF_WAITS &&
	       plan_vf_wants_node(hl->lane.plan->vfs[i]);
}

static unsigned count_waiting(const struct hotpath *h)
{
	unsigned count = 0;

	for (unsigned n = 0; n < h->plan->n_lanes; n++)
		for (unsigned i = 0; i < h->lanes[n].lane.plan->n_vfs; i++)
			count += !h->lanes[n].over_ns && waits_for_node(&h->lanes[n], i);
	return count;
}

/* Without cdevs the VF's own link tells its group. */
static void survey_groups(struct hotpath *h, uint64_t now)
{
	h->group_order_lost = true; /* their events may still be in the queue */
	for (unsigned n = 0; n < h->plan->n_lanes; n++)
		for (unsigned i = 0; i < h->lanes[n].lane.plan->n_vfs; i++) {
			struct hot_lane *hl = &h->lanes[n];

			if (hl->over_ns || !waits_for_node(hl, i))
				continue;
			see_device(h, hl, i, lane_vf_address(&hl->lane, i), NULL, now);
			open_if_seen(h, hl, i, now);
		}
}

/* Numbers are given lowest first (drivers/vfio/vfio_main.c: ida_alloc), so gaps come only from
 * devices that went. */
void proof_survey(struct hotpath *h, uint64_t now)
{
	unsigned patience = h->plan->n_vfs + 1024, misses = 0, waiting = count_waiting(h);

	if (waiting > 0 && !vfio_has_cdevs(&h->vfio)) {
		survey_groups(h, now);
		return;
	}
	for (unsigned n = 0; misses < patience && waiting > 0; n++) {
		struct vfio_node cdev = { VFIO_CDEV, n };
		struct hot_lane *hl;
		struct bdf device;
		unsigned i;
		int r = sysfs_vfio_dev(&h->sysfs, n, &device);

		misses = r < 0 || r == SYSFS_E_ABSENT ? misses + 1 : 0;
		hl = r ? NULL : find_vf(h, device, &i);
		if (!hl || !waits_for_node(hl, i))
			continue;
		see_device(h, hl, i, device, &cdev, now);
		open_if_seen(h, hl, i, now);
		if (--waiting == 0)
			waiting = count_waiting(h); /* lanes at work may have published more */
	}
}

void proof_read_outcomes(struct hotpath *h, struct hot_lane *hl, uint64_t now)
{
	for (unsigned i = 0; i < hl->lane.plan->n_vfs; i++) {
		const struct vf_outcome *o = &hl->lane.outcomes[i];

		switch ((enum vf_act) atomic_load(&o->act)) {
		case VF_FAILED:
			proof_settle_vf(h, hl, i, VF_LACKS, o->cause, o->place, o->error, now);
			break;
		case VF_UNTOUCHED: /* the manifest wants it without a driver, or the lane stopped */
			if (!hl->lane.plan->vfs[i]->driver && hl->lane.cause == CAUSE_NONE)
				proof_settle_vf(h, hl, i, VF_READY, CAUSE_NONE, PLACE_BIND, 0, now);
			break;
		case VF_WAS_RIGHT:
		case VF_BOUND_BY_US:
			if (!plan_vf_wants_node(hl->lane.plan->vfs[i]))
				proof_settle_vf(h, hl, i, VF_READY, CAUSE_NONE, PLACE_BIND, 0, now);
			break;
		}
	}
}

enum place proof_place_of_step(const struct lane *l)
{
	static const enum place places[] = {
		[STEP_LOOK] = PLACE_PF_LOOK,  [STEP_COUNT] = PLACE_PF_LOOK,
		[STEP_ID] = PLACE_ID,         [STEP_AUTOPROBE] = PLACE_AUTOPROBE,
		[STEP_ENABLE] = PLACE_ENABLE, [STEP_LAYOUT] = PLACE_LAYOUT,
		[STEP_SURVEY] = PLACE_PROOF,  [STEP_BIND_OVERRIDE] = PLACE_BIND,
		[STEP_BIND_ID] = PLACE_BIND,  [STEP_AUTOPROBE_BACK] = PLACE_AUTOPROBE,
	};
	_Static_assert(ELEMENTSOF(places) == _STEP_MAX, "every step is somewhere");

	return places[atomic_load(&l->step)];
}
