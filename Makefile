# `make help` prints the lines that begin with '##': one for each target.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

TOOL   := saltmill
CC     := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
FLAVOR ?= release
# make worker MACHINE=aarch64 uses a cross compiler and the libraries that tests/deps.sh has fetched.
ifeq ($(origin MACHINE),command line)
CC       := $(MACHINE)-linux-gnu-gcc
CROSS    := $(or $(SALTMILL_CACHE),$(HOME)/.cache/saltmill)/$(MACHINE)/usr
CPPFLAGS += -isystem $(CROSS)/include -isystem $(CROSS)/include/$(MACHINE)-linux-gnu
LDFLAGS  += -L$(CROSS)/lib/$(MACHINE)-linux-gnu
else
MACHINE  :=
endif
# The compiler's name without a program that starts it, such as ccache, and without options.
B      := build/$(notdir $(firstword $(filter-out ccache distcc %/ccache %/distcc,$(CC))))-$(FLAVOR)

# A release is compiled with hardening, because it reads untrusted files. `make test` adds STRICT=-Werror
# and DEBUG_INFO=-g1.
HARDEN := -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3 -fPIE
HARDEN_LINK := -pie -Wl,-z,relro,-z,now,-z,noexecstack
DEBUG_INFO := -g
OPT_release := -O3 $(DEBUG_INFO) $(HARDEN)
LINK_release := $(HARDEN_LINK)
# `make bench ARGS=hardening` measures the cost of hardening with this build.
OPT_bare    := -O3 -g -fno-stack-protector -fno-pie
LINK_bare   := -no-pie
OPT_dev     := -O1 -g -Werror
# The reports of sanitizers need names and lines, and no types.
OPT_asan    := -O1 -g1 -Werror -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
OPT_tsan    := -O1 -g1 -Werror -fsanitize=thread
# gold links the many test programs with a quarter of the work of GNU ld.
GOLD        := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(foreach f,dev asan tsan,$(eval LINK_$f := $(GOLD)))
OPT_fuzz    := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
OPT_lib     := -O3 $(DEBUG_INFO) $(filter-out -fPIE,$(HARDEN)) -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
LINK_lib    := -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs
OPT_cover   := -O0 -fprofile-instr-generate -fcoverage-mapping
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wwrite-strings -Wvla \
        -Wswitch-enum -Wformat=2 -Wundef -Wstrict-prototypes -Wmissing-prototypes $(STRICT)
VERSION := 0.1.0
STD  := -std=c17 -D_GNU_SOURCE -DSALTMILL_VERSION=\"$(VERSION)\"
# A file includes headers of its own folder by name, doors (include/) by name, and headers that its
# own wing shares as "wing/name.h".  `make layers` refuses other includes.
INC  := -Iinclude -Ipipeline
LDLIBS := -lcsv -lyaml -ljansson -lpcre2-8 -lzstd -ldeflate -lz -llz4 -lbz2 -llzma -lisal -lxxhash -lmd -lpthread -lm
# The program loads these libraries when it needs them, and the tests link them. The worker links
# snappy and lacks the other libraries (include/late.h). Nothing links liblzo2, whose license is the GPL.
LATE := rdkafka curl microhttpd snappy uchardet gssapi_krb5 ssl crypto brotlidec
LATE_LIBS := $(LATE:%=-l%)
COMPILE = $(CC) $(STD) $(INC) $(CPPFLAGS) $(WARN) $(OPT_$(FLAVOR)) -ffile-prefix-map=$(CURDIR)=. $(CFLAGS)
LINK    = @echo '  LINK  $@'; $(CC) $(OPT_$(FLAVOR)) $(LINK_$(FLAVOR)) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# $(sort) fixes the link order, so the binary does not depend on the file system.
CLI  := pipeline/cli/command/main.c
ALL_C := $(filter-out $(CLI),$(sort $(wildcard pipeline/*/*.c pipeline/*/*/*.c splitter/*.c)))
# The C file that contains the chapters of the guide.
GUIDE := build/guide_chapters.c
# The files of libsaltmill's door; the program does not contain them.
DOOR := $(sort $(wildcard pipeline/lib/*.c))
LIB  := $(filter-out pipeline/base/static_% pipeline/base/late_bz2.c pipeline/lib/%,$(ALL_C)) $(GUIDE)
LINKED := $(filter-out $(LATE:%=pipeline/base/late_%.c),$(LIB)) $(DOOR)
ALONE := $(filter-out pipeline/base/loader.c pipeline/base/late_snappy.c pipeline/base/late_bz2.c pipeline/lib/%,$(ALL_C)) $(GUIDE)
ALONE_LIBS := $(filter-out -lisal,$(LDLIBS)) -lsnappy -lstdc++
CLI  := pipeline/cli/command/main.c
UNIT := $(sort $(wildcard tests/unit/test_*.c))
HDR  := $(sort $(wildcard include/*.h pipeline/*/*.h pipeline/*/*/*.h splitter/*.h))
FUZZ := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH := $(sort $(wildcard tests/bench/*.c))
SIMULATE := $(sort $(wildcard tests/simulate/*.c))
SRC  := $(ALL_C) $(CLI) $(UNIT) $(FUZZ) tests/fuzz/replay_corpus.c $(BENCH) $(SIMULATE)
REPLAY   := $(FUZZ:%.c=$(B)/%.replay)
# ThreadSanitizer checks the tests that start threads. The unit tests of dev and asan fail if one is missing in the list.
ifeq ($(FLAVOR),tsan)
UNIT_BIN := $(patsubst %,$(B)/tests/unit/%,$(shell cat tests/unit/threads.txt))
REPLAY   :=
# No test of the list reaches these files; the linker names what is missing if one does.
LINKED   := $(filter-out pipeline/advise/check/% pipeline/advise/design/% pipeline/advise/infer/% pipeline/advise/init/% \
	    pipeline/cli/html/% pipeline/cli/command/cmd_% pipeline/deliver/move/% pipeline/read/% $(GUIDE),$(LINKED))
else
UNIT_BIN := $(UNIT:%.c=$(B)/%)
endif

## all: build the program as build/saltmill
all: $(B)/$(TOOL)
	@ln -sfn $(patsubst build/%,%,$(B))/$(TOOL) build/$(TOOL)
$(B)/$(TOOL): $(CLI:%.c=$(B)/%.o) $(LIB:%.c=$(B)/%.o) ; $(LINK)
$(UNIT_BIN) $(B)/tests/bench/stages $(REPLAY): LDLIBS += $(LATE_LIBS)
$(UNIT_BIN): LDLIBS += -lcmocka
# The program that counts the calls of some files, WALKED="FILE.c...". The other objects are those of the release.
$(B)/walked: $(WALKED:%.c=$(B)/%.o) $(patsubst %.c,build/gcc-release/%.o,$(filter-out $(WALKED),$(CLI) $(LIB))) ; $(LINK)
# Tests link a thin archive of all rooms. The linker takes only the objects that a test needs.
$(B)/rooms.a: $(LINKED:%.c=$(B)/%.o) ; @rm -f $@; ar rcsT $@ $^
$(UNIT_BIN): %: %.o $(B)/rooms.a ; $(LINK)
$(B)/tests/bench/stages: $(BENCH:%.c=$(B)/%.o) $(LINKED:%.c=$(B)/%.o) ; $(LINK)
$(REPLAY): %.replay: %.o $(B)/tests/fuzz/replay_corpus.o $(B)/rooms.a ; $(LINK)
$(B)/tests/%.o: INC += -I.
# This test counts the basic blocks that run.
$(B)/tests/unit/test_load_unite_checks.o: CFLAGS += -fsanitize-coverage=trace-pc
$(B)/pipeline/base/static_xxhash_avx2.o: CFLAGS += $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-mavx2)
# The program loads the file that -lNAME finds here.
SONAME = $(or $(shell readelf -d "$$($(CC) -print-file-name=lib$(1).so)" 2>/dev/null | sed -n 's/.*(SONAME).*\[\(.*\)\]$$/\1/p'),lib$(1).so)
$(B)/pipeline/base/late.o: CFLAGS += $(foreach l,$(LATE),-DFILE_$(l)='"$(call SONAME,$(l))"')
$(GUIDE): pipeline/cli/command/guide_embed.awk conf/guide $(sort $(wildcard conf/guide/*.md))
	@mkdir -p $(@D)
	@LC_ALL=C awk -f $< $(filter %.md,$^) >$@.$$$$ && mv $@.$$$$ $@
$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@$(COMPILE) -MMD -MP -c -o $@ $<
-include $(SRC:%.c=$(B)/%.d)

## worker: build/saltmill-worker, one static file for any Linux of this architecture, without Kafka and --metrics;
##         make worker MACHINE=aarch64 cross-compiles build/saltmill-worker-aarch64
WORKER := build/saltmill-worker$(addprefix -,$(MACHINE))
worker:
	@$(if $(MACHINE),tests/deps.sh $(MACHINE))
	@$(SUB) $(WORKER)
$(WORKER): $(CLI:%.c=$(B)/%.o) $(ALONE:%.c=$(B)/%.o)
	@echo '  LINK  $@'; $(CC) $(OPT_$(FLAVOR)) -static-pie -Wl,-z,relro,-z,now,-z,noexecstack -s $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ALONE_LIBS)

# The library has only the objects that its door needs. The linker finds them in a thin archive.
LIB_WINGS := pipeline/base/% pipeline/model/% pipeline/hfile/% pipeline/hbase/% splitter/%
LIB_LATE  := $(B)/pipeline/base/loader.o $(B)/pipeline/base/late_snappy.o $(B)/pipeline/base/late_brotlidec.o \
	     $(B)/pipeline/base/late_crypto.o
$(B)/library.a: $(patsubst %.c,$(B)/%.o,$(filter $(LIB_WINGS),$(LINKED))) ; @rm -f $@; ar rcsT $@ $^
$(B)/libsaltmill.so.1: $(DOOR:%.c=$(B)/%.o) $(LIB_LATE) $(B)/library.a pipeline/lib/saltmill.map
	@echo '  LINK  $@'; $(CC) $(OPT_$(FLAVOR)) $(LINK_$(FLAVOR)) -shared -Wl,-soname,libsaltmill.so.1 -Wl,--gc-sections \
		-Wl,--version-script=pipeline/lib/saltmill.map $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LDLIBS)
# In the static library, only the sm_ names are global.
$(B)/libsaltmill.a: $(DOOR:%.c=$(B)/%.o) $(LIB_LATE) $(B)/library.a
	@echo '  LINK  $@'; ld -r -o $(B)/saltmill.o $^ && objcopy --localize-hidden $(B)/saltmill.o
	@rm -f $@; ar rcs $@ $(B)/saltmill.o
# The library of the Python package needs only libc. It loads libcrypto, libbz2, libbrotlidec and liblzo2 if a file needs them.
$(B)/bundle.a: $(patsubst %.c,$(B)/%.o,$(filter $(LIB_WINGS),$(ALONE)) pipeline/base/late_bz2.c) ; @rm -f $@; ar rcsT $@ $^
$(B)/bundle/libsaltmill.so.1: $(DOOR:%.c=$(B)/%.o) $(filter-out %snappy.o,$(LIB_LATE)) $(B)/bundle.a pipeline/lib/saltmill.map
	@mkdir -p $(@D)
	@echo '  LINK  $@'; $(CC) $(OPT_$(FLAVOR)) $(LINK_$(FLAVOR)) -shared -s -Wl,-soname,libsaltmill.so.1 -Wl,--gc-sections \
		-Wl,--version-script=pipeline/lib/saltmill.map $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) \
		-Wl,--as-needed,-Bstatic $(filter-out -lpthread -lm,$(ALONE_LIBS)) -Wl,-Bdynamic -lm
## lib: build libsaltmill, shared and static, in build/gcc-lib
BUILT := build/gcc-lib/libsaltmill.so.1 build/gcc-lib/libsaltmill.a
lib: ; @$(SUB) FLAVOR=lib CC=gcc $(BUILT)
## abi: compare the functions, structs and codes of libsaltmill with pipeline/lib/abi.txt (update: make abi-write)
abi: ; @CC='$(CC)' tests/abi.sh | diff pipeline/lib/abi.txt - || { echo 'pipeline/lib/abi.txt: a change breaks programs; after an addition: make abi-write' >&2; exit 1; }
abi-write: ; @CC='$(CC)' tests/abi.sh >pipeline/lib/abi.txt

## deps: install what build, tests and demo need (apt packages, jars, a data set)
deps: ; @tests/deps.sh test
deps-build: ; @tests/deps.sh build

JOBS := $(shell nproc)
SUB   = $(MAKE) --no-print-directory -j$(JOBS)

## check: run the quick tests: headers, layers, format, figures, unit tests, fuzz corpora, warnings as errors (gcc, clang)
check: deps-build
	@$(SUB) headers layers format-check
	@$(SUB) FLAVOR=dev CC=clang objects
	@$(SUB) FLAVOR=dev CC=gcc unit-bins symbols words house abi
	@tests/run.sh unit FLAVOR=dev
objects: $(ALL_C:%.c=$(B)/%.o) $(CLI:%.c=$(B)/%.o) $(UNIT:%.c=$(B)/%.o)
unit-bins: $(UNIT_BIN) $(REPLAY) build/threads.so

## asan: the unit tests under AddressSanitizer and UBSan
## tsan: the unit tests with threads (tests/unit/threads.txt) under ThreadSanitizer
asan tsan: deps-build
	@$(SUB) FLAVOR=$@ CC=gcc unit-bins
	@tests/run.sh unit FLAVOR=$@

## test: all tests: sanitizers, simulation, command line, real HBase, HDFS, Kafka and Spark
test: deps-build
	@tests/run.sh all

## cli-test: test the program as its users run it
cli-test: deps
	@$(SUB) all
	@tests/run.sh cli
## server-test: test loads into a real HBase and HDFS
server-test: deps
	@$(SUB) all
	@tests/run.sh hbase
## spark-test: test loads with Apache Spark while executors, workers and programs are killed
spark-test: deps
	@$(SUB) all
	@tests/run.sh spark

## same: make same BEFORE=path/to/other/saltmill compares all bytes with another build's, for conf/ and 50 random jobs
same:
	@$(SUB) all
	@python3 tests/same.py $(or $(BEFORE),$(error BEFORE=path/to/other/saltmill is missing)) build/$(TOOL) $(ARGS)

## soak: run a stream against a real broker with a fault every few seconds; make soak [SECS=3600] [TOPICS=1]
##       ARGS=hbase [EVENTS=1000000] loads through Kafka into HBase and kills processes on both sides
soak: deps
	@$(SUB) all
	@$(if $(filter hbase,$(ARGS)),$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/kafka/soak_hbase.py $(or $(EVENTS),1000000),python3 tests/kafka/soak.py $(or $(SECS),3600) $(or $(TOPICS),1))

## questions: send 304 queries of 38 random jobs to a real HBase, with the code that key ranges prints
questions: deps
	@$(SUB) all
	@SALTMILL_QUESTIONS=0:38 $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/hbase/test_questions.py
## where: compare 10,000 random scans with a Python model that filters the events (N=...); takes minutes
where: deps
	@$(SUB) all
	@SALTMILL_WHERE=$(or $(N),10000) $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/cli/test_where.py

## properties: run 10,000 queries of 140 random jobs, and convert 40 keys of each in both directions [SEEDS=0:140]
properties:
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/cli/properties.py $(or $(SEEDS),0:140)

## systems: judge `saltmill init` on tables as known systems write them, of the half HALF=develop (default) or held-out
systems: all ; @python3 tests/sets/systems.py $(B)/$(TOOL) --half $(or $(HALF),develop) $(ARGS)
## tables: judge `saltmill init` on tables of random schemas of the half HALF=develop (default) or held-out [ARGS='--seeds N']
tables: all ; @python3 tests/sets/tables.py $(B)/$(TOOL) --half $(or $(HALF),develop) $(ARGS)

## predictions: compare what `design` predicts with loads of 24 random data sets [HALF=develop|held-out] (takes minutes)
predictions:
	@$(SUB) all
	@python3 tests/cli/design_predictions.py --half $(or $(HALF),develop) $(ARGS)

## scan-metrics: compare what `design` predicts for three random data sets with ScanMetrics of a real HBase
scan-metrics: deps
	@$(SUB) all
	@SALTMILL_SCAN_SETS=3 $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/hbase/test_calibrate.py

## s3-root: kill apply at each of its steps, with a real HBase whose root is in S3
s3-root: deps
	@$(SUB) all
	@SALTMILL_S3_STEP=1 $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/hbase/test_s3_root.py tests/secure/s3_root_secured.py

## s3-store: run the tests of S3 with Ceph's object gateway, and kill loads into it
s3-store: deps
	@tests/deps.sh ceph
	@$(SUB) all
	@SALTMILL_S3=ceph $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/cli/test_s3_moto.py
	@SALTMILL_S3=ceph $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/cli/kills_s3.py --moments 20 $(ARGS)

## bench: compare saltmill with other programs and with its limits; `make bench ARGS=--quick` takes minutes
bench:
	@tests/deps.sh bench
	@$(SUB) all build/saltmill-worker $(B)/tests/bench/stages
	@python3 tests/bench/bench.py --stages $(B)/tests/bench/stages $(ARGS)

## sniffers: compare `saltmill init` with DuckDB's sniffer on the data sets of tests/cli/sniff_sets.py
sniffers:
	@tests/deps.sh sniffers
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/bench/sniffers.py build/saltmill

## sets: judge `saltmill init`, and DuckDB's sniffer, on the half HALF=develop (default) or held-out of the data sets in tests/sets
sets:
	@tests/deps.sh sets
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/sets/judge.py --half $(or $(HALF),develop) --duckdb $(ARGS)

## shapes: judge `saltmill init` on random delimited files of the half HALF=develop (default) or held-out [SEEDS=0:1000]
shapes:
	@tests/deps.sh sets
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/sets/shapes.py --half $(or $(HALF),develop) --seeds $(or $(SEEDS),0:1000) $(ARGS)

## faults: make allocations and system calls fail, three for each place in the code (takes minutes; ARGS="--only load --all")
faults:
	@$(SUB) all build/preload.so
	@python3 tests/faults/faults.py $(ARGS)
## power: simulate a power loss at any moment of a load, and check the next run
power:
	@$(SUB) all
	@python3 tests/faults/power.py $(ARGS)
PRELOAD := tests/faults/preload.c tests/faults/stacks.c
THREADS := tests/unit/threads.c
build/preload.so: $(PRELOAD) tests/faults/stacks.h
build/threads.so: $(THREADS)
build/preload.so build/threads.so:
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@$(CC) $(STD) $(WARN) -Werror -O1 -g -fPIC -shared -o $@ $(filter %.c,$^)

# The simulated world replaces the files below HBase's session and, by the linker, functions of libc. A hardened object
# may call NAME as __NAME_chk. This name has no replacement unless the world defines it, so the link fails.
SIM_ROOMS := $(filter-out pipeline/hbase/rpc/rpc.c $(DOOR),$(LINKED))
SIM_CALLS := $(shell grep -oh '__wrap_[a-z_0-9]*' $(SIMULATE) | sed s/__wrap_// | sort -u)
$(B)/simulate: $(SIMULATE:%.c=$(B)/%.o) $(SIM_ROOMS:%.c=$(B)/%.o)
	@echo '  LINK  $@'; $(CC) $(OPT_$(FLAVOR)) -no-pie -Wl,-z,now $(SIM_CALLS:%=-Wl,--wrap=%) $(SIM_CALLS:%=-Wl,--wrap=__%_chk) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(filter-out -lrdkafka -lcurl,$(LATE_LIBS))
$(SIMULATE:%.c=$(B)/%.o): CFLAGS += -Wno-missing-prototypes -U_FORTIFY_SOURCE # fibers leave their stacks
## simulate: run histories in a simulated world (takes minutes; SEEDS=0:10000, ARGS=--loud prints each step)
simulate:
	@$(SUB) CC=gcc build/gcc-release/simulate
	@build/gcc-release/simulate $(ARGS) $(or $(SEEDS),0:10000)

## simulate-bugs: plant bugs in a copy, and check that the simulation finds each; takes minutes
simulate-bugs:
	@$(SUB) CC=gcc build/gcc-release/simulate
	@python3 tests/simulate/bugs.py $(ARGS)

## mutants: change the program in N=1000 places, and count the changes that the tests find (takes hours; ARGS="--only sort")
mutants: deps
	@$(SUB) FLAVOR=dev CC=gcc unit-bins build/gcc-dev/$(TOOL)
	@$(SUB) CC=gcc build/gcc-release/simulate
	@python3 tests/mutants.py -n $(or $(N),1000) $(ARGS)

## kills: run apply while servers die, disks fill up, regions split and move [ARGS="--moments 50 --record FILE"]
kills: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/hbase/kills.py $(ARGS)

## kills-rekey: move a live table to other row keys under writes, and kill rekey [ARGS="--kills 10 --writes 500 --seed 1"]
kills-rekey: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/hbase/kills_rekey.py $(ARGS)

## kills-secured: the same with Kerberos, while tickets end, the KDC is away or the clock is wrong [ARGS="--moments 30"]
kills-secured: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/secure/kills_secured.py $(ARGS)

## name-service: use an HDFS of two NameNodes, one of which dies, and `hdfs fetchdt` [ARGS=--without-kerberos]
name-service: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/secure/name_service.py $(ARGS)

## strict-servers: use a secured HBase that allows only privacy, only TLS, or both with AES [ARGS="--only tls"]
strict-servers: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/secure/strict_servers.py $(ARGS)

## stream-logins: run `stream --apply`, and a long upload, while tickets and tokens end
stream-logins: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/secure/stream_logins.py $(ARGS)

## kills-s3: kill loads into S3 at 100 random requests, while others fail [ARGS="--moments 100 --seed 1"]
kills-s3: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/cli/kills_s3.py $(ARGS)

## hfiles: compare with HBase on N=2000 random HFiles of HBase 2.6 and 1.7, from file SEED=0 on
HFILES := build/hfiles
hfiles: deps
	@$(SUB) all
	@mvn -q -f tests/hbase1/pom.xml dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(HFILES)/hbase1-lib
	@mvn -q -f tests/hbase2/pom.xml dependency:copy-dependencies -DincludeArtifactIds=lz4-java \
		-DoutputDirectory=$(CURDIR)/$(HFILES)/hbase2-lib
	@cache=$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}; $$cache/venv/bin/python tests/random_hfiles.py --files $(or $(N),2000) \
		--seed $(or $(SEED),0) --work $(HFILES) --hbase2 $$cache/hbase-lib:$(HFILES)/hbase2-lib --hbase1 $(HFILES)/hbase1-lib

## demo: load 336,776 real flights and show the result
demo:
	@echo '$$ tests/deps.sh demo'; tests/deps.sh demo
	@echo '$$ make all DEBUG_INFO='; $(SUB) all DEBUG_INFO=
	@tests/demo.sh

## spark-versions: run the tests of loads with the oldest and the newest supported version of Spark
spark-versions: deps
	@$(SUB) all
	@SALTMILL_SPARK_VERSIONS=all $${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python -m pytest -q tests/spark/test_spark_versions.py

## demo-spark: load the same flights with Apache Spark on two executors, and compare with one process's load
demo-spark: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/demo_spark.py

## spark-scale: load SLICES x REGIONS with Spark, and print what the driver needed; make spark-scale ARGS="3000 2000"
spark-scale: deps
	@$(SUB) all
	@$${SALTMILL_CACHE:-$$HOME/.cache/saltmill}/venv/bin/python tests/spark_scale.py $(or $(ARGS),300 200)

## wheel: build/wheel/saltmill-*.whl, the Python package of pipeline/spark, with the worker and libsaltmill; LIBRARY=no
##        leaves libsaltmill out, for machines with an older libc
LIBRARY := $(if $(MACHINE),no,yes)
BUNDLE  := $(if $(filter no,$(LIBRARY)),,build/gcc-lib/bundle/libsaltmill.so.1)
wheel: worker
	@$(if $(BUNDLE),$(SUB) FLAVOR=lib CC=gcc $(BUNDLE))
	@LIBRARY=$(BUNDLE) pipeline/spark/wheel.sh $(VERSION) $(MACHINE)

## headers: check that every header compiles on its own
headers:
	@set -e; for h in $(HDR); do echo "#include \"$$h\"" | $(CC) -I. $(STD) $(INC) $(WARN) -Werror -fsyntax-only -x c -; done
## layers: check includes against the tables WINGS and LIBRARIES
layers: ; @WINGS="$$WINGS" LIBRARIES="$$LIBRARIES" tests/layers.sh

## symbols: check that pipeline/hfile exports only hfile_ names and never ends the process
symbols: $(patsubst %.c,$(B)/%.o,$(sort $(wildcard pipeline/hfile/*.c))) ; @tests/symbols.sh $^

# wing | wings it may use | its rooms from the lowest up: room(headers that it opens: doors of include/, or wing/name.h)
# A room may include its own headers, headers that lower rooms of its wing open, and doors of the listed wings.
define WINGS
base | | base(bytes error mem io pool clock hash pattern run late cell table form)
splitter | base | splitter(splits plan ddl)
hbase | base splitter | rpc(hbase filter)
model | base splitter hbase | encoding(encoding) question(question) job(event job) field(digits field) key(key)
hfile | base | hfile(hfile)
storage | base | storage(storage)
input | base model storage | files(source input object transcode magic block_codec) csv(csv marks) json(json json_paths json_walk) typed(spell spell_short flat typed) avro(avro avro_json avro_schema) arrow(arrow_batch arrow_schema) kafka(kafka messages message_columns) rows()
sort | base splitter | sort(sorter)
publish | base splitter model storage hfile input sort | staging(publish half_reports) verify()
load | base splitter model hbase storage hfile input publish sort | row(row) cut(cut) first_pass(pass describe_file) map_reduce(load) phases()
advise | base splitter model hbase input sort load | lint(lint) check(first_rows) plan(planning) init(yaml_text) infer() design(design)
read | base splitter model hbase storage hfile publish sort load | query(query) live() offline() diff(side) by_field(by_field) agree(field_sources) rewrite()
lib | base model hfile | lib(lib)
stream | base model input publish load | state(state) loads(stream)
deliver | base splitter model hbase storage hfile publish read stream | apply(apply journal staging_token) follow() move()
cli | base splitter model hbase storage hfile input publish load advise read stream deliver | text(reports answer progress_text metrics reference inspect report_views) html(page) command(commands)
endef

# header of a library: the files that may include it
define LIBRARIES
brotli/decode.h: base/late_brotlidec.c hfile/only_read.c
bzlib.h: base/late_bz2.c hfile/only_read.c input/files/block_codec.c input/files/unpack.c
csv.h: input/csv/csv.c model/job/section_map.c
curl/curl.h: base/late_curl.c input/kafka/broker_link.c input/kafka/registry.c storage/s3.h storage/webhdfs.h
gssapi/gssapi.h: base/late_gssapi_krb5.c base/login.c hbase/rpc/sasl.c
gssapi/gssapi_ext.h: base/late_gssapi_krb5.c base/login.c
iconv.h: model/job/section_source.c input/files/transcode.c advise/init/encoding_of.c advise/init/raw_lines.c
isa-l/crc.h: base/crc32c.c base/static_crc32.c
jansson.h: base/form_read.c base/form_seal.h storage/s3_metadata.c storage/webhdfs_answers.c cli/command/cmd_key.c cli/command/commands.c input/avro/avro_schema.c input/kafka/registry_schemas.c advise/init/json_forms.c advise/init/json_record.c advise/init/json_rows.c advise/init/prove_json.c model/job/json_schema.c
libdeflate.h: hfile/compress.c input/files/block_codec.c input/files/input.c cli/command/cmd_version.c
librdkafka/rdkafka.h: base/late_rdkafka.c input/kafka/kafka_client.h
lz4.h: cli/command/cmd_version.c hfile/compress.c
lz4frame.h: input/files/block_codec.c
lzma.h: hfile/only_read.c input/files/block_codec.c input/files/unpack.c
microhttpd.h: base/late_microhttpd.c cli/text/metrics.c
openssl/err.h: base/late_ssl.c hbase/rpc/tls.c
openssl/evp.h: base/late_crypto.c hfile/reader_extras.c
openssl/ssl.h: base/late_ssl.c hbase/rpc/tls.c
pcre2.h: base/pattern.c
snappy-c.h: base/late_snappy.c hfile/compress.c input/files/block_codec.c
uchardet/uchardet.h: base/late_uchardet.c advise/init/encoding_of.c
xxhash.h: include/hash.h base/static_xxhash_avx2.c model/job/job_files.c advise/lint/unique.c input/kafka/ranges.c input/kafka/replay.c splitter/frame.c advise/plan/planning.c
yaml.h: advise/design/queries.c model/job/tree.c
zlib.h: advise/infer/salts.c cli/command/cmd_version.c hfile/block.c input/files/input.c input/files/unpack.c
zstd.h: cli/command/cmd_version.c hfile/compress.c hfile/reader_extras.c hfile/sequences.c input/files/block_codec.c input/files/input.c load/map_reduce/pieces.c
endef
export WINGS LIBRARIES

FUZZER := $(FUZZ:tests/fuzz/fuzz_%.c=build/fuzz/%)
$(FUZZER): LDLIBS += $(LATE_LIBS)
$(FUZZER): build/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(LINKED:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	@echo '  LINK  $@'; $(CC) $(OPT_$(FLAVOR)) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)
## fuzz: run one target with libFuzzer: make fuzz T=name [SECS=60]
fuzz: all
	@$(SUB) FLAVOR=fuzz CC=clang build/fuzz/$(T)
	@tests/fuzz/fuzz.sh $(or $(SECS),60) $(T)
## fuzz-all: run every target for SECS=60 seconds; prints runs and findings of each
fuzz-all: all
	@$(SUB) FLAVOR=fuzz CC=clang $(FUZZER)
	@tests/fuzz/fuzz.sh $(or $(SECS),60) $(notdir $(FUZZER))
## fuzz-cover: print the lines that the inputs of a target reach, by file: make fuzz-cover T=name
fuzz-cover:
	@$(SUB) FLAVOR=cover CC=clang build/clang-cover/tests/fuzz/fuzz_$(T).replay
	@tests/fuzz/cover.sh $(T)
## house: measure the tree against its limits: doors, tags, uncalled functions, longest file, names of tests
house: $(ALL_C:%.c=$(B)/%.o) ; @python3 tests/house.py $(B)
## tidy: static analysis
tidy: ; clang-tidy --quiet $(filter-out build/%,$(LINKED)) $(CLI) -- $(STD) $(INC)
FORMATTED = $(SRC) $(PRELOAD) $(THREADS) $(HDR) $(sort $(wildcard tests/*/*.h))
## format: format the sources by .clang-format
format: ; @clang-format -i $(FORMATTED)
## format-check: check the format of the sources
format-check: ; @clang-format --dry-run -Werror $(FORMATTED)

## words: check that conf/README.md is what the program prints about the job file (update: make words-write)
words: $(B)/$(TOOL)
	@$(B)/$(TOOL) help job --format markdown | diff conf/README.md - || { echo 'conf/README.md: make words-write' >&2; exit 1; }
words-write: $(B)/$(TOOL) ; @$(B)/$(TOOL) help job --format markdown >conf/README.md

prefix ?= /usr/local
SHARE   = $(DESTDIR)$(prefix)/share
## install: install program, man pages, completions and examples to $(DESTDIR)$(prefix)
install: all lib
	@tests/install.sh $(B)/$(TOOL) $(DESTDIR)$(prefix)
	@tests/install_lib.sh build/gcc-lib $(VERSION) $(DESTDIR)$(prefix) $(prefix) '$(LDLIBS)'
## deb: build/saltmill_*.deb, a Debian package
deb: all ; @CC='$(CC)' tests/deb.sh $(B)/$(TOOL) $(VERSION) '$(LATE_LIBS)'
uninstall:
	rm -f $(DESTDIR)$(prefix)/bin/$(TOOL) $(SHARE)/man/man1/saltmill*.1 $(SHARE)/man/man5/saltmill-job.5 $(SHARE)/man/man7/saltmill-*.7
	rm -f $(SHARE)/bash-completion/completions/saltmill $(SHARE)/zsh/site-functions/_saltmill
	rm -f $(SHARE)/fish/vendor_completions.d/saltmill.fish
	rm -f $(DESTDIR)$(prefix)/include/saltmill.h $(DESTDIR)$(prefix)/lib/libsaltmill.* $(DESTDIR)$(prefix)/lib/pkgconfig/libsaltmill.pc $(SHARE)/man/man3/saltmill.3
	rm -rf $(SHARE)/doc/saltmill $(DESTDIR)$(prefix)/libexec/saltmill
## clean: remove everything built
clean: ; rm -rf build
## help: print this list
help: ; @sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))
.PHONY: s3-root s3-store strict-servers scan-metrics hfiles kills-s3 kills-rekey kills-secured name-service stream-logins lib abi abi-write spark-versions predictions tables systems simulate simulate-bugs mutants house kills sniffers sets shapes questions properties spark-test spark-scale demo-spark wheel worker deb words words-write where all deps deps-build check symbols objects unit-bins asan tsan test cli-test server-test same bench faults power demo headers layers fuzz fuzz-all fuzz-cover tidy format format-check install uninstall clean help soak worker demo-spark spark-test wheel
