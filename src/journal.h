/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * journal - what the hot path is about to do and has done, so that a run which follows a killed
 * one goes on from there. One line a fact, appended with one write, in a file on /run that the
 * holder locks: two runs at a time are impossible.
 *
 *	<ns since boot> <pf> autoprobe-was 0|1	before the first change of it
 *	<ns since boot> <pf> enable <n>		before the write
 *	<ns since boot> <pf> bind <driver> <n>	before the first VF of the range
 *	<ns since boot> <pf> id <vendor> <device> <driver>		before new_id
 *	<ns since boot> <pf> id-removed <vendor> <device> <driver>	after remove_id
 *	<ns since boot> <pf> vf-was <vf> <driver> <override>	before a wrong driver is unbound
 *	<ns since boot> <pf> over		the lane has ended
 */
#include "base.h"
#include "bdf.h"

enum journal_word {
	JOURNAL_AUTOPROBE_WAS,
	JOURNAL_ENABLE,
	JOURNAL_BIND,
	JOURNAL_ID,
	JOURNAL_ID_REMOVED,
	JOURNAL_VF_WAS,
	JOURNAL_OVER,
	_JOURNAL_WORD_MAX,
};

struct journal {
	int fd;
};

/* sriov_drivers_autoprobe of a PF was changed by a run that did not end; was: its first value. */
struct journal_autoprobe {
	bool left, was;
};

enum {
	_JOURNAL_E_SUCCESS,
	JOURNAL_E_LOCKED, /* another run is going on */
};

/* Opens (creates, mode 0600) and locks dir_fd/journal. */
int journal_open(struct journal *j, int dir_fd) _must_check_;
void journal_close(struct journal *j);

/* What the text of a journal leaves open: of one PF, and of one id ("<vendor> <device> <driver>":
 * new_id was or was about to be written, and not removed). Pure; lines that make no sense (the
 * last one may be torn) are passed over. */
void journal_find_autoprobe(const char *text, struct bdf pf, struct journal_autoprobe *ret);
bool journal_find_id(const char *text, const char *id);

/* Begins anew, when nothing is left open. */
int journal_truncate(struct journal *j) _must_check_;

/* Appends a line. text: what follows the word, may be "". Allocates nothing, any thread. */
int journal_write(const struct journal *j, struct bdf pf, enum journal_word word, const char *text)
	_must_check_;
