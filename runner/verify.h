/*
 * verify - whether a drive gives back what a load writes to it.
 *
 * Each 512 bytes written are stamped (sector). A journal knows the generation of each
 * block, so that what is read can be told apart (judge): good, flipped, stale, misplaced,
 * torn, gone, or foreign. Two writes of one block are never in flight at once: who draws
 * one gets false and draws another place.
 *
 * A generation counts the writes of its block from 1 to 2^18 - 1, and then from 1 again.
 * One struct verify serves all workers of a load, each through a port of its own; nothing
 * is locked or allocated between port_new and port_free.
 */
#ifndef RUNNER_VERIFY_H
#define RUNNER_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/engine.h"
#include "runner/verify_report.h"

struct journal;
struct verify;
struct verify_port;

/* verify_new checks by a journal, which is borrowed. */
struct verify *verify_new(struct journal *j);

/* verify_free frees it; NULL allowed. */
void verify_free(struct verify *v);

/* verify_journal returns the journal; borrowed. */
struct journal *verify_journal(const struct verify *v);

/* verify_port_new makes a port for depth I/Os of at most io_bytes each. */
struct verify_port *verify_port_new(struct verify *v, unsigned depth, uint32_t io_bytes);

/* verify_port_free frees it; NULL allowed. */
void verify_port_free(struct verify_port *p);

/*
 * verify_may says whether an I/O may be submitted now: false for a write that meets one
 * in flight, which is counted as a redraw. After true, verify_stamp must follow for a
 * write, and verify_done or verify_drop for both. The I/O is whole blocks of the journal,
 * inside its region.
 */
bool verify_may(struct verify_port *p, const struct io *io);

/* verify_stamp writes heads and checksums into the buffer of a write. */
void verify_stamp(struct verify_port *p, const struct io *io);

/* verify_done takes what became of an I/O: acknowledges a write, checks what was read. */
void verify_done(struct verify_port *p, const struct io *io);

/* verify_drop takes verify_may back: the I/O was not submitted. */
void verify_drop(struct verify_port *p, const struct io *io);

/* verify_port_report returns what was found so far; borrowed. For after the worker. */
const struct verify_report *verify_port_report(const struct verify_port *p);

#endif
