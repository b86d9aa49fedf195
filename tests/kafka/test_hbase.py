"""Loads of a stream, put into a real HBase one after the other: the table is what Kafka has."""

import json
import os
import pathlib
import random
import shutil
import time

from oracle import Cells
from rig import value


def test_stream_into_hbase(rig, kafka, hbase):
    """Aborted transactions among the events; 1,000,000 of them with SALTMILL_EVENTS=1000000."""
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
    end = time.monotonic() + 120
    while sum(l["read"] for l in rig.loads()) < count:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.3)
    rig.end(process)
    outputs = [pathlib.Path(l["output"]) for l in rig.loads()]
    hbase.run_script(outputs[0] / "stream" / "create.rb")
    for out in outputs:
        copy = rig.folder / "hfiles"  # the loader may move what it loads
        shutil.copytree(out / "stream" / "hfiles", copy)
        hbase.bulk_load(copy, "stream")
        shutil.rmtree(copy)
    expected = Cells()
    for (partition, offset), (_, v, ts) in kafka.records(rig.topic).items():
        expected.add(f"{partition}-{offset}".encode(), [("f", b"v", ts, json.loads(v)["v"].encode())])
    assert len(expected.rows) == count
    scan = rig.folder / "scan"
    counts = hbase.scan("stream", out=str(scan), raw=True)
    assert expected.differences(scan) == []
    assert counts == {"rows": count, "cells": count}
