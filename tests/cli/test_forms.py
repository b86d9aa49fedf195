"""Loads the same events as CSV, JSON lines, Avro and Arrow, on the fast path for batches and the slow path for single
rows.

The input has long runs of plain rows, which form batches, and unusual rows between them. Each form must make the same
HFiles and reject the same events.
"""

import csv
import io
import json
import random

import pyarrow as pa
import pytest

import schema_events as se
from load_help import Bench
from test_exports import hfiles

N = 1_500
KINDS = ["csv", "json", "avro", "arrow"]
AVRO = {"type": "record", "name": "e", "fields": [
    {"name": "id", "type": "int"}, {"name": "n", "type": ["null", "long"]}, {"name": "k", "type": "long"},
    {"name": "at", "type": "long"}, {"name": "t", "type": ["null", "string"]}, {"name": "f", "type": "double"},
    {"name": "b", "type": "boolean"}]}
ARROW = {"id": pa.int32(), "n": pa.int64(), "k": pa.uint32(), "at": pa.int64(), "t": pa.string(), "f": pa.float64(),
         "b": pa.bool_()}
JOB = """\
source: {KIND: {files: [in]}}
fields:
  id: {type: u32}
  n: {type: u64}
  k: {type: u32}
  at: {type: time, unit: s}
WHERE
tables:
  - name: t
    rowkey: [{salt: 8, SALT}, {field: id, as: u32}, {field: at, as: reversed_millis}]
    timestamp: at
    families: {c: {compression: {codec: ZSTD, framing: hbase}}}
    cells:
      - {family: c, qualifier: n, value: {field: n, as: u64}}
      - {family: c, qualifier: k, value: {field: k, as: text}}
      - {family: c, qualifier: t, value: t}
      - {family: c, qualifier: f, value: f}
      - {family: c, qualifier: b, value: b}
    regions: {split: sampled, count: 3}
"""
# of an event whose neighbours are plain
ODD = [{"n": None}, {"t": None}, {"n": -1}, {"id": -5}, {"n": 2 ** 62 + 1}, {"n": 10 ** 16}, {"at": 2 ** 50}, {"at": -7},
       {"t": ""}, {"t": "NULL"}, {"t": "\u00fc\u20ac \U0001f600"}, {"t": 'a,"b"\n\\ \t'}, {"t": "x" * 16}, {"t": "x" * 121},
       {"t": "y" * 3_000}, {"f": 1e300}, {"f": -0.5}, {"f": 123456.75}, {"f": 0.1 + 0.2}, {"k": 2 ** 32 - 1}]


def events(seed):
    draw = random.Random(seed)
    for i in range(N):
        e = {"id": draw.randrange(10 ** draw.randrange(1, 9)), "n": draw.randrange(10 ** draw.randrange(1, 15)),
             "k": draw.randrange(2 ** 32), "at": 1_500_000_000 + i, "t": "t" * draw.randrange(1, 15) + str(i),
             "f": draw.choice([draw.randrange(100) / 4, draw.randrange(10 ** 6) / 100, draw.randrange(9)]), "b": i % 3 == 0}
        if i % 300 > 250 and draw.random() < 0.3 or i == 130:
            e.update(draw.choice(ODD))
        yield e


def number(v):
    """Formats a float as the other programs print it, such as 5 instead of 5.0."""
    return v if v != int(v) or abs(v) > 1e15 else int(v)


def as_csv(rows):
    to = io.StringIO()
    w = csv.writer(to, lineterminator="\n")
    w.writerow(rows[0])
    w.writerows([str(v).lower() if isinstance(v, bool) else number(v) if isinstance(v, float) else v for v in e.values()]
                for e in rows)
    return to.getvalue().encode()


def as_json(rows):
    lines = [json.dumps({**e, "f": number(e["f"])}, ensure_ascii=i % 2 == 0) for i, e in enumerate(rows)]
    return ("\n".join(lines) + "\n").encode()


def as_avro(rows):
    import fastavro
    to = io.BytesIO()
    fastavro.writer(to, fastavro.parse_schema(AVRO), rows, codec="deflate", sync_interval=9_000)
    return to.getvalue()


def as_arrow(rows):
    return se.as_arrow(pa.table({k: pa.array([e[k] for e in rows], t) for k, t in ARROW.items()}), True, None, 700)


WRITERS = {"csv": as_csv, "json": as_json, "avro": as_avro, "arrow": as_arrow}


def load(folder, saltmill, kind, rows, salt="of: [id]", where=""):
    folder.mkdir()
    text = JOB.replace("KIND", kind).replace("SALT", salt).replace("WHERE", where)
    b = Bench(folder, saltmill, text)
    b.input(WRITERS[kind](rows), "in")
    r = b.run("--max-rejects", "100%")
    assert r.returncode in (0, 3), r.stderr.decode()
    return hfiles(b.out), b.rejects()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_form_makes_the_same_hfiles_and_rejects(tmp_path, saltmill, seed):
    rows = [e for e in events(seed) if e["t"] not in ("", "NULL")]  # these values are nulls in formats without types
    wanted, refused = load(tmp_path / "csv", saltmill, "csv", rows)
    assert len(wanted) == 3 and len(refused) > 10
    for kind in KINDS[1:]:
        found, why = load(tmp_path / kind, saltmill, kind, rows)
        assert found == wanted, kind
        assert [(w["reason"], w["field"]) for w in why] == [(w["reason"], w["field"]) for w in refused], kind


@pytest.mark.parametrize("salt", ["of: [id]", "draw: random, seed: 3", "draw: round_robin"])
@pytest.mark.parametrize("kind", KINDS)
def test_together_or_one_by_one(tmp_path, saltmill, kind, salt):
    """A condition that is always true sends each event to the slow path."""
    rows = list(events(7))
    together = load(tmp_path / "a", saltmill, kind, rows, salt)
    one_by_one = load(tmp_path / "b", saltmill, kind, rows, salt, "where: k >= 0")
    assert together == one_by_one and all(together)
