"""Tests loads directly into a real HDFS, and from HDFS into HBase."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from cluster import wait_until
from test_load import each_eighth

CONF = pathlib.Path(__file__).resolve().parents[2] / "conf"
LOAD_SECONDS = 180
PARTIAL = ".saltmill-partial"


@pytest.fixture
def load(saltmill, flights_csv, tmp_path):
    """Returns a function. load(out, *options) loads a file of flights, or all of them, into HDFS, as ann."""
    def run(out, *options, file=flights_csv, start=False):
        command = [saltmill, "load", CONF / "flights.yaml", file, "-o", out,
                   "--hdfs-user", "ann", "--temp-dir", tmp_path, *options]
        if start:
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return subprocess.run(command, capture_output=True, timeout=LOAD_SECONDS, check=False)
    return run


@pytest.fixture(scope="module")
def local(saltmill, flights_csv, tmp_path_factory):
    return files_of(saltmill, flights_csv, tmp_path_factory.mktemp("local") / "out")


def files_of(saltmill, file, out):
    """Returns the files of a load of this machine."""
    subprocess.run([saltmill, "load", CONF / "flights.yaml", file, "-o", out],
                   capture_output=True, timeout=LOAD_SECONDS, check=True)
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def test_into_hbase_from_there(saltmill, load, flights_csv, hdfs, hbase_on_hdfs, tmp_path):
    """The load has the same files as a local load, and HBase moves the files."""
    file = each_eighth(flights_csv, tmp_path)
    local = files_of(saltmill, file, tmp_path / "out")
    done = load(hdfs.url("/bulk/flights"), file=file)
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
    wait_until(lambda: hdfs.status(f"{out}{PARTIAL}/flights/hfiles"), pause=0.02)
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
