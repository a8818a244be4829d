/*
 * tree - a directory of our own that looks like /proc and /sys to whoever reads it.
 */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char tree_root[64];

/* tree_make makes it, empty; tree_remove removes it with everything in it. */
static inline void
tree_make(void)
{
	snprintf(tree_root, sizeof(tree_root), "/tmp/ssdlab-tree-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tree_root));
}

static inline void
tree_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf -- '%s'", tree_root);
	ck_assert_int_eq(system(command), 0);
}

/* tree_put writes a file, with a newline behind its text as the kernel does, and the
 * directories that it needs. */
static inline void
tree_put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", tree_root, path);
	for (char *p = full + strlen(tree_root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "we");
	ck_assert_msg(f != NULL, "%s", full);
	fprintf(f, "%s\n", text);
	fclose(f);
}

#endif
