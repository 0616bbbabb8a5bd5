/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "modules.h"
#include <cmocka.h>

/* A tree of modules that no kernel takes, indexed by depmod, and two conf directories. */
struct tree {
	char root[32], base[96], conf[64], conf_late[64];
	const char *conf_dirs[3];
	char error[MODULES_ERROR_LEN];
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void put(const char *dir, const char *name, const void *content, size_t size)
{
	char path[256];
	FILE *f;

	assert_true(snprintf(path, sizeof(path), "%s/%s", dir, name) < (int) sizeof(path));
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(content, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *dir, const char *name, const char *text)
{
	put(dir, name, text, strlen(text));
}

/* The least that depmod takes for a module: an ELF object with .modinfo, strings and symbols. It
 * gives a symbol to others, or else wants it: depmod finds dependencies by these only. */
struct module {
	Elf64_Ehdr header;
	Elf64_Shdr sections[5];
	char strings[64], exports[16], modinfo[128];
	Elf64_Sym symbols[2];
};

static Elf64_Shdr section(unsigned name, unsigned type, size_t offset, size_t size)
{
	return (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_offset = offset,
		.sh_size = size,
		.sh_link = type == SHT_SYMTAB ? 3 : 0,
		.sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0,
	};
}

static void put_module(const char *dir, const char *name, bool exports, const char *modinfo,
		       size_t size)
{
	static const char strings[] = "\0.modinfo\0.strtab\0.symtab\0__ksymtab_strings\0vfrt_call";
	struct module m = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_REL,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_shoff = offsetof(struct module, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = exports ? 5 : 4,
			    .e_shstrndx = 3 },
		.exports = "vfrt_call",
		.symbols = { { 0 }, { .st_name = 44, .st_info = STB_GLOBAL << 4 } },
	};

	_Static_assert(sizeof(strings) <= sizeof(m.strings), "room for all names");
	memcpy(m.strings, strings, sizeof(strings));
	memcpy(m.modinfo, modinfo, size);
	m.sections[1] = section(1, SHT_PROGBITS, offsetof(struct module, modinfo), size);
	m.sections[2] = section(18, SHT_SYMTAB, offsetof(struct module, symbols),
				(exports ? 1 : 2) * sizeof(Elf64_Sym));
	m.sections[3] = section(10, SHT_STRTAB, offsetof(struct module, strings), sizeof(strings));
	m.sections[4] = section(26, SHT_PROGBITS, offsetof(struct module, exports),
				sizeof("vfrt_call"));
	put(dir, name, &m, sizeof(m));
}
#define PUT_MODULE(dir, name, exports, modinfo)                                                    \
	put_module(dir, name, exports, modinfo, sizeof(modinfo))

static int make_tree(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));
	char command[512], kernel[160];

	assert_non_null(t);
	strcpy(t->root, "/tmp/test-modules.XXXXXX");
	assert_non_null(mkdtemp(t->root));
	(void) snprintf(t->base, sizeof(t->base), "%s/lib/modules/7.3.0-test", t->root);
	(void) snprintf(t->conf, sizeof(t->conf), "%s/etc", t->root);
	(void) snprintf(t->conf_late, sizeof(t->conf_late), "%s/usr", t->root);
	(void) snprintf(kernel, sizeof(kernel), "%s/kernel", t->base);
	(void) snprintf(command, sizeof(command), "mkdir -p %s %s %s", kernel, t->conf,
			t->conf_late);
	assert_int_equal(system(command), 0);
	t->conf_dirs[0] = t->conf;
	t->conf_dirs[1] = t->conf_late;
	PUT_MODULE(kernel, "vfrt-plain.ko", true,
		   "license=GPL\0alias=vfrt:v00001AF4d00001041*\0depends=\0name=vfrt_plain");
	PUT_MODULE(kernel, "vfrt_needy.ko", false,
		   "license=GPL\0depends=vfrt-plain\0name=vfrt_needy");
	put_text(t->base, "modules.builtin", "kernel/vfrt-inside.ko\n");
	put_text(t->base, "modules.builtin.modinfo", "");
	put_text(t->base, "modules.order", "kernel/vfrt-plain.ko\nkernel/vfrt_needy.ko\n");
	(void) snprintf(command, sizeof(command), "depmod -b %s 7.3.0-test", t->root);
	assert_int_equal(system(command), 0);
	*state = t;
	return 0;
}

static int remove_tree(void **state)
{
	struct tree *t = *state;
	int r = nftw(t->root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

	free(t);
	return r;
}

/* Opens after the rules were written: libkmod reads them then. */
static int load(struct tree *t, const char *driver)
{
	struct modules m;
	int r;

	assert_int_equal(modules_open(&m, t->base, t->conf_dirs), 0);
	strcpy(t->error, "");
	r = modules_load(&m, driver, t->error);
	modules_close(&m);
	return r;
}

static void assert_says(const struct tree *t, const char *text)
{
	if (!strstr(t->error, text))
		fail_msg("'%s' is not in '%s'", text, t->error);
}

/* A module that is found, and that this kernel or our rights refuse: as far as a test can go. */
static void assert_tried(struct tree *t, const char *driver, const char *module)
{
	assert_int_equal(load(t, driver), MODULES_E_FAILED);
	assert_says(t, module);
	assert_says(t, "could not be loaded: ");
}

static void unknown_says_what_now(void **state)
{
	struct tree *t = *state;

	assert_int_equal(load(t, "vfrt-nosuch"), MODULES_E_UNKNOWN);
	assert_says(t, "'vfrt-nosuch'");
	assert_says(t, t->base);
	assert_says(t, "install the package");
}

static void unknown_where_there_is_no_index(void **state)
{
	struct tree *t = *state;

	strcpy(t->base, "/nonexistent");
	assert_int_equal(load(t, "vfrt-plain"), MODULES_E_UNKNOWN);
	assert_says(t, "/nonexistent");
}

static void b19_hyphen_and_underscore_are_one(void **state)
{
	struct tree *t = *state;

	assert_tried(t, "vfrt-plain", "'vfrt_plain'");
	assert_tried(t, "vfrt_plain", "'vfrt_plain'");
	assert_tried(t, "vfrt-needy", "vfrt_");
}

static void alias_is_found(void **state)
{
	struct tree *t = *state;

	assert_tried(t, "vfrt:v00001AF4d00001041sv0", "'vfrt_plain'");
	put_text(t->conf, "a.conf", "alias vfrt-other vfrt-plain\n");
	assert_tried(t, "vfrt_other", "'vfrt_plain'");
}

static void b19_built_in_needs_no_loading(void **state)
{
	struct tree *t = *state;

	assert_int_equal(load(t, "vfrt-inside"), 0);
	assert_int_equal(load(t, "vfrt_inside"), 0);
	put_text(t->conf, "a.conf", "blacklist vfrt_inside\n");
	assert_int_equal(load(t, "vfrt-inside"), 0);
}

/* /sys/module/<name> is there, no index knows of it. */
static void b19_built_in_without_modules_builtin(void **state)
{
	struct tree *t = *state;

	if (access("/sys/module/kernel", F_OK) < 0)
		skip();
	assert_int_equal(load(t, "kernel"), 0);
}

static void b21_blacklist_names_file_and_line(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "b.conf", "# blacklist vfrt_plain\n\n  blacklist\tvfrt-plain\n");
	assert_int_equal(load(t, "vfrt-plain"), MODULES_E_PROHIBITED);
	assert_says(t, "'vfrt_plain' is blacklisted in ");
	assert_says(t, "/etc/b.conf:3:");
	assert_says(t, "remove the rule");
}

static void b21_blacklist_does_not_touch_dependencies(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "b.conf", "blacklist vfrt_plain\n");
	assert_tried(t, "vfrt_needy", "vfrt_needy");
}

static void b21_rule_of_a_hidden_file_is_not_named(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "b.conf", "# replaces the vendor's\n");
	put_text(t->conf_late, "b.conf", "blacklist vfrt_plain\n");
	assert_tried(t, "vfrt-plain", "vfrt_plain");
	put_text(t->conf_late, "c.conf", "blacklist vfrt_plain\n");
	assert_int_equal(load(t, "vfrt-plain"), MODULES_E_PROHIBITED);
	assert_says(t, "/usr/c.conf:1:");
}

static void b21_first_file_by_name_is_named(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "z.conf", "install vfrt_plain /bin/false\n");
	put_text(t->conf_late, "a.conf", "\ninstall vfrt-* /bin/true\n");
	assert_int_equal(load(t, "vfrt-plain"), MODULES_E_PROHIBITED);
	assert_says(t, "'/bin/true'");
	assert_says(t, "/usr/a.conf:2 ");
}

static void b21_install_rule_that_says_no(void **state)
{
	static const char *const commands[] = { "/bin/false",    "/bin/true", "false",
						"/usr/bin/true", ":",         "/bin/false # never",
						"/bin/true;" };
	struct tree *t = *state;
	char rule[64];

	for (size_t i = 0; i < ELEMENTSOF(commands); i++) {
		(void) snprintf(rule, sizeof(rule), "install vfrt-plain %s\n", commands[i]);
		put_text(t->conf, "no.conf", rule);
		assert_int_equal(load(t, "vfrt_plain"), MODULES_E_PROHIBITED);
		assert_says(t, commands[i]);
		assert_says(t, "/etc/no.conf:1 forbids it");
	}
}

static void b21_install_rule_of_a_dependency(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "no.conf", "install vfrt_plain /bin/false\n");
	assert_int_equal(load(t, "vfrt_needy"), MODULES_E_PROHIBITED);
	assert_says(t, "module 'vfrt_plain'");
}

static void install_rule_is_run(void **state)
{
	struct tree *t = *state;
	char rule[128], proof[64];

	(void) snprintf(proof, sizeof(proof), "%s/proof", t->root);
	(void) snprintf(rule, sizeof(rule), "install vfrt_plain echo $MODPROBE_MODULE > %s\n",
			proof);
	put_text(t->conf, "run.conf", rule);
	assert_int_equal(load(t, "vfrt_plain"), MODULES_E_PROHIBITED);
	assert_says(t, "/etc/run.conf:1 ran without loading it");
	assert_int_equal(access(proof, F_OK), 0);
}

static void install_rule_that_fails(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "run.conf", "install vfrt_plain exit 3\n");
	assert_int_equal(load(t, "vfrt_plain"), MODULES_E_PROHIBITED);
	assert_says(t, "/etc/run.conf:1 failed");
}

/* Nothing to load behind it: whether it did its work is the caller's to see. */
static void install_rule_without_a_module(void **state)
{
	struct tree *t = *state;

	put_text(t->conf, "run.conf", "install vfrt_virtual exit 0\n");
	assert_int_equal(load(t, "vfrt-virtual"), 0);
}

/* What it is differs: rights, a kernel without modules, or one that finds this to be none. */
static void failure_says_why(void **state)
{
	static const char *const whys[][2] = {
		{ "Operation not permitted", "CAP_SYS_MODULE" },
		{ "Function not implemented", "takes no modules" },
		{ "Exec format error", "not a module of this kernel" },
	};
	struct tree *t = *state;

	assert_int_equal(load(t, "vfrt-plain"), MODULES_E_FAILED);
	for (size_t i = 0; i < ELEMENTSOF(whys); i++)
		if (strstr(t->error, whys[i][0]))
			assert_says(t, whys[i][1]);
}

static void closing_takes_half_built(void **state)
{
	struct modules m = { 0 };

	modules_close(&m);
	modules_close(&m);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(unknown_says_what_now),
		TREE_TEST(unknown_where_there_is_no_index),
		TREE_TEST(b19_hyphen_and_underscore_are_one),
		TREE_TEST(alias_is_found),
		TREE_TEST(b19_built_in_needs_no_loading),
		TREE_TEST(b19_built_in_without_modules_builtin),
		TREE_TEST(b21_blacklist_names_file_and_line),
		TREE_TEST(b21_blacklist_does_not_touch_dependencies),
		TREE_TEST(b21_rule_of_a_hidden_file_is_not_named),
		TREE_TEST(b21_first_file_by_name_is_named),
		TREE_TEST(b21_install_rule_that_says_no),
		TREE_TEST(b21_install_rule_of_a_dependency),
		TREE_TEST(install_rule_is_run),
		TREE_TEST(install_rule_that_fails),
		TREE_TEST(install_rule_without_a_module),
		TREE_TEST(failure_says_why),
		cmocka_unit_test(closing_takes_half_built),
	};

	/* depmod is where a shell has no path for it */
	(void) setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
