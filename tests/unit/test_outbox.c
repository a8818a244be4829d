#include "runner/outbox.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/spool.h"
#include "tests/unit/unit.h"

#define TEMPLATE "/var/tmp/ssdlab-outbox-XXXXXX"

static char dir[] = TEMPLATE;

static void
setup(void)
{
	memcpy(dir, TEMPLATE, sizeof(dir));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	signal(SIGXFSZ, SIG_IGN);
	log_set_level(LOG_LEVEL_ERR);
}

/*
 * Makes the spool full: no file of this process may grow beyond that size. That holds for
 * the file through which Check hears of assertions too, so none is made until the limit
 * is lifted.
 */
static void
limit_files(rlim_t bytes)
{
	struct rlimit r = {bytes, RLIM_INFINITY};

	if (setrlimit(RLIMIT_FSIZE, &r) != 0)
		abort();
}

static void
teardown(void)
{
	struct err e = {0};

	limit_files(RLIM_INFINITY);
	OK(spool_remove(dir, &e));
}

static struct outbox *
open_box(void)
{
	struct outbox *o = NULL;
	struct err e = {0};

	OK(outbox_open(&o, dir, &e));
	return o;
}

static void
add_sample(struct outbox *o, uint32_t point, uint32_t second, uint32_t flags)
{
	static struct sample s;

	memset(&s, 0, sizeof(s));
	s.point = point;
	s.second = second;
	s.flags = flags;
	s.length_ns = NS_PER_S;
	s.wall_ns = (int64_t)second * NS_PER_S;
	s.ops[DIR_READ] = 1;
	s.bytes[DIR_READ] = 4096;
	hist_add(&s.service[DIR_READ], 1000 + second);
	outbox_sample(o, &s);
}

/* What the spool holds, summed up. */
struct census {
	uint64_t records, events, samples, gaps, results, points;
	uint64_t ops;	/* in samples */
	uint64_t given; /* samples that gaps stand for */
	uint64_t merged;
	json_t *result; /* owned */
	enum record_kind last;
};

static void
count_record(struct census *c, const struct spool_record *rec)
{
	static struct sample s;
	struct err e = {0};
	json_t *doc;

	ck_assert_uint_eq(rec->seq, ++c->records);
	c->last = rec->kind;
	if (rec->kind == RECORD_SAMPLE) {
		OK(sample_decode(&s, rec->payload, rec->len, &e));
		c->samples++;
		c->ops += s.ops[DIR_READ];
		ck_assert_uint_eq(s.ops[DIR_READ], s.service[DIR_READ].n);
		c->merged += (s.flags & SAMPLE_MERGED) != 0;
		return;
	}
	c->points += rec->kind == RECORD_POINT;
	if (rec->kind == RECORD_POINT)
		return;
	OK(json_parse((const char *)rec->payload, rec->len, &doc, &e));
	c->events += rec->kind == RECORD_EVENT;
	if (rec->kind == RECORD_GAP) {
		c->gaps++;
		c->given += (uint64_t)json_integer_value(json_object_get(doc, "samples"));
		ck_assert_uint_eq(
			strtoull(json_text_of(doc, "from"), NULL, 10), rec->seq);
		ck_assert_uint_eq(strtoull(json_text_of(doc, "to"), NULL, 10), rec->seq);
	}
	if (rec->kind == RECORD_RESULT) {
		c->results++;
		c->result = json_incref(doc);
	}
	json_decref(doc);
}

static struct census
take_census(void)
{
	struct census c = {0};
	struct spool_reader *r = NULL;
	struct spool_record rec;
	struct err e = {0};
	int rc;

	OK(spool_reader_open(&r, dir, 1, &e));
	while ((rc = spool_reader_next(r, &rec, &e)) == 1)
		count_record(&c, &rec);
	ck_assert_msg(rc == 0, "%s", e.text);
	spool_reader_close(r);
	return c;
}

static void
add_result(struct outbox *o)
{
	json_t *doc = json_object();

	json_put(doc, "state", json_string("done"));
	outbox_result(o, doc);
}

START_TEST(records_go_straight_to_the_spool_and_the_result_tells_its_number)
{
	struct outbox *o = open_box();
	static struct point_record p;
	struct census c;

	outbox_event(o, "step.start", json_object());
	for (uint32_t i = 0; i < 3; i++)
		add_sample(o, 1, i, 0);
	p.meta = json_object();
	outbox_point(o, &p);
	point_record_fini(&p);
	ck_assert_uint_eq(outbox_waiting(o), 0);
	ck_assert_uint_eq(outbox_last(o), 5);
	ck_assert(!outbox_is_settled(o));
	outbox_sync(o);
	ck_assert(outbox_is_settled(o));
	add_result(o);
	outbox_sync(o);
	ck_assert(outbox_is_settled(o));
	outbox_close(o);
	c = take_census();
	ck_assert_uint_eq(c.records, 6);
	ck_assert_uint_eq(c.samples, 3);
	ck_assert_uint_eq(c.points, 1);
	ck_assert_int_eq(c.last, RECORD_RESULT);
	ck_assert_str_eq(json_text_of(c.result, "samples"), "3");
	ck_assert_str_eq(json_text_of(c.result, "last_seq"), "6");
	json_decref(c.result);
}
END_TEST

START_TEST(what_waits_for_space_goes_out_in_order_when_there_is_room)
{
	struct outbox *o = open_box();
	struct census c;
	size_t waiting;
	bool settled;

	outbox_event(o, "step.start", json_object());
	limit_files(4096);
	for (uint32_t i = 0; i < 300; i++)
		add_sample(o, 1, i, 0);
	outbox_event(o, "step.end", json_object());
	add_result(o);
	outbox_sync(o);
	waiting = outbox_waiting(o);
	settled = outbox_is_settled(o);
	limit_files(RLIM_INFINITY);
	ck_assert_uint_gt(waiting, 100);
	ck_assert(!settled);
	outbox_sync(o);
	ck_assert(outbox_is_settled(o));
	outbox_close(o);
	c = take_census();
	ck_assert_uint_eq(c.samples, 300);
	ck_assert_uint_eq(c.ops, 300);
	ck_assert_uint_eq(c.merged, 0);
	ck_assert_uint_eq(c.gaps, 0);
	ck_assert_uint_eq(c.events, 2);
	ck_assert_int_eq(c.last, RECORD_RESULT);
	json_decref(c.result);
}
END_TEST

START_TEST(old_samples_are_merged_into_ten_seconds_when_many_wait)
{
	struct outbox *o = open_box();
	struct census c;
	size_t waiting;

	outbox_event(o, "step.start", json_object());
	limit_files(1024);
	for (uint32_t i = 0; i < 2000; i++)
		add_sample(o, 1 + i / 1000, i % 1000, i % 1000 < 5 ? SAMPLE_WARMUP : 0);
	waiting = outbox_waiting(o);
	limit_files(RLIM_INFINITY);
	ck_assert_uint_le(waiting, OUTBOX_SAMPLES_MAX);
	add_result(o);
	outbox_sync(o);
	outbox_close(o);
	c = take_census();
	ck_assert_uint_eq(c.ops, 2000);
	ck_assert_uint_eq(c.gaps, 0);
	ck_assert_uint_ge(c.merged, 170);
	ck_assert_int_eq(
		strtol(json_text_of(c.result, "samples"), NULL, 10), (long)c.samples);
	json_decref(c.result);
}
END_TEST

START_TEST(in_the_end_samples_become_gaps_but_no_event_point_or_result_is_lost)
{
	struct outbox *o = open_box();
	struct census c;

	limit_files(512);
	for (uint32_t point = 1; point <= 10; point++) {
		outbox_event(o, "point.start", json_object());
		for (uint32_t i = 0; i < 450; i++)
			add_sample(o, point, i, 0);
	}
	add_result(o);
	limit_files(RLIM_INFINITY);
	outbox_sync(o);
	outbox_close(o);
	c = take_census();
	ck_assert_uint_ge(c.gaps, 1);
	ck_assert_uint_eq(c.ops + c.given, 4500);
	ck_assert_uint_eq(c.events, 10);
	ck_assert_uint_eq(c.results, 1);
	json_decref(c.result);
}
END_TEST

START_TEST(samples_can_be_given_up_for_the_sake_of_the_result)
{
	struct outbox *o = open_box();
	struct census c;
	bool settled;

	outbox_event(o, "step.start", json_object());
	limit_files(1);
	for (uint32_t i = 0; i < 50; i++)
		add_sample(o, 1, i, 0);
	add_result(o);
	/* Less than all the samples would need. */
	limit_files(1024);
	outbox_give_up_samples(o, "the spool stayed full");
	outbox_sync(o);
	settled = outbox_is_settled(o);
	limit_files(RLIM_INFINITY);
	ck_assert(settled);
	outbox_close(o);
	c = take_census();
	ck_assert_uint_eq(c.samples, 0);
	ck_assert_uint_eq(c.gaps, 1);
	ck_assert_uint_eq(c.given, 50);
	ck_assert_str_eq(json_text_of(c.result, "samples"), "0");
	json_decref(c.result);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("outbox");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(
		tc, records_go_straight_to_the_spool_and_the_result_tells_its_number);
	tcase_add_test(tc, what_waits_for_space_goes_out_in_order_when_there_is_room);
	tcase_add_test(tc, old_samples_are_merged_into_ten_seconds_when_many_wait);
	tcase_add_test(
		tc, in_the_end_samples_become_gaps_but_no_event_point_or_result_is_lost);
	tcase_add_test(tc, samples_can_be_given_up_for_the_sake_of_the_result);
	return unit_run("outbox", tc);
}
