/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * modules - what must be in the kernel before the hot path begins: vfio-pci, variant drivers, PF
 * drivers. Knows libkmod: names, aliases, blacklist, install rules, options, built-ins.
 */
#include "base.h"

enum {
	_MODULES_E_SUCCESS,
	MODULES_E_UNKNOWN,    /* no module, alias or built-in of this name */
	MODULES_E_PROHIBITED, /* blacklisted, or an install rule forbids or fails */
	MODULES_E_FAILED,     /* the kernel refused it */
};

enum { MODULES_ERROR_LEN = 512 };

struct kmod_ctx;
struct modules {
	struct kmod_ctx *kmod;
	char *conf_dirs; /* argz, to name the file of a rule; libkmod doesn't tell it */
	size_t conf_dirs_size;
};

/* base_dir: /lib/modules/<release> or NULL for the running kernel's; conf_dirs: NULL for
 * modprobe.d's own places (man modprobe.d), else a NULL-terminated list (tests). */
int modules_open(struct modules *m, const char *base_dir, const char *const *conf_dirs)
	_must_check_;
void modules_close(struct modules *m);

/* Makes sure that the driver named (- and _ are one; an alias is fine too) is in the kernel: built
 * in, loaded, coming, or loaded now with its dependencies, soft dependencies and options. The text
 * says which rule in which file forbids it, and what to do. MODULES_E_UNKNOWN is not the last word
 * on a driver built into a kernel without modules.builtin: the caller looks at drivers/<name>. */
int modules_load(struct modules *m, const char *driver, char ret_error[static MODULES_ERROR_LEN])
	_must_check_;
