#include "runner/others.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/flow.h"
#include "common/record.h"
#include "common/sysfs.h"

/* A range behind the end of a file, to ask with. */
#define PROBE_BYTES 4096

/* A device refuses to discard a range that is not of whole sectors with EINVAL, and
 * before that, when it cannot discard at all, with EOPNOTSUPP (block/ioctl.c of Linux).
 */
#define PROBE_ODD 1

static bool
is_block(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISBLK(st.st_mode);
}

static int
discard(int fd, uint64_t offset, uint64_t length)
{
	uint64_t range[2] = {offset, length};

	return ioctl(fd, BLKDISCARD, range);
}

/* Whether the answer to a probe says that it can never be done. */
static bool
never(int failed)
{
	return failed != 0 && (errno == EOPNOTSUPP || errno == ENOTTY || errno == ENOSYS);
}

static bool
takes_trims(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (is_block(fd))
		return !never(discard(fd, PROBE_ODD, PROBE_ODD));
	return !never(fallocate(fd, OTHERS_TRIM_MODE, end, PROBE_BYTES));
}

/*
 * Whether the drive has a command for zeroes. Asking would not tell: the kernel writes
 * pages of zeros to a drive that has none (blkdev_issue_zeroout in block/blk-lib.c). A
 * partition's queue is that of its disk, one level above.
 */
static bool
has_write_zeroes(int fd)
{
	static const char *const attrs[] = {
		"queue/write_zeroes_max_bytes", "../queue/write_zeroes_max_bytes"};
	char dir[SYSFS_PATH_MAX], most[32];
	struct stat st;

	if (fstat(fd, &st) != 0 || !sysfs_block_dir(st.st_rdev, dir))
		return true;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (sysfs_read(dir, attrs[i], most, sizeof(most)))
			return strcmp(most, "0") != 0;
	return true;
}

static bool
takes_zeroes(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (is_block(fd))
		return has_write_zeroes(fd);
	if (never(fallocate(fd, OTHERS_ZERO_MODE, end, PROBE_BYTES)))
		return false;
	/* What is now reserved behind the end goes back, where that is possible. */
	fallocate(fd, OTHERS_TRIM_MODE, end, PROBE_BYTES);
	return true;
}

int
others_check(int fd, unsigned operations, struct err *e)
{
	const char *what = is_block(fd) ? "drive" : "file system";

	if ((operations & 1U << OP_TRIM) != 0 && !takes_trims(fd)) {
		err_set(e, ERR_STATE, "the %s knows no trim", what);
		return err_fix(e, "leave the trims out, or test a drive that has them");
	}
	if ((operations & 1U << OP_WRITE_ZEROES) != 0 && !takes_zeroes(fd)) {
		err_set(e, ERR_STATE, "the %s knows no write-zeroes", what);
		return err_fix(
			e, "use operation write, or test a drive that has write-zeroes");
	}
	return 0;
}

int
others_run(int fd, const struct io *io)
{
	off_t offset = (off_t)io->offset;
	int failed;

	switch (io->dir) {
	case DIR_FLUSH:
		failed = fdatasync(fd);
		break;
	case DIR_ZERO:
		failed = fallocate(fd, OTHERS_ZERO_MODE, offset, io->length);
		break;
	case DIR_TRIM:
		failed = discard(fd, io->offset, io->length);
		/* Files know no such ioctl. */
		if (failed != 0 && errno == ENOTTY)
			failed = fallocate(fd, OTHERS_TRIM_MODE, offset, io->length);
		break;
	default:
		return -EINVAL;
	}
	return failed != 0 ? -errno : 0;
}
