/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * hot-guard - what the hot path must not even be able to spell.
 *
 * Forced into every file of the libraries `pure` and `hot` (meson.build). Headers first, for they
 * declare these names; then the ban. What a file of the hot path wants to include beyond these has
 * to be added here when it mentions a banned word. What escapes the spelling (a function pointer,
 * another library's function) is caught by tests/check-symbols.py in what was linked.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>
#include <linux/netlink.h>
#include <linux/vfio.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "base.h"

/* Some of them are macros, here and there (glibc with clang and _FORTIFY_SOURCE). */
#undef NLM_F_DUMP
#undef NLM_F_ROOT
#undef NLM_F_MATCH
#undef SYS_getdents
#undef SYS_getdents64
#undef alloca
#undef asprintf
#undef dprintf
#undef fprintf
#undef printf
#undef snprintf
#undef sprintf
#undef stderr
#undef stdout
#undef strdupa
#undef strndupa
#undef syslog
#undef vasprintf
#undef vdprintf
#undef vfprintf
#undef vprintf
#undef vsnprintf
#undef vsprintf
#undef vsyslog

/*
 * Names that are plain words too (link, stat, wait, select, access ...) are left to the symbol
 * check.
 */

/* No directory is read, no tree is searched. */
#pragma GCC poison opendir fdopendir readdir readdir64 readdir_r readdir64_r rewinddir seekdir
#pragma GCC poison scandir scandir64 scandirat scandirat64 alphasort versionsort
#pragma GCC poison getdents getdents64 getdirentries getdirentries64 SYS_getdents SYS_getdents64
#pragma GCC poison ftw ftw64 nftw nftw64 fts_open fts64_open fts_read fts64_read
#pragma GCC poison fts_children fts64_children glob glob64 wordexp
#pragma GCC poison inotify_init inotify_init1 inotify_add_watch
#pragma GCC poison realpath canonicalize_file_name getcwd chdir fchdir fopen fdopen freopen

/* Nothing is allocated: all memory is the caller's, made in LOAD. */
#pragma GCC poison malloc calloc realloc reallocarray free free_pointer strdup strndup
#pragma GCC poison strdupa strndupa aligned_alloc posix_memalign memalign valloc alloca
#pragma GCC poison asprintf vasprintf getline getdelim open_memstream

/* Nothing is formatted, nothing is logged: outcomes are kept, the desk talks. */
#pragma GCC poison printf vprintf fprintf vfprintf dprintf vdprintf sprintf vsprintf
#pragma GCC poison snprintf vsnprintf puts fputs fputc putchar fwrite perror strerror strerror_r
#pragma GCC poison sscanf fscanf scanf syslog vsyslog openlog stdout stderr

/* Nobody sleeps or polls: a lane waits in read() on its eventfd, the loop waits elsewhere. */
#pragma GCC poison nanosleep clock_nanosleep usleep sleep setitimer poll ppoll pselect
#pragma GCC poison epoll_wait epoll_pwait epoll_pwait2 sched_yield
#pragma GCC poison pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait
#pragma GCC poison pthread_join pthread_barrier_wait sem_wait sem_timedwait sem_clockwait
#pragma GCC poison thrd_sleep thrd_join cnd_wait cnd_timedwait
#pragma GCC poison sigwait sigwaitinfo sigtimedwait sigsuspend

/* No other program, no other code, no way out. */
#pragma GCC poison fork vfork execl execlp execle execv execvp execvpe execve execveat fexecve
#pragma GCC poison system popen posix_spawn posix_spawnp waitpid waitid dlopen dlsym syscall
#pragma GCC poison exit _exit _Exit quick_exit abort atexit

/* Nothing goes away, nothing changes its name. */
#pragma GCC poison unlink unlinkat rmdir rename renameat renameat2 linkat symlink symlinkat
#pragma GCC poison mkdir mkdirat mknod mknodat

/* No dump over netlink: it takes locks and lists all there is. */
#pragma GCC poison NLM_F_DUMP NLM_F_ROOT NLM_F_MATCH nl_rtgen_request
