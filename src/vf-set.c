/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vf-set.h"

enum { RUNS_MAX = 12 };

static bool has(const struct vf_set *s, unsigned index)
{
	return index < VF_SET_MAX && s->bits[index / 64] >> index % 64 & 1;
}

void vf_set_add(struct vf_set *s, unsigned index)
{
	if (index >= VF_SET_MAX || has(s, index))
		return;
	s->bits[index / 64] |= UINT64_C(1) << index % 64;
	s->n++;
}

void vf_set_print(const struct vf_set *s, FILE *out)
{
	unsigned shown = 0, runs = 0, end;

	fputs(s->n == 0 ? "no VF" : s->n == 1 ? "VF" : "VFs", out);
	for (unsigned first = 0; shown < s->n && runs < RUNS_MAX; first = end + 1) {
		end = first;
		if (!has(s, first))
			continue;
		while (has(s, end + 1))
			end++;
		fprintf(out, "%s %u", runs++ ? "," : "", first);
		if (end > first)
			fprintf(out, "-%u", end);
		shown += end - first + 1;
	}
	if (shown < s->n)
		fprintf(out, " and %u more", s->n - shown);
}
