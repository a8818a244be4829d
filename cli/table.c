#include "cli/table.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"

#define GAP 2	  /* blanks between columns */
#define NARROW 8U /* a column that is cut keeps at least so much */

struct grid {
	const struct out *o;
	struct column *columns; /* those that the format has */
	size_t n_columns;
	size_t n_rows;
	char ***cells; /* rows of n_columns texts */
	size_t *shown; /* columns in the order they are printed, and how many */
	size_t n_shown;
	size_t *width; /* of each one shown */
};

size_t
text_columns(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void
text_cut(const char *text, size_t width, int utf8, struct str *out)
{
	size_t n = 0;
	const char *end = text;

	if (text_columns(text) <= width) {
		str_puts(out, text);
		return;
	}
	while (n + 1 < width) {
		end++;
		while (((unsigned char)*end & 0xc0) == 0x80)
			end++;
		n++;
	}
	str_add(out, text, (size_t)(end - text));
	if (width > 0)
		str_puts(out, utf8 ? "\xe2\x80\xa6" : "~");
}

static char *
cell_for_people(const struct out *o, const struct column *c, const json_t *item)
{
	struct str text = {0};

	if (c->make == NULL) {
		human_value(json_at(item, c->path), c->unit, o->now_ns, &text);
	} else {
		struct str made = {0};
		json_t *value;

		c->make(item, &made);
		value = json_string(str_text(&made));
		human_value(value, UNIT_TEXT, o->now_ns, &text);
		json_decref(value);
		str_fini(&made);
	}
	return str_take(&text);
}

static bool
is_shown(const struct out *o, const struct column *c)
{
	if ((c->flags & COL_CSV) != 0)
		return false;
	return (c->flags & COL_WIDE) == 0 || o->format == OUT_WIDE;
}

static bool
may_cut(const struct column *c)
{
	return (c->flags & COL_KEEP) == 0 && !human_is_number(c->unit) &&
	       c->unit != UNIT_TIME && c->unit != UNIT_INSTANT && c->unit != UNIT_STATE;
}

/* The widest column that may be cut, among those cut early or late; n_shown for none. */
static size_t
widest(const struct grid *g, bool late)
{
	size_t most = NARROW;
	size_t at = g->n_shown;

	for (size_t i = 0; i < g->n_shown; i++) {
		const struct column *c = &g->columns[g->shown[i]];

		if (may_cut(c) && ((c->flags & COL_LATE) != 0) == late &&
			g->width[i] > most) {
			most = g->width[i];
			at = i;
		}
	}
	return at;
}

/* Takes blanks from the widest column that may be cut until a row fits the terminal. */
static void
fit(struct grid *g, size_t total)
{
	size_t room = out_width(g->o);

	while (room > 0 && total > room) {
		size_t at = widest(g, false);

		if (at == g->n_shown)
			at = widest(g, true);
		if (at == g->n_shown)
			return;
		g->width[at]--;
		total--;
	}
}

/* Measures the columns; returns the width of a row. */
static size_t
measure(struct grid *g)
{
	size_t total = 0;

	for (size_t i = 0; i < g->n_shown; i++) {
		g->width[i] = text_columns(g->columns[g->shown[i]].title);
		for (size_t row = 0; row < g->n_rows; row++) {
			size_t w = text_columns(g->cells[row][g->shown[i]]);

			if (w > g->width[i])
				g->width[i] = w;
		}
		total += g->width[i] + (i > 0 ? GAP : 0);
	}
	return total;
}

/* The width of a row when all that may be cut is cut. */
static size_t
least_width(const struct grid *g)
{
	size_t total = 0;

	for (size_t i = 0; i < g->n_shown; i++) {
		bool cut = may_cut(&g->columns[g->shown[i]]) && g->width[i] > NARROW;

		total += (cut ? NARROW : g->width[i]) + (i > 0 ? GAP : 0);
	}
	return total;
}

/* Takes the last of the wide columns out; false when there is none. */
static bool
drop_wide(struct grid *g)
{
	for (size_t i = g->n_shown; i > 1; i--) {
		if ((g->columns[g->shown[i - 1]].flags & COL_WIDE) == 0)
			continue;
		memmove(&g->shown[i - 1], &g->shown[i],
			(g->n_shown - i) * sizeof(*g->shown));
		g->n_shown--;
		return true;
	}
	return false;
}

static void
pad(struct str *line, size_t n)
{
	while (n-- > 0)
		str_puts(line, " ");
}

/* One row; cells in order of the columns, or the titles when cells is NULL. */
static void
print_row(const struct grid *g, char *const *cells)
{
	struct str line = {0};

	for (size_t i = 0; i < g->n_shown; i++) {
		const struct column *c = &g->columns[g->shown[i]];
		const char *text = cells != NULL ? cells[g->shown[i]] : c->title;
		const char *colour = "";
		struct str cut = {0};
		size_t blanks;

		text_cut(text, g->width[i], g->o->utf8, &cut);
		blanks = g->width[i] - text_columns(str_text(&cut));
		if (cells != NULL && c->unit == UNIT_STATE)
			colour = out_colour(g->o, text);
		if (i > 0)
			pad(&line, GAP);
		if (human_is_number(c->unit))
			pad(&line, blanks);
		str_printf(&line, "%s%s%s", colour, str_text(&cut),
			colour[0] != '\0' ? out_plain(g->o) : "");
		if (!human_is_number(c->unit) && i + 1 < g->n_shown)
			pad(&line, blanks);
		str_fini(&cut);
	}
	fprintf(g->o->file, "%s\n", str_text(&line));
	str_fini(&line);
}

/* Takes out columns that have nothing in any row; the first always stays. */
static void
drop_empty(struct grid *g)
{
	size_t kept = 1;

	for (size_t i = 1; i < g->n_columns; i++) {
		bool empty = true;

		for (size_t row = 0; row < g->n_rows; row++)
			empty &= strcmp(g->cells[row][i], "-") == 0;
		if (!empty || g->n_rows == 0)
			g->shown[kept++] = i;
	}
	g->n_shown = kept;
}

/* Makes the cells of a table; grid_fini frees them. */
static void
grid_init(struct grid *g, const struct out *o, const json_t *items,
	const struct column *columns, size_t n)
{
	*g = (struct grid){.o = o, .n_rows = json_array_size(items)};
	g->columns = xcalloc(n, sizeof(*g->columns));
	for (size_t i = 0; i < n; i++)
		if (is_shown(o, &columns[i]))
			g->columns[g->n_columns++] = columns[i];
	g->cells = xcalloc(g->n_rows + 1, sizeof(*g->cells));
	g->shown = xcalloc(g->n_columns, sizeof(*g->shown));
	g->width = xcalloc(g->n_columns, sizeof(*g->width));
	for (size_t row = 0; row < g->n_rows; row++) {
		g->cells[row] = xcalloc(g->n_columns, sizeof(**g->cells));
		for (size_t i = 0; i < g->n_columns; i++)
			g->cells[row][i] = cell_for_people(
				o, &g->columns[i], json_array_get(items, row));
	}
	for (size_t i = 0; i < g->n_columns; i++)
		g->shown[g->n_shown++] = i;
	if (o->format != OUT_WIDE)
		drop_empty(g);
}

static void
grid_fini(struct grid *g)
{
	for (size_t row = 0; row < g->n_rows; row++) {
		for (size_t i = 0; i < g->n_columns; i++)
			free(g->cells[row][i]);
		free(g->cells[row]);
	}
	free(g->cells);
	free(g->shown);
	free(g->width);
	free(g->columns);
}

static void
print_table(
	const struct out *o, const json_t *items, const struct column *columns, size_t n)
{
	size_t room = out_width(o);
	size_t total;
	struct grid g;

	grid_init(&g, o, items, columns, n);
	total = measure(&g);
	if (room > 0 && least_width(&g) > room && g.n_rows > 0) {
		drop_empty(&g);
		total = measure(&g);
	}
	while (room > 0 && least_width(&g) > room && drop_wide(&g))
		total = measure(&g);
	fit(&g, total);
	print_row(&g, NULL);
	for (size_t row = 0; row < g.n_rows; row++)
		print_row(&g, g.cells[row]);
	grid_fini(&g);
}

size_t
table_width(const struct out *o, const json_t *items, const struct column *columns,
	size_t n, size_t most)
{
	struct grid g;
	size_t total;

	grid_init(&g, o, items, columns, n);
	total = measure(&g);
	for (size_t i = 0; i < g.n_shown; i++)
		if (may_cut(&g.columns[g.shown[i]]) && g.width[i] > most)
			total -= g.width[i] - most;
	grid_fini(&g);
	return total;
}

void
table_csv_cell(const char *value, int is_text, struct str *out)
{
	bool guard = is_text && value[0] != '\0' && strchr("=+-@\t\r", value[0]) != NULL;

	if (!guard && strpbrk(value, ",\"\r\n") == NULL) {
		str_puts(out, value);
		return;
	}
	str_puts(out, guard ? "\"'" : "\"");
	for (; *value != '\0'; value++)
		str_add(out, *value == '"' ? "\"\"" : value, *value == '"' ? 2 : 1);
	str_puts(out, "\"");
}

/* A value whose shape nobody can take for a formula: a JSON number, or the decimal string
 * of a 64-bit counter. */
static bool
is_plain_number(const struct column *c, const json_t *value)
{
	double x;

	return json_is_number(value) ||
	       (human_is_number(c->unit) && json_number(value, &x));
}

static void
print_csv(
	const struct out *o, const json_t *items, const struct column *columns, size_t n)
{
	struct str line = {0};
	json_t *item;
	size_t row;

	for (size_t i = 0; i < n; i++) {
		size_t at = line.len;

		if ((columns[i].flags & COL_PEOPLE) != 0)
			continue;
		str_printf(&line, "%s%s", i > 0 ? "," : "", columns[i].path);
		for (; at < line.len; at++)
			if (line.data[at] == '/')
				line.data[at] = '_';
	}
	fprintf(o->file, "%s\r\n", str_text(&line));
	json_array_foreach (items, row, item) {
		struct str clean = {0};

		str_reset(&line);
		for (size_t i = 0; i < n; i++) {
			const json_t *value = json_at(item, columns[i].path);
			struct str text = {0};

			if ((columns[i].flags & COL_PEOPLE) != 0)
				continue;
			if (value == NULL && columns[i].make != NULL)
				columns[i].make(item, &text);
			else
				raw_value(value, &text);
			str_puts(&line, i > 0 ? "," : "");
			table_csv_cell(str_text(&text),
				!is_plain_number(&columns[i], value), &line);
			str_fini(&text);
		}
		/* A file gets texts as they are, a terminal only what it can show. */
		human_clean(str_text(&line), "\t", &clean);
		fprintf(o->file, "%s\r\n", str_text(o->terminal ? &clean : &line));
		str_fini(&clean);
	}
	str_fini(&line);
}

void
table_print(
	const struct out *o, const json_t *items, const struct column *columns, size_t n)
{
	json_t *item;
	size_t row;

	switch (o->format) {
	case OUT_TABLE:
	case OUT_WIDE:
		print_table(o, items, columns, n);
		break;
	case OUT_CSV:
		print_csv(o, items, columns, n);
		break;
	case OUT_NAME:
		json_array_foreach (items, row, item) {
			char *name = cell_for_people(o, &columns[0], item);

			fprintf(o->file, "%s\n", name);
			free(name);
		}
		break;
	case OUT_JSON:
	case OUT_YAML:
		break;
	}
}

void
table_fields(
	const struct out *o, const json_t *item, const struct column *columns, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		if (text_columns(columns[i].title) > width)
			width = text_columns(columns[i].title);
	for (size_t i = 0; i < n; i++) {
		struct column column = columns[i];
		const char *colour;
		char *text;
		size_t at = 0;

		/* one thing has room for the time itself */
		if (column.unit == UNIT_TIME)
			column.unit = UNIT_INSTANT;
		text = cell_for_people(o, &column, item);
		colour = column.unit == UNIT_STATE ? out_colour(o, text) : "";
		if (strcmp(text, "-") != 0 && (columns[i].flags & COL_CSV) == 0) {
			for (; columns[i].title[at] != '\0'; at++)
				fputc(tolower((unsigned char)columns[i].title[at]),
					o->file);
			fprintf(o->file, "%*s%s%s%s\n", (int)(width - at) + GAP, "",
				colour, text, colour[0] != '\0' ? out_plain(o) : "");
		}
		free(text);
	}
}
