"""`load --previous DIR` names the columns that differ from an earlier load's, and loads all the same."""

import json

import pytest

from load_help import Bench

JOB = """\
source: {KIND: {files: [in]}}
fields: {id: {type: u32}}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: 1
    families: {c: {}}
    cells: [{family: c, qualifier: v, value: v}]
    regions: {split: none}
"""


def load(b, data, name, *args):
    b.input(data, "in")
    r = b.run(*args, out=b.folder / name)
    assert r.returncode == 0, r.stderr.decode()
    lines = [line.split(": ", 1)[1] for line in r.stderr.decode().splitlines() if "columns" in line]
    return lines, json.loads((b.folder / name / "manifest.json").read_text()).get("columns")


@pytest.mark.parametrize("header,wanted", [
    ("id,v,a,b,c", []),
    ("id,v,a,b,c,d", ["added: `d`"]),
    ("x,id,v,a,b,y,c", ["added: `x`, `y`"]),
    ("id,v,a,c", ["missing: `b`"]),
    ("v,a,b,c,id", ["moved: `id`"]),
    ("id,a,v,c,b", ["moved: `v`, `b`"]),
    ("b,id,v,new,a", ["added: `new`", "missing: `c`", "moved: `b`"]),
])
def test_names_and_order(tmp_path, saltmill, header, wanted):
    b = Bench(tmp_path, saltmill, JOB.replace("KIND", "csv"))
    row = ",".join(str(i) for i in range(header.count(",") + 1))
    assert load(b, b"id,v,a,b,c\n1,2,3,4,5\n", "one") == ([], [{"name": n} for n in ["id", "v", "a", "b", "c"]])
    found, columns = load(b, f"{header}\n{row}\n".encode(), "two", "--previous", tmp_path / "one")
    words = [line.replace(f" since {tmp_path / 'one'}", "").removeprefix("warning: columns ") for line in found]
    assert words == wanted, found
    assert [c["name"] for c in columns] == header.split(",")


def test_what_cannot_be_compared(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill, JOB.replace("KIND", "json"))
    assert load(b, b'{"id": 1, "v": "x"}\n', "one") == ([], None)
    found, _ = load(b, b'{"id": 1, "v": "x"}\n', "two", "--previous", tmp_path / "one")
    assert len(found) == 1 and "names none" in found[0]
    b.refused(b.run("--previous", tmp_path / "none"), 1, "--previous", "none/manifest.json")
    (tmp_path / "one" / "manifest.json").write_text("{}")
    b.refused(b.run("--previous", tmp_path / "one"), 1, "--previous", "manifest.json")
