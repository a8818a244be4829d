/*
 * verify_rig - a small drive in memory, its journal in a folder of its own, and I/Os that
 * a test begins and ends by hand.
 */
#ifndef TESTS_UNIT_VERIFY_RIG_H
#define TESTS_UNIT_VERIFY_RIG_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/crc32c.h"
#include "common/le.h"
#include "common/record.h"
#include "runner/content.h"
#include "runner/journal.h"
#include "runner/sector.h"
#include "runner/verify.h"
#include "runner/verify_scan.h"
#include "tests/unit/unit.h"

#define BLOCK 4096
#define BLOCKS 24
#define REGION ((uint64_t)3 * BLOCK) /* offset of the region */
#define DEPTH 4
#define IO_BLOCKS 4

/* Where things stand in the file of a journal. */
#define HEAD_AT(turn) ((turn) % 2 * 4096)
#define STATE_AT 10
#define BOOT_AT 48
#define HEAD_CRC_AT 188
#define WRITES_AT (2 * 4096)
#define WORDS_AT (3 * 4096)

static char dir[64], path[80], copy[80];
static int disk;
static struct journal *journal;
static struct verify *verify;
static struct verify_port *port;
static uint8_t buffers[DEPTH][IO_BLOCKS * BLOCK];
static struct io ios[DEPTH];

static inline struct journal_config
config(void)
{
	return (struct journal_config){.drive = "SN1-aa",
		.offset = REGION,
		.length = BLOCKS * BLOCK,
		.block_bytes = BLOCK,
		.seed = 77};
}

static inline void
open_all(void)
{
	const struct journal_config c = config();
	struct err e = {0};

	OK(journal_open(&journal, path, &c, &e));
	verify = verify_new(journal);
	port = verify_port_new(verify, DEPTH, IO_BLOCKS * BLOCK);
	for (uint16_t i = 0; i < DEPTH; i++)
		ios[i] = (struct io){.slot = i, .buf = buffers[i]};
}

static inline void
close_all(void)
{
	struct err e = {0};

	verify_port_free(port);
	verify_free(verify);
	OK(journal_close(journal, &e));
}

static inline void
setup(void)
{
	snprintf(dir, sizeof(dir), "%s/test_verify.XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/journal", dir);
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	disk = memfd_create("disk", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(disk, REGION + BLOCKS * BLOCK), 0);
	open_all();
}

static inline void
teardown(void)
{
	close_all();
	close(disk);
	unlink(path);
	unlink(copy);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* Offset on the drive of a block of the region. */
static inline uint64_t
at(unsigned block)
{
	return REGION + (uint64_t)block * BLOCK;
}

static inline bool
begin(unsigned slot, int direction, unsigned block, unsigned n)
{
	struct io *io = &ios[slot];

	io->dir = (uint8_t)direction;
	io->offset = at(block);
	io->length = n * BLOCK;
	if (!verify_may(port, io))
		return false;
	if (direction == DIR_WRITE) {
		content_fill(io->buf, io->length, (uint64_t)block * 1000 + slot);
		verify_stamp(port, io);
	}
	return true;
}

static inline void
end(unsigned slot, int result)
{
	ios[slot].result = result;
	verify_done(port, &ios[slot]);
}

static inline void
put(uint64_t offset, const void *data, size_t bytes)
{
	ck_assert_int_eq(pwrite(disk, data, bytes, (off_t)offset), (ssize_t)bytes);
}

static inline void
get(uint64_t offset, void *data, size_t bytes)
{
	ck_assert_int_eq(pread(disk, data, bytes, (off_t)offset), (ssize_t)bytes);
}

/* A write of n blocks that succeeds. */
static inline void
write_blocks(unsigned block, unsigned n)
{
	ck_assert(begin(0, DIR_WRITE, block, n));
	put(at(block), ios[0].buf, ios[0].length);
	end(0, (int)ios[0].length);
}

/* Makes a file of a journal look as if another boot had left it open. */
static inline void
make_stopped(uint8_t *file)
{
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *head = file + HEAD_AT(i);

		le_put16(head + STATE_AT, 1);
		head[BOOT_AT] ^= 1;
		le_put32(head + HEAD_CRC_AT, crc32c(0, head, HEAD_CRC_AT));
	}
}

/* The host stops while the journal is closed here: then it is as it was before that. */
static inline void
stop_host(void)
{
	uint8_t file[WORDS_AT];
	int fd = open(path, O_RDWR | O_CLOEXEC);

	ck_assert_int_eq(pread(fd, file, sizeof(file), 0), sizeof(file));
	make_stopped(file);
	ck_assert_int_eq(pwrite(fd, file, sizeof(file), 0), sizeof(file));
	close(fd);
}

/* Sets the word of a block in the file, which is mapped. */
static inline void
put_word(unsigned block, uint32_t word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, &word, sizeof(word), WORDS_AT + 4 * (off_t)block),
		sizeof(word));
	close(fd);
}

static inline bool
always(void *arg)
{
	(void)arg;
	return true;
}

#endif
