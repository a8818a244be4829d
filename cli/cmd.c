#include "cli/cmd.h"

#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client.h"
#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

#define F(name) (UINT64_C(1) << FLAG_##name)

/* What commands put out: text alone, that or a document, rows, things that have ids. */
#define TEXT (1U << OUT_TABLE | 1U << OUT_WIDE)
#define DOCUMENT (TEXT | 1U << OUT_JSON)
#define ROWS (DOCUMENT | 1U << OUT_CSV)
#define NAMES (1U << OUT_NAME)
#define SUITES (1U << OUT_JSON | 1U << OUT_YAML)

static const struct cmd cmds[] = {
#define CMD(noun, verb, usage, min, max, flags, outputs, handler, help) \
	{noun, verb, usage, min, max, flags, outputs, handler, help},
#include "cli/cmd_tbl.h"
#undef CMD
};

#define CMDS (sizeof(cmds) / sizeof(cmds[0]))

static const struct {
	const char *name; /* "--help" */
	char letter;
	const char *value; /* NULL: takes none */
	const char *help;
} flag_rows[FLAGS] = {
#define FLAG(name, text, letter, value, help) {"--" text, letter, value, help},
#include "cli/flag_tbl.h"
#undef FLAG
};

static bool
takes(const struct cmd *cmd, int flag)
{
	return flag == FLAG_HELP || flag == FLAG_OUTPUT ||
	       (cmd != NULL && (cmd->flags >> flag & 1) != 0);
}

/* Arguments still to be read. */
struct cursor {
	char **next;
	bool only_args; /* after "--" */
};

static int
flag_named(const char *name, size_t n)
{
	for (int i = 0; i < FLAGS; i++)
		if (strlen(flag_rows[i].name) == n &&
			strncmp(flag_rows[i].name, name, n) == 0)
			return i;
	return -1;
}

static int
flag_of_letter(char letter)
{
	for (int i = 0; i < FLAGS; i++)
		if (flag_rows[i].letter == letter && letter != 0)
			return i;
	return -1;
}

static int
unknown_option(const struct cmd *cmd, const char *arg, struct err *e)
{
	const char *names[FLAGS + 1];
	size_t n = 0;

	for (int i = 0; i < FLAGS; i++)
		if (takes(cmd, i))
			names[n++] = flag_rows[i].name;
	names[n] = NULL;
	err_set(e, ERR_INVALID, "unknown option \"%.60s\"", arg);
	return err_suggest(e, arg, names);
}

/* The value of an option: what is attached to it, or the next argument. */
static int
value_of(struct cursor *at, const char *arg, const char *attached, const char **ret_value,
	struct err *e)
{
	*ret_value = attached != NULL ? attached : *at->next;
	if (*ret_value == NULL)
		return err_set(e, ERR_INVALID, "option %.60s wants a value", arg);
	if (attached == NULL)
		at->next++;
	return 0;
}

static int
take_config(struct cmd_line *l, struct cursor *at, const char *arg, size_t n_name,
	struct err *e)
{
	const char *equals = arg[2 + n_name] == '=' ? arg + 3 + n_name : NULL;
	const char *value;

	if (value_of(at, arg, equals, &value, e) != 0)
		return -1;
	l->options = xrealloc(l->options, (size_t)l->n_options + 1, sizeof(*l->options));
	l->options[l->n_options++] = xasprintf("%.*s=%s", (int)n_name + 2, arg, value);
	return 0;
}

static int
take_long(struct cmd_line *l, struct cursor *at, const char *arg, struct err *e)
{
	size_t n = strcspn(arg + 2, "=");
	const char *attached = arg[2 + n] == '=' ? arg + 3 + n : NULL;
	int flag = flag_named(arg, n + 2);

	if (config_has(arg + 2, n))
		return take_config(l, at, arg, n, e);
	if (flag < 0 || !takes(l->cmd, flag))
		return unknown_option(l->cmd, arg, e);
	if (flag_rows[flag].value != NULL)
		return value_of(at, arg, attached, &l->flags[flag], e);
	if (attached != NULL)
		return err_set(
			e, ERR_INVALID, "option %s takes no value", flag_rows[flag].name);
	l->flags[flag] = "";
	return 0;
}

/* Letters may stand together (-yw); one that has a value ends them (-ojson, -o json). */
static int
take_letters(struct cmd_line *l, struct cursor *at, const char *arg, struct err *e)
{
	for (const char *p = arg + 1; *p != '\0'; p++) {
		int flag = flag_of_letter(*p);

		if (flag < 0 || !takes(l->cmd, flag))
			return unknown_option(l->cmd, arg, e);
		if (flag_rows[flag].value != NULL)
			return value_of(
				at, arg, p[1] != '\0' ? p + 1 : NULL, &l->flags[flag], e);
		l->flags[flag] = "";
	}
	return 0;
}

/* Takes options until a word comes; *ret_word is NULL at the end. */
static int
next_word(struct cmd_line *l, struct cursor *at, const char **ret_word, struct err *e)
{
	const char *arg;

	*ret_word = NULL;
	while ((arg = *at->next) != NULL) {
		int rc;

		at->next++;
		if (at->only_args || arg[0] != '-' || arg[1] == '\0') {
			*ret_word = arg;
			return 0;
		}
		if (strcmp(arg, "--") == 0) {
			at->only_args = true;
			continue;
		}
		if (strcmp(arg, "--version") == 0) {
			*ret_word = "version";
			return 0;
		}
		rc = arg[1] == '-' ? take_long(l, at, arg, e)
				   : take_letters(l, at, arg, e);
		if (rc != 0)
			return -1;
	}
	return 0;
}

/* Whether the row is the first of its noun. */
static bool
starts_noun(size_t i)
{
	return i == 0 || strcmp(cmds[i - 1].noun, cmds[i].noun) != 0;
}

static int
unknown_noun(const char *word, struct err *e)
{
	const char *names[CMDS + 1];
	size_t n = 0;

	for (size_t i = 0; i < CMDS; i++)
		if (starts_noun(i))
			names[n++] = cmds[i].noun;
	names[n] = NULL;
	err_set(e, ERR_INVALID, "unknown command \"%.60s\"", word);
	return err_suggest(e, word, names);
}

static int
unknown_verb(const char *noun, const char *word, struct err *e)
{
	const char *names[CMDS + 1];
	size_t n = 0;

	for (size_t i = 0; i < CMDS; i++)
		if (strcmp(cmds[i].noun, noun) == 0)
			names[n++] = cmds[i].verb;
	names[n] = NULL;
	err_set(e, ERR_INVALID, "unknown command \"%s %.60s\"", noun, word);
	return err_suggest(e, word, names);
}

static const struct cmd *
find(const char *noun, const char *verb)
{
	for (size_t i = 0; i < CMDS; i++)
		if (strcmp(cmds[i].noun, noun) == 0 &&
			(verb == NULL || strcmp(cmds[i].verb, verb) == 0))
			return &cmds[i];
	return NULL;
}

/* Reads noun and verb; leaves l->cmd NULL when help is all that can follow. */
static int
take_command(struct cmd_line *l, struct cursor *at, struct err *e)
{
	const struct cmd *first;
	const char *word;

	if (next_word(l, at, &word, e) != 0)
		return -1;
	if (word != NULL && strcmp(word, "help") == 0) {
		l->help = true;
		if (next_word(l, at, &word, e) != 0)
			return -1;
	}
	if (word == NULL)
		return 0;
	first = find(word, NULL);
	if (first == NULL)
		return unknown_noun(word, e);
	l->noun = first->noun;
	if (first->verb[0] == '\0') {
		l->cmd = first;
		return 0;
	}
	if (next_word(l, at, &word, e) != 0)
		return -1;
	if (word != NULL && (l->cmd = find(first->noun, word)) == NULL)
		return unknown_verb(first->noun, word, e);
	return 0;
}

static int
take_args(struct cmd_line *l, struct cursor *at, struct err *e)
{
	const char *word;
	int n = 0;

	for (;;) {
		if (next_word(l, at, &word, e) != 0)
			return -1;
		if (word == NULL)
			break;
		if (n == l->cmd->max_args)
			return err_set(e, ERR_INVALID,
				"\"%.60s\" is one argument too many", word);
		l->args[n++] = word;
	}
	if (n < l->cmd->min_args && !l->help && l->flags[FLAG_HELP] == NULL)
		return err_set(e, ERR_INVALID, "%s is missing", l->cmd->usage);
	return 0;
}

/* The outputs of a command, comma-separated. */
static void
add_outputs(const struct cmd *cmd, struct str *out)
{
	const char *comma = "";
	const char *name;

	for (int i = 0; (name = out_format_name((enum out_format)i)) != NULL; i++) {
		if ((cmd->outputs >> i & 1) == 0)
			continue;
		str_printf(out, "%s%s", comma, name);
		comma = ", ";
	}
}

/* The one of its own outputs that was probably meant, and all of them. */
static int
suggest_output(const struct cmd *cmd, const char *text, struct err *e)
{
	const char *own[OUT_YAML + 2];
	struct err guess = {0};
	struct str names = {0};
	size_t n = 0;
	bool close;

	for (int i = 0; out_format_name((enum out_format)i) != NULL; i++)
		if ((cmd->outputs >> i & 1) != 0)
			own[n++] = out_format_name((enum out_format)i);
	own[n] = NULL;
	err_suggest(&guess, text, own);
	close = strncmp(guess.fix, "did you mean", 12) == 0;
	add_outputs(cmd, &names);
	err_fix(e, "%s%sits outputs are %s", close ? guess.fix : "", close ? " " : "",
		str_text(&names));
	str_fini(&names);
	return -1;
}

static int
check_output(struct cmd_line *l, struct err *e)
{
	const char *text = l->flags[FLAG_OUTPUT];

	if (text == NULL)
		return 0;
	if (out_parse_format(text, &l->format, e) != 0)
		return suggest_output(l->cmd, text, e);
	if ((l->cmd->outputs >> l->format & 1) != 0)
		return 0;
	err_set(e, ERR_INVALID, "%s%s%s has no output \"%s\"", l->cmd->noun,
		l->cmd->verb[0] != '\0' ? " " : "", l->cmd->verb, text);
	return suggest_output(l->cmd, text, e);
}

/* What is written here goes into JSON and URLs. */
static int
check_text(int argc, char **argv, struct err *e)
{
	for (int i = 1; i < argc; i++) {
		json_t *v = json_string(argv[i]);

		if (v == NULL) {
			err_set(e, ERR_INVALID, "argument %d is not UTF-8", i);
			return err_fix(e, "use a terminal or an encoding of UTF-8");
		}
		json_decref(v);
	}
	return 0;
}

int
cmd_parse(int argc, char **argv, struct cmd_line *ret_l, struct err *e)
{
	struct cursor at = {.next = argv + (argc > 0)};
	int rc;

	*ret_l = (struct cmd_line){0};
	if (check_text(argc, argv, e) != 0)
		return -1;
	rc = take_command(ret_l, &at, e);
	if (rc == 0 && ret_l->cmd != NULL)
		rc = take_args(ret_l, &at, e);
	if (rc == 0 && ret_l->cmd != NULL)
		rc = check_output(ret_l, e);
	if (rc != 0 && ret_l->cmd != NULL)
		return err_fix(e, "usage: ssdlab %s%s%s%s%s", ret_l->cmd->noun,
			ret_l->cmd->verb[0] != '\0' ? " " : "", ret_l->cmd->verb,
			ret_l->cmd->usage[0] != '\0' ? " " : "", ret_l->cmd->usage);
	if (rc != 0)
		return err_fix(e, "ssdlab --help lists the commands");
	if (ret_l->flags[FLAG_HELP] != NULL)
		ret_l->help = true;
	return 0;
}

void
cmd_line_fini(struct cmd_line *l)
{
	for (int i = 0; i < l->n_options; i++)
		free(l->options[i]);
	free(l->options);
}

static void
help_row(const struct cmd *cmd, struct str *out)
{
	char *left = xasprintf("%s%s%s%s%s", cmd->noun, cmd->verb[0] != '\0' ? " " : "",
		cmd->verb, cmd->usage[0] != '\0' ? " " : "", cmd->usage);

	str_printf(out, "  %-26s %s\n", left, cmd->help);
	free(left);
}

static void
help_flags(const struct cmd *cmd, struct str *out)
{
	for (int i = FLAGS - 1; i >= 0; i--) {
		char *left;

		if (!takes(cmd, i))
			continue;
		left = xasprintf("%c%c%s %s %s", flag_rows[i].letter ? '-' : ' ',
			flag_rows[i].letter ? flag_rows[i].letter : ' ',
			flag_rows[i].letter ? "," : " ", flag_rows[i].name,
			flag_rows[i].value != NULL ? flag_rows[i].value : "");
		str_printf(out, "  %-26s %s\n", left, flag_rows[i].help);
		free(left);
	}
}

/* Those that the controller ranks and compares by; tools/check-docs compares. */
static const char metrics_help[] =
	"\nMetrics:\n"
	"  peak_iops              IOPS at the peak, the point with most of them\n"
	"  peak_bytes_per_second  bandwidth there\n"
	"  lat_mean_ns@peak       service latency there: mean, 99 % and 99.9 % quantile\n"
	"  lat_p99_ns@peak\n"
	"  lat_p99.9_ns@peak\n"
	"  lat_mean_ns@50         response latency at 50 % load: mean and 99 % quantile\n"
	"  lat_p99_ns@50\n"
	"  iops@rate              where rates were offered as they are: IOPS at the "
	"highest\n"
	"  lat_mean_ns@rate       of them, and its response latency: mean and 99 % "
	"quantile\n"
	"  lat_p99_ns@rate\n";

static void
help_command(const struct cmd *cmd, struct str *out)
{
	str_printf(out, "Usage: ssdlab %s%s%s%s%s [OPTIONS]\n\n  %s\n\nOptions:\n",
		cmd->noun, cmd->verb[0] != '\0' ? " " : "", cmd->verb,
		cmd->usage[0] != '\0' ? " " : "", cmd->usage, cmd->help);
	help_flags(cmd, out);
	str_puts(out, "\nOutputs: ");
	add_outputs(cmd, out);
	str_puts(out, "\n");
	if (strcmp(cmd->noun, "rank") == 0 || strcmp(cmd->noun, "compare") == 0)
		str_puts(out, metrics_help);
	str_puts(out, "\n");
	config_help(out);
}

void
cmd_help(const struct cmd *cmd, const char *noun, struct str *out)
{
	if (cmd != NULL) {
		help_command(cmd, out);
		return;
	}
	str_printf(out, "Usage: ssdlab %s%s [OPTIONS]\n", noun != NULL ? noun : "COMMAND",
		noun != NULL ? " VERB" : "");
	for (size_t i = 0; i < CMDS; i++) {
		if (noun != NULL && strcmp(cmds[i].noun, noun) != 0)
			continue;
		if (starts_noun(i) && (i == 0 || cmds[i].verb[0] != cmds[i - 1].verb[0]))
			str_puts(out, "\n");
		help_row(&cmds[i], out);
	}
	str_puts(out,
		"\nEach command has --help. Ids may be written r12 or 12; nodes and "
		"campaigns\n"
		"go by name and drives by serial too. stdout is data, stderr is "
		"talk.\n"
		"Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 not allowed, "
		"5 refused to\n"
		"protect a drive, 8 changed meanwhile, 9 timeout, 10 finished with "
		"failed runs,\n"
		"or converted, but not all of the load.\n");
}

/* Where, what, and the cure: one to three lines. */
static int
report(const struct err *e)
{
	talk("ssdlab: %s", e->text);
	if (e->pointer[0] != '\0')
		talk("  at:  %s", e->pointer);
	if (e->fix[0] != '\0')
		talk("  fix: %s", e->fix);
	return err_exit_code(e->class);
}

/* Returns the exit code, or -1 with e. */
static int
run(struct cli *c, struct cmd_line *l, struct err *e)
{
	char **options = xcalloc((size_t)l->n_options + 2, sizeof(*options));
	static char name[] = "ssdlab";
	int rc;

	options[0] = name;
	for (int i = 0; i < l->n_options; i++)
		options[i + 1] = l->options[i];
	c->cmd = l->cmd;
	memcpy(c->args, l->args, sizeof(c->args));
	memcpy(c->flags, l->flags, sizeof(c->flags));
	rc = config_load(l->n_options + 1, options, &c->config, e);
	free(options);
	if (rc != 0)
		return -1;
	c->client = client_new(&c->config);
	out_init(&c->out, stdout, l->format);
	return l->cmd->run(c, e) == 0 ? c->exit_code : -1;
}

static int
show_help(const struct cmd_line *l)
{
	struct str text = {0};

	cmd_help(l->cmd, l->noun, &text);
	fputs(str_text(&text), l->help ? stdout : stderr);
	str_fini(&text);
	return l->help ? 0 : err_exit_code(ERR_INVALID);
}

int
cmd_main(int argc, char **argv)
{
	struct err e = {0};
	struct cmd_line l;
	struct cli c = {0};
	int code = 0;

	setlocale(LC_CTYPE, ""); /* NOLINT(concurrency-mt-unsafe): before threads start */
	if (cmd_parse(argc, argv, &l, &e) == 0)
		code = l.help || l.cmd == NULL ? show_help(&l) : run(&c, &l, &e);
	if (e.class != ERR_NONE)
		code = report(&e);
	if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
		talk("ssdlab: stdout could not be written");
		code = err_exit_code(ERR_IO);
	}
	client_free(c.client);
	config_fini(&c.config);
	cmd_line_fini(&l);
	return code;
}
