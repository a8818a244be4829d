/*
 * judge - what sectors that were read are worth, by what a journal knows of them.
 *
 * A read that overlaps a write in flight may see either generation in each sector, and a
 * sector that has parts of both is not judged: files and loop devices copy memory
 * meanwhile. Does no I/O, allocates nothing after judge_new; its time grows with the
 * sectors, whatever they hold. One thread per judge.
 */
#ifndef RUNNER_JUDGE_H
#define RUNNER_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "runner/verify_report.h"

struct journal;
struct judge;

/* What was read: whole blocks of the journal. */
struct judge_read {
	uint64_t offset; /* on the drive */
	const uint8_t *buf;
	size_t bytes;
	const uint32_t *since; /* a word per block, of before the read; NULL: as now */
};

/* judge_new judges reads of at most `bytes` by a journal, which is borrowed. */
struct judge *judge_new(const struct journal *j, size_t bytes);

/* judge_free frees it; NULL allowed. */
void judge_free(struct judge *g);

/* judge_sectors counts each sector of the read and keeps findings. */
void judge_sectors(
	struct judge *g, const struct judge_read *read, struct verify_report *r);

/* judge_later counts what is there of writes that were not acknowledged, block by block.
 * Nothing may be in flight. */
void judge_later(
	const struct judge *g, const struct judge_read *read, struct verify_report *r);

#endif
