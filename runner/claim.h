/*
 * claim - the right to write to one drive, taken in full or not at all.
 *
 * Held together: the lock file of the drive, a fence token that is still the newest, the
 * exclusive descriptor, and the identity read through that descriptor. Writes nothing to
 * the drive. One thread.
 */
#ifndef RUNNER_CLAIM_H
#define RUNNER_CLAIM_H

struct claim;
struct drive_id;
struct err;
struct program;

/*
 * claim_take takes the drive at path for program p (borrowed until claim_drop); state_dir
 * holds lock/ and fence/ and lies on no drive that is ever tested. Errors: ERR_UNSAFE
 * with every reason, ERR_NOTFOUND when there is no such path, ERR_STATE or ERR_FULL when
 * the lock file cannot be made, ERR_STATE while a sanitize runs in the drive, ERR_IO.
 */
int claim_take(struct claim **ret_c, const struct program *p, const char *state_dir,
	const char *path, struct err *e);

/*
 * claim_verify reads the identity again through the descriptor and the fence token again
 * from its file, and looks whether somebody else has begun to use the drive by another
 * way, as a second loop device over its file, for seconds. ret_seen may be NULL. Errors:
 * ERR_UNSAFE with the reason, ERR_STATE while a sanitize runs in the drive, ERR_IO when
 * the drive is gone.
 */
int claim_verify(const struct claim *c, struct drive_id *ret_seen, struct err *e);

/*
 * claim_fd returns the descriptor: exclusive, O_DIRECT, and for writing only when the
 * program has a step that writes. Borrowed.
 */
int claim_fd(const struct claim *c);

/* claim_drop lets go of the drive. NULL allowed. */
void claim_drop(struct claim *c);

#endif
