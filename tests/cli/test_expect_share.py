"""Compares `unique` and `max_share` of `expect`, and their figures in `check`, with a model of a few lines."""

import json
import random
import subprocess

import pytest

JOB = """
source: {%s}
fields:
  n: u64
  a: {type: %s, expect: {%s}}
tables:
  - name: t
    rowkey: [{field: n, as: u64}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


def run(saltmill, folder, *words):
    return subprocess.run([saltmill, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def write(folder, values, kind, rules, form="csv"):
    if form == "csv":
        (folder / "in").write_text("n,a\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    else:
        (folder / "in").write_text("".join(json.dumps({"n": i, "a": v or None}) + "\n" for i, v in enumerate(values)))
    (folder / "job.yaml").write_text(JOB % (f"{form}: {{files: [in]}}", kind, rules))


def rejects(folder, out="out"):
    return [json.loads(x) for x in (folder / out / "rejects.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("kind, values, broken", [
    ("u32", ["7", "007", "8", "7"], [1, 3]),  # one number in two spellings
    ("text", ["7", "007", "x", "x"], [3]),
    ("text", ["", "", "x"], []),  # a null keeps the rule
    ("i64", ["-1", "1", "-1"], [2]),
])
def test_unique_by_hand(saltmill, tmp_path, kind, values, broken):
    write(tmp_path, values, kind, "unique: true")
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--max-rejects", "9")
    assert r.returncode == (3 if broken else 0), r.stderr
    assert [x["line"] - 2 for x in rejects(tmp_path)] == broken
    assert all((x["reason"], x["field"]) == ("expect_unique", "a") and "expected a value that no earlier row has" in x["detail"]
               for x in rejects(tmp_path))


def test_a_rejected_row_takes_no_value(saltmill, tmp_path):
    """`unique` comes last, whatever the order in the job."""
    write(tmp_path, ["-5", "-5", "5", "5"], "i64", "unique: true, min: 0")
    assert run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--max-rejects", "9").returncode == 3
    assert [(x["line"] - 2, x["reason"]) for x in rejects(tmp_path)] == [(0, "expect_min"), (1, "expect_min"), (3, "expect_unique")]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_unique_of_many_rows_and_threads(saltmill, tmp_path, form):
    """The first row of a value stays, in the order of the input, whatever the threads."""
    rng = random.Random(form)
    values = [str(rng.randrange(100000)) for _ in range(60000)]
    seen, broken = set(), []
    for i, v in enumerate(values):
        broken += [i] if v in seen else []
        seen.add(v)
    write(tmp_path, values, "u32", "unique: true, max_share: 50%", form)
    digests = set()
    for threads in ("1", "4"):
        r = run(saltmill, tmp_path, "load", "job.yaml", "-o", threads, "--threads", threads)
        assert r.returncode == 3, r.stderr
        assert [x["line"] - (2 if form == "csv" else 1) for x in rejects(tmp_path, threads)] == broken
        digests.add((tmp_path / threads / "rejects.jsonl").read_bytes())
    assert len(digests) == 1


def test_unique_needs_memory(saltmill, tmp_path):
    write(tmp_path, range(1500000), "u32", "unique: true")
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--memory", "16M")
    assert r.returncode == 1 and "raise --memory" in r.stderr and not (tmp_path / "out").exists(), r.stderr


@pytest.mark.parametrize("share, bad, code", [("1%", 10, 3), ("1%", 11, 1), ("0%", 1, 1), ("0.5%", 0, 0), ("100%", 1000, 3)])
def test_share_by_hand(saltmill, tmp_path, share, bad, code):
    """Of 1000 events, 1 % are 10."""
    write(tmp_path, ["-1"] * bad + ["1"] * (1000 - bad), "i64", f"min: 0, max_share: {share}")
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out")
    assert r.returncode == code, r.stderr
    assert (tmp_path / "out").exists() == (code != 1)
    if code == 1:
        assert f"field `a`: found {bad} of 1000 events" in r.stderr and "(max_share); saltmill published nothing" in r.stderr


def test_share_covers_only_its_rules(saltmill, tmp_path):
    """A bad number is no broken rule, so --max-rejects counts it."""
    write(tmp_path, ["-1", "x", "1", "2"], "i64", "min: 0, max_share: 50%")
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out")
    assert r.returncode == 1 and "in:3 (byte 9): bad_number: a" in r.stderr, r.stderr
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--max-rejects", "1")
    assert r.returncode == 3 and [x["reason"] for x in rejects(tmp_path)] == ["expect_min", "bad_number"], r.stderr


def test_check_prints_figures(saltmill, tmp_path):
    write(tmp_path, ["-1", "1", "1", "2"], "i64", "min: 0, unique: true, max_share: 5%")
    r = run(saltmill, tmp_path, "check", "job.yaml")
    assert [x.split() for x in r.stdout.splitlines() if "25%" in x] == [
        "a 1 25% at least 0; max_share 5%".split(), "a 1 25% a value that no earlier row has; max_share 5%".split()], r.stdout
    r = run(saltmill, tmp_path, "check", "job.yaml", "--json")
    assert json.loads(r.stdout)["rules"] == [
        {"field": "a", "reason": "expect_min", "expected": "at least 0", "broken": 1},
        {"field": "a", "reason": "expect_unique", "expected": "a value that no earlier row has", "broken": 1}]


@pytest.mark.parametrize("rules, said", [
    ("max_share: 5", "max_share: found `5`, expected a share of the events, such as 0.1%"),
    ("max_share: 101%", "expected a share of the events"),
    ("unique: 5", "unique: found `5`"),
])
def test_wrong_rules(saltmill, tmp_path, rules, said):
    write(tmp_path, ["1"], "i64", rules)
    r = run(saltmill, tmp_path, "check", "job.yaml")
    assert r.returncode == 2 and said in r.stderr, r.stderr
