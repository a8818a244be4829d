/* The ramp of a suite: at which loads its workloads are measured, and for how long. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/suite_priv.h"

/* A point shorter than this has no rate worth the name; longer ones are soak tests. */
#define MEASURE_MIN_NS (100 * NS_PER_MS)
#define PHASE_MAX_NS (24 * 3600 * NS_PER_S)

static int
read_phase(const json_t *o, const char *at, const char *name, int64_t min_ns,
	int64_t *ret_ns, struct err *e)
{
	char low[40];
	const char *text;

	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	if (parse_duration(text, ret_ns, e) != 0)
		return err_at(e, "%s/%s", at, name);
	if (*ret_ns >= min_ns && *ret_ns <= PHASE_MAX_NS)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" must be from %s to 24h", name,
		format_duration(min_ns, low, sizeof(low)));
	return err_at(e, "%s/%s", at, name);
}

/* The two times of "maximum" or "point". */
static int
read_times(const json_t *ramp, const char *name, int64_t *ret_warmup_ns,
	int64_t *ret_measure_ns, struct err *e)
{
	static const char *const names[] = {"warmup", "measure", NULL};
	char at[40];
	json_t *o;

	snprintf(at, sizeof(at), "/ramp/%s", name);
	if (json_need_object(ramp, "/ramp", name, &o, e) != 0 ||
		json_only(o, at, names, e) != 0 ||
		read_phase(o, at, "warmup", 0, ret_warmup_ns, e) != 0)
		return -1;
	return read_phase(o, at, "measure", MEASURE_MIN_NS, ret_measure_ns, e);
}

static int
read_loads(const json_t *ramp, struct ramp *r, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (json_need_array(ramp, "/ramp", "load", &list, e) != 0)
		return -1;
	if (json_array_size(list) > RAMP_POINTS_MAX)
		return suite_bad(e, "/ramp/load", "a ramp has at most 64 load points");
	json_array_foreach (list, i, item) {
		double *x = &r->load_percent[i];

		if (!json_is_string(item)) {
			err_set(e, ERR_INVALID, "a load is a text such as \"70%%\"");
			return err_at(e, "/ramp/load/%zu", i);
		}
		if (parse_percent(json_string_value(item), x, e) != 0)
			return err_at(e, "/ramp/load/%zu", i);
		if (*x < 1 || *x > 200) {
			err_set(e, ERR_INVALID, "a load is from 1%% to 200%%");
			return err_at(e, "/ramp/load/%zu", i);
		}
		if (i > 0 && *x <= x[-1]) {
			err_set(e, ERR_INVALID, "loads must rise");
			return err_at(e, "/ramp/load/%zu", i);
		}
	}
	r->n_loads = json_array_size(list);
	return 0;
}

int
suite_rates_read(
	const json_t *o, const char *at, struct suite_rates *ret_r, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (json_need_array(o, at, "rates_iops", &list, e) != 0)
		return -1;
	if (json_array_size(list) < 1 || json_array_size(list) > RAMP_POINTS_MAX) {
		err_set(e, ERR_INVALID, "a workload with rates has 1 to 64 of them");
		err_fix(e, "without \"rates_iops\" it has the loads of \"ramp\"");
		return err_at(e, "%s/rates_iops", at);
	}
	json_array_foreach (list, i, item) {
		double *x = &ret_r->iops[i];

		*x = (double)json_integer_value(item);
		if (*x < 1 || *x > RAMP_RATE_MAX) {
			err_set(e, ERR_INVALID,
				"a rate is a whole number of I/Os per second, from 1 to "
				"%d",
				RAMP_RATE_MAX);
			return err_at(e, "%s/rates_iops/%zu", at, i);
		}
		if (i > 0 && *x <= x[-1]) {
			err_set(e, ERR_INVALID, "rates must rise");
			return err_at(e, "%s/rates_iops/%zu", at, i);
		}
	}
	ret_r->n = json_array_size(list);
	return 0;
}

bool
suite_wants_maximum(const struct suite *s)
{
	for (size_t i = 0; i < s->n_workloads; i++)
		if (s->rates[i].n == 0)
			return true;
	return false;
}

/* What only workloads without rates have: the maximum, and loads that are shares of it.
 */
static int
read_shares(const json_t *ramp, const struct suite *s, struct ramp *r, struct err *e)
{
	static const char *const names[] = {"maximum", "load"};

	if (suite_wants_maximum(s))
		return read_times(ramp, "maximum", &r->maximum_warmup_ns,
			       &r->maximum_measure_ns, e) != 0
			       ? -1
			       : read_loads(ramp, r, e);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!json_has(ramp, names[i]))
			continue;
		err_set(e, ERR_INVALID,
			"all workloads have \"rates_iops\", so that no maximum is "
			"measured");
		err_fix(e, "leave \"%s\" out", names[i]);
		return err_at(e, "/ramp/%s", names[i]);
	}
	return 0;
}

int
suite_ramp_read(const json_t *doc, struct suite *s, struct err *e)
{
	static const char *const names[] = {"maximum", "point", "arrivals", "load", NULL};
	const char *arrivals = "poisson";
	struct ramp *r = &s->ramp;
	json_t *ramp;

	if (json_need_object(doc, "", "ramp", &ramp, e) != 0 ||
		json_only(ramp, "/ramp", names, e) != 0 ||
		read_times(ramp, "point", &r->warmup_ns, &r->measure_ns, e) != 0)
		return -1;
	if (json_has(ramp, "arrivals") &&
		json_need_text(ramp, "/ramp", "arrivals", &arrivals, e) != 0)
		return -1;
	if (strcmp(arrivals, "poisson") != 0 && strcmp(arrivals, "fixed") != 0)
		return suite_bad(e, "/ramp/arrivals",
			"\"arrivals\" must be \"poisson\" or \"fixed\"");
	r->arrivals = strcmp(arrivals, "poisson") == 0 ? ARRIVALS_POISSON
						       : ARRIVALS_FIXED;
	return read_shares(ramp, s, r, e);
}

void
suite_ramp_of(const struct suite *s, size_t i, struct ramp *ret_r)
{
	const struct suite_rates *rates = &s->rates[i];

	*ret_r = s->ramp;
	if (rates->n == 0)
		return;
	ret_r->maximum_warmup_ns = ret_r->maximum_measure_ns = 0;
	ret_r->n_loads = 0;
	memcpy(ret_r->rate_iops, rates->iops, sizeof(ret_r->rate_iops));
	ret_r->n_rates = rates->n;
}

double
suite_ramp_ns(const struct ramp *r)
{
	return (double)(r->maximum_warmup_ns + r->maximum_measure_ns) +
	       (double)(r->warmup_ns + r->measure_ns) * (double)(r->n_loads + r->n_rates);
}
