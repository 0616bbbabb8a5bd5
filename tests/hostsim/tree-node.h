/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* tree-node - how a node number is made up; for tree*.c only. */
#include "tree.h"

/* slot of T_DRIVER, T_MODULE, T_GROUP, T_VIRTUAL: which of its files; 0 the directory itself */
enum type {
	T_STATIC,      /* slot: of static.c */
	T_DEVICE,      /* object: device, slot: of entries.c */
	T_VIRTFN,      /* object: PF, slot: index */
	T_BUS_LINK,    /* object: device; bus/pci/devices/<bdf> */
	T_DRIVER,      /* object: driver */
	T_DRIVER_LINK, /* object: device; drivers/<driver>/<bdf>; slot: driver */
	T_MODULE,      /* object: driver */
	T_GROUP,       /* object: group */
	T_GROUP_LINK,  /* object: device */
	T_CLASS_DEV,   /* object: device; class/vfio-dev/vfio<n> */
	T_CLASS_GROUP, /* object: group; class/vfio/<n> */
	T_VIRTUAL,     /* object: group; devices/virtual/vfio/<n> */
	T_CHAR_DEV,    /* object: device; dev/char/244:<n> */
	T_NODE_DEV,    /* object: device; /dev/vfio/devices/vfio<n> */
	T_NODE_GROUP,  /* object: group */
};

/* Small directories that all have the same files */
struct small {
	enum type of;
	const char *name;
	unsigned mode; /* 0: a link */
	const char *text;
};
enum { SMALLS_MAX = 16 };
extern const struct small tree_smalls[SMALLS_MAX];

static inline node_t node_of(enum type type, size_t object, unsigned slot)
{
	return (node_t) type << 56 | (node_t) object << 16 | slot;
}

static inline enum type type_of(node_t node)
{
	return (enum type)(node >> 56);
}
static inline size_t object_of(node_t node)
{
	return node >> 16 & 0xffffffffff;
}
static inline unsigned slot_of(node_t node)
{
	return node & 0xffff;
}

static inline struct device *device_of(node_t node)
{
	return model.devices[object_of(node)];
}
static inline struct driver *driver_of(node_t node)
{
	return &model.drivers[object_of(node)];
}
static inline struct group *group_of(node_t node)
{
	return model.groups[object_of(node)];
}

/* All need the mutex. */
bool tree_is_there(node_t node);
mode_t tree_mode(node_t node);
bool tree_has_group_node(const struct group *g);
void tree_module_name(const struct driver *r, char ret[static 40]); /* _ where drivers have - */
