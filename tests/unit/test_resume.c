#include "runner/resume.h"

#include <stdio.h>

#include "common/program.h"
#include "common/spool.h"
#include "tests/unit/unit.h"

static char dir[] = "/var/tmp/ssdlab-resume-XXXXXX";
static struct spool *spool;

static void
setup(void)
{
	struct err e = {0};
	uint64_t cut;

	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	OK(spool_open(&spool, dir, &cut, &e));
}

static void
teardown(void)
{
	struct err e = {0};

	OK(spool_remove(dir, &e));
}

static void
event(const char *text)
{
	struct err e = {0};

	OK(spool_append(spool, RECORD_EVENT, text, strlen(text), NULL, &e));
}

/* A second of a point in which so much was written and zeroed. */
static void
second(uint32_t point, uint64_t written, uint64_t zeroed)
{
	static uint8_t buf[RECORD_MAX_BYTES];
	static struct sample s;
	struct err e = {0};

	s = (struct sample){.point = point, .wall_ns = 1, .mono_ns = 1, .length_ns = 1};
	s.bytes[DIR_WRITE] = written;
	s.bytes[DIR_ZERO] = zeroed;
	s.bytes[DIR_READ] = 7;
	OK(spool_append(spool, RECORD_SAMPLE, buf, sample_encode(&s, buf, sizeof(buf)),
		NULL, &e));
}

static void
end_of_point(uint32_t point, const char *written)
{
	static uint8_t buf[RECORD_MAX_BYTES];
	static struct point_record p;
	struct err e = {0};

	p.meta = json_pack("{s:i, s:i, s:i, s:s}", "point", (int)point, "step", 1,
		"round", 1, "written_bytes", written);
	OK(spool_append(
		spool, RECORD_POINT, buf, point_encode(&p, buf, sizeof(buf)), NULL, &e));
	point_record_fini(&p);
}

/* What a runner finds. */
static struct resume
found(void)
{
	struct resume r;
	struct err e = {0};

	OK(spool_sync(spool, &e));
	spool_close(spool);
	OK(resume_read(dir, &r, &e));
	return r;
}

#define START "{\"event\":\"step.start\",\"step\":1}"
#define CELL(n) "{\"event\":\"point.start\",\"step\":1,\"round\":1,\"point\":" #n "}"

START_TEST(a_cell_that_was_cut_has_written_what_its_samples_say)
{
	struct resume r;

	event(START);
	event(CELL(1));
	second(1, 100, 0);
	end_of_point(1, "150"); /* with the part of a second behind the sample */
	event(CELL(2));
	second(2, 1000, 500);
	second(2, 1000, 0);
	r = found();
	ck_assert_uint_eq(r.written_bytes, 150 + 2500);
	ck_assert_uint_eq(r.points, 2);
	resume_fini(&r);
}
END_TEST

START_TEST(cells_that_were_cut_more_than_once_all_count)
{
	struct resume r;

	event(START);
	event(CELL(1));
	second(1, 1000, 0);
	event(START); /* by the next runner */
	event(CELL(2));
	second(2, 200, 0);
	event(CELL(3));
	second(3, 30, 0);
	r = found();
	ck_assert_uint_eq(r.written_bytes, 1230);
	resume_fini(&r);
}
END_TEST

START_TEST(the_next_step_begins_with_nothing_written)
{
	struct resume r;

	event(START);
	event(CELL(1));
	second(1, 1000, 0);
	event("{\"event\":\"step.start\",\"step\":2}");
	r = found();
	ck_assert_uint_eq(r.written_bytes, 0);
	ck_assert_uint_eq(r.step, 2);
	resume_fini(&r);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("resume");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_cell_that_was_cut_has_written_what_its_samples_say);
	tcase_add_test(tc, cells_that_were_cut_more_than_once_all_count);
	tcase_add_test(tc, the_next_step_begins_with_nothing_written);
	return unit_run("resume", tc);
}
