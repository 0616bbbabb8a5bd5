/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The main() of a fuzz target without libFuzzer: plays files, and the files of folders, each whole,
 * then cut and with single bits flipped, in the same way each time.
 *
 *	replay-foo FILE|FOLDER...
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIANTS = 200, INPUT_SIZE_MAX = 1 << 24, VARIED_SIZE_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A copy of exactly this size, so that ASan sees the first byte read beyond it. */
static void play(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (!copy) {
		perror("malloc");
		_exit(1);
	}
	memcpy(copy, bytes, size);
	(void) LLVMFuzzerTestOneInput(copy, size); /* always 0 */
	free(copy);
}

static void play_variants(uint8_t *bytes, size_t size)
{
	uint64_t random = 0x9e3779b97f4a7c15;

	play(bytes, size);
	for (unsigned i = 0; size > 0 && size <= VARIED_SIZE_MAX && i < VARIANTS; i++) {
		size_t at;

		random = random * 6364136223846793005 + 1442695040888963407;
		at = (size_t) (random >> 33) % size;
		play(bytes, at);
		bytes[at] ^= (uint8_t) (1U << (random >> 61));
		play(bytes, size);
		bytes[at] ^= (uint8_t) (1U << (random >> 61));
	}
}

static bool play_file(int dir_fd, const char *path)
{
	static uint8_t bytes[INPUT_SIZE_MAX];
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	if (fd >= 0)
		(void) close(fd); /* only read */
	if (size < 0) {
		perror(path);
		return false;
	}
	play_variants(bytes, (size_t) size);
	return true;
}

/* The number of files played; -1: one of them could not be. */
static int play_all(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int n = 0;

	if (!folder)
		return play_file(AT_FDCWD, path) ? 1 : -1;
	while (n >= 0 && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			n = play_file(dirfd(folder), entry->d_name) ? n + 1 : -1;
	(void) closedir(folder); /* only read */
	return n;
}

int main(int argc, char *argv[])
{
	int sum = 0;

	for (int i = 1; i < argc; i++) {
		int n = play_all(argv[i]);

		if (n < 0)
			return 1;
		sum += n;
	}
	printf("%d inputs, %d variants each\n", sum, 2 * VARIANTS);
	return sum > 0 ? 0 : 1; /* an empty corpus tests nothing */
}
