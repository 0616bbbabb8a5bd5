/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * idproof - is a device id ours alone? Then one write of new_id may bind all that has it. Pure.
 *
 * It is (DESIGN.md 5) when every function of the host with this id is a VF of a PF in the manifest,
 * on one and the same VFIO driver, or else a PF bound to a driver of its own.
 */
#include "base.h"
#include "bdf.h"
#include "walker.h"

enum idproof_doubt {
	IDPROOF_NO_DOUBT,
	IDPROOF_NO_VF,       /* no VF has this id */
	IDPROOF_VF_UNBOUND,  /* a VF of it has no driver, and would get one */
	IDPROOF_VF_NATIVE,   /* a VF of it has a driver that is not of VFIO */
	IDPROOF_TWO_DRIVERS, /* VFs of it have different VFIO drivers */
	IDPROOF_VF_UNLISTED, /* a VF of it belongs to no PF in the manifest */
	IDPROOF_VF_MISSING,  /* a PF has more VFs of it than are to be seen */
	IDPROOF_PF_UNBOUND,  /* a PF of it has no driver, and would get one */
	IDPROOF_PF_ON_VFIO,  /* a PF of it is itself given to a guest */
	IDPROOF_STRANGER,    /* a function of it is neither VF nor PF */
	_IDPROOF_DOUBT_MAX,
};

struct idproof {
	enum idproof_doubt doubt;
	struct bdf function; /* the first that speaks against it; not of IDPROOF_NO_VF */
};

/* vendor and device: of VFs. */
void idproof_check(const struct walked *walked, uint16_t vendor, uint16_t device,
		   struct idproof *ret);
const char *idproof_doubt_name(enum idproof_doubt d);    /* "pf-unbound": for programs */
const char *idproof_doubt_meaning(enum idproof_doubt d); /* "this PF of the same id has ..." */

/* By what the tree says or by the driver's name. */
bool idproof_is_on_vfio(const struct walked_function *f);
