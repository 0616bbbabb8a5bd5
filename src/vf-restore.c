/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vf-restore.h"
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include "cmd.h"

static const struct cmd commands[] = {
	{ "capture", "write down which VFs there are and whose: the manifest", cmd_capture },
	{ "plan", "tell what restore would do, and what it would touch", cmd_plan },
	{ "restore", "give the VFs of the manifest back", cmd_restore },
	{ "timeline", "draw when a restore did what", cmd_timeline },
};

static void print_help(FILE *out)
{
	(void) fputs("Usage: vf-restore COMMAND [OPTIONS]\n"
		     "\n"
		     "Gives guests their SR-IOV virtual functions back after the host's kexec.\n"
		     "\n",
		     out); /* main looks at stdout's errors, stderr's have no hearer */
	for (size_t i = 0; i < ELEMENTSOF(commands); i++)
		(void) fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	(void) fputs("\n"
		     "  --help     this text; `vf-restore COMMAND --help` for a command's\n"
		     "  --version  which vf-restore this is\n",
		     out);
}

enum { NAME_MAX_LEN = 16 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance, a row at a time. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 1], diagonal, above;
	size_t n = strlen(b);

	assert(n <= NAME_MAX_LEN);
	for (unsigned i = 0; i <= n; i++)
		row[i] = i;
	for (unsigned line = 1; *a; a++, line++) {
		diagonal = row[0];
		row[0] = line;
		for (size_t i = 1; i <= n; i++) {
			above = row[i];
			row[i] = least(above + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
			diagonal = above;
		}
	}
	return row[n];
}

/* The command that was meant; NULL when none is near. */
static const char *guess(const char *name)
{
	const char *nearest = NULL;
	unsigned least_so_far = 3;

	if (!name[0])
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(commands); i++) {
		unsigned d = distance(name, commands[i].name);

		if (!strncmp(name, commands[i].name, strlen(name)))
			d = 1;
		if (d >= least_so_far)
			continue;
		least_so_far = d;
		nearest = commands[i].name;
	}
	return nearest;
}

static int refuse(const char *name)
{
	const char *meant = name[0] == '-' ? NULL : guess(name);

	(void) fprintf(stderr, "vf-restore: '%s' is no %s: ", name,
		       name[0] == '-' ? "option" : "command"); /* stderr: no hearer for an error */
	if (meant)
		(void) fprintf(stderr, "did you mean '%s'?\n", meant);
	else
		(void) fputs("see vf-restore --help\n", stderr);
	return VF_RESTORE_EXIT_USAGE;
}

/* getopt's complaints begin with argv[0]. */
static int run_command(const struct cmd *command, int argc, char *argv[])
{
	char name[sizeof("vf-restore ") + NAME_MAX_LEN];

	(void) snprintf(name, sizeof(name), "vf-restore %s", command->name); /* fits */
	argv[0] = name;
	return command->run(argc, argv);
}

static int run(int argc, char *argv[])
{
	if (argc < 2) {
		print_help(stderr);
		return VF_RESTORE_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help(stdout);
		return VF_RESTORE_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		(void) puts("vf-restore " VF_RESTORE_VERSION); /* main looks at its errors */
		return VF_RESTORE_EXIT_DONE;
	}
	for (size_t i = 0; i < ELEMENTSOF(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run_command(&commands[i], argc - 1, argv + 1);
	return refuse(argv[1]);
}

/* An answer that did not arrive (a full disk) is no success. */
int main(int argc, char *argv[])
{
	int code;

	(void) setlocale(LC_CTYPE, ""); /* without: ASCII; numbers and messages stay as they are */
	code = run(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		(void) fprintf(stderr, "vf-restore: Failed to write the answer: %s\n",
			       strerror(errno));
		return code ? code : VF_RESTORE_EXIT_FAILED;
	}
	return code;
}
