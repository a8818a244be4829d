#include "common/nn.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

#define SHORT (200 * NS_PER_MS)
#define LONG (120 * NS_PER_S)

static char url[64];
static uint8_t big[NN_MAX_BYTES + 1];

/* A port that nobody listens on just now. */
static unsigned
free_port(int family)
{
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	struct sockaddr_in a4 = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *a = family == AF_INET6 ? (void *)&a6 : (void *)&a4;
	socklen_t len = family == AF_INET6 ? sizeof(a6) : sizeof(a4);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned port = 0;

	if (fd >= 0 && bind(fd, a, len) == 0 && getsockname(fd, a, &len) == 0)
		port = ntohs(family == AF_INET6 ? a6.sin6_port : a4.sin_port);
	if (fd >= 0)
		close(fd);
	return port;
}

static void
setup(void)
{
	snprintf(url, sizeof(url), "tcp://127.0.0.1:%u", free_port(AF_INET));
}

static struct nn_rep *
listen_at(const char *where)
{
	struct nn_rep *r = NULL;
	struct err e = {0};

	OK(nn_rep_open(&r, where, &e));
	return r;
}

/* An agent: asks one question in a thread of its own until it is answered. */
struct asker {
	pthread_t thread;
	const char *to;
	char question[16];
	char answer[16];
	int64_t wait_ns;
	int calls; /* made until an answer came */
	atomic_bool done;
};

static void *
ask(void *arg)
{
	int64_t deadline = clock_mono() + LONG;
	struct asker *a = arg;
	struct nn_req *q;
	struct err e = {0};
	uint8_t *msg = NULL;
	size_t len = 0;

	if (nn_req_open(&q, a->to, &e) != 0) {
		a->done = true;
		return NULL;
	}
	while (clock_mono() < deadline) {
		int rc = nn_req_call(
			q, a->question, strlen(a->question), a->wait_ns, &msg, &len, &e);

		a->calls++;
		if (rc < 0)
			break;
		if (rc == 0)
			continue;
		snprintf(a->answer, sizeof(a->answer), "%.*s", (int)len, (char *)msg);
		nn_msg_free(msg);
		break;
	}
	nn_req_close(q);
	a->done = true;
	return NULL;
}

static void
start_asking(struct asker *a, const char *question, int64_t wait_ns)
{
	memset(a, 0, sizeof(*a));
	a->to = url;
	a->wait_ns = wait_ns;
	snprintf(a->question, sizeof(a->question), "%s", question);
	ck_assert_int_eq(pthread_create(&a->thread, NULL, ask, a), 0);
}

static const char *
answer_of(struct asker *a)
{
	pthread_join(a->thread, NULL);
	return a->answer;
}

/* wait_for_request blocks, on the descriptor only, until a request is there. */
static void
wait_for_request(struct nn_rep *r, char ret_text[16], struct nn_route *ret_route)
{
	int64_t deadline = clock_mono() + LONG;
	struct err e = {0};
	uint8_t *msg;
	size_t len;
	int rc;

	while ((rc = nn_rep_recv(r, &msg, &len, ret_route, &e)) == 0) {
		struct pollfd p = {.fd = nn_rep_fd(r), .events = POLLIN};

		ck_assert_msg(clock_mono() < deadline, "no request came");
		poll(&p, 1, 1000);
	}
	ck_assert_msg(rc == 1, "%s", e.text);
	snprintf(ret_text, 16, "%.*s", (int)len, (char *)msg);
	nn_msg_free(msg);
}

static void
answer(struct nn_rep *r, const char *text, const struct nn_route *route)
{
	nn_rep_send(r, text, strlen(text), route);
}

/* serve answers all that comes, as often as it comes, until an agent has its answer. */
static const char *
serve(struct nn_rep *r, struct asker *a, const char *text)
{
	struct nn_route route;
	struct err e = {0};
	uint8_t *msg;
	size_t len;

	while (!a->done) {
		struct pollfd p = {.fd = nn_rep_fd(r), .events = POLLIN};

		poll(&p, 1, 20);
		while (nn_rep_recv(r, &msg, &len, &route, &e) > 0) {
			nn_msg_free(msg);
			answer(r, text, &route);
		}
	}
	return answer_of(a);
}

START_TEST(requests_may_be_answered_in_any_order)
{
	struct nn_rep *r = listen_at(url);
	struct nn_route routes[3];
	struct asker a[3];
	char text[3][16];

	for (int i = 0; i < 3; i++)
		start_asking(&a[i], i == 0 ? "a" : i == 1 ? "b" : "c", LONG);
	for (int i = 0; i < 3; i++)
		wait_for_request(r, text[i], &routes[i]);
	for (int i = 2; i >= 0; i--)
		answer(r, text[i], &routes[i]);
	for (int i = 0; i < 3; i++)
		ck_assert_str_eq(answer_of(&a[i]), a[i].question);
	nn_rep_close(r);
}
END_TEST

START_TEST(a_message_of_the_largest_size_gets_through_and_no_larger_one_is_sent)
{
	struct nn_rep *r = listen_at(url);
	struct nn_route route;
	struct nn_req *q;
	struct err e = {0};
	uint8_t *msg;
	size_t len;

	OK(nn_req_open(&q, url, &e));
	FAILS(nn_req_call(q, big, NN_MAX_BYTES + 1, SHORT, &msg, &len, &e), ERR_LIMIT,
		"larger than 327680");
	ck_assert_int_eq(nn_rep_recv(r, &msg, &len, &route, &e), 0);
	OK(nn_req_call(q, big, NN_MAX_BYTES, SHORT, &msg, &len, &e));
	ck_assert_int_eq(nn_rep_recv(r, &msg, &len, &route, &e), 1);
	ck_assert_uint_eq(len, NN_MAX_BYTES);
	nn_msg_free(msg);
	nn_req_close(q);
	nn_rep_close(r);
}
END_TEST

START_TEST(an_agent_finds_its_controller_again_after_a_restart)
{
	struct nn_rep *r = listen_at(url);
	struct nn_route route;
	struct asker a;
	char text[16];

	start_asking(&a, "stored?", SHORT);
	wait_for_request(r, text, &route);
	nn_rep_close(r); /* killed between the commit and the answer */
	r = listen_at(url);
	ck_assert_str_eq(serve(r, &a, "yes"), "yes");
	nn_rep_close(r);
}
END_TEST

START_TEST(a_request_is_delivered_again_when_the_controller_restarts_during_a_call)
{
	struct nn_rep *r = listen_at(url);
	struct nn_route route;
	struct asker a;
	char text[16];

	start_asking(&a, "again", LONG);
	wait_for_request(r, text, &route);
	nn_rep_close(r);
	r = listen_at(url);
	wait_for_request(r, text, &route);
	answer(r, "once", &route);
	ck_assert_str_eq(answer_of(&a), "once");
	ck_assert_int_eq(a.calls, 1);
	nn_rep_close(r);
}
END_TEST

START_TEST(an_agent_that_comes_first_waits_for_its_controller)
{
	struct nn_rep *r;
	struct nn_req *q;
	struct err e = {0};
	struct asker a;
	uint8_t *msg;
	size_t len;

	OK(nn_req_open(&q, url, &e));
	OK(nn_req_call(q, "x", 1, SHORT, &msg, &len, &e));
	nn_req_close(q);
	start_asking(&a, "early", SHORT);
	r = listen_at(url);
	ck_assert_str_eq(serve(r, &a, "late"), "late");
	nn_rep_close(r);
}
END_TEST

START_TEST(an_answer_to_somebody_who_is_gone_is_dropped)
{
	struct nn_rep *r = listen_at(url);
	struct nn_route gone, route;
	struct asker a;
	char text[16];
	struct nn_req *q;
	struct err e = {0};
	uint8_t *msg;
	size_t len;

	OK(nn_req_open(&q, url, &e));
	OK(nn_req_call(q, "bye", 3, SHORT, &msg, &len, &e));
	nn_req_close(q);
	wait_for_request(r, text, &gone);
	answer(r, "anybody?", &gone);
	start_asking(&a, "hello", LONG);
	do
		wait_for_request(r, text, &route);
	while (strcmp(text, "hello") != 0);
	answer(r, "anybody?", &gone);
	answer(r, "there", &route);
	ck_assert_str_eq(answer_of(&a), "there");
	nn_rep_close(r);
}
END_TEST

/* shout sends bytes over plain TCP and reads until the other side has had enough. */
static void
shout(const void *bytes, size_t len)
{
	unsigned port = (unsigned)strtoul(strrchr(url, ':') + 1, NULL, 10);
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_usec = 200000};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char back[64];

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	ck_assert_int_ge(send(fd, bytes, len, MSG_NOSIGNAL), 0);
	while (recv(fd, back, sizeof(back), 0) > 0)
		;
	close(fd);
}

START_TEST(bytes_that_are_no_message_do_no_harm)
{
	/* The greeting of a REQ peer, then a length: of 2^63, of 300 KiB, of nothing. */
	static const uint8_t huge[] = "\0SP\0\0\x30\0\0\x80\0\0\0\0\0\0\0";
	static const uint8_t large[] = "\0SP\0\0\x30\0\0\0\0\0\0\0\x04\xb0\0";
	static const uint8_t none[] = "\0SP\0\0\x30\0\0\0\0\0\0\0\0\0\0";
	static const uint8_t hops[] = "\0SP\0\0\x30\0\0\0\0\0\0\0\0\0\x08"
				      "\0\0\0\1\0\0\0\2";
	struct nn_rep *r = listen_at(url);
	struct nn_route route;
	struct asker a;
	char text[16];

	shout("GET / HTTP/1.1\r\n\r\n", 18);
	shout(huge, sizeof(huge) - 1);
	shout(large, sizeof(large) - 1);
	shout(none, sizeof(none) - 1);
	shout(hops, sizeof(hops) - 1);
	start_asking(&a, "fine?", LONG);
	wait_for_request(r, text, &route);
	ck_assert_str_eq(text, "fine?");
	answer(r, "fine", &route);
	ck_assert_str_eq(answer_of(&a), "fine");
	nn_rep_close(r);
}
END_TEST

START_TEST(names_and_all_addresses_can_be_used)
{
	struct nn_rep *r;
	struct asker a;
	char all[64], name[64];
	const char *port = strrchr(url, ':') + 1;

	snprintf(all, sizeof(all), "tcp://*:%s", port);
	snprintf(name, sizeof(name), "tcp://localhost:%s", port);
	snprintf(url, sizeof(url), "%s", name);
	r = listen_at(all);
	start_asking(&a, "name", NS_PER_S);
	ck_assert_str_eq(serve(r, &a, "ok"), "ok");
	nn_rep_close(r);
}
END_TEST

START_TEST(ipv6_addresses_can_be_used)
{
	unsigned port = free_port(AF_INET6);
	struct nn_route route;
	struct nn_rep *r;
	struct asker a;
	char text[16];

	if (port == 0)
		return; /* this system has no IPv6 */
	snprintf(url, sizeof(url), "tcp://[::1]:%u", port);
	r = listen_at(url);
	start_asking(&a, "six", LONG);
	wait_for_request(r, text, &route);
	answer(r, "ok", &route);
	ck_assert_str_eq(answer_of(&a), "ok");
	nn_rep_close(r);
}
END_TEST

START_TEST(an_address_in_use_is_named)
{
	struct nn_rep *r = listen_at(url), *other;
	struct err e = {0};

	FAILS(nn_rep_open(&other, url, &e), ERR_NET, url);
	ck_assert_ptr_nonnull(strstr(e.text, "in use"));
	nn_rep_close(r);
	nn_rep_close(NULL);
	nn_req_close(NULL);
	nn_msg_free(NULL);
}
END_TEST

START_TEST(urls_that_cannot_be_are_refused)
{
	static const char *const bad[] = {"", "tcp://", "tcp://host", "tcp://:7444",
		"tcp://host:", "tcp://host:0", "tcp://host:65536", "tcp://host:7444/",
		"ipc:///tmp/x:1", "http://host:80", "tcp://fe80::1:7444",
		"tcp://[]:7444"};
	struct nn_req *q;
	struct nn_rep *r;
	struct err e = {0};
	uint8_t *msg;
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FAILS(nn_req_open(&q, bad[i], &e), ERR_INVALID, "");
		FAILS(nn_rep_open(&r, bad[i], &e), ERR_INVALID, "");
	}
	OK(nn_req_open(&q, "tcp://256.1.1.1.invalid:7444", &e));
	FAILS(nn_req_call(q, "x", 1, SHORT, &msg, &len, &e), ERR_NET, "look up");
	nn_req_close(q);
	FAILS(nn_rep_open(&r, "tcp://192.0.2.1:7444", &e), ERR_NET, "192.0.2.1");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("nn");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, requests_may_be_answered_in_any_order);
	tcase_add_test(
		tc, a_message_of_the_largest_size_gets_through_and_no_larger_one_is_sent);
	tcase_add_test(tc, an_agent_finds_its_controller_again_after_a_restart);
	tcase_add_test(tc,
		a_request_is_delivered_again_when_the_controller_restarts_during_a_call);
	tcase_add_test(tc, an_agent_that_comes_first_waits_for_its_controller);
	tcase_add_test(tc, an_answer_to_somebody_who_is_gone_is_dropped);
	tcase_add_test(tc, bytes_that_are_no_message_do_no_harm);
	tcase_add_test(tc, names_and_all_addresses_can_be_used);
	tcase_add_test(tc, ipv6_addresses_can_be_used);
	tcase_add_test(tc, an_address_in_use_is_named);
	tcase_add_test(tc, urls_that_cannot_be_are_refused);
	return unit_run("nn", tc);
}
