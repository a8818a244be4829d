/*
 * comparison - two sides, workload by workload and figure by figure, as tables and CSV.
 */
#ifndef CLI_COMPARISON_H
#define CLI_COMPARISON_H

#include <jansson.h>

struct out;

/*
 * comparison_print writes an answer (Comparison of schema/openapi.yaml): for people the
 * sides, a table for each workload, what else differs and the warnings; as CSV the
 * figures of all workloads, each with the suite and both sides, and the warnings to
 * stderr. The answer is completed for that. Not for OUT_JSON.
 */
void comparison_print(const struct out *o, json_t *doc);

#endif
