/*
 * throttle - how often an address failed to say who it is.
 *
 * Remembers a bounded number of addresses, the latest. Reads no clock.
 */
#ifndef CONTROLLER_THROTTLE_H
#define CONTROLLER_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#define THROTTLE_FAILURES 20 /* allowed per minute and address */

struct throttle;

/* throttle_new makes one without memory of anybody; throttle_free. */
struct throttle *throttle_new(void);
void throttle_free(struct throttle *t);

/* throttle_fail notes a failure of an address at now (ns, monotonic). */
void throttle_fail(struct throttle *t, const char *peer, int64_t now);

/* throttle_blocks says whether the address has had its failures of this minute. */
bool throttle_blocks(const struct throttle *t, const char *peer, int64_t now);

#endif
