/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "entries.h"
#include "uevent-send.h"

/* Where: of all functions, only VFs ..., while bound, while bound to a VFIO driver */
enum {
	PORTS = 1,
	PFS = 2,
	VFS = 4,
	PCI = 7,
	HOSTS = 8,
	DRIVEN = 16,
	VFIO = 32,
	WAKEUP = 64,
	SERIAL = 128,
	CDEV = 256,
	NO_CDEV = 512
};

enum {
	DIR_SELF,
	DIR_POWER,
	DIR_WAKEUP,
	DIR_WAKEUP_N,
	DIR_VFIO,
	DIR_VFIO_N,
	DIR_VFIO_POWER,
	_DIR_MAX
};
static unsigned dir_slot[_DIR_MAX]; /* slots of the directories */

static const struct row {
	const char *name;
	const char *text; /* NULL: made by a function or not readable */
	unsigned in, where, mode;
	enum entry_kind kind;
	int is_dir; /* which, > 0 */
} rows[] = {
	{ "" }, /* slot 0 is the directory itself */
	{ "ari_enabled", "0\n", DIR_SELF, PCI, 0444 },
	{ "broken_parity_status", "0\n", DIR_SELF, PCI, 0644 },
	{ "class", NULL, DIR_SELF, PCI, 0444 },
	{ "config", NULL, DIR_SELF, PCI, 0644 },
	{ "consistent_dma_mask_bits", "32\n", DIR_SELF, PCI, 0444 },
	{ "current_link_speed", "2.5 GT/s PCIe\n", DIR_SELF, PCI, 0444 },
	{ "current_link_width", "1\n", DIR_SELF, PCI, 0444 },
	{ "d3cold_allowed", "1\n", DIR_SELF, PCI, 0644 },
	{ "device", NULL, DIR_SELF, PCI, 0444 },
	{ "dma_mask_bits", "32\n", DIR_SELF, PCI, 0444 },
	{ "driver", NULL, DIR_SELF, PCI | DRIVEN, 0777, ENTRY_LINK },
	{ "driver_override", NULL, DIR_SELF, PCI, 0644 },
	{ "enable", "0\n", DIR_SELF, PCI, 0644 },
	{ "iommu_group", NULL, DIR_SELF, PCI, 0777, ENTRY_LINK },
	{ "irq", "0\n", DIR_SELF, PCI, 0444 },
	{ "local_cpulist", "0-1\n", DIR_SELF, PCI, 0444 },
	{ "local_cpus", "3\n", DIR_SELF, PCI, 0444 },
	{ "max_link_speed", "2.5 GT/s PCIe\n", DIR_SELF, PCI, 0444 },
	{ "max_link_width", "1\n", DIR_SELF, PCI, 0444 },
	{ "modalias", NULL, DIR_SELF, PCI, 0444 },
	{ "msi_bus", "1\n", DIR_SELF, PCI, 0644 },
	{ "numa_node", "-1\n", DIR_SELF, PCI, 0644 },
	{ "physfn", NULL, DIR_SELF, VFS, 0777, ENTRY_LINK },
	{ "power", NULL, DIR_SELF, PCI | HOSTS, 0755, ENTRY_DIR, DIR_POWER },
	{ "power_state", "D0\n", DIR_SELF, PCI, 0444 },
	{ "remove", NULL, DIR_SELF, PCI, 0220 },
	{ "rescan", NULL, DIR_SELF, PCI, 0220 },
	{ "reset", NULL, DIR_SELF, PFS | VFS, 0200 },
	{ "reset_method", "flr bus\n", DIR_SELF, PFS | VFS, 0644 },
	{ "resource", NULL, DIR_SELF, PCI, 0444 },
	{ "resource0", NULL, DIR_SELF, PFS | VFS, 0600 },
	{ "revision", "0x00\n", DIR_SELF, PCI, 0444 },
	{ "serial_number", NULL, DIR_SELF, PFS | SERIAL, 0400 },
	{ "sriov_drivers_autoprobe", NULL, DIR_SELF, PFS, 0664 },
	{ "sriov_numvfs", NULL, DIR_SELF, PFS, 0664 },
	{ "sriov_offset", NULL, DIR_SELF, PFS, 0444 },
	{ "sriov_stride", NULL, DIR_SELF, PFS, 0444 },
	{ "sriov_totalvfs", NULL, DIR_SELF, PFS, 0444 },
	{ "sriov_vf_device", NULL, DIR_SELF, PFS, 0444 },
	{ "sriov_vf_total_msix", "0\n", DIR_SELF, PFS, 0444 },
	{ "subsystem", NULL, DIR_SELF, PCI, 0777, ENTRY_LINK },
	{ "subsystem_device", NULL, DIR_SELF, PCI, 0444 },
	{ "subsystem_vendor", NULL, DIR_SELF, PCI, 0444 },
	{ "uevent", NULL, DIR_SELF, PCI | HOSTS, 0644 },
	{ "vendor", NULL, DIR_SELF, PCI, 0444 },
	{ "wakeup", NULL, DIR_SELF, PCI | WAKEUP, 0755, ENTRY_DIR, DIR_WAKEUP },
	{ "vfio-dev", NULL, DIR_SELF, PCI | VFIO, 0755, ENTRY_DIR, DIR_VFIO },

	{ "autosuspend_delay_ms", "\n", DIR_POWER, PCI | HOSTS, 0644 },
	{ "control", "on\n", DIR_POWER, PCI | HOSTS, 0644 },
	{ "runtime_active_time", "0\n", DIR_POWER, PCI | HOSTS, 0444 },
	{ "runtime_status", "active\n", DIR_POWER, PCI | HOSTS, 0444 },
	{ "runtime_suspended_time", "0\n", DIR_POWER, PCI | HOSTS, 0444 },
	{ "wakeup", "disabled\n", DIR_POWER, PCI | WAKEUP, 0644 },
	{ "wakeup_abort_count", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_active", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_active_count", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_count", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_expire_count", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_last_time_ms", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_max_time_ms", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },
	{ "wakeup_total_time_ms", "0\n", DIR_POWER, PCI | WAKEUP, 0444 },

	{ "wakeup%d", NULL, DIR_WAKEUP, PCI | WAKEUP, 0755, ENTRY_DIR, DIR_WAKEUP_N },
	{ "active_count", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "active_time_ms", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "device", NULL, DIR_WAKEUP_N, PCI | WAKEUP, 0777, ENTRY_LINK },
	{ "event_count", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "expire_count", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "last_change_ms", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "max_time_ms", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "name", NULL, DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "total_time_ms", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },
	{ "uevent", "", DIR_WAKEUP_N, PCI | WAKEUP, 0644 },
	{ "wakeup_count", "0\n", DIR_WAKEUP_N, PCI | WAKEUP, 0444 },

	{ "vfio%d", NULL, DIR_VFIO, PCI | VFIO, 0755, ENTRY_DIR, DIR_VFIO_N },
	{ "dev", NULL, DIR_VFIO_N, PCI | VFIO | CDEV, 0444 },
	{ "device", NULL, DIR_VFIO_N, PCI | VFIO, 0777, ENTRY_LINK },
	{ "power", NULL, DIR_VFIO_N, PCI | VFIO, 0755, ENTRY_DIR, DIR_VFIO_POWER },
	{ "subsystem", NULL, DIR_VFIO_N, PCI | VFIO, 0777, ENTRY_LINK },
	{ "uevent", NULL, DIR_VFIO_N, PCI | VFIO, 0644 },
	{ "control", "auto\n", DIR_VFIO_POWER, PCI | VFIO, 0644 },
	{ "runtime_active_time", "0\n", DIR_VFIO_POWER, PCI | VFIO, 0444 },
	{ "runtime_status", "unsupported\n", DIR_VFIO_POWER, PCI | VFIO, 0444 },
	{ "runtime_suspended_time", "0\n", DIR_VFIO_POWER, PCI | VFIO | NO_CDEV, 0444 },
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows) };
_Static_assert(N_ROWS <= 128, "device.seen has 128 bits");

enum { TABLE_SIZE = 1024 };
static uint8_t table[TABLE_SIZE];
static struct entry entries[N_ROWS];
static unsigned numbered[_DIR_MAX]; /* the slot in this directory whose name has a number */

static unsigned hash(unsigned parent, const char *name)
{
	uint32_t h = 2166136261u ^ parent;

	for (; *name; name++)
		h = (h ^ (uint8_t) *name) * 16777619u;
	return (h ^ h >> 12) % TABLE_SIZE;
}

void entries_init(void)
{
	for (unsigned i = 1; i < N_ROWS; i++)
		if (rows[i].is_dir)
			dir_slot[rows[i].is_dir] = i;
	for (unsigned i = 1; i < N_ROWS; i++) {
		unsigned parent = dir_slot[rows[i].in], h = hash(parent, rows[i].name);

		entries[i] = (struct entry){ i, parent, rows[i].name, rows[i].kind, rows[i].mode };
		if (strchr(rows[i].name, '%'))
			numbered[rows[i].in] = i;
		while (table[h])
			h = (h + 1) % TABLE_SIZE;
		table[h] = (uint8_t) i;
	}
	entries[0] = (struct entry){ 0, 0, "", ENTRY_DIR, 0755 };
}

const struct entry *entries_at(unsigned slot)
{
	return slot < N_ROWS ? &entries[slot] : NULL;
}

unsigned entries_max(void)
{
	return N_ROWS;
}

static bool visible(const struct device *d, const struct row *row)
{
	static const unsigned kinds[] = {
		[DEVICE_HOST] = HOSTS, [DEVICE_PORT] = PORTS, [DEVICE_PF] = PFS, [DEVICE_VF] = VFS
	};
	unsigned w = row->where;

	return (w & kinds[d->kind]) && !((w & DRIVEN) && (!d->driver || !d->linked)) &&
	       !((w & VFIO) && d->vfio < 0) && !((w & WAKEUP) && d->wakeup < 0) &&
	       !((w & SERIAL) && !*d->sriov->config->serial) && !((w & CDEV) && !model.cdev) &&
	       !((w & NO_CDEV) && model.cdev) &&
	       !(row->kind == ENTRY_LINK && row->name[0] == 'i' && !d->group);
}

bool entries_visible(const struct device *d, unsigned slot, char ret_name[static 40])
{
	const struct row *row = &rows[slot];

	if (slot >= N_ROWS || !d->alive || (slot && !visible(d, row)))
		return false;
	if (row->is_dir == DIR_WAKEUP_N)
		snprintf(ret_name, 40, "wakeup%d", d->wakeup);
	else if (row->is_dir == DIR_VFIO_N)
		vfio_device_name(d, ret_name);
	else
		snprintf(ret_name, 40, "%s", row->name);
	return true;
}

unsigned entries_lookup(const struct device *d, unsigned parent, const char *name)
{
	char real[40];
	unsigned in = (unsigned) rows[parent].is_dir;

	for (unsigned h = hash(parent, name); table[h]; h = (h + 1) % TABLE_SIZE)
		if (entries[table[h]].parent == parent && !strcmp(rows[table[h]].name, name))
			return entries_visible(d, table[h], real) ? table[h] : 0;
	if (numbered[in] && dir_slot[in] == parent && entries_visible(d, numbered[in], real) &&
	    strcmp(real, name) == 0)
		return numbered[in];
	return 0;
}

unsigned entries_count(const struct device *d)
{
	unsigned n = 0;

	for (unsigned i = 1; i < N_ROWS; i++)
		n += visible(d, &rows[i]);
	return n + (d->kind == DEVICE_VF && !d->group); /* the group's link comes in any case */
}

unsigned entries_count_vfio(void)
{
	unsigned n = 0;

	for (unsigned i = 1; i < N_ROWS; i++)
		n += (rows[i].where & VFIO) && !((rows[i].where & CDEV) && !model.cdev) &&
		     !((rows[i].where & NO_CDEV) && model.cdev);
	return n;
}

void entries_device_path(const struct device *d, char *ret, size_t size)
{
	const struct device *chain[4];
	size_t n = 0, len = (size_t) snprintf(ret, size, "/devices");

	for (; d && n < 4; d = d->parent)
		chain[n++] = d;
	while (n && len < size)
		len += (size_t) snprintf(ret + len, size - len, "/%s", chain[--n]->name);
}

bool entries_is_numvfs(const struct device *d, unsigned slot)
{
	return d->kind == DEVICE_PF && slot < N_ROWS && !strcmp(rows[slot].name, "sriov_numvfs");
}

static void put16(char *at, unsigned value)
{
	at[0] = (char) (value & 255);
	at[1] = (char) (value >> 8);
}

/* A configuration space without capabilities; a VF's own ids read as ffff. */
static int config(const struct device *d, char *ret, size_t size)
{
	bool vf = d->kind == DEVICE_VF;

	if (size < CONFIG_SIZE)
		return -EINVAL;
	memset(ret, 0, CONFIG_SIZE);
	put16(ret, vf ? 0xffff : d->vendor);
	put16(ret + 2, vf ? 0xffff : d->device);
	put16(ret + 4, d->driver ? 0x0406 : 0x0400);
	put16(ret + 10, d->class >> 8);
	ret[9] = (char) d->class;
	ret[14] = d->kind == DEVICE_PORT;
	put16(ret + 0x2c, d->kind == DEVICE_PORT ? 0 : d->subvendor);
	put16(ret + 0x2e, d->kind == DEVICE_PORT ? 0 : d->subdevice);
	return CONFIG_SIZE;
}

static int resource(const struct device *d, char *ret, size_t size)
{
	uint64_t start = 0xfe000000u + ((uint64_t) d->number << 14);
	int n = 0;

	for (unsigned i = 0; i < 13; i++)
		n += snprintf(ret + n, size - (size_t) n, "0x%016jx 0x%016jx 0x%016x\n",
			      (uintmax_t) (i ? 0 : start), (uintmax_t) (i ? 0 : start + 0x3fff),
			      i ? 0 : 0x140204);
	return n;
}

/* Texts of files that have no constant one */
static int text_of(const struct device *d, const char *name, char *ret, size_t size)
{
	const struct sriov *s = d->sriov;
	const struct {
		const char *name, *format;
		unsigned value;
	} numbers[] = {
		{ "class", "0x%06x\n", d->class },
		{ "device", "0x%04x\n", d->device },
		{ "sriov_drivers_autoprobe", "%u\n", s ? s->autoprobe : 0 },
		{ "sriov_offset", "%u\n", s ? s->offset : 0 },
		{ "sriov_stride", "%u\n", s ? s->stride : 0 },
		{ "sriov_totalvfs", "%u\n", s ? s->totalvfs : 0 },
		{ "sriov_vf_device", "%x\n", s ? s->vf_device : 0 },
		{ "subsystem_device", "0x%04x\n", d->subdevice },
		{ "subsystem_vendor", "0x%04x\n", d->subvendor },
		{ "vendor", "0x%04x\n", d->vendor },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (strcmp(numbers[i].name, name) == 0) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			return snprintf(ret, size, numbers[i].format, numbers[i].value);
#pragma GCC diagnostic pop
		}
	if (strcmp(name, "driver_override") == 0)
		return snprintf(ret, size, "%s\n", d->override ?: "(null)");
	if (strcmp(name, "modalias") == 0)
		return snprintf(ret, size, "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X\n",
				d->vendor, d->device, d->subvendor, d->subdevice,
				d->class >> 16 & 255, d->class >> 8 & 255, d->class & 255);
	if (strcmp(name, "serial_number") == 0)
		return snprintf(ret, size, "%s\n", s->config->serial);
	if (strcmp(name, "resource") == 0)
		return resource(d, ret, size);
	if (strcmp(name, "config") == 0)
		return config(d, ret, size);
	if (strcmp(name, "name") == 0)
		return snprintf(ret, size, "%s\n", d->name);
	if (strcmp(name, "dev") == 0)
		return snprintf(ret, size, "%d:%d\n", MAJOR_CDEV, d->vfio);
	if (strcmp(name, "uevent") == 0)
		return (int) uevent_pci_text(d, ret, size);
	return -EIO; /* resource0 and the like */
}

static int vfio_uevent(const struct device *d, char *ret, size_t size)
{
	char name[32];

	vfio_device_name(d, name);
	return model.cdev ? snprintf(ret, size, "MAJOR=%d\nMINOR=%d\nDEVNAME=vfio/devices/%s\n",
				     MAJOR_CDEV, d->vfio, name)
			  : snprintf(ret, size, "%s", "");
}

int entries_read(struct device *d, unsigned slot, char *ret, size_t size)
{
	const struct row *row = &rows[slot];
	char name[40];
	unsigned n;
	int r;

	if (entries_is_numvfs(d, slot)) {
		r = sriov_get_numvfs(d, &n);
		return r < 0 ? r : snprintf(ret, size, "%u\n", n);
	}
	model_lock();
	if (!entries_visible(d, slot, name))
		r = -ENODEV; /* kernfs_get_active_of() */
	else if (row->in == DIR_VFIO_N && strcmp(row->name, "uevent") == 0)
		r = vfio_uevent(d, ret, size);
	else if (row->text)
		r = snprintf(ret, size, "%s", row->text);
	else
		r = d->kind == DEVICE_HOST ? 0 : text_of(d, row->name, ret, size);
	model_unlock();
	return r;
}

static int remove_device(struct device *d, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (end == text || (*end && strcmp(end, "\n") != 0))
		return -EINVAL;
	if (value)
		sriov_vanish(d);
	return 0;
}

int entries_write(struct device *d, unsigned slot, const char *text, size_t len)
{
	const char *name = rows[slot].name;
	char real[40];
	bool there;
	int r = 0;

	model_lock();
	there = entries_visible(d, slot, real);
	model_unlock();
	if (!there)
		return -ENODEV;
	if (strcmp(name, "driver_override") == 0)
		return driver_set_override(d, text, len);
	if (strcmp(name, "sriov_numvfs") == 0)
		return sriov_set_numvfs(d, text);
	if (strcmp(name, "sriov_drivers_autoprobe") == 0)
		return sriov_set_autoprobe(d, text);
	if (strcmp(name, "remove") == 0 && d->kind != DEVICE_PORT)
		return remove_device(d, text);
	if (strcmp(name, "uevent") == 0 && rows[slot].in == DIR_SELF) {
		model_lock();
		r = uevent_synthetic(d, text);
		model_unlock();
	}
	return r; /* all else is taken and forgotten */
}

int entries_target(const struct device *d, unsigned slot, char *ret, size_t size)
{
	const struct row *row = &rows[slot];

	if (strcmp(row->name, "physfn") == 0)
		entries_device_path(d->pf, ret, size);
	else if (strcmp(row->name, "device") == 0)
		entries_device_path(d, ret, size);
	else if (strcmp(row->name, "driver") == 0 && d->driver)
		snprintf(ret, size, "/bus/pci/drivers/%s", d->driver->name);
	else if (strcmp(row->name, "iommu_group") == 0 && d->group)
		snprintf(ret, size, "/kernel/iommu_groups/%u", d->group->id);
	else if (strcmp(row->name, "subsystem") == 0)
		snprintf(ret, size, row->in == DIR_SELF ? "/bus/pci" : "/class/vfio-dev");
	else
		return -ENOENT;
	return 0;
}
