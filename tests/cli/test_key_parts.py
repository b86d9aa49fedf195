"""Tests each part of a key with golden bytes, which we computed by hand or with Python's own arithmetic."""

import json
import random
import subprocess
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from oracle import murmur3_32, unescape

JOB = """\
source: {csv: {files: [in.csv]}}
fields:
  a: %s
tables:
  - name: t
    rowkey: [%s]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: q, value: {const: x}}]
    regions: {split: none}
"""
MAX = 2**63 - 1
SHANGHAI = '{type: time, format: "%Y%m%d", zone: Asia/Shanghai}'


def key(saltmill, folder, *args):
    return subprocess.run([saltmill, "key", *args], cwd=folder, capture_output=True, text=True, timeout=60)


def field(as_, more=""):
    return f"{{field: a, as: {as_}{more}}}"


# the field, the part, its text, the bytes, and the decoded text (None for the same text). 2012-09-02 00:00 in Shanghai
# is 1346515200 s
GOLDENS = [
    (SHANGHAI, field("reversed_seconds"), "20120902", f"{MAX - 1346515200:016x}", "2012-09-01T16:00:00.000Z"),
    (SHANGHAI, field("reversed_micros"), "20120902", f"{MAX - 1346515200 * 10**6:016x}", "2012-09-01T16:00:00.000Z"),
    ("{type: time, unit: us}", field("reversed_micros"), "1346515200000123", f"{MAX - 1346515200000123:016x}",
     "2012-09-01T16:00:00.000123Z"),
    ("{type: time, unit: us}", field("reversed_seconds"), "1346515200999999", "7fffffffafbdceff", "2012-09-01T16:00:00.000Z"),
    ("{type: time, unit: ns}", field("reversed_micros"), "1346515200000123999", f"{MAX - 1346515200000123:016x}",
     "2012-09-01T16:00:00.000123Z"),
    ("{type: time, unit: s}", field("reversed_micros"), "5.0005", f"{MAX - 5000500:016x}", "1970-01-01T00:00:05.000500Z"),
    ("{type: time, unit: s}", field("reversed_micros"), "0", "7fffffffffffffff", "1970-01-01T00:00:00.000Z"),
    ('{type: time, format: "%Y-%m-%d %H:%M:%S.%f"}', field("reversed_micros"), "2012-09-01 16:00:00.000123",
     f"{MAX - 1346515200000123:016x}", "2012-09-01T16:00:00.000123Z"),
    # the ascending bytes XOR FF
    ("u32", field("descending_u8"), "200", "37", None),
    ("u32", field("descending_u16"), "40000", "63bf", None),
    ("u32", field("descending_u32"), "1", "fffffffe", None),
    ("u64", field("descending_u64"), "18446744073709551615", "00" * 8, None),
    ("i64", field("descending_i32"), "-1", "80000000", None),
    ("i64", field("descending_i64"), "1", "7ffffffffffffffe", None),
    ("{type: decimal, scale: 2}", field("descending_i64"), "12.25", f"{(2**64 - 1) ^ (1225 + 2**63):016x}", None),
    ("text", field("descending_text", ", width: 4"), "ab", "9e9ddfdf", None),
    ("text", field("descending_text"), "ab", "9e9dff", None),
    ("text", field("descending_text"), "", "ff", None),
    ("text", field("descending_text"), "浙", "19 4a 66 ff".replace(" ", ""), None),  # E6 B5 99
    ("u32", field("descending_text", ", width: 3"), "7", "cfcfc8", None),
    # RFC 4122's own example; RFC 5952's forms
    ("uuid", field("uuid"), "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae7dec11d0a76500a0c91e6bf6", None),
    ("uuid", "{field: a}", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "f81d4fae7dec11d0a76500a0c91e6bf6",
     "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
    ("ip", field("ipv4"), "192.0.2.7", "c0000207", None),
    ("ip", field("ipv4"), "::ffff:192.0.2.7", "c0000207", "192.0.2.7"),
    ("ip", field("ipv6"), "192.0.2.7", "00" * 10 + "ffffc0000207", None),
    ("ip", "{field: a}", "2001:DB8:0:0:1:0:0:1", "20010db8000000000001000000000001", "2001:db8::1:0:0:1"),
    ("ip", field("ipv6"), "::", "00" * 16, None),
    ("u32", field("u8"), "200", "c8", None),
    ("u32", field("u16"), "40000", "9c40", None),
]


@pytest.mark.parametrize("type_,part,text,hex_,back", GOLDENS)
def test_golden(tmp_path, saltmill, type_, part, text, hex_, back):
    (tmp_path / "job.yaml").write_text(JOB % (type_, part))
    r = key(saltmill, tmp_path, "encode", "job.yaml", f"a={text}", "--to", "hex")
    assert (r.stdout, r.stderr) == (hex_ + "\n", "")
    d = json.loads(key(saltmill, tmp_path, "decode", "job.yaml", hex_, "--from", "hex", "--json").stdout)
    assert str(d["key"]["a"]) == (text if back is None else back)
    row = d["row"]
    assert key(saltmill, tmp_path, "decode", "job.yaml", row).stdout == f"a {text if back is None else back}\n"
    # a condition on the part's own value includes the key, and a condition on another value does not
    r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", f"a = '{text}'", "--json").stdout)
    (only,) = r["ranges"]
    assert only["start"] == row
    r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", f"a != '{text}'", "--json").stdout)
    assert "seconds" in part or all(x["start"] != row for x in r["ranges"])


@pytest.mark.parametrize("type_,part,text,words", [
    ("{type: time, unit: s}", field("reversed_seconds"), "-1", "expected no time before 1970 (as reversed_seconds)"),
    ("{type: time, unit: s}", field("reversed_micros"), "9223372036855", "fit 63 bits (as reversed_micros)"),
    ("u32", field("descending_u8"), "256", "expected 0..255 (as descending_u8)"),
    ("i64", field("descending_i32"), "2147483648", "expected -2147483648..2147483647 (as descending_i32)"),
    ("text", field("descending_text", ", width: 2"), "abc", "expected at most 2"),
    ("bytes", field("descending_text", ", width: 2, pad: 'x'"), "ax", "ends with the pad byte 78"),
    ("uuid", field("uuid"), "f81d4fae7dec11d0a76500a0c91e6bf6", "expected a UUID, such as 123e4567-"),
    ("uuid", field("uuid"), "f81d4fae-7dec-11d0-a765-00a0c91e6bfg", "expected a UUID, such as 123e4567-"),
    ("ip", field("ipv4"), "2001:db8::1", "expected an IPv4 address (as ipv4)"),
    ("ip", field("ipv6"), "192.0.2.256", "expected an IPv4 or IPv6 address"),
    ("ip", field("ipv6"), "", "expected an IPv4 or IPv6 address"),
    ("u32", field("u8"), "256", "expected 0..255 (as u8)"),
])
def test_refused(tmp_path, saltmill, type_, part, text, words):
    (tmp_path / "job.yaml").write_text(JOB % (type_, part))
    r = key(saltmill, tmp_path, "encode", "job.yaml", f"a={text}")
    assert (r.returncode, r.stdout) == (2, "")
    assert words in r.stderr


@pytest.mark.parametrize("type_,part,keys", [
    (SHANGHAI, field("reversed_seconds"), ["ff" * 8, f"{MAX - MAX // 1000 - 1:016x}"]),
    ("{type: time, unit: us}", field("reversed_micros"), ["ff" * 8]),
    ("u32", field("descending_u64"), ["0" * 16]),  # more than 32 bits
    ("uuid", field("uuid"), ["00" * 15, "00" * 17]),
    ("ip", field("ipv4"), ["00" * 16, "00" * 3]),
    ("text", field("descending_text"), ["9e9d", "00ff"]),  # no terminator; not UTF-8
])
def test_no_key(tmp_path, saltmill, type_, part, keys):
    (tmp_path / "job.yaml").write_text(JOB % (type_, part))
    for hex_ in keys:
        r = key(saltmill, tmp_path, "decode", "job.yaml", hex_, "--from", "hex")
        assert (r.returncode, r.stdout) == (1, ""), hex_


@pytest.mark.parametrize("type_,part,texts", [
    ("text", field("descending_text"), ["", "a", "ab", "ab ", "abc", "b", "~", "ä", "浙", "浙江"]),
    ("text", field("descending_text", ", width: 9"), ["", "a", "ab", "abc", "b", "~", "ä", "浙", "浙江"]),
    ("i64", field("descending_i64"), [str(-2**63), "-2", "-1", "0", "1", "255", "256", str(MAX)]),
    ("{type: time, unit: us}", field("reversed_micros"), ["0", "1", "999", "1000", "1346515200000123", "1346515200000124"]),
    ("{type: time, unit: us}", field("reversed_seconds"), ["0", "999999", "1000000", "1346515200000123", "1346515201000000"]),
    ("ip", field("ipv6"), ["::", "::1", "0.0.0.0", "10.0.0.9", "10.0.0.10", "255.255.255.255", "::1:0:0:0", "2001:db8::1"]),
    ("ip", field("ipv4"), ["0.0.0.0", "10.0.0.9", "10.0.0.10", "255.255.255.255"]),
])
def test_intervals(tmp_path, saltmill, type_, part, texts):
    """The texts ascend. The ranges of each comparison contain the keys that match, and others only if it reports so."""
    (tmp_path / "job.yaml").write_text(JOB % (type_, part))
    rows = [bytes.fromhex(key(saltmill, tmp_path, "encode", "job.yaml", f"a={t}", "--to", "hex").stdout) for t in texts]
    falling = "descending" in part or "reversed" in part
    assert [*rows] == sorted(rows, reverse=falling)
    for i, bound in list(enumerate(texts))[1::3]:
        for op, means in [("<", lambda k: k < i), ("<=", lambda k: k <= i), (">", lambda k: k > i), (">=", lambda k: k >= i)]:
            r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", f"a {op} '{bound}'", "--json").stdout)
            ends = [[unescape(x[end]) if x[end] else b"" for end in ("start", "stop")] for x in r["ranges"]]
            for k, row in enumerate(rows):
                found = any(a <= row and (not b or row < b) for a, b in ends)
                assert found or not means(k), (op, bound, texts[k])
                assert means(k) or not found or not r["exact"], (op, bound, texts[k])


# --- salts without a field, and entities of several buckets ---

SALTED = """\
source: {csv: {files: [in.csv]}}
fields: {user: u32, n: u32}
tables:
  - name: t
    rowkey: [%s, {field: user, as: u32}, {field: n, as: u32}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: q, value: n}]
    regions: {split: none}
"""


def ranges(saltmill, folder, where):
    r = json.loads(key(saltmill, folder, "ranges", "job.yaml", "--where", where, "--json").stdout)
    return [unescape(x["start"]) for x in r["ranges"]], r["exact"]


@pytest.mark.parametrize("n,m", [(16, 4), (16, 16), (3, 2), (300, 7)])
def test_fanout(tmp_path, saltmill, n, m):
    (tmp_path / "job.yaml").write_text(SALTED % f"{{salt: {n}, of: [user], fanout: {m}}}")
    width = 2 if n > 256 else 1
    assert murmur3_32(b"", 1) == 0x514E28B7  # as published
    for user in (0, 7, 2**32 - 1):
        first = murmur3_32(user.to_bytes(4, "big")) % n
        buckets = {(first + i) % n for i in range(m)}
        found, exact = ranges(saltmill, tmp_path, f"user = {user}")
        assert exact and {int.from_bytes(row[:width], "big") for row in found} == buckets and len(found) == m
        seen = set()
        for k in range(5):
            behind = user.to_bytes(4, "big") + k.to_bytes(4, "big")
            row = ((first + murmur3_32(behind, 1) % m) % n).to_bytes(width, "big") + behind
            seen.add(row[:width])
            r = key(saltmill, tmp_path, "encode", "job.yaml", f"user={user}", f"n={k}", "--to", "hex")
            assert r.stdout == row.hex() + "\n"
            assert ranges(saltmill, tmp_path, f"user = {user} and n = {k}") == ([row], True)
        assert len(seen) > 1 or m == 2
        wrong = ((int.from_bytes(row[:width], "big") + 1) % n).to_bytes(width, "big") + behind
        r = key(saltmill, tmp_path, "decode", "job.yaml", wrong.hex(), "--from", "hex")
        assert r.returncode == 1 and "by the parts it is over" in r.stderr


def test_drawn_keys(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(SALTED % "{salt: 16, draw: random}")
    r = key(saltmill, tmp_path, "encode", "job.yaml", "user=1", "n=2")
    assert r.returncode == 2 and "found a key without its salt, expected the salt, because each event draws it; the row is in any of 16" in r.stderr
    behind = bytes.fromhex("0000000100000002")
    assert ranges(saltmill, tmp_path, "user = 1 and n = 2") == ([bytes([b]) + behind for b in range(16)], True)
    r = key(saltmill, tmp_path, "decode", "job.yaml", "0f" + behind.hex(), "--from", "hex")
    assert r.stdout == "salt 15, user 1, n 2\n"
    r = key(saltmill, tmp_path, "decode", "job.yaml", "10" + behind.hex(), "--from", "hex")
    assert r.returncode == 1 and "found 16, expected 0 to 15" in r.stderr


@pytest.mark.parametrize("draw", ["random", "round_robin"])
@pytest.mark.parametrize("form", ["plain", "quoted", "json"])
@pytest.mark.parametrize("rows", [1, 2, 5000])
def test_drawn_loads(tmp_path, saltmill, draw, form, rows):
    """Salts by bytes or by line are the same for any number of threads, on the fast path and on the slow path."""
    lines = [f"{i % 7},{i}" for i in range(rows)]
    if form == "quoted":
        lines = [f'"{i % 7}",{i}' if i % 3 == 0 else line for i, line in enumerate(lines)]
    if form == "json":
        lines = [json.dumps({"user": i % 7, "n": i}) for i in range(rows)]
    (tmp_path / "in.csv").write_text("".join(f"{x}\n" for x in (["user,n"] if form != "json" else []) + lines))
    job = SALTED % f"{{salt: 300, draw: {draw}, seed: 11}}"
    (tmp_path / "job.yaml").write_text(job.replace("csv:", "json:") if form == "json" else job)
    first = 1 if form == "json" else 2
    salts = [murmur3_32(x.encode(), 11) % 300 if draw == "random" else (i + first + 11) % 300 for i, x in enumerate(lines)]
    expected = {s.to_bytes(2, "big") + (i % 7).to_bytes(4, "big") + i.to_bytes(4, "big") for i, s in enumerate(salts)}
    for threads in "12":
        r = subprocess.run([saltmill, "load", "job.yaml", "-o", threads, "--quiet", "--threads", threads], cwd=tmp_path,
                           capture_output=True, text=True)
        assert (r.returncode, r.stderr) == (0, ""), r.stderr
        out = subprocess.run([saltmill, "scan", "job.yaml", threads, "--format", "jsonl"], cwd=tmp_path, capture_output=True)
        assert {unescape(json.loads(x)["row"]) for x in out.stdout.splitlines()} == expected


# --- codes for names ---

COUNTRIES = "{DE: 1, AT: 2, 'x,y': 300, Österreich: 4294967295}"


@pytest.mark.parametrize("codes", [COUNTRIES, "codes.csv"])
def test_codes(tmp_path, saltmill, codes):
    (tmp_path / "codes.csv").write_text("DE,1\r\n\nAT,2\nx,y,300\nÖsterreich,4294967295")
    (tmp_path / "job.yaml").write_text(JOB % (f"{{codes: {codes}}}", "{field: a}"))
    for name, code in [("DE", 1), ("AT", 2), ("x,y", 300), ("Österreich", 2**32 - 1)]:
        r = key(saltmill, tmp_path, "encode", "job.yaml", f"a={name}", "--to", "hex")
        assert r.stdout == f"{code:08x}\n"
        r = key(saltmill, tmp_path, "decode", "job.yaml", f"{code:08x}", "--from", "hex", "--json")
        assert json.loads(r.stdout)["key"]["a"] == name
        assert ranges(saltmill, tmp_path, f"a = '{name}'") == ([code.to_bytes(4, "big")], True)
    for name in ("", "de", "DE ", "D", "x"):
        r = key(saltmill, tmp_path, "encode", "job.yaml", f"a={name}")
        assert r.returncode == 2 and f"found `{name}`, expected one of the 4 names under `codes`" in r.stderr
    r = key(saltmill, tmp_path, "decode", "job.yaml", "00000003", "--from", "hex")
    assert r.returncode == 1 and "found the code 3, expected the code of a name" in r.stderr
    (tmp_path / "job.yaml").write_text(JOB % (f"{{codes: {codes}, unknown: AT}}", "{field: a, as: descending_u16}"))
    assert key(saltmill, tmp_path, "encode", "job.yaml", "a=FR", "--to", "hex").stdout == "fffd\n"
    r = key(saltmill, tmp_path, "encode", "job.yaml", "a=Österreich")
    assert "expected 0..65535 (as descending_u16)" in r.stderr


@pytest.mark.parametrize("text,words", [
    ("DE,1\nAT", "codes.csv:2: found another form, expected NAME,CODE"), ("DE,", "codes.csv:1: found another form, expected NAME,CODE"),
    ("DE,4294967296", "codes.csv:1: found another form, expected"), ("DE,-1", "codes.csv:1: found another form, expected"), ("DE,1,", "codes.csv:1: found another form, expected"),
    ("DE,1\nAT,2\nDE,3\n", "found the name `DE` twice"), ("DE,1\nAT,1\n", "found the code 1 twice"),
    ("", "found no name"), ("\n\n", "found no name"),
])
def test_bad_codes(tmp_path, saltmill, text, words):
    (tmp_path / "codes.csv").write_text(text)
    (tmp_path / "job.yaml").write_text(JOB % ("{codes: codes.csv}", "{field: a}"))
    r = key(saltmill, tmp_path, "encode", "job.yaml", "a=DE")
    assert (r.returncode, r.stdout) == (2, "")
    assert words in r.stderr and "job.yaml:3:" in r.stderr


def test_codes_belong_to_the_job(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(JOB % ("{codes: codes.csv}", "{field: a}"))
    (tmp_path / "in.csv").write_text("a\nDE\nFR\n")
    digests, rows = [], []
    for out, text in [("1", "DE,1\n"), ("2", "DE,2\n"), ("3", "DE,1\n")]:
        (tmp_path / "codes.csv").write_text(text)
        r = subprocess.run([saltmill, "load", "job.yaml", "-o", out, "--quiet", "--max-rejects", "1"], cwd=tmp_path)
        assert r.returncode == 3
        reject = json.loads((tmp_path / out / "rejects.jsonl").read_text())
        assert (reject["reason"], reject["field"]) == ("unknown_name", "a")
        digests.append(json.loads((tmp_path / out / "manifest.json").read_text())["job_digest"])
        found = subprocess.run([saltmill, "scan", "job.yaml", out, "--format", "jsonl"], cwd=tmp_path, capture_output=True)
        rows.append(json.loads(found.stdout)["row"])
    assert digests[0] == digests[2] != digests[1]
    assert rows == ["\\x00\\x00\\x00\\x01", "\\x00\\x00\\x00\\x02", rows[0]]


# --- parts of a date ---

DATES = """\
source: {csv: {files: [in.csv]}}
fields: {at: {type: time, unit: ms}, n: u32}
tables:
  - name: t
    rowkey: [%s, {field: n, as: u8}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: q, value: n}]
    regions: {split: none}
"""
PARTS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H"}
# clocks change; a skipped day (Apia, 30 Dec 2011) and a doubled day (Kwajalein, 1969, which is older than the table)
ZONES = {"UTC": [1346515200], "Europe/Berlin": [1351386000, 1332637200], "Pacific/Apia": [1325239200],
         "Australia/Lord_Howe": [1333209600, 1349537400], "America/New_York": [1352008800]}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("names", [["year"], ["year", "month"], ["year", "month", "day"], ["year", "month", "day", "hour"],
                                   ["hour"], ["month", "year"], ["year", "day"]])
def test_dates(tmp_path, saltmill, zone, names):
    """Every time that matches a comparison is in its ranges. Exact ranges contain no other time."""
    parts = ", ".join(f"{{field: at, as: {n}, zone: {zone}}}" for n in names)
    (tmp_path / "job.yaml").write_text(DATES % parts)
    rng = random.Random(zone + str(names))
    times = [0, 253402214399999]
    for change in ZONES[zone]:
        times += [1000 * (change + 1800 * k) + rng.randrange(3) - 1 for k in range(-8, 9)]
        times += [1000 * change + rng.randrange(-10**9, 10**9) for _ in range(8)]
        local = datetime.fromtimestamp(change, ZoneInfo(zone)).replace(minute=0, second=0)
        times += [int(local.replace(**r).timestamp() * 1000) for r in ({}, {"hour": 0}, {"hour": 0, "day": 1, "month": 1})]
    lines = "".join(json.dumps({"at": t, "n": 1}) + "\n" for t in times)
    r = subprocess.run([saltmill, "key", "encode", "job.yaml", "-", "--to", "hex"], cwd=tmp_path, input=lines, text=True,
                       capture_output=True)
    rows = [bytes.fromhex(x) for x in r.stdout.split()]
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    for t, row in zip(times, rows, strict=True):
        local = (epoch + timedelta(milliseconds=t)).astimezone(ZoneInfo(zone))
        assert row == "".join(f"{int(local.strftime(PARTS[n])):0{4 if n == 'year' else 2}d}" for n in names).encode() + b"\1"
    for bound in rng.sample(times, 1):
        for op, means in {"<": lambda t: t < bound, "<=": lambda t: t <= bound, ">": lambda t: t > bound,
                          ">=": lambda t: t >= bound, "=": lambda t: t == bound, "!=": lambda t: t != bound}.items():
            r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", f"at {op} {bound}", "--json").stdout)
            ends = [[unescape(x[end]) if x[end] else b"" for end in ("start", "stop")] for x in r["ranges"]]
            for t, row in zip(times, rows):
                found = any(a <= row and (not b or row < b) for a, b in ends)
                assert found or not means(t), (op, bound, t)
                assert means(t) or not found or not r["exact"], (op, bound, t)


HOURS = """
source: {csv: {files: [in.csv]}}
fields:
  at: {type: time, unit: ms}
  metric: {type: u32}
  n: {type: u32}
tables:
  - name: t
    rowkey:
      - {salt: 2, of: [metric]}
%s
      - {field: metric, as: u16}
      - {field: at, as: reversed_millis}
      - {field: n, as: u32}
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: q, value: n}]
    regions: {split: none}
"""


def hours_job(folder, zone, names=("year", "month", "day", "hour")):
    parts = "\n".join(f"      - {{field: at, as: {n}, zone: {zone}}}" for n in names)
    (folder / "job.yaml").write_text(HOURS % parts)


def test_hours_are_ranges_of_their_own(tmp_path, saltmill):
    """By hand: four hours around midnight. The bucket of metric 7 is murmur3 of 0007, modulo 2."""
    hours_job(tmp_path, "UTC")
    salt = murmur3_32(b"\0\7") % 2
    where = "metric = 7 and at >= 2026-12-31T22:30:00Z and at < 2027-01-01T01:30:00Z"
    r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where, "--json").stdout)
    least, most = (2**63 - 1 - 1000 * (1798756200 + k) for k in (10800, 0))  # the later end has the smaller number
    bounds = [(least + 1).to_bytes(8, "big"), (most + 1).to_bytes(8, "big")]
    want = [tuple(bytes([salt]) + hour + b"\0\7" + bound for bound in bounds)
            for hour in (b"2026123122", b"2026123123", b"2027010100", b"2027010101")]
    assert r["exact"] and [(unescape(x["start"]), unescape(x["stop"])) for x in r["ranges"]] == want
    without = where.partition("and ")[2]  # no part after the hours can be limited, so a bucket of the salt has one range
    assert len(json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", without, "--json").stdout)["ranges"]) == 2
    long = "metric = 7 and at >= 2024-01-01T00:00:00Z and at < 2026-01-01T00:00:00Z"  # 17,544 hours
    r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", long, "--json").stdout)
    assert len(r["ranges"]) == 1 and not r["exact"] and "spans more than 10,000" in r["advice"]
    year = "metric = 7 and at >= 2025-01-01T00:00:00Z and at < 2026-01-01T00:00:00Z"
    r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", year, "--json").stdout)
    assert len(r["ranges"]) == 8760 and r["exact"]
    encoded = key(saltmill, tmp_path, "encode", "job.yaml", "metric=7", "at=1798756200000", "n=1").stdout.strip()
    assert unescape(encoded) == bytes([salt]) + b"2026123122\0\7" + most.to_bytes(8, "big") + b"\0\0\0\1"
    assert "at.hour 22, metric 7, at 2026-12-31T22:30:00.000Z, n 1" in key(saltmill, tmp_path, "decode", "job.yaml", encoded).stdout


@pytest.mark.parametrize("zone, names", [("UTC", ("year", "month", "day", "hour")), ("Europe/Berlin", ("year", "month", "day", "hour")),
                                         ("Australia/Lord_Howe", ("year", "month", "day")), ("UTC", ("year", "month"))])
def test_random_questions_of_buckets(tmp_path, saltmill, zone, names):
    """`scan` finds the events that a comparison in Python finds, also when clocks change."""
    draw = random.Random(zone + names[-1])
    hours_job(tmp_path, zone, names)
    change = 1000 * {"UTC": 1798761600, "Europe/Berlin": 1792890000, "Australia/Lord_Howe": 1775314800}[zone]  # Berlin: 25 Oct 2026
    length = {"hour": 8, "day": 24 * 8, "month": 24 * 90}[names[-1]] * 3600 * 1000
    events = [(change + draw.randrange(-length, length), draw.randrange(4), n) for n in range(1500)]
    (tmp_path / "in.csv").write_text("at,metric,n\n" + "".join(f"{t},{m},{n}\n" for t, m, n in events))
    assert subprocess.run([saltmill, "load", "job.yaml", "-o", "out", "--quiet"], cwd=tmp_path).returncode == 0
    for _ in range(4):
        lo = change + draw.randrange(-length, length)
        hi = lo + draw.randrange(1, length)
        if draw.random() < 0.3:
            lo, hi = lo - lo % 3600000, hi - hi % 3600000
        metrics = draw.sample(range(4), draw.choice([0, 1, 2]))
        where = f"at >= {lo} and at < {hi}" + (f" and metric in ({', '.join(map(str, metrics))})" if metrics else "")
        want = sorted(n for t, m, n in events if lo <= t < hi and (not metrics or m in metrics))
        done = subprocess.run([saltmill, "scan", "job.yaml", "out", "--where", where, "--decode", "--format", "jsonl"], cwd=tmp_path,
                              capture_output=True, text=True)
        assert sorted(json.loads(line)["key"]["n"] for line in done.stdout.splitlines()) == want, (where, done.stderr)


def test_a_month(tmp_path, saltmill):
    """`key ranges` gives an exact range for days in the key's zone; `key decode` prints the day."""
    (tmp_path / "job.yaml").write_text(DATES.replace("unit: ms", 'format: "%%Y%%m%%d", zone: Asia/Shanghai') %
                                       ", ".join(f"{{field: at, as: {n}}}" for n in ("year", "month", "day")))
    r = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", "at >= 20120901 and at < 20121001",
                       "--json").stdout)
    assert r == {"exact": True, "ranges": [{"start": "20120901", "stop": "20120931"}], "filter": None, "advice": None}
    r = key(saltmill, tmp_path, "encode", "job.yaml", "at=20120902", "n=7").stdout
    assert r == "20120902\\x07\n"
    assert key(saltmill, tmp_path, "decode", "job.yaml", r.strip()).stdout == "at.year 2012, at.month 9, at.day 2, n 7\n"
    d = json.loads(key(saltmill, tmp_path, "decode", "job.yaml", r.strip(), "--json").stdout)
    assert d["key"] == {"at.year": 2012, "at.month": 9, "at.day": 2, "n": 7}
    for bad in ("20121302\\x07", "2012090a\\x07", "20120900\\x07"):
        r = key(saltmill, tmp_path, "decode", "job.yaml", bad)
        assert r.returncode == 1 and "expected the digits of a part of a date" in r.stderr
    (tmp_path / "in.csv").write_text("at,n\n" + "".join(f"201209{d:02d},{d}\n" for d in range(1, 31)) + "20121001,31\n")
    subprocess.run([saltmill, "load", "job.yaml", "-o", "out", "--quiet"], cwd=tmp_path, check=True)
    out = subprocess.run([saltmill, "scan", "job.yaml", "out", "--where", "n < 5", "--decode", "--format", "jsonl"],
                         cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert [json.loads(x)["key"] for x in out.splitlines()] == [{"at.year": 2012, "at.month": 9, "at.day": d, "n": d}
                                                              for d in range(1, 5)]
