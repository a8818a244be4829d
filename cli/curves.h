/*
 * curves - the points of the curves of a run, as tables and CSV. Facts are in facts.h.
 */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include <jansson.h>

struct out;

/*
 * curves_print writes the points of an answer (Curves of schema/openapi.yaml), the
 * maximum of each workload first, as it was measured: for people a table for each
 * workload below its facts; as CSV those of all workloads. The answer is completed for
 * that. Not for OUT_JSON.
 */
void curves_print(const struct out *o, json_t *doc);

#endif
