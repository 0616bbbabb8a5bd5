/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * fdio - files of our own: read whole, replace atomically, sum up.
 *
 * Knows how a file survives a crash in the middle (temporary file, fsync, rename, fsync of the
 * directory) and how a checksum lives beside it. Never used for sysfs.
 */
#include "base.h"

enum {
	_FDIO_E_SUCCESS,
	FDIO_E_ABSENT,  /* no such file */
	FDIO_E_TOO_BIG, /* larger than the limit given */
};

/* Reads all of dir_fd/path (AT_FDCWD for dir_fd allowed), which must be a regular file or a memfd
 * of at most `limit` bytes. *ret is NUL-terminated (the NUL is not counted) and the caller's to
 * free. */
int fdio_read_file(int dir_fd, const char *path, size_t limit, char **ret, size_t *ret_size)
	_must_check_;
/* The same from an open fd, from offset 0, its position unchanged. */
int fdio_read_fd(int fd, size_t limit, char **ret, size_t *ret_size) _must_check_;

/* Replaces dir_fd/path with `size` bytes, mode `mode`: either the old or the new content is there
 * after a crash, never a mixture. */
int fdio_replace(int dir_fd, const char *path, const void *content, size_t size, unsigned mode)
	_must_check_;

enum { FDIO_SUM_STRLEN = 32 };
/* XXH3-128 as xxh128sum prints it: 32 lower case hex digits. */
void fdio_sum(const void *content, size_t size, char ret[static FDIO_SUM_STRLEN + 1]);
