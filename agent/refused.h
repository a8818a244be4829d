/*
 * refused - a report that the controller does not understand, kept for a person.
 */
#ifndef AGENT_REFUSED_H
#define AGENT_REFUSED_H

#include <jansson.h>

struct err;
struct inbox;

/*
 * refused_drop posts NEWS_REFUSED, frees *report and sets it to NULL: it would be refused
 * for ever, and nothing newer would be said. With a full inbox it stays. Why is logged,
 * and the report written to STATE/refused-report.json in place of an earlier one, unless
 * that was said last time; *said remembers. Waits for the disk. Any thread.
 */
void refused_drop(const char *state_dir, const struct inbox *in, json_t **report,
	struct err *said, const struct err *why);

#endif
