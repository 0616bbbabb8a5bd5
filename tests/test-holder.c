/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "holder.h"
#include <cmocka.h>

/* A procfs and a /dev of plain files: a held node is a link to the file that stands for it. */
struct tree {
	char root[32], proc[48], dev[48];
	struct holder_list list;
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void put_dir(const char *root, const char *name)
{
	char command[300];

	(void) snprintf(command, sizeof(command), "mkdir -p %s/%s", root, name);
	assert_int_equal(system(command), 0);
}

static void put(const struct tree *t, const char *name, const char *content)
{
	char path[256];
	FILE *f;

	(void) snprintf(path, sizeof(path), "%s/%s", t->root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(content, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void put_fd(const struct tree *t, int pid, int fd, const char *target)
{
	char path[256];

	(void) snprintf(path, sizeof(path), "%s/%d/fd/%d", t->proc, pid, fd);
	assert_int_equal(symlink(target, path), 0);
}

/* fd: of the node called so below the fixture's /dev. */
static void hold(const struct tree *t, int pid, int fd, const char *node)
{
	char target[256];

	(void) snprintf(target, sizeof(target), "%s/%s", t->dev, node);
	put_fd(t, pid, fd, target);
}

static void put_process(const struct tree *t, int pid, const char *comm, unsigned uid,
			const char *cgroup)
{
	char name[64], text[128];

	(void) snprintf(name, sizeof(name), "proc/%d/fd", pid);
	put_dir(t->root, name);
	(void) snprintf(name, sizeof(name), "proc/%d/fdinfo", pid);
	put_dir(t->root, name);
	(void) snprintf(name, sizeof(name), "proc/%d/comm", pid);
	(void) snprintf(text, sizeof(text), "%s\n", comm);
	put(t, name, text);
	(void) snprintf(name, sizeof(name), "proc/%d/cgroup", pid);
	put(t, name, cgroup);
	(void) snprintf(name, sizeof(name), "proc/%d/status", pid);
	(void) snprintf(text, sizeof(text), "Name:\t%s\nUid:\t0\t%u\t0\t0\nGid:\t0\t0\t0\t0\n",
			comm, uid);
	put(t, name, text);
}

static int make_tree(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	strcpy(t->root, "/tmp/test-holder.XXXXXX");
	assert_non_null(mkdtemp(t->root));
	(void) snprintf(t->proc, sizeof(t->proc), "%s/proc", t->root);
	(void) snprintf(t->dev, sizeof(t->dev), "%s/dev", t->root);
	put_dir(t->root, "proc/sys");
	put_dir(t->root, "proc/1/fd");
	put_dir(t->root, "dev/vfio/devices");
	put(t, "dev/vfio/12", "");
	put(t, "dev/vfio/noiommu-7", "");
	put(t, "dev/vfio/vfio", "");
	put(t, "dev/vfio/devices/vfio3", "");
	put(t, "dev/vfio/devices/noiommu-vfio4", "");
	*state = t;
	return 0;
}

static int remove_tree(void **state)
{
	struct tree *t = *state;
	int r = nftw(t->root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

	holder_list_done(&t->list);
	free(t);
	return r;
}

static void look(struct tree *t)
{
	struct phase phase;

	phase_init(&phase, PHASE_PREPARE, 1);
	holder_list_done(&t->list);
	assert_int_equal(holder_find_all(phase_walk_pass(&phase), t->proc, t->dev, &t->list), 0);
}

static void assert_only(const struct tree *t, enum holder_kind kind, unsigned number)
{
	assert_int_equal(t->list.n_holders, 1);
	assert_int_equal(t->list.holders[0].kind, kind);
	assert_int_equal(t->list.holders[0].number, number);
}

static void nobody_holds_anything(void **state)
{
	struct tree *t = *state;

	look(t);
	assert_int_equal(t->list.n_holders, 0);
	assert_int_equal(t->list.n_unseen, 0);
}

static void cdev_of_a_service(void **state)
{
	struct tree *t = *state;

	put_process(t, 100, "qemu", 64055, "0::/system.slice/vm-0001.service\n");
	put_fd(t, 100, 0, "/dev/null");
	put_fd(t, 100, 1, "pipe:[1234]");
	hold(t, 100, 9, "vfio/vfio"); /* the container, which is everybody's */
	hold(t, 100, 10, "vfio/devices/vfio3");
	look(t);
	assert_only(t, HOLDER_CDEV, 3);
	assert_int_equal(t->list.holders[0].pid, 100);
	assert_int_equal(t->list.holders[0].uid, 64055); /* the effective one */
	assert_string_equal(t->list.holders[0].name, "vm-0001");
}

static void group_and_noiommu_nodes(void **state)
{
	struct tree *t = *state;

	put_process(t, 100, "qemu", 0, "0::/vm.service\n");
	hold(t, 100, 5, "vfio/12");
	look(t);
	assert_only(t, HOLDER_GROUP, 12);
	put_process(t, 100, "qemu", 0, "0::/vm.service\n");
	hold(t, 100, 6, "vfio/noiommu-7");
	hold(t, 100, 7, "vfio/devices/noiommu-vfio4");
	look(t);
	assert_int_equal(t->list.n_holders, 3);
}

/* From 6.16 on a device fd that came out of a group says whose it is. */
static void device_fd_by_fdinfo(void **state)
{
	struct tree *t = *state;

	put_process(t, 100, "qemu", 0, "0::/vm.service\n");
	put_fd(t, 100, 20, "anon_inode:[vfio-device]");
	put_fd(t, 100, 21, "anon_inode:[vfio-device]"); /* an older kernel's */
	put(t, "proc/100/fdinfo/20",
	    "pos:\t0\nflags:\t02000002\n"
	    "vfio-device-syspath: /sys/devices/pci0000:00/0000:00:01.0/0000:01:10.2\n");
	put(t, "proc/100/fdinfo/21", "pos:\t0\nflags:\t02000002\n");
	look(t);
	assert_int_equal(t->list.n_holders, 1);
	assert_int_equal(t->list.holders[0].kind, HOLDER_FUNCTION);
	assert_int_equal(t->list.holders[0].address.rid, 0x0182);
}

/* Anybody can call a file so; only the node that we know is a node. */
static void file_of_that_name_is_no_node(void **state)
{
	struct tree *t = *state;

	put_process(t, 100, "evil", 1000, "0::/user.slice/evil.scope\n");
	put_dir(t->root, "home/vfio/devices");
	put(t, "home/vfio/devices/vfio3", "");
	put(t, "home/vfio/12", "");
	hold(t, 100, 3, "../home/vfio/devices/vfio3");
	hold(t, 100, 4, "../home/vfio/12");
	put_fd(t, 100, 5, "/nonexistent/vfio/12");
	put_fd(t, 100, 6, "/nonexistent/vfio/99");
	hold(t, 100, 7, "vfio/12x");
	look(t);
	assert_int_equal(t->list.n_holders, 0);
}

static void put_device(const struct tree *t, const char *name, unsigned minor)
{
	char path[256];

	(void) snprintf(path, sizeof(path), "%s/%s", t->root, name);
	(void) unlink(path); /* where a file stands for it */
	assert_int_equal(mknod(path, S_IFCHR | 0600, makedev(1, minor)), 0);
}

/* A VMM may have its own /dev, made by mknod: another inode, the same device number. */
static void node_in_a_jail(void **state)
{
	struct tree *t = *state;

	if (geteuid() != 0)
		skip(); /* only root can make nodes */
	put_process(t, 100, "qemu", 0, "0::/vm.service\n");
	put_dir(t->root, "jail/vfio/devices");
	put_device(t, "dev/vfio/12", 3);
	put_device(t, "dev/vfio/devices/vfio3", 5);
	put_device(t, "jail/vfio/12", 7);
	put_device(t, "jail/vfio/devices/vfio3", 5);
	hold(t, 100, 3, "../jail/vfio/12");
	hold(t, 100, 4, "../jail/vfio/devices/vfio3");
	look(t);
	assert_only(t, HOLDER_CDEV, 3);
}

static void name_by_unit(void **state)
{
	static const struct {
		const char *cgroup, *name;
	} cases[] = {
		{ "0::/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope/libvirt/emulator\n",
		  "machine-qemu-1-vm1" },
		{ "0::/system.slice/system-vmm.slice/vmm@blue.service\n", "vmm@blue" },
		{ "0::/user.slice/user-0.slice/user@0.service/app.slice/vm-7.scope\n", "vm-7" },
		{ "12:pids:/x.service\n1:name=systemd:/system.slice/old.service\n0::/\n", "old" },
		{ "0::/system.slice/we\\x2fird\\x20name.service\n", "we-ird-name" },
		{ "0::/\n", "qemu-system-x8-100" },
		{ "0::/lxc/a.b/c\n", "qemu-system-x8-100" },
		{ "0::/.service\n", "qemu-system-x8-100" },
		{ "0::/a-name-of-sixty-four-bytes-which-is-one-more-than-an-owner-may-havx.service\n",
		  "qemu-system-x8-100" },
		{ "", "qemu-system-x8-100" },
	};
	struct tree *t = *state;

	put_process(t, 100, "qemu-system-x8", 0, "");
	hold(t, 100, 5, "vfio/12");
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		put(t, "proc/100/cgroup", cases[i].cgroup);
		look(t);
		assert_int_equal(t->list.n_holders, 1);
		assert_string_equal(t->list.holders[0].name, cases[i].name);
	}
	put(t, "proc/100/comm", "a b\"\\c\n");
	look(t);
	assert_string_equal(t->list.holders[0].name, "a-b--c-100");
}

static void agent_is_no_holder(void **state)
{
	struct tree *t = *state;

	put_process(t, 50, "vf-restored", 0, "0::/system.slice/vf-restored.service\n");
	hold(t, 50, 5, "vfio/12");
	put_process(t, 100, "qemu", 0, "0::/vm.service\n");
	hold(t, 100, 5, "vfio/12");
	look(t);
	assert_only(t, HOLDER_GROUP, 12);
	assert_string_equal(t->list.holders[0].name, "vm");
}

static void ended_process_is_passed_over(void **state)
{
	struct tree *t = *state;

	put_dir(t->proc, "77"); /* no fd any more */
	put_dir(t->proc, "78/fd");
	hold(t, 78, 5, "vfio/12"); /* and no status */
	look(t);
	assert_int_equal(t->list.n_holders, 0);
	assert_int_equal(t->list.n_unseen, 0);
}

/* Root without these capabilities obeys the modes of its own files; without effect for others. */
static void set_root_sees_all(bool on)
{
	const uint32_t rights = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, sets), 0);
	sets[0].effective = on ? sets[0].effective | (sets[0].permitted & rights)
			       : sets[0].effective & ~rights;
	assert_int_equal(syscall(SYS_capset, &header, sets), 0);
}

static void unseen_processes_are_counted(void **state)
{
	struct tree *t = *state;
	char path[64];

	(void) snprintf(path, sizeof(path), "%s/1/fd", t->proc);
	assert_int_equal(chmod(path, 0), 0);
	set_root_sees_all(false);
	look(t);
	set_root_sees_all(true);
	assert_int_equal(t->list.n_unseen, 1);
	assert_int_equal(chmod(path, 0700), 0);
}

static void real_procfs(void **state)
{
	struct tree *t = *state;
	struct phase phase;

	phase_init(&phase, PHASE_PREPARE, 1);
	assert_int_equal(holder_find_all(phase_walk_pass(&phase), NULL, NULL, &t->list), 0);
}

static void by_hand(void **state)
{
	struct holder_list list = { 0 };

	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(holder_add_by_hand(&list, (struct bdf){ .rid = (uint16_t) i },
						    "vm"),
				 0);
	assert_int_equal(list.n_holders, 5);
	assert_int_equal(list.holders[4].address.rid, 4);
	assert_int_equal(list.holders[4].pid, 0);
	assert_int_equal(list.holders[4].kind, HOLDER_FUNCTION);
	assert_string_equal(list.holders[0].name, "vm");
	holder_list_done(&list);
	holder_list_done(&list);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(nobody_holds_anything),
		TREE_TEST(cdev_of_a_service),
		TREE_TEST(group_and_noiommu_nodes),
		TREE_TEST(device_fd_by_fdinfo),
		TREE_TEST(file_of_that_name_is_no_node),
		TREE_TEST(node_in_a_jail),
		TREE_TEST(name_by_unit),
		TREE_TEST(agent_is_no_holder),
		TREE_TEST(ended_process_is_passed_over),
		TREE_TEST(unseen_processes_are_counted),
		TREE_TEST(real_procfs),
		cmocka_unit_test(by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
