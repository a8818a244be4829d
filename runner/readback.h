/*
 * readback - a sample of blocks of a drive, taken before and after a purge.
 *
 * The same places both times: the first block, the last, and between them one in each
 * equal part of the drive, drawn by a seed. One thread.
 */
#ifndef RUNNER_READBACK_H
#define RUNNER_READBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/purge_plan.h"

struct err;
struct purge_job;

/* So many blocks: a purge that left a hundredth of the drive alone is seen with a
 * probability of 1 - 0.99^256 = 92 %. */
#define READBACK_BLOCKS 256

/* A block is of this many bytes, or of one logical block where that is larger. */
#define READBACK_BLOCK_BYTES 4096

struct readback {
	uint32_t n; /* blocks, at most READBACK_BLOCKS */
	uint32_t block_bytes;
	struct {
		uint64_t offset; /* bytes */
		uint32_t crc;	 /* CRC-32C of the block */
		bool zero;	 /* all its bytes are */
		bool empty;	 /* all are 0, or all 0xff */
	} blocks[READBACK_BLOCKS];
};

/*
 * readback_take reads a sample of the drive of j (O_DIRECT is allowed). j->tick is called
 * between reads; when it says stop, the sample is not complete and 1 is returned. ERR_IO
 * for a block that cannot be read.
 */
int readback_take(const struct purge_job *j, struct readback *ret_r, struct err *e);

/* readback_compare says what has become of the blocks; both samples have one seed. Pure.
 */
void readback_compare(const struct readback *before, const struct readback *after,
	struct purge_seen *ret_s);

#endif
