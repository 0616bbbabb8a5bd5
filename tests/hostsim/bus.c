/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "entries.h"
#include "model.h"
#include "uevent-send.h"

struct model model = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.released = PTHREAD_COND_INITIALIZER,
	.booting = true,
	.cdev = true,
	.group_nodes = true,
	.bus_autoprobe = true,
};

void *must_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "hostsim: out of memory\n");
		exit(125);
	}
	return p;
}

char *must_dup(const char *text)
{
	char *copy = must_alloc(1, strlen(text) + 1);

	return strcpy(copy, text);
}

int numbers_take(struct numbers *n)
{
	size_t word = n->hint;

	while (word < n->n_words && n->words[word] == UINT64_MAX)
		word++;
	if (word == n->n_words) {
		size_t more = n->n_words ? 2 * n->n_words : 16;

		n->words = realloc(n->words, more * sizeof(*n->words));
		if (!n->words)
			abort();
		memset(n->words + n->n_words, 0, (more - n->n_words) * sizeof(*n->words));
		n->n_words = more;
	}
	n->hint = word;

	unsigned bit = (unsigned) __builtin_ctzll(~n->words[word]);

	n->words[word] |= UINT64_C(1) << bit;
	return (int) (word * 64 + bit);
}

void numbers_give(struct numbers *n, int number)
{
	size_t word = (size_t) number / 64;

	n->words[word] &= ~(UINT64_C(1) << (number % 64));
	if (word < n->hint)
		n->hint = word;
}

static unsigned hash_name(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (uint8_t) *name) * 16777619u;
	return (h ^ h >> 15) % HASH_SIZE;
}

struct device *bus_find(const char *name)
{
	struct device *d = model.hash[hash_name(name)];

	while (d && strcmp(d->name, name) != 0)
		d = d->hash_next;
	return d;
}

struct device *bus_find_line(const char *text)
{
	char name[24];
	size_t len = strcspn(text, "\n");
	struct device *d;

	if (len >= sizeof(name) || (text[len] == '\n' && text[len + 1]))
		return NULL;
	memcpy(name, text, len);
	name[len] = 0;
	d = bus_find(name);
	return d && d->kind != DEVICE_HOST ? d : NULL;
}

static void link_in(struct device *d)
{
	unsigned h = hash_name(d->name);

	d->hash_next = model.hash[h];
	model.hash[h] = d;
	if (d->parent) {
		d->prev_sibling = d->parent->last_child;
		*(d->prev_sibling ? &d->prev_sibling->next_sibling : &d->parent->first_child) = d;
		d->parent->last_child = d;
	}
	if (d->kind == DEVICE_HOST)
		return;
	d->bus_prev = model.last;
	*(model.last ? &model.last->bus_next : &model.first) = d;
	model.last = d;
}

static void link_out(struct device *d)
{
	struct device **at = &model.hash[hash_name(d->name)];

	while (*at != d)
		at = &(*at)->hash_next;
	*at = d->hash_next;

	*(d->prev_sibling ? &d->prev_sibling->next_sibling
			  : &d->parent->first_child) = d->next_sibling;
	*(d->next_sibling ? &d->next_sibling->prev_sibling
			  : &d->parent->last_child) = d->prev_sibling;
	*(d->bus_prev ? &d->bus_prev->bus_next : &model.first) = d->bus_next;
	*(d->bus_next ? &d->bus_next->bus_prev : &model.last) = d->bus_prev;
	d->next_sibling = d->prev_sibling = d->bus_prev = d->bus_next = NULL;
}

struct device *bus_new(enum device_kind kind, struct device *parent, uint32_t domain, uint16_t rid)
{
	struct device *d = must_alloc(1, sizeof(*d));

	if (model.n_devices == model.size_devices) {
		model.size_devices = model.size_devices ? 2 * model.size_devices : 1024;
		model.devices = realloc(model.devices, model.size_devices * sizeof(*model.devices));
		if (!model.devices)
			abort();
	}
	d->number = (uint32_t) model.n_devices;
	model.devices[model.n_devices++] = d;
	*d = (struct device){
		.number = d->number,
		.kind = kind,
		.parent = parent,
		.domain = domain,
		.rid = rid,
		.alive = true,
		.wakeup = -1,
		.vfio = -1,
		.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
	};
	if (kind == DEVICE_HOST)
		snprintf(d->name, sizeof(d->name), "pci%04x:%02x", domain, rid >> 8);
	else
		snprintf(d->name, sizeof(d->name), "%04x:%02x:%02x.%x", domain, rid >> 8,
			 rid >> 3 & 31, rid & 7);
	link_in(d);
	return d;
}

struct group *group_join(struct device *d, struct group *shared)
{
	struct group *g = shared;

	if (!g) {
		g = must_alloc(1, sizeof(*g));
		g->id = (unsigned) numbers_take(&model.group_ids);
		if (g->id >= VFIO_MAX)
			abort();
		model.groups[g->id] = g;
	}
	d->group = g;
	*(g->last ? &g->last->group_next : &g->first) = d;
	g->last = d;
	return g;
}

void group_leave(struct device *d)
{
	struct group *g = d->group;
	struct device **at, *before = NULL;

	if (!g)
		return;
	for (at = &g->first; *at != d; at = &(*at)->group_next)
		before = *at;
	*at = d->group_next;
	if (g->last == d)
		g->last = before;
	d->group_next = NULL;
	d->group = NULL;
	if (g->first)
		return;
	model.groups[g->id] = NULL;
	numbers_give(&model.group_ids, (int) g->id);
	/* never freed: somebody may still have its node open */
}

/* drivers/base/core.c: device_add(): group by the bus notifier, then the add event; the wakeup
 * source's own event comes before (dpm_sysfs_add). */
void bus_announce(struct device *d)
{
	if (!model.noiommu && !d->group)
		group_join(d, d->pf && d->pf->sriov->config->shared_group ? d->pf->group : NULL);
	if (d->kind == DEVICE_PF ? d->sriov->config->wakeup
				 : d->kind == DEVICE_VF && d->pf->sriov->config->wakeup) {
		d->wakeup = numbers_take(&model.wakeup_ids);
		uevent_wakeup("add", d);
	}
	if (d->kind == DEVICE_VF) {
		model.n_vfs++;
		model.n_nodes += entries_count(d);
	}
	uevent_pci("add", d, NULL);
}

void bus_remove(struct device *d)
{
	link_out(d);
	group_leave(d);
	if (d->wakeup >= 0) {
		uevent_wakeup("remove", d);
		numbers_give(&model.wakeup_ids, d->wakeup);
		d->wakeup = -1;
	}
	free(d->override);
	d->override = NULL;
	d->alive = d->ready = false;
	uevent_pci("remove", d, NULL);
}

static struct device *find_host(uint32_t domain)
{
	char name[24];
	struct device *d;

	snprintf(name, sizeof(name), "pci%04x:00", domain);
	d = bus_find(name);
	return d ?: bus_new(DEVICE_HOST, NULL, domain, 0);
}

/* Root ports 00:01.0 ... 00:1e.0, then their functions 1 ... 7. */
struct device *bus_port(uint32_t domain, uint8_t bus)
{
	struct device *host = find_host(domain), *d;
	unsigned n = 0, port;

	for (unsigned i = 0; i < model.n_pfs; i++)
		if (model.pfs[i].port && model.pfs[i].domain == domain && model.pfs[i].bus == bus)
			return model.pfs[i].port;
	for (d = host->first_child; d; d = d->next_sibling)
		n++;
	port = (1 + n % 30) << 3 | n / 30;
	d = bus_new(DEVICE_PORT, host, domain, (uint16_t) port);
	d->vendor = 0x1b36;
	d->device = 0x000c;
	d->class = 0x060400;
	d->ready = true;
	if (!model.noiommu)
		group_join(d, NULL);
	return d;
}
