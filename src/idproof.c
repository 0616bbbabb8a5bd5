/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "idproof.h"
#include "plan.h"

static const struct {
	const char *name, *meaning;
} doubts[] = {
	[IDPROOF_NO_DOUBT] = { "none", "all functions of this id are ours" },
	[IDPROOF_NO_VF] = { "no-vf", "no VF has this id" },
	[IDPROOF_VF_UNBOUND] = { "vf-unbound", "this VF has no driver and would be taken too" },
	[IDPROOF_VF_NATIVE] = { "vf-native", "this VF has a driver that is not of VFIO" },
	[IDPROOF_TWO_DRIVERS] = { "two-drivers", "this VF has another VFIO driver than the first" },
	[IDPROOF_VF_UNLISTED] = { "vf-unlisted", "this VF belongs to no PF in the manifest" },
	[IDPROOF_VF_MISSING] = { "vf-missing", "this PF has more VFs than are to be seen" },
	[IDPROOF_PF_UNBOUND] = { "pf-unbound", "this PF of the same id has no driver and would be "
					       "taken too" },
	[IDPROOF_PF_ON_VFIO] = { "pf-on-vfio", "this PF of the same id has a VFIO driver itself" },
	[IDPROOF_STRANGER] = { "stranger", "this device has the same id and is no VF" },
};
_Static_assert(ELEMENTSOF(doubts) == _IDPROOF_DOUBT_MAX, "words for each doubt");

bool idproof_is_on_vfio(const struct walked_function *f)
{
	return f->has_vfio || plan_driver_is_vfio(f->driver);
}

static bool has_id(const struct walked_function *f, uint16_t vendor, uint16_t device)
{
	return f->vendor == vendor && f->device == device;
}

static enum idproof_doubt doubt_vf(const struct walked *w, const struct walked_function *vf,
				   const char **driver)
{
	const struct walked_function *pf = walked_find(w, vf->pf);

	if (!pf || !walked_serves_vfs(pf))
		return IDPROOF_VF_UNLISTED;
	if (!vf->driver)
		return IDPROOF_VF_UNBOUND;
	if (!plan_driver_is_vfio(vf->driver))
		return IDPROOF_VF_NATIVE;
	if (*driver && strcmp(*driver, vf->driver) != 0)
		return IDPROOF_TWO_DRIVERS;
	*driver = vf->driver;
	return IDPROOF_NO_DOUBT;
}

/* A PF of the id is in the manifest when it has a driver, with VFs or without: see capture_make(). */
static enum idproof_doubt doubt_other(const struct walked_function *f)
{
	if (!f->is_pf)
		return IDPROOF_STRANGER;
	if (!f->driver)
		return IDPROOF_PF_UNBOUND;
	return idproof_is_on_vfio(f) ? IDPROOF_PF_ON_VFIO : IDPROOF_NO_DOUBT;
}

static bool lacks_vfs(const struct walked *w, const struct walked_function *pf)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < w->n_functions; i++)
		seen += w->functions[i].is_vf && bdf_compare(w->functions[i].pf, pf->address) == 0;
	return seen != pf->num_vfs;
}

void idproof_check(const struct walked *walked, uint16_t vendor, uint16_t device,
		   struct idproof *ret)
{
	const char *driver = NULL;

	*ret = (struct idproof){ 0 };
	for (unsigned i = 0; i < walked->n_functions; i++) {
		const struct walked_function *f = &walked->functions[i];
		enum idproof_doubt doubt = IDPROOF_NO_DOUBT;

		if (has_id(f, vendor, device))
			doubt = f->is_vf ? doubt_vf(walked, f, &driver) : doubt_other(f);
		if (doubt == IDPROOF_NO_DOUBT && walked_serves_vfs(f) && f->vendor == vendor &&
		    f->vf_device == device && lacks_vfs(walked, f))
			doubt = IDPROOF_VF_MISSING;
		if (doubt != IDPROOF_NO_DOUBT) {
			*ret = (struct idproof){ doubt, f->address };
			return;
		}
	}
	if (!driver)
		ret->doubt = IDPROOF_NO_VF;
}

const char *idproof_doubt_name(enum idproof_doubt d)
{
	assert(d < _IDPROOF_DOUBT_MAX);
	return doubts[d].name;
}

const char *idproof_doubt_meaning(enum idproof_doubt d)
{
	assert(d < _IDPROOF_DOUBT_MAX);
	return doubts[d].meaning;
}
