/* A suite as people write it: the inverse of suite_parse. */

#include <stdio.h>
#include <string.h>

#include "cli/convert.h"
#include "common/flow.h"
#include "common/json.h"
#include "common/parse.h"

/* Digits behind the point that a percentage is written with; what 16 roundings lose stays
 * far below what share_is_whole forgives. */
#define PERCENT_DIGITS 8

static json_t *
percent(double x)
{
	char text[40];
	size_t n;

	snprintf(text, sizeof(text), "%.*f", PERCENT_DIGITS, x);
	n = strlen(text);
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	snprintf(text + n, sizeof(text) - n, "%%");
	return json_string(text);
}

static json_t *
size(uint64_t bytes)
{
	char text[40];

	return json_string(format_size(bytes, text, sizeof(text)));
}

static json_t *
duration(int64_t ns)
{
	char text[40];

	return json_string(format_duration(ns, text, sizeof(text)));
}

static json_t *
blocks(const struct block_mix *m)
{
	json_t *o;

	if (m->n == 1)
		return size(m->list[0].bytes);
	o = json_object();
	for (size_t i = 0; i < m->n; i++) {
		char text[40];

		format_size(m->list[i].bytes, text, sizeof(text));
		json_put(o, text, percent(m->list[i].percent));
	}
	return o;
}

static void
put_blocks(json_t *o, const struct flow *s)
{
	bool reads = flow_uses_blocks(s, DIR_READ);
	bool writes = flow_uses_blocks(s, DIR_WRITE);

	if (reads && writes &&
		!block_mix_equal(&s->blocks[DIR_READ], &s->blocks[DIR_WRITE])) {
		json_put(o, "read_block", blocks(&s->blocks[DIR_READ]));
		json_put(o, "write_block", blocks(&s->blocks[DIR_WRITE]));
		return;
	}
	json_put(o, "block", blocks(&s->blocks[reads ? DIR_READ : DIR_WRITE]));
}

static void
put_distribution(json_t *o, const struct flow *s)
{
	json_t *list;

	if (s->spread == SPREAD_UNIFORM)
		return;
	if (s->spread == SPREAD_ZIPF) {
		json_put(o, "distribution", json_pack("{s:f}", "zipf", s->theta));
		return;
	}
	list = json_array();
	for (size_t i = 0; i < s->n_zones; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:o}", "space",
				      percent(s->zones[i].space_percent), "share",
				      percent(s->zones[i].share_percent)));
	json_put(o, "distribution", json_pack("{s:o}", "zones", list));
}

/* The members of a stream, without its share. */
static void
put_flow(json_t *o, const struct flow *s)
{
	json_put(o, "read", percent(s->read_percent));
	if (s->operation != OP_WRITE && s->read_percent < 100)
		json_put(o, "operation", json_string(operation_name(s->operation)));
	if (s->operation == OP_FLUSH && s->read_percent <= 0)
		return;
	if (s->random_percent >= 100 || s->random_percent <= 0)
		json_put(o, "access",
			json_string(s->random_percent > 0 ? "random" : "sequential"));
	else
		json_put(o, "random", percent(s->random_percent));
	put_blocks(o, s);
	if (s->align_bytes != 0 && s->random_percent > 0)
		json_put(o, "align", size(s->align_bytes));
	if (s->from_percent > 0 || s->to_percent < 100)
		json_put(o, "region",
			json_pack("{s:o, s:o}", "from", percent(s->from_percent), "to",
				percent(s->to_percent)));
	if (s->cursors > 1 && s->random_percent < 100)
		json_put(o, "cursors", json_integer(s->cursors));
	if (s->random_percent > 0)
		put_distribution(o, s);
}

static json_t *
workload(const struct workload *w, const struct suite_rates *rates)
{
	json_t *o = json_pack("{s:s}", "id", w->id);
	json_t *list;

	if (w->n_streams == 1) {
		put_flow(o, &w->streams[0]);
	} else {
		list = json_array();
		for (size_t i = 0; i < w->n_streams; i++) {
			json_t *item = json_object();

			json_put(item, "share", percent(w->streams[i].share_percent));
			put_flow(item, &w->streams[i]);
			json_array_append_new(list, item);
		}
		json_put(o, "streams", list);
	}
	json_put(o, "in_flight", json_integer(w->in_flight));
	if (w->workers > 1)
		json_put(o, "workers", json_integer(w->workers));
	if (rates->n == 0)
		return o;
	list = json_array();
	for (size_t i = 0; i < rates->n; i++)
		json_array_append_new(list, json_integer((json_int_t)rates->iops[i]));
	json_put(o, "rates_iops", list);
	return o;
}

static json_t *
times(int64_t warmup_ns, int64_t measure_ns)
{
	return json_pack("{s:o, s:o}", "warmup", duration(warmup_ns), "measure",
		duration(measure_ns));
}

static json_t *
ramp(const struct ramp *r, bool maximum)
{
	json_t *o = json_object();
	json_t *load;

	if (maximum)
		json_put(
			o, "maximum", times(r->maximum_warmup_ns, r->maximum_measure_ns));
	json_put(o, "point", times(r->warmup_ns, r->measure_ns));
	json_put(o, "arrivals",
		json_string(r->arrivals == ARRIVALS_FIXED ? "fixed" : "poisson"));
	if (!maximum)
		return o;
	load = json_array();
	for (size_t i = 0; i < r->n_loads; i++)
		json_array_append_new(load, percent(r->load_percent[i]));
	json_put(o, "load", load);
	return o;
}

json_t *
convert_suite_json(const struct suite *s)
{
	json_t *o = json_object();
	json_t *list = json_array();

	if (s->fill_passes > 0)
		json_put(o, "prepare",
			json_pack("{s:{s:i, s:o, s:i}}", "fill", "passes",
				(int)s->fill_passes, "block", size(s->fill_block_bytes),
				"in_flight", (int)s->fill_in_flight));
	if (s->data.compress_percent > 0 || s->data.dedupe_percent > 0)
		json_put(o, "data",
			json_pack("{s:o, s:o}", "compress",
				percent(s->data.compress_percent), "dedupe",
				percent(s->data.dedupe_percent)));
	json_put(o, "region", percent(s->region_percent));
	json_put(o, "ramp", ramp(&s->ramp, suite_wants_maximum(s)));
	for (size_t i = 0; i < s->n_workloads; i++)
		json_array_append_new(list, workload(&s->workloads[i], &s->rates[i]));
	json_put(o, "workloads", list);
	return o;
}
