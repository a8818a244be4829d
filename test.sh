#!/bin/bash
# Installs what the tests need, then builds and tests ssdlab. Without arguments all stages run;
# otherwise the named ones: lint unit asan tsan valgrind system scenario fuzz dist demo.
# The last line is "N passed, N failed, N skipped"; logs stay in build-test/.
set -u
cd "$(dirname "$0")" || exit 1
top=$PWD
out=$top/build-test
jobs=$(nproc)
passed=0 failed=0 skipped=0
stage=build failures=
mkdir -p "$out"

pass() {
	passed=$((passed + 1))
	echo "pass: $1"
}

# fail WHAT [LOG]: shown at once, and again at the end: a long output is seldom read from its beginning.
fail() {
	local text="FAIL: $stage: $1"
	failed=$((failed + 1))
	[ -z "${2:-}" ] || text+=$'\n'$(tail -n 25 "$2" | sed 's/^/    /')
	echo "$text"
	failures+=$text$'\n'
}

skip() {
	skipped=$((skipped + 1))
	echo "skip: $1: $2"
}

# try NAME COMMAND...: one check; its output is shown only when it fails.
try() {
	local name=$1 log
	log=$out/$(printf '%s' "$name" | tr -c 'a-zA-Z0-9\n' '-').log
	shift
	if "$@" >"$log" 2>&1 </dev/null; then pass "$name"; else fail "$name" "$log"; fi
}

# build DIR ARGS...: configure and build a tree out of place.
build() {
	local dir=$out/$1
	shift
	mkdir -p "$dir"
	(cd "$dir" && "$top/configure" --enable-werror "$@" && make -j"$jobs" all) >"$dir.build.log" 2>&1
}

# suite DIR TARGET [VAR=VALUE]: run a make test target and count each test in it.
suite() {
	local dir=$out/$1 target=$2 line name result reason
	shift 2
	make -C "$dir" -j"$jobs" -k "$target" "$@" >"$dir.$target.log" 2>&1 </dev/null
	for line in "$dir"/tests/*/*.trs; do
		[ -e "$line" ] || { fail "$target in $dir did not run" "$dir.$target.log"; return; }
		name=${line#"$dir"/tests/}
		name=${name%.trs}
		result=$(sed -n 's/^:test-result: //p' "$line")
		case $result in
		PASS*) pass "$target $name" ;;
		SKIP*)
			reason=$(tail -n 2 "${line%.trs}.log" | head -n 1)
			skip "$target $name" "$reason"
			;;
		*) fail "$target $name" "${line%.trs}.log" ;;
		esac
	done
	rm -f "$dir"/tests/*/*.trs
}

stage_lint() {
	local files
	mapfile -t files < <(git ls-files '*.c' '*.h' | grep -v '_tbl\.h$')
	try 'clang-format' clang-format --dry-run --Werror "${files[@]}"
	try 'check-layers' tools/check-layers
	try 'check-docs' tools/check-docs
	try 'check-sizes' tools/check-sizes
	mapfile -t files < <(git ls-files | grep -E '\.sh$|^tools/(check|install)|^\.ci/run$|^tests/(scenario|system|bench)/[0-9a-z-]*(\.sh)?$')
	try 'shellcheck' shellcheck -x -S warning "${files[@]}"
	try 'cppcheck' tools/lint cppcheck "$out/gcc"
	try 'clang-tidy' tools/lint clang-tidy "$out/gcc"
}

need_gcc() {
	[ -e "$out/gcc/controller/ssdlab-controller" ] && return 0
	if build gcc CC=gcc; then pass 'build with gcc'; else
		fail 'build with gcc' "$out/gcc.build.log"
		finish
	fi
}

stage_unit() { suite gcc check; }

# sanitized NAME ARGS...: a build of its own, whose unit tests run. A fork for each test costs more
# than the test where a sanitizer keeps books; a test that crashes is a failure either way.
sanitized() {
	local name=$1
	shift
	if build "$name" "$@" CFLAGS='-g -O1'; then
		pass "build for $name"
		CK_FORK=no suite "$name" check
	else
		fail "build for $name" "$out/$name.build.log"
	fi
}

stage_asan() { sanitized asan --enable-asan --enable-ubsan; }

# The tree also has to build with clang, without a warning: here and for fuzzing.
stage_tsan() { sanitized tsan --enable-tsan CC=clang; }

stage_valgrind() {
	suite gcc check LOG_COMPILER="$top/tools/under-valgrind"
}

stage_system() { suite gcc check-system; }
stage_scenario() { suite gcc check-scenario; }

stage_fuzz() {
	if build fuzz CC=clang --enable-fuzz; then
		try 'fuzz each target for a while' make -C "$out/fuzz" fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-5}"
	else
		fail 'build for fuzzing' "$out/fuzz.build.log"
	fi
}

stage_dist() { try 'make distcheck' make -C "$out/gcc" distcheck DISTCHECK_CONFIGURE_FLAGS=--enable-werror; }

stage_demo() { try './demo.sh' ./demo.sh; }

finish() {
	[ -z "$failures" ] || printf 'What failed, again:\n%s' "$failures"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}

if ! tools/install-deps test; then
	fail 'install what the tests need'
	finish
fi
if ! autoreconf -fi >"$out/autoreconf.log" 2>&1; then
	fail 'autoreconf' "$out/autoreconf.log"
	finish
fi
need_gcc
[ $# -gt 0 ] || set -- lint unit asan tsan valgrind system scenario fuzz
for stage in "$@"; do
	if declare -F "stage_$stage" >/dev/null; then "stage_$stage"; else fail 'there is no such stage'; fi
done
finish
