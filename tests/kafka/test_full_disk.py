"""On a full disk, a shared stream and a load of a topic wait for space. Then they load each offset once."""

import pathlib
import subprocess

import pytest

from cluster import HANG_SECONDS, hear, wait_until
from rig import value


def fill(disk):
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 65536)
        except OSError:
            pass
    return filler


def test_shared(rig, kafka, disk_of):
    rig.configure(f"start: earliest\n    group: {rig.topic}\n    share: true\n    roll: {{rows: 100000, time: 1s}}",
                  regions="{split: none}")
    kafka.create(rig.topic, 2)
    disk = disk_of(8)
    rig.state = disk / "state"
    process = rig.stream()
    wait_until((rig.state / "p00001" / "topic.json").exists, process)
    filler = fill(disk)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(20000)])
    hear(process, "retries every")
    filler.unlink()
    for _ in range(2):
        assert process.stdout.readline()
    _, said = rig.end(process)
    assert "the disk has room again" in said
    folders = [pathlib.Path(l["output"]) for l in rig.loads()]
    assert set(rig.union(folders)) == set(kafka.records(rig.topic))


@pytest.mark.parametrize("state", [True, False])
def test_batch(rig, kafka, disk_of, state):
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(20000)])
    disk = disk_of(8)
    filler = fill(disk)
    words = ["--state", str(rig.state)] if state else []
    process = subprocess.Popen([rig.saltmill, "load", rig.job, "-o", disk / "out", *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    hear(process, "retries every")
    filler.unlink()
    out, said = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, said
    assert "the disk has room again" in said
    assert set(rig.cells(disk / "out")) == set(kafka.records(rig.topic))
