#include "common/guard.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/str.h"
#include "common/usage.h"
#include "common/writers.h"
#include "tests/unit/top_rig.h"

static char file[64], link_to[64];

static void
make_file(void)
{
	int fd;

	top_make("/var/tmp");
	snprintf(file, sizeof(file), "%s/a.img", top);
	snprintf(link_to, sizeof(link_to), "%s/link", top);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 8 << 20), 0);
	close(fd);
}

/* The reasons against the file, as another process than the one that holds it sees it. */
static const char *
reasons(enum guard_when when)
{
	static struct str s;
	struct err e = {0};
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	str_reset(&s);
	OK(guard_check(fd, when, "/var/tmp", &s, &e));
	close(fd);
	return str_text(&s);
}

static void
put(off_t at, const void *bytes, size_t len)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes, len, at), (ssize_t)len);
	close(fd);
}

START_TEST(an_empty_file_is_clear)
{
	ck_assert_str_eq(reasons(GUARD_BEFORE), "");
	ck_assert_str_eq(reasons(GUARD_CLAIM), "");
}
END_TEST

START_TEST(a_signature_is_named)
{
	put(4096 - 10, "SWAPSPACE2", 10);
	put(1024, "\1\0\0\0\xff\x07\0\0", 8);
	ck_assert_msg(strstr(reasons(GUARD_BEFORE),
			      "a.img carries a signature of swap") != NULL,
		"%s", reasons(GUARD_BEFORE));
}
END_TEST

START_TEST(a_partition_table_is_named)
{
	put(446, "\0\1\1\0\x83\x0f\x20\x07\0\x08\0\0\0\x10\0\0", 16);
	put(510, "\x55\xaa", 2);
	ck_assert_msg(
		strstr(reasons(GUARD_BEFORE), "carries a partition table (dos)") != NULL,
		"%s", reasons(GUARD_BEFORE));
}
END_TEST

START_TEST(a_damaged_signature_counts)
{
	/* An LVM label whose checksum is wrong. */
	put(512, "LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001", 32);
	ck_assert_str_ne(reasons(GUARD_BEFORE), "");
}
END_TEST

START_TEST(a_claim_is_seen_by_others_and_excludes_them)
{
	struct err e = {0};
	int fd = -1, other = -1;

	OK(guard_claim(file, CLAIM_TO_WRITE, &fd, &e));
	ck_assert_int_ge(fd, 0);
	ck_assert((fcntl(fd, F_GETFL) & (O_DIRECT | O_NONBLOCK)) == O_DIRECT);
	ck_assert(strstr(reasons(GUARD_BEFORE), "claimed by another program") != NULL);
	ck_assert_str_eq(reasons(GUARD_CLAIM), "");
	FAILS(guard_claim(file, CLAIM_TO_WRITE, &other, &e), ERR_UNSAFE, "is in use");
	close(fd);
	OK(guard_claim(file, CLAIM_TO_WRITE, &fd, &e));
	close(fd);
}
END_TEST

START_TEST(a_link_is_claimed_as_what_it_leads_to)
{
	struct err e = {0};
	struct stat a, b;
	int fd = -1;

	ck_assert_int_eq(symlink(file, link_to), 0);
	OK(guard_claim(link_to, CLAIM_TO_WRITE, &fd, &e));
	ck_assert_int_eq(fstat(fd, &a), 0);
	ck_assert_int_eq(stat(file, &b), 0);
	ck_assert(a.st_ino == b.st_ino);
	close(fd);
	unlink(link_to);
	FAILS(guard_claim(link_to, CLAIM_TO_WRITE, &fd, &e), ERR_NOTFOUND,
		"No such file");
	FAILS(guard_claim(top, CLAIM_TO_WRITE, &fd, &e), ERR_UNSAFE,
		"neither a block device");
	FAILS(guard_claim("/dev/null", CLAIM_TO_WRITE, &fd, &e), ERR_UNSAFE,
		"neither a block device");
}
END_TEST

START_TEST(a_process_that_writes_is_named)
{
	int ready[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(file, O_RDWR | O_CLOEXEC);

		if (fd >= 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_str_eq(reasons(GUARD_BEFORE), "");
	ck_assert_msg(strstr(reasons(GUARD_CLAIM),
			      "a.img is open for writing in process") != NULL,
		"%s", reasons(GUARD_CLAIM));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(holders_of_a_disk_and_its_partitions_are_named)
{
	struct str s = {0};
	struct usage u = {.reasons = &s};

	top_put_line("sdz/holders/md7/md/level", "raid1");
	top_put_line("sdz/sdz1/partition", "1");
	top_put_line("sdz/sdz1/holders/dm-3/dm/name", "vg-home");
	top_put_line("sdz/sdz1/holders/dm-3/dm/uuid", "LVM-abc");
	top_put_line("sdz/sdz2/partition", "2");
	top_put_line("sdz/sdz2/holders/bcache0/uevent", "");
	top_put_line("sdz/queue/holders/md8/uevent", "");
	snprintf(u.dir, sizeof(u.dir), "%s/sdz", top);
	usage_holders(&u);
	ck_assert_ptr_nonnull(
		strstr(str_text(&s), "/dev/sdz is a member of the array md7"));
	ck_assert_ptr_nonnull(strstr(str_text(&s),
		"/dev/sdz1 is held by dm-3, device mapper \"vg-home\" (LVM)"));
	ck_assert_ptr_nonnull(strstr(str_text(&s), "/dev/sdz2 is held by bcache0"));
	ck_assert_ptr_null(strstr(str_text(&s), "md8"));
	str_fini(&s);
}
END_TEST

START_TEST(signatures_of_two_kinds_are_told)
{
	put(0, "LUKS\xba\xbe\0\1", 8);
	put(65536 + 64, "_BHRfS_M", 8);
	put(4096 - 10, "SWAPSPACE2", 10);
	put(1024, "\1\0\0\0\xff\x07\0\0", 8);
	ck_assert_str_ne(reasons(GUARD_BEFORE), "");
}
END_TEST

START_TEST(exports_by_targets_of_the_kernel_are_named)
{
	struct str s = {0};
	struct err e = {0};
	struct usage u;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	OK(usage_init(&u, fd, NULL, &s, &e));
	usage_exports(&u, top);
	ck_assert_uint_eq(s.len, 0);
	top_put_line("c/nvmet/subsystems/nqn.1/namespaces/1/device_path", file);
	top_put_line("c/nvmet/subsystems/nqn.1/namespaces/2/device_path", "/dev/null");
	top_put_line("c/target/core/iblock_0/disk/udev_path", file);
	snprintf(link_to, sizeof(link_to), "%s/c", top);
	usage_exports(&u, link_to);
	ck_assert_msg(strstr(str_text(&s), "a.img is exported by /") != NULL &&
			      strstr(str_text(&s), "nqn.1/namespaces/1; ") != NULL &&
			      strstr(str_text(&s), "/iblock_0/disk") != NULL,
		"%s", str_text(&s));
	ck_assert(strstr(str_text(&s), "namespaces/2") == NULL);
	str_fini(&s);
	close(fd);
}
END_TEST

/* What a /proc of our own, in which pid 77 has that descriptor 5, tells of u. */
static const char *
told_of(struct usage *u, const char *link)
{
	static struct str s;
	char proc[64];

	top_put_line("proc/77/comm", "other");
	top_put_line("proc/77/fd/0", "");
	snprintf(proc, sizeof(proc), "%s/proc/77/fd/5", top);
	unlink(proc);
	ck_assert_int_eq(symlink(link, proc), 0);
	snprintf(proc, sizeof(proc), "%s/proc", top);
	str_reset(&s);
	u->reasons = &s;
	writers_find(u, proc);
	return str_text(&s);
}

/* The file, as usage_init finds it. */
static struct usage
usage_of_file(void)
{
	struct str s = {0};
	struct err e = {0};
	struct usage u;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	OK(usage_init(&u, fd, NULL, &s, &e));
	close(fd);
	return u;
}

START_TEST(a_file_registered_with_a_ring_is_a_way_to_write)
{
	struct usage u = usage_of_file();
	struct usage disk = {.name = "/dev/loop", .devs = {1}, .n_devs = 1};
	char files[256];

	snprintf(files, sizeof(files),
		"flags:\t02\nUserFiles:\t2\n    0: /dev/null\n    3: %s\nUserBufs:\t0\n",
		file);
	top_put_text("proc/77/fdinfo/5", files);
	ck_assert_str_eq(told_of(&disk, "anon_inode:[io_uring]"), "");
	ck_assert_str_eq(told_of(&u, "anon_inode:[eventfd]"), "");
	ck_assert_msg(strstr(told_of(&u, "anon_inode:[io_uring]"),
			      "a.img is registered with io_uring in process 77 (other)"),
		"%s", told_of(&u, "anon_inode:[io_uring]"));
	top_put_text("proc/77/fdinfo/5",
		"UserFiles:\t1\n    0: /dev/null\nUserBufs:\t1\n    0: /dev/x/a.img\n");
	ck_assert_str_eq(told_of(&u, "anon_inode:[io_uring]"), "");
}
END_TEST

START_TEST(a_path_that_leads_nowhere_is_known_by_its_name)
{
	struct usage u = usage_of_file();

	top_put_text("proc/77/fdinfo/5", "UserFiles:\t1\n    0: /not/here/a.img\n");
	ck_assert_str_ne(told_of(&u, "anon_inode:[io_uring]"), "");
	top_put_text("proc/77/fdinfo/5", "UserFiles:\t1\n    0: /not/here/b.img\n");
	ck_assert_str_eq(told_of(&u, "anon_inode:[io_uring]"), "");
}
END_TEST

/* Its root is where its paths begin, and ours may lead to something else. */
START_TEST(a_path_of_another_namespace_is_looked_up_in_that)
{
	struct usage u = usage_of_file();
	char root[64], inside[128], files[256];

	snprintf(root, sizeof(root), "%s/proc/77/root", top);
	top_put_line("proc/77/ns/mnt", "");
	top_put_line("proc/77/root/dev/b.img", "");
	snprintf(inside, sizeof(inside), "%s/dev/data", root);
	ck_assert_int_eq(link(file, inside), 0);
	top_put_text("proc/77/fdinfo/5", "UserFiles:\t1\n    0: /dev/data\n");
	ck_assert_str_ne(told_of(&u, "anon_inode:[io_uring]"), "");
	top_put_text("proc/77/fdinfo/5", "UserFiles:\t1\n    0: /dev/b.img\n");
	ck_assert_str_eq(told_of(&u, "anon_inode:[io_uring]"), "");
	/* there it is another file */
	snprintf(inside, sizeof(inside), "proc/77/root%s", file);
	top_put_line(inside, "");
	snprintf(files, sizeof(files), "UserFiles:\t1\n    0: %s\n", file);
	top_put_text("proc/77/fdinfo/5", files);
	ck_assert_str_eq(told_of(&u, "anon_inode:[io_uring]"), "");
}
END_TEST

START_TEST(a_path_that_is_deleted_is_known_by_its_name)
{
	struct usage u = usage_of_file();

	top_put_text("proc/77/fdinfo/5",
		"UserFiles:\t1\n    0: /not/here/a.img\\040(deleted)\n");
	ck_assert_str_ne(told_of(&u, "anon_inode:[io_uring]"), "");
}
END_TEST

/* As the kernel tells it while somebody has the lock of the ring. */
START_TEST(a_ring_that_stays_busy_cannot_be_excluded)
{
	struct usage u = usage_of_file();

	top_put_text("proc/77/fdinfo/5", "pos:\t0\nflags:\t02000002\n");
	ck_assert_str_eq(told_of(&u, "anon_inode:[eventfd]"), "");
	ck_assert_msg(strstr(told_of(&u, "anon_inode:[io_uring]"),
			      "a.img is perhaps registered with io_uring, whose ring is "
			      "too busy to be looked into, in process 77 (other)"),
		"%s", told_of(&u, "anon_inode:[io_uring]"));
}
END_TEST

/* It is asked of the kernel that runs: how it tells of them differs. */
START_TEST(a_real_ring_with_empty_places_is_no_way_to_write)
{
	struct io_uring_params p = {0};
	int none[2] = {-1, -1}, ready[2];
	char c = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		int ring = (int)syscall(SYS_io_uring_setup, 2, &p);
		bool made = ring >= 0 && syscall(SYS_io_uring_register, ring,
						 IORING_REGISTER_FILES, none, 2) == 0;

		if (write(ready[1], made ? "y" : "n", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	if (c == 'y')
		ck_assert_str_eq(reasons(GUARD_CLAIM), "");
	else
		printf("not tried: io_uring is switched off here\n");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

START_TEST(a_shared_mapping_is_a_way_to_write)
{
	struct usage u = usage_of_file();
	char name[64];

	top_put_text("proc/77/maps",
		"00400000-00500000 rw-p 00000000 fe:00 12                    /bin/x\n"
		"00600000-00700000 rw-s 00000000 00:01 0                     "
		"/dev/zero\n");
	top_put_line("proc/77/map_files/1-2", "");
	for (const char *const *m = (const char *const[]){"400000-500000",
		     "600000-700000", "800000-900000", NULL};
		*m != NULL; m++) {
		snprintf(name, sizeof(name), "%s/proc/77/map_files/%s", top, *m);
		ck_assert_int_eq(symlink(file, name), 0);
	}
	ck_assert_str_eq(told_of(&u, "/dev/null"), "");
	top_put_text("proc/77/maps",
		"00800000-00900000 r--s 00000000 fe:00 12                    /a.img\n");
	ck_assert_msg(strstr(told_of(&u, "/dev/null"),
			      "a.img is mapped for writing in process 77 (other)"),
		"%s", told_of(&u, "/dev/null"));
}
END_TEST

/* /dev/null stands for the generic device: what counts is its number. */
START_TEST(the_generic_device_of_a_drive_is_a_way_to_write)
{
	struct usage u = {.name = "/dev/nvme0n1", .devs = {1}, .n_devs = 1};
	struct usage scsi = {.name = "/dev/sdz", .devs = {1}, .n_devs = 1};

	snprintf(u.dir, sizeof(u.dir), "%s/nvme0/nvme0n1", top);
	top_put_line("nvme0/ng0n2/dev", "1:3");
	ck_assert_str_eq(told_of(&u, "/dev/null"), "");
	top_put_line("nvme0/ng0n1/dev", "1:3");
	ck_assert_str_eq(told_of(&u, "/dev/null"),
		"/dev/nvme0n1 is open for commands (NVMe or SCSI generic) in process 77 "
		"(other)");
	ck_assert_str_eq(told_of(&u, "/dev/zero"), "");
	snprintf(scsi.dir, sizeof(scsi.dir), "%s/sdz", top);
	top_put_line("sdz/device/scsi_generic/sg3/dev", "1:3");
	ck_assert_str_ne(told_of(&scsi, "/dev/null"), "");
	ck_assert_str_eq(told_of(&scsi, "/dev/zero"), "");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("guard");

	tcase_add_checked_fixture(tc, make_file, top_remove);
	/* A claim alone waits 3 s for that of somebody else to end. */
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, an_empty_file_is_clear);
	tcase_add_test(tc, a_signature_is_named);
	tcase_add_test(tc, a_partition_table_is_named);
	tcase_add_test(tc, a_damaged_signature_counts);
	tcase_add_test(tc, a_claim_is_seen_by_others_and_excludes_them);
	tcase_add_test(tc, a_link_is_claimed_as_what_it_leads_to);
	tcase_add_test(tc, a_process_that_writes_is_named);
	tcase_add_test(tc, holders_of_a_disk_and_its_partitions_are_named);
	tcase_add_test(tc, signatures_of_two_kinds_are_told);
	tcase_add_test(tc, exports_by_targets_of_the_kernel_are_named);
	tcase_add_test(tc, a_file_registered_with_a_ring_is_a_way_to_write);
	tcase_add_test(tc, a_path_that_leads_nowhere_is_known_by_its_name);
	tcase_add_test(tc, a_path_of_another_namespace_is_looked_up_in_that);
	tcase_add_test(tc, a_path_that_is_deleted_is_known_by_its_name);
	tcase_add_test(tc, a_ring_that_stays_busy_cannot_be_excluded);
	tcase_add_test(tc, a_real_ring_with_empty_places_is_no_way_to_write);
	tcase_add_test(tc, a_shared_mapping_is_a_way_to_write);
	tcase_add_test(tc, the_generic_device_of_a_drive_is_a_way_to_write);
	return unit_run("guard", tc);
}
