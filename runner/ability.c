#include "runner/ability.h"

#include <stddef.h>

#include "common/err.h"
#include "common/program.h"
#include "runner/engine.h"

/* Engines want whole pages. */
#define BUFFER_BYTES 4096

static unsigned
operations_of(const struct program *p)
{
	unsigned all = 0;

	for (size_t i = 0; i < p->n_steps; i++) {
		const struct step *s = &p->steps[i];

		if (s->kind == STEP_WORKLOAD)
			all |= workload_operations(&s->workload);
		for (size_t k = 0; s->kind == STEP_ROUNDS && k < s->rounds.n_cells; k++)
			all |= workload_operations(&s->rounds.cells[k].workload);
	}
	return all;
}

static int
try(const struct engine_ops *engine, const struct engine_config *c, struct err *e)
{
	struct engine *g = NULL;

	if (engine->open(&g, c, e) != 0)
		return -1;
	engine->close(g);
	return 0;
}

int
ability_check(const struct program *p, const struct engine_ops *engine, int fd,
	const char *script, struct err *e)
{
	_Alignas(BUFFER_BYTES) unsigned char buffer[BUFFER_BYTES] = {0};
	struct engine_config c = {
		.fd = fd,
		.depth = 1,
		.buffers = buffer,
		.buffer_bytes = BUFFER_BYTES,
		.script = script,
	};
	unsigned operations = operations_of(p);
	int rc;

	if ((operations & ~(1U << OP_WRITE)) == 0)
		return 0;
	/* What fails without any of them is the host's affair. */
	rc = try(engine, &c, e);
	c.operations = operations;
	if (rc == 0 && (rc = try(engine, &c, e)) != 0 && e->class == ERR_STATE)
		e->class = ERR_LIMIT;
	return rc;
}
