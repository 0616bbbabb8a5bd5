/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>
#include "cmd-capture-print.h"
#include "idproof.h"
#include "json-out.h"
#include "plan.h"

enum { VFS_SHOWN = 8 }; /* of an owner, to people */

static bool is_left_out(const struct walked_function *f)
{
	return f->is_pf && f->num_vfs > 0 && !f->driver;
}

void cmd_capture_sum_up(const struct walked *walked, const struct holder_list *holders,
			const struct manifest *manifest, const char *path,
			struct cmd_capture_summary *ret)
{
	*ret = (struct cmd_capture_summary){
		.walked = walked,
		.manifest = manifest,
		.path = path,
		.n_unseen = holders->n_unseen,
	};
	for (unsigned i = 0; i < walked->n_functions; i++)
		ret->n_left_out += is_left_out(&walked->functions[i]);
	for (unsigned i = 0; i < manifest->n_pfs; i++) {
		const struct manifest_pf *pf = &manifest->pfs[i];

		for (unsigned j = 0; j < pf->n_vfs; j++)
			ret->n_unowned += plan_driver_is_vfio(pf->vfs[j].driver) &&
					  !pf->vfs[j].has_owner;
	}
}

static void print_bdf(struct bdf b, const char *before, const char *after, FILE *out)
{
	char text[BDF_STRLEN + 1];

	(void) bdf_format(b, text); /* its length is of no use here */
	(void) fprintf(out, "%s%s%s", before, text, after);
}

/* ---- For people ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* "vfio-pci 6, none 2" */
static void print_drivers(const struct manifest_pf *pf, FILE *out)
{
	const char *comma = "";

	for (unsigned i = 0; i < pf->n_vfs; i++) {
		const char *driver = pf->vfs[i].driver;
		unsigned n = 0, first = 0;

		while (!is_same_text(pf->vfs[first].driver, driver))
			first++;
		if (first < i)
			continue;
		for (unsigned j = i; j < pf->n_vfs; j++)
			n += is_same_text(pf->vfs[j].driver, driver);
		(void) fprintf(out, "%s%u %s", comma, n, driver ?: "without driver");
		comma = ", ";
	}
}

static void print_proof(const struct walked *walked, const struct manifest_pf *pf, FILE *out)
{
	struct idproof proof;

	idproof_check(walked, pf->vendor, pf->vf_device, &proof);
	(void) fprintf(out, "    id %04x:%04x ", pf->vendor, pf->vf_device);
	if (proof.doubt == IDPROOF_NO_DOUBT)
		(void) fputs("is ours alone: one write binds all its VFs", out);
	else if (proof.doubt == IDPROOF_NO_VF)
		(void) fputs("is not proven ours: no VF has it", out);
	else
		print_bdf(proof.function, "is not proven ours: ", ": ", out);
	if (proof.doubt > IDPROOF_NO_VF)
		(void) fputs(idproof_doubt_meaning(proof.doubt), out);
	(void) fputc('\n', out);
}

static void print_pf(const struct walked *walked, const struct manifest_pf *pf, FILE *out)
{
	print_bdf(pf->address, "", "", out);
	(void) fprintf(out, "  %s%s%s  ", pf->driver, pf->interface ? "  " : "",
		       pf->interface ?: "");
	if (pf->num_vfs == 0) {
		(void) fputs("no VFs; listed because its id is a VF's\n", out);
		return;
	}
	(void) fprintf(out, "%u VF%s: ", pf->num_vfs, pf->num_vfs == 1 ? "" : "s");
	print_drivers(pf, out);
	(void) fputc('\n', out);
	print_proof(walked, pf, out);
}

/* Calls for each VF of an owner, in the manifest's order; returns how many there are. */
static unsigned print_vfs(const struct manifest *m, unsigned owner, unsigned at_most,
			  const char *quote, const char *comma, FILE *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n_pfs; i++) {
		const struct manifest_pf *pf = &m->pfs[i];

		for (unsigned j = 0; j < pf->n_vfs; j++) {
			const struct manifest_vf *vf = &pf->vfs[j];

			if (!vf->has_owner || vf->owner != owner || n++ >= at_most)
				continue;
			(void) fputs(n > 1 ? comma : "", out);
			print_bdf(vf->address, quote, quote, out);
		}
	}
	return n;
}

static void print_owner(const struct manifest *m, unsigned owner, FILE *out)
{
	const struct manifest_owner *o = &m->owners[owner];
	unsigned n;

	(void) fprintf(out, "owner %s", o->name);
	if (o->has_uid)
		(void) fprintf(out, " (uid %u)", o->uid);
	(void) fputs(": ", out);
	n = print_vfs(m, owner, VFS_SHOWN, "", " ", out);
	if (n > VFS_SHOWN)
		(void) fprintf(out, " and %u more", n - VFS_SHOWN);
	(void) fputc('\n', out);
}

void cmd_capture_print_text(const struct cmd_capture_summary *s, FILE *out)
{
	const struct manifest *m = s->manifest;

	for (unsigned i = 0; i < m->n_pfs; i++)
		print_pf(s->walked, &m->pfs[i], out);
	for (unsigned i = 0; i < m->n_owners; i++)
		print_owner(m, i, out);
	if (s->n_unowned > 0)
		(void) fprintf(out, "%u VF%s of VFIO without an owner\n", s->n_unowned,
			       s->n_unowned == 1 ? "" : "s");
	(void) fprintf(out, "%u VF%s of %u PF%s, %u owner%s: generation %" PRIu64 " in %s\n",
		       m->n_vfs, m->n_vfs == 1 ? "" : "s", m->n_pfs, m->n_pfs == 1 ? "" : "s",
		       m->n_owners, m->n_owners == 1 ? "" : "s", m->generation, s->path);
}

void cmd_capture_print_warnings(const struct cmd_capture_summary *s, FILE *out)
{
	for (unsigned i = 0; i < s->walked->n_functions; i++)
		if (is_left_out(&s->walked->functions[i]))
			print_bdf(s->walked->functions[i].address, "vf-restore: ",
				  ": has VFs but no driver, left out: bind it to its driver and "
				  "capture again\n",
				  out);
	if (s->n_unseen > 0)
		(void) fprintf(out,
			       "vf-restore: %u processes could not be looked into, owners may be "
			       "missing: run as root\n",
			       s->n_unseen);
}

/* ---- For programs ---- */

static void print_string(const char *text, FILE *out)
{
	if (!text || json_out_text(out, text) < 0)
		(void) fputs("null", out);
}

static void print_pf_json(const struct walked *walked, const struct manifest_pf *pf, FILE *out)
{
	struct idproof proof;

	idproof_check(walked, pf->vendor, pf->vf_device, &proof);
	print_bdf(pf->address, "{\"address\":\"", "\",\"driver\":", out);
	print_string(pf->driver, out);
	(void) fputs(",\"interface\":", out);
	print_string(pf->interface, out);
	(void) fprintf(out, ",\"numVfs\":%u,\"virtualFunctions\":%u,\"vfIdIsOurs\":%s", pf->num_vfs,
		       pf->n_vfs, pf->vf_id_is_ours ? "true" : "false");
	if (proof.doubt != IDPROOF_NO_DOUBT)
		(void) fprintf(out, ",\"doubt\":\"%s\"", idproof_doubt_name(proof.doubt));
	if (proof.doubt > IDPROOF_NO_VF)
		print_bdf(proof.function, ",\"doubtedFunction\":\"", "\"", out);
	(void) fputc('}', out);
}

static void print_owner_json(const struct manifest *m, unsigned owner, FILE *out)
{
	const struct manifest_owner *o = &m->owners[owner];

	(void) fputs("{\"name\":", out);
	print_string(o->name, out);
	if (o->has_uid)
		(void) fprintf(out, ",\"uid\":%u", o->uid);
	(void) fputs(",\"virtualFunctions\":[", out);
	(void) print_vfs(m, owner, UINT32_MAX, "\"", ",", out); /* the number is of no use here */
	(void) fputs("]}", out);
}

void cmd_capture_print_json(const struct cmd_capture_summary *s, FILE *out)
{
	const struct manifest *m = s->manifest;

	(void) fputs("{\"manifest\":", out);
	print_string(s->path, out);
	(void) fprintf(out, ",\"generation\":%" PRIu64 ",\"physicalFunctions\":[", m->generation);
	for (unsigned i = 0; i < m->n_pfs; i++) {
		(void) fputs(i > 0 ? "," : "", out);
		print_pf_json(s->walked, &m->pfs[i], out);
	}
	(void) fputs("],\"owners\":[", out);
	for (unsigned i = 0; i < m->n_owners; i++) {
		(void) fputs(i > 0 ? "," : "", out);
		print_owner_json(m, i, out);
	}
	(void) fprintf(out, "],\"unowned\":%u,\"leftOut\":%u,\"unseenProcesses\":%u}\n",
		       s->n_unowned, s->n_left_out, s->n_unseen);
}
