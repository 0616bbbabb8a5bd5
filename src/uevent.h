/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * uevent - the kernel's device events: the socket, who may speak on it, what they say.
 *
 * Source: lib/kobject_uevent.c; a message is "ACTION@DEVPATH\0KEY=VALUE\0...", at most 2048 bytes
 * and 64 keys, one a datagram, without nlmsghdr.
 */
#include "base.h"
#include "bdf.h"

struct nl_sock;

enum uevent_kind {
	UEVENT_OTHER,      /* sound, but none of ours */
	UEVENT_PCI_ADD,    /* bdf */
	UEVENT_PCI_BIND,   /* bdf, driver */
	UEVENT_PCI_REMOVE, /* bdf */
	UEVENT_GROUP_ADD,  /* number, noiommu: the node vfio/<number> */
	UEVENT_DEVICE_ADD, /* bdf; has_node, number, noiommu: the node vfio/devices/vfio<number> */
	UEVENT_DEVICE_REMOVE, /* bdf */
	_UEVENT_KIND_MAX,
};

struct uevent {
	enum uevent_kind kind;
	struct bdf bdf;
	const char *driver; /* of UEVENT_PCI_BIND; points into the message */
	bool has_node, noiommu;
	unsigned number;
	uint64_t seqnum;
};

struct uevents {
	struct nl_sock *socket;
	int fd;               /* for the loop; readable when there is something to receive */
	uint64_t n_received;  /* messages, ours or not */
	uint64_t n_untrusted; /* thrown away: not from the kernel */
	uint64_t n_overruns;
};

enum {
	_UEVENT_E_SUCCESS,
	UEVENT_E_NOTHING,   /* the socket is empty */
	UEVENT_E_OVERRUN,   /* the kernel dropped events: look again at everything (resync) */
	UEVENT_E_MALFORMED, /* of uevent_parse only */
};

enum { UEVENT_SIZE_MAX = 8192 }; /* the kernel's 2048, and room to notice a larger one */

/* Opens the socket with a receive buffer of buffer_size bytes, forced (CAP_NET_ADMIN); without
 * the right to force, what rmem_max grants. */
int uevents_open(struct uevents *u, size_t buffer_size) _must_check_;
void uevents_close(struct uevents *u);

/* The next event of the kernel; message is the caller's memory, *ret points into it.
 * Skips what is not from the kernel or not sound. Never blocks. */
int uevents_next(struct uevents *u, char message[static UEVENT_SIZE_MAX], struct uevent *ret)
	_must_check_;

/* Reads one message of `size` bytes; message[size] is overwritten with NUL. */
int uevent_parse(char *message, size_t size, struct uevent *ret) _must_check_;
