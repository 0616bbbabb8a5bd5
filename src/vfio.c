/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include "vfio.h"

static const char *const prefixes[] = {
	[VFIO_CDEV] = "/dev/vfio/devices/vfio",
	[VFIO_GROUP] = "/dev/vfio/",
	[VFIO_NOIOMMU_CDEV] = "/dev/vfio/devices/noiommu-vfio",
	[VFIO_NOIOMMU_GROUP] = "/dev/vfio/noiommu-",
};
_Static_assert(ELEMENTSOF(prefixes) == _VFIO_KIND_MAX, "every kind of node has a name");

void vfio_node_path(struct vfio_node node, char ret[static VFIO_PATH_MAX])
{
	char *p = put_decimal(stpcpy(ret, prefixes[node.kind]), node.number);

	*p = '\0';
}

int vfio_open(struct vfio *v, struct vfio_node node, int *ret_fd)
{
	char path[VFIO_PATH_MAX];
	int fd;

	vfio_node_path(node, path);
	v->tally->opens++;
	fd = openat(v->dev, path + strlen("/dev/"), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

bool vfio_has_iommufd(const struct vfio *v)
{
	return faccessat(v->dev, "iommu", F_OK, 0) == 0;
}

bool vfio_has_cdevs(const struct vfio *v)
{
	return faccessat(v->dev, "vfio/devices", F_OK, 0) == 0;
}
