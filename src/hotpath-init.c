/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/eventfd.h>
#include "hotpath.h"
#include "worker.h"

static void count_owners(struct hotpath *h)
{
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		for (unsigned k = 0; k < h->plan->lanes[i].n_vfs; k++) {
			const struct manifest_vf *vf = h->plan->lanes[i].vfs[k];

			if (vf->has_owner)
				h->owners[vf->owner].n++;
		}
}

static int init_lane(struct hotpath *h, unsigned i, int sysfs_root, const struct journal *journal)
{
	struct hot_lane *hl = &h->lanes[i];
	struct lane *l = &hl->lane;

	l->plan = &h->plan->lanes[i];
	l->journal = journal;
	if (l->plan->strategy == STRATEGY_ID)
		l->registrar = &h->registrars[l->plan->id_group];
	l->baton = &h->baton;
	l->report_fd = fcntl(h->report_fd, F_DUPFD_CLOEXEC, 0);
	l->sysfs.root = sysfs_root;
	for (unsigned k = 0; k < l->plan->n_vfs; k++) {
		hl->vfs[k].fd = -1;
		if (!l->plan->vfs[k]->driver)
			l->outcomes[k].need = VF_NEEDS_NOTHING;
	}
	l->wake_fd = eventfd(0, EFD_CLOEXEC);
	return l->wake_fd < 0 || l->report_fd < 0 ? -errno : worker_start(l);
}

/* The lines of an id stand in the journal under its first lane's PF. */
static int init_registrar(struct hotpath *h, unsigned i, int sysfs_root,
			  const struct journal *journal)
{
	struct registrar *r = &h->registrars[i];

	r->group = &h->plan->id_groups[i];
	r->journal = journal;
	for (unsigned k = h->plan->n_lanes; k-- > 0;)
		if (h->plan->lanes[k].strategy == STRATEGY_ID && h->plan->lanes[k].id_group == i)
			r->journal_pf = h->plan->lanes[k].pf->address;
	r->sysfs.root = sysfs_root;
	r->report_fd = fcntl(h->report_fd, F_DUPFD_CLOEXEC, 0);
	r->wake_fd = eventfd(0, EFD_CLOEXEC);
	return r->wake_fd < 0 || r->report_fd < 0 ? -errno : registrar_start(r);
}

int hotpath_init(struct hotpath *h, int sysfs_root, int dev, const struct journal *journal)
{
	int r = 0;

	h->sysfs = (struct sysfs){ sysfs_root, &h->tally };
	h->vfio = (struct vfio){ dev, &h->tally };
	h->baton.needed = !vfio_has_iommufd(&h->vfio);
	(void) pthread_mutex_init(&h->baton.mutex, NULL); /* always 0 in glibc */
	count_owners(h);
	h->report_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->report_fd < 0)
		return -errno;
	for (unsigned i = 0; i < h->plan->n_id_groups && !r; i++)
		r = init_registrar(h, i, sysfs_root, journal);
	for (unsigned i = 0; i < h->plan->n_lanes && !r; i++)
		r = init_lane(h, i, sysfs_root, journal);
	return r;
}

void hotpath_done(struct hotpath *h)
{
	bool hangs = hotpath_hangs(h);

	for (unsigned i = 0; i < h->plan->n_lanes; i++) {
		for (unsigned k = 0; k < h->plan->lanes[i].n_vfs; k++)
			close_fd(&h->lanes[i].vfs[k].fd);
		if (h->lanes[i].ended) {
			close_fd(&h->lanes[i].lane.pf_fd);
			close_fd(&h->lanes[i].lane.wake_fd);
		}
	}
	for (unsigned i = 0; i < h->plan->n_id_groups && !hangs; i++)
		close_fd(&h->registrars[i].wake_fd);
	if (!hangs)
		close_fd(&h->report_fd);
}

void hotpath_tally(const struct hotpath *h, struct tally *ret)
{
	*ret = h->tally;
	for (unsigned i = 0; i < h->plan->n_lanes; i++)
		tally_add(ret, &h->lanes[i].lane.tally);
	for (unsigned i = 0; i < h->plan->n_id_groups; i++)
		tally_add(ret, &h->registrars[i].tally);
}

void hotpath_budget(const struct hotpath *h, struct tally *ret, bool *ret_exact)
{
	struct tally t;

	*ret = (struct tally){ 0 };
	*ret_exact = h->n_lacks == 0 && !h->in_vain && !hotpath_hangs(h);
	for (unsigned i = 0; i < h->plan->n_lanes; i++) {
		if (!h->lanes[i].ended)
			continue; /* what a stuck lane says is its own */
		*ret_exact &= !h->lanes[i].lane.facts.in_vain;
		plan_price_lane(h->lanes[i].lane.plan, &h->lanes[i].lane.facts, &t);
		tally_add(ret, &t);
	}
	for (unsigned i = 0; i < h->plan->n_id_groups; i++) {
		if (atomic_load(&h->registrars[i].state) != REGISTRAR_GONE)
			continue;
		registrar_price(&h->registrars[i], &t);
		tally_add(ret, &t);
	}
	/* how far vfio<n> goes is not in any plan, nor which groups' events came in order */
	ret->sysfs[SYSFS_VFIO_DEV][SYSFS_LINK] += h->tally.sysfs[SYSFS_VFIO_DEV][SYSFS_LINK];
	ret->sysfs[SYSFS_VF_GROUP][SYSFS_LINK] += h->n_group_links;
}
