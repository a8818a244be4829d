#include "common/record.h"

#include "common/json.h"
#include "tests/unit/golden.h"
#include "tests/unit/unit.h"

static uint8_t buf[RECORD_MAX_BYTES], buf2[RECORD_MAX_BYTES];
static struct sample s, s2;
static struct point_record p, p2;

static void
fill_sample(struct sample *x)
{
	memset(x, 0, sizeof(*x));
	x->point = 2;
	x->second = 7;
	x->flags = SAMPLE_WARMUP;
	x->in_flight = 32;
	x->wall_ns = 1700000000123456789;
	x->mono_ns = 5000000000;
	x->length_ns = 1000000001;
	x->backlog = 3;
	x->dropped = 4;
	x->ops[DIR_READ] = 5;
	x->ops[DIR_WRITE] = 1;
	x->bytes[DIR_READ] = 5 * 4096;
	x->bytes[DIR_WRITE] = 65536;
	x->errors[DIR_WRITE] = 1;
	for (int i = 0; i < 3; i++)
		hist_add(&x->service[DIR_READ], 100);
	hist_add(&x->service[DIR_READ], 300);
	hist_add(&x->service[DIR_READ], 301);
	hist_add(&x->service[DIR_WRITE], 2000000);
}

START_TEST(a_sample_is_the_golden_bytes_both_ways)
{
	struct err e = {0};
	size_t n, want = golden("sample.hex", buf2, sizeof(buf2));

	fill_sample(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	SAME(buf, n, buf2, want);
	OK(sample_decode(&s2, buf, n, &e));
	ck_assert_uint_eq(s2.point, 2);
	ck_assert_uint_eq(s2.second, 7);
	ck_assert_uint_eq(s2.flags, SAMPLE_WARMUP);
	ck_assert_uint_eq(s2.in_flight, 32);
	ck_assert_int_eq(s2.wall_ns, 1700000000123456789);
	ck_assert_int_eq(s2.mono_ns, 5000000000);
	ck_assert_int_eq(s2.length_ns, 1000000001);
	ck_assert_uint_eq(s2.bytes[DIR_WRITE], 65536);
	ck_assert_uint_eq(s2.errors[DIR_WRITE], 1);
	ck_assert_uint_eq(s2.service[DIR_READ].sum_ns, 901);
	ck_assert_mem_eq(&s2.service[0], &s.service[0], sizeof(s.service));
}
END_TEST

/* Two operations that went well and one that did not. */
static void
add_others(struct sample *x)
{
	x->ops[DIR_TRIM] = 3;
	x->bytes[DIR_TRIM] = 3 << 20;
	for (uint64_t us = 5; us <= 7; us++) {
		hist_add(&x->service[DIR_TRIM], 1000 * us);
		hist_add(&x->response[DIR_TRIM], 1000 * (us + 3));
	}
	x->errors[DIR_ZERO] = 1;
	x->ops[DIR_FLUSH] = 2;
	hist_add(&x->service[DIR_FLUSH], 1000000);
	hist_add(&x->service[DIR_FLUSH], 3000000);
}

START_TEST(trims_zeroes_and_flushes_follow_in_the_golden_bytes)
{
	struct err e = {0};
	size_t n, want = golden("sample-others.hex", buf2, sizeof(buf2));

	fill_sample(&s);
	add_others(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	SAME(buf, n, buf2, want);
	memset(&s2, 0xff, sizeof(s2));
	OK(sample_decode(&s2, buf, n, &e));
	ck_assert_mem_eq(&s2, &s, sizeof(s));
	/* Without them nothing is left of what was there. */
	fill_sample(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	OK(sample_decode(&s2, buf, n, &e));
	ck_assert_mem_eq(&s2, &s, sizeof(s));
}
END_TEST

START_TEST(operations_that_no_runner_writes_are_refused)
{
	struct err e = {0};
	size_t n;

	fill_sample(&s);
	add_others(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	for (unsigned bit = 3; bit < 16; bit++) {
		memcpy(buf2, buf, n);
		buf2[2 + bit / 8] |= (uint8_t)(1U << bit % 8);
		FAILS(sample_decode(&s2, buf2, n, &e), ERR_INVALID, "not known here");
	}
	for (unsigned bit = 0; bit < 3; bit++) {
		memcpy(buf2, buf, n);
		buf2[2] &= (uint8_t) ~(1U << bit);
		FAILS(sample_decode(&s2, buf2, n, &e), ERR_INVALID, "");
	}
	/* the number of trims is at byte 135 */
	memcpy(buf2, buf, n);
	buf2[142] = 0x41;
	FAILS(sample_decode(&s2, buf2, n, &e), ERR_INVALID,
		"impossible counters of operation trim");
	s.bytes[DIR_FLUSH] = 512;
	n = sample_encode(&s, buf, sizeof(buf));
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID,
		"impossible counters of operation flush");
}
END_TEST

START_TEST(a_sample_is_emptied_whatever_it_held)
{
	static const struct sample empty;

	fill_sample(&s);
	add_others(&s);
	sample_reset(&s);
	ck_assert_mem_eq(&s, &empty, sizeof(s));
}
END_TEST

START_TEST(every_shorter_or_longer_sample_is_refused)
{
	struct err e = {0};
	size_t n;

	fill_sample(&s);
	if (_i == 1)
		add_others(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	for (size_t k = 0; k < n; k++)
		FAILS(sample_decode(&s2, buf, k, &e), ERR_INVALID, "");
	buf[n] = 0;
	FAILS(sample_decode(&s2, buf, n + 1, &e), ERR_INVALID, "1 bytes follow");
}
END_TEST

START_TEST(samples_that_no_runner_writes_are_refused)
{
	struct err e = {0};
	size_t n;

	fill_sample(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	memset(buf + 4, 0, 4);
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "has no point");
	buf[4] = 1;
	memset(buf + 40, 0xff, 8);
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "at byte 40");
	buf[47] = 1;
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "ns long");
	memset(buf + 40, 0, 8);
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "is 0 ns long");
	buf[40] = 1;
	buf[111] = 0x41;
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "at byte 104");
	buf[111] = 0;
	OK(sample_decode(&s2, buf, n, &e));
	buf[0] = 111;
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "111 fixed bytes");
	buf[0] = buf[1] = 0xff;
	FAILS(sample_decode(&s2, buf, n, &e), ERR_INVALID, "65535 fixed bytes");
}
END_TEST

START_TEST(fields_that_a_later_version_adds_are_passed_over)
{
	struct err e = {0};
	size_t n;

	fill_sample(&s);
	n = sample_encode(&s, buf, sizeof(buf));
	memmove(buf + 120, buf + 112, n - 112);
	memset(buf + 112, 0xaa, 8);
	buf[0] = 120;
	OK(sample_decode(&s2, buf, n + 8, &e));
	ck_assert_mem_eq(&s2.service[0], &s.service[0], sizeof(s.service));
}
END_TEST

static void
fill_hist(struct hist *h)
{
	/* Far more I/Os in every bucket than any second or point has. */
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		hist_add(h, hist_low(i));
		h->count[i] += UINT64_C(1) << 36;
		h->n += UINT64_C(1) << 36;
		h->sum_ns += hist_low(i) << 8;
	}
}

START_TEST(the_fullest_sample_and_point_fit_a_record)
{
	size_t n;

	fill_sample(&s);
	memset(&p, 0, sizeof(p));
	for (int d = 0; d < DIRECTIONS; d++) {
		fill_hist(&s.service[d]);
		fill_hist(&s.response[d]);
		fill_hist(&p.service[d]);
		fill_hist(&p.response[d]);
	}
	n = sample_encode(&s, buf, sizeof(buf));
	ck_assert_uint_gt(n, 120U << 10);
	ck_assert_uint_le(n, RECORD_MAX_BYTES);
	p.meta = json_pack("{s:s%,s:{s:{},s:{},s:{}}}", "x", memset(buf2, 'x', 12000),
		(size_t)12000, "others", "trim", "write_zeroes", "flush");
	n = point_encode(&p, buf, sizeof(buf));
	ck_assert_uint_gt(n, 120U << 10);
	ck_assert_uint_le(n, RECORD_MAX_BYTES);
	point_record_fini(&p);
}
END_TEST

START_TEST(merged_samples_hold_the_sum_of_both)
{
	fill_sample(&s);
	fill_sample(&s2);
	s2.second = 8;
	s2.flags = 0;
	s2.in_flight = 5;
	s2.backlog = 9;
	hist_add(&s2.response[DIR_READ], 77);
	add_others(&s2);
	sample_merge(&s, &s2);
	ck_assert_uint_eq(s.flags, SAMPLE_WARMUP | SAMPLE_MERGED);
	ck_assert_uint_eq(s.second, 7);
	ck_assert_uint_eq(s.in_flight, 5);
	ck_assert_uint_eq(s.backlog, 9);
	ck_assert_uint_eq(s.dropped, 8);
	ck_assert_int_eq(s.length_ns, 2000000002);
	ck_assert_int_eq(s.mono_ns, 5000000000);
	ck_assert_uint_eq(s.ops[DIR_READ], 10);
	ck_assert_uint_eq(s.bytes[DIR_WRITE], 131072);
	ck_assert_uint_eq(s.errors[DIR_WRITE], 2);
	ck_assert_uint_eq(s.service[DIR_READ].n, 10);
	ck_assert_uint_eq(s.response[DIR_READ].n, 1);
	ck_assert_uint_eq(s.ops[DIR_TRIM], 3);
	ck_assert_uint_eq(s.errors[DIR_ZERO], 1);
	ck_assert_uint_eq(s.service[DIR_FLUSH].n, 2);
}
END_TEST

static void
fill_point(struct point_record *x)
{
	fill_sample(&s);
	memset(x, 0, sizeof(*x));
	x->meta = json_pack("{s:i,s:s}", "point", 2, "state", "done");
	x->service[DIR_READ] = s.service[DIR_READ];
}

START_TEST(a_point_is_the_golden_bytes_both_ways)
{
	struct err e = {0};
	size_t n, want = golden("point.hex", buf2, sizeof(buf2));

	fill_point(&p);
	n = point_encode(&p, buf, sizeof(buf));
	SAME(buf, n, buf2, want);
	OK(point_decode(&p2, buf, n, &e));
	ck_assert(json_equal(p.meta, p2.meta));
	ck_assert_mem_eq(&p2.service, &p.service, sizeof(p.service));
	ck_assert_mem_eq(&p2.response, &p.response, sizeof(p.response));
	point_record_fini(&p2);
	for (size_t k = 0; k < n; k++) {
		FAILS(point_decode(&p2, buf, k, &e), ERR_INVALID, "");
		ck_assert_ptr_null(p2.meta);
	}
	FAILS(point_decode(&p2, buf, n + 1, &e), ERR_INVALID, "1 bytes follow");
	point_record_fini(&p);
	point_record_fini(&p);
}
END_TEST

START_TEST(a_point_names_the_further_histograms_it_has)
{
	struct err e = {0};
	size_t n, want = golden("point-others.hex", buf2, sizeof(buf2));

	fill_point(&p);
	json_put(p.meta, "others",
		json_pack("{s:{s:s,s:s,s:s}}", "flush", "ops", "2", "bytes", "0",
			"errors", "0"));
	hist_add(&p.service[DIR_FLUSH], 1000000);
	hist_add(&p.service[DIR_FLUSH], 3000000);
	n = point_encode(&p, buf, sizeof(buf));
	SAME(buf, n, buf2, want);
	memset(&p2, 0xff, sizeof(p2));
	OK(point_decode(&p2, buf, n, &e));
	ck_assert(json_equal(p.meta, p2.meta));
	ck_assert_mem_eq(&p2.service, &p.service, sizeof(p.service));
	ck_assert_mem_eq(&p2.response, &p.response, sizeof(p.response));
	point_record_fini(&p2);
	for (size_t k = 0; k < n; k++)
		FAILS(point_decode(&p2, buf, k, &e), ERR_INVALID, "");
	FAILS(point_decode(&p2, buf, n + 1, &e), ERR_INVALID, "1 bytes follow");
	point_record_fini(&p);
}
END_TEST

static const char *const bad_others[] = {"{\"others\":[]}", "{\"others\":7}",
	"{\"others\":{\"copy\":{}}}", "{\"others\":{\"flush\":{},\"read\":{}}}"};

START_TEST(a_point_with_operations_not_known_here_is_refused)
{
	const char *text = bad_others[_i];
	uint8_t bytes[100] = {(uint8_t)strlen(text)};
	struct err e = {0};

	memcpy(bytes + 4, text, strlen(text));
	FAILS(point_decode(&p2, bytes, 4 + strlen(text) + 4, &e), ERR_INVALID,
		"not known here");
}
END_TEST

START_TEST(a_point_without_proper_facts_is_refused)
{
	static const uint8_t array[] = {2, 0, 0, 0, '[', ']', 0, 0, 0, 0};
	static const uint8_t text[] = {2, 0, 0, 0, '{', ' ', 0, 0, 0, 0};
	static const uint8_t huge[] = {255, 255, 255, 255, '{', '}', 0, 0, 0, 0};
	struct err e = {0};

	FAILS(point_decode(&p2, array, sizeof(array), &e), ERR_INVALID, "no object");
	FAILS(point_decode(&p2, text, sizeof(text), &e), ERR_INVALID,
		"facts of a point: line 1");
	FAILS(point_decode(&p2, huge, sizeof(huge), &e), ERR_INVALID, "end too early");
	memset(&p, 0, sizeof(p));
	ck_assert_uint_eq(point_encode(&p, buf, sizeof(buf)), 0);
	p.meta = json_pack("{s:s%}", "x", memset(buf2, 'x', 60000), (size_t)60000);
	ck_assert_uint_eq(point_encode(&p, buf, sizeof(buf)), 0);
	point_record_fini(&p);
}
END_TEST

START_TEST(the_checksum_covers_kind_number_and_payload)
{
	static const uint8_t text[] = "{\"event\":\"note\"}";
	size_t n = sizeof(text) - 1;
	uint32_t crc = record_crc(RECORD_EVENT, 7, text, n);

	ck_assert_uint_eq(crc, 0x84ff9b03);
	ck_assert_uint_ne(record_crc(RECORD_RESULT, 7, text, n), crc);
	ck_assert_uint_ne(record_crc(RECORD_EVENT, 8, text, n), crc);
	ck_assert_uint_ne(record_crc(RECORD_EVENT, 7, text, n - 1), crc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("record");

	tcase_add_test(tc, a_sample_is_the_golden_bytes_both_ways);
	tcase_add_test(tc, trims_zeroes_and_flushes_follow_in_the_golden_bytes);
	tcase_add_test(tc, operations_that_no_runner_writes_are_refused);
	tcase_add_test(tc, a_sample_is_emptied_whatever_it_held);
	tcase_add_loop_test(tc, every_shorter_or_longer_sample_is_refused, 0, 2);
	tcase_add_test(tc, samples_that_no_runner_writes_are_refused);
	tcase_add_test(tc, fields_that_a_later_version_adds_are_passed_over);
	tcase_add_test(tc, the_fullest_sample_and_point_fit_a_record);
	tcase_add_test(tc, merged_samples_hold_the_sum_of_both);
	tcase_add_test(tc, a_point_is_the_golden_bytes_both_ways);
	tcase_add_test(tc, a_point_names_the_further_histograms_it_has);
	tcase_add_loop_test(tc, a_point_with_operations_not_known_here_is_refused, 0, 4);
	tcase_add_test(tc, a_point_without_proper_facts_is_refused);
	tcase_add_test(tc, the_checksum_covers_kind_number_and_payload);
	return unit_run("record", tc);
}
