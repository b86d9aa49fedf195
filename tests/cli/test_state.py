"""Tests of the commands on a state folder: seek, loads --rebuild, and load --until.

The topic is on librdkafka's mock cluster in this process. The expected offsets follow from the commands.
"""

import json
import re
import shutil

import pytest

import loads
from test_scan_state import Stream, published


@pytest.fixture
def stream(tmp_path):
    s = Stream(tmp_path, "state")
    s.produce(range(40), "a")  # 20 events in each of two partitions
    return s


def offsets(folder):
    return {o["partition"]: (o["start"], o["end"]) for o in json.loads((folder / "manifest.json").read_text())["offsets"]}


def test_seek_names_a_partition_once(stream):
    stream.load("first")
    before = {p.name: p.read_bytes() for p in stream.state.iterdir() if p.is_file()}
    for steps in (["0=3", "state/0=4"], ["1=2", "0=3", "state/0=3"], ["1=7", "0=1", "state/1=7"]):
        done = loads.run("seek", "--state", stream.state, *steps)
        assert done.returncode == 2 and re.search("found partition [01] twice, once with its topic", done.stderr), done
    assert {p.name: p.read_bytes() for p in stream.state.iterdir() if p.is_file()} == before
    assert loads.run("seek", "--state", stream.state, "0=3", "state/1=4").returncode == 0
    assert offsets(stream.load("second")) == {0: (3, 20), 1: (4, 20)}


def test_until(stream):
    """A load ends at the offsets of --until, and the next load begins there."""
    done = loads.run("load", stream.job, "-o", stream.folder / "part", "--state", stream.state, "--until", "0=5,state/1=7")
    assert done.returncode == 0, done.stderr
    assert offsets(stream.folder / "part") == {0: (0, 5), 1: (0, 7)}
    assert offsets(stream.load("rest")) == {0: (5, 20), 1: (7, 20)}


@pytest.mark.parametrize("steps", [["0=25"], ["0=6"], ["0=25", "1=6"], ["0=25", "1=25"]])
def test_rebuild_after_seek(stream, steps):
    """A rebuilt state has the positions of the old state, also if a user moved them between two loads."""
    stream.load("a")
    stream.produce(range(100, 120), "b")
    assert loads.run("seek", "--state", stream.state, *steps).returncode == 0
    stream.load("b")
    before = published(stream)
    shutil.rmtree(stream.state)
    stream.state.mkdir()
    (stream.folder / ".hidden").mkdir()
    (stream.folder / "c.saltmill-partial").mkdir()
    done = loads.run("loads", "--state", stream.state, "--rebuild", stream.folder)
    assert done.returncode == 0, done.stderr
    assert "positions set" in done.stdout and "found no load" not in done.stdout, done.stdout
    names = [(l["load"], l["seek"]) for l in published(stream)]
    # no load contains the first positions, which the old state recorded as its first change
    assert names == [(l["load"], l["seek"]) for l in before[1:]] and [seek for _, seek in names] == [False, True, False]
    stream.produce(range(200, 204), "c")
    assert offsets(stream.load("d")) == {0: (30, 32), 1: (30, 32)}
