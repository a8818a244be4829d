/*
 * guard - why a drive must not be written to. The only user of libblkid.
 *
 * All checks go by device number, never by name. Reads /proc, sysfs and the first and
 * last blocks of the drive; writes nothing. Any thread; may take a second on a slow
 * drive.
 */
#ifndef COMMON_GUARD_H
#define COMMON_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct str;

/* When the look is taken. But for the first, other processes that write to the drive are
 * looked for, too, which takes long on a busy machine. */
enum guard_when {
	GUARD_BEFORE, /* nobody here wants it yet: a claim of others is a reason */
	GUARD_CLAIM,  /* this process holds the exclusive claim, or takes it next */
	GUARD_HELD,   /* it holds the claim and has written: signatures mean nothing */
};

/*
 * guard_check looks at the drive open as fd (block device or regular file) and appends
 * each reason not to touch it to ret_reasons, "; " between them; nothing means clear.
 * Looks for: mounted (itself or a partition, in any mount namespace it can read), swap,
 * holders (dm, md, bcache, LUKS, LVM), loop devices over it, exports, lying beneath root,
 * boot or keep_path, being a partition or read-only, and any signature libblkid knows.
 * The same for each file and device that a loop, mapped device or array shows, down to
 * the disk; not for the file system that a file lies in. keep_path: a directory whose
 * file system is never a target (the spool), or NULL. Errors: ERR_IO when a check could
 * not be made, which the caller treats as a reason.
 */
int guard_check(int fd, enum guard_when when, const char *keep_path,
	struct str *ret_reasons, struct err *e);

/* What a claim is for: the kernel refuses writes through a descriptor for reading. */
enum guard_claim_for { CLAIM_TO_READ, CLAIM_TO_WRITE };

/*
 * guard_claim opens path O_EXCL | O_DIRECT | O_CLOEXEC (plus O_NOATIME where permitted),
 * O_RDONLY or O_RDWR as what says, for the life of the caller; regular files are locked
 * with an exclusive flock(2) instead. Waits up to 3 s for somebody else's claim to end.
 * *ret_fd is owned by the caller. Errors: ERR_UNSAFE for a partition or when something
 * else holds it, ERR_NOTFOUND, ERR_IO.
 */
int guard_claim(const char *path, enum guard_claim_for what, int *ret_fd, struct err *e);

#endif
