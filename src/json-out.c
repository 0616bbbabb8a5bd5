/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json-out.h"
#include <json-c/json.h>
#include "record-fields.h"

int json_out_text(FILE *out, const char *text)
{
	struct json_object *quoted = json_object_new_string(text);
	const char *json;

	if (!quoted)
		return -ENOMEM;
	json = json_object_to_json_string_ext(quoted, JSON_C_TO_STRING_NOSLASHESCAPE);
	if (json)
		fputs(json, out);       /* the stream remembers the error */
	(void) json_object_put(quoted); /* the last reference: 1, always */
	return json ? 0 : -ENOMEM;
}

static void put_node(FILE *out, const char *separator, enum sysfs_node node,
		     const uint32_t ops[static _SYSFS_OP_MAX])
{
	char key[RECORD_FIELDS_NODE_MAX];

	record_fields_node_key(node, key);
	fprintf(out, "%s\"%s\": {", separator, key);
	separator = " ";
	for (unsigned op = 0; op < _SYSFS_OP_MAX; op++) {
		if (!ops[op])
			continue;
		fprintf(out, "%s\"%s\": %u", separator, record_fields_op_key(op), ops[op]);
		separator = ", ";
	}
	fputs(" }", out);
}

void json_out_tally(FILE *out, const struct tally *t)
{
	const char *separator = " ";

	fputs("{ \"sysfs\": {", out);
	for (unsigned node = 0; node < _SYSFS_NODE_MAX; node++) {
		const uint32_t *ops = t->sysfs[node];

		if (!ops[SYSFS_READ] && !ops[SYSFS_WRITE] && !ops[SYSFS_LINK])
			continue;
		put_node(out, separator, node, ops);
		separator = ", ";
	}
	fprintf(out, " }, \"vfNodes\": %u, \"writes\": %u, \"opens\": %u }", tally_vf_nodes(t),
		tally_writes(t), t->opens);
}
