/*
 * xalloc - small allocations that cannot reasonably fail.
 *
 * For fixed and bounded sizes only; a size that comes from input is bounded first. When
 * the system has no memory left for these, the process says so on stderr and ends (exit
 * 1).
 */
#ifndef COMMON_XALLOC_H
#define COMMON_XALLOC_H

#include <stddef.h>

/* xcalloc returns n zeroed objects of size bytes. Owned by the caller; free() frees. */
void *xcalloc(size_t n, size_t size) __attribute__((returns_nonnull, warn_unused_result));

/* xrealloc resizes an allocation to n objects of size bytes, new bytes undefined. */
void *xrealloc(void *p, size_t n, size_t size)
	__attribute__((returns_nonnull, warn_unused_result));

/* xstrdup copies a string. Owned by the caller; free() frees. */
char *xstrdup(const char *s) __attribute__((returns_nonnull, warn_unused_result));

/* xasprintf formats into a new string. Owned by the caller; free() frees. */
char *xasprintf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull, warn_unused_result));

#endif
