#include "common/nn.h"

#include <assert.h>
#include <errno.h>
#include <nanomsg/nn.h>
#include <nanomsg/reqrep.h>
#include <nanomsg/tcp.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/parse.h"
#include "common/xalloc.h"

#define SCHEME "tcp://"
/* Never -1 (16 hostile bytes then end the process) and never 0 (drops everything). */
#define RECV_BYTES (512 << 10)
#define RESEND_MS 10000
#define RECONNECT_MS 200
#define RECONNECT_MAX_MS 10000

struct address {
	char host[256];
	char port[6];
};

/* What nanomsg gets: a literal address, so that it has nothing to look up. */
struct literal {
	char url[NN_SOCKADDR_MAX];
	int ipv4_only;
};

struct nn_req {
	struct address to;
	unsigned nth; /* address of the name that is tried next */
	int sock;
	int endpoint; /* -1: not connected */
};

struct nn_rep {
	int sock;
	int fd;
};

static int
failed(struct err *e, const char *what)
{
	return err_set(e, ERR_NET, "%s: %s", what, nn_strerror(nn_errno()));
}

static int
parse_url(struct address *ret_a, const char *url, struct err *e)
{
	const char *host = url + strlen(SCHEME);
	const char *colon = strrchr(url, ':');
	uint64_t port;
	size_t len;

	if (strncmp(url, SCHEME, strlen(SCHEME)) != 0 || colon < host)
		return err_set(
			e, ERR_INVALID, "\"%s\" is not of the form tcp://HOST:PORT", url);
	if (parse_uint(colon + 1, 1, 65535, &port, e) != 0)
		return err_ctx(e, "port in \"%s\"", url);
	len = (size_t)(colon - host);
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	} else if (memchr(host, ':', len) != NULL) {
		return err_set(
			e, ERR_INVALID, "an IPv6 address in \"%s\" needs brackets", url);
	}
	if (len == 0 || len >= sizeof(ret_a->host))
		return err_set(e, ERR_INVALID, "the host in \"%s\" is not valid", url);
	memcpy(ret_a->host, host, len);
	ret_a->host[len] = '\0';
	snprintf(ret_a->port, sizeof(ret_a->port), "%u", (unsigned)port);
	return 0;
}

static int
write_literal(const struct addrinfo *at, const char *port, struct literal *ret_l)
{
	char text[NI_MAXHOST];
	int n;

	if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0,
		    NI_NUMERICHOST) != 0)
		return -1;
	ret_l->ipv4_only = at->ai_family == AF_INET;
	n = snprintf(ret_l->url, sizeof(ret_l->url),
		ret_l->ipv4_only ? SCHEME "%s:%s" : SCHEME "[%s]:%s", text, port);
	return n > 0 && (size_t)n < sizeof(ret_l->url) ? 0 : -1;
}

/*
 * resolve makes a literal of the nth address of a name: nanomsg would look the name up in
 * its only thread.
 */
static int
resolve(const struct address *a, unsigned nth, struct literal *ret_l, struct err *e)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL, *at;
	unsigned n = 0;
	int rc;

	rc = getaddrinfo(a->host, a->port, &hints, &list);
	if (rc != 0)
		return err_set(e, ERR_NET, "look up %s: %s", a->host, gai_strerror(rc));
	for (at = list; at != NULL; at = at->ai_next)
		n++;
	nth = n > 0 ? nth % n : 0;
	for (at = list; at != NULL && nth > 0; at = at->ai_next)
		nth--;
	rc = at != NULL ? write_literal(at, a->port, ret_l) : -1;
	freeaddrinfo(list);
	if (rc != 0)
		return err_set(e, ERR_NET, "%s has no usable address", a->host);
	return 0;
}

static int
set(int sock, int level, int option, int value)
{
	return nn_setsockopt(sock, level, option, &value, sizeof(value));
}

/* set_common sets what both ends need before they bind or connect. */
static int
set_common(int sock)
{
	if (set(sock, NN_SOL_SOCKET, NN_RCVMAXSIZE, RECV_BYTES) != 0)
		return -1;
	return set(sock, NN_TCP, NN_TCP_NODELAY, 1);
}

/*
 * set_family must come before every bind and connect: nanomsg 1.1.5 binds a connecting
 * socket to the "any" address of the family that NN_IPV4ONLY says, and aborts the process
 * at its second try when that is not the family of the address.
 */
static int
set_family(int sock, const struct literal *l)
{
	return set(sock, NN_SOL_SOCKET, NN_IPV4ONLY, l->ipv4_only);
}

int
nn_req_open(struct nn_req **ret_q, const char *url, struct err *e)
{
	struct nn_req *q = xcalloc(1, sizeof(*q));

	q->sock = q->endpoint = -1;
	if (parse_url(&q->to, url, e) != 0)
		goto out;
	q->sock = nn_socket(AF_SP, NN_REQ);
	if (q->sock < 0 || set_common(q->sock) != 0 ||
		set(q->sock, NN_REQ, NN_REQ_RESEND_IVL, RESEND_MS) != 0 ||
		set(q->sock, NN_SOL_SOCKET, NN_RECONNECT_IVL, RECONNECT_MS) != 0 ||
		set(q->sock, NN_SOL_SOCKET, NN_RECONNECT_IVL_MAX, RECONNECT_MAX_MS) !=
			0) {
		failed(e, "make a REQ socket");
		goto out;
	}
	*ret_q = q;
	return 0;
out:
	nn_req_close(q);
	return -1;
}

static int
connect_to(struct nn_req *q, struct err *e)
{
	struct literal l;

	if (q->endpoint >= 0)
		return 0;
	if (resolve(&q->to, q->nth, &l, e) != 0)
		return -1;
	if (set_family(q->sock, &l) == 0)
		q->endpoint = nn_connect(q->sock, l.url);
	if (q->endpoint >= 0)
		return 0;
	q->nth++;
	return failed(e, l.url);
}

/* left_ms returns the time to a deadline, at least 1 (0 and less mean other things). */
static int
left_ms(int64_t deadline)
{
	int64_t ms = (deadline - clock_mono() + NS_PER_MS - 1) / NS_PER_MS;

	if (ms < 1)
		return 1;
	return ms > 3600000 ? 3600000 : (int)ms;
}

/* again says whether a call was only interrupted, or timed out before the deadline. */
static bool
again(int64_t deadline)
{
	int num = nn_errno();

	if (num == EINTR || num == ETIMEDOUT || num == EAGAIN)
		return clock_mono() < deadline;
	return false;
}

/* exchange sends and receives: the size of the answer, or -1 and nn_errno. */
static int
exchange(struct nn_req *q, const void *msg, size_t len, int64_t deadline, void **ret_msg)
{
	int n;

	do {
		if (set(q->sock, NN_SOL_SOCKET, NN_SNDTIMEO, left_ms(deadline)) != 0)
			return -1;
		n = nn_send(q->sock, msg, len, 0);
	} while (n < 0 && again(deadline));
	if (n < 0)
		return -1;
	do {
		if (set(q->sock, NN_SOL_SOCKET, NN_RCVTIMEO, left_ms(deadline)) != 0)
			return -1;
		n = nn_recv(q->sock, ret_msg, NN_MSG, 0);
	} while (n < 0 && again(deadline));
	return n;
}

/* size: a request, its answer and how long to wait for it are one call */
int
nn_req_call(struct nn_req *q, const void *msg, size_t len, int64_t wait_ns,
	uint8_t **ret_msg, size_t *ret_len, struct err *e)
{
	int64_t deadline = clock_mono() + wait_ns;
	void *answer = NULL;
	int n;

	/* A request that the other side refuses would be sent again for ever. */
	if (len > NN_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a message of %zu bytes is larger than %u",
			len, NN_MAX_BYTES);
	if (connect_to(q, e) != 0)
		return -1;
	n = exchange(q, msg, len, deadline, &answer);
	if (n >= 0) {
		*ret_msg = answer;
		*ret_len = (size_t)n;
		return 1;
	}
	n = nn_errno();
	/* Neither TCP nor nanomsg notices a peer that is gone: do not trust the old
	 * connection. The next call makes a new one. */
	nn_shutdown(q->sock, q->endpoint);
	q->endpoint = -1;
	q->nth++;
	if (n == EINTR || n == ETIMEDOUT || n == EAGAIN)
		return 0;
	return err_set(e, ERR_NET, "request: %s", nn_strerror(n));
}

void
nn_req_close(struct nn_req *q)
{
	if (q == NULL)
		return;
	if (q->sock >= 0)
		nn_close(q->sock);
	free(q);
}

static int
bind_to(int sock, const struct address *a, struct err *e)
{
	bool all = strcmp(a->host, "*") == 0;
	struct literal l = {.ipv4_only = 0};
	bool taken;

	if (all)
		snprintf(l.url, sizeof(l.url), SCHEME "*:%s", a->port);
	else if (resolve(a, 0, &l, e) != 0)
		return -1;
	if (set_family(sock, &l) == 0 && nn_bind(sock, l.url) >= 0)
		return 0;
	/* A system without IPv6 still has "all addresses". */
	l.ipv4_only = 1;
	if (all && nn_errno() == EAFNOSUPPORT && set_family(sock, &l) == 0 &&
		nn_bind(sock, l.url) >= 0)
		return 0;
	taken = nn_errno() == EADDRINUSE;
	failed(e, l.url);
	if (taken)
		err_fix(e, "end the program that listens there, or set another data_port "
			   "in the configuration");
	return err_ctx(e, "listen");
}

int
nn_rep_open(struct nn_rep **ret_r, const char *url, struct err *e)
{
	struct nn_rep *r = xcalloc(1, sizeof(*r));
	size_t len = sizeof(r->fd);
	struct address a;

	r->sock = r->fd = -1;
	if (parse_url(&a, url, e) != 0)
		goto out;
	/* Raw, so that many requests can wait for their answers at once. */
	r->sock = nn_socket(AF_SP_RAW, NN_REP);
	if (r->sock < 0 || set_common(r->sock) != 0 ||
		nn_getsockopt(r->sock, NN_SOL_SOCKET, NN_RCVFD, &r->fd, &len) != 0) {
		failed(e, "make a REP socket");
		goto out;
	}
	if (bind_to(r->sock, &a, e) != 0)
		goto out;
	*ret_r = r;
	return 0;
out:
	nn_rep_close(r);
	return -1;
}

int
nn_rep_fd(const struct nn_rep *r)
{
	return r->fd;
}

int
nn_rep_recv(struct nn_rep *r, uint8_t **ret_msg, size_t *ret_len,
	struct nn_route *ret_route, struct err *e)
{
	for (;;) {
		void *body = NULL, *control = NULL;
		struct nn_iovec iov = {.iov_base = &body, .iov_len = NN_MSG};
		struct nn_msghdr hdr = {.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = NN_MSG};
		int n = nn_recvmsg(r->sock, &hdr, NN_DONTWAIT);
		const struct nn_cmsghdr *head = control;
		size_t len;

		if (n < 0 && nn_errno() == EAGAIN)
			return 0;
		if (n < 0 && nn_errno() == EINTR)
			continue;
		if (n < 0)
			return failed(e, "receive");
		len = control != NULL ? head->cmsg_len : 0;
		if (len > 0 && len <= sizeof(ret_route->bytes)) {
			memcpy(ret_route->bytes, control, len);
			ret_route->len = len;
			nn_freemsg(control);
			*ret_msg = body;
			*ret_len = (size_t)n;
			return 1;
		}
		/* It came over more hops than we can go back. */
		if (control != NULL)
			nn_freemsg(control);
		nn_freemsg(body);
	}
}

void
nn_rep_send(struct nn_rep *r, const void *msg, size_t len, const struct nn_route *route)
{
	struct nn_iovec iov;
	struct nn_msghdr hdr = {.msg_iov = &iov, .msg_iovlen = 1};
	union {
		struct nn_cmsghdr head; /* for its alignment */
		uint8_t bytes[sizeof(route->bytes)];
	} control;
	void *body;

	assert(len <= NN_MAX_BYTES);
	assert(route->len > 0 && route->len <= sizeof(route->bytes));
	body = nn_allocmsg(len, 0);
	if (body == NULL)
		return;
	memcpy(body, msg, len);
	memcpy(control.bytes, route->bytes, route->len);
	iov = (struct nn_iovec){.iov_base = &body, .iov_len = NN_MSG};
	hdr.msg_control = control.bytes;
	hdr.msg_controllen = route->len;
	if (nn_sendmsg(r->sock, &hdr, NN_DONTWAIT) < 0)
		nn_freemsg(body);
}

void
nn_rep_close(struct nn_rep *r)
{
	if (r == NULL)
		return;
	if (r->sock >= 0)
		nn_close(r->sock);
	free(r);
}

void
nn_msg_free(uint8_t *msg)
{
	if (msg != NULL)
		nn_freemsg(msg);
}
