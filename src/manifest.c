/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "fault.h"
#include "manifest.h"

void manifest_done(struct manifest *m)
{
	for (unsigned i = 0; i < m->n_pfs; i++)
		free(m->pfs[i].vfs);
	free(m->pfs);
	free(m->owners);
	free(m->first_unknown);
	free(m->text);
	*m = (struct manifest){ .generation = 0 };
}

int manifest_check_machine(const struct manifest *m, const char *name, const char *machine_id,
			   char ret_error[static MANIFEST_ERROR_LEN])
{
	struct fault f = {
		.name = name,
		.advice = "it is another machine's: capture one here",
		.error = ret_error,
		.error_size = MANIFEST_ERROR_LEN,
	};
	char found[FAULT_QUOTE_LEN], expected[FAULT_QUOTE_LEN];

	if (!machine_id || strcmp(m->machine_id, machine_id) == 0)
		return 0;
	fault_quote(m->machine_id, strlen(m->machine_id), '"', found);
	fault_quote(machine_id, strlen(machine_id), '"', expected);
	fault_tell(&f, "machineId", found, expected);
	return MANIFEST_E_REFUSED;
}
