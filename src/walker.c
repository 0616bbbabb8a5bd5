/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <libudev.h>
#include <stdio.h>
#include <string.h>
#include "walker.h"

enum {
	_WALKER_E_SUCCESS,
	WALKER_E_GONE, /* the function vanished while we looked */
};

enum { PATH_LEN = 512, INDEX_UNKNOWN = 0xffffffff };

static void unref_udev(struct udev **udev)
{
	udev_unref(*udev);
}

static void unref_enumerate(struct udev_enumerate **enumerate)
{
	udev_enumerate_unref(*enumerate);
}

static void unref_device(struct udev_device **device)
{
	udev_device_unref(*device);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		(void) closedir(*directory); /* only read */
}

static void function_done(struct walked_function *f)
{
	free(f->driver);
	free(f->serial_number);
	free(f->interface);
	*f = (struct walked_function){ 0 };
}

/* ---- Attributes and links ---- */

/* What sysfs says of a device under removal, depending on how far that is (systemd#13814). */
static bool means_gone(int error)
{
	return error == ENOENT || error == ENODEV || error == EINVAL;
}

/* An attribute that is there as long as the function is. */
static int read_number(struct udev_device *device, const char *name, int base, unsigned *ret)
{
	const char *text;

	errno = 0;
	text = udev_device_get_sysattr_value(device, name);
	if (!text)
		return means_gone(errno) || errno == 0 ? WALKER_E_GONE : -errno;
	*ret = (unsigned) strtoul(text, NULL, base);
	return 0;
}

static int read_number16(struct udev_device *device, const char *name, uint16_t *ret)
{
	unsigned number;
	int r = read_number(device, name, 16, &number);

	if (r == 0)
		*ret = (uint16_t) number;
	return r;
}

/* NULL and no error where there is none. */
static int copy_text(const char *text, char **ret)
{
	*ret = text && text[0] ? strdup(text) : NULL;
	return text && text[0] && !*ret ? -ENOMEM : 0;
}

/* The last component of a link; false: no such link (any more). */
static bool read_link(int dir, const char *name, char ret[static NAME_MAX + 1])
{
	char target[PATH_LEN];
	ssize_t length = readlinkat(dir, name, target, sizeof(target) - 1);
	const char *slash;

	if (length <= 0)
		return false;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return snprintf(ret, NAME_MAX + 1, "%s", slash ? slash + 1 : target) <= NAME_MAX;
}

static bool read_link_bdf(int dir, const char *name, struct bdf *ret)
{
	char text[NAME_MAX + 1];

	return read_link(dir, name, text) && bdf_parse(text, ret) == 0;
}

static DIR *open_directory(int dir, const char *name)
{
	_cleanup_(close_fd) int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (directory)
		(void) TAKE_FD(fd); /* the directory's now */
	return directory;
}

/* ---- Parts of a function ---- */

/* vfio-dev/vfioN, or noiommu-vfioN: one number range (drivers/vfio/vfio_main.c: device_ida). */
static void read_vfio(int dir, struct walked_function *f)
{
	_cleanup_(close_directory) DIR *vfio = open_directory(dir, "vfio-dev");

	for (struct dirent *e; vfio && !f->has_vfio && (e = readdir(vfio));) {
		const char *name = e->d_name;

		if (strncmp(name, "noiommu-", strlen("noiommu-")) == 0)
			name += strlen("noiommu-");
		f->has_vfio = sscanf(name, "vfio%u", &f->vfio) == 1;
	}
}

static void read_group(int dir, struct walked_function *f)
{
	char text[NAME_MAX + 1];

	f->has_group = read_link(dir, "iommu_group", text) && sscanf(text, "%u", &f->group) == 1;
}

/* In switchdev mode the representors of VFs and SFs are below the PF too: phys_port_name pf0vf3. */
static bool is_representor(struct udev_device *net)
{
	const char *port = udev_device_get_sysattr_value(net, "phys_port_name");

	return port && (strstr(port, "vf") || strstr(port, "sf"));
}

static int take_interface(struct udev_device *net, struct walked_function *f)
{
	const char *address = udev_device_get_sysattr_value(net, "address");
	uint8_t *m = f->mac;
	int length = 0;

	free(f->interface);
	f->interface = strdup(udev_device_get_sysname(net));
	if (!f->interface)
		return -ENOMEM;
	f->has_mac = address &&
		     sscanf(address, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &m[0], &m[1], &m[2],
			    &m[3], &m[4], &m[5], &length) == 6 &&
		     address[length] == '\0';
	return 0;
}

/* The net device with the lowest ifindex: the port's own came before any that was added to it. */
static int read_interface(struct udev *udev, const char *syspath, int dir,
			  struct walked_function *f)
{
	_cleanup_(close_directory) DIR *nets = open_directory(dir, "net");
	unsigned best = 0, ifindex;
	int r = 0;

	for (struct dirent *e; nets && r == 0 && (e = readdir(nets));) {
		_cleanup_(unref_device) struct udev_device *net = NULL;
		char path[PATH_LEN + NAME_MAX];

		if (e->d_name[0] == '.')
			continue;
		(void) snprintf(path, sizeof(path), "%s/net/%s", syspath, e->d_name); /* fits */
		net = udev_device_new_from_syspath(udev, path);
		if (!net || is_representor(net) || read_number(net, "ifindex", 10, &ifindex) != 0)
			continue;
		if (best == 0 || ifindex < best) {
			r = take_interface(net, f);
			best = ifindex;
		}
	}
	return r;
}

static int read_sriov(struct udev_device *device, struct walked_function *f)
{
	unsigned autoprobe = 0;
	int r;

	f->is_pf = udev_device_get_sysattr_value(device, "sriov_totalvfs") != NULL;
	if (!f->is_pf)
		return 0;
	r = read_number(device, "sriov_totalvfs", 10, &f->total_vfs);
	if (r == 0)
		r = read_number(device, "sriov_numvfs", 10, &f->num_vfs);
	if (r == 0)
		r = read_number(device, "sriov_offset", 10, &f->offset);
	if (r == 0)
		r = read_number(device, "sriov_stride", 10, &f->stride);
	if (r == 0)
		r = read_number(device, "sriov_drivers_autoprobe", 10, &autoprobe);
	if (r == 0)
		r = read_number16(device, "sriov_vf_device", &f->vf_device);
	f->drivers_autoprobe = autoprobe != 0;
	return r;
}

static int read_texts(struct udev_device *device, struct walked_function *f)
{
	int r = copy_text(udev_device_get_driver(device), &f->driver);

	if (r == 0)
		r = copy_text(udev_device_get_sysattr_value(device, "serial_number"),
			      &f->serial_number);
	return r;
}

/* ---- One function, all functions ---- */

static int fill_function(struct udev_device *device, struct walked_function *f)
{
	const char *syspath = udev_device_get_syspath(device);
	_cleanup_(close_fd) int dir = open(syspath, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir < 0)
		return means_gone(errno) ? WALKER_E_GONE : -errno;
	r = read_number16(device, "vendor", &f->vendor);
	if (r == 0)
		r = read_number16(device, "device", &f->device);
	if (r == 0)
		r = read_sriov(device, f);
	if (r == 0)
		r = read_texts(device, f);
	if (r == 0 && f->is_pf)
		r = read_interface(udev_device_get_udev(device), syspath, dir, f);
	if (r != 0)
		return r;
	f->is_vf = read_link_bdf(dir, "physfn", &f->pf);
	f->vf_index = INDEX_UNKNOWN;
	read_vfio(dir, f);
	read_group(dir, f);
	/* What was not there may have gone only now, and the function with it */
	return faccessat(dir, "vendor", F_OK, 0) == 0 ? 0 : WALKER_E_GONE;
}

static int add_function(struct udev *udev, const char *syspath, struct walked *w, size_t *size)
{
	_cleanup_(unref_device) struct udev_device *device = NULL;
	_cleanup_(function_done) struct walked_function f = { 0 };
	int r;

	errno = 0;
	device = udev_device_new_from_syspath(udev, syspath);
	if (!device)
		return errno == ENOMEM ? -ENOMEM : 0;
	if (bdf_parse(udev_device_get_sysname(device), &f.address) != 0)
		return 0;
	r = fill_function(device, &f);
	if (r != 0)
		return r == WALKER_E_GONE ? 0 : r;
	if (w->n_functions == *size) {
		struct walked_function *more;

		*size = *size * 2 + 64;
		more = reallocarray(w->functions, *size, sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->functions = more;
	}
	w->functions[w->n_functions++] = TAKE_AS(f, (struct walked_function){ 0 });
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct walked_function *f = a, *g = b;

	return bdf_compare(f->address, g->address);
}

static struct walked_function *find_function(const struct walked *w, struct bdf address)
{
	struct walked_function key = { .address = address };

	return w->n_functions == 0 ? NULL
				   : bsearch(&key, w->functions, w->n_functions, sizeof(key),
					     compare_functions);
}

/* The PF says which VF is which; no directory read, one link a VF. */
static void number_vfs(const struct walked *w, const struct walked_function *pf)
{
	char text[BDF_STRLEN + 1], path[PATH_LEN];
	_cleanup_(close_fd) int dir = -1;

	(void) bdf_format(pf->address, text); /* its length is of no use here */
	(void) snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", text); /* fits */
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; dir >= 0 && i < pf->num_vfs; i++) {
		struct walked_function *vf;
		char link[sizeof("virtfn4294967295")];
		struct bdf address;

		(void) snprintf(link, sizeof(link), "virtfn%u", i); /* fits */
		vf = read_link_bdf(dir, link, &address) ? find_function(w, address) : NULL;
		if (vf && vf->is_vf)
			vf->vf_index = i;
	}
}

/* Without its link, as while it comes or goes, a VF is known by its address. */
static void compute_index(const struct walked *w, struct walked_function *vf)
{
	const struct walked_function *pf = find_function(w, vf->pf);

	if (!pf || !pf->is_pf ||
	    !bdf_vf_index(pf->address, pf->offset, pf->stride, pf->num_vfs, vf->address,
			  &vf->vf_index))
		vf->vf_index = INDEX_UNKNOWN;
}

static void number_all_vfs(struct walked *w)
{
	for (unsigned i = 0; i < w->n_functions; i++)
		if (w->functions[i].is_pf)
			number_vfs(w, &w->functions[i]);
	for (unsigned i = 0; i < w->n_functions; i++)
		if (w->functions[i].is_vf && w->functions[i].vf_index == INDEX_UNKNOWN)
			compute_index(w, &w->functions[i]);
}

/* A VF that has no place at its PF is on its way out. */
static void drop_lost_vfs(struct walked *w)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < w->n_functions; i++) {
		struct walked_function *f = &w->functions[i];

		if (f->is_vf && f->vf_index == INDEX_UNKNOWN)
			function_done(f);
		else
			w->functions[kept++] = *f;
	}
	w->n_functions = kept;
}

int walker_walk(const struct walk_pass *pass, struct walked *ret)
{
	_cleanup_(unref_enumerate) struct udev_enumerate *enumerate = NULL;
	_cleanup_(walked_done) struct walked w = { 0 };
	_cleanup_(unref_udev) struct udev *udev = udev_new();
	struct udev_list_entry *entry;
	size_t size = 0;
	int r;

	enumerate = udev ? udev_enumerate_new(udev) : NULL;
	if (!enumerate)
		return -ENOMEM;
	r = udev_enumerate_add_match_subsystem(enumerate, "pci");
	if (r >= 0)
		r = udev_enumerate_scan_devices(enumerate);
	if (r < 0)
		return r;
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(enumerate)) {
		r = add_function(udev, udev_list_entry_get_name(entry), &w, &size);
		if (r < 0)
			return r;
	}
	if (w.n_functions > 0)
		qsort(w.functions, w.n_functions, sizeof(w.functions[0]), compare_functions);
	number_all_vfs(&w);
	drop_lost_vfs(&w);
	*ret = TAKE_AS(w, (struct walked){ 0 });
	return 0;
}

void walked_done(struct walked *w)
{
	for (unsigned i = 0; i < w->n_functions; i++)
		function_done(&w->functions[i]);
	free(w->functions);
	*w = (struct walked){ 0 };
}

const struct walked_function *walked_find(const struct walked *w, struct bdf address)
{
	return find_function(w, address);
}
