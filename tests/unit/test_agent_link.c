#include "agent/link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/identity.h"
#include "agent/news.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/loop.h"
#include "common/mbox.h"
#include "tests/unit/log_rig.h"
#include "tests/unit/unit.h"

/*
 * A server that takes one request after the other and answers each as the next script
 * says; "hold" answers nothing and waits for the other side to hang up.
 */
static const char *const *script;
static int listener;
static pthread_t thread;
static char url[64];
static struct mbox *requests; /* what came, char * */
static json_t *body;

static size_t
body_left(const char *text, size_t n)
{
	const char *end = strstr(text, "\r\n\r\n");
	const char *length = strstr(text, "Content-Length: ");
	size_t have, want;

	if (end == NULL)
		return 1;
	have = n - (size_t)(end + 4 - text);
	want = length != NULL ? (size_t)strtoul(length + 16, NULL, 10) : 0;
	return want > have ? want - have : 0;
}

/* One connection: requests until it ends or is to be ended. */
static void
serve(int fd)
{
	static char text[1 << 16];
	size_t n = 0;
	ssize_t got;

	while (*script != NULL &&
		(got = recv(fd, text + n, sizeof(text) - 1 - n, 0)) > 0) {
		const char *say = *script;

		n += (size_t)got;
		text[n] = '\0';
		if (body_left(text, n) > 0)
			continue;
		mbox_put(requests, strdup(text));
		n = 0;
		script++;
		if (strcmp(say, "hold") == 0)
			continue; /* until the other side hangs up or asks again */
		send(fd, say, strlen(say), MSG_NOSIGNAL);
	}
}

static void *
run_server(void *arg)
{
	(void)arg;
	while (*script != NULL) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			break;
		serve(fd);
		close(fd);
	}
	return NULL;
}

static void
start_server(const char *const *lines)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);

	script = lines;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&sa, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", (unsigned)ntohs(sa.sin_port));
	ck_assert_int_eq(pthread_create(&thread, NULL, run_server, NULL), 0);
}

static void
stop_server(void)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
}

static void
setup(void)
{
	struct err e = {0};

	OK(link_init(&e));
	requests = mbox_new(100);
	body = json_pack("{s:i}", "a", 1);
}

static void
teardown(void)
{
	char *text;

	while ((text = mbox_get(requests, 0)) != NULL)
		free(text);
	mbox_free(requests);
	json_decref(body);
	link_fini();
}

static int
post(json_t **ret_answer, struct err *e)
{
	struct link_peer peer = {
		.url = url, .pin = "", .ca_file = "", .bearer = "secret"};

	return link_post(
		&peer, "/api/v1/agents/enroll", body, 5 * NS_PER_S, ret_answer, e);
}

#define REPLY(status, length, text)                      \
	"HTTP/1.1 " status "\r\nContent-Length: " length \
	"\r\nContent-Type: application/json\r\n\r\n" text

START_TEST(a_post_carries_body_and_token_and_gives_the_answer)
{
	static const char *const lines[] = {REPLY("200 OK", "7", "{\"b\":2}"), NULL};
	struct err e = {0};
	json_t *answer;
	char *text;

	start_server(lines);
	OK(post(&answer, &e));
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "b")), 2);
	json_decref(answer);
	text = mbox_get(requests, -1);
	ck_assert_msg(strstr(text, "POST /api/v1/agents/enroll HTTP/1.1\r\n") == text,
		"%s", text);
	ck_assert_msg(
		strstr(text, "Authorization: Bearer secret\r\n") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "\r\n\r\n{\"a\":1}") != NULL, "%s", text);
	free(text);
	stop_server();
}
END_TEST

START_TEST(a_problem_document_is_told_with_its_fix)
{
	static const char *const lines[] = {
		REPLY("403 Forbidden", "60",
			"{\"detail\":\"token was used\",\"errors\":[{\"fix\":\"make "
			"one\"}]}  "
			"  "),
		NULL};
	struct err e = {0};
	json_t *answer;

	start_server(lines);
	FAILS(post(&answer, &e), ERR_FORBIDDEN, "answered 403: token was used");
	ck_assert_str_eq(e.fix, "make one");
	stop_server();
}
END_TEST

START_TEST(a_node_that_is_not_known_any_more_is_told_how_to_join_again)
{
	static const char *const lines[] = {REPLY("401 Unauthorized", "53",
						    "{\"detail\":\"not known here\","
						    "\"errors\":[{\"fix\":\"look\"}]}"),
		NULL};
	struct err e = {0};
	json_t *answer;

	start_server(lines);
	FAILS(post(&answer, &e), ERR_AUTH, "answered 401: not known here");
	ck_assert_msg(strstr(e.fix, "enrolled anew") != NULL, "%s", e.fix);
	ck_assert_msg(
		strstr(e.fix, "ssdlab node enroll NAME --replace") != NULL, "%s", e.fix);
	stop_server();
}
END_TEST

START_TEST(answers_that_are_no_json_are_refused)
{
	static const char *const lines[] = {REPLY("200 OK", "4", "oops"),
		REPLY("502 Bad Gateway", "4", "oops"), NULL};
	struct err e = {0};
	json_t *answer;

	start_server(lines);
	FAILS(post(&answer, &e), ERR_INVALID, "not valid JSON");
	FAILS(post(&answer, &e), ERR_NET, "answered 502: no reason given");
	stop_server();
}
END_TEST

START_TEST(a_controller_that_is_away_is_named_with_what_to_check)
{
	static const char *const none[] = {NULL};
	struct err e = {0};
	json_t *answer;

	start_server(none);
	stop_server();
	FAILS(post(&answer, &e), ERR_NET, "could not be reached");
	ck_assert_msg(strstr(e.text, url) != NULL, "%s", e.text);
	ck_assert_msg(strstr(e.fix, "is ssdlab-controller running") != NULL, "%s", e.fix);
}
END_TEST

static struct inbox in;
static struct identity id;
static char state[] = "/tmp/test_link.XXXXXX";

static struct link *
start_link(void)
{
	struct err e = {0};
	struct link *k;

	memset(&id, 0, sizeof(id));
	id.node = 3;
	snprintf(id.url, sizeof(id.url), "%s", url);
	snprintf(id.secret, sizeof(id.secret), "secret");
	OK(loop_new(&in.l, &e));
	in.m = mbox_new(10);
	OK(link_start(&k, &id, "", state, &in, &e));
	return k;
}

static void
stop_link(struct link *k)
{
	int64_t since = clock_mono();

	link_stop(k);
	ck_assert_int_lt(clock_mono() - since, 120 * NS_PER_S);
	mbox_free(in.m);
	loop_free(in.l);
}

static void
report(struct link *k, const char *what, bool urgent)
{
	json_t *doc = json_pack("{s:i, s:s}", "wait_s", 1000, "what", what);

	link_take_report(k, &doc, urgent);
	ck_assert_ptr_null(doc);
}

/* The next request of the thread must have this in it. */
static void
want_request(const char *part)
{
	char *text = mbox_get(requests, 120 * NS_PER_S);

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(strstr(text, part) != NULL, "%s", text);
	free(text);
}

START_TEST(a_waiting_poll_is_interrupted_by_news)
{
	static const char *const lines[] = {
		"hold", REPLY("200 OK", "7", "{\"b\":2}"), "hold", NULL};
	struct link *k;
	struct news *n;

	start_server(lines);
	k = start_link();
	report(k, "first", true);
	want_request("\"first\"");
	report(k, "second", true);
	want_request("\"second\"");
	n = mbox_get(in.m, 120 * NS_PER_S);
	ck_assert_ptr_nonnull(n);
	ck_assert_int_eq(n->kind, NEWS_ANSWER);
	ck_assert_int_eq(json_integer_value(json_object_get(n->doc, "b")), 2);
	news_free(n);
	/* A stop interrupts as well. */
	report(k, "third", true);
	want_request("POST /api/v1/agents/n3/reconcile");
	stop_link(k);
	stop_server();
}
END_TEST

START_TEST(a_report_is_tried_until_the_controller_answers)
{
	static const char *const lines[] = {REPLY("503 Service Unavailable", "2", "{}"),
		REPLY("503 Service Unavailable", "2", "{}"), REPLY("200 OK", "2", "{}"),
		NULL};
	struct link *k;
	struct news *n;

	start_server(lines);
	k = start_link();
	report(k, "lasting", true);
	want_request("\"lasting\"");
	want_request("\"lasting\"");
	want_request("\"lasting\"");
	n = mbox_get(in.m, 120 * NS_PER_S);
	ck_assert_ptr_nonnull(n);
	news_free(n);
	stop_link(k);
	stop_server();
}
END_TEST

/* Of a report that is refused another one is made, and the first is kept. */
START_TEST(a_report_that_is_not_understood_is_kept_aside_and_said_once)
{
	static const char *const lines[] = {
		REPLY("400 Bad Request", "19", "{\"detail\":\"no boot\"}"),
		REPLY("400 Bad Request", "19", "{\"detail\":\"no boot\"}"),
		REPLY("200 OK", "2", "{}"), NULL};
	char path[64];
	struct link *k;
	struct news *n;
	struct err e = {0};
	json_t *kept;

	log_catch();
	memcpy(state + sizeof(state) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(state));
	snprintf(path, sizeof(path), "%s/refused-report.json", state);
	start_server(lines);
	k = start_link();
	for (int i = 0; i < 3; i++) {
		report(k, i == 0 ? "first" : i == 1 ? "second" : "third", true);
		want_request(i == 0 ? "\"first\"" : i == 1 ? "\"second\"" : "\"third\"");
		n = mbox_get(in.m, 120 * NS_PER_S);
		ck_assert_ptr_nonnull(n);
		ck_assert_int_eq(n->kind, i < 2 ? NEWS_REFUSED : NEWS_ANSWER);
		news_free(n);
	}
	ck_assert_uint_eq(log_caught("report.refused"), 1);
	OK(json_read_file(path, &kept, &e));
	ck_assert_str_eq(json_text_of(kept, "what"), "first");
	json_decref(kept);
	stop_link(k);
	stop_server();
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(state), 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("agent link");

	seal_init();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_post_carries_body_and_token_and_gives_the_answer);
	tcase_add_test(tc, a_problem_document_is_told_with_its_fix);
	tcase_add_test(tc, a_node_that_is_not_known_any_more_is_told_how_to_join_again);
	tcase_add_test(tc, answers_that_are_no_json_are_refused);
	tcase_add_test(tc, a_controller_that_is_away_is_named_with_what_to_check);
	tcase_add_test(tc, a_waiting_poll_is_interrupted_by_news);
	tcase_add_test(tc, a_report_is_tried_until_the_controller_answers);
	tcase_add_test(tc, a_report_that_is_not_understood_is_kept_aside_and_said_once);
	return unit_run("agent link", tc);
}
