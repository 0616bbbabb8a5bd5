/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "walker.h"
#include <cmocka.h>

/* libudev knows /sys only: the fixture is bound over it, in a mount namespace of our own. */
#define BUS "/sys/bus/pci"
#define HERE "/sys/devices/pci0000:00/0000:00:01.0"

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

_printf_(2, 3) static void put(const char *content, const char *path_format, ...)
{
	char path[256];
	va_list args;
	FILE *f;

	va_start(args, path_format);
	(void) vsnprintf(path, sizeof(path), path_format, args);
	va_end(args);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fprintf(f, "%s\n", content) > 0);
	assert_int_equal(fclose(f), 0);
}

_printf_(2, 3) static void put_link(const char *target, const char *path_format, ...)
{
	char path[256];
	va_list args;

	va_start(args, path_format);
	(void) vsnprintf(path, sizeof(path), path_format, args);
	va_end(args);
	assert_int_equal(symlink(target, path), 0);
}

_printf_(1, 2) static void put_dir(const char *path_format, ...)
{
	char path[256], command[300];
	va_list args;

	va_start(args, path_format);
	(void) vsnprintf(path, sizeof(path), path_format, args);
	va_end(args);
	(void) snprintf(command, sizeof(command), "mkdir -p %s", path);
	assert_int_equal(system(command), 0);
}

static void put_function(const char *bdf, const char *vendor, const char *device,
			 const char *driver)
{
	char target[128];

	put_dir(HERE "/%s", bdf);
	put("", HERE "/%s/uevent", bdf);
	put(vendor, HERE "/%s/vendor", bdf);
	put(device, HERE "/%s/device", bdf);
	put_link("../../../../bus/pci", HERE "/%s/subsystem", bdf);
	(void) snprintf(target, sizeof(target), "../../../devices/pci0000:00/0000:00:01.0/%s", bdf);
	put_link(target, BUS "/devices/%s", bdf);
	if (!driver)
		return;
	put_dir(BUS "/drivers/%s", driver);
	(void) snprintf(target, sizeof(target), "../../../../bus/pci/drivers/%s", driver);
	put_link(target, HERE "/%s/driver", bdf);
}

static void put_pf(const char *bdf, const char *driver, const char *num_vfs)
{
	put_function(bdf, "0x8086", "0x10c9", driver);
	put("7", HERE "/%s/sriov_totalvfs", bdf);
	put(num_vfs, HERE "/%s/sriov_numvfs", bdf);
	put("128", HERE "/%s/sriov_offset", bdf);
	put("2", HERE "/%s/sriov_stride", bdf);
	put("1", HERE "/%s/sriov_drivers_autoprobe", bdf);
	put("10ca", HERE "/%s/sriov_vf_device", bdf);
}

static void put_vf(const char *bdf, const char *pf, const char *driver)
{
	char target[64];

	put_function(bdf, "0x8086", "0x10ca", driver);
	(void) snprintf(target, sizeof(target), "../%s", pf);
	put_link(target, HERE "/%s/physfn", bdf);
}

static void number_vf(const char *pf, unsigned index, const char *bdf)
{
	char target[64];

	(void) snprintf(target, sizeof(target), "../%s", bdf);
	put_link(target, HERE "/%s/virtfn%u", pf, index);
}

static void put_net(const char *bdf, const char *name, const char *ifindex, const char *port)
{
	put_dir("/sys/class/net");
	put_dir(HERE "/%s/net/%s", bdf, name);
	put("", HERE "/%s/net/%s/uevent", bdf, name);
	put(ifindex, HERE "/%s/net/%s/ifindex", bdf, name);
	put("52:54:00:12:34:56", HERE "/%s/net/%s/address", bdf, name);
	put_link("../../../../../../class/net", HERE "/%s/net/%s/subsystem", bdf, name);
	if (port)
		put(port, HERE "/%s/net/%s/phys_port_name", bdf, name);
}

static int mount_tree(void **state)
{
	char *dir = strdup("/tmp/test-walker.XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(mount(dir, "/sys", NULL, MS_BIND, NULL), 0);
	put_dir(BUS "/devices");
	*state = dir;
	return 0;
}

static int unmount_tree(void **state)
{
	char *dir = *state;
	int r = umount2("/sys", MNT_DETACH);

	r |= nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(dir);
	return r;
}

static int walk(struct walked *ret)
{
	struct phase phase;

	phase_init(&phase, PHASE_PREPARE, 1);
	return walker_walk(phase_walk_pass(&phase), ret);
}

static struct bdf bdf(const char *text)
{
	struct bdf b;

	assert_int_equal(bdf_parse(text, &b), 0);
	return b;
}

static const struct walked_function *find(const struct walked *w, const char *text)
{
	return walked_find(w, bdf(text));
}

static void empty_bus(void **state)
{
	struct walked w;

	assert_int_equal(walk(&w), 0);
	assert_int_equal(w.n_functions, 0);
	assert_null(find(&w, "0000:01:00.0"));
	walked_done(&w);
	walked_done(&w);
}

static void pf_in_full(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };
	const struct walked_function *f;

	put_pf("0000:01:00.0", "igb", "0");
	put("00-11-22-ff-ff-33-44-55", HERE "/0000:01:00.0/serial_number");
	put_net("0000:01:00.0", "enp1s0", "3", NULL);
	assert_int_equal(walk(&w), 0);
	f = find(&w, "0000:01:00.0");
	assert_non_null(f);
	assert_int_equal(f->vendor, 0x8086);
	assert_int_equal(f->device, 0x10c9);
	assert_string_equal(f->driver, "igb");
	assert_string_equal(f->serial_number, "00-11-22-ff-ff-33-44-55");
	assert_true(f->is_pf && !f->is_vf);
	assert_int_equal(f->total_vfs, 7);
	assert_int_equal(f->num_vfs, 0);
	assert_int_equal(f->offset, 128);
	assert_int_equal(f->stride, 2);
	assert_int_equal(f->vf_device, 0x10ca);
	assert_true(f->drivers_autoprobe);
	assert_string_equal(f->interface, "enp1s0");
	assert_true(f->has_mac);
	assert_memory_equal(f->mac, "\x52\x54\x00\x12\x34\x56", 6);
	assert_false(f->has_vfio || f->has_group);
}

static void k17_vf_index_is_of_the_virtfn_link(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };
	const struct walked_function *f;

	put_pf("0000:01:00.0", "igb", "2");
	put_vf("0000:01:10.0", "0000:01:00.0", "vfio-pci");
	put_vf("0000:01:10.2", "0000:01:00.0", NULL);
	number_vf("0000:01:00.0", 1, "0000:01:10.0"); /* the other way round than computed */
	number_vf("0000:01:00.0", 0, "0000:01:10.2");
	put_dir(HERE "/0000:01:10.0/vfio-dev/vfio17");
	put_link("../../../../kernel/iommu_groups/42", HERE "/0000:01:10.0/iommu_group");
	assert_int_equal(walk(&w), 0);
	assert_int_equal(w.n_functions, 3);
	f = find(&w, "0000:01:10.0");
	assert_true(f->is_vf && !f->is_pf);
	assert_int_equal(bdf_compare(f->pf, bdf("0000:01:00.0")), 0);
	assert_int_equal(f->vf_index, 1);
	assert_string_equal(f->driver, "vfio-pci");
	assert_true(f->has_vfio && f->has_group);
	assert_int_equal(f->vfio, 17);
	assert_int_equal(f->group, 42);
	f = find(&w, "0000:01:10.2");
	assert_int_equal(f->vf_index, 0);
	assert_null(f->driver);
	assert_false(f->has_vfio || f->has_group);
}

static void vf_index_is_computed_without_a_link(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_pf("0000:01:00.0", "igb", "7");
	put_vf("0000:01:11.4", "0000:01:00.0", "vfio-pci");
	assert_int_equal(walk(&w), 0);
	assert_int_equal(find(&w, "0000:01:11.4")->vf_index, 6);
}

static void u7_vf_without_a_place_at_its_pf_is_left_out(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_pf("0000:01:00.0", "igb", "1");
	put_vf("0000:01:10.4", "0000:01:00.0", "vfio-pci"); /* would be the third */
	put_vf("0000:02:10.0", "0000:02:00.0", "vfio-pci"); /* its PF has gone */
	assert_int_equal(walk(&w), 0);
	assert_int_equal(w.n_functions, 1);
}

static void u7_vanishing_functions_are_left_out(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_function("0000:03:00.0", "0x1af4", "0x1041", NULL);
	put_link("../../../devices/pci0000:00/gone", BUS "/devices/0000:04:00.0");
	put_function("0000:05:00.0", "0x1af4", "0x1041", NULL); /* ENOENT */
	assert_int_equal(unlink(HERE "/0000:05:00.0/device"), 0);
	put_function("0000:06:00.0", "0x1af4", "0x1041",
		     NULL); /* EINVAL, as libudev says of a link */
	assert_int_equal(unlink(HERE "/0000:06:00.0/vendor"), 0);
	put_link("/dev/null", HERE "/0000:06:00.0/vendor");
	put_pf("0000:07:00.0", "igb", "1"); /* halfway through its attributes */
	assert_int_equal(unlink(HERE "/0000:07:00.0/sriov_stride"), 0);
	assert_int_equal(walk(&w), 0);
	assert_int_equal(w.n_functions, 1);
	assert_non_null(find(&w, "0000:03:00.0"));
}

static void other_errors_are_passed_up(void **state)
{
	struct walked w;

	put_function("0000:05:00.0", "0x1af4", "0x1041", NULL);
	assert_int_equal(unlink(HERE "/0000:05:00.0/vendor"), 0);
	put_dir(HERE "/0000:05:00.0/vendor");
	assert_int_equal(walk(&w), -EISDIR);
}

static void n3_functions_are_in_numerical_order(void **state)
{
	static const char *const order[] = { "0000:0a:00.0", "0000:a0:1f.7", "00ff:01:00.0",
					     "10000:00:00.0", "5d0505:00:00.1" };
	_cleanup_(walked_done) struct walked w = { 0 };

	for (size_t i = ELEMENTSOF(order); i > 0; i--)
		put_function(order[i - 1], "0x1af4", "0x1041", NULL);
	assert_int_equal(walk(&w), 0);
	assert_int_equal(w.n_functions, ELEMENTSOF(order));
	for (unsigned i = 0; i < ELEMENTSOF(order); i++)
		assert_int_equal(bdf_compare(w.functions[i].address, bdf(order[i])), 0);
}

/* A guest's view: a VF whose PF is elsewhere is a function like any other. */
static void n5_vf_without_physfn_is_no_vf(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_function("0002:00:02.0", "0x15b3", "0x1016", "mlx5_core");
	assert_int_equal(walk(&w), 0);
	assert_false(find(&w, "0002:00:02.0")->is_vf || find(&w, "0002:00:02.0")->is_pf);
}

static void interface_is_the_ports_own(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_pf("0000:01:00.0", "mlx5_core", "0");
	put_net("0000:01:00.0", "eth_b", "9", "p0");
	put_net("0000:01:00.0", "eth_a", "10", NULL);
	put_net("0000:01:00.0", "eth_0", "3", "pf0vf1");
	assert_int_equal(walk(&w), 0);
	assert_string_equal(find(&w, "0000:01:00.0")->interface, "eth_b");
}

static void infiniband_address_is_no_mac(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_pf("0000:01:00.0", "mlx5_core", "0");
	put_net("0000:01:00.0", "ib0", "3", NULL);
	put("80:00:00:48:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1",
	    HERE "/0000:01:00.0/net/ib0/address");
	assert_int_equal(walk(&w), 0);
	assert_string_equal(find(&w, "0000:01:00.0")->interface, "ib0");
	assert_false(find(&w, "0000:01:00.0")->has_mac);
}

static void b17_noiommu_device_counts(void **state)
{
	_cleanup_(walked_done) struct walked w = { 0 };

	put_function("0000:01:00.0", "0x1af4", "0x1041", "vfio-pci");
	put_dir(HERE "/0000:01:00.0/vfio-dev/noiommu-vfio5");
	assert_int_equal(walk(&w), 0);
	assert_true(find(&w, "0000:01:00.0")->has_vfio);
	assert_int_equal(find(&w, "0000:01:00.0")->vfio, 5);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, mount_tree, unmount_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(empty_bus),
		TREE_TEST(pf_in_full),
		TREE_TEST(k17_vf_index_is_of_the_virtfn_link),
		TREE_TEST(vf_index_is_computed_without_a_link),
		TREE_TEST(u7_vf_without_a_place_at_its_pf_is_left_out),
		TREE_TEST(u7_vanishing_functions_are_left_out),
		TREE_TEST(other_errors_are_passed_up),
		TREE_TEST(n3_functions_are_in_numerical_order),
		TREE_TEST(n5_vf_without_physfn_is_no_vf),
		TREE_TEST(interface_is_the_ports_own),
		TREE_TEST(infiniband_address_is_no_mac),
		TREE_TEST(b17_noiommu_device_counts),
	};

	if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		perror("No mount namespace to be had, skipping");
		return 77;
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		perror("Mounts cannot be made private, skipping");
		return 77;
	}
	(void) setenv("SYSTEMD_DEVICE_VERIFY_SYSFS", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
