/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "idproof.h"
#include <cmocka.h>

enum { VENDOR = 0x8086, PF_ID = 0x10c9, VF_ID = 0x10ca, FUNCTIONS_MAX = 8 };

static char *const igb = (char[]){ "igb" };
static char *const igbvf = (char[]){ "igbvf" };
static char *const vfio = (char[]){ "vfio-pci" };
static char *const variant = (char[]){ "mlx5_vfio_pci" };

/* Functions at 0000:01:00.0 and on, in this order. */
struct host {
	struct walked_function functions[FUNCTIONS_MAX];
	struct walked walked;
};

static struct walked_function *add(struct host *h, uint16_t device, char *driver)
{
	struct walked_function *f = &h->functions[h->walked.n_functions];

	assert_true(h->walked.n_functions < FUNCTIONS_MAX);
	h->walked.functions = h->functions;
	*f = (struct walked_function){
		.address = { .rid = (uint16_t) (0x0100 + h->walked.n_functions++) },
		.vendor = VENDOR,
		.device = device,
		.driver = driver,
	};
	return f;
}

static struct walked_function *add_pf(struct host *h, uint16_t device, char *driver,
				      unsigned num_vfs)
{
	struct walked_function *f = add(h, device, driver);

	f->is_pf = true;
	f->total_vfs = 8;
	f->num_vfs = num_vfs;
	f->vf_device = VF_ID;
	return f;
}

static struct walked_function *add_vf(struct host *h, const struct walked_function *pf,
				      char *driver)
{
	struct walked_function *f = add(h, VF_ID, driver);

	f->is_vf = true;
	f->pf = pf->address;
	return f;
}

static void assert_doubt(const struct host *h, enum idproof_doubt doubt,
			 const struct walked_function *function)
{
	struct idproof p;

	idproof_check(&h->walked, VENDOR, VF_ID, &p);
	if (p.doubt != doubt)
		fail_msg("'%s' instead of '%s'", idproof_doubt_name(p.doubt),
			 idproof_doubt_name(doubt));
	if (function)
		assert_int_equal(p.function.rid, function->address.rid);
}

static void all_vfs_on_one_vfio_driver(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 2), *other;

	(void) add_vf(&h, pf, vfio);
	(void) add_vf(&h, pf, vfio);
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
	other = add_pf(&h, PF_ID, igb, 1); /* the same on a second PF */
	(void) add_vf(&h, other, vfio);
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
	(void) add(&h, 0x1533, NULL); /* what has another id is of no account */
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
}

static void b22_all_vfs_on_one_variant_driver(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 2);

	(void) add_vf(&h, pf, variant);
	(void) add_vf(&h, pf, variant);
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
}

static void b22_two_drivers(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 2);

	(void) add_vf(&h, pf, vfio);
	assert_doubt(&h, IDPROOF_TWO_DRIVERS, add_vf(&h, pf, variant));
}

/* Of two PFs, too. */
static void b22_two_drivers_on_two_pfs(void **state)
{
	struct host h = { 0 };
	const struct walked_function *one = add_pf(&h, PF_ID, igb, 1);
	const struct walked_function *two = add_pf(&h, PF_ID, igb, 1);

	(void) add_vf(&h, one, vfio);
	assert_doubt(&h, IDPROOF_TWO_DRIVERS, add_vf(&h, two, variant));
}

static void a_vf_of_the_id_unbound(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 2);

	(void) add_vf(&h, pf, vfio);
	assert_doubt(&h, IDPROOF_VF_UNBOUND, add_vf(&h, pf, NULL));
}

static void a_vf_of_the_id_for_the_host(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 2), *vf;

	vf = add_vf(&h, pf, igbvf);
	(void) add_vf(&h, pf, vfio);
	assert_doubt(&h, IDPROOF_VF_NATIVE, vf);
}

static void b4_another_device_with_the_same_id(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 1);

	(void) add_vf(&h, pf, vfio);
	assert_doubt(&h, IDPROOF_STRANGER, add(&h, VF_ID, igbvf));
}

static void b4_another_device_with_the_same_id_unbound(void **state)
{
	struct host h = { 0 };
	const struct walked_function *stranger = add(&h, VF_ID, NULL);

	(void) add_vf(&h, add_pf(&h, PF_ID, igb, 1), vfio);
	assert_doubt(&h, IDPROOF_STRANGER, stranger);
}

/* A stranger that is given to a guest as well, as a whole: still nothing that we restore. */
static void b4_another_device_with_the_same_id_on_vfio(void **state)
{
	struct host h = { 0 };

	(void) add_vf(&h, add_pf(&h, PF_ID, igb, 1), vfio);
	assert_doubt(&h, IDPROOF_STRANGER, add(&h, VF_ID, vfio));
}

/* NVMe: PF and VF have one id. */
static void pfs_of_the_same_id_with_their_driver(void **state)
{
	struct host h = { 0 };

	(void) add_vf(&h, add_pf(&h, VF_ID, igb, 1), vfio);
	(void) add_pf(&h, VF_ID, igb, 0);
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
}

static void one_pf_of_that_id_without_driver(void **state)
{
	struct host h = { 0 };

	(void) add_vf(&h, add_pf(&h, VF_ID, igb, 1), vfio);
	assert_doubt(&h, IDPROOF_PF_UNBOUND, add_pf(&h, VF_ID, NULL, 0));
}

static void one_pf_of_that_id_on_vfio(void **state)
{
	struct host h = { 0 };
	struct walked_function *f;

	(void) add_vf(&h, add_pf(&h, VF_ID, igb, 1), vfio);
	f = add_pf(&h, VF_ID, vfio, 0);
	assert_doubt(&h, IDPROOF_PF_ON_VFIO, f);
	f->driver = igb; /* whatever it calls itself */
	f->has_vfio = true;
	assert_doubt(&h, IDPROOF_PF_ON_VFIO, f);
}

static void b15_k9_pf_on_vfio_with_another_id(void **state)
{
	struct host h = { 0 };

	(void) add_vf(&h, add_pf(&h, PF_ID, vfio, 1), vfio);
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
}

static void vfs_of_a_pf_that_lost_its_driver(void **state)
{
	struct host h = { 0 };
	const struct walked_function *lost;

	(void) add_vf(&h, add_pf(&h, PF_ID, igb, 1), vfio);
	lost = add_pf(&h, PF_ID, NULL, 1);
	assert_doubt(&h, IDPROOF_VF_UNLISTED, add_vf(&h, lost, vfio));
}

static void vf_of_a_pf_that_is_not_there(void **state)
{
	struct walked_function nowhere = { .address = { .rid = 0x4242 } };
	struct host h = { 0 };

	(void) add_vf(&h, add_pf(&h, PF_ID, igb, 1), vfio);
	assert_doubt(&h, IDPROOF_VF_UNLISTED, add_vf(&h, &nowhere, vfio));
}

static void fewer_vfs_than_the_pf_has(void **state)
{
	struct host h = { 0 };
	const struct walked_function *pf = add_pf(&h, PF_ID, igb, 3);

	(void) add_vf(&h, pf, vfio);
	(void) add_vf(&h, pf, vfio);
	assert_doubt(&h, IDPROOF_VF_MISSING, pf);
}

static void no_vf_of_the_id(void **state)
{
	struct host h = { 0 };

	assert_doubt(&h, IDPROOF_NO_VF, NULL);
	(void) add_pf(&h, PF_ID, igb, 0);
	assert_doubt(&h, IDPROOF_NO_VF, NULL);
}

/* 8086:10ca is not 1af4:10ca. */
static void same_device_of_another_vendor(void **state)
{
	struct host h = { 0 };

	(void) add_vf(&h, add_pf(&h, PF_ID, igb, 1), vfio);
	add(&h, VF_ID, NULL)->vendor = 0x1af4;
	assert_doubt(&h, IDPROOF_NO_DOUBT, NULL);
}

static void each_doubt_has_words(void **state)
{
	for (unsigned d = 0; d < _IDPROOF_DOUBT_MAX; d++) {
		assert_true(strlen(idproof_doubt_name(d)) > 0);
		assert_true(strlen(idproof_doubt_meaning(d)) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_vfs_on_one_vfio_driver),
		cmocka_unit_test(b22_all_vfs_on_one_variant_driver),
		cmocka_unit_test(b22_two_drivers),
		cmocka_unit_test(b22_two_drivers_on_two_pfs),
		cmocka_unit_test(a_vf_of_the_id_unbound),
		cmocka_unit_test(a_vf_of_the_id_for_the_host),
		cmocka_unit_test(b4_another_device_with_the_same_id),
		cmocka_unit_test(b4_another_device_with_the_same_id_unbound),
		cmocka_unit_test(b4_another_device_with_the_same_id_on_vfio),
		cmocka_unit_test(pfs_of_the_same_id_with_their_driver),
		cmocka_unit_test(one_pf_of_that_id_without_driver),
		cmocka_unit_test(one_pf_of_that_id_on_vfio),
		cmocka_unit_test(b15_k9_pf_on_vfio_with_another_id),
		cmocka_unit_test(vfs_of_a_pf_that_lost_its_driver),
		cmocka_unit_test(vf_of_a_pf_that_is_not_there),
		cmocka_unit_test(fewer_vfs_than_the_pf_has),
		cmocka_unit_test(no_vf_of_the_id),
		cmocka_unit_test(same_device_of_another_vendor),
		cmocka_unit_test(each_doubt_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
