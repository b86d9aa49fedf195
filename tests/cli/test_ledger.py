"""Tests that `load --ledger DIR` loads each file of an inbox once, whatever happens to inbox, folder and program. The
oracle is a dictionary of the bytes that the test gave to published loads.
"""
import json
import os
import random
import re
import subprocess
import time

import pytest

from loads import PROGRAM, ROOT
from oracle import murmur3_32

JOB = """\
source:
  csv: {files: [none.csv]}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: none}
"""


class Inbox:
    def __init__(self, folder):
        self.folder, self.next, self.loads = folder, 1, 0
        (folder / "inbox").mkdir()
        (folder / "job.yaml").write_text(JOB)

    def put(self, name, n=3):
        ids = range(self.next, self.next + n)
        self.next += n
        path = self.folder / "inbox" / name
        path.write_text("id,at,v\n" + "".join(f"{i},{1_700_000_000 + i},v{i}\n" for i in ids))
        return set(ids)

    def run(self, *args, **more):
        return subprocess.run([PROGRAM, *map(str, args)], cwd=self.folder, capture_output=True, text=True, timeout=60, **more)

    def load(self, *args, files=("inbox",)):
        self.loads += 1
        out = f"loads/{self.loads:04d}"
        done = self.run("load", "job.yaml", *files, "--ledger", "loads", "-o", out, *args)
        return done, self.ids(out) if (self.folder / out).exists() else None

    def ids(self, out):
        done = self.run("scan", "job.yaml", out, "--decode", "--format", "jsonl")
        assert done.returncode == 0, done.stderr
        return {json.loads(line)["key"]["id"] for line in done.stdout.splitlines()}

    def listed(self, *args):
        done = self.run("loads", "--ledger", "loads", "--json", *args)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def inbox(tmp_path):
    (tmp_path / "loads").mkdir()
    return Inbox(tmp_path)


def test_each_file_is_loaded_once(inbox):
    first = inbox.put("a.csv") | inbox.put("b.csv")
    done, ids = inbox.load()
    assert done.returncode == 0 and ids == first, done.stderr
    late = inbox.put("a2.csv")  # sorts between the two loaded files
    done, ids = inbox.load()
    assert done.returncode == 0 and ids == late
    assert "skipped inbox/a.csv: load loads/0001 contains it" in done.stderr and "inbox/b.csv" in done.stderr
    done, ids = inbox.load()
    assert (done.returncode, ids) == (0, None)
    assert "nothing to load" in done.stderr and "load did not make " in done.stderr and "loads/0003" in done.stderr
    assert [(l["load"], l["inputs"], l["rows"], l["applied"]) for l in inbox.listed()] == [
        ("0001", 2, 6, False), ("0002", 1, 3, False)]


def test_a_changed_file_is_an_error_that_names_both(inbox):
    inbox.put("a.csv")
    inbox.load()
    new = inbox.put("a.csv", n=4) | inbox.put("b.csv")
    done, ids = inbox.load()
    assert (done.returncode, ids) == (2, None)
    assert "inbox/a.csv: changed after load loads/0001" in done.stderr and "--replace" in done.stderr
    done, ids = inbox.load("--replace")
    assert done.returncode == 0 and ids == new
    # the same size, so only the content differs
    path = inbox.folder / "inbox" / "a.csv"
    path.write_text(path.read_text().replace("v7", "w7"))
    done, ids = inbox.load()
    assert (done.returncode, ids) == (2, None) and "after load loads/0003" in done.stderr


def test_a_restored_old_version_is_a_change_too(inbox):
    inbox.put("a.csv")
    old = (inbox.folder / "inbox/a.csv").read_text()
    inbox.load()
    inbox.put("a.csv")
    time.sleep(0.02)  # a later time of publication
    assert inbox.load("--replace")[0].returncode == 0
    (inbox.folder / "inbox/a.csv").write_text(old)
    done, ids = inbox.load()
    assert (done.returncode, ids) == (2, None) and "after load loads/0002" in done.stderr


def test_a_moved_file_is_recognized(inbox):
    inbox.put("a.csv")
    inbox.load()
    (inbox.folder / "inbox/a.csv").rename(inbox.folder / "inbox/renamed.csv")
    new = inbox.put("b.csv")
    done, ids = inbox.load()
    assert done.returncode == 0 and ids == new
    assert "skipped inbox/renamed.csv: load loads/0001 contains it as inbox/a.csv" in done.stderr
    # the same folder with a different spelling
    done, ids = inbox.load(files=[inbox.folder / "inbox/b.csv", "./inbox/renamed.csv"])
    assert (done.returncode, ids) == (0, None), done.stderr
    path = inbox.folder / "inbox/b.csv"
    path.write_text(path.read_text() + "99,1700000000,x\n")
    done, _ = inbox.load(files=[path])
    assert done.returncode == 2 and "changed after load" in done.stderr


@pytest.mark.parametrize("args, words", [
    (["-", "--ledger", "loads"], "found standard input, expected files"),
    (["inbox/a.csv", "--ledger", "loads", "--slice", "1/2"], "--slice"),
    (["inbox/a.csv", "--replace"], "--ledger"),
    (["inbox/none.csv", "--ledger", "loads"], "none.csv"),
])
def test_refused(inbox, args, words):
    inbox.put("a.csv")
    done = inbox.run("load", "job.yaml", *args, "-o", "out", input="")
    assert done.returncode in (1, 2) and words in done.stderr and not (inbox.folder / "out").exists(), done.stderr


def test_a_mistyped_ledger_is_no_empty_ledger(inbox):
    inbox.put("a.csv")
    assert inbox.load()[0].returncode == 0
    done = inbox.run("loads", "--ledger", "laods", "--json")
    assert done.returncode == 2 and "found no folder laods" in done.stderr and done.stdout == "", done


@pytest.mark.parametrize("ledger, out", [("loads", "out"), ("loads", "loads/sub/x"), ("typo", "loads/x"), ("loads", "loads/.x"), ("loads", "s3://b/loads/x")])
def test_the_ledger_would_not_find_the_load(inbox, ledger, out):
    """The next load would not find these folders, and would load the file again."""
    inbox.put("a.csv")
    (inbox.folder / "loads/sub").mkdir(parents=True, exist_ok=True)
    done = inbox.run("load", "job.yaml", "inbox", "--ledger", ledger, "-o", out)
    assert done.returncode == 2 and f"-o: found {out}, expected a folder in {ledger}" in done.stderr, done.stderr
    assert inbox.run("load", "job.yaml", "inbox", "--ledger", "loads/", "-o", inbox.folder / "loads/x/").returncode == 0
    assert [load["load"] for load in inbox.listed()] == ["x"]


def test_a_folder_has_the_loads_of_one_job(inbox):
    inbox.put("a.csv")
    inbox.load()
    (inbox.folder / "other.yaml").write_text(JOB)
    done = inbox.run("load", "other.yaml", "inbox", "--ledger", "loads", "-o", "loads/x")
    assert done.returncode == 2 and "use a folder for each job" in done.stderr
    # a damaged manifest does not cause a second load
    manifest = inbox.folder / "loads/0001/manifest.json"
    manifest.write_text(manifest.read_text().replace('"read": 3', '"read": 4'))
    done, ids = inbox.load()
    assert done.returncode == 1 and ids is None and "manifest.json" in done.stderr


def in_hbase(inbox, load):
    """Writes a journal whose last event is the end, sealed as apply seals its lines."""
    (inbox.folder / f"loads/{load}.saltmill-apply").write_text(
        "saltmill-apply 1 0 0 #00000000\n" + f"finished #{murmur3_32(b'finished'):08x}\n")


def test_removed_loads_are_remembered(inbox):
    """--keep removes loads that are old and in HBase. A later load still skips the input files of these loads."""
    for i in range(5):
        inbox.put(f"{i}.csv")
        assert inbox.load()[0].returncode == 0
        time.sleep(0.02)
    for load in ("0001", "0002", "0004", "0005"):
        in_hbase(inbox, load)
    assert [l["applied"] for l in inbox.listed()] == [True, True, False, True, True]
    (inbox.folder / "loads/0002.saltmill-apply").write_text("saltmill-apply 1 0 0 #00000000\nfinished #00000000\n")
    before = inbox.listed()
    assert [l["applied"] for l in before] == [True, False, False, True, True]
    done = inbox.run("loads", "--ledger", "loads", "--keep", "1")
    assert done.returncode == 0 and "removed loads/0001" in done.stderr and "removed loads/0004" in done.stderr
    assert [l["load"] for l in inbox.listed()] == ["0002", "0003", "0005"]
    assert sorted(os.listdir(inbox.folder / "loads")) == [
        "0002", "0002.saltmill-apply", "0003", "0005", "0005.saltmill-apply", "ledger.json"]
    done, ids = inbox.load()
    assert (done.returncode, ids) == (0, None) and "inbox/0.csv: load loads/0001 contains it" in done.stderr
    inbox.put("3.csv")
    assert inbox.load()[0].returncode == 2
    # by age, all loads are recent
    assert inbox.run("loads", "--ledger", "loads", "--keep", "1h").stderr == ""
    # --keep never removes the newest load, and a second removal keeps the lines of the first
    in_hbase(inbox, "0002")
    in_hbase(inbox, "0003")
    inbox.run("loads", "--ledger", "loads", "--keep", "1")
    assert [l["load"] for l in inbox.listed()] == ["0005"]
    inbox.put("new.csv")
    done, _ = inbox.load(files=[f"inbox/{i}.csv" for i in (0, 1, 2, 4)])
    assert done.returncode == 0 and "nothing to load" in done.stderr, done.stderr


@pytest.mark.parametrize("step", ["ledger-noted", "follow-aside", "follow-removed"])
def test_killed_while_removing(inbox, step):
    for i in range(2):
        inbox.put(f"{i}.csv")
        inbox.load()
        time.sleep(0.02)
    in_hbase(inbox, "0001")
    done = inbox.run("loads", "--ledger", "loads", "--keep", "1", env={**os.environ, "SALTMILL_CRASH_AT": step})
    assert done.returncode == -9
    done, ids = inbox.load()
    assert (done.returncode, ids) == (0, None), done.stderr
    assert inbox.run("loads", "--ledger", "loads", "--keep", "1").returncode == 0
    assert [l["load"] for l in inbox.listed()] == ["0002"]
    left = sorted(os.listdir(inbox.folder / "loads"))
    assert [name for name in left if "0001" in name] == [], left


def test_random_nights(inbox):
    """Files are new, late, changed, moved or repeated, and loads die. The table has each row once."""
    rng = random.Random(20261123)
    content, published = {}, []  # file -> ids; contents of each load
    for night in range(40):
        for _ in range(rng.randrange(3)):
            name = f"{rng.randrange(10 ** 6):06d}.csv"
            content[name] = inbox.put(name, rng.randrange(1, 5))
        changed = rng.random() < 0.3 and content and rng.choice(sorted(content))
        if changed:
            content[changed] = inbox.put(changed, rng.randrange(1, 5))
        crash = rng.choice([None, None, "described"])
        env = {**os.environ, "SALTMILL_CRASH_AT": crash} if crash else None
        if crash:
            inbox.loads += 1
            inbox.run("load", "job.yaml", "inbox", "--ledger", "loads", "--replace", "-o", f"loads/{inbox.loads:04d}", env=env)
        done, _ = inbox.load("--replace") if content else (None, None)
        assert done is None or done.returncode == 0, done.stderr
    ids = [i for load in inbox.listed() for i in inbox.ids(f"loads/{load['load']}")]
    assert len(ids) == len(set(ids)) and set().union(*content.values()) <= set(ids)


def test_metrics(inbox):
    inbox.put("a.csv")
    path = inbox.folder / "inbox/a.csv"
    path.write_text(path.read_text() + "x,1,y\n")
    inbox.load("--max-rejects", "1")
    before = os.stat(inbox.folder / "loads/0001/manifest.json").st_mtime
    done = inbox.run("loads", "--ledger", "loads", "--textfile", "saltmill.prom")
    assert done.returncode == 0 and re.search(r"^0001 +published 20\S+Z  3 rows of 4 events, 1 REJECTED, 1 file, NOT IN HBASE$",
                                              done.stdout, re.M), done.stdout
    text = (inbox.folder / "saltmill.prom").read_text()
    values = dict(re.findall(r'^saltmill_ledger_(\w+)\{ledger="loads"\} (\S+)$', text, re.M))
    assert abs(float(values.pop("last_published_timestamp_seconds")) - before) < 0.01
    assert values == {"last_read": "4", "last_rejected": "1", "last_rows": "3", "waiting": "1"}
    rules = (ROOT / "conf/service/prometheus-rules.yaml").read_text()
    for name in re.findall(r"saltmill_ledger_\w+", rules):
        assert f"# TYPE {name} gauge" in text, name
