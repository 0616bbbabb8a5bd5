/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * scratch - a directory of a test's own, with files in it, gone afterwards; and the files of
 * tests/data. Included by tests only, after cmocka.h.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base.h"
#include "fdio.h"

struct scratch {
	char path[64];
	int fd;
};

static inline int scratch_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void) st; /* all goes */
	(void) kind;
	(void) ftw;
	return remove(path);
}

static inline int scratch_setup(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	/* Hundreds of fsync() take no time in memory. */
	(void) stpcpy(s->path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/vf-restore-test-XXXXXX"
							     : "/tmp/vf-restore-test-XXXXXX");
	assert_non_null(mkdtemp(s->path));
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->fd >= 0);
	*state = s;
	return 0;
}

static inline int scratch_teardown(void **state)
{
	struct scratch *s = *state;

	close_fd(&s->fd);
	assert_int_equal(nftw(s->path, scratch_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(s);
	return 0;
}

/* The path of a file in it; valid until the fourth next call. */
static inline const char *scratch_path(const struct scratch *s, const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	assert_true(snprintf(path, 256, "%s/%s", s->path, name) < 256);
	return path;
}

/* Writes a file, with the directories that it wants. */
static inline void scratch_write(const struct scratch *s, const char *name, const char *text)
{
	char *path = strdup(scratch_path(s, name));
	FILE *file;

	for (char *slash = path + strlen(s->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static inline char *scratch_read_path(const char *path, size_t *ret_size)
{
	char *text = NULL;
	int r;

	r = fdio_read_file(AT_FDCWD, path, 1 << 24, &text, ret_size);
	if (r != 0)
		fail_msg("%s: cannot be read: %i", path, r);
	return text;
}

static inline void scratch_assert_text(const struct scratch *s, const char *name,
				       const char *expected)
{
	size_t size;
	char *text = scratch_read_path(scratch_path(s, name), &size);

	assert_string_equal(text, expected);
	free(text);
}

static inline unsigned scratch_count(const struct scratch *s)
{
	DIR *dir = opendir(s->path);
	unsigned n = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	assert_int_equal(closedir(dir), 0);
	return n;
}

/* The directory `name` of tests/data. */
static inline char *scratch_data(const char *name)
{
	const char *tests = getenv("TESTS_DIR");
	char *path;

	assert_true(asprintf(&path, "%s/data/%s", tests ? tests : "tests", name) > 0);
	return path;
}

/* Calls each() for every file of the directory whose name ends in `suffix`, by name; how many. */
static inline unsigned scratch_each(const char *directory, const char *suffix,
				    void (*each)(const char *path))
{
	struct dirent **entries;
	unsigned called = 0;
	int n;

	n = scandir(directory, &entries, NULL, alphasort);
	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char path[512];

		if (strlen(name) > strlen(suffix) &&
		    strcmp(name + strlen(name) - strlen(suffix), suffix) == 0) {
			assert_true(snprintf(path, sizeof(path), "%s/%s", directory, name) < 512);
			each(path);
			called++;
		}
		free(entries[i]);
	}
	free(entries);
	return called;
}

/* The error that stands in the file beside it, FILE.expect for FILE.json; the caller's to free. */
static inline char *scratch_expected(const char *path)
{
	char beside[512], *text;
	size_t size;

	assert_true(snprintf(beside, sizeof(beside), "%.*s.expect",
			     (int) (strrchr(path, '.') - path), path) < 512);
	text = scratch_read_path(beside, &size);
	assert_true(size > 0 && text[size - 1] == '\n');
	text[size - 1] = '\0';
	return text;
}
