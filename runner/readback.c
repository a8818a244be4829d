#include "runner/readback.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/crc32c.h"
#include "common/err.h"
#include "runner/purge.h"
#include "runner/rng.h"

/* Direct I/O wants memory aligned to a logical block, which is at most this. */
#define ALIGN 65536

/* Tells this sequence of numbers from those of the points. */
#define STREAM 0x7265616462616b

/* The places of a sample in a drive of that many blocks. */
static void
choose_places(struct readback *r, uint64_t blocks, uint64_t seed)
{
	struct rng g;

	r->n = blocks < READBACK_BLOCKS ? (uint32_t)blocks : READBACK_BLOCKS;
	rng_init(&g, seed, STREAM);
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t from = (uint64_t)((rng_wide)blocks * i / r->n);
		uint64_t to = (uint64_t)((rng_wide)blocks * (i + 1) / r->n);
		uint64_t at = from + rng_below(&g, to - from);

		if (i == 0)
			at = 0;
		if (i + 1 == r->n)
			at = blocks - 1;
		r->blocks[i].offset = at * r->block_bytes;
	}
}

static bool
is_even(const uint8_t *p, size_t len)
{
	return memcmp(p, p + 1, len - 1) == 0;
}

static int
read_block(int fd, uint8_t *buf, uint32_t len, uint64_t offset, struct err *e)
{
	ssize_t n;

	do
		n = pread(fd, buf, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len)
		return 0;
	if (n < 0)
		return err_errno(e, ERR_IO, errno,
			"read back %" PRIu32 " bytes at %" PRIu64, len, offset);
	return err_set(e, ERR_IO,
		"read back %" PRIu32 " bytes at %" PRIu64 ": the drive ends", len,
		offset);
}

int
readback_take(const struct purge_job *j, struct readback *ret_r, struct err *e)
{
	const struct drive_id *drive = j->drive;
	uint32_t block = READBACK_BLOCK_BYTES;
	uint8_t *buf;
	int rc = 0;

	if (block < drive->logical_block_bytes || block > drive->capacity_bytes)
		block = drive->logical_block_bytes;
	memset(ret_r, 0, sizeof(*ret_r));
	ret_r->block_bytes = block;
	choose_places(ret_r, drive->capacity_bytes / block, j->seed);
	buf = aligned_alloc(ALIGN, ALIGN);
	if (buf == NULL)
		return err_set(e, ERR_LIMIT, "no memory to read the drive back");
	for (uint32_t i = 0; rc == 0 && i < ret_r->n; i++) {
		if (!j->tick(j->arg)) {
			rc = 1;
			break;
		}
		rc = read_block(j->fd, buf, block, ret_r->blocks[i].offset, e);
		if (rc == 0) {
			ret_r->blocks[i].crc = crc32c(0, buf, block);
			ret_r->blocks[i].zero = buf[0] == 0 && is_even(buf, block);
			/* what was deallocated may read so, too (NVM 1.0, DLFEAT) */
			ret_r->blocks[i].empty = (buf[0] == 0 || buf[0] == 0xff) &&
						 is_even(buf, block);
		}
	}
	free(buf);
	return rc;
}

void
readback_compare(const struct readback *before, const struct readback *after,
	struct purge_seen *ret_s)
{
	assert(before->n == after->n && before->block_bytes == after->block_bytes);
	*ret_s = (struct purge_seen){.blocks = after->n};
	for (uint32_t i = 0; i < after->n; i++) {
		ret_s->zero += after->blocks[i].zero;
		if (before->blocks[i].empty)
			continue;
		ret_s->held++;
		ret_s->unchanged += before->blocks[i].crc == after->blocks[i].crc &&
				    !after->blocks[i].empty;
	}
}
