"""Part (f) compares reads of published loads with a read of their blocks alone and with HBase's own StoreScanner.

    count     scan --quiet: rows and cells as HBase would answer, on one thread
    blocks    the same files, only read, decompressed and decoded (stages blocks)
    hbase     StoreScan.java: a StoreScanner a file; the best of its last rounds, compiled by then
    csv       scan --decode --format csv: all rows as fields
    get       one row by the fields of its key, and the same with files that are not in the page cache

The figures are CPU seconds, not wall time.
"""

import json
import os
import re
import subprocess

import rig
from rig import Failure, count, run, spread, summary

FOREVER = 2**63 - 1
JAVA_ROUNDS = 5


class Hbase:
    """Returns StoreScan.java and StoreGet.java, compiled."""

    def __init__(self, bench):
        self.work = bench.folder / "java-scan"
        self.lib = rig.CACHE / "bench-lib"
        if not self.lib.is_dir():
            raise Failure(f"{self.lib} is missing: run tests/deps.sh bench")
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / "hbase-site.xml").write_text(
            "<configuration><property><name>hbase.io.compress.zstd.codec</name>"
            "<value>org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec</value></property></configuration>\n")
        (self.work / "log4j.properties").write_text("log4j.rootLogger=ERROR\n")
        subprocess.run(["javac", "-nowarn", "-cp", f"{self.lib}/*", "-d", self.work,
                        rig.HERE / "StoreScan.java", rig.HERE / "StoreGet.java"], check=True)

    def _rounds(self, name, *arguments):
        r = run(["java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", f"{self.work}:{self.lib}/*",
                 f"org.apache.hadoop.hbase.regionserver.{name}", *arguments])
        return [json.loads(line) for line in r.out.splitlines()]

    def __call__(self, files):
        rounds = self._rounds("StoreScan", JAVA_ROUNDS, "f", 1, FOREVER, *files)
        return rounds[0]["rows"], rounds[0]["cells"], min(x["cpu"] for x in rounds[2:])

    def gets(self, files):
        """Returns gets, cells and the microseconds of a get from the block cache. The files are of one family."""
        rounds = self._rounds("StoreGet", 2 * JAVA_ROUNDS, files[0].parent.name, *files)
        return rounds[0]["gets"], rounds[0]["cells"], min(x["us"] for x in rounds[2:])


def scan(bench, job, *options):
    return run([bench.mill.program, "scan", job, bench.mill.out, *options])


def forget(paths):
    """Makes the kernel drop its cache of the files, so that the next reader goes to the disk."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)


def part(bench):
    csv, job = bench.inputs.ratings(bench.times), bench.jobs.ratings()
    loaded = bench.mill.load(job, [csv])
    files = bench.mill.hfiles()
    hbase = Hbase(bench)
    counts, blocks, peers, texts, gets, cold = [], [], [], [], [], []
    key = scan(bench, job, "--decode", "--format", "csv", "--limit", 1).out.splitlines()
    fields = [f"{n}={v}" for n, v in zip(key[0].split(","), key[1].split(","))][:3]
    for _ in range(bench.rounds):
        r = scan(bench, job, "--quiet")
        if r.out != f"{loaded.rows} rows, {loaded.cells} cells\n":
            raise Failure(f"{loaded.rows} rows were loaded, the scan says {r.out}")
        counts.append(r.cpu)
        blocks.append(json.loads(run([bench.stages, "blocks", *files]).out)["cpu"])
        rows, cells, seconds = hbase(files)
        if (rows, cells) != (loaded.rows, loaded.cells):
            raise Failure(f"HBase reads {rows} rows and {cells} cells of {loaded.rows} and {loaded.cells}")
        peers.append(seconds)
        out = bench.folder / "out" / "decoded.csv"
        r = run(["sh", "-c", 'exec "$@" >"$OUT"', "-", bench.mill.program, "scan", job, bench.mill.out, "--decode",
                 "--format", "csv"], env={"OUT": str(out)})
        texts.append(out.stat().st_size / r.cpu / 1e6)
        rig.remove(out)
        r = run([bench.mill.program, "get", job, bench.mill.out, *fields])
        gets.append(1000 * r.wall)
    for _ in range(5 * bench.rounds):
        forget(p for p in bench.mill.out.rglob("*") if p.is_file())
        cold.append(1000 * run([bench.mill.program, "get", job, bench.mill.out, *fields]).wall)
    why = subprocess.run([bench.mill.program, "get", job, bench.mill.out, *fields, "--explain"],
                         capture_output=True, text=True, check=True).stderr.splitlines()[-1]
    read = [int(n) for n in re.search(r"(\d+) of \d+ data blocks, (\d+) index, (\d+) bloom", why).groups()]
    bench.mill.clear()
    rig.table(f"(f) {count(loaded.rows)} rows read again, CPU seconds",
              ["what", "seconds"], [["scan --quiet", spread(counts, 2)], ["blocks alone", spread(blocks, 2)],
                                    ["HBase's StoreScanner", spread(peers, 2)],
                                    ["get, milliseconds", spread(gets, 1)],
                                    ["get from the disk, milliseconds", spread(cold, 1)]])
    c = bench.checks
    c.at_most("scan --quiet / its blocks alone (CPU)", rig.middle(rig.ratios(counts, blocks)), 1.3)
    c.at_least("HBase's StoreScanner / scan --quiet (CPU)", rig.middle(rig.ratios(peers, counts)), 2.5)
    c.at_least("rows decoded to CSV, MB/s a core", rig.middle(texts), 150)
    c.at_most("get of a row from a cold start, ms", rig.middle(cold), 10)
    c.at_most("get of a row, blocks read", sum(read), 4)
    return {"count": summary(counts), "blocks": summary(blocks), "hbase": summary(peers),
            "csv_mb_s": summary(texts), "get_ms": summary(gets),
            "cold_get_ms": summary(cold), "get_blocks": sum(read)}
