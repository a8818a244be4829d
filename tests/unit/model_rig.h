/*
 * model_rig - a lab in a store: handlers called as requests, agents that are a few lines
 * of JSON. Include it in one file per program.
 */
#ifndef TESTS_UNIT_MODEL_RIG_H
#define TESTS_UNIT_MODEL_RIG_H

#include <inttypes.h>

#include "common/json.h"
#include "common/seal.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/run.h"
#include "controller/sched.h"
#include "controller/session.h"
#include "controller/suites.h"
#include "tests/unit/store_rig.h"

static struct api_env lab_env;
static struct session_book *lab_sessions;
static struct api_call lab_call; /* the last request and its answer */
static const char *lab_query;	 /* of the next request: "state=done&limit=2" */
static const char *lab_actor = "tester";
static json_t *lab_asked; /* node: what its last answer has to be kept */

static inline void
lab_up(void)
{
	rig_up();
	seal_init();
	lab_env = (struct api_env){.public_url = "https://lab:7443",
		.pin = "sha256//AAAA",
		.data_port = 7444,
		.late_ns = 15 * NS_PER_S};
	seal_pair_new(&lab_env.keys);
	lab_sessions = session_book_new();
	api_call_init(&lab_call);
	lab_query = "";
	lab_asked = json_object();
}

static inline void
lab_down(void)
{
	api_call_fini(&lab_call);
	session_book_free(lab_sessions);
	json_decref(lab_asked);
	rig_down();
}

/* The value of a query parameter; the copies live until the next request but three. */
static const char *
lab_parameter(const struct api_call *c, const char *name)
{
	static char values[16][128];
	static unsigned next;
	size_t n = strlen(name);

	for (const char *p = c->args; *p != '\0'; p += strcspn(p, "&"), p += *p == '&') {
		char *value = values[next % 16];

		if (strncmp(p, name, n) != 0 || p[n] != '=')
			continue;
		next++;
		snprintf(value, sizeof(values[0]), "%.*s", (int)strcspn(p + n + 1, "&"),
			p + n + 1);
		return value;
	}
	return NULL;
}

struct lab_job {
	api_fn *fn;
};

static int
lab_run(struct tx *t, void *arg, struct err *e)
{
	struct lab_job *j = arg;

	json_decref(lab_call.doc);
	lab_call.doc = NULL;
	lab_call.hold = false;
	lab_call.after = NULL;
	return j->fn(t, &lab_call, e);
}

/* lab_again runs the handler once more for the same request, as a long poll does. */
static inline int
lab_again(api_fn *fn, struct err *e)
{
	struct lab_job j = {fn};
	int rc = rig_write(lab_run, &j, e);

	if (rc == 0 && lab_call.after != NULL) {
		lab_call.after(&lab_call);
		lab_call.after_data = NULL;
	}
	return rc;
}

/* lab_ask makes a request; id is that of the path and of an agent. Takes body (or NULL).
 */
static inline int
lab_ask(api_fn *fn, int64_t id, json_t *body, struct err *e)
{
	api_call_fini(&lab_call);
	api_call_init(&lab_call);
	lab_call.env = &lab_env;
	lab_call.sessions = lab_sessions;
	lab_call.actor = lab_actor;
	lab_call.id = id;
	lab_call.node = id;
	lab_call.body = body;
	lab_call.args = lab_query;
	lab_call.query = lab_parameter;
	err_clear(e);
	return lab_again(fn, e);
}

/* lab_key is lab_ask for a path with a {key}. */
static inline int
lab_key(api_fn *fn, const char *key, struct err *e)
{
	api_call_fini(&lab_call);
	api_call_init(&lab_call);
	lab_call.env = &lab_env;
	lab_call.key = key;
	err_clear(e);
	return lab_again(fn, e);
}

/* lab_json reads a literal; ' stands for ". */
static inline json_t *
lab_json(const char *text)
{
	char *copy = xstrdup(text);
	json_error_t why;
	json_t *doc;

	for (char *p = copy; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	doc = json_loads(copy, JSON_DECODE_ANY, &why);
	ck_assert_msg(doc != NULL, "%s: %s", why.text, copy);
	free(copy);
	return doc;
}

/* lab_doc is the answer to the last request as text. Static buffer. */
static inline const char *
lab_doc(void)
{
	static struct str out;

	str_reset(&out);
	json_canonical(lab_call.doc, &out);
	return str_text(&out);
}

/* lab_suite stores the suite "small@1": a fill and two workloads. */
static inline void
lab_suite(void)
{
	struct err e = {0};

	OK(lab_ask(api_suites_post, 0,
		lab_json(
			"{'ssdlab':'suite/v1','name':'small','version':1,'scaled':true,"
			"'minimum_capacity':'1MiB','prepare':{'fill':{}},'ramp':{'"
			"maximum':"
			"{'warmup':'1s','measure':'1s'},'point':{'warmup':'1s','measure':"
			"'1s'},'load':['50%','100%']},'workloads':[{'id':'reads','read':"
			"'100%','access':'random','block':'4KiB','in_flight':8},{'id':"
			"'writes','read':'0%','access':'random','block':'4KiB','in_"
			"flight':"
			"8}]}"),
		&e));
}

/* lab_node enrols a node; its number. */
static inline int64_t
lab_node(const char *name)
{
	struct err e = {0};
	char key[SEAL_KEY_BYTES * 4 / 3 + 4];
	struct seal_pair pair;
	char *token;

	OK(lab_ask(api_nodes_post, 0, json_pack("{s:s}", "name", name), &e));
	token = xstrdup(strstr(json_text_of(lab_call.doc, "join"), "token=") + 6);
	token[strcspn(token, "&")] = '\0';
	seal_pair_new(&pair);
	seal_base64(pair.public_key, SEAL_KEY_BYTES, key);
	OK(lab_ask(api_agents_enroll, 0,
		json_pack("{s:s, s:s, s:s, s:s}", "name", name, "token", token,
			"public_key", key, "boot_id", "boot-1"),
		&e));
	free(token);
	return strtoll(json_text_of(lab_call.doc, "node"), NULL, 10);
}

/* What the agent of a node has to say; serials and attempts are words between blanks. */
struct lab_agent {
	int64_t node;
	const char *boot;
	const char *serials;   /* "S1 S2" */
	const char *attempts;  /* "1:running 2:exited", fences are looked up */
	const char *protected; /* of all drives, or NULL */
};

static inline json_t *
lab_drives(const struct lab_agent *a)
{
	json_t *list = json_array();

	for (const char *p = a->serials; *p != '\0';
		p += strcspn(p, " "), p += *p == ' ') {
		int n = (int)strcspn(p, " ");
		json_t *d = lab_json(
			"{'id':{'kind':'loop','model':'Loop','wwn':'',"
			"'firmware':'1','capacity_bytes':'67108864',"
			"'logical_block_bytes':512,'numa_node':-1,'virtual':true}}");

		json_put(json_object_get(d, "id"), "serial", json_sprintf("%.*s", n, p));
		json_put(d, "path", json_sprintf("/dev/%.*s", n, p));
		json_put(d, "protected",
			json_string(a->protected != NULL ? a->protected : ""));
		json_array_append_new(list, d);
	}
	return list;
}

static inline json_t *
lab_attempts(const struct lab_agent *a)
{
	json_t *list = json_array();

	for (const char *p = a->attempts; *p != '\0';
		p += strcspn(p, " "), p += *p == ' ') {
		int64_t id = strtoll(p, NULL, 10);
		const char *state = strchr(p, ':') + 1;
		char sql[80];
		char *fence;
		json_t *o = json_object();

		snprintf(sql, sizeof(sql),
			"SELECT fence FROM attempt WHERE id = %" PRId64, id);
		fence = rig_text(sql);
		json_put(o, "attempt", json_u64((uint64_t)id));
		json_put(o, "fence", json_string(fence != NULL ? fence : "1"));
		json_put(o, "state",
			json_sprintf("%.*s", (int)strcspn(state, " "), state));
		json_array_append_new(list, o);
		free(fence);
	}
	return list;
}

static inline json_t *
lab_report(const struct lab_agent *a)
{
	return json_pack("{s:s, s:s, s:i, s:o, s:o}", "boot_id", a->boot, "version", "1",
		"wait_s", 25, "drives", lab_drives(a), "attempts", lab_attempts(a));
}

/* Whether a report lists an attempt, with whatever token. */
static inline bool
lab_lists(const json_t *report, const char *attempt)
{
	json_t *o;
	size_t i;

	json_array_foreach (json_object_get(report, "attempts"), i, o)
		if (strcmp(json_text_of(o, "attempt"), attempt) == 0)
			return true;
	return false;
}

/* lab_told is lab_report of an agent that has read the last answer to its node. */
static inline json_t *
lab_told(const struct lab_agent *a)
{
	json_t *report = lab_report(a), *unknown = json_array(), *o;
	char node[24];
	size_t i;

	snprintf(node, sizeof(node), "%" PRId64, a->node);
	json_array_foreach (json_object_get(lab_asked, node), i, o)
		if (!lab_lists(report, json_text_of(o, "attempt")))
			json_array_append_new(
				unknown, json_pack("{s:s, s:s}", "attempt",
						 json_text_of(o, "attempt"), "fence",
						 json_text_of(o, "fence")));
	json_put(report, "unknown", unknown);
	return report;
}

/* Notes what the last answer wants to be kept and the agent did not list. */
static inline void
lab_note(int64_t node)
{
	json_t *asked = json_array(), *o;
	char name[24];
	size_t i;

	json_array_foreach (json_object_get(lab_call.doc, "attempts"), i, o)
		if (strcmp(json_text_of(o, "do"), "keep") == 0 &&
			!lab_lists(lab_call.body, json_text_of(o, "attempt")))
			json_array_append(asked, o);
	snprintf(name, sizeof(name), "%" PRId64, node);
	json_put(lab_asked, name, asked);
}

/*
 * lab_reconcile sends a report of an agent that reads all answers: "1:keep 2:start" of
 * this one. Static buffer.
 */
static inline const char *
lab_reconcile(const struct lab_agent *a)
{
	static struct str out;
	struct err e = {0};
	json_t *o;
	size_t i;

	OK(lab_ask(api_agents_reconcile, a->node, lab_told(a), &e));
	lab_note(a->node);
	str_reset(&out);
	str_puts(&out, "");
	json_array_foreach (json_object_get(lab_call.doc, "attempts"), i, o)
		str_printf(&out, "%s%s:%s", i > 0 ? " " : "", json_text_of(o, "attempt"),
			json_text_of(o, "do"));
	return str_text(&out);
}

static inline void
lab_sched(void)
{
	struct err e = {0};

	OK(rig_write(sched_pass, NULL, &e));
}

/* lab_approve approves a drive by its number. */
static inline void
lab_approve(int64_t drive)
{
	struct err e = {0};
	char sql[80];
	char *serial;

	snprintf(sql, sizeof(sql), "SELECT serial FROM drive WHERE id = %" PRId64, drive);
	serial = rig_text(sql);
	OK(lab_ask(api_drives_approve, drive,
		json_pack("{s:s, s:s}", "serial", serial, "mode", "destructive"), &e));
	free(serial);
}

/* lab_submit submits a campaign of small@1 on drives, extra members as in lab_json. */
static inline void
lab_submit(const char *serials, const char *extra)
{
	struct err e = {0};
	json_t *doc = lab_json(
		"{'ssdlab':'campaign/v1','name':'test','suite':'small@1','drives':[]}");
	json_t *more = lab_json(extra);

	for (const char *p = serials; *p != '\0'; p += strcspn(p, " "), p += *p == ' ')
		json_array_append_new(json_object_get(doc, "drives"),
			json_pack("{s:s%}", "serial", p, strcspn(p, " ")));
	json_object_update(doc, more);
	json_decref(more);
	OK(lab_ask(api_campaigns_post, 0, doc, &e));
}

/* lab_is wants a row "state|state" of run and attempt with these numbers. */
static inline void
lab_run_is(int64_t run, const char *want)
{
	char sql[80];

	snprintf(sql, sizeof(sql), "SELECT state FROM run WHERE id = %" PRId64, run);
	rig_is(sql, want);
}

/* One node with two approved drives and a campaign on the first. */
static int64_t lab_first; /* the node of lab_begin */

static inline void
lab_begin(const char *extra)
{
	lab_up();
	lab_suite();
	lab_first = lab_node("sr-01");
	ck_assert_str_eq(
		lab_reconcile(&(struct lab_agent){lab_first, "b1", "S1 S2", "", NULL}),
		"");
	lab_approve(1);
	lab_approve(2);
	lab_submit("S1", extra);
	lab_sched();
}

/* What the agent says, and what it should be told. */
static inline void
says(const char *boot, const char *attempts, const char *want)
{
	struct lab_agent a = {lab_first, boot, "S1 S2", attempts, NULL};

	ck_assert_str_eq(lab_reconcile(&a), want);
}

static int
collected_job(struct tx *t, void *arg, struct err *e)
{
	return run_collected(t, *(int64_t *)arg, e);
}

/* All records of an attempt have come, the result among them. */
static inline void
records_come(int64_t attempt, const char *result)
{
	struct err e = {0};
	char *sql = xasprintf(
		"UPDATE attempt SET result = '%s', result_seq = 9, last_seq = 9,"
		" acked_seq = 9 WHERE id = %" PRId64,
		result, attempt);

	rig_exec(sql);
	free(sql);
	OK(rig_write(collected_job, &attempt, &e));
}

/* Results as runners write them. */
#define DONE "{\"state\":\"done\",\"class\":null,\"reason\":\"\"}"
#define FAILED(class) \
	"{\"state\":\"failed\",\"class\":\"" class "\",\"reason\":\"it broke\"}"

#endif
