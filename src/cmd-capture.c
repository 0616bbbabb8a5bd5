/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "capture.h"
#include "cmd.h"
#include "cmd-capture-print.h"
#include "manifest-save.h"
#include "phase.h"
#include "vf-restore.h"

static const char usage[] =
	"Usage: vf-restore capture [OPTIONS]\n"
	"\n"
	"Writes down which VFs this host has, what they are bound to and whose they are: the\n"
	"manifest that vf-restore fulfils after the next kexec.\n"
	"\n"
	"  -o, --output FILE           write FILE instead of " VF_RESTORE_MANIFEST ";\n"
	"                              - for the standard output\n"
	"      --owner NAME=BDF[,BDF]  these VFs belong to NAME; may be given again. Without it a\n"
	"                              VF belongs to the unit of the process that holds it open\n"
	"      --json                  a summary for programs\n"
	"  -h, --help                  this text\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 3 done, but a PF with VFs had to be left out,\n"
	"5 --owner names a device that is not a VF here.\n";

struct options {
	const char *output;
	bool json, help;
	struct holder_list by_hand;
};

/* All that was found, and what became of it. */
struct findings {
	struct walked walked;
	struct holder_list holders;
	struct capture_identity identity;
	struct manifest manifest;
};

static void options_done(struct options *o)
{
	holder_list_done(&o->by_hand);
}

static void findings_done(struct findings *f)
{
	manifest_done(&f->manifest);
	holder_list_done(&f->holders);
	walked_done(&f->walked);
}

static int fail(const char *what, int error, const char *advice)
{
	(void) fprintf(stderr, "vf-restore: %s: %s: %s\n", what, strerror(error), advice);
	return VF_RESTORE_EXIT_FAILED;
}

/* ---- Options ---- */

static int refuse_usage(const char *what, const char *value, const char *advice)
{
	(void) fprintf(stderr, "vf-restore: %s '%s': %s\n", what, value, advice);
	return VF_RESTORE_EXIT_USAGE;
}

static bool is_owned(const struct holder_list *list, struct bdf address)
{
	for (unsigned i = 0; i < list->n_holders; i++)
		if (bdf_compare(list->holders[i].address, address) == 0)
			return true;
	return false;
}

/* NAME=BDF[,BDF...] */
static int parse_owner(struct options *o, char *text)
{
	char *equals = strchr(text, '='), *list;
	struct bdf address;

	if (!equals || equals == text || equals - text > MANIFEST_NAME_MAX)
		return refuse_usage("--owner", text,
				    "expected NAME=BDF[,BDF...], NAME of 1 to 63 bytes");
	*equals = '\0';
	list = equals + 1;
	for (char *one; (one = strsep(&list, ","));) {
		if (bdf_parse(one, &address) != 0)
			return refuse_usage("--owner: device", one,
					    "expected an address as 0000:3b:02.1");
		if (is_owned(&o->by_hand, address))
			return refuse_usage("--owner: device", one,
					    "given twice; a VF has one owner");
		if (holder_add_by_hand(&o->by_hand, address, text) < 0)
			return fail("--owner", ENOMEM, "free some memory");
	}
	return 0;
}

/* 0, or the exit code. */
static int parse_options(struct options *o, int argc, char *argv[])
{
	enum { OPTION_OWNER = 0x100, OPTION_JSON };
	static const struct option table[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "owner", required_argument, NULL, OPTION_OWNER },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c, r = 0;

	while (r == 0 && (c = getopt_long(argc, argv, "o:h", table, NULL)) >= 0) {
		if (c == 'o')
			o->output = optarg;
		else if (c == OPTION_OWNER)
			r = parse_owner(o, optarg);
		else if (c == OPTION_JSON)
			o->json = true;
		else if (c == 'h')
			o->help = true;
		else
			return VF_RESTORE_EXIT_USAGE; /* getopt has said why */
	}
	if (r == 0 && !o->help && optind < argc)
		return refuse_usage("argument", argv[optind], "capture takes options only");
	if (r == 0 && o->json && strcmp(o->output, "-") == 0)
		return refuse_usage("--json with --output", "-",
				    "the standard output can take one of them");
	return r;
}

/* ---- Finding ---- */

static int look_around(struct findings *f, const struct options *o)
{
	struct phase phase;
	const struct walk_pass *pass;
	int r;

	phase_init(&phase, PHASE_PREPARE, now_ns());
	pass = phase_walk_pass(&phase);
	r = walker_walk(pass, &f->walked);
	if (r < 0)
		return fail("/sys/bus/pci/devices", -r, "is sysfs mounted on /sys?");
	r = holder_find_all(pass, NULL, NULL, &f->holders);
	if (r < 0)
		return fail("/proc", -r, "is procfs mounted on /proc?");
	for (unsigned i = 0; i < o->by_hand.n_holders; i++) {
		const struct holder *h = &o->by_hand.holders[i];

		if (holder_add_by_hand(&f->holders, h->address, h->name) < 0)
			return fail("--owner", ENOMEM, "free some memory");
	}
	r = capture_identity_read(&f->identity);
	if (r == CAPTURE_E_NO_MACHINE_ID) {
		(void) fputs("vf-restore: /etc/machine-id: absent or not 32 hex digits: run "
			     "systemd-machine-id-setup\n",
			     stderr);
		return VF_RESTORE_EXIT_FAILED;
	}
	return r < 0 ? fail("/proc/sys/kernel/random/boot_id", -r, "is procfs mounted?") : 0;
}

/* An operator's word must fit what is there, or else nothing is written. */
static int check_by_hand(const struct walked *walked, const struct holder_list *by_hand)
{
	char text[BDF_STRLEN + 1];

	for (unsigned i = 0; i < by_hand->n_holders; i++) {
		const struct holder *h = &by_hand->holders[i];
		const struct walked_function *f = walked_find(walked, h->address);
		const struct walked_function *pf = f && f->is_vf ? walked_find(walked, f->pf)
								 : NULL;

		if (pf && walked_serves_vfs(pf))
			continue;
		(void) bdf_format(h->address, text); /* its length is of no use here */
		(void) fprintf(stderr,
			       "vf-restore: --owner %s: %s is not a VF of this host: see them "
			       "with `vf-restore capture -o -`\n",
			       h->name, text);
		return VF_RESTORE_EXIT_REFUSED;
	}
	return 0;
}

/* One more than the newest sound manifest there, which may be the one before the last. */
static uint64_t next_generation(const char *path)
{
	_cleanup_(manifest_done) struct manifest old = { 0 }, older = { 0 };
	_cleanup_(free_pointer) char *previous = NULL;
	char error[MANIFEST_ERROR_LEN];
	int r;

	r = manifest_load(&old, path, false, error);
	if (r == 0)
		return old.generation + 1;
	if (r == MANIFEST_E_REFUSED)
		(void) fprintf(stderr,
			       "vf-restore: the manifest so far is no good, replacing it: %s\n",
			       error);
	if (asprintf(&previous, "%s.previous", path) < 0)
		previous = NULL;
	if (previous && manifest_load(&older, previous, false, error) == 0)
		return older.generation + 2;
	return 1;
}

static int make_manifest(struct findings *f, const char *path)
{
	struct capture_host host = {
		.machine_id = f->identity.machine_id,
		.boot_id = f->identity.boot_id,
		.kernel_release = f->identity.kernel_release,
		.generation = next_generation(path),
	};
	struct timespec t;
	int r;

	(void) clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for a clock that exists */
	host.now_usec = (uint64_t) t.tv_sec * UINT64_C(1000000) + (uint64_t) t.tv_nsec / 1000;
	r = capture_make(&f->walked, &f->holders, &host, &f->manifest);
	return r < 0 ? fail("capture", -r, "free some memory") : 0;
}

/* ---- Writing ---- */

/* What cannot be read back is not written: a sound manifest may be there. */
static int check_text(const char *text, size_t size)
{
	_cleanup_(manifest_done) struct manifest again = { 0 };
	char error[MANIFEST_ERROR_LEN];
	int r;

	r = manifest_parse(&again, "the new manifest", text, size, error);
	if (r > 0)
		(void) fprintf(stderr, "vf-restore: %s: nothing was written\n", error);
	else if (r < 0)
		return fail("the new manifest", -r, "nothing was written");
	return r > 0 ? VF_RESTORE_EXIT_FAILED : 0;
}

/* Only where the package's own directory lacks. */
static int make_directory(const char *path)
{
	_cleanup_(free_pointer) char *dir = strdup(path);

	if (!dir)
		return fail(path, ENOMEM, "free some memory");
	*strrchr(dir, '/') = '\0';
	if (mkdir(dir, 0750) < 0 && errno != EEXIST)
		return fail(dir, errno, "run as root, or give another place by --output");
	return 0;
}

static int save(const char *path, const char *text, size_t size)
{
	struct stat st;
	int r = 0;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* it would be replaced, not written to */
		return fail(path, EINVAL, "expected a regular file, or a name that is free");
	if (strcmp(path, VF_RESTORE_MANIFEST) == 0)
		r = make_directory(path);
	if (r != 0)
		return r;
	r = manifest_save(path, text, size);
	return r < 0 ? fail(path, -r, "the manifest before, if any, is still in force") : 0;
}

static int print(const char *text, size_t size)
{
	if (fwrite(text, 1, size, stdout) != size || fflush(stdout) != 0)
		return fail("standard output", errno, "the manifest is not whole");
	return 0;
}

static int write_manifest(const struct findings *f, const char *path)
{
	_cleanup_(free_pointer) char *text = NULL;
	size_t size;
	int r;

	r = manifest_to_text(&f->manifest, &text, &size);
	if (r < 0)
		return fail("capture", -r, "free some memory");
	r = check_text(text, size);
	if (r != 0)
		return r;
	return strcmp(path, "-") == 0 ? print(text, size) : save(path, text, size);
}

static int capture(const struct options *o, struct findings *f)
{
	bool to_stdout = strcmp(o->output, "-") == 0;
	int r;

	r = look_around(f, o);
	if (r == 0)
		r = check_by_hand(&f->walked, &o->by_hand);
	if (r == 0)
		r = make_manifest(f, to_stdout ? VF_RESTORE_MANIFEST : o->output);
	if (r == 0)
		r = write_manifest(f, o->output);
	return r;
}

int cmd_capture(int argc, char *argv[])
{
	_cleanup_(options_done) struct options o = { .output = VF_RESTORE_MANIFEST };
	_cleanup_(findings_done) struct findings f = { 0 };
	struct cmd_capture_summary s;
	int r;

	r = parse_options(&o, argc, argv);
	if (r != 0)
		return r;
	if (o.help) {
		(void) fputs(usage, stdout); /* main looks at stdout's errors */
		return VF_RESTORE_EXIT_DONE;
	}
	r = capture(&o, &f);
	if (r != 0)
		return r;
	cmd_capture_sum_up(&f.walked, &f.holders, &f.manifest, o.output, &s);
	if (o.json)
		cmd_capture_print_json(&s, stdout);
	else if (strcmp(o.output, "-") != 0)
		cmd_capture_print_text(&s, stdout);
	cmd_capture_print_warnings(&s, stderr);
	return s.n_left_out > 0 ? VF_RESTORE_EXIT_PARTLY : VF_RESTORE_EXIT_DONE;
}
