/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * fake-vfio - device nodes that open to /dev/null. Linked in place of vfio.c.
 */
#include "vfio.h"

extern bool fake_has_cdevs;
extern int (*fake_open_fault)(struct vfio_node node); /* 0, or what vfio_open() returns */
