#include "common/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

/* So many pass when both threads have a processor. On a machine that is busy each turn
 * may take milliseconds: then as many as pass in the time, but these at least. */
#define MESSAGES 50000
#define MESSAGES_MIN 200
#define TIME_NS (250 * NS_PER_MS)

static atomic_bool enough;

START_TEST(slots_come_out_in_order_and_are_free_again)
{
	struct ring *r = ring_new(4, sizeof(unsigned));

	ck_assert_ptr_null(ring_first(r));
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 3; i++) {
			*(unsigned *)ring_free_slot(r, 0) = round * 10 + i;
			ring_push(r);
		}
		for (unsigned i = 0; i < 3; i++) {
			ck_assert_uint_eq(*(unsigned *)ring_first(r), round * 10 + i);
			ring_pop(r);
		}
		ck_assert_ptr_null(ring_first(r));
	}
	ring_free(r);
}
END_TEST

START_TEST(a_full_ring_has_no_free_slot_ahead)
{
	struct ring *r = ring_new(2, 8);

	ck_assert_ptr_nonnull(ring_free_slot(r, 1));
	ck_assert_ptr_null(ring_free_slot(r, 2));
	ring_push(r);
	ck_assert_ptr_nonnull(ring_free_slot(r, 0));
	ck_assert_ptr_null(ring_free_slot(r, 1));
	ring_push(r);
	ck_assert_ptr_null(ring_free_slot(r, 0));
	ring_pop(r);
	ck_assert_ptr_nonnull(ring_free_slot(r, 0));
	ring_free(r);
	ring_free(NULL);
}
END_TEST

/* Writes 1, 2, 3 ... until the reader has enough. */
static void *
write_all(void *arg)
{
	struct ring *r = arg;

	for (uint64_t i = 1; !atomic_load(&enough);) {
		uint64_t *p = ring_free_slot(r, 0);

		if (p == NULL) {
			sched_yield();
			continue;
		}
		p[0] += i;
		p[1] += ~i;
		ring_push(r);
		i++;
	}
	return NULL;
}

START_TEST(two_threads_pass_every_slot_once_and_whole)
{
	struct ring *r = ring_new(8, 2 * sizeof(uint64_t));
	int64_t end = clock_mono() + TIME_NS;
	uint64_t want = 1;
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, write_all, r), 0);
	while (want <= MESSAGES && (want <= MESSAGES_MIN || clock_mono() < end)) {
		uint64_t *p = ring_first(r);

		if (p == NULL) {
			sched_yield();
			continue;
		}
		/* Each assertion of Check is a system call. */
		if (p[0] != want || p[1] != ~want)
			ck_abort_msg("slot %llu is not whole", (unsigned long long)want);
		p[0] = 0;
		p[1] = 0;
		ring_pop(r);
		want++;
	}
	atomic_store(&enough, true);
	pthread_join(t, NULL);
	for (; ring_first(r) != NULL; want++) {
		ck_assert_uint_eq(*(uint64_t *)ring_first(r), want);
		ring_pop(r);
	}
	ring_free(r);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("ring");

	tcase_add_test(tc, slots_come_out_in_order_and_are_free_again);
	tcase_add_test(tc, a_full_ring_has_no_free_slot_ahead);
	tcase_add_test(tc, two_threads_pass_every_slot_once_and_whole);
	return unit_run("ring", tc);
}
