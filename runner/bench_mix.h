/*
 * bench_mix - block sizes and distributions on the command line, and back.
 *
 * Pure.
 */
#ifndef RUNNER_BENCH_MIX_H
#define RUNNER_BENCH_MIX_H

#include "common/flow.h"

struct err;
struct str;

/*
 * bench_parse_blocks reads "4KiB" or "4KiB:60%,64KiB:40%" into *ret_m, which it
 * overwrites. ERR_INVALID.
 */
int bench_parse_blocks(const char *text, struct block_mix *ret_m, struct err *e);

/*
 * bench_parse_distribution reads "uniform", "jesd219", "zipf:1.1" or
 * "zones:5%/50%,95%/50%" into the stream, whose distribution it overwrites. ERR_INVALID.
 */
int bench_parse_distribution(const char *text, struct flow *s, struct err *e);

/* bench_put_blocks appends block sizes as bench_parse_blocks reads them. */
void bench_put_blocks(struct str *out, const struct block_mix *m);

/* bench_put_distribution appends a distribution as bench_parse_distribution reads it. */
void bench_put_distribution(struct str *out, const struct flow *s);

#endif
