"""Tests `split: key`, which computes split points from the parts of the row key.

HBase's own vectors give the split points of digits and hashes. For the other keys, a model in Python builds random
keys, and the regions must be as even as a binomial distribution allows.
"""

import bisect
import datetime
import hashlib
import json
import math
import random
import re
import struct
import subprocess
import uuid

import pytest

from load_oracle import murmur3_32
from test_split import VECTORS

JOB = """\
source:
  csv: {{files: [in.csv], columns: [id, at, country, uid]}}
fields:
  id: {{type: u32}}
  at: {{type: time, unit: ms}}
  uid: {{type: uuid}}
tables:
  - name: t
    rowkey: [{key}]
    timestamp: at
    families: {{{family}: {{}}, {other}: {{other_load: true}}}}
    cells:
      - {{family: {family}, qualifier: v, value: country}}
    regions: {{split: key, {regions}}}
"""


def unescape(line):
    return re.sub(rb"\\x([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), line.encode())


@pytest.fixture
def ddl(saltmill, tmp_path):
    def run(key, regions, *args, family="f", files=()):
        (tmp_path / "job.yaml").write_text(JOB.format(
            key=key, regions=regions, family=family, other="g" if family == "f" else "f"))
        for name, text in dict(files).items():
            (tmp_path / name).write_text(text)
        return subprocess.run([saltmill, "ddl", "job.yaml", *args], cwd=tmp_path, capture_output=True, text=True,
                              timeout=60, check=False)
    return run


def points(done):
    assert done.returncode == 0, done.stderr
    listed = re.search(r"SPLITS => \[(.*?)\]", " ".join(done.stdout.split()))
    return [unescape(k) for k in re.findall("'([^']*)'", listed[1])] if listed else []


def bare(keys, zero):
    """Returns split points without the zeros at their ends, because a shorter key sorts the same rows alike."""
    return [k.rstrip(zero) for k in keys]


# Saltmill rounds each point down on its own, as exact arithmetic does. HBase rounds the size of a region down, so only
# numbers of regions that divide the range give the same points.
@pytest.mark.parametrize("key,algorithm,zero", [
    ("{field: id, as: text, width: 8}", "DecimalStringSplit", b"0"),
    ("{field: id, as: reversed, width: 8}", "DecimalStringSplit", b"0"),
    ("{hash: md5, of: [id], bytes: 8}", "UniformSplit", b"\0"),
    ("{field: uid, as: uuid}", "UniformSplit", b"\0"),
    ("{field: uid, as: text}", "HexStringSplit", b"0"),
])
def test_the_points_of_hbase(ddl, key, algorithm, zero):
    seen = 0
    for name, first, last, n, text in VECTORS:
        if name != algorithm or first or last or not text or "..." in text or n not in (2, 4, 8, 10, 16):
            continue
        if n == 10 and algorithm != "DecimalStringSplit":
            continue
        want = [bytes.fromhex(k) if name == "UniformSplit" else k.encode() for k in text.split()]
        assert points(ddl(key, f"count: {n}")) == bare(want, zero), n
        seen += 1
    assert seen >= 3


def salt(data, n):
    return bytes([murmur3_32(data) % n])


def u32(n):
    return struct.pack(">I", n)


SHARES = {"DE": 40, "FR": 10.5, "AT": 29.5, "CH": 20}
NOW = int(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).timestamp() * 1000)
YEAR = 365 * 86400 * 1000


def country(r):
    return r.choices(list(SHARES), SHARES.values())[0]


# name: parts of the key, `regions:`, a random key by the definition of its parts
KEYS = {
    "salt": ("{salt: 16, of: [id]}, {field: id, as: u32}", "count: 8",
             lambda r: (lambda i: salt(u32(i), 16) + u32(i))(r.randrange(10**6))),
    "salt of two bytes": ("{salt: 16, of: [id], width: 2}, {field: id, as: u32}", "count: 4",
                          lambda r: (lambda i: b"\0" + salt(u32(i), 16) + u32(i))(r.randrange(10**6))),
    "within buckets": ("{salt: 4, of: [id]}, {field: id, as: u32}", "count: 12, spread: {id: {from: 1000, to: 8999}}",
                       lambda r: (lambda i: salt(u32(i), 4) + u32(i))(r.randrange(1000, 9000))),
    "constant and hash": ("{const: 'a|'}, {hash: md5, of: [id], bytes: 4}, {field: id, as: u32}", "count: 7",
                          lambda r: (lambda i: b"a|" + hashlib.md5(u32(i)).digest()[:4] + u32(i))(r.randrange(10**6))),
    "reversed digits": ("{field: id, as: reversed, width: 9}", "count: 13",
                        lambda r: f"{r.randrange(10**9):09}"[::-1].encode()),
    "reversed digits with bounds": ("{field: id, as: reversed, width: 7}", "count: 8, spread: {id: {from: 1, to: 1000000}}",
                                    lambda r: f"{r.randrange(1, 10**6 + 1):07}"[::-1].encode()),
    "uuid": ("{field: uid, as: uuid}", "servers: 3, per_server: 2", lambda r: uuid.UUID(int=r.getrandbits(128)).bytes),
    "newest first": ("{field: at, as: reversed_millis}", f"count: 9, spread: {{at: {{from: {NOW}, to: {NOW + YEAR}}}}}",
                     lambda r: struct.pack(">q", 2**63 - 1 - NOW - r.randrange(YEAR))),
    "digits after a text": ("{const: u-}, {field: id, as: text, width: 6}",
                            "count: 5, spread: {id: {from: 17, to: 4216}}",
                            lambda r: f"u-{r.randrange(17, 4217):06}".encode()),
    "descending": ("{field: id, as: descending_u32}", "count: 6, spread: {id: {from: 1, to: 70000}}",
                   lambda r: u32(0xFFFFFFFF - r.randrange(1, 70001))),
    "shares of a text": ("{field: country, terminator: '\\x00'}, {field: id, as: u32}",
                         "count: 11, histogram: shares.csv, spread: {id: {from: 0, to: 99999}}",
                         lambda r: country(r).encode() + b"\0" + u32(r.randrange(10**5))),
    "shares after a salt of it": ("{salt: 4, of: [country]}, {field: country, width: 3}, {field: id, as: u32}",
                                  "count: 10, histogram: shares.csv, spread: {id: {from: 0, to: 99999}}",
                                  lambda r: (lambda c: salt(c, 4) + c + u32(r.randrange(10**5)))(
                                      country(r).encode().ljust(3))),
    "shares after another salt": ("{salt: 4, of: [id]}, {field: country, width: 2}, {field: id, as: u32}",
                                  "count: 8, histogram: shares.csv, spread: {id: {from: 0, to: 99999}}",
                                  lambda r: (lambda i: salt(u32(i), 4) + country(r).encode() + u32(i))(
                                      r.randrange(10**5))),
}
FILE = "country,share\n" + "".join(f"{k},{v} %\n" for k, v in SHARES.items())


@pytest.mark.parametrize("name", KEYS)
def test_regions_are_even(ddl, name):
    key, regions, make = KEYS[name]
    split = points(ddl(key, regions, files={"shares.csv": FILE}))
    want = eval(regions.split(",")[0].split(":")[1]) if "count" in regions else 6
    assert len(split) == want - 1
    assert split == sorted(set(split))
    r, n = random.Random(name), 20000
    rows = [0] * want
    for _ in range(n):
        rows[bisect.bisect_right(split, make(r))] += 1
    sigma = math.sqrt(n / want * (1 - 1 / want))
    assert max(abs(k - n / want) for k in rows) < 5 * sigma, rows


def test_points_are_short(ddl):
    assert points(ddl("{salt: 16, of: [id]}, {field: id, as: u32}", "count: 16")) == [bytes([i]) for i in range(1, 16)]
    assert points(ddl("{hash: md5, of: [id]}", "count: 4")) == [b"\x40", b"\x80", b"\xc0"]


def test_the_option_replaces_the_file(ddl):
    key = "{field: country, width: 8}, {field: id, as: u32}"
    files = {"shares.csv": FILE, "prefixes.csv": "prefix,share\nA,50\nM\\x00,25\n\nZ,25\n"}
    assert points(ddl(key, "count: 4, histogram: shares.csv", files=files)) != []
    done = ddl(key, "count: 2, histogram: shares.csv", "--histogram", "prefixes.csv", files=files)
    assert points(done) == [b"M\0"]


def test_prefixes_in_utf8(ddl):
    """A prefix that users type has the bytes of the key, and not the low byte of each character."""
    files = {"prefixes.csv": "prefix,share\nA,50\n日,50\n"}
    done = ddl("{field: country, width: 8}", "count: 2", "--histogram", "prefixes.csv", files=files)
    assert points(done) == ["日".encode()]


@pytest.mark.parametrize("key,regions,message", [
    ("{salt: 16, of: [id]}, {field: id, as: u32}", "count: 17",
     r"job.yaml:14:14: table t: found `split: key` with 17 regions, expected at most 16, .* `spread: \{id: "),
    ("{field: country}", "count: 2", r"with 2 regions, expected at most 1, "),
    ("{field: id, as: u32}", "count: 2, spread: {at: {from: 1, to: 2}}",
     r"job.yaml:14:46: spread: found `at`, expected a field of rowkey"),
    ("{field: id, as: u32}", "count: 2, spread: {id: {from: 1, to: x}}", r"job.yaml:14:46: spread: id: found `x`"),
    ("{field: id, as: u32}", "count: 2, spread: {id: {from: 1}}", r"job.yaml:14:\d+: .*`to`"),
    ("{field: id, as: u32}", "count: 2, histogram: none.csv", "none.csv: No such file"),
    ("{field: id, as: u32}", "count: 2, histogram: shares.csv", r"shares.csv:1: found `country,share`, expected"),
    ("{field: country, width: 4}, {field: id, as: u32}", "count: 2, histogram: bad.csv", "bad.csv:2: found `DE 1`, expected"),
    ("{field: country, width: 4}, {field: id, as: u32}", "count: 2, histogram: zero.csv", "zero.csv: found no share above 0"),
    ("{field: id, as: u32}", "size: 1G", "which needs data"),
    ("{field: id, as: u32}", "count: 2, spread: {id: {from: 9, to: 3}}", "spread: id: found `from` above `to`"),
    ("{field: at, as: reversed_millis}", "count: 2, spread: {at: {from: 9, to: 3}}", "spread: at: found `from` above `to`"),
    ("{field: at, as: month}", "count: 2, spread: {at: {from: 1, to: 3}}", "spread: at: found `as: month`, which repeats"),
    ("{field: id, as: text}", "count: 2, spread: {id: {from: 1, to: 300}}", "texts do not sort by value"),
    ("{field: country, width: 4}", "count: 2, histogram: empty.csv", "empty.csv:1: found ``, expected `prefix,share`"),
    ("{field: id, as: u32}", "count: 2, first: a", "first: has no effect with split: key"),
])
def test_refused(ddl, key, regions, message):
    files = {"shares.csv": FILE, "bad.csv": "country,share\nDE 1\n", "zero.csv": "country,share\nDE,0\n", "empty.csv": ""}
    done = ddl(key, regions, files=files)
    assert done.returncode == 2 or "No such file" in message and done.returncode == 1, done.stderr
    assert re.search(message, done.stderr), done.stderr


def test_an_assumption_is_reported(ddl):
    assert "assumed that the last digits of `id` are even" in ddl("{field: id, as: reversed, width: 9}", "count: 4").stderr
    assert "assumed" not in ddl("{salt: 4, of: [id]}, {field: id, as: u32}", "count: 4").stderr


def test_the_option_needs_a_table(ddl, tmp_path):
    done = ddl("{field: id, as: u32}", "count: 2")
    text = (tmp_path / "job.yaml").read_text().replace("split: key", "split: uniform")
    assert done.returncode == 2
    (tmp_path / "job.yaml").write_text(text)
    done = subprocess.run([*done.args, "--histogram", "shares.csv"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "found no table with `split: key` in job.yaml" in done.stderr


def test_several_loads_fill_one_table(saltmill, ddl, tmp_path):
    """Two loads with other events and other families have the regions of the script, and HFiles within them."""
    key, regions = "{salt: 4, of: [id]}, {field: id, as: u32}", "count: 8, spread: {id: {from: 0, to: 9999}}"
    scripts, loads = [], []
    for family, ids in ("f", range(0, 10000, 3)), ("g", range(5000, 5200)):
        rows = "".join(f"{i},{NOW + i},DE,{uuid.UUID(int=i)}\n" for i in ids)
        script = ddl(key, regions, family=family, files={"in.csv": rows})
        scripts.append(points(script))
        out = tmp_path / family
        done = subprocess.run([saltmill, "load", "job.yaml", "-o", out], cwd=tmp_path, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        loads.append([unescape(k) for k in (out / "t" / "splits.txt").read_text().splitlines()])
        names = re.findall(r"NAME => '(\w)'", script.stdout)
        assert sorted(names) == ["f", "g"]
        manifest = json.loads((out / "manifest.json").read_text())
        for file in manifest["tables"][0]["files"]:
            first, last = (unescape(file[k]) for k in ("first_row", "last_row"))
            assert bisect.bisect_right(scripts[0], first) == bisect.bisect_right(scripts[0], last)
    assert scripts[0] == scripts[1] == loads[0] == loads[1]


def test_plan_and_load_use_the_points(saltmill, ddl, tmp_path):
    """The program finds a fault before it reads the input, because the input does not exist."""
    assert ddl("{field: country}", "count: 2").returncode == 2
    (tmp_path / "in.csv").write_text("1,1,DE,x\n" * 10)
    done = subprocess.run([saltmill, "load", "job.yaml", "-o", "out"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "expected at most 1" in done.stderr and not (tmp_path / "out").exists()
    rows = "".join(f"{i},{NOW + i},DE,{uuid.UUID(int=i)}\n" for i in range(1000))
    want = points(ddl("{salt: 4, of: [id]}, {field: id, as: u32}", "count: 4", files={"in.csv": rows}))
    done = subprocess.run([saltmill, "plan", "job.yaml", "-o", "plan"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert [unescape(k) for k in (tmp_path / "plan" / "t" / "splits.txt").read_text().splitlines()] == want
