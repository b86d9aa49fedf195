"""Compares the keys of `saltmill key` for random jobs with load_oracle.py, and tests the errors for bad keys."""

import ipaddress
import json
import os
import random
import struct
import subprocess
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from load_oracle import DATE_PARTS, INTEGERS, Oracle, Reject, Value, decode, nearest_f32
from oracle import unescape
from random_jobs import Job

FILES = """\
source: {csv: {files: [in.csv]}}
fields:
  owner: u32
  id: u32
  at: {type: time, format: "%Y%m%d", zone: Asia/Shanghai}
  name: text
tables:
  - name: t
    rowkey: [{salt: 16, of: [owner]}, {field: owner, as: u32}, {field: at, as: reversed_millis}, {field: id, as: text, width: 6}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: name}]
    regions: {split: none}
"""
SEEDS = range(*map(int, os.environ.get("SALTMILL_SEEDS", "0:40").split(":")))


def key(saltmill, folder, *args, **kw):
    return subprocess.run([saltmill, "key", *map(str, args)], cwd=folder, capture_output=True, timeout=60, **kw)


def names_of(t):
    return {n for p in t["rowkey"] for n in [p.get("field"), *p.get("of", [])] if n}


def draw_values(rng, job, t):
    """Returns those texts of a key's fields that JSON can contain, with their values."""
    values = {}
    for name in sorted(names_of(t)):
        f = job.by_name[name]
        for _ in range(50):
            text = rng.choice(f.pool)
            try:
                text.decode()
                values[name] = Value(text, decode(f, text))
                break
            except (Reject, UnicodeDecodeError):
                pass
        else:
            return None
    return values


def as_read(f, how, v):
    """Returns the expected decoded value of a field."""
    if how in ("f32", "f64"):
        real = struct.unpack(">f", nearest_f32(v.text.decode()))[0] if how == "f32" else float(v.plain)
        return real if f.type == "f64" else min(int(real), INTEGERS[f.type][1])  # a double rounds the largest value up
    if f.type == "bool":
        return bool(v.plain)
    if f.type in ("text", "bytes"):
        return v.text.decode()
    if f.type == "time":
        return (v.plain.micros if how in ("reversed_micros", "text") else v.plain.micros // 10**6 * 10**6
                if how == "reversed_seconds" else v.plain * 1000)
    if f.type == "code":
        return {code: name for name, code in f.codes.items()}[v.plain]
    if f.type == "uuid":
        return str(uuid.UUID(bytes=v.plain))
    if f.type == "ip":
        ip = ipaddress.IPv6Address(v.plain)
        return str(ip.ipv4_mapped or ip)
    return v.plain.hex() if f.type == "hex" else v.plain


def found_as(f, found):
    """Returns a time as microseconds since 1970."""
    if f.type == "time":
        return (datetime.strptime(found, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
                - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_encoded_and_decoded(tmp_path, saltmill, seed):
    rng = random.Random(seed)
    job = Job(rng)
    (tmp_path / "job.yaml").write_text(job.yaml(["in.csv"]))
    for t in job.tables:
        drawn = [v for v in (draw_values(rng, job, t) for _ in range(40)) if v]
        expected, oracle = [], Oracle(job)
        for n, values in enumerate(drawn):
            oracle.event = rng.randbytes(9), n
            try:
                row = oracle.lay_parts(t["rowkey"], values)
                expected.append(row if 1 <= len(row) <= 32767 else None)
            except Reject:
                expected.append(None)
        lines = "".join(json.dumps({n: v.text.decode() for n, v in values.items()}) + "\n" for values in drawn)
        r = key(saltmill, tmp_path, "encode", "job.yaml", "-", "--table", t["name"], "--to", "hex", input=lines.encode())
        good = [(row, v) for row, v in zip(expected, drawn) if row is not None]
        if "draw" in t["rowkey"][0]:
            assert r.stdout == b"" and (not drawn or b"each event draws it" in r.stderr or not good)
            r.stdout = "".join(row.hex() + "\n" for row, _ in good).encode()
            r.stderr = b"line\n" * (len(drawn) - len(good))
        assert r.stdout.decode().split() == [row.hex() for row, _ in good], r.stderr
        assert len(r.stderr.splitlines()) == len(drawn) - len(good)
        r = key(saltmill, tmp_path, "decode", "job.yaml", "-", "--table", t["name"], "--from", "hex", "--json", input=r.stdout)
        assert r.stderr == b""
        for line, (row, values) in zip(r.stdout.decode().splitlines(), good, strict=True):
            found = json.loads(line)
            assert unescape(found["row"]) == row
            hows = {p["field"]: p["as"] for p in t["rowkey"] if "field" in p}
            for name, how in hows.items():
                f = job.by_name[name]
                if how in DATE_PARTS:
                    continue
                assert found_as(f, found["key"][name]) == as_read(f, how, values[name]), (name, line)


def test_one_key(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(FILES)
    r = key(saltmill, tmp_path, "encode", "job.yaml", "owner=1", "at=20120902", "id=42")
    assert (r.returncode, r.stderr) == (0, b"")
    row = unescape(r.stdout.decode().strip())
    assert row[1:] == bytes.fromhex("00000001 7ffffec67d7097ff") + b"000042"
    # the same day as ISO 8601
    for at in ["at=2012-09-02", "at=2012-09-01T16:00Z", "at=2012-09-02 00:00:00.000+08:00"]:
        assert key(saltmill, tmp_path, "encode", "job.yaml", "owner=1", at, "id=42").stdout == r.stdout
    d = key(saltmill, tmp_path, "decode", "job.yaml", r.stdout.decode().strip())
    assert d.stdout.decode() == f"salt {row[0]}, owner 1, at 2012-09-01T16:00:00.000Z, id 42\n"


def test_a_salt_of_two_bytes(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(FILES.replace("salt: 16", "salt: 1000"))
    for owner in range(1, 9):
        row = key(saltmill, tmp_path, "encode", "job.yaml", f"owner={owner}", "at=20120902", "id=42", "--to", "hex").stdout.decode().strip()
        salt = int(row[:4], 16)
        assert row[4:12] == f"{owner:08x}" and salt < 1000
        d = key(saltmill, tmp_path, "decode", "job.yaml", row, "--from", "hex")
        assert d.stdout.decode().startswith(f"salt {salt}, owner {owner}, "), d
        d = key(saltmill, tmp_path, "decode", "job.yaml", f"{salt ^ 0x101:04x}{row[4:]}", "--from", "hex")
        assert f"found {salt ^ 0x101}, expected {salt} by the parts" in d.stderr.decode(), d


@pytest.mark.parametrize("args,status,words", [
    (["owner=1", "id=2"], 2, "found no value for `at`, expected `at=VALUE`, because the row key of table t contains it"),
    (["owner=1", "at=20120902", "id=x"], 2, "id: found `x`, expected a whole number"),
    (["owner=1", "at=20121302", "id=1"], 2, "at: found `20121302`, expected a"),
    (["ownr=1"], 2, "has no field `ownr`; did you mean `owner`?"),
    (["owner=1", "owner=2"], 2, "found `owner` twice"),
    (["owner"], 2, "found `owner`, expected FIELD=VALUE"),
    (["owner=1", "at=20120902", "id=1234567"], 2, "id: found `1234567`, 7 bytes, expected at most 6"),
    ([], 2, "found no FIELD=VALUE, expected at least one"),
])
def test_bad_fields(tmp_path, saltmill, args, status, words):
    (tmp_path / "job.yaml").write_text(FILES)
    r = key(saltmill, tmp_path, "encode", "job.yaml", *args)
    assert (r.returncode, r.stdout) == (status, b"")
    assert words in r.stderr.decode()


def test_bad_keys(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(FILES)
    row = key(saltmill, tmp_path, "encode", "job.yaml", "owner=1", "at=20120902", "id=42", "--to", "hex").stdout.decode().strip()
    wrong_salt = f"{(int(row[:2], 16) + 1) % 16:02x}" + row[2:]
    bad = {wrong_salt: "part 1 (the salt): found", row[:-2]: "part 4 (id): found 5 bytes before the end of the key, expected 6",
           row + "00": "found 1 bytes after the last part", row[:-2] + "78": "part 4 (id): found `42x`, expected",
           row[:10] + "ff" + row[12:]: "part 3: at: found the bytes ff", "0": "even number of hex digits", "zz": "hex digits"}
    bad[row[:-4] + "7832"] = "part 4 (id): found `x2`, expected a whole number"
    bad[row[:-2] + "78"] = "part 4 (id): found `4x`, expected a whole number"
    for text, words in bad.items():
        r = key(saltmill, tmp_path, "decode", "job.yaml", text, "--from", "hex")
        assert (r.returncode, r.stdout) == (1, b""), text
        assert words in r.stderr.decode(), r.stderr
    r = key(saltmill, tmp_path, "decode", "job.yaml", "-", "--from", "hex", input=f"{row}\n{wrong_salt}\n{row}".encode())
    assert r.returncode == 3
    assert len(r.stdout.splitlines()) == 2
    assert r.stderr.startswith(b"saltmill key: line 2: part 1 (the salt): found")
