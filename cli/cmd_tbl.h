/*
 * One row per command: noun, verb ("" for none), arguments as the usage shows them, least and most
 * arguments, options besides --output and --help, outputs, handler, help. man/ssdlab.1 describes
 * each; tools/check-docs compares.
 */
CMD("status", "", "", 0, 0, 0, ROWS, cmd_status,
	"the lab on one screen: nodes, running, waiting and why, what needs a person")
CMD("node", "ls", "", 0, 0, 0, ROWS | NAMES, cmd_node_ls, "the nodes and how they are")
CMD("node", "show", "NODE", 1, 1, 0, ROWS | NAMES, cmd_node_show, "one node and its drives")
CMD("node", "enroll", "NAME", 1, 1, F(MAX_RUNS) | F(LABEL) | F(REPLACE), DOCUMENT, cmd_node_enroll,
	"make a node; prints its join token, good for one use")
CMD("node", "drain", "NODE", 1, 1, F(REASON), DOCUMENT, cmd_node_drain,
	"give a node no new runs; those running finish")
CMD("node", "resume", "NODE", 1, 1, 0, DOCUMENT, cmd_node_resume, "give a node runs again")
CMD("drive", "ls", "", 0, 0, F(NODE) | F(MODEL), ROWS | NAMES, cmd_drive_ls,
	"the drives and how they are")
CMD("drive", "show", "DRIVE", 1, 1, 0, ROWS | NAMES, cmd_drive_show, "one drive")
CMD("drive", "approve", "DRIVE", 1, 1, F(SERIAL) | F(MODE) | F(TIMEOUT), DOCUMENT, cmd_drive_approve,
	"make a drive a target; its serial has to be typed")
CMD("drive", "protect", "DRIVE", 1, 1, F(REASON) | F(TIMEOUT), DOCUMENT, cmd_drive_protect,
	"withdraw the approval of a drive; waits for its run to end")
CMD("drive", "release", "DRIVE", 1, 1, F(SERIAL) | F(REASON), DOCUMENT, cmd_drive_release,
	"release a fenced drive, on record: nothing uses it any more")
CMD("suite", "ls", "", 0, 0, 0, ROWS | NAMES, cmd_suite_ls, "the suites")
CMD("suite", "show", "NAME@VERSION", 1, 1, 0, ROWS | NAMES, cmd_suite_show,
	"one suite and its workloads")
CMD("suite", "add", "FILE", 1, 1, 0, DOCUMENT | NAMES, cmd_suite_add,
	"add a suite file (- is stdin) to those of the controller; prints its name")
CMD("suite", "lint", "FILE", 1, 1, 0, DOCUMENT, cmd_suite_lint,
	"check a suite file (- is stdin) by itself, without the controller")
CMD("campaign", "convert", "FILE", 1, 1, F(FORMAT) | F(NAME), SUITES, cmd_campaign_convert,
	"a vdbench parameter file or a fio job file as a suite; lists what is not carried")
CMD("campaign", "lint", "FILE", 1, 1, 0, DOCUMENT, cmd_campaign_lint,
	"check a campaign file (- is stdin) against the lab")
CMD("campaign", "plan", "FILE", 1, 1, 0, ROWS, cmd_campaign_plan,
	"what it would run, how long, how much it writes, what it erases")
CMD("campaign", "submit", "FILE", 1, 1, F(YES) | F(WATCH) | F(TIMEOUT),
	DOCUMENT | NAMES, cmd_campaign_submit,
	"submit a campaign; prints its id")
CMD("campaign", "ls", "", 0, 0, F(STATE) | F(LABEL) | F(LIMIT), ROWS | NAMES, cmd_campaign_ls,
	"the campaigns, newest first")
CMD("campaign", "show", "CAMPAIGN", 1, 1, 0, ROWS | NAMES, cmd_campaign_show,
	"one campaign and its runs")
CMD("campaign", "watch", "CAMPAIGN", 1, 1, F(TIMEOUT), DOCUMENT, cmd_campaign_watch,
	"follow a campaign until it has finished")
CMD("campaign", "cancel", "CAMPAIGN", 1, 1, 0, DOCUMENT, cmd_campaign_cancel,
	"end a campaign; running runs are stopped")
CMD("run", "ls", "", 0, 0,
	F(CAMPAIGN) | F(STATE) | F(DRIVE) | F(SERIAL) | F(MODEL) | F(FIRMWARE) | F(NODE) | F(SUITE) |
		F(WORKLOAD) | F(LABEL) | F(SINCE) | F(UNTIL) | F(LIMIT),
	ROWS | NAMES, cmd_run_ls, "the runs, newest first")
CMD("run", "show", "RUN", 1, 1, F(WORKLOAD), ROWS | NAMES, cmd_run_show,
	"one run, its curves and its points")
CMD("run", "watch", "RUN", 1, 1, F(TIMEOUT), DOCUMENT, cmd_run_watch,
	"follow a run until it has finished")
CMD("import", "fio", "FILE", 1, 1, F(SUBJECT), ROWS | NAMES, cmd_import_fio,
	"fio's JSON or JSON+ as a foreign result")
CMD("import", "vdbench", "FILE", 1, 1, F(SUBJECT), ROWS | NAMES, cmd_import_vdbench,
	"vdbench's flatfile.html as a foreign result")
CMD("import", "published", "FILE", 1, 1, 0, ROWS | NAMES, cmd_import_published,
	"a table of published figures (CSV) as foreign results")
CMD("foreign", "ls", "", 0, 0, 0, ROWS | NAMES, cmd_foreign_ls,
	"the foreign results: measured elsewhere, in no ranking but with rank --foreign")
CMD("foreign", "show", "RESULT", 1, 1, 0, ROWS | NAMES, cmd_foreign_show,
	"one foreign result, its points and their marks")
CMD("compare", "", "A B", 2, 2, F(WORKLOAD) | F(SUITE), ROWS, cmd_compare,
	"two drives, runs or foreign results, per workload and metric")
CMD("rank", "", "", 0, 0, F(METRIC) | F(WORKLOAD) | F(SUITE) | F(CAMPAIGN) | F(FOREIGN), ROWS, cmd_rank,
	"drives in the order of a metric")
CMD("curve", "", "RUN", 1, 1, F(WORKLOAD) | F(LINE) | F(FACTS), ROWS, cmd_curve,
	"latency against IOPS of a run: peak, best point, loads under latency lines, fall, knee")
CMD("api", "", "METHOD PATH", 2, 2, F(DATA) | F(HEADER), DOCUMENT, cmd_api,
	"one request of the REST API; prints the answer as it comes")
CMD("setup", "", "[FILE]", 0, 1, F(YES), TEXT, cmd_setup,
	"take over address, pin and token of the controller on this machine")
CMD("version", "", "", 0, 0, 0, ROWS, cmd_version, "of this program and of the controller")
