"""`init` for a table: HFiles whose row keys and values sets/tables.py builds. hbase/test_init_table.py uses a real HBase."""

import pathlib
import subprocess
import sys
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sets"))
import tables  # noqa: E402  (needs the path above)

from tables import Piece  # noqa: E402


def made(saltmill, folder, keys, values=None, *more):
    """Makes a table of these keys, and returns what init prints."""
    t = tables.Table.__new__(tables.Table)
    t.rows = [([Piece(k)], [("f", b"q", None, Piece(values[i] if values else b"v%d" % i))], 1000 + i)
              for i, k in enumerate(keys)]
    place = t.load(saltmill, folder)
    return subprocess.run([saltmill, "init", place, *more], cwd=folder, capture_output=True, text=True, timeout=60)


# seeds of the half `develop`, whose tables are binary, text, wide, OpenTSDB, Phoenix and OrderedBytes
SEEDS = [31, 154, 120, 145, 283, 386, 345]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_table(saltmill, seed):
    assert seed in tables.halves()["develop"]
    verdict, why, table = tables.judge(str(saltmill), seed)
    assert verdict == "right", (table.parts, why)


def test_the_judge_finds_faults(saltmill, tmp_path):
    """A judge that accepts everything would be worthless: a wrong part and a wrong value are faults."""
    t = next(t for t in map(tables.Table, tables.halves()["develop"]) if t.kind == "binary" and not t.parts[0][-1].isdigit())
    place = t.load(str(saltmill), tmp_path)
    subprocess.run([saltmill, "init", place, "-o", "job.yaml"], cwd=tmp_path, capture_output=True)
    rows = tables.decoded_rows(str(saltmill), tmp_path, "job.yaml", place)
    assert tables.fault_of(t, rows, "") is None
    part = list(rows[0]["key"])[-1]
    for planted in ({**rows[0], "key": {**rows[0]["key"], part: 77.5}}, {**rows[0], "cells": {}},
                    {**rows[0], "key": {**rows[0]["key"], "more": 1}}):
        assert tables.fault_of(t, [planted] + rows[1:], "") is not None
    assert tables.fault_of(t, rows[1:], "") is not None


def test_golden_salts(saltmill, tmp_path):
    """The salts are those of ../spec: Java's Arrays.hashCode (user0001 in 20 buckets is 7) and murmur3."""
    assert abs(tables.java31(b"user0001", 1)) % 20 == 7 and tables.murmur3(b"hello") == 0x248BFA47
    names = [b"user%04d" % (i * 7) for i in range(300)]
    r = made(saltmill, tmp_path, [bytes([abs(tables.java31(n, 1)) % 20]) + n for n in names])
    assert r.returncode == 0 and "{salt: 20, hash: phoenix}" in r.stdout


def test_unknown_bytes_are_bytes(saltmill, tmp_path):
    r = made(saltmill, tmp_path, [uuid.uuid5(uuid.NAMESPACE_DNS, str(i)).bytes[:5] + b"%d" % i for i in range(200)])
    assert r.returncode == 3 and "CHECK" in r.stdout and "as: bytes" in r.stdout
    assert "is unknown" in r.stderr


def test_one_row(saltmill, tmp_path):
    r = made(saltmill, tmp_path, [b"\x00\x01only"])
    assert r.returncode == 3 and "only 1 rows were sampled" in r.stderr


def test_values_cannot_write_lines_of_the_job(saltmill, tmp_path):
    r = made(saltmill, tmp_path, [b"a\n  b: [%03d" % i for i in range(50)], [b"x\ny: {" for _ in range(50)])
    assert r.returncode in (0, 3)
    (tmp_path / "job.yaml").write_text(r.stdout)
    done = subprocess.run([saltmill, "lint", "job.yaml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr


def test_arguments(saltmill, tmp_path):
    def fails(*args):
        r = subprocess.run([saltmill, "init", *args], cwd=tmp_path, capture_output=True, text=True)
        assert r.returncode == 2, r.stderr
        return r.stderr
    assert "found no FILE" in fails()
    assert "--hbase without --table" in fails("--hbase", "127.0.0.1:1")
    assert "only one of them" in fails("x.csv", "--table-dir", str(tmp_path))
    assert "--key with a table" in fails("--table-dir", str(tmp_path), "--key", "a")
