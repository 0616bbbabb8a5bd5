/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* sandbox - namespaces and mounts in which the program takes the simulated host for the machine. */
#include <stdbool.h>

/* Own mount and network namespaces, for an ordinary user (or if wanted) a user namespace; empty
 * /run, /var/lib, /etc/driverctl.d but those to keep (NULL-terminated), a /dev of its own. Says on
 * stderr what fails; -errno. */
int sandbox_enter(bool userns, const char *const *keep);
/* Shows /run/hostsim/fs/{sys,vfio} where they belong, to this process and what it starts only: the
 * server itself must not see them, for malloc() looks for CPUs in /sys and would wait for itself. */
int sandbox_show(bool with_iommufd);
/* Puts a modprobe in the place of the machine's that is content with a registered driver. */
int sandbox_fake_modprobe(void);
/* Kills what is left of the program: every other process in this network namespace. */
void sandbox_kill_rest(void);
