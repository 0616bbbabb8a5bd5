/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * base - the few words of C that every file here uses: attributes, ownership, time.
 */
#undef NDEBUG /* assert() is for our own mistakes and is never compiled out */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _must_check_ __attribute__((warn_unused_result))
#define _printf_(f, a) __attribute__((format(printf, f, a)))
#define _nonnull_ __attribute__((nonnull))
#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))

/* Give an owned value away and leave the variable empty. */
#define TAKE_AS(x, empty)                                                                          \
	({                                                                                         \
		__typeof__(x) *_taken_from = &(x);                                                 \
		__typeof__(x) _taken = *_taken_from;                                               \
		*_taken_from = (empty);                                                            \
		_taken;                                                                            \
	})
#define TAKE(pointer) TAKE_AS(pointer, NULL)
#define TAKE_FD(fd) TAKE_AS(fd, -1)

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		(void) close(*fd); /* nothing is written through a cached fd: no error to lose */
	*fd = -1;
}

static inline void free_pointer(void *pointer)
{
	free(*(void **) pointer);
}

/* Writes n in decimal at p, without a NUL; returns what follows. Room for 20 digits is enough. */
static inline char *put_decimal(char *p, uint64_t n)
{
	char digits[20];
	unsigned k = 0;

	do
		digits[k++] = (char) ('0' + n % 10);
	while (n /= 10);
	while (k > 0)
		*p++ = digits[--k];
	return p;
}

/* CLOCK_BOOTTIME in ns: the one clock of every timestamp here; it starts with the kernel. */
static inline uint64_t now_ns(void)
{
	struct timespec t;

	(void) clock_gettime(CLOCK_BOOTTIME, &t); /* cannot fail for a clock that exists */
	return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}
