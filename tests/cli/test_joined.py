"""Tests that unite --loads joins loads of slices. HBase would answer as for one load, or unite refuses."""

import json
import shutil
import subprocess

import pytest

from load_help import HEADER, JOB
from test_halves import Halves, refused

ROWS = [f"{i * 7 % 90},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(600)]


class Joined(Halves):
    def load_slices(self, n, *args, status=0):
        for k in range(1, n + 1):
            self.run("load", "in.csv", "--plan", "plan", "--slice", f"{k}/{n}", "-o", f"part{k}", *args, status=None)
        return [f"part{k}" for k in range(1, n + 1)]

    def run_plain(self, *args):
        subprocess.run([self.program, *args], cwd=self.folder, check=True, capture_output=True, timeout=60)

    def join(self, parts, *args, status=0):
        return self.run("unite", "--loads", *parts, "-o", "two", *args, status=status)

    def scan(self, folder):
        return subprocess.run([self.program, "scan", "job.yaml", folder, "--table", "t", "--format", "jsonl",
                               "--versions", "3"], cwd=self.folder, check=True, capture_output=True, timeout=60).stdout


@pytest.fixture
def joined(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    h = Joined(tmp_path, saltmill, ["in.csv"])
    h.plan()
    return h


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_rows_and_counts_are_those_of_one_load(joined):
    rows = list(ROWS)
    for i in (5, 299, 300, 590):
        rows[i] = b"bad,1,x\n"
    (joined.folder / "in.csv").write_bytes(HEADER + b"".join(rows))
    shutil.rmtree(joined.folder / "plan")
    joined.plan(status=3)
    joined.load("--max-rejects", 4, status=3)
    parts = joined.load_slices(3, "--max-rejects", 4)
    refused(joined.join(parts[::-1], "--max-rejects", 3, status=4), 4, "in.csv:592")
    joined.join(parts[::-1], "--max-rejects", 4, status=3)
    assert joined.scan("two") == joined.scan("one") and len(joined.scan("two").splitlines()) > 500
    assert (joined.folder / "two/rejects.jsonl").read_bytes() == (joined.folder / "one/rejects.jsonl").read_bytes()
    one, two = manifest(joined.folder / "one"), manifest(joined.folder / "two")
    assert two["joined"] == 3 and "joined" not in one and two["created_ms"] == one["created_ms"]
    for name in ("columns", "read", "rejected", "reasons", "job_digest"):
        assert one[name] == two[name]
    for name in ("loaded", "filtered", "deduplicated", "rows", "cells", "splits_digest"):
        assert one["tables"][0][name] == two["tables"][0][name]
    assert len(two["tables"][0]["files"]) == 6 and [i["slice"]["begins"] for i in two["inputs"]] == [True, False, False]
    joined.run_plain("verify", "two")


def test_one_cell_in_two_loads_is_refused_and_others_are_not(joined):
    def write(last):
        (joined.folder / "in.csv").write_bytes(HEADER + b"".join(ROWS) + last)
        for k in ("part1", "part2", "two"):
            shutil.rmtree(joined.folder / k, ignore_errors=True)
        return joined.load_slices(2)
    refused(joined.join(write(b"0,1400000000,other\n"), status=4), 4, "both have the cell of row", "part1 and part2")
    assert not (joined.folder / "two").exists()
    joined.join(write(b"0,1400009999,another time\n"))


def test_slices_that_do_not_meet_or_belong_together_are_refused(joined):
    parts = joined.load_slices(4)
    refused(joined.join(parts[:3], status=4), 4, "no load has the bytes after")
    refused(joined.join(parts[1:], status=4), 4, "expected 0, where the file begins")
    refused(joined.join([*parts[:2], parts[3]], status=4), 4, "or a missing or repeated slice")
    refused(joined.join([*parts, parts[1]], status=4), 4, "or a missing or repeated slice")
    joined.load()
    refused(joined.join([*parts, "one"], status=4), 4, "in both, expected it once")
    (joined.folder / "part1/t/splits.txt").rename(joined.folder / "away")
    refused(joined.join(parts, status=1), 1, "splits.txt")
    (joined.folder / "away").rename(joined.folder / "part1/t/splits.txt")
    file = next((joined.folder / "part2/t/hfiles/f").iterdir())
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert joined.join(parts, status=None).returncode in (1, 4)
    file.write_bytes(data)
    (joined.folder / "live.txt").write_text("Total number of splits = 2\n\\x01\n")
    joined.run("load", "in.csv", "--slice", "1/4", "--existing", "live.txt", "-o", "unplanned")
    refused(joined.join(["unplanned", *parts[1:]], status=4), 4, "load both with the same --plan")
    joined.join(parts)


def test_an_input_that_grew_between_its_slices_is_refused(joined):
    """Slices of a replaced file still meet if their border is in both versions."""
    joined.run("load", "in.csv", "--plan", "plan", "--slice", "0-5000", "-o", "part1")
    (joined.folder / "in.csv").write_bytes(HEADER + b"".join(ROWS) + b"7,1500000000,late\n")
    size = (joined.folder / "in.csv").stat().st_size
    joined.run("load", "in.csv", "--plan", "plan", "--slice", f"5000-{size}", "-o", "part2")
    refused(joined.join(["part1", "part2"], status=4), 4, "part2: found a slice of another file than in part1: in.csv with "
            f"{size} bytes, expected {size - 18}")
    assert not (joined.folder / "two").exists()


def test_too_many_files_in_a_region_are_refused(joined):
    parts = joined.load_slices(17)
    refused(joined.join(parts, status=4), 4, "found 17 files of family f, expected at most 16 (--max-files)")
    joined.join(parts, "--max-files", 17)
    joined.run_plain("verify", "two")
    refused(joined.run("unite", "--loads", "part1", "--plan", "plan", "-o", "x", status=2), 2, "--loads: found --plan too, expected only one of them")


def test_unique_is_refused(joined):
    """Each load compares only its own values, so two loads may have the same value."""
    job = (joined.folder / "job.yaml").read_text()
    (joined.folder / "job.yaml").write_text(job.replace("fields:\n", "fields:\n  value: {expect: {unique: true}}\n", 1))
    (joined.folder / "in.csv").write_bytes(HEADER + b"".join(b"%d,1400000000,%d\n" % (i, i) for i in range(400)))
    shutil.rmtree(joined.folder / "plan")
    joined.plan()
    parts = joined.load_slices(2)
    refused(joined.join(parts, status=2), 2, "found `unique` of field `value`, expected a job without it")
    shutil.rmtree(joined.folder / "part1")
    joined.join(joined.load_slices(1))
