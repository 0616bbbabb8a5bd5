/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* touches [-o FILE] [-b KIB] COMMAND…: count what a command, its threads and its children touch in
 * sysfs, by kprobe events on kernfs, and print it as one JSON object:
 *
 *   directory_reads     getdents calls that reached a directory ("directories": by name)
 *   lookups             names looked up that were not in the dentry cache, which is emptied
 *                       before: each name counts once, as a lazy sysfs would make its node once
 *   vf_nodes            of these, names below a VF's directory ("vf_entries": by name)
 *   vf_names            of these, the VF directories and links themselves
 *   vf_directory_reads  of the directory reads, those of a VF's directory or below
 *   writes              writes to files ("written": by name)
 *
 * Exit code: the command's; 125 when counting failed or events were lost (then no number is
 * printed). A VF is what has a physfn before or after the command.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILED 125
#define TRACING "/sys/kernel/tracing/"
#define INSTANCE TRACING "instances/touches/"
#define PCI_DEVICES "/sys/bus/pci/devices"
#define ANCESTORS 3

struct count {
	char *name;
	unsigned long n;
};

struct event {
	char kind; /* l(ookup), r(eaddir), w(rite) */
	char *name;
	char *ancestors[ANCESTORS]; /* parent first */
};

static void *vfs; /* tree of VF addresses */
static void *directories, *entries, *vf_entries, *written;
static unsigned long n_directory_reads, n_vf_directory_reads, n_lookups, n_vf_nodes, n_vf_names,
	n_writes;

/* --- small helpers -------------------------------------------------------------------------- */

static void put(const char *path, int flags, const char *format, ...)
{
	char text[4096];
	va_list args;
	int fd, n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);

	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		err(FAILED, "%s", path);
	if (write(fd, text, n) != n)
		err(FAILED, "writing '%s' to %s", text, path);
	close(fd);
}

static FILE *open_read(const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f)
		err(FAILED, "%s", path);
	return f;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct count *) a)->name, ((const struct count *) b)->name);
}

static void count(void **tree, const char *name)
{
	struct count *key = calloc(1, sizeof *key), **found;

	key->name = strdup(name);
	found = tsearch(key, tree, compare);
	(*found)->n++;
	if (*found != key) {
		free(key->name);
		free(key);
	}
}

static bool is_vf(const char *name)
{
	struct count key = { .name = (char *) name };

	return tfind(&key, &vfs, compare);
}

static void find_vfs(void)
{
	DIR *dir = opendir(PCI_DEVICES);
	struct dirent *entry;
	char path[512];

	if (!dir)
		err(FAILED, PCI_DEVICES);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof path, PCI_DEVICES "/%s/physfn", entry->d_name);
		if (entry->d_name[0] != '.' && access(path, F_OK) == 0)
			count(&vfs, entry->d_name);
	}
	closedir(dir);
}

/* --- probes --------------------------------------------------------------------------------- */

static void remove_probes(void)
{
	static const char *const names[] = { "lookup", "readdir", "write" };
	char path[256];

	if (access(INSTANCE, F_OK) == 0) {
		if (access(INSTANCE "events/touches", F_OK) == 0)
			put(INSTANCE "events/touches/enable", 0, "0");
		rmdir(INSTANCE);
	}
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, TRACING "events/touches/%s", names[i]);
		if (access(path, F_OK) == 0)
			put(TRACING "kprobe_events", O_APPEND, "-:touches/%s", names[i]);
	}
}

/* The kernel resolves %pd and %pD to offsets and shows them: the offset of d_name.name in struct
 * dentry, that of f_path.dentry in struct file. */
static void find_offsets(unsigned *ret_name, unsigned *ret_file_dentry)
{
	char line[1024], *at;
	FILE *f;

	*ret_name = *ret_file_dentry = 0;
	put(TRACING "kprobe_events", O_APPEND,
	    "p:touches/readdir kernfs_fop_readdir name=$arg1:%%pD");
	f = open_read(TRACING "kprobe_events");
	while (fgets(line, sizeof line, f)) {
		at = strstr(line, "touches/readdir") ? strstr(line, "name=+0x0(") : NULL;
		if (at)
			sscanf(at, "name=+0x0(+%i(+%i(", (int *) ret_name, (int *) ret_file_dentry);
	}
	fclose(f);
	put(TRACING "kprobe_events", O_APPEND, "-:touches/readdir");
	if (!*ret_name || !*ret_file_dentry)
		errx(FAILED, "this kernel's kprobe events do not know %%pD");
}

/* name=… and its ancestors p1=… p2=… of the dentry at the given fetch expression */
static void add_probe(const char *event, const char *function, const char *dentry, unsigned name,
		      unsigned parent)
{
	char fetch[256], command[2048];
	int n;

	snprintf(fetch, sizeof fetch, "%s", dentry);
	n = snprintf(command, sizeof command, "p:touches/%s %s name=+0(+%u(%s)):string", event,
		     function, name, fetch);
	for (unsigned i = 1; i <= ANCESTORS; i++) {
		char up[256];

		snprintf(up, sizeof up, "+%u(%.200s)", parent, fetch);
		memcpy(fetch, up, sizeof up);
		n += snprintf(command + n, sizeof command - n, " p%u=+0(+%u(%s)):string", i, name,
			      fetch);
	}
	put(TRACING "kprobe_events", O_APPEND, "%s", command);
}

static void add_probes(unsigned name, unsigned file_dentry, unsigned parent)
{
	char of_file[64], of_iocb[64];

	snprintf(of_file, sizeof of_file, "+%u($arg1)", file_dentry);
	snprintf(of_iocb, sizeof of_iocb, "+%u(+0($arg1))", file_dentry); /* ki_filp is first */
	add_probe("lookup", "kernfs_iop_lookup", "$arg2", name, parent);
	add_probe("readdir", "kernfs_fop_readdir", of_file, name, parent);
	add_probe("write", "kernfs_fop_write_iter", of_iocb, name, parent);
}

static void make_instance(unsigned kib, pid_t pid)
{
	if (mkdir(INSTANCE, 0700) < 0)
		err(FAILED, INSTANCE);
	put(INSTANCE "buffer_size_kb", 0, "%u", kib);
	put(INSTANCE "options/event-fork", 0, "1");
	put(INSTANCE "options/context-info", 0, "0");
	put(INSTANCE "set_event_pid", 0, "%d", pid);
	put(INSTANCE "events/touches/enable", 0, "1");
}

/* --- reading what was recorded -------------------------------------------------------------- */

static char *quoted(char *line, const char *key)
{
	char *start = strstr(line, key), *end;

	if (!start || start[strlen(key)] != '"')
		return NULL; /* a string that could not be read shows as (fault) */
	start += strlen(key) + 1;
	end = strchr(start, '"');
	return end ? strndup(start, end - start) : NULL;
}

static bool parse(char *line, struct event *event)
{
	char key[8];

	*event = (struct event){ .kind = line[0], .name = quoted(line, " name=") };
	for (unsigned i = 0; i < ANCESTORS; i++) {
		snprintf(key, sizeof key, " p%u=", i + 1);
		event->ancestors[i] = quoted(line, key);
		if (!event->ancestors[i])
			return false;
	}
	return event->name;
}

static void forget(struct event *event)
{
	free(event->name);
	for (unsigned i = 0; i < ANCESTORS; i++)
		free(event->ancestors[i]);
}

static void take(const struct event *event)
{
	bool below = false;

	for (unsigned i = 0; i < ANCESTORS; i++)
		below = below || is_vf(event->ancestors[i]);

	if (event->kind == 'r') {
		n_directory_reads++;
		count(&directories, event->name);
		if (below || is_vf(event->name))
			n_vf_directory_reads++;
	} else if (event->kind == 'w') {
		n_writes++;
		count(&written, event->name);
	} else {
		n_lookups++;
		count(&entries, event->name);
		if (below) {
			n_vf_nodes++;
			count(&vf_entries, event->name);
		} else if (is_vf(event->name))
			n_vf_names++;
	}
}

/* Not strict: a wrong offset gives strings that could not be read, which is no error then. */
static void read_events(void (*use)(const struct event *event), bool strict)
{
	FILE *f = open_read(INSTANCE "trace");
	struct event event;
	char line[4096];

	while (fgets(line, sizeof line, f)) {
		if (!strstr(line, ": (kernfs_"))
			continue;
		if (parse(line, &event))
			use(&event);
		else if (strict)
			errx(FAILED, "event not understood: %s", line);
		forget(&event);
	}
	fclose(f);
}

/* Events the ring buffer or the probes lost */
static unsigned long lost_events(void)
{
	unsigned long lost = 0, value;
	char path[256], line[512];
	FILE *f;

	for (unsigned cpu = 0;; cpu++) {
		snprintf(path, sizeof path, INSTANCE "per_cpu/cpu%u/stats", cpu);
		if (access(path, F_OK) < 0)
			break;
		f = open_read(path);
		while (fgets(line, sizeof line, f))
			if (sscanf(line, "overrun: %lu", &value) == 1 ||
			    sscanf(line, "commit overrun: %lu", &value) == 1 ||
			    sscanf(line, "dropped events: %lu", &value) == 1)
				lost += value;
		fclose(f);
	}
	f = open_read(TRACING "kprobe_profile");
	while (fgets(line, sizeof line, f))
		if (strstr(line, "touches/") && sscanf(line, "%*s %*u %lu", &value) == 1)
			lost += value;
	fclose(f);
	return lost;
}

/* --- calibration: a known lookup tells whether the parent's offset is right ------------------ */

static bool calibrated;

static void expect_known(const struct event *event)
{
	calibrated = calibrated ||
		     (event->kind == 'l' && !strcmp(event->name, "touches-known") &&
		      !strcmp(event->ancestors[0], "mm") && !strcmp(event->ancestors[1], "kernel"));
}

static bool calibrate(unsigned name, unsigned file_dentry, unsigned parent)
{
	add_probes(name, file_dentry, parent);
	make_instance(64, getpid());
	(void) access("/sys/kernel/mm/touches-known", F_OK); /* the lookup is the point */
	put(INSTANCE "tracing_on", 0, "0");
	calibrated = false;
	read_events(expect_known, false);
	remove_probes();
	return calibrated;
}

/* d_parent lies right before d_name in all kernels known; else search */
static unsigned find_parent(unsigned name, unsigned file_dentry)
{
	if (calibrate(name, file_dentry, name - 16))
		return name - 16;
	for (unsigned offset = 0; offset < 192; offset += 8)
		if (calibrate(name, file_dentry, offset))
			return offset;
	errx(FAILED, "cannot find d_parent in this kernel's struct dentry");
}

/* --- output ----------------------------------------------------------------------------------- */

static FILE *out;
static bool first;

static void print_count(const void *node, VISIT when, int depth)
{
	const struct count *counted = *(struct count *const *) node;

	(void) depth;
	if (when != postorder && when != leaf)
		return;
	fprintf(out, "%s\"", first ? "" : ",");
	for (const char *c = counted->name; *c; c++)
		fprintf(out, strchr("\"\\", *c) ? "\\%c" : "%c", *c);
	fprintf(out, "\":%lu", counted->n);
	first = false;
}

static void print_tree(const char *name, const void *tree)
{
	fprintf(out, ",\"%s\":{", name);
	first = true;
	twalk(tree, print_count);
	fputc('}', out);
}

static void print(int exit_code)
{
	fprintf(out,
		"{\"exit\":%d,\"directory_reads\":%lu,\"vf_directory_reads\":%lu,\"lookups\":%lu,"
		"\"vf_nodes\":%lu,\"vf_names\":%lu,\"writes\":%lu",
		exit_code, n_directory_reads, n_vf_directory_reads, n_lookups, n_vf_nodes,
		n_vf_names, n_writes);
	print_tree("directories", directories);
	print_tree("entries", entries);
	print_tree("vf_entries", vf_entries);
	print_tree("written", written);
	fprintf(out, "}\n");
	if (fclose(out) != 0)
		err(FAILED, "writing the counts");
}

/* --- the command ------------------------------------------------------------------------------ */

static pid_t start_held(char **command, int *ret_go)
{
	int go[2];
	pid_t pid;
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		err(FAILED, "fork");
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(FAILED);
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	close(go[0]);
	*ret_go = go[1];
	return pid;
}

/* A dentry used lately gets a second chance from the first pass */
static void drop_dentries(void)
{
	for (unsigned i = 0; i < 3; i++)
		put("/proc/sys/vm/drop_caches", 0, "2");
}

int main(int argc, char **argv)
{
	unsigned name, file_dentry, parent, kib = 16384;
	unsigned long lost;
	int option, go, status, exit_code;
	pid_t pid;

	out = stdout;
	while ((option = getopt(argc, argv, "+o:b:")) >= 0) {
		if (option == 'b')
			kib = strtoul(optarg, NULL, 10);
		else if (option != 'o' || !(out = fopen(optarg, "we")))
			errx(FAILED, "usage: touches [-o FILE] [-b KIB] COMMAND…");
	}
	if (optind == argc)
		errx(FAILED, "usage: touches [-o FILE] [-b KIB] COMMAND…");

	remove_probes(); /* an earlier run may have been killed */
	find_offsets(&name, &file_dentry);
	parent = find_parent(name, file_dentry);
	find_vfs();

	pid = start_held(argv + optind, &go);
	add_probes(name, file_dentry, parent);
	make_instance(kib, pid);
	drop_dentries();
	if (write(go, "", 1) != 1 || waitpid(pid, &status, 0) < 0)
		err(FAILED, "running the command");
	put(INSTANCE "tracing_on", 0, "0");

	exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	find_vfs();
	lost = lost_events();
	if (lost == 0)
		read_events(take, true);
	remove_probes();
	if (lost > 0)
		errx(FAILED, "%lu events were lost; give a bigger buffer with -b", lost);
	print(exit_code);
	return exit_code;
}
