/* The handlers of campaigns, runs, nodes, drives, suites and enrolment. */
#include <stdio.h>

#include "tests/unit/model_rig.h"

static int64_t node;

/* A node with three drives, the first two approved, and the suite small@1. */
static void
ready(void)
{
	lab_up();
	lab_suite();
	node = lab_node("sr-01");
	lab_reconcile(&(struct lab_agent){node, "b1", "S1 S2 S3", "", NULL});
	lab_approve(1);
	lab_approve(2);
}

static void
nothing_stored(void)
{
	rig_is("SELECT (SELECT count(*) FROM campaign) + (SELECT count(*) FROM run)",
		"0");
}

static json_t *
campaign(const char *change)
{
	json_t *doc = lab_json("{'ssdlab':'campaign/v1','name':'x','suite':'small@1',"
			       "'drives':[{'serial':'S1'}]}");
	json_t *more = lab_json(change);

	json_object_update(doc, more);
	json_decref(more);
	return doc;
}

/* What a campaign with a change is refused with: class, pointer, parts of text and fix.
 */
static void
refused(const char *change, enum err_class class, const char *pointer, const char *text,
	const char *fix)
{
	struct err e = {0};
	struct err plan = {0};

	ck_assert_int_eq(lab_ask(api_campaigns_post, 0, campaign(change), &e), -1);
	ck_assert_msg(e.class == class && strcmp(e.pointer, pointer) == 0 &&
			      strstr(e.text, text) != NULL && strstr(e.fix, fix) != NULL,
		"%s: %s at \"%s\": %s; fix: %s", change, err_name(e.class), e.pointer,
		e.text, e.fix);
	nothing_stored();
	/* a plan is refused in the same words */
	lab_query = "dry_run=plan";
	ck_assert_int_eq(lab_ask(api_campaigns_post, 0, campaign(change), &plan), -1);
	lab_query = "";
	ck_assert_str_eq(plan.text, e.text);
	ck_assert_str_eq(plan.pointer, e.pointer);
	ck_assert_str_eq(plan.fix, e.fix);
}

START_TEST(a_campaign_that_cannot_be_is_refused_as_a_whole)
{
	ready();
	refused("{'repaets':3}", ERR_INVALID, "/repaets", "unknown member",
		"did you mean \"repeats\"?");
	refused("{'suite':'smal@1'}", ERR_NOTFOUND, "/suite", "there is no suite smal@1",
		"there are: small@1");
	refused("{'suite':'small'}", ERR_INVALID, "/suite", "does not name",
		"NAME@VERSION");
	refused("{'workloads':['reads','write']}", ERR_INVALID, "/workloads/1",
		"has no workload \"write\"", "it has: reads, writes");
	refused("{'drives':[{'serial':'S1'},{'serial':'S9'}]}", ERR_NOTFOUND, "/drives/1",
		"no drive with the serial S9", "ssdlab drive ls");
	refused("{'drives':[{'serial':'S1','model':'Other'}]}", ERR_NOTFOUND, "/drives/0",
		"that model, wwn or capacity", "ssdlab drive ls");
	refused("{'drives':[{'serial':'S1'},{'serial':'S3'}]}", ERR_UNSAFE, "/drives/1",
		"not approved", "ssdlab drive approve S3");
	refused("{'drives':[{'serial':'S1'},{'serial':'S1','model':'Loop'}]}",
		ERR_INVALID, "/drives/1", "already in the list at /drives/0", "repeats");
	rig_exec("UPDATE drive SET observed = 'protected', protected = 'swap' WHERE id = "
		 "1");
	refused("{}", ERR_UNSAFE, "/drives/0", "protected: swap", "ssdlab drive show d1");
	rig_exec("UPDATE drive SET observed = 'conflict' WHERE id = 1");
	refused("{}", ERR_UNSAFE, "/drives/0", "two nodes", "ssdlab drive show d1");
	rig_exec("UPDATE drive SET observed = 'present', admin = 'retired' WHERE id = 1");
	refused("{}", ERR_UNSAFE, "/drives/0", "retired", "leave it out");
	rig_exec("UPDATE drive SET admin = 'readonly' WHERE id = 1");
	refused("{}", ERR_UNSAFE, "/drives/0", "reading only", "--mode destructive");
	rig_exec("UPDATE drive SET admin = 'destructive', capacity_bytes = 1000000"
		 " WHERE id = 1");
	refused("{}", ERR_INVALID, "/drives/0", "minimum capacity", "ssdlab suite ls");
	rig_exec("UPDATE drive SET capacity_bytes = 67108864 WHERE id = 1");
	rig_exec("INSERT INTO drive (kind, model, serial, wwn, capacity_bytes,"
		 " logical_block_bytes, firmware, virtual, node_id, path, observed,"
		 " first_seen_ns, last_seen_ns) SELECT kind, 'Twin', serial, wwn,"
		 " capacity_bytes, logical_block_bytes, firmware, virtual, node_id, path,"
		 " observed, 1, 1 FROM drive WHERE id = 1");
	refused("{}", ERR_INVALID, "/drives/0",
		"several drives have the serial S1: d1 (Loop, 67108864B, present), "
		"d4 (Twin, 67108864B, present)",
		"\"model\", \"wwn\" or \"capacity\"");
	lab_down();
}
END_TEST

START_TEST(of_a_drive_that_was_resized_the_present_form_is_meant)
{
	ready();
	rig_exec(
		"INSERT INTO drive (kind, model, serial, wwn, capacity_bytes,"
		" logical_block_bytes, firmware, virtual, node_id, path, observed, admin,"
		" first_seen_ns, last_seen_ns) SELECT kind, model, serial, wwn,"
		" 2 * capacity_bytes, logical_block_bytes, firmware, virtual, node_id,"
		" path, observed, admin, 1, 1 FROM drive WHERE id = 1");
	refused("{}", ERR_INVALID, "/drives/0",
		"several drives have the serial S1: d1 (Loop, 67108864B, present), "
		"d4 (Loop, 134217728B, present)",
		"\"model\", \"wwn\" or \"capacity\"");
	rig_exec("UPDATE drive SET observed = 'protected', protected = 'swap' WHERE id = "
		 "4");
	refused("{}", ERR_INVALID, "/drives/0", "d4 (Loop, 134217728B, protected)",
		"\"capacity\"");
	rig_exec("UPDATE drive SET observed = 'absent' WHERE id = 1");
	refused("{}", ERR_UNSAFE, "/drives/0", "protected: swap", "ssdlab drive show d4");
	rig_exec("UPDATE drive SET observed = 'absent' WHERE id = 4");
	refused("{}", ERR_INVALID, "/drives/0", "d4 (Loop, 134217728B, absent)",
		"\"capacity\"");
	refused("{'drives':[{'serial':'S1','capacity':'64MB'}]}", ERR_NOTFOUND,
		"/drives/0", "that model, wwn or capacity", "capacity_bytes in");
	lab_submit("S1", "{'drives':[{'serial':'S1','capacity':'64MiB'}]}");
	rig_is("SELECT drive_id FROM run", "1");
	rig_exec("UPDATE drive SET observed = 'present' WHERE id = 4");
	lab_submit("S1", "{}");
	rig_is("SELECT group_concat(drive_id, ' ') FROM run", "1 4");
	lab_down();
}
END_TEST

START_TEST(a_campaign_is_answered_with_its_whole_document)
{
	ready();
	lab_submit("S2 S1", "{'repeats':2,'labels':{'bench':'sr'},'priority':7}");
	ck_assert_int_eq(lab_call.status, 201);
	ck_assert_str_eq(lab_call.location, "/api/v1/campaigns/c1");
	ck_assert_str_eq(json_text_of(lab_call.doc, "schema"), "ssdlab/campaign/v1");
	ck_assert_str_eq(json_text_of(lab_call.doc, "state"), "queued");
	ck_assert_str_eq(json_text_of(lab_call.doc, "owner"), "tester");
	ck_assert_msg(strstr(lab_doc(), "\"pending\":4") != NULL, "%s", lab_doc());
	ck_assert_msg(strstr(lab_doc(), "\"retries\":1") != NULL, "%s", lab_doc());
	/* all drives once, then all again */
	rig_is("SELECT group_concat(drive_id || ':' || repeat, ' ') FROM (SELECT * FROM "
	       "run"
	       " ORDER BY id)",
		"2:1 1:1 2:2 1:2");
	rig_is("SELECT DISTINCT priority || ':' || scaled || virtual FROM run", "7:11");
	lab_down();
}
END_TEST

START_TEST(a_plan_stores_nothing_and_tells_everything)
{
	struct err e = {0};
	json_t *drive;

	ready();
	lab_query = "dry_run=plan";
	OK(lab_ask(api_campaigns_post, 0,
		campaign("{'drives':[{'serial':'S1'},{'serial':'S2'}],'repeats':2}"),
		&e));
	nothing_stored();
	ck_assert_int_eq(lab_call.status, 200);
	ck_assert_int_eq(json_integer_value(json_object_get(lab_call.doc, "runs")), 4);
	drive = json_array_get(json_object_get(lab_call.doc, "drives"), 0);
	ck_assert_str_eq(json_text_of(drive, "drive"), "d1");
	ck_assert_str_eq(json_text_of(drive, "node"), "n1");
	ck_assert_str_eq(json_text_of(drive, "node_name"), "sr-01");
	ck_assert(json_is_true(json_object_get(drive, "erases")));
	ck_assert_uint_eq(json_array_size(json_object_get(drive, "blockers")), 0);
	/* 2 x (fill of 64 MiB at 400 MB/s, 2 workloads of 3 points of 2 s) */
	ck_assert_str_eq(json_text_of(drive, "duration_ns"), "24335544320");
	/* 2 x (the fill, one workload that writes for 2 s x (100 + 50 + 100) %) */
	ck_assert_str_eq(json_text_of(drive, "write_bytes"), "160134217728");
	ck_assert_str_eq(json_text_of(drive, "fill_bytes"), "134217728");
	ck_assert_str_eq(json_text_of(drive, "writing_ns"), "10000000000");
	ck_assert_str_eq(json_text_of(lab_call.doc, "fill_bytes"), "268435456");
	ck_assert_str_eq(json_text_of(lab_call.doc, "writing_ns"), "20000000000");
	ck_assert_str_eq(json_text_of(lab_call.doc, "assumed_write_bytes_per_second"),
		"16000000000");
	ck_assert_uint_eq(json_array_size(json_object_get(lab_call.doc, "warnings")), 3);
	rig_exec("UPDATE suite SET doc = json_remove(doc, '$.prepare')");
	OK(lab_ask(api_campaigns_post, 0,
		campaign("{'drives':[{'serial':'S1'},{'serial':'S2'}],'repeats':2}"),
		&e));
	ck_assert_uint_eq(json_array_size(json_object_get(lab_call.doc, "warnings")), 4);
	ck_assert_ptr_nonnull(
		strstr(json_string_value(json_array_get(
			       json_object_get(lab_call.doc, "warnings"), 0)),
			"no preparation"));
	rig_exec("UPDATE suite SET doc = json_set(doc, '$.prepare',"
		 " json('{\"fill\":{}}'))");
	/* sums that no integer holds are the largest one, never a small one */
	rig_exec("UPDATE drive SET capacity_bytes = 1 << 62");
	OK(lab_ask(api_campaigns_post, 0,
		campaign("{'drives':[{'serial':'S1'},{'serial':'S2'}],'repeats':2}"),
		&e));
	drive = json_array_get(json_object_get(lab_call.doc, "drives"), 0);
	ck_assert_str_eq(json_text_of(drive, "duration_ns"), "9223372036854775807");
	ck_assert_str_eq(
		json_text_of(lab_call.doc, "duration_ns"), "9223372036854775807");
	ck_assert_str_eq(
		json_text_of(lab_call.doc, "write_bytes"), "9223372036854775807");
	FAILS(lab_ask(api_campaigns_post, 0, campaign("{'drives':[{'serial':'S9'}]}"),
		      &e),
		ERR_NOTFOUND, "no drive");
	lab_query = "dry_run=yes";
	FAILS(lab_ask(api_campaigns_post, 0, campaign("{}"), &e), ERR_INVALID, "dry_run");
	lab_query = "";
	lab_submit("S1", "{}");
	lab_sched();
	lab_query = "dry_run=plan";
	OK(lab_ask(api_campaigns_post, 0, campaign("{}"), &e));
	ck_assert_msg(
		strstr(lab_doc(), "drive d1 is held by r1") != NULL, "%s", lab_doc());
	rig_is("SELECT count(*) FROM run", "1");
	lab_down();
}
END_TEST

START_TEST(a_suite_that_only_reads_runs_on_a_readonly_drive)
{
	struct err e = {0};

	ready();
	OK(lab_ask(api_suites_post, 0,
		lab_json(
			"{'ssdlab':'suite/"
			"v1','name':'calm','version':1,'ramp':{'maximum':"
			"{'warmup':'0s','measure':'1s'},'point':{'warmup':'0s','measure':"
			"'1s'},'load':[]},'workloads':[{'id':'r','read':'100%','access':"
			"'random','block':'4KiB','in_flight':1}]}"),
		&e));
	OK(lab_ask(api_drives_approve, 3, lab_json("{'serial':'S3','mode':'readonly'}"),
		&e));
	lab_submit("S3", "{'suite':'calm@1'}");
	lab_sched();
	lab_run_is(1, "leased");
	FAILS(lab_ask(api_campaigns_post, 0, campaign("{'drives':[{'serial':'S3'}]}"),
		      &e),
		ERR_UNSAFE, "reading only");
	lab_down();
}
END_TEST

/* The ids of the items of a list: "r2 r1". Static buffer. */
static const char *
listed(api_fn *fn, const char *query)
{
	static struct str out;
	struct err e = {0};
	json_t *item;
	size_t i;

	lab_query = query;
	OK(lab_ask(fn, 1, NULL, &e));
	lab_query = "";
	str_reset(&out);
	str_puts(&out, "");
	json_array_foreach (json_object_get(lab_call.doc, "items"), i, item)
		str_printf(&out, "%s%s", i > 0 ? " " : "", json_text_of(item, "id"));
	return str_text(&out);
}

static void
no_list(api_fn *fn, const char *query, const char *text)
{
	struct err e = {0};

	lab_query = query;
	ck_assert_int_eq(lab_ask(fn, 1, NULL, &e), -1);
	ck_assert_msg(strstr(e.text, text) != NULL, "%s: %s", query, e.text);
	lab_query = "";
}

START_TEST(runs_are_found_by_all_that_is_known_of_them)
{
	ready();
	lab_submit("S1 S2", "{'labels':{'bench':'sr'}}");
	lab_submit("S1", "{'labels':{'bench':'hq'}}");
	lab_sched();
	rig_exec("UPDATE run SET created_ns = 1700000000000000000 WHERE id = 1");
	rig_exec("UPDATE run SET firmware = 'old' WHERE id = 2");
	rig_exec(
		"INSERT INTO point (attempt_id, point, step, workload, state, started_ns)"
		" VALUES (2, 1, 1, 'writes', 'done', 1)");
	ck_assert_str_eq(listed(api_runs_list, ""), "r3 r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "campaign=c1"), "r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "drive=d1&state=leased"), "r1");
	ck_assert_str_eq(listed(api_runs_list, "serial=S2"), "r2");
	ck_assert_str_eq(listed(api_runs_list, "model=Loop"), "r3 r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "firmware=old"), "r2");
	ck_assert_str_eq(listed(api_runs_list, "firmware=1"), "r3 r1");
	ck_assert_str_eq(listed(api_runs_list, "node=sr-01"), "r3 r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "node=n1&suite=small@1"), "r3 r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "suite=small"), "r3 r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "workload=writes"), "r2");
	ck_assert_str_eq(listed(api_runs_list, "label=bench:sr"), "r2 r1");
	ck_assert_str_eq(listed(api_runs_list, "until=2023-11-15"), "r1");
	ck_assert_str_eq(listed(api_runs_list, "since=2023-11-14T22:13:21Z"), "r3 r2");
	ck_assert_str_eq(
		listed(api_runs_list, "since=2023-11-14T22:13:20.5Z&until=2030-01-01"),
		"r3 r2 r1");
	no_list(api_runs_list, "state=sleeping", "never \"sleeping\"");
	no_list(api_runs_list, "since=yesterday", "\"yesterday\" is not a time");
	no_list(api_runs_list, "since=2023-11-14T22:13", "is not a time");
	no_list(api_runs_list, "since=2026-02-30", "\"2026-02-30\" is not a time");
	no_list(api_runs_list, "until=2023-02-29T00:00:00Z", "is not a time");
	no_list(api_runs_list, "label=x", "\"x\" is no label");
	no_list(api_runs_list, "node=sr-09", "no node sr-09");
	no_list(api_runs_list, "campaign=r1", "query parameter campaign");
	no_list(api_runs_list, "campaign=c9", "there is no campaign c9");
	no_list(api_runs_list, "drive=d9", "there is no drive d9");
	no_list(api_runs_list, "suite=other@1", "there is no suite other@1");
	no_list(api_drives_list, "node=sr-09", "no node sr-09");
	no_list(api_runs_list, "stat=done", "unknown query parameter");
	lab_down();
}
END_TEST

START_TEST(lists_come_in_pages)
{
	char query[64];

	ready();
	lab_submit("S1 S2", "{'repeats':2}");
	ck_assert_str_eq(listed(api_campaigns_runs, "limit=3"), "r1 r2 r3");
	snprintf(query, sizeof(query), "limit=3&cursor=%s",
		json_text_of(lab_call.doc, "next_cursor"));
	ck_assert_str_eq(listed(api_campaigns_runs, query), "r4");
	ck_assert(json_is_null(json_object_get(lab_call.doc, "next_cursor")));
	ck_assert_str_eq(listed(api_runs_list, "limit=3"), "r4 r3 r2");
	snprintf(query, sizeof(query), "limit=3&cursor=%s",
		json_text_of(lab_call.doc, "next_cursor"));
	ck_assert_str_eq(listed(api_runs_list, query), "r1");
	ck_assert_str_eq(listed(api_drives_list, "limit=2"), "d1 d2");
	ck_assert_str_eq(listed(api_drives_list, "node=sr-01&serial=S3"), "d3");
	ck_assert_str_eq(listed(api_nodes_list, ""), "n1");
	ck_assert_str_eq(listed(api_campaigns_list, "state=queued"), "c1");
	ck_assert_str_eq(listed(api_campaigns_list, "state=done"), "");
	ck_assert_str_eq(listed(api_campaigns_list, "label=bench:sr"), "");
	ck_assert_str_eq(listed(api_campaigns_list, "name=no-such"), "");
	ck_assert_str_eq(listed(api_campaigns_list, "name=test"), "c1");
	no_list(api_campaigns_list, "state=lost", "campaigns are never");
	lab_down();
}
END_TEST

START_TEST(a_run_shows_its_progress_and_equal_answers_have_equal_tags)
{
	struct err e = {0};
	char tag[sizeof(lab_call.etag)];

	ready();
	lab_submit("S1", "{}");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert(json_is_null(json_object_get(lab_call.doc, "attempt")));
	memcpy(tag, lab_call.etag, sizeof(tag));
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_str_eq(lab_call.etag, tag);
	lab_sched();
	rig_exec("INSERT INTO point (attempt_id, point, step, workload, load_percent, "
		 "state,"
		 " started_ns) VALUES (1, 1, 2, 'fill', NULL, 'done', 1),"
		 " (1, 2, 3, 'reads', NULL, 'done', 1), (1, 3, 3, 'reads', 50, "
		 "'running', 1)");
	rig_exec("INSERT INTO series (attempt_id, point, n, first_seq, last_seq, "
		 "samples) VALUES (1, 1, 5, 1, 5, x'00')");
	rig_exec("INSERT INTO record (attempt_id, seq, kind, point, crc, payload)"
		 " VALUES (1, 9, 2, 3, 0, x'00'), (1, 10, 1, 3, 0, x'00')");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_str_ne(lab_call.etag, tag);
	ck_assert_msg(
		strstr(lab_doc(),
			"\"load_percent\":50.0,"
			"\"offered_iops\":null,\"points_done\":2,\"points_total\":7,"
			"\"workload\":\"reads\"}") != NULL,
		"%s", lab_doc());
	ck_assert_msg(strstr(lab_doc(), "\"samples\":6") != NULL, "%s", lab_doc());
	/* the present load and the one after it, then a maximum and two loads, 2 s each
	 */
	ck_assert_str_eq(
		json_text_of(json_object_get(lab_call.doc, "progress"), "left_ns"),
		"10000000000");
	ck_assert(json_is_null(
		json_object_get(json_object_get(lab_call.doc, "progress"), "fill_pass")));
	OK(lab_ask(api_campaigns_get, 1, NULL, &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "left_ns"), "10000000000");
	ck_assert(json_is_false(json_object_get(lab_call.doc, "left_at_most")));
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	rig_exec("UPDATE run SET state = 'running' WHERE id = 1;");
	rig_exec("UPDATE point SET state = 'running', step = 2 WHERE point = 1");
	rig_exec("UPDATE point SET step = 1 WHERE point > 1");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_msg(strstr(lab_doc(), "\"fill_pass\":1,\"fill_passes\":1") != NULL,
		"%s", lab_doc());
	rig_exec("UPDATE drive SET kind = 'scsi', virtual = 0 WHERE id = 1");
	rig_exec("INSERT INTO health (attempt_id, moment, at_ns, doc) VALUES (1, "
		 "'before', 5, '{\"source\":\"none\",\"why\":\"smartctl is not "
		 "installed\"}')");
	OK(lab_ask(api_drives_get, 1, NULL, &e));
	ck_assert_str_eq(
		json_text_of(lab_call.doc, "health_unread"), "smartctl is not installed");
	rig_exec("INSERT INTO health (attempt_id, moment, at_ns, doc) VALUES (1, "
		 "'after', 6, '{\"source\":\"smartctl\"}')");
	OK(lab_ask(api_drives_get, 1, NULL, &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "health_unread"), "");
	rig_exec("UPDATE run SET state = 'leased' WHERE id = 1");
	rig_exec("UPDATE point SET state = 'done' WHERE point = 1");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	/* the second runner told only what it wrote in the measured time */
	rig_exec("UPDATE point SET meta ="
		 " '{\"bytes\":[\"7\",\"9007199254740993\"],\"written_bytes\":\"50\"}'"
		 " WHERE point = 1");
	rig_exec("UPDATE point SET meta = '{\"bytes\":[\"7\",\"9007199254740993\"]}'"
		 " WHERE point = 2");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "written_bytes"), "9007199254741043");
	rig_exec("UPDATE node SET trouble = 'no room'");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_msg(
		strstr(lab_doc(), "\"blockers\":[{\"code\":\"node.trouble\","
				  "\"text\":\"node sr-01 says: no room\"}]") != NULL,
		"%s", lab_doc());
	rig_exec("UPDATE run SET state = 'running'");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_msg(strstr(lab_doc(), "\"blockers\":[]") != NULL, "%s", lab_doc());
	rig_exec("UPDATE attempt SET cannot_stop = 'purge by format'");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_msg(strstr(lab_doc(), "\"blockers\":[]") != NULL, "%s", lab_doc());
	rig_exec("UPDATE attempt SET stop_requested = 1");
	OK(lab_ask(api_runs_get, 1, NULL, &e));
	ck_assert_msg(strstr(lab_doc(), "\"blockers\":[{\"code\":\"run.cannot_stop\","
					"\"text\":\"cannot stop: purge by format; the "
					"drive goes on with it whatever its host does, "
					"and is waited for\"}]") != NULL,
		"%s", lab_doc());
	FAILS(lab_ask(api_runs_get, 9, NULL, &e), ERR_NOTFOUND, "no run r9");
	ck_assert_str_eq(e.fix, "ssdlab run ls");
	FAILS(lab_ask(api_campaigns_get, 9, NULL, &e), ERR_NOTFOUND, "no campaign c9");
	ck_assert_str_eq(e.fix, "ssdlab campaign ls");
	FAILS(lab_ask(api_drives_get, 9, NULL, &e), ERR_NOTFOUND, "no drive d9");
	ck_assert_str_eq(e.fix, "ssdlab drive ls");
	FAILS(lab_ask(api_campaigns_runs, 9, NULL, &e), ERR_NOTFOUND, "no campaign c9");
	FAILS(lab_ask(api_campaigns_cancel, 9, NULL, &e), ERR_NOTFOUND, "no campaign c9");
	lab_down();
}
END_TEST

START_TEST(a_join_token_is_good_once_and_for_an_hour)
{
	struct err e = {0};
	char key[] = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
	const char *join;
	char *token;
	json_t *body;

	lab_up();
	OK(lab_ask(api_nodes_post, 0,
		lab_json("{'name':'sr-02','max_runs':2,'labels':{'rack':'4'}}"), &e));
	ck_assert_int_eq(lab_call.status, 201);
	ck_assert(lab_call.secret);
	OK(lab_ask(api_nodes_post, 0, lab_json("{'name':'sr-02'}"), &e));
	join = json_text_of(lab_call.doc, "join");
	ck_assert_msg(strncmp(join, "https://lab:7443/join?name=sr-02&token=", 39) == 0 &&
			      strstr(join, "&pin=sha256//AAAA") != NULL,
		"%s", join);
	token = xasprintf("%.43s", join + 39);
	rig_is("SELECT admin || max_runs || labels FROM node",
		"pending2{\"rack\":\"4\"}");
	body = json_pack(
		"{s:s, s:s, s:s}", "name", "sr-03", "token", token, "public_key", key);
	FAILS(lab_ask(api_agents_enroll, 0, json_incref(body), &e), ERR_FORBIDDEN,
		"not valid for node sr-03");
	ck_assert_str_eq(e.fix, "ssdlab node enroll sr-03 makes a new one");
	json_object_set_new(body, "name", json_string("sr-02"));
	rig_exec("UPDATE node SET join_expires_ns = 1");
	FAILS(lab_ask(api_agents_enroll, 0, json_incref(body), &e), ERR_FORBIDDEN,
		"older than an hour");
	rig_exec("UPDATE node SET join_expires_ns = 9000000000000000000");
	OK(lab_ask(api_agents_enroll, 0, json_incref(body), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "node"), "1");
	ck_assert(lab_call.secret);
	ck_assert_uint_eq(strlen(json_text_of(lab_call.doc, "secret")), SEAL_TOKEN_CHARS);
	rig_is("SELECT admin || hex(public_key) FROM node",
		"active0101010101010101010101010101010101010101010101010101010101010101");
	FAILS(lab_ask(api_agents_enroll, 0, json_incref(body), &e), ERR_FORBIDDEN,
		"was used");
	/* a new token for the same node: it enrols anew and keeps its number */
	FAILS(lab_ask(api_nodes_post, 0, lab_json("{'name':'sr-02','max_runs':9}"), &e),
		ERR_STATE,
		"sr-02 exists and is lost; a new token shuts its present agent out");
	ck_assert_str_eq(e.fix, "ssdlab node enroll sr-02 --replace");
	FAILS(lab_ask(api_nodes_post, 0, lab_json("{'name':'sr-02','replace':1}"), &e),
		ERR_INVALID, "true or false");
	OK(lab_ask(api_nodes_post, 0, lab_json("{'name':'sr-02','replace':true}"), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "id"), "n1");
	rig_is("SELECT admin || max_runs FROM node", "active2");
	json_object_set_new(body, "public_key", json_string("short"));
	FAILS(lab_ask(api_agents_enroll, 0, body, &e), ERR_INVALID, "");
	ck_assert_str_eq(e.pointer, "/public_key");
	free(token);
	lab_down();
}
END_TEST

START_TEST(nodes_are_drained_with_a_reason_and_resumed)
{
	struct err e = {0};

	ready();
	FAILS(lab_ask(api_nodes_drain, 1, lab_json("{}"), &e), ERR_INVALID, "\"reason\"");
	FAILS(lab_ask(api_nodes_drain, 1, NULL, &e), ERR_INVALID, "needs a body");
	OK(lab_ask(api_nodes_drain, 1, lab_json("{'reason':'fans'}"), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin"), "draining");
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin_reason"), "fans");
	ck_assert(json_is_true(json_object_get(lab_call.doc, "drained")));
	OK(lab_ask(api_nodes_drain, 1, lab_json("{'reason':'more fans'}"), &e));
	OK(lab_ask(api_nodes_resume, 1, NULL, &e));
	OK(lab_ask(api_nodes_resume, 1, lab_json("{}"), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin"), "active");
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin_reason"), "");
	ck_assert(json_is_false(json_object_get(lab_call.doc, "drained")));
	FAILS(lab_ask(api_nodes_drain, 9, lab_json("{'reason':'x'}"), &e), ERR_NOTFOUND,
		"no node n9");
	FAILS(lab_ask(api_nodes_get, 9, NULL, &e), ERR_NOTFOUND, "no node n9");
	OK(lab_ask(api_nodes_post, 0, lab_json("{'name':'sr-02'}"), &e));
	FAILS(lab_ask(api_nodes_drain, 2, lab_json("{'reason':'x'}"), &e), ERR_STATE,
		"not possible while its admin is pending");
	FAILS(lab_ask(api_nodes_post, 0, lab_json("{'name':'SR 02'}"), &e), ERR_INVALID,
		"the name of a node");
	FAILS(lab_ask(api_nodes_post, 0, lab_json("{'name':'x','max_runs':0}"), &e),
		ERR_INVALID, "max_runs");
	OK(lab_ask(api_nodes_get, 1, NULL, &e));
	ck_assert_int_eq(json_integer_value(json_object_get(lab_call.doc, "drives")), 3);
	lab_down();
}
END_TEST

START_TEST(a_drive_is_approved_by_its_serial_unless_it_is_protected)
{
	struct err e = {0};
	const char *good = "{'serial':'S3','mode':'destructive'}";

	ready();
	FAILS(lab_ask(api_drives_approve, 3,
		      lab_json("{'serial':'s3','mode':'readonly'}"), &e),
		ERR_UNSAFE, "not that of drive d3");
	ck_assert_str_eq(e.pointer, "/serial");
	FAILS(lab_ask(api_drives_approve, 3, lab_json("{'serial':'S3','mode':'all'}"),
		      &e),
		ERR_INVALID, "\"mode\" must be");
	FAILS(lab_ask(api_drives_approve, 9, lab_json(good), &e), ERR_NOTFOUND,
		"no drive d9");
	rig_exec("UPDATE drive SET observed = 'protected', protected = 'ext4' WHERE id = "
		 "3");
	FAILS(lab_ask(api_drives_approve, 3, lab_json(good), &e), ERR_UNSAFE,
		"protected: ext4");
	ck_assert_ptr_nonnull(strstr(e.fix, "seen without what protects it"));
	rig_exec("UPDATE drive SET path = '/dev/sdx', protected = 'a carries b; c "
		 "carries d'");
	FAILS(lab_ask(api_drives_approve, 3, lab_json(good), &e), ERR_UNSAFE, "b; c");
	ck_assert_ptr_nonnull(strstr(e.fix, "\"wipefs -a /dev/sdx\" on its node"));
	rig_exec("UPDATE drive SET protected = 'a carries b; c is mounted on /'");
	FAILS(lab_ask(api_drives_approve, 3, lab_json(good), &e), ERR_UNSAFE, "mounted");
	ck_assert_ptr_null(strstr(e.fix, "wipefs"));
	rig_exec("UPDATE drive SET observed = 'conflict' WHERE id = 3");
	FAILS(lab_ask(api_drives_approve, 3, lab_json(good), &e), ERR_UNSAFE,
		"two nodes");
	rig_exec("UPDATE drive SET observed = 'present' WHERE id = 3");
	OK(lab_ask(api_drives_approve, 3, lab_json(good), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin"), "destructive");
	rig_is("SELECT actor FROM transition WHERE object = 'drive' AND object_id = 3"
	       " AND variable = 'admin'",
		"tester");
	FAILS(lab_ask(api_drives_protect, 3, lab_json("{}"), &e), ERR_INVALID, "reason");
	OK(lab_ask(api_drives_protect, 3, lab_json("{'reason':'goes back'}"), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin"), "unapproved");
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin_reason"), "goes back");
	OK(lab_ask(api_drives_get, 3, NULL, &e));
	ck_assert_msg(strstr(lab_doc(), "\"last_run\":null") != NULL, "%s", lab_doc());
	ck_assert_msg(strstr(lab_doc(), "\"capacity_bytes\":\"67108864\"") != NULL, "%s",
		lab_doc());
	lab_down();
}
END_TEST

START_TEST(a_leased_drive_is_protected_at_once_and_for_what_comes_next)
{
	struct err e = {0};

	ready();
	lab_submit("S1", "{'repeats':2}");
	lab_sched();
	OK(lab_ask(api_nodes_drain, 1, lab_json("{'reason':'fans'}"), &e));
	ck_assert(json_is_false(json_object_get(lab_call.doc, "drained")));
	OK(lab_ask(api_drives_protect, 1, lab_json("{'reason':'goes back'}"), &e));
	ck_assert_str_eq(json_text_of(lab_call.doc, "admin"), "unapproved");
	ck_assert_str_eq(json_text_of(lab_call.doc, "occupancy"), "leased");
	ck_assert_str_eq(json_text_of(lab_call.doc, "stopping"), "r1");
	rig_is("SELECT stop_requested FROM attempt", "1");
	rig_is("SELECT data FROM event WHERE name = 'drive.state' ORDER BY id DESC LIMIT "
	       "1",
		"{\"id\":\"d1\",\"variable\":\"admin\",\"from\":\"destructive\","
		"\"to\":\"unapproved\",\"why\":\"goes back\"}");
	lab_sched();
	lab_run_is(1, "leased");
	lab_run_is(2, "pending");
	lab_down();
}
END_TEST

START_TEST(a_suite_never_changes)
{
	struct err e = {0};
	json_t *doc;

	ready();
	OK(lab_key(api_suites_get, "small@1", &e));
	doc = json_deep_copy(json_object_get(lab_call.doc, "document"));
	ck_assert_msg(strstr(lab_doc(), "\"workloads\":[\"reads\",\"writes\"]") != NULL,
		"%s", lab_doc());
	OK(lab_ask(api_suites_post, 0, json_deep_copy(doc), &e));
	ck_assert_int_eq(lab_call.status, 200);
	json_object_set_new(doc, "region", json_string("50%"));
	FAILS(lab_ask(api_suites_post, 0, json_deep_copy(doc), &e), ERR_STATE,
		"already with other content");
	ck_assert_str_eq(e.fix, "a suite never changes: give this one the version 2");
	json_object_set_new(doc, "version", json_integer(2));
	OK(lab_ask(api_suites_post, 0, doc, &e));
	ck_assert_int_eq(lab_call.status, 201);
	ck_assert_str_eq(lab_call.location, "/api/v1/suites/small@2");
	OK(lab_ask(api_suites_list, 0, NULL, &e));
	ck_assert_msg(strstr(lab_doc(), "\"minimum_capacity_bytes\":\"1048576\"") != NULL,
		"%s", lab_doc());
	ck_assert_uint_eq(json_array_size(json_object_get(lab_call.doc, "items")), 2);
	FAILS(lab_key(api_suites_get, "small@3", &e), ERR_NOTFOUND, "no suite small@3");
	ck_assert_str_eq(e.fix, "there are: small@1, small@2");
	FAILS(lab_key(api_suites_get, "small", &e), ERR_INVALID, "does not name");
	lab_down();
}
END_TEST

START_TEST(shipped_suites_are_loaded_and_a_changed_one_is_left_out)
{
	struct err e = {0};
	char *dir = xasprintf("%s/../../etc/suites", TESTS_DATA_DIR);
	char none[] = "/nowhere";

	lab_up();
	OK(rig_write(suites_load, dir, &e));
	OK(rig_write(suites_load, dir, &e));
	rig_is("SELECT group_concat(name || '@' || version || scaled, ' ') FROM"
	       " (SELECT * FROM suite ORDER BY id)",
		"four-corners@10 four-corners-demo@11 jesd219@10 jesd219-quick@11 "
		"snia-pts@10 snia-pts-quick@11 "
		"storagereview-2018@10 storagereview-2018-quick@11 "
		"storagereview-2021@10 storagereview-2021-quick@11 "
		"sweeps@10 sweeps-quick@11 targeted@10 targeted-quick@11");
	rig_exec("UPDATE suite SET digest = 'x' WHERE name = 'four-corners'");
	OK(rig_write(suites_load, dir, &e));
	rig_is("SELECT count(*) FROM suite", "14");
	OK(rig_write(suites_load, none, &e));
	free(dir);
	lab_down();
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("resources");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_campaign_that_cannot_be_is_refused_as_a_whole);
	tcase_add_test(tc, of_a_drive_that_was_resized_the_present_form_is_meant);
	tcase_add_test(tc, a_campaign_is_answered_with_its_whole_document);
	tcase_add_test(tc, a_plan_stores_nothing_and_tells_everything);
	tcase_add_test(tc, a_suite_that_only_reads_runs_on_a_readonly_drive);
	tcase_add_test(tc, runs_are_found_by_all_that_is_known_of_them);
	tcase_add_test(tc, lists_come_in_pages);
	tcase_add_test(tc, a_run_shows_its_progress_and_equal_answers_have_equal_tags);
	tcase_add_test(tc, a_join_token_is_good_once_and_for_an_hour);
	tcase_add_test(tc, nodes_are_drained_with_a_reason_and_resumed);
	tcase_add_test(tc, a_drive_is_approved_by_its_serial_unless_it_is_protected);
	tcase_add_test(tc, a_leased_drive_is_protected_at_once_and_for_what_comes_next);
	tcase_add_test(tc, a_suite_never_changes);
	tcase_add_test(tc, shipped_suites_are_loaded_and_a_changed_one_is_left_out);
	return unit_run("resources", tc);
}
