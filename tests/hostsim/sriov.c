/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SR-IOV: VFs come and go with sriov_numvfs (drivers/pci/iov.c). */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cost.h"
#include "later.h"
#include "model.h"
#include "uevent-send.h"

/* kstrtou16(base 0), whose every failure the caller turns into EINVAL */
static int parse_u16(const char *text, unsigned *ret)
{
	unsigned long long value;
	char *end;

	text += *text == '+';
	if (!isdigit((unsigned char) *text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 0);
	end += *end == '\n';
	if (errno || *end || value > UINT16_MAX)
		return -EINVAL;
	*ret = (unsigned) value;
	return 0;
}

/* kstrtobool() */
static int parse_bool(const char *text, bool *ret)
{
	if (*text && strchr("yYtT1", *text))
		*ret = true;
	else if (*text && strchr("nNfF0", *text))
		*ret = false;
	else if ((*text == 'o' || *text == 'O') && text[1] && strchr("nN", text[1]))
		*ret = true;
	else if ((*text == 'o' || *text == 'O') && text[1] && strchr("fF", text[1]))
		*ret = false;
	else
		return -EINVAL;
	return 0;
}

/* pci_iov_add_virtfn(): the device and its events, the links and a change event; only then may it
 * be bound (pci_bus_add_device). */
static void add_vf(struct device *pf, unsigned index)
{
	struct sriov *s = pf->sriov;
	struct device *d;

	model_lock();
	d = bus_new(DEVICE_VF, pf->parent, pf->domain,
		    (uint16_t) (pf->rid + s->offset + s->stride * index));
	d->vendor = pf->vendor;
	d->device = s->vf_device;
	d->subvendor = pf->subvendor;
	d->subdevice = pf->subdevice;
	d->class = pf->class;
	d->pf = pf;
	d->vf_index = index;
	if (pf->driver && pf->driver->is_vfio) /* vfio_pci_bus_notifier() */
		d->override = must_dup(pf->driver->name);
	bus_announce(d);
	s->vfs[index] = d;
	uevent_pci("change", d, NULL);
	model_unlock();
	driver_initial_probe(d);
}

static void all_there(struct device *pf)
{
	model_lock();
	uevent_pci("change", pf, NULL);
	model_unlock();
}

static bool is_late(const struct pf_config *c, unsigned index)
{
	return c->vf_delay > 0 || c->vf_interval > 0 || (c->vf_late && c->vf_late[index] > 0);
}

static void late_vf(void *of, unsigned index, unsigned generation)
{
	sriov_add_late(of, index, generation);
}

void sriov_add_late(struct device *pf, unsigned index, unsigned generation)
{
	struct sriov *s = pf->sriov;
	bool wanted, last;

	model_lock();
	wanted = pf->alive && s->generation == generation && index < s->numvfs && !s->vfs[index];
	last = wanted && --s->missing == 0;
	model_unlock();
	if (!wanted)
		return;
	add_vf(pf, index);
	if (last)
		all_there(pf);
}

static void enable(struct device *pf, unsigned n)
{
	struct sriov *s = pf->sriov;
	const struct pf_config *c = s->config;

	cost_begin(COST_NUMVFS, pf);
	s->generation++;
	s->missing = 0;
	for (unsigned i = 0; i < n; i++)
		s->missing += is_late(c, i);
	for (unsigned i = 0; i < n; i++) {
		cost_each(COST_NUMVFS, i);
		if (!is_late(c, i))
			add_vf(pf, i);
	}
	if (!s->missing)
		all_there(pf);
	model_lock();
	s->numvfs = n;
	model_unlock();
	cost_end(COST_NUMVFS, pf);
	for (unsigned i = 0; i < n; i++) {
		double after = c->vf_delay + i * c->vf_interval;

		if (c->vf_late && c->vf_late[i] > 0)
			after = c->vf_late[i];
		if (is_late(c, i))
			later_do(after, late_vf, pf, i, s->generation);
	}
}

static void remove_function(struct device *d)
{
	driver_release(d);
	model_lock();
	if (d->alive) {
		if (d->pf)
			d->pf->sriov->vfs[d->vf_index] = NULL;
		bus_remove(d);
	}
	model_unlock();
}

void sriov_drop_vfs(struct device *pf)
{
	struct sriov *s = pf->sriov;

	for (unsigned i = 0; i < s->numvfs; i++)
		if (s->vfs[i])
			remove_function(s->vfs[i]);
	model_lock();
	s->generation++;
	s->numvfs = 0;
	model_unlock();
	cost_begin(COST_DISABLE, pf);
	cost_end(COST_DISABLE, pf);
}

/* sriov_numvfs_store(); the same number again is a success before anything else is looked at */
int sriov_set_numvfs(struct device *pf, const char *text)
{
	struct sriov *s = pf->sriov;
	int r = 0;
	unsigned n;

	if (parse_u16(text, &n) < 0)
		return -EINVAL;
	if (n > s->totalvfs)
		return -ERANGE;
	pthread_mutex_lock(&pf->lock);
	if (!pf->alive)
		r = -ENODEV;
	else if (n == s->numvfs)
		r = 0;
	else if (!pf->driver || !pf->driver->sriov || (pf->driver->is_vfio && !model.enable_sriov))
		r = -ENOENT;
	else if (n == 0)
		sriov_drop_vfs(pf);
	else if (s->numvfs)
		r = -EBUSY;
	else
		enable(pf, n);
	pthread_mutex_unlock(&pf->lock);
	return r;
}

/* sriov_numvfs_show() waits for a writer */
int sriov_get_numvfs(struct device *pf, unsigned *ret)
{
	bool alive;

	pthread_mutex_lock(&pf->lock);
	alive = pf->alive;
	*ret = pf->sriov->numvfs;
	pthread_mutex_unlock(&pf->lock);
	return alive ? 0 : -ENODEV;
}

int sriov_set_autoprobe(struct device *pf, const char *text)
{
	bool value;

	if (parse_bool(text, &value) < 0)
		return -EINVAL;
	model_lock();
	pf->sriov->autoprobe = value;
	model_unlock();
	return 0;
}

/* Whatever driver --pf driver= names takes the PF: by its ids, by an override (vfio-pci), or by an
 * id that is added for it. */
static void bind_pf(void *of, unsigned unused, unsigned unused2)
{
	struct pf_config *c = of;
	struct device *d = c->function;
	struct driver *r;

	(void) unused;
	(void) unused2;
	model_lock();
	r = d ? driver_declare(c->driver) : NULL;
	if (r) {
		r->registered = true;
		if (!driver_matches(r, d) && r->is_vfio) {
			d->override = must_dup(c->driver);
		} else if (!driver_matches(r, d)) {
			struct dynid *new = must_alloc(1, sizeof(*new));

			new->id = (struct pci_id){ .vendor = c->vendor,
						   .device = c->device,
						   .subvendor = PCI_ANY,
						   .subdevice = PCI_ANY };
			new->next = r->dynids;
			r->dynids = new;
		}
	}
	model_unlock();
	if (r && driver_bind(r, d->name) < 0 && !d->driver)
		fprintf(stderr, "hostsim: '%s' does not take %s\n", c->driver, d->name);
}

/* VFs that --pf numvfs= asked for; before the program starts. */
static void preset_vfs(struct device *pf)
{
	const struct pf_config *c = pf->sriov->config;
	struct driver *r;

	pf->sriov->autoprobe = !*c->bound;
	enable(pf, c->numvfs);
	model_lock();
	r = *c->bound ? driver_declare(c->bound) : NULL;
	model_unlock();
	for (unsigned i = 0; r && i < c->numvfs; i++) {
		struct device *vf = pf->sriov->vfs[i];

		r->registered = true;
		if (driver_set_override(vf, c->bound, strlen(c->bound)) < 0 ||
		    driver_bind(r, vf->name) < 0)
			abort();
	}
	pf->sriov->autoprobe = c->autoprobe;
}

void sriov_appear(struct pf_config *c)
{
	struct sriov *s = must_alloc(1, sizeof(*s));
	struct device *d;

	model_lock();
	if (c->function) {
		model_unlock();
		free(s);
		return;
	}
	d = bus_new(DEVICE_PF, c->port, c->domain, (uint16_t) (c->bus << 8 | c->devfn));
	*s = (struct sriov){ .config = c,
			     .totalvfs = c->totalvfs,
			     .offset = c->offset,
			     .stride = c->stride,
			     .vf_device = c->vf_device,
			     .autoprobe = c->autoprobe,
			     .vfs = must_alloc(c->totalvfs + 1, sizeof(*s->vfs)) };
	d->vendor = c->vendor;
	d->device = c->device;
	d->subvendor = c->subvendor;
	d->subdevice = c->subdevice;
	d->class = c->class;
	d->sriov = s;
	c->function = d;
	bus_announce(d);
	d->ready = true;
	model_unlock();
	if (*c->driver && c->driver_after > 0)
		later_do(c->driver_after, bind_pf, c, 0, 0);
	else if (*c->driver && c->driver_after == 0)
		bind_pf(c, 0, 0);
	if (c->numvfs)
		preset_vfs(d);
}

/* The device is pulled out, with its VFs if it is a PF. As in the kernel that waits for the device
 * lock, and for whoever holds a VFIO device open. */
void sriov_vanish(struct device *d)
{
	if (d->kind == DEVICE_PF) {
		sriov_drop_vfs(d);
		model_lock();
		d->sriov->config->function = NULL;
		model_unlock();
	}
	remove_function(d);
}
