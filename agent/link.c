#include "agent/link.h"

#include <assert.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/identity.h"
#include "agent/news.h"
#include "agent/refused.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/mbox.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "config.h"

/* The TLS handshake of a busy server included. */
#define CONNECT_MS 10000L
#define BACKOFF_MIN_NS (200 * NS_PER_MS)
#define BACKOFF_MAX_NS (10 * NS_PER_S)
/* News come in groups (a runner ends, its drive is free); they travel together. */
#define URGENT_PACE_NS (50 * NS_PER_MS)
/* An answer that comes at once and changes nothing must not make a busy loop. */
#define CALM_PACE_NS NS_PER_S
#define SAY_AGAIN_NS (60 * NS_PER_S)
#define SESSION_WAIT_NS (15 * NS_PER_S)
#define SESSION_RETRY_NS (3 * NS_PER_S)
/* A poll that is held for wait_s has this much more time to be answered. */
#define POLL_MARGIN_NS (10 * NS_PER_S)

/* One connection that is kept; used by one thread at a time. */
struct http {
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	struct link_peer peer;
	struct str answer;
	long status; /* of the answer, 0: none came */
	bool too_large;
	char text[CURL_ERROR_SIZE];
};

typedef bool stop_fn(void *arg);

int
link_init(struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(e, ERR_INTERNAL, "libcurl could not be started");
	return 0;
}

void
link_fini(void)
{
	curl_global_cleanup();
}

bool
link_is_loopback(const char *url)
{
	const char *host = strstr(url, "://");
	size_t n;

	if (host == NULL)
		return false;
	host += 3;
	if (strncmp(host, "[::1]", 5) == 0)
		return host[5] == ':' || host[5] == '/' || host[5] == '\0';
	n = strcspn(host, ":/");
	if (n == 9 && strncmp(host, "localhost", 9) == 0)
		return true;
	return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n;
}

static size_t
receive(char *data, size_t size, size_t n, void *arg)
{
	struct http *h = arg;

	if (h->answer.len + size * n > JSON_MAX_BYTES) {
		h->too_large = true;
		return 0;
	}
	str_add(&h->answer, data, size * n);
	return size * n;
}

static void
http_fini(struct http *h)
{
	curl_easy_cleanup(h->easy);
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	str_fini(&h->answer);
	memset(h, 0, sizeof(*h));
}

static void
add_header(struct http *h, const char *line)
{
	struct curl_slist *list = curl_slist_append(h->headers, line);

	if (list != NULL)
		h->headers = list;
}

/*
 * With a CA file the certificate is verified in full, so that it may be renewed. With a
 * pin the key itself is proven, whoever signed the certificate and whatever name is in
 * it.
 */
static void
set_tls(struct http *h)
{
	bool by_pin = h->peer.ca_file[0] == '\0' && h->peer.pin[0] != '\0';

	curl_easy_setopt(h->easy, CURLOPT_SSL_VERIFYPEER, by_pin ? 0L : 1L);
	curl_easy_setopt(h->easy, CURLOPT_SSL_VERIFYHOST, by_pin ? 0L : 2L);
	if (h->peer.ca_file[0] != '\0')
		curl_easy_setopt(h->easy, CURLOPT_CAINFO, h->peer.ca_file);
	if (by_pin)
		curl_easy_setopt(h->easy, CURLOPT_PINNEDPUBLICKEY, h->peer.pin);
	curl_easy_setopt(h->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

static int
http_init(struct http *h, const struct link_peer *peer, struct err *e)
{
	memset(h, 0, sizeof(*h));
	h->peer = *peer;
	h->multi = curl_multi_init();
	h->easy = curl_easy_init();
	if (h->multi == NULL || h->easy == NULL) {
		http_fini(h);
		return err_set(e, ERR_INTERNAL, "libcurl gave no handle");
	}
	add_header(h, "Content-Type: application/json");
	add_header(h, "Accept: application/json, application/problem+json");
	add_header(h, "Expect:");
	if (peer->bearer[0] != '\0') {
		char *line = xasprintf("Authorization: Bearer %s", peer->bearer);

		add_header(h, line);
		free(line);
	}
	curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->text);
	curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(h->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(h->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "ssdlab-agent/" PACKAGE_VERSION);
	/* A proxy for the Internet, set for the whole host, is not the way to a lab's
	 * controller. */
	curl_easy_setopt(h->easy, CURLOPT_PROXY, "");
	set_tls(h);
	return 0;
}

static int
fail_tls(const struct http *h, CURLcode code, struct err *e)
{
	if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH) {
		err_set(e, ERR_AUTH,
			"the controller at %s shows another key than the pin says (%s)",
			h->peer.url, h->peer.pin);
		if (h->peer.bearer[0] == '\0') /* it has not joined yet */
			return err_fix(e,
				"if its certificate was replaced on purpose, join with "
				"the token that ssdlab node enroll gives now; else "
				"somebody is in between");
		return err_fix(e,
			"if its certificate was replaced on purpose, move identity.json "
			"away and join again with a new token; else somebody is in "
			"between");
	}
	err_set(e, ERR_AUTH,
		"the certificate of the controller at %s is not accepted: %s",
		h->peer.url, h->text[0] != '\0' ? h->text : curl_easy_strerror(code));
	return err_fix(e,
		"check ca_file (now \"%.100s\") and the host name in the certificate, or "
		"join again with a token that carries a pin",
		h->peer.ca_file);
}

/* Says why there was no answer at all. */
static int
fail_call(const struct http *h, CURLcode code, struct err *e)
{
	const char *why = h->text[0] != '\0' ? h->text : curl_easy_strerror(code);

	if (h->too_large)
		return err_set(e, ERR_LIMIT, "the answer of %s is larger than %u bytes",
			h->peer.url, JSON_MAX_BYTES);
	switch ((int)code) {
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return fail_tls(h, code, e);
	case CURLE_OPERATION_TIMEDOUT:
		err_set(e, ERR_TIMEOUT, "controller %s did not answer in time: %s",
			h->peer.url, why);
		break;
	default:
		err_set(e, ERR_NET, "controller %s could not be reached: %s", h->peer.url,
			why);
	}
	return err_fix(e,
		"is ssdlab-controller running there, does the name resolve, is the port "
		"open from here? try: curl -k %.120s/api/v1/healthz",
		h->peer.url);
}

/* Turns an HTTP status and, where there is one, its problem document into a failure. */
static int
fail_status(const struct http *h, struct err *e)
{
	enum err_class class = ERR_NET;
	json_t *doc = NULL;
	const char *detail = "", *fix = "";

	if (json_parse(str_text(&h->answer), h->answer.len, &doc, NULL) == 0) {
		json_t *first = json_array_get(json_object_get(doc, "errors"), 0);

		detail = json_text_of(doc, "detail");
		fix = json_text_of(first, "fix");
		if (detail[0] == '\0')
			detail = json_text_of(doc, "title");
	}
	for (int i = ERR_NONE + 1; i < ERR_CLASSES; i++) {
		if (err_http_status((enum err_class)i) == h->status) {
			class = (enum err_class)i;
			break;
		}
	}
	err_set(e, class, "controller %s answered %ld: %s", h->peer.url, h->status,
		detail[0] != '\0' ? detail : "no reason given");
	if (h->status == 401 && h->peer.bearer[0] != '\0')
		err_fix(e, "was this node enrolled anew, or is that another controller? "
			   "then move identity.json away and join with the token that "
			   "ssdlab node enroll NAME --replace gives");
	else if (fix[0] != '\0')
		err_fix(e, "%s", fix);
	json_decref(doc);
	return -1;
}

/* Runs the transfer until its end or until stop says so; 1 when it was stopped. */
static int
transfer(struct http *h, stop_fn *stop, void *arg, CURLcode *ret_code)
{
	int running = 1, left;
	CURLMsg *m;
	int rc = 0;

	*ret_code = CURLE_FAILED_INIT;
	if (curl_multi_add_handle(h->multi, h->easy) != CURLM_OK)
		return 0;
	while (running > 0 && rc == 0) {
		if (curl_multi_perform(h->multi, &running) != CURLM_OK)
			break;
		if (running > 0 && stop != NULL && stop(arg))
			rc = 1;
		else if (running > 0)
			curl_multi_poll(h->multi, NULL, 0, 1000, NULL);
	}
	while ((m = curl_multi_info_read(h->multi, &left)) != NULL)
		if (m->msg == CURLMSG_DONE)
			*ret_code = m->data.result;
	curl_multi_remove_handle(h->multi, h->easy);
	return rc;
}

struct request {
	const char *path;
	const json_t *body;
	int64_t wait_ns;
	stop_fn *stop; /* asked all the time, or NULL */
	void *arg;     /* of stop */
};

/* Posts r: 0 and *ret_answer, 1 when stopped, -1 with e. */
static int
http_post(struct http *h, const struct request *r, json_t **ret_answer, struct err *e)
{
	char *url = xasprintf("%s%s", h->peer.url, r->path);
	struct str text = {0};
	CURLcode code;
	int rc;

	json_write(r->body, &text);
	str_reset(&h->answer);
	h->status = 0;
	h->too_large = false;
	h->text[0] = '\0';
	curl_easy_setopt(h->easy, CURLOPT_URL, url);
	curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, str_text(&text));
	curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE, (long)text.len);
	curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, (long)(r->wait_ns / NS_PER_MS));
	rc = transfer(h, r->stop, r->arg, &code);
	if (rc != 0)
		goto out;
	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &h->status);
	if (code != CURLE_OK)
		rc = fail_call(h, code, e);
	else if (h->status < 200 || h->status > 299)
		rc = fail_status(h, e);
	else if (json_parse(str_text(&h->answer), h->answer.len, ret_answer, e) != 0)
		rc = err_ctx(e, "answer of controller %s", h->peer.url);
out:
	curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, NULL);
	str_fini(&text);
	free(url);
	return rc;
}

int
link_post(const struct link_peer *p, const char *path, const json_t *body,
	int64_t wait_ns, json_t **ret_answer, struct err *e)
{
	struct request r = {.path = path, .body = body, .wait_ns = wait_ns};
	struct http h;
	int rc;

	if (http_init(&h, p, e) != 0)
		return -1;
	rc = http_post(&h, &r, ret_answer, e);
	http_fini(&h);
	return rc;
}

/* A failure that lasts: said once, then every minute, and how it ended. */
struct trouble {
	unsigned failures; /* in a row */
	int64_t first_ns, said_ns;
	char said[sizeof(((struct err *)0)->text)];
};

/* From the main loop to the thread. */
struct letter {
	json_t *report;
	bool urgent;
	bool want_session;
};

struct link {
	const struct identity *id;
	const char *state_dir;
	const struct inbox *in;
	struct mbox *letters;
	struct http http;
	pthread_t thread;
	/* Below: the thread only. */
	json_t *report; /* not yet answered */
	bool urgent;
	bool want_session;
	int64_t sent_ns;	/* when the last report left, 0: none yet */
	int64_t session_due_ns; /* when to agree the next session, 0: not known */
	int64_t session_try_ns; /* not to be asked for before */
	int64_t backoff_ns;
	struct trouble down, no_session;
	struct err refused; /* why a report was refused last; none: it was taken */
};

static bool
is_closed(void *arg)
{
	struct link *k = arg;

	return mbox_closed(k->letters);
}

static bool
has_letter(void *arg)
{
	struct link *k = arg;

	return mbox_closed(k->letters) || mbox_len(k->letters) > 0;
}

static void
letter_free(struct letter *l)
{
	if (l == NULL)
		return;
	json_decref(l->report);
	free(l);
}

/* Takes what has come; only the newest report counts. */
static void
take_letters(struct link *k)
{
	struct letter *l;

	while ((l = mbox_get(k->letters, 0)) != NULL) {
		k->want_session = k->want_session || l->want_session;
		if (l->report != NULL) {
			json_decref(k->report);
			k->report = l->report;
			l->report = NULL;
			k->urgent = k->urgent || l->urgent;
		}
		letter_free(l);
	}
}

/* Waits until due_ns, reading letters meanwhile; a closed mailbox ends it. */
static void
wait_until(struct link *k, int64_t due_ns)
{
	while (!is_closed(k)) {
		int64_t left = due_ns - clock_mono();

		if (left <= 0)
			return;
		curl_multi_poll(
			k->http.multi, NULL, 0, (int)(left / NS_PER_MS) + 1, NULL);
		take_letters(k);
	}
}

/* Waits until the next report may leave. */
static void
pace(struct link *k)
{
	while (!is_closed(k)) {
		int64_t due = k->sent_ns + (k->urgent ? URGENT_PACE_NS : CALM_PACE_NS);
		int64_t left = due - clock_mono();

		if (k->sent_ns == 0 || left <= 0)
			return;
		curl_multi_poll(
			k->http.multi, NULL, 0, (int)(left / NS_PER_MS) + 1, NULL);
		take_letters(k);
	}
}

static void
trouble_say(struct trouble *t, const char *event, const struct err *e)
{
	int64_t now = clock_mono();

	if (t->failures++ == 0)
		t->first_ns = now;
	if (str_alike(t->said, e->text) && now - t->said_ns < SAY_AGAIN_NS)
		return;
	log_failure(LOG_LEVEL_WARN, event, e);
	snprintf(t->said, sizeof(t->said), "%s", e->text);
	t->said_ns = now;
}

static void
trouble_over(struct trouble *t, const char *event, const struct identity *id)
{
	if (t->failures > 0)
		log_info(event, "controller=%s node=%s failures=%u away_s=%" PRId64,
			id->url, id->name, t->failures,
			(clock_mono() - t->first_ns) / NS_PER_S);
	memset(t, 0, sizeof(*t));
}

/* Between half and all of the backoff, so that many agents do not come back at once. */
static void
back_off(struct link *k)
{
	uint32_t jitter;

	k->backoff_ns = k->backoff_ns == 0 ? BACKOFF_MIN_NS : 2 * k->backoff_ns;
	if (k->backoff_ns > BACKOFF_MAX_NS)
		k->backoff_ns = BACKOFF_MAX_NS;
	seal_random(&jitter, sizeof(jitter));
	wait_until(k, clock_mono() + k->backoff_ns / 2 +
			      (int64_t)(jitter % 1000) * (k->backoff_ns / 2000));
}

static int
read_session(struct link *k, const json_t *doc, const struct seal_pair *ephemeral,
	struct seal_session *ret_s, struct err *e)
{
	uint8_t id[SEAL_SESSION_BYTES], peer[SEAL_KEY_BYTES];
	const char *id_text, *peer_text;
	int64_t valid_s;

	if (json_need_text(doc, "", "session", &id_text, e) != 0 ||
		json_need_text(doc, "", "ephemeral", &peer_text, e) != 0 ||
		json_need_int(doc, "", "valid_s", 60, INT32_MAX, &valid_s, e) != 0 ||
		seal_unbase64(id_text, id, sizeof(id), e) != 0 ||
		seal_unbase64(peer_text, peer, sizeof(peer), e) != 0)
		return -1;
	if (seal_session_agree(ret_s, id, false, &k->id->keys, ephemeral,
		    k->id->controller_key, peer, e) != 0)
		return -1;
	/* The next one while this one still works, so that nothing waits for it. */
	k->session_due_ns = clock_mono() + valid_s * NS_PER_S / 10 * 9;
	return 0;
}

/* Agrees a session and tells the main loop. */
static void
agree(struct link *k, struct err *e)
{
	char text[SEAL_KEY_BYTES * 4 / 3 + 4], path[64];
	struct news *n = news_new(NEWS_SESSION);
	struct seal_pair ephemeral;
	json_t *body = json_object();
	json_t *answer = NULL;
	struct request r = {.path = path,
		.body = body,
		.wait_ns = SESSION_WAIT_NS,
		.stop = is_closed,
		.arg = k};
	int rc;

	seal_pair_new(&ephemeral);
	seal_base64(ephemeral.public_key, SEAL_KEY_BYTES, text);
	json_put(body, "ephemeral", json_text(text));
	snprintf(path, sizeof(path), "/api/v1/agents/n%" PRIu64 "/session", k->id->node);
	k->session_try_ns = clock_mono() + SESSION_RETRY_NS;
	rc = http_post(&k->http, &r, &answer, e);
	if (rc == 0)
		rc = read_session(k, answer, &ephemeral, &n->session, e);
	if (rc == 0 && news_take_post(k->in, &n)) {
		k->want_session = false;
		trouble_over(&k->no_session, "link.session_up", k->id);
	} else if (rc < 0 && e->class != ERR_NET && e->class != ERR_TIMEOUT) {
		/* A controller that is away is told once, by the reports. */
		trouble_say(&k->no_session, "link.no_session", e);
	}
	seal_wipe(&ephemeral, sizeof(ephemeral));
	json_decref(answer);
	json_decref(body);
	news_free(n);
}

/* Sends the report and hands the answer over. */
static int
reconcile(struct link *k, struct err *e)
{
	int64_t wait_s = json_integer_value(json_object_get(k->report, "wait_s"));
	struct news *n = news_new(NEWS_ANSWER);
	bool first = k->sent_ns == 0;
	char path[64];
	struct request r = {.path = path,
		.body = k->report,
		.wait_ns = wait_s * NS_PER_S + POLL_MARGIN_NS,
		.stop = has_letter,
		.arg = k};
	int rc;

	k->urgent = false;
	k->sent_ns = clock_mono();
	n->asked_ns = k->sent_ns;
	snprintf(
		path, sizeof(path), "/api/v1/agents/n%" PRIu64 "/reconcile", k->id->node);
	rc = http_post(&k->http, &r, &n->doc, e);
	n->came_ns = clock_mono();
	n->came_wall_ns = clock_wall();
	if (rc == 0 && first && k->down.failures == 0)
		log_info("link.up", "controller=%s node=%s", k->id->url, k->id->name);
	if (rc == 0) {
		trouble_over(&k->down, "link.up", k->id);
		k->backoff_ns = 0;
		err_clear(&k->refused);
	}
	if (rc == 0 && news_take_post(k->in, &n)) {
		json_decref(k->report);
		k->report = NULL;
	} else if (rc == 1) {
		/* Something newer is to be said; what was interrupted still holds. */
		k->urgent = true;
	} else if (rc < 0 && (k->http.status == 400 || k->http.status == 413)) {
		refused_drop(k->state_dir, k->in, &k->report, &k->refused, e);
	} else if (rc < 0) {
		trouble_say(&k->down, "link.down", e);
	}
	news_free(n);
	return rc;
}

static bool
session_is_due(struct link *k)
{
	int64_t now = clock_mono();

	if (k->session_due_ns != 0 && now >= k->session_due_ns)
		k->want_session = true;
	return k->want_session && now >= k->session_try_ns;
}

static void *
run(void *arg)
{
	struct link *k = arg;

	while (!is_closed(k)) {
		struct err e = {0};

		take_letters(k);
		if (session_is_due(k)) {
			agree(k, &e);
		} else if (k->report != NULL) {
			pace(k);
			if (!is_closed(k) && reconcile(k, &e) < 0)
				back_off(k);
		} else {
			curl_multi_poll(k->http.multi, NULL, 0,
				k->want_session ? 1000 : 60000, NULL);
		}
	}
	return NULL;
}

int
link_start(struct link **ret_k, const struct identity *id, const char *ca_file,
	const char *state_dir, const struct inbox *in, struct err *e)
{
	struct link_peer peer = {
		.url = id->url, .pin = id->pin, .ca_file = ca_file, .bearer = id->secret};
	struct link *k = xcalloc(1, sizeof(*k));

	if (http_init(&k->http, &peer, e) != 0) {
		free(k);
		return -1;
	}
	k->id = id;
	k->state_dir = state_dir;
	k->in = in;
	k->letters = mbox_new(1000);
	if (pthread_create(&k->thread, NULL, run, k) != 0) {
		mbox_free(k->letters);
		http_fini(&k->http);
		free(k);
		return err_set(e, ERR_INTERNAL, "no thread for the link");
	}
	*ret_k = k;
	return 0;
}

/* The thread empties the mailbox at every turn, so it is never full for long. */
static void
send_letter(struct link *k, struct letter *l)
{
	if (!mbox_put(k->letters, l)) {
		log_warn("link.full", "why=%s", log_q("the link takes no reports"));
		letter_free(l);
	}
	curl_multi_wakeup(k->http.multi);
}

void
link_take_report(struct link *k, json_t **report, bool urgent)
{
	struct letter *l = xcalloc(1, sizeof(*l));

	l->report = *report;
	l->urgent = urgent;
	*report = NULL;
	send_letter(k, l);
}

void
link_want_session(struct link *k)
{
	struct letter *l = xcalloc(1, sizeof(*l));

	l->want_session = true;
	send_letter(k, l);
}

void
link_stop(struct link *k)
{
	struct letter *l;

	if (k == NULL)
		return;
	mbox_close(k->letters);
	curl_multi_wakeup(k->http.multi);
	pthread_join(k->thread, NULL);
	while ((l = mbox_get(k->letters, 0)) != NULL)
		letter_free(l);
	mbox_free(k->letters);
	json_decref(k->report);
	http_fini(&k->http);
	free(k);
}
