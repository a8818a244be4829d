#include "runner/prepare.h"

#include <inttypes.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/program.h"
#include "common/str.h"
#include "runner/outbox.h"
#include "runner/steps.h"
#include "runner/witness.h"

/* Tells what was decided; why: a part of a sentence. */
static void
tell(const struct steps_env *env, const struct step *step, uint32_t number, bool skipped,
	const char *why)
{
	json_t *o = json_object();

	json_put(o, "step", json_integer(number));
	json_put(o, "kind", json_string(step_kind_name(step->kind)));
	json_put(o, "passes", json_integer(step->passes));
	json_put(o, "since_run", json_u64(step->unless.run));
	json_put(o, "text", json_text(why));
	outbox_event(env->outbox, skipped ? "prepare.skipped" : "prepare.repeated", o);
}

/* Whether the drive is as it was left; what has changed is appended to why. */
static bool
is_as_left(const struct steps_env *env, const struct unless *u, struct str *why)
{
	char now[WITNESS_MAX];
	struct err e = {0};

	if (env->witness == NULL || env->witness(env->arg, now, &e) != 0) {
		str_printf(why, "it cannot be told whether it is as r%" PRIu64 " left it",
			u->run);
		if (e.class != ERR_NONE)
			str_printf(why, ": %s", e.text);
		return false;
	}
	if (strcmp(now, u->witness) == 0) {
		str_printf(why,
			"r%" PRIu64 " left the drive so, nothing has written to it since",
			u->run);
		return true;
	}
	str_printf(why, "since r%" PRIu64 " left the drive ", u->run);
	witness_differ(u->witness, now, why);
	return false;
}

bool
prepare_is_needless(const struct steps_env *env, const struct step *step, uint32_t number,
	bool changed)
{
	struct str why = {0};
	bool skip = false;

	if (step->unless.run == 0)
		return false;
	if (changed)
		str_puts(&why, "a step before it has changed the drive");
	else
		skip = is_as_left(env, &step->unless, &why);
	tell(env, step, number, skip, str_text(&why));
	str_fini(&why);
	return skip;
}
