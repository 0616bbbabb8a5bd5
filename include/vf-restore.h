/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What programs around vf-restore compile against: names, exit codes, journal message ids.
 */

#define VF_RESTORE_INTERFACE "io.vfrestore.Agent"
#define VF_RESTORE_SOCKET "/run/vf-restore/io.vfrestore.Agent"
#define VF_RESTORE_MANIFEST "/var/lib/vf-restore/manifest.json"
#define VF_RESTORE_RECORD "/run/vf-restore/last-run.json"

/* Exit codes of vf-restore(1). */
enum vf_restore_exit {
	VF_RESTORE_EXIT_DONE = 0,
	VF_RESTORE_EXIT_FAILED = 1,
	VF_RESTORE_EXIT_USAGE = 2,
	VF_RESTORE_EXIT_PARTLY = 3,      /* some VF or owner lacks its device */
	VF_RESTORE_EXIT_UNREACHABLE = 4, /* the daemon cannot be reached */
	VF_RESTORE_EXIT_REFUSED = 5,     /* a rule forbids it; nothing was changed */
	VF_RESTORE_EXIT_IMPOSSIBLE = 77, /* not possible here */
};

/* Journal message ids (sd-id128 form); `journalctl MESSAGE_ID=...`. */
#define VF_RESTORE_MESSAGE_PHASE "4c1b7c4dbd6c4a0f8a8cf2f8a4b5f2d1"
#define VF_RESTORE_MESSAGE_VF_LACKS "a8d2f3d7bb6f4c1e9a6e0c3de5a9b4f2"
#define VF_RESTORE_MESSAGE_LANE_STUCK "e27f5d5f6d0b4e0c9d51c4c8f0b7a6d3"
#define VF_RESTORE_MESSAGE_OVER "5f0d9b1c2e7a4d3b8c6fa1e4d7b3c9e4"
