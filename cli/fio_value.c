/* Values of the options of a fio job file. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/fio_priv.h"
#include "common/clock.h"
#include "common/err.h"

#define BAD_SIZE "a block is a multiple of 512 bytes, at most 16MiB"
#define NO_SIZE "it holds something that is no size"
#define TOO_MANY "it has more than the 16 sizes that a stream can mix"

static const char units[] = "kmgtp";

static double
power(double base, size_t n)
{
	double x = 1;

	while (n-- > 0)
		x *= base;
	return x;
}

/* What a suffix of n characters multiplies with; 0: none that is known. */
static double
factor(const char *suffix, size_t n, unsigned kb_base)
{
	char letter = n > 0 ? (char)(suffix[0] | 0x20) : '\0';
	const char *unit = letter != '\0' ? strchr(units, letter) : NULL;
	size_t i;

	if (n == 0 || (n == 1 && letter == 'b'))
		return 1;
	if (unit == NULL)
		return 0;
	i = (size_t)(unit - units) + 1;
	if (n == 1 || (n == 2 && strncasecmp(suffix + 1, "b", 1) == 0) ||
		(n == 2 && strncasecmp(suffix + 1, "i", 1) == 0))
		return power(kb_base, i);
	if (n == 3 && strncasecmp(suffix + 1, "ib", 2) == 0)
		return power(kb_base == 1024 ? 1000 : 1024, i);
	return 0;
}

bool
fio_size(const char **text, unsigned kb_base, const char *end, double *ret_x,
	bool *ret_percent)
{
	const char *p = *text;
	bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	size_t digits = strspn(
		p + 2 * hex, hex ? "0123456789abcdefABCDEF" : "0123456789");
	size_t suffix;
	double times;

	if (digits == 0 || digits > (hex ? 12 : 18))
		return false;
	*ret_x = (double)strtoull(p, NULL, hex ? 16 : 10);
	p += 2 * hex + digits;
	suffix = strcspn(p, end);
	*text = p + suffix;
	*ret_percent = suffix == 1 && p[0] == '%';
	if (*ret_percent)
		return true;
	times = factor(p, suffix, kb_base);
	*ret_x *= times;
	return times > 0;
}

bool
fio_number(const char *text, double *ret_x)
{
	size_t n = strspn(text, "0123456789.");
	const char *point = strchr(text, '.');

	if (n == 0 || n > 18 || text[0] == '.' ||
		(point != NULL && strchr(point + 1, '.') != NULL) ||
		(text[n] != '\0' && strcmp(text + n, "%") != 0))
		return false;
	*ret_x = strtod(text, NULL);
	return true;
}

bool
fio_time(const char *text, int64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} known[] = {{"", 1e9}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9},
		{"ms", 1e6}, {"us", 1e3}, {"usec", 1e3}, {"msec", 1e6}, {"sec", 1e9}};
	size_t n = strspn(text, "0123456789");

	if (n == 0 || n > 15)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double ns = strtod(text, NULL) * known[i].ns;

		if (strcasecmp(text + n, known[i].unit) != 0 || ns > 1e18)
			continue;
		*ret_ns = (int64_t)ns;
		return true;
	}
	return false;
}

/* Reads one of up to three parts of a value, for reads, writes and trims; false with why
 * it cannot be carried. */
typedef bool part_fn(const char **pos, const struct fio_job *j, struct block_mix *m,
	const char **ret_why);

/* A part that is not there is that before it; an empty one is left as it is. */
static const char *
read_parts(struct fio_job *j, const char *text, part_fn *fn)
{
	const char *why = NULL;
	int d = FIO_READ;

	for (const char *p = text; d < FIO_DIRECTIONS; p++, d++) {
		struct block_mix m = {0};

		if (*p != ',' && *p != '\0') {
			if (!fn(&p, j, &m, &why))
				return why;
			j->blocks[d] = m;
		}
		if (*p == '\0')
			break;
		if (*p != ',')
			return NO_SIZE;
	}
	if (d == FIO_DIRECTIONS)
		return "it has parts for more than reads, writes and trims";
	/* "8k," means writes as they were; "8k" means all */
	for (int k = d + 1; k < FIO_DIRECTIONS; k++)
		j->blocks[k] = j->blocks[d];
	return NULL;
}

static const char *
add_size(struct block_mix *m, double bytes, double percent)
{
	struct err e = {0};

	for (size_t i = 0; i < m->n; i++)
		if (bytes >= m->list[i].bytes && bytes <= m->list[i].bytes) {
			m->list[i].percent += percent;
			return NULL;
		}
	if (m->n == FLOW_BLOCKS_MAX)
		return TOO_MANY;
	return bytes < 1e12 && block_mix_add(m, (uint64_t)bytes, percent, &e) == 0
		       ? NULL
		       : BAD_SIZE;
}

/* Sets why a part cannot be carried; whether there is nothing. */
static bool
fail(const char **ret_why, const char *why)
{
	*ret_why = why;
	return why == NULL;
}

static bool
one_size(const char **pos, const struct fio_job *j, struct block_mix *m,
	const char **ret_why)
{
	double bytes;
	bool percent;

	if (!fio_size(pos, j->kb_base, ",", &bytes, &percent) || percent)
		return fail(ret_why, NO_SIZE);
	if (bytes < 1e12 && (uint64_t)bytes % 512 != 0)
		return fail(ret_why, "what fio makes of it by its kb_base is no multiple "
				     "of 512 bytes");
	return fail(ret_why, add_size(m, bytes, 100));
}

const char *
fio_blocks(struct fio_job *j, const char *text)
{
	return read_parts(j, text, one_size);
}

/* Multiples of the smallest, each as often as the others. */
static bool
one_range(const char **pos, const struct fio_job *j, struct block_mix *m,
	const char **ret_why)
{
	double low, high, count;
	bool percent;
	const char *why = NULL;

	if (!fio_size(pos, j->kb_base, "-:,", &low, &percent) || percent || low < 1 ||
		(**pos != '-' && **pos != ':'))
		return fail(ret_why, "it is no range of sizes, as in 4k-16k");
	++*pos;
	if (!fio_size(pos, j->kb_base, ",", &high, &percent) || percent || high < low)
		return fail(ret_why, "it is no range of sizes, as in 4k-16k");
	count = (double)(uint64_t)(high / low);
	if (count > FLOW_BLOCKS_MAX)
		return fail(ret_why, TOO_MANY);
	for (unsigned i = 1; why == NULL && i <= (unsigned)count; i++)
		why = add_size(m, low * i, 100 / count);
	return fail(ret_why, why);
}

const char *
fio_ranges(struct fio_job *j, const char *text)
{
	return read_parts(j, text, one_range);
}

struct split {
	double bytes, percent; /* percent < 0: not said */
};

/* Reads "4k/60"; the percentage may be missing, also behind the slash. */
static bool
read_split(const char **pos, unsigned kb_base, struct split *ret_s)
{
	char number[24] = "";
	bool percent;
	size_t n;

	ret_s->percent = -1;
	if (!fio_size(pos, kb_base, "/:,", &ret_s->bytes, &percent) || percent)
		return false;
	if (**pos == '/') {
		++*pos;
		n = strcspn(*pos, ":,");
		if (n >= sizeof(number))
			return false;
		memcpy(number, *pos, n);
		*pos += n;
		if (n > 0 && !fio_number(number, &ret_s->percent))
			return false;
	}
	if (**pos == ':')
		++*pos;
	return true;
}

static bool
one_split(const char **pos, const struct fio_job *j, struct block_mix *m,
	const char **ret_why)
{
	struct split list[FLOW_BLOCKS_MAX];
	size_t n = 0, silent = 0;
	double said = 0;
	const char *why = NULL;

	while (**pos != ',' && **pos != '\0') {
		if (n == FLOW_BLOCKS_MAX)
			return fail(ret_why, TOO_MANY);
		if (!read_split(pos, j->kb_base, &list[n]))
			return fail(ret_why,
				"it is no list of sizes and percentages, as in "
				"4k/60:64k/40");
		silent += list[n].percent < 0;
		said += list[n].percent < 0 ? 0 : list[n].percent;
		n++;
	}
	if (said > 100 || (silent == 0 && said < 100))
		return fail(ret_why, "the percentages do not add up to 100");
	for (size_t i = 0; why == NULL && i < n; i++) {
		double percent = list[i].percent < 0 ? (100 - said) / (double)silent
						     : list[i].percent;

		if (percent > 0)
			why = add_size(m, list[i].bytes, percent);
	}
	return fail(ret_why, why);
}

const char *
fio_splits(struct fio_job *j, const char *text)
{
	return read_parts(j, text, one_split);
}

const char *
fio_zones(struct flow *f, const char *text)
{
	struct flow zones = {0};
	struct err e = {0};

	while (*text != '\0') {
		char share[24], space[24];
		size_t n = strcspn(text, "/"), k;
		double x, y;

		if (text[n] != '/')
			return "it is no list of zones, as in 60/10:30/20:10/70";
		k = strcspn(text + n + 1, ":");
		if (n >= sizeof(share) || k >= sizeof(space))
			return "it is no list of zones, as in 60/10:30/20:10/70";
		memcpy(share, text, n);
		share[n] = '\0';
		memcpy(space, text + n + 1, k);
		space[k] = '\0';
		text += n + 1 + k + (text[n + 1 + k] == ':');
		if (!fio_number(share, &x) || !fio_number(space, &y))
			return "it is no list of zones, as in 60/10:30/20:10/70";
		if (flow_add_zone(&zones, y, x, &e) != 0)
			return "a stream has at most 8 zones, and none is empty";
	}
	if (flow_check_zones(&zones, &e) != 0)
		return "its zones are not 100% of the I/Os and of the space";
	f->spread = SPREAD_ZONES;
	f->n_zones = zones.n_zones;
	memcpy(f->zones, zones.zones, sizeof(zones.zones));
	return NULL;
}
