/* What is wrong with a point, in words: the names of flags and their sentences. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/sanity.h"
#include "analysis/shape.h"
#include "common/str.h"

/* A time in a unit that people read. */
static void
put_seconds(struct str *out, double s)
{
	double a = fabs(s);

	if (a >= 1)
		str_printf(out, "%.3g s", s);
	else if (a >= 1e-3)
		str_printf(out, "%.3g ms", s * 1e3);
	else
		str_printf(out, "%.3g us", s * 1e6);
}

static void
put_bytes(struct str *out, double n)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	size_t i = 0;

	while (n >= 999.5 && i + 1 < sizeof(units) / sizeof(units[0])) {
		n /= 1000;
		i++;
	}
	str_printf(out, "%.3g %s", n, units[i]);
}

static void
say_errors(const struct sanity *s, struct str *out)
{
	str_printf(out, "%" PRIu64 " I/O%s failed", s->errors, s->errors == 1 ? "" : "s");
}

static void
say_dropped(const struct sanity *s, struct str *out)
{
	str_printf(out, "%" PRIu64 " arrivals were given up: too many waited already",
		s->dropped);
}

static void
say_saturated(const struct sanity *s, struct str *out)
{
	/* A little more may be done than was offered, by what the warm-up left; and what
	 * was in flight at the end is not missing. Then it is the backlog that tells. */
	bool done = s->iops >= SANITY_OFFER * s->offered_iops;

	if (s->iops >= s->offered_iops)
		str_printf(out, "all %.0f offered I/Os per second were done",
			s->offered_iops);
	else
		str_printf(out, "%.0f of %.0f offered I/Os per second were done", s->iops,
			s->offered_iops);
	if (!(s->backlog_max > 0))
		return;
	str_printf(out, ", %s up to %.0f waited, ", done ? "but" : "and", s->backlog_max);
	put_seconds(out, s->backlog_max / s->offered_iops);
	str_puts(out, " of arrivals");
}

static void
say_catching_up(const struct sanity *s, struct str *out)
{
	str_printf(out,
		"%.0f I/Os per second were done though only %.0f were offered: the rest "
		"had waited since the warm-up, so neither rate nor response are those "
		"of this load",
		s->iops, s->offered_iops);
	if (s->backlog_max > 0)
		str_printf(out, "; up to %.0f waited", s->backlog_max);
}

static void
say_littles_law(const struct sanity *s, struct str *out)
{
	str_printf(out,
		"%.3g I/Os were in flight on average, but rate x service time gives "
		"%.3g: the two should agree within %.0f %%",
		s->in_flight_mean, s->littles_n, 100 * SANITY_LITTLE);
}

static void
say_late(const struct sanity *s, struct str *out)
{
	str_puts(out, "the load itself was late by ");
	put_seconds(out, s->late_mean_ns / 1e9);
	str_printf(out,
		" on average, more than %.0f %% of the service time: the node was busy",
		100 * SANITY_LATE);
}

static void
say_cut(const struct sanity *s, struct str *out)
{
	str_printf(out,
		"what had not ended at the end would make a percentile %.3g times as "
		"high",
		s->unfinished_factor);
}

static void
say_stalled(const struct sanity *s, struct str *out)
{
	str_puts(out, "the node did not run the load for ");
	put_seconds(out, s->missed_seconds);
	str_printf(out, " of %.3g s", s->seconds);
}

/* Speeds are operations per second, or per second of service. */
static void
put_fall(struct str *out, const struct shape *h, double from, double to)
{
	if (h->rate) {
		str_printf(out, "from %.0f to %.0f I/Os per second", from, to);
		return;
	}
	str_puts(out, "from ");
	put_seconds(out, from > 0 ? 1 / from : 0);
	str_puts(out, " to ");
	put_seconds(out, to > 0 ? 1 / to : 0);
	str_puts(out, " of service time");
}

static void
say_cliff(const struct sanity *s, struct str *out)
{
	const struct shape *h = s->shape;

	str_puts(out, "the drive went ");
	put_fall(out, h, h->cliff_from, h->cliff_to);
	str_printf(out, " %.3g s into the point, after ", h->cliff_at_s);
	put_bytes(out, h->cliff_after_bytes);
	str_puts(out, ", and stayed there");
}

static void
say_spells(const struct sanity *s, struct str *out)
{
	const struct shape *h = s->shape;

	str_printf(out, "the drive had %u slow spells, %.3g s in all, in which it went ",
		h->spells, h->spells_s);
	put_fall(out, h, h->fast, h->slow);
}

static void
say_drive_stall(const struct sanity *s, struct str *out)
{
	const struct shape *h = s->shape;

	str_puts(out, "the drive ended nothing for ");
	put_seconds(out, h->stall_s);
	str_printf(out, ", %.3g s into the point", h->stall_at_s);
	if (h->stalls > 1)
		str_printf(out, "; the longest of %u such stalls", h->stalls);
}

static void
say_throttled(const struct sanity *s, struct str *out)
{
	const char *and = "";

	str_puts(out, "the drive ");
	if (s->thermal_transitions > 0) {
		str_printf(out, "went into a thermal state %.0f times",
			s->thermal_transitions);
		and = " and ";
	}
	if (s->thermal_seconds > 0) {
		str_printf(out, "%sspent %.0f s in one", and, s->thermal_seconds);
		and = " and ";
	}
	if (s->warning_c > 0 && s->temperature_c >= s->warning_c)
		str_printf(out, "%shad %.0f C, its warning temperature is %.0f C", and,
			s->temperature_c, s->warning_c);
}

static void
put_link(struct str *out, const struct sanity_link *l)
{
	str_printf(out, "%.1f GT/s x%u", l->gts, l->width);
}

static void
say_link_slow(const struct sanity *s, struct str *out)
{
	str_puts(out, "the PCIe link ran at ");
	put_link(out, &s->link);
	str_puts(out, "; the drive can do ");
	put_link(out, &s->link_max);
}

static void
say_link_changed(const struct sanity *s, struct str *out)
{
	str_puts(out, "the PCIe link changed from ");
	put_link(out, &s->link);
	str_puts(out, " to ");
	put_link(out, &s->link_end);
}

static void
say_pcie_errors(const struct sanity *s, struct str *out)
{
	str_printf(out,
		"PCIe reported %.0f correctable, %.0f non-fatal and %.0f fatal errors",
		s->aer_correctable, s->aer_nonfatal, s->aer_fatal);
}

static void
say_cpu_bound(const struct sanity *s, struct str *out)
{
	str_printf(out,
		"%u worker%s used %.0f %% of a processor each, and of %.3g I/Os in "
		"flight the drive had only %.3g: the node was the limit",
		s->workers, s->workers == 1 ? "" : "s",
		100 * s->cpu_seconds / s->seconds / s->workers, s->in_flight_mean,
		s->drive_in_flight);
}

static void
say_others(const struct sanity *s, struct str *out)
{
	const char *and = "";

	str_puts(out, "somebody else ");
	if (s->other_written_bytes > SANITY_OTHERS_WRITTEN) {
		str_puts(out, "wrote ");
		put_bytes(out, s->other_written_bytes);
		and = " and ";
	}
	if (s->other_read_bytes > SANITY_OTHERS_READ) {
		str_printf(out, "%sread ", and);
		put_bytes(out, s->other_read_bytes);
	}
	str_puts(out, " on the drive");
}

static void
say_clock(const struct sanity *s, struct str *out)
{
	str_puts(out, "the node's wall clock was set ");
	put_seconds(out, fabs(s->clock_step_seconds));
	str_puts(out, s->clock_step_seconds > 0 ? " forward" : " back");
}

static void
say_unsampled(const struct sanity *s, struct str *out)
{
	str_printf(
		out, "%.3g of %.3g s have no sample", s->unsampled_seconds, s->seconds);
}

static void
say_late_start(const struct sanity *s, struct str *out)
{
	str_puts(out, "the first I/O came ");
	put_seconds(out, s->start_lag_seconds);
	str_puts(out, " late");
}

static void
say_unsteady(const struct sanity *s, struct str *out)
{
	(void)s;
	str_puts(out, "its test did not come to a steady state");
}

static void
say_not_judged(const struct sanity *s, struct str *out)
{
	(void)s;
	str_puts(out, "its test tracks nothing, so nobody judged whether it was steady");
}

static void
say_own_criterion(const struct sanity *s, struct str *out)
{
	str_printf(out,
		"its test was judged by a window of %" PRIu32
		" rounds, a range of %g %%, "
		"a slope of %g %% and at most %" PRIu32
		" rounds; the standard has %d, %d %%, %d %% and %d",
		s->criterion.window, s->criterion.range_percent,
		s->criterion.slope_percent, s->max_rounds, STEADY_WINDOW,
		STEADY_RANGE_PERCENT, STEADY_SLOPE_PERCENT, STEADY_ROUNDS);
}

static const struct {
	enum sanity_flag flag;
	const char *name;
	void (*say)(const struct sanity *s, struct str *out);
} words[] = {
	{SANITY_ERRORS, "errors", say_errors},
	{SANITY_DROPPED, "dropped", say_dropped},
	{SANITY_SATURATED, "saturated", say_saturated},
	{SANITY_LITTLES_LAW, "littles-law", say_littles_law},
	{SANITY_LATE_LOAD, "late", say_late},
	{SANITY_CUT, "cut", say_cut},
	{SANITY_STALLED, "stalled", say_stalled},
	{SANITY_CLIFF, "cliff", say_cliff},
	{SANITY_SPELLS, "spells", say_spells},
	{SANITY_DRIVE_STALL, "drive-stall", say_drive_stall},
	{SANITY_THROTTLED, "throttled", say_throttled},
	{SANITY_LINK_SLOW, "link-slow", say_link_slow},
	{SANITY_LINK_CHANGED, "link-changed", say_link_changed},
	{SANITY_PCIE_ERRORS, "pcie-errors", say_pcie_errors},
	{SANITY_CPU_BOUND, "processor-bound", say_cpu_bound},
	{SANITY_OTHERS, "other-io", say_others},
	{SANITY_CLOCK, "clock-step", say_clock},
	{SANITY_UNSAMPLED_TIME, "samples-missing", say_unsampled},
	{SANITY_LATE_START, "late-start", say_late_start},
	{SANITY_UNSTEADY, "unsteady", say_unsteady},
	{SANITY_CATCHING_UP, "catching-up", say_catching_up},
	{SANITY_NOT_JUDGED, "not-judged", say_not_judged},
	{SANITY_OWN_CRITERION, "own-criterion", say_own_criterion},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

const char *
sanity_name(enum sanity_flag f)
{
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].flag == f)
			return words[i].name;
	return NULL;
}

void
sanity_reason(const struct sanity *s, enum sanity_flag f, struct str *out)
{
	for (size_t i = 0; i < WORDS; i++)
		if (words[i].flag == f)
			words[i].say(s, out);
}
