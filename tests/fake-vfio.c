/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include "fake-vfio.h"

bool fake_has_cdevs = true;
int (*fake_open_fault)(struct vfio_node node);

void vfio_node_path(struct vfio_node node, char ret[static VFIO_PATH_MAX])
{
	snprintf(ret, VFIO_PATH_MAX, "%d/%u", (int) node.kind, node.number);
}

int vfio_open(struct vfio *v, struct vfio_node node, int *ret_fd)
{
	int r = fake_open_fault ? fake_open_fault(node) : 0;

	v->tally->opens++;
	if (r)
		return r;
	*ret_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert(*ret_fd >= 0);
	return 0;
}

bool vfio_has_iommufd(const struct vfio *v)
{
	(void) v;
	return fake_has_cdevs;
}

bool vfio_has_cdevs(const struct vfio *v)
{
	(void) v;
	return fake_has_cdevs;
}
