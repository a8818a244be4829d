#include "runner/control.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/json.h"
#include "tests/unit/top_rig.h"

static char dir[256]; /* longer than sun_path, as state directories may be */

static const struct control_status status = {"running", 3, "4k-random-read", 7, 40,
	UINT64_C(9007199254740993), "purge by format"};

static void
setup(void)
{
	top_make("/tmp");
	snprintf(dir, sizeof(dir),
		"mkdir -p "
		"%s/a-rather-long-name-of-a-directory-of-runs/that-goes-on-and-on-"
		"for-more-than-a-hundred-characters-in-all",
		top);
	ck_assert_int_eq(system(dir), 0);
	memmove(dir, dir + 9, strlen(dir + 9) + 1);
}

static struct control *
open_control(void)
{
	struct control *c = NULL;
	struct err e = {0};

	OK(control_open(&c, dir, &e));
	return c;
}

static int
connect_to(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int d = open(dir, O_PATH | O_CLOEXEC);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/socket", d);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	close(d);
	return fd;
}

/* Sends a message, lets the runner's side work, and returns the answer. */
static json_t *
ask(struct control *c, int fd, const char *text)
{
	struct err e = {0};
	json_t *doc = NULL;
	char buf[4096];
	ssize_t n;

	ck_assert_int_gt(send(fd, text, strlen(text), 0), 0);
	for (int i = 0; i < 3; i++)
		control_poll(c, &status, 10);
	n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	OK(json_parse(buf, (size_t)n, &doc, &e));
	return doc;
}

START_TEST(the_status_is_told)
{
	struct control *c = open_control();
	int fd = connect_to();
	json_t *doc = ask(c, fd, "{\"do\":\"status\"}");

	ck_assert_str_eq(json_text_of(doc, "state"), "running");
	ck_assert_str_eq(json_text_of(doc, "workload"), "4k-random-read");
	ck_assert_str_eq(json_text_of(doc, "last_seq"), "9007199254740993");
	ck_assert_int_eq(json_integer_value(json_object_get(doc, "point")), 7);
	ck_assert(json_number_value(json_object_get(doc, "load_percent")) == 40);
	ck_assert_str_eq(json_text_of(doc, "cannot_stop"), "purge by format");
	ck_assert_ptr_null(control_stop_reason(c));
	json_decref(doc);
	close(fd);
	control_close(c);
}
END_TEST

START_TEST(the_first_reason_to_stop_stays)
{
	struct control *c = open_control();
	int fd = connect_to();

	json_decref(ask(c, fd, "{\"do\":\"stop\",\"why\":\"cancelled by sr\"}"));
	ck_assert_str_eq(control_stop_reason(c), "cancelled by sr");
	json_decref(ask(c, fd, "{\"do\":\"stop\",\"why\":\"again\"}"));
	ck_assert_str_eq(control_stop_reason(c), "cancelled by sr");
	ck_assert_uint_eq(control_stops(c), 2);
	ck_assert(control_is_cancelled(c));
	close(fd);
	control_close(c);
}
END_TEST

START_TEST(bad_messages_are_answered_and_harmless)
{
	static const char *const bad[] = {"x", "[]", "{}", "{\"do\":\"erase\"}",
		"{\"do\":\"stop\"}", "{\"do\":\"status\",\"now\":1}",
		/* A name that is quoted in part: the cut goes through a character. */
		("{\"123456789012345678901234567890123456789012345678901234567890123"
		 "\u00e9"
		 "\":1}")};
	struct control *c = open_control();
	int fd = connect_to();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *doc = ask(c, fd, bad[i]);

		ck_assert_str_ne(json_text_of(doc, "error"), "");
		json_decref(doc);
	}
	ck_assert_ptr_null(control_stop_reason(c));
	close(fd);
	control_close(c);
}
END_TEST

START_TEST(clients_may_leave_and_too_many_are_turned_away)
{
	struct control *c = open_control();
	int fds[12];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 12; i++) {
			fds[i] = connect_to();
			control_poll(c, &status, 10);
		}
		json_decref(ask(c, fds[0], "{\"do\":\"status\"}"));
		for (size_t i = 0; i < 12; i++)
			close(fds[i]);
		control_poll(c, &status, 10);
	}
	control_close(c);
}
END_TEST

START_TEST(a_signal_is_a_reason_to_stop_but_cancels_nothing)
{
	struct control *c = open_control();

	ck_assert_int_eq(raise(SIGTERM), 0);
	control_poll(c, &status, 1000);
	ck_assert_str_eq(control_stop_reason(c),
		"runner was told to end by SIGTERM, as at a shutdown");
	ck_assert(!control_is_cancelled(c));
	control_close(c);
}
END_TEST

/* A runner that was stopped finds both when it goes on. */
START_TEST(a_message_says_more_than_the_signal_that_came_with_it)
{
	struct control *c = open_control();
	int fd = connect_to();
	const char text[] = "{\"do\":\"stop\",\"why\":\"cancelled by ann\"}";

	ck_assert_int_gt(send(fd, text, strlen(text), 0), 0);
	ck_assert_int_eq(raise(SIGTERM), 0);
	control_poll(c, &status, 1000);
	ck_assert_str_eq(control_stop_reason(c), "cancelled by ann");
	ck_assert(control_is_cancelled(c));
	ck_assert_uint_eq(control_stops(c), 2);
	close(fd);
	control_close(c);
}
END_TEST

START_TEST(a_socket_that_is_left_from_before_is_replaced)
{
	struct control *c = open_control();
	int fd;

	control_close(c);
	c = open_control();
	fd = connect_to();
	json_decref(ask(c, fd, "{\"do\":\"status\"}"));
	close(fd);
	control_close(c);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("control");

	tcase_add_checked_fixture(tc, setup, top_remove);
	tcase_add_test(tc, the_status_is_told);
	tcase_add_test(tc, the_first_reason_to_stop_stays);
	tcase_add_test(tc, bad_messages_are_answered_and_harmless);
	tcase_add_test(tc, clients_may_leave_and_too_many_are_turned_away);
	tcase_add_test(tc, a_signal_is_a_reason_to_stop_but_cancels_nothing);
	tcase_add_test(tc, a_message_says_more_than_the_signal_that_came_with_it);
	tcase_add_test(tc, a_socket_that_is_left_from_before_is_replaced);
	return unit_run("control", tc);
}
