/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * capture - a manifest from reality: which PFs have VFs, what these are bound to, whose they are.
 */
#include "base.h"
#include "holder.h"
#include "manifest.h"
#include "walker.h"

struct capture_host {
	const char *machine_id, *boot_id, *kernel_release; /* 32 hex digits each, the ids */
	uint64_t now_usec;                                 /* CLOCK_REALTIME */
	uint64_t generation;                               /* the new manifest's */
};

/* The manifest of what was walked. Pure. Listed are the PFs that have VFs and a driver, and those
 * without VFs whose own id is a VF's, as far as they have a driver of their own: the proof of the
 * id needs them.
 * VFs held by one process get an owner with the holder's name and uid, and the device names dev0,
 * dev1 ... by address; VFs held by nobody, or under different names or uids, get no owner.
 * *ret is the caller's; manifest_done() frees it. */
int capture_make(const struct walked *walked, const struct holder_list *holders,
		 const struct capture_host *host, struct manifest *ret) _must_check_;

/* Machine id, boot id and kernel release of this machine. */
struct capture_identity {
	char machine_id[33], boot_id[33], kernel_release[65];
};

enum {
	_CAPTURE_E_SUCCESS,
	CAPTURE_E_NO_MACHINE_ID, /* /etc/machine-id is absent or not 32 hex digits */
};

int capture_identity_read(struct capture_identity *ret) _must_check_;
