#include "agent/join.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/identity.h"
#include "agent/link.h"
#include "agent/uplink.h"
#include "tests/unit/unit.h"

#define PIN "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="

START_TEST(a_token_gives_address_name_secret_and_pin)
{
	struct join_token t;
	struct err e = {0};

	OK(join_parse("  https://lab.example:7443/join?name=sr-01&token=a_b-C&pin=" PIN
		      "\r\n",
		false, &t, &e));
	ck_assert_str_eq(t.url, "https://lab.example:7443");
	ck_assert_str_eq(t.name, "sr-01");
	ck_assert_str_eq(t.token, "a_b-C");
	ck_assert_str_eq(t.pin, PIN);
}
END_TEST

START_TEST(escapes_are_decoded_and_a_plus_stays_a_plus)
{
	struct join_token t;
	struct err e = {0};

	OK(join_parse(
		"https://[2001:db8::1]:7443/join?token=x&name=a%2eb&pin=sha256%2F%2F"
		"++++KSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE%3D&later=1",
		false, &t, &e));
	ck_assert_str_eq(t.url, "https://[2001:db8::1]:7443");
	ck_assert_str_eq(t.name, "a.b");
	ck_assert_str_eq(t.pin, "sha256//++++KSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE=");
}
END_TEST

START_TEST(texts_that_are_no_token_say_what_is_wrong)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{"", "it is empty"},
		{" \n", "it is empty"},
		{"n1", "does not begin with https://"},
		{"ftp://lab/join?name=a&token=b", "does not begin with https://"},
		{"https:///join?name=a&token=b", "no host"},
		{"https://u@lab/join?name=a&token=b", "user name"},
		{"https://lab:7443", "/join? does not follow"},
		{"https://lab:7443/?name=a&token=b", "/join? does not follow"},
		{"https://lab/join?token=b&pin=" PIN, "no name"},
		{"https://lab/join?name=a&pin=" PIN, "no token"},
		{"https://lab/join?name=a&token&pin=" PIN, "malformed"},
		{"https://lab/join?name=a%2&token=b", "malformed"},
		{"https://lab/join?name=a%zz&token=b", "malformed"},
		{"https://lab/join?name=a%00&token=b", "malformed"},
		{"https://lab/join?name=a&token=b&pin=sha256//short", "its pin"},
		{"https://lab/join?name=a&token=b c", "blanks"},
		{"https://lab/join?name=a\nhttps://lab/join?name=b",
			"more than one line"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct join_token t;
		struct err e = {0};

		FAILS(join_parse(cases[i].text, false, &t, &e), ERR_INVALID,
			cases[i].part);
		ck_assert_msg(strstr(e.fix, "ssdlab node enroll") != NULL, "%s", e.fix);
	}
}
END_TEST

START_TEST(a_controller_that_cannot_be_known_is_refused)
{
	struct join_token t;
	struct err e = {0};

	FAILS(join_parse("http://lab:7443/join?name=a&token=b", false, &t, &e),
		ERR_UNSAFE, "not encrypted");
	FAILS(join_parse("http://127.0.0.1.evil:7443/join?name=a&token=b", false, &t, &e),
		ERR_UNSAFE, "not encrypted");
	FAILS(join_parse("https://lab:7443/join?name=a&token=b", false, &t, &e),
		ERR_UNSAFE, "no pin");
	OK(join_parse("https://lab:7443/join?name=a&token=b", true, &t, &e));
	OK(join_parse("http://127.0.0.1:7443/join?name=a&token=b", false, &t, &e));
}
END_TEST

START_TEST(loopback_is_what_it_says)
{
	ck_assert(link_is_loopback("http://127.0.0.1:7443"));
	ck_assert(link_is_loopback("http://127.9.8.7"));
	ck_assert(link_is_loopback("http://localhost:1"));
	ck_assert(link_is_loopback("http://[::1]:7443"));
	ck_assert(!link_is_loopback("http://[::1].evil"));
	ck_assert(!link_is_loopback("http://localhost.evil"));
	ck_assert(!link_is_loopback("http://127.0.0.1x"));
	ck_assert(!link_is_loopback("http://10.0.0.1"));
	ck_assert(!link_is_loopback("lab"));
}
END_TEST

START_TEST(the_data_plane_is_at_the_same_host)
{
	struct err e = {0};
	char url[300];

	OK(uplink_url("https://lab.example:7443", 7444, url, sizeof(url), &e));
	ck_assert_str_eq(url, "tcp://lab.example:7444");
	OK(uplink_url("https://[2001:db8::1]:7443", 9, url, sizeof(url), &e));
	ck_assert_str_eq(url, "tcp://[2001:db8::1]:9");
	FAILS(uplink_url("lab", 7444, url, sizeof(url), &e), ERR_INVALID, "no host");
}
END_TEST

/* A join with the token, from a pipe. */
static int
join(const char *dir, struct err *e)
{
	static const char token[] = "http://127.0.0.1:1/join?name=a&token=b\n";
	int fds[2], rc;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], token, strlen(token)), (ssize_t)strlen(token));
	close(fds[1]);
	rc = join_run(fds[0], dir, "", e);
	close(fds[0]);
	return rc;
}

/* Nobody listens at that port: a join that came so far would say that instead. A limit on
 * the size of files stands for a full disk. */
START_TEST(a_token_is_not_used_while_there_is_no_room_for_an_identity)
{
	const struct rlimit full = {16, RLIM_INFINITY};
	char dir[] = "/tmp/test_join.XXXXXX", path[64];
	struct rlimit before;
	struct err e = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
	FAILS(join(dir, &e), ERR_IO, "identity.json");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_msg(strstr(e.fix, "not used") != NULL, "%s", e.fix);
	FAILS(join(dir, &e), ERR_NET, "127.0.0.1");
	snprintf(path, sizeof(path), "%s/identity.json.new", dir);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	signal(SIGXFSZ, SIG_DFL);
}
END_TEST

/* Somebody else may fill the disk while the controller is asked. */
START_TEST(an_identity_takes_the_room_that_was_kept_for_it)
{
	static const char blank[4096];
	char dir[] = "/tmp/test_join.XXXXXX", path[64], kept[80];
	struct identity id = {
		.node = 1, .name = "a", .url = "http://127.0.0.1:1", .data_port = 2};
	struct stat before, after;
	struct err e = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/identity.json", dir);
	snprintf(kept, sizeof(kept), "%s.new", path);
	OK(disk_write(kept, blank, sizeof(blank), 0600, &e));
	ck_assert_int_eq(stat(kept, &before), 0);
	OK(identity_save(dir, &id, &e));
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert(after.st_ino == before.st_ino);
	ck_assert_int_lt(after.st_size, before.st_size);
	OK(identity_load(dir, &id, &e));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("join");

	tcase_add_test(tc, a_token_gives_address_name_secret_and_pin);
	tcase_add_test(tc, escapes_are_decoded_and_a_plus_stays_a_plus);
	tcase_add_test(tc, texts_that_are_no_token_say_what_is_wrong);
	tcase_add_test(tc, a_controller_that_cannot_be_known_is_refused);
	tcase_add_test(tc, loopback_is_what_it_says);
	tcase_add_test(tc, the_data_plane_is_at_the_same_host);
	tcase_add_test(tc, a_token_is_not_used_while_there_is_no_room_for_an_identity);
	tcase_add_test(tc, an_identity_takes_the_room_that_was_kept_for_it);
	return unit_run("join", tc);
}
