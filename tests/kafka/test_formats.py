"""Tests every format of messages on a real broker. Key, headers and positions are also fields."""

import json
import subprocess

from oracle import unescape
from rig import Rig

TABLE = """\
tables:
  - name: t
    rowkey: [{{field: $partition, as: text, terminator: '-'}}, {{field: $offset, as: text}}]
    timestamp: ts
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: {column}}}]
    regions: {{split: none}}
"""
JOB = """\
source:
  kafka: {{brokers: "{brokers}", topic: {topic}, start: earliest, {how}}}
fields:
  ts: {{type: time, unit: ms, from: $timestamp}}
  {field}
"""


class Formats(Rig):
    def set(self, how, column, field=""):
        self.job.write_text(JOB.format(brokers=self.kafka.brokers, topic=self.topic, how=how, field=field)
                            + TABLE.format(column=column))

    def values(self, how, column, field="", rejects=0):
        self.set(how, column, field)
        _, out = self.load("--max-rejects", rejects, status=3 if rejects else 0, state=False)
        self.run("verify", out)
        self.out = out
        return {o: v for (_, o), (v, _) in self.cells(out).items()}


def make(saltmill, kafka, folder, topic):
    kafka.create(topic, 1)
    return Formats(saltmill, kafka, folder / "rig", topic)


def test_json(saltmill, kafka, tmp_path, topic):
    """Paths and indices find the same values that Python's json finds."""
    rig = make(saltmill, kafka, tmp_path, topic)
    events = [{"a": {"b": [{"c": f"x{i}"}, {"c": i}]}, "n": [[i, i + 1], [i * 2]]} for i in range(50)]
    kafka.produce(topic, [(0, None, json.dumps(e).encode()) for e in events])
    for path, of in (("a.b[0].c", lambda e: e["a"]["b"][0]["c"]), ("a.b[1].c", lambda e: str(e["a"]["b"][1]["c"])),
                     ("n[0][1]", lambda e: str(e["n"][0][1])), ("n[1][0]", lambda e: str(e["n"][1][0]))):
        found = rig.values("format: json", "x", f'x: {{type: text, from: "{path}"}}')
        assert found == {i: of(e) for i, e in enumerate(events)}


def test_delimited(saltmill, kafka, tmp_path, topic):
    rig = make(saltmill, kafka, tmp_path, topic)
    lines = [b"1;plain", b'2;"a;b"', b'3;"say ""x"""', b"4;last\n", b"5;too;many", b"6;a\n7;b"]
    kafka.produce(topic, [(0, None, v) for v in lines])
    found = rig.values("format: csv, columns: [id, text], delimiter: ';'", "text", rejects=2)
    assert {o: unescape(v).decode() for o, v in found.items()} == \
        {0: "plain", 1: "a;b", 2: 'say "x"', 3: "last"}
    rejects = [json.loads(l) for l in (rig.out / "rejects.jsonl").read_text().splitlines()]
    assert [(r["offset"], r["reason"]) for r in rejects] == [(4, "field_count"), (5, "several_rows")]
    assert all((r["topic"], r["partition"]) == (topic, 0) for r in rejects)


def test_beside_the_value(saltmill, kafka, tmp_path, topic):
    """Raw values; key, headers, partition, offset and time as Kafka's own client reads them."""
    rig = make(saltmill, kafka, tmp_path, topic)
    for i in range(3):
        done = subprocess.run(["kcat", "-P", "-b", kafka.brokers, "-t", topic, "-p", "0", "-K", "|", "-H", "kind=old",
                               "-H", f"kind=k{i}", "-H", "other=o"], input=f"key{i}|value{i}\n".encode(),
                              capture_output=True, timeout=30, check=False)
        assert done.returncode == 0, done.stderr
    records = kafka.records(topic)
    for column, of in (("$value", lambda p, o, r: r[1].decode()), ("$key", lambda p, o, r: r[0].decode()),
                       ("$header.kind", lambda p, o, r: f"k{o}"), ("$header.other", lambda p, o, r: "o"),
                       ("$partition", lambda p, o, r: str(p)), ("$offset", lambda p, o, r: str(o)),
                       ("$timestamp", lambda p, o, r: str(r[2]))):
        assert rig.values("format: raw", column) == {o: of(p, o, r) for (p, o), r in records.items()}


def test_tombstones(saltmill, kafka, tmp_path, topic):
    """Filtered or rejected, as the job requires."""
    rig = make(saltmill, kafka, tmp_path, topic)
    kafka.produce(topic, [(0, b"a", b"one"), (0, b"gone", None), (0, b"b", b"two"), (0, b"gone", None)])
    assert rig.values("format: raw", "$value") == {0: "one", 2: "two"}
    manifest = json.loads((rig.out / "manifest.json").read_text())
    assert manifest["read"] == 4 and manifest["tables"][0]["filtered"] == 2
    assert rig.values("format: raw, tombstones: reject", "$value", rejects=2) == {0: "one", 2: "two"}
    rejects = [json.loads(l) for l in (rig.out / "rejects.jsonl").read_text().splitlines()]
    assert [(r["reason"], r["offset"], r["key"]) for r in rejects] == [("tombstone", o, "gone") for o in (1, 3)]
