/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * vf-set - which VFs of a PF, in few words: "VFs 0-6, 9".
 */
#include <stdio.h>
#include "base.h"

enum { VF_SET_MAX = 65536 }; /* NumVFs has 16 bits */

struct vf_set {
	uint64_t bits[VF_SET_MAX / 64];
	unsigned n;
};

/* An index that no VF can have is passed over. */
void vf_set_add(struct vf_set *s, unsigned index);
/* "VF 3", "VFs 0-6, 9", "no VF"; more than a dozen runs end with "and N more". */
void vf_set_print(const struct vf_set *s, FILE *out);
