"""`scan` and `get` with --hbase: a live table gives what a folder with the same cells gives, byte for byte.

The folder's answers are held to the events and to HBase's own by other tests; here the two are compared.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time

import pytest
from test_load import CONF

sys.path.insert(0, str(CONF.parent / "tests" / "cli"))

import test_where  # noqa: E402  (needs the path above)

QUESTIONS = int(os.environ.get("SALTMILL_LIVE", "96"))
PER_TABLE = 24
SECONDS = 120


class Both:
    """Loads of a job's tables, in folders and in a live HBase."""

    def __init__(self, saltmill, hbase, folder):
        self.saltmill, self.hbase, self.folder = saltmill, hbase, folder
        self.master = hbase.master

    def run(self, *args, **how):
        return subprocess.Popen([self.saltmill, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def done(self, *args):
        with self.run(*args) as p:
            out, err = p.communicate(timeout=SECONDS)
            assert p.returncode == 0, (args, err.decode())
            return out.decode()

    def load(self, name, job, *files):
        out = self.folder / name
        self.done("load", job, *files, "-o", out, "--quiet")
        self.apply(out)
        return out

    def apply(self, out):
        self.done("apply", out, "--hbase", self.master, "--create", "--quiet")

    def drop(self):
        """Other tests load tables of the same names into the same HBase."""
        names = {t["name"] for m in self.folder.rglob("manifest.json") for t in json.loads(m.read_text())["tables"]}
        script = self.folder / "drop.rb"
        script.write_text("".join(f"if exists('{n}')\n disable '{n}'\n drop '{n}'\nend\n" for n in sorted(names)))
        self.hbase.run_script(script)

    def same(self, job, dirs, *args, command="scan"):
        """The two answers at once; the answer."""
        folder, live = (self.run(command, job, *where, *args) for where in (dirs, ["--hbase", self.master]))
        (want, of_folder), (got, of_live) = (p.communicate(timeout=SECONDS) for p in (folder, live))
        assert folder.returncode == live.returncode, (args, of_folder.decode(), of_live.decode())
        assert want == got, (args, want.decode(errors="replace"), got.decode(errors="replace"))
        return want.decode(errors="replace") or of_folder.decode()

    def explained(self, job, *args):
        with self.run("scan", job, "--hbase", self.master, *args, "--explain", "--quiet") as p:
            _, err = p.communicate(timeout=SECONDS)
            assert p.returncode == 0, err.decode()
            return err.decode()


@pytest.fixture(scope="module")
def both(saltmill, hbase, tmp_path_factory):
    two = Both(saltmill, hbase, tmp_path_factory.mktemp("live"))
    yield two
    two.drop()


# --- the worked jobs ---

SHOWN = [[], ["--format", "csv"], ["--format", "jsonl"], ["--decode"], ["--decode", "--format", "jsonl"],
         ["--limit", "3"], ["--reverse"], ["--reverse", "--limit", "2"], ["--quiet"], ["--max-columns", "2"],
         ["--versions", "3"]]


def test_worked_jobs(both):
    """Each question in a form or two; all that is shown is the same, order and all."""
    rng = random.Random(16)
    asked = {
        ("files", "files"): ["owner = 1", "owner = 1 and category starts with 综艺", "day = '20120904'", "id > 3",
                             "day between '20120904' and '20120909' or owner = 4", "name is null or id > 3",
                             "owner = 1 and not category = 综艺花絮"],
        ("files", "files_by_time"): ["created >= 20120906 and created < 20120914"],
        ("calls", "calls_salted"): ["seconds > 300", "phone = 13812345678", "callee = '1' and not seconds = 0"],
        ("calls", "calls_hashed"): ["seconds > 300"],
        ("calls", "calls_reversed"): ["at >= '2013-07-01 00:00:00' and at < '2013-07-04 00:00:00' and seconds > 300"],
        ("timeseries_wide", "views_wide"): ["uid = 1", "ts > 100"],
        ("loans", "student_loans"): ["student_info starts with 'Computing'"],
    }
    dirs = {name: [both.load(name, CONF / f"{name}.yaml")] for name in {job for job, _ in asked}}
    for (name, table), questions in asked.items():
        job = CONF / f"{name}.yaml"
        for more in rng.sample(SHOWN, 3):
            both.same(job, dirs[name], "--table", table, *more)
        for q in questions:
            for more in [[], rng.choice(SHOWN)]:
                both.same(job, dirs[name], "--table", table, "--where", q, *more)
    job, of = CONF / "files.yaml", dirs["files"]
    for more in (["--start", "000001", "--stop", "000003"], ["--prefix", "000002"], ["--columns", "f:name,f:id"],
                 ["--time-range", "1346600000000..1347100000000"], ["--start", "000003", "--stop", "000001", "--reverse"],
                 ["--raw"], ["--raw", "--versions", "2"]):
        both.same(job, of, "--table", "files", *more)
    row = both.done("scan", job, *of, "--table", "files", "--format", "csv", "--limit", "1").splitlines()[1].split(",")[0]
    assert both.same(job, of, "--table", "files", "--row", row, command="get")
    assert both.same(job, of, "--table", "files", "--row", row + "x", command="get") == ""
    visits, via = CONF / "visits.yaml", ["--via", "visits_by_ms"]
    of = [both.load("visits", visits)]
    for more in ([], ["--where", "country = DE"], ["--limit", "1", "--decode"], ["--quiet"], ["--columns", "f:ms"], ["--raw"]):
        both.same(visits, of, *via, *more)
    assert "no filter" not in both.explained(job, "--table", "files", "--where", "day = '20120904'")


# --- random tables and questions ---


@pytest.mark.parametrize("seed", range(QUESTIONS // PER_TABLE))
def test_random_questions(both, tmp_path, seed, monkeypatch):
    """Random tables of two loads, salts of all kinds, and what test_where.py asks of folders."""
    rng = random.Random(1600 + seed)
    drawn = test_where.draw_job

    def draw_job(rng):
        text, *more = drawn(rng)
        return text.replace("name: t\n", f"name: live{seed}\n"), *more
    monkeypatch.setattr(test_where, "draw_job", draw_job)
    *_, events, (job, *dirs) = test_where.make_table(tmp_path, rng)
    for one in dirs:
        both.apply(one)
    pushed = 0
    for _ in range(PER_TABLE):
        question, _ = test_where.draw_question(rng, events)
        more = rng.choice([[], [], ["--columns", "f:n"], ["--columns", "g"], ["--reverse"], ["--limit", str(rng.randrange(1, 9))],
                           ["--reverse", "--limit", "3"], ["--max-columns", "2"], ["--quiet"],
                           ["--time-range", f"..{rng.choice(events)['at'] + 1}"], ["--decode"]])
        both.same(job, dirs, "--where", question, *more)
        if rng.random() < 0.15:
            pushed += "filter " in both.explained(job, "--where", question)
    both.same(job, dirs)


# --- regions that split and move while they are read ---

BIG = """\
source: {csv: {files: [big.csv]}}
fields: {id: {type: u32}}
tables:
  - name: big
    rowkey: [{field: id, as: u32}]
    timestamp: 1000
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}, {family: f, qualifier: w, value: v}]
    regions: {split: none}
"""


@pytest.fixture(scope="module")
def big(both, tmp_path_factory):
    """More than waits between a scan and its reader: 40 MB in one region."""
    folder = tmp_path_factory.mktemp("big")
    (folder / "job.yaml").write_text(BIG)
    (folder / "big.csv").write_text("id,v\n" + "".join(f"{i},{'x' * 250}{i}\n" for i in range(60_000)))
    return folder / "job.yaml", both.load("big", folder / "job.yaml")


@pytest.mark.parametrize("back", [[], ["--reverse"]])
def test_region_that_splits_and_moves(both, big, back):
    job, out = big
    want = both.done("scan", job, out, "--format", "csv", *back)
    with both.run("scan", job, "--hbase", both.master, "--format", "csv", "--explain", *back) as p:
        said = []
        reader = threading.Thread(target=lambda: said.append(p.stderr.read().decode()))
        reader.start()
        got = p.stdout.read(100_000)
        if not back:  # a daughter cannot be split again until it is compacted
            both.hbase.call("split", table="big", row="0000a000")
        both.hbase.call("move", table="big")
        got += p.stdout.read()
        reader.join()
    assert p.returncode == 0, said
    assert got.decode() == want
    assert "gone on with anew" in said[0], said


# --- regions as drift and load see them ---


def test_drift_asks_what_regions_hold(both, big):
    """Sizes and requests as HBase's own client tells them; a table with other attributes is no table to load for."""
    job, out = big
    both.done("scan", job, "--hbase", both.master, "--quiet")

    def told_now():
        return json.loads(both.done("drift", job, "--hbase", both.master, "--json"))["tables"][0]["regions"]
    for _ in range(30):  # servers tell the master every 3 s
        told = told_now()
        if all(r["live_bytes"] is not None for r in told) and sum(r["live_requests"] for r in told) and any(r["live_bytes"] for r in told):
            break
        time.sleep(0.4)
    files = both.hbase.store_files("big")
    assert len(told) == len(files)
    held = sum(f["bytes"] for r in files for f in r["files"])
    assert sum(r["live_bytes"] for r in told) <= held + (len(told) << 20)
    assert all(r["live_bytes"] % (1 << 20) == 0 and r["live_requests"] >= 0 for r in told)
    assert sum(r["live_requests"] for r in told) > 0 and any(r["live_bytes"] for r in told)
    assert " requests" in both.done("drift", job, "--hbase", both.master)
    for was, now, says in (("f: {}", "f: {compression: GZ}", "f: COMPRESSION is NONE, expected GZ"),
                           ("f: {}", "f: {bloomfilter: ROWCOL}", "f: BLOOMFILTER is ROW, expected ROWCOL"),
                           ("f: {}", "f: {blocksize: 8K}", "f: BLOCKSIZE is 65536, expected 8192"),
                           ("f: {}", "f: {}, g: {}", "the live table big has no family g")):
        other = job.parent / "other.yaml"
        more = ", {family: g, qualifier: v, value: v}]" if "g:" in now else "]"
        other.write_text(BIG.replace(was, now).replace("]\n    regions", more + "\n    regions"))
        with both.run("load", other, "-o", job.parent / "none", "--hbase", both.master) as p:
            _, err = p.communicate(timeout=SECONDS)
        assert p.returncode == 2 and says in err.decode(), err.decode()
        assert not (job.parent / "none").exists()


# --- what is refused ---


def test_refusals(both, tmp_path):
    if not (both.folder / "calls").exists():
        both.load("calls", CONF / "calls.yaml")

    def refused(says, *args):
        with both.run(*args) as p:
            out, err = p.communicate(timeout=SECONDS)
        assert p.returncode == 2 and out == b"" and says in err.decode(), err.decode()
    calls = CONF / "calls.yaml"
    refused("found no table", "scan", CONF / "ratings.yaml", "--hbase", both.master)
    refused("--hbase: found --now too, expected one of them", "scan", calls, "--hbase", both.master, "--table", "calls_salted", "--now", "5")
    refused("found 2 operands and --hbase", "scan", calls, both.folder, "--hbase", both.master, "--table", "calls_salted")
    refused("has no field `nobody`", "scan", calls, "--hbase", both.master, "--table", "calls_salted", "--where", "nobody = 1")
    refused("found server `a b:c`", "scan", calls, "--hbase", "a b:c", "--table", "calls_salted")
    text = calls.read_text()
    other = tmp_path / "calls.yaml"
    other.write_text(text.replace("salt: 4", "salt: 7").replace("calls.csv", str(CONF / "calls.csv")))
    assert other.read_text() != text
    refused("has row keys of another form than the job", "scan", other, "--hbase", both.master, "--table", "calls_salted", "--where", "phone = 13812345678")
    other.write_text(text.replace("      c:\n", "      d:\n").replace("family: c", "family: d"))
    refused("found no family d in", "scan", other, "--hbase", both.master, "--table", "calls_salted")
