/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * cmd-capture-print - how a capture reads, to people and to programs.
 */
#include <stdio.h>
#include "base.h"
#include "holder.h"
#include "manifest.h"
#include "walker.h"

struct cmd_capture_summary {
	const struct walked *walked; /* all borrowed */
	const struct manifest *manifest;
	const char *path;
	unsigned n_unowned;  /* VFs on a VFIO driver that belong to nobody */
	unsigned n_left_out; /* PFs with VFs but without a driver: they cannot be promised */
	unsigned n_unseen;   /* processes that could not be looked into */
};

void cmd_capture_sum_up(const struct walked *walked, const struct holder_list *holders,
			const struct manifest *manifest, const char *path,
			struct cmd_capture_summary *ret);
void cmd_capture_print_text(const struct cmd_capture_summary *s, FILE *out);
void cmd_capture_print_json(const struct cmd_capture_summary *s, FILE *out);
/* Nothing when there is nothing to warn of. */
void cmd_capture_print_warnings(const struct cmd_capture_summary *s, FILE *out);
