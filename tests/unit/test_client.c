#include "cli/client.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/config.h"
#include "common/clock.h"
#include "tests/unit/serve_rig.h"

/* The error that an answer becomes. */
static struct err
problem(long status, const char *text)
{
	struct exchange x = {.status = status};
	struct err e = {0};

	str_puts(&x.text, text);
	ck_assert_int_eq(client_problem(&x, &e), -1);
	exchange_fini(&x);
	return e;
}

START_TEST(a_problem_document_becomes_class_sentence_pointer_and_fix)
{
	struct err e = problem(409,
		"{\"type\": \"/problems/unsafe\", \"title\": \"t\", \"status\": 409,"
		" \"detail\": \"drive S1 is mounted\", \"instance\": "
		"\"/api/v1/campaigns\","
		" \"errors\": [{\"pointer\": \"/drives/0\", \"detail\": \"d\","
		" \"fix\": \"unmount it\"}]}");

	ck_assert_str_eq(err_name(e.class), "unsafe");
	ck_assert_str_eq(e.text, "drive S1 is mounted");
	ck_assert_str_eq(e.pointer, "/drives/0");
	ck_assert_str_eq(e.fix, "unmount it");
	ck_assert_int_eq(err_exit_code(e.class), 5);
}
END_TEST

START_TEST(each_class_comes_back_from_its_problem_type)
{
	for (int i = 1; i < ERR_CLASSES; i++) {
		char text[200];
		struct err e;

		snprintf(text, sizeof(text),
			"{\"type\": \"/problems/%s\", \"detail\": \"x\", \"status\": %d}",
			err_name((enum err_class)i), err_http_status((enum err_class)i));
		e = problem(err_http_status((enum err_class)i), text);
		ck_assert_str_eq(err_name(e.class), err_name((enum err_class)i));
	}
}
END_TEST

START_TEST(an_unknown_problem_type_gets_the_class_of_its_status)
{
	struct err e = problem(404, "{\"type\": \"about:blank\", \"detail\": \"gone\"}");

	ck_assert_str_eq(err_name(e.class), "notfound");
	ck_assert_str_eq(e.text, "gone");
	e = problem(418, "{\"type\": \"/problems/teapot\", \"detail\": \"tea\"}");
	ck_assert_str_eq(err_name(e.class), "invalid");
	e = problem(500, "{\"type\": \"/problems/none\", \"detail\": \"x\"}");
	ck_assert_str_eq(err_name(e.class), "internal");
}
END_TEST

START_TEST(an_answer_that_is_no_problem_document_is_doubted)
{
	struct err e = problem(502, "<html>Bad Gateway</html>");

	ck_assert_str_eq(err_name(e.class), "net");
	ck_assert_ptr_nonnull(strstr(e.text, "502"));
	ck_assert_ptr_nonnull(strstr(e.fix, "ssdlab controller"));
	e = problem(401, "");
	ck_assert_str_eq(err_name(e.class), "auth");
	e = problem(599, "[]");
	ck_assert_str_eq(err_name(e.class), "internal");
}
END_TEST

START_TEST(query_and_path_are_encoded)
{
	struct str path = {0};

	str_puts(&path, "/api/v1/runs");
	client_query(&path, "model", "A&B c/\xc3\xa9");
	client_query(&path, "label", "k:v");
	ck_assert_str_eq(
		str_text(&path), "/api/v1/runs?model=A%26B%20c/%C3%A9&label=k:v");
	str_reset(&path);
	str_puts(&path, "/api/v1/suites");
	client_segment(&path, "a/../b?x@1");
	ck_assert_str_eq(str_text(&path), "/api/v1/suites/a%2F..%2Fb%3Fx@1");
	str_fini(&path);
}
END_TEST

/* The failure of a request that must fail before anything is sent. */
static struct err
unsent(const char *server, const char *token_file)
{
	struct exchange x = {.method = "GET", .path = "/api/v1/nodes"};
	char server_option[200];
	char token_option[200];
	static char name[] = "ssdlab";
	char *argv[] = {name, server_option, token_option, NULL};
	struct config cfg = {0};
	struct err e = {0};
	struct client *c;

	snprintf(server_option, sizeof(server_option), "--server=%s", server);
	snprintf(token_option, sizeof(token_option), "--token-file=%s", token_file);
	OK(config_load(3, argv, &cfg, &e));
	c = client_new(&cfg);
	ck_assert_int_eq(client_exchange(c, &x, &e), -1);
	exchange_fini(&x);
	client_free(c);
	config_fini(&cfg);
	return e;
}

START_TEST(the_token_never_leaves_over_plain_http)
{
	struct err e = unsent("http://lab.example.net:7443", "/dev/null");

	ck_assert_str_eq(err_name(e.class), "forbidden");
	e = unsent("http://localhost.example.net", "/dev/null");
	ck_assert_str_eq(err_name(e.class), "forbidden");
}
END_TEST

START_TEST(a_token_file_without_a_token_is_said_before_anything_is_sent)
{
	char path[] = "/tmp/test-client-XXXXXX";
	int fd = mkstemp(path);
	struct err e;

	ck_assert_int_ge(fd, 0);
	e = unsent("http://127.0.0.1:1", "/dev/null");
	ck_assert_str_eq(err_name(e.class), "auth");
	e = unsent("http://127.0.0.1:1", "/nonexistent/token");
	ck_assert_str_eq(err_name(e.class), "notfound");
	ck_assert_int_eq(write(fd, "two words\n", 10), 10);
	e = unsent("http://127.0.0.1:1", path);
	ck_assert_str_eq(err_name(e.class), "auth");
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(a_controller_that_is_away_is_named_with_what_to_do)
{
	struct err e = unsent("http://127.0.0.1:1", "");

	ck_assert_str_eq(err_name(e.class), "net");
	ck_assert_ptr_nonnull(strstr(e.text, "http://127.0.0.1:1 cannot be reached"));
	ck_assert_ptr_nonnull(strstr(e.fix, "SSDLAB_SERVER"));
}
END_TEST

START_TEST(what_never_went_out_was_not_done_and_what_did_may_have_been)
{
	static const struct {
		const char *scheme;
		bool listens, acted;
	} rows[] = {
		{"http", false, false}, {"https", false, false},
		{"https", true, false}, /* it never shakes hands */
		{"http", true, true},	/* it never answers */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char server[80];
		int fd = serve_listen(rows[i].scheme, server, sizeof(server));
		struct config cfg = {0};
		struct client *c = serve_client(server, &cfg);
		struct err e = {0};

		if (!rows[i].listens)
			close(fd);
		client_limit(c, 300 * NS_PER_MS);
		ck_assert_int_eq(client_post(c, "/x", NULL, NULL, &e), -1);
		ck_assert_msg(client_may_have_acted(c, &e) == rows[i].acted, "%zu: %s", i,
			e.text);
		if (rows[i].listens)
			close(fd);
		client_free(c);
		config_fini(&cfg);
	}
}
END_TEST

/* What campaign submit says of a server. */
static struct err
submitted_to(char *server)
{
	char path[] = "/tmp/test-client-XXXXXX";
	int file = mkstemp(path);
	struct err e = {0};
	struct cli cli = {.args = {path}};

	ck_assert_int_eq(write(file, "name: x\n", 8), 8);
	close(file);
	cli.client = serve_client(server, &cli.config);
	out_init(&cli.out, stdout, OUT_TABLE);
	ck_assert_int_eq(cmd_campaign_submit(&cli, &e), -1);
	client_free(cli.client);
	config_fini(&cli.config);
	unlink(path);
	return e;
}

START_TEST(submit_says_whether_the_campaign_may_be_there)
{
	char server[80];
	int fd = serve_listen("http", server, sizeof(server));
	static const struct serve_row rows[] = {
		{"POST /api/v1/campaigns?dry_run=plan ", "{}"},
		{NULL, NULL},
	};
	pid_t child = serve_start(fd, rows);
	struct err e;

	e = submitted_to(server);
	ck_assert_str_eq(err_name(e.class), "net");
	ck_assert_ptr_eq(
		strstr(e.text, "not known whether the campaign was taken: http://127."),
		e.text);
	ck_assert_str_eq(e.fix,
		"ssdlab campaign ls tells; the same command again makes a "
		"second one if it was");
	serve_stop(child, fd);
	e = submitted_to(server);
	ck_assert_ptr_eq(strstr(e.text, "not submitted: http://127."), e.text);
	ck_assert_ptr_nonnull(strstr(e.fix, "is ssdlab-controller running there?"));
}
END_TEST

START_TEST(the_configuration_refuses_what_cannot_work)
{
	static char name[] = "ssdlab";
	static char bad_server[] = "--server=lab:7443";
	static char bad_pin[] = "--pin=sha1//abc";
	char *first[] = {name, bad_server, NULL};
	char *second[] = {name, bad_pin, NULL};
	struct config cfg = {0};
	struct err e = {0};

	FAILS(config_load(2, first, &cfg, &e), ERR_INVALID, "\"lab:7443\" is not a URL");
	config_fini(&cfg);
	FAILS(config_load(2, second, &cfg, &e), ERR_INVALID, "start with sha256//");
	config_fini(&cfg);
	ck_assert(config_has("token-file", 10));
	ck_assert(config_has("config", 6));
	ck_assert(!config_has("token", 5));
}
END_TEST

START_TEST(a_file_named_in_the_environment_stands_for_the_usual_two)
{
	char path[] = "/tmp/test-client-XXXXXX";
	static const char text[] = "server = https://a:1/\ntoken_file = ~/tok\n";
	static char name[] = "ssdlab";
	char *argv[] = {name, NULL};
	struct config cfg = {0};
	struct err e = {0};
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), (int)sizeof(text) - 1);
	close(fd);
	setenv("SSDLAB_CONFIG", path, 1);
	setenv("HOME", "/home/anna", 1);
	OK(config_load(1, argv, &cfg, &e));
	ck_assert_str_eq(cfg.server, "https://a:1");
	ck_assert_str_eq(cfg.token_file, "/home/anna/tok");
	config_fini(&cfg);
	unlink(path);
	FAILS(config_load(1, argv, &cfg, &e), ERR_NOTFOUND, path);
	config_fini(&cfg);
}
END_TEST

START_TEST(paths_in_a_file_are_those_of_its_folder)
{
	char path[] = "/tmp/test-client-XXXXXX";
	static const char text[] = "token_file = token\nca_file = /etc/ca.pem\n";
	static char name[] = "ssdlab", option[] = "--token-file=near";
	char *argv[] = {name, NULL}, *said[] = {name, option, NULL};
	struct config cfg = {0};
	struct err e = {0};
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), (int)sizeof(text) - 1);
	close(fd);
	setenv("SSDLAB_CONFIG", path, 1);
	OK(config_load(1, argv, &cfg, &e));
	ck_assert_str_eq(cfg.token_file, "/tmp/token");
	ck_assert_str_eq(cfg.ca_file, "/etc/ca.pem");
	config_fini(&cfg);
	OK(config_load(2, said, &cfg, &e));
	ck_assert_str_eq(cfg.token_file, "near");
	config_fini(&cfg);
	unsetenv("SSDLAB_CONFIG");
	unlink(path);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("client");

	unsetenv("SSDLAB_CONFIG");
	unsetenv("SSDLAB_SERVER");
	unsetenv("SSDLAB_TOKEN_FILE");
	unsetenv("SSDLAB_PIN");
	unsetenv("SSDLAB_CA_FILE");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	tcase_add_test(tc, a_problem_document_becomes_class_sentence_pointer_and_fix);
	tcase_add_test(tc, each_class_comes_back_from_its_problem_type);
	tcase_add_test(tc, an_unknown_problem_type_gets_the_class_of_its_status);
	tcase_add_test(tc, an_answer_that_is_no_problem_document_is_doubted);
	tcase_add_test(tc, query_and_path_are_encoded);
	tcase_add_test(tc, the_token_never_leaves_over_plain_http);
	tcase_add_test(tc, a_token_file_without_a_token_is_said_before_anything_is_sent);
	tcase_add_test(tc, a_controller_that_is_away_is_named_with_what_to_do);
	tcase_add_test(tc, what_never_went_out_was_not_done_and_what_did_may_have_been);
	tcase_add_test(tc, submit_says_whether_the_campaign_may_be_there);
	tcase_add_test(tc, the_configuration_refuses_what_cannot_work);
	tcase_add_test(tc, a_file_named_in_the_environment_stands_for_the_usual_two);
	tcase_add_test(tc, paths_in_a_file_are_those_of_its_folder);
	return unit_run("client", tc);
}
