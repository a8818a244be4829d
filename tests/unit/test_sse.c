#include "controller/sse.h"

#include "controller/event.h"
#include "tests/unit/http_rig.h"

const struct api_route *
api_routes(size_t *ret_n)
{
	static const struct api_route rows[] = {
		{"GET", "/api/v1/events", false, ROLE_VIEWER, api_events},
	};

	*ret_n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

/* Events reach the stream as the controller wires it. */
static void
on_notify(void *arg, enum notify what, int64_t id)
{
	(void)arg;
	(void)id;
	if (what == NOTIFY_EVENTS)
		sse_notify(rig_sse);
}

static void
set_up(void)
{
	http_rig_up();
	store_on_notify(rig_store, on_notify, NULL);
}

struct some {
	const char *topic;
	int from, n;
};

static int
add_events(struct tx *t, void *arg, struct err *e)
{
	const struct some *s = arg;

	for (int i = s->from; i < s->from + s->n; i++)
		if (event_add(t, "run.state", s->topic, json_pack("{s:i}", "n", i), e) !=
			0)
			return -1;
	return 0;
}

static void
add(const char *topic, int from, int n)
{
	struct some s = {topic, from, n};
	struct err e = {0};

	OK(rig_write(add_events, &s, &e));
}

static void
follow(struct conn *c, const char *query, const char *headers)
{
	char *text = xasprintf("GET /api/v1/events%s HTTP/1.1\r\nHost: a\r\n"
			       "Authorization: Bearer op\r\n%s\r\n",
		query, headers);

	conn_open(c);
	conn_send(c, text, strlen(text));
	conn_wait(c, "\r\n\r\n");
	free(text);
}

/* How often text is in what came. */
static int
times(const struct conn *c, const char *text)
{
	int n = 0;

	for (const char *p = str_text(&c->in); (p = strstr(p, text)) != NULL; p++)
		n++;
	return n;
}

START_TEST(events_come_as_they_happen)
{
	struct conn c;

	add("run:r1", 100, 1);
	follow(&c, "", "");
	conn_wait(&c, "retry: 2000\n\n");
	add("run:r1", 1, 2);
	conn_wait(&c, "id: 3\nevent: run.state\ndata: {\"n\":2}\n\n");
	ck_assert(conn_has(&c, "Content-Type: text/event-stream\r\n"));
	ck_assert(conn_has(&c, "id: 2\nevent: run.state\ndata: {\"n\":1}\n\n"));
	ck_assert(!conn_has(&c, "\"n\":100"));
	conn_close(&c);
}
END_TEST

START_TEST(what_was_missed_is_sent_first_and_once)
{
	struct conn c;

	add("run:r1", 1, 700);
	follow(&c, "", "Last-Event-ID: 100\r\n");
	add("run:r1", 701, 100);
	conn_wait(&c, "{\"n\":800}");
	ck_assert_int_eq(times(&c, "event: run.state\n"), 700);
	ck_assert(!conn_has(&c, "id: 100\n"));
	for (int i = 101; i <= 800; i++) {
		char want[64];

		snprintf(want, sizeof(want),
			"id: %d\nevent: run.state\ndata: {\"n\":%d}\n", i, i);
		ck_assert_int_eq(times(&c, want), 1);
	}
	conn_close(&c);
}
END_TEST

START_TEST(topics_choose_what_is_sent)
{
	struct conn c;
	struct conn kind;

	follow(&c, "?topics=run:r2,node:n1", "");
	follow(&kind, "?topics=run", "");
	add("run:r1", 1, 1);
	add("run:r2", 2, 1);
	add("run:r22", 3, 1);
	add("node:n1", 4, 1);
	add("run:r2", 5, 1);
	conn_wait(&c, "{\"n\":5}");
	ck_assert_int_eq(times(&c, "data: "), 3);
	ck_assert(conn_has(&c, "{\"n\":2}"));
	ck_assert(conn_has(&c, "{\"n\":4}"));
	conn_wait(&kind, "{\"n\":5}");
	ck_assert_int_eq(times(&kind, "data: "), 4);
	ck_assert(sse_wants(rig_sse, "run:r9"));
	ck_assert(sse_wants(rig_sse, "node:n1"));
	ck_assert(!sse_wants(rig_sse, "node:n2"));
	conn_close(&c);
	conn_close(&kind);
}
END_TEST

START_TEST(samples_are_live_and_have_no_id)
{
	struct conn c;

	follow(&c, "?topics=run:r2", "");
	conn_wait(&c, "retry: ");
	sse_sample(rig_sse, "run.sample", "run:r1", json_pack("{s:i}", "second", 1));
	sse_sample(rig_sse, "run.sample", "run:r2", json_pack("{s:i}", "second", 2));
	conn_wait(&c, "event: run.sample\ndata: {\"second\":2}\n\n");
	ck_assert(!conn_has(&c, "\"second\":1"));
	ck_assert(!conn_has(&c, "id: "));
	conn_close(&c);
}
END_TEST

START_TEST(bad_requests_are_answered_not_streamed)
{
	talk_is("GET /api/v1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
		401, "needs a token");
	talk_is("GET /api/v1/events?topic=x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
		"Authorization: Bearer op\r\n\r\n",
		400, "did you mean \\\"topics\\\"");
	talk_is("GET /api/v1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
		"Last-Event-ID: abc\r\nAuthorization: Bearer op\r\n\r\n",
		400, "Last-Event-ID");
}
END_TEST

START_TEST(a_last_event_id_of_another_life_starts_at_the_end)
{
	struct conn c;

	add("run:r1", 1, 1);
	follow(&c, "", "Last-Event-ID: 999999\r\n");
	add("run:r1", 2, 1);
	conn_wait(&c, "{\"n\":2}");
	ck_assert_int_eq(times(&c, "data: "), 1);
	conn_close(&c);
}
END_TEST

static void
never(void *arg)
{
	(void)arg;
}

START_TEST(a_slow_reader_of_events_is_read_for_later)
{
	struct sse_client *c = sse_join(rig_sse, "", 0, never, NULL);
	static char buf[65536];
	size_t n;
	int quotes = 0; /* two in the data of each event, none in a heartbeat's */

	/* Nobody reads while many MB of events pile up: in the table, not in memory. */
	add("run:r1", 1, 40000);
	rig_is("SELECT count(*) FROM event", "40000");
	while (quotes < 80000) {
		n = sse_read(c, buf, sizeof(buf));
		for (size_t i = 0; i < n; i++)
			quotes += buf[i] == '"';
		if (n == 0)
			rig_is("SELECT 1", "1");
		ck_assert(!sse_ended(c));
	}
	ck_assert_int_eq(quotes, 80000);
	sse_leave(c);
}
END_TEST

START_TEST(a_slow_reader_of_samples_is_cut_off)
{
	struct sse_client *c = sse_join(rig_sse, "", 0, never, NULL);
	int n = 0;

	while (!sse_ended(c) && n < 1000000) {
		sse_sample(rig_sse, "run.sample", "run:r1", json_pack("{s:i}", "n", n));
		n++;
	}
	ck_assert_int_lt(n, 40000);
	ck_assert_int_gt(n, 10000);
	sse_leave(c);
}
END_TEST

START_TEST(clients_are_limited_in_number)
{
	struct sse_client *all[SSE_CLIENTS_MAX];

	for (size_t i = 0; i < SSE_CLIENTS_MAX; i++) {
		all[i] = sse_join(rig_sse, "run:r1", 0, never, NULL);
		ck_assert_ptr_nonnull(all[i]);
	}
	talk_is("GET /api/v1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
		"Authorization: Bearer op\r\n\r\n",
		503, "200 clients");
	for (size_t i = 0; i < SSE_CLIENTS_MAX; i++)
		sse_leave(all[i]);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("sse");

	tcase_add_checked_fixture(tc, set_up, http_rig_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, events_come_as_they_happen);
	tcase_add_test(tc, what_was_missed_is_sent_first_and_once);
	tcase_add_test(tc, topics_choose_what_is_sent);
	tcase_add_test(tc, samples_are_live_and_have_no_id);
	tcase_add_test(tc, bad_requests_are_answered_not_streamed);
	tcase_add_test(tc, a_last_event_id_of_another_life_starts_at_the_end);
	tcase_add_test(tc, a_slow_reader_of_events_is_read_for_later);
	tcase_add_test(tc, a_slow_reader_of_samples_is_cut_off);
	tcase_add_test(tc, clients_are_limited_in_number);
	return unit_run("sse", tc);
}
