/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "capture.h"
#include "manifest-save.h"
#include <cmocka.h>

enum { FUNCTIONS_MAX = 32, HOLDERS_MAX = 16 };

static char *const igb = (char[]){ "igb" };
static char *const nvme = (char[]){ "nvme" };
static char *const vfio = (char[]){ "vfio-pci" };
static char *const variant = (char[]){ "igb_vfio_pci" };

/* An igb PF at 01:00.0 with 3 VFs at 01:10.0, .2, .4 of vfio numbers 0, 1, 2 and groups 10, 11, 12;
 * what tests add comes behind. */
struct host {
	struct walked_function functions[FUNCTIONS_MAX];
	struct holder entries[HOLDERS_MAX];
	struct walked walked;
	struct holder_list holders;
	struct manifest manifest;
};

static struct bdf at(unsigned bus, unsigned slot, unsigned function)
{
	return (struct bdf){ .rid = (uint16_t) (bus << 8 | slot << 3 | function) };
}

static struct walked_function *add(struct host *h, struct bdf address, uint16_t device,
				   char *driver)
{
	struct walked_function *f = &h->functions[h->walked.n_functions++];

	assert_true(h->walked.n_functions <= FUNCTIONS_MAX);
	h->walked.functions = h->functions;
	*f = (struct walked_function){
		.address = address, .vendor = 0x8086, .device = device, .driver = driver
	};
	return f;
}

static struct walked_function *add_pf(struct host *h, struct bdf address, uint16_t device,
				      char *driver, unsigned num_vfs)
{
	struct walked_function *f = add(h, address, device, driver);

	f->is_pf = true;
	f->total_vfs = 8;
	f->num_vfs = num_vfs;
	f->offset = 128;
	f->stride = 2;
	f->vf_device = 0x10ca;
	return f;
}

static struct walked_function *add_vf(struct host *h, const struct walked_function *pf,
				      unsigned index, char *driver)
{
	struct bdf address = pf->address;
	struct walked_function *f;

	address.rid = (uint16_t) (address.rid + pf->offset + pf->stride * index);
	f = add(h, address, pf->vf_device, driver);
	f->is_vf = true;
	f->pf = pf->address;
	f->vf_index = index;
	f->has_vfio = driver == vfio || driver == variant;
	f->vfio = index;
	f->has_group = true;
	f->group = 10 + index;
	return f;
}

static struct host *new_host(void)
{
	struct host *h = calloc(1, sizeof(*h));
	const struct walked_function *pf;

	assert_non_null(h);
	h->holders.holders = h->entries;
	pf = add_pf(h, at(1, 0, 0), 0x10c9, igb, 3);
	for (unsigned i = 0; i < 3; i++)
		(void) add_vf(h, pf, i, vfio);
	return h;
}

static int make_host(void **state)
{
	*state = new_host();
	return 0;
}

static int free_host(void **state)
{
	struct host *h = *state;

	manifest_done(&h->manifest);
	free(h);
	return 0;
}

static void hold(struct host *h, enum holder_kind kind, unsigned number, int pid, unsigned uid,
		 const char *name)
{
	struct holder *holder = &h->entries[h->holders.n_holders++];

	assert_true(h->holders.n_holders <= HOLDERS_MAX);
	*holder = (struct holder){ .kind = kind, .number = number, .pid = pid, .uid = uid };
	strcpy(holder->name, name);
}

static void hold_function(struct host *h, struct bdf address, int pid, unsigned uid,
			  const char *name)
{
	hold(h, HOLDER_FUNCTION, 0, pid, uid, name);
	h->entries[h->holders.n_holders - 1].address = address;
}

/* What was made must be what is read back: each capture of these tests goes through it. */
static void assert_round_trip(const struct manifest *m)
{
	_cleanup_(manifest_done) struct manifest again = { 0 };
	_cleanup_(free_pointer) char *text = NULL, *text_again = NULL;
	char error[MANIFEST_ERROR_LEN] = "";
	size_t size, size_again;

	assert_int_equal(manifest_to_text(m, &text, &size), 0);
	if (manifest_parse(&again, "captured", text, size, error) != 0)
		fail_msg("%s", error);
	assert_int_equal(again.n_unknown, 0);
	assert_int_equal(manifest_to_text(&again, &text_again, &size_again), 0);
	assert_string_equal(text, text_again);
}

static void capture(struct host *h)
{
	static const struct capture_host host = {
		.machine_id = "0123456789abcdef0123456789abcdef",
		.boot_id = "fedcba9876543210fedcba9876543210",
		.kernel_release = "7.3.0-test",
		.now_usec = 1796068800000000,
		.generation = 42,
	};

	manifest_done(&h->manifest);
	assert_int_equal(capture_make(&h->walked, &h->holders, &host, &h->manifest), 0);
	assert_round_trip(&h->manifest);
}

static const char *owner_of(const struct host *h, unsigned pf, unsigned vf)
{
	const struct manifest_vf *v = &h->manifest.pfs[pf].vfs[vf];

	return v->has_owner ? h->manifest.owners[v->owner].name : NULL;
}

static void empty_host(void **state)
{
	struct host *h = *state;

	h->walked.n_functions = 0;
	capture(h);
	assert_int_equal(h->manifest.n_pfs, 0);
	assert_int_equal(h->manifest.n_vfs, 0);
	assert_int_equal(h->manifest.n_owners, 0);
	assert_int_equal(h->manifest.generation, 42);
	assert_int_equal(h->manifest.captured_at_usec, 1796068800000000);
	assert_string_equal(h->manifest.machine_id, "0123456789abcdef0123456789abcdef");
	assert_string_equal(h->manifest.boot_id, "fedcba9876543210fedcba9876543210");
	assert_string_equal(h->manifest.kernel_release, "7.3.0-test");
}

static void pf_in_full(void **state)
{
	struct host *h = *state;
	const struct manifest_pf *pf;

	h->functions[0].serial_number = (char[]){ "00-11-22-ff-ff-33-44-55" };
	h->functions[0].interface = (char[]){ "enp1s0" };
	h->functions[0].has_mac = true;
	memcpy(h->functions[0].mac, "\x52\x54\x00\x12\x34\x56", 6);
	h->functions[0].drivers_autoprobe = true;
	capture(h);
	assert_int_equal(h->manifest.n_pfs, 1);
	pf = &h->manifest.pfs[0];
	assert_int_equal(pf->address.rid, 0x0100);
	assert_int_equal(pf->vendor, 0x8086);
	assert_int_equal(pf->device, 0x10c9);
	assert_string_equal(pf->serial_number, "00-11-22-ff-ff-33-44-55");
	assert_string_equal(pf->driver, "igb");
	assert_int_equal(pf->vf_device, 0x10ca);
	assert_int_equal(pf->offset, 128);
	assert_int_equal(pf->stride, 2);
	assert_true(pf->drivers_autoprobe);
	assert_true(pf->vf_id_is_ours);
	assert_string_equal(pf->interface, "enp1s0");
	assert_true(pf->has_permanent_mac);
	assert_memory_equal(pf->permanent_mac, "\x52\x54\x00\x12\x34\x56", 6);
}

static void c18_exactly_the_vfs_that_there_are(void **state)
{
	struct host *h = *state;
	const struct manifest_pf *pf;

	h->functions[0].total_vfs = 63;
	capture(h);
	pf = &h->manifest.pfs[0];
	assert_int_equal(pf->num_vfs, 3);
	assert_int_equal(pf->n_vfs, 3);
	assert_int_equal(h->manifest.n_vfs, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pf->vfs[i].index, i);
		assert_true(pf->vfs[i].has_address);
		assert_int_equal(pf->vfs[i].address.rid, 0x0180 + 2 * i);
		assert_string_equal(pf->vfs[i].driver, "vfio-pci");
		assert_false(pf->vfs[i].has_owner);
		assert_null(pf->vfs[i].name);
	}
}

/* It came after the number was read: it is not promised. */
static void c18_vf_beyond_the_pfs_number(void **state)
{
	struct host *h = *state;

	(void) add_vf(h, &h->functions[0], 3, vfio);
	capture(h);
	assert_int_equal(h->manifest.pfs[0].n_vfs, 3);
	assert_false(h->manifest.pfs[0].vf_id_is_ours);
}

static void vf_without_driver_stays_so(void **state)
{
	struct host *h = *state;

	h->functions[2].driver = NULL;
	h->functions[2].has_vfio = false;
	capture(h);
	assert_null(h->manifest.pfs[0].vfs[1].driver);
	assert_false(h->manifest.pfs[0].vf_id_is_ours);
}

static void b22_each_vf_keeps_its_variant_driver(void **state)
{
	struct host *h = *state;

	h->functions[2].driver = variant;
	capture(h);
	assert_string_equal(h->manifest.pfs[0].vfs[0].driver, "vfio-pci");
	assert_string_equal(h->manifest.pfs[0].vfs[1].driver, "igb_vfio_pci");
	assert_false(h->manifest.pfs[0].vf_id_is_ours);
}

/* The index is what counts, the address order may differ. */
static void n6_vfs_by_ascending_index(void **state)
{
	struct host *h = *state;
	struct walked_function swap = h->functions[1];

	h->functions[1] = h->functions[3];
	h->functions[3] = swap;
	capture(h);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(h->manifest.pfs[0].vfs[i].index, i);
}

static void pf_without_driver_is_left_out(void **state)
{
	struct host *h = *state;

	h->functions[0].driver = NULL;
	hold(h, HOLDER_CDEV, 1, 100, 0, "vm");
	capture(h);
	assert_int_equal(h->manifest.n_pfs, 0);
	assert_int_equal(h->manifest.n_owners, 0);
}

/* NVMe: PF and VF share the id. */
static void pf_without_vfs_is_listed_for_the_proof(void **state)
{
	struct host *h = *state;

	(void) add_pf(h, at(2, 0, 0), 0x10ca, nvme, 0);
	(void) add_pf(h, at(3, 0, 0), 0x10c9, igb, 0); /* its own id is no VF's */
	capture(h);
	assert_int_equal(h->manifest.n_pfs, 2);
	assert_int_equal(h->manifest.pfs[1].address.rid, 0x0200);
	assert_int_equal(h->manifest.pfs[1].num_vfs, 0);
	assert_int_equal(h->manifest.pfs[1].n_vfs, 0);
	assert_true(h->manifest.pfs[0].vf_id_is_ours);
}

static void pf_of_the_id_without_driver_breaks_the_proof(void **state)
{
	struct host *h = *state;

	(void) add_pf(h, at(2, 0, 0), 0x10ca, NULL, 0);
	capture(h);
	assert_int_equal(h->manifest.n_pfs, 1);
	assert_false(h->manifest.pfs[0].vf_id_is_ours);
}

static void owner_by_cdev_group_and_function(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 0, 100, 64055, "vm-a");
	hold(h, HOLDER_GROUP, 11, 101, 64056, "vm-b");
	hold_function(h, at(1, 0x10, 4), 102, 0, "vm-c");
	capture(h);
	assert_int_equal(h->manifest.n_owners, 3);
	assert_string_equal(owner_of(h, 0, 0), "vm-a");
	assert_string_equal(owner_of(h, 0, 1), "vm-b");
	assert_string_equal(owner_of(h, 0, 2), "vm-c");
	assert_true(h->manifest.owners[0].has_uid);
	assert_int_equal(h->manifest.owners[0].uid, 64055);
	assert_int_equal(h->manifest.owners[0].priority, 0);
	assert_int_equal(h->manifest.owners[2].uid, 0);
}

/* By address over all PFs, whichever PF is listed first. */
static void devices_of_an_owner_are_named_by_address(void **state)
{
	struct host *h = *state;
	const struct walked_function *second = add_pf(h, at(2, 0, 0), 0x10c9, igb, 1);

	(void) add_vf(h, second, 0, vfio);
	h->functions[5].vfio = 9;
	hold(h, HOLDER_CDEV, 9, 100, 0, "vm");
	hold(h, HOLDER_CDEV, 2, 100, 0, "vm");
	hold(h, HOLDER_CDEV, 2, 100, 0, "vm"); /* two fds of one node */
	hold(h, HOLDER_CDEV, 0, 100, 0, "vm");
	capture(h);
	assert_int_equal(h->manifest.n_owners, 1);
	assert_string_equal(h->manifest.pfs[0].vfs[0].name, "dev0");
	assert_false(h->manifest.pfs[0].vfs[1].has_owner);
	assert_string_equal(h->manifest.pfs[0].vfs[2].name, "dev1");
	assert_string_equal(h->manifest.pfs[1].vfs[0].name, "dev2");
}

/* A helper of the VMM in the same unit holds the device, too. */
static void two_processes_of_one_unit_are_one_owner(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 0, 101, 7, "vm");
	hold(h, HOLDER_CDEV, 0, 100, 7, "vm");
	hold(h, HOLDER_GROUP, 11, 100, 7, "vm");
	capture(h);
	assert_int_equal(h->manifest.n_owners, 1);
	assert_string_equal(owner_of(h, 0, 0), "vm");
	assert_string_equal(owner_of(h, 0, 1), "vm");
}

static void two_vmms_in_one_unit_are_two_owners(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 0, 100, 7, "session-3");
	hold(h, HOLDER_CDEV, 1, 101, 8, "session-3");
	hold(h, HOLDER_CDEV, 2, 102, 8, "vm");
	capture(h);
	assert_int_equal(h->manifest.n_owners, 3);
	assert_string_equal(owner_of(h, 0, 0), "session-3-100");
	assert_string_equal(owner_of(h, 0, 1), "session-3-101");
	assert_string_equal(owner_of(h, 0, 2), "vm");
	assert_int_equal(h->manifest.owners[1].uid, 8);
}

static void long_names_keep_their_difference(void **state)
{
	char name[MANIFEST_NAME_MAX + 1];
	struct host *h = *state;

	memset(name, 'n', MANIFEST_NAME_MAX);
	name[MANIFEST_NAME_MAX] = '\0';
	hold(h, HOLDER_CDEV, 0, 2147483646, 7, name);
	hold(h, HOLDER_CDEV, 1, 2147483647, 7, name);
	capture(h);
	assert_int_equal(strlen(owner_of(h, 0, 0)), MANIFEST_NAME_MAX);
	assert_string_not_equal(owner_of(h, 0, 0), owner_of(h, 0, 1));
}

static void vf_held_by_strangers_to_each_other_has_no_owner(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 0, 100, 7, "vm-a");
	hold(h, HOLDER_GROUP, 10, 101, 7, "vm-b");
	hold(h, HOLDER_CDEV, 1, 102, 7, "vm-c");
	hold(h, HOLDER_CDEV, 1, 103, 8, "vm-c"); /* another uid */
	capture(h);
	assert_int_equal(h->manifest.n_owners, 0);
}

static void word_of_an_operator_wins(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 0, 100, 7, "session-3");
	hold(h, HOLDER_CDEV, 2, 100, 7, "session-3");
	hold_function(h, at(1, 0x10, 0), 0, 0, "blue");
	hold_function(h, at(1, 0x10, 2), 0, 0, "blue");
	capture(h);
	assert_int_equal(h->manifest.n_owners, 2);
	assert_string_equal(owner_of(h, 0, 0), "blue");
	assert_string_equal(owner_of(h, 0, 1), "blue");
	assert_string_equal(owner_of(h, 0, 2), "session-3");
	assert_false(h->manifest.owners[0].has_uid);
	assert_string_equal(h->manifest.pfs[0].vfs[1].name, "dev1");
}

/* Only the seen one gives way: the operator's name is a promise. */
static void name_of_an_operator_is_kept(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 0, 100, 7, "blue");
	hold_function(h, at(1, 0x10, 2), 0, 0, "blue");
	capture(h);
	assert_string_equal(owner_of(h, 0, 0), "blue-100");
	assert_string_equal(owner_of(h, 0, 1), "blue");
}

static void holder_of_something_else_is_no_owner(void **state)
{
	struct host *h = *state;

	hold(h, HOLDER_CDEV, 77, 100, 7, "vm");
	hold(h, HOLDER_GROUP, 0, 100, 7, "vm");
	hold_function(h, at(1, 0, 0), 100, 7, "vm");
	capture(h);
	assert_int_equal(h->manifest.n_owners, 0);
}

static void identity_of_this_machine(void **state)
{
	struct capture_identity identity;
	int r = capture_identity_read(&identity);

	if (r == CAPTURE_E_NO_MACHINE_ID)
		skip();
	assert_int_equal(r, 0);
	assert_int_equal(strspn(identity.machine_id, "0123456789abcdef"), 32);
	assert_int_equal(strspn(identity.boot_id, "0123456789abcdef"), 32);
	assert_int_equal(strlen(identity.boot_id), 32);
	assert_true(identity.kernel_release[0] != '\0');
}

#define HOST_TEST(f) cmocka_unit_test_setup_teardown(f, make_host, free_host)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOST_TEST(empty_host),
		HOST_TEST(pf_in_full),
		HOST_TEST(c18_exactly_the_vfs_that_there_are),
		HOST_TEST(c18_vf_beyond_the_pfs_number),
		HOST_TEST(vf_without_driver_stays_so),
		HOST_TEST(b22_each_vf_keeps_its_variant_driver),
		HOST_TEST(n6_vfs_by_ascending_index),
		HOST_TEST(pf_without_driver_is_left_out),
		HOST_TEST(pf_without_vfs_is_listed_for_the_proof),
		HOST_TEST(pf_of_the_id_without_driver_breaks_the_proof),
		HOST_TEST(owner_by_cdev_group_and_function),
		HOST_TEST(devices_of_an_owner_are_named_by_address),
		HOST_TEST(two_processes_of_one_unit_are_one_owner),
		HOST_TEST(two_vmms_in_one_unit_are_two_owners),
		HOST_TEST(long_names_keep_their_difference),
		HOST_TEST(vf_held_by_strangers_to_each_other_has_no_owner),
		HOST_TEST(word_of_an_operator_wins),
		HOST_TEST(name_of_an_operator_is_kept),
		HOST_TEST(holder_of_something_else_is_no_owner),
		cmocka_unit_test(identity_of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
