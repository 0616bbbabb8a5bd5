/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * uevent-send - knows how the kernel words its device events, and how a process may send them.
 *
 * A netlink message of type NLMSG_MIN_TYPE to NETLINK_KOBJECT_UEVENT is broadcast to the network
 * namespace it came from, from port 0 and with a SEQNUM (lib/kobject_uevent.c:
 * uevent_net_rcv_skb); only the credentials show that it is not the kernel's own.
 * All but uevents_open need the model's mutex.
 */
#include "model.h"

int uevents_open(void) _must_check_; /* in the network namespace of the host */
/* extra: keys of a synthetic event, or NULL */
void uevent_pci(const char *action, const struct device *d, const char *const *extra);
void uevent_wakeup(const char *action, const struct device *d);
void uevent_vfio_dev(const char *action, const struct device *d);
void uevent_vfio_group(const char *action, const struct group *g);
/* What a device's `uevent` file says: the keys of its bus and driver. */
size_t uevent_pci_text(const struct device *d, char *ret, size_t size);
/* A write to a device's `uevent` file. */
int uevent_synthetic(const struct device *d, const char *text) _must_check_;

enum { MAJOR_GROUP = 243, MAJOR_CDEV = 244 };
