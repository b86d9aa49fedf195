"""Tests that scan --where gives the same result as filtering the events by hand, with random tables, data and
conditions.

The test computes the answer from the events, by SQL's rules for nulls, without knowledge of the keys. SALTMILL_WHERE=N
runs N conditions (`make where`), otherwise a sample.
"""

import csv
import json
import os
import random
from datetime import datetime, timezone
from decimal import Decimal

import pytest

import loads

QUESTIONS = int(os.environ.get("SALTMILL_WHERE", "0"))
PER_TABLE = 40
FIELDS = {"id": "u32", "cat": "text", "at": "time", "x": "i64", "y": "f64", "d": "decimal", "note": "text", "n": "u32"}
HEAD = """\
source: {csv: {files: [events.csv]}}
fields:
  id: {type: u32}
  at: {type: time, unit: ms}
  x:  {type: i64}
  y:  {type: f64}
  d:  {type: decimal, scale: 2}
  n:  {type: u32}
"""
WORDS = ["a", "ab", "abc", "b", "ba", "B", "it's", "and", "z z", "é", "中国", "10", "9"]


def draw_part(rng, name):
    if name == "id":
        return rng.choice(["{field: id, as: u32}", "{field: id, as: u64}", "{field: id, as: text, width: 10}",
                           "{field: id, as: reversed, width: 10}"])
    if name == "at":
        return rng.choice(["{field: at, as: millis}", "{field: at, as: reversed_millis}"])
    return rng.choice(["{field: cat, terminator: '\\x00'}", "{field: cat, width: 8}"])


def draw_job(rng):
    """Makes row keys that are distinct for all events, with the parts in any order. Returns (text, has salt, parts)."""
    names = ["id", "cat", "at"]
    rng.shuffle(names)
    parts = [draw_part(rng, n) for n in names]
    salt = rng.choice([None, "{salt: 4, of: [id]}", "{salt: 7, of: [cat]}", "{salt: 3, of: [id, cat]}",
                       "{salt: 5, hash: phoenix}", "{salt: 4, hash: hbasewd}"])
    key = ([salt] if salt else []) + parts
    x, y = rng.choice(["i64", "text"]), rng.choice(["f64", "text"])
    text = HEAD + "tables:\n  - name: t\n    rowkey: [" + ", ".join(key) + "]\n    timestamp: at\n"
    text += f"    families: {{f: {{blocksize: 1K, bloomfilter: ROW}}, g: {{blocksize: 1K}}}}\n    cells:\n"
    text += "      - {family: f, qualifier: n, value: n}\n"
    text += f"      - {{family: f, qualifier: x, value: {{field: x, as: {x}}}}}\n"
    text += f"      - {{family: g, qualifier: y, value: {{field: y, as: {y}}}, optional: true}}\n"
    text += "      - {family: g, qualifier: d, value: d, optional: true}\n"
    text += "      - {family: g, qualifier: note, value: note, optional: true}\n"
    text += f"    regions: {{split: sampled, count: {rng.choice([1, 3])}}}\n"
    return text, salt is not None, names


def draw_event(rng, n):
    return {"id": rng.choice([0, 1, 7, 42, 99, 100, 4294967295, rng.randrange(200)]), "cat": rng.choice(WORDS),
            "at": 1_700_000_000_000 + rng.choice([0, 1, 999, 1000, 86_400_000]) * rng.randrange(4),
            "x": rng.choice([-5, -1, 0, 3, 10, 9, 2**62]),
            "y": rng.choice([None, -1.5, 0.0, 2.25, 10.0, 9.0]),
            "d": rng.choice([None, Decimal("-0.50"), Decimal("1.00"), Decimal("10.25")]),
            "note": rng.choice([None, *WORDS]), "n": n}


# --- conditions: (text, function of an event to True, False or None) ---

def spelt(rng, name, v):
    if name == "at":
        if rng.random() < 0.5:
            t = datetime.fromtimestamp(v // 1000, timezone.utc)
            return t.strftime("%Y-%m-%dT%H:%M:%S") + f".{v % 1000:03d}Z"
        return str(v)
    text = str(v)
    if name in ("cat", "note"):
        return rng.choice(["'" + text.replace("'", "''") + "'", '"' + text + '"'])
    return text if rng.random() < 0.7 else f"'{text}'"


def named(rng, name):
    columns = {"x": "f:x", "y": "g:y", "d": "g:d", "note": "g:note", "n": "f:n"}
    return rng.choice([name, f"`{name}`", columns.get(name, name)])


def keyword(rng, text):
    return rng.choice([text, text.upper(), text.title()])


def draw_value(rng, name, events):
    v = rng.choice(events)[name]
    return draw_value(rng, name, events) if v is None else v


def compared(op):
    return {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}[op]


def order_of(name, v):
    return v.encode() if name in ("cat", "note") else v


def unless_null(name, test):
    return lambda e: None if e[name] is None else test(order_of(name, e[name]))


def negated(negate, test):
    return (lambda e: None if test(e) is None else not test(e)) if negate else test


def draw_condition(rng, events):
    name = rng.choice(["id", "id", "cat", "cat", "at", "at", "x", "y", "d", "note", "n"])
    shown = named(rng, name)
    kind = rng.choice(["cmp", "cmp", "between", "in", "starts", "null"])
    negate = rng.random() < 0.3
    word = keyword(rng, "not") + " " if negate else ""
    a, b = (draw_value(rng, name, events) for _ in "ab")
    if kind == "null":
        return (f"{shown} {keyword(rng, 'is')} {word}null", negated(negate, lambda e: e[name] is None))
    if kind == "starts" and name in ("cat", "note"):
        part = a[:rng.randrange(len(a) + 1)]
        return (f"{shown} {word}starts with {spelt(rng, name, part)}",
                negated(negate, unless_null(name, lambda v: v.startswith(part.encode()))))
    if kind == "between":
        low, high = order_of(name, a), order_of(name, b)
        return (f"{shown} {word}{keyword(rng, 'between')} {spelt(rng, name, a)} and {spelt(rng, name, b)}",
                negated(negate, unless_null(name, lambda v: low <= v <= high)))
    if kind == "in":
        some = [draw_value(rng, name, events) for _ in range(rng.randrange(1, 5))]
        among = [order_of(name, v) for v in some]
        return (f"{shown} {word}{keyword(rng, 'in')} ({', '.join(spelt(rng, name, v) for v in some)})",
                negated(negate, unless_null(name, lambda v: v in among)))
    op = rng.choice(["=", "=", "=", "!=", "<", "<=", ">", ">="])
    given = order_of(name, a)
    return (f"{shown} {op} {spelt(rng, name, a)}", unless_null(name, lambda v: compared(op)(v, given)))


def both(p, q):
    def test(e):
        a, b = p(e), q(e)
        return False if a is False or b is False else None if a is None or b is None else True
    return test


def either(p, q):
    def test(e):
        a, b = p(e), q(e)
        return True if a or b else None if a is None or b is None else False
    return test


def draw_question(rng, events, depth=0):
    if depth > 2 or rng.random() < 0.35:
        return draw_condition(rng, events)
    if rng.random() < 0.2:
        text, test = draw_question(rng, events, depth + 1)
        return f"{keyword(rng, 'not')} ({text})", negated(True, test)
    (p, of_p), (q, of_q) = (draw_question(rng, events, depth + 1) for _ in "pq")
    if rng.random() < 0.6:
        return f"({p}) and ({q})", both(of_p, of_q)
    return f"({p}) {keyword(rng, 'or')} ({q})", either(of_p, of_q)


# --- tables ---

def write_events(path, events):
    with open(path, "w", newline="") as out:
        w = csv.writer(out)
        w.writerow(FIELDS)
        for e in events:
            w.writerow(["" if e[k] is None else e[k] for k in FIELDS])


def raw(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def make_table(folder, rng):
    text, salted, parts = draw_job(rng)
    (folder / "job.yaml").write_text(text)
    events, seen = [], set()
    for n in range(rng.choice([3, 60, 300])):
        e = draw_event(rng, n)
        if (e["id"], e["cat"], e["at"]) not in seen:
            seen.add((e["id"], e["cat"], e["at"]))
            events.append(e)
    events[0].update(y=2.25, d=Decimal("1.00"), note="ab")
    dirs = []
    for i in range(rng.choice([1, 2])):  # a second load repeats some of the rows
        write_events(folder / "events.csv", events if i == 0 else events[::3])
        dirs.append(folder / f"load{i}")
        done = loads.run("load", folder / "job.yaml", "-o", dirs[-1], "--quiet")
        assert done.returncode == 0, done.stderr + text
    return text, salted, parts, events, [folder / "job.yaml", *dirs]


def ask(operands, question, *args):
    done = loads.run("scan", *operands, "--where", question, "--format", "jsonl", *args)
    assert done.returncode == 0, f"{question}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def numbers(rows):
    return [int(raw(c["value"])) for r in rows for c in r["cells"] if c["qualifier"] == "n"]


def check_question(rng, operands, table):
    text, salted, parts, events = table
    question, test = draw_question(rng, events)
    want = {e["n"] for e in events if test(e) is True}
    args = rng.choice([[], [], ["--columns", "f:n"], ["--columns", "f"], ["--reverse"]])
    rows = ask(operands, question, *args)
    got = numbers(rows)
    assert sorted(got) == sorted(want), f"{question} {args}\n{text}"
    keys = [raw(r["row"]) for r in rows]
    back = "--reverse" in args
    assert keys == sorted(keys, key=lambda k: k[salted:], reverse=back), question
    if "f:n" in args:
        assert all(len(r["cells"]) == 1 for r in rows)
    if len(got) > 1 and rng.random() < 0.2:
        assert numbers(ask(operands, question, "--limit", len(got) - 1, *args)) == got[:-1]


def iso(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03d}Z"


def check_decoded(operands, parts, events):
    """Decodes all rows into fields, as CSV and as JSON lines."""
    done = loads.run("scan", *operands, "--decode", "--format", "csv")
    assert done.returncode == 0, done.stderr
    lines = list(csv.reader(done.stdout.splitlines()))
    assert lines[0] == [*parts, "f:n", "f:x", "g:d", "g:note", "g:y"]
    got = {int(line[3]): line for line in lines[1:]}
    assert len(got) == len(lines) - 1 == len(events)
    shown = {"id": str, "cat": str, "at": iso, "n": str, "x": str, "d": str, "note": str, "y": float}
    for e in events:
        line = dict(zip([*parts, "n", "x", "d", "note", "y"], got[e["n"]]))
        line["y"] = float(line["y"]) if line["y"] else ""
        assert line == {k: "" if e[k] is None else shown[k](e[k]) for k in line}
    done = loads.run("scan", *operands, "--decode", "--format", "jsonl")
    rows = [json.loads(line, parse_float=lambda t: float(t)) for line in done.stdout.splitlines()]
    assert len(rows) == len(events)
    by_number = {e["n"]: e for e in events}
    for r in rows:
        e = by_number[r["cells"]["f:n"]]
        assert r["key"] == {k: iso(e[k]) if k == "at" else e[k] for k in parts}
        assert list(r["key"]) == parts
        names = {"f:n": "n", "f:x": "x", "g:d": "d", "g:note": "note", "g:y": "y"}
        cells = {c: float(e[k]) if k == "d" else e[k] for c, k in names.items() if e[k] is not None}
        assert r["cells"] == cells


@pytest.mark.parametrize("seed", range(QUESTIONS // PER_TABLE if QUESTIONS else 6))
def test_questions(tmp_path, seed):
    rng = random.Random(seed)
    *table, operands = make_table(tmp_path, rng)
    check_decoded(operands, *table[2:])
    for _ in range(PER_TABLE):
        check_question(rng, operands, table)


def test_order_behind_the_salt(tmp_path):
    """With a condition on the part after the salt, scan merges the buckets, also in reverse and with a limit."""
    job = tmp_path / "job.yaml"
    job.write_text(HEAD + """\
tables:
  - name: t
    rowkey: [{salt: 8, of: [id, cat]}, {field: id, as: u32}, {field: at, as: millis}, {field: cat, terminator: '\\x00'}]
    timestamp: at
    families: {f: {blocksize: 1K}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: sampled, count: 3}
""")
    rng = random.Random(5)
    events = [{**draw_event(rng, n), "id": n % 3, "at": 1_700_000_000_000 + n} for n in range(500)]
    write_events(tmp_path / "events.csv", events)
    done = loads.run("load", job, "-o", tmp_path / "load", "--quiet")
    assert done.returncode == 0, done.stderr
    want = [e["n"] for e in events if e["id"] == 1]
    operands = [job, tmp_path / "load"]
    assert numbers(ask(operands, "id = 1")) == want
    assert numbers(ask(operands, "id = 1", "--reverse")) == want[::-1]
    assert numbers(ask(operands, "id = 1", "--limit", 7)) == want[:7]
    assert numbers(ask(operands, "id in (2, 1)")) == [e["n"] for k in (1, 2) for e in events if e["id"] == k]
    whole = ask(operands, "n >= 0")
    assert [r["row"] for r in whole] == [r["row"] for r in sorted(whole, key=lambda r: raw(r["row"])[1:])]
    done = loads.run("get", *operands, "id=1", f"at={events[4]['at']}", f"cat={events[4]['cat']}", "--format", "jsonl")
    assert numbers([json.loads(done.stdout)]) == [4]
    done = loads.run("get", *operands, "id=1")
    assert done.returncode == 2 and "row key" in done.stderr


def test_golden_query(tmp_path):
    """Finds files by owner and time. File 6 belongs to owner 2. Files 8 to 10 are later or belong to others."""
    conf = loads.ROOT / "conf"
    done = loads.run("load", conf / "files.yaml", "-o", tmp_path / "o", "--quiet")
    assert done.returncode == 0, done.stderr
    asked = ("owner = 1 and created >= 20120901 and created < 20121001 and name starts with 中国好声音 "
             "and category starts with 综艺")
    for table in ("files", "files_by_time"):
        done = loads.run("scan", conf / "files.yaml", tmp_path / "o", "--table", table, "--where", asked,
                         "--format", "jsonl")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        names = [raw(r["row"])[-4:] if table != "files" else raw(r["row"])[-6:] for r in rows]
        ids = [int(k) if table == "files" else int.from_bytes(k, "big") for k in names]
        assert ids == [1, 2, 3, 4, 5, 7], done.stderr


def test_cells(tmp_path):
    """A field stored in qualifiers or timestamps selects cells, and a field stored in a column selects rows."""
    job = tmp_path / "job.yaml"
    job.write_text("""\
source: {csv: {files: [e.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: ms}, item: {type: u32}, seen: {type: time, unit: s}}
tables:
  - name: wide
    rowkey: [{field: user, as: u32}]
    timestamp: seen
    families: {f: {versions: 3}}
    cells:
      - {family: f, qualifier: last, value: item}
      - {family: f, qualifier: {field: at, as: reversed_millis}, value: item}
    regions: {split: none}
""")
    (tmp_path / "e.csv").write_text("user,at,item,seen\n1,1000,5,10\n1,2000,6,20\n1,3000,7,30\n2,2000,8,40\n")
    done = loads.run("load", job, "-o", tmp_path / "o", "--quiet")
    assert done.returncode == 0, done.stderr

    def values(question, *args):
        rows = ask([job, tmp_path / "o"], question, *args)
        return [(int.from_bytes(raw(r["row"]), "big"), [raw(c["value"]).decode() for c in r["cells"]]) for r in rows]
    assert values("user = 1 and at >= 2000") == [(1, ["7", "6"])]
    assert values("at = 2000") == [(1, ["6"]), (2, ["8"])]
    assert values("at is null", "--versions", 3) == [(1, ["7", "6", "5"]), (2, ["8"])]
    assert values("f:last = 7") == [(1, ["7", "7", "6", "5"])]
    assert values("f:last = 5") == []  # the condition checks the newest version
    assert values("f:last = 5", "--time-range", "0..15000") == [(1, ["5", "5"])]
    assert values("seen <= 20", "--versions", 3, "--any-version") == [(1, ["6", "5", "6", "5"])]
    assert values("seen <= 20 and f:last = 7", "--columns", "f:last", "--any-version") == [(1, ["6"])]
    assert values("seen <= 20", "--versions", 3) == [(1, ["6", "5"])]  # the newest f:last is visible at 30
    assert values("f:last = 5", "--any-version") == [(1, ["7", "7", "6", "5"])]


def test_decoded_cells(tmp_path):
    """With computed qualifiers and versions, each cell has a line. CSV and JSON must quote some names and texts."""
    job = tmp_path / "job.yaml"
    job.write_text("""\
source: {csv: {files: [e.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: ms}, ok: {type: bool}, item: {type: i64}}
tables:
  - name: wide
    rowkey: [{field: user, as: u32}]
    timestamp: at
    families: {f: {versions: 3}}
    cells:
      - {family: f, qualifier: note, value: note}
      - {family: f, qualifier: ok, value: {field: ok, as: bool}}
      - {family: f, qualifier: {field: at, as: reversed_millis}, value: {field: item, as: i64}}
    regions: {split: none}
""")
    (tmp_path / "e.csv").write_text('user,at,note,item,ok\n1,1000,"a,""b""",-5,true\n1,2000,c d,6,false\n')
    done = loads.run("load", job, "-o", tmp_path / "o", "--quiet")
    assert done.returncode == 0, done.stderr

    def lines(*args):
        done = loads.run("scan", job, tmp_path / "o", "--decode", *args)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()
    two, one = "1970-01-01T00:00:02.000Z", "1970-01-01T00:00:01.000Z"
    assert list(csv.reader(lines("--format", "csv", "--versions", 2))) == [
        ["user", "column", "timestamp", "value"], ["1", "f:note", two, "c d"], ["1", "f:note", one, 'a,"b"'],
        ["1", "f:ok", two, "false"], ["1", "f:ok", one, "true"], ["1", f"f:{two}", two, "6"], ["1", f"f:{one}", one, "-5"]]
    assert list(csv.reader(lines("--format", "csv", "--columns", "f:ok,f:zz"))) == [
        ["user", "f:ok", "f:zz"], ["1", "false", ""]]
    assert json.loads(lines("--format", "jsonl")[0]) == {
        "row": "\\x00\\x00\\x00\\x01", "key": {"user": 1},
        "cells": {"f:note": "c d", "f:ok": False, f"f:{two}": 6, f"f:{one}": -5}}
    assert json.loads(lines("--format", "jsonl", "--versions", 2, "--columns", "f:ok")[0])["cells"] == {
        "f:ok": [{"timestamp": 2000, "type": "Put", "value": False}, {"timestamp": 1000, "type": "Put", "value": True}]}
    assert lines("--columns", "f:ok") == [f"  user 1  f:ok  {two}  false"]
    other = tmp_path / "other.yaml"
    other.write_text(job.read_text().replace("{field: user, as: u32}", "{field: user, as: u64}"))
    done = loads.run("scan", other, tmp_path / "o", "--decode")
    assert done.returncode == 1 and "row \\x00" in done.stderr and "expected 8" in done.stderr


def test_other_types(tmp_path):
    """Parts whose stored bytes differ from their text: decoded to the text, and usable as text in conditions."""
    job = tmp_path / "job.yaml"
    job.write_text("""\
source: {csv: {files: [e.csv]}}
fields:
  id: {type: u32}
  c:  {codes: {DE: 1, "A,T": 2}}
  u:  {type: uuid}
  ip: {type: ip}
  at: {type: time, unit: us}
tables:
  - name: t
    rowkey: [{field: c, as: u8}, {field: id, as: descending_u32}, {field: u}, {field: ip, as: ipv6},
             {field: at, as: reversed_micros}, {field: n, as: descending_text}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: c, value: {field: c, as: u8}}, {family: f, qualifier: n, value: n}]
    regions: {split: none}
""")
    u = "123e4567-e89b-12d3-a456-42661417400"
    (tmp_path / "e.csv").write_text("id,c,u,ip,at,n\n"
                                    f"1,DE,{u}0,10.0.0.1,1700000000123456,x\n"
                                    f'2,"A,T",{u}1,10.0.0.2,1700000000123457,yy\n')
    done = loads.run("load", job, "-o", tmp_path / "o", "--quiet")
    assert done.returncode == 0, done.stderr

    def asked(*args):
        done = loads.run("scan", job, tmp_path / "o", "--decode", "--format", "csv", *args)
        assert done.returncode == 0, done.stderr
        return list(csv.reader(done.stdout.splitlines()))[1:]
    one = ["DE", "1", u + "0", "10.0.0.1", "2023-11-14T22:13:20.123456Z", "x", "DE", "x"]
    two = ["A,T", "2", u + "1", "10.0.0.2", "2023-11-14T22:13:20.123457Z", "yy", "A,T", "yy"]
    assert asked() == [one, two]
    for question in ("c = DE", f"u = {u}0", "ip < 10.0.0.2", "at = 1700000000123456", "f:c = DE", "n starts with x",
                     "id < 2 and n = x"):
        assert asked("--where", question) == [one], question
        assert asked("--where", f"not ({question})") == [two], question


def test_bad_questions(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text("""\
source: {csv: {files: [e.csv]}}
fields: {id: {type: u32}, phone: {type: u64}, at: {type: time, unit: s}, other: {type: u32}}
tables:
  - name: t
    rowkey: [{hash: murmur3, of: [phone]}, {field: id, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: id, value: id}]
    regions: {split: none}
""")
    (tmp_path / "e.csv").write_text("id,phone,at,other\n1,2,3,4\n")
    done = loads.run("load", job, "-o", tmp_path / "o", "--quiet")
    assert done.returncode == 0, done.stderr
    for question, said in [("idd = 1", ["1", "idd", "did you mean `id`"]), ("id = one", ["6", "one"]),
                           ("id = 'one", ["6", "closing"]), ("id = 1 and phone = 5", ["12", "phone", "hash"]),
                           ("other = 5", ["1", "found `other`", "its key or cells"]), ("g:x = 1", ["1", "g:x", "family"]),
                           ("id starts with 1", ["1", "starts with", "u32"]), ("at > yesterday", ["6", "yesterday"]),
                           ("id =", ["5", "value"]), ("", ["expected"]), ("(id = 1", [")"]), ("id = 4294967296", ["6"])]:
        done = loads.run("scan", job, tmp_path / "o", "--where", question)
        assert done.returncode == 2 and done.stdout == "", question
        assert all(s in done.stderr for s in said), f"{question}: {done.stderr}"
