/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pthread.h>
#include "fake-uevent.h"

enum { QUEUE = 4096 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct uevent queue[QUEUE];
static unsigned first, last;
static bool overrun;

void fake_uevent_reset(void)
{
	first = last = 0;
	overrun = false;
}

void fake_uevent_send(const struct uevent *e)
{
	pthread_mutex_lock(&mutex);
	assert(last < QUEUE);
	queue[last++] = *e;
	pthread_mutex_unlock(&mutex);
}

void fake_uevent_overrun(void)
{
	pthread_mutex_lock(&mutex);
	first = last;
	overrun = true;
	pthread_mutex_unlock(&mutex);
}

int uevents_next(struct uevents *u, char message[static UEVENT_SIZE_MAX], struct uevent *ret)
{
	int r = UEVENT_E_NOTHING;

	(void) message;
	pthread_mutex_lock(&mutex);
	if (overrun) {
		r = UEVENT_E_OVERRUN;
		u->n_overruns++;
		overrun = false;
	} else if (first < last) {
		*ret = queue[first++];
		r = 0;
	}
	pthread_mutex_unlock(&mutex);
	return r;
}
