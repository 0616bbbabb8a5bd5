/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include "bdf.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Reads 1 to max_digits hex digits; returns what follows them, NULL when there are none or more. */
static const char *read_hex(const char *p, unsigned max_digits, uint32_t *ret)
{
	uint32_t value = 0;
	unsigned n = 0;

	for (; hex_digit(*p) >= 0; p++, n++) {
		if (n == max_digits)
			return NULL;
		value = value << 4 | (uint32_t) hex_digit(*p);
	}
	*ret = value;
	return n > 0 ? p : NULL;
}

static const char *read_part(const char *p, unsigned max_digits, uint32_t max, char end,
			     uint32_t *ret)
{
	p = read_hex(p, max_digits, ret);
	if (!p || *p != end || *ret > max)
		return NULL;
	return end ? p + 1 : p;
}

static bool has_domain(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && strchr(colon + 1, ':');
}

int bdf_parse(const char *text, struct bdf *ret)
{
	uint32_t domain = 0, bus, slot, function;
	const char *p = text;

	if (has_domain(text))
		p = read_part(p, 8, UINT32_MAX, ':', &domain);
	if (p)
		p = read_part(p, 2, 0xff, ':', &bus);
	if (p)
		p = read_part(p, 2, 0x1f, '.', &slot);
	if (p)
		p = read_part(p, 1, 7, '\0', &function);
	if (!p)
		return BDF_E_SYNTAX;
	*ret = (struct bdf){ domain, (uint16_t) (bus << 8 | slot << 3 | function) };
	return 0;
}

static char *write_hex(char *p, uint32_t value, unsigned digits)
{
	static const char hex[] = "0123456789abcdef";

	while (digits-- > 0)
		*p++ = hex[value >> (4 * digits) & 15];
	return p;
}

size_t bdf_format(struct bdf b, char ret[static BDF_STRLEN + 1])
{
	unsigned digits = 4;
	char *p;

	while (digits < 8 && b.domain >> (4 * digits))
		digits++;
	p = write_hex(ret, b.domain, digits);
	*p++ = ':';
	p = write_hex(p, b.rid >> 8, 2);
	*p++ = ':';
	p = write_hex(p, b.rid >> 3 & 0x1f, 2);
	*p++ = '.';
	p = write_hex(p, b.rid & 7, 1);
	*p = '\0';
	return (size_t) (p - ret);
}

int bdf_compare(struct bdf a, struct bdf b)
{
	if (a.domain != b.domain)
		return a.domain < b.domain ? -1 : 1;
	return (int) a.rid - (int) b.rid;
}

int bdf_of_vf(struct bdf pf, unsigned offset, unsigned stride, unsigned index, struct bdf *ret)
{
	uint64_t rid = pf.rid + (uint64_t) offset + (uint64_t) stride * index;

	if (rid > UINT16_MAX)
		return BDF_E_RANGE;
	*ret = (struct bdf){ pf.domain, (uint16_t) rid };
	return 0;
}

bool bdf_vf_index(struct bdf pf, unsigned offset, unsigned stride, unsigned num_vfs, struct bdf vf,
		  unsigned *ret_index)
{
	uint64_t first = pf.rid + (uint64_t) offset, distance;

	if (vf.domain != pf.domain || vf.rid < first || num_vfs == 0)
		return false;
	distance = vf.rid - first;
	if (stride == 0 ? distance > 0 : distance % stride || distance / stride >= num_vfs)
		return false;
	*ret_index = stride == 0 ? 0 : (unsigned) (distance / stride);
	return true;
}
