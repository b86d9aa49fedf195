"""Tests published loads, maps and plans with changes and then correct digests.

A digest finds any change by accident. Only a changed file with a mended digest reaches the code behind the digests.
Every command must refuse such a folder or read it, without a crash and without a file outside of its output. If
`verify` accepts a load, `scan` must print as many cells as the manifest counts. SALTMILL_MENDED=0:5000 runs more seeds;
SALTMILL=build/gcc-asan/saltmill uses the sanitizers.
"""

import copy
import json
import os
import pathlib
import random
import shutil
import subprocess

import pytest

import loads
from xxh3 import sealed, xxh3_128

SEEDS = range(*map(int, os.environ.get("SALTMILL_MENDED", "0:40").split(":")))
JOB = """\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: t
    rowkey: [{salt: 3, of: [id]}, {field: id, as: u32}]
    timestamp: at
    families: {f: {compression: ZSTD, versions: 3}, g: {compression: NONE, data_block_encoding: FAST_DIFF}}
    cells: [{family: f, qualifier: v, value: v}, {family: g, qualifier: {field: v}, value: {const: x}}]
    regions: {split: sampled, count: 2}
"""
PROGRAM = os.path.abspath(loads.PROGRAM)
ODD = [0, 1, -1, 255, 1 << 31, (1 << 63) - 1, 1 << 64, -(1 << 63), 0.5, "", "x", "../../stray", "/tmp/stray", "\\x00", "é" * 300, None, True, [], {},
       "0" * 32, "t/hfiles/f/../../../stray"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Makes a load, and the folders of the same load in parts."""
    folder = tmp_path_factory.mktemp("sound")
    rng = random.Random(3)
    rows = "".join(f"{rng.randrange(400)},{1_600_000_000 + i},{'v' * (i % 40)}{i}\n" for i in range(600))
    (folder / "in.csv").write_text("id,at,v\n" + rows + "x,1,bad\n")
    (folder / "job.yaml").write_text(JOB)
    (folder / "maps").mkdir()
    run(folder, "load", "job.yaml", "-o", "load", "--max-rejects", "5", status=3)
    run(folder, "plan", "job.yaml", "-o", "plan", status=None)
    run(folder, "map", "job.yaml", "--plan", "plan", "-o", "maps/0")
    return folder


def run(folder, *args, status=0):
    done = subprocess.run([PROGRAM, *args], cwd=folder, capture_output=True, timeout=60, check=False)
    assert 0 <= done.returncode <= 4, (args, done.returncode, done.stderr[-2000:])
    assert b"Sanitizer" not in done.stderr, (args, done.stderr[-4000:])
    if status is not None:
        assert done.returncode == status, (args, done.stderr)
    return done


def leaves(value, path=()):
    """Yields the path of each value of a JSON document, also of lists and objects."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))


def change_json(rng, document):
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        path = rng.choice([p for p in leaves(document) if p and p[0] != "digests"] or [("new",)])
        above = document
        for key in path[:-1]:
            above = above[key]
        old = above.get(path[-1]) if isinstance(above, dict) else above[path[-1]]
        how = rng.randrange(5)
        if how == 0:
            del above[path[-1]]
        elif how == 1 and isinstance(above, list):
            above.append(copy.deepcopy(old))
        elif how == 2 and isinstance(old, int):
            above[path[-1]] = old + rng.choice([-1, 1, 1 << 32])
        elif how == 3 and isinstance(old, str) and old:
            at = rng.randrange(len(old))
            above[path[-1]] = old[:at] + rng.choice("0aZ/.\\\n") + old[at + 1:]
        else:
            above[path[-1]] = rng.choice(ODD)
    return document


def change_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(data)) if data else 0
        how = rng.randrange(4)
        if how == 0:
            data[at:at + 1] = bytes([rng.randrange(256)])
        elif how == 1:
            data[at:at + rng.randrange(1, 40)] = b""
        elif how == 2:
            data[at:at] = data[at:at + rng.randrange(1, 40)]
        else:
            data[at:at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"])
    return bytes(data)


def change_load(rng, load):
    """Changes one file of a load, and the manifest so that all digests match."""
    manifest = json.loads((load / "manifest.json").read_text())
    kind = rng.choice(["manifest", "manifest", "hfile", "hfile", "other"])
    if kind == "manifest":
        manifest = change_json(rng, manifest)
    elif kind == "hfile":
        file = rng.choice(manifest["tables"][0]["files"])
        data = change_bytes(rng, (load / file["path"]).read_bytes())
        (load / file["path"]).unlink()
        file["digest"], file["bytes"] = xxh3_128(data), len(data)
        file["path"] = file["path"].rsplit("/", 1)[0] + "/" + file["digest"]
        (load / file["path"]).write_bytes(data)
    else:
        path = load / rng.choice(["rejects.jsonl", "t/splits.txt", "t/create.rb"])
        path.write_bytes(change_bytes(rng, path.read_bytes()))
        manifest["digests"]["rejects"] = xxh3_128((load / "rejects.jsonl").read_bytes())
    if isinstance(manifest.get("digests"), dict):
        (load / "manifest.json").write_text(sealed(manifest))
    return kind


def files_of(folder):
    return {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("seed", SEEDS)
def test_loads(sound, tmp_path, seed):
    rng = random.Random(seed)
    folder = tmp_path / "a" / "b"
    shutil.copytree(sound, folder)
    change_load(rng, folder / "load")
    before = files_of(tmp_path)
    verified = run(folder, "verify", "load", status=None).returncode == 0
    scanned = run(folder, "scan", "job.yaml", "load", "--raw", "--versions", "1000", "--format", "jsonl", status=None)
    table = json.loads((folder / "load" / "manifest.json").read_text())["tables"][0] if verified else {}
    if table:
        assert table["name"] == "t"  # create.rb has it, too
        assert scanned.returncode == 0, scanned.stderr
        assert sum(len(json.loads(line)["cells"]) for line in scanned.stdout.splitlines()) == table["cells"]
    run(folder, "get", "job.yaml", "load", "id=7", status=None)
    run(folder, "scan", "job.yaml", "load", "--where", "id > 300 and v starts with 'vv'", "--reverse", "--limit", "3", "--decode", status=None)
    run(folder, "report", "load", "-o", "page.html", status=None)
    run(folder, "replay", "load", "--rejects", "-o", "again", status=None)
    for path in sorted((folder / "load" / "t" / "hfiles").rglob("*"))[:4]:
        if path.is_file():
            run(folder, "inspect", path.relative_to(folder), "--cells", "--blocks", "--json", status=None)
    (folder / "page.html").unlink(missing_ok=True)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("seed", SEEDS)
def test_parts(sound, tmp_path, seed):
    """The report of a map and the plan have no digest. The map's sorted rows have one each."""
    rng = random.Random(seed)
    folder = tmp_path / "a" / "b"
    shutil.copytree(sound, folder)
    path = rng.choice([p for p in [*(folder / "plan").rglob("*"), *(folder / "maps").rglob("*")] if p.is_file()])
    if path.suffix == ".json":
        path.write_text(json.dumps(change_json(rng, json.loads(path.read_text())), indent=2))
    else:
        path.write_bytes(change_bytes(rng, path.read_bytes()))
    before = {p: t for p, t in files_of(tmp_path).items() if pathlib.Path("out") not in p.parents}
    run(folder, "map", "job.yaml", "--plan", "plan", "-o", "map1", status=None)
    (folder / "reduces").mkdir()
    reduced = run(folder, "reduce", "job.yaml", "maps/0", "--plan", "plan", "-o", "reduces/0", status=None)
    united = run(folder, "unite", "job.yaml", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", "out", "--max-rejects", "5",
                 status=None)
    if reduced.returncode == 0 and united.returncode in (0, 3):
        run(folder, "verify", "out", status=None)
    for name in ("map1", "reduces", "out"):
        shutil.rmtree(folder / name, ignore_errors=True)
    assert files_of(tmp_path) == before
