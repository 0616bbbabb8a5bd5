/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "hot-rig.h"

struct rig rig;

static const char *driver_of(struct bdf vf)
{
	for (unsigned p = 0; p < FAKE_PFS; p++)
		for (unsigned i = 0; i < fake_pfs[p].num_vfs; i++)
			if (!bdf_compare(fake_vf_address(p, i), vf))
				return fake_pfs[p].vfs[i].driver;
	return "";
}

static void on_vfio_added(struct bdf vf, unsigned vfio)
{
	struct uevent group = { .kind = UEVENT_GROUP_ADD, .number = 100 + vfio };
	struct uevent device = {
		.kind = UEVENT_DEVICE_ADD, .bdf = vf, .has_node = fake_has_cdevs, .number = vfio
	};
	struct uevent bound = { .kind = UEVENT_PCI_BIND, .bdf = vf, .driver = driver_of(vf) };

	fake_uevent_send(&group);
	fake_uevent_send(&device);
	fake_uevent_send(&bound);
}

static void promise_pf(unsigned p)
{
	static char names[FAKE_PFS][8];

	snprintf(names[p], sizeof(names[p]), "vm-%u", p);
	rig.owners[p] = (struct manifest_owner){ .name = names[p] };
	for (unsigned i = 0; i < RIG_VFS; i++)
		rig.vfs[p][i] = (struct manifest_vf){ .index = i,
						      .has_address = true,
						      .address = fake_vf_address(p, i),
						      .driver = "vfio-pci",
						      .has_owner = true,
						      .owner = p };
	rig.pfs[p] = (struct manifest_pf){ .address = fake_pfs[p].address,
					   .vendor = 0x1b36,
					   .device = 0x10,
					   .vf_device = 0x10,
					   .driver = "nvme",
					   .num_vfs = RIG_VFS,
					   .offset = 1,
					   .stride = 1,
					   .drivers_autoprobe = true,
					   .vf_id_is_ours = true,
					   .vfs = rig.vfs[p],
					   .n_vfs = RIG_VFS };
}

static void end_run(void)
{
	if (rig.hot.plan)
		hotpath_done(&rig.hot);
	plan_done(&rig.plan);
	memset(&rig.hot, 0, sizeof(rig.hot));
	memset(rig.lanes, 0, sizeof(rig.lanes));
	memset(rig.hot_owners, 0, sizeof(rig.hot_owners));
	memset(rig.registrars, 0, sizeof(rig.registrars));
	memset(rig.hot_vfs, 0, sizeof(rig.hot_vfs));
	memset(rig.outcomes, 0, sizeof(rig.outcomes));
}

void rig_reset(unsigned n_pfs)
{
	end_run();
	conf_done(&rig.conf);
	if (rig.journal.fd > 0)
		journal_close(&rig.journal);
	fake_sysfs_reset();
	fake_uevent_reset();
	fake_has_cdevs = true;
	fake_open_fault = NULL;
	rig.id_may_be_late = false;
	fake_vfio_added = on_vfio_added;
	assert_int_equal(conf_init(&rig.conf), 0);
	rig.conf.lane_timeout_ns = 60 * NSEC_PER_SEC;
	rig.conf.vf_timeout_ns = 0;
	rig.conf.proof_timeout_ns = 50 * NSEC_PER_MSEC;
	rig.conf.late_pf_timeout_ns = 50 * NSEC_PER_MSEC;
	rig.journal.fd = memfd_create("journal", MFD_CLOEXEC);
	assert_int_equal(fcntl(rig.journal.fd, F_SETFL, O_APPEND), 0); /* as journal_open() */
	for (unsigned p = 0; p < n_pfs; p++)
		promise_pf(p);
	rig.manifest = (struct manifest){ .owners = rig.owners,
					  .n_owners = n_pfs,
					  .pfs = rig.pfs,
					  .n_pfs = n_pfs,
					  .n_vfs = n_pfs * RIG_VFS };
}

void rig_give_vfs_an_id_of_their_own(void)
{
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++)
		rig.pfs[p].vf_device = fake_pfs[p].vf_device = 0x11;
}

void rig_again(void)
{
	end_run();
}

const char *rig_journal(void)
{
	static char text[8192];
	ssize_t k = pread(rig.journal.fd, text, sizeof(text) - 1, 0);

	assert_true(k >= 0);
	text[k] = '\0';
	return text;
}

void rig_start(void)
{
	char error[PLAN_ERROR_LEN];
	const char *text = rig_journal();

	assert_int_equal(plan_make(&rig.plan, &rig.manifest, &rig.conf, error), 0);
	rig.hot.plan = &rig.plan;
	rig.hot.conf = &rig.conf;
	rig.hot.uevents = &rig.uevents;
	rig.hot.lanes = rig.lanes;
	rig.hot.owners = rig.hot_owners;
	rig.hot.registrars = rig.registrars;
	for (unsigned i = 0; i < rig.plan.n_lanes; i++) {
		rig.lanes[i].vfs = rig.hot_vfs[i];
		rig.lanes[i].lane.outcomes = rig.outcomes[i];
		journal_find_autoprobe(text, rig.plan.lanes[i].pf->address,
				       &rig.lanes[i].lane.left);
	}
	for (unsigned i = 0; i < rig.plan.n_id_groups; i++) {
		char id[REGISTRAR_ID_LEN];

		registrar_id_text(&rig.plan.id_groups[i], id);
		rig.registrars[i].left = journal_find_id(text, id);
	}
	assert_int_equal(hotpath_init(&rig.hot, -1, -1, &rig.journal), 0);
	hotpath_begin(&rig.hot, now_ns());
}

static bool registrar_works(void)
{
	for (unsigned i = 0; i < rig.plan.n_id_groups; i++) {
		uint8_t state = atomic_load(&rig.registrars[i].state);

		if (state == REGISTRAR_AT_WORK || state == REGISTRAR_LEAVING)
			return true;
	}
	return false;
}

void rig_turn(void)
{
	struct timespec nap = { .tv_nsec = 100000 };

	hotpath_on_report(&rig.hot, now_ns());
	hotpath_on_uevent(&rig.hot, now_ns());
	if (rig.id_may_be_late || !registrar_works())
		hotpath_on_time(&rig.hot, now_ns());
	nanosleep(&nap, NULL);
}

void rig_finish(void)
{
	uint64_t begun = now_ns();

	while (!hotpath_is_over(&rig.hot)) {
		assert_true(now_ns() - begun < 120 * NSEC_PER_SEC);
		rig_turn();
	}
}

void rig_await_threads(void)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < rig.plan.n_lanes; i++)
		while (atomic_load(&rig.lanes[i].lane.ask) != LANE_OVER)
			nanosleep(&nap, NULL);
	for (unsigned i = 0; i < rig.plan.n_id_groups; i++)
		while (atomic_load(&rig.registrars[i].state) != REGISTRAR_GONE)
			nanosleep(&nap, NULL);
}

void rig_run(void)
{
	rig_start();
	rig_finish();
}

struct hot_lane *rig_lane(unsigned pf)
{
	for (unsigned i = 0; i < rig.plan.n_lanes; i++)
		if (rig.plan.lanes[i].pf == &rig.pfs[pf])
			return &rig.lanes[i];
	return NULL;
}

void rig_assert_complete(void)
{
	assert_int_equal(rig.hot.n_ready, rig.manifest.n_vfs);
	assert_int_equal(rig.hot.n_lacks + rig.hot.n_held, 0);
	assert_false(hotpath_hangs(&rig.hot));
	for (unsigned p = 0; p < rig.manifest.n_pfs; p++) {
		assert_int_equal(fake_pfs[p].autoprobe, rig.pfs[p].drivers_autoprobe);
		assert_int_equal(fake_pfs[p].num_vfs, RIG_VFS);
		assert_int_equal(rig.hot_owners[p].n_ready, RIG_VFS);
		for (unsigned i = 0; i < RIG_VFS; i++)
			assert_string_equal(fake_pfs[p].vfs[i].driver, "vfio-pci");
	}
	assert_int_equal(fake_writes_of_zero, 0);
	assert_string_equal(fake_ids[0], "");
}

void rig_assert_budget(void)
{
	struct tally tally, budget;
	bool exact;

	hotpath_tally(&rig.hot, &tally);
	hotpath_budget(&rig.hot, &budget, &exact);
	assert_true(exact);
	assert_memory_equal(&tally, &budget, sizeof(tally));
}
