"""Loads random inputs with random jobs, and compares the complete result of each load with an oracle.

random_jobs.py makes a case from a number, load_oracle.py computes the expected result, and hfile_py.py reads the
program's files. `SALTMILL_SEEDS=17:18 pytest tests/cli/test_random_loads.py` repeats one case, SALTMILL_SEEDS=1000:1500
runs others.
"""

import base64
import collections
import json
import os
import shutil
import subprocess

import pytest

import hfile_py
from oracle import unescape
from random_jobs import Case

# --- invariants ---

def first_difference(want, got):
    for n, (w, g) in enumerate(zip(want, got)):
        if w != g:
            return f"cell {n}\n  wanted {w}\n  found  {g}"
    longer, which = (want, "missing") if len(want) > len(got) else (got, "too many")
    return f"{abs(len(want) - len(got))} cells {which}, first {longer[min(len(want), len(got))]}"


def check_region(folder, m, region, files):
    """Checks that the files of one region are inside its borders. Returns the cells of the files, family by family."""
    start, end = m["regions"][region]["start"], m["regions"][region]["end"]
    low, high = unescape(start) if start else b"", unescape(end) if end else None
    found = collections.defaultdict(list)
    for f in files:
        path = folder / "out" / f["path"]
        cells = hfile_py.read(path)
        rows = {c.row for c in cells}
        assert all(low <= r and (high is None or r < high) for r in rows), f"{path}: rows outside {start!r}..{end!r}"
        assert {c.family.decode() for c in cells} == {f["family"]}, path
        assert (f["rows"], f["cells"], f["bytes"]) == (len(rows), len(cells), path.stat().st_size), path
        assert (unescape(f["first_row"]), unescape(f["last_row"])) == (cells[0].row, cells[-1].row), path
        assert (f["min_ts"], f["max_ts"]) == (min(c.ts for c in cells), max(c.ts for c in cells)), path
        found[f["family"]].append(cells)
    for lists in found.values():  # rolled at a row's end, so that no row is in two files
        lists.sort(key=lambda cells: cells[0].place())
        assert all(a[-1].row < b[0].row for a, b in zip(lists, lists[1:])), f"region {region}: a row in two files"
    cells = [c for lists in found.values() for cells in lists for c in cells]
    assert m["regions"][region]["cells"] == len(cells)
    assert m["regions"][region]["rows"] == len({c.row for c in cells})
    return cells


def check_table(case, i, m):
    t, folder = case.job.tables[i], case.folder
    assert m["name"] == t["name"]
    splits = [unescape(s) for s in (folder / "out" / m["dir"] / "splits.txt").read_text().splitlines()]
    borders = [r["end"] for r in m["regions"][:-1]]
    assert splits == sorted(set(splits)) == [unescape(b) for b in borders]
    assert [r["start"] for r in m["regions"]] == ["", *borders] and m["regions"][-1]["end"] == ""
    cells = []
    for region in range(len(m["regions"])):
        cells += check_region(folder, m, region, [f for f in m["files"] if f["region"] == region])
    on_disk = {p.relative_to(folder / "out").as_posix() for p in (folder / "out" / m["dir"] / "hfiles").glob("*/*")}
    assert on_disk == {f["path"] for f in m["files"]}
    got = sorted((c.family.decode(), c.row, c.qualifier, -c.ts, -c.type, c.value) for c in cells)
    want = sorted((*place, value) for place, (value, _) in case.oracle.kept[i].items())
    assert got == want, f"table {t['name']}: " + first_difference(want, got)
    assert {k: m[k] for k in case.oracle.counts(i)} == case.oracle.counts(i)
    assert m["loaded"] + m["filtered"] + m["deduplicated"] + len(case.oracle.rejected) == case.oracle.events


def check_rejects(case):
    lines = [json.loads(s) for s in (case.folder / "out" / "rejects.jsonl").read_text().splitlines()]
    found = [(r["file"], r["line"], r["offset"], r["raw"].encode() if "raw" in r else base64.b64decode(r["raw_base64"]))
             for r in lines]
    assert found == case.oracle.rejected, first_difference(case.oracle.rejected, found)


def check_case(seed, folder, saltmill):
    folder.mkdir()
    case = Case(seed, folder)
    r = case.run(saltmill)
    message, o = r.stderr.decode("utf8", "replace"), case.oracle
    if o.twins:
        assert r.returncode == 1 and "duplicates: error" in message, message
        assert not (folder / "out").exists()
        return "duplicates"
    assert r.returncode == (3 if o.rejected else 0), message
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    assert (manifest["read"], manifest["rejected"]) == (o.events, len(o.rejected))
    check_rejects(case)
    for i, m in enumerate(manifest["tables"]):
        check_table(case, i, m)
    v = subprocess.run([saltmill, "verify", "out"], cwd=folder, capture_output=True, timeout=60)
    assert v.returncode == 0, f"verify reports {v.stderr.decode()}"
    return "cells" if any(o.kept) else "nothing"


def report(seed, folder, saltmill):
    try:
        kind = check_case(seed, folder, saltmill)
        shutil.rmtree(folder)
        return kind
    except AssertionError as e:
        job = folder / "job.yaml"
        pytest.fail(f"seed {seed} in {folder}: {e}\n{job.read_text() if job.exists() else ''}", pytrace=False)


# --- the tests ---

SEEDS = range(*map(int, os.environ.get("SALTMILL_SEEDS", "0:60").split(":")))


def test_the_reader_itself():
    hfile_py.self_check()


def test_random_loads(tmp_path, saltmill):
    kinds = collections.Counter(report(seed, tmp_path / str(seed), saltmill) for seed in SEEDS)
    if len(SEEDS) >= 50:  # most cases must have cells
        assert kinds["cells"] > len(SEEDS) // 2, kinds
