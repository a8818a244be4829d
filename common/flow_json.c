/* The base form of a stream, as run programs have it. */

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/flow.h"
#include "common/json.h"

#define AT_MAX 160

static const char *const spread_names[] = {
	[SPREAD_UNIFORM] = "uniform",
	[SPREAD_ZIPF] = "zipf",
	[SPREAD_ZONES] = "zones",
};

const char *
spread_name(enum spread spread)
{
	return spread_names[spread];
}

static json_t *
blocks_to_json(const struct block_mix *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n; i++) {
		json_t *o = json_object();

		json_put(o, "bytes", json_integer(m->list[i].bytes));
		json_put(o, "percent", json_real(m->list[i].percent));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
spread_to_json(const struct flow *s)
{
	json_t *o = json_object();
	json_t *list;

	json_put(o, "kind", json_string(spread_name(s->spread)));
	if (s->spread == SPREAD_ZIPF)
		json_put(o, "theta", json_real(s->theta));
	if (s->spread != SPREAD_ZONES)
		return o;
	list = json_array();
	for (size_t i = 0; i < s->n_zones; i++) {
		json_t *zone = json_object();

		json_put(zone, "space_percent", json_real(s->zones[i].space_percent));
		json_put(zone, "share_percent", json_real(s->zones[i].share_percent));
		json_array_append_new(list, zone);
	}
	json_put(o, "zones", list);
	return o;
}

json_t *
flow_to_json(const struct flow *s)
{
	json_t *o = json_object();

	json_put(o, "share_percent", json_real(s->share_percent));
	json_put(o, "read_percent", json_real(s->read_percent));
	json_put(o, "operation", json_string(operation_name(s->operation)));
	json_put(o, "random_percent", json_real(s->random_percent));
	json_put(o, "read_blocks", blocks_to_json(&s->blocks[DIR_READ]));
	json_put(o, "write_blocks", blocks_to_json(&s->blocks[DIR_WRITE]));
	json_put(o, "align_bytes", json_integer(s->align_bytes));
	json_put(o, "from_percent", json_real(s->from_percent));
	json_put(o, "to_percent", json_real(s->to_percent));
	json_put(o, "cursors", json_integer(s->cursors));
	json_put(o, "distribution", spread_to_json(s));
	return o;
}

static int
blocks_from_json(const json_t *o, const char *at, const char *name, struct block_mix *m,
	struct err *e)
{
	static const char *const names[] = {"bytes", "percent", NULL};
	json_t *list, *item;
	size_t i;

	if (json_need_array(o, at, name, &list, e) != 0)
		return -1;
	json_array_foreach (list, i, item) {
		char below[AT_MAX];
		int64_t bytes;
		double percent;

		snprintf(below, sizeof(below), "%s/%s/%zu", at, name, i);
		if (json_only(item, below, names, e) != 0 ||
			json_need_int(item, below, "bytes", 1, FLOW_BLOCK_MAX, &bytes,
				e) != 0 ||
			json_need_real(item, below, "percent", &percent, e) != 0)
			return -1;
		if (block_mix_add(m, (uint64_t)bytes, percent, e) != 0)
			return err_at(e, "%s", below);
	}
	return 0;
}

static int
zones_from_json(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	static const char *const names[] = {"space_percent", "share_percent", NULL};
	json_t *list, *item;
	size_t i;

	if (json_need_array(o, at, "zones", &list, e) != 0)
		return -1;
	json_array_foreach (list, i, item) {
		char below[AT_MAX + 32];
		double space, share;

		snprintf(below, sizeof(below), "%s/zones/%zu", at, i);
		if (json_only(item, below, names, e) != 0 ||
			json_need_real(item, below, "space_percent", &space, e) != 0 ||
			json_need_real(item, below, "share_percent", &share, e) != 0)
			return -1;
		if (flow_add_zone(s, space, share, e) != 0)
			return err_at(e, "%s", below);
	}
	s->spread = SPREAD_ZONES;
	return 0;
}

static int
spread_from_json(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	static const char *const names[][4] = {
		[SPREAD_UNIFORM] = {"kind", NULL},
		[SPREAD_ZIPF] = {"kind", "theta", NULL},
		[SPREAD_ZONES] = {"kind", "zones", NULL},
	};
	const char *kind;
	double theta;
	size_t i = 0;

	if (json_need_text(o, at, "kind", &kind, e) != 0)
		return -1;
	while (i < 3 && strcmp(spread_names[i], kind) != 0)
		i++;
	if (i == 3) {
		err_set(e, ERR_INVALID, "a distribution cannot be \"%.40s\"", kind);
		err_fix(e, "known here: uniform, zipf, zones");
		return err_at(e, "%s/kind", at);
	}
	if (json_only(o, at, names[i], e) != 0)
		return -1;
	s->spread = (enum spread)i;
	if (s->spread == SPREAD_ZONES)
		return zones_from_json(o, at, s, e);
	if (s->spread == SPREAD_UNIFORM)
		return 0;
	if (json_need_real(o, at, "theta", &theta, e) != 0)
		return -1;
	return flow_set_theta(s, theta, e) == 0 ? 0 : err_at(e, "%s/theta", at);
}

static int
operation_from_json(
	const json_t *o, const char *at, enum operation *ret_op, struct err *e)
{
	const char *name;

	if (json_need_text(o, at, "operation", &name, e) != 0)
		return -1;
	return operation_named(name, ret_op, e) == 0 ? 0 : err_at(e, "%s/operation", at);
}

int
flow_from_json(const json_t *o, const char *at, struct flow *ret_s, struct err *e)
{
	static const char *const names[] = {"share_percent", "read_percent", "operation",
		"random_percent", "read_blocks", "write_blocks", "align_bytes",
		"from_percent", "to_percent", "cursors", "distribution", NULL};
	struct flow *s = ret_s;
	int64_t align, cursors;
	char below[AT_MAX];
	json_t *spread;

	memset(s, 0, sizeof(*s));
	snprintf(below, sizeof(below), "%s/distribution", at);
	if (json_only(o, at, names, e) != 0 ||
		json_need_real(o, at, "share_percent", &s->share_percent, e) != 0 ||
		json_need_real(o, at, "read_percent", &s->read_percent, e) != 0 ||
		operation_from_json(o, at, &s->operation, e) != 0 ||
		json_need_real(o, at, "random_percent", &s->random_percent, e) != 0 ||
		json_need_real(o, at, "from_percent", &s->from_percent, e) != 0 ||
		json_need_real(o, at, "to_percent", &s->to_percent, e) != 0 ||
		blocks_from_json(o, at, "read_blocks", &s->blocks[DIR_READ], e) != 0 ||
		blocks_from_json(o, at, "write_blocks", &s->blocks[DIR_WRITE], e) != 0 ||
		json_need_int(o, at, "align_bytes", 0, FLOW_BLOCK_MAX, &align, e) != 0 ||
		json_need_int(o, at, "cursors", 1, FLOW_CURSORS_MAX, &cursors, e) != 0 ||
		json_need_object(o, at, "distribution", &spread, e) != 0 ||
		spread_from_json(spread, below, s, e) != 0)
		return -1;
	s->align_bytes = (uint32_t)align;
	s->cursors = (uint32_t)cursors;
	return flow_check(s, e) == 0 ? 0 : err_at(e, "%s", at);
}
