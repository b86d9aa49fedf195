"""Part (a) runs saltmill and other programs on the same rows, in turns.

    java      the compact MapReduce job of SaltedLoad.java with the best settings known for it
    cells     the same job in its usual form, a KeyValue a cell through the shuffle; once
    saltmill  conf/ratings.yaml: ZSTD level 3;  auto: the same with `compression: auto`;  speed: with `aim: speed`
    duckdb    read, make a key, sort, write Parquet with zstd
    sort      sort(1) of the lines;  zstd: zstd -3 of the file on one core

Only java and saltmill make HFiles. The script reads their files back and compares them. They must have equal rows, equal cells, and
an equal digest of everything except the salt.
"""

import json
import subprocess

import rig
from rig import CACHE, HERE, Failure, count, ratios, run, spread, summary

# We found the best settings by trial. Two tasks run at once, a split sorts in memory, and shuffled data stays in
# memory. The heap reuses its young generation, because fresh memory costs more than GC.
SETTINGS = {
    "mapreduce.task.io.sort.mb": 200,
    "mapreduce.map.sort.spill.percent": 0.98,
    "mapreduce.input.fileinputformat.split.maxsize": 20400000,
    "mapreduce.reduce.input.buffer.percent": 0.9,
    "mapreduce.reduce.shuffle.input.buffer.percent": 0.8,
    "mapreduce.task.io.sort.factor": 100,
}
HEAP = ["-Xmx3g", "-Xms3g", "-Xmn1200m", "-XX:+UseParallelGC"]
OPENS = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
    "java.lang", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.util",
    "java.util.concurrent", "java.io")] + ["--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"]
SITE = """\
<configuration><property>
<name>hbase.io.compress.zstd.codec</name>
<value>org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec</value>
</property></configuration>
"""
LOG4J = """\
log4j.rootLogger=ERROR, e
log4j.appender.e=org.apache.log4j.ConsoleAppender
log4j.appender.e.target=System.err
log4j.appender.e.layout=org.apache.log4j.PatternLayout
log4j.appender.e.layout.ConversionPattern=%p %c{1}: %m%n
"""


class Java:
    def __init__(self, folder, cores):
        self.work, self.out, self.cores = folder / "java", folder / "out" / "java", cores
        self.lib = CACHE / "bench-lib"
        if not self.lib.is_dir():
            raise Failure(f"{self.lib} is missing: run tests/deps.sh bench")
        remains = self.work / "tmp"
        rig.remove(remains)
        remains.mkdir(parents=True)
        (self.work / "hbase-site.xml").write_text(SITE)
        (self.work / "log4j.properties").write_text(LOG4J)
        subprocess.run(["javac", "-nowarn", "-cp", f"{self.lib}/*", "-d", self.work,
                        HERE / "SaltedLoad.java"], check=True)

    def __call__(self, csv, cells=False):
        rig.remove(self.out)
        tmp = self.work / "tmp"
        settings = {**SETTINGS, "hadoop.tmp.dir": tmp, "hbase.fs.tmp.dir": tmp / "staging",
                    "mapreduce.jobtracker.staging.root.dir": tmp / "staging",
                    "mapreduce.local.map.tasks.maximum": self.cores,
                    "mapreduce.local.reduce.tasks.maximum": self.cores,
                    "cells": str(cells).lower()}
        return run(["java", *OPENS, *HEAP, "-cp", f"{self.work}:{self.lib}/*", "SaltedLoad",
                    *(f"-D{k}={v}" for k, v in settings.items()), csv, self.out], cwd=self.work)

    def hfiles(self):
        return sorted(p for p in self.out.glob("f/*") if not p.name.startswith("."))


class Peers:
    def __init__(self, bench):
        self.bench, self.mill = bench, bench.mill
        self.out = bench.folder / "out"
        self.out.mkdir(exist_ok=True)
        self.java = Java(bench.folder, bench.cores)
        self.python = CACHE / "venv" / "bin" / "python"

    def _digest(self, files):
        """Returns rows, cells and digest of HFiles without the salt, which is the row key's first byte."""
        out = subprocess.run([self.bench.stages, "digest", "1", *files], check=True,
                             capture_output=True).stdout
        return json.loads(out)

    # each function runs a program and returns (run, files, bytes out)

    def run_java(self, csv, cells=False):
        r = self.java(csv, cells)
        result = r, self._digest(self.java.hfiles()), rig.size_of(self.java.out)
        rig.remove(self.java.out)
        return result

    def run_cells(self, csv):
        return self.run_java(csv, cells=True)

    def run_saltmill(self, csv, job=None):
        r = self.mill.load(job or self.bench.jobs.ratings(), [csv])
        wrote = self._digest(self.mill.hfiles())
        if (wrote["rows"], wrote["cells"]) != (r.rows, r.cells):
            raise Failure(f"saltmill says {r.rows} rows, {r.cells} cells; its files hold {wrote}")
        result = r, wrote, sum(f.stat().st_size for f in self.mill.hfiles())
        self.mill.clear()
        return result

    def run_auto(self, csv):
        return self.run_saltmill(csv, self.bench.jobs.auto())

    def run_speed(self, csv):
        return self.run_saltmill(csv, self.bench.jobs.auto("speed"))

    def run_duckdb(self, csv):
        out = self.out / "duck.parquet"
        rig.remove(out)
        r = run([self.python, HERE / "duck.py", "load", csv, out, self.bench.cores])
        rows = int(run([self.python, HERE / "duck.py", "count", out]).out)
        result = r, {"rows": rows, "cells": 2 * rows}, out.stat().st_size
        rig.remove(out)
        return result

    def run_sort(self, csv):
        out = self.out / "sorted"
        r = run(["sort", "-S", "4G", f"--parallel={self.bench.cores}", "-T", self.out,
                 "-o", out, csv], env={"LC_ALL": "C"})
        rows = rig.warm(out) - 1
        result = r, {"rows": rows, "cells": 2 * rows}, out.stat().st_size
        rig.remove(out)
        return result

    def run_zstd(self, csv):
        out = self.out / "csv.zst"
        r = run(["zstd", "-q", "-f", "-T1", "-3", "-o", out, csv])
        p = subprocess.run(["sh", "-c", 'zstd -dcq "$1" | wc -l', "-", out], check=True,
                           capture_output=True)
        rows = int(p.stdout) - 1
        result = r, {"rows": rows, "cells": 2 * rows}, out.stat().st_size
        rig.remove(out)
        return result

    # --- one data set ---

    def compare(self, name, csv):
        rows = self.bench.inputs.rows(csv)
        order = ["java", "saltmill", "duckdb", "auto", "speed", "sort", "zstd"]
        taken = {}
        digest = None
        for i in range(self.bench.rounds):
            for who in order + ["cells"] * (i == 0):
                result = getattr(self, "run_" + who)(csv)
                taken.setdefault(who, []).append(result)
                wrote = result[1]
                if (wrote["rows"], wrote["cells"]) != (rows, 2 * rows):
                    raise Failure(f"{who} wrote {wrote} of {rows} rows")
                digest = digest or wrote.get("digest")
                if wrote.get("digest", digest) != digest:
                    raise Failure(f"{who} wrote other cells than the Java job")
        self._print(name, csv, rows, taken)
        return self._summarise(name, csv, rows, taken, digest)

    def _print(self, name, csv, rows, taken):
        names = {"java": "Java, compact", "cells": "Java, a KeyValue a cell",
                 "saltmill": "saltmill", "auto": "saltmill, compression: auto", "speed": "saltmill, aim: speed",
                 "duckdb": "DuckDB, to Parquet", "sort": "sort, lines", "zstd": "zstd -3, one core"}
        size = csv.stat().st_size
        lines = []
        for who, results in taken.items():
            runs = [r for r, _, _ in results]
            wall = rig.middle([r.wall for r in runs])
            lines.append([names[who], spread(r.wall for r in runs), spread(r.cpu for r in runs),
                          f"{max(r.rss for r in runs):.0f}", count(rows / wall),
                          f"{size / 1e6 / wall:.0f}", count(results[-1][2])])
        rig.table(f"(a) {count(rows)} rows, {count(size)} bytes, {name}; median of "
                  f"{self.bench.rounds} (min..max)",
                  ["program", "wall s", "cpu s", "most MiB", "rows/s", "MB/s in", "bytes out"],
                  lines)

    def _summarise(self, name, csv, rows, taken, digest):
        wall = {who: [r.wall for r, _, _ in t] for who, t in taken.items()}
        cpu = {who: [r.cpu for r, _, _ in t] for who, t in taken.items()}
        lines, out = [], {}
        for us in ("saltmill", "auto", "speed"):
            for who in ("java", "cells", "duckdb", "sort", "zstd"):
                if us in wall and who in wall:
                    w, c = ratios(wall[who], wall[us]), ratios(cpu[who], cpu[us])
                    lines.append([f"{who} / {us}", spread(w), spread(c)])
                    out[f"{who}/{us}"] = {"wall": summary(w), "cpu": summary(c)}
        rig.table(f"(a) how many times as long, pair by pair, {name}", ["pair", "wall", "cpu"],
                  lines)
        self._check(name, out, taken)
        return {"rows": rows, "bytes": csv.stat().st_size, "digest": digest, "ratios": out,
                "runs": {who: [{**r.numbers(), "bytes_out": b} for r, _, b in t]
                         for who, t in taken.items()}}

    def _check(self, name, out, taken):
        c = self.bench.checks
        java, duck = out["java/saltmill"], out["duckdb/saltmill"]
        c.at_least(f"times as fast as Java, {name}", java["wall"]["median"], 8)
        c.at_least(f"times as fast as DuckDB, {name}", duck["wall"]["median"], 3)
        c.at_least(f"times less CPU than Java, {name}", java["cpu"]["median"], 8)
        c.at_most(f"MiB at the default budget, {name}",
                  max(r.rss for r, _, _ in taken["saltmill"]), 350)
        for us, than_java, than_duckdb in (("auto", 18, 6), ("speed", 22, 7)):
            c.at_least(f"{us}: times as fast as Java, {name}", out[f"java/{us}"]["wall"]["median"], than_java)
            c.at_least(f"{us}: times as fast as DuckDB, {name}", out[f"duckdb/{us}"]["wall"]["median"], than_duckdb)


def part(bench):
    peers = Peers(bench)
    times = bench.times
    return {"generated": peers.compare("rows as generated", bench.inputs.ratings(times)),
            "shuffled": peers.compare("rows shuffled", bench.inputs.shuffled(times))}
