#include "common/opt.h"

#include <stdio.h>
#include <unistd.h>

#include "common/str.h"
#include "tests/unit/unit.h"

struct opts {
	uint64_t http_port;
	uint64_t limit;
	int64_t late_after;
	bool tls;
	char *state_dir;
};

static const struct opt rows[] = {
	{"http_port", OPT_UINT, offsetof(struct opts, http_port), "7443", 1, 65535,
		"TCP port"},
	{"limit", OPT_SIZE, offsetof(struct opts, limit), "1GiB", 1 << 20, 1ULL << 40,
		"space"},
	{"late_after", OPT_DURATION, offsetof(struct opts, late_after), "15s", 1000000000,
		3600000000000, "silence"},
	{"tls", OPT_BOOL, offsetof(struct opts, tls), "yes", 0, 0, "encrypt"},
	{"state_dir", OPT_TEXT, offsetof(struct opts, state_dir), "/var/lib/x", 0, 0,
		"where"},
};

static const struct opt_set set = {
	.program = "tester",
	.summary = "tries options",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
};

static char path[64];

static void
write_file(const char *text)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/test_opt.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static int
load(struct opts *o, struct err *e, const char **argv)
{
	char *rest[9];
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	*o = (struct opts){0};
	return opt_load(&set, argc, (char **)(uintptr_t)argv, o, rest, e);
}

#define ARGS(...) ((const char *[]){"tester", __VA_ARGS__, NULL})

START_TEST(command_line_beats_environment_beats_file_beats_default)
{
	struct err e = {0};
	struct opts o;

	write_file("# comment\nhttp_port = 1\nlimit = 2MiB # note\n\nlate_after=30s\ntls "
		   "= no\n");
	setenv("SSDLAB_LIMIT", "3MiB", 1);
	setenv("SSDLAB_LATE_AFTER", "40s", 1);
	OK(load(&o, &e, ARGS("--config", path, "--late-after=50s", "--state-dir", "/x")));
	ck_assert_uint_eq(o.http_port, 1);
	ck_assert_uint_eq(o.limit, 3 << 20);
	ck_assert_int_eq(o.late_after, 50000000000);
	ck_assert(!o.tls);
	ck_assert_str_eq(o.state_dir, "/x");
	opt_fini(&set, &o);
	unsetenv("SSDLAB_LIMIT");
	unsetenv("SSDLAB_LATE_AFTER");
	unlink(path);
}
END_TEST

START_TEST(a_file_of_the_site_is_read_before_the_default_one)
{
	struct opt_set layered = set;
	char site[sizeof(path)];
	char *argv[] = {(char[]){"tester"}, NULL};
	char *config[] = {(char[]){"tester"}, (char[]){"--config=/dev/null"}, NULL};
	char *rest[3];
	struct err e = {0};
	struct opts o = {0};

	write_file("http_port = 1\nlimit = 2MiB\n");
	memcpy(site, path, sizeof(site));
	write_file("limit = 3MiB\n");
	layered.site_file = site;
	layered.default_file = path;
	OK(opt_load(&layered, 1, argv, &o, rest, &e));
	ck_assert_uint_eq(o.http_port, 1);
	ck_assert_uint_eq(o.limit, 3 << 20);
	opt_fini(&layered, &o);
	o = (struct opts){0};
	OK(opt_load(&layered, 2, config, &o, rest, &e));
	ck_assert_uint_eq(o.http_port, 7443);
	opt_fini(&layered, &o);
	unlink(site);
	OK(opt_load(&layered, 1, argv, &o, rest, &e));
	ck_assert_uint_eq(o.http_port, 7443);
	ck_assert_uint_eq(o.limit, 3 << 20);
	opt_fini(&layered, &o);
	unlink(path);
}
END_TEST

START_TEST(mistakes_in_a_file_name_file_and_line)
{
	static const char *const cases[][2] = {
		{"\nhttp_prot = 1\n", ":2: unknown option \"http_prot\""},
		{"http_port = 0\n",
			":1: http_port: \"0\" is not a whole number from 1 to 65535"},
		{"limit = 5\n", ":1: limit: \"5\" is not a size"},
		{"limit = 1KiB\n", ":1: limit: \"1KiB\" is not within 1MiB to 1TiB"},
		{"late_after = 2h\n", "\"2h\" is not within 1s to 1h"},
		{"tls = maybe\n", ":1: tls: \"maybe\" is neither yes nor no"},
		{"tls\n", "not of the form name = value"},
		{"tls = no\nlate-after = 2s\n\nlate_after = 3s\n",
			":4: late_after was given in line 2 already"},
	};
	struct err e = {0};
	struct opts o;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(cases[i][0]);
		FAILS(load(&o, &e, ARGS("--config", path)), ERR_INVALID, cases[i][1]);
		ck_assert_ptr_nonnull(strstr(e.text, path));
		opt_fini(&set, &o);
		unlink(path);
	}
}
END_TEST

START_TEST(a_directory_is_no_file_of_options)
{
	struct err e = {0};
	struct opts o;

	FAILS(load(&o, &e, ARGS("--config", "/tmp")), ERR_INVALID,
		"/tmp cannot be read: Is a directory");
	opt_fini(&set, &o);
}
END_TEST

START_TEST(mistakes_on_the_command_line_are_named)
{
	struct err e = {0};
	struct opts o;

	FAILS(load(&o, &e, ARGS("--http-prot", "1")), ERR_INVALID,
		"unknown option \"--http-prot\"");
	opt_fini(&set, &o);
	FAILS(load(&o, &e, ARGS("--http-port")), ERR_INVALID, "wants a value");
	opt_fini(&set, &o);
	FAILS(load(&o, &e, ARGS("--http-port=x")), ERR_INVALID,
		"argument --http-port: http_port");
	opt_fini(&set, &o);
	FAILS(load(&o, &e, ARGS("--config", "/does/not/exist")), ERR_NOTFOUND,
		"/does/not/exist");
	opt_fini(&set, &o);
}
END_TEST

START_TEST(other_arguments_are_left_in_order)
{
	const char *argv[] = {"tester", "join", "--tls", "no", "--", "x", NULL};
	struct err e = {0};
	struct opts o = {0};
	char *rest[8];

	OK(opt_load(&set, 6, (char **)(uintptr_t)argv, &o, rest, &e));
	ck_assert_str_eq(rest[0], "join");
	ck_assert_str_eq(rest[1], "--");
	ck_assert_str_eq(rest[2], "x");
	ck_assert_ptr_null(rest[3]);
	opt_fini(&set, &o);
}
END_TEST

START_TEST(help_shows_every_option_with_default_and_range)
{
	struct str out = {0};

	opt_help(&set, &out);
	ck_assert_ptr_nonnull(strstr(out.data, "--http-port VALUE\n"));
	ck_assert_ptr_nonnull(strstr(out.data, "silence (default 15s; 1s to 1h)"));
	ck_assert_ptr_nonnull(strstr(out.data, "encrypt (default yes; yes or no)"));
	str_fini(&out);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("opt");

	tcase_add_test(tc, command_line_beats_environment_beats_file_beats_default);
	tcase_add_test(tc, a_file_of_the_site_is_read_before_the_default_one);
	tcase_add_test(tc, mistakes_in_a_file_name_file_and_line);
	tcase_add_test(tc, a_directory_is_no_file_of_options);
	tcase_add_test(tc, mistakes_on_the_command_line_are_named);
	tcase_add_test(tc, other_arguments_are_left_in_order);
	tcase_add_test(tc, help_shows_every_option_with_default_and_range);
	return unit_run("opt", tc);
}
