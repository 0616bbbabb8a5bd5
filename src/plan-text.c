/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan-text.h"
#include "record-fields.h"
#include "vf-set.h"

static void put_vfs(FILE *out, const struct plan_lane *lane, unsigned first, unsigned n)
{
	struct vf_set set = { .n = 0 };

	for (unsigned i = first; i < first + n; i++)
		vf_set_add(&set, lane->vfs[i]->index);
	vf_set_print(&set, out);
}

static void put_look(FILE *out, const struct plan_lane *lane)
{
	fprintf(out, "see that it is %04x:%04x with driver %s", lane->pf->vendor, lane->pf->device,
		lane->pf->driver);
	if (lane->pf->serial_number)
		fprintf(out, " and serial number %s", lane->pf->serial_number);
}

static void put_bind(FILE *out, const struct plan_lane *lane, const struct step *s, const char *how)
{
	fputs("bind ", out);
	put_vfs(out, lane, s->first, s->n);
	fprintf(out, " to %s by %s", s->driver, how);
}

static void put_words(FILE *out, const struct plan_lane *lane, const struct step *s)
{
	const struct manifest_pf *pf = lane->pf;

	switch (s->kind) {
	case STEP_LOOK:
		put_look(out, lane);
		return;
	case STEP_COUNT:
		fprintf(out, "read sriov_numvfs: 0 is cold, %u is warm, else the PF is refused",
			pf->num_vfs);
		return;
	case STEP_AUTOPROBE:
		fprintf(out, "if cold: sriov_drivers_autoprobe to %d", lane->binds_as_they_come);
		return;
	case STEP_ID:
		fprintf(out, "if cold: have %04x:%04x registered by new_id, once for all its PFs",
			pf->vendor, pf->vf_device);
		return;
	case STEP_ENABLE:
		fprintf(out, "if cold: write %u to sriov_numvfs", pf->num_vfs);
		return;
	case STEP_LAYOUT:
		fputs("read sriov_offset and sriov_stride, compute every address", out);
		return;
	case STEP_SURVEY:
		fputs("if warm: see which VFs are bound to what", out);
		return;
	case STEP_BIND_OVERRIDE:
		put_bind(out, lane, s, "driver_override, one by one");
		return;
	case STEP_BIND_ID:
		put_bind(out, lane, s,
			 lane->binds_as_they_come ? "the registered id, as they come"
						  : "the registered id, autoprobe at 1");
		return;
	case STEP_AUTOPROBE_BACK:
		fprintf(out, "sriov_drivers_autoprobe back to %d", pf->drivers_autoprobe);
		return;
	case _STEP_MAX:
		return;
	}
}

static void put_price(FILE *out, const struct tally *t)
{
	unsigned reads = 0, links = 0;

	for (unsigned node = 0; node < _SYSFS_NODE_MAX; node++) {
		reads += t->sysfs[node][SYSFS_READ];
		links += t->sysfs[node][SYSFS_LINK];
	}
	fprintf(out, "%u reads, %u links, %u writes; %u nodes in VF directories\n", reads, links,
		tally_writes(t), tally_vf_nodes(t));
}

static void put_unbound(FILE *out, const struct plan_lane *lane)
{
	unsigned first = 0;

	while (first < lane->n_vfs && lane->vfs[first]->driver)
		first++;
	if (first == lane->n_vfs)
		return;
	fputs("   -  ", out);
	put_vfs(out, lane, first, lane->n_vfs - first);
	fputs(" left without a driver\n", out);
}

static void put_lane(FILE *out, const struct plan *p, unsigned i)
{
	const struct plan_lane *lane = &p->lanes[i];
	char pf[BDF_STRLEN + 1];
	struct plan_facts facts;
	struct tally price;

	bdf_format(lane->pf->address, pf);
	fprintf(out, "\n%s%s%s: %u VF%s, by %s", pf, lane->pf->interface ? " " : "",
		lane->pf->interface ? lane->pf->interface : "", lane->n_vfs,
		lane->n_vfs == 1 ? "" : "s", strategy_name(lane->strategy));
	if (lane->priority)
		fprintf(out, ", priority %d", lane->priority);
	fprintf(out, "%s%s\n", lane->strategy_reason[0] ? "\n   not by id: " : "",
		lane->strategy_reason);
	for (unsigned s = 0; s < lane->n_steps; s++) {
		fprintf(out, "  %2u  ", s + 1);
		put_words(out, lane, &lane->steps[s]);
		fputc('\n', out);
	}
	put_unbound(out, lane);
	plan_facts_foreseen(lane, &facts);
	plan_price_lane(lane, &facts, &price);
	fputs("   price if cold: ", out);
	put_price(out, &price);
}

/* Row by row: what a run is held to afterwards. */
static void put_rows(FILE *out, const struct tally *t)
{
	char name[RECORD_FIELDS_NODE_MAX];

	for (unsigned node = 0; node < _SYSFS_NODE_MAX; node++) {
		record_fields_node_key(node, name);
		for (unsigned op = 0; op < _SYSFS_OP_MAX; op++)
			if (t->sysfs[node][op])
				fprintf(out, "  %-24s %-5s %6u\n", name, record_fields_op_key(op),
					t->sysfs[node][op]);
	}
	if (t->opens)
		fprintf(out, "  %-24s %-5s %6u\n", "device nodes", "open", t->opens);
}

void plan_text(const struct plan *p, FILE *out)
{
	struct tally price;

	fprintf(out, "%u PFs with %u VFs for %u owners, in this order:\n", p->n_lanes, p->n_vfs,
		p->manifest->n_owners);
	for (unsigned i = 0; i < p->n_lanes; i++)
		put_lane(out, p, i);
	plan_price(p, &price);
	fputs("\nPrice of the whole if all is cold: ", out);
	put_price(out, &price);
	put_rows(out, &price);
}
