#!/bin/sh
# install.sh PROGRAM PREFIX installs the program, its manual pages, completions and the examples
set -eu
cd "$(dirname "$0")/.."
program=$1 prefix=$2
share=$prefix/share
man=$share/man
doc=$share/doc/saltmill
mkdir -p "$man/man1" "$man/man5" "$man/man7" "$share/bash-completion/completions" \
	"$share/zsh/site-functions" "$share/fish/vendor_completions.d" "$doc/examples"
install -D -m 755 "$program" "$prefix/bin/saltmill"
install -D -m 755 conf/nightly.sh "$prefix/libexec/saltmill/nightly"
"$program" help --format man >"$man/man1/saltmill.1"
"$program" help job --format man >"$man/man5/saltmill-job.5"
for command in $("$program" help | sed -n 's/^  saltmill \([a-z]*\) .*/\1/p'); do
	"$program" help "$command" --format man >"$man/man1/saltmill-$command.1"
done
for chapter in $("$program" help guide | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
	"$program" help guide "$chapter" --format man >"$man/man7/saltmill-$chapter.7"
done
"$program" help --format bash >"$share/bash-completion/completions/saltmill"
"$program" help --format zsh >"$share/zsh/site-functions/_saltmill"
"$program" help --format fish >"$share/fish/vendor_completions.d/saltmill.fish"
"$program" help job --format json-schema >"$doc/job.schema.json"
mkdir -p "$doc/schemas"
for name in $("$program" help schema | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
	"$program" help schema "$name" >"$doc/schemas/$name.schema.json"
done
install -m 644 README.md LICENSE "$doc"
find conf -maxdepth 1 -type f -exec install -m 644 {} "$doc/examples" \;
mkdir -p "$doc/service"
install -m 644 conf/service/* "$doc/service"
