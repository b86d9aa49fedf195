"""`saltmill apply` while something dies: itself, a region server, the master, the DataNode; or regions are split or moved.

    make kills [ARGS="--moments 50 --seed 1"]

A moment is a number of lines in apply's journal: when it has so many, something happens.  Then what is dead is started
again, and apply until it says that it is done.  The tables must hold each cell of the oracle once (raw scans by HBase's
own client), and nothing may be left in HDFS.  tests/hbase/test_kills.py has a sample of each kind.
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from apart import Apart  # noqa: E402  (needs the path above)
from cluster import HBaseError  # noqa: E402
from hdfs import Hdfs  # noqa: E402
from oracle import u32  # noqa: E402
from test_apply import Applied, events  # noqa: E402

KINDS = ("saltmill", "region1", "region2", "master", "datanode", "split", "move")
LINES = 43  # a journal has when all is done
RUNS = 8  # of apply, until it is done
WAIT = 240  # seconds for one


class Violation(Exception):
    pass


class World:
    """Servers that die, and loads that are handed to them."""

    def __init__(self, saltmill, folder, hdfs, hbase):
        self.saltmill, self.folder, self.hdfs, self.hbase = saltmill, folder, hdfs, hbase
        self.count = 0

    def start_apply(self, one, log):
        return subprocess.Popen(
            [one.saltmill, "apply", one.out, "--hbase", self.hbase.zookeeper, *one.options, "--create"],
            stdout=subprocess.DEVNULL, stderr=log)

    def happen(self, kind, process, space):
        if kind == "saltmill":
            process.kill()
        elif kind == "split":
            self.hbase.split(f"{space}:events", u32(0x580))
        elif kind == "move":
            self.hbase.move(f"{space}:events")
        else:
            self.hbase.kill_one(kind)

    def try_moment(self, kind, lines):
        """One load, disturbed once.  Raises Violation; returns how often apply was started, and whether it was too late."""
        self.count += 1
        space = f"moment{self.count}"
        folder = self.folder / space
        folder.mkdir()
        by_id, by_word = events(folder, space)
        one = Applied(self.saltmill, self.hbase, folder, "--user", "ann", "--upload", self.hdfs.url("/bulk/ann"))
        one.load(folder / "job.yaml")
        with open(folder / "apply.log", "w", encoding="utf-8") as log:
            process = self.start_apply(one, log)
            self.wait_for_lines(process, folder / "out.saltmill-apply", lines)
            done = process.poll() is not None
            try:
                self.happen(kind, process, space)
            except HBaseError as e:
                if kind not in ("split", "move"):  # of a table that is not there yet, or being opened
                    raise
                log.write(f"{kind}: {e}\n")
            time.sleep(1)
            self.hbase.revive()
            runs = self.finish(process, one, log)
        self.check(one, space, by_id, by_word, folder)
        return runs, done

    @staticmethod
    def wait_for_lines(process, journal, lines):
        deadline = time.monotonic() + WAIT
        while process.poll() is None and time.monotonic() < deadline:
            try:
                if journal.read_bytes().count(b"\n") >= lines:
                    return
            except FileNotFoundError:
                pass
            time.sleep(0.002)

    def finish(self, process, one, log):
        for run in range(1, RUNS + 1):
            deadline = time.monotonic() + WAIT
            while (status := process.poll()) is None:
                if time.monotonic() > deadline:
                    process.kill()
                    raise Violation("apply does not end")
                self.hbase.launch_dead()
                time.sleep(0.2)
            if status == 0:
                return run
            if status not in (1, -signal.SIGKILL):
                raise Violation(f"apply ended with {status}")
            self.hbase.revive()
            process = self.start_apply(one, log)
        process.kill()
        raise Violation(f"apply is not done after {RUNS} runs")

    def check(self, one, space, by_id, by_word, folder):
        for name, expected in ((f"{space}:events", by_id), (f"{space}:by_word", by_word)):
            found = folder / "scan"
            counts = self.hbase.scan(name, out=str(found), raw=True)
            differences = expected.differences(found)
            if differences or counts != {"rows": len(expected.rows), "cells": expected.cells}:
                raise Violation(f"{name}: {counts}: " + "\n".join(differences))
        for path in ("/bulk/ann", "/hbase/staging"):
            left = self.hdfs.tree(path) if self.hdfs.status(path) else {}
            if left:
                raise Violation(f"left in {path}: {sorted(left)}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--moments", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--kinds", nargs="*", default=KINDS)
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    chance, violations, began = random.Random(o.seed), 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="saltmill-kills-") as name:
        folder = pathlib.Path(name)
        with Hdfs(folder / "hdfs") as hdfs:
            hdfs.make_dirs("/bulk", "1777")
            with Apart(folder / "hbase", hdfs) as hbase:
                world = World(pathlib.Path(o.saltmill).resolve(), folder, hdfs, hbase)
                for i in range(o.moments):
                    kind, lines = o.kinds[i % len(o.kinds)], chance.randrange(1, LINES)
                    try:
                        runs, done = world.try_moment(kind, lines)
                        said = f"right after {runs} run{'s' if runs > 1 else ''}{', came too late' if done else ''}"
                    except Violation as e:
                        violations += 1
                        said = f"VIOLATION: {e}"
                    print(f"{i + 1:3} {kind} at line {lines}: {said}", flush=True)
    print(f"{o.moments} moments (seed {o.seed}), {violations} violations, {time.monotonic() - began:.0f} s")
    return 1 if violations else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())
