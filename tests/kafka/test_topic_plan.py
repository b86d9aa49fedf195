"""Compares `plan` and `drift` of a topic, and splits that several instances share, with Kafka's own records."""

import bisect
import json
import random
import subprocess
import threading

import pytest

from oracle import reversed_millis, salt, u32, unescape
from rig import Rig, tree

START = 1476640000000
KV_FIXED = 4 + 4 + 2 + 1 + 8 + 1  # lengths of key, value and row; of the family; timestamp; type
JOB = """\
source:
  kafka:
    brokers: {brokers}
    topic: {topic}
    format: json
    group: {topic}
    {more}
fields:
  user: {{type: u32}}
  ts:   {{type: time, unit: ms, from: $timestamp}}
tables:
  - name: t
    rowkey: [{{salt: 4, of: [user]}}, {{field: user, as: u32}}, {{field: ts, as: reversed_millis}}]
    timestamp: ts
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {regions}
"""


def make_messages(n, partitions, seed=1):
    """Few users have many events. No two events have the same user and time."""
    dice = random.Random(seed)
    return [(dice.randrange(partitions), None,
             b'{"user":%d,"v":"%s"}' % (2 ** (dice.random() * 16), b"x" * dice.randrange(20)),
             START + seed * 10_000_000 + i) for i in range(n)]


class Topic(Rig):
    def set(self, more="start: earliest", regions="{split: sampled, count: 8}"):
        self.job.write_text(JOB.format(brokers=self.kafka.brokers, topic=self.topic, more=more, regions=regions))

    def plan(self, *words, status=0):
        done = self.run("plan", self.job, "--json", "--quiet", *words, status=status)
        [table] = json.loads(done.stdout)["tables"]
        return table

    def account(self, partitions=range(99), since=None):
        """Returns the row key of each event that Kafka's own client reads, and the event's size as one KeyValue."""
        for (p, o), (_, v, ts) in self.kafka.records(self.topic).items():
            if v is None or v.endswith(b"oops") or p not in partitions or o < (since or {}).get(p, 0):
                continue
            event = json.loads(v)
            key = salt(4, u32(event["user"])) + u32(event["user"]) + reversed_millis(ts)
            yield key, KV_FIXED + len(key) + len("fv") + len(event["v"])


@pytest.fixture
def rig(saltmill, kafka, tmp_path, topic):
    r = Topic(saltmill, kafka, tmp_path / "rig", topic)
    r.set()
    return r


def sizes(borders, account):
    """Returns bytes and rows between the borders."""
    size, count = [0] * (len(borders) + 1), [0] * (len(borders) + 1)
    for key, weight in account:
        region = bisect.bisect_right(borders, key)
        size[region] += weight
        count[region] += 1
    return size, count


def check_plan(table, account, most=1.05):
    size, count = sizes([unescape(r["start"]) for r in table["regions"][1:]], account)
    assert (table["rows"], table["cell_bytes"]) == (sum(count), sum(size))
    assert max(size) * len(size) / sum(size) <= most
    for r, s in zip(table["regions"], size):
        assert abs(r["cell_bytes"] - s) <= r["cell_bytes_error"] + 1 + 0.01 * s
    return size


def test_plan(rig, kafka):
    """The topic has six partitions, tombstones, and a bad message. plan counts as Kafka counts, and changes nothing."""
    kafka.create(rig.topic, 6)
    kafka.produce(rig.topic, make_messages(30000, 6), "lz4")
    kafka.produce(rig.topic, [(i % 6, b"gone", None) for i in range(200)] + [(2, None, b"oops")])
    before = tree(rig.folder)
    done = rig.run("plan", rig.job, status=3)
    assert "looked at 30,201 events, 1 of them bad" in done.stdout
    check_plan(rig.plan(status=3), rig.account())
    assert tree(rig.folder) == before and kafka.committed(rig.topic, rig.topic) == {}
    # a load then cuts at these splits
    rig.plan("-o", rig.folder / "plan", status=3)
    rig.set(regions=f"{{split: file, file: {rig.folder}/plan/t/splits.txt}}")
    _, out = rig.load("--max-rejects", 1, status=3)
    splits = (rig.folder / "plan/t/splits.txt").read_text()
    assert (out / "t/splits.txt").read_text() == splits and splits.count("\n") == 7


def test_plan_ends(rig, kafka):
    """plan reads up to the end offsets at its start, although messages keep arriving."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, make_messages(20000, 2))
    stop = threading.Event()

    def pour():
        while not stop.is_set():
            kafka.pour(rig.topic, 0, [b'{"user":1,"v":"late"}'] * 2000, "none")

    thread = threading.Thread(target=pour)
    thread.start()
    try:
        first = rig.plan()["rows"]
        assert 20000 <= first <= kafka_high(kafka, rig.topic)
        assert first <= rig.plan()["rows"]
    finally:
        stop.set()
        thread.join()


def kafka_high(kafka, topic):
    done = subprocess.run(["kcat", "-Q", "-b", kafka.brokers, "-t", f"{topic}:0:-1", "-t", f"{topic}:1:-1"],
                          capture_output=True, text=True, check=True)
    return sum(int(line.split()[-1]) for line in done.stdout.splitlines())


def test_what_the_next_load_takes(rig, kafka):
    """plan only reads the folder of --state, also while a stream uses it."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, make_messages(3000, 3))
    done = rig.run("plan", rig.job, "--state", rig.state, status=2)
    assert str(rig.state) in done.stderr and not rig.state.exists()
    rig.load()
    since = dict(enumerate(e for _, e in kafka.ends(rig.topic)))
    kafka.produce(rig.topic, make_messages(2000, 3, seed=2))
    before, noted = tree(rig.state), kafka.committed(rig.topic, rig.topic)
    table = rig.plan("--state", rig.state)
    assert table["rows"] == 2000
    check_plan(table, rig.account(since=since))
    (rig.folder / "live").write_text("Total number of splits = 2\n\\x02\n")
    done = rig.run("drift", rig.job, "--existing", rig.folder / "live", "--state", rig.state, "--json")
    [table] = json.loads(done.stdout)["tables"]
    assert [r["rows"] for r in table["regions"]] == sizes([b"\2"], rig.account(since=since))[1]
    assert tree(rig.state) == before and kafka.committed(rig.topic, rig.topic) == noted
    done = rig.run("plan", rig.job, "--state", rig.state, rig.folder / "live", status=2)
    assert "--state: found a source of files, expected a `kafka:` source" in done.stderr


def test_sample_of_a_topic(rig, kafka):
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, make_messages(40000, 2), "lz4")
    table = rig.plan("--sample", "25%")
    assert table["input_share"] < 0.3 and abs(table["rows"] - 40000) <= table["scale_error"] * 40000 + 1
    size, _ = sizes([unescape(r["start"]) for r in table["regions"][1:]], rig.account())
    assert max(size) * 8 / sum(size) < 1.3


def test_drift_and_existing(rig, kafka):
    """drift reports the exact distribution of the topic over a table's regions. A load has exactly these regions."""
    kafka.create(rig.topic, 6)
    kafka.produce(rig.topic, make_messages(20000, 6), "gzip")
    borders = [b"\0\0\0\0\x10", b"\1", b"\2\0\0\1", b"\3"]
    text = ["".join(f"\\x{b:02X}" for b in k) for k in borders]
    live = rig.folder / "live"
    live.write_text("\n".join([f"Total number of splits = {len(text) + 1}", *text]) + "\n")
    done = rig.run("drift", rig.job, "--existing", live, "--json")
    [table] = json.loads(done.stdout)["tables"]
    size, count = sizes(borders, rig.account())
    assert [r["rows"] for r in table["regions"]] == count
    assert table["rows"] == 20000 and not rig.state.exists()
    _, out = rig.load("--existing", live)
    manifest = json.loads((out / "manifest.json").read_text())
    assert [unescape(r["start"]) for r in manifest["tables"][0]["regions"][1:]] == borders
    assert [r["rows"] for r in manifest["tables"][0]["regions"]] == count
    assert sum(size) == sum(w for _, w in rig.account())


def test_memory(rig, kafka):
    """85 MB of messages, compressed 25 to 1, need at most --memory plus 32 MB."""
    kafka.create(rig.topic, 2)
    for i in range(2):
        kafka.pour(rig.topic, i, [b'{"user":%d,"v":"%0400d"}' % (k * 7919 % 100003, k) for k in range(100_000)], "lz4")
    (rig.folder / "live").write_text("Total number of splits = 2\n\\x02\n")
    for mib, command in ((32, ["plan", rig.job]), (32, ["drift", rig.job, "--existing", rig.folder / "live"]),
                         (16, ["load", rig.job, "-o", rig.folder / "16"]), (64, ["load", rig.job, "-o", rig.folder / "64"])):
        done = subprocess.run(["/usr/bin/time", "-f", "%M", rig.saltmill, *command, "--quiet", "--json", "--memory", f"{mib}M"],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["tables"][0]["rows"] > 0
        assert int(done.stderr.split()[-1]) / 1024 <= mib + 32, command


def test_three_instances(saltmill, kafka, tmp_path, topic):
    """Each instance plans its partitions, one instance merges the plans, and all load into the same regions."""
    lists = ("[0, 3]", "[1, 4]", "[2, 5]")
    rigs = [Topic(saltmill, kafka, tmp_path / str(i), topic) for i in range(3)]
    whole = Topic(saltmill, kafka, tmp_path / "whole", topic)
    kafka.create(topic, 6)
    # partitions have different contents, so no part resembles the whole
    kafka.produce(topic, [(p, None, b'{"user":%d,"v":"%s"}' % (p * 9000 + i * 7919 % 9000, b"y" * (4 * p)), START + i)
                          for i in range(10000) for p in range(6)], "lz4")
    files = []
    for r, l in zip(rigs, lists):
        r.set(f"partitions: {l}")
        files.append(r.folder / "sketch")
        table = r.plan("--save", files[-1])
        assert table["rows"] == 20000
    whole.set()
    merged = whole.plan("--from", *files, "-o", tmp_path / "shared")
    check_plan(merged, whole.account())
    alone = whole.plan()
    assert (merged["rows"], merged["cell_bytes"]) == (alone["rows"], alone["cell_bytes"]) == \
        (60000, sum(w for _, w in whole.account()))
    outs = []
    for r, l in zip(rigs, lists):
        r.set(f"partitions: {l}", f"{{split: file, file: {tmp_path}/shared/t/splits.txt}}")
        outs.append(r.load()[1])
        r.run("verify", outs[-1])
    tables = [json.loads((o / "manifest.json").read_text())["tables"][0] for o in outs]
    starts = [r["start"] for r in merged["regions"]]
    assert all([r["start"] for r in t["regions"]] == starts for t in tables)
    assert len({(o / "t/create.rb").read_text() for o in outs}) == 1
    # together the loads fill the regions as planned
    _, count = sizes([unescape(s) for s in starts[1:]], whole.account())
    assert [sum(rows) for rows in zip(*([r["rows"] for r in t["regions"]] for t in tables))] == count
