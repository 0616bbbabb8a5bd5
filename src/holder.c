/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "holder.h"

enum { LINK_LEN = 512 };

static const char agent_name[] = "vf-restored";

/* One process as we look at it. */
struct process {
	int dir; /* /proc/PID */
	int dev;
	int32_t pid;
	bool known; /* uid and name are there */
	uint32_t uid;
	char name[MANIFEST_NAME_MAX + 1];
};

static void close_directory(DIR **directory)
{
	if (*directory)
		(void) closedir(*directory); /* only read */
}

static void close_stream(FILE **stream)
{
	if (*stream)
		(void) fclose(*stream); /* only read */
}

static FILE *open_stream(int dir, const char *name)
{
	_cleanup_(close_fd) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (stream)
		(void) TAKE_FD(fd); /* the stream's now */
	return stream;
}

/* ---- Names ---- */

/* Other bytes than these have no place in an owner's name. */
static void clean_name(char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char) *name) && !strchr("_.:@-", *name))
			*name = '-';
}

/* systemd's \x2d and the like. In place. */
static void unescape(char *name)
{
	char *to = name;
	unsigned byte;

	while (*name) {
		if (sscanf(name, "\\x%2x", &byte) == 1) {
			*to++ = (char) byte;
			name += strlen("\\x2d");
		} else {
			*to++ = *name++;
		}
	}
	*to = '\0';
}

/* Cuts .service or .scope off; false when it is no unit that has processes. */
static bool cut_suffix(char *component)
{
	char *dot = strrchr(component, '.');

	if (!dot || dot == component ||
	    (strcmp(dot, ".service") != 0 && strcmp(dot, ".scope") != 0))
		return false;
	*dot = '\0';
	return true;
}

/* The innermost unit of a cgroup's path: what is below it, the unit itself made (Delegate=). */
static bool name_from_cgroup(char *path, char ret[static MANIFEST_NAME_MAX + 1])
{
	char *unit = NULL;

	for (char *c; (c = strsep(&path, "/\n"));)
		if (cut_suffix(c))
			unit = c;
	if (!unit)
		return false;
	unescape(unit);
	clean_name(unit);
	return snprintf(ret, MANIFEST_NAME_MAX + 1, "%s", unit) <= MANIFEST_NAME_MAX;
}

static bool name_from_unit(int dir, char ret[static MANIFEST_NAME_MAX + 1])
{
	_cleanup_(close_stream) FILE *stream = open_stream(dir, "cgroup");
	_cleanup_(free_pointer) char *line = NULL;
	size_t size = 0;

	while (stream && getline(&line, &size, stream) >= 0) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (controllers[1] && strcmp(controllers + 1, "name=systemd") != 0)
			continue;
		if (name_from_cgroup(path, ret))
			return true;
	}
	return false;
}

static void name_from_command(const struct process *p, char ret[static MANIFEST_NAME_MAX + 1])
{
	_cleanup_(close_stream) FILE *stream = open_stream(p->dir, "comm");
	char command[17] = "";

	if (!stream || fscanf(stream, "%16[^\n]", command) != 1)
		strcpy(command, "process");
	(void) snprintf(ret, MANIFEST_NAME_MAX + 1, "%s-%d", command, p->pid); /* fits */
	clean_name(ret);
}

/* The effective one, which is what SO_PEERCRED will show of it. */
static bool read_uid(int dir, uint32_t *ret)
{
	_cleanup_(close_stream) FILE *stream = open_stream(dir, "status");
	_cleanup_(free_pointer) char *line = NULL;
	size_t size = 0;

	while (stream && getline(&line, &size, stream) >= 0)
		if (sscanf(line, "Uid: %*u %u", ret) == 1)
			return true;
	return false;
}

/* False: it ended. */
static bool get_acquainted(struct process *p)
{
	if (p->known)
		return true;
	if (!read_uid(p->dir, &p->uid))
		return false;
	if (!name_from_unit(p->dir, p->name))
		name_from_command(p, p->name);
	p->known = true;
	return true;
}

/* ---- Open files ---- */

/* Is what the process holds the node that we know by this name? Its own /dev may have another
 * inode for it (mknod in a jail), but never another device number. Only fixtures have no devices. */
static bool is_same_node(int fds, const char *fd, int dev, const char *node)
{
	struct stat held, known;

	if (fstatat(fds, fd, &held, 0) < 0 || fstatat(dev, node, &known, 0) < 0)
		return false;
	if (S_ISCHR(known.st_mode))
		return S_ISCHR(held.st_mode) && held.st_rdev == known.st_rdev;
	return held.st_dev == known.st_dev && held.st_ino == known.st_ino;
}

/* "…/vfio/devices/vfio3", "…/vfio/12", with "noiommu-" before the last or not. The text before is
 * the holder's view of the file system, not ours. */
static bool parse_node(const char *target, struct holder *h, char ret_node[static LINK_LEN])
{
	const char *vfio = NULL, *next = target;
	int length = 0;

	while ((next = strstr(next, "/vfio/")))
		vfio = next++;
	if (!vfio)
		return false;
	vfio++;
	h->kind = HOLDER_CDEV;
	if (sscanf(vfio, "vfio/devices/vfio%u%n", &h->number, &length) != 1 &&
	    sscanf(vfio, "vfio/devices/noiommu-vfio%u%n", &h->number, &length) != 1) {
		h->kind = HOLDER_GROUP;
		if (sscanf(vfio, "vfio/%u%n", &h->number, &length) != 1 &&
		    sscanf(vfio, "vfio/noiommu-%u%n", &h->number, &length) != 1)
			return false;
	}
	(void) snprintf(ret_node, LINK_LEN, "%.*s", length, vfio); /* fits */
	return vfio[length] == '\0' || strcmp(vfio + length, " (deleted)") == 0;
}

/* A device that came out of a group's fd says in fdinfo whose it is, from Linux 6.16 on
 * (drivers/vfio/vfio_main.c: vfio_device_show_fdinfo). */
static bool read_fdinfo(int dir, const char *fd, struct holder *h)
{
	_cleanup_(close_stream) FILE *stream = NULL;
	_cleanup_(free_pointer) char *line = NULL;
	char name[64];
	size_t size = 0;

	(void) snprintf(name, sizeof(name), "fdinfo/%.40s", fd); /* fits */
	stream = open_stream(dir, name);
	while (stream && getline(&line, &size, stream) >= 0) {
		char *slash = strrchr(line, '/');

		if (strncmp(line, "vfio-device-syspath:", strlen("vfio-device-syspath:")) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		h->kind = HOLDER_FUNCTION;
		return slash && bdf_parse(slash + 1, &h->address) == 0;
	}
	return false;
}

static int add_holder(struct holder_list *list, const struct holder *h)
{
	struct holder *more;

	if ((list->n_holders & (list->n_holders - 1)) == 0) { /* full at each power of two */
		more = reallocarray(list->holders, list->n_holders ? 2 * list->n_holders : 1,
				    sizeof(*more));
		if (!more)
			return -ENOMEM;
		list->holders = more;
	}
	list->holders[list->n_holders++] = *h;
	return 0;
}

static int look_at_fd(struct process *p, int fds, const char *fd, struct holder_list *list)
{
	struct holder h = { .pid = p->pid };
	char target[LINK_LEN], node[LINK_LEN];
	ssize_t length = readlinkat(fds, fd, target, sizeof(target) - 1);

	if (length <= 0)
		return 0;
	target[length] = '\0';
	if (strcmp(target, "anon_inode:[vfio-device]") == 0) {
		if (!read_fdinfo(p->dir, fd, &h))
			return 0;
	} else if (!parse_node(target, &h, node) || !is_same_node(fds, fd, p->dev, node)) {
		return 0;
	}
	if (!get_acquainted(p) || strcmp(p->name, agent_name) == 0)
		return 0;
	h.uid = p->uid;
	strcpy(h.name, p->name);
	return add_holder(list, &h);
}

static int look_at_process(int proc, const char *name, int dev, struct holder_list *list)
{
	const int open_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	_cleanup_(close_fd) int dir = openat(proc, name, O_PATH | open_flags);
	_cleanup_(close_fd) int fd = dir < 0 ? -1 : openat(dir, "fd", open_flags);
	struct process p = { .dir = dir, .dev = dev, .pid = atoi(name) };
	_cleanup_(close_directory) DIR *fds = NULL;
	int r = 0;

	if (fd < 0) {
		list->n_unseen += errno == EACCES || errno == EPERM;
		return 0;
	}
	fds = fdopendir(fd);
	if (!fds)
		return -errno;
	(void) TAKE_FD(fd); /* the directory's now */
	for (struct dirent *e; r == 0 && (e = readdir(fds));)
		if (isdigit((unsigned char) e->d_name[0]))
			r = look_at_fd(&p, dirfd(fds), e->d_name, list);
	return r;
}

int holder_find_all(const struct walk_pass *pass, const char *procfs, const char *dev,
		    struct holder_list *ret)
{
	_cleanup_(holder_list_done) struct holder_list list = { 0 };
	_cleanup_(close_fd) int dev_fd = open(dev ?: "/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(close_directory) DIR *processes = NULL;
	int r = 0;

	processes = dev_fd < 0 ? NULL : opendir(procfs ?: "/proc");
	if (!processes)
		return -errno;
	for (struct dirent *e; r == 0 && (e = readdir(processes));)
		if (isdigit((unsigned char) e->d_name[0]))
			r = look_at_process(dirfd(processes), e->d_name, dev_fd, &list);
	if (r < 0)
		return r;
	*ret = TAKE_AS(list, (struct holder_list){ 0 });
	return 0;
}

int holder_add_by_hand(struct holder_list *list, struct bdf address, const char *name)
{
	struct holder h = { .kind = HOLDER_FUNCTION, .address = address };

	assert(strlen(name) <= MANIFEST_NAME_MAX);
	strcpy(h.name, name);
	return add_holder(list, &h);
}

void holder_list_done(struct holder_list *list)
{
	free(list->holders);
	*list = (struct holder_list){ 0 };
}
