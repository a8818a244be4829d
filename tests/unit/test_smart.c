#include "runner/smart.h"

#include "common/json.h"
#include "common/le.h"
#include "common/nvme.h"
#include "tests/unit/unit.h"

static uint8_t page[SMART_LOG_BYTES];
static uint8_t data[NVME_IDENTIFY_BYTES];

/* Wants a member, as compact JSON. */
static void
is(const json_t *o, const char *name, const char *want)
{
	char *text = json_dumps(json_object_get(o, name), JSON_ENCODE_ANY | JSON_COMPACT);

	ck_assert_msg(text != NULL, "%s is not there", name);
	ck_assert_msg(strcmp(text, want) == 0, "%s: %s", name, text);
	free(text);
}

/* Offsets are those of figure 207 of NVM Express Base 2.0. */
START_TEST(each_field_of_the_log_page_is_told)
{
	json_t *o;

	memset(page, 0, sizeof(page));
	page[0] = 0x02;
	le_put16(page + 1, 314);
	page[3] = 99;
	page[4] = 10;
	page[5] = 3;
	le_put64(page + 32, 1000);
	le_put64(page + 48, UINT64_MAX);
	le_put64(page + 56, UINT64_MAX);
	le_put64(page + 112, 7);
	le_put64(page + 160, 5);
	le_put32(page + 192, 60);
	le_put16(page + 200, 320);
	le_put16(page + 204, 263);
	le_put32(page + 216, 4);
	le_put32(page + 228, UINT32_MAX);
	o = smart_decode(page);
	is(o, "critical_warning", "\"2\"");
	is(o, "temperature_c", "41");
	is(o, "sensors_c", "[47,-10]");
	is(o, "available_spare_percent", "\"99\"");
	is(o, "available_spare_threshold_percent", "\"10\"");
	is(o, "percentage_used", "\"3\"");
	is(o, "data_units_read", "\"1000\"");
	is(o, "data_units_written", "\"340282366920938463463374607431768211455\"");
	is(o, "power_cycles", "\"7\"");
	is(o, "media_errors", "\"5\"");
	is(o, "error_log_entries", "\"0\"");
	is(o, "warning_temperature_minutes", "\"60\"");
	is(o, "critical_temperature_minutes", "\"0\"");
	is(o, "thermal_transitions_1", "\"4\"");
	is(o, "thermal_seconds_2", "\"4294967295\"");
	json_decref(o);
}
END_TEST

START_TEST(heat_is_a_sum_of_states_and_limits)
{
	struct smart_heat h;

	memset(page, 0, sizeof(page));
	le_put16(page + 1, 343);
	le_put32(page + 192, 2);
	le_put32(page + 196, 1);
	le_put32(page + 216, 3);
	le_put32(page + 220, 4);
	le_put32(page + 224, 30);
	le_put32(page + 228, 5);
	smart_decode_heat(page, &h);
	ck_assert_int_eq(h.temperature_c, 70);
	ck_assert_uint_eq(h.transitions, 7);
	ck_assert_uint_eq(h.seconds, 35 + 3 * 60);
	ck_assert_int_eq(h.warning_c, 0);
}
END_TEST

/* LBA format 1 of two: 4,096 bytes and 8 of metadata, in line, protection type 1. */
START_TEST(the_format_in_use_is_told)
{
	json_t *o;

	memset(data, 0, sizeof(data));
	data[25] = 1;
	data[26] = 0x11;
	data[29] = 0x01;
	data[128 + 2] = 9;
	le_put16(data + 132, 8);
	data[132 + 2] = 12;
	o = smart_decode_format(data);
	is(o, "index", "1");
	is(o, "block_bytes", "4096");
	is(o, "metadata_bytes", "8");
	is(o, "metadata_in_line", "true");
	is(o, "protection_type", "1");
	json_decref(o);
	data[26] = 0x20; /* format 16, which says nothing sensible */
	data[128 + 4 * 16 + 2] = 200;
	o = smart_decode_format(data);
	is(o, "index", "16");
	is(o, "block_bytes", "null");
	json_decref(o);
}
END_TEST

START_TEST(what_is_no_nvme_drive_is_an_error_and_no_heat)
{
	struct smart_heat h;
	struct err e = {0};
	json_t *o;

	FAILS(smart_read(0, &o, &e), ERR_IO, "NVMe Get Log Page");
	ck_assert(!smart_read_heat(0, &h));
	o = smart_format(0);
	ck_assert(json_is_null(o));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("smart");

	tcase_add_test(tc, each_field_of_the_log_page_is_told);
	tcase_add_test(tc, heat_is_a_sum_of_states_and_limits);
	tcase_add_test(tc, the_format_in_use_is_told);
	tcase_add_test(tc, what_is_no_nvme_drive_is_an_error_and_no_heat);
	return unit_run("smart", tc);
}
