#include "controller/reuse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/program.h"
#include "common/str.h"
#include "common/workload.h"
#include "common/xalloc.h"
#include "controller/doc.h"
#include "controller/history.h"
#include "controller/ledger.h"
#include "controller/store.h"

/* Columns of a row of select_past. */
enum column {
	COL_ATTEMPT,
	COL_RUN,
	COL_STATE,
	COL_FOUND,
	COL_LEFT,
	COL_HOLES,
	COL_PROGRAM,
	COL_KIND,
	COL_DETAIL
};

/* What rows of the ledger tell of what is on a drive. */
#define KINDS "('purge', 'fill', 'workload', 'unknown')"

/* A row of the ledger, by the order of rows. */
struct place {
	int64_t attempt, seq, id; /* attempt 0: there is none */
};

/* The rows of a drive, the latest first; ?2: the attempt that is not past. */
static const char select_rows[] =
	"SELECT attempt_id, seq, id, kind, detail ->> 'state', detail ->> 'step'"
	" FROM ledger WHERE drive_id = ?1 AND attempt_id < ?2 AND kind IN " KINDS
	" ORDER BY attempt_id DESC, seq DESC, id DESC";

/*
 * Attempts at a drive from the row ?3, ?4, ?5 on, each with its rows of the ledger. A gap
 * that a record stands for (kind 5 of common/record.h) may hide a write. The program is
 * read only where there is a fill in it.
 */
static const char select_past[] =
	"SELECT a.id, a.run_id, a.state, a.witness_found, a.witness_left,"
	" EXISTS (SELECT 1 FROM record WHERE attempt_id = a.id AND kind = 5"
	"  AND kind <> 2), CASE l.kind WHEN 'fill' THEN a.program END, l.kind, l.detail"
	" FROM lease e INDEXED BY lease_by_drive JOIN attempt a ON a.id = e.attempt_id"
	" LEFT JOIN ledger l ON l.attempt_id = a.id AND l.kind IN " KINDS
	"  AND (l.attempt_id, l.seq, l.id) >= (?3, ?4, ?5)"
	" WHERE e.drive_id = ?1 AND e.attempt_id >= ?3 AND e.attempt_id < ?2"
	" ORDER BY a.id, l.seq, l.id";

/* The past of a drive, and the texts that its entries borrow. */
struct past {
	struct history_entry *list;
	size_t n, room;
	char **texts;
	size_t n_texts;
};

static void
past_fini(struct past *p)
{
	for (size_t i = 0; i < p->n_texts; i++)
		free(p->texts[i]);
	free(p->texts);
	free(p->list);
}

/* A new entry; its text is copied. */
static struct history_entry *
add(struct past *p, enum history_kind kind, int64_t run, const char *text)
{
	struct history_entry *x;

	if (p->n == p->room) {
		p->room = p->room == 0 ? 64 : 2 * p->room;
		p->list = xrealloc(p->list, p->room, sizeof(*p->list));
		p->texts = xrealloc(p->texts, p->room, sizeof(*p->texts));
	}
	x = &p->list[p->n++];
	*x = (struct history_entry){.kind = kind, .run = run, .text = xstrdup(text)};
	p->texts[p->n_texts++] = (char *)(uintptr_t)x->text;
	return x;
}

static void
fill_of_step(const struct program *p, const struct step *s, struct history_fill *ret_f)
{
	*ret_f = (struct history_fill){.passes = s->passes,
		.block_bytes = workload_block_max(&s->workload),
		.in_flight = s->workload.in_flight,
		.data = p->data};
}

/* How the step with that number, from 1, of a stored program fills; passes stay 0 when
 * that cannot be read. */
static void
stored_fill(const char *program, uint64_t step, struct history_fill *ret_f)
{
	struct program p = {0};
	json_t *doc = doc_stored(program);

	if (program_from_json(doc, &p, NULL) == 0 && step >= 1 && step <= p.n_steps &&
		p.steps[step - 1].kind == STEP_FILL)
		fill_of_step(&p, &p.steps[step - 1], ret_f);
	program_fini(&p);
	json_decref(doc);
}

/* The entry of a row of the ledger. */
static void
add_row(struct past *p, struct cur *c)
{
	int64_t run = cur_int(c, COL_RUN);
	const char *kind = cur_text(c, COL_KIND);
	json_t *detail = doc_stored(cur_text(c, COL_DETAIL));
	uint64_t step = (uint64_t)json_integer_value(json_object_get(detail, "step"));
	struct history_entry *x;

	if (strcmp(kind, "unknown") == 0) {
		add(p, HISTORY_UNKNOWN, run, json_text_of(detail, "why"));
	} else if (strcmp(kind, "workload") == 0) {
		add(p, HISTORY_WRITE, run, json_text_of(detail, "workload"));
	} else {
		bool fill = strcmp(kind, "fill") == 0;

		x = add(p, fill ? HISTORY_FILL : HISTORY_PURGE, run, "");
		x->done = strcmp(json_text_of(detail, "state"), "done") == 0;
		/* steps of different attempts are different ones; there are at most 256
		 */
		x->step = (uint64_t)cur_int(c, COL_ATTEMPT) << 16 | step;
		if (fill)
			stored_fill(cur_text(c, COL_PROGRAM), step, &x->fill);
	}
	json_decref(detail);
}

/* What the rows of one attempt end with. */
struct open_attempt {
	int64_t attempt, run;
	bool lost, holes, left;
	char witness[WITNESS_MAX];
};

static void
begin_attempt(struct past *p, struct cur *c, struct open_attempt *o)
{
	*o = (struct open_attempt){
		.attempt = cur_int(c, COL_ATTEMPT),
		.run = cur_int(c, COL_RUN),
		.lost = strcmp(cur_text(c, COL_STATE), "lost") == 0,
		.holes = cur_int(c, COL_HOLES) != 0,
		.left = !cur_null(c, COL_LEFT),
	};
	snprintf(o->witness, sizeof(o->witness), "%s", cur_text(c, COL_LEFT));
	if (!cur_null(c, COL_FOUND))
		add(p, HISTORY_FOUND, o->run, cur_text(c, COL_FOUND));
}

static void
end_attempt(struct past *p, const struct open_attempt *o)
{
	char text[80];

	if (o->attempt == 0)
		return;
	if (o->left)
		add(p, HISTORY_LEFT, o->run, o->witness);
	if (!o->lost && !o->holes)
		return;
	snprintf(text, sizeof(text),
		o->lost ? "an attempt at r%" PRId64 " was lost"
			: "records of r%" PRId64 " were lost",
		o->run);
	add(p, HISTORY_UNKNOWN, o->run, text);
}

/* The fill that the latest rows are of, while they are looked through. */
struct latest_fill {
	bool any;
	int64_t attempt, step;
};

/*
 * Looks at a row that is older than all before it; columns of select_rows. Whether it
 * counts, and *ret_on whether older ones may: what was on the drive before a purge, or
 * before the latest write or doubt, proves nothing, and before a fill only a purge does.
 */
static bool
counts(struct cur *c, struct latest_fill *f, bool *ret_on)
{
	const char *kind = cur_text(c, 3);
	bool fill = strcmp(kind, "fill") == 0;
	bool done = strcmp(cur_text(c, 4), "done") == 0;
	bool same = f->any && f->attempt == cur_int(c, 0) && f->step == cur_int(c, 5);

	*ret_on = fill && done && (!f->any || same);
	if (f->any && !(fill && same) && strcmp(kind, "purge") != 0)
		return false;
	if (fill)
		*f = (struct latest_fill){true, cur_int(c, 0), cur_int(c, 5)};
	return true;
}

/* Finds the oldest row that may matter to what is on a drive. */
static int
find_start(
	struct tx *t, int64_t drive, int64_t before, struct place *ret_p, struct err *e)
{
	struct latest_fill f = {0};
	struct cur *c;
	bool on = true;
	int rc = 0;

	*ret_p = (struct place){0};
	if (tx_query(t, &c, e, select_rows, "ii", drive, before) != 0)
		return -1;
	while (on && (rc = cur_next(c, e)) == 1)
		if (counts(c, &f, &on))
			*ret_p = (struct place){
				cur_int(c, 0), cur_int(c, 1), cur_int(c, 2)};
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

static int
load_past(struct tx *t, int64_t drive, int64_t before, struct past *ret_p, struct err *e)
{
	struct open_attempt o = {0};
	struct place start;
	struct cur *c;
	int rc;

	*ret_p = (struct past){0};
	if (find_start(t, drive, before, &start, e) != 0)
		return -1;
	if (start.attempt == 0)
		return 0;
	if (tx_query(t, &c, e, select_past, "iiiii", drive, before, start.attempt,
		    start.seq, start.id) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		if (cur_int(c, COL_ATTEMPT) != o.attempt) {
			end_attempt(ret_p, &o);
			begin_attempt(ret_p, c, &o);
		}
		if (!cur_null(c, COL_KIND))
			add_row(ret_p, c);
	}
	cur_close(c);
	if (rc == 0)
		end_attempt(ret_p, &o);
	return rc;
}

/* The purge and fill that a program begins with; NULL for none. */
struct preparation {
	struct step *purge, *fill;
};

static struct preparation
preparation_of(const struct program *p)
{
	struct preparation x = {0};
	size_t i = 0;

	while (i < p->n_steps && p->steps[i].kind == STEP_IDENTIFY)
		i++;
	if (i < p->n_steps && p->steps[i].kind == STEP_PURGE)
		x.purge = &p->steps[i++];
	if (i < p->n_steps && p->steps[i].kind == STEP_FILL)
		x.fill = &p->steps[i];
	return x;
}

/* What the past of a drive says of a program. */
struct decision {
	struct preparation prep;
	struct past past;
	struct history_verdict v; /* borrows from past */
};

/* *ret_d is owned (past_fini of its past), also after an error. */
static int
decide(struct tx *t, int64_t drive, int64_t before, const struct program *p,
	struct decision *ret_d, struct err *e)
{
	struct history_wanted w = {0};

	*ret_d = (struct decision){.prep = preparation_of(p)};
	w.purge = ret_d->prep.purge != NULL;
	if (ret_d->prep.fill != NULL)
		fill_of_step(p, ret_d->prep.fill, &w.fill);
	if (load_past(t, drive, before, &ret_d->past, e) != 0)
		return -1;
	history_judge(ret_d->past.list, ret_d->past.n, &w, &ret_d->v);
	return 0;
}

/* Names what is skipped, or what is done: "purge and fill". "" for nothing. */
static const char *
names_of(const struct decision *d, bool skipped)
{
	bool purge = d->prep.purge != NULL && d->v.skip_purge == skipped;
	bool fill = d->prep.fill != NULL && d->v.skip_fill == skipped;

	if (purge && fill)
		return "purge and fill";
	return purge ? "purge" : fill ? "fill" : "";
}

static void
give_condition(struct step *s, bool skip, const struct history_verdict *v)
{
	if (!skip)
		return;
	s->unless.run = (uint64_t)v->run;
	snprintf(s->unless.witness, sizeof(s->unless.witness), "%s", v->witness);
}

int
reuse_apply(
	struct tx *t, int64_t drive, int64_t attempt, struct program *p, struct err *e)
{
	struct decision d;
	int rc = decide(t, drive, attempt, p, &d, e);

	if (rc == 0 && d.prep.purge != NULL)
		give_condition(d.prep.purge, d.v.skip_purge, &d.v);
	if (rc == 0 && d.prep.fill != NULL)
		give_condition(d.prep.fill, d.v.skip_fill, &d.v);
	if (rc == 0 && names_of(&d, false)[0] != '\0')
		rc = ledger_repeat(t, attempt, names_of(&d, false), d.v.why, e);
	past_fini(&d.past);
	return rc;
}

int
reuse_plan(struct tx *t, int64_t drive, const struct program *p, char **ret_text,
	struct err *e)
{
	const char *skipped, *done;
	struct str text = {0};
	struct decision d;
	int rc = decide(t, drive, INT64_MAX, p, &d, e);

	if (rc == 0) {
		skipped = names_of(&d, true);
		done = names_of(&d, false);
		str_puts(&text, "");
		if (skipped[0] != '\0')
			str_printf(&text,
				"%s skipped if the drive is found as r%" PRId64
				" left it",
				skipped, d.v.run);
		if (done[0] != '\0')
			str_printf(&text, "%s%s repeated: %s", text.len > 0 ? "; " : "",
				done, d.v.why);
		*ret_text = str_take(&text);
	}
	str_fini(&text);
	past_fini(&d.past);
	return rc;
}
