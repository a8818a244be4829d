/*
 * fio - what fio's JSON says, as far as more than one program reads it.
 *
 * fio names a bin by the middle of its range, which lies in the bucket of common/hist
 * with the same range. Pure; trusts no byte.
 */
#ifndef COMMON_FIO_H
#define COMMON_FIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;
struct hist;

/*
 * fio_find finds the document in fio's output, which may have lines of text before and
 * behind it: from a line that begins with "{" to the last that begins with "}", or, when
 * none does, to the last "}". Borrowed from text.
 */
bool fio_find(const char *text, size_t len, const char **ret_start, size_t *ret_len);

/*
 * fio_latency reads "lat_ns" or "clat_ns" of JSON+ in place `at` into h, which is empty.
 * Counts, extremes and bins are exact; the sum is fio's mean, which has 6 decimals, times
 * the count. ERR_INVALID when there are no bins, or when they contradict the rest;
 * ERR_STATE when an I/O took longer than the 17 s up to which they tell times apart.
 */
int fio_latency(const json_t *lat, const char *at, struct hist *h, struct err *e);

#endif
