/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "entries.h"
#include "static.h"
#include "tree-node.h"
#include "uevent-send.h"

const struct small tree_smalls[SMALLS_MAX] = {
	{ T_STATIC, "", 0, NULL }, /* slots start with 1 */
	{ T_DRIVER, "bind", 0200, NULL },
	{ T_DRIVER, "unbind", 0200, NULL },
	{ T_DRIVER, "new_id", 0200, NULL },
	{ T_DRIVER, "remove_id", 0200, NULL },
	{ T_DRIVER, "uevent", 0200, NULL },
	{ T_DRIVER, "module", 0, NULL },
	{ T_MODULE, "initstate", 0444, "live\n" },
	{ T_MODULE, "refcnt", 0444, "0\n" },
	{ T_MODULE, "uevent", 0200, NULL },
	{ T_GROUP, "devices", S_IFDIR | 0755, NULL },
	{ T_GROUP, "reserved_regions", 0444, "0x00000000fee00000 0x00000000feefffff msi\n" },
	{ T_GROUP, "type", 0644, "DMA-FQ\n" },
	{ T_VIRTUAL, "dev", 0444, NULL },
	{ T_VIRTUAL, "uevent", 0644, NULL },
	{ T_VIRTUAL, "subsystem", 0, NULL },
};

struct device *tree_device(node_t node, unsigned *ret_slot)
{
	if (type_of(node) != T_DEVICE && type_of(node) != T_VIRTFN)
		return NULL;
	*ret_slot = type_of(node) == T_DEVICE ? slot_of(node) : UINT16_MAX;
	return device_of(node);
}

bool tree_is_vfio_node(node_t node)
{
	return type_of(node) == T_NODE_DEV || type_of(node) == T_NODE_GROUP;
}

void tree_module_name(const struct driver *r, char ret[static 40])
{
	snprintf(ret, 40, "%s", r->name);
	for (; (ret = strchr(ret, '-'));)
		*ret = '_';
}

bool tree_has_group_node(const struct group *g)
{
	return g && g->vfio_devices && model.group_nodes;
}

/* ---- lookup ---- */

static bool parse_number(const char *text, const char *prefix, unsigned max, unsigned *ret)
{
	size_t n = strlen(prefix);
	char again[16], *end;
	unsigned long value;

	if (strncmp(text, prefix, n) != 0)
		return false;
	value = strtoul(text + n, &end, 10);
	snprintf(again, sizeof(again), "%lu", value);
	*ret = (unsigned) value;
	return value < max && strcmp(again, text + n) == 0;
}

static node_t lookup_numbered(enum static_slot in, const char *name)
{
	const char *group_prefix = model.noiommu ? "noiommu-" : "";
	const char *vfio_prefix = model.noiommu ? "noiommu-vfio" : "vfio";
	char char_dev[16], char_group[16];
	unsigned n;

	snprintf(char_dev, sizeof(char_dev), "%d:", MAJOR_CDEV);
	snprintf(char_group, sizeof(char_group), "%d:", MAJOR_GROUP);
	if (in == S_GROUPS && parse_number(name, "", VFIO_MAX, &n) && model.groups[n])
		return node_of(T_GROUP, n, 0);
	if ((in == S_CLASS_VFIO_DEV || (in == S_NODE_DEVICES && model.cdev)) &&
	    parse_number(name, vfio_prefix, VFIO_MAX, &n) && model.vfios[n])
		return node_of(in == S_CLASS_VFIO_DEV ? T_CLASS_DEV : T_NODE_DEV,
			       model.vfios[n]->number, 0);
	if ((in == S_CLASS_VFIO || in == S_VIRTUAL_VFIO || in == S_NODES) &&
	    parse_number(name, group_prefix, VFIO_MAX, &n) && tree_has_group_node(model.groups[n]))
		return node_of(in == S_CLASS_VFIO     ? T_CLASS_GROUP
			       : in == S_VIRTUAL_VFIO ? T_VIRTUAL
						      : T_NODE_GROUP,
			       n, 0);
	if (in == S_CHAR && model.cdev && parse_number(name, char_dev, VFIO_MAX, &n) &&
	    model.vfios[n])
		return node_of(T_CHAR_DEV, model.vfios[n]->number, 0);
	return 0;
}

static node_t lookup_static(enum static_slot in, const char *name)
{
	enum static_slot slot = static_lookup(in, name);
	char module[40];
	struct device *d;

	if (slot)
		return node_of(T_STATIC, 0, slot);
	if (in == S_PCI_DEVICES && (d = bus_find(name)) && d->kind != DEVICE_HOST)
		return node_of(T_BUS_LINK, d->number, 0);
	if (in == S_DEVICES && (d = bus_find(name)) && d->kind == DEVICE_HOST)
		return node_of(T_DEVICE, d->number, 0);
	for (unsigned i = 0; i < model.n_drivers && (in == S_DRIVERS || in == S_MODULE); i++) {
		const struct driver *r = &model.drivers[i];

		tree_module_name(r, module);
		if (r->registered && strcmp(in == S_DRIVERS ? r->name : module, name) == 0)
			return node_of(in == S_DRIVERS ? T_DRIVER : T_MODULE, i, 0);
	}
	return lookup_numbered(in, name);
}

static node_t lookup_small(node_t parent, const char *name)
{
	for (unsigned i = 1; i < SMALLS_MAX; i++)
		if (tree_smalls[i].of == type_of(parent) && strcmp(tree_smalls[i].name, name) == 0)
			return node_of(type_of(parent), object_of(parent), i);
	return 0;
}

static node_t lookup_device(struct device *d, unsigned slot, const char *name)
{
	struct device *child;
	unsigned n;

	if (!d->alive)
		return 0;
	if (!slot && (child = bus_find(name)) && child->parent == d)
		return node_of(T_DEVICE, child->number, 0);
	if (!slot && d->sriov && parse_number(name, "virtfn", d->sriov->totalvfs, &n) &&
	    d->sriov->vfs[n])
		return node_of(T_VIRTFN, d->number, n);
	n = entries_lookup(d, slot, name);
	return n ? node_of(T_DEVICE, d->number, n) : 0;
}

static node_t lookup(node_t parent, const char *name)
{
	struct device *d;

	switch (type_of(parent)) {
	case T_STATIC:
		return lookup_static(slot_of(parent), name);
	case T_DEVICE:
		return lookup_device(device_of(parent), slot_of(parent), name);
	case T_DRIVER:
		d = bus_find(name);
		if (d && d->driver == driver_of(parent) && d->linked)
			return node_of(T_DRIVER_LINK, d->number, d->driver->index);
		return lookup_small(parent, name);
	case T_GROUP:
		if (!slot_of(parent))
			return lookup_small(parent, name);
		d = bus_find(name);
		return d && d->group && d->group == group_of(parent)
			       ? node_of(T_GROUP_LINK, d->number, 0)
			       : 0;
	case T_MODULE:
	case T_VIRTUAL:
		return lookup_small(parent, name);
	default:
		return 0;
	}
}

node_t tree_lookup(node_t parent, const char *name)
{
	node_t found;

	model_lock();
	found = lookup(parent, name);
	model_unlock();
	return found;
}

/* ---- stat ---- */

bool tree_is_there(node_t node)
{
	const struct device *d;
	char name[40];

	switch (type_of(node)) {
	case T_STATIC:
		return slot_of(node) < _S_MAX;
	case T_DEVICE:
		return entries_visible(device_of(node), slot_of(node), name);
	case T_VIRTFN:
		return device_of(node)->alive && device_of(node)->sriov->vfs[slot_of(node)];
	case T_DRIVER_LINK:
		d = device_of(node);
		return d->alive && d->linked && d->driver && d->driver->index == slot_of(node);
	case T_DRIVER:
	case T_MODULE:
		return driver_of(node)->registered;
	case T_GROUP:
		return group_of(node);
	case T_BUS_LINK:
	case T_GROUP_LINK:
		return device_of(node)->alive;
	case T_CLASS_DEV:
	case T_CHAR_DEV:
	case T_NODE_DEV:
		return device_of(node)->alive && device_of(node)->vfio >= 0;
	case T_CLASS_GROUP:
	case T_VIRTUAL:
	case T_NODE_GROUP:
		return tree_has_group_node(group_of(node));
	}
	return false;
}

mode_t tree_mode(node_t node)
{
	static const mode_t kinds[] = {
		[ENTRY_FILE] = S_IFREG, [ENTRY_DIR] = S_IFDIR, [ENTRY_LINK] = S_IFLNK
	};
	const struct entry *entry;
	unsigned mode;

	switch (type_of(node)) {
	case T_STATIC:
		return static_mode(slot_of(node));
	case T_DEVICE:
		entry = entries_at(slot_of(node));
		return kinds[entry->kind] | entry->mode;
	case T_DRIVER:
	case T_MODULE:
	case T_GROUP:
	case T_VIRTUAL:
		if (!slot_of(node))
			return S_IFDIR | 0755;
		mode = tree_smalls[slot_of(node)].mode;
		return !mode ? S_IFLNK | 0777 : S_ISDIR(mode) ? mode : S_IFREG | mode;
	case T_NODE_DEV:
	case T_NODE_GROUP:
		return S_IFREG | 0600;
	default:
		return S_IFLNK | 0777;
	}
}

bool tree_stat(node_t node, struct stat *ret)
{
	bool there;

	model_lock();
	there = tree_is_there(node);
	model_unlock();
	*ret = (struct stat){ .st_ino = node,
			      .st_mode = there ? tree_mode(node) : 0,
			      .st_nlink = 1 };
	if (S_ISREG(ret->st_mode)) /* sysfs says 4096 for all; parallel writes need that too */
		ret->st_size = 4096;
	if (S_ISDIR(ret->st_mode))
		ret->st_nlink = 2;
	return there;
}

/* ---- reading, writing, opening ---- */

static int read_virtual(node_t node, char *ret, size_t size)
{
	const struct group *g = group_of(node);
	char name[32];

	if (!tree_has_group_node(g))
		return -ENODEV;
	vfio_group_name(g, name);
	if (strcmp(tree_smalls[slot_of(node)].name, "dev") == 0)
		return snprintf(ret, size, "%d:%u\n", MAJOR_GROUP, g->minor);
	return snprintf(ret, size, "MAJOR=%d\nMINOR=%u\nDEVNAME=vfio/%s\n", MAJOR_GROUP, g->minor,
			name);
}

int tree_read(node_t node, char *ret, size_t size)
{
	int r;

	switch (type_of(node)) {
	case T_STATIC:
		return static_read(slot_of(node), ret, size);
	case T_DEVICE:
		return entries_read(device_of(node), slot_of(node), ret, size);
	case T_VIRTUAL:
		model_lock();
		r = read_virtual(node, ret, size);
		model_unlock();
		return r;
	case T_DRIVER:
	case T_MODULE:
	case T_GROUP:
		return snprintf(ret, size, "%s", tree_smalls[slot_of(node)].text ?: "");
	default:
		return -EINVAL; /* of VFIO nodes */
	}
}

int tree_write(node_t node, const char *text, size_t len)
{
	struct driver *r;

	switch (type_of(node)) {
	case T_STATIC:
		return static_write(slot_of(node), text);
	case T_DEVICE:
		return entries_write(device_of(node), slot_of(node), text, len);
	case T_DRIVER:
		r = driver_of(node);
		if (!r->registered)
			return -ENODEV;
		switch (tree_smalls[slot_of(node)].name[0]) {
		case 'b':
			return driver_bind(r, text);
		case 'n':
			return driver_new_id(r, text);
		case 'r':
			return driver_remove_id(r, text);
		default:
			return tree_smalls[slot_of(node)].name[1] == 'n' ? driver_unbind(r, text)
									 : 0;
		}
	default:
		return tree_is_vfio_node(node) ? -EINVAL : 0;
	}
}

int tree_open(node_t node)
{
	int r = 0;

	model_lock();
	if (!tree_is_there(node))
		r = tree_is_vfio_node(node) ? -ENXIO : -ENODEV;
	else if (type_of(node) == T_NODE_DEV)
		r = vfio_open_device(device_of(node));
	else if (type_of(node) == T_NODE_GROUP)
		r = vfio_open_group(group_of(node));
	model_unlock();
	return r;
}

/* A group that is closed after its last device went away may be another by now; nobody looks. */
void tree_close(node_t node)
{
	model_lock();
	if (type_of(node) == T_NODE_DEV)
		vfio_close_device(device_of(node));
	else if (type_of(node) == T_NODE_GROUP && group_of(node))
		vfio_close_group(group_of(node));
	model_unlock();
}
