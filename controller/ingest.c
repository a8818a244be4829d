#include "controller/ingest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "controller/cells.h"
#include "controller/fact.h"
#include "controller/run.h"
#include "controller/series.h"
#include "controller/store.h"

/* Sequence numbers must fit SQLite's integers with room to count on. */
#define SEQ_MAX (UINT64_C(1) << 62)

/* The row of an attempt, as far as ingest needs it. */
struct attempt {
	struct origin origin;
	int64_t node, fence;
	bool exited;
	uint64_t acked, last;
	uint64_t result_seq; /* 0: no result yet */
	uint64_t late;	     /* lowest seq of now that a gap had stood for; 0: none */
};

static int
load(struct tx *t, uint64_t id, struct attempt *ret_a, struct err *e)
{
	struct cur *c;
	int rc;

	if (id == 0 || id > SEQ_MAX)
		return 0;
	if (tx_query(t, &c, e,
		    "SELECT a.run_id, r.campaign_id, a.node_id, a.fence, a.state,"
		    " a.acked_seq, a.last_seq, a.result_seq"
		    " FROM attempt a JOIN run r ON r.id = a.run_id WHERE a.id = ?",
		    "i", (int64_t)id) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1)
		*ret_a = (struct attempt){
			.origin = {(int64_t)id, cur_int(c, 0), cur_int(c, 1)},
			.node = cur_int(c, 2),
			.fence = cur_int(c, 3),
			.exited = strcmp(cur_text(c, 4), "exited") == 0,
			.acked = (uint64_t)cur_int(c, 5),
			.last = (uint64_t)cur_int(c, 6),
			.result_seq = (uint64_t)cur_int(c, 7),
		};
	cur_close(c);
	return rc;
}

/* Keeps a record aside; *ret_new when it was not there yet. */
static int
set_aside(struct tx *t, const struct wire_batch *head, const struct spool_record *rec,
	const char *why, bool *ret_new, struct err *e)
{
	/* A token from outside may be any 64 bits; they are kept as they are. */
	if (tx_exec(t, e,
		    "INSERT INTO stale_record(attempt_id, why, fence, seq, kind, crc,"
		    " payload, received_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
		    " ON CONFLICT DO NOTHING",
		    "isiiiibi", (int64_t)head->attempt, why, (int64_t)head->fence,
		    (int64_t)rec->seq, (int64_t)rec->kind, (int64_t)rec->crc,
		    rec->payload, rec->len, tx_wall(t)) != 0)
		return -1;
	*ret_new = tx_changes(t) > 0;
	return 0;
}

/*
 * Whether a seq is taken: 0 when not, -1 on error, else 1 and *ret_same when the stored
 * record is this one.
 */
static int
find_stored(struct tx *t, int64_t attempt, const struct spool_record *rec, bool *ret_same,
	struct err *e)
{
	struct series_entry packed = {0};
	struct cur *c;
	size_t len;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT crc, kind, payload FROM record"
		    " WHERE attempt_id = ? AND seq = ?",
		    "ii", attempt, (int64_t)rec->seq) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		cur_bytes(c, 2, &len);
		*ret_same = cur_int(c, 0) == (int64_t)rec->crc &&
			    cur_int(c, 1) == (int64_t)rec->kind && len == rec->len;
	}
	cur_close(c);
	if (rc != 0)
		return rc;
	rc = series_find(t, attempt, rec->seq, &packed, e);
	if (rc == 1)
		*ret_same = packed.crc == rec->crc && packed.len == rec->len &&
			    rec->kind == RECORD_SAMPLE;
	return rc;
}

/* Another content under a seq that is stored already. */
static int
conflict(struct tx *t, const struct attempt *a, const struct wire_batch *head,
	const struct spool_record *rec, struct ingest_answer *ans, struct err *e)
{
	char text[160];
	bool is_new;

	ans->refused++;
	if (set_aside(t, head, rec, "content", &is_new, e) != 0)
		return -1;
	if (!is_new)
		return 0;
	snprintf(text, sizeof(text),
		"record %" PRIu64 " came again with other content; the first one is kept",
		rec->seq);
	return fact_alarm(t, &a->origin, "conflict", rec->seq, text, e);
}

/* Stores a record under a seq that may be taken; *ret_new says whether it was free. */
static int
insert(struct tx *t, struct attempt *a, const struct spool_record *rec, bool *ret_new,
	struct err *e)
{
	struct fact f;
	int rc;

	fact_read(&f, rec);
	rc = tx_exec(t, e,
		"INSERT INTO record(attempt_id, seq, kind, point, crc, payload)"
		" VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		"iiiiib", a->origin.attempt, (int64_t)rec->seq, (int64_t)rec->kind,
		(int64_t)f.point, (int64_t)rec->crc, rec->payload, rec->len);
	*ret_new = rc == 0 && tx_changes(t) > 0;
	if (*ret_new)
		rc = fact_apply(t, &a->origin, &f, e);
	if (*ret_new && f.understood && f.kind == RECORD_RESULT && a->result_seq == 0)
		a->result_seq = rec->seq;
	fact_fini(&f);
	return rc;
}

static int
take(struct tx *t, struct attempt *a, const struct wire_batch *head,
	const struct spool_record *rec, struct ingest_answer *ans, struct err *e)
{
	bool is_new = false;
	bool same = false;
	int rc = 0;

	/* What is acknowledged is stored, but for what a gap stands for. */
	if (rec->seq <= a->acked)
		rc = find_stored(t, a->origin.attempt, rec, &same, e);
	if (rc == 0 && insert(t, a, rec, &is_new, e) != 0)
		return -1;
	if (rc == 0 && !is_new)
		rc = find_stored(t, a->origin.attempt, rec, &same, e);
	if (rc < 0)
		return -1;
	if (!is_new && !same)
		return conflict(t, a, head, rec, ans, e);
	if (!is_new) {
		ans->duplicates++;
		return 0;
	}
	ans->stored++;
	if (rec->seq <= a->acked && (a->late == 0 || rec->seq < a->late))
		a->late = rec->seq;
	if (rec->seq == a->acked + 1)
		a->acked++;
	if (rec->seq > a->last)
		a->last = rec->seq;
	return 0;
}

/* Moves a->acked over the rows that follow it without a hole. */
static int
follow_rows(struct tx *t, struct attempt *a, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT seq FROM record WHERE attempt_id = ? AND seq > ?"
		    " ORDER BY seq",
		    "ii", a->origin.attempt, (int64_t)a->acked) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1 && (uint64_t)cur_int(c, 0) == a->acked + 1)
		a->acked++;
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

/*
 * Moves a->acked to the end of a gap that covers the hole behind it: 1, or 0 for none. A
 * gap counts also when it was set aside because the first record that it stands for had
 * been stored: the others are lost all the same.
 */
static int
follow_gap(struct tx *t, struct attempt *a, struct err *e)
{
	uint64_t acked = a->acked;
	struct cur *c;
	int rc;

	if (a->acked >= a->last) /* no hole */
		return 0;
	/* "kind <> 2" lets SQLite use the index over the rare kinds. */
	if (tx_query(t, &c, e,
		    "SELECT payload, seq FROM record"
		    " WHERE attempt_id = ?1 AND kind = 5 AND kind <> 2 UNION ALL"
		    " SELECT payload, seq FROM stale_record"
		    " WHERE attempt_id = ?1 AND fence = ?2 AND kind = 5",
		    "ii", a->origin.attempt, a->fence) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		size_t len;
		const char *text = cur_bytes(c, 0, &len);
		uint64_t from;
		uint64_t to;
		json_t *doc;

		if (json_parse(text, len, &doc, NULL) != 0)
			continue;
		if (fact_gap(doc, (uint64_t)cur_int(c, 1), &from, &to) &&
			from <= a->acked + 1 && to > acked)
			acked = to;
		json_decref(doc);
	}
	cur_close(c);
	if (rc < 0)
		return -1;
	rc = acked > a->acked;
	a->acked = acked;
	return rc;
}

static int
advance(struct tx *t, struct attempt *a, struct err *e)
{
	int rc;

	do {
		if (follow_rows(t, a, e) != 0)
			return -1;
		rc = follow_gap(t, a, e);
	} while (rc == 1);
	return rc;
}

/* Packs the samples of all points that ended in (from, a->acked]. */
static int
compact(struct tx *t, const struct attempt *a, uint64_t from, struct err *e)
{
	int64_t seq = (int64_t)from;
	int64_t point;
	struct cur *c;
	int rc;

	for (;;) {
		if (tx_query(t, &c, e,
			    "SELECT seq, point FROM record WHERE attempt_id = ? AND"
			    " kind = 3 AND kind <> 2 AND seq > ? AND seq <= ?"
			    " AND point > 0 ORDER BY seq LIMIT 1",
			    "iii", a->origin.attempt, seq, (int64_t)a->acked) != 0)
			return -1;
		rc = cur_next(c, e);
		if (rc == 1) {
			seq = cur_int(c, 0);
			point = cur_int(c, 1);
		}
		cur_close(c);
		if (rc != 1)
			return rc;
		if (series_compact(t, a->origin.attempt, point, (uint64_t)seq, e) != 0)
			return -1;
	}
}

/* The last record is in: no point is running any more, no sample is waiting. */
static int
conclude(struct tx *t, const struct attempt *a, struct err *e)
{
	bool waited = false;
	int64_t point;
	int rc;

	if (tx_exec(t, e,
		    "UPDATE point SET state = 'stopped'"
		    " WHERE attempt_id = ? AND state = 'running'",
		    "i", a->origin.attempt) != 0)
		return -1;
	while ((rc = tx_int(t, &point, e,
			"SELECT point FROM record WHERE attempt_id = ? AND kind = 2"
			" LIMIT 1",
			"i", a->origin.attempt)) == 1) {
		if (series_compact(t, a->origin.attempt, point, SEQ_MAX + 1, e) != 0)
			return -1;
		waited = true;
	}
	/* Samples that came late are part of what cells are judged by. */
	if (rc == 0 && waited)
		rc = cells_settle(t, a->origin.attempt, 0, a->acked, e);
	if (rc == 0 && a->exited)
		rc = run_collected(t, a->origin.attempt, e);
	return rc;
}

static bool
is_complete(const struct attempt *a)
{
	return a->result_seq != 0 && a->acked >= a->result_seq;
}

/* What is known of tests changes with the records that complete them, and with those that
 * come although a gap stood for them. */
static int
settle(struct tx *t, const struct attempt *was, const struct attempt *a, struct err *e)
{
	uint64_t from = was->acked;

	if (a->late > 0 && a->late <= from)
		from = a->late - 1;
	return from < a->acked ? cells_settle(t, a->origin.attempt, from, a->acked, e)
			       : 0;
}

static int
save(struct tx *t, const struct attempt *was, const struct attempt *a, struct err *e)
{
	if (a->acked != was->acked || a->last != was->last) {
		if (tx_exec(t, e,
			    "UPDATE attempt SET acked_seq = ?, last_seq = ?"
			    " WHERE id = ?",
			    "iii", (int64_t)a->acked, (int64_t)a->last,
			    a->origin.attempt) != 0)
			return -1;
		if (compact(t, a, was->acked, e) != 0)
			return -1;
	}
	if (settle(t, was, a, e) != 0)
		return -1;
	return is_complete(a) && !is_complete(was) ? conclude(t, a, e) : 0;
}

/* All records of a batch whose token is not the attempt's. */
static int
set_all_aside(struct tx *t, const struct wire_batch *head, struct wire_cursor *c,
	struct ingest_answer *ans, struct err *e)
{
	struct spool_record rec;
	bool is_new;
	int rc;

	while ((rc = wire_cursor_next(c, &rec, e)) == 1) {
		if (set_aside(t, head, &rec, "fence", &is_new, e) != 0)
			return -1;
		ans->refused++;
	}
	return rc;
}

static int
take_all(struct tx *t, struct attempt *a, const struct wire_batch *head,
	struct wire_cursor *c, struct ingest_answer *ans, struct err *e)
{
	const struct attempt was = *a;
	struct spool_record rec;
	int rc;

	while ((rc = wire_cursor_next(c, &rec, e)) == 1) {
		if (rec.seq == 0 || rec.seq > SEQ_MAX)
			return err_set(e, ERR_INVALID,
				"a record has the sequence number %" PRIu64, rec.seq);
		if (take(t, a, head, &rec, ans, e) != 0)
			return -1;
		if (rec.kind == RECORD_SAMPLE && rec.seq > ans->live.seq) {
			ans->live.seq = rec.seq;
			ans->live.payload = rec.payload;
			ans->live.len = rec.len;
		}
	}
	if (rc != 0 || (ans->stored + ans->refused > 0 && advance(t, a, e) != 0))
		return -1;
	return save(t, &was, a, e);
}

/* Names the point of the newest sample, when it is known. */
static int
describe_live(struct tx *t, const struct attempt *a, struct ingest_live *v, struct err *e)
{
	struct cur *c;
	int rc;

	v->run = a->origin.run;
	v->load_percent = v->offered_iops = (double)NAN;
	if (tx_query(t, &c, e,
		    "SELECT workload, load_percent, offered_iops FROM point"
		    " WHERE attempt_id = ? AND point = ?",
		    "ii", a->origin.attempt,
		    (int64_t)sample_point(v->payload, v->len)) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		snprintf(v->workload, sizeof(v->workload), "%s", cur_text(c, 0));
		if (!cur_null(c, 1))
			v->load_percent = cur_real(c, 1);
		if (!cur_null(c, 2))
			v->offered_iops = cur_real(c, 2);
	}
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

int
ingest_batch(struct tx *t, const struct ingest_batch *b, struct ingest_answer *ret_a,
	struct err *e)
{
	struct wire_batch head = {0};
	struct wire_cursor c;
	struct attempt a = {0};
	int rc;

	*ret_a = (struct ingest_answer){0};
	if (wire_batch_decode(&head, &c, b->payload, b->len, e) != 0)
		return -1;
	ret_a->attempt = head.attempt;
	rc = load(t, head.attempt, &a, e);
	if (rc < 0)
		return -1;
	if (rc == 0 || a.node != b->node) {
		ret_a->nack = WIRE_NACK_ATTEMPT;
		return 0;
	}
	if (head.fence != (uint64_t)a.fence) {
		ret_a->nack = WIRE_NACK_FENCE;
		return b->repeat ? 0 : set_all_aside(t, &head, &c, ret_a, e);
	}
	if (!b->repeat && take_all(t, &a, &head, &c, ret_a, e) != 0)
		return -1;
	ret_a->acked = a.acked;
	if (ret_a->live.payload != NULL)
		return describe_live(t, &a, &ret_a->live, e);
	return 0;
}

int
ingest_complete(struct tx *t, int64_t attempt, struct err *e)
{
	int64_t one;

	return tx_int(t, &one, e,
		"SELECT 1 FROM attempt WHERE id = ? AND result_seq IS NOT NULL AND"
		" acked_seq >= result_seq",
		"i", attempt);
}
