/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * fake-sysfs - a door to a /sys that is only memory: some PFs, their VFs, two drivers' ids.
 * Linked in place of sysfs.c; may be used by several lanes at a time.
 */
#include "sysfs.h"

enum { FAKE_PFS = 4, FAKE_VFS = 8 };

struct fake_vf {
	char driver[64], override[64]; /* "": none */
	unsigned vfio;                 /* number of its vfio device while a VFIO driver has it */
};

struct fake_pf {
	struct bdf address;
	bool absent;
	char driver[64], serial[64]; /* "": none */
	uint16_t vendor, device, vf_device;
	unsigned total_vfs, num_vfs, offset, stride;
	bool autoprobe;
	unsigned late; /* bits of VFs that are not there yet when numvfs returns */
	struct fake_vf vfs[FAKE_VFS];
};

/* What the tests set and look at. */
extern struct fake_pf fake_pfs[FAKE_PFS];
extern char fake_ids[2][16]; /* registered with vfio-pci by new_id; "": none */
extern unsigned fake_writes_of_zero;

/* Called before each operation; what it returns instead of 0 is the operation's outcome. Opening a
 * PF (as SYSFS_PF_DRIVER) or a driver's node is one too. */
#define FAKE_OPEN _SYSFS_OP_MAX
extern int (*fake_fault)(enum sysfs_node node, enum sysfs_op op, struct bdf device);
/* Called when a VF gets its VFIO device; group: 100 + vfio. */
extern void (*fake_vfio_added)(struct bdf vf, unsigned vfio);

/* Four PFs of NVMe's kind at 0000:0N:00.0 with room for 8 VFs each; nothing enabled. */
void fake_sysfs_reset(void);
void fake_vf_appears(unsigned pf, unsigned index);
struct bdf fake_vf_address(unsigned pf, unsigned index);
