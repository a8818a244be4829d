/*
 * bench limits - how long the largest requests take, against the bounds they have to
 * keep.
 *
 * A campaign of 1,000 drives with 20 workloads of 13 points each: planned, submitted, and
 * passed over by the scheduler with every drive free; several whose runs start together;
 * one that reuses preparation, of drives with a long past. The curves with all their
 * facts and all percentiles of a run with 20 x 13 points, read from the database.
 * Requests go from the text of their body to the text of their answer, through the
 * handlers and a real store.
 *
 *   bench/limits FOLDER-OF-SUITES
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "controller/suites.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/model_rig.h"

#define SUITE "storagereview-2021@1"
#define NODES 50
#define DRIVES 1000
#define WORKLOADS 20
#define POINTS 13
#define IOS_PER_POINT 200000
#define REPEATS 20
#define TOGETHER 5  /* campaigns */
#define ATTEMPTS 40 /* at each drive, before */

#define PLAN_SECONDS 1.0
#define PLAN_BYTES (200.0 * 1048576)
#define CURVE_SECONDS 0.050

static const char *suites;

/* The most memory that this process has had so far, in bytes. */
static double
peak_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	double kib = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "VmHWM: %lf", &kib);
	fclose(f);
	ck_assert(kib > 0);
	return kib * 1024;
}

/* Time on the wall, and of this process on its processors. Others on the machine make the
 * first longer, not the second, which is what is held against a bound. */
struct seconds {
	double wall, cpu;
};

static double
cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct seconds
now(void)
{
	return (struct seconds){(double)clock_mono() / (double)NS_PER_S, cpu_seconds()};
}

static struct seconds
since(struct seconds start)
{
	struct seconds s = now();

	return (struct seconds){s.wall - start.wall, s.cpu - start.cpu};
}

/* Prints what was measured; a bound that is not kept ends the benchmark. */
static void
tell(const char *what, struct seconds s, double bound)
{
	printf("%-34s %8.1f ms %8.1f ms of processor", what, s.wall * 1e3, s.cpu * 1e3);
	if (bound > 0)
		printf("   bound %.0f ms", bound * 1e3);
	printf("\n");
	fflush(stdout);
	ck_assert_msg(!(bound > 0) || s.cpu < bound, "%s: too slow", what);
}

/* A request from the text of its body to the text of its answer: its seconds. */
static struct seconds
request(api_fn *fn, int64_t id, const char *query, const char *body)
{
	struct seconds start = now();
	json_t *doc = NULL;
	struct err e = {0};
	struct str text = {0};

	if (body != NULL)
		OK(json_parse(body, strlen(body), &doc, &e));
	lab_query = query;
	OK(lab_ask(fn, id, doc, &e));
	json_write(lab_call.doc, &text);
	ck_assert_uint_gt(text.len, 0);
	str_fini(&text);
	return since(start);
}

static void
add_drives(void)
{
	char sql[900];

	snprintf(sql, sizeof(sql),
		"WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i "
		"< %d)"
		" INSERT INTO node(id, name, admin, observed, max_runs, created_ns)"
		" SELECT i, 'sr-' || i, 'active', 'online', %d, 1 FROM k",
		NODES, DRIVES);
	rig_exec(sql);
	snprintf(sql, sizeof(sql),
		"WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i "
		"< %d)"
		" INSERT INTO drive(id, kind, model, serial, wwn, capacity_bytes,"
		" logical_block_bytes, firmware, virtual, node_id, path, admin, observed,"
		" first_seen_ns, last_seen_ns) SELECT i, 'nvme', 'Model of a drive',"
		" printf('SERIAL%%06d', i), printf('eui.%%016d', i), 7681501126656, 512,"
		" 'FW1', 0, 1 + i %% %d, '/dev/nvme' || i || 'n1', 'destructive', "
		"'present',"
		" 1, 1 FROM k",
		DRIVES, NODES);
	rig_exec(sql);
}

/* The text of a campaign over all drives, with one more member; owned by the caller. */
static char *
campaign_text(const char *name, json_t *value)
{
	json_t *drives = json_array();
	json_t *doc;
	char *text;

	for (int i = 1; i <= DRIVES; i++) {
		json_t *d = json_object();

		json_put(d, "serial", json_sprintf("SERIAL%06d", i));
		json_put(d, "model", json_string("Model of a drive"));
		json_put(d, "wwn", json_sprintf("eui.%016d", i));
		json_array_append_new(drives, d);
	}
	doc = json_pack("{s:s, s:s, s:s, s:o}", "ssdlab", "campaign/v1", "name",
		"as large as it gets", "suite", SUITE, "drives", drives);
	ck_assert_ptr_nonnull(doc);
	json_put(doc, name, value);
	text = json_dumps(doc, 0);
	json_decref(doc);
	return text;
}

static void
fleet_up(void)
{
	struct err e = {0};

	lab_up();
	OK(rig_write(suites_load, (void *)(uintptr_t)suites, &e));
	add_drives();
}

static struct seconds
pass(void)
{
	struct seconds start = now();
	struct err e = {0};

	OK(rig_write(sched_pass, NULL, &e));
	return since(start);
}

START_TEST(a_campaign_of_a_thousand_drives)
{
	char *text = campaign_text("repeats", json_integer(1));

	fleet_up();
	printf("campaign of %d drives, %s, body of %zu bytes\n", DRIVES, SUITE,
		strlen(text));
	tell("plan", request(api_campaigns_post, 0, "dry_run=plan", text), PLAN_SECONDS);
	ck_assert_uint_eq(
		json_array_size(json_object_get(lab_call.doc, "drives")), DRIVES);
	tell("submit", request(api_campaigns_post, 0, "", text), PLAN_SECONDS);
	tell("plan behind it", request(api_campaigns_post, 0, "dry_run=plan", text),
		PLAN_SECONDS);
	tell("scheduling pass, all granted", pass(), PLAN_SECONDS);
	rig_is("SELECT count(*) FROM attempt WHERE state = 'granted'", "1000");
	printf("memory at most %.1f MiB, bound %.0f MiB\n", peak_bytes() / 1048576,
		PLAN_BYTES / 1048576);
	ck_assert_msg(peak_bytes() < PLAN_BYTES, "too much memory");
	free(text);
	lab_down();
}
END_TEST

START_TEST(runs_that_start_together)
{
	char *text = campaign_text("together", json_true());

	fleet_up();
	printf("campaigns of %d drives that start together\n", DRIVES);
	tell("plan", request(api_campaigns_post, 0, "dry_run=plan", text), PLAN_SECONDS);
	for (int i = 0; i < TOGETHER; i++)
		tell("submit", request(api_campaigns_post, 0, "", text), PLAN_SECONDS);
	tell("scheduling pass, one granted", pass(), PLAN_SECONDS);
	rig_is("SELECT count(*) FROM attempt WHERE state = 'granted'", "1000");
	tell("scheduling pass, none", pass(), PLAN_SECONDS);
	tell("plan behind them", request(api_campaigns_post, 0, "dry_run=plan", text),
		PLAN_SECONDS);
	free(text);
	lab_down();
}
END_TEST

/* Closes the store and opens it again: what was made is in its file, and no later request
 * pays for that. */
static void
reopen(void)
{
	char path[128];
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/ssdlab.db", rig_dir);
	store_close(rig_store);
	OK(store_open(&rig_store, path, rig_loop, &e));
	store_on_notify(rig_store, rig_count, NULL);
}

/* Gives each drive ATTEMPTS attempts that purged it once, and filled and wrote it since;
 * the last one has only filled it. */
static void
add_pasts(void)
{
	char sql[700];

	rig_exec("INSERT INTO campaign(id, name, doc, suite_id, state, priority, owner,"
		 " labels, created_ns) VALUES (1, 'c', '{}', 1, 'done', 50, 'me', '{}', "
		 "1)");
	snprintf(sql, sizeof(sql),
		"WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i "
		"< %d)"
		" INSERT INTO run(id, campaign_id, suite_id, drive_id, repeat, priority,"
		" state, retries_left, scaled, virtual, created_ns)"
		" SELECT i, 1, 1, 1 + i %% %d, i / %d, 50, 'done', 0, 0, 0, 1 FROM k",
		ATTEMPTS * DRIVES, DRIVES, DRIVES);
	rig_exec(sql);
	rig_exec("INSERT INTO attempt(id, run_id, number, node_id, fence, program, state,"
		 " granted_ns, witness_found, witness_left) SELECT id, id, 1, 1, id,"
		 " '{}', 'sealed', 1, 'w' || (id - 1000), 'w' || id FROM run");
	rig_exec("INSERT INTO lease(drive_id, attempt_id, fence, granted_ns, released_ns)"
		 " SELECT drive_id, id, id, 1, 1 FROM run");
	snprintf(sql, sizeof(sql),
		"WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i "
		"< %d)"
		" INSERT INTO ledger(drive_id, attempt_id, seq, kind, at_ns,"
		" written_bytes, detail) SELECT drive_id, id, i, CASE WHEN i > 1 THEN"
		" 'workload' WHEN id <= %d THEN 'purge' ELSE 'fill' END, 1, 4096,"
		" '{\"state\":\"done\",\"step\":2,\"workload\":\"w\"}' FROM run, k"
		" WHERE i = 1 OR id <= %d",
		WORKLOADS * POINTS / 10, DRIVES, (ATTEMPTS - 1) * DRIVES);
	rig_exec(sql);
	reopen();
}

START_TEST(preparation_that_the_past_of_each_drive_may_spare)
{
	char *text = campaign_text("preparation", json_string("reuse"));

	fleet_up();
	add_pasts();
	printf("campaign of %d drives with a past of %d attempts, preparation reused\n",
		DRIVES, ATTEMPTS);
	tell("plan", request(api_campaigns_post, 0, "dry_run=plan", text), PLAN_SECONDS);
	tell("submit", request(api_campaigns_post, 0, "", text), PLAN_SECONDS);
	tell("scheduling pass, all granted", pass(), 0);
	rig_is("SELECT count(*) FROM attempt WHERE state = 'granted'", "1000");
	free(text);
	lab_down();
}
END_TEST

/* A latency like those of a busy drive: spread over octaves, with a tail. */
static uint64_t
latency(uint64_t *random, double mean_ns)
{
	double u, v;

	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407U;
	u = ((double)(*random >> 11) + 1) / 9007199254740994.0;
	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407U;
	v = (double)(*random >> 11) / 9007199254740992.0;
	return (uint64_t)(mean_ns *
			  exp(0.7 * sqrt(-2 * log(u)) * cos(6.28318530718 * v)));
}

/* Where a point belongs: the k-th of its workload, the maximum first, then 10 % to 120 %;
 * or a cell of a round, from 1. */
struct busy {
	uint32_t point;
	const char *workload;
	int k;
	int round, cell; /* round 0: none */
};

/* The document of a point that does ops I/Os. New reference. */
static json_t *
busy_meta(const struct busy *b, uint64_t ops, const struct hist service[DIRECTIONS])
{
	double load = 10 * b->k;
	json_t *counts = json_array();
	json_t *bytes = json_array();
	json_t *meta;

	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		json_array_append_new(counts, json_u64(service[d].n));
		json_array_append_new(bytes, json_u64(4096 * service[d].n));
	}
	meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:[s, s], s:n, s:s,"
			 " s:s, s:i, s:f, s:s, s:s, s:s, s:s}",
		"point", (int)b->point, "step", 2, "workload", b->workload, "state",
		"done", "started_ns", "1700000000000000000", "length_ns", "1000000000",
		"ops", counts, "bytes", bytes, "errors", "0", "0", "first_error",
		"dropped", "0", "backlog_max", "0", "in_flight", 128, "in_flight_mean",
		(double)ops * (80000 + 1000 * load) / 1e9, "cpu_user_ns", "2000",
		"cpu_system_ns", "1000", "engine", "uring", "seed", "7");
	ck_assert_ptr_nonnull(meta);
	json_put(meta, "load_percent", b->k > 0 ? json_real(load) : json_null());
	json_put(meta, "offered_iops", b->k > 0 ? json_real((double)ops) : json_null());
	if (b->round > 0) {
		json_put(meta, "round", json_integer(b->round));
		json_put(meta, "cell", json_integer(b->cell));
	}
	return meta;
}

static void
feed_busy_point(const struct busy *b, uint64_t *random)
{
	struct point_record *p = &rig_feed.point;
	double ns = 80000 + 10000 * b->k;
	uint64_t ops = b->k == 0 ? IOS_PER_POINT : IOS_PER_POINT / 10 * (uint64_t)b->k;

	memset(p, 0, sizeof(*p));
	for (uint64_t i = 0; i < ops; i++) {
		int d = i % 10 < 7 ? DIR_READ : DIR_WRITE;
		uint64_t x = latency(random, ns);

		hist_add(&p->service[d], x);
		if (b->k > 0)
			hist_add(&p->response[d], x + x / 8);
	}
	p->meta = busy_meta(b, ops, p->service);
	feed_raw(++rig_feed.seq, RECORD_POINT, rig_feed.buf,
		point_encode(p, rig_feed.buf, sizeof(rig_feed.buf)));
	point_record_fini(p);
}

static void
feed_busy_send(void)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.acked, rig_feed.seq);
	feed_start(1, 101);
}

/* A ramp of POINTS loads for each of WORKLOADS workloads. */
static void
feed_busy_ramps(void)
{
	uint64_t random = 1;
	char workload[32];

	for (int w = 0; w < WORKLOADS; w++) {
		snprintf(workload, sizeof(workload), "workload-%d", w);
		for (int k = 0; k < POINTS; k++)
			feed_busy_point(
				&(struct busy){.point = (uint32_t)(w * POINTS + k + 1),
					.workload = workload,
					.k = k},
				&random);
		feed_busy_send();
	}
}

/* The program of a test of WORKLOADS cells. */
static void
busy_program(void)
{
	struct str sql = {0};

	str_puts(&sql,
		"UPDATE attempt SET program = '{\"steps\":[{\"step\":\"identify\"},"
		"{\"step\":\"rounds\",\"test\":\"iops\",\"rounds\":{\"cells\":[");
	for (int w = 0; w < WORKLOADS; w++)
		str_printf(&sql,
			"%s{\"workload\":{\"id\":\"cell-%d\",\"read_percent\":%d,"
			"\"random_percent\":100,\"block_bytes\":4096,\"in_flight\":32,"
			"\"workers\":1}}",
			w > 0 ? "," : "", w, 5 * w);
	str_puts(&sql, "],\"tracking\":[{\"cell\":1,\"metric\":\"iops\"}],\"window\":5,"
		       "\"range_percent\":20.0,\"slope_percent\":10.0,\"max_rounds\":25,"
		       "\"stop_bytes\":\"0\",\"left_out\":[]}}]}'");
	rig_exec(str_text(&sql));
	str_fini(&sql);
}

#define TRACKED                                                                        \
	"\"tracking\":[{\"cell\":\"iops/cell-0\",\"metric\":\"iops\",\"value\":100.5," \
	"\"values\":[100.5,102.5,98.5,101.5,99.5],\"mean\":100.5,\"range\":4.0,"       \
	"\"range_allowed\":20.1,\"range_ratio\":0.0398,\"slope\":-0.3,\"intercept\":"  \
	"100.9,\"correlation\":-0.3,\"rise\":1.2,\"rise_allowed\":10.05,\"slope_"      \
	"ratio\":"                                                                     \
	"0.012,\"steady\":true}]"

/* A test of WORKLOADS cells in POINTS rounds, the last 5 of which are steady. */
static void
feed_busy_rounds(void)
{
	uint64_t random = 1;
	uint32_t point = 0;
	char text[1000], name[32];

	busy_program();
	for (int round = 1; round <= POINTS; round++) {
		for (int w = 0; w < WORKLOADS; w++) {
			snprintf(name, sizeof(name), "iops/cell-%d", w);
			point++;
			feed_busy_point(&(struct busy){.point = point,
						.workload = name,
						.round = round,
						.cell = w + 1},
				&random);
		}
		snprintf(text, sizeof(text),
			"{\"event\":\"round.end\",\"step\":2,\"test\":\"iops\","
			"\"written_bytes\":\"4096\",\"round\":%d,\"first_point\":%u,"
			"\"void\":null,\"verdict\":\"not_yet\"," TRACKED "}",
			round, point - WORKLOADS + 1);
		feed_text(RECORD_EVENT, text);
		feed_busy_send();
	}
	snprintf(text, sizeof(text),
		"{\"event\":\"steady\",\"step\":2,\"test\":\"iops\",\"verdict\":"
		"\"steady\","
		"\"ended_by\":\"steady\",\"rounds\":%d,\"void_rounds\":0,"
		"\"first_round\":%d,\"last_round\":%d,\"window\":5,\"range_percent\":20."
		"0,"
		"\"slope_percent\":10.0,\"max_rounds\":25,\"written_bytes\":"
		"\"4096\"," TRACKED "}",
		POINTS, POINTS - 4, POINTS);
	feed_text(RECORD_EVENT, text);
}

/* A run of either that is done. */
static void
feed_busy_run(bool rounds)
{
	rig_add_run((struct rig_run){1, 1, 1, 1, "done", "sealed"});
	feed_reset();
	feed_start(1, 101);
	if (rounds)
		feed_busy_rounds();
	else
		feed_busy_ramps();
	feed_result("done");
	feed_busy_send();
}

static int
by_cpu(const void *a, const void *b)
{
	double x = ((const struct seconds *)a)->cpu;
	double y = ((const struct seconds *)b)->cpu;

	return (x > y) - (x < y);
}

static struct seconds
median(struct seconds *s)
{
	qsort(s, REPEATS, sizeof(*s), by_cpu);
	return s[REPEATS / 2];
}

/* How many items an answer has. */
static size_t
answered(const char *name)
{
	return json_array_size(json_object_get(lab_call.doc, name));
}

/* Shows all of a run: the curves and their facts, how its tests came to a steady state,
 * and all percentiles of all points. */
static void
show_run(size_t tests)
{
	struct seconds curves[REPEATS], rounds[REPEATS], points[REPEATS], all[REPEATS];

	for (int i = 0; i < REPEATS; i++) {
		struct seconds start = now();

		curves[i] = request(api_curves_get, 0, "run=r1", NULL);
		ck_assert_uint_eq(answered("workloads"), WORKLOADS);
		rounds[i] = request(api_runs_rounds, 1, "", NULL);
		ck_assert_uint_eq(answered("items"), tests);
		points[i] = request(api_runs_points, 1, "", NULL);
		ck_assert_uint_eq(answered("items"), WORKLOADS * POINTS);
		all[i] = since(start);
	}
	tell("all of it, first", all[0], 0);
	tell("curves with all facts, median", median(curves), 0);
	tell("steady-state table, median", median(rounds), 0);
	tell("all percentiles, median", median(points), 0);
	tell("all of it, median", median(all), 0);
	tell("all of it, most", all[REPEATS - 1], 0);
	/* Sharing caches with others only adds. */
	tell("all of it, least", all[0], CURVE_SECONDS);
}

START_TEST(a_run_of_20_workloads_with_13_points)
{
	lab_up();
	rig_seed();
	feed_busy_run(false);
	printf("run of %d x %d points, %d times\n", WORKLOADS, POINTS, REPEATS);
	show_run(0);
	feed_reset();
	lab_down();
}
END_TEST

START_TEST(a_run_of_20_cells_in_13_rounds)
{
	lab_up();
	rig_seed();
	feed_busy_run(true);
	printf("run of %d cells in %d rounds, %d times\n", WORKLOADS, POINTS, REPEATS);
	show_run(1);
	feed_reset();
	lab_down();
}
END_TEST

int
main(int argc, char **argv)
{
	TCase *tc = tcase_create("limits");

	if (argc != 2) {
		fprintf(stderr, "usage: limits FOLDER-OF-SUITES\n");
		return 2;
	}
	suites = argv[1];
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_campaign_of_a_thousand_drives);
	tcase_add_test(tc, runs_that_start_together);
	tcase_add_test(tc, preparation_that_the_past_of_each_drive_may_spare);
	tcase_add_test(tc, a_run_of_20_workloads_with_13_points);
	tcase_add_test(tc, a_run_of_20_cells_in_13_rounds);
	return unit_run("limits", tc);
}
