/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* call - one operation of one process on the tree, as counting, tracing and faults see it. */
#include <sys/types.h>
#include "tree.h"

enum op { OP_LOOKUP, OP_OPEN, OP_READ, OP_WRITE, OP_READLINK, OP_READDIR, _OP_MAX };

struct call {
	enum op op;
	node_t node;      /* of a lookup the directory */
	const char *name; /* of a lookup */
	const char *text; /* of a write */
	pid_t tid, tgid;
	char comm[16];
	struct device *held; /* by faults_check: its lock is the caller's to unlock */
	bool cut;            /* give back half of what was read */
};

extern const char *const op_names[_OP_MAX];
