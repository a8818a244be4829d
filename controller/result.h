/*
 * result - runs and their curves, as they are compared and ranked.
 *
 * Only done points of the latest attempt of a done run count; all other runs are listed
 * without curves, so that an answer can say what it left out (unless it wants them so).
 * Fill passes are no workload. Inside read jobs.
 */
#ifndef CONTROLLER_RESULT_H
#define CONTROLLER_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/curve.h"
#include "analysis/figure.h"

struct err;
struct hist;
struct str;
struct tx;

struct result_curve {
	char workload[64];
	struct curve_point *points; /* in the order of curve_sort; owned */
	size_t n, cap;
	unsigned operations; /* that it counts, bits 1 << enum direction (others.h) */
};

struct result {
	int64_t run, campaign, drive, attempt; /* attempt 0: none yet */
	bool done, scaled, is_virtual;
	char state[16];
	char reason[192];
	char suite[96]; /* "four-corners@1" */
	char model[64], serial[64], firmware[32], kind[16];
	char node[64]; /* name */
	int64_t capacity_bytes;
	int64_t finished_ns;
	struct result_curve *curves; /* in the order they were measured; owned */
	size_t n_curves;
};

struct result_list {
	struct result *items; /* owned, in the order of the run's id */
	size_t n;
};

/* What to load; 0 and NULL: any. */
struct result_filter {
	int64_t run, drive, campaign;
	const char *suite;    /* "name@version" */
	const char *workload; /* only the curves of this one */
	bool unfinished;      /* with the curves so far of runs that are not done */
	bool flags;	      /* with the flags of their points */
	bool figure_flags;    /* with those of the points that figures are read from */
};

/* result_load reads the runs that fit. Owned by the caller; result_list_fini. ERR_STORE.
 */
int result_load(struct tx *t, const struct result_filter *f, struct result_list *ret_l,
	struct err *e);

/* result_list_fini frees what l owns. */
void result_list_fini(struct result_list *l);

/* result_curve returns the curve of a workload, or NULL. Borrowed. */
const struct result_curve *result_curve(const struct result *r, const char *workload);

/* result_flags returns the flags of the point of a curve that f is read from. */
unsigned result_flags(const struct result_curve *c, enum figure f);

/* result_workloads appends the workloads of r that are not in out yet, with commas. */
void result_workloads(const struct result *r, struct str *out);

/* result_example returns the first workload of the newest run that has any, of a suite or
 * (NULL) of all, or "none". Borrowed. */
const char *result_example(const struct result_list *l, const char *suite);

/*
 * result_no_workload fails with ERR_NOTFOUND: nothing that was asked for has points of
 * workload; names are those it has points of.
 */
int result_no_workload(const char *workload, const struct str *names, struct err *e);

/*
 * result_attempt finds the latest attempt of a run; 0 when it has none yet. ERR_NOTFOUND
 * when there is no such run, ERR_STORE.
 */
int result_attempt(struct tx *t, int64_t run, int64_t *ret_attempt, struct err *e);

/* result_real makes a JSON number, null for NAN. New reference. */
json_t *result_real(double x);

/* result_histogram makes {unit, bins, n, mean_ns, max_ns}. New reference. */
json_t *result_histogram(const struct hist *h);

/* result_drive makes {id, model, serial, firmware, virtual} of a run's drive. */
json_t *result_drive(const struct result *r);

#endif
