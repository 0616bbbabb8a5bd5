/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/filter.h>
#include <linux/netlink.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <string.h>
#include <sys/socket.h>
#include "uevent-trust.h"
#include "uevent.h"

/* netlink multicast group of the kernel's own events; group 2 is udevd's (FACTS 5) */
enum { KERNEL_GROUP = 1 };

/* Only what a hot path can use: messages that begin with "add", "bind" or "remo". The filter runs
 * in the sender, so the rest of a storm costs us neither memory nor a wakeup. */
static int set_filter(int fd)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x61646440 /* "add@" */, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x62696e64 /* "bind" */, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x72656d6f /* "remo" */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { ELEMENTSOF(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno
											   : 0;
}

static int set_buffer(int fd, size_t buffer_size)
{
	int size = buffer_size > INT32_MAX / 2 ? INT32_MAX / 2 : (int) buffer_size;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) == 0)
		return 0;
	return setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0 ? -errno : 0;
}

static void free_socket(struct nl_sock **socket)
{
	nl_socket_free(*socket);
}

int uevents_open(struct uevents *u, size_t buffer_size)
{
	_cleanup_(free_socket) struct nl_sock *socket = nl_socket_alloc();
	int r, fd;

	if (!socket)
		return -ENOMEM;
	nl_join_groups(socket, KERNEL_GROUP);
	if (nl_connect(socket, NETLINK_KOBJECT_UEVENT) < 0)
		return errno ? -errno : -EPROTONOSUPPORT;
	fd = nl_socket_get_fd(socket);
	if (nl_socket_set_nonblocking(socket) < 0 || nl_socket_set_passcred(socket, 1) < 0)
		return -EIO;
	r = set_buffer(fd, buffer_size);
	if (!r)
		r = set_filter(fd);
	if (r)
		return r;
	*u = (struct uevents){ .socket = TAKE(socket), .fd = fd };
	return 0;
}

void uevents_close(struct uevents *u)
{
	if (u->socket)
		nl_socket_free(u->socket);
	*u = (struct uevents){ .fd = -1 };
}

static bool is_trusted(struct msghdr *m, const struct sockaddr_nl *from)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct ucred cred;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS ||
	    m->msg_namelen != sizeof(*from) || from->nl_groups != KERNEL_GROUP)
		return false;
	memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	return uevent_is_from_kernel(from->nl_pid, cred.pid, cred.uid);
}

/* One datagram: its size, or 0 when it was not to be used, or -errno. */
static ssize_t receive(struct uevents *u, char message[static UEVENT_SIZE_MAX])
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct sockaddr_nl from = { 0 };
	struct iovec vector = { message, UEVENT_SIZE_MAX - 1 };
	struct msghdr m = { .msg_name = &from,
			    .msg_namelen = sizeof(from),
			    .msg_iov = &vector,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t k = recvmsg(u->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (k < 0)
		return -errno;
	u->n_received++;
	if (!is_trusted(&m, &from)) {
		u->n_untrusted++;
		return 0;
	}
	return m.msg_flags & MSG_TRUNC ? 0 : k;
}

int uevents_next(struct uevents *u, char message[static UEVENT_SIZE_MAX], struct uevent *ret)
{
	for (;;) {
		ssize_t k = receive(u, message);

		if (k == -EAGAIN)
			return UEVENT_E_NOTHING;
		if (k == -ENOBUFS) {
			u->n_overruns++;
			return UEVENT_E_OVERRUN;
		}
		if (k < 0 && k != -EINTR)
			return (int) k;
		if (k > 0 && !uevent_parse(message, (size_t) k, ret))
			return 0;
	}
}

struct keys {
	const char *subsystem, *devname, *driver, *slot, *seqnum;
};

/* The value of KEY= when text is that. */
static bool take_key(const char *text, const char *key, const char **ret)
{
	size_t len = strlen(key);

	if (strncmp(text, key, len) != 0)
		return false;
	*ret = text + len;
	return true;
}

static void read_keys(char *text, const char *end, struct keys *ret)
{
	for (; text < end; text += strlen(text) + 1)
		(void) (take_key(text, "SUBSYSTEM=", &ret->subsystem) || /* the first that fits */
			take_key(text, "DEVNAME=", &ret->devname) ||
			take_key(text, "DRIVER=", &ret->driver) ||
			take_key(text, "PCI_SLOT_NAME=", &ret->slot) ||
			take_key(text, "SEQNUM=", &ret->seqnum));
}

static bool read_number(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned) (*p - '0');

		if (n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*ret = n;
	return p > text && !*p;
}

/* "<prefix>[noiommu-]<infix><number>" */
static bool read_node(const char *name, const char *prefix, const char *infix, struct uevent *e)
{
	uint64_t number;

	if (!take_key(name, prefix, &name))
		return false;
	e->noiommu = take_key(name, "noiommu-", &name);
	if (!take_key(name, infix, &name) || !read_number(name, UINT32_MAX, &number))
		return false;
	e->number = (unsigned) number;
	return true;
}

/* ".../<bdf>/vfio-dev/vfio<n>", as /sys/class/vfio-dev's links: the third last component. */
static bool read_vfio_path(char *devpath, struct bdf *ret)
{
	char *at = strstr(devpath, "/vfio-dev/");

	if (!at || strchr(at + strlen("/vfio-dev/"), '/'))
		return false;
	*at = '\0';
	at = strrchr(devpath, '/');
	return at && !bdf_parse(at + 1, ret);
}

static void read_pci(const char *action, const struct keys *keys, struct uevent *e)
{
	if (!keys->slot || bdf_parse(keys->slot, &e->bdf))
		return;
	if (!strcmp(action, "add"))
		e->kind = UEVENT_PCI_ADD;
	else if (!strcmp(action, "remove"))
		e->kind = UEVENT_PCI_REMOVE;
	else if (!strcmp(action, "bind") && keys->driver) {
		e->kind = UEVENT_PCI_BIND;
		e->driver = keys->driver;
	}
}

static void read_vfio_dev(const char *action, char *devpath, const struct keys *keys,
			  struct uevent *e)
{
	bool is_add = !strcmp(action, "add");

	if ((!is_add && strcmp(action, "remove") != 0) || !read_vfio_path(devpath, &e->bdf))
		return;
	if (is_add && keys->devname) {
		if (!read_node(keys->devname, "vfio/devices/", "vfio", e))
			return;
		e->has_node = true;
	}
	e->kind = is_add ? UEVENT_DEVICE_ADD : UEVENT_DEVICE_REMOVE;
}

int uevent_parse(char *message, size_t size, struct uevent *ret)
{
	char *devpath;
	struct keys keys = { 0 };

	*ret = (struct uevent){ 0 };
	message[size] = '\0';
	devpath = memchr(message, '@', strlen(message));
	if (!devpath || devpath == message || devpath[1] != '/')
		return UEVENT_E_MALFORMED;
	*devpath++ = '\0';
	read_keys(devpath + strlen(devpath) + 1, message + size, &keys);
	if (!keys.subsystem || !keys.seqnum || !read_number(keys.seqnum, UINT64_MAX, &ret->seqnum))
		return UEVENT_E_MALFORMED;
	if (!strcmp(keys.subsystem, "pci"))
		read_pci(message, &keys, ret);
	else if (!strcmp(keys.subsystem, "vfio-dev"))
		read_vfio_dev(message, devpath, &keys, ret);
	else if (!strcmp(keys.subsystem, "vfio") && !strcmp(message, "add") && keys.devname &&
		 read_node(keys.devname, "vfio/", "", ret))
		ret->kind = UEVENT_GROUP_ADD;
	return 0;
}
