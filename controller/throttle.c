#include "controller/throttle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/xalloc.h"

#define PEERS 256
#define WINDOW_NS (60 * NS_PER_S)

struct peer {
	char address[48]; /* the longest IPv6 text has 45 characters */
	int64_t since;
	unsigned failures; /* 0: the place is free */
};

struct throttle {
	struct peer peers[PEERS];
};

struct throttle *
throttle_new(void)
{
	return xcalloc(1, sizeof(struct throttle));
}

void
throttle_free(struct throttle *t)
{
	free(t);
}

static bool
is_current(const struct peer *p, int64_t now)
{
	return p->failures > 0 && now - p->since < WINDOW_NS;
}

void
throttle_fail(struct throttle *t, const char *peer, int64_t now)
{
	struct peer *place = &t->peers[0];

	for (size_t i = 0; i < PEERS; i++) {
		struct peer *p = &t->peers[i];

		if (is_current(p, now) && strcmp(p->address, peer) == 0) {
			p->failures++;
			return;
		}
		if (is_current(place, now) &&
			(!is_current(p, now) || p->since < place->since))
			place = p;
	}
	snprintf(place->address, sizeof(place->address), "%s", peer);
	place->since = now;
	place->failures = 1;
}

bool
throttle_blocks(const struct throttle *t, const char *peer, int64_t now)
{
	for (size_t i = 0; i < PEERS; i++) {
		const struct peer *p = &t->peers[i];

		if (is_current(p, now) && strcmp(p->address, peer) == 0)
			return p->failures >= THROTTLE_FAILURES;
	}
	return false;
}
