/*
 * others - what an I/O may do that is neither a plain read nor a plain write: trim, write
 * zeroes, flush, or write so that the data are durable when it ends (FUA).
 *
 * Each is one system call here, for the sync engine; the uring engine asks for the same
 * in its own way. Nothing is kept.
 */
#ifndef RUNNER_OTHERS_H
#define RUNNER_OTHERS_H

#include <stdint.h>

#include "runner/engine.h"

struct err;

/* fallocate modes of trims of files and of write-zeroes; lengths stay as they are. */
#define OTHERS_TRIM_MODE (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)
#define OTHERS_ZERO_MODE (FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE)

/*
 * others_check asks whether the drive or file takes the operations (struct engine_config)
 * and changes no data: a block device is asked to trim a range that no device has, and
 * sysfs whether it has write-zeroes (where sysfs is silent, it counts as having them); a
 * file is asked for a range behind its end. fd is open for writing unless flushes are
 * all. What cannot be found out this way, the I/Os will tell. Errors: ERR_STATE.
 */
int others_check(int fd, unsigned operations, struct err *e);

/* others_run does a trim, a write-zeroes or a flush. 0, or -errno; may be interrupted. */
int others_run(int fd, const struct io *io);

#endif
