/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "canned-plan.h"
#include "plan-json.h"

static const char golden[] =
	"{ \"format\": \"vf-restore-plan\", \"version\": 1, \"generation\": 42, "
	"\"vfs\": 7,\n"
	"  \"price\": { \"sysfs\": { \"driver\": { \"link\": 2 }, "
	"\"modalias\": { \"read\": 2 }, \"serial_number\": { \"read\": 1 }, "
	"\"sriov_numvfs\": { \"read\": 2, \"write\": 2 }, "
	"\"sriov_drivers_autoprobe\": { \"read\": 2, \"write\": 2 }, "
	"\"sriov_offset\": { \"read\": 2 }, \"sriov_stride\": { \"read\": 2 }, "
	"\"vf/driver_override\": { \"write\": 3 }, \"bind\": { \"write\": 6 }, "
	"\"new_id\": { \"write\": 1 }, \"remove_id\": { \"write\": 1 } }, "
	"\"vfNodes\": 3, \"writes\": 15, \"opens\": 6 },\n"
	"  \"physicalFunctions\": [\n"
	"    { \"address\": \"0000:3b:00.0\", \"driver\": \"mlx5_core\", \"numVfs\": 4, "
	"\"priority\": 10, \"strategy\": \"override\", "
	"\"strategyReason\": \"its VFs do not all go to one driver\",\n"
	"      \"steps\": [\n"
	"        { \"name\": \"look\" },\n"
	"        { \"name\": \"count\" },\n"
	"        { \"name\": \"autoprobe\" },\n"
	"        { \"name\": \"enable\" },\n"
	"        { \"name\": \"layout\" },\n"
	"        { \"name\": \"survey\" },\n"
	"        { \"name\": \"bind-override\", \"driver\": \"mlx5_vfio_pci\", "
	"\"virtualFunctions\": [1] },\n"
	"        { \"name\": \"bind-override\", \"driver\": \"vfio-pci\", "
	"\"virtualFunctions\": [0, 2] },\n"
	"        { \"name\": \"autoprobe-back\" } ], \"virtualFunctions\": [1, 0, 2, "
	"3],\n"
	"      \"price\": { \"sysfs\": { \"driver\": { \"link\": 1 }, "
	"\"modalias\": { \"read\": 1 }, \"serial_number\": { \"read\": 1 }, "
	"\"sriov_numvfs\": { \"read\": 1, \"write\": 1 }, "
	"\"sriov_drivers_autoprobe\": { \"read\": 1 }, "
	"\"sriov_offset\": { \"read\": 1 }, \"sriov_stride\": { \"read\": 1 }, "
	"\"vf/driver_override\": { \"write\": 3 }, \"bind\": { \"write\": 3 } }, "
	"\"vfNodes\": 3, \"writes\": 7, \"opens\": 3 } },\n"
	"    { \"address\": \"0000:01:00.0\", \"interface\": \"enp1s0\", "
	"\"driver\": \"igb\", \"numVfs\": 3, \"priority\": 0, \"strategy\": \"id\",\n"
	"      \"steps\": [\n"
	"        { \"name\": \"look\" },\n"
	"        { \"name\": \"count\" },\n"
	"        { \"name\": \"id\" },\n"
	"        { \"name\": \"autoprobe\" },\n"
	"        { \"name\": \"enable\" },\n"
	"        { \"name\": \"layout\" },\n"
	"        { \"name\": \"survey\" },\n"
	"        { \"name\": \"bind-id\", \"driver\": \"vfio-pci\", "
	"\"virtualFunctions\": [0, 1, 2] },\n"
	"        { \"name\": \"autoprobe-back\" } ], \"virtualFunctions\": [0, 1, 2],\n"
	"      \"price\": { \"sysfs\": { \"driver\": { \"link\": 1 }, "
	"\"modalias\": { \"read\": 1 }, \"sriov_numvfs\": { \"read\": 1, \"write\": 1 }, "
	"\"sriov_drivers_autoprobe\": { \"read\": 1, \"write\": 2 }, "
	"\"sriov_offset\": { \"read\": 1 }, \"sriov_stride\": { \"read\": 1 }, "
	"\"bind\": { \"write\": 3 } }, "
	"\"vfNodes\": 0, \"writes\": 6, \"opens\": 3 } } ] }\n";

static void a_plan_is_json(void **state)
{
	struct canned_plan c;
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(canned_plan_make(&c), 0);
	assert_int_equal(plan_json_text(&c.plan, &text, &size), 0);
	assert_int_equal(strlen(text), size);
	assert_string_equal(text, golden);
	free(text);
	plan_done(&c.plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_json),
	};

	return cmocka_run_group_tests_name("plan-json", tests, NULL, NULL);
}
