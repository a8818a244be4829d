#include "controller/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/address.h"
#include "controller/api.h"
#include "controller/sse.h"

#define CONNECTIONS_MAX 512
#define CONNECTIONS_PER_ADDRESS 256 /* many agents may be behind one */
#define IDLE_S 60		    /* above the 25 s of a long poll */
#define QUIET_S 10 /* before the head of a first request: a handshake takes less */
#define CONNECTION_MEMORY (32 * 1024)
#define BODY_SKIP_MAX (8U << 20) /* read and dropped, so that a refusal arrives */
#define PARAMETERS_MAX 32
#define STREAM_BLOCK 8192

/* One request, from its head to the end of its answer. */
struct request {
	struct http *http;
	struct MHD_Connection *conn;
	struct api_call call;
	char peer[INET6_ADDRSTRLEN];
	char *path;
	json_t *query; /* name -> text */
	struct str args;
	struct str body;
	size_t body_bytes; /* received, kept or not */
	bool in_api;	   /* between api_start and its done */
	bool answered;
	bool gone;	/* the client has left */
	bool suspended; /* of libmicrohttpd, in any of its places */
	int watched_fd; /* in our loop, to notice that the client leaves; or -1 */
	struct sse_client *stream;
};

struct http {
	struct MHD_Daemon *mhd;
	struct loop *loop;
	struct api *api;
	struct sse *sse;
	int epoll_fd;
	int listen_fd; /* -1 once it is libmicrohttpd's */
	uint16_t port;
	bool tls;
	bool stopping;
	bool resumed;	   /* something was; MHD_get_timeout does not know of it */
	unsigned requests; /* alive */
};

/* The head of a request. */

static const char *
header(struct request *r, const char *name)
{
	const char *text = MHD_lookup_connection_value(r->conn, MHD_HEADER_KIND, name);

	return text != NULL ? text : "";
}

static bool
is_utf8(const char *text)
{
	json_t *v = json_string(text);

	json_decref(v);
	return v != NULL;
}

static void
escape(struct str *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~:@,/";

	for (; *text != '\0'; text++) {
		if (strchr(plain, *text) != NULL)
			str_add(out, text, 1);
		else
			str_printf(out, "%%%02X", (unsigned char)*text);
	}
}

/*
 * Undoes the percent-encoding of a path, a name or a value. An encoded NUL would end the
 * text that we see before its end: what holds one becomes what is_utf8 refuses.
 */
static size_t
unescape(void *arg, struct MHD_Connection *conn, char *text)
{
	(void)arg;
	(void)conn;
	if (strstr(text, "%00") == NULL)
		return MHD_http_unescape(text);
	text[0] = '\xff';
	text[1] = '\0';
	return 1;
}

static enum MHD_Result
add_parameter(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct request *r = arg;
	struct err *e = &r->call.failure;

	(void)kind;
	if (value == NULL)
		value = "";
	if (name[0] == '\0' && value[0] == '\0')
		return MHD_YES; /* between two "&" nothing is said */
	if (!is_utf8(name) || !is_utf8(value))
		err_set(e, ERR_INVALID, "the query is not UTF-8, or has a NUL");
	else if (json_object_get(r->query, name) != NULL)
		err_set(e, ERR_INVALID, "query parameter %.40s is given twice", name);
	else if (json_object_size(r->query) >= PARAMETERS_MAX)
		err_set(e, ERR_LIMIT, "the query has more than %d parameters",
			PARAMETERS_MAX);
	if (e->class != ERR_NONE)
		return MHD_NO;
	json_put(r->query, name, json_string(value));
	if (r->args.len > 0)
		str_puts(&r->args, "&");
	escape(&r->args, name);
	str_puts(&r->args, "=");
	escape(&r->args, value);
	return MHD_YES;
}

static const char *
query_value(const struct api_call *c, const char *name)
{
	const struct request *r = c->http;

	return json_string_value(json_object_get(r->query, name));
}

static const char *
bearer_of(struct request *r)
{
	const char *text = MHD_lookup_connection_value(
		r->conn, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	if (text == NULL || strncasecmp(text, "Bearer ", 7) != 0)
		return "";
	text += 7;
	return text + strspn(text, " ");
}

static void
read_peer(struct request *r)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		r->conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *sa = info != NULL ? info->client_addr : NULL;
	const void *address = NULL;

	if (sa != NULL && sa->sa_family == AF_INET)
		address = &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	if (sa != NULL && sa->sa_family == AF_INET6)
		address = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	if (address == NULL ||
		inet_ntop(sa->sa_family, address, r->peer, sizeof(r->peer)) == NULL)
		snprintf(r->peer, sizeof(r->peer), "unknown");
	/* An IPv4 client of an IPv6 socket. */
	if (strncmp(r->peer, "::ffff:", 7) == 0 && strchr(r->peer, '.') != NULL)
		memmove(r->peer, r->peer + 7, strlen(r->peer + 7) + 1);
}

/* Those that ask nothing, also for a handshake, must not shut out the others of their
 * address for as long as those that do may be idle. */
static void
on_connection(void *arg, struct MHD_Connection *conn, void **own,
	enum MHD_ConnectionNotificationCode code)
{
	(void)arg;
	(void)own;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		MHD_set_connection_option(
			conn, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)QUIET_S);
}

static struct request *
new_request(
	struct http *h, struct MHD_Connection *conn, const char *url, const char *method)
{
	struct request *r = xcalloc(1, sizeof(*r));
	struct api_call *c = &r->call;

	r->http = h;
	r->conn = conn;
	r->watched_fd = -1;
	r->path = xstrdup(url);
	r->query = json_object();
	h->requests++;
	MHD_set_connection_option(conn, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_S);
	api_call_init(c);
	read_peer(r);
	/* HEAD is GET whose body libmicrohttpd keeps to itself. */
	c->method = strcmp(method, "HEAD") == 0 ? "GET" : method;
	c->path = r->path;
	c->bearer = bearer_of(r);
	c->if_match = header(r, MHD_HTTP_HEADER_IF_MATCH);
	c->if_none_match = header(r, MHD_HTTP_HEADER_IF_NONE_MATCH);
	c->idempotency_key = header(r, "Idempotency-Key");
	c->last_event_id = header(r, "Last-Event-ID");
	c->accept = header(r, MHD_HTTP_HEADER_ACCEPT);
	c->peer = r->peer;
	c->query = query_value;
	c->http = r;
	MHD_get_connection_values(conn, MHD_GET_ARGUMENT_KIND, add_parameter, r);
	c->args = str_text(&r->args);
	if (!is_utf8(r->path))
		err_set(&c->failure, ERR_INVALID, "the path is not UTF-8, or has a NUL");
	return r;
}

static void
unwatch(struct request *r)
{
	if (r->watched_fd < 0)
		return;
	loop_del_fd(r->http->loop, r->watched_fd);
	r->watched_fd = -1;
}

static void
free_request(struct request *r)
{
	assert(!r->in_api);
	unwatch(r);
	sse_leave(r->stream);
	r->http->requests--;
	api_call_fini(&r->call);
	json_decref(r->query);
	str_fini(&r->args);
	str_fini(&r->body);
	free(r->path);
	free(r);
}

static void
resume(struct request *r)
{
	unwatch(r);
	if (!r->suspended)
		return;
	r->suspended = false;
	r->http->resumed = true;
	MHD_resume_connection(r->conn);
}

static void
suspend(struct request *r)
{
	assert(!r->suspended);
	r->suspended = true;
	MHD_suspend_connection(r->conn);
}

/* The answer. */

static void
add_header(struct MHD_Response *m, const char *name, const char *value)
{
	/* Fails for a value with control characters: such a header is left out. */
	if (value[0] != '\0')
		MHD_add_response_header(m, name, value);
}

static struct MHD_Response *
whole_response(struct api_call *c)
{
	struct str out = {0};
	struct MHD_Response *m;
	size_t len;
	char *data;

	if (c->doc != NULL) {
		json_write(c->doc, &out);
		str_puts(&out, "\n");
	} else {
		str_add(&out, str_text(&c->text), c->text.len);
	}
	len = out.len;
	data = str_take(&out);
	m = MHD_create_response_from_buffer(len, data, MHD_RESPMEM_MUST_FREE);
	if (m == NULL)
		free(data);
	return m;
}

static ssize_t
read_stream(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct request *r = arg;
	size_t n = sse_read(r->stream, buf, max);

	(void)pos;
	if (n > 0)
		return (ssize_t)n;
	if (sse_ended(r->stream))
		return MHD_CONTENT_READER_END_OF_STREAM;
	suspend(r);
	return 0;
}

static void
wake_stream(void *arg)
{
	resume(arg);
}

static struct MHD_Response *
stream_response(struct request *r)
{
	struct api_call *c = &r->call;

	r->stream = sse_join(
		r->http->sse, c->query(c, "topics"), c->stream_from, wake_stream, r);
	if (r->stream != NULL)
		return MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, r, NULL);
	err_set(&c->failure, ERR_BUSY, "%d clients follow the events already",
		SSE_CLIENTS_MAX);
	c->status = err_http_status(ERR_BUSY);
	c->type = "application/problem+json";
	c->doc = api_problem(&c->failure, c->path);
	return whole_response(c);
}

static enum MHD_Result
respond(struct request *r)
{
	struct api_call *c = &r->call;
	struct MHD_Response *m = c->stream ? stream_response(r) : whole_response(c);
	enum MHD_Result rc;

	if (m == NULL)
		return MHD_NO;
	add_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, c->status == 304 ? "" : c->type);
	add_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	add_header(m, "X-Content-Type-Options", "nosniff");
	add_header(m, MHD_HTTP_HEADER_ETAG, c->etag);
	add_header(m, MHD_HTTP_HEADER_LOCATION, c->location);
	add_header(m, MHD_HTTP_HEADER_LINK, c->link);
	add_header(m, MHD_HTTP_HEADER_ALLOW, c->allow);
	if (c->status == MHD_HTTP_UNAUTHORIZED)
		add_header(m, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (c->status == MHD_HTTP_TOO_MANY_REQUESTS)
		add_header(m, MHD_HTTP_HEADER_RETRY_AFTER, "60");
	if (c->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		add_header(m, MHD_HTTP_HEADER_RETRY_AFTER, "2");
	if (r->http->stopping)
		add_header(m, MHD_HTTP_HEADER_CONNECTION, "close");
	log_debug("http.answer", "method=%s path=%s status=%d peer=%s actor=%s",
		log_q(c->method), log_q(c->path), c->status, r->peer, log_q(c->actor));
	rc = MHD_queue_response(r->conn, (unsigned)c->status, m);
	MHD_destroy_response(m);
	return rc;
}

/* Answers with a failure that needs no look at the path. */
static enum MHD_Result
refuse(struct request *r)
{
	struct api_call *c = &r->call;

	r->answered = true;
	c->status = err_http_status(c->failure.class);
	c->type = "application/problem+json";
	c->doc = api_problem(&c->failure, c->path);
	return respond(r);
}

/* The body. */

static void
too_large(struct err *e)
{
	err_set(e, ERR_LIMIT, "the body has more than %u bytes", JSON_MAX_BYTES);
	err_at(e, "%s", "");
	err_fix(e, "send at most 1 MiB");
}

/*
 * Looks at the head; false when it is to be answered at once. A client that sends its
 * body without asking would not see that answer: closing on unread bytes resets the
 * connection. So what is refused is read all the same, within a limit, and dropped.
 */
static bool
wants_body(struct request *r)
{
	struct err *e = &r->call.failure;
	bool asks = header(r, MHD_HTTP_HEADER_EXPECT)[0] != '\0';
	const char *length = header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
	unsigned long long n = strtoull(length, NULL, 10);
	bool comes = n > 0 || header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING)[0] != '\0';

	if (r->http->stopping) {
		err_set(e, ERR_BUSY, "the controller is stopping");
		return false;
	}
	if (n > JSON_MAX_BYTES)
		too_large(e);
	else if (comes)
		api_check_type(header(r, MHD_HTTP_HEADER_CONTENT_TYPE), e);
	return e->class == ERR_NONE || (comes && !asks && n <= BODY_SKIP_MAX);
}

static enum MHD_Result
take_body(struct request *r, const char *data, size_t *len)
{
	size_t n = *len;

	*len = 0;
	r->body_bytes += n;
	if (r->body_bytes > JSON_MAX_BYTES)
		too_large(&r->call.failure);
	if (r->call.failure.class == ERR_NONE)
		str_add(&r->body, data, n);
	else
		str_fini(&r->body);
	return r->body_bytes <= BODY_SKIP_MAX ? MHD_YES : MHD_NO;
}

static void
parse_body(struct request *r)
{
	struct api_call *c = &r->call;

	if (c->failure.class != ERR_NONE || r->body.len == 0)
		return;
	api_parse_body(r->body.data, r->body.len, &c->body, &c->failure);
	str_fini(&r->body);
}

/* Into the API and back. */

static void
call_done(struct api_call *c)
{
	struct request *r = c->http;

	r->in_api = false;
	r->answered = true;
	resume(r);
}

/* The client has closed its side while its request waits. */
static void
client_left(void *arg, uint32_t events)
{
	struct request *r = arg;

	(void)events;
	unwatch(r);
	/* With a job under way, its end is waited for. */
	if (!r->in_api || !api_abandon(r->http->api, &r->call))
		return;
	r->in_api = false;
	r->gone = true;
	resume(r);
}

static void
watch(struct request *r)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		r->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct err e = {0};

	if (info == NULL)
		return;
	if (loop_add_fd(
		    r->http->loop, info->connect_fd, EPOLLRDHUP, client_left, r, &e) == 0)
		r->watched_fd = info->connect_fd;
	else
		log_failure(LOG_LEVEL_DEBUG, "http.watch", &e);
}

static enum MHD_Result
start(struct request *r)
{
	if (r->http->stopping) {
		err_set(&r->call.failure, ERR_BUSY, "the controller is stopping");
		return refuse(r);
	}
	parse_body(r);
	r->in_api = true;
	api_start(r->http->api, &r->call, call_done);
	if (r->answered)
		return respond(r);
	suspend(r);
	watch(r);
	return MHD_YES;
}

/* libmicrohttpd calls this with the head, with each part of the body, at the end of the
 * body, and again after a resume. */
/* size: the parameters are those of MHD_AccessHandlerCallback */
static enum MHD_Result
/* NOLINTNEXTLINE(readability-function-size): see above */
on_request(void *arg, struct MHD_Connection *conn, const char *url, const char *method,
	const char *version, const char *data, size_t *len, void **own)
{
	struct http *h = arg;
	struct request *r = *own;

	(void)version;
	if (r == NULL) {
		*own = r = new_request(h, conn, url, method);
		return wants_body(r) ? MHD_YES : refuse(r);
	}
	if (r->gone)
		return MHD_NO;
	if (*len > 0)
		return take_body(r, data, len);
	return r->answered ? respond(r) : start(r);
}

static void
on_completed(void *arg, struct MHD_Connection *conn, void **own,
	enum MHD_RequestTerminationCode why)
{
	(void)arg;
	(void)conn;
	(void)why;
	if (*own != NULL)
		free_request(*own);
	*own = NULL;
}

/* The server. */

static void __attribute__((format(printf, 2, 0)))
on_log(void *arg, const char *fmt, va_list ap)
{
	char text[300];

	(void)arg;
	/* A line per broken connection: of no use but to those who look for it. */
	if (vsnprintf(text, sizeof(text), fmt, ap) > 0)
		log_debug("http.library", "text=%s", log_q(text));
}

static void
on_ready(void *arg, uint32_t events)
{
	struct http *h = arg;

	(void)events;
	MHD_run(h->mhd);
}

/* Runs what is due now, and says how long it can wait after that. */
static int
prepare(void *arg)
{
	struct http *h = arg;
	MHD_UNSIGNED_LONG_LONG ms = 0;

	for (int i = 0; i < 4; i++) {
		if (!h->resumed && MHD_get_timeout(h->mhd, &ms) != MHD_YES)
			return -1;
		if (!h->resumed && ms > 0)
			return ms < 3600000 ? (int)ms : 3600000;
		h->resumed = false;
		MHD_run(h->mhd);
	}
	return 0;
}

static int
start_server(struct http *h, const struct http_config *config, struct err *e)
{
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	const union MHD_DaemonInfo *info;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)config->key},
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)config->cert},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
			(void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
		{MHD_OPTION_END, 0, NULL},
	};

	h->tls = config->key != NULL;
	if (h->tls)
		flags |= MHD_USE_TLS;
	else
		tls[0].option = MHD_OPTION_END;
	h->mhd = MHD_start_daemon(flags, 0, NULL, NULL, on_request, h,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET,
		h->listen_fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_PER_ADDRESS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL,
		MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_ARRAY, tls,
		MHD_OPTION_END);
	if (h->mhd == NULL)
		return err_set(e, ERR_INVALID, "the HTTP server could not be started%s",
			h->tls ? ": is the key that of the certificate?" : "");
	h->listen_fd = -1;
	info = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	assert(info != NULL);
	h->epoll_fd = info->epoll_fd;
	return 0;
}

int
http_open(struct http **ret_h, struct loop *l, struct api *a, struct sse *s,
	const struct http_config *config, struct err *e)
{
	struct http *h = xcalloc(1, sizeof(*h));

	h->loop = l;
	h->api = a;
	h->sse = s;
	h->epoll_fd = -1;
	h->listen_fd = -1;
	if (address_listen(config->address, config->port, &h->listen_fd, e) != 0)
		goto out;
	h->port = address_port(h->listen_fd);
	if (start_server(h, config, e) != 0 ||
		loop_add_fd(l, h->epoll_fd, EPOLLIN, on_ready, h, e) != 0)
		goto out;
	loop_set_prepare(l, prepare, h);
	*ret_h = h;
	return 0;
out:
	http_close(h);
	return -1;
}

uint16_t
http_port(const struct http *h)
{
	return h->port;
}

void
http_quiesce(struct http *h)
{
	int fd;

	if (h->stopping)
		return;
	h->stopping = true;
	/* The socket is ours again, and stays open no longer. */
	fd = MHD_quiesce_daemon(h->mhd);
	if (fd != MHD_INVALID_SOCKET)
		close(fd);
}

/* Lets what is ready go out; a client that does not take it has half a second. */
static void
flush(struct http *h)
{
	int64_t deadline = clock_mono() + NS_PER_S / 2;
	struct pollfd p = {.fd = h->epoll_fd, .events = POLLIN};

	while (MHD_run(h->mhd), h->requests > 0 && clock_mono() < deadline)
		poll(&p, 1, 20);
}

void
http_close(struct http *h)
{
	if (h == NULL)
		return;
	if (h->mhd != NULL) {
		http_quiesce(h);
		flush(h);
		loop_set_prepare(h->loop, NULL, NULL);
		loop_del_fd(h->loop, h->epoll_fd);
		MHD_stop_daemon(h->mhd);
	}
	if (h->listen_fd >= 0)
		close(h->listen_fd);
	free(h);
}
