/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "fault.h"

enum { QUOTED_BYTES_MAX = 48 };
_Static_assert(FAULT_QUOTE_LEN >= QUOTED_BYTES_MAX * 4 + sizeof("''..."), "room for \\xNN");

void fault_enter(struct fault *f, const char *key, unsigned index)
{
	assert(f->depth < FAULT_DEPTH_MAX); /* the tables are our own */
	f->path[f->depth++] = (struct fault_step){ key, index };
}

void fault_leave(struct fault *f)
{
	f->depth--;
}

static _printf_(3, 4) void append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text + used, size - used, format, args); /* cut is better than lost */
	va_end(args);
}

void fault_quote(const char *from, size_t length, char mark, char ret[static FAULT_QUOTE_LEN])
{
	const char marks[] = { mark, '\0' };

	ret[0] = '\0';
	append(ret, FAULT_QUOTE_LEN, "%s", marks);
	for (size_t i = 0; i < length && i < QUOTED_BYTES_MAX; i++) {
		unsigned char byte = (unsigned char) from[i];

		append(ret, FAULT_QUOTE_LEN, byte < ' ' || byte >= 0x7f ? "\\x%02x" : "%c", byte);
	}
	append(ret, FAULT_QUOTE_LEN, "%s%s", length > QUOTED_BYTES_MAX ? "..." : "", marks);
}

void fault_path(const struct fault *f, const char *key, char ret[static FAULT_PATH_LEN])
{
	char quoted[FAULT_QUOTE_LEN];

	ret[0] = '\0';
	for (unsigned i = 0; i < f->depth; i++) {
		const struct fault_step *step = &f->path[i];

		if (!step->key) {
			append(ret, FAULT_PATH_LEN, "[%u]", step->index);
			continue;
		}
		fault_quote(step->key, strlen(step->key), '\0', quoted);
		append(ret, FAULT_PATH_LEN, "%s%s", i > 0 ? "." : "", quoted);
	}
	if (key)
		append(ret, FAULT_PATH_LEN, "%s%s", f->depth > 0 ? "." : "", key);
	if (ret[0] == '\0')
		append(ret, FAULT_PATH_LEN, "the text");
}

void fault_tell(struct fault *f, const char *path, const char *found, const char *expected)
{
	char here[FAULT_PATH_LEN];

	fault_path(f, NULL, here);
	f->error[0] = '\0';
	append(f->error, f->error_size, "%s: %s: found %s, expected %s; %s", f->name,
	       path ? path : here, found, expected, f->advice);
}

void fault_tell_syntax(struct fault *f, const char *text, const char *at, const char *end,
		       const char *expected)
{
	char path[FAULT_PATH_LEN] = "", quoted[FAULT_QUOTE_LEN];
	unsigned line = 1, column = 1;
	const char *newline;

	for (const char *c = text; c < at; c++) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	append(path, sizeof(path), "line %u, column %u", line, column);
	newline = at < end ? memchr(at, '\n', (size_t) (end - at)) : NULL;
	fault_quote(at, (size_t) ((newline ? newline : end) - at), '\'', quoted);
	if (at >= end)
		fault_tell(f, path, "the end of the text", expected);
	else if (at == newline)
		fault_tell(f, path, "the end of the line", expected);
	else
		fault_tell(f, path, quoted, expected);
}
