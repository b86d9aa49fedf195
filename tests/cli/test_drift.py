"""Compares the report of `saltmill drift` about new events in live regions with counts made here."""

import bisect
import json
import os
import random
import re
import subprocess

import pytest

from load_help import gz
from test_existing import get_splits, list_regions

JOB = """\
source:
  csv: {files: [in.csv]}
fields:
  key: {type: hex}
  at: {type: time, unit: s}
tables:
  - name: "ns:t"
    rowkey: [{field: key, as: bytes}]
    timestamp: at
    families:
      f: {compression: NONE}
    cells:
      - {family: f, qualifier: v, value: value}
    regions: {split: sampled, count: 4}
"""


class Night:
    """Makes events with random keys. Returns the output of drift."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program

    def events(self, keys, job=JOB):
        self.keys = sorted(set(keys))
        lines = ["key,at,value"] + [f"{k.hex()},{1_500_000_000 + i},{'x' * 20}" for i, k in enumerate(keys)]
        (self.folder / "in.csv").write_text("\n".join(lines) + "\n")
        (self.folder / "job.yaml").write_text(job)

    def run(self, live, *args):
        (self.folder / "live.txt").write_text(live)
        command = [self.program, "drift", "--existing", "live.txt", "job.yaml", *map(str, args)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120,
                              check=False, env={**os.environ, "TMPDIR": str(self.folder)})

    def table(self, live, *args):
        done = self.run(live, "--json", *args)
        assert done.returncode == 0, done.stderr
        [table] = json.loads(done.stdout)["tables"]
        return table

    def rows(self, borders):
        """Returns the number of keys in each region between the borders."""
        at = [0, *(bisect.bisect_left(self.keys, b) for b in borders), len(self.keys)]
        return [b - a for a, b in zip(at, at[1:])]


@pytest.fixture
def night(tmp_path, saltmill):
    one = Night(tmp_path, saltmill)
    yield one
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "job.yaml", "live.txt"]


def escaped(key):
    return "".join(f"\\x{b:02X}" for b in key)


def commands(text, name):
    """Returns the keys of the commands, as Ruby reads them from a double-quoted string."""
    found = re.findall(name + r""" '([^']*)', "((?:[^"\\#]|\\x[0-9A-F]{2})*)"$""", text, re.M)
    assert len(found) == len(re.findall(f"^{name} ", text, re.M))
    return [(table, re.sub(rb"\\x(..)", lambda m: bytes.fromhex(m[1].decode()), key.encode()))
            for table, key in found]


def some_keys(seed, n, first=range(256)):
    chance = random.Random(seed)
    return [bytes([chance.choice(first)]) + chance.randbytes(chance.randint(3, 8)) for _ in range(n)]


BORDERS = [b"\x20", b"\x5c\x22", b"\x80", b"\xf0\x00"]


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_and_shares(night, threads):
    night.events(some_keys(1, 5000))
    t = night.table(get_splits([*map(escaped, BORDERS)]), "--threads", threads)
    want = night.rows(BORDERS)
    assert [r["rows"] for r in t["regions"]] == want
    assert t["rows"] == sum(want) == len(night.keys)
    total = sum(r["bytes"] for r in t["regions"])
    assert t["bytes"] == total
    for r in t["regions"]:
        assert r["share"] == pytest.approx(r["rows"] / sum(want), abs=0.01)
    assert t["largest_over_mean"] == pytest.approx(max(r["bytes"] for r in t["regions"]) * 5 / total)


def test_predicted_bytes_are_those_of_a_load(night, saltmill, tmp_path_factory):
    night.events(some_keys(2, 20000))
    t = night.table(get_splits([*map(escaped, BORDERS)]))
    out = tmp_path_factory.mktemp("load") / "out"
    done = subprocess.run([saltmill, "load", "job.yaml", "--existing", "live.txt", "-o", out, "--quiet"],
                          cwd=night.folder, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    [loaded] = json.loads((out / "manifest.json").read_text())["tables"]
    for predicted, r in zip(t["regions"], loaded["regions"]):
        assert predicted["rows"] == r["rows"]
        assert predicted["bytes"] == pytest.approx(r["bytes"], rel=0.1)


def test_a_hot_region_is_split_evenly(night):
    """All keys are in one of four regions, which should become four."""
    night.events(some_keys(3, 8000, first=[0x23, 0x22, 0x5C, 0x24, 0x7F]))
    live = [b"\x10", b"\x90", b"\xa0"]
    done = night.run(get_splits([*map(escaped, live)]))
    assert done.returncode == 0, done.stderr
    cuts = commands(done.stdout, "split")
    assert {t for t, _ in cuts} == {"ns:t"} and len(cuts) == 3
    rows = night.rows(sorted(k for _, k in cuts))
    assert max(rows) <= 1.02 * len(night.keys) / 4
    # the middle comes first, because a later round splits a daughter region
    assert [k for _, k in cuts][0] == sorted(k for _, k in cuts)[1]
    assert done.stdout.index("# Round 2") > done.stdout.index("split 'ns:t'")
    assert "merge_region" not in done.stdout and done.stdout.endswith("exit\n")
    assert all(line.startswith(("#", "split", "exit")) for line in done.stdout.splitlines())


def test_fair_is_the_jobs_tolerance(night):
    keys = some_keys(4, 4000)
    night.events(keys)
    assert night.table(get_splits([r"\x60"]))["regions"][1]["split_at"] == []
    night.events(keys, JOB.replace("count: 4", "count: 4, tolerance: 1.2"))
    t = night.table(get_splits([r"\x60"]))
    assert t["regions"][1]["hot"] and not t["regions"][0]["hot"]


def test_fail_above(night):
    """The exit status is 3 if a region is above the factor or HBase will split the region. The script is the same."""
    keys = some_keys(4, 4000)
    night.events(keys)
    low, high = night.rows([b"\x60"])
    live = get_splits([r"\x60"])
    factor = max(low, high) * 2 / (low + high)  # rows are alike, so bytes are proportional to rows
    plain = night.run(live)
    for above, status in ((factor + 0.05, 0), (factor - 0.05, 3)):
        done = night.run(live, "--fail-above", f"{above:.3f}")
        assert done.returncode == status and done.stdout == plain.stdout, done.stderr
        assert ("--fail-above" in done.stderr) == (status == 3)
    done = night.run(live, "--fail-above", "9", "--max-filesize", "1K")
    assert done.returncode == 3 and "2 regions that HBase will split" in done.stderr, done.stderr
    for bad in ("0.5", "x", "nan", ""):
        done = night.run(live, "--fail-above", bad)
        assert done.returncode == 2 and "a number from 1" in done.stderr, done.stderr


def test_bursts_and_merges(night):
    """Each region has 5 MB (list_regions) and gets some 100 kB."""
    night.events(some_keys(5, 8000))
    live = list_regions("ns:t", [escaped(bytes([b])) for b in (0x40, 0x80, 0xC0)])
    t = night.table(live, "--max-filesize", "5M")
    assert [r["bursts"] for r in t["regions"]] == [True] * 4
    assert [len(r["split_at"]) for r in t["regions"]] == [1] * 4
    for r in t["regions"]:
        assert r["live_bytes"] == 5 << 20 and r["bytes_after"] == r["live_bytes"] + r["bytes"]
    cuts = [k for _, k in commands(t["commands"], "split")]
    rows = night.rows(sorted([*cuts, b"\x40", b"\x80", b"\xc0"]))
    assert max(rows) <= 1.1 * len(night.keys) / 8
    assert night.table(live, "--max-filesize", "6M")["commands"] == ""
    assert night.table(live)["max_filesize"] == 10 << 30
    # with 7 of 8 regions empty
    empty = list_regions("ns:t", [escaped(bytes([b])) for b in range(0xF1, 0xF8)])
    empty = re.sub(r"\|( +)5 \|", r"|\g<1>0 |", empty)
    t = night.table(empty)
    merged = re.findall(r'^merge_region "(\w{32})", "(\w{32})"$', t["commands"], re.M)
    assert [(int(a, 16), int(b, 16)) for a, b in merged] == [(1, 2), (3, 4), (5, 6)]
    assert len(t["regions"][0]["split_at"]) > 1


def test_max_filesize_of_the_job(night):
    night.events(some_keys(6, 10), JOB.replace("    families:", "    attributes: {max_filesize: 3 GB}\n    families:"))
    assert night.table(get_splits([]))["max_filesize"] == 3 << 30


def test_one_heavy_row(night):
    night.events([b"\x50"] * 5000 + some_keys(7, 20))
    done = night.run(get_splits([escaped(bytes([b])) for b in (0x50, 0x51, 0x90)]))
    assert done.returncode == 0 and commands(done.stdout, "split") == []
    assert "one row has most of the bytes" in done.stdout


def test_no_events(night):
    night.events([])
    t = night.table(get_splits([r"\x60"]))
    assert [r["rows"] for r in t["regions"]] == [0, 0] and t["commands"] == ""


def test_bad_events_are_left_out(night):
    night.events(some_keys(8, 100))
    with open(night.folder / "in.csv", "a", encoding="ascii") as f:
        f.write("zz,1500000000,x\n")
    done = night.run(get_splits([]), "--json")
    assert done.returncode == 3 and "1 of 101" in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["read"], answer["rejected"], answer["tables"][0]["rows"]) == (101, 1, len(night.keys))


def test_other_files(night, tmp_path_factory):
    night.events(some_keys(9, 100))
    file = tmp_path_factory.mktemp("more") / "more.csv.gz"
    file.write_bytes(gz(b"key,at,value\n01,1500000000,x\n"))
    assert night.table(get_splits([]), file)["rows"] == 1


@pytest.mark.parametrize("live,args,status,words", [
    ("nothing\n", [], 1, ["live.txt", "get_splits"]),
    (list_regions("t", []), [], 2, ["table t"]),
    (get_splits([]), ["--max-filesize", "big"], 2, ["big"]),
    (get_splits([]), ["nowhere.csv"], 1, ["nowhere.csv"]),
], ids=["not-regions", "other-table", "bad-size", "no-file"])
def test_refused(night, live, args, status, words):
    night.events(some_keys(10, 10))
    done = night.run(live, *args)
    assert (done.returncode, done.stdout) == (status, "")
    assert all(w in done.stderr for w in words), done.stderr


def test_existing_is_needed(saltmill):
    done = subprocess.run([saltmill, "drift", "job.yaml"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--existing" in done.stderr
