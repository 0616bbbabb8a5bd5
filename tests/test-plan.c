/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan.h"

/* Two PFs of one id with four VFs each, and two owners; tests change what they need. */
static struct manifest_vf vfs[2][4];
static struct manifest_pf pfs[2];
static struct manifest_owner owners[2];
static struct manifest manifest;
static struct conf conf;
static char error[PLAN_ERROR_LEN];

static int set_up(void **state)
{
	(void) state;
	owners[0] = (struct manifest_owner){ .name = "vm-0" };
	owners[1] = (struct manifest_owner){ .name = "vm-1", .priority = 10 };
	for (unsigned p = 0; p < 2; p++) {
		for (unsigned i = 0; i < 4; i++)
			vfs[p][i] = (struct manifest_vf){
				.index = i, .driver = "vfio-pci", .has_owner = true, .owner = 0
			};
		pfs[p] = (struct manifest_pf){ .address = { 0, (uint16_t) (0x100 + p * 0x100) },
					       .vendor = 0x1b36,
					       .device = 0x10,
					       .vf_device = 0x10,
					       .driver = "nvme",
					       .num_vfs = 4,
					       .offset = 1,
					       .stride = 1,
					       .drivers_autoprobe = true,
					       .vf_id_is_ours = true,
					       .vfs = vfs[p],
					       .n_vfs = 4 };
	}
	manifest = (struct manifest){
		.owners = owners, .n_owners = 2, .pfs = pfs, .n_pfs = 2, .n_vfs = 8
	};
	return conf_init(&conf);
}

static int tear_down(void **state)
{
	(void) state;
	conf_done(&conf);
	return 0;
}

static struct plan made(void)
{
	struct plan p = { 0 };

	error[0] = '\0';
	assert_int_equal(plan_make(&p, &manifest, &conf, error), 0);
	return p;
}

/* The golden plan: a new touch has to show up here. */
static void a_cold_lane_by_override_has_this_price(void **state)
{
	struct plan p;
	struct tally t, golden = { 0 };

	(void) state;
	conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	p = made();
	plan_price(&p, &t);
	golden.sysfs[SYSFS_PF_DRIVER][SYSFS_LINK] = 2;
	golden.sysfs[SYSFS_PF_MODALIAS][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_NUMVFS][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_NUMVFS][SYSFS_WRITE] = 2;
	golden.sysfs[SYSFS_PF_AUTOPROBE][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_AUTOPROBE][SYSFS_WRITE] = 4;
	golden.sysfs[SYSFS_PF_OFFSET][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_STRIDE][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_VF_OVERRIDE][SYSFS_WRITE] = 8;
	golden.sysfs[SYSFS_DRIVER_BIND][SYSFS_WRITE] = 8;
	golden.opens = 8;
	assert_memory_equal(&t, &golden, sizeof(t));
	assert_int_equal(tally_vf_nodes(&t), 8); /* one a VF */
	plan_done(&p);
}

static void a_cold_plan_by_id_touches_no_vf_node(void **state)
{
	struct plan p = made();
	struct tally t, golden = { 0 };

	(void) state;
	plan_price(&p, &t);
	golden.sysfs[SYSFS_PF_DRIVER][SYSFS_LINK] = 4; /* each lane its own, the registrar both */
	golden.sysfs[SYSFS_PF_MODALIAS][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_NUMVFS][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_NUMVFS][SYSFS_WRITE] = 2;
	golden.sysfs[SYSFS_PF_AUTOPROBE][SYSFS_READ] = 2; /* it is 1 and stays so */
	golden.sysfs[SYSFS_PF_OFFSET][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_PF_STRIDE][SYSFS_READ] = 2;
	golden.sysfs[SYSFS_DRIVER_DEVICE][SYSFS_LINK] = 8;
	golden.sysfs[SYSFS_DRIVER_NEW_ID][SYSFS_WRITE] = 1;
	golden.sysfs[SYSFS_DRIVER_REMOVE_ID][SYSFS_WRITE] = 1;
	golden.opens = 8;
	assert_memory_equal(&t, &golden, sizeof(t));
	assert_int_equal(tally_vf_nodes(&t), 0);
	plan_done(&p);
}

static void a_warm_lane_that_is_right_writes_nothing(void **state)
{
	struct plan p = made();
	struct plan_facts facts = { .warm = true, .n_looks = 1, .n_right = 4 };
	struct tally t;

	(void) state;
	plan_price_lane(&p.lanes[0], &facts, &t);
	assert_int_equal(tally_writes(&t), 0);
	assert_int_equal(tally_vf_nodes(&t), 0);
	plan_done(&p);
}

static void a_wrong_driver_is_priced(void **state)
{
	struct plan p;
	struct plan_facts facts = { .warm = true, .n_looks = 1, .n_right = 3, .n_wrong = 1 };
	struct tally t;

	(void) state;
	conf.bind_strategy = CONF_STRATEGY_OVERRIDE;
	p = made();
	plan_price_lane(&p.lanes[0], &facts, &t);
	assert_int_equal(tally_writes(&t), 3); /* override, unbind, bind */
	assert_int_equal(t.sysfs[SYSFS_VF_OVERRIDE][SYSFS_READ], 1);
	plan_done(&p);
}

static void c15_what_a_killed_run_left_is_put_back(void **state)
{
	struct plan p = made();
	struct plan_facts facts = { .warm = true,
				    .n_looks = 1,
				    .n_right = 4,
				    .autoprobe_was_off = true,
				    .autoprobe_left = true };
	struct tally t;

	(void) state;
	plan_price_lane(&p.lanes[0], &facts, &t);
	assert_int_equal(t.sysfs[SYSFS_PF_AUTOPROBE][SYSFS_WRITE], 1);
	plan_done(&p);
}

static void lanes_start_by_priority_then_address(void **state)
{
	struct plan p = made();

	(void) state;
	assert_int_equal(p.lanes[0].pf->address.rid, 0x100);
	plan_done(&p);
	vfs[1][2].owner = 1;
	p = made();
	assert_int_equal(p.lanes[0].pf->address.rid, 0x200);
	assert_int_equal(p.lanes[0].priority, 10);
	plan_done(&p);
}

static void vfs_are_served_by_priority_then_index(void **state)
{
	struct plan p;

	(void) state;
	vfs[0][2].owner = 1;
	p = made();
	assert_int_equal(p.lanes[0].vfs[0]->index, 2);
	assert_int_equal(p.lanes[0].vfs[1]->index, 0);
	assert_int_equal(p.lanes[0].position[2], 0);
	assert_int_equal(p.lanes[0].position[3], 3);
	plan_done(&p);
}

static void b22_each_vf_gets_its_own_driver(void **state)
{
	struct plan p;
	unsigned binds = 0;

	(void) state;
	vfs[0][1].driver = "mlx5_vfio_pci";
	vfs[0][2].driver = "mlx5_core";
	vfs[0][3].driver = NULL;
	p = made();
	assert_int_equal(p.lanes[0].strategy, STRATEGY_OVERRIDE);
	for (unsigned i = 0; i < p.lanes[0].n_steps; i++)
		if (p.lanes[0].steps[i].kind == STEP_BIND_OVERRIDE) {
			const struct step *s = &p.lanes[0].steps[i];

			binds++;
			assert_int_equal(s->n, 1);
			assert_string_equal(s->driver, p.lanes[0].vfs[s->first]->driver);
		}
	assert_int_equal(binds, 3);
	assert_string_equal(p.lanes[0].vfs[2]->driver, "mlx5_core"); /* guests first */
	assert_null(p.lanes[0].vfs[3]->driver);
	plan_done(&p);
}

static void more_drivers_than_steps_are_refused(void **state)
{
	static char names[PLAN_DRIVERS_MAX + 1][8];
	struct manifest_vf many[PLAN_DRIVERS_MAX + 1] = { 0 };
	struct plan p = { 0 };

	(void) state;
	for (unsigned i = 0; i <= PLAN_DRIVERS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "drv%u", i);
		many[i] = (struct manifest_vf){ .index = i, .driver = names[i] };
	}
	pfs[0].vfs = many;
	pfs[0].n_vfs = pfs[0].num_vfs = PLAN_DRIVERS_MAX + 1;
	assert_int_equal(plan_make(&p, &manifest, &conf, error), PLAN_E_REFUSED);
	assert_non_null(strstr(error, "16 drivers"));
	assert_null(p.lanes);
}

/* B4: new_id takes whatever has the id, so it needs proof. */
static void b4_id_is_taken_only_where_it_is_proven(void **state)
{
	struct plan p;

	(void) state;
	p = made();
	assert_int_equal(p.lanes[0].strategy, STRATEGY_ID);
	assert_int_equal(p.n_id_groups, 1);
	assert_int_equal(p.id_groups[0].n_pfs, 2); /* NVMe: the PFs have the VFs' id */
	assert_string_equal(p.id_groups[0].text, "1b36 0010");
	plan_done(&p);

	pfs[0].vf_id_is_ours = false;
	p = made();
	assert_int_equal(p.lanes[0].strategy, STRATEGY_OVERRIDE);
	assert_non_null(strstr(p.lanes[0].strategy_reason, "ours alone"));
	plan_done(&p);

	pfs[0].vf_id_is_ours = true;
	pfs[0].n_vfs = 3; /* the fourth would be taken too */
	p = made();
	assert_int_equal(p.lanes[0].strategy, STRATEGY_OVERRIDE);
	plan_done(&p);
}

static void a_pf_without_vfs_is_listed_for_the_proof_only(void **state)
{
	struct plan p;

	(void) state;
	pfs[1].num_vfs = pfs[1].n_vfs = 0;
	p = made();
	assert_int_equal(p.n_lanes, 1);
	assert_int_equal(p.id_groups[0].n_pfs, 2);
	plan_done(&p);
}

static void asking_for_id_without_proof_is_refused(void **state)
{
	struct plan p = { 0 };

	(void) state;
	conf.bind_strategy = CONF_STRATEGY_ID;
	pfs[1].vf_id_is_ours = false;
	assert_int_equal(plan_make(&p, &manifest, &conf, error), PLAN_E_REFUSED);
	assert_non_null(strstr(error, "0000:02:00.0"));
	assert_non_null(strstr(error, "use auto or override"));
}

static void an_empty_manifest_is_an_empty_plan(void **state)
{
	struct plan p;
	struct tally t, none = { 0 };

	(void) state;
	manifest.n_pfs = 0;
	p = made();
	assert_int_equal(p.n_lanes, 0);
	plan_price(&p, &t);
	assert_memory_equal(&t, &none, sizeof(t));
	plan_done(&p);
}

int main(void)
{
#define with_setup(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		with_setup(a_cold_lane_by_override_has_this_price),
		with_setup(a_cold_plan_by_id_touches_no_vf_node),
		with_setup(a_warm_lane_that_is_right_writes_nothing),
		with_setup(a_wrong_driver_is_priced),
		with_setup(c15_what_a_killed_run_left_is_put_back),
		with_setup(lanes_start_by_priority_then_address),
		with_setup(vfs_are_served_by_priority_then_index),
		with_setup(b22_each_vf_gets_its_own_driver),
		with_setup(more_drivers_than_steps_are_refused),
		with_setup(b4_id_is_taken_only_where_it_is_proven),
		with_setup(a_pf_without_vfs_is_listed_for_the_proof_only),
		with_setup(asking_for_id_without_proof_is_refused),
		with_setup(an_empty_manifest_is_an_empty_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
