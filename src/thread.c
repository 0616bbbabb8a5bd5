/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pthread.h>
#include <sys/eventfd.h>
#include "thread.h"

enum { STACK_SIZE = 128 << 10 };

int thread_start(void *(*run)(void *), void *argument)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	r = pthread_attr_init(&attr);
	if (r)
		return -r;
	r = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (!r)
		r = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (!r)
		r = pthread_create(&thread, &attr, run, argument);
	(void) pthread_attr_destroy(&attr); /* always 0 in glibc */
	return -r;
}

void thread_sleep(int wake_fd)
{
	eventfd_t n;

	while (eventfd_read(wake_fd, &n) < 0)
		assert(errno == EINTR);
}

void thread_tell(int eventfd)
{
	(void) eventfd_write(eventfd, 1); /* fails only when told 2^64 times in vain */
}
