/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* fs - the tree as a file system: FUSE requests in, the tree's answers out; nothing is cached. */
#include "model.h"

/* Mounts it at the directory and serves it in threads of its own. */
int fs_start(const char *where) _must_check_;
/* Texts that files shall have instead of their own: "GLOB=TEXT" (\n is added). */
void fs_set_text(const char *spec);
