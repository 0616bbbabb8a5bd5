/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * plan-text - how a plan reads to people: lanes in order, steps in words, strategy and why, price.
 */
#include <stdio.h>
#include "plan.h"

void plan_text(const struct plan *p, FILE *out);
