/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * manifest-save - how a manifest is written down: as JSON text, sealed with a checksum beside it,
 * the one before kept as *.previous.
 */
#include "manifest.h"

/* The text as manifest.c reads it, ending with a newline. The caller's to free. */
int manifest_to_text(const struct manifest *m, char **ret, size_t *ret_size) _must_check_;

/* Writes path and path.xxh128, in an order that at every moment leaves path loadable: the sum file
 * names the new and the old text's sum before the text is replaced, and only the new one's after.
 * The manifest that was there stays as path.previous. `text` ends with a newline. */
int manifest_save(const char *path, const char *text, size_t size) _must_check_;
