#!/bin/bash
# The whole of ssdlab on one machine: a controller, two agents with two virtual drives each, a campaign of the
# four corners, a ranking and a comparison. Leaves nothing behind unless --keep is given; --end LAB ends what
# that left.
set -eu
cd "$(dirname "$0")"
top=$PWD
keep=

# end_lab LAB: ends its daemons, and the runners that agents leave running, and takes away its drives, LAB/loops.
end_lab() {
	local lab=$1 loop
	for _ in $(seq 100); do
		pkill -f "ssdlab-(controller|agent|runner) .*$lab/" || break
		sleep 0.2
	done
	touch "$lab/loops"
	while read -r loop; do losetup -d "$loop" || true; done <"$lab/loops"
	rm -rf "$lab"/node*-drives
}

case ${1:-} in
'') ;;
--keep) keep=yes ;;
--end)
	case ${2:-} in
	"$top"/build-demo/demo.*[!/]) ;;
	*)
		echo "usage: demo.sh --end $top/build-demo/demo.XXXXXX" >&2
		exit 2
		;;
	esac
	[ -d "$2" ] || { echo "demo.sh: there is no demo in $2" >&2; exit 2; }
	end_lab "$2"
	rm -r "$2"
	exit 0
	;;
*)
	echo "usage: demo.sh [--keep | --end LAB]" >&2
	exit 2
	;;
esac

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say "Installing what the build needs, if anything is missing"
tools/install-deps build

say "Building into build-demo/"
mkdir -p build-demo
[ -x configure ] && [ configure -nt configure.ac ] || autoreconf -fi >build-demo/autoreconf.log 2>&1
(
	cd build-demo
	[ -e Makefile ] || ../configure >configure.log 2>&1
	make -j"$(nproc)" >make.log 2>&1
) || {
	tail -n 20 build-demo/make.log build-demo/configure.log >&2 || true
	exit 1
}

lab=$(mktemp -d "$top/build-demo/demo.XXXXXX")
watch=

finish() {
	local status=$?
	trap - EXIT
	if [ -n "$keep" ] && [ "$status" = 0 ]; then exit 0; fi
	[ -z "$watch" ] || kill "$watch" 2>/dev/null || true
	end_lab "$lab"
	wait 2>/dev/null || true
	if [ "$status" = 0 ]; then rm -rf "$lab"; else echo "the logs are in $lab" >&2; fi
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# A port that nothing listens on, from here on.
free_port() {
	local port=$1
	while (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; do port=$((port + 2)); done
	echo "$port"
}

await() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || {
			echo "$what did not happen in time; the logs:" >&2
			tail -n 5 "$lab"/*.log >&2
			exit 1
		}
		sleep 0.1
	done
}

ssdlab() { "$top/build-demo/cli/ssdlab" "$@"; }

say "Starting a controller and two agents on loopback, each with two virtual drives"
http=$(free_port 7443)
data=$(free_port $((http + 1)))
setsid build-demo/controller/ssdlab-controller --config /dev/null --state-dir "$lab/controller" --http-port "$http" \
	--data-port "$data" --suite-dir "$top/etc/suites" 2>"$lab/controller.log" &
await 20 "the start of the controller" test -s "$lab/controller/client.conf"
export SSDLAB_CONFIG=$lab/controller/client.conf
await 20 "the start of the controller" ssdlab status
for n in 1 2; do
	mkdir -p "$lab/node$n-drives"
	for d in a b; do
		file=$lab/node$n-drives/demo-$n$d
		truncate -s 128M "$file"
		if [ "$(id -u)" = 0 ] && loop=$(losetup -f --show --direct-io=on "$file" 2>/dev/null); then
			echo "$loop" >>"$lab/loops"
		fi
	done
	agent=("$top/build-demo/agent/ssdlab-agent" --config /dev/null --state-dir "$lab/node$n")
	ssdlab node enroll "node$n" | "${agent[@]}" join 2>>"$lab/node$n.log"
	setsid "${agent[@]}" --allow-virtual-drives yes --virtual-dir "$lab/node$n-drives" \
		--runner-path "$top/build-demo/runner/ssdlab-runner" 2>>"$lab/node$n.log" &
	done
serials() { ssdlab drive ls -o csv | tail -n +2 | cut -d, -f3; }
four_drives() { [ "$(ssdlab drive ls -o name | wc -l)" = 4 ]; }
await 30 "the discovery of four drives" four_drives
ssdlab node ls

say "Approving the four drives: nothing can be written to a drive before its serial was typed"
for serial in $(serials); do
	ssdlab drive approve "$serial" --serial "$serial" >/dev/null
done
ssdlab drive ls

say "Submitting the four corners, scaled down"
{
	printf 'ssdlab: campaign/v1\nname: demo\nsuite: four-corners-demo@1\ndrives:\n'
	serials | sed 's/^/  - serial: /'
} >"$lab/demo.yaml"
ssdlab campaign plan "$lab/demo.yaml"
campaign=$(ssdlab campaign submit "$lab/demo.yaml" --yes)
ssdlab campaign watch "$campaign" &
watch=$!
wait "$watch"
watch=

say "The ranking of the four drives"
ssdlab rank --campaign "$campaign"
say "A comparison of two of them"
mapfile -t ids < <(ssdlab drive ls -o name | head -n 2)
ssdlab compare "${ids[0]}" "${ids[1]}"

if [ -n "$keep" ]; then
	disown -a
	say "It keeps running. Go on with:"
	cat <<-END
		export SSDLAB_CONFIG=$SSDLAB_CONFIG PATH=$top/build-demo/cli:\$PATH
		ssdlab status
		ssdlab run ls
		ssdlab curve r1 --workload 4k-random-read
		ssdlab campaign submit $lab/demo.yaml --watch
	END
	echo "End it with: $top/demo.sh --end $lab"
fi
