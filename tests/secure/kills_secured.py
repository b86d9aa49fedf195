"""Runs `saltmill apply` on a secured cluster while apply or HBase dies, a ticket ends, the KDC is away, the clock jumps by
six minutes, or another user continues.

make kills-secured [ARGS="--moments 30 --seed 1 --record FILE"]

A moment is a step of apply's journal, or the start of apply, and a pause. After the disturbance, the script repairs what
it broke, and repeats apply until it reports success. A run that fails must name the cause. The table must then have each
cell of the oracle once (HBase's own client), HDFS must have each file of the load as a file of a user who ran apply, and no
file may be left. HDFS has each file once, because apply finds the cells of a file after a lost answer. No journal and no message may contain a token or a
key. test_kills_secured.py has a sample.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "hbase")]

from cluster import CACHE  # noqa: E402  (needs the path above)
from kdc import REALM, Kdc  # noqa: E402
from kills import Campaign, Violation, words_of  # noqa: E402
from secrets_of import keys_of, secrets_in  # noqa: E402
from secured import new_rig  # noqa: E402
from test_secured import JOB, expected, hfiles, places, rows, table_files  # noqa: E402

KINDS = ("saltmill", "ticket", "kdc", "clock", "user", "server")
STEPS = ("start", "folder", "create", "created", "token", "upload", "table", "put", "sent", "done", "cleaned")
TWICE = {"put", "sent", "done"}  # once for each region
LIFE = 8  # seconds of a ticket of the user `short`
RUNS, WAIT, PAUSE = 6, 240, 0.03
AWAY = 3  # seconds without a KDC, or with a wrong clock
LATE = "+6m"
# a run that fails because of the disturbance must name it
CAUSES = {"ticket": "run `kinit", "kdc": "Cannot contact any KDC", "clock": "[Cc]lock|refuses the login", "server": "localhost:",
          "user": "alice|carol|[Pp]ermission"}


class Moment:
    """A disturbance and the event after which it happens."""

    def __init__(self, kind, step, nth=1, pause=0.0, keytab=True):
        self.kind, self.step, self.nth, self.pause, self.keytab = kind, step, nth, pause, keytab
        self.at = None  # the word of the last event when it happened

    def __str__(self):
        return f"{self.kind} after {self.step} {self.nth}, {1000 * self.pause:.0f} ms, {'keytab' if self.keytab else 'cache'}"


def draw(count, seed, kinds):
    """Takes the kinds in turn. A kind meets all steps before it repeats a step."""
    chance, decks, moments = random.Random(seed), {}, []
    for i in range(count):
        kind = kinds[i % len(kinds)]
        if not decks.get(kind):
            decks[kind] = [s for s in STEPS if s != "start" or kind in ("kdc", "clock", "server")]
            chance.shuffle(decks[kind])
        step = decks[kind].pop()
        moments.append(Moment(kind, step, chance.randint(1, 2) if step in TWICE else 1, PAUSE * chance.random(),
                              kind != "ticket" and chance.random() < 0.5))
    return moments


class World:
    """A secured cluster, and loads that apply sends to it."""

    def __init__(self, saltmill, folder, rig):
        self.saltmill, self.folder, self.rig, self.count = saltmill, pathlib.Path(folder), rig, 0
        self.clock = self.folder / "clock"
        self.faketime = next(CACHE.glob("faketime/usr/lib/*/faketime/libfaketimeMT.so.1"))
        for user in ("short", "carol"):
            rig.kdc.keytab(user)
            rig.hbase.admin("grant", user, "@default", "RWC")
        rig.kdc.shorten("short", LIFE)
        self.keys = [k for user in ("alice", "short", "carol") for k in keys_of(rig.kdc.keytab(user))]

    def start_apply(self, out, user, moment, log, keytab=False):
        """Starts a run with a new ticket. Returns the process, and when the ticket was new."""
        login, cache = [], "/nonexistent"
        self.users.append(user)
        if keytab or moment.keytab:
            login = ["--principal", f"{user}@{REALM}", "--keytab", self.rig.kdc.keytab(user)]
        else:
            cache = self.rig.kdc.kinit(user)
        env = {"PATH": os.environ["PATH"], **self.rig.kdc.env, "KRB5CCNAME": f"FILE:{cache}", "LD_PRELOAD": str(self.faketime),
               "FAKETIME_TIMESTAMP_FILE": str(self.clock), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        born = time.monotonic()
        if moment.step == "start" and moment.at is None:
            self.disturb(moment)
        process = subprocess.Popen([self.saltmill, "apply", *map(str, [out, "--create", *places(self.rig), *login])],
                                   stdout=subprocess.DEVNULL, stderr=log, env=env)
        return process, born

    def disturb(self, moment, process=None, born=0.0):
        words = words_of(self.folder / f"kill{self.count}" / "out.saltmill-apply")
        moment.at = words[-1][1] if words else "nothing"
        if moment.kind in ("saltmill", "user"):
            process.kill()
        elif moment.kind == "ticket":
            process.send_signal(signal.SIGSTOP)
            time.sleep(max(0, born + LIFE + 2 - time.monotonic()))
            process.send_signal(signal.SIGCONT)
        elif moment.kind == "kdc":
            self.rig.kdc.stop()
        elif moment.kind == "clock":
            self.clock.write_text(LATE)
        else:
            self.rig.hbase.kill()

    def repair(self, kind, process):
        """Repairs after a while, or at the end of the process."""
        if kind in ("kdc", "clock", "server"):
            try:
                process.wait(AWAY)
            except subprocess.TimeoutExpired:
                pass
        self.clock.write_text("+0")
        if self.rig.kdc.process.poll() is not None:
            self.rig.kdc.start()
        if self.rig.hbase.server.poll() is not None:
            self.rig.hbase.restart()

    @staticmethod
    def wait_for(moment, process, journal):
        deadline = time.monotonic() + WAIT
        while process.poll() is None and time.monotonic() < deadline:
            if sum(word == moment.step for _, word in words_of(journal)) >= moment.nth:
                time.sleep(moment.pause)
                return
            time.sleep(0.001)

    def finish(self, process, out, user, moment, log):
        """Repeats apply until it succeeds. Returns the number of runs."""
        seen = 0
        for number in range(1, RUNS + 1):
            try:
                status = process.wait(WAIT)
            except subprocess.TimeoutExpired as e:
                process.kill()
                raise Violation("apply does not end") from e
            log.flush()
            text = pathlib.Path(log.name).read_text(errors="replace")
            said, seen = text[seen:], len(text)
            if status == 0:
                return number
            if status != -signal.SIGKILL and not re.search(CAUSES.get(moment.kind, "$^"), said):
                raise Violation(f"apply ended with {status} and does not name the cause: {said[-1000:]}")
            self.repair(moment.kind, process)
            one = "carol" if moment.kind == "user" and number == 1 else user
            process, _ = self.start_apply(out, one, moment, log, moment.kind == "ticket")  # later tickets must not end
        process.kill()
        process.wait()
        raise Violation(f"apply is not done after {RUNS} runs")

    def try_moment(self, moment):
        """Applies one load with one disturbance. Raises Violation, or returns the number of starts of apply."""
        self.count += 1
        folder = self.folder / f"kill{self.count}"
        folder.mkdir()
        (folder / "job.yaml").write_text(JOB.format(table=folder.name))
        (folder / "rows.csv").write_text("id,ts,v\n" + "".join(f"{k},{t},{v}\n" for k, t, v in rows()))
        subprocess.run([self.saltmill, "load", folder / "job.yaml", "-o", folder / "out", "--quiet"], check=True)
        user, self.users = "short" if moment.kind == "ticket" else "alice", []
        before = self.left()
        self.clock.write_text("+0")
        with open(folder / "apply.log", "w", encoding="utf-8") as log:
            process, born = self.start_apply(folder / "out", user, moment, log)
            try:
                if moment.step != "start":
                    self.wait_for(moment, process, folder / "out.saltmill-apply")
                    if process.poll() is None:
                        self.disturb(moment, process, born)
                    else:
                        moment.at = "finished"
                self.repair(moment.kind, process)
                runs = self.finish(process, folder / "out", user, moment, log)
            finally:
                process.kill()
                process.wait()
        # a run loads files as its user, and the last run of `finish` succeeded
        self.check(folder, set(self.users), before)
        return runs

    def left(self):
        """Returns the upload folders, and the files below HBase's staging folder. HBase makes an empty folder for a run
        that dies before it knows the folder's name."""
        return {f for f in self.rig.hdfs.list("/bulk") if f.startswith("saltmill-")} | set(self.rig.hdfs.tree("/hbase/staging"))

    def check(self, folder, users, before):
        table = folder.name
        found = self.rig.hbase.admin("digest", table)
        if found != expected():
            raise Violation(f"{table}: found {found}, expected {expected()}")
        files, loaded = table_files(self.rig, table), hfiles(folder / "out")
        if len(files) != len(loaded):
            raise Violation(f"{table} has {len(files)} files, expected {len(loaded)}")
        if not set(files.values()) <= users:
            raise Violation(f"{table}: found files of {sorted(set(files.values()))}, expected {sorted(users)}")
        if self.left() - before:
            raise Violation(f"left in HDFS: {sorted(self.left() - before)}")
        for file in (folder / "apply.log", *folder.glob("out.saltmill*")):
            if file.is_file() and secrets_in(file.read_bytes(), self.keys):
                raise Violation(f"{file.name} contains a secret")

    def drop(self):
        """Keeps the table, because it is small."""

    def evidence(self):
        folder = self.folder / f"kill{self.count}"
        return "".join(f"--- {name}\n" + "".join((folder / name).read_text(errors="replace").splitlines(True)[-40:])
                       for name in ("apply.log", "out.saltmill-apply") if (folder / name).exists())


class SecuredCampaign(Campaign):
    def run(self, saltmill):
        while left := [i for i in range(len(self.moments)) if i not in self.told]:
            with tempfile.TemporaryDirectory(prefix="saltmill-kills-") as name, Kdc(pathlib.Path(name) / "kdc") as kdc, \
                    new_rig(pathlib.Path(name) / "rig", kdc) as rig:
                world = World(saltmill, name, rig)
                self.try_all(world, left)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--moments", type=int, default=30)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--kinds", nargs="*", default=KINDS)
    options.add_argument("--record", type=pathlib.Path, help="what is in it already is not done again")
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # end the servers, too
    campaign = SecuredCampaign(draw(o.moments, o.seed, o.kinds), o.record)
    try:
        campaign.run(pathlib.Path(o.saltmill).resolve())
    finally:  # also after a stop
        well = campaign.tell(o.seed)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
