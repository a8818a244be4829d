#include "controller/ingest.h"

#include "controller/series.h"
#include "tests/unit/data_rig.h"

static void
set_up(void)
{
	data_up();
	rig_add_running();
	feed_start(1, 101);
}

/* Sends the batch as node 1 and wants an ACK of that seq. */
static void
send_and_expect(uint64_t acked)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(1, &a, &e));
	ck_assert_int_eq((int)a.nack, 0);
	ck_assert_uint_eq(a.acked, acked);
	feed_start(1, 101);
}

static void
expect_nack(int64_t node, enum wire_nack nack)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(node, &a, &e));
	ck_assert_int_eq((int)a.nack, (int)nack);
}

START_TEST(records_in_order_are_stored_and_acknowledged)
{
	for (uint32_t i = 0; i < 5; i++)
		feed_sample(1, i, 10);
	send_and_expect(5);
	for (uint32_t i = 5; i < 8; i++)
		feed_sample(1, i, 10);
	send_and_expect(8);
	rig_is("SELECT count(*) || ' ' || min(seq) || ' ' || max(seq) FROM record",
		"8 1 8");
	rig_is("SELECT acked_seq || ' ' || last_seq FROM attempt", "8 8");
}
END_TEST

START_TEST(a_hole_holds_the_acknowledgement_until_it_is_filled)
{
	feed_sample(1, 0, 10);
	send_and_expect(1);
	rig_feed.seq = 5; /* live records first */
	feed_sample(1, 5, 10);
	feed_sample(1, 6, 10);
	send_and_expect(1);
	rig_is("SELECT acked_seq || ' ' || last_seq FROM attempt", "1 7");
	rig_feed.seq = 1; /* then the backlog */
	feed_sample(1, 1, 10);
	feed_sample(1, 2, 10);
	send_and_expect(3);
	feed_sample(1, 3, 10);
	feed_sample(1, 4, 10);
	send_and_expect(7);
	rig_is("SELECT count(*) FROM record", "7");
}
END_TEST

START_TEST(the_same_records_again_change_nothing)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_sample(1, 0, 10);
	feed_start_point(1, "w", 50);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.stored, 2);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.stored, 0);
	ck_assert_uint_eq(a.duplicates, 2);
	ck_assert_uint_eq(a.acked, 2);
	rig_is("SELECT count(*) FROM record", "2");
	rig_is("SELECT count(*) FROM event", "1");
}
END_TEST

START_TEST(other_content_under_a_stored_number_is_an_alarm_and_is_kept_aside)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_sample(1, 0, 10);
	feed_sample(1, 1, 10);
	rig_feed.seq = 9;
	feed_sample(1, 9, 10);
	send_and_expect(2);
	rig_feed.seq = 1;
	feed_sample(1, 1, 77);
	rig_feed.seq = 9;
	feed_sample(1, 9, 77);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.refused, 2);
	ck_assert_uint_eq(a.acked, 2);
	OK(feed_send(1, &a, &e));
	rig_is("SELECT group_concat(seq || why || kind) FROM stale_record",
		"2content2,10content2");
	rig_is("SELECT group_concat(name || topic || json_extract(data, '$.what')) FROM "
	       "event",
		"run.alarmrun:r1conflict,run.alarmrun:r1conflict");
	rig_is("SELECT count(DISTINCT length(payload)) FROM record", "1");
}
END_TEST

START_TEST(a_stale_token_stores_nothing_with_the_attempt)
{
	feed_sample(1, 0, 10);
	feed_sample(1, 1, 10);
	rig_feed.batch.fence = 99;
	expect_nack(1, WIRE_NACK_FENCE);
	expect_nack(1, WIRE_NACK_FENCE);
	rig_is("SELECT count(*) FROM record", "0");
	rig_is("SELECT group_concat(seq || why || fence) FROM stale_record",
		"1fence99,2fence99");
	rig_is("SELECT acked_seq FROM attempt", "0");
}
END_TEST

START_TEST(an_attempt_of_another_node_is_not_known)
{
	feed_sample(1, 0, 10);
	expect_nack(2, WIRE_NACK_ATTEMPT);
	rig_feed.batch.attempt = 77;
	expect_nack(1, WIRE_NACK_ATTEMPT);
	rig_feed.batch.attempt = UINT64_MAX;
	expect_nack(1, WIRE_NACK_ATTEMPT);
	rig_feed.batch.attempt = 0;
	expect_nack(1, WIRE_NACK_ATTEMPT);
	rig_is("SELECT count(*) FROM record", "0");
	rig_is("SELECT count(*) FROM stale_record", "0");
}
END_TEST

START_TEST(a_batch_with_a_bad_record_is_refused_as_a_whole)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_sample(1, 0, 10);
	feed_raw(UINT64_MAX, RECORD_EVENT, "{}", 2);
	FAILS(feed_send(1, &a, &e), ERR_INVALID, "sequence number 18446744073709551615");
	rig_is("SELECT count(*) FROM record", "0");
	feed_start(1, 101);
	feed_text(RECORD_EVENT, "{}");
	rig_feed.batch.data[rig_feed.batch.len - 1] ^= 1;
	FAILS(feed_send(1, &a, &e), ERR_INVALID, "checksum");
	rig_is("SELECT count(*) FROM record", "0");
}
END_TEST

START_TEST(a_repeated_message_is_answered_and_not_acted_on)
{
	struct rig_ingest x = {.batch = {.node = 1, .repeat = true}};
	struct err e = {0};

	feed_sample(1, 0, 10);
	send_and_expect(1);
	feed_sample(1, 1, 10);
	x.batch.payload = wire_batch_payload(&rig_feed.batch, &x.batch.len);
	OK(rig_write(rig_ingest_job, &x, &e));
	ck_assert_uint_eq(x.answer.acked, 1);
	rig_is("SELECT count(*) FROM record", "1");
}
END_TEST

START_TEST(a_gap_stands_for_its_records)
{
	feed_sample(1, 0, 10);
	rig_feed.seq = 9;
	feed_text(RECORD_GAP, "{\"from\":\"2\",\"to\":\"8\",\"reason\":\"disk full\"}");
	send_and_expect(8); /* 9 is still missing */
	rig_feed.seq = 8;
	feed_sample(1, 8, 10);
	send_and_expect(10);
	rig_is("SELECT json_extract(data, '$.what') || ': ' || json_extract(data, "
	       "'$.text')"
	       " FROM event",
		"gap: records 2 to 8 are lost: disk full");
}
END_TEST

START_TEST(a_record_that_a_gap_stood_for_is_stored_when_it_comes_late)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_sample(1, 0, 10);
	rig_feed.seq = 3;
	feed_text(RECORD_GAP, "{\"from\":2,\"to\":3,\"reason\":\"x\"}");
	send_and_expect(4);
	rig_feed.seq = 1;
	feed_sample(1, 1, 10);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.stored, 1);
	ck_assert_uint_eq(a.acked, 4);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.duplicates, 1);
}
END_TEST

START_TEST(a_gap_may_stand_in_its_own_place)
{
	feed_text(RECORD_GAP, "{\"from\":\"1\",\"to\":\"3\",\"reason\":\"x\"}");
	rig_feed.seq = 3;
	feed_sample(1, 0, 10);
	send_and_expect(4);
}
END_TEST

START_TEST(a_gap_counts_though_its_first_record_is_stored)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_sample(1, 0, 10);
	send_and_expect(1);
	rig_feed.seq = 0;
	feed_text(RECORD_GAP, "{\"from\":\"1\",\"to\":\"3\",\"reason\":\"damaged\"}");
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.refused, 1);
	feed_start(1, 101);
	rig_feed.seq = 3;
	feed_sample(1, 3, 10);
	send_and_expect(4);
	rig_is("SELECT group_concat(seq || ':' || kind) FROM record", "1:2,4:2");
}
END_TEST

START_TEST(a_gap_of_seconds_tells_how_many)
{
	feed_text(RECORD_GAP,
		"{\"from\":\"1\",\"to\":\"1\",\"reason\":\"disk full\",\"point\":4,"
		"\"from_second\":3,\"to_second\":9,\"samples\":7}");
	send_and_expect(1);
	rig_is("SELECT json_extract(data, '$.text') FROM event",
		"7 samples of point 4 are lost: disk full");
}
END_TEST

START_TEST(a_batch_without_records_asks_for_the_watermark)
{
	feed_sample(1, 0, 10);
	send_and_expect(1);
	send_and_expect(1);
}
END_TEST

START_TEST(a_gap_of_what_is_to_come_is_not_believed)
{
	feed_text(RECORD_GAP, "{\"from\":\"2\",\"to\":\"900\",\"reason\":\"x\"}");
	send_and_expect(1);
	rig_is("SELECT json_extract(data, '$.what') FROM event", "malformed");
}
END_TEST

START_TEST(a_point_that_starts_is_a_running_row_and_news)
{
	feed_text(RECORD_EVENT, "{\"event\":\"step.start\",\"at_ns\":\"5\",\"step\":2,"
				"\"kind\":\"workload\"}");
	feed_start_point(3, "4k-random-read", 50);
	feed_start_point(4, "4k-random-read", -1);
	send_and_expect(3);
	rig_is("SELECT step FROM attempt", "workload");
	rig_is("SELECT group_concat(point || workload || state || coalesce(load_percent,"
	       " 'max'), ' ') FROM point",
		"34k-random-readrunning50.0 44k-random-readrunningmax");
	rig_is("SELECT group_concat(json_extract(data, '$.event'), ' ') FROM event"
	       " WHERE name = 'run.step' AND topic = 'run:r1'",
		"step.start point.start point.start");
	rig_is("SELECT json_extract(data, '$.run') || json_extract(data, '$.campaign') ||"
	       " json_extract(data, '$.attempt') FROM event LIMIT 1",
		"r1c11");
}
END_TEST

START_TEST(an_older_step_that_comes_late_does_not_turn_back_the_clock)
{
	rig_feed.seq = 10;
	feed_text(RECORD_EVENT, "{\"event\":\"step.start\",\"kind\":\"workload\"}");
	rig_feed.seq = 1;
	feed_text(RECORD_EVENT, "{\"event\":\"step.start\",\"kind\":\"fill\"}");
	send_and_expect(0);
	rig_is("SELECT step FROM attempt", "workload");
}
END_TEST

START_TEST(a_point_that_ends_has_its_figures)
{
	feed_start_point(1, "w", 50);
	feed_point(1, "w", 50, 1000, 100);
	send_and_expect(2);
	rig_is("SELECT state || ' ' || iops || ' ' || bytes_per_second || ' ' ||"
	       " service_mean_ns || ' ' || service_p99_ns || ' ' || response_mean_ns "
	       "FROM point",
		"done 1000.0 4096000.0 100.0 100.0 200.0");
	rig_is("SELECT (metrics ->> '$.response.lat_p50_ns' > 150) ||"
	       " (service_p99_9_ns IS NULL) || (write_service IS NULL) FROM point",
		"111");
	/* an offered load is told with its response time, the maximum with the service */
	feed_point(2, "w", -1, 1000, 100);
	send_and_expect(3);
	rig_is("SELECT group_concat(coalesce(data ->> 'offered_iops', 'none') ||"
	       " (data ->> 'latency') || (data ->> 'lat_p99_ns') || (data ->> 'flags'))"
	       " FROM event WHERE name = 'run.point'",
		"1000.0response200.0[],noneservice100.0[]");
}
END_TEST

START_TEST(a_start_that_comes_after_the_end_changes_nothing)
{
	rig_feed.seq = 1;
	feed_point(1, "w", 50, 1000, 100);
	rig_feed.seq = 0;
	feed_start_point(1, "w", 50);
	send_and_expect(2);
	rig_is("SELECT state || iops FROM point", "done1000.0");
}
END_TEST

/* Feeds one point of n seconds. */
static void
feed_whole_point(uint32_t point, uint32_t n)
{
	feed_start_point(point, "w", 10 * point);
	for (uint32_t i = 0; i < n; i++)
		feed_sample(point, i, 10);
	feed_point(point, "w", 10 * point, 100, 1000);
}

START_TEST(the_samples_of_a_finished_point_are_packed)
{
	feed_whole_point(1, 3);
	feed_start_point(2, "w", 20);
	feed_sample(2, 0, 10);
	send_and_expect(7);
	rig_is("SELECT point || ' ' || first_seq || ' ' || last_seq || ' ' || n FROM "
	       "series",
		"1 2 4 3");
	rig_is("SELECT group_concat(seq) FROM record", "1,5,6,7");
}
END_TEST

START_TEST(samples_are_not_packed_before_all_of_them_are_here)
{
	feed_sample(1, 0, 10);
	rig_feed.seq = 2;
	feed_sample(1, 2, 10);
	feed_point(1, "w", 10, 100, 1000);
	send_and_expect(1);
	rig_is("SELECT count(*) FROM series", "0");
	rig_feed.seq = 1;
	feed_sample(1, 1, 10);
	send_and_expect(4);
	rig_is("SELECT first_seq || ' ' || last_seq || ' ' || n FROM series", "1 3 3");
}
END_TEST

START_TEST(a_packed_sample_is_known_when_it_comes_again)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_whole_point(1, 3);
	send_and_expect(5);
	rig_feed.seq = 2;
	feed_sample(1, 1, 10);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.duplicates, 1);
	rig_is("SELECT count(*) FROM event WHERE name = 'run.alarm'", "0");
	feed_start(1, 101);
	rig_feed.seq = 2;
	feed_sample(1, 1, 99);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.refused, 1);
	rig_is("SELECT json_extract(data, '$.seq') FROM event WHERE name = 'run.alarm'",
		"3");
	rig_is("SELECT count(*) || ' ' || (SELECT sum(n) FROM series) FROM record",
		"2 3");
}
END_TEST

/* Every bucket of every histogram is in use: about 20 KiB. */
static void
feed_large_sample(uint32_t second)
{
	static struct sample s;

	if (s.point == 0) {
		s.point = 1;
		s.length_ns = NS_PER_S;
		for (unsigned i = 0; i < HIST_BUCKETS; i++)
			for (int d = 0; d < DIRECTIONS; d++) {
				hist_add(&s.service[d], hist_low(i));
				hist_add(&s.response[d], hist_low(i));
			}
	}
	s.second = second;
	feed_raw(++rig_feed.seq, RECORD_SAMPLE, rig_feed.buf,
		sample_encode(&s, rig_feed.buf, sizeof(rig_feed.buf)));
}

START_TEST(a_long_point_is_packed_into_several_rows)
{
	struct ingest_answer a;
	struct err e = {0};

	for (uint32_t i = 0; i < 120; i++) {
		feed_large_sample(i);
		if (i % 4 != 3)
			continue;
		OK(feed_send(1, &a, &e));
		feed_start(1, 101);
	}
	feed_point(1, "w", 10, 100, 1000);
	send_and_expect(121);
	rig_is("SELECT count(*) > 1 FROM series", "1");
	rig_is("SELECT sum(n) || ' ' || min(first_seq) || ' ' || max(last_seq) FROM "
	       "series",
		"120 1 120");
	rig_is("SELECT max(length(samples)) < 2 * 1048576 FROM series", "1");
	rig_feed.seq = 118;
	feed_large_sample(118);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.duplicates, 1);
}
END_TEST

struct list {
	uint64_t seqs[64];
	size_t n;
	int64_t point;
	uint64_t after;
};

static int
list_samples(struct tx *t, void *arg, struct err *e)
{
	struct list *l = arg;
	struct series_reader *r;
	struct series_entry entry;
	int rc;

	if (series_open(&r, t, 1, l->point, l->after, e) != 0)
		return -1;
	while ((rc = series_next(r, &entry, e)) == 1) {
		ck_assert_uint_eq(entry.crc,
			record_crc(RECORD_SAMPLE, entry.seq, entry.payload, entry.len));
		l->seqs[l->n++] = entry.seq;
	}
	ck_assert(rc < 0 || series_next(r, &entry, e) == 0);
	series_close(r);
	return rc;
}

START_TEST(packed_samples_and_rows_read_as_one_list)
{
	static const uint64_t want[] = {2, 3, 4, 7, 8};
	struct list all = {0};
	struct list second = {.point = 2};
	struct list late = {.after = 3};
	struct err e = {0};

	feed_whole_point(1, 3);
	feed_start_point(2, "w", 20);
	feed_sample(2, 0, 10);
	feed_sample(2, 1, 10);
	send_and_expect(8);
	OK(rig_read(list_samples, &all, &e));
	ck_assert_uint_eq(all.n, 5);
	ck_assert_int_eq(memcmp(all.seqs, want, sizeof(want)), 0);
	OK(rig_read(list_samples, &second, &e));
	ck_assert_uint_eq(second.n, 2);
	ck_assert_uint_eq(second.seqs[0], 7);
	OK(rig_read(list_samples, &late, &e));
	ck_assert_uint_eq(late.n, 3);
	ck_assert_uint_eq(late.seqs[0], 4);
}
END_TEST

START_TEST(a_damaged_pack_is_an_error_and_not_a_crash)
{
	struct list all = {0};
	struct err e = {0};

	feed_whole_point(1, 3);
	send_and_expect(5);
	rig_exec("UPDATE series SET samples = substr(samples, 1, length(samples) - 1)");
	FAILS(rig_read(list_samples, &all, &e), ERR_STORE, "damaged");
}
END_TEST

static int
ask_complete(struct tx *t, void *arg, struct err *e)
{
	*(int *)arg = ingest_complete(t, 1, e);
	return 0;
}

static int
is_complete(void)
{
	struct err e = {0};
	int rc;

	OK(rig_read(ask_complete, &rc, &e));
	return rc;
}

START_TEST(an_attempt_is_complete_with_its_result_and_everything_before_it)
{
	rig_feed.seq = 1;
	feed_sample(1, 1, 10);
	feed_start_point(2, "w", 20);
	feed_sample(2, 0, 10);
	feed_result("done");
	send_and_expect(0);
	ck_assert_int_eq(is_complete(), 0);
	rig_is("SELECT result_seq || json_extract(result, '$.state') FROM attempt",
		"5done");
	rig_feed.seq = 0;
	feed_sample(1, 0, 10);
	send_and_expect(5);
	ck_assert_int_eq(is_complete(), 1);
	/* A point that never ended stopped; its samples are packed all the same. */
	rig_is("SELECT state FROM point", "stopped");
	rig_is("SELECT count(*) FROM record WHERE kind = 2", "0");
	rig_is("SELECT sum(n) FROM series", "3");
	rig_is("SELECT state FROM run", "running"); /* its runner's end is not proven */
}
END_TEST

START_TEST(a_complete_attempt_whose_runner_has_ended_ends_its_run)
{
	rig_exec("UPDATE attempt SET state = 'exited'");
	rig_exec("UPDATE run SET state = 'collecting'");
	feed_whole_point(1, 2);
	feed_result("done");
	send_and_expect(5);
	rig_is("SELECT state FROM run", "done");
	rig_is("SELECT state FROM attempt", "sealed");
}
END_TEST

START_TEST(the_first_result_stands)
{
	feed_result("done");
	feed_result("failed");
	send_and_expect(2);
	rig_is("SELECT result_seq || json_extract(result, '$.state') FROM attempt",
		"1done");
}
END_TEST

START_TEST(what_is_not_understood_is_kept_and_told)
{
	static const char cut[] = "{\"what\":\"\xc3";

	feed_raw(1, RECORD_SAMPLE, "short", 5);
	feed_raw(2, RECORD_POINT, "\x02\0\0\0{}", 6);
	feed_raw(3, RECORD_EVENT, cut, sizeof(cut) - 1);
	feed_raw(4, RECORD_RESULT, "[]", 2);
	feed_raw(5, RECORD_GAP, "{\"from\":\"4\",\"to\":\"3\"}", 21);
	feed_raw(6, (enum record_kind)9, "new", 3);
	send_and_expect(6);
	ck_assert_int_eq(is_complete(), 0);
	rig_is("SELECT count(*) || ' ' || sum(point) FROM record", "6 0");
	rig_is("SELECT group_concat(DISTINCT json_extract(data, '$.what')) || count(*)"
	       " FROM event",
		"malformed6");
}
END_TEST

START_TEST(the_newest_sample_is_there_for_who_watches)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_start_point(2, "4k-random-read", 40);
	feed_sample(2, 0, 10);
	feed_sample(2, 1, 20);
	OK(feed_send(1, &a, &e));
	ck_assert_int_eq(a.live.run, 1);
	ck_assert_uint_eq(a.live.seq, 3);
	ck_assert_str_eq(a.live.workload, "4k-random-read");
	ck_assert_double_eq(a.live.load_percent, 40);
	ck_assert_uint_eq(sample_point(a.live.payload, a.live.len), 2);
}
END_TEST

/* Any order and any repetition of the same records leads to the same rows. */
START_TEST(every_order_leads_to_the_same_end)
{
	uint64_t random = 20240229;
	struct ingest_answer a = {0};
	struct err e = {0};
	unsigned rounds = 0;

	/* 1 event, 2-6 samples, 7 point, 8-9 samples of the next, 10 point, 11 result */
	while (a.acked < 11 && rounds++ < 2000) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
		rig_feed.seq = (random >> 33) % 11;
		feed_start(1, 101);
		switch (rig_feed.seq) {
		case 0:
			feed_start_point(1, "w", 10);
			break;
		case 6:
			feed_point(1, "w", 10, 100, 1000);
			break;
		case 9:
			feed_point(2, "w", 20, 100, 1000);
			break;
		case 10:
			feed_result("done");
			break;
		default:
			feed_sample(rig_feed.seq < 6 ? 1 : 2, (uint32_t)rig_feed.seq, 10);
		}
		OK(feed_send(1, &a, &e));
		ck_assert_int_eq((int)a.nack, 0);
	}
	ck_assert_uint_eq(a.acked, 11);
	rig_is("SELECT group_concat(seq) FROM (SELECT seq FROM record ORDER BY seq)",
		"1,7,10,11");
	rig_is("SELECT group_concat(point || ':' || n) FROM (SELECT * FROM series ORDER"
	       " BY point)",
		"1:5,2:2");
	rig_is("SELECT group_concat(point || state) FROM (SELECT * FROM point ORDER BY"
	       " point)",
		"1done,2done");
	rig_is("SELECT count(*) FROM event WHERE name = 'run.alarm'", "0");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("ingest");

	tcase_add_checked_fixture(tc, set_up, data_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, records_in_order_are_stored_and_acknowledged);
	tcase_add_test(tc, a_hole_holds_the_acknowledgement_until_it_is_filled);
	tcase_add_test(tc, the_same_records_again_change_nothing);
	tcase_add_test(
		tc, other_content_under_a_stored_number_is_an_alarm_and_is_kept_aside);
	tcase_add_test(tc, a_stale_token_stores_nothing_with_the_attempt);
	tcase_add_test(tc, an_attempt_of_another_node_is_not_known);
	tcase_add_test(tc, a_batch_with_a_bad_record_is_refused_as_a_whole);
	tcase_add_test(tc, a_repeated_message_is_answered_and_not_acted_on);
	tcase_add_test(tc, a_gap_stands_for_its_records);
	tcase_add_test(tc, a_record_that_a_gap_stood_for_is_stored_when_it_comes_late);
	tcase_add_test(tc, a_gap_may_stand_in_its_own_place);
	tcase_add_test(tc, a_gap_counts_though_its_first_record_is_stored);
	tcase_add_test(tc, a_gap_of_seconds_tells_how_many);
	tcase_add_test(tc, a_batch_without_records_asks_for_the_watermark);
	tcase_add_test(tc, a_gap_of_what_is_to_come_is_not_believed);
	tcase_add_test(tc, a_point_that_starts_is_a_running_row_and_news);
	tcase_add_test(tc, an_older_step_that_comes_late_does_not_turn_back_the_clock);
	tcase_add_test(tc, a_point_that_ends_has_its_figures);
	tcase_add_test(tc, a_start_that_comes_after_the_end_changes_nothing);
	tcase_add_test(tc, the_samples_of_a_finished_point_are_packed);
	tcase_add_test(tc, samples_are_not_packed_before_all_of_them_are_here);
	tcase_add_test(tc, a_packed_sample_is_known_when_it_comes_again);
	tcase_add_test(tc, a_long_point_is_packed_into_several_rows);
	tcase_add_test(tc, packed_samples_and_rows_read_as_one_list);
	tcase_add_test(tc, a_damaged_pack_is_an_error_and_not_a_crash);
	tcase_add_test(
		tc, an_attempt_is_complete_with_its_result_and_everything_before_it);
	tcase_add_test(tc, a_complete_attempt_whose_runner_has_ended_ends_its_run);
	tcase_add_test(tc, the_first_result_stands);
	tcase_add_test(tc, what_is_not_understood_is_kept_and_told);
	tcase_add_test(tc, the_newest_sample_is_there_for_who_watches);
	tcase_add_test(tc, every_order_leads_to_the_same_end);
	return unit_run("ingest", tc);
}
