/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* VFIO devices, their groups and who holds them open (drivers/vfio/vfio_main.c, group.c). */
#include <errno.h>
#include <stdio.h>
#include "entries.h"
#include "model.h"
#include "uevent-send.h"

void vfio_device_name(const struct device *d, char ret[static 32])
{
	snprintf(ret, 32, "%svfio%d", model.noiommu ? "noiommu-" : "", d->vfio);
}

void vfio_group_name(const struct group *g, char ret[static 32])
{
	snprintf(ret, 32, "%s%u", model.noiommu ? "noiommu-" : "", g->id);
}

/* __vfio_register_dev(): the group's node and event first, then the device's. */
void vfio_attach(struct device *d)
{
	struct group *g;

	if (model.noiommu)
		group_join(d, NULL);
	g = d->group;
	if (g->vfio_devices++ == 0 && model.group_nodes) {
		g->minor = (unsigned) numbers_take(&model.group_minors);
		uevent_vfio_group("add", g);
	}
	d->vfio = numbers_take(&model.vfio_ids);
	model.vfios[d->vfio] = d;
	uevent_vfio_dev("add", d);
	if (d->kind == DEVICE_VF)
		model.n_nodes += entries_count_vfio();
}

/* vfio_unregister_group_dev(): no new opens, the device's event, sleep until it is released, the
 * group's event. */
void vfio_detach(struct device *d)
{
	struct group *g = d->group;

	uevent_vfio_dev("remove", d);
	model.vfios[d->vfio] = NULL;
	numbers_give(&model.vfio_ids, d->vfio);
	d->vfio = -1;
	while (!model.ending && (d->opened || (g->opened && g->vfio_devices == 1)))
		pthread_cond_wait(&model.released, &model.mutex);
	if (--g->vfio_devices == 0 && model.group_nodes) {
		uevent_vfio_group("remove", g);
		numbers_give(&model.group_minors, (int) g->minor);
	}
	if (model.noiommu)
		group_leave(d);
}

int vfio_open_device(struct device *d)
{
	if (d->vfio < 0)
		return -ENODEV;
	d->opened++;
	return 0;
}

int vfio_open_group(struct group *g)
{
	if (!g->vfio_devices)
		return -ENODEV;
	if (g->opened)
		return -EBUSY;
	g->opened++;
	return 0;
}

void vfio_close_device(struct device *d)
{
	d->opened--;
	pthread_cond_broadcast(&model.released);
}

void vfio_close_group(struct group *g)
{
	g->opened--;
	pthread_cond_broadcast(&model.released);
}
