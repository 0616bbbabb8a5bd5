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
static bool arg_quiet, arg_report_vfs, arg_userns;
static const char *arg_keep[16];
static size_t n_keep;
static volatile sig_atomic_t child;

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
	"  --without-driver NAME                            ... or is not (vfio-pci is by default)\n"
	"  --cdev | --group | --cdev-only                   VFIO nodes: both (default), groups, cdevs\n"
	"  --noiommu                                        vfio's noiommu mode\n"
	"  --enable-sriov                                   vfio_pci.enable_sriov=1\n"
	"  --text GLOB=TEXT                                 what files say instead\n"
	"  --host FILE                                      options as lines \"name = value\"\n"
	"What happens to it:\n"
	"  --late PF[/INDEX]=SECONDS                        a PF (or a VF after numvfs) comes late\n"
	"  --vanish PF[/INDEX]|BDF=SECONDS                  it is pulled out then\n"
	"  --fault 'OP[@COMM]:PATHGLOB:K=ACTION'            OP lookup open read write readlink readdir\n"
	"        any uevent; K 3, 3-5, 3+, *; ACTION an errno, hang short vanish kill kill-after\n"
	"        drop delay=MS\n"
	"  --costs none|today|parallel|FILE                 time and locks of operations\n"
	"The run:\n"
	"  --trace FILE      each operation as a line      --report FILE    the report there\n"
	"  --report-vfs      the report lists every VF     --quiet          no report\n"
	"  --control PATH    the control socket            --userns         also when root\n"
	"  --keep DIR        leave /run or /var/lib or /etc/driverctl.d as it is\n"
	"\n"
	"tests/hostsim/ctl:\n";

enum { OPT_PF = 256, OPT_DRIVER, OPT_WITHOUT, OPT_CDEV, OPT_GROUP, OPT_CDEV_ONLY, OPT_NOIOMMU,
       OPT_SRIOV, OPT_TEXT, OPT_HOST, OPT_LATE, OPT_VANISH, OPT_FAULT, OPT_COSTS, OPT_TRACE,
       OPT_REPORT, OPT_REPORT_VFS, OPT_QUIET, OPT_CONTROL, OPT_USERNS, OPT_KEEP, OPT_PRICES };

static const struct option options[] = {
	{ "pf", required_argument, NULL, OPT_PF },
	{ "driver", required_argument, NULL, OPT_DRIVER },
	{ "without-driver", required_argument, NULL, OPT_WITHOUT },
	{ "cdev", no_argument, NULL, OPT_CDEV },
	{ "group", no_argument, NULL, OPT_GROUP },
	{ "cdev-only", no_argument, NULL, OPT_CDEV_ONLY },
	{ "noiommu", no_argument, NULL, OPT_NOIOMMU },
	{ "enable-sriov", no_argument, NULL, OPT_SRIOV },
	{ "text", required_argument, NULL, OPT_TEXT },
	{ "host", required_argument, NULL, OPT_HOST },
	{ "late", required_argument, NULL, OPT_LATE },
	{ "vanish", required_argument, NULL, OPT_VANISH },
	{ "fault", required_argument, NULL, OPT_FAULT },
	{ "costs", required_argument, NULL, OPT_COSTS },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "report-vfs", no_argument, NULL, OPT_REPORT_VFS },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "userns", no_argument, NULL, OPT_USERNS },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "prices", required_argument, NULL, OPT_PRICES },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int host_file(const char *path);

static int set_prices(const char *value)
{
	double node, device;

	if (sscanf(value, "%lf,%lf", &node, &device) != 2)
		return -EINVAL;
	count_set_prices(node, device);
	return 0;
}

static int apply(int option, const char *value)
{
	switch (option) {
	case OPT_PF: return host_pf(value);
	case OPT_DRIVER: return host_driver(value);
	case OPT_WITHOUT: return host_without(value);
	case OPT_CDEV: return model.cdev = model.group_nodes = true, 0;
	case OPT_GROUP: return model.cdev = false, 0;
	case OPT_CDEV_ONLY: return model.group_nodes = false, 0;
	case OPT_NOIOMMU: return model.noiommu = true, 0;
	case OPT_SRIOV: return model.enable_sriov = true, 0;
	case OPT_TEXT: return fs_set_text(value), 0;
	case OPT_HOST: return host_file(value);
	case OPT_LATE: return host_late(value);
	case OPT_VANISH: return host_vanish(value);
	case OPT_FAULT: return faults_add(value);
	case OPT_COSTS: return arg_costs = value, 0;
	case OPT_TRACE: return arg_trace = value, 0;
	case OPT_REPORT: return arg_report = value, 0;
	case OPT_REPORT_VFS: return arg_report_vfs = true, 0;
	case OPT_QUIET: return arg_quiet = true, 0;
	case OPT_CONTROL: return arg_control = value, 0;
	case OPT_USERNS: return arg_userns = true, 0;
	case OPT_KEEP: return n_keep < 15 ? arg_keep[n_keep++] = value, 0 : -EINVAL;
	case OPT_PRICES: return set_prices(value);
	default: return -EINVAL;
	}
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
		const struct option *o = options;

		*value = 0;
		if (sscanf(line, " %63[a-z-] = %447[^\n]", name, value) < 1)
			continue;
		while (o->name && strcmp(o->name, name) != 0)
			o++;
		r = o->name ? apply(o->val, must_dup(value)) : -EINVAL;
		if (r < 0)
			fprintf(stderr, "hostsim: %s: '%s' is no option of this kind\n", path,
				name);
	}
	fclose(f);
	return r;
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
	execvp(argv[0], argv);
	fprintf(stderr, "hostsim: cannot run '%s': %m\n", argv[0]);
	_exit(127);
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
	(void) faults_remove("all"); /* there is nothing that it could not find */
	faults_release(NULL, EIO);
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
		r = sandbox_show(model.cdev);
	if (r == 0)
		r = control_start(arg_control);
	return r;
}

int main(int argc, char **argv)
{
	char self[4096] = "";
	int option, r;

	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return control_ask(getenv("HOSTSIM_CONTROL") ?: arg_control, argc - 2, argv + 2);
	while ((option = getopt_long(argc, argv, "+h", options, NULL)) >= 0) {
		if (option == 'h') {
			printf("%s%s", help, control_help);
			return 0;
		}
		if (apply(option, optarg) < 0)
			return 125;
	}
	if (optind == argc) {
		fprintf(stderr, "hostsim: no COMMAND; see --help\n");
		return 125;
	}
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
	later_start();
	child = start(argv + optind);
	_exit(child < 0 ? 125 : finish());
}
