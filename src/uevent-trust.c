/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "uevent-trust.h"

bool uevent_is_from_kernel(uint32_t nl_pid, int32_t pid, uint32_t uid)
{
	return nl_pid == 0 && pid == 0 && uid == 0;
}
