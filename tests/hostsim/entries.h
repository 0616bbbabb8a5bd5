/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * entries - what lies in a PCI function's directory: names, texts, and what a write does.
 *
 * A VF has 63 nodes below its directory before it is bound to vfio-pci and 74 after, as counted on
 * a real 7.3 kernel. One table serves PFs, VFs and root ports; a slot is an index in it, slot 0
 * the directory itself.
 */
#include "model.h"

enum entry_kind { ENTRY_FILE, ENTRY_DIR, ENTRY_LINK };

struct entry {
	unsigned slot;
	unsigned parent;
	const char *name; /* may have %d: a number of the device */
	enum entry_kind kind;
	unsigned mode;
};

void entries_init(void);
const struct entry *entries_at(unsigned slot);
unsigned entries_max(void);
/* Is this entry there now, and under which name? */
bool entries_visible(const struct device *d, unsigned slot, char ret_name[static 40]);
/* Slot of a name below the directory `parent`; 0: no such. */
unsigned entries_lookup(const struct device *d, unsigned parent, const char *name);
/* Nodes below a VF's directory, without and with the eleven of a VFIO device. */
unsigned entries_count(const struct device *d);
unsigned entries_count_vfio(void); /* the ones that come with a VFIO device */

/* /devices/pci0000:00/0000:00:01.0/0000:01:00.0 */
void entries_device_path(const struct device *d, char *ret, size_t size);
/* Text of a file; -errno. Takes the locks it needs. */
int entries_read(struct device *d, unsigned slot, char *ret, size_t size) _must_check_;
int entries_write(struct device *d, unsigned slot, const char *text, size_t len) _must_check_;
/* Where a link leads, as a path from /sys ("/devices/..."); needs the mutex; -ENOENT. */
int entries_target(const struct device *d, unsigned slot, char *ret, size_t size) _must_check_;
bool entries_is_numvfs(const struct device *d, unsigned slot);
enum { CONFIG_SIZE = 4096, TEXT_MAX = CONFIG_SIZE + 1 };
