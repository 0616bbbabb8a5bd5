/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "agent.h"
#include "cmd.h"
#include "plan-json.h"
#include "plan-text.h"
#include "vf-restore.h"

static const char help[] =
	"Usage: vf-restore plan [OPTIONS]\n"
	"\n"
	"Tells what `vf-restore restore` would do, step by step, and what it would touch.\n"
	"Reads settings and manifest, and nothing else.\n"
	"\n"
	"  --manifest FILE   instead of the settings' (" VF_RESTORE_MANIFEST ")\n"
	"  --unsealed        accept a manifest without a checksum beside it\n"
	"  --config FILE     read settings from FILE only\n"
	"  --strategy NAME   auto, override or id, instead of BindStrategy=\n"
	"  --json            print the plan as JSON\n"
	"  --help            this text\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 5 the settings, the manifest or the plan is\n"
	"unsound.\n";

struct plan_options {
	struct agent_options agent;
	bool json, help;
};

static int take_strategy(struct agent_options *o, const char *name)
{
	if (conf_strategy_parse(name, &o->strategy)) {
		(void) fprintf(
			stderr,
			"vf-restore: --strategy: found '%s', expected auto, override or id\n",
			name);
		return VF_RESTORE_EXIT_USAGE;
	}
	o->has_strategy = true;
	return 0;
}

static int parse_options(int argc, char *argv[], struct plan_options *o)
{
	enum { MANIFEST = 256, UNSEALED, CONFIG, STRATEGY, JSON, HELP };
	static const struct option options[] = {
		{ "manifest", required_argument, NULL, MANIFEST },
		{ "unsealed", no_argument, NULL, UNSEALED },
		{ "config", required_argument, NULL, CONFIG },
		{ "strategy", required_argument, NULL, STRATEGY },
		{ "json", no_argument, NULL, JSON },
		{ "help", no_argument, NULL, HELP },
		{ 0 },
	};
	int c, r = 0;

	while (!r && (c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
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
			r = take_strategy(&o->agent, optarg);
			break;
		case JSON:
			o->json = true;
			break;
		case 'h':
		case HELP:
			o->help = true;
			break;
		default:
			r = VF_RESTORE_EXIT_USAGE;
		}
	}
	if (r || optind == argc)
		return r;
	(void) fprintf(stderr, "vf-restore: plan: unexpected argument '%s'; see --help\n",
		       argv[optind]);
	return VF_RESTORE_EXIT_USAGE;
}

/* r: of agent_read(). */
static int explain(int r, const char *error)
{
	if (r < 0) {
		(void) fprintf(stderr, "vf-restore: Failed to make the plan: %s\n", strerror(-r));
		return VF_RESTORE_EXIT_FAILED;
	}
	(void) fprintf(stderr, "vf-restore: %s\n", error);
	return r == AGENT_E_ABSENT ? VF_RESTORE_EXIT_FAILED : VF_RESTORE_EXIT_REFUSED;
}

static int print_json(const struct plan *p)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size;
	int r = plan_json_text(p, &text, &size);

	if (r)
		return explain(r, "");
	(void) fwrite(text, 1, size, stdout); /* main looks at stdout's errors */
	return VF_RESTORE_EXIT_DONE;
}

int cmd_plan(int argc, char *argv[])
{
	_cleanup_(agent_done) struct agent agent = AGENT_EMPTY;
	struct plan_options o = { .json = false };
	char error[AGENT_ERROR_LEN] = "";
	int r = parse_options(argc, argv, &o);

	if (r)
		return r;
	if (o.help) {
		(void) fputs(help, stdout); /* main looks at stdout's errors */
		return VF_RESTORE_EXIT_DONE;
	}
	r = agent_read(&agent, &o.agent, error);
	if (r)
		return explain(r, error);
	if (o.json)
		return print_json(&agent.plan);
	plan_text(&agent.plan, stdout);
	return VF_RESTORE_EXIT_DONE;
}
