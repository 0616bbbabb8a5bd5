/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * manifest-check - what a manifest's fields owe each other: who is listed, what is there twice, and
 * whether all its functions can be where it says.
 */
#include "fault.h"
#include "manifest.h"
#include "names.h"

enum {
	_MANIFEST_CHECK_E_SUCCESS,
	MANIFEST_CHECK_E_REFUSED, /* the fault has been told */
};

/* All in the text's order yet, and vf.owner the number of its owner's name: this makes it the
 * owner's index. */
int manifest_check(struct manifest *m, struct names *names, struct fault *f) _must_check_;
