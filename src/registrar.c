/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include "registrar.h"
#include "thread.h"

void registrar_id_text(const struct plan_id_group *g, char ret[static REGISTRAR_ID_LEN])
{
	(void) stpcpy(stpcpy(stpcpy(ret, g->text), " "), g->driver); /* returns the end */
}

static void note(struct registrar *r, enum journal_word word)
{
	char text[REGISTRAR_ID_LEN];

	registrar_id_text(r->group, text);
	(void) !journal_write(r->journal, r->journal_pf, word, text); /* guests wait: go on */
}

static int write_id(struct registrar *r, enum sysfs_node node)
{
	_cleanup_(close_fd) int fd = -1;
	int e = sysfs_open_driver(&r->sysfs, node, r->group->driver, &fd);

	if (e)
		return e;
	return sysfs_write_driver(&r->sysfs, node, fd, r->group->text, strlen(r->group->text));
}

/* An unbound PF that has the id would be taken too. */
static bool pf_has_own_driver(struct registrar *r, const struct manifest_pf *pf)
{
	_cleanup_(close_fd) int fd = -1;
	char driver[MANIFEST_NAME_MAX + 1];

	if (sysfs_open_pf(&r->sysfs, pf->address, &fd))
		return false;
	r->n_looks++;
	return !sysfs_link_pf(&r->sysfs, fd, SYSFS_PF_DRIVER, driver, sizeof(driver)) &&
	       !strcmp(driver, pf->driver);
}

static enum registrar_state do_register(struct registrar *r)
{
	int e;

	r->looked = true;
	for (unsigned i = 0; i < r->group->n_pfs; i++)
		if (!pf_has_own_driver(r, r->group->pfs[i]))
			r->refused = true;
	if (r->refused)
		return REGISTRAR_REFUSED;
	note(r, JOURNAL_ID);
	e = write_id(r, SYSFS_DRIVER_NEW_ID);
	if (e == -EEXIST && !r->left)
		note(r, JOURNAL_ID_REMOVED); /* somebody else's: it serves, and stays */
	else if (!e || e == -EEXIST)
		r->registered = true;
	return !e || e == -EEXIST ? REGISTRAR_REGISTERED : REGISTRAR_FAILED;
}

/* ENODEV: it is gone already. Devices bound by it stay bound. */
static void take_back(struct registrar *r)
{
	int e;

	if (!r->registered && !r->left)
		return;
	r->registered = r->left = true;
	e = write_id(r, SYSFS_DRIVER_REMOVE_ID);
	if (e && e != -ENODEV && e != SYSFS_E_ABSENT)
		return; /* the journal says that it is left: the next run tries again */
	note(r, JOURNAL_ID_REMOVED);
	r->left = false;
}

static void *registrar_main(void *argument)
{
	struct registrar *r = argument;
	int report_fd = r->report_fd;

	thread_sleep(r->wake_fd);
	if (!atomic_load(&r->leave)) {
		atomic_store(&r->state, do_register(r));
		thread_tell(r->report_fd);
		thread_sleep(r->wake_fd);
	}
	take_back(r);
	atomic_store(&r->state, REGISTRAR_GONE); /* from here on r may be gone */
	thread_tell(report_fd);
	close_fd(&report_fd);
	return NULL;
}

int registrar_start(struct registrar *r)
{
	r->sysfs.tally = &r->tally;
	return thread_start(registrar_main, r);
}

void registrar_ask(struct registrar *r)
{
	if (atomic_load(&r->state) != REGISTRAR_IDLE)
		return;
	atomic_store(&r->state, REGISTRAR_AT_WORK);
	thread_tell(r->wake_fd);
}

void registrar_end(struct registrar *r)
{
	if (atomic_exchange(&r->leave, true))
		return;
	atomic_store(&r->state, REGISTRAR_LEAVING);
	thread_tell(r->wake_fd);
}

void registrar_price(const struct registrar *r, struct tally *ret)
{
	*ret = (struct tally){ 0 };
	ret->sysfs[SYSFS_PF_DRIVER][SYSFS_LINK] = r->n_looks;
	ret->sysfs[SYSFS_DRIVER_NEW_ID][SYSFS_WRITE] = r->looked && !r->refused;
	ret->sysfs[SYSFS_DRIVER_REMOVE_ID][SYSFS_WRITE] = r->registered;
}
