/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "bind.h"
#include "thread.h"
#include "worker.h"

/* -- look: is it our PF, with its own driver? -- */

static int look_once(struct lane *l)
{
	char driver[MANIFEST_NAME_MAX + 1];
	int r;

	close_fd(&l->pf_fd);
	r = sysfs_open_pf(&l->sysfs, l->plan->pf->address, &l->pf_fd);
	if (r)
		return lane_stop(l, PLACE_PF_LOOK, r);
	l->facts.n_looks++;
	r = sysfs_link_pf(&l->sysfs, l->pf_fd, SYSFS_PF_DRIVER, driver, sizeof(driver));
	if (r == SYSFS_E_ABSENT)
		return lane_stop_by_rule(l, CAUSE_PF_NO_DRIVER, PLACE_PF_LOOK, "");
	if (r)
		return lane_stop(l, PLACE_PF_LOOK, r);
	if (strcmp(driver, l->plan->pf->driver) != 0)
		return lane_stop_by_rule(l, CAUSE_PF_CHANGED, PLACE_PF_LOOK, driver);
	return 0;
}

static int wait_for_pf(struct lane *l)
{
	int r = look_once(l);

	while (r && (l->cause == CAUSE_PF_ABSENT || l->cause == CAUSE_PF_NO_DRIVER) &&
	       lane_ask(l, LANE_ASKS_PF)) {
		l->cause = CAUSE_NONE;
		r = look_once(l);
	}
	return r;
}

/* "pci:v00001B36d00000010sv...": the id in upper case hex, eight digits each. */
static bool modalias_has_id(const char *modalias, const struct manifest_pf *pf)
{
	static const char hex[] = "0123456789ABCDEF";
	char expected[] = "pci:v0000....d0000....";

	for (unsigned i = 0; i < 4; i++) {
		expected[9 + i] = hex[pf->vendor >> (12 - 4 * i) & 15];
		expected[18 + i] = hex[pf->device >> (12 - 4 * i) & 15];
	}
	return !strncmp(modalias, expected, strlen(expected));
}

static int look(struct lane *l, const struct step *s)
{
	const struct manifest_pf *pf = l->plan->pf;
	char text[SYSFS_TEXT_MAX];
	int r = wait_for_pf(l);

	(void) s; /* of the whole PF */
	if (r)
		return r;
	r = sysfs_read_pf(&l->sysfs, l->pf_fd, SYSFS_PF_MODALIAS, text, sizeof(text));
	if (r)
		return lane_stop(l, PLACE_PF_LOOK, r);
	if (!modalias_has_id(text, pf))
		return lane_stop_by_rule(l, CAUSE_PF_CHANGED, PLACE_PF_LOOK, text);
	if (!pf->serial_number)
		return 0;
	r = sysfs_read_pf(&l->sysfs, l->pf_fd, SYSFS_PF_SERIAL, text, sizeof(text));
	if (r == SYSFS_E_ABSENT)
		return 0; /* this kernel does not tell */
	if (r)
		return lane_stop(l, PLACE_PF_LOOK, r);
	if (strcmp(text, pf->serial_number) != 0)
		return lane_stop_by_rule(l, CAUSE_PF_CHANGED, PLACE_PF_LOOK, text);
	l->serial_proven = true;
	return 0;
}

/* -- count, autoprobe, enable: the PF gets its VFs -- */

static int count(struct lane *l, const struct step *s)
{
	char text[11] = "";
	unsigned n;
	int r = sysfs_read_pf_number(&l->sysfs, l->pf_fd, SYSFS_PF_NUMVFS, &n);

	(void) s; /* of the whole PF */
	if (r)
		return lane_stop(l, PLACE_PF_LOOK, r);
	*put_decimal(text, n) = '\0';
	if (n != 0 && n != l->plan->pf->num_vfs)
		return lane_stop_by_rule(l, CAUSE_NUMBER_DIFFERS, PLACE_PF_LOOK, text);
	l->facts.warm = n != 0;
	return 0;
}

static int set_autoprobe(struct lane *l, bool on)
{
	int r;

	if (l->autoprobe_now == on)
		return 0;

	if (!l->autoprobe_changed)
		lane_note(l, JOURNAL_AUTOPROBE_WAS, l->autoprobe_now ? "1" : "0");
	l->autoprobe_changed = true;
	r = sysfs_write_pf(&l->sysfs, l->pf_fd, SYSFS_PF_AUTOPROBE, on ? "1" : "0");
	if (r)
		return lane_stop(l, PLACE_AUTOPROBE, r);
	l->autoprobe_now = on;
	return 0;
}

static bool id_is_registered(struct lane *l)
{
	if (!l->id_asked)
		lane_ask(l, LANE_ASKS_ID);
	l->id_asked = true;
	return atomic_load(&l->registrar->state) == REGISTRAR_REGISTERED;
}

/* Before the PF's own lock is held for long: new_id would wait for it. */
static int ask_for_id(struct lane *l, const struct step *s)
{
	(void) s; /* of the whole PF */
	if (!l->facts.warm)
		l->facts.by_id = id_is_registered(l);
	return 0;
}

static int autoprobe(struct lane *l, const struct step *s)
{
	unsigned n;
	int r = sysfs_read_pf_number(&l->sysfs, l->pf_fd, SYSFS_PF_AUTOPROBE, &n);

	(void) s; /* of the whole PF */
	if (r)
		return lane_stop(l, PLACE_AUTOPROBE, r);
	l->autoprobe_now = n != 0;
	l->facts.autoprobe_was_off = !l->autoprobe_now;
	l->facts.autoprobe_left = l->left.left;
	if (l->facts.warm)
		return 0;
	l->facts.bound_as_they_came = l->plan->binds_as_they_come && l->facts.by_id;
	return set_autoprobe(l, l->facts.bound_as_they_came);
}

/* ENOMEM is too little MMIO space, or bus numbers that the bridge does not have: the latter is
 * possible only when the last VF lies on another bus (drivers/pci/iov.c: sriov_enable). */
static bool needs_more_buses(const struct manifest_pf *pf)
{
	struct bdf last;

	return bdf_of_vf(pf->address, pf->offset, pf->stride, pf->num_vfs - 1, &last) ||
	       last.rid >> 8 != pf->address.rid >> 8;
}

static int explain_enable(struct lane *l, int r)
{
	unsigned total;

	r = lane_stop(l, PLACE_ENABLE, r);
	if (l->cause == CAUSE_NO_MMIO && needs_more_buses(l->plan->pf))
		l->cause = CAUSE_NO_BUS_NUMBERS;
	if (l->cause == CAUSE_TOO_MANY &&
	    !sysfs_read_pf_number(&l->sysfs, l->pf_fd, SYSFS_PF_TOTALVFS, &total))
		*put_decimal(l->found, total) = '\0';
	return r;
}

static int enable(struct lane *l, const struct step *s)
{
	char text[11];
	int r;

	(void) s; /* of the whole PF */
	if (l->facts.warm)
		return 0;
	*put_decimal(text, l->plan->pf->num_vfs) = '\0';
	lane_note(l, JOURNAL_ENABLE, text);
	r = sysfs_write_pf(&l->sysfs, l->pf_fd, SYSFS_PF_NUMVFS, text);
	return r ? explain_enable(l, r) : 0;
}

/* -- layout: where the VFs are -- */

/* A VF is known by its PF and index. When its address is not the one that was promised, only the
 * PF's serial number can tell that the card is still the same (CASES N6). */
static void check_addresses(struct lane *l)
{
	for (unsigned i = 0; i < l->plan->n_vfs; i++) {
		const struct manifest_vf *vf = l->plan->vfs[i];

		if (vf->has_address && !l->serial_proven &&
		    bdf_compare(vf->address, lane_vf_address(l, i)) != 0)
			lane_fail_vf(l, i, PLACE_LAYOUT, CAUSE_VF_MOVED, 0);
	}
}

static int layout(struct lane *l, const struct step *s)
{
	struct bdf last;
	int r;

	(void) s; /* of the whole PF */
	r = sysfs_read_pf_number(&l->sysfs, l->pf_fd, SYSFS_PF_OFFSET, &l->offset);
	if (!r)
		r = sysfs_read_pf_number(&l->sysfs, l->pf_fd, SYSFS_PF_STRIDE, &l->stride);
	if (r)
		return lane_stop(l, PLACE_LAYOUT, r);
	if (bdf_of_vf(l->plan->pf->address, l->offset, l->stride, l->plan->pf->num_vfs - 1, &last))
		return lane_stop_by_rule(l, CAUSE_VF_MOVED, PLACE_LAYOUT, "beyond the last bus");
	check_addresses(l);
	atomic_store(&l->has_layout, true);
	thread_tell(l->report_fd); /* devices seen before can be opened now */
	return 0;
}

static int survey(struct lane *l, const struct step *s)
{
	bool any, is_as_promised = l->offset == l->plan->pf->offset &&
				   l->stride == l->plan->pf->stride;

	(void) s; /* of the whole PF */
	if (!l->facts.warm && !l->facts.bound_as_they_came)
		return 0;
	any = bind_survey(l);
	/* the loop has seen the events of VFs that were bound as they came, where it expected them */
	if (any && (l->facts.warm || !is_as_promised))
		lane_ask(l, LANE_ASKS_SURVEY); /* answered at once, whatever it finds */
	return 0;
}

/* -- binding -- */

static void note_bind(struct lane *l, const struct step *s)
{
	char text[96];

	*put_decimal(stpcpy(stpcpy(text, s->driver), " "), s->n) = '\0';
	lane_note(l, JOURNAL_BIND, text);
}

static int step_bind_override(struct lane *l, const struct step *s)
{
	if (!bind_is_needed(l, s))
		return 0;
	note_bind(l, s);
	/* VFs may come later than the write that made them returns (CASES C12) */
	while (bind_by_override(l, s) > 0)
		if (l->facts.warm || !lane_ask(l, LANE_ASKS_VFS)) {
			bind_give_up_absent(l, s);
			break;
		}
	return 0;
}

/* What the id does not bind, override does: a VF with a wrong driver or with somebody's override,
 * one that is not there yet. */
static int step_bind_id(struct lane *l, const struct step *s)
{
	int r;

	if (!bind_is_needed(l, s) || !id_is_registered(l))
		return step_bind_override(l, s);
	note_bind(l, s);
	l->facts.by_id = true;
	r = set_autoprobe(l, true);
	if (r) {
		l->cause = CAUSE_NONE; /* override does without */
		l->facts.in_vain = true;
	} else {
		bind_by_id(l, s);
	}
	return step_bind_override(l, s);
}

static int autoprobe_back(struct lane *l, const struct step *s)
{
	(void) s; /* of the whole PF */
	if (l->pf_fd < 0 || !l->autoprobe_changed)
		return 0;
	return set_autoprobe(l, l->plan->pf->drivers_autoprobe);
}

static int (*const acts[])(struct lane *l, const struct step *s) = {
	[STEP_LOOK] = look,
	[STEP_COUNT] = count,
	[STEP_AUTOPROBE] = autoprobe,
	[STEP_ID] = ask_for_id,
	[STEP_ENABLE] = enable,
	[STEP_LAYOUT] = layout,
	[STEP_SURVEY] = survey,
	[STEP_BIND_OVERRIDE] = step_bind_override,
	[STEP_BIND_ID] = step_bind_id,
	[STEP_AUTOPROBE_BACK] = autoprobe_back,
};
_Static_assert(ELEMENTSOF(acts) == _STEP_MAX, "every step has an act");

static int carry_out(struct lane *l, const struct step *s)
{
	int r;

	atomic_store(&l->step, s->kind);
	if (!l->step_begun_ns[s->kind])
		l->step_begun_ns[s->kind] = now_ns();
	r = acts[s->kind](l, s);
	l->step_done_ns[s->kind] = now_ns();
	return r;
}

/* What has to be done on every way out, the bad ones too: the last step puts autoprobe back. */
static void leave(struct lane *l, bool failed)
{
	enum cause cause = l->cause;
	enum place place = l->place;
	int error = l->error;

	if (!failed)
		return;
	(void) carry_out(l, &l->plan->steps[l->plan->n_steps - 1]); /* the first failure counts */
	l->cause = cause;
	l->place = place;
	l->error = error;
}

static void *lane_main(void *argument)
{
	struct lane *l = argument;
	int report_fd = l->report_fd, r = 0;

	thread_sleep(l->wake_fd);
	for (unsigned i = 0; i < l->plan->n_steps && !r; i++)
		r = carry_out(l, &l->plan->steps[i]);
	leave(l, r != 0);
	if (!l->autoprobe_changed || l->autoprobe_now == l->plan->pf->drivers_autoprobe)
		lane_note(l, JOURNAL_OVER, "");
	lane_tell(l, LANE_OVER); /* from here on l may be gone */
	close_fd(&report_fd);
	return NULL;
}

int worker_start(struct lane *l)
{
	l->sysfs.tally = &l->tally;
	l->pf_fd = -1;
	l->autoprobe_changed = l->left.left; /* by the run before us: its first value is kept */
	l->autoprobe_now = !l->plan->pf->drivers_autoprobe; /* until it is read */
	return thread_start(lane_main, l);
}
