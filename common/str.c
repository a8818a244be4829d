#include "common/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

static void
reserve(struct str *s, size_t more)
{
	size_t need = s->len + more + 1;
	size_t cap = s->cap > 0 ? s->cap : 64;

	if (need <= s->cap)
		return;
	while (cap < need)
		cap *= 2;
	s->data = xrealloc(s->data, cap, 1);
	s->cap = cap;
}

void
str_add(struct str *s, const void *data, size_t n)
{
	reserve(s, n);
	if (n > 0)
		memcpy(s->data + s->len, data, n);
	s->len += n;
	s->data[s->len] = '\0';
}

void
str_puts(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void
str_printf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	reserve(s, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->len += (size_t)n;
}

void
str_reset(struct str *s)
{
	s->len = 0;
	if (s->data != NULL)
		s->data[0] = '\0';
}

const char *
str_text(const struct str *s)
{
	return s->data != NULL ? s->data : "";
}

char *
str_take(struct str *s)
{
	char *p = s->data != NULL ? s->data : xstrdup("");

	*s = (struct str){0};
	return p;
}

void
str_fini(struct str *s)
{
	if (s == NULL)
		return;
	free(s->data);
	*s = (struct str){0};
}

bool
str_alike(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (;;) {
		size_t n = strspn(a, digits), m = strspn(b, digits);

		if ((n == 0) != (m == 0))
			return false;
		a += n;
		b += m;
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

/* UTF-8 writes U+0080 to U+009F as C2 80 to C2 9F, U+2000 to U+203F as E2 80 80 to
 * E2 80 BF, and U+2040 to U+207F as E2 81 80 to E2 81 BF (RFC 3629, section 3). */
size_t
str_steers(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (p[0] == '\0')
		return 0;
	if (p[0] < 0x20 || p[0] == 0x7f)
		return 1;
	if (p[0] == 0xc2 && (p[1] & 0xe0) == 0x80)
		return 2;
	if (p[0] != 0xe2)
		return 0;
	if (p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae)
		return 3;
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9 ? 3 : 0;
}

bool
str_is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if (str_steers(text) > 0)
			return false;
	return true;
}
