/*
 * Every GET route answers what schema/openapi.yaml says: no member that is not described,
 * none missing that is required, the types that are told; and nothing is described that
 * no answer has.
 */
#include "tests/unit/data_rig.h"
#include "tests/unit/model_rig.h"
#include "tests/unit/rounds_rig.h"

static json_t *description;
static json_t *seen;	/* "Run/state": a member that some answer had */
static json_t *visited; /* names of the schemas that answers were held against */

/* The schema that a reference stands for; *ret_name is its name, or stays as it is. */
static const json_t *
resolve(const json_t *schema, const char **ret_name)
{
	const char *ref = json_text_of(schema, "$ref");

	if (ref[0] == '\0')
		return schema;
	*ret_name = strrchr(ref, '/') + 1;
	schema = json_object_get(
		json_object_get(json_object_get(description, "components"), "schemas"),
		*ret_name);
	ck_assert_msg(schema != NULL, "%s is nowhere", ref);
	json_put(visited, *ret_name, json_true());
	return schema;
}

static bool
is_type(const json_t *v, const char *type)
{
	return strcmp(type, "object") == 0    ? json_is_object(v)
	       : strcmp(type, "array") == 0   ? json_is_array(v)
	       : strcmp(type, "string") == 0  ? json_is_string(v)
	       : strcmp(type, "integer") == 0 ? json_is_integer(v)
	       : strcmp(type, "number") == 0  ? json_is_number(v)
	       : strcmp(type, "boolean") == 0 ? json_is_boolean(v)
	       : strcmp(type, "null") == 0    ? json_is_null(v)
					      : false;
}

/* Whether v is among list, as one of its types (by) or as one of its values. */
static bool
is_among(const json_t *list, const json_t *v, bool by_type)
{
	json_t *one;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)list, i, one)
		if (by_type ? is_type(v, json_string_value(one)) : json_equal(one, v))
			return true;
	return false;
}

static bool fits(const json_t *schema, const json_t *v, const char *name, const char *at,
	struct str *why);

static bool
no(struct str *why, const char *at, const char *text)
{
	str_reset(why);
	str_printf(why, "%s: %s", at, text);
	return false;
}

static bool
member_fits(const json_t *schema, const char *member, const json_t *v, const char *name,
	const char *at, struct str *why)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *more = json_object_get(schema, "additionalProperties");
	const json_t *own = json_object_get(properties, member);
	char *path = xasprintf("%s/%s", at, member);
	char *key = xasprintf("%s/%s", name, member);
	bool good = true;

	if (own != NULL) {
		json_put(seen, key, json_true());
		good = fits(own, v, key, path, why);
	} else if (json_is_object(more)) {
		good = fits(more, v, key, path, why);
	} else if (properties != NULL && !json_is_true(more)) {
		good = no(why, path, "is not described");
	}
	free(path);
	free(key);
	return good;
}

static bool
object_fits(const json_t *schema, const json_t *v, const char *name, const char *at,
	struct str *why)
{
	const char *member;
	json_t *value, *required;
	size_t i;

	json_array_foreach (json_object_get(schema, "required"), i, required)
		if (json_object_get(v, json_string_value(required)) == NULL)
			return no(why, at, json_string_value(required));
	json_object_foreach ((json_t *)(uintptr_t)v, member, value)
		if (!member_fits(schema, member, value, name, at, why))
			return false;
	return true;
}

static bool
one_fits(const json_t *list, const json_t *v, const char *name, const char *at,
	struct str *why)
{
	json_t *one;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)list, i, one)
		if (fits(one, v, name, at, why))
			return true;
	return false;
}

/* Whether v is as schema says; name is for seen, at and why are for people. */
static bool
fits(const json_t *schema, const json_t *v, const char *name, const char *at,
	struct str *why)
{
	const json_t *type, *values, *item;
	size_t i;

	schema = resolve(schema, &name);
	type = json_object_get(schema, "type");
	values = json_object_get(schema, "enum");
	if (json_object_get(schema, "oneOf") != NULL)
		return one_fits(json_object_get(schema, "oneOf"), v, name, at, why);
	if (json_is_string(type) && !is_type(v, json_string_value(type)))
		return no(why, at, json_string_value(type));
	if (json_is_array(type) && !is_among(type, v, true))
		return no(why, at, "is of another type");
	if (values != NULL && !is_among(values, v, false))
		return no(why, at, "is none of its values");
	if (json_is_object(v))
		return object_fits(schema, v, name, at, why);
	json_array_foreach ((json_t *)(uintptr_t)v, i, item)
		if (!fits(json_object_get(schema, "items"), item, name, at, why))
			return false;
	return true;
}

/* The schema of the answer of a route; the description has {id} for each kind of id. */
static const json_t *
schema_of(const char *route)
{
	struct str path = {0};
	const json_t *o;

	for (const char *p = route + strlen("/api/v1"); *p != '\0'; p++) {
		bool id = p[0] == '{' && p[2] == '}';

		str_add(&path, id ? "{id}" : p, id ? 4 : 1);
		p += id ? 2 : 0;
	}
	o = json_object_get(json_object_get(description, "paths"), str_text(&path));
	o = json_object_get(json_object_get(o, "get"), "responses");
	o = json_object_get(json_object_get(o, "200"), "content");
	o = json_object_get(json_object_get(o, "application/json"), "schema");
	ck_assert_msg(o != NULL, "%s is not described", str_text(&path));
	str_fini(&path);
	return o;
}

/* One request, and what its answer is held against. */
struct example {
	const char *route;
	int64_t id;
	const char *key, *query;
};

static const struct example examples[] = {
	{"/api/v1/version", 0, "", ""},
	{"/api/v1/healthz", 0, "", ""},
	{"/api/v1/campaigns", 0, "", "limit=1"},
	{"/api/v1/campaigns", 0, "", ""},
	{"/api/v1/campaigns/{c}", 1, "", ""},
	{"/api/v1/campaigns/{c}", 2, "", ""},
	{"/api/v1/campaigns/{c}", 3, "", ""},
	{"/api/v1/campaigns/{c}/runs", 1, "", ""},
	{"/api/v1/runs", 0, "", ""},
	{"/api/v1/runs/{r}", 1, "", ""},
	{"/api/v1/runs/{r}", 3, "", ""},
	{"/api/v1/runs/{r}", 4, "", ""},
	{"/api/v1/runs/{r}/points", 1, "", ""},
	{"/api/v1/runs/{r}/points", 3, "", ""},
	{"/api/v1/runs/{r}/rounds", 1, "", ""},
	{"/api/v1/runs/{r}/rounds", 3, "", ""},
	{"/api/v1/runs/{r}/series", 1, "", ""},
	{"/api/v1/runs/{r}/series", 4, "", ""},
	{"/api/v1/runs/{r}/health", 1, "", ""},
	{"/api/v1/runs/{r}/health", 4, "", ""},
	{"/api/v1/runs/{r}/histogram", 1, "", "point=2"},
	{"/api/v1/nodes", 0, "", ""},
	{"/api/v1/nodes/{n}", 1, "", ""},
	{"/api/v1/drives", 0, "", ""},
	{"/api/v1/drives/{d}", 1, "", ""},
	{"/api/v1/drives/{d}", 2, "", ""},
	{"/api/v1/drives/{d}/ledger", 1, "", ""},
	{"/api/v1/drives/{d}/ledger", 1, "", "limit=1"},
	{"/api/v1/suites", 0, "", ""},
	{"/api/v1/suites/{key}", 0, "small@1", ""},
	{"/api/v1/environments/{key}", 0,
		"a32e7df3477f44754128943fa95080c9e1ef8e2d04d515ac2806e89a66123979", ""},
	{"/api/v1/comparisons", 0, "", "a=d1&b=d2"},
	{"/api/v1/comparisons", 0, "", "a=d1&b=x1"},
	{"/api/v1/foreign", 0, "", ""},
	{"/api/v1/foreign/{x}", 1, "", ""},
	{"/api/v1/foreign/{x}/histogram", 1, "", "point=1"},
	{"/api/v1/rankings", 0, "", ""},
	{"/api/v1/rankings", 0, "", "workload=reads"},
	{"/api/v1/rankings", 0, "", "workload=reads&foreign=true"},
	{"/api/v1/rankings", 0, "", "foreign=true&metric=lat_mean_ns@50"},
	{"/api/v1/curves", 0, "", "run=r1"},
	{"/api/v1/curves", 0, "", "run=r2"},
	{"/api/v1/curves", 0, "", "run=r3"},
	{"/api/v1/curves", 0, "", "run=r1&lat_p99_ns=300,400&lat_mean_ns=1"},
};

static void
try_example(const struct api_route *r, const struct example *x)
{
	struct err e = {0};
	struct str why = {0};

	lab_query = x->query;
	OK(x->key[0] != '\0' ? lab_key(r->fn, x->key, &e)
			     : lab_ask(r->fn, x->id, NULL, &e));
	ck_assert_msg(fits(schema_of(x->route), lab_call.doc, x->route, "", &why),
		"%s?%s: %s in %.1500s", x->route, x->query, str_text(&why), lab_doc());
	str_fini(&why);
}

/* A run from its start event to its result, with all that an answer may show. */
static void
feed_whole_run(uint64_t attempt, uint64_t peak)
{
	struct ingest_answer a;
	struct err e = {0};

	feed_reset();
	feed_start(attempt, UINT64_C(1) << 32 | attempt);
	feed_text(RECORD_EVENT,
		"{\"event\":\"purge.end\",\"at_ns\":\"5\",\"state\":\"done\","
		"\"method\":\"zero\",\"took_ns\":\"7\",\"written_bytes\":\"9\"}");
	feed_text(RECORD_EVENT, "{\"event\":\"health\",\"moment\":\"before\","
				"\"health\":{\"source\":\"none\",\"why\":\"virtual\"}}");
	feed_text(RECORD_EVENT, "{\"event\":\"health\",\"moment\":\"after\","
				"\"health\":{\"source\":\"none\",\"why\":\"virtual\"}}");
	feed_text(RECORD_EVENT, "{\"event\":\"environment\",\"manifest\":"
				"{\"kernel\":{\"release\":\"6.1.0\"}}}");
	feed_start_point(1, "fill", -1);
	feed_point(1, "fill", -1, 100, 1000);
	feed_start_point(2, "reads", -1);
	feed_sample(2, 0, 2000);
	feed_point(2, "reads", -1, peak, 400);
	feed_point(3, "reads", 10, peak / 10, 100);
	feed_point(4, "reads", 50, peak / 2, 200);
	feed_point(5, "reads", 100, peak * 96 / 100, 300);
	feed_others(6, "fill");
	feed_marked(7, "fill");
	feed_text(RECORD_GAP, "{\"from\":\"16\",\"to\":\"16\",\"reason\":\"spool full\","
			      "\"point\":5,\"from_second\":1,\"to_second\":2,"
			      "\"samples\":2}");
	feed_result("done");
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.acked, rig_feed.seq);
}

static void
set_up(void)
{
	struct ingest_answer a;
	struct err e = {0};

	lab_begin("{'labels':{'bench':'sr'},'purpose':'p','owner':'o','workloads':["
		  "'reads']}");
	lab_submit("S2", "{'together':true}");
	lab_submit("S1", "{'apart':true}"); /* r3, behind r1 */
	lab_submit("S2", "{}");		    /* r4 waits for r2 */
	lab_sched();
	says("b1", "1:running 2:running", "1:keep 2:keep");
	feed_whole_run(1, 20000);
	says("b1", "1:exited 2:running", "1:forget 2:keep");
	feed_whole_run(2, 30000);
	says("b1", "2:exited", "2:forget");
	lab_sched();
	says("b1", "3:running", "3:keep 4:start");
	feed_reset();
	feed_start(3, UINT64_C(1) << 32 | 3);
	feed_start_point(1, "reads", 30);
	feed_sample(1, 0, 2000);
	feed_round(1, "iops/r0: 1 I/Os failed", 100, 1000);
	feed_polls = "{\"period_ns\":\"1000000000\",\"polls\":\"2\",\"failed\":\"1\","
		     "\"mean_ns\":100.0,\"max_ns\":150,\"why\":\"no answer\"}";
	feed_round(2, NULL, 100, 1000);
	feed_polls = NULL;
	feed_steady("steady", 2, 2);
	feed_start_point(9, "reads", 30);
	OK(feed_send(1, &a, &e));
	rounds_program(3);
	/* as if its demand had been chosen */
	rig_exec("UPDATE test_end SET doc = json_set(doc, '$.choice', json('{\"from\":"
		 "\"matrix\",\"pick\":\"max\",\"mean_below_ns\":5000000,\"cell\":"
		 "\"matrix/t4-q8\",\"workers\":4,\"in_flight\":32,\"iops\":90.5,"
		 "\"lat_mean_ns\":1e6,\"text\":\"max is matrix/t4-q8\"}'))");
	lab_submit("S1", "{}"); /* r5 is told what holds it */
	lab_sched();
	rig_exec("INSERT INTO run(campaign_id, suite_id, drive_id, repeat, priority,"
		 " state, reason, retries_left, scaled, virtual, created_ns) VALUES"
		 " (1, 1, 1, 9, 50, 'failed', 'it broke', 0, 1, 1, 1)");
	/* as if r1 and r2 had started together */
	rig_exec("UPDATE attempt SET start_ns = 1700000000000000000,"
		 " start_doubt_ns = 900, start_lag_ns = 70 * id WHERE id IN (1, 2)");
	/* a load beyond the peak: r2 has a fall */
	rig_exec("UPDATE point SET load_percent = 110"
		 " WHERE attempt_id = 2 AND load_percent = 100");
	OK(lab_ask(api_foreign_post, 0,
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:s, s:s, s:f,"
			  " s:{s:{s:s, s:s, s:s, s:[i,i]}}}]}",
			"ssdlab", "foreign/v1", "tool", "fio", "tool_version", "fio-3.33",
			"source", "a.json", "subject", "d", "points", "workload", "reads",
			"point", "maximum", "quality", "measured", "iops", 1000.0,
			"histograms", "read", "min_ns", "100", "max_ns", "100", "sum_ns",
			"1000", "buckets", 100, 10),
		&e));
	OK(lab_ask(api_openapi, 0, NULL, &e));
	OK(json_parse(lab_call.text.data, lab_call.text.len, &description, &e));
	seen = json_object();
	visited = json_object();
}

static void
tear_down(void)
{
	json_decref(description);
	json_decref(seen);
	json_decref(visited);
	feed_reset();
	lab_down();
}

/* Fails for what a schema describes and no answer had. */
static void
all_was_seen(void)
{
	const json_t *schemas = json_object_get(
		json_object_get(description, "components"), "schemas");
	const char *name, *member;
	json_t *v, *property;

	json_object_foreach (visited, name, v) {
		if (strcmp(name, "DriveChoice") ==
			0) /* people leave out what they like */
			continue;
		json_object_foreach (
			json_object_get(json_object_get(schemas, name), "properties"),
			member, property) {
			char *key = xasprintf("%s/%s", name, member);

			ck_assert_msg(json_object_get(seen, key) != NULL,
				"%s is described, and in no answer", key);
			free(key);
		}
	}
}

START_TEST(every_get_answers_what_is_described)
{
	const size_t n = sizeof(examples) / sizeof(examples[0]);
	size_t n_routes;
	const struct api_route *routes = api_routes(&n_routes);

	for (size_t i = 0; i < n_routes; i++) {
		const struct api_route *r = &routes[i];
		size_t tried = 0;

		if (strcmp(r->method, "GET") != 0 || r->fn == api_events ||
			r->fn == api_openapi)
			continue;
		for (size_t k = 0; k < n; k++) {
			if (strcmp(examples[k].route, r->path) != 0)
				continue;
			try_example(r, &examples[k]);
			tried++;
		}
		ck_assert_msg(tried > 0, "%s has no example here", r->path);
	}
	all_was_seen();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("openapi");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, every_get_answers_what_is_described);
	return unit_run("openapi", tc);
}
