/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "vfio.h"

static char dir[] = "/tmp/test-vfio.XXXXXX";
static struct tally tally;
static struct vfio door = { -1, &tally };

static int set_up(void **state)
{
	(void) state;
	assert_non_null(mkdtemp(dir));
	door.dev = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(door.dev, "vfio", 0700), 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void) state;
	close_fd(&door.dev);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void every_kind_has_its_path(void **state)
{
	static const struct {
		struct vfio_node node;
		const char *path;
	} cases[] = {
		{ { VFIO_CDEV, 0 }, "/dev/vfio/devices/vfio0" },
		{ { VFIO_GROUP, 17 }, "/dev/vfio/17" },
		{ { VFIO_NOIOMMU_CDEV, UINT32_MAX }, "/dev/vfio/devices/noiommu-vfio4294967295" },
		{ { VFIO_NOIOMMU_GROUP, 5 }, "/dev/vfio/noiommu-5" },
	};
	char path[VFIO_PATH_MAX];

	(void) state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		vfio_node_path(cases[i].node, path);
		assert_string_equal(path, cases[i].path);
	}
}

static void opens_for_reading_and_writing_and_not_across_exec(void **state)
{
	_cleanup_(close_fd) int made = openat(door.dev, "vfio/7", O_CREAT | O_WRONLY, 0600),
				fd = -1;

	(void) state;
	assert_true(made >= 0);
	tally = (struct tally){ 0 };
	assert_int_equal(vfio_open(&door, (struct vfio_node){ VFIO_GROUP, 7 }, &fd), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC); /* CASES B14 */
	assert_int_equal(tally.opens, 1);
}

static void a_node_that_is_not_there_says_so(void **state)
{
	int fd = -1;

	(void) state;
	assert_int_equal(vfio_open(&door, (struct vfio_node){ VFIO_CDEV, 9 }, &fd), -ENOENT);
	assert_int_equal(fd, -1);
}

static void a_link_is_no_device(void **state)
{
	int fd = -1;

	(void) state;
	assert_int_equal(symlinkat("/dev/null", door.dev, "vfio/8"), 0);
	assert_int_equal(vfio_open(&door, (struct vfio_node){ VFIO_GROUP, 8 }, &fd), -ELOOP);
}

static void knows_whether_there_are_cdevs(void **state)
{
	_cleanup_(close_fd) int made = -1;

	(void) state;
	assert_false(vfio_has_iommufd(&door));
	assert_false(vfio_has_cdevs(&door));
	made = openat(door.dev, "iommu", O_CREAT | O_WRONLY, 0600);
	assert_true(vfio_has_iommufd(&door));
	assert_int_equal(mkdirat(door.dev, "vfio/devices", 0700), 0);
	assert_true(vfio_has_cdevs(&door));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_its_path),
		cmocka_unit_test(opens_for_reading_and_writing_and_not_across_exec),
		cmocka_unit_test(a_node_that_is_not_there_says_so),
		cmocka_unit_test(a_link_is_no_device),
		cmocka_unit_test(knows_whether_there_are_cdevs),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
