/*
 * progress - what is known of the runs that somebody follows, and how it is shown.
 *
 * Fed with REST documents and events, asked for a line, a block or the end. Knows no
 * network and no clock: now_ns is monotonic and comes from the caller. What is left of a
 * run is told from its points still to do and the time one takes: by the suite at first,
 * then more and more by what the points took.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/out.h"

struct progress;
struct str;

/* progress_new follows one campaign ("c1") or run ("r1"). Owned; progress_free. */
struct progress *progress_new(const char *id);

/* progress_free frees p. NULL allowed. */
void progress_free(struct progress *p);

/*
 * progress_update takes the present documents: the campaign, NULL when a run is followed,
 * and the array of runs. Both are borrowed for the call.
 */
void progress_update(
	struct progress *p, const json_t *campaign, const json_t *runs, int64_t now_ns);

/*
 * progress_suite takes the suite (as GET gives it) of all that is followed, for the time
 * that its points will take. Without it that is known once points have been seen.
 */
void progress_suite(struct progress *p, const json_t *suite);

/* progress_suite_name returns its "name@version", "" before the first document. */
const char *progress_suite_name(const struct progress *p);

/* progress_stale says whether the controller is away, so that nothing live is known. */
void progress_stale(struct progress *p, bool stale);

/* progress_topics appends what to subscribe to; nothing when that is everything. */
void progress_topics(const struct progress *p, struct str *out);

/*
 * progress_event takes one event. false: it is about something else. *ret_stale says that
 * the documents have to be read again.
 */
bool progress_event(
	struct progress *p, const char *name, const json_t *data, bool *ret_stale);

/*
 * progress_line appends one line about an event of ours; nothing for live samples and for
 * the start of a point.
 */
void progress_line(
	const struct progress *p, const char *name, const json_t *data, struct str *out);

/* progress_summary appends one line: what is followed, its state, its runs. */
void progress_summary(const struct progress *p, struct str *out);

/*
 * progress_block writes the block of all runs, at most max_rows of them, to o. On a
 * terminal that is too narrow, the bar goes first, then the word for the latency, the
 * node, the offered load and the state; serials and what a run does are cut last.
 */
void progress_block(
	struct progress *p, const struct out *o, unsigned max_rows, int64_t now_ns);

/*
 * progress_ended says whether what is followed has finished, and with which exit code: 0
 * done, 10 with failed runs, 1 cancelled.
 */
bool progress_ended(const struct progress *p, int *ret_exit_code);

#endif
