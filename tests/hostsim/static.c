/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "static.h"

static const struct {
	const char *name;
	enum static_slot in;
	unsigned mode; /* 0: a directory */
	const char *text;
} table[_S_MAX] = {
	[S_ROOT] = { "", S_NONE },
	[S_SYS] = { "sys", S_ROOT },
	[S_BUS] = { "bus", S_SYS },
	[S_PCI] = { "pci", S_BUS },
	[S_PCI_DEVICES] = { "devices", S_PCI },
	[S_DRIVERS] = { "drivers", S_PCI },
	[S_DRIVERS_AUTOPROBE] = { "drivers_autoprobe", S_PCI, 0644 },
	[S_DRIVERS_PROBE] = { "drivers_probe", S_PCI, 0200 },
	[S_RESCAN] = { "rescan", S_PCI, 0200 },
	[S_PCI_UEVENT] = { "uevent", S_PCI, 0200 },
	[S_CLASS] = { "class", S_SYS },
	[S_CLASS_VFIO] = { "vfio", S_CLASS },
	[S_CLASS_VFIO_DEV] = { "vfio-dev", S_CLASS },
	[S_CLASS_NET] = { "net", S_CLASS },
	[S_DEV] = { "dev", S_SYS },
	[S_CHAR] = { "char", S_DEV },
	[S_BLOCK] = { "block", S_DEV },
	[S_DEVICES] = { "devices", S_SYS },
	[S_VIRTUAL] = { "virtual", S_DEVICES },
	[S_VIRTUAL_VFIO] = { "vfio", S_VIRTUAL },
	[S_SYSTEM] = { "system", S_DEVICES },
	[S_CPU] = { "cpu", S_SYSTEM },
	[S_CPU_ONLINE] = { "online", S_CPU, 0444, "0-1\n" },
	[S_CPU_POSSIBLE] = { "possible", S_CPU, 0444, "0-1\n" },
	[S_CPU_PRESENT] = { "present", S_CPU, 0444, "0-1\n" },
	[S_FS] = { "fs", S_SYS },
	[S_CGROUP] = { "cgroup", S_FS },
	[S_KERNEL] = { "kernel", S_SYS },
	[S_GROUPS] = { "iommu_groups", S_KERNEL },
	[S_SEQNUM] = { "uevent_seqnum", S_KERNEL, 0444 },
	[S_MODULE] = { "module", S_SYS },
	[S_NODES] = { "vfio", S_ROOT },
	[S_NODE_DEVICES] = { "devices", S_NODES },
	[S_NODE_CONTAINER] = { "vfio", S_NODES, 0666 },
};

static int seqnum_fd = -1;

void static_init(void)
{
	seqnum_fd = open("/sys/kernel/uevent_seqnum", O_RDONLY | O_CLOEXEC);
}

static bool is_shown(enum static_slot s)
{
	return s != S_NODE_DEVICES || model.cdev;
}

enum static_slot static_lookup(enum static_slot in, const char *name)
{
	for (enum static_slot s = S_SYS; s < _S_MAX; s++)
		if (table[s].in == in && strcmp(table[s].name, name) == 0)
			return is_shown(s) ? s : S_NONE;
	return S_NONE;
}

enum static_slot static_parent(enum static_slot slot)
{
	return is_shown(slot) ? table[slot].in : S_NONE;
}

const char *static_name(enum static_slot slot)
{
	return table[slot].name;
}

mode_t static_mode(enum static_slot slot)
{
	return table[slot].mode ? S_IFREG | table[slot].mode : S_IFDIR | 0755;
}

void static_path(enum static_slot slot, char *ret, size_t size)
{
	char parent[256] = "";

	if (slot == S_ROOT || slot == S_SYS || slot == S_NODES) {
		*ret = 0;
		return;
	}
	static_path(table[slot].in, parent, sizeof(parent));
	snprintf(ret, size, "%s/%s", parent, table[slot].name);
}

int static_read(enum static_slot slot, char *ret, size_t size)
{
	ssize_t n;

	if (slot == S_DRIVERS_AUTOPROBE)
		return snprintf(ret, size, "%d\n", model.bus_autoprobe);
	if (slot == S_SEQNUM && seqnum_fd >= 0) {
		n = pread(seqnum_fd, ret, size, 0);
		return n < 0 ? -errno : (int) n;
	}
	return snprintf(ret, size, "%s", table[slot].text ?: "");
}

int static_write(enum static_slot slot, const char *text)
{
	if (slot == S_DRIVERS_PROBE)
		return driver_probe(text);
	if (slot == S_DRIVERS_AUTOPROBE)
		model.bus_autoprobe = *text != '0';
	return slot == S_NODE_CONTAINER ? -EINVAL : 0;
}
