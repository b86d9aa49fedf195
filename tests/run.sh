#!/bin/sh
# run.sh SUITE [FLAVOR=f] runs a suite, and keeps its full output in build/test/. Prints a line for each part and at the
# end "N passed, N failed[, N skipped]".  SUITE: unit, simulation, cli, hbase, secure, kafka, spark or all.
#
# `all` runs three lanes at once. Two lanes have suites that wait for servers, and one lane computes with low priority.
# The computing lane starts while the packages of the other two are installed. On a machine with less memory, the lanes
# run one after another. Each part prints its line when it ends. The last output of failed parts follows at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=$1 flavor=dev
[ $# -lt 2 ] || flavor=${2#FLAVOR=}
python=${SALTMILL_CACHE:-$HOME/.cache/saltmill}/venv/bin/python
log=build/test
mkdir -p "$log"
lane='' lanes='' pids='' child='' yields=''

count() { # PATTERN FILE: the sum of the numbers in front of PATTERN
	grep -aoE "[0-9]+ $1" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

report() { # NAME STATUS PASSED FAILED SKIPPED LOG
	[ "$2" -eq 0 ] || [ "$4" -gt 0 ] || set -- "$1" "$2" "$3" 1 "$5" "$6"
	echo "$3 $4 $5" >>"$log/$lane.sum"
	printf '  %-34s %4d passed, %d failed, %d skipped\n' "$1" "$3" "$4" "$5"
	[ "$2" -eq 0 ] || { echo "--- $1"; tail -n 60 "$6"; } >>"$log/$lane.why"
}

run() { # COMMAND...: in a process group of its own, so that it is stopped whole
	# shellcheck disable=SC2086
	setsid $yields env --default-signal=INT,QUIT "$@" &
	child=$!
	wait "$child"
}

make_() { run make --no-print-directory -j"$(nproc)" "$@"; }

# The suites test the release. No warning of its optimizer passes. The lines of stacks need no types.
release() { make_ STRICT=-Werror DEBUG_INFO=-g1 CC=gcc "$@"; }

# The unit tests that check less with a sanitizer, such as those whose allocations fail.
plain() { grep -lE '(failing_malloc|sort_rig)\.h|__SANITIZE_ADDRESS__' tests/unit/test_*.c | sed 's|.*/\(.*\)\.c$|\1|'; }

unit() { # FLAVOR: test programs and corpora, one a processor at a time, the longest first
	for t in sort_rank input_source_pieces splitter_plan splitter_divide sort_merge; do
		echo "build/gcc-$1/tests/unit/test_$t"
	done >"$log/$1.long"
	for t in tests/unit/test_*.c tests/fuzz/fuzz_*.c; do
		t=build/gcc-$1/${t%.c}
		case $t in */fuzz_*) t=$t.replay ;; esac
		echo "$t"
	done | awk '!seen[$0]++' "$log/$1.long" - >"$log/$1.programs"
	case $1 in
	tsan) cat tests/unit/threads.txt ;; # the others have one thread
	release) plain ;;                   # asan runs all
	*) sed 's|.*/||' "$log/$1.programs" ;;
	esac >"$log/$1.names"
	awk -F/ 'NR == FNR { has[$0]; next } $NF in has' "$log/$1.names" "$log/$1.programs" >"$log/$1.some" &&
		mv "$log/$1.some" "$log/$1.programs"
	rm -f "$log/$1"-*.status "$log/$1"-*.log "$log/$1"-*.threads # of an earlier run
	# shellcheck disable=SC2016
	run xargs -a "$log/$1.programs" -P "$(nproc)" -I@ sh -c '
		name=${2##*/} out=$1-${2##*/} corpus=${2##*/fuzz_}
		case $1:$name in
		*.replay) find "tests/fuzz/corpus/${corpus%.replay}" -type f -exec "$2" {} + ;;
		*/dev:* | */asan:*) ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/build/threads.so SALTMILL_THREADS=$out.threads "$2" ;;
		*) "$2" ;;
		esac >"$out.log" 2>&1
		echo $? >"$out.status"' sh "$log/$1" @ || report "$1: not all tests were started" 1 0 1 0 /dev/null
	while read -r t; do
		out=$log/$1-${t##*/}
		status=$(cat "$out.status" 2>/dev/null || echo 1)
		case $t in
		*.replay)
			name=${t##*/}
			report "$1/${name%.replay} corpus" "$status" $((status == 0)) $((status != 0)) 0 "$out.log"
			continue
			;;
		esac
		p=$(grep -c '^\[       OK \]' "$out.log") f=$(grep '^\[  FAILED  \] [^0-9 ]' "$out.log" | sort -u | wc -l)
		report "$1/${t##*/}" "$status" "$p" "$f" \
			"$(grep '^\[  SKIPPED \] [^0-9 ]' "$out.log" | sort -u | wc -l)" "$out.log"
		# the reason is the line that the test printed before
		grep -B 1 '^\[  SKIPPED \] [^0-9 ]' "$out.log" | grep -v '^\[\|^--$' | sed "s/^/    $1 skipped: /"
	done <"$log/$1.programs"
	case $1 in tsan | release) return ;; esac
	for t in "$log/$1"-*.threads; do
		t=${t#"$log/$1-"}
		echo "${t%.threads}"
	done | grep -vxFf tests/unit/threads.txt >"$log/threads.log" &&
		report "$1: tests with threads are not in threads.txt" 1 0 1 0 "$log/threads.log"
}

pytests() { # FOLDER [OPTION...]
	out=$log/$1.log
	[ -x "$python" ] || python=python3
	run "$python" -m pytest -q -rfEs "tests/$@" >"$out" 2>&1
	status=$?
	last=$log/$1.last
	# a server may print text after the last line
	grep -aE '[0-9]+ (passed|failed|error|skipped)' "$out" | tail -n 1 >"$last"
	[ -s "$last" ] || status=1
	report "$1" $status "$(count passed "$last")" $(($(count failed "$last") + $(count error "$last"))) \
		"$(count skipped "$last")" "$out"
	sed -n "s/^SKIPPED/    $1 skipped:/p" "$out"
}

# Installs the packages of all tests, and builds the program.
prepare() {
	echo "  installing packages while the first tests run ($log/prepare.log)"
	release deps all >"$log/prepare.log" 2>&1
	status=$?
	report "packages and program" $status $((status == 0)) $((status != 0)) 0 "$log/prepare.log"
	echo $status >"$log/prepared"
}

# Waits for `prepare`. Fails if it failed.
prepared() {
	until [ -s "$log/prepared" ]; do sleep 1; done
	[ "$(cat "$log/prepared")" -eq 0 ]
}

# The tests of the command line share nothing, so one runs on each processor. Tests with servers share the servers.
cli() { pytests cli -n "$(nproc)" --dist loadfile; }

# The lanes of servers take about the same time.
servers() { # SUITE...
	prepared || return
	for s in "$@"; do
		pytests "$s"
	done
}

# Runs a sample of simulated histories, and the seeds that once failed.
simulation() {
	release build/gcc-release/simulate >"$log/build-sim.log" 2>&1 ||
		{ report "build simulation" 1 0 1 0 "$log/build-sim.log"; return; }
	for part in "--seeds tests/simulate/seeds.txt" "--twice 0:100" 1000:2000; do
		# shellcheck disable=SC2086
		run build/gcc-release/simulate $part >"$log/simulate.log" 2>&1
		status=$?
		failed=$(sed -n 's/.* \([0-9]*\) violations$/\1/p' "$log/simulate.log" | tail -n 1)
		ran=$(sed -n 's/^\([0-9]*\) histories.*/\1/p' "$log/simulate.log" | tail -n 1)
		report "simulate $part" $status $((${ran:-0} - ${failed:-0})) "${failed:-1}" 0 "$log/simulate.log"
	done
}

# The simulation and the checks use the objects of the program.
computing() {
	yields='nice -n 10'
	for f in asan tsan; do
		make_ FLAVOR=$f CC=gcc unit-bins >"$log/build-$f.log" 2>&1 ||
			{ report "build $f" 1 0 1 0 "$log/build-$f.log"; continue; }
		unit $f
	done
	make_ FLAVOR=dev CC=clang OPT_dev='-fsyntax-only -Werror' objects >"$log/clang.log" 2>&1
	report "clang, warnings as errors" $? 1 0 0 "$log/clang.log"
	prepared || return
	# shellcheck disable=SC2046
	if release $(plain | sed 's|^|build/gcc-release/tests/unit/|') >"$log/build-release.log" 2>&1; then
		unit release
	else
		report "build release" 1 0 1 0 "$log/build-release.log"
	fi
	release headers layers format-check symbols house >"$log/layers.log" 2>&1
	report "headers, layers, format, symbols, figures" $? 1 0 0 "$log/layers.log"
	simulation
	cli
}

# Background processes of a shell ignore interrupts, so the script stops a lane with another signal.
stop_child() {
	[ -z "$child" ] || kill -INT "-$child" 2>/dev/null || kill -INT "$child" 2>/dev/null
	wait
	exit 130
}

start() { # LANE COMMAND...
	lane=$1
	shift
	: >"$log/$lane.sum"
	: >"$log/$lane.why"
	(
		pids=''
		trap stop_child TERM
		"$@"
		echo end >>"$log/$lane.sum"
	) &
	lanes="$lanes $lane" pids="$pids $!"
}

stop() {
	trap '' INT TERM HUP
	# shellcheck disable=SC2086
	kill -TERM $pids 2>/dev/null
	wait
	exit 130
}
trap stop INT TERM HUP

case $suite in
unit) start unit unit "$flavor" ;;
cli) start cli cli ;;
simulation) start simulation simulation ;;
hbase | secure | kafka | spark) start "$suite" pytests "$suite" ;;
all)
	rm -f "$log/prepared"
	start prepare prepare
	if [ "$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo)" -gt $((12 << 20)) ]; then
		start kafka servers kafka secure spark
		start hbase servers hbase
		start computing computing
	else
		start computing computing
		wait
		start hbase servers hbase
		wait
		start kafka servers kafka secure spark
	fi
	;;
*) echo "run.sh: no suite $suite" >&2; exit 2 ;;
esac
wait
for lane in $lanes; do
	[ "$(tail -n 1 "$log/$lane.sum")" = end ] || report "$lane was cut off" 1 0 1 0 /dev/null
	cat "$log/$lane.why"
done
# shellcheck disable=SC2046
set -- $(for lane in $lanes; do cat "$log/$lane.sum"; done |
	awk '$1 != "end" { p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
[ "$3" -eq 0 ] && echo "$1 passed, $2 failed" || echo "$1 passed, $2 failed, $3 skipped"
[ "$2" -eq 0 ]
