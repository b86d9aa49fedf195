"""Tests whole loads. HBase loads the program's output and must return it cell for cell."""

import csv
import datetime
import itertools
import json
import pathlib
import random
import re
import shutil
import subprocess

import pytest
from cluster import HBaseError
from oracle import Cells, i32, reversed_millis, salt, u16, u32, u64, unescape

CONF = pathlib.Path(__file__).resolve().parents[2] / "conf"
LOAD_SECONDS = 180
KEEPS_SPLITS = {"org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy",
                "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"}
ZSTD_ROW = {"COMPRESSION": "ZSTD", "BLOOMFILTER": "ROW", "VERSIONS": "1",
            "DATA_BLOCK_ENCODING": "NONE", "BLOCKSIZE": "65536", "TTL": "2147483647"}


def each_row(file):
    with open(file, newline="", encoding="utf-8") as f:
        yield from csv.DictReader(f)


def read_csv(file):
    return list(each_row(file))


def shanghai(text, form):
    """Returns milliseconds for a local time in China, which has had no summer time since 1991."""
    zone = datetime.timezone(datetime.timedelta(hours=8))
    return int(datetime.datetime.strptime(text, form).replace(tzinfo=zone).timestamp()) * 1000


class Load:
    """A run of the program, whose tables the test loads into HBase."""

    def __init__(self, saltmill, hbase, folder):
        self.saltmill, self.hbase, self.folder = saltmill, hbase, folder
        self.out = folder / "out"
        self.created = []

    def run(self, job, *files):
        done = subprocess.run([self.saltmill, "load", job, *files, "-o", self.out],
                              capture_output=True, text=True, timeout=LOAD_SECONDS, check=False)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
        self.manifest = json.loads((self.out / "manifest.json").read_text())

    def table(self, name):
        tables = {t["name"]: t for t in self.manifest["tables"]}
        assert name in tables
        return tables[name]

    def folder_of(self, name):
        return self.out / self.table(name)["dir"]

    def check(self, name, expected, families, read, regions=None, balance=None, gets=True):
        """Checks all requirements for a table. Leaves the table in HBase for the test's queries."""
        self._check_counts(name, expected, read)
        splits = self._create(name, families)
        if regions:
            assert len(splits) + 1 == regions
        files = self._check_files(name, expected, families)
        self._bulk_load(name, files, splits)
        stores = self._check_stores(name, files)
        if balance:
            sizes = [sum(f["bytes"] for f in r["files"]) for r in stores]
            assert max(sizes) <= balance * sum(sizes) / len(sizes), f"region sizes {sizes}"
        self._check_cells(name, expected)
        if gets:
            self._check_gets(name, expected)
        self._check_second_run(name, stores)
        assert self.hbase.checksum_warnings() == self.checksum_warnings_before

    def _check_counts(self, name, expected, read):
        m, t = self.manifest, self.table(name)
        assert m["read"] == read and m["rejected"] == 0
        assert m["read"] == t["loaded"] + m["rejected"] + t["filtered"] + t["deduplicated"]
        assert t["rows"] == len(expected.rows)
        assert t["cells"] == expected.cells
        assert sum(f["cells"] for f in t["files"]) == expected.cells
        assert (self.out / "rejects.jsonl").read_text() == ""

    def _create(self, name, families):
        self.checksum_warnings_before = self.hbase.checksum_warnings()
        self.created.append(name)
        self.hbase.run_script(self.folder_of(name) / "create.rb")
        lines = (self.folder_of(name) / "splits.txt").read_text().splitlines()
        splits = [unescape(s) for s in lines]
        assert [unescape(s) for s in self.hbase.splits(name)] == splits
        have = self.hbase.describe(name)
        assert set(have["families"]) == set(families)
        for family, attributes in families.items():
            got = {k: have["families"][family].get(k) for k in attributes}
            assert got == attributes, family
        if splits:
            assert have["table"].get("SPLIT_POLICY") in KEEPS_SPLITS \
                or have["table"].get("SPLIT_ENABLED") == "false"
        return splits

    def _check_files(self, name, expected, families):
        """Runs HBase's own inspection. Returns (family, bytes) of each HFile."""
        files, cells, bloom_keys = [], 0, dict.fromkeys(families, 0)
        for file in sorted((self.folder_of(name) / "hfiles").glob("*/*")):
            text, warnings = self.hbase.pretty(file)
            assert warnings == [], file
            cells += int(re.search(r"Scanned kv count -> (\d+)", text)[1])
            bloom = re.search(r"No of Keys in bloom: (\d+)", text)
            bloom_keys[file.parent.name] += int(bloom[1]) if bloom else 0
            files.append((file.parent.name, file.stat().st_size))
        assert cells == expected.cells
        for family, attributes in families.items():
            bloom = attributes["BLOOMFILTER"]
            wanted = 0 if bloom == "NONE" else expected.bloom_keys(family, bloom)
            assert bloom_keys[family] == wanted, family
        listed = [(f["family"], f["bytes"]) for f in self.table(name)["files"]]
        assert sorted(listed) == sorted(files)
        return files

    def _bulk_load(self, name, files, splits):
        copy = self.folder / "hfiles"  # the loader may move the files that it loads
        shutil.copytree(self.folder_of(name) / "hfiles", copy)
        done = self.hbase.bulk_load(copy, name)
        assert done["files"] == len(files)
        shutil.rmtree(copy)
        assert [unescape(s) for s in self.hbase.splits(name)] == splits

    def _check_stores(self, name, files):
        """Checks that the table has exactly the files of the program, and that HBase has split and rewritten no file."""
        stores = self.hbase.store_files(name)
        held = [(f["family"], f["bytes"]) for r in stores for f in r["files"]]
        assert sorted(held) == sorted(files)
        return stores

    def _check_cells(self, name, expected):
        scan = self.folder / "scan"
        counts = self.hbase.scan(name, out=str(scan), raw=True)
        differences = expected.differences(scan)
        assert not differences, "\n".join(differences)
        assert counts == {"rows": len(expected.rows), "cells": expected.cells}
        scan.unlink()

    def _check_gets(self, name, expected):
        rows = sorted(expected.rows)
        step = max(1, len(rows) // 200)
        there = [bytes.fromhex(r) for r in rows[::step]]
        found = self.hbase.get(name, there)
        assert [f.split("\t", 1)[0] if f else None for f in found] == [r.hex() for r in there]
        absent = [r + b"\x00" for r in there if (r + b"\x00").hex() not in expected.rows]
        assert self.hbase.get(name, absent) == [None] * len(absent)

    def _check_second_run(self, name, stores):
        before = self.hbase.describe(name)
        self.hbase.run_script(self.folder_of(name) / "create.rb")
        assert self.hbase.describe(name) == before
        assert self.hbase.store_files(name) == stores

    def drop(self):
        script = self.folder / "drop.rb"
        script.write_text("".join(
            f"if exists('{n}')\n disable '{n}'\n drop '{n}'\nend\n" for n in self.created))
        self.hbase.run_script(script)


@pytest.fixture
def load(saltmill, hbase, tmp_path):
    one = Load(saltmill, hbase, tmp_path)
    yield one
    try:
        one.drop()
    except HBaseError as e:
        pytest.fail(f"cannot drop {one.created}: {e}")


def derive(folder, job, *changes):
    """Returns a job file with replaced texts. Each text must occur."""
    text = (CONF / job).read_text()
    for old, new in changes:
        assert old in text, f"{job} does not contain {old!r}"
        text = text.replace(old, new)
    file = folder / job
    file.write_text(text)
    return file


# --- the flights -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flights(flights_csv):
    return cells_of_flights(flights_csv)


@pytest.fixture(scope="module")
def eighth(flights_csv, tmp_path_factory):
    file = each_eighth(flights_csv, tmp_path_factory.mktemp("eighth"))
    return file, *cells_of_flights(file)


def each_eighth(flights_csv, folder):
    """Writes a file of each eighth flight."""
    file = folder / "flights.csv"
    with open(flights_csv, "rb") as whole:
        file.write_bytes(whole.readline() + b"".join(itertools.islice(whole, 0, None, 8)))
    return file


def cells_of_flights(file):
    """Computes the cells of conf/flights.yaml. The time comes from the data's own UTC hour, not from New York's
    clock."""
    cells, read = Cells(), 0
    for r in each_row(file):
        read += 1
        hour = datetime.datetime.strptime(r["time_hour"], "%Y-%m-%dT%H:%M:%SZ")
        utc = hour.replace(tzinfo=datetime.timezone.utc)
        ts = (int(utc.timestamp()) + 60 * int(r["minute"])) * 1000
        number = r["carrier"].encode() + u16(int(r["flight"]))
        key = salt(16, number) + number + reversed_millis(ts) + r["origin"].encode()
        some = [("s", b"dest", r["dest"].encode()),
                ("s", b"tail", r["tailnum"].encode()),
                ("s", b"dep", r["sched_dep_time"].encode()),
                ("s", b"arr", r["sched_arr_time"].encode()),
                ("s", b"miles", i32(int(r["distance"]))),
                ("d", b"dep_time", r["dep_time"].encode()),
                ("d", b"arr_time", r["arr_time"].encode())]
        some += [("d", q, i32(int(r[c]))) for q, c in (
            (b"dep", "dep_delay"), (b"arr", "arr_delay"), (b"air", "air_time")) if r[c] != "NA"]
        cells.add(key, [(f, q, ts, v) for f, q, v in some if v not in (b"NA", b"")])
    return cells, read


FLIGHTS_FAMILY = "compression: {codec: ZSTD, framing: hbase}, bloomfilter: ROW"


@pytest.mark.parametrize("family,attributes", [
    (FLIGHTS_FAMILY, {}),
    ("compression: NONE, bloomfilter: NONE", {"COMPRESSION": "NONE", "BLOOMFILTER": "NONE"}),
    ("compression: GZ, bloomfilter: ROWCOL, blocksize: 16384",
     {"COMPRESSION": "GZ", "BLOOMFILTER": "ROWCOL", "BLOCKSIZE": "16384"}),
    ("compression: ZSTD, bloomfilter: ROW, data_block_encoding: FAST_DIFF, versions: 3, "
     "min_versions: 1, ttl: 20000d, in_memory: true",
     {"DATA_BLOCK_ENCODING": "FAST_DIFF", "VERSIONS": "3", "MIN_VERSIONS": "1",
      "TTL": str(20000 * 86400), "IN_MEMORY": "true"}),
    ("compression: {codec: auto, framing: hbase}", {"DATA_BLOCK_ENCODING": "DIFF"}),
], ids=["ZSTD-ROW", "NONE-NONE", "GZ-ROWCOL", "FAST_DIFF", "auto"])
def test_flights(load, flights, flights_csv, eighth, tmp_path, family, attributes):
    """All flights with the default. A region server and Java need a minute for them, so other tests load an eighth."""
    file, expected, read = eighth if attributes else (flights_csv, *flights)
    job = derive(tmp_path, "flights.yaml", (FLIGHTS_FAMILY, family))
    load.run(job, file)
    want = {**ZSTD_ROW, **attributes}
    load.check("flights", expected, {"s": want, "d": want}, read, regions=8, balance=1.2)


# --- ratings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("compression, attributes", [
    ("{codec: ZSTD, framing: hbase}", {}),
    ("{codec: ZSTD, level: auto}", {}),
    ("{codec: auto, framing: hbase}", {"DATA_BLOCK_ENCODING": "DIFF"}),
    ("{codec: auto, framing: hbase, aim: speed}", {"DATA_BLOCK_ENCODING": "DIFF"}),
    ("{codec: auto, framing: hbase, aim: read}", {"DATA_BLOCK_ENCODING": "DIFF", "BLOCKSIZE": "16384"}),
], ids=["3", "level", "auto", "speed", "read"])
def test_ratings(load, shared_data, tmp_path, compression, attributes):
    file = shared_data / "ratings.csv"
    job = derive(tmp_path, "ratings.yaml", ("{codec: ZSTD, framing: hbase}", compression))
    expected, rows = Cells(), read_csv(file)
    for r in rows:
        ts, user, film = int(r["timestamp"]) * 1000, u64(int(r["userId"])), int(r["movieId"])
        expected.add(salt(16, user) + user + reversed_millis(ts) + u32(film),
                     [("f", b"m", ts, r["movieId"].encode()),
                      ("f", b"r", ts, r["rating"].encode())])
    load.run(job, file)
    if "level: auto" in compression:  # frames of ready-made sequences: HBase's libzstd must read them
        assert 4 <= load.table("ratings")["tuned"][0]["min_match"] <= 8
    if "speed" in compression:  # frames of Huffman codes without matches
        assert load.table("ratings")["tuned"][0]["level"] == -131072
    load.check("ratings", expected, {"f": {**ZSTD_ROW, "TTL": str(20000 * 86400), **attributes}}, len(rows),
               regions=16, balance=1.2)


# --- the ten files ---------------------------------------------------------------------------


def test_files(load, hbase):
    job = CONF / "files.yaml"
    rows = read_csv(CONF / "files.csv")
    files, by_time = Cells(), Cells()
    for r in rows:
        ts = shanghai(r["created"], "%Y%m%d")
        text = {c: r[c].encode() for c in r}
        files.add(f"{int(r['owner']):06}{r['created']}{int(r['id']):06}".encode(),
                  [("f", c.encode(), ts, text[c]) for c in ("id", "name", "category", "owner")])
        by_time.add(u64(ts) + u32(int(r["id"])),
                    [("f", b"key", ts, text["owner"]), ("f", b"name", ts, text["name"]),
                     ("f", b"category", ts, text["category"])])
    load.run(job)
    assert [t["name"] for t in load.manifest["tables"]] == ["files", "files_by_time"]
    load.check("files", files, {"f": {"BLOOMFILTER": "ROW"}}, 10, regions=1)
    load.check("files_by_time", by_time, {"f": {"BLOOMFILTER": "ROW"}}, 10, regions=1)

    keys = [line.split("\t")[0] for line in hbase.scan("files")]
    assert keys == [k.encode().hex() for k in (
        "00000120120902000001", "00000120120904000002", "00000120120906000003",
        "00000120120908000004", "00000120120910000005", "00000120120914000007",
        "00000220120912000006", "00000220120916000008", "00000320120918000009",
        "00000420120920000010")]

    def between(column, prefix):
        above = prefix[:-1] + chr(ord(prefix[-1]) + 1)  # in UTF-8 the last byte plus 1
        return (f"SingleColumnValueFilter('f', '{column}', >=, 'binary:{prefix}') AND "
                f"SingleColumnValueFilter('f', '{column}', <, 'binary:{above}')")

    golden = dict(start=b"00000120120901".hex(), stop=b"00000120121001".hex())
    where = between("name", "中国好声音") + " AND " + between("category", "综艺")
    found = hbase.scan("files", filter=where, **golden)
    assert [int(bytes.fromhex(line.split("\t")[0])[-6:]) for line in found] == [1, 2, 3, 4, 5, 7]
    page = hbase.scan("files", filter=where + " AND PageFilter(2)", **golden)
    assert page == found[:2]

    period = [u64(shanghai(d, "%Y%m%d")).hex() for d in ("20120906", "20120914")]
    found = hbase.scan("files_by_time", start=period[0], stop=period[1])
    assert [int(line.split("\t")[0][-8:], 16) for line in found] == [3, 4, 5, 6]


# --- time series -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def views():
    return [(int(r["uid"]), int(r["ts"]), r["item"]) for r in read_csv(CONF / "timeseries.csv")]


def values(line):
    """Returns the values of one row, in HBase's order of its cells."""
    return [bytes.fromhex(c.rsplit(":", 1)[1]).decode() for c in line.split("\t")[1:]]


def newest(views, uid):
    return [item for u, ts, item in sorted(views, key=lambda v: -v[1]) if u == uid]


def test_timeseries_tall(load, hbase, views):
    expected = Cells()
    for uid, ts, item in views:
        expected.add(u64(uid) + reversed_millis(ts), [("cf", b"", ts, item.encode())])
    load.run(CONF / "timeseries_tall.yaml")
    load.check("views_tall", expected, {"cf": {"BLOOMFILTER": "ROW"}}, len(views), regions=1)

    uid, ts, item = views[4]
    (at,) = hbase.get("views_tall", [u64(uid) + reversed_millis(ts)])
    assert values(at) == [item]
    for uid in {v[0] for v in views}:
        all_of = hbase.scan("views_tall", start=u64(uid).hex(), stop=u64(uid + 1).hex())
        assert [values(line) for line in all_of] == [[i] for i in newest(views, uid)]
        latest = hbase.scan("views_tall", start=u64(uid).hex(), stop=u64(uid + 1).hex(), limit=2)
        assert latest == all_of[:2]


def test_timeseries_wide(load, hbase, views):
    expected = Cells()
    for uid, ts, item in views:
        expected.add(u64(uid), [("cf", reversed_millis(ts), ts, item.encode())])
    load.run(CONF / "timeseries_wide.yaml")
    load.check("views_wide", expected, {"cf": {"BLOOMFILTER": "ROWCOL"}}, len(views), regions=1)

    uid, ts, item = views[4]
    (at,) = hbase.get("views_wide", [u64(uid)], family="cf", qualifier=reversed_millis(ts).hex())
    assert values(at) == [item]
    absent = hbase.get("views_wide", [u64(uid)], family="cf",
                       qualifier=reversed_millis(ts + 1).hex())
    assert absent == [None]
    for uid in {v[0] for v in views}:
        (all_of,) = hbase.get("views_wide", [u64(uid)], family="cf")
        assert values(all_of) == newest(views, uid)
        (latest,) = hbase.get("views_wide", [u64(uid)], filter="ColumnCountGetFilter(2)")
        assert values(latest) == newest(views, uid)[:2]


# --- loans -----------------------------------------------------------------------------------


def test_loans(load, hbase):
    rows = read_csv(CONF / "loans.csv")
    students, books, state = Cells(), Cells(), {}
    for r in rows:
        ts = shanghai(r["time"], "%Y-%m-%d %H:%M:%S")
        for cells, key, who, column, family in (
                (students, r["student"][::-1], "student", "book", "borrow"),
                (books, r["book"], "book", "student", "borrowed")):
            some = [("info", b"name", ts, r[who + "_name"].encode()),
                    (family, r[column].encode(), ts, r["borrowed"].encode())]
            if r[who + "_info"]:
                some.append(("info", b"info", ts, r[who + "_info"].encode()))
            cells.add(key.encode(), some)
        pair = r["student"], r["book"]
        state[pair] = max(state.get(pair, (0, "")), (ts, r["borrowed"]))
    load.run(CONF / "loans.yaml")
    # computed from the source first
    assert [t["name"] for t in load.manifest["tables"]] == ["student_loans", "book_loans"]
    one, three = ({"VERSIONS": v, "BLOOMFILTER": "ROW"} for v in "13")
    load.check("student_loans", students, {"info": one, "borrow": three}, len(rows))
    load.check("book_loans", books, {"info": one, "borrowed": three}, len(rows))

    returned = 0
    for (student, book), (_, last) in state.items():
        (s,) = hbase.get("student_loans", [student[::-1].encode()], family="borrow",
                         qualifier=book.encode().hex())
        (b,) = hbase.get("book_loans", [book.encode()], family="borrowed",
                         qualifier=student.encode().hex())
        assert values(s) == values(b) == [last]
        returned += last == "0"
    assert returned >= 4  # pairs with a loan and a later return


# --- every byte in keys and split points -----------------------------------------------------

EVERY_BYTE = "saltmill_test:every_byte"
BYTES_JOB = """\
source:
  csv: {{files: [keys.csv]}}
fields:
  key: {{type: hex}}
  at: {{type: time, unit: ms}}
tables:
  - name: saltmill_test:every_byte
    rowkey:
      - {{field: key, as: bytes}}
    timestamp: at
    families:
      f: {{compression: NONE, bloomfilter: ROW}}
    cells:
      - {{family: f, qualifier: "", value: {{field: key, as: bytes}}}}
    regions: {regions}
"""


def run_every_byte(load, folder, regions, keys):
    """Loads rows with these keys, in random order."""
    random.Random(1).shuffle(keys)
    expected = Cells()
    with open(folder / "keys.csv", "w", encoding="ascii") as out:
        out.write("key,at\n")
        for i, key in enumerate(keys):
            expected.add(key, [("f", b"", 1000 + i, key)])
            out.write(f"{key.hex()},{1000 + i}\n")
    job = folder / "job.yaml"
    job.write_text(BYTES_JOB.format(regions=regions))
    load.run(job)
    return expected


def test_every_byte_as_split_key(load, tmp_path):
    """There are 256 split keys of one byte, and rows on, just below and just above each split key."""
    splits = [bytes([b]) for b in range(256)]
    (tmp_path / "keys.txt").write_text("".join(f"\\x{b:02X}\n" for b in range(256)))
    keys = [k for s in splits for k in (s, s + b"\x00", s + s, s + b"'\\\"#{}\n", s + b"\xff\xff")]
    keys = sorted(set(keys))
    expected = run_every_byte(load, tmp_path, "{split: file, file: keys.txt}", keys)
    load.check(EVERY_BYTE, expected, {"f": {"COMPRESSION": "NONE", "BLOOMFILTER": "ROW"}},
               len(keys), regions=257)


def test_every_byte_sampled(load, tmp_path):
    """Each first byte has the same number of rows, so 64 regions must have equal sizes."""
    chance = random.Random(2)
    keys = list({bytes([b]) + chance.randbytes(chance.randint(4, 12))
                 for b in range(256) for _ in range(60)})
    expected = run_every_byte(load, tmp_path, "{split: sampled, count: 64}", keys)
    load.check(EVERY_BYTE, expected, {"f": {"COMPRESSION": "NONE", "BLOOMFILTER": "ROW"}},
               len(keys), regions=64)
    rows = [r["rows"] for r in load.table(EVERY_BYTE)["regions"]]
    assert sum(rows) == len(keys) and max(rows) <= 1.5 * len(keys) / 64
