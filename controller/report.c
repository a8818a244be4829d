#include "controller/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/xalloc.h"

#define TEXT_MAX 127
#define TROUBLE_MAX 255 /* a sentence, with a path in it */

static int
text_up_to(const json_t *o, const char *at, const char *name, size_t max,
	const char **ret_text, struct err *e)
{
	if (json_need_text(o, at, name, ret_text, e) != 0)
		return -1;
	if (strlen(*ret_text) <= max)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is longer than %zu bytes", name, max);
	return err_at(e, "%s/%s", at, name);
}

static int
short_text(const json_t *o, const char *at, const char *name, const char **ret_text,
	struct err *e)
{
	return text_up_to(o, at, name, TEXT_MAX, ret_text, e);
}

/* protocol: [least, most]; an agent that does not say speaks the first one. */
static int
read_protocol(const json_t *doc, struct report *r, struct err *e)
{
	const json_t *pair = json_object_get(doc, "protocol");
	const json_t *low = json_array_get(pair, 0);
	const json_t *high = json_array_get(pair, 1);

	r->protocol_min = r->protocol_max = 1;
	if (!json_has(doc, "protocol"))
		return 0;
	if (json_array_size(pair) != 2 || !json_is_integer(low) ||
		!json_is_integer(high) ||
		json_integer_value(low) > json_integer_value(high)) {
		err_set(e, ERR_INVALID,
			"\"protocol\" is the lowest and the highest version: [1, 1]");
		return err_at(e, "/protocol");
	}
	r->protocol_min = json_integer_value(low);
	r->protocol_max = json_integer_value(high);
	return 0;
}

static int
read_head(const json_t *doc, struct report *r, struct err *e)
{
	const char *session;

	r->version = "";
	r->trouble = "";
	r->wait_s = REPORT_WAIT_S_MAX;
	if (short_text(doc, "", "boot_id", &r->boot_id, e) != 0 ||
		(json_has(doc, "version") &&
			short_text(doc, "", "version", &r->version, e) != 0) ||
		(json_has(doc, "trouble") && text_up_to(doc, "", "trouble", TROUBLE_MAX,
						     &r->trouble, e) != 0) ||
		(json_has(doc, "wait_s") &&
			json_need_int(doc, "", "wait_s", 0, 600, &r->wait_s, e) != 0) ||
		(json_has(doc, "epoch_seen") &&
			json_need_u64(doc, "", "epoch_seen", &r->epoch_seen, e) != 0))
		return -1;
	if (r->wait_s > REPORT_WAIT_S_MAX)
		r->wait_s = REPORT_WAIT_S_MAX;
	if (!json_has(doc, "session"))
		return read_protocol(doc, r, e);
	if (json_need_text(doc, "", "session", &session, e) != 0)
		return -1;
	if (seal_unbase64(session, r->session, sizeof(r->session), e) != 0)
		return err_at(e, "/session");
	r->has_session = true;
	return read_protocol(doc, r, e);
}

static int
read_drive(const json_t *item, size_t i, struct sighting *s, struct err *e)
{
	static const char *const names[] = {"id", "path", "protected", NULL};
	char at[48];
	json_t *id;

	snprintf(at, sizeof(at), "/drives/%zu", i);
	if (json_only(item, at, names, e) != 0 ||
		json_need_object(item, at, "id", &id, e) != 0 ||
		json_need_text(item, at, "path", &s->path, e) != 0)
		return -1;
	s->protected = json_text_of(item, "protected");
	snprintf(at, sizeof(at), "/drives/%zu/id", i);
	if (drive_from_json(id, at, &s->id, e) != 0)
		return -1;
	if (s->id.capacity_bytes > INT64_MAX) {
		err_set(e, ERR_INVALID, "a drive is smaller than 8 EiB");
		return err_at(e, "%s/capacity_bytes", at);
	}
	return 0;
}

static int
read_drives(const json_t *doc, struct report *r, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (json_need_array(doc, "", "drives", &list, e) != 0)
		return -1;
	if (json_array_size(list) > REPORT_DRIVES_MAX) {
		err_set(e, ERR_LIMIT, "a node has at most %d drives", REPORT_DRIVES_MAX);
		return err_at(e, "/drives");
	}
	r->n_drives = json_array_size(list);
	r->drives = xcalloc(r->n_drives + 1, sizeof(*r->drives));
	json_array_foreach (list, i, item) {
		if (read_drive(item, i, &r->drives[i], e) != 0)
			return -1;
	}
	return 0;
}

static int
read_fences(const json_t *doc, struct report *r, struct err *e)
{
	const char *serial;
	json_t *fences, *value;

	if (!json_has(doc, "fences"))
		return 0;
	if (json_need_object(doc, "", "fences", &fences, e) != 0)
		return -1;
	json_object_foreach (fences, serial, value) {
		const char *text = json_string_value(value);
		uint64_t fence;

		if (parse_uint(text != NULL ? text : "", 0, INT64_MAX, &fence, e) != 0)
			return err_at(e, "/fences/%.64s", serial);
		if (fence > r->fence)
			r->fence = fence;
	}
	if (r->fence >> 32 > r->epoch_seen)
		r->epoch_seen = r->fence >> 32;
	return 0;
}

/* Of the status only what matters for a stop. */
static int
read_cannot_stop(
	const json_t *item, const char *at, struct reported_attempt *a, struct err *e)
{
	const json_t *status = json_object_get(item, "status");
	char in[64];

	a->cannot_stop = "";
	if (!json_has(status, "cannot_stop"))
		return 0;
	snprintf(in, sizeof(in), "%s/status", at);
	return short_text(status, in, "cannot_stop", &a->cannot_stop, e);
}

/* The number and the token of an attempt. */
static int
read_token(const json_t *item, const char *at, int64_t *ret_id, uint64_t *ret_fence,
	struct err *e)
{
	uint64_t id;

	if (json_need_u64(item, at, "attempt", &id, e) != 0 ||
		json_need_u64(item, at, "fence", ret_fence, e) != 0)
		return -1;
	if (id == 0 || id > INT64_MAX) {
		err_set(e, ERR_INVALID, "\"attempt\" is the number of no attempt");
		return err_at(e, "%s/attempt", at);
	}
	*ret_id = (int64_t)id;
	return 0;
}

static int
read_attempt(const json_t *item, size_t i, struct reported_attempt *a, struct err *e)
{
	static const char *const states[] = {"starting", "running", "exited"};
	const char *state;
	char at[48];

	snprintf(at, sizeof(at), "/attempts/%zu", i);
	if (read_token(item, at, &a->id, &a->fence, e) != 0 ||
		json_need_text(item, at, "state", &state, e) != 0 ||
		read_cannot_stop(item, at, a, e) != 0)
		return -1;
	for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
		if (strcmp(states[k], state) != 0)
			continue;
		a->state = (enum reported_state)k;
		return 0;
	}
	err_set(e, ERR_INVALID, "\"state\" is starting, running or exited");
	return err_at(e, "%s/state", at);
}

static int
compare_attempts(const void *a, const void *b)
{
	int64_t x = ((const struct reported_attempt *)a)->id;
	int64_t y = ((const struct reported_attempt *)b)->id;

	return (x > y) - (x < y);
}

static int
read_attempts(const json_t *doc, struct report *r, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (json_need_array(doc, "", "attempts", &list, e) != 0)
		return -1;
	if (json_array_size(list) > REPORT_ATTEMPTS_MAX) {
		err_set(e, ERR_LIMIT, "a report has at most %d attempts",
			REPORT_ATTEMPTS_MAX);
		return err_at(e, "/attempts");
	}
	r->n_attempts = json_array_size(list);
	r->attempts = xcalloc(r->n_attempts + 1, sizeof(*r->attempts));
	json_array_foreach (list, i, item) {
		if (read_attempt(item, i, &r->attempts[i], e) != 0)
			return -1;
	}
	qsort(r->attempts, r->n_attempts, sizeof(*r->attempts), compare_attempts);
	for (i = 1; i < r->n_attempts; i++) {
		if (r->attempts[i].id != r->attempts[i - 1].id)
			continue;
		err_set(e, ERR_INVALID, "attempt %lld is listed twice",
			(long long)r->attempts[i].id);
		return err_at(e, "/attempts");
	}
	return 0;
}

/* An agent that was not asked for any leaves the list out. */
static int
read_unknown(const json_t *doc, struct report *r, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (!json_has(doc, "unknown"))
		return 0;
	if (json_need_array(doc, "", "unknown", &list, e) != 0)
		return -1;
	if (json_array_size(list) > REPORT_ATTEMPTS_MAX) {
		err_set(e, ERR_LIMIT, "a report has at most %d attempts",
			REPORT_ATTEMPTS_MAX);
		return err_at(e, "/unknown");
	}
	r->n_unknown = json_array_size(list);
	r->unknown = xcalloc(r->n_unknown + 1, sizeof(*r->unknown));
	json_array_foreach (list, i, item) {
		char at[48];

		snprintf(at, sizeof(at), "/unknown/%zu", i);
		if (read_token(item, at, &r->unknown[i].id, &r->unknown[i].fence, e) != 0)
			return -1;
	}
	return 0;
}

static int
read_clock(const json_t *doc, struct report *r, struct err *e)
{
	uint64_t node, lab, doubt;
	json_t *clock;

	if (!json_has(doc, "clock") || json_is_null(json_object_get(doc, "clock")))
		return 0;
	if (json_need_object(doc, "", "clock", &clock, e) != 0 ||
		json_need_u64(clock, "/clock", "node_ns", &node, e) != 0 ||
		json_need_u64(clock, "/clock", "lab_ns", &lab, e) != 0 ||
		json_need_u64(clock, "/clock", "doubt_ns", &doubt, e) != 0)
		return -1;
	if (node > INT64_MAX || lab > INT64_MAX || doubt > INT64_MAX) {
		err_set(e, ERR_INVALID, "no clock shows that");
		return err_at(e, "/clock");
	}
	r->has_clock = true;
	r->clock_ahead_ns = (int64_t)node - (int64_t)lab;
	r->clock_doubt_ns = (int64_t)doubt;
	return 0;
}

int
report_parse(const json_t *doc, struct report *ret_r, struct err *e)
{
	memset(ret_r, 0, sizeof(*ret_r));
	if (!json_is_object(doc))
		return err_set(e, ERR_INVALID, "the body must be an object");
	if (read_head(doc, ret_r, e) != 0 || read_drives(doc, ret_r, e) != 0 ||
		read_fences(doc, ret_r, e) != 0 || read_clock(doc, ret_r, e) != 0 ||
		read_unknown(doc, ret_r, e) != 0)
		return -1;
	return read_attempts(doc, ret_r, e);
}

void
report_fini(struct report *r)
{
	free(r->drives);
	free(r->attempts);
	free(r->unknown);
	memset(r, 0, sizeof(*r));
}

const struct reported_attempt *
report_find(const struct report *r, int64_t attempt)
{
	struct reported_attempt key = {.id = attempt};

	if (r->n_attempts == 0)
		return NULL;
	return bsearch(&key, r->attempts, r->n_attempts, sizeof(key), compare_attempts);
}

bool
report_disowns(const struct report *r, int64_t attempt, uint64_t fence)
{
	for (size_t i = 0; i < r->n_unknown; i++)
		if (r->unknown[i].id == attempt && r->unknown[i].fence == fence)
			return true;
	return false;
}
