/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wrong manifests are files of tests/data/manifest/bad, each with the error it shall get beside it;
 * sound ones are in good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "manifest.h"
#include "scratch.h"

/* ---- Whole files --------------------------------------------------------------------------- */

static void one_is_refused(const char *path)
{
	char error[MANIFEST_ERROR_LEN] = "", *text, *expected;
	struct manifest m = { .generation = 77 };
	size_t size;
	int r;

	expected = scratch_expected(path);
	text = scratch_read_path(path, &size);
	r = manifest_parse(&m, "manifest.json", text, size, error);
	if (r != MANIFEST_E_REFUSED || strcmp(error, expected) != 0)
		fail_msg("%s:\n  got %i: %s\n  not:   %s", path, r, error, expected);
	assert_int_equal(m.generation, 77); /* untouched */
	free(expected);
	free(text);
}

static void each_wrong_manifest_is_refused_with_its_own_error(void **state)
{
	char *bad = scratch_data("manifest/bad");

	(void) state;
	assert_true(scratch_each(bad, ".json", one_is_refused) >= 100);
	free(bad);
}

static void parse_text(struct manifest *ret, const char *text, size_t size)
{
	char error[MANIFEST_ERROR_LEN] = "";

	if (manifest_parse(ret, "it", text, size, error) != 0)
		fail_msg("%s", error);
}

static void one_is_taken(const char *path)
{
	struct manifest m;
	size_t size;
	char *text = scratch_read_path(path, &size);

	parse_text(&m, text, size);
	for (unsigned i = 1; i < m.n_pfs; i++)
		assert_true(bdf_compare(m.pfs[i - 1].address, m.pfs[i].address) < 0);
	manifest_done(&m);
	free(text);
}

static void each_sound_manifest_is_taken(void **state)
{
	char *good = scratch_data("manifest/good");

	(void) state;
	assert_true(scratch_each(good, ".json", one_is_taken) >= 10);
	free(good);
}

static void a_manifest_cut_anywhere_is_refused(void **state)
{
	char *path = scratch_data("manifest/good/example.json"), *text;
	char error[MANIFEST_ERROR_LEN];
	struct manifest m;
	size_t size;

	(void) state;
	text = scratch_read_path(path, &size);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(manifest_parse(&m, "it", text, cut, error), MANIFEST_E_REFUSED);
	free(text);
	free(path);
}

/* ---- Fields -------------------------------------------------------------------------------- */

static void load_good(struct manifest *ret, const char *name)
{
	char file[128], *path, *text;
	size_t size;

	(void) snprintf(file, sizeof(file), "manifest/good/%s.json", name); /* always fits */
	path = scratch_data(file);
	text = scratch_read_path(path, &size);
	parse_text(ret, text, size);
	free(text); /* nothing points into it */
	free(path);
}

static void the_example_is_read_in_full(void **state)
{
	const struct manifest_pf *pf;
	const struct manifest_vf *vf;
	struct manifest m;

	(void) state;
	load_good(&m, "example");
	assert_int_equal(m.generation, 42);
	assert_int_equal(m.captured_at_usec, 1796068800000000);
	assert_string_equal(m.machine_id, "0123456789abcdef0123456789abcdef");
	assert_string_equal(m.boot_id, "fedcba9876543210fedcba9876543210");
	assert_string_equal(m.kernel_release, "7.2.13");
	assert_int_equal(m.n_owners, 2);
	assert_string_equal(m.owners[0].name, "vm-0001");
	assert_int_equal(m.owners[0].priority, 10);
	assert_true(m.owners[0].has_uid && m.owners[0].uid == 64055);
	assert_int_equal(m.n_pfs, 3);
	assert_int_equal(m.n_vfs, 4);
	pf = &m.pfs[0];
	assert_int_equal(pf->address.rid, 0x100);
	assert_int_equal(pf->vendor, 0x8086);
	assert_int_equal(pf->device, 0x10c9);
	assert_null(pf->serial_number);
	assert_string_equal(pf->driver, "igb");
	assert_int_equal(pf->num_vfs, 7);
	assert_int_equal(pf->vf_device, 0x10ca);
	assert_int_equal(pf->offset, 128);
	assert_int_equal(pf->stride, 2);
	assert_true(pf->drivers_autoprobe && pf->vf_id_is_ours && pf->has_permanent_mac);
	assert_string_equal(pf->interface, "enp1s0");
	assert_memory_equal(pf->permanent_mac, "\x52\x54\x00\x12\x34\x56", 6);
	assert_int_equal(pf->n_vfs, 3);
	vf = &pf->vfs[0];
	assert_true(vf->has_address && vf->address.rid == 0x180 && vf->has_owner);
	assert_string_equal(vf->driver, "vfio-pci");
	assert_string_equal(vf->name, "net0");
	assert_int_equal(pf->vfs[1].owner, 1);
	assert_null(pf->vfs[2].driver);
	manifest_done(&m);
}

static void the_network_of_the_example_is_read_in_full(void **state)
{
	const struct manifest_network *n;
	struct manifest m;

	(void) state;
	load_good(&m, "example");
	n = &m.pfs[0].vfs[0].network;
	assert_true(m.pfs[0].vfs[0].has_network);
	assert_true(n->has_mac && n->has_vlan && n->has_qos && n->has_vlan_protocol);
	assert_true(n->has_spoof_check && n->has_trust && n->has_link_state);
	assert_true(n->has_min_tx_rate && n->has_max_tx_rate);
	assert_memory_equal(n->mac, "\x52\x54\x00\xaa\x00\x01", 6);
	assert_int_equal(n->vlan, 100);
	assert_int_equal(n->vlan_protocol, 0x8100);
	assert_true(n->spoof_check && !n->trust);
	assert_int_equal(n->link_state, MANIFEST_LINK_AUTO);
	manifest_done(&m);
}

static void what_may_be_absent_has_its_default(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "least");
	assert_int_equal(m.captured_at_usec, 0);
	assert_string_equal(m.boot_id, "");
	assert_null(m.kernel_release);
	assert_int_equal(m.n_owners, 0);
	assert_true(m.pfs[0].drivers_autoprobe);
	assert_false(m.pfs[0].vf_id_is_ours);
	assert_null(m.pfs[0].interface);
	assert_false(m.pfs[0].has_permanent_mac);
	manifest_done(&m);
}

static void v7_absent_is_not_zero(void **state)
{
	const struct manifest_network *n;
	struct manifest m;

	(void) state;
	load_good(&m, "absent-is-not-zero");
	n = &m.pfs[0].vfs[0].network;
	assert_true(m.pfs[0].vfs[0].has_network);
	assert_false(n->has_mac || n->has_vlan || n->has_qos || n->has_vlan_protocol ||
		     n->has_spoof_check || n->has_trust || n->has_link_state ||
		     n->has_min_tx_rate || n->has_max_tx_rate);
	n = &m.pfs[0].vfs[1].network;
	assert_true(n->has_vlan && n->vlan == 0);
	assert_false(m.pfs[0].vfs[2].has_network);
	manifest_done(&m);
}

static void v5_a_zero_mac_is_left_alone(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "absent-is-not-zero");
	assert_false(m.pfs[0].vfs[1].network.has_mac);
	manifest_done(&m);
}

static void null_is_absent(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "null-is-absent");
	assert_null(m.pfs[0].interface);
	assert_null(m.pfs[0].vfs[0].driver);
	assert_false(m.pfs[0].vfs[0].network.has_vlan);
	assert_false(m.pfs[0].vfs[0].network.has_trust);
	manifest_done(&m);
}

static void unknown_keys_are_counted_and_the_first_is_named(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "unknown-keys");
	assert_int_equal(m.n_unknown, 5);
	assert_string_equal(m.first_unknown, "owners[0].x");
	manifest_done(&m);
}

static void n1_n3_addresses_in_upper_case_and_of_wide_domains_are_read(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "upper-case-and-wide-domain");
	assert_int_equal(m.pfs[0].address.rid, 0x300);
	assert_int_equal(m.pfs[1].address.rid, 0xb00);
	assert_int_equal(m.pfs[2].address.domain, 0x10000);
	assert_int_equal(m.pfs[2].address.rid, 0xe100);
	manifest_done(&m);
}

static void pfs_and_vfs_are_put_in_order(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "any-order");
	assert_int_equal(m.pfs[0].address.rid, 0x100);
	assert_int_equal(m.pfs[2].address.rid, 0x300);
	assert_int_equal(m.pfs[0].vfs[0].index, 0);
	assert_int_equal(m.pfs[0].vfs[1].index, 1);
	assert_int_equal(m.pfs[0].vfs[2].index, 3);
	assert_string_equal(m.owners[m.pfs[0].vfs[1].owner].name, "vm-0002");
	manifest_done(&m);
}

static void owners_may_come_after_the_vfs_that_name_them(void **state)
{
	struct manifest m;

	(void) state;
	load_good(&m, "keys-reversed");
	assert_string_equal(m.owners[m.pfs[0].vfs[1].owner].name, "vm-0002");
	manifest_done(&m);
}

/* ---- Many ---------------------------------------------------------------------------------- */

enum { MANY_PFS = 20, MANY_VFS = 250 };

static char *many_vfs(size_t *ret_size)
{
	char *text;
	FILE *out = open_memstream(&text, ret_size);

	assert_non_null(out);
	(void) fputs("{\"format\":\"vf-restore-manifest\",\"version\":1,\"generation\":1,"
		     "\"machineId\":\"0123456789abcdef0123456789abcdef\",\"physicalFunctions\":[",
		     out); /* fclose tells */
	for (unsigned i = 0; i < MANY_PFS * MANY_VFS; i++) {
		unsigned pf = i / MANY_VFS, vf = i % MANY_VFS;

		if (vf == 0)
			(void) fprintf(out,
				       "%s{\"address\":\"%x:00:00.0\",\"vendor\":\"8086\","
				       "\"device\":\"10c9\",\"driver\":\"igb\",\"numVfs\":%u,"
				       "\"vfDevice\":\"10ca\",\"offset\":1,\"stride\":1,"
				       "\"virtualFunctions\":[",
				       pf > 0 ? "]}," : "", pf, MANY_VFS); /* the same */
		(void) fprintf(out,
			       "%s{\"index\":%u,\"driver\":\"vfio-pci\",\"owner\":\"vm-%u\","
			       "\"name\":\"net\"}",
			       vf > 0 ? "," : "", vf, i); /* the same */
	}
	(void) fputs("]}],\"owners\":[", out); /* the same */
	for (unsigned i = 0; i < MANY_PFS * MANY_VFS; i++)
		(void) fprintf(out, "%s{\"name\":\"vm-%u\"}", i > 0 ? "," : "", i); /* the same */
	(void) fputs("]}\n", out);                                                  /* the same */
	assert_int_equal(fclose(out), 0);
	return text;
}

static void thousands_of_vfs_have_their_owners(void **state)
{
	struct manifest m;
	size_t size;
	char *text = many_vfs(&size);

	(void) state;
	parse_text(&m, text, size);
	assert_int_equal(m.n_vfs, MANY_PFS * MANY_VFS);
	for (unsigned i = 0; i < m.n_vfs; i++) {
		const struct manifest_vf *vf = &m.pfs[i / MANY_VFS].vfs[i % MANY_VFS];

		assert_int_equal(vf->index, i % MANY_VFS);
		assert_int_equal(vf->owner, i);
	}
	manifest_done(&m);
	free(text);
}

static void one_wrong_vf_of_thousands_is_found(void **state)
{
	char error[MANIFEST_ERROR_LEN], *text, *wrong;
	struct manifest m;
	size_t size;

	(void) state;
	text = many_vfs(&size);
	wrong = strstr(text, "{\"index\":7,\"driver\":\"vfio-pci\",\"owner\":\"vm-4757\"");
	assert_non_null(wrong);
	wrong[strlen("{\"index\":")] = '6';
	assert_int_equal(manifest_parse(&m, "it", text, size, error), MANIFEST_E_REFUSED);
	assert_string_equal(error, "it: physicalFunctions[19].virtualFunctions[7].index: found 6, "
				   "expected an index of its own (virtualFunctions[6] has this "
				   "one); correct the file or capture again");
	free(text);
}

/* ---- Files under seal ---------------------------------------------------------------------- */

#define MANIFEST_OF(generation)                                                                    \
	"{\"format\":\"vf-restore-manifest\",\"version\":1,\"generation\":" #generation            \
	",\"machineId\":\"0123456789abcdef0123456789abcdef\",\"physicalFunctions\":[]}\n"

static const char text_1[] = MANIFEST_OF(1), text_2[] = MANIFEST_OF(2);

static void seal(const struct scratch *s, const char *name, const char *text, const char *other)
{
	char sum[FDIO_SUM_STRLEN + 1], lines[200], seal_name[64];
	int length;

	fdio_sum(text, strlen(text), sum);
	length = snprintf(lines, sizeof(lines), "%s  m.json\n", sum);
	if (other) {
		fdio_sum(other, strlen(other), sum);
		(void) snprintf(lines + length, 100, "%s  m.json\n", sum); /* always fits */
	}
	(void) snprintf(seal_name, sizeof(seal_name), "%s.xxh128", name); /* always fits */
	scratch_write(s, seal_name, lines);
}

static void assert_loads(const struct scratch *s, bool unsealed, uint64_t generation)
{
	char error[MANIFEST_ERROR_LEN] = "";
	struct manifest m;

	if (manifest_load(&m, scratch_path(s, "m.json"), unsealed, error) != 0)
		fail_msg("%s", error);
	assert_int_equal(m.generation, generation);
	manifest_done(&m);
}

static void assert_refused(const struct scratch *s, bool unsealed, const char *why)
{
	char error[MANIFEST_ERROR_LEN] = "";
	struct manifest m;

	assert_int_equal(manifest_load(&m, scratch_path(s, "m.json"), unsealed, error),
			 MANIFEST_E_REFUSED);
	if (!strstr(error, why))
		fail_msg("'%s' is not in '%s'", why, error);
}

static void a_sealed_manifest_loads(void **state)
{
	scratch_write(*state, "m.json", text_1);
	seal(*state, "m.json", text_1, NULL);
	assert_loads(*state, false, 1);
}

static void a_seal_with_two_sums_takes_either(void **state)
{
	seal(*state, "m.json", text_1, text_2);
	scratch_write(*state, "m.json", text_1);
	assert_loads(*state, false, 1);
	scratch_write(*state, "m.json", text_2);
	assert_loads(*state, false, 2);
}

static void a_manifest_without_seal_loads_only_where_that_is_fine(void **state)
{
	scratch_write(*state, "m.json", text_1);
	assert_loads(*state, true, 1);
	assert_refused(*state, false,
		       "m.json: the checksum: found no such file, expected its sum in ");
}

static void a_flipped_bit_is_refused_even_where_no_seal_is_fine(void **state)
{
	char flipped[sizeof(text_1)];

	memcpy(flipped, text_1, sizeof(text_1));
	strstr(flipped, "0123")[0] ^= 1;
	seal(*state, "m.json", text_1, NULL);
	scratch_write(*state, "m.json", flipped);
	assert_refused(*state, true, "m.json: the checksum: found ");
}

static void an_empty_seal_refuses(void **state)
{
	scratch_write(*state, "m.json", text_1);
	scratch_write(*state, "m.json.xxh128", "\n");
	assert_refused(*state, true, "m.json: the checksum: found ");
}

static void the_error_names_the_previous_manifest_when_it_is_sound(void **state)
{
	scratch_write(*state, "m.json", "{\n");
	seal(*state, "m.json", "{\n", NULL);
	scratch_write(*state, "m.json.previous", text_1);
	seal(*state, "m.json.previous", text_1, NULL);
	assert_refused(*state, false, "m.json.previous (generation 1), is sound");
}

static void the_error_is_silent_of_a_previous_manifest_that_is_damaged(void **state)
{
	char error[MANIFEST_ERROR_LEN] = "";
	struct manifest m;

	scratch_write(*state, "m.json", "{\n");
	scratch_write(*state, "m.json.previous", text_1);
	seal(*state, "m.json.previous", text_2, NULL);
	assert_int_equal(manifest_load(&m, scratch_path(*state, "m.json"), true, error),
			 MANIFEST_E_REFUSED);
	assert_null(strstr(error, "previous"));
}

static void no_manifest_is_absent(void **state)
{
	char error[MANIFEST_ERROR_LEN] = "";
	struct manifest m;

	assert_int_equal(manifest_load(&m, scratch_path(*state, "m.json"), true, error),
			 MANIFEST_E_ABSENT);
}

static void a_manifest_that_is_too_big_is_refused(void **state)
{
	struct scratch *s = *state;

	scratch_write(s, "m.json", "{}\n");
	assert_int_equal(truncate(scratch_path(s, "m.json"), MANIFEST_SIZE_MAX + 1), 0);
	assert_refused(s, true, "m.json: the size: found more, expected at most 64 MiB");
}

static void a_manifest_of_another_machine_is_refused(void **state)
{
	const struct manifest m = { .machine_id = "0123456789abcdef0123456789abcdef" };
	char error[MANIFEST_ERROR_LEN] = "";

	(void) state;
	assert_int_equal(manifest_check_machine(&m, "it", m.machine_id, error), 0);
	assert_int_equal(manifest_check_machine(&m, "it", NULL, error), 0);
	assert_int_equal(manifest_check_machine(&m, "it", "ffffffffffffffffffffffffffffffff",
						error),
			 MANIFEST_E_REFUSED);
	assert_string_equal(error, "it: machineId: found \"0123456789abcdef0123456789abcdef\", "
				   "expected \"ffffffffffffffffffffffffffffffff\"; it is another "
				   "machine's: capture one here");
}

static void done_takes_an_empty_manifest(void **state)
{
	struct manifest m = { .generation = 1 };

	(void) state;
	manifest_done(&m);
	manifest_done(&m);
	assert_int_equal(m.generation, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wrong_manifest_is_refused_with_its_own_error),
		cmocka_unit_test(each_sound_manifest_is_taken),
		cmocka_unit_test(a_manifest_cut_anywhere_is_refused),
		cmocka_unit_test(the_example_is_read_in_full),
		cmocka_unit_test(the_network_of_the_example_is_read_in_full),
		cmocka_unit_test(what_may_be_absent_has_its_default),
		cmocka_unit_test(v7_absent_is_not_zero),
		cmocka_unit_test(v5_a_zero_mac_is_left_alone),
		cmocka_unit_test(null_is_absent),
		cmocka_unit_test(unknown_keys_are_counted_and_the_first_is_named),
		cmocka_unit_test(n1_n3_addresses_in_upper_case_and_of_wide_domains_are_read),
		cmocka_unit_test(pfs_and_vfs_are_put_in_order),
		cmocka_unit_test(owners_may_come_after_the_vfs_that_name_them),
		cmocka_unit_test(thousands_of_vfs_have_their_owners),
		cmocka_unit_test(one_wrong_vf_of_thousands_is_found),
		T(a_sealed_manifest_loads),
		T(a_seal_with_two_sums_takes_either),
		T(a_manifest_without_seal_loads_only_where_that_is_fine),
		T(a_flipped_bit_is_refused_even_where_no_seal_is_fine),
		T(an_empty_seal_refuses),
		T(the_error_names_the_previous_manifest_when_it_is_sound),
		T(the_error_is_silent_of_a_previous_manifest_that_is_damaged),
		T(no_manifest_is_absent),
		T(a_manifest_that_is_too_big_is_refused),
		cmocka_unit_test(a_manifest_of_another_machine_is_refused),
		cmocka_unit_test(done_takes_an_empty_manifest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
