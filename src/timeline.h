/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * timeline - a record as a chart in the terminal, a line a lane; and what any picture of a record
 * needs: from when to when, ticks, the sort of a step and its end.
 */
#include <stdio.h>
#include "record.h"

/* Steps of one sort look alike. */
enum timeline_sort {
	TIMELINE_LOOK, /* everything quick: look, count, autoprobe, layout, survey */
	TIMELINE_ENABLE,
	TIMELINE_BIND,
	_TIMELINE_SORT_MAX,
};

enum timeline_sort timeline_sort_of(const struct record_step *s);

struct timeline_scale {
	uint64_t origin_ns, end_ns; /* end is after origin, always */
	uint64_t tick_ns;           /* 1, 2 or 5 times a power of ten */
};

/* From the program's start to the last that happened, with at most `max_ticks` ticks. */
void timeline_scale(const struct record *r, unsigned max_ticks, struct timeline_scale *ret);
/* Where t lies from 0 (origin) to 1 (end); a time outside is moved to the nearer of them. */
double timeline_fraction(const struct timeline_scale *s, uint64_t t);
/* The end of a step; of one that never came back, that of its lane or of the whole. */
uint64_t timeline_step_end(const struct record *r, const struct record_lane *l,
			   const struct record_step *s);
/* It did not come back. */
bool timeline_step_hangs(const struct record_lane *l, const struct record_step *s);

/* One line a lane (and one a step below it, where `steps`), to `width` columns; colours with
 * escape codes only when `colour`. Block characters where the locale has them (setlocale). */
void timeline_print(const struct record *r, FILE *out, unsigned width, bool colour, bool steps);
