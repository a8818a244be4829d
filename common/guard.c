#include "common/guard.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/node.h"
#include "common/str.h"
#include "common/usage.h"
#include "common/writers.h"

/*
 * A claim that another program holds for a moment only (udev, a guard that looks) is
 * waited for, and so is one of a process that has ended: the kernel closes files that are
 * registered with io_uring some time after that. One that lasts longer is in use.
 */
#define CLAIM_WAIT_NS (3 * NS_PER_S)
#define CLAIM_PAUSE_NS (50 * NS_PER_MS)

#define LAYERS_MAX 16

/* Opens the same thing once more with other flags. */
static int
reopen(int fd, int flags)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, flags | O_CLOEXEC);
}

static const char *
value_of(blkid_probe pr, const char *name)
{
	const char *text = NULL;

	if (blkid_probe_lookup_value(pr, name, &text, NULL) != 0 || text == NULL)
		return "";
	return text;
}

static void
tell_signature(struct usage *u, blkid_probe pr)
{
	const char *type = value_of(pr, "TYPE");
	const char *label = value_of(pr, "LABEL");
	const char *table = value_of(pr, "PTTYPE");

	if (table[0] != '\0')
		usage_add(u, "%s carries a partition table (%s)", u->name, table);
	if (type[0] != '\0')
		usage_add(u, "%s carries a signature of %s (%s)%s%s%s", u->name, type,
			value_of(pr, "USAGE"), label[0] != '\0' ? " labelled \"" : "",
			label, label[0] != '\0' ? "\"" : "");
	if (table[0] == '\0' && type[0] == '\0')
		usage_add(u, "%s carries a signature that libblkid knows", u->name);
}

/* Damaged signatures count, too: what is left of somebody's data is still theirs. */
static int
probe_signatures(struct usage *u, blkid_probe pr, int fd, struct err *e)
{
	int rc;

	if (blkid_probe_set_device(pr, fd, 0, 0) != 0 ||
		blkid_probe_enable_superblocks(pr, 1) != 0 ||
		blkid_probe_set_superblocks_flags(
			pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL |
				    BLKID_SUBLKS_BADCSUM) != 0 ||
		blkid_probe_enable_partitions(pr, 1) != 0 ||
		blkid_probe_set_partitions_flags(pr, BLKID_PARTS_FORCE_GPT) != 0)
		return err_set(e, ERR_IO, "libblkid cannot look at %s", u->name);
	rc = blkid_do_safeprobe(pr);
	u->has_signature = rc == 0 || rc == -2;
	if (rc == 0)
		tell_signature(u, pr);
	else if (rc == -2)
		usage_add(u, "%s carries signatures of more than one kind", u->name);
	else if (rc < 0)
		return err_set(
			e, ERR_IO, "look for signatures on %s: read error", u->name);
	return 0;
}

static int
check_signatures(struct usage *u, int fd, struct err *e)
{
	blkid_probe pr;
	int plain = reopen(fd, O_RDONLY | O_NONBLOCK);
	int rc;

	if (plain < 0)
		return err_errno(e, ERR_IO, errno, "open %s", u->name);
	pr = blkid_new_probe();
	if (pr == NULL)
		rc = err_set(e, ERR_IO, "libblkid cannot start");
	else
		rc = probe_signatures(u, pr, plain, e);
	blkid_free_probe(pr);
	close(plain);
	return rc;
}

/* Only for a drive that looks free: the claim of a moment could disturb others. */
static void
check_claim(struct usage *u, int fd)
{
	int other = reopen(fd, O_RDONLY | O_NONBLOCK | (u->is_file ? 0 : O_EXCL));

	if ((other < 0 && errno == EBUSY) ||
		(other >= 0 && u->is_file && flock(other, LOCK_EX | LOCK_NB) != 0))
		usage_add(u, "%s is claimed by another program", u->name);
	if (other >= 0)
		close(other);
}

static void
check_flags(struct usage *u, int fd)
{
	char hidden[8];
	int ro = 0;

	if (u->is_file)
		return;
	if (sysfs_has(u->dir, "partition"))
		usage_add(u, "%s is a partition, which is never written to", u->name);
	if (ioctl(fd, BLKROGET, &ro) == 0 && ro != 0)
		usage_add(u, "%s is read-only", u->name);
	if (sysfs_read(u->dir, "hidden", hidden, sizeof(hidden)) &&
		strcmp(hidden, "1") == 0)
		usage_add(u, "%s is one path of a multipath drive", u->name);
}

/* Opens what handle (an O_PATH descriptor) stands for; -1 with errno, EBUSY when
 * something else holds it. */
static int
claim_once(int handle, enum guard_claim_for what, bool is_file)
{
	const int flags = (what == CLAIM_TO_WRITE ? O_RDWR : O_RDONLY) | O_EXCL |
			  O_DIRECT;
	int fd = reopen(handle, flags | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = reopen(handle, flags);
	if (fd >= 0 && is_file && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		fd = -1;
		errno = EBUSY;
	}
	return fd;
}

static int
claim_patiently(int handle, enum guard_claim_for what, bool is_file)
{
	const struct timespec pause = {0, CLAIM_PAUSE_NS};
	int64_t until = clock_mono() + CLAIM_WAIT_NS;
	int fd;

	while ((fd = claim_once(handle, what, is_file)) < 0 && errno == EBUSY &&
		clock_mono() < until)
		nanosleep(&pause, NULL);
	return fd;
}

/* One thing of those that are looked at, from the drive itself down. */
struct layer {
	struct usage u;
	enum guard_when when;
	const char *keep_path;
	size_t before; /* length of the reasons when all began */
	int depth;
	int failed;
	struct err *e;
};

/* Loop devices claim nothing of what they show. Mapped devices, arrays and partitions do,
 * and who else uses their parts is found as a holder. */
static void
check_lower_claim(struct usage *u, int fd)
{
	int other;

	if (!sysfs_has(u->over->dir, "loop"))
		return;
	other = claim_patiently(fd, CLAIM_TO_READ, u->is_file);
	if (other < 0 && errno == EBUSY)
		usage_add(u, "%s is claimed by another program", u->name);
	if (other >= 0)
		close(other);
}

static void
check_claims(struct layer *l, int fd)
{
	struct usage *u = &l->u;

	if (l->when != GUARD_BEFORE)
		writers_find(u, "/proc");
	if (u->reasons->len != l->before)
		return;
	if (u->over == NULL && l->when == GUARD_BEFORE)
		check_claim(u, fd);
	else if (u->over != NULL && l->when != GUARD_BEFORE)
		check_lower_claim(u, fd);
}

/* Looks at one layer without what lies beneath it. */
static int
check_layer(struct layer *l, int fd)
{
	struct usage *u = &l->u;

	if (usage_mounts(u, l->e) != 0 || usage_swaps(u, l->e) != 0 ||
		usage_beneath(u, l->keep_path, l->e) != 0)
		return -1;
	usage_holders(u);
	/* A loop device above has told who else is over its file. */
	if (u->over == NULL || !u->is_file)
		usage_loops(u);
	usage_exports(u, "/sys/kernel/config");
	check_flags(u, fd);
	if (l->when == GUARD_HELD)
		return 0;
	/* It would mostly be the same signature once more. */
	if (u->over != NULL && u->over->has_signature) {
		u->has_signature = true;
		return 0;
	}
	return check_signatures(u, fd, l->e);
}

static void check_beneath(void *arg, int fd);

static int
check_from(struct layer *l, int fd, const struct usage *over, struct str *reasons)
{
	if (usage_init(&l->u, fd, over, reasons, l->e) != 0 || check_layer(l, fd) != 0)
		return -1;
	if (!l->u.is_file)
		node_each_lower(l->u.dir, check_beneath, l);
	if (l->failed == 0)
		check_claims(l, fd);
	return l->failed;
}

static void
check_beneath(void *arg, int fd)
{
	struct layer *up = arg;
	struct layer l = {
		.when = up->when,
		.keep_path = up->keep_path,
		.before = up->before,
		.depth = up->depth + 1,
		.e = up->e,
	};

	if (up->failed != 0)
		return;
	if (fd < 0 || l.depth > LAYERS_MAX)
		usage_add(&up->u, "what lies beneath %s cannot be looked at", up->u.name);
	else
		up->failed = check_from(&l, fd, &up->u, up->u.reasons);
}

int
guard_check(int fd, enum guard_when when, const char *keep_path, struct str *ret_reasons,
	struct err *e)
{
	struct layer l = {
		.when = when,
		.keep_path = keep_path,
		.before = ret_reasons->len,
		.e = e,
	};

	return check_from(&l, fd, NULL, ret_reasons);
}

static int
claim_failed(const char *path, int num, struct err *e)
{
	if (num == EBUSY) {
		err_set(e, ERR_UNSAFE,
			"%s is in use: it or a part of it is mounted, swap, in an array, "
			"or claimed by another program",
			path);
		return err_fix(e, "lsblk and fuser show by whom");
	}
	if (num == EINVAL) {
		err_set(e, ERR_IO, "%s does not take direct I/O", path);
		return err_fix(e, "put the file on ext4, XFS or another file system with "
				  "O_DIRECT");
	}
	return err_errno(e, num == ENXIO || num == ENODEV ? ERR_NOTFOUND : ERR_IO, num,
		"open %s", path);
}

/* Nobody can forget this rule: without a claim nothing is written to. */
static int
refuse_partition(dev_t dev, const char *path, struct err *e)
{
	char dir[SYSFS_PATH_MAX];

	if (!sysfs_block_dir(dev, dir))
		return err_set(e, ERR_NOTFOUND,
			"%s is gone: the kernel no longer lists it", path);
	if (!sysfs_has(dir, "partition"))
		return 0;
	*strrchr(dir, '/') = '\0';
	err_set(e, ERR_UNSAFE, "%s is a partition, which is never written to", path);
	return err_fix(e, "name the whole disk, /dev/%s", sysfs_name(dir));
}

/* The type is looked at before the real open, which for other kinds of file could have
 * effects of its own; both go through one handle, so that no name can change between. */
static int
claim_handle(int handle, enum guard_claim_for what, const char *path, int *ret_fd,
	struct err *e)
{
	struct stat st;
	int fd;

	if (fstat(handle, &st) != 0)
		return err_errno(e, ERR_IO, errno, "look at %s", path);
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return err_set(e, ERR_UNSAFE,
			"%s is neither a block device nor a regular file", path);
	if (S_ISBLK(st.st_mode) && refuse_partition(st.st_rdev, path, e) != 0)
		return -1;
	fd = claim_patiently(handle, what, S_ISREG(st.st_mode));
	if (fd < 0)
		return claim_failed(path, errno, e);
	*ret_fd = fd;
	return 0;
}

int
guard_claim(const char *path, enum guard_claim_for what, int *ret_fd, struct err *e)
{
	char real[PATH_MAX];
	int handle, rc;

	if (realpath(path, real) == NULL)
		return err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"find %s", path);
	handle = open(real, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (handle < 0)
		return err_errno(e, ERR_IO, errno, "open %s", real);
	rc = claim_handle(handle, what, real, ret_fd, e);
	close(handle);
	return rc;
}
