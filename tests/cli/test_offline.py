"""Tests of --table-dir, --snapshot and folders of HFiles. Python alone writes HBase's folders: descriptors, regions,
references, links and manifests, in protobuf by hand. The store files are those of a load, so the test knows the cells.
hbase/test_offline.py reads the folders of a real HBase.
"""

import hashlib
import json
import shutil

import pytest

import loads


def varint(n):
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def pair(key, value):
    return field(1, key) + field(2, value)


def schema(space, name, families):
    message = field(1, field(1, space) + field(2, name))
    for family, attributes in families.items():
        message += field(3, field(1, family) + b"".join(field(2, pair(k, v)) for k, v in attributes.items()))
    return message


def region_info(space, name, start, end, number, split=False, replica=0):
    return (field(1, number) + field(2, field(1, space) + field(2, name)) + field(3, start) + field(4, end) +
            field(5, int(split)) + field(6, int(split)) + field(7, replica))


def encoded(space, name, start, number):
    full = name if space == "default" else f"{space}:{name}"
    return hashlib.md5(full.encode() + b"," + start + b"," + str(number).encode()).hexdigest()


def half(row, top):
    key = len(row).to_bytes(2, "big") + row + b"\0" + b"\x7f" + b"\xff" * 7 + b"\0"
    return field(1, key) + field(2, 0 if top else 1)


class Folder:
    """The root folder of an HBase with one table, whose store files are those of a load."""

    def __init__(self, root, space="default", name="events", families=None):
        self.root, self.space, self.name = root, space, name
        self.families = families or {"f": {"VERSIONS": "1"}, "g": {"VERSIONS": "1"}}
        self.dir = root / "data" / space / name
        (self.dir / ".tabledesc").mkdir(parents=True)
        self.describe(1, self.families)

    def describe(self, number, families):
        file = self.dir / ".tabledesc" / f".tableinfo.{number:010}.99"
        file.write_bytes(b"PBUF" + schema(self.space, self.name, families))

    def region(self, start, end, number=7, **more):
        info = region_info(self.space, self.name, start, end, number, **more)
        folder = self.dir / encoded(self.space, self.name, start, number)
        for family in self.families:
            (folder / family).mkdir(parents=True)
        (folder / ".regioninfo").write_bytes(b"PBUF" + varint(len(info)) + info)
        (folder / "recovered.edits").mkdir()
        (folder / "recovered.edits" / "2.seqid").write_bytes(b"")
        return folder


def run(*args):
    return loads.run(*args)


def rows_of(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def scan(*args):
    return rows_of(run("scan", *args, "--format", "jsonl"))


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Returns the folder of a load with four regions, its job and its rows."""
    out = loads.make_load(tmp_path_factory.mktemp("load"))
    rows = {}
    for (row, column, ts), value in loads.expected_cells().items():
        family, qualifier = column.split(":")
        rows.setdefault(row, []).append({"family": family, "qualifier": qualifier, "timestamp": ts, "type": "Put",
                                         "value": value})
    rows = [{"row": row, "cells": sorted(cells, key=lambda c: c["family"])} for row, cells in rows.items()]
    manifest = json.loads((out / "manifest.json").read_text())
    return out, out.parent / "events.yaml", manifest["tables"][0], sorted(rows, key=lambda r: unescape(r["row"]))


def unescape(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def name_of(path):
    return hashlib.md5(path.encode()).hexdigest()


def fill(folder, load, number=7):
    """Puts each region of the load and its files into the folder. Returns the regions' folders."""
    out, _, table, _ = load
    regions = []
    for i, r in enumerate(table["regions"]):
        start, end = (unescape(r[k]) for k in ("start", "end"))
        place = folder.region(start, end, number)
        for f in table["files"]:
            if f["region"] == i:
                shutil.copy(out / f["path"], place / f["family"] / name_of(f["path"]))
        regions.append(place)
    return regions


@pytest.fixture
def table(tmp_path, load):
    folder = Folder(tmp_path / "hbase")
    folder.regions = fill(folder, load)
    return folder


def store_file(region, family="f"):
    return next(p for p in (region / family).iterdir())


def test_same_rows_as_the_load(table, load):
    _, job, _, rows = load
    assert len(rows) > 2000 and scan("--table-dir", table.dir) == rows
    assert scan(job, "--table-dir", f"file://{table.dir}/") == rows
    assert scan("--table-dir", table.dir, "--reverse") == rows[::-1]
    some = rows[1000]
    got = rows_of(run("get", "--table-dir", table.dir, "--row", some["row"], "--format", "jsonl"))
    assert got == [some]


def test_questions_with_and_without_a_job(table, load):
    _, job, _, rows = load
    decoded = scan(job, "--table-dir", table.dir, "--decode", "--limit", 7)
    assert [d["key"]["id"] for d in decoded] == sorted({i for i, _, _ in loads.events()})[:7]
    stored = next(c["value"] for c in rows[5]["cells"] if c["family"] == "f")
    expected = [r for r in rows if any(c["family"] == "f" and c["value"] == stored for c in r["cells"])]
    name = unescape(stored).decode()
    assert scan("--table-dir", table.dir, "--where", f"f:name = '{name}'") == expected
    assert scan(job, "--table-dir", table.dir, "--where", f"name = '{name}'") == expected
    only = scan("--table-dir", table.dir, "--columns", "g")
    assert [[c for c in r["cells"] if c["family"] == "g"] for r in rows] == [r["cells"] for r in only]
    done = run("scan", "--table-dir", table.dir, "--decode")
    assert done.returncode == 2 and "without a job" in done.stderr


def test_verify(table):
    done = run("verify", "--table-dir", table.dir, "--json")
    printed = json.loads(done.stdout)
    assert done.returncode == 0 and printed["ok"] and printed["files"] == 8, done.stdout
    file = store_file(table.regions[2])
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(data)
    done = run("verify", "--table-dir", table.dir)
    assert done.returncode == 1 and str(file) in done.stdout and "1 problem" in done.stdout


def split(table, load, number=9):
    """Replaces the second region by two regions with references to its files. Returns them and the split key."""
    _, _, described, rows = load
    start, end = (unescape(described["regions"][1][k]) for k in ("start", "end"))
    inside = [unescape(r["row"]) for r in rows if start <= unescape(r["row"]) < end]
    middle = inside[len(inside) // 3]
    halves = [table.region(start, middle, number), table.region(middle, end, number)]
    for family in table.families:
        for file in (table.regions[1] / family).iterdir():
            for top, place in enumerate(halves):
                name = f"{file.name}.{table.regions[1].name}"
                (place / family / name).write_bytes(b"PBUF" + half(middle, bool(top)))
    return halves, middle


def test_halves_of_a_split_region(table, load):
    (bottom, top), middle = split(table, load)
    rows = load[3]
    assert scan("--table-dir", table.dir) == rows
    assert scan("--table-dir", table.dir, "--reverse") == rows[::-1]
    at = next(i for i, r in enumerate(rows) if unescape(r["row"]) == middle)
    for start in (rows[at - 1], rows[at], rows[at + 1]):
        i = rows.index(start)
        assert scan("--table-dir", table.dir, "--start", start["row"], "--limit", 3) == rows[i:i + 3]
        assert scan("--table-dir", table.dir, "--start", start["row"], "--limit", 3, "--reverse") == rows[i - 2:i + 1][::-1]
        assert scan("--table-dir", table.dir, "--stop", start["row"]) == rows[:i]
        assert rows_of(run("get", "--table-dir", table.dir, "--row", start["row"], "--format", "jsonl")) == [start]
    # the parent's files can be in the archive
    archive = table.root / "archive" / "data" / "default" / "events"
    archive.mkdir(parents=True)
    shutil.move(table.regions[1], archive)
    assert scan("--table-dir", table.dir) == rows
    shutil.rmtree(archive)
    done = run("scan", "--table-dir", table.dir)
    assert done.returncode == 1 and "found it neither" in done.stderr and table.regions[1].name in done.stderr
    shutil.rmtree(bottom)
    done = run("scan", "--table-dir", table.dir)
    assert done.returncode == 1 and "found no region for the row keys" in done.stderr


def link_all(table, tmp_path, space, name):
    """Makes a clone of the table, whose files are links."""
    clone = Folder(table.root, space, name)
    source = table.name if table.space == "default" else f"{table.space}={table.name}"
    for i, region in enumerate(table.regions):
        info = next(r for r in [table.described["regions"][i]])
        place = clone.region(unescape(info["start"]), unescape(info["end"]), 11)
        for family in table.families:
            for file in (region / family).iterdir():
                (place / family / f"{source}={region.name}-{file.name}").write_bytes(b"")
    return clone


@pytest.mark.parametrize("space", ["default", "ns"])
def test_links(tmp_path, load, space):
    table = Folder(tmp_path / "hbase", space)
    table.regions, table.described = fill(table, load), load[2]
    clone = link_all(table, tmp_path, "other", "clone")
    assert scan("--table-dir", clone.dir) == load[3]
    (table.root / "archive" / "data" / space).mkdir(parents=True)
    shutil.move(table.dir, table.root / "archive" / "data" / space)
    assert scan("--table-dir", clone.dir) == load[3]
    moved = tmp_path / "copy"
    shutil.copytree(clone.dir, moved)
    done = run("scan", "--table-dir", moved)
    assert done.returncode == 1 and "ROOT/data/NAMESPACE/TABLE" in done.stderr


def snapshot(table, whole=True):
    """Makes a snapshot of the table's folder."""
    place = table.root / ".hbase-snapshot" / "snap"
    place.mkdir(parents=True)
    (place / ".snapshotinfo").write_bytes(field(1, "snap") + field(2, table.name) + field(5, 2))
    parts = []
    for i, region in enumerate(table.regions):
        r = table.described["regions"][i]
        info = region_info(table.space, table.name, unescape(r["start"]), unescape(r["end"]), 7)
        part = field(1, 2) + field(2, info)
        for family in table.families:
            files = b"".join(field(2, field(1, f.name) + field(3, f.stat().st_size)) for f in (region / family).iterdir())
            part += field(3, field(1, family) + files)
        parts.append(part)
    if whole:
        (place / "data.manifest").write_bytes(field(1, schema(table.space, table.name, table.families)) +
                                              b"".join(field(2, p) for p in parts))
    else:
        shutil.copytree(table.dir / ".tabledesc", place / ".tabledesc")
        for i, part in enumerate(parts):
            (place / f"region-manifest.{i}").write_bytes(part)
    return place


@pytest.mark.parametrize("whole", [True, False])
def test_snapshot(table, load, whole):
    table.described = load[2]
    place = snapshot(table, whole)
    _, job, _, rows = load
    assert scan("--snapshot", place) == rows and scan(job, "--snapshot", place) == rows
    (table.root / "archive" / "data" / "default").mkdir(parents=True)
    shutil.move(table.dir, table.root / "archive" / "data" / "default")
    assert scan("--snapshot", place) == rows
    assert run("verify", "--snapshot", place).returncode == 0
    manifest = place / ("data.manifest" if whole else "region-manifest.2")
    data = manifest.read_bytes()
    for cut in (1, len(data) // 2, len(data) - 1):
        manifest.write_bytes(data[:cut])
        done = run("scan", "--snapshot", place)
        assert done.returncode == 1 and done.stdout == "" and str(manifest.parent) in done.stderr
    manifest.write_bytes(data)
    store_file(table.root / "archive" / "data" / "default" / "events" / table.regions[3].name).unlink()
    done = run("scan", "--snapshot", place)
    assert done.returncode == 1 and done.stdout == "" and "found it neither" in done.stderr


def test_rules_of_the_descriptor(table, load):
    """The newest descriptor decides, and scan refuses rules that the files cannot answer."""
    table.describe(2, {"f": {"TTL": "1"}, "g": {}})
    assert all(c["family"] == "g" for r in scan("--table-dir", table.dir) for c in r["cells"])
    table.describe(3, {"f": {"NEW_VERSION_BEHAVIOR": "true"}, "g": {}})
    done = run("scan", "--table-dir", table.dir)
    assert done.returncode == 2 and "NEW_VERSION_BEHAVIOR" in done.stderr and "family f" in done.stderr
    table.describe(4, {"f": {"VERSIONS": "many"}, "g": {}})
    assert "VERSIONS: found many" in run("scan", "--table-dir", table.dir).stderr


def test_families_of_the_job(tmp_path, load):
    """The job's families must be in the table, and scan ignores a family that the job lacks, with a warning."""
    folder = Folder(tmp_path / "hbase", families={"f": {}, "g": {}, "more": {}})
    fill(folder, load)
    done = run("scan", load[1], "--table-dir", folder.dir, "--format", "jsonl")
    assert rows_of(done) == load[3] and "ignored family more" in done.stderr
    folder = Folder(tmp_path / "less", families={"f": {}})
    folder.region(b"", b"")
    done = run("scan", load[1], "--table-dir", folder.dir)
    assert done.returncode == 2 and "1 of the job's 2 families" in done.stderr


def damage(table, what):
    region, file = table.regions[2], store_file(table.regions[2])
    if what == "torn":
        file.write_bytes(file.read_bytes()[:-700])
    elif what == "empty":
        file.write_bytes(b"")
    elif what == "strange":
        (region / "f" / "notes.txt").write_bytes(b"x")
    elif what == "edits":
        (region / "recovered.edits" / "0000000000000000003").write_bytes(b"x")
    elif what == "family":
        shutil.rmtree(region / "g")
    elif what == "info":
        (region / ".regioninfo").unlink()
    elif what == "torn info":
        (region / ".regioninfo").write_bytes((region / ".regioninfo").read_bytes()[:-3])
    elif what == "region":
        shutil.rmtree(region)
    elif what == "tracker":
        (region / "f" / ".filelist").mkdir()
    elif what == "descriptor":
        shutil.rmtree(table.dir / ".tabledesc")
    elif what == "elsewhere":
        shutil.move(file, table.regions[0] / "f" / "abcdef")
    elif what == "extra":
        (table.dir / "lost").mkdir()


@pytest.mark.parametrize("what, words", [
    ("torn", "trailer"), ("empty", "empty file"), ("strange", "notes.txt"), ("edits", "edits"), ("family", "1 folders"),
    ("info", ".regioninfo"), ("torn info", ".regioninfo"), ("region", "found no region"), ("tracker", "tracker"),
    ("descriptor", "found no table of HBase"), ("elsewhere", "outside the file's region"), ("extra", "lost")])
def test_damaged_folder(table, what, words):
    """No damage leads to fewer rows without an error."""
    damage(table, what)
    done = run("scan", "--table-dir", table.dir, "--quiet")
    assert done.returncode in (1, 2) and words in done.stderr, done.stderr
    assert done.stdout == ""


def test_folder_of_hfiles(tmp_path, load):
    """Without a region server, scan reads HFiles of any program as a bulk load of the folder would give them."""
    out, job, described, rows = load
    place = tmp_path / "hfiles"
    for f in described["files"]:
        (place / f["family"]).mkdir(parents=True, exist_ok=True)
        shutil.copy(out / f["path"], place / f["family"] / name_of(f["path"]))
    assert scan(place) == rows and scan(job, place) == rows
    flat = tmp_path / "flat"
    flat.mkdir()
    for f in described["files"]:
        shutil.copy(out / f["path"], flat / name_of(f["path"]))
    assert scan(flat) == rows
    assert run("scan", flat, "--decode").returncode == 2
    (flat / "readme.txt").write_text("no HFile")
    done = run("scan", flat)
    assert done.returncode == 1 and "readme.txt" in done.stderr
    (tmp_path / "none").mkdir()
    done = run("scan", job, tmp_path / "none")
    assert done.returncode == 1 and "found no manifest.json and no HFiles" in done.stderr


def test_usage(table, load):
    _, job, _, _ = load
    for args in (["--table-dir", table.dir, "--snapshot", table.dir], [job, job, "--table-dir", table.dir],
                 ["--table-dir", table.dir, "--hbase", "localhost"]):
        assert run("scan", *args).returncode == 2
    assert run("verify", load[0], "--table-dir", table.dir).returncode == 2
    assert run("verify").returncode == 2
