#include "runner/choice.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hist.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/program.h"
#include "common/xalloc.h"

/* Where a figure goes: in the place of one that no window can reach any more. */
static struct figure *
place_for(struct figures *f, const struct figure *new)
{
	for (size_t i = 0; i < f->n; i++) {
		struct figure *old = &f->list[i];

		if (old->step == new->step && old->cell == new->cell &&
			old->round + ROUNDS_WINDOW_MAX <= new->round)
			return old;
	}
	f->list = xrealloc(f->list, f->n + 1, sizeof(*f->list));
	return &f->list[f->n++];
}

void
figures_add(
	struct figures *f, const struct figure *x, const struct hist service[DIRECTIONS])
{
	struct figure *new = place_for(f, x);

	*new = *x;
	new->lat_n = new->lat_sum_ns = 0;
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		new->lat_n += (double)service[d].n;
		new->lat_sum_ns += (double)service[d].n *hist_mean(&service[d]);
	}
}

static uint32_t
number_of(const json_t *doc, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(doc, name));

	return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

void
figures_end(struct figures *f, const json_t *steady)
{
	f->windows = xrealloc(f->windows, f->n_windows + 1, sizeof(*f->windows));
	f->windows[f->n_windows++] = (struct figure_window){number_of(steady, "step"),
		number_of(steady, "first_round"), number_of(steady, "last_round"),
		strcmp(json_text_of(steady, "verdict"), "steady") == 0};
}

void
figures_copy(struct figures *ret_f, const struct figures *f)
{
	*ret_f = *f;
	ret_f->list = xcalloc(f->n + 1, sizeof(*f->list));
	ret_f->windows = xcalloc(f->n_windows + 1, sizeof(*f->windows));
	for (size_t i = 0; i < f->n; i++)
		ret_f->list[i] = f->list[i];
	for (size_t i = 0; i < f->n_windows; i++)
		ret_f->windows[i] = f->windows[i];
}

void
figures_fini(struct figures *f)
{
	free(f->list);
	free(f->windows);
	memset(f, 0, sizeof(*f));
}

/* The figures of a cell over a window: all I/Os / all time, as results have them. */
static void
add_up(const struct figures *f, const struct figure_window *w, uint32_t cell,
	struct demand_point *p)
{
	double ops = 0, ns = 0, n = 0, sum = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct figure *x = &f->list[i];

		if (x->step != w->step || x->cell != cell || x->round < w->first_round ||
			x->round > w->last_round)
			continue;
		ops += (double)x->ops;
		ns += (double)x->length_ns;
		n += x->lat_n;
		sum += x->lat_sum_ns;
	}
	p->iops = ns > 0 ? ops * 1e9 / ns : 0;
	p->lat_mean_ns = n > 0 ? sum / n : (double)NAN;
}

static struct figure_window
window_of(const struct figures *f, uint32_t step)
{
	for (size_t i = 0; i < f->n_windows; i++)
		if (f->windows[i].step == step)
			return f->windows[i];
	return (struct figure_window){.step = step};
}

/* The points among which may be chosen, and their cells, counted from 0. */
static size_t
list_points(const struct rounds *from, const struct figures *f,
	const struct figure_window *w, struct demand_point *points, size_t *cells)
{
	size_t n = 0;

	for (size_t i = 0; i < from->n_cells; i++) {
		if (!rounds_may_choose(from, i))
			continue;
		points[n].in_flight = from->cells[i].workload.in_flight;
		points[n].workers = workload_workers(&from->cells[i].workload);
		add_up(f, w, (uint32_t)i + 1, &points[n]);
		cells[n++] = i;
	}
	return n;
}

/* What is told of the cell, all null without one. */
static void
put_cell(json_t *o, const char *name, const struct demand_point *p)
{
	json_put(o, "cell", name != NULL ? json_string(name) : json_null());
	json_put(o, "workers", name != NULL ? json_integer(p->workers) : json_null());
	json_put(o, "in_flight", name != NULL ? json_integer(p->in_flight) : json_null());
	json_put(o, "iops", name != NULL ? json_real(p->iops) : json_null());
	json_put(
		o, "lat_mean_ns", name != NULL ? json_real(p->lat_mean_ns) : json_null());
}

/* The sentence for people. */
static json_t *
text_of(enum demand_verdict v, const struct rounds_choice *c, const char *name,
	const struct choice *choice, bool steady)
{
	char limit[40];

	switch (v) {
	case DEMAND_CHOSEN:
		break;
	case DEMAND_UNKNOWN:
		return json_sprintf(
			"nothing is measured: no round of %s counts", c->from);
	case DEMAND_NONE_BELOW:
		return json_sprintf("nothing is measured: no mean of %s is below %s",
			c->from, format_duration(c->mean_below_ns, limit, sizeof(limit)));
	}
	return json_sprintf(
		"%s is %s: %u worker%s, %u I/O%s in flight, %.0f I/Os per second "
		"with a mean of %.3f ms%s",
		rounds_pick_name(c->pick), name, (unsigned)choice->point.workers,
		choice->point.workers == 1 ? "" : "s", (unsigned)choice->point.in_flight,
		choice->point.in_flight == 1 ? "" : "s", choice->point.iops,
		choice->point.lat_mean_ns / 1e6,
		steady ? "" : ", in a test that was not steady");
}

void
choice_make(const struct program *p, uint32_t step, const struct figures *f,
	struct choice *ret_c)
{
	const struct rounds_choice *c = &p->steps[step - 1].rounds.choice;
	const struct step *from = program_chosen_from(p, step - 1);
	struct figure_window w;
	struct demand_point *points;
	enum demand_verdict v;
	size_t *cells, n, i = 0;
	char name[ROUNDS_NAME_MAX];

	assert(from != NULL);
	*ret_c = (struct choice){.doc = json_object()};
	w = window_of(f, (uint32_t)(from - p->steps) + 1);
	points = xcalloc(from->rounds.n_cells + 1, sizeof(*points));
	cells = xcalloc(from->rounds.n_cells + 1, sizeof(*cells));
	n = list_points(&from->rounds, f, &w, points, cells);
	v = demand_choose(points, n, c->pick, c->mean_below_ns, &i);
	ret_c->made = v == DEMAND_CHOSEN;
	if (ret_c->made) {
		ret_c->point = points[i];
		rounds_name(from->test, &from->rounds.cells[cells[i]], name);
	}
	json_put(ret_c->doc, "from", json_string(c->from));
	json_put(ret_c->doc, "pick", json_string(rounds_pick_name(c->pick)));
	json_put(ret_c->doc, "mean_below_ns",
		c->mean_below_ns > 0 ? json_integer(c->mean_below_ns) : json_null());
	put_cell(ret_c->doc, ret_c->made ? name : NULL, &ret_c->point);
	json_put(ret_c->doc, "text", text_of(v, c, name, ret_c, w.steady));
	free(points);
	free(cells);
}
