#include "runner/resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/program.h"
#include "common/spool.h"
#include "common/xalloc.h"

void
resume_fini(struct resume *r)
{
	free(r->rounds);
	figures_fini(&r->figures);
	memset(r, 0, sizeof(*r));
}

static uint32_t
number_of(const json_t *doc, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(doc, name));

	return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static uint64_t
counter_of(const json_t *doc, const char *name)
{
	uint64_t n = 0;

	return parse_uint(json_text_of(doc, name), 0, UINT64_MAX, &n, NULL) == 0 ? n : 0;
}

static void
note_point(struct resume *r, const json_t *doc)
{
	uint32_t point = number_of(doc, "point");
	uint32_t round = number_of(doc, "round");

	if (point > r->points)
		r->points = point;
	if (number_of(doc, "step") != r->step || round <= r->round_begun)
		return;
	r->round_begun = round;
	r->round_point = point;
}

/* What the samples tell of a cell whose end is not recorded, it has written all the same.
 */
static void
close_cell(struct resume *r, bool recorded)
{
	if (!recorded)
		r->written_bytes += r->open_bytes;
	r->open_point = 0;
	r->open_bytes = 0;
}

static void
begin_step(struct resume *r, uint32_t step)
{
	close_cell(r, false);
	/* a step that is begun again by the next runner keeps its rounds */
	if (step == r->step)
		return;
	free(r->rounds);
	r->rounds = NULL;
	r->n_rounds = 0;
	r->step = step;
	r->round_begun = 0;
	r->written_bytes = 0;
}

static void
end_round(struct resume *r, const json_t *doc)
{
	struct resume_round *end;
	json_t *t;
	size_t k;

	if (number_of(doc, "step") != r->step)
		return;
	r->rounds = xrealloc(r->rounds, r->n_rounds + 1, sizeof(*r->rounds));
	end = &r->rounds[r->n_rounds++];
	end->round = number_of(doc, "round");
	end->is_void = json_has(doc, "void");
	for (k = 0; k < ROUNDS_TRACKED_MAX; k++)
		end->values[k] = (double)NAN;
	json_array_foreach (json_object_get(doc, "tracking"), k, t)
		if (k < ROUNDS_TRACKED_MAX && json_has(t, "value"))
			end->values[k] = json_number_value(json_object_get(t, "value"));
}

static void
note_event(struct resume *r, const json_t *doc)
{
	const char *event = json_text_of(doc, "event");

	r->last_wall_ns = (int64_t)counter_of(doc, "at_ns");
	if (strcmp(event, "step.start") == 0) {
		begin_step(r, number_of(doc, "step"));
		r->step_done = false;
	} else if (strcmp(event, "step.end") == 0) {
		r->step_done = number_of(doc, "step") == r->step &&
			       strcmp(json_text_of(doc, "state"), "done") == 0;
	} else if (strcmp(event, "steady") == 0) {
		r->step_done = number_of(doc, "step") == r->step; /* its test has ended */
		figures_end(&r->figures, doc);
	} else if (strcmp(event, "point.start") == 0) {
		note_point(r, doc);
		close_cell(r, false);
		r->open_point = number_of(doc, "round") > 0 ? number_of(doc, "point") : 0;
	} else if (strcmp(event, "round.end") == 0) {
		end_round(r, doc);
	}
}

/* Of points only those of cells of rounds count. */
static void
note_cell(struct resume *r, const struct point_record *point)
{
	const json_t *ops = json_object_get(point->meta, "ops");
	struct figure x = {.step = number_of(point->meta, "step"),
		.round = number_of(point->meta, "round"),
		.cell = number_of(point->meta, "cell"),
		.length_ns = counter_of(point->meta, "length_ns")};

	if (x.round == 0)
		return;
	r->written_bytes += counter_of(point->meta, "written_bytes");
	for (size_t d = 0; d < DATA_DIRECTIONS; d++) {
		const char *text = json_string_value(json_array_get(ops, d));
		uint64_t n = 0;

		if (text != NULL && parse_uint(text, 0, UINT64_MAX, &n, NULL) == 0)
			x.ops += n;
	}
	figures_add(&r->figures, &x, point->service);
}

static void
note_record(struct resume *r, const struct spool_record *rec, struct point_record *point,
	struct sample *sample)
{
	json_t *doc = NULL;

	r->begun = true;
	if (rec->kind == RECORD_SAMPLE) {
		r->samples++;
		if (sample_decode(sample, rec->payload, rec->len, NULL) != 0)
			return;
		r->last_wall_ns = sample->wall_ns + sample->length_ns;
		if (sample->point == r->open_point)
			r->open_bytes += sample->bytes[DIR_WRITE] +
					 sample->bytes[DIR_ZERO];
	} else if (rec->kind == RECORD_POINT) {
		if (point_decode(point, rec->payload, rec->len, NULL) != 0)
			return;
		if (number_of(point->meta, "point") == r->open_point)
			close_cell(r, true);
		note_point(r, point->meta);
		note_cell(r, point);
		point_record_fini(point);
	} else if (rec->kind == RECORD_EVENT) {
		if (json_parse((const char *)rec->payload, rec->len, &doc, NULL) == 0)
			note_event(r, doc);
		json_decref(doc);
	} else if (rec->kind == RECORD_RESULT) {
		r->has_result = true;
	}
}

int
resume_read(const char *dir, struct resume *ret_r, struct err *e)
{
	struct point_record *point = xcalloc(1, sizeof(*point));
	struct sample *sample = xcalloc(1, sizeof(*sample));
	struct spool_reader *reader = NULL;
	struct spool_record rec;
	int rc;

	memset(ret_r, 0, sizeof(*ret_r));
	rc = spool_reader_open(&reader, dir, 1, e);
	while (rc == 0 && (rc = spool_reader_next_good(reader, &rec, e)) == 1) {
		note_record(ret_r, &rec, point, sample);
		rc = 0;
	}
	spool_reader_close(reader);
	close_cell(ret_r, false);
	free(point);
	free(sample);
	if (rc != 0)
		resume_fini(ret_r);
	return rc;
}

bool
resume_is_possible(const struct resume *r, const struct program *p)
{
	if (r->step > p->n_steps)
		return false;
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].kind == STEP_WORKLOAD)
			return false;
	return program_has_rounds(p);
}
