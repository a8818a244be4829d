/*
 * suite - a named, versioned list of preparation and workloads: read, check, plan.
 *
 * It has workloads, which are measured along a ramp of loads, or tests, whose cells are
 * measured in rounds until they are steady; never both. The JSON form is
 * schema/suite.schema.json. Pure: no I/O, no clock.
 */
#ifndef COMMON_SUITE_H
#define COMMON_SUITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/program.h"
#include "common/workload.h"

struct err;
struct str;

#define SUITE_NAME_MAX 64
#define SUITE_WORKLOADS_MAX 64
#define SUITE_TESTS_MAX 64

/*
 * What one run may measure, fills and purges left aside, with all the rounds that it may
 * take: a year of 365 days, far more than any standard asks for. Figures of longer runs
 * would outgrow their integers.
 */
#define SUITE_RUN_MAX_NS (INT64_C(365) * 86400 * 1000000000)

struct suite_test {
	char id[WORKLOAD_ID_MAX];
	char title[128];
	bool continues;	      /* begins in the state in which the test before it ends */
	bool purge;	      /* before the fill */
	uint32_t fill_passes; /* 0: no fill */
	uint32_t fill_block_bytes;
	uint32_t fill_in_flight;
	double stop_capacities; /* no round begins once the rounds wrote so many; 0: no
				   limit */
	struct rounds rounds;	/* owned by the suite */
};

/* Rates that are offered to a workload as they are, I/Os per second, rising. */
struct suite_rates {
	double iops[RAMP_POINTS_MAX];
	size_t n; /* 0: it has the loads of the ramp */
};

struct suite {
	char name[SUITE_NAME_MAX]; /* [a-z0-9][a-z0-9-]* */
	uint32_t version;	   /* from 1 */
	char title[128];
	bool scaled; /* shorter or smaller than the full form: never ranked with full
			results */
	bool purge;  /* before the fill */
	uint32_t fill_passes; /* 0: no fill */
	uint32_t fill_block_bytes;
	uint32_t fill_in_flight;
	double region_percent; /* of the capacity, 0 < x <= 100, starts at offset 0 */
	uint64_t minimum_capacity_bytes;
	struct data_shares data; /* of the fill and of all workloads */
	struct ramp ramp;
	struct workload workloads[SUITE_WORKLOADS_MAX];
	struct suite_rates rates[SUITE_WORKLOADS_MAX]; /* of each workload */
	size_t n_workloads;			       /* 0: it has tests */
	struct suite_test *tests;		       /* owned */
	size_t n_tests;
};

/* What a suite has to know of the drive that it is to run on. */
struct suite_drive {
	uint64_t capacity_bytes;
	uint32_t logical_block_bytes;
	bool has_health; /* a log of its health that can be polled (drive_has_health) */
};

/* suite_drive_of takes that from the identity of a drive. */
struct suite_drive suite_drive_of(const struct drive_id *id);

/* What a run will take and write, worst case, before it starts. */
struct suite_cost {
	int64_t duration_ns;
	int64_t measure_ns; /* of that, all points, warm-up and pauses included */
	int64_t writing_ns; /* what points write at most, as time of writes at full speed,
			       of tests before stop_capacities, without rates */
	uint64_t rate_bytes;  /* of write_bytes, what points of rates write at most,
				 whatever the speed of the drive */
	uint64_t write_bytes; /* fill exactly; a purge as one pass of a fill; workloads
				 and all rounds at most, by write_bytes_per_s */
	uint64_t fill_bytes;  /* of that, purges and fills */
	uint32_t overwrites;  /* how often these write the whole drive */
	uint32_t points;
};

/* suite_parse reads and checks a suite document; *ret_s is owned (suite_fini).
 * ERR_INVALID with pointer. */
int suite_parse(const json_t *doc, struct suite *ret_s, struct err *e);

/* suite_check_new checks what is asked of a new document, of which suite_parse has made
 * s, and not of one that was stored before: no null, no control characters in titles.
 * ERR_INVALID. */
int suite_check_new(const json_t *doc, const struct suite *s, struct err *e);

/*
 * suite_parse_ref reads "four-corners@1". ret_name holds SUITE_NAME_MAX bytes.
 * ERR_INVALID with fix, without pointer.
 */
int suite_parse_ref(
	const char *text, char *ret_name, uint32_t *ret_version, struct err *e);

/*
 * suite_choose keeps the workloads or tests with the given ids, in the suite's order;
 * n == 0 keeps all. ERR_INVALID with the pointer /workloads/N of the first id that the
 * suite does not have, and for a test that goes on where one that is not chosen ends.
 */
int suite_choose(
	struct suite *s, const char (*ids)[WORKLOAD_ID_MAX], size_t n, struct err *e);

/* suite_fini frees what s owns. */
void suite_fini(struct suite *s);

/* suite_wants_maximum says whether the maximum of any workload is measured: of one that
 * has no rates. */
bool suite_wants_maximum(const struct suite *s);

/* suite_writes says whether a run of s writes to its drive at all. */
bool suite_writes(const struct suite *s);

/*
 * suite_fits checks that such a drive can run s. ERR_INVALID with fix. Of a suite with
 * tests, what the drive cannot do may be missing as long as one test is left: cells whose
 * blocks it does not have, and whole tests that poll a log of health that it does not
 * have.
 */
int suite_fits(const struct suite *s, const struct suite_drive *d, struct err *e);

/* suite_left_out appends "TEST" or "TEST/CELL", with commas, for all that a drive with
 * such logical blocks cannot do. */
void suite_left_out(const struct suite *s, uint32_t logical_block_bytes, struct str *out);

/* suite_left_out_for_health appends "TEST", with commas, for all that a drive without a
 * log of its health cannot do. */
void suite_left_out_for_health(const struct suite *s, struct str *out);

/*
 * suite_cost estimates one run of what such a drive can do. Both speeds are what the
 * caller assumes of the drive: fill_bytes_per_s, not 0, gives the time of the fill,
 * write_bytes_per_s the bytes that the writes of all points can be at most, their warm-up
 * included. A purge counts as one pass: at worst it is one, of zeroes; otherwise the
 * drive erases each block once. Tests count with all the rounds that they may take. What
 * no int64_t holds counts as INT64_MAX.
 */
void suite_cost(const struct suite *s, const struct suite_drive *d,
	uint64_t fill_bytes_per_s, uint64_t write_bytes_per_s,
	struct suite_cost *ret_cost);

/* suite_part_cost is that for workload or test number part alone, with the purge and fill
 * of a test, without the preparation of the suite; nothing where the drive cannot do it.
 */
void suite_part_cost(const struct suite *s, size_t part, const struct suite_drive *d,
	uint64_t fill_bytes_per_s, uint64_t write_bytes_per_s,
	struct suite_cost *ret_cost);

/*
 * suite_left_ns estimates how long a run of s still takes of which all steps of the
 * program before step number `step` (suite_compile, from 1; 0: nothing is done yet) are
 * done, and of that step so many points. Tests count with all the rounds that they may
 * still take. What no int64_t holds counts as INT64_MAX.
 */
int64_t suite_left_ns(const struct suite *s, const struct suite_drive *d,
	uint64_t fill_bytes_per_s, uint32_t step, uint32_t points);

/* suite_fill_passes returns how many passes step number `step` fills the drive with, 0
 * when it is no fill. */
uint32_t suite_fill_passes(
	const struct suite *s, const struct suite_drive *d, uint32_t step);

/*
 * suite_compile makes the run program of s for a drive that it fits: every default
 * explicit, sizes in bytes. *ret_p is overwritten; ids, drive and seed are set by the
 * caller afterwards. *ret_p is owned (program_fini).
 */
void suite_compile(
	const struct suite *s, const struct suite_drive *d, struct program *ret_p);

#endif
