#include "runner/bench_mix.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/parse.h"
#include "common/str.h"

#define PART_MAX 64

/* Cuts the text up to the first of the characters in `ends` off; false when it is too
 * long for any part. */
static bool
cut(const char **text, const char *ends, char ret_part[PART_MAX])
{
	size_t n = strcspn(*text, ends);

	if (n >= PART_MAX)
		return false;
	memcpy(ret_part, *text, n);
	ret_part[n] = '\0';
	*text += n;
	return true;
}

static int
add_block(const char **text, struct block_mix *m, struct err *e)
{
	char size[PART_MAX];
	char share[PART_MAX] = "100%";
	uint64_t bytes;
	double percent;

	if (!cut(text, ":,", size))
		return err_set(e, ERR_INVALID, "\"%.40s\" is not a size", *text);
	if (**text == ':') {
		++*text;
		if (!cut(text, ",", share))
			return err_set(
				e, ERR_INVALID, "\"%.40s\" is not a percentage", *text);
	}
	if (parse_size(size, &bytes, e) != 0 || parse_percent(share, &percent, e) != 0)
		return -1;
	if (bytes < 512 || bytes > FLOW_BLOCK_MAX)
		return err_set(e, ERR_INVALID, "\"%s\" is not from 512B to 16MiB", size);
	return block_mix_add(m, bytes, percent, e);
}

int
bench_parse_blocks(const char *text, struct block_mix *ret_m, struct err *e)
{
	struct block_mix m = {0};

	for (;;) {
		if (add_block(&text, &m, e) != 0)
			return -1;
		if (*text == '\0')
			break;
		text++;
	}
	if (block_mix_check(&m, e) != 0)
		return -1;
	*ret_m = m;
	return 0;
}

static int
parse_zones(const char *text, struct flow *s, struct err *e)
{
	for (;;) {
		char part[PART_MAX];
		double space, share;

		if (!cut(&text, "/,", part) || *text != '/') {
			err_set(e, ERR_INVALID, "a zone is its space and its share");
			return err_fix(e, "write for example zones:5%%/50%%,95%%/50%%");
		}
		if (parse_percent(part, &space, e) != 0)
			return -1;
		text++;
		if (!cut(&text, ",", part))
			return err_set(
				e, ERR_INVALID, "\"%.40s\" is not a percentage", text);
		if (parse_percent(part, &share, e) != 0 ||
			flow_add_zone(s, space, share, e) != 0)
			return -1;
		if (*text == '\0')
			return flow_check_zones(s, e);
		text++;
	}
}

static int
parse_theta(const char *text, struct flow *s, struct err *e)
{
	char *end;
	double theta = strtod(text, &end);

	if (strspn(text, "0123456789.") != strlen(text) || *end != '\0' || end == text)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not the exponent of a zipf distribution; write for "
			"example zipf:1.1",
			text);
	return flow_set_theta(s, theta, e);
}

int
bench_parse_distribution(const char *text, struct flow *s, struct err *e)
{
	s->spread = SPREAD_UNIFORM;
	s->theta = 0;
	s->n_zones = 0;
	if (strcmp(text, "uniform") == 0)
		return 0;
	if (strncmp(text, "zipf:", 5) == 0)
		return parse_theta(text + 5, s, e);
	if (strncmp(text, "zones:", 6) == 0)
		return parse_zones(text + 6, s, e);
	if (strcmp(text, "jesd219") != 0)
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not known; write uniform, jesd219, zipf:1.1 or "
			"zones:5%%/50%%,95%%/50%%",
			text);
	flow_set_jesd219(s);
	return 0;
}

void
bench_put_blocks(struct str *out, const struct block_mix *m)
{
	for (size_t i = 0; i < m->n; i++) {
		char size[40];

		str_printf(out, "%s%s", i > 0 ? "," : "",
			format_size(m->list[i].bytes, size, sizeof(size)));
		if (m->n > 1)
			str_printf(out, ":%g%%", m->list[i].percent);
	}
}

void
bench_put_distribution(struct str *out, const struct flow *s)
{
	str_puts(out, spread_name(s->spread));
	if (s->spread == SPREAD_ZIPF)
		str_printf(out, ":%g", s->theta);
	for (size_t i = 0; i < s->n_zones; i++)
		str_printf(out, "%s%g%%/%g%%", i > 0 ? "," : ":",
			s->zones[i].space_percent, s->zones[i].share_percent);
}
