#include "controller/sse.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/store.h"

#define HEARTBEAT_NS (10 * NS_PER_S)
#define ROWS_MAX 256 /* events per job */
#define LOW_WATER                                                            \
	(SSE_BUFFER_MAX / 4) /* a client with more waiting is read for later \
			      */

struct sse_client {
	struct sse *sse;
	char *topics; /* ",run:r2,node," or "" for all */
	int64_t last; /* id of the last event seen, wanted or not */
	struct str buffer;
	size_t sent;  /* bytes of the buffer that were read */
	bool pulling; /* the job under way reads for this client */
	bool ended;
	bool waits; /* sse_read returned 0: wake when there is more */
	sse_wake_fn *wake;
	void *arg;
	struct sse_client *next, **prev;
};

struct row {
	int64_t id;
	char *name, *topic, *data;
};

/* A job: the events after from. */
struct pull {
	struct sse *sse;
	int64_t from;
	struct row rows[ROWS_MAX];
	size_t n;
};

struct sse {
	struct store *store;
	struct loop *loop;
	struct loop_timer *heartbeat;
	struct sse_client *clients;
	size_t n_clients;
	bool pulling; /* a job is under way */
	bool again;   /* and there is more to read after it */
	bool stopping;
};

/* The handler: where the stream starts, and whether what was asked makes sense. */
int
api_events(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"topics", NULL};
	const char *topics = c->query(c, "topics");
	int64_t newest = 0;
	uint64_t last;
	size_t n = 1;

	if (api_only_query(c, names, e) != 0)
		return -1;
	for (const char *p = topics; p != NULL && (p = strchr(p, ',')) != NULL; p++)
		n++;
	if (n > SSE_TOPICS_MAX)
		return err_set(e, ERR_INVALID,
			"query parameter topics: more than %d topics", SSE_TOPICS_MAX);
	if (tx_int(t, &newest, e, "SELECT max(id) FROM event", "") < 0)
		return -1;
	c->stream_from = newest;
	if (c->last_event_id[0] != '\0') {
		if (parse_uint(c->last_event_id, 0, INT64_MAX, &last, e) != 0)
			return err_ctx(e, "Last-Event-ID");
		if ((int64_t)last < newest)
			c->stream_from = (int64_t)last;
	}
	c->stream = true;
	c->type = "text/event-stream";
	return 0;
}

static void
wake(struct sse_client *c)
{
	if (!c->waits)
		return;
	c->waits = false;
	c->wake(c->arg);
}

static void
end_client(struct sse_client *c)
{
	c->ended = true;
	c->last = INT64_MAX;
	wake(c);
}

static size_t
waiting_bytes(const struct sse_client *c)
{
	return c->buffer.len - c->sent;
}

static void
send_event(struct sse_client *c, int64_t id, const char *name, const char *data)
{
	if (c->ended)
		return;
	if (waiting_bytes(c) > SSE_BUFFER_MAX) {
		log_warn("sse.slow", "bytes=%zu", waiting_bytes(c));
		end_client(c);
		return;
	}
	if (id != 0)
		str_printf(&c->buffer, "id: %" PRId64 "\n", id);
	str_printf(&c->buffer, "event: %s\ndata: %s\n\n", name, data);
	wake(c);
}

static void
beat(void *arg)
{
	struct sse *s = arg;

	for (struct sse_client *c = s->clients; c != NULL; c = c->next)
		send_event(c, 0, "heartbeat", "{}");
	/* In case a job was refused while the store was busy. */
	sse_notify(s);
}

struct sse *
sse_new(struct store *s, struct loop *l)
{
	struct sse *x = xcalloc(1, sizeof(*x));

	x->store = s;
	x->loop = l;
	x->heartbeat = loop_timer_start(l, HEARTBEAT_NS, HEARTBEAT_NS, beat, x);
	return x;
}

void
sse_free(struct sse *s)
{
	if (s == NULL)
		return;
	assert(s->clients == NULL && !s->pulling);
	loop_timer_stop(s->loop, s->heartbeat);
	free(s);
}

static bool
lists(const char *topics, const char *topic, size_t len)
{
	for (const char *p = topics; (p = strchr(p, ',')) != NULL; p++)
		if (strncmp(p + 1, topic, len) == 0 && p[1 + len] == ',')
			return true;
	return false;
}

static bool
wants(const struct sse_client *c, const char *topic)
{
	if (c->topics[0] == '\0')
		return true;
	return lists(c->topics, topic, strlen(topic)) ||
	       lists(c->topics, topic, strcspn(topic, ":"));
}

static int
read_events(struct tx *t, void *arg, struct err *e)
{
	struct pull *p = arg;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT id, name, topic, data FROM event WHERE id > ? ORDER BY id "
		    "LIMIT ?",
		    "ii", p->from, (int64_t)ROWS_MAX) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		struct row *r = &p->rows[p->n++];

		r->id = cur_int(c, 0);
		r->name = xstrdup(cur_text(c, 1));
		r->topic = xstrdup(cur_text(c, 2));
		r->data = xstrdup(cur_text(c, 3));
	}
	cur_close(c);
	return rc;
}

static void
hand_out(struct sse_client *c, const struct pull *p)
{
	c->pulling = false;
	for (size_t i = 0; i < p->n && !c->ended; i++) {
		const struct row *r = &p->rows[i];

		if (r->id <= c->last)
			continue;
		c->last = r->id;
		if (wants(c, r->topic))
			send_event(c, r->id, r->name, r->data);
	}
}

static void
events_read(void *arg, const struct err *e)
{
	struct pull *p = arg;
	struct sse *s = p->sse;
	struct sse_client *next;

	s->pulling = false;
	if (e != NULL)
		log_failure(LOG_LEVEL_WARN, "sse.read", e);
	for (struct sse_client *c = s->clients; c != NULL; c = next) {
		next = c->next;
		if (c->pulling)
			hand_out(c, p);
	}
	if (p->n == ROWS_MAX)
		s->again = true;
	for (size_t i = 0; i < p->n; i++) {
		free(p->rows[i].name);
		free(p->rows[i].topic);
		free(p->rows[i].data);
	}
	free(p);
	if (s->again)
		sse_notify(s);
}

/* One job reads for all that can take more, from where the last of them is. */
void
sse_notify(struct sse *s)
{
	struct pull *p;
	int64_t from = INT64_MAX;
	struct err e = {0};

	s->again = s->pulling;
	if (s->pulling || s->stopping)
		return;
	for (struct sse_client *c = s->clients; c != NULL; c = c->next) {
		c->pulling = !c->ended && waiting_bytes(c) < LOW_WATER;
		if (c->pulling && c->last < from)
			from = c->last;
	}
	if (from == INT64_MAX)
		return;
	p = xcalloc(1, sizeof(*p));
	p->sse = s;
	p->from = from;
	s->pulling = true;
	if (store_read(s->store, read_events, events_read, p, &e) == 0)
		return;
	/* The next heartbeat tries again. */
	s->pulling = false;
	log_failure(LOG_LEVEL_WARN, "sse.read", &e);
	free(p);
}

struct sse_client *
sse_join(struct sse *s, const char *topics, int64_t from, sse_wake_fn *fn, void *arg)
{
	struct sse_client *c;

	if (s->n_clients >= SSE_CLIENTS_MAX || s->stopping)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->sse = s;
	c->topics = topics != NULL && topics[0] != '\0' ? xasprintf(",%s,", topics)
							: xstrdup("");
	c->last = from;
	c->wake = fn;
	c->arg = arg;
	c->next = s->clients;
	c->prev = &s->clients;
	if (c->next != NULL)
		c->next->prev = &c->next;
	s->clients = c;
	s->n_clients++;
	/* Something at once, so that the answer's head reaches the client. */
	str_puts(&c->buffer, "retry: 2000\n\n");
	sse_notify(s);
	return c;
}

void
sse_leave(struct sse_client *c)
{
	if (c == NULL)
		return;
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	c->sse->n_clients--;
	str_fini(&c->buffer);
	free(c->topics);
	free(c);
}

size_t
sse_read(struct sse_client *c, char *buf, size_t max)
{
	size_t n = waiting_bytes(c);
	bool was_full = n >= LOW_WATER;

	if (n > max)
		n = max;
	if (n > 0)
		memcpy(buf, c->buffer.data + c->sent, n);
	c->sent += n;
	if (c->sent == c->buffer.len) {
		str_fini(&c->buffer);
		c->sent = 0;
	} else if (c->sent > c->buffer.len / 2) {
		c->buffer.len -= c->sent;
		memmove(c->buffer.data, c->buffer.data + c->sent, c->buffer.len + 1);
		c->sent = 0;
	}
	c->waits = n == 0;
	if (was_full && waiting_bytes(c) < LOW_WATER)
		sse_notify(c->sse);
	return n;
}

bool
sse_ended(const struct sse_client *c)
{
	return c->ended;
}

bool
sse_wants(const struct sse *s, const char *topic)
{
	for (const struct sse_client *c = s->clients; c != NULL; c = c->next)
		if (!c->ended && wants(c, topic))
			return true;
	return false;
}

void
sse_sample(struct sse *s, const char *name, const char *topic, json_t *data)
{
	struct str text = {0};

	assert(json_is_object(data));
	json_write(data, &text);
	for (struct sse_client *c = s->clients; c != NULL; c = c->next)
		if (wants(c, topic))
			send_event(c, 0, name, str_text(&text));
	str_fini(&text);
	json_decref(data);
}

void
sse_stop(struct sse *s)
{
	s->stopping = true;
	for (struct sse_client *c = s->clients; c != NULL; c = c->next)
		end_client(c);
}
