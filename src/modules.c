/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <argz.h>
#include <dirent.h>
#include <fnmatch.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include "modules.h"

enum { PLACE_LEN = 300, WORD_LEN = 256 };

/* modprobe.d(5); the first directory that has a file of some name hides it in those after. */
static const char *const default_conf_dirs[] = {
	"/etc/modprobe.d",     "/run/modprobe.d", "/usr/local/lib/modprobe.d",
	"/usr/lib/modprobe.d", "/lib/modprobe.d", NULL,
};

static void unref_list(struct kmod_list **list)
{
	(void) kmod_module_unref_list(*list); /* 0 always, but for NULL */
}

static void unref_module(struct kmod_module **module)
{
	kmod_module_unref(*module);
}

static void close_stream(FILE **stream)
{
	if (*stream)
		(void) fclose(*stream); /* only read */
}

/* libkmod's own words go nowhere: what matters comes back as a result, and others log. */
_printf_(6, 0) static void keep_quiet(void *unused, int priority, const char *file, int line,
				      const char *function, const char *format, va_list args)
{
}

int modules_open(struct modules *m, const char *base_dir, const char *const *conf_dirs)
{
	const char *const *dirs = conf_dirs ?: default_conf_dirs;
	int r;

	*m = (struct modules){ 0 };
	r = argz_create((char *const *) dirs, &m->conf_dirs, &m->conf_dirs_size);
	if (r > 0)
		return -r;
	errno = 0;
	m->kmod = kmod_new(base_dir, conf_dirs);
	if (!m->kmod) {
		r = errno > 0 ? -errno : -ENOMEM;
		modules_close(m);
		return r;
	}
	kmod_set_log_fn(m->kmod, keep_quiet, NULL);
	return 0;
}

void modules_close(struct modules *m)
{
	if (m->kmod)
		kmod_unref(m->kmod);
	free(m->conf_dirs);
	*m = (struct modules){ 0 };
}

/* ---- Where a rule stands ---- */

/* As libkmod compares: - is _, but not within [], where it may be a range. */
static void normalise(char *name)
{
	bool in_brackets = false;

	for (; *name; name++) {
		if (*name == '[' || *name == ']')
			in_brackets = *name == '[';
		else if (*name == '-' && !in_brackets)
			*name = '_';
	}
}

/* The line of "<word> <module>" in a file, the module's name may be a pattern; 0: none. */
static unsigned find_line(const char *path, const char *word, const char *module)
{
	_cleanup_(close_stream) FILE *stream = fopen(path, "re");
	_cleanup_(free_pointer) char *line = NULL;
	char first[WORD_LEN], second[WORD_LEN];
	size_t size = 0;

	for (unsigned n = 1; stream && getline(&line, &size, stream) >= 0; n++) {
		if (sscanf(line, " %255s %255s", first, second) != 2 || strcmp(first, word) != 0)
			continue;
		normalise(second);
		if (fnmatch(second, module, 0) == 0)
			return n;
	}
	return 0;
}

static int is_conf(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".conf") == 0;
}

static bool is_hidden(const struct modules *m, const char *dir, const char *name)
{
	char path[PLACE_LEN];

	for (const char *d = m->conf_dirs; d != dir;
	     d = argz_next(m->conf_dirs, m->conf_dirs_size, d))
		if (snprintf(path, sizeof(path), "%s/%s", d, name) < (int) sizeof(path) &&
		    access(path, F_OK) == 0)
			return true;
	return false;
}

struct rule {
	char name[WORD_LEN];   /* of the file, "" as long as none was found */
	char place[PLACE_LEN]; /* "/etc/modprobe.d/x.conf:3" */
};

static void look_into_file(const struct modules *m, const char *dir, const char *name,
			   const char *word, const char *module, struct rule *best)
{
	char path[PLACE_LEN];
	unsigned line;

	if (best->name[0] && strcmp(name, best->name) >= 0)
		return;
	if (snprintf(path, sizeof(path) - 12, "%s/%s", dir, name) >= (int) sizeof(path) - 12)
		return;
	line = is_hidden(m, dir, name) ? 0 : find_line(path, word, module);
	if (line == 0)
		return;
	(void) snprintf(best->name, sizeof(best->name), "%s", name); /* NAME_MAX fits */
	(void) snprintf(best->place, sizeof(best->place), "%.*s:%u", PLACE_LEN - 12, path, line);
}

/* The first in the order of libkmod: by the files' names, whatever directory they are in. */
static void find_rule(const struct modules *m, const char *word, const char *module,
		      struct rule *ret)
{
	*ret = (struct rule){ 0 };
	for (const char *dir = m->conf_dirs; dir;
	     dir = argz_next(m->conf_dirs, m->conf_dirs_size, dir)) {
		struct dirent **entries = NULL;
		int n = scandir(dir, &entries, is_conf, alphasort);

		for (int i = 0; i < n; i++) {
			look_into_file(m, dir, entries[i]->d_name, word, module, ret);
			free(entries[i]);
		}
		free(entries);
	}
	if (!ret->name[0])
		(void) snprintf(ret->place, sizeof(ret->place), "%s", /* fits */
				"a place that is not modprobe.d (`modprobe -c` shows all rules, "
				"/proc/cmdline has modprobe.blacklist=)");
}

/* ---- What the outcome means ---- */

static int explain_blacklist(const struct modules *m, struct kmod_module *module, char *ret_error)
{
	const char *name = kmod_module_get_name(module);
	struct rule rule;

	find_rule(m, "blacklist", name, &rule);
	(void) snprintf(ret_error, MODULES_ERROR_LEN, /* cut where too long */
			"module '%s' is blacklisted in %s: remove the rule, or load the module "
			"before vf-restore runs",
			name, rule.place);
	return MODULES_E_PROHIBITED;
}

static int explain_install(const struct modules *m, struct kmod_module *module, const char *outcome,
			   char *ret_error)
{
	const char *name = kmod_module_get_name(module);
	struct rule rule;

	find_rule(m, "install", name, &rule);
	(void) snprintf(ret_error, MODULES_ERROR_LEN, /* cut where too long */
			"module '%s': its install rule '%.100s' in %s %s: change the rule, or load "
			"the module before vf-restore runs",
			name, kmod_module_get_install_commands(module), rule.place, outcome);
	return MODULES_E_PROHIBITED;
}

static const char *advice_on(int error)
{
	static const struct {
		int error;
		const char *advice;
	} table[] = {
		{ EPERM,
		  "run as root with CAP_SYS_MODULE; if so, look for kernel.modules_disabled=1, "
		  "lockdown and module_blacklist= in /proc/cmdline" },
		{ ENOEXEC, "the file is not a module of this kernel; install the one that is" },
		{ EKEYREJECTED, "its signature is not accepted; sign it or enrol its key" },
		{ ENOKEY, "its signing key is not known; sign it or enrol its key" },
		{ ENOENT, "its file or a symbol is missing; run depmod -a and see dmesg" },
		{ EINVAL, "see dmesg, and the options lines of modprobe.d" },
		{ ENODEV, "the driver found nothing to drive; see dmesg" },
		{ ENOSYS, "this kernel takes no modules; build the driver in" },
	};

	for (size_t i = 0; i < ELEMENTSOF(table); i++)
		if (table[i].error == error)
			return table[i].advice;
	return "see dmesg";
}

static int explain_failure(struct kmod_module *module, int error, char *ret_error)
{
	(void) snprintf(ret_error, MODULES_ERROR_LEN, /* cut where too long */
			"module '%s' could not be loaded: %s: %s", kmod_module_get_name(module),
			strerror(error), advice_on(error));
	return MODULES_E_FAILED;
}

static int explain_unknown(const struct modules *m, const char *driver, char *ret_error)
{
	const char *dir = kmod_get_dirname(m->kmod);

	(void) snprintf(ret_error, MODULES_ERROR_LEN, /* cut where too long */
			"no module, alias or built-in '%.100s' in %.200s: install the package that "
			"has it and run depmod -a, or correct the driver in the manifest",
			driver, dir);
	return MODULES_E_UNKNOWN;
}

/* ---- Loading ---- */

/* libkmod says COMING of a built-in that modules.builtin doesn't list, too: /sys/module/<name> is
 * there without an initstate. Such a one has no file, and there is nothing to wait for. */
static bool is_in_kernel(struct kmod_module *module)
{
	int state = kmod_module_get_initstate(module);

	return state == KMOD_MODULE_BUILTIN || state == KMOD_MODULE_LIVE ||
	       (state == KMOD_MODULE_COMING && !kmod_module_get_path(module));
}

static bool is_refusal(const char *command)
{
	size_t length;

	command += strspn(command, " \t");
	length = strcspn(command, " \t;&|");
	for (const char *slash; (slash = memchr(command, '/', length));) {
		length -= (size_t) (slash + 1 - command);
		command = slash + 1;
	}
	return (length == 5 && strncmp(command, "false", 5) == 0) ||
	       (length == 4 && strncmp(command, "true", 4) == 0) ||
	       (length == 1 && command[0] == ':');
}

static bool has_install_rule(struct kmod_module *module, bool refusal)
{
	const char *command = kmod_module_get_install_commands(module);

	return command && !is_in_kernel(module) && (!refusal || is_refusal(command));
}

/* The module, or else the first of those that it depends on, which has an install rule and is not
 * in the kernel; refusal: a rule that means no. NULL: none. The caller unrefs it. */
static struct kmod_module *find_install_rule(struct kmod_module *module, bool refusal)
{
	_cleanup_(unref_list) struct kmod_list *dependencies = NULL;
	struct kmod_list *entry;

	if (has_install_rule(module, refusal))
		return kmod_module_ref(module);
	dependencies = kmod_module_get_dependencies(module);
	kmod_list_foreach(entry, dependencies) {
		_cleanup_(unref_module) struct kmod_module *other = kmod_module_get_module(entry);

		if (has_install_rule(other, refusal))
			return TAKE(other);
	}
	return NULL;
}

/* What modprobe -b does. One that is coming already, by another's hand, is only waited for: no
 * rule applies, and finit_module() returns EEXIST, which libkmod takes for success. */
static int insert(struct kmod_module *module)
{
	bool coming = kmod_module_get_initstate(module) == KMOD_MODULE_COMING;
	unsigned flags = coming ? KMOD_PROBE_IGNORE_COMMAND : KMOD_PROBE_APPLY_BLACKLIST;

	return kmod_module_probe_insert_module(module, flags, NULL, NULL, NULL, NULL);
}

static int load_module(const struct modules *m, struct kmod_module *module, char *ret_error)
{
	_cleanup_(unref_module) struct kmod_module *ruled = NULL;
	int r;

	if (is_in_kernel(module))
		return 0;
	ruled = find_install_rule(module, true);
	if (ruled)
		return explain_install(m, ruled, "forbids it", ret_error);
	r = insert(module);
	if (r > 0)
		return explain_blacklist(m, module, ret_error);
	if (r == -ENOMEM)
		return r;
	if (r == 0 && !(has_install_rule(module, false) && kmod_module_get_path(module)))
		return 0;
	if (r == 0)
		return explain_install(m, module, "ran without loading it", ret_error);
	ruled = find_install_rule(module, false);
	return ruled ? explain_install(m, ruled, "failed", ret_error)
		     : explain_failure(module, -r, ret_error);
}

/* In no index; but it may have come by insmod, or be built in where no index tells so. */
static int find_unlisted(const struct modules *m, const char *driver, char *ret_error)
{
	_cleanup_(unref_module) struct kmod_module *module = NULL;
	int r = kmod_module_new_from_name(m->kmod, driver, &module);

	if (r == -ENOMEM)
		return r;
	return r == 0 && is_in_kernel(module) ? 0 : explain_unknown(m, driver, ret_error);
}

/* An alias may stand for several modules: one of them is enough. */
int modules_load(struct modules *m, const char *driver, char ret_error[static MODULES_ERROR_LEN])
{
	_cleanup_(unref_list) struct kmod_list *found = NULL;
	struct kmod_list *entry;
	bool done = false;
	int r;

	r = kmod_module_new_from_lookup(m->kmod, driver, &found);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !found)
		return find_unlisted(m, driver, ret_error);
	kmod_list_foreach(entry, found) {
		_cleanup_(unref_module) struct kmod_module *module = kmod_module_get_module(entry);

		r = load_module(m, module, ret_error);
		if (r < 0)
			return r;
		done = done || r == 0;
	}
	return done ? 0 : r;
}
