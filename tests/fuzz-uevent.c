/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "uevent.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	char *message = malloc(size + 1); /* exactly as large, so that a read beyond is seen */
	struct uevent e;

	if (!message || size >= UEVENT_SIZE_MAX) {
		free(message);
		return 0;
	}
	memcpy(message, input, size);
	if (uevent_parse(message, size, &e) == 0) {
		assert(e.kind < _UEVENT_KIND_MAX);
		if (e.kind == UEVENT_PCI_BIND)
			assert(e.driver >= message && strlen(e.driver) < size);
	}
	free(message);
	return 0;
}
