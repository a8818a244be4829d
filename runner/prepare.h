/*
 * prepare - whether the purge or fill of a step is needed, as its program leaves it to
 * the runner to see (schema/program.md, "unless"). One thread.
 */
#ifndef RUNNER_PREPARE_H
#define RUNNER_PREPARE_H

#include <stdbool.h>
#include <stdint.h>

struct step;
struct steps_env;

/*
 * prepare_is_needless says whether the step can be skipped, and tells the outbox why it
 * is skipped or repeated. number: of the step; changed: a step before it in this attempt
 * may have changed the drive. A drive that cannot be looked at is prepared.
 */
bool prepare_is_needless(const struct steps_env *env, const struct step *step,
	uint32_t number, bool changed);

#endif
