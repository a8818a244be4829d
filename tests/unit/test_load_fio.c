#include "runner/load_fio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "runner/buffers.h"
#include "tests/unit/unit.h"

#define BLOCK 4096U
#define BLOCKS 1024U
#define FIRST 256U /* block of the region */
#define COUNT 512U /* blocks of the region */

static struct load_result r;

static bool
have_fio(void)
{
	return system("command -v fio >/dev/null") == 0;
}

static unsigned char
byte_at(unsigned block)
{
	return (unsigned char)(1 + block % 251);
}

/* An empty file, gone when closed; -1 where no directory has direct I/O. */
static int
open_scratch(void)
{
	const char *const dirs[] = {getenv("TMPDIR"), ".", "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && fd < 0; i++)
		if (dirs[i] != NULL)
			fd = open(
				dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC | O_DIRECT, 0600);
	return fd;
}

/* The same with blocks that each hold one byte. */
static int
scratch(void)
{
	struct buffers b;
	struct err e = {0};
	int fd = open_scratch();

	OK(buffers_map(&b, 1, BLOCKS * BLOCK, &e));
	for (unsigned i = 0; i < BLOCKS; i++)
		memset((char *)b.data + i * BLOCK, byte_at(i), BLOCK);
	ck_assert_int_eq(pwrite(fd, b.data, BLOCKS * BLOCK, 0), BLOCKS * BLOCK);
	buffers_unmap(&b);
	return fd;
}

/* Whether a block is as scratch made it. */
static bool
untouched(const unsigned char *data, unsigned block)
{
	for (unsigned i = 0; i < BLOCK; i++)
		if (data[block * BLOCK + i] != byte_at(block))
			return false;
	return true;
}

/* Checks that nothing outside of the region has changed; returns the changed blocks. */
static unsigned
changed_blocks(int fd)
{
	struct buffers b;
	struct err e = {0};
	unsigned n = 0;

	OK(buffers_map(&b, 1, BLOCKS * BLOCK, &e));
	ck_assert_int_eq(pread(fd, b.data, BLOCKS * BLOCK, 0), BLOCKS * BLOCK);
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (untouched(b.data, i))
			continue;
		ck_assert_msg(i >= FIRST && i < FIRST + COUNT,
			"block %u is outside of the region and has changed", i);
		n++;
	}
	buffers_unmap(&b);
	return n;
}

static struct load
load_on(int fd)
{
	struct load l = {
		.fd = fd,
		.engine = &engine_uring,
		.workload = {.in_flight = 8, .workers = 1},
		.offset = FIRST * BLOCK,
		.length = COUNT * BLOCK,
		.align_bytes = 512,
		.measure_ns = 200 * NS_PER_MS,
		.seed = 7,
		.point = 1,
	};

	workload_plain(&l.workload, 50, 100, BLOCK);
	return l;
}

static void
check_result(const struct load *l)
{
	ck_assert_int_eq(r.end, LOAD_DONE);
	ck_assert_int_eq(r.first_error, 0);
	ck_assert_ptr_nonnull(strstr(r.engine, "fio-"));
	ck_assert_ptr_nonnull(strstr(r.engine, " io_uring"));
	ck_assert_int_gt(r.length_ns, 0);
	ck_assert_uint_gt(r.ops[DIR_READ] + r.ops[DIR_WRITE], 0);
	for (int d = 0; d < DIRECTIONS; d++) {
		ck_assert_uint_eq(r.service[d].n, r.ops[d]);
		ck_assert_uint_eq(r.bytes[d], r.ops[d] * BLOCK);
		ck_assert_uint_eq(r.response[d].n, 0);
		ck_assert_uint_eq(r.errors[d], 0);
	}
	ck_assert(workload_read_percent(&l->workload) > 0 || r.ops[DIR_READ] == 0);
	ck_assert(workload_read_percent(&l->workload) < 100 || r.ops[DIR_WRITE] == 0);
}

START_TEST(fio_does_no_other_operations)
{
	struct load l = load_on(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	struct err e = {0};

	ck_assert_int_eq(ftruncate(l.fd, BLOCKS * BLOCK), 0);
	for (unsigned op = OP_WRITE_FUA; op < OPERATIONS; op++) {
		l.workload.streams[0].operation = (enum operation)op;
		FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--operation write");
	}
	close(l.fd);
}
END_TEST

START_TEST(fio_does_the_load_within_its_region)
{
	static const struct {
		double read, random;
		unsigned workers;
		double rate;
		enum arrivals arrivals;
	} cases[] = {
		{50, 100, 1, 0, ARRIVALS_POISSON},
		{0, 0, 2, 0, ARRIVALS_POISSON},
		{50, 80, 1, 0, ARRIVALS_POISSON},
		{50, 0, 1, 2000, ARRIVALS_FIXED},
		{50, 100, 2, 2000, ARRIVALS_POISSON},
		{100, 100, 1, 0, ARRIVALS_POISSON},
	};
	struct err e = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = scratch();
		struct load l = load_on(fd);

		l.workload.streams[0].read_percent = cases[i].read;
		l.workload.streams[0].random_percent = cases[i].random;
		l.workload.workers = cases[i].workers;
		l.offered_iops = cases[i].rate;
		l.arrivals = cases[i].arrivals;
		OK(load_fio_run(&l, &r, &e));
		check_result(&l);
		ck_assert_int_eq(changed_blocks(fd) > 0, r.ops[DIR_WRITE] > 0);
		close(fd);
	}
}
END_TEST

/* Long enough for fio to have begun, at any speed: it is told to end by then. */
static bool
for_some_ticks(void *arg)
{
	unsigned *ticks = arg;

	return ++*ticks < 40;
}

START_TEST(a_stopped_load_ends_before_its_time)
{
	struct err e = {0};
	int fd = scratch();
	struct load l = load_on(fd);
	unsigned ticks = 0;

	l.measure_ns = 3600 * NS_PER_S;
	l.on_tick = for_some_ticks;
	l.arg = &ticks;
	OK(load_fio_run(&l, &r, &e));
	ck_assert_int_eq(r.end, LOAD_STOPPED);
	ck_assert_int_lt(r.length_ns, l.measure_ns / 2);
	close(fd);
}
END_TEST

/* Puts a program called fio first in PATH; it prints and ends as the script says. */
static void
other_fio(const char *script)
{
	char dir[] = "/tmp/ssdlab-fio-XXXXXX";
	char path[64];
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fio", dir);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	/* It goes away by itself. */
	fprintf(f, "#!/bin/sh\nPATH=/usr/bin:/bin\nrm -r %s\n%s\n", dir, script);
	fclose(f);
	ck_assert_int_eq(chmod(path, 0700), 0);
	setenv("PATH", dir, 1);
}

START_TEST(the_failures_of_fio_are_told)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	struct load l = load_on(fd);
	struct err e = {0};

	l.offset = 0;
	l.length = 0;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "is too small");
	close(fd);
	l = load_on(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	ck_assert_int_eq(ftruncate(l.fd, BLOCKS * BLOCK), 0);
	other_fio("echo first >&2; echo 'the last line' >&2; exit 3");
	FAILS(load_fio_run(&l, &r, &e), ERR_IO,
		"fio ended with exit code 3: the last line");
	other_fio("echo only this; exit 1");
	FAILS(load_fio_run(&l, &r, &e), ERR_IO, "exit code 1: only this");
	other_fio("kill -9 $$");
	FAILS(load_fio_run(&l, &r, &e), ERR_IO, "fio was ended by signal 9");
	other_fio("echo nothing to read");
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "holds no document");
	setenv("PATH", "/nonexistent", 1);
	FAILS(load_fio_run(&l, &r, &e), ERR_NOTFOUND, "fio is not installed");
	ck_assert_ptr_nonnull(strstr(e.fix, "apt-get install fio"));
	close(l.fd);
}
END_TEST

/* The lines are those that fio 3.33 prints on a full drive. */
START_TEST(failed_ios_fail_the_load_with_kind_and_offset)
{
	static const char script[] =
		"for o in 81920 12288; do echo \"fio: io_u error on file "
		"/proc/self/fd/3: No space left on device: write offset=$o, "
		"buflen=4096\" >&2; done\n"
		"echo 'fio: pid=1, err=28/file:io_u.c:1876, func=io_u error'\n"
		"cat <<END\n{\n\"fio version\":\"fio-3.33\",\"jobs\":[{\"error\":28,"
		"\"job_runtime\":10,\"usr_cpu\":0.0,\"sys_cpu\":0.0,"
		"\"read\":{\"io_bytes\":0,\"runtime\":0,\"lat_ns\":{\"N\":0}},"
		"\"write\":{\"io_bytes\":4096,\"runtime\":9,\"lat_ns\":{\"N\":1,"
		"\"min\":1000,\"max\":1000,\"mean\":1000.0,"
		"\"bins\":{\"1004\":1}}}}]\n}\nEND\nexit 2";
	struct load l = load_on(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	struct err e = {0};

	ck_assert_int_eq(ftruncate(l.fd, BLOCKS * BLOCK), 0);
	other_fio(script);
	OK(load_fio_run(&l, &r, &e));
	ck_assert_int_eq(r.end, LOAD_FAILED);
	ck_assert_str_eq(r.reason, "more I/Os failed than are allowed");
	ck_assert_int_eq(r.first_error, ENOSPC);
	ck_assert_uint_eq(r.first_error_offset, 81920);
	ck_assert_uint_eq(r.errors[DIR_WRITE], 2);
	ck_assert_uint_eq(r.errors[DIR_READ], 0);
	ck_assert_uint_eq(r.faults[LOAD_FAULT_SPACE], 2);
	ck_assert_uint_eq(r.ops[DIR_WRITE], 1);
	close(l.fd);
}
END_TEST

START_TEST(what_fio_cannot_do_is_refused_by_name)
{
	const int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct err e = {0};
	struct load l = load_on(fd);

	ck_assert_int_eq(ftruncate(fd, BLOCKS * BLOCK), 0);
	l.max_errors = 1;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--max-errors");
	ck_assert_ptr_nonnull(strstr(e.fix, "--engine uring"));
	l = load_on(fd);
	l.engine_script = "delay=1ms";
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "script");
	l = load_on(fd);
	l.one_pass = BLOCK;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "one pass");
	l = load_on(fd);
	l.workload.streams[0].read_percent = 99.5;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "whole percents");
	l = load_on(fd);
	l.workload.workers = 3;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--in-flight");
	l = load_on(fd);
	l.workload.workers = 2;
	l.workload.streams[0].random_percent = 50;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--access");
	l = load_on(fd);
	l.offered_iops = 33;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--rate");
	l = load_on(fd);
	l.dedupe_percent = 10;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--dedupe");
	l = load_on(fd);
	flow_set_jesd219(&l.workload.streams[0]);
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "no --distribution");
	l = load_on(fd);
	l.seed = UINT64_MAX;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--seed");
	l = load_on(fd);
	l.measure_ns = 1000;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "--time");
	l = load_on(fd);
	l.length = BLOCKS * BLOCK;
	FAILS(load_fio_run(&l, &r, &e), ERR_INVALID, "ends after the last");
	close(fd);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("load_fio");
	int fd = open_scratch();
	const char *why = "no directory here has direct I/O";
	bool skip = fd < 0 || !have_fio();
	int failed;

	if (fd >= 0) {
		why = "fio is not installed";
		close(fd);
	}

	tcase_set_timeout(tc, 120);
	if (!skip) {
		tcase_add_test(tc, fio_does_the_load_within_its_region);
		tcase_add_test(tc, a_stopped_load_ends_before_its_time);
	}
	tcase_add_test(tc, fio_does_no_other_operations);
	tcase_add_test(tc, the_failures_of_fio_are_told);
	tcase_add_test(tc, failed_ios_fail_the_load_with_kind_and_offset);
	tcase_add_test(tc, what_fio_cannot_do_is_refused_by_name);
	failed = unit_run("load_fio", tc);
	if (failed != 0 || !skip)
		return failed;
	printf("%s: what runs it is skipped\n", why);
	return 77;
}
