/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include "later.h"
#include "model.h"

struct act {
	double at;
	later_act_t *act;
	void *of;
	unsigned a, b;
	uint64_t order;
};

/* A heap; the next act is heap[0] */
static struct act *heap;
static size_t n_heap, size_heap;
static uint64_t n_ever;
static bool started;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static double zero;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9 - zero;
}

static bool before(const struct act *a, const struct act *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void push(struct act act)
{
	size_t i = n_heap++;

	if (n_heap > size_heap) {
		size_heap = size_heap ? 2 * size_heap : 64;
		heap = realloc(heap, size_heap * sizeof(*heap));
		if (!heap)
			abort();
	}
	for (; i && before(&act, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = act;
}

static struct act pop(void)
{
	struct act first = heap[0], last = heap[--n_heap];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < n_heap) {
		child += child + 1 < n_heap && before(&heap[child + 1], &heap[child]);
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

static void *run_act(void *act)
{
	struct act a = *(struct act *) act;

	free(act);
	a.act(a.of, a.a, a.b);
	return NULL;
}

static void spawn(struct act act)
{
	struct act *copy = must_alloc(1, sizeof(*copy));
	pthread_attr_t attr;
	pthread_t thread;

	*copy = act;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 << 10);
	if (pthread_create(&thread, &attr, run_act, copy) != 0)
		run_act(copy);
	pthread_attr_destroy(&attr);
}

static void *loop(void *unused)
{
	(void) unused;
	pthread_mutex_lock(&mutex);
	for (;;) {
		if (!n_heap) {
			pthread_cond_wait(&changed, &mutex);
		} else if (heap[0].at <= now()) {
			struct act act = pop();

			pthread_mutex_unlock(&mutex);
			spawn(act);
			pthread_mutex_lock(&mutex);
		} else {
			double at = heap[0].at + zero;
			struct timespec t = { .tv_sec = (time_t) at };

			t.tv_nsec = (long) ((at - (double) t.tv_sec) * 1e9);
			(void) pthread_cond_timedwait(&changed, &mutex, &t); /* looks again */
		}
	}
	return NULL;
}

void later_do(double seconds, later_act_t *act, void *of, unsigned a, unsigned b)
{
	pthread_mutex_lock(&mutex);
	push((struct act){ (started ? now() : 0) + seconds, act, of, a, b, n_ever++ });
	if (started)
		pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

void later_start(void)
{
	pthread_condattr_t attr;
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	if (started) {
		pthread_mutex_unlock(&mutex);
		return;
	}
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	zero = now();
	started = true;
	pthread_mutex_unlock(&mutex);
	if (pthread_create(&thread, NULL, loop, NULL) != 0)
		abort();
	pthread_detach(thread);
}
