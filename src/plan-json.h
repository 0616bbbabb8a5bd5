/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * plan-json - a plan for programs. Format: vf-restore-plan, version 1.
 */
#include "plan.h"

/* JSON text with a newline at its end; the caller's to free. */
int plan_json_text(const struct plan *p, char **ret, size_t *ret_size) _must_check_;
