/*
 * The agent's options, one row each: name, type, preset, least, greatest, help. The row
 * gives the field, the parser, --help, the man page's list and etc/agent.conf.example.
 */
OPT(state_dir, TEXT, SSDLAB_STATE_DIR "/ssdlab-agent", 0, 0,
	"directory of identity, fences, runs and spools; never on a drive under test")
OPT(ca_file, TEXT, "", 0, 0,
	"verify the controller's certificate against this CA file instead of the pin of "
	"the join token")
OPT(allow_virtual_drives, BOOL, "no", 0, 0,
	"whether files, loop, ram and zram devices may be drives")
OPT(virtual_dir, TEXT, "", 0, 0,
	"directory whose files, and loop devices over them, are virtual drives")
OPT(virtual_devices, TEXT, "", 0, 0,
	"comma list of ram and zram devices that are virtual drives, such as /dev/zram0")
OPT(reconcile_interval, DURATION, "25s", 1000000000, 25000000000,
	"longest time between two reports to the controller")
OPT(runner_path, TEXT, SSDLAB_BIN_DIR "/ssdlab-runner", 0, 0,
	"program that executes a run")
OPT(max_runs, UINT, "4", 1, 256, "how many runs may be executed at the same time")
OPT(spool_retention, DURATION, "7d", 0, 31536000000000000,
	"how long records stay here after the controller has stored them all")
OPT(spool_limit, SIZE, "10GiB", 0, 1125899906842624,
	"space for such records; the oldest are deleted beyond it")
OPT(log_level, TEXT, "info", 0, 0,
	"least important level that is logged: err, warn, info or debug")
