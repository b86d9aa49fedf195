"""Runs `saltmill apply` while apply, a region server, the master or the DataNode dies. In other cases, the DataNode's
disk is full for a while, which also stops HBase's logs, or regions split or move.

make kills [ARGS="--moments 50 --seed 1 --record FILE"]

A moment is a step of apply's journal and a pause after the step. Then the disturbance follows. The script chooses steps at random, so that each kind of disturbance meets each step. Then the script starts the dead servers again, and repeats apply until it reports success. The tables must contain each cell of the oracle once (raw scans by HBase's own client), and
HDFS must have no leftovers.

The servers keep running from moment to moment. After a violation, the other moments still run. The end of the
output lists the violations and the steps after which each disturbance really happened. A stopped campaign continues
with its record. tests/hbase/test_kills.py has a sample of each kind.
"""

import argparse
import collections
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from apart import Apart  # noqa: E402  (needs the path above)
from cluster import HBaseError  # noqa: E402
from disk import NoDisk, filled, small_disk  # noqa: E402
from hdfs import Hdfs, HdfsError  # noqa: E402
from oracle import u32  # noqa: E402
from test_apply import Applied, events  # noqa: E402

KINDS = ("saltmill", "region1", "region2", "master", "datanode", "split", "move", "disk")
# the events of a journal, and the number of each event in one of these loads
STEPS = {"folder": 1, "create": 2, "created": 2, "token": 2, "upload": 1, "table": 2, "put": 7, "sent": 4, "done": 4, "cleaned": 2}
SPLITS_AND_MOVES = ("split", "move")
OF_A_TABLE = {"created", "token", "put", "sent", "done"}  # it arrived, and the files may be in transit
SPLIT_AT = {"events": u32(0x580), "by_word": b"w55"}  # within a region
RUNS = 8  # of apply, until it is done
WAIT = 240  # seconds for one
PAUSE = 0.06  # longest pause after the step
MOST_LATE = 0.2  # share of the moments, because a disturbance after apply's end has no effect
FULL_SECONDS = 5  # at most, because apply may end before
DISK_MB = 384  # all of HDFS is on it


class Violation(Exception):
    pass


class Broken(Exception):
    """An error of the servers, after which the script starts new ones."""


class Moment:
    """A disturbance, and the event after which it happens, which is a word and its count."""

    def __init__(self, kind, step, nth=1, pause=0.0):
        self.kind, self.step, self.nth, self.pause = kind, step, nth, pause
        self.at = None  # the word of the last event when it happened

    def __str__(self):
        return f"{self.kind} behind {self.step} {self.nth} and {1000 * self.pause:.0f} ms"


def draw(count, seed, kinds):
    """Takes the kinds in turn. A kind meets all steps before it repeats a step."""
    chance, decks = random.Random(seed), collections.defaultdict(list)
    moments = []
    for i in range(count):
        kind = kinds[i % len(kinds)]
        if not decks[kind]:
            decks[kind] = [s for s in STEPS if kind not in SPLITS_AND_MOVES or s in OF_A_TABLE]
            chance.shuffle(decks[kind])
        step = decks[kind].pop()
        moments.append(Moment(kind, step, chance.randint(1, STEPS[step]), PAUSE * chance.random() ** 2))
    return moments


def words_of(journal):
    """Returns (table or None, word) of each complete event."""
    try:
        lines = journal.read_text(errors="replace").split("\n")[1:-1]
    except FileNotFoundError:
        return []
    parts = (line.split() for line in lines)
    return [(int(p[0]), p[1]) if p[0].isdigit() else (None, p[0]) for p in parts if p]


class World:
    """Servers that die, and loads that apply sends to these servers."""

    def __init__(self, saltmill, folder, hdfs, hbase, disk=None):
        """`disk` is the DataNode's disk, if tests may fill the disk."""
        self.saltmill, self.folder, self.hdfs, self.hbase, self.disk = saltmill, folder, hdfs, hbase, disk
        self.count = 0

    def start_apply(self, one, log):
        return subprocess.Popen(
            [one.saltmill, "apply", one.out, "--hbase", self.hbase.zookeeper, *one.options, "--create"],
            stdout=subprocess.DEVNULL, stderr=log)

    def happen(self, moment, process, one):
        words = words_of(one.folder / "out.saltmill-apply")
        moment.at = words[-1][1] if words else "nothing"
        if moment.kind == "saltmill":
            process.kill()
        elif moment.kind in SPLITS_AND_MOVES:
            name = one.manifest["tables"][words[-1][0] or 0]["name"]
            if moment.kind == "move":
                self.hbase.move(name)
            else:
                self.hbase.split(name, SPLIT_AT[name.split(":")[1]])
        elif moment.kind == "disk":
            with filled(self.disk), contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(FULL_SECONDS)
            self.wait_for_room()
            self.hbase.kill_all()
        else:
            self.hbase.kill_one(moment.kind)

    def wait_for_room(self):
        """Waits for space. The NameNode gets a report every second."""
        deadline = time.monotonic() + WAIT
        while self.hdfs.state()["CapacityRemaining"] < DISK_MB << 18:
            if time.monotonic() > deadline:
                raise HdfsError("the NameNode sees no room")
            time.sleep(0.1)

    def try_moment(self, moment):
        """Applies one load with one disturbance. Raises Violation, or returns the number of starts of apply."""
        self.count += 1
        space = f"moment{self.count}"
        folder = self.folder / space
        folder.mkdir()
        by_id, by_word = events(folder, space)
        one = Applied(self.saltmill, self.hbase, folder, "--user", "ann", "--upload", self.hdfs.url(f"/bulk/{space}"))
        one.load(folder / "job.yaml")
        staged = set(self.hdfs.tree("/hbase/staging"))
        with open(folder / "apply.log", "w", encoding="utf-8") as log:
            process = self.start_apply(one, log)
            try:
                self.wait_for(moment, process, folder / "out.saltmill-apply")
                try:
                    self.happen(moment, process, one)
                except HBaseError as e:
                    if moment.kind not in SPLITS_AND_MOVES:
                        raise
                    log.write(f"{moment.kind}: {e}\n")  # of a table during its opening
                    moment.at += ", refused"
                self.hbase.revive()
                process, runs = self.finish(process, one, log, moment.kind)
            finally:
                process.kill()
                process.wait()
        self.check(one, by_id, by_word, staged)
        return runs

    @staticmethod
    def wait_for(moment, process, journal):
        deadline = time.monotonic() + WAIT
        while process.poll() is None and time.monotonic() < deadline:
            if sum(word == moment.step for _, word in words_of(journal)) >= moment.nth:
                time.sleep(moment.pause)
                return
            time.sleep(0.001)

    def finish(self, process, one, log, kind):
        for run in range(1, RUNS + 1):
            deadline = time.monotonic() + WAIT
            while (status := process.poll()) is None:
                if time.monotonic() > deadline:
                    raise Violation("apply does not end")
                self.hbase.launch_dead()
                time.sleep(0.05)
            if status == 0:
                return process, run
            expected = (-signal.SIGKILL,) if kind == "saltmill" else (1, -signal.SIGKILL)  # otherwise no server is dead
            if status not in expected and not (kind == "disk" and self.no_room(status, one)):
                raise Violation(f"apply ended with {status}")
            self.hbase.revive()
            process = self.start_apply(one, log)
        process.kill()
        process.wait()
        raise Violation(f"apply is not done after {RUNS} runs")

    @staticmethod
    def no_room(status, one):
        """Returns the state of the table before the disturbance."""
        return status == 2 and "not enough free space" in (one.folder / "apply.log").read_text().splitlines()[-1]

    def check(self, one, by_id, by_word, staged):
        space, found = one.folder.name, one.folder / "scan"
        for name, expected in ((f"{space}:events", by_id), (f"{space}:by_word", by_word)):
            counts = self.hbase.scan(name, out=str(found), raw=True)
            differences = expected.differences(found)
            if differences or counts != {"rows": len(expected.rows), "cells": expected.cells}:
                raise Violation(f"{name}: {counts}: " + "\n".join(differences))
        for path, before in ((f"/bulk/{space}", set()), ("/hbase/staging", staged)):
            left = set(self.hdfs.tree(path) if self.hdfs.status(path) else {}) - before
            if left:
                raise Violation(f"left in {path}: {sorted(left)}")

    def drop(self):
        """Drops the last load's tables, because otherwise each dead server has more regions to give away."""
        space = f"moment{self.count}"
        script = self.folder / "drop.rb"
        script.write_text("".join(f"if exists('{space}:{t}')\n disable '{space}:{t}'\n drop '{space}:{t}'\nend\n"
                                  for t in ("events", "by_word")))
        self.hbase.run_script(script)

    def evidence(self):
        folder = self.folder / f"moment{self.count}"
        return "".join(f"--- {name}\n" + "".join((folder / name).read_text(errors="replace").splitlines(True)[-40:])
                       for name in ("apply.log", "out.saltmill-apply") if (folder / name).exists())


SMALL_BLOCKS = {"dfs.blocksize": 1 << 20, "hbase.regionserver.hlog.blocksize": 1 << 20}  # each must have its space free
NO_RESERVE = "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space"


@contextlib.contextmanager
def new_world(saltmill, folder, disk=None, cold=None):
    """`disk` is a small disk for all of HDFS. `cold` is a second disk, for files with the policy COLD."""
    dirs = [f"[DISK]file://{disk or folder / 'hdfs' / 'blocks'}", *([f"[ARCHIVE]file://{cold}"] if cold else [])]
    with Hdfs(folder / "hdfs", **{"dfs.datanode.data.dir": ",".join(dirs), NO_RESERVE: 0, **SMALL_BLOCKS}) as hdfs:
        hdfs.make_dirs("/bulk", "1777")
        with Apart(folder / "hbase", hdfs, SMALL_BLOCKS) as hbase:
            yield World(saltmill, folder, hdfs, hbase, disk)


class Campaign:
    """Runs moments one after another, and writes each result to a record."""

    def __init__(self, moments, record):
        self.moments, self.record, self.told = moments, record, {}
        if record and record.exists():
            for line in record.read_text(encoding="utf-8").splitlines():
                said = json.loads(line)
                if said["moment"] == str(moments[said["number"]]):
                    self.told[said["number"]] = said

    def note(self, i, **said):
        self.told[i] = {"number": i, "moment": str(self.moments[i]), "kind": self.moments[i].kind, **said}
        if self.record:
            with open(self.record, "a", encoding="utf-8") as f:
                f.write(json.dumps(self.told[i]) + "\n")

    def one(self, world, i):
        moment, began = self.moments[i], time.monotonic()
        broken, violation, runs = False, None, 0
        try:
            runs = world.try_moment(moment)
        except Violation as e:
            violation = f"{e}\n{world.evidence()}"
        except (HBaseError, HdfsError, OSError, subprocess.SubprocessError, AssertionError) as e:
            violation, broken = f"{type(e).__name__}: {e}\n{world.evidence()}", True
        seconds = time.monotonic() - began
        self.note(i, at=moment.at or "nothing", runs=runs, violation=violation, seconds=round(seconds, 1))
        said = f"VIOLATION: {violation}" if violation else f"right after {runs} run{'s' if runs > 1 else ''}"
        print(f"{i + 1:3} {moment}, was at {moment.at or 'nothing'}: {said}, {seconds:.0f} s", flush=True)
        if broken:
            raise Broken
        try:
            world.drop()
        except HBaseError as e:
            raise Broken from e

    def run(self, saltmill):
        while left := [i for i in range(len(self.moments)) if i not in self.told]:
            with tempfile.TemporaryDirectory(prefix="saltmill-kills-") as name, contextlib.ExitStack() as stack:
                folder, disk = pathlib.Path(name), None
                if any(m.kind == "disk" for m in self.moments):
                    disk = stack.enter_context(small_disk(folder / "disk", DISK_MB))
                with new_world(saltmill, folder, disk) as world:
                    self.try_all(world, left)

    def try_all(self, world, numbers):
        """Tries moments until the servers are broken."""
        with contextlib.suppress(Broken):
            for i in numbers:
                self.one(world, i)

    def tell(self, seed):
        """Returns True if there is no violation and few moments came after apply's end."""
        told = list(self.told.values())
        kinds = list(dict.fromkeys(t["kind"] for t in told))
        at = collections.Counter((t["at"], t["kind"]) for t in told)
        steps = sorted({a for a, _ in at}, key=lambda a: ([*STEPS, "finished"].index(a.split(",")[0])
                                                         if a.split(",")[0] in (*STEPS, "finished") else -1, a))
        print(f"\n{'it happened behind':20}" + "".join(f"{k:>10}" for k in kinds) + f"{'all':>6}")
        for a in steps:
            print(f"{a:20}" + "".join(f"{at[a, k] or '':>10}" for k in kinds) + f"{sum(at[a, k] for k in kinds):6}")
        bad = [t for t in told if t["violation"]]
        late = sum(t["at"].startswith("finished") for t in told)
        for t in bad:
            print(f"\nVIOLATION of moment {t['number'] + 1}, {t['moment']}: {t['violation']}")
        print(f"\n{len(told)} moments (seed {seed}) behind {len({a.split(',')[0] for a in steps})} different steps, "
              f"{len(bad)} violations, {late} came too late, {sum(t['runs'] for t in told)} runs of apply, "
              f"{sum(t['seconds'] for t in told):.0f} s")
        return not bad and late <= len(told) * MOST_LATE


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--moments", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--kinds", nargs="*", default=KINDS)
    options.add_argument("--record", type=pathlib.Path, help="what is in it already is not done again")
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # end the servers, too
    campaign = Campaign(draw(o.moments, o.seed, o.kinds), o.record)
    well = False
    try:
        campaign.run(pathlib.Path(o.saltmill).resolve())
    except NoDisk as e:
        sys.exit(f"{e}: --kinds {' '.join(k for k in o.kinds if k != 'disk')}")
    finally:  # also after a stop
        well = campaign.tell(o.seed)
    return 0 if well else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())
