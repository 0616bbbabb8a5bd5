/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * manifest - what was promised: the PFs, their VFs and the owners of these, as the old kernel's
 * side wrote it down. Format 1 is described in vf-restore-manifest(5).
 *
 * Knows what a sound manifest is, and checks it in full before anybody acts on it.
 * Absent is not zero: what may be left out has a `has_` beside it or is NULL.
 */
#include "base.h"
#include "bdf.h"

enum {
	MANIFEST_VERSION = 1,
	MANIFEST_NAME_MAX = 63, /* of owners, devices, drivers: bytes */
	MANIFEST_VFS_MAX = 65536,
	MANIFEST_SIZE_MAX = 64 << 20,
	MANIFEST_ERROR_LEN = 1024,
};

struct manifest_owner {
	const char *name; /* unique */
	int priority;     /* higher is served earlier; 0 when absent */
	bool has_uid;
	uint32_t uid;
};

enum manifest_link_state { MANIFEST_LINK_AUTO, MANIFEST_LINK_ENABLE, MANIFEST_LINK_DISABLE };

struct manifest_network {
	bool has_mac, has_vlan, has_qos, has_vlan_protocol, has_spoof_check, has_trust,
		has_link_state, has_min_tx_rate, has_max_tx_rate;
	uint8_t mac[6];
	uint16_t vlan;          /* 0..4094 */
	uint8_t qos;            /* 0..7 */
	uint16_t vlan_protocol; /* 0x8100 or 0x88a8 */
	bool spoof_check, trust;
	enum manifest_link_state link_state;
	uint32_t min_tx_rate, max_tx_rate; /* Mbit/s */
};

struct manifest_vf {
	unsigned index; /* < num_vfs of its PF */
	bool has_address;
	struct bdf address; /* a hint: compared, never trusted */
	const char *driver; /* NULL: to be left without a driver */
	bool has_owner;
	unsigned owner;   /* index into manifest.owners */
	const char *name; /* of the device within its owner, unique there; NULL without owner */
	bool has_network;
	struct manifest_network network;
};

struct manifest_pf {
	struct bdf address;
	uint16_t vendor, device;
	const char *serial_number; /* NULL when the PF has none or it was not known */
	const char *driver;        /* the PF's own, never NULL */
	unsigned num_vfs;          /* 0: listed for the proof of an id only */
	uint16_t vf_device;        /* the vendor of a VF is its PF's */
	unsigned offset, stride;
	bool drivers_autoprobe; /* what sriov_drivers_autoprobe was and shall be again */
	bool vf_id_is_ours;     /* see DESIGN 5: all functions of vendor:vf_device are our VFs */
	const char *interface;  /* NULL when not a NIC */
	bool has_permanent_mac;
	uint8_t permanent_mac[6];
	struct manifest_vf *vfs; /* by ascending index; at most num_vfs, some may be unlisted */
	unsigned n_vfs;
};

struct manifest {
	uint64_t generation;
	uint64_t captured_at_usec; /* CLOCK_REALTIME */
	char machine_id[33];       /* 32 hex digits */
	char boot_id[33];          /* the same form, dashes of the kernel's notation removed */
	const char *kernel_release;
	struct manifest_owner *owners;
	unsigned n_owners;
	struct manifest_pf *pfs; /* by ascending address */
	unsigned n_pfs;
	unsigned n_vfs;      /* sum of the PFs' n_vfs */
	unsigned n_unknown;  /* keys we do not know, kept out of the way */
	char *first_unknown; /* path of the first of them, for the warning */
	void *text; /* from malloc(): what the strings above point into; NULL: they are elsewhere */
};

enum {
	_MANIFEST_E_SUCCESS,
	MANIFEST_E_ABSENT, /* no such file */
	MANIFEST_E_REFUSED, /* damaged or unsound: text says file, field, found, expected, what now */
};

/* Fills m from a text in memory; `name` is what the error calls it. *ret is a whole manifest or
 * untouched. */
int manifest_parse(struct manifest *ret, const char *name, const char *text, size_t size,
		   char ret_error[static MANIFEST_ERROR_LEN]) _must_check_;

/* Reads path, compares it with path.xxh128 (lines as xxh128sum prints them; one of them has to be
 * the text's; no such file is refused too unless `unsealed` says that a hand-written manifest is
 * fine), and parses it. When it is refused and path.previous is sound, the error names that. */
int manifest_load(struct manifest *ret, const char *path, bool unsealed,
		  char ret_error[static MANIFEST_ERROR_LEN]) _must_check_;

/* Does it belong to this machine? NULL machine_id in the file system (no /etc/machine-id) counts
 * as a match. MANIFEST_E_REFUSED with text else. */
int manifest_check_machine(const struct manifest *m, const char *name, const char *machine_id,
			   char ret_error[static MANIFEST_ERROR_LEN]) _must_check_;

void manifest_done(struct manifest *m);
