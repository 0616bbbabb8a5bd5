/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define SD_JOURNAL_SUPPRESS_LOCATION /* this file's own line would help nobody */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include "log.h"

enum { MESSAGE_MAX = 2048, FIELD_MAX = 256, FIELDS_MAX = 9 };

/* systemd.exec(5): "device:inode", decimal, of the stream that stdout and stderr were given. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	if (!stream || sscanf(stream, "%llu:%llu", &device, &inode) != 2)
		return false;
	if (fstat(STDERR_FILENO, &st) < 0)
		return false;
	return st.st_dev == device && st.st_ino == inode;
}

void log_open(struct log *l, int level_max)
{
	*l = (struct log){ .to_journal = stderr_is_journal(), .level_max = level_max };
}

/* A name that came from a file must not forge a second line, nor speak to the terminal. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char) *text < ' ' || *text == 0x7f)
			*text = ' ';
}

struct entry {
	char texts[FIELDS_MAX][FIELD_MAX];
	struct iovec fields[FIELDS_MAX + 1];
	unsigned n;
};

static void entry_add(struct entry *e, const char *name, const char *value)
{
	char *text = e->texts[e->n];

	if (!value)
		return;
	assert(e->n < FIELDS_MAX);
	(void) snprintf(text, FIELD_MAX, "%s=%s", name, value); /* cut is better than lost */
	e->fields[e->n++] = (struct iovec){ .iov_base = text, .iov_len = strlen(text) };
}

static void entry_add_number(struct entry *e, const char *name, int value)
{
	char text[sizeof("-2147483648")];

	(void) snprintf(text, sizeof(text), "%i", value); /* always fits */
	entry_add(e, name, text);
}

static int send_to_journal(const struct log_event *event, char *message)
{
	struct entry e = { .n = 0 };

	entry_add_number(&e, "PRIORITY", event->level);
	entry_add(&e, "SYSLOG_IDENTIFIER", program_invocation_short_name);
	entry_add(&e, "MESSAGE_ID", event->message_id);
	entry_add(&e, "VFR_PHASE", event->phase);
	entry_add(&e, "VFR_VM", event->vm);
	entry_add(&e, "VFR_BDF", event->bdf);
	entry_add(&e, "VFR_CAUSE", event->cause);
	if (event->error != 0)
		entry_add_number(&e, "ERRNO", abs(event->error));
	e.fields[e.n++] = (struct iovec){ .iov_base = message, .iov_len = strlen(message) };
	return sd_journal_sendv(e.fields, (int) e.n);
}

void log_event(const struct log *l, const struct log_event *event, const char *format, ...)
{
	static const char prefix[] = "MESSAGE=";
	char message[MESSAGE_MAX];
	char *text = stpcpy(message, prefix);
	va_list args;

	if (event->level > l->level_max)
		return;
	va_start(args, format);
	errno = abs(event->error);
	(void) vsnprintf(text, sizeof(message) - strlen(prefix), format, args); /* cut if long */
	va_end(args);
	make_one_line(text);
	/* Also 0 when journald is not there; our stderr, its stream, is as dead then. */
	if (l->to_journal && send_to_journal(event, message) >= 0)
		return;
	(void) dprintf(STDERR_FILENO, "%s: %s\n", program_invocation_short_name,
		       text); /* where else could we complain */
}
