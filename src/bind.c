/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "bind.h"

/* How long a lane waits for the baton before it takes the holder for stuck. */
enum { BATON_PATIENCE_MSEC = 500 };

static bool baton_take(struct baton *b)
{
	struct timespec until;

	if (!b->needed || atomic_load(&b->broken))
		return false;
	(void) clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail for a clock that exists */
	until.tv_nsec += BATON_PATIENCE_MSEC * (long) NSEC_PER_MSEC;
	if (until.tv_nsec >= (long) NSEC_PER_SEC) {
		until.tv_nsec -= (long) NSEC_PER_SEC;
		until.tv_sec++;
	}
	if (pthread_mutex_clocklock(&b->mutex, CLOCK_MONOTONIC, &until) == 0)
		return true;
	atomic_store(&b->broken, true);
	return false;
}

static void baton_give(struct baton *b, bool taken)
{
	if (taken)
		(void) pthread_mutex_unlock(&b->mutex); /* ours: cannot fail */
}

static void fail(struct lane *l, unsigned i, enum place place, int r)
{
	if (r == SYSFS_E_ABSENT)
		lane_fail_vf(l, i, place, CAUSE_VF_GONE, 0);
	else if (r == SYSFS_E_STRANGE)
		lane_fail_vf(l, i, place, CAUSE_INPUT_OUTPUT, 0);
	else
		lane_fail_vf(l, i, place, cause_of(place, -r), -r);
}

static void succeed(struct lane *l, unsigned i, enum vf_act act)
{
	struct vf_outcome *o = &l->outcomes[i];

	o->need = VF_NEEDS_NOTHING;
	o->done_ns = now_ns();
	atomic_store(&o->act, act);
}

static void fail_range(struct lane *l, const struct step *s, enum place place, int r)
{
	for (unsigned i = s->first; i < s->first + s->n; i++)
		if (l->outcomes[i].need == VF_NEEDS_BIND ||
		    l->outcomes[i].need == VF_NEEDS_REBIND) {
			if (r == SYSFS_E_ABSENT)
				lane_fail_vf(l, i, place, CAUSE_DRIVER_ABSENT, 0);
			else
				fail(l, i, place, r);
		}
}

bool bind_is_needed(const struct lane *l, const struct step *s)
{
	for (unsigned i = s->first; i < s->first + s->n; i++)
		if (l->outcomes[i].need != VF_NEEDS_NOTHING)
			return true;
	return false;
}

/* -- warm: what is there -- */

static void survey_vf(struct lane *l, unsigned i, const char *wanted)
{
	struct bdf vf = lane_vf_address(l, i);
	char driver[MANIFEST_NAME_MAX + 1];
	int r = sysfs_driver_has(&l->sysfs, wanted, vf);

	if (!r) {
		l->facts.n_right++;
		succeed(l, i, l->facts.warm ? VF_WAS_RIGHT : VF_BOUND_BY_US);
		return;
	}
	if (r != SYSFS_E_ABSENT) {
		fail(l, i, PLACE_PROOF, r);
		return;
	}
	l->facts.n_missing++;
	r = sysfs_link_vf(&l->sysfs, l->pf_fd, SYSFS_VF_DRIVER, vf, driver, sizeof(driver));
	if (!r && !strcmp(driver, wanted)) /* it came between the two looks */
		succeed(l, i, l->facts.warm ? VF_WAS_RIGHT : VF_BOUND_BY_US);
	else if (!r)
		l->outcomes[i].need = VF_NEEDS_REBIND;
	else if (r != SYSFS_E_ABSENT)
		fail(l, i, PLACE_PROOF, r);
}

bool bind_survey(struct lane *l)
{
	bool any = false;

	for (unsigned i = 0; i < l->plan->n_vfs; i++) {
		if (l->plan->vfs[i]->driver && l->outcomes[i].need == VF_NEEDS_BIND)
			survey_vf(l, i, l->plan->vfs[i]->driver);
		any |= atomic_load(&l->outcomes[i].act) == VF_WAS_RIGHT ||
		       atomic_load(&l->outcomes[i].act) == VF_BOUND_BY_US;
	}
	return any;
}

/* -- one by one -- */

static int unbind_vf(struct lane *l, const char *driver, const char *name, size_t len)
{
	_cleanup_(close_fd) int fd = -1;
	int r = sysfs_open_driver(&l->sysfs, SYSFS_DRIVER_UNBIND, driver, &fd);

	return r ? r : sysfs_write_driver(&l->sysfs, SYSFS_DRIVER_UNBIND, fd, name, len);
}

/* The VF worked with its wrong driver: it gets that back, by an override that makes the bind
 * possible whatever autoprobe is. "(null)" is how the kernel shows an override that is not set; an
 * empty line takes it away. Whatever comes of it, the VF is reported as failed. */
static void give_back(struct lane *l, struct bdf vf, const char *driver, const char *override)
{
	_cleanup_(close_fd) int fd = -1;
	char name[BDF_STRLEN + 1];
	size_t len = bdf_format(vf, name);
	int r;

	l->facts.in_vain = true;
	if (!strcmp(override, "(null)"))
		override = "\n";
	r = sysfs_write_vf(&l->sysfs, l->pf_fd, SYSFS_VF_OVERRIDE, vf, driver, strlen(driver));
	if (!r)
		r = sysfs_open_driver(&l->sysfs, SYSFS_DRIVER_BIND, driver, &fd);
	if (!r)
		r = sysfs_write_driver(&l->sysfs, SYSFS_DRIVER_BIND, fd, name, len);
	(void) !sysfs_write_vf(&l->sysfs, l->pf_fd, SYSFS_VF_OVERRIDE, vf, override,
			       strlen(override));
}

static void note_vf_was(struct lane *l, const char *vf, const char *driver, const char *override)
{
	char text[BDF_STRLEN + 1 + MANIFEST_NAME_MAX + 1 + MANIFEST_NAME_MAX + 1], *p;

	p = stpcpy(stpcpy(text, vf), " ");
	p = stpcpy(stpcpy(p, driver), " ");
	(void) stpcpy(p, override); /* returns the end */
	lane_note(l, JOURNAL_VF_WAS, text);
}

/* override_was: what it was before we wrote it; NULL: we did not, it is read. */
static void rebind_vf(struct lane *l, unsigned i, const char *driver, int bind_fd,
		      const char *override_was)
{
	char was[MANIFEST_NAME_MAX + 1], override[MANIFEST_NAME_MAX + 1], name[BDF_STRLEN + 1];
	struct bdf vf = lane_vf_address(l, i);
	size_t len = bdf_format(vf, name);
	enum place place = PLACE_PROOF;
	int r;

	l->facts.n_wrong++;
	l->facts.in_vain |= override_was != NULL;
	l->outcomes[i].begun_ns = now_ns();
	r = sysfs_link_vf(&l->sysfs, l->pf_fd, SYSFS_VF_DRIVER, vf, was, sizeof(was));
	if (!r && override_was)
		(void) stpcpy(override, override_was); /* returns the end */
	else if (!r)
		r = sysfs_read_vf(&l->sysfs, l->pf_fd, SYSFS_VF_OVERRIDE, vf, override,
				  sizeof(override));
	if (!r) {
		note_vf_was(l, name, was, override);
		place = PLACE_OVERRIDE;
		r = sysfs_write_vf(&l->sysfs, l->pf_fd, SYSFS_VF_OVERRIDE, vf, driver,
				   strlen(driver));
	}
	if (!r) {
		place = PLACE_UNBIND;
		r = unbind_vf(l, was, name, len);
	}
	if (!r) {
		place = PLACE_BIND;
		r = sysfs_write_driver(&l->sysfs, SYSFS_DRIVER_BIND, bind_fd, name, len);
	}
	if (!r) {
		succeed(l, i, VF_BOUND_BY_US);
		return;
	}
	fail(l, i, place, r);
	if (place == PLACE_UNBIND || place == PLACE_BIND)
		give_back(l, vf, was, override);
}

/* Bound in the meantime by somebody else: to this very driver is fine (CASES B5). */
static bool is_ours(struct lane *l, struct bdf vf, const char *driver)
{
	l->facts.n_busy++;
	return !sysfs_driver_has(&l->sysfs, driver, vf);
}

/* 0, or SYSFS_E_ABSENT when there is no such VF; everything else is noted in its outcome. */
static int bind_vf(struct lane *l, unsigned i, const char *driver, int bind_fd)
{
	struct bdf vf = lane_vf_address(l, i);
	char name[BDF_STRLEN + 1];
	size_t len = bdf_format(vf, name);
	int r;

	l->outcomes[i].begun_ns = now_ns();
	r = sysfs_write_vf(&l->sysfs, l->pf_fd, SYSFS_VF_OVERRIDE, vf, driver, strlen(driver));
	if (r == SYSFS_E_ABSENT) {
		l->facts.n_absent++;
		return r;
	}
	l->facts.n_bound_by_override++;
	if (r) {
		fail(l, i, PLACE_OVERRIDE, r);
		return 0;
	}
	r = sysfs_write_driver(&l->sysfs, SYSFS_DRIVER_BIND, bind_fd, name, len);
	if (r == -EBUSY && !is_ours(l, vf, driver))
		rebind_vf(l, i, driver, bind_fd, "(null)");
	else if (r && r != -EBUSY)
		fail(l, i, PLACE_BIND, r);
	else
		succeed(l, i, VF_BOUND_BY_US);
	return 0;
}

unsigned bind_by_override(struct lane *l, const struct step *s)
{
	_cleanup_(close_fd) int fd = -1;
	unsigned n_absent = 0;
	int r = sysfs_open_driver(&l->sysfs, SYSFS_DRIVER_BIND, s->driver, &fd);

	if (r) {
		fail_range(l, s, PLACE_DRIVER, r);
		return 0;
	}
	for (unsigned i = s->first; i < s->first + s->n; i++) {
		bool baton;

		if (l->outcomes[i].need == VF_NEEDS_NOTHING)
			continue;
		baton = baton_take(l->baton);
		if (l->outcomes[i].need == VF_NEEDS_REBIND)
			rebind_vf(l, i, s->driver, fd, NULL);
		else if (bind_vf(l, i, s->driver, fd))
			n_absent++;
		baton_give(l->baton, baton);
	}
	return n_absent;
}

void bind_give_up_absent(struct lane *l, const struct step *s)
{
	for (unsigned i = s->first; i < s->first + s->n; i++)
		if (l->outcomes[i].need != VF_NEEDS_NOTHING)
			lane_fail_vf(l, i, PLACE_OVERRIDE, CAUSE_VF_GONE, 0);
}

void bind_by_id(struct lane *l, const struct step *s)
{
	_cleanup_(close_fd) int fd = -1;
	int r = sysfs_open_driver(&l->sysfs, SYSFS_DRIVER_BIND, s->driver, &fd);

	for (unsigned i = s->first; i < s->first + s->n && !r; i++) {
		char name[BDF_STRLEN + 1];
		size_t len;
		bool baton;

		if (l->outcomes[i].need != VF_NEEDS_BIND)
			continue;
		len = bdf_format(lane_vf_address(l, i), name);
		l->outcomes[i].begun_ns = now_ns();
		l->facts.n_bound_by_id++;
		baton = baton_take(l->baton);
		if (!sysfs_write_driver(&l->sysfs, SYSFS_DRIVER_BIND, fd, name, len))
			succeed(l, i, VF_BOUND_BY_US);
		baton_give(l->baton, baton);
	}
}
