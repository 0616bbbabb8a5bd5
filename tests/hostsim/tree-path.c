/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a node lies, and where a link leads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "entries.h"
#include "static.h"
#include "tree-node.h"
#include "uevent-send.h"

static void small_path(node_t node, const char *format, const char *name, char *ret, size_t size)
{
	unsigned slot = slot_of(node);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(ret, size, format, name, slot ? "/" : "", slot ? tree_smalls[slot].name : "");
#pragma GCC diagnostic pop
}

static void device_path(const struct device *d, unsigned slot, char *ret, size_t size)
{
	const struct entry *e = entries_at(slot);
	char name[40], rest[160] = "", longer[160];

	for (; e->slot; e = entries_at(e->parent)) {
		if (!entries_visible(d, e->slot, name))
			snprintf(name, sizeof(name), "%s", e->name);
		snprintf(longer, sizeof(longer), "/%s%.110s", name, rest);
		memcpy(rest, longer, sizeof(rest));
	}
	entries_device_path(d, ret, size);
	snprintf(ret + strlen(ret), size - strlen(ret), "%s", rest);
}

/* From /dev/vfio */
static void vfio_node_path(node_t node, char *ret, size_t size)
{
	char name[40] = "?";

	if (type_of(node) == T_NODE_DEV)
		vfio_device_name(device_of(node), name);
	else if (group_of(node))
		vfio_group_name(group_of(node), name);
	snprintf(ret, size, "%s/%s", type_of(node) == T_NODE_DEV ? "/devices" : "", name);
}

/* From /sys */
static void sys_path(node_t node, char *ret, size_t size)
{
	char name[40] = "?";

	switch (type_of(node)) {
	case T_STATIC:
		static_path(slot_of(node), ret, size);
		return;
	case T_DEVICE:
		device_path(device_of(node), slot_of(node), ret, size);
		return;
	case T_VIRTFN:
		entries_device_path(device_of(node), ret, size);
		snprintf(ret + strlen(ret), size - strlen(ret), "/virtfn%u", slot_of(node));
		return;
	case T_BUS_LINK:
		snprintf(ret, size, "/bus/pci/devices/%s", device_of(node)->name);
		return;
	case T_DRIVER:
		small_path(node, "/bus/pci/drivers/%s%s%s", driver_of(node)->name, ret, size);
		return;
	case T_DRIVER_LINK:
		snprintf(ret, size, "/bus/pci/drivers/%s/%s", model.drivers[slot_of(node)].name,
			 device_of(node)->name);
		return;
	case T_MODULE:
		tree_module_name(driver_of(node), name);
		small_path(node, "/module/%s%s%s", name, ret, size);
		return;
	case T_GROUP:
		snprintf(name, sizeof(name), "%zu", object_of(node));
		small_path(node, "/kernel/iommu_groups/%s%s%s", name, ret, size);
		return;
	case T_GROUP_LINK:
		snprintf(ret, size, "/kernel/iommu_groups/%d/devices/%s",
			 device_of(node)->group ? (int) device_of(node)->group->id : -1,
			 device_of(node)->name);
		return;
	case T_CLASS_DEV:
		vfio_device_name(device_of(node), name);
		snprintf(ret, size, "/class/vfio-dev/%s", name);
		return;
	case T_CHAR_DEV:
		snprintf(ret, size, "/dev/char/%d:%d", MAJOR_CDEV, device_of(node)->vfio);
		return;
	case T_CLASS_GROUP:
	case T_VIRTUAL:
		if (group_of(node))
			vfio_group_name(group_of(node), name);
		small_path(node,
			   type_of(node) == T_VIRTUAL ? "/devices/virtual/vfio/%s%s%s"
						      : "/class/vfio/%s%s%s",
			   name, ret, size);
		return;
	case T_NODE_DEV:
	case T_NODE_GROUP:
		vfio_node_path(node, ret, size);
		return;
	}
}

void tree_path(node_t node, char ret[static TREE_PATH_MAX])
{
	enum type type = type_of(node);
	enum static_slot s = type == T_STATIC ? (enum static_slot) slot_of(node) : _S_MAX;

	model_lock();
	if (type == T_NODE_DEV || type == T_NODE_GROUP) {
		strcpy(ret, "/dev/vfio");
		sys_path(node, ret + 9, TREE_PATH_MAX - 9);
	} else if (s == S_NODES || (s != _S_MAX && static_parent(s) == S_NODES)) {
		strcpy(ret, "/dev/vfio");
		static_path(s, ret + 9, TREE_PATH_MAX - 9);
	} else {
		strcpy(ret, "/sys");
		sys_path(node, ret + 4, TREE_PATH_MAX - 4);
	}
	model_unlock();
}

static int target_of(node_t node, char *ret, size_t size)
{
	struct device *d;
	char name[40];

	switch (type_of(node)) {
	case T_DEVICE:
		return entries_target(device_of(node), slot_of(node), ret, size);
	case T_VIRTFN:
		d = device_of(node)->sriov->vfs[slot_of(node)];
		break;
	case T_CLASS_DEV:
	case T_CHAR_DEV:
		d = device_of(node);
		vfio_device_name(d, name);
		entries_device_path(d, ret, size);
		snprintf(ret + strlen(ret), size - strlen(ret), "/vfio-dev/%s", name);
		return 0;
	case T_CLASS_GROUP:
		vfio_group_name(group_of(node), name);
		snprintf(ret, size, "/devices/virtual/vfio/%s", name);
		return 0;
	case T_DRIVER:
		tree_module_name(driver_of(node), name);
		snprintf(ret, size, "/module/%s", name);
		return 0;
	case T_VIRTUAL:
		snprintf(ret, size, "/class/vfio");
		return 0;
	default:
		d = device_of(node);
	}
	entries_device_path(d, ret, size);
	return 0;
}

/* fs/kernfs/symlink.c: up to the nearest directory above both, then down. */
int tree_readlink(node_t node, char *ret, size_t size)
{
	char from[TREE_PATH_MAX], to[TREE_PATH_MAX];
	size_t common = 0, n = 0;
	int r = -ENOENT;

	model_lock();
	if (tree_is_there(node)) {
		sys_path(node, from, sizeof(from));
		r = target_of(node, to, sizeof(to));
	}
	model_unlock();
	if (r < 0)
		return r;
	for (size_t i = 1; from[i - 1] && from[i - 1] == to[i - 1]; i++)
		if (from[i] == '/' && to[i] == '/')
			common = i;
	for (const char *up = strchr(from + common + 1, '/'); up && n < size;
	     up = strchr(up + 1, '/'))
		n += (size_t) snprintf(ret + n, size - n, "../");
	snprintf(ret + n, n < size ? size - n : 0, "%s", to + common + 1);
	return 0;
}
