#include "controller/state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "controller/event.h"
#include "controller/store.h"

static int
current(struct tx *t, const struct state_variable *v, int64_t id, int *ret_from,
	struct err *e)
{
	char letter[2] = {v->letter, '\0'};
	char *text = NULL;
	int found = tx_text(t, &text, e, v->select, "i", id);

	if (found < 0)
		return -1;
	if (found == 0)
		return err_set(e, ERR_NOTFOUND, "there is no %s %s%" PRId64, v->object,
			letter, id);
	*ret_from = fsm_state(v->fsm, text);
	free(text);
	assert(*ret_from >= 0); /* the CHECK of the column has the same names */
	return 0;
}

int
state_apply(struct tx *t, const struct state_variable *v, struct state_change *c,
	struct err *e)
{
	struct transition x = {.object = v->object,
		.id = c->id,
		.variable = v->variable,
		.why = c->why,
		.actor = c->actor};
	char letter[2] = {v->letter, '\0'};

	if (current(t, v, c->id, &c->from, e) != 0)
		return -1;
	c->to = fsm_next(v->fsm, c->from, c->event);
	if (c->to < 0)
		return err_set(e, ERR_STATE,
			"%s %s%" PRId64 ": \"%s\" is not possible while its %s is %s",
			v->object, letter, c->id, v->fsm->events[c->event], v->variable,
			v->fsm->states[c->from]);
	if (c->to == c->from)
		return 0;
	x.from = v->fsm->states[c->from];
	x.to = v->fsm->states[c->to];
	if (tx_exec(t, e, v->update, "si", x.to, c->id) != 0)
		return -1;
	return event_transition(t, &x, e);
}
