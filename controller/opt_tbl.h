/*
 * The controller's options, one row each: name, type, preset, least, greatest, help. The row
 * gives the field, the parser and --help; the man page and etc/controller.conf.example list them.
 */
OPT(http_address, TEXT, "127.0.0.1", 0, 0,
	"address that the REST API listens on; :: or 0.0.0.0 for all")
OPT(http_port, UINT, "7443", 0, 65535, "port of the REST API; 0 for any free one")
OPT(data_address, TEXT, "", 0, 0,
	"address that the agents' records come in at; that of http_address when empty")
OPT(data_port, UINT, "7444", 1, 65535, "port that the agents' records come in at")
OPT(public_url, TEXT, "", 0, 0,
	"how agents and people reach this controller, such as https://lab.example.net:7443; "
	"made of the host's name and the port when empty")
OPT(tls, BOOL, "yes", 0, 0, "whether to serve HTTPS; without it only loopback is allowed")
OPT(tls_cert, TEXT, "", 0, 0,
	"certificate (PEM, with its chain); one of our own is made when empty")
OPT(tls_key, TEXT, "", 0, 0, "key of that certificate (PEM, without a password)")
OPT(state_dir, TEXT, SSDLAB_STATE_DIR "/ssdlab-controller", 0, 0,
	"directory of the database, keys and the first token")
OPT(suite_dir, TEXT, SSDLAB_DATA_DIR "/suites", 0, 0,
	"directory whose suites are added at each start")
OPT(read_access, TEXT, "token", 0, 0, "who may read: open (everybody) or token")
OPT(late_after, DURATION, "15s", 5000000000, 3600000000000,
	"silence after which a node is late")
OPT(lost_after, DURATION, "60s", 10000000000, 86400000000000,
	"silence after which a node is lost; that frees no drive")
OPT(log_level, TEXT, "info", 0, 0,
	"least important level that is logged: err, warn, info or debug")
