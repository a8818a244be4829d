#include "agent/uplink.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/identity.h"
#include "agent/news.h"
#include "agent/stream.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mbox.h"
#include "common/nn.h"
#include "common/seal.h"
#include "common/wire.h"
#include "common/xalloc.h"

#define LOOK_NS (200 * NS_PER_MS) /* how often spools of live runners are looked at */
#define BUSY_NS (2 * NS_PER_S)
#define SPOOL_RETRY_NS NS_PER_S
#define VERSION_NS (60 * NS_PER_S)
#define SILENCE_MAX_NS (30 * NS_PER_S)
#define SAY_AGAIN_NS (60 * NS_PER_S)
#define SILENT_CALLS 2 /* in a row: the session may not be known any more */

enum order_kind { ORDER_SESSION, ORDER_STREAM, ORDER_DROP };

/* From the main loop to the thread. */
struct order {
	enum order_kind kind;
	struct seal_session session;
	uint64_t attempt, fence, newest;
	char *dir;
	bool ended;
};

struct sender {
	struct sender *next;
	struct stream *stream;
	bool blocked;	    /* the controller does not want it, or it cannot be read */
	int64_t retry_mono; /* when to read it again, 0: only with another session */
	uint64_t told_last, told_acked;
	int64_t acked_said_mono; /* when its last uplink.acked was logged, 0: never */
};

struct uplink {
	const struct identity *id;
	const struct inbox *in;
	struct mbox *orders;
	pthread_t thread;
	char url[300];
	int64_t answer_ns;
	/* Below: the thread only. */
	struct nn_req *q;
	struct seal_session session;
	bool has_session, ping, want_session;
	uint64_t tx_seq, rx_seq;
	struct sender *first;
	struct wire_batch batch;
	int64_t pause_mono; /* nothing is sent before */
	int64_t silence_ns; /* how long the next silence pauses */
	unsigned silent;    /* calls without an answer, in a row */
	bool up;	    /* the controller answered the last call */
	bool said_busy;
};

int
uplink_url(const char *controller, uint16_t data_port, char *ret_url, size_t size,
	struct err *e)
{
	const char *host = strstr(controller, "://");
	size_t n = 0;

	if (host != NULL) {
		host += 3;
		n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
	}
	if (n < 1 || n > 255)
		return err_set(e, ERR_INVALID, "%.100s has no host", controller);
	snprintf(ret_url, size, "tcp://%.*s:%u", (int)n, host, (unsigned)data_port);
	return 0;
}

static void
order_free(struct order *o)
{
	if (o == NULL)
		return;
	seal_wipe(&o->session, sizeof(o->session));
	free(o->dir);
	free(o);
}

static struct sender **
find(struct uplink *u, uint64_t attempt)
{
	struct sender **at = &u->first;

	while (*at != NULL && stream_attempt((*at)->stream) != attempt)
		at = &(*at)->next;
	return at;
}

static void
remove_sender(struct sender **at)
{
	struct sender *s = *at;

	*at = s->next;
	stream_close(s->stream);
	free(s);
}

static void
tell_blocked(struct uplink *u, const struct sender *s, const char *why)
{
	struct news *n = news_new(NEWS_BLOCKED);

	n->attempt = stream_attempt(s->stream);
	snprintf(n->why, sizeof(n->why), "%s", why);
	news_take_post(u->in, &n);
	news_free(n);
}

static void
block(struct uplink *u, struct sender *s, const char *why)
{
	if (s->blocked)
		return;
	s->blocked = true;
	log_warn("uplink.blocked", "attempt=%" PRIu64 " why=%s",
		stream_attempt(s->stream), log_q(why));
	tell_blocked(u, s, why);
}

static void
unblock(struct uplink *u, struct sender *s)
{
	if (!s->blocked)
		return;
	s->blocked = false;
	s->retry_mono = 0;
	log_info("uplink.unblocked", "attempt=%" PRIu64, stream_attempt(s->stream));
	tell_blocked(u, s, "");
}

static void
take_session(struct uplink *u, const struct order *o)
{
	u->session = o->session;
	u->has_session = true;
	u->want_session = false;
	u->tx_seq = u->rx_seq = 0;
	u->ping = true;
	/* Another session may be another database: what was not wanted may be now. */
	for (struct sender *s = u->first; s != NULL; s = s->next)
		unblock(u, s);
}

static void
take_stream(struct uplink *u, const struct order *o)
{
	struct sender **at = find(u, o->attempt);
	struct err e = {0};

	if (*at == NULL) {
		struct stream *stream;

		if (stream_open(&stream, o->attempt, o->fence, o->dir, &e) != 0) {
			log_failure(LOG_LEVEL_ERR, "uplink.spool", &e);
			return;
		}
		*at = xcalloc(1, sizeof(**at));
		(*at)->stream = stream;
	}
	stream_newest((*at)->stream, o->newest);
	if (o->ended)
		stream_ended((*at)->stream);
}

static void
take_order(struct uplink *u, struct order *o)
{
	struct sender **at;

	switch (o->kind) {
	case ORDER_SESSION:
		take_session(u, o);
		break;
	case ORDER_STREAM:
		take_stream(u, o);
		break;
	case ORDER_DROP:
		at = find(u, o->attempt);
		if (*at != NULL)
			remove_sender(at);
		break;
	}
	order_free(o);
}

/* Tells the main loop how far a stream is, when that has changed. */
static void
tell_progress(struct uplink *u, struct sender *s)
{
	uint64_t last = stream_last(s->stream), acked = stream_acked_seq(s->stream);
	struct news *n;

	if (last == s->told_last && acked == s->told_acked)
		return;
	n = news_new(NEWS_PROGRESS);
	n->attempt = stream_attempt(s->stream);
	n->last_seq = last;
	n->acked_seq = acked;
	if (news_take_post(u->in, &n)) {
		s->told_last = last;
		s->told_acked = acked;
	}
	news_free(n);
}

/* The controller said no. */
static void
take_nack(struct uplink *u, struct sender *s, enum wire_nack code)
{
	int64_t now = clock_mono();

	if (s != NULL)
		stream_failed(s->stream);
	if (code == WIRE_NACK_VERSION) {
		log_err("uplink.version", "controller=%s why=%s", u->url,
			log_q("it speaks another version of the data protocol; install "
			      "the same ssdlab version on both sides"));
		u->pause_mono = now + VERSION_NS;
	} else if (s != NULL && code == WIRE_NACK_ATTEMPT) {
		block(u, s, "the controller does not know this attempt");
	} else if (s != NULL && code == WIRE_NACK_FENCE) {
		block(u, s, "the controller holds another fence token for this attempt");
	} else if (s != NULL && code == WIRE_NACK_FORMAT) {
		block(u, s, "the controller does not understand these records");
	} else {
		if (!u->said_busy)
			log_warn("uplink.busy", "controller=%s why=%s", u->url,
				log_q("it cannot store now (no space?); records stay "
				      "here until it can"));
		u->said_busy = true;
		u->pause_mono = now + BUSY_NS;
	}
}

/* Harmless, and true of each acknowledgement while the disk is full. */
static void
say_not_kept(struct sender *s, const struct err *e)
{
	int64_t now = clock_mono();

	if (s->acked_said_mono != 0 && now - s->acked_said_mono < SAY_AGAIN_NS)
		return;
	s->acked_said_mono = now;
	log_failure(LOG_LEVEL_WARN, "uplink.acked", e);
}

static void
take_ack(struct uplink *u, struct sender *s, const uint8_t *payload, size_t len)
{
	struct wire_ack acks[WIRE_ACK_MAX];
	struct err e = {0};
	size_t n = 0;
	bool told = false;

	if (u->said_busy)
		log_info("uplink.stores_again", "controller=%s", u->url);
	u->said_busy = false;
	if (wire_ack_decode(acks, &n, payload, len, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "uplink.ack", &e);
	for (size_t i = 0; s != NULL && i < n; i++) {
		if (acks[i].attempt != stream_attempt(s->stream))
			continue;
		told = true;
		if (stream_acked(s->stream, acks[i].seq, &e) != 0)
			say_not_kept(s, &e);
	}
	if (s != NULL && !told)
		stream_failed(s->stream);
}

/*
 * Opens an answer into payload (of len bytes at most) and reads its type: false when it
 * is not authentic, or an older one that comes again.
 */
static bool
open_answer(struct uplink *u, const uint8_t *msg, size_t len, uint8_t *payload,
	size_t *ret_len, uint8_t *ret_type)
{
	struct wire_header h;
	struct err e = {0};

	if (wire_header_decode(&h, msg, len, &e) != 0 ||
		wire_open(&u->session, &h, msg, payload, ret_len, &e) != 0) {
		log_failure(LOG_LEVEL_DEBUG, "uplink.answer", &e);
		return false;
	}
	if (h.seq <= u->rx_seq)
		return false;
	u->rx_seq = h.seq;
	*ret_type = h.type;
	return true;
}

static bool
take_answer(struct uplink *u, struct sender *s, const uint8_t *msg, size_t len)
{
	uint8_t *payload = xcalloc(len > 0 ? len : 1, 1);
	enum wire_nack code = WIRE_NACK_BUSY;
	struct err e = {0};
	size_t n = 0;
	uint8_t type = 0;
	bool good = open_answer(u, msg, len, payload, &n, &type);
	uint64_t attempt;

	if (good && type == WIRE_ACK) {
		take_ack(u, s, payload, n);
	} else if (good && type == WIRE_NACK) {
		if (wire_nack_decode(&code, &attempt, payload, n, &e) != 0)
			log_failure(LOG_LEVEL_WARN, "uplink.nack", &e);
		take_nack(u, s, code);
	} else {
		good = false;
	}
	free(payload);
	return good;
}

/* No answer: nn has made a new connection; after a second time, the session is suspect.
 */
static void
take_silence(struct uplink *u, const struct err *e)
{
	if (u->silent++ == 0)
		log_warn("uplink.silent", "controller=%s why=%s fix=%s", u->url,
			log_q(e->class != ERR_NONE ? e->text : "no answer in time"),
			log_q("is ssdlab-controller running, is its data_port open from "
			      "here? records stay on this node meanwhile"));
	u->up = false;
	if (e->class != ERR_NONE)
		u->pause_mono = clock_mono() + NS_PER_S;
	if (u->silent % SILENT_CALLS != 0)
		return;
	seal_wipe(&u->session, sizeof(u->session));
	u->has_session = false;
	u->want_session = true;
	u->silence_ns = u->silence_ns == 0 ? NS_PER_S : 2 * u->silence_ns;
	if (u->silence_ns > SILENCE_MAX_NS)
		u->silence_ns = SILENCE_MAX_NS;
	u->pause_mono = clock_mono() + u->silence_ns;
}

static void
went_up(struct uplink *u)
{
	if (!u->up)
		log_info("uplink.up", "controller=%s silent_calls=%u", u->url, u->silent);
	u->up = true;
	u->silent = 0;
	u->silence_ns = 0;
}

/* Sends one message, of the batch of s or a ping when s is NULL. */
static void
call(struct uplink *u, struct sender *s)
{
	struct wire_header h = {.major = WIRE_VERSION_MAJOR,
		.minor = WIRE_VERSION_MINOR,
		.type = s != NULL ? WIRE_RECORDS : WIRE_PING,
		.node = u->id->node,
		.seq = ++u->tx_seq};
	const uint8_t *payload = NULL;
	uint8_t *msg, *answer = NULL;
	size_t len = 0, n = 0;
	struct err e = {0};
	bool good = false;

	if (s != NULL)
		payload = wire_batch_payload(&u->batch, &len);
	msg = wire_seal(&u->session, &h, payload, len, &n);
	if (nn_req_call(u->q, msg, n, u->answer_ns, &answer, &len, &e) == 1)
		good = take_answer(u, s, answer, len);
	nn_msg_free(answer);
	free(msg);
	if (good) {
		went_up(u);
	} else {
		if (s != NULL)
			stream_failed(s->stream);
		take_silence(u, &e);
	}
	if (s != NULL)
		tell_progress(u, s);
}

/* Sends the next batch of one part of one stream; false when it has none. */
static bool
send_part(struct uplink *u, struct sender *s, enum stream_part part)
{
	struct err e = {0};
	int rc;

	if (s->blocked && (s->retry_mono == 0 || clock_mono() < s->retry_mono))
		return false;
	rc = stream_next(s->stream, part, &u->batch, &e);
	if (rc < 0) {
		block(u, s, e.text);
		s->retry_mono = clock_mono() + SPOOL_RETRY_NS;
	}
	if (rc != 1)
		return false;
	unblock(u, s);
	call(u, s);
	return true;
}

static bool
may_send(const struct uplink *u)
{
	return u->has_session && clock_mono() >= u->pause_mono && !mbox_closed(u->orders);
}

/* One round: everything live, then one batch of the backlog. false: nothing to do. */
static bool
turn(struct uplink *u)
{
	bool worked = false;
	struct sender **at;

	if (u->ping) {
		u->ping = false;
		call(u, NULL);
	}
	for (struct sender *s = u->first; s != NULL && may_send(u); s = s->next)
		worked = send_part(u, s, STREAM_LIVE) || worked;
	for (at = &u->first; *at != NULL && may_send(u); at = &(*at)->next) {
		struct sender *s = *at;

		if (!send_part(u, s, STREAM_BACK))
			continue;
		/* The next backlog to be served is another one's. */
		*at = s->next;
		while (*at != NULL)
			at = &(*at)->next;
		*at = s;
		s->next = NULL;
		return true;
	}
	return worked;
}

static bool
has_live(const struct uplink *u)
{
	for (const struct sender *s = u->first; s != NULL; s = s->next)
		if (stream_is_live(s->stream) && !s->blocked)
			return true;
	return false;
}

/* How long nothing but an order needs attention; -1: for ever. */
static int64_t
idle_ns(const struct uplink *u, bool worked)
{
	int64_t left = u->pause_mono - clock_mono();

	if (u->want_session)
		return NS_PER_S;
	if (!u->has_session)
		return -1;
	if (left > 0)
		return left;
	if (worked || u->ping)
		return 0;
	return has_live(u) ? LOOK_NS : NS_PER_S;
}

/* Asks for a session until one comes; the main loop may not have room for news. */
static void
ask_session(struct uplink *u)
{
	struct news *n = news_new(NEWS_WANT_SESSION);

	if (news_take_post(u->in, &n))
		u->want_session = false;
	news_free(n);
}

static void *
run(void *arg)
{
	struct uplink *u = arg;
	bool worked = false;

	while (!mbox_closed(u->orders)) {
		struct order *o = mbox_get(u->orders, idle_ns(u, worked));

		for (; o != NULL; o = mbox_get(u->orders, 0))
			take_order(u, o);
		if (u->want_session)
			ask_session(u);
		worked = may_send(u) && turn(u);
	}
	return NULL;
}

int
uplink_start(struct uplink **ret_u, const struct identity *id, const struct inbox *in,
	int64_t answer_ns, struct err *e)
{
	struct uplink *u = xcalloc(1, sizeof(*u));

	u->id = id;
	u->in = in;
	u->answer_ns = answer_ns;
	u->orders = mbox_new(100000);
	if (uplink_url(id->url, id->data_port, u->url, sizeof(u->url), e) != 0 ||
		nn_req_open(&u->q, u->url, e) != 0)
		goto out;
	if (pthread_create(&u->thread, NULL, run, u) != 0) {
		err_set(e, ERR_INTERNAL, "no thread for the uplink");
		goto out;
	}
	*ret_u = u;
	return 0;
out:
	nn_req_close(u->q);
	mbox_free(u->orders);
	free(u);
	return -1;
}

static void
send_order(struct uplink *u, struct order *o)
{
	if (mbox_put(u->orders, o))
		return;
	log_warn("uplink.full", "attempt=%" PRIu64 " why=%s", o->attempt,
		log_q("the uplink is far behind; what it was told is dropped"));
	order_free(o);
}

void
uplink_session(struct uplink *u, const struct seal_session *s)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->kind = ORDER_SESSION;
	o->session = *s;
	send_order(u, o);
}

void
uplink_stream(struct uplink *u, uint64_t attempt, uint64_t fence, const char *dir,
	uint64_t newest, bool ended)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->kind = ORDER_STREAM;
	o->attempt = attempt;
	o->fence = fence;
	o->dir = xstrdup(dir);
	o->newest = newest;
	o->ended = ended;
	send_order(u, o);
}

void
uplink_drop(struct uplink *u, uint64_t attempt)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->kind = ORDER_DROP;
	o->attempt = attempt;
	send_order(u, o);
}

void
uplink_stop(struct uplink *u)
{
	struct order *o;

	if (u == NULL)
		return;
	mbox_close(u->orders);
	pthread_join(u->thread, NULL);
	while ((o = mbox_get(u->orders, 0)) != NULL)
		order_free(o);
	mbox_free(u->orders);
	while (u->first != NULL)
		remove_sender(&u->first);
	wire_batch_fini(&u->batch);
	nn_req_close(u->q);
	seal_wipe(&u->session, sizeof(u->session));
	free(u);
}
