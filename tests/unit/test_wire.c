#include "common/wire.h"

#include "tests/unit/golden.h"
#include "tests/unit/unit.h"

static uint8_t buf[WIRE_RECV_BYTES + 1], buf2[WIRE_RECV_BYTES];

static struct spool_record
record(uint64_t seq, enum record_kind kind, const void *payload, size_t len)
{
	return (struct spool_record){.seq = seq,
		.kind = kind,
		.payload = payload,
		.len = len,
		.crc = record_crc(kind, seq, payload, len)};
}

static void
fill_golden_batch(struct wire_batch *b)
{
	struct spool_record recs[] = {
		record(7, RECORD_EVENT, "{\"event\":\"note\"}", 16),
		record(8, RECORD_POINT, "", 0),
		record(9, RECORD_RESULT, "{\"state\":\"done\"}", 16),
	};

	wire_batch_start(b, 15, 4294967301);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(wire_batch_add(b, &recs[i]), 0);
}

START_TEST(a_header_is_the_golden_bytes_both_ways)
{
	struct wire_header h = {.major = 1,
		.type = WIRE_RECORDS,
		.node = 3,
		.seq = 0x0102030405060708,
		.payload_bytes = 16};
	size_t n = golden("header.hex", buf, sizeof(buf));
	uint8_t out[WIRE_HEADER_BYTES];
	struct wire_header back;
	struct err e = {0};

	for (unsigned i = 0; i < SEAL_SESSION_BYTES; i++)
		h.session[i] = (uint8_t)(0xa0 + i);
	wire_header_encode(&h, out);
	SAME(out, sizeof(out), buf, n - 16);
	OK(wire_header_decode(&back, buf, n, &e));
	ck_assert_uint_eq(back.major, 1);
	ck_assert_uint_eq(back.minor, 0);
	ck_assert_uint_eq(back.type, WIRE_RECORDS);
	ck_assert_uint_eq(back.node, 3);
	ck_assert_uint_eq(back.seq, h.seq);
	ck_assert_uint_eq(back.payload_bytes, 16);
	ck_assert_mem_eq(back.session, h.session, SEAL_SESSION_BYTES);
}
END_TEST

START_TEST(a_header_of_another_version_is_read_but_no_other_magic_or_length)
{
	size_t n = golden("header.hex", buf, sizeof(buf));
	struct wire_header h;
	struct err e = {0};

	buf[4] = 9;
	buf[5] = 8;
	buf[6] = 200;
	memset(buf + 44, 0xee, 20);
	OK(wire_header_decode(&h, buf, n, &e));
	ck_assert_uint_eq(h.major, 9);
	ck_assert_uint_eq(h.minor, 8);
	ck_assert_uint_eq(h.type, 200);
	FAILS(wire_header_decode(&h, buf, n - 1, &e), ERR_INVALID, "no message");
	FAILS(wire_header_decode(&h, buf, n + 1, &e), ERR_INVALID, "says 16 bytes");
	FAILS(wire_header_decode(&h, buf, WIRE_RECV_BYTES + 1, &e), ERR_INVALID,
		"524289 bytes are no message");
	FAILS(wire_header_decode(&h, buf, 0, &e), ERR_INVALID, "no message");
	buf[0] = 's';
	FAILS(wire_header_decode(&h, buf, n, &e), ERR_INVALID, "no message of ssdlab");
}
END_TEST

START_TEST(records_are_the_golden_bytes_both_ways)
{
	size_t want = golden("records.hex", buf, sizeof(buf)), n;
	struct wire_batch b = {0}, head;
	struct spool_record rec;
	struct wire_cursor c;
	struct err e = {0};
	const uint8_t *payload;

	fill_golden_batch(&b);
	payload = wire_batch_payload(&b, &n);
	SAME(payload, n, buf, want);
	OK(wire_batch_decode(&head, &c, payload, n, &e));
	ck_assert_uint_eq(head.attempt, 15);
	ck_assert_uint_eq(head.fence, 4294967301);
	ck_assert_uint_eq(head.n, 3);
	for (uint64_t seq = 7; seq < 10; seq++) {
		ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 1);
		ck_assert_uint_eq(rec.seq, seq);
		ck_assert_uint_eq(rec.len, seq == 8 ? 0 : 16);
	}
	ck_assert_mem_eq(rec.payload, "{\"state\":\"done\"}", 16);
	ck_assert_int_eq(rec.kind, RECORD_RESULT);
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 0);
	wire_batch_fini(&b);
	wire_batch_fini(&b);
}
END_TEST

/* read_all returns 0 when a payload is read to its end, -1 otherwise. */
static int
read_all(const uint8_t *payload, size_t len)
{
	struct spool_record rec;
	struct wire_batch head;
	struct wire_cursor c;
	int rc;

	if (wire_batch_decode(&head, &c, payload, len, NULL) != 0)
		return -1;
	while ((rc = wire_cursor_next(&c, &rec, NULL)) > 0)
		;
	return rc;
}

START_TEST(records_that_were_cut_lengthened_or_changed_are_refused)
{
	size_t n = golden("records.hex", buf, sizeof(buf) - 1);

	ck_assert_int_eq(read_all(buf, n), 0);
	for (size_t k = 0; k < n; k++)
		ck_assert_int_eq(read_all(buf, k), -1);
	ck_assert_int_eq(read_all(buf, n + 1), -1);
	/* The head has no checksum of its own: sealing guards it. */
	for (size_t bit = 8 * 16; bit < 8 * n; bit++) {
		buf[bit / 8] ^= (uint8_t)(1U << bit % 8);
		ck_assert_msg(read_all(buf, n) == -1, "bit %zu", bit);
		buf[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
}
END_TEST

START_TEST(refused_records_say_why)
{
	size_t n = golden("records.hex", buf, sizeof(buf));
	struct spool_record rec;
	struct wire_batch head;
	struct wire_cursor c;
	struct err e = {0};

	FAILS(wire_batch_decode(&head, &c, buf, 19, &e), ERR_INVALID, "have no head");
	buf[16] = 200;
	FAILS(wire_batch_decode(&head, &c, buf, n, &e), ERR_INVALID,
		"200 records do not fit");
	buf[16] = 2;
	OK(wire_batch_decode(&head, &c, buf, n, &e));
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 1);
	ck_assert_int_eq(wire_cursor_next(&c, &rec, &e), 1);
	FAILS(wire_cursor_next(&c, &rec, &e), ERR_INVALID, "33 bytes follow");
	buf[20 + 17] ^= 1;
	OK(wire_batch_decode(&head, &c, buf, n, &e));
	FAILS(wire_cursor_next(&c, &rec, &e), ERR_INVALID, "record 7 has a wrong");
	buf[20 + 15] = 1;
	FAILS(wire_cursor_next(&c, &rec, &e), ERR_INVALID, "cannot have 65552 bytes");
	buf[20 + 8] = 0;
	FAILS(wire_cursor_next(&c, &rec, &e), ERR_INVALID, "no kind");
}
END_TEST

START_TEST(a_batch_takes_any_record_and_never_more_than_a_message)
{
	struct seal_session s = {0};
	struct wire_header h = {.major = 1, .type = WIRE_RECORDS, .node = 1, .seq = 1};
	struct spool_record big = record(
		1, RECORD_SAMPLE, memset(buf, 3, sizeof(buf)), RECORD_MAX_BYTES);
	struct spool_record small = record(2, RECORD_SAMPLE, buf, 1000);
	struct wire_batch b = {0};
	size_t len, n;
	uint8_t *msg;

	wire_batch_start(&b, 1, 2);
	ck_assert_int_eq(wire_batch_add(&b, &big), 0);
	while (wire_batch_add(&b, &small) == 0)
		small.seq++;
	ck_assert_uint_gt(b.n, 5);
	n = b.n;
	ck_assert_int_eq(wire_batch_add(&b, &small), -1);
	ck_assert_uint_eq(b.n, n);
	wire_batch_payload(&b, &len);
	ck_assert_uint_le(len + WIRE_HEADER_BYTES + SEAL_TAG_BYTES, WIRE_MAX_BYTES);
	ck_assert_uint_gt(
		len + WIRE_HEADER_BYTES + SEAL_TAG_BYTES + 1017, WIRE_MAX_BYTES);
	msg = wire_seal(&s, &h, wire_batch_payload(&b, &len), len, &n);
	ck_assert_uint_le(n, WIRE_MAX_BYTES);
	free(msg);
	big.len++;
	wire_batch_start(&b, 1, 2);
	ck_assert_int_eq(wire_batch_add(&b, &big), -1);
	wire_batch_fini(&b);
}
END_TEST

/* opened says whether a message gets through header and seal. */
static bool
opened(const struct seal_session *s, const uint8_t *msg, size_t len)
{
	struct wire_header h;
	size_t n;

	if (wire_header_decode(&h, msg, len, NULL) != 0)
		return false;
	return wire_open(s, &h, msg, buf2, &n, NULL) == 0;
}

/* The two ends of the session of sealed-ack.hex. */
static void
golden_session(struct seal_session *agent, struct seal_session *controller)
{
	memset(agent, 0, sizeof(*agent));
	for (unsigned i = 0; i < SEAL_SESSION_BYTES; i++)
		agent->id[i] = (uint8_t)(0xa0 + i);
	for (unsigned i = 0; i < SEAL_KEY_BYTES; i++) {
		agent->rx[i] = (uint8_t)i;
		agent->tx[i] = (uint8_t)(0xff - i);
	}
	*controller = *agent;
	memcpy(controller->tx, agent->rx, SEAL_KEY_BYTES);
	memcpy(controller->rx, agent->tx, SEAL_KEY_BYTES);
}

START_TEST(a_sealed_message_is_the_golden_bytes_both_ways)
{
	struct wire_header h = {.major = 1, .type = WIRE_ACK, .node = 3, .seq = 2};
	size_t want = golden("sealed-ack.hex", buf, sizeof(buf)), len, n;
	struct seal_session agent, controller;
	struct wire_ack acks[WIRE_ACK_MAX];
	struct err e = {0};
	uint8_t *msg;

	golden_session(&agent, &controller);
	len = golden("ack.hex", buf2, sizeof(buf2));
	msg = wire_seal(&controller, &h, buf2, len, &n);
	SAME(msg, n, buf, want);
	OK(wire_header_decode(&h, msg, n, &e));
	OK(wire_open(&agent, &h, msg, buf2, &len, &e));
	OK(wire_ack_decode(acks, &n, buf2, len, &e));
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(acks[0].attempt, 15);
	ck_assert_uint_eq(acks[0].seq, 9);
	ck_assert_uint_eq(acks[1].attempt, (UINT64_C(1) << 40) + 1);
	ck_assert_uint_eq(acks[1].seq, UINT64_C(1) << 33);
	free(msg);
}
END_TEST

START_TEST(every_cut_and_every_flipped_bit_of_a_message_is_refused)
{
	struct seal_session agent, controller;
	size_t n = golden("sealed-ack.hex", buf, sizeof(buf));

	golden_session(&agent, &controller);
	ck_assert(opened(&agent, buf, n));
	for (size_t k = 0; k < n; k++)
		ck_assert(!opened(&agent, buf, k));
	ck_assert(!opened(&agent, buf, n + 1));
	for (size_t bit = 0; bit < 8 * n; bit++) {
		buf[bit / 8] ^= (uint8_t)(1U << bit % 8);
		ck_assert_msg(!opened(&agent, buf, n), "bit %zu", bit);
		buf[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
}
END_TEST

START_TEST(a_message_opens_only_in_its_direction_and_session)
{
	size_t n = golden("sealed-ack.hex", buf, sizeof(buf)), len;
	struct seal_session agent, controller;
	struct wire_header h;
	struct err e = {0};

	golden_session(&agent, &controller);
	ck_assert(!opened(&controller, buf, n));
	agent.id[0] ^= 1;
	OK(wire_header_decode(&h, buf, n, &e));
	FAILS(wire_open(&agent, &h, buf, buf2, &len, &e), ERR_AUTH, "not authentic");
}
END_TEST

START_TEST(an_empty_message_can_be_sealed)
{
	struct wire_header h = {.major = 1, .type = WIRE_PING, .node = 1, .seq = 1};
	struct seal_session s = {0};
	size_t n, len;
	uint8_t *msg = wire_seal(&s, &h, NULL, 0, &n);
	struct err e = {0};

	ck_assert_uint_eq(n, WIRE_HEADER_BYTES + SEAL_TAG_BYTES);
	OK(wire_header_decode(&h, msg, n, &e));
	OK(wire_open(&s, &h, msg, buf2, &len, &e));
	ck_assert_uint_eq(len, 0);
	free(msg);
}
END_TEST

START_TEST(acks_and_nacks_keep_their_bounds)
{
	size_t n = golden("ack.hex", buf, sizeof(buf)), k;
	struct wire_ack acks[WIRE_ACK_MAX] = {
		{15, 9}, {(UINT64_C(1) << 40) + 1, UINT64_C(1) << 33}};
	uint8_t out[WIRE_ACK_BYTES];
	enum wire_nack code;
	struct err e = {0};
	uint64_t attempt;

	SAME(out, wire_ack_encode(acks, 2, out, sizeof(out)), buf, n);
	for (size_t len = 0; len < n; len++)
		FAILS(wire_ack_decode(acks, &k, buf, len, &e), ERR_INVALID, "an ACK");
	FAILS(wire_ack_decode(acks, &k, buf, n + 1, &e), ERR_INVALID, "an ACK");
	n = wire_ack_encode(acks, WIRE_ACK_MAX, buf, sizeof(buf));
	OK(wire_ack_decode(acks, &k, buf, n, &e));
	ck_assert_uint_eq(k, WIRE_ACK_MAX);
	buf[0]++;
	FAILS(wire_ack_decode(acks, &k, buf, n + 16, &e), ERR_INVALID, "an ACK");
	OK(wire_ack_decode(acks, &k, buf2, wire_ack_encode(NULL, 0, buf2, 4), &e));
	ck_assert_uint_eq(k, 0);

	n = golden("nack.hex", buf, sizeof(buf));
	SAME(out, wire_nack_encode(WIRE_NACK_FENCE, 15, out, sizeof(out)), buf, n);
	OK(wire_nack_decode(&code, &attempt, buf, n, &e));
	ck_assert_int_eq(code, WIRE_NACK_FENCE);
	ck_assert_uint_eq(attempt, 15);
	FAILS(wire_nack_decode(&code, &attempt, buf, n - 1, &e), ERR_INVALID, "a NACK");
	buf[0] = 0;
	FAILS(wire_nack_decode(&code, &attempt, buf, n, &e), ERR_INVALID, "a NACK");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("wire");

	seal_init();
	tcase_add_test(tc, a_header_is_the_golden_bytes_both_ways);
	tcase_add_test(
		tc, a_header_of_another_version_is_read_but_no_other_magic_or_length);
	tcase_add_test(tc, records_are_the_golden_bytes_both_ways);
	tcase_add_test(tc, records_that_were_cut_lengthened_or_changed_are_refused);
	tcase_add_test(tc, refused_records_say_why);
	tcase_add_test(tc, a_batch_takes_any_record_and_never_more_than_a_message);
	tcase_add_test(tc, a_sealed_message_is_the_golden_bytes_both_ways);
	tcase_add_test(tc, every_cut_and_every_flipped_bit_of_a_message_is_refused);
	tcase_add_test(tc, a_message_opens_only_in_its_direction_and_session);
	tcase_add_test(tc, an_empty_message_can_be_sealed);
	tcase_add_test(tc, acks_and_nacks_keep_their_bounds);
	return unit_run("wire", tc);
}
