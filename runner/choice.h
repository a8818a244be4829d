/*
 * choice - the demand that a test takes over from an earlier one, by what was measured.
 *
 * Figures are kept of the last rounds of each test, as many as a window can have, and are
 * the same whether a runner has measured them or has read them back from the spool; so is
 * the choice. Pure; one thread.
 */
#ifndef RUNNER_CHOICE_H
#define RUNNER_CHOICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/demand.h"
#include "common/record.h"

struct program;

/* A cell of a round; of reads and writes together. */
struct figure {
	uint32_t step, round, cell; /* from 1 */
	uint64_t ops, length_ns;
	double lat_n, lat_sum_ns; /* service times */
};

/* The window of a test that has ended. */
struct figure_window {
	uint32_t step, first_round, last_round; /* rounds 0: none counts */
	bool steady;
};

/* Plain data that owns its lists; all 0 is empty. */
struct figures {
	struct figure *list;
	size_t n;
	struct figure_window *windows;
	size_t n_windows;
};

/* figures_add adds a cell that was measured; lat_n and lat_sum_ns of x are not looked at:
 * they are those of service. */
void figures_add(
	struct figures *f, const struct figure *x, const struct hist service[DIRECTIONS]);

/* figures_end notes how a test ended, as its event "steady" tells it. */
void figures_end(struct figures *f, const json_t *steady);

/* figures_copy makes *ret_f a copy of f; owned (figures_fini). */
void figures_copy(struct figures *ret_f, const struct figures *f);

/* figures_fini frees what f owns. */
void figures_fini(struct figures *f);

/* What a test takes over. */
struct choice {
	bool made;
	struct demand_point point; /* of the cell; nothing of it unless made */
	json_t *doc; /* as the events tell it (schema/wire.md); owned by the caller */
};

/* choice_make chooses for step number `step` of p, which takes over a demand; why nothing
 * can be chosen is in the document. */
void choice_make(const struct program *p, uint32_t step, const struct figures *f,
	struct choice *ret_c);

#endif
