/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * bdf - PCI addresses: how they are written, ordered, and computed for VFs.
 *
 * A function is a domain (u32: VMD and Hyper-V use more than 16 bits) and a requester id
 * (bus << 8 | slot << 3 | function), as in the kernel's pci_dev_id().
 */
#include "base.h"

struct bdf {
	uint32_t domain;
	uint16_t rid;
};

enum { BDF_STRLEN = sizeof("dddddddd:bb:ss.f") - 1 };

enum {
	_BDF_E_SUCCESS,
	BDF_E_SYNTAX, /* not [DOMAIN:]BUS:SLOT.FUNCTION, or a part is out of range */
	BDF_E_RANGE,  /* the VF's requester id would not fit in 16 bits */
};

/* Reads an address in upper or lower case hex; the domain (1 to 8 digits) may be left out and is
 * 0 then. The whole of text must be the address. */
int bdf_parse(const char *text, struct bdf *ret) _must_check_ _nonnull_;

/* Writes the canonical form, lower case, domain of at least 4 digits, as sysfs names it.
 * Returns the length without the NUL. Allocates nothing. */
size_t bdf_format(struct bdf b, char ret[static BDF_STRLEN + 1]);

/* Numerical order; 0 when equal. */
int bdf_compare(struct bdf a, struct bdf b);

/* The address of VF `index` of a PF: rid + offset + stride * index, in the PF's domain
 * (drivers/pci/iov.c: pci_iov_virtfn_bus, pci_iov_virtfn_devfn). */
int bdf_of_vf(struct bdf pf, unsigned offset, unsigned stride, unsigned index, struct bdf *ret)
	_must_check_;

/* The reverse: which VF of the PF is at `vf`? true and the index, or false when none of the
 * `num_vfs` is there. */
bool bdf_vf_index(struct bdf pf, unsigned offset, unsigned stride, unsigned num_vfs, struct bdf vf,
		  unsigned *ret_index);
