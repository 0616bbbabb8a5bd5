/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* later - what happens by itself after a while: late PFs and VFs, vanishing ones, background
 * probes. Each act gets a thread, so one that blocks holds up no other. */
typedef void later_act_t(void *of, unsigned a, unsigned b);
void later_do(double seconds, later_act_t *act, void *of, unsigned a, unsigned b);
/* Time stands still until then: acts before it are counted from it. */
void later_start(void);
