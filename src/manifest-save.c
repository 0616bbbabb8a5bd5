/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include "fdio.h"
#include "manifest-save.h"

/* ---- One object ---------------------------------------------------------------------------- */

/* A text being written. What fails is kept in r, and nothing is done after it. */
struct sheet {
	FILE *out;
	int r;
};

static struct json_object *new_object(struct sheet *s)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		s->r = -ENOMEM;
	return object;
}

/* Takes the value; NULL is out of memory. */
static void add_take(struct sheet *s, struct json_object *object, const char *key,
		     struct json_object *value)
{
	const unsigned literal = JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY;

	if (s->r == 0 && (!value || json_object_object_add_ex(object, key, value, literal) < 0))
		s->r = -ENOMEM;
	if (s->r < 0)
		(void) json_object_put(value); /* NULL too; tells only if it was the last */
}

static void add_text(struct sheet *s, struct json_object *object, const char *key, const char *text)
{
	if (text)
		add_take(s, object, key, json_object_new_string(text));
}

static void add_number(struct sheet *s, struct json_object *object, const char *key, int64_t number)
{
	add_take(s, object, key, json_object_new_int64(number));
}

static void add_bool(struct sheet *s, struct json_object *object, const char *key, bool value)
{
	add_take(s, object, key, json_object_new_boolean(value));
}

static void add_address(struct sheet *s, struct json_object *object, const char *key,
			struct bdf address)
{
	char text[BDF_STRLEN + 1];

	(void) bdf_format(address, text);
	add_text(s, object, key, text);
}

static void add_hex16(struct sheet *s, struct json_object *object, const char *key, uint16_t number)
{
	char text[sizeof("ffff")];

	(void) snprintf(text, sizeof(text), "%04x", number); /* always fits */
	add_text(s, object, key, text);
}

static void add_mac(struct sheet *s, struct json_object *object, const char *key,
		    const uint8_t mac[6])
{
	char text[sizeof("52:54:00:12:34:56")];

	(void) snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
			mac[3], mac[4], mac[5]); /* always fits */
	add_text(s, object, key, text);
}

/* Takes the object and writes it on a line; open: without its closing brace. */
static void put_line(struct sheet *s, struct json_object *object, bool open)
{
	const char *text = NULL;

	if (s->r == 0)
		text = json_object_to_json_string_ext(object,
						      JSON_C_TO_STRING_PLAIN |
							      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (s->r == 0 && !text)
		s->r = -ENOMEM;
	if (text)
		(void) fwrite(text, 1, strlen(text) - open, s->out); /* fclose() tells */
	(void) json_object_put(object); /* NULL too; tells only if it was the last reference */
}

static void put_text(struct sheet *s, const char *text)
{
	(void) fputs(text, s->out); /* fclose() tells */
}

/* ---- A manifest ---------------------------------------------------------------------------- */

static void add_network(struct sheet *s, struct json_object *vf, const struct manifest_network *n)
{
	static const char *const link_states[] = {
		[MANIFEST_LINK_AUTO] = "auto",
		[MANIFEST_LINK_ENABLE] = "enable",
		[MANIFEST_LINK_DISABLE] = "disable",
	};
	struct json_object *o = new_object(s);

	if (n->has_mac)
		add_mac(s, o, "mac", n->mac);
	if (n->has_vlan)
		add_number(s, o, "vlan", n->vlan);
	if (n->has_qos)
		add_number(s, o, "qos", n->qos);
	if (n->has_vlan_protocol)
		add_text(s, o, "vlanProtocol", n->vlan_protocol == 0x88a8 ? "802.1ad" : "802.1Q");
	if (n->has_spoof_check)
		add_bool(s, o, "spoofCheck", n->spoof_check);
	if (n->has_trust)
		add_bool(s, o, "trust", n->trust);
	if (n->has_link_state)
		add_text(s, o, "linkState", link_states[n->link_state]);
	if (n->has_min_tx_rate)
		add_number(s, o, "minTxRate", n->min_tx_rate);
	if (n->has_max_tx_rate)
		add_number(s, o, "maxTxRate", n->max_tx_rate);
	add_take(s, vf, "network", o);
}

static void put_vf(struct sheet *s, const struct manifest *m, const struct manifest_vf *vf)
{
	struct json_object *o = new_object(s);

	add_number(s, o, "index", vf->index);
	if (vf->has_address)
		add_address(s, o, "address", vf->address);
	add_text(s, o, "driver", vf->driver);
	if (vf->has_owner)
		add_text(s, o, "owner", m->owners[vf->owner].name);
	add_text(s, o, "name", vf->name);
	if (vf->has_network)
		add_network(s, o, &vf->network);
	put_line(s, o, false);
}

static void add_pf_network(struct sheet *s, struct json_object *pf, const struct manifest_pf *p)
{
	struct json_object *o;

	if (!p->interface && !p->has_permanent_mac)
		return;
	o = new_object(s);
	add_text(s, o, "interface", p->interface);
	if (p->has_permanent_mac)
		add_mac(s, o, "permanentMac", p->permanent_mac);
	add_take(s, pf, "network", o);
}

static void put_pf(struct sheet *s, const struct manifest *m, const struct manifest_pf *pf)
{
	struct json_object *o = new_object(s);

	add_address(s, o, "address", pf->address);
	add_hex16(s, o, "vendor", pf->vendor);
	add_hex16(s, o, "device", pf->device);
	add_text(s, o, "serialNumber", pf->serial_number);
	add_text(s, o, "driver", pf->driver);
	add_number(s, o, "numVfs", pf->num_vfs);
	add_hex16(s, o, "vfDevice", pf->vf_device);
	add_number(s, o, "offset", pf->offset);
	add_number(s, o, "stride", pf->stride);
	add_bool(s, o, "driversAutoprobe", pf->drivers_autoprobe);
	add_bool(s, o, "vfIdIsOurs", pf->vf_id_is_ours);
	add_pf_network(s, o, pf);
	put_line(s, o, true);
	put_text(s, ",\"virtualFunctions\":[");
	for (unsigned i = 0; i < pf->n_vfs; i++) {
		put_text(s, i > 0 ? ",\n" : "\n");
		put_vf(s, m, &pf->vfs[i]);
	}
	put_text(s, "]}");
}

static void put_owner(struct sheet *s, const struct manifest_owner *owner)
{
	struct json_object *o = new_object(s);

	add_text(s, o, "name", owner->name);
	add_number(s, o, "priority", owner->priority);
	if (owner->has_uid)
		add_number(s, o, "uid", owner->uid);
	put_line(s, o, false);
}

static void put_head(struct sheet *s, const struct manifest *m)
{
	struct json_object *o = new_object(s);

	add_text(s, o, "format", "vf-restore-manifest");
	add_number(s, o, "version", MANIFEST_VERSION);
	add_number(s, o, "generation", (int64_t) m->generation);
	if (m->captured_at_usec > 0)
		add_number(s, o, "capturedAtUsec", (int64_t) m->captured_at_usec);
	add_text(s, o, "machineId", m->machine_id);
	add_text(s, o, "bootId", m->boot_id[0] ? m->boot_id : NULL);
	add_text(s, o, "kernelRelease", m->kernel_release);
	put_line(s, o, true);
}

static void put_manifest(struct sheet *s, const struct manifest *m)
{
	put_head(s, m);
	put_text(s, ",\n\"owners\":[");
	for (unsigned i = 0; i < m->n_owners; i++) {
		put_text(s, i > 0 ? ",\n" : "\n");
		put_owner(s, &m->owners[i]);
	}
	put_text(s, "],\n\"physicalFunctions\":[");
	for (unsigned i = 0; i < m->n_pfs; i++) {
		put_text(s, i > 0 ? ",\n" : "\n");
		put_pf(s, m, &m->pfs[i]);
	}
	put_text(s, "]}\n");
}

int manifest_to_text(const struct manifest *m, char **ret, size_t *ret_size)
{
	_cleanup_(free_pointer) char *text = NULL;
	struct sheet s = { .r = 0 };
	size_t size = 0;

	s.out = open_memstream(&text, &size);
	if (!s.out)
		return -errno;
	put_manifest(&s, m);
	if (fclose(s.out) != 0)
		return -ENOMEM;
	if (s.r < 0)
		return s.r;
	*ret = TAKE(text);
	*ret_size = size;
	return 0;
}

/* ---- The files ----------------------------------------------------------------------------- */

enum { MODE = 0644 };

struct version {
	char *text; /* NULL: there is none, or none that is sound */
	size_t size;
	char sum[FDIO_SUM_STRLEN + 1];
};

static void version_done(struct version *v)
{
	free(v->text);
}

/* Replaces path.xxh128 with one sum or two (NULL: one). */
static int write_seal(const char *path, const char *sum, const char *other)
{
	_cleanup_(free_pointer) char *seal_path = NULL, *seal = NULL;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	int length;

	if (asprintf(&seal_path, "%s.xxh128", path) < 0)
		return -ENOMEM;
	if (other)
		length = asprintf(&seal, "%s  %s\n%s  %s\n", sum, base, other, base);
	else
		length = asprintf(&seal, "%s  %s\n", sum, base);
	if (length < 0)
		return -ENOMEM;
	return fdio_replace(AT_FDCWD, seal_path, seal, (size_t) length, MODE);
}

/* What is damaged counts as absent: a seal of ours must not make it good. */
static int read_sound(const char *path, bool unsealed, struct version *ret)
{
	_cleanup_(manifest_done) struct manifest m = { .generation = 0 };
	char ignored[MANIFEST_ERROR_LEN];
	int r;

	r = manifest_load(&m, path, unsealed, ignored);
	if (r == 0)
		r = fdio_read_file(AT_FDCWD, path, MANIFEST_SIZE_MAX, &ret->text, &ret->size);
	if (r != 0)
		return r < 0 ? r : 0;
	fdio_sum(ret->text, ret->size, ret->sum);
	return 0;
}

/* path.previous has its seal at every moment, too. */
static int keep_previous(const char *path, const struct version *old)
{
	_cleanup_(version_done) struct version older = { .text = NULL };
	_cleanup_(free_pointer) char *previous = NULL;
	int r;

	if (asprintf(&previous, "%s.previous", path) < 0)
		return -ENOMEM;
	r = read_sound(previous, false, &older);
	if (r < 0)
		return r;
	r = write_seal(previous, old->sum, older.text ? older.sum : NULL);
	if (r < 0)
		return r;
	r = fdio_replace(AT_FDCWD, previous, old->text, old->size, MODE);
	return r < 0 ? r : write_seal(previous, old->sum, NULL);
}

int manifest_save(const char *path, const char *text, size_t size)
{
	_cleanup_(version_done) struct version old = { .text = NULL };
	char sum[FDIO_SUM_STRLEN + 1];
	int r;

	fdio_sum(text, size, sum);
	r = read_sound(path, true, &old);
	if (r < 0)
		return r;
	if (old.text && strcmp(old.sum, sum) != 0) {
		r = keep_previous(path, &old);
		if (r < 0)
			return r;
	}
	r = write_seal(path, sum, old.text ? old.sum : NULL);
	if (r < 0)
		return r;
	r = fdio_replace(AT_FDCWD, path, text, size, MODE);
	return r < 0 ? r : write_seal(path, sum, NULL);
}
