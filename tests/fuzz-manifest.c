/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as a manifest: it is refused with a text, or it is sound, and then writing it down and
 * reading it again gives the same text.
 */
#include <string.h>
#include "manifest-save.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void write_and_read(const struct manifest *m)
{
	_cleanup_(free_pointer) char *text = NULL, *again = NULL;
	_cleanup_(manifest_done) struct manifest copy = { .generation = 0 };
	char error[MANIFEST_ERROR_LEN];
	size_t size, again_size;
	int r;

	r = manifest_to_text(m, &text, &size);
	assert(r == 0);
	r = manifest_parse(&copy, "what we wrote", text, size, error);
	assert(r == 0);
	r = manifest_to_text(&copy, &again, &again_size);
	assert(r == 0);
	assert(size == again_size && memcmp(text, again, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	_cleanup_(manifest_done) struct manifest m = { .generation = 0 };
	char error[MANIFEST_ERROR_LEN] = "";
	int r;

	r = manifest_parse(&m, "fuzz", (const char *) bytes, size, error);
	assert(r == 0 || r == MANIFEST_E_REFUSED);
	assert((r == 0) == (error[0] == '\0'));
	if (r == 0)
		write_and_read(&m);
	return 0;
}
