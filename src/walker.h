/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * walker - what is really there: looks at every PCI function through libudev and directory reads.
 * Costs time and memory in the kernel; only with a pass.
 *
 * Always /sys: libudev knows no other root. A test binds its tree over /sys in a mount namespace
 * and sets SYSTEMD_DEVICE_VERIFY_SYSFS=0, without which libudev wants a true sysfs there.
 */
#include "base.h"
#include "bdf.h"
#include "phase.h"

struct walked_function {
	struct bdf address;
	uint16_t vendor, device;
	char *driver;        /* NULL: none */
	char *serial_number; /* NULL: none */
	bool is_vf;
	struct bdf pf;     /* of a VF */
	unsigned vf_index; /* of a VF: N of the PF's virtfnN link, else computed */
	bool is_pf;        /* has sriov_totalvfs */
	unsigned total_vfs, num_vfs, offset, stride;
	uint16_t vf_device;
	bool drivers_autoprobe;
	char *interface; /* of a NIC's PF: its first net device that is no VF's; NULL: none */
	uint8_t mac[6];  /* permanent or current address of it */
	bool has_mac;
	bool has_vfio; /* bound to a VFIO driver: vfio-dev/vfioN is there */
	unsigned vfio;
	bool has_group;
	unsigned group;
};

/* A PF that has VFs, and a driver to serve them. */
static inline bool walked_serves_vfs(const struct walked_function *f)
{
	return f->is_pf && f->num_vfs > 0 && f->driver;
}

struct walked {
	struct walked_function *functions; /* by ascending address */
	unsigned n_functions;
};

/* Functions that vanish in the middle are left out, no error. */
int walker_walk(const struct walk_pass *pass, struct walked *ret) _must_check_ _nonnull_;
void walked_done(struct walked *w);
const struct walked_function *walked_find(const struct walked *w, struct bdf address);
