"""Columns that a row has beside those of its file: $file, $line, $row, partitions, and `first`."""

import json
import random
import subprocess

import pytest

TABLE = """
tables:
  - name: t
    rowkey: [{field: n, as: u64}]
    timestamp: 5
    families: {f: {}}
    cells:
      - {family: f, qualifier: file, value: file}
      - {family: f, qualifier: line, value: line}
      - {family: f, qualifier: row, value: row}
    regions: {split: none}
"""
FIELDS = "fields:\n  n: u64\n  file: {from: $file}\n  line: {from: $line, type: u64}\n  row: {from: $row, type: u64}\n"


def run(saltmill, folder, *words):
    return subprocess.run([saltmill, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def cells(saltmill, folder, job, *more):
    """Load the job, and return the cells of each row by the number of its key."""
    (folder / "job.yaml").write_text(job, encoding="utf-8")
    r = run(saltmill, folder, "load", "job.yaml", "-o", "out", "--quiet", *more)
    assert r.returncode in (0, 3), r.stderr
    r = run(saltmill, folder, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    rows = [json.loads(x) for x in r.stdout.splitlines()]
    return {x["key"]["n"]: {k[2:]: v for k, v in x["cells"].items()} for x in rows}


def test_file_line_and_row_by_hand(saltmill, tmp_path):
    """The row counts values, quoted line ends, and rejected rows, but no header, comment or blank line."""
    (tmp_path / "a.csv").write_text('n,v\n1,x\n\n# no row\n2,"two\nlines"\n3,z,too many\n4,y\n')
    (tmp_path / "b.csv").write_text("n,v\n7,x\n")
    job = f"source: {{csv: {{files: [a.csv, b.csv], comment: '#'}}}}\n{FIELDS}{TABLE}"
    assert cells(saltmill, tmp_path, job, "--max-rejects", "1") == {
        1: {"file": "a.csv", "line": 2, "row": 1}, 2: {"file": "a.csv", "line": 5, "row": 2},
        4: {"file": "a.csv", "line": 8, "row": 4}, 7: {"file": "b.csv", "line": 2, "row": 1}}


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("seed", range(2))
def test_row_and_line_of_many_pieces(saltmill, tmp_path, form, seed):
    """The numbers do not depend on threads. A model counts them in one pass."""
    rng, wanted, text, line = random.Random(f"{form} {seed}"), {}, [], 1
    if form == "csv":
        text.append("n,pad\n")
        line = 2
    for i in range(40000):
        while rng.random() < 0.05:
            text.append("\n")
            line += 1
        wanted[i] = {"file": "in", "line": line, "row": i + 1}
        pad = "x" * rng.randrange(90)
        if form == "csv":
            quoted = rng.random() < 0.1
            text.append(f'{i},"{pad}\n{pad}"\n' if quoted else f"{i},{pad}\n")
            line += 1 + quoted
        else:
            text.append(json.dumps({"n": i, "pad": pad}) + "\n")
            line += 1
    (tmp_path / "in").write_text("".join(text))
    assert cells(saltmill, tmp_path, f"source: {{{form}: {{files: [in]}}}}\n{FIELDS}{TABLE}", "--threads", "4") == wanted


PARTITIONED = """
source: {%s: {files: ["h/*/*/*"], partitions: [dt, city]}}
fields:
  n: u64
  dt: {type: time, format: iso8601}
  dest: {from: city}
tables:
  - name: t
    rowkey: [{field: n, as: u64}]
    timestamp: dt
    families: {f: {}}
    cells: [{family: f, qualifier: city, value: dest, optional: true}, {family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


@pytest.mark.parametrize("form", ["csv", "json"])
def test_partitions_of_hive(saltmill, tmp_path, form):
    """%XX and the folder for null are those of Hive's FileUtils and HiveConf."""
    folders = {1: ("2026-11-01", "a%2Fb%3D%25"), 2: ("2026-11-02", "__HIVE_DEFAULT_PARTITION__"), 3: ("2026-11-02", "Köln")}
    for n, (dt, city) in folders.items():
        path = tmp_path / "h" / f"dt={dt}" / f"city={city}"
        path.mkdir(parents=True)
        (path / "part-0").write_text(f"n\n{n}\n" if form == "csv" else f'{{"n": {n}}}\n')
    assert cells(saltmill, tmp_path, PARTITIONED % form) == {1: {"city": "a/b=%", "n": 1}, 2: {"n": 2}, 3: {"city": "Köln", "n": 3}}
    (tmp_path / "h" / "dt=2026-11-02" / "other").mkdir()
    (tmp_path / "h" / "dt=2026-11-02" / "other" / "part-0").write_text("n\n9\n")
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "again")
    assert r.returncode == 2 and "found no folder `city=...` in the path, expected one for `partitions`" in r.stderr


def test_partition_that_is_also_a_column(saltmill, tmp_path):
    path = tmp_path / "h" / "dt=2026-11-01" / "city=a"
    path.mkdir(parents=True)
    (path / "p").write_text("n,city\n1,b\n")
    (tmp_path / "job.yaml").write_text(PARTITIONED % "csv")
    r = run(saltmill, tmp_path, "check", "job.yaml")
    assert r.returncode == 2 and "found the column `city` in the source and in `partitions` (field `dest`)" in r.stderr


def test_check_shows_them(saltmill, tmp_path):
    (tmp_path / "a.csv").write_text("n\n1\n")
    (tmp_path / "job.yaml").write_text(f"source: {{csv: {{files: [a.csv]}}}}\n{FIELDS}{TABLE}")
    r = run(saltmill, tmp_path, "check", "job.yaml", "--show", "1", "--json")
    shown = {f["name"]: f for f in json.loads(r.stdout)["shown"][0]["fields"]}
    assert [(shown[x]["text"], shown[x]["value"]) for x in ("file", "line", "row")] == [("a.csv", "a.csv"), ("2", "2"), ("1", "1")]


def test_slices_have_no_lines(saltmill, tmp_path):
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    (tmp_path / "job.yaml").write_text(f"source: {{csv: {{files: [a.csv]}}}}\n{FIELDS}{TABLE}")
    r = run(saltmill, tmp_path, "map", "job.yaml", "a.csv", "--slice", "1/2", "--plan", "x", "-o", "out")
    assert r.returncode != 0
    r = run(saltmill, tmp_path, "plan", "job.yaml", "-o", "plan")
    assert r.returncode == 0, r.stderr
    r = run(saltmill, tmp_path, "map", "job.yaml", "a.csv", "--slice", "1/2", "--plan", "plan", "-o", "out")
    assert r.returncode == 2 and "found $line and a slice of a file, expected whole files" in r.stderr, r.stderr


FIRST = """
source: {%s}
fields:
  n: u64
  id: {first: [%s], type: u32%s}
tables:
  - name: t
    rowkey: [{field: n, as: u64}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: id, value: id, optional: true}, {family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


def test_first_of_json(saltmill, tmp_path):
    events = [{"after": {"id": 5}, "before": {"id": 6}}, {"after": None, "before": {"id": 7}}, {"after": {"id": None}},
              {"before": {"id": 8}}]
    (tmp_path / "in").write_text("".join(json.dumps({"n": i, **e}) + "\n" for i, e in enumerate(events)))
    job = FIRST % ("json: {files: [in]}", "after.id, before.id", "")
    assert cells(saltmill, tmp_path, job) == {0: {"id": 5, "n": 0}, 1: {"id": 7, "n": 1}, 2: {"n": 2}, 3: {"id": 8, "n": 3}}


def test_first_of_csv(saltmill, tmp_path):
    """An unquoted NA is null. A default replaces a null of all columns. Later steps see the chosen text."""
    (tmp_path / "in").write_text('n,a,b,c\n0,NA,1,2\n1,,NA,3\n2,,,\n3,4,5,6\n')
    job = FIRST % ("csv: {files: [in], null: [NA]}", "a, b, c", ", map: {1: 11, 3: 13, 4: 14}, default: 9")
    assert {n: x["id"] for n, x in cells(saltmill, tmp_path, job).items()} == {0: 11, 1: 13, 2: 9, 3: 14}


@pytest.mark.parametrize("field, said", [
    ("{first: [a, b], from: a}", "found `first` with `from`, expected one of them"),
    ("{first: []}", "first: found an empty list, expected column names"),
    ("{first: [a, a]}", "first: found `a` twice, expected different names"),
    ("{first: [a, nosuch]}", "the source has no column `nosuch` (field `id`)"),
])
def test_wrong_first(saltmill, tmp_path, field, said):
    (tmp_path / "in").write_text("n,a,b\n0,1,2\n")
    job = (FIRST % ("csv: {files: [in]}", "a", "")).replace("{first: [a], type: u32}", field)
    (tmp_path / "job.yaml").write_text(job)
    r = run(saltmill, tmp_path, "check", "job.yaml")
    assert r.returncode == 2 and said in r.stderr, r.stderr
