/*
 * fence - the highest fence token ever seen for each drive, kept through power cuts.
 *
 * A token that was once passed can never start anything again: that is what makes a
 * restored or duplicated controller harmless to a drive. One file per drive,
 * STATE/fence/<drive key>. Waits for the disk. Main loop only.
 */
#ifndef AGENT_FENCE_H
#define AGENT_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drive_list;
struct err;

/*
 * fence_judge decides on a token for a drive whose highest token is have (0: none seen).
 * same_attempt: have was raised for the very attempt that brings the token now. Pure.
 * ERR_UNSAFE for a token that is lower, or equal but of another attempt, or 0.
 */
int fence_judge(uint64_t have, uint64_t token, bool same_attempt, struct err *e);

/* fence_read reads the highest token of a drive, 0 when none was seen. dir: STATE/fence.
 * Errors: ERR_IO, ERR_INVALID for a file that holds no token (nothing may start then). */
int fence_read(
	const char *dir, const char *drive_key, uint64_t *ret_token, struct err *e);

/*
 * fence_trouble writes what a person has to know of the first of the drives whose token
 * cannot be read, which lets nothing start on it; "" when all is well. drives: NULL for
 * none; size: of ret_text.
 */
void fence_trouble(const char *state_dir, const struct drive_list *drives, char *ret_text,
	size_t size);

/* fence_raise stores token as the highest one, durably. Errors: ERR_FULL, ERR_IO. */
int fence_raise(const char *dir, const char *drive_key, uint64_t token, struct err *e);

#endif
