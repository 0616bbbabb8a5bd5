/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "manifest-save.h"
#include "scratch.h"

/* ---- The text ------------------------------------------------------------------------------ */

static char *to_text(const struct manifest *m)
{
	size_t size;
	char *text;

	assert_int_equal(manifest_to_text(m, &text, &size), 0);
	assert_int_equal(strlen(text), size);
	assert_int_equal(text[size - 1], '\n');
	return text;
}

static void parse(struct manifest *ret, const char *text)
{
	char error[MANIFEST_ERROR_LEN] = "";

	if (manifest_parse(ret, "it", text, strlen(text), error) != 0)
		fail_msg("%s", error);
}

static void one_round_trip(const char *path)
{
	struct manifest first, second;
	char *text, *written, *again;
	size_t size;

	text = scratch_read_path(path, &size);
	parse(&first, text);
	written = to_text(&first);
	parse(&second, written);
	again = to_text(&second);
	assert_string_equal(written, again);
	assert_int_equal(first.n_pfs, second.n_pfs);
	assert_int_equal(first.n_vfs, second.n_vfs);
	assert_int_equal(first.n_owners, second.n_owners);
	assert_int_equal(second.n_unknown, 0);
	manifest_done(&first);
	manifest_done(&second);
	free(text);
	free(written);
	free(again);
}

static void what_is_written_reads_the_same_again(void **state)
{
	char *good = scratch_data("manifest/good");

	(void) state;
	assert_true(scratch_each(good, ".json", one_round_trip) >= 10);
	free(good);
}

/* Every member of each struct has a value of its own here. */
static void each_field_is_written(void **state)
{
	struct manifest_vf vf = {
		.index = 1,
		.has_address = true,
		.address = { 0, 0x103 },
		.driver = "vfio-pci",
		.has_owner = true,
		.name = "net \"0\"",
		.has_network = true,
		.network = { true,
			     true,
			     true,
			     true,
			     true,
			     true,
			     true,
			     true,
			     true,
			     { 2, 0, 0, 0, 0, 7 },
			     4094,
			     7,
			     0x88a8,
			     true,
			     true,
			     MANIFEST_LINK_DISABLE,
			     1,
			     4294967295 },
	};
	struct manifest_owner owner = { "vm/ü", -5, true, 4294967294 };
	struct manifest_pf pf = {
		.address = { 0x10000, 0x100 },
		.vendor = 0x15b3,
		.device = 0x1019,
		.serial_number = "08-c0-eb",
		.driver = "mlx5_core",
		.num_vfs = 2,
		.vf_device = 0x101a,
		.offset = 2,
		.stride = 1,
		.drivers_autoprobe = false,
		.vf_id_is_ours = true,
		.interface = "eth0",
		.has_permanent_mac = true,
		.permanent_mac = { 0xb8, 0x3f, 0xd2, 0, 0, 1 },
		.vfs = &vf,
		.n_vfs = 1,
	};
	struct manifest m = {
		.generation = 9,
		.captured_at_usec = 8,
		.machine_id = "0123456789abcdef0123456789abcdef",
		.boot_id = "fedcba9876543210fedcba9876543210",
		.kernel_release = "7.2.13",
		.owners = &owner,
		.n_owners = 1,
		.pfs = &pf,
		.n_pfs = 1,
		.n_vfs = 1,
	};
	char *text;

	(void) state;
	text = to_text(&m);
	assert_string_equal(
		text,
		"{\"format\":\"vf-restore-manifest\",\"version\":1,\"generation\":9,"
		"\"capturedAtUsec\":8,\"machineId\":\"0123456789abcdef0123456789abcdef\","
		"\"bootId\":\"fedcba9876543210fedcba9876543210\",\"kernelRelease\":\"7.2.13\",\n"
		"\"owners\":[\n"
		"{\"name\":\"vm/ü\",\"priority\":-5,\"uid\":4294967294}],\n"
		"\"physicalFunctions\":[\n"
		"{\"address\":\"10000:01:00.0\",\"vendor\":\"15b3\",\"device\":\"1019\","
		"\"serialNumber\":\"08-c0-eb\",\"driver\":\"mlx5_core\",\"numVfs\":2,"
		"\"vfDevice\":\"101a\",\"offset\":2,\"stride\":1,\"driversAutoprobe\":false,"
		"\"vfIdIsOurs\":true,\"network\":{\"interface\":\"eth0\","
		"\"permanentMac\":\"b8:3f:d2:00:00:01\"},\"virtualFunctions\":[\n"
		"{\"index\":1,\"address\":\"0000:01:00.3\",\"driver\":\"vfio-pci\","
		"\"owner\":\"vm/ü\",\"name\":\"net \\\"0\\\"\",\"network\":{"
		"\"mac\":\"02:00:00:00:00:07\",\"vlan\":4094,\"qos\":7,"
		"\"vlanProtocol\":\"802.1ad\",\"spoofCheck\":true,\"trust\":true,"
		"\"linkState\":\"disable\",\"minTxRate\":1,\"maxTxRate\":4294967295}}]}]}\n");
	free(text);
}

static void v7_absent_is_written_as_absent(void **state)
{
	struct manifest_vf vf = { .index = 0, .has_network = true };
	struct manifest_pf pf = {
		.driver = "igb",
		.num_vfs = 1,
		.offset = 1,
		.vfs = &vf,
		.n_vfs = 1,
	};
	struct manifest m = { .pfs = &pf, .n_pfs = 1, .machine_id = "x" };
	char *text;

	(void) state;
	text = to_text(&m);
	assert_non_null(strstr(text, "\n{\"index\":0,\"network\":{}}"));
	assert_null(strstr(text, "bootId"));
	assert_null(strstr(text, "kernelRelease"));
	assert_null(strstr(text, "serialNumber"));
	assert_null(strstr(text, "interface"));
	free(text);
}

/* ---- The files ----------------------------------------------------------------------------- */

#define MANIFEST_OF(generation)                                                                    \
	"{\"format\":\"vf-restore-manifest\",\"version\":1,\"generation\":" #generation            \
	",\"machineId\":\"0123456789abcdef0123456789abcdef\",\"physicalFunctions\":[]}\n"

static const char oldest[] = MANIFEST_OF(1), old[] = MANIFEST_OF(2), newer[] = MANIFEST_OF(3);

static int save(const struct scratch *s, const char *text)
{
	return manifest_save(scratch_path(s, "m.json"), text, strlen(text));
}

static uint64_t load(const struct scratch *s, const char *name)
{
	char error[MANIFEST_ERROR_LEN] = "";
	struct manifest m;
	uint64_t generation;

	if (manifest_load(&m, scratch_path(s, name), false, error) != 0)
		fail_msg("%s does not load: %s", name, error);
	generation = m.generation;
	manifest_done(&m);
	return generation;
}

static void the_first_manifest_has_its_seal_and_no_previous(void **state)
{
	assert_int_equal(save(*state, old), 0);
	assert_int_equal(load(*state, "m.json"), 2);
	assert_int_equal(scratch_count(*state), 2);
}

static void the_manifest_before_is_kept_under_seal(void **state)
{
	assert_int_equal(save(*state, oldest), 0);
	assert_int_equal(save(*state, old), 0);
	assert_int_equal(save(*state, newer), 0);
	assert_int_equal(load(*state, "m.json"), 3);
	assert_int_equal(load(*state, "m.json.previous"), 2);
	assert_int_equal(scratch_count(*state), 4);
}

static void the_seal_is_what_xxh128sum_prints(void **state)
{
	char sum[FDIO_SUM_STRLEN + 1], line[100];

	assert_int_equal(save(*state, old), 0);
	fdio_sum(old, strlen(old), sum);
	assert_true(snprintf(line, sizeof(line), "%s  m.json\n", sum) < 100);
	scratch_assert_text(*state, "m.json.xxh128", line);
}

static void the_same_manifest_again_does_not_displace_the_previous(void **state)
{
	assert_int_equal(save(*state, oldest), 0);
	assert_int_equal(save(*state, old), 0);
	assert_int_equal(save(*state, old), 0);
	assert_int_equal(load(*state, "m.json.previous"), 1);
}

static void a_damaged_manifest_does_not_displace_the_previous(void **state)
{
	assert_int_equal(save(*state, oldest), 0);
	assert_int_equal(save(*state, old), 0);
	scratch_write(*state, "m.json", newer); /* not what the seal says */
	assert_int_equal(save(*state, newer), 0);
	assert_int_equal(load(*state, "m.json"), 3);
	assert_int_equal(load(*state, "m.json.previous"), 1);
}

static void a_manifest_written_by_hand_becomes_the_previous(void **state)
{
	scratch_write(*state, "m.json", oldest);
	assert_int_equal(save(*state, old), 0);
	assert_int_equal(load(*state, "m.json"), 2);
	assert_int_equal(load(*state, "m.json.previous"), 1);
}

/* ---- Crashes ------------------------------------------------------------------------------- */

static void make_history(const struct scratch *s)
{
	assert_int_equal(save(s, oldest), 0);
	assert_int_equal(save(s, old), 0);
}

static void assert_old_or_new(const struct scratch *s)
{
	assert_in_range(load(s, "m.json"), 2, 3);
	assert_in_range(load(s, "m.json.previous"), 1, 2);
}

/* Ends the child at its n-th stop at a system call; false: it came to its end before. */
static bool kill_at(pid_t child, unsigned n)
{
	int status;

	for (;;) {
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
		assert_true(WIFSTOPPED(status));
		if (n-- == 0)
			break;
		assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
	}
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return true;
}

static void killed_before_or_after_any_system_call_it_loads(void **state)
{
	bool killed = true;
	unsigned n;

	for (n = 0; killed; n++) {
		pid_t child;

		make_history(*state);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
				_exit(0);
			(void) raise(SIGSTOP);
			_exit(save(*state, newer) == 0 ? 0 : 1);
		}
		killed = kill_at(child, n);
		assert_old_or_new(*state);
	}
	if (n == 1)
		skip(); /* nobody may trace here */
	assert_int_equal(load(*state, "m.json"), 3);
	assert_in_range(n, 50, 1000);
}

static void a_file_size_limit_at_any_place_leaves_it_loadable(void **state)
{
	for (unsigned limit = 0; limit < sizeof(newer) + 2; limit++) {
		const struct rlimit few = { limit, limit };
		int status;
		pid_t child;

		make_history(*state);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			(void) signal(SIGXFSZ, SIG_IGN);
			(void) setrlimit(RLIMIT_FSIZE, &few);
			_exit(save(*state, newer) == 0 ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_old_or_new(*state);
		if (WEXITSTATUS(status) == 0)
			assert_int_equal(load(*state, "m.json"), 3);
	}
}

/* Leaves `pages` free on a file system of 64. */
static void fill(const struct scratch *s, unsigned pages)
{
	int fd = open(scratch_path(s, "ballast"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	static const char page[4096];

	assert_true(fd >= 0);
	while (write(fd, page, sizeof(page)) == sizeof(page))
		;
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) - pages * (off_t) sizeof(page)), 0);
	close_fd(&fd);
}

static void a_full_file_system_leaves_it_loadable(void **state)
{
	struct scratch *s = *state;

	for (unsigned pages = 0; pages < 6; pages++) {
		if (mount("tmpfs", s->path, "tmpfs", 0, "size=256k") < 0)
			skip();
		make_history(s);
		fill(s, pages);
		if (save(s, newer) == 0)
			assert_int_equal(load(s, "m.json"), 3);
		assert_old_or_new(s);
		assert_int_equal(umount(s->path), 0);
	}
}

static void a_read_only_file_system_leaves_it_loadable(void **state)
{
	struct scratch *s = *state;

	if (mount("tmpfs", s->path, "tmpfs", 0, "size=256k") < 0)
		skip();
	make_history(s);
	assert_int_equal(mount(NULL, s->path, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_int_equal(save(s, newer), -EROFS);
	assert_int_equal(load(s, "m.json"), 2);
	assert_int_equal(umount(s->path), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_the_same_again),
		cmocka_unit_test(each_field_is_written),
		cmocka_unit_test(v7_absent_is_written_as_absent),
		T(the_first_manifest_has_its_seal_and_no_previous),
		T(the_manifest_before_is_kept_under_seal),
		T(the_seal_is_what_xxh128sum_prints),
		T(the_same_manifest_again_does_not_displace_the_previous),
		T(a_damaged_manifest_does_not_displace_the_previous),
		T(a_manifest_written_by_hand_becomes_the_previous),
		T(killed_before_or_after_any_system_call_it_loads),
		T(a_file_size_limit_at_any_place_leaves_it_loadable),
		T(a_full_file_system_leaves_it_loadable),
		T(a_read_only_file_system_leaves_it_loadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
