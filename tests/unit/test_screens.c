/* What commands say of answers that are given: the whole way from REST to the screen. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "common/clock.h"
#include "common/json.h"
#include "tests/unit/log_rig.h"
#include "tests/unit/serve_rig.h"

static char *text; /* what the last command printed */

/* Runs a command against a server with these answers; prints into text. */
static int
run(cmd_fn *fn, const struct cli *with, const struct serve_row *rows, struct err *e)
{
	char server[80];
	int fd = serve_listen("http", server, sizeof(server));
	pid_t child = serve_start(fd, rows);
	struct cli c = *with;
	size_t len;
	int rc;

	err_clear(e);
	c.client = serve_client(server, &c.config);
	free(text);
	out_init(&c.out, stdout, OUT_TABLE);
	c.out.terminal = c.out.colour = c.out.utf8 = false;
	c.out.file = open_memstream(&text, &len);
	rc = fn(&c, e);
	fclose(c.out.file);
	client_free(c.client);
	config_fini(&c.config);
	serve_stop(child, fd);
	return rc;
}

static void
has(const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

static void
has_not(const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in\n%s", part, text);
}

#define COUNTS(running, done, total)                                                    \
	"\"runs\":{\"total\":" total ",\"pending\":0,\"leased\":0,\"running\":" running \
	",\"collecting\":0,\"done\":" done ",\"failed\":0,\"cancelled\":0,\"lost\":0}"

START_TEST(a_campaign_that_has_ended_is_not_cancelled)
{
	static const struct serve_row rows[] = {
		{"GET /api/v1/campaigns/c1 ", "{\"id\":\"c1\",\"state\":\"done\"}"},
		{"GET /api/v1/campaigns/c2 ", "{\"id\":\"c2\",\"state\":\"failed\"}"},
		{"GET /api/v1/campaigns/c3 ", "{\"id\":\"c3\",\"state\":\"cancelled\"}"},
		{"GET /api/v1/campaigns/c4 ", "{\"id\":\"c4\",\"state\":\"running\"}"},
		{"POST /api/v1/campaigns/c4/cancel ",
			"{\"id\":\"c4\",\"state\":\"running\",\"cancelling\":true}"},
		{"GET /api/v1/campaigns/c5 ", "{\"id\":\"c5\",\"state\":\"running\"}"},
		{"POST /api/v1/campaigns/c5/cancel ",
			"{\"id\":\"c5\",\"state\":\"done\"}"},
		{NULL, NULL},
	};
	static const struct {
		const char *id, *error; /* NULL: none */
	} cases[] = {
		{"c1", "nothing was cancelled: c1 had ended before and is done"},
		{"c2", "nothing was cancelled: c2 had ended before and is failed"},
		{"c3", NULL},
		{"c4", NULL},
		{"c5", "nothing was cancelled: c5 had ended before and is done"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cli c = {.args = {cases[i].id}};
		struct err e = {0};
		int rc = run(cmd_campaign_cancel, &c, rows, &e);

		ck_assert_str_eq(e.text, cases[i].error != NULL ? cases[i].error : "");
		ck_assert_int_eq(rc, cases[i].error != NULL ? -1 : 0);
		ck_assert_int_eq(err_exit_code(e.class), cases[i].error != NULL ? 8 : 0);
	}
}
END_TEST

START_TEST(a_run_that_nothing_stops_says_so_when_it_is_cancelled)
{
	static const struct serve_row rows[] = {
		{"GET /api/v1/campaigns/c4 ", "{\"id\":\"c4\",\"state\":\"running\"}"},
		{"POST /api/v1/campaigns/c4/cancel ",
			"{\"id\":\"c4\",\"state\":\"running\",\"cancelling\":true}"},
		{"GET /api/v1/runs?state=running&campaign=c4&",
			"{\"items\":[{\"id\":\"r6\",\"state\":\"running\",\"blockers\":"
			"[]},"
			"{\"id\":\"r7\",\"state\":\"running\",\"cancel_requested\":true,"
			"\"blockers\":[{\"text\":\"cannot stop: purge by format; it "
			"goes on\"}]}]}"},
		{"GET /api/v1/runs?",
			"{\"items\":[{\"id\":\"r7\",\"state\":\"running\",\"cancel_"
			"requested\":true,\"blockers\":[{\"text\":\"cannot stop: purge "
			"by format; it goes on\"}]}]}"},
		{NULL, NULL},
	};
	struct cli c = {.args = {"c4"}};
	struct err e = {0};

	log_catch();
	OK(run(cmd_campaign_cancel, &c, rows, &e));
	ck_assert_uint_eq(log_caught("cannot stop: purge by format; it"), 1);
	ck_assert_uint_eq(log_caught("is being cancelled: its"), 1);
	c.args[0] = NULL;
	OK(run(cmd_run_ls, &c, rows, &e));
	has("cannot stop: purge by format; it goes on");
}
END_TEST

START_TEST(the_counts_of_a_campaign_are_those_of_the_runs_below)
{
	static const struct serve_row rows[] = {
		/* never at rest: the list is ahead at each reading */
		{"GET /api/v1/campaigns/c1 ",
			"{\"id\":\"c1\",\"name\":\"demo\",\"state\":\"running\","
			"\"cancelling\":true," COUNTS("2", "0", "2") "}"},
		{"GET /api/v1/campaigns/c1/runs",
			"{\"items\":[{\"id\":\"r1\",\"state\":\"done\"},"
			"{\"id\":\"r2\",\"state\":\"running\",\"cancel_requested\":true,"
			"\"finished\":null}],\"next_cursor\":null}"},
		{NULL, NULL},
	};
	struct cli c = {.args = {"c1"}};
	struct err e = {0};

	OK(run(cmd_campaign_show, &c, rows, &e));
	has("1/2 done, 1 running\n");
	has("state       cancelling\n");
	has("r1  done\n");
	has("r2  cancelling\n");
}
END_TEST

START_TEST(status_lists_what_waits_in_its_order_with_ids_and_what_runs_of_how_many)
{
	static const struct serve_row rows[] = {
		{"GET /api/v1/version ", "{\"version\":\"1\"}"},
		{"GET /api/v1/healthz ", "{\"status\":\"ok\"}"},
		{"GET /api/v1/nodes",
			"{\"items\":[{\"id\":\"n1\",\"name\":\"sr-01\",\"admin\":"
			"\"active\","
			"\"observed\":\"online\",\"running\":0,\"max_runs\":4}]}"},
		{"GET /api/v1/drives", "{\"items\":[{\"id\":\"d1\",\"admin\":"
				       "\"unapproved\",\"observed\":"
				       "\"present\",\"admin_reason\":\"goes back\","
				       "\"health_unread\":\"smartctl is missing\"}]}"},
		{"GET /api/v1/runs?state=pending",
			"{\"items\":[{\"id\":\"r12\",\"campaign\":\"c4\",\"campaign_"
			"name\":"
			"\"late\",\"priority\":50,\"state\":\"pending\",\"drive\":{"
			"\"serial\":"
			"\"S1\"},\"blockers\":[{\"text\":\"a\"},{\"text\":\"b\"}]},"
			"{\"id\":\"r11\",\"campaign\":\"c3\",\"campaign_name\":"
			"\"urgent\","
			"\"priority\":90,\"state\":\"pending\",\"drive\":{\"serial\":"
			"\"S1\"},"
			"\"blockers\":[]},"
			"{\"id\":\"r9\",\"campaign\":\"c2\",\"campaign_name\":\"early\","
			"\"priority\":50,\"state\":\"pending\",\"drive\":{\"serial\":"
			"\"S1\"},"
			"\"blockers\":[]}]}"},
		{"GET /api/v1/runs?state=running",
			"{\"items\":[{\"id\":\"r5\",\"state\":\"running\",\"progress\":{"
			"\"workload\":\"fill\",\"fill_pass\":1,\"fill_passes\":2}},"
			"{\"id\":\"r6\",\"state\":\"running\",\"progress\":{"
			"\"workload\":\"paced\",\"offered_iops\":5000}}]}"},
		{"GET /api/v1/runs", "{\"items\":[]}"},
		{"GET /api/v1/campaigns?state=running",
			"{\"items\":[{\"id\":\"c7\",\"state\":\"running\",\"left_ns\":"
			"\"10800000000000\",\"left_at_most\":true}]}"},
		{"GET /api/v1/campaigns?state=queued",
			"{\"items\":[{\"id\":\"c8\",\"state\":\"queued\",\"left_ns\":"
			"\"60000000000\",\"left_at_most\":false}]}"},
		{NULL, NULL},
	};
	struct cli c = {0};
	struct err e = {0};

	OK(run(cmd_status, &c, rows, &e));
	has("fill 1 of 2");
	has("health unread  smartctl is missing");
	has("paced 5.00 k IOPS");
	has("at most about 3 h");
	has(" about 60 s");
	has("RUNNING");
	has("0 of 4");
	has("RUN  CAMPAIGN  NAME    SERIAL  WAITS FOR\n"
	    "r11  c3        urgent  S1      -\n"
	    "r9   c2        early   S1      -\n"
	    "r12  c4        late    S1      a; b\n");
	has_not("not approved");
}
END_TEST

START_TEST(a_list_of_suites_says_which_drive_fits_in_short_lines)
{
	static const struct serve_row rows[] = {
		{"GET /api/v1/suites",
			"{\"items\":[{\"name\":\"a\",\"version\":1,\"title\":\"A\","
			"\"minimum_capacity_bytes\":\"1000000000000\",\"workloads\":"
			"[\"w1\",\"w2\",\"w3\"]},"
			"{\"name\":\"b\",\"version\":1,\"title\":\"B\","
			"\"minimum_capacity_bytes\":null,\"workloads\":[\"w1\"]}]}"},
		{NULL, NULL},
	};
	struct cli c = {0};
	struct err e = {0};

	OK(run(cmd_suite_ls, &c, rows, &e));
	has("SMALLEST DRIVE");
	has("1.00 TB");
	has_not("w1");
}
END_TEST

START_TEST(a_suite_says_how_it_prepares_the_drive_also_when_it_does_not)
{
	static const struct serve_row rows[] = {
		{"GET /api/v1/suites/a@1 ",
			"{\"name\":\"a\",\"version\":1,\"document\":{\"workloads\":[]}}"},
		{"GET /api/v1/suites/b@1 ",
			"{\"name\":\"b\",\"version\":1,\"document\":{\"prepare\":{"
			"\"purge\":true,\"fill\":{}},\"workloads\":[]}}"},
		{NULL, NULL},
	};
	struct cli c = {.args = {"a@1"}};
	struct err e = {0};

	OK(run(cmd_suite_show, &c, rows, &e));
	has("preparation        none\n");
	c.args[0] = "b@1";
	OK(run(cmd_suite_show, &c, rows, &e));
	has("preparation        purge and fill\n");
}
END_TEST

/* Writes a file of that text; path is a template of mkstemp. */
static void
make_file(char *path, const char *content)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, content, strlen(content)), (int)strlen(content));
	close(fd);
}

START_TEST(a_suite_is_added_from_yaml_and_is_no_campaign)
{
	static const struct serve_row rows[] = {
		{"POST /api/v1/suites ", "{\"name\":\"sql\",\"version\":2}"},
		{NULL, NULL},
	};
	char path[] = "screens-XXXXXX";
	struct cli c = {.args = {path}};
	struct err e = {0};

	make_file(path, "ssdlab: suite/v1\nname: sql\nversion: 2\n");
	OK(run(cmd_suite_add, &c, rows, &e));
	ck_assert_str_eq(text, "sql@2\n");
	ck_assert_int_eq(run(cmd_campaign_lint, &c, rows, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "is a suite, no campaign"));
	ck_assert_ptr_nonnull(strstr(e.fix, "ssdlab suite add"));
	unlink(path);
}
END_TEST

START_TEST(a_suite_is_checked_without_a_controller)
{
	static const struct serve_row rows[] = {{NULL, NULL}};
	static const char good[] =
		"ssdlab: suite/v1\nname: sql\nversion: 2\nramp:\n  point:\n"
		"    warmup: 0s\n    measure: 1s\nworkloads:\n  - id: paced\n"
		"    read: 100%\n    access: random\n    block: 4KiB\n    in_flight: 4\n"
		"    rates_iops: [100]\n";
	char path[] = "screens-XXXXXX";
	char bad[] = "screens-XXXXXX";
	struct cli c = {.args = {path}};
	struct err e = {0};
	char want[64];

	make_file(path, good);
	OK(run(cmd_suite_lint, &c, rows, &e));
	snprintf(want, sizeof(want), "%s: ok: sql@2\n", path);
	ck_assert_str_eq(text, want);
	unlink(path);
	make_file(bad, "ssdlab: suite/v1\nname: sql\nversion: 2\nramps: 1\n");
	c.args[0] = bad;
	ck_assert_int_eq(run(cmd_suite_lint, &c, rows, &e), -1);
	unlink(bad);
	snprintf(want, sizeof(want), "%s:4:1: unknown member \"ramps\"", bad);
	ck_assert_str_eq(e.text, want);
	ck_assert_str_eq(e.fix, "did you mean \"ramp\"?");
}
END_TEST

START_TEST(a_file_that_is_no_campaign_is_told_where_one_is_described)
{
	static const struct serve_row rows[] = {{NULL, NULL}};
	char path[] = "screens-XXXXXX";
	struct cli c = {.args = {path}};
	struct err e = {0};
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(run(cmd_campaign_lint, &c, rows, &e), -1);
	unlink(path);
	ck_assert_ptr_nonnull(strstr(e.text, ":1:1: the document is empty"));
	ck_assert_str_eq(e.fix, "man 5 ssdlab-campaign has examples");
}
END_TEST

START_TEST(a_time_may_be_a_day)
{
	static const struct serve_row rows[] = {
		{"GET /api/v1/runs?since=2026-11-30T00:00:00Z&", "{\"items\":[]}"},
		{NULL, NULL},
	};
	static const char *const bad[] = {
		"2026-02-31", "2026-13-01", "2026-1-1", "30.11.2026", "2026-11-30x"};
	struct cli c = {0};
	struct err e = {0};

	c.flags[FLAG_SINCE] = "2026-11-30";
	OK(run(cmd_run_ls, &c, rows, &e));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		c.flags[FLAG_SINCE] = bad[i];
		ck_assert_int_eq(run(cmd_run_ls, &c, rows, &e), -1);
		ck_assert_msg(
			strstr(e.text, "is no time") != NULL, "%s: %s", bad[i], e.text);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("screens");

	unsetenv("SSDLAB_CONFIG");
	unsetenv("SSDLAB_SERVER");
	unsetenv("SSDLAB_TOKEN_FILE");
	unsetenv("SSDLAB_PIN");
	unsetenv("SSDLAB_CA_FILE");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	tcase_add_test(tc, a_campaign_that_has_ended_is_not_cancelled);
	tcase_add_test(tc, a_run_that_nothing_stops_says_so_when_it_is_cancelled);
	tcase_add_test(tc, the_counts_of_a_campaign_are_those_of_the_runs_below);
	tcase_add_test(tc,
		status_lists_what_waits_in_its_order_with_ids_and_what_runs_of_how_many);
	tcase_add_test(tc, a_list_of_suites_says_which_drive_fits_in_short_lines);
	tcase_add_test(tc, a_suite_says_how_it_prepares_the_drive_also_when_it_does_not);
	tcase_add_test(tc, a_suite_is_added_from_yaml_and_is_no_campaign);
	tcase_add_test(tc, a_suite_is_checked_without_a_controller);
	tcase_add_test(tc, a_file_that_is_no_campaign_is_told_where_one_is_described);
	tcase_add_test(tc, a_time_may_be_a_day);
	return unit_run("screens", tc);
}
