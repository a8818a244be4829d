#include "runner/claim.h"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/drive.h"
#include "common/program.h"
#include "tests/unit/top_rig.h"

static char state[64], image[64], other[64];
static struct program program;

/* The file is an NVMe drive when this is set, and says that of its last sanitize. */
static bool is_nvme;
static uint8_t sanicap, sstat;
static unsigned logs_read;
static int log_status; /* NVMe status of a log page that is asked for */

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_drive_identify(
	int fd, const char *path, struct drive_id *ret_id, struct err *e);
int __wrap_drive_identify(
	int fd, const char *path, struct drive_id *ret_id, struct err *e);

int
__wrap_drive_identify(int fd, const char *path, struct drive_id *ret_id, struct err *e)
{
	int rc = __real_drive_identify(fd, path, ret_id, e);

	if (rc == 0 && is_nvme)
		ret_id->kind = DRIVE_NVME;
	return rc;
}

/* Byte numbers of the NVM Express Base Specification 2.0: SANICAP is 328, SSTAT 2. */
int
__wrap_ioctl(int fd, unsigned long request, ...)
{
	struct nvme_admin_cmd *c;
	uint8_t *to;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request != NVME_IOCTL_ADMIN_CMD || !is_nvme)
		return __real_ioctl(fd, request, arg);
	c = arg;
	to = (uint8_t *)(uintptr_t)c->addr;
	if (c->opcode == 0x06) {
		to[328] = sanicap;
		return 0;
	}
	ck_assert_uint_eq(c->opcode, 0x02);
	if (log_status != 0)
		return log_status;
	ck_assert_uint_eq(c->cdw10 & 0xff, 0x81);
	logs_read++;
	to[1] = 0x40;
	to[2] = sstat;
	return 0;
}

static void
make_image(const char *path, off_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, bytes), 0);
	close(fd);
}

static void
set_fence(const char *token)
{
	char key[96], path[256];
	FILE *f;

	drive_key(&program.drive, key);
	snprintf(path, sizeof(path), "%s/fence/%s", state, key);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", token);
	fclose(f);
}

static void
setup(void)
{
	char path[128];
	struct err e = {0};
	int fd;

	is_nvme = false;
	sanicap = 0x02;
	sstat = 0;
	logs_read = 0;
	top_make("/var/tmp");
	snprintf(state, sizeof(state), "%s/state", top);
	snprintf(image, sizeof(image), "%s/a.img", top);
	snprintf(other, sizeof(other), "%s/b.img", top);
	snprintf(path, sizeof(path), "%s/fence", state);
	ck_assert_int_eq(mkdir(state, 0700), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	make_image(image, 8 << 20);
	make_image(other, 8 << 20);
	fd = open(image, O_RDONLY | O_CLOEXEC);
	OK(drive_identify(fd, image, &program.drive, &e));
	close(fd);
	program.fence = 7;
	set_fence("7");
}

START_TEST(a_drive_is_claimed_once_and_free_again_afterwards)
{
	struct claim *c = NULL, *second = NULL;
	struct drive_id seen;
	struct err e = {0};

	OK(claim_take(&c, &program, state, image, &e));
	ck_assert_int_ge(claim_fd(c), 0);
	OK(claim_verify(c, &seen, &e));
	ck_assert_str_eq(seen.serial, program.drive.serial);
	FAILS(claim_take(&second, &program, state, image, &e), ERR_UNSAFE,
		"another runner holds the drive a.img-");
	claim_drop(c);
	OK(claim_take(&c, &program, state, image, &e));
	claim_drop(c);
}
END_TEST

START_TEST(a_program_that_only_reads_cannot_write)
{
	struct step step = {.kind = STEP_WORKLOAD};
	struct claim *c = NULL;
	struct err e = {0};

	workload_plain(&step.workload, 100, 100, 4096);
	program.steps = &step;
	program.n_steps = 1;
	OK(claim_take(&c, &program, state, image, &e));
	ck_assert_int_eq(fcntl(claim_fd(c), F_GETFL) & O_ACCMODE, O_RDONLY);
	claim_drop(c);
	step.workload.streams[0].read_percent = 99;
	OK(claim_take(&c, &program, state, image, &e));
	ck_assert_int_eq(fcntl(claim_fd(c), F_GETFL) & O_ACCMODE, O_RDWR);
	claim_drop(c);
	program.steps = NULL;
	program.n_steps = 0;
}
END_TEST

START_TEST(a_newer_lease_ends_the_claim)
{
	struct claim *c = NULL;
	struct err e = {0};

	OK(claim_take(&c, &program, state, image, &e));
	set_fence("8");
	FAILS(claim_verify(c, NULL, &e), ERR_UNSAFE, "its lease is not the newest");
	claim_drop(c);
	FAILS(claim_take(&c, &program, state, image, &e), ERR_UNSAFE,
		"this program has 7");
	set_fence("seven");
	FAILS(claim_take(&c, &program, state, image, &e), ERR_UNSAFE, "no fence token");
}
END_TEST

START_TEST(another_drive_and_another_size_are_refused)
{
	struct claim *c = NULL;
	struct err e = {0};

	FAILS(claim_take(&c, &program, state, other, &e), ERR_UNSAFE,
		"this is another drive than a.img-");
	FAILS(claim_take(&c, &program, state, "/var/tmp/none/x", &e), ERR_NOTFOUND,
		"open /var/tmp/none/x");
	OK(claim_take(&c, &program, state, image, &e));
	ck_assert_int_eq(truncate(image, 4 << 20), 0);
	FAILS(claim_verify(c, NULL, &e), ERR_UNSAFE, "capacity is 4194304, not 8388608");
	claim_drop(c);
}
END_TEST

START_TEST(a_drive_with_a_signature_is_refused)
{
	struct claim *c = NULL;
	struct err e = {0};
	int fd = open(image, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, "LUKS\xba\xbe\0\1", 8, 0), 8);
	close(fd);
	FAILS(claim_take(&c, &program, state, image, &e), ERR_UNSAFE,
		"carries a signature of crypto_LUKS (crypto)");
}
END_TEST

static void
make_nvme(void)
{
	is_nvme = true;
	program.drive.kind = DRIVE_NVME;
	set_fence("7"); /* the key of the drive is another */
}

/* Before its data are looked at, which cannot be read meanwhile. */
START_TEST(a_drive_in_the_middle_of_a_sanitize_is_not_taken)
{
	struct claim *c = NULL;
	struct err e = {0};
	int fd = open(image, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, "LUKS\xba\xbe\0\1", 8, 0), 8);
	close(fd);
	make_nvme();
	sstat = 2;
	FAILS(claim_take(&c, &program, state, image, &e), ERR_STATE,
		"a sanitize is in progress: 25 % done");
	ck_assert(e.fix[0] != '\0');
}
END_TEST

START_TEST(a_sanitize_that_begins_later_is_seen_and_one_that_has_ended_is_none)
{
	struct claim *c = NULL;
	struct err e = {0};

	make_nvme();
	sstat = 1;
	OK(claim_take(&c, &program, state, image, &e));
	OK(claim_verify(c, NULL, &e));
	sstat = 2;
	FAILS(claim_verify(c, NULL, &e), ERR_STATE, "is in progress");
	claim_drop(c);
	ck_assert_uint_gt(logs_read, 0);
}
END_TEST

/* Status 3/71h of the specification, command aborted by host: the drive has not failed
 * for that. */
START_TEST(a_drive_that_does_not_say_whether_it_sanitizes_has_not_failed)
{
	struct claim *c = NULL;
	struct err e = {0};

	make_nvme();
	log_status = 0x371;
	FAILS(claim_take(&c, &program, state, image, &e), ERR_STATE,
		"read the NVMe log of sanitizes");
	log_status = 0;
}
END_TEST

/* It would count the question as an error. */
START_TEST(a_drive_without_sanitize_is_not_asked_for_its_log)
{
	struct claim *c = NULL;
	struct err e = {0};

	make_nvme();
	sanicap = 0;
	sstat = 2;
	OK(claim_take(&c, &program, state, image, &e));
	claim_drop(c);
	ck_assert_uint_eq(logs_read, 0);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("claim");

	tcase_add_checked_fixture(tc, setup, top_remove);
	tcase_add_test(tc, a_drive_is_claimed_once_and_free_again_afterwards);
	tcase_add_test(tc, a_program_that_only_reads_cannot_write);
	tcase_add_test(tc, a_newer_lease_ends_the_claim);
	tcase_add_test(tc, another_drive_and_another_size_are_refused);
	tcase_add_test(tc, a_drive_with_a_signature_is_refused);
	tcase_add_test(tc, a_drive_in_the_middle_of_a_sanitize_is_not_taken);
	tcase_add_test(
		tc, a_sanitize_that_begins_later_is_seen_and_one_that_has_ended_is_none);
	tcase_add_test(tc, a_drive_that_does_not_say_whether_it_sanitizes_has_not_failed);
	tcase_add_test(tc, a_drive_without_sanitize_is_not_asked_for_its_log);
	return unit_run("claim", tc);
}
