/*
 * stream - which records of one attempt are sent next, and what an acknowledgement means.
 *
 * Two places in the spool: `back` goes on from what is acknowledged; when that is far
 * behind what the runner writes now (the controller was away), `live` starts at the
 * newest records and is served first, so that a page shows now before it shows the past.
 * When `back` reaches where `live` began, there is one place again. Records may so arrive
 * out of order and, after failures, twice; the store sorts that out. Reads the spool, has
 * no network. One thread.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct stream;
struct wire_batch;

/* More records than this between the places make live start anew. */
#define STREAM_BEHIND 64

enum stream_part { STREAM_LIVE, STREAM_BACK };

/*
 * stream_watermark is the spool_acked of a spool; 0, with a warning, when that is larger
 * than the last record, and so is no truth: sending again is harmless.
 */
uint64_t stream_watermark(const char *dir);

/*
 * stream_open begins after what the spool dir says is acknowledged. dir is copied; it
 * need not exist yet. Owned by the caller; stream_close. Errors: ERR_IO.
 */
int stream_open(struct stream **ret_s, uint64_t attempt, uint64_t fence, const char *dir,
	struct err *e);

/* stream_close closes. NULL allowed. */
void stream_close(struct stream *s);

/* stream_newest tells the highest record that is in the spool, as far as known. */
void stream_newest(struct stream *s, uint64_t seq);

/* stream_ended tells that the runner is gone: nothing is live any more. */
void stream_ended(struct stream *s);

/* stream_is_live says whether its runner may still write. */
bool stream_is_live(const struct stream *s);

/*
 * stream_next fills b with the next records of a part, as many as fit one message:
 * returns 1, or 0 when there are none. For a live stream that is not far behind, all
 * there is counts as live. They are durable then. A damaged record is sent as a GAP
 * record in its place. The batch is under way then, until stream_acked or stream_failed.
 * Errors: ERR_IO, ERR_STORE.
 */
int stream_next(
	struct stream *s, enum stream_part part, struct wire_batch *b, struct err *e);

/*
 * stream_acked tells that the batch under way is committed and that acked is the highest
 * record up to which the controller has everything. Keeps it in the spool, at most once
 * a second but always at the end. A lower acked than before means that the controller
 * has lost records: they are sent again. Errors: ERR_IO, ERR_FULL (harmless: they will be
 * sent twice).
 */
int stream_acked(struct stream *s, uint64_t acked, struct err *e);

/* stream_failed tells that it is not known what became of the batch under way: it will
 * be sent again. */
void stream_failed(struct stream *s);

/* stream_attempt is the attempt's number. */
uint64_t stream_attempt(const struct stream *s);

/* stream_last is the highest record that was read or told; stream_acked_seq what is
 * committed without a hole. */
uint64_t stream_last(const struct stream *s);
uint64_t stream_acked_seq(const struct stream *s);

#endif
