#include "common/node.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sysfs.h"
#include "tests/unit/top_rig.h"

/* A directory as sysfs has them, of our own. */
static void
setup(void)
{
	top_make("/tmp");
}

struct count {
	int opened, closed; /* what could be opened, and what could not */
	dev_t last;
};

static void
count_lower(void *arg, int fd)
{
	struct count *c = arg;
	struct stat st;

	if (fd < 0) {
		c->closed++;
		return;
	}
	c->opened++;
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(S_ISBLK(st.st_mode));
	c->last = st.st_rdev;
}

static struct count
lower_of(const char *name)
{
	struct count c = {0};
	char dir[64];

	snprintf(dir, sizeof(dir), "%s/%s", top, name);
	node_each_lower(dir, count_lower, &c);
	return c;
}

START_TEST(a_look_follows_links_and_tells_numbers)
{
	char path[64], target[64];
	struct stat st;
	struct node n;

	top_put_line("file", "x");
	snprintf(target, sizeof(target), "%s/file", top);
	snprintf(path, sizeof(path), "%s/link", top);
	ck_assert(!node_look(AT_FDCWD, path, &n));
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert(node_look(AT_FDCWD, path, &n));
	ck_assert_int_eq(stat(target, &st), 0);
	ck_assert(S_ISREG(n.mode) && n.ino == st.st_ino && n.dev == st.st_dev);
	ck_assert(node_look(AT_FDCWD, "/dev/null", &n));
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(n.mode) && n.rdev == st.st_rdev);
}
END_TEST

START_TEST(a_disk_shows_nothing_but_itself)
{
	struct count c;

	top_put_line("sdz/dev", "4095:7");
	top_put_line("sdz/holders/dm-1/dev", "4095:9");
	c = lower_of("sdz");
	ck_assert_int_eq(c.opened + c.closed, 0);
}
END_TEST

/* No device has these numbers: that they are there is told all the same. */
START_TEST(parts_that_cannot_be_opened_are_told)
{
	top_put_line("dm-1/slaves/sdy/dev", "4095:7");
	top_put_line("dm-1/slaves/sdz/dev", "4095:8");
	top_put_line("dm-1/slaves/sdx/uevent", "");
	ck_assert_int_eq(lower_of("dm-1").closed, 3);
	top_put_line("sdz/dev", "4095:8");
	top_put_line("sdz/sdz1/dev", "4095:9");
	top_put_line("sdz/sdz1/partition", "1");
	ck_assert_int_eq(lower_of("sdz/sdz1").closed, 1);
	top_put_line("loop4095/dev", "7:1048575");
	top_put_line("loop4095/loop/backing_file", "/nonexistent (deleted)");
	ck_assert_int_eq(lower_of("loop4095").closed, 1);
}
END_TEST

struct device {
	char numbers[32];
	dev_t dev;
};

/* Takes the first device that this process may open. */
static bool
find_device(void *arg, const char *path)
{
	struct device *d = arg;
	char node[64];
	int fd;

	snprintf(node, sizeof(node), "/dev/%.50s", sysfs_name(path));
	fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return true;
	close(fd);
	return !sysfs_dev(path, &d->dev) ||
	       !sysfs_read(path, "dev", d->numbers, sizeof(d->numbers));
}

START_TEST(parts_are_opened_by_their_numbers)
{
	struct device d = {0};
	struct count c;

	sysfs_each("/sys/block", "", find_device, &d);
	if (d.dev == 0) {
		printf("not tried: no block device can be opened here\n");
		return;
	}
	top_put_line("dm-1/slaves/misnamed/dev", d.numbers);
	top_put_line("dm-1/slaves/sdz/dev", "4095:8");
	c = lower_of("dm-1");
	ck_assert_int_eq(c.opened, 1);
	ck_assert_int_eq(c.closed, 1);
	ck_assert(c.last == d.dev);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("node");

	tcase_add_checked_fixture(tc, setup, top_remove);
	tcase_add_test(tc, a_look_follows_links_and_tells_numbers);
	tcase_add_test(tc, a_disk_shows_nothing_but_itself);
	tcase_add_test(tc, parts_that_cannot_be_opened_are_told);
	tcase_add_test(tc, parts_are_opened_by_their_numbers);
	return unit_run("node", tc);
}
