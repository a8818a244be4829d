/*
 * vdbench - a vdbench parameter file as a suite.
 *
 * Each run definition (rd) becomes a workload, or as many as its loops make and as its
 * storage definitions (sd) get different ones; the workload definitions (wd) that run
 * side by side on a drive become its streams. The behaviour is that of vdbench 5.04.06
 * (its sources as published in github.com/itfanr/vdbench, folder Vdb). Pure.
 */
#ifndef CLI_VDBENCH_H
#define CLI_VDBENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct conversion;
struct err;

/*
 * vdbench_convert converts a text into the suite of c, which is ready for convert_finish
 * then. ERR_INVALID, "line 7: ...", for what vdbench itself would refuse to read, and for
 * include=; ERR_LIMIT.
 */
int vdbench_convert(struct conversion *c, const char *text, size_t len, struct err *e);

/* vdbench_is says whether a text looks like a vdbench parameter file. */
bool vdbench_is(const char *text, size_t len);

#endif
