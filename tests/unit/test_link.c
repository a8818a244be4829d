#include "controller/link.h"

#include "tests/unit/link_rig.h"

static void
send_three(void)
{
	feed_sample(1, 0, 10);
	feed_sample(1, 1, 10);
	call_batch();
	expect_ack(2);
	feed_start(1, 101);
	feed_sample(1, 2, 10);
	call_batch();
	expect_ack(3);
	ping();
}

START_TEST(records_are_acknowledged_once_they_are_stored)
{
	play(send_three);
	rig_is("SELECT count(*) || ' ' || (SELECT acked_seq FROM attempt) FROM record",
		"3 3");
	ck_assert_uint_eq(link_counts(link_end)->records, 3);
	ck_assert_uint_eq(link_counts(link_end)->acks, 3);
	ck_assert_uint_eq(link_counts(link_end)->refused, 0);
}
END_TEST

static void
send_flipped(void)
{
	size_t len;
	size_t n;
	const uint8_t *payload;
	uint8_t *msg;

	ping();
	feed_sample(1, 0, 10);
	payload = wire_batch_payload(&rig_feed.batch, &len);
	msg = seal_message(WIRE_RECORDS, payload, len, &n);
	/* A bit of the header, of the payload and of the tag. */
	for (size_t i = 0; i < 3; i++) {
		size_t at = i == 0 ? 6 : i == 1 ? WIRE_HEADER_BYTES + 5 : n - 1;

		msg[at] ^= 4;
		expect_no_answer(msg, n);
		msg[at] ^= 4;
	}
	/* The message itself is still good. */
	ck_assert_int_eq(send_bytes(msg, n, WAIT_NS), 1);
	expect_ack(1);
	free(msg);
}

START_TEST(a_flipped_bit_gets_no_answer_and_stores_nothing)
{
	play(send_flipped);
	rig_is("SELECT count(*) FROM record", "1");
	ck_assert_uint_ge(link_counts(link_end)->refused, 3);
}
END_TEST

static void
send_garbage(void)
{
	uint8_t bytes[300];

	ping();
	expect_no_answer((const uint8_t *)"", 0);
	expect_no_answer((const uint8_t *)"GET / HTTP/1.1\r\n\r\n", 18);
	memset(bytes, 0, sizeof(bytes));
	expect_no_answer(bytes, sizeof(bytes));
	seal_random(bytes, sizeof(bytes));
	expect_no_answer(bytes, sizeof(bytes));
	ping();
}

START_TEST(garbage_gets_no_answer)
{
	play(send_garbage);
	ck_assert_uint_eq(link_counts(link_end)->acks, 2);
	ck_assert_uint_eq(link_counts(link_end)->nacks, 0);
}
END_TEST

static void
send_as_another(void)
{
	struct seal_session mine = agent.keys;
	uint8_t *msg;
	size_t n;

	/* Under the session of node 1 as node 2. */
	agent.node = 2;
	msg = seal_message(WIRE_PING, "", 0, &n);
	expect_no_answer(msg, n);
	free(msg);
	/* Under a session that was never agreed. */
	agent.node = 1;
	seal_random(agent.keys.id, sizeof(agent.keys.id));
	msg = seal_message(WIRE_PING, "", 0, &n);
	expect_no_answer(msg, n);
	free(msg);
	/* Under the right session with other keys. */
	agent.keys = mine;
	seal_random(agent.keys.tx, sizeof(agent.keys.tx));
	msg = seal_message(WIRE_PING, "", 0, &n);
	expect_no_answer(msg, n);
	free(msg);
	agent.keys = mine;
	ping();
}

START_TEST(the_wrong_session_gets_no_answer)
{
	play(send_as_another);
	ck_assert_uint_eq(link_counts(link_end)->acks, 1);
}
END_TEST

static void
replay(void)
{
	size_t len;
	size_t n;
	const uint8_t *payload;
	uint8_t *msg;

	feed_sample(1, 0, 10);
	payload = wire_batch_payload(&rig_feed.batch, &len);
	msg = seal_message(WIRE_RECORDS, payload, len, &n);
	ck_assert_int_eq(send_bytes(msg, n, WAIT_NS), 1);
	expect_ack(1);
	/* nanomsg sends the same bytes again when an answer is lost. */
	ck_assert_int_eq(send_bytes(msg, n, WAIT_NS), 1);
	expect_ack(1);
	/* From before the window nothing is answered. */
	agent.seq += SESSION_WINDOW;
	ping();
	expect_no_answer(msg, n);
	free(msg);
}

START_TEST(a_replayed_message_is_answered_and_stored_once)
{
	play(replay);
	rig_is("SELECT count(*) FROM record", "1");
	ck_assert_uint_eq(link_counts(link_end)->records, 1);
	ck_assert_uint_eq(link_counts(link_end)->repeats, 1);
	ck_assert_uint_eq(link_counts(link_end)->duplicates, 0);
}
END_TEST

static void
send_wrong(void)
{
	struct wire_header h = {
		.major = WIRE_VERSION_MAJOR + 1,
		.type = WIRE_PING,
		.node = 1,
	};
	uint8_t *msg;
	size_t n;

	feed_sample(1, 0, 10);
	rig_feed.batch.attempt = 2;
	call_batch();
	expect_nack(WIRE_NACK_ATTEMPT, 2);
	rig_feed.batch.attempt = 1;
	rig_feed.batch.fence = 7;
	call_batch();
	expect_nack(WIRE_NACK_FENCE, 1);
	call(WIRE_RECORDS, "nonsense", 8);
	expect_nack(WIRE_NACK_FORMAT, 0);
	call((enum wire_type)99, "", 0);
	expect_nack(WIRE_NACK_FORMAT, 0);
	h.seq = ++agent.seq;
	msg = wire_seal(&agent.keys, &h, "", 0, &n);
	ck_assert_int_eq(send_bytes(msg, n, WAIT_NS), 1);
	expect_nack(WIRE_NACK_VERSION, 0);
	free(msg);
}

START_TEST(what_is_authentic_and_wrong_is_told_so)
{
	play(send_wrong);
	rig_is("SELECT count(*) FROM record", "0");
	rig_is("SELECT count(*) FROM stale_record", "1");
	ck_assert_uint_eq(link_counts(link_end)->nacks, 5);
}
END_TEST

static void
send_one_busy(void)
{
	feed_sample(1, 0, 10);
	call_batch();
	expect_nack(WIRE_NACK_BUSY, 1);
}

static void
send_one_again(void)
{
	call_batch();
	expect_ack(1);
}

START_TEST(what_cannot_be_stored_is_not_acknowledged_and_goes_through_later)
{
	/* The database refuses the rows, as it does without room. */
	rig_exec("CREATE TRIGGER no_room BEFORE INSERT ON record BEGIN"
		 " SELECT raise(ABORT, 'no room'); END");
	play(send_one_busy);
	rig_is("SELECT count(*) || ' ' || (SELECT acked_seq FROM attempt) FROM record",
		"0 0");
	rig_exec("DROP TRIGGER no_room");
	play(send_one_again);
	rig_is("SELECT count(*) || ' ' || (SELECT acked_seq FROM attempt) FROM record",
		"1 1");
}
END_TEST

START_TEST(a_new_session_overlaps_the_old_one)
{
	struct seal_session old;
	uint64_t old_seq;

	play(ping);
	old = agent.keys;
	old_seq = agent.seq;
	agree(1);
	play(ping);
	agent.keys = old;
	agent.seq = old_seq;
	play(ping);
	ck_assert_uint_eq(link_counts(link_end)->acks, 3);
}
END_TEST

static void
send_many(void)
{
	for (uint32_t i = 0; i < 200; i++) {
		feed_start(1, 101);
		feed_sample(1, i, 10);
		call_batch();
		expect_ack(i + 1);
	}
}

START_TEST(many_messages_keep_their_order_and_none_is_lost)
{
	play(send_many);
	rig_is("SELECT count(*) || ' ' || min(seq) || ' ' || max(seq) FROM record",
		"200 1 200");
}
END_TEST

static void
woken(void *arg)
{
	(void)arg;
}

static void
send_live(void)
{
	feed_start_point(2, "4k-random-read", 40);
	feed_sample(2, 0, 2000);
	call_batch();
	expect_ack(2);
}

START_TEST(the_newest_sample_reaches_those_who_watch_its_run)
{
	struct sse_client *other = sse_join(stream, "run:r9", 1000, woken, NULL);
	struct sse_client *c = sse_join(stream, "run:r1", 1000, woken, NULL);
	char text[2000];
	size_t n;

	play(send_live);
	n = sse_read(c, text, sizeof(text) - 1);
	text[n] = '\0';
	ck_assert_msg(strstr(text, "event: run.sample\n") != NULL, "%s", text);
	ck_assert_ptr_null(strstr(text, "id:"));
	ck_assert_ptr_nonnull(strstr(text, "\"run\":\"r1\",\"point\":2,\"workload\":"
					   "\"4k-random-read\",\"load_percent\":40.0,"
					   "\"offered_iops\":4000.0,\"second\":0"));
	ck_assert_ptr_nonnull(strstr(text, "\"latency\":\"response\",\"lat_mean_ns\":"
					   "null,\"lat_p99_ns\":null,\"flags\":[]"));
	ck_assert_ptr_nonnull(
		strstr(text, "\"iops\":2000.0,\"bytes_per_second\":8192000.0"));
	n = sse_read(other, text, sizeof(text) - 1);
	text[n] = '\0';
	ck_assert_ptr_null(strstr(text, "run.sample"));
	sse_leave(c);
	sse_leave(other);
}
END_TEST

/* A job that keeps the store's writer busy until the test lets it go. */
static int gate_fd;

static int
wait_at_gate(struct tx *t, void *arg, struct err *e)
{
	uint64_t n;

	(void)t;
	(void)e;
	*(bool *)arg = read(gate_fd, &n, sizeof(n)) == sizeof(n);
	return 0;
}

static void
gate_passed(void *arg, const struct err *e)
{
	(void)arg;
	ck_assert_ptr_null(e);
}

static void
close_gate(bool *passed)
{
	struct err e = {0};

	gate_fd = eventfd(0, EFD_CLOEXEC);
	OK(store_write(rig_store, wait_at_gate, gate_passed, passed, &e));
}

static void
open_gate(void)
{
	uint64_t one = 1;

	ck_assert_int_eq(write(gate_fd, &one, sizeof(one)), sizeof(one));
}

static void
send_without_answer(void)
{
	uint64_t before = atomic_load(&messages);
	size_t len;
	const uint8_t *payload = wire_batch_payload(&rig_feed.batch, &len);
	size_t n;
	uint8_t *msg = seal_message(WIRE_RECORDS, payload, len, &n);

	for (int i = 0; i < 100 && atomic_load(&messages) == before; i++)
		ck_assert_int_eq(send_bytes(msg, n, SOON_NS * (i + 1)), 0);
	ck_assert_uint_gt(atomic_load(&messages), before);
	free(msg);
}

START_TEST(closing_with_a_job_in_flight_answers_nobody_and_leaks_nothing)
{
	struct link_env env = {
		.loop = rig_loop, .store = rig_store, .sessions = sessions};
	bool passed = false;
	struct err e = {0};
	char other[64];

	snprintf(other, sizeof(other), "tcp://127.0.0.1:%d", free_port());
	env.url = other;
	feed_sample(1, 0, 10);
	close_gate(&passed);
	play(send_without_answer);
	link_close(link_end);
	open_gate();
	rig_exec("UPDATE attempt SET step = 'x'"); /* a writer comes after the job */
	rig_is("SELECT count(*) FROM record", "1");
	ck_assert(passed);
	close(gate_fd);
	OK(link_open(&link_end, &env, &e));
}
END_TEST

static void
send_more_than_fits(void)
{
	struct nn_req *first = agent.req;
	struct nn_req *ends[4];
	size_t len;
	const uint8_t *payload = wire_batch_payload(&rig_feed.batch, &len);
	struct err e = {0};
	size_t n;
	uint8_t *msg;

	for (size_t i = 0; i < 4; i++) {
		OK(nn_req_open(&ends[i], url, &e));
		agent.req = ends[i];
		msg = seal_message(WIRE_RECORDS, payload, len, &n);
		ck_assert_int_eq(send_bytes(msg, n, SOON_NS), 0);
		free(msg);
	}
	open_gate();
	agent.req = first;
	call_batch();
	expect_ack(1);
	for (size_t i = 0; i < 4; i++)
		nn_req_close(ends[i]);
}

START_TEST(with_enough_in_flight_nothing_more_is_read_until_there_is_room)
{
	struct link_env env = {.loop = rig_loop,
		.store = rig_store,
		.sessions = sessions,
		.url = url,
		.jobs_max = 1};
	bool passed = false;
	struct err e = {0};

	link_close(link_end);
	OK(link_open(&link_end, &env, &e));
	feed_sample(1, 0, 10);
	close_gate(&passed);
	play(send_more_than_fits);
	ck_assert(passed);
	ck_assert_uint_ge(link_counts(link_end)->acks, 1);
	rig_is("SELECT count(*) FROM record", "1");
	close(gate_fd);
}
END_TEST

START_TEST(an_address_in_use_is_said)
{
	struct link_env env = {
		.loop = rig_loop, .store = rig_store, .sessions = sessions, .url = url};
	struct link *k;
	struct err e = {0};

	FAILS(link_open(&k, &env, &e), ERR_NET, "in use");
	ck_assert_msg(strstr(e.fix, "another data_port") != NULL, "%s", e.fix);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("link");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, records_are_acknowledged_once_they_are_stored);
	tcase_add_test(tc, a_flipped_bit_gets_no_answer_and_stores_nothing);
	tcase_add_test(tc, garbage_gets_no_answer);
	tcase_add_test(tc, the_wrong_session_gets_no_answer);
	tcase_add_test(tc, a_replayed_message_is_answered_and_stored_once);
	tcase_add_test(tc, what_is_authentic_and_wrong_is_told_so);
	tcase_add_test(
		tc, what_cannot_be_stored_is_not_acknowledged_and_goes_through_later);
	tcase_add_test(tc, a_new_session_overlaps_the_old_one);
	tcase_add_test(tc, many_messages_keep_their_order_and_none_is_lost);
	tcase_add_test(tc, the_newest_sample_reaches_those_who_watch_its_run);
	tcase_add_test(tc, closing_with_a_job_in_flight_answers_nobody_and_leaks_nothing);
	tcase_add_test(
		tc, with_enough_in_flight_nothing_more_is_read_until_there_is_room);
	tcase_add_test(tc, an_address_in_use_is_said);
	return unit_run("link", tc);
}
