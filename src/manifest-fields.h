/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * manifest-fields - which fields format 1 has, of what type and range each is, and where it goes.
 */
#include "manifest.h"
#include "scan.h"

/* Reads the whole text of s; each field is sound by itself then. All is in the text's order, and
 * vf.owner is the number of its owner's name in s->names. *m is for manifest_done(), also after
 * SCAN_E_REFUSED. */
int manifest_fields_read(struct scan *s, struct manifest *m) _must_check_;
