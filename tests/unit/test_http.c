#include "controller/http.h"

#include "common/json.h"
#include "tests/unit/http_rig.h"

static int
get_echo(struct tx *t, struct api_call *c, struct err *e)
{
	const char *text = c->query(c, "text");

	(void)t;
	(void)e;
	api_etag(c, "%s", c->args);
	c->doc = json_pack("{s:s,s:s,s:s,s:s}", "text", text != NULL ? text : "", "args",
		c->args, "peer", c->peer, "key", c->key);
	return 0;
}

static int
post_echo(struct tx *t, struct api_call *c, struct err *e)
{
	(void)t;
	(void)e;
	c->status = 201;
	snprintf(c->location, sizeof(c->location), "/v/echo/1");
	c->doc = json_pack("{s:O}", "body", c->body != NULL ? c->body : json_null());
	return 0;
}

static int
hold_on(struct tx *t, struct api_call *c, struct err *e)
{
	(void)e;
	c->hold = true;
	c->hold_node = 5;
	c->hold_until_mono = tx_mono(t) + 3600 * NS_PER_S;
	c->doc = json_pack("{s:b}", "nothing", 1);
	return 0;
}

static int
say_text(struct tx *t, struct api_call *c, struct err *e)
{
	(void)t;
	(void)e;
	str_puts(&c->text, "plain\n");
	c->type = "text/plain; charset=utf-8";
	return 0;
}

const struct api_route *
api_routes(size_t *ret_n)
{
	static const struct api_route rows[] = {
		{"GET", "/v/echo", false, ROLE_VIEWER, get_echo},
		{"GET", "/v/keys/{key}", false, ROLE_NONE, get_echo},
		{"POST", "/v/echo", true, ROLE_OPERATOR, post_echo},
		{"POST", "/v/hold", true, ROLE_NONE, hold_on},
		{"GET", "/v/text", false, ROLE_NONE, say_text},
		{"GET", "/api/v1/events", false, ROLE_VIEWER, api_events},
	};

	*ret_n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

#define END "Host: a\r\nConnection: close\r\n\r\n"
#define AUTH "Authorization: Bearer op\r\n"
#define JSON "Content-Type: application/json\r\n"

START_TEST(a_get_is_answered_in_json)
{
	talk_is("GET /v/echo?text=a%20b&x=1%262 HTTP/1.1\r\n" AUTH END, 200,
		"{\"text\":\"a "
		"b\",\"args\":\"text=a%20b&x=1%262\",\"peer\":\"127.0.0.1\"");
	talk_is("GET /v/echo HTTP/1.1\r\nauthorization: bearer   op\r\n" END, 200,
		"Content-Type: application/json\r\n");
	talk_is("GET /v/keys/a%40b HTTP/1.1\r\n" END, 200, "\"key\":\"a@b\"");
	talk_is("GET /v/text HTTP/1.1\r\n" END, 200, "\r\n\r\nplain\n");
	talk_is("GET /v/text HTTP/1.1\r\n" END, 200, "Cache-Control: no-store\r\n");
}
END_TEST

START_TEST(failures_are_problem_documents)
{
	talk_is("GET /v/echo HTTP/1.1\r\n" END, 401, "application/problem+json");
	talk_is("GET /v/echo HTTP/1.1\r\n" END, 401, "WWW-Authenticate: Bearer\r\n");
	talk_is("GET /v/echo HTTP/1.1\r\nAuthorization: Basic b3A6\r\n" END, 401,
		"needs a token");
	talk_is("GET /nowhere HTTP/1.1\r\n" END, 404,
		"\"detail\":\"there is nothing at /nowhere\"");
	talk_is("DELETE /v/echo HTTP/1.1\r\n" END, 405, "Allow: GET, HEAD, POST\r\n");
	talk_is("GET /v/echo?a=%ff HTTP/1.1\r\n" AUTH END, 400, "query is not UTF-8");
	talk_is("GET /v/keys/%ff HTTP/1.1\r\n" AUTH END, 400, "path is not UTF-8");
	talk_is("GET /v/keys/r1%00 HTTP/1.1\r\n" AUTH END, 400, "path is not UTF-8");
	talk_is("GET /v/keys/%00 HTTP/1.1\r\n" AUTH END, 400, "path is not UTF-8");
	talk_is("GET /v/echo%00?a=1 HTTP/1.1\r\n" AUTH END, 400, "path is not UTF-8");
	talk_is("GET /v/echo?a=b%00c HTTP/1.1\r\n" AUTH END, 400, "query is not UTF-8");
	talk_is("GET /v/echo?a%00=b HTTP/1.1\r\n" AUTH END, 400, "query is not UTF-8");
	talk_is("GET /v/echo?text=%2500 HTTP/1.1\r\n" AUTH END, 200, "%00");
	talk_is("GET /v/echo?a=1&a=2 HTTP/1.1\r\n" AUTH END, 400, "a is given twice");
	talk_is("GET /v/echo?&&&text=one&& HTTP/1.1\r\n" AUTH END, 200, "one");
}
END_TEST

START_TEST(head_is_get_without_its_body)
{
	char *answer = talk("HEAD /v/echo?text=abc HTTP/1.1\r\n" AUTH END);

	ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 200 "));
	ck_assert_ptr_nonnull(strstr(answer, "ETag: \""));
	ck_assert_ptr_nonnull(strstr(answer, "Content-Length: "));
	ck_assert_str_eq(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	free(answer);
	talk_is("HEAD /v/nowhere HTTP/1.1\r\n" AUTH END, 404, "");
}
END_TEST

START_TEST(a_known_etag_gets_304)
{
	char *answer = talk("GET /v/echo HTTP/1.1\r\n" AUTH END);
	char *etag = strstr(answer, "ETag: ");
	char *request;

	ck_assert_ptr_nonnull(etag);
	etag[strcspn(etag, "\r")] = '\0';
	request = xasprintf("GET /v/echo HTTP/1.1\r\n" AUTH "If-None-Match: %s\r\n" END,
		etag + strlen("ETag: "));
	talk_is(request, 304, "ETag: ");
	free(request);
	free(answer);
}
END_TEST

START_TEST(a_post_carries_json)
{
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 9\r\n" END
		"{\"a\":\"b\"}",
		201, "{\"body\":{\"a\":\"b\"}}");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n"
		"Content-Type: application/json; charset=utf-8\r\n" END "{}",
		201, "Location: /v/echo/1\r\n");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Transfer-Encoding: chunked\r\n" END
		"3\r\n{\"a\r\n6\r\n\":\"b\"}\r\n0\r\n\r\n",
		201, "{\"body\":{\"a\":\"b\"}}");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH "Content-Length: 0\r\n" END, 201,
		"{\"body\":null}");
}
END_TEST

START_TEST(bodies_that_are_no_json_object_are_refused)
{
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 2\r\n" END "{,",
		400, "line 1, column 2: not valid JSON");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 2\r\n" END "{,",
		400, "\"errors\":[{\"pointer\":\"\",\"detail\":\"line 1");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 2\r\n" END "{,",
		400, "\"fix\":\"write JSON as in RFC 8259");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 2\r\n" END "[]",
		400,
		"[{\"pointer\":\"\",\"detail\":\"the body is not a JSON object\","
		"\"fix\":\"send");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 15\r\n" END
		"{\"a\":1, \"a\":2 }",
		400, "duplicate");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH
		"Content-Type: application/x-www-form-urlencoded\r\n"
		"Content-Length: 3\r\n" END "a=b",
		415, "not application/json");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n" END "{}", 415,
		"not application/json");
}
END_TEST

static void
charset_is(const char *parameters, int status, const char *want)
{
	char *text = xasprintf("POST /v/echo HTTP/1.1\r\n" AUTH "Content-Length: 2\r\n"
			       "Content-Type: application/json%s\r\n" END "{}",
		parameters);

	talk_is(text, status, want);
	free(text);
}

START_TEST(json_is_read_as_utf_8_only)
{
	static const char fix[] = "\"fix\":\"send JSON in UTF-8";

	charset_is("; charset=UTF-8", 201, "{}");
	charset_is(";charset=\"utf-8\"; x=y", 201, "{}");
	charset_is("; charset=utf-16", 415, "not in UTF-8");
	charset_is("; charset=utf-16", 415, fix);
	charset_is("; Charset=\"ISO-8859-1\"", 415, fix);
	charset_is("; charset=utf-8859", 415, fix);
	charset_is("; charset=", 415, fix);
}
END_TEST

static char *
nested(int levels)
{
	struct str s = {0};

	str_printf(&s, "POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: %d\r\n" END,
		6 * levels + 1);
	for (int i = 0; i < levels; i++)
		str_puts(&s, "{\"a\":");
	str_puts(&s, "1");
	for (int i = 0; i < levels; i++)
		str_puts(&s, "}");
	return str_take(&s);
}

START_TEST(deep_json_is_refused)
{
	char *text = nested(16);

	talk_is(text, 201, "{\"body\":");
	free(text);
	text = nested(100);
	talk_is(text, 413,
		"\"errors\":[{\"pointer\":\"\",\"detail\":\"the document is nested "
		"deeper "
		"than 16 levels\",\"fix\":\"");
	free(text);
}
END_TEST

/* Sends a request with a body of size bytes; wants this status, and that the connection
 * is good for another request. */
static void
refused_in_full(const char *type, size_t size, const char *status)
{
	char *big = xcalloc(1, size + 200);
	struct conn c;
	int n = snprintf(big, 200,
		"POST /v/echo HTTP/1.1\r\n" AUTH
		"Host: a\r\n%sContent-Length: %zu\r\n\r\n",
		type, size);

	memset(big + n, 'x', size);
	conn_open(&c);
	conn_send(&c, big, (size_t)n + size);
	conn_wait(&c, status);
	conn_send(&c, "GET /v/text HTTP/1.1\r\n" END,
		strlen("GET /v/text HTTP/1.1\r\n" END));
	conn_wait(&c, "plain\n");
	conn_close(&c);
	free(big);
}

START_TEST(a_body_of_2_mib_is_refused_and_the_client_sees_it)
{
	size_t size = 2U << 20;
	char *big = xcalloc(1, size + 200);
	char *answer;
	int n;

	/* One who asks, or announces very much, is told before a byte of it was sent. */
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON
		"Expect: 100-continue\r\nContent-Length: 2097152\r\n" END,
		413, "the body has more than 1048576 bytes");
	talk_is("POST /v/echo HTTP/1.1\r\n" AUTH JSON "Content-Length: 9000000\r\n" END,
		413, "the body has more than 1048576 bytes");
	/* One who just sends would not see an answer that comes before the end. */
	refused_in_full(JSON, size, "HTTP/1.1 413 ");
	refused_in_full("Content-Type: text/plain\r\n", 1U << 19, "HTTP/1.1 415 ");
	/* Chunks announce nothing: they are counted. */
	n = snprintf(big, 200,
		"POST /v/echo HTTP/1.1\r\n" AUTH JSON "Transfer-Encoding: chunked\r\n" END
		"200000\r\n");
	memset(big + n, 'x', size);
	memcpy(big + n + size, "\r\n0\r\n\r\n", 7);
	answer = talk_bytes(big, (size_t)n + size + 7);
	ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 413 "));
	free(answer);
	free(big);
}
END_TEST

START_TEST(garbage_is_survived)
{
	static const char *const junk[] = {
		"\x16\x03\x01\x02garbage\r\n\r\n",
		"GET\r\n\r\n",
		"GET /v/echo\r\n\r\n",
		"GET /v/echo HTTP/9.9\r\n\r\n",
		"POST /v/echo HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
		"POST /v/echo HTTP/1.1\r\nContent-Length: zwei\r\n\r\n",
		"GET /v/echo HTTP/1.1\r\n: nothing\r\n\r\n",
	};
	char *long_line = xcalloc(1, 100001);

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		struct conn c;

		conn_open(&c);
		conn_send(&c, junk[i], strlen(junk[i]));
		shutdown(c.fd, SHUT_WR);
		conn_wait(&c, NULL);
		conn_close(&c);
	}
	/* Blank lines are skipped for as long as they come; the idle limit ends it. */
	{
		struct conn c;

		conn_open(&c);
		conn_send(&c, "\r\n\r\n\r\n\r\n", 8);
		conn_close(&c);
	}
	memset(long_line, 'a', 100000);
	free(talk(long_line));
	free(long_line);
	talk_is("GET /v/text HTTP/1.1\r\n" END, 200, "plain");
}
END_TEST

START_TEST(one_connection_serves_many_requests)
{
	struct conn c;

	conn_open(&c);
	for (int i = 0; i < 20; i++) {
		char text[100];

		snprintf(text, sizeof(text),
			"GET /v/echo?text=n%d HTTP/1.1\r\n" AUTH "Host: a\r\n\r\n", i);
		conn_send(&c, text, strlen(text));
		snprintf(text, sizeof(text), "\"text\":\"n%d\"", i);
		conn_wait(&c, text);
	}
	conn_close(&c);
}
END_TEST

START_TEST(requests_in_one_packet_are_answered_in_turn)
{
	struct conn c;
	const char *two = "GET /v/echo?text=one HTTP/1.1\r\n" AUTH "Host: a\r\n\r\n"
			  "GET /v/echo?text=two HTTP/1.1\r\n" AUTH END;

	conn_open(&c);
	conn_send(&c, two, strlen(two));
	conn_wait(&c, NULL);
	ck_assert(conn_has(&c, "\"text\":\"one\""));
	ck_assert(conn_has(&c, "\"text\":\"two\""));
	conn_close(&c);
}
END_TEST

/* One that asked before may be idle for longer. */
START_TEST(a_connection_that_asks_nothing_is_closed_soon)
{
	static const char head[] = "GET /v/text HTTP/1.1\r\n" AUTH "Host: a\r\n\r\n";
	int64_t begin = clock_mono();
	struct conn quiet, half, kept;

	conn_open(&quiet);
	conn_open(&half);
	conn_open(&kept);
	conn_send(&half, head, 20);
	conn_send(&kept, head, strlen(head));
	conn_wait(&kept, "plain");
	conn_wait(&quiet, NULL);
	conn_wait(&half, NULL);
	ck_assert_int_ge(clock_mono() - begin, 9 * NS_PER_S);
	ck_assert_int_le(clock_mono() - begin, 40 * NS_PER_S);
	ck_assert(!kept.ended);
	str_reset(&kept.in);
	conn_send(&kept, head, strlen(head));
	conn_wait(&kept, "plain");
	conn_close(&quiet);
	conn_close(&half);
	conn_close(&kept);
}
END_TEST

static const char hold_request[] = "POST /v/hold HTTP/1.1\r\n" END;

static void
wait_held(bool held)
{
	while (api_holds(rig_api, 5) != held)
		rig_is("SELECT 1", "1");
}

START_TEST(a_held_request_ends_when_its_client_leaves)
{
	struct conn c;

	conn_open(&c);
	conn_send(&c, hold_request, strlen(hold_request));
	wait_held(true);
	conn_close(&c);
	wait_held(false);
}
END_TEST

START_TEST(stopping_answers_what_is_held_and_streamed)
{
	static const char stream_request[] = "GET /api/v1/events HTTP/1.1\r\n" AUTH END;
	struct conn held;
	struct conn stream;
	struct conn half;

	conn_open(&held);
	conn_send(&held, hold_request, strlen(hold_request));
	wait_held(true);
	conn_open(&stream);
	conn_send(&stream, stream_request, strlen(stream_request));
	conn_wait(&stream, "retry: ");
	conn_open(&half);
	conn_send(&half, "GET /v/ec", 9);
	http_rig_stop();
	conn_wait(&held, NULL);
	ck_assert(conn_has(&held, "{\"nothing\":true}"));
	conn_wait(&stream, NULL);
	conn_wait(&half, NULL);
	conn_close(&held);
	conn_close(&stream);
	conn_close(&half);
}
END_TEST

START_TEST(an_address_in_use_is_named)
{
	struct http_config config = {.address = "127.0.0.1", .port = http_port(rig_http)};
	struct http *other;
	struct err e = {0};

	FAILS(http_open(&other, rig_loop, rig_api, rig_sse, &config, &e), ERR_NET,
		"listen on 127.0.0.1 port");
	config.address = "nowhere";
	FAILS(http_open(&other, rig_loop, rig_api, rig_sse, &config, &e), ERR_INVALID,
		"\"nowhere\" is no address");
	config.address = "127.0.0.1";
	config.port = 0;
	config.key = "no key";
	config.cert = "no certificate";
	FAILS(http_open(&other, rig_loop, rig_api, rig_sse, &config, &e), ERR_INVALID,
		"could not be started");
	talk_is("GET /v/text HTTP/1.1\r\n" END, 200, "plain");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("http");

	tcase_add_checked_fixture(tc, http_rig_up, http_rig_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_get_is_answered_in_json);
	tcase_add_test(tc, failures_are_problem_documents);
	tcase_add_test(tc, head_is_get_without_its_body);
	tcase_add_test(tc, a_known_etag_gets_304);
	tcase_add_test(tc, a_post_carries_json);
	tcase_add_test(tc, bodies_that_are_no_json_object_are_refused);
	tcase_add_test(tc, json_is_read_as_utf_8_only);
	tcase_add_test(tc, deep_json_is_refused);
	tcase_add_test(tc, a_body_of_2_mib_is_refused_and_the_client_sees_it);
	tcase_add_test(tc, garbage_is_survived);
	tcase_add_test(tc, one_connection_serves_many_requests);
	tcase_add_test(tc, requests_in_one_packet_are_answered_in_turn);
	tcase_add_test(tc, a_connection_that_asks_nothing_is_closed_soon);
	tcase_add_test(tc, a_held_request_ends_when_its_client_leaves);
	tcase_add_test(tc, stopping_answers_what_is_held_and_streamed);
	tcase_add_test(tc, an_address_in_use_is_named);
	return unit_run("http", tc);
}
