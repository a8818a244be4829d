#!/bin/bash
# idle.sh [SECONDS]: memory and processor time of a controller with two idle agents, and of the agents.
# shellcheck source=../scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
seconds=${1:-30}

lab_start
for n in 1 2; do
	drive_make "n$n" "a$n" 64M
	agent_join "n$n"
done
wait_for 30 "two drives are seen" drives_seen 2

# Ticks of user and system time of a process (proc(5), fields 14 and 15).
ticks() { awk '{ sub(/^.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
declare -A before=([controller]=$(ticks "$controller_pid") [n1]=$(ticks "${agent_pid[n1]}") [n2]=$(ticks "${agent_pid[n2]}"))
end=$((SECONDS + seconds))
passed() { [ $SECONDS -ge $end ]; }
wait_for $((seconds + 5)) "the time" passed
for who in controller n1 n2; do
	pid=$controller_pid
	[ $who = controller ] || pid=${agent_pid[$who]}
	awk -v who=$who -v used=$(($(ticks "$pid") - before[$who])) -v hz="$(getconf CLK_TCK)" -v s="$seconds" '
		/^VmRSS/ { printf "%-10s %6.1f MiB resident, %.2f %% of a core over %d s\n", who, $2 / 1024, 100 * used / hz / s, s }' \
		"/proc/$pid/status"
done
