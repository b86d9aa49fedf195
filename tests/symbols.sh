#!/bin/sh
# symbols.sh OBJECT... checks that pipeline/hfile can be a library.
#
# Every symbol that the objects define must begin with hfile_. No object may call functions that end
# the process without memory, such as mem_alloc of include/mem.h and buf_put of include/bytes.h.
set -u
bad=$({
	nm -gA --defined-only "$@" | awk '$NF !~ /^hfile_/ { print $1 " leaves pipeline/hfile as " $NF }'
	nm -uA "$@" | awk '$NF ~ /^(mem|arena)_/ && $NF !~ /^mem_(try_.*|free)$/ ||
		$NF ~ /^buf_/ && $NF !~ /^buf_(try_.*|release)$/ ||
		$NF ~ /^(malloc|calloc|realloc|strdup|bytes_escape|exit|abort)$/ { print $1 " may not use " $NF }'
} | sort)
[ -z "$bad" ] && exit 0
echo "$bad" | sed 's/^/symbols: /' >&2
exit 1
