/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "fdio.h"
#include "manifest-check.h"
#include "manifest-fields.h"

enum { SEAL_SIZE_MAX = 4096 };

/* ---- A text in memory ---------------------------------------------------------------------- */

static int compare_vfs(const void *a, const void *b)
{
	const struct manifest_vf *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_pfs(const void *a, const void *b)
{
	const struct manifest_pf *x = a, *y = b;

	return bdf_compare(x->address, y->address);
}

/* Mostly it is in order already; qsort() would move every VF all the same. */
static void sort_vfs(struct manifest_pf *pf)
{
	for (unsigned k = 1; k < pf->n_vfs; k++)
		if (pf->vfs[k - 1].index > pf->vfs[k].index) {
			qsort(pf->vfs, pf->n_vfs, sizeof(*pf->vfs), compare_vfs);
			return;
		}
}

static void sort(struct manifest *m)
{
	for (unsigned i = 0; i < m->n_pfs; i++)
		sort_vfs(&m->pfs[i]);
	if (m->n_pfs > 0)
		qsort(m->pfs, m->n_pfs, sizeof(*m->pfs), compare_pfs);
}

static struct fault fault_of(const char *name, char *error)
{
	return (struct fault){
		.name = name,
		.advice = "correct the file or capture again",
		.error = error,
		.error_size = MANIFEST_ERROR_LEN,
	};
}

int manifest_parse(struct manifest *ret, const char *name, const char *text, size_t size,
		   char ret_error[static MANIFEST_ERROR_LEN])
{
	_cleanup_(manifest_done) struct manifest m = { .generation = 0 };
	_cleanup_(scan_done) struct scan s = { .at = NULL };
	struct fault fault = fault_of(name, ret_error);
	int r;

	r = scan_init(&s, &fault, text, size);
	if (r == 0)
		r = manifest_fields_read(&s, &m);
	if (r == SCAN_E_REFUSED)
		return MANIFEST_E_REFUSED;
	if (r < 0)
		return r;
	r = manifest_check(&m, &s.names, &fault);
	if (r == MANIFEST_CHECK_E_REFUSED)
		return MANIFEST_E_REFUSED;
	if (r < 0)
		return r;
	sort(&m);
	m.n_unknown = s.n_unknown;
	m.first_unknown = TAKE(s.first_unknown);
	m.text = names_take_texts(&s.names);
	*ret = TAKE_AS(m, (struct manifest){ .generation = 0 });
	return 0;
}

/* ---- A file under seal --------------------------------------------------------------------- */

/* Lines as xxh128sum prints them: sum, space, name. */
static bool seal_has(const char *seal, const char *sum)
{
	for (const char *line = seal; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, sum, FDIO_SUM_STRLEN) == 0 &&
		    strchr(" \n", line[FDIO_SUM_STRLEN]))
			return true;
	return false;
}

static int check_seal(const char *path, const char *text, size_t size, bool unsealed,
		      struct fault *f)
{
	_cleanup_(free_pointer) char *seal_path = NULL, *seal = NULL, *expected = NULL;
	char sum[FDIO_SUM_STRLEN + 1];
	size_t seal_size;
	int r;

	if (asprintf(&seal_path, "%s.xxh128", path) < 0)
		return -ENOMEM;
	r = fdio_read_file(AT_FDCWD, seal_path, SEAL_SIZE_MAX, &seal, &seal_size);
	if (r < 0 || (r == FDIO_E_ABSENT && unsealed))
		return r < 0 ? r : 0;
	fdio_sum(text, size, sum);
	if (r == 0 && seal_has(seal, sum))
		return 0;
	if (asprintf(&expected, "%s %s (written by hand? seal it: xxh128sum FILE >FILE.xxh128)",
		     r == 0 ? "a sum in" : "its sum in", seal_path) < 0)
		return -ENOMEM;
	fault_tell(f, "the checksum", r == FDIO_E_ABSENT ? "no such file" : sum, expected);
	return MANIFEST_E_REFUSED;
}

static int load(struct manifest *ret, const char *path, bool unsealed,
		char ret_error[static MANIFEST_ERROR_LEN])
{
	_cleanup_(free_pointer) char *text = NULL;
	struct fault fault = fault_of(path, ret_error);
	size_t size;
	int r;

	r = fdio_read_file(AT_FDCWD, path, MANIFEST_SIZE_MAX, &text, &size);
	if (r == FDIO_E_ABSENT)
		return MANIFEST_E_ABSENT;
	if (r == FDIO_E_TOO_BIG) {
		fault_tell(&fault, "the size", "more", "at most 64 MiB");
		return MANIFEST_E_REFUSED;
	}
	if (r < 0)
		return r;
	r = check_seal(path, text, size, unsealed, &fault);
	return r != 0 ? r : manifest_parse(ret, path, text, size, ret_error);
}
_Static_assert(MANIFEST_SIZE_MAX == 64 << 20, "the text above says so");

/* Nobody takes it silently: it may promise VFs of a VM that has gone since. */
static int name_previous(const char *path, char error[static MANIFEST_ERROR_LEN])
{
	_cleanup_(manifest_done) struct manifest m = { .generation = 0 };
	_cleanup_(free_pointer) char *previous = NULL;
	char ignored[MANIFEST_ERROR_LEN];
	size_t used = strlen(error);

	if (asprintf(&previous, "%s.previous", path) < 0)
		return -ENOMEM;
	if (load(&m, previous, false, ignored) != 0)
		return 0;
	(void) snprintf(error + used, MANIFEST_ERROR_LEN - used,
			"; the one before it, %s (generation %llu), is sound", previous,
			(unsigned long long) m.generation); /* cut is better than lost */
	return 0;
}

int manifest_load(struct manifest *ret, const char *path, bool unsealed,
		  char ret_error[static MANIFEST_ERROR_LEN])
{
	int r;

	r = load(ret, path, unsealed, ret_error);
	if (r != MANIFEST_E_REFUSED)
		return r;
	r = name_previous(path, ret_error);
	return r < 0 ? r : MANIFEST_E_REFUSED;
}
