/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sandbox.h"

static int fail(const char *what, const char *where)
{
	int r = -errno;

	fprintf(stderr, "hostsim: cannot %s %s: %m\n", what, where);
	return r;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return fail("open", path);
	n = write(fd, text, strlen(text));
	if (n < 0)
		n = fail("write", path);
	close(fd);
	return n < 0 ? (int) n : 0;
}

static int become_root(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;

	if (unshare(CLONE_NEWUSER) < 0)
		return fail("make", "a user namespace");
	r = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (r == 0)
		r = write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return r == 0 ? write_file("/proc/self/gid_map", map) : r;
}

static bool is_kept(const char *dir, const char *const *keep)
{
	for (; *keep; keep++)
		if (strcmp(*keep, dir) == 0)
			return true;
	return false;
}

static int mount_tmpfs(const char *where)
{
	return mount("hostsim", where, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0
		       ? fail("mount a tmpfs at", where)
		       : 0;
}

/* Shows an existing file or directory at a new place; what isn't there is left out. */
static int show(const char *what, const char *where)
{
	struct stat s;
	int fd;

	if (stat(what, &s) < 0)
		return 0;
	if (S_ISDIR(s.st_mode)) {
		(void) mkdir(where, 0755); /* may be there */
	} else {
		fd = open(where, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0)
			return fail("create", where);
		close(fd);
	}
	return mount(what, where, NULL, MS_BIND | MS_REC, NULL) < 0 ? fail("show", where) : 0;
}

/* A /dev without the machine's VFIO nodes, in which /dev/vfio can be made */
static int make_dev(void)
{
	static const char *const shown[] = { "null", "zero", "full",   "random",   "urandom",
					     "tty",  "fuse", "kmsg",   "kvm",      "net",
					     "pts",  "shm",  "mqueue", "hugepages" };
	static const char *const links[][2] = {
		{ "/proc/self/fd", "fd" }, { "fd/0", "stdin" },    { "fd/1", "stdout" },
		{ "fd/2", "stderr" },      { "pts/ptmx", "ptmx" },
	};
	char from[64], to[64];
	int r = mkdir("/run/hostsim/dev", 0755) < 0 ? fail("make", "/run/hostsim/dev") : 0;

	if (r == 0)
		r = mount_tmpfs("/run/hostsim/dev");
	for (size_t i = 0; r == 0 && i < sizeof(shown) / sizeof(*shown); i++) {
		snprintf(from, sizeof(from), "/dev/%s", shown[i]);
		snprintf(to, sizeof(to), "/run/hostsim/dev/%s", shown[i]);
		r = show(from, to);
	}
	for (size_t i = 0; r == 0 && i < sizeof(links) / sizeof(*links); i++) {
		snprintf(to, sizeof(to), "/run/hostsim/dev/%s", links[i][1]);
		if (symlink(links[i][0], to) < 0)
			r = fail("make", to);
	}
	if (r == 0 && mount("/run/hostsim/dev", "/dev", NULL, MS_MOVE, NULL) < 0)
		r = fail("show", "/dev");
	return r;
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	(void) ioctl(fd, SIOCSIFFLAGS, &request); /* nobody needs it much */
	close(fd);
}

int sandbox_enter(bool userns, const char *const *keep)
{
	static const char *const emptied[] = { "/run", "/var/lib", "/etc/driverctl.d" };
	int r = userns || geteuid() != 0 ? become_root() : 0;

	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0)
		return fail("make", "mount and network namespaces");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail("make private", "/");
	loopback_up();
	for (size_t i = 0; r == 0 && i < sizeof(emptied) / sizeof(*emptied); i++)
		if (!is_kept(emptied[i], keep) && access(emptied[i], F_OK) == 0)
			r = mount_tmpfs(emptied[i]);
	(void) mkdir("/run/hostsim", 0755); /* is there when /run is kept */
	(void) mkdir("/run/hostsim/fs", 0755);
	return r == 0 ? make_dev() : r;
}

int sandbox_show(bool with_iommufd)
{
	int fd = -1;

	if (unshare(CLONE_NEWNS) < 0)
		return fail("make", "a mount namespace");
	if (mount("/run/hostsim/fs/sys", "/sys", NULL, MS_BIND, NULL) < 0)
		return fail("show", "/sys");
	if (mkdir("/dev/vfio", 0755) < 0 ||
	    mount("/run/hostsim/fs/vfio", "/dev/vfio", NULL, MS_BIND, NULL) < 0)
		return fail("show", "/dev/vfio");
	if (with_iommufd)
		fd = open("/dev/iommu", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return 0;
}

int sandbox_fake_modprobe(void)
{
	static const char script[] = "#!/bin/sh\n"
				     "for word; do name=$word; done\n"
				     "[ -d \"/sys/bus/pci/drivers/$name\" ]\n";
	const char *path = access("/sbin/modprobe", F_OK) == 0 ? "/sbin/modprobe"
							       : "/usr/sbin/modprobe";
	int fd = open("/run/hostsim/modprobe", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, script, sizeof(script) - 1) < 0)
		return fail("write", "/run/hostsim/modprobe");
	close(fd);
	return mount("/run/hostsim/modprobe", path, NULL, MS_BIND, NULL) < 0 ? fail("show", path)
									     : 0;
}

static bool kill_all(const struct stat *ours)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t) atoi(entry->d_name);
		char path[64];
		struct stat theirs;

		if (pid <= 0 || pid == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int) pid);
		if (stat(path, &theirs) < 0 || theirs.st_ino != ours->st_ino ||
		    theirs.st_dev != ours->st_dev)
			continue;
		found = true;
		(void) kill(pid, SIGKILL); /* may be gone by itself */
	}
	if (dir)
		closedir(dir);
	return found;
}

void sandbox_kill_rest(void)
{
	struct timespec nap = { .tv_nsec = 5000000 };
	struct stat ours;

	if (stat("/proc/self/ns/net", &ours) < 0)
		return;
	for (unsigned i = 0; i < 400 && kill_all(&ours); i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		nanosleep(&nap, NULL);
	}
}
