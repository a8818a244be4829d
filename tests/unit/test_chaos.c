/*
 * A lab in which everything happens in any order: submissions, lost answers, agents that
 * forget, nodes that start anew, cancels. After each event the rules hold; in the end all
 * campaigns end.
 */
#include <stdio.h>
#include <time.h>

#include "controller/campaign.h"
#include "controller/node.h"
#include "controller/reconcile.h"
#include "controller/report.h"
#include "controller/run.h"
#include "controller/submit.h"
#include "tests/unit/model_rig.h"

#define NODES 3
#define DRIVES_PER_NODE 2
#define KNOWN 64
#define STEPS 1000
#define OPEN_MAX 5 /* campaigns at a time */

static uint64_t seed;

static uint32_t
random_below(uint32_t n)
{
	uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ (x >> 31)) % n);
}

/* What really is on a node, and what its agent knows of it. */
struct known {
	int64_t attempt; /* 0: free place */
	int64_t fence;
	int drive;
	bool reported;	/* the controller has heard of it */
	bool forgotten; /* the agent has no record of it; its runner may live */
	bool alive;	/* its runner holds the drive */
};

struct node_model {
	int boot;
	struct known known[KNOWN];
	json_t *unknown; /* what its agent was asked for and does not know */
};

static struct node_model nodes[NODES + 1]; /* by number, from 1 */
static size_t starts, results;

static struct known *
known_of(int node, int64_t attempt)
{
	for (int i = 0; i < KNOWN; i++)
		if (nodes[node].known[i].attempt == attempt)
			return &nodes[node].known[i];
	return NULL;
}

static json_t *
report_of(int node)
{
	struct lab_agent a = {node, "", "", "", NULL};
	char serials[32];
	json_t *attempts = json_array();
	json_t *doc;

	snprintf(serials, sizeof(serials), "N%dA N%dB", node, node);
	a.serials = serials;
	for (int i = 0; i < KNOWN; i++) {
		struct known *k = &nodes[node].known[i];

		if (k->attempt == 0 || k->forgotten)
			continue;
		k->reported = true;
		json_array_append_new(
			attempts, json_pack("{s:o, s:o, s:s}", "attempt",
					  json_u64((uint64_t)k->attempt), "fence",
					  json_u64((uint64_t)k->fence), "state",
					  k->alive ? "running" : "exited"));
	}
	doc = json_pack("{s:o, s:s, s:o, s:o}", "boot_id",
		json_sprintf("boot-%d", nodes[node].boot), "version", "1", "drives",
		lab_drives(&a), "attempts", attempts);
	ck_assert_ptr_nonnull(doc);
	if (nodes[node].unknown != NULL)
		json_put(doc, "unknown", json_incref(nodes[node].unknown));
	return doc;
}

/* The agent starts a runner. That the drive is free is the controller's promise. */
static void
start(int node, const json_t *duty)
{
	const char *serial = json_text_of(
		json_object_get(json_object_get(duty, "program"), "drive"), "serial");
	struct known *k = known_of(node, 0);
	int drive = serial[2];

	ck_assert_ptr_nonnull(k);
	for (int i = 0; i < KNOWN; i++) {
		const struct known *o = &nodes[node].known[i];

		ck_assert_msg(o->attempt == 0 || !o->alive || o->drive != drive,
			"two runners on %s", serial);
	}
	*k = (struct known){.attempt = strtoll(json_text_of(duty, "attempt"), NULL, 10),
		.fence = strtoll(json_text_of(duty, "fence"), NULL, 10),
		.drive = drive,
		.alive = random_below(10) != 0};
	starts++;
}

static void
obey(int node, const json_t *answer)
{
	json_t *duty;
	size_t i;

	json_decref(nodes[node].unknown);
	nodes[node].unknown = json_array();
	json_array_foreach (json_object_get(answer, "attempts"), i, duty) {
		const char *what = json_text_of(duty, "do");
		int64_t attempt = strtoll(json_text_of(duty, "attempt"), NULL, 10);
		struct known *k = known_of(node, attempt);

		if (strcmp(what, "start") == 0 && k == NULL) {
			start(node, duty);
		} else if (strcmp(what, "keep") == 0 && (k == NULL || k->forgotten)) {
			json_array_append(nodes[node].unknown, duty);
		} else if (k != NULL && strcmp(what, "stop") == 0) {
			k->alive = false;
		} else if (k != NULL && strcmp(what, "forget") == 0) {
			ck_assert(!k->alive);
			k->attempt = 0;
		}
	}
}

static void
round_of(struct tx *t, int node, bool answer_arrives)
{
	struct err e = {0};
	json_t *doc = report_of(node);
	json_t *answer;
	struct report r;
	bool fits, calm;

	OK(report_parse(doc, &r, &e));
	OK(reconcile_take(t, node, &r, &fits, &e));
	OK(reconcile_answer(t, node, &r, &answer, &calm, &e));
	ck_assert(fits);
	if (answer_arrives)
		obey(node, answer);
	json_decref(answer);
	report_fini(&r);
	json_decref(doc);
}

static void
submit(struct tx *t)
{
	struct err e = {0};
	json_t *doc = lab_json("{'ssdlab':'campaign/v1','name':'x','suite':'small@1'}");
	json_t *drives = json_array();
	int64_t campaign, open;

	for (int n = 1; n <= NODES; n++)
		for (int d = 0; d < DRIVES_PER_NODE; d++)
			if (random_below(3) == 0)
				json_array_append_new(drives,
					json_pack("{s:o}", "serial",
						json_sprintf("N%d%c", n, 'A' + d)));
	json_put(doc, "drives", drives);
	json_put(doc, "priority", json_integer(random_below(100)));
	json_put(doc, "retries", json_integer(random_below(3)));
	json_put(doc, "repeats", json_integer(1 + random_below(2)));
	ck_assert_int_eq(
		tx_int(t, &open, &e,
			"SELECT count(*) FROM campaign WHERE finished_ns IS NULL", ""),
		1);
	if (json_array_size(drives) > 0 && open < OPEN_MAX)
		OK(submit_campaign(t, doc, "chaos", &campaign, &e));
	json_decref(doc);
}

/* All records of some attempt whose runner has ended, and which has none yet, come in. */
static void
deliver(struct tx *t)
{
	struct err e = {0};
	static const char *const said[] = {"{\"state\":\"done\"}", "{\"state\":\"done\"}",
		"{\"state\":\"cancelled\"}", "{\"state\":\"failed\",\"class\":\"infra\"}",
		"{\"state\":\"failed\",\"class\":\"recipe\"}"};
	int node = 1 + (int)random_below(NODES);
	struct known *k = &nodes[node].known[random_below(KNOWN)];

	for (int i = 0; i < KNOWN && (k->attempt == 0 || k->forgotten || k->alive); i++)
		k = &nodes[node].known[i];
	if (k->attempt == 0 || k->forgotten || k->alive)
		return;
	OK(tx_exec(t, &e,
		"UPDATE attempt SET result = coalesce(result, ?1), result_seq = 1,"
		" last_seq = 1, acked_seq = 1 WHERE id = ?2",
		"si", said[random_below(5)], k->attempt));
	OK(run_collected(t, k->attempt, &e));
	results++;
}

/* Something that nobody wanted happens to what a node has. */
static void
mishap(int node)
{
	struct known *k = &nodes[node].known[random_below(KNOWN)];
	bool disk_lost = random_below(4) == 0;

	if (random_below(3) != 0) {
		k->alive = false; /* its runner ends */
		return;
	}
	if (random_below(2) == 0 && k->reported) {
		k->forgotten = true; /* and its runner goes on, unknown to all */
		return;
	}
	nodes[node].boot++;
	for (int i = 0; i < KNOWN; i++) {
		k = &nodes[node].known[i];
		k->alive = false;
		if (k->forgotten || disk_lost)
			k->attempt = 0;
	}
}

static void
cancel_one(struct tx *t)
{
	struct err e = {0};
	int64_t campaign;
	int rc = tx_int(t, &campaign, &e,
		"SELECT id FROM campaign ORDER BY (id * ?1) % 97 LIMIT 1", "i",
		(int64_t)(1 + random_below(96)));

	ck_assert_int_ge(rc, 0);
	if (rc == 1)
		OK(campaign_cancel(t, campaign, "chaos", &e));
}

static void
lose_one(struct tx *t)
{
	struct err e = {0};
	int64_t node = 1 + random_below(NODES);
	int64_t lost;

	ck_assert_int_eq(
		tx_int(t, &lost, &e, "SELECT observed = 'lost' FROM node WHERE id = ?1",
			"i", node),
		1);
	if (lost == 0)
		OK(node_observe(t, node, NODE_SEE_LOSE, "", "chaos", &e));
}

/* Each query finds what breaks a rule. */
static const char *const rules[] = {
	"SELECT d.id FROM drive d WHERE (d.occupancy IN ('leased', 'fenced')) <> EXISTS"
	" (SELECT 1 FROM lease l WHERE l.drive_id = d.id AND l.released_ns IS NULL)",
	"SELECT a.id FROM attempt a JOIN run r ON r.id = a.run_id"
	" WHERE a.state IN ('granted', 'running') AND NOT EXISTS (SELECT 1 FROM lease l"
	" WHERE l.attempt_id = a.id AND l.drive_id = r.drive_id AND l.released_ns IS "
	"NULL)",
	"SELECT r.id FROM run r WHERE (r.state IN ('leased', 'running', 'collecting')) <>"
	" (SELECT count(*) FROM attempt a WHERE a.run_id = r.id AND a.state ="
	" CASE r.state WHEN 'leased' THEN 'granted' WHEN 'running' THEN 'running'"
	" ELSE 'exited' END)",
	"SELECT c.id FROM campaign c WHERE (c.finished_ns IS NOT NULL) <> NOT EXISTS"
	" (SELECT 1 FROM run r WHERE r.campaign_id = c.id AND r.finished_ns IS NULL)",
	"SELECT a.id FROM attempt a JOIN attempt b ON b.id = a.id + 1"
	" WHERE b.fence <= a.fence",
	"SELECT a.run_id FROM attempt a WHERE a.state IN ('granted', 'running', 'exited')"
	" GROUP BY a.run_id HAVING count(*) > 1",
	"SELECT id FROM run WHERE state IN ('pending', 'done', 'failed', 'cancelled', "
	"'lost')"
	" AND unknown",
	"SELECT id FROM lease WHERE released_ns IS NOT NULL AND released_why = ''",
};

static void
check_rules(struct tx *t, int step)
{
	struct err e = {0};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		int64_t id = 0;

		ck_assert_msg(tx_int(t, &id, &e, rules[i], "") == 0,
			"step %d, rule %zu, id %" PRId64 " %s", step, i, id, e.text);
	}
}

static void
schedule(struct tx *t)
{
	struct err e = {0};

	OK(sched_pass(t, NULL, &e));
}

static void
step(struct tx *t)
{
	int node = 1 + (int)random_below(NODES);

	switch (random_below(12)) {
	case 0:
		submit(t);
		break;
	case 1:
		cancel_one(t);
		break;
	case 2:
		mishap(node);
		break;
	case 3:
		lose_one(t);
		break;
	case 4:
	case 5:
		deliver(t);
		break;
	case 6:
	case 7:
	case 8:
		schedule(t);
		break;
	default:
		round_of(t, node, random_below(5) != 0);
	}
}

/* Nothing new is submitted and nothing breaks: all that waits must come to its end. */
static void
calm_down(struct tx *t)
{
	struct err e = {0};
	int64_t open = 1;

	for (int i = 0; i < 4000 && open > 0; i++) {
		int node = 1 + i % NODES;

		if (i % 50 == 0) {
			nodes[node].boot++;
			for (int k = 0; k < KNOWN; k++)
				nodes[node].known[k].alive = false;
		}
		round_of(t, node, true);
		schedule(t);
		nodes[node].known[random_below(KNOWN)].alive = false;
		deliver(t);
		check_rules(t, STEPS + i);
		ck_assert_int_ge(
			tx_int(t, &open, &e,
				"SELECT count(*) FROM campaign WHERE finished_ns IS NULL",
				""),
			0);
	}
	ck_assert_int_eq(open, 0);
}

static int
live(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	for (int i = 0; i < STEPS; i++) {
		step(t);
		check_rules(t, i);
	}
	calm_down(t);
	return 0;
}

START_TEST(whatever_happens_the_rules_hold_and_all_campaigns_end)
{
	struct err e = {0};

	seed = (uint64_t)time(NULL);
	if (getenv("CHAOS_SEED") != NULL)
		seed = strtoull(getenv("CHAOS_SEED"), NULL, 10);
	printf("CHAOS_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	lab_up();
	lab_suite();
	for (int n = 1; n <= NODES; n++) {
		struct lab_agent a = {n, "boot-0", "", "", NULL};
		char name[32], serials[64];

		snprintf(name, sizeof(name), "node-%d", n);
		snprintf(serials, sizeof(serials), "N%dA N%dB", n, n);
		a.serials = serials;
		ck_assert_int_eq(lab_node(name), n);
		lab_reconcile(&a);
	}
	for (int d = 1; d <= NODES * DRIVES_PER_NODE; d++)
		lab_approve(d);
	OK(rig_write(live, NULL, &e));
	ck_assert_uint_gt(starts, STEPS / 50);
	ck_assert_uint_gt(results, STEPS / 50);
	for (int n = 1; n <= NODES; n++)
		json_decref(nodes[n].unknown);
	lab_down();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("chaos");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, whatever_happens_the_rules_hold_and_all_campaigns_end);
	return unit_run("chaos", tc);
}
