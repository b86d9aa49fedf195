"""Is it still the topic that was loaded?  What the state knows of it is the last message loaded."""

import json
import pathlib
import signal
import time

import pytest

from rig import STEPS, value

START = 1476640000000  # ms


def remake(rig, kafka, partitions, messages):
    """Delete the topic, make it anew and fill it."""
    kafka.call("delete", rig.topic)
    end = time.monotonic() + 20
    while True:
        try:
            kafka.create(rig.topic, partitions)
            break
        except Exception as e:  # still being deleted
            assert "TopicExists" in str(e) and time.monotonic() < end, e
            time.sleep(0.1)
    kafka.produce(rig.topic, messages)


def spread(partitions, start, count, ts=None):
    return [(i % partitions, None, value(start + i), *([] if ts is None else [ts]))
            for i in range(count)]


@pytest.mark.parametrize("count", [101, 300], ids=["one", "many"])
def test_made_anew_and_grown(rig, kafka, count):
    """The positions are within the new topic: only its messages tell."""
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
    rig.load(status=1)  # and again, until something is done about it
    rig.run("seek", "--state", rig.state, "0=0", "1=0")
    done, out = rig.load()
    assert rig.cells(out) == rig.expected()
    kafka.produce(rig.topic, spread(2, 9000, 10))
    done, out = rig.load()
    assert len(rig.cells(out)) == 10


def test_made_anew_just_as_long(rig, kafka):
    """No offset more than before, so nothing to load; even that is no reason to go on."""
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, spread(1, 0, 50))
    rig.load()
    remake(rig, kafka, 1, spread(1, 700, 50))
    done, _ = rig.load(status=1)
    assert "partition 0: found another message" in done.stderr


def test_one_partition_rolled_back(rig, kafka):
    """The other partition is as it was and stays where it is."""
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
    """The same offset with another value, key or time; a key that is empty is not null."""
    first = {"value": (b"k", value(1), START), "key": (b"k", value(1), START),
             "null": (b"", value(1), START), "time": (b"k", value(1), START)}[change]
    other = {"value": (b"k", value(2), START), "key": (b"j", value(1), START),
             "null": (None, value(1), START), "time": (b"k", value(1), START + 1)}[change]
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, [(0, *first)])
    rig.load()
    remake(rig, kafka, 1, [(0, *first)] * 2)
    _, out = rig.load()  # nobody can tell
    assert len(rig.cells(out)) == 1
    remake(rig, kafka, 1, [(0, *other)] * 3)
    done, _ = rig.load(status=1)
    assert "another message" in done.stderr


def test_stream(rig, kafka):
    """Made anew behind the back of a running stream, which was not looking."""
    rig.configure("start: earliest\n    roll: {time: 1s}")
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    process = rig.stream()
    process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    remake(rig, kafka, 2, spread(2, 5000, 300))
    process.send_signal(signal.SIGCONT)
    err = rig.wait(process)
    # a question that was under way when the process was stopped is answered "no such topic"
    assert "another message" in err or "has no topic" in err, err
    done = rig.run("stream", rig.job, "--state", rig.state, status=1)
    assert "another message" in done.stderr
    assert [l["read"] for l in rig.loads()] == [100]
    rig.run("seek", "--state", rig.state, "0=0", "1=0")
    _, out = rig.load()
    assert rig.cells(out) == rig.expected()


def test_deleted_under_a_stream(rig, kafka):
    """librdkafka's own end hangs now and then; that is no reason for ours to."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, spread(3, 0, 100))
    rig.configure("start: earliest\n    roll: {rows: 100}")
    process = rig.stream()
    process.stdout.readline()
    kafka.call("delete", rig.topic)
    err = rig.wait(process, 15)
    assert process.returncode == 1 and "has no topic" in err, err


def test_silent(rig, kafka):
    """Load after load of one topic, some without an event, behind aborted transactions and seeks."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, spread(2, 0, 100))  # nothing in partition 2
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
    """What was loaded is deleted, as it may be: nothing is lost, but nothing can be compared."""
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, spread(3, 0, 90))
    rig.load()
    kafka.call("truncate", rig.topic, 0, 30)
    kafka.call("truncate", rig.topic, 2, 30)
    kafka.produce(rig.topic, [(2, None, value(1000))])
    done, out = rig.load()
    assert f"topic {rig.topic}, partitions 0 2: the brokers no longer have" in done.stderr
    assert "the load continues" in done.stderr and len(rig.cells(out)) == 1
    done, _ = rig.load()
    assert "no longer have" not in done.stderr


def test_compacted(rig, kafka):
    """The message that was loaded last is compacted away."""
    kafka.create(rig.topic, 1, cleanup_policy="compact", segment_ms=100,
                 min_cleanable_dirty_ratio=0.01, max_compaction_lag_ms=100)
    kafka.produce(rig.topic, [(0, b"a", value(i), START + i) for i in range(10)])
    rig.load()
    n, end = 10, time.monotonic() + 60
    while (0, 9) in kafka.records(rig.topic):
        assert time.monotonic() < end, "the broker does not compact"
        n += 1000
        kafka.produce(rig.topic, [(0, b"a", value(n), START + n)])
        time.sleep(0.3)
    done, _ = rig.load()
    assert f"topic {rig.topic}, partition 0: the brokers no longer have" in done.stderr


def test_state_of_before(rig, kafka):
    """A state folder that knows no messages is one all the same, and learns them."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    rig.load()
    for path in (rig.state / "loads").glob("*.json"):
        record = json.loads(path.read_text())
        for r in record["offsets"]:
            r.pop("last", None)
        record.pop("manifest", None)
        record.pop("digest", None)  # of the record itself: older ones have none
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
    """Killed in the second load: what the state knows afterwards is what it would have known."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, spread(2, 0, 100))
    rig.load()
    kafka.produce(rig.topic, spread(2, 200, 100))
    rig.load(env={"SALTMILL_CRASH_AT": step}, status=-9)
    done, _ = rig.load()
    assert "another message" not in done.stderr and "no longer have" not in done.stderr
    rig.check()
    remake(rig, kafka, 2, spread(2, 5000, 300))
    done, _ = rig.load(status=1)
    assert "(0: offset 99)" in done.stderr
