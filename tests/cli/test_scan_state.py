"""Tests that get and scan of a state folder answer as for its published loads.

The topic is on librdkafka's mock cluster in this process. The test computes the expected answers from the events.
"""

import csv
import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

import loads

sys.path.insert(0, str(loads.ROOT / "tests" / "faults"))

from mock_topic import MockTopic  # noqa: E402  (needs the path above)

JOB = """\
source:
  kafka: {{brokers: "{brokers}", topic: {topic}, format: json, start: earliest{more}}}
fields: {{id: {{type: u32}}, at: {{type: u32}}}}
tables:
  - name: t
    rowkey: [{{salt: 3, of: [id]}}, {{field: id, as: u32}}]
    timestamp: 5
    families: {{f: {{blocksize: 1K}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: file, file: splits.txt}}
"""


class Stream:
    """A job on a topic of two partitions."""

    def __init__(self, folder, name, more=""):
        self.topic = MockTopic(name, 2)
        self.folder, self.job, self.state = folder, folder / "job.yaml", folder / "state"
        (folder / "splits.txt").write_text("\\x01\n\\x02\n")
        self.job.write_text(JOB.format(brokers=self.topic.brokers, topic=name, more=more))
        self.now = {}

    def produce(self, ids, word):
        """Produces events. Each id always goes to one partition, so the order of its events is known."""
        for p in range(2):
            self.topic.produce(p, [json.dumps({"id": i, "v": f"{word}{i}"}).encode() for i in ids if i % 2 == p])
        self.now.update({i: f"{word}{i}" for i in ids})

    def load(self, name):
        done = loads.run("load", self.job, "-o", self.folder / name, "--state", self.state)
        assert done.returncode == 0, done.stderr
        return self.folder / name

    def ask(self, *words, status=0):
        done = loads.run(words[0], self.job, self.state, *words[1:])
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr


def decoded(text):
    return {int(line["id"]): line["f:v"] for line in csv.DictReader(text.splitlines())}


def published(s):
    done = loads.run("loads", "--state", s.state, "--json")
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three loads of one state, each with rows of the load before."""
    s = Stream(tmp_path_factory.mktemp("state"), "three")
    outs = []
    for n, ids in enumerate([range(60), range(40, 90), range(10, 120, 3)]):
        s.produce(ids, "abc"[n])
        outs.append(s.load(f"out{n}"))
        if n == 0:  # a position set by hand is not a load
            done = loads.run("seek", "--state", s.state, "0=30")
            assert done.returncode == 0, done.stderr
    return s, outs


def test_loads_in_their_order(three):
    s, outs = three
    text = s.ask("scan", "--decode", "--format", "csv")
    assert decoded(text) == s.now and len(s.now) > 90
    one_by_one = loads.run("scan", s.job, *outs, "--decode", "--format", "csv")
    assert text == one_by_one.stdout
    # in the other order other events win
    back = loads.run("scan", s.job, *outs[::-1], "--decode", "--format", "csv")
    assert decoded(back.stdout) != s.now
    assert s.ask("scan", "--quiet") == f"{len(s.now)} rows, {len(s.now)} cells\n"
    assert decoded(s.ask("get", "id=43", "--decode", "--format", "csv")) == {43: "c43"}
    assert decoded(s.ask("scan", "--where", "id >= 50 and id < 60", "--decode", "--format", "csv")) == {
        i: s.now[i] for i in range(50, 60)}
    # together with another load
    some = loads.run("scan", s.job, s.state, outs[0], "--where", "id = 43", "--decode", "--format", "csv")
    assert decoded(some.stdout) == {43: "a43"}


def test_what_is_not_there(three, tmp_path):
    s, outs = three
    names = [l["load"] for l in published(s) if not l["seek"]]
    manifest = outs[1] / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole.replace(b'"topic": "three"', b'"topic": "threE"'))
    why = s.ask("scan", status=1)
    assert names[1] in why and "differs from the published manifest" in why
    manifest.write_bytes(whole)
    shutil.move(outs[1], tmp_path / "elsewhere")
    try:
        why = s.ask("scan", status=1)
        assert names[1] in why and f"{outs[1]} does not exist" in why
        state = tmp_path / "copy"  # a load with only the mark of apply is still missing in the answer
        shutil.copytree(s.state, state)
        done = loads.run("loads", "--state", state, "--loaded", names[1])
        assert done.returncode == 0, done.stderr
        done = loads.run("scan", s.job, state)
        assert done.returncode == 1 and f"{outs[1]} is gone, expected all published loads" in done.stderr
    finally:
        shutil.move(tmp_path / "elsewhere", outs[1])
    (tmp_path / "nothing").mkdir()
    done = loads.run("scan", s.job, tmp_path / "nothing")
    assert done.returncode == 1 and "manifest.json" in done.stderr


@pytest.mark.parametrize("more", [", roll: {rows: 20, time: 1s}",
                                  ", roll: {rows: 20, time: 1s}, group: g, share: true"])
def test_a_stream(tmp_path, more):
    """Queries while the stream runs and after its end. With `share`, each partition has its own state."""
    s = Stream(tmp_path, "shared" if "share" in more else "alone", more)
    s.produce(range(70), "a")
    stream = subprocess.Popen([loads.PROGRAM, "stream", s.job, "--state", s.state, "--memory", "64M", "--quiet"])
    try:
        for word, ids in ("a", []), ("b", range(30, 80)):
            s.produce(ids, word)
            end = time.monotonic() + 60
            while sum(sum(r["end"] - r["start"] for r in l["offsets"]) for l in published(s)) < (70 if word == "a" else 120):
                assert stream.poll() is None and time.monotonic() < end
                time.sleep(0.2)
            assert decoded(s.ask("scan", "--decode", "--format", "csv")) == s.now
    finally:
        stream.send_signal(signal.SIGTERM)
        assert stream.wait(30) == 0
    assert len(published(s)) > 2
    assert decoded(s.ask("scan", "--decode", "--format", "csv")) == s.now
