#include "runner/reading.h"

#include "common/json.h"
#include "tests/unit/tree.h"

#define PCI "sys/devices/pci0000:00/0000:01:00.0"
#define DISK PCI "/nvme/nvme0/nvme0n1"

static char dir[PATH_MAX];
static struct reading_place place;
static json_t *o;

static void
setup(void)
{
	tree_make();
	snprintf(dir, sizeof(dir), "%s/" DISK, tree_root);
	place = (struct reading_place){.block_dir = dir};
	tree_put(DISK "/stat", "  10 0 2000 5 20 0 4000 9 0 100 300 0 0 0 0 3 4");
	tree_put(PCI "/current_link_speed", "16.0 GT/s PCIe");
	tree_put(PCI "/max_link_speed", "16.0 GT/s PCIe");
	tree_put(PCI "/current_link_width", "4");
	tree_put(PCI "/max_link_width", "4");
	tree_put(PCI "/aer_dev_correctable", "RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3");
	tree_put(PCI "/aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0");
	tree_put(PCI "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 1");
}

static void
teardown(void)
{
	json_decref(o);
	o = NULL;
	tree_remove();
}

static struct reading
look(void)
{
	struct reading r;

	reading_take(&place, &r);
	return r;
}

/* The member at a path as compact JSON; "(none)". */
static const char *
at(const char *section, const char *name)
{
	static char text[128];
	const json_t *in = section[0] != '\0' ? json_object_get(o, section) : o;
	json_t *v = json_object_get(in, name);
	char *got = v != NULL ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	snprintf(text, sizeof(text), "%s", got != NULL ? got : "(none)");
	free(got);
	return text;
}

START_TEST(everything_is_found_above_the_drive)
{
	struct reading r = look();

	ck_assert(r.has_stat && r.has_aer && !r.has_heat);
	ck_assert_uint_eq(r.read_bytes, 2000 * 512);
	ck_assert_uint_eq(r.written_bytes, 4000 * 512);
	ck_assert_uint_eq(r.busy_ms, 100);
	ck_assert_uint_eq(r.queue_ms, 300);
	ck_assert_double_eq(r.gts, 16);
	ck_assert_uint_eq(r.width, 4);
	ck_assert_uint_eq(r.aer[AER_CORRECTABLE], 3);
	ck_assert_uint_eq(r.aer[AER_NONFATAL], 0);
	ck_assert_uint_eq(r.aer[AER_FATAL], 1);
}
END_TEST

START_TEST(two_of_them_tell_what_others_did_and_what_changed)
{
	struct reading_own own = {.read_bytes = 1000 * 512, .written_bytes = 6000 * 512};
	struct reading before = look(), after;

	tree_put(DISK "/stat", "  10 0 3000 5 20 0 12000 9 0 1100 8300 0 0 0 0 3 4");
	tree_put(PCI "/current_link_speed", "8.0 GT/s PCIe");
	tree_put(PCI "/aer_dev_correctable", "RxErr 5\nTOTAL_ERR_COR 5");
	after = look();
	after.wall_less_mono_ns = before.wall_less_mono_ns - 2000000000;
	before.has_heat = after.has_heat = true;
	before.heat = (struct smart_heat){71, 70, 5, 100};
	after.heat = (struct smart_heat){66, 70, 6, 130};
	o = reading_json(&before, &after, &own);
	ck_assert_str_eq(at("", "other_read_bytes"), "\"0\"");
	ck_assert_str_eq(at("", "other_written_bytes"), "\"1024000\"");
	ck_assert_str_eq(at("", "own_read_bytes"), "\"512000\"");
	ck_assert_str_eq(at("", "drive_in_flight"), "8.0");
	ck_assert_str_eq(at("", "clock_step_ns"), "-2000000000");
	ck_assert_str_eq(at("link", "gts"), "16.0");
	ck_assert_str_eq(at("link", "end_gts"), "8.0");
	ck_assert_str_eq(at("link", "max_width"), "4");
	ck_assert_str_eq(at("aer", "correctable"), "\"2\"");
	ck_assert_str_eq(at("aer", "fatal"), "\"0\"");
	ck_assert_str_eq(at("heat", "transitions"), "\"1\"");
	ck_assert_str_eq(at("heat", "seconds"), "\"30\"");
	ck_assert_str_eq(at("heat", "temperature_c"), "71");
	ck_assert_str_eq(at("heat", "warning_c"), "70");
}
END_TEST

/* I/Os that failed may or may not have moved what they should. */
START_TEST(failed_ios_are_nobody_elses)
{
	struct reading_own own = {.written_bytes = 6000 * 512, .failed_bytes = 1024000};
	struct reading before = look(), after;

	tree_put(DISK "/stat", "10 0 2000 5 20 0 12000 9 0 1100 8300");
	after = look();
	o = reading_json(&before, &after, &own);
	ck_assert_str_eq(at("", "other_written_bytes"), "\"0\"");
}
END_TEST

START_TEST(counters_that_do_not_count_tell_nothing)
{
	struct reading_own own = {.read_bytes = 1 << 20};
	struct reading before = look(), after = look();

	o = reading_json(&before, &after, &own);
	ck_assert_str_eq(at("", "other_read_bytes"), "(none)");
	ck_assert_str_eq(at("", "drive_in_flight"), "(none)");
}
END_TEST

START_TEST(a_drive_without_anything_is_only_a_clock)
{
	struct reading_own own = {.read_bytes = 1 << 20};
	struct reading before, after;

	place.block_dir = NULL;
	before = look();
	after = look();
	o = reading_json(&before, &after, &own);
	ck_assert_uint_eq(json_object_size(o), 1);
	/* two looks at both clocks agree within what nobody would call a step */
	ck_assert_int_lt(
		llabs(json_integer_value(json_object_get(o, "clock_step_ns"))), 1000000);
	tree_put(PCI "/current_link_speed", "Unknown");
	place.block_dir = dir;
	ck_assert_double_eq(look().gts, 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("reading");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, everything_is_found_above_the_drive);
	tcase_add_test(tc, two_of_them_tell_what_others_did_and_what_changed);
	tcase_add_test(tc, failed_ios_are_nobody_elses);
	tcase_add_test(tc, counters_that_do_not_count_tell_nothing);
	tcase_add_test(tc, a_drive_without_anything_is_only_a_clock);
	return unit_run("reading", tc);
}
