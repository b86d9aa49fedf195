"""Tests mistakes of new users. Each message has the fix."""

import subprocess

import pytest

JOB = """\
source: {csv: {files: [e.csv]}}
fields:
  id: u64
  at: {type: time, format: iso8601}
tables:
  - name: t
    rowkey: [{field: id, as: u64}]
    timestamp: at
    families: {f: {}}
    cells:
      - {family: f, qualifier: name, value: name}
      - {family: f, qualifier: 日, value: v}
    regions: {split: sampled, count: 2}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, saltmill):
    """Makes a job, its input and its load."""
    path = tmp_path_factory.mktemp("mistakes")
    (path / "job.yaml").write_text(JOB, encoding="utf-8")
    (path / "e.csv").write_text("id,at,name,v\n1,2025-11-16T10:00:00Z,anna,1.5\n2,2025-11-17,bob,2.5\n")
    (path / "e.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    subprocess.run([saltmill, "load", "job.yaml", "-o", "out", "--quiet"], cwd=path, check=True)
    return path


def run(saltmill, folder, *words):
    return subprocess.run([saltmill, *words], cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("was, written, said", [
    ("id: u64", "id: int", "type: found `int`; did you mean `i64`?"),
    ("id: u64", "id: {type: INTEGER}", "type: found `INTEGER`; did you mean `i64`?"),
    ("id: u64", "id: varchar(20)", "type: found `varchar(20)`; did you mean `text`?"),
    ("id: u64", "id: string", "type: found `string`; did you mean `text`?"),
    ("id: u64", "id: timestamp", "type: found `timestamp`; did you mean `time`?"),
    ("id: u64", "id: double", "type: found `double`; did you mean `f64`?"),
    ("id: u64", "id: boolean", "type: found `boolean`; did you mean `bool`?"),
    ("as: u64", "as: string", "as: found `string`; did you mean `text`?"),
    ("as: u64", "as: int32", "as: found `int32`; did you mean `i32`?"),
    ("as: u64", "as: timestamp", "as: found `timestamp`; did you mean `millis`?"),
    ("source:", "input:", "unknown key `input`; did you mean `source`?"),
    ("- name: t", "- table: t", "unknown key `table`; did you mean `name`?"),
    ("files:", "path:", "unknown key `path`; did you mean `files`?"),
    ("qualifier: name", "column: name", "unknown key `column`; did you mean `qualifier`?"),
    ("[e.csv]", "[e.csv], delimiter: tab", 'delimiter: found `tab`, expected one byte; write `delimiter: "\\t"`'),
    ("[e.csv]", "[e.csv], sep: ','", "unknown key `sep`; did you mean `delimiter`?"),
    ("{split: sampled, count: 2}", "16", "expected a mapping; write `regions: {split: sampled, count: 16}`"),
    ("{split: sampled, count: 2}", "10G", "expected a mapping; write `regions: {split: sampled, size: 10G}`"),
    ("iso8601", '"yyyy-MM-dd HH:mm:ss"', "found the Java pattern `yyyy-MM-dd HH:mm:ss`, expected letters of strptime; "
     'write `format: "%Y-%m-%d %H:%M:%S"`'),
    ("iso8601", "\"dd/MMM/yyyy'T'HH:mm:ss.SSS Z\"", 'write `format: "%d/%b/%YT%H:%M:%S.%f %z"`'),
])
def test_in_the_job(saltmill, folder, was, written, said):
    assert JOB.count(was) == 1, was
    (folder / "wrong.yaml").write_text(JOB.replace(was, written), encoding="utf-8")
    r = run(saltmill, folder, "check", "wrong.yaml")
    assert r.returncode == 2 and said in r.stderr, r.stderr


def test_the_fixes_are_right(saltmill, folder):
    """A job with the texts that the messages propose."""
    job = JOB.replace("id: u64", "id: i64").replace("as: u64", "as: i64").replace("[e.csv]", '[e.tsv], delimiter: "\\t"')
    job = job.replace("format: iso8601", 'format: "%d/%b/%YT%H:%M:%S.%f %z"')
    (folder / "right.yaml").write_text(job, encoding="utf-8")
    (folder / "e.tsv").write_text("id\tat\tname\tv\n1\t16/Nov/2025T10:00:00.250 +0100\tanna\t1.5\n")
    r = run(saltmill, folder, "load", "right.yaml", "-o", "right")
    assert r.returncode == 0, r.stderr
    r = run(saltmill, folder, "scan", "right.yaml", "right")
    assert "  1763283600250  2025-11-16T09:00:00.250Z  anna\n" in r.stdout, r


@pytest.mark.parametrize("words, said", [
    (["laod", "job.yaml"], "found no command `laod`; did you mean `saltmill load`?"),
    (["--json", "load", "job.yaml"], "found option `--json` before the command, expected `saltmill COMMAND [options]`"),
    (["-o", "x", "load", "job.yaml"], "found option `-o` before the command"),
    (["load", "e.csv", "-o", "x"], "to make a job for a data file, run `saltmill init e.csv -o job.yaml`"),
    (["plan", "e.jsonl"], "to make a job for a data file, run `saltmill init e.jsonl -o job.yaml`"),
    (["get", "job.yaml", "out"], "found no row, expected --row KEY, or FIELD=VALUE"),
    (["get", "job.yaml", "out", "id=1", "--row", "a"], ": found both --row and FIELD=VALUE, expected only one of them"),
    (["scan", "job.yaml", "out", "--where", "id == 1"], "found `=`, expected a value; write `=` once"),
    (["scan", "job.yaml", "out", "--where", "id = 1 || id = 2"], "found `||`, expected `or`"),
    (["scan", "job.yaml", "out", "--where", "id = 1 && id = 2"], "found `&&`, expected `and`"),
    (["scan", "job.yaml", "out", "--where", "(id = 1 && id = 2)"], "found `&&`, expected `and`"),
    (["scan", "job.yaml", "out", "--where", "!(id = 1)"], "found `!`, expected `not`"),
    (["scan", "job.yaml", "out", "--where", "name LIKE 'a%'"], "found `LIKE`, expected `starts with`"),
    (["scan", "job.yaml", "out", "--where", "at > 17.11.2025"], "found `17.11.2025`, expected an ISO 8601 time, such as 2012-09-01 or"),
])
def test_in_the_command(saltmill, folder, words, said):
    r = run(saltmill, folder, *words)
    assert r.returncode == 2 and said in r.stderr + r.stdout, r.stderr


def test_report_of_a_job(saltmill, folder):
    r = run(saltmill, folder, "report", "job.yaml")
    assert r.returncode == 1 and "run `saltmill load JOB -o DIR`, and then `saltmill report DIR`" in r.stderr


def test_no_row_has_the_key(saltmill, folder):
    r = run(saltmill, folder, "get", "job.yaml", "out", "--row", "id=1")
    assert (r.returncode, r.stdout) == (0, "") and "write `id=1` without --row" in r.stderr
    r = run(saltmill, folder, "get", "job.yaml", "out", "id=77")
    assert (r.returncode, r.stdout) == (0, "") and r.stderr == "saltmill get: no row has this key\n"
    r = run(saltmill, folder, "get", "job.yaml", "out", "id=1")
    assert r.stdout and r.stderr == ""


@pytest.mark.parametrize("column, rows", [("日", 2), ("\\xE6\\x97\\xA5", 2), ("name", 2)])
def test_qualifiers_in_utf8(saltmill, folder, column, rows):
    r = run(saltmill, folder, "scan", "job.yaml", "out", "--columns", f"f:{column}")
    assert (len(r.stdout.splitlines()), r.stderr) == (rows, "")
    r = run(saltmill, folder, "scan", "job.yaml", "out", "--where", f"f:{column} >= '1'", "--columns", "f:name")
    assert (len(r.stdout.splitlines()), r.stderr) == (rows, "")


def test_keys_in_utf8(saltmill, folder):
    """A text key that users type is the key of the load."""
    (folder / "text.yaml").write_text(JOB.replace("field: id, as: u64", "field: name"), encoding="utf-8")
    (folder / "t.csv").write_text("id,at,name,v\n1,2025-11-16,日本,x\n2,2025-11-16,é,y\n", encoding="utf-8")
    assert run(saltmill, folder, "load", "text.yaml", "t.csv", "-o", "text").returncode == 0
    for key, value in (("日本", "x"), ("é", "y")):
        for words in (["get", "text.yaml", "text", "--row", key], ["scan", "text.yaml", "text", "--prefix", key]):
            r = run(saltmill, folder, *words, "--columns", "f:日")
            assert len(r.stdout.splitlines()) == 1 and r.stdout.endswith(f"Z  {value}\n"), (key, r)
        assert run(saltmill, folder, "key", "decode", "text.yaml", key).stdout.strip().endswith(key)


@pytest.mark.parametrize("words", [["--columns", "f:nosuch"], ["--where", "f:nosuch = 1"]])
def test_column_of_no_job(saltmill, folder, words):
    r = run(saltmill, folder, "scan", "job.yaml", "out", *words)
    assert (r.returncode, r.stdout) == (0, "")
    assert "the job has no column `f:nosuch`, so only other writers can have written it" in r.stderr
