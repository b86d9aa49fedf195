#!/bin/sh
# spdx.sh PROGRAM VERSION prints the components of the program as SPDX 2.3 (tag:value)
#
# The list has the libraries that the program links and those that it loads late (include/late.h names
# their files). dpkg gives their packages and versions on this machine.
set -eu
program=$1 version=$2

# Prints the license in the library's own notice, by its SPDX name; NOASSERTION for unknown libraries.
license() {
	case $1 in
	libcsv.so*) echo LGPL-2.1-or-later ;;
	libyaml-*) echo MIT ;;
	libjansson.so*) echo MIT ;;
	libpcre2-8.so*) echo BSD-3-Clause ;;
	libzstd.so*) echo "BSD-3-Clause OR GPL-2.0-only" ;;
	libdeflate.so*) echo MIT ;;
	libz.so*) echo Zlib ;;
	libsnappy.so*) echo BSD-3-Clause ;;
	libuchardet.so*) echo "MPL-1.1 OR GPL-2.0-or-later OR LGPL-2.1-or-later" ;;
	liblz4.so*) echo BSD-2-Clause ;;
	libbz2.so*) echo bzip2-1.0.6 ;;
	libisal.so*) echo BSD-3-Clause ;;
	libxxhash.so*) echo BSD-2-Clause ;;
	librdkafka.so*) echo BSD-2-Clause ;;
	libbrotlidec.so*) echo MIT ;;
	liblzo2.so*) echo GPL-2.0-or-later ;;
	libcurl.so*) echo curl ;;
	libgssapi_krb5.so*) echo MIT ;;
	libssl.so* | libcrypto.so*) echo Apache-2.0 ;;
	libmicrohttpd.so*) echo LGPL-2.1-or-later ;;
	libc.so* | libm.so*) echo LGPL-2.1-or-later ;;
	*) echo NOASSERTION ;;
	esac
}

package() { # NAME ID VERSION LICENSE PURL
	printf '\nPackageName: %s\nSPDXID: SPDXRef-%s\nPackageVersion: %s\n' "$1" "$2" "$3"
	printf 'PackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\n'
	printf 'PackageLicenseConcluded: NOASSERTION\nPackageLicenseDeclared: %s\nPackageCopyrightText: NOASSERTION\n' "$4"
	[ -z "$5" ] || printf 'ExternalRef: PACKAGE-MANAGER purl %s\n' "$5"
}

linked=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
late=$(LC_ALL=C grep -aoE 'lib[a-z0-9_+-]+\.so\.[0-9]+' "$program" | LC_ALL=C sort -u)
sum=$(sha256sum "$program" | cut -d' ' -f1)
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y "$program")}
arch=$(dpkg --print-architecture)

cat <<END
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: saltmill-$version
DocumentNamespace: https://saltmill.invalid/spdx/saltmill-$version-$sum
Creator: Tool: spdx.sh-$version
Created: $(date -u -d "@$when" +%Y-%m-%dT%H:%M:%SZ)
END
package saltmill saltmill "$version" Apache-2.0 ""
printf 'PackageChecksum: SHA256: %s\n' "$sum"
printf 'Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-saltmill\n'
files=$(printf '%s\n' "$linked" "$late" | grep -v '^ld-linux' | LC_ALL=C sort -u) # ld.so is of libc6 too
known=$(ldconfig -p)
# each line is "FILE PATH"; a merged /usr has files under two names, and dpkg knows only one name
paths=$(for file in $files; do
	path=$(printf '%s\n' "$known" | awk -v f="$file" '$1 == f { print $NF; exit }')
	[ -z "$path" ] || echo "$file $(readlink -f "$path")"
done)
# shellcheck disable=SC2046
owners=$(dpkg -S $(printf '%s\n' "$paths" | awk '{ print $2; print substr($2, 5) }') 2>/dev/null || :)
versions=$(dpkg-query -W -f '${Package} ${Version}\n')
printf '%s\n' "$paths" | while read -r file path; do
	owner=$(printf '%s\n' "$owners" | awk -v a="$path" -v b="${path#/usr}" '$NF == a || $NF == b { sub(/:.*/, ""); print; exit }')
	of=$(printf '%s\n' "$versions" | awk -v p="$owner" '$1 == p { print $2; exit }')
	id=$(printf %s "$file" | tr -c 'a-zA-Z0-9.-' -)
	package "${owner:-$file}" "$id" "${of:-NOASSERTION}" "$(license "$file")" \
		"${owner:+pkg:deb/debian/$owner@$(printf %s "$of" | sed 's/+/%2B/g; s/:/%3A/g; s/~/%7E/g')?arch=$arch}"
	kind=RUNTIME_DEPENDENCY_OF
	printf '%s\n' "$linked" | grep -qxF "$file" && kind=
	if [ -n "$kind" ]; then
		printf 'Relationship: SPDXRef-%s RUNTIME_DEPENDENCY_OF SPDXRef-saltmill\n' "$id"
	else
		printf 'Relationship: SPDXRef-saltmill DYNAMIC_LINK SPDXRef-%s\n' "$id"
	fi
done
