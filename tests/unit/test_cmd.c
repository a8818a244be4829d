#include "cli/cmd.h"

#include <stdio.h>

#include "common/str.h"
#include "tests/unit/unit.h"

/* Parses arguments given as one text, split at blanks. */
static int
parse(const char *text, struct cmd_line *ret_l, struct err *e)
{
	static char buf[400];
	char *argv[32];
	int argc = 0;

	snprintf(buf, sizeof(buf), "ssdlab %s", text);
	for (char *p = strtok(buf, " "); p != NULL; p = strtok(NULL, " "))
		argv[argc++] = p;
	argv[argc] = NULL;
	return cmd_parse(argc, argv, ret_l, e);
}

/* Wants an error with this sentence and fix. */
static void
refused(const char *text, const char *sentence, const char *fix)
{
	struct err e = {0};
	struct cmd_line l;

	ck_assert_msg(parse(text, &l, &e) == -1, "%s was taken", text);
	ck_assert_str_eq(e.text, sentence);
	ck_assert_str_eq(e.fix, fix);
	ck_assert_int_eq(err_exit_code(e.class), 2);
	cmd_line_fini(&l);
}

START_TEST(a_command_is_noun_verb_arguments_and_options_in_any_order)
{
	struct err e = {0};
	struct cmd_line l;

	OK(parse("-o json campaign submit --yes -w f.yaml --timeout=5m", &l, &e));
	ck_assert_str_eq(l.cmd->noun, "campaign");
	ck_assert_str_eq(l.cmd->verb, "submit");
	ck_assert_str_eq(l.args[0], "f.yaml");
	ck_assert_ptr_null(l.args[1]);
	ck_assert_str_eq(l.flags[FLAG_OUTPUT], "json");
	ck_assert_str_eq(l.flags[FLAG_YES], "");
	ck_assert_str_eq(l.flags[FLAG_WATCH], "");
	ck_assert_str_eq(l.flags[FLAG_TIMEOUT], "5m");
	cmd_line_fini(&l);
}
END_TEST

START_TEST(letters_stand_together_and_take_attached_values)
{
	struct err e = {0};
	struct cmd_line l;

	OK(parse("campaign submit -ywojson -- -", &l, &e));
	ck_assert_str_eq(l.flags[FLAG_YES], "");
	ck_assert_str_eq(l.flags[FLAG_WATCH], "");
	ck_assert_str_eq(l.flags[FLAG_OUTPUT], "json");
	ck_assert_int_eq(l.format, OUT_JSON);
	ck_assert_str_eq(l.args[0], "-");
	cmd_line_fini(&l);
	OK(parse("campaign lint -", &l, &e));
	ck_assert_str_eq(l.args[0], "-");
	cmd_line_fini(&l);
	OK(parse("node show -- --odd", &l, &e));
	ck_assert_str_eq(l.args[0], "--odd");
	cmd_line_fini(&l);
}
END_TEST

START_TEST(options_of_the_configuration_are_kept_for_it)
{
	struct err e = {0};
	struct cmd_line l;

	OK(parse("--server http://a:1 run show --token-file=t 12 --ca-file c", &l, &e));
	ck_assert_int_eq(l.n_options, 3);
	ck_assert_str_eq(l.options[0], "--server=http://a:1");
	ck_assert_str_eq(l.options[1], "--token-file=t");
	ck_assert_str_eq(l.options[2], "--ca-file=c");
	ck_assert_str_eq(l.args[0], "12");
	cmd_line_fini(&l);
}
END_TEST

START_TEST(a_wrong_command_line_says_what_was_probably_meant)
{
	refused("nod ls", "unknown command \"nod\"", "did you mean \"node\"?");
	refused("node lst", "unknown command \"node lst\"", "did you mean \"ls\"?");
	refused("suite x", "unknown command \"suite x\"",
		"known here: ls, show, add, lint");
	refused("run ls --stat done", "unknown option \"--stat\"",
		"did you mean \"--state\"?");
	refused("node ls --yes", "unknown option \"--yes\"",
		"known here: --help, --output");
	refused("node ls -y", "unknown option \"-y\"", "known here: --help, --output");
	refused("campaign lint", "FILE is missing", "usage: ssdlab campaign lint FILE");
	refused("compare d1", "A B is missing", "usage: ssdlab compare A B");
	refused("node show a b", "\"b\" is one argument too many",
		"usage: ssdlab node show NODE");
	refused("run ls --state", "option --state wants a value", "usage: ssdlab run ls");
	refused("run ls --server", "option --server wants a value",
		"usage: ssdlab run ls");
	refused("rank -o name", "rank has no output \"name\"",
		"its outputs are table, wide, json, csv");
	refused("node enroll sr-01 -ocsv", "node enroll has no output \"csv\"",
		"its outputs are table, wide, json");
	refused("run ls -o jsn", "\"jsn\" is not an output format",
		"did you mean \"json\"? its outputs are table, wide, json, csv, name");
	refused("run ls -o xml", "\"xml\" is not an output format",
		"its outputs are table, wide, json, csv, name");
	refused("campaign convert f -o xml", "\"xml\" is not an output format",
		"did you mean \"yaml\"? its outputs are json, yaml");
	refused("campaign submit f --yes=no", "option --yes takes no value",
		"usage: ssdlab campaign submit FILE");
	refused("node enroll sr\xff", "argument 3 is not UTF-8",
		"use a terminal or an encoding of UTF-8");
}
END_TEST

START_TEST(help_is_there_at_every_level)
{
	static const struct {
		const char *text;
		const char *part;
	} rows[] = {
		{"--help", "campaign submit FILE"},
		{"help", "Exit codes"},
		{"node --help", "node enroll NAME"},
		{"help node", "node enroll NAME"},
		{"node enroll --help", "--max-runs N"},
		{"node enroll -h", "Usage: ssdlab node enroll NAME [OPTIONS]"},
		{"help rank", "--metric METRIC"},
		{"help rank", "lat_p99_ns@50"},
		{"compare --help", "peak_bytes_per_second"},
		{"run ls --help", "Outputs: table, wide, json, csv, name\n"},
		{"rank --help", "Outputs: table, wide, json, csv\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = {0};
		struct cmd_line l;
		struct str out = {0};

		OK(parse(rows[i].text, &l, &e));
		ck_assert_msg(l.help, "%s asks for no help", rows[i].text);
		cmd_help(l.cmd, l.noun, &out);
		ck_assert_msg(strstr(str_text(&out), rows[i].part) != NULL, "%s: %s",
			rows[i].text, str_text(&out));
		str_fini(&out);
		cmd_line_fini(&l);
	}
}
END_TEST

START_TEST(a_noun_alone_is_no_command)
{
	struct err e = {0};
	struct cmd_line l;

	OK(parse("node", &l, &e));
	ck_assert_ptr_null(l.cmd);
	ck_assert(!l.help);
	cmd_line_fini(&l);
	OK(parse("", &l, &e));
	ck_assert_ptr_null(l.cmd);
	ck_assert(!l.help);
	cmd_line_fini(&l);
	OK(parse("--version", &l, &e));
	ck_assert_str_eq(l.cmd->noun, "version");
	cmd_line_fini(&l);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("cmd");

	tcase_add_test(tc, a_command_is_noun_verb_arguments_and_options_in_any_order);
	tcase_add_test(tc, letters_stand_together_and_take_attached_values);
	tcase_add_test(tc, options_of_the_configuration_are_kept_for_it);
	tcase_add_test(tc, a_wrong_command_line_says_what_was_probably_meant);
	tcase_add_test(tc, help_is_there_at_every_level);
	tcase_add_test(tc, a_noun_alone_is_no_command);
	return unit_run("cmd", tc);
}
