/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "progress.h"
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

enum { INTERVAL_NS = 100 * NSEC_PER_MSEC, LINE_MAX_LEN = 240, COLUMNS_DEFAULT = 80 };

static const char erase[] = "\r\033[K";

/* A process in the background that writes may be stopped (stty tostop). */
static bool is_in_background(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group > 0 && group != getpgrp();
}

/* A terminal that is held (^S) has no room: a write would wait for the user. */
static bool has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & POLLOUT;
}

static void put(struct progress *p, const char *text, size_t size)
{
	if (is_in_background(p->fd) || !has_room(p->fd))
		return;
	(void) !write(p->fd, text, size); /* a line lost is drawn again soon */
}

void progress_init(struct progress *p, FILE *out)
{
	const char *term = getenv("TERM");
	int fd = fileno(out);

	*p = (struct progress){ .fd = -1 };
	if (fd >= 0 && isatty(fd) && term && strcmp(term, "dumb")) {
		(void) fflush(out); /* what was said before stays before; lost or not */
		p->fd = fd;
	}
}

static unsigned columns_of(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 2)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

/* Appends to line; what does not fit is cut. Returns the new length. */
static _printf_(3, 4) size_t
	add(char line[static LINE_MAX_LEN], size_t used, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line + used, LINE_MAX_LEN - used, format, arguments);
	va_end(arguments);
	if (n < 0)
		return used;
	return used + (size_t) n < LINE_MAX_LEN ? used + (size_t) n : LINE_MAX_LEN - 1;
}

static size_t describe(const struct progress *p, const struct progress_counts *c, uint64_t now,
		       char ret[static LINE_MAX_LEN])
{
	double seconds = (double) (now - p->begun_ns) / NSEC_PER_SEC;
	size_t used = add(ret, 0, "%u of %u VFs", c->n_done, c->n_vfs);

	if (seconds > 0 && c->n_done > 0)
		used = add(ret, used, ", %.0f a second", c->n_done / seconds);
	if (c->n_lacks > 0)
		used = add(ret, used, ", %u lacking", c->n_lacks);
	if (c->n_stuck > 0)
		used = add(ret, used, ", stuck: %s", c->stuck);
	if (c->n_stuck > 1)
		used = add(ret, used, " and %u more", c->n_stuck - 1);
	return used;
}

void progress_update(struct progress *p, const struct progress_counts *counts, uint64_t now)
{
	char line[LINE_MAX_LEN], text[sizeof(erase) + LINE_MAX_LEN];
	unsigned columns;
	size_t size;

	if (!p->has_begun)
		p->begun_ns = now;
	p->has_begun = true;
	if (p->fd < 0 || (p->drawn && now - p->drawn_ns < INTERVAL_NS))
		return;
	size = describe(p, counts, now, line);
	columns = columns_of(p->fd);
	if (size > columns - 1) /* the last column would wrap the line */
		size = columns - 1;
	memcpy(text, erase, sizeof(erase) - 1);
	memcpy(text + sizeof(erase) - 1, line, size);
	put(p, text, sizeof(erase) - 1 + size);
	p->drawn = true;
	p->drawn_ns = now;
}

void progress_done(struct progress *p)
{
	if (p->fd >= 0 && p->drawn)
		put(p, erase, sizeof(erase) - 1);
	*p = (struct progress){ .fd = -1 };
}
