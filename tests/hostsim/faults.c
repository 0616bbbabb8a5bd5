/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "entries.h"
#include "faults.h"

enum action {
	FAULT_ERROR,
	FAULT_HANG,
	FAULT_SHORT,
	FAULT_VANISH,
	FAULT_KILL,
	FAULT_KILL_AFTER,
	FAULT_DROP,
	FAULT_DELAY
};
enum { OP_ANY = _OP_MAX, OP_UEVENT, FAULTS_MAX = 256 };

struct fault {
	bool used;
	unsigned op;
	char comm[16]; /* "": of any process */
	char glob[256];
	uint64_t from, to, seen, hit;
	enum action action;
	int error;
	double ms;
	char spec[400];
};

struct hang {
	unsigned fault;
	struct call call;
	char path[TREE_PATH_MAX];
	bool released;
	int error;
	struct hang *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fault faults[FAULTS_MAX];
static size_t n_faults;
static _Atomic size_t n_used;
static struct hang *hangs;
static FILE *trace;
static _Atomic bool traces;
static uint64_t n_traced;

int errno_of(const char *name)
{
	for (int i = 1; i < 134; i++) {
		const char *known = strerrorname_np(i);

		if (known && strcmp(known, name) == 0)
			return i;
	}
	return 0;
}

static int parse_op(char *text, struct fault *f)
{
	char *at = strchr(text, '@');

	if (at) {
		*at = 0;
		snprintf(f->comm, sizeof(f->comm), "%s", at + 1);
	}
	for (f->op = 0; f->op < _OP_MAX; f->op++)
		if (strcmp(op_names[f->op], text) == 0)
			return 0;
	if (strcmp(text, "any") == 0)
		return 0;
	f->op = OP_UEVENT;
	return strcmp(text, "uevent") == 0 ? 0 : -EINVAL;
}

/* "3", "3-5", "3+" or "*" */
static int parse_range(const char *text, struct fault *f)
{
	char *end;

	f->from = 1;
	f->to = UINT64_MAX;
	if (strcmp(text, "*") == 0)
		return 0;
	f->from = f->to = strtoull(text, &end, 10);
	if (strcmp(end, "+") == 0)
		f->to = UINT64_MAX;
	else if (*end == '-')
		f->to = strtoull(end + 1, &end, 10);
	return f->from && (!*end || f->to == UINT64_MAX) ? 0 : -EINVAL;
}

static int parse_action(const char *text, struct fault *f)
{
	static const char *const words[] = {
		[FAULT_HANG] = "hang", [FAULT_SHORT] = "short",           [FAULT_VANISH] = "vanish",
		[FAULT_KILL] = "kill", [FAULT_KILL_AFTER] = "kill-after", [FAULT_DROP] = "drop",
	};

	for (size_t i = FAULT_HANG; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], text) == 0) {
			f->action = (enum action) i;
			return 0;
		}
	if (strncmp(text, "delay=", 6) == 0) {
		f->action = FAULT_DELAY;
		f->ms = atof(text + 6);
		return 0;
	}
	f->action = FAULT_ERROR;
	f->error = errno_of(text);
	return f->error && f->error != ENOSYS ? 0 : -EINVAL; /* FUSE has its own idea of ENOSYS */
}

int faults_add(const char *spec)
{
	struct fault f = { .used = true };
	char copy[400], *first, *last, *equals;
	bool good = false;

	snprintf(copy, sizeof(copy), "%s", spec);
	memcpy(f.spec, copy, sizeof(copy));
	first = strchr(copy, ':');
	equals = strchr(copy, '=');
	if (equals)
		*equals = 0;
	last = equals ? strrchr(copy, ':') : NULL;
	if (first && last && last > first) {
		*first = *last = 0;
		snprintf(f.glob, sizeof(f.glob), "%s", first + 1);
		good = parse_op(copy, &f) == 0 && parse_range(last + 1, &f) == 0 &&
		       parse_action(equals + 1, &f) == 0;
	}
	if (!good) {
		fprintf(stderr,
			"hostsim: fault '%s' is not of the form "
			"OP[@COMM]:PATHGLOB:K=ACTION, see tests/hostsim/README.md\n",
			spec);
		return -EINVAL;
	}
	pthread_mutex_lock(&mutex);
	if (n_faults < FAULTS_MAX) {
		faults[n_faults++] = f;
		n_used++;
	}
	pthread_mutex_unlock(&mutex);
	return 0;
}

int faults_remove(const char *number)
{
	size_t n = strcmp(number, "all") == 0 ? 0 : strtoul(number, NULL, 10);
	int r = n ? -ENOENT : 0;

	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < n_faults; i++)
		if (faults[i].used && (!n || n == i + 1)) {
			faults[i].used = false;
			n_used--;
			r = 0;
		}
	pthread_mutex_unlock(&mutex);
	return r;
}

void faults_list(FILE *out)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < n_faults; i++)
		if (faults[i].used)
			fprintf(out, "%zu %s seen=%ju hit=%ju\n", i + 1, faults[i].spec,
				(uintmax_t) faults[i].seen, (uintmax_t) faults[i].hit);
	pthread_mutex_unlock(&mutex);
}

bool faults_wants_paths(void)
{
	return n_used || traces;
}

static void path_of(const struct call *c, char ret[static TREE_PATH_MAX])
{
	tree_path(c->node, ret);
	if (c->op == OP_LOOKUP)
		snprintf(ret + strlen(ret), TREE_PATH_MAX - strlen(ret), "/%s", c->name);
}

static void trace_call(const struct call *c, const char *path)
{
	if (!trace)
		return;
	fprintf(trace, "%ju %s %s[%d] %s", (uintmax_t) ++n_traced, op_names[c->op], c->comm,
		(int) c->tgid, path);
	fputs(c->text ? " \"" : "", trace);
	for (const char *p = c->text; p && *p && p < c->text + 60; p++)
		if (*p == '\n')
			fputs("\\n", trace);
		else
			putc(*p, trace);
	fputs(c->text ? "\"\n" : "\n", trace);
	fflush(trace);
}

/* Result of what was traced, in a line of its own: others may have come between. */
void faults_trace_result(const struct call *c, int result)
{
	char path[TREE_PATH_MAX];

	if (!traces || result >= 0)
		return;
	path_of(c, path);
	pthread_mutex_lock(&mutex);
	if (trace)
		fprintf(trace, "  -%s %s %s[%d] %s\n", strerrorname_np(-result) ?: "E?",
			op_names[c->op], c->comm, (int) c->tgid, path);
	pthread_mutex_unlock(&mutex);
}

/* The first fault whose turn it is; all that match count. Needs the mutex. */
static struct fault *find(unsigned op, const char *comm, const char *path)
{
	struct fault *found = NULL;

	for (size_t i = 0; i < n_faults; i++) {
		struct fault *f = &faults[i];

		if (!f->used || (f->op != op && (f->op != OP_ANY || op == OP_UEVENT)) ||
		    (*f->comm && strcmp(f->comm, comm) != 0) || fnmatch(f->glob, path, 0) != 0)
			continue;
		f->seen++;
		if (!found && f->seen >= f->from && f->seen <= f->to)
			found = f;
	}
	if (found)
		found->hit++;
	return found;
}

bool faults_drop_uevent(const char *event)
{
	const struct fault *f;

	if (!n_used)
		return false;
	pthread_mutex_lock(&mutex);
	f = find(OP_UEVENT, "", event);
	pthread_mutex_unlock(&mutex);
	return f && f->action == FAULT_DROP;
}

void faults_kill(const struct call *c)
{
	(void) kill(c->tgid, SIGKILL); /* it may be dead already */
}

/* A hanging write of sriov_numvfs has the PF's device lock, as in a PF driver that never comes
 * back: whoever reads the number hangs as well. */
static int hang(struct call *c, unsigned fault, const char *path)
{
	struct hang h = { .fault = fault, .call = *c }, **at;
	unsigned slot;
	struct device *d = tree_device(c->node, &slot);

	snprintf(h.path, sizeof(h.path), "%s", path);
	if (c->op == OP_WRITE && d && entries_is_numvfs(d, slot)) {
		pthread_mutex_lock(&d->lock);
		c->held = d;
	}
	pthread_mutex_lock(&mutex);
	h.next = hangs;
	hangs = &h;
	pthread_cond_broadcast(&changed);
	while (!h.released)
		pthread_cond_wait(&changed, &mutex);
	for (at = &hangs; *at != &h; at = &(*at)->next)
		;
	*at = h.next;
	pthread_mutex_unlock(&mutex);
	return h.error;
}

/* The function that the path is about: the one of the node, or the one named by the text. */
static void vanish(const struct call *c)
{
	unsigned slot;
	struct device *d = tree_device(c->node, &slot);

	model_lock();
	if (c->op == OP_LOOKUP && bus_find_line(c->name))
		d = bus_find_line(c->name);
	else if (!d && c->text)
		d = bus_find_line(c->text);
	model_unlock();
	if (d && d->alive && (d->kind == DEVICE_VF || d->kind == DEVICE_PF))
		sriov_vanish(d);
}

static void nap(double ms)
{
	struct timespec t = { .tv_sec = (time_t) (ms / 1e3) };

	t.tv_nsec = (long) ((ms / 1e3 - (double) t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

/* The last lookup that failed by a fault, of each thread */
static struct failed {
	pid_t tid;
	node_t node;
	char name[64];
	int error;
} failed[256];

static void remember_failed(const struct call *c, int error)
{
	struct failed *f = &failed[(unsigned) c->tid % 256];

	/* fs/fuse/dir.c: fuse_dentry_revalidate() gives these two to the program, with others it
	 * throws the name away and asks again */
	if (c->op != OP_LOOKUP || !error || error == EINTR || error == ENOMEM)
		return;
	pthread_mutex_lock(&mutex);
	*f = (struct failed){ .tid = c->tid, .node = c->node, .error = error };
	snprintf(f->name, sizeof(f->name), "%s", c->name);
	pthread_mutex_unlock(&mutex);
}

int faults_again(const struct call *c)
{
	struct failed *f = &failed[(unsigned) c->tid % 256];
	int error = 0;

	if (!n_used)
		return 0;
	pthread_mutex_lock(&mutex);
	if (f->tid == c->tid) {
		if (c->op == OP_LOOKUP && f->node == c->node && strcmp(f->name, c->name) == 0)
			error = f->error;
		f->tid = 0;
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

enum verdict faults_check(struct call *c, int *ret_error)
{
	char path[TREE_PATH_MAX];
	struct fault *f, copy;

	*ret_error = 0;
	if (!faults_wants_paths())
		return CALL_GOES_ON;
	path_of(c, path);
	pthread_mutex_lock(&mutex);
	trace_call(c, path);
	f = find(c->op, c->comm, path);
	if (f)
		copy = *f;
	pthread_mutex_unlock(&mutex);
	if (!f)
		return CALL_GOES_ON;
	switch (copy.action) {
	case FAULT_ERROR:
		*ret_error = copy.error;
		remember_failed(c, copy.error);
		return CALL_FAILS;
	case FAULT_HANG:
		*ret_error = hang(c, (unsigned) (f - faults) + 1, path);
		remember_failed(c, *ret_error);
		return *ret_error ? CALL_FAILS : CALL_GOES_ON;
	case FAULT_SHORT:
		return CALL_IS_SHORT;
	case FAULT_VANISH:
		vanish(c);
		return CALL_GOES_ON;
	case FAULT_KILL:
		faults_kill(c);
		*ret_error = EINTR;
		return CALL_FAILS;
	case FAULT_KILL_AFTER:
		return CALL_THEN_KILL;
	case FAULT_DELAY:
		nap(copy.ms);
		return CALL_GOES_ON;
	case FAULT_DROP:
		return CALL_GOES_ON;
	}
	return CALL_GOES_ON;
}

unsigned faults_release(const char *number, int error)
{
	unsigned n = number ? (unsigned) strtoul(number, NULL, 10) : 0, released = 0;

	pthread_mutex_lock(&mutex);
	for (struct hang *h = hangs; h; h = h->next)
		if (!h->released && (!n || h->fault == n)) {
			h->released = true;
			h->error = error;
			released++;
		}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return released;
}

unsigned faults_hanging(FILE *out)
{
	unsigned n = 0;

	pthread_mutex_lock(&mutex);
	for (const struct hang *h = hangs; h; h = h->next) {
		if (h->released)
			continue;
		n++;
		if (out)
			fprintf(out, "%u %s %s[%d] %s\n", h->fault, op_names[h->call.op],
				h->call.comm, (int) h->call.tgid, h->path);
	}
	pthread_mutex_unlock(&mutex);
	return n;
}

bool faults_wait_hanging(unsigned n, double seconds)
{
	for (double ms = 0; faults_hanging(NULL) < n; ms += 2) {
		if (ms > seconds * 1e3)
			return false;
		nap(2);
	}
	return true;
}

int faults_trace(const char *path)
{
	FILE *new = path ? fopen(path, "we") : NULL;

	if (path && !new)
		return -errno;
	pthread_mutex_lock(&mutex);
	if (trace)
		fclose(trace);
	trace = new;
	traces = trace;
	n_traced = 0;
	pthread_mutex_unlock(&mutex);
	return 0;
}
