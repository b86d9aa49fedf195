"""Tests `columns: by_name` with other orders, more or fewer columns, against Python's DictReader."""

import csv
import io
import json
import random
import subprocess

import pytest

JOB = """
source: {csv: {files: [%s], columns: by_name%s}}
fields:
  n: u64
tables:
  - name: t
    rowkey: [{field: n, as: u64}]
    timestamp: 5
    families: {f: {}}
    cells:
      - {family: f, qualifier: a, value: a, optional: true}
      - {family: f, qualifier: b, value: b, optional: true}
    regions: {split: none}
"""


def run(saltmill, folder, *words):
    return subprocess.run([saltmill, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def rows(saltmill, folder, files, more="", *options):
    (folder / "job.yaml").write_text(JOB % (", ".join(files), more))
    r = run(saltmill, folder, "load", "job.yaml", "-o", "out", "--quiet", *options)
    assert r.returncode in (0, 3), r.stderr
    r = run(saltmill, folder, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    return {x["key"]["n"]: {k[2:]: v for k, v in x["cells"].items()} for x in map(json.loads, r.stdout.splitlines())}


def test_by_hand(saltmill, tmp_path):
    """The second file has another order and a new column, the third lacks `b`."""
    (tmp_path / "1.csv").write_text("n,a,b\n1,x,y\n")
    (tmp_path / "2.csv").write_text('b,extra,n,a\ny2,?,2,"x,2"\n')
    (tmp_path / "3.csv").write_text("a,n\nx3,3\n")
    assert rows(saltmill, tmp_path, ["1.csv", "2.csv", "3.csv"], ", missing: null") == {
        1: {"a": "x", "b": "y"}, 2: {"a": "x,2", "b": "y2"}, 3: {"a": "x3"}}


def test_a_column_that_only_later_files_have(saltmill, tmp_path):
    (tmp_path / "1.csv").write_text("n,a\n1,x\n")
    (tmp_path / "2.csv").write_text("b,a,n\ny,x,2\n")
    assert rows(saltmill, tmp_path, ["1.csv", "2.csv"], ", missing: null") == {1: {"a": "x"}, 2: {"a": "x", "b": "y"}}


def test_missing_column_is_an_error(saltmill, tmp_path):
    (tmp_path / "1.csv").write_text("n,a,b\n1,x,y\n")
    (tmp_path / "2.csv").write_text("b,n\ny,2\n")
    (tmp_path / "job.yaml").write_text(JOB % ("1.csv, 2.csv", ""))
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out")
    assert r.returncode == 1 and not (tmp_path / "out").exists()
    assert "2.csv: found no column `a` in the header (field `a`), expected it as in other files; to load nulls, add `missing: null`" in r.stderr
    (tmp_path / "2.csv").write_text("b,n,aa\ny,2,x\n")
    (tmp_path / "1.csv").write_text("n,aa,b\n1,x,y\n")
    r = run(saltmill, tmp_path, "check", "job.yaml")
    assert r.returncode == 2 and "the source has no column `a` (field `a`)" in r.stderr, r.stderr


def test_rejects_have_the_file_s_columns(saltmill, tmp_path):
    (tmp_path / "1.csv").write_text("n,a,b\n1,x,y\n")
    (tmp_path / "2.csv").write_text('b,n,a,d\ny,2\n"y"!,3,x,d\ny,4,x,d\n')
    assert sorted(rows(saltmill, tmp_path, ["1.csv", "2.csv"], "", "--max-rejects", "2")) == [1, 4]
    rejects = [json.loads(x) for x in (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()]
    assert [(x["reason"], x["field"], x["line"]) for x in rejects] == [("field_count", None, 2), ("bad_quote", "b", 3)]
    assert rejects[0]["detail"] == "found 2 fields, expected 4"


@pytest.mark.parametrize("seed", range(3))
def test_random_files(saltmill, tmp_path, seed):
    rng, wanted, files, n = random.Random(seed), {}, [], 0
    for i in range(6):
        names = ["n", "a", "b", *rng.sample(["p", "q", "r", "s"], rng.randrange(4))]
        names = [x for x in names if x == "n" or i == 0 or rng.random() < 0.8]
        rng.shuffle(names)
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n", quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        out.writerow(names)
        for _ in range(rng.randrange(1, 4000)):
            value = {x: rng.choice(["x", "1,2", 'say "a"', "long" * 9, "line\nend"]) + x for x in names}
            value["n"] = n
            out.writerow([value[x] for x in names])
            n += 1
        files.append(f"{i}.csv")
        (tmp_path / files[-1]).write_text(text.getvalue())
        for row in csv.DictReader(io.StringIO(text.getvalue())):
            wanted[int(row["n"])] = {k: row[k] for k in ("a", "b") if k in row}
    found = rows(saltmill, tmp_path, files, ", missing: null", "--threads", "3")
    assert found == {k: v for k, v in wanted.items() if v}


@pytest.mark.parametrize("more, said", [
    (", header: false", "found `columns: by_name` without names in a header"),
    (", header: replace", "header: found `replace` alone"),
])
def test_wrong_jobs(saltmill, tmp_path, more, said):
    (tmp_path / "job.yaml").write_text(JOB % ("1.csv", more))
    r = run(saltmill, tmp_path, "check", "job.yaml")
    assert r.returncode == 2 and said in r.stderr, r.stderr
