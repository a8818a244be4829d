#include "runner/judge.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "common/le.h"
#include "common/xalloc.h"
#include "runner/journal.h"
#include "runner/sector.h"

struct judge {
	const struct journal *j;
	uint64_t seed;
	struct sector_sums sums;
	size_t sectors_max;
	/*
	 * Number of the latest write that covers each sector of the read, as a tree of
	 * maxima over ranges: of n sectors, sector i is leaf n + i, and the parent of k
	 * is k / 2. A leaf's number is the greatest on its way up.
	 */
	uint64_t *latest; /* [2 * sectors_max] */
	bool has_latest;  /* of the read at hand */
};

struct judge *
judge_new(const struct journal *j, size_t bytes)
{
	struct judge *g = xcalloc(1, sizeof(*g));

	g->j = j;
	g->seed = journal_config(j)->seed;
	sector_sums_init(&g->sums);
	g->sectors_max = bytes / SECTOR_BYTES;
	g->latest = xcalloc(2 * g->sectors_max, sizeof(*g->latest));
	return g;
}

void
judge_free(struct judge *g)
{
	if (g == NULL)
		return;
	free(g->latest);
	free(g);
}

/* The word of a sector's block as it was before the read. */
static uint32_t
word_before(const struct judge *g, const struct judge_read *read, uint64_t offset)
{
	uint64_t block = journal_block_of(g->j, offset);

	return read->since != NULL
		       ? read->since[block - journal_block_of(g->j, read->offset)]
		       : journal_word(g->j, block);
}

/* Whether the generation was acknowledged before the read, or begun before its end. */
static bool
generation_fits(const struct judge *g, const struct judge_read *read, uint64_t offset,
	uint32_t generation)
{
	uint32_t now = journal_word(g->j, journal_block_of(g->j, offset));
	uint32_t from = journal_acked(word_before(g, read, offset));
	uint32_t last = journal_later(journal_acked(now), journal_possible(now));

	return generation != 0 && generation <= JOURNAL_GENERATIONS &&
	       journal_between(from, generation) <= journal_between(from, last);
}

static bool
all_bytes_equal(const uint8_t *p)
{
	return memcmp(p, p + 1, SECTOR_BYTES - 1) == 0;
}

/* Raises the sectors from..to of n to the number of a write. */
static void
raise_latest(uint64_t *latest, size_t n, size_t from, size_t to, uint64_t number)
{
	for (from += n, to += n; from < to; from /= 2, to /= 2) {
		if (from % 2 == 1) {
			if (latest[from] < number)
				latest[from] = number;
			from++;
		}
		if (to % 2 == 1) {
			to--;
			if (latest[to] < number)
				latest[to] = number;
		}
	}
}

static void
fill_latest(struct judge *g, const struct judge_read *read)
{
	size_t n = read->bytes / SECTOR_BYTES;
	uint64_t base = read->offset / SECTOR_BYTES;

	memset(g->latest, 0, 2 * n * sizeof(*g->latest));
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = read->buf + i * SECTOR_BYTES;
		uint64_t offset = read->offset + i * SECTOR_BYTES;
		struct sector s = sector_read(p, offset, g->seed);
		uint64_t here = base + i, from, to;

		if (s.alike != 3 || s.index >= s.count || s.index > here ||
			!sector_is_sound(p))
			continue;
		from = here - s.index;
		to = from + s.count;
		raise_latest(g->latest, n, from > base ? from - base : 0,
			to - base < n ? to - base : n, s.number);
	}
	g->has_latest = true;
}

/* Whether another sector of the read is of a later write that covers this one. */
static bool
is_torn(struct judge *g, const struct judge_read *read, uint64_t offset, uint64_t number)
{
	size_t n = read->bytes / SECTOR_BYTES;

	if (!g->has_latest)
		fill_latest(g, read);
	for (size_t k = n + (offset - read->offset) / SECTOR_BYTES; k > 0; k /= 2)
		if (g->latest[k] > number)
			return true;
	return false;
}

static enum verify_kind
kind_of(struct judge *g, const struct judge_read *read, uint64_t offset,
	const struct sector *s, const uint8_t *p)
{
	uint32_t behind;

	if (!sector_is_sound(p)) {
		if (all_bytes_equal(p))
			return VERIFY_UNWRITTEN;
		/* One of them may have been hit itself, or what hides them. */
		return s->alike >= 2 ||
				       sector_key_is_flipped(&g->sums, p, offset, g->seed)
			       ? VERIFY_FLIPPED
			       : VERIFY_FOREIGN;
	}
	if (!s->ours || s->seed != g->seed || s->generation == 0 ||
		s->generation > JOURNAL_GENERATIONS)
		return VERIFY_FOREIGN;
	if (s->offset != offset)
		return VERIFY_MISPLACED;
	behind = journal_between(
		s->generation, journal_acked(word_before(g, read, offset)));
	if (behind > JOURNAL_GENERATIONS / 2)
		return VERIFY_FOREIGN;
	return is_torn(g, read, offset, s->number) ? VERIFY_TORN : VERIFY_STALE;
}

static void
describe_flip(struct verify_finding *f, const uint8_t *p)
{
	uint8_t flip;
	int at = sector_flip(p, &flip);

	if (at >= 0) {
		f->offset += (unsigned)at;
		snprintf(f->expected, sizeof(f->expected), "0x%02x", p[at] ^ flip);
		snprintf(f->seen, sizeof(f->seen), "0x%02x", p[at]);
		return;
	}
	snprintf(f->expected, sizeof(f->expected), "CRC-32C 0x%08" PRIx32,
		le_get32(p + SECTOR_CRC_AT));
	snprintf(f->seen, sizeof(f->seen), "CRC-32C 0x%08" PRIx32,
		crc32c(0, p, SECTOR_CRC_AT));
}

static void
describe_foreign(struct verify_finding *f, const struct judge *g, const uint8_t *p,
	const struct sector *s)
{
	if (!sector_is_sound(p) || !s->ours) {
		snprintf(f->seen, sizeof(f->seen), "data without a head");
		return;
	}
	if (s->seed == g->seed) {
		snprintf(f->seen, sizeof(f->seen), "generation %" PRIu32 ", never begun",
			s->generation);
		return;
	}
	snprintf(f->expected, sizeof(f->expected), "seed %" PRIu64, g->seed);
	snprintf(f->seen, sizeof(f->seen), "seed %" PRIu64, s->seed);
}

/* Keeps a finding, if there is room. */
static void
keep(struct verify_report *r, const struct judge *g, const struct judge_read *read,
	uint64_t offset, const struct sector *s, enum verify_kind kind)
{
	const uint8_t *p = read->buf + (offset - read->offset);
	struct verify_finding *f = verify_new_finding(r);

	if (f == NULL)
		return;
	*f = (struct verify_finding){.kind = kind, .offset = offset};
	snprintf(f->expected, sizeof(f->expected), "generation %" PRIu32,
		journal_acked(word_before(g, read, offset)));
	if (kind == VERIFY_FLIPPED) {
		describe_flip(f, p);
	} else if (kind == VERIFY_MISPLACED) {
		snprintf(f->expected, sizeof(f->expected), "offset %" PRIu64, offset);
		snprintf(f->seen, sizeof(f->seen), "offset %" PRIu64, s->offset);
	} else if (kind == VERIFY_UNWRITTEN) {
		snprintf(f->seen, sizeof(f->seen), "0x%02x in all bytes", p[0]);
	} else if (kind == VERIFY_FOREIGN) {
		describe_foreign(f, g, p, s);
	} else {
		snprintf(f->seen, sizeof(f->seen), "generation %" PRIu32, s->generation);
	}
}

/* Whether a write of the block was in flight at any time of the read. */
static bool
is_overlapped(const struct judge *g, const struct judge_read *read, uint64_t offset)
{
	uint32_t since;

	if (read->since == NULL)
		return false;
	since = word_before(g, read, offset);
	return (since & JOURNAL_BUSY) != 0 ||
	       since != journal_word(g->j, journal_block_of(g->j, offset));
}

void
judge_sectors(struct judge *g, const struct judge_read *read, struct verify_report *r)
{
	assert(read->bytes / SECTOR_BYTES <= g->sectors_max);
	g->has_latest = false;
	for (size_t at = 0; at < read->bytes; at += SECTOR_BYTES) {
		uint64_t offset = read->offset + at;
		const uint8_t *p = read->buf + at;
		struct sector s;
		enum verify_kind kind;

		if (journal_acked(word_before(g, read, offset)) == 0) {
			r->sectors[VERIFY_UNKNOWN]++;
			continue;
		}
		s = sector_read(p, offset, g->seed);
		if (s.alike == 3 && generation_fits(g, read, offset, s.generation) &&
			sector_is_sound(p)) {
			r->sectors[VERIFY_GOOD]++;
			continue;
		}
		if (is_overlapped(g, read, offset) && !sector_is_sound(p)) {
			r->sectors[VERIFY_UNKNOWN]++;
			continue;
		}
		kind = kind_of(g, read, offset, &s, p);
		r->sectors[kind]++;
		keep(r, g, read, offset, &s, kind);
	}
}

/* How many sectors of a block are of another generation than was acknowledged. */
static uint32_t
sectors_later(const struct judge *g, const struct judge_read *read, size_t at,
	uint32_t block_bytes, uint32_t acked)
{
	uint32_t later = 0;

	for (size_t end = at + block_bytes; at < end; at += SECTOR_BYTES) {
		struct sector s = sector_read(read->buf + at, read->offset + at, g->seed);

		later += s.alike == 3 && s.generation != acked &&
			 sector_is_sound(read->buf + at);
	}
	return later;
}

void
judge_later(const struct judge *g, const struct judge_read *read, struct verify_report *r)
{
	uint32_t block_bytes = journal_config(g->j)->block_bytes;

	for (size_t at = 0; at < read->bytes; at += block_bytes) {
		uint32_t word = journal_word(
			g->j, journal_block_of(g->j, read->offset + at));
		struct verify_later *l = journal_begun(word) > 0 ? &r->begun
								 : &r->forgotten;
		uint32_t n;

		if (journal_possible(word) == 0)
			continue;
		n = sectors_later(g, read, at, block_bytes, journal_acked(word));
		l->blocks++;
		l->there += n == block_bytes / SECTOR_BYTES;
		l->partly += n > 0 && n < block_bytes / SECTOR_BYTES;
	}
}
