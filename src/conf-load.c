/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "conf.h"
#include "fdio.h"

enum { SIZE_MAX_OF_FILE = 1 << 20, DROP_INS_MAX = 256 };

/* From the strongest to the weakest; below the root. */
static const char *const directories[] = { "etc", "run", "usr/lib" };

#define MAIN_FILE "vf-restore/vf-restored.conf"

static int refuse(const char *name, const char *found, const char *expected,
		  char ret_error[static CONF_ERROR_LEN])
{
	(void) snprintf(ret_error, CONF_ERROR_LEN, "%s: found %s, expected %s; correct the file",
			name, found, expected); /* cut is better than lost */
	return CONF_E_REFUSED;
}

/* CONF_E_REFUSED with text; *ret_found false: no such file. */
static int parse_file(struct conf *c, int dir_fd, const char *path,
		      char ret_error[static CONF_ERROR_LEN], bool *ret_found)
{
	_cleanup_(free_pointer) char *text = NULL, *name = NULL;
	size_t size;
	int r;

	r = fdio_read_file(dir_fd, path, SIZE_MAX_OF_FILE, &text, &size);
	*ret_found = r != FDIO_E_ABSENT;
	if (r < 0 || r == FDIO_E_ABSENT)
		return r < 0 ? r : 0;
	if (asprintf(&name, "%s%s", path[0] == '/' ? "" : "/", path) < 0)
		return -ENOMEM;
	if (r == FDIO_E_TOO_BIG)
		return refuse(name, "more than 1 MiB", "less", ret_error);
	if (strlen(text) != size)
		return refuse(name, "a NUL", "text", ret_error);
	return conf_parse(c, name, text, ret_error);
}

/* ---- Drop-ins ------------------------------------------------------------------------------ */

struct drop_in {
	char name[NAME_MAX + 1];
	unsigned directory;
};

struct drop_ins {
	struct drop_in *drop_ins;
	unsigned n;
};

static void drop_ins_done(struct drop_ins *d)
{
	free(d->drop_ins);
}

static bool is_drop_in(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > strlen(".conf") &&
	       strcmp(name + length - strlen(".conf"), ".conf") == 0;
}

/* A stronger directory was listed before. */
static bool is_listed(const struct drop_ins *d, const char *name)
{
	for (unsigned i = 0; i < d->n; i++)
		if (strcmp(d->drop_ins[i].name, name) == 0)
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct drop_in *) a)->name, ((const struct drop_in *) b)->name);
}

static void close_dir(DIR **dir)
{
	if (*dir)
		(void) closedir(*dir); /* nothing was written */
}

static int list_directory(struct drop_ins *d, int root_fd, unsigned directory)
{
	_cleanup_(close_dir) DIR *dir = NULL;
	char path[64];
	struct dirent *entry;
	int fd;

	(void) snprintf(path, sizeof(path), "%s/" MAIN_FILE ".d",
			directories[directory]); /* always fits */
	fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close_fd(&fd);
		return -ENOMEM;
	}
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (!is_drop_in(entry->d_name) || is_listed(d, entry->d_name))
			continue;
		if (d->n == DROP_INS_MAX)
			return -E2BIG;
		d->drop_ins[d->n].directory = directory;
		(void) stpcpy(d->drop_ins[d->n++].name, entry->d_name); /* NAME_MAX is enough */
	}
	return -errno;
}

static int list_drop_ins(struct drop_ins *ret, int root_fd)
{
	int r = 0;

	ret->drop_ins = calloc(DROP_INS_MAX, sizeof(*ret->drop_ins));
	if (!ret->drop_ins)
		return -ENOMEM;
	for (unsigned i = 0; r == 0 && i < ELEMENTSOF(directories); i++)
		r = list_directory(ret, root_fd, i);
	if (r == 0)
		qsort(ret->drop_ins, ret->n, sizeof(*ret->drop_ins), compare);
	return r;
}

/* systemd's way to say that a weaker file of this name shall not count. */
static bool is_masked(int root_fd, const char *path)
{
	struct stat st;

	return fstatat(root_fd, path, &st, 0) == 0 && S_ISCHR(st.st_mode);
}

static int parse_drop_in(struct conf *c, int root_fd, const struct drop_in *d,
			 char ret_error[static CONF_ERROR_LEN])
{
	_cleanup_(free_pointer) char *path = NULL;
	bool found;

	if (asprintf(&path, "%s/" MAIN_FILE ".d/%s", directories[d->directory], d->name) < 0)
		return -ENOMEM;
	if (is_masked(root_fd, path))
		return 0;
	return parse_file(c, root_fd, path, ret_error, &found); /* gone since: as if it never was */
}

/* ---- All of them --------------------------------------------------------------------------- */

static int parse_main(struct conf *c, int root_fd, char ret_error[static CONF_ERROR_LEN])
{
	bool found = false;
	char path[64];
	int r = 0;

	for (unsigned i = 0; r == 0 && !found && i < ELEMENTSOF(directories); i++) {
		(void) snprintf(path, sizeof(path), "%s/" MAIN_FILE,
				directories[i]); /* always fits */
		r = parse_file(c, root_fd, path, ret_error, &found);
	}
	return r;
}

static int load(struct conf *draft, int root_fd, char ret_error[static CONF_ERROR_LEN])
{
	_cleanup_(drop_ins_done) struct drop_ins d = { .drop_ins = NULL };
	int r;

	r = parse_main(draft, root_fd, ret_error);
	if (r == 0)
		r = list_drop_ins(&d, root_fd);
	for (unsigned i = 0; r == 0 && i < d.n; i++)
		r = parse_drop_in(draft, root_fd, &d.drop_ins[i], ret_error);
	return r;
}

int conf_load(struct conf *c, int root_fd, char ret_error[static CONF_ERROR_LEN])
{
	_cleanup_(conf_done) struct conf draft = { .manifest_path = NULL };
	int r;

	r = conf_init(&draft);
	if (r == 0)
		r = load(&draft, root_fd, ret_error);
	if (r != 0)
		return r;
	conf_done(c);
	*c = TAKE_AS(draft, (struct conf){ .manifest_path = NULL });
	return 0;
}

int conf_load_file(struct conf *c, const char *path, char ret_error[static CONF_ERROR_LEN])
{
	_cleanup_(conf_done) struct conf draft = { .manifest_path = NULL };
	bool found = false;
	int r;

	r = conf_init(&draft);
	if (r == 0)
		r = parse_file(&draft, AT_FDCWD, path, ret_error, &found);
	if (r != 0)
		return r;
	if (!found)
		return refuse(path, "no such file", "one", ret_error);
	conf_done(c);
	*c = TAKE_AS(draft, (struct conf){ .manifest_path = NULL });
	return 0;
}
