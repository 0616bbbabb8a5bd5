/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * uevent-trust - is this message the kernel's own?
 *
 * In a file of its own so that the simulated host, whose events come from a process, can be
 * linked with another answer; no setting changes it.
 */
#include "base.h"

/* nl_pid: the sender's port; pid and uid: SCM_CREDENTIALS. The kernel is 0, 0, 0: a process with
 * CAP_SYS_ADMIN can inject events with nl_pid 0 (lib/kobject_uevent.c: uevent_net_rcv), but they
 * carry its pid. */
bool uevent_is_from_kernel(uint32_t nl_pid, int32_t pid, uint32_t uid);
