#include "controller/series.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/le.h"
#include "common/record.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/store.h"

#define ENTRY_BYTES 16

/* A walk over the bytes of one packed row. */
struct walk {
	const uint8_t *at;
	size_t left;
};

/* A pack of samples that becomes one row. */
struct pack {
	struct str bytes;
	uint64_t first, last;
	int64_t n;
};

struct series_reader {
	struct cur *packs; /* packed rows, in the order of their first seq */
	struct cur *rows;  /* sample rows, in the order of seq */
	struct walk walk;  /* within the present packed row */
	struct series_entry packed, row;
	bool have_packed, have_row;
	bool packs_end, rows_end; /* a cursor at its end must not be asked again */
	uint64_t after;
};

static int
walk_next(struct walk *w, struct series_entry *ret_entry, struct err *e)
{
	if (w->left == 0)
		return 0;
	if (w->left < ENTRY_BYTES || le_get32(w->at + 12) > w->left - ENTRY_BYTES)
		return err_set(e, ERR_STORE, "a packed series is damaged");
	ret_entry->seq = le_get64(w->at);
	ret_entry->crc = le_get32(w->at + 8);
	ret_entry->len = le_get32(w->at + 12);
	ret_entry->payload = w->at + ENTRY_BYTES;
	w->at += ENTRY_BYTES + ret_entry->len;
	w->left -= ENTRY_BYTES + ret_entry->len;
	return 1;
}

static void
pack_add(struct pack *p, struct cur *c)
{
	uint64_t seq = (uint64_t)cur_int(c, 0);
	uint8_t head[ENTRY_BYTES];
	size_t len;
	const void *payload = cur_bytes(c, 2, &len);

	if (p->n++ == 0)
		p->first = seq;
	p->last = seq;
	le_put64(head, seq);
	le_put32(head + 8, (uint32_t)cur_int(c, 1));
	le_put32(head + 12, (uint32_t)len);
	str_add(&p->bytes, head, sizeof(head));
	str_add(&p->bytes, payload, len);
}

static int
pack_flush(struct pack *p, struct tx *t, int64_t attempt, int64_t point, struct err *e)
{
	int rc;

	if (p->n == 0)
		return 0;
	rc = tx_exec(t, e,
		"INSERT INTO series(attempt_id, point, first_seq, last_seq, n, samples)"
		" VALUES (?, ?, ?, ?, ?, ?)",
		"iiiiib", attempt, point, (int64_t)p->first, (int64_t)p->last, p->n,
		p->bytes.data, p->bytes.len);
	p->n = 0;
	str_reset(&p->bytes);
	return rc;
}

/* The measured time that a sample covers (schema/wire.md, "SAMPLE"); 0 in doubt. */
static int64_t
measured_ns(struct cur *c)
{
	size_t len;
	const uint8_t *payload = cur_bytes(c, 2, &len);
	uint64_t ns;

	if (len < 48 || (le_get32(payload + 12) & SAMPLE_WARMUP) != 0)
		return 0;
	ns = le_get64(payload + 40);
	return ns <= SAMPLE_LENGTH_MAX ? (int64_t)ns : 0;
}

/* Notes how much of the point's measured time has samples: "sampled_ns" of its document.
 */
static int
note_sampled(struct tx *t, int64_t attempt, int64_t point, int64_t ns, struct err *e)
{
	return tx_exec(t, e,
		"UPDATE point SET meta = json_set(meta, '$.sampled_ns', CAST(?1 +"
		" coalesce(CAST(meta ->> 'sampled_ns' AS INTEGER), 0) AS TEXT))"
		" WHERE attempt_id = ?2 AND point = ?3",
		"iii", ns, attempt, point);
}

int
series_compact(struct tx *t, int64_t attempt, int64_t point, uint64_t end, struct err *e)
{
	struct pack p = {0};
	int64_t sampled_ns = 0;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT seq, crc, payload FROM record WHERE attempt_id = ? AND"
		    " seq < ? AND kind = 2 AND point = ? ORDER BY seq",
		    "iii", attempt, (int64_t)end, point) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		pack_add(&p, c);
		sampled_ns += measured_ns(c);
		if (p.bytes.len < SERIES_CHUNK_BYTES)
			continue;
		rc = pack_flush(&p, t, attempt, point, e);
		if (rc != 0)
			break;
	}
	cur_close(c);
	if (rc == 0)
		rc = pack_flush(&p, t, attempt, point, e);
	if (rc == 0)
		rc = tx_exec(t, e,
			"DELETE FROM record WHERE attempt_id = ? AND seq < ? AND"
			" kind = 2 AND point = ?",
			"iii", attempt, (int64_t)end, point);
	if (rc == 0)
		rc = note_sampled(t, attempt, point, sampled_ns, e);
	str_fini(&p.bytes);
	return rc;
}

int
series_find(struct tx *t, int64_t attempt, uint64_t seq, struct series_entry *ret_entry,
	struct err *e)
{
	struct walk w;
	struct cur *c;
	int found = 0;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT samples FROM series WHERE attempt_id = ? AND first_seq <= ?"
		    " AND last_seq >= ?",
		    "iii", attempt, (int64_t)seq, (int64_t)seq) != 0)
		return -1;
	while (found == 0 && (rc = cur_next(c, e)) == 1) {
		w.at = cur_bytes(c, 0, &w.left);
		while ((found = walk_next(&w, ret_entry, e)) == 1 &&
			ret_entry->seq != seq)
			;
	}
	cur_close(c);
	ret_entry->payload = NULL;
	return found != 0 ? found : rc;
}

int
series_open(struct series_reader **ret_r, struct tx *t, int64_t attempt, int64_t point,
	uint64_t after, struct err *e)
{
	struct series_reader *r = xcalloc(1, sizeof(*r));

	r->after = after;
	if (tx_query(t, &r->packs, e,
		    "SELECT samples FROM series WHERE attempt_id = ?1 AND"
		    " (?2 = 0 OR point = ?2) AND last_seq > ?3 ORDER BY first_seq",
		    "iii", attempt, point, (int64_t)after) != 0 ||
		tx_query(t, &r->rows, e,
			"SELECT seq, crc, payload FROM record WHERE attempt_id = ?1 AND"
			" kind = 2 AND (?2 = 0 OR point = ?2) AND seq > ?3 ORDER BY seq",
			"iii", attempt, point, (int64_t)after) != 0) {
		series_close(r);
		return -1;
	}
	*ret_r = r;
	return 0;
}

/* Makes r->packed the next packed sample unless there is one or no more. */
static int
fill_packed(struct series_reader *r, struct err *e)
{
	while (!r->have_packed && !r->packs_end) {
		int rc = walk_next(&r->walk, &r->packed, e);

		if (rc == 1) {
			r->have_packed = r->packed.seq > r->after;
			continue;
		}
		if (rc == 0)
			rc = cur_next(r->packs, e);
		if (rc < 0)
			return -1;
		if (rc == 0)
			r->packs_end = true;
		else
			r->walk.at = cur_bytes(r->packs, 0, &r->walk.left);
	}
	return 0;
}

/* The same for r->row. */
static int
fill_row(struct series_reader *r, struct err *e)
{
	int rc;

	if (r->have_row || r->rows_end)
		return 0;
	rc = cur_next(r->rows, e);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		r->rows_end = true;
		return 0;
	}
	r->row.seq = (uint64_t)cur_int(r->rows, 0);
	r->row.crc = (uint32_t)cur_int(r->rows, 1);
	r->row.payload = cur_bytes(r->rows, 2, &r->row.len);
	r->have_row = true;
	return 0;
}

int
series_next(struct series_reader *r, struct series_entry *ret_entry, struct err *e)
{
	if (fill_packed(r, e) != 0 || fill_row(r, e) != 0)
		return -1;
	if (!r->have_packed && !r->have_row)
		return 0;
	if (r->have_packed && (!r->have_row || r->packed.seq < r->row.seq)) {
		*ret_entry = r->packed;
		r->have_packed = false;
	} else {
		*ret_entry = r->row;
		r->have_row = false;
	}
	return 1;
}

void
series_close(struct series_reader *r)
{
	if (r == NULL)
		return;
	cur_close(r->packs);
	cur_close(r->rows);
	free(r);
}
