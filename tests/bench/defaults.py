"""Part `defaults` compares `compression: auto`, which `init` writes, with ZSTD level 3 without encoding.

Four tables have short values: the ratings, the flights of `make demo`, and made-up orders and counters. The part measures
the bytes of their HFiles, the CPU seconds of load and scan, and those of HBase's own StoreScanner. callgrind counts the
instructions of a load of few ratings.
"""

import rig
from halves import instructions
from reading import Hbase
from rig import CACHE, ROOT, Failure, count, middle, ratios, remove, run, spread, summary, table

COUNTED = 4  # 100,000 ratings each, for callgrind
GOALS = {"ratings": 0.69, "flights": 0.47, "orders": 0.66, "counters": 0.67}  # bytes, of those with ZSTD level 3
PLAIN, AUTO = "{codec: ZSTD, framing: hbase}", "{codec: auto, framing: hbase}"


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
    flights = CACHE / "nycflights13" / "flights.csv"
    if not flights.exists():
        raise Failure(f"{flights} is missing: run `make demo`")
    return [Table(bench, "ratings", made.ratings(bench.times), bench.jobs.ratings()),
            Table(bench, "flights", flights, ROOT / "conf" / "flights.yaml", scanned=False),
            Table(bench, "orders", made.orders(20_000 * bench.times), bench.jobs.orders()),
            Table(bench, "counters", made.counters(10_000 * bench.times), bench.jobs.counters())]


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
    bench.mill.clear()
    table(f"`compression: auto` against ZSTD level 3 without encoding, CPU seconds; median of {bench.rounds} (min..max)",
          ["table", "bytes, ZSTD 3", "bytes, auto", "bytes", "load", "scan", "StoreScanner"], [t.line() for t in every])
    for t in every:
        bench.checks.at_most(f"bytes of {t.name}, of ZSTD 3", middle(t.of("bytes")), GOALS[t.name])
    counted = instructions_a_row(bench, every[0].jobs["auto"])
    bench.checks.at_most("scan of ratings, of ZSTD 3 (CPU)", middle(every[0].of("scan")), 0.7)
    bench.checks.at_most("StoreScanner over ratings, of ZSTD 3 (CPU)", middle(every[0].of("hbase")), 1.1)
    bench.checks.at_most("instructions a row of ratings", counted, 2500)
    return {**{t.name: {what: summary(t.of(what)) for what in ("bytes", "load", "scan", "hbase") if t.of(what)}
               for t in every}, "instructions": rig.count(counted)}
