"""Compares `expect` of a field, which has rules for values, with a model of a few lines."""

import decimal
import json
import random
import re
import subprocess
import time

import pytest

TABLE = """
tables:
  - name: t
    rowkey: [{field: n, as: u64}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: a, value: a, optional: true}]
    regions: {split: none}
"""


def load(saltmill, folder, job, *more):
    (folder / "job.yaml").write_text(job, encoding="utf-8")
    r = subprocess.run([saltmill, "load", "job.yaml", "-o", "out", "--json", *more], cwd=folder, capture_output=True, text=True, timeout=60)
    rejects = folder / "out" / "rejects.jsonl"
    lines = rejects.read_text(encoding="utf-8").splitlines() if rejects.exists() else []
    return r, [json.loads(line) for line in lines]


@pytest.mark.parametrize("kind, rule, value, reason, detail", [
    ("i64", "min: 0", "-1", "expect_min", "found `-1`, expected at least 0"),
    ("i64", "min: 0", "0", None, ""),
    ("i64", "max: 9", "10", "expect_max", "found `10`, expected at most 9"),
    ("i64", "max: 9", "9", None, ""),
    ("f64", "max: 0.5", "0.75", "expect_max", "found `0.75`, expected at most 0.5"),
    ("{type: decimal, scale: 2}", "min: 10.00", "9.99", "expect_min", "found `9.99`, expected at least 10.00"),
    ("{type: decimal, scale: 2}", "min: 10.00", "10", None, ""),
    ("{type: time, format: iso8601}", "min: 2000-01-01", "1999-12-31T23:59:59Z", "expect_min",
     "found `1999-12-31T23:59:59Z`, expected at least 2000-01-01"),
    ("{type: time, unit: s}", "max: 2000-01-01", "946684800", None, ""),
    ("{type: time, unit: s}", "max: 2000-01-01", "946684801", "expect_max", "found `946684801`, expected at most 2000-01-01"),
    ("text", "in: [EUR, \"O'Neil\", 'a`b', 7]", "O'Neil", None, ""),
    ("text", "in: [EUR, \"O'Neil\", 'a`b', 7]", "a`b", None, ""),
    ("text", "in: [EUR, \"O'Neil\", 'a`b', 7]", "7", None, ""),
    ("text", "in: [EUR, USD]", "eur", "expect_in", "found `eur`, expected one of EUR, USD"),
    ("text", "in: EUR", "USD", "expect_in", "found `USD`, expected one of EUR"),
    ("i64", "in: [1, 2]", "2", None, ""),
    ("i64", "in: [1, 2]", "3", "expect_in", "found `3`, expected one of 1, 2"),
    ("text", "matches: '^[A-Z]{2}$'", "DE", None, ""),
    ("text", "matches: '^[A-Z]{2}$'", "DEU", "expect_matches", "found `DEU`, expected a match of `^[A-Z]{2}$`"),
    ("text", "matches: 'é'", "café", None, ""),
    ("text", "not_null: true", "", "expect_not_null", "found no value, expected a value"),
    ("text", "not_null: false", "", None, ""),
    ("i64", "min: 5", "", None, ""),  # a null keeps the other rules
])
def test_by_hand(saltmill, tmp_path, kind, rule, value, reason, detail):
    kind = kind if kind.startswith("{") else f"{{type: {kind}}}"
    (tmp_path / "in.csv").write_text(f"n,a\n1,{value}\n", encoding="utf-8")
    job = f"source: {{csv: {{files: [in.csv]}}}}\nfields:\n  n: u64\n  a: {kind[:-1]}, expect: {{{rule}}}}}\n{TABLE}"
    r, rejects = load(saltmill, tmp_path, job, "--max-rejects", "1")
    assert r.returncode == (3 if reason else 0), r.stderr
    assert [(x["reason"], x["field"], x["line"], x["detail"]) for x in rejects] == ([(reason, "a", 2, detail)] if reason else [])


@pytest.mark.parametrize("field, said", [
    ("{type: i64, expect: {min: x}}", ":4:32: expect: `a` >= 'x': character 8: a: found `x`"),
    ("{expect: {min: 5}}", ":4:21: expect: `a` >= 5: character "),  # `a` is a text, so an order of numbers would be wrong
    ("{expect: {matches: '('}}", ":4:25: matches: "),
    ("{expect: {minimum: 5}}", "unknown key `minimum`"),
    ("{expect: {in: []}}", "in: found an empty list"),
    ("{expect: 5}", "expect: found `5`, expected a mapping"),
])
def test_wrong_rules(saltmill, tmp_path, field, said):
    (tmp_path / "in.csv").write_text("n,a\n1,2\n")
    r, _ = load(saltmill, tmp_path, f"source: {{csv: {{files: [in.csv]}}}}\nfields:\n  n: u64\n  a: {field}\n{TABLE}")
    assert r.returncode == 2 and said in r.stderr, r.stderr


def test_nothing_is_published(saltmill, tmp_path):
    """Without --max-rejects, the first broken rule ends the load."""
    (tmp_path / "in.csv").write_text("n,a\n1,2\n2,-2\n")
    job = f"source: {{csv: {{files: [in.csv]}}}}\nfields:\n  n: u64\n  a: {{type: i64, expect: {{min: 0}}}}\n{TABLE}"
    r, _ = load(saltmill, tmp_path, job)
    assert r.returncode == 1 and not (tmp_path / "out").exists()
    assert "in.csv:3 (byte 8): expect_min: a: found `-2`, expected at least 0; saltmill published nothing" in r.stderr


def test_filtered_events_are_not_checked(saltmill, tmp_path):
    (tmp_path / "in.csv").write_text("n,a\n1,2\n2,-2\n")
    job = f"source: {{csv: {{files: [in.csv]}}}}\nfields:\n  n: u64\n  a: {{type: i64, expect: {{min: 0}}}}\nwhere: n < 2\n{TABLE}"
    r, rejects = load(saltmill, tmp_path, job)
    assert (r.returncode, rejects) == (0, []), r.stderr


def test_field_of_no_table(saltmill, tmp_path):
    """saltmill reads and checks a field that only has a rule."""
    (tmp_path / "in.csv").write_text("n,a,c\n1,2,x\n2,3,y\n")
    job = f"source: {{csv: {{files: [in.csv]}}}}\nfields:\n  n: u64\n  c: {{expect: {{in: x}}}}\n{TABLE}"
    r, rejects = load(saltmill, tmp_path, job, "--max-rejects", "1")
    assert [x["line"] for x in rejects] == [3], r.stderr


def test_costly_pattern(saltmill, tmp_path):
    """A search that takes too many steps ends soon. The reason does not claim that the text has no match."""
    (tmp_path / "in.csv").write_text(f"n,a\n1,{'a' * 40}bc\n2,aab\n")
    job = f"source: {{csv: {{files: [in.csv]}}}}\nfields:\n  n: u64\n  a: {{expect: {{matches: '^(a+)+b$'}}}}\n{TABLE}"
    began = time.monotonic()
    r, rejects = load(saltmill, tmp_path, job, "--max-rejects", "1")
    assert r.returncode == 3 and time.monotonic() - began < 20, r.stderr
    assert [(x["reason"], x["field"], x["line"]) for x in rejects] == [("too_costly", "a", 2)]


def broken(rules, kind, text):
    """Returns the first broken rule in the order of the job's keys, or None."""
    if text == "":
        return "expect_not_null" if "not_null" in rules else None
    value = {"i64": int, "decimal": decimal.Decimal, "text": str}[kind](text)
    for rule in ("min", "max", "in", "matches"):
        if rule not in rules:
            continue
        of = rules[rule]
        good = {"min": lambda: value >= of, "max": lambda: value <= of, "in": lambda: value in of,
                "matches": lambda: re.search(of, text) is not None}[rule]()
        if not good:
            return f"expect_{rule}"
    return None


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("seed", range(6))
def test_random_rules(saltmill, tmp_path, form, seed):
    rng = random.Random(f"{form} {seed}")
    kind = rng.choice(["i64", "decimal", "text"])
    number = lambda: rng.randrange(-50, 50) if kind == "i64" else decimal.Decimal(rng.randrange(-500, 500)) / 100
    value = (lambda: "".join(rng.choice("abc") for _ in range(rng.randrange(1, 4)))) if kind == "text" else number
    rules = {}
    if rng.random() < 0.5:
        rules["not_null"] = True
    if kind != "text" and rng.random() < 0.7:
        rules["min"] = number()
    if kind != "text" and rng.random() < 0.7:
        rules["max"] = number()
    if rng.random() < 0.5:
        rules["in"] = list({str(v): v for v in (value() for _ in range(30))}.values())
    if rng.random() < 0.5 or not rules:
        rules["matches"] = rng.choice(["[ab1-4]", "^-?[0-9abc.]{1,2}$", "c|7"])
    shown = {k: [str(x) for x in v] if k == "in" else v if v is True else str(v) for k, v in rules.items()}
    texts = ["" if rng.random() < 0.1 else str(value()) for _ in range(300)]
    field = {"type": kind, **({"scale": 2} if kind == "decimal" else {}), "expect": shown}
    if form == "csv":
        (tmp_path / "in").write_text("n,a\n" + "".join(f"{i},{t}\n" for i, t in enumerate(texts)))
        source = "csv: {files: [in]}"
    else:
        (tmp_path / "in").write_text("".join(json.dumps({"n": i, "a": t or None}) + "\n" for i, t in enumerate(texts)))
        source = "json: {files: [in]}"
    job = f"source: {{{source}}}\nfields:\n  n: u64\n  a: {json.dumps(field)}\n{TABLE}"
    r, rejects = load(saltmill, tmp_path, job, "--max-rejects", "300")
    wanted = [(i, broken(rules, kind, t)) for i, t in enumerate(texts)]
    first = 2 if form == "csv" else 1
    assert [(x["line"] - first, x["reason"]) for x in rejects] == [w for w in wanted if w[1]], (rules, r.stderr)
