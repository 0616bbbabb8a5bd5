/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hold NODE BDF: open a VF's VFIO device (a cdev, or the BDF's device in a group) as a VMM does,
 * say "held" and keep it until killed. */
#include <err.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void hold_group_device(int group, const char *bdf)
{
	int container = open("/dev/vfio/vfio", O_RDWR);

	if (container < 0)
		err(1, "/dev/vfio/vfio");
	if (ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) < 0)
		err(1, "VFIO_GROUP_SET_CONTAINER");
	if (ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) < 0)
		err(1, "VFIO_SET_IOMMU");
	if (ioctl(group, VFIO_GROUP_GET_DEVICE_FD, bdf) < 0)
		err(1, "VFIO_GROUP_GET_DEVICE_FD");
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3)
		errx(2, "usage: hold NODE BDF");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	if (!strstr(argv[1], "/devices/"))
		hold_group_device(fd, argv[2]);
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}
