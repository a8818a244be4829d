/* The human form of a stream, as suites have it. */

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/flow.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/share.h"

#define AT_MAX 160

static int
bad(struct err *e, const char *at, const char *name, const char *text)
{
	err_set(e, ERR_INVALID, "%s", text);
	return err_at(e, "%s/%s", at, name);
}

static int
read_operation(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	const char *text;

	if (!json_has(o, "operation"))
		return 0;
	if (json_need_text(o, at, "operation", &text, e) != 0)
		return -1;
	if (operation_named(text, &s->operation, e) != 0)
		return err_at(e, "%s/operation", at);
	if (s->read_percent < 100)
		return 0;
	bad(e, at, "operation",
		"this is about I/O that does not read, and there is none");
	return err_fix(e, "leave it out");
}

static int
read_access(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	const char *text;

	if (json_has(o, "random") && json_has(o, "access"))
		return bad(e, at, "random", "give \"access\" or \"random\", not both");
	if (json_has(o, "random"))
		return share_need(
			o, at, "random", "a share of I/Os", &s->random_percent, e);
	if (json_need_text(o, at, "access", &text, e) != 0)
		return err_fix(e, "write \"access\": \"random\" or \"sequential\", or "
				  "\"random\": \"80%%\"");
	if (strcmp(text, "random") != 0 && strcmp(text, "sequential") != 0)
		return bad(e, at, "access", "\"access\" is \"random\" or \"sequential\"");
	s->random_percent = strcmp(text, "random") == 0 ? 100 : 0;
	return 0;
}

/* Sizes with their shares: {"4KiB": "60%", "64KiB": "40%"}. */
static int
read_weights(const json_t *o, const char *at, struct block_mix *m, struct err *e)
{
	const char *size;
	json_t *value;

	/* The iterator wants an object that is not const, and does not change it. */
	json_object_foreach ((json_t *)(uintptr_t)o, size, value) {
		double percent;
		uint64_t bytes;

		if (share_need(o, at, size, "a share of I/Os", &percent, e) != 0)
			return -1;
		if (parse_size(size, &bytes, e) != 0 ||
			block_mix_add(m, bytes, percent, e) != 0)
			return err_at(e, "%s/%s", at, size);
	}
	return block_mix_check(m, e) == 0 ? 0 : err_at(e, "%s", at);
}

/* One size, or sizes with shares. */
static int
read_mix(const json_t *o, const char *at, const char *name, struct block_mix *m,
	struct err *e)
{
	const json_t *value = json_object_get(o, name);
	char below[AT_MAX];
	const char *text;
	uint64_t bytes;

	if (json_is_object(value)) {
		snprintf(below, sizeof(below), "%s/%s", at, name);
		return read_weights(value, below, m, e);
	}
	if (json_need_text(o, at, name, &text, e) != 0)
		return err_fix(e,
			"write a size such as \"4KiB\", or sizes with their shares "
			"such as {\"4KiB\": \"60%%\", \"64KiB\": \"40%%\"}");
	if (parse_size(text, &bytes, e) != 0 || block_mix_add(m, bytes, 100, e) != 0)
		return err_at(e, "%s/%s", at, name);
	return 0;
}

static int
read_blocks(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	static const char *const names[DATA_DIRECTIONS] = {
		[DIR_READ] = "read_block",
		[DIR_WRITE] = "write_block",
	};
	bool apart = json_has(o, names[DIR_READ]) || json_has(o, names[DIR_WRITE]);

	if (!apart) {
		if (read_mix(o, at, "block", &s->blocks[DIR_READ], e) != 0)
			return -1;
		if (s->operation != OP_FLUSH)
			s->blocks[DIR_WRITE] = s->blocks[DIR_READ];
		return 0;
	}
	if (json_has(o, "block"))
		return bad(e, at, "block",
			"give \"block\", or \"read_block\" and \"write_block\", not "
			"both");
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		if (flow_uses_blocks(s, (enum direction)d)) {
			if (read_mix(o, at, names[d], &s->blocks[d], e) != 0)
				return -1;
		} else if (json_has(o, names[d])) {
			bad(e, at, names[d],
				s->operation == OP_FLUSH && d == DIR_WRITE
					? "a flush has no size"
					: "no I/O of the stream has this direction");
			return err_fix(e, "leave it out");
		}
	}
	return 0;
}

static int
read_align(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	const char *text;
	uint64_t bytes;

	if (!json_has(o, "align"))
		return 0;
	if (json_need_text(o, at, "align", &text, e) != 0)
		return -1;
	if (parse_size(text, &bytes, e) != 0)
		return err_at(e, "%s/align", at);
	if (bytes == 0 || bytes % 512 != 0 || bytes > FLOW_BLOCK_MAX)
		return bad(e, at, "align",
			"an alignment is a multiple of 512 bytes, at most 16MiB");
	s->align_bytes = (uint32_t)bytes;
	return 0;
}

static int
read_region(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	static const char *const names[] = {"from", "to", NULL};
	char below[AT_MAX];
	json_t *region;

	if (!json_has(o, "region"))
		return 0;
	snprintf(below, sizeof(below), "%s/region", at);
	if (json_need_object(o, at, "region", &region, e) != 0 ||
		json_only(region, below, names, e) != 0 ||
		share_need(region, below, "from", "an end of a region", &s->from_percent,
			e) != 0 ||
		share_need(region, below, "to", "an end of a region", &s->to_percent,
			e) != 0)
		return -1;
	if (s->from_percent >= s->to_percent)
		return bad(e, at, "region", "\"to\" must be above \"from\"");
	return 0;
}

static int
read_zones(const json_t *distribution, const char *at, struct flow *s, struct err *e)
{
	static const char *const names[] = {"space", "share", NULL};
	json_t *list, *item;
	size_t i;

	if (json_need_array(distribution, at, "zones", &list, e) != 0)
		return -1;
	json_array_foreach (list, i, item) {
		char below[AT_MAX + 32];
		double space, share;

		snprintf(below, sizeof(below), "%s/zones/%zu", at, i);
		if (json_only(item, below, names, e) != 0 ||
			share_need(item, below, "space", "a share of the space", &space,
				e) != 0 ||
			share_need(item, below, "share", "a share of I/Os", &share, e) !=
				0)
			return -1;
		if (flow_add_zone(s, space, share, e) != 0)
			return err_at(e, "%s", below);
	}
	s->spread = SPREAD_ZONES;
	return flow_check_zones(s, e) == 0 ? 0 : err_at(e, "%s/zones", at);
}

static int
read_shaped(const json_t *distribution, const char *at, struct flow *s, struct err *e)
{
	static const char *const names[] = {"zipf", "zones", NULL};
	double theta;

	if (json_only(distribution, at, names, e) != 0)
		return -1;
	if (json_object_size(distribution) != 1) {
		err_set(e, ERR_INVALID, "a distribution is \"zipf\" or \"zones\"");
		return err_at(e, "%s", at);
	}
	if (json_has(distribution, "zones"))
		return read_zones(distribution, at, s, e);
	if (json_need_real(distribution, at, "zipf", &theta, e) != 0)
		return -1;
	if (flow_set_theta(s, theta, e) != 0)
		return err_at(e, "%s/zipf", at);
	if (flow_check(s, e) != 0)
		return err_at(e, "%s", at);
	return 0;
}

static int
read_distribution(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	const json_t *value = json_object_get(o, "distribution");
	const char *text;
	char below[AT_MAX];

	if (!json_has(o, "distribution"))
		return 0;
	if (json_is_object(value)) {
		snprintf(below, sizeof(below), "%s/distribution", at);
		return read_shaped(value, below, s, e);
	}
	text = json_is_string(value) ? json_string_value(value) : "";
	if (strcmp(text, "jesd219") == 0) {
		flow_set_jesd219(s);
		return 0;
	}
	if (strcmp(text, "uniform") == 0)
		return 0;
	return bad(e, at, "distribution",
		"\"distribution\" is \"uniform\", \"jesd219\", {\"zipf\": 1.1} or "
		"{\"zones\": [{\"space\": \"5%\", \"share\": \"50%\"}, ...]}");
}

static int
read_cursors(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	int64_t n;

	if (!json_has(o, "cursors"))
		return 0;
	if (json_need_int(o, at, "cursors", 1, FLOW_CURSORS_MAX, &n, e) != 0)
		return -1;
	s->cursors = (uint32_t)n;
	return 0;
}

/* A member that would change nothing is a mistake. */
static int
check_idle(const json_t *o, const char *at, const struct flow *s, struct err *e)
{
	static const char *const random[] = {"align", "distribution"};

	for (size_t i = 0; s->random_percent <= 0 && i < 2; i++)
		if (json_has(o, random[i])) {
			bad(e, at, random[i],
				"this is about random I/O, and there is none");
			return err_fix(e, "leave it out");
		}
	if (s->random_percent < 100 || !json_has(o, "cursors"))
		return 0;
	bad(e, at, "cursors", "this is about sequential I/O, and there is none");
	return err_fix(e, "leave it out");
}

/* A stream of flushes alone has no sizes and no places. */
static int
parse_flushes(const json_t *o, const char *at, struct flow *s, struct err *e)
{
	static const char *const members[] = {FLOW_MEMBERS};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (strcmp(members[i], "read") != 0 &&
			strcmp(members[i], "operation") != 0 && json_has(o, members[i])) {
			bad(e, at, members[i], "a flush has no size and no place");
			return err_fix(e, "leave it out");
		}
	s->random_percent = 100; /* it needs no part for a cursor */
	return 0;
}

int
flow_parse(const json_t *o, const char *at, struct flow *ret_s, struct err *e)
{
	memset(ret_s, 0, sizeof(*ret_s));
	ret_s->share_percent = 100;
	ret_s->to_percent = 100;
	ret_s->cursors = 1;
	if (share_need(o, at, "read", "a share of I/Os", &ret_s->read_percent, e) != 0 ||
		read_operation(o, at, ret_s, e) != 0)
		return -1;
	if (ret_s->operation == OP_FLUSH && ret_s->read_percent <= 0)
		return parse_flushes(o, at, ret_s, e);
	if (read_access(o, at, ret_s, e) != 0 || read_blocks(o, at, ret_s, e) != 0 ||
		read_align(o, at, ret_s, e) != 0 || read_region(o, at, ret_s, e) != 0 ||
		read_cursors(o, at, ret_s, e) != 0 ||
		read_distribution(o, at, ret_s, e) != 0)
		return -1;
	return check_idle(o, at, ret_s, e);
}
