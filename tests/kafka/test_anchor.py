"""Tests that saltmill detects a recreated topic. The state has the topic's id and the last message of each partition."""

import json
import pathlib
import signal

import pytest

from cluster import wait_until
from rig import STEPS, value

START = 1476640000000  # ms


def forget_id(rig):
    """Makes a state without topic ids, as with an old broker, so that saltmill compares only messages."""
    path = rig.state / "topic.json"
    topic = json.loads(path.read_text())
    topic.pop("id", None)
    topic.pop("digest", None)
    path.write_text(json.dumps(topic))


def remake(rig, kafka, partitions, messages, forget=True):
    """Deletes the topic, recreates it and fills it."""
    if forget:
        forget_id(rig)
    kafka.remove(rig.topic)
    kafka.create(rig.topic, partitions)
    kafka.produce(rig.topic, messages)


def spread(partitions, start, count, ts=None):
    return [(i % partitions, None, value(start + i), *([] if ts is None else [ts]))
            for i in range(count)]


@pytest.mark.parametrize("count", [101, 300], ids=["one", "many"])
def test_made_anew_and_grown(rig, kafka, count):
    """The positions exist in the new topic, so only its messages show the difference."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    rig.load()
    remake(rig, kafka, 2, spread(2, 5000, count))
    done, out = rig.load(status=1)
    assert not out.exists()
    assert f"topic {rig.topic}, partitions 0 1: " in done.stderr
    assert "(0: offset 49)" in done.stderr and "recreated" in done.stderr
    assert "published loads are safe" in done.stderr
    assert f"`saltmill seek --state {rig.state} 0=0 1=0`" in done.stderr
    assert f"`saltmill seek --state {rig.state} 0=50 1=50`" in done.stderr
    rig.load(status=1)  # and again, until the user acts
    rig.run("seek", "--state", rig.state, "0=0", "1=0")
    done, out = rig.load()
    assert rig.cells(out) == rig.expected()
    kafka.produce(rig.topic, spread(2, 9000, 10))
    done, out = rig.load()
    assert len(rig.cells(out)) == 10


def test_made_anew_just_as_long(rig, kafka):
    """The new topic has the same number of offsets, so there is nothing to load. The difference is still an error."""
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, spread(1, 0, 50))
    rig.load()
    remake(rig, kafka, 1, spread(1, 700, 50))
    done, _ = rig.load(status=1)
    assert "partition 0: found another message" in done.stderr


def test_one_partition_rolled_back(rig, kafka):
    """The other partition does not change and keeps its position."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    rig.load()
    # partition 1 comes back with the same messages and times, 0 with others
    remake(rig, kafka, 2, [m if m[0] else (0, None, value(77)) for m in spread(2, 0, 100)])
    kafka.produce(rig.topic, spread(2, 300, 10))
    done, _ = rig.load(status=1)
    assert "partition 0: found another message" in done.stderr and "1=" not in done.stderr
    rig.run("seek", "--state", rig.state, "0=50")
    _, out = rig.load()
    assert set(rig.cells(out)) == {(p, o) for p in range(2) for o in range(50, 55)}


@pytest.mark.parametrize("change", ["value", "key", "null", "time"])
def test_what_is_compared(rig, kafka, change):
    """The same offset has another value, key or time. An empty key is not null."""
    first = {"value": (b"k", value(1), START), "key": (b"k", value(1), START),
             "null": (b"", value(1), START), "time": (b"k", value(1), START)}[change]
    other = {"value": (b"k", value(2), START), "key": (b"j", value(1), START),
             "null": (None, value(1), START), "time": (b"k", value(1), START + 1)}[change]
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, [(0, *first)])
    rig.load()
    remake(rig, kafka, 1, [(0, *first)] * 2)
    _, out = rig.load()  # the data cannot show it
    assert len(rig.cells(out)) == 1
    remake(rig, kafka, 1, [(0, *other)] * 3)
    done, _ = rig.load(status=1)
    assert "another message" in done.stderr


def test_stream(rig, kafka):
    """The test recreates the topic while a stream runs and does not check the topic."""
    rig.configure("start: earliest\n    roll: {time: 1s}")
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    process = rig.stream()
    process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    remake(rig, kafka, 2, spread(2, 5000, 300), forget=False)
    process.send_signal(signal.SIGCONT)
    err = rig.wait(process)
    # a query gets the answer "no such topic" if the process stops meanwhile
    assert "deleted and recreated" in err or "has no topic" in err, err
    done = rig.run("stream", rig.job, "--state", rig.state, status=1)
    assert "deleted and recreated" in done.stderr
    assert [l["read"] for l in rig.loads()] == [100]
    rig.run("seek", "--state", rig.state, "0=0", "1=0")
    _, out = rig.load()
    assert rig.cells(out) == rig.expected()


@pytest.mark.parametrize("several", [False, True], ids=["one", "list"])
def test_same_messages(rig, kafka, several):
    """The new topic has the same messages at the same offsets and times, so only the id differs."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100, START))
    if several:
        rig.job.write_text(rig.job.read_text().replace(f"topic: {rig.topic}", f"topics: [{rig.topic}]"))
    rig.load()
    remake(rig, kafka, 2, spread(2, 0, 300, START), forget=False)
    name = f"{rig.topic}/" if several else ""
    for command in (["load", rig.job, "-o", rig.folder / "no"], ["plan", rig.job]):
        done = rig.run(*command, "--state", rig.state, status=1)
        assert "somebody deleted and recreated topic" in done.stderr and ": found the topic id " in done.stderr
        assert f"`saltmill seek --state {rig.state} {name}0=0 {name}1=0`" in done.stderr
        assert f"`saltmill seek --state {rig.state} {name}0=50 {name}1=50`" in done.stderr
    done = rig.run("seek", "--state", rig.state, f"{name}0=0", status=2)
    assert "no position for partition 1" in done.stderr and "saltmill set no position" in done.stderr
    rig.load(status=1)
    rig.run("seek", "--state", rig.state, f"{name}0=0", f"{name}1=50")
    _, out = rig.load()
    assert set(rig.cells(out)) == {(p, o) for p in range(2) for o in range(50 * p, 150)}


def test_same_messages_under_a_stream(rig, kafka):
    """The program did not check while the topic was missing."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100, START))
    rig.configure("start: earliest\n    roll: {rows: 100}")
    process = rig.stream()
    process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    remake(rig, kafka, 2, spread(2, 0, 300, START), forget=False)
    process.send_signal(signal.SIGCONT)
    err = rig.wait(process)
    assert process.returncode == 1 and ("topic id" in err or "has no topic" in err), err
    assert [l["read"] for l in rig.loads()] == [100]


def test_id_of_the_broker(rig, kafka):
    """The state has the same id that Kafka's own client shows."""
    kafka.create(rig.topic, 1)
    rig.load()
    assert json.loads((rig.state / "topic.json").read_text())["id"] == kafka.call("id", rig.topic)[0]


def test_deleted_under_a_stream(rig, kafka):
    """librdkafka's close hangs sometimes. The program must still end."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, spread(3, 0, 100))
    rig.configure("start: earliest\n    roll: {rows: 100}")
    process = rig.stream()
    process.stdout.readline()
    kafka.call("delete", rig.topic)
    err = rig.wait(process, 15)
    assert process.returncode == 1 and "has no topic" in err, err


def test_silent(rig, kafka):
    """Makes load after load of one topic, some without an event, after aborted transactions and seeks."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, spread(2, 0, 100))  # no message in partition 2
    said = []
    for n in range(3):
        said += [rig.load()[0].stderr, rig.load()[0].stderr]
        kafka.produce(rig.topic, spread(3, n * 1000, 30), transaction=rig.topic, commit=n % 2 == 0)
    rig.run("seek", "--state", rig.state, "0=5", "2=0")
    said.append(rig.load()[0].stderr)
    assert not [s for s in said if "loaded last" in s or "was recreated" in s]
    last = rig.loads()[-1]
    record = json.loads((rig.state / "loads" / f"{last['load']}.json").read_text())
    manifest = json.loads((pathlib.Path(last["output"]) / "manifest.json").read_text())
    records = kafka.records(rig.topic)
    for r, m in zip(record["offsets"], manifest["offsets"]):
        assert r["last"] == m["last"]
        newest = max(o for p, o in records if p == r["partition"])
        assert r["last"]["offset"] == newest and r["last"]["timestamp_ms"] == 1476640644000


def test_deleted_by_hand(rig, kafka):
    """The broker deletes loaded messages, which is no fault. saltmill loses no message, but cannot compare
    messages."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, spread(3, 0, 90))
    rig.load()
    kafka.call("truncate", rig.topic, 0, 30)
    kafka.call("truncate", rig.topic, 2, 30)
    kafka.produce(rig.topic, [(2, None, value(1000))])
    done, out = rig.load()
    assert f"topic {rig.topic}, partitions 0 2: the brokers deleted the last loaded message" in done.stderr
    assert "the load continues" in done.stderr and len(rig.cells(out)) == 1
    done, _ = rig.load()
    assert "the brokers deleted the last loaded message" not in done.stderr


def test_compacted(rig, kafka):
    """Compaction removes the last loaded message."""
    kafka.create(rig.topic, 1, cleanup_policy="compact", segment_ms=100,
                 min_cleanable_dirty_ratio=0.01, max_compaction_lag_ms=100)
    kafka.produce(rig.topic, [(0, b"a", value(i), START + i) for i in range(10)])
    rig.load()
    n = 10

    def compacted():
        nonlocal n
        if (0, 9) not in kafka.records(rig.topic):
            return True
        n += 1000
        kafka.produce(rig.topic, [(0, b"a", value(n), START + n)])
        return False
    wait_until(compacted, pause=0.3)
    done, _ = rig.load()
    assert f"topic {rig.topic}, partition 0: the brokers deleted the last loaded message" in done.stderr


def test_state_of_before(rig, kafka):
    """A state folder without recorded messages is valid, and records them with the next load."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    rig.load()
    for path in (rig.state / "loads").glob("*.json"):
        record = json.loads(path.read_text())
        for r in record["offsets"]:
            r.pop("last", None)
        record.pop("manifest", None)
        record.pop("digest", None)  # of the record; older records lack it
        path.write_text(json.dumps(record))
    kafka.produce(rig.topic, spread(2, 200, 10))
    done, _ = rig.load()
    assert "loaded last" not in done.stderr
    rig.check()
    remake(rig, kafka, 2, spread(2, 5000, 300))
    done, _ = rig.load(status=1)
    assert "another message" in done.stderr


@pytest.mark.parametrize("step", STEPS[STEPS.index("intent"):-1])
def test_known_after_a_crash(rig, kafka, step):
    """The program dies in the second load. Afterwards the state equals that of an undisturbed run."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    rig.load()
    kafka.produce(rig.topic, spread(2, 200, 100))
    rig.load(env={"SALTMILL_CRASH_AT": step}, status=-9)
    done, _ = rig.load()
    assert "another message" not in done.stderr and "the brokers deleted the last loaded message" not in done.stderr
    rig.check()
    remake(rig, kafka, 2, spread(2, 5000, 300))
    done, _ = rig.load(status=1)
    assert "(0: offset 99)" in done.stderr
