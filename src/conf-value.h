/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * conf-value - how values of settings are written: truth, numbers, sizes, times, as in systemd's
 * own files. The whole text must be the value; false if it is none.
 */
#include "base.h"

bool conf_value_bool(const char *text, bool *ret);       /* yes, no, true, false, on, off, 1, 0 */
bool conf_value_number(const char *text, uint64_t *ret); /* decimal digits */
bool conf_value_size(const char *text, uint64_t *ret);   /* bytes, or with K, M, G: times 1024 */
/* "5s", "500ms", "1min 30s", "1.5h"; a number alone is seconds. In ns. */
bool conf_value_time(const char *text, uint64_t *ret);
