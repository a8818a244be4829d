#include "controller/flags.h"

#include <math.h>
#include <string.h>

#include "analysis/sanity.h"
#include "analysis/shape.h"
#include "analysis/steady.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/record.h"
#include "common/str.h"

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

static double
seconds(const json_t *doc, const char *name)
{
	return member(doc, name) / (double)NS_PER_S;
}

/* What is missing is nothing of that kind: 0. */
static double
known(double x)
{
	return isfinite(x) ? x : 0;
}

static unsigned
known_count(double x)
{
	return x > 0 && x < 0x1p32 ? (unsigned)x : 0;
}

/* As runner/seconds.c writes it. */
static void
read_shape(const json_t *doc, struct shape *ret_h)
{
	const json_t *cliff = json_object_get(doc, "cliff");
	const json_t *spells = json_object_get(doc, "spells");
	const json_t *stalls = json_object_get(doc, "stalls");

	*ret_h = (struct shape){.seconds = (size_t)known_count(member(doc, "seconds")),
		.rate = strcmp(json_text_of(doc, "speed"), "iops") == 0,
		.cliff = json_is_object(cliff),
		.cliff_at_s = known(seconds(cliff, "at_ns")),
		.cliff_after_bytes = known(member(cliff, "after_bytes")),
		.cliff_from = known(member(cliff, "from")),
		.cliff_to = known(member(cliff, "to")),
		.spells = known_count(member(spells, "count")),
		.spells_s = known(seconds(spells, "length_ns")),
		.fast = known(member(spells, "fast")),
		.slow = known(member(spells, "slow")),
		.stalls = known_count(member(stalls, "count")),
		.stall_s = known(seconds(stalls, "longest_ns")),
		.stall_at_s = known(seconds(stalls, "at_ns"))};
}

static struct sanity_link
link_of(const json_t *doc, const char *gts, const char *width)
{
	return (struct sanity_link){
		known(member(doc, gts)), known_count(member(doc, width))};
}

/* As runner/reading.c writes it. */
static void
read_readings(const json_t *doc, struct sanity *s)
{
	const json_t *link = json_object_get(doc, "link");
	const json_t *aer = json_object_get(doc, "aer");
	const json_t *heat = json_object_get(doc, "heat");

	s->drive_in_flight = known(member(doc, "drive_in_flight"));
	s->other_read_bytes = known(member(doc, "other_read_bytes"));
	s->other_written_bytes = known(member(doc, "other_written_bytes"));
	s->read_bytes = known(member(doc, "own_read_bytes"));
	s->clock_step_seconds = known(seconds(doc, "clock_step_ns"));
	s->thermal_transitions = known(member(heat, "transitions"));
	s->thermal_seconds = known(member(heat, "seconds"));
	s->temperature_c = known(member(heat, "temperature_c"));
	s->warning_c = known(member(heat, "warning_c"));
	s->link = link_of(link, "gts", "width");
	s->link_end = link_of(link, "end_gts", "end_width");
	s->link_max = link_of(link, "max_gts", "max_width");
	s->aer_correctable = known(member(aer, "correctable"));
	s->aer_nonfatal = known(member(aer, "nonfatal"));
	s->aer_fatal = known(member(aer, "fatal"));
}

/* Everything that a point is judged by. s borrows h. */
static void
read_facts(const json_t *meta, double iops, double littles_n, struct shape *h,
	struct sanity *ret_s)
{
	double length = seconds(meta, "length_ns");
	double others = (double)sum_of_others(meta, "ops");
	double sampled = seconds(meta, "sampled_ns");

	read_shape(json_object_get(meta, "shape"), h);
	/* The runner saw seconds, so there were samples to come. */
	if (h->seconds == 0)
		sampled = (double)NAN;
	*ret_s = (struct sanity){
		/* All operations are offered together. */
		.iops = others > 0 ? iops + others / length : iops,
		.offered_iops = member(meta, "offered_iops"),
		.seconds = length,
		.littles_n = littles_n,
		.in_flight_mean = member(meta, "in_flight_mean"),
		.in_flight = member(meta, "in_flight"),
		.backlog_max = member(meta, "backlog_max"),
		.late_mean_ns = member(meta, "late_mean_ns"),
		.missed_seconds = seconds(meta, "missed_ns"),
		.unfinished_factor = member(meta, "unfinished_factor"),
		.errors = flags_errors(meta),
		.dropped = whole(member(meta, "dropped")),
		.shape = h,
		.workers = known_count(member(meta, "workers")),
		.cpu_seconds = known(
			seconds(meta, "cpu_user_ns") + seconds(meta, "cpu_system_ns")),
		.unsampled_seconds = known(length - sampled),
		.start_lag_seconds = known(seconds(meta, "start_lag_ns")),
	};
	read_readings(json_object_get(meta, "readings"), ret_s);
}

unsigned
flags_of_point(const json_t *meta, double iops, double littles_n)
{
	struct shape h;
	struct sanity s;

	read_facts(meta, iops, littles_n, &h, &s);
	return sanity_flags(&s);
}

/* Each flag with a sentence that says why. */
static json_t *
reasons(const struct sanity *s, unsigned flags)
{
	json_t *list = json_array();

	for (unsigned bit = 1; bit <= flags; bit <<= 1) {
		struct str text = {0};
		json_t *o;

		if ((flags & bit) == 0)
			continue;
		sanity_reason(s, (enum sanity_flag)bit, &text);
		o = json_object();
		json_put(o, "flag", json_string(sanity_name((enum sanity_flag)bit)));
		json_put(o, "text", json_text(str_text(&text)));
		json_array_append_new(list, o);
		str_fini(&text);
	}
	return list;
}

json_t *
flags_reasons(const json_t *meta, double iops, double littles_n)
{
	struct shape h;
	struct sanity s;

	read_facts(meta, iops, littles_n, &h, &s);
	return reasons(&s, sanity_flags(&s));
}

/* As runner/rounds.c writes it. */
static unsigned
read_test(const json_t *end, struct sanity *ret_s)
{
	const char *verdict = json_text_of(end, "verdict");

	*ret_s = (struct sanity){
		.criterion = {known_count(member(end, "window")),
			known(member(end, "range_percent")),
			known(member(end, "slope_percent"))},
		.max_rounds = known_count(member(end, "max_rounds")),
	};
	if (strcmp(verdict, "not_judged") == 0)
		return SANITY_NOT_JUDGED;
	return (strcmp(verdict, "not_reached") == 0 ? SANITY_UNSTEADY : 0) |
	       (ret_s->max_rounds > 0 && !steady_is_standard(
						 &ret_s->criterion, ret_s->max_rounds)
			       ? SANITY_OWN_CRITERION
			       : 0);
}

unsigned
flags_of_test(const json_t *end)
{
	struct sanity s;

	return read_test(end, &s);
}

json_t *
flags_test_reasons(const json_t *end)
{
	struct sanity s;
	unsigned flags = read_test(end, &s);

	return reasons(&s, flags);
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
