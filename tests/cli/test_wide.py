"""Tests wide tables. A condition on the fields of a qualifier selects columns, and scan reads only these columns.

The test computes the expected answers from the events. SALTMILL_WHERE=N runs N conditions (`make where`), otherwise a
sample.
"""

import json
import os
import random
import re

import pytest

import loads
from fake_hbase import FakeHBase
from test_where import both, either, negated, raw

QUESTIONS = int(os.environ.get("SALTMILL_WHERE", "0"))
PER_TABLE = 30
BASE = 1_700_000_000_000
JOB = """\
source: {csv: {files: [events.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: ms}, kind: {type: text}, item: {type: u32}, seen: {type: time, unit: ms}}
tables:
  - name: t
    rowkey: [%s{field: user, as: u32}]
    timestamp: seen
    families: {f: {versions: %d, blocksize: 1K, bloomfilter: %s}, g: {blocksize: 1K}}
    cells:
      - {family: f, qualifier: last, value: item}
      - {family: f, qualifier: [%s], value: item}
      - {family: g, qualifier: g, value: note}
    regions: {split: none}
"""
KINDS = ["a", "b", "bb", "zz"]


def draw_job(rng):
    at = rng.choice(["{field: at, as: reversed_millis}", "{field: at, as: millis}"])
    parts = rng.choice([[at], ["{const: q}", at], ["{field: kind, terminator: '/'}", at], ["{field: kind, width: 2}", at], [at, "{field: kind}"]])
    job = JOB % (rng.choice(["", "{salt: 3, of: [user]}, "]), rng.choice([1, 3]), rng.choice(["ROW", "ROWCOL", "NONE"]), ", ".join(parts))
    return job, "kind" in "".join(parts)


def draw_condition(rng, has_kind):
    """Returns (text, function of a cell's values to True, False or None)"""
    name = rng.choice(["at", "at", "at", "user", "f:last", "g:g", *(["kind"] * 2 if has_kind else [])])
    values = {"at": [BASE + i for i in range(-1, 42)], "user": list(range(6)), "f:last": list(range(9)), "g:g": KINDS, "kind": KINDS}[name]
    a, b = sorted(rng.choice(values) for _ in "ab")
    negate = rng.random() < 0.2

    def test(of):
        return lambda c: None if c[name] is None else of(c[name])
    if rng.random() < 0.1 and name != "user":
        return f"{name} is {'not ' if negate else ''}null", negated(negate, lambda c: c[name] is None)
    word = "not " if negate else ""
    kind = rng.choice(["=", "in", "between", "<", ">=", "!=", "="])
    if kind == "in":
        some = [rng.choice(values) for _ in range(rng.randrange(1, 4))]
        return f"{name} {word}in ({', '.join(map(str, some))})", negated(negate, test(lambda v: v in some))
    if kind == "between":
        return f"{name} {word}between {a} and {b}", negated(negate, test(lambda v: a <= v <= b))
    of = {"=": lambda v: v == a, "<": lambda v: v < a, ">=": lambda v: v >= a, "!=": lambda v: v != a}[kind]
    return f"{name} {kind} {a}", test(of)


def draw_question(rng, has_kind, depth=0):
    if depth > 2 or rng.random() < 0.3:
        return draw_condition(rng, has_kind)
    (p, of_p), (q, of_q) = (draw_question(rng, has_kind, depth + 1) for _ in "pq")
    if rng.random() < 0.15:
        return f"not ({p})", negated(True, of_p)
    return (f"({p}) and ({q})", both(of_p, of_q)) if rng.random() < 0.7 else (f"({p}) or ({q})", either(of_p, of_q))


def cells_of(events, has_kind):
    """Returns {user: [values of a cell, by name]} with the newest version of each cell."""
    rows = {}
    for e in sorted(events, key=lambda e: e["seen"]):
        row = rows.setdefault(e["user"], {})
        row["last"] = {"at": None, "kind": None, "item": e["item"]}
        row[e["at"], e["kind"] if has_kind else None] = {"at": e["at"], "kind": e["kind"] if has_kind else None, "item": e["item"]}
        row["g"] = {"at": None, "kind": None, "item": e["note"]}
    return {u: [{**c, "user": u, "f:last": row["last"]["item"], "g:g": row["g"]["item"]} for c in row.values()] for u, row in rows.items()}


def scan(*args):
    done = loads.run("scan", *args, "--format", "jsonl")
    assert done.returncode == 0, (args, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("seed", range(QUESTIONS // PER_TABLE if QUESTIONS else 6))
def test_questions(tmp_path, seed):
    rng = random.Random(seed + 40)
    job, has_kind = draw_job(rng)
    (tmp_path / "job.yaml").write_text(job)
    events = [{"user": rng.randrange(5), "at": BASE + rng.randrange(40), "kind": rng.choice(KINDS), "item": rng.randrange(9), "seen": BASE + i, "note": rng.choice(KINDS)}
              for i in range(rng.choice([5, 80, 400]))]
    dirs = []
    for part in (events[::2], events[1::2]):
        (tmp_path / "events.csv").write_text("user,at,kind,item,seen,note\n" + "".join(",".join(str(v) for v in e.values()) + "\n" for e in part))
        dirs.append(tmp_path / f"load{len(dirs)}")
        done = loads.run("load", tmp_path / "job.yaml", "-o", dirs[-1], "--quiet")
        assert done.returncode == 0, done.stderr
    model = cells_of(events, has_kind)
    stored = [(raw(r["row"]), *(raw(c[k]) for k in ("family", "qualifier")), c["timestamp"], raw(c["value"]))
              for r in scan(tmp_path / "job.yaml", *dirs, "--versions", "3") for c in r["cells"]]
    rows = sorted({c[0] for c in stored})
    with FakeHBase("t", ["f", "g"], stored, [rows[len(rows) // 2]] if len(rows) > 1 else [], rng) as server:
        for _ in range(PER_TABLE):
            question, test = draw_question(rng, has_kind)
            want = {u: [c for c in cells if test(c) is True] for u, cells in model.items()}
            want = {u: sorted(str(c["item"]) for c in cells) for u, cells in want.items() if cells}
            args = [tmp_path / "job.yaml", "--where", question, *rng.choice([[], [], ["--reverse"]])]
            for place in (dirs, ["--hbase", server.address]):
                got = scan(*args, *place)
                assert {int.from_bytes(raw(r["row"])[-4:], "big"): sorted(c["value"] for c in r["cells"]) for r in got} == want, (question, job)
            # the same cells, with any further condition on them
            whole = scan(*args, *dirs)
            some = rng.choice([["--max-columns", "2"], ["--columns", "f"], ["--columns", "f:last,g"], ["--versions", "2"], ["--any-version"]])
            assert scan(*args, *dirs, *some) == scan(*args, "--hbase", server.address, *some), (question, some)
            if some[0] == "--max-columns":
                kept = [{**r, "cells": [c for c in r["cells"] if c["family"] == "f"][:2]} for r in whole]
                firsts = scan(*args, *dirs, *some, "--columns", "f")
                assert firsts == [r for r in kept if r["cells"]]


WIDE = """\
source: {csv: {files: [events.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: ms}, item: {type: u32}}
tables:
  - name: t
    rowkey: [{salt: 4, of: [user]}, {field: user, as: u32}]
    timestamp: at
    families: {f: {}, g: {}}
    cells:
      - {family: f, qualifier: {field: at, as: reversed_millis}, value: item}
      - {family: g, qualifier: name, value: user}
    regions: {split: none}
"""
COLUMNS = 200_000


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wide")
    (folder / "job.yaml").write_text(WIDE)
    with open(folder / "events.csv", "w") as out:
        out.write("user,at,item\n")
        out.writelines(f"{1 + i // COLUMNS},{BASE + i % COLUMNS},{i % 1000}\n" for i in range(COLUMNS + 3))
    done = loads.run("load", folder / "job.yaml", "-o", folder / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "job.yaml", folder / "out"


def blocks(done):
    return int(re.search(r"^in all .* (\d+) of \d+ data blocks", done.stderr, re.M).group(1))


@pytest.mark.parametrize("where,cells,most", [
    (f"user = 1 and at = {BASE + 77_777}", 1, 1), (f"user = 1 and at in ({BASE}, {BASE + 99_999}, {BASE + 199_999})", 3, 3),
    (f"user = 1 and at between {BASE + 5000} and {BASE + 5009}", 10, 2), (f"at = {BASE + 1}", 2, 8),
    (f"user = 1 and at < {BASE + 3} and g:name = 1", 3, 4), (f"at < {BASE + 1} and g:name = 2", 1, 16)])
@pytest.mark.parametrize("back", [[], ["--reverse"]])
def test_few_blocks(wide, where, cells, most, back):
    """In a row of 200,000 columns, the block index leads to the selected columns."""
    done = loads.run("scan", *wide, "--where", where, "--quiet", "--explain", *back)
    assert done.returncode == 0 and done.stdout.endswith(f", {cells} cells\n"), (done.stdout, done.stderr)
    assert 0 < blocks(done) <= most + 2 * len(back), done.stderr


def test_named_columns(wide):
    """--columns finds columns of a wide row without a condition."""
    [row] = scan(*wide, "--where", f"user = 1 and at = {BASE + 4321}")
    column = "f:" + row["cells"][0]["qualifier"]
    done = loads.run("scan", *wide, "--columns", column, "--quiet", "--explain")
    assert done.stdout == "1 rows, 1 cells\n" and 0 < blocks(done) <= 4, done.stderr


def key(*args):
    done = loads.run("key", *args)
    return done.returncode, done.stdout, done.stderr


def test_key_encode_qualifier(wide, tmp_path):
    """--qualifier prints the column in the form that --columns takes."""
    at = BASE + 4321
    want = (2 ** 63 - 1 - at).to_bytes(8, "big")
    assert key("encode", wide[0], "--qualifier", f"at={at}") == (0, "f:" + loads.escaped(want) + "\n", "")
    assert key("encode", wide[0], "--qualifier", f"at={at}", "--to", "hex") == (0, "f:" + want.hex() + "\n", "")
    [column] = key("encode", wide[0], "--qualifier", f"at={at}")[1].split()
    done = loads.run("scan", *wide, "--columns", column, "--quiet")
    assert done.stdout == "1 rows, 1 cells\n"
    status, out, err = key("encode", wide[0], "--qualifier", "user=1")
    assert (status, out) == (2, "") and "found no value for `at`, expected `at=VALUE`" in err
    (tmp_path / "job.yaml").write_text(WIDE.replace("{field: at, as: reversed_millis}", "v"))
    status, out, err = key("encode", tmp_path / "job.yaml", "--qualifier", "at=1")
    assert (status, out) == (2, "") and "found only constant qualifiers in table t" in err


def test_key_ranges(wide):
    """The columns are those of the query, which JSON contains as bytes. A test with a real HBase runs the printed
    code."""
    at = BASE + 100
    first, last = ((2 ** 63 - 1 - t).to_bytes(8, "big") for t in (at + 9, at))

    def columns(where):
        status, out, err = key("ranges", wide[0], "--where", where, "--format", "json")
        assert status == 0, err
        got = json.loads(out)
        return [(c["family"], raw(c["start"]), raw(c["stop"]), raw(c.get("qualifier", ""))) for c in got.get("columns", [])], got.get("filter_exact")
    assert columns(f"user = 1 and at = {at}") == ([("f", last, last + b"\0", last)], True)
    [(family, start, stop, one)], exact = columns(f"user = 1 and at between {at} and {at + 9}")
    assert (family, start, one, exact) == ("f", first, b"", True) and last < stop <= last[:-1] + bytes([last[-1] + 1])
    assert columns("user = 1") == ([], None)
    assert columns(f"at = {at} or user = 2")[0] == [] and columns(f"not at is null and at = {at}")[0] == [("f", last, last + b"\0", last)]
    found, exact = columns(f"at = {at} and g:name = 1")
    assert found == [("f", last, last + b"\0", last)] and not exact
    assert key("ranges", wide[0], "--where", f"user = 1 and at = {at}")[1].splitlines()[1] == "column f:" + loads.escaped(last)


def test_several_columns_of_an_event(tmp_path):
    """A condition on the fields of the qualifier selects all columns of the matching events, not only those of the first cell of the job."""
    rng = random.Random(28)
    events = [(i, rng.randrange(6), BASE + rng.randrange(40), rng.randrange(9), rng.choice(KINDS)) for i in range(120)]
    (tmp_path / "events.csv").write_text("id,user,at,item,kind\n" + "".join("%d,%d,%d,%d,%s\n" % e for e in events))
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [events.csv]}}
fields: {id: {type: u32}, user: {type: u32}, at: {type: time, unit: ms}, item: {type: u32}, kind: {type: text}}
tables:
  - name: t
    rowkey: [{field: user, as: u32}]
    timestamp: at
    families: {f: {blocksize: 1K}, g: {blocksize: 1K}}
    cells:
      - {family: f, qualifier: [{field: at, as: reversed_millis}, {field: id, as: u32}, {const: item}], value: item}
      - {family: f, qualifier: [{field: at, as: reversed_millis}, {field: id, as: u32}, {const: kind}], value: kind}
      - {family: g, qualifier: [{field: id, as: u32}, {field: at, as: millis}], value: kind}
    regions: {split: none}
""")
    loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "load", "--quiet")
    at = BASE + 20
    for where, matches in [("user = 3", lambda e: True), (f"at >= {at}", lambda e: e[2] >= at), (f"id < 50 and at < {at}", lambda e: e[0] < 50 and e[2] < at),
                           (f"id = 7 or at = {at}", lambda e: e[0] == 7 or e[2] == at), (f"user = 3 and not at >= {at}", lambda e: e[2] < at)]:
        done = loads.run("scan", tmp_path / "job.yaml", tmp_path / "load", "--where", where, "--format", "jsonl")
        assert done.returncode == 0, done.stderr
        values = sorted(c["value"] for line in done.stdout.splitlines() for c in json.loads(line)["cells"])
        chosen = [e for e in events if matches(e) and ("user" not in where or e[1] == 3)]
        assert values == sorted(v for e in chosen for v in ("%d" % e[3], e[4], e[4])), where
