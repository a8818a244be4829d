#include "runner/outbox.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/spool.h"
#include "common/str.h"
#include "common/xalloc.h"

#define FULL_REASON "the spool was full and old samples had to be given up"

/* A record that waits. JSON records are written out at the last moment, because gaps and
 * the result tell sequence numbers. */
struct item {
	struct item *next;
	enum record_kind kind;
	json_t *doc;	/* owned; NULL for samples and points */
	uint8_t *bytes; /* owned; samples and points */
	size_t len;
	/* Samples, and gaps that stand for them: */
	uint32_t point;
	uint32_t flags;		  /* SAMPLE_WARMUP: never merged with measured ones */
	uint32_t first_s, last_s; /* seconds of the point */
	uint32_t samples;	  /* how many it stands for */
};

struct outbox {
	struct spool *spool;
	struct item *head, *tail;
	size_t waiting;	      /* items */
	size_t samples;	      /* items that are samples */
	size_t bytes;	      /* of them */
	uint64_t samples_out; /* SAMPLE records in the spool */
	bool stuck;	      /* the last write failed: wait for the next second */
	bool warned;	      /* and that was said */
	bool dirty;	      /* there are records that are not durable yet */
	int64_t due_ns;	      /* CLOCK_MONOTONIC of the next second */
	struct sample a, b;   /* for merging */
	uint8_t buf[RECORD_MAX_BYTES];
};

int
outbox_open(struct outbox **ret_o, const char *dir, struct err *e)
{
	struct outbox *o = xcalloc(1, sizeof(*o));
	uint64_t cut = 0;

	if (spool_open(&o->spool, dir, &cut, e) != 0) {
		free(o);
		return -1;
	}
	if (cut > 0)
		log_warn("outbox.cut", "bytes=%" PRIu64, cut);
	o->due_ns = clock_mono() + NS_PER_S;
	*ret_o = o;
	return 0;
}

void
outbox_count_samples(struct outbox *o, uint64_t n)
{
	o->samples_out += n;
}

static void
item_free(struct item *it)
{
	json_decref(it->doc);
	free(it->bytes);
	free(it);
}

/* Takes the item behind prev (NULL: the first) out of the list. */
static struct item *
unlink_item(struct outbox *o, struct item *prev)
{
	struct item *it = prev != NULL ? prev->next : o->head;

	if (prev != NULL)
		prev->next = it->next;
	else
		o->head = it->next;
	if (o->tail == it)
		o->tail = prev;
	o->waiting--;
	if (it->kind == RECORD_SAMPLE) {
		o->samples--;
		o->bytes -= it->len;
	}
	return it;
}

void
outbox_close(struct outbox *o)
{
	if (o == NULL)
		return;
	while (o->head != NULL)
		item_free(unlink_item(o, NULL));
	spool_close(o->spool);
	free(o);
}

uint64_t
outbox_last(const struct outbox *o)
{
	return spool_last(o->spool);
}

size_t
outbox_waiting(const struct outbox *o)
{
	return o->waiting;
}

bool
outbox_is_settled(const struct outbox *o)
{
	return o->waiting == 0 && !o->dirty;
}

static void
note_failure(struct outbox *o, const struct err *e)
{
	if (!o->warned)
		log_warn(
			"outbox.stuck", "waiting=%zu why=%s", o->waiting, log_q(e->text));
	o->warned = true;
	o->stuck = true;
}

static int
sync_spool(struct outbox *o)
{
	struct err e = {0};

	if (!o->dirty)
		return 0;
	if (spool_sync(o->spool, &e) != 0) {
		note_failure(o, &e);
		return -1;
	}
	o->dirty = false;
	return 0;
}

/* Sets the members that tell sequence numbers. */
static void
stamp(struct outbox *o, struct item *it)
{
	uint64_t seq = spool_last(o->spool) + 1;

	if (it->kind == RECORD_GAP) {
		json_put(it->doc, "from", json_u64(seq));
		json_put(it->doc, "to", json_u64(seq));
		json_put(it->doc, "point", json_integer(it->point));
		json_put(it->doc, "from_second", json_integer(it->first_s));
		json_put(it->doc, "to_second", json_integer(it->last_s));
		json_put(it->doc, "samples", json_integer(it->samples));
	} else if (it->kind == RECORD_RESULT) {
		json_put(it->doc, "samples", json_u64(o->samples_out));
		json_put(it->doc, "last_seq", json_u64(seq));
	}
}

static int
write_item(struct outbox *o, struct item *it, struct err *e)
{
	struct str text = {0};
	uint64_t seq;
	int rc;

	if (it->doc == NULL)
		return spool_append(o->spool, it->kind, it->bytes, it->len, &seq, e);
	stamp(o, it);
	json_write(it->doc, &text);
	rc = spool_append(o->spool, it->kind, str_text(&text), text.len, &seq, e);
	str_fini(&text);
	return rc;
}

/* Writes what waits, up to the first record that does not fit. */
static void
flush(struct outbox *o)
{
	struct err e = {0};

	while (o->head != NULL) {
		/* What the result tells of must be durable before the result is. */
		if (o->head->kind == RECORD_RESULT && sync_spool(o) != 0)
			return;
		if (write_item(o, o->head, &e) != 0) {
			note_failure(o, &e);
			return;
		}
		o->dirty = true;
		o->samples_out += o->head->kind == RECORD_SAMPLE;
		item_free(unlink_item(o, NULL));
	}
	o->stuck = false;
}

/* Says whether b goes on where a ends, and both together are at most OUTBOX_MERGE_S. */
static bool
may_merge(const struct item *a, const struct item *b)
{
	return b != NULL && a->kind == RECORD_SAMPLE && b->kind == RECORD_SAMPLE &&
	       a->point == b->point && a->flags == b->flags &&
	       b->last_s - a->first_s < OUTBOX_MERGE_S;
}

/* Adds the sample behind it to it. */
static void
merge_next(struct outbox *o, struct item *it)
{
	struct item *next = unlink_item(o, it);

	if (sample_decode(&o->a, it->bytes, it->len, NULL) != 0 ||
		sample_decode(&o->b, next->bytes, next->len, NULL) != 0)
		abort(); /* our own bytes */
	sample_merge(&o->a, &o->b);
	o->bytes -= it->len;
	it->len = sample_encode(&o->a, o->buf, sizeof(o->buf));
	it->bytes = xrealloc(it->bytes, it->len, 1);
	memcpy(it->bytes, o->buf, it->len);
	o->bytes += it->len;
	it->last_s = next->last_s;
	it->samples += next->samples;
	item_free(next);
}

/* Merges the oldest samples that can be; false when there are none. */
static bool
merge_oldest(struct outbox *o)
{
	for (struct item *it = o->head; it != NULL; it = it->next) {
		if (!may_merge(it, it->next))
			continue;
		while (may_merge(it, it->next))
			merge_next(o, it);
		return true;
	}
	return false;
}

/* Makes a gap of a sample, or lets the gap before it (or NULL) stand for it, too. */
static void
give_up(struct outbox *o, struct item *gap, struct item *it, const char *reason)
{
	o->samples--;
	o->bytes -= it->len;
	free(it->bytes);
	it->bytes = NULL;
	it->len = 0;
	it->kind = RECORD_GAP;
	if (gap != NULL && gap->kind == RECORD_GAP && gap->point == it->point) {
		gap->last_s = it->last_s;
		gap->samples += it->samples;
		item_free(unlink_item(o, gap));
		return;
	}
	it->doc = json_object();
	json_put(it->doc, "reason", json_string(reason));
}

/* Gives up the oldest sample; false when there is none. */
static bool
give_up_oldest(struct outbox *o, const char *reason)
{
	struct item *prev = NULL;
	struct item *it = o->head;

	while (it != NULL && it->kind != RECORD_SAMPLE) {
		prev = it;
		it = it->next;
	}
	if (it == NULL)
		return false;
	give_up(o, prev, it, reason);
	return true;
}

void
outbox_give_up_samples(struct outbox *o, const char *reason)
{
	while (give_up_oldest(o, reason))
		;
	flush(o);
}

static void
keep_bounded(struct outbox *o)
{
	while (o->samples > OUTBOX_SAMPLES_MAX || o->bytes > OUTBOX_BYTES_MAX)
		if (!merge_oldest(o) && !give_up_oldest(o, FULL_REASON))
			break;
}

/* Puts a record behind those that wait, and writes it now unless the spool was full. */
static void
add(struct outbox *o, struct item *it)
{
	assert(o->tail == NULL || o->tail->kind != RECORD_RESULT);
	if (o->tail != NULL)
		o->tail->next = it;
	else
		o->head = it;
	o->tail = it;
	o->waiting++;
	if (it->kind == RECORD_SAMPLE) {
		o->samples++;
		o->bytes += it->len;
	}
	if (!o->stuck)
		flush(o);
	keep_bounded(o);
}

/* An item with a copy of what stands in o->buf. */
static struct item *
item_of_bytes(const struct outbox *o, enum record_kind kind, size_t len)
{
	struct item *it = xcalloc(1, sizeof(*it));

	it->kind = kind;
	it->len = len;
	it->bytes = xcalloc(len, 1);
	memcpy(it->bytes, o->buf, len);
	return it;
}

static void
add_doc(struct outbox *o, enum record_kind kind, json_t *doc)
{
	struct item *it = xcalloc(1, sizeof(*it));

	it->kind = kind;
	it->doc = doc;
	add(o, it);
}

void
outbox_event(struct outbox *o, const char *name, json_t *doc)
{
	json_put(doc, "event", json_string(name));
	json_put(doc, "at_ns", json_u64((uint64_t)clock_wall()));
	add_doc(o, RECORD_EVENT, doc);
}

void
outbox_sample(struct outbox *o, const struct sample *s)
{
	struct item *it = item_of_bytes(
		o, RECORD_SAMPLE, sample_encode(s, o->buf, sizeof(o->buf)));

	it->point = s->point;
	it->flags = s->flags & SAMPLE_WARMUP;
	it->first_s = it->last_s = s->second;
	it->samples = 1;
	add(o, it);
}

void
outbox_point(struct outbox *o, const struct point_record *p)
{
	size_t len = point_encode(p, o->buf, sizeof(o->buf));

	assert(len > 0); /* its JSON is ours and small */
	add(o, item_of_bytes(o, RECORD_POINT, len));
}

void
outbox_result(struct outbox *o, json_t *doc)
{
	add_doc(o, RECORD_RESULT, doc);
}

void
outbox_sync(struct outbox *o)
{
	flush(o);
	if (sync_spool(o) != 0 || o->waiting > 0 || !o->warned)
		return;
	log_info("outbox.free", "last_seq=%" PRIu64, spool_last(o->spool));
	o->warned = false;
}

void
outbox_tick(struct outbox *o)
{
	int64_t now = clock_mono();

	if (now < o->due_ns)
		return;
	o->due_ns = now + NS_PER_S;
	outbox_sync(o);
}
