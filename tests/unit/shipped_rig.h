/*
 * shipped_rig - a suite of etc/suites.
 */
#ifndef TESTS_UNIT_SHIPPED_RIG_H
#define TESTS_UNIT_SHIPPED_RIG_H

#include "common/json.h"
#include "common/suite.h"
#include "common/xalloc.h"
#include "tests/unit/unit.h"

static struct suite s;

/* load reads a file into s, and frees what was there before. */
static inline void
load(const char *file)
{
	char *path = xasprintf("%s/../../etc/suites/%s", TESTS_DATA_DIR, file);
	struct err e = {0};
	json_t *doc;

	OK(json_read_file(path, &doc, &e));
	suite_fini(&s);
	OK(suite_parse(doc, &s, &e));
	json_decref(doc);
	free(path);
}

#endif
