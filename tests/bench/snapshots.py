"""Part (n) reads a snapshot and compares tables of 10 million cells, without region servers.

    snapshot  A real HBase splits and compacts a table, and its client deletes from it, while HBase takes a snapshot.
              SnapshotScan.java reads it with HBase's TableSnapshotScanner; the best of its last rounds counts, in which
              Java has compiled the code. Of `scan --snapshot`, the whole process counts. Both count the cells; saltmill
              also prints them as lines of JSON.
    diff      Two loads differ in one cell. `diff` must find it, and read no more than the bytes of the files.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import types

import rig
from rig import Failure, count, run, spread, summary

sys.path.insert(0, str(rig.ROOT / "tests" / "hbase"))

from cluster import OPENS, Cluster, driver_classes, jars, stop  # noqa: E402  (needs the path above)

TABLE, SNAPSHOT = "ratings", "while_deleting"
AS_USUAL = {"hbase.hstore.bulkload.verify": "false"}
JAVA_ROUNDS = 4
MILLIONS_OF_CELLS = 10
DELETED = 200  # rows that the client deletes in a call


class Deletes(threading.Thread):
    """Deletes rows of every region until it is stopped, again from the first one after the last one."""

    def __init__(self, hbase):
        super().__init__(daemon=True)
        starts = [f"{salt:02x}" for salt in range(16)]
        self.rows = [row.split("\t")[0] for start in starts for row in hbase.scan(TABLE, start=start, limit=1000)]
        self.hbase = copy.copy(hbase)
        self.hbase.driver = None  # the first call starts another client
        self.going, self.deleted, self.error = True, 0, None

    def run(self):
        try:
            while self.going:
                at = self.deleted % len(self.rows)
                some = self.rows[at:at + DELETED]
                self.hbase.call("mutate", table=TABLE, mutations=[["DeleteFamily", row, "f", "", None, ""] for row in some])
                self.deleted += len(some)
                time.sleep(0.1)
        except Exception as e:  # pylint: disable=broad-exception-caught
            self.error = e
        stop(self.hbase.driver)


def shell(hbase, folder, *lines):
    (folder / "lines.rb").write_text("\n".join(lines) + "\n")
    hbase.run_script(folder / "lines.rb")


def make_snapshot(bench, hbase, folder):
    """Makes the table and its snapshot. Returns the number of deletes that had an answer before the snapshot."""
    run([bench.mill.program, "apply", bench.mill.out, "--hbase", hbase.master, "--create", "--quiet"])
    pathlib.Path(f"{bench.mill.out}.saltmill-apply").unlink(missing_ok=True)
    deletes = Deletes(hbase)
    deletes.start()
    while not deletes.deleted and deletes.is_alive():
        time.sleep(0.1)
    shell(hbase, folder, f"flush '{TABLE}'", f"major_compact '{TABLE}'")
    hbase.split(TABLE, bytes.fromhex(deletes.rows[700]))
    before = deletes.deleted
    shell(hbase, folder, f"snapshot '{TABLE}', '{SNAPSHOT}'")
    deletes.going, after = False, deletes.deleted
    deletes.join()
    if deletes.error or after == before:
        raise Failure(f"the client deleted {before} rows before the snapshot and {after} at its end: {deletes.error}")
    return before


class Java:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        (folder / "hbase-site.xml").write_text(
            "<configuration><property><name>hbase.io.compress.zstd.codec</name>"
            "<value>org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec</value></property></configuration>\n")
        self.classes = driver_classes(rig.HERE / "SnapshotScan.java")

    def __call__(self):
        path = ":".join([self.classes, str(self.folder), *jars()])
        r = run(["java", *OPENS, "-Xmx2g", "-cp", path, "SnapshotScan", JAVA_ROUNDS, f"file:{self.root}", SNAPSHOT,
                 f"file:{self.folder}/restored"])
        rounds = [json.loads(line) for line in r.out.splitlines() if line.startswith("{")]
        if len({(x["rows"], x["cells"]) for x in rounds}) != 1:
            raise Failure(f"HBase reads {rounds}")
        wall, cpu = (min(x[k] for x in rounds[2:]) for k in ("seconds", "cpu"))
        return rounds[0]["rows"], rounds[0]["cells"], types.SimpleNamespace(wall=wall, cpu=cpu)


def scan(bench, uri, *options):
    return run([bench.mill.program, "scan", "--snapshot", uri, "--quiet", *options])


def print_all(bench, uri):
    return run(["sh", "-c", '"$@" >/dev/null', "-", bench.mill.program, "scan", "--snapshot", uri, "--format", "jsonl"])


def read_snapshot(bench, folder):
    with Cluster(folder / "hbase", None, 2, AS_USUAL) as hbase:
        deleted = make_snapshot(bench, hbase, folder)
        root = hbase.folder / "data" / "root"
        hbase.kill()
        uri, java = root / ".hbase-snapshot" / SNAPSHOT, Java(root, folder)
        all_cores, one, printed, others = [], [], [], []
        for _ in range(bench.rounds):
            rows, cells, best = java()
            others.append(best)
            for runs, options in ((all_cores, ()), (one, ("--threads", 1))):
                r = scan(bench, uri, *options)
                if r.out != f"{rows} rows, {cells} cells\n":
                    raise Failure(f"HBase reads {rows} rows and {cells} cells, the scan says {r.out}")
                runs.append(r)
            printed.append(print_all(bench, uri))
    return rows, cells, deleted, all_cores, one, printed, others


def change_one(csv, changed):
    """Copies the file, and changes the rating in a row in its middle."""
    middle, done = csv.stat().st_size // 2, False
    with open(csv, "rb") as f, open(changed, "wb") as out:
        at = 0
        for line in f:
            at += len(line)
            if not done and at > middle:
                user, movie, _, when = line.split(b",")
                line, done = b",".join([user, movie, b"9.5", when]), True
            out.write(line)
    return changed


def compare(program, a, b):
    """Runs diff. Returns wall seconds, MiB, the bytes that it read, and its report."""
    began = time.perf_counter()
    p = subprocess.Popen([program, "diff", a, b, "--json"], stdout=subprocess.PIPE)
    os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
    wall = time.perf_counter() - began
    read = int(pathlib.Path(f"/proc/{p.pid}/io").read_text().split()[1])
    report = json.loads(p.stdout.read())
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return wall, usage.ru_maxrss / 1024, read, report


def find_change(bench, csv, job):
    other = rig.Saltmill(bench.mill.program, bench.folder)
    other.out = bench.folder / "out" / "changed"
    changed = change_one(csv, bench.folder / "data" / "changed.csv")
    other.load(job, [changed])
    rig.remove(changed)
    walls, peaks, reads = [], [], []
    for _ in range(bench.rounds):
        wall, peak, read, report = compare(bench.mill.program, bench.mill.out, other.out)
        first = report["first"]
        if report["equal"] or len(first) != 1 or (first[0]["difference"], first[0]["value_b"]) != ("value", "9.5"):
            raise Failure(f"one cell was changed, diff reports {report}")
        walls.append(wall)
        peaks.append(peak)
        reads.append(read)
    stored = sum(f.stat().st_size for f in [*bench.mill.hfiles(), *other.hfiles()])
    other.clear()
    return walls, peaks, reads, stored


def part(bench):
    csv, job = bench.inputs.ratings((bench.millions or MILLIONS_OF_CELLS // 2) * 10), bench.jobs.ratings()
    loaded = bench.mill.load(job, [csv])
    walls, peaks, reads, stored = find_change(bench, csv, job)
    with tempfile.TemporaryDirectory(prefix="saltmill-bench-") as name:
        rows, cells, deleted, all_cores, one, printed, others = read_snapshot(bench, pathlib.Path(name))
    bench.mill.clear()
    lines = {"scan --snapshot": all_cores, "the same, one thread": one, "all cells as lines of JSON": printed,
             "TableSnapshotScanner": others}
    rig.table(f"(n) a snapshot of {count(cells)} cells in {count(rows)} rows, after {count(deleted)} deletes",
              ["what", "s", "CPU s"], [[what, spread([r.wall for r in runs]), spread([r.cpu for r in runs])]
                                       for what, runs in lines.items()])
    rig.table(f"diff of two loads of {count(loaded.cells)} cells with one changed cell", ["what", ""],
              [["seconds", spread(walls)], ["peak MiB", spread(peaks, 0)],
               ["bytes read / bytes of both", f"{rig.middle(reads) / stored:.3f}"]])
    c = bench.checks
    for what in ("wall", "cpu"):
        ratio = rig.ratios([getattr(r, what) for r in others], [getattr(r, what) for r in all_cores])
        c.at_least(f"TableSnapshotScanner / scan --snapshot ({what})", rig.middle(ratio), 3)
    c.at_most("diff of one changed cell, bytes read / bytes stored", rig.middle(reads) / stored, 1)
    figures = {f"{what}, {kind} s": summary([getattr(r, kind) for r in runs]) for what, runs in lines.items() for kind in ("wall", "cpu")}
    return figures | {"cells": cells, "diff_s": summary(walls), "diff_mib": summary(peaks), "diff_read": max(reads), "stored": stored}
