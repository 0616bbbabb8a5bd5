/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <strings.h>
#include "conf-value.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits at the beginning of *text, which goes on behind them. */
static bool take_digits(const char **text, uint64_t *ret)
{
	uint64_t number = 0;

	if (!is_digit(**text))
		return false;
	for (; is_digit(**text); (*text)++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (unsigned) (**text - '0'), &number))
			return false;
	*ret = number;
	return true;
}

bool conf_value_bool(const char *text, bool *ret)
{
	static const char *const words[][2] = {
		{ "no", "yes" }, { "false", "true" }, { "off", "on" },
		{ "0", "1" },    { "n", "y" },        { "f", "t" },
	};

	for (unsigned i = 0; i < ELEMENTSOF(words); i++)
		for (unsigned value = 0; value < 2; value++)
			if (strcasecmp(text, words[i][value]) == 0) {
				*ret = value;
				return true;
			}
	return false;
}

bool conf_value_number(const char *text, uint64_t *ret)
{
	uint64_t number;

	if (!take_digits(&text, &number) || *text)
		return false;
	*ret = number;
	return true;
}

bool conf_value_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t size;

	if (!take_digits(&text, &size))
		return false;
	unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned) (unit - units + 1);

		if (size > UINT64_MAX >> shift)
			return false;
		size <<= shift;
		text++;
	}
	if (*text)
		return false;
	*ret = size;
	return true;
}

/* systemd.time(7), as far as a timeout wants it. */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "us", NSEC_PER_USEC },
	{ "usec", NSEC_PER_USEC },
	{ "ms", NSEC_PER_MSEC },
	{ "msec", NSEC_PER_MSEC },
	{ "", NSEC_PER_SEC },
	{ "s", NSEC_PER_SEC },
	{ "sec", NSEC_PER_SEC },
	{ "second", NSEC_PER_SEC },
	{ "seconds", NSEC_PER_SEC },
	{ "m", 60 * NSEC_PER_SEC },
	{ "min", 60 * NSEC_PER_SEC },
	{ "minute", 60 * NSEC_PER_SEC },
	{ "minutes", 60 * NSEC_PER_SEC },
	{ "h", 3600 * NSEC_PER_SEC },
	{ "hr", 3600 * NSEC_PER_SEC },
	{ "hour", 3600 * NSEC_PER_SEC },
	{ "hours", 3600 * NSEC_PER_SEC },
};

static bool take_unit(const char **text, uint64_t *ret_ns)
{
	size_t length = strspn(*text, "abcdefghijklmnopqrstuvwxyz");

	for (unsigned i = 0; i < ELEMENTSOF(units); i++)
		if (strlen(units[i].name) == length && strncmp(*text, units[i].name, length) == 0) {
			*text += length;
			*ret_ns = units[i].ns;
			return true;
		}
	return false;
}

/* What follows the point, in parts of a unit that is not known yet: .5 is 5 of 10. */
static bool take_fraction(const char **text, uint64_t *ret, uint64_t *ret_of)
{
	const char *begin;

	*ret = 0;
	*ret_of = 1;
	if (**text != '.')
		return true;
	begin = ++*text;
	if (!take_digits(text, ret) || *text - begin > 6)
		return false;
	for (; begin < *text; begin++)
		*ret_of *= 10;
	return true;
}

static bool take_term(const char **text, uint64_t *sum)
{
	uint64_t whole, part, of, unit;

	if (!take_digits(text, &whole) || !take_fraction(text, &part, &of))
		return false;
	*text += strspn(*text, " ");
	return take_unit(text, &unit) && !__builtin_mul_overflow(whole, unit, &whole) &&
	       !__builtin_add_overflow(*sum, whole, sum) &&
	       !__builtin_add_overflow(*sum, part * (unit / of), sum);
}

bool conf_value_time(const char *text, uint64_t *ret)
{
	uint64_t sum = 0;

	do {
		if (!take_term(&text, &sum))
			return false;
		text += strspn(text, " ");
	} while (*text);
	*ret = sum;
	return true;
}
