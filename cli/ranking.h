/*
 * ranking - the drives in the order of a figure, as tables and CSV.
 */
#ifndef CLI_RANKING_H
#define CLI_RANKING_H

#include <jansson.h>

struct out;

/*
 * ranking_print writes the rankings of an answer (Rankings of schema/openapi.yaml): for
 * people a table for each, with what makes its order doubtful; as CSV the places of all,
 * one below the other. The answer is completed for that. Not for OUT_JSON.
 */
void ranking_print(const struct out *o, json_t *doc);

#endif
