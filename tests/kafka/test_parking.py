"""Tests that a stream of several partitions continues when one partition cannot. The stream skips no message of that partition."""

import json
import pathlib
import re
import urllib.request

from cluster import HANG_SECONDS, free_ports, hear, wait_until
from rig import value
from test_anchor import forget_id

MORE = "start: earliest\n    roll: {rows: 1000, time: 1s}"


def folders(rig):
    return [pathlib.Path(l["output"]) for l in rig.loads()]


def test_bad_messages(rig, kafka):
    """The stream parks, reports and counts a partition with too many bad messages, and retries it after a restart."""
    rig.configure(MORE)
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, [(i % 3, None, value(i)) for i in range(30)] + [(1, None, b"poison")])
    port = free_ports(1)[0]
    process = rig.stream("--max-rejects", 0, "--metrics", f"127.0.0.1:{port}")
    rig.wait_for(process, 20)
    kafka.produce(rig.topic, [(2, None, value(i)) for i in range(5)])
    rig.wait_for(process, 25)

    def figures():
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_SECONDS).read().decode()
        return [re.search(rf"^saltmill_{n}{{.*}} (\d+)$", page, re.M)[1] for n in ("lag_offsets", "parked_partitions")]
    wait_until(lambda: figures() == ["11", "1"], process)  # the lag is that of the next look
    assert "PARKED: " in rig.run("status", "--state", rig.state).stdout
    _, said = rig.end(process, status=3)
    assert said.count("partition 1 is parked") == 1
    assert set(rig.union(folders(rig))) == {at for at in kafka.records(rig.topic) if at[0] != 1}
    process = rig.stream("--max-rejects", 1)
    rig.wait_for(process, 36)
    rig.end(process, status=3)
    kafka_has = {at for at, (_, v, _) in kafka.records(rig.topic).items() if v != b"poison"}
    assert set(rig.union(folders(rig))) == kafka_has


def test_lost_offsets(rig, kafka):
    """In one partition, retention deleted messages before the stream read them."""
    rig.configure(MORE)
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    rig.load()
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    kafka.call("truncate", rig.topic, 0, 70)
    process = rig.stream()
    rig.wait_for(process, 150)
    _, said = rig.end(process, status=3)
    assert "partition 0 is parked" in said and "deleted 20 offsets before their load" in said
    rig.run("seek", "--state", rig.state, "0=70")
    _, out = rig.load()
    assert set(rig.cells(out)) == {(0, o) for o in range(70, 100)}


def test_all_of_them(rig, kafka):
    """No partition can continue."""
    rig.configure(MORE)
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(p, None, b"poison") for p in range(2)])
    err = rig.wait(rig.stream("--max-rejects", 0))
    assert "partition 0 is parked" in err and "partition 1 is parked" in err
    assert f"{rig.topic}/1 at offset 0: bad_json" in err.splitlines()[-1]
    assert rig.loads() == []


def test_other_message(rig, kafka):
    """In a partition without new messages, the last loaded message is a different one."""
    rig.configure(MORE)
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    rig.load()
    newest = max((rig.state / "loads").glob("*.json"))
    record = json.loads(newest.read_text())
    record["offsets"][0]["last"]["timestamp_ms"] += 1
    record.pop("digest")
    newest.write_text(json.dumps(record))
    kafka.produce(rig.topic, [(1, None, value(i)) for i in range(10)])
    process = rig.stream()
    rig.wait_for(process, 110)
    kafka.produce(rig.topic, [(1, None, value(i)) for i in range(10)])
    rig.wait_for(process, 120)
    _, said = rig.end(process, status=3)
    assert said.count("partition 0 is parked") == 1
    assert set(rig.union(folders(rig))) == set(kafka.records(rig.topic))
    forget_id(rig)  # without an id it may be another topic
    kafka.produce(rig.topic, [(1, None, value(i)) for i in range(10)])
    for _ in range(2):
        err = rig.wait(rig.stream())
        assert "parked" not in err and "found another message" in err.splitlines()[-1]


def test_full_disk(rig, kafka, disk_of):
    """On a full disk, the stream waits, as for a missing broker. Then the stream loads the same offsets, each once."""
    rig.configure("start: earliest\n    roll: {rows: 100000, time: 1s}")
    kafka.create(rig.topic, 2)
    disk = disk_of(8)
    rig.state = disk / "state"
    filler = disk / "filler"
    process = rig.stream()
    wait_until((rig.state / "topic.json").exists, process)
    with open(filler, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 65536)
        except OSError:
            pass
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(20000)])
    hear(process, "retries every")
    filler.unlink()
    assert process.stdout.readline()
    _, more = rig.end(process)
    assert "the disk has room again" in more
    assert set(rig.union(folders(rig))) == set(kafka.records(rig.topic))
