/*
 * The spool's reader is included, so that its syncs can be counted and made to fail.
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

static unsigned syncs;
static bool sync_fails;

static int
weak_fdatasync(int fd)
{
	syncs++;
	errno = EIO;
	return sync_fails ? -1 : fdatasync(fd);
}

#define fdatasync weak_fdatasync
#include "common/spool_reader.c"
#undef fdatasync

#include <stdio.h>

#include "agent/disk.h"
#include "agent/stream.h"
#include "common/json.h"
#include "common/spool.h"
#include "common/wire.h"
#include "tests/unit/unit.h"

static char top[64], dir[128];
static struct spool *spool;
static struct stream *stream;
static struct wire_batch batch;

static void
setup(void)
{
	struct err e = {0};
	uint64_t cut;

	snprintf(top, sizeof(top), "/tmp/test_stream.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/spool", top);
	OK(spool_open(&spool, dir, &cut, &e));
	OK(stream_open(&stream, 15, 7, dir, &e));
}

static void
teardown(void)
{
	stream_close(stream);
	spool_close(spool);
	wire_batch_fini(&batch);
	memset(&batch, 0, sizeof(batch));
	ck_assert_int_eq(spool_remove(dir, NULL), 0);
	ck_assert_int_eq(disk_remove_tree(top, NULL), 0);
}

static void
write_records(int n, size_t len)
{
	static char payload[RECORD_MAX_BYTES];
	struct err e = {0};

	for (int i = 0; i < n; i++)
		OK(spool_append(spool, RECORD_EVENT, payload, len, NULL, &e));
}

/* Takes the next batch of a part; its first and last record, 0 and 0 for none. */
static void
next(enum stream_part part, uint64_t *ret_first, uint64_t *ret_last)
{
	struct wire_batch head;
	struct wire_cursor c;
	struct spool_record rec;
	const uint8_t *payload;
	struct err e = {0};
	size_t len;
	int rc = stream_next(stream, part, &batch, &e);

	ck_assert_msg(rc >= 0, "%s", e.text);
	*ret_first = *ret_last = 0;
	if (rc == 0)
		return;
	payload = wire_batch_payload(&batch, &len);
	ck_assert_uint_le(len + WIRE_HEADER_BYTES + SEAL_TAG_BYTES, WIRE_MAX_BYTES);
	OK(wire_batch_decode(&head, &c, payload, len, &e));
	ck_assert_uint_eq(head.attempt, 15);
	ck_assert_uint_eq(head.fence, 7);
	while (wire_cursor_next(&c, &rec, &e) == 1) {
		if (*ret_first == 0)
			*ret_first = rec.seq;
		*ret_last = rec.seq;
	}
}

#define NEXT(part, first_, last_)                   \
	do {                                        \
		uint64_t first, last;               \
		next((part), &first, &last);        \
		ck_assert_uint_eq(first, (first_)); \
		ck_assert_uint_eq(last, (last_));   \
	} while (0)

#define ACKED(seq) OK(stream_acked(stream, (seq), &e))

START_TEST(what_a_runner_writes_is_sent_as_it_comes)
{
	struct err e = {0};

	NEXT(STREAM_LIVE, 0, 0);
	write_records(3, 100);
	NEXT(STREAM_LIVE, 1, 3);
	ACKED(3);
	NEXT(STREAM_LIVE, 0, 0);
	NEXT(STREAM_BACK, 0, 0);
	write_records(1, 100);
	NEXT(STREAM_LIVE, 4, 4);
	ACKED(4);
	ck_assert_uint_eq(stream_last(stream), 4);
	ck_assert_uint_eq(stream_acked_seq(stream), 4);
}
END_TEST

/* The spool must not know less after a power cut than the controller. */
START_TEST(only_what_is_durable_is_sent)
{
	struct err e = {0};

	write_records(3, 100);
	syncs = 0;
	NEXT(STREAM_LIVE, 1, 3);
	ck_assert_uint_eq(syncs, 1);
	ACKED(3);
	NEXT(STREAM_LIVE, 0, 0);
	ck_assert_uint_eq(syncs, 1);
	write_records(1, 100);
	sync_fails = true;
	NEXT(STREAM_LIVE, 0, 0);
	NEXT(STREAM_LIVE, 0, 0); /* not in a busy loop */
	ck_assert_uint_eq(syncs, 2);
	sync_fails = false;
	ck_assert_uint_eq(stream_acked_seq(stream), 3);
}
END_TEST

START_TEST(what_was_not_answered_is_sent_again)
{
	struct err e = {0};

	write_records(3, 100);
	NEXT(STREAM_LIVE, 1, 3);
	stream_failed(stream);
	write_records(1, 100);
	NEXT(STREAM_LIVE, 1, 4);
	ACKED(4);
	NEXT(STREAM_LIVE, 0, 0);
}
END_TEST

START_TEST(a_message_takes_what_fits_and_the_next_one_goes_on)
{
	struct err e = {0};

	write_records(3, 150000);
	NEXT(STREAM_LIVE, 1, 2);
	ACKED(2);
	NEXT(STREAM_LIVE, 3, 3);
	ACKED(3);
	NEXT(STREAM_LIVE, 0, 0);
}
END_TEST

START_TEST(after_an_outage_the_newest_records_come_first)
{
	struct err e = {0};

	write_records(100, 150000);
	stream_newest(stream, 100);
	NEXT(STREAM_LIVE, 100, 100);
	ACKED(0);
	NEXT(STREAM_LIVE, 0, 0);
	NEXT(STREAM_BACK, 1, 2);
	ACKED(2);
	write_records(1, 100);
	NEXT(STREAM_LIVE, 101, 101);
	ACKED(2);
	for (uint64_t seq = 3; seq < 99; seq += 2) {
		NEXT(STREAM_BACK, seq, seq + 1);
		ACKED(seq + 1);
	}
	/* The last of the backlog; the controller then has everything up to 101. */
	NEXT(STREAM_BACK, 99, 99);
	ACKED(101);
	NEXT(STREAM_BACK, 0, 0);
	write_records(1, 100);
	NEXT(STREAM_LIVE, 102, 102);
	ACKED(102);
}
END_TEST

START_TEST(the_end_of_a_runner_makes_the_rest_backlog)
{
	struct err e = {0};

	write_records(2, 100);
	stream_ended(stream);
	ck_assert(!stream_is_live(stream));
	NEXT(STREAM_LIVE, 0, 0);
	NEXT(STREAM_BACK, 1, 2);
	ACKED(2);
	NEXT(STREAM_BACK, 0, 0);
	ck_assert_uint_eq(spool_acked(dir), 2);
}
END_TEST

START_TEST(a_later_life_goes_on_behind_what_is_acknowledged)
{
	struct err e = {0};

	write_records(5, 100);
	NEXT(STREAM_LIVE, 1, 5);
	ACKED(5);
	stream_ended(stream);
	stream_close(stream);
	write_records(1, 100);
	OK(stream_open(&stream, 15, 7, dir, &e));
	NEXT(STREAM_LIVE, 6, 6);
	ACKED(6);
}
END_TEST

/* It would make the stream wait for ever for records that never come. */
START_TEST(a_watermark_beyond_the_last_record_is_not_believed)
{
	struct err e = {0};

	ck_assert_uint_eq(stream_watermark(dir), 0);
	write_records(5, 100);
	stream_close(stream);
	OK(spool_set_acked(dir, 6, &e));
	ck_assert_uint_eq(stream_watermark(dir), 0);
	OK(spool_set_acked(dir, UINT64_MAX, &e));
	OK(stream_open(&stream, 15, 7, dir, &e));
	ck_assert_uint_eq(stream_acked_seq(stream), 0);
	NEXT(STREAM_LIVE, 1, 5);
	ACKED(5);
	stream_ended(stream);
	ck_assert_uint_eq(stream_watermark(dir), 5);
}
END_TEST

START_TEST(what_the_controller_had_already_is_not_sent)
{
	struct err e = {0};

	write_records(9, 150000);
	NEXT(STREAM_LIVE, 1, 2);
	ACKED(8); /* of an earlier life that could not keep its watermark */
	NEXT(STREAM_LIVE, 9, 9);
	ACKED(9);
}
END_TEST

START_TEST(what_the_controller_lost_is_sent_again_after_a_while)
{
	struct err e = {0};

	write_records(4, 100);
	NEXT(STREAM_LIVE, 1, 4);
	ACKED(4);
	write_records(1, 100);
	NEXT(STREAM_LIVE, 5, 5);
	ACKED(2); /* restored from a backup */
	ck_assert_uint_eq(stream_acked_seq(stream), 2);
	NEXT(STREAM_LIVE, 0, 0); /* not in a busy loop */
}
END_TEST

/* Its reader stands in the middle of what is cut off. */
START_TEST(a_spool_that_is_lost_under_the_stream_ends_with_a_gap_and_the_rest)
{
	static const char rubbish[8192] = "rubbish";
	struct err e = {0};
	char path[256];
	uint64_t cut;
	FILE *f;

	write_records(5, 100);
	NEXT(STREAM_LIVE, 1, 5);
	ACKED(5);
	spool_close(spool);
	snprintf(path, sizeof(path), "%s/00000000000000000001.seg", dir);
	f = fopen(path, "r+");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(rubbish, 1, sizeof(rubbish), f), sizeof(rubbish));
	fclose(f);
	OK(spool_open(&spool, dir, &cut, &e));
	ck_assert_uint_eq(spool_last(spool), 0);
	OK(spool_give_up(spool, 300, &e));
	OK(spool_give_up(spool, 200, &e)); /* only forwards */
	write_records(2, 100);
	ck_assert_uint_eq(spool_last(spool), 302);
	NEXT(STREAM_LIVE, 6, 302); /* 6 is the GAP */
	ACKED(302);
	NEXT(STREAM_LIVE, 0, 0);
	stream_close(stream);
	OK(stream_open(&stream, 15, 7, dir, &e));
	ck_assert_uint_eq(stream_acked_seq(stream), 5); /* kept every 5 s */
	NEXT(STREAM_LIVE, 6, 302);
}
END_TEST

/* The runner goes on with the numbers that it has told, in a segment of their own. */
START_TEST(a_spool_that_was_deleted_before_it_was_sent_is_told_by_a_gap)
{
	struct err e = {0};
	char path[256];
	uint64_t cut;

	write_records(5, 100);
	NEXT(STREAM_LIVE, 1, 5);
	ACKED(3);
	spool_close(spool);
	stream_close(stream);
	snprintf(path, sizeof(path), "%s/00000000000000000001.seg", dir);
	ck_assert_int_eq(unlink(path), 0);
	OK(spool_open(&spool, dir, &cut, &e));
	OK(spool_give_up(spool, 54, &e));
	write_records(2, 100);
	ck_assert_uint_eq(spool_last(spool), 56);
	OK(stream_open(&stream, 15, 7, dir, &e));
	OK(stream_acked(stream, 3, &e));
	NEXT(STREAM_LIVE, 4, 56); /* 4 is the GAP, to 54 */
	ck_assert_uint_eq(batch.n, 3);
	ACKED(56);
	NEXT(STREAM_LIVE, 0, 0);
}
END_TEST

START_TEST(damage_is_told_by_a_gap_in_its_place)
{
	struct wire_batch head;
	struct wire_cursor c;
	struct spool_record rec;
	struct err e = {0};
	const uint8_t *payload;
	json_t *doc;
	char path[256];
	size_t len;
	FILE *f;

	write_records(3, 100);
	OK(spool_sync(spool, &e));
	snprintf(path, sizeof(path), "ls %s/*[0-9]* | head -n 1", dir);
	f = popen(path, "r");
	ck_assert_ptr_nonnull(fgets(path, sizeof(path), f));
	pclose(f);
	path[strcspn(path, "\n")] = '\0';
	f = fopen(path, "r+");
	ck_assert_ptr_nonnull(f);
	/* A byte in the payload of record 2, whatever stands before it. */
	ck_assert_int_eq(fseek(f, -150, SEEK_END), 0);
	len = (size_t)ftell(f);
	fputc(0x55, f);
	fclose(f);
	(void)len;
	ck_assert_int_eq(stream_next(stream, STREAM_LIVE, &batch, &e), 1);
	payload = wire_batch_payload(&batch, &len);
	OK(wire_batch_decode(&head, &c, payload, len, &e));
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 1);
	ck_assert_uint_eq(rec.seq, 1);
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 1);
	ck_assert_uint_eq(rec.seq, 2);
	ck_assert_int_eq(rec.kind, RECORD_GAP);
	OK(json_parse((const char *)rec.payload, rec.len, &doc, &e));
	ck_assert_str_eq(json_text_of(doc, "from"), "2");
	ck_assert_str_eq(json_text_of(doc, "to"), "2");
	json_decref(doc);
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 1);
	ck_assert_uint_eq(rec.seq, 3);
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 0);
	ACKED(3);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("stream");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_a_runner_writes_is_sent_as_it_comes);
	tcase_add_test(tc, only_what_is_durable_is_sent);
	tcase_add_test(tc, what_was_not_answered_is_sent_again);
	tcase_add_test(tc, a_message_takes_what_fits_and_the_next_one_goes_on);
	tcase_add_test(tc, after_an_outage_the_newest_records_come_first);
	tcase_add_test(tc, the_end_of_a_runner_makes_the_rest_backlog);
	tcase_add_test(tc, a_later_life_goes_on_behind_what_is_acknowledged);
	tcase_add_test(tc, a_watermark_beyond_the_last_record_is_not_believed);
	tcase_add_test(tc, what_the_controller_had_already_is_not_sent);
	tcase_add_test(tc, what_the_controller_lost_is_sent_again_after_a_while);
	tcase_add_test(
		tc, a_spool_that_is_lost_under_the_stream_ends_with_a_gap_and_the_rest);
	tcase_add_test(tc, a_spool_that_was_deleted_before_it_was_sent_is_told_by_a_gap);
	tcase_add_test(tc, damage_is_told_by_a_gap_in_its_place);
	return unit_run("stream", tc);
}
