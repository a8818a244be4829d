#include "cli/vdbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/vdbench_priv.h"
#include "common/err.h"
#include "common/share.h"
#include "common/xalloc.h"

/* vdbench 5.04.06, SD_entry.java and WD_entry.java. */
#define SD_THREADS 8
#define XFERSIZE 4096
#define FORMAT_XFERSIZE 131072

void
vd_left(struct vd *v, const struct vdbench_param *p, enum left_kind kind, const char *why)
{
	convert_left(v->c, p->line, kind, p->text, "%s", why);
}

bool
vd_number(struct vd *v, const struct vdbench_param *p, double min, double max,
	double *ret_x, bool *ret_broken)
{
	const char *why;
	size_t n = vdbench_numbers(p, false, v->numbers, &why);

	if (n > 1)
		why = "it has more than one value";
	else if (n == 1 && !(v->numbers[0].x >= min && v->numbers[0].x <= max))
		why = "its value is out of range";
	else if (n == 1) {
		*ret_x = v->numbers[0].x;
		return true;
	}
	vd_left(v, p, LEFT_LOAD, why);
	if (ret_broken != NULL)
		*ret_broken = true;
	return false;
}

static void
find_durable(const char *name, void *arg)
{
	static const char *const flags[] = {
		"o_sync", "o_dsync", "o_rsync", "sync", "dsync"};
	bool *durable = arg;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(name, flags[i]) == 0)
			*durable = true;
}

void
vd_durable(struct vd *v, const struct vdbench_param *p, bool *ret_durable)
{
	bool durable = false;

	vdbench_names(p, find_durable, &durable);
	if (durable)
		*ret_durable = true;
	if (strstr(p->value, "fsync") != NULL)
		vd_left(v, p, LEFT_LOAD, "a suite has no fsync at the end of a run");
	else if (!durable)
		vd_left(v, p, LEFT_ASIDE, "ssdlab always goes past the page cache");
}

bool
vd_read_range(struct vd *v, const struct vdbench_param *p, struct vd_range *ret_r)
{
	const char *why;
	size_t n = vdbench_numbers(p, false, v->numbers, &why);

	if (n == 2 && v->numbers[1].x > 100 && v->numbers[1].x < 200)
		why = "a part that goes on at the drive's start is not carried: the "
		      "whole region is used";
	else if (n == 2 && v->numbers[1].x >= 200)
		why = "a suite has parts of the capacity, not bytes: the whole region is "
		      "used";
	else if (n == 2 && v->numbers[0].x < v->numbers[1].x) {
		*ret_r = (struct vd_range){p, v->numbers[0].x, v->numbers[1].x};
		return true;
	} else if (n > 0)
		why = "a range has two values, which rise: (10,20)";
	vd_left(v, p, LEFT_LOAD, why);
	return false;
}

enum context { GENERAL, HOST, GROUP, STORAGE, FILES, WORKLOAD, FILE_WORKLOAD, RUN };

/* Reads a parameter by its table. */
static void
by_table(struct vd *v, const struct vd_row *rows, const struct vdbench_param *p)
{
	for (const struct vd_row *r = rows; r->key != NULL; r++) {
		if (r->exact ? strcmp(r->key, p->key) != 0
			     : strncmp(r->key, p->key, strlen(p->key)) != 0)
			continue;
		if (r->read != NULL)
			r->read(v, p);
		else
			vd_left(v, p, r->kind, r->why);
		return;
	}
	vd_left(v, p, LEFT_LOAD, "the keyword is not known here");
}

/* Room for one more of n things of size bytes, which double from 1 on. */
static void *
one_more(void *list, size_t n, size_t size)
{
	return (n & (n - 1)) == 0 ? xrealloc(list, n == 0 ? 1 : n * 2, size) : list;
}

static int
begin_sd(struct vd *v, const struct vdbench_param *p, struct err *e)
{
	if (strcmp(p->value, "default") == 0) {
		v->sd = &v->sd_default;
		return 0;
	}
	if (v->n_sds == VD_SDS_MAX)
		return err_set(e, ERR_LIMIT,
			"line %u: there are more than %d storage definitions", p->line,
			VD_SDS_MAX);
	v->sds = one_more(v->sds, v->n_sds, sizeof(*v->sds));
	v->sd = &v->sds[v->n_sds++];
	*v->sd = v->sd_default;
	snprintf(v->sd->name, sizeof(v->sd->name), "%.63s", p->value);
	v->sd->line = p->line;
	return 0;
}

static int
begin_wd(struct vd *v, const struct vdbench_param *p, struct err *e)
{
	for (size_t i = 0; i < v->n_wds; i++)
		if (strcmp(v->wds[i].name, p->value) == 0)
			return err_set(e, ERR_INVALID,
				"line %u: this workload definition is there already, in "
				"line %u",
				p->line, v->wds[i].line);
	if (strcmp(p->value, "default") == 0) {
		v->wd = &v->wd_default;
		return 0;
	}
	if (v->n_wds == VD_WDS_MAX)
		return err_set(e, ERR_LIMIT,
			"line %u: there are more than %d workload definitions", p->line,
			VD_WDS_MAX);
	v->wds = one_more(v->wds, v->n_wds, sizeof(*v->wds));
	v->wd = &v->wds[v->n_wds++];
	*v->wd = v->wd_default;
	v->wd->name = p->value;
	v->wd->line = p->line;
	return 0;
}

static int
begin_rd(struct vd *v, const struct vdbench_param *p, struct err *e)
{
	for (size_t i = 0; i < v->n_rds; i++)
		if (strcmp(v->rds[i].name, p->value) == 0)
			return err_set(e, ERR_INVALID,
				"line %u: this run definition is there already, in line "
				"%u",
				p->line, v->rds[i].line);
	if (strcmp(p->value, "default") == 0) {
		v->rd = &v->rd_default;
		return 0;
	}
	if (v->n_rds == VD_RDS_MAX)
		return err_set(e, ERR_LIMIT,
			"line %u: there are more than %d run definitions", p->line,
			VD_RDS_MAX);
	v->rds = one_more(v->rds, v->n_rds, sizeof(*v->rds));
	v->rd = &v->rds[v->n_rds++];
	*v->rd = v->rd_default;
	v->rd->name = p->value;
	v->rd->line = p->line;
	return 0;
}

/* The kind of definition that p begins where definitions of kind `now` are read; `now`
 * when it begins none. They have an order, and in later ones the keywords of earlier ones
 * are parameters. */
static enum context
context_of(enum context now, const struct vdbench_param *p)
{
	static const struct {
		const char *key;
		enum context begins, until;
	} keys[] = {{"hd", HOST, HOST}, {"host", HOST, GENERAL}, {"rg", GROUP, GROUP},
		{"sd", STORAGE, STORAGE}, {"fsd", FILES, FILES},
		{"wd", WORKLOAD, WORKLOAD}, {"fwd", FILE_WORKLOAD, FILE_WORKLOAD},
		{"rd", RUN, RUN}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, p->key) == 0 && now <= keys[i].until)
			return keys[i].begins;
	return now;
}

static bool
begins(const struct vdbench_param *p, enum context is)
{
	static const char *const keys[] = {[HOST] = "hd",
		[GROUP] = "rg",
		[STORAGE] = "sd",
		[FILES] = "fsd",
		[WORKLOAD] = "wd",
		[FILE_WORKLOAD] = "fwd",
		[RUN] = "rd"};

	return is != GENERAL && strcmp(p->key, keys[is]) == 0;
}

/* A definition behind those of a later kind would be read as a parameter of theirs. */
static int
check_order(
	const struct vd *v, enum context is, const struct vdbench_param *p, struct err *e)
{
	bool again = (is == WORKLOAD && strcmp(p->key, "sd") == 0 &&
			     v->wd->sds != NULL) ||
		     (is == RUN && strcmp(p->key, "sd") == 0 && v->rd->sds != NULL) ||
		     (is == RUN && strcmp(p->key, "wd") == 0 && v->rd->wds != NULL);

	if (!again || !p->starts_line)
		return 0;
	return err_set(e, ERR_INVALID,
		"line %u: a \"%s\" here belongs to the definition before it, which has "
		"one already; the order is hd, sd, wd, rd",
		p->line, p->key);
}

static int
take(struct vd *v, enum context *now, const struct vdbench_param *p, struct err *e)
{
	*now = context_of(*now, p);
	switch (*now) {
	case GENERAL:
		by_table(v, vd_general_rows, p);
		return 0;
	case HOST:
		vd_left(v, p, strncmp(p->key, "cl", 2) == 0 ? LEFT_LOAD : LEFT_ASIDE,
			VD_IN_CAMPAIGN);
		return 0;
	case GROUP:
		vd_left(v, p, LEFT_LOAD, VD_NO_REPLAY);
		return 0;
	case FILES:
	case FILE_WORKLOAD:
		vd_left(v, p, LEFT_LOAD, VD_NO_FILES);
		return 0;
	case STORAGE:
		if (begins(p, STORAGE))
			return begin_sd(v, p, e);
		by_table(v, vd_sd_rows, p);
		return 0;
	case WORKLOAD:
		if (begins(p, WORKLOAD))
			return begin_wd(v, p, e);
		if (check_order(v, WORKLOAD, p, e) != 0)
			return -1;
		by_table(v, vd_wd_rows, p);
		return 0;
	case RUN:
		break;
	}
	if (begins(p, RUN))
		return begin_rd(v, p, e);
	if (check_order(v, RUN, p, e) != 0)
		return -1;
	by_table(v, vd_rd_rows, p);
	return 0;
}

static void
presume(struct vd *v)
{
	struct err e = {0};

	v->sd_default.threads = SD_THREADS;
	v->wd_default.name = "default";
	v->wd_default.read = 100;
	v->wd_default.seek = 100;
	block_mix_add(&v->wd_default.blocks, XFERSIZE, 100, &e);
	vd_rd_init(&v->rd_default);
	v->fill_bytes = FORMAT_XFERSIZE;
}

int
vdbench_convert(struct conversion *c, const char *text, size_t len, struct err *e)
{
	struct vd v = {.c = c};
	struct vdbench_params params = {0};
	enum context now = GENERAL;
	int rc = convert_check_text(text, len, e);

	if (rc == 0)
		rc = vdbench_scan(c, text, len, &params, e);
	v.numbers = xcalloc(VDBENCH_VALUES_MAX, sizeof(*v.numbers));
	presume(&v);
	for (size_t i = 0; rc == 0 && i < params.n; i++)
		rc = take(&v, &now, &params.list[i], e);
	if (rc == 0)
		vd_run(&v);
	free(v.numbers);
	free(v.sds);
	free(v.wds);
	free(v.rds);
	vdbench_params_fini(&params);
	return rc;
}

bool
vdbench_is(const char *text, size_t len)
{
	static const char *const keys[] = {
		"sd=", "wd=", "rd=", "hd=", "fsd=", "fwd=", "rg="};
	const char *end = text + len;

	while (text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));

		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			size_t n = strlen(keys[i]);

			if ((size_t)(end - text) > n && strncmp(text, keys[i], n) == 0)
				return true;
		}
		text = next != NULL ? next + 1 : end;
	}
	return false;
}
