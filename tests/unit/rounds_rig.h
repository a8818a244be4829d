/*
 * rounds_rig - records of a test in rounds, as a runner sends them.
 *
 * The test "iops" is step 2 of the program: cell 1 reads, cell 2 writes and is tracked; a
 * cell w512 is left out. For data_rig's feed.
 */
#ifndef TESTS_UNIT_ROUNDS_RIG_H
#define TESTS_UNIT_ROUNDS_RIG_H

#include "tests/unit/data_rig.h"

/* rounds_program gives an attempt that program. */
static inline void
rounds_program(int64_t attempt)
{
	static const char program[] =
		"{\"steps\":[{\"step\":\"identify\"},{\"step\":\"rounds\",\"test\":"
		"\"iops\","
		"\"rounds\":{\"cells\":[{\"workload\":{\"id\":\"r100\",\"read_percent\":"
		"100,"
		"\"random_percent\":100,\"block_bytes\":4096,\"in_flight\":32,"
		"\"workers\":1}},"
		"{\"workload\":{\"id\":\"r0\",\"read_percent\":0,\"random_percent\":100,"
		"\"block_bytes\":4096,\"in_flight\":32,\"workers\":1}}],\"tracking\":[{"
		"\"cell\":2,\"metric\":\"iops\"}],\"window\":5,\"range_percent\":20.0,"
		"\"slope_percent\":10.0,\"max_rounds\":25,\"stop_bytes\":\"0\","
		"\"left_out\":[\"w512\"],\"left_out_for\":\"health\"}}]}";
	char sql[1200];

	snprintf(sql, sizeof(sql),
		"UPDATE attempt SET program = '%s' WHERE id = %" PRId64, program,
		attempt);
	rig_exec(sql);
}

/* What the next cells say of polls, JSON; NULL: nothing. */
static const char *feed_polls;

/* feed_cell adds a finished point of a cell: a second, ops I/Os of lat_ns; an error when
 * its round is void. */
static inline void
feed_cell(uint32_t point, uint32_t round, uint32_t cell, uint64_t ops, uint64_t lat_ns)
{
	struct point_record *p = &rig_feed.point;
	enum direction dir = cell == 1 ? DIR_READ : DIR_WRITE;

	memset(p, 0, sizeof(*p));
	for (uint64_t i = 0; i < ops; i++)
		hist_add(&p->service[dir], lat_ns);
	p->meta = json_pack("{s:i, s:i, s:s, s:s, s:i, s:i, s:n, s:n, s:s, s:s, s:s,"
			    " s:[s, s], s:[s, s], s:[s, s], s:s, s:i}",
		"point", (int)point, "step", 2, "workload",
		cell == 1 ? "iops/r100" : "iops/r0", "test", "iops", "round", (int)round,
		"cell", (int)cell, "load_percent", "offered_iops", "state", "done",
		"started_ns", "1700000000000000000", "length_ns", "1000000000", "ops",
		"0", "0", "bytes", "0", "0", "errors", "0", "0", "written_bytes", "0",
		"in_flight", 32);
	ck_assert_ptr_nonnull(p->meta);
	if (feed_polls != NULL)
		json_put(p->meta, "health_polls", json_loads(feed_polls, 0, NULL));
	json_array_set_new(json_object_get(p->meta, "ops"), dir, json_u64(ops));
	json_array_set_new(json_object_get(p->meta, "bytes"), dir, json_u64(4096 * ops));
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

/* feed_round_end adds the end of a round; why_void NULL: it counts. */
static inline void
feed_round_end(uint32_t round, const char *why_void, double value)
{
	char text[600], is_void[100] = "null";

	if (why_void != NULL)
		snprintf(is_void, sizeof(is_void), "\"%s\"", why_void);
	snprintf(text, sizeof(text),
		"{\"event\":\"round.end\",\"at_ns\":\"1700000000000000000\",\"step\":2,"
		"\"test\":\"iops\",\"written_bytes\":\"4096\",\"round\":%u,"
		"\"first_point\":%u,\"void\":%s,\"verdict\":\"not_yet\",\"tracking\":[{"
		"\"cell\":\"iops/r0\",\"metric\":\"iops\",\"value\":%g,\"mean\":null,"
		"\"steady\":false}]}",
		round, 2 * round - 1, is_void, value);
	feed_text(RECORD_EVENT, text);
}

/* feed_round adds both cells of a round and its end; the points are 2 * round - 1 and the
 * next. The I/Os of cell 1 take 100 us, those of cell 2 lat_ns. */
static inline void
feed_round(uint32_t round, const char *why_void, uint64_t ops, uint64_t lat_ns)
{
	feed_cell(2 * round - 1, round, 1, 2 * ops, 100000);
	feed_cell(2 * round, round, 2, ops, lat_ns);
	feed_round_end(round, why_void, (double)ops);
}

/* feed_end adds the end of a test, with more members in their order. */
static inline void
feed_end(const char *test, const char *verdict, const char *members)
{
	char text[1000];

	snprintf(text, sizeof(text),
		"{\"event\":\"steady\",\"step\":2,\"test\":\"%s\",\"verdict\":\"%s\",%s}",
		test, verdict, members);
	feed_text(RECORD_EVENT, text);
}

/* feed_steady adds the end of the test; first 0: no window. */
static inline void
feed_steady(const char *verdict, uint32_t rounds, uint32_t first)
{
	char text[800], window[64] = "\"first_round\":null,\"last_round\":null";

	if (first > 0)
		snprintf(window, sizeof(window), "\"first_round\":%u,\"last_round\":%u",
			first, rounds);
	snprintf(text, sizeof(text),
		"\"at_ns\":\"1700000000000000000\",\"written_bytes\":\"8192\","
		"\"ended_by\":\"max_rounds\",\"rounds\":%u,\"void_rounds\":1,%s,"
		"\"window\":5,\"range_percent\":20.0,\"slope_percent\":10.0,"
		"\"max_rounds\":25,\"tracking\":[{\"cell\":\"iops/"
		"r0\",\"metric\":\"iops\","
		"\"mean\":100.0,\"range\":4.0,\"range_allowed\":20.0,"
		"\"range_ratio\":0.04,\"slope\":-0.3,\"intercept\":100.9,"
		"\"correlation\":-0.3,\"rise\":1.2,\"rise_allowed\":10.0,"
		"\"slope_ratio\":0.012,\"steady\":true,"
		"\"values\":[100.0,102.0,98.0,101.0,99.0]}]",
		rounds, window);
	feed_end("iops", verdict, text);
}

#endif
