"""Tests values that earlier versions stored wrongly, such as padded and reversed values, far times, and certain
floats."""

import json
import random
import struct
import subprocess
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

import hfile_py
from load_help import Bench
from load_oracle import nearest_f32
from oracle import unescape

JOB = """\
source: {{csv: {{files: [in.csv], header: false, columns: [v, n]}}}}
fields: {{v: {field}, n: u32}}
tables:
  - name: t
    rowkey: {key}
    timestamp: 5
    families: {{f: {{}}}}
    cells: [{{family: f, qualifier: n, value: n}}]
    regions: {{split: none}}
"""


def keys(folder, saltmill, field, key, texts):
    """Returns the row key of each text, or None for a rejected text."""
    bench = Bench(folder, saltmill, JOB.format(field=field, key=key))
    bench.input("".join(f'"{text}",{n}\n' for n, text in enumerate(texts)).encode())
    r = bench.run("--max-rejects", "100%")
    assert r.returncode in (0, 3), r.stderr
    found = {int(c.value): c.row for p in bench.out.glob("**/hfiles/*/*") for c in hfile_py.read(p)}
    why = {int(r["raw"].rsplit(",", 1)[1]): r["reason"] for r in bench.rejects()}
    assert found.keys() | why.keys() == set(range(len(texts))), "an event is missing"
    return [found.get(n) for n in range(len(texts))], [why.get(n) for n in range(len(texts))]


# --- padded and reversed ---

def test_reversed_numbers_are_padded_first(tmp_path, saltmill):
    texts = ["12", "120", "1200", "0", "000013", "999999", "1234567"]
    found, why = keys(tmp_path, saltmill, "u32", "[{field: v, as: reversed, width: 6}]", texts)
    assert found == [b"210000", b"021000", b"002100", b"000000", b"310000", b"999999", None]
    assert why[-1] == "too_wide"


@pytest.mark.parametrize("field,part,fine,bad", [
    ("text", "width: 4", {"ab": b"ab  ", " ab": b" ab ", "": b"    ", "abcd": b"abcd"}, ["ab ", "abc ", " "]),
    ("text", "width: 4, side: left", {"ab": b"  ab", "ab ": b" ab "}, [" ab", " abc"]),
    ("text", "width: 4, as: reversed", {"ab": b"  ba", " ab": b" ba "}, ["ab ", "bcd "]),
    ("text", "width: 4, pad: '0', side: left", {"7": b"0007"}, ["07", "0007"]),
    ("u32", "width: 4", {"7": b"0007", "120": b"0120"}, []),
    ("u32", "width: 4, side: right", {"12": b"1200"}, ["120", "1200"]),
    ("hex", "width: 3, pad: '\\x00'", {"ff": b"\xff\0\0", "00ff": b"\0\xff\0", "0000ff": b"\0\0\xff"}, ["ff00", "00", "ffff00"]),
    ("hex", "width: 3, pad: '\\x00', side: left", {"ff": b"\0\0\xff", "ff00": b"\0\xff\0"}, ["00", "00ff", "00ffff"]),
])
def test_no_value_ends_as_padding_does(tmp_path, saltmill, field, part, fine, bad):
    found, why = keys(tmp_path, saltmill, field, f"[{{const: k}}, {{field: v, {part}}}]", [*fine, *bad])
    assert found == [*(b"k" + k for k in fine.values()), *(None for _ in bad)]
    assert why == [None] * len(fine) + ["pad_in_value"] * len(bad)


MAC_JOB = """\
source: {csv: {files: [in.csv], header: false, columns: [mac, at, n]}}
fields: {mac: {type: hex}, at: u32, n: u32}
tables:
  - name: t
    rowkey: [{field: mac, as: bytes, width: 6}, {field: at, as: u32}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


def test_bytes_of_a_full_width(tmp_path, saltmill):
    """A MAC address may end in 00. Each command gives the bytes of the address and of no shorter one."""
    macs = ["0050569a1b00", "000000000000", "0050569a0000", "0050569affff", "ffffffffff00", "ffffffffffff", "0050569a1b2c"]
    short = ["0050569a1b", "0050569a", ""]
    bench = Bench(tmp_path, saltmill, MAC_JOB)
    bench.input("".join(f'"{m}",7,{n}\n' for n, m in enumerate([*macs, *short, macs[0] + "00"])).encode())
    assert bench.run("--max-rejects", "100%").returncode == 3
    rejects = bench.rejects()
    assert [(r["line"], r["reason"]) for r in rejects] == [(8, "too_short"), (9, "too_short"), (10, "too_short"), (11, "too_wide")]
    assert "5 bytes, expected 6 (the part's width)" in rejects[0]["detail"]
    assert r"add `pad: '\x00'`" in rejects[0]["detail"]

    def ask(*args, status=0):
        r = subprocess.run([saltmill, *args], cwd=tmp_path, capture_output=True, text=True)
        assert r.returncode == status, r.stderr
        return r.stdout if status == 0 else r.stderr

    def rows(*args):
        return sorted(unescape(json.loads(line)["row"]) for line in ask(*args, "--format", "jsonl").splitlines())
    out, row = bench.out.name, {m: bytes.fromhex(m) + struct.pack(">I", 7) for m in macs}
    assert rows("scan", "job.yaml", out) == sorted(row.values())
    for m in macs:
        text = ask("key", "encode", "job.yaml", f"mac={m}", "at=7").strip()
        assert unescape(text) == row[m]
        assert json.loads(ask("key", "decode", "job.yaml", text, "--json"))["key"]["mac"] == m
        assert rows("get", "job.yaml", out, f"mac={m}", "at=7") == [row[m]]
        assert rows("scan", "job.yaml", out, "--where", f"mac = {m!r}") == [row[m]]
    for m in short[:2]:
        assert "expected 6 (the part's width)" in ask("key", "encode", "job.yaml", f"mac={m}", "at=7", status=2)
    compare = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b, "=": lambda a, b: a == b}
    for m in [*macs, *short[:2], macs[0] + "00", macs[3] + "ff"]:
        for op, holds in compare.items():
            want = sorted(row[x] for x in macs if holds(bytes.fromhex(x), bytes.fromhex(m)))
            assert rows("scan", "job.yaml", out, "--where", f"mac {op} {m!r}") == want, (op, m)
            answer = json.loads(ask("key", "ranges", "job.yaml", "--where", f"mac {op} {m!r}", "--format", "json"))
            inside = sorted(k for k in row.values() if any(
                (not r["start"] or unescape(r["start"]) <= k) and (not r["stop"] or k < unescape(r["stop"])) for r in answer["ranges"]))
            assert inside == want and answer["exact"], (op, m, answer)


def test_a_side_without_a_pad_byte(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, MAC_JOB.replace("width: 6", "width: 6, side: left"))
    bench.input(b"")
    bench.refused(bench.run(), 2, "side: found with as: bytes without pad, expected `pad: '\\x00'` too")


# --- far times ---

ZONES = ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Auckland",
         "America/Santiago", "Asia/Manila", "Africa/Casablanca", "Asia/Kathmandu"]


@pytest.mark.parametrize("name", ZONES)
def test_times_before_and_behind_the_table(tmp_path, saltmill, name):
    zone, rng = ZoneInfo(name), random.Random(name)
    times = [datetime(rng.choice([1, 1000, 1830, 1860, 1880, 1895, 1905, 2090, 2150, 2201, 2300, 2499, 2500, 2501, 4711,
                                  9998]), 1, 1) + timedelta(seconds=rng.randrange(365 * 86400)) for _ in range(600)]
    times += [datetime(9999, 12, 31), datetime(2500, 1, 1), datetime(2499, 12, 31, 23, 59, 59)]
    expected = []
    for t in times:
        utc = t.replace(tzinfo=zone).astimezone(timezone.utc)
        gap = utc.astimezone(zone).replace(tzinfo=None) != t
        expected.append(None if gap else (utc - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1))
    texts = [f"{t:%m-%d %H:%M:%S} {t.year:04d}" for t in times]
    job = JOB.format(field=f'{{type: time, format: "%m-%d %H:%M:%S %Y", zone: {name}}}', key="[{field: n}]")
    bench = Bench(tmp_path, saltmill, job.replace("qualifier: n, value: n", "qualifier: n, value: {field: v, as: millis}"))
    bench.input("".join(f"{text},{n}\n" for n, text in enumerate(texts)).encode())
    r = bench.run("--max-rejects", "100%")
    assert r.returncode in (0, 3), r.stderr
    found = {int.from_bytes(c.row, "big"): struct.unpack(">q", c.value)[0]
             for p in bench.out.glob("**/hfiles/*/*") for c in hfile_py.read(p)}
    wrong = [(t, found.get(n), e) for n, (t, e) in enumerate(zip(times, expected)) if found.get(n) != e]
    assert not wrong, wrong[:3]


# --- floats ---

def test_f32_is_rounded_once(tmp_path, saltmill):
    texts = ["1.00000017881393432617187499", "1.000000178813934326171875", "1.00000017881393432617187501",
             "-1.00000017881393432617187499", "340282356779733661637539395458142568447.9",
             "7.0064923216240853546186479164495806564013097093825788587853e-46", "7.0064923216240853546186479164495806564e-46",
             "0", "1e-300", "16777217", "16777219"]
    rng = random.Random(7)
    for _ in range(300):  # close to the middle of two floats
        f = rng.randrange(1 << 23, 1 << 24)
        texts.append(f"{(2 * f + 1) * 5 ** 30 * 10 ** 5 + rng.choice([-1, 0, 1])}e{rng.randrange(-60, -30)}")
        texts.append(f"{f}.{rng.choice(['5', '49999999999999999999', '50000000000000000001'])}")
    job = JOB.format(field="f64", key="[{field: n}]")
    bench = Bench(tmp_path, saltmill, job.replace("value: n}", "value: {field: v, as: f32}}"))
    bench.input("".join(f"{text},{n}\n" for n, text in enumerate(texts)).encode())
    r = bench.run()
    assert r.returncode == 0, r.stderr
    found = {int.from_bytes(c.row, "big"): c.value for p in bench.out.glob("**/hfiles/*/*") for c in hfile_py.read(p)}
    wrong = [t for n, t in enumerate(texts) if found[n] != nearest_f32(t)]
    assert not wrong


def test_integers_as_f32_are_rounded_once(tmp_path, saltmill):
    texts = [str((1 << 60) + (1 << 36) + 1), str((1 << 63) + (1 << 39) + 1), "16777217", str((1 << 64) - 1)]
    job = JOB.format(field="u64", key="[{field: n}]")
    bench = Bench(tmp_path, saltmill, job.replace("value: n}", "value: {field: v, as: f32}}"))
    bench.input("".join(f"{text},{n}\n" for n, text in enumerate(texts)).encode())
    r = bench.run()
    assert r.returncode == 0, r.stderr
    found = {int.from_bytes(c.row, "big"): c.value for p in bench.out.glob("**/hfiles/*/*") for c in hfile_py.read(p)}
    assert [found[n] for n in range(len(texts))] == [nearest_f32(t) for t in texts]
