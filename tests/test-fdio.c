/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "fdio.h"
#include "scratch.h"

static char *read_one(const struct scratch *s, const char *name, size_t limit, size_t *ret_size)
{
	char *text = NULL;

	assert_int_equal(fdio_read_file(s->fd, name, limit, &text, ret_size), 0);
	assert_int_equal(text[*ret_size], '\0');
	return text;
}

static void a_file_is_read_whole_with_a_nul_behind_it(void **state)
{
	size_t size;
	char *text;

	scratch_write(*state, "file", "two\nlines\n");
	text = read_one(*state, "file", 100, &size);
	assert_int_equal(size, 10);
	assert_string_equal(text, "two\nlines\n");
	free(text);
}

static void an_empty_file_is_an_empty_text(void **state)
{
	size_t size;
	char *text;

	scratch_write(*state, "file", "");
	text = read_one(*state, "file", 0, &size);
	assert_int_equal(size, 0);
	free(text);
}

static void a_file_that_is_not_there_is_absent(void **state)
{
	struct scratch *s = *state;
	char *text;
	size_t size;

	assert_int_equal(fdio_read_file(s->fd, "none", 1, &text, &size), FDIO_E_ABSENT);
	assert_int_equal(fdio_read_file(s->fd, "no/directory", 1, &text, &size), FDIO_E_ABSENT);
}

static void a_file_at_the_limit_is_read_and_one_beyond_is_not(void **state)
{
	struct scratch *s = *state;
	size_t size;
	char *text;

	scratch_write(s, "file", "12345");
	text = read_one(s, "file", 5, &size);
	free(text);
	assert_int_equal(fdio_read_file(s->fd, "file", 4, &text, &size), FDIO_E_TOO_BIG);
}

static void a_big_file_is_read_whole(void **state)
{
	enum { SIZE = (3 << 20) + 17 };
	struct scratch *s = *state;
	char *big = malloc(SIZE), *text;
	size_t size;

	assert_non_null(big);
	for (size_t i = 0; i < SIZE; i++)
		big[i] = (char) (i * 31 >> 3);
	assert_int_equal(fdio_replace(s->fd, "big", big, SIZE, 0600), 0);
	text = read_one(s, "big", SIZE, &size);
	assert_int_equal(size, SIZE);
	assert_memory_equal(text, big, SIZE);
	free(text);
	free(big);
}

static void procfs_which_tells_no_size_is_read_whole(void **state)
{
	size_t size;
	char *text;

	(void) state;
	assert_int_equal(fdio_read_file(AT_FDCWD, "/proc/self/maps", 1 << 24, &text, &size), 0);
	assert_true(size > 0 && text[size - 1] == '\n');
	free(text);
	assert_int_equal(fdio_read_file(AT_FDCWD, "/proc/self/maps", 10, &text, &size),
			 FDIO_E_TOO_BIG);
}

static void a_memfd_is_read_from_its_start_and_keeps_its_position(void **state)
{
	int fd = memfd_create("it", MFD_CLOEXEC);
	size_t size;
	char *text;

	(void) state;
	assert_int_equal(write(fd, "content", 7), 7);
	assert_int_equal(fdio_read_fd(fd, 100, &text, &size), 0);
	assert_string_equal(text, "content");
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 7);
	free(text);
	close_fd(&fd);
}

static void what_is_no_file_is_refused_without_waiting(void **state)
{
	struct scratch *s = *state;
	char *text;
	size_t size;

	assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
	assert_int_equal(fdio_read_file(s->fd, "fifo", 1, &text, &size), -EINVAL);
	assert_int_equal(fdio_read_file(s->fd, ".", 1, &text, &size), -EISDIR);
	assert_int_equal(fdio_read_file(AT_FDCWD, "/dev/null", 1, &text, &size), -EINVAL);
}

static void replacing_leaves_the_new_text_its_mode_and_nothing_else(void **state)
{
	struct scratch *s = *state;
	struct stat st;

	(void) umask(077);
	scratch_write(s, "file", "old");
	assert_int_equal(fdio_replace(s->fd, "file", "new", 3, 0644), 0);
	scratch_assert_text(s, "file", "new");
	assert_int_equal(fstatat(s->fd, "file", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(scratch_count(s), 1);
}

static void a_file_in_a_directory_below_is_replaced(void **state)
{
	struct scratch *s = *state;

	scratch_write(s, "a/b/file", "old");
	assert_int_equal(fdio_replace(s->fd, "a/b/file", "new", 3, 0600), 0);
	scratch_assert_text(s, "a/b/file", "new");
	assert_int_equal(fdio_replace(AT_FDCWD, scratch_path(s, "a/b/other"), "x", 1, 0600), 0);
	scratch_assert_text(s, "a/b/other", "x");
	assert_int_equal(fdio_replace(s->fd, "a/none/file", "x", 1, 0600), -ENOENT);
	assert_int_equal(fdio_replace(s->fd, "a/", "x", 1, 0600), -EISDIR);
}

static void a_link_is_replaced_and_not_what_it_points_to(void **state)
{
	struct scratch *s = *state;
	struct stat st;

	scratch_write(s, "target", "old");
	assert_int_equal(symlinkat("target", s->fd, "link"), 0);
	assert_int_equal(fdio_replace(s->fd, "link", "new", 3, 0600), 0);
	scratch_assert_text(s, "target", "old");
	assert_int_equal(fstatat(s->fd, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void a_failed_write_leaves_the_old_text_and_no_litter(void **state)
{
	struct scratch *s = *state;
	int status;
	pid_t child;

	scratch_write(s, "file", "old");
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit none = { 2, 2 };

		(void) signal(SIGXFSZ, SIG_IGN);
		(void) setrlimit(RLIMIT_FSIZE, &none);
		_exit(fdio_replace(s->fd, "file", "newer", 5, 0600) == -EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	scratch_assert_text(s, "file", "old");
	assert_int_equal(scratch_count(s), 1);
}

static void a_full_file_system_leaves_the_old_text_and_no_litter(void **state)
{
	struct scratch *s = *state;
	char *big = calloc(1, 1 << 20);
	size_t size;
	char *text;

	assert_non_null(big);
	if (mount("tmpfs", s->path, "tmpfs", 0, "size=64k") < 0) {
		free(big);
		skip();
	}
	assert_int_equal(fdio_replace(AT_FDCWD, scratch_path(s, "file"), "old", 3, 0600), 0);
	assert_int_equal(fdio_replace(AT_FDCWD, scratch_path(s, "file"), big, 1 << 20, 0600),
			 -ENOSPC);
	text = scratch_read_path(scratch_path(s, "file"), &size);
	assert_string_equal(text, "old");
	assert_int_equal(scratch_count(s), 1);
	assert_int_equal(umount(s->path), 0);
	free(text);
	free(big);
}

/* As `xxh128sum FILE` of the xxhash package prints them. */
static void sums_are_those_of_xxh128sum(void **state)
{
	char sum[FDIO_SUM_STRLEN + 1];

	(void) state;
	fdio_sum("", 0, sum);
	assert_string_equal(sum, "99aa06d3014798d86001c324468d497f");
	fdio_sum("vf-restore\n", 11, sum);
	assert_string_equal(sum, "f399099a4acd5a60146977ea2a179b64");
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_is_read_whole_with_a_nul_behind_it),
		T(an_empty_file_is_an_empty_text),
		T(a_file_that_is_not_there_is_absent),
		T(a_file_at_the_limit_is_read_and_one_beyond_is_not),
		T(a_big_file_is_read_whole),
		T(procfs_which_tells_no_size_is_read_whole),
		T(a_memfd_is_read_from_its_start_and_keeps_its_position),
		T(what_is_no_file_is_refused_without_waiting),
		T(replacing_leaves_the_new_text_its_mode_and_nothing_else),
		T(a_file_in_a_directory_below_is_replaced),
		T(a_link_is_replaced_and_not_what_it_points_to),
		T(a_failed_write_leaves_the_old_text_and_no_litter),
		T(a_full_file_system_leaves_the_old_text_and_no_litter),
		T(sums_are_those_of_xxh128sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
