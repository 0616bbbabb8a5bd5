/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * agent - owns everything and turns the phases: LOAD (settings, manifest, plan, modules, socket,
 * memory, threads), HOT (the loop), and the account of what happened.
 */
#include "base.h"
#include "conf.h"
#include "hotpath.h"
#include "journal.h"
#include "log.h"
#include "manifest.h"
#include "phase.h"
#include "plan.h"
#include "record.h"
#include "uevent.h"

struct sd_event;

struct agent_options {
	const char *manifest_path; /* NULL: the settings' */
	bool unsealed;             /* a manifest without checksum is fine */
	const char *config_path;   /* NULL: the usual places */
	bool has_strategy;         /* overrides BindStrategy= */
	enum conf_strategy strategy;
	uint64_t exec_ns; /* when the program began */
};

struct agent {
	struct log log;
	struct phase phase;
	struct conf conf;
	struct manifest manifest;
	struct plan plan;
	struct journal journal;
	struct uevents uevents;
	struct hotpath hot;
	struct sd_event *loop;
	int sysfs_root, dev, run_dir;
	uint64_t exec_ns, realtime_usec;
	char *manifest_path;
	void *memory[4]; /* what hot's pointers point into */
	void (*on_change)(struct agent *a,
			  void *user); /* after each turn of the loop; NULL: none */
	void *user;
};

enum { AGENT_ERROR_LEN = 1200 };
enum {
	_AGENT_E_SUCCESS,
	AGENT_E_ABSENT,  /* no manifest: nothing to restore; text says so */
	AGENT_E_REFUSED, /* settings, manifest or plan unsound; text says what to do */
	AGENT_E_BUSY,    /* another run is going on */
};

/* Settings, manifest and plan: what `plan` needs too. Touches nothing but its own files. */
int agent_read(struct agent *a, const struct agent_options *o,
	       char ret_error[static AGENT_ERROR_LEN]) _must_check_;
/* The rest of LOAD. Warnings (a module that cannot be loaded ...) go to stderr, the run goes on. */
int agent_load(struct agent *a, char ret_error[static AGENT_ERROR_LEN]) _must_check_;
/* HOT: returns when every VF is settled. */
int agent_run(struct agent *a) _must_check_;
/* The account of it; the caller's, record_done(). */
int agent_record(const struct agent *a, struct record *ret) _must_check_;
/* Saves its text to VF_RESTORE_RECORD. */
int agent_save_record(const struct agent *a, const char *text, size_t size) _must_check_;

/* Born as (struct agent) AGENT_EMPTY. */
#define AGENT_EMPTY                                                                                \
	{                                                                                          \
		.journal = { -1 }, .uevents = { .fd = -1 }, .hot = { .report_fd = -1 },            \
		.sysfs_root = -1, .dev = -1, .run_dir = -1                                         \
	}
/* Frees it, unless a lane hangs: then its memory must stay until the process ends. */
void agent_done(struct agent *a);
