#include "cli/ref.h"

#include "common/json.h"
#include "tests/unit/serve_rig.h"

START_TEST(an_id_may_be_written_without_its_letter)
{
	struct err e = {0};
	struct ref ref;

	OK(ref_id("r12", 'r', &ref, &e));
	ck_assert_str_eq(ref.id, "r12");
	OK(ref_id("12", 'r', &ref, &e));
	ck_assert_str_eq(ref.id, "r12");
	FAILS(ref_id("d1", 'r', &ref, &e), ERR_INVALID, "\"d1\" is not a run");
	FAILS(ref_id("r0", 'r', &ref, &e), ERR_INVALID, "\"r0\" is not a run");
	FAILS(ref_id("", 'c', &ref, &e), ERR_INVALID, "\"\" is not a campaign");
}
END_TEST

START_TEST(a_command_says_what_it_takes)
{
	struct err e = {0};
	struct ref ref;

	OK(ref_arg("curve", "12", 'r', &ref, &e));
	FAILS(ref_arg("curve", "d1", 'r', &ref, &e), ERR_INVALID,
		"curve takes a run, for example r12");
	ck_assert_str_eq(e.fix, "d1 is a drive; ssdlab run ls --drive d1");
	FAILS(ref_arg("run show", "c1", 'r', &ref, &e), ERR_INVALID,
		"run show takes a run, for example r12");
	ck_assert_str_eq(e.fix, "c1 is a campaign; ssdlab run ls --campaign c1");
	FAILS(ref_arg("campaign show", "first", 'c', &ref, &e), ERR_INVALID,
		"campaign show takes a campaign, for example c12");
	ck_assert_str_eq(e.fix, "ssdlab campaign ls lists them");
}
END_TEST

static const struct serve_row campaigns[] = {
	{"GET /api/v1/campaigns?name=demo&",
		"{\"items\":[{\"id\":\"c3\",\"name\":\"demo\",\"state\":\"running\"},"
		"{\"id\":\"c1\",\"name\":\"demo\",\"state\":\"done\"}]}"},
	{"GET /api/v1/campaigns?name=other%20one&",
		"{\"items\":[{\"id\":\"c2\",\"name\":\"other "
		"one\",\"state\":\"done\"}]}"},
	{"GET /api/v1/campaigns?name=", "{\"items\":[]}"},
	{"GET /api/v1/campaigns?limit=5 ",
		"{\"items\":[{\"id\":\"c3\",\"name\":\"demo\"},{\"id\":\"c2\",\"name\":"
		"\"other one\"}],\"next_cursor\":null}"},
	{NULL, NULL},
};

START_TEST(a_campaign_goes_by_a_name_that_only_one_has)
{
	char server[80];
	int fd = serve_listen("http", server, sizeof(server));
	pid_t child = serve_start(fd, campaigns);
	struct config cfg = {0};
	struct client *c = serve_client(server, &cfg);
	struct err e = {0};
	struct ref ref;

	OK(ref_campaign(c, "12", &ref, &e));
	ck_assert_str_eq(ref.id, "c12");
	OK(ref_campaign(c, "other one", &ref, &e));
	ck_assert_str_eq(ref.id, "c2");
	FAILS(ref_campaign(c, "demo", &ref, &e), ERR_INVALID,
		"2 campaigns are called \"demo\"");
	ck_assert_str_eq(e.fix, "use an id: c3 (running), c1 (done)");
	FAILS(ref_campaign(c, "dmeo", &ref, &e), ERR_NOTFOUND,
		"there is no campaign \"dmeo\"");
	ck_assert_str_eq(e.fix, "there are c3 demo, c2 other one; ssdlab campaign ls");
	serve_stop(child, fd);
	client_free(c);
	config_fini(&cfg);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("ref");

	tcase_add_test(tc, an_id_may_be_written_without_its_letter);
	tcase_add_test(tc, a_command_says_what_it_takes);
	tcase_add_test(tc, a_campaign_goes_by_a_name_that_only_one_has);
	return unit_run("ref", tc);
}
