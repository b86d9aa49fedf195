"""Writes the same events in each format that other programs write. Python writes CSV and JSON, fastavro writes Avro,
and pyarrow writes Arrow."""

import csv
import datetime as dt
import decimal
import io
import json
import uuid

UTC = dt.timezone.utc
START = dt.datetime(1969, 12, 31, 23, 59, tzinfo=UTC)  # some are before 1970

AVRO = {"type": "record", "name": "event", "namespace": "a.b", "fields": [
    {"name": "id", "type": "string"},
    {"name": "unused", "type": {"type": "array", "items": {"type": "map", "values": ["null", "bytes", "double"]}}},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "us", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
    {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "n", "type": ["null", "long"]},
    {"name": "f", "type": "double"},
    {"name": "g", "type": "float"},
    {"name": "s", "type": ["string", "null"]},
    {"name": "b", "type": "boolean"},
    {"name": "d", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}]},
    {"name": "u", "type": {"type": "string", "logicalType": "uuid"}},
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["RED", "GREEN"]}},
    {"name": "in", "type": {"type": "record", "name": "Inner", "fields": [
        {"name": "x", "type": "int"}, {"name": "next", "type": ["null", "Inner"], "default": None}]}},
]}
CELLS = ["at:millis", "us:millis", "local:millis", "day:millis", "n:i64", "f:f64", "g", "s", "b:bool", "d", "u", "kind",
         "x:u32"]
TYPES = {"n": "{type: i64}", "f": "{type: f64}", "b": "{type: bool}", "d": "{type: decimal, scale: 2}"}
SCHEMA_FIELDS = {**TYPES, "at": "{type: time}", "us": "{type: time}", "local": "{type: time, zone: Europe/Berlin}",
                 "day": "{type: time}", "x": "{type: u32, from: in.x}"}
JSON_FIELDS = {**SCHEMA_FIELDS, "at": "{type: time, unit: ms}", "us": "{type: time, unit: us}",
               "local": "{type: time, format: '%Y-%m-%dT%H:%M:%S.%f', zone: Europe/Berlin}",
               "day": "{type: time, format: '%Y-%m-%d'}"}
CSV_FIELDS = {**JSON_FIELDS, "x": "{type: u32}"}


def flow(fields):
    return "{" + ", ".join(f"{k}: {v}" for k, v in fields.items()) + "}"


def events(n):
    for i in range(n):
        at = START + dt.timedelta(seconds=i * 977, milliseconds=i % 1000)
        yield {"id": f"{i:07}", "unused": [{"k": None, "l": b"\x00"}, {"m": 0.5}] * (i % 3), "at": at,
               "us": None if i % 5 == 0 else at + dt.timedelta(microseconds=i % 1000), "local": at.replace(tzinfo=None),
               "day": at.date(), "n": None if i % 7 == 0 else (i - 500) * 10 ** (i % 12), "f": (i - 9) / 8,
               "g": float(i % 1000), "s": None if i % 11 == 0 else f"t\u00e9xt, \"{i}\"\n\\" * (i % 3 + 1),
               "b": i % 2 == 0, "d": None if i % 13 == 0 else decimal.Decimal(i * 31 - 1000) / 100,
               "u": uuid.UUID(int=i << 70 | 5), "kind": "GREEN" if i % 3 else "RED",
               "in": {"x": i, "next": {"x": 1, "next": None} if i % 2 else None}}


def units(t, parts):
    return round((t - dt.datetime(1970, 1, 1, tzinfo=UTC)) / dt.timedelta(seconds=1) * 1000) * (parts // 1000) if parts == 1000 \
        else (t - dt.datetime(1970, 1, 1, tzinfo=UTC)) // dt.timedelta(microseconds=1)


def plain(e):
    """Returns the value as JSON and CSV show it."""
    e = {**e, "at": units(e["at"], 1000), "us": None if e["us"] is None else units(e["us"], 10 ** 6),
         "local": e["local"].isoformat(timespec="milliseconds"), "day": str(e["day"]), "u": str(e["u"]),
         "g": int(e["g"]), "d": None if e["d"] is None else f"{e['d']:.2f}"}
    del e["unused"]
    return e


def as_csv(n):
    to = io.StringIO()
    rows = [{**plain(e), "x": e["in"]["x"], "b": str(e["b"]).lower()} for e in events(n)]
    w = csv.DictWriter(to, [k for k in rows[0] if k != "in"], extrasaction="ignore", lineterminator="\n")
    w.writeheader()
    w.writerows(rows)
    return to.getvalue().encode()


def as_json(n):
    return "".join(json.dumps(plain(e)) + "\n" for e in events(n)).encode()


def as_avro(n, codec="null", interval=16_000):
    import fastavro
    to = io.BytesIO()
    fastavro.writer(to, fastavro.parse_schema(AVRO), events(n), codec=codec, sync_interval=interval)
    return to.getvalue()


def table(n):
    import pyarrow as pa
    rows = list(events(n))
    types = {"id": pa.string(), "at": pa.timestamp("ms", "UTC"), "us": pa.timestamp("us", "UTC"), "local": pa.timestamp("ms"),
             "day": pa.date32(), "n": pa.int64(), "f": pa.float64(), "g": pa.float32(), "s": pa.large_string(), "b": pa.bool_(),
             "d": pa.decimal128(12, 2), "u": pa.string_view(), "kind": pa.dictionary(pa.int8(), pa.string())}
    columns = {k: pa.array([str(r[k]) if k == "u" else r[k] for r in rows]).cast(t) if k == "kind"
               else pa.array([str(r[k]) if k == "u" else r[k] for r in rows], t) for k, t in types.items()}
    columns["unused"] = pa.array([[1, 2]] * n, pa.list_(pa.int32()))
    columns["in"] = pa.StructArray.from_arrays([pa.array([r["in"]["x"] for r in rows], pa.uint32())], ["x"])
    return pa.table({k: columns[k] for k in ("unused", *types, "in")})


def as_arrow(t, stream, codec=None, rows=1_000):
    import pyarrow as pa
    to = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(to, t.schema, options=options) as w:
        w.write_table(t, max_chunksize=rows)
    return to.getvalue()
