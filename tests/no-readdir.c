/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a program that dies (SIGSYS) when it, or a thread or child of it, reads a directory:
 *
 *	no-readdir [--no-exec] PROGRAM [ARGUMENT...]
 *
 * --no-exec: also when it executes another program, once it runs itself.
 * Exit code: the program's; 125 when the kernel cannot do this, 127 when it cannot be run.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

#if defined(__x86_64__)
#define HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define HERE AUDIT_ARCH_AARCH64
#else
#error "which AUDIT_ARCH_* is this?"
#endif

static bool install(const struct sock_filter *filter, unsigned short n)
{
	struct sock_fprog program = { n, (struct sock_filter *) filter };

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Another architecture's numbers (a 32 bit program) are not understood here: killed as well. */
static bool forbid_readdir(void)
{
	static const struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HERE, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
#ifdef SYS_getdents
		UNLESS(SYS_getdents, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
#endif
		UNLESS(SYS_getdents64, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};

	return install(filter, sizeof(filter) / sizeof(filter[0]));
}

/* Our own execve() is told from all others by its third argument: nobody else has our address,
 * which is not mapped there after it. */
static bool forbid_exec(char **ours)
{
	const uint32_t low = (uint32_t) (uintptr_t) ours;
	const struct sock_filter filter[] = {
		LOAD(nr),
		UNLESS(SYS_execveat, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		UNLESS(SYS_execve, 3),
		LOAD(args[2]),
		UNLESS(low, 2),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};

	return install(filter, sizeof(filter) / sizeof(filter[0]));
}

int main(int argc, char *argv[])
{
	bool no_exec = argc > 1 && !strcmp(argv[1], "--no-exec");
	char **command = argv + 1 + no_exec;

	if (!command[0]) {
		(void) fprintf(stderr, "usage: no-readdir [--no-exec] PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || !forbid_readdir() ||
	    (no_exec && !forbid_exec(environ))) {
		perror("no-readdir: seccomp");
		return 125;
	}
	(void) execve(command[0], command, environ); /* returns on failure only */
	perror(command[0]);
	return 127;
}
