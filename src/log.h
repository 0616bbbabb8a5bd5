/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * log - one event, one journal entry: message for people, facts as fields for programs.
 *
 * Knows when the journal is there to take fields ($JOURNAL_STREAM names our stderr); else an
 * event is one line on stderr. Only agent.c and the two mains log.
 */
#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG */
#include "base.h"

struct log {
	bool to_journal;
	int level_max; /* events of a higher number are dropped */
};

/* The facts of an event. What is NULL or 0 is left out; texts are borrowed. */
struct log_event {
	int level;
	const char *message_id; /* of include/vf-restore.h */
	const char *phase;      /* VFR_PHASE= */
	const char *vm;         /* VFR_VM= */
	const char *bdf;        /* VFR_BDF= */
	const char *cause;      /* VFR_CAUSE= */
	int error;              /* ERRNO=, as a positive or negative errno; what %m means */
};

void log_open(struct log *l, int level_max);

/* The message has no newline at its end; line breaks and the like within it become spaces. */
void log_event(const struct log *l, const struct log_event *event, const char *format, ...)
	_printf_(3, 4) _nonnull_;
