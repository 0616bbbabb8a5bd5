/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kexec_file KERNEL INITRAMFS COMMAND-LINE: load a kernel and jump into it. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int kernel, initramfs;

	if (argc != 4)
		errx(2, "usage: kexec_file KERNEL INITRAMFS COMMAND-LINE");
	kernel = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (kernel < 0)
		err(1, "%s", argv[1]);
	initramfs = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (initramfs < 0)
		err(1, "%s", argv[2]);
	if (syscall(SYS_kexec_file_load, kernel, initramfs, strlen(argv[3]) + 1, argv[3], 0UL) < 0)
		err(1, "kexec_file_load");
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	err(1, "kexec");
}
