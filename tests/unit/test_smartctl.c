#include "runner/smartctl.h"

#include <fcntl.h>

#include "common/clock.h"
#include "common/drive.h"
#include "common/json.h"
#include "runner/health.h"
#include "tests/unit/tree.h"

/* What smartctl 7.3 prints, cut down to what is read and some of what is not. */
static const char ata[] =
	"{\"smartctl\":{\"version\":[7,3],\"exit_status\":0},\"device\":{\"type\":"
	"\"sat\"},"
	"\"smart_status\":{\"passed\":true},\"ata_smart_attributes\":{\"revision\":16,"
	"\"table\":[{\"id\":5,\"name\":\"Reallocated_Sector_Ct\",\"value\":100,\"raw\":"
	"{\"value\":12,\"string\":\"12\"}},{\"id\":187,\"name\":\"Reported_Uncorrect\","
	"\"raw\":{\"value\":3}},{\"name\":\"no id\"}]},\"power_on_time\":{\"hours\":100},"
	"\"power_cycle_count\":7,\"temperature\":{\"current\":31},"
	"\"ata_smart_error_log\":{\"summary\":{\"revision\":1,\"count\":2}}}";
static const char scsi[] =
	"{\"smartctl\":{\"version\":[7,2]},\"smart_status\":{\"passed\":false},"
	"\"scsi_grown_defect_list\":4,\"scsi_percentage_used_endurance_indicator\":9,"
	"\"scsi_error_counter_log\":{\"read\":{\"total_uncorrected_errors\":1},\"write\":"
	"{\"total_uncorrected_errors\":2}}}";

static char program[PATH_MAX];
static json_t *o;

static void
setup(void)
{
	tree_make();
	snprintf(program, sizeof(program), "%s/smartctl", tree_root);
}

static void
teardown(void)
{
	json_decref(o);
	o = NULL;
	tree_remove();
}

/* Installs a program that prints text and ends with a code, once it has left its
 * arguments, and what it could open, behind. */
static void
install(const char *text, int code)
{
	char script[4096];

	tree_put("answer", text);
	snprintf(script, sizeof(script),
		"#!/bin/sh\necho \"$@\" >'%s/args'\nreadlink /dev/fd/3 >'%s/opened'\n"
		"cat '%s/answer'\nexit %d",
		tree_root, tree_root, tree_root, code);
	tree_put("smartctl", script);
	ck_assert_int_eq(chmod(program, 0700), 0);
}

static void
holds(const char *name, const char *want)
{
	char path[PATH_MAX], text[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tree_root, name);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	ck_assert_str_eq(text, want);
}

static void
is(const char *name, const char *want)
{
	char *text = json_dumps(json_object_get(o, name), JSON_ENCODE_ANY | JSON_COMPACT);

	ck_assert_msg(text != NULL && strcmp(text, want) == 0, "%s: %s", name, text);
	free(text);
}

START_TEST(a_sata_drive_is_read_through_its_descriptor)
{
	struct err e = {0};
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	install(ata, 0);
	OK(smartctl_read(program, fd, true, NULL, &o, &e));
	close(fd);
	holds("args", "-j -i -H -A -l error -d sat /dev/fd/3");
	holds("opened", "/dev/zero");
	is("passed", "true");
	is("temperature_c", "\"31\"");
	is("power_on_hours", "\"100\"");
	is("power_cycles", "\"7\"");
	is("media_errors", "\"3\"");
	is("error_log_entries", "\"2\"");
	is("version", "\"7.3\"");
	is("attributes",
		"{\"5 Reallocated_Sector_Ct\":\"12\",\"187 Reported_Uncorrect\":\"3\"}");
}
END_TEST

/* Bit 3 of the exit status: the drive is failing. That is an answer. */
START_TEST(a_sas_drive_that_fails_is_an_answer)
{
	struct err e = {0};

	install(scsi, 8);
	OK(smartctl_read(program, 0, false, NULL, &o, &e));
	holds("args", "-j -i -H -A -l error -d scsi /dev/fd/3");
	is("passed", "false");
	is("grown_defects", "\"4\"");
	is("percentage_used", "\"9\"");
	is("media_errors", "\"3\"");
	ck_assert_ptr_null(json_object_get(o, "attributes"));
}
END_TEST

START_TEST(what_cannot_be_read_is_an_error_with_its_reason)
{
	struct err e = {0};

	FAILS(smartctl_read(program, 0, true, NULL, &o, &e), ERR_NOTFOUND,
		"not installed");
	install("{\"smartctl\":{\"messages\":[{\"string\":\"Permission denied\"}]}}", 2);
	FAILS(smartctl_read(program, 0, true, NULL, &o, &e), ERR_IO, "Permission denied");
	install("{}", 1);
	FAILS(smartctl_read(program, 0, true, NULL, &o, &e), ERR_IO, "does not say why");
	install("smartctl 5.4, no JSON here", 0);
	FAILS(smartctl_read(program, 0, true, NULL, &o, &e), ERR_INVALID,
		"what smartctl prints");
}
END_TEST

/* It sleeps for longer than it may take then, and not for as long as it may else. */
START_TEST(one_that_is_slow_is_not_waited_for_once_the_run_is_to_end)
{
	atomic_bool hurry = true;
	int64_t begin = clock_mono();
	struct err e = {0};

	tree_put("smartctl", "#!/bin/sh\nexec sleep 25");
	ck_assert_int_eq(chmod(program, 0700), 0);
	FAILS(smartctl_read(program, 0, true, &hurry, &o, &e), ERR_IO,
		"smartctl did not answer in time");
	ck_assert_int_lt(clock_mono() - begin, 25 * NS_PER_S);
	install(ata, 0);
	OK(smartctl_read(program, 0, true, &hurry, &o, &e));
}
END_TEST

START_TEST(health_is_always_told_or_why_not)
{
	static const struct {
		struct drive_id drive;
		const char *source, *why;
	} cases[] = {
		{{.kind = DRIVE_LOOP, .is_virtual = true}, "none", "virtual"},
		{{.kind = DRIVE_VIRTIO}, "none", "no way to say it"},
		{{.kind = DRIVE_NVME}, "none", "NVMe Get Log Page"},
		{{.kind = DRIVE_SCSI}, "none",
			"smartctl is not installed (package smartmontools)"},
	};
	struct health_place p = {.smartctl = program};
	struct err e = {0};
	char dir[PATH_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p.drive = &cases[i].drive;
		o = health_read(&p);
		ck_assert_str_eq(json_text_of(o, "source"), cases[i].source);
		ck_assert_msg(strstr(json_text_of(o, "why"), cases[i].why) != NULL, "%s",
			json_text_of(o, "why"));
		json_decref(o);
		FAILS(health_answer(&p, &e), ERR_IO, cases[i].why);
	}
	install(ata, 0);
	tree_put("disk/device/vendor", "ATA     ");
	snprintf(dir, sizeof(dir), "%s/disk", tree_root);
	p.block_dir = dir;
	o = health_read(&p);
	is("source", "\"smartctl\"");
	is("media_errors", "\"3\"");
	holds("args", "-j -i -H -A -l error -d sat /dev/fd/3");
	OK(health_answer(&p, &e));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("smartctl");

	tcase_set_timeout(tc, 60);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_sata_drive_is_read_through_its_descriptor);
	tcase_add_test(tc, a_sas_drive_that_fails_is_an_answer);
	tcase_add_test(tc, what_cannot_be_read_is_an_error_with_its_reason);
	tcase_add_test(tc, one_that_is_slow_is_not_waited_for_once_the_run_is_to_end);
	tcase_add_test(tc, health_is_always_told_or_why_not);
	return unit_run("smartctl", tc);
}
