/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "count.h"
#include "entries.h"

const char *const op_names[_OP_MAX] = { "lookup", "open", "read", "write", "readlink", "readdir" };

struct sums {
	uint64_t ops[_OP_MAX];
	uint64_t vf_lookups, vf_readdirs, nodes;
};

struct process {
	pid_t tgid;
	char comm[16];
	struct sums sums;
	struct process *next;
};

struct thread {
	pid_t tid, tgid;
	uint64_t known_ns;
	char comm[16];
};

enum { PROCESSES = 4096, THREADS = 1024, REPORTED_MAX = 64 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct process *processes[PROCESSES];
static struct thread threads[THREADS];
static struct sums total;
static size_t n_processes;
static uint64_t n_uevents;
/* From the table of the lazy sysfs proposal (FACTS 8): 165.1 ms for 369,401 nodes and 43.5 ms for
 * 44,406 of 5,000 devices. */
static double node_ns = 374, device_ns = 5380;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static bool read_line(const char *format, pid_t pid, const char *key, char *ret, size_t size)
{
	char path[64], line[128];
	size_t len = strlen(key);
	bool found = false;
	FILE *f;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path, sizeof(path), format, (int) pid);
#pragma GCC diagnostic pop
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (strncmp(line, key, len) == 0) {
			line[strcspn(line, "\n")] = 0;
			snprintf(ret, size, "%s", line + len);
			found = true;
		}
	if (f)
		fclose(f);
	return found;
}

/* The process, and its name: threads may have others. */
static void ask_proc(struct thread *t)
{
	char text[32];

	t->tgid = t->tid;
	if (read_line("/proc/%d/status", t->tid, "Tgid:", text, sizeof(text)))
		t->tgid = atoi(text);
	strcpy(t->comm, "?");
	(void) read_line("/proc/%d/comm", t->tgid, "", t->comm, sizeof(t->comm)); /* or gone */
}

/* FUSE tells the thread. What /proc says of it is believed for 5 ms: longer, and an exec or a
 * number used again would be missed. */
void count_caller(struct call *c)
{
	struct thread t = { .tid = c->tid, .known_ns = now_ns() };
	struct thread *cached = &threads[(unsigned) c->tid % THREADS];
	bool known;

	pthread_mutex_lock(&mutex);
	known = cached->tid == c->tid && t.known_ns - cached->known_ns < 5000000;
	if (known)
		t = *cached;
	pthread_mutex_unlock(&mutex);
	if (!known) {
		ask_proc(&t);
		pthread_mutex_lock(&mutex);
		*cached = t;
		pthread_mutex_unlock(&mutex);
	}
	c->tgid = t.tgid;
	memcpy(c->comm, t.comm, sizeof(c->comm));
}

static struct process *process_of(const struct call *c)
{
	struct process **at = &processes[(unsigned) c->tgid % PROCESSES];

	while (*at && (*at)->tgid != c->tgid)
		at = &(*at)->next;
	if (!*at) {
		*at = must_alloc(1, sizeof(**at));
		(*at)->tgid = c->tgid;
		n_processes++;
	}
	memcpy((*at)->comm, c->comm, sizeof(c->comm));
	return *at;
}

/* Needs both mutexes. */
static void see(struct process *p, struct device *d, unsigned slot)
{
	uint64_t bit = UINT64_C(1) << (slot & 63);

	if (!slot || d->forgotten || (d->seen[slot >> 6] & bit))
		return;
	d->seen[slot >> 6] |= bit;
	p->sums.nodes++;
	total.nodes++;
}

static void count_directory(struct process *p, struct device *d, unsigned dir)
{
	char name[40];

	d->n_readdirs++;
	p->sums.vf_readdirs++;
	total.vf_readdirs++;
	for (unsigned i = 1; i < entries_max(); i++)
		if (entries_at(i)->parent == dir && entries_visible(d, i, name))
			see(p, d, i);
}

void count_call(const struct call *c)
{
	unsigned slot;
	struct device *d = tree_device(c->node, &slot);
	struct process *p;

	model_lock();
	pthread_mutex_lock(&mutex);
	p = process_of(c);
	p->sums.ops[c->op]++;
	total.ops[c->op]++;
	if (d && d->kind == DEVICE_VF && c->op == OP_LOOKUP) {
		d->n_lookups++;
		p->sums.vf_lookups++;
		total.vf_lookups++;
	}
	if (d && d->kind == DEVICE_VF && c->op == OP_READDIR)
		count_directory(p, d, slot);
	pthread_mutex_unlock(&mutex);
	model_unlock();
}

void count_found(const struct call *c, node_t node)
{
	unsigned slot;
	struct device *d = tree_device(node, &slot);

	if (!d || d->kind != DEVICE_VF || !slot)
		return;
	model_lock();
	pthread_mutex_lock(&mutex);
	see(process_of(c), d, slot);
	pthread_mutex_unlock(&mutex);
	model_unlock();
}

void count_uevent(void)
{
	n_uevents++; /* under the model's mutex */
}

void count_reset(void)
{
	model_lock();
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < PROCESSES; i++)
		while (processes[i]) {
			struct process *gone = processes[i];

			processes[i] = gone->next;
			free(gone);
		}
	n_processes = 0;
	n_uevents = 0;
	total = (struct sums){ 0 };
	model.n_vfs = model.n_nodes = 0;
	for (size_t i = 0; i < model.n_devices; i++) {
		struct device *d = model.devices[i];

		memset(d->seen, 0, sizeof(d->seen));
		d->n_lookups = d->n_readdirs = 0;
		d->forgotten = !d->alive;
		if (d->kind != DEVICE_VF || !d->alive)
			continue;
		model.n_vfs++;
		model.n_nodes += entries_count(d);
	}
	pthread_mutex_unlock(&mutex);
	model_unlock();
}

void count_set_prices(double node, double device)
{
	node_ns = node;
	device_ns = device;
}

static void put_sums(FILE *out, const struct sums *s)
{
	fprintf(out,
		"\"vfNodes\":%ju,\"vfLookups\":%ju,\"vfReaddirs\":%ju,\"lookups\":%ju,"
		"\"readdirs\":%ju,\"opens\":%ju,\"reads\":%ju,\"writes\":%ju,\"readlinks\":%ju",
		(uintmax_t) s->nodes, (uintmax_t) s->vf_lookups, (uintmax_t) s->vf_readdirs,
		(uintmax_t) s->ops[OP_LOOKUP], (uintmax_t) s->ops[OP_READDIR],
		(uintmax_t) s->ops[OP_OPEN], (uintmax_t) s->ops[OP_READ],
		(uintmax_t) s->ops[OP_WRITE], (uintmax_t) s->ops[OP_READLINK]);
}

static void put_string(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char) *text >= ' ')
			putc(*text, out);
	putc('"', out);
}

/* Many processes (a shell loop) are shown by their names only. */
static void put_processes(FILE *out)
{
	const char *comma = "";

	fprintf(out, "\"processCount\":%zu,\n\"processes\":{", n_processes);
	for (size_t i = 0; i < PROCESSES && n_processes <= REPORTED_MAX; i++)
		for (const struct process *p = processes[i]; p; p = p->next) {
			fprintf(out, "%s\n \"%d\":{\"comm\":", comma, (int) p->tgid);
			put_string(out, p->comm);
			putc(',', out);
			put_sums(out, &p->sums);
			putc('}', out);
			comma = ",";
		}
	fprintf(out, "},\n");
}

static void put_commands(FILE *out)
{
	struct {
		char comm[16];
		struct sums sums;
		size_t n;
	} all[128] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < PROCESSES; i++)
		for (const struct process *p = processes[i]; p; p = p->next) {
			size_t k = 0;

			while (k < n && strcmp(all[k].comm, p->comm) != 0)
				k++;
			if (k == 128)
				continue;
			n += k == n;
			memcpy(all[k].comm, p->comm, sizeof(p->comm));
			all[k].n++;
			for (size_t w = 0; w < sizeof(struct sums) / sizeof(uint64_t); w++)
				((uint64_t *) &all[k].sums)[w] += ((uint64_t *) &p->sums)[w];
		}
	fprintf(out, "\"commands\":{");
	for (size_t k = 0; k < n; k++) {
		fprintf(out, "%s\n ", k ? "," : "");
		put_string(out, all[k].comm);
		fprintf(out, ":{\"processes\":%zu,", all[k].n);
		put_sums(out, &all[k].sums);
		putc('}', out);
	}
	fprintf(out, "},\n");
}

static void put_vfs(FILE *out)
{
	const char *comma = "";

	fprintf(out, "\"vfList\":{");
	for (size_t i = 0; i < model.n_devices; i++) {
		const struct device *d = model.devices[i];

		if (d->kind != DEVICE_VF || d->forgotten)
			continue;
		fprintf(out, "%s\n \"%s%s\":{\"nodes\":%d,\"lookups\":%u,\"readdirs\":%u}", comma,
			d->name, d->alive ? "" : "!",
			__builtin_popcountll(d->seen[0]) + __builtin_popcountll(d->seen[1]),
			d->n_lookups, d->n_readdirs);
		comma = ",";
	}
	fprintf(out, "},\n");
}

void count_report(FILE *out, unsigned flags)
{
	double n, vfs;

	model_lock();
	pthread_mutex_lock(&mutex);
	vfs = (double) model.n_vfs;
	n = vfs > 0 ? vfs : 1;
	fprintf(out, "{");
	put_processes(out);
	put_commands(out);
	if (flags & COUNT_WITH_VFS)
		put_vfs(out);
	fprintf(out, "\"vfs\":%ju,", (uintmax_t) model.n_vfs);
	put_sums(out, &total);
	fprintf(out,
		",\"uevents\":%ju,\n\"perVf\":%.3f,\"eagerNodes\":%ju,\"eagerPerVf\":%.3f,"
		"\"eagerMs\":%.3f,\"lazyMs\":%.3f}\n",
		(uintmax_t) n_uevents, (double) total.nodes / n, (uintmax_t) model.n_nodes,
		(double) model.n_nodes / n,
		(vfs * device_ns + (double) model.n_nodes * node_ns) / 1e6,
		(vfs * device_ns + (double) total.nodes * node_ns) / 1e6);
	pthread_mutex_unlock(&mutex);
	model_unlock();
}
