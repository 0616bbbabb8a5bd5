/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * proof - which VF is ready: turns device events into device nodes, opens them, and settles each
 * VF once. Part of the loop's side; works on the state of hotpath.h.
 *
 * Without a cdev the node is that of the IOMMU group, whose event carries no address. The kernel
 * sends it directly before the device's own (drivers/vfio/vfio_main.c: the group is made when its
 * first device registers), so while binds happen one at a time the last group event belongs to
 * the next device event. Whenever that cannot be relied on, the VF's iommu_group link is read.
 */
#include "hotpath.h"

/* Events come in this order: group, device, bound. A device is opened when it is bound and not
 * earlier: between its own event and the end of the driver's probe the kernel answers ENODEV
 * (drivers/vfio/vfio_main.c: __vfio_register_dev counts its first reference after device_add). */
void proof_on_group(struct hotpath *h, const struct uevent *e);
void proof_on_device(struct hotpath *h, const struct uevent *e, uint64_t now);

/* VFs that are bound as they come are seen before their lane has read where they are: by the
 * manifest's offset and stride then, and opened when the lane has confirmed these. */
void proof_open_pending(struct hotpath *h, uint64_t now);
void proof_on_bound(struct hotpath *h, const struct uevent *e, uint64_t now);

/* Finds the nodes of all VFs that are bound and not settled, from /sys/class/vfio-dev's links, or
 * their groups from their own:
 * for adopted VFs, and after lost events. Reads no directory. */
void proof_survey(struct hotpath *h, uint64_t now);

/* A lane's thread has ended: settle what its outcomes decide. */
void proof_read_outcomes(struct hotpath *h, struct hot_lane *hl, uint64_t now);

/* Settles a VF, unless it is settled. */
void proof_settle_vf(struct hotpath *h, struct hot_lane *hl, unsigned i, enum vf_state state,
		     enum cause cause, enum place place, int error, uint64_t now);

/* Where a lane is that does not come back. */
enum place proof_place_of_step(const struct lane *l);
