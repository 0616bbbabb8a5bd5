/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	char *text = malloc(size + 1);
	struct journal_autoprobe left;

	if (!text)
		return 0;
	memcpy(text, input, size);
	text[size] = '\0';
	journal_find_autoprobe(text, (struct bdf){ 0, 0x0100 }, &left);
	assert(left.left || !left.was);
	(void) journal_find_id(text, "1b36 0010 vfio-pci");
	free(text);
	return 0;
}
