"""Tests Avro object container files. Files by fastavro load like the same events from CSV. saltmill reports damage with its place."""

import io
import struct
import subprocess
import zlib

import pytest

import schema_events as se
from load_help import Bench
from test_exports import hfiles, i64, job, loaded, rows_of

N = 2_000
CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]


def bench(folder, saltmill, kind, fields, cells=se.CELLS, source="{files: [in]}"):
    folder.mkdir(exist_ok=True)
    return Bench(folder, saltmill, job(source, fields, cells).replace("csv:", kind + ":", 1))


def text_of(folder, saltmill, kind, fields, data, *args):
    b = bench(folder, saltmill, kind, se.flow(fields))
    b.input(data, "in")
    r = b.run(*args)
    assert r.returncode == 0, r.stderr.decode()
    return hfiles(b.out)


def test_the_same_events_make_the_same_hfiles(tmp_path, saltmill):
    """CSV, JSON lines and Avro of each codec make the same bytes, with blocks for several threads."""
    wanted = text_of(tmp_path / "csv", saltmill, "csv", se.CSV_FIELDS, se.as_csv(N))
    assert wanted
    assert text_of(tmp_path / "json", saltmill, "json", se.JSON_FIELDS, se.as_json(N)) == wanted
    for codec in CODECS:
        found = text_of(tmp_path / codec, saltmill, "avro", se.SCHEMA_FIELDS, se.as_avro(N, codec), "--threads", "3",
                        "--memory", "64M")
        assert found == wanted, codec


# --- files built here, byte by byte (specification 1.11) ---

def long(v):
    v = (v << 1) ^ (v >> 63)
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7f | 0x80])
        v >>= 7
    return out + bytes([v])


def text(v):
    v = v.encode() if isinstance(v, str) else v
    return long(len(v)) + v


SYNC = bytes(range(16))


def header(schema, codec=None):
    pairs = [("avro.schema", schema), ("user", b"\xff"), *([("avro.codec", codec)] if codec else [])]
    return b"Obj\x01" + long(-len(pairs)) + long(7) + b"".join(text(k) + text(v) for k, v in pairs) + b"\x00" + SYNC


def block(count, data, sync=SYNC):
    return long(count) + long(len(data)) + data + sync


IDV = '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}, {"name": "v", "type": %s}]}'
NODE = '{"type":"record","name":"n","fields":[{"name":"k","type":"long"},{"name":"next","type":["null","n"]}]}'

# a record that contains itself, before the end of its fields
TREE = ('{"type":"record","name":"t","fields":[{"name":"left","type":["null","t"]},'
        '{"name":"all","type":{"type":"array","items":"t"}},{"name":"k","type":"long"}]}')


def run(folder, saltmill, data, fields="{}", cells=("v",), *args):
    b = bench(folder, saltmill, "avro", fields, list(cells))
    b.input(data, "in")
    return b, b.run(*args)


@pytest.mark.parametrize("type_,value,fields,cell,wanted", [
    ('"bytes"', text(b"\x00\xff"), "{v: {type: bytes}}", "v:bytes", b"\x00\xff"),
    ('{"type": "fixed", "name": "f", "size": 3}', b"abc", "{}", "v", b"abc"),
    ('{"type": "fixed", "name": "f", "size": 2, "logicalType": "decimal", "precision": 4, "scale": 3}', b"\xff\xfb",
     "{}", "v", b"-0.005"),
    ('{"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0}', text(b"\x7f" + b"\xff" * 15), "{}", "v",
     b"170141183460469231731687303715884105727"),
    ('{"type": "bytes", "logicalType": "decimal", "precision": 39, "scale": 0}', text(b"7"), "{}", "v", b"7"),
    ('{"type": "int", "logicalType": "date"}', long(-719528), "{}", "v", b"0000-01-01"),
    ('{"type": "int", "logicalType": "date"}', long(19782), "{}", "v", b"2024-02-29"),
    ('{"type": "int", "logicalType": "time-millis"}', long(3661001), "{}", "v", b"01:01:01.001"),
    ('{"type": "long", "logicalType": "timestamp-nanos"}', long(-1), "{}", "v", b"1969-12-31T23:59:59.999999999Z"),
    ('{"type": "long", "logicalType": "timestamp-nanos"}', long(-1), "{v: {type: time}}", "v:millis", i64(-1)),
    ('{"type": "long", "logicalType": "timestamp-micros"}', long(-2 ** 63), "{}", "v",
     b"-290308-12-21T19:59:05.224192Z"),
    ('{"type": "long", "logicalType": "unknown"}', long(-2 ** 63), "{v: {type: i64}}", "v:i64", i64(-2 ** 63)),
    ('"float"', struct.pack("<f", 0.1), "{}", "v", b"0.1"),
    ('"float"', struct.pack("<f", 3.4028235e38), "{}", "v", b"3.4028235e+38"),
    ('"double"', struct.pack("<d", 0.1 + 0.2), "{}", "v", b"0.30000000000000004"),
    ('"double"', struct.pack("<d", -5e-324), "{v: {type: f64}}", "v:f64", struct.pack(">d", -5e-324)),
    ('"double"', struct.pack("<d", 12), "{v: {type: u32}}", "v:u32", struct.pack(">I", 12)),
    ('["null", "string", "long"]', long(2) + long(7), "{}", "v", b"7"),
    ('["null", "string"]', long(0), "{}", "v", None),
    (NODE, long(1) + long(1) + long(2) + long(0), "{v: {from: v.next.k}}", "v", b"2"),
    (NODE, long(1) + long(0), "{v: {from: v.next.k}}", "v", None),
    (NODE, long(1) + long(1) + long(2) + long(0), "{}", "v", b'{"k":1,"next":{"k":2,"next":null}}'),
    (TREE, long(1) + long(0) + long(0) + long(2) + long(1) + long(0) + long(0) + long(3) + long(0) + long(4), "{}", "v",
     b'{"left":{"left":null,"all":[],"k":2},"all":[{"left":null,"all":[],"k":3}],"k":4}'),
    ('{"type": "map", "values": "int"}', long(-1) + long(4) + text("a") + long(-3) + long(1) + text("b\"") + long(4) + long(0),
     "{}", "v", b'{"a":-3,"b\\"":4}'),
    ('{"type": "map", "values": "int"}', long(2) + text("a") + long(1) + text("b") + long(4) + long(0), "{v: {from: v.b}}",
     "v", b"4"),
    ('{"type": "array", "items": "null"}', long(2 ** 60) + long(0), "{v: {from: 'v[3]'}}", "v", None),
    ('{"type": "array", "items": "double"}', long(-1) + long(8) + struct.pack("<d", float("nan")) + long(0), "{}", "v",
     b"[null]"),
])
def test_values(tmp_path, saltmill, type_, value, fields, cell, wanted):
    data = header(IDV % type_) + block(2, (text("1") + value) + (text("2") + value))
    b, r = run(tmp_path, saltmill, data, fields, [cell])
    assert r.returncode == 0, r.stderr.decode()
    name = cell.split(":")[0]
    assert loaded(b) == ({} if wanted is None else rows_of([name], ("1", wanted), ("2", wanted)))


TWO = block(2, text("1") + text("a") + text("2") + text("b"))
ONE = block(1, text("3") + text("c"))
STRING = header(IDV % '"string"')
FIRST = len(STRING)
SECOND = FIRST + len(TWO)


@pytest.mark.parametrize("data,status,words", [
    (STRING + TWO + ONE[:-1], 1, [f"in: truncated: block 2 (byte {SECOND}): found only the first 21 bytes"]),
    (STRING + TWO + ONE[:1], 1, ["truncated: block 2"]),
    (STRING[:60], 1, ["in: truncated: found only the first 60 bytes of the header"]),
    (STRING + TWO + block(1, text("3") + text("c"), b"x" * 16), 1, [f"block 2 (byte {SECOND}): damaged: found another sync marker after the block"]),
    (STRING + block(3, text("1") + text("a") + text("2") + text("b")), 1,
     [f"block 1 (byte {FIRST}): event 3 of 3: found the end of the block"]),
    (STRING + block(1, text("1") + text("a") + b"\x00"), 1, [f"block 1 (byte {FIRST}): event 1 of 1: found bytes after it"]),
    (STRING + block(2 ** 62, text("1") + text("a")), 1, [f"block 1 (byte {FIRST}): event 4611686018427387904 of"]),
    (STRING + block(-1, b""), 1, ["found an impossible count or length"]),
    (STRING + b"\xff" * 40, 1, ["found no valid count and length"]),
    (STRING + long(1) + long(2 ** 40 - 1) + b"x" * 99, 1, ["found a length of 1099511627775 bytes, expected at most"]),
    (STRING + block(1, text("1") + long(77) + b"a"), 1, ["event 1 of 1: found a length that exceeds the block"]),
    (STRING + block(1, text("1") + long(-7) + b"a"), 1, ["found a length that exceeds"]),
    (header(IDV % '["null","int"]') + block(1, text("1") + long(2)), 1, ["a branch number that exceeds the union"]),
    (header(IDV % '"boolean"') + block(1, text("1") + b"\x02"), 1, ["a boolean other than 0 and 1"]),
    (header(IDV % '{"type":"array","items":"int"}') + block(1, text("1") + long(2 ** 40) + b"\x00"), 1,
     ["more items than fit into the block"]),
    (header(IDV % NODE) + block(1, text("1") + b"\x00\x02" * 2000 + b"\x00\x00"), 1, ["nested more than 512 deep"]),
    (header(IDV % '"string"', "lzo"), 1, ["in: found the codec `lzo`, expected null, deflate"]),
    (header(IDV % '"string"', "deflate") + block(1, b"\xff\xff\xff"), 1, ["block 1", "found damaged compressed data"]),
    (header(IDV % '"string"', "snappy") + block(1, b"\x04\x0c" + b"\x021\x02a" + b"\x00" * 4), 1, ["found another CRC-32 than that of the data"]),
    (header(IDV % '"strange"'), 1, ["in: the Avro schema: unknown type `strange`"]),
    (header(IDV % '{"type":"record","name":"r","fields":[]}'), 1, ["defined twice: `r`"]),
    (header("{"), 1, ["the Avro schema: found no JSON"]),
    (header('"null"') + block(1, b""), 1, ["found a schema without a field of at least one byte"]),
    (header('{"type":"record","name":"r","fields":[{"name":"id","type":"string"},{"name":"w","type":"int"}]}'), 2,
     ["field `v`: found no `v` in the schema, expected one of: id, w"]),
    (b"id,v\n1,2\n", 1, ["in: found `id,v\\x0A1,2` at the start, expected an Avro file"]),
    (b"", 1, ["expected an Avro file"]),
])
def test_faults(tmp_path, saltmill, data, status, words):
    b, r = run(tmp_path, saltmill, data)
    b.refused(r, status, *words)


@pytest.mark.parametrize("codec,pack", [
    ("deflate", lambda d: zlib.compress(d, 9)[2:-4]),
    ("zstandard", lambda d: subprocess.run(["zstd", "-c"], input=d, capture_output=True, check=True).stdout),
])
def test_a_bomb(tmp_path, saltmill, codec, pack):
    """saltmill refuses a few KB that expand to 100 MB at the allowed size, with little memory."""
    data = header(IDV % '"string"', codec) + block(1, pack(text("1") + text(b"x" * 100_000_000)))
    b, r = run(tmp_path, saltmill, data, "{}", ["v"], "--memory", "64M")
    b.refused(r, 1, "block 1", "found more decompressed bytes than the limit (16777216 bytes)")


@pytest.mark.parametrize("fields,words", [
    ("{v: {type: time, unit: ms}}", "found column `v` of type timestamp in the schema, expected `type: time` without `unit`"),
    ("{v: {type: u64}}", "found column `v` of type timestamp in the schema, expected `type: time`, text or bytes"),
    ("{id: {type: u32}, v: {type: time, from: w}}", "found column `w` of type long in the schema, expected `unit: s`"),
    ("{v: {type: i64, from: l}}", "found column `l` of type array in the schema, expected a field of type text"),
    ("{v: {from: w.x}}", "found no `w.x` in the schema"),
    ("{v: {from: $key}}", "found `$key`, expected a path"),
])
def test_types_that_do_not_fit(tmp_path, saltmill, fields, words):
    schema = ('{"type":"record","name":"r","fields":[{"name":"id","type":"string"},{"name":"w","type":"long"},'
              '{"name":"l","type":{"type":"array","items":"int"}},'
              '{"name":"v","type":{"type":"long","logicalType":"timestamp-millis"}}]}')
    b, r = run(tmp_path, saltmill, header(schema), fields)
    b.refused(r, 2, words)


def test_rejects_say_where(tmp_path, saltmill):
    data = STRING + TWO + block(3, b"".join(text(k) + text(v) for k, v in [("3", "c"), ("4", b"\xff"), ("5", "\"")]))
    b, r = run(tmp_path, saltmill, data, "{}", ["v"], "--max-rejects", "1")
    assert r.returncode == 3
    reject, = b.rejects()
    assert {k: reject[k] for k in ("file", "event", "block", "offset", "reason", "raw")} == {
        "file": "in", "event": 4, "block": 2, "offset": SECOND, "reason": "bad_utf8", "raw": '{"id":"4","v":"\\\\xFF"}'}
    assert loaded(b) == rows_of(["v"], ("1", "a"), ("2", "b"), ("3", "c"), ("5", '"'))
    r = b.run(out=b.folder / "other")
    assert r.returncode == 1 and f"in: event 4 in block 2 (byte {SECOND}): bad_utf8: v: " in r.stderr.decode()


def test_files_of_several_schemas(tmp_path, saltmill):
    """saltmill reads each file with its own schema. Fields may have other places, but all requested fields must exist."""
    other = '{"type":"record","name":"q","fields":[{"name":"v","type":"int"},{"name":"id","type":["string","null"]}]}'
    b = bench(tmp_path, saltmill, "avro", "{}", ["v"], "{files: ['*.avro']}")
    b.input(STRING + TWO, "a.avro")
    b.input(header(other, "null") + block(1, long(7) + long(0) + text("7")), "b.avro")
    b.input(STRING, "c.avro")
    assert b.run().returncode == 0
    assert loaded(b) == rows_of(["v"], ("1", "a"), ("2", "b"), ("7", "7"))
    b.input(header('{"type":"record","name":"q","fields":[{"name":"id","type":"string"}]}'), "d.avro")
    r = b.run(out=b.folder / "again")
    assert r.returncode == 2 and b"d.avro: " in r.stderr and b"found no `v` in the schema, expected one of: id" in r.stderr


def test_from_a_pipe(tmp_path, saltmill):
    b = bench(tmp_path, saltmill, "avro", "{}", ["v"])
    r = b.run("-", input=STRING + TWO + ONE)
    assert r.returncode == 0, r.stderr
    assert loaded(b) == rows_of(["v"], ("1", "a"), ("2", "b"), ("3", "c"))


def test_an_avro_file_given_as_csv(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill, job("{files: [in]}", "{}", ["v"]))
    b.input(STRING + TWO, "in")
    b.refused(b.run(), 1, "in: found an Avro file", "`source: avro` in the job")
