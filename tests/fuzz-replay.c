/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plays files, and the files of directories, through a fuzzer's entry:  fuzz-replay FILE|DIR... */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "fdio.h"

enum { INPUT_SIZE_MAX = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool replay_file(int dir_fd, const char *path)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size;

	if (fdio_read_file(dir_fd, path, INPUT_SIZE_MAX, &text, &size) != 0) {
		(void) fprintf(stderr, "%s: cannot be read\n", path); /* where else to complain */
		return false;
	}
	return LLVMFuzzerTestOneInput((const uint8_t *) text, size) == 0;
}

/* The number of files played; -1: one of them could not be. */
static int replay_directory(DIR *dir)
{
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			if (!replay_file(dirfd(dir), entry->d_name))
				return -1;
			n++;
		}
	return n;
}

static int replay(const char *path)
{
	DIR *dir = opendir(path);
	int n;

	if (!dir)
		return replay_file(AT_FDCWD, path) ? 1 : -1;
	n = replay_directory(dir);
	(void) closedir(dir); /* nothing was written */
	return n;
}

int main(int argc, char *argv[])
{
	int sum = 0;

	for (int i = 1; i < argc; i++) {
		int n = replay(argv[i]);

		if (n < 0)
			return 1;
		sum += n;
	}
	(void) printf("%i inputs played\n", sum); /* seen or not */
	return sum > 0 ? 0 : 1;
}
