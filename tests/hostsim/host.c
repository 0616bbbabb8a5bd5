/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "later.h"

static const struct preset {
	const char *name;
	uint16_t vendor, device, vf_device, subvendor, subdevice;
	uint32_t class;
	unsigned offset, stride, totalvfs;
	const char *driver;
} presets[] = {
	/* the first two as QEMU's devices (RIG.md) */
	{ "nvme", 0x1b36, 0x0010, 0x0010, 0x1af4, 0x1100, 0x010802, 1, 1, 127, "nvme" },
	{ "igb", 0x8086, 0x10c9, 0x10ca, 0x1af4, 0x1100, 0x020000, 128, 2, 7, "igb" },
	{ "ice", 0x8086, 0x1592, 0x1889, 0x8086, 0x0002, 0x020000, 8, 1, 256, "ice" },
	{ "mlx5", 0x15b3, 0x101d, 0x101e, 0x15b3, 0x0016, 0x020000, 2, 1, 127, "mlx5_core" },
};

static struct {
	char what[40];
	double seconds;
	bool vanishes;
} times[64];
static size_t n_times;
static char without[16][40];
static size_t n_without;

static int complain(const char *option, const char *text, const char *expected)
{
	fprintf(stderr, "hostsim: --%s %s: expected %s\n", option, text, expected);
	return -EINVAL;
}

static int set_address(struct pf_config *c, const char *value)
{
	unsigned domain, bus, slot, function;
	char end;

	if (sscanf(value, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &end) != 4 ||
	    bus > 255 || slot > 31 || function > 7)
		return -EINVAL;
	c->domain = domain;
	c->bus = (uint8_t) bus;
	c->devfn = (uint8_t) (slot << 3 | function);
	return 0;
}

enum key_kind { KEY_HEX16, KEY_NUMBER, KEY_FLAG, KEY_SECONDS, KEY_TEXT, KEY_CLASS };

static const struct {
	const char *key;
	enum key_kind kind;
	size_t at; /* in struct pf_config */
} keys[] = {
	{ "vendor", KEY_HEX16, offsetof(struct pf_config, vendor) },
	{ "device", KEY_HEX16, offsetof(struct pf_config, device) },
	{ "vf_device", KEY_HEX16, offsetof(struct pf_config, vf_device) },
	{ "subvendor", KEY_HEX16, offsetof(struct pf_config, subvendor) },
	{ "subdevice", KEY_HEX16, offsetof(struct pf_config, subdevice) },
	{ "class", KEY_CLASS, offsetof(struct pf_config, class) },
	{ "offset", KEY_NUMBER, offsetof(struct pf_config, offset) },
	{ "stride", KEY_NUMBER, offsetof(struct pf_config, stride) },
	{ "totalvfs", KEY_NUMBER, offsetof(struct pf_config, totalvfs) },
	{ "numvfs", KEY_NUMBER, offsetof(struct pf_config, numvfs) },
	{ "autoprobe", KEY_FLAG, offsetof(struct pf_config, autoprobe) },
	{ "wakeup", KEY_FLAG, offsetof(struct pf_config, wakeup) },
	{ "shared-group", KEY_FLAG, offsetof(struct pf_config, shared_group) },
	{ "driver-after", KEY_SECONDS, offsetof(struct pf_config, driver_after) },
	{ "vf-delay", KEY_SECONDS, offsetof(struct pf_config, vf_delay) },
	{ "vf-interval", KEY_SECONDS, offsetof(struct pf_config, vf_interval) },
	{ "serial", KEY_TEXT, offsetof(struct pf_config, serial) },
	{ "driver", KEY_TEXT, offsetof(struct pf_config, driver) },
	{ "bound", KEY_TEXT, offsetof(struct pf_config, bound) },
};

static void set_value(enum key_kind kind, void *at, const char *value)
{
	switch (kind) {
	case KEY_HEX16:
		*(uint16_t *) at = (uint16_t) strtoul(value, NULL, 16);
		break;
	case KEY_CLASS:
		*(uint32_t *) at = (uint32_t) strtoul(value, NULL, 16);
		break;
	case KEY_NUMBER:
		*(unsigned *) at = (unsigned) strtoul(value, NULL, 10);
		break;
	case KEY_FLAG:
		*(bool *) at = *value == '1';
		break;
	case KEY_SECONDS:
		*(double *) at = atof(value);
		break;
	case KEY_TEXT:
		snprintf(at, 40, "%s", strcmp(value, "none") ? value : "");
		break;
	}
}

static int set_key(struct pf_config *c, const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(keys[i].key, key) == 0) {
			set_value(keys[i].kind, (char *) c + keys[i].at, value);
			return 0;
		}
	return strcmp(key, "at") == 0 ? set_address(c, value) : -EINVAL;
}

/* How many buses the VFs reach into beyond the PF's own */
static unsigned buses_of(const struct pf_config *c)
{
	return (c->devfn + c->offset + c->stride * (c->totalvfs ? c->totalvfs - 1 : 0)) >> 8;
}

static int place(struct pf_config *c)
{
	static unsigned next_bus[16] = { [0 ... 15] = 1 };
	unsigned domain = 0;

	if (c->bus)
		return 0;
	while (domain < 15 && next_bus[domain] + buses_of(c) > 255)
		domain++;
	c->domain = domain;
	c->bus = (uint8_t) next_bus[domain];
	next_bus[domain] += 1 + buses_of(c);
	return next_bus[domain] > 256 ? -EINVAL : 0;
}

/* "nvme:127*4,numvfs=3,serial=00-00-00-00-00-00-00-%02x" */
int host_pf(const char *text)
{
	char copy[512], *rest, *word, *star, *colon;
	const struct preset *p = NULL;
	unsigned count = 1;

	snprintf(copy, sizeof(copy), "%s", text);
	word = strtok_r(copy, ",", &rest);
	star = word ? strchr(word, '*') : NULL;
	if (star)
		count = (unsigned) strtoul(star + 1, NULL, 10), *star = 0;
	colon = word ? strchr(word, ':') : NULL;
	if (colon)
		*colon = 0;
	for (size_t i = 0; word && i < sizeof(presets) / sizeof(*presets); i++)
		if (strcmp(presets[i].name, word) == 0)
			p = &presets[i];
	if (!p || !count || model.n_pfs + count > PFS_MAX)
		return complain("pf", text, "nvme|igb|ice|mlx5[:TOTALVFS][*COUNT][,KEY=VALUE...]");
	struct pf_config base = {
		.vendor = p->vendor,
		.device = p->device,
		.vf_device = p->vf_device,
		.subvendor = p->subvendor,
		.subdevice = p->subdevice,
		.class = p->class,
		.offset = p->offset,
		.stride = p->stride,
		.autoprobe = true,
		.wakeup = true,
		.totalvfs = colon ? (unsigned) strtoul(colon + 1, NULL, 10) : p->totalvfs,
	};

	snprintf(base.driver, sizeof(base.driver), "%s", p->driver);
	while ((word = strtok_r(NULL, ",", &rest))) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = 0;
		if (!value || set_key(&base, word, value) < 0)
			return complain("pf", text, "known keys, see --help");
	}
	for (unsigned i = 0; i < count; i++) {
		struct pf_config *c = &model.pfs[model.n_pfs];
		char *percent = strstr(base.serial, "%d");

		*c = base;
		if (percent)
			snprintf(c->serial, sizeof(c->serial), "%.*s%02x%s",
				 (int) (percent - base.serial), base.serial, i, percent + 2);
		c->index = model.n_pfs++;
		if (base.bus && i)
			c->devfn = (uint8_t) (c->devfn + i); /* next functions of that device */
		if (place(c) < 0 || c->numvfs > c->totalvfs)
			return complain("pf", text, "fewer VFs, or fewer PFs");
	}
	return 0;
}

/* "mine=15b3:101e+15b3:1020,vfio,async=20" */
int host_driver(const char *text)
{
	char copy[256], *rest, *word, *ids;
	struct driver *r;

	snprintf(copy, sizeof(copy), "%s", text);
	word = strtok_r(copy, ",", &rest);
	ids = word ? strchr(word, '=') : NULL;
	if (ids)
		*ids++ = 0;
	r = word ? driver_declare(word) : NULL;
	if (!r)
		return complain("driver", text, "a name (64 drivers at most)");
	while ((word = strtok_r(NULL, ",", &rest)))
		if (strcmp(word, "vfio") == 0)
			r->is_vfio = true;
		else if (strncmp(word, "async=", 6) == 0)
			r->async_ms = (unsigned) strtoul(word + 6, NULL, 10);
		else
			return complain("driver", text, "NAME[=VVVV:DDDD+...][,vfio][,async=MS]");
	for (word = ids ? strtok_r(ids, "+", &rest) : NULL; word;
	     word = strtok_r(NULL, "+", &rest)) {
		struct dynid *new = must_alloc(1, sizeof(*new));

		new->id = (struct pci_id){ .subvendor = PCI_ANY, .subdevice = PCI_ANY };
		if (sscanf(word, "%x:%x", &new->id.vendor, &new->id.device) != 2)
			return complain("driver", text, "ids like 15b3:101e");
		new->next = r->dynids;
		r->dynids = new;
	}
	r->registered = true;
	return 0;
}

int host_without(const char *text)
{
	if (n_without == 16)
		return complain("without-driver", text, "16 of them at most");
	snprintf(without[n_without++], sizeof(without[0]), "%s", text);
	return 0;
}

static int add_time(const char *option, const char *text, bool vanishes)
{
	const char *equals = strchr(text, '=');

	if (!equals || n_times == 64)
		return complain(option, text, "PF[/INDEX]=SECONDS, 64 of them at most");
	snprintf(times[n_times].what, sizeof(times[0].what), "%.*s", (int) (equals - text), text);
	times[n_times].seconds = atof(equals + 1);
	times[n_times++].vanishes = vanishes;
	return 0;
}

int host_late(const char *text)
{
	return add_time("late", text, false);
}

int host_vanish(const char *text)
{
	return add_time("vanish", text, true);
}

struct pf_config *host_find_pf(const char *text)
{
	size_t len = strcspn(text, "/=");
	char name[32];

	for (unsigned i = 0; i < model.n_pfs; i++) {
		const struct pf_config *c = &model.pfs[i];

		snprintf(name, sizeof(name), "pf%u", i);
		if (strlen(name) == len && strncmp(name, text, len) == 0)
			return &model.pfs[i];
		snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", c->domain, c->bus, c->devfn >> 3,
			 c->devfn & 7);
		if (strlen(name) == len && strncmp(name, text, len) == 0)
			return &model.pfs[i];
	}
	return NULL;
}

struct device *host_find(const char *text)
{
	const struct pf_config *c = host_find_pf(text);
	const char *slash = strchr(text, '/');
	struct device *d = NULL;

	model_lock();
	if (c && slash && c->function) {
		unsigned long i = strtoul(slash + 1, NULL, 10);

		d = i < c->totalvfs ? c->function->sriov->vfs[i] : NULL;
	} else {
		d = c ? c->function : bus_find(text);
	}
	model_unlock();
	return d;
}

static void appear(void *of, unsigned a, unsigned b)
{
	(void) a, (void) b;
	sriov_appear(of);
}

static void vanish(void *of, unsigned a, unsigned b)
{
	struct device *d = host_find(of);

	(void) a, (void) b;
	if (d)
		sriov_vanish(d);
}

static int apply_times(void)
{
	for (size_t i = 0; i < n_times; i++) {
		struct pf_config *c = host_find_pf(times[i].what);
		const char *slash = strchr(times[i].what, '/');
		unsigned long vf = slash ? strtoul(slash + 1, NULL, 10) : 0;

		if (times[i].vanishes) {
			later_do(times[i].seconds, vanish, times[i].what, 0, 0);
			continue;
		}
		if (!c || vf > c->totalvfs)
			return complain("late", times[i].what, "a PF of this host");
		if (!slash) {
			c->appears_after = times[i].seconds;
			continue;
		}
		if (!c->vf_late)
			c->vf_late = must_alloc(c->totalvfs + 1, sizeof(*c->vf_late));
		c->vf_late[vf] = times[i].seconds;
	}
	return 0;
}

int host_build(void)
{
	struct driver *port = driver_declare("pcieport"), *vfio = driver_declare("vfio-pci");
	struct driver *gone;

	if (apply_times() < 0)
		return -EINVAL;
	port->registered = vfio->registered = true;
	for (unsigned i = 0; i < model.n_pfs; i++) {
		struct pf_config *c = &model.pfs[i];

		model_lock();
		c->port = bus_port(c->domain, c->bus);
		model_unlock();
		if (driver_bind(port, c->port->name) < 0 && !c->port->driver)
			return -EIO;
	}
	for (unsigned i = 0; i < model.n_pfs; i++)
		if (model.pfs[i].appears_after > 0)
			later_do(model.pfs[i].appears_after, appear, &model.pfs[i], 0, 0);
		else if (model.pfs[i].appears_after == 0)
			sriov_appear(&model.pfs[i]);
	for (size_t i = 0; i < n_without; i++) {
		gone = driver_find(without[i]);
		if (gone)
			gone->registered = false;
	}
	return 0;
}
