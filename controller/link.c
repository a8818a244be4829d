#include "controller/link.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "analysis/sanity.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/nn.h"
#include "common/wire.h"
#include "common/xalloc.h"
#include "controller/flags.h"
#include "controller/ingest.h"
#include "controller/session.h"
#include "controller/sse.h"
#include "controller/store.h"

/* Messages taken before the loop may do something else. */
#define BURST 16

/* Refusals are told at most this often. */
#define TELL_NS (10 * NS_PER_S)

struct link {
	struct link_env env;
	struct nn_rep *rep; /* NULL: closed */
	bool listening;	    /* the socket is watched */
	unsigned jobs;	    /* in flight */
	struct link_counts counts;
	int64_t told;	       /* clock_mono of the last line about refusals */
	uint64_t told_refused; /* counts.refused then */
	struct sample *sample; /* decoding needs 70 KiB; one is enough */
};

/* One authentic message of records, from its arrival to its answer. */
struct job {
	struct link *link;
	struct nn_route route;
	uint8_t session[SEAL_SESSION_BYTES];
	uint8_t *payload;
	struct ingest_batch batch;
	struct ingest_answer answer;
};

static void on_message(void *arg, uint32_t events);

static void
listen_more(struct link *k)
{
	struct err e = {0};
	bool want = k->rep != NULL && k->jobs < k->env.jobs_max;

	if (want == k->listening)
		return;
	if (!want) {
		loop_del_fd(k->env.loop, nn_rep_fd(k->rep));
	} else if (loop_add_fd(k->env.loop, nn_rep_fd(k->rep), EPOLLIN, on_message, k,
			   &e) != 0) {
		log_failure(LOG_LEVEL_ERR, "link.deaf", &e);
		return;
	}
	k->listening = want;
}

/* Counts a message that gets no answer; a flood of them makes one line. */
static void
refuse(struct link *k, const char *why)
{
	int64_t now = clock_mono();

	k->counts.refused++;
	log_debug("link.refuse", "why=%s", log_q(why));
	if (k->told != 0 && now - k->told < TELL_NS)
		return;
	log_warn("link.refused", "messages=%" PRIu64 " last=%s",
		k->counts.refused - k->told_refused, log_q(why));
	k->told = now;
	k->told_refused = k->counts.refused;
}

static void
answer(struct link *k, struct session *s, enum wire_type type,
	const struct nn_route *route, const uint8_t *payload, size_t len)
{
	struct wire_header h = {
		.major = WIRE_VERSION_MAJOR,
		.minor = WIRE_VERSION_MINOR,
		.type = (uint8_t)type,
		.node = (uint64_t)s->node,
		.seq = ++s->tx_seq,
	};
	uint8_t *msg;
	size_t n;

	memcpy(h.session, s->keys.id, sizeof(h.session));
	msg = wire_seal(&s->keys, &h, payload, len, &n);
	nn_rep_send(k->rep, msg, n, route);
	free(msg);
}

static void
send_ack(struct link *k, struct session *s, const struct nn_route *route,
	const struct wire_ack *ack)
{
	uint8_t payload[WIRE_ACK_BYTES];
	size_t len = wire_ack_encode(ack, ack != NULL ? 1 : 0, payload, sizeof(payload));

	k->counts.acks++;
	answer(k, s, WIRE_ACK, route, payload, len);
}

static void
send_nack(struct link *k, struct session *s, const struct nn_route *route,
	enum wire_nack code, uint64_t attempt)
{
	uint8_t payload[WIRE_NACK_BYTES];
	size_t len = wire_nack_encode(code, attempt, payload, sizeof(payload));

	k->counts.nacks++;
	log_debug("link.nack", "node=n%" PRId64 " attempt=%" PRIu64 " code=%d", s->node,
		attempt, (int)code);
	answer(k, s, WIRE_NACK, route, payload, len);
}

/* One second is too short to miss an offer by, so only its backlog tells saturation. */
static unsigned
live_flags(const struct ingest_live *v, const struct sample *s)
{
	uint64_t errors = 0;
	struct sanity facts = {
		.iops = (double)NAN,
		.offered_iops = v->offered_iops,
		.littles_n = (double)NAN,
		.in_flight_mean = (double)NAN,
		.in_flight = s->in_flight, /* full when anything waits */
		.backlog_max = (double)s->backlog,
		.dropped = s->dropped,
	};

	for (int d = 0; d < DIRECTIONS; d++)
		errors += s->errors[d];
	facts.errors = errors;
	return sanity_flags(&facts);
}

/* Rates of trims, write-zeroes and flushes, when there were any. */
static void
put_others(json_t *o, const struct sample *s, double seconds)
{
	uint64_t all = s->ops[DIR_READ] + s->ops[DIR_WRITE];
	uint64_t others = 0;
	char name[40];

	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		if (s->ops[d] == 0)
			continue;
		others += s->ops[d];
		snprintf(
			name, sizeof(name), "%s_iops", direction_name((enum direction)d));
		json_put(o, name, json_real((double)s->ops[d] / seconds));
	}
	if (others > 0)
		json_put(o, "all_iops", json_real((double)(all + others) / seconds));
}

static json_t *
live_json(const struct ingest_live *v, const struct sample *s)
{
	double seconds = (double)s->length_ns / (double)NS_PER_S;
	bool open = isfinite(v->offered_iops);
	const struct hist *lat = open ? s->response : s->service;
	struct hist all = lat[DIR_READ];
	json_t *o = json_object();

	hist_merge(&all, &lat[DIR_WRITE]);
	json_put(o, "run", json_sprintf("r%" PRId64, v->run));
	json_put(o, "point", json_integer(s->point));
	json_put(o, "workload", json_text(v->workload));
	json_put(o, "load_percent",
		isnan(v->load_percent) ? json_null() : json_real(v->load_percent));
	json_put(o, "offered_iops", open ? json_real(v->offered_iops) : json_null());
	json_put(o, "second", json_integer(s->second));
	json_put(o, "warmup", json_boolean((s->flags & SAMPLE_WARMUP) != 0));
	json_put(o, "iops",
		json_real((double)(s->ops[DIR_READ] + s->ops[DIR_WRITE]) / seconds));
	json_put(o, "bytes_per_second",
		json_real((double)(s->bytes[DIR_READ] + s->bytes[DIR_WRITE]) / seconds));
	put_others(o, s, seconds);
	json_put(o, "latency", json_string(open ? "response" : "service"));
	json_put(o, "lat_mean_ns", all.n > 0 ? json_real(hist_mean(&all)) : json_null());
	json_put(o, "lat_p99_ns",
		hist_percentile_known(&all, 0.99)
			? json_integer((json_int_t)hist_percentile(&all, 0.99))
			: json_null());
	json_put(o, "flags", flags_json(live_flags(v, s)));
	return o;
}

/* The newest sample goes to whoever watches its run. */
static void
show_live(struct link *k, const struct ingest_live *v)
{
	char topic[32];

	if (k->env.sse == NULL || v->payload == NULL)
		return;
	snprintf(topic, sizeof(topic), "run:r%" PRId64, v->run);
	if (!sse_wants(k->env.sse, topic) ||
		sample_decode(k->sample, v->payload, v->len, NULL) != 0)
		return;
	sse_sample(k->env.sse, "run.sample", topic, live_json(v, k->sample));
}

static int
run_job(struct tx *t, void *arg, struct err *e)
{
	struct job *j = arg;

	return ingest_batch(t, &j->batch, &j->answer, e);
}

static void
job_free(struct job *j)
{
	free(j->payload);
	free(j);
}

static void
answer_job(struct link *k, const struct job *j, const struct err *e)
{
	const struct ingest_answer *a = &j->answer;
	struct session *s = session_find(k->env.sessions, j->session, clock_mono());
	struct wire_ack ack = {.attempt = a->attempt, .seq = a->acked};

	if (e == NULL) {
		k->counts.records += a->stored;
		k->counts.duplicates += a->duplicates;
		show_live(k, &a->live);
	} else if (e->class == ERR_INVALID) {
		log_failure(LOG_LEVEL_WARN, "link.format", e);
	}
	if (s == NULL) /* replaced meanwhile: the agent asks again under the new one */
		return;
	if (e != NULL)
		send_nack(k, s, &j->route,
			e->class == ERR_INVALID ? WIRE_NACK_FORMAT : WIRE_NACK_BUSY,
			a->attempt);
	else if (a->nack != 0)
		send_nack(k, s, &j->route, a->nack, a->attempt);
	else
		send_ack(k, s, &j->route, &ack);
}

static void
job_done(void *arg, const struct err *e)
{
	struct job *j = arg;
	struct link *k = j->link;

	k->jobs--;
	if (k->rep != NULL) {
		answer_job(k, j, e);
		listen_more(k);
	} else if (k->jobs == 0) {
		free(k->sample);
		free(k);
	}
	job_free(j);
}

/* Queues the records of an authentic message; payload goes to the job. */
static void
start_job(struct link *k, struct session *s, const struct nn_route *route,
	struct ingest_batch batch, uint8_t **payload)
{
	struct job *j = xcalloc(1, sizeof(*j));
	struct err e = {0};

	j->link = k;
	j->route = *route;
	memcpy(j->session, s->keys.id, sizeof(j->session));
	j->payload = *payload;
	*payload = NULL;
	j->batch = batch;
	if (store_write(k->env.store, run_job, job_done, j, &e) == 0) {
		k->jobs++;
		return;
	}
	send_nack(k, s, route, WIRE_NACK_BUSY, 0);
	job_free(j);
}

/* An authentic message: text is its payload in the clear. */
static void
handle(struct link *k, struct session *s, const struct wire_header *h,
	const struct nn_route *route, uint8_t **text, size_t len)
{
	enum session_seq seq = session_accept(s, h->seq);
	struct ingest_batch batch = {
		.node = s->node,
		.payload = *text,
		.len = len,
		.repeat = seq == SESSION_REPEAT,
	};

	if (seq == SESSION_STALE) {
		refuse(k, "an old message came again");
		return;
	}
	if (seq == SESSION_REPEAT)
		k->counts.repeats++;
	if (h->major != WIRE_VERSION_MAJOR)
		send_nack(k, s, route, WIRE_NACK_VERSION, 0);
	else if (h->type == WIRE_PING)
		send_ack(k, s, route, NULL);
	else if (h->type == WIRE_RECORDS)
		start_job(k, s, route, batch, text);
	else
		send_nack(k, s, route, WIRE_NACK_FORMAT, 0);
}

static void
receive(struct link *k, const uint8_t *msg, size_t len, const struct nn_route *route)
{
	struct err e = {0};
	struct wire_header h;
	struct session *s;
	uint8_t *text;
	size_t text_len;

	k->counts.messages++;
	if (wire_header_decode(&h, msg, len, &e) != 0) {
		refuse(k, "no message of ours");
		return;
	}
	s = session_find(k->env.sessions, h.session, clock_mono());
	if (s == NULL || (uint64_t)s->node != h.node) {
		refuse(k, "no such session");
		return;
	}
	text = xcalloc(1, h.payload_bytes);
	if (wire_open(&s->keys, &h, msg, text, &text_len, &e) == 0)
		handle(k, s, &h, route, &text, text_len);
	else
		refuse(k, "not authentic");
	free(text);
}

static void
on_message(void *arg, uint32_t events)
{
	struct link *k = arg;
	struct nn_route route;
	struct err e = {0};
	uint8_t *msg;
	size_t len;
	int rc = 1;

	(void)events;
	for (int i = 0; i < BURST && rc == 1 && k->jobs < k->env.jobs_max; i++) {
		rc = nn_rep_recv(k->rep, &msg, &len, &route, &e);
		if (rc != 1)
			break;
		receive(k, msg, len, &route);
		nn_msg_free(msg);
	}
	if (rc < 0)
		log_failure(LOG_LEVEL_ERR, "link.receive", &e);
	listen_more(k);
}

int
link_open(struct link **ret_k, const struct link_env *env, struct err *e)
{
	struct link *k = xcalloc(1, sizeof(*k));

	k->env = *env;
	if (k->env.jobs_max == 0)
		k->env.jobs_max = LINK_JOBS;
	k->sample = xcalloc(1, sizeof(*k->sample));
	if (nn_rep_open(&k->rep, env->url, e) != 0 ||
		loop_add_fd(env->loop, nn_rep_fd(k->rep), EPOLLIN, on_message, k, e) !=
			0) {
		link_close(k);
		return -1;
	}
	k->listening = true;
	*ret_k = k;
	return 0;
}

void
link_close(struct link *k)
{
	if (k == NULL)
		return;
	if (k->listening)
		loop_del_fd(k->env.loop, nn_rep_fd(k->rep));
	k->listening = false;
	nn_rep_close(k->rep);
	k->rep = NULL;
	if (k->jobs > 0) /* the last one frees */
		return;
	free(k->sample);
	free(k);
}

const struct link_counts *
link_counts(const struct link *k)
{
	return &k->counts;
}
