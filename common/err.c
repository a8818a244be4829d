#define COMMON_ERR_C
#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	const char *title;
	int status;
	int exit_code;
} rows[ERR_CLASSES] = {
	[ERR_NONE] = {"none", "No failure", 200, 0},
#define ERR(name, text, status, exit_code, title) \
	[ERR_##name] = {text, title, status, exit_code},
#include "common/err_tbl.h"
#undef ERR
};

/* Returns the length of the whole text, which may not have fitted. */
__attribute__((format(printf, 3, 0))) static int
format_into(char *buf, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf, size, fmt, ap);

	return n >= 0 ? n : snprintf(buf, size, "(text could not be formatted)");
}

int
err_set(struct err *e, enum err_class class, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL || e->class != ERR_NONE)
		return -1;
	e->class = class;
	e->placed = false;
	e->pointer[0] = '\0';
	e->fix[0] = '\0';
	va_start(ap, fmt);
	format_into(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -1;
}

int
err_errno(struct err *e, enum err_class class, int num, const char *fmt, ...)
{
	char text[sizeof(e->text)];
	char why[128];
	va_list ap;

	if (num == ENOSPC || num == EDQUOT)
		class = ERR_FULL;
	va_start(ap, fmt);
	format_into(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, class, "%s: %s", text, strerror_r(num, why, sizeof(why)));
}

int
err_ctx(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->text)];
	va_list ap;
	size_t n;

	if (e == NULL)
		return -1;
	memcpy(old, e->text, sizeof(old));
	va_start(ap, fmt);
	format_into(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", old);
	return -1;
}

int
err_at(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL || e->pointer[0] != '\0')
		return -1;
	va_start(ap, fmt);
	e->placed = true;
	format_into(e->pointer, sizeof(e->pointer), fmt, ap);
	va_end(ap);
	return -1;
}

/* Ends a text that did not fit at the end of a word. */
static void
end_at_word(char *buf, size_t size)
{
	static const char mark[] = " ...";
	size_t n = size - sizeof(mark);

	while (n > 0 && buf[n] != ' ')
		n--;
	if (n > 0)
		memcpy(buf + n, mark, sizeof(mark));
}

int
err_fix(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL || e->fix[0] != '\0')
		return -1;
	va_start(ap, fmt);
	if (format_into(e->fix, sizeof(e->fix), fmt, ap) >= (int)sizeof(e->fix))
		end_at_word(e->fix, sizeof(e->fix));
	va_end(ap);
	return -1;
}

/* Edit distance of two short names, counting insertion, deletion and exchange as one. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[48];
	size_t n = strlen(b);

	if (n >= sizeof(row) / sizeof(row[0]) ||
		strlen(a) >= sizeof(row) / sizeof(row[0]))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t cost = corner + (a[i] != b[j]);

			corner = row[j + 1];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (corner + 1 < cost)
				cost = corner + 1;
			row[j + 1] = cost;
		}
	}
	return row[n];
}

int
err_suggest(struct err *e, const char *name, const char *const names[])
{
	const char *best = NULL;
	size_t least = SIZE_MAX;
	char all[sizeof(e->fix) - 32] = "";

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t d = distance(name, names[i]);
		size_t n = strlen(all);

		if (d < least) {
			least = d;
			best = names[i];
		}
		snprintf(all + n, sizeof(all) - n, "%s%s", n > 0 ? ", " : "", names[i]);
	}
	if (best == NULL)
		return err_fix(e, "leave it out; none is known here");
	if (least <= 2 && least < strlen(best))
		return err_fix(e, "did you mean \"%s\"?", best);
	return err_fix(e, "known here: %s", all);
}

void
err_clear(struct err *e)
{
	if (e == NULL)
		return;
	e->class = ERR_NONE;
	e->text[0] = '\0';
	e->placed = false;
	e->pointer[0] = '\0';
	e->fix[0] = '\0';
}

static bool known(enum err_class class)
{
	return (unsigned)class < ERR_CLASSES;
}

const char *err_name(enum err_class class)
{
	return rows[known(class) ? class : ERR_INTERNAL].name;
}

enum err_class
err_from_name(const char *name)
{
	for (int i = 0; i < ERR_CLASSES; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (enum err_class)i;
	return ERR_INTERNAL;
}

const char *err_title(enum err_class class)
{
	return rows[known(class) ? class : ERR_INTERNAL].title;
}

int err_http_status(enum err_class class)
{
	return rows[known(class) ? class : ERR_INTERNAL].status;
}

int err_exit_code(enum err_class class)
{
	return rows[known(class) ? class : ERR_INTERNAL].exit_code;
}
