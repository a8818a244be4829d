/*
 * target - the block device or file that a load by hand goes to.
 */
#ifndef RUNNER_TARGET_H
#define RUNNER_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct target {
	int fd; /* owned; O_DIRECT */
	uint64_t bytes;
	uint32_t align_bytes; /* of offsets and lengths, for O_DIRECT */
};

/*
 * target_open_read opens path for reading only, with access times left alone where that
 * is permitted. Errors: ERR_NOTFOUND, ERR_INVALID (no block device or file, no direct
 * I/O), ERR_IO.
 */
int target_open_read(const char *path, struct target *ret_t, struct err *e);

/*
 * target_open_write claims path for writing once the guard has nothing against it.
 * Errors: ERR_UNSAFE with every reason, or as target_open_read.
 */
int target_open_write(const char *path, struct target *ret_t, struct err *e);

/*
 * target_has_holes says whether some of the target was never written and has no place on
 * a medium: a regular file with holes, or a loop device over one. Reading there measures
 * memory. False also when it cannot be found out.
 */
bool target_has_holes(const struct target *t);

/*
 * target_key writes a name of what lies behind a target, which other drives have not got,
 * also those of the same model, and which a drive keeps under another kernel name: its
 * drive_key; for a file, device and inode. path is where it was opened. Errors:
 * ERR_UNSAFE for a device that is no drive or has no serial number, ERR_IO.
 */
int target_key(const struct target *t, const char *path, char ret_key[96], struct err *e);

/* target_close closes it; fd -1 allowed. */
void target_close(struct target *t);

#endif
