/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Carries out a script of sysfs operations and prints for each what came of it: result or errno,
 * text, and the uevents until it is quiet. Addresses are printed by the names of the command
 * line's PFs, numbers that depend on the machine as #, so that two hosts' outputs can be compared.
 *
 *   conform [--quiet-ms=N] SCRIPT A=0000:01:00.0 B=0000:02:00.0
 *
 * Lines: "write PATH TEXT", "read PATH", "link PATH", "exists PATH", "open PATH" (and keep it),
 * "close" (all), "silent write ..." (no uevents are shown). PATH is below /sys, or absolute.
 * TEXT: the rest of the line, with \n \0 \s (space); "*N" are N letters. In both: %{A} a PF's
 * address, %{A.3} its VF 3's, %{^A.3} the same in capitals, %{A.3:group} its IOMMU group.
 * No library but libc: link it statically to take it into a VM.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PFS_MAX = 4, GROUPS_MAX = 512, FDS_MAX = 16 };
static struct pf {
	char name[8], address[24];
	unsigned domain, rid, offset, stride, n;
} pfs[PFS_MAX];
static unsigned n_pfs, group_ids[GROUPS_MAX], n_groups;
static int fds[FDS_MAX], n_fds, uevents = -1, quiet_ms = 50;

static unsigned read_number(const struct pf *p, const char *attr)
{
	char path[256];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", p->address, attr);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%u", &n) != 1)
		fprintf(stderr, "conform: cannot read a number from %s\n", path);
	if (f)
		fclose(f);
	return n;
}

static void vf_address(const struct pf *p, unsigned i, char ret[static 24])
{
	unsigned rid = p->rid + p->offset + p->stride * i;

	snprintf(ret, 24, "%04x:%02x:%02x.%x", p->domain, rid >> 8 & 255, rid >> 3 & 31, rid & 7);
}

static bool add_pf(const char *text)
{
	struct pf *p = &pfs[n_pfs];
	unsigned bus, slot, function;

	if (n_pfs == PFS_MAX || sscanf(text, "%7[^=]=%23s", p->name, p->address) != 2 ||
	    sscanf(p->address, "%x:%x:%x.%x", &p->domain, &bus, &slot, &function) != 4)
		return false;
	p->rid = bus << 8 | slot << 3 | function;
	p->offset = read_number(p, "sriov_offset");
	p->stride = read_number(p, "sriov_stride");
	p->n = read_number(p, "sriov_totalvfs");
	n_pfs++;
	return true;
}

/* ---- names to numbers ---- */

/* "^A.3:group" */
static bool resolve(const char *name, char *ret, size_t size)
{
	bool capitals = *name == '^', group = strstr(name, ":group");
	char pf[8], path[128], target[256];
	unsigned vf;
	int n = sscanf(name + capitals, "%7[^.:].%u", pf, &vf);
	ssize_t len;

	for (unsigned i = 0; i < n_pfs; i++) {
		if (n < 1 || strcmp(pfs[i].name, pf) != 0)
			continue;
		snprintf(ret, size, "%s", pfs[i].address);
		if (n == 2)
			vf_address(&pfs[i], vf, ret);
		for (char *c = ret; capitals && *c; c++)
			*c = (char) toupper((unsigned char) *c);
		if (!group)
			return true;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.23s/iommu_group", ret);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = 0;
		snprintf(ret, size, "%s", strrchr(target, '/') ? strrchr(target, '/') + 1 : "?");
		return true;
	}
	return false;
}

static bool expand(const char *text, char *ret, size_t size)
{
	size_t n = 0;
	char name[32];

	while (*text && n + 64 < size) {
		if (sscanf(text, "%%{%31[^}]}", name) == 1) {
			if (!resolve(name, ret + n, size - n))
				return false;
			n += strlen(ret + n);
			text = strchr(text, '}') + 1;
		} else {
			ret[n++] = *text++;
		}
	}
	ret[n] = 0;
	return true;
}

/* ---- numbers to names ---- */

static unsigned group_name(unsigned id)
{
	unsigned i = 0;

	while (i < n_groups && group_ids[i] != id)
		i++;
	if (i == n_groups && n_groups < GROUPS_MAX)
		group_ids[n_groups++] = id;
	return i;
}

/* An address at the beginning of text becomes its name. Returns how much of text was used. */
static size_t put_address(const char *text, char *ret, size_t size)
{
	unsigned domain, bus, slot, function, rid;
	char again[24], digits[3];
	size_t len;

	if (sscanf(text, "%x:%2x:%2x.%1x", &domain, &bus, &slot, &function) != 4 ||
	    sscanf(text, "%*x:%*2x:%2[0-9a-fA-F].", digits) != 1)
		return 0;
	snprintf(again, sizeof(again), "%04x:%02x:%02x.%x", domain, bus, slot, function);
	len = strlen(again);
	if (strncasecmp(again, text, len) != 0)
		return 0;
	rid = bus << 8 | slot << 3 | function;
	for (unsigned i = 0; i < n_pfs; i++) {
		const struct pf *p = &pfs[i];

		if (p->domain == domain && p->rid == rid)
			return snprintf(ret, size, "%%{%s}", p->name), len;
		if (p->domain == domain && p->stride && rid >= p->rid + p->offset &&
		    (rid - p->rid - p->offset) % p->stride == 0 &&
		    (rid - p->rid - p->offset) / p->stride < p->n)
			return snprintf(ret, size, "%%{%s.%u}", p->name,
					(rid - p->rid - p->offset) / p->stride),
			       len;
	}
	return 0;
}

/* The way to a function from /devices: "pci0000:00/0000:00:01.0/" becomes ".../" */
static size_t put_bridges(const char *text, char *ret, size_t size)
{
	const char *end = text, *next;
	char name[32];

	if (strncmp(text, "pci", 3) != 0)
		return 0;
	while ((next = strchr(end, '/')) && isxdigit((unsigned char) next[1]) &&
	       !put_address(next + 1, name, sizeof(name)))
		end = next + 1;
	if (!next || !isxdigit((unsigned char) next[1]))
		return 0;
	snprintf(ret, size, "..");
	return (size_t) (next - text);
}

static size_t put_numbered(const char *text, char *ret, size_t size)
{
	static const struct {
		const char *before;
		bool is_group;
	} known[] = {
		{ "iommu_groups/", true }, { "virtual/vfio/", true },   { "DEVNAME=vfio/", true },
		{ "MAJOR=", false },       { "/wakeup/wakeup", false },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t len = strlen(known[i].before), digits = strspn(text + len, "0123456789");

		if (strncmp(text, known[i].before, len) != 0 || !digits)
			continue;
		if (known[i].is_group)
			snprintf(ret, size, "%sG%u", known[i].before,
				 group_name((unsigned) atoi(text + len)));
		else
			snprintf(ret, size, "%s#", known[i].before);
		return len + digits;
	}
	return 0;
}

static void normalise(const char *text, char *ret, size_t size)
{
	size_t n = 0;
	char before = '/';

	while (*text && n + 64 < size) {
		size_t used = put_numbered(text, ret + n, size - n);

		if (!used && !isalnum((unsigned char) before))
			used = put_bridges(text, ret + n, size - n);
		if (!used && !isalnum((unsigned char) before))
			used = put_address(text, ret + n, size - n);
		if (used) {
			n += strlen(ret + n);
		} else if (*text == '\n') {
			n += (size_t) snprintf(ret + n, size - n, "\\n");
			used = 1;
		} else {
			ret[n++] = *text;
			used = 1;
		}
		before = text[used - 1];
		text += used;
	}
	ret[n] = 0;
}

/* ---- uevents ---- */

static void open_uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int size = 64 << 20;

	uevents = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (uevents < 0 || bind(uevents, (struct sockaddr *) &address, sizeof(address)) < 0) {
		perror("conform: uevents");
		exit(1);
	}
	/* as much as one may have */
	if (setsockopt(uevents, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		(void) setsockopt(uevents, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

/* Net, block and other devices are not the bus's business. */
static bool is_ours(const char *message, size_t n)
{
	static const char *const subsystems[] = { "pci", "vfio", "vfio-dev", "wakeup" };

	for (const char *p = message; p < message + n; p += strlen(p) + 1)
		for (size_t i = 0; i < sizeof(subsystems) / sizeof(*subsystems); i++)
			if (strncmp(p, "SUBSYSTEM=", 10) == 0 && !strcmp(p + 10, subsystems[i]))
				return true;
	return false;
}

static void print_uevent(const char *message, size_t n)
{
	static const char *const unsaid[] = { "ACTION=", "DEVPATH=", "SEQNUM=" };
	char text[4096];

	normalise(message, text, sizeof(text));
	if (!strstr(text, "%{") && !strstr(text, "virtual/vfio"))
		return; /* of some other function */
	printf("  %s", text);
	for (const char *p = message + strlen(message) + 1; p < message + n; p += strlen(p) + 1) {
		bool said = true;

		for (size_t i = 0; i < sizeof(unsaid) / sizeof(*unsaid); i++)
			said = said && strncmp(p, unsaid[i], strlen(unsaid[i])) != 0;
		if (!said)
			continue;
		normalise(p, text, sizeof(text));
		printf(" %s", text);
	}
	printf("\n");
}

static void take_uevents(bool silent)
{
	struct pollfd poll_fd = { .fd = uevents, .events = POLLIN };
	char message[8193];

	while (poll(&poll_fd, 1, quiet_ms) > 0) {
		ssize_t n = recv(uevents, message, sizeof(message) - 1, MSG_DONTWAIT);

		if (n < 0 && errno == ENOBUFS)
			printf("  ENOBUFS\n");
		if (n <= 0 || silent)
			continue;
		message[n] = 0;
		if (is_ours(message, (size_t) n))
			print_uevent(message, (size_t) n);
	}
}

/* ---- operations ---- */

static size_t unescape(const char *text, char *ret, size_t size)
{
	size_t n = 0;

	if (*text == '*') {
		n = (size_t) atoi(text + 1);
		n = n < size ? n : size;
		memset(ret, 'a', n);
		return n;
	}
	for (; *text && n < size; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			ret[n++] = *text == 'n'   ? '\n'
				   : *text == '0' ? 0
				   : *text == 's' ? ' '
						  : *text;
		} else {
			ret[n++] = *text;
		}
	}
	return n;
}

static void print_result(long r, const char *text)
{
	char shown[8192];

	if (r < 0) {
		printf(" = %s\n", strerrorname_np(errno));
		return;
	}
	normalise(text, shown, sizeof(shown));
	printf(" = ok%s%s%s\n", *text ? " \"" : "", shown, *text ? "\"" : "");
}

static void do_write(const char *path, const char *argument)
{
	char expanded[8192], text[8192];
	ssize_t n = -1;
	size_t len;
	int fd;

	expand(argument, expanded, sizeof(expanded));
	len = unescape(expanded, text, sizeof(text));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		n = write(fd, text, len);
	if (fd < 0)
		printf(" (open)");
	else if (n >= 0 && (size_t) n != len)
		printf(" (%zd of %zu)", n, len);
	print_result(n, "");
	if (fd >= 0)
		close(fd);
}

static void do_read(const char *path, bool link)
{
	char text[4097] = "";
	ssize_t n = -1;
	int fd;

	if (link) {
		n = readlink(path, text, sizeof(text) - 1);
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			printf(" (open)");
		else
			n = read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	print_result(n, text);
}

static void do_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	print_result(fd, "");
	if (fd >= 0 && n_fds < FDS_MAX)
		fds[n_fds++] = fd;
}

static bool carry_out(const char *line)
{
	char op[16], path[512], expanded[1024], where[1100];
	bool silent = strncmp(line, "silent ", 7) == 0;
	int used = 0, n;

	line += silent ? 7 : 0;
	n = sscanf(line, "%15s %511s%n", op, path, &used);
	printf("%s", line);
	if (n == 1 && strcmp(op, "close") == 0) {
		while (n_fds)
			close(fds[--n_fds]);
		printf(" = ok\n");
		return true;
	}
	if (n < 2 || !expand(path, expanded, sizeof(expanded)))
		return false;
	snprintf(where, sizeof(where), "%s%s", *expanded == '/' ? "" : "/sys/", expanded);
	if (strcmp(op, "write") == 0)
		do_write(where, line + used + (line[used] == ' '));
	else if (strcmp(op, "read") == 0 || strcmp(op, "link") == 0)
		do_read(where, *op == 'l');
	else if (strcmp(op, "exists") == 0)
		print_result(access(where, F_OK), "");
	else if (strcmp(op, "open") == 0)
		do_open(where);
	else
		return false;
	fflush(stdout);
	take_uevents(silent);
	return true;
}

int main(int argc, char **argv)
{
	char line[1024];
	unsigned number = 0;
	FILE *script;

	if (argc > 1 && sscanf(argv[1], "--quiet-ms=%d", &quiet_ms) == 1)
		argc--, argv++;
	script = argc > 1 ? fopen(argv[1], "re") : NULL;
	if (!script) {
		fprintf(stderr, "usage: conform [--quiet-ms=N] SCRIPT NAME=ADDRESS...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		if (!add_pf(argv[i])) {
			fprintf(stderr, "conform: '%s' is not NAME=ADDRESS of a PF\n", argv[i]);
			return 2;
		}
	open_uevents();
	while (fgets(line, sizeof(line), script)) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#') {
			printf("%s\n", line);
			continue;
		}
		if (!carry_out(line)) {
			fprintf(stderr, "conform: line %u: cannot do '%s'\n", number, line);
			return 2;
		}
	}
	return 0;
}
