"""Tests `init` of files with a schema. The job has the schema's types and loads every event without edits."""

import datetime as dt
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet
import pytest

import hfile_py
import schema_events as se
from load_help import Bench
from test_init import init

N = 400
TYPES = {"id": "text", "at": "time", "us": "time", "local": "time", "day": "time", "n": "i64", "f": "f64", "g": "f64",
         "s": "text", "b": "bool", "d": "decimal", "u": "uuid", "kind": "text"}
FORMS = {"avro": (lambda: se.as_avro(N), {"in.x": "i64", "unused": "text"}), "arrow": (lambda: se.as_arrow(se.table(N), False), {"in.x": "u32"}),
         "arrows": (lambda: se.as_arrow(se.table(N), True, "zstd"), {"in.x": "u32"})}


def fields(text):
    lines = re.findall(r"^  '?([\w.]+)'?: \{type: (\w+)(?:, scale: (\d+))?\}", text, re.M)
    return {name: kind for name, kind, _ in lines}, {name: int(scale) for name, _, scale in lines if scale}


def made(folder, saltmill, data, name):
    """Writes the job of a file and loads the file with it."""
    b = Bench(folder, saltmill, "")
    b.input(data, name)
    r = init(saltmill, folder, name)
    assert r.returncode == 0, r.stderr
    (folder / "job.yaml").write_text(r.stdout)
    return b, r.stdout


def loads(b, rows):
    r = b.run()
    assert r.returncode == 0, r.stderr.decode()
    assert sum(t["rows"] for t in b.manifest()["tables"]) == rows and b.rejects() == []


@pytest.mark.parametrize("form", FORMS)
def test_its_job_has_the_schemas_types_and_loads(tmp_path, saltmill, form):
    write, more = FORMS[form]
    b, text = made(tmp_path, saltmill, write(), "e." + form)
    assert fields(text) == ({**TYPES, **more}, {"d": 2})  # init does not follow a record that contains itself
    assert "values cannot be fields: lists and maps of Arrow" in text
    loads(b, N)


def test_lists_and_maps_of_avro_are_json(tmp_path, saltmill):
    import fastavro
    schema = {"type": "record", "name": "r", "fields": [
        {"name": "id", "type": "string"}, {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "props", "type": ["null", {"type": "map", "values": "long"}]}]}
    rows = [{"id": f"k{i:02}", "tags": ["x", 'y"'][:i % 3], "props": {"n": i} if i % 4 else None} for i in range(20)]
    to = io.BytesIO()
    fastavro.writer(to, fastavro.parse_schema(schema), rows)
    b, text = made(tmp_path, saltmill, to.getvalue(), "e.avro")
    (tmp_path / "job.yaml").write_text(text.replace("{codec: auto, framing: hadoop}", "NONE"))
    assert "cannot be fields" not in text
    loads(b, 20)
    cells = {(c.row[-3:], c.qualifier): c.value for p in b.out.glob("e/hfiles/*/*") for c in hfile_py.read(p)}
    for r in rows:
        key = r["id"].encode()
        assert json.loads(cells[key, b"tags"]) == r["tags"]
        assert (json.loads(cells[key, b"props"]) if r["props"] else (key, b"props") in cells) == (r["props"] or False)


def test_the_key_has_the_time_of_the_schema(tmp_path, saltmill):
    """Entity and time are unique for all rows only together with the other fields."""
    start = dt.datetime(2026, 3, 1, tzinfo=dt.timezone.utc)
    table = pa.table({"sensor_id": pa.array([i % 7 for i in range(N)], pa.int32()),
                      "at": pa.array([start + dt.timedelta(seconds=i) for i in range(N)], pa.timestamp("us", "UTC")),
                      "raw": pa.array([bytes([i % 256]) * 3 for i in range(N)]), "v": pa.array([i % 5 / 4 for i in range(N)])})
    b, text = made(tmp_path, saltmill, se.as_arrow(table, True), "e.arrows")
    assert "{field: sensor_id, as: i64}" in text and "{field: at, as: reversed_millis}" in text
    assert "timestamp: at " in text and "raw: {type: bytes}" in text
    loads(b, N)


def test_times_that_the_schema_does_not_know_of(tmp_path, saltmill):
    """init recognizes a long of milliseconds and a string with a time by their values, as in CSV. A string of digits
    stays text."""
    import fastavro
    schema = {"type": "record", "name": "r", "fields": [{"name": "created", "type": "long"}, {"name": "said", "type": "string"},
                                                        {"name": "zip", "type": "string"}]}
    rows = [{"created": 1_700_000_000_000 + i * 1000, "said": f"2026-01-{1 + i % 28:02} 10:00:00", "zip": f"{i:05}"}
            for i in range(N)]
    to = io.BytesIO()
    fastavro.writer(to, fastavro.parse_schema(schema), rows)
    b, text = made(tmp_path, saltmill, to.getvalue(), "e.avro")
    assert "created: {type: time, unit: ms}" in text and "zip: {type: text}" in text
    assert re.search("said: {type: time, format: .*}", text)
    loads(b, N)


def test_names_that_are_no_plain_path(tmp_path, saltmill):
    """init writes a name with a quote, a backslash, a dot or brackets so that the source finds the value."""
    names = ['a"b', "c\\d", "e'f", "g.h", "i[0]", "j k", "7", "$l", "\u00fc"]
    lines = [json.dumps({"id": i, **{n: f"{n} {i}" for n in names}}) for i in range(20)]
    b, text = made(tmp_path, saltmill, "\n".join(lines).encode(), "odd.json")
    (tmp_path / "job.yaml").write_text(text.replace("{codec: auto, framing: hadoop}", "NONE"))
    loads(b, 20)
    values = {c.value.decode() for p in b.out.glob("odd/hfiles/*/*") for c in hfile_py.read(p)}
    assert values == {str(i) for i in range(20)} | {f"{n} {i}" for n in names for i in range(20)}


def test_a_name_that_no_path_can_be_is_left_out(tmp_path, saltmill):
    """init omits a name with both kinds of quote, and the other fields load."""
    (tmp_path / "json").mkdir()
    odd = "a\"b'c"
    rows = [{"id": i, "v": f"v{i}", odd: i} for i in range(20)]
    b, text = made(tmp_path, saltmill, se.as_arrow(pa.table({k: [r[k] for r in rows] for k in rows[0]}), True), "e.arrows")
    assert fields(text)[0] == {"id": "i64", "v": "text"} and "# 1 of the schema's values cannot be fields" in text
    loads(b, 20)
    b, text = made(tmp_path / "json", saltmill, "\n".join(json.dumps(r) for r in rows).encode(), "e.json")
    assert set(fields(text)[0]) == {"id", "v"}
    loads(b, 20)


def test_parquet_gets_the_command_that_converts_it(tmp_path, saltmill):
    pa.parquet.write_table(pa.table({"v": [1]}), tmp_path / "e.parquet")
    r = init(saltmill, tmp_path, "e.parquet")
    assert r.returncode == 1 and "a Parquet file" in r.stderr and "pyarrow.parquet" in r.stderr, r.stderr


def test_a_damaged_schema(tmp_path, saltmill):
    (tmp_path / "e.avro").write_bytes(se.as_avro(5)[:40])
    (tmp_path / "n.arrows").write_bytes(se.as_arrow(pa.table({"v": pa.array([[1]])}), True))
    r = init(saltmill, tmp_path, "e.avro")
    assert r.returncode == 1 and "truncated" in r.stderr, r.stderr
    r = init(saltmill, tmp_path, "n.arrows")
    assert r.returncode == 1 and "found no value in the schema that a field can read" in r.stderr, r.stderr
