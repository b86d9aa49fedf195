"""Tests OUT in a real HDFS. One rename publishes the files of one process's load, and no other files.

The tests' own client reads the HDFS (tests/hbase/hdfs.py).
"""

import json
import socket

import pytest

import needs_pyspark  # noqa: F401  (before what imports pyspark)


import saltmill  # noqa: E402
import saltmill.spark  # noqa: E402
from load_help import HEADER, JOB  # noqa: E402

ROWS = [f"{i * 7919 % 4000},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(6_000)]
PARTS = ".saltmill-spark"


@pytest.fixture
def small(rig, tmp_path):
    """Makes a job, 6,000 rows with one bad row, a plan of four regions, and the load of one process."""
    (tmp_path / "job.yaml").write_text(JOB.replace("count: 2", "count: 4"))
    rows = [*ROWS[:3000], b"bad,1,x\n", *ROWS[3000:]]
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan", status=3)
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one", "--max-rejects", "1", status=3)
    return tmp_path


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def load(rig, folder, out, **more):
    return rig.load(folder, "job.yaml", "in.csv", out=out, slices=3, plan="plan", **{"max_rejects": 1, **more})


def test_a_load_into_hdfs(rig, small, hdfs):
    """One reduce dies before it sends files, and another reduce after. The next run removes leftovers of dead runs."""
    left = {"application": "app-old", "attempt": None, "host": socket.gethostname(), "pid": 2**22 + 1}  # no such process
    hdfs.make_dirs(f"/bulk/two{PARTS}/run-old/files")
    put(hdfs, f"/bulk/two{PARTS}/lock", json.dumps(left).encode())
    put(hdfs, f"/bulk/two{PARTS}/run-old/files/.0.0.stray", b"half a file")
    rig.once("reduce", "kill -9 $$")
    rig.always("reduce", f"[ -e {rig.control}/after ] || {{ touch {rig.control}/after; {rig.program} \"$@\"; kill -9 $$; }}")
    r = load(rig, small, hdfs.url("/bulk/two"))
    assert rig.done("reduce") == 1 and (rig.control / "after").exists() and len(rig.runs("reduce")) >= 6
    assert hdfs.tree("/bulk/two") == files_of(small / "one")
    assert [n for n in hdfs.list("/bulk") if n.startswith("two")] == ["two"], "expected no file beside the load"
    assert r.manifest["rejected"] == 1 and r.out == hdfs.url("/bulk/two")
    before = len(rig.runs("map"))
    with pytest.raises(saltmill.JobError, match="/bulk/two: found an existing folder"):
        load(rig, small, hdfs.url("/bulk/two"))
    assert len(rig.runs("map")) == before


def put(hdfs, path, data):
    import urllib.request
    where = hdfs.ask("PUT", path, "CREATE", noredirect="true", overwrite="true")["Location"]
    urllib.request.urlopen(urllib.request.Request(where, data=data, method="PUT"), timeout=30).close()


def test_what_is_refused(rig, small, hdfs):
    """Each case gives an error before the maps start, and leaves only the existing files."""
    out, static = hdfs.url("/bulk/held"), small / "static"
    static.write_text("#!/bin/sh\necho '{\"program\": \"saltmill\", \"hdfs\": false}'\n")
    static.chmod(0o755)
    put(hdfs, f"/bulk/held{PARTS}/lock", b'{"application": "app-1", "attempt": "1", "host": "elsewhere", "pid": 7}')
    for where, sentence, more in (
            (out, "found the lock of another run .application app-1 host elsewhere pid 7", {}),
            (hdfs.url("/bulk/side"), "found a folder in HDFS or S3, expected", {"shuffle": False}),
            ("gs://bucket/night", "found a place that saltmill cannot write to", {}),
            (hdfs.url("/bulk/static"), "found a program without HDFS", {"program": static})):
        with pytest.raises(saltmill.JobError, match=sentence):
            if "program" in more:
                saltmill.spark.load(rig.spark, str(small / "in.csv"), str(small / "job.yaml"), where, **more)
            else:
                load(rig, small, where, **more)
    assert rig.runs("map") == []
    assert [n for n in hdfs.list("/bulk") if n.startswith(("held", "side", "static"))] == [f"held{PARTS}"]
    with pytest.raises(saltmill.Rejected):  # too many rejects, with the lock broken
        load(rig, small, out, max_rejects=0, break_lock=True)
    assert [n for n in hdfs.list("/bulk") if n.startswith("held")] == []
