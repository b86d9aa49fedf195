"""Runs the program with one job on one topic, reads the loads back, and compares them with the messages that Kafka's
client reads."""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess

from cluster import HANG_SECONDS, wait_until

# From a signal to the end. An idle machine takes 1. A run that waits for its broker, for an answer or for the end of a
# session takes longer, without an end or 5 minutes.
END_SECONDS = 40
JOB = """\
source:
  kafka:
    brokers: {brokers}
    topic: {topic}
    format: json
    {more}
fields:
  ts: {{type: time, unit: ms, from: $timestamp}}
tables:
  - name: t
    rowkey: [{{field: $partition, as: text, terminator: '-'}}, {{field: $offset, as: text}}]
    timestamp: ts
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {regions}
"""

STEPS = ("position-temp position intent-temp intent load-opened load-read load-split "
         "load-written described publishing-temp publishing published record-temp "
         "recorded intent-removed committed").split()

CELL = re.compile(r"^ +(\d+)-(\d+) +f:v +(\d+) +\S+ +(\S*)$", re.M)


def value(n):
    return b'{"v":"x%d"}' % n


def tree(folder):
    """Returns every file below a folder with the digest of its content."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*")) if p.is_file()}


class Rig:
    def __init__(self, saltmill, kafka, folder, topic, more="start: earliest"):
        self.saltmill, self.kafka, self.folder, self.topic = saltmill, kafka, folder, topic
        folder.mkdir(exist_ok=True)
        self.state = folder / "state"
        self.job = folder / "job.yaml"
        self.configure(more)
        self.outputs = 0

    def configure(self, more, topic=None, regions="{split: sampled, count: 2}"):
        self.job.write_text(JOB.format(brokers=self.kafka.brokers, topic=topic or self.topic,
                                       more=more, regions=regions))

    def run(self, *words, status=0, env=None, seconds=HANG_SECONDS):
        done = subprocess.run([self.saltmill, *map(str, words)], capture_output=True, text=True,
                              timeout=seconds, check=False, env={**os.environ, **(env or {})})
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done

    def load(self, *more, status=0, env=None, output=None, state=True):
        if output is None:
            self.outputs += 1
            output = self.folder / f"out{self.outputs}"
        words = ["--state", self.state] if state else []
        done = self.run("load", self.job, "-o", output, *words, *more, status=status, env=env)
        return done, output

    def stream(self, *more, env=None):
        return subprocess.Popen([self.saltmill, "stream", self.job, "--state", self.state,
                                 "--memory", "64M", *map(str, more)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **(env or {})})

    def end(self, process, status=0):
        """Sends SIGTERM and returns the output."""
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=END_SECONDS)
        assert process.returncode == status, (process.returncode, out, err)
        return out, err

    def wait_for(self, process, events):
        """Waits until the published loads contain this number of events."""
        wait_until(lambda: self.state.exists() and sum(l["read"] for l in self.loads()) >= events, process)

    def wait(self, process, seconds=HANG_SECONDS):
        """Waits until the program ends by itself. Returns its standard error."""
        try:
            return process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"still running: {process.communicate()}") from None

    def loads_of(self, status):
        """Returns the published loads, oldest first, without seeks."""
        done = self.run("loads", "--state", self.state, "--json", status=status)
        return [l for l in map(json.loads, done.stdout.splitlines()) if not l["seek"]]

    def loads(self):
        return self.loads_of(status=0)

    def cells(self, folder):
        """Returns {(partition, offset): (value, timestamp)} of one published load."""
        files = [p for p in (folder / "t" / "hfiles").rglob("*") if p.is_file()]
        if not files:
            return {}
        text = self.run("inspect", "--cells", *files).stdout
        found = {(int(p), int(o)): (v, int(ts)) for p, o, ts, v in CELL.findall(text)}
        assert len(found) == len(CELL.findall(text))
        return found

    def union(self, folders):
        """Returns all cells of the loads. Fails if a cell is in two loads."""
        cells = {}
        for f in folders:
            for at, cell in self.cells(f).items():
                assert at not in cells, f"{at} is in two loads"
                cells[at] = cell
        return cells

    def expected(self):
        """Returns the committed messages with a value, as read by Kafka's own client."""
        return {at: (json.loads(v)["v"], ts)
                for at, (_, v, ts) in self.kafka.records(self.topic).items() if v is not None}

    def check(self, folders=None):
        """Checks that the loads of the state contain exactly Kafka's messages, and that their ranges touch."""
        loads = self.loads()
        if folders is None:
            folders = [pathlib.Path(l["output"]) for l in loads]
        got, want = self.union(folders), self.expected()
        assert set(got) == set(want), (sorted(set(want) - set(got))[:9], sorted(set(got) - set(want))[:9])
        assert got == want
        at = {}
        for l in loads:
            for r in l["offsets"]:
                assert at.get(r["partition"], r["start"]) == r["start"], l
                at[r["partition"]] = r["end"]
        return got
