/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "count.h"
#include "entries.h"
#include "faults.h"
#include "uevent-send.h"

static int uevent_fd = -1;
static struct {
	struct nlmsghdr header;
	char text[2048];
} message;
static size_t n_text;
static char devpath[512];

int uevents_open(void)
{
	uevent_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	return uevent_fd < 0 ? -errno : 0;
}

_printf_(1, 2) static void key(const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(message.text + n_text, sizeof(message.text) - n_text, format, list);
	va_end(list);
	if (n > 0 && n_text + (size_t) n + 1 < sizeof(message.text))
		n_text += (size_t) n + 1;
}

_printf_(3, 4) static void begin(const char *action, const char *subsystem, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(devpath, sizeof(devpath), format, list);
	va_end(list);
	n_text = 0;
	key("%s@%s", action, devpath);
	key("ACTION=%s", action);
	key("DEVPATH=%s", devpath);
	key("SUBSYSTEM=%s", subsystem);
}

static void send_it(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (model.booting || uevent_fd < 0 || faults_drop_uevent(message.text))
		return;
	count_uevent();
	message.header = (struct nlmsghdr){
		.nlmsg_len = (uint32_t) (NLMSG_HDRLEN + n_text),
		.nlmsg_type = NLMSG_MIN_TYPE,
		.nlmsg_flags = NLM_F_REQUEST,
	};
	while (sendto(uevent_fd, &message, message.header.nlmsg_len, 0, (struct sockaddr *) &kernel,
		      sizeof(kernel)) < 0)
		if (errno != EINTR) {
			fprintf(stderr, "hostsim: failed to send '%s': %m\n", message.text);
			return;
		}
}

static void modalias(const struct device *d, char ret[static 80])
{
	snprintf(ret, 80, "MODALIAS=pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X", d->vendor,
		 d->device, d->subvendor, d->subdevice, d->class >> 16 & 255, d->class >> 8 & 255,
		 d->class & 255);
}

/* drivers/pci/pci-driver.c: pci_uevent(); an unbind event has no MODALIAS
 * (lib/kobject_uevent.c: zap_modalias_env). */
static void pci_keys(const struct device *d, bool with_modalias)
{
	char text[80];

	if (d->driver)
		key("DRIVER=%s", d->driver->name);
	key("PCI_CLASS=%04X", d->class);
	key("PCI_ID=%04X:%04X", d->vendor, d->device);
	key("PCI_SUBSYS_ID=%04X:%04X", d->subvendor, d->subdevice);
	key("PCI_SLOT_NAME=%s", d->name);
	if (!with_modalias)
		return;
	modalias(d, text);
	key("%s", text);
}

void uevent_pci(const char *action, const struct device *d, const char *const *extra)
{
	char path[256];

	entries_device_path(d, path, sizeof(path));
	begin(action, "pci", "%s", path);
	for (; extra && *extra; extra++)
		key("%s", *extra);
	pci_keys(d, strcmp(action, "unbind") != 0);
	send_it();
}

size_t uevent_pci_text(const struct device *d, char *ret, size_t size)
{
	n_text = 0;
	pci_keys(d, true);
	for (size_t i = 0; i < n_text; i++)
		if (!message.text[i])
			message.text[i] = '\n';
	return (size_t) snprintf(ret, size, "%.*s", (int) n_text, message.text);
}

void uevent_wakeup(const char *action, const struct device *d)
{
	char path[256];

	entries_device_path(d, path, sizeof(path));
	begin(action, "wakeup", "%s/wakeup/wakeup%d", path, d->wakeup);
	send_it();
}

void uevent_vfio_dev(const char *action, const struct device *d)
{
	char path[256], name[32];

	entries_device_path(d, path, sizeof(path));
	vfio_device_name(d, name);
	begin(action, "vfio-dev", "%s/vfio-dev/%s", path, name);
	if (model.cdev) {
		key("MAJOR=%d", MAJOR_CDEV);
		key("MINOR=%d", d->vfio);
		key("DEVNAME=vfio/devices/%s", name);
	}
	send_it();
}

void uevent_vfio_group(const char *action, const struct group *g)
{
	char name[32];

	vfio_group_name(g, name);
	begin(action, "vfio", "/devices/virtual/vfio/%s", name);
	key("MAJOR=%d", MAJOR_GROUP);
	key("MINOR=%u", g->minor);
	key("DEVNAME=vfio/%s", name);
	send_it();
}

/* lib/kobject_uevent.c: kobject_synth_uevent(): "ACTION [UUID [KEY=VALUE ...]]" */
int uevent_synthetic(const struct device *d, const char *text)
{
	static const char *const actions[] = { "add",    "remove",  "change", "move",
					       "online", "offline", "bind",   "unbind" };
	char copy[512], keys[16][80], *rest, *word;
	const char *extra[17], *action = NULL;
	size_t n = 0;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int) sizeof(copy))
		return -EINVAL;
	copy[strcspn(copy, "\n")] = 0;
	word = strtok_r(copy, " ", &rest);
	for (size_t i = 0; word && i < sizeof(actions) / sizeof(*actions); i++)
		if (strcmp(word, actions[i]) == 0)
			action = actions[i];
	if (!action)
		return -EINVAL;
	word = strtok_r(NULL, " ", &rest);
	if (word && (strlen(word) != 36 || strspn(word, "0123456789abcdefABCDEF-") != 36))
		return -EINVAL;
	snprintf(keys[n], sizeof(keys[n]), "SYNTH_UUID=%s", word ?: "0");
	extra[n] = keys[n];
	for (n = 1; word && (word = strtok_r(NULL, " ", &rest)); n++) {
		if (n == 16 || !strchr(word, '=') ||
		    word[strspn(word, "=abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")])
			return -EINVAL;
		snprintf(keys[n], sizeof(keys[n]), "SYNTH_ARG_%.60s", word);
		extra[n] = keys[n];
	}
	extra[n] = NULL;
	uevent_pci(action, d, extra);
	return 0;
}
