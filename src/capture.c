/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include "capture.h"
#include "idproof.h"

enum { NO_OWNER = 0xffffffff, DEVICE_NAME_LEN = sizeof("dev4294967295") };

/* ---- Owners ---- */

struct owner {
	const struct holder *holder;
	unsigned n_vfs;
};

/* Who has which VF, by the functions' places in walked. */
struct ownership {
	struct owner *owners;
	unsigned n_owners;
	unsigned *owner_of; /* NO_OWNER: nobody */
	unsigned *ordinal;  /* which of its owner's */
};

static void ownership_done(struct ownership *o)
{
	free(o->owners);
	free(o->owner_of);
	free(o->ordinal);
}

static bool is_held_by(const struct walked_function *f, const struct holder *h)
{
	switch (h->kind) {
	case HOLDER_CDEV:
		return f->has_vfio && f->vfio == h->number;
	case HOLDER_GROUP:
		return f->has_group && f->group == h->number;
	case HOLDER_FUNCTION:
		return bdf_compare(f->address, h->address) == 0;
	case _HOLDER_KIND_MAX:
		break;
	}
	return false;
}

/* By hand, or else the first process of those that agree in name and uid. */
static const struct holder *find_holder(const struct walked_function *f,
					const struct holder_list *holders)
{
	const struct holder *first = NULL;
	bool agreed = true;

	for (unsigned i = 0; i < holders->n_holders; i++) {
		const struct holder *h = &holders->holders[i];

		if (!is_held_by(f, h))
			continue;
		if (h->pid == 0)
			return h;
		if (first && (strcmp(first->name, h->name) != 0 || first->uid != h->uid))
			agreed = false;
		if (!first || h->pid < first->pid)
			first = h;
	}
	return agreed ? first : NULL;
}

static bool is_same_owner(const struct holder *a, const struct holder *b)
{
	return a->pid == b->pid && strcmp(a->name, b->name) == 0;
}

static unsigned find_owner(struct ownership *o, const struct holder *h)
{
	unsigned i = 0;

	while (i < o->n_owners && !is_same_owner(o->owners[i].holder, h))
		i++;
	if (i == o->n_owners)
		o->owners[o->n_owners++] = (struct owner){ .holder = h };
	return i;
}

static int find_owners(const struct walked *w, const struct holder_list *holders,
		       struct ownership *ret)
{
	_cleanup_(ownership_done) struct ownership o = { 0 };

	o.owners = calloc(w->n_functions + 1, sizeof(*o.owners));
	o.owner_of = calloc(w->n_functions + 1, sizeof(*o.owner_of));
	o.ordinal = calloc(w->n_functions + 1, sizeof(*o.ordinal));
	if (!o.owners || !o.owner_of || !o.ordinal)
		return -ENOMEM;
	for (unsigned i = 0; i < w->n_functions; i++) {
		const struct walked_function *f = &w->functions[i];
		const struct walked_function *pf = f->is_vf ? walked_find(w, f->pf) : NULL;
		const struct holder *h = pf && walked_serves_vfs(pf) ? find_holder(f, holders)
								     : NULL;

		o.owner_of[i] = h ? find_owner(&o, h) : NO_OWNER;
		if (h)
			o.ordinal[i] = o.owners[o.owner_of[i]].n_vfs++;
	}
	*ret = TAKE_AS(o, (struct ownership){ 0 });
	return 0;
}

/* Two VMMs in one unit are two owners: neither shall get at the other's devices. */
static bool shares_name(const struct ownership *o, unsigned owner)
{
	for (unsigned i = 0; i < o->n_owners; i++)
		if (i != owner &&
		    strcmp(o->owners[i].holder->name, o->owners[owner].holder->name) == 0)
			return true;
	return false;
}

static void name_owner(const struct ownership *o, unsigned owner,
		       char ret[static MANIFEST_NAME_MAX + 1])
{
	const struct holder *h = o->owners[owner].holder;
	char suffix[sizeof("-2147483647")] = "";

	if (h->pid != 0 && shares_name(o, owner))
		(void) snprintf(suffix, sizeof(suffix), "-%d", h->pid); /* fits */
	(void) snprintf(ret, MANIFEST_NAME_MAX + 1, "%.*s%s",           /* fits */
			MANIFEST_NAME_MAX - (int) strlen(suffix), h->name, suffix);
}

/* ---- The manifest ---- */

/* All strings of a manifest in one piece of memory. */
struct strings {
	char *memory;
	size_t size, used;
};

static const char *put_string(struct strings *s, const char *text)
{
	char *here = s->memory + s->used;
	size_t size;

	if (!text)
		return NULL;
	size = strlen(text) + 1;
	assert(s->size - s->used >= size);
	memcpy(here, text, size);
	s->used += size;
	return here;
}

static size_t measure(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static int strings_init(struct strings *s, const struct walked *w, const struct ownership *o,
			const struct capture_host *host)
{
	size_t size = measure(host->kernel_release) + o->n_owners * (MANIFEST_NAME_MAX + 1);

	for (unsigned i = 0; i < w->n_functions; i++) {
		const struct walked_function *f = &w->functions[i];

		size += measure(f->driver) + measure(f->serial_number) + measure(f->interface) +
			DEVICE_NAME_LEN;
	}
	*s = (struct strings){ .memory = malloc(size), .size = size };
	return s->memory ? 0 : -ENOMEM;
}

/* What capture_make works with. */
struct making {
	const struct walked *walked;
	const struct capture_host *host;
	struct ownership ownership;
	struct strings strings;
	struct manifest *manifest;
};

static bool is_listed(const struct walked *w, const struct walked_function *f)
{
	if (walked_serves_vfs(f))
		return true;
	if (!f->is_pf || !f->driver || idproof_is_on_vfio(f))
		return false;
	for (unsigned i = 0; i < w->n_functions; i++) {
		const struct walked_function *pf = &w->functions[i];

		if (walked_serves_vfs(pf) && f->vendor == pf->vendor && f->device == pf->vf_device)
			return true;
	}
	return false;
}

static int compare_vfs(const void *a, const void *b)
{
	const struct manifest_vf *v = a, *w = b;

	return (v->index > w->index) - (v->index < w->index);
}

static void fill_vf(struct making *m, unsigned at, struct manifest_vf *vf)
{
	const struct walked_function *f = &m->walked->functions[at];
	unsigned owner = m->ownership.owner_of[at];
	char name[DEVICE_NAME_LEN];

	*vf = (struct manifest_vf){
		.index = f->vf_index,
		.has_address = true,
		.address = f->address,
		.driver = put_string(&m->strings, f->driver),
	};
	if (owner == NO_OWNER)
		return;
	(void) snprintf(name, sizeof(name), "dev%u", m->ownership.ordinal[at]); /* fits */
	vf->has_owner = true;
	vf->owner = owner;
	vf->name = put_string(&m->strings, name);
}

/* Never more than the PF's number: one that came while we walked is not promised (C18). */
static int fill_vfs(struct making *m, const struct walked_function *f, struct manifest_pf *pf)
{
	pf->vfs = calloc(f->num_vfs, sizeof(*pf->vfs));
	if (!pf->vfs)
		return -ENOMEM;
	for (unsigned i = 0; i < m->walked->n_functions && pf->n_vfs < f->num_vfs; i++) {
		const struct walked_function *vf = &m->walked->functions[i];

		if (vf->is_vf && vf->vf_index < f->num_vfs && bdf_compare(vf->pf, f->address) == 0)
			fill_vf(m, i, &pf->vfs[pf->n_vfs++]);
	}
	if (pf->n_vfs > 0)
		qsort(pf->vfs, pf->n_vfs, sizeof(pf->vfs[0]), compare_vfs);
	m->manifest->n_vfs += pf->n_vfs;
	return 0;
}

static int fill_pf(struct making *m, const struct walked_function *f, struct manifest_pf *pf)
{
	struct idproof proof;

	idproof_check(m->walked, f->vendor, f->vf_device, &proof);
	*pf = (struct manifest_pf){
		.address = f->address,
		.vendor = f->vendor,
		.device = f->device,
		.serial_number = put_string(&m->strings, f->serial_number),
		.driver = put_string(&m->strings, f->driver),
		.num_vfs = f->num_vfs,
		.vf_device = f->vf_device,
		.offset = f->offset,
		.stride = f->stride,
		.drivers_autoprobe = f->drivers_autoprobe,
		.vf_id_is_ours = proof.doubt == IDPROOF_NO_DOUBT,
		.interface = put_string(&m->strings, f->interface),
		.has_permanent_mac = f->has_mac,
	};
	memcpy(pf->permanent_mac, f->mac, sizeof(pf->permanent_mac));
	return f->num_vfs > 0 ? fill_vfs(m, f, pf) : 0;
}

static int fill_pfs(struct making *m)
{
	const struct walked *w = m->walked;
	int r = 0;

	m->manifest->pfs = calloc(w->n_functions + 1, sizeof(*m->manifest->pfs));
	if (!m->manifest->pfs)
		return -ENOMEM;
	for (unsigned i = 0; r == 0 && i < w->n_functions; i++)
		if (is_listed(w, &w->functions[i]))
			r = fill_pf(m, &w->functions[i], &m->manifest->pfs[m->manifest->n_pfs++]);
	return r;
}

static int fill_owners(struct making *m)
{
	const struct ownership *o = &m->ownership;
	char name[MANIFEST_NAME_MAX + 1];

	m->manifest->owners = calloc(o->n_owners + 1, sizeof(*m->manifest->owners));
	if (!m->manifest->owners)
		return -ENOMEM;
	for (unsigned i = 0; i < o->n_owners; i++) {
		name_owner(o, i, name);
		m->manifest->owners[i] = (struct manifest_owner){
			.name = put_string(&m->strings, name),
			.has_uid = o->owners[i].holder->pid != 0,
			.uid = o->owners[i].holder->uid,
		};
	}
	m->manifest->n_owners = o->n_owners;
	return 0;
}

static int fill_manifest(struct making *m)
{
	const struct capture_host *host = m->host;
	int r = strings_init(&m->strings, m->walked, &m->ownership, host);

	if (r < 0)
		return r;
	m->manifest->text = m->strings.memory; /* freed by free(), as free_text says */
	m->manifest->generation = host->generation;
	m->manifest->captured_at_usec = host->now_usec;
	m->manifest->kernel_release = put_string(&m->strings, host->kernel_release);
	assert(strlen(host->machine_id) == 32 && strlen(host->boot_id) == 32);
	strcpy(m->manifest->machine_id, host->machine_id);
	strcpy(m->manifest->boot_id, host->boot_id);
	r = fill_owners(m);
	return r < 0 ? r : fill_pfs(m);
}

int capture_make(const struct walked *walked, const struct holder_list *holders,
		 const struct capture_host *host, struct manifest *ret)
{
	_cleanup_(manifest_done) struct manifest manifest = { 0 };
	_cleanup_(ownership_done) struct ownership ownership = { 0 };
	struct making m = { .walked = walked, .host = host, .manifest = &manifest };
	int r;

	r = find_owners(walked, holders, &ownership);
	if (r < 0)
		return r;
	m.ownership = ownership;
	r = fill_manifest(&m);
	if (r < 0)
		return r;
	*ret = TAKE_AS(manifest, (struct manifest){ 0 });
	return 0;
}

/* ---- This machine ---- */

/* 32 hex digits, dashes left out. */
static int read_id(const char *path, char ret[static 33])
{
	_cleanup_(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t length;
	unsigned n = 0;

	length = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (length < 0)
		return -errno;
	for (ssize_t i = 0; i < length && text[i] != '\n'; i++) {
		if (text[i] == '-')
			continue;
		if (n == 32 || !isxdigit((unsigned char) text[i]))
			return -EBADMSG;
		ret[n++] = (char) tolower((unsigned char) text[i]);
	}
	ret[n] = '\0';
	return n == 32 ? 0 : -EBADMSG;
}

int capture_identity_read(struct capture_identity *ret)
{
	struct utsname name;
	int r;

	r = read_id("/etc/machine-id", ret->machine_id);
	if (r == -ENOENT || r == -EBADMSG)
		return CAPTURE_E_NO_MACHINE_ID;
	if (r == 0)
		r = read_id("/proc/sys/kernel/random/boot_id", ret->boot_id);
	if (r < 0)
		return r;
	if (uname(&name) < 0)
		return -errno;
	(void) snprintf(ret->kernel_release, sizeof(ret->kernel_release), "%s", name.release);
	return 0;
}
