/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text as settings: it is refused with a text and changes nothing, or it is taken. */
#include <string.h>
#include "conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	_cleanup_(conf_done) struct conf c = { .manifest_path = NULL };
	_cleanup_(free_pointer) char *text = NULL;
	char error[CONF_ERROR_LEN] = "", *path;
	struct conf before;
	int r;

	r = conf_init(&c);
	assert(r == 0);
	before = c;
	path = c.manifest_path;
	text = malloc(size + 1);
	assert(text);
	memcpy(text, bytes, size);
	text[size] = '\0';
	r = conf_parse(&c, "fuzz", text, error);
	assert(r == 0 || r == CONF_E_REFUSED);
	assert((r == 0) == (error[0] == '\0'));
	assert(r == 0 || (memcmp(&before, &c, sizeof(c)) == 0 && path == c.manifest_path));
	assert(c.manifest_path[0] == '/' && c.workers >= 1 && c.workers <= 256);
	return 0;
}
