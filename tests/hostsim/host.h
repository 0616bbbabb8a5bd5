/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* host - what the options say the host looks like, turned into the model. */
#include "model.h"

/* One option; -EINVAL after having said on stderr what is wrong. host_file reads many of them from
 * a file of lines "name = value". */
int host_pf(const char *text) _must_check_; /* PRESET[:TOTALVFS][*COUNT][,KEY=VALUE...] */
int host_driver(const char *text)
	_must_check_; /* NAME[=VVVV:DDDD[+VVVV:DDDD...]][,vfio][,async=MS] */
int host_without(const char *text) _must_check_; /* a driver that is not registered */
int host_late(const char *text) _must_check_;    /* PF=SECONDS or PF/INDEX=SECONDS */
int host_vanish(const char *text) _must_check_;  /* PF, PF/INDEX or BDF =SECONDS */
/* Builds it; VFs of numvfs= included. */
int host_build(void) _must_check_;
/* "pf1" or an address; NULL: none. Text up to '=' or '/'. */
struct pf_config *host_find_pf(const char *text);
/* For control: a device by "pf1", "pf1/3" or address; needs no lock. */
struct device *host_find(const char *text);
