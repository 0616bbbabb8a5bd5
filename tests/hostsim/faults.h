/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * faults - which operation goes wrong, and how; and the list of all operations, so that a test can
 * enumerate where to put the next fault.
 */
#include <stdio.h>
#include "call.h"

/* What the file system has to do with a call: */
enum verdict {
	CALL_GOES_ON,
	CALL_FAILS,     /* with ret_error */
	CALL_IS_SHORT,  /* half of it, without effect */
	CALL_THEN_KILL, /* do it, kill the process, reply */
};

/* OP[@COMM]:PATHGLOB:K=ACTION, see README.md. Says on stderr what is wrong with it. */
int faults_add(const char *spec) _must_check_;
int faults_remove(const char *number); /* or "all"; -ENOENT */
void faults_list(FILE *out);

/* Traces, then sleeps, kills, vanishes as planned. The caller then obeys the verdict. */
enum verdict faults_check(struct call *c, int *ret_error);
/* A lookup that failed by a fault comes again at once, by the kernel's own will: the errno with
 * which it has to fail again, and not to be counted; 0: it isn't one. */
int faults_again(const struct call *c);
bool faults_wants_paths(void);
bool faults_drop_uevent(const char *event); /* "add@/devices/..."; under the model's mutex */
void faults_kill(const struct call *c);

/* All that hang now, or those of fault `number`, go on: with error 0, or fail with it. */
unsigned faults_release(const char *number, int error);
unsigned faults_hanging(FILE *out); /* how many; each as a line, out may be NULL */
/* Waits until at least n hang; false: not within that time. */
bool faults_wait_hanging(unsigned n, double seconds);

int faults_trace(const char *path); /* NULL: no more */
void faults_trace_result(const struct call *c, int result);
int errno_of(const char *name); /* "EBUSY"; 0: no such */
