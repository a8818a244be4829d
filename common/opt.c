#include "common/opt.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"

static void *
field(void *opts, const struct opt *o)
{
	return (char *)opts + o->offset;
}

static int
out_of_range(const struct opt *o, const char *text, struct err *e)
{
	char low[32], high[32];

	if (o->type == OPT_SIZE) {
		format_size(o->min, low, sizeof(low));
		format_size(o->max, high, sizeof(high));
	} else {
		format_duration((int64_t)o->min, low, sizeof(low));
		format_duration((int64_t)o->max, high, sizeof(high));
	}
	return err_set(e, ERR_INVALID, "%s: \"%.40s\" is not within %s to %s", o->name,
		text, low, high);
}

static int
set_bool(const struct opt *o, const char *text, bool *ret, struct err *e)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return err_set(e, ERR_INVALID, "%s: \"%.40s\" is neither yes nor no",
			o->name, text);
	*ret = strcmp(text, "yes") == 0;
	return 0;
}

static int
set(const struct opt *o, void *opts, const char *text, struct err *e)
{
	char **owned;
	uint64_t n;
	int64_t ns;

	switch (o->type) {
	case OPT_UINT:
		if (parse_uint(text, o->min, o->max, field(opts, o), e) != 0)
			return err_ctx(e, "%s", o->name);
		return 0;
	case OPT_SIZE:
		if (parse_size(text, &n, e) != 0)
			return err_ctx(e, "%s", o->name);
		if (n < o->min || n > o->max)
			return out_of_range(o, text, e);
		*(uint64_t *)field(opts, o) = n;
		return 0;
	case OPT_DURATION:
		if (parse_duration(text, &ns, e) != 0)
			return err_ctx(e, "%s", o->name);
		if ((uint64_t)ns < o->min || (uint64_t)ns > o->max)
			return out_of_range(o, text, e);
		*(int64_t *)field(opts, o) = ns;
		return 0;
	case OPT_BOOL:
		return set_bool(o, text, field(opts, o), e);
	case OPT_TEXT:
	case OPT_PATH:
		owned = field(opts, o);
		free(*owned);
		*owned = xstrdup(text);
		return 0;
	}
	abort();
}

/* Compares names with '-' and '_' taken as equal; n characters of name. */
static bool
same_name(const char *row, const char *name, size_t n)
{
	if (strlen(row) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (row[i] != (name[i] == '-' ? '_' : name[i]))
			return false;
	return true;
}

static const struct opt *
find(const struct opt_set *s, const char *name, size_t n)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (same_name(s->rows[i].name, name, n))
			return &s->rows[i];
	return NULL;
}

static char *
trim(char *text)
{
	size_t n;

	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	return text;
}

/* A file of options that is being read. */
struct reading {
	const struct opt_set *s;
	void *opts;
	const char *path;
	int line;   /* number of the present one, from 1 */
	int *given; /* for each row the line that gave it, 0 for none */
};

/* Two values of one name are a slip: whoever edits the first one would wonder. */
static int
give_once(struct reading *r, const struct opt *o, struct err *e)
{
	int *given = &r->given[o - r->s->rows];

	if (*given != 0) {
		err_set(e, ERR_INVALID, "%s was given in line %d already", o->name,
			*given);
		return err_fix(e, "remove one of the two lines");
	}
	*given = r->line;
	return 0;
}

/* Sets a path that a file names, which may be one of the folder of the file. */
static int
set_path(const struct opt *o, void *opts, const char *file, const char *path,
	struct err *e)
{
	const char *slash = strrchr(file, '/');
	char *full;
	int rc;

	if (path[0] == '\0' || path[0] == '/' || path[0] == '~' || slash == NULL)
		return set(o, opts, path, e);
	full = xasprintf("%.*s/%s", (int)(slash - file), file, path);
	rc = set(o, opts, full, e);
	free(full);
	return rc;
}

/* One line of a file: `name = value`, or blank, or a comment from # on. */
static int
set_line(struct reading *r, char *line, struct err *e)
{
	const struct opt_set *s = r->s;
	char *name, *value, *equals;
	const struct opt *o;

	line[strcspn(line, "#")] = '\0';
	name = trim(line);
	if (*name == '\0')
		return 0;
	equals = strchr(name, '=');
	if (equals == NULL)
		return err_set(e, ERR_INVALID,
			"\"%.60s\" is not of the form name = value", name);
	*equals = '\0';
	name = trim(name);
	value = trim(equals + 1);
	o = find(s, name, strlen(name));
	if (o == NULL) {
		err_set(e, ERR_INVALID, "unknown option \"%.60s\"", name);
		return err_fix(e, "%s --help lists the options", s->program);
	}
	if (give_once(r, o, e) != 0)
		return -1;
	return o->type == OPT_PATH ? set_path(o, r->opts, r->path, value, e)
				   : set(o, r->opts, value, e);
}

static int
load_file(const struct opt_set *s, const char *path, bool must, void *opts, struct err *e)
{
	struct reading r = {.s = s, .opts = opts, .path = path};
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	if (f == NULL && errno == ENOENT && !must)
		return 0;
	if (f == NULL)
		return err_errno(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, errno,
			"open %s", path);
	r.given = xcalloc(s->n_rows, sizeof(*r.given));
	while (rc == 0 && (errno = 0, getline(&line, &cap, f)) >= 0) {
		r.line++;
		rc = set_line(&r, line, e);
	}
	if (rc != 0)
		err_ctx(e, "%s:%d", path, r.line);
	else if (ferror(f)) /* a directory can be opened, too */
		rc = err_set(
			e, ERR_INVALID, "%s cannot be read: %s", path, strerror(errno));
	free(r.given);
	free(line);
	fclose(f);
	return rc;
}

static int
load_environment(const struct opt_set *s, void *opts, struct err *e)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		char name[80];
		const char *value;
		int n = snprintf(name, sizeof(name), "SSDLAB_%s", s->rows[i].name);

		for (int j = 0; j < n; j++)
			name[j] = (char)toupper((unsigned char)name[j]);
		value = getenv(name);
		if (value != NULL && set(&s->rows[i], opts, value, e) != 0)
			return err_ctx(e, "environment variable %s", name);
	}
	return 0;
}

/* What one argument says: an option's name and value, or nothing. */
struct argument {
	const char *name;
	size_t name_len;
	const char *value; /* NULL when the option has none */
	int used;	   /* arguments taken: 1 or 2 */
};

static bool
read_argument(char **argv, struct argument *ret_a)
{
	const char *equals;

	if (strncmp(argv[0], "--", 2) != 0 || argv[0][2] == '\0')
		return false;
	ret_a->name = argv[0] + 2;
	equals = strchr(ret_a->name, '=');
	ret_a->name_len = equals != NULL ? (size_t)(equals - ret_a->name)
					 : strlen(ret_a->name);
	ret_a->value = equals != NULL ? equals + 1 : argv[1];
	ret_a->used = equals != NULL ? 1 : 2;
	return true;
}

/* Finds --config before anything else is read. */
static const char *
config_argument(char **argv)
{
	struct argument a;

	for (int i = 1; argv[i] != NULL; i++) {
		if (strcmp(argv[i], "--") == 0)
			return NULL;
		if (read_argument(argv + i, &a) && a.name_len == 6 &&
			strncmp(a.name, "config", 6) == 0)
			return a.value;
	}
	return NULL;
}

static int
load_arguments(
	const struct opt_set *s, char **argv, void *opts, char **ret_rest, struct err *e)
{
	int i = 1;

	while (argv[i] != NULL) {
		struct argument a;
		const struct opt *o;

		if (strcmp(argv[i], "--") == 0 || !read_argument(argv + i, &a)) {
			*ret_rest++ = argv[i++];
			continue;
		}
		o = find(s, a.name, a.name_len);
		if (o == NULL &&
			!(a.name_len == 6 && strncmp(a.name, "config", 6) == 0)) {
			err_set(e, ERR_INVALID, "unknown option \"%.60s\"", argv[i]);
			return err_fix(e, "%s --help lists the options", s->program);
		}
		if (a.value == NULL)
			return err_set(
				e, ERR_INVALID, "option %s wants a value", argv[i]);
		if (o != NULL && set(o, opts, a.value, e) != 0)
			return err_ctx(e, "argument --%.*s", (int)a.name_len, a.name);
		i += a.used;
	}
	*ret_rest = NULL;
	return 0;
}

bool
opt_has(int argc, char **argv, const char *flag)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], flag) == 0)
			return true;
	return false;
}

int
opt_load(const struct opt_set *set_of, int argc, char **argv, void *ret_opts,
	char **ret_rest, struct err *e)
{
	const char *config = config_argument(argv);
	const char *path = config != NULL ? config : set_of->default_file;

	assert(argv[argc] == NULL);
	for (size_t i = 0; i < set_of->n_rows; i++)
		if (set(&set_of->rows[i], ret_opts, set_of->rows[i].preset, e) != 0)
			return err_ctx(e, "preset");
	if (config == NULL && set_of->site_file != NULL &&
		load_file(set_of, set_of->site_file, false, ret_opts, e) != 0)
		return -1;
	if (path != NULL && load_file(set_of, path, config != NULL, ret_opts, e) != 0)
		return -1;
	if (load_environment(set_of, ret_opts, e) != 0)
		return -1;
	return load_arguments(set_of, argv, ret_opts, ret_rest, e);
}

void
opt_fini(const struct opt_set *s, void *opts)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		char **owned = field(opts, &s->rows[i]);

		if (s->rows[i].type != OPT_TEXT && s->rows[i].type != OPT_PATH)
			continue;
		free(*owned);
		*owned = NULL;
	}
}

static void
help_range(const struct opt *o, struct str *out)
{
	char low[32], high[32];

	switch (o->type) {
	case OPT_UINT:
		str_printf(out, "; %llu to %llu", (unsigned long long)o->min,
			(unsigned long long)o->max);
		break;
	case OPT_SIZE:
		str_printf(out, "; %s to %s", format_size(o->min, low, sizeof(low)),
			format_size(o->max, high, sizeof(high)));
		break;
	case OPT_DURATION:
		str_printf(out, "; %s to %s",
			format_duration((int64_t)o->min, low, sizeof(low)),
			format_duration((int64_t)o->max, high, sizeof(high)));
		break;
	case OPT_BOOL:
		str_puts(out, "; yes or no");
		break;
	case OPT_TEXT:
	case OPT_PATH:
		break;
	}
}

void
opt_help(const struct opt_set *s, struct str *out)
{
	str_printf(out, "%s - %s\n\nOptions (also as `name = value` in ", s->program,
		s->summary);
	str_printf(out, "%s and as SSDLAB_NAME in the environment):\n",
		s->default_file != NULL ? s->default_file : "a --config file");
	str_puts(out, "  --config FILE\n      read options from FILE\n");
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct opt *o = &s->rows[i];
		size_t at = out->len + 4;

		str_printf(out, "  --%s VALUE\n", o->name);
		for (; at < out->len && out->data[at] != ' '; at++)
			if (out->data[at] == '_')
				out->data[at] = '-';
		str_printf(out, "      %s (default %s", o->help,
			o->preset[0] != '\0' ? o->preset : "none");
		help_range(o, out);
		str_puts(out, ")\n");
	}
	str_puts(out, "  --help, --version\n");
}
