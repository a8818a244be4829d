#include "controller/flags.h"

#include <math.h>

#include "analysis/sanity.h"
#include "common/clock.h"
#include "common/parse.h"
#include "common/record.h"

/* A counter that is a number or, when it may be large, a decimal text; NAN for neither.
 */
static double
count_of(const json_t *v)
{
	uint64_t n;

	if (json_is_number(v))
		return json_number_value(v);
	if (json_is_string(v) &&
		parse_uint(json_string_value(v), 0, UINT64_MAX, &n, NULL) == 0)
		return (double)n;
	return (double)NAN;
}

static double
member(const json_t *doc, const char *name)
{
	return count_of(json_object_get(doc, name));
}

/* 0 for what is not known, is negative or too large to count. */
static uint64_t
whole(double x)
{
	return x > 0 && x < 0x1p63 ? (uint64_t)x : 0;
}

/* Sums a counter of the operations that are neither reads nor writes. */
static uint64_t
sum_of_others(const json_t *meta, const char *name)
{
	const json_t *others = json_object_get(meta, "others");
	uint64_t sum = 0;

	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++)
		sum += whole(
			member(json_object_get(others, direction_name((enum direction)d)),
				name));
	return sum;
}

uint64_t
flags_errors(const json_t *meta)
{
	const json_t *errors = json_object_get(meta, "errors");

	return whole(count_of(json_array_get(errors, DIR_READ))) +
	       whole(count_of(json_array_get(errors, DIR_WRITE))) +
	       sum_of_others(meta, "errors");
}

unsigned
flags_of_point(const json_t *meta, double iops, double littles_n)
{
	double seconds = member(meta, "length_ns") / (double)NS_PER_S;
	double others = (double)sum_of_others(meta, "ops");
	const struct sanity s = {
		/* All operations are offered together. */
		.iops = others > 0 ? iops + others / seconds : iops,
		.offered_iops = member(meta, "offered_iops"),
		.seconds = seconds,
		.littles_n = littles_n,
		.in_flight_mean = member(meta, "in_flight_mean"),
		.in_flight = member(meta, "in_flight"),
		.backlog_max = member(meta, "backlog_max"),
		.late_mean_ns = member(meta, "late_mean_ns"),
		.missed_seconds = member(meta, "missed_ns") / (double)NS_PER_S,
		.unfinished_factor = member(meta, "unfinished_factor"),
		.errors = flags_errors(meta),
		.dropped = whole(member(meta, "dropped")),
	};

	return sanity_flags(&s);
}

json_t *
flags_json(unsigned flags)
{
	json_t *list = json_array();

	for (unsigned bit = 1; bit <= flags; bit <<= 1)
		if ((flags & bit) != 0)
			json_array_append_new(
				list, json_string(sanity_name((enum sanity_flag)bit)));
	return list;
}
