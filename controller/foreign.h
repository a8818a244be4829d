/*
 * foreign - results that were measured elsewhere: by fio, by vdbench, or published.
 *
 * They have tables of their own, ids with the letter x, and are told as foreign wherever
 * they show: they stand beside runs in a comparison, and in a ranking when that is asked
 * for. A document (ForeignDocument in schema/openapi.yaml) that was taken is never
 * changed; the same one again is the one that is there. What a document says is checked
 * against Little's law, and what breaks it or is marked as doubtful keeps that mark.
 */
#ifndef CONTROLLER_FOREIGN_H
#define CONTROLLER_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hist.h"
#include "controller/result.h"

struct err;
struct tx;

#define FOREIGN_POINTS_MAX 4096

/* One measured load of one workload; NAN where a figure is not told. */
struct foreign_point {
	char workload[64];
	char point[32]; /* "peak", "start", "maximum", "result", ... */
	double load_percent, offered_iops;
	double iops, bytes_per_second, read_percent;
	double in_flight; /* I/Os that the tool kept in flight, at most */
	bool saturated;	  /* it kept all of them in flight */
	/* how many bytes the unit of bytes_per_second has was not said, but taken by the
	 * rule of docs/METHOD.md */
	bool unit_assumed;
	bool clat; /* its percentiles begin behind the submission: fio's clat */
	double lat_mean_ns, lat_p50_ns, lat_p99_ns, lat_p99_9_ns, lat_max_ns; /* service
									       */
	double transactions_per_second, duration_ns; /* of application tests */
	char quality[16]; /* "measured", "printed", "reconstructed", "suspect",
			     "contradictory" */
	char note[256];
	bool breaks_law;      /* IOPS x latency is not what was in flight */
	struct hist *service; /* reads, then writes; owned, NULL: none */
};

struct foreign {
	char tool[16]; /* "fio", "vdbench", "published" */
	char tool_version[64];
	char source[128];	      /* where from, a file's name */
	char subject[128];	      /* what was measured, as it is called there */
	int scaled;		      /* 1, 0, or -1: not known */
	struct foreign_point *points; /* owned */
	size_t n;
};

/*
 * foreign_parse reads and checks a document. *ret_f is owned (foreign_fini), also after
 * an error. ERR_INVALID with pointer, ERR_LIMIT.
 */
int foreign_parse(const json_t *doc, struct foreign *ret_f, struct err *e);

/* foreign_fini frees what f owns. */
void foreign_fini(struct foreign *f);

/* foreign_add stores a document, unless it is there already. ERR_INVALID with pointer,
 * ERR_LIMIT, ERR_STORE. */
int foreign_add(struct tx *t, const json_t *doc, const char *actor, int64_t *ret_id,
	bool *ret_new, struct err *e);

/* foreign_tools are the names of the tools, NULL-ended. */
extern const char *const foreign_tools[];

/* foreign_json reads one as its REST document, with its points if whole. ERR_NOTFOUND,
 * ERR_STORE. New reference. */
int foreign_json(struct tx *t, int64_t id, bool whole, json_t **ret_doc, struct err *e);

/* foreign_load reads one without histograms. *ret_f is owned (foreign_fini), also after
 * an error. ERR_NOTFOUND, ERR_STORE. */
int foreign_load(struct tx *t, int64_t id, struct foreign *ret_f, struct err *e);

/*
 * foreign_histogram reads the service of a point, reads and writes together, or of one
 * of them (dir >= 0), into ret_h. ERR_NOTFOUND where there is no such point, or no
 * histogram of it; ERR_STORE.
 */
int foreign_histogram(struct tx *t, int64_t id, int64_t number, int dir,
	struct hist *ret_h, struct err *e);

/*
 * foreign_result makes f what a done run is to comparisons: its curves, with the number
 * of a point counted from 1 in f. *ret_l is owned (result_list_fini).
 */
void foreign_result(const struct foreign *f, int64_t id, struct result_list *ret_l);

/*
 * foreign_marks appends what makes a point doubtful to an array of texts: its quality,
 * unless that is measured, "littles-law", "unit-assumed" of its bandwidth, and "clat" of
 * its percentiles. foreign_figure_marks leaves out what a figure does not rest on.
 */
void foreign_marks(const struct foreign_point *p, json_t *list);
void foreign_figure_marks(const struct foreign_point *p, enum figure f, json_t *list);

/* foreign_scaled makes what is known of its being scaled down: true, false or null. */
json_t *foreign_scaled(const struct foreign *f);

/* foreign_head makes {id, foreign, tool, tool_version, source, subject, scaled}. New
 * reference. */
json_t *foreign_head(const struct foreign *f, int64_t id);

#endif
