"""Tests how `saltmill apply` lets S3 copy the files of a load in S3 for an HBase with its root there. moto checks each
signature. The region server is a small simulation. tests/hbase/test_s3_root.py has a real one.
"""

import datetime
import json
import os
import random
import subprocess

import pytest
from fake_hbase import data, fields, last, number
from moto_s3 import RIGHTS, Moto
from s3_server import BUCKET
from test_apply_answers import LoadingHBase

JOB = """\
source: {csv: {files: [rows.csv], header: true}}
fields: {id: {type: u64}}
tables:
  - name: t
    rowkey: [{field: id, as: u64}]
    timestamp: 1700000000000
    families: {f: {versions: 1, compression: NONE}}
    cells: [{family: f, qualifier: v, value: {field: v}}]
"""
LOAD = f"s3://{BUCKET}/loads/a b+ü"  # names with escapes
SIZES = {"small": 100, "in two parts": 9 << 20}


class CopyingHBase(LoadingHBase):
    """Copies each file into the region's folder as one object, as region servers do."""

    def __init__(self, s3):
        super(LoadingHBase, self).__init__("t", ["f"], [], [], random.Random(1))
        self.s3, self.calls = s3, 0

    def loaded(self):
        return sorted(v for (_, k), v in self.s3.objects.items() if k.startswith(self.folder()[1:]))

    def do_PrepareBulkLoad(self, _):
        return data(1, f"s3a://{BUCKET}/hbase/staging/ann__t__1"), b""

    def do_BulkLoadHFile(self, request):
        for f in request[2]:
            self.calls += 1
            key = last(fields(f), 2).decode().removeprefix(f"s3a://{BUCKET}/")
            self.s3.put(f"{self.folder()[1:]}/{self.calls}_SeqId_1_", self.s3.objects[BUCKET, key])
        return number(1, 1), b""


@pytest.fixture(scope="module")
def server():
    with Moto() as moto:
        yield moto


class Bench:
    def __init__(self, saltmill, folder, s3, hbase):
        self.saltmill, self.folder, self.s3, self.hbase = saltmill, folder, s3, hbase

    def run(self, *words):
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")} | self.s3.env() | {"HOME": str(self.folder)}
        return subprocess.run([self.saltmill, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False, env=env)

    def load(self, size):
        """Writes a load of one HFile into S3. Returns the file's name and bytes."""
        (self.folder / "job.yaml").write_text(JOB)
        (self.folder / "rows.csv").write_text("id,v\n" + "".join(f"{i},{i:0999}\n" for i in range(size // 1000 + 1)))
        done = self.run("load", "job.yaml", "-o", LOAD, "--quiet")
        assert done.returncode == 0, done
        self.s3.read_keys.clear()
        ((key, value),) = [(k, v) for (_, k), v in self.s3.objects.items() if "/hfiles/" in k]
        return key, value

    def apply(self, load=LOAD, *more):
        return self.run("apply", load, "--hbase", self.hbase.address, "--user", "ann", *more)

    def check(self, done, value, reads):
        """The table has the file once, nothing else is left, and apply has read the load's file `reads` times."""
        assert done.returncode == 0, done.stderr
        assert self.hbase.loaded() == [value] and not self.s3.uploads
        assert not [k for _, k in self.s3.objects if k.startswith("user/")]
        assert sum(k.startswith("loads/") and "/hfiles/" in k for k in self.s3.read_keys) == reads
        assert not [k for k in self.s3.read_keys if k.startswith("user/")]
        assert len(list((self.folder / "copy").rglob("hfiles/f/*"))) == reads


@pytest.fixture
def bench(saltmill, server, tmp_path):
    server.clear()
    server.allow(*RIGHTS)
    with CopyingHBase(server) as hbase:
        yield Bench(saltmill, tmp_path, server, hbase)
    server.faults, server.write_faults = [], []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("faults", [[], [None, "503", "lost", "error200", "reset", "error200", "lost"]])
def test_no_byte_passes_this_machine(bench, size, faults):
    key, value = bench.load(SIZES[size])
    assert ("-" in bench.s3.bucket.keys[key].etag) == (size != "small")
    bench.s3.write_faults = list(faults)
    done = bench.apply(LOAD, "--copy-to", "copy")
    bench.check(done, value, 0)
    assert "apply reads files" not in done.stderr
    assert bench.apply(LOAD, "--copy-to", "copy").returncode == 0 and bench.hbase.calls == 1
    # the folder has no file to compare until apply copies it
    done = bench.apply("copy", "--restart")
    assert done.returncode == 1 and "run `apply` with the URI of the load and `--copy-to copy`" in done.stderr, done.stderr


def test_a_copy_without_proof(bench):
    """apply reads a file that is newer than its manifest, that has other parts, or whose copy has another ETag."""
    key, value = bench.load(SIZES["in two parts"])
    stored = bench.s3.bucket.keys[key]
    manifest = bench.s3.bucket.keys["loads/a b+ü/manifest.json"]
    stored.last_modified = manifest.last_modified + datetime.timedelta(seconds=2)
    done = bench.apply(LOAD, "--copy-to", "copy")
    bench.check(done, value, 1)
    assert "has changed since its load was published" in done.stderr
    for changed, says in ((value[:-1] + b"!", "found other bytes than those that the load published"), (value[:-1], "found other bytes")):
        bench.s3.put(key, changed)
        bench.s3.bucket.keys[key].last_modified = manifest.last_modified + datetime.timedelta(seconds=2)
        done = bench.apply(LOAD, "--copy-to", f"copy{len(changed)}")
        assert done.returncode == 1 and says in done.stderr, done.stderr
    assert bench.hbase.loaded() == [value]


def test_a_wrong_copy(bench):
    key, value = bench.load(SIZES["small"])
    bench.s3.write_faults = ["corrupt"]
    done = bench.apply(LOAD, "--copy-to", "copy")
    bench.check(done, value, 1)
    assert "the ETag does not prove the copy" in done.stderr


def test_restart_and_check(bench):
    """--check compares the cells, so apply copies the file here, and finds a table without them."""
    _, value = bench.load(SIZES["small"])
    done = bench.apply(LOAD, "--copy-to", "copy", "--check")
    assert done.returncode == 1 and "1 cells of the load missing" in done.stderr, done
    assert [p.read_bytes() for p in (bench.folder / "copy").rglob("hfiles/f/*")] == [value]
    assert json.loads((bench.folder / "copy/manifest.json").read_text())["tables"][0]["files"][0]["bytes"] == len(value)
