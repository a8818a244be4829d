/*
 * verify_report - what was found out about data that were read: counts, and the first
 * findings in full. Plain data; one thread at a time.
 */
#ifndef RUNNER_VERIFY_REPORT_H
#define RUNNER_VERIFY_REPORT_H

#include <stdint.h>

/* So many findings are kept in full; all are counted. */
#define VERIFY_FINDINGS 16

enum verify_kind {
	VERIFY_GOOD,
	VERIFY_UNKNOWN,	  /* never acknowledged, or changed while it was read */
	VERIFY_FLIPPED,	  /* ours by its head, with bits that its CRC-32C denies */
	VERIFY_STALE,	  /* an older generation than was acknowledged */
	VERIFY_MISPLACED, /* written for another offset */
	VERIFY_TORN,	  /* older, beside sectors that the same later write did change */
	VERIFY_UNWRITTEN, /* one value in all bytes: what was acknowledged is gone */
	VERIFY_FOREIGN,	  /* of another seed, of no write of ours, or never begun */
	VERIFY_UNREADABLE, /* the read failed; verify_scan only */
	VERIFY_KINDS
};

struct verify_finding {
	enum verify_kind kind;
	uint64_t offset; /* on the drive: of the byte if one is wrong, else of the sector
			  */
	char expected[48], seen[48];
};

/* Blocks with a later generation than was acknowledged, or that may have one. */
struct verify_later {
	uint64_t blocks; /* all of them */
	uint64_t there;	 /* a later one is there */
	uint64_t partly; /* there in some sectors */
};

struct verify_report {
	uint64_t sectors[VERIFY_KINDS];
	struct verify_finding first[VERIFY_FINDINGS];
	unsigned n; /* of first */
	/* verify_scan only. begun: the journal knows of such writes. forgotten: it knows
	 * of none, and the host has stopped since. */
	struct verify_later begun, forgotten;
	/* Ports only: how often a write met one in flight and had to go elsewhere. */
	uint64_t redraws;
};

/* verify_merge adds one report to another. */
void verify_merge(struct verify_report *to, const struct verify_report *from);

/* verify_new_finding returns the next finding to fill, or NULL when all are kept. */
struct verify_finding *verify_new_finding(struct verify_report *r);

/* verify_bad returns the sectors that are not as they should be. */
uint64_t verify_bad(const struct verify_report *r);

/* verify_kind_name returns "good", "unknown", "flipped" and so on. */
const char *verify_kind_name(enum verify_kind kind);

#endif
