#!/bin/bash
# A campaign that asks for it purges and fills a drive once for as long as nothing else writes to it; plan, run and ledger say so.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
agent_join n1
approve_all 1
status=$(api POST /api/v1/suites '{"ssdlab": "suite/v1", "name": "reads", "version": 1, "scaled": true,
	"minimum_capacity": "16MiB", "prepare": {"purge": true, "fill": {"passes": 2, "block": "128KiB", "in_flight": 8}},
	"ramp": {"maximum": {"warmup": "0s", "measure": "500ms"}, "point": {"warmup": "0s", "measure": "500ms"}, "load": []},
	"workloads": [{"id": "4k-random-read", "read": "100%", "access": "random", "block": "4KiB", "in_flight": 4}]}')
[ "$status" = 201 ] || die "suite refused: $(cat "$lab/answer")"
serial=$(json '.items[0].serial' drive ls)

# campaign PREPARATION: the file of a campaign.
campaign() {
	jq -n --arg serial "$serial" --arg preparation "$1" '{ssdlab: "campaign/v1", name: "reads", suite: "reads@1",
		drives: [{$serial}], repeats: 2, $preparation}' >"$lab/campaign.json"
}

# run_all: submits it and waits for its end; its runs go to $runs.
run_all() {
	c=$(cli campaign submit "$lab/campaign.json" --yes)
	wait_for 120 "$c is done" campaign_state "$c" "done"
	mapfile -t runs < <(json '.items | sort_by(.repeat) | .[].id' run ls --campaign "$c")
}

# prepared RUN WANT: the kinds of the preparation of a run, in their order.
prepared() {
	local got
	got=$(json '[.preparation[].kind] | join(" ")' run show "$1")
	[ "$got" = "$2" ] || die "$1 was prepared by $got, not $2: $(cli run show "$1")"
}

# planned TEXT: what the plan says of the preparation.
planned() {
	cli campaign plan "$lab/campaign.json" | grep -qF "$serial: $1" || die "the plan says $(cli campaign plan "$lab/campaign.json")"
}

note "the first run prepares the drive, the second finds it so"
campaign reuse
planned "purge and fill repeated: no purge or fill of it is known"
run_all
prepared "${runs[0]}" "repeat purge fill fill"
prepared "${runs[1]}" "skip skip"
[ "$(json '.progress | "\(.points_done) of \(.points_total)"' run show "${runs[0]}")" = "3 of 3" ] || die "points of ${runs[0]}"
[ "$(json '.progress | "\(.points_done) of \(.points_total)"' run show "${runs[1]}")" = "1 of 1" ] || die "points of ${runs[1]}"
cli run show "${runs[1]}" | grep -q "fill skipped: ${runs[0]} left the drive so" || die "not told: $(cli run show "${runs[1]}")"
planned "purge and fill skipped if the drive is found as ${runs[1]} left it"

note "a restart of controller and agent changes nothing"
controller_kill
controller_start
agent_kill n1
agent_start n1
wait_for 30 "the drive is seen" drives_seen 1
run_all
prepared "${runs[0]}" "skip skip"

note "a sector written by hand is found by the runner"
dd if=/dev/urandom of="$lab/n1-drives/a1" bs=512 count=1 seek=4321 conv=notrunc status=none
run_all
prepared "${runs[0]}" "repeat purge repeat fill fill"
prepared "${runs[1]}" "skip skip"
cli run show "${runs[0]}" | grep -q "purge repeated: since r.* left the drive its file was changed" ||
	die "not told: $(cli run show "${runs[0]}")"

note "who does not ask gets what the suite says"
campaign repeat
run_all
prepared "${runs[0]}" "purge fill fill"
prepared "${runs[1]}" "purge fill fill"

note "the ledger has it all"
cli drive show "$serial" | grep -q "^purged by  *purge by" || die "no purge: $(cli drive show "$serial")"
[ "$(api GET "/api/v1/drives/d1/ledger?limit=1000")" = 200 ] || die "no ledger: $(cat "$lab/answer")"
[ "$(jq '[.items[] | select(.kind == "purge")] | length' "$lab/answer")" = 4 ] || die "the ledger: $(cat "$lab/answer")"
nothing_lost
