#include "agent/stream.h"

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
#include "common/wire.h"
#include "common/xalloc.h"

/* Sending a few seconds of records again after a crash costs less than a sync a second.
 */
#define KEEP_NS (5 * NS_PER_S)
#define CALM_NS NS_PER_S

/* A place in the spool. The record that did not fit the last batch is read again. */
struct place {
	struct spool_reader *r; /* NULL: not in use */
	uint64_t next;		/* first record not yet under way */
	uint64_t sent;		/* first record of the batch under way */
};

struct stream {
	uint64_t attempt, fence;
	char *dir;
	bool ended;
	struct place back, live;
	struct place *under_way; /* NULL: no batch is */
	uint64_t live_from;	 /* where live began; of use while live.r is open */
	uint64_t newest;	 /* highest record read or told */
	uint64_t acked;
	uint64_t kept; /* acked as the spool has it */
	int64_t kept_mono;
	int64_t calm_mono; /* nothing is sent before */
	bool unsafe;	   /* what was read last could not be made durable; it was said */
};

uint64_t
stream_watermark(const char *dir)
{
	uint64_t acked = spool_acked(dir), last;
	struct err e = {0};

	if (acked == 0)
		return 0;
	if (spool_find_last(dir, &last, NULL, &e) != 0) {
		log_failure(LOG_LEVEL_WARN, "spool.acked", &e);
		return 0;
	}
	if (acked <= last)
		return acked;
	log_warn("spool.acked", "spool=%s acked=%" PRIu64 " last=%" PRIu64 " why=%s",
		log_q(dir), acked, last,
		log_q("the watermark is larger than the last record; all is sent again"));
	return 0;
}

int
stream_open(struct stream **ret_s, uint64_t attempt, uint64_t fence, const char *dir,
	struct err *e)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	s->attempt = attempt;
	s->fence = fence;
	s->dir = xstrdup(dir);
	s->acked = s->kept = stream_watermark(dir);
	s->newest = s->acked;
	s->back.next = s->acked + 1;
	if (spool_reader_open(&s->back.r, dir, s->back.next, e) != 0) {
		stream_close(s);
		return -1;
	}
	*ret_s = s;
	return 0;
}

void
stream_close(struct stream *s)
{
	if (s == NULL)
		return;
	spool_reader_close(s->back.r);
	spool_reader_close(s->live.r);
	free(s->dir);
	free(s);
}

void
stream_newest(struct stream *s, uint64_t seq)
{
	if (seq > s->newest)
		s->newest = seq;
}

bool
stream_is_live(const struct stream *s)
{
	return !s->ended;
}

uint64_t
stream_attempt(const struct stream *s)
{
	return s->attempt;
}

uint64_t
stream_last(const struct stream *s)
{
	return s->newest;
}

uint64_t
stream_acked_seq(const struct stream *s)
{
	return s->acked;
}

static int
move(struct place *p, uint64_t to, struct err *e)
{
	p->next = to;
	return spool_reader_seek(p->r, to, e);
}

static void
end_live(struct stream *s)
{
	spool_reader_close(s->live.r);
	memset(&s->live, 0, sizeof(s->live));
}

/* Starts live at the newest records when back is far behind them. */
static int
begin_live(struct stream *s, struct err *e)
{
	if (s->live.r != NULL || s->ended || s->newest < s->back.next + STREAM_BEHIND)
		return 0;
	s->live.next = s->live_from = s->newest;
	log_info("stream.behind",
		"attempt=%" PRIu64 " records=%" PRIu64 " live_from=%" PRIu64, s->attempt,
		s->newest - s->back.next, s->live_from);
	return spool_reader_open(&s->live.r, s->dir, s->live.next, e);
}

/* Adds a GAP record that stands for lost ones; its number is the first of them. */
static int
add_gap(struct wire_batch *b, uint64_t from, uint64_t to)
{
	json_t *o = json_object();
	struct spool_record rec = {.seq = from, .kind = RECORD_GAP};
	struct str text = {0};
	int rc;

	json_put(o, "from", json_u64(from));
	json_put(o, "to", json_u64(to));
	json_put(o, "reason", json_string("damaged on the disk of the node"));
	json_write(o, &text);
	rec.payload = (const uint8_t *)text.data;
	rec.len = text.len;
	rec.crc = record_crc(rec.kind, rec.seq, rec.payload, rec.len);
	rc = wire_batch_add(b, &rec);
	str_fini(&text);
	json_decref(o);
	return rc;
}

/* Goes on behind damage: 1 when a GAP went into b, 0 when b is full or nothing is behind
 * yet. */
static int
step_over(struct stream *s, struct place *p, struct wire_batch *b, struct err *e)
{
	uint64_t from, to;

	if (spool_reader_skip(p->r, &from, &to, e) != 0)
		return -1;
	if (to < from)
		return 0;
	log_warn("spool.damaged",
		"attempt=%" PRIu64 " from=%" PRIu64 " to=%" PRIu64 " spool=%s",
		s->attempt, from, to, log_q(s->dir));
	if (add_gap(b, from, to) != 0)
		return move(p, from, e);
	p->next = to + 1;
	return 1;
}

/* Puts a GAP for the records from p's next to the one before seq, which are in no
 * segment: 1, 0 when b is full. */
static int
bridge(struct stream *s, struct place *p, uint64_t seq, struct wire_batch *b,
	struct err *e)
{
	log_warn("spool.lost",
		"attempt=%" PRIu64 " from=%" PRIu64 " to=%" PRIu64 " spool=%s",
		s->attempt, p->next, seq - 1, log_q(s->dir));
	if (add_gap(b, p->next, seq - 1) != 0)
		return move(p, p->next, e);
	return move(p, seq, e) == 0 ? 1 : -1;
}

/*
 * What the controller acknowledges must still be here after a power cut: else the numbers
 * of lost records would be given again, and the RESULT never be taken. false: not now.
 */
static bool
make_safe(struct stream *s, struct place *p)
{
	struct err e = {0};

	if (spool_reader_sync(p->r, &e) == 0) {
		s->unsafe = false;
		return true;
	}
	if (!s->unsafe)
		log_failure(LOG_LEVEL_WARN, "stream.unsafe", &e);
	s->unsafe = true;
	s->calm_mono = clock_mono() + CALM_NS;
	return false;
}

/* Puts a record into b: 1, 0 when b is full. */
static int
take(struct stream *s, struct place *p, const struct spool_record *rec,
	struct wire_batch *b, struct err *e)
{
	if (wire_batch_add(b, rec) != 0)
		return move(p, rec->seq, e);
	p->next = rec->seq + 1;
	stream_newest(s, rec->seq);
	return 1;
}

/* Reads from p into b until it is full, the spool ends, or the record before end. */
static int
fill(struct stream *s, struct place *p, uint64_t end, struct wire_batch *b, struct err *e)
{
	struct spool_record rec;
	int rc = 1;

	p->sent = p->next;
	while (rc > 0 && p->next < end) {
		struct err bad = {0};

		rc = spool_reader_next(p->r, &rec, &bad);
		if (rc < 0 && bad.class == ERR_STORE) {
			rc = step_over(s, p, b, e);
		} else if (rc < 0) {
			*e = bad;
		} else if (rc > 0 && rec.seq > p->next) {
			rc = bridge(s, p, rec.seq < end ? rec.seq : end, b, e);
		} else if (rc > 0) {
			rc = take(s, p, &rec, b, e);
		}
	}
	if (rc < 0 && b->n == 0)
		return -1;
	err_clear(e);
	if (b->n == 0)
		return 0;
	if (!make_safe(s, p))
		return move(p, p->sent, e);
	s->under_way = p;
	return 1;
}

/* Back has come to where live began: from here on there is one place. */
static int
join_places(struct stream *s, struct err *e)
{
	uint64_t next = s->live.next;

	if (s->live.r == NULL || s->back.next < s->live_from)
		return 0;
	end_live(s);
	return next > s->back.next ? move(&s->back, next, e) : 0;
}

int
stream_next(struct stream *s, enum stream_part part, struct wire_batch *b, struct err *e)
{
	bool split;

	assert(s->under_way == NULL);
	wire_batch_start(b, s->attempt, s->fence);
	if (clock_mono() < s->calm_mono)
		return 0;
	if (begin_live(s, e) != 0 || join_places(s, e) != 0)
		return -1;
	split = s->live.r != NULL;
	if (part == STREAM_LIVE && split)
		return fill(s, &s->live, UINT64_MAX, b, e);
	if (split)
		return fill(s, &s->back, s->live_from, b, e);
	/* One place: it is live as long as the runner is there. */
	if ((part == STREAM_LIVE) == s->ended)
		return 0;
	return fill(s, &s->back, UINT64_MAX, b, e);
}

static int
keep(struct stream *s, struct err *e)
{
	int64_t now = clock_mono();
	bool complete = s->ended && s->acked >= s->newest;

	if (s->kept == s->acked || (!complete && now - s->kept_mono < KEEP_NS))
		return 0;
	s->kept_mono = now;
	if (spool_set_acked(s->dir, s->acked, e) != 0)
		return -1;
	s->kept = s->acked;
	return 0;
}

void
stream_ended(struct stream *s)
{
	struct err e = {0};

	if (s->ended)
		return;
	s->ended = true;
	if (keep(s, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "spool.acked", &e);
}

/* The controller does not have what it had, or not what we sent: from there again. */
static int
rewind_to(struct stream *s, uint64_t acked, struct err *e)
{
	log_warn("stream.rewind",
		"attempt=%" PRIu64 " sent=%" PRIu64 " acked=%" PRIu64 " why=%s",
		s->attempt, s->back.next - 1, acked,
		log_q("the controller lacks records that were sent; they are sent "
		      "again"));
	s->acked = acked;
	s->calm_mono = clock_mono() + CALM_NS;
	end_live(s);
	return move(&s->back, acked + 1, e);
}

int
stream_acked(struct stream *s, uint64_t acked, struct err *e)
{
	bool split = s->live.r != NULL;

	s->under_way = NULL;
	if (acked < s->acked || (!split && acked + 1 < s->back.next))
		return rewind_to(s, acked, e);
	s->acked = acked;
	stream_newest(s, acked);
	if (acked + 1 > s->back.next && move(&s->back, acked + 1, e) != 0)
		return -1;
	return keep(s, e);
}

void
stream_failed(struct stream *s)
{
	struct place *p = s->under_way;
	struct err e = {0};

	s->under_way = NULL;
	if (p != NULL && move(p, p->sent, &e) != 0)
		log_failure(LOG_LEVEL_WARN, "spool.seek", &e);
}
