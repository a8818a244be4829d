#include "agent/uplink.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/identity.h"
#include "agent/news.h"
#include "common/clock.h"
#include "common/loop.h"
#include "common/mbox.h"
#include "common/nn.h"
#include "common/spool.h"
#include "common/wire.h"
#include "tests/unit/log_rig.h"
#include "tests/unit/unit.h"

/* The test is the controller: one thread with the uplink, over a real socket. */

static char top[64], dir[128];
static struct identity id;
static struct inbox in;
static struct uplink *uplink;
static struct nn_rep *rep;
static struct spool *spool;
static struct seal_session node_side, our_side;
static uint64_t tx_seq, rx_seq;

static void
agree_session(void)
{
	struct seal_pair node, node_eph, ctl, ctl_eph;
	uint8_t sid[SEAL_SESSION_BYTES];
	struct err e = {0};

	seal_random(sid, sizeof(sid));
	seal_pair_new(&node);
	seal_pair_new(&node_eph);
	seal_pair_new(&ctl);
	seal_pair_new(&ctl_eph);
	OK(seal_session_agree(&node_side, sid, false, &node, &node_eph, ctl.public_key,
		ctl_eph.public_key, &e));
	OK(seal_session_agree(&our_side, sid, true, &ctl, &ctl_eph, node.public_key,
		node_eph.public_key, &e));
	tx_seq = rx_seq = 0;
}

static void
setup(void)
{
	struct err e = {0};
	uint64_t cut;
	char url[64];

	snprintf(top, sizeof(top), "/tmp/test_uplink.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/spool", top);
	OK(spool_open(&spool, dir, &cut, &e));
	OK(loop_new(&in.l, &e));
	in.m = mbox_new(1000);
	agree_session();
	id.node = 3;
	snprintf(id.url, sizeof(id.url), "http://127.0.0.1:1");
	do {
		uint16_t port;

		seal_random(&port, sizeof(port));
		id.data_port = (uint16_t)(20000 + port % 20000);
		snprintf(url, sizeof(url), "tcp://127.0.0.1:%u", (unsigned)id.data_port);
		err_clear(&e);
	} while (nn_rep_open(&rep, url, &e) != 0);
	OK(uplink_start(&uplink, &id, &in, 500 * NS_PER_MS, &e));
}

static void
teardown(void)
{
	struct news *n;

	/* First, so that the thread does not wait for an answer that nobody sends. */
	uplink_stop(uplink);
	nn_rep_close(rep);
	while ((n = mbox_get(in.m, 0)) != NULL)
		news_free(n);
	mbox_free(in.m);
	loop_free(in.l);
	spool_close(spool);
	ck_assert_int_eq(spool_remove(dir, NULL), 0);
	ck_assert_int_eq(disk_remove_tree(top, NULL), 0);
}

static void
write_records(int n)
{
	struct err e = {0};

	for (int i = 0; i < n; i++)
		OK(spool_append(spool, RECORD_EVENT, "{}", 2, NULL, &e));
}

/* A request as it came, opened. */
struct request {
	struct nn_route route;
	struct wire_header h;
	uint8_t payload[WIRE_MAX_BYTES];
	size_t len;
	uint64_t attempt, first, last; /* of a RECORDS message */
};

static void
read_records(struct request *r)
{
	struct wire_batch head;
	struct wire_cursor c;
	struct spool_record rec;
	struct err e = {0};

	OK(wire_batch_decode(&head, &c, r->payload, r->len, &e));
	r->attempt = head.attempt;
	while (wire_cursor_next(&c, &rec, &e) == 1) {
		if (r->first == 0)
			r->first = rec.seq;
		r->last = rec.seq;
	}
}

/* Takes a message if there is one that is new: what is sent anew on another connection
 * comes twice, and what is of an earlier session is not for us. */
static bool
take(struct request *r)
{
	struct err e = {0};
	uint8_t *msg;
	bool good;
	size_t len;

	if (nn_rep_recv(rep, &msg, &len, &r->route, &e) != 1)
		return false;
	OK(wire_header_decode(&r->h, msg, len, &e));
	good = wire_open(&our_side, &r->h, msg, r->payload, &r->len, NULL) == 0 &&
	       r->h.seq > rx_seq;
	nn_msg_free(msg);
	if (good)
		rx_seq = r->h.seq;
	return good;
}

/* Waits for the next request, which must be of this type. */
static void
receive(struct request *r, enum wire_type type)
{
	struct pollfd p = {.fd = nn_rep_fd(rep), .events = POLLIN};
	int64_t deadline = clock_mono() + 120 * NS_PER_S;

	memset(r, 0, sizeof(*r));
	while (!take(r)) {
		ck_assert_int_lt(clock_mono(), deadline);
		poll(&p, 1, 100);
	}
	ck_assert_uint_eq(r->h.node, 3);
	ck_assert_int_eq(r->h.type, type);
	if (type == WIRE_RECORDS)
		read_records(r);
}

static void
answer(const struct request *r, enum wire_type type, const void *payload, size_t len)
{
	struct wire_header h = {.major = WIRE_VERSION_MAJOR,
		.minor = WIRE_VERSION_MINOR,
		.type = (uint8_t)type,
		.node = 3,
		.seq = ++tx_seq};
	size_t n;
	uint8_t *msg = wire_seal(&our_side, &h, payload, len, &n);

	nn_rep_send(rep, msg, n, &r->route);
	free(msg);
}

static void
ack(const struct request *r, uint64_t seq)
{
	struct wire_ack a = {.attempt = r->attempt, .seq = seq};
	uint8_t out[WIRE_ACK_BYTES];
	size_t n = wire_ack_encode(&a, r->attempt != 0, out, sizeof(out));

	answer(r, WIRE_ACK, out, n);
}

static void
nack(const struct request *r, enum wire_nack code)
{
	uint8_t out[WIRE_NACK_BYTES];
	size_t n = wire_nack_encode(code, r->attempt, out, sizeof(out));

	answer(r, WIRE_NACK, out, n);
}

/* Waits for news of a kind; the caller frees it. */
static struct news *
await(enum news_kind kind)
{
	int64_t deadline = clock_mono() + 300 * NS_PER_S;
	struct news *n;

	while (clock_mono() < deadline) {
		n = mbox_get(in.m, NS_PER_S);
		if (n != NULL && n->kind == kind)
			return n;
		news_free(n);
	}
	ck_abort_msg("no news of kind %d", (int)kind);
}

static void
await_progress(uint64_t acked)
{
	struct news *n;
	bool there;

	do {
		n = await(NEWS_PROGRESS);
		ck_assert_uint_eq(n->attempt, 15);
		there = n->acked_seq == acked;
		news_free(n);
	} while (!there);
}

/* Waits for news that say why the attempt is not sent, with that part; "": it is. */
static void
await_blocked(const char *part)
{
	struct news *n = await(NEWS_BLOCKED);

	ck_assert_uint_eq(n->attempt, 15);
	ck_assert_int_eq(n->why[0] == '\0', part[0] == '\0');
	ck_assert_msg(strstr(n->why, part) != NULL, "%s", n->why);
	news_free(n);
}

/* Gives the session and takes the ping that follows. */
static void
begin(void)
{
	struct request r;

	uplink_session(uplink, &node_side);
	receive(&r, WIRE_PING);
	ck_assert_uint_eq(r.len, 0);
	ack(&r, 0);
}

START_TEST(records_are_sent_and_what_is_acknowledged_is_told)
{
	struct request r;

	write_records(3);
	uplink_stream(uplink, 15, 7, dir, 3, false);
	begin();
	receive(&r, WIRE_RECORDS);
	ck_assert_uint_eq(r.attempt, 15);
	ck_assert_uint_eq(r.first, 1);
	ck_assert_uint_eq(r.last, 3);
	ack(&r, 3);
	await_progress(3);
	write_records(1);
	receive(&r, WIRE_RECORDS);
	ck_assert_uint_eq(r.first, 4);
	ack(&r, 4);
	await_progress(4);
	uplink_stream(uplink, 15, 7, dir, 4, true);
	uplink_drop(uplink, 15);
}
END_TEST

START_TEST(a_busy_controller_is_asked_again_with_the_same_records)
{
	struct request r;
	int64_t since;

	write_records(2);
	uplink_stream(uplink, 15, 7, dir, 2, true);
	begin();
	receive(&r, WIRE_RECORDS);
	since = clock_mono();
	nack(&r, WIRE_NACK_BUSY);
	receive(&r, WIRE_RECORDS);
	ck_assert_int_ge(clock_mono() - since, NS_PER_S);
	ck_assert_uint_eq(r.first, 1);
	ack(&r, 2);
	await_progress(2);
	ck_assert_uint_eq(spool_acked(dir), 2);
}
END_TEST

START_TEST(an_attempt_that_is_not_wanted_waits_for_another_session)
{
	struct request r;

	write_records(1);
	uplink_stream(uplink, 15, 7, dir, 1, true);
	begin();
	receive(&r, WIRE_RECORDS);
	nack(&r, WIRE_NACK_FENCE);
	await_blocked("fence token");
	agree_session();
	begin();
	await_blocked("");
	receive(&r, WIRE_RECORDS);
	ack(&r, 1);
	await_progress(1);
}
END_TEST

START_TEST(a_spool_that_cannot_be_read_is_told_and_read_again)
{
	struct request r;
	char segment[192];

	snprintf(segment, sizeof(segment), "%s/00000000000000000001.seg", dir);
	ck_assert_int_eq(mkdir(segment, 0700), 0);
	uplink_stream(uplink, 15, 7, dir, 0, false);
	begin();
	await_blocked("Is a directory");
	ck_assert_int_eq(rmdir(segment), 0);
	write_records(3);
	receive(&r, WIRE_RECORDS);
	ck_assert_uint_eq(r.first, 1);
	await_blocked("");
	ack(&r, 3);
	await_progress(3);
}
END_TEST

START_TEST(an_acknowledgement_that_cannot_be_kept_is_told_once)
{
	struct request r;
	char acked[192];

	log_catch();
	snprintf(acked, sizeof(acked), "%s/acked", dir);
	ck_assert_int_eq(mkdir(acked, 0700), 0);
	begin();
	for (uint64_t i = 1; i <= 3; i++) {
		write_records(1);
		uplink_stream(uplink, 15, 7, dir, i, true);
		receive(&r, WIRE_RECORDS);
		ack(&r, i);
		await_progress(i);
	}
	ck_assert_int_eq(rmdir(acked), 0);
	ck_assert_uint_eq(log_caught("uplink.acked"), 1);
}
END_TEST

START_TEST(two_calls_without_an_answer_ask_for_another_session)
{
	struct request r;

	write_records(1);
	uplink_stream(uplink, 15, 7, dir, 1, true);
	uplink_session(uplink, &node_side);
	receive(&r, WIRE_PING);
	receive(&r, WIRE_RECORDS);
	news_free(await(NEWS_WANT_SESSION));
	agree_session();
	begin();
	receive(&r, WIRE_RECORDS);
	ck_assert_uint_eq(r.first, 1);
	ack(&r, 1);
	await_progress(1);
}
END_TEST

START_TEST(an_answer_that_is_forged_or_comes_again_counts_as_none)
{
	struct request r;
	uint8_t junk[100] = {0};

	write_records(1);
	uplink_stream(uplink, 15, 7, dir, 1, true);
	begin();
	receive(&r, WIRE_RECORDS);
	nn_rep_send(rep, junk, sizeof(junk), &r.route);
	receive(&r, WIRE_RECORDS);
	tx_seq = 0; /* as that of the ping's answer */
	ack(&r, 1);
	news_free(await(NEWS_WANT_SESSION));
	ck_assert_uint_eq(spool_acked(dir), 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("uplink");

	seal_init();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, records_are_sent_and_what_is_acknowledged_is_told);
	tcase_add_test(tc, a_busy_controller_is_asked_again_with_the_same_records);
	tcase_add_test(tc, an_attempt_that_is_not_wanted_waits_for_another_session);
	tcase_add_test(tc, a_spool_that_cannot_be_read_is_told_and_read_again);
	tcase_add_test(tc, an_answer_that_is_forged_or_comes_again_counts_as_none);
	tcase_add_test(tc, an_acknowledgement_that_cannot_be_kept_is_told_once);
	tcase_add_test(tc, two_calls_without_an_answer_ask_for_another_session);
	return unit_run("uplink", tc);
}
