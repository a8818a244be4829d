#include "agent/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/scan.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"

static json_t *
drives_to_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->drives->n; i++) {
		const struct seen_drive *d = &v->drives->items[i];
		json_t *o = json_object();

		json_put(o, "id", drive_to_json(&d->id));
		json_put(o, "path", json_text(d->path));
		json_put(o, "protected", json_text(d->reasons));
		json_array_append_new(list, o);
	}
	return list;
}

/* The namespaces of one SSD have its serial in common: the highest token counts. */
static uint64_t
highest_fence(const struct view *v, const char *serial)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < v->drives->n; i++)
		if (strcmp(v->drives->items[i].id.serial, serial) == 0 &&
			v->fences[i] > highest)
			highest = v->fences[i];
	return highest;
}

static json_t *
fences_to_json(const struct view *v)
{
	json_t *o = json_object();

	for (size_t i = 0; i < v->drives->n; i++) {
		const char *serial = v->drives->items[i].id.serial;

		if (v->fences[i] != 0)
			json_put(o, serial, json_u64(highest_fence(v, serial)));
	}
	return o;
}

static json_t *
status_to_json(const struct attempt_view *a)
{
	json_t *o = json_object();

	json_put(o, "step", json_integer(a->step));
	json_put(o, "workload", json_text(a->workload));
	json_put(o, "point", json_integer(a->point));
	if (a->cannot_stop[0] != '\0')
		json_put(o, "cannot_stop", json_text(a->cannot_stop));
	return o;
}

static json_t *
attempts_to_json(const struct view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_attempts; i++) {
		const struct attempt_view *a = &v->attempts[i];
		const char *state = attempt_reported(a->state);
		json_t *o;

		if (state[0] == '\0')
			continue;
		o = json_object();
		json_put(o, "attempt", json_u64(a->id));
		json_put(o, "fence", json_u64(a->fence));
		json_put(o, "state", json_string(state));
		json_put(o, "last_seq", json_u64(a->last_seq));
		json_put(o, "acked_seq", json_u64(a->acked_seq));
		json_put(o, "status", status_to_json(a));
		if (a->blocked[0] != '\0')
			json_put(o, "blocked", json_text(a->blocked));
		json_array_append_new(list, o);
	}
	return list;
}

/* Two readings of one instant, so that neither is negative. */
static json_t *
clock_to_json(const struct view *v)
{
	json_t *o;

	if (v->clock_doubt_ns < 0)
		return json_null();
	o = json_object();
	json_put(o, "node_ns", json_u64((uint64_t)v->clock_ns));
	json_put(o, "lab_ns", json_u64((uint64_t)v->lab_clock_ns));
	json_put(o, "doubt_ns", json_u64((uint64_t)v->clock_doubt_ns));
	return o;
}

json_t *
reconcile_report(const struct view *v)
{
	json_t *o = json_object();

	json_put(o, "boot_id", json_text(v->boot_id));
	json_put(o, "version", json_text(v->version));
	json_put(o, "protocol", json_pack("[i, i]", 1, 1));
	json_put(o, "session", v->session != NULL ? json_text(v->session) : json_null());
	json_put(o, "wait_s", json_integer(v->wait_s));
	json_put(o, "drives", drives_to_json(v));
	json_put(o, "fences", fences_to_json(v));
	json_put(o, "epoch_seen", json_u64(v->epoch_seen));
	json_put(o, "trouble", json_text(v->trouble));
	json_put(o, "clock", clock_to_json(v));
	json_put(o, "attempts", attempts_to_json(v));
	/* The link's thread gets it: references are not counted atomically. */
	if (v->unknown != NULL)
		json_put(o, "unknown", json_deep_copy(v->unknown));
	return o;
}

/* A copy without what changes all the time. */
static json_t *
essence(const json_t *report)
{
	json_t *o = json_deep_copy(report);
	json_t *a;
	size_t i;

	json_object_del(o, "wait_s");
	json_object_del(o, "clock");
	json_array_foreach (json_object_get(o, "attempts"), i, a) {
		json_object_del(a, "last_seq");
		json_object_del(a, "acked_seq");
		json_object_del(a, "status");
	}
	return o;
}

bool
reconcile_same(const json_t *a, const json_t *b)
{
	json_t *x = essence(a), *y = essence(b);
	bool same = json_equal(x, y) == 1;

	json_decref(x);
	json_decref(y);
	return same;
}

/* One that is forgotten does not count: its number may come again for another. */
static const struct attempt_view *
find(const struct view *v, uint64_t id)
{
	for (size_t i = 0; i < v->n_attempts; i++)
		if (v->attempts[i].id == id && v->attempts[i].state != ATTEMPT_FORGOTTEN)
			return &v->attempts[i];
	return NULL;
}

static struct action *
add(struct answer *a, enum action_kind kind, uint64_t attempt)
{
	struct action *x;

	a->actions = xrealloc(a->actions, a->n + 1, sizeof(*a->actions));
	x = &a->actions[a->n++];
	memset(x, 0, sizeof(*x));
	x->kind = kind;
	x->attempt = attempt;
	return x;
}

static bool
is_named(const struct answer *a, uint64_t attempt)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->actions[i].attempt == attempt)
			return true;
	return false;
}

static int
read_start(const struct view *v, const json_t *o, const char *at, uint64_t id,
	struct answer *ret_a, struct err *e)
{
	json_t *program;
	uint64_t fence;

	if (json_need_u64(o, at, "fence", &fence, e) != 0)
		return -1;
	if (find(v, id) != NULL || ret_a->epoch_back)
		return 0;
	if (v->answer_age_ns > RECONCILE_FRESH_NS) {
		if (ret_a->late == 0)
			ret_a->late = id;
		return 0;
	}
	if (json_need_object(o, at, "program", &program, e) == 0) {
		struct action *x = add(ret_a, ACTION_START, id);

		x->fence = fence;
		x->program = json_incref(program);
		return 0;
	}
	return -1;
}

/* What the controller still has as under way and we have forgotten, or never had. */
static int
read_recall(const struct view *v, const json_t *o, const char *at, uint64_t id,
	struct answer *ret_a, struct err *e)
{
	uint64_t fence;
	json_t *unknown;

	if (json_need_u64(o, at, "fence", &fence, e) != 0)
		return -1;
	for (size_t i = 0; i < v->n_attempts; i++)
		if (v->attempts[i].id == id && v->attempts[i].fence == fence) {
			add(ret_a, ACTION_RECALL, id)->fence = fence;
			return 0;
		}
	unknown = json_object();
	json_put(unknown, "attempt", json_u64(id));
	json_put(unknown, "fence", json_u64(fence));
	if (ret_a->unknown == NULL)
		ret_a->unknown = json_array();
	json_array_append_new(ret_a->unknown, unknown);
	return 0;
}

/* One attempt of the answer. */
static int
read_duty(const struct view *v, const json_t *o, const char *at, struct answer *ret_a,
	struct err *e)
{
	const struct attempt_view *have;
	const char *what;
	uint64_t id;

	if (json_need_u64(o, at, "attempt", &id, e) != 0 ||
		json_need_text(o, at, "do", &what, e) != 0)
		return -1;
	if (is_named(ret_a, id)) {
		err_set(e, ERR_INVALID, "attempt %" PRIu64 " is named twice", id);
		return err_at(e, "%s/attempt", at);
	}
	have = find(v, id);
	if (strcmp(what, "start") == 0)
		return read_start(v, o, at, id, ret_a, e);
	if (strcmp(what, "stop") == 0) {
		if (have != NULL && attempt_has_process(have->state))
			snprintf(add(ret_a, ACTION_STOP, id)->why,
				sizeof(ret_a->actions->why), "%s",
				json_text_of(o, "why"));
		return 0;
	}
	if (strcmp(what, "forget") == 0) {
		if (have != NULL && !attempt_has_process(have->state))
			add(ret_a, ACTION_FORGET, id);
		return 0;
	}
	if (strcmp(what, "keep") == 0) {
		if (have == NULL)
			return read_recall(v, o, at, id, ret_a, e);
		if (attempt_has_process(have->state))
			add(ret_a, ACTION_KEEP, id);
		return 0;
	}
	err_set(e, ERR_INVALID, "\"%.20s\" is none of start, keep, stop and forget",
		what);
	return err_at(e, "%s/do", at);
}

/* An older controller does not tell its clock. */
static int
read_clock(const json_t *doc, struct answer *ret_a, struct err *e)
{
	json_t *clock;

	if (!json_has(doc, "clock"))
		return 0;
	if (json_need_object(doc, "", "clock", &clock, e) != 0 ||
		json_need_u64(clock, "/clock", "answered_ns", &ret_a->answered_ns, e) !=
			0)
		return -1;
	return json_need_u64(clock, "/clock", "held_ns", &ret_a->held_ns, e);
}

int
reconcile_compare(
	const struct view *v, const json_t *doc, struct answer *ret_a, struct err *e)
{
	json_t *list, *o;
	char at[48];
	size_t i;

	memset(ret_a, 0, sizeof(*ret_a));
	if (json_need_u64(doc, "", "epoch", &ret_a->epoch, e) != 0 ||
		json_need_bool(doc, "", "session_known", &ret_a->session_known, e) != 0 ||
		json_need_array(doc, "", "attempts", &list, e) != 0 ||
		read_clock(doc, ret_a, e) != 0)
		return -1;
	ret_a->epoch_back = ret_a->epoch < v->epoch_seen;
	json_array_foreach (list, i, o) {
		snprintf(at, sizeof(at), "/attempts/%zu", i);
		if (read_duty(v, o, at, ret_a, e) != 0) {
			answer_fini(ret_a);
			return -1;
		}
	}
	return 0;
}

void
answer_fini(struct answer *a)
{
	for (size_t i = 0; i < a->n; i++)
		json_decref(a->actions[i].program);
	json_decref(a->unknown);
	free(a->actions);
	memset(a, 0, sizeof(*a));
}
