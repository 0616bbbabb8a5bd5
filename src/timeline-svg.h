/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * timeline-svg - a record as a picture, in the manner of `systemd-analyze plot`.
 */
#include <stdio.h>
#include "record.h"

/* A whole SVG document, needing nothing else: axis in ms since the program's start, phases, a row
 * a lane with a bar a step and a dot a VF, and when each owner had all of its own. */
void timeline_svg(const struct record *r, FILE *out);
