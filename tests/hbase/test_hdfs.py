"""Tests loads directly into a real HDFS, and from HDFS into HBase."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from hdfs import Hdfs

CONF = pathlib.Path(__file__).resolve().parents[2] / "conf"
LOAD_SECONDS = 180
PARTIAL = ".saltmill-partial"


@pytest.fixture
def load(saltmill, flights_csv, tmp_path):
    """Returns a function. load(out, *options) loads the flights into HDFS, as ann."""
    def run(out, *options, start=False):
        command = [saltmill, "load", CONF / "flights.yaml", flights_csv, "-o", out,
                   "--hdfs-user", "ann", "--temp-dir", tmp_path, *options]
        if start:
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return subprocess.run(command, capture_output=True, timeout=LOAD_SECONDS, check=False)
    return run


@pytest.fixture(scope="module")
def local(saltmill, flights_csv, tmp_path_factory):
    out = tmp_path_factory.mktemp("local") / "out"
    subprocess.run([saltmill, "load", CONF / "flights.yaml", flights_csv, "-o", out],
                   capture_output=True, timeout=LOAD_SECONDS, check=True)
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def breakable(tmp_path_factory):
    """Starts a separate HDFS, which only this test uses."""
    with Hdfs(tmp_path_factory.mktemp("breakable")) as server:
        server.make_dirs("/bulk", "1777")
        yield server


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_into_hbase_from_there(load, local, hdfs, hbase_on_hdfs, tmp_path):
    """The load has the same files as a local load, and HBase moves the files."""
    done = load(hdfs.url("/bulk/flights"))
    assert done.returncode == 0, done.stderr
    assert hdfs.tree("/bulk/flights") == local
    assert hdfs.status("/bulk/flights")["owner"] == "ann"
    script = hbase_on_hdfs.folder / "create.rb"
    script.write_bytes(local["flights/create.rb"])
    hbase_on_hdfs.run_script(script)
    hbase_on_hdfs.bulk_load(f"{hdfs.fs}/bulk/flights/flights/hfiles", "flights")
    table = json.loads(local["manifest.json"])["tables"][0]
    counts = hbase_on_hdfs.scan("flights", out=str(tmp_path / "scan"), raw=True)
    assert counts == {"rows": table["rows"], "cells": table["cells"]}
    # moved, not copied
    assert not any("hfiles" in p for p in hdfs.tree("/bulk/flights"))


@pytest.mark.parametrize("moment", [0.0, 0.7])
def test_killed(load, local, hdfs, moment):
    """Only the sibling folder remains, and the next run removes it."""
    out = f"/bulk/killed-{moment}"
    run = load(hdfs.url(out), start=True)
    until(lambda: hdfs.status(f"{out}{PARTIAL}/flights/hfiles"))
    time.sleep(moment)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert hdfs.status(out) is None and hdfs.status(out + PARTIAL)
    done = load(hdfs.url(out))
    assert done.returncode == 0, done.stderr
    assert b"which a killed run left" in done.stderr
    assert hdfs.tree(out) == local
    assert [n for n in hdfs.list("/bulk") if n.startswith(out[6:])] == [out[6:]]


def test_not_allowed(load, hdfs):
    hdfs.make_dirs("/private", "755")
    done = load(hdfs.url("/private/out"))
    assert done.returncode == 2, done.stderr
    assert b"AccessControlException: Permission denied: user=ann" in done.stderr
    assert hdfs.list("/private") == {}


def test_quota(load, hdfs):
    """The folder has a quota of one block."""
    hdfs.make_dirs("/small", "777")
    hdfs.ask("PUT", "/small", "SETQUOTA", namespacequota=2**62, storagespacequota=200_000_000)
    done = load(hdfs.url("/small/out"))
    assert done.returncode == 1, done.stderr
    assert b"QuotaExceededException" in done.stderr and b"has reached its quota of space" in done.stderr
    assert hdfs.list("/small") == {}


def test_namenode_gone(load, breakable, local):
    """If the DataNode dies during the load, the load prints an error and publishes nothing. After the restart, only the
    sibling folder exists."""
    assert load(breakable.url("/bulk/warm")).returncode == 0  # the first write to a new DataNode is slow
    run = load(breakable.url("/bulk/gone"), "--hdfs-patience", "3", start=True)
    until(lambda: breakable.status(f"/bulk/gone{PARTIAL}/flights/hfiles"))
    breakable.namenode.kill()
    breakable.namenode.wait()
    try:
        _, err = run.communicate(timeout=120)
        assert run.returncode == 1, err
        assert b"Failed to connect" in err or b"says" in err or b"answers" in err, err
    finally:
        breakable.start_namenode()
        breakable.wait()
    assert breakable.status("/bulk/gone") is None
    assert load(breakable.url("/bulk/gone")).returncode == 0
    assert breakable.tree("/bulk/gone") == local


def test_no_datanode(load, breakable):
    """This is the last test of this HDFS, because no test starts HDFS again."""
    breakable.datanode.kill()
    breakable.datanode.wait()
    done = load(breakable.url("/bulk/alone"), "--hdfs-patience", "2")
    assert done.returncode == 1, done.stderr
    assert b"saltmill load: cannot write webhdfs://" in done.stderr, done.stderr
    assert breakable.status("/bulk/alone") is None
