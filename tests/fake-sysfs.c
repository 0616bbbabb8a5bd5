/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "fake-sysfs.h"

struct fake_pf fake_pfs[FAKE_PFS];
char fake_ids[2][16];
unsigned fake_writes_of_zero;
int (*fake_fault)(enum sysfs_node node, enum sysfs_op op, struct bdf device);
void (*fake_vfio_added)(struct bdf vf, unsigned vfio);

enum { FDS = 1024 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fake_pf *pf_of_fd[FDS];
static char driver_of_fd[FDS][64];
static unsigned n_vfio;

void fake_sysfs_reset(void)
{
	memset(fake_pfs, 0, sizeof(fake_pfs));
	memset(fake_ids, 0, sizeof(fake_ids));
	fake_fault = NULL;
	fake_vfio_added = NULL;
	fake_writes_of_zero = n_vfio = 0;
	for (unsigned i = 0; i < FAKE_PFS; i++)
		fake_pfs[i] = (struct fake_pf){ .address = { 0, (uint16_t) ((i + 1) << 8) },
						.driver = "nvme",
						.vendor = 0x1b36,
						.device = 0x10,
						.vf_device = 0x10,
						.total_vfs = FAKE_VFS,
						.offset = 1,
						.stride = 1,
						.autoprobe = true };
}

struct bdf fake_vf_address(unsigned pf, unsigned index)
{
	struct bdf vf = { 0 };

	(void) !bdf_of_vf(fake_pfs[pf].address, fake_pfs[pf].offset, fake_pfs[pf].stride, index,
			  &vf);
	return vf;
}

static struct fake_pf *find_pf(struct bdf address)
{
	for (unsigned i = 0; i < FAKE_PFS; i++)
		if (!fake_pfs[i].absent && !bdf_compare(fake_pfs[i].address, address))
			return &fake_pfs[i];
	return NULL;
}

static struct fake_vf *find_vf(struct bdf address, struct fake_pf **ret_pf)
{
	for (unsigned i = 0; i < FAKE_PFS; i++) {
		struct fake_pf *pf = &fake_pfs[i];
		unsigned index;

		*ret_pf = pf;
		if (bdf_vf_index(pf->address, pf->offset, pf->stride, pf->num_vfs, address, &index))
			return pf->late & 1U << index ? NULL : &pf->vfs[index];
	}
	return NULL;
}

static int begin(struct sysfs *s, enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	int r = fake_fault ? fake_fault(node, op, device) : 0;

	s->tally->sysfs[node][op]++;
	pthread_mutex_lock(&mutex);
	return r;
}

static int end(int r)
{
	pthread_mutex_unlock(&mutex);
	return r;
}

static int null_fd(struct fake_pf *pf, int *ret_fd)
{
	*ret_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert(*ret_fd >= 0 && *ret_fd < FDS);
	pf_of_fd[*ret_fd] = pf;
	return 0;
}

int sysfs_open_pf(struct sysfs *s, struct bdf pf, int *ret_fd)
{
	struct fake_pf *p;
	int r = fake_fault ? fake_fault(SYSFS_PF_DRIVER, FAKE_OPEN, pf) : 0;

	(void) s;
	pthread_mutex_lock(&mutex);
	p = find_pf(pf);
	if (!r)
		r = p ? null_fd(p, ret_fd) : SYSFS_E_ABSENT;
	return end(r);
}

static const char *text_of_pf(const struct fake_pf *pf, enum sysfs_node node, char number[16])
{
	static __thread char modalias[64];
	unsigned n = node == SYSFS_PF_NUMVFS      ? pf->num_vfs
		     : node == SYSFS_PF_TOTALVFS  ? pf->total_vfs
		     : node == SYSFS_PF_AUTOPROBE ? pf->autoprobe
		     : node == SYSFS_PF_OFFSET    ? pf->offset
						  : pf->stride;

	if (node == SYSFS_PF_SERIAL)
		return pf->serial;
	snprintf(modalias, sizeof(modalias), "pci:v%08Xd%08Xsv00000000", pf->vendor, pf->device);
	snprintf(number, 16, "%u", n);
	return node == SYSFS_PF_MODALIAS ? modalias : number;
}

int sysfs_read_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, char *ret, size_t size)
{
	const struct fake_pf *pf = pf_of_fd[pf_fd];
	int r = begin(s, node, SYSFS_READ, pf->address);
	char number[16];

	snprintf(ret, size, "%s", text_of_pf(pf, node, number));
	if (!r && !ret[0])
		r = SYSFS_E_ABSENT;
	return end(r);
}

int sysfs_read_pf_number(struct sysfs *s, int pf_fd, enum sysfs_node node, unsigned *ret)
{
	char text[16];
	int r = sysfs_read_pf(s, pf_fd, node, text, sizeof(text));

	if (!r)
		*ret = (unsigned) strtoul(text, NULL, 10);
	return r;
}

static void give(struct fake_pf *pf, struct fake_vf *vf, const char *driver)
{
	struct bdf address = { pf->address.domain,
			       (uint16_t) (pf->address.rid + pf->offset +
					   pf->stride * (unsigned) (vf - pf->vfs)) };

	snprintf(vf->driver, sizeof(vf->driver), "%s", driver);
	if (!strstr(driver, "vfio"))
		return;
	vf->vfio = n_vfio++;
	if (fake_vfio_added)
		fake_vfio_added(address, vf->vfio);
}

static bool has_id(const struct fake_pf *pf)
{
	char own[32];

	snprintf(own, sizeof(own), "%04x %04x", pf->vendor, pf->vf_device);
	return !strcmp(fake_ids[0], own) || !strcmp(fake_ids[1], own);
}

/* NVMe's native driver probes in the background, that of others at once: plan.c tells more. */
static bool id_comes_first(const struct fake_pf *pf)
{
	return has_id(pf) && pf->device == pf->vf_device;
}

/* What the kernel does with a VF that comes. */
static void probe(struct fake_pf *pf, unsigned index)
{
	if (pf->autoprobe && !(pf->late & 1U << index))
		give(pf, &pf->vfs[index], id_comes_first(pf) ? "vfio-pci" : "native");
}

static int set_num_vfs(struct fake_pf *pf, unsigned n)
{
	fake_writes_of_zero += n == 0;
	if (pf->num_vfs != 0)
		return -EBUSY;
	if (n > pf->total_vfs)
		return -ERANGE;
	memset(pf->vfs, 0, sizeof(pf->vfs));
	pf->num_vfs = n;
	for (unsigned i = 0; i < n; i++)
		probe(pf, i);
	return 0;
}

void fake_vf_appears(unsigned pf, unsigned index)
{
	pthread_mutex_lock(&mutex);
	fake_pfs[pf].late &= ~(1U << index);
	probe(&fake_pfs[pf], index);
	pthread_mutex_unlock(&mutex);
}

int sysfs_write_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, const char *text)
{
	struct fake_pf *pf = pf_of_fd[pf_fd];
	int r = begin(s, node, SYSFS_WRITE, pf->address);

	if (!r && node == SYSFS_PF_NUMVFS)
		r = set_num_vfs(pf, (unsigned) strtoul(text, NULL, 10));
	else if (!r)
		pf->autoprobe = text[0] == '1';
	return end(r);
}

int sysfs_link_pf(struct sysfs *s, int pf_fd, enum sysfs_node node, char *ret, size_t size)
{
	const struct fake_pf *pf = pf_of_fd[pf_fd];
	int r = begin(s, node, SYSFS_LINK, pf->address);

	snprintf(ret, size, "%s", pf->driver);
	if (!r && !ret[0])
		r = SYSFS_E_ABSENT;
	return end(r);
}

int sysfs_write_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf,
		   const char *text, size_t len)
{
	int r = begin(s, node, SYSFS_WRITE, vf);
	struct fake_pf *pf;
	struct fake_vf *f = find_vf(vf, &pf);

	assert(pf_of_fd[pf_fd]);
	if (!r && !f)
		r = SYSFS_E_ABSENT;
	if (!r)
		snprintf(f->override, sizeof(f->override), "%.*s", (int) len, text);
	if (!r && f->override[0] == '\n')
		f->override[0] = '\0';
	return end(r);
}

int sysfs_read_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf, char *ret,
		  size_t size)
{
	int r = begin(s, node, SYSFS_READ, vf);
	struct fake_pf *pf;
	struct fake_vf *f = find_vf(vf, &pf);

	assert(pf_of_fd[pf_fd]);
	if (!r && !f)
		r = SYSFS_E_ABSENT;
	if (!r)
		snprintf(ret, size, "%s", f->override[0] ? f->override : "(null)");
	return end(r);
}

int sysfs_link_vf(struct sysfs *s, int pf_fd, enum sysfs_node node, struct bdf vf, char *ret,
		  size_t size)
{
	int r = begin(s, node, SYSFS_LINK, vf);
	struct fake_pf *pf;
	struct fake_vf *f = find_vf(vf, &pf);

	assert(pf_of_fd[pf_fd]);
	if (!r && (!f || (node == SYSFS_VF_DRIVER && !f->driver[0])))
		r = SYSFS_E_ABSENT;
	if (!r && node == SYSFS_VF_DRIVER)
		snprintf(ret, size, "%s", f->driver);
	else if (!r)
		snprintf(ret, size, "%u", 100 + f->vfio);
	return end(r);
}

int sysfs_open_driver(struct sysfs *s, enum sysfs_node node, const char *driver, int *ret_fd)
{
	int r = fake_fault ? fake_fault(node, FAKE_OPEN, (struct bdf){ 0 }) : 0;

	(void) s;
	pthread_mutex_lock(&mutex);
	if (!r && !strcmp(driver, "absent"))
		r = SYSFS_E_ABSENT;
	if (!r) {
		r = null_fd(NULL, ret_fd);
		snprintf(driver_of_fd[*ret_fd], sizeof(driver_of_fd[0]), "%s", driver);
	}
	return end(r);
}

static void bind_all_of_ids(void)
{
	for (unsigned p = 0; p < FAKE_PFS; p++)
		for (unsigned i = 0; i < fake_pfs[p].num_vfs; i++) {
			struct fake_pf *pf = &fake_pfs[p];

			if (pf->autoprobe && has_id(pf) && !pf->vfs[i].driver[0] &&
			    !pf->vfs[i].override[0] && !(pf->late & 1U << i))
				give(pf, &pf->vfs[i], "vfio-pci");
		}
}

static int change_id(enum sysfs_node node, const char *id)
{
	char *place = !strcmp(fake_ids[0], id) || !fake_ids[0][0] ? fake_ids[0] : fake_ids[1];
	bool there = !strcmp(place, id);

	if (node == SYSFS_DRIVER_REMOVE_ID) {
		place[0] = '\0';
		return there ? 0 : -ENODEV;
	}
	if (there)
		return -EEXIST;
	snprintf(place, sizeof(fake_ids[0]), "%.15s", id);
	bind_all_of_ids();
	return 0;
}

/* Does this driver take the VF? Its override alone says, or else an id, when autoprobe is 1. */
static bool matches(const struct fake_pf *pf, const struct fake_vf *vf, const char *driver)
{
	if (vf->override[0])
		return !strcmp(vf->override, driver);
	return pf->autoprobe &&
	       (!strcmp(driver, "native") || (has_id(pf) && strstr(driver, "vfio")));
}

static int change_binding(enum sysfs_node node, const char *driver, const char *name)
{
	struct fake_pf *pf;
	struct fake_vf *vf;
	struct bdf b;

	if (bdf_parse(name, &b) || !(vf = find_vf(b, &pf)))
		return -ENODEV;
	if (node == SYSFS_DRIVER_UNBIND) {
		if (strcmp(vf->driver, driver) != 0)
			return -ENODEV;
		vf->driver[0] = '\0';
		return 0;
	}
	if (vf->driver[0])
		return -EBUSY;
	if (!matches(pf, vf, driver))
		return -ENODEV;
	give(pf, vf, driver);
	return 0;
}

int sysfs_write_driver(struct sysfs *s, enum sysfs_node node, int fd, const char *text, size_t len)
{
	bool is_id = node == SYSFS_DRIVER_NEW_ID || node == SYSFS_DRIVER_REMOVE_ID;
	struct bdf device = { 0 };
	char name[32];
	int r;

	snprintf(name, sizeof(name), "%.*s", (int) len, text);
	(void) !bdf_parse(name, &device);
	assert(fd >= 0);
	r = begin(s, node, SYSFS_WRITE, device);
	if (!r)
		r = is_id ? change_id(node, name) : change_binding(node, driver_of_fd[fd], name);
	return end(r);
}

int sysfs_driver_has(struct sysfs *s, const char *driver, struct bdf device)
{
	int r = begin(s, SYSFS_DRIVER_DEVICE, SYSFS_LINK, device);
	struct fake_pf *pf;
	struct fake_vf *vf = find_vf(device, &pf);

	if (!r && (!vf || strcmp(vf->driver, driver) != 0))
		r = SYSFS_E_ABSENT;
	return end(r);
}

int sysfs_vfio_dev(struct sysfs *s, unsigned n, struct bdf *ret)
{
	int r = begin(s, SYSFS_VFIO_DEV, SYSFS_LINK, (struct bdf){ 0 });

	for (unsigned p = 0; !r && p < FAKE_PFS; p++)
		for (unsigned i = 0; i < fake_pfs[p].num_vfs; i++)
			if (strstr(fake_pfs[p].vfs[i].driver, "vfio") &&
			    fake_pfs[p].vfs[i].vfio == n) {
				*ret = fake_vf_address(p, i);
				return end(0);
			}
	return end(r ? r : SYSFS_E_ABSENT);
}

const char *sysfs_node_name(enum sysfs_node node)
{
	(void) node;
	return "fake";
}
