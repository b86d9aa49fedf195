"""Tests that `load --previous DIR` names the columns that differ from an earlier load's columns, and that the load
succeeds.
"""

import io
import json
from decimal import Decimal

import fastavro
import pyarrow as pa
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
    assert len(found) == 1 and "lists no columns" in found[0]
    b.refused(b.run("--previous", tmp_path / "none"), 1, "--previous", "none/manifest.json")
    (tmp_path / "one" / "manifest.json").write_text("{}")
    b.refused(b.run("--previous", tmp_path / "one"), 1, "--previous", "manifest.json")


def avro(fields):
    """Writes a file with one record, which is {name: (type, value)}."""
    to = io.BytesIO()
    schema = {"type": "record", "name": "r", "fields": [{"name": n, "type": t} for n, (t, _) in fields.items()]}
    fastavro.writer(to, fastavro.parse_schema(schema), [{n: v for n, (_, v) in fields.items()}])
    return to.getvalue()


def arrow(fields):
    table = pa.table({n: pa.array([v], t) for n, (t, v) in fields.items()})
    to = io.BytesIO()
    with pa.ipc.new_stream(to, table.schema) as w:
        w.write_table(table)
    return to.getvalue()


CENTS = {"type": "bytes", "logicalType": "decimal", "precision": 9}
IN = {"type": "record", "name": "s", "fields": [{"name": "x", "type": "long"}]}


@pytest.mark.parametrize("kind,make,before,now,wanted", [
    ("avro", avro, {"id": ("int", 1), "v": ("string", "a"), "w": ("int", 1)},
     {"w": ("int", 1), "v": ("string", "a"), "id": ("int", 1)}, []),
    ("avro", avro, {"id": ("int", 1), "v": ("string", "a"), "w": ("int", 1), "old": ("int", 1)},
     {"id": ("int", 1), "v": ("double", 1.5), "w": (["null", "string"], "x"), "new": ("int", 1)},
     ["added: `new`", "missing: `old`", "with another type: `v` from text to `f64`, `w` from i64 to `text`"]),
    ("avro", avro, {"id": ("int", 1), "v": ({**CENTS, "scale": 2}, Decimal("1.25")), "s": (IN, {"x": 1})},
     {"id": ("int", 1), "v": ({**CENTS, "scale": 4}, Decimal("1.2345")),
      "s": ({**IN, "fields": [{"name": "x", "type": "string"}]}, {"x": "1"})},
     ["with another type: `v` from decimal(2) to `decimal(4)`, `s.x` from i64 to `text`"]),
    ("arrow", arrow, {"id": (pa.int32(), 1), "v": (pa.string(), "a")}, {"v": (pa.string(), "a"), "id": (pa.int32(), 1)}, []),
    ("arrow", arrow, {"id": (pa.int64(), 1), "v": (pa.timestamp("us", "UTC"), 1), "w": (pa.float64(), 1)},
     {"id": (pa.uint32(), 1), "v": (pa.timestamp("us"), 1), "w": (pa.string(), "1")},
     ["with another type: `id` from i64 to `u32`, `v` from time to `local time`, `w` from f64 to `text`"]),
])
def test_types_of_a_schema(tmp_path, saltmill, kind, make, before, now, wanted):
    """The test compares columns of Avro and Arrow by name, in any order."""
    b = Bench(tmp_path, saltmill, JOB.replace("KIND", kind))
    found, columns = load(b, make(before), "one")
    assert not found and [c["name"].split(".")[0] for c in columns] == list(before)
    found, columns = load(b, make(now), "two", "--previous", tmp_path / "one")
    words = [line.replace(f" since {tmp_path / 'one'}", "").removeprefix("warning: columns ") for line in found]
    assert words == wanted, found
    assert all(c["type"] for c in columns)
