#!/usr/bin/env python3
"""Loads events from a real Kafka into a real HBase on HDFS, with kills on both sides (make soak ARGS=hbase
[EVENTS=1000000]).

`saltmill stream --apply` does all the work and creates the table. The first half of the events arrives without
faults, to measure how long an event takes to be visible. Then the script kills saltmill (-9) at random moments. The script also kills HBase (ZooKeeper, master and both region servers at once), or stops it for some seconds. At the end HBase's own
client scans the table, and the script compares the result with the messages that Kafka's own client reads. The output also has
the time from the beginning of each fault until a later event was visible. The last line has the figures.
"""

import bisect
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "hbase")]

from broker import Broker  # noqa: E402  (needs the path above)
from cluster import Cluster  # noqa: E402
from hdfs import Hdfs  # noqa: E402
from oracle import Cells  # noqa: E402

PARTITIONS = 4
KEEP = 3
SETTLE_SECONDS = 600
ROLL_SECONDS = 2  # of the million
ROUGH = 0.5  # of its rate during faults, so that events arrive until the last fault
BATCHES = 4  # a second
LAST = 10  # events after all faults
SETTINGS = {"zookeeper.session.timeout": 10000,  # of killed servers
            "hbase.master.wait.on.regionservers.mintostart": 2, "hbase.master.wait.on.regionservers.maxtostart": 2,
            "hbase.master.wait.on.regionservers.interval": 300}
QUICK = ["-XX:TieredStopAtLevel=1"]  # the compilers of a JVM with a short life would take a core
USER = "ann"  # not a superuser of HDFS
JOB = """\
source:
  kafka:
    brokers: {brokers}
    topic: {topic}
    format: json
    group: {topic}
    start: earliest
    roll: {{time: {roll}s}}
    {more}
fields:
  ts: {{type: time, unit: ms, from: $timestamp}}
tables:
  - name: {table}
    rowkey: [{{field: $partition, as: text, terminator: '-'}}, {{field: $offset, as: text}}]
    timestamp: ts
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: file, file: keys.txt}}
"""


class Failure(Exception):
    """An error that no fault explains."""


class Fault(NamedTuple):
    name: str
    began: float  # ms, like the events' timestamps


def share(sorted_values, percent):
    return sorted_values[min(len(sorted_values) - 1, len(sorted_values) * percent // 100)] if sorted_values else 0.0


class Campaign:
    """Loads one topic into one table. where(Campaign).run() returns the differences, [] if there are none."""

    def __init__(self, saltmill, kafka, hbase, hdfs, folder, table, seed, roll=1, more=""):
        self.saltmill, self.kafka, self.hbase, self.folder, self.table = saltmill, kafka, hbase, folder, table
        self.chance, self.roll = random.Random(seed), roll
        folder.mkdir(exist_ok=True)
        (folder / "keys.txt").write_text("1-\n2-\n3-\n")
        self.job, self.state = folder / "job.yaml", folder / "state"
        self.job.write_text(JOB.format(brokers=kafka.brokers, topic=table, table=table, roll=roll,
                                       more=more))
        self.upload = hdfs.url(f"/bulk/{USER}") if hdfs else None
        self.log = open(folder / "stream.log", "w+", encoding="utf-8")
        self.faults = []
        self.process, self.sent = None, 0
        kafka.create(table, PARTITIONS)

    # --- the program ---

    def command(self, *more):
        upload = ["--user", USER, "--upload", self.upload] if self.upload else []
        return [self.saltmill, "stream", self.job, "--state", self.state, "--memory", "64M", "--quiet", "--create",
                "--apply", self.hbase.master, *upload, *more]

    def start(self):
        self.process = subprocess.Popen(self.command("--keep", str(KEEP), "--json"), stdout=self.log, stderr=self.log)

    def said(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text(encoding="utf-8")[-3000:]

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"the stream ended with {self.process.returncode}:\n{self.said()}")

    def ask(self, command):
        done = subprocess.run([self.saltmill, command, "--state", self.state, "--json"], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise Failure(f"{command}: {done.returncode} {done.stderr}{done.stdout[-500:]}")
        return [json.loads(line) for line in done.stdout.splitlines()] if command == "loads" else json.loads(done.stdout)

    def loads(self):
        return [l for l in self.ask("loads") if not l["seek"]]

    # --- events ---

    def produce(self, count, rate):
        """Produces events on schedule, with the current time as their timestamp. Some are in aborted transactions and do not count."""
        begin = time.monotonic()
        first = self.sent
        while self.sent < first + count:
            due = int((time.monotonic() - begin) * rate) - (self.sent - first)
            if due < min(rate / BATCHES, first + count - self.sent):
                time.sleep(0.5 / BATCHES)
                continue
            n, at = min(due, first + count - self.sent), int(time.time() * 1000)
            batch = [(self.chance.randrange(PARTITIONS), None, b'{"v":"x%d"}' % (self.sent + i), at) for i in range(n)]
            self.kafka.feed(self.table, batch, "lz4")
            if self.chance.random() < 0.1:
                self.kafka.feed(self.table, batch[:20], "none", transaction=self.table)
            self.sent += n

    # --- faults ---

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.start()

    def stop_hbase(self):
        self.hbase.server.send_signal(signal.SIGSTOP)
        time.sleep(self.chance.uniform(1, 4))
        self.hbase.server.send_signal(signal.SIGCONT)

    def kill_hbase(self):
        self.hbase.kill()
        time.sleep(self.chance.uniform(0, 3))
        self.hbase.restart()

    def fault(self, name, act):
        self.faults.append(Fault(name, time.time() * 1000))
        act()

    # --- the end ---

    def settle(self):
        """Checks that without further faults, all events are in HBase in time."""
        self.kafka.settle(self.table)
        ends = [high for _, high in self.kafka.ends(self.table)]
        end = time.monotonic() + SETTLE_SECONDS
        while True:
            self.check_alive()
            with contextlib.suppress(Failure):  # the follower may remove a load at this moment
                status = self.ask("status")
                if [p["offset"] for p in status.get("positions", [])] == ends and all(l["loaded"] for l in self.loads()):
                    return
            if time.monotonic() > end:
                raise Failure(f"not settled, {status}:\n{self.said()}")
            time.sleep(0.3)

    def finish(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(30):
            raise Failure(f"ended with {self.process.returncode}:\n{self.said()}")

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def check_loads(self):
        """Checks that the ranges touch, that each load went into the same cluster, and that only the folders of --keep remain."""
        loads, at, applied = self.loads(), {}, 0
        for l in loads:
            assert l["loaded"] and l["applied_to"] and l["applied_ms"] >= l["published_ms"] >= applied - 10, l
            applied = l["published_ms"]
            for r in l["offsets"]:
                assert at.get(r["partition"], 0) == r["start"], l
                at[r["partition"]] = r["end"]
        times = [l["applied_ms"] for l in loads]
        assert times == sorted(times), "loads were not applied in order"
        assert len({l["applied_to"] for l in loads}) == 1
        left = sorted(p.name for p in (self.state / "published").iterdir())
        kept = [l["load"] for l in loads[-KEEP:]]
        assert left == sorted(kept + [f"{name}.saltmill-apply" for name in kept]), left
        return loads

    @staticmethod
    def times_seen(loads, records):
        """Returns [(timestamp, time of its load's mark)] of all events, sorted, in ms."""
        ranges = collections.defaultdict(list)
        for l in loads:
            for r in l["offsets"]:
                ranges[r["partition"]].append((r["end"], l["applied_ms"]))
        seen, at = [], collections.Counter()
        for (partition, offset), (_, _, ts) in sorted(records.items()):
            while ranges[partition][at[partition]][0] <= offset:
                at[partition] += 1
            seen.append((ts, ranges[partition][at[partition]][1]))
        return sorted(seen)

    def served_again(self, seen):
        """Returns {name: seconds} from the beginning of each fault until a later event was visible, sorted."""
        first, times = [], collections.defaultdict(list)
        for _, at in reversed(seen):
            first.append(min(at, first[-1] if first else at))
        first.reverse()
        for fault in self.faults:
            i = bisect.bisect_left(seen, (fault.began, 0))
            if i < len(seen):
                times[fault.name].append((first[i] - fault.began) / 1000)
        return {name: sorted(t) for name, t in sorted(times.items())}

    def differences(self, records):
        expected = Cells()
        for (partition, offset), (_, v, ts) in records.items():
            expected.add(f"{partition}-{offset}".encode(), [("f", b"v", ts, json.loads(v)["v"].encode())])
        scan = self.folder / "scan"
        counts = self.hbase.scan(self.table, out=str(scan), raw=True)
        found = expected.differences(scan)
        if counts != {"rows": self.sent, "cells": self.sent}:
            found.append(f"{counts}, {self.sent} were sent")
        return found

    def phases(self, until):
        """Returns the average time of each phase of a load's apply up to a moment, in seconds."""
        names = {l["load"] for l in self.loads() if l["applied_ms"] <= until}
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as log:
            told = [json.loads(line) for line in log if line.startswith('{"applied"') and line.endswith("}\n")]
        spent = [t["ms"] for t in told if t["applied"] in names]
        return ", ".join(f"{name} {sum(ms[name] for ms in spent) / len(spent) / 1000:.2f}" for name in spent[0])

    def figures(self, seen, nloads, first, quiet):
        """Returns the report on events in the order of their timestamps. `quiet` is the number of events that arrived
        without faults."""
        calm = sorted((at - ts) / 1000 for ts, at in seen[first:first + quiet])
        rough = sorted((at - ts) / 1000 for ts, at in seen[first + quiet:])
        again = self.served_again(seen)
        assert sum(len(times) for times in again.values()) == len(self.faults), f"{again} of {self.faults}"
        calm_end = max(at for _, at in seen[first:first + quiet])
        print(f"a hand-over without faults, s: {self.phases(calm_end)}", flush=True)
        for name, times in again.items():
            print(f"served again behind {name}: " + " ".join(f"{t:.1f}" for t in times), flush=True)
        kinds = ", ".join(f"{len(t)} {name} (served again in {share(t, 50):.1f} s, at most {t[-1]:.1f})"
                          for name, t in again.items())
        line = (f"{self.sent:,} events in {nloads} loads; event to visible with roll {self.roll} s: without faults half below "
                f"{share(calm, 50):.1f} s, 99 % below {share(calm, 99):.1f} s, all below {share(calm, 100):.1f} s; with "
                f"{len(self.faults)} faults {share(rough, 50):.1f} s, {share(rough, 99):.1f} s, {share(rough, 100):.1f} s: {kinds}")
        return line, share(calm, 99)

    def run(self, events, rate, faults):
        """`faults` is a list of (name, function). The first half of the events arrives without faults."""
        begin = time.monotonic()
        self.start()
        try:
            self.produce(10, 1000)  # HBase takes some time to create the table
            self.settle()
            first, quiet = self.sent, events // 2
            self.produce(quiet, rate)
            self.settle()
            print(f"the half without faults is in after {time.monotonic() - begin:.0f} s", flush=True)
            producer = concurrent.futures.ThreadPoolExecutor(1)
            produced = producer.submit(self.produce, events - quiet - LAST, rate * ROUGH)
            producer.shutdown(wait=False)
            self.chance.shuffle(faults)
            for name, act in faults:
                time.sleep(self.chance.uniform(0.3, 3 * self.roll))
                self.check_alive()
                self.fault(name, act)
            produced.result()  # raises the producer's exception
            self.produce(LAST, 1000)
            assert self.sent == first + events, f"{self.sent} events were sent of {first + events}"
            self.settle()
            self.finish()
        finally:
            self.stop()
        print(f"{self.sent:,} events are in after {time.monotonic() - begin:.0f} s", flush=True)
        records = self.kafka.records(self.table)
        loads = self.check_loads()
        line, slow = self.figures(self.times_seen(loads, records), len(loads), first, quiet)
        return self.differences(records), line, slow


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)
    saltmill = pathlib.Path(os.environ.get("SALTMILL") or HERE.parent.parent / "build" / "saltmill").resolve()
    start = time.monotonic()
    print(f"soak of {events:,} events into HBase, {rate} a second, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="saltmill-soak-") as name:
        folder = pathlib.Path(name)
        with Broker(folder / "broker") as kafka, Hdfs(folder / "hdfs") as hdfs, \
                Cluster(folder / "hbase", hdfs.fs, region_servers=2, settings=SETTINGS, jvm=QUICK) as hbase:
            hdfs.make_dirs("/bulk", "1777")
            print(f"the servers are up after {time.monotonic() - start:.0f} s", flush=True)
            one = Campaign(saltmill, kafka, hbase, hdfs, folder / "rig", "soak", seed, ROLL_SECONDS)
            faults = [(name, act) for name, act, of_a_million in (
                ("kills of saltmill", one.kill, 15), ("kills of HBase", one.kill_hbase, 5),
                ("stops of HBase", one.stop_hbase, 2)) for _ in range(max(1, of_a_million * events // 1_000_000))]
            wrong, line, slow = one.run(events, rate, faults)
    late = slow > ROLL_SECONDS + 5
    print("\n".join(wrong[:20]))
    print(f"soak into HBase of {time.monotonic() - start:.0f} s, seed {seed}: {line}; "
          f"{'the table is the topic' if not wrong else f'{len(wrong)} DIFFERENCES'}{', TOO LATE' if late else ''}")
    return 1 if wrong or late else 0


if __name__ == "__main__":
    sys.exit(main())
