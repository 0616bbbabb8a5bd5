/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cause.h"

static const struct {
	const char *name, *meaning, *advice;
} causes[] = {
	[CAUSE_NONE] = {
		.name = "none",
		.meaning = "nothing is wrong",
		.advice = "nothing to do",
	},
	[CAUSE_PF_ABSENT] = {
		.name = "pf-absent",
		.meaning = "there is no such physical function",
		.advice = "check the slot with lspci; a device that moved or went "
				"needs a new capture",
	},
	[CAUSE_PF_NO_DRIVER] = {
		.name = "pf-no-driver",
		.meaning = "the physical function has no driver that can create VFs",
		.advice = "load or bind the PF's own driver and restore again; its "
				"start is in the kernel log",
	},
	[CAUSE_PF_CHANGED] = {
		.name = "pf-changed",
		.meaning = "another device is where the physical function was",
		.advice = "put the device back into its slot, or capture again",
	},
	[CAUSE_NUMBER_DIFFERS] = {
		.name = "number-differs",
		.meaning = "the physical function has another number of VFs than "
				"promised",
		.advice = "free its VFs and write 0 to sriov_numvfs by hand, or "
				"capture again",
	},
	[CAUSE_TOO_MANY] = {
		.name = "too-many",
		.meaning = "the firmware's limit, sriov_totalvfs, is below the number "
				"of VFs",
		.advice = "raise the number of VFs in the card's firmware settings, "
				"or capture with fewer",
	},
	[CAUSE_NO_MMIO] = {
		.name = "no-mmio",
		.meaning = "the bridge above has too little MMIO space for the VFs",
		.advice = "see the kernel log; enable SR-IOV and above-4G decoding "
				"in the firmware setup, or boot with pci=realloc",
	},
	[CAUSE_NO_BUS_NUMBERS] = {
		.name = "no-bus-numbers",
		.meaning = "the VFs need bus numbers that the bridge above does not "
				"have",
		.advice = "boot with pci=assign-busses or pci=hpbussize=, or use a "
				"slot with ARI",
	},
	[CAUSE_NO_VECTORS] = {
		.name = "no-vectors",
		.meaning = "the device or the host has too few interrupt vectors or "
				"other resources",
		.advice = "use fewer VFs or queues; the kernel log names the resource",
	},
	[CAUSE_NO_MEMORY] = {
		.name = "no-memory",
		.meaning = "memory or file descriptors ran out",
		.advice = "free memory, or raise LimitNOFILE= of the service, and "
				"restore again",
	},
	[CAUSE_NOT_PERMITTED] = {
		.name = "not-permitted",
		.meaning = "the kernel does not permit it",
		.advice = "run as root with the capabilities of the unit file; look "
				"for denials of SELinux or AppArmor (ausearch -m avc), for "
				"lockdown, and for DevicePolicy= of the cgroup",
	},
	[CAUSE_REFUSED_BY_PF_DRIVER] = {
		.name = "refused-by-pf-driver",
		.meaning = "the driver of the physical function refused to create the "
				"VFs",
		.advice = "see the kernel log; some drivers want the link up or "
				"another mode of the card first",
	},
	[CAUSE_VF_GONE] = {
		.name = "vf-gone",
		.meaning = "the VF is no longer there",
		.advice = "see the kernel log for a reset or an unbound PF driver, "
				"and restore again",
	},
	[CAUSE_VF_MOVED] = {
		.name = "vf-moved",
		.meaning = "the VF is at another address than promised",
		.advice = "capture again; firmware or kernel lays out the VFs "
				"differently now",
	},
	[CAUSE_DRIVER_ABSENT] = {
		.name = "driver-absent",
		.meaning = "the VF's driver is not in the kernel",
		.advice = "load its module; modprobe -v tells what hinders it",
	},
	[CAUSE_NOT_BOUND] = {
		.name = "not-bound",
		.meaning = "the VF has no driver after the bind",
		.advice = "see the kernel log for a failed probe; does "
				"driver_override name the driver?",
	},
	[CAUSE_WRONG_DRIVER] = {
		.name = "wrong-driver",
		.meaning = "another driver has the VF",
		.advice = "find who bound it (udev rules, driverctl, a module loaded "
				"too early), and restore again",
	},
	[CAUSE_REFUSED_BY_DRIVER] = {
		.name = "refused-by-driver",
		.meaning = "the VF's driver refused the VF",
		.advice = "see the kernel log for its reason",
	},
	[CAUSE_NO_IOMMU] = {
		.name = "no-iommu",
		.meaning = "the VF is in no IOMMU group, so VFIO refuses it",
		.advice = "enable the IOMMU in the firmware setup and with "
				"intel_iommu=on or the like; AllowNoIommu= is for tests",
	},
	[CAUSE_TOKEN_NEEDED] = {
		.name = "token-needed",
		.meaning = "access to the VF's device is denied: its PF is bound to "
				"vfio-pci and wants a VF token, or a security module "
				"forbids it",
		.advice = "give the VMM the PF's VF token, or bind the PF to its own "
				"driver; look for denials of SELinux or AppArmor",
	},
	[CAUSE_HELD] = {
		.name = "held",
		.meaning = "another process has the VF's device open",
		.advice = "find it with fuser /dev/vfio/* /dev/vfio/devices/* and "
				"end it, or leave it the VF",
	},
	[CAUSE_NO_NODE] = {
		.name = "no-node",
		.meaning = "the VF has no device node",
		.advice = "is devtmpfs mounted on /dev, and has the kernel "
				"VFIO_GROUP or VFIO_DEVICE_CDEV?",
	},
	[CAUSE_STUCK] = {
		.name = "stuck",
		.meaning = "the kernel did not come back in time",
		.advice = "see the kernel log and /proc/PID/stack of the thread; an "
				"open VFIO device can hold up an unbind",
	},
	[CAUSE_PF_FAILED] = {
		.name = "pf-failed",
		.meaning = "its physical function failed",
		.advice = "see the cause of the PF",
	},
	[CAUSE_INPUT_OUTPUT] = {
		.name = "input-output",
		.meaning = "the kernel or the device failed without telling why",
		.advice = "see the kernel log",
	},
};
_Static_assert(ELEMENTSOF(causes) == _CAUSE_MAX, "a row for each cause");

/* CAUSE_NONE in the table: not foreseen at this place, its default holds. */
struct row {
	int error;
	enum cause cause;
};

enum { ROWS_MAX = 12 };

/*
 * drivers/pci/iov.c, sriov_numvfs_store() and sriov_enable(): ENOENT no driver or none that
 * can, ERANGE above sriov_totalvfs, EBUSY another number is enabled. ENOMEM is MMIO or bus
 * numbers; which of them, the lane knows by arithmetic. The rest comes from PF drivers. A file that
 * is removed while it is open gives ENODEV (fs/kernfs/file.c). Bind: drivers/base/bus.c and the
 * probe; vfio without an IOMMU group gives EINVAL (drivers/vfio/group.c).
 */
static const struct {
	const char *name;
	enum cause otherwise;
	struct row rows[ROWS_MAX];
} places[] = {
	[PLACE_PF_LOOK] = { "first look at the PF",
			    CAUSE_INPUT_OUTPUT,
			    { { ENOENT, CAUSE_PF_ABSENT },
			      { ENODEV, CAUSE_PF_ABSENT },
			      { ENXIO, CAUSE_PF_ABSENT },
			      { ENOTDIR, CAUSE_PF_ABSENT } } },
	[PLACE_ENABLE] = { "write to sriov_numvfs",
			   CAUSE_REFUSED_BY_PF_DRIVER,
			   { { ENOENT, CAUSE_PF_NO_DRIVER },
			     { ERANGE, CAUSE_TOO_MANY },
			     { ENOMEM, CAUSE_NO_MMIO },
			     { ENOSPC, CAUSE_NO_VECTORS },
			     { EBUSY, CAUSE_NUMBER_DIFFERS },
			     { ENODEV, CAUSE_PF_ABSENT },
			     { ENXIO, CAUSE_PF_ABSENT } } },
	[PLACE_AUTOPROBE] = { "write to sriov_drivers_autoprobe",
			      CAUSE_INPUT_OUTPUT,
			      { { ENOENT, CAUSE_PF_ABSENT }, { ENODEV, CAUSE_PF_ABSENT } } },
	[PLACE_LAYOUT] = { "read of sriov_offset and sriov_stride",
			   CAUSE_INPUT_OUTPUT,
			   { { ENOENT, CAUSE_PF_ABSENT },
			     { ENODEV, CAUSE_PF_ABSENT },
			     { ERANGE, CAUSE_NO_BUS_NUMBERS } } },
	[PLACE_DRIVER] = { "opening the driver's bind or new_id",
			   CAUSE_INPUT_OUTPUT,
			   { { ENOENT, CAUSE_DRIVER_ABSENT }, { ENODEV, CAUSE_DRIVER_ABSENT } } },
	[PLACE_OVERRIDE] = { "write to driver_override",
			     CAUSE_INPUT_OUTPUT,
			     { { ENOENT, CAUSE_VF_GONE }, { ENODEV, CAUSE_VF_GONE } } },
	[PLACE_UNBIND] = { "write to unbind",
			   CAUSE_INPUT_OUTPUT,
			   { { ENOENT, CAUSE_DRIVER_ABSENT }, { ENODEV, CAUSE_VF_GONE } } },
	[PLACE_BIND] = { "write to bind",
			 CAUSE_REFUSED_BY_DRIVER,
			 { { ENODEV, CAUSE_NOT_BOUND },
			   { EAGAIN, CAUSE_NOT_BOUND },
			   { EBUSY, CAUSE_WRONG_DRIVER },
			   { EINVAL, CAUSE_NO_IOMMU } } },
	[PLACE_ID] = { "write to new_id",
		       CAUSE_REFUSED_BY_DRIVER,
		       { { ENOENT, CAUSE_DRIVER_ABSENT } } },
	[PLACE_PROOF] = { "look at what the VF is bound to",
			  CAUSE_INPUT_OUTPUT,
			  { { ENOENT, CAUSE_NOT_BOUND }, { ENODEV, CAUSE_VF_GONE } } },
	[PLACE_NODE] = { "opening the VFIO device node",
			 CAUSE_INPUT_OUTPUT,
			 { { EBUSY, CAUSE_HELD },
			   { EACCES, CAUSE_TOKEN_NEEDED },
			   { ENOENT, CAUSE_NO_NODE },
			   { ENODEV, CAUSE_NO_NODE },
			   { ENXIO, CAUSE_NO_NODE } } },
};
_Static_assert(ELEMENTSOF(places) == _PLACE_MAX, "a row for each place");

/* What an errno means wherever it comes from, unless the place knows better. */
static const struct row everywhere[] = {
	{ EPERM, CAUSE_NOT_PERMITTED }, { EACCES, CAUSE_NOT_PERMITTED },
	{ EROFS, CAUSE_NOT_PERMITTED }, { ENOMEM, CAUSE_NO_MEMORY },
	{ EMFILE, CAUSE_NO_MEMORY },    { ENFILE, CAUSE_NO_MEMORY },
	{ EIO, CAUSE_INPUT_OUTPUT },
};

static enum cause find(const struct row *rows, unsigned n, int error)
{
	for (unsigned i = 0; i < n; i++)
		if (rows[i].error == error)
			return rows[i].cause;
	return CAUSE_NONE;
}

enum cause cause_of(enum place place, int error)
{
	enum cause cause;

	assert(place < _PLACE_MAX);
	assert(error > 0);
	cause = find(places[place].rows, ROWS_MAX, error);
	if (cause == CAUSE_NONE)
		cause = find(everywhere, ELEMENTSOF(everywhere), error);
	return cause == CAUSE_NONE ? places[place].otherwise : cause;
}

const char *cause_name(enum cause c)
{
	assert(c < _CAUSE_MAX);
	return causes[c].name;
}

const char *cause_meaning(enum cause c)
{
	assert(c < _CAUSE_MAX);
	return causes[c].meaning;
}

const char *cause_advice(enum cause c)
{
	assert(c < _CAUSE_MAX);
	return causes[c].advice;
}

const char *place_name(enum place p)
{
	assert(p < _PLACE_MAX);
	return places[p].name;
}
