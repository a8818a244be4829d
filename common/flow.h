/*
 * flow - one of the streams that a workload mixes: which I/Os it makes, and where.
 *
 * Holds shares and percentages, and turns them into bytes of a region; draws nothing.
 * Pure. A stream is plain data; one that is all zero is not valid.
 */
#ifndef COMMON_FLOW_H
#define COMMON_FLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record.h"

struct err;

#define FLOW_BLOCKS_MAX 16 /* JESD219 mixes twelve */
#define FLOW_BLOCK_MAX (16U << 20)
#define FLOW_ZONES_MAX 8
#define FLOW_CURSORS_MAX 64
#define FLOW_THETA_MAX 5
/* Largest piece of a zipf distribution, bytes; see flow_piece_bytes. */
#define FLOW_PIECE_MAX (UINT64_C(64) << 20)

/* The members of a stream in the human form, for json_only. */
#define FLOW_MEMBERS                                                                   \
	"read", "operation", "access", "random", "block", "read_block", "write_block", \
		"align", "region", "cursors", "distribution"

/* What the I/Os of a stream that do not read do. */
enum operation {
	OP_WRITE,
	OP_WRITE_FUA, /* a write that is durable when it ends */
	OP_WRITE_ZEROES,
	OP_TRIM,
	OP_FLUSH, /* has no place and no length */
	OPERATIONS
};

struct block_share {
	uint32_t bytes; /* multiple of 512, at most FLOW_BLOCK_MAX */
	double percent; /* of the I/Os of its direction, above 0 */
};

/* The block sizes of a direction, each once, rising; their shares sum to 100. */
struct block_mix {
	size_t n; /* 0: the direction does not occur */
	struct block_share list[FLOW_BLOCKS_MAX];
};

/* How random offsets are spread over the stream's part of the region. */
enum spread {
	SPREAD_UNIFORM,
	SPREAD_ZIPF,  /* the piece of rank k = 1, 2, ... with weight k^-theta */
	SPREAD_ZONES, /* zones one after the other, even inside each */
};

struct flow_zone {
	double space_percent; /* of the part, above 0; all sum to 100 */
	double share_percent; /* of the random I/Os, above 0; all sum to 100 */
};

struct flow {
	double share_percent;	  /* of the workload's I/Os, above 0 */
	double read_percent;	  /* 0..100, of the stream's I/Os */
	enum operation operation; /* of the others */
	double random_percent; /* 0..100, of the stream's I/Os; the rest is sequential */
	/* Of reads, and of the others, whatever they do. */
	struct block_mix blocks[DATA_DIRECTIONS];
	uint32_t align_bytes; /* of random offsets; 0: the length of the I/O itself */
	double from_percent, to_percent; /* its part of the region, 0 <= from < to <= 100
					  */
	uint32_t cursors;		 /* sequential ones of each worker, from 1 */
	enum spread spread;
	double theta;	/* zipf: above 0, at most FLOW_THETA_MAX; else 0 */
	size_t n_zones; /* zones: 1..FLOW_ZONES_MAX; else 0 */
	struct flow_zone zones[FLOW_ZONES_MAX];
};

/* Bytes from..to of a region, counted from its start. */
struct span {
	uint64_t from, to;
};

/* flow_plain sets a stream of one block size for all I/Os, anywhere in the region. */
void flow_plain(struct flow *ret_s, double read_percent, double random_percent,
	uint32_t block_bytes);

/* flow_is_plain says whether flow_plain could have made s. */
bool flow_is_plain(const struct flow *s);

/*
 * block_mix_add adds a size, in its place. ERR_INVALID: a size that no block can have or
 * that is there already, no share, or one size too many.
 */
int block_mix_add(struct block_mix *m, uint64_t bytes, double percent, struct err *e);

/* block_mix_equal says whether both have the same sizes with the same shares. */
bool block_mix_equal(const struct block_mix *a, const struct block_mix *b);

/* block_mix_check wants a sum of 100 percent. ERR_INVALID. */
int block_mix_check(const struct block_mix *m, struct err *e);

/* flow_add_zone appends a zone. ERR_INVALID: one too many, or no share. */
int flow_add_zone(
	struct flow *s, double space_percent, double share_percent, struct err *e);

/* flow_check_zones wants sums of 100 percent. ERR_INVALID. */
int flow_check_zones(const struct flow *s, struct err *e);

/* flow_set_theta makes the distribution a zipf. ERR_INVALID: theta out of range. */
int flow_set_theta(struct flow *s, double theta, struct err *e);

/*
 * flow_set_jesd219 sets the three zones of JESD219: 5 % of the space get 50 % of the
 * I/Os, 15 % get 30 %, 80 % get 20 %.
 */
void flow_set_jesd219(struct flow *s);

/* flow_check wants all that is said at the members above. ERR_INVALID, no pointer. */
int flow_check(const struct flow *s, struct err *e);

/* operation_name returns "write", "write-fua", "write-zeroes", "trim" or "flush". */
const char *operation_name(enum operation op);

/* operation_named finds one. ERR_INVALID, no pointer. */
int operation_named(const char *name, enum operation *ret_op, struct err *e);

/* operation_direction returns what its I/Os are counted as. */
enum direction operation_direction(enum operation op);

/* flow_uses says whether any I/O of the stream has this direction. */
bool flow_uses(const struct flow *s, enum direction dir);

/* flow_uses_blocks says whether any I/O of the stream has a size of blocks[dir]. */
bool flow_uses_blocks(const struct flow *s, enum direction dir);

/* flow_changes says whether any I/O of the stream changes what the drive holds. */
bool flow_changes(const struct flow *s);

/* flow_block_max returns the largest block of both directions, bytes; 0 when the stream
 * has none. */
uint32_t flow_block_max(const struct flow *s);

/* flow_mean_bytes returns the mean size of blocks[dir]; 0 when no I/O has one of it. */
double flow_mean_bytes(const struct flow *s, enum direction dir);

/* flow_part returns the stream's part of a region of `length` bytes. */
struct span flow_part(const struct flow *s, uint64_t length);

/* flow_zone_span returns zone i of that part; with no zones, 0 is the whole part. */
struct span flow_zone_span(const struct flow *s, size_t i, uint64_t length);

/*
 * span_positions returns how many blocks of `bytes` lie inside the span and start at a
 * multiple of `align`; *ret_first is where the first does. They are `align` apart.
 */
uint64_t span_positions(
	struct span span, uint64_t bytes, uint64_t align, uint64_t *ret_first);

/* flow_stride returns what random offsets of blocks of `bytes` are multiples of. */
uint32_t flow_stride(const struct flow *s, uint32_t bytes);

/*
 * flow_piece_bytes returns the size of the pieces that a zipf distribution ranks: the
 * least that holds the largest block and is a multiple of every stride, so that all
 * sizes and both directions share their hot pieces. 0: above FLOW_PIECE_MAX.
 */
uint64_t flow_piece_bytes(const struct flow *s);

/*
 * flow_fits checks that a region of `length` bytes on a drive with these logical blocks
 * has room for each I/O that the stream can draw, and for a sequential part of each
 * cursor of each worker. ERR_INVALID, no pointer.
 */
int flow_fits(const struct flow *s, uint64_t length, uint32_t logical_block_bytes,
	unsigned workers, struct err *e);

/* flow_parse reads the human form (FLOW_MEMBERS of o); share_percent is 100. The
 * caller has looked for unknown members. ERR_INVALID with pointer. */
int flow_parse(const json_t *o, const char *at, struct flow *ret_s, struct err *e);

/* flow_to_json and flow_from_json: base units, as in a run program; nothing
 * optional. */
json_t *flow_to_json(const struct flow *s);
int flow_from_json(const json_t *o, const char *at, struct flow *ret_s, struct err *e);

/* spread_name returns "uniform", "zipf" or "zones". */
const char *spread_name(enum spread spread);

#endif
