/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long does a manifest take to load?   bench-manifest [VFS [RUNS [FILE]]]
 *
 * Each run is a process of its own, as a restore is: page faults of fresh memory count. Prints
 * the median of each part, and json-c's own time for the same text as what could be had with one
 * call. With FILE: leaves the text there, for other tools.
 */
#include <json-c/json.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "fdio.h"
#include "manifest-check.h"
#include "manifest-fields.h"
#include "manifest-save.h"

enum part { READ, SUM, PARSE, FIELDS, CHECK, FLOOR, FLOOR_FREED, _PART_MAX };

static const char *const part_names[_PART_MAX] = {
	[READ] = "read the file",
	[SUM] = "checksum",
	[PARSE] = "manifest_parse()",
	[FIELDS] = "  of it: fields",
	[CHECK] = "  of it: check",
	[FLOOR] = "json_tokener_parse(), tree kept",
	[FLOOR_FREED] = "json_tokener_parse(), freed",
};

enum { RUNS_MAX = 1000, VFS_OF_PF = 250 };

struct times {
	double ms[_PART_MAX][RUNS_MAX];
};

static double cpu_ms(void)
{
	struct timespec t;

	(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* it exists */
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static void write_vf(FILE *out, unsigned pf, unsigned i)
{
	unsigned vf = pf * VFS_OF_PF + i, rid = 0x80 + i;

	(void) fprintf(
		out,
		"%s\n      { \"index\": %u, \"address\": \"%04x:%02x:%02x.%x\", \"driver\": "
		"\"vfio-pci\", \"owner\": \"vm-%04u\", \"name\": \"net%u\",\n        "
		"\"network\": { \"mac\": \"52:54:00:%02x:%02x:%02x\", \"vlan\": 100, \"qos\": "
		"0, \"vlanProtocol\": \"802.1Q\", \"spoofCheck\": true,\n          \"trust\": "
		"false, \"linkState\": \"auto\", \"minTxRate\": 0, \"maxTxRate\": 0 } }",
		i > 0 ? "," : "", i, pf, rid >> 8, rid >> 3 & 31, rid & 7, vf / 4, vf % 4,
		pf & 0xff, i >> 8, i & 0xff); /* checked by fclose */
}

static void write_pf(FILE *out, unsigned pf, unsigned n)
{
	(void) fprintf(out,
		       "%s\n  { \"address\": \"%04x:00:00.0\", \"vendor\": \"8086\", \"device\": "
		       "\"10c9\", \"driver\": \"igb\", \"numVfs\": %u, \"vfDevice\": \"10ca\", "
		       "\"offset\": 128, \"stride\": 1, \"virtualFunctions\": [",
		       pf > 0 ? "," : "", pf, n); /* the same */
	for (unsigned i = 0; i < n; i++)
		write_vf(out, pf, i);
	(void) fputs(" ] }", out); /* the same */
}

static char *make_text(unsigned n_vfs, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	assert(out);
	(void) fputs("{ \"format\": \"vf-restore-manifest\", \"version\": 1, \"generation\": 42,\n"
		     "  \"machineId\": \"0123456789abcdef0123456789abcdef\",\n  \"owners\": [",
		     out); /* the same */
	for (unsigned i = 0; i * 4 < n_vfs; i++)
		(void) fprintf(
			out, "%s\n    { \"name\": \"vm-%04u\", \"priority\": 10, \"uid\": 64055 }",
			i > 0 ? "," : "", i);                 /* the same */
	(void) fputs(" ],\n  \"physicalFunctions\": [", out); /* the same */
	for (unsigned pf = 0; pf * VFS_OF_PF < n_vfs; pf++)
		write_pf(out, pf,
			 n_vfs - pf * VFS_OF_PF < VFS_OF_PF ? n_vfs - pf * VFS_OF_PF : VFS_OF_PF);
	(void) fputs(" ] }\n", out); /* the same */
	if (fclose(out) != 0)
		assert(false);
	return text;
}

static void run_floor(struct times *t, unsigned run, const char *text, bool freed)
{
	double begun = cpu_ms();
	struct json_object *tree = json_tokener_parse(text);

	assert(tree);
	if (freed)
		(void) json_object_put(tree); /* the last reference */
	t->ms[freed ? FLOOR_FREED : FLOOR][run] = cpu_ms() - begun;
}

static void run_parts(struct times *t, unsigned run, int fd)
{
	char error[MANIFEST_ERROR_LEN] = "", *text;
	struct fault fault = { .name = "it", .error = error, .error_size = sizeof(error) };
	struct manifest m = { .generation = 0 };
	struct scan s;
	double begun;
	size_t size;
	int r;

	r = fdio_read_fd(fd, MANIFEST_SIZE_MAX, &text, &size);
	assert(r == 0);
	begun = cpu_ms();
	r = scan_init(&s, &fault, text, size);
	if (r == 0)
		r = manifest_fields_read(&s, &m);
	t->ms[FIELDS][run] = cpu_ms() - begun;
	begun = cpu_ms();
	if (r == 0)
		r = manifest_check(&m, &s.names, &fault);
	t->ms[CHECK][run] = cpu_ms() - begun;
	if (r != 0)
		(void) fprintf(stderr, "%s\n", error); /* the assertion ends it */
	assert(r == 0);
}

static void run_parse(struct times *t, unsigned run, int fd)
{
	char error[MANIFEST_ERROR_LEN], sum[FDIO_SUM_STRLEN + 1], *text;
	struct manifest m;
	double begun = cpu_ms();
	size_t size;
	int r;

	r = fdio_read_fd(fd, MANIFEST_SIZE_MAX, &text, &size);
	assert(r == 0);
	t->ms[READ][run] = cpu_ms() - begun;
	begun = cpu_ms();
	fdio_sum(text, size, sum);
	t->ms[SUM][run] = cpu_ms() - begun;
	begun = cpu_ms();
	r = manifest_parse(&m, "it", text, size, error);
	assert(r == 0);
	t->ms[PARSE][run] = cpu_ms() - begun;
}

static void run_in_child(struct times *t, unsigned run, unsigned what, int fd, const char *text)
{
	int status;
	pid_t child = fork();

	assert(child >= 0);
	if (child > 0) {
		child = waitpid(child, &status, 0);
		assert(child > 0 && status == 0);
		return;
	}
	if (what == 0)
		run_parse(t, run, fd);
	else if (what == 1)
		run_parts(t, run, fd);
	else
		run_floor(t, run, text, what == 3);
	_exit(0);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static void measure(const char *name, const char *text, size_t size, unsigned runs, int fd)
{
	struct times *t;
	bool written;

	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(t != MAP_FAILED);
	written = ftruncate(fd, 0) == 0 && pwrite(fd, text, size, 0) == (ssize_t) size;
	assert(written);
	for (unsigned run = 0; run < runs; run++)
		for (unsigned what = 0; what < 4; what++)
			run_in_child(t, run, what, fd, text);
	(void) printf("%s: %zu bytes; CPU time in ms, median (least, most)\n", name,
		      size); /* seen or not */
	for (unsigned p = 0; p < _PART_MAX; p++) {
		qsort(t->ms[p], runs, sizeof(double), compare);
		(void) printf("%-34s %7.2f (%.2f, %.2f)\n", part_names[p], t->ms[p][runs / 2],
			      t->ms[p][0], t->ms[p][runs - 1]); /* seen or not */
	}
	assert(munmap(t, sizeof(*t)) == 0);
}

/* The same as manifest_save() would write it: one VF a line, no space. */
static char *as_captured(const char *text, size_t size, size_t *ret_size)
{
	char error[MANIFEST_ERROR_LEN], *captured;
	struct manifest m;
	int r;

	r = manifest_parse(&m, "it", text, size, error);
	assert(r == 0);
	r = manifest_to_text(&m, &captured, ret_size);
	assert(r == 0);
	manifest_done(&m);
	return captured;
}

int main(int argc, char *argv[])
{
	unsigned n_vfs = argc > 1 ? (unsigned) atoi(argv[1]) : 5000;
	unsigned runs = argc > 2 ? (unsigned) atoi(argv[2]) : 41;
	size_t size, captured_size;
	char *text, *captured;
	int fd;

	text = make_text(n_vfs, &size);
	captured = as_captured(text, size, &captured_size);
	fd = argc > 3 ? open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644) : memfd_create("it", 0);
	assert(fd >= 0 && runs > 0 && runs <= RUNS_MAX);
	(void) printf("%u VFs, %u processes for each number\n", n_vfs, runs); /* seen or not */
	measure("written by hand", text, size, runs, fd);
	measure("as captured", captured, captured_size, runs, fd);
	close_fd(&fd);
	free(text);
	free(captured);
	return 0;
}
