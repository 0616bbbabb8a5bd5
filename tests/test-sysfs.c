/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "sysfs.h"

/* Our own mistakes end the program: seen from outside. */
#define expect_assert_failure_in_child(expression)                                                 \
	do {                                                                                       \
		pid_t _child = fork();                                                             \
		int _status;                                                                       \
                                                                                                   \
		if (_child == 0) {                                                                 \
			(void) !freopen("/dev/null", "w", stderr);                                 \
			expression;                                                                \
			_exit(0);                                                                  \
		}                                                                                  \
		assert_int_equal(waitpid(_child, &_status, 0), _child);                            \
		assert_true(WIFSIGNALED(_status) && WTERMSIG(_status) == SIGABRT);                 \
	} while (0)

/* A tree of plain files, laid out as the kernel's: the PF and the VF are neighbours. */
static const struct bdf pf = { 0, 0x0100 }, vf = { 0, 0x0180 };
static char dir[] = "/tmp/test-sysfs.XXXXXX";
static struct tally tally;
static struct sysfs door = { -1, &tally };
static int pf_fd = -1;

#define BRIDGE "devices/pci0000:00/0000:00:01.0"

static void put(const char *path, const char *text)
{
	_cleanup_(close_fd) int fd = openat(door.root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void get(const char *path, char *ret, size_t size)
{
	_cleanup_(close_fd) int fd = openat(door.root, path, O_RDONLY);
	ssize_t k = read(fd, ret, size - 1);

	assert_true(k >= 0);
	ret[k] = '\0';
}

static int set_up(void **state)
{
	static const char *const dirs[] = {
		"bus",
		"bus/pci",
		"bus/pci/devices",
		"bus/pci/drivers",
		"bus/pci/drivers/vfio-pci",
		"devices",
		"devices/pci0000:00",
		BRIDGE,
		BRIDGE "/0000:01:00.0",
		BRIDGE "/0000:01:10.0",
		"class",
		"class/vfio-dev",
	};

	(void) state;
	assert_non_null(mkdtemp(dir));
	door.root = open(dir, O_PATH | O_DIRECTORY);
	for (size_t i = 0; i < ELEMENTSOF(dirs); i++)
		assert_int_equal(mkdirat(door.root, dirs[i], 0700), 0);
	assert_int_equal(symlinkat("../../../" BRIDGE "/0000:01:00.0", door.root,
				   "bus/pci/devices/0000:01:00.0"),
			 0);
	assert_int_equal(symlinkat("../../../../" BRIDGE "/0000:01:10.0", door.root,
				   "bus/pci/drivers/vfio-pci/0000:01:10.0"),
			 0);
	assert_int_equal(symlinkat("../../../../kernel/iommu_groups/42", door.root,
				   BRIDGE "/0000:01:10.0/iommu_group"),
			 0);
	assert_int_equal(symlinkat("../../" BRIDGE "/0000:01:10.0/vfio-dev/vfio3", door.root,
				   "class/vfio-dev/vfio3"),
			 0);
	put(BRIDGE "/0000:01:00.0/sriov_numvfs", "7\n");
	put(BRIDGE "/0000:01:00.0/sriov_offset", "many\n");
	put(BRIDGE "/0000:01:00.0/sriov_stride", "4294967296\n");
	put(BRIDGE "/0000:01:00.0/sriov_totalvfs", "");
	put(BRIDGE "/0000:01:00.0/sriov_drivers_autoprobe", "1\n");
	put(BRIDGE "/0000:01:10.0/driver_override", "(null)\n");
	put("bus/pci/drivers/vfio-pci/bind", "");
	assert_int_equal(sysfs_open_pf(&door, pf, &pf_fd), 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void) state;
	close_fd(&pf_fd);
	close_fd(&door.root);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void reads_numbers_and_counts_the_touch(void **state)
{
	unsigned n = 0;

	(void) state;
	tally = (struct tally){ 0 };
	assert_int_equal(sysfs_read_pf_number(&door, pf_fd, SYSFS_PF_NUMVFS, &n), 0);
	assert_int_equal(n, 7);
	assert_int_equal(tally.sysfs[SYSFS_PF_NUMVFS][SYSFS_READ], 1);
	assert_int_equal(tally_writes(&tally), 0);
}

static void what_is_no_number_is_strange(void **state)
{
	unsigned n = 0;

	(void) state;
	assert_int_equal(sysfs_read_pf_number(&door, pf_fd, SYSFS_PF_OFFSET, &n), SYSFS_E_STRANGE);
	assert_int_equal(sysfs_read_pf_number(&door, pf_fd, SYSFS_PF_STRIDE, &n), SYSFS_E_STRANGE);
	assert_int_equal(sysfs_read_pf_number(&door, pf_fd, SYSFS_PF_TOTALVFS, &n),
			 SYSFS_E_STRANGE);
	assert_int_equal(n, 0);
}

static void a_text_that_fills_the_buffer_is_strange_not_cut(void **state)
{
	char text[8];

	(void) state;
	put(BRIDGE "/0000:01:00.0/modalias", "pci:v00008086");
	assert_int_equal(sysfs_read_pf(&door, pf_fd, SYSFS_PF_MODALIAS, text, sizeof(text)),
			 SYSFS_E_STRANGE);
}

static void what_is_not_there_is_absent(void **state)
{
	char text[64];
	int fd = -1;

	(void) state;
	assert_int_equal(sysfs_open_pf(&door, (struct bdf){ 0, 0x0200 }, &fd), SYSFS_E_ABSENT);
	assert_int_equal(sysfs_read_pf(&door, pf_fd, SYSFS_PF_SERIAL, text, sizeof(text)),
			 SYSFS_E_ABSENT);
	assert_int_equal(sysfs_link_pf(&door, pf_fd, SYSFS_PF_DRIVER, text, sizeof(text)),
			 SYSFS_E_ABSENT);
	assert_int_equal(sysfs_write_vf(&door, pf_fd, SYSFS_VF_OVERRIDE, (struct bdf){ 0, 0x182 },
					"x", 1),
			 SYSFS_E_ABSENT);
	assert_int_equal(sysfs_open_driver(&door, SYSFS_DRIVER_BIND, "igbvf", &fd), SYSFS_E_ABSENT);
	assert_int_equal(sysfs_driver_has(&door, "vfio-pci", pf), SYSFS_E_ABSENT);
	assert_int_equal(fd, -1);
}

static void a_vf_is_reached_beside_its_pf(void **state)
{
	char text[64];

	(void) state;
	tally = (struct tally){ 0 };
	assert_int_equal(sysfs_write_vf(&door, pf_fd, SYSFS_VF_OVERRIDE, vf, "vfio-pci", 8), 0);
	get(BRIDGE "/0000:01:10.0/driver_override", text, sizeof(text));
	assert_string_equal(text, "vfio-pci");
	assert_int_equal(sysfs_link_vf(&door, pf_fd, SYSFS_VF_GROUP, vf, text, sizeof(text)), 0);
	assert_string_equal(text, "42");
	assert_int_equal(tally_vf_nodes(&tally), 2);
	assert_int_equal(tally_writes(&tally), 1);
}

static void a_driver_fd_takes_write_after_write_at_its_beginning(void **state)
{
	_cleanup_(close_fd) int fd = -1;
	char text[64];

	(void) state;
	assert_int_equal(sysfs_open_driver(&door, SYSFS_DRIVER_BIND, "vfio-pci", &fd), 0);
	assert_int_equal(sysfs_write_driver(&door, SYSFS_DRIVER_BIND, fd, "0000:01:10.0", 12), 0);
	assert_int_equal(sysfs_write_driver(&door, SYSFS_DRIVER_BIND, fd, "0000:01:10.2", 12), 0);
	get("bus/pci/drivers/vfio-pci/bind", text, sizeof(text));
	assert_string_equal(text, "0000:01:10.2");
}

static void asking_the_driver_touches_no_vf_node(void **state)
{
	(void) state;
	tally = (struct tally){ 0 };
	assert_int_equal(sysfs_driver_has(&door, "vfio-pci", vf), 0);
	assert_int_equal(tally_vf_nodes(&tally), 0);
	assert_int_equal(tally.sysfs[SYSFS_DRIVER_DEVICE][SYSFS_LINK], 1);
}

static void a_vfio_device_tells_its_function(void **state)
{
	struct bdf b;

	(void) state;
	assert_int_equal(sysfs_vfio_dev(&door, 3, &b), 0);
	assert_int_equal(bdf_compare(b, vf), 0);
	assert_int_equal(sysfs_vfio_dev(&door, 4, &b), SYSFS_E_ABSENT);
	assert_int_equal(symlinkat("../../devices/platform/x/vfio-dev/vfio5", door.root,
				   "class/vfio-dev/vfio5"),
			 0);
	assert_int_equal(sysfs_vfio_dev(&door, 5, &b), SYSFS_E_STRANGE);
}

/* The table and an assertion stand between any caller and "0" (CASES C1, C20). */
static void writing_zero_vfs_ends_the_program(void **state)
{
	(void) state;
	expect_assert_failure_in_child((void) !sysfs_write_pf(&door, pf_fd, SYSFS_PF_NUMVFS, "0"));
	expect_assert_failure_in_child((void) !sysfs_write_pf(&door, pf_fd, SYSFS_PF_OFFSET, "1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_numbers_and_counts_the_touch),
		cmocka_unit_test(what_is_no_number_is_strange),
		cmocka_unit_test(a_text_that_fills_the_buffer_is_strange_not_cut),
		cmocka_unit_test(what_is_not_there_is_absent),
		cmocka_unit_test(a_vf_is_reached_beside_its_pf),
		cmocka_unit_test(a_driver_fd_takes_write_after_write_at_its_beginning),
		cmocka_unit_test(asking_the_driver_touches_no_vf_node),
		cmocka_unit_test(a_vfio_device_tells_its_function),
		cmocka_unit_test(writing_zero_vfs_ends_the_program),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
