#!/bin/sh
# cover.sh TARGET prints the lines of each program file that the target's corpus and the inputs found by fuzz.sh reach
set -eu
cd "$(dirname "$0")/../.."
out=build/fuzz
program=build/clang-cover/tests/fuzz/fuzz_$1.replay
rm -f $out/"$1".*.profraw
for folder in tests/fuzz/corpus/"$1" $out/seeds/"$1" $out/new/"$1"; do
	[ ! -d "$folder" ] || find "$folder" -type f -exec env LLVM_PROFILE_FILE=$out/"$1".%p.profraw "$program" {} +
done
llvm-profdata merge -o $out/"$1".profdata $out/"$1".*.profraw
rm -f $out/"$1".*.profraw
llvm-cov export -summary-only -instr-profile=$out/"$1".profdata "$program" | python3 -c '
import json, os, sys
for f in json.load(sys.stdin)["data"][0]["files"]:
    lines = f["summary"]["lines"]
    if lines["covered"] and "/tests/" not in f["filename"]:
        name, share = os.path.relpath(f["filename"]), lines["percent"]
        print("%5.1f %% of %4d lines  %s" % (share, lines["count"], name))
'
