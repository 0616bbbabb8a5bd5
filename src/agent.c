/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include "vf-restore.h"
#include "account.h"
#include "agent.h"
#include "fdio.h"
#include "modules.h"

#define warn(a, ...) log_event(&(a)->log, &(struct log_event){ .level = LOG_WARNING }, __VA_ARGS__)

/* -- LOAD: paper -- */

static int read_conf(struct agent *a, const struct agent_options *o,
		     char ret_error[static AGENT_ERROR_LEN])
{
	_cleanup_(close_fd) int root = -1;
	int r = conf_init(&a->conf);

	if (r)
		return r;
	if (o->config_path) {
		r = conf_load_file(&a->conf, o->config_path, ret_error);
	} else {
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			return -errno;
		r = conf_load(&a->conf, root, ret_error);
	}
	if (o->has_strategy)
		a->conf.bind_strategy = o->strategy;
	return r > 0 ? AGENT_E_REFUSED : r;
}

static int read_manifest(struct agent *a, const struct agent_options *o,
			 char ret_error[static AGENT_ERROR_LEN])
{
	const char *path = o->manifest_path ? o->manifest_path : a->conf.manifest_path;
	_cleanup_(free_pointer) char *machine_id = NULL;
	size_t size;
	int r;

	a->manifest_path = strdup(path);
	if (!a->manifest_path)
		return -ENOMEM;
	r = manifest_load(&a->manifest, path, o->unsealed, ret_error);
	if (r == MANIFEST_E_ABSENT)
		(void) snprintf(ret_error, AGENT_ERROR_LEN, /* cut at worst */
				"%s: found nothing, expected a manifest; `vf-restore capture` "
				"writes one",
				path);
	if (r)
		return r == MANIFEST_E_ABSENT ? AGENT_E_ABSENT : r > 0 ? AGENT_E_REFUSED : r;
	r = fdio_read_file(AT_FDCWD, "/etc/machine-id", 4096, &machine_id, &size);
	if (!r) {
		machine_id[strcspn(machine_id, "\n")] = '\0';
		r = manifest_check_machine(&a->manifest, path, machine_id, ret_error);
		return r > 0 ? AGENT_E_REFUSED : r;
	}
	return r == FDIO_E_ABSENT ? 0 : r;
}

int agent_read(struct agent *a, const struct agent_options *o,
	       char ret_error[static AGENT_ERROR_LEN])
{
	int r;

	log_open(&a->log, LOG_INFO);
	a->exec_ns = o->exec_ns;
	phase_init(&a->phase, PHASE_LOAD, now_ns());
	r = read_conf(a, o, ret_error);
	if (!r)
		r = read_manifest(a, o, ret_error);
	if (r)
		return r;
	if (a->manifest.first_unknown)
		warn(a, "%s: unknown key %s (%u in all), ignoring", a->manifest_path,
		     a->manifest.first_unknown, a->manifest.n_unknown);
	r = plan_make(&a->plan, &a->manifest, &a->conf, ret_error);
	return r > 0 ? AGENT_E_REFUSED : r;
}

/* -- LOAD: ground -- */

static void load_driver(struct modules *m, const struct agent *a, const char *driver)
{
	char error[MODULES_ERROR_LEN], path[128];
	int r = modules_load(m, driver, error);

	if (!r)
		return;
	/* a built-in that the module index does not list is there all the same (CASES B19) */
	(void) snprintf(path, sizeof(path), "bus/pci/drivers/%s", driver); /* names are short */
	if (faccessat(a->sysfs_root, path, F_OK, 0) == 0)
		return;
	if (r < 0)
		warn(a, "Failed to load driver %s: %s, ignoring", driver, strerror(-r));
	else
		warn(a, "%s, ignoring", error);
}

/* Drivers of the PFs and of their VFs, each once. Few different ones, so a list will do. */
static void load_modules(struct agent *a)
{
	struct modules m;
	const char *loaded[64];
	unsigned n = 0;
	int r;

	if (!a->conf.load_modules)
		return;
	r = modules_open(&m, NULL, NULL);
	if (r) {
		warn(a, "Failed to read the module index: %s, ignoring", strerror(abs(r)));
		return;
	}
	for (unsigned i = 0; i < a->plan.n_lanes; i++) {
		const struct plan_lane *lane = &a->plan.lanes[i];

		for (unsigned k = 0; k <= lane->n_steps; k++) {
			const char *driver = k == 0 ? lane->pf->driver : lane->steps[k - 1].driver;
			unsigned seen = 0;

			if (!driver)
				continue;
			while (seen < n && strcmp(loaded[seen], driver) != 0)
				seen++;
			if (seen < n)
				continue;
			load_driver(&m, a, driver);
			if (n < ELEMENTSOF(loaded))
				loaded[n++] = driver;
		}
	}
	modules_close(&m);
}

/* Root's own directory, or we would read and write through somebody else's link. */
static int open_run_dir(struct agent *a, char ret_error[static AGENT_ERROR_LEN])
{
	static const char path[] = "/run/vf-restore";
	struct stat st;

	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return -errno;
	a->run_dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->run_dir < 0 && errno != ENOTDIR && errno != ELOOP)
		return -errno;
	if (a->run_dir < 0 || fstat(a->run_dir, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 0002)) {
		(void) snprintf(ret_error, AGENT_ERROR_LEN,
				"%s: expected a directory of this user that others cannot write; "
				"remove it",
				path); /* fits */
		return AGENT_E_REFUSED;
	}
	return 0;
}

static int open_doors(struct agent *a, char ret_error[static AGENT_ERROR_LEN])
{
	struct rlimit files;
	int r;

	a->sysfs_root = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	a->dev = a->sysfs_root < 0 ? -1 : open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->dev < 0)
		return -errno;
	r = open_run_dir(a, ret_error);
	if (r)
		return r;
	/* one fd a VF, and some */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		(void) setrlimit(RLIMIT_NOFILE, &files); /* opening says so if it is too few */
	}
	r = journal_open(&a->journal, a->run_dir);
	if (r == JOURNAL_E_LOCKED) {
		(void) snprintf(ret_error, AGENT_ERROR_LEN,
				"/run/vf-restore/journal: locked by another run; wait for its end");
		return AGENT_E_BUSY;
	}
	return r ? r : uevents_open(&a->uevents, a->conf.uevent_buffer);
}

/* -- LOAD: memory -- */

static int make_memory(struct agent *a)
{
	struct hotpath *h = &a->hot;
	size_t per_vf = sizeof(struct hot_vf) + sizeof(struct vf_outcome);
	char *p;

	h->lanes = a->memory[0] = calloc(a->plan.n_lanes + 1, sizeof(*h->lanes));
	h->owners = a->memory[1] = calloc(a->manifest.n_owners + 1, sizeof(*h->owners));
	h->registrars = a->memory[3] = calloc(a->plan.n_id_groups + 1, sizeof(*h->registrars));
	p = a->memory[2] = calloc(a->plan.n_vfs + 1, per_vf);
	if (!h->lanes || !h->owners || !h->registrars || !p)
		return -ENOMEM;
	for (unsigned i = 0; i < a->plan.n_lanes; i++) {
		unsigned n = a->plan.lanes[i].n_vfs;

		h->lanes[i].vfs = (struct hot_vf *) p;
		p += n * sizeof(struct hot_vf);
		h->lanes[i].lane.outcomes = (struct vf_outcome *) p;
		p += n * sizeof(struct vf_outcome);
	}
	return 0;
}

/* What a killed run before this one left half done. */
static int read_journal(struct agent *a)
{
	_cleanup_(free_pointer) char *text = NULL;
	char id[REGISTRAR_ID_LEN];
	size_t size;
	int r = fdio_read_fd(a->journal.fd, 16 << 20, &text, &size);

	if (r)
		return r < 0 ? r : -EFBIG;
	for (unsigned i = 0; i < a->plan.n_lanes; i++)
		journal_find_autoprobe(text, a->plan.lanes[i].pf->address,
				       &a->hot.lanes[i].lane.left);
	for (unsigned i = 0; i < a->plan.n_id_groups; i++) {
		registrar_id_text(&a->plan.id_groups[i], id);
		a->hot.registrars[i].left = journal_find_id(text, id);
	}
	return 0;
}

int agent_load(struct agent *a, char ret_error[static AGENT_ERROR_LEN])
{
	int r = open_doors(a, ret_error);

	if (r)
		return r;
	load_modules(a);
	r = make_memory(a);
	if (!r)
		r = read_journal(a);
	if (r)
		return r;
	a->hot.plan = &a->plan;
	a->hot.conf = &a->conf;
	a->hot.uevents = &a->uevents;
	return hotpath_init(&a->hot, a->sysfs_root, a->dev, &a->journal);
}

/* -- HOT -- */

static int on_uevent(sd_event_source *source, int fd, uint32_t events, void *user)
{
	struct agent *a = user;

	hotpath_on_uevent(&a->hot, now_ns());
	return 0;
}

static int on_report(sd_event_source *source, int fd, uint32_t events, void *user)
{
	struct agent *a = user;

	hotpath_on_report(&a->hot, now_ns());
	return 0;
}

static int add_sources(struct agent *a)
{
	int r = sd_event_new(&a->loop);

	if (r >= 0)
		r = sd_event_add_io(a->loop, NULL, a->uevents.fd, EPOLLIN, on_uevent, a);
	if (r >= 0)
		r = sd_event_add_io(a->loop, NULL, a->hot.report_fd, EPOLLIN, on_report, a);
	return r < 0 ? r : 0;
}

static uint64_t usec_to_wait(const struct agent *a, uint64_t now)
{
	uint64_t next = hotpath_next_deadline(&a->hot);

	if (next == UINT64_MAX)
		return UINT64_MAX;
	return next <= now ? 0 : (next - now + NSEC_PER_USEC - 1) / NSEC_PER_USEC;
}

static uint64_t realtime_usec(void)
{
	struct timespec t;

	(void) clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for a clock that exists */
	return (uint64_t) t.tv_sec * 1000000 + (uint64_t) t.tv_nsec / 1000;
}

static bool left_nothing_open(const struct agent *a)
{
	for (unsigned i = 0; i < a->plan.n_lanes; i++) {
		const struct lane *l = &a->hot.lanes[i].lane;

		if (!a->hot.lanes[i].ended ||
		    (l->autoprobe_changed && l->autoprobe_now != l->plan->pf->drivers_autoprobe))
			return false;
	}
	for (unsigned i = 0; i < a->plan.n_id_groups; i++)
		if (atomic_load(&a->hot.registrars[i].state) != REGISTRAR_GONE ||
		    a->hot.registrars[i].left)
			return false;
	return true;
}

int agent_run(struct agent *a)
{
	int r = add_sources(a);

	if (r)
		return r;
	a->realtime_usec = realtime_usec();
	phase_enter(&a->phase, PHASE_HOT, now_ns());
	hotpath_begin(&a->hot, now_ns());
	while (!hotpath_is_over(&a->hot)) {
		r = sd_event_run(a->loop, usec_to_wait(a, now_ns()));
		if (r < 0)
			return r;
		hotpath_on_time(&a->hot, now_ns());
		if (a->on_change)
			a->on_change(a, a->user);
	}
	phase_enter(&a->phase, PHASE_HANDOFF, now_ns());
	return left_nothing_open(a) ? journal_truncate(&a->journal) : 0;
}

int agent_record(const struct agent *a, struct record *ret)
{
	_cleanup_(record_done) struct record r = { 0 };
	struct rusage usage;
	int error = account_make(&a->hot, &r);

	if (error)
		return error;
	r.manifest_path = strdup(a->manifest_path);
	if (!r.manifest_path)
		return -ENOMEM;
	r.exec_ns = a->exec_ns;
	r.load_ns = a->phase.since_ns[PHASE_LOAD];
	r.realtime_usec = a->realtime_usec;
	r.n_uevents = a->uevents.n_received;
	r.n_overruns = a->uevents.n_overruns;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		r.max_rss_kib = (uint64_t) usage.ru_maxrss;
	*ret = TAKE_AS(r, (struct record){ 0 });
	return 0;
}

int agent_save_record(const struct agent *a, const char *text, size_t size)
{
	const char *name = strrchr(VF_RESTORE_RECORD, '/') + 1;

	return fdio_replace(a->run_dir, name, text, size, 0640);
}

void agent_done(struct agent *a)
{
	if (a->hot.plan) {
		hotpath_done(&a->hot);
		if (hotpath_hangs(&a->hot))
			return;
	}
	(void) sd_event_unref(a->loop); /* returns NULL */
	uevents_close(&a->uevents);
	journal_close(&a->journal);
	close_fd(&a->sysfs_root);
	close_fd(&a->dev);
	close_fd(&a->run_dir);
	for (unsigned i = 0; i < ELEMENTSOF(a->memory); i++)
		free(a->memory[i]);
	free(a->manifest_path);
	plan_done(&a->plan);
	manifest_done(&a->manifest);
	conf_done(&a->conf);
	*a = (struct agent) AGENT_EMPTY;
}
