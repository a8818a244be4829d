/* The tables of states, each state against each event. */
#include <stdio.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "controller/campaign.h"
#include "controller/drives.h"
#include "controller/event.h"
#include "controller/node.h"
#include "controller/run.h"
#include "controller/store.h"
#include "tests/unit/store_rig.h"

struct machine {
	const char *name; /* "drive.admin" */
	const struct fsm *fsm;
	int first;  /* the state of a new object */
	int finals; /* states that nothing leaves: the last ones */
};

static const struct machine machines[] = {
	{"campaign.state", &campaign_fsm, CAMPAIGN_QUEUED, 3},
	{"run.state", &run_fsm, RUN_PENDING, 4},
	{"attempt.state", &attempt_fsm, ATTEMPT_GRANTED, 2},
	{"node.admin", &node_admin_fsm, NODE_PENDING, 1},
	{"node.observed", &node_observed_fsm, NODE_IS_LOST, 0},
	{"drive.admin", &drive_admin_fsm, DRIVE_UNAPPROVED, 1},
	{"drive.observed", &drive_observed_fsm, DRIVE_IS_ABSENT, 0},
	{"drive.occupancy", &drive_occupancy_fsm, DRIVE_HAS_IDLE, 0},
};

#define EACH_MACHINE(m)                          \
	for (const struct machine *m = machines; \
		m < machines + sizeof(machines) / sizeof(machines[0]); m++)

START_TEST(an_event_leads_to_one_state_only)
{
	EACH_MACHINE(m)
	for (size_t i = 0; i < m->fsm->n_edges; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(
				m->fsm->edges[i].from != m->fsm->edges[k].from ||
					m->fsm->edges[i].event != m->fsm->edges[k].event,
				"%s: edges %zu and %zu", m->name, k, i);
}
END_TEST

START_TEST(every_state_can_be_reached_and_only_final_ones_are_never_left)
{
	EACH_MACHINE(m)
	{
		const struct fsm *f = m->fsm;
		bool reached[16] = {false};

		reached[m->first] = true;
		for (int round = 0; round < f->n_states; round++)
			for (size_t i = 0; i < f->n_edges; i++)
				if (reached[f->edges[i].from])
					reached[f->edges[i].to] = true;
		for (int s = 0; s < f->n_states; s++) {
			bool left = false;

			for (int ev = 0; ev < f->n_events; ev++)
				left = left || (fsm_next(f, s, ev) >= 0 &&
						       fsm_next(f, s, ev) != s);
			ck_assert_msg(reached[s], "%s: %s", m->name, f->states[s]);
			ck_assert_msg(left == (s < f->n_states - m->finals), "%s: %s",
				m->name, f->states[s]);
		}
	}
}
END_TEST

START_TEST(every_event_is_good_for_something_and_names_are_unique)
{
	EACH_MACHINE(m)
	{
		const struct fsm *f = m->fsm;

		for (int ev = 0; ev < f->n_events; ev++) {
			bool used = false;

			for (size_t i = 0; i < f->n_edges; i++)
				used = used || f->edges[i].event == ev;
			ck_assert_msg(used, "%s: %s", m->name, f->events[ev]);
		}
		for (int s = 0; s < f->n_states; s++)
			ck_assert_int_eq(fsm_state(f, f->states[s]), s);
		ck_assert_int_eq(fsm_state(f, "no such state"), -1);
	}
}
END_TEST

/* The whole table of runs, written out a second time: what must never change unseen. */
START_TEST(runs_go_the_ways_they_should)
{
	static const char want[] = "pending grant leased\n"
				   "pending fail failed\n"
				   "pending cancel cancelled\n"
				   "leased start running\n"
				   "leased exit collecting\n"
				   "leased cancel cancelled\n"
				   "leased lose lost\n"
				   "running exit collecting\n"
				   "running lose lost\n"
				   "collecting finish done\n"
				   "collecting fail failed\n"
				   "collecting retry pending\n"
				   "collecting cancel cancelled\n"
				   "collecting lose lost\n";
	struct str got = {0};

	for (int s = 0; s < run_fsm.n_states; s++)
		for (int ev = 0; ev < run_fsm.n_events; ev++)
			if (fsm_next(&run_fsm, s, ev) >= 0)
				str_printf(&got, "%s %s %s\n", run_fsm.states[s],
					run_fsm.events[ev],
					run_fsm.states[fsm_next(&run_fsm, s, ev)]);
	for (const char *line = want; *line != '\0'; line = strchr(line, '\n') + 1) {
		char *one = xasprintf("%.*s", (int)(strchr(line, '\n') + 1 - line), line);

		ck_assert_msg(strstr(str_text(&got), one) != NULL, "%s", one);
		free(one);
	}
	ck_assert_uint_eq(got.len, strlen(want));
	str_fini(&got);
}
END_TEST

/* A run in each state meets each event, in a real store. */

struct
try {
	int state, event;
	bool ok;
};

static int
try_run(struct tx *t, void *arg, struct err *e)
{
	struct try *x = arg;

	if (tx_exec(t, e, "UPDATE run SET state = ?1, reason = '' WHERE id = 1", "s",
		    run_fsm.states[x->state]) != 0 ||
		tx_exec(t, e, "UPDATE campaign SET state = 'running' WHERE id = 1", "") !=
			0)
		return -1;
	x->ok = run_change(t, 1, (enum run_event)x->event, "why", "test", e) == 0;
	return x->ok ? 0 : -1;
}

START_TEST(each_event_in_each_state_changes_what_the_table_says_or_nothing)
{
	rig_up();
	rig_exec("INSERT INTO node (id, name, admin, created_ns)"
		 " VALUES (1, 'n', 'active', 1)");
	rig_exec("INSERT INTO drive (id, kind, model, serial, wwn, capacity_bytes,"
		 " logical_block_bytes, firmware, virtual, node_id, path, observed,"
		 " first_seen_ns, last_seen_ns) VALUES (1, 'loop', 'm', 's', '', 1, 512, "
		 "'',"
		 " 1, 1, '/x', 'present', 1, 1)");
	rig_exec("INSERT INTO suite (id, name, version, doc, digest, scaled, created_ns)"
		 " VALUES (1, 's', 1, '{}', '', 0, 1)");
	rig_exec("INSERT INTO campaign (id, name, doc, suite_id, state, priority, owner,"
		 " labels, created_ns) VALUES (1, 'c', '{}', 1, 'running', 1, 'o', '{}', "
		 "1)");
	rig_exec("INSERT INTO run (id, campaign_id, suite_id, drive_id, repeat, priority,"
		 " state, retries_left, scaled, virtual, created_ns)"
		 " VALUES (1, 1, 1, 1, 1, 1, 'pending', 0, 0, 1, 1)");
	for (int s = 0; s < RUN_STATES; s++)
		for (int ev = 0; ev < RUN_EVENTS; ev++) {
			struct try x = {.state = s, .event = ev};
			int to = fsm_next(&run_fsm, s, ev);
			struct err e = {0};
			int rc = rig_write(try_run, &x, &e);

			ck_assert_int_eq(rc, to < 0 ? -1 : 0);
			if (to < 0) {
				ck_assert_int_eq(e.class, ERR_STATE);
				continue;
			}
			rig_is("SELECT state FROM run", run_fsm.states[to]);
			rig_is("SELECT finished_ns IS NOT NULL AND reason = 'why' FROM "
			       "run",
				run_is_final((enum run_state)to) ? "1" : "0");
			rig_exec("UPDATE run SET finished_ns = NULL");
		}
	rig_is("SELECT count(*) FROM transition WHERE object = 'run'", "14");
	rig_is("SELECT count(*) FROM event WHERE name = 'run.state'", "14");
	rig_down();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("states");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, an_event_leads_to_one_state_only);
	tcase_add_test(tc, every_state_can_be_reached_and_only_final_ones_are_never_left);
	tcase_add_test(tc, every_event_is_good_for_something_and_names_are_unique);
	tcase_add_test(tc, runs_go_the_ways_they_should);
	tcase_add_test(
		tc, each_event_in_each_state_changes_what_the_table_says_or_nothing);
	return unit_run("states", tc);
}
