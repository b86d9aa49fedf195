"""Tests how `saltmill apply` handles the answers of region servers. HBase and HDFS are small simulations that share
their files.

A file counts as loaded only when it is in the table's folder. tests/hbase/test_incarnation.py tests real servers.
"""

import json
import random
import re
import subprocess
import time

import pytest
from fake_hbase import FakeHBase, Refusal, data, fields, last, number
from test_apply import load  # noqa: F401  (a fixture)
from test_places import Place

TOKEN = "hdfs://nn/hbase/staging/ann__t__1"
ATTRIBUTES = {"VERSIONS": "1", "BLOOMFILTER": "ROW", "COMPRESSION": "NONE", "DATA_BLOCK_ENCODING": "NONE",
              "BLOCKSIZE": "65536"}


class LoadingHBase(FakeHBase):
    """Answers each bulk load with the next of `answers`, and with "take" after the last."""

    before = None  # attributes of the family in the first answers

    def __init__(self, place, answers):
        super().__init__("t", ["f"], [], [], random.Random(1))
        self.hdfs, self.answers, self.calls = place, list(answers), 0
        tree = place.tree
        for folder in ("/up", "/hbase", "/hbase/staging", "/hbase/data", "/hbase/data/default", "/hbase/data/default/t",
                       self.folder().rsplit("/", 1)[0], self.folder()):
            tree.nodes[folder] = tree.node("ann", "777")

    def folder(self):
        return f"/hbase/data/default/t/{self.regions[0].name[-33:-1].decode()}/f"

    def loaded(self):
        return sorted(self.hdfs.files(self.folder()).values())

    def do_GetTableDescriptors(self, _):
        attributes = self.before.pop(0) if self.before else ATTRIBUTES
        family = data(1, "f") + b"".join(data(2, data(1, k) + data(2, v)) for k, v in attributes.items())
        return data(1, data(1, data(1, "default") + data(2, "t")) + data(3, family)), b""

    def do_GetClusterStatus(self, _):
        return data(1, data(1, data(1, "2.6.4")) + data(2, data(1, self.place()))), b""

    def do_PrepareBulkLoad(self, _):
        return data(1, TOKEN), b""

    def do_CleanupBulkLoad(self, _):
        return b"", b""

    def do_BulkLoadHFile(self, request):
        self.calls += 1
        answer = self.answers.pop(0) if self.answers else "take"
        paths = [last(fields(f), 2).decode().removeprefix("hdfs://nn") for f in request[2]]
        if answer == "quota":
            raise Refusal("hadoop.hbase.quotas.SpaceLimitingException", "NO_INSERTS")
        if answer == "lie":
            return number(1, 1), b""
        tree = self.hdfs.tree
        with tree.lock:
            there = all(p in tree.nodes for p in paths)
            for p in paths if there else ():
                tree.nodes[f"{self.folder()}/{len(tree.nodes)}_SeqId_1_"] = tree.nodes.pop(p)
        if answer == "take and fail":
            raise Refusal("hadoop.hbase.DoNotRetryIOException", "too late")
        return number(1, 1 if there else 0), b""


@pytest.fixture
def cluster(load):  # noqa: F811
    place = Place()
    made = []

    def start(*answers):
        server = LoadingHBase(place, answers)
        server.__enter__()
        made.append(server)
        return server
    yield start
    for server in made:
        server.__exit__()
    place.close()
    (load.parent / "out.saltmill-apply").unlink(missing_ok=True)


def apply(saltmill, load, server, *more):  # noqa: F811
    return subprocess.run([saltmill, "apply", load, "--hbase", server.address, "--user", "ann", "--upload",
                           server.hdfs.url("/up"), *more], capture_output=True, text=True, timeout=120, check=False)


def hfiles(load):  # noqa: F811
    manifest = json.loads((load / "manifest.json").read_text())
    return sorted((load / f["path"]).read_bytes() for t in manifest["tables"] for f in t["files"])


def empty(place):
    for path in list(place.tree.children("/up")):
        del place.tree.nodes[path]


def test_a_quota_then_an_emptied_folder(saltmill, load, cluster):  # noqa: F811
    """The refused file is neither in the two folders nor in the table, so apply uploads it again."""
    server = cluster("quota")
    done = apply(saltmill, load, server)
    assert done.returncode == 1 and "SpaceLimitingException" in done.stderr, done.stderr
    empty(server.hdfs)
    done = apply(saltmill, load, server)
    assert done.returncode == 0, done.stderr
    assert server.loaded() == hfiles(load)


def test_an_exception_after_it_was_done(saltmill, load, cluster):  # noqa: F811
    """The answer proves nothing. apply finds the file by its id, and does not send it twice."""
    server = cluster("take and fail")
    done = apply(saltmill, load, server)
    assert done.returncode == 1 and "too late" in done.stderr, done.stderr
    done = apply(saltmill, load, server)
    assert done.returncode == 0, done.stderr
    assert server.loaded() == hfiles(load) and server.calls == 1


def test_loaded_is_believed_when_it_is_seen(saltmill, load, cluster):  # noqa: F811
    server = cluster("lie")
    done = apply(saltmill, load, server)
    assert done.returncode == 0, done.stderr
    assert server.loaded() == hfiles(load) and server.calls == 2
    (load.parent / "out.saltmill-apply").unlink()
    server.answers = ["lie"] * 9
    done = apply(saltmill, load, server)
    assert done.returncode == 1, done.stderr
    assert re.search("answered that it loaded /up/.*, but apply found the file neither in the region's folder nor in its archive",
                     done.stderr), done.stderr
    assert apply(saltmill, load, server, "--abort").returncode == 0
    assert server.hdfs.files("/up") == {}


@pytest.mark.parametrize("token", ["abfs://c/hbase/staging/ann__t__1", "wasb:/hbase/staging/1", "hdfs://nn"])
def test_other_file_systems_are_refused(saltmill, load, cluster, monkeypatch, token):  # noqa: F811
    """HBase may keep its files where saltmill cannot put them, or name no folder. apply uploads nothing."""
    monkeypatch.setitem(globals(), "TOKEN", token)
    server = cluster()
    done = apply(saltmill, load, server)
    assert done.returncode == 2, done.stderr
    assert f"HBase keeps its files at {token}, expected HDFS, s3a:// or file://" in done.stderr
    assert server.calls == 0 and server.hdfs.files("/up") == {}
    done = apply(saltmill, load, server, "--abort")  # nothing was uploaded
    assert done.returncode == 0, done.stderr
    assert not (load.parent / "out.saltmill-apply").exists()


@pytest.mark.parametrize("names", [4, 5])
def test_a_quota_of_names(saltmill, load, cluster, names):  # noqa: F811
    """The folder with the quota counts itself. The load needs a folder for itself, its table and its family, and a file."""
    server = cluster()
    server.hdfs.tree.nodes[f"/up/quota-{names}"] = server.hdfs.tree.node("ann", "777")
    done = apply(saltmill, load, server, "--upload", server.hdfs.url(f"/up/quota-{names}"))
    if names > 4:
        assert done.returncode == 0 and server.loaded() == hfiles(load), done.stderr
    else:
        assert done.returncode == 2 and server.calls == 0, done.stderr
        assert "the folder's name quota leaves 3, expected at least 4 for the files and folders" in done.stderr


def test_another_user_alters_the_table_first(saltmill, load, cluster):  # noqa: F811
    """When apply compares the table again before it alters the table, the difference is gone. The simulation has no
    ModifyTable."""
    server = cluster()
    server.before = [{**ATTRIBUTES, "VERSIONS": "3"}]
    done = apply(saltmill, load, server, "--alter")
    assert done.returncode == 0 and server.loaded() == hfiles(load), done.stderr


def test_another_table_is_refused(saltmill, load, cluster):  # noqa: F811
    server = cluster()
    server.before = [{**ATTRIBUTES, "VERSIONS": "3"}] * 9
    done = apply(saltmill, load, server)
    assert done.returncode == 2 and "table t differs from what the load wants: " in done.stderr, done.stderr
    assert server.calls == 0 and server.hdfs.files("/up") == {}
    assert apply(saltmill, load, server, "--dry-run").returncode == 0


def test_a_finished_load_waits_for_no_window(saltmill, load, cluster):  # noqa: F811
    server = cluster()
    assert apply(saltmill, load, server).returncode == 0
    hour = time.localtime().tm_hour
    done = apply(saltmill, load, server, "--window", f"{(hour + 2) % 24:02}:00-{(hour + 3) % 24:02}:00")
    assert done.returncode == 0 and "waiting" not in done.stderr, done.stderr
    assert server.calls == 1


@pytest.mark.parametrize("ttl", ["", "ttl: 1d"])
def test_cells_that_the_table_does_not_show(saltmill, load, cluster, tmp_path, monkeypatch, ttl):  # noqa: F811
    """The simulated table shows no cell. Cells from 2023 may be missing only if the family's TTL has passed."""
    job = (load.parent / "job.yaml").read_text().replace("families: {f: {}}", f"families: {{f: {{{ttl}}}}}")
    (tmp_path / "job.yaml").write_text(job)
    (tmp_path / "a.csv").write_text((load.parent / "a.csv").read_text())
    subprocess.run([saltmill, "load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet"], check=True, timeout=60)
    if ttl:
        monkeypatch.setitem(ATTRIBUTES, "TTL", "86400")
    done = apply(saltmill, tmp_path / "out", cluster(), "--check", "--json")
    if ttl:
        assert done.returncode == 0 and '"expired":2' in done.stdout.replace(" ", ""), done.stdout + done.stderr
    else:
        assert done.returncode == 1, done.stderr
        assert "found 2 cells of the load missing and 0 with another value, expected all 2 cells" in done.stderr


def test_an_upload_outside_of_the_bucket(saltmill, load, cluster, monkeypatch):  # noqa: F811
    """apply finds the copies of the region servers only in the bucket of its uploads."""
    monkeypatch.setitem(globals(), "TOKEN", "s3a://bucket/hbase/staging/ann__t__1")
    server = cluster()
    done = apply(saltmill, load, server)
    assert done.returncode == 2, done.stderr
    assert "expected a folder of the same bucket, such as s3a://bucket/bulk" in done.stderr
    assert server.calls == 0 and server.hdfs.files("/up") == {}
