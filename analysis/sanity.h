/*
 * sanity - what to know about a point before believing its figures. Pure.
 */
#ifndef ANALYSIS_SANITY_H
#define ANALYSIS_SANITY_H

#include <stdint.h>

/* How far a law or an offer may be missed. */
#define SANITY_LITTLE 0.10
#define SANITY_OFFER 0.98

/* How much of a point its node may miss. */
#define SANITY_MISSED 0.02

/* What a percentile may rise to, times itself, when what the end cut off counts too. */
#define SANITY_CUT_FACTOR 2

/* How late the load itself may be on average, as a part of the mean service time. */
#define SANITY_LATE 0.10

/*
 * A backlog that has grown beyond both, times the I/Os in flight and seconds of the
 * offered rate, was no burst: those in flight could not hold it for a noticeable time.
 */
#define SANITY_BACKLOG_IN_FLIGHT 10
#define SANITY_BACKLOG_SECONDS 0.1

enum sanity_flag {
	SANITY_ERRORS = 1,	/* I/Os failed */
	SANITY_DROPPED = 2,	/* arrivals were given up */
	SANITY_SATURATED = 4,	/* more was offered than the drive takes */
	SANITY_LITTLES_LAW = 8, /* in flight is not IOPS x service time */
	SANITY_LATE_LOAD = 16,	/* I/Os started late by the node's fault */
	SANITY_CUT = 32,	/* what had not ended would have changed a percentile */
	SANITY_STALLED = 64,	/* the node did not run the load for a part of it */
};

/* The facts of a point; NAN where one is not known. */
struct sanity {
	double iops, offered_iops;
	double seconds; /* that were measured */
	double littles_n, in_flight_mean;
	double in_flight;	  /* the most that may be */
	double backlog_max;	  /* arrivals that waited for that, at most */
	double late_mean_ns;	  /* of arrivals that found a slot free */
	double unfinished_factor; /* cut_factor */
	double missed_seconds;	  /* that the node did not run the load */
	uint64_t errors, dropped;
};

/*
 * sanity_flags returns the flags of a point, 0 when nothing is wrong. An offered load is
 * saturated when less than SANITY_OFFER of it was done, by more I/Os than may be in
 * flight at the end (they are not counted), or when its backlog grew as said above; what
 * came while the node did not run it is left out of both. A saturated point is not said
 * to be cut, too: its backlog has no end; nor is a stalled one.
 */
unsigned sanity_flags(const struct sanity *s);

/* sanity_name returns "errors", "dropped", "saturated", "littles-law", "late", "cut"
 * or "stalled". */
const char *sanity_name(enum sanity_flag f);

#endif
