"""Tests a batch that the broker's disk has damaged. saltmill loads the messages before the batch, and the user can skip the batch."""

import pathlib

from rig import value


def fill(rig, kafka, partitions=1, batches=5, size=10):
    kafka.create(rig.topic, partitions)
    for b in range(batches):
        kafka.produce(rig.topic, [(i % partitions, None, value(b * 1000 + i)) for i in range(size * partitions)])


def test_load(rig, kafka):
    """The error names the batch, the command that loads the part before it, and the command that skips the batch. The
    test runs both commands."""
    fill(rig, kafka)
    before = kafka.records(rig.topic)
    first, after = kafka.damage(rig.topic, 0, 25)
    assert (first, after) == (20, 30)
    done, out = rig.load(status=1)
    assert not out.exists()
    print(done.stderr)
    assert f"{rig.topic}/0 at offset 20: " in done.stderr
    assert "--until 0=20" in done.stderr and f"`saltmill seek --state {rig.state} 0=30`" in done.stderr
    _, out = rig.load("--until", "0=20")
    assert set(rig.cells(out)) == {(0, o) for o in range(20)}
    done, _ = rig.load(status=1)
    assert "at offset 20" in done.stderr and "--until" not in done.stderr
    rig.run("seek", "--state", rig.state, "0=30")
    _, out = rig.load()
    assert set(rig.cells(out)) == {at for at in before if at[1] >= 30}


def test_only_what_was_loaded(rig, kafka):
    """The batch contains the last loaded message, so saltmill loses no message, but cannot compare this message."""
    fill(rig, kafka, batches=1)
    rig.load()
    kafka.produce(rig.topic, [(0, None, value(i)) for i in range(10)])
    kafka.damage(rig.topic, 0, 9)
    done, out = rig.load()
    assert "cannot check whether this is a new topic" in done.stderr and len(rig.cells(out)) == 10
    kafka.damage(rig.topic, 0, 15)
    done, out = rig.load()
    assert "cannot check whether this is a new topic" in done.stderr and rig.cells(out) == {}


def test_last_batch(rig, kafka):
    """No batch follows, so the end of the partition is the next offset."""
    fill(rig, kafka, batches=2)
    kafka.damage(rig.topic, 0, 19)
    done, _ = rig.load(status=1)
    assert "--until 0=10`" in done.stderr and "0=20` skips" in done.stderr


def test_until(rig, kafka):
    """Every offset is in one load, wherever loads end. seek refuses offsets and partitions that do not exist."""
    fill(rig, kafka, partitions=2)
    for words, end in (("0=7,1=50", (7, 50)), (f"{rig.topic}/0=33", (33, 50)), ("1=50", (50, 50))):
        rig.load("--until", words)
        assert tuple(r["end"] for r in rig.loads()[-1]["offsets"]) == end
    rig.check()
    for words, said in (("0=49", "expected one from 50"), ("0=51", "to 50"), ("2=0", "partition 2"),
                        ("0", "PARTITION=OFFSET"), ("0=50,0=50", "twice")):
        done, out = rig.load("--until", words, status=2)
        assert said in done.stderr and not out.exists(), done.stderr


def test_stream(rig, kafka):
    """The stream loads the good part of the partition, and then parks the partition. The other partition continues, and the stream skips nothing."""
    fill(rig, kafka, partitions=2)
    before = kafka.records(rig.topic)
    first, after = kafka.damage(rig.topic, 0, 25)
    rig.configure("start: earliest\n    roll: {rows: 1000, time: 1s}")
    process = rig.stream()
    lines = [process.stdout.readline() for _ in range(2)]
    kafka.produce(rig.topic, [(1, None, value(i)) for i in range(7)])
    lines.append(process.stdout.readline())
    _, said = rig.end(process, status=3)
    assert sorted(int(l.split()[1]) for l in lines) == [7, 20, 50], (lines, said)
    assert said.count("partition 0 is parked") == 1 and f"0={after}` skips" in said
    got = rig.union([pathlib.Path(l["output"]) for l in rig.loads()])
    assert set(got) == {(1, o) for o in range(57)} | {(0, o) for o in range(first)}
    rig.run("seek", "--state", rig.state, f"0={after}")
    _, out = rig.load()
    assert set(rig.cells(out)) == {at for at in before if at[0] == 0 and at[1] >= after}
