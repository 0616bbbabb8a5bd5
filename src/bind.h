/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * bind - how VFs get their driver: one by one with driver_override and bind, or all at once with
 * new_id, and what to do with a VF that has a wrong one. The order is always: override, unbind of
 * a wrong driver, bind, proof. Works on a lane's outcomes, in the lane's thread.
 */
#include "lane.h"

/* Warm: what is each VF bound to? Sets needs, and the facts n_right. */
void bind_survey(struct lane *l);

/* Is there a VF in the range that needs to be bound? */
bool bind_is_needed(const struct lane *l, const struct step *s);

/* Override and bind for each VF of the range that needs it. Returns how many do not exist (yet);
 * these still need it. */
unsigned bind_each(struct lane *l, const struct step *s);
void bind_give_up_absent(struct lane *l, const struct step *s);
/* Takes VFs of the range from wrong drivers (by override, whatever the strategy). */
void bind_wrong_ones(struct lane *l, const struct step *s);

/* Are the PFs that have the VFs' id bound to their own drivers? Looks once a group. */
bool bind_id_is_safe(struct lane *l);
/* "<vendor> <device> <driver>", for the journal. */
void bind_id_text(const struct lane *l, char ret[static 96]);
/* new_id. false: not possible (somebody else's id, no such driver ...), nothing is lost. */
bool bind_by_id(struct lane *l, const struct step *s) _must_check_;
/* After the loop has answered: which VFs are bound; those left out get a bind each. */
void bind_prove(struct lane *l, const struct step *s);
/* The lane has no more use for the id; the last one takes it back (remove_id). */
void bind_leave_id(struct lane *l);
