#include "controller/unfinished.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/program.h"
#include "common/record.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/doc.h"
#include "controller/fact.h"
#include "controller/ledger.h"
#include "controller/series.h"
#include "controller/store.h"

/* What an attempt did when its records end, or go on with something else. */
struct begun {
	bool open;
	uint64_t seq;  /* of the record of its start */
	int64_t point; /* 0: a purge */
	int64_t step;
	int64_t at_ns;
	char *what; /* owned; the workload, or how it purged */
};

struct reader {
	struct tx *t;
	struct origin origin;
	struct program program;
	bool is_known; /* the program could be read */
	struct begun begun;
	struct sample *sample;
};

/* What the samples of a point tell. */
struct told {
	uint64_t written, trimmed;
	int64_t end_ns; /* 0: there are none */
};

static int
add_up(struct reader *r, int64_t point, struct told *ret_x, struct err *e)
{
	struct series_entry entry;
	struct series_reader *s;
	int rc;

	*ret_x = (struct told){0};
	if (series_open(&s, r->t, r->origin.attempt, point, 0, e) != 0)
		return -1;
	while ((rc = series_next(s, &entry, e)) == 1) {
		const struct sample *x = r->sample;

		if (sample_decode(r->sample, entry.payload, entry.len, NULL) != 0)
			continue;
		ret_x->written += x->bytes[DIR_WRITE] + x->bytes[DIR_ZERO];
		ret_x->trimmed += x->bytes[DIR_TRIM];
		ret_x->end_ns = x->wall_ns + x->length_ns;
	}
	series_close(s);
	return rc;
}

/* Whether a step may change what the drive holds; one that is not known may. */
static bool
may_write(const struct reader *r, int64_t step)
{
	const struct step *s;

	if (!r->is_known || step < 1 || (uint64_t)step > r->program.n_steps)
		return true;
	s = &r->program.steps[step - 1];
	switch (s->kind) {
	case STEP_IDENTIFY:
		return false;
	case STEP_WORKLOAD:
		return workload_writes(&s->workload);
	case STEP_ROUNDS:
		return rounds_writes(&s->rounds);
	case STEP_PURGE:
	case STEP_FILL:
		break;
	}
	return true;
}

/* Adds the row of what is open, if anything is, and closes it. */
static int
note(struct reader *r, struct err *e)
{
	struct begun *b = &r->begun;
	struct told told = {0};
	json_t *detail;
	int rc = 0;

	if (b->open && may_write(r, b->step)) {
		if (b->point > 0 && add_up(r, b->point, &told, e) != 0)
			return -1;
		detail = json_object();
		json_put(detail, "why",
			json_sprintf("%s%s of r%" PRId64
				     " began, and there is no record of its end%s",
				b->point > 0 ? "" : "the purge by ", b->what,
				r->origin.run,
				b->point == 0 || told.end_ns == 0
					? ""
					: "; the bytes are those of its samples"));
		json_put(detail, "step", json_integer(b->step));
		if (b->point > 0) {
			json_put(detail, "point", json_integer(b->point));
			json_put(detail, "workload", json_text(b->what));
			json_put(detail, "trimmed_bytes", json_u64(told.trimmed));
		}
		rc = ledger_doubt(r->t, &r->origin,
			&(struct ledger_place){b->seq,
				told.end_ns > 0 ? told.end_ns : b->at_ns, told.written},
			detail, e);
	}
	free(b->what);
	*b = (struct begun){0};
	return rc;
}

static int
begin(struct reader *r, uint64_t seq, const json_t *doc, bool is_point, struct err *e)
{
	const char *at = json_text_of(doc, "at_ns");
	uint64_t at_ns = 0;

	if (note(r, e) != 0)
		return -1;
	parse_uint(at, 0, INT64_MAX, &at_ns, NULL);
	r->begun = (struct begun){
		.open = true,
		.seq = seq,
		.point = is_point ? json_integer_value(json_object_get(doc, "point")) : 0,
		.step = json_integer_value(json_object_get(doc, "step")),
		.at_ns = (int64_t)at_ns,
		.what = xstrdup(json_text_of(doc, is_point ? "workload" : "method")),
	};
	return 0;
}

/* The present row of a query of seq, kind, point, payload. */
static int
see(struct reader *r, struct cur *c, struct err *e)
{
	uint64_t seq = (uint64_t)cur_int(c, 0);
	struct begun *b = &r->begun;
	const char *event, *text;
	json_t *doc = NULL;
	size_t len;
	int rc = 0;

	if (cur_int(c, 1) == RECORD_POINT) {
		if (b->open && b->point > 0 && b->point == cur_int(c, 2))
			b->open = false;
		return 0;
	}
	text = cur_bytes(c, 3, &len);
	if (json_parse(text, len, &doc, NULL) != 0)
		return 0;
	event = json_text_of(doc, "event");
	if (strcmp(event, "point.start") == 0)
		rc = begin(r, seq, doc, true, e);
	else if (strcmp(event, "purge.start") == 0)
		rc = begin(r, seq, doc, false, e);
	else if (strcmp(event, "purge.end") == 0 && b->point == 0)
		b->open = false;
	json_decref(doc);
	return rc;
}

static int
read_attempt(struct reader *r, struct err *e)
{
	char *text = NULL;
	json_t *doc;

	if (tx_int(r->t, &r->origin.run, e, "SELECT run_id FROM attempt WHERE id = ?1",
		    "i", r->origin.attempt) < 0 ||
		tx_text(r->t, &text, e, "SELECT program FROM attempt WHERE id = ?1", "i",
			r->origin.attempt) < 0)
		return -1;
	doc = doc_stored(text);
	r->is_known = program_from_json(doc, &r->program, NULL) == 0;
	json_decref(doc);
	free(text);
	return 0;
}

/* Walks over all that tells of a beginning or an end; the rare kinds have an index. */
static int
walk(struct reader *r, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(r->t, &c, e,
		    "SELECT seq, kind, point, payload FROM record WHERE attempt_id = ?1"
		    " AND kind IN (1, 3) AND kind <> 2 ORDER BY seq",
		    "i", r->origin.attempt) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1)
		if (see(r, c, e) != 0) {
			rc = -1;
			break;
		}
	cur_close(c);
	return rc == 0 ? note(r, e) : -1;
}

static int
note_all(struct tx *t, int64_t attempt, bool is_lost, struct err *e)
{
	struct reader r = {.t = t, .origin.attempt = attempt};
	char why[64];
	int rc;

	r.sample = xcalloc(1, sizeof(*r.sample));
	rc = read_attempt(&r, e);
	if (rc == 0)
		rc = walk(&r, e);
	if (rc == 0 && is_lost && (!r.is_known || program_writes(&r.program))) {
		snprintf(why, sizeof(why), "an attempt at r%" PRId64 " was lost",
			r.origin.run);
		rc = ledger_lost(t, &r.origin, why, e);
	}
	program_fini(&r.program);
	free(r.begun.what);
	free(r.sample);
	return rc;
}

int
unfinished_note(struct tx *t, int64_t attempt, struct err *e)
{
	return note_all(t, attempt, false, e);
}

int
unfinished_lose(struct tx *t, int64_t attempt, struct err *e)
{
	return note_all(t, attempt, true, e);
}
