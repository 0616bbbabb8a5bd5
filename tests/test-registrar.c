/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include "fake-sysfs.h"
#include "registrar.h"
#include "thread.h"

static const char ID[] = "1b36 0010 vfio-pci";

static struct manifest_pf pfs[2];
static const struct manifest_pf *pointers[2];
static struct plan_id_group group;
static struct journal journal;
static struct registrar registrar;
static int report_fd = -1;

/* What the faults of these tests do: this errno at the first n_faults of this node. */
static enum sysfs_node fault_node;
static enum sysfs_op fault_op;
static int fault_result;

static int one_fault(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	(void) device;
	return node == fault_node && op == fault_op ? fault_result : 0;
}

static void fail_at(enum sysfs_node node, enum sysfs_op op, int result)
{
	fault_node = node;
	fault_op = op;
	fault_result = result;
	fake_fault = one_fault;
}

/* Two PFs that have the VFs' id themselves, as NVMe has it. */
static int setup(void **state)
{
	(void) state;
	fake_sysfs_reset();
	for (unsigned i = 0; i < 2; i++) {
		pfs[i] = (struct manifest_pf){ .address = fake_pfs[i].address, .driver = "nvme" };
		pointers[i] = &pfs[i];
	}
	group = (struct plan_id_group){ 0x1b36, 0x10, "vfio-pci", pointers, 2, "1b36 0010" };
	journal.fd = memfd_create("journal", MFD_CLOEXEC);
	assert_true(journal.fd >= 0);
	memset(&registrar, 0, sizeof(registrar));
	registrar.group = &group;
	registrar.journal = &journal;
	registrar.journal_pf = pfs[0].address;
	registrar.sysfs.root = -1;
	report_fd = eventfd(0, EFD_CLOEXEC);
	registrar.report_fd = dup(report_fd); /* the thread closes its own */
	registrar.wake_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(registrar.report_fd >= 0 && registrar.wake_fd >= 0);
	return 0;
}

static int teardown(void **state)
{
	(void) state;
	close_fd(&report_fd);
	close_fd(&registrar.wake_fd);
	journal_close(&journal);
	return 0;
}

static const char *journal_text(void)
{
	static char text[1024];
	ssize_t k = pread(journal.fd, text, sizeof(text) - 1, 0);

	assert_true(k >= 0);
	text[k] = '\0';
	return text;
}

static void start(void)
{
	assert_int_equal(registrar_start(&registrar), 0);
}

static enum registrar_state ask(void)
{
	registrar_ask(&registrar);
	thread_sleep(report_fd);
	return (enum registrar_state) atomic_load(&registrar.state);
}

static void end(void)
{
	registrar_end(&registrar);
	thread_sleep(report_fd);
	assert_int_equal(atomic_load(&registrar.state), REGISTRAR_GONE);
}

static unsigned writes(enum sysfs_node node)
{
	return registrar.tally.sysfs[node][SYSFS_WRITE];
}

static void assert_price(void)
{
	struct tally price;

	registrar_price(&registrar, &price);
	assert_memory_equal(&price, &registrar.tally, sizeof(price));
}

static void an_id_is_told_as_in_the_journal(void **state)
{
	char text[REGISTRAR_ID_LEN];

	(void) state;
	registrar_id_text(&group, text);
	assert_string_equal(text, ID);
}

static void it_registers_when_asked_and_takes_back_at_the_end(void **state)
{
	(void) state;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	assert_string_equal(fake_ids[0], "1b36 0010");
	assert_true(journal_find_id(journal_text(), ID));
	end();
	assert_string_equal(fake_ids[0], "");
	assert_false(journal_find_id(journal_text(), ID));
	assert_non_null(strstr(journal_text(), "0000:01:00.0 id-removed 1b36 0010 vfio-pci\n"));
	assert_int_equal(registrar.tally.sysfs[SYSFS_PF_DRIVER][SYSFS_LINK], 2);
	assert_false(registrar.left);
	assert_price();
}

static void nobody_asks_and_nothing_is_touched(void **state)
{
	(void) state;
	start();
	end();
	assert_string_equal(journal_text(), "");
	assert_price();
	assert_int_equal(tally_writes(&registrar.tally), 0);
}

static void to_ask_again_or_to_end_twice_changes_nothing(void **state)
{
	(void) state;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	registrar_ask(&registrar);
	assert_int_equal(atomic_load(&registrar.state), REGISTRAR_REGISTERED);
	end();
	registrar_end(&registrar);
	registrar_ask(&registrar);
	assert_int_equal(atomic_load(&registrar.state), REGISTRAR_GONE);
	assert_int_equal(writes(SYSFS_DRIVER_NEW_ID), 1);
	assert_int_equal(writes(SYSFS_DRIVER_REMOVE_ID), 1);
}

/* -- B4: an id of a function that is not ours would take that function -- */

static void assert_refused(void)
{
	start();
	assert_int_equal(ask(), REGISTRAR_REFUSED);
	assert_true(registrar.refused);
	end();
	assert_int_equal(writes(SYSFS_DRIVER_NEW_ID), 0);
	assert_int_equal(writes(SYSFS_DRIVER_REMOVE_ID), 0);
	assert_string_equal(fake_ids[0], "");
	assert_string_equal(journal_text(), "");
}

static void b4_an_unbound_pf_forbids_the_id(void **state)
{
	(void) state;
	fake_pfs[1].driver[0] = '\0';
	assert_refused();
	assert_price();
}

static void b4_a_pf_with_another_driver_forbids_the_id(void **state)
{
	(void) state;
	strcpy(fake_pfs[0].driver, "vfio-pci");
	assert_refused();
	assert_price();
}

static void b4_a_pf_that_cannot_be_looked_at_forbids_the_id(void **state)
{
	(void) state;
	fail_at(SYSFS_PF_DRIVER, SYSFS_LINK, -EIO);
	assert_refused();
	assert_price();
}

static void b4_an_absent_pf_forbids_the_id(void **state)
{
	(void) state;
	fake_pfs[0].absent = true;
	assert_refused();
}

static void pfs_without_the_id_need_no_look(void **state)
{
	(void) state;
	group.n_pfs = 0;
	fake_pfs[0].absent = true;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	end();
	assert_int_equal(registrar.tally.sysfs[SYSFS_PF_DRIVER][SYSFS_LINK], 0);
	assert_price();
}

/* -- the id is there already -- */

static void b4_an_id_of_somebody_else_serves_and_stays(void **state)
{
	(void) state;
	strcpy(fake_ids[0], "1b36 0010");
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	assert_false(journal_find_id(journal_text(), ID));
	end();
	assert_string_equal(fake_ids[0], "1b36 0010");
	assert_int_equal(writes(SYSFS_DRIVER_REMOVE_ID), 0);
	assert_price();
}

static void b6_an_id_left_by_a_killed_run_serves_and_goes(void **state)
{
	(void) state;
	strcpy(fake_ids[0], "1b36 0010");
	registrar.left = true;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	end();
	assert_string_equal(fake_ids[0], "");
	assert_false(registrar.left);
	assert_price();
}

static void b6_an_id_left_goes_though_nobody_asks(void **state)
{
	(void) state;
	strcpy(fake_ids[0], "1b36 0010");
	registrar.left = true;
	start();
	end();
	assert_string_equal(fake_ids[0], "");
	assert_false(registrar.left);
	assert_int_equal(writes(SYSFS_DRIVER_NEW_ID), 0);
	assert_price();
}

static void b6_an_id_left_goes_though_a_pf_forbids_it_now(void **state)
{
	(void) state;
	strcpy(fake_ids[0], "1b36 0010");
	fake_pfs[1].driver[0] = '\0';
	registrar.left = true;
	start();
	assert_int_equal(ask(), REGISTRAR_REFUSED);
	end();
	assert_string_equal(fake_ids[0], "");
	assert_price();
}

static void b6_an_id_left_that_is_gone_already_is_fine(void **state)
{
	(void) state;
	registrar.left = true;
	start();
	end();
	assert_false(registrar.left);
	assert_non_null(strstr(journal_text(), "id-removed"));
	assert_price();
}

/* -- faults -- */

static void a_refused_new_id_leaves_nothing(void **state)
{
	static const int errors[] = { EIO, ENOMEM, EINVAL, EACCES, EPERM, EBUSY, EINTR };

	for (unsigned i = 0; i < ELEMENTSOF(errors); i++) {
		fail_at(SYSFS_DRIVER_NEW_ID, SYSFS_WRITE, -errors[i]);
		start();
		assert_int_equal(ask(), REGISTRAR_FAILED);
		end();
		assert_false(registrar.registered || registrar.left);
		assert_int_equal(writes(SYSFS_DRIVER_REMOVE_ID), 0);
		assert_price();
		teardown(state);
		setup(state);
	}
}

static void a_driver_that_is_not_loaded_cannot_take_an_id(void **state)
{
	(void) state;
	group.driver = "absent";
	start();
	assert_int_equal(ask(), REGISTRAR_FAILED);
	end();
	assert_int_equal(writes(SYSFS_DRIVER_NEW_ID), 0);
}

static void a_refused_remove_id_is_left_to_the_next_run(void **state)
{
	(void) state;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	fail_at(SYSFS_DRIVER_REMOVE_ID, SYSFS_WRITE, -EIO);
	end();
	assert_true(registrar.left);
	assert_true(journal_find_id(journal_text(), ID));
	assert_string_equal(fake_ids[0], "1b36 0010");
}

static void a_driver_that_went_took_the_id_with_it(void **state)
{
	(void) state;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	fail_at(SYSFS_DRIVER_REMOVE_ID, FAKE_OPEN, SYSFS_E_ABSENT);
	end();
	assert_false(registrar.left);
	assert_false(journal_find_id(journal_text(), ID));
}

/* Guests wait: a journal that cannot be written stops nothing. */
static void a_full_run_does_not_stop_it(void **state)
{
	struct journal closed = { -1 };

	(void) state;
	registrar.journal = &closed;
	start();
	assert_int_equal(ask(), REGISTRAR_REGISTERED);
	end();
	assert_string_equal(fake_ids[0], "");
}

/* -- new_id hangs behind a function that somebody has locked -- */

static _Atomic bool released;
static _Atomic bool hangs;

static int hang_in_new_id(enum sysfs_node node, enum sysfs_op op, struct bdf device)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	(void) device;
	while (node == SYSFS_DRIVER_NEW_ID && op == SYSFS_WRITE && !released) {
		hangs = true;
		nanosleep(&nap, NULL);
	}
	return 0;
}

static void an_end_while_it_hangs_is_kept_when_it_comes_back(void **state)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	(void) state;
	released = hangs = false;
	fake_fault = hang_in_new_id;
	start();
	registrar_ask(&registrar);
	assert_int_equal(atomic_load(&registrar.state), REGISTRAR_AT_WORK);
	while (!hangs)
		nanosleep(&nap, NULL);
	registrar_end(&registrar);
	assert_int_equal(atomic_load(&registrar.state), REGISTRAR_LEAVING);
	assert_true(journal_find_id(journal_text(), ID)); /* noted before the write */
	released = true;
	while (atomic_load(&registrar.state) != REGISTRAR_GONE)
		thread_sleep(report_fd);
	assert_string_equal(fake_ids[0], "");
	assert_false(journal_find_id(journal_text(), ID));
}

int main(void)
{
#define with_setup(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		with_setup(an_id_is_told_as_in_the_journal),
		with_setup(it_registers_when_asked_and_takes_back_at_the_end),
		with_setup(nobody_asks_and_nothing_is_touched),
		with_setup(to_ask_again_or_to_end_twice_changes_nothing),
		with_setup(b4_an_unbound_pf_forbids_the_id),
		with_setup(b4_a_pf_with_another_driver_forbids_the_id),
		with_setup(b4_a_pf_that_cannot_be_looked_at_forbids_the_id),
		with_setup(b4_an_absent_pf_forbids_the_id),
		with_setup(pfs_without_the_id_need_no_look),
		with_setup(b4_an_id_of_somebody_else_serves_and_stays),
		with_setup(b6_an_id_left_by_a_killed_run_serves_and_goes),
		with_setup(b6_an_id_left_goes_though_nobody_asks),
		with_setup(b6_an_id_left_goes_though_a_pf_forbids_it_now),
		with_setup(b6_an_id_left_that_is_gone_already_is_fine),
		with_setup(a_refused_new_id_leaves_nothing),
		with_setup(a_driver_that_is_not_loaded_cannot_take_an_id),
		with_setup(a_refused_remove_id_is_left_to_the_next_run),
		with_setup(a_driver_that_went_took_the_id_with_it),
		with_setup(a_full_run_does_not_stop_it),
		with_setup(an_end_while_it_hangs_is_kept_when_it_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
