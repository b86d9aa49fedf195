"""Moves a live table to other row keys with `saltmill rekey --hbase`, and kills rekey at random moments.

make kills-rekey [ARGS="--kills 10 --writes 500 --seed 1 --without-compactions"]

HBase's own client writes the old table all the time: puts, delete markers of all kinds and increments, with the
server's timestamps. Compactions are on, and a region is split. After the kills, the writer stops, and `--finish` makes
the last round and the proof, with three more kills, two of them inside the proof. Then HBase's client scans both tables,
all versions. Python computes the new row key of each old row. HBase must have no snapshot of rekey, and HDFS no uploaded
file.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cluster import Cluster  # noqa: E402  (needs the path above)
from hdfs import Hdfs  # noqa: E402
from oracle import murmur3_32, u32  # noqa: E402

USERS, VISITS = 3000, 4
BATCH = 250  # mutations of a call, because a busy machine takes a second for it
LATE = 3  # kills during --finish, of which the last may come too late
LAST, PROOF = 0.3, 0.5  # seconds of the last round and of the proof in which a kill falls, at most
WAIT = 600  # seconds for a run
STEPS = ["snapshot", "taken", "jobs", "moved", "removed"]
JOB = """\
source: {{csv: {{files: [none.csv]}}}}
fields: {{user: {{type: u32}}, visit: {{type: u32}}}}
tables:
  - name: {name}
    rowkey: [{key}]
    timestamp: 0
    families:
      f: {{versions: 3, compression: ZSTD}}
      n: {{other_load: true, versions: 1}}
    cells: [{{family: f, qualifier: a, value: user}}]
    regions: {{split: sampled, count: 6}}
"""
OLD = "{field: user, as: u32}, {field: visit, as: u32}"
NEW = "{salt: 8, of: [user]}, {field: user, as: descending_u32}, {field: visit, as: u32}"


def new_key(row):
    user, visit = struct.unpack(">II", row)
    descending = u32(user ^ 0xffffffff)  # the salt is that of the bytes in the key
    return bytes([murmur3_32(descending) % 8]) + descending + u32(visit)


class Writer(threading.Thread):
    """Writes at a rate until it is stopped."""

    def __init__(self, hbase, rng, rate):
        super().__init__(daemon=True)
        self.hbase, self.rng, self.rate = hbase, rng, rate
        self.going, self.error, self.count, self.seconds = True, None, collections.Counter(), 0.0

    def mutation(self):
        kind = self.rng.choices(["Put", "Increment", "Delete", "DeleteColumn", "DeleteFamily"], [60, 28, 6, 4, 2])[0]
        self.count[kind] += 1
        row = (u32(self.rng.randrange(USERS)) + u32(self.rng.randrange(VISITS))).hex()
        family, qualifier = ("n", b"count") if kind == "Increment" or self.rng.random() < 0.1 else ("f", self.rng.choice([b"a", b"b", b""]))
        if family == "n" and kind == "Put":
            family, qualifier = "f", b"c"
        return [kind, row, family, qualifier.hex(), None, self.rng.randbytes(20).hex()]

    def run(self):
        began = time.monotonic()
        try:
            while self.going:
                self.hbase.call("mutate", table="visits", batch=True, mutations=[self.mutation() for _ in range(BATCH)])
                self.seconds = time.monotonic() - began
                time.sleep(max(0.0, sum(self.count.values()) / self.rate - self.seconds))
        except Exception as e:  # pylint: disable=broad-exception-caught
            self.error = e

    def stop(self):
        self.going = False
        self.join()
        if self.error:
            raise self.error


class Move:
    """Runs of rekey, some of which are killed."""

    def __init__(self, saltmill, folder, hbase, hdfs, rng):
        self.args = [saltmill, "rekey", folder / "old.yaml", folder / "new.yaml", "--hbase", hbase.master, "-o", folder / "move",
                     "--webhdfs", f"127.0.0.1:{hdfs.http_port}", "--upload", f"{hdfs.fs}/bulk", "--round", "1s"]
        self.journal, self.rng, self.folder = folder / "move" / "journal", rng, folder
        self.kills, self.ended, self.usual = [], 0, 6.0

    def start(self, *more, crash=""):
        log = open(self.folder / "rekey.log", "a", encoding="utf-8")  # pylint: disable=consider-using-with
        with log:
            return subprocess.Popen([*map(str, self.args), *more], stdout=log, stderr=log, env={**os.environ, "SALTMILL_CRASH_AT": crash})

    def lines(self):
        text = self.journal.read_text(errors="replace") if self.journal.exists() else ""
        return [line.split() for line in text.splitlines()]

    def words(self):
        """Returns the steps of the journal."""
        return [words[0] for words in self.lines()]

    def step(self):
        return (self.words() or ["nothing"])[-1]

    def run(self, *more):
        """Runs to the end. Returns the status."""
        return self.start(*more).wait(WAIT)

    def wait_for_moment(self, process):
        """Waits for a random time, or for a random step and up to a second more. Raises TimeoutExpired if the run goes on."""
        if self.rng.random() < 0.4:
            return process.wait(self.rng.uniform(0.05, self.usual))
        word, before = self.rng.choice(STEPS), self.words()
        deadline = time.monotonic() + WAIT
        while process.poll() is None and time.monotonic() < deadline and word not in self.words()[len(before):]:
            time.sleep(0.002)
        return process.wait(self.rng.random() ** 2)

    def in_proof(self):
        """Returns True from the snapshot of the new table to the result of the comparison."""
        lines = self.lines()
        new = [words[2] for words in lines if words[:2] == ["snapshot", "0"]]
        return bool(new) and lines[-1][:2] == ["taken", new[0]]

    def wait_until(self, process, happened, seconds):
        deadline = time.monotonic() + WAIT
        while process.poll() is None and time.monotonic() < deadline and not happened():
            time.sleep(0.002)
        return process.wait(self.rng.random() * seconds)

    def crash_in_proof(self):
        """Kills a run of --finish between the sums of both tables."""
        status = self.start("--finish", crash="rekey-summed").wait(WAIT)
        assert status == -signal.SIGKILL and self.in_proof(), (status, self.step())
        self.kills.append("proof")
        print(f"kill {len(self.kills)} between the sums of the proof", flush=True)

    def kill_one(self, *more, wait=None, statuses=(0,)):
        """Returns False if the run ended before its kill. `wait` waits for the moment of the kill."""
        process, began = self.start(*more), time.monotonic()
        try:
            status = (wait or self.wait_for_moment)(process)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.kills.append("proof" if self.in_proof() else self.step())
            print(f"kill {len(self.kills)} after {time.monotonic() - began:.2f} s, last step: {self.kills[-1]}", flush=True)
            return True
        if status not in statuses:
            raise AssertionError(f"rekey ended with {status}\n" + (self.folder / "rekey.log").read_text()[-3000:])
        self.ended += 1
        self.usual = max(0.5, time.monotonic() - began)
        return False


def scan(hbase, table, folder):
    """Returns {row: cells} of all versions, as the Java client prints them."""
    hbase.scan(table, versions=1000, out=str(folder / "scan"))
    lines = (line.split("\t") for line in (folder / "scan").read_text().splitlines())
    return {bytes.fromhex(row): cells for row, *cells in lines}


def check(hbase, hdfs, folder):
    old, new = scan(hbase, "visits", folder), scan(hbase, "visits_new", folder)
    expected = {new_key(row): cells for row, cells in old.items()}
    bad = [r for r in expected.keys() | new.keys() if expected.get(r) != new.get(r)]
    assert not bad, (len(bad), [(r.hex(), expected.get(r), new.get(r)) for r in bad[:3]])
    snapshots = [p for p in hdfs.tree("/hbase/.hbase-snapshot") if "saltmill" in p]
    uploads = [p for p in hdfs.tree("/bulk") if "saltmill" in p]
    assert not snapshots and not uploads, (snapshots, uploads)
    return len(new), sum(map(len, new.values()))


def finish(move):
    """Kills runs of --finish, and runs it to its end. Returns the report."""
    assert move.kill_one("--finish", wait=lambda run: move.wait_until(run, lambda: "last" in move.words(), LAST))
    move.crash_in_proof()
    move.kill_one("--finish", wait=lambda run: move.wait_until(run, move.in_proof, PROOF), statuses=(0, 1))
    status = move.run("--finish")
    if status:
        print((move.folder / "rekey.log").read_text().splitlines()[-1], flush=True)
        status = move.run("--finish", "--repair")
    assert status == 0, (move.folder / "rekey.log").read_text()[-3000:]
    done = subprocess.run([*map(str, move.args), "--json"], capture_output=True, text=True, check=True, timeout=WAIT)
    return json.loads(done.stdout)


def campaign(o, folder, hdfs, hbase):
    rng = random.Random(o.seed)
    for name, table, key in (("old", "visits", OLD), ("new", "visits_new", NEW)):
        (folder / f"{name}.yaml").write_text(JOB.format(name=table, key=key))
    script = folder / "create.rb"
    script.write_text("create 'visits', {NAME => 'f', VERSIONS => 3, COMPRESSION => 'ZSTD'}, {NAME => 'n'}, "
                      f"{{SPLITS => [\"{''.join(f'{chr(92)}x{b:02x}' for b in u32(USERS // 2))}\"]}}\n")
    if o.without_compactions:
        script.write_text(script.read_text() + "compaction_switch false\n")
    hbase.run_script(script)
    writer, move = Writer(hbase, rng, o.writes), Move(o.saltmill, folder, hbase, hdfs, random.Random(o.seed + 1))
    writer.start()
    time.sleep(5)
    while len(move.kills) < o.kills - LATE:
        move.kill_one()
    assert move.run() == 0, (folder / "rekey.log").read_text()[-3000:]
    writer.stop()
    report = finish(move)
    rows, cells = check(hbase, hdfs, folder)
    writes = sum(writer.count.values())
    print(f"{len(move.kills)} kills (seed {o.seed}), after the steps {dict(collections.Counter(move.kills))}; "
          f"{move.ended + 3} runs ended\n"
          f"{writes} writes in {writer.seconds:.0f} s, {writes / writer.seconds:.0f} a second: {dict(writer.count)}\n"
          f"{report['rounds']} rounds wrote {report['cells']} cells, the last one {report['last_cells']} in {report['last_ms']} ms; "
          f"repaired {report['repaired']}\n"
          f"the new table equals the old one by the Java client: {rows} rows, {cells} cells", flush=True)
    assert report["proved"] == cells, report
    assert not o.without_compactions or not report["repaired"], report


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=10)
    options.add_argument("--writes", type=int, default=500, help="a second")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--without-compactions", action="store_true")
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    o.saltmill = pathlib.Path(o.saltmill).resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # end the servers, too
    with tempfile.TemporaryDirectory(prefix="saltmill-kills-rekey-") as name:
        folder = pathlib.Path(name)
        with Hdfs(folder / "hdfs") as hdfs:
            hdfs.make_dirs("/bulk", "1777")
            with Cluster(folder / "hbase", hdfs.fs, region_servers=2) as hbase:
                campaign(o, folder, hdfs, hbase)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
