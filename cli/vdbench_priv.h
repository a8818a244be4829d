/*
 * vdbench_priv - what the parts of the vdbench converter share: vdbench.c reads general
 * parameters, storage and workload definitions, vdbench_rd.c run definitions,
 * vdbench_run.c makes workloads of them.
 */
#ifndef CLI_VDBENCH_PRIV_H
#define CLI_VDBENCH_PRIV_H

#include "cli/convert.h"
#include "cli/vdbench_scan.h"

/* Storage definitions that a count= may make. */
#define VD_SDS_MAX 1024
#define VD_WDS_MAX 1024
#define VD_RDS_MAX 1024
/* Workloads that are tried, also in vain, and names and definitions that are compared, so
 * that no file takes for ever. */
#define VD_TRIES_MAX 1024
#define VD_WORK_MAX 20000000
/* Values of a loop that count: a suite has no more workloads. */
#define VD_LOOP_MAX SUITE_WORKLOADS_MAX
#define VD_RATES_MAX 64

/* Why things are not carried. */
#define VD_IN_CAMPAIGN "where a suite runs is said in the campaign, by the drive's serial"
#define VD_NO_COMMANDS "no command of a file is run"
#define VD_IN_REPORT "is about vdbench's own reports"
#define VD_NO_REPLAY "a suite replays no traces"
#define VD_NO_FILES "a suite tests drives, not file systems"
#define VD_NO_CACHE "hits of a cache in front of the drive are no part of a suite"
#define VD_NO_VERIFY "a suite verifies no data; ssdlab-runner verify does"

/* Part of the drive, in percent. */
struct vd_range {
	const struct vdbench_param *param; /* NULL: the whole */
	double from, to;
};

struct vd_sd {
	char name[80];
	unsigned line;
	bool broken; /* a value that its load needs could not be read */
	double threads;
	double align_bytes;
	struct vd_range range;
	bool durable;	       /* each write waits until its data are durable */
	unsigned first, count; /* count=: so many of them; 0: not said */
};

struct vd_wd {
	const char *name;
	unsigned line;
	bool broken;
	const struct vdbench_param *sds; /* NULL: not said */
	double skew;			 /* percent, 0: not said */
	double iorate;			 /* 0: not said */
	double threads;			 /* 0: not said */
	double streams;			 /* 0: not said */
	double read, seek;		 /* percent */
	struct vd_range range;
	struct block_mix blocks;
	bool durable;
};

/* In the order of their letters in ids. */
enum vd_loop_kind { LOOP_XFERSIZE, LOOP_RDPCT, LOOP_SEEKPCT, LOOP_THREADS, LOOP_KINDS };

struct vd_loop {
	enum vd_loop_kind kind;
	const struct vdbench_param *param;
	double values[VD_LOOP_MAX];
	size_t n;
};

struct vd_rd {
	const char *name;
	unsigned line;
	bool broken;
	const struct vdbench_param *wds, *sds; /* NULL: not said */
	const struct vdbench_param *rate;      /* iorate=; NULL: not said */
	bool curve;			       /* iorate=curve */
	double curve_loads[VD_RATES_MAX];      /* curve=, percent */
	size_t n_curve_loads;
	double percents[VD_RATES_MAX]; /* of iorate=(max,50%) */
	size_t n_percents;
	double rates[VD_RATES_MAX]; /* of iorate=(100,200), I/Os per second */
	size_t n_rates;		    /* not 0: there is no percentage */
	const struct vdbench_param *curve_param;
	double elapsed_s, interval_s;
	double warmup_s; /* 0: one interval of elapsed */
	enum arrivals arrivals;
	struct vd_loop loops[LOOP_KINDS]; /* in the order of nesting, outermost first */
	size_t n_loops;
	bool files; /* it runs file system workloads */
	bool durable;
};

struct vd {
	struct conversion *c;
	struct vd_sd *sds, sd_default;
	struct vd_wd *wds, wd_default;
	struct vd_rd *rds, rd_default;
	size_t n_sds, n_wds, n_rds;
	struct vd_sd *sd; /* the ones being read, NULL: none */
	struct vd_wd *wd;
	struct vd_rd *rd;
	bool concatenate;		   /* concatenatesds=yes */
	double fill_bytes;		   /* formatxfersize= */
	bool fill;			   /* formatsds=yes */
	const struct vdbench_param *dedup; /* dedupratio=, NULL: not said */
	bool dedup_unit;		   /* dedupunit= is said */
	uint64_t work, tries;
	/* of the parameter being read; VDBENCH_VALUES_MAX of them, owned */
	struct vdbench_number *numbers;
};

/* What a keyword means. The first row of a table that the keyword is a prefix of counts,
 * as in vdbench; `exact` rows want all of it. */
struct vd_row {
	const char *key;
	bool exact;
	/* Reads p, or lists it. NULL: it is listed, with kind and why. */
	void (*read)(struct vd *v, const struct vdbench_param *p);
	enum left_kind kind;
	const char *why;
};

/* The parameters of each kind of definition; a row without a key ends them. */
extern const struct vd_row vd_general_rows[], vd_sd_rows[], vd_wd_rows[], vd_rd_rows[];

/* vd_number reads exactly one number of p, min..max; false after listing why not, and
 * sets *ret_broken, if that is given. */
bool vd_number(struct vd *v, const struct vdbench_param *p, double min, double max,
	double *ret_x, bool *ret_broken);

/* vd_read_range reads range= or hotband=, two percentages; false after listing why not.
 */
bool vd_read_range(struct vd *v, const struct vdbench_param *p, struct vd_range *ret_r);

/* vd_left lists p. */
void vd_left(struct vd *v, const struct vdbench_param *p, enum left_kind kind,
	const char *why);

/* vd_durable reads openflags=, of which only those that make writes durable matter. */
void vd_durable(struct vd *v, const struct vdbench_param *p, bool *ret_durable);

/* vd_rd_init sets what vdbench presumes of a run definition. */
void vd_rd_init(struct vd_rd *rd);

/* vd_make_rates makes the rates of a drive that gets a part of those of rd: whole numbers
 * that rise. False, with why listed, where none can be carried. */
bool vd_make_rates(
	struct vd *v, const struct vd_rd *rd, double part, struct suite_rates *ret_r);

/* vd_run makes the ramp and the workloads of the suite of all that was read. */
void vd_run(struct vd *v);

#endif
