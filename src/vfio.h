/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * vfio - the way from a VF to the fd that its VMM needs.
 *
 * Knows the device nodes: /dev/vfio/devices/vfio<n> (cdev) and /dev/vfio/<group>. Opening one
 * resets nothing and waits for nothing; the 100 ms reset comes with VFIO_DEVICE_BIND_IOMMUFD or
 * VFIO_GROUP_GET_DEVICE_FD, in the VMM.
 */
#include "base.h"
#include "tally.h"

enum vfio_kind {
	VFIO_CDEV,
	VFIO_GROUP,
	VFIO_NOIOMMU_CDEV,  /* noiommu-vfio<n> */
	VFIO_NOIOMMU_GROUP, /* noiommu-<n> */
	_VFIO_KIND_MAX,
};

struct vfio_node {
	enum vfio_kind kind;
	unsigned number;
};

struct vfio {
	int dev;             /* fd of /dev, or of a test's tree; borrowed */
	struct tally *tally; /* borrowed */
};

enum { VFIO_PATH_MAX = sizeof("/dev/vfio/devices/noiommu-vfio4294967295") };

/* "/dev/vfio/devices/vfio3" */
void vfio_node_path(struct vfio_node node, char ret[static VFIO_PATH_MAX]);

/* Opens the node. -errno as the kernel gives it: EBUSY, somebody holds the group. */
int vfio_open(struct vfio *v, struct vfio_node node, int *ret_fd) _must_check_;

/* Will devices have a cdev here? True where /dev/iommu is there: VFIO_DEVICE_CDEV needs IOMMUFD. */
bool vfio_has_iommufd(const struct vfio *v);

/* Has any device that is bound now a cdev? */
bool vfio_has_cdevs(const struct vfio *v);
