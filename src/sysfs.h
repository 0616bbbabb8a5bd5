/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * sysfs - the only door to /sys before the deferred phase.
 *
 * A node is named by an enum, never by a string, and a directory is not a node. So there is no
 * way to spell "list the devices" through this header.
 *
 * A VF is reached from its PF's directory as ../<vf>/: both are children of the same bridge
 * (drivers/pci/iov.c: virtfn->dev.parent = dev->dev.parent), which saves the lookup of the
 * bus/pci/devices link that everybody else pays for each VF.
 */
#include "base.h"
#include "bdf.h"
#include "tally.h"

struct sysfs {
	int root;            /* fd of /sys, or of a test's tree; borrowed */
	struct tally *tally; /* of the one thread that uses this door; borrowed */
};

enum { SYSFS_TEXT_MAX = 256 };

/* Outcomes: 0, or -errno as the kernel gave it, or these. */
enum {
	_SYSFS_E_SUCCESS,
	SYSFS_E_ABSENT,  /* the node (or its device) does not exist */
	SYSFS_E_STRANGE, /* it holds something that cannot be: too long, not a number */
};

/* An O_PATH fd of a PF's directory, from which its nodes and its VFs' are reached.
 * SYSFS_E_ABSENT: no such PF. The caller's to close. */
int sysfs_open_pf(struct sysfs *s, struct bdf pf, int *ret_fd) _must_check_;

/* Reads SYSFS_PF_*; the text without its newline. */
int sysfs_read_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, char *ret, size_t size)
	_must_check_;
int sysfs_read_pf_number(struct sysfs *s, int pf_fd, enum sysfs_node node, unsigned *ret)
	_must_check_;
int sysfs_write_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, const char *text) _must_check_;
/* The last component of the link SYSFS_PF_DRIVER. Absent: no driver, or no PF any more. */
int sysfs_link_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, char *ret, size_t size)
	_must_check_;

/* The same for SYSFS_VF_*, of the VF at `vf` beside the PF. */
int sysfs_write_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf,
		   const char *text, size_t len) _must_check_;
int sysfs_read_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf, char *ret,
		  size_t size) _must_check_;
int sysfs_link_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf, char *ret,
		  size_t size) _must_check_;

/* Opens SYSFS_DRIVER_* of a PCI driver for writing. kernfs serialises writes on one open file
 * (of->mutex), so each lane opens its own. SYSFS_E_ABSENT: no such driver. */
int sysfs_open_driver(struct sysfs *s, enum sysfs_node node, const char *driver, int *ret_fd)
	_must_check_;
/* Writes text to such an fd, at offset 0; may be done again and again. */
int sysfs_write_driver(struct sysfs *s, enum sysfs_node node, int fd, const char *text, size_t len)
	_must_check_;

/* Is the device bound to this driver? 0: yes; SYSFS_E_ABSENT: no, or no such driver. Looks at the
 * link drivers/<driver>/<device>, so no device directory is touched. */
int sysfs_driver_has(struct sysfs *s, const char *driver, struct bdf device) _must_check_;

/* Which device is vfio<n>? From the link class/vfio-dev/vfio<n>, which ends in
 * <bdf>/vfio-dev/vfio<n>; touches no device directory. */
int sysfs_vfio_dev(struct sysfs *s, unsigned n, struct bdf *ret) _must_check_;

/* The words of the table, for reports: "sriov_numvfs", "driver_override" ... */
const char *sysfs_node_name(enum sysfs_node node);
