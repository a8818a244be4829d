/* What runs ran on: stored once, shown, and compared. */
#include "controller/environment.h"

#include "common/json.h"
#include "controller/api.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/result_rig.h"

/* Tells the manifest of a run that add_done_run has made. */
static void
tell_environment(int64_t id, int64_t node, const char *manifest)
{
	struct ingest_answer a;
	struct err e = {0};
	char text[512];

	snprintf(text, sizeof(text), "{\"event\":\"environment\",\"manifest\":%s}",
		manifest);
	feed_start((uint64_t)id, (uint64_t)(100 + id));
	feed_text(RECORD_EVENT, text);
	OK(feed_send(node, &a, &e));
}

START_TEST(what_two_environments_differ_in_is_named)
{
	static const char other[] =
		"{\"queue\":{\"nomerges\":2,\"scheduler\":\"mq-deadline\"},\"kernel\":"
		"{\"release\":\"6.1.0\"},\"drive\":{\"model\":\"M1\"},\"link\":null}";
	char *hash[2] = {NULL, NULL};
	json_t *doc;

	for (int64_t id = 1; id <= 3; id++) {
		add_done_run(id, 1, 1, 20000);
		/* The order of members does not matter. */
		tell_environment(id, 1,
			id == 2 ? other
			: id == 1
				? "{\"kernel\":{\"release\":\"6.1.0\"},\"queue\":"
				  "{\"scheduler\":\"none\",\"nomerges\":0},"
				  "\"drive\":{\"model\":\"M0\"},\"link\":"
				  "{\"width\":4}}"
				: "{\"link\":{\"width\":4},\"queue\":{\"nomerges\":0,"
				  "\"scheduler\":\"none\"},\"drive\":{\"model\":\"M0\"},"
				  "\"kernel\":{\"release\":\"6.1.0\"}}");
	}
	rig_is("SELECT count(*) FROM environment", "2");
	doc = good(api_comparisons_get, 0, "a=r1&b=r2");
	IS(doc, "/differs",
		"[{\"what\":\"environment.link.width\",\"a\":\"4\",\"b\":\"-\"},"
		"{\"what\":\"environment.queue.nomerges\",\"a\":\"0\",\"b\":\"2\"},"
		"{\"what\":\"environment.queue.scheduler\",\"a\":\"none\",\"b\":"
		"\"mq-deadline\"}]");
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=r1&b=r3");
	IS(doc, "/differs", "[]");
	json_decref(doc);
	doc = good(api_runs_get, 1, "");
	IS(doc, "/environment/summary", "\"Linux 6.1.0, scheduler none\"");
	hash[0] = xstrdup(at(doc, "/environment/hash"));
	json_decref(doc);
	doc = good(api_runs_get, 3, "");
	hash[1] = xstrdup(at(doc, "/environment/hash"));
	ck_assert_str_eq(hash[0], hash[1]);
	json_decref(doc);
	free(hash[0]);
	free(hash[1]);
}
END_TEST

START_TEST(a_manifest_that_is_none_is_an_alarm)
{
	add_done_run(1, 1, 1, 20000);
	tell_environment(1, 1, "17");
	rig_is("SELECT count(*) FROM environment", "0");
	rig_is("SELECT count(*) FROM event WHERE name = 'run.alarm'"
	       " AND data LIKE '%without a manifest%'",
		"1");
}
END_TEST

START_TEST(a_hash_that_nobody_has_is_not_found)
{
	refused(api_environments_get, 0, "", ERR_NOTFOUND, "there is no environment");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("environment");

	tcase_add_checked_fixture(tc, data_up, data_down);
	tcase_add_test(tc, what_two_environments_differ_in_is_named);
	tcase_add_test(tc, a_manifest_that_is_none_is_an_alarm);
	tcase_add_test(tc, a_hash_that_nobody_has_is_not_found);
	return unit_run("environment", tc);
}
