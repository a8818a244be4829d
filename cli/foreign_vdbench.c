/* vdbench's flatfile.html as foreign results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert.h"
#include "cli/foreign.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

/* The columns that are read (vdbench 5.04.06, Flat.java). */
enum column {
	RUN,
	INTERVAL,
	REQRATE,
	RATE,
	MBYTES,
	READ,
	RESP,
	RESP_MAX,
	XFERSIZE,
	THREADS,
	RDPCT,
	SEEKPCT,
	VERSION,
	QUEUE_DEPTH,
	COLUMNS
};

static const char *const titles[COLUMNS] = {"Run", "Interval", "reqrate", "rate",
	"MB/sec", "read%", "resp", "resp_max", "xfersize", "threads", "rdpct", "seekpct",
	"version", "queue_depth"};

/* Requests from here on stand for the maximum (RD_entry.java: 9999977, 9999988). */
#define MAX_RATE 9999977

#define WORD_MAX 80
#define ROWS_MAX 4096

struct row {
	char run[WORD_MAX];
	char version[WORD_MAX];
	char id[WORKLOAD_ID_MAX]; /* of its workload */
	double x[COLUMNS];	  /* NAN for n/a */
};

struct table {
	int column[COLUMNS]; /* where each stands on a line, -1: not there */
	struct row *rows;    /* of averages; owned */
	size_t n;
};

/* The word at *pos, cut into buf; false at the end of the line. */
static bool
next_word(const char **pos, const char *end, char buf[WORD_MAX])
{
	size_t n = 0;

	while (*pos < end && (**pos == ' ' || **pos == '\t' || **pos == '\r'))
		++*pos;
	for (; *pos < end && **pos != ' ' && **pos != '\t' && **pos != '\r'; ++*pos)
		if (n + 1 < WORD_MAX)
			buf[n++] = **pos;
	buf[n] = '\0';
	return n > 0;
}

/* The line of titles; false when it is none. */
static bool
read_titles(struct table *t, const char *pos, const char *end)
{
	char word[WORD_MAX];

	for (int c = 0; c < COLUMNS; c++)
		t->column[c] = -1;
	for (int i = 0; next_word(&pos, end, word); i++)
		for (int c = 0; c < COLUMNS; c++)
			if (strcmp(word, titles[c]) == 0)
				t->column[c] = i;
	return t->column[RUN] >= 0 && t->column[INTERVAL] >= 0 && t->column[RATE] >= 0;
}

static double
number(const char *word)
{
	char *end;
	double x = strtod(word, &end);

	return *end == '\0' && end != word && isfinite(x) && x >= 0 && x < 1e15
		       ? x
		       : (double)NAN;
}

static void
take_word(const struct table *t, struct row *r, int i, const char *word)
{
	for (int c = 0; c < COLUMNS; c++) {
		if (t->column[c] != i)
			continue;
		r->x[c] = number(word);
		if (c == RUN)
			snprintf(r->run, sizeof(r->run), "%s", word);
		if (c == VERSION)
			snprintf(r->version, sizeof(r->version), "%s", word);
	}
}

/* A line of figures; kept when it is an average, as told by its interval: avg_2-30. */
static int
read_row(struct table *t, const char *pos, const char *end, unsigned line, struct err *e)
{
	struct row r = {0};
	char word[WORD_MAX];
	bool average = false;
	int i = 0;

	for (int c = 0; c < COLUMNS; c++)
		r.x[c] = (double)NAN;
	for (; next_word(&pos, end, word); i++) {
		take_word(t, &r, i, word);
		if (i == t->column[INTERVAL] && strncmp(word, "avg", 3) == 0)
			average = true;
	}
	if (!average)
		return 0;
	if (!isfinite(r.x[RATE]) || r.run[0] == '\0')
		return err_set(e, ERR_INVALID,
			"line %u: an average has no run or no rate: the file is damaged",
			line);
	if (t->n == ROWS_MAX)
		return err_set(e, ERR_LIMIT, "line %u: there are more than %d averages",
			line, ROWS_MAX);
	t->rows[t->n++] = r;
	return 0;
}

static int
read_table(struct table *t, const char *text, size_t len, struct err *e)
{
	const char *end = text + len;
	bool titled = false;
	unsigned line = 0;

	for (const char *p = text; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *to = nl != NULL ? nl : end;

		line++;
		/* comments, and what makes a page of it */
		if (p < to && *p != '*' && *p != '<') {
			if (!titled)
				titled = read_titles(t, p, to);
			else if (read_row(t, p, to, line, e) != 0)
				return -1;
		}
		p = nl != NULL ? nl + 1 : end;
	}
	if (!titled)
		return err_set(e, ERR_INVALID,
			"there is no line of column names with Run, Interval and rate: "
			"it is no flatfile.html of vdbench");
	if (t->n == 0)
		return err_set(e, ERR_INVALID,
			"there is no average (Interval avg_...): no run has ended in it");
	return 0;
}

static bool
differs(double a, double b)
{
	return isfinite(a) && isfinite(b) && (a < b || a > b);
}

/* Loops of a run differ in these; their ids are those of converted suites. */
static void
id_of(const struct table *t, size_t i, char ret_id[WORKLOAD_ID_MAX])
{
	static const struct {
		enum column column;
		const char *letter;
	} loops[] = {{XFERSIZE, ""}, {RDPCT, "r"}, {SEEKPCT, "s"}, {THREADS, "t"}};
	const struct row *r = &t->rows[i];
	struct str text = {0};

	str_puts(&text, r->run);
	for (size_t k = 0; k < sizeof(loops) / sizeof(loops[0]); k++) {
		double x = r->x[loops[k].column];
		bool varies = false;
		bool kib = loops[k].column == XFERSIZE && x >= 1024 && fmod(x, 1024) <= 0;

		for (size_t j = 0; j < t->n; j++)
			varies = varies ||
				 (strcmp(t->rows[j].run, r->run) == 0 &&
					 differs(x, t->rows[j].x[loops[k].column]));
		if (varies)
			str_printf(&text, "-%s%.0f%s", loops[k].letter,
				kib ? x / 1024 : x, kib ? "k" : "");
	}
	convert_id(ret_id, str_text(&text));
	str_fini(&text);
}

/* The rate of the maximum that the points of a curve are of; NAN: none before it. */
static double
maximum_before(const struct table *t, size_t i)
{
	for (size_t k = i; k > 0; k--)
		if (t->rows[k - 1].x[REQRATE] >= MAX_RATE &&
			strcmp(t->rows[k - 1].id, t->rows[i].id) == 0)
			return t->rows[k - 1].x[RATE];
	return (double)NAN;
}

static void
add_row(const struct table *t, size_t i, json_t *doc)
{
	const struct row *r = &t->rows[i];
	bool maximum = !(r->x[REQRATE] < MAX_RATE);
	double of = maximum ? (double)NAN : maximum_before(t, i);
	json_t *p = foreign_point(doc, r->id, maximum ? "maximum" : "rate", "measured");

	if (!maximum) {
		foreign_real(p, "offered_iops", r->x[REQRATE]);
		/* the target was rounded up to 10 or 100 I/Os a second */
		if (of > 0)
			foreign_real(p, "load_percent", floor(r->x[REQRATE] * 100 / of));
	}
	foreign_real(p, "iops", r->x[RATE]);
	foreign_real(p, "bytes_per_second", r->x[MBYTES] * 1048576);
	foreign_real(p, "read_percent", r->x[READ] <= 100 ? r->x[READ] : (double)NAN);
	foreign_real(p, "lat_mean_ns", r->x[RESP] * 1e6);
	foreign_real(p, "lat_max_ns", r->x[RESP_MAX] * 1e6);
	foreign_real(p, "in_flight", r->x[QUEUE_DEPTH]);
	json_put(p, "saturated", json_true());
}

int
foreign_vdbench(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_doc, struct err *e)
{
	struct table t = {.rows = calloc(ROWS_MAX, sizeof(struct row))};
	int rc = t.rows == NULL ? err_set(e, ERR_LIMIT, "there is no memory left")
				: read_table(&t, text, len, e);

	*ret_doc = NULL;
	if (rc == 0) {
		*ret_doc = foreign_begin("vdbench",
			t.rows[0].version[0] != '\0' ? t.rows[0].version : "unknown",
			o->source, o->subject[0] != '\0' ? o->subject : o->source);
		for (size_t i = 0; i < t.n; i++)
			id_of(&t, i, t.rows[i].id);
		for (size_t i = 0; i < t.n; i++)
			add_row(&t, i, *ret_doc);
	}
	free(t.rows);
	return rc;
}
