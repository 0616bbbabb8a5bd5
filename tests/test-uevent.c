/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include "uevent.h"

#define P "/devices/pci0000:00/0000:00:01.0/0000:01:00.1"

/* Takes a literal with NULs inside. */
#define parse(text, ret) parse_bytes(text, sizeof(text), ret)

static int parse_bytes(const char *bytes, size_t size, struct uevent *ret)
{
	static char message[UEVENT_SIZE_MAX];

	assert_true(size < sizeof(message));
	memcpy(message, bytes, size);
	return uevent_parse(message, size, ret);
}

static void assert_address(struct bdf b, const char *text)
{
	char found[BDF_STRLEN + 1];

	(void) bdf_format(b, found);
	assert_string_equal(found, text);
}

static void a_device_with_a_cdev(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@" P "/vfio-dev/vfio7\0ACTION=add\0DEVPATH=" P
			       "/vfio-dev/vfio7\0SUBSYSTEM=vfio-dev\0MAJOR=240\0MINOR=7\0"
			       "DEVNAME=vfio/devices/vfio7\0SEQNUM=2000",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_DEVICE_ADD);
	assert_address(e.bdf, "0000:01:00.1");
	assert_true(e.has_node);
	assert_false(e.noiommu);
	assert_int_equal(e.number, 7);
	assert_int_equal(e.seqnum, 2000);
}

static void a_device_without_a_cdev_as_on_stock_kernels(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@" P "/vfio-dev/vfio7\0ACTION=add\0SUBSYSTEM=vfio-dev\0SEQNUM=1",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_DEVICE_ADD);
	assert_false(e.has_node);
}

static void b17_nodes_without_iommu_are_marked(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@/devices/virtual/vfio/noiommu-3\0SUBSYSTEM=vfio\0"
			       "DEVNAME=vfio/noiommu-3\0SEQNUM=1",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_GROUP_ADD);
	assert_true(e.noiommu);
	assert_int_equal(e.number, 3);
	assert_int_equal(parse("add@" P "/vfio-dev/vfio0\0SUBSYSTEM=vfio-dev\0"
			       "DEVNAME=vfio/devices/noiommu-vfio0\0SEQNUM=1",
			       &e),
			 0);
	assert_true(e.noiommu && e.has_node);
}

static void a_group(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@/devices/virtual/vfio/14\0SUBSYSTEM=vfio\0MAJOR=239\0MINOR=0\0"
			       "DEVNAME=vfio/14\0SEQNUM=9",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_GROUP_ADD);
	assert_int_equal(e.number, 14);
}

static void the_container_is_no_group(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@/devices/virtual/misc/vfio\0SUBSYSTEM=vfio\0DEVNAME=vfio/vfio\0"
			       "SEQNUM=9",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_OTHER);
}

static void pci_functions_come_are_bound_and_go(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@" P "\0SUBSYSTEM=pci\0PCI_SLOT_NAME=0000:01:00.1\0SEQNUM=1",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_PCI_ADD);
	assert_address(e.bdf, "0000:01:00.1");
	assert_int_equal(parse("bind@" P "\0SUBSYSTEM=pci\0DRIVER=vfio-pci\0"
			       "PCI_SLOT_NAME=0000:01:00.1\0SEQNUM=1",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_PCI_BIND);
	assert_string_equal(e.driver, "vfio-pci");
	assert_int_equal(parse("remove@" P "\0SUBSYSTEM=pci\0PCI_SLOT_NAME=0000:01:00.1\0SEQNUM=1",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_PCI_REMOVE);
	assert_int_equal(parse("remove@" P "/vfio-dev/vfio1\0SUBSYSTEM=vfio-dev\0SEQNUM=1", &e), 0);
	assert_int_equal(e.kind, UEVENT_DEVICE_REMOVE);
}

static void other_events_are_none_of_ours(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("change@" P "\0SUBSYSTEM=pci\0PCI_SLOT_NAME=0000:01:00.1\0SEQNUM=1",
			       &e),
			 0);
	assert_int_equal(e.kind, UEVENT_OTHER);
	assert_int_equal(parse("add@/devices/virtual/net/eth0\0SUBSYSTEM=net\0SEQNUM=1", &e), 0);
	assert_int_equal(e.kind, UEVENT_OTHER);
	assert_int_equal(
		parse("add@/devices/platform/x/vfio-dev/vfio1\0SUBSYSTEM=vfio-dev\0SEQNUM=1", &e),
		0);
	assert_int_equal(e.kind, UEVENT_OTHER);
}

static void what_is_no_event_is_malformed(void **state)
{
	static const char *const texts[] = {
		"", "@", "add", "add@", "add@devices", "@/devices", "libudev", "add@/x",
	};
	struct uevent e;

	(void) state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++)
		assert_int_equal(parse_bytes(texts[i], strlen(texts[i]), &e), UEVENT_E_MALFORMED);
	assert_int_equal(parse("add@/x\0SUBSYSTEM=pci", &e), UEVENT_E_MALFORMED);
	assert_int_equal(parse("add@/x\0SEQNUM=1", &e), UEVENT_E_MALFORMED);
	assert_int_equal(parse("add@/x\0SUBSYSTEM=pci\0SEQNUM=", &e), UEVENT_E_MALFORMED);
	assert_int_equal(parse("add@/x\0SUBSYSTEM=pci\0SEQNUM=18446744073709551616", &e),
			 UEVENT_E_MALFORMED);
}

static void numbers_are_bounded(void **state)
{
	struct uevent e;

	(void) state;
	assert_int_equal(parse("add@/x\0SUBSYSTEM=vfio\0DEVNAME=vfio/4294967295\0SEQNUM=1", &e), 0);
	assert_int_equal(e.kind, UEVENT_GROUP_ADD);
	assert_int_equal(parse("add@/x\0SUBSYSTEM=vfio\0DEVNAME=vfio/4294967296\0SEQNUM=1", &e), 0);
	assert_int_equal(e.kind, UEVENT_OTHER);
	assert_int_equal(parse("add@/x\0SUBSYSTEM=vfio\0DEVNAME=vfio/1x\0SEQNUM=1", &e), 0);
	assert_int_equal(e.kind, UEVENT_OTHER);
	assert_int_equal(parse("add@/x\0SUBSYSTEM=vfio\0DEVNAME=vfio/\0SEQNUM=1", &e), 0);
	assert_int_equal(e.kind, UEVENT_OTHER);
}

static void u2_the_socket_has_the_buffer_asked_for(void **state)
{
	struct uevents u;
	socklen_t len = sizeof(int);
	int size = 0;

	(void) state;
	assert_int_equal(uevents_open(&u, 64 << 20), 0);
	assert_int_equal(getsockopt(u.fd, SOL_SOCKET, SO_RCVBUF, &size, &len), 0);
	if (geteuid() == 0)
		assert_int_equal(size, 2 * (64 << 20)); /* the kernel doubles it */
	assert_true(size > 0);
	uevents_close(&u);
	assert_int_equal(u.fd, -1);
}

static void an_empty_socket_has_nothing(void **state)
{
	static char message[UEVENT_SIZE_MAX];
	struct uevents u;
	struct uevent e;

	(void) state;
	assert_int_equal(uevents_open(&u, 1 << 20), 0);
	assert_int_equal(uevents_next(&u, message, &e), UEVENT_E_NOTHING);
	uevents_close(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_with_a_cdev),
		cmocka_unit_test(a_device_without_a_cdev_as_on_stock_kernels),
		cmocka_unit_test(b17_nodes_without_iommu_are_marked),
		cmocka_unit_test(a_group),
		cmocka_unit_test(the_container_is_no_group),
		cmocka_unit_test(pci_functions_come_are_bound_and_go),
		cmocka_unit_test(other_events_are_none_of_ours),
		cmocka_unit_test(what_is_no_event_is_malformed),
		cmocka_unit_test(numbers_are_bounded),
		cmocka_unit_test(u2_the_socket_has_the_buffer_asked_for),
		cmocka_unit_test(an_empty_socket_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
