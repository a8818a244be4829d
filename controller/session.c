#include "controller/session.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/xalloc.h"

/* A lab has hundreds of nodes at most: a list is searched faster than it is explained. */
struct session_book {
	struct session **items; /* each allocated: pointers stay valid while it lives */
	size_t n, cap;
	uint64_t installed;
};

struct session_book *
session_book_new(void)
{
	return xcalloc(1, sizeof(struct session_book));
}

static void
drop(struct session_book *b, size_t i)
{
	seal_wipe(b->items[i], sizeof(*b->items[i]));
	free(b->items[i]);
	b->items[i] = b->items[--b->n];
}

void
session_book_free(struct session_book *b)
{
	if (b == NULL)
		return;
	while (b->n > 0)
		drop(b, b->n - 1);
	free(b->items);
	free(b);
}

static void
drop_expired(struct session_book *b, int64_t now_mono)
{
	for (size_t i = b->n; i > 0; i--)
		if (b->items[i - 1]->expires_mono <= now_mono)
			drop(b, i - 1);
}

/* Drops the oldest session of node when it has as many as it may have. */
static void
make_room(struct session_book *b, int64_t node)
{
	size_t oldest = 0;
	size_t have = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->items[i]->node != node)
			continue;
		if (have++ == 0 || b->items[i]->installed < b->items[oldest]->installed)
			oldest = i;
	}
	if (have >= SESSION_PER_NODE)
		drop(b, oldest);
}

bool
session_install(struct session_book *b, int64_t node, const struct seal_session *keys,
	int64_t now_mono)
{
	struct session *s;

	drop_expired(b, now_mono);
	if (session_find(b, keys->id, now_mono) != NULL)
		return false;
	make_room(b, node);
	if (b->n == b->cap) {
		b->cap = b->cap > 0 ? 2 * b->cap : 16;
		b->items = xrealloc(b->items, b->cap, sizeof(struct session *));
	}
	s = xcalloc(1, sizeof(*s));
	s->keys = *keys;
	s->node = node;
	s->expires_mono = now_mono + SESSION_VALID_S * NS_PER_S;
	s->installed = ++b->installed;
	b->items[b->n++] = s;
	return true;
}

struct session *
session_find(
	struct session_book *b, const uint8_t id[SEAL_SESSION_BYTES], int64_t now_mono)
{
	for (size_t i = 0; i < b->n; i++)
		if (memcmp(b->items[i]->keys.id, id, SEAL_SESSION_BYTES) == 0)
			return b->items[i]->expires_mono > now_mono ? b->items[i] : NULL;
	return NULL;
}

bool
session_known(struct session_book *b, int64_t node, const uint8_t id[SEAL_SESSION_BYTES],
	int64_t now_mono)
{
	const struct session *s = session_find(b, id, now_mono);

	return s != NULL && s->node == node;
}

void
session_drop_node(struct session_book *b, int64_t node)
{
	for (size_t i = b->n; i > 0; i--)
		if (b->items[i - 1]->node == node)
			drop(b, i - 1);
}

size_t
session_count(const struct session_book *b)
{
	return b->n;
}

/* Moves the window up to seq: what it now covers anew was not received. */
static void
advance(struct session *s, uint64_t seq)
{
	if (seq - s->rx_seq >= SESSION_WINDOW)
		memset(s->seen, 0, sizeof(s->seen));
	else
		for (uint64_t i = s->rx_seq + 1; i <= seq; i++)
			s->seen[i % SESSION_WINDOW / 64] &= ~(UINT64_C(1) << i % 64);
	s->rx_seq = seq;
}

enum session_seq
session_accept(struct session *s, uint64_t seq)
{
	uint64_t *word = &s->seen[seq % SESSION_WINDOW / 64];
	uint64_t bit = UINT64_C(1) << seq % 64;

	if (seq == 0 ||
		(s->rx_seq >= SESSION_WINDOW && seq <= s->rx_seq - SESSION_WINDOW))
		return SESSION_STALE;
	if (seq > s->rx_seq)
		advance(s, seq);
	else if ((*word & bit) != 0)
		return SESSION_REPEAT;
	*word |= bit;
	return SESSION_FRESH;
}
