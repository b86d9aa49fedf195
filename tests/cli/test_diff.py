"""Tests of saltmill diff, judged by a model of the cells in Python. hbase/test_offline.py compares live tables."""

import json
import random
import shutil
import zlib

import pytest

from test_offline import Folder, fill, load, snapshot  # noqa: F401  (load is a fixture)
import hfile_py
import loads
import test_older_hfiles

JOB = """\
source:
  csv: {{files: [in.csv]}}
fields:
  id: {{type: u32}}
  at: {{type: time, unit: ms}}
  a: {{type: text}}
  b: {{type: text}}
tables:
  - name: t
    rowkey: [{{field: id, as: u32}}]
    timestamp: at
    families: {{f: {{versions: {versions}}}, g: {{versions: 1}}}}
    cells:
      - {{family: f, qualifier: a, value: {{field: a}}, optional: true}}
      - {{family: g, qualifier: b, value: {{field: b}}, optional: true}}
    regions: {{split: {split}}}
"""


def make(folder, events, versions=3, split="sampled, count: 3"):
    """Loads events of (id, ms, a, b). An empty value is no cell."""
    folder.mkdir()
    (folder / "job.yaml").write_text(JOB.format(versions=versions, split=split))
    (folder / "in.csv").write_text("id,at,a,b\n" + "".join(f"{','.join(map(str, e))}\n" for e in events))
    done = loads.run("load", folder / "job.yaml", "-o", folder / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def cells_of(events, versions=None):
    """Returns {(row, family, qualifier, -ms): value}, the cells of a load. With `versions`, only what a scan returns."""
    cells = {}
    for ident, ms, a, b in events:
        row = loads.escaped(ident.to_bytes(4, "big"))
        if a:
            cells[ident, row, "f", "a", -ms] = a
        if b:
            cells[ident, row, "g", "b", -ms] = b
    kept, seen = {}, {}
    for key in sorted(cells):
        column = key[:4]
        seen[column] = seen.get(column, 0) + 1
        if not versions or seen[column] <= versions[key[2]]:
            kept[key] = cells[key]
    return kept


def diff(*args, status):
    done = loads.run("diff", *args, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def expect(before, after, shown=10**6):
    """Compares two dicts of cells, and returns the members of the report."""
    first, count = [], {"only_in_a": 0, "only_in_b": 0, "value": 0, "tags": 0}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) == after.get(key):
            continue
        kind = "only_in_a" if key not in after else "only_in_b" if key not in before else "value"
        line = {"difference": kind, "row": key[1], "family": key[2], "qualifier": key[3], "timestamp": -key[4], "type": "Put"}
        line |= {f"value_{side}": cells[key] for side, cells in (("a", before), ("b", after)) if key in cells}
        count[kind] += 1
        first.append(line)
    return {"equal": not first, "rows_a": len({k[0] for k in before}), "cells_a": len(before),
            "rows_b": len({k[0] for k in after}), "cells_b": len(after),
            "differing_rows": len({line["row"] for line in first}), "only_in_a": count["only_in_a"],
            "only_in_b": count["only_in_b"], "other_value": count["value"], "other_tags": 0, "first": first[:shown]}


def random_events(rng):
    ids = rng.sample(range(1, 2**32 - 1), 40)
    events = {(i, rng.randrange(1, 5) * 1000): (rng.choice(["", "x", "y"]), rng.choice(["u", "v"]))
              for i in ids for _ in range(rng.randrange(1, 6))}
    return events


def change(rng, events):
    changed = dict(events)
    for key in rng.sample(sorted(events), rng.randrange(0, 6)):
        kind = rng.randrange(4)
        if kind == 0:
            del changed[key]
        elif kind == 1:
            changed[key] = (changed[key][0], changed[key][1] + "-")
        elif kind == 2:
            changed[key[0], key[1] + 1] = changed.pop(key)
        else:
            changed[rng.randrange(2**32), 5000] = ("new", "")
    return changed


def flat(events):
    return [(*key, *value) for key, value in events.items()]


@pytest.mark.parametrize("seed", range(6))
def test_random_changes(tmp_path, seed):
    """The visible cells, all cells, a key range and the first N differences of random tables with random changes."""
    rng = random.Random(seed)
    before = random_events(rng)
    after = change(rng, before)
    splits = ["sampled, count: 4", "none", "uniform, count: 3"]
    a = make(tmp_path / "a", flat(before), split=rng.choice(splits))
    b = make(tmp_path / "b", flat(after), split=rng.choice(splits))
    for args, versions in (([], {"f": 3, "g": 1}), (["--versions", 1], {"f": 1, "g": 1}), (["--raw"], None)):
        x, y = cells_of(flat(before), versions), cells_of(flat(after), versions)
        expected = expect(x, y)
        told = diff(a, b, "--show", 10**6, *args, status=0 if expected["equal"] else 3)
        assert told == {"a": str(a), "b": str(b)} | expected, args
        told = diff(a, b, "--show", 2, "--threads", 3, *args, status=0 if expected["equal"] else 3)
        assert told == {"a": str(a), "b": str(b)} | expect(x, y, 2), args
    low, high = sorted(rng.sample(range(2**32), 2))
    x, y = ({k: v for k, v in cells_of(flat(e), {"f": 3, "g": 1}).items() if low <= k[0] < high} for e in (before, after))
    expected = expect(x, y)
    bounds = [f"--start={loads.escaped(low.to_bytes(4, 'big'))}", f"--stop={loads.escaped(high.to_bytes(4, 'big'))}"]
    assert diff(a, b, "--show", 10**6, *bounds, status=0 if expected["equal"] else 3) == {"a": str(a), "b": str(b)} | expected


def test_one_changed_cell_of_many(tmp_path):
    """One value of 200,000 cells differs. The text names it and both values."""
    events = [(i * 40000, 1000, f"v{i}", f"w{i}") for i in range(100_000)]
    a = make(tmp_path / "a", events, split="sampled, count: 8")
    events[61_234] = (*events[61_234][:3], "changed")
    b = make(tmp_path / "b", events, split="sampled, count: 5")
    done = loads.run("diff", a, b)
    row = loads.escaped((61_234 * 40000).to_bytes(4, "big"))
    assert done.returncode == 3 and done.stderr == ""
    assert done.stdout.splitlines() == [
        f"A has      {row}  g:b  1000  Put  w61234", f"B has      {row}  g:b  1000  Put  changed",
        "A: 100,000 rows, 200,000 cells", "B: 100,000 rows, 200,000 cells",
        "different: 1 rows; 0 cells only in A, 0 only in B, 1 with another value, 0 with other tags"]
    done = loads.run("diff", a, a)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "equal"
    assert loads.run("diff", a, b, "--quiet").stdout == ""


def test_table_of_hbase_and_hfiles(tmp_path, load):  # noqa: F811
    """A load equals the table folder and the HFiles with the same cells, until a region has another file."""
    out, _, table, rows = load
    folder = Folder(tmp_path / "hbase")
    regions = fill(folder, load)
    told = diff(out, folder.dir, status=0)
    assert told["rows_a"] == told["rows_b"] == len(rows) and told["cells_a"] == 2 * len(rows)
    hfiles = tmp_path / "hfiles"
    for f in table["files"]:
        (hfiles / f["family"]).mkdir(parents=True, exist_ok=True)
        shutil.copy(out / f["path"], hfiles / f["family"] / f"{f['region']}{f['family']}")
    diff(hfiles, f"file://{folder.dir}", status=0)
    for f in (regions[2] / "g").iterdir():
        f.unlink()
    lost = sum(f["cells"] for f in table["files"] if f["region"] == 2 and f["family"] == "g")
    told = diff(folder.dir, out, status=3)
    assert (told["only_in_a"], told["only_in_b"], told["differing_rows"]) == (0, lost, lost) and lost > 100
    assert len(told["first"]) == 20


def test_relative_names_of_snapshots(tmp_path, load):  # noqa: F811
    """The path of a snapshot need not contain .hbase-snapshot. Two snapshots of a table share its files."""
    table = Folder(tmp_path / "hbase")
    table.regions, table.described = fill(table, load), load[2]
    place = snapshot(table)
    shutil.copytree(place, place.parent / "second")
    for folder, names in ((place.parent, ("snap", "second")), (table.root, (".hbase-snapshot/snap", ".hbase-snapshot/second"))):
        done = loads.run("diff", *names, cwd=folder)
        assert done.returncode == 0 and done.stdout.endswith("equal\n"), done.stderr
    done = loads.run("merge", "snap", "second", "-o", tmp_path / "merged", "--raw", "--json", cwd=place.parent)
    assert json.loads(done.stdout)["read"] == 2 * len(load[3]), done.stderr


def old_cells(name):
    """Returns {(row, qualifier, -ms, -type): (type, value, tags)} of a file of HBase 1. The first of equal cells counts."""
    codes = {"Put": 4, "Delete": 8, "DeleteFamilyVersion": 10, "DeleteColumn": 12, "DeleteFamily": 14}
    cells = {}
    for row, qualifier, ms, kind, value, _, tags in test_older_hfiles.cells_of(name):
        cells.setdefault((row, qualifier, -ms, -codes[kind]), (kind, value, tags))
    return cells


def hfile(folder, name, data):
    (folder / name / "cf").mkdir(parents=True)
    (folder / name / "cf" / "a").write_bytes(data)
    return folder / name


def test_delete_markers_of_hbase(tmp_path):
    """All cells of HBase 1's files, with delete markers, in pairs of files."""
    names = [n for n in test_older_hfiles.NAMES if old_cells(n)]
    rng, different = random.Random(5), 0
    for number in range(8):
        x, y = rng.sample(names, 2)
        a, b = old_cells(x), old_cells(y)
        told = diff(*(hfile(tmp_path, f"{number}{n}", test_older_hfiles.FILES[n]) for n in (x, y)), "--raw", "--now", 0,
                    "--show", 10**6, status=3)
        assert told["only_in_a"] == len(a.keys() - b.keys()) and told["only_in_b"] == len(b.keys() - a.keys()), (x, y)
        assert told["other_value"] == sum(a[k][1] != b[k][1] for k in a.keys() & b.keys())
        keys = sorted(a.keys() | b.keys())
        keys = [k for k in keys if a.get(k, (0, 0, 0))[1:] != b.get(k, (0, 0, 0))[1:]]
        assert [(c["row"], c["qualifier"], -c["timestamp"], c["type"]) for c in told["first"]] == [
            (loads.escaped(k[0]), loads.escaped(k[1]), k[2], a.get(k, b.get(k))[0]) for k in keys]
        different += len(keys)
    assert different > 100


def with_other_tag(data, cell):
    """Changes the last byte of the cell's tags in an uncompressed file, and mends the checksum of its block."""
    data, at = bytearray(data), 0
    place = data.index(cell[6]) + len(cell[6]) - 1
    number = lambda at: int.from_bytes(data[at:at + 4], "big")  # noqa: E731
    while at + 33 + number(at + 8) <= place:
        at += 33 + number(at + 8)
    data[place] ^= 1
    chunk, end = number(at + 25), at + number(at + 29)
    for i, start in enumerate(range(at, end, chunk)):
        check = {1: zlib.crc32, 2: hfile_py.crc32c}[data[at + 24]](bytes(data[start:min(start + chunk, end)]))
        data[end + 4 * i:end + 4 * i + 4] = check.to_bytes(4, "big")
    return bytes(data)


def test_tags(tmp_path):
    """Tags are compared, although a client's scan does not return them."""
    name, cell = next((n, c) for n in test_older_hfiles.NAMES if n.split("-")[3] == "NONE" and "tags" in n
                      for c in test_older_hfiles.cells_of(n)
                      if len(c[6]) > 3 and test_older_hfiles.FILES[n].count(c[6]) == 1)
    data = test_older_hfiles.FILES[name]
    a = hfile(tmp_path, "a", data)
    b = hfile(tmp_path, "b", with_other_tag(data, cell))
    told = diff(a, b, "--raw", "--now", 0, status=3)
    assert (told["only_in_a"], told["only_in_b"], told["other_value"], told["other_tags"]) == (0, 0, 0, 1)
    first = told["first"][0]
    assert (first["difference"], first["row"], first["tags_a"]) == ("tags", loads.escaped(cell[0]), loads.escaped(cell[6]))
    assert first["tags_b"] == loads.escaped(cell[6][:-1] + bytes([cell[6][-1] ^ 1])) and first["value_a"] == first["value_b"]
    text = loads.run("diff", a, b, "--raw", "--now", "0").stdout
    assert "tags in A" in text and "tags in B" in text and "1 with other tags" in text


def test_usage(tmp_path, load):  # noqa: F811
    """Wrong command lines exit with 2, and damaged tables with 1. Neither prints a result."""
    out = load[0]
    for args in ([out], [out, out, out], [out, out, "--hbase", "h", "--table", "t"], [out, "--hbase", "h"],
                 [out, "hbase://host"], [out, out, "--table", "other"], [out, out, "--start", "b", "--stop", "a"], [out, out, "--start", "a", "--stop", "a"]):
        done = loads.run("diff", *args)
        assert done.returncode == 2 and done.stdout == "" and "found" in done.stderr, (args, done.stderr)
    damaged = tmp_path / "out"
    shutil.copytree(out, damaged)
    file = next((damaged / "events" / "hfiles" / "g").iterdir())
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(data)
    done = loads.run("diff", out, damaged)
    assert done.returncode == 1 and done.stdout == "" and "checksum" in done.stderr
    done = loads.run("diff", out, tmp_path / "nowhere")
    assert done.returncode in (1, 2) and done.stdout == "" and "nowhere" in done.stderr
