/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * count - who touched what, and how many nodes a lazy sysfs would have made for it.
 *
 * Lazy: looking up a name in a VF's directory makes that one node, reading a directory makes all
 * of its entries; each node is made once, and counted for the process that made it.
 * Eager: every node of every VF, as today's kernel makes them.
 */
#include <stdio.h>
#include "call.h"

/* Fills in tgid and comm of the thread. */
void count_caller(struct call *c);
void count_call(const struct call *c);
/* A lookup has found this node; needs no lock. */
void count_found(const struct call *c, node_t node);
void count_uevent(void);
void count_reset(void);
enum { COUNT_WITH_VFS = 1 };
void count_report(FILE *out, unsigned flags); /* JSON */
/* ns a node and ns a device (directory, driver core), for the estimate in the report */
void count_set_prices(double node_ns, double device_ns);
