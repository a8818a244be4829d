#include "controller/throttle.h"

#include <stdio.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

START_TEST(an_address_is_blocked_after_its_failures_until_the_minute_is_over)
{
	struct throttle *t = throttle_new();
	int64_t now = 5 * NS_PER_S;

	for (int i = 0; i < THROTTLE_FAILURES; i++) {
		ck_assert(!throttle_blocks(t, "192.0.2.1", now));
		throttle_fail(t, "192.0.2.1", now + i);
	}
	ck_assert(throttle_blocks(t, "192.0.2.1", now + 59 * NS_PER_S));
	ck_assert(!throttle_blocks(t, "192.0.2.2", now));
	ck_assert(!throttle_blocks(t, "192.0.2.1", now + 60 * NS_PER_S));
	throttle_fail(t, "192.0.2.1", now + 60 * NS_PER_S);
	ck_assert(!throttle_blocks(t, "192.0.2.1", now + 60 * NS_PER_S));
	throttle_free(t);
}
END_TEST

START_TEST(many_addresses_push_out_the_oldest_only)
{
	struct throttle *t = throttle_new();

	for (int i = 0; i < THROTTLE_FAILURES; i++) {
		throttle_fail(t, "old", 1);
		throttle_fail(t, "new", 1000000);
	}
	for (int i = 0; i < 255; i++) {
		char name[32];

		snprintf(name, sizeof(name), "10.0.0.%d", i);
		throttle_fail(t, name, 2000000 + i);
	}
	ck_assert(!throttle_blocks(t, "old", 3000000));
	ck_assert(throttle_blocks(t, "new", 3000000));
	throttle_free(t);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("throttle");

	tcase_add_test(
		tc, an_address_is_blocked_after_its_failures_until_the_minute_is_over);
	tcase_add_test(tc, many_addresses_push_out_the_oldest_only);
	return unit_run("throttle", tc);
}
