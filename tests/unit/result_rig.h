/*
 * result_rig - calls of the handlers that show results, and looks into their answers.
 */
#ifndef TESTS_UNIT_RESULT_RIG_H
#define TESTS_UNIT_RESULT_RIG_H

#include "controller/api.h"
#include "tests/unit/data_rig.h"

static const char *args; /* "name=value&..." of the call under way */

static inline const char *
query(const struct api_call *c, const char *name)
{
	static char values[8][64];
	static unsigned next;
	const char *p = args;

	(void)c;
	while (*p != '\0') {
		size_t n = strcspn(p, "&");
		size_t len = strlen(name);

		if (strncmp(p, name, len) == 0 && p[len] == '=') {
			char *value = values[next++ % 8];

			snprintf(value, sizeof(values[0]), "%.*s", (int)(n - len - 1),
				p + len + 1);
			return value;
		}
		p += n + (p[n] == '&');
	}
	return NULL;
}

/* A call of a read handler. */
struct ask {
	api_fn *fn;
	struct api_call call;
};

static inline int
run_handler(struct tx *t, void *arg, struct err *e)
{
	struct ask *a = arg;

	return a->fn(t, &a->call, e);
}

/* Calls a read handler; its document, or NULL with e. */
static inline json_t *
get(api_fn *fn, int64_t id, const char *query_args, struct err *e)
{
	struct ask a = {.fn = fn};
	json_t *doc;

	err_clear(e);
	args = query_args;
	api_call_init(&a.call);
	a.call.id = id;
	a.call.query = query;
	a.call.args = query_args;
	a.call.path = "/api/v1/runs/r1/histogram";
	rig_read(run_handler, &a, e);
	doc = json_incref(a.call.doc);
	api_call_fini(&a.call);
	ck_assert_int_eq(doc == NULL, e->class != ERR_NONE);
	return doc;
}

/* good returns the document of a call that must succeed. */
static inline json_t *
good(api_fn *fn, int64_t id, const char *query_args)
{
	struct err e;
	json_t *doc = get(fn, id, query_args, &e);

	ck_assert_msg(doc != NULL, "%s: %s", query_args, e.text);
	return doc;
}

/* refused wants a call to fail with a class and a part of its text. */
static inline void
refused(api_fn *fn, int64_t id, const char *query_args, enum err_class class,
	const char *part)
{
	struct err e;
	json_t *doc = get(fn, id, query_args, &e);

	ck_assert_ptr_null(doc);
	ck_assert_str_eq(err_name(e.class), err_name(class));
	ck_assert_msg(strstr(e.text, part) != NULL, "\"%s\"", e.text);
}

/* A done run with a maximum and three loads of one workload; peak is its maximum. */
static inline void
add_done_run(int64_t id, int64_t drive, int64_t suite, uint64_t peak)
{
	struct ingest_answer a;
	struct err e = {0};

	rig_add_run((struct rig_run){.id = id,
		.drive = drive,
		.suite = suite,
		.repeat = id,
		.state = "done",
		.attempt = "sealed"});
	feed_reset();
	feed_start((uint64_t)id, (uint64_t)(100 + id));
	feed_point(1, "fill", -1, 100, 1000);
	feed_start_point(2, "4k-random-read", -1);
	feed_sample(2, 0, 2000);
	feed_sample(2, 1, 3000);
	feed_point(2, "4k-random-read", -1, peak, 400);
	feed_point(3, "4k-random-read", 10, peak / 10, 100);
	feed_point(4, "4k-random-read", 50, peak / 2, 200);
	feed_point(5, "4k-random-read", 100, peak * 96 / 100, 300);
	feed_result("done");
	OK(feed_send(drive, &a, &e));
	ck_assert_uint_eq(a.acked, rig_feed.seq);
}

/* The member at a path of names and numbers, "/items/0/iops", as compact JSON. */
static inline const char *
at(const json_t *doc, const char *path)
{
	static char *text;
	char part[64];

	while (*path == '/' && doc != NULL) {
		size_t n = strcspn(path + 1, "/");

		snprintf(part, sizeof(part), "%.*s", (int)n, path + 1);
		doc = json_is_array(doc) ? json_array_get(doc, (size_t)atoi(part))
					 : json_object_get(doc, part);
		path += n + 1;
	}
	free(text);
	text = doc != NULL ? json_dumps(doc, JSON_ENCODE_ANY | JSON_COMPACT |
						     JSON_REAL_PRECISION(12))
			   : xstrdup("(none)");
	return text;
}

/* Whether one of a comparison's warnings has a text. */
static inline void
has_warning(const json_t *doc, const char *part, bool wanted)
{
	const char *all = at(doc, "/warnings");

	ck_assert_msg((strstr(all, part) != NULL) == wanted, "\"%s\": %s", part, all);
}

#define IS(doc, path, want) ck_assert_str_eq(at(doc, path), want)

#endif
