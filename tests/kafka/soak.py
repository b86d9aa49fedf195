#!/usr/bin/env python3
"""Runs a stream on a real broker for a long time, with a fault every few seconds (make soak [SECS=3600] [TOPICS=1]).

Events arrive all the time. The script kills or freezes the stream, or fills its disk. The script also kills the broker. The script reads each published load cell by cell and then deletes it, as after a load into HBase. At the end, the script compares the offsets with those that Kafka's own client reads. The last line contains events, faults, lost and doubled offsets.
The script draws the faults from a seed, and prints the seed.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from broker import Broker, KafkaError  # noqa: E402  (needs the path above)
from rig import Rig, value  # noqa: E402
from topics_rig import Topics  # noqa: E402

PARTITIONS = 4
DISK = 48 << 20  # of the small disk, if the machine can make one
SETTLE_SECONDS = 180
JOB = "start: earliest\n    group: soak\n    roll: {rows: 2000, time: 1s}"


class Failure(Exception):
    """An error that no fault explains."""


@contextlib.contextmanager
def small_disk(folder):
    """Makes a separate small file system. Returns None if this process may not mount."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "saltmill-soak", folder],
                          capture_output=True, check=False)
    try:
        yield folder if done.returncode == 0 else None
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", folder], check=False)


class Producer(threading.Thread):
    """Produces batch after batch. A third of the batches are transactions, and the producer aborts some of them."""

    def __init__(self, kafka, topics, chance):
        super().__init__()
        self.kafka, self.topics, self.chance = kafka, topics, chance
        self.enough, self.up, self.sent = threading.Event(), threading.Event(), 0

    def run(self):
        self.up.set()
        while not self.enough.wait(0.2):
            if not self.up.wait(1):
                continue
            batch = [(self.chance.randrange(PARTITIONS), None, value(self.sent + i))
                     for i in range(self.chance.randrange(50, 400))]
            self.sent += len(batch)
            try:
                self.kafka.produce(self.chance.choice(self.topics), batch, self.chance.choice(["none", "lz4"]),
                                   transaction="soak" if self.chance.random() < 0.3 else "",
                                   commit=self.chance.random() < 0.7)
            except KafkaError:
                pass  # at the end Kafka's own reader shows which of it arrived


class Soak:
    def __init__(self, saltmill, kafka, folder, disk, seed, topics):
        self.kafka, self.disk, self.chance = kafka, disk, random.Random(seed)
        self.rig = Rig(saltmill, kafka, folder, "soak", JOB) if topics == 1 else \
            Topics(saltmill, kafka, folder, [f"soak-{i}" for i in range(topics)], key="pattern: soak-.*", more=JOB)
        self.topics = ["soak"] if topics == 1 else self.rig.names
        if disk:
            self.rig.state = disk / "state"
        self.producer = Producer(kafka, self.topics, random.Random(seed + 1))
        self.faults = collections.Counter()
        self.seen, self.doubled, self.read = {}, 0, set()
        self.log = open(folder / "stream.log", "w+")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.rig.saltmill, "stream", self.rig.job, "--state", self.rig.state, "--memory", "64M", "--quiet"],
            stdout=self.log, stderr=self.log)

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"the stream ended with {self.process.returncode}:\n{self.said()}")

    def said(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()[-2000:]

    # --- faults ---

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.start()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(self.chance.uniform(0.5, 3))
        self.process.send_signal(signal.SIGCONT)

    def broker(self):
        self.producer.up.clear()
        self.kafka.kill()
        time.sleep(self.chance.uniform(0, 3))
        self.kafka.start()
        self.producer.up.set()

    def full(self):
        """Fills the disk until the stream has ended or some seconds have passed."""
        filler, end = self.disk / "filler", time.monotonic() + 8
        with open(filler, "wb", buffering=0) as f:
            while self.process.poll() is None and time.monotonic() < end:
                with contextlib.suppress(OSError):
                    f.write(bytes(1 << 16))
                    continue
                time.sleep(0.05)
        filler.unlink()
        if self.process.poll() is not None:
            if self.process.returncode != 1 or "No space left" not in self.said():
                self.check_alive()
            self.start()

    def fault(self):
        kinds = [("kill", self.kill)] * 5 + [("freeze", self.freeze)] + [("broker", self.broker)]
        if self.disk:
            kinds += [("full disk", self.full)] * 2
        name, act = self.chance.choice(kinds)
        act()
        self.faults[name] += 1

    # --- loaded messages ---

    def harvest(self):
        """Reads each load once, marks the load in the state as applied, and deletes it."""
        done = subprocess.run([self.rig.saltmill, "loads", "--state", self.rig.state, "--json"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return False  # the stream is starting, or the disk is full
        for load in map(json.loads, done.stdout.splitlines()):
            if load["seek"] or load["load"] in self.read:
                continue
            for at, cell in self.rig.cells(pathlib.Path(load["output"])).items():
                self.doubled += at in self.seen
                self.seen[at] = cell
            with contextlib.suppress(AssertionError):
                self.rig.run("loads", "--state", self.rig.state, "--loaded", load["load"])
                shutil.rmtree(load["output"])
            self.read.add(load["load"])
        return True

    def positions(self):
        done = subprocess.run([self.rig.saltmill, "status", "--state", self.rig.state, "--json"],
                              capture_output=True, text=True, check=False)
        return [p["offset"] for p in json.loads(done.stdout or "{}").get("positions", [])]

    def settle(self):
        """Checks that without further faults, the stream loads all messages in time."""
        ends = [high for topic in self.topics for _, high in self.kafka.ends(topic)]
        end = time.monotonic() + SETTLE_SECONDS
        while self.positions() != ends:
            self.check_alive()
            if time.monotonic() > end:
                raise Failure(f"at {self.positions()}, not at {ends}:\n{self.said()}")
            time.sleep(0.3)
        self.rig.end(self.process)
        while not self.harvest():
            if time.monotonic() > end:
                raise Failure("`loads` does not end with 0")

    def run(self, seconds):
        """Returns lost and doubled offsets."""
        for topic in self.topics:
            self.kafka.create(topic, PARTITIONS)
        self.producer.start()
        self.start()
        try:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                time.sleep(self.chance.uniform(0.5, 4))
                self.check_alive()
                self.fault()
                self.harvest()
            self.producer.enough.set()
            self.producer.join()
            self.settle()
        finally:
            self.producer.enough.set()
            self.producer.up.set()
            self.process.kill()
            self.process.wait()
        expected = self.rig.expected()
        lost = sum(self.seen.get(at) != cell for at, cell in expected.items())
        return lost, self.doubled + len(set(self.seen) - set(expected))


def run(saltmill, folder, seconds, seed, topics=1):
    """Returns (lost, doubled, the last line)."""
    folder.mkdir(exist_ok=True)
    start = time.monotonic()
    with Broker(folder / "broker") as kafka, small_disk(folder / "disk") as disk:
        soak = Soak(saltmill, kafka, folder / "soak", disk, seed, topics)
        lost, doubled = soak.run(seconds)
    faults = ", ".join(f"{n} {name}" for name, n in sorted(soak.faults.items()))
    line = (f"soak of {time.monotonic() - start:.0f} s, {topics} topic{'s' * (topics > 1)}, seed {seed}: "
            f"{len(soak.seen):,} events in {len(soak.read):,} loads, {sum(soak.faults.values())} faults ({faults}{'' if disk else '; no disk to fill'}), "
            f"{lost} lost, {doubled} doubled")
    return lost, doubled, line


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
    topics = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    saltmill = pathlib.Path(os.environ.get("SALTMILL") or root / "build" / "saltmill").resolve()
    print(f"soak for {seconds:.0f} s, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="saltmill-soak-") as folder:
        lost, doubled, line = run(saltmill, pathlib.Path(folder), seconds, seed, topics)
    print(line)
    return 1 if lost or doubled else 0


if __name__ == "__main__":
    sys.exit(main())
