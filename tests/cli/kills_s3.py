"""Kills loads into S3 at random requests, while the server refuses, delays, loses and damages other requests.

make kills-s3 [ARGS="--moments 100 --seed 1"]

The server is moto (moto_s3.py), or with SALTMILL_S3=ceph, Ceph (ceph_s3.py). After each change, an observer looks: the load is invisible, or all its bytes are those of
a load on this machine. After kill -9, the same holds for the commands. Then the load runs again, also with faults. It
removes what is left and publishes, or reports that the load exists. test_s3_moto.py has a sample.
"""

import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from ceph_s3 import store
from test_s3_output import LOAD, check_whole, load, manifest, new_bench, run

FAULTS = ("503", "reset", "lost", "slow", "corrupt", "error200")
SHARE = 0.25  # of the requests that change something
CHANGES = 12  # of such a load without faults
HOWS = ("before", "stored", "answered")  # the server has not yet, or has, done the request at the kill; it has answered
LATER = 0.05  # longest seconds from the answer to the kill
MINE = {"manifest.json", ".lock"}  # objects that a run removes after it has published


class Moment:
    """Kills at the request with this number, counted from 1."""

    def __init__(self, draw):
        self.how = draw.choice(HOWS)
        self.pause = LATER * draw.random()
        self.faults, self.later_faults = ([draw.choice(FAULTS) if draw.random() < SHARE else None for _ in range(40)] for _ in range(2))
        # a request that fails is repeated
        self.number = draw.randint(1, round(CHANGES * (1 + SHARE)))

    def __str__(self):
        return f"request {self.number} {self.how}, " + " ".join(f or "-" for f in self.faults[:self.number])


class Violation(Exception):
    pass


class Observer:
    """Looks after each change, and kills the process at the moment."""

    def __init__(self, s3, bench, moment, process):
        self.s3, self.bench, self.moment, self.process = s3, bench, moment, process
        self.begun, self.done, self.bad, self.timer = 0, 0, None, None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)

    def before(self):
        self.begun += 1
        if self.begun == self.moment.number:
            if self.moment.how == "before":
                self.kill()
            elif self.moment.how == "answered":
                self.timer = threading.Timer(self.moment.pause, self.kill)

    def after(self):
        self.look()
        if self.begun >= self.moment.number and self.moment.how == "stored":
            self.kill()
        if self.timer and not self.timer.is_alive() and not self.timer.finished.is_set():
            self.timer.start()

    def look(self):
        try:
            if manifest(self.s3):
                check_whole(self.s3, self.bench, MINE)
        except (AssertionError, ValueError) as e:
            self.bad = self.bad or f"a reader sees a part: {str(e)[:400]}"


def demand(right, what, done=None):
    if not right:
        raise Violation(what + (f"\nstatus {done.returncode}: {done.stdout[-800:]}{done.stderr[-800:]}" if done else ""))


def rest(s3):
    """Waits until the server has ended the requests of the killed process, also one that it has not read yet."""
    calm = 0
    while calm < 10:
        time.sleep(0.01)
        calm = 0 if s3.busy else calm + 1
    s3.before_write = s3.after_write = lambda: None


def kill(saltmill, bench, s3, moment):
    """Starts a load and kills it. Returns its status."""
    s3.write_faults = list(moment.faults)
    with subprocess.Popen([saltmill, "load", "job.yaml", "-o", LOAD, "--quiet", "--max-rejects", "1"], cwd=bench, stderr=subprocess.DEVNULL,
                          env={**os.environ, **s3.env(), "HOME": str(bench)}) as process:
        observer = Observer(s3, bench, moment, process)
        s3.before_write, s3.after_write = observer.before, observer.after
        status = process.wait(300)
        if observer.timer:
            observer.timer.cancel()
    rest(s3)
    demand(not observer.bad, observer.bad)
    demand(status in (-signal.SIGKILL, 3), f"the load ended with status {status}")
    return status


def try_moment(saltmill, bench, s3, moment):
    """Returns what the kill left: "nothing", "parts", "a load", or "ended first"."""
    s3.clear()
    status = kill(saltmill, bench, s3, moment)
    s3.write_faults, visible, left = [], manifest(s3), bool(s3.objects or s3.uploads)
    try:
        if visible:
            check_whole(s3, bench, MINE)
    except AssertionError as e:
        raise Violation(f"the load is not whole: {str(e)[:400]}") from e
    done = run(saltmill, bench, s3, "verify", LOAD)
    demand((done.returncode == 0) == bool(visible), "verify", done)
    s3.write_faults = list(moment.later_faults)
    done = load(saltmill, bench, s3)
    s3.write_faults = []
    if visible:
        demand(done.returncode == 2 and "exists already" in done.stderr, "the second load", done)
        return "a load" if status < 0 else "ended first"
    demand(done.returncode == 3 and not s3.uploads, "the second load", done)
    try:
        check_whole(s3, bench)
    except AssertionError as e:
        raise Violation(f"the second load is not whole: {str(e)[:400]}") from e
    return "parts" if left else "nothing"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--moments", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    draw, left, bad, faults = random.Random(o.seed), collections.Counter(), 0, collections.Counter()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="saltmill-kills-s3-") as folder, store() as s3:
        saltmill = pathlib.Path(o.saltmill).resolve()
        bench = new_bench(saltmill, pathlib.Path(folder))
        for i in range(o.moments):
            moment = Moment(draw)
            s3.asked.clear()
            try:
                found = try_moment(saltmill, bench, s3, moment)
                left[found] += 1
            except Violation as e:
                bad, found = bad + 1, f"VIOLATION: {e}"
            faults.update(fault for *_, fault in s3.asked if fault)
            print(f"{i + 1:3} {moment}: left {found}", flush=True)
    print(f"\n{o.moments} moments (seed {o.seed}), {bad} violations, {time.monotonic() - began:.0f} s. They left "
          + ", ".join(f"{k}: {n}" for k, n in sorted(left.items()))
          + ". Faults: " + ", ".join(f"{k}: {n}" for k, n in sorted(faults.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
