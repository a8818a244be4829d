/*
 * vdbench_scan - a vdbench parameter file as the parameters it holds, in their order.
 *
 * A parameter is keyword=value; they are separated by commas and line ends. A line whose
 * text ends with a comma goes on in the next one, also within parentheses. Comments are
 * lines that begin with *, # or /, and whatever follows the first blank of a line; "eof"
 * ends the file (vdbench 5.04.06, Vdb/Vdb_scan.java). Pure.
 */
#ifndef CLI_VDBENCH_SCAN_H
#define CLI_VDBENCH_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct conversion;
struct err;

/* Most values of one parameter, ranges written out. */
#define VDBENCH_VALUES_MAX 1024

struct vdbench_param {
	unsigned line;	   /* where it begins, from 1 */
	bool starts_line;  /* the first of its line and of those that go on in the next */
	bool quoted;	   /* its value had quotes, which are gone: it is one text */
	char *text;	   /* "rdpct=70"; owned */
	char *key;	   /* "rdpct", lower case; owned */
	const char *value; /* "70", in text */
};

struct vdbench_params {
	struct vdbench_param *list; /* owned (vdbench_params_fini) */
	size_t n;
};

/*
 * vdbench_scan reads the parameters of a text that convert_check_text accepts; what
 * stands behind a blank and looks like a parameter is listed in c. *ret_p is owned, also
 * after an error. ERR_INVALID, "line 7: ...".
 */
int vdbench_scan(struct conversion *c, const char *text, size_t len,
	struct vdbench_params *ret_p, struct err *e);

/* vdbench_params_fini frees what p holds. */
void vdbench_params_fini(struct vdbench_params *p);

/* A number as vdbench writes them. */
struct vdbench_number {
	double x;
	bool percent; /* written with % */
};

/*
 * vdbench_numbers reads the value of p as numbers with the suffixes k, m, g, t (binary,
 * and b behind them), h, s and %, alone or in parentheses, in which (10-50,10) counts up
 * by 10 and (1-64,d) doubles or halves. minutes: m is 60 (of times). Returns how many,
 * at most VDBENCH_VALUES_MAX, or 0 with *ret_why when it holds anything else.
 */
size_t vdbench_numbers(const struct vdbench_param *p, bool minutes,
	struct vdbench_number ret_n[VDBENCH_VALUES_MAX], const char **ret_why);

/* vdbench_names calls fn with each of the texts in the value of p, in which (sd1-sd3) is
 * sd1, sd2 and sd3; the text is borrowed for the call. Returns NULL, or why not. */
const char *vdbench_names(const struct vdbench_param *p,
	void (*fn)(const char *name, void *arg), void *arg);

#endif
