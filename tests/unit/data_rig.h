/*
 * data_rig - runs with attempts in a store_rig, and the records that a runner would send.
 *
 * rig_seed makes nodes 1 and 2, drives 1 and 2, a full and a scaled suite, campaign 1. A
 * struct feed is the sending side of an attempt: it numbers records and packs batches.
 */
#ifndef TESTS_UNIT_DATA_RIG_H
#define TESTS_UNIT_DATA_RIG_H

#include <inttypes.h>
#include <math.h>

#include "common/json.h"
#include "common/record.h"
#include "common/str.h"
#include "common/wire.h"
#include "controller/ingest.h"
#include "tests/unit/store_rig.h"

static inline void
rig_seed(void)
{
	rig_exec("INSERT INTO node(id, name, admin, created_ns) VALUES"
		 " (1, 'sr-01', 'active', 1), (2, 'sr-02', 'active', 1)");
	rig_exec("INSERT INTO drive(id, kind, model, serial, wwn, capacity_bytes,"
		 " logical_block_bytes, firmware, virtual, node_id, path, observed,"
		 " first_seen_ns, last_seen_ns) VALUES"
		 " (1, 'nvme', 'M1', 'S1', '', 1000, 512, 'F1', 0, 1, '/dev/x', "
		 "'present', 1, 1),"
		 " (2, 'loop', 'M2', 'S2', '', 2000, 512, 'F2', 1, 2, '/dev/y', "
		 "'present', 1, 1)");
	rig_exec("INSERT INTO suite(id, name, version, doc, digest, scaled, created_ns)"
		 " VALUES (1, 'four-corners', 1, '{}', 'x', 0, 1),"
		 " (2, 'four-corners-demo', 1, '{}', 'y', 1, 1)");
	rig_exec("INSERT INTO campaign(id, name, doc, suite_id, state, priority, owner,"
		 " labels, created_ns) VALUES (1, 'c', '{}', 1, 'running', 50, 'me', "
		 "'{}', 1)");
}

struct rig_run {
	int64_t id; /* also of its attempt */
	int64_t drive, suite, repeat;
	const char *state;   /* of the run */
	const char *attempt; /* state of the attempt */
};

/* rig_add_run makes a run and its attempt on the node with the drive's number; the fence
 * token is 100 + id. */
static inline void
rig_add_run(struct rig_run r)
{
	char sql[600];

	snprintf(sql, sizeof(sql),
		"INSERT INTO run(id, campaign_id, suite_id, drive_id, repeat, priority,"
		" state, retries_left, scaled, virtual, created_ns, finished_ns) VALUES"
		" (%" PRId64 ", 1, %" PRId64 ", %" PRId64 ", %" PRId64
		", 50, '%s', 0, %d, %d, 1, %" PRId64 ")",
		r.id, r.suite, r.drive, r.repeat, r.state, r.suite == 2, r.drive == 2,
		r.id);
	rig_exec(sql);
	snprintf(sql, sizeof(sql),
		"INSERT INTO attempt(id, run_id, number, node_id, fence, program, state,"
		" granted_ns) VALUES (%" PRId64 ", %" PRId64 ", 1, %" PRId64 ", %" PRId64
		", '{}', '%s', 1)",
		r.id, r.id, r.drive, 100 + r.id, r.attempt);
	rig_exec(sql);
}

/* rig_add_running makes the running run 1, with attempt 1, on drive 1. */
static inline void
rig_add_running(void)
{
	rig_add_run((struct rig_run){1, 1, 1, 1, "running", "running"});
}

/* The records of an attempt, in the order of their seq, and the batch under way. */
struct feed {
	uint64_t seq; /* of the last record made */
	struct wire_batch batch;
	uint8_t buf[RECORD_MAX_BYTES];
	struct sample sample;
	struct point_record point;
};

static struct feed rig_feed;

/* feed_start empties the batch. */
static inline void
feed_start(uint64_t attempt, uint64_t fence)
{
	wire_batch_start(&rig_feed.batch, attempt, fence);
}

/* feed_raw adds a record with any number. */
static inline void
feed_raw(uint64_t seq, enum record_kind kind, const void *payload, size_t len)
{
	struct spool_record rec = {
		.seq = seq,
		.kind = kind,
		.payload = payload,
		.len = len,
		.crc = record_crc(kind, seq, payload, len),
	};

	ck_assert_int_eq(wire_batch_add(&rig_feed.batch, &rec), 0);
}

static inline void
feed_text(enum record_kind kind, const char *text)
{
	feed_raw(++rig_feed.seq, kind, text, strlen(text));
}

/* feed_sample adds a second of a point with ops reads of 100 us each. */
static inline void
feed_sample(uint32_t point, uint32_t second, uint64_t ops)
{
	struct sample *s = &rig_feed.sample;

	memset(s, 0, sizeof(*s));
	s->point = point;
	s->second = second;
	s->wall_ns = 1700000000 * NS_PER_S + second * NS_PER_S;
	s->mono_ns = 1000 * NS_PER_S;
	s->length_ns = NS_PER_S;
	s->ops[DIR_READ] = ops;
	s->bytes[DIR_READ] = 4096 * ops;
	for (uint64_t i = 0; i < ops; i++)
		hist_add(&s->service[DIR_READ], 100000 + 10 * i);
	feed_raw(++rig_feed.seq, RECORD_SAMPLE, rig_feed.buf,
		sample_encode(s, rig_feed.buf, sizeof(rig_feed.buf)));
}

/* feed_start_point adds the event that a point began; load < 0: the maximum, else 100
 * IOPS are offered for each percent. */
static inline void
feed_start_point(uint32_t point, const char *workload, double load)
{
	char text[256];
	char number[32] = "null";
	char offered[32] = "null";

	if (load >= 0) {
		snprintf(number, sizeof(number), "%.1f", load);
		snprintf(offered, sizeof(offered), "%.1f", 100 * load);
	}
	snprintf(text, sizeof(text),
		"{\"event\":\"point.start\",\"at_ns\":\"1700000000000000000\",\"step\":2,"
		"\"workload\":\"%s\",\"point\":%u,\"load_percent\":%s,\"offered_iops\":"
		"%s}",
		workload, point, number, offered);
	feed_text(RECORD_EVENT, text);
}

/* feed_point adds a finished point: one second, ops reads of about lat_ns; load as in
 * feed_start_point, NAN: so many were offered without being a share of a maximum. */
static inline void
feed_point(
	uint32_t point, const char *workload, double load, uint64_t ops, uint64_t lat_ns)
{
	struct point_record *p = &rig_feed.point;
	bool open = !(load < 0);

	memset(p, 0, sizeof(*p));
	for (uint64_t i = 0; i < ops; i++) {
		hist_add(&p->service[DIR_READ], lat_ns);
		if (open)
			hist_add(&p->response[DIR_READ], 2 * lat_ns);
	}
	/* the members that a runner writes */
	p->meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:[s, s], s:[s, s], s:[s, s],"
			    " s:n, s:s, s:s, s:i, s:f, s:s, s:s, s:s, s:s, s:n}",
		"point", (int)point, "step", 2, "workload", workload, "state", "done",
		"started_ns", "1700000000000000000", "length_ns", "1000000000", "ops",
		"0", "0", "bytes", "0", "0", "errors", "0", "0", "first_error", "dropped",
		"0", "backlog_max", "0", "in_flight", 128, "in_flight_mean",
		(double)ops * (double)lat_ns / 1e9, "cpu_user_ns", "2000",
		"cpu_system_ns", "1000", "engine", "null", "seed", "7", "reference_iops");
	ck_assert_ptr_nonnull(p->meta);
	json_array_set_new(json_object_get(p->meta, "ops"), 0, json_u64(ops));
	json_array_set_new(json_object_get(p->meta, "bytes"), 0, json_u64(4096 * ops));
	json_put(p->meta, "load_percent", load >= 0 ? json_real(load) : json_null());
	json_put(p->meta, "offered_iops", open ? json_real((double)ops) : json_null());
	json_put(p->meta, "late_mean_ns", open ? json_real(2.5) : json_null());
	json_put(p->meta, "late_max_ns", open ? json_integer(40) : json_null());
	json_put(p->meta, "drain_ns", json_string("900"));
	json_put(p->meta, "missed_ns", json_string("0"));
	json_put(p->meta, "unfinished", json_string("1"));
	json_put(p->meta, "unfinished_max_ns", json_integer(900));
	json_put(p->meta, "unfinished_factor", json_real(1));
	json_put(p->meta, "compress_percent", json_real(50));
	json_put(p->meta, "dedupe_percent", json_real(20));
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

static inline void
hist_add_times(struct hist *h, int n, uint64_t ns)
{
	while (n-- > 0)
		hist_add(h, ns);
}

/*
 * feed_others adds a second and a finished point of all operations: of 1,406 IOPS offered
 * there were 1,000 reads, 400 trims, 4 write-zeroes and 2 flushes; one trim failed.
 */
static inline void
feed_others(uint32_t point, const char *workload)
{
	struct sample *s = &rig_feed.sample;
	struct point_record *p = &rig_feed.point;

	memset(p, 0, sizeof(*p));
	hist_add_times(&p->service[DIR_READ], 1000, 100);
	hist_add_times(&p->service[DIR_TRIM], 400, 5000);
	hist_add_times(&p->response[DIR_TRIM], 400, 7000);
	hist_add_times(&p->service[DIR_ZERO], 4, 9000);
	hist_add_times(&p->service[DIR_FLUSH], 2, 1000000);
	memset(s, 0, sizeof(*s));
	s->point = point;
	s->length_ns = NS_PER_S;
	s->ops[DIR_READ] = 1000;
	s->ops[DIR_TRIM] = 400;
	s->bytes[DIR_TRIM] = 400 * 65536;
	s->errors[DIR_TRIM] = 1;
	s->ops[DIR_ZERO] = 4;
	s->ops[DIR_FLUSH] = 2;
	memcpy(s->service, p->service, sizeof(s->service));
	memcpy(s->response, p->response, sizeof(s->response));
	feed_raw(++rig_feed.seq, RECORD_SAMPLE, rig_feed.buf,
		sample_encode(s, rig_feed.buf, sizeof(rig_feed.buf)));
	p->meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:[s, s], s:[s, s], s:[s, s],"
			    " s:{s:{s:s, s:s, s:s}, s:{s:s}, s:{s:s}}, s:f, s:i}",
		"point", (int)point, "step", 2, "workload", workload, "state", "done",
		"started_ns", "1700000000000000000", "length_ns", "1000000000", "ops",
		"1000", "0", "bytes", "4096000", "0", "errors", "0", "0", "others",
		"trim", "ops", "400", "bytes", "26214400", "errors", "1", "write_zeroes",
		"ops", "4", "flush", "ops", "2", "offered_iops", 1406.0, "in_flight", 1);
	ck_assert_ptr_nonnull(p->meta);
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

/* feed_trims adds a finished point without reads and writes: a second of ops trims of
 * 64 KiB, each of lat_ns, and a flush of ten times that; load as in feed_start_point. */
static inline void
feed_trims(uint32_t point, const char *workload, double load, int ops, uint64_t lat_ns)
{
	struct point_record *p = &rig_feed.point;

	memset(p, 0, sizeof(*p));
	hist_add_times(&p->service[DIR_TRIM], ops, lat_ns);
	hist_add_times(&p->service[DIR_FLUSH], 1, 10 * lat_ns);
	if (load >= 0) {
		hist_add_times(&p->response[DIR_TRIM], ops, 2 * lat_ns);
		hist_add_times(&p->response[DIR_FLUSH], 1, 20 * lat_ns);
	}
	p->meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:[s, s], s:[s, s], s:[s, s],"
			    " s:{s:{s:o, s:o}, s:{s:s}}, s:i}",
		"point", (int)point, "step", 2, "workload", workload, "state", "done",
		"started_ns", "1700000000000000000", "length_ns", "1000000000", "ops",
		"0", "0", "bytes", "0", "0", "errors", "0", "0", "others", "trim", "ops",
		json_u64((uint64_t)ops), "bytes", json_u64((uint64_t)ops * 65536),
		"flush", "ops", "1", "in_flight", 1);
	ck_assert_ptr_nonnull(p->meta);
	json_put(p->meta, "load_percent", load >= 0 ? json_real(load) : json_null());
	json_put(p->meta, "offered_iops", load >= 0 ? json_real(ops + 1) : json_null());
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

/* What a runner tells of a point in which everything went wrong; length 60 s. */
static const char rig_marked[] =
	"{\"step\":2,\"state\":\"done\",\"started_ns\":\"1700000000000000000\","
	"\"length_ns\":\"60000000000\",\"ops\":[\"6000\",\"0\"],"
	"\"bytes\":[\"24576000\",\"0\"],\"errors\":[\"0\",\"0\"],"
	"\"in_flight\":16,\"workers\":1,\"shape\":{\"seconds\":60,\"speed\":\"iops\","
	"\"cliff\":{\"at_ns\":\"40000000000\",\"after_bytes\":\"20000000\","
	"\"from\":140.0,\"to\":20.0},"
	"\"spells\":{\"count\":3,\"length_ns\":\"9000000000\",\"fast\":140.0,"
	"\"slow\":70.0},"
	"\"stalls\":{\"count\":2,\"longest_ns\":\"1500000000\","
	"\"at_ns\":\"7000000000\"}},\"start_lag_ns\":\"700000000\",\"readings\":"
	"{\"clock_step_ns\":-1500000000,\"own_read_bytes\":\"24576000\","
	"\"other_read_bytes\":\"0\",\"other_written_bytes\":\"12000000\","
	"\"drive_in_flight\":15.5,\"link\":{\"gts\":8.0,\"width\":4,\"end_gts\":8.0,"
	"\"end_width\":2,\"max_gts\":16.0,\"max_width\":4},\"aer\":{\"correctable\":"
	"\"2\",\"nonfatal\":\"0\",\"fatal\":\"0\"},\"heat\":{\"transitions\":\"1\","
	"\"seconds\":\"30\",\"temperature_c\":71,\"warning_c\":70}}}";

/* feed_marked adds that point, and one second of its 60. */
static inline void
feed_marked(uint32_t point, const char *workload)
{
	struct point_record *p = &rig_feed.point;
	struct err e = {0};

	feed_sample(point, 0, 100);
	memset(p, 0, sizeof(*p));
	hist_add_times(&p->service[DIR_READ], 6000, 100000);
	ck_assert_int_eq(json_parse(rig_marked, sizeof(rig_marked) - 1, &p->meta, &e), 0);
	json_put(p->meta, "point", json_integer(point));
	json_put(p->meta, "workload", json_string(workload));
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

static inline void
feed_result(const char *state)
{
	char text[200];

	snprintf(text, sizeof(text),
		"{\"state\":\"%s\",\"class\":null,\"reason\":\"\",\"points\":1,"
		"\"samples\":1,"
		"\"last_seq\":\"%" PRIu64 "\"}",
		state, rig_feed.seq + 1);
	feed_text(RECORD_RESULT, text);
}

struct rig_ingest {
	struct ingest_batch batch;
	struct ingest_answer answer;
};

static int
rig_ingest_job(struct tx *t, void *arg, struct err *e)
{
	struct rig_ingest *x = arg;

	return ingest_batch(t, &x->batch, &x->answer, e);
}

/* feed_send gives the batch to ingest as node would; 0, or -1 with e. */
static inline int
feed_send(int64_t node, struct ingest_answer *ret_a, struct err *ret_e)
{
	struct rig_ingest x = {.batch.node = node};
	int rc;

	x.batch.payload = wire_batch_payload(&rig_feed.batch, &x.batch.len);
	rc = rig_write(rig_ingest_job, &x, ret_e);
	*ret_a = x.answer;
	return rc;
}

static inline void
feed_reset(void)
{
	wire_batch_fini(&rig_feed.batch);
	rig_feed.seq = 0;
}

/* data_up and data_down are the fixture of tests that need no more than that. */
static inline void
data_up(void)
{
	rig_up();
	rig_seed();
	feed_reset();
}

static inline void
data_down(void)
{
	feed_reset();
	rig_down();
}

#endif
