/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record-fields.h"
#include <stdio.h>
#include "sysfs.h"

static const char *const vf_states[] = { "waits", "ready", "held", "lacks", NULL };
static const char *const lane_states[] = { "waits",   "at-work", "late", "done",
					   "refused", "stuck",   NULL };
static const char *const modes[] = { "cold", "warm", "unknown", NULL };

#define FIELD(member, key, kind)                                                                   \
	{                                                                                          \
		key, offsetof(struct STRUCT, member), kind, NULL                                   \
	}
#define WORD(member, key, words)                                                                   \
	{                                                                                          \
		key, offsetof(struct STRUCT, member), RECORD_TEXT, words                           \
	}

#define STRUCT record
static const struct record_field of_record[] = {
	FIELD(exec_ns, "execNs", RECORD_LONG),
	FIELD(load_ns, "loadNs", RECORD_TIME),
	FIELD(hot_ns, "hotNs", RECORD_TIME),
	FIELD(over_ns, "overNs", RECORD_TIME),
	FIELD(realtime_usec, "realtimeUsec", RECORD_TIME),
	FIELD(manifest_path, "manifest", RECORD_MAYBE),
	FIELD(generation, "generation", RECORD_LONG),
	FIELD(budget_exact, "budgetExact", RECORD_FLAG),
	FIELD(n_uevents, "uevents", RECORD_LONG),
	FIELD(n_overruns, "overruns", RECORD_LONG),
	FIELD(max_rss_kib, "maxRssKib", RECORD_TIME), /* left out when it is 0, too */
};
#undef STRUCT
#define STRUCT record_owner
static const struct record_field of_owner[] = {
	FIELD(name, "name", RECORD_TEXT),        FIELD(n, "vfs", RECORD_COUNT),
	FIELD(n_ready, "ready", RECORD_COUNT),   FIELD(n_lacks, "lacks", RECORD_COUNT),
	FIELD(ready_ns, "readyNs", RECORD_TIME),
};
#undef STRUCT
#define STRUCT record_lane
static const struct record_field of_lane[] = {
	FIELD(pf, "address", RECORD_ADDRESS),
	FIELD(interface, "interface", RECORD_MAYBE),
	WORD(state, "state", lane_states),
	WORD(mode, "mode", modes),
	FIELD(strategy, "strategy", RECORD_TEXT),
	FIELD(strategy_reason, "strategyReason", RECORD_MAYBE),
	FIELD(cause, "cause", RECORD_MAYBE),
	FIELD(place, "place", RECORD_MAYBE),
	FIELD(found, "found", RECORD_MAYBE),
	FIELD(error, "error", RECORD_ERRNO),
	FIELD(num_vfs, "numVfs", RECORD_COUNT),
	FIELD(vf_nodes, "vfNodes", RECORD_COUNT),
	FIELD(admitted_ns, "admittedNs", RECORD_TIME),
	FIELD(over_ns, "overNs", RECORD_TIME),
};
#undef STRUCT
#define STRUCT record_step
static const struct record_field of_step[] = {
	FIELD(name, "name", RECORD_TEXT),
	FIELD(begun_ns, "begunNs", RECORD_TIME),
	FIELD(done_ns, "doneNs", RECORD_TIME),
};
#undef STRUCT
#define STRUCT record_vf
static const struct record_field of_vf[] = {
	FIELD(index, "index", RECORD_COUNT),     FIELD(address, "address", RECORD_ADDRESS),
	FIELD(owner, "owner", RECORD_MAYBE),     FIELD(name, "name", RECORD_MAYBE),
	FIELD(driver, "driver", RECORD_MAYBE),   WORD(state, "state", vf_states),
	FIELD(cause, "cause", RECORD_MAYBE),     FIELD(place, "place", RECORD_MAYBE),
	FIELD(error, "error", RECORD_ERRNO),     FIELD(node, "node", RECORD_MAYBE),
	FIELD(begun_ns, "begunNs", RECORD_TIME), FIELD(bound_ns, "boundNs", RECORD_TIME),
	FIELD(seen_ns, "seenNs", RECORD_TIME),   FIELD(ready_ns, "readyNs", RECORD_TIME),
};
#undef STRUCT

const struct record_fields record_fields_top = { of_record, ELEMENTSOF(of_record) };
const struct record_fields record_fields_owner = { of_owner, ELEMENTSOF(of_owner) };
const struct record_fields record_fields_lane = { of_lane, ELEMENTSOF(of_lane) };
const struct record_fields record_fields_step = { of_step, ELEMENTSOF(of_step) };
const struct record_fields record_fields_vf = { of_vf, ELEMENTSOF(of_vf) };

static const char *const op_keys[] = {
	[SYSFS_READ] = "read",
	[SYSFS_WRITE] = "write",
	[SYSFS_LINK] = "link",
};
_Static_assert(ELEMENTSOF(op_keys) == _SYSFS_OP_MAX, "every operation has a key");

/* Of those in a VF's directory: see tally_vf_nodes(). */
void record_fields_node_key(enum sysfs_node node, char ret[static RECORD_FIELDS_NODE_MAX])
{
	bool is_in_vf = node == SYSFS_VF_DRIVER || node == SYSFS_VF_OVERRIDE ||
			node == SYSFS_VF_GROUP;

	(void) snprintf(ret, RECORD_FIELDS_NODE_MAX, "%s%s", is_in_vf ? "vf/" : "",
			sysfs_node_name(node));
}

const char *record_fields_op_key(enum sysfs_op op)
{
	return op_keys[op];
}
