"""Tests `year: file` with several inputs in one load. Each event's year comes from its own file's name, for any
source."""

import datetime as dt
import io
import json

import pyarrow as pa
import pytest

import hfile_py
import schema_events as se
from load_help import Bench

JOB = """\
source: {KIND: {files: ['logs/*']}}
fields:
  t: {type: time, format: '%b %e %T', year: file}
tables:
  - name: t
    rowkey: [{field: id}]
    timestamp: 1
    families: {c: {}}
    cells: [{family: c, qualifier: t, value: {field: t, as: millis}}]
    regions: {split: none}
"""
FILES = {"a-20260104": 2025, "b-20230101": 2022, "c-2020-12-30": 2020}
TEXT = "Dec 31 23:59:59"


def avro(rows):
    import fastavro
    to = io.BytesIO()
    fastavro.writer(to, fastavro.parse_schema({"type": "record", "name": "r", "fields": [
        {"name": "id", "type": "string"}, {"name": "t", "type": "string"}]}), rows)
    return to.getvalue()


WRITERS = {"csv": lambda rows: ("id,t\n" + "".join(f"{r['id']},{r['t']}\n" for r in rows)).encode(),
           "json": lambda rows: "".join(json.dumps(r) + "\n" for r in rows).encode(), "avro": avro,
           "arrow": lambda rows: se.as_arrow(pa.Table.from_pylist(rows), True)}


@pytest.mark.parametrize("kind", WRITERS)
def test_several_files(tmp_path, saltmill, kind):
    b = Bench(tmp_path, saltmill, JOB.replace("KIND", kind))
    (tmp_path / "logs").mkdir()
    for name in FILES:
        (tmp_path / "logs" / name).write_bytes(WRITERS[kind]([{"id": f"{name}/{i:03}", "t": TEXT} for i in range(100)]))
    r = b.run("--threads", "2")
    assert r.returncode == 0, r.stderr.decode()
    found = {c.row.decode(): int.from_bytes(c.value, "big") for p in b.out.glob("t/hfiles/*/*") for c in hfile_py.read(p)}
    at = {n: int(dt.datetime(y, 12, 31, 23, 59, 59, tzinfo=dt.timezone.utc).timestamp() * 1000) for n, y in FILES.items()}
    assert found == {f"{n}/{i:03}": at[n] for n in FILES for i in range(100)}
