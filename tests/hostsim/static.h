/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* static - the directories and files that are there on every host, and what they say and do. */
#include <sys/stat.h>
#include "model.h"

enum static_slot {
	S_NONE,
	S_ROOT, /* 1, as FUSE wants it */
	S_SYS,
	S_BUS,
	S_PCI,
	S_PCI_DEVICES,
	S_DRIVERS,
	S_DRIVERS_AUTOPROBE,
	S_DRIVERS_PROBE,
	S_RESCAN,
	S_PCI_UEVENT,
	S_CLASS,
	S_CLASS_VFIO,
	S_CLASS_VFIO_DEV,
	S_CLASS_NET,
	S_DEV,
	S_CHAR,
	S_BLOCK,
	S_DEVICES,
	S_VIRTUAL,
	S_VIRTUAL_VFIO,
	S_SYSTEM,
	S_CPU,
	S_CPU_ONLINE,
	S_CPU_POSSIBLE,
	S_CPU_PRESENT,
	S_FS,
	S_CGROUP,
	S_KERNEL,
	S_GROUPS,
	S_SEQNUM,
	S_MODULE,
	S_NODES, /* /dev/vfio */
	S_NODE_DEVICES,
	S_NODE_CONTAINER,
	_S_MAX,
};

void static_init(void); /* while the real /sys is still to be seen */
enum static_slot static_lookup(enum static_slot in, const char *name);
enum static_slot static_parent(enum static_slot slot);
const char *static_name(enum static_slot slot);
mode_t static_mode(enum static_slot slot);
void static_path(enum static_slot slot, char *ret, size_t size); /* below "sys" or "vfio" */
int static_read(enum static_slot slot, char *ret, size_t size) _must_check_;
int static_write(enum static_slot slot, const char *text) _must_check_;
