/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * worker - the thread of a lane: carries out the plan's steps of one PF, one after the other.
 *
 * It blocks where the kernel blocks; the loop keeps its deadline. Whatever happens, it puts
 * sriov_drivers_autoprobe back on its way out.
 */
#include "lane.h"

/* Starts the thread; it sleeps until the lane is woken for the first time.
 * -errno of pthread_create. The lane must outlive the thread. */
int worker_start(struct lane *l) _must_check_;
