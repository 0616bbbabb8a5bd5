/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * model - the simulated host: PCI functions, drivers, SR-IOV, IOMMU groups, VFIO devices.
 *
 * Holds what the kernel would hold, without any file system; tree.c gives it names. Semantics are
 * those of Linux 7.3 (the source file is named at each function). There is one host a process.
 *
 * Locks, outermost first: a PF's device lock, cost locks, a VF's device lock, model.mutex. The
 * mutex is held for the moment of a change and its uevents; the others across simulated costs.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define _must_check_ __attribute__((warn_unused_result))
#define _printf_(a, b) __attribute__((format(printf, a, b)))

enum device_kind { DEVICE_HOST, DEVICE_PORT, DEVICE_PF, DEVICE_VF };

struct pci_id {
	uint32_t vendor, device, subvendor, subdevice, class, class_mask;
	bool override_only;
};
enum { PCI_ANY = 0xffffffff };

struct dynid {
	struct pci_id id;
	struct dynid *next;
};

struct driver {
	unsigned index;
	char name[40];
	bool registered; /* drivers/<name> is there */
	const struct pci_id *ids;
	size_t n_ids;
	struct dynid *dynids;
	bool is_vfio;
	bool sriov;        /* has sriov_configure */
	bool drops_vfs;    /* its remove() disables SR-IOV (igb), or leaves the VFs (nvme) */
	unsigned async_ms; /* probes in the background after that time; 0: at once */
	struct device *first, *last;
};

struct group {
	unsigned id;
	struct device *first, *last;
	unsigned vfio_devices; /* > 0: the node /dev/vfio/<id> is there */
	unsigned minor;
	unsigned opened;
};

/* What --pf described; lives as long as the host, the device may come and go. */
struct pf_config {
	unsigned index;
	uint32_t domain;
	uint8_t bus, devfn;
	uint16_t vendor, device, vf_device, subvendor, subdevice;
	uint32_t class;
	unsigned offset, stride, totalvfs, numvfs;
	bool autoprobe, wakeup, shared_group;
	char serial[40];
	char driver[40];                    /* "": none */
	char bound[40];                     /* driver of VFs preset by numvfs; "": none */
	double driver_after, appears_after; /* seconds; < 0: never by itself */
	double vf_delay, vf_interval;       /* seconds between numvfs and the VFs */
	double *vf_late;                    /* per VF, seconds after the write; NULL: none */
	struct device *port, *function;
};

struct sriov {
	struct pf_config *config;
	unsigned totalvfs, numvfs, offset, stride;
	uint16_t vf_device;
	bool autoprobe;
	unsigned generation; /* of the VFs; a late VF of an earlier one never comes */
	unsigned missing;    /* VFs that are still to come */
	struct device **vfs; /* by index; NULL: not there */
};

struct device {
	uint32_t number; /* index in model.devices, never used again */
	enum device_kind kind;
	char name[24];
	uint32_t domain;
	uint16_t rid;
	uint16_t vendor, device, subvendor, subdevice;
	uint32_t class;
	bool alive;
	bool ready; /* may be bound (pci_dev_allow_binding) */
	struct device *parent, *first_child, *last_child, *next_sibling, *prev_sibling;
	struct device *bus_next, *bus_prev; /* in order of registration */
	struct device *hash_next;
	char *override;
	struct driver *driver;
	bool linked;  /* the driver links are there: false while remove() sleeps */
	bool probing; /* in the background */
	struct device *driver_next, *driver_prev;
	struct group *group;
	struct device *group_next;
	int wakeup, vfio;  /* numbers of its wakeup source and its VFIO device; -1: none */
	unsigned opened;   /* of its VFIO device node */
	struct device *pf; /* of a VF */
	unsigned vf_index;
	struct sriov *sriov;  /* of a PF */
	pthread_mutex_t lock; /* the device lock; recursive for the sake of faults.c */
	uint64_t seen[2];     /* bits of nodes that a lazy sysfs would have made */
	unsigned n_lookups, n_readdirs;
	bool forgotten; /* gone before the counts were reset */
};

struct numbers {
	uint64_t *words;
	size_t n_words, hint;
};

enum { HASH_SIZE = 1 << 14, DRIVERS_MAX = 64, PFS_MAX = 512, VFIO_MAX = 1 << 16 };

struct model {
	pthread_mutex_t mutex;
	pthread_cond_t released; /* a VFIO node was closed */
	_Atomic bool booting;    /* no uevents yet */
	bool cdev, group_nodes, noiommu, enable_sriov;
	_Atomic bool bus_autoprobe;
	bool ending; /* the program is dying: nobody is waited for any more */
	struct device **devices;
	size_t n_devices, size_devices;
	struct device *hash[HASH_SIZE];
	struct device *first, *last; /* the bus's list */
	struct driver drivers[DRIVERS_MAX];
	unsigned n_drivers;
	struct pf_config pfs[PFS_MAX];
	unsigned n_pfs;
	struct group *groups[VFIO_MAX];
	struct device *vfios[VFIO_MAX];
	struct numbers group_ids, group_minors, vfio_ids, wakeup_ids;
	uint64_t n_vfs, n_nodes; /* VFs ever made and the nodes an eager sysfs made in them */
};

extern struct model model;

static inline void model_lock(void)
{
	pthread_mutex_lock(&model.mutex);
}
static inline void model_unlock(void)
{
	pthread_mutex_unlock(&model.mutex);
}
void *must_alloc(size_t n, size_t size);
char *must_dup(const char *text);

/* bus.c: needs the mutex where not said otherwise */
void model_init(void);
struct device *bus_find(const char *name);      /* exactly as spelled; NULL: none */
struct device *bus_find_line(const char *text); /* like sysfs_streq: one newline more is right */
struct device *bus_new(enum device_kind kind, struct device *parent, uint32_t domain, uint16_t rid);
void bus_announce(struct device *d);                   /* group, wakeup source, uevents */
void bus_remove(struct device *d);                     /* unbound before */
struct device *bus_port(uint32_t domain, uint8_t bus); /* the port above a bus, made when missing */
int numbers_take(struct numbers *n);                   /* the lowest free one */
void numbers_give(struct numbers *n, int number);
struct group *group_join(struct device *d, struct group *shared);
void group_leave(struct device *d);

/* driver.c: take the locks themselves, but driver_find and driver_matches */
struct driver *driver_find(const char *name);
struct driver *driver_declare(const char *name);
int driver_register(const char *name) _must_check_;
int driver_unregister(const char *name) _must_check_;
bool driver_matches(const struct driver *r, const struct device *d);
int driver_bind(struct driver *r, const char *text) _must_check_;
int driver_unbind(struct driver *r, const char *text) _must_check_;
int driver_new_id(struct driver *r, const char *text) _must_check_;
int driver_remove_id(struct driver *r, const char *text) _must_check_;
int driver_set_override(struct device *d, const char *text, size_t len) _must_check_;
int driver_probe(const char *text) _must_check_; /* bus/pci/drivers_probe */
void driver_initial_probe(struct device *d);
void driver_release(struct device *d);        /* unbinds, if bound; sleeps while it is held open */
void driver_release_locked(struct device *d); /* the same; the device lock is the caller's */

/* sriov.c: take the locks themselves */
int sriov_set_numvfs(struct device *pf, const char *text) _must_check_;
int sriov_get_numvfs(struct device *pf, unsigned *ret) _must_check_;
int sriov_set_autoprobe(struct device *pf, const char *text) _must_check_;
void sriov_drop_vfs(struct device *pf); /* the PF's device lock is the caller's */
void sriov_add_late(struct device *pf, unsigned index, unsigned generation);
void sriov_appear(struct pf_config *c);
void sriov_vanish(struct device *d);

/* vfio.c: need the mutex */
void vfio_attach(struct device *d);
void vfio_detach(struct device *d); /* may release the mutex and sleep */
int vfio_open_device(struct device *d) _must_check_;
int vfio_open_group(struct group *g) _must_check_;
void vfio_close_device(struct device *d);
void vfio_close_group(struct group *g);
void vfio_device_name(const struct device *d, char ret[static 32]);
void vfio_group_name(const struct group *g, char ret[static 32]);
