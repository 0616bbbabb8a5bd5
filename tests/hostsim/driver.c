/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PCI drivers: which device they take, bind, unbind, new_id (drivers/pci/pci-driver.c,
 * drivers/base/bus.c and dd.c). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cost.h"
#include "entries.h"
#include "later.h"
#include "model.h"
#include "uevent-send.h"

#define ANY .subvendor = PCI_ANY, .subdevice = PCI_ANY
#define DEV(v, d)                                                                                  \
	{                                                                                          \
		.vendor = (v), .device = (d), ANY                                                  \
	}
#define CLASS(c, m)                                                                                \
	{                                                                                          \
		.vendor = PCI_ANY, .device = PCI_ANY, ANY, .class = (c), .class_mask = (m)         \
	}

static const struct pci_id ids_any[] = {
	{ .vendor = PCI_ANY, .device = PCI_ANY, ANY, .override_only = true }
};
static const struct pci_id ids_nvme[] = { CLASS(0x010802, 0xffffff) };
static const struct pci_id ids_port[] = { CLASS(0x060400, 0xffffff) };
static const struct pci_id ids_igb[] = { DEV(0x8086, 0x10c9) };
static const struct pci_id ids_igbvf[] = { DEV(0x8086, 0x10ca) };
static const struct pci_id ids_ice[] = { DEV(0x8086, 0x1592) };
static const struct pci_id ids_iavf[] = { DEV(0x8086, 0x1889), DEV(0x8086, 0x154c) };
static const struct pci_id ids_mlx5[] = { DEV(0x15b3, 0x101d), DEV(0x15b3, 0x101e) };
static const struct pci_id ids_mlx5_vfio[] = {
	{ .vendor = 0x15b3, .device = 0x101e, ANY, .override_only = true }
};

static const struct known {
	const char *name;
	const struct pci_id *ids;
	size_t n_ids;
	bool is_vfio, sriov, drops_vfs;
} known[] = {
	{ "pcieport", ids_port, 1, false, false, false },
	{ "vfio-pci", ids_any, 1, true, true, true },
	{ "nvme", ids_nvme, 1, false, true, false },
	{ "igb", ids_igb, 1, false, true, true },
	{ "igbvf", ids_igbvf, 1, false, false, false },
	{ "ice", ids_ice, 1, false, true, true },
	{ "iavf", ids_iavf, 2, false, false, false },
	{ "mlx5_core", ids_mlx5, 2, false, true, true },
	{ "mlx5_vfio_pci", ids_mlx5_vfio, 1, true, false, false },
	{ "pci-pf-stub", ids_any, 1, false, true, true },
	{ "pci-stub", NULL, 0, false, false, false },
	{ "uio_pci_generic", NULL, 0, false, false, false },
};

struct driver *driver_find(const char *name)
{
	for (unsigned i = 0; i < model.n_drivers; i++)
		if (strcmp(model.drivers[i].name, name) == 0)
			return &model.drivers[i];
	return NULL;
}

/* A driver that the table doesn't know has no ids of its own, and sriov_configure. */
struct driver *driver_declare(const char *name)
{
	struct driver *r = driver_find(name);

	if (r || model.n_drivers == DRIVERS_MAX)
		return r;
	r = &model.drivers[model.n_drivers];
	*r = (struct driver){ .index = model.n_drivers++, .sriov = true };
	snprintf(r->name, sizeof(r->name), "%s", name);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		r->ids = known[i].ids;
		r->n_ids = known[i].n_ids;
		r->is_vfio = known[i].is_vfio;
		r->sriov = known[i].sriov;
		r->drops_vfs = known[i].drops_vfs;
	}
	return r;
}

static bool id_matches(const struct pci_id *id, const struct pci_id *of)
{
	return (id->vendor == PCI_ANY || id->vendor == of->vendor) &&
	       (id->device == PCI_ANY || id->device == of->device) &&
	       (id->subvendor == PCI_ANY || id->subvendor == of->subvendor) &&
	       (id->subdevice == PCI_ANY || id->subdevice == of->subdevice) &&
	       !((id->class ^ of->class) & id->class_mask);
}

static bool id_is_static(const struct driver *r, const struct pci_id *of, bool override)
{
	for (size_t i = 0; i < r->n_ids; i++)
		if ((!r->ids[i].override_only || override) && id_matches(&r->ids[i], of))
			return true;
	return false;
}

/* pci_bus_match(), pci_match_device() */
bool driver_matches(const struct driver *r, const struct device *d)
{
	struct pci_id of = { d->vendor, d->device, d->subvendor, d->subdevice, d->class, 0, false };

	if (!r->registered || !d->ready || !d->alive)
		return false;
	if (d->override)
		return strcmp(d->override, r->name) == 0;
	for (const struct dynid *dynid = r->dynids; dynid; dynid = dynid->next)
		if (id_matches(&dynid->id, &of))
			return true;
	return id_is_static(r, &of, false);
}

/* pci_device_can_probe(): the flag is looked at when it probes, not when the VF is made */
static bool can_probe(const struct device *d)
{
	return d->kind != DEVICE_VF || d->pf->sriov->autoprobe || d->override;
}

static void bound(struct driver *r, struct device *d)
{
	d->driver = r;
	d->linked = true;
	d->driver_prev = r->last;
	*(r->last ? &r->last->driver_next : &r->first) = d;
	r->last = d;
	if (d->kind == DEVICE_VF)
		model.n_nodes++; /* the link */
	if (r->is_vfio)
		vfio_attach(d);
	uevent_pci("bind", d, NULL);
}

/* __driver_probe_device() with the device lock and the costs */
static int probe(struct driver *r, struct device *d)
{
	int result = 0;

	pthread_mutex_lock(&d->lock);
	cost_begin(COST_BIND, d->pf ?: d);
	model_lock();
	if (!d->alive)
		result = -ENODEV;
	else if (d->driver)
		result = -EBUSY;
	else if (!driver_matches(r, d) || !can_probe(d))
		result = -ENODEV;
	else
		bound(r, d);
	model_unlock();
	cost_end(COST_BIND, d->pf ?: d);
	pthread_mutex_unlock(&d->lock);
	return result;
}

static void probe_later(void *of, unsigned driver, unsigned unused)
{
	struct device *d = of;

	(void) unused;
	(void) probe(&model.drivers[driver], d); /* as in the kernel nobody is told */
	model_lock();
	d->probing = false;
	model_unlock();
}

/* By the bus's own will, not by a write to bind: may go to the background. */
static int probe_some_time(struct driver *r, struct device *d)
{
	if (!r->async_ms)
		return probe(r, d);
	model_lock();
	if (d->probing) {
		model_unlock();
		return 0;
	}
	d->probing = true;
	model_unlock();
	later_do(r->async_ms / 1e3, probe_later, d, r->index, 0);
	return 0;
}

/* device_attach(): the first driver that matches and takes it; failures are not told */
static void attach(struct device *d)
{
	for (unsigned i = 0; i < model.n_drivers; i++) {
		struct driver *r = &model.drivers[i];
		bool wants;

		model_lock();
		wants = !d->driver && driver_matches(r, d) && can_probe(d);
		model_unlock();
		if (wants && probe_some_time(r, d) == 0)
			return;
	}
}

void driver_initial_probe(struct device *d)
{
	model_lock();
	d->ready = d->alive;
	model_unlock();
	if (model.bus_autoprobe)
		attach(d);
}

/* bus/pci/drivers_probe: success even if no driver took the device (K4, K5) */
int driver_probe(const char *text)
{
	struct device *d;

	model_lock();
	d = bus_find_line(text);
	model_unlock();
	if (!d)
		return -ENODEV;
	attach(d);
	return 0;
}

int driver_bind(struct driver *r, const char *text)
{
	struct device *d;
	bool matches;

	model_lock();
	d = bus_find_line(text);
	matches = d && driver_matches(r, d);
	model_unlock();
	return matches ? probe(r, d) : -ENODEV;
}

/* __device_release_driver(): links, remove(), list, event */
void driver_release_locked(struct device *d)
{
	struct driver *r;

	model_lock();
	r = d->driver;
	if (r && d->linked) {
		d->linked = false;
		if (d->kind == DEVICE_PF && r->drops_vfs && d->sriov->numvfs) {
			model_unlock();
			sriov_drop_vfs(d);
			model_lock();
		}
		if (r->is_vfio)
			vfio_detach(d);
		*(d->driver_prev ? &d->driver_prev->driver_next : &r->first) = d->driver_next;
		*(d->driver_next ? &d->driver_next->driver_prev : &r->last) = d->driver_prev;
		d->driver_next = d->driver_prev = NULL;
		d->driver = NULL;
		uevent_pci("unbind", d, NULL);
	}
	model_unlock();
}

void driver_release(struct device *d)
{
	pthread_mutex_lock(&d->lock);
	driver_release_locked(d);
	pthread_mutex_unlock(&d->lock);
}

int driver_unbind(struct driver *r, const char *text)
{
	struct device *d;
	bool is_ours;

	model_lock();
	d = bus_find_line(text);
	is_ours = d && d->driver == r;
	model_unlock();
	if (!is_ours)
		return -ENODEV;
	driver_release(d);
	return 0;
}

/* driver_attach(): every device of the bus in the order in which they came */
static void walk(struct driver *r)
{
	struct device **found;
	size_t n = 0;

	model_lock();
	found = must_alloc(model.n_devices + 1, sizeof(*found));
	for (struct device *d = model.first; d; d = d->bus_next)
		if (!d->driver && driver_matches(r, d) && can_probe(d))
			found[n++] = d;
	model_unlock();
	for (size_t i = 0; i < n; i++)
		(void) probe_some_time(r, found[i]); /* the walk goes on whatever one says */
	free(found);
}

/* As the kernel's sscanf("%x %x ..."): no sign, 0x allowed. Returns the number of fields. */
static unsigned scan_hex(const char *text, uint32_t *ret, unsigned max)
{
	unsigned n;

	for (n = 0; n < max; n++) {
		char *end;

		while (isspace((unsigned char) *text))
			text++;
		if (!isxdigit((unsigned char) *text))
			break;
		ret[n] = (uint32_t) strtoul(text, &end, 16);
		text = end;
	}
	return n;
}

/* new_id_store(), do_pci_add_dynid() */
int driver_new_id(struct driver *r, const char *text)
{
	uint32_t field[7] = { 0, 0, PCI_ANY, PCI_ANY, 0, 0, 0 };
	unsigned n = scan_hex(text, field, 7);
	struct pci_id id = { field[0], field[1], field[2], field[3], field[4], field[5], false };
	struct dynid **at;

	if (n < 2 || field[6])
		return -EINVAL; /* driver_data has to be one of the driver's own: 0 */
	if (n != 7 && id_is_static(r, &id, false))
		return -EEXIST;
	model_lock();
	for (at = &r->dynids; *at; at = &(*at)->next)
		if (n != 7 && id_matches(&(*at)->id, &id)) {
			model_unlock();
			return -EEXIST;
		}
	*at = must_alloc(1, sizeof(**at));
	(*at)->id = id;
	model_unlock();
	walk(r);
	return 0;
}

int driver_remove_id(struct driver *r, const char *text)
{
	uint32_t field[6] = { 0, 0, PCI_ANY, PCI_ANY, 0, 0 };
	int result = -ENODEV;

	if (scan_hex(text, field, 6) < 2)
		return -EINVAL;
	model_lock();
	for (struct dynid **at = &r->dynids; *at; at = &(*at)->next) {
		const struct pci_id *id = &(*at)->id;
		struct dynid *gone = *at;

		if (id->vendor != field[0] || id->device != field[1] ||
		    (field[2] != PCI_ANY && id->subvendor != field[2]) ||
		    (field[3] != PCI_ANY && id->subdevice != field[3]) ||
		    ((id->class ^ field[4]) & field[5]))
			continue;
		*at = gone->next;
		free(gone);
		result = 0;
		break;
	}
	model_unlock();
	return result;
}

/* __device_set_driver_override(); len is what was written, text may end before it */
int driver_set_override(struct device *d, const char *text, size_t len)
{
	size_t n = strcspn(text, "\n");
	char *new = NULL;

	if (len >= 4096 - 1)
		return -EINVAL;
	if (n) {
		new = must_alloc(1, n + 1);
		memcpy(new, text, n);
	}
	model_lock();
	if (!d->alive) {
		model_unlock();
		free(new);
		return -ENODEV;
	}
	free(d->override);
	d->override = new;
	model_unlock();
	return 0;
}

int driver_register(const char *name)
{
	struct driver *r;

	model_lock();
	r = driver_declare(name);
	if (r)
		r->registered = true;
	model_unlock();
	if (!r)
		return -ENOMEM;
	walk(r);
	return 0;
}

int driver_unregister(const char *name)
{
	struct driver *r = driver_find(name);

	if (!r || !r->registered)
		return -ENOENT;
	while (r->first)
		driver_release(r->first);
	model_lock();
	r->registered = false;
	while (r->dynids) {
		struct dynid *gone = r->dynids;

		r->dynids = gone->next;
		free(gone);
	}
	model_unlock();
	return 0;
}
