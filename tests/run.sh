#!/bin/sh
# run.sh SUITE [FLAVOR=f]: run a suite, keep its full output in build/test/, print one line a part
# and, last, "N passed, N failed[, N skipped]".  SUITE: unit, cli, hbase, kafka, spark or all.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=$1 flavor=dev
[ $# -lt 2 ] || flavor=${2#FLAVOR=}
python=${SALTMILL_CACHE:-$HOME/.cache/saltmill}/venv/bin/python
[ -x "$python" ] || python=python3
log=build/test
mkdir -p "$log"
passed=0 failed=0 skipped=0

count() { # PATTERN FILE: the sum of the numbers in front of PATTERN
	grep -oE "[0-9]+ $1" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

report() { # NAME STATUS PASSED FAILED SKIPPED LOG
	[ "$2" -eq 0 ] || [ "$4" -gt 0 ] || set -- "$1" "$2" "$3" 1 "$5" "$6"
	passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
	printf '  %-28s %4d passed, %d failed, %d skipped\n' "$1" "$3" "$4" "$5"
	[ "$2" -eq 0 ] || tail -n 60 "$6"
}

unit() { # FLAVOR: one test program a processor at a time
	for t in build/gcc-"$1"/tests/unit/test_*; do
		case $t in *.*) continue ;; esac
		[ -f "${t#build/gcc-"$1"/}.c" ] || continue # of a test that is no more
		echo "$t"
	done >"$log/$1.programs"
	rm -f "$log/$1"-*.status "$log/$1"-*.log # of an earlier run
	xargs -P "$(nproc)" -I{} sh -c \
		'out=$1/$2-${3##*/}; "$3" >"$out.log" 2>&1; echo $? >"$out.status"' \
		sh "$log" "$1" {} <"$log/$1.programs" || report "$1: not all tests were started" 1 0 1 0 /dev/null
	while read -r t; do
		out=$log/$1-${t##*/}
		p=$(grep -c '^\[       OK \]' "$out.log") f=$(grep '^\[  FAILED  \] [^0-9 ]' "$out.log" | sort -u | wc -l)
		report "$1/${t##*/}" "$(cat "$out.status" 2>/dev/null || echo 1)" "$p" "$f" \
			"$(grep '^\[  SKIPPED \] [^0-9 ]' "$out.log" | sort -u | wc -l)" "$out.log"
		# why: the line that the test printed before it
		grep -B 1 '^\[  SKIPPED \] [^0-9 ]' "$out.log" | grep -v '^\[\|^--$' | sed 's/^/    skipped: /'
	done <"$log/$1.programs"
	for t in build/gcc-"$1"/tests/fuzz/*.replay; do
		[ -x "$t" ] || continue
		name=$(basename "$t" .replay) out=$log/$1-$(basename "$t").log
		find tests/fuzz/corpus/"${name#fuzz_}" -type f -exec "$t" {} + >"$out" 2>&1
		status=$?
		report "$1/$name corpus" $status $((status == 0)) $((status != 0)) 0 "$out"
	done
}

pytests() { # FOLDER [OPTION...]
	out=$log/$1.log
	"$python" -m pytest -q -rs "tests/$@" >"$out" 2>&1
	status=$?
	grep '^SKIPPED' "$out"
	last=$log/$1.last
	# a server may say something behind the last line
	grep -E '[0-9]+ (passed|failed|error|skipped)' "$out" | tail -n 1 >"$last"
	[ -s "$last" ] || status=1
	report "$1" $status "$(count passed "$last")" $(($(count failed "$last") + $(count error "$last"))) \
		"$(count skipped "$last")" "$out"
}

# The command line's tests share nothing: one a processor.  Those with servers share them.
apart="-n $(nproc) --dist loadfile"

case $suite in
unit) unit "$flavor" ;;
# shellcheck disable=SC2086
cli) pytests cli $apart ;;
hbase | kafka | spark) pytests "$suite" ;;
all)
	for f in dev asan tsan; do
		echo "unit tests, $f"
		make --no-print-directory -j"$(nproc)" FLAVOR=$f CC=gcc unit-bins >"$log/build-$f.log" 2>&1 ||
			{ report "build $f" 1 0 1 0 "$log/build-$f.log"; continue; }
		unit $f
	done
	make --no-print-directory FLAVOR=dev CC=gcc headers layers format-check symbols >"$log/layers.log" 2>&1
	report "headers, layers, format, symbols" $? 1 0 0 "$log/layers.log"
	make --no-print-directory -j"$(nproc)" FLAVOR=dev CC=clang objects >"$log/clang.log" 2>&1
	report "clang, warnings as errors" $? 1 0 0 "$log/clang.log"
	# shellcheck disable=SC2086
	pytests cli $apart
	pytests hbase
	pytests kafka
	pytests spark
	;;
*) echo "run.sh: no suite $suite" >&2; exit 2 ;;
esac
[ "$skipped" -eq 0 ] && echo "$passed passed, $failed failed" ||
	echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
