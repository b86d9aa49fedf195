#!/bin/sh
# symbols.sh OBJECT...: is pipeline/hfile fit to be a library?
#
# Every symbol that its objects define begins with hfile_, and none calls what ends the process when
# there is no memory: the mem_* and buf_* of include/mem.h and include/bytes.h that cannot fail.
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
