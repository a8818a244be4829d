#include "runner/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/drive.h"
#include "common/err.h"
#include "common/guard.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Looks before opening: opening some devices does things. */
static int
check_kind(const char *path, struct err *e)
{
	struct stat st;

	if (path[0] == '\0')
		return err_set(e, ERR_INVALID, "the name of the target is empty");
	if (stat(path, &st) != 0)
		return err_errno(
			e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno, "%s", path);
	if (S_ISBLK(st.st_mode) || S_ISREG(st.st_mode))
		return 0;
	return err_set(e, ERR_INVALID, "%s is neither a block device nor a file", path);
}

/* What O_DIRECT wants; the file system tells since Linux 6.1. */
static uint32_t
file_align(int fd)
{
#ifdef STATX_DIOALIGN
	struct statx x;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) == 0 &&
		(x.stx_mask & STATX_DIOALIGN) != 0 && x.stx_dio_offset_align != 0)
		return x.stx_dio_offset_align;
#else
	(void)fd;
#endif
	return 512;
}

static int
measure(const char *path, struct target *t, struct err *e)
{
	struct stat st;
	off_t size = lseek(t->fd, 0, SEEK_END);
	int block = 0;

	if (size < 0 || fstat(t->fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "%s", path);
	if (S_ISBLK(st.st_mode)) {
		if (ioctl(t->fd, BLKSSZGET, &block) != 0 || block <= 0)
			return err_errno(e, ERR_IO, errno, "block size of %s", path);
		t->align_bytes = (uint32_t)block;
	} else {
		t->align_bytes = file_align(t->fd);
	}
	t->bytes = (uint64_t)size;
	return 0;
}

int
target_open_read(const char *path, struct target *ret_t, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECT | O_CLOEXEC;

	ret_t->fd = -1;
	if (check_kind(path, e) != 0)
		return -1;
	/* Updating the access time of a device node would send each read to a kernel
	 * thread. Only the owner may leave it alone. */
	ret_t->fd = open(path, flags | O_NOATIME);
	if (ret_t->fd < 0 && errno == EPERM)
		ret_t->fd = open(path, flags);
	if (ret_t->fd < 0 && errno == EINVAL) {
		err_set(e, ERR_INVALID, "the file system of %s has no direct I/O", path);
		return err_fix(e, "use a file on another file system, or a device");
	}
	if (ret_t->fd < 0)
		return err_errno(e, ERR_IO, errno, "open %s", path);
	if (measure(path, ret_t, e) != 0) {
		target_close(ret_t);
		return -1;
	}
	return 0;
}

static int
guarded(const char *path, int fd, struct err *e)
{
	struct str reasons = {0};
	int failed = guard_check(fd, GUARD_CLAIM, NULL, &reasons, e);

	if (failed == 0 && reasons.len != 0) {
		failed = err_set(e, ERR_UNSAFE, "%s is not written to: %s", path,
			str_text(&reasons));
		err_fix(e, "free the drive of that, or read only with --read 100");
	}
	str_fini(&reasons);
	return failed;
}

int
target_open_write(const char *path, struct target *ret_t, struct err *e)
{
	ret_t->fd = -1;
	if (check_kind(path, e) != 0 ||
		guard_claim(path, CLAIM_TO_WRITE, &ret_t->fd, e) != 0)
		return -1;
	if (guarded(path, ret_t->fd, e) != 0 || measure(path, ret_t, e) != 0) {
		target_close(ret_t);
		return -1;
	}
	return 0;
}

/* Whether the file has a hole in a range of bytes. */
static bool
hole_in(int fd, off_t from, off_t end)
{
	off_t hole = lseek(fd, from, SEEK_HOLE);

	return hole >= 0 && hole < end;
}

/* Reads a file of a loop device in sysfs; false when it is none. */
static bool
loop_fact(dev_t dev, const char *name, char *buf, size_t size)
{
	char *path = xasprintf(
		"/sys/dev/block/%u:%u/loop/%s", major(dev), minor(dev), name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : -1;

	free(path);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* A file that was deleted, or is out of sight here, cannot be looked at. */
static bool
loop_has_holes(const struct target *t, dev_t dev)
{
	char path[PATH_MAX], offset[32];
	uint64_t from = 0;
	bool holes;
	int fd;

	if (!loop_fact(dev, "backing_file", path, sizeof(path)) ||
		!loop_fact(dev, "offset", offset, sizeof(offset)) ||
		parse_uint(offset, 0, INT64_MAX, &from, NULL) != 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	holes = hole_in(fd, (off_t)from, (off_t)(from + t->bytes));
	close(fd);
	return holes;
}

bool
target_has_holes(const struct target *t)
{
	struct stat st;

	if (t->fd < 0 || fstat(t->fd, &st) != 0)
		return false;
	if (S_ISBLK(st.st_mode))
		return loop_has_holes(t, st.st_rdev);
	return S_ISREG(st.st_mode) && hole_in(t->fd, 0, (off_t)t->bytes);
}

int
target_key(const struct target *t, const char *path, char ret_key[96], struct err *e)
{
	struct drive_id id;
	struct stat st;

	if (fstat(t->fd, &st) != 0)
		return err_errno(e, ERR_IO, errno, "%s", path);
	if (S_ISREG(st.st_mode)) {
		snprintf(ret_key, 96, "file-%u.%u-%ju", major(st.st_dev),
			minor(st.st_dev), (uintmax_t)st.st_ino);
		return 0;
	}
	if (drive_identify(t->fd, path, &id, e) != 0)
		return err_ctx(e, "a journal must know its drive");
	drive_key(&id, ret_key);
	return 0;
}

void
target_close(struct target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
