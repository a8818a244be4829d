#include "common/flow.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "common/parse.h"
#include "common/share.h"

#define SECTOR_BYTES 512

static const char *const directions[DATA_DIRECTIONS] = {
	[DIR_READ] = "read",
	[DIR_WRITE] = "write",
};

void
flow_plain(struct flow *ret_s, double read_percent, double random_percent,
	uint32_t block_bytes)
{
	memset(ret_s, 0, sizeof(*ret_s));
	ret_s->share_percent = 100;
	ret_s->read_percent = read_percent;
	ret_s->random_percent = random_percent;
	ret_s->to_percent = 100;
	ret_s->cursors = 1;
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		ret_s->blocks[d].n = 1;
		ret_s->blocks[d].list[0] = (struct block_share){block_bytes, 100};
	}
}

bool
flow_is_plain(const struct flow *s)
{
	const struct block_mix *b = s->blocks;

	return s->share_percent >= 100 && s->operation == OP_WRITE &&
	       b[DIR_READ].n == 1 && b[DIR_WRITE].n == 1 &&
	       b[DIR_READ].list[0].bytes == b[DIR_WRITE].list[0].bytes &&
	       s->align_bytes == 0 && s->from_percent <= 0 && s->to_percent >= 100 &&
	       s->cursors == 1 && s->spread == SPREAD_UNIFORM;
}

int
block_mix_add(struct block_mix *m, uint64_t bytes, double percent, struct err *e)
{
	size_t i = m->n;

	if (bytes == 0 || bytes % SECTOR_BYTES != 0 || bytes > FLOW_BLOCK_MAX)
		return err_set(e, ERR_INVALID,
			"a block is a multiple of 512 bytes, at most 16MiB");
	if (!(percent > 0 && percent <= 100))
		return err_set(e, ERR_INVALID,
			"a block size has more than 0%% and at most 100%% of the I/Os; "
			"leave it out when it has none");
	if (m->n == FLOW_BLOCKS_MAX)
		return err_set(e, ERR_INVALID, "a stream mixes at most %d block sizes",
			FLOW_BLOCKS_MAX);
	while (i > 0 && m->list[i - 1].bytes > bytes)
		i--;
	if (i > 0 && m->list[i - 1].bytes == bytes)
		return err_set(e, ERR_INVALID, "this block size is given twice");
	memmove(&m->list[i + 1], &m->list[i], (m->n - i) * sizeof(m->list[0]));
	m->list[i] = (struct block_share){(uint32_t)bytes, percent};
	m->n++;
	return 0;
}

bool
block_mix_equal(const struct block_mix *a, const struct block_mix *b)
{
	for (size_t i = 0; a->n == b->n && i < a->n; i++)
		if (a->list[i].bytes != b->list[i].bytes ||
			fabs(a->list[i].percent - b->list[i].percent) > 0)
			return false;
	return a->n == b->n;
}

int
block_mix_check(const struct block_mix *m, struct err *e)
{
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->list[i].percent;
	if (share_is_whole(sum))
		return 0;
	err_set(e, ERR_INVALID, "the shares of the block sizes sum to %g%%", sum);
	return err_fix(e, "make them 100%% in all");
}

int
flow_add_zone(struct flow *s, double space_percent, double share_percent, struct err *e)
{
	if (!(space_percent > 0 && space_percent <= 100) ||
		!(share_percent > 0 && share_percent <= 100))
		return err_set(e, ERR_INVALID,
			"a zone has more than 0%% and at most 100%% of the space and of "
			"the I/Os");
	if (s->n_zones == FLOW_ZONES_MAX)
		return err_set(
			e, ERR_INVALID, "a stream has at most %d zones", FLOW_ZONES_MAX);
	s->spread = SPREAD_ZONES;
	s->zones[s->n_zones++] = (struct flow_zone){space_percent, share_percent};
	return 0;
}

int
flow_check_zones(const struct flow *s, struct err *e)
{
	double space = 0;
	double share = 0;

	for (size_t i = 0; i < s->n_zones; i++) {
		space += s->zones[i].space_percent;
		share += s->zones[i].share_percent;
	}
	if (share_is_whole(space) && share_is_whole(share))
		return 0;
	err_set(e, ERR_INVALID,
		"the zones have %g%% of the space and %g%% of the I/Os in all", space,
		share);
	return err_fix(e, "make both 100%%");
}

int
flow_set_theta(struct flow *s, double theta, struct err *e)
{
	if (!(theta > 0 && theta <= FLOW_THETA_MAX))
		return err_set(e, ERR_INVALID,
			"the exponent of a zipf distribution is above 0, at most %d",
			FLOW_THETA_MAX);
	s->spread = SPREAD_ZIPF;
	s->theta = theta;
	return 0;
}

/* The figures are those of fio's examples/jesd219.fio: zoned:50/5:30/15:20/80. */
void
flow_set_jesd219(struct flow *s)
{
	static const struct flow_zone zones[] = {{5, 50}, {15, 30}, {80, 20}};

	s->spread = SPREAD_ZONES;
	s->n_zones = sizeof(zones) / sizeof(zones[0]);
	memcpy(s->zones, zones, sizeof(zones));
}

static const struct {
	const char *name;
	enum direction dir;
} operations[OPERATIONS] = {
	[OP_WRITE] = {"write", DIR_WRITE},
	[OP_WRITE_FUA] = {"write-fua", DIR_WRITE},
	[OP_WRITE_ZEROES] = {"write-zeroes", DIR_ZERO},
	[OP_TRIM] = {"trim", DIR_TRIM},
	[OP_FLUSH] = {"flush", DIR_FLUSH},
};

const char *
operation_name(enum operation op)
{
	assert((unsigned)op < OPERATIONS);
	return operations[op].name;
}

int
operation_named(const char *name, enum operation *ret_op, struct err *e)
{
	for (unsigned i = 0; i < OPERATIONS; i++)
		if (strcmp(operations[i].name, name) == 0) {
			*ret_op = (enum operation)i;
			return 0;
		}
	return err_set(e, ERR_INVALID,
		"\"%.40s\" is no operation; write, write-fua, write-zeroes, trim and "
		"flush are",
		name);
}

enum direction
operation_direction(enum operation op)
{
	assert((unsigned)op < OPERATIONS);
	return operations[op].dir;
}

bool
flow_uses(const struct flow *s, enum direction dir)
{
	if (dir == DIR_READ)
		return s->read_percent > 0;
	return s->read_percent < 100 && operation_direction(s->operation) == dir;
}

bool
flow_uses_blocks(const struct flow *s, enum direction dir)
{
	if (dir == DIR_READ)
		return s->read_percent > 0;
	return s->read_percent < 100 && s->operation != OP_FLUSH;
}

bool
flow_changes(const struct flow *s)
{
	return flow_uses_blocks(s, DIR_WRITE);
}

static int
check_blocks(const struct flow *s, struct err *e)
{
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		struct block_mix again = {0};
		const struct block_mix *m = &s->blocks[d];

		if (m->n == 0 && flow_uses_blocks(s, (enum direction)d))
			return err_set(e, ERR_INVALID, "there is no block size to %s",
				directions[d]);
		for (size_t i = 0; i < m->n; i++)
			if (block_mix_add(
				    &again, m->list[i].bytes, m->list[i].percent, e) != 0)
				return -1;
		if (m->n > 0 && block_mix_check(m, e) != 0)
			return -1;
	}
	return 0;
}

static int
check_spread(const struct flow *s, struct err *e)
{
	struct flow again = {0};

	switch (s->spread) {
	case SPREAD_UNIFORM:
		return 0;
	case SPREAD_ZIPF:
		if (flow_set_theta(&again, s->theta, e) != 0)
			return -1;
		if (flow_piece_bytes(s) != 0)
			return 0;
		err_set(e, ERR_INVALID,
			"the block sizes have no common multiple up to 64MiB, so that a "
			"zipf distribution has no pieces to rank");
		return err_fix(e, "give an alignment that fits all, for example 4KiB");
	case SPREAD_ZONES:
		for (size_t i = 0; i < s->n_zones; i++)
			if (flow_add_zone(&again, s->zones[i].space_percent,
				    s->zones[i].share_percent, e) != 0)
				return -1;
		return flow_check_zones(s, e);
	}
	return err_set(e, ERR_INVALID, "the distribution is not known here");
}

int
flow_check(const struct flow *s, struct err *e)
{
	if (!(s->share_percent > 0 && s->share_percent <= 100))
		return err_set(e, ERR_INVALID,
			"a stream has more than 0%% and at most 100%% of the I/Os");
	if (!share_is_percent(s->read_percent) || !share_is_percent(s->random_percent))
		return err_set(e, ERR_INVALID,
			"shares of reads and random I/O are 0%% to 100%%");
	if (!share_is_percent(s->from_percent) || !share_is_percent(s->to_percent) ||
		s->from_percent >= s->to_percent)
		return err_set(e, ERR_INVALID,
			"a stream's part of the region goes from 0%% or more to 100%% or "
			"less, and ends after it begins");
	if ((unsigned)s->operation >= OPERATIONS)
		return err_set(e, ERR_INVALID, "the operation is not known here");
	if (s->align_bytes % SECTOR_BYTES != 0 || s->align_bytes > FLOW_BLOCK_MAX)
		return err_set(e, ERR_INVALID,
			"an alignment is a multiple of 512 bytes, at most 16MiB");
	if (s->cursors == 0 || s->cursors > FLOW_CURSORS_MAX)
		return err_set(e, ERR_INVALID, "a worker has 1 to %d sequential cursors",
			FLOW_CURSORS_MAX);
	return check_blocks(s, e) != 0 ? -1 : check_spread(s, e);
}

uint32_t
flow_block_max(const struct flow *s)
{
	uint32_t most = 0;

	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		const struct block_mix *m = &s->blocks[d];

		/* they rise */
		if (m->n > 0 && m->list[m->n - 1].bytes > most)
			most = m->list[m->n - 1].bytes;
	}
	return most;
}

double
flow_mean_bytes(const struct flow *s, enum direction dir)
{
	const struct block_mix *m = &s->blocks[dir];
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->list[i].bytes * m->list[i].percent / 100;
	return flow_uses_blocks(s, dir) ? sum : 0;
}

/* Percent of a length, bytes; all of it for 100, whatever the rounding. */
static uint64_t
part_of(uint64_t length, double percent)
{
	uint64_t bytes = (uint64_t)((double)length * (percent / 100));

	return share_is_whole(percent) || bytes > length ? length : bytes;
}

struct span
flow_part(const struct flow *s, uint64_t length)
{
	return (struct span){
		part_of(length, s->from_percent), part_of(length, s->to_percent)};
}

struct span
flow_zone_span(const struct flow *s, size_t i, uint64_t length)
{
	struct span part = flow_part(s, length);
	uint64_t bytes = part.to - part.from;
	double before = 0;

	if (s->n_zones == 0)
		return part;
	for (size_t k = 0; k < i; k++)
		before += s->zones[k].space_percent;
	return (struct span){part.from + part_of(bytes, before),
		part.from + part_of(bytes, before + s->zones[i].space_percent)};
}

uint64_t
span_positions(struct span span, uint64_t bytes, uint64_t align, uint64_t *ret_first)
{
	uint64_t first;

	assert(align != 0);
	first = (span.from + align - 1) / align * align;
	*ret_first = first;
	if (first > span.to || span.to - first < bytes)
		return 0;
	return (span.to - first - bytes) / align + 1;
}

uint32_t
flow_stride(const struct flow *s, uint32_t bytes)
{
	return s->align_bytes != 0 ? s->align_bytes : bytes;
}

uint64_t
flow_piece_bytes(const struct flow *s)
{
	uint64_t most = flow_block_max(s);
	uint64_t piece = 1;

	for (int d = 0; d < DATA_DIRECTIONS; d++)
		for (size_t i = 0; i < s->blocks[d].n; i++) {
			uint64_t stride = flow_stride(s, s->blocks[d].list[i].bytes);
			uint64_t divisor = share_divisor(piece, stride);

			assert(divisor != 0);
			piece *= stride / divisor;
			if (piece > FLOW_PIECE_MAX)
				return 0;
		}
	assert(piece != 0);
	return (most + piece - 1) / piece * piece;
}

/* The size of a block in a message. */
struct size_text {
	char s[40];
};

static struct size_text
size_of(uint64_t bytes)
{
	struct size_text t = {""};

	format_size(bytes, t.s, sizeof(t.s));
	return t;
}

/* Blocks must be whole logical blocks of the drive, and start on them. */
static int
fits_drive(const struct flow *s, uint32_t logical, struct err *e)
{
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		for (size_t i = 0; i < s->blocks[d].n; i++) {
			uint32_t bytes = s->blocks[d].list[i].bytes;

			if (bytes % logical == 0)
				continue;
			return err_set(e, ERR_INVALID,
				"a block of %s is no multiple of the logical block of "
				"the drive, %s",
				size_of(bytes).s, size_of(logical).s);
		}
	if (s->align_bytes % logical == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"an alignment of %s is no multiple of the logical block of the drive, %s",
		size_of(s->align_bytes).s, size_of(logical).s);
}

static int
no_room(const char *where, struct span span, uint64_t bytes, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s of %s has no room for a block of %s", where,
		size_of(span.to - span.from).s, size_of(bytes).s);
}

static int
fits_random(const struct flow *s, uint64_t length, struct err *e)
{
	size_t zones = s->n_zones > 0 ? s->n_zones : 1;
	uint64_t first;

	if (s->spread == SPREAD_ZIPF) {
		uint64_t piece = flow_piece_bytes(s);
		struct span part = flow_part(s, length);

		return span_positions(part, piece, piece, &first) > 0
			       ? 0
			       : no_room("the part of the region", part, piece, e);
	}
	for (size_t z = 0; z < zones; z++) {
		struct span span = flow_zone_span(s, z, length);

		for (int d = 0; d < DATA_DIRECTIONS; d++)
			for (size_t i = 0; i < s->blocks[d].n; i++) {
				uint32_t bytes = s->blocks[d].list[i].bytes;

				if (span_positions(span, bytes, flow_stride(s, bytes),
					    &first) == 0)
					return no_room(s->n_zones > 0
							       ? "a zone"
							       : "the part of the region",
						span, bytes, e);
			}
	}
	return 0;
}

int
flow_fits(const struct flow *s, uint64_t length, uint32_t logical_block_bytes,
	unsigned workers, struct err *e)
{
	uint32_t most = flow_block_max(s);
	struct span part = flow_part(s, length);
	uint64_t cursors = (uint64_t)workers * s->cursors;
	uint64_t first;

	if (fits_drive(s, logical_block_bytes, e) != 0)
		return -1;
	if (most == 0)
		return 0; /* only flushes */
	if (s->random_percent > 0 && fits_random(s, length, e) != 0)
		return -1;
	if (s->random_percent >= 100 ||
		span_positions(part, most, most, &first) >= cursors)
		return 0;
	return err_set(e, ERR_INVALID,
		"a part of the region of %s has no room for %llu sequential cursors with "
		"blocks of %s",
		size_of(part.to - part.from).s, (unsigned long long)cursors,
		size_of(most).s);
}
