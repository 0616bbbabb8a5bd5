/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated host's runner: namespaces, mounts, the program, the report, the end. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "control.h"
#include "cost.h"
#include "count.h"
#include "entries.h"
#include "faults.h"
#include "fs.h"
#include "host.h"
#include "later.h"
#include "sandbox.h"
#include "static.h"
#include "uevent-send.h"

static const char *arg_report, *arg_control = "/run/hostsim/control", *arg_trace, *arg_costs;
static bool arg_quiet, arg_report_vfs, arg_userns, arg_stopped, arg_modprobe;
enum { KEEP_MAX = 15 };
static const char *arg_keep[KEEP_MAX + 1];
static size_t n_keep;
static _Atomic pid_t child; /* 0: none (any more) */

static const char help[] =
	"usage: tests/hostsim/run [OPTION...] -- COMMAND [ARGUMENT...]\n"
	"       tests/hostsim/ctl COMMAND...        (inside; see below)\n"
	"\n"
	"Runs COMMAND on a host whose /sys and /dev/vfio are simulated: PFs, VFs, drivers, IOMMU\n"
	"groups, uevents as Linux 7.3 has them. Ends with COMMAND's exit code; prints on stderr\n"
	"what was touched. Nothing of the machine itself is touched. See tests/hostsim/README.md.\n"
	"\n"
	"The host:\n"
	"  --pf nvme|igb|ice|mlx5[:TOTALVFS][*COUNT][,KEY=VALUE...]\n"
	"        at=BDF vendor= device= vf_device= subvendor= subdevice= class= (hex)\n"
	"        totalvfs= offset= stride= serial=TEXT (%d: counts) autoprobe=0|1\n"
	"        driver=NAME|none   driver-after=SECONDS    driver of the PF, and when it comes\n"
	"        numvfs=N bound=DRIVER                      VFs that are there from the beginning\n"
	"        vf-delay=S vf-interval=S                   VFs come so long after numvfs returned\n"
	"        shared-group=1 wakeup=0                    VFs in the PF's group; no wakeup source\n"
	"  --driver NAME[=VVVV:DDDD+...][,vfio][,async=MS]  one more driver is registered\n"
	"  --without-driver NAME                            ... or is not (vfio-pci is)\n"
	"  --cdev | --group | --cdev-only                   VFIO nodes: both, groups, cdevs\n"
	"  --noiommu                                        vfio's noiommu mode\n"
	"  --enable-sriov                                   vfio_pci.enable_sriov=1\n"
	"  --text GLOB=TEXT                                 what files say instead\n"
	"  --host FILE                                      options as lines \"name = value\"\n"
	"What happens to it:\n"
	"  --late PF[/INDEX]=SECONDS                        a PF (or a VF after numvfs) comes late\n"
	"  --vanish PF[/INDEX]|BDF=SECONDS                  it is pulled out then\n"
	"  --stopped                                        seconds count from `ctl clock` only\n"
	"  --fault 'OP[@COMM]:PATHGLOB:K=ACTION'            OP lookup open read write readlink\n"
	"        readdir any uevent; K 3, 3-5, 3+, *; ACTION an errno, hang short vanish kill\n"
	"        kill-after drop delay=MS\n"
	"  --costs none|today|parallel|FILE                 time and locks of operations\n"
	"The run:\n"
	"  --trace FILE      each operation as a line      --report FILE    the report there\n"
	"  --report-vfs      the report lists every VF     --quiet          no report\n"
	"  --control PATH    the control socket            --userns         also when root\n"
	"  --prices NODE,DEVICE                             ns, for eagerMs and lazyMs of the report\n"
	"  --fake-modprobe   modprobe succeeds for the host's drivers (driverctl calls it)\n"
	"  --keep DIR        leave /run or /var/lib or /etc/driverctl.d as it is\n"
	"\n"
	"tests/hostsim/ctl:\n";

static int host_file(const char *path);

static int set_prices(const char *value)
{
	double node, device;

	if (sscanf(value, "%lf,%lf", &node, &device) != 2)
		return -EINVAL;
	count_set_prices(node, device);
	return 0;
}

static int set_text(const char *value)
{
	fs_set_text(value);
	return 0;
}

static int keep(const char *value)
{
	if (n_keep == KEEP_MAX)
		return -EINVAL;
	arg_keep[n_keep++] = value;
	return 0;
}

/* An option has a function, a text to remember, or a flag and its value. */
static const struct word {
	const char *name;
	int (*function)(const char *value);
	const char **text;
	bool *flag, value;
} words[] = {
	{ "pf", .function = host_pf },
	{ "driver", .function = host_driver },
	{ "without-driver", .function = host_without },
	{ "text", .function = set_text },
	{ "host", .function = host_file },
	{ "late", .function = host_late },
	{ "vanish", .function = host_vanish },
	{ "fault", .function = faults_add },
	{ "prices", .function = set_prices },
	{ "keep", .function = keep },
	{ "costs", .text = &arg_costs },
	{ "trace", .text = &arg_trace },
	{ "report", .text = &arg_report },
	{ "control", .text = &arg_control },
	{ "cdev", .flag = &model.cdev, .value = true },
	{ "group", .flag = &model.cdev, .value = false },
	{ "cdev-only", .flag = &model.group_nodes, .value = false },
	{ "noiommu", .flag = &model.noiommu, .value = true },
	{ "enable-sriov", .flag = &model.enable_sriov, .value = true },
	{ "report-vfs", .flag = &arg_report_vfs, .value = true },
	{ "quiet", .flag = &arg_quiet, .value = true },
	{ "userns", .flag = &arg_userns, .value = true },
	{ "stopped", .flag = &arg_stopped, .value = true },
	{ "fake-modprobe", .flag = &arg_modprobe, .value = true },
};
enum { WORDS = sizeof(words) / sizeof(*words) };

static int apply(const struct word *word, const char *value)
{
	if (word->function)
		return word->function(value);
	if (word->text)
		*word->text = value;
	else
		*word->flag = word->value;
	return 0;
}

static int host_file(const char *path)
{
	char line[512], name[64], value[448];
	FILE *f = fopen(path, "re");
	int r = 0;

	if (!f) {
		fprintf(stderr, "hostsim: cannot read '%s': %m\n", path);
		return -errno;
	}
	while (r == 0 && fgets(line, sizeof(line), f)) {
		size_t i = 0;

		*value = 0;
		if (sscanf(line, " %63[a-z-] = %447[^\n]", name, value) < 1)
			continue;
		while (i < WORDS && strcmp(words[i].name, name) != 0)
			i++;
		r = i < WORDS ? apply(&words[i], must_dup(value)) : -EINVAL;
		if (r < 0)
			fprintf(stderr, "hostsim: %s: cannot do '%s'\n", path, name);
	}
	fclose(f);
	return r;
}

static int parse_options(int argc, char **argv)
{
	struct option options[WORDS + 2] = { 0 };
	int c;

	for (size_t i = 0; i < WORDS; i++)
		options[i] = (struct option){ words[i].name,
					      words[i].flag ? no_argument : required_argument, NULL,
					      256 + (int) i };
	options[WORDS] = (struct option){ "help", no_argument, NULL, 'h' };
	while ((c = getopt_long(argc, argv, "+h", options, NULL)) >= 0) {
		if (c == 'h') {
			printf("%s%s", help, control_help);
			exit(0);
		}
		if (c < 256 || apply(&words[c - 256], optarg) < 0)
			return -EINVAL;
	}
	if (optind < argc)
		return 0;
	fprintf(stderr, "hostsim: no COMMAND; see --help\n");
	return -EINVAL;
}

static void forward(int signal)
{
	if (child)
		kill(child, signal);
}

static void print_report(void)
{
	FILE *out = arg_report ? fopen(arg_report, "we") : stderr;

	if (!out) {
		fprintf(stderr, "hostsim: cannot write '%s': %m\n", arg_report);
		return;
	}
	count_report(out, arg_report_vfs ? COUNT_WITH_VFS : 0);
	if (out != stderr)
		fclose(out);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sandbox_show(model.cdev) < 0 || (arg_modprobe && sandbox_fake_modprobe() < 0))
		_exit(125);
	execvp(argv[0], argv);
	fprintf(stderr, "hostsim: cannot run '%s': %m\n", argv[0]);
	_exit(127);
}

/* Nothing sleeps in an operation any more: by a fault, or for who holds a VFIO device. */
static void let_all_go(int error)
{
	(void) faults_remove("all"); /* there is nothing that it could not find */
	faults_release(NULL, error);
	model_lock();
	model.ending = true;
	pthread_cond_broadcast(&model.released);
	model_unlock();
}

/* A program whose main thread has ended while another hangs can only be freed from here. */
static void *free_dead(void *unused)
{
	struct timespec nap = { .tv_nsec = 200000000 };
	char path[64], line[256], *state;
	FILE *f;

	for (;; nanosleep(&nap, NULL)) {
		snprintf(path, sizeof(path), "/proc/%d/stat", (int) child);
		f = child ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		if (state && state[1] && state[2] == 'Z')
			let_all_go(EINTR);
		fclose(f);
	}
	return unused;
}

/* Children of the program that outlive it come to us and are killed, the hanging ones too. */
static int finish(void)
{
	int status = 0, code = 125, s;
	pid_t pid;

	while ((pid = waitpid(-1, &s, 0)) > 0 || errno == EINTR)
		if (pid == child) {
			status = s;
			break;
		}
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	child = 0;
	if (!arg_quiet)
		print_report();
	let_all_go(EIO);
	sandbox_kill_rest();
	return code;
}

static int prepare(void)
{
	int r = sandbox_enter(arg_userns, arg_keep);

	if (r < 0)
		return r;
	entries_init();
	static_init();
	if (arg_costs && cost_load(arg_costs) < 0)
		return -EINVAL;
	r = uevents_open();
	if (r == 0)
		r = host_build();
	if (r == 0 && arg_trace)
		r = faults_trace(arg_trace);
	if (r == 0)
		r = fs_start("/run/hostsim/fs");
	if (r == 0)
		r = control_start(arg_control);
	return r;
}

int main(int argc, char **argv)
{
	char self[4096] = "";
	pthread_t thread;
	int r;

	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return control_ask(getenv("HOSTSIM_CONTROL") ?: arg_control, argc - 2, argv + 2);
	if (parse_options(argc, argv) < 0)
		return 125;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		setenv("HOSTSIM", self, 1);
	setenv("HOSTSIM_CONTROL", arg_control, 1);
	setenv("SYSTEMD_DEVICE_VERIFY_SYSFS", "0", 1); /* libudev asks whether /sys is sysfs */
	r = prepare();
	if (r < 0) {
		fprintf(stderr, "hostsim: cannot set up the host: %s\n", strerror(-r));
		return 125;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGINT, forward);
	signal(SIGTERM, forward);
	signal(SIGHUP, forward);
	signal(SIGPIPE, SIG_IGN);
	count_reset();
	model.booting = false;
	if (!arg_stopped)
		later_start();
	child = start(argv + optind);
	if (pthread_create(&thread, NULL, free_dead, NULL) != 0)
		return 125;
	_exit(child < 0 ? 125 : finish());
}
