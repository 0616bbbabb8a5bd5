/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * tree - names for the things of the model: which node is which, what it says, where it leads.
 *
 * A node number is also the FUSE inode number: a type, an object and a slot in it. Numbers of
 * devices are never used again, so a new VF at an old address is a new node. The tree's root has
 * two directories: "sys" is shown at /sys, "vfio" at /dev/vfio.
 */
#include <sys/stat.h>
#include "model.h"

typedef uint64_t node_t;
enum { TREE_ROOT = 1, TREE_PATH_MAX = 1024 };

enum place { PLACE_OTHER, PLACE_IN_VF, PLACE_VFIO_NODE };

/* The four that follow take the mutex. */
/* The child of that name; 0: none. */
node_t tree_lookup(node_t parent, const char *name);
/* False: it is gone. */
bool tree_stat(node_t node, struct stat *ret);
/* Calls `each` for every child. */
typedef void tree_each_t(void *userdata, const char *name, node_t node, mode_t type);
int tree_list(node_t node, tree_each_t *each, void *userdata) _must_check_;
/* As from the kernel: relative, "../../../devices/...". */
int tree_readlink(node_t node, char *ret, size_t size) _must_check_;

int tree_read(node_t node, char *ret, size_t size) _must_check_;
int tree_write(node_t node, const char *text, size_t len) _must_check_;
/* Opening and closing of nodes of /dev/vfio; others are always fine. */
int tree_open(node_t node) _must_check_;
void tree_close(node_t node);

/* "/sys/devices/..." and "/dev/vfio/...", without following links. Takes the mutex. */
void tree_path(node_t node, char ret[static TREE_PATH_MAX]);

/* The function whose directory holds this node (or is it), and its slot; NULL: not of one. */
struct device *tree_device(node_t node, unsigned *ret_slot);
bool tree_is_vfio_node(node_t node);
