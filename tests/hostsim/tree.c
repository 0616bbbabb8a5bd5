/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "entries.h"
#include "static.h"
#include "tree.h"
#include "uevent-send.h"

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
	T_CHAR_GROUP,  /* object: group */
	T_NODE_DEV,    /* object: device; /dev/vfio/devices/vfio<n> */
	T_NODE_GROUP,  /* object: group */
};

/* Small directories that all have the same files */
static const struct small {
	enum type of;
	const char *name;
	unsigned mode; /* 0: a link */
	const char *text;
} smalls[] = {
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
enum { SMALLS = sizeof(smalls) / sizeof(*smalls) };

static node_t node_of(enum type type, size_t object, unsigned slot)
{
	return (node_t) type << 56 | (node_t) object << 16 | slot;
}

static enum type type_of(node_t node) { return (enum type) (node >> 56); }
static size_t object_of(node_t node) { return node >> 16 & 0xffffffffff; }
static unsigned slot_of(node_t node) { return node & 0xffff; }

static struct device *device_of(node_t node) { return model.devices[object_of(node)]; }
static struct driver *driver_of(node_t node) { return &model.drivers[object_of(node)]; }
static struct group *group_of(node_t node) { return model.groups[object_of(node)]; }

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

/* modules are named with _ where drivers have - */
static void module_name(const struct driver *r, char ret[static 40])
{
	snprintf(ret, 40, "%s", r->name);
	for (; (ret = strchr(ret, '-')); )
		*ret = '_';
}

static bool has_group_node(const struct group *g)
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
	    parse_number(name, group_prefix, VFIO_MAX, &n) && has_group_node(model.groups[n]))
		return node_of(in == S_CLASS_VFIO   ? T_CLASS_GROUP :
			       in == S_VIRTUAL_VFIO ? T_VIRTUAL :
						      T_NODE_GROUP,
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

		module_name(r, module);
		if (r->registered && strcmp(in == S_DRIVERS ? r->name : module, name) == 0)
			return node_of(in == S_DRIVERS ? T_DRIVER : T_MODULE, i, 0);
	}
	return lookup_numbered(in, name);
}

static node_t lookup_small(node_t parent, const char *name)
{
	for (unsigned i = 1; i < SMALLS; i++)
		if (smalls[i].of == type_of(parent) && strcmp(smalls[i].name, name) == 0)
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
		return d && d->group && d->group == group_of(parent) ?
			       node_of(T_GROUP_LINK, d->number, 0) : 0;
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

static bool is_there(node_t node)
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
	case T_CHAR_GROUP:
	case T_NODE_GROUP:
		return has_group_node(group_of(node));
	}
	return false;
}

static mode_t mode_of(node_t node)
{
	static const mode_t kinds[] = { [ENTRY_FILE] = S_IFREG, [ENTRY_DIR] = S_IFDIR,
					[ENTRY_LINK] = S_IFLNK };
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
		mode = smalls[slot_of(node)].mode;
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
	there = is_there(node);
	model_unlock();
	*ret = (struct stat){ .st_ino = node, .st_mode = there ? mode_of(node) : 0, .st_nlink = 1 };
	if (S_ISREG(ret->st_mode)) /* sysfs says 4096 for all; parallel writes need that too */
		ret->st_size = 4096;
	if (S_ISDIR(ret->st_mode))
		ret->st_nlink = 2;
	return there;
}

/* ---- listing ---- */

struct listing {
	tree_each_t *each;
	void *userdata;
};

static void give(const struct listing *l, const char *name, node_t node)
{
	l->each(l->userdata, name, node, mode_of(node) & S_IFMT);
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
		module_name(&model.drivers[i], name);
		give(l, in == S_DRIVERS ? model.drivers[i].name : name,
		     node_of(in == S_DRIVERS ? T_DRIVER : T_MODULE, i, 0));
	}
}

static void list_numbered(const struct listing *l, enum static_slot in)
{
	size_t end = model.group_ids.n_words * 64, vfios = model.vfio_ids.n_words * 64;
	enum type type = in == S_CLASS_VFIO   ? T_CLASS_GROUP :
			 in == S_VIRTUAL_VFIO ? T_VIRTUAL :
			 in == S_NODES	      ? T_NODE_GROUP :
						T_GROUP;
	char name[40];

	for (unsigned i = 0; i < end && type != T_GROUP; i++) {
		if (!has_group_node(model.groups[i]))
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
			give(l, name, node_of(in == S_NODE_DEVICES ? T_NODE_DEV : T_CLASS_DEV,
					      d->number, 0));
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
	for (unsigned i = 1; i < SMALLS; i++)
		if (smalls[i].of == type)
			give(l, smalls[i].name, node_of(type, object_of(node), i));
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
	if (!is_there(node))
		r = -ENOENT;
	else
		list(&l, node);
	model_unlock();
	return r;
}

/* ---- paths and links ---- */

static void small_path(node_t node, const char *format, const char *name, char *ret, size_t size)
{
	unsigned slot = slot_of(node);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(ret, size, format, name, slot ? "/" : "", slot ? smalls[slot].name : "");
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
		module_name(driver_of(node), name);
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
	case T_CHAR_GROUP:
	case T_CLASS_GROUP:
	case T_VIRTUAL:
		if (group_of(node))
			vfio_group_name(group_of(node), name);
		small_path(node, type_of(node) == T_VIRTUAL ? "/devices/virtual/vfio/%s%s%s" :
							      "/class/vfio/%s%s%s",
			   name, ret, size);
		return;
	case T_NODE_DEV:
		vfio_device_name(device_of(node), name);
		snprintf(ret, size, "/devices/%s", name);
		return;
	case T_NODE_GROUP:
		if (group_of(node))
			vfio_group_name(group_of(node), name);
		snprintf(ret, size, "/%s", name);
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
	case T_CHAR_GROUP:
		vfio_group_name(group_of(node), name);
		snprintf(ret, size, "/devices/virtual/vfio/%s", name);
		return 0;
	case T_DRIVER:
		module_name(driver_of(node), name);
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
	if (is_there(node)) {
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

/* ---- reading, writing, opening ---- */

static int read_virtual(node_t node, char *ret, size_t size)
{
	const struct group *g = group_of(node);
	char name[32];

	if (!has_group_node(g))
		return -ENODEV;
	vfio_group_name(g, name);
	if (strcmp(smalls[slot_of(node)].name, "dev") == 0)
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
		return snprintf(ret, size, "%s", smalls[slot_of(node)].text ?: "");
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
		switch (smalls[slot_of(node)].name[0]) {
		case 'b':
			return driver_bind(r, text);
		case 'n':
			return driver_new_id(r, text);
		case 'r':
			return driver_remove_id(r, text);
		default:
			return smalls[slot_of(node)].name[1] == 'n' ? driver_unbind(r, text) : 0;
		}
	default:
		return tree_is_vfio_node(node) ? -EINVAL : 0;
	}
}

int tree_open(node_t node)
{
	int r = 0;

	model_lock();
	if (!is_there(node))
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
