/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What needs /sys, /dev and /run runs in a mount namespace of its own, on trees of plain files:
 * adopting works on these as on the real thing, and a write does nothing more than to be kept.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include "scratch.h"
#include "agent.h"
#include "vf-restore.h"

enum { VFS = 3 };

static bool has_sandbox;
static char machine_id[33] = "00000000000000000000000000000000";

/* -- the sandbox -- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text);

	close_fd(&fd);
	return ok;
}

static bool become_root_of_a_namespace(void)
{
	char uid_map[32], gid_map[32];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1", (unsigned) geteuid());
	snprintf(gid_map, sizeof(gid_map), "0 %u 1", (unsigned) getegid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", uid_map) &&
	       write_file("/proc/self/gid_map", gid_map);
}

static bool enter_sandbox(void)
{
	static const char *const places[] = { "/sys", "/run", "/dev" };

	if (geteuid() == 0 ? unshare(CLONE_NEWNS) < 0 : !become_root_of_a_namespace())
		return false;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	for (unsigned i = 0; i < ELEMENTSOF(places); i++)
		if (mount("tmpfs", places[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
			return false;
	return true;
}

static void empty(const char *place)
{
	assert_int_equal(umount2(place, MNT_DETACH), 0);
	assert_int_equal(mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"), 0);
}

/* -- a host of plain files: one NVMe PF -- */

static const struct scratch sys = { "/sys", -1 }, dev = { "/dev", -1 };

#define PF "devices/pci0000:00/0000:01:00.0/"

static void link_to(const char *target, const char *name)
{
	scratch_write(&sys, name, ""); /* with its directories */
	assert_int_equal(unlink(scratch_path(&sys, name)), 0);
	assert_int_equal(symlink(target, scratch_path(&sys, name)), 0);
}

static void make_vf(unsigned i, bool is_bound)
{
	char name[256], target[256];

	snprintf(name, sizeof(name), "devices/pci0000:00/0000:01:00.%u/driver_override", i + 1);
	scratch_write(&sys, name, "(null)\n");
	if (is_bound) {
		snprintf(name, sizeof(name), "devices/pci0000:00/0000:01:00.%u/driver", i + 1);
		link_to("../../../bus/pci/drivers/vfio-pci", name);
		snprintf(name, sizeof(name), "bus/pci/drivers/vfio-pci/0000:01:00.%u", i + 1);
		snprintf(target, sizeof(target), "../../../../devices/pci0000:00/0000:01:00.%u",
			 i + 1);
		link_to(target, name);
	}
	snprintf(name, sizeof(name), "class/vfio-dev/vfio%u", i + 4);
	snprintf(target, sizeof(target), "../../devices/pci0000:00/0000:01:00.%u/vfio-dev/vfio%u",
		 i + 1, i + 4);
	link_to(target, name);
	snprintf(name, sizeof(name), "vfio/devices/vfio%u", i + 4);
	scratch_write(&dev, name, "");
}

static void make_host(bool is_warm)
{
	static const char *const drivers[] = { "bind", "unbind", "new_id", "remove_id" };
	char name[128];

	empty("/sys");
	empty("/run");
	empty("/dev");
	scratch_write(&dev, "iommu", "");
	scratch_write(&sys, PF "modalias", "pci:v00001B36d00000010sv00001AF4sd00001100bc01\n");
	scratch_write(&sys, PF "sriov_numvfs", is_warm ? "3\n" : "0\n");
	scratch_write(&sys, PF "sriov_drivers_autoprobe", "1\n");
	scratch_write(&sys, PF "sriov_offset", "1\n");
	scratch_write(&sys, PF "sriov_stride", "1\n");
	link_to("../../../bus/pci/drivers/nvme", PF "driver");
	link_to("../../../devices/pci0000:00/0000:01:00.0", "bus/pci/devices/0000:01:00.0");
	scratch_write(&sys, "bus/pci/drivers/nvme/bind", "");
	for (unsigned i = 0; i < ELEMENTSOF(drivers); i++) {
		snprintf(name, sizeof(name), "bus/pci/drivers/vfio-pci/%s", drivers[i]);
		scratch_write(&sys, name, "");
	}
	for (unsigned i = 0; i < VFS; i++)
		make_vf(i, is_warm);
}

/* -- what the agent is given -- */

static char manifest_path[256], config_path[256];
static struct agent_options options;
static char error[AGENT_ERROR_LEN];
static struct agent agent = AGENT_EMPTY;

static void write_manifest(const struct scratch *s, const char *machine, bool id_is_ours)
{
	char *text;

	assert_true(
		asprintf(&text,
			 "{ \"format\": \"vf-restore-manifest\", \"version\": 1,\n"
			 "\"generation\": 7, \"capturedAtUsec\": 1,\n"
			 "\"machineId\": \"%s\",\n"
			 "\"bootId\": \"fedcba98-7654-3210-fedc-ba9876543210\",\n"
			 "\"kernelRelease\": \"7.3\", \"owners\": [ { \"name\": \"vm\" } ],\n"
			 "\"physicalFunctions\": [ { \"address\": \"0000:01:00.0\",\n"
			 "\"vendor\": \"1b36\", \"device\": \"0010\", \"driver\": \"nvme\",\n"
			 "\"numVfs\": 3, \"vfDevice\": \"0010\", \"offset\": 1, \"stride\": 1,\n"
			 "\"driversAutoprobe\": true, \"vfIdIsOurs\": %s,\n"
			 "\"virtualFunctions\": [\n"
			 "{ \"index\": 0, \"driver\": \"vfio-pci\", \"owner\": \"vm\", "
			 "\"name\": \"a\" },\n"
			 "{ \"index\": 1, \"driver\": \"vfio-pci\", \"owner\": \"vm\", "
			 "\"name\": \"b\" },\n"
			 "{ \"index\": 2, \"driver\": \"vfio-pci\" } ] } ] }\n",
			 machine, id_is_ours ? "true" : "false") > 0);
	scratch_write(s, "m.json", text);
	free(text);
}

static void write_config(const struct scratch *s, const char *more)
{
	char *text;

	assert_true(asprintf(&text,
			     "[Restore]\nLoadModules=no\nProofTimeoutSec=1s\n"
			     "LatePfTimeoutSec=0\n%s",
			     more) > 0);
	scratch_write(s, "c.conf", text);
	free(text);
}

static int setup(void **state)
{
	scratch_setup(state);
	write_manifest(*state, machine_id, false);
	write_config(*state, "");
	strcpy(manifest_path, scratch_path(*state, "m.json"));
	strcpy(config_path, scratch_path(*state, "c.conf"));
	options = (struct agent_options){ .manifest_path = manifest_path,
					  .unsealed = true,
					  .config_path = config_path,
					  .exec_ns = now_ns() };
	error[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	agent_done(&agent);
	return scratch_teardown(state);
}

static int read_it(void)
{
	return agent_read(&agent, &options, error);
}

static int load_it(void)
{
	int r = read_it();

	return r ? r : agent_load(&agent, error);
}

/* -- agent_read: paper only -- */

static void a_manifest_becomes_a_plan(void **state)
{
	(void) state;
	assert_int_equal(read_it(), 0);
	assert_int_equal(agent.manifest.generation, 7);
	assert_int_equal(agent.plan.n_lanes, 1);
	assert_int_equal(agent.plan.n_vfs, VFS);
	assert_string_equal(agent.manifest_path, manifest_path);
	assert_true(phase_is_hot(&agent.phase));
	assert_int_equal(agent.sysfs_root, -1);
}

static void no_manifest_is_nothing_to_restore(void **state)
{
	(void) state;
	assert_int_equal(unlink(manifest_path), 0);
	assert_int_equal(read_it(), AGENT_E_ABSENT);
	assert_memory_equal(error, manifest_path, strlen(manifest_path));
	assert_string_equal(
		error + strlen(manifest_path),
		": found nothing, expected a manifest; `vf-restore capture` writes one");
}

static void the_settings_say_where_the_manifest_is(void **state)
{
	char more[300];

	snprintf(more, sizeof(more), "[Manifest]\nPath=%s\n", manifest_path);
	write_config(*state, more);
	options.manifest_path = NULL;
	assert_int_equal(read_it(), 0);
	assert_string_equal(agent.manifest_path, manifest_path);
}

static void an_unsealed_manifest_is_refused_unless_allowed(void **state)
{
	(void) state;
	options.unsealed = false;
	assert_int_equal(read_it(), AGENT_E_REFUSED);
	assert_non_null(strstr(error, "m.json.xxh128"));
}

static void a_damaged_manifest_is_refused(void **state)
{
	scratch_write(*state, "m.json", "{ \"format\": \"vf-restore-man");
	assert_int_equal(read_it(), AGENT_E_REFUSED);
	assert_non_null(strstr(error, "m.json"));
	assert_int_equal(agent.plan.n_lanes, 0);
}

static void a_manifest_of_another_machine_is_refused(void **state)
{
	if (access("/etc/machine-id", R_OK) < 0)
		skip();
	write_manifest(*state, "0123456789abcdef0123456789abcdef", false);
	assert_int_equal(read_it(), AGENT_E_REFUSED);
	assert_non_null(strstr(error, "machineId"));
}

static void a_wrong_setting_is_refused_by_file_and_line(void **state)
{
	write_config(*state, "Workers=0\n");
	assert_int_equal(read_it(), AGENT_E_REFUSED);
	assert_non_null(strstr(error, "c.conf: line 5: Restore.Workers"));
	assert_non_null(strstr(error, "Workers"));
}

static void settings_that_are_named_have_to_be_there(void **state)
{
	(void) state;
	assert_int_equal(unlink(config_path), 0);
	assert_true(read_it() != 0);
}

static void an_id_that_is_not_proven_is_refused(void **state)
{
	(void) state;
	options.has_strategy = true;
	options.strategy = CONF_STRATEGY_ID;
	assert_int_equal(read_it(), AGENT_E_REFUSED);
	assert_non_null(strstr(error, "BindStrategy=id is not possible for 0000:01:00.0"));
}

static void an_option_wins_over_the_settings(void **state)
{
	write_manifest(*state, machine_id, true);
	write_config(*state, "BindStrategy=override\n");
	options.has_strategy = true;
	options.strategy = CONF_STRATEGY_ID;
	assert_int_equal(read_it(), 0);
	assert_int_equal(agent.plan.lanes[0].strategy, STRATEGY_ID);
}

static void an_agent_that_did_nothing_can_be_freed_twice(void **state)
{
	(void) state;
	agent_done(&agent);
	agent_done(&agent);
}

/* -- the rest, in the sandbox -- */

#define need_sandbox()                                                                             \
	do                                                                                         \
		if (!has_sandbox)                                                                  \
			skip();                                                                    \
	while (0)

static void assert_all_ready(void)
{
	assert_int_equal(agent.hot.n_ready, VFS);
	assert_int_equal(agent.hot.n_lacks, 0);
	for (unsigned i = 0; i < VFS; i++) {
		assert_int_equal(agent.hot.lanes[0].vfs[i].node.kind, VFIO_CDEV);
		assert_int_equal(agent.hot.lanes[0].vfs[i].node.number, i + 4);
		assert_true(agent.hot.lanes[0].vfs[i].fd >= 0);
	}
}

static void l6_a_warm_host_is_adopted_without_a_write(void **state)
{
	struct tally tally;
	struct stat st;

	(void) state;
	need_sandbox();
	make_host(true);
	assert_int_equal(load_it(), 0);
	assert_int_equal(agent_run(&agent), 0);
	assert_all_ready();
	hotpath_tally(&agent.hot, &tally);
	assert_int_equal(tally_writes(&tally), 0);
	scratch_assert_text(&sys, PF "sriov_numvfs", "3\n");
	scratch_assert_text(&sys, PF "sriov_drivers_autoprobe", "1\n");
	scratch_assert_text(&sys, "bus/pci/drivers/vfio-pci/bind", "");
	assert_int_equal(agent.phase.now, PHASE_HANDOFF);
	assert_int_equal(fstat(agent.journal.fd, &st), 0);
	assert_int_equal(st.st_size, 0); /* nothing is left open */
}

/* Plain files send no events: the nodes are found when ProofTimeoutSec= is over. */
static void a_cold_host_is_written_to_as_planned(void **state)
{
	struct tally tally, budget;
	bool exact;

	(void) state;
	need_sandbox();
	make_host(false);
	assert_int_equal(load_it(), 0);
	assert_int_equal(agent_run(&agent), 0);
	assert_all_ready();
	hotpath_tally(&agent.hot, &tally);
	hotpath_budget(&agent.hot, &budget, &exact);
	assert_true(exact);
	assert_memory_equal(&tally, &budget, sizeof(tally));
	scratch_assert_text(&sys, PF "sriov_numvfs", "3\n");
	scratch_assert_text(&sys, PF "sriov_drivers_autoprobe", "1\n");
	scratch_assert_text(&sys, "devices/pci0000:00/0000:01:00.2/driver_override", "vfio-pci");
	scratch_assert_text(&sys, "bus/pci/drivers/vfio-pci/bind", "0000:01:00.3");
	scratch_assert_text(&sys, "bus/pci/drivers/vfio-pci/new_id", "");
}

static void c15_what_a_killed_run_left_is_put_right(void **state)
{
	static const char left[] = "1 0000:01:00.0 autoprobe-was 1\n"
				   "2 0000:01:00.0 id 1b36 0010 vfio-pci\n";
	static const struct scratch run = { "/run", -1 };

	need_sandbox();
	write_manifest(*state, machine_id, true);
	make_host(true);
	scratch_write(&sys, PF "sriov_drivers_autoprobe", "0\n");
	scratch_write(&run, "vf-restore/journal", left);
	assert_int_equal(load_it(), 0);
	assert_int_equal(agent_run(&agent), 0);
	assert_all_ready();
	scratch_assert_text(&sys, PF "sriov_drivers_autoprobe", "1\n");
	scratch_assert_text(&sys, "bus/pci/drivers/vfio-pci/remove_id", "1b36 0010");
	scratch_assert_text(&sys, "bus/pci/drivers/vfio-pci/new_id", "");
	scratch_assert_text(&run, "vf-restore/journal", "");
}

static void a_run_that_could_not_put_all_right_keeps_its_journal(void **state)
{
	static const struct scratch run = { "/run", -1 };
	char *text;
	size_t size;

	(void) state;
	need_sandbox();
	make_host(true);
	scratch_write(&run, "vf-restore/journal", "1 0000:01:00.0 autoprobe-was 1\n");
	assert_int_equal(unlink(scratch_path(&sys, "bus/pci/devices/0000:01:00.0")), 0);
	assert_int_equal(load_it(), 0);
	assert_int_equal(agent_run(&agent), 0);
	assert_int_equal(agent.hot.n_lacks, VFS);
	text = scratch_read_path("/run/vf-restore/journal", &size);
	assert_non_null(strstr(text, "autoprobe-was 1\n"));
	assert_null(strstr(text, " over\n"));
	free(text);
}

static void two_runs_at_a_time_are_impossible(void **state)
{
	static const struct scratch run = { "/run", -1 };
	_cleanup_(close_fd) int fd = -1;

	(void) state;
	need_sandbox();
	make_host(true);
	scratch_write(&run, "vf-restore/journal", "");
	fd = open("/run/vf-restore/journal", O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(load_it(), AGENT_E_BUSY);
	assert_string_equal(error, "/run/vf-restore/journal: locked by another run; wait for its "
				   "end");
}

static void somebody_elses_run_directory_is_refused(void **state)
{
	(void) state;
	need_sandbox();
	make_host(true);
	assert_int_equal(mkdir("/run/elsewhere", 0755), 0);
	assert_int_equal(symlink("elsewhere", "/run/vf-restore"), 0);
	assert_int_equal(load_it(), AGENT_E_REFUSED);
	assert_non_null(strstr(error, "/run/vf-restore"));
	agent_done(&agent);
	assert_int_equal(unlink("/run/vf-restore"), 0);
	assert_int_equal(mkdir("/run/vf-restore", 0755), 0);
	assert_int_equal(chmod("/run/vf-restore", 0777), 0);
	assert_int_equal(load_it(), AGENT_E_REFUSED);
}

static void the_account_of_a_run_is_saved(void **state)
{
	_cleanup_(record_done) struct record record = { 0 };
	struct stat st;

	(void) state;
	need_sandbox();
	make_host(true);
	assert_int_equal(load_it(), 0);
	assert_int_equal(agent_run(&agent), 0);
	assert_int_equal(agent_record(&agent, &record), 0);
	assert_string_equal(record.manifest_path, manifest_path);
	assert_int_equal(record.exec_ns, options.exec_ns);
	assert_true(record.exec_ns <= record.load_ns && record.load_ns <= record.hot_ns);
	assert_true(record.hot_ns <= record.over_ns);
	assert_true(record.realtime_usec > 0);
	assert_int_equal(record.n_ready, VFS);
	assert_int_equal(agent_save_record(&agent, "{}\n", 3), 0);
	assert_int_equal(stat(VF_RESTORE_RECORD, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_size, 3);
}

static unsigned n_changes;

static void count_change(struct agent *a, void *user)
{
	assert_ptr_equal(a, &agent);
	assert_ptr_equal(user, &n_changes);
	n_changes++;
}

static void somebody_may_watch(void **state)
{
	(void) state;
	need_sandbox();
	make_host(true);
	n_changes = 0;
	assert_int_equal(load_it(), 0);
	agent.on_change = count_change;
	agent.user = &n_changes;
	assert_int_equal(agent_run(&agent), 0);
	assert_true(n_changes > 0);
}

static void read_machine_id(void)
{
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, machine_id, 32) != 32)
		memset(machine_id, '0', 32);
	close_fd(&fd);
}

int main(void)
{
#define with_files(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		with_files(a_manifest_becomes_a_plan),
		with_files(no_manifest_is_nothing_to_restore),
		with_files(the_settings_say_where_the_manifest_is),
		with_files(an_unsealed_manifest_is_refused_unless_allowed),
		with_files(a_damaged_manifest_is_refused),
		with_files(a_manifest_of_another_machine_is_refused),
		with_files(a_wrong_setting_is_refused_by_file_and_line),
		with_files(settings_that_are_named_have_to_be_there),
		with_files(an_id_that_is_not_proven_is_refused),
		with_files(an_option_wins_over_the_settings),
		with_files(an_agent_that_did_nothing_can_be_freed_twice),
		with_files(l6_a_warm_host_is_adopted_without_a_write),
		with_files(a_cold_host_is_written_to_as_planned),
		with_files(c15_what_a_killed_run_left_is_put_right),
		with_files(a_run_that_could_not_put_all_right_keeps_its_journal),
		with_files(two_runs_at_a_time_are_impossible),
		with_files(somebody_elses_run_directory_is_refused),
		with_files(the_account_of_a_run_is_saved),
		with_files(somebody_may_watch),
	};

	read_machine_id();
	has_sandbox = enter_sandbox();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
