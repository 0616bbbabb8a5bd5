/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <string.h>
#include "manifest-fields.h"
#include "scan-value.h"

/* ---- Texts that mean something ------------------------------------------------------------- */

static bool parse_format(const char *text, void *ret)
{
	(void) ret; /* there is but one */
	return strcmp(text, "vf-restore-manifest") == 0;
}

/* Exactly n hex digits. (Thousands of MACs: strtoul() would show.) */
static bool parse_hex(const char *text, unsigned n, unsigned *ret)
{
	unsigned number = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned char c = (unsigned char) text[i];

		if (!isxdigit(c))
			return false;
		number = number << 4 | (c <= '9' ? c - 0x30u : (c | 0x20u) - 'a' + 10);
	}
	*ret = number;
	return true;
}

static bool parse_hex16(const char *text, void *ret)
{
	unsigned number;

	if (!parse_hex(text, 4, &number) || text[4] != '\0')
		return false;
	*(uint16_t *) ret = (uint16_t) number;
	return true;
}

static bool parse_address(const char *text, void *ret)
{
	return bdf_parse(text, ret) == 0;
}

/* 32 hex digits, or the same with dashes as the kernel writes them. */
static bool parse_id128(const char *text, void *ret)
{
	char id[33];
	size_t n = 0;
	bool dashed = strlen(text) == 36;

	for (size_t i = 0; text[i]; i++) {
		if (dashed && (i == 8 || i == 13 || i == 18 || i == 23)) {
			if (text[i] != '-')
				return false;
			continue;
		}
		if (n == 32 || !isxdigit((unsigned char) text[i]))
			return false;
		id[n++] = (char) tolower((unsigned char) text[i]);
	}
	if (n != 32)
		return false;
	id[n] = '\0';
	memcpy(ret, id, sizeof(id));
	return true;
}

static bool parse_mac(const char *text, void *ret)
{
	uint8_t mac[6];
	unsigned byte;

	for (unsigned i = 0; i < 6; i++) {
		if (!parse_hex(text + 3 * i, 2, &byte))
			return false;
		if (text[3 * i + 2] != (i < 5 ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t) byte;
	}
	if (mac[0] & 1)
		return false;
	memcpy(ret, mac, sizeof(mac));
	return true;
}

static bool parse_vlan_protocol(const char *text, void *ret)
{
	if (strcmp(text, "802.1Q") == 0)
		*(uint16_t *) ret = 0x8100;
	else if (strcmp(text, "802.1ad") == 0)
		*(uint16_t *) ret = 0x88a8;
	else
		return false;
	return true;
}

static bool parse_link_state(const char *text, void *ret)
{
	static const char *const words[] = {
		[MANIFEST_LINK_AUTO] = "auto",
		[MANIFEST_LINK_ENABLE] = "enable",
		[MANIFEST_LINK_DISABLE] = "disable",
	};

	for (unsigned i = 0; i < ELEMENTSOF(words); i++)
		if (strcmp(text, words[i]) == 0) {
			*(enum manifest_link_state *) ret = i;
			return true;
		}
	return false;
}

/* It becomes a part of a path in /sys and a word in the journal. */
static bool allows_driver(const char *text)
{
	for (; *text; text++)
		if (!isgraph((unsigned char) *text) || strchr("./", *text))
			return false;
	return true;
}

/* net/core/dev.c: dev_valid_name */
static bool allows_interface(const char *text)
{
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return false;
	for (; *text; text++)
		if (isspace((unsigned char) *text) || strchr("/:", *text))
			return false;
	return true;
}

/* ---- Tables of fields ---------------------------------------------------------------------- */

#define NAME .read = scan_value_name, .max = MANIFEST_NAME_MAX
#define DRIVER                                                                                     \
	NAME, .allows = allows_driver, .expected = "a driver's name without '/', '.' or space"
#define NUMBER(low, high) .read = scan_value_number, .min = (low), .max = (high)
#define TEXT(how, what) .read = scan_value_text, .parse = (how), .expected = (what)
#define HEX16 TEXT(parse_hex16, "4 hex digits")
#define MAC TEXT(parse_mac, "a unicast address such as \"52:54:00:12:34:56\"")
#define ADDRESS TEXT(parse_address, "a PCI address such as \"0000:3b:02.1\"")
#define ID128 TEXT(parse_id128, "32 hex digits")
#define BOOL .read = scan_value_bool

#define NETWORK(member)                                                                            \
	SCAN_AT(struct manifest_network, member), SCAN_HAS(struct manifest_network, has_##member)

static const struct scan_field network_fields[] = {
	{ "mac", NETWORK(mac), MAC },
	{ "vlan", NETWORK(vlan), NUMBER(0, 4094) },
	{ "qos", NETWORK(qos), NUMBER(0, 7) },
	{ "vlanProtocol", NETWORK(vlan_protocol),
	  TEXT(parse_vlan_protocol, "\"802.1Q\" or \"802.1ad\"") },
	{ "spoofCheck", NETWORK(spoof_check), BOOL },
	{ "trust", NETWORK(trust), BOOL },
	{ "linkState", NETWORK(link_state),
	  TEXT(parse_link_state, "\"auto\", \"enable\" or \"disable\"") },
	{ "minTxRate", NETWORK(min_tx_rate), NUMBER(0, UINT32_MAX) },
	{ "maxTxRate", NETWORK(max_tx_rate), NUMBER(0, UINT32_MAX) },
};

static int read_network(struct scan *s, const struct scan_field *f, struct json_object *value,
			void *into)
{
	struct manifest_network *network = (void *) ((char *) into + f->at);
	static const uint8_t zero[6];
	int r;

	r = scan_members(s, network_fields, ELEMENTSOF(network_fields), value, network);
	/* Drivers show a zero where nobody has set one; written, it would be another thing. */
	if (r == 0 && memcmp(network->mac, zero, sizeof(zero)) == 0)
		network->has_mac = false;
	return r;
}

static int read_owner(struct scan *s, const struct scan_field *f, struct json_object *value,
		      void *into)
{
	const char *name;

	return scan_value_take_name(s, f, value, (unsigned *) ((char *) into + f->at), &name);
}

#define VF(member) SCAN_AT(struct manifest_vf, member)
#define VF_HAS(member) SCAN_HAS(struct manifest_vf, has_##member)

static const struct scan_field vf_fields[] = {
	{ "index", true, VF(index), NUMBER(0, UINT16_MAX - 1) },
	{ "address", VF(address), VF_HAS(address), ADDRESS },
	{ "driver", VF(driver), DRIVER },
	{ "owner", VF(owner), VF_HAS(owner), .read = read_owner, .max = MANIFEST_NAME_MAX },
	{ "name", VF(name), NAME },
	{ "network", VF(network), VF_HAS(network), .read = read_network },
};

/* The next of an array of n: grows it by doubling. NULL: no memory. */
static void *next_of(void *array, unsigned n, size_t size)
{
	return n & (n - 1) ? array : realloc(array, (n ? (size_t) n * 2 : 1) * size);
}

static int take_vf(struct scan *s, void *into)
{
	struct manifest_pf *pf = into;
	struct manifest_vf *vfs;

	if (pf->n_vfs == UINT16_MAX)
		return scan_refuse(s, NULL, "one more VF", "at most 65535 of one PF");
	vfs = next_of(pf->vfs, pf->n_vfs, sizeof(*vfs));
	if (!vfs)
		return -ENOMEM;
	pf->vfs = vfs;
	vfs[pf->n_vfs] = (struct manifest_vf){ .index = 0 };
	return scan_element(s, vf_fields, ELEMENTSOF(vf_fields), &vfs[pf->n_vfs++]);
}

static int stream_vfs(struct scan *s, void *into)
{
	return scan_array(s, take_vf, into);
}

static const struct scan_field pf_network_fields[] = {
	{ "interface", SCAN_AT(struct manifest_pf, interface), .read = scan_value_name, .max = 15,
	  .allows = allows_interface, .expected = "an interface's name" },
	{ "permanentMac", SCAN_AT(struct manifest_pf, permanent_mac),
	  SCAN_HAS(struct manifest_pf, has_permanent_mac), MAC },
};

static int read_pf_network(struct scan *s, const struct scan_field *f, struct json_object *value,
			   void *into)
{
	(void) f; /* its members are the PF's own */
	return scan_members(s, pf_network_fields, ELEMENTSOF(pf_network_fields), value, into);
}

#define PF(member) SCAN_AT(struct manifest_pf, member)

/* Those first that a PF with VFs must have. */
enum { PF_VF_DEVICE, PF_OFFSET, PF_STRIDE, PF_VFS, _PF_NEEDED_MAX };

static const struct scan_field pf_fields[] = {
	[PF_VF_DEVICE] = { "vfDevice", PF(vf_device), HEX16 },
	[PF_OFFSET] = { "offset", PF(offset), NUMBER(0, UINT16_MAX) },
	[PF_STRIDE] = { "stride", PF(stride), NUMBER(0, UINT16_MAX) },
	[PF_VFS] = { "virtualFunctions", .stream = stream_vfs },
	{ "address", true, PF(address), ADDRESS },
	{ "vendor", true, PF(vendor), HEX16 },
	{ "device", true, PF(device), HEX16 },
	{ "serialNumber", PF(serial_number), NAME },
	{ "driver", true, PF(driver), DRIVER },
	{ "numVfs", true, PF(num_vfs), NUMBER(0, UINT16_MAX) },
	{ "driversAutoprobe", PF(drivers_autoprobe), BOOL },
	{ "vfIdIsOurs", PF(vf_id_is_ours), BOOL },
	{ "network", .read = read_pf_network },
};

static int take_pf(struct scan *s, void *into)
{
	struct manifest *m = into;
	struct manifest_pf *pf;
	uint32_t seen = 0;
	int r;

	pf = next_of(m->pfs, m->n_pfs, sizeof(*pf));
	if (!pf)
		return -ENOMEM;
	m->pfs = pf;
	pf += m->n_pfs++;
	*pf = (struct manifest_pf){ .drivers_autoprobe = true };
	r = scan_object(s, pf_fields, ELEMENTSOF(pf_fields), pf, &seen);
	if (r != 0)
		return r;
	for (unsigned i = 0; pf->num_vfs > 0 && i < _PF_NEEDED_MAX; i++)
		if (!(seen & UINT32_C(1) << i))
			return scan_refuse(s, pf_fields[i].key, "nothing",
					   "a value where numVfs is more than 0");
	m->n_vfs += pf->n_vfs;
	if (m->n_vfs > MANIFEST_VFS_MAX)
		return scan_refuse(s, pf_fields[PF_VFS].key, "too many", "at most 65536 in all");
	return 0;
}

#define OWNER(member) SCAN_AT(struct manifest_owner, member)

static const struct scan_field owner_fields[] = {
	{ "name", true, OWNER(name), NAME },
	{ "priority", OWNER(priority), NUMBER(INT32_MIN, INT32_MAX) },
	/* (uid_t) -1 is nobody's */
	{ "uid", OWNER(uid), SCAN_HAS(struct manifest_owner, has_uid), NUMBER(0, UINT32_MAX - 1) },
};

static int take_owner(struct scan *s, void *into)
{
	struct manifest *m = into;
	struct manifest_owner *owners;

	owners = next_of(m->owners, m->n_owners, sizeof(*owners));
	if (!owners)
		return -ENOMEM;
	m->owners = owners;
	owners[m->n_owners] = (struct manifest_owner){ .name = NULL };
	return scan_element(s, owner_fields, ELEMENTSOF(owner_fields), &owners[m->n_owners++]);
}

static int stream_owners(struct scan *s, void *into)
{
	return scan_array(s, take_owner, into);
}

static int stream_pfs(struct scan *s, void *into)
{
	return scan_array(s, take_pf, into);
}

#define MANIFEST(member) SCAN_AT(struct manifest, member)

static const struct scan_field manifest_fields[] = {
	{ "format", true, TEXT(parse_format, "\"vf-restore-manifest\"") },
	{ "version", true, NUMBER(MANIFEST_VERSION, MANIFEST_VERSION),
	  .expected = "1 (a newer vf-restore may have written this)" },
	{ "generation", true, MANIFEST(generation), NUMBER(0, INT64_MAX - 1) },
	{ "capturedAtUsec", MANIFEST(captured_at_usec), NUMBER(0, INT64_MAX - 1) },
	{ "machineId", true, MANIFEST(machine_id), ID128 },
	{ "bootId", MANIFEST(boot_id), ID128 },
	{ "kernelRelease", MANIFEST(kernel_release), .read = scan_value_name, .max = 64 },
	{ "owners", .stream = stream_owners },
	{ "physicalFunctions", true, .stream = stream_pfs },
};
_Static_assert(MANIFEST_VERSION == 1, "the text above says so");

int manifest_fields_read(struct scan *s, struct manifest *m)
{
	uint32_t seen = 0;
	int r;

	r = scan_object(s, manifest_fields, ELEMENTSOF(manifest_fields), m, &seen);
	return r != 0 ? r : scan_end(s);
}
