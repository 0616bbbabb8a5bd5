/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "manifest-check.h"

enum { TEXT_LEN = 256 };

/* Refuse a field of a PF (vf UINT_MAX) or of a VF, by their places in the text. */
static int refuse(struct fault *f, unsigned pf, unsigned vf, const char *key, const char *found,
		  const char *expected)
{
	char path[TEXT_LEN];
	int length;

	length = snprintf(path, sizeof(path), "physicalFunctions[%u]", pf);
	if (vf != UINT_MAX)
		length += snprintf(path + length, sizeof(path) - (size_t) length,
				   ".virtualFunctions[%u]", vf);
	(void) snprintf(path + length, sizeof(path) - (size_t) length, ".%s", key);
	fault_tell(f, path, found, expected); /* path: two numbers and a key always fit */
	return MANIFEST_CHECK_E_REFUSED;
}

static int refuse_number(struct fault *f, unsigned pf, unsigned vf, const char *key, unsigned found,
			 const char *expected)
{
	char text[sizeof("4294967295")];

	(void) snprintf(text, sizeof(text), "%u", found); /* always fits */
	return refuse(f, pf, vf, key, text, expected);
}

/* ---- One PF -------------------------------------------------------------------------------- */

/* The kernel refuses such a layout itself (drivers/pci/iov.c: compute_max_vf_buses). */
static int check_layout(const struct manifest_pf *pf, unsigned i, struct fault *f)
{
	char expected[TEXT_LEN];
	struct bdf last;

	if (pf->num_vfs == 0)
		return 0;
	if (pf->offset == 0)
		return refuse(f, i, UINT_MAX, "offset", "0", "at least 1: VF 0 is not its PF");
	if (pf->stride == 0 && pf->num_vfs > 1)
		return refuse(f, i, UINT_MAX, "stride", "0",
			      "at least 1 where numVfs is more than 1");
	if (bdf_of_vf(pf->address, pf->offset, pf->stride, pf->num_vfs - 1, &last) == 0)
		return 0;
	(void) snprintf(expected, sizeof(expected),
			"fewer: with offset %u and stride %u the last VF is beyond bus ff",
			pf->offset, pf->stride); /* always fits */
	return refuse_number(f, i, UINT_MAX, "numVfs", pf->num_vfs, expected);
}

static int check_vf_address(const struct manifest_pf *pf, unsigned i, unsigned k, struct fault *f)
{
	const struct manifest_vf *vf = &pf->vfs[k];
	char found[BDF_STRLEN + 1], computed[BDF_STRLEN + 1], expected[TEXT_LEN];
	struct bdf address;
	int r;

	r = bdf_of_vf(pf->address, pf->offset, pf->stride, vf->index, &address);
	assert(r == 0); /* the last VF of the PF is in range */
	if (!vf->has_address || bdf_compare(vf->address, address) == 0)
		return 0;
	(void) bdf_format(vf->address, found);
	(void) bdf_format(address, computed);
	(void) snprintf(expected, sizeof(expected),
			"%s, which is where offset and stride of its PF put VF %u", computed,
			vf->index); /* always fits */
	return refuse(f, i, k, "address", found, expected);
}

static int check_vf(const struct manifest_pf *pf, unsigned i, unsigned k, struct fault *f)
{
	const struct manifest_vf *vf = &pf->vfs[k];
	char expected[TEXT_LEN], found[FAULT_QUOTE_LEN];

	if (vf->index >= pf->num_vfs) {
		(void) snprintf(expected, sizeof(expected), "a number below numVfs (%u)",
				pf->num_vfs); /* always fits */
		return refuse_number(f, i, k, "index", vf->index, expected);
	}
	if (vf->has_owner && !vf->name)
		return refuse(f, i, k, "name", "nothing",
			      "the device's name, as its owner knows it");
	if (!vf->has_owner && vf->name) {
		fault_quote(vf->name, strlen(vf->name), '"', found);
		return refuse(f, i, k, "name", found, "none where there is no owner");
	}
	return check_vf_address(pf, i, k, f);
}

static int check_pf(const struct manifest_pf *pf, unsigned i, struct fault *f)
{
	int r;

	r = check_layout(pf, i, f);
	for (unsigned k = 0; r == 0 && k < pf->n_vfs; k++)
		r = check_vf(pf, i, k, f);
	return r;
}

static int check_pfs(const struct manifest *m, struct fault *f, size_t *ret_functions)
{
	size_t n = 0;
	int r;

	for (unsigned i = 0; i < m->n_pfs; i++) {
		n += m->pfs[i].num_vfs;
		if (n > MANIFEST_VFS_MAX)
			return refuse_number(f, i, UINT_MAX, "numVfs", m->pfs[i].num_vfs,
					     "at most 65536 VFs in all");
		r = check_pf(&m->pfs[i], i, f);
		if (r != 0)
			return r;
	}
	*ret_functions = n + m->n_pfs;
	return 0;
}
_Static_assert(MANIFEST_VFS_MAX == 65536, "the text above says so");

/* ---- Owners -------------------------------------------------------------------------------- */

static int refuse_twice(struct fault *f, const char *name, unsigned i, unsigned first)
{
	char path[TEXT_LEN], found[FAULT_QUOTE_LEN], expected[TEXT_LEN];

	(void) snprintf(path, sizeof(path), "owners[%u].name", i); /* always fits */
	fault_quote(name, strlen(name), '"', found);
	(void) snprintf(expected, sizeof(expected), "a name of its own (owners[%u] has this one)",
			first); /* always fits */
	fault_tell(f, path, found, expected);
	return MANIFEST_CHECK_E_REFUSED;
}

/* ret: for each number of a name the owner so called, or UINT_MAX. */
static int list_owners(const struct manifest *m, struct names *names, struct fault *f,
		       unsigned *ret)
{
	memset(ret, 0xff, names->n * sizeof(*ret));
	for (unsigned i = 0; i < m->n_owners; i++) {
		const char *name = m->owners[i].name, *kept;
		unsigned number;
		int r;

		r = names_add(names, name, strlen(name), &number, &kept);
		if (r < 0)
			return r;
		if (ret[number] != UINT_MAX)
			return refuse_twice(f, name, i, ret[number]);
		ret[number] = i;
	}
	return 0;
}

static int resolve_owner(struct manifest_vf *vf, const unsigned *owner_of,
			 const struct names *names, struct fault *f, unsigned pf, unsigned k)
{
	char found[FAULT_QUOTE_LEN];
	const struct names_entry *name;

	if (!vf->has_owner)
		return 0;
	name = &names->entries[vf->owner];
	vf->owner = owner_of[vf->owner];
	if (vf->owner != UINT_MAX)
		return 0;
	fault_quote(name->text, name->length, '"', found);
	return refuse(f, pf, k, "owner", found, "the name of one of the owners");
}

static int resolve_owners(struct manifest *m, struct names *names, struct fault *f)
{
	_cleanup_(free_pointer) unsigned *owner_of = NULL;
	int r;

	owner_of = calloc(names->n + 1, sizeof(*owner_of));
	if (!owner_of)
		return -ENOMEM;
	r = list_owners(m, names, f, owner_of);
	for (unsigned i = 0; r == 0 && i < m->n_pfs; i++)
		for (unsigned k = 0; r == 0 && k < m->pfs[i].n_vfs; k++)
			r = resolve_owner(&m->pfs[i].vfs[k], owner_of, names, f, i, k);
	return r;
}

/* ---- What may be there once only ----------------------------------------------------------- */

/* A thing, and which: VF `vf` of PF `pf`. Equal keys are one thing too many. */
struct spot {
	uint64_t key;
	unsigned pf, vf;
};

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->pf != y->pf)
		return x->pf < y->pf ? -1 : 1;
	return x->vf < y->vf ? -1 : x->vf > y->vf;
}

/* The first of two neighbours with the same key; NULL: there are none. */
static const struct spot *find_twin(struct spot *spots, size_t n)
{
	bool sorted = true;

	for (size_t i = 1; sorted && i < n; i++)
		sorted = compare_spots(&spots[i - 1], &spots[i]) < 0;
	if (!sorted)
		qsort(spots, n, sizeof(*spots), compare_spots);
	for (size_t i = 1; i < n; i++)
		if (spots[i - 1].key == spots[i].key)
			return &spots[i - 1];
	return NULL;
}

static int check_indexes(const struct manifest *m, struct spot *spots, struct fault *f)
{
	char expected[TEXT_LEN];
	const struct spot *twin;
	size_t n = 0;

	for (unsigned i = 0; i < m->n_pfs; i++)
		for (unsigned k = 0; k < m->pfs[i].n_vfs; k++) {
			uint64_t key = (uint64_t) i << 32 | m->pfs[i].vfs[k].index;

			spots[n++] = (struct spot){ key, i, k };
		}
	twin = find_twin(spots, n);
	if (!twin)
		return 0;
	(void) snprintf(expected, sizeof(expected),
			"an index of its own (virtualFunctions[%u] has this one)",
			twin->vf); /* always fits */
	return refuse_number(f, twin[1].pf, twin[1].vf, "index", (uint32_t) twin->key, expected);
}

static int check_names(const struct manifest *m, const char *texts, struct spot *spots,
		       struct fault *f)
{
	char expected[TEXT_LEN], found[FAULT_QUOTE_LEN];
	const struct spot *twin;
	const char *name;
	size_t n = 0;

	for (unsigned i = 0; i < m->n_pfs; i++)
		for (unsigned k = 0; k < m->pfs[i].n_vfs; k++) {
			const struct manifest_vf *vf = &m->pfs[i].vfs[k];

			if (vf->has_owner)
				spots[n++] = (struct spot){ (uint64_t) vf->owner << 32 |
								    (uint32_t) (vf->name - texts),
							    i, k };
		}
	twin = find_twin(spots, n);
	if (!twin)
		return 0;
	name = m->pfs[twin->pf].vfs[twin->vf].name;
	fault_quote(name, strlen(name), '"', found);
	(void) snprintf(expected, sizeof(expected),
			"a name that its owner gave to no other device "
			"(physicalFunctions[%u].virtualFunctions[%u] has it)",
			twin->pf, twin->vf); /* always fits */
	return refuse(f, twin[1].pf, twin[1].vf, "name", found, expected);
}

/* Every VF, listed or not, and every PF: a VF beside PF 0000:01:00.0 may well be where another
 * PF is said to be. */
static size_t list_functions(const struct manifest *m, struct spot *spots)
{
	size_t n = 0;

	for (unsigned i = 0; i < m->n_pfs; i++) {
		const struct manifest_pf *pf = &m->pfs[i];
		uint64_t key = (uint64_t) pf->address.domain << 16 | pf->address.rid;

		spots[n++] = (struct spot){ key, i, 0 };
		key += pf->offset;
		for (unsigned vf = 0; vf < pf->num_vfs; vf++, key += pf->stride)
			spots[n++] = (struct spot){ key, i, vf + 1 };
	}
	return n;
}

static void name_function(const struct spot *spot, char ret[static TEXT_LEN])
{
	if (spot->vf == 0)
		(void) snprintf(ret, TEXT_LEN, "physicalFunctions[%u]", spot->pf); /* fits */
	else
		(void) snprintf(ret, TEXT_LEN, "VF %u of physicalFunctions[%u]", spot->vf - 1,
				spot->pf); /* fits */
}

static int check_addresses(const struct manifest *m, struct spot *spots, struct fault *f)
{
	char address[BDF_STRLEN + 1], other[TEXT_LEN], path[TEXT_LEN], expected[TEXT_LEN * 2];
	const struct spot *twin;

	twin = find_twin(spots, list_functions(m, spots));
	if (!twin)
		return 0;
	(void) bdf_format((struct bdf){ (uint32_t) (twin->key >> 16), (uint16_t) twin->key },
			  address);
	name_function(&twin[0], other);
	name_function(&twin[1], path);
	(void) snprintf(expected, sizeof(expected),
			"an address that nothing else has (%s is there)", other); /* always fits */
	fault_tell(f, path, address, expected);
	return MANIFEST_CHECK_E_REFUSED;
}

int manifest_check(struct manifest *m, struct names *names, struct fault *f)
{
	_cleanup_(free_pointer) struct spot *spots = NULL;
	size_t n_functions = 0;
	int r;

	r = check_pfs(m, f, &n_functions);
	if (r != 0)
		return r;
	r = resolve_owners(m, names, f);
	if (r != 0)
		return r;
	spots = calloc((n_functions > m->n_vfs ? n_functions : m->n_vfs) + 1, sizeof(*spots));
	if (!spots)
		return -ENOMEM;
	r = check_indexes(m, spots, f);
	if (r == 0)
		r = check_names(m, names->texts, spots, f);
	if (r == 0)
		r = check_addresses(m, spots, f);
	return r;
}
