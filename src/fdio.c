/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>
#include "fdio.h"

enum { HUGE_PAGE = 2 << 20, FIRST_CAPACITY = 4096 };

/* A manifest's 2 MB are 500 page faults, or one huge page. */
static char *new_buffer(size_t capacity)
{
	size_t rounded = (capacity + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	char *buffer;

	if (capacity < HUGE_PAGE / 2)
		return malloc(capacity);
	buffer = aligned_alloc(HUGE_PAGE, rounded);
	if (buffer)
		(void) madvise(buffer, rounded, MADV_HUGEPAGE); /* only a wish */
	return buffer;
}

/* Fills up to `capacity` bytes from `*offset` on; fewer only at the end of the file. */
static int read_up_to(int fd, char *buffer, size_t capacity, size_t *offset)
{
	while (*offset < capacity) {
		ssize_t n = pread(fd, buffer + *offset, capacity - *offset, (off_t) *offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		*offset += (size_t) n;
	}
	return 0;
}

static int check_kind(int fd, size_t limit, size_t *ret_size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t) st.st_size > limit)
		return FDIO_E_TOO_BIG;
	*ret_size = (size_t) st.st_size;
	return 0;
}

/* Moves the `size` bytes read so far into a buffer for `capacity` and a NUL. */
static int enlarge(char **buffer, size_t size, size_t capacity)
{
	char *larger = new_buffer(capacity + 1);

	if (!larger)
		return -ENOMEM;
	if (size > 0)
		memcpy(larger, *buffer, size);
	free(*buffer);
	*buffer = larger;
	return 0;
}

int fdio_read_fd(int fd, size_t limit, char **ret, size_t *ret_size)
{
	_cleanup_(free_pointer) char *content = NULL;
	size_t expected = 0, capacity, size = 0;
	int r;

	r = check_kind(fd, limit, &expected);
	if (r != 0)
		return r;
	/* procfs tells no size, and a file may grow meanwhile: room for one byte more shows it. */
	for (capacity = expected > 0 ? expected + 1 : FIRST_CAPACITY;; capacity *= 2) {
		r = enlarge(&content, size, capacity);
		if (r < 0)
			return r;
		r = read_up_to(fd, content, capacity, &size);
		if (r < 0)
			return r;
		if (size > limit)
			return FDIO_E_TOO_BIG;
		if (size < capacity)
			break;
	}
	content[size] = '\0';
	*ret = TAKE(content);
	*ret_size = size;
	return 0;
}

int fdio_read_file(int dir_fd, const char *path, size_t limit, char **ret, size_t *ret_size)
{
	_cleanup_(close_fd) int fd = -1;

	/* O_NONBLOCK: a FIFO is refused, not waited for. */
	fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? FDIO_E_ABSENT : -errno;
	return fdio_read_fd(fd, limit, ret, ret_size);
}

/* A file that is gone again unless it was renamed to its true name. */
struct draft {
	int dir_fd; /* of the directory that it is in */
	int fd;
	char *name; /* in it; NULL: nothing to remove */
};

static void draft_done(struct draft *d)
{
	if (d->name)
		(void) unlinkat(d->dir_fd, d->name, 0); /* litter at worst */
	free(d->name);
	close_fd(&d->fd);
	close_fd(&d->dir_fd);
}

static int draft_open_dir(struct draft *d, int dir_fd, const char *path, const char *base)
{
	_cleanup_(free_pointer) char *parent = NULL;

	parent = base == path ? strdup(".") : strndup(path, (size_t) (base - path));
	if (!parent)
		return -ENOMEM;
	d->dir_fd = openat(dir_fd, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->dir_fd < 0 ? -errno : 0;
}

static int draft_open(struct draft *d, const char *base)
{
	_cleanup_(free_pointer) char *name = NULL;

	if (asprintf(&name, "%s.new-%x-%llx", base, (unsigned) getpid(),
		     (unsigned long long) now_ns()) < 0)
		return -ENOMEM;
	d->fd = openat(d->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (d->fd < 0)
		return -errno;
	d->name = TAKE(name);
	return 0;
}

static int write_all(int fd, const char *content, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, content, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		content += n;
		size -= (size_t) n;
	}
	return 0;
}

static int draft_fill(struct draft *d, const void *content, size_t size, unsigned mode)
{
	int r;

	r = write_all(d->fd, content, size);
	if (r < 0)
		return r;
	if (fchmod(d->fd, mode) < 0) /* whatever the umask */
		return -errno;
	return fsync(d->fd) < 0 ? -errno : 0;
}

static int draft_rename(struct draft *d, const char *base)
{
	if (renameat(d->dir_fd, d->name, d->dir_fd, base) < 0)
		return -errno;
	free(TAKE(d->name));
	return fsync(d->dir_fd) < 0 ? -errno : 0;
}

int fdio_replace(int dir_fd, const char *path, const void *content, size_t size, unsigned mode)
{
	_cleanup_(draft_done) struct draft draft = { .dir_fd = -1, .fd = -1 };
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	int r;

	if (*base == '\0')
		return -EISDIR;
	r = draft_open_dir(&draft, dir_fd, path, base);
	if (r < 0)
		return r;
	r = draft_open(&draft, base);
	if (r < 0)
		return r;
	r = draft_fill(&draft, content, size, mode);
	if (r < 0)
		return r;
	return draft_rename(&draft, base);
}

void fdio_sum(const void *content, size_t size, char ret[static FDIO_SUM_STRLEN + 1])
{
	XXH128_canonical_t sum;

	XXH128_canonicalFromHash(&sum, XXH3_128bits(content, size));
	for (unsigned i = 0; i < sizeof(sum.digest); i++)
		(void) snprintf(ret + 2 * i, 3, "%02x", sum.digest[i]); /* 3 bytes always fit */
}
