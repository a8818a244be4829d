/*
 * top_rig - a directory of the test's own, and files in it.
 *
 * Include it in one file per program. Names are relative to the directory, `top`.
 */
#ifndef TESTS_UNIT_TOP_RIG_H
#define TESTS_UNIT_TOP_RIG_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char top[32];

/* top_make makes the directory below `where`; /tmp may be a tmpfs, without direct I/O. */
static inline void
top_make(const char *where)
{
	snprintf(top, sizeof(top), "%s/ssdlab-test-XXXXXX", where);
	ck_assert_ptr_nonnull(mkdtemp(top));
}

/* top_remove removes it and all that is in it. */
static inline void
top_remove(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

/* top_put writes a file, its directories first. */
static inline void
top_put(const char *name, const char *bytes, size_t len)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *p = path + strlen(top) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

/* top_put_text is top_put of a text. */
static inline void
top_put_text(const char *name, const char *text)
{
	top_put(name, text, strlen(text));
}

/* top_put_line is top_put of a text and the end of its line, as sysfs has them. */
static inline void
top_put_line(const char *name, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "%s\n", text);
	top_put_text(name, line);
}

#endif
