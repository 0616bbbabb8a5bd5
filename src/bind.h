/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * bind - how VFs get their driver: with driver_override and bind, or with bind alone where their
 * id is registered with the driver; and what to do with a VF that has a wrong one. The order is
 * always: override, unbind of a wrong driver, bind, proof. Works on a lane's outcomes, in the
 * lane's thread.
 */
#include "lane.h"

/* What is each VF bound to? Sets needs, and the facts n_right and n_missing. true: some VF is bound
 * as it should be, so that its device node is to be found. */
bool bind_survey(struct lane *l) _must_check_;

/* Is there a VF in the range that needs to be bound? */
bool bind_is_needed(const struct lane *l, const struct step *s);

/* Override and bind for each VF of the range that needs it. Returns how many do not exist (yet);
 * these still need it. */
unsigned bind_by_override(struct lane *l, const struct step *s) _must_check_;
void bind_give_up_absent(struct lane *l, const struct step *s);

/* Bind alone, while the id is registered and autoprobe is 1. VFs that it cannot bind still need
 * to be bound. */
void bind_by_id(struct lane *l, const struct step *s);
