/*
 * facts - what the curves of a run say: peak, best operating point, loads under latency
 * lines, fall, knee.
 */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include <jansson.h>

#include "cli/cmd.h"

struct err;
struct str;

/*
 * facts_query adds the lines of --line, "p99=200us,mean=1ms", to the query of a path.
 * ERR_INVALID.
 */
int facts_query(const struct cli *c, struct str *path, struct err *e);

/* facts_print writes the facts of one curve (Curve of the API) as lines of text. */
void facts_print(const struct out *o, const json_t *curve);

/* facts_table writes the facts of all curves (Curves of the API), one in a row. */
void facts_table(const struct out *o, const json_t *curves);

/* facts_summary writes a table with one row for each workload; nothing without any. */
void facts_summary(const struct out *o, const json_t *curves);

#endif
