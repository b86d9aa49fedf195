"""Tests OUT in S3. The manifest, which the driver writes last, publishes the files of one process's load, and no other
files. moto is the server (tests/cli/moto_s3.py).
"""

import os
import pathlib
import subprocess
import sys

import pytest

import needs_pyspark  # noqa: F401  (before what imports pyspark)

import saltmill  # noqa: E402
import saltmill.inputs  # noqa: E402
from load_help import HEADER, JOB  # noqa: E402
from loads import PROGRAM  # noqa: E402
from moto_s3 import Moto  # noqa: E402
from s3_server import BUCKET  # noqa: E402
from test_s3_output import LOAD, check_whole, manifest  # noqa: E402


@pytest.fixture
def s3(monkeypatch):
    with Moto() as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_inputs_in_s3(s3, scheme):
    """Hadoop has three names for S3. Messages have the name of the caller."""
    for name in ("in/b.csv", "in/a.csv", "in/_c.csv"):
        s3.put(name, HEADER + name.encode())
    for path in (f"{scheme}://{BUCKET}/in", f"{scheme}://{BUCKET}/in/*.csv"):
        inputs, filesystem = saltmill.inputs.list_inputs(path)
        assert {i.name: b"".join(saltmill.inputs.read_from(filesystem, i.path, len(HEADER))) for i in inputs} == \
            {f"{scheme}://{BUCKET}/in/{n}.csv": f"in/{n}.csv".encode() for n in ("a", "b")}
    for path in (f"{scheme}://{BUCKET}/no.csv", f"{scheme}://nowhere/no.csv"):
        with pytest.raises(saltmill.JobError, match=f"^{path}: No such file$"):
            saltmill.inputs.list_inputs(path)


LOAD_OF_S3 = """\
from pyspark.sql import SparkSession
import saltmill.spark
spark = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false').getOrCreate()
r = saltmill.spark.load(spark, ['s3a://BUCKET/in'], 'job.yaml', 'spark', slices=3)
print(r.manifest['read'], r.manifest['tables'][0]['loaded'])
"""


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "manifest.json"}


def test_a_load_of_s3(s3, tmp_path):
    """The load of s3a is the load of the same files on disk, but for the inputs' names in the manifest."""
    (tmp_path / "job.yaml").write_text(JOB)
    for n in range(3):
        rows = [f"{i * 7919 % 4000},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(2000 * n, 2000 * n + 2000)]
        (tmp_path / f"{n}.csv").write_bytes(HEADER + b"".join(rows))
        s3.put(f"in/{n}.csv", (tmp_path / f"{n}.csv").read_bytes())
    subprocess.run([PROGRAM, "load", "job.yaml", "0.csv", "1.csv", "2.csv", "-o", "local", "--quiet"], cwd=tmp_path, check=True)
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(saltmill.__file__).parents[1]), "PYSPARK_PYTHON": sys.executable}
    code = LOAD_OF_S3.replace("BUCKET", BUCKET).replace("slices=3", f"slices=3, program={PROGRAM!r}")
    r = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.split() == ["6000", "6000"], r.stderr
    assert files_of(tmp_path / "spark") == files_of(tmp_path / "local")


def test_a_load_into_s3(rig, s3, tmp_path):
    """One load dies at its end, so it is not visible. In the next load of the same folder, an executor dies before a
    reduce, and one dies after a reduce has sent its files. That load also removes what the first load left."""
    (tmp_path / "job.yaml").write_text(JOB.replace("count: 2", "count: 4"))
    rows = [f"{i * 7919 % 4000},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(6_000)]
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join([*rows[:3000], b"bad,1,x\n", *rows[3000:], b"0,1400000000,again\n"]))
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan", status=3)
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "local", "--max-rejects", "1", status=3)
    exports = "\n".join(f"export {name}={value}" for name, value in s3.env().items())

    def load(**more):
        return rig.load(tmp_path, "job.yaml", "in.csv", out=LOAD, slices=3, plan="plan", **{"max_rejects": 1, **more})

    rig.always("reduce", exports)
    with pytest.raises(saltmill.Rejected):
        load(max_rejects=0)
    with pytest.raises(saltmill.JobError, match="--max-duplicates"):
        load(max_duplicates=0)
    assert not s3.objects and not s3.uploads
    rig.always("driver-unite", 'case "$*" in *--reduces*) export SALTMILL_CRASH_AT=described ;; esac')
    with pytest.raises(saltmill.JobError, match="SIGKILL"):
        load()
    left = {name.split("/")[2] for _, name in s3.objects}
    assert manifest(s3) is None and len(left) == 1
    rig.begin()
    rig.once("reduce", "kill -9 $executor $$")
    rig.always("reduce", f"{exports}\n[ -e {rig.control}/after ] || {{ touch {rig.control}/after; {rig.program} \"$@\"; "
                         "kill -9 $executor $$; }")
    r = load()
    assert rig.done("reduce") == 1 and (rig.control / "after").exists() and len(rig.runs("reduce")) >= 6
    check_whole(s3, tmp_path)
    assert r.out == LOAD and r.manifest["folder"] == manifest(s3)["folder"] not in left and not s3.uploads
    before = len(rig.runs("map"))
    with pytest.raises(saltmill.JobError, match=f"{LOAD} exists already"):
        load()
    assert len(rig.runs("map")) == before
    assert {bucket for bucket, _ in s3.objects} == {BUCKET}
