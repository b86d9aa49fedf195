"""Loads the loads of a stream into a real HBase one after another. The table equals Kafka's messages."""

import json
import os
import pathlib
import random
import shutil

from oracle import Cells
from rig import value


def test_stream_into_hbase(rig, kafka, hbase_on_hdfs):
    """Some events are in aborted transactions. SALTMILL_EVENTS=1000000 makes 1,000,000 events."""
    count = int(os.environ.get("SALTMILL_EVENTS", "30000"))
    chance = random.Random(6)
    rig.configure(f"start: earliest\n    roll: {{rows: {count // 3}, time: 1s}}")
    rig.job.write_text(rig.job.read_text().replace("{split: sampled, count: 2}", "{split: none}")
                       .replace("name: t", "name: stream"))
    kafka.create(rig.topic, 6)
    process = rig.stream()
    step = max(count // 20, 1)
    for n in range(0, count, step):
        messages = [(chance.randrange(6), None, value(n + i)) for i in range(step)]
        kafka.produce(rig.topic, messages, chance.choice(["none", "lz4", "gzip"]))
        kafka.produce(rig.topic, messages[:100], transaction=rig.topic, commit=False)
    rig.wait_for(process, count)
    rig.end(process)
    outputs = [pathlib.Path(l["output"]) for l in rig.loads()]
    hbase_on_hdfs.run_script(outputs[0] / "stream" / "create.rb")
    for out in outputs:
        copy = rig.folder / "hfiles"  # the loader may move the files that it loads
        shutil.copytree(out / "stream" / "hfiles", copy)
        hbase_on_hdfs.bulk_load(copy, "stream")
        shutil.rmtree(copy)
    expected = Cells()
    for (partition, offset), (_, v, ts) in kafka.records(rig.topic).items():
        expected.add(f"{partition}-{offset}".encode(), [("f", b"v", ts, json.loads(v)["v"].encode())])
    assert len(expected.rows) == count
    scan = rig.folder / "scan"
    counts = hbase_on_hdfs.scan("stream", out=str(scan), raw=True)
    assert expected.differences(scan) == []
    assert counts == {"rows": count, "cells": count}


TOMBSTONES = """\
source:
  kafka: {{brokers: "{brokers}", topic: {topic}, format: json, tombstones: delete}}
fields:
  id: {{type: u32, from: $key}}
  at: {{type: time, unit: ms, from: $timestamp}}
tables:
  - name: deleted
    rowkey: [{{field: id, as: text}}]
    timestamp: at
    families: {{f: {{compression: NONE}}, g: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: v}}, {{family: g, qualifier: w, value: w, optional: true}}]
    regions: {{split: none}}
"""


def test_tombstones_delete_in_hbase(rig, kafka, hbase_on_hdfs):
    """The table shows the messages that a compacted topic would keep, whichever load has value and tombstone."""
    chance, loads, at, last = random.Random(3), [], 1476640000000, {}
    kafka.create(rig.topic, 3)
    rig.job.write_text(TOMBSTONES.format(brokers=kafka.brokers, topic=rig.topic))
    for _ in range(2):
        messages = []
        for _ in range(400):
            at, user = at + 1, chance.randrange(120)
            event = None if chance.random() < 0.3 else {"v": f"v{at}"} | ({"w": f"w{at}"} if chance.random() < 0.5 else {})
            messages.append((user % 3, b"%d" % user, None if event is None else json.dumps(event).encode(), at))
            cells = last.setdefault(user, {})
            cells.clear() if event is None else cells.update({c: (at, x) for c, x in event.items()})
        kafka.produce(rig.topic, messages, "lz4")
        loads.append(rig.load()[1])
    assert json.loads((loads[0] / "manifest.json").read_text())["read"] == 400
    hbase_on_hdfs.run_script(loads[0] / "deleted" / "create.rb")
    for out in loads:
        hbase_on_hdfs.bulk_load(out / "deleted" / "hfiles", "deleted")
    expected = Cells()
    for user, cells in last.items():
        if cells:
            expected.add(b"%d" % user, [("f" if c == "v" else "g", c.encode(), ts, x.encode()) for c, (ts, x) in cells.items()])
    assert 40 < len(expected.rows) < len(last)
    scan = rig.folder / "scan"
    hbase_on_hdfs.scan("deleted", out=str(scan))
    assert expected.differences(scan) == []
