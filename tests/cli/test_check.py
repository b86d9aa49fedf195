"""Compares the rows that `check` shows with Python's csv module and with the result of load."""

import csv
import io
import json
import subprocess

import hfile_py
import pytest
from load_help import HEADER, Bench

JOB = """\
source:
  csv: {files: [in.csv], 'null': [NA]}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
  who: {from: [name, '/', town]}
tables:
  - name: t
    rowkey:
      - {salt: 4, of: [id]}
      - {field: id, as: u32}
      - {field: at, as: reversed_millis}
    timestamp: at
    families: {f: {compression: NONE}}
    cells:
      - {family: f, qualifier: w, value: who, optional: true}
      - {family: f, qualifier: n, value: {field: id, as: text}}
    regions: {split: none}
"""


def data(n):
    out = io.StringIO()
    w = csv.writer(out, lineterminator="\n")
    w.writerow(["id", "at", "name", "town", "spare"])
    for i in range(n):
        w.writerow([i if i % 10 else f"x{i}", 1_500_000_000 + i // 3, f'n"{i % 7}' if i % 4 else "NA", "\u5317", i])
    return out.getvalue().encode()


def check(bench, *args):
    r = subprocess.run([bench.program, "check", "job.yaml", *args], cwd=bench.folder, capture_output=True, text=True, timeout=60)
    return r


def test_counts_and_cells(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, JOB)
    bench.input(data(1200))
    r = check(bench, "--json")
    assert r.returncode == 3, r.stderr
    got = json.loads(r.stdout)
    rows = list(csv.reader(io.StringIO(data(1200).decode())))[1:1001]
    good = [x for x in rows if x[0].isdigit()]
    assert (got["rows"], got["whole"], got["good"], got["rejected"], got["filtered"]) == (1000, False, len(good), 1000 - len(good), 0)
    fields = {f["name"]: f for f in got["fields"]}
    assert fields["id"]["distinct"] == len(good) and fields["id"]["nulls"] == 0
    assert fields["at"]["distinct"] == len({x[1] for x in good})
    assert fields["who"]["nulls"] == sum(x[2] == "NA" for x in good)
    assert fields["who"]["distinct"] == len({(x[2], x[3]) for x in good if x[2] != "NA"})
    assert got["unused_columns"] == ["spare"]
    assert got["reasons"] == {"bad_number": 100} and len(got["rejects"]) == 10
    first = got["rejects"][0]
    assert (first["line"], first["field"], first["reason"]) == (2, "id", "bad_number") and "found `x0`" in first["detail"]
    # check shows the values that load stores
    bench.run("--max-rejects", "100%")
    stored = {(c.row, c.family.decode(), c.qualifier.decode(), c.ts): c.value for p in bench.out.glob("t/hfiles/*/*")
              for c in hfile_py.read(p)}
    assert len(got["shown"]) == 3
    for row, source in zip(got["shown"], good):
        texts = {f["name"]: f["text"] for f in row["fields"]}
        assert texts == {"id": source[0], "at": source[1], "who": f"name={source[2]}, town={source[3]}"}
        values = {f["name"]: f["value"] for f in row["fields"]}
        assert values["who"] == (None if source[2] == "NA" else f"{source[2]}/{source[3]}") and values["id"] == source[0]
        [t] = row["tables"]
        key = unescaped(t["row"])
        assert f"id {source[0]}, at 2017-07-14T" in t["key"]
        cells = {(key, c["family"], c["qualifier"], c["timestamp"]): unescaped(c["value"]) for c in t["cells"]}
        assert cells == {k: v for k, v in stored.items() if k[0] == key} and cells


def unescaped(text):
    out = bytearray()
    while text:
        if text.startswith("\\x"):
            out.append(int(text[2:4], 16))
            text = text[4:]
        else:
            out += text[0].encode()
            text = text[1:]
    return bytes(out)


def test_as_text(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, JOB)
    bench.input(data(12))
    r = check(bench, "--show", "1", "--rows", "11")
    assert r.returncode == 3, r.stderr
    assert r.stdout.startswith("looked at the first 11 rows: 9 good, 2 rejected\n")
    assert "in.csv:2 (byte 22): bad_number: id: found `x0`, expected a whole number" in r.stdout
    assert "columns that no field uses: spare\n" in r.stdout and "rejected: bad_number 2\n" in r.stdout
    assert r.stdout.count(" -> ") == 3 and "`name=n\"1, town=\u5317` -> n\"1/\u5317" in r.stdout
    assert check(bench, "--rows", "5").stdout.startswith("looked at the first 5 rows")
    bench.input(data(1).replace(b"x0", b"7"))
    r = check(bench)
    assert r.returncode == 0 and r.stdout.startswith("looked at all 1 rows: 1 good, 0 rejected\n")


def test_it_leaves_nothing_and_says_what_is_wrong(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, JOB)
    bench.input(HEADER + b"1,2,3\n")
    r = check(bench)
    assert r.returncode == 2 and "the source has no column `name`" in r.stderr and r.stdout == ""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "job.yaml"]
    assert check(bench, "none.csv").returncode == 1
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv], 'null': [NA]}",
                                                   "kafka: {brokers: '127.0.0.1:1', topic: t, format: json, patience: 1s}"))
    r = check(bench)
    assert r.returncode == 1 and "127.0.0.1:1" in r.stderr


@pytest.mark.parametrize("args", [["--rows", "0"], ["--rows", "x"], ["--show", "9999999"]])
def test_options(tmp_path, saltmill, args):
    bench = Bench(tmp_path, saltmill, JOB)
    r = check(bench, *args)
    assert r.returncode == 2 and f"{args[0]}: found `{args[1]}`" in r.stderr


@pytest.mark.parametrize("unit, at, said", [
    ("ms", [1_500_000_000, 1_700_000_000], "before March 1973, but would be recent in seconds; write `unit: s`"),
    ("s", [120_000_000_000], "after the year 5138, but would be recent in milliseconds; write `unit: ms`"),
    ("ms", [1_500_000_000, 1_700_000_000_000], None), ("s", [1_500_000_000], None), ("ms", [5, 7], None),
])
def test_times_in_another_unit(tmp_path, saltmill, unit, at, said):
    """check judges every time field, not only the time of the cells."""
    job = JOB.replace("unit: s}", "unit: s}\n  seen: {type: time, unit: %s}" % unit)
    job = job.replace("cells:", "cells:\n      - {family: f, qualifier: s, value: seen}")
    bench = Bench(tmp_path, saltmill, job)
    bench.input(b"id,at,name,town,seen\n" + b"".join(b"%d,1500000000,a,b,%d\n" % (i, t) for i, t in enumerate(at)))
    r = check(bench)
    assert r.returncode == 0 and ("warning" in r.stdout) == (said is not None), r.stdout
    fields = {f["name"]: f for f in json.loads(check(bench, "--json").stdout)["fields"]}
    assert "warning" not in fields["at"] and ("warning" in fields["seen"]) == (said is not None)
    if said:
        assert f"warning: all times of `seen` are {said}\n" in r.stdout
        assert fields["seen"]["warning"] == f"all times of `seen` are {said}"
