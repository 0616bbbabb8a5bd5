/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a directory read shows, in one go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "entries.h"
#include "static.h"
#include "tree-node.h"
#include "uevent-send.h"

struct listing {
	tree_each_t *each;
	void *userdata;
};

static void give(const struct listing *l, const char *name, node_t node)
{
	l->each(l->userdata, name, node, tree_mode(node) & S_IFMT);
}

static void list_static(const struct listing *l, enum static_slot in)
{
	char name[40];

	for (enum static_slot s = 1; s < _S_MAX; s++)
		if (static_parent(s) == in && s != S_ROOT)
			give(l, static_name(s), node_of(T_STATIC, 0, s));
	for (struct device *d = model.first; d && in == S_PCI_DEVICES; d = d->bus_next)
		give(l, d->name, node_of(T_BUS_LINK, d->number, 0));
	for (size_t i = 0; i < model.n_devices && in == S_DEVICES; i++)
		if (model.devices[i]->kind == DEVICE_HOST)
			give(l, model.devices[i]->name, node_of(T_DEVICE, i, 0));
	for (unsigned i = 0; i < model.n_drivers && (in == S_DRIVERS || in == S_MODULE); i++) {
		if (!model.drivers[i].registered)
			continue;
		tree_module_name(&model.drivers[i], name);
		give(l, in == S_DRIVERS ? model.drivers[i].name : name,
		     node_of(in == S_DRIVERS ? T_DRIVER : T_MODULE, i, 0));
	}
}

static void list_numbered(const struct listing *l, enum static_slot in)
{
	size_t end = model.group_ids.n_words * 64, vfios = model.vfio_ids.n_words * 64;
	enum type type = in == S_CLASS_VFIO     ? T_CLASS_GROUP
			 : in == S_VIRTUAL_VFIO ? T_VIRTUAL
			 : in == S_NODES        ? T_NODE_GROUP
						: T_GROUP;
	char name[40];

	for (unsigned i = 0; i < end && type != T_GROUP; i++) {
		if (!tree_has_group_node(model.groups[i]))
			continue;
		vfio_group_name(model.groups[i], name);
		give(l, name, node_of(type, i, 0));
	}
	for (unsigned i = 0; i < end && in == S_GROUPS; i++) {
		snprintf(name, sizeof(name), "%u", i);
		if (model.groups[i])
			give(l, name, node_of(T_GROUP, i, 0));
	}
	for (unsigned i = 0; i < vfios; i++) {
		struct device *d = model.vfios[i];

		if (!d)
			continue;
		vfio_device_name(d, name);
		if (in == S_CLASS_VFIO_DEV || (in == S_NODE_DEVICES && model.cdev))
			give(l, name,
			     node_of(in == S_NODE_DEVICES ? T_NODE_DEV : T_CLASS_DEV, d->number,
				     0));
		snprintf(name, sizeof(name), "%d:%u", MAJOR_CDEV, i);
		if (in == S_CHAR && model.cdev)
			give(l, name, node_of(T_CHAR_DEV, d->number, 0));
	}
}

static void list_device(const struct listing *l, struct device *d, unsigned slot)
{
	char name[40];

	for (unsigned i = 1; i < entries_max(); i++)
		if (entries_at(i)->parent == slot && entries_visible(d, i, name))
			give(l, name, node_of(T_DEVICE, d->number, i));
	if (slot)
		return;
	for (struct device *child = d->first_child; child; child = child->next_sibling)
		give(l, child->name, node_of(T_DEVICE, child->number, 0));
	for (unsigned i = 0; d->sriov && i < d->sriov->totalvfs; i++) {
		snprintf(name, sizeof(name), "virtfn%u", i);
		if (d->sriov->vfs[i])
			give(l, name, node_of(T_VIRTFN, d->number, i));
	}
}

static void list(const struct listing *l, node_t node)
{
	enum type type = type_of(node);

	if (type == T_STATIC) {
		list_static(l, slot_of(node));
		list_numbered(l, slot_of(node));
		return;
	}
	if (type == T_DEVICE) {
		list_device(l, device_of(node), slot_of(node));
		return;
	}
	if (type == T_GROUP && slot_of(node)) {
		for (struct device *d = group_of(node)->first; d; d = d->group_next)
			give(l, d->name, node_of(T_GROUP_LINK, d->number, 0));
		return;
	}
	for (unsigned i = 1; i < SMALLS_MAX; i++)
		if (tree_smalls[i].of == type)
			give(l, tree_smalls[i].name, node_of(type, object_of(node), i));
	for (struct device *d = type == T_DRIVER ? driver_of(node)->first : NULL; d;
	     d = d->driver_next)
		if (d->linked)
			give(l, d->name, node_of(T_DRIVER_LINK, d->number, d->driver->index));
}

int tree_list(node_t node, tree_each_t *each, void *userdata)
{
	const struct listing l = { each, userdata };
	int r = 0;

	model_lock();
	if (!tree_is_there(node))
		r = -ENOENT;
	else
		list(&l, node);
	model_unlock();
	return r;
}
