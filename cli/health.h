/*
 * health - how the drive of a run was before and after, for people.
 */
#ifndef CLI_HEALTH_H
#define CLI_HEALTH_H

#include <jansson.h>

struct out;

/*
 * health_show writes the answer of /runs/{r}/health as a table of the members that have
 * changed or that nobody should miss, all of them in a wide one, and what there is to be
 * told below it; a line when the drive has no health; nothing before it was looked at.
 */
void health_show(const struct out *o, const json_t *health);

#endif
