"""Tests Arrow IPC streams and files. Files by pyarrow load like the same events from CSV. saltmill reports damage with its place."""

import decimal
import io
import random
import struct
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

import schema_events as se
from load_help import JOB, Bench
from test_avro import bench, text_of
from test_exports import hfiles, i64, job, loaded, rows_of

N = 3_000


def test_the_same_events_make_the_same_hfiles(tmp_path, saltmill):
    """CSV and Arrow make the same bytes, as stream and file, plain and compressed, with batches for several threads."""
    wanted = text_of(tmp_path / "csv", saltmill, "csv", se.CSV_FIELDS, se.as_csv(N))
    table = se.table(N)
    for stream, codec in (True, None), (False, "lz4"), (True, "zstd"):
        found = text_of(tmp_path / f"{stream}{codec}", saltmill, "arrow", se.SCHEMA_FIELDS,
                        se.as_arrow(table, stream, codec), "--threads", "3", "--memory", "64M")
        assert wanted and found == wanted, (stream, codec)


def stream_of(columns, rows=None, codec=None, stream=True):
    return se.as_arrow(pa.table(columns), stream, codec, rows or 1_000)


def run(folder, saltmill, data, fields="{}", cells=("v",), *args, **kw):
    b = bench(folder, saltmill, "arrow", fields, list(cells))
    b.input(data, "in")
    return b, b.run(*args, **kw)


REALS = {"id": ("u32", "u32"), "at": ("time, unit: s", "millis"), "ms": ("time, unit: ms", "millis"), "u": ("u64", "u64"),
         "i": ("i64", "i64"), "both": ("u32", "u32")}


def real_numbers(n):
    """Whole numbers in columns of float64. Some runs are negative or long, so that no batch accepts them."""
    columns = {"id": [i * 7 for i in range(n)], "at": [1_600_000_000 + i for i in range(n)], "ms": [i * 1000 for i in range(n)],
               "u": [i + 2 ** 52 * (400 < i < 500) for i in range(n)], "i": [-i if 200 < i < 300 else i for i in range(n)],
               "both": [i % 9 for i in range(n)]}
    return columns, {k: pa.array(v, pa.float64()) for k, v in columns.items()}


def csv_of(columns):
    return "".join(",".join(map(str, line)) + "\n" for line in [list(columns), *zip(*columns.values())]).encode()


@pytest.mark.parametrize("fields", [["u"], ["i"], ["ms"], ["both", "text"], ["u", "k"], ["u", "s"], [*REALS, "text", "k", "s"]], ids=" ".join)
def test_real_numbers_in_fields_of_whole_ones(tmp_path, saltmill, fields):
    """saltmill loads 5.0 as it loads 5 from CSV, for all fields and columns."""
    whole, real = real_numbers(800)
    beside = {"k": list(range(800)), "s": [f"text {i}" for i in range(800)]}
    typed = {**REALS, "k": ("i64", "i64"), "text": ("text, from: both", "text"), "s": ("text", "text")}
    lines = "".join(f"  {f}: {{type: {typed[f][0]}}}\n" for f in dict.fromkeys(["id", "at", *fields]))
    cells = "".join(f"      - {{family: f, qualifier: {f}, value: {{field: {f}, as: {typed[f][1]}}}}}\n" for f in fields)
    text = JOB.replace("  id: {type: u32}\n  at: {type: time, unit: s}\n", lines)
    text = text.replace("      - {family: f, qualifier: v, value: {field: value}}\n", cells)
    found = {}
    for kind, data in ("csv", csv_of({**whole, **beside})), ("arrow", stream_of({**real, **{k: pa.array(v) for k, v in beside.items()}})):
        (tmp_path / kind).mkdir()
        b = Bench(tmp_path / kind, saltmill, text.replace("csv: {files: [in.csv]}", f"{kind}: {{files: [in]}}"))
        b.input(data, "in")
        r = b.run("--threads", "1")
        assert r.returncode == 0, r.stderr.decode()
        found[kind] = hfiles(b.out)
    assert found["csv"] and found["arrow"] == found["csv"]


VALUES = {
    "i8": (pa.array([-128, None, 127], pa.int8()), ["-128", None, "127"]),
    "u64": (pa.array([2 ** 64 - 1, 0, 7], pa.uint64()), ["18446744073709551615", "0", "7"]),
    "f16": (pa.array([1.5, -0.0, 6e-8], pa.float16()), ["1.5", "-0", "0.000000059604645"]),
    "f32": (pa.array([0.1, 16777216, None], pa.float32()), ["0.1", "16777216", None]),
    "f64": (pa.array([0.1 + 0.2, 1e300, 12], pa.float64()), ["0.30000000000000004", "1e+300", "12"]),
    "bool": (pa.array([True, False, None]), ["true", "false", None]),
    "utf8": (pa.array(["a", "", None]), ["a", "", None]),
    "bin": (pa.array([b"x", b"yy" * 40, None], pa.large_binary()), ["x", "yy" * 40, None]),
    "view": (pa.array(["short", "longer than twelve", None], pa.string_view()), ["short", "longer than twelve", None]),
    "fixed": (pa.array([b"abc", None, b"def"], pa.binary(3)), ["abc", None, "def"]),
    "d128": (pa.array([decimal.Decimal("-0.05"), decimal.Decimal("12345678901234567890.12"), None], pa.decimal128(30, 2)),
             ["-0.05", "12345678901234567890.12", None]),
    "d256": (pa.array([decimal.Decimal("-0.05"), None, decimal.Decimal("-1701411834604692317316873037158841057.28")],
                      pa.decimal256(76, 2)), ["-0.05", None, "-1701411834604692317316873037158841057.28"]),
    "date32": (pa.array([-1, 19782, None], pa.date32()), ["1969-12-31", "2024-02-29", None]),
    "date64": (pa.array([-86400000, 0, None], pa.int64()).cast(pa.date64()), ["1969-12-31", "1970-01-01", None]),
    "time32": (pa.array([3661, 0, None], pa.time32("s")), ["01:01:01", "00:00:00", None]),
    "time64": (pa.array([3661000000001, 0, None], pa.time64("ns")), ["01:01:01.000000001", "00:00:00", None]),
    "s": (pa.array([-1, 0, None], pa.timestamp("s")), ["1969-12-31T23:59:59", "1970-01-01T00:00:00", None]),
    "us": (pa.array([1_000_001, -1, None], pa.timestamp("us", "Asia/Tokyo")),
           ["1970-01-01T00:00:01.000001Z", "1969-12-31T23:59:59.999999Z", None]),
    "null": (pa.nulls(3), [None] * 3),
    "dict": (pa.array(["x", None, "yy"]).dictionary_encode(), ["x", None, "yy"]),
    "dictn": (pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.uint16()), pa.array([None, 7], pa.int64())),
              [None, "7", "7"]),
}


@pytest.mark.parametrize("codec", [None, "zstd"])
def test_values(tmp_path, saltmill, codec):
    """A column of each type, as text, between lists, maps and unions that the job does not use."""
    odd = {"l": pa.array([[[1], []], None, [[2, 3]]]), "m": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int8())),
           "fl": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)),
           "un": pa.UnionArray.from_dense(pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()),
                                          [pa.array([1, 2]), pa.array(["x"])]),
           "su": pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]),
           "ree": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["q", "r"])),
           "lv": pa.array([[1], [2], None], pa.list_view(pa.int8()))}
    columns = {"id": pa.array(["1", "2", "3"])}
    for i, (name, (array, _)) in enumerate(VALUES.items()):
        columns[name] = array
        if i < len(odd):
            odd_name = list(odd)[i]
            columns[odd_name] = odd[odd_name]
    b, r = run(tmp_path, saltmill, stream_of(columns, codec=codec), "{}", VALUES)
    assert r.returncode == 0, r.stderr.decode()
    assert loaded(b) == rows_of(list(VALUES), *zip(["1", "2", "3"], *(texts for _, texts in VALUES.values())))


def test_slices_structs_and_dictionaries_that_change(tmp_path, saltmill):
    """Batches begin inside arrays, structs have nulls, and deltas replace and extend dictionaries."""
    inner = pa.StructArray.from_arrays([pa.array([str(i) for i in range(40)]), pa.array(range(40))], ["s", "n"],
                                       mask=pa.array([i % 4 == 0 for i in range(40)]))
    outer = pa.StructArray.from_arrays([inner], ["in"], mask=pa.array([i % 6 == 0 for i in range(40)]))
    schema = pa.schema({"id": pa.string(), "v": outer.type, "k": pa.dictionary(pa.int8(), pa.string())})
    for delta in False, True:
        to, wanted = io.BytesIO(), {}
        with pa.ipc.new_stream(to, schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=delta)) as w:
            words = []
            for at in range(3, 33, 10):
                words = words + [f"w{at}"] if delta else [f"w{at}", "x"]
                picks = [i % len(words) for i in range(10)]
                k = pa.DictionaryArray.from_arrays(pa.array(picks, pa.int8()), pa.array(words))
                ids = [f"{at + i:02}" for i in range(10)]
                w.write_batch(pa.record_batch([pa.array(ids), outer.slice(at, 10), k], schema=schema))
                for i, name in enumerate(ids):
                    n = at + i
                    wanted[name] = {"k": words[picks[i]].encode()} | ({} if n % 4 == 0 or n % 6 == 0 else {"v": i64(n)})
        b, r = run(tmp_path / str(delta), saltmill, to.getvalue(), "{v: {from: v.in.n, type: i64}}", ["v:i64", "k"])
        assert r.returncode == 0, r.stderr.decode()
        assert loaded(b) == wanted


def test_times(tmp_path, saltmill):
    """A time needs no `format`. A local time is in the field's zone."""
    t = pa.array([1_700_000_000_123_456, None], pa.timestamp("us"))
    b, r = run(tmp_path, saltmill,
               stream_of({"id": pa.array(["1", "2"]), "t": t, "z": t.cast(pa.timestamp("us", "UTC")), "d": pa.array([1, 2], pa.date32())}),
               "{t: {type: time, zone: Asia/Tokyo}, z: {type: time, zone: Asia/Tokyo}, d: {type: time}, text: {from: t}}",
               ["t:millis", "z:millis", "d:millis", "text"])
    assert r.returncode == 0, r.stderr.decode()
    ms = 1_700_000_000_123
    assert loaded(b) == rows_of(["t", "z", "d", "text"],
                                ("1", i64(ms - 9 * 3_600_000), i64(ms), i64(86_400_000), "2023-11-14T22:13:20.123456"),
                                ("2", None, None, i64(2 * 86_400_000), None))


PLAIN = {"id": pa.array(["1", "2", "3", "4"]), "v": pa.array(["a", "b", "c", "d"])}


def test_rejects_say_where(tmp_path, saltmill):
    bad = pa.array(["1", "2", "x", "4"])
    b, r = run(tmp_path, saltmill, stream_of({**PLAIN, "v": bad}, 2), "{v: {type: u32}}", ["v"], "--max-rejects", "1")
    assert r.returncode == 3, r.stderr
    reject, = b.rejects()
    assert {k: reject[k] for k in ("file", "event", "block", "reason", "raw")} == {
        "file": "in", "event": 3, "block": 2, "reason": "bad_number", "raw": '{"v":"x","id":"3"}'}
    assert loaded(b) == rows_of(["v"], ("1", "1"), ("2", "2"), ("4", "4"))


def test_from_a_pipe(tmp_path, saltmill):
    b = bench(tmp_path, saltmill, "arrow", "{}", ["v"])
    r = b.run("-", input=stream_of(PLAIN, 1))
    assert r.returncode == 0, r.stderr
    assert loaded(b) == rows_of(["v"], *zip("1234", "abcd"))


def test_the_way_out_of_parquet(tmp_path, saltmill):
    """For a Parquet file as CSV, the error shows a command, which the test runs unchanged."""
    b = Bench(tmp_path, saltmill, job("{files: [in]}", "{}", ["v"]))
    b.input(b"PAR1 and so on, as long as it looks", "in")
    b.refused(b.run(), 1, "in: found a Parquet file")
    command = b.run().stderr.decode().split("use instead: ")[1].split(", with `source: arrow`")[0]
    t = se.table(500).select(["id", "at", "d"])
    pa.parquet.write_table(t, tmp_path / "events.parquet", row_group_size=200)
    command = command.replace("FILE.parquet", "events.parquet").replace(" saltmill", f" {saltmill}")
    command = command.replace("python3", sys.executable).replace("JOB", "other.yaml").replace("DIR", "out")
    text = job("{files: [in]}", "{at: {type: time}}", ["at:millis", "d"]).replace("csv:", "arrow:")
    (tmp_path / "other.yaml").write_text(text)
    r = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, timeout=60)
    assert r.returncode == 0, r.stderr
    assert loaded(b) == {e["id"]: {"at": i64(se.plain(e)["at"])} | ({} if e["d"] is None else {"d": f"{e['d']:.2f}".encode()})
                         for e in se.events(500)}


# --- damaged files ---

STREAM = stream_of(PLAIN, 2)
FILE = stream_of(PLAIN, 2, stream=False)
END = b"\xff\xff\xff\xff\0\0\0\0"


def patched(data, old, new, count=1):
    assert data.count(old) >= 1
    return data.replace(old, new, count)


@pytest.mark.parametrize("data,words", [
    (STREAM[:-8], ["truncated: found no end mark after record batch 2", "so its writer may have died; write the file again"]),
    (STREAM[:-9], ["truncated: block 2"]),
    (STREAM + b"x", ["found 1 bytes after the end of the stream"]),
    (STREAM[:40], ["in: truncated: found only the first 40 bytes of the schema"]),
    (FILE[:-1], ["truncated: found other bytes at the file's end, expected `ARROW1`"]),
    (FILE[:-60], ["truncated: found other bytes at the file's end"]),
    (STREAM[:-8] + b"\x10\0\0\0" + bytes(16), ["block 3", "bytes that are not a message, expected FF FF FF FF"]),
    (STREAM[:-8] + STREAM, ["block 3", "found a second schema"]),
    (b"id,v\n1,2\n", ["expected an Arrow stream (FF FF FF FF) or file (`ARROW1`)"]),
    (b"ARROW1\0\0" + END, ["found another message first, expected the schema"]),
    (patched(STREAM, struct.pack("<3i", 0, 1, 2), struct.pack("<3i", 0, 900, 2)), ["column `", "block 1", "row 1 of the block: found an offset"]),
    (patched(STREAM, struct.pack("<3i", 0, 1, 2), struct.pack("<3i", 1, 0, 2)), ["found an offset that exceeds"]),
    (patched(STREAM, struct.pack("<3i", 0, 1, 2), struct.pack("<3i", -9, 1, 2)), ["found an offset that exceeds"]),
])
def test_faults(tmp_path, saltmill, data, words):
    b, r = run(tmp_path, saltmill, data)
    b.refused(r, 1, *words)


def test_a_fault_where_no_table_looks(tmp_path, saltmill):
    """saltmill refuses both rows in batches and single rows."""
    n = 600
    table = pa.table({"id": pa.array(range(n), "uint32"), "at": pa.array([1_400_000_000 + i for i in range(n)], pa.timestamp("s")),
                      "value": ["v"] * n, "other": [f"{i:05}" for i in range(n)]})
    text = JOB.replace("csv: {files: [in.csv]}", "arrow: {files: [in]}").replace(", unit: s}", "}\n  other: {type: text}")
    for size in 300, 8:  # rows of a batch
        good = se.as_arrow(table, True, None, size)
        b = Bench(tmp_path, saltmill, text)
        b.input(patched(good, struct.pack("<3i", 5, 10, 15), struct.pack("<3i", 5, 1 << 20, 15)), "in")
        b.refused(b.run(), 1, "column `other`, row 2 of the block: ", "found an offset that exceeds its data")
        b.input(good, "in")
        assert b.run(out=tmp_path / f"good{size}").returncode == 0


@pytest.mark.parametrize("columns,words", [
    ({"v": pa.array([[1]] * 4)}, "found column `v` of Arrow type list, which saltmill cannot read"),
    ({"v": pa.array([1] * 4, pa.duration("s"))}, "found column `v` of Arrow type duration"),
    ({"v": pa.array([1] * 4, pa.decimal256(50, 40))}, "found column `v` of Arrow type decimal with a scale below 0 or above 38"),
    ({"v": pa.array([100] * 4, pa.decimal128(5, -2))}, "found column `v` of Arrow type decimal with a scale below 0 or above 38"),
    ({"v": pa.array([{"a": 1}] * 4)}, "of Arrow type struct"),
    ({"w": pa.array([1] * 4), "v.x": pa.array([1] * 4)}, 'found no `v` in the schema, expected one of: id, w, ["v.x"]'),
])
def test_types_that_are_not_read(tmp_path, saltmill, columns, words):
    b, r = run(tmp_path, saltmill, stream_of({"id": PLAIN["id"], **columns}))
    b.refused(r, 2, words)


@pytest.mark.parametrize("values,row", [([1, 2 ** 127 - 1, -2 ** 127, -2 ** 127 - 1], 4), ([0, 2 ** 127, None, 10 ** 75], 2),
                                        ([None, -10 ** 60, 1, 1], 2)])
@pytest.mark.parametrize("form", ["plain", "dictionary", "unused"])
def test_a_decimal_that_does_not_fit(tmp_path, saltmill, values, row, form):
    """saltmill reads a decimal256 if its value fits into 128 bits. It refuses other values with their row, also in a column that no cell has."""
    v = pa.array(values, pa.decimal256(76, 0))
    def of(picked):
        return stream_of({"id": PLAIN["id"].take(picked), "v": v.take(picked) if form != "dictionary" else v.dictionary_encode().take(picked)}, 4)
    fields, cells = ("{v: {type: text}}", ["id"]) if form == "unused" else ("{}", ["v"])
    b, r = run(tmp_path, saltmill, of(pa.array(range(4))), fields, cells)
    b.refused(r, 1, "block 1", f"column `v`, row {row} of the block: found a decimal of more than 128 bits, expected at most 38 digits")
    if form == "plain":
        small = [i for i, x in enumerate(values) if x is None or -2 ** 127 <= x < 2 ** 127]
        b, r = run(tmp_path / "good", saltmill, of(pa.array(small)), fields, cells)
        assert r.returncode == 0, r.stderr.decode()
        assert {k: x["v"] for k, x in loaded(b).items() if "v" in x} == {
            PLAIN["id"][i].as_py(): str(values[i]).encode() for i in small if values[i] is not None}


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_bomb(tmp_path, saltmill, codec):
    data = stream_of({"id": pa.array(["1"]), "v": pa.array(["x" * 100_000_000])}, codec=codec)
    b, r = run(tmp_path, saltmill, data, "{}", ["v"], "--memory", "64M")
    b.refused(r, 1, "block 1", "found more than 16777216 decompressed bytes")


def test_a_damaged_stream_is_refused_or_said_to_be_whole(tmp_path, saltmill):
    """A few changed bytes cause no crash. Every failure has an error message."""
    draw = random.Random(7)
    b = bench(tmp_path, saltmill, "arrow", "{}", ["v", "k"])
    data = stream_of({**PLAIN, "k": pa.array(["p", None, "q", "p"]).dictionary_encode()}, 2, "lz4")
    for i in range(12):
        damaged = bytearray(data)
        for _ in range(3):
            damaged[draw.randrange(len(data))] = draw.randrange(256)
        b.input(bytes(damaged), "in")
        r = b.run("--max-rejects", "9", out=b.folder / f"o{i}")
        assert r.returncode in (0, 1, 2, 3) and (r.returncode in (0, 3) or b"saltmill load: " in r.stderr), (i, r)
