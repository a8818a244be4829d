#include "runner/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define TEMPLATE "/tmp/test_place.XXXXXX"

static char dir[] = TEMPLATE;

/* Makes node 1 of the directory have these processors. */
static void
write_list(const char *list)
{
	char path[64];
	FILE *f;

	memcpy(dir, TEMPLATE, sizeof(dir));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/node1", dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/node1/cpulist", dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", list);
	fclose(f);
}

static void
remove_list(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/node1/cpulist", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/node1", dir);
	rmdir(path);
	rmdir(dir);
}

START_TEST(lists_of_the_kernel_are_read)
{
	static const char *const wrong[] = {
		"", "x", "1-", "-1", "3-1", "1,", "1,,2", "0-99999", "1;2"};
	cpu_set_t set;

	ck_assert(place_parse("0-3,8", &set));
	ck_assert_int_eq(CPU_COUNT(&set), 5);
	ck_assert(CPU_ISSET(3, &set) && CPU_ISSET(8, &set) && !CPU_ISSET(4, &set));
	ck_assert(place_parse("7", &set));
	ck_assert_int_eq(CPU_COUNT(&set), 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!place_parse(wrong[i], &set), "%s", wrong[i]);
}
END_TEST

START_TEST(a_thread_moves_to_the_node_as_far_as_it_may)
{
	cpu_set_t before, after;
	char list[16];
	int first = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET((size_t)first, &before))
		first++;
	/* Half of the node is a processor that is not there. */
	snprintf(list, sizeof(list), "%d,%d", first, CPU_SETSIZE - 1);
	write_list(list);
	ck_assert_uint_eq(place_near(1, dir), 1);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert_int_eq(CPU_COUNT(&after), 1);
	ck_assert(CPU_ISSET((size_t)first, &after));
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	remove_list();
}
END_TEST

START_TEST(without_a_node_or_its_processors_nothing_is_done)
{
	cpu_set_t before, after;
	char list[16];

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	snprintf(list, sizeof(list), "%d", CPU_SETSIZE - 1);
	write_list(list);
	ck_assert_uint_eq(place_near(-1, dir), 0);
	ck_assert_uint_eq(place_near(0, dir), 0);
	ck_assert_uint_eq(place_near(1, dir), 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	remove_list();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("place");

	tcase_add_test(tc, lists_of_the_kernel_are_read);
	tcase_add_test(tc, a_thread_moves_to_the_node_as_far_as_it_may);
	tcase_add_test(tc, without_a_node_or_its_processors_nothing_is_done);
	return unit_run("place", tc);
}
