#include "runner/verify_report.h"

#include <assert.h>
#include <stddef.h>

#include "common/err.h"

const char *
verify_kind_name(enum verify_kind kind)
{
	static const char *const names[VERIFY_KINDS] = {
		[VERIFY_GOOD] = "good",
		[VERIFY_UNKNOWN] = "unknown",
		[VERIFY_FLIPPED] = "flipped",
		[VERIFY_STALE] = "stale",
		[VERIFY_MISPLACED] = "misplaced",
		[VERIFY_TORN] = "torn",
		[VERIFY_UNWRITTEN] = "unwritten",
		[VERIFY_FOREIGN] = "foreign",
		[VERIFY_UNREADABLE] = "unreadable",
	};

	assert((unsigned)kind < VERIFY_KINDS);
	return names[kind];
}

static void
add_later(struct verify_later *to, const struct verify_later *from)
{
	to->blocks += from->blocks;
	to->there += from->there;
	to->partly += from->partly;
}

void
verify_merge(struct verify_report *to, const struct verify_report *from)
{
	for (int k = 0; k < VERIFY_KINDS; k++)
		to->sectors[k] += from->sectors[k];
	for (unsigned i = 0; i < from->n && to->n < VERIFY_FINDINGS; i++)
		to->first[to->n++] = from->first[i];
	add_later(&to->begun, &from->begun);
	add_later(&to->forgotten, &from->forgotten);
	to->redraws += from->redraws;
}

struct verify_finding *
verify_new_finding(struct verify_report *r)
{
	return r->n < VERIFY_FINDINGS ? &r->first[r->n++] : NULL;
}

uint64_t
verify_bad(const struct verify_report *r)
{
	uint64_t n = 0;

	for (int k = VERIFY_UNKNOWN + 1; k < VERIFY_KINDS; k++)
		n += r->sectors[k];
	return n;
}
