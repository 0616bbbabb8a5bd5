/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * cause - why a PF or a VF is not what it should be, in one word, and what to do.
 *
 * Knows what an errno means at the place where the kernel gave it: ENOENT from a write to
 * sriov_numvfs is "this PF has no driver", not "no such file". Sources: FACTS.md 6, CASES.md 3.
 */
#include "base.h"

enum cause {
	CAUSE_NONE,
	CAUSE_PF_ABSENT,
	CAUSE_PF_NO_DRIVER,
	CAUSE_PF_CHANGED,
	CAUSE_NUMBER_DIFFERS,
	CAUSE_TOO_MANY,
	CAUSE_NO_MMIO,
	CAUSE_NO_BUS_NUMBERS,
	CAUSE_NO_VECTORS,
	CAUSE_NO_MEMORY,
	CAUSE_NOT_PERMITTED,
	CAUSE_REFUSED_BY_PF_DRIVER,
	CAUSE_VF_GONE,
	CAUSE_VF_MOVED,
	CAUSE_DRIVER_ABSENT,
	CAUSE_NOT_BOUND,
	CAUSE_WRONG_DRIVER,
	CAUSE_REFUSED_BY_DRIVER,
	CAUSE_NO_IOMMU,
	CAUSE_TOKEN_NEEDED,
	CAUSE_HELD,
	CAUSE_NO_NODE,
	CAUSE_STUCK,
	CAUSE_PF_FAILED,
	CAUSE_INPUT_OUTPUT,
	_CAUSE_MAX,
};

/* Where an errno came from. */
enum place {
	PLACE_PF_LOOK,   /* any first look at the PF */
	PLACE_ENABLE,    /* write of sriov_numvfs */
	PLACE_AUTOPROBE, /* write of sriov_drivers_autoprobe */
	PLACE_LAYOUT,    /* read of sriov_offset, sriov_stride */
	PLACE_DRIVER,    /* opening drivers/<driver>/bind, new_id */
	PLACE_OVERRIDE,  /* write of driver_override */
	PLACE_UNBIND,    /* write of unbind */
	PLACE_BIND,      /* write of bind */
	PLACE_ID,        /* write of new_id */
	PLACE_PROOF,     /* readlink of driver, iommu_group, vfio-dev */
	PLACE_NODE,      /* opening the VFIO device node */
	_PLACE_MAX,
};

/* error: a positive errno. Never CAUSE_NONE. */
enum cause cause_of(enum place place, int error);

const char *cause_name(enum cause c);    /* "no-mmio": for programs, stable */
const char *cause_meaning(enum cause c); /* "the bridge has too little MMIO space for the VFs" */
const char *cause_advice(enum cause c);  /* what to do now */
const char *place_name(enum place p);    /* "write to sriov_numvfs" */
