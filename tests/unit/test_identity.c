#include "agent/identity.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/disk.h"
#include "tests/unit/unit.h"

static char dir[64], path[128];
static struct identity id;

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test_identity.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/identity.json", dir);
	memset(&id, 0, sizeof(id));
	id.node = 3;
	snprintf(id.name, sizeof(id.name), "sr-01");
	snprintf(id.url, sizeof(id.url), "https://lab:7443");
	snprintf(id.pin, sizeof(id.pin), "sha256//AAAA");
	snprintf(id.secret, sizeof(id.secret), "secret");
	id.data_port = 7444;
	seal_pair_new(&id.keys);
	memset(id.controller_key, 0x5a, sizeof(id.controller_key));
}

static void
teardown(void)
{
	ck_assert_int_eq(disk_remove_tree(dir, NULL), 0);
}

START_TEST(an_identity_is_kept_for_its_owner_alone)
{
	struct identity back;
	struct err e = {0};
	struct stat st;

	ck_assert(!identity_exists(dir));
	OK(identity_save(dir, &id, &e));
	ck_assert(identity_exists(dir));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	OK(identity_load(dir, &back, &e));
	ck_assert_uint_eq(back.node, 3);
	ck_assert_str_eq(back.name, id.name);
	ck_assert_str_eq(back.url, id.url);
	ck_assert_str_eq(back.pin, id.pin);
	ck_assert_str_eq(back.secret, id.secret);
	ck_assert_int_eq(back.data_port, 7444);
	ck_assert_mem_eq(back.controller_key, id.controller_key, SEAL_KEY_BYTES);
	ck_assert_mem_eq(back.keys.public_key, id.keys.public_key, SEAL_KEY_BYTES);
	ck_assert_mem_eq(back.keys.secret_key, id.keys.secret_key, SEAL_KEY_BYTES);
}
END_TEST

START_TEST(a_node_that_has_not_joined_is_told_how)
{
	struct err e = {0};

	FAILS(identity_load(dir, &id, &e), ERR_NOTFOUND, "has not joined");
	ck_assert_str_eq(e.fix, "run: ssdlab node enroll NAME on the controller, then "
				"ssdlab-agent join here");
}
END_TEST

START_TEST(an_identity_is_never_overwritten)
{
	struct identity other = id, back;
	struct err e = {0};

	OK(identity_save(dir, &id, &e));
	other.node = 4;
	FAILS(identity_save(dir, &other, &e), ERR_STATE, "is there already");
	OK(identity_load(dir, &back, &e));
	ck_assert_uint_eq(back.node, 3);
}
END_TEST

START_TEST(an_identity_that_others_can_read_is_refused)
{
	struct err e = {0};

	OK(identity_save(dir, &id, &e));
	ck_assert_int_eq(chmod(path, 0640), 0);
	FAILS(identity_load(dir, &id, &e), ERR_UNSAFE, "has mode 640");
}
END_TEST

START_TEST(a_damaged_identity_is_refused_with_its_place)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{"", "not valid JSON"},
		{"[]", "holds no object"},
		{"{\"ssdlab\":\"identity/v9\"}", "identity/v9"},
		{"{\"ssdlab\":\"identity/v1\",\"node\":3}", "node"},
		{"{\"ssdlab\":\"identity/v1\",\"node\":\"3\",\"name\":\"n\"}",
			"controller"},
		{"{\"ssdlab\":\"identity/v1\",\"secrets\":\"x\"}", "secrets"},
		{"{\"ssdlab\":\"identity/v1\",\"node\":\"3\",\"name\":\"n\","
		 "\"controller\":\"c\",\"pin\":\"\",\"secret\":\"s\",\"data_port\":7444,"
		 "\"controller_key\":\"short\",\"public_key\":\"\",\"secret_key\":\"\"}",
			"controller_key"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};

		OK(disk_write(path, cases[i].text, strlen(cases[i].text), 0600, &e));
		FAILS(identity_load(dir, &id, &e), ERR_INVALID, cases[i].part);
		ck_assert_msg(strstr(e.text, "identity.json") != NULL, "%s", e.text);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("identity");

	seal_init();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_identity_is_kept_for_its_owner_alone);
	tcase_add_test(tc, a_node_that_has_not_joined_is_told_how);
	tcase_add_test(tc, an_identity_is_never_overwritten);
	tcase_add_test(tc, an_identity_that_others_can_read_is_refused);
	tcase_add_test(tc, a_damaged_identity_is_refused_with_its_place);
	return unit_run("identity", tc);
}
