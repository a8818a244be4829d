#include "cli/vdbench_scan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

#define NAME_MAX_BYTES 64

struct scanner {
	struct conversion *c;
	const char *next, *end; /* of the file */
	unsigned line;
	struct str param; /* the one being read */
	unsigned param_line;
	bool quoted;	/* param had quotes */
	bool goes_on;	/* the line before ended with a comma */
	unsigned depth; /* of parentheses */
	struct vdbench_params *out;
	bool starts_line; /* the next parameter does */
	bool eof;
};

static bool
is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r';
}

static bool
is_comment(const char *p, const char *end)
{
	return p == end || *p == '*' || *p == '#' || *p == '/';
}

/* The next line with something in it, without blanks around it. */
static bool
next_line(struct scanner *s, const char **ret_from, const char **ret_to)
{
	while (s->next < s->end) {
		const char *from = s->next;
		const char *to = memchr(from, '\n', (size_t)(s->end - from));

		s->next = to != NULL ? to + 1 : s->end;
		if (to == NULL)
			to = s->end;
		s->line++;
		while (from < to && is_blank(*from))
			from++;
		while (to > from && is_blank(to[-1]))
			to--;
		if (is_comment(from, to))
			continue;
		*ret_from = from;
		*ret_to = to;
		return true;
	}
	return false;
}

/* Ends the parameter that was read. */
static int
take_param(struct scanner *s, struct err *e)
{
	struct vdbench_params *out = s->out;
	struct vdbench_param *p;
	const char *text = str_text(&s->param);
	size_t n = strcspn(text, "=");
	char shown[60];

	if (text[0] == '\0')
		return 0;
	convert_plain(shown, sizeof(shown), text);
	if (text[n] != '=' || n < 2)
		return err_set(e, ERR_INVALID,
			"line %u: \"%s\" is no parameter; one is keyword=value, with a "
			"keyword of two letters or more",
			s->param_line, shown);
	if ((out->n & (out->n - 1)) == 0)
		out->list = xrealloc(
			out->list, out->n == 0 ? 1 : out->n * 2, sizeof(*out->list));
	p = &out->list[out->n++];
	*p = (struct vdbench_param){.line = s->param_line,
		.starts_line = s->starts_line,
		.quoted = s->quoted,
		.text = str_take(&s->param)};
	p->key = xcalloc(n + 1, 1);
	for (size_t i = 0; i < n; i++)
		p->key[i] = p->text[i] >= 'A' && p->text[i] <= 'Z'
				    ? (char)(p->text[i] - 'A' + 'a')
				    : p->text[i];
	p->value = p->text + n + 1;
	s->starts_line = false;
	s->quoted = false;
	return 0;
}

/* What follows the first blank is a comment to vdbench, though it may be meant. */
static void
behind_blank(struct scanner *s, const char *from, const char *to)
{
	struct str text = {0};

	while (from < to && is_blank(*from))
		from++;
	if (is_comment(from, to) || memchr(from, '=', (size_t)(to - from)) == NULL)
		return;
	str_add(&text, from, (size_t)(to - from));
	convert_left(s->c, s->line, LEFT_ASIDE, str_text(&text),
		"stands behind a blank, where vdbench reads a comment");
	str_fini(&text);
}

static void
add_char(struct scanner *s, char ch)
{
	if (s->param.len == 0)
		s->param_line = s->line;
	str_add(&s->param, &ch, 1);
}

/* One character outside of quotes. */
static int
take_char(struct scanner *s, char ch, struct err *e)
{
	if (ch == ',' && s->depth == 0)
		return take_param(s, e);
	if (ch == '(')
		s->depth++;
	if (ch == ')' && s->depth-- == 0)
		return err_set(e, ERR_INVALID,
			"line %u: a parenthesis is closed that was not opened", s->line);
	add_char(s, ch);
	return 0;
}

static int
take_line(struct scanner *s, const char *from, const char *to, struct err *e)
{
	bool in_quotes = false;
	const char *p = from;

	for (; p < to && (in_quotes || !is_blank(*p)); p++) {
		if (*p == '"') {
			in_quotes = !in_quotes;
			s->quoted = true;
		} else if (in_quotes) {
			add_char(s, *p);
		} else if (take_char(s, *p, e) != 0) {
			return -1;
		}
	}
	if (in_quotes)
		return err_set(e, ERR_INVALID,
			"line %u: a quote is not closed on its line", s->line);
	s->goes_on = p > from && p[-1] == ',';
	behind_blank(s, p, to);
	if (s->goes_on)
		return 0;
	if (s->depth > 0)
		return err_set(e, ERR_INVALID,
			"line %u: a parenthesis is not closed; a list has no blanks, and "
			"goes on in the next line only behind a comma",
			s->line);
	return take_param(s, e);
}

/* Lines that are told apart before anything else; 0: it is none of them. */
static int
special(struct scanner *s, const char *from, const char *to, struct err *e)
{
	if (to - from >= 8 && strncmp(from, "include=", 8) == 0)
		return err_set(e, ERR_INVALID,
			"line %u: include= names a file, and no other file is read; put "
			"its text in place of the line",
			s->line);
	if (to - from < 3 || strncmp(from, "eof", 3) != 0)
		return 0;
	s->eof = true;
	if (next_line(s, &from, &to))
		convert_left(s->c, s->line, LEFT_ASIDE, "eof",
			"vdbench reads nothing behind eof");
	return 0;
}

int
vdbench_scan(struct conversion *c, const char *text, size_t len,
	struct vdbench_params *ret_p, struct err *e)
{
	struct scanner s = {.c = c, .next = text, .end = text + len, .out = ret_p};
	const char *from, *to;
	int rc = 0;

	*ret_p = (struct vdbench_params){0};
	while (rc == 0 && !s.eof && next_line(&s, &from, &to)) {
		if (!s.goes_on)
			s.starts_line = true;
		rc = special(&s, from, to, e);
		if (rc == 0 && !s.eof)
			rc = take_line(&s, from, to, e);
	}
	if (rc == 0 && s.depth > 0)
		rc = err_set(e, ERR_INVALID, "line %u: a parenthesis is not closed",
			s.param_line);
	if (rc == 0)
		rc = take_param(&s, e);
	str_fini(&s.param);
	return rc;
}

void
vdbench_params_fini(struct vdbench_params *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->list[i].text);
		free(p->list[i].key);
	}
	free(p->list);
	*p = (struct vdbench_params){0};
}

/* The values of a list, one after the other, cut into buf; returns how long it is in the
 * list, 0 at the end. */
static size_t
next_value(const char **pos, char *buf, size_t size)
{
	size_t n;

	*pos += strspn(*pos, "(,)");
	n = strcspn(*pos, "(,)");
	snprintf(buf, size, "%.*s", n < size ? (int)n : (int)size - 1, *pos);
	*pos += n;
	return n;
}

/* A suffix and what it multiplies with; 0 for none that is known. */
static double
factor(const char *suffix, bool minutes)
{
	static const struct {
		char letter;
		double times;
	} known[] = {{'k', 1024}, {'m', 1048576}, {'g', 1073741824}, {'t', 1099511627776},
		{'h', 3600}, {'s', 1}, {'%', 1}};
	char letter = suffix[0];

	if (letter == '\0')
		return 1;
	if (letter >= 'A' && letter <= 'Z')
		letter = (char)(letter - 'A' + 'a');
	if (suffix[1] != '\0' &&
		((suffix[1] != 'b' && suffix[1] != 'B') || suffix[2] != '\0' ||
			strchr("kmgt", letter) == NULL))
		return 0;
	if (letter == 'm' && minutes)
		return 60;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].letter == letter)
			return known[i].times;
	return 0;
}

static bool
read_number(const char *text, bool minutes, struct vdbench_number *ret_n)
{
	size_t digits = strspn(text, "0123456789.");
	const char *point = strchr(text, '.');
	double times = factor(text + digits, minutes);

	if (digits == 0 || digits > 18 || text[0] == '.' || times <= 0 ||
		(point != NULL && strchr(point + 1, '.') != NULL))
		return false;
	ret_n->x = strtod(text, NULL) * times;
	ret_n->percent = text[digits] == '%';
	return true;
}

struct numbers {
	struct vdbench_number *list;
	size_t n;
};

static bool
add_number(struct numbers *l, double x, bool percent)
{
	if (l->n == VDBENCH_VALUES_MAX)
		return false;
	l->list[l->n++] = (struct vdbench_number){x, percent};
	return true;
}

/* The rest of a range whose first number stands last in l; step: its own number, or d. */
static const char *
add_range(struct numbers *l, const struct vdbench_number *to, const char *step,
	bool minutes)
{
	double x = l->list[l->n - 1].x;
	bool percent = l->list[l->n - 1].percent || to->percent;
	bool doubles = strcmp(step, "d") == 0;
	struct vdbench_number by = {0};
	bool down = doubles && to->x < x;

	if (!doubles && !read_number(step, minutes, &by))
		return "a range wants a step behind it: (10-50,10), or d to double: "
		       "(1-64,d)";
	if (doubles ? !(x > 0 && to->x > 0) : !(by.x > 0))
		return "a range cannot have the step 0";
	for (;;) {
		x = doubles ? (down ? x / 2 : x * 2) : x + by.x;
		if (down ? x < to->x : x > to->x)
			return NULL;
		if (!add_number(l, x, percent))
			return "it has more than 1024 values";
	}
}

/* One value of a list, a number or the begin of a range, whose step follows. */
static const char *
add_value(struct numbers *l, char *text, const char **pos, bool minutes)
{
	char *dash = strchr(text, '-');
	struct vdbench_number n, to;
	char step[40] = "";

	if (dash != NULL)
		*dash = '\0';
	if (!read_number(text, minutes, &n))
		return "it holds something that is no number";
	if (!add_number(l, n.x, n.percent))
		return "it has more than 1024 values";
	if (dash == NULL)
		return NULL;
	if (!read_number(dash + 1, minutes, &to))
		return "it holds something that is no number";
	next_value(pos, step, sizeof(step));
	return add_range(l, &to, step, minutes);
}

size_t
vdbench_numbers(const struct vdbench_param *p, bool minutes,
	struct vdbench_number ret_n[VDBENCH_VALUES_MAX], const char **ret_why)
{
	struct numbers l = {ret_n, 0};
	const char *pos = p->value;
	char text[NAME_MAX_BYTES];

	*ret_why = strchr(p->value, '$') != NULL
			   ? "its value is a variable, which is not in the file"
			   : "it has no number";
	if (pos[0] != '(')
		return read_number(pos, minutes, &ret_n[0]) ? 1 : 0;
	while (next_value(&pos, text, sizeof(text)) > 0) {
		const char *why = add_value(&l, text, &pos, minutes);

		if (why == NULL)
			continue;
		if (strchr(p->value, '$') == NULL)
			*ret_why = why;
		return 0;
	}
	return l.n;
}

/* Where the digits at the end of a name begin. */
static size_t
digits_at(const char *name)
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

/* sd1-sd4: all of them; *total counts the names of the parameter. */
static const char *
name_range(const char *from, const char *to, size_t *total,
	void (*fn)(const char *, void *), void *arg)
{
	size_t a = digits_at(from), b = digits_at(to);
	char name[NAME_MAX_BYTES * 2];
	unsigned long first, last;

	if (a != b || strncmp(from, to, a) != 0 || from[a] == '\0' || to[b] == '\0' ||
		strlen(from + a) > 9 || strlen(to + b) > 9)
		return "a range of names is written as in sd1-sd4";
	first = strtoul(from + a, NULL, 10);
	last = strtoul(to + b, NULL, 10);
	if (first > last || last - first >= VDBENCH_VALUES_MAX - *total)
		return "a range of names rises, and there are at most 1024 of them";
	*total += last - first + 1;
	for (unsigned long i = first; i <= last; i++) {
		snprintf(name, sizeof(name), "%.*s%lu", (int)a, from, i);
		fn(name, arg);
	}
	return NULL;
}

const char *
vdbench_names(
	const struct vdbench_param *p, void (*fn)(const char *name, void *arg), void *arg)
{
	const char *pos = p->value;
	char text[NAME_MAX_BYTES];

	size_t n, total = 0;

	if (p->quoted || pos[0] != '(') {
		n = strlen(pos);
		if (n == 0 || n >= sizeof(text))
			return "a name has 1 to 63 bytes";
		fn(pos, arg);
		return NULL;
	}
	while ((n = next_value(&pos, text, sizeof(text))) > 0) {
		char *dash = strchr(text, '-');
		const char *why;

		if (n >= sizeof(text))
			return "a name has 1 to 63 bytes";
		if (total == VDBENCH_VALUES_MAX)
			return "it has more than 1024 names";
		if (dash == NULL) {
			total++;
			fn(text, arg);
			continue;
		}
		*dash = '\0';
		why = name_range(text, dash + 1, &total, fn, arg);
		if (why != NULL)
			return why;
	}
	return NULL;
}
