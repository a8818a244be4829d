#include "common/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/err.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{"B", 1},
	{"kB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"TB", 1000000000000},
	{"KiB", 1ULL << 10},
	{"MiB", 1ULL << 20},
	{"GiB", 1ULL << 30},
	{"TiB", 1ULL << 40},
	{NULL, 0},
};

static const struct unit durations[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", 60000000000},
	{"h", 3600000000000},
	{"d", 86400000000000},
	{NULL, 0},
};

/* Digits with at most one point, at most 18 of them. Returns the end of the number or
 * NULL. */
static const char *
number(const char *text, double *ret_x)
{
	const char *p = text;
	int digits = 0;
	int points = 0;

	for (; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
		if (*p == '.')
			points++;
		else
			digits++;
	}
	if (digits == 0 || digits > 18 || points > 1 || *text == '.' || p[-1] == '.')
		return NULL;
	*ret_x = strtod(text, NULL);
	return p;
}

static const struct unit *
unit_named(const struct unit *units, const char *name)
{
	for (const struct unit *u = units; u->name != NULL; u++)
		if (strcmp(u->name, name) == 0)
			return u;
	return NULL;
}

int
parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *ret_n, struct err *e)
{
	uint64_t n = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (n > (UINT64_MAX - digit) / 10)
			goto bad;
		n = n * 10 + digit;
	}
	if (p == text || *p != '\0' || n < min || n > max)
		goto bad;
	*ret_n = n;
	return 0;
bad:
	return err_set(e, ERR_INVALID,
		"\"%.40s\" is not a whole number from %llu to %llu", text,
		(unsigned long long)min, (unsigned long long)max);
}

/* "4k" is 4 KiB to some programs and 4 kB to others. */
static int
suggest_unit(const char *text, const char *end, struct err *e)
{
	static const char letters[] = "kKmMgGtT";
	const char *letter = end != NULL && *end != '\0' ? strchr(letters, *end) : NULL;
	char binary, decimal;

	if (letter == NULL || end[1] != '\0')
		return -1;
	binary = letters[(letter - letters) | 1];
	decimal = binary == 'K' ? 'k' : binary;
	return err_fix(e, "write %.*s%ciB, or %.*s%cB for powers of ten",
		(int)(end - text), text, binary, (int)(end - text), text, decimal);
}

int
parse_size(const char *text, uint64_t *ret_bytes, struct err *e)
{
	double x;
	const char *end = number(text, &x);
	const struct unit *u = end != NULL ? unit_named(sizes, end) : NULL;
	double bytes;

	if (u == NULL) {
		err_set(e, ERR_INVALID,
			"\"%.40s\" is not a size; write a number and a unit, for example "
			"4KiB "
			"or 1.5TB",
			text);
		return suggest_unit(text, end, e);
	}
	bytes = x * (double)u->factor;
	if (bytes > 1e18 || bytes != floor(bytes))
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not a whole number of bytes below 1 EB", text);
	*ret_bytes = (uint64_t)bytes;
	return 0;
}

int
parse_duration(const char *text, int64_t *ret_ns, struct err *e)
{
	double x;
	const char *end = number(text, &x);
	const struct unit *u = end != NULL ? unit_named(durations, end) : NULL;
	double ns;

	if (u == NULL)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not a duration; write a number and a unit, for "
			"example 500ms, 60s or 2h",
			text);
	ns = x * (double)u->factor;
	if (ns > 3650.0 * 86400e9)
		return err_set(e, ERR_INVALID, "\"%.40s\" is longer than 10 years", text);
	*ret_ns = (int64_t)llround(ns);
	return 0;
}

int
parse_percent(const char *text, double *ret_percent, struct err *e)
{
	double x;
	const char *end = number(text, &x);

	if (end == NULL || strcmp(end, "%") != 0 || x > 1000)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not a percentage from 0%% to 1000%%; write for "
			"example 25%%",
			text);
	*ret_percent = x;
	return 0;
}

int
parse_rate(const char *text, double *ret_per_s, struct err *e)
{
	double x;
	const char *end = number(text, &x);

	if (end == NULL || strcmp(end, "/s") != 0 || x <= 0 || x > 1e9)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not a rate; write I/Os per second, for example "
			"5000/s",
			text);
	*ret_per_s = x;
	return 0;
}

const char *
format_size(uint64_t bytes, char *buf, size_t size)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;

	while (i + 1 < sizeof(names) / sizeof(names[0]) && bytes > 0 &&
		bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	snprintf(buf, size, "%llu%s", (unsigned long long)bytes, names[i]);
	return buf;
}

const char *
format_duration(int64_t ns, char *buf, size_t size)
{
	const struct unit *best = &durations[0];

	if (ns == 0) {
		snprintf(buf, size, "0s");
		return buf;
	}
	for (const struct unit *u = durations; u->name != NULL; u++)
		if (ns % (int64_t)u->factor == 0)
			best = u;
	snprintf(
		buf, size, "%lld%s", (long long)(ns / (int64_t)best->factor), best->name);
	return buf;
}

const char *
format_time(int64_t wall_ns, char *buf, size_t size)
{
	time_t s = (time_t)(wall_ns / 1000000000);
	char date[40];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, size, "%s.%03dZ", date, (int)(wall_ns / 1000000 % 1000));
	return buf;
}
