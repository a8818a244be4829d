/*
 * str - text and bytes that grow.
 *
 * A struct str starts as {0}, is owned by whoever declares it, and is freed by str_fini.
 * data is always NUL-terminated once anything was added; NULL before.
 */
#ifndef COMMON_STR_H
#define COMMON_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *data;
	size_t len; /* bytes, without the NUL */
	size_t cap; /* bytes allocated */
};

/* str_add appends n bytes. */
void str_add(struct str *s, const void *data, size_t n);

/* str_puts appends a string. */
void str_puts(struct str *s, const char *text);

/* str_printf appends formatted text. */
void str_printf(struct str *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* str_reset empties s and keeps its memory. */
void str_reset(struct str *s);

/* str_text returns the text, "" when empty. Borrowed until the next change. */
const char *str_text(const struct str *s);

/* str_take returns the text as a string owned by the caller and leaves s empty. */
char *str_take(struct str *s) __attribute__((warn_unused_result));

/* str_fini frees the memory of s; s is {0} afterwards. NULL allowed. */
void str_fini(struct str *s);

/*
 * str_is_plain says whether text, UTF-8, has neither control characters (U+0000 to U+001F
 * and U+007F to U+009F) nor those that turn the direction of what follows (U+202A to
 * U+202E, U+2066 to U+2069): it looks as it is, on a terminal and in a table.
 */
bool str_is_plain(const char *text);

/* str_steers returns the bytes of such a character that text begins with, 0 for none. */
size_t str_steers(const char *text);

/*
 * str_alike says whether two texts differ in nothing but numbers, as "after 84 ms" and
 * "after 1203 ms" do: the same trouble told again.
 */
bool str_alike(const char *a, const char *b);

#endif
