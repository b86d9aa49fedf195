#!/bin/sh
# abi.sh prints what programs for libsaltmill.so.1 depend on: the codes and flags of saltmill.h, the size of each struct, the
# offset of each member, and the type of each function. make abi compares it with pipeline/lib/abi.txt.
set -eu
cd "$(dirname "$0")/.."
header=pipeline/lib/saltmill.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The preprocessor removes comments. Each declaration is then on one line.
${CC:-cc} -E -P -x c $header | tr '\n\t' '  ' | sed 's/__attribute__((visibility("default"))) //g; s/  */ /g; s/; /;\n/g; s/{ /{\n/g' >"$work/lines"
{
	printf '#include <stddef.h>\n#include <stdio.h>\n#include "%s"\nint main(void)\n{\n' "$PWD/$header"
	grep -oE '\bSM_[A-Z_]+ = -?[0-9]+' "$work/lines" | sed 's/ = .*//; s/.*/printf("& %d\\n", &);/'
	awk '
	/^ *struct sm_[a-z_]+ {$/ { name = $2; printf "printf(\"struct %s %%zu\\n\", sizeof(struct %s));\n", name, name; next }
	name && /^ *}/ { name = "" }
	name {
		sub(/;.*/, "")
		n = split($0, part, ",")
		for (i = 1; i <= n; i++) {
			m = split(part[i], word, /[ *]+/)
			while (m && word[m] == "") m--
			printf "printf(\"struct %s.%s %%zu %%zu\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n", name, word[m], name, word[m], name, word[m]
		}
	}' "$work/lines"
	printf 'return 0;\n}\n'
} >"$work/abi.c"
${CC:-cc} -o "$work/abi" "$work/abi.c"
"$work/abi"
grep -E '\bsm_[a-z_]+\(' "$work/lines" | sed 's/^ //; s/;$//' | LC_ALL=C sort
