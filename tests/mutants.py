#!/usr/bin/env python3
"""Measures how many mutants of the program the tests kill (make mutants [N=1000] [ARGS="--only sort --seed 2"]).

A mutant is the program with one small change in one file of sort, key, hfile, stream or deliver. The change is another
operator, another number, or a missing statement. The script compiles only the changed file, without optimization. It links
its object into the unit tests that use the file. A mutant of stream or deliver that survives is linked into the simulation.
A second round tries the mutants that survive this with slow unit tests and more histories of the simulation, and links them
into the program, for tests of the command line, Kafka and HBase. A test kills a mutant if it fails or runs too long, and
passes without the mutant.

If the optimized object has the same bytes as the original, the mutant is the same program and does not count. The
score is the share of the other mutants that tests kill. The script prints the survivors. KNOWN lists survivors that
nobody can observe, with the reason.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACES = {"sort": "pipeline/sort/*.c", "key": "pipeline/model/key/*.c", "hfile": "pipeline/hfile/*.c",
          "stream": "pipeline/stream/*/*.c", "deliver": "pipeline/deliver/*/*.c"}
SIMULATED = {"stream", "deliver"}
HISTORIES = [["--seeds", "tests/simulate/seeds.txt"], ["--first", "0:300"]]
MORE_HISTORIES = [["--first", "300:1500"]]  # only in the second round
# runs of tests for mutants that the unit tests and the simulation leave alive, by the beginning of the file; the cheapest first
SEEN = {
    "pipeline/model/key/": ["cli/test_key_parts.py cli/test_key_ranges.py cli/test_key.py", "cli/test_where.py cli/test_key_splits.py"],
    "pipeline/sort/": ["cli/test_load.py cli/test_random_loads.py cli/test_duplicates.py", "cli/test_halves.py cli/test_memory.py"],
    "pipeline/hfile/": ["cli/test_load.py cli/test_verify.py cli/test_damaged_hfiles.py cli/test_random_loads.py",
                        "cli/test_scan.py cli/test_older_hfiles.py cli/test_salvage.py cli/test_codecs.py", "cli/test_library.py"],
    "pipeline/stream/": ["cli/test_state.py", "kafka/test_topics.py kafka/test_parking.py kafka/test_damage.py",
                         "kafka/test_kafka.py kafka/test_chain.py", "kafka/test_share.py kafka/test_full_disk.py kafka/test_anchor.py"],
    "pipeline/deliver/apply/check_access.c": ["secure/test_secured.py"],
    "pipeline/deliver/apply/": ["cli/test_apply.py cli/test_apply_answers.py cli/test_tables.py",
                                "hbase/test_before_apply.py hbase/test_incarnation.py hbase/test_gently.py", "hbase/test_apply.py"],
    "pipeline/deliver/move/": ["hbase/test_offline.py::test_rekey_of_a_live_table"],
    "pipeline/deliver/follow/": ["cli/test_apply.py cli/test_apply_answers.py", "kafka/test_loads_in_hbase.py kafka/test_apply_stream.py"],
}
NOBODY = 65534  # a mutant may remove a wrong folder, so unit tests do not run as root; the simulation has its own disk
BUSY = 10  # a busy machine gives a process this share of its time
SLOWEST = 2.0  # seconds; slower unit tests run only if their name begins like the mutated file
NEAREST = 12  # unit tests of a file, at most
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=",
         "<<": ">>", ">>": "<<", "true": "false", "false": "true"}
BINARY = {"+": "-", "-": "+", "&": "|", "|": "&", "%": "/", "/": "*"}  # only between two operands
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*'
                   r'|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d[\w.]*|<<=|>>=|->|\+\+|--|[-+*/%&|^<>=!]=|<<|>>|&&|\|\||\S', re.S | re.M)
STATEMENT = re.compile(r"^\t+(?!return\b|break\b|continue\b|goto\b|case\b|default\b|else\b|do\b|(?:const |static |struct |enum |"
                       r"unsigned |size_t |u?int\w* |char |bool |double |long |void |FILE )[\w *]*[\w\]] ?[=;\[(,])"
                       r"[\w*(>.\[\]+-][^\n{}\"]*;$", re.M)
ROOM = re.compile(r"alloc\(|mem_grow\(|reserve\(")  # more memory than needed is no fault
FREED = re.compile(r"\s*(?:crash_at|\w*free|\w*_release|\w*_destroy|f?close\w*|\w+_close)\(")  # the sanitizers find leaks; crash_at waits for tests
# (file, line without blanks, change): why no test can see it
KNOWN = {
    ("pipeline/deliver/apply/journal.c", "size_t good = 0;", "0 -> 1"): "journal_read sets it first",
    ("pipeline/sort/run_reader.c", "size_t mid = lo + (hi - lo) / 2;", "2 -> 3"): "a search from another middle finds the same place",
    ("pipeline/hfile/block_decode.c", "rows, (unsigned long long)(body.len - 8 - n) / 4);", "4 -> 5"): "a figure of a message",
    ("pipeline/stream/state/lock.c", "if (l->fd < 0)", "0 -> 1"): "main opens descriptors 0 to 2 first, so a lock is never 0",
    ("pipeline/deliver/follow/lane.c", "l->opened_ms = clock_ms();", "statement left out"): "opens the same state more often",
    ("pipeline/deliver/apply/hand_call.c", "if (rc == RC_OK && found < g->n)", "< -> <="): "resolves no files",
    ("pipeline/stream/loads/seek.c", "struct state_view v = {.shared.lock_fd = -1};", "1 -> 2"): "any negative number is no descriptor",
    ("pipeline/sort/rank.c", "int64_t weight = (int64_t)(s->low + (s->high - s->low) / 2) + error;", "2 -> 3"):
        "another estimate, which probes correct",
    ("pipeline/sort/rank.c", "size_t chunk = far ? 1 : 1 + (q->ntargets - 1) / (8 * (size_t)threads);", "1 -> 2"):
        "other tasks with the same results",
    ("pipeline/sort/rank.c", "rc = n % STOP_CHECK_RECORDS == 0 ? stop_check(err) : RC_OK;", "0 -> 1"): "looks for a signal at another record",
    ("pipeline/deliver/apply/live_table.c", "struct hbase_attempts attempt = {0};", "0 -> 1"): "the first retry waits longer",
    ("pipeline/deliver/apply/live_cells.c", "struct hbase_attempts attempt = {0};", "0 -> 1"): "the first retry waits longer",
    ("pipeline/stream/loads/partitions.c",
     "struct share s = {.job = job, .opt = opt, .progress = progress, .last = -1};", "1 -> 2"): "no partition has a negative number",
    ("pipeline/stream/loads/partitions.c", "if (p->delay_ms > TRY_AGAIN_MS && clock_ms() >= p->say_ms) {", ">= -> >"):
        "reports a millisecond later",
    ("pipeline/stream/state/state.c", "bool used = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;", ">= -> >"):
        "main opens descriptors 0 to 2 first",
    ("pipeline/hfile/direct.c", "d->pause = d->pause < PAUSE_MOST ? 2 * d->pause + 1 : d->pause;", "2 -> 3"):
        "other blocks take the general path, which writes the same bytes",
    ("pipeline/sort/merge.c", "m->held_bytes = (nruns + 1) * (sizeof *m->cursors + sizeof *m->nodes);", "+ -> -"):
        "the budget counts a few bytes less for each run",
    ("pipeline/stream/state/lock.c", "ssize_t n = pread(l->fd, text, TEXT_BYTES - 1, 0);", "1 -> 2"): "no note is so long",
    ("pipeline/sort/merge.c", "if (__builtin_expect(payload >= 0x7f || shared > last_bytes ||", "> -> >="):
        "the general path takes the record",
    ("pipeline/deliver/apply/journal.c", "*j = (struct journal){.fd = -1};", "1 -> 2"): "any negative number is no descriptor",
    ("pipeline/sort/radix.c", "struct packed_key k = {0};", "0 -> 1"): "without a plan, all records have the same word",
    ("pipeline/deliver/apply/look_ahead.c", "for (size_t i = 0; i < a->ntables; i++)", "< -> <="):
        "the place after the last table has no files",
    ("pipeline/deliver/apply/copies.c", "*is = false;", "statement left out"): "objects have no ids, so the caller sets it to false",
    ("pipeline/sort/prefix.c", "if (secondary_bytes > 0)", "> -> >="): "appends nothing",
    ("pipeline/sort/rank.c", "return x.i == y.i && x.j == y.j && x.j - x.i <= NEAR(q->s->nruns);", "== -> !="):
        "other tasks with the same results",
    ("pipeline/hfile/diff_cells.c", "if (c->ts < 0 || (c->type != CELL_PUT && !cell_type_known(c->type)))", "0 -> 1"):
        "the general path reads the cell",
    ("pipeline/hfile/ring.c", "if (!wait && !helpers_done(w->opt.helpers, &r->first->task))", "! -> nothing"):
        "waits for other blocks, and writes them in the same order",
    ("pipeline/sort/rank.c", "(n + 1) * sizeof(size_t);", "1 -> 2"): "the budget counts eight bytes more",
    ("pipeline/deliver/follow/lane.c", "l->try_ms = 0;", "0 -> 1"): "no machine starts saltmill in its first millisecond",
    ("pipeline/deliver/apply/live_cells.c", "if (w->next.ts < w->oldest || cell_ttl_passed(&w->next, clock_wall_ms()))", "< -> <="):
        "a cell of the very millisecond in which apply reads the clock",
}

Mutant = collections.namedtuple("Mutant", "place file line change text")


def line_at(text, at):
    return text[text.rfind("\n", 0, at) + 1:text.find("\n", at)]


def mutants_of(place, path):
    """Yields the mutants of a file. Each has as many lines as the original."""
    text = path.read_text()
    file = str(path.relative_to(ROOT))
    depth, before = 0, ""

    def mutant(start, end, instead, change):
        return Mutant(place, file, text.count("\n", 0, start) + 1, change, text[:start] + instead + text[end:])

    for m in TOKEN.finditer(text):
        t = m[0]
        if t[0] in "/#\"'" and len(t) > 1 and t != "/=" or t.lstrip().startswith("#"):
            before = t if t[0] in "\"'" else before
            continue
        depth += (t == "{") - (t == "}")
        operand = bool(re.match(r"[\w)\]\"']", before[-1:])) and before not in ("return", "case", "sizeof")
        instead = OTHER.get(t) or (BINARY.get(t) if operand else None)
        if t == "!" and depth:
            instead = " "
        elif re.fullmatch(r"\d+", t) and before != "[" and depth and not ROOM.search(line_at(text, m.start())):
            instead = str(int(t) + 1)
        if instead and depth:
            yield mutant(m.start(), m.end(), instead, f"{t} -> {instead.strip() or 'nothing'}")
        before = t
    for m in STATEMENT.finditer(text):
        if m[0].count("(") == m[0].count(")") and not FREED.match(m[0]):
            yield mutant(m.start(), m.end(), re.sub(r"[^\n]", " ", m[0])[:-1] + ";", "statement left out")


@functools.lru_cache(None)
def command(flavor, source, target):
    """Returns the command by which make builds a target from a source."""
    lines = subprocess.run(["make", "-n", "-W", source, f"FLAVOR={flavor}", "CC=gcc", target], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.splitlines()
    return [line.split("; ", 1)[-1] for line in lines if f"-o {target} " in line][-1]


def object_of(flavor, file):
    return f"build/gcc-{flavor}/{file[:-2]}.o"


class Tests:
    """Knows the unit tests that use a file, and how long each runs."""

    def __init__(self, quick):
        self.quick = quick
        self.programs = sorted((ROOT / "build/gcc-dev/tests/unit").glob("test_*[a-z0-9]"))
        self.programs = [p for p in self.programs if p.suffix == ""]
        self.names = {p: self.symbols(p, "-g") for p in self.programs}
        one = self.programs[0].name
        link_one = command("dev", f"tests/unit/{one}.c", f"build/gcc-dev/tests/unit/{one}")
        self.links = {p: re.sub(rf"\b{one}\b", p.name, link_one) for p in self.programs}
        self.program = command("dev", "pipeline/cli/command/main.c", "build/gcc-dev/saltmill")
        self.simulation = command("release", "tests/simulate/main.c", "build/gcc-release/simulate")
        self.seconds, self.waits, self.plains, self.kills = {}, {}, {}, collections.Counter()
        python = pathlib.Path(os.environ.get("SALTMILL_CACHE") or pathlib.Path.home() / ".cache/saltmill") / "venv/bin/python"
        self.python = str(python) if python.exists() else None

    @staticmethod
    def symbols(path, *options):
        out = subprocess.run(["nm", *options, "--defined-only", path], capture_output=True, text=True, check=True).stdout
        return {line.split()[-1] for line in out.splitlines() if line[17:18] in "TBDRV"}

    def measure(self, files, places, pool):
        """Measures the tests that link one of the files. The script omits a test that fails without a mutant."""
        def one(p):
            used, made = [], p.stat().st_mtime
            if known.get(p.name, [0])[0] == made:
                return p, None, *known[p.name][1:]
            begin = time.monotonic()
            why = run([str(p)], 600, used=used)
            took = time.monotonic() - begin
            if not why:
                known[p.name] = [made, used[0], took]
            return p, why, used[0], took

        notes = ROOT / "build/mutants.json"  # how long each test runs
        known = json.loads(notes.read_text()) if notes.exists() else {}

        own = set().union(*(self.symbols(ROOT / object_of("dev", f), "-g") for f in files))
        self.programs = [p for p in self.programs if own & self.names[p]]
        for p, why, self.seconds[p], self.waits[p] in list(pool.map(one, self.programs)):
            if why:
                print(f"{p.name} fails without a mutant ({why}), and is left out", flush=True)
                self.programs.remove(p)
        notes.write_text(json.dumps(known))
        for histories in HISTORIES if self.quick else HISTORIES + MORE_HISTORIES:
            if SIMULATED & places and run([str(ROOT / "build/gcc-release/simulate"), *histories], 100, user=None):
                raise SystemExit("the simulation fails without a mutant")
        if not self.quick and not self.python:
            raise SystemExit("found no Python with pytest; enter `make deps`")

    def seen(self, tests, program):
        """Runs tests of the program, some with servers. Returns why they failed, or None."""
        with tempfile.TemporaryFile("w+") as out:
            why = run([self.python, "-m", "pytest", "-q", "-x", *(f"tests/{t}" for t in tests.split())], 1800,
                      {**os.environ, "SALTMILL": str(program)}, None, wall=1200, memory=24 << 30, out=out)
            out.seek(0)
            failed = re.search(r"^(?:FAILED|ERROR) (\S+)", out.read(), re.M)
        return f"{failed[1] if failed else tests}, {why}" if why else None

    @functools.lru_cache(None)
    def fail_anyway(self, tests):
        """Runs the tests with the program in another folder, as for a mutant."""
        with tempfile.TemporaryDirectory(prefix="saltmill-mutant-") as folder:
            why = self.seen(tests, shutil.copy(ROOT / "build/gcc-dev/saltmill", f"{folder}/program"))
        if why:
            print(f"{tests}: {why} without a mutant, and are left out", flush=True)
        return bool(why)

    def plain(self, file, folder):
        """Returns the optimized object of the original file."""
        if file not in self.plains:
            target = folder / "plain.o"
            if not compile_("dev", file, file, target, "-O2", "-g0"):
                raise SystemExit(f"{file} does not compile")
            self.plains[file] = target.read_bytes()
        return self.plains[file]

    def of(self, file):
        """Returns the tests that link the file, first those with the name of the file or its room."""
        own = self.symbols(ROOT / object_of("dev", file), "-g")
        parts = file[len("pipeline/"):-2].split("/")
        named, room = f"test_{parts[0]}_{parts[-1]}", f"test_{parts[0]}_"
        using = [p for p in self.programs if own & self.names[p]]
        using = [p for p in using if self.seconds[p] < SLOWEST or p.name.startswith(named)]
        using.sort(key=lambda p: (not p.name.startswith(named), not p.name.startswith(room), self.waits[p]))
        return sorted(using[:NEAREST], key=lambda p: (-self.kills[file, p], self.waits[p]))

    def slow(self, file):
        """Returns the other tests of the file's wing that link the file."""
        own, near = self.symbols(ROOT / object_of("dev", file), "-g"), self.of(file)
        wing = f"test_{file.split('/')[1]}_"
        return [p for p in self.programs if own & self.names[p] and p.name.startswith(wing) and p not in near]


def limits(seconds, memory):
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))


def run(args, seconds, env=None, user=NOBODY, used=None, wall=None, memory=8 << 30, out=subprocess.DEVNULL):
    """Returns why the program failed, or None. `seconds` limits the time of the processor, because the machine may be
    busy, and `wall` the time of the clock. Appends the time to `used`."""
    p = subprocess.Popen(args, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: limits(int(seconds) + 1, memory), env=env, user=user if os.geteuid() == 0 else None)
    late = threading.Timer(wall or 60 + BUSY * seconds, os.killpg, (p.pid, 9))  # a mutant may wait for ever
    late.start()
    _, status, spent = os.wait4(p.pid, 0)
    late.cancel()
    p.returncode = os.waitstatus_to_exitcode(status)
    try:
        os.killpg(p.pid, 9)  # also what the test started
    except ProcessLookupError:
        pass
    if used is not None:
        used.append(spent.ru_utime + spent.ru_stime)
    return f"status {p.returncode}" if p.returncode else None


def compile_(flavor, file, source, target, *options):
    """Compiles the mutated source of a file. Returns True if it compiles."""
    text = command(flavor, file, object_of(flavor, file))
    text = text.replace("-Werror", "").replace("-MMD -MP", "").replace(f"-o {object_of(flavor, file)} {file}", "")
    own = str(pathlib.Path(file).parent)
    return subprocess.run(["sh", "-c", f"{text} -w -iquote {own} {' '.join(options)} -o {target} {source}"], cwd=ROOT,
                          capture_output=True).returncode == 0


def link(line, flavor, file, mutated, target):
    if object_of(flavor, file) in line.split():
        line = line.replace(f" {object_of(flavor, file)} ", f" {mutated} ")
    else:
        line = line.replace(" build/gcc-dev/rooms.a ", f" {mutated} build/gcc-dev/rooms.a ")
    line = re.sub(r" -o \S+ ", f" -o {target} ", line, count=1)
    subprocess.run(["sh", "-c", f"{line} -Wl,--strip-debug"], cwd=ROOT, capture_output=True, check=True)


def simulate(tests, mutant, source, folder, histories):
    """Returns why the simulation failed, or "" if it did not."""
    if mutant.place not in SIMULATED:
        return ""
    compile_("release", mutant.file, source, folder / "sim.o")
    link(tests.simulation, "release", mutant.file, folder / "sim.o", folder / "simulate")
    for some in histories:
        why = run([str(folder / "simulate"), *some], 100, user=None)
        if why:
            return f"simulation, {why}"
    return ""


def judge(tests, mutant):
    """Runs the unit tests and the simulation. Returns (mutant, outcome, what killed it). The outcomes are killed, survived,
    same and invalid."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="saltmill-mutant-"))
    folder.chmod(0o755)
    try:
        source, obj, program = folder / pathlib.Path(mutant.file).name, folder / "mutant.o", folder / "program"
        source.write_text(mutant.text)
        if not compile_("dev", mutant.file, source, obj, "-O0", "-g0"):
            return mutant, "invalid", "does not compile"
        for test in tests.of(mutant.file):
            link(tests.links[test], "dev", mutant.file, obj, program)
            why = run([str(program)], 2 + 4 * tests.seconds[test])
            if why:
                tests.kills[mutant.file, test] += 1
                return mutant, "killed", f"{test.name}, {why}"
        if not compile_("dev", mutant.file, source, folder / "quick.o", "-O2", "-g0") or \
                (folder / "quick.o").read_bytes() == tests.plain(mutant.file, folder):
            return mutant, "same", "the same program"
        why = simulate(tests, mutant, source, folder, HISTORIES)
        return mutant, "killed" if why else "survived", why
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge_program(tests, mutant):
    """Runs more histories, slow unit tests and the tests of the program."""
    with tempfile.TemporaryDirectory(prefix="saltmill-mutant-") as made:
        folder = pathlib.Path(made)
        folder.chmod(0o755)
        source, obj, program = folder / pathlib.Path(mutant.file).name, folder / "mutant.o", folder / "program"
        source.write_text(mutant.text)
        why = simulate(tests, mutant, source, folder, MORE_HISTORIES)
        if why:
            return mutant, "killed", why
        compile_("dev", mutant.file, source, obj, "-O0", "-g0")
        for test in tests.slow(mutant.file):
            link(tests.links[test], "dev", mutant.file, obj, program)
            why = run([str(program)], 2 + 4 * tests.seconds[test])
            if why:
                return mutant, "killed", f"{test.name}, {why}"
        link(tests.program, "dev", mutant.file, obj, program)
        for some in [some for begin, runs in SEEN.items() for some in runs if mutant.file.startswith(begin)]:
            why = tests.seen(some, program)
            if why and not tests.fail_anyway(some):
                return mutant, "killed", why
    return mutant, "survived", ""


def print_score(score):
    for place, s in [*sorted(score.items()), ("all", sum(score.values(), collections.Counter()))]:
        judged = s["killed"] + s["survived"]
        print(f"{place}: {s['killed']} of {judged} mutants killed ({100 * s['killed'] / max(1, judged):.1f}%); "
              f"{s['same']} the same program, {s['known']} known, {s['invalid']} do not compile", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("-n", type=int, default=1000, help="mutants")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--only", choices=PLACES)
    args.add_argument("--jobs", type=int, default=os.cpu_count())
    args.add_argument("--verbose", action="store_true", help="print also mutants that are killed, and by what")
    args.add_argument("--quick", action="store_true", help="run only the unit tests and the simulation, for a lower bound of the score")
    args.add_argument("--at", help="FILE or FILE:LINE; all mutants there")
    args = args.parse_args()
    rng = random.Random(args.seed)
    everything = [m for place, pattern in PLACES.items() if args.only in (None, place)
                  for path in sorted(ROOT.glob(pattern)) for m in mutants_of(place, path)]
    if args.at:
        chosen = [m for m in everything if f"{m.file}:{m.line}".startswith(args.at) and
                  (":" not in args.at or f"{m.file}:{m.line}" == args.at)]
    else:
        # as many of each wing, whatever its size
        by_place = collections.defaultdict(list)
        for m in everything:
            by_place[m.place].append(m)
        share = -(-args.n // len(by_place))
        chosen = [m for ms in by_place.values() for m in rng.sample(ms, min(share, len(ms)))][:args.n]
        rng.shuffle(chosen)
    print(f"{len(everything)} mutants, {len(chosen)} chosen by seed {args.seed}", flush=True)
    tests = Tests(args.quick)
    score = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tests.measure({m.file for m in chosen}, {m.place for m in chosen}, pool)
        for round_ in [judge] if args.quick else [judge, judge_program]:
            alive = []
            for done in concurrent.futures.as_completed([pool.submit(round_, tests, m) for m in chosen]):
                mutant, outcome, why = done.result()
                line = (ROOT / mutant.file).read_text().splitlines()[mutant.line - 1].strip()
                reason = KNOWN.get((mutant.file, line, mutant.change)) if outcome == "survived" else None
                if outcome == "survived" and not reason:
                    alive.append(mutant)
                if round_ is judge_program:
                    score[mutant.place]["survived"] -= 1
                score[mutant.place]["known" if reason else outcome] += 1
                if args.verbose or outcome == "survived":
                    print(f"{outcome}: {mutant.file}:{mutant.line}: {mutant.change}: {line}   {reason or why}".rstrip(), flush=True)
            print_score(score)
            chosen = alive


if __name__ == "__main__":
    sys.exit(main())
