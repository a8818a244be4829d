#include "cli/client.h"

#include <config.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config.h"
#include "cli/out.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"

#define ANSWER_MAX (64U << 20) /* bytes */
#define TRIES 3		       /* of a request that is safe to repeat */
#define TRY_AGAIN_MS 500
#define CONNECT_MS 10000L
#define EXCHANGE_MS 60000L
#define PAGE_MAX 1000

struct client {
	const struct config *cfg;
	char *authorization; /* header line, or NULL without a token */
	bool loopback;
	long limit_ms; /* of one exchange */
	bool sent;     /* of the last exchange: some of the request went out */
	CURL *curl;
};

struct stream {
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	char why[CURL_ERROR_SIZE];
	struct exchange refused; /* the answer when it is no 200 */
	bool open;
	struct stream_sink sink;
	const struct client *client;
};

/* The host of "scheme://host:port/"; without brackets for IPv6. */
static void
host_of(const char *url, char *host, size_t size)
{
	CURLU *u = curl_url();
	char *part = NULL;

	host[0] = '\0';
	if (u != NULL && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_url_get(u, CURLUPART_HOST, &part, 0) == CURLUE_OK)
		snprintf(host, size, "%s", part);
	curl_free(part);
	curl_url_cleanup(u);
}

static bool
is_loopback(const char *host)
{
	return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
	       strcmp(host, "[::1]") == 0;
}

static bool
is_token(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

int
client_read_token(const char *path, char *token, size_t size, struct err *e)
{
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		bool hidden = errno == EACCES;

		err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"open token file %s", path);
		return err_fix(e, hidden ? "ask its owner for a token of your own"
					 : "set token_file in cli.conf, or "
					   "SSDLAB_TOKEN_FILE");
	}
	n = read(fd, token, size - 1);
	if (n < 0)
		err_errno(e, ERR_IO, errno, "read token file %s", path);
	else if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0077) != 0)
		talk("ssdlab: warning: %s can be read by others (mode %04o); chmod 600 "
		     "it",
			path, (unsigned)st.st_mode & 07777);
	close(fd);
	if (n < 0)
		return -1;
	token[n] = '\0';
	token[strcspn(token, "\r\n")] = '\0';
	if (!is_token(token))
		return err_set(e, ERR_AUTH, "token file %s holds no token", path);
	return 0;
}

struct client *
client_new(const struct config *cfg)
{
	struct client *c = xcalloc(1, sizeof(*c));
	char host[256];

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
	c->cfg = cfg;
	c->limit_ms = EXCHANGE_MS;
	host_of(cfg->server, host, sizeof(host));
	c->loopback = is_loopback(host);
	c->curl = curl_easy_init();
	if (c->curl == NULL)
		abort();
	return c;
}

void
client_limit(struct client *c, int64_t ns)
{
	int64_t ms = ns > 0 ? ns / NS_PER_MS + 1 : 1;

	c->limit_ms = ms < EXCHANGE_MS ? (long)ms : EXCHANGE_MS;
}

bool
client_may_pass(const struct err *e)
{
	return e->class == ERR_NET || e->class == ERR_TIMEOUT || e->class == ERR_BUSY ||
	       e->class == ERR_STORE || e->class == ERR_FULL || e->class == ERR_RATE;
}

/* Once, before the first request: is the token safe there, and what is it. */
static int
authorize(struct client *c, struct err *e)
{
	const struct config *cfg = c->cfg;
	char token[512];

	if (strncmp(cfg->server, "http://", 7) == 0 && !c->loopback) {
		err_set(e, ERR_FORBIDDEN,
			"%s: plain http would show the token to the network",
			cfg->server);
		return err_fix(e, "use https; plain http is for loopback");
	}
	if (c->authorization != NULL || cfg->token_file[0] == '\0')
		return 0;
	if (client_read_token(cfg->token_file, token, sizeof(token), e) != 0)
		return -1;
	c->authorization = xasprintf("Authorization: Bearer %s", token);
	return 0;
}

void
client_free(struct client *c)
{
	if (c == NULL)
		return;
	curl_easy_cleanup(c->curl);
	free(c->authorization);
	free(c);
	curl_global_cleanup();
}

static void
add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer == NULL)
		abort();
	*list = longer;
}

/* What every request has: where to, whom to trust, who asks. */
static void
prepare(const struct client *c, CURL *curl, const char *path, struct curl_slist **headers)
{
	const struct config *cfg = c->cfg;
	char *url = xasprintf("%s%s", cfg->server, path);

	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
		c->limit_ms < CONNECT_MS ? c->limit_ms : CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
	if (c->loopback)
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (cfg->ca_file[0] != '\0')
		curl_easy_setopt(curl, CURLOPT_CAINFO, cfg->ca_file);
	if (cfg->pin[0] != '\0') {
		curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, cfg->pin);
		if (cfg->ca_file[0] == '\0') {
			curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
			curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
		}
	}
	if (c->authorization != NULL)
		add_header(headers, c->authorization);
	free(url);
}

static size_t
take_answer(char *data, size_t size, size_t n, void *arg)
{
	struct exchange *x = arg;

	if (x->text.len + size * n > ANSWER_MAX)
		return 0;
	str_add(&x->text, data, size * n);
	return size * n;
}

/* What plain http ends with at a port that wants TLS: silence, or something odd. */
static bool
speaks_tls(CURLcode code)
{
	return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
	       code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
}

static int
unreachable(const struct client *c, CURLcode code, const char *why, struct err *e)
{
	const char *text = why[0] != '\0' ? why : curl_easy_strerror(code);

	if (code == CURLE_OPERATION_TIMEDOUT) {
		err_set(e, ERR_TIMEOUT, "%s does not answer: %s", c->cfg->server, text);
		return err_fix(e, "is it the right server? --server, SSDLAB_SERVER");
	}
	if (code == CURLE_WRITE_ERROR)
		return err_set(e, ERR_LIMIT, "%s: the answer is larger than %u MiB",
			c->cfg->server, ANSWER_MAX >> 20);
	if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH) {
		err_set(e, ERR_NET, "%s has another key than the pin says",
			c->cfg->server);
		return err_fix(e, "if the controller got a new key, set its new pin; if "
				  "not, somebody stands between");
	}
	err_set(e, ERR_NET, "%s cannot be reached: %s", c->cfg->server, text);
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
		return err_fix(e, "on the controller's machine: sudo ssdlab setup; "
				  "elsewhere set SSDLAB_PIN to its pin, or "
				  "SSDLAB_CA_FILE to its CA");
	if (strncmp(c->cfg->server, "http://", 7) == 0 && speaks_tls(code))
		return err_fix(e, "try https://%s", c->cfg->server + 7);
	return err_fix(e, "is ssdlab-controller running there? --server, SSDLAB_SERVER");
}

/* Whether any byte of a request went out in the try that has just ended. */
static bool
went_out(CURL *curl)
{
	long bytes = 0;

	return curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &bytes) != CURLE_OK ||
	       bytes > 0;
}

bool
client_may_have_acted(const struct client *c, const struct err *e)
{
	return c->sent && (e->class == ERR_NET || e->class == ERR_TIMEOUT);
}

/* The connection broke after it stood: the request may have been served or not. */
static bool
broke(CURLcode code)
{
	return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
	       code == CURLE_SEND_ERROR || code == CURLE_PARTIAL_FILE;
}

static void
idempotency_key(struct curl_slist **headers)
{
	unsigned char bytes[16];
	struct str line = {0};

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	str_puts(&line, "Idempotency-Key: ");
	for (size_t i = 0; i < sizeof(bytes); i++)
		str_printf(&line, "%02x", bytes[i]);
	add_header(headers, str_text(&line));
	str_fini(&line);
}

static void
note_type(CURL *curl, struct exchange *x)
{
	char *type = NULL;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &x->status);
	curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
	snprintf(x->type, sizeof(x->type), "%s", type != NULL ? type : "");
}

int
client_exchange(struct client *c, struct exchange *x, struct err *e)
{
	struct curl_slist *headers = NULL;
	char why[CURL_ERROR_SIZE] = "";
	CURLcode code = CURLE_OK;
	int rc = 0;

	c->sent = false;
	if (authorize(c, e) != 0)
		return -1;
	curl_easy_reset(c->curl);
	prepare(c, c->curl, x->path, &headers);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, c->limit_ms);
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, x->method);
	if (strcmp(x->method, "HEAD") == 0)
		curl_easy_setopt(c->curl, CURLOPT_NOBODY, 1L);
	if (x->body != NULL) {
		add_header(&headers, "Content-Type: application/json");
		add_header(&headers, "Expect:");
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, x->body);
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)strlen(x->body));
	}
	if (x->once)
		idempotency_key(&headers);
	if (x->header != NULL)
		add_header(&headers, x->header);
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, x);
	for (int i = 0; i < TRIES; i++) {
		if (i > 0)
			poll(NULL, 0, TRY_AGAIN_MS);
		str_reset(&x->text);
		code = curl_easy_perform(c->curl);
		c->sent |= went_out(c->curl);
		if (!broke(code) || !(x->once || strcmp(x->method, "GET") == 0))
			break;
	}
	if (code == CURLE_OK)
		note_type(c->curl, x);
	else
		rc = unreachable(c, code, why, e);
	curl_slist_free_all(headers);
	return rc;
}

void
exchange_fini(struct exchange *x)
{
	str_fini(&x->text);
}

static const struct {
	long status;
	enum err_class class;
} classes[] = {
#define ERR(name, text, status, exit_code, title) {status, ERR_##name},
#include "common/err_tbl.h"
#undef ERR
};

static enum err_class
class_of_status(long status)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].status == status)
			return classes[i].class;
	return status >= 400 && status < 500 ? ERR_INVALID : ERR_INTERNAL;
}

/* The last part of "/problems/unsafe". */
static enum err_class
class_of_problem(const json_t *doc, long status)
{
	const char *type = json_text_of(doc, "type");
	const char *slash = strrchr(type, '/');
	const char *name = slash != NULL ? slash + 1 : type;
	enum err_class class = err_from_name(name);

	if (class == ERR_NONE ||
		(class == ERR_INTERNAL && strcmp(name, err_name(ERR_INTERNAL)) != 0))
		return class_of_status(status);
	return class;
}

int
client_problem(const struct exchange *x, struct err *e)
{
	json_t *doc = json_loadb(str_text(&x->text), x->text.len, 0, NULL);
	const json_t *first = json_array_get(json_object_get(doc, "errors"), 0);
	const char *detail = json_text_of(doc, "detail");

	if (detail[0] == '\0') {
		err_set(e, class_of_status(x->status),
			"the server answers %ld%s and no problem document", x->status,
			x->type[0] != '\0' ? " with something else" : "");
		err_fix(e, "is it an ssdlab controller? --server, SSDLAB_SERVER");
	} else {
		err_set(e, class_of_problem(doc, x->status), "%s", detail);
		if (json_text_of(first, "pointer")[0] != '\0')
			err_at(e, "%s", json_text_of(first, "pointer"));
		if (json_text_of(first, "fix")[0] != '\0')
			err_fix(e, "%s", json_text_of(first, "fix"));
	}
	json_decref(doc);
	return -1;
}

/* What an answer means: a document, or a failure. */
static int
read_document(
	const struct exchange *x, const struct client *c, json_t **ret_doc, struct err *e)
{
	json_error_t je;

	if (x->status < 200 || x->status > 299) {
		client_problem(x, e);
		if (e->class != ERR_AUTH || c->authorization != NULL)
			return -1;
		e->fix[0] = '\0'; /* of one who does not know what is configured here */
		return err_fix(e, "no token is configured; on the controller's machine: "
				  "sudo ssdlab setup; elsewhere set SSDLAB_TOKEN_FILE to "
				  "a file that holds one");
	}
	*ret_doc = json_loadb(
		str_text(&x->text), x->text.len, JSON_REJECT_DUPLICATES, &je);
	if (*ret_doc == NULL) {
		err_set(e, ERR_NET, "%s answers with something that is no JSON: %s",
			c->cfg->server, je.text);
		return err_fix(e, "is it an ssdlab controller? --server, SSDLAB_SERVER");
	}
	return 0;
}

int
client_get(struct client *c, const char *path, json_t **ret_doc, struct err *e)
{
	struct exchange x = {.method = "GET", .path = path};
	int rc = client_exchange(c, &x, e);

	if (rc == 0)
		rc = read_document(&x, c, ret_doc, e);
	exchange_fini(&x);
	return rc;
}

int
client_post(struct client *c, const char *path, const json_t *body, json_t **ret_doc,
	struct err *e)
{
	struct exchange x = {.method = "POST", .path = path, .once = true};
	struct str text = {0};
	json_t *doc = NULL;
	int rc;

	if (body != NULL)
		json_write(body, &text);
	x.body = str_text(&text);
	rc = client_exchange(c, &x, e);
	if (rc == 0)
		rc = read_document(&x, c, &doc, e);
	if (rc == 0 && ret_doc != NULL)
		*ret_doc = doc;
	else
		json_decref(doc);
	exchange_fini(&x);
	str_fini(&text);
	return rc;
}

static int
get_page(struct client *c, const char *path, size_t limit, const char *cursor,
	json_t **ret_doc, struct err *e)
{
	struct str full = {0};
	char number[24];
	int rc;

	str_puts(&full, path);
	snprintf(number, sizeof(number), "%zu", limit < PAGE_MAX ? limit : PAGE_MAX);
	client_query(&full, "limit", number);
	if (cursor != NULL)
		client_query(&full, "cursor", cursor);
	rc = client_get(c, str_text(&full), ret_doc, e);
	str_fini(&full);
	return rc;
}

int
client_list(
	struct client *c, const char *path, size_t limit, json_t **ret_doc, struct err *e)
{
	json_t *doc, *items;
	const char *cursor;

	if (get_page(c, path, limit, NULL, &doc, e) != 0)
		return -1;
	items = json_object_get(doc, "items");
	while ((cursor = json_string_value(json_object_get(doc, "next_cursor"))) !=
			NULL &&
		json_array_size(items) < limit) {
		json_t *page;

		if (get_page(c, path, limit - json_array_size(items), cursor, &page, e) !=
			0) {
			json_decref(doc);
			return -1;
		}
		json_array_extend(items, json_object_get(page, "items"));
		json_object_set(doc, "next_cursor", json_object_get(page, "next_cursor"));
		json_decref(page);
	}
	*ret_doc = doc;
	return 0;
}

static void
encode(struct str *out, const char *text, const char *keep)
{
	for (; *text != '\0'; text++) {
		unsigned char ch = (unsigned char)*text;

		if ((ch >= '0' && ch <= '9') || ((ch | 32) >= 'a' && (ch | 32) <= 'z') ||
			strchr(keep, *text) != NULL)
			str_add(out, text, 1);
		else
			str_printf(out, "%%%02X", ch);
	}
}

void
client_query(struct str *path, const char *name, const char *value)
{
	str_printf(path, "%c%s=", strchr(str_text(path), '?') != NULL ? '&' : '?', name);
	encode(path, value, "-._~:@,/");
}

void
client_segment(struct str *path, const char *text)
{
	str_puts(path, "/");
	encode(path, text, "-._~@");
}

static size_t
take_stream(char *data, size_t size, size_t n, void *arg)
{
	struct stream *s = arg;
	long status = 0;

	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200)
		return take_answer(data, size, n, &s->refused);
	s->open = true;
	s->sink.take(data, size * n, s->sink.arg);
	return size * n;
}

int
stream_open(struct client *c, const char *path, const char *last_id,
	struct stream_sink sink, struct stream **ret_s, struct err *e)
{
	struct stream *s;

	if (authorize(c, e) != 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	s->client = c;
	s->sink = sink;
	s->curl = curl_easy_init();
	s->multi = curl_multi_init();
	if (s->curl == NULL || s->multi == NULL)
		abort();
	prepare(c, s->curl, path, &s->headers);
	add_header(&s->headers, "Accept: text/event-stream");
	if (last_id[0] != '\0') {
		char *line = xasprintf("Last-Event-ID: %s", last_id);

		add_header(&s->headers, line);
		free(line);
	}
	curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, s->headers);
	curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, s->why);
	curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, take_stream);
	curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
	if (curl_multi_add_handle(s->multi, s->curl) != CURLM_OK) {
		stream_free(s);
		return err_set(e, ERR_INTERNAL, "libcurl took no stream");
	}
	*ret_s = s;
	return 0;
}

int
stream_step(struct stream *s, int wait_ms, struct err *e)
{
	int running = 1;
	int left;
	CURLMsg *m;

	curl_multi_perform(s->multi, &running);
	if (running > 0 && wait_ms > 0) {
		curl_multi_poll(s->multi, NULL, 0, wait_ms, NULL);
		curl_multi_perform(s->multi, &running);
	}
	if (running > 0)
		return 1;
	m = curl_multi_info_read(s->multi, &left);
	if (m == NULL || m->msg != CURLMSG_DONE)
		return err_set(e, ERR_NET, "the stream ended for no known reason");
	if (m->data.result != CURLE_OK)
		return unreachable(s->client, m->data.result, s->why, e);
	note_type(s->curl, &s->refused);
	return s->refused.status == 200 ? 0 : client_problem(&s->refused, e);
}

bool
stream_is_open(const struct stream *s)
{
	return s->open;
}

void
stream_free(struct stream *s)
{
	if (s == NULL)
		return;
	if (s->multi != NULL)
		curl_multi_remove_handle(s->multi, s->curl);
	curl_easy_cleanup(s->curl);
	curl_multi_cleanup(s->multi);
	curl_slist_free_all(s->headers);
	exchange_fini(&s->refused);
	free(s);
}
