/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * canned-plan - a small manifest in memory, for the tests of those who print plans: one PF whose
 * VFs go by id, one whose VFs are mixed, one of them without a driver.
 */
#include "plan.h"

struct canned_plan {
	struct manifest_owner owners[2];
	struct manifest_vf vfs_by_id[3], vfs_mixed[4];
	struct manifest_pf pfs[2];
	struct manifest manifest;
	struct conf conf;
	struct plan plan;
};

static inline struct manifest_vf canned_vf(unsigned index, const char *driver, unsigned owner,
					   const char *name)
{
	return (struct manifest_vf){
		.index = index, .driver = driver, .has_owner = true, .owner = owner, .name = name
	};
}

/* Fills *c in place: the plan points into it. */
static inline int canned_plan_make(struct canned_plan *c)
{
	char error[PLAN_ERROR_LEN];

	*c = (struct canned_plan){ .owners = { { .name = "vm-1" },
					       { .name = "vm-2", .priority = 10 } } };
	for (unsigned i = 0; i < 3; i++)
		c->vfs_by_id[i] = canned_vf(i, "vfio-pci", 0, "net0");
	c->vfs_mixed[0] = canned_vf(0, "vfio-pci", 1, "a");
	c->vfs_mixed[1] = canned_vf(1, "mlx5_vfio_pci", 1, "b");
	c->vfs_mixed[2] = canned_vf(2, "vfio-pci", 1, "c");
	c->vfs_mixed[3] = canned_vf(3, NULL, 0, "d");
	c->pfs[0] = (struct manifest_pf){ .address = { 0, 0x100 },
					  .vendor = 0x8086,
					  .device = 0x10c9,
					  .driver = "igb",
					  .num_vfs = 3,
					  .vf_device = 0x10ca,
					  .offset = 128,
					  .stride = 2,
					  .drivers_autoprobe = true,
					  .vf_id_is_ours = true,
					  .interface = "enp1s0",
					  .vfs = c->vfs_by_id,
					  .n_vfs = 3 };
	c->pfs[1] = (struct manifest_pf){ .address = { 0, 0x3b00 },
					  .vendor = 0x15b3,
					  .device = 0x101d,
					  .serial_number = "0c-42",
					  .driver = "mlx5_core",
					  .num_vfs = 4,
					  .vf_device = 0x101e,
					  .offset = 2,
					  .stride = 1,
					  .vfs = c->vfs_mixed,
					  .n_vfs = 4 };
	c->manifest = (struct manifest){ .generation = 42,
					 .owners = c->owners,
					 .n_owners = 2,
					 .pfs = c->pfs,
					 .n_pfs = 2,
					 .n_vfs = 7 };
	return plan_make(&c->plan, &c->manifest, &c->conf, error);
}
