/*
 * suite_cost - shows what a run of a suite takes at most, part by part, before there is a
 * drive: times, and writes as times the whole drive and as time.
 */
#ifndef CLI_SUITE_COST_H
#define CLI_SUITE_COST_H

#include <jansson.h>

struct out;

/* suite_cost_show shows it of a suite's document; nothing of one that it cannot read. */
void suite_cost_show(const struct out *o, const json_t *doc);

#endif
