/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * cmd - the subcommands of vf-restore, one file each, and what they share: exit codes are in
 * include/vf-restore.h, options are parsed by each with getopt_long, errors go to stderr as
 * "vf-restore: WHAT: WHY: WHAT NOW".
 */
#include "base.h"

struct cmd {
	const char *name, *summary;
	int (*run)(int argc, char *argv[]); /* argv[0] is "vf-restore <name>"; exit code */
};

int cmd_capture(int argc, char *argv[]);
int cmd_plan(int argc, char *argv[]);
int cmd_restore(int argc, char *argv[]);
int cmd_timeline(int argc, char *argv[]);
