/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include "sysfs.h"

#define R (1U << SYSFS_READ)
#define W (1U << SYSFS_WRITE)
#define L (1U << SYSFS_LINK)

enum scope { SCOPE_PF, SCOPE_VF, SCOPE_DRIVER, SCOPE_CLASS };

static const struct {
	const char *name;
	enum scope scope;
	unsigned ops;
} nodes[] = {
	[SYSFS_PF_DRIVER] = { "driver", SCOPE_PF, L },
	[SYSFS_PF_MODALIAS] = { "modalias", SCOPE_PF, R },
	[SYSFS_PF_SERIAL] = { "serial_number", SCOPE_PF, R },
	[SYSFS_PF_NUMVFS] = { "sriov_numvfs", SCOPE_PF, R | W },
	[SYSFS_PF_TOTALVFS] = { "sriov_totalvfs", SCOPE_PF, R },
	[SYSFS_PF_AUTOPROBE] = { "sriov_drivers_autoprobe", SCOPE_PF, R | W },
	[SYSFS_PF_OFFSET] = { "sriov_offset", SCOPE_PF, R },
	[SYSFS_PF_STRIDE] = { "sriov_stride", SCOPE_PF, R },
	[SYSFS_VF_DRIVER] = { "driver", SCOPE_VF, L },
	[SYSFS_VF_OVERRIDE] = { "driver_override", SCOPE_VF, R | W },
	[SYSFS_VF_GROUP] = { "iommu_group", SCOPE_VF, L },
	[SYSFS_DRIVER_BIND] = { "bind", SCOPE_DRIVER, W },
	[SYSFS_DRIVER_UNBIND] = { "unbind", SCOPE_DRIVER, W },
	[SYSFS_DRIVER_NEW_ID] = { "new_id", SCOPE_DRIVER, W },
	[SYSFS_DRIVER_REMOVE_ID] = { "remove_id", SCOPE_DRIVER, W },
	[SYSFS_DRIVER_DEVICE] = { "device", SCOPE_DRIVER, L },
	[SYSFS_VFIO_DEV] = { "vfio", SCOPE_CLASS, L },
};
_Static_assert(ELEMENTSOF(nodes) == _SYSFS_NODE_MAX, "every node has a row");

enum { PATH_LEN = sizeof("bus/pci/drivers//remove_id") + 64 };

/* A touch that the table does not allow is our own mistake, not an outcome. */
static void touch(struct sysfs *s, enum sysfs_node node, enum scope scope, enum sysfs_op op)
{
	assert(nodes[node].scope == scope && nodes[node].ops & 1U << op);
	s->tally->sysfs[node][op]++;
}

static int open_outcome(int error)
{
	/* ENODEV, ENXIO: the device went away between lookup and open (CASES U7) */
	return error == ENOENT || error == ENODEV || error == ENXIO ? SYSFS_E_ABSENT : -error;
}

static void vf_path(enum sysfs_node node, struct bdf vf, char ret[static PATH_LEN])
{
	char *p = stpcpy(ret, "../");

	p += bdf_format(vf, p);
	*p++ = '/';
	(void) stpcpy(p, nodes[node].name); /* returns the end */
}

static int read_at(int dir, const char *path, char *ret, size_t size)
{
	_cleanup_(close_fd) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t k;

	if (fd < 0)
		return open_outcome(errno);
	k = read(fd, ret, size);
	if (k < 0)
		return -errno;
	if ((size_t) k == size)
		return SYSFS_E_STRANGE;
	if (k > 0 && ret[k - 1] == '\n')
		k--;
	ret[k] = '\0';
	return 0;
}

static int write_at(int dir, const char *path, const char *text, size_t len)
{
	_cleanup_(close_fd) int fd = openat(dir, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t k;

	if (fd < 0)
		return open_outcome(errno);
	k = write(fd, text, len);
	if (k < 0)
		return -errno;
	return (size_t) k == len ? 0 : -EIO;
}

/* kernfs fills PAGE_SIZE at most; a link that fills ours is none of the kernel's. */
static int link_at(int dir, const char *path, char ret[static SYSFS_TEXT_MAX])
{
	ssize_t k = readlinkat(dir, path, ret, SYSFS_TEXT_MAX);

	if (k < 0)
		return open_outcome(errno);
	if (k == SYSFS_TEXT_MAX)
		return SYSFS_E_STRANGE;
	ret[k] = '\0';
	return 0;
}

static int last_component(int dir, const char *path, char *ret, size_t size)
{
	char link[SYSFS_TEXT_MAX], *last;
	int r;

	r = link_at(dir, path, link);
	if (r)
		return r;
	last = strrchr(link, '/');
	last = last ? last + 1 : link;
	if (strlen(last) >= size)
		return SYSFS_E_STRANGE;
	(void) stpcpy(ret, last); /* returns the end */
	return 0;
}

int sysfs_open_pf(struct sysfs *s, struct bdf pf, int *ret_fd)
{
	char path[PATH_LEN], *p = stpcpy(path, "bus/pci/devices/");
	int fd;

	(void) bdf_format(pf, p); /* returns the length */
	fd = openat(s->root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return open_outcome(errno);
	*ret_fd = fd;
	return 0;
}

int sysfs_read_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, char *ret, size_t size)
{
	touch(s, node, SCOPE_PF, SYSFS_READ);
	return read_at(pf_fd, nodes[node].name, ret, size);
}

static int parse_number(const char *text, unsigned *ret)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
		value = value * 10 + (unsigned) (*p - '0');
	if (p == text || *p || value > UINT32_MAX)
		return SYSFS_E_STRANGE;
	*ret = (unsigned) value;
	return 0;
}

int sysfs_read_pf_number(struct sysfs *s, int pf_fd, enum sysfs_node node, unsigned *ret)
{
	char text[16];
	int r;

	r = sysfs_read_pf(s, pf_fd, node, text, sizeof(text));
	return r ? r : parse_number(text, ret);
}

int sysfs_write_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, const char *text)
{
	/* Taking VFs away is nobody's job here: only prepare --disable-vfs will do it. */
	assert(node != SYSFS_PF_NUMVFS || (text[0] >= '1' && text[0] <= '9'));
	touch(s, node, SCOPE_PF, SYSFS_WRITE);
	return write_at(pf_fd, nodes[node].name, text, strlen(text));
}

int sysfs_link_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, char *ret, size_t size)
{
	touch(s, node, SCOPE_PF, SYSFS_LINK);
	return last_component(pf_fd, nodes[node].name, ret, size);
}

int sysfs_write_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf,
		   const char *text, size_t len)
{
	char path[PATH_LEN];

	touch(s, node, SCOPE_VF, SYSFS_WRITE);
	vf_path(node, vf, path);
	return write_at(pf_fd, path, text, len);
}

int sysfs_read_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf, char *ret,
		  size_t size)
{
	char path[PATH_LEN];

	touch(s, node, SCOPE_VF, SYSFS_READ);
	vf_path(node, vf, path);
	return read_at(pf_fd, path, ret, size);
}

int sysfs_link_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf, char *ret,
		  size_t size)
{
	char path[PATH_LEN];

	touch(s, node, SCOPE_VF, SYSFS_LINK);
	vf_path(node, vf, path);
	return last_component(pf_fd, path, ret, size);
}

/* "bus/pci/drivers/<driver>/"; returns what follows. The manifest lets plain names through only. */
static char *driver_path(char ret[static PATH_LEN], const char *driver)
{
	assert(strlen(driver) < 64 && !strchr(driver, '/') && driver[0] != '.');
	return stpcpy(stpcpy(stpcpy(ret, "bus/pci/drivers/"), driver), "/");
}

int sysfs_open_driver(struct sysfs *s, enum sysfs_node node, const char *driver, int *ret_fd)
{
	char path[PATH_LEN], *p = driver_path(path, driver);
	int fd;

	assert(nodes[node].scope == SCOPE_DRIVER && nodes[node].ops & W);
	(void) stpcpy(p, nodes[node].name); /* returns the end */
	fd = openat(s->root, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return open_outcome(errno);
	*ret_fd = fd;
	return 0;
}

int sysfs_write_driver(struct sysfs *s, enum sysfs_node node, int fd, const char *text, size_t len)
{
	ssize_t k;

	touch(s, node, SCOPE_DRIVER, SYSFS_WRITE);
	k = pwrite(fd, text, len, 0);
	if (k < 0)
		return -errno;
	return (size_t) k == len ? 0 : -EIO;
}

int sysfs_driver_has(struct sysfs *s, const char *driver, struct bdf device)
{
	char path[PATH_LEN], link[SYSFS_TEXT_MAX];

	touch(s, SYSFS_DRIVER_DEVICE, SCOPE_DRIVER, SYSFS_LINK);
	(void) bdf_format(device, driver_path(path, driver)); /* returns the length */
	return link_at(s->root, path, link);
}

/* ".../<bdf>/vfio-dev/vfio<n>": the third component from the end. */
static int device_of_link(char *link, struct bdf *ret)
{
	for (unsigned i = 0; i < 2; i++) {
		char *slash = strrchr(link, '/');

		if (!slash)
			return SYSFS_E_STRANGE;
		*slash = '\0';
	}
	link = strrchr(link, '/');
	/* a VFIO device of another bus than PCI is none of ours */
	return link && !bdf_parse(link + 1, ret) ? 0 : SYSFS_E_STRANGE;
}

int sysfs_vfio_dev(struct sysfs *s, unsigned n, struct bdf *ret)
{
	char path[PATH_LEN], link[SYSFS_TEXT_MAX];
	int r;

	touch(s, SYSFS_VFIO_DEV, SCOPE_CLASS, SYSFS_LINK);
	*put_decimal(stpcpy(stpcpy(path, "class/vfio-dev/"), nodes[SYSFS_VFIO_DEV].name), n) = '\0';
	r = link_at(s->root, path, link);
	return r ? r : device_of_link(link, ret);
}

const char *sysfs_node_name(enum sysfs_node node)
{
	return nodes[node].name;
}
