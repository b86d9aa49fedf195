"""Tests of saltmill merge, judged by a model of a major compaction in Python. unit/test_read_query.c has HBase's own cases."""

import json
import os
import random
import subprocess

import pytest

import hfile_py
import loads
import test_older_hfiles
from test_diff import hfile, make

CODES = {"Put": 4, "Delete": 8, "DeleteFamilyVersion": 10, "DeleteColumn": 12, "DeleteFamily": 14}


def merge(*args, status=0, **env):
    done = loads.run("merge", *args, "--json", env=dict(os.environ, **env))
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout) if status == 0 else done.stderr


def verify(folder):
    done = loads.run("verify", folder)
    assert done.returncode == 0, done.stdout + done.stderr


def stored(folder):
    """Returns the cells of a load's files in file order: (row, family, qualifier, -ms, -type, value)."""
    files = json.loads((folder / "manifest.json").read_text())["tables"][0]["files"]
    return [(loads.escaped(c.row), c.family.decode(), loads.escaped(c.qualifier), -c.ts, -c.type, loads.escaped(c.value))
            for f in files for c in hfile_py.read(folder / f["path"])]


def inspected(folder):
    """Returns the cells of files with tags, {key: value}. test_older_hfiles.py judges inspect by HBase's cells."""
    cells = {}
    for f in json.loads((folder / "manifest.json").read_text())["tables"][0]["files"]:
        for c in json.loads(loads.run("inspect", folder / f["path"], "--cells", "--json").stdout)[0]["cells"]:
            cells[c["row"], c["column"].split(":", 1)[1], -c["timestamp"], -CODES[c["type"]]] = c["value"]
    return cells


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def draw(rng):
    """Returns events (id, ms, a, b), with at most one cell for each column and time, as HBase wants for a load."""
    events = {(rng.randrange(40), rng.randrange(1, 6)): (f"a{rng.random()}" if rng.random() < 0.8 else "",
                                                        f"b{rng.random()}" if rng.random() < 0.8 else "") for _ in range(120)}
    return [(*key, *value) for key, value in events.items() if any(value)]


def compacted(parts, versions):
    """The later load wins over equal cells, and a column keeps its newest versions."""
    cells = {}
    for events in parts:
        for ident, ms, a, b in events:
            row = loads.escaped(ident.to_bytes(4, "big"))
            cells.update({k: v for k, v in {(ident, row, "f", "a", -ms): a, (ident, row, "g", "b", -ms): b}.items() if v})
    kept, seen = [], {}
    for key in sorted(cells):
        seen[key[:4]] = seen.get(key[:4], 0) + 1
        if seen[key[:4]] <= versions[key[2]]:
            kept.append((*key[1:], -4, cells[key]))
    return sorted(kept), sum(len([v for v in e[2:] if v]) for events in parts for e in events)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    rng, folder = random.Random(31), tmp_path_factory.mktemp("merge")
    parts = [draw(rng) for _ in range(3)]
    splits = ["sampled, count: 3", "sampled, count: 2", "none"]
    return [make(folder / str(i), events, split=split) for i, (events, split) in enumerate(zip(parts, splits))], parts


def test_loads(tmp_path, three):
    outs, parts = three
    told = merge(*outs, "-o", tmp_path / "one", "--threads", 1)
    want, read = compacted(parts, {"f": 3, "g": 1})
    assert sorted(stored(tmp_path / "one")) == want
    table = told["tables"][0]
    assert (told["read"], table["loaded"], table["filtered"]) == (read, len(want), read - len(want)) and read > len(want)
    assert table["rows"] == len({c[0] for c in want}) and told["rewritten"] == "merge" and len(table["regions"]) == 1
    verify(tmp_path / "one")
    # the digests of the inputs are those of their files, which are their names
    inputs = {i["path"]: i["digest"] for i in told["inputs"]}
    assert inputs == {str(f): f.name for o in outs for f in o.glob("t/hfiles/*/*")}
    merge(*outs, "-o", tmp_path / "two", "--threads", 2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    # a merge of merges has the same cells, with the regions of --splits
    merge(outs[0], outs[1], "-o", tmp_path / "first", "--now", 0)
    told = merge(tmp_path / "first", outs[2], "-o", tmp_path / "again", "--splits", outs[0] / "t/splits.txt")
    assert sorted(stored(tmp_path / "again")) == want and len(told["tables"][0]["regions"]) == 3
    verify(tmp_path / "again")
    assert (tmp_path / "again/t/create.rb").read_text() == (outs[0] / "t/create.rb").read_text()
    # with --raw, equal cells of two loads are both there, and a scan returns the newer one
    told = merge(*outs, "-o", tmp_path / "raw", "--raw")
    assert (told["read"], told["tables"][0]["loaded"]) == (read, read)
    assert loads.run("diff", tmp_path / "raw", tmp_path / "one").returncode == 0
    verify(tmp_path / "raw")


def test_inputs_with_the_same_file(tmp_path, three):
    """Two snapshots of one table share files. merge reads a shared file once, with the age of its newest mention."""
    outs, parts = three
    summary = merge(outs[0], outs[1], outs[0], "-o", tmp_path / "raw", "--raw")
    both = sum(len(stored(o)) for o in outs[:2])
    assert summary["read"] == summary["tables"][0]["loaded"] == both
    merge(outs[0], outs[1], outs[0], "-o", tmp_path / "out")
    assert sorted(stored(tmp_path / "out")) == compacted([parts[1], parts[0]], {"f": 3, "g": 1})[0]
    verify(tmp_path / "out")


def test_markers_of_hbase(tmp_path):
    """Files of HBase 1 with delete markers and tags, in pairs. HFiles alone keep all versions."""
    names = [n for n in test_older_hfiles.NAMES if test_older_hfiles.cells_of(n)]
    rng, hidden = random.Random(7), 0
    for number in range(10):
        pair = rng.sample(names, 2)
        cells = {}
        for name in pair:
            for row, qualifier, ms, kind, value, _, tags in test_older_hfiles.cells_of(name):
                cells.setdefault((row, qualifier, -ms, -CODES[kind]), set()).add(value)
        gone = set()
        for row, qualifier, ms, kind in (k for k in cells if k[3] == -4):
            for r, q, at, code in cells:
                exact = code in (-8, -10)
                if r == row and code != -4 and (at == ms if exact else at <= ms) and (q == qualifier or code <= -14 or code == -10):
                    gone.add((row, qualifier, ms, kind))
        want = {k for k in cells if k[3] == -4} - gone
        told = merge(*(hfile(tmp_path, f"{number}{n}", test_older_hfiles.FILES[n]) for n in pair), "-o", tmp_path / f"o{number}",
                     "--table", "t", "--now", 0)
        found = inspected(tmp_path / f"o{number}")
        assert found.keys() == {(loads.escaped(k[0]), loads.escaped(k[1]), k[2], k[3]) for k in want}, pair
        for k in want:
            assert found[loads.escaped(k[0]), loads.escaped(k[1]), k[2], k[3]] in {loads.escaped(v) for v in cells[k]}
        assert told["tables"][0]["loaded"] == len(want)
        verify(tmp_path / f"o{number}")
        hidden += len(gone)
    assert hidden > 10


def test_failures(tmp_path, three):
    outs, _ = three
    env = dict(os.environ, SALTMILL_CRASH_AT="merge-written")
    killed = subprocess.run([loads.PROGRAM, "merge", *outs, "-o", tmp_path / "out"], env=env, capture_output=True)
    assert killed.returncode == -9 and not (tmp_path / "out").exists()
    merge(*outs, "-o", tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert "exists" in merge(*outs, "-o", tmp_path / "out", status=2)
    with open("/dev/full", "w") as full:
        said = subprocess.run([loads.PROGRAM, "merge", outs[0], "-o", tmp_path / "unsaid"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert said.returncode == 1 and f"the load is published as {tmp_path}/unsaid" in said.stderr and (tmp_path / "unsaid").exists()
    assert "found live table" in merge("hbase://h/t", "-o", tmp_path / "x", status=2)
    assert loads.run("merge", outs[0]).returncode == 2
    bare = hfile(tmp_path, "bare", next(iter(outs[0].glob("t/hfiles/f/*"))).read_bytes())
    assert "--table NAME" in merge(bare, "-o", tmp_path / "x", status=2)
    assert "lacks" in merge(outs[0], bare, "-o", tmp_path / "x", "--table", "t", status=1)
    # the trailer counts one cell more than the file has
    data = bytearray(test_older_hfiles.FILES[test_older_hfiles.NAMES[0]])
    count = len(test_older_hfiles.cells_of(test_older_hfiles.NAMES[0]))
    data[data.index(bytes([7 << 3, count % 128 + 128 * (count > 127)]), len(data) - 4096) + 1] += 1
    assert f"found {count} cells, expected the {count + 1} of its trailer" in merge(
        hfile(tmp_path, "counted", data), "-o", tmp_path / "x", "--table", "t", status=1)
    damaged = tmp_path / "damaged"
    subprocess.run(["cp", "-r", outs[1], damaged], check=True)
    file = next(iter(damaged.glob("t/hfiles/f/*")))
    file.write_bytes(file.read_bytes()[:-5000] + bytes(4) + file.read_bytes()[-4996:])
    assert "found other bytes than in the manifest" in merge(outs[0], damaged, "-o", tmp_path / "x", status=1)
    assert not (tmp_path / "x").exists()
