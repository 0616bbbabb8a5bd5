/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another answer to src/uevent-trust.h, for programs that run on the simulated host: its events
 * come from port 0 like the kernel's, but carry the credentials of hostsim. Linked before libhot,
 * it takes the place of the real one.
 */
#include "../../src/uevent-trust.h"

bool uevent_is_from_kernel(uint32_t nl_pid, int32_t pid, uint32_t uid)
{
	(void) pid, (void) uid;
	return nl_pid == 0;
}
