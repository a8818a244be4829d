#include "cli/feed.h"

#include "tests/unit/unit.h"

static struct str heard;

static void
hear(const char *event, const char *id, const char *data, void *arg)
{
	(void)arg;
	str_printf(&heard, "[%s %s %s]", event, id, data);
}

/* Feeds text in pieces of n bytes. */
static const char *
fed(struct feed *s, const char *text, size_t n)
{
	size_t len = strlen(text);

	str_reset(&heard);
	for (size_t i = 0; i < len; i += n)
		feed_take(s, text + i, n < len - i ? n : len - i, hear, NULL);
	return str_text(&heard);
}

START_TEST(events_come_out_whole_however_the_bytes_are_cut)
{
	static const char text[] = "id: 7\nevent: run.state\ndata: {\"a\":1}\n\n"
				   ": a comment\n\n"
				   "event:heartbeat\r\ndata:\r\ndata:x\r\n\r\n"
				   "data: one\rdata:  two\r\r"
				   "event: nothing\n\n";

	for (size_t n = 1; n <= sizeof(text); n++) {
		struct feed s = {0};

		ck_assert_str_eq(fed(&s, text, n), "[run.state 7 {\"a\":1}]"
						   "[heartbeat 7 \nx]"
						   "[message 7 one\n two]");
		ck_assert_str_eq(s.last_id, "7");
		feed_fini(&s);
	}
}
END_TEST

START_TEST(a_lost_connection_drops_half_an_event_and_keeps_the_id)
{
	struct feed s = {0};

	ck_assert_str_eq(
		fed(&s, "id: 9\nevent: a\ndata: x\n\nevent: b\ndata: y\nda", 100),
		"[a 9 x]");
	feed_restart(&s);
	ck_assert_str_eq(fed(&s, "data: z\n\n", 100), "[message 9 z]");
	feed_fini(&s);
}
END_TEST

START_TEST(fields_that_are_not_known_are_no_events)
{
	struct feed s = {0};

	ck_assert_str_eq(fed(&s, "retry: 5\nfoo\nid\ndata\n\n", 100), "[message  ]");
	ck_assert_str_eq(fed(&s, "datax: 1\n\n", 100), "");
	feed_fini(&s);
}
END_TEST

START_TEST(an_endless_line_takes_no_endless_memory)
{
	struct feed s = {0};
	static char chunk[65536];

	memset(chunk, 'x', sizeof(chunk));
	feed_take(&s, "data: ", 6, hear, NULL);
	for (size_t i = 0; i < 64; i++)
		feed_take(&s, chunk, sizeof(chunk), hear, NULL);
	ck_assert_uint_le(s.line.len, FEED_LINE_MAX);
	feed_fini(&s);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("feed");

	tcase_add_test(tc, events_come_out_whole_however_the_bytes_are_cut);
	tcase_add_test(tc, a_lost_connection_drops_half_an_event_and_keeps_the_id);
	tcase_add_test(tc, fields_that_are_not_known_are_no_events);
	tcase_add_test(tc, an_endless_line_takes_no_endless_memory);
	return unit_run("feed", tc);
}
