/*
 * cases - a folder of documents and what a parser says to them.
 *
 * A case is a folder with input.json and, unless it is valid, error: the sentence, then
 * "at POINTER" and "fix CURE" where there are any. Adding a case needs no C. Include it
 * in one file per program.
 */
#ifndef TESTS_UNIT_CASES_H
#define TESTS_UNIT_CASES_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "tests/unit/unit.h"

/* The parser under test; frees what it made. */
typedef int case_fn(const json_t *doc, struct err *e);

static void
case_read(const char *dir, const char *name, const char *file, struct str *out)
{
	char *path = xasprintf("%s/%s/%s/%s", TESTS_DATA_DIR, dir, name, file);
	FILE *f = fopen(path, "r");
	char buf[4096];
	size_t n;

	str_reset(out);
	if (f != NULL) {
		while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
			str_add(out, buf, n);
		fclose(f);
	}
	free(path);
}

static void
case_check(const char *dir, const char *name, case_fn *fn)
{
	struct str text = {0};
	struct str got = {0};
	struct err e = {0};
	json_t *doc = NULL;

	case_read(dir, name, "input.json", &text);
	if (json_parse(str_text(&text), text.len, &doc, &e) == 0)
		fn(doc, &e);
	if (e.class != ERR_NONE)
		str_printf(&got, "%s\n", e.text);
	if (e.pointer[0] != '\0')
		str_printf(&got, "at %s\n", e.pointer);
	if (e.fix[0] != '\0')
		str_printf(&got, "fix %s\n", e.fix);
	case_read(dir, name, "error", &text);
	ck_assert_msg(strcmp(str_text(&got), str_text(&text)) == 0, "%s/%s says:\n%s",
		dir, name, str_text(&got));
	json_decref(doc);
	str_fini(&text);
	str_fini(&got);
}

/* cases_run checks all cases of a folder below tests/data. */
static inline void
cases_run(const char *dir, case_fn *fn)
{
	char *path = xasprintf("%s/%s", TESTS_DATA_DIR, dir);
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort);
	int cases = 0;

	ck_assert_msg(n >= 0, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			case_check(dir, list[i]->d_name, fn);
			cases++;
		}
		free(list[i]);
	}
	free(list);
	free(path);
	ck_assert_int_gt(cases, 0);
}

#endif
