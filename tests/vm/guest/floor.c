/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* floor bind PF | unbind PF: the least that anybody can do to bind a PF's VFs to vfio-pci one by
 * one: for each VF a write to driver_override and one to bind, nothing else. Prints the
 * nanoseconds that it took. `unbind` undoes it (driver and override), to start over. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DRIVER "/sys/bus/pci/drivers/vfio-pci/"

static unsigned long attribute(const char *pf, const char *name)
{
	char path[128], text[32];
	int fd, k;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", pf, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || (k = read(fd, text, sizeof(text) - 1)) < 0)
		err(1, "%s", path);
	close(fd);
	text[k] = 0;
	return strtoul(text, NULL, 10);
}

static void override(const char *vf, const char *driver)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver_override", vf);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, driver, strlen(driver)) < 0)
		err(1, "%s", path);
	close(fd);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

int main(int argc, char *argv[])
{
	unsigned domain, bus, slot, function;
	unsigned long n, offset, stride;
	int bind = argc == 3 && !strcmp(argv[1], "bind"), fd;
	uint64_t begun;

	if (argc != 3 || sscanf(argv[2], "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		errx(2, "usage: floor bind|unbind PF");
	n = attribute(argv[2], "sriov_numvfs");
	offset = attribute(argv[2], "sriov_offset");
	stride = attribute(argv[2], "sriov_stride");
	fd = open(bind ? DRIVER "bind" : DRIVER "unbind", O_WRONLY);
	if (fd < 0)
		err(1, DRIVER);
	begun = now();
	for (unsigned long i = 0; i < n; i++) {
		unsigned rid = (bus << 8 | slot << 3 | function) + offset + i * stride;
		char vf[32];
		int len = snprintf(vf, sizeof(vf), "%04x:%02x:%02x.%x", domain, rid >> 8,
				   rid >> 3 & 0x1f, rid & 7);

		override(vf, bind ? "vfio-pci" : "\n");
		if (pwrite(fd, vf, len, 0) < 0)
			err(1, "%s: %s", argv[1], vf);
	}
	printf("%" PRIu64 "\n", now() - begun);
	return 0;
}
