#include "runner/verify.h"

#include <assert.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "runner/journal.h"
#include "runner/judge.h"
#include "runner/sector.h"

struct verify {
	struct journal *j;
};

struct verify_port {
	struct journal *j;
	struct judge *judge;
	uint64_t seed;
	uint32_t block_bytes;
	unsigned depth;
	size_t io_blocks;
	uint32_t *since; /* [depth][io_blocks]: words when each I/O began */
	struct verify_report report;
};

struct verify *
verify_new(struct journal *j)
{
	struct verify *v = xcalloc(1, sizeof(*v));

	v->j = j;
	return v;
}

void
verify_free(struct verify *v)
{
	free(v);
}

struct journal *
verify_journal(const struct verify *v)
{
	return v->j;
}

struct verify_port *
verify_port_new(struct verify *v, unsigned depth, uint32_t io_bytes)
{
	struct verify_port *p = xcalloc(1, sizeof(*p));

	p->j = v->j;
	p->judge = judge_new(v->j, io_bytes);
	p->seed = journal_config(v->j)->seed;
	p->block_bytes = journal_config(v->j)->block_bytes;
	p->depth = depth;
	p->io_blocks = (io_bytes + p->block_bytes - 1) / p->block_bytes;
	p->since = xcalloc(depth * p->io_blocks, sizeof(*p->since));
	return p;
}

void
verify_port_free(struct verify_port *p)
{
	if (p == NULL)
		return;
	judge_free(p->judge);
	free(p->since);
	free(p);
}

const struct verify_report *
verify_port_report(const struct verify_port *p)
{
	return &p->report;
}

bool
verify_may(struct verify_port *p, const struct io *io)
{
	uint64_t first = journal_block_of(p->j, io->offset);
	uint64_t n = io->length / p->block_bytes;
	uint32_t *since = p->since + io->slot * p->io_blocks;

	assert(io->length % p->block_bytes == 0 && first + n <= journal_blocks(p->j) &&
		n <= p->io_blocks && io->slot < p->depth);
	for (uint64_t i = 0; i < n; i++) {
		if (io->dir == DIR_READ) {
			since[i] = journal_word(p->j, first + i);
			continue;
		}
		since[i] = journal_begin(p->j, first + i);
		if (since[i] != 0)
			continue;
		while (i-- > 0)
			journal_undo(p->j, first + i);
		p->report.redraws++;
		return false;
	}
	return true;
}

void
verify_stamp(struct verify_port *p, const struct io *io)
{
	const uint32_t *generations = p->since + io->slot * p->io_blocks;
	struct sector s = {.seed = p->seed,
		.number = journal_next_write(p->j),
		.count = (uint16_t)(io->length / SECTOR_BYTES)};
	uint8_t *to = io->buf;

	for (uint32_t at = 0; at < io->length; at += SECTOR_BYTES, to += SECTOR_BYTES) {
		s.generation = generations[at / p->block_bytes];
		s.offset = io->offset + at;
		sector_stamp(to, &s);
		s.index++;
	}
}

void
verify_done(struct verify_port *p, const struct io *io)
{
	bool whole = io->result == (int32_t)io->length;
	const struct judge_read read = {.offset = io->offset,
		.buf = io->buf,
		.bytes = io->length,
		.since = p->since + io->slot * p->io_blocks};

	if (io->dir == DIR_WRITE) {
		for (uint32_t at = 0; at < io->length; at += p->block_bytes)
			journal_end(p->j, journal_block_of(p->j, io->offset + at), whole);
	} else if (whole) {
		judge_sectors(p->judge, &read, &p->report);
	}
}

void
verify_drop(struct verify_port *p, const struct io *io)
{
	if (io->dir != DIR_WRITE)
		return;
	for (uint32_t at = 0; at < io->length; at += p->block_bytes)
		journal_undo(p->j, journal_block_of(p->j, io->offset + at));
}
