#include "controller/event.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "controller/store.h"

int
event_add(struct tx *t, const char *name, const char *topic, json_t *data, struct err *e)
{
	struct str text = {0};
	int rc;

	assert(json_is_object(data));
	json_write(data, &text);
	rc = tx_exec(t, e,
		"INSERT INTO event (at_ns, name, topic, data) VALUES (?, ?, ?, ?)",
		"isss", tx_wall(t), name, topic, str_text(&text));
	if (rc == 0)
		tx_notify(t, NOTIFY_EVENTS, 0);
	str_fini(&text);
	json_decref(data);
	return rc;
}

/* Leases have no page of their own to follow: they are in the log only. */
static char
letter_of(const char *object)
{
	static const struct {
		const char *object;
		char letter;
	} rows[] = {{"campaign", 'c'}, {"run", 'r'}, {"node", 'n'}, {"drive", 'd'}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].object, object) == 0)
			return rows[i].letter;
	assert(strcmp(object, "lease") == 0 || strcmp(object, "attempt") == 0);
	return '\0';
}

/* Why may be a sentence of ours that was cut within a character. */
static json_t *
transition_data(const struct transition *x, const char *id)
{
	json_t *data = json_object();

	json_put(data, "id", json_string(id));
	json_put(data, "variable", json_string(x->variable));
	json_put(data, "from", json_string(x->from));
	json_put(data, "to", json_string(x->to));
	json_put(data, "why", json_text(x->why));
	return data;
}

int
event_transition(struct tx *t, const struct transition *x, struct err *e)
{
	char letter = letter_of(x->object);
	char id[24];
	char topic[48];
	char name[32];

	assert(x->variable != NULL && x->from != NULL && x->to != NULL);
	assert(x->why != NULL && x->actor != NULL);
	if (tx_exec(t, e,
		    "INSERT INTO transition (object, object_id, variable, from_state,"
		    " to_state, why, actor, wall_ns, mono_ns)"
		    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    "sisssssii", x->object, x->id, x->variable, x->from, x->to, x->why,
		    x->actor, tx_wall(t), tx_mono(t)) != 0)
		return -1;
	if (letter == '\0')
		return 0;
	snprintf(id, sizeof(id), "%c%" PRId64, letter, x->id);
	snprintf(topic, sizeof(topic), "%s:%s", x->object, id);
	snprintf(name, sizeof(name), "%s.state", x->object);
	return event_add(t, name, topic, transition_data(x, id), e);
}
