"""`init` for a table: HFiles whose row keys and values sets/tables.py builds. hbase/test_init_table.py uses a real HBase."""

import hashlib
import pathlib
import random
import struct
import subprocess
import sys
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sets"))
import systems  # noqa: E402  (needs the path above)
import tables  # noqa: E402

from tables import Piece  # noqa: E402


def made(saltmill, folder, keys, values=None, *more):
    """Makes a table of these keys, and returns what init prints."""
    folder.mkdir(exist_ok=True)
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
    assert verdict.startswith("right"), (table.parts, why)


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


def job_of(r, *lines):
    assert r.returncode == 0, r.stderr
    for line in lines:
        assert line in r.stdout, r.stdout


def test_golden_salts_without_a_separator(saltmill, tmp_path):
    """A salt of digits or hex digits directly before digits. String.hashCode("00000007") mod 8 is 7: 48 * 31^7 + ... + 55."""
    def string(v):
        return sum(ord(c) * 31 ** (len(v) - 1 - i) for i, c in enumerate(v))
    assert string("hello") == 99162322
    ids = [f"{i * 7:08}" for i in range(300)]
    hashes = [string(v) & 0xFFFFFFFF for v in ids]
    salts = [abs(h - (h >> 31 << 32)) % 8 for h in hashes]
    job_of(made(saltmill, tmp_path, [f"{s:02}{v}-x".encode() for s, v in zip(salts, ids)]),
           "as: text, width: 2}   # salt: the absolute value of String.hashCode modulo of part 2, modulo 8",
           "as: text, width: 8}   # digits of equal width")
    job_of(made(saltmill, tmp_path / "md5", [hashlib.md5(v.encode()).hexdigest()[:4].encode() + v.encode() for v in ids]),
           "as: text, width: 4}   # first hex digits of the MD5 digest of the rest of the key")


def test_a_salt_of_few_inputs_is_no_proof(saltmill, tmp_path):
    """Two dates have 16 bits in the first digit of their MD5 digests. Only all four digits prove the function."""
    hashes = {day: hashlib.md5(day).hexdigest()[:4].encode() for day in (b"20220710", b"20220711")}
    job_of(made(saltmill, tmp_path, [h + b"-" + day + b"#fan%d" % i for i in range(100) for day, h in hashes.items()]),
           "width: 4}   # first hex digits of the MD5 digest of part 3")


def test_digits_that_may_be_two_parts(saltmill, tmp_path):
    """No function gives these salts, so only a doubt is right. One number of eight digits leaves none."""
    r = random.Random(5)
    numbers = [r.randrange(10000000, 14000000) for _ in range(400)]
    glued = made(saltmill, tmp_path, [f"{r.randrange(8):02}{n:08}".encode() for n in numbers])
    assert glued.returncode == 3
    assert "may be two parts without a byte between them: 2 and 8 characters" in glued.stderr
    assert "CHECK: digits of equal width; may be two parts" in glued.stdout
    codes = [bytes(r.choices(b"ABCDEFGHJKLMNPRST", k=3)) for _ in range(12)]
    pairs = made(saltmill, tmp_path / "codes", [r.choice(codes) + r.choice(codes) + b"_%d" % i for i in range(300)])
    assert pairs.returncode == 3 and "may be two parts without a byte between them: 3 and 3 characters" in pairs.stderr
    # the sample has runs of adjacent rows, so it has each first code with a few of the second codes only
    first, second = [bytes(r.choices(b"ABCDEFGHJKLMNPRST", k=4)) for _ in range(8)], [bytes(r.choices(b"ABCDEFGHJKLMNPRST", k=2)) for _ in range(30)]
    runs = made(saltmill, tmp_path / "runs", [r.choice(first) + r.choice(second) + b"_%d" % i for i in range(800)])
    assert runs.returncode == 3 and "may be two parts without a byte between them: 4 and 2 characters" in runs.stderr
    whole = made(saltmill, tmp_path / "whole", [codes[i % 12] + codes[i % 12] + b"_%d" % i for i in range(300)])
    assert whole.returncode == 0, whole.stderr
    one = made(saltmill, tmp_path / "one", [f"{n:08}".encode() for n in numbers])
    assert one.returncode == 0, one.stderr


def test_numbers_that_look_like_times(saltmill, tmp_path):
    """Phone numbers of 11 digits begin with the seconds of some time. 0x80000078 is Phoenix's 120, or a second in 2038."""
    r = random.Random(6)
    phones = [f"1{r.randrange(3, 9)}{r.randrange(10 ** 9):09}_".encode() + b"ABC"[i % 3:i % 3 + 1] for i in range(300)]
    job_of(made(saltmill, tmp_path, phones), "as: text, terminator: '_'}   # digits of equal width")
    whole = [struct.pack(">I", 0x80000000 + r.randrange(500)) for _ in phones]
    found = made(saltmill, tmp_path / "values", phones, whole)
    assert found.returncode == 3 and "4 bytes with a flipped sign bit, as of Phoenix's INTEGER" in found.stdout


@pytest.mark.parametrize("system", ["telecom_calls", "kylin", "geomesa_z3"])
def test_a_known_system(saltmill, system):
    assert system in systems.halves()["develop"]
    verdict, why = systems.judge(str(saltmill), system)
    assert verdict.startswith("right"), why


def with_qualifiers(saltmill, folder, rows):
    """Makes a table whose row i has these qualifiers in the family `il`."""
    folder.mkdir()
    t = tables.Table.__new__(tables.Table)
    t.rows = [([Piece(b"%06d" % (7919 * i))], [("il", q.encode(), None, Piece(b"word")) for q in qs], 1000 + i) for i, qs in enumerate(rows)]
    return subprocess.run([saltmill, "init", t.load(saltmill, folder)], cwd=folder, capture_output=True, text=True, timeout=60)


def test_qualifiers_that_are_values(saltmill, tmp_path):
    """An open set of qualifiers is one field, or a doubt. The parts of its URLs are no constants of the job."""
    draw = random.Random(7)
    urls = [f"http://{draw.choice(tables.WORDS)}.org/{draw.randrange(10 ** 6)}" for _ in range(200)]
    field = "qualifier:   # many different qualifiers: a wide table\n          - {field: column_text, as: text}"
    many = with_qualifiers(saltmill, tmp_path / "many", [draw.sample(urls, 2) for _ in range(100)])
    assert many.returncode == 0 and field in many.stdout, many
    few = with_qualifiers(saltmill, tmp_path / "few", [[draw.choice(urls[:9])] if i % 9 == 0 else ["http://a/"] for i in range(100)])
    assert few.returncode == 0 and field in few.stdout, few
    fixed = with_qualifiers(saltmill, tmp_path / "fixed", [urls[:5]] * 100)
    assert fixed.returncode == 3 and "the qualifiers of family il look like values, such as URLs or addresses; if other" in fixed.stderr
    assert "# CHECK: these qualifiers look like values" in fixed.stdout and "qualifier: 'http" in fixed.stdout
    tags = [["name"] + [t for t in tables.WORDS[:12] if draw.random() < 0.02] for _ in range(200)]
    rare = with_qualifiers(saltmill, tmp_path / "rare", [t[1:] or t for t in tags])
    assert rare.returncode == 0 or "qualifiers of family il" in rare.stderr
    names = with_qualifiers(saltmill, tmp_path / "names", [tables.WORDS[:12]] * 100)
    assert names.returncode == 0 and "CHECK: these" not in names.stdout


def test_keys_that_are_paths(saltmill, tmp_path):
    """All sampled keys begin with com. and http, as those of a small crawl, so both belong to one text."""
    draw = random.Random(8)
    keys = [f"com.{draw.choice(tables.WORDS)}.www:http{draw.choice(['', 's'])}/{draw.choice(tables.WORDS)}/{i}.html".encode() for i in range(200)]
    r = made(saltmill, tmp_path, keys)
    assert r.returncode == 0 and "rowkey:\n      - {field: key_text, as: text}   # text" in r.stdout


def test_the_judge_of_systems_finds_faults():
    """The judge once accepted every row key of 19 of the 20 systems."""
    t = systems.System("telecom_calls")
    key = t.rows[0][0]
    assert t.key_fault(key, {}) and t.key_fault(key, {"a": "wrong"})


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


def test_golden_texts_that_begin_alike(saltmill, tmp_path):
    """A constant without a separator is a part of the text after it, and a constant word before a separator is a field."""
    draw = random.Random(9)
    users = [f"u{draw.randrange(10 ** 4):08}" for _ in range(200)]
    keys = [f"{hashlib.md5(u.encode()).hexdigest()}|{u}|2021-02-{draw.randrange(1, 29):02}".encode() for u in users]
    r = made(saltmill, tmp_path / "user", keys)
    assert "{field: key_text, as: text, width: 9}" in r.stdout and "{hex: '75'}" not in r.stdout
    assert "key_hash: {type: text}   # first hex digits of the MD5 digest of part 2" in r.stdout
    r = made(saltmill, tmp_path / "cluster", [f"prod!{tables.WORDS[i % 30]}{i}!x".encode() for i in range(200)])
    assert "- {field: key_text, as: text, terminator: '!'}   # a word that is the same" in r.stdout


def test_golden_padding_of_zeros(saltmill, tmp_path):
    """Pinpoint's rows begin with a name in 24 bytes, padded with 00, before Long.MAX_VALUE - time."""
    keys = [f"agent{'x' * (i % 9)}{i}".encode().ljust(24, b"\0") + struct.pack(">Q", tables.LONG - 1612345678901 - i * 999) for i in range(200)]
    r = made(saltmill, tmp_path, keys)
    assert "- {field: key_text, as: text, width: 24, pad: '\\x00'}" in r.stdout and "as: reversed_millis}" in r.stdout


def test_golden_numbers_with_a_partition(saltmill, tmp_path):
    """JanusGraph's vertex: a partition in the first 5 bits, and 3 bits of the kind at the end."""
    draw = random.Random(10)
    keys = [struct.pack(">Q", draw.randrange(32) << 59 | draw.randrange(60000) << 3) for _ in range(300)]
    r = made(saltmill, tmp_path, keys)
    assert "rowkey:\n      - {field: key_id, as: u64}   # CHECK: " in r.stdout and "first byte" in r.stdout
