#include "controller/session.h"

#include "common/clock.h"
#include "tests/unit/unit.h"

#define NOW (100 * NS_PER_S)

static struct seal_session
keys_of(uint8_t n)
{
	struct seal_session k = {0};

	memset(k.id, n, sizeof(k.id));
	memset(k.rx, n + 1, sizeof(k.rx));
	return k;
}

static bool
install(struct session_book *b, int64_t node, uint8_t id, int64_t now)
{
	struct seal_session k = keys_of(id);

	return session_install(b, node, &k, now);
}

static struct session *
find(struct session_book *b, uint8_t id, int64_t now)
{
	struct seal_session k = keys_of(id);

	return session_find(b, k.id, now);
}

START_TEST(a_session_is_found_by_its_id_until_it_expires)
{
	struct session_book *b = session_book_new();
	struct seal_session k = keys_of(1);

	ck_assert(install(b, 7, 1, NOW));
	ck_assert_int_eq(find(b, 1, NOW)->node, 7);
	ck_assert(memcmp(&find(b, 1, NOW)->keys, &k, sizeof(k)) == 0);
	ck_assert_ptr_null(find(b, 2, NOW));
	ck_assert_ptr_nonnull(find(b, 1, NOW + SESSION_VALID_S * NS_PER_S - 1));
	ck_assert_ptr_null(find(b, 1, NOW + SESSION_VALID_S * NS_PER_S));
	session_book_free(b);
}
END_TEST

START_TEST(a_session_belongs_to_one_node)
{
	struct session_book *b = session_book_new();
	struct seal_session k = keys_of(1);

	ck_assert(install(b, 7, 1, NOW));
	ck_assert(session_known(b, 7, k.id, NOW));
	ck_assert(!session_known(b, 8, k.id, NOW));
	ck_assert(!install(b, 8, 1, NOW));
	ck_assert_int_eq(find(b, 1, NOW)->node, 7);
	session_book_free(b);
}
END_TEST

START_TEST(two_sessions_of_a_node_overlap_and_a_third_replaces_the_oldest)
{
	struct session_book *b = session_book_new();

	install(b, 7, 1, NOW);
	install(b, 8, 9, NOW);
	install(b, 7, 2, NOW);
	ck_assert_ptr_nonnull(find(b, 1, NOW));
	install(b, 7, 3, NOW);
	ck_assert_ptr_null(find(b, 1, NOW));
	ck_assert_ptr_nonnull(find(b, 2, NOW));
	ck_assert_ptr_nonnull(find(b, 3, NOW));
	ck_assert_ptr_nonnull(find(b, 9, NOW));
	ck_assert_uint_eq(session_count(b), 3);
	session_book_free(b);
}
END_TEST

START_TEST(expired_sessions_leave_at_the_next_install)
{
	struct session_book *b = session_book_new();

	for (uint8_t i = 1; i <= 40; i++)
		install(b, i, i, NOW);
	ck_assert_uint_eq(session_count(b), 40);
	install(b, 50, 50, NOW + SESSION_VALID_S * NS_PER_S);
	ck_assert_uint_eq(session_count(b), 1);
	session_book_free(b);
}
END_TEST

START_TEST(dropping_a_node_leaves_the_others)
{
	struct session_book *b = session_book_new();

	install(b, 7, 1, NOW);
	install(b, 8, 2, NOW);
	install(b, 7, 3, NOW);
	session_drop_node(b, 7);
	ck_assert_ptr_null(find(b, 1, NOW));
	ck_assert_ptr_null(find(b, 3, NOW));
	ck_assert_ptr_nonnull(find(b, 2, NOW));
	session_book_free(b);
}
END_TEST

START_TEST(a_sequence_is_fresh_once)
{
	struct session s = {0};

	ck_assert_int_eq(session_accept(&s, 0), SESSION_STALE);
	ck_assert_int_eq(session_accept(&s, 1), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 1), SESSION_REPEAT);
	ck_assert_int_eq(session_accept(&s, 5), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 3), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 3), SESSION_REPEAT);
	ck_assert_int_eq(session_accept(&s, 2), SESSION_FRESH);
}
END_TEST

START_TEST(the_window_ends_where_it_should)
{
	struct session s = {0};

	ck_assert_int_eq(session_accept(&s, 5000), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 5000 - SESSION_WINDOW), SESSION_STALE);
	ck_assert_int_eq(session_accept(&s, 5001 - SESSION_WINDOW), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 5001 - SESSION_WINDOW), SESSION_REPEAT);
	ck_assert_int_eq(session_accept(&s, 5001), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 5001 - SESSION_WINDOW), SESSION_STALE);
	ck_assert_int_eq(session_accept(&s, UINT64_MAX), SESSION_FRESH);
	ck_assert_int_eq(session_accept(&s, 5001), SESSION_STALE);
}
END_TEST

/* The window against the plain definition, over a walk that jumps both ways. */
START_TEST(the_window_agrees_with_a_full_list)
{
	static bool seen[1 << 16];
	struct session s = {0};
	uint64_t highest = 0;
	uint64_t random = 12345;

	for (int i = 0; i < 200000; i++) {
		uint64_t seq;
		enum session_seq want = SESSION_FRESH;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
		seq = highest + (random >> 33) % 1300;
		seq = seq > 1200 ? seq - 1200 : seq;
		if (seq >= sizeof(seen))
			break;
		if (seq == 0 || seq + SESSION_WINDOW <= highest)
			want = SESSION_STALE;
		else if (seen[seq])
			want = SESSION_REPEAT;
		ck_assert_int_eq(session_accept(&s, seq), want);
		seen[seq] = seen[seq] || want == SESSION_FRESH;
		highest = seq > highest ? seq : highest;
	}
	ck_assert_uint_gt(highest, 10000);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("session");

	tcase_add_test(tc, a_session_is_found_by_its_id_until_it_expires);
	tcase_add_test(tc, a_session_belongs_to_one_node);
	tcase_add_test(
		tc, two_sessions_of_a_node_overlap_and_a_third_replaces_the_oldest);
	tcase_add_test(tc, expired_sessions_leave_at_the_next_install);
	tcase_add_test(tc, dropping_a_node_leaves_the_others);
	tcase_add_test(tc, a_sequence_is_fresh_once);
	tcase_add_test(tc, the_window_ends_where_it_should);
	tcase_add_test(tc, the_window_agrees_with_a_full_list);
	return unit_run("session", tc);
}
