/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * holder - who holds a VFIO device node open: knows procfs, and how a systemd unit is read out of
 * a cgroup. Looks at every process, so only with a pass.
 */
#include "base.h"
#include "bdf.h"
#include "manifest.h"
#include "phase.h"

enum holder_kind {
	HOLDER_CDEV,     /* /dev/vfio/devices/vfio<number> */
	HOLDER_GROUP,    /* /dev/vfio/<number> */
	HOLDER_FUNCTION, /* the function at `address`, whatever the way to it */
	_HOLDER_KIND_MAX,
};

struct holder {
	enum holder_kind kind;
	unsigned number;
	struct bdf address;
	int32_t pid; /* 0: named by an operator, wins over all that was seen; has no uid */
	uint32_t uid;
	char name[MANIFEST_NAME_MAX + 1]; /* of the systemd unit or scope it runs in (without
					     suffix), else "<comm>-<pid>" */
};

struct holder_list {
	struct holder *holders;
	unsigned n_holders;
	unsigned n_unseen; /* processes that we may not look into: not root? */
};

/* Looks through procfs (NULL: /proc) for open device nodes of VFIO, which are those below dev
 * (NULL: /dev): a process can give any file of its own such a name. The agent itself, which holds
 * nodes for others, is left out. */
int holder_find_all(const struct walk_pass *pass, const char *procfs, const char *dev,
		    struct holder_list *ret) _must_check_ __attribute__((nonnull(1, 4)));

/* An operator's word: the function at `address` belongs to `name`. */
int holder_add_by_hand(struct holder_list *list, struct bdf address, const char *name) _must_check_;

void holder_list_done(struct holder_list *list);
