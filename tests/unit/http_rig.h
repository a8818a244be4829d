/*
 * http_rig - the real server on a free port of loopback over a real store, and raw
 * sockets to it in the same loop. The test defines api_routes. Include it in one file per
 * program.
 */
#ifndef TESTS_UNIT_HTTP_RIG_H
#define TESTS_UNIT_HTTP_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/seal.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/http.h"
#include "controller/sse.h"
#include "controller/token.h"
#include "tests/unit/store_rig.h"

static struct api *rig_api;
static struct api_env rig_env;
static struct sse *rig_sse;
static struct http *rig_http;

static int
rig_tokens(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	return token_put(t, "admin", "operator", "op", e);
}

static inline void
http_rig_up(void)
{
	struct http_config config = {.address = "127.0.0.1"};
	struct err e = {0};

	signal(SIGPIPE, SIG_IGN);
	seal_init();
	rig_up();
	rig_env = (struct api_env){.public_url = "", .pin = ""};
	rig_api = api_new(rig_store, &rig_env, NULL);
	rig_sse = sse_new(rig_store, rig_loop);
	OK(http_open(&rig_http, rig_loop, rig_api, rig_sse, &config, &e));
	OK(rig_write(rig_tokens, NULL, &e));
}

/* http_rig_stop ends the server as the controller does. */
static inline void
http_rig_stop(void)
{
	http_quiesce(rig_http);
	api_release(rig_api);
	sse_stop(rig_sse);
	store_drain(rig_store);
	http_close(rig_http);
	sse_free(rig_sse);
	api_free(rig_api);
	rig_http = NULL;
}

static inline void
http_rig_down(void)
{
	if (rig_http != NULL)
		http_rig_stop();
	rig_down();
}

/* A client's connection. */
struct conn {
	int fd;
	struct str out; /* to be sent */
	size_t sent;
	struct str in;
	bool ended; /* by the server */
};

static void
conn_event(void *arg, uint32_t events)
{
	struct conn *c = arg;
	char buf[16384];
	ssize_t n;

	if (c->sent < c->out.len) {
		n = send(
			c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);
		if (n > 0)
			c->sent += (size_t)n;
		else if (errno != EAGAIN)
			c->sent = c->out.len;
	}
	while ((n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		str_add(&c->in, buf, (size_t)n);
	if (n == 0 || (errno != EAGAIN && n < 0) || (events & EPOLLHUP)) {
		c->ended = true;
		loop_del_fd(rig_loop, c->fd);
	}
	loop_stop(rig_loop);
}

static inline void
conn_open(struct conn *c)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(http_port(rig_http)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct err e = {0};

	*c = (struct conn){0};
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	OK(loop_add_fd(rig_loop, c->fd, EPOLLIN, conn_event, c, &e));
}

/* conn_send sends, running the loop until all is out or the server hung up. */
static inline void
conn_send(struct conn *c, const char *data, size_t len)
{
	struct loop_timer *t = loop_timer_start(
		rig_loop, RIG_PATIENCE_NS, 0, rig_too_late, NULL);
	struct err e = {0};

	str_add(&c->out, data, len);
	loop_del_fd(rig_loop, c->fd);
	OK(loop_add_fd(rig_loop, c->fd, EPOLLIN | EPOLLOUT, conn_event, c, &e));
	while (c->sent < c->out.len && !c->ended)
		OK(loop_run(rig_loop, &e));
	loop_timer_stop(rig_loop, t);
	if (c->ended)
		return;
	loop_del_fd(rig_loop, c->fd);
	OK(loop_add_fd(rig_loop, c->fd, EPOLLIN, conn_event, c, &e));
}

static inline bool
conn_has(const struct conn *c, const char *text)
{
	return strstr(str_text(&c->in), text) != NULL;
}

/* conn_wait runs the loop until the answer holds text, or until it ends for NULL. */
static inline void
conn_wait(struct conn *c, const char *text)
{
	struct loop_timer *t = loop_timer_start(
		rig_loop, RIG_PATIENCE_NS, 0, rig_too_late, NULL);
	struct err e = {0};

	while (!c->ended && (text == NULL || !conn_has(c, text)))
		OK(loop_run(rig_loop, &e));
	loop_timer_stop(rig_loop, t);
	if (text != NULL)
		ck_assert_msg(conn_has(c, text), "no %s in %s", text, str_text(&c->in));
}

static inline void
conn_close(struct conn *c)
{
	if (!c->ended)
		loop_del_fd(rig_loop, c->fd);
	close(c->fd);
	str_fini(&c->out);
	str_fini(&c->in);
}

/* talk sends bytes and reads until the server hangs up; the caller owns the answer. */
static inline char *
talk_bytes(const char *data, size_t len)
{
	struct conn c;
	char *answer;

	conn_open(&c);
	conn_send(&c, data, len);
	conn_wait(&c, NULL);
	answer = str_take(&c.in);
	conn_close(&c);
	return answer;
}

static inline char *
talk(const char *text)
{
	return talk_bytes(text, strlen(text));
}

/* talk_is wants an answer that starts with the status and holds the part. */
static inline void
talk_is(const char *request, int status, const char *part)
{
	char want[32];
	char *answer = talk(request);

	snprintf(want, sizeof(want), "HTTP/1.1 %d ", status);
	ck_assert_msg(
		strncmp(answer, want, strlen(want)) == 0, "not %s but %s", want, answer);
	ck_assert_msg(strstr(answer, part) != NULL, "no %s in %s", part, answer);
	free(answer);
}

#endif
