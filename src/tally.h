/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * tally - the words for touching the kernel, and a count of each.
 *
 * The plan fills one tally beforehand (the budget), the doors fill another as they go. The hot
 * path is right when the two are equal.
 */
#include "base.h"

enum sysfs_node {
	SYSFS_PF_DRIVER,    /* l  devices/<pf>/driver */
	SYSFS_PF_MODALIAS,  /* r  devices/<pf>/modalias: vendor and device in one read */
	SYSFS_PF_SERIAL,    /* r  devices/<pf>/serial_number */
	SYSFS_PF_NUMVFS,    /* rw devices/<pf>/sriov_numvfs */
	SYSFS_PF_TOTALVFS,  /* r  devices/<pf>/sriov_totalvfs: only to explain a refusal */
	SYSFS_PF_AUTOPROBE, /* rw devices/<pf>/sriov_drivers_autoprobe */
	SYSFS_PF_OFFSET,    /* r  devices/<pf>/sriov_offset */
	SYSFS_PF_STRIDE,    /* r  devices/<pf>/sriov_stride */
	SYSFS_VF_DRIVER,    /* l  devices/<vf>/driver */
	SYSFS_VF_OVERRIDE,  /* rw devices/<vf>/driver_override */
	SYSFS_VF_GROUP,     /* l  devices/<vf>/iommu_group */
	SYSFS_DRIVER_BIND,  /* w  drivers/<driver>/bind */
	SYSFS_DRIVER_UNBIND,
	SYSFS_DRIVER_NEW_ID,
	SYSFS_DRIVER_REMOVE_ID,
	SYSFS_DRIVER_DEVICE, /* l  drivers/<driver>/<bdf> */
	SYSFS_VFIO_DEV,      /* l  class/vfio-dev/vfio<n> */
	_SYSFS_NODE_MAX,
};

enum sysfs_op {
	SYSFS_READ,
	SYSFS_WRITE,
	SYSFS_LINK,
	_SYSFS_OP_MAX,
};

struct tally {
	uint32_t sysfs[_SYSFS_NODE_MAX][_SYSFS_OP_MAX];
	uint32_t opens; /* of VFIO device nodes */
};

static inline void tally_add(struct tally *sum, const struct tally *t)
{
	for (unsigned n = 0; n < _SYSFS_NODE_MAX; n++)
		for (unsigned op = 0; op < _SYSFS_OP_MAX; op++)
			sum->sysfs[n][op] += t->sysfs[n][op];
	sum->opens += t->opens;
}

/* Touches of nodes inside VF directories. */
static inline uint32_t tally_vf_nodes(const struct tally *t)
{
	uint32_t sum = 0;

	for (unsigned op = 0; op < _SYSFS_OP_MAX; op++)
		sum += t->sysfs[SYSFS_VF_DRIVER][op] + t->sysfs[SYSFS_VF_OVERRIDE][op] +
		       t->sysfs[SYSFS_VF_GROUP][op];
	return sum;
}

/* Writes to sysfs, of whatever node. */
static inline uint32_t tally_writes(const struct tally *t)
{
	uint32_t sum = 0;

	for (unsigned n = 0; n < _SYSFS_NODE_MAX; n++)
		sum += t->sysfs[n][SYSFS_WRITE];
	return sum;
}
