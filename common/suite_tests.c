/* The form of a suite that has tests, whose cells are measured in rounds. */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/suite_priv.h"
#include "common/xalloc.h"

#define AT_MAX 64

static int
read_prepare(const json_t *o, const char *at, struct suite_test *t, struct err *e)
{
	struct suite_fill fill = {0};
	char below[AT_MAX + 16];

	snprintf(below, sizeof(below), "%s/fill", at);
	if (json_has(o, "purge") && json_need_bool(o, at, "purge", &t->purge, e) != 0)
		return -1;
	if (json_has(o, "continues") &&
		json_need_bool(o, at, "continues", &t->continues, e) != 0)
		return -1;
	if (json_has(o, "fill") &&
		suite_read_fill(json_object_get(o, "fill"), below, &fill, e) != 0)
		return -1;
	t->fill_passes = fill.passes;
	t->fill_block_bytes = fill.block_bytes;
	t->fill_in_flight = fill.in_flight;
	if (!t->continues || (!t->purge && t->fill_passes == 0))
		return 0;
	snprintf(below, sizeof(below), "%s/continues", at);
	return suite_bad(e, below,
		"a test that is purged or filled does not go on where another ends");
}

static int
read_test(const json_t *o, const char *at, struct suite_test *t, struct err *e)
{
	static const char *const names[] = {
		"id", "title", "continues", "purge", "fill", "rounds", NULL};
	char below[AT_MAX + 16];
	const char *title = "";
	json_t *rounds;

	if (json_only(o, at, names, e) != 0 ||
		workload_need_id(o, at, "id", t->id, e) != 0)
		return -1;
	if (json_has(o, "title") && json_need_text(o, at, "title", &title, e) != 0)
		return -1;
	if (strlen(title) >= sizeof(t->title)) {
		err_set(e, ERR_INVALID, "a title has at most 127 bytes");
		return err_at(e, "%s/title", at);
	}
	snprintf(t->title, sizeof(t->title), "%s", title[0] != '\0' ? title : t->id);
	snprintf(below, sizeof(below), "%s/rounds", at);
	if (read_prepare(o, at, t, e) != 0 ||
		json_need_object(o, at, "rounds", &rounds, e) != 0 ||
		rounds_parse(rounds, below, &t->rounds, &t->stop_capacities, e) != 0)
		return -1;
	return rounds_check_names(&t->rounds, t->id, below, e);
}

static int
check_new(const struct suite *s, size_t n, const char *at, struct err *e)
{
	const struct suite_test *t = &s->tests[n];

	if (n == 0 && t->continues) {
		err_set(e, ERR_INVALID,
			"before the first test there is none to go on from");
		return err_at(e, "%s/continues", at);
	}
	for (size_t k = 0; k < n; k++) {
		if (strcmp(s->tests[k].id, t->id) != 0)
			continue;
		err_set(e, ERR_INVALID, "the id \"%s\" is already that of test %zu",
			t->id, k);
		return err_at(e, "%s/id", at);
	}
	return 0;
}

/* Not all I/Os can be done with any demand. */
static int
check_cells(const struct rounds *r, const char *at, struct err *e)
{
	for (size_t i = 0; i < r->n_cells; i++)
		if (workload_check(&r->cells[i].workload, e) != 0)
			return err_at(e, "%s/rounds/cells/%zu/workload", at, i);
	return 0;
}

/* A test takes over the demand of one that it goes on from, however far back. */
static int
check_choice(struct suite *s, size_t n, const char *at, struct err *e)
{
	struct rounds *r = &s->tests[n].rounds;

	if (r->choice.from[0] == '\0')
		return 0;
	for (size_t i = n; s->tests[i].continues && i > 0; i--) {
		const struct suite_test *from = &s->tests[i - 1];

		if (strcmp(from->id, r->choice.from) != 0 ||
			!rounds_offers_choice(&from->rounds))
			continue;
		rounds_bound(r, &from->rounds);
		return check_cells(r, at, e);
	}
	err_set(e, ERR_INVALID,
		"\"%s\" is no test with \"tracking\" that this one goes on from",
		r->choice.from);
	err_fix(e, "choose from an earlier one that does not choose itself; all tests "
		   "behind it have \"continues\"");
	return err_at(e, "%s/rounds/choose/from", at);
}

int
suite_tests_read(const json_t *doc, struct suite *s, struct err *e)
{
	json_t *list;

	if (json_need_array(doc, "", "tests", &list, e) != 0)
		return -1;
	if (json_array_size(list) < 1 || json_array_size(list) > SUITE_TESTS_MAX)
		return suite_bad(e, "/tests", "a suite has 1 to 64 tests");
	s->tests = xcalloc(json_array_size(list), sizeof(*s->tests));
	for (size_t i = 0; i < json_array_size(list); i++) {
		char at[AT_MAX];

		snprintf(at, sizeof(at), "/tests/%zu", i);
		/* counted first, so that what was read of it is freed */
		s->n_tests = i + 1;
		if (read_test(json_array_get(list, i), at, &s->tests[i], e) != 0 ||
			check_new(s, i, at, e) != 0 || check_choice(s, i, at, e) != 0)
			return -1;
	}
	return 0;
}

/* The number of the id, n when it is not listed. */
static size_t
place_of(const char *id, const char (*ids)[WORKLOAD_ID_MAX], size_t n)
{
	size_t i = 0;

	while (i < n && strcmp(ids[i], id) != 0)
		i++;
	return i;
}

int
suite_tests_choose(
	struct suite *s, const char (*ids)[WORKLOAD_ID_MAX], size_t n, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_tests; i++) {
		size_t at = place_of(s->tests[i].id, ids, n);

		if (at == n || !s->tests[i].continues ||
			place_of(s->tests[i - 1].id, ids, n) < n)
			continue;
		err_set(e, ERR_INVALID, "test \"%s\" goes on where \"%s\" ends",
			s->tests[i].id, s->tests[i - 1].id);
		err_at(e, "/workloads/%zu", at);
		return err_fix(e, "name \"%s\", too", s->tests[i - 1].id);
	}
	for (size_t i = 0; i < s->n_tests; i++) {
		struct suite_test *t = &s->tests[i];

		if (place_of(t->id, ids, n) == n) {
			rounds_fini(&t->rounds);
			continue;
		}
		if (kept != i) {
			s->tests[kept] = *t;
			memset(t, 0, sizeof(*t));
		}
		kept++;
	}
	s->n_tests = kept;
	return 0;
}

/* Whether a drive without a log of its health can do test i, and what it goes on from. */
static bool
needs_no_health(const struct suite *s, size_t i)
{
	while (s->tests[i].continues && i > 0) {
		if (rounds_polls_health(&s->tests[i].rounds))
			return false;
		i--;
	}
	return !rounds_polls_health(&s->tests[i].rounds);
}

/* Whether a drive with such blocks can do test i, and what it goes on from. */
static bool
is_possible(const struct suite *s, size_t i, uint32_t logical_block_bytes)
{
	while (s->tests[i].continues && i > 0) {
		if (!rounds_is_possible(&s->tests[i].rounds, logical_block_bytes))
			return false;
		i--;
	}
	return rounds_is_possible(&s->tests[i].rounds, logical_block_bytes);
}

bool
suite_test_is_possible(const struct suite *s, size_t i, const struct suite_drive *d)
{
	return is_possible(s, i, d->logical_block_bytes) &&
	       (d->has_health || needs_no_health(s, i));
}

void
suite_left_out_for_health(const struct suite *s, struct str *out)
{
	for (size_t i = 0; i < s->n_tests; i++)
		if (!needs_no_health(s, i))
			str_printf(out, "%s%s", out->len > 0 ? ", " : "", s->tests[i].id);
}

void
suite_left_out(const struct suite *s, uint32_t logical_block_bytes, struct str *out)
{
	for (size_t i = 0; i < s->n_tests; i++) {
		const struct suite_test *t = &s->tests[i];
		struct rounds r;

		if (!is_possible(s, i, logical_block_bytes)) {
			str_printf(out, "%s%s", out->len > 0 ? ", " : "", t->id);
			continue;
		}
		rounds_copy(&t->rounds, logical_block_bytes, &r);
		for (size_t k = 0; k < r.n_left_out; k++)
			str_printf(out, "%s%s/%s", out->len > 0 ? ", " : "", t->id,
				r.left_out[k]);
		rounds_fini(&r);
	}
}

static int
fits_test(const struct suite *s, const struct suite_test *t, uint64_t region_bytes,
	uint32_t logical_block_bytes, struct err *e)
{
	if (t->fill_passes > 0 && t->fill_block_bytes % logical_block_bytes != 0) {
		err_set(e, ERR_INVALID,
			"test %s: the fill's block does not fit the drive's logical "
			"blocks of %u bytes",
			t->id, (unsigned)logical_block_bytes);
		return err_fix(e, "leave the test out with \"workloads\"");
	}
	for (size_t i = 0; i < t->rounds.n_cells; i++) {
		const struct workload *w = &t->rounds.cells[i].workload;

		if (workload_unit(w) % logical_block_bytes != 0 ||
			workload_fits(w, region_bytes, logical_block_bytes, e) == 0)
			continue;
		err_ctx(e, "suite %s@%u, test %s, cell %s", s->name, (unsigned)s->version,
			t->id, w->id);
		return err_fix(e, "use a larger drive, or leave the test out with "
				  "\"workloads\"");
	}
	return 0;
}

int
suite_tests_fit(const struct suite *s, uint64_t region_bytes, const struct suite_drive *d,
	struct err *e)
{
	uint32_t logical_block_bytes = d->logical_block_bytes;
	size_t n = 0;
	size_t with_health = 0;

	for (size_t i = 0; i < s->n_tests; i++) {
		with_health += is_possible(s, i, logical_block_bytes);
		if (!suite_test_is_possible(s, i, d))
			continue;
		if (fits_test(s, &s->tests[i], region_bytes, logical_block_bytes, e) != 0)
			return -1;
		n++;
	}
	if (n > 0)
		return 0;
	if (with_health > 0) {
		err_set(e, ERR_INVALID,
			"no test of suite %s@%u can be done with the drive: it has no "
			"log of its health that they could poll",
			s->name, (unsigned)s->version);
		return err_fix(e, "use an NVMe, SATA or SAS drive");
	}
	err_set(e, ERR_INVALID,
		"no test of suite %s@%u can be done with the drive's logical blocks of "
		"%u bytes",
		s->name, (unsigned)s->version, (unsigned)logical_block_bytes);
	return err_fix(e, "use a drive with smaller logical blocks");
}

static double
all_rounds_ns(const struct rounds *r)
{
	return (double)rounds_duration_ns(r) * r->max_rounds;
}

static int
too_long(double ns, const char *fix, struct err *e)
{
	err_set(e, ERR_INVALID,
		"a run would measure for %.1f days; more than 365 are not measured in "
		"one run",
		ns / 86400e9);
	return err_fix(e, "%s", fix);
}

int
suite_check_time(const struct suite *s, struct err *e)
{
	struct ramp r;
	double ns = 0;

	for (size_t i = 0; i < s->n_workloads; i++) {
		suite_ramp_of(s, i, &r);
		ns += suite_ramp_ns(&r);
	}
	if (ns > (double)SUITE_RUN_MAX_NS) {
		too_long(ns, "measure shorter, or fewer loads or workloads", e);
		return err_at(e, "/ramp");
	}
	for (size_t i = 0; i < s->n_tests; i++) {
		ns += all_rounds_ns(&s->tests[i].rounds);
		if (ns <= (double)SUITE_RUN_MAX_NS)
			continue;
		too_long(ns, "measure shorter, or lower \"max_rounds\"", e);
		return err_at(e, "/tests/%zu/rounds", i);
	}
	return 0;
}

size_t
suite_tests_steps(const struct suite *s)
{
	return 3 * s->n_tests; /* purge, fill, rounds */
}

struct step *
suite_tests_compile(const struct suite *s, const struct suite_drive *d, struct step *step)
{
	for (size_t i = 0; i < s->n_tests; i++, step++) {
		const struct suite_test *t = &s->tests[i];
		const struct suite_fill fill = {
			t->fill_passes, t->fill_block_bytes, t->fill_in_flight};
		bool possible = suite_test_is_possible(s, i, d);

		if (possible && t->purge)
			(step++)->kind = STEP_PURGE;
		if (possible && t->fill_passes > 0)
			suite_fill_step(&fill, step++);
		step->kind = STEP_ROUNDS;
		snprintf(step->test, sizeof(step->test), "%s", t->id);
		rounds_copy(
			&t->rounds, possible ? d->logical_block_bytes : 0, &step->rounds);
		step->rounds.left_out_for_health = !possible &&
						   is_possible(
							   s, i, d->logical_block_bytes);
		step->rounds.stop_bytes = (uint64_t)suite_count(
			t->stop_capacities * (double)d->capacity_bytes);
	}
	return step;
}
