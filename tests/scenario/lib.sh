# Shared by the scenarios: a lab of real daemons in a folder of its own, on loopback, ended at exit.
# shellcheck shell=bash
# A scenario sources this file, calls lab_start, and fails by `die` or by a command that fails.
set -eu

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${SSDLAB_BUILD:-$top/build-test/gcc}
lab=$(mktemp -d "${SSDLAB_LAB_DIR:-/var/tmp}/ssdlab-lab.XXXXXX")
controller_pid=
declare -A agent_pid=()
loops=()
mounts=()

die() {
	echo "FAILED: $*" >&2
	for log in "$lab"/*.log; do
		[ -e "$log" ] || continue
		echo "--- $(basename "$log")" >&2
		tail -n 15 "$log" >&2
	done
	exit 1
}

note() {
	echo "== $*"
}

skip() {
	echo "$*"
	exit 77
}

# The daemons, the runners they left, loop devices and mounts of this lab; nothing else.
cleanup() {
	local status=$? pid p
	trap - EXIT
	for pid in "$controller_pid" "${agent_pid[@]}"; do
		[ -z "$pid" ] || kill -CONT "$pid" 2>/dev/null || true
		[ -z "$pid" ] || kill "$pid" 2>/dev/null || true
	done
	for p in /proc/[0-9]*/cmdline; do
		if { tr '\0' ' ' <"$p"; } 2>/dev/null | grep -q "ssdlab-runner run .*$lab/"; then
			pid=${p#/proc/}
			kill -9 "${pid%/cmdline}" 2>/dev/null || true
		fi
	done
	wait 2>/dev/null || true
	for p in "${loops[@]}"; do losetup -d "$p" 2>/dev/null || true; done
	for p in "${mounts[@]}"; do umount "$p" 2>/dev/null || true; done
	[ -n "${SSDLAB_KEEP_LAB:-}" ] || rm -rf "$lab"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# wait_for SECONDS WHAT COMMAND...: until the command succeeds, or die.
wait_for() {
	local seconds=$1 what=$2 end
	shift 2
	end=$((SECONDS + seconds))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || die "$what: not within $seconds s"
		sleep 0.1
	done
}

cli() {
	"$build/cli/ssdlab" "$@"
}

# json FILTER COMMAND...: jq on the JSON of a client command.
json() {
	local filter=$1
	shift
	cli "$@" -o json | jq -er "$filter"
}

# api METHOD PATH [BODY]: the raw interface, for what the client would not send; prints the status code, the body
# goes to $lab/answer.
api() {
	local method=$1 path=$2 args=()
	[ $# -lt 3 ] || args=(-H 'Content-Type: application/json' --data-binary "$3")
	curl -sk -o "$lab/answer" -w '%{http_code}' -X "$method" \
		-H "Authorization: Bearer $(cat "$lab/controller/admin.token")" "${args[@]}" \
		"https://127.0.0.1:$http_port$path"
}

controller_start() {
	"$build/controller/ssdlab-controller" --config /dev/null --state-dir "$lab/controller" \
		--http-port "$http_port" --data-port "$data_port" --suite-dir "$top/etc/suites" \
		"$@" 2>>"$lab/controller.log" &
	controller_pid=$!
	wait_for 20 "the controller answers" curl -skf "https://127.0.0.1:$http_port/api/v1/healthz"
}

# Ends the controller without warning, as a power cut would.
controller_kill() {
	kill -9 "$controller_pid"
	wait "$controller_pid" 2>/dev/null || true
	controller_pid=
}

controller_stop() {
	kill "$controller_pid"
	wait "$controller_pid" || die "the controller ended with $?"
	controller_pid=
}

# lab_start [OPTIONS...]: a controller with options, and the client told how to reach it.
lab_start() {
	http_port=$((20000 + RANDOM % 20000))
	data_port=$((http_port + 1))
	controller_start "$@"
	export SSDLAB_CONFIG=$lab/controller/client.conf
}

loop_make() { losetup -f --direct-io=on "$1"; }

# drive_make NODE NAME SIZE: a virtual drive: a loop device over a file as root, the file alone otherwise.
drive_make() {
	local dir=$lab/$1-drives
	mkdir -p "$dir"
	truncate -s "$3" "$dir/$2"
	if [ "$(id -u)" = 0 ] && [ -z "${SSDLAB_FILES_ONLY:-}" ]; then
		# Another test may take the free one between look and use.
		wait_for 10 "a loop device" loop_make "$dir/$2"
		loops+=("$(losetup -n -O NAME -j "$dir/$2")")
	fi
}

agent_start() {
	local name=$1
	shift
	"$build/agent/ssdlab-agent" --config /dev/null --state-dir "$lab/$name" --allow-virtual-drives yes \
		--virtual-dir "$lab/$name-drives" --runner-path "$build/runner/ssdlab-runner" "$@" \
		2>>"$lab/$name.log" &
	agent_pid[$name]=$!
}

agent_kill() {
	kill -9 "${agent_pid[$1]}"
	wait "${agent_pid[$1]}" 2>/dev/null || true
	agent_pid[$1]=
}

# agent_join NAME: enrol a node and start its agent.
agent_join() {
	local name=$1
	shift
	mkdir -p "$lab/$name-drives"
	cli node enroll "$name" >"$lab/$name.token"
	"$build/agent/ssdlab-agent" --config /dev/null --state-dir "$lab/$name" join <"$lab/$name.token" \
		2>>"$lab/$name.log" || die "$name cannot join"
	agent_start "$name" "$@"
}

drives_seen() {
	[ "$(cli drive ls -o json | jq '[.items[] | select(.observed == "present")] | length')" -ge "$1" ]
}

# approve_all N: wait for N drives and approve them.
approve_all() {
	local serial
	wait_for 30 "$1 drives are seen" drives_seen "$1"
	for serial in $(json '.items[].serial' drive ls); do
		cli drive approve "$serial" --serial "$serial" >/dev/null
	done
}

# A suite that takes seconds: two workloads, three points each, of one second and one second of warm-up.
suite_small() {
	cat <<-'JSON'
	{"ssdlab": "suite/v1", "name": "small", "version": 1, "title": "Small, for tests", "scaled": true,
	 "minimum_capacity": "16MiB", "prepare": {"fill": {"passes": 1, "block": "128KiB", "in_flight": 8}},
	 "data": {"compress": "50%", "dedupe": "20%"}, "region": "25%",
	 "ramp": {"maximum": {"warmup": "1s", "measure": "1s"}, "point": {"warmup": "1s", "measure": "1s"},
	  "arrivals": "poisson", "load": ["50%", "100%"]},
	 "workloads": [
	  {"id": "4k-random-read", "read": "100%", "access": "random", "block": "4KiB", "in_flight": 16},
	  {"id": "64k-sequential-write", "read": "0%", "access": "sequential", "block": "64KiB", "in_flight": 4}]}
	JSON
}

suite_add() {
	[ "$(api POST /api/v1/suites "$(suite_small)")" = 201 ] || die "suite refused: $(cat "$lab/answer")"
}

# campaign_submit SUITE [REPEATS]: a campaign on all drives; prints its id.
campaign_submit() {
	local serials
	serials=$(json '[.items[] | {serial}]' drive ls)
	jq -n --arg suite "$1" --argjson repeats "${2:-1}" --argjson drives "$serials" \
		'{ssdlab: "campaign/v1", name: "scenario", $suite, $drives, $repeats}' >"$lab/campaign.json"
	cli campaign submit "$lab/campaign.json" --yes
}

campaign_state() {
	[ "$(json .state campaign show "$1")" = "$2" ]
}

# sql QUERY: on a copy-free read-only connection, when the controller is stopped or alive.
sql() {
	sqlite3 -readonly "file:$lab/controller/ssdlab.db?mode=ro" "$1"
}

# The oracle: every record of every sealed attempt is stored once, without a hole, no gap was declared.
nothing_lost() {
	local bad
	bad=$(sql "
		SELECT 'attempt ' || a.id || ': last ' || a.last_seq || ', acknowledged ' || a.acked_seq || ', stored ' ||
			(SELECT count(*) FROM record WHERE attempt_id = a.id) || ' + ' ||
			(SELECT coalesce(sum(n), 0) FROM series WHERE attempt_id = a.id)
		FROM attempt a WHERE a.state <> 'sealed' OR a.last_seq = 0 OR a.acked_seq <> a.last_seq OR a.last_seq <>
			(SELECT count(*) FROM record WHERE attempt_id = a.id) +
			(SELECT coalesce(sum(n), 0) FROM series WHERE attempt_id = a.id)
		UNION ALL SELECT 'gap in attempt ' || attempt_id FROM record WHERE kind = 5
		UNION ALL SELECT 'stale record of attempt ' || attempt_id FROM stale_record
		UNION ALL SELECT 'two leases of drive ' || drive_id FROM lease WHERE released_ns IS NULL
			GROUP BY drive_id HAVING count(*) > 1
		UNION ALL SELECT 'lease of drive ' || drive_id || ' is open' FROM lease WHERE released_ns IS NULL")
	[ -z "$bad" ] || die "the store does not hold every record once:
$bad"
}

# samples: stored samples per run, one line each.
samples() {
	sql "SELECT r.id, (SELECT count(*) FROM record WHERE attempt_id = a.id AND kind = 2) +
		(SELECT coalesce(sum(n), 0) FROM series WHERE attempt_id = a.id)
		FROM run r JOIN attempt a ON a.run_id = r.id ORDER BY r.id"
}
