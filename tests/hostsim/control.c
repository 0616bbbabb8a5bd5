/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "control.h"
#include "cost.h"
#include "count.h"
#include "faults.h"
#include "fs.h"
#include "host.h"
#include "later.h"

const char control_help[] =
	"  report [--vfs]         the counts so far, as JSON\n"
	"  reset                  forget the counts and what was materialised\n"
	"  fault SPEC             add to the fault plan; says its number\n"
	"  unfault [N|all]        take a fault out of the plan (hanging calls go on hanging)\n"
	"  faults                 the plan, and how often each fault was seen and hit\n"
	"  hanging                calls that hang now\n"
	"  wait-hanging [N [S]]   until N calls hang, S seconds at most (1, 10)\n"
	"  release [N|all] [E]    let hanging calls (of fault N) go on, or fail with errno E\n"
	"  trace FILE|off         write each operation as a line\n"
	"  clock                  --late and the like begin to count (with --stopped)\n"
	"  costs PRESET|FILE      another cost plan\n"
	"  appear PF              a PF (pf1 or address) is plugged in, or comes late now\n"
	"  vanish PF|PF/I|BDF     a PF or VF is pulled out\n"
	"  load DRIVER            a driver is registered, and takes what it matches\n"
	"  unload DRIVER          the opposite\n"
	"  text GLOB=TEXT         files shall say this\n"
	"  devices                functions, drivers, groups, VFIO numbers, who is held open\n";

static int listen_fd = -1;

static void act_vanish(void *of, unsigned a, unsigned b)
{
	(void) a, (void) b;
	sriov_vanish(of);
}

static void act_appear(void *of, unsigned a, unsigned b)
{
	(void) a, (void) b;
	sriov_appear(of);
}

static void put_devices(FILE *out)
{
	model_lock();
	for (const struct device *d = model.first; d; d = d->bus_next)
		fprintf(out, "%s %s driver=%s override=%s group=%d vfio=%d open=%u\n", d->name,
			d->kind == DEVICE_PF   ? "pf"
			: d->kind == DEVICE_VF ? "vf"
					       : "port",
			d->driver ? d->driver->name : "-", d->override ?: "-",
			d->group ? (int) d->group->id : -1, d->vfio,
			d->opened + (d->group && d->vfio >= 0 ? d->group->opened : 0));
	model_unlock();
}

static int release(char **word, FILE *out)
{
	bool has_number = word[1] && word[1][0] != 'E';
	const char *error = has_number ? word[2] : word[1];
	const char *number = has_number && strcmp(word[1], "all") != 0 ? word[1] : NULL;
	int e = error ? errno_of(error) : 0;

	if (error && !e)
		return -EINVAL;
	fprintf(out, "%u\n", faults_release(number, e));
	return 0;
}

static int appear_or_vanish(const char *what, bool appears)
{
	struct pf_config *c = what ? host_find_pf(what) : NULL;
	struct device *d = what ? host_find(what) : NULL;

	if (appears ? !c : !d)
		return -ENOENT;
	later_do(0, appears ? act_appear : act_vanish, appears ? (void *) c : (void *) d, 0, 0);
	return 0;
}

static int plan_command(char **word, FILE *out)
{
	if (strcmp(word[0], "fault") == 0 && word[1])
		return faults_add(word[1]);
	if (strcmp(word[0], "unfault") == 0)
		return faults_remove(word[1] ?: "all");
	if (strcmp(word[0], "faults") == 0)
		return faults_list(out), 0;
	if (strcmp(word[0], "hanging") == 0)
		return faults_hanging(out), 0;
	if (strcmp(word[0], "wait-hanging") == 0)
		return faults_wait_hanging(word[1] ? (unsigned) atoi(word[1]) : 1,
					   word[1] && word[2] ? atof(word[2]) : 10)
			       ? 0
			       : -ETIMEDOUT;
	if (strcmp(word[0], "release") == 0)
		return release(word, out);
	return -ENOSYS;
}

static int command(char **word, FILE *out)
{
	int r = plan_command(word, out);

	if (r != -ENOSYS)
		return r;
	if (strcmp(word[0], "report") == 0)
		return count_report(out, word[1] ? COUNT_WITH_VFS : 0), 0;
	if (strcmp(word[0], "reset") == 0)
		return count_reset(), 0;
	if (strcmp(word[0], "clock") == 0)
		return later_start(), 0;
	if (strcmp(word[0], "devices") == 0)
		return put_devices(out), 0;
	if (!word[1])
		return -EINVAL;
	if (strcmp(word[0], "trace") == 0)
		return faults_trace(strcmp(word[1], "off") ? word[1] : NULL);
	if (strcmp(word[0], "costs") == 0)
		return cost_load(word[1]);
	if (strcmp(word[0], "appear") == 0 || strcmp(word[0], "vanish") == 0)
		return appear_or_vanish(word[1], word[0][0] == 'a');
	if (strcmp(word[0], "load") == 0)
		return driver_register(word[1]);
	if (strcmp(word[0], "unload") == 0)
		return driver_unregister(word[1]);
	if (strcmp(word[0], "text") == 0)
		return fs_set_text(word[1]), 0;
	return -EINVAL;
}

static void *serve(void *arg)
{
	int fd = (int) (intptr_t) arg, r;
	char line[1024], *word[8] = { NULL }, *rest;
	ssize_t n = read(fd, line, sizeof(line) - 1);
	FILE *out = fdopen(fd, "w");

	if (!out) {
		close(fd);
		return NULL;
	}
	line[n > 0 ? n : 0] = 0;
	word[0] = strtok_r(line, "\t\n", &rest);
	for (size_t i = 1; i < 7 && word[i - 1]; i++)
		word[i] = strtok_r(NULL, "\t\n", &rest);
	r = word[0] ? command(word, out) : -EINVAL;
	if (r < 0)
		fprintf(out, "!%s\n", strerrorname_np(-r) ?: "EINVAL");
	fclose(out);
	return NULL;
}

static void *loop(void *unused)
{
	(void) unused;
	for (;;) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (fd < 0)
			continue;
		if (pthread_create(&thread, NULL, serve, (void *) (intptr_t) fd) == 0)
			pthread_detach(thread);
		else
			close(fd);
	}
	return NULL;
}

int control_start(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t thread;

	listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	(void) unlink(path); /* of a run before */
	if (listen_fd < 0 || bind(listen_fd, (struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(listen_fd, 64) < 0)
		return -errno;
	return -pthread_create(&thread, NULL, loop, NULL);
}

int control_ask(const char *path, int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result = 0;
	char line[1024] = "";
	FILE *in;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0) {
		fprintf(stderr, "hostsim: no simulated host at '%s': %m\n", path);
		return 1;
	}
	for (int i = 0; i < argc; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? "\t" : "",
			 argv[i]);
	if (write(fd, line, strlen(line)) < 0 || shutdown(fd, SHUT_WR) < 0 ||
	    !(in = fdopen(fd, "r")))
		return 1;
	while (fgets(line, sizeof(line), in)) {
		if (*line == '!') {
			fprintf(stderr, "hostsim: %s: %s", argv[0], line + 1);
			result = 1;
		} else {
			fputs(line, stdout);
		}
	}
	fclose(in);
	return result;
}
