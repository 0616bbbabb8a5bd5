/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "canned-plan.h"
#include "plan-text.h"

static char *print(const struct plan *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	plan_text(p, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static const char golden[] =
	"2 PFs with 7 VFs for 2 owners, in this order:\n"
	"\n"
	"0000:3b:00.0: 4 VFs, by override, priority 10\n"
	"   not by id: its VFs do not all go to one driver\n"
	"   1  see that it is 15b3:101d with driver mlx5_core and serial number 0c-42\n"
	"   2  read sriov_numvfs: 0 is cold, 4 is warm, else the PF is refused\n"
	"   3  if cold: sriov_drivers_autoprobe to 0\n"
	"   4  if cold: write 4 to sriov_numvfs\n"
	"   5  read sriov_offset and sriov_stride, compute every address\n"
	"   6  if warm: see which VFs are bound to what\n"
	"   7  bind VF 1 to mlx5_vfio_pci by driver_override, one by one\n"
	"   8  bind VFs 0, 2 to vfio-pci by driver_override, one by one\n"
	"   9  sriov_drivers_autoprobe back to 0\n"
	"   -  VF 3 left without a driver\n"
	"   price if cold: 6 reads, 1 links, 7 writes; 3 nodes in VF directories\n"
	"\n"
	"0000:01:00.0 enp1s0: 3 VFs, by id\n"
	"   1  see that it is 8086:10c9 with driver igb\n"
	"   2  read sriov_numvfs: 0 is cold, 3 is warm, else the PF is refused\n"
	"   3  if cold: have 8086:10ca registered by new_id, once for all its PFs\n"
	"   4  if cold: sriov_drivers_autoprobe to 0\n"
	"   5  if cold: write 3 to sriov_numvfs\n"
	"   6  read sriov_offset and sriov_stride, compute every address\n"
	"   7  if warm: see which VFs are bound to what\n"
	"   8  bind VFs 0-2 to vfio-pci by the registered id, autoprobe at 1\n"
	"   9  sriov_drivers_autoprobe back to 1\n"
	"   price if cold: 5 reads, 1 links, 6 writes; 0 nodes in VF directories\n"
	"\n"
	"Price of the whole if all is cold: 11 reads, 2 links, 15 writes; 3 nodes in VF directories\n"
	"  driver                   link       2\n"
	"  modalias                 read       2\n"
	"  serial_number            read       1\n"
	"  sriov_numvfs             read       2\n"
	"  sriov_numvfs             write      2\n"
	"  sriov_drivers_autoprobe  read       2\n"
	"  sriov_drivers_autoprobe  write      2\n"
	"  sriov_offset             read       2\n"
	"  sriov_stride             read       2\n"
	"  vf/driver_override       write      3\n"
	"  bind                     write      6\n"
	"  new_id                   write      1\n"
	"  remove_id                write      1\n"
	"  device nodes             open       6\n";

static void a_plan_reads_step_by_step(void **state)
{
	struct canned_plan c;
	char *text;

	assert_int_equal(canned_plan_make(&c), 0);
	text = print(&c.plan);
	assert_string_equal(text, golden);
	free(text);
	plan_done(&c.plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_reads_step_by_step),
	};

	return cmocka_run_group_tests_name("plan-text", tests, NULL, NULL);
}
