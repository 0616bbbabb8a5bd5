/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * conf - settings: which there are, what they may be, where they are read from.
 *
 * INI as systemd's own: /etc/vf-restore/vf-restored.conf (else /run, else /usr/lib), then every
 * *.conf of vf-restored.conf.d in all three, by file name, the same name in /etc winning over
 * /run over /usr/lib, the later file over the earlier. An empty value puts the default back.
 */
#include "base.h"

enum conf_strategy {
	CONF_STRATEGY_AUTO,
	CONF_STRATEGY_OVERRIDE,
	CONF_STRATEGY_ID,
	_CONF_STRATEGY_MAX,
};

struct conf {
	/* [Restore] */
	enum conf_strategy bind_strategy;
	unsigned workers;            /* lanes that run at the same time, 1..256 */
	uint64_t lane_timeout_ns;    /* LaneTimeoutSec=: for any lane ... */
	uint64_t vf_timeout_ns;      /* LaneTimeoutPerVfSec=: ... and for each VF on top */
	uint64_t proof_timeout_ns;   /* ProofTimeoutSec=: from the bind to its uevent */
	uint64_t late_pf_timeout_ns; /* LatePfTimeoutSec=: how long a PF may be missing */
	size_t uevent_buffer;        /* UeventBufferSize=: bytes, 32M at least */
	bool allow_noiommu;          /* AllowNoIommu= */
	bool load_modules;           /* LoadModules= */
	/* [Manifest] */
	char *manifest_path; /* Path=, absolute */
};

enum { CONF_ERROR_LEN = 512 };

enum {
	_CONF_E_SUCCESS,
	CONF_E_REFUSED, /* text says file, line, section.key, value found, value expected */
};

/* All defaults. Fails with -ENOMEM only. */
int conf_init(struct conf *c) _must_check_;
void conf_done(struct conf *c);

/* Reads all files below root_fd (a fd of /, or of a test's tree). The first wrong setting refuses
 * the whole: *c is unchanged then, and text tells. No file at all is fine: the defaults. */
int conf_load(struct conf *c, int root_fd, char ret_error[static CONF_ERROR_LEN]) _must_check_;
/* One file only (--config). */
int conf_load_file(struct conf *c, const char *path, char ret_error[static CONF_ERROR_LEN])
	_must_check_;
/* Text already in memory; `name` is what errors call it. For the loaders above and the fuzzer. */
int conf_parse(struct conf *c, const char *name, const char *text,
	       char ret_error[static CONF_ERROR_LEN]) _must_check_;

const char *conf_strategy_name(enum conf_strategy s); /* "auto" ... */
int conf_strategy_parse(const char *text, enum conf_strategy *ret) _must_check_;
