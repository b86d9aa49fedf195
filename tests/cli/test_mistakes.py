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
    ("iso8601", '"yyyy-MM-dd HH:mm:ss"', "found the pattern `yyyy-MM-dd HH:mm:ss`, expected letters of strptime; "
     'write `format: "%Y-%m-%d %H:%M:%S"`'),
    ("iso8601", "\"dd/MMM/yyyy'T'HH:mm:ss.SSS Z\"", 'write `format: "%d/%b/%YT%H:%M:%S.%f %z"`'),
    ("iso8601", '"YYYY-MM-DD HH24:MI:SS"', 'write `format: "%Y-%m-%d %H:%M:%S"`'),
    ("iso8601", '"%Y-%M-%d"', "format: found %M, the minute, and no month, expected %m"),
    ("iso8601", '"%Y-%m-%d %H:%m:%S"', "format: found %m, the month, twice, expected %M for the minute"),
    ("iso8601", '"%Y-%m-%d %H:%M:%s"', "found %s, the seconds since 1970, expected %S for the second"),
    ("iso8601", "unix", "format: found `unix`, expected `iso8601` or letters of strptime; write `unit: s`"),
    ("iso8601", "epoch_ms", "write `unit: ms`"),
    ("iso8601", "ISO", "write `format: iso8601`"),
    ("iso8601", "iso8601, zone: Berlin", "unknown zone `Berlin`; did you mean `Europe/Berlin`?"),
    ("iso8601", "iso8601, zone: New York", "unknown zone `New York`; did you mean `America/New_York`?"),
    ("format: iso8601", "unit: seconds", "unit: found `seconds`; did you mean `s`?"),
    ("format: iso8601", "unit: millis", "unit: found `millis`; did you mean `ms`?"),
    ("id: u64", "id: json", "type: found `json`; did you mean `text`?"),
    ("id: u64", 'id: "decimal(10,2)"', "type: found `decimal(10,2)`; did you mean `decimal`?"),
    ("id: u64", "id: bigint unsigned", "did you mean `i64`?"),
    ("id: u64", "id: {typ: u64}", "unknown key `typ`; did you mean `type`?"),
    ("id: u64", "id: u64\n  nosuch: u32", "the source has no column `nosuch` (field `nosuch`), expected one of id, at, name, v"),
    ("[{field: id, as: u64}]", "id", "rowkey: found `id`, expected a list of parts: [{field: a, as: u32}, {field: b}]"),
    ("[{field: id, as: u64}]", "[id]", "a part: found `id`, expected a mapping like {field: userId, as: u64}"),
    ("[{field: id, as: u64}]", "[{column: id}]", "unknown kind of part `column`; did you mean `field`?"),
    ("[{field: id, as: u64}]", "[{field: Id}]", "the source has no column `Id` (field `Id`); did you mean `id`?"),
    ("[{field: id, as: u64}]", "[{field: id, type: u64}]", "unknown key `type`; did you mean `as`?"),
    ("[{field: id, as: u64}]", "[{field: id, as: md5}]", "write `{hash: md5, of: [FIELD], bytes: 8}`"),
    ("[{field: id, as: u64}]", "[{salt: 16}, {field: id}]", "a salt lacks the key `of`, expected names of fields"),
    ("[{field: id, as: u64}]", "[{field: name}, {field: id, as: u64}]", "expected `width: n` or `terminator:"),
    ("timestamp: at", "timestamp: now", "timestamp: found `now`, expected a field of type time, or milliseconds"),
    ("timestamp: at", "timestamp: name", "declare the field under fields: `name: {type: time, unit: s}`"),
    ("{f: {}}", "[f]", "families: found a list, expected a mapping like `f: {versions: 1}`"),
    ("{f: {}}", "{'f:': {}}", "family name: found `f:`, expected a name without a colon; write `f`"),
    ("{f: {}}", "{g: {}}", "unknown family `f`; known: g"),
    ("{f: {}}", "{f: {compression: gzip}}", "compression: found `gzip`; did you mean `GZ`?"),
    ("{f: {}}", "{f: {compression: zstandard}}", "compression: found `zstandard`; did you mean `ZSTD`?"),
    ("{f: {}}", "{f: {COMPRESSION: ZSTD}}", "unknown key `COMPRESSION`; did you mean `compression`?"),
    ("{f: {}}", "{f: {bloomfilter: true}}", "bloomfilter: found `true`; did you mean `ROW`?"),
    ("{f: {}}", "{f: {ttl: 1y}}", "ttl: found `1y`, expected a time like 90s, 15m, 24h, 3650d or forever"),
    ("{f: {}}", "{f: {versions: all}}", "write `versions: 2147483647`"),
    ("value: name}", "field: name}", "unknown key `field`; did you mean `value`?"),
    ("- {family: f, qualifier: name, value: name}", "- f:name", "expected a mapping like {family: f, qualifier: q, val"),
    ("{split: sampled, count: 2}", "{split: auto}", "split: found `auto`; did you mean `sampled`?"),
    ("{split: sampled, count: 2}", "{split: HexStringSplit, count: 4}", "did you mean `hex`?"),
    ("{split: sampled, count: 2}", "{split: sampled, number: 4}", "unknown key `number`; did you mean `count`?"),
    ("{split: sampled, count: 2}", "{split: sampled, size: 10}", "expected a unit; write `size: 10G`"),
    ("{csv: {files: [e.csv]}}", "e.csv", "write `source: {csv: {files: [e.csv]}}`"),
    ("{csv: {files: [e.csv]}}", "{csv: e.csv}", "write `csv: {files: [e.csv]}`"),
    ("{csv: {files: [e.csv]}}", "{format: csv, files: [e.csv]}", "write `source: {csv: {files: [e.csv]}}`"),
    ("{csv: {files: [e.csv]}}", "{parquet: {files: [e.parquet]}}", "found `parquet`, which saltmill does not read"),
    ("source: {csv:", "csv: {x:", "unknown key `csv`, expected it under `source`"),
    ("[e.csv]", "[e.csv], header: no", "write `header: false`"),
    ("[e.csv]", "[e.csv], header: 1", "write `header: true`"),
    ("[e.csv]", "[e.csv], delimiter: pipe", 'write `delimiter: "|"`'),
    ("[e.csv]", "[e.csv], delimiter: ';'", 'its header `id,at,name,v` is one column; write `delimiter: ","`'),
    ("[e.csv]", "[e.csv], quote: none", "write `quotes: none`"),
    ("[e.csv]", "[e.csv], encoding: ansi", "write `encoding: cp1252`"),
    ("[e.csv]", "[e.csv], skip_header: 1", "unknown key `skip_header`; did you mean `skip`?"),
    ("[e.csv]", "[e.csv], compression: gzip", "expected no such key, because the bytes of a file show its compression"),
    ("fields:\n", "fields:\n\t", "not YAML: found a tab, expected spaces"),
    ("  id: u64", "  id: u64\n  id: u32", "found the key `id` twice in one mapping, first in line 3"),
    ("- name: t", "- name: my table", 'table name "my table": found U+0020, expected letters, digits, _ . and -'),
    ("  id: u64", "  id = u64", "the line before may lack `: ` after its key"),
    ("[e.csv]", '["C:\\data\\e.csv"]', "write a text with backslashes between single quotes"),
    ("[e.csv]", "['C:\\data\\e.csv']", "found a path of Windows, expected one of this system; WSL has the drive in `/mnt/c`"),
    ("[e.csv]", "[file:///tmp/e.csv]", "found a URL, expected a file; write `/tmp/e.csv`"),
    ("[e.csv]", "[“e.csv”]", "found typographic quotes, expected ' or \" around the name"),
    ("[e.csv]", "[e.csv], seperator: ';'", "unknown key `seperator`; did you mean `delimiter`?"),
    ("[e.csv]", "[e.csv], has_header: true", "unknown key `has_header`; did you mean `header`?"),
    ("[{field: id, as: u64}]", "[{field: id; as: u64}]", "write commas between items, and close each bracket"),
    ("timestamp: at", "ts: at", "unknown key `ts`; did you mean `timestamp`?"),
    ("families: {f", "family: {f", "unknown key `family`; did you mean `families`?"),
    ("iso8601", "iso8601, zone: GMT+8", "unknown zone `GMT+8`; did you mean `+08:00`?"),
    ("{f: {}}", "{f: {ttl: 30 days}}", "found `30 days`, expected no blank; write `ttl: 30d`"),
    ("{f: {}}", "{f: {ttl: 10 ms}}", "expected a time like 90s"),
    ("    rowkey:", "    row_key:", "unknown key `row_key`; did you mean `rowkey`?"),
])
def test_in_the_job(saltmill, folder, was, written, said):
    assert JOB.count(was) == 1, was
    (folder / "wrong.yaml").write_text(JOB.replace(was, written), encoding="utf-8")
    r = run(saltmill, folder, "check", "wrong.yaml")
    assert r.returncode == 2 and said in r.stderr, r.stderr


def test_a_field_may_be_named_now(saltmill, folder):
    job = JOB.replace("at: {type: time, format: iso8601}", "now: {from: at, type: time, format: iso8601}")
    (folder / "now.yaml").write_text(job.replace("timestamp: at", "timestamp: now"), encoding="utf-8")
    assert run(saltmill, folder, "check", "now.yaml").returncode == 0


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
    (["import", "job.yaml"], "found no command `import`; did you mean `saltmill load`?"),
    (["help", "laod"], "did you mean `saltmill help load`?"),
    (["help", "delimeter"], "did you mean `saltmill help delimiter`?"),
    (["load", "job.yaml"], "found no output folder, expected `-o DIR`"),
    (["load", "job.yml", "-o", "x"], "cannot open job.yml: No such file or directory; did you mean `job.yaml`?"),
    (["load", "out", "-o", "x"], "out: found a folder, expected a job file"),
    (["load", "job.yaml", "-o", "out"], "-o: out exists, expected a new folder"),
    (["load", "job.yaml", "-o", "x", "--memory", "64"], "--memory: found `64`, expected a size like 256M, from 16M"),
    (["load", "job.yaml", "-o", "x", "--dry-run"], "unknown option `--dry-run`, which belongs to apply"),
    (["load", "job.yaml", "https://x.test/e.csv", "-o", "x"], "found a URL, expected a file; write `curl -fsS URL | saltmill"),
    (["init", "out"], "out: found a published load, expected a file of events"),
    (["init", "job.yaml"], "found a YAML file, expected a file of events; for a job, run `saltmill check job.yaml`"),
    (["init", "e.csv", "-o", "job.yaml"], "-o: job.yaml exists, expected a new file"),
    (["split", "hex", "16"], "ALGORITHM: found `hex`; did you mean HexStringSplit?"),
    (["apply", "out"], "found no --hbase, expected `--hbase HOST[:PORT],...`"),
    (["apply", "out", "--hbase", "http://h.test:1/x"], "found the URL `http://h.test:1/x`, expected HOST[:PORT]; write `h.test:1`"),
    (["apply", "job.yaml", "--hbase", "h.test"], "job.yaml: found no manifest.json, expected the folder of a published load"),
    (["scan", "out", "job.yaml"], "out: found a folder, expected a job file; the job is the first operand"),
    (["scan", "job.yaml"], "found 1 operand, expected a job and the folders of loads"),
    (["scan", "job.yaml", "out", "--columns", "name"], "a column is FAMILY:QUALIFIER, such as `f:name`"),
    (["scan", "job.yaml", "out", "--columns", "f.name"], "a column is FAMILY:QUALIFIER, such as `f:name`"),
    (["scan", "job.yaml", "out", "--filter", "id = 1"], "unknown option `--filter`, did you mean `--where`?"),
    (["scan", "job.yaml", "out", "--format", "json"], "expected table, csv or jsonl; write `--format jsonl`"),
    (["scan", "job.yaml", "out", "--limit", "ten"], "--limit: found `ten`, expected a whole number from 1"),
    (["scan", "job.yaml", "out", "--table", "x"], "job.yaml has no table `x`, expected one of: t"),
    (["scan", "job.yaml", "out", "--where", "name = anna smith"], "a value with spaces needs quotes"),
    (["scan", "job.yaml", "out", "--where", "name = null"], "found `null`, expected a value; write `is null`"),
    (["scan", "job.yaml", "out", "--where", "name != null"], "found `null`, expected a value; write `is not null`"),
    (["scan", "job.yaml", "out", "--where", "where id = 1"], "found `where`, expected only the condition"),
    (["scan", "job.yaml", "out", "--where", "select * from t"], "found `select`, expected only the condition"),
    (["scan", "job.yaml", "out", "--where", "nosuch = 1"], "has no field `nosuch`, expected one of id, at, name, v"),
    (["scan", "job.yaml", "out", "--where", "Id = 1"], "has no field `Id`; did you mean `id`?"),
    (["scan", "job.yaml", "out", "--where", "name ~ 'a'"], "found `~`, expected `starts with`, the only pattern"),
    (["scan", "job.yaml", "out", "--where", "name startswith a"], "found `startswith`, expected `starts with`"),
    (["scan", "job.yaml", "out", "--where", "id =< 5"], "found `<`, expected a value; write `<=`"),
    (["scan", "job.yaml", "out", "--where", "id = 1 limit 5"], "found `limit`, expected the end; use the option --limit"),
    (["scan", "job.yaml", "out", "--where", "id = 1 order by at"], "because rows come in the order of the row key"),
    (["scan", "job.yaml", "out", "--where", "id in 1,2"], "found `1`, expected `(` and the values"),
    (["get", "job.yaml", "out", "id:1"], "found `id:1`, expected FIELD=VALUE for each field of the row key, or --row KEY"),
    (["get", "job.yaml", "out", "1"], "found `1`, expected FIELD=VALUE for each field of the row key, or --row KEY"),
    (["get", "job.yaml", "out", "name=anna"], "found `name`, expected only fields in the row key of table t, or `scan --where`"),
    (["key", "job.yaml", "id=1"], "found `job.yaml`, expected encode, decode or ranges before the job"),
    (["key", "encode", "job.yaml", "id:1"], "found `id:1`, expected FIELD=VALUE; write `id=1`"),
    (["key", "ranges", "job.yaml", "id = 1"], "found no --where, expected a query like"),
    (["init", "e.csv", "-o", "-"], "leave out -o for standard output"),
    (["stream", "job.yaml"], "job.yaml: found a source of files, expected kafka"),
    (["scan", "job.yaml", "out", "--where", "at > 17.11.2025"], "found `17.11.2025`, expected an ISO 8601 time, such as 2012-09-01 or"),
])
def test_in_the_command(saltmill, folder, words, said):
    r = run(saltmill, folder, *words)
    assert r.returncode == 2 and said in r.stderr + r.stdout, r.stderr


@pytest.mark.parametrize("words, said", [
    (["load", "job.yaml", "-j", "4", "-o", "x"], "unknown option `-j`, did you mean `--threads`?"),
    (["load", "job.yaml", "-t", "4", "-o", "x"], "unknown option `-t`, did you mean `--threads`?"),
    (["init", "-t", "x"], "unknown option `-t`, did you mean `--table`?"),
    (["init", "--host", "h", "--table", "t"], "unknown option `--host`, did you mean `--hbase`?"),
    (["init", "--hbase", "h:2181/", "--table", "t"], "found a path in the server `h:2181/`, expected HOST or HOST:PORT; write `h:2181`"),
])
def test_options_of_other_programs(saltmill, folder, words, said):
    r = run(saltmill, folder, *words)
    assert r.returncode and said in r.stderr, r.stderr


@pytest.mark.parametrize("words, said", [
    (["load", "job.yaml", "e.jsonl", "-o", "x"], "e.jsonl:1: found JSON, expected the column names of CSV; write `source: {json:"),
    (["load", "job.yaml", "nosuch.csv", "-o", "x"], "nosuch.csv: No such file or directory"),
    (["inspect", "out"], "out: found a folder, expected an HFile"),
])
def test_in_the_files(saltmill, folder, words, said):
    r = run(saltmill, folder, *words)
    assert r.returncode == 1 and said in r.stderr, r.stderr


def test_a_key_that_is_a_condition(saltmill, folder):
    for option in ("--start", "--stop", "--prefix"):
        r = run(saltmill, folder, "scan", "job.yaml", "out", option, "id=1")
        said = f'{option}: found `id=1`, expected a row key; for a condition, write `--where "id=1"`'
        assert r.returncode == 0 and said in r.stderr, r.stderr


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
