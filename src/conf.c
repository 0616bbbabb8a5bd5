/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include "conf.h"
#include "conf-value.h"
#include "fault.h"
#include "vf-restore.h"

/* ---- The settings -------------------------------------------------------------------------- */

static const char *const strategy_names[] = {
	[CONF_STRATEGY_AUTO] = "auto",
	[CONF_STRATEGY_OVERRIDE] = "override",
	[CONF_STRATEGY_ID] = "id",
};
_Static_assert(ELEMENTSOF(strategy_names) == _CONF_STRATEGY_MAX, "a name for each strategy");

const char *conf_strategy_name(enum conf_strategy s)
{
	assert(s < _CONF_STRATEGY_MAX);
	return strategy_names[s];
}

int conf_strategy_parse(const char *text, enum conf_strategy *ret)
{
	for (unsigned i = 0; i < ELEMENTSOF(strategy_names); i++)
		if (strcmp(text, strategy_names[i]) == 0) {
			*ret = i;
			return 0;
		}
	return CONF_E_REFUSED;
}

struct setting {
	const char *section, *key;
	const char *initial, *expected;
	/* 0, CONF_E_REFUSED without text, or -ENOMEM. */
	int (*read)(const struct setting *s, const char *value, void *member);
	size_t at;
	uint64_t min, max;
};

static int read_strategy(const struct setting *s, const char *value, void *member)
{
	(void) s; /* the table of names knows all */
	return conf_strategy_parse(value, member);
}

static int read_bool(const struct setting *s, const char *value, void *member)
{
	(void) s; /* there are no bounds to a truth */
	return conf_value_bool(value, member) ? 0 : CONF_E_REFUSED;
}

static int read_unsigned(const struct setting *s, const char *value, void *member)
{
	uint64_t number;

	if (!conf_value_number(value, &number) || number < s->min || number > s->max)
		return CONF_E_REFUSED;
	*(unsigned *) member = (unsigned) number;
	return 0;
}

static int read_size(const struct setting *s, const char *value, void *member)
{
	uint64_t size;

	if (!conf_value_size(value, &size) || size < s->min || size > s->max)
		return CONF_E_REFUSED;
	*(size_t *) member = (size_t) size;
	return 0;
}

static int read_time(const struct setting *s, const char *value, void *member)
{
	uint64_t ns;

	if (!conf_value_time(value, &ns) || ns < s->min || ns > s->max)
		return CONF_E_REFUSED;
	*(uint64_t *) member = ns;
	return 0;
}

static int read_path(const struct setting *s, const char *value, void *member)
{
	char **path = member, *copy;

	(void) s; /* any absolute path will do */
	if (value[0] != '/' || value[strlen(value) - 1] == '/')
		return CONF_E_REFUSED;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*path);
	*path = copy;
	return 0;
}

#define AT(member) .at = offsetof(struct conf, member)
#define BOOL .read = read_bool, .expected = "yes or no"
#define TIME(low, high, text) .read = read_time, .min = (low), .max = (high), .expected = (text)
#define HOUR (3600 * NSEC_PER_SEC)
#define POSITIVE TIME(NSEC_PER_MSEC, HOUR, "a time from 1ms to 1h, such as \"5s\" or \"1min 30s\"")
#define ANY_TIME TIME(0, HOUR, "a time from 0 to 1h, such as \"5s\" or \"1min 30s\"")

static const struct setting settings[] = {
	{ "Restore", "BindStrategy", "auto", AT(bind_strategy), .read = read_strategy,
	  .expected = "auto, override or id" },
	{ "Restore", "Workers", "16", AT(workers), .read = read_unsigned, .min = 1, .max = 256,
	  .expected = "a whole number from 1 to 256" },
	{ "Restore", "LaneTimeoutSec", "10s", AT(lane_timeout_ns), POSITIVE },
	{ "Restore", "LaneTimeoutPerVfSec", "1s", AT(vf_timeout_ns), ANY_TIME },
	{ "Restore", "ProofTimeoutSec", "5s", AT(proof_timeout_ns), POSITIVE },
	{ "Restore", "LatePfTimeoutSec", "2min", AT(late_pf_timeout_ns), ANY_TIME },
	{ "Restore", "UeventBufferSize", "64M", AT(uevent_buffer), .read = read_size,
	  .min = UINT64_C(32) << 20, .max = UINT64_C(1) << 30,
	  .expected = "a size from 32M to 1G" },
	{ "Restore", "AllowNoIommu", "no", AT(allow_noiommu), BOOL },
	{ "Restore", "LoadModules", "yes", AT(load_modules), BOOL },
	{ "Manifest", "Path", VF_RESTORE_MANIFEST, AT(manifest_path), .read = read_path,
	  .expected = "an absolute path of a file" },
};

static int set(struct conf *c, const struct setting *s, const char *value)
{
	/* An empty value puts the default back. */
	return s->read(s, value[0] ? value : s->initial, (char *) c + s->at);
}

int conf_init(struct conf *c)
{
	_cleanup_(conf_done) struct conf draft = { .manifest_path = NULL };

	for (unsigned i = 0; i < ELEMENTSOF(settings); i++) {
		int r = set(&draft, &settings[i], "");

		if (r < 0)
			return r;
		assert(r == 0); /* the defaults are our own */
	}
	*c = TAKE_AS(draft, (struct conf){ .manifest_path = NULL });
	return 0;
}

void conf_done(struct conf *c)
{
	free(c->manifest_path);
	*c = (struct conf){ .manifest_path = NULL };
}

static int copy(const struct conf *c, struct conf *ret)
{
	char *path = strdup(c->manifest_path);

	if (!path)
		return -ENOMEM;
	*ret = *c;
	ret->manifest_path = path;
	return 0;
}

/* Puts the draft in place of *c. */
static int accept(struct conf *c, struct conf *draft)
{
	conf_done(c);
	*c = TAKE_AS(*draft, (struct conf){ .manifest_path = NULL });
	return 0;
}

/* ---- One text ------------------------------------------------------------------------------ */

/* inih tells a handler no line, and cuts what is too long; so it gets its lines from here. */
struct reader {
	struct conf *conf;
	struct fault fault;
	const char *next;
	unsigned line;
	int r; /* of the first line that is wrong */
};

static void refuse(struct reader *x, const char *what, const char *found, const char *expected)
{
	char path[FAULT_QUOTE_LEN * 2 + sizeof("line 4294967295: ")];

	(void) snprintf(path, sizeof(path), "line %u%s%s", x->line, what ? ": " : "",
			what ? what : ""); /* fits: a section and a quoted key */
	fault_tell(&x->fault, path, found, expected);
	x->r = CONF_E_REFUSED;
}

static void refuse_text(struct reader *x, const char *what, const char *found, size_t length,
			const char *expected)
{
	char quoted[FAULT_QUOTE_LEN];

	fault_quote(found, length, '"', quoted);
	refuse(x, what, quoted, expected);
}

static void refuse_long(struct reader *x, size_t length, size_t limit)
{
	char found[64], expected[64];

	(void) snprintf(found, sizeof(found), "%zu characters", length);   /* fits */
	(void) snprintf(expected, sizeof(expected), "at most %zu", limit); /* fits */
	refuse(x, NULL, found, expected);
}

static bool is_space(char c)
{
	return isspace((unsigned char) c);
}

static bool has_section(const char *section, size_t length)
{
	for (unsigned i = 0; i < ELEMENTSOF(settings); i++)
		if (strlen(settings[i].section) == length &&
		    memcmp(settings[i].section, section, length) == 0)
			return true;
	return false;
}

/* inih passes over whatever follows the bracket, and over a section without settings. */
static void check_section(struct reader *x, const char *line, size_t length)
{
	if (line[0] != '[')
		return;
	if (memchr(line, ']', length) != line + length - 1)
		refuse_text(x, NULL, line, length, "[Section] alone on its line");
	else if (!has_section(line + 1, length - 2))
		refuse_text(x, NULL, line, length, "[Restore] or [Manifest]");
}

static char *next_line(char *ret, int size, void *stream)
{
	struct reader *x = stream;
	const char *line = x->next;
	size_t length = strcspn(line, "\n");

	if (x->r != 0 || *line == '\0')
		return NULL;
	x->next += length + (line[length] == '\n');
	x->line++;
	/* An indented line would be more of the value before it. */
	for (; length > 0 && is_space(*line); length--)
		line++;
	while (length > 0 && is_space(line[length - 1]))
		length--;
	if (length + 2 > (size_t) size)
		refuse_long(x, length, (size_t) size - 2);
	else if (length > 0)
		check_section(x, line, length);
	if (x->r != 0)
		return NULL;
	memcpy(ret, line, length);
	memcpy(ret + length, "\n", 2);
	return ret;
}

static const struct setting *find_setting(const char *section, const char *key)
{
	for (unsigned i = 0; i < ELEMENTSOF(settings); i++)
		if (strcmp(settings[i].section, section) == 0 && strcmp(settings[i].key, key) == 0)
			return &settings[i];
	return NULL;
}

static void refuse_unknown(struct reader *x, const char *section, const char *key)
{
	char what[FAULT_QUOTE_LEN * 2], quoted[FAULT_QUOTE_LEN];

	fault_quote(key, strlen(key), '\0', quoted);
	if (section[0] == '\0') {
		refuse(x, quoted, "no section above it", "[Restore] or [Manifest]");
		return;
	}
	(void) snprintf(what, sizeof(what), "%s.%s", section, quoted); /* fits: section is known */
	refuse(x, what, "an unknown setting", "one of vf-restored.conf(5)");
}

static int take_setting(void *user, const char *section, const char *key, const char *value)
{
	const struct setting *s = find_setting(section, key);
	struct reader *x = user;
	char what[FAULT_PATH_LEN];

	if (x->r != 0)
		return 0;
	if (!s) {
		refuse_unknown(x, section, key);
		return 0;
	}
	x->r = set(x->conf, s, value);
	if (x->r == CONF_E_REFUSED) {
		(void) snprintf(what, sizeof(what), "%s.%s", section, key); /* fits: known */
		refuse_text(x, what, value, strlen(value), s->expected);
	}
	return x->r == 0;
}

/* The line that inih could not make sense of. */
static void refuse_line(struct reader *x, const char *text, unsigned line)
{
	x->line = line;
	while (--line > 0)
		text += strcspn(text, "\n") + 1;
	refuse_text(x, NULL, text, strcspn(text, "\n"), "Setting=value, [Section] or # comment");
}

int conf_parse(struct conf *c, const char *name, const char *text,
	       char ret_error[static CONF_ERROR_LEN])
{
	_cleanup_(conf_done) struct conf draft = { .manifest_path = NULL };
	struct reader x = {
		.conf = &draft,
		.fault = { .name = name,
			   .advice = "correct the file",
			   .error = ret_error,
			   .error_size = CONF_ERROR_LEN },
		.next = text,
	};
	int r;

	r = copy(c, &draft);
	if (r < 0)
		return r;
	r = ini_parse_stream(next_line, &x, take_setting, &x);
	if (r > 0 && x.r == 0)
		refuse_line(&x, text, (unsigned) r);
	return x.r != 0 ? x.r : accept(c, &draft);
}
