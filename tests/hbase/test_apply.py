"""Tests `saltmill apply`, which loads published loads into real HBases without HBase's tools, killed at every step.

The oracle gives the expected cells. HBase's and HDFS's own clients read the tables and the leftovers.
"""

import csv
import json
import re
import shutil
import subprocess

import jsonschema
import pytest
from oracle import Cells, reversed_millis, salt, u32, u64
from test_load import derive, eighth, read_csv  # noqa: F401  (eighth is a fixture)

SECONDS = 180
# in the order of a run, each before and after the note of its event
STEPS = [before + word for word in (
    "load", "folder", "create", "created", "token", "upload", "table", "put", "sent", "done", "cleaned", "finished")
    for before in ("before-", "")]

JOB = """\
source:
  csv: {files: [events.csv], header: true}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
tables:
  - name: %(space)s:events
    rowkey:
      - {field: id, as: u32}
    timestamp: at
    families:
      f: {compression: ZSTD, versions: 2}
      g: {bloomfilter: NONE, ttl: 20000d}
    cells:
      - {family: f, qualifier: word, value: {field: word}}
      - {family: g, qualifier: n, value: {field: id, as: text}}
    regions: {split: file, file: keys.txt}
  - name: %(space)s:by_word
    rowkey:
      - {field: word, terminator: '\\x00'}
      - {field: id, as: u32}
    timestamp: at
    families:
      f:
    cells:
      - {family: f, qualifier: "", value: {const: ""}}
"""


class Applied:
    """A load, and the program that applies it."""

    def __init__(self, saltmill, hbase, folder, *options):
        self.saltmill, self.hbase, self.folder, self.options = saltmill, hbase, folder, options
        self.out, self.servers = folder / "out", None

    def load(self, job, *files):
        done = subprocess.run([self.saltmill, "load", job, *files, "-o", self.out, "--quiet"],
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        self.manifest = json.loads((self.out / "manifest.json").read_text())

    def run(self, *more, env=None):
        return subprocess.run(
            [self.saltmill, "apply", self.out, "--hbase", self.servers or self.hbase.master, *self.options, *more],
            capture_output=True, text=True, timeout=SECONDS, check=False, env=env)

    def done(self, *more):
        done = self.run("--json", *more)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        schema = subprocess.run([self.saltmill, "help", "schema", "apply"], capture_output=True, check=True).stdout
        jsonschema.validate(told, json.loads(schema))
        return told

    def refused(self, says, *more, status=2):
        done = self.run(*more)
        assert done.returncode == status and re.search(says, done.stderr), done.stderr
        return done.stderr

    def check(self, name, expected):
        scan = self.folder / "scan"
        counts = self.hbase.scan(name, out=str(scan), raw=True)
        differences = expected.differences(scan)
        assert not differences, "\n".join(differences)
        assert counts == {"rows": len(expected.rows), "cells": expected.cells}
        scan.unlink()

    def check_stores(self, name):
        """Checks that the table has exactly the files of the load, each once."""
        (table,) = [t for t in self.manifest["tables"] if t["name"] == name]
        held = [(f["family"], f["bytes"]) for r in self.hbase.store_files(name) for f in r["files"]]
        assert sorted(held) == sorted((f["family"], f["bytes"]) for f in table["files"])


@pytest.fixture
def on_hdfs(saltmill, hbase_on_hdfs, hdfs, tmp_path):
    one = Applied(saltmill, hbase_on_hdfs, tmp_path, "--user", "ann", "--upload", hdfs.url("/bulk/ann"))
    yield one
    left = hdfs.tree("/bulk/ann") if hdfs.status("/bulk/ann") else {}
    assert left == {}, "files remain in the upload folder"
    assert hdfs.tree("/hbase/staging") == {}, "files remain in HBase's staging folder"


def events(folder, space, rows=3000):
    """Writes a job of two tables. Returns the expected cells of the tables."""
    (folder / "job.yaml").write_text(JOB % {"space": space})
    (folder / "keys.txt").write_text("\\x00\\x00\\x04\\x00\n\\x00\\x00\\x08\\x00\n")
    by_id, by_word = Cells(), Cells()
    with open(folder / "events.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["id", "at", "word"])
        for i in range(rows):
            at, word = 1700000000 + i * 7, f"w{i * 7919 % 1000}"
            out.writerow([i, at, word])
            by_id.add(u32(i), [("f", b"word", at * 1000, word.encode()),
                               ("g", b"n", at * 1000, str(i).encode())])
            by_word.add(word.encode() + b"\0" + u32(i), [("f", b"", at * 1000, b"")])
    return by_id, by_word


def test_flights_on_hdfs(on_hdfs, eighth, tmp_path):  # noqa: F811
    file, expected, _ = eighth
    on_hdfs.load(derive(tmp_path, "flights.yaml"), file)
    on_hdfs.refused("no table flights; to create it with 8 regions, add --create")
    (table,) = on_hdfs.done("--dry-run")["tables"]
    assert table["missing"] and not table["created"] and table["cells"] == expected.cells
    (table,) = on_hdfs.done("--create", "--check")["tables"]
    assert table["created"] and table["regions"] == 8 and table["check"]["found"] == expected.cells
    on_hdfs.check("flights", expected)
    on_hdfs.check_stores("flights")
    assert on_hdfs.done()["already"]
    on_hdfs.check_stores("flights")
    # the same load once more, as if it were new: HBase shows each cell once
    again = on_hdfs.done("--journal", str(tmp_path / "second"))["tables"][0]
    assert not again["created"] and again["differences"] == []
    counts = on_hdfs.hbase.scan("flights", out=str(tmp_path / "scan"))
    assert counts == {"rows": len(expected.rows), "cells": expected.cells}


def test_ratings_in_files(saltmill, hbase, shared_data, tmp_path):
    """HBase's files are on the local disk, so region servers copy the files beside the load. apply queries only ZooKeeper for the servers.
    """
    one = Applied(saltmill, hbase, tmp_path)
    expected = Cells()
    for r in read_csv(shared_data / "ratings.csv"):
        ts, user, film = int(r["timestamp"]) * 1000, u64(int(r["userId"])), int(r["movieId"])
        expected.add(salt(16, user) + user + reversed_millis(ts) + u32(film),
                     [("f", b"m", ts, r["movieId"].encode()),
                      ("f", b"r", ts, r["rating"].encode())])
    job = derive(tmp_path, "ratings.yaml", ("name: ratings", "name: applied_ratings"))
    one.load(job, shared_data / "ratings.csv")
    one.servers = hbase.zookeeper + "/elsewhere"
    one.refused(f"ZooKeeper {hbase.zookeeper[3:]}: found no node /elsewhere/hbaseid, because .*zookeeper.znode.parent", status=1)
    one.servers = "zk:127.0.0.1:1," + hbase.zookeeper[3:] + "/hbase"
    (table,) = one.done("--create", "--check")["tables"]
    assert table["check"]["found"] == expected.cells and table["regions"] == 16
    one.check("applied_ratings", expected)
    one.check_stores("applied_ratings")
    assert {p.name for p in tmp_path.iterdir()} == {"out", "ratings.yaml", "out.saltmill-apply"}


def test_killed_at_each_step(on_hdfs, tmp_path):
    """A run over two tables dies at every event, before and after the note of the event."""
    by_id, by_word = events(tmp_path, "killed")
    on_hdfs.load(tmp_path / "job.yaml")
    for step in STEPS:
        env = {"SALTMILL_CRASH_AT": f"apply-{step}", "PATH": ""}
        died = on_hdfs.run("--create", env=env)
        assert died.returncode == -9, (step, died.stderr)
    for table in on_hdfs.done("--create", "--check")["tables"]:
        assert table["created"] and table["check"] == {
            "found": table["cells"], "missing": 0, "changed": 0, "expired": 0, "others": 0}
    on_hdfs.check("killed:events", by_id)
    on_hdfs.check("killed:by_word", by_word)
    on_hdfs.check_stores("killed:events")
    on_hdfs.check_stores("killed:by_word")
    proved = subprocess.run([on_hdfs.saltmill, "verify", on_hdfs.out], capture_output=True,
                            timeout=60, check=False)
    assert proved.returncode == 0, "apply changed the load's own files"


def test_check_sees_what_is_not_there(on_hdfs, tmp_path):
    """apply loads values of a later load, and rows of a recreated table."""
    events(tmp_path, "checked", 900)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.done("--create", "--check")
    first, on_hdfs.out = on_hdfs.out, tmp_path / "later"
    text = (tmp_path / "events.csv").read_text()
    (tmp_path / "events.csv").write_text(text.replace(",w1\n", ",other\n"))
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.done("--check")
    on_hdfs.out = first
    changed = text.count(",w1\n")
    assert changed
    on_hdfs.refused(f"found 0 cells of the load missing and {changed} with another value, expected all 1800 cells", "--check", status=1)
    script = tmp_path / "anew.rb"
    script.write_text("disable 'checked:events'\ndrop 'checked:events'\n"
                      "create 'checked:events', {NAME => 'f'}, {NAME => 'g'}\n")
    on_hdfs.hbase.run_script(script)
    on_hdfs.refused("found 1800 cells of the load missing and 0 with another value, expected all 1800 cells", "--check", status=1)


def test_loads_with_equal_manifests(on_hdfs, tmp_path):
    """A second load, made of the same input by the same job, does not use the journal of the first load."""
    by_id, by_word = events(tmp_path, "equal", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    manifest = (on_hdfs.out / "manifest.json").read_bytes()
    on_hdfs.done("--create")
    script = tmp_path / "drop.rb"
    script.write_text("".join(f"disable 'equal:{t}'\ndrop 'equal:{t}'\n" for t in ("events", "by_word")))
    on_hdfs.hbase.run_script(script)
    on_hdfs.out = tmp_path / "anew"
    on_hdfs.load(tmp_path / "job.yaml")
    assert (on_hdfs.out / "manifest.json").read_bytes() == manifest
    assert not on_hdfs.done("--create")["already"]
    on_hdfs.check("equal:events", by_id)
    on_hdfs.check("equal:by_word", by_word)
    # under another name it is the same load, also in the place of the other one
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "out.saltmill-apply").unlink()
    on_hdfs.out = on_hdfs.out.rename(tmp_path / "out")
    assert on_hdfs.done()["already"]
    # and a new load in its place is a different one
    shutil.rmtree(on_hdfs.out)
    (tmp_path / "anew.saltmill-apply").rename(tmp_path / "out.saltmill-apply")
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.refused("out.saltmill-apply belongs to an earlier load in this folder with the same files; to apply this load, add `--restart`")
    said = on_hdfs.done("--journal", str(tmp_path / "out.saltmill-apply"))
    assert said["already"] and "another load with the same files began" in said["warnings"][0]


def test_a_table_that_differs(on_hdfs, tmp_path):
    by_id, _ = events(tmp_path, "differs", 300)
    on_hdfs.load(tmp_path / "job.yaml")
    script = tmp_path / "before.rb"
    script.write_text("create_namespace 'differs'\n"
                      "create 'differs:events', {NAME => 'f', VERSIONS => 1, TTL => 86400, COMPRESSION => 'GZ'}\n"
                      "create 'differs:by_word', {NAME => 'f'}\n")
    on_hdfs.hbase.run_script(script)
    on_hdfs.refused("table differs:events differs from what the load wants: f: VERSIONS is 1, expected 2.*--alter")
    said = on_hdfs.done("--dry-run")["tables"][0]["differences"]
    assert {"f: VERSIONS is 1, expected 2", "f: COMPRESSION is GZ, expected ZSTD",
            "family g is missing"} <= set(said), said
    table = on_hdfs.done("--alter", "--check")["tables"][0]
    assert table["altered"] and not table["created"] and table["regions"] == 1
    have = on_hdfs.hbase.describe("differs:events")["families"]
    assert have["f"]["VERSIONS"] == "2" and have["f"]["COMPRESSION"] == "ZSTD"
    assert have["f"]["TTL"] == "86400", "apply changed an attribute that the load does not set"
    assert have["g"]["TTL"] == str(20000 * 86400)


def test_a_table_keeps_its_encoding(on_hdfs, tmp_path):
    """`codec: auto` chose another encoding for the files. Only --alter changes the table."""
    by_id, _ = events(tmp_path, "keeps", 300)
    job = tmp_path / "job.yaml"
    job.write_text(job.read_text().replace("f: {compression: ZSTD, versions: 2}",
                                           "f: {compression: {codec: auto, aim: read, framing: hbase}, versions: 2}"))
    on_hdfs.load(job)
    script = tmp_path / "before.rb"
    made = (on_hdfs.out / "keeps" / "events" / "create.rb").read_text()
    script.write_text(made.replace("DATA_BLOCK_ENCODING => 'DIFF'", "DATA_BLOCK_ENCODING => 'NONE'")
                      .replace("BLOCKSIZE => 16384", "BLOCKSIZE => 65536"))
    on_hdfs.hbase.run_script(script)
    done = on_hdfs.run("--create")
    assert done.returncode == 0, done.stderr
    assert re.search("DATA_BLOCK_ENCODING is NONE, expected DIFF in the load's files.*keeps its setting.*add --alter",
                     done.stderr), done.stderr
    assert on_hdfs.hbase.describe("keeps:events")["families"]["f"]["DATA_BLOCK_ENCODING"] == "NONE"
    on_hdfs.check("keeps:events", by_id)
    on_hdfs.done("--alter", "--journal", str(tmp_path / "again"))
    have = on_hdfs.hbase.describe("keeps:events")["families"]["f"]
    assert have["DATA_BLOCK_ENCODING"] == "DIFF" and have["BLOCKSIZE"] == "16384", have


def test_regions_that_are_others(on_hdfs, tmp_path):
    """apply cuts a file at a live border that the file crosses, also in runs that die meanwhile."""
    by_id, by_word = events(tmp_path, "others")
    on_hdfs.load(tmp_path / "job.yaml")
    script = tmp_path / "before.rb"
    script.write_text(re.sub(r"SPLITS => \[.*\]", r"SPLITS => ['\\x00\\x00\\x05\\x00']",
                             (on_hdfs.out / "others" / "events" / "create.rb").read_text()))
    on_hdfs.hbase.run_script(script)
    tables = {t["name"]: t for t in on_hdfs.done("--create", "--dry-run")["tables"]}
    assert tables["others:events"]["recut"] == 2 and tables["others:by_word"]["recut"] == 0
    for step in ("before-parts", "parts", "before-cut", "cut", "put"):
        died = on_hdfs.run("--create", env={"SALTMILL_CRASH_AT": f"apply-{step}", "PATH": ""})
        assert died.returncode == -9, (step, died.stderr)
        if step == "before-cut":
            assert "apply cuts it into 2 files with the same 1024 cells" in died.stderr
    parts = tmp_path / "out.saltmill-apply.saltmill-parts"
    (table,) = [t for t in on_hdfs.manifest["tables"] if t["name"] == "others:events"]
    check_parts(on_hdfs, parts, [f for f in table["files"] if f["region"] == 1])
    tables = {t["name"]: t for t in on_hdfs.done("--create", "--check")["tables"]}
    assert tables["others:events"]["recut"] == 2 and tables["others:events"]["parts"] == 4
    on_hdfs.check("others:events", by_id)
    on_hdfs.check("others:by_word", by_word)
    assert not parts.exists()
    # the same events cut at the existing regions
    (tmp_path / "out.saltmill-apply").unlink()
    on_hdfs.out = tmp_path / "again"
    on_hdfs.load(tmp_path / "job.yaml", "--hbase", on_hdfs.hbase.master)
    by_table = {t["name"]: t for t in on_hdfs.manifest["tables"]}
    assert [r["end"] for r in by_table["others:events"]["regions"]] == ["\\x00\\x00\\x05\\x00", ""]
    on_hdfs.done("--create", "--check")
    on_hdfs.check("others:events", by_id)
    on_hdfs.check("others:by_word", by_word)
    drift = subprocess.run([on_hdfs.saltmill, "drift", tmp_path / "job.yaml", "--hbase", on_hdfs.hbase.master],
                           capture_output=True, text=True, timeout=SECONDS, check=False)
    assert drift.returncode == 0 and "on 2 live regions" in drift.stdout, drift
    # apply reports attributes that differ from the job before it reads an event
    job = (tmp_path / "job.yaml").read_text()
    (tmp_path / "job.yaml").write_text(job.replace("versions: 2", "versions: 3"))
    done = subprocess.run([on_hdfs.saltmill, "load", tmp_path / "job.yaml", "-o", tmp_path / "third", "--hbase",
                           on_hdfs.hbase.master], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 2 and "f: VERSIONS is 2, expected 3" in done.stderr, done.stderr


WRITTEN_HOW = ("BLOOM_FILTER_TYPE", "BULKLOAD_SOURCE_TASK", "BULKLOAD_TIMESTAMP", "DATA_BLOCK_ENCODING",
               "KEY_VALUE_VERSION", "hfile.CREATE_TIME_TS", "hfile.MAX_TAGS_LEN")


def written_how(saltmill, file):
    done = subprocess.run([saltmill, "inspect", "--json", file], capture_output=True, text=True, timeout=60, check=True)
    (told,) = json.loads(done.stdout)
    info = {e["key"]: e["value"] for e in told["file_info"]}
    return told["trailer"]["cells"], (told["trailer"]["compression"], *(info.get(k) for k in WRITTEN_HOW))


def check_parts(one, folder, files):
    """Parts of files have the format of whole files, and HBase's own printer reads them."""
    whole, parts = {}, {}
    for found, paths in ((whole, [one.out / f["path"] for f in files]), (parts, list(folder.iterdir()))):
        for path in paths:
            _, warnings = one.hbase.pretty(path)
            assert not warnings, warnings
            cells, how = written_how(one.saltmill, path)
            found[how] = found.get(how, 0) + cells
    assert parts == whole and len(whole) == 2 and len(list(folder.iterdir())) == 4


def test_split_meanwhile(on_hdfs, tmp_path):
    """HBase splits regions while files wait for them, and again while the parts wait."""
    by_id, by_word = events(tmp_path, "meanwhile")
    on_hdfs.load(tmp_path / "job.yaml")

    def dies_at(step):
        died = on_hdfs.run("--create", env={"SALTMILL_CRASH_AT": f"apply-{step}", "PATH": ""})
        assert died.returncode == -9, (step, died.stderr)

    dies_at("before-sent")
    assert on_hdfs.hbase.split("meanwhile:events", u32(0x500)) == 4
    for step in ("before-aside", "aside", "before-cut", "cut"):
        dies_at(step)
    assert on_hdfs.hbase.split("meanwhile:events", u32(0x680)) == 5
    dies_at("cut")
    on_hdfs.hbase.move("meanwhile:events")
    tables = {t["name"]: t for t in on_hdfs.done("--create", "--check")["tables"]}
    assert tables["meanwhile:events"]["recut"] == 2 and tables["meanwhile:events"]["parts"] == 6
    assert tables["meanwhile:events"]["check"]["found"] == by_id.cells
    on_hdfs.check("meanwhile:events", by_id)
    on_hdfs.check("meanwhile:by_word", by_word)
    assert on_hdfs.done()["already"]


def test_prechecks(on_hdfs, hdfs, tmp_path):
    """apply reports problems with their fix before it sends a byte."""
    events(tmp_path, "ahead", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    said = on_hdfs.done("--dry-run")
    assert said["warnings"] == [], said["warnings"]
    hdfs.make_dirs("/bulk/theirs", "755", user="bob")
    on_hdfs.done("--create")
    assert hdfs.tree("/hbase/staging") == {}
    (said,) = on_hdfs.done("--dry-run", "--upload", hdfs.url("/bulk/theirs/x"))["warnings"]
    assert re.search("/bulk/theirs belongs to bob and has mode 755, so you may not create files there .*-chown ann /bulk/theirs/x` as bob", said), said
    done = on_hdfs.run("--journal", str(tmp_path / "another"), "--upload", hdfs.url("/bulk/theirs/x"))
    assert done.returncode == 2 and "Permission denied" in done.stderr, done.stderr
    script = tmp_path / "disable.rb"
    script.write_text("disable 'ahead:events'\n")
    on_hdfs.hbase.run_script(script)
    on_hdfs.refused("table ahead:events is disabled; run `enable 'ahead:events'` in the HBase shell", "--dry-run")
    load = [on_hdfs.saltmill, "load", tmp_path / "job.yaml", "-o", tmp_path / "third", "--hbase", on_hdfs.hbase.master]
    done = subprocess.run(load, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 2 and "table ahead:events is disabled; run `enable" in done.stderr, done.stderr
    assert not (tmp_path / "third").exists()


def test_a_refused_creation(on_hdfs, tmp_path):
    """The master repeats its refusal for the same nonces, even after the fix of the cause, so the next run uses new
    nonces. Also, `default:t` is the table `t`.
    """
    by_id, by_word = events(tmp_path, "default", 500)
    job, journal = (tmp_path / "job.yaml").read_text(), tmp_path / "out.saltmill-apply"
    (tmp_path / "job.yaml").write_text(job.replace(
        "    timestamp: at\n", "    timestamp: at\n    attributes: {coprocessor: '|org.example.Absent|1001|'}\n", 1))
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.refused("table default:events: .*org.example.Absent", "--create", status=1)
    named = re.findall(r"^0 create (\w+ \w+) #", journal.read_text(), re.M)
    assert len(named) == len(set(named)) == 2, named
    shutil.rmtree(on_hdfs.out)
    journal.unlink()
    (tmp_path / "job.yaml").write_text(job)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.done("--create", "--check")
    on_hdfs.check("events", by_id)
    on_hdfs.check("by_word", by_word)


def test_refusals(on_hdfs, tmp_path):
    events(tmp_path, "refusals", 10)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.refused("--upload /tmp: found HBase's files at hdfs:.*expected the upload folder in the same file system", "--create", "--upload", "/tmp")
    (tmp_path / "out.saltmill-apply").unlink()
    file = next((on_hdfs.out / "refusals" / "events" / "hfiles" / "f").iterdir())
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b"\0")
    on_hdfs.refused("found other bytes than those that the load published", "--create", status=1)
    file.write_bytes(content)
    on_hdfs.done("--create")
    other = json.loads((on_hdfs.out / "manifest.json").read_text())
    assert other["tables"]
    (tmp_path / "out.saltmill-apply").write_text("saltmill-apply 1 00 other #00000000\n")
    on_hdfs.refused("has damage", status=1)
