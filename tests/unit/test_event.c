#include "controller/event.h"

#include "tests/unit/store_rig.h"

static int
add_event(struct tx *t, void *arg, struct err *e)
{
	(void)arg;
	return event_add(t, "run.point", "run:r7",
		json_pack("{s:s,s:i}", "run", "r7", "point", 3), e);
}

static int
add_transition(struct tx *t, void *arg, struct err *e)
{
	return event_transition(t, arg, e);
}

START_TEST(an_event_is_a_row_and_wakes_its_readers)
{
	struct err e = {0};

	OK(rig_write(add_event, NULL, &e));
	rig_is("SELECT name || ' ' || topic || ' ' || data FROM event",
		"run.point run:r7 {\"run\":\"r7\",\"point\":3}");
	rig_is("SELECT at_ns > 1700000000000000000 FROM event", "1");
	ck_assert_uint_eq(rig_notes[NOTIFY_EVENTS], 1);
}
END_TEST

START_TEST(a_transition_is_logged_and_told)
{
	struct transition x = {
		.object = "drive",
		.id = 4,
		.variable = "occupancy",
		.from = "idle",
		.to = "leased",
		.why = "r3 was granted",
		.actor = "scheduler",
	};
	struct err e = {0};

	OK(rig_write(add_transition, &x, &e));
	rig_is("SELECT name || ' ' || topic || ' ' || data FROM event",
		"drive.state drive:d4 {\"id\":\"d4\",\"variable\":\"occupancy\","
		"\"from\":\"idle\",\"to\":\"leased\",\"why\":\"r3 was granted\"}");
	rig_is("SELECT object || object_id || variable || from_state || to_state || why"
	       " || actor FROM transition",
		"drive4occupancyidleleasedr3 was grantedscheduler");
	rig_is("SELECT wall_ns > mono_ns AND mono_ns > 0 FROM transition", "1");
}
END_TEST

START_TEST(a_transition_of_a_lease_is_only_logged)
{
	struct transition x = {
		.object = "lease",
		.id = 1,
		.variable = "state",
		.from = "granted",
		.to = "released",
		.why = "",
		.actor = "n1",
	};
	struct err e = {0};

	OK(rig_write(add_transition, &x, &e));
	rig_is("SELECT count(*) FROM transition", "1");
	rig_is("SELECT count(*) FROM event", "0");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("event");

	tcase_add_checked_fixture(tc, rig_up, rig_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, an_event_is_a_row_and_wakes_its_readers);
	tcase_add_test(tc, a_transition_is_logged_and_told);
	tcase_add_test(tc, a_transition_of_a_lease_is_only_logged);
	return unit_run("event", tc);
}
