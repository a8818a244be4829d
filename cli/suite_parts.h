/*
 * suite_parts - shows what a run of a suite takes at most, part by part, before there is
 * a drive: times, and writes as times the whole drive and as time.
 */
#ifndef CLI_SUITE_PARTS_H
#define CLI_SUITE_PARTS_H

#include <jansson.h>

struct out;

/* suite_parts_show shows it of a suite's document; nothing of one that it cannot read. */
void suite_parts_show(const struct out *o, const json_t *doc);

#endif
