"""Tests that a load sends all rejected messages unchanged to a separate topic before its publication."""

import json
import subprocess

import pytest

from rig import Rig, value

UNIT = "\x1f"


class Dead(Rig):
    """The input messages have headers. Kafka's own tools read the dead-letter topic."""

    def __init__(self, saltmill, kafka, folder, topic, more="", **config):
        self.dead = f"{topic}.dead"
        super().__init__(saltmill, kafka, folder, topic, f"dead_letters: {{topic: {self.dead}}}{more}")
        kafka.create(topic, 2)
        kafka.create(self.dead, 1, **config)

    def letters(self):
        """Returns [(key, value, {header: value})], read with kcat."""
        done = subprocess.run(["kcat", "-C", "-e", "-q", "-b", self.kafka.brokers, "-t", self.dead, "-f",
                               f"%k{UNIT}%S{UNIT}%s{UNIT}%h\n"], capture_output=True, timeout=60, check=True)
        found = []
        for line in done.stdout.decode().splitlines():
            key, size, text, headers = line.split(UNIT)
            found.append((key, None if size == "-1" else text, dict(h.split("=", 1) for h in headers.split(","))))
        return found


def pour(kafka, topic, partition, text, *headers):
    done = subprocess.run(["kcat", "-P", "-b", kafka.brokers, "-t", topic, "-p", str(partition), "-K", "|",
                           *(w for h in headers for w in ("-H", h))], input=text, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_letters(saltmill, kafka, tmp_path, topic):
    """Key, value, headers and time do not change, and headers give the reason and the origin. A replay sends no dead
    letters."""
    rig = Dead(saltmill, kafka, tmp_path / "rig", topic)
    pour(kafka, topic, 1, b"k1|oops\n", "kind=a", "other=b")
    kafka.produce(topic, [(0, None, value(1)), (0, b"k0", b'{"v":', 1500000000000), (1, None, value(2)), (0, None, None)])
    rig.job.write_text(rig.job.read_text().replace("format: json", "format: json\n    tombstones: reject"))
    _, out = rig.load("--max-rejects", 3, status=3)
    rejects = [json.loads(l) for l in (out / "rejects.jsonl").read_text().splitlines()]
    found = {(h["saltmill.topic"], int(h["saltmill.partition"]), int(h["saltmill.offset"])): (k, v, h) for k, v, h in rig.letters()}
    assert set(found) == {(r["topic"], r["partition"], r["offset"]) for r in rejects} == {(topic, 1, 0), (topic, 0, 1), (topic, 0, 2)}
    assert found[topic, 1, 0] == ("k1", "oops", {"kind": "a", "other": "b", "saltmill.reason": "bad_json", "saltmill.topic": topic,
                                                 "saltmill.partition": "1", "saltmill.offset": "0"})
    assert found[topic, 0, 1][:2] == ("k0", '{"v":')
    assert found[topic, 0, 2][1] is None and found[topic, 0, 2][2]["saltmill.reason"] == "tombstone"
    assert {ts for _, _, ts in kafka.records(rig.dead).values()} > {1500000000000}
    kafka.produce(topic, [(0, None, value(3))])
    rig.load()
    rig.run("replay", out, "--rejects", "-o", rig.folder / "again", "--max-rejects", 3, status=3)
    assert len(rig.letters()) == 3


def test_field(saltmill, kafka, tmp_path, topic):
    rig = Dead(saltmill, kafka, tmp_path / "rig", topic)
    rig.job.write_text(rig.job.read_text().replace("fields:", "fields:\n  v: {type: u32}"))
    kafka.produce(topic, [(0, None, b'{"v":"many"}')])
    rig.load("--max-rejects", 1, status=3)
    [(_, text, headers)] = rig.letters()
    assert text == '{"v":"many"}' and headers["saltmill.field"] == "v"


@pytest.mark.parametrize("step", ["dead-letters", "publishing"])
def test_killed(saltmill, kafka, tmp_path, topic, step):
    """The load sends messages at least once. A repeated load sends its messages again, and the headers show which messages
    are duplicates."""
    rig = Dead(saltmill, kafka, tmp_path / "rig", topic)
    kafka.produce(topic, [(i % 2, None, b"oops" if i % 10 == 0 else value(i)) for i in range(100)])
    rig.load("--max-rejects", 10, env={"SALTMILL_CRASH_AT": step}, status=-9)
    assert not rig.loads()
    first = rig.letters()
    rig.load("--max-rejects", 10)
    places = [tuple(h[f"saltmill.{w}"] for w in ("topic", "partition", "offset")) for _, _, h in rig.letters()]
    assert len(first) == 10 and len(places) == 20 and len(set(places)) == 10
    [load, _] = rig.loads()
    assert load["rejected"] == 10


def test_refused(saltmill, kafka, tmp_path, topic):
    """If the topic does not exist, saltmill publishes nothing and loses nothing. An input topic cannot be the
    dead-letter topic."""
    rig = Dead(saltmill, kafka, tmp_path / "rig", topic)
    kafka.produce(topic, [(0, None, value(1)), (0, None, b"oops")])
    rig.configure(f"dead_letters: {{topic: {topic}.none}}")
    done, out = rig.load("--max-rejects", 1, status=1)
    assert f"cannot produce to topic {topic}.none" in done.stderr and not out.exists() and not rig.loads()
    rig.configure(f"dead_letters: {{topic: {rig.dead}}}")
    rig.load("--max-rejects", 1, status=3)
    assert len(rig.letters()) == 1
    rig.configure(f"dead_letters: {{topic: {topic}}}")
    done, _ = rig.load(status=2)
    assert "which the job also reads" in done.stderr


def test_too_large(saltmill, kafka, tmp_path, topic):
    """The topic has a smaller limit. The load sends messages that fit whole, and other messages without their value. This is
    reported."""
    rig = Dead(saltmill, kafka, tmp_path / "rig", topic, max_message_bytes=2000)
    kafka.produce(topic, [(0, b"k%d" % i, b"x" * (5000 if i % 7 == 3 else 100 + i)) for i in range(50)])
    done, _ = rig.load("--max-rejects", 50, status=3)
    large = [i for i in range(50) if i % 7 == 3]
    letters = rig.letters()
    whole = {k: len(v) for k, v, h in letters if "saltmill.too_large" not in h}
    assert whole == {f"k{i}": 100 + i for i in range(50) if i not in large}
    cut = {k: (v, h["saltmill.too_large"]) for k, v, h in letters if "saltmill.too_large" in h}
    assert cut == {f"k{i}": ("", "5000") for i in large}
    assert done.stderr.count("rejects the letter's 5000 bytes as too large") == len(large)


def test_stream(saltmill, kafka, tmp_path, topic):
    """A stream's loads send their dead letters, each once if no process dies."""
    rig = Dead(saltmill, kafka, tmp_path / "rig", topic, "\n    roll: {rows: 100, time: 1s}\n    group: dead")
    kafka.produce(topic, [(i % 2, None, b"oops" if i % 50 == 0 else value(i)) for i in range(1000)])
    process = rig.stream()
    lines = [process.stdout.readline() for _ in range(10)]
    rig.end(process, 3)
    assert all("published as" in l for l in lines)
    assert len(rig.letters()) == sum(l["rejected"] for l in rig.loads()) == 20
