"""Tests `scan` and `get` with --hbase. A live table gives the same bytes as a folder with the same cells.

Other tests compare the folder's answers with the events and with HBase's answers. This test compares folder and live
table.
"""

import json
import os
import random
import re
import subprocess
import sys
import threading

import pytest
from cluster import wait_until
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
        """Other tests load tables with the same names into the same HBase."""
        names = {t["name"] for m in self.folder.rglob("manifest.json") for t in json.loads(m.read_text())["tables"]}
        script = self.folder / "drop.rb"
        script.write_text("".join(f"if exists('{n}')\n disable '{n}'\n drop '{n}'\nend\n" for n in sorted(names)))
        self.hbase.run_script(script)

    def same(self, job, dirs, *args, command="scan"):
        """Runs both queries at once, compares them, and returns the answer."""
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
    """Each query has one or two forms, and the outputs are equal, including the order."""
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
    assert both.same(job, of, "--table", "files", "--row", row + "x", command="get") == "saltmill get: no row has this key\n"
    visits, via = CONF / "visits.yaml", ["--via", "visits_by_ms"]
    of = [both.load("visits", visits)]
    for more in ([], ["--where", "country = DE"], ["--limit", "1", "--decode"], ["--quiet"], ["--columns", "f:ms"], ["--raw"]):
        both.same(visits, of, *via, *more)
    assert "no filter" not in both.explained(job, "--table", "files", "--where", "day = '20120904'")


def test_wide_row(both, tmp_path):
    """If a query selects one cell or a few cells of a row of 60,000 columns (more than the 2 MiB of one answer), HBase sends
    only these cells."""
    job, base, n = tmp_path / "wide.yaml", 1_700_000_000_000, 60_000
    job.write_text("""\
source: {csv: {files: [events.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: ms}, item: {type: u32}}
tables:
  - name: wide_live
    rowkey: [{salt: 4, of: [user]}, {field: user, as: u32}]
    timestamp: at
    families: {f: {versions: 2}, g: {}}
    cells:
      - {family: f, qualifier: {field: at, as: reversed_millis}, value: item}
      - {family: g, qualifier: name, value: {field: user, as: text}}
    regions: {split: none}
""")
    with open(tmp_path / "events.csv", "w") as out:
        out.write("user,at,item\n")
        out.writelines(f"{1 + i // n},{base + i % n},{i % 1000}\n" for i in range(n + 50))
    of = [both.load("wide", job)]

    def sent(*args):
        told = both.explained(job, *args)
        return int(re.search(r"^in all .* (\d+) bytes? in", told, re.M).group(1))
    for where, cells, most in ((f"user = 1 and at = {base + 77}", 1, 60), (f"user = 1 and at in ({base}, {base + n // 2})", 2, 120),
                               (f"user = 1 and at between {base + 5} and {base + 14}", 10, 600), (f"at = {base + 7}", 2, 120),
                               (f"at < {base + 3} and g:name = 2", 3, 100_000), (f"not at < {base + n - 2} and user = 1", 2, 120)):
        for more in ([], ["--reverse"], ["--max-columns", "1"], ["--versions", "2"], ["--any-version"]):
            both.same(job, of, "--where", where, *more)
        assert both.done("scan", job, "--hbase", both.master, "--where", where, "--quiet").endswith(f", {cells} cells\n")
        assert sent("--where", where) <= most, where


# --- random tables and conditions ---


@pytest.mark.parametrize("seed", range(QUESTIONS // PER_TABLE))
def test_random_questions(both, tmp_path, seed, monkeypatch):
    """The random tables have two loads and salts of all kinds. The conditions are those of test_where.py."""
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


# --- regions that split and move during a scan ---

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
    """One region has 40 MB, more than the buffer between a scan and its reader."""
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
        if not back:  # a daughter region cannot split again before its compaction
            both.hbase.call("split", table="big", row="0000a000")
        both.hbase.call("move", table="big")
        got += p.stdout.read()
        reader.join()
    assert p.returncode == 0, said
    assert got.decode() == want
    assert "continued after a failure" in said[0], said


# --- regions as drift and load see them ---


def test_drift_asks_what_regions_hold(both, big):
    """Sizes and request counts equal those of HBase's own client. load refuses a table with other attributes.
    """
    job, out = big
    both.done("scan", job, "--hbase", both.master, "--quiet")

    def told_now():
        return json.loads(both.done("drift", job, "--hbase", both.master, "--json"))["tables"][0]["regions"]

    def reported():
        """Servers report to the master every 3 s."""
        told = told_now()
        return all(r["live_bytes"] is not None for r in told) and any(r["live_bytes"] for r in told) and \
            sum(r["live_requests"] for r in told) and told
    told = wait_until(reported, pause=0.4)
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
                           ("f: {}", "f: {}, g: {}", "live table big: found no family g")):
        other = job.parent / "other.yaml"
        more = ", {family: g, qualifier: v, value: v}]" if "g:" in now else "]"
        other.write_text(BIG.replace(was, now).replace("]\n    regions", more + "\n    regions"))
        with both.run("load", other, "-o", job.parent / "none", "--hbase", both.master) as p:
            _, err = p.communicate(timeout=SECONDS)
        assert p.returncode == 2 and says in err.decode(), err.decode()
        assert not (job.parent / "none").exists()


# --- refusals ---


def test_refusals(both, tmp_path):
    if not (both.folder / "calls").exists():
        both.load("calls", CONF / "calls.yaml")

    def refused(says, *args):
        with both.run(*args) as p:
            out, err = p.communicate(timeout=SECONDS)
        assert p.returncode == 2 and out == b"" and says in err.decode(), err.decode()
    calls = CONF / "calls.yaml"
    refused("found no table", "scan", CONF / "ratings.yaml", "--hbase", both.master)
    refused("--hbase: found --now too, expected only one of them", "scan", calls, "--hbase", both.master, "--table", "calls_salted", "--now", "5")
    refused("found 2 operands and --hbase", "scan", calls, both.folder, "--hbase", both.master, "--table", "calls_salted")
    refused("has no field `nobody`", "scan", calls, "--hbase", both.master, "--table", "calls_salted", "--where", "nobody = 1")
    refused("found server `a b:c`", "scan", calls, "--hbase", "a b:c", "--table", "calls_salted")
    text = calls.read_text()
    other = tmp_path / "calls.yaml"
    other.write_text(text.replace("salt: 4", "salt: 7").replace("calls.csv", str(CONF / "calls.csv")))
    assert other.read_text() != text
    refused("that do not have the form of the job", "scan", other, "--hbase", both.master, "--table", "calls_salted", "--where", "phone = 13812345678")
    other.write_text(text.replace("      c:\n", "      d:\n").replace("family: c", "family: d"))
    refused("found no family d in", "scan", other, "--hbase", both.master, "--table", "calls_salted")
