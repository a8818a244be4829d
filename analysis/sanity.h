/*
 * sanity - what to know about a point before believing its figures. Pure.
 */
#ifndef ANALYSIS_SANITY_H
#define ANALYSIS_SANITY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/steady.h"

struct shape;
struct str;

/* How far a law or an offer may be missed. */
#define SANITY_LITTLE 0.10
#define SANITY_OFFER 0.98
/* What is done beyond this times the offer was not offered in the measured time. */
#define SANITY_CATCH_UP 1.02

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

/*
 * Near which share of a processor each worker must have been busy, and how much of what
 * it had in flight the drive must have had, on average, while it had any: a worker that
 * is that busy and leaves more than the rest lying when the drive has done with it was
 * the limit, not the drive.
 */
#define SANITY_CPU 0.95
#define SANITY_DRIVE_BUSY 0.8
/* With fewer in flight the time of one I/O in the kernel is a large part of it. */
#define SANITY_CPU_IN_FLIGHT 2

/* What others may move on the drive and not be told of: probes of partition tables and
 * the like read; nobody but us writes. Bytes, and for reads a part of our own. */
#define SANITY_OTHERS_WRITTEN 65536
#define SANITY_OTHERS_READ 1048576
#define SANITY_OTHERS_READ_PART 0.001

/* How far the wall clock may go away from the monotonic one, which only a step does: the
 * kernel slews both (adjtimex(2)). Two readings of both differ by microseconds. */
#define SANITY_CLOCK_STEP 0.01

/* How late the first I/O may be, in seconds and as a part of the measured time. */
#define SANITY_START 0.1
#define SANITY_START_PART 0.01

/* How much of the measured time may be without samples, in seconds. */
#define SANITY_UNSAMPLED 0.5

/* The bits are stored, and are those of one flag for ever. */
enum sanity_flag {
	SANITY_ERRORS = 1,	  /* I/Os failed */
	SANITY_DROPPED = 2,	  /* arrivals were given up */
	SANITY_SATURATED = 4,	  /* more was offered than the drive takes */
	SANITY_LITTLES_LAW = 8,	  /* in flight is not IOPS x service time */
	SANITY_LATE_LOAD = 16,	  /* I/Os started late by the node's fault */
	SANITY_CUT = 32,	  /* what had not ended would have changed a percentile */
	SANITY_STALLED = 64,	  /* the node did not run the load for a part of it */
	SANITY_CLIFF = 128,	  /* the drive fell to a lower level within the point */
	SANITY_SPELLS = 256,	  /* the drive had slow spells */
	SANITY_DRIVE_STALL = 512, /* the drive ended nothing for a while */
	SANITY_THROTTLED = 1 << 10, /* the drive was too hot, and said so */
	SANITY_LINK_SLOW = 1 << 11, /* the PCIe link is below what the drive can */
	SANITY_LINK_CHANGED = 1 << 12,
	SANITY_PCIE_ERRORS = 1 << 13,	 /* by Advanced Error Reporting */
	SANITY_CPU_BOUND = 1 << 14,	 /* the workers were the limit */
	SANITY_OTHERS = 1 << 15,	 /* somebody else used the drive */
	SANITY_CLOCK = 1 << 16,		 /* the wall clock was set */
	SANITY_UNSAMPLED_TIME = 1 << 17, /* seconds have no sample */
	SANITY_LATE_START = 1 << 18,
	SANITY_UNSTEADY = 1 << 19,    /* of a test that did not come to a steady state */
	SANITY_CATCHING_UP = 1 << 20, /* a backlog of the warm-up was worked off */
	SANITY_NOT_JUDGED = 1 << 21,  /* of a test that tracks nothing */
	SANITY_OWN_CRITERION = 1 << 22, /* of a test judged unlike the standard has it */
};

/* The flags of tests, which their cells have and no point has by itself. */
#define SANITY_OF_TESTS (SANITY_UNSTEADY | SANITY_NOT_JUDGED | SANITY_OWN_CRITERION)

/*
 * With any of these the response tells how long arrivals had waited already, which is no
 * figure of the drive at that load: it lies under no line, bends no knee and is nobody's
 * best operating point.
 */
#define SANITY_BACKLOG (SANITY_SATURATED | SANITY_CATCHING_UP)

/* A PCIe link: 16.0 GT/s and 4 lanes; 0 where not known. */
struct sanity_link {
	double gts;
	unsigned width;
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

	const struct shape *shape; /* of its seconds, NULL: not known; borrowed */
	unsigned workers;
	double cpu_seconds;	/* that the workers took of the measured time */
	double drive_in_flight; /* mean while there was any, as the kernel counts */
	double other_read_bytes, other_written_bytes; /* by somebody else */
	double read_bytes;			      /* by us */
	double clock_step_seconds; /* of the wall clock, forward is positive */
	double unsampled_seconds;  /* of the measured time that have no sample */
	double start_lag_seconds;  /* from the planned start to the first I/O */
	/* What the drive counted while the point ran: changes into a thermal state, and
	 * seconds in one; temperatures are the higher of start and end, and of warning.
	 */
	double thermal_transitions, thermal_seconds, temperature_c, warning_c;
	struct sanity_link link, link_end, link_max; /* at start and end; the device's */
	double aer_correctable, aer_nonfatal, aer_fatal; /* more at the end than before */
	/* Of a test in rounds; max_rounds 0: no test, or not known. */
	struct steady_rule criterion;
	uint32_t max_rounds;
};

/*
 * sanity_flags returns the flags of a point, 0 when nothing is wrong. An offered load is
 * catching up when more than SANITY_CATCH_UP times the offer was done, by more I/Os than
 * may have been in flight at the start (they are counted): the rest had waited since the
 * warm-up, and the rate is not the one offered. Otherwise it is saturated when less than
 * SANITY_OFFER of it was done, by more I/Os than may be in flight at the end (they are
 * not counted), or when its backlog grew as said above; what came while the node did not
 * run it is left out of both. A point with a backlog (SANITY_BACKLOG) is not said to be
 * cut, too: what waits has no end; nor is a stalled one.
 */
unsigned sanity_flags(const struct sanity *s);

/* sanity_name returns the word of a flag, such as "littles-law" or "cliff"; such words
 * never change. NULL for what is no flag. */
const char *sanity_name(enum sanity_flag f);

/* sanity_reason appends a sentence, without a full stop, that says why s has the flag,
 * with the numbers. */
void sanity_reason(const struct sanity *s, enum sanity_flag f, struct str *out);

#endif
