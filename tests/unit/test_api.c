#include "controller/api.h"

#include <stdarg.h>

#include "common/json.h"
#include "common/seal.h"
#include "controller/token.h"
#include "tests/unit/store_rig.h"

static struct api *api;
static struct api_env env;
static const char *const names[] = {"limit", "cursor", "state", NULL};

/* Handlers of this test's own routes. */

static int
get_things(struct tx *t, struct api_call *c, struct err *e)
{
	int64_t after;
	int64_t limit;

	(void)t;
	if (api_only_query(c, names, e) != 0 || api_page(c, &after, &limit, e) != 0)
		return -1;
	api_answer_page(
		c, json_pack("[I]", (json_int_t)(after + limit)), after == 0 ? limit : 0);
	return 0;
}

static int
get_thing(struct tx *t, struct api_call *c, struct err *e)
{
	(void)t;
	if (c->id == 404)
		return err_set(e, ERR_NOTFOUND, "there is no r404");
	api_etag(c, "r%d", (int)c->id);
	c->doc = json_pack("{s:o,s:s,s:s}", "id", api_id('r', c->id), "key", c->key,
		"actor", c->actor);
	return 0;
}

static int
post_thing(struct tx *t, struct api_call *c, struct err *e)
{
	const char *name;

	if (json_need_text(c->body, "", "name", &name, e) != 0 ||
		tx_exec(t, e, "INSERT INTO meta (key, value) VALUES (?, 1)", "s", name) !=
			0)
		return -1;
	c->secret = strcmp(name, "secret") == 0;
	c->status = 201;
	snprintf(c->location, sizeof(c->location), "/api/v1/things/r%d",
		(int)tx_last_id(t));
	c->doc = json_pack("{s:s,s:I}", "name", name, "row", (json_int_t)tx_last_id(t));
	return 0;
}

static int
change_thing(struct tx *t, struct api_call *c, struct err *e)
{
	(void)t;
	api_etag(c, "r%d", (int)c->id);
	return api_match(c, e);
}

static unsigned after_runs;

static void
after_agent(struct api_call *c)
{
	ck_assert_str_eq(c->after_data, "made by the handler");
	free(c->after_data);
	after_runs++;
}

static int
agent_asks(struct tx *t, struct api_call *c, struct err *e)
{
	int64_t n = 0;

	c->after = after_agent;
	c->after_data = xstrdup("made by the handler");
	if (tx_int(t, &n, e, "SELECT value FROM meta WHERE key = 'work'", "") < 0)
		return -1;
	if (n == 13)
		return err_set(e, ERR_STATE, "thirteen");
	c->doc = json_pack("{s:I}", "work", (json_int_t)n);
	c->hold = n == 0;
	c->hold_node = c->node;
	c->hold_until_mono = tx_mono(t) + 3600 * NS_PER_S;
	if (json_object_get(c->body, "now") != NULL)
		c->hold_until_mono = tx_mono(t) + 1;
	return 0;
}

static int
open_door(struct tx *t, struct api_call *c, struct err *e)
{
	(void)t;
	if (strcmp(json_text_of(c->body, "join"), "right") != 0)
		return err_set(e, ERR_FORBIDDEN, "this is no join token");
	return 0;
}

const struct api_route *
api_routes(size_t *ret_n)
{
	static const struct api_route rows[] = {
		{"GET", "/v/things", false, ROLE_VIEWER, get_things},
		{"POST", "/v/things", true, ROLE_OPERATOR, post_thing},
		{"GET", "/v/things/{r}", false, ROLE_VIEWER, get_thing},
		{"PATCH", "/v/things/{r}", true, ROLE_OPERATOR, change_thing},
		{"GET", "/v/keys/{key}", false, ROLE_VIEWER, get_thing},
		{"POST", "/v/agents/join", true, ROLE_NONE, open_door},
		{"POST", "/v/agents/{n}/ask", true, ROLE_AGENT, agent_asks},
	};

	*ret_n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

/* A client of them. */

struct ask {
	struct api_call c;
	bool done;
	const char *params[8]; /* name, value, ... */
};

static const char *
param(const struct api_call *c, const char *name)
{
	const struct ask *a = c->http;

	for (size_t i = 0; a->params[i] != NULL; i += 2)
		if (strcmp(a->params[i], name) == 0)
			return a->params[i + 1];
	return NULL;
}

static void
ask_init(struct ask *a, const char *method, const char *path, const char *bearer)
{
	*a = (struct ask){0};
	api_call_init(&a->c);
	a->c.method = method;
	a->c.path = path;
	a->c.bearer = bearer;
	a->c.peer = "192.0.2.1";
	a->c.query = param;
	a->c.http = a;
}

static void
ask_done(struct api_call *c)
{
	struct ask *a = c->http;

	ck_assert(!a->done);
	a->done = true;
	loop_stop(rig_loop);
}

static void
ask_run(struct ask *a)
{
	json_error_t je;

	api_start(api, &a->c, ask_done);
	rig_until(&a->done);
	if (a->c.doc == NULL && a->c.text.len > 0)
		a->c.doc = json_loads(a->c.text.data, 0, &je);
}

/* Asks once and returns the status; the document as text in *ret_text unless NULL. */
static int
ask(const char *method, const char *path, const char *bearer, char **ret_text)
{
	struct str text = {0};
	struct ask a;
	int status;

	ask_init(&a, method, path, bearer);
	ask_run(&a);
	status = a.c.status;
	if (ret_text != NULL) {
		json_write(a.c.doc, &text);
		*ret_text = str_take(&text);
	}
	api_call_fini(&a.c);
	return status;
}

static int
put_tokens(struct tx *t, void *arg, struct err *e)
{
	uint8_t hash[SEAL_HASH_BYTES];

	(void)arg;
	seal_hash("secret5", 7, hash);
	if (token_put(t, "admin", "operator", "op", e) != 0 ||
		token_put(t, "guest", "viewer", "view", e) != 0)
		return -1;
	return tx_exec(t, e,
		"INSERT INTO node (id, name, admin, secret_hash, created_ns)"
		" VALUES (5, 'sr-05', 'active', ?, 1)",
		"b", hash, sizeof(hash));
}

static void
set_up(void)
{
	struct err e = {0};

	seal_init();
	rig_up();
	env = (struct api_env){.public_url = "http://127.0.0.1", .pin = ""};
	api = api_new(rig_store, &env, NULL);
	OK(rig_write(put_tokens, NULL, &e));
}

static void
tear_down(void)
{
	api_release(api);
	store_drain(rig_store);
	api_free(api);
	rig_down();
}

START_TEST(paths_lead_to_handlers_with_their_ids_and_keys)
{
	char *text;

	ck_assert_int_eq(ask("GET", "/v/things/r12", "op", &text), 200);
	ck_assert_str_eq(text, "{\"id\":\"r12\",\"key\":\"\",\"actor\":\"admin\"}");
	free(text);
	ck_assert_int_eq(ask("GET", "/v/things/12", "view", &text), 200);
	ck_assert_str_eq(text, "{\"id\":\"r12\",\"key\":\"\",\"actor\":\"guest\"}");
	free(text);
	ck_assert_int_eq(ask("GET", "/v/keys/four-corners@1", "op", &text), 200);
	ck_assert_ptr_nonnull(strstr(text, "\"key\":\"four-corners@1\""));
	free(text);
}
END_TEST

START_TEST(what_is_not_there_is_a_problem_document)
{
	char *text;

	ck_assert_int_eq(ask("GET", "/v/nothing", "op", &text), 404);
	ck_assert_str_eq(text,
		"{\"type\":\"/problems/notfound\",\"title\":\"No such "
		"thing\",\"status\":404,"
		"\"detail\":\"there is nothing at "
		"/v/nothing\",\"instance\":\"/v/nothing\","
		"\"errors\":[{\"detail\":\"there is nothing at /v/nothing\","
		"\"fix\":\"ssdlab api GET /api/v1/openapi.json lists what there is\"}]}");
	free(text);
	ck_assert_int_eq(ask("GET", "/v/things/x9", "op", &text), 404);
	ck_assert_ptr_nonnull(strstr(text, "ids here look like r12"));
	free(text);
	ck_assert_int_eq(ask("GET", "/v/things/r404", "op", NULL), 404);
	ck_assert_int_eq(ask("GET", "/v/things/", "op", NULL), 404);
	ck_assert_int_eq(ask("GET", "/v/things/r1/", "op", NULL), 404);
	ck_assert_int_eq(ask("GET", "", "op", NULL), 404);
	ck_assert_int_eq(ask("GET", "/v/things/r99999999999999999999", "op", NULL), 404);
}
END_TEST

START_TEST(a_method_that_is_not_offered_is_answered_with_those_that_are)
{
	struct ask a;

	ask_init(&a, "DELETE", "/v/things/r1", "op");
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 405);
	ck_assert_str_eq(a.c.allow, "GET, HEAD, PATCH");
	ck_assert_str_eq(a.c.type, "application/problem+json");
	api_call_fini(&a.c);
}
END_TEST

START_TEST(roles_open_their_routes_and_no_others)
{
	ck_assert_int_eq(ask("GET", "/v/things", "", NULL), 401);
	ck_assert_int_eq(ask("GET", "/v/things", "wrong", NULL), 401);
	ck_assert_int_eq(ask("GET", "/v/things", "view", NULL), 200);
	ck_assert_int_eq(ask("GET", "/v/things", "secret5", NULL), 403);
	ck_assert_int_eq(ask("POST", "/v/things", "", NULL), 401);
	ck_assert_int_eq(ask("POST", "/v/things", "view", NULL), 403);
	ck_assert_int_eq(ask("POST", "/v/things", "secret5", NULL), 403);
	ck_assert_int_eq(ask("POST", "/v/things", "op", NULL), 400);
	ck_assert_int_eq(ask("POST", "/v/agents/n5/ask", "op", NULL), 403);
	ck_assert_int_eq(ask("POST", "/v/agents/n6/ask", "secret5", NULL), 403);
	ck_assert_int_eq(ask("POST", "/v/agents/n5/ask", "", NULL), 401);
	rig_exec("UPDATE token SET revoked_ns = 1 WHERE name = 'guest'");
	ck_assert_int_eq(ask("GET", "/v/things", "view", NULL), 401);
	rig_exec("UPDATE node SET admin = 'retired'");
	ck_assert_int_eq(ask("POST", "/v/agents/n5/ask", "secret5", NULL), 401);
}
END_TEST

START_TEST(open_reads_need_no_token_but_writes_do)
{
	env.open_reads = true;
	ck_assert_int_eq(ask("GET", "/v/things", "", NULL), 200);
	ck_assert_int_eq(ask("POST", "/v/things", "", NULL), 401);
	ck_assert_int_eq(ask("GET", "/v/things", "wrong", NULL), 401);
}
END_TEST

START_TEST(guessing_tokens_is_slowed_down_but_locks_out_nobody)
{
	ck_assert_int_eq(ask("GET", "/v/things", "op", NULL), 200);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(ask("GET", "/v/things", "wrong", NULL), 401);
	ck_assert_int_eq(ask("GET", "/v/things", "wrong", NULL), 429);
	ck_assert_int_eq(ask("GET", "/v/things", "view", NULL), 429);
	ck_assert_int_eq(ask("POST", "/v/agents/join", "", NULL), 429);
	ck_assert_int_eq(ask("GET", "/v/things", "op", NULL), 200);
	ck_assert_int_eq(ask("GET", "/v/things", "", NULL), 401);
}
END_TEST

START_TEST(wrong_join_tokens_count_as_guesses)
{
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(ask("POST", "/v/agents/join", "", NULL), 403);
	ck_assert_int_eq(ask("POST", "/v/agents/join", "", NULL), 429);
}
END_TEST

START_TEST(pages_link_to_the_next_one)
{
	struct ask a;

	ask_init(&a, "GET", "/v/things", "op");
	a.c.args = "state=done&limit=7&cursor=p3";
	a.params[0] = "limit";
	a.params[1] = "7";
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 200);
	ck_assert_str_eq(json_text_of(a.c.doc, "next_cursor"), "p7");
	ck_assert_str_eq(
		a.c.link, "</v/things?state=done&limit=7&cursor=p7>; rel=\"next\"");
	api_call_fini(&a.c);

	ask_init(&a, "GET", "/v/things", "op");
	a.params[0] = "cursor";
	a.params[1] = "p7";
	ask_run(&a);
	ck_assert(json_is_null(json_object_get(a.c.doc, "next_cursor")));
	ck_assert_int_eq(
		json_integer_value(json_array_get(json_object_get(a.c.doc, "items"), 0)),
		107);
	ck_assert_str_eq(a.c.link, "");
	api_call_fini(&a.c);
}
END_TEST

START_TEST(bad_query_parameters_are_refused)
{
	static const char *const bad[][3] = {
		{"limit", "0", "query parameter limit"},
		{"limit", "1001", "query parameter limit"},
		{"limit", "x", "query parameter limit"},
		{"cursor", "7", "is no cursor"},
		{"cursor", "p", "is no cursor"},
		{"cursor", "p-1", "is no cursor"},
	};
	struct ask a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ask_init(&a, "GET", "/v/things", "op");
		a.params[0] = bad[i][0];
		a.params[1] = bad[i][1];
		ask_run(&a);
		ck_assert_int_eq(a.c.status, 400);
		ck_assert_ptr_nonnull(strstr(json_text_of(a.c.doc, "detail"), bad[i][2]));
		api_call_fini(&a.c);
	}
	ask_init(&a, "GET", "/v/things", "op");
	a.c.args = "stat=done";
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 400);
	ck_assert_str_eq(
		json_text_of(a.c.doc, "detail"), "unknown query parameter \"stat\"");
	ck_assert_str_eq(
		json_text_of(
			json_array_get(json_object_get(a.c.doc, "errors"), 0), "fix"),
		"did you mean \"state\"?");
	api_call_fini(&a.c);
}
END_TEST

START_TEST(where_no_parameter_is_known_the_cure_is_to_leave_it_out)
{
	static const char *const none[] = {NULL};
	struct api_call c = {.args = "x=1"};
	struct err e = {0};

	FAILS(api_only_query(&c, none, &e), ERR_INVALID, "unknown query parameter \"x\"");
	ck_assert_str_eq(e.fix, "leave it out; none is known here");
}
END_TEST

START_TEST(what_has_not_changed_is_not_sent_again)
{
	char etag[40];
	struct ask a;

	ask_init(&a, "GET", "/v/things/r3", "op");
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 200);
	memcpy(etag, a.c.etag, sizeof(etag));
	api_call_fini(&a.c);

	ask_init(&a, "GET", "/v/things/r3", "op");
	a.c.if_none_match = etag;
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 304);
	ck_assert_ptr_null(a.c.doc);
	ck_assert_str_eq(a.c.etag, etag);
	api_call_fini(&a.c);

	ask_init(&a, "GET", "/v/things/r4", "op");
	a.c.if_none_match = etag;
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 200);
	api_call_fini(&a.c);

	ck_assert_int_eq(ask("PATCH", "/v/things/r3", "op", NULL), 428);
	ask_init(&a, "PATCH", "/v/things/r3", "op");
	a.c.if_match = etag;
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 200);
	api_call_fini(&a.c);
	ask_init(&a, "PATCH", "/v/things/r4", "op");
	a.c.if_match = etag;
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 412);
	api_call_fini(&a.c);
}
END_TEST

static void
post_with_key(const char *token, const char *key, const char *name, struct ask *a)
{
	ask_init(a, "POST", "/v/things", token);
	a->c.idempotency_key = key;
	a->c.body = json_pack("{s:s}", "name", name);
	ask_run(a);
}

START_TEST(a_repeated_post_does_nothing_twice)
{
	struct ask a;
	struct ask b;

	post_with_key("op", "k1", "one", &a);
	ck_assert_int_eq(a.c.status, 201);
	post_with_key("op", "k1", "one", &b);
	ck_assert_int_eq(b.c.status, 201);
	ck_assert(json_equal(a.c.doc, b.c.doc));
	ck_assert_str_eq(a.c.location, b.c.location);
	api_call_fini(&a.c);
	api_call_fini(&b.c);
	post_with_key("op", "k1", "two", &a);
	ck_assert_int_eq(a.c.status, 409);
	ck_assert_ptr_nonnull(strstr(a.c.failure.text, "another request"));
	api_call_fini(&a.c);
	rig_is("SELECT count(*) FROM meta WHERE key IN ('one', 'two')", "1");
}
END_TEST

START_TEST(an_answer_that_holds_a_secret_is_not_kept)
{
	struct ask a;

	post_with_key("op", "k1", "secret", &a);
	ck_assert_int_eq(a.c.status, 201);
	api_call_fini(&a.c);
	rig_is("SELECT count(*) FROM idempotency", "0");
	post_with_key("op", "k1", "other", &a);
	ck_assert_int_eq(a.c.status, 201);
	api_call_fini(&a.c);
	rig_is("SELECT count(*) FROM idempotency", "1");
}
END_TEST

START_TEST(a_post_that_failed_may_be_repeated_with_its_key)
{
	struct ask a;

	rig_exec("INSERT INTO meta (key, value) VALUES ('one', 1)");
	post_with_key("op", "k1", "one", &a);
	ck_assert_int_eq(a.c.status, 409);
	api_call_fini(&a.c);
	rig_exec("DELETE FROM meta WHERE key = 'one'");
	post_with_key("op", "k1", "one", &a);
	ck_assert_int_eq(a.c.status, 201);
	api_call_fini(&a.c);
	rig_exec("UPDATE idempotency SET created_ns = created_ns - 90000000000000");
	post_with_key("op", "k1", "two", &a);
	ck_assert_int_eq(a.c.status, 201);
	api_call_fini(&a.c);
	rig_is("SELECT count(*) FROM idempotency", "1");
}
END_TEST

static void
ask_agent(struct ask *a, bool now)
{
	ask_init(a, "POST", "/v/agents/n5/ask", "secret5");
	a->c.body = now ? json_pack("{s:b}", "now", 1) : json_object();
	api_start(api, &a->c, ask_done);
}

START_TEST(a_long_poll_waits_for_news_of_its_node)
{
	struct ask a;

	after_runs = 0;
	ask_agent(&a, false);
	rig_is("SELECT 1", "1");
	rig_exec("INSERT INTO meta (key, value) VALUES ('other', 1)");
	ck_assert(!a.done);
	ck_assert(api_holds(api, 5));
	ck_assert(!api_holds(api, 6));
	api_notify_node(api, 6);
	api_notify_node(api, 5);
	rig_exec("INSERT INTO meta (key, value) VALUES ('work', 7)");
	ck_assert(!a.done);
	api_notify_node(api, 5);
	rig_until(&a.done);
	ck_assert_int_eq(a.c.status, 200);
	ck_assert_int_eq(json_integer_value(json_object_get(a.c.doc, "work")), 7);
	ck_assert_uint_eq(after_runs, 3);
	ck_assert(!api_holds(api, 5));
	api_call_fini(&a.c);
}
END_TEST

START_TEST(a_long_poll_ends_when_its_time_is_up_or_the_api_stops)
{
	struct ask a;
	struct ask b;

	ask_agent(&a, true);
	rig_until(&a.done);
	ck_assert_int_eq(json_integer_value(json_object_get(a.c.doc, "work")), 0);
	api_call_fini(&a.c);

	ask_agent(&a, false);
	ask_agent(&b, false);
	rig_exec("INSERT INTO meta (key, value) VALUES ('other', 1)");
	api_tick(api);
	ck_assert(!a.done);
	ck_assert(api_abandon(api, &b.c));
	api_release(api);
	ck_assert(a.done);
	ck_assert(!b.done);
	ck_assert_int_eq(a.c.status, 200);
	api_call_fini(&a.c);
	api_call_fini(&b.c);
}
END_TEST

START_TEST(what_is_to_run_after_a_commit_does_not_run_after_a_failure)
{
	struct ask a;

	after_runs = 0;
	rig_exec("INSERT INTO meta (key, value) VALUES ('work', 13)");
	ask_agent(&a, false);
	ck_assert(!api_abandon(api, &a.c));
	rig_until(&a.done);
	ck_assert_int_eq(a.c.status, 409);
	ck_assert_uint_eq(after_runs, 0);
	api_call_fini(&a.c);
}
END_TEST

START_TEST(a_body_that_could_not_be_read_is_told_where_the_path_exists)
{
	struct ask a;

	ask_init(&a, "POST", "/v/things", "op");
	err_set(&a.c.failure, ERR_INVALID, "line 1, column 2: not valid JSON");
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 400);
	api_call_fini(&a.c);
	ask_init(&a, "POST", "/v/nothing", "op");
	err_set(&a.c.failure, ERR_INVALID, "line 1, column 2: not valid JSON");
	ask_run(&a);
	ck_assert_int_eq(a.c.status, 404);
	api_call_fini(&a.c);
}
END_TEST

START_TEST(a_problem_says_where_and_how_to_mend_it_in_any_bytes)
{
	struct str text = {0};
	struct err e = {0};
	json_t *doc;

	err_set(&e, ERR_UNSAFE, "drive \xff is mounted");
	err_at(&e, "/drives/2");
	err_fix(&e, "unmount it");
	doc = api_problem(&e, "/v/\xc3");
	json_write(doc, &text);
	ck_assert_str_eq(str_text(&text),
		"{\"type\":\"/problems/unsafe\","
		"\"title\":\"Refused to protect data on a drive\",\"status\":409,"
		"\"detail\":\"drive ? is mounted\",\"instance\":\"/v/?\","
		"\"errors\":[{\"pointer\":\"/drives/2\",\"detail\":\"drive ? is "
		"mounted\","
		"\"fix\":\"unmount it\"}]}");
	json_decref(doc);
	str_fini(&text);
}
END_TEST

START_TEST(ids_and_times_have_one_form)
{
	struct err e = {0};
	json_t *v = api_id('d', 5);
	int64_t n;

	ck_assert_str_eq(json_string_value(v), "d5");
	json_decref(v);
	v = api_time(0);
	ck_assert(json_is_null(v));
	v = api_time(1700000000123000000);
	ck_assert_str_eq(json_string_value(v), "2023-11-14T22:13:20.123Z");
	json_decref(v);
	OK(api_parse_id("r12", 'r', "/run", &n, &e));
	ck_assert_int_eq(n, 12);
	FAILS(api_parse_id("d12", 'r', "/run", &n, &e), ERR_INVALID, "look like r12");
	ck_assert_str_eq(e.pointer, "/run");
	FAILS(api_parse_id("r", 'r', "/run", &n, &e), ERR_INVALID, "is no id");
	FAILS(api_parse_id("r0", 'r', "/run", &n, &e), ERR_INVALID, "is no id");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("api");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, paths_lead_to_handlers_with_their_ids_and_keys);
	tcase_add_test(tc, what_is_not_there_is_a_problem_document);
	tcase_add_test(tc, a_method_that_is_not_offered_is_answered_with_those_that_are);
	tcase_add_test(tc, roles_open_their_routes_and_no_others);
	tcase_add_test(tc, open_reads_need_no_token_but_writes_do);
	tcase_add_test(tc, guessing_tokens_is_slowed_down_but_locks_out_nobody);
	tcase_add_test(tc, wrong_join_tokens_count_as_guesses);
	tcase_add_test(tc, pages_link_to_the_next_one);
	tcase_add_test(tc, bad_query_parameters_are_refused);
	tcase_add_test(tc, where_no_parameter_is_known_the_cure_is_to_leave_it_out);
	tcase_add_test(tc, what_has_not_changed_is_not_sent_again);
	tcase_add_test(tc, a_repeated_post_does_nothing_twice);
	tcase_add_test(tc, an_answer_that_holds_a_secret_is_not_kept);
	tcase_add_test(tc, a_post_that_failed_may_be_repeated_with_its_key);
	tcase_add_test(tc, a_long_poll_waits_for_news_of_its_node);
	tcase_add_test(tc, a_long_poll_ends_when_its_time_is_up_or_the_api_stops);
	tcase_add_test(tc, what_is_to_run_after_a_commit_does_not_run_after_a_failure);
	tcase_add_test(tc, a_body_that_could_not_be_read_is_told_where_the_path_exists);
	tcase_add_test(tc, a_problem_says_where_and_how_to_mend_it_in_any_bytes);
	tcase_add_test(tc, ids_and_times_have_one_form);
	return unit_run("api", tc);
}
