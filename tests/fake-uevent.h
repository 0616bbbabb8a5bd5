/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * fake-uevent - events from a queue in memory instead of the kernel's socket. Linked in place of
 * uevent.c.
 */
#include "uevent.h"

void fake_uevent_reset(void);
void fake_uevent_send(const struct uevent *e);
void fake_uevent_overrun(void); /* drops what is queued; the reader is told */
