"""Tests that `key encode`, `get`, `key ranges` and `scan --where` agree on the fields that a row key contains.

The test computes the keys and the answers from the events.
"""

import re
import hashlib
import json
import random
from datetime import datetime, timedelta, timezone

import pytest

import loads
from oracle import LONG_MAX, murmur3_32, unescape
from test_where import compared

JOB = """\
source: {csv: {files: [events.csv]}}
fields:
  user: {type: u32}
  id: {type: u32}
  at: {type: time, unit: ms}
  n: {type: u32}
tables:
  - name: t
    rowkey: [%s]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: none}
"""
DATE = ", ".join(f"{{field: at, as: {part}, zone: UTC}}" for part in ("year", "month", "day"))
USER, ID = "{field: user, as: u32}", "{field: id, as: u32}"


def u32(n):
    return n.to_bytes(4, "big")


def md5(user, width=16):
    return hashlib.md5(u32(user)).digest()[:width]


def day(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime("%Y%m%d").encode()


KEYS = {  # key parts, the fields that the parts need, and the key
    "{hash: md5, of: [user]}": ("user", lambda e: md5(e["user"])),
    "{hash: md5, of: [user], bytes: 8}, " + ID: ("user id", lambda e: md5(e["user"], 8) + u32(e["id"])),
    "{hash: md5, of: [user], bytes: 3}, " + ID: ("user id", lambda e: md5(e["user"], 3) + u32(e["id"])),
    ID + ", {hash: md5, of: [user]}": ("user id", lambda e: u32(e["id"]) + md5(e["user"])),
    USER + ", " + DATE: ("user at", lambda e: u32(e["user"]) + day(e["at"])),
    "{salt: 8, of: [user]}, " + ID: ("user id", lambda e: bytes([murmur3_32(u32(e["user"])) % 8]) + u32(e["id"])),
    USER + ", {field: at, as: reversed_seconds}":
        ("user at", lambda e: u32(e["user"]) + (LONG_MAX - e["at"] // 1000).to_bytes(8, "big")),
}


def make(folder, rowkey, events):
    (folder / "job.yaml").write_text(JOB % rowkey)
    (folder / "events.csv").write_text("user,id,at,n\n" + "".join(f"{e['user']},{e['id']},{e['at']},{e['n']}\n" for e in events))
    done = loads.run("load", folder / "job.yaml", "-o", folder / "o", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "job.yaml"


def draw_events(rng, key, count=80):
    """Makes events with different keys."""
    events = {}
    for n in range(count):
        at = 1_600_000_000_000 + 86_400_000 * rng.randrange(5) + rng.choice([0, 1, 999, 1000, 1001, 43_200_000, 86_399_999])
        e = {"user": rng.randrange(12), "id": rng.randrange(300), "at": at, "n": n}
        events.setdefault(key(e), e)
    return list(events.values())


def found(done):
    assert done.returncode == 0, done.stderr
    return [int(c["value"]) for line in done.stdout.splitlines() for c in json.loads(line)["cells"]]


@pytest.mark.parametrize("rowkey", KEYS)
def test_get_reads_the_row_that_encode_names(tmp_path, rowkey):
    names, key = KEYS[rowkey]
    events = draw_events(random.Random(rowkey), key)
    job = make(tmp_path, rowkey, events)
    for e in events[:12]:
        fields = [f"{name}={e[name]}" for name in names.split()]
        done = loads.run("key", "encode", job, *fields)
        assert done.returncode == 0 and unescape(done.stdout.rstrip("\n")) == key(e)
        assert found(loads.run("get", job, tmp_path / "o", *fields, "--format", "jsonl")) == [e["n"]]
    for fields, words in ((["user=1", "n=5", *(f"{name}=1" for name in names.split() if name != "user")], "found `n`, expected only fields in the row key"), (["at=1"], "at" not in names and "found `at`, expected only fields in the row key"),
                          (["user=x"], "user: found `x`"), (["user=1", "user=1"], "found `user` twice")):
        done = loads.run("get", job, tmp_path / "o", *fields)
        assert done.returncode == 2 and (words or "found no value for `user`") in done.stderr, (fields, done.stderr)


def times(rng, events):
    """Returns a time as a condition writes it, and in ms. The time is often the start of a day."""
    ms = rng.choice(events)["at"]
    if rng.random() < 0.8:
        ms -= ms % 86_400_000
    return f"'{(datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=ms)).strftime('%Y-%m-%dT%H:%M:%S.%f')[:-3]}Z'", ms


def draw_condition(rng, events, names):
    name = rng.choice([*names, "n"])
    op = rng.choice(["=", "=", "<", ">=", "!=", ">", "<=", "between"])
    text, value = times(rng, events) if name == "at" else (str(rng.choice(events)[name]),) * 2
    if op == "between":
        more, high = times(rng, events) if name == "at" else (str(rng.choice(events)[name]),) * 2
        return f"{name} between {text} and {more}", lambda e: int(value) <= e[name] <= int(high)
    return f"{name} {op} {text}", lambda e: compared(op)(e[name], int(value))


@pytest.mark.parametrize("rowkey", KEYS)
def test_scan_answers_or_says_why(tmp_path, rowkey):
    """If key ranges reports exact ranges, scan answers the condition. Each answer equals that of the events."""
    rng = random.Random(rowkey)
    names, key = KEYS[rowkey]
    events = draw_events(rng, key)
    job = make(tmp_path, rowkey, events)
    answered = refused = 0
    for _ in range(60):
        parts = [draw_condition(rng, events, names.split()) for _ in range(rng.choice([1, 2, 2, 3]))]
        either = len(parts) == 2 and rng.random() < 0.3
        text = (" or " if either else " and ").join(p[0] for p in parts)
        want = sorted(e["n"] for e in events if (any if either else all)(p[1](e) for p in parts))
        ranges = loads.run("key", "ranges", job, "--where", text, "--json")
        done = loads.run("scan", job, tmp_path / "o", "--where", text, "--format", "jsonl")
        if ranges.returncode:  # a hash with <
            assert done.returncode == ranges.returncode == 2 and "only hashed" in ranges.stderr and "only hashed" in done.stderr
            continue
        exact = json.loads(ranges.stdout)["exact"]
        if done.returncode:
            assert done.returncode == 2 and not exact, (text, done.stderr)
            assert re.search("which (alone )?does not decide", done.stderr), done.stderr
            refused += 1
        elif "by whole seconds" in done.stderr:
            assert not exact and "reversed_seconds" in rowkey
        else:
            assert sorted(found(done)) == want, (text, done.stderr)
            answered += 1
    assert answered > 5, (answered, refused)


def test_milliseconds_against_seconds(tmp_path):
    rowkey = USER + ", {field: at, as: reversed_seconds}"
    job = make(tmp_path, rowkey, [{"user": 1, "id": 0, "at": 1346457600123, "n": 7}, {"user": 1, "id": 0, "at": 1346457601000, "n": 8}])

    def scan(where):
        return loads.run("scan", job, tmp_path / "o", "--where", where, "--format", "jsonl")
    for where in ("user = 1 and at = 1346457600123", "at in (1346457600123)", "at between 1346457600100 and 1346457600200"):
        done = scan(where)
        assert found(done) == [7] and "contains this time in whole seconds" in done.stderr
    done = scan("user = 1 and at >= 1346457601000")  # whole seconds decide the answer
    assert found(done) == [8] and done.stderr == ""


def test_a_day_is_asked_by_its_borders(tmp_path):
    start = 1_600_041_600_000  # 2020-09-14
    job = make(tmp_path, USER + ", " + DATE, [{"user": 1, "id": 0, "at": start + i * 86_400_000 + 5, "n": i} for i in range(4)])

    def scan(where):
        return loads.run("scan", job, tmp_path / "o", "--where", where, "--format", "jsonl")
    assert found(scan("user = 1 and at >= 2020-09-15 and at < 2020-09-17")) == [1, 2]
    assert found(scan("at >= 2020-09-15 and n < 3")) == [1, 2]
    assert found(scan("n = 0 or not at < 2020-09-17")) == [0, 3]
    done = scan("user = 1 and at = 2020-09-15")
    assert done.returncode == 2 and "the row key has `at` only as year, month, day, which does not decide `=`" in done.stderr
