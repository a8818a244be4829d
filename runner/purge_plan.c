#include "runner/purge_plan.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"

static const char *const names[PURGE_METHODS] = {
	[PURGE_SANITIZE] = "sanitize",
	[PURGE_FORMAT] = "format",
	[PURGE_DISCARD] = "discard",
	[PURGE_ZERO] = "zero",
};

const char *
purge_method_name(enum purge_method m)
{
	assert((unsigned)m < PURGE_METHODS);
	return names[m];
}

bool
purge_can_stop(enum purge_method m)
{
	return m == PURGE_DISCARD || m == PURGE_ZERO;
}

/* Why a command that reaches all namespaces of the subsystem would reach another one. */
static bool
reaches_others(const struct nvme_offer *n, const char *what, char why[PURGE_WHY_MAX])
{
	if (n->others > 0)
		snprintf(why, PURGE_WHY_MAX, "%s would erase %u other namespace%s, too",
			what, (unsigned)n->others, n->others == 1 ? "" : "s");
	else if (!n->others_known)
		snprintf(why, PURGE_WHY_MAX,
			"%s might erase other namespaces, which only another controller "
			"of the drive could list",
			what);
	else
		return false;
	return true;
}

/* Whether the drive is one that NVMe commands can be sent to; why not goes to why. */
static bool
takes_nvme(const struct purge_offer *o, char why[PURGE_WHY_MAX])
{
	if (o->is_virtual)
		snprintf(why, PURGE_WHY_MAX, "a virtual drive has no such command");
	else if (o->kind != DRIVE_NVME)
		snprintf(why, PURGE_WHY_MAX,
			"it is sent to NVMe drives only, this one is %s",
			drive_kind_name(o->kind));
	else if (o->nvme_why[0] != '\0')
		snprintf(why, PURGE_WHY_MAX, "%.150s", o->nvme_why);
	else
		return true;
	return false;
}

static bool
can_sanitize(const struct purge_offer *o, char why[PURGE_WHY_MAX])
{
	if (!takes_nvme(o, why))
		return false;
	if (o->nvme.sanitize_block || o->nvme.sanitize_crypto)
		return !reaches_others(&o->nvme, "a sanitize", why);
	snprintf(why, PURGE_WHY_MAX,
		"the drive offers no sanitize by block erase or by a new key");
	return false;
}

static bool
can_format(const struct purge_offer *o, char why[PURGE_WHY_MAX])
{
	if (!takes_nvme(o, why))
		return false;
	if (o->nvme.formats)
		return !o->nvme.format_reaches_all ||
		       !reaches_others(&o->nvme, "a format", why);
	snprintf(why, PURGE_WHY_MAX, "the drive offers no format");
	return false;
}

static bool
can_discard(const struct purge_offer *o, char why[PURGE_WHY_MAX])
{
	if (!o->discards)
		snprintf(why, PURGE_WHY_MAX, "the drive knows no discard");
	return o->discards;
}

static bool
can_zero(const struct purge_offer *o, char why[PURGE_WHY_MAX])
{
	if (!o->is_virtual)
		snprintf(why, PURGE_WHY_MAX,
			"zeroes would fill a real drive, not purge it");
	return o->is_virtual;
}

int
purge_choose(const struct purge_offer *o, struct purge_choice *ret_c, struct err *e)
{
	static bool (*const can[PURGE_METHODS])(
		const struct purge_offer *, char[PURGE_WHY_MAX]) = {
		[PURGE_SANITIZE] = can_sanitize,
		[PURGE_FORMAT] = can_format,
		[PURGE_DISCARD] = can_discard,
		[PURGE_ZERO] = can_zero,
	};

	memset(ret_c, 0, sizeof(*ret_c));
	ret_c->nvme = o->nvme;
	ret_c->sanitize = o->nvme.sanitize_block ? NVME_SANITIZE_BLOCK
						 : NVME_SANITIZE_CRYPTO;
	for (int m = 0; m < PURGE_METHODS; m++) {
		ret_c->method = (enum purge_method)m;
		if (can[m](o, ret_c->why_not[m]))
			return 0;
	}
	err_set(e, ERR_LIMIT, "nothing purges this drive: %.110s; %.110s; %.80s; %.80s",
		ret_c->why_not[PURGE_SANITIZE], ret_c->why_not[PURGE_FORMAT],
		ret_c->why_not[PURGE_DISCARD], ret_c->why_not[PURGE_ZERO]);
	return err_fix(e, "use a suite without \"purge\", or purge it with its vendor's "
			  "tool before");
}

int
purge_judge(
	enum purge_method m, bool is_virtual, const struct purge_seen *s, struct err *e)
{
	const char *name = purge_method_name(m);

	if (m == PURGE_ZERO || (m == PURGE_DISCARD && is_virtual)) {
		if (s->zero == s->blocks)
			return 0;
		return err_set(e, ERR_IO,
			"after the purge by %s %u of %u sampled blocks are not zeroes",
			name, s->blocks - s->zero, s->blocks);
	}
	if (m == PURGE_DISCARD ? s->unchanged * 2 <= s->held : s->unchanged == 0)
		return 0;
	return err_set(e, ERR_IO,
		"the purge by %s has not purged the drive: of %u sampled blocks with "
		"data %u read as before",
		name, s->held, s->unchanged);
}
