#include "common/suite_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/share.h"
#include "common/sources.h"
#include "common/str.h"
#include "common/xalloc.h"

#define VERSION_MAX 999999
#define PASSES_MAX 8
/* Regions end on a multiple of this, so that any usual block size divides them. */
#define REGION_ALIGN (1U << 20)

int
suite_bad(struct err *e, const char *at, const char *text)
{
	err_set(e, ERR_INVALID, "%s", text);
	return err_at(e, "%s", at);
}

/* Length of the leading part of text that is a suite name, 0 when it is none. */
static size_t
name_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return text[0] == '-' || n >= SUITE_NAME_MAX ? 0 : n;
}

int
suite_parse_ref(const char *text, char *ret_name, uint32_t *ret_version, struct err *e)
{
	size_t n = name_length(text);
	uint64_t version;

	if (n == 0 || text[n] != '@' ||
		parse_uint(text + n + 1, 1, VERSION_MAX, &version, NULL) != 0) {
		err_set(e, ERR_INVALID, "\"%.80s\" does not name a suite and its version",
			text);
		return err_fix(e, "write NAME@VERSION, for example four-corners@1");
	}
	memcpy(ret_name, text, n);
	ret_name[n] = '\0';
	*ret_version = (uint32_t)version;
	return 0;
}

struct suite_drive
suite_drive_of(const struct drive_id *id)
{
	return (struct suite_drive){id->capacity_bytes, id->logical_block_bytes,
		drive_has_health(drive_kind_name(id->kind), id->is_virtual)};
}

static int
read_head(const json_t *doc, struct suite *s, struct err *e)
{
	const char *kind, *name, *title;
	int64_t version;

	if (json_need_text(doc, "", "ssdlab", &kind, e) != 0)
		return err_fix(e, "start the document with \"ssdlab\": \"suite/v1\"");
	if (strcmp(kind, "suite/v1") != 0)
		return suite_bad(e, "/ssdlab", "\"ssdlab\" must be \"suite/v1\"");
	if (json_need_text(doc, "", "name", &name, e) != 0 ||
		json_need_int(doc, "", "version", 1, VERSION_MAX, &version, e) != 0)
		return -1;
	if (name_length(name) == 0 || name[name_length(name)] != '\0')
		return suite_bad(e, "/name",
			"a name has 1 to 63 of the characters a-z, 0-9 and -, and does "
			"not start with -");
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->version = (uint32_t)version;
	title = name;
	if (json_has(doc, "title") && json_need_text(doc, "", "title", &title, e) != 0)
		return -1;
	if (strlen(title) >= sizeof(s->title))
		return suite_bad(e, "/title", "a title has at most 127 bytes");
	snprintf(s->title, sizeof(s->title), "%s", title);
	if (json_has(doc, "notes") && json_need_text(doc, "", "notes", &kind, e) != 0)
		return -1;
	if (json_has(doc, "scaled"))
		return json_need_bool(doc, "", "scaled", &s->scaled, e);
	return 0;
}

static int
read_size(
	const json_t *o, const char *at, const char *name, uint64_t *ret_n, struct err *e)
{
	const char *text;

	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	if (parse_size(text, ret_n, e) != 0)
		return err_at(e, "%s/%s", at, name);
	return 0;
}

int
suite_read_fill(
	const json_t *fill, const char *at, struct suite_fill *ret_f, struct err *e)
{
	static const char *const names[] = {"passes", "block", "in_flight", NULL};
	int64_t passes = 1;
	int64_t in_flight = 32;
	uint64_t block = 128U << 10;

	if (json_only(fill, at, names, e) != 0)
		return -1;
	if (json_has(fill, "passes") &&
		json_need_int(fill, at, "passes", 0, PASSES_MAX, &passes, e) != 0)
		return -1;
	if (json_has(fill, "block") && read_size(fill, at, "block", &block, e) != 0)
		return -1;
	if (block == 0 || block % 512 != 0 || block > WORKLOAD_BLOCK_MAX) {
		err_set(e, ERR_INVALID,
			"a block is a multiple of 512 bytes, at most 16MiB");
		return err_at(e, "%s/block", at);
	}
	if (json_has(fill, "in_flight") &&
		json_need_int(fill, at, "in_flight", 1, WORKLOAD_IN_FLIGHT_MAX,
			&in_flight, e) != 0)
		return -1;
	if (workload_check_buffers((uint32_t)block, (uint32_t)in_flight, e) != 0)
		return err_at(e, "%s/in_flight", at);
	*ret_f = (struct suite_fill){
		(uint32_t)passes, (uint32_t)block, (uint32_t)in_flight};
	return 0;
}

/* minimum_capacity, prepare and region: all may be missing. */
static int
read_space(const json_t *doc, struct suite *s, struct err *e)
{
	static const char *const names[] = {"purge", "fill", NULL};
	struct suite_fill fill = {0};
	const char *text;
	json_t *prepare;

	if (json_has(doc, "minimum_capacity") &&
		read_size(doc, "", "minimum_capacity", &s->minimum_capacity_bytes, e) !=
			0)
		return -1;
	if (json_has(doc, "prepare")) {
		if (json_need_object(doc, "", "prepare", &prepare, e) != 0 ||
			json_only(prepare, "/prepare", names, e) != 0)
			return -1;
		if (json_has(prepare, "purge") &&
			json_need_bool(prepare, "/prepare", "purge", &s->purge, e) != 0)
			return -1;
		if (json_has(prepare, "fill") &&
			suite_read_fill(json_object_get(prepare, "fill"), "/prepare/fill",
				&fill, e) != 0)
			return -1;
		s->fill_passes = fill.passes;
		s->fill_block_bytes = fill.block_bytes;
		s->fill_in_flight = fill.in_flight;
	}
	s->region_percent = 100;
	if (!json_has(doc, "region"))
		return 0;
	if (json_need_text(doc, "", "region", &text, e) != 0)
		return -1;
	if (parse_percent(text, &s->region_percent, e) != 0)
		return err_at(e, "/region");
	if (s->region_percent <= 0 || s->region_percent > 100)
		return suite_bad(e, "/region",
			"the region is more than 0% and at most 100% of the capacity");
	return 0;
}

/* data: may be missing, and so may its members. */
static int
read_data(const json_t *doc, struct data_shares *d, struct err *e)
{
	static const char *const names[] = {"compress", "dedupe", NULL};
	json_t *o;

	if (!json_has(doc, "data"))
		return 0;
	if (json_need_object(doc, "", "data", &o, e) != 0 ||
		json_only(o, "/data", names, e) != 0)
		return -1;
	if (json_has(o, "compress") &&
		share_need(o, "/data", "compress", "a share of what is written",
			&d->compress_percent, e) != 0)
		return -1;
	return json_has(o, "dedupe")
		       ? share_need(o, "/data", "dedupe", "a share of what is written",
				 &d->dedupe_percent, e)
		       : 0;
}

static int
read_workloads(const json_t *doc, struct suite *s, struct err *e)
{
	json_t *list, *item;
	size_t i;

	if (json_need_array(doc, "", "workloads", &list, e) != 0)
		return -1;
	if (json_array_size(list) < 1 || json_array_size(list) > SUITE_WORKLOADS_MAX)
		return suite_bad(e, "/workloads", "a suite has 1 to 64 workloads");
	json_array_foreach (list, i, item) {
		char at[40];

		snprintf(at, sizeof(at), "/workloads/%zu", i);
		if (workload_parse(item, at, &s->workloads[i], e) != 0 ||
			(json_has(item, "rates_iops") &&
				suite_rates_read(item, at, &s->rates[i], e) != 0))
			return -1;
		/* the points of a fill are stored under this name */
		if (strcmp(s->workloads[i].id, "fill") == 0) {
			err_set(e, ERR_INVALID,
				"\"fill\" is the name of the preparation");
			return err_at(e, "%s/id", at);
		}
		for (size_t k = 0; k < i; k++)
			if (strcmp(s->workloads[k].id, s->workloads[i].id) == 0) {
				err_set(e, ERR_INVALID,
					"the id \"%s\" is already that of workload %zu",
					s->workloads[i].id, k);
				return err_at(e, "%s/id", at);
			}
	}
	s->n_workloads = json_array_size(list);
	return 0;
}

/* The members of the form with a ramp, or of that with tests. */
static int
read_form(const json_t *doc, struct suite *s, struct err *e)
{
	static const char *const ramp_only[] = {"prepare", "ramp", "workloads", NULL};

	if (!json_has(doc, "tests"))
		return read_workloads(doc, s, e) != 0 ? -1 : suite_ramp_read(doc, s, e);
	for (size_t i = 0; ramp_only[i] != NULL; i++) {
		if (!json_has(doc, ramp_only[i]))
			continue;
		err_set(e, ERR_INVALID, "a suite with \"tests\" has no \"%s\"",
			ramp_only[i]);
		err_fix(e, "each test says how it is prepared and what it measures");
		return err_at(e, "/%s", ramp_only[i]);
	}
	return suite_tests_read(doc, s, e);
}

int
suite_parse(const json_t *doc, struct suite *ret_s, struct err *e)
{
	static const char *const names[] = {"ssdlab", "name", "version", "title", "notes",
		"scaled", "minimum_capacity", "prepare", "data", "region", "ramp",
		"workloads", "tests", "sources", NULL};

	memset(ret_s, 0, sizeof(*ret_s));
	if (json_only(doc, "", names, e) == 0 && read_head(doc, ret_s, e) == 0 &&
		read_space(doc, ret_s, e) == 0 && read_data(doc, &ret_s->data, e) == 0 &&
		read_form(doc, ret_s, e) == 0 && suite_check_time(ret_s, e) == 0 &&
		sources_check(doc, e) == 0)
		return 0;
	suite_fini(ret_s);
	return -1;
}

int
suite_check_new(const json_t *doc, const struct suite *s, struct err *e)
{
	bool plain = str_is_plain(s->title);

	if (json_no_null(doc, "", e) != 0)
		return -1;
	for (size_t i = 0; i < s->n_tests; i++)
		plain = plain && str_is_plain(s->tests[i].title);
	return plain ? 0 : err_set(e, ERR_INVALID, "a title has no control characters");
}

void
suite_fini(struct suite *s)
{
	for (size_t i = 0; i < s->n_tests; i++)
		rounds_fini(&s->tests[i].rounds);
	free(s->tests);
	s->tests = NULL;
	s->n_tests = 0;
}

static bool
listed(const char *id, const char (*ids)[WORKLOAD_ID_MAX], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(ids[i], id) == 0)
			return true;
	return false;
}

/* The id of workload or test i; NULL behind the last. */
static const char *
part_id(const struct suite *s, size_t i)
{
	if (s->n_tests > 0)
		return i < s->n_tests ? s->tests[i].id : NULL;
	return i < s->n_workloads ? s->workloads[i].id : NULL;
}

static bool
has_part(const struct suite *s, const char *id)
{
	const char *have;

	for (size_t i = 0; (have = part_id(s, i)) != NULL; i++)
		if (strcmp(have, id) == 0)
			return true;
	return false;
}

static int
check_chosen(const struct suite *s, const char (*ids)[WORKLOAD_ID_MAX], size_t n,
	struct err *e)
{
	const char *have;

	for (size_t i = 0; i < n; i++) {
		char all[200] = "";

		if (has_part(s, ids[i]))
			continue;
		for (size_t k = 0; (have = part_id(s, k)) != NULL; k++) {
			size_t len = strlen(all);

			snprintf(all + len, sizeof(all) - len, "%s%s", k > 0 ? ", " : "",
				have);
		}
		err_set(e, ERR_INVALID, "suite %s@%u has no %s \"%s\"", s->name,
			(unsigned)s->version, s->n_tests > 0 ? "test" : "workload",
			ids[i]);
		err_at(e, "/workloads/%zu", i);
		return err_fix(e, "it has: %s", all);
	}
	return 0;
}

int
suite_choose(struct suite *s, const char (*ids)[WORKLOAD_ID_MAX], size_t n, struct err *e)
{
	size_t kept = 0;

	if (check_chosen(s, ids, n, e) != 0)
		return -1;
	if (n == 0)
		return 0;
	if (s->n_tests > 0)
		return suite_tests_choose(s, ids, n, e);
	for (size_t i = 0; i < s->n_workloads; i++)
		if (listed(s->workloads[i].id, ids, n)) {
			s->rates[kept] = s->rates[i];
			s->workloads[kept++] = s->workloads[i];
		}
	s->n_workloads = kept;
	return 0;
}

bool
suite_writes(const struct suite *s)
{
	if (s->purge || s->fill_passes > 0)
		return true;
	for (size_t i = 0; i < s->n_workloads; i++)
		if (workload_writes(&s->workloads[i]))
			return true;
	for (size_t i = 0; i < s->n_tests; i++)
		if (s->tests[i].purge || s->tests[i].fill_passes > 0 ||
			rounds_writes(&s->tests[i].rounds))
			return true;
	return false;
}

static uint64_t
region_of(const struct suite *s, uint64_t capacity_bytes, uint32_t logical_block_bytes)
{
	uint64_t bytes = (uint64_t)((double)capacity_bytes * (s->region_percent / 100));
	uint64_t align = logical_block_bytes > REGION_ALIGN ? logical_block_bytes
							    : REGION_ALIGN;

	if (bytes > capacity_bytes)
		bytes = capacity_bytes;
	return bytes - bytes % align;
}

/* The smallest region in which each worker has room for one block. */
static uint64_t
region_wanted(const struct suite *s)
{
	uint64_t most = REGION_ALIGN;

	for (size_t i = 0; i < s->n_workloads; i++) {
		uint64_t bytes = (uint64_t)workload_block_max(&s->workloads[i]) *
				 s->workloads[i].workers;

		if (bytes > most)
			most = bytes;
	}
	for (size_t i = 0; i < s->n_tests; i++)
		if (rounds_space_bytes(&s->tests[i].rounds) > most)
			most = rounds_space_bytes(&s->tests[i].rounds);
	return most;
}

/* What to do about a workload that does not fit a drive with these logical blocks. */
static int
fix_workload(const struct suite *s, const struct workload *w,
	uint32_t logical_block_bytes, struct err *e)
{
	const char *or_less = s->n_workloads > 1
				      ? ", or leave the workload out with \"workloads\""
				      : "";
	uint32_t unit = workload_unit(w);
	char size[40];

	if (unit % logical_block_bytes == 0)
		return err_fix(e, "use a larger drive%s", or_less);
	/* logical blocks are powers of two */
	format_size(unit & -unit, size, sizeof(size));
	return err_fix(
		e, "use a drive with logical blocks of at most %s%s", size, or_less);
}

static int
fits_workloads(const struct suite *s, uint64_t region_bytes, uint32_t logical_block_bytes,
	struct err *e)
{
	for (size_t i = 0; i < s->n_workloads; i++) {
		const struct workload *w = &s->workloads[i];

		if (workload_fits(w, region_bytes, logical_block_bytes, e) == 0)
			continue;
		err_ctx(e, "workload %s", w->id);
		return fix_workload(s, w, logical_block_bytes, e);
	}
	return 0;
}

int
suite_fits(const struct suite *s, const struct suite_drive *d, struct err *e)
{
	uint64_t capacity_bytes = d->capacity_bytes;
	uint32_t logical_block_bytes = d->logical_block_bytes;
	char have[40], want[40];

	if (capacity_bytes < s->minimum_capacity_bytes) {
		err_set(e, ERR_INVALID,
			"suite %s@%u needs a minimum capacity of %s, the drive has %s",
			s->name, (unsigned)s->version,
			format_size(s->minimum_capacity_bytes, want, sizeof(want)),
			format_size(capacity_bytes, have, sizeof(have)));
		return err_fix(
			e, "use a larger drive or a smaller suite: ssdlab suite ls");
	}
	if (region_of(s, capacity_bytes, logical_block_bytes) < region_wanted(s)) {
		err_set(e, ERR_INVALID,
			"%g%% of the drive's %s is less than suite %s@%u needs (%s)",
			s->region_percent,
			format_size(capacity_bytes, have, sizeof(have)), s->name,
			(unsigned)s->version,
			format_size(region_wanted(s), want, sizeof(want)));
		return err_fix(
			e, "use a larger drive or a smaller suite: ssdlab suite ls");
	}
	if (fits_workloads(s, region_of(s, capacity_bytes, logical_block_bytes),
		    logical_block_bytes, e) != 0)
		return -1;
	if (s->fill_passes > 0 && s->fill_block_bytes % logical_block_bytes != 0) {
		err_set(e, ERR_INVALID,
			"the fill's block does not fit the drive's logical blocks of %u "
			"bytes",
			(unsigned)logical_block_bytes);
		return err_fix(e, "use another suite: ssdlab suite ls");
	}
	if (s->n_tests == 0)
		return 0;
	return suite_tests_fit(
		s, region_of(s, capacity_bytes, logical_block_bytes), d, e);
}

void
suite_fill_step(const struct suite_fill *f, struct step *step)
{
	step->kind = STEP_FILL;
	step->passes = f->passes;
	snprintf(step->workload.id, sizeof(step->workload.id), "fill");
	workload_plain(&step->workload, 0, 0, f->block_bytes);
	step->workload.in_flight = f->in_flight;
	step->workload.workers = 1;
}

void
suite_compile(const struct suite *s, const struct suite_drive *d, struct program *ret_p)
{
	struct step *step;

	memset(ret_p, 0, sizeof(*ret_p));
	ret_p->region_length = region_of(s, d->capacity_bytes, d->logical_block_bytes);
	ret_p->data = s->data;
	ret_p->steps = xcalloc(
		s->n_workloads + suite_tests_steps(s) + 3, sizeof(*ret_p->steps));
	step = ret_p->steps;
	step->kind = STEP_IDENTIFY;
	step++;
	if (s->purge) {
		step->kind = STEP_PURGE;
		step++;
	}
	if (s->fill_passes > 0) {
		const struct suite_fill fill = {
			s->fill_passes, s->fill_block_bytes, s->fill_in_flight};

		suite_fill_step(&fill, step);
		step++;
	}
	for (size_t i = 0; i < s->n_workloads; i++, step++) {
		step->kind = STEP_WORKLOAD;
		step->workload = s->workloads[i];
		suite_ramp_of(s, i, &step->ramp);
	}
	step = suite_tests_compile(s, d, step);
	ret_p->n_steps = (size_t)(step - ret_p->steps);
}
