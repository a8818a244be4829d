#!/bin/bash
# A full disk under the database or the spool: no acknowledgement, a clear state, recovery when there is room.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root to mount small file systems"

small_fs() {
	mkdir -p "$1"
	mount -t tmpfs -o "size=$2" ssdlab-test "$1" || skip "cannot mount a tmpfs here"
	mounts+=("$1")
}

small_fs "$lab/controller" 24m
lab_start
drive_make n1 a1 64M
agent_join n1
approve_all 1
suite_add
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
acked() { [ "$(json .attempt.acked_seq run show "$r")" -ge "$1" ]; }
wait_for 30 "the first records" acked 3

note "the database's disk is full: the controller says so and acknowledges nothing"
dd if=/dev/zero of="$lab/controller/ballast" bs=64K 2>/dev/null || true
unhealthy() { [ "$(api GET /api/v1/healthz)" != 200 ] && grep -q '/problems/full' "$lab/answer"; }
wait_for 30 "health says that the disk is full" unhealthy
jq -e '.errors[0].fix // .detail | test("space|room")' "$lab/answer" >/dev/null || die "no cure is named: $(cat "$lab/answer")"
[ "$(api POST /api/v1/nodes '{"name": "n9"}')" = 507 ] || die "a write with a full disk answers $(cat "$lab/answer")"
before=$(json .attempt.acked_seq run show "$r")
spooled() { [ "$(ls "$lab"/n1/runs/*/spool/*.seg | wc -l)" -ge 1 ]; }
spooled || die "no spool"

note "room comes back: everything arrives"
rm "$lab/controller/ballast"
wait_for 30 "health is back" curl -skf "https://127.0.0.1:$http_port/api/v1/healthz"
wait_for 60 "acknowledgements go on" acked "$((before + 1))"
wait_for 120 "campaign $c is done" campaign_state "$c" "done"
nothing_lost

note "a controller that is started while its disk is full waits for room, and ends at once when asked to"
controller_launch() {
	"$build/controller/ssdlab-controller" --config /dev/null --state-dir "$lab/controller" --http-port "$http_port" \
		--data-port "$data_port" --suite-dir "$top/etc/suites" 2>>"$lab/controller.log" &
	controller_pid=$!
}
waits() { [ "$(grep -c 'controller\.wait' "$lab/controller.log")" -ge "$1" ]; }
dd if=/dev/zero of="$lab/controller/ballast" bs=4K 2>/dev/null || true
wait_for 30 "health says that the disk is full" unhealthy
controller_kill
controller_launch
wait_for 10 "it says that it waits for room" waits 1
grep 'controller\.wait' "$lab/controller.log" | grep -q 'class=full.*make room' || die "it does not say what to do"
controller_stop
controller_launch
wait_for 10 "it says so again" waits 2
rm "$lab/controller/ballast"
wait_for 30 "the controller is back by itself" curl -skf "https://127.0.0.1:$http_port/api/v1/healthz"
waits 2 || die "the waiting is not in the log"
nothing_lost

note "a fence token that cannot be read is trouble of the node, until it can"
troubled() { [ -n "$(json '.trouble' node show n1)" ]; }
well() { [ "$(cli api GET /api/v1/nodes/n1 | jq -r .trouble)" = "" ]; }
fence=$(find "$lab/n1/fence" -type f | head -n 1)
[ -n "$fence" ] || die "n1 has no fence token"
cp "$fence" "$lab/fence.saved"
: >"$fence"
wait_for 30 "the node tells its trouble" troubled
json .trouble node show n1 | grep -q 'no run is started.*is damaged' || die "another trouble: $(cli node show n1)"
cli node ls | grep -q 'no run is started' || die "node ls does not tell it: $(cli node ls)"
cat "$lab/fence.saved" >"$fence"
wait_for 30 "the node is well again" well

note "the spool's disk is full: the node says so, the run goes on and ends with its result"
kill "${agent_pid[n1]}"
wait "${agent_pid[n1]}" || true
cp -a "$lab/n1" "$lab/n1.saved"
small_fs "$lab/n1" 3m
cp -a "$lab/n1.saved/identity.json" "$lab/n1.saved/fence" "$lab/n1/"
agent_start n1
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
wait_for 60 "the first records" acked 3
dd if=/dev/zero of="$lab/n1/ballast" bs=4K 2>/dev/null || true
wait_for 30 "the node tells its trouble" troubled
cli status | grep -q "make room" || die "the status does not ask for room"
points() { [ "$(cli api GET "/api/v1/runs/$r" | jq .progress.points_done)" -ge "$1" ]; }
full_for() { [ $((SECONDS - full_since)) -ge 4 ]; }
full_since=$SECONDS
wait_for 10 "samples that find no room" full_for
rm "$lab/n1/ballast"
wait_for 30 "the node is well again" well
wait_for 120 "campaign $c is done" campaign_state "$c" "done"
wait_for 10 "all points" points 7
cli api GET "/api/v1/runs/$r/series" >"$lab/series.json"
jq -e '([.items[].length_ns] | max) > 1500000000 or (.gaps | length) > 0 or (.items | length) >= 12' "$lab/series.json" \
	>/dev/null || die "seconds are missing without a word: $(jq -c '[.items[].length_ns], .gaps' "$lab/series.json")"

note "a run that was granted when there was no room says what it waits for, and starts when there is"
kill -STOP "${agent_pid[n1]}"
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
run_is() { [ "$(json .state run show "$r")" = "$1" ]; }
wait_for 10 "$r is granted" run_is leased
dd if=/dev/zero of="$lab/n1/ballast" bs=4K 2>/dev/null || true
kill -CONT "${agent_pid[n1]}"
blocked() { json '.blockers[0] | select(.code == "node.trouble").text' run show "$r" | grep -q 'until there is room no run is started'; }
wait_for 30 "$r says what it waits for" blocked
run_is leased || die "$r was started without room"
cli run show "$r" | grep -q '^what .*no run is started' || die "people are not told: $(cli run show "$r")"
rm "$lab/n1/ballast"
wait_for 120 "campaign $c is done" campaign_state "$c" "done"
[ "$(cli run show "$r" -o json | jq -c .blockers)" = '[]' ] || die "it still waits"
