/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wrong settings are files of tests/data/conf/bad, each with the error it shall get beside it;
 * sound ones are in good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "conf.h"
#include "conf-value.h"
#include "scratch.h"
#include "vf-restore.h"

static struct conf defaults(void)
{
	struct conf c;

	assert_int_equal(conf_init(&c), 0);
	return c;
}

/* ---- Values -------------------------------------------------------------------------------- */

static void times_are_written_as_in_systemd_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{ "0", 0 },
		{ "5", 5000000000 },
		{ "5s", 5000000000 },
		{ "500ms", 500000000 },
		{ "1min 30s", 90000000000 },
		{ "1min30s", 90000000000 },
		{ "1 h", 3600000000000 },
		{ "2.5s", 2500000000 },
		{ "0.000001", 1000 },
		{ "7us", 7000 },
		{ "1m 1sec 1msec 1usec", 61001001000 },
	};

	(void) state;
	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		uint64_t ns;

		assert_true(conf_value_time(rows[i].text, &ns));
		assert_int_equal(ns, rows[i].ns);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"s",
		"5x",
		"-5",
		"+5",
		"5.s",
		".5",
		"5S",
		"5 5 x",
		"5,5s",
		"5s;",
		"0x5",
		"5.1234567",
		"infinity",
		"18446744073709551616",
		"18446744073709551615h",
		"18446744073709s 18446744073709s",
	};

	(void) state;
	for (unsigned i = 0; i < ELEMENTSOF(texts); i++) {
		uint64_t ns;

		if (conf_value_time(texts[i], &ns))
			fail_msg("'%s' was taken for a time", texts[i]);
	}
}

static void sizes_have_the_units_of_1024(void **state)
{
	uint64_t size;

	(void) state;
	assert_true(conf_value_size("17", &size) && size == 17);
	assert_true(conf_value_size("3K", &size) && size == 3072);
	assert_true(conf_value_size("64M", &size) && size == 67108864);
	assert_true(conf_value_size("1G", &size) && size == 1073741824);
	assert_false(conf_value_size("", &size));
	assert_false(conf_value_size("M", &size));
	assert_false(conf_value_size("1T", &size));
	assert_false(conf_value_size("1 M", &size));
	assert_false(conf_value_size("1MB", &size));
	assert_false(conf_value_size("17179869184G", &size));
}

static void truths_are_those_of_systemd(void **state)
{
	static const char *const yes[] = { "yes", "true", "on", "1", "YES", "y", "t" };
	static const char *const no[] = { "no", "false", "off", "0", "No", "n", "f" };
	bool value;

	(void) state;
	for (unsigned i = 0; i < ELEMENTSOF(yes); i++) {
		assert_true(conf_value_bool(yes[i], &value) && value);
		assert_true(conf_value_bool(no[i], &value) && !value);
	}
	assert_false(conf_value_bool("", &value));
	assert_false(conf_value_bool("2", &value));
}

static void strategies_have_names(void **state)
{
	enum conf_strategy strategy;

	(void) state;
	for (unsigned i = 0; i < _CONF_STRATEGY_MAX; i++) {
		assert_int_equal(conf_strategy_parse(conf_strategy_name(i), &strategy), 0);
		assert_int_equal(strategy, i);
	}
	assert_int_equal(conf_strategy_parse("new_id", &strategy), CONF_E_REFUSED);
}

/* ---- One text ------------------------------------------------------------------------------ */

static void one_is_refused(const char *path)
{
	char error[CONF_ERROR_LEN] = "", *expected, *text;
	struct conf c = defaults(), before = c;
	size_t size;
	int r;

	expected = scratch_expected(path);
	text = scratch_read_path(path, &size);
	r = conf_parse(&c, "vf-restored.conf", text, error);
	if (r != CONF_E_REFUSED || strcmp(error, expected) != 0)
		fail_msg("%s:\n  got %i: %s\n  not:   %s", path, r, error, expected);
	assert_memory_equal(&c, &before, sizeof(c)); /* unchanged */
	conf_done(&c);
	free(expected);
	free(text);
}

static void each_wrong_file_is_refused_with_its_own_error(void **state)
{
	char *bad = scratch_data("conf/bad");

	(void) state;
	assert_true(scratch_each(bad, ".conf", one_is_refused) >= 30);
	free(bad);
}

static struct conf parse(const char *text)
{
	char error[CONF_ERROR_LEN] = "";
	struct conf c = defaults();

	if (conf_parse(&c, "it", text, error) != 0)
		fail_msg("%s", error);
	return c;
}

static struct conf parse_good(const char *name)
{
	char file[128], *path, *text;
	struct conf c;
	size_t size;

	(void) snprintf(file, sizeof(file), "conf/good/%s.conf", name); /* always fits */
	path = scratch_data(file);
	text = scratch_read_path(path, &size);
	c = parse(text);
	free(text);
	free(path);
	return c;
}

static void assert_default(const struct conf *c)
{
	assert_int_equal(c->bind_strategy, CONF_STRATEGY_AUTO);
	assert_int_equal(c->workers, 16);
	assert_int_equal(c->lane_timeout_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(c->vf_timeout_ns, NSEC_PER_SEC);
	assert_int_equal(c->proof_timeout_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(c->late_pf_timeout_ns, 120 * NSEC_PER_SEC);
	assert_int_equal(c->uevent_buffer, 64 << 20);
	assert_false(c->allow_noiommu);
	assert_true(c->load_modules);
	assert_string_equal(c->manifest_path, VF_RESTORE_MANIFEST);
}

static void no_setting_at_all_is_the_defaults(void **state)
{
	struct conf c = parse_good("01-empty");

	(void) state;
	assert_default(&c);
	conf_done(&c);
}

static void each_setting_is_taken(void **state)
{
	struct conf c = parse_good("02-all");

	(void) state;
	assert_int_equal(c.bind_strategy, CONF_STRATEGY_ID);
	assert_int_equal(c.workers, 3);
	assert_int_equal(c.lane_timeout_ns, 90 * NSEC_PER_SEC);
	assert_int_equal(c.vf_timeout_ns, 250 * NSEC_PER_MSEC);
	assert_int_equal(c.proof_timeout_ns, 2500 * NSEC_PER_MSEC);
	assert_int_equal(c.late_pf_timeout_ns, 0);
	assert_int_equal(c.uevent_buffer, 128 << 20);
	assert_true(c.allow_noiommu);
	assert_false(c.load_modules);
	assert_string_equal(c.manifest_path, "/srv/manifest.json");
	conf_done(&c);
}

static void how_a_file_may_be_written(void **state)
{
	static const struct {
		const char *name;
		unsigned workers;
	} rows[] = {
		{ "03-empty-value-is-the-default", 16 },
		{ "04-later-wins", 5 },
		{ "05-comments-and-space", 7 },
		{ "06-no-newline-at-the-end", 9 },
		{ "07-crlf", 9 },
		{ "08-sections-come-twice", 2 },
		{ "09-bom", 9 },
		{ "10-indented-is-not-continued", 4 },
	};

	(void) state;
	for (unsigned i = 0; i < ELEMENTSOF(rows); i++) {
		struct conf c = parse_good(rows[i].name);

		assert_int_equal(c.workers, rows[i].workers);
		conf_done(&c);
	}
}

/* The file that is installed: each setting is there, commented out, with its true default. */
static void the_installed_file_shows_each_default(void **state)
{
	char *path = scratch_data("../../conf/vf-restored.conf"), *text;
	struct conf c;
	unsigned n = 0;
	size_t size;

	(void) state;
	text = scratch_read_path(path, &size);
	c = parse(text);
	assert_default(&c);
	conf_done(&c);
	for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (line[0] == '#' && line[1] >= 'A' && line[1] <= 'Z' &&
		    memchr(line, '=', strcspn(line, " \n"))) {
			line[0] = ' ';
			n++;
		}
	assert_int_equal(n, 10);
	c = parse(text);
	assert_default(&c);
	conf_done(&c);
	free(text);
	free(path);
}

/* ---- Files --------------------------------------------------------------------------------- */

#define ETC "etc/vf-restore/vf-restored.conf"
#define RUN "run/vf-restore/vf-restored.conf"
#define LIB "usr/lib/vf-restore/vf-restored.conf"

static void workers(const struct scratch *s, const char *file, unsigned n)
{
	char text[64];

	(void) snprintf(text, sizeof(text), "[Restore]\nWorkers=%u\n", n); /* always fits */
	scratch_write(s, file, text);
}

static void assert_workers(const struct scratch *s, unsigned n)
{
	char error[CONF_ERROR_LEN] = "";
	struct conf c = defaults();

	if (conf_load(&c, s->fd, error) != 0)
		fail_msg("%s", error);
	assert_int_equal(c.workers, n);
	conf_done(&c);
}

static void no_file_at_all_is_the_defaults(void **state)
{
	assert_workers(*state, 16);
}

static void the_main_file_of_etc_wins_over_run_over_usr_lib(void **state)
{
	workers(*state, LIB, 3);
	assert_workers(*state, 3);
	workers(*state, RUN, 2);
	assert_workers(*state, 2);
	workers(*state, ETC, 1);
	assert_workers(*state, 1);
}

static void a_drop_in_of_any_directory_wins_over_the_main_file(void **state)
{
	workers(*state, ETC, 1);
	workers(*state, LIB ".d/50-vendor.conf", 50);
	assert_workers(*state, 50);
}

static void the_later_drop_in_wins_whatever_its_directory(void **state)
{
	workers(*state, ETC ".d/10-local.conf", 10);
	workers(*state, LIB ".d/50-vendor.conf", 50);
	workers(*state, RUN ".d/20-run.conf", 20);
	assert_workers(*state, 50);
}

static void the_same_name_in_etc_hides_those_of_run_and_usr_lib(void **state)
{
	workers(*state, LIB ".d/50-a.conf", 50);
	workers(*state, RUN ".d/50-a.conf", 51);
	assert_workers(*state, 51);
	scratch_write(*state, ETC ".d/50-a.conf", "");
	assert_workers(*state, 16);
}

static void a_link_to_dev_null_masks(void **state)
{
	struct scratch *s = *state;

	workers(s, LIB ".d/50-a.conf", 50);
	scratch_write(s, ETC ".d/other.conf", "");
	assert_int_equal(symlinkat("/dev/null", s->fd, ETC ".d/50-a.conf"), 0);
	assert_workers(s, 16);
}

static void what_does_not_end_in_conf_or_is_hidden_is_passed_over(void **state)
{
	workers(*state, ETC ".d/50-a.conf.bak", 50);
	workers(*state, ETC ".d/.50-a.conf", 50);
	workers(*state, ETC ".d/.conf", 50);
	workers(*state, ETC ".d/README", 50);
	assert_workers(*state, 16);
}

static void a_wrong_drop_in_refuses_all_and_is_named(void **state)
{
	char error[CONF_ERROR_LEN] = "";
	struct scratch *s = *state;
	struct conf c = defaults();

	workers(s, ETC, 1);
	workers(s, ETC ".d/50-a.conf", 0);
	assert_int_equal(conf_load(&c, s->fd, error), CONF_E_REFUSED);
	assert_string_equal(error, "/" ETC ".d/50-a.conf: line 2: Restore.Workers: found \"0\", "
				   "expected a whole number from 1 to 256; correct the file");
	assert_default(&c);
	conf_done(&c);
}

static void a_file_with_a_nul_is_refused(void **state)
{
	char error[CONF_ERROR_LEN] = "";
	struct scratch *s = *state;
	struct conf c = defaults();

	assert_int_equal(fdio_replace(s->fd, "x.conf", "[Restore]\0x", 11, 0600), 0);
	assert_int_equal(conf_load_file(&c, scratch_path(s, "x.conf"), error), CONF_E_REFUSED);
	assert_non_null(strstr(error, "x.conf: found a NUL, expected text; correct the file"));
	conf_done(&c);
}

static void one_file_alone_starts_from_the_defaults(void **state)
{
	char error[CONF_ERROR_LEN] = "";
	struct scratch *s = *state;
	struct conf c = parse("[Restore]\nWorkers=3\n[Manifest]\nPath=/m\n");

	scratch_write(s, "x.conf", "[Restore]\nLoadModules=no\n");
	assert_int_equal(conf_load_file(&c, scratch_path(s, "x.conf"), error), 0);
	assert_false(c.load_modules);
	assert_int_equal(c.workers, 16);
	assert_string_equal(c.manifest_path, VF_RESTORE_MANIFEST);
	conf_done(&c);
}

static void one_file_alone_must_be_there(void **state)
{
	char error[CONF_ERROR_LEN] = "";
	struct conf c = defaults();

	assert_int_equal(conf_load_file(&c, scratch_path(*state, "none.conf"), error),
			 CONF_E_REFUSED);
	assert_non_null(strstr(error, "/none.conf: found no such file, expected one"));
	conf_done(&c);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_written_as_in_systemd_units),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(sizes_have_the_units_of_1024),
		cmocka_unit_test(truths_are_those_of_systemd),
		cmocka_unit_test(strategies_have_names),
		cmocka_unit_test(each_wrong_file_is_refused_with_its_own_error),
		cmocka_unit_test(no_setting_at_all_is_the_defaults),
		cmocka_unit_test(each_setting_is_taken),
		cmocka_unit_test(how_a_file_may_be_written),
		cmocka_unit_test(the_installed_file_shows_each_default),
		T(no_file_at_all_is_the_defaults),
		T(the_main_file_of_etc_wins_over_run_over_usr_lib),
		T(a_drop_in_of_any_directory_wins_over_the_main_file),
		T(the_later_drop_in_wins_whatever_its_directory),
		T(the_same_name_in_etc_hides_those_of_run_and_usr_lib),
		T(a_link_to_dev_null_masks),
		T(what_does_not_end_in_conf_or_is_hidden_is_passed_over),
		T(a_wrong_drop_in_refuses_all_and_is_named),
		T(a_file_with_a_nul_is_refused),
		T(one_file_alone_starts_from_the_defaults),
		T(one_file_alone_must_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
