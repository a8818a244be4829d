#include "runner/purge.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/drive.h"
#include "common/json.h"
#include "common/le.h"
#include "common/str.h"
#include "runner/readback.h"
#include "tests/unit/unit.h"

#define MIB (1U << 20)
#define BYTES (4 * MIB)
#define NSID 3

/*
 * An NVMe drive that is played: its data are a file, its admin commands are answered
 * here. The commands and fields are those of the NVMe specifications, written down once
 * more, so that a wrong number in the code under test is seen. Linked in by --wrap.
 */
static struct {
	uint8_t oacs, cmic, fna, sanicap, flbas, dps;
	uint32_t nn;
	uint32_t active[4], allocated[4]; /* lists of namespaces, ended by 0 */
	int refuses;			  /* opcode that is refused, 0: none */
	bool keeps_data;		  /* says that it has erased, and has not */
	unsigned polls;			  /* of the log until a sanitize has ended */
	unsigned silent;		  /* of these, how many are not answered */
	uint8_t sanitize_ends;		  /* SSTAT behind them */
	/* what it was told */
	atomic_int formats, sanitizes;
	uint32_t dword, nsid;
	uint8_t sstat;
} d;
static int fd;
static char path[] = "/var/tmp/ssdlab-purge-XXXXXX";
static struct drive_id drive;
static atomic_int ticks;
static int stop_at; /* tick that says stop, from 1; 0: none */
static unsigned holds;
static double held_part; /* that was told last */

int __real_ioctl(int f, unsigned long request, ...);
int __wrap_ioctl(int f, unsigned long request, ...);

static void
fill(void)
{
	static uint8_t data[BYTES];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = ((uint8_t)(i / 4096 + 1) & 0x7f) | 1;
	ck_assert_int_eq(pwrite(fd, data, sizeof(data), 0), BYTES);
}

/* What is left of the data: anything, but not what was there. */
static void
erase(void)
{
	static uint8_t data[BYTES];

	memset(data, 0xfe, sizeof(data));
	if (!d.keeps_data)
		ck_assert_int_eq(pwrite(fd, data, sizeof(data), 0), BYTES);
}

static void
answer_list(const uint32_t *list, uint8_t *to)
{
	for (size_t i = 0; list[i] != 0; i++)
		le_put32(to + 4 * i, list[i]);
}

static int
answer_identify(const struct nvme_admin_cmd *c)
{
	uint8_t *to = (uint8_t *)(uintptr_t)c->addr;

	ck_assert_uint_eq(c->data_len, 4096);
	switch (c->cdw10) {
	case 0x00:
		ck_assert_uint_eq(c->nsid, NSID);
		to[26] = d.flbas;
		to[29] = d.dps;
		return 0;
	case 0x01:
		to[76] = d.cmic;
		to[256] = d.oacs;
		to[328] = d.sanicap;
		le_put32(to + 516, d.nn);
		to[524] = d.fna;
		return 0;
	case 0x02:
		answer_list(d.active, to);
		return 0;
	case 0x10:
		answer_list(d.allocated, to);
		return (d.oacs & 0x08) != 0 ? 0 : 2;
	default:
		return 2;
	}
}

static int
answer_log(const struct nvme_admin_cmd *c)
{
	uint8_t *to = (uint8_t *)(uintptr_t)c->addr;

	ck_assert_uint_eq(c->cdw10, 0x81 | 127 << 16);
	ck_assert_uint_eq(c->data_len, 512);
	if (d.sstat == 2 && d.silent > 0) {
		d.silent--;
		return 0x371; /* the host has given the command up */
	}
	if (d.sstat == 2 && d.polls > 0) {
		d.polls--;
	} else if (d.sstat == 2) {
		d.sstat = d.sanitize_ends;
		erase();
	}
	to[1] = 0x80; /* half of it is done */
	to[2] = d.sstat;
	return 0;
}

static int
answer(const struct nvme_admin_cmd *c)
{
	/* without a limit of ours the kernel's own is waited for */
	ck_assert_uint_gt(c->timeout_ms, 0);
	if (c->opcode == d.refuses)
		return 0x10a;
	switch (c->opcode) {
	case 0x02:
		return answer_log(c);
	case 0x06:
		return answer_identify(c);
	case 0x80:
		d.formats++;
		d.dword = c->cdw10;
		d.nsid = c->nsid;
		erase();
		return 0;
	case 0x84:
		d.sanitizes++;
		d.dword = c->cdw10;
		d.nsid = c->nsid;
		d.sstat = 2;
		return 0;
	default:
		return 1;
	}
}

int
__wrap_ioctl(int f, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (f == fd && request == NVME_IOCTL_ID)
		return NSID;
	if (f == fd && request == NVME_IOCTL_ADMIN_CMD)
		return answer(arg);
	return __real_ioctl(f, request, arg);
}

static bool
tick(void *arg)
{
	(void)arg;
	return ++ticks < stop_at || stop_at == 0;
}

static void
on_hold(void *arg, enum purge_method method, double part)
{
	(void)arg;
	ck_assert(!purge_can_stop(method));
	holds++;
	held_part = part;
}

static const struct purge_job *
job(void)
{
	static struct purge_job j;

	j = (struct purge_job){
		.fd = fd, .drive = &drive, .seed = 7, .tick = tick, .on_hold = on_hold};
	return &j;
}

static void
setup(void)
{
	memset(&d, 0, sizeof(d));
	d.nn = 1;
	d.active[0] = d.allocated[0] = NSID;
	d.sanitize_ends = 1;
	ticks = stop_at = 0;
	holds = 0;
	held_part = 0;
	drive = (struct drive_id){DRIVE_NVME, "m", "s", "", "", BYTES, 512, -1, false};
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	fill();
}

static void
teardown(void)
{
	unlink(path);
	close(fd);
}

/* Purges the drive by the method it offers; the report. */
static struct purge_report
purge(enum purge_method want, struct err *e)
{
	struct purge_choice c;
	struct purge_report r;

	ck_assert_msg(purge_look(job(), &c, e) == 0, "%s", e->text);
	ck_assert_str_eq(purge_method_name(c.method), purge_method_name(want));
	purge_run(job(), &c, &r, e);
	return r;
}

START_TEST(a_format_names_its_namespace_and_keeps_the_form_of_its_blocks)
{
	struct err e = {0};
	struct purge_report r;

	d.oacs = 0x02;
	/* LBA format 2, extended metadata, upper format bits 1, protection type 3 first
	 */
	d.flbas = 0x02 | 0x10 | 1 << 5;
	d.dps = 3 | 1 << 3;
	r = purge(PURGE_FORMAT, &e);
	ck_assert_msg(r.end == PURGE_DONE, "%s", e.text);
	ck_assert_int_eq(d.formats, 1);
	ck_assert_uint_eq(d.nsid, NSID);
	ck_assert_uint_eq(d.dword, 0x2 | 1 << 4 | 3 << 5 | 1 << 8 | 1 << 9 | 1 << 12);
	ck_assert_uint_eq(r.written_bytes, 0);
	ck_assert(r.sampled);
	ck_assert_uint_eq(r.seen.blocks, 256);
	ck_assert_uint_eq(r.seen.held, 256);
	ck_assert_uint_eq(r.seen.unchanged, 0);
	ck_assert_uint_eq(r.seen.zero, 0);
}
END_TEST

START_TEST(a_sanitize_is_waited_for)
{
	struct err e = {0};
	struct purge_report r;

	d.oacs = 0x02;
	d.sanicap = 0x01 | 0x02;
	d.polls = 3;
	r = purge(PURGE_SANITIZE, &e);
	ck_assert_msg(r.end == PURGE_DONE, "%s", e.text);
	ck_assert_int_eq(d.sanitizes, 1);
	ck_assert_int_eq(d.formats, 0);
	ck_assert_uint_eq(d.dword, 2 | 8);
	ck_assert_int_eq(d.sstat, 1);
	ck_assert(r.took_ns > 0);
}
END_TEST

START_TEST(a_sanitize_by_a_new_key_is_one_too)
{
	struct err e = {0};

	d.sanicap = 0x01;
	ck_assert_int_eq(purge(PURGE_SANITIZE, &e).end, PURGE_DONE);
	ck_assert_uint_eq(d.dword, 4 | 8);
}
END_TEST

START_TEST(a_sanitize_that_fails_is_told)
{
	struct err e = {0};

	d.sanicap = 0x02;
	d.sanitize_ends = 3;
	ck_assert_int_eq(purge(PURGE_SANITIZE, &e).end, PURGE_FAILED);
	ck_assert_str_eq(e.text, "the drive says that its sanitize has failed");
	err_clear(&e);
	d.sanitize_ends = 0;
	ck_assert_int_eq(purge(PURGE_SANITIZE, &e).end, PURGE_FAILED);
	ck_assert_msg(
		strstr(e.text, "knows nothing of the sanitize") != NULL, "%s", e.text);
	err_clear(&e);
	d.sstat = 0;
	d.refuses = 0x84;
	ck_assert_int_eq(purge(PURGE_SANITIZE, &e).end, PURGE_FAILED);
	ck_assert_str_eq(e.text, "NVMe Sanitize: the drive answers with status 0x10a");
	ck_assert_int_eq(e.class, ERR_IO);
}
END_TEST

START_TEST(a_drive_that_is_silent_for_a_moment_is_still_waited_for)
{
	struct err e = {0};
	struct purge_report r;

	d.sanicap = 0x02;
	d.polls = 2;
	d.silent = 2;
	r = purge(PURGE_SANITIZE, &e);
	ck_assert_msg(r.end == PURGE_DONE, "%s", e.text);
	ck_assert_uint_eq(d.silent, 0);
	ck_assert_int_eq(d.sstat, 1);
}
END_TEST

/* The drive answers reads with errors then: it is asked before any. */
START_TEST(a_sanitize_of_somebody_else_is_no_fault_of_the_drive)
{
	struct err e = {0};

	d.sanicap = 0x02;
	d.oacs = 0x02;
	d.sstat = 2;
	d.polls = 1000;
	drive.capacity_bytes = 2 * (uint64_t)BYTES; /* reads of its end fail */
	ck_assert_int_eq(purge(PURGE_SANITIZE, &e).end, PURGE_FAILED);
	ck_assert_str_eq(e.text, "a sanitize is in progress: 50 % done");
	ck_assert_int_eq(e.class, ERR_STATE);
	ck_assert_int_eq(d.sanitizes, 0);
	ck_assert_int_eq(ticks, 0);
}
END_TEST

START_TEST(a_sanitize_goes_on_to_its_end_when_told_to_stop)
{
	struct err e = {0};
	struct purge_report r;

	d.sanicap = 0x02;
	d.polls = 2;
	stop_at = 260; /* behind the first sample */
	r = purge(PURGE_SANITIZE, &e);
	ck_assert_int_eq(r.end, PURGE_STOPPED);
	ck_assert_int_eq(d.sstat, 1);
	ck_assert(!r.sampled);
	ck_assert_uint_gt(holds, 0);
	ck_assert(held_part == 0.5);
}
END_TEST

START_TEST(nothing_begins_once_it_was_told_to_stop)
{
	struct err e = {0};

	d.oacs = 0x02;
	stop_at = 100;
	ck_assert_int_eq(purge(PURGE_FORMAT, &e).end, PURGE_STOPPED);
	ck_assert_int_eq(d.formats, 0);
}
END_TEST

START_TEST(a_drive_that_keeps_its_data_has_not_been_purged)
{
	struct err e = {0};

	d.oacs = 0x02;
	d.keeps_data = true;
	ck_assert_int_eq(purge(PURGE_FORMAT, &e).end, PURGE_FAILED);
	ck_assert_str_eq(e.text, "the purge by format has not purged the drive: of 256 "
				 "sampled blocks with data 256 read as before");
	err_clear(&e);
	d.refuses = 0x80;
	ck_assert_int_eq(purge(PURGE_FORMAT, &e).end, PURGE_FAILED);
	ck_assert_str_eq(e.text, "NVMe Format: the drive answers with status 0x10a");
}
END_TEST

/* The offer that the played drive makes. */
static struct nvme_offer
look(void)
{
	struct nvme_offer o;
	struct err e = {0};

	OK(nvme_look(fd, &o, &e));
	ck_assert_uint_eq(o.nsid, NSID);
	return o;
}

START_TEST(other_namespaces_are_counted_where_they_are_listed)
{
	d.nn = 32;
	d.active[1] = 5;
	ck_assert_uint_eq(look().others, 1);
	ck_assert(look().others_known);
	/* several controllers, and no list of what the others have */
	d.cmic = 0x02;
	ck_assert(!look().others_known);
	/* each may have a private one of the same NSID */
	d.nn = 1;
	ck_assert(!look().others_known);
	/* with namespace management all are listed */
	d.nn = 32;
	d.oacs = 0x08;
	d.allocated[1] = 5;
	d.allocated[2] = 6;
	ck_assert_uint_eq(look().others, 2);
	ck_assert(look().others_known);
}
END_TEST

START_TEST(a_drive_says_whether_a_format_reaches_all)
{
	for (uint8_t fna = 0; fna < 8; fna++) {
		d.fna = fna;
		ck_assert(look().format_reaches_all == ((fna & 3) != 0));
		ck_assert(!look().formats);
	}
}
END_TEST

START_TEST(a_drive_that_refuses_to_identify_itself_is_not_formatted)
{
	struct purge_choice c;
	struct err e = {0};

	d.oacs = 0x02;
	d.sanicap = 0x02;
	d.refuses = 0x06;
	OK(purge_look(job(), &c, &e));
	ck_assert_int_eq(c.method, PURGE_DISCARD);
	ck_assert_str_eq(c.why_not[PURGE_SANITIZE],
		"NVMe Identify: the drive answers with status 0x10a");
}
END_TEST

START_TEST(a_file_is_discarded_and_the_record_says_why_nothing_stronger)
{
	struct err e = {0};
	struct purge_report r;
	json_t *o = json_object();
	struct str text = {0};

	drive.kind = DRIVE_FILE;
	drive.is_virtual = true;
	r = purge(PURGE_DISCARD, &e);
	ck_assert_msg(r.end == PURGE_DONE, "%s", e.text);
	ck_assert_uint_eq(holds, 0);
	ck_assert_uint_eq(r.seen.zero, 256);
	r.took_ns = 5;
	purge_choice_json(&r.choice, o);
	purge_report_json(&r, o);
	json_canonical(o, &text);
	ck_assert_str_eq(str_text(&text),
		"{\"method\":\"discard\",\"passed_over\":[{\"method\":\"sanitize\","
		"\"why\":"
		"\"a virtual drive has no such command\"},{\"method\":\"format\",\"why\":"
		"\"a virtual drive has no such "
		"command\"}],\"read_back\":{\"block_bytes\":"
		"4096,\"blocks\":256,\"held_data\":256,\"unchanged\":0,\"zero\":256},"
		"\"state\":\"done\",\"took_ns\":\"5\",\"written_bytes\":\"0\"}");
	str_fini(&text);
	json_decref(o);
}
END_TEST

START_TEST(zeroes_reach_every_byte_of_a_file)
{
	static uint8_t data[BYTES];
	struct purge_choice c = {.method = PURGE_ZERO};
	struct purge_report r;
	struct err e = {0};

	drive.kind = DRIVE_FILE;
	drive.is_virtual = true;
	purge_run(job(), &c, &r, &e);
	ck_assert_msg(r.end == PURGE_DONE, "%s", e.text);
	ck_assert_uint_eq(r.written_bytes, BYTES);
	ck_assert_int_eq(pread(fd, data, BYTES, 0), BYTES);
	ck_assert(data[0] == 0 && memcmp(data, data + 1, BYTES - 1) == 0);
}
END_TEST

START_TEST(a_sample_has_the_first_and_last_block_and_one_of_each_part)
{
	static struct readback r, again;
	struct err e = {0};

	OK(readback_take(job(), &r, &e));
	OK(readback_take(job(), &again, &e));
	ck_assert_uint_eq(r.n, 256);
	ck_assert_uint_eq(r.blocks[0].offset, 0);
	ck_assert_uint_eq(r.blocks[255].offset, BYTES - 4096);
	for (uint32_t i = 0; i < r.n; i++) {
		ck_assert_uint_eq(r.blocks[i].offset / (BYTES / 256), i);
		ck_assert_uint_eq(r.blocks[i].offset, again.blocks[i].offset);
		ck_assert_uint_eq(r.blocks[i].crc, again.blocks[i].crc);
	}
	drive.capacity_bytes = 3 * 512;
	OK(readback_take(job(), &r, &e));
	ck_assert_uint_eq(r.block_bytes, 512);
	ck_assert_uint_eq(r.n, 3);
	drive.capacity_bytes = 2 * (uint64_t)BYTES;
	FAILS(readback_take(job(), &r, &e), ERR_IO, "the drive ends");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("purge");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_format_names_its_namespace_and_keeps_the_form_of_its_blocks);
	tcase_add_test(tc, a_sanitize_is_waited_for);
	tcase_add_test(tc, a_sanitize_by_a_new_key_is_one_too);
	tcase_add_test(tc, a_sanitize_that_fails_is_told);
	tcase_add_test(tc, a_drive_that_is_silent_for_a_moment_is_still_waited_for);
	tcase_add_test(tc, a_sanitize_of_somebody_else_is_no_fault_of_the_drive);
	tcase_add_test(tc, a_sanitize_goes_on_to_its_end_when_told_to_stop);
	tcase_add_test(tc, nothing_begins_once_it_was_told_to_stop);
	tcase_add_test(tc, a_drive_that_keeps_its_data_has_not_been_purged);
	tcase_add_test(tc, other_namespaces_are_counted_where_they_are_listed);
	tcase_add_test(tc, a_drive_says_whether_a_format_reaches_all);
	tcase_add_test(tc, a_drive_that_refuses_to_identify_itself_is_not_formatted);
	tcase_add_test(tc, a_file_is_discarded_and_the_record_says_why_nothing_stronger);
	tcase_add_test(tc, zeroes_reach_every_byte_of_a_file);
	tcase_add_test(tc, a_sample_has_the_first_and_last_block_and_one_of_each_part);
	return unit_run("purge", tc);
}
