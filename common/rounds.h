/*
 * rounds - a test that measures the same cells again and again, until it is steady.
 *
 * What a step "rounds" of a run program says (schema/program.md), and its form in a
 * suite. Plain data that owns its lists; pure.
 */
#ifndef COMMON_ROUNDS_H
#define COMMON_ROUNDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/workload.h"

struct err;

#define ROUNDS_CELLS_MAX 256
#define ROUNDS_TRACKED_MAX 8
#define ROUNDS_WINDOW_MAX 64
#define ROUNDS_MAX 10000
/* Cells times rounds of a test: all may have to be added up at once. */
#define ROUNDS_POINTS_MAX 20000
/* Bytes of "TEST/CELL", the name of a cell in results, with its NUL. */
#define ROUNDS_NAME_MAX WORKLOAD_ID_MAX

/* What is tracked, of reads and writes together. */
enum rounds_metric {
	ROUNDS_IOPS,
	ROUNDS_BYTES_PER_SECOND,
	ROUNDS_LAT_MEAN_NS, /* mean service time */
	ROUNDS_METRICS
};

/* One closed loop of each round. */
struct rounds_cell {
	struct workload workload;
	int64_t warmup_ns, measure_ns;
	int64_t pause_ns;	/* nothing is done for so long when it has ended */
	int64_t poll_health_ns; /* while it runs the drive's health is read, and so long
				   after each answer again; 0: it is not */
};

/* Which operating point of an earlier test (analysis/demand.h). */
enum rounds_pick { ROUNDS_PICK_MAX, ROUNDS_PICK_MID, ROUNDS_PICK_MIN };

/* From where all cells of a test take their workers and I/Os in flight. */
struct rounds_choice {
	char from[WORKLOAD_ID_MAX]; /* id of the earlier test; "": they say them */
	enum rounds_pick pick;
	int64_t mean_below_ns; /* of max and mid; 0 of min */
};

struct rounds_tracked {
	uint32_t cell; /* index */
	enum rounds_metric metric;
};

struct rounds {
	struct rounds_cell *cells; /* owned; in the order they are measured */
	size_t n_cells;		   /* 0 only when cells were left out */
	/* when it is one, workers and in_flight of the cells are the most that may be
	 * chosen */
	struct rounds_choice choice;
	struct rounds_tracked tracked[ROUNDS_TRACKED_MAX];
	size_t n_tracked; /* 0: max_rounds rounds are measured, and nothing is judged */
	uint32_t window;  /* rounds, 2..ROUNDS_WINDOW_MAX */
	double range_percent, slope_percent; /* of the mean; see analysis/steady.h */
	uint32_t max_rounds;		     /* 1..ROUNDS_MAX */
	uint64_t stop_bytes; /* no round begins once so much was written; 0: no limit */
	/* ids of cells that the drive cannot do; owned */
	char (*left_out)[WORKLOAD_ID_MAX];
	size_t n_left_out;
	bool left_out_for_health; /* all of them: the drive has no log that cells poll */
};

/* rounds_to_json writes the object "rounds" of a step. New reference. */
json_t *rounds_to_json(const struct rounds *r);

/* rounds_from_json reads it; *ret_r is owned (rounds_fini), also after an error.
 * ERR_INVALID with pointer. */
int rounds_from_json(
	const json_t *o, const char *at, struct rounds *ret_r, struct err *e);

/*
 * rounds_parse reads the form of a suite: units in texts, defaults filled in; *ret_r as
 * for rounds_from_json, but where the demand is chosen rounds_bound is still to be done.
 * stop_bytes stays 0: *ret_stop_capacities tells it in capacities of the drive, 0 for no
 * limit. ERR_INVALID with pointer.
 */
int rounds_parse(const json_t *o, const char *at, struct rounds *ret_r,
	double *ret_stop_capacities, struct err *e);

/* rounds_check_points wants at most ROUNDS_POINTS_MAX points. ERR_INVALID with pointer.
 */
int rounds_check_points(const struct rounds *r, const char *at, struct err *e);

/* rounds_check_names wants names that fit ROUNDS_NAME_MAX, each once. ERR_INVALID with
 * pointer. */
int rounds_check_names(
	const struct rounds *r, const char *test, const char *at, struct err *e);

/* rounds_name writes the name of a cell: "TEST/CELL". */
void rounds_name(
	const char *test, const struct rounds_cell *c, char ret_name[ROUNDS_NAME_MAX]);

/* rounds_writes says whether any cell changes what the drive holds. */
bool rounds_writes(const struct rounds *r);

/* rounds_polls_health says whether the drive's health is polled while any cell runs. */
bool rounds_polls_health(const struct rounds *r);

/* rounds_duration_ns returns how long one round takes. */
int64_t rounds_duration_ns(const struct rounds *r);

/* rounds_space_bytes returns the smallest region in which each worker of each cell has
 * room for one block. */
uint64_t rounds_space_bytes(const struct rounds *r);

/*
 * rounds_copy copies r for a drive with these logical blocks: cells whose blocks are no
 * multiple of them are left out, with 0 all. *ret_r is owned (rounds_fini).
 */
void rounds_copy(
	const struct rounds *r, uint32_t logical_block_bytes, struct rounds *ret_r);

/* rounds_is_possible says whether such a drive can do what r needs: at least one cell,
 * and all that is tracked. */
bool rounds_is_possible(const struct rounds *r, uint32_t logical_block_bytes);

/* rounds_offers_choice says whether another test may choose from r: one that tracks
 * something and whose cells say their demand themselves. */
bool rounds_offers_choice(const struct rounds *r);

/* rounds_may_choose says whether a test may take over the demand of cell i of from: one
 * that does the same I/Os as the first that is tracked. */
bool rounds_may_choose(const struct rounds *from, size_t i);

/* rounds_demand gives all cells of r so many workers and I/Os in flight; rounds_bound the
 * most that it may choose from the cells of from. */
void rounds_demand(struct rounds *r, uint32_t workers, uint32_t in_flight);
void rounds_bound(struct rounds *r, const struct rounds *from);

/* rounds_fini frees what r owns. */
void rounds_fini(struct rounds *r);

/* rounds_metric_name returns "iops", "bytes_per_second" or "lat_mean_ns". */
const char *rounds_metric_name(enum rounds_metric m);

/* rounds_pick_name returns "max", "mid" or "min". */
const char *rounds_pick_name(enum rounds_pick p);

#endif
