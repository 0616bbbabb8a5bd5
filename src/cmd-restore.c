/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "vf-restore.h"
#include "agent.h"
#include "cmd.h"
#include "progress.h"
#include "record-save.h"
#include "report.h"

static const char help[] =
	"Usage: vf-restore restore [OPTIONS]\n"
	"\n"
	"Gives the VFs of the manifest back: enables or adopts them, binds them, opens\n"
	"their device nodes, and reports. Touches nothing else, and nothing twice.\n"
	"\n"
	"  --manifest FILE   instead of the settings' (" VF_RESTORE_MANIFEST ")\n"
	"  --unsealed        accept a manifest without a checksum beside it\n"
	"  --config FILE     read settings from FILE only\n"
	"  --strategy NAME   auto, override or id, instead of BindStrategy=\n"
	"  --json            print the record as JSON instead of a table\n"
	"  --no-progress     no progress line, even on a terminal\n"
	"  --help            this text\n"
	"\n"
	"Exit codes: 0 all done, 1 failed, 2 usage, 3 some VF lacks its device, 5 refused.\n";

struct restore_options {
	struct agent_options agent;
	bool json, no_progress, help;
};

static int parse_options(int argc, char *argv[], struct restore_options *o)
{
	enum { MANIFEST = 256, UNSEALED, CONFIG, STRATEGY, JSON, NO_PROGRESS, HELP };
	static const struct option options[] = {
		{ "manifest", required_argument, NULL, MANIFEST },
		{ "unsealed", no_argument, NULL, UNSEALED },
		{ "config", required_argument, NULL, CONFIG },
		{ "strategy", required_argument, NULL, STRATEGY },
		{ "json", no_argument, NULL, JSON },
		{ "no-progress", no_argument, NULL, NO_PROGRESS },
		{ "help", no_argument, NULL, HELP },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case MANIFEST:
			o->agent.manifest_path = optarg;
			break;
		case UNSEALED:
			o->agent.unsealed = true;
			break;
		case CONFIG:
			o->agent.config_path = optarg;
			break;
		case STRATEGY:
			o->agent.has_strategy = true;
			if (!conf_strategy_parse(optarg, &o->agent.strategy))
				break;
			fprintf(stderr,
				"vf-restore: --strategy: found '%s', expected auto, override or id\n",
				optarg);
			return VF_RESTORE_EXIT_USAGE;
		case JSON:
			o->json = true;
			break;
		case NO_PROGRESS:
			o->no_progress = true;
			break;
		case HELP:
			o->help = true;
			break;
		default:
			return VF_RESTORE_EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "vf-restore: restore: unexpected argument '%s'; see --help\n",
			argv[optind]);
		return VF_RESTORE_EXIT_USAGE;
	}
	return 0;
}

static void show_progress(struct agent *a, void *user)
{
	const struct hotpath *h = &a->hot;
	struct progress_counts counts = { .n_vfs = a->plan.n_vfs,
					  .n_done = h->n_ready + h->n_held,
					  .n_lacks = h->n_lacks };
	char stuck[BDF_STRLEN + 1] = "";

	for (unsigned i = 0; i < a->plan.n_lanes; i++)
		if (h->lanes[i].state == LANE_STUCK && counts.n_stuck++ == 0)
			(void) bdf_format(a->plan.lanes[i].pf->address, stuck); /* the length */
	counts.stuck = stuck;
	progress_update(user, &counts, now_ns());
}

/* r: of agent_read() and agent_load(). */
static int explain(int r, const char *error)
{
	if (r < 0) {
		fprintf(stderr, "vf-restore: Failed to prepare the restore: %s\n", strerror(-r));
		return VF_RESTORE_EXIT_FAILED;
	}
	fprintf(stderr, "vf-restore: %s\n", error);
	return r == AGENT_E_ABSENT ? VF_RESTORE_EXIT_FAILED : VF_RESTORE_EXIT_REFUSED;
}

static int tell(const struct agent *a, bool json)
{
	_cleanup_(record_done) struct record record = { 0 };
	_cleanup_(free_pointer) char *text = NULL;
	size_t size;
	int r = agent_record(a, &record);

	if (!r)
		r = record_to_text(&record, &text, &size);
	if (r) {
		fprintf(stderr, "vf-restore: Failed to write the record: %s\n", strerror(-r));
		return VF_RESTORE_EXIT_FAILED;
	}
	r = agent_save_record(a, text, size);
	if (r)
		fprintf(stderr, "vf-restore: Failed to save %s: %s, ignoring\n", VF_RESTORE_RECORD,
			strerror(-r));
	if (json)
		fwrite(text, 1, size, stdout);
	else
		report_record(&record, stdout);
	return record.n_lacks > 0 ? VF_RESTORE_EXIT_PARTLY : VF_RESTORE_EXIT_DONE;
}

static int restore(const struct restore_options *o)
{
	_cleanup_(agent_done) struct agent a = AGENT_EMPTY;
	char error[AGENT_ERROR_LEN] = "";
	struct progress progress;
	int r = agent_read(&a, &o->agent, error);

	if (!r)
		r = agent_load(&a, error);
	if (r)
		return explain(r, error);
	if (!o->no_progress && !o->json) {
		progress_init(&progress, stderr);
		a.on_change = show_progress;
		a.user = &progress;
	}
	r = agent_run(&a);
	if (a.on_change)
		progress_done(&progress);
	if (r) {
		fprintf(stderr, "vf-restore: Failed to run the hot path: %s\n", strerror(-r));
		return VF_RESTORE_EXIT_FAILED;
	}
	return tell(&a, o->json);
}

/* A thread that hangs in the kernel keeps its process from ending (even after SIGKILL: the write
 * to sriov_numvfs of CASES C8 is uninterruptible). So a child does the work and reports its exit
 * code; we end when it has, whatever becomes of its threads. */
static _Noreturn void work(int report, const struct restore_options *o, pid_t parent)
{
	unsigned char code;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(VF_RESTORE_EXIT_FAILED);
	code = (unsigned char) restore(o);
	fflush(NULL);
	/* a thread that hangs would keep them open, and whoever reads them waiting */
	(void) close(STDOUT_FILENO);
	(void) close(STDERR_FILENO);
	_exit(write(report, &code, 1) == 1 ? code : VF_RESTORE_EXIT_FAILED);
}

static int await(int report, pid_t child)
{
	unsigned char code;
	int status;

	if (read(report, &code, 1) == 1)
		return code;
	if (waitpid(child, &status, 0) == child && WIFSIGNALED(status))
		fprintf(stderr,
			"vf-restore: The restore was killed by signal %d (%s); run it again, "
			"it goes on from there\n",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	return VF_RESTORE_EXIT_FAILED;
}

int cmd_restore(int argc, char *argv[])
{
	struct restore_options o = { .agent.exec_ns = now_ns() };
	int r = parse_options(argc, argv, &o), report[2];
	pid_t self = getpid(), child;

	if (r)
		return r;
	if (o.help) {
		fputs(help, stdout);
		return 0;
	}
	if (pipe2(report, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		fprintf(stderr, "vf-restore: Failed to start: %s\n", strerror(errno));
		return VF_RESTORE_EXIT_FAILED;
	}
	if (child == 0)
		work(report[1], &o, self);
	(void) close(report[1]); /* a pipe: nothing to lose */
	return await(report[0], child);
}
