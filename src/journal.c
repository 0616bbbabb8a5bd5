/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include "journal.h"

static const char *const words[] = {
	[JOURNAL_AUTOPROBE_WAS] = "autoprobe-was",
	[JOURNAL_ENABLE] = "enable",
	[JOURNAL_BIND] = "bind",
	[JOURNAL_ID] = "id",
	[JOURNAL_ID_REMOVED] = "id-removed",
	[JOURNAL_VF_WAS] = "vf-was",
	[JOURNAL_OVER] = "over",
};
_Static_assert(ELEMENTSOF(words) == _JOURNAL_WORD_MAX, "every word is spelt");

enum { LINE_LEN = 160, TEXT_LEN = 100 };

int journal_open(struct journal *j, int dir_fd)
{
	_cleanup_(close_fd) int fd = openat(dir_fd, "journal",
					    O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
					    0600);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? JOURNAL_E_LOCKED : -errno;
	j->fd = TAKE_FD(fd);
	return 0;
}

void journal_close(struct journal *j)
{
	close_fd(&j->fd);
}

int journal_truncate(struct journal *j)
{
	return ftruncate(j->fd, 0) < 0 ? -errno : 0;
}

int journal_write(const struct journal *j, struct bdf pf, enum journal_word word, const char *text)
{
	char line[LINE_LEN], *p = put_decimal(line, now_ns());
	ssize_t k;

	assert(strlen(text) < TEXT_LEN);
	*p++ = ' ';
	p += bdf_format(pf, p);
	*p++ = ' ';
	p = stpcpy(p, words[word]);
	if (text[0])
		p = stpcpy(stpcpy(p, " "), text);
	*p++ = '\n';
	k = write(j->fd, line, (size_t) (p - line));
	if (k < 0)
		return -errno;
	return k == p - line ? 0 : -EIO;
}

/* The rest of the line after "<ns> <pf> <word>", or NULL when the line is not that. */
static const char *after_word(const char *line, const char *pf, const char *word)
{
	line += strspn(line, "0123456789");
	if (*line++ != ' ' || strncmp(line, pf, strlen(pf)) != 0)
		return NULL;
	line += strlen(pf);
	if (*line++ != ' ' || strncmp(line, word, strlen(word)) != 0)
		return NULL;
	line += strlen(word);
	return *line == ' ' || *line == '\n' ? line : NULL;
}

void journal_find_autoprobe(const char *text, struct bdf pf, struct journal_autoprobe *ret)
{
	const char *end, *rest;
	char name[BDF_STRLEN + 1];

	*ret = (struct journal_autoprobe){ 0 };
	(void) bdf_format(pf, name); /* returns the length */
	for (const char *line = text; (end = strchr(line, '\n')); line = end + 1) {
		rest = after_word(line, name, words[JOURNAL_AUTOPROBE_WAS]);
		if (rest && !ret->left && (rest[1] == '0' || rest[1] == '1') && rest[2] == '\n')
			*ret = (struct journal_autoprobe){ .left = true, .was = rest[1] == '1' };
		if (after_word(line, name, words[JOURNAL_OVER]))
			*ret = (struct journal_autoprobe){ 0 };
	}
}

/* Is the line "<ns> <whatever pf> <word> <text>"? */
static bool line_says(const char *line, const char *word, const char *text)
{
	line += strspn(line, "0123456789");
	line += strspn(line, " ");
	line += strcspn(line, " \n");
	if (*line++ != ' ' || strncmp(line, word, strlen(word)) != 0)
		return false;
	line += strlen(word);
	if (*line++ != ' ' || strncmp(line, text, strlen(text)) != 0)
		return false;
	return line[strlen(text)] == '\n';
}

bool journal_find_id(const char *text, const char *id)
{
	bool registered = false;
	const char *end;

	for (const char *line = text; (end = strchr(line, '\n')); line = end + 1) {
		if (line_says(line, words[JOURNAL_ID], id))
			registered = true;
		if (line_says(line, words[JOURNAL_ID_REMOVED], id))
			registered = false;
	}
	return registered;
}
