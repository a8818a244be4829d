#include "common/node.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/sysfs.h"

bool
node_look(int dir_fd, const char *path, struct node *ret_n)
{
	struct statx sx;

	/* What the kernel knows by itself: a dead file server must not hang us. */
	if (statx(dir_fd, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		    STATX_TYPE | STATX_INO, &sx) != 0)
		return false;
	ret_n->dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	ret_n->ino = sx.stx_ino;
	ret_n->rdev = makedev(sx.stx_rdev_major, sx.stx_rdev_minor);
	ret_n->mode = sx.stx_mode;
	return true;
}

bool
node_behind_loop(const char *dir, struct node *ret_n)
{
	char path[PATH_MAX];
	struct loop_info64 info = {0};
	struct node loop;
	bool known = false;
	dev_t dev;
	int fd;

	if (!sysfs_read(dir, "loop/backing_file", path, sizeof(path)) ||
		!sysfs_dev(dir, &dev))
		return false;
	if (!node_look(AT_FDCWD, path, ret_n))
		memset(ret_n, 0, sizeof(*ret_n));
	snprintf(path, sizeof(path), "/dev/%.64s", sysfs_name(dir));
	if (!node_look(AT_FDCWD, path, &loop) || !S_ISBLK(loop.mode) || loop.rdev != dev)
		return ret_n->ino != 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		known = ioctl(fd, LOOP_GET_STATUS64, &info) == 0;
		close(fd);
	}
	if (known &&
		(ret_n->dev != (dev_t)info.lo_device || ret_n->ino != info.lo_inode)) {
		ret_n->dev = (dev_t)info.lo_device;
		ret_n->ino = info.lo_inode;
		ret_n->rdev = (dev_t)info.lo_rdevice;
		ret_n->mode = ret_n->rdev != 0 ? S_IFBLK : S_IFREG;
	}
	return known || ret_n->ino != 0;
}

/* Opens path for reading if it is that device or file; a look has no effects, an open may
 * have. */
static int
open_node(const char *path, const struct node *want)
{
	char link[64];
	struct stat st;
	int fd = -1;
	int handle = open(path, O_PATH | O_CLOEXEC);

	if (handle < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
	if (fstat(handle, &st) == 0 &&
		(S_ISBLK(want->mode) ? S_ISBLK(st.st_mode) && st.st_rdev == want->rdev
				     : S_ISREG(st.st_mode) && st.st_dev == want->dev &&
					       st.st_ino == want->ino))
		fd = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	close(handle);
	return fd;
}

struct lower_walk {
	void (*fn)(void *arg, int fd);
	void *arg;
};

static void
pass_lower(const struct lower_walk *w, int fd)
{
	w->fn(w->arg, fd);
	if (fd >= 0)
		close(fd);
}

static bool
walk_lower(void *arg, const char *path)
{
	struct node n = {.mode = S_IFBLK};
	char real[SYSFS_PATH_MAX];
	char name[NAME_MAX + 8];
	int fd = -1;

	if (sysfs_dev(path, &n.rdev) && sysfs_block_dir(n.rdev, real)) {
		snprintf(name, sizeof(name), "/dev/%.200s", sysfs_name(real));
		fd = open_node(name, &n);
	}
	pass_lower(arg, fd);
	return true;
}

static void
walk_loop(const struct lower_walk *w, const char *dir)
{
	char path[PATH_MAX];
	struct node n;
	int fd = -1;

	if (node_behind_loop(dir, &n) &&
		sysfs_read(dir, "loop/backing_file", path, sizeof(path)))
		fd = open_node(path, &n);
	pass_lower(w, fd);
}

void
node_each_lower(const char *dir, void (*fn)(void *arg, int fd), void *arg)
{
	struct lower_walk w = {fn, arg};
	char disk[SYSFS_PATH_MAX];

	if (sysfs_has(dir, "loop/backing_file"))
		walk_loop(&w, dir);
	sysfs_each(dir, "slaves", walk_lower, &w);
	if (!sysfs_has(dir, "partition"))
		return;
	snprintf(disk, sizeof(disk), "%s", dir);
	*strrchr(disk, '/') = '\0';
	walk_lower(&w, disk);
}
