/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cost.h"

enum { LOCKS_MAX = 8 };
static struct lock {
	char name[24];
	pthread_mutex_t mutex;
} locks[LOCKS_MAX];
static size_t n_locks;

static struct price {
	struct lock *lock;
	bool of_pf;
	double ms, per_vf_ms;
} prices[_COST_MAX];

static const char *const names[_COST_MAX] = {
	[COST_NUMVFS] = "numvfs",
	[COST_DISABLE] = "disable",
	[COST_BIND] = "bind",
};

static const struct {
	const char *name, *text;
} presets[] = {
	{ "none", "" },
	/* drivers/pci/iov.c: msleep(100) and the loop over VFs, ssleep(1) when disabling, all under
	 * pci_rescan_remove_lock; binding is serial by iommu_probe_device_lock, vfio.group_lock,
	 * kernfs_rwsem and others (FACTS 6). */
	{ "today", "numvfs lock=rescan ms=100 per-vf-ms=1\n"
		   "disable lock=rescan ms=1000\n"
		   "bind lock=bind ms=0.5\n" },
	{ "parallel", "numvfs lock=pf ms=100 per-vf-ms=1\n"
		      "disable lock=pf ms=1000\n"
		      "bind lock=pf ms=0.5\n" },
};

/* Of each PF a lock of its own: the device lock is held by sriov_numvfs for all its time, and
 * binding doesn't take it.
 * Recursive, for a VF may be bound while it is made (autoprobe). */
static pthread_mutex_t pf_locks[PFS_MAX] = { [0 ... PFS_MAX - 1] =
						     PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

static struct lock *lock_of(const char *name)
{
	size_t i = 0;

	while (i < n_locks && strcmp(locks[i].name, name) != 0)
		i++;
	if (i == LOCKS_MAX)
		return NULL;
	if (i == n_locks) {
		snprintf(locks[i].name, sizeof(locks[i].name), "%s", name);
		locks[i].mutex = (pthread_mutex_t) PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
		n_locks++;
	}
	return &locks[i];
}

static int parse_line(char *line)
{
	char *rest, *word = strtok_r(line, " \t\n", &rest);
	struct price p = { 0 };
	size_t i = 0;

	if (!word || *word == '#')
		return 0;
	while (i < _COST_MAX && strcmp(names[i], word) != 0)
		i++;
	if (i == _COST_MAX)
		return -EINVAL;
	while ((word = strtok_r(NULL, " \t\n", &rest))) {
		if (strncmp(word, "ms=", 3) == 0)
			p.ms = atof(word + 3);
		else if (strncmp(word, "per-vf-ms=", 10) == 0)
			p.per_vf_ms = atof(word + 10);
		else if (strcmp(word, "lock=pf") == 0)
			p.of_pf = true;
		else if (strncmp(word, "lock=", 5) == 0 && strcmp(word + 5, "none") != 0)
			p.lock = lock_of(word + 5);
		else if (strncmp(word, "lock=", 5) != 0)
			return -EINVAL;
	}
	prices[i] = p;
	return 0;
}

static int parse(FILE *f)
{
	char line[256];

	while (fgets(line, sizeof(line), f))
		if (parse_line(line) < 0) {
			fprintf(stderr,
				"hostsim: costs: cannot read the line beginning '%s'; "
				"expected: numvfs|disable|bind [lock=none|pf|NAME] [ms=N] "
				"[per-vf-ms=N]\n",
				line);
			return -EINVAL;
		}
	return 0;
}

int cost_load(const char *what)
{
	FILE *f = NULL;
	int r;

	memset(prices, 0, sizeof(prices));
	for (size_t i = 0; i < sizeof(presets) / sizeof(*presets); i++)
		if (strcmp(presets[i].name, what) == 0) {
			if (!*presets[i].text)
				return 0;
			f = fmemopen((char *) presets[i].text, strlen(presets[i].text), "r");
		}
	if (!f)
		f = fopen(what, "re");
	if (!f) {
		fprintf(stderr,
			"hostsim: costs: '%s' is neither none, today, parallel nor a file "
			"to read: %m\n",
			what);
		return -errno;
	}
	r = parse(f);
	fclose(f);
	return r;
}

static pthread_mutex_t *mutex_of(const struct price *p, const struct device *pf)
{
	if (p->of_pf && pf->sriov)
		return &pf_locks[pf->sriov->config->index];
	return p->lock ? &p->lock->mutex : NULL;
}

/* Sleeping is inexact by some 60 us; what one sleep took too long the next of this thread gives
 * back. */
static _Thread_local double debt_ns;

static void pay(double ms)
{
	struct timespec begun, ended, t;

	if (ms <= 0 || model.booting)
		return;
	debt_ns += ms * 1e6;
	if (debt_ns < 1e5)
		return;
	t.tv_sec = (time_t) (debt_ns / 1e9);
	t.tv_nsec = (long) (debt_ns - (double) t.tv_sec * 1e9);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
	clock_gettime(CLOCK_MONOTONIC, &ended);
	debt_ns -= (double) (ended.tv_sec - begun.tv_sec) * 1e9 +
		   (double) (ended.tv_nsec - begun.tv_nsec);
}

void cost_begin(enum cost cost, struct device *pf)
{
	pthread_mutex_t *mutex = mutex_of(&prices[cost], pf);

	if (mutex)
		pthread_mutex_lock(mutex);
	pay(prices[cost].ms);
}

void cost_each(enum cost cost, unsigned i)
{
	(void) i;
	pay(prices[cost].per_vf_ms);
}

void cost_end(enum cost cost, struct device *pf)
{
	pthread_mutex_t *mutex = mutex_of(&prices[cost], pf);

	if (mutex)
		pthread_mutex_unlock(mutex);
}
