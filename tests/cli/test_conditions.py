"""Tests the conditions `where`, `when` and `skip_matching`. test_random_loads.py has random loads with conditions."""

import json
import subprocess

import hfile_py
from load_help import Bench

JOB = """\
source:
  csv: {files: [in.csv], skip_matching: "^(TRAILER|SUM),"}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
  amount: {type: decimal, scale: 2}
where: amount > 0 and kind in (A, B)
tables:
  - name: a
    rowkey: [{field: id, as: text}]
    timestamp: at
    families: {f: {compression: NONE}}
    cells:
      - {family: f, qualifier: v, value: name}
      - {family: f, qualifier: s, value: {const: "yes"}, when: kind = A}
      - {family: f, qualifier: s, value: {const: "no"}, when: kind = B}
  - name: b
    when: name starts with "x"
    rowkey: [{field: other, as: text}]
    timestamp: 5
    families: {f: {compression: NONE}}
    cells: [{family: f, qualifier: v, value: {field: id, as: u32}}]
"""
EVENTS = b"""\
id,at,amount,kind,name,other
1,1,1.00,A,x,o1
2,6,2.00,B,y,
3,2,-1.00,A,x,o3
4,9,,A,x,o4
5,word,2,C,x,o5
TRAILER,7,"
6,10,3.5,B,xx,o6
SUM,
"""


def cells(folder, table):
    files = sorted((folder / "out" / table / "hfiles").glob("*/*"))
    return {(c.row.decode(), c.qualifier.decode()): c.value for f in files for c in hfile_py.read(f)}


def test_events_tables_and_cells_are_chosen(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill, JOB)
    b.input(EVENTS)
    r = b.run()
    assert r.returncode == 0, r.stderr
    assert cells(tmp_path, "a") == {("1", "v"): b"x", ("1", "s"): b"yes", ("2", "v"): b"y", ("2", "s"): b"no",
                                    ("6", "v"): b"xx", ("6", "s"): b"no"}
    assert cells(tmp_path, "b") == {("o1", "v"): b"\0\0\0\1", ("o6", "v"): b"\0\0\0\6"}
    m = b.manifest()
    assert m["read"] == 8
    assert [(t["loaded"], t["filtered"]) for t in m["tables"]] == [(3, 5), (2, 6)]
    assert "filtered 5" in r.stdout.decode()
    v = subprocess.run([saltmill, "verify", "out"], cwd=tmp_path, capture_output=True)
    assert v.returncode == 0, v.stdout


TRAILERS = """\
source:
  csv: {files: [in.csv], header: false, columns: [id, name], skip_matching: "TRAILER"}
tables:
  - name: a
    rowkey: [{field: id, as: text}]
    timestamp: 5
    families: {f: {compression: NONE}}
    cells: [{family: f, qualifier: v, value: name}]
"""


def skip_trailers(tmp_path, saltmill, text, *options):
    """Returns the loaded (row, value) pairs, the result of the run, and the manifest."""
    b = Bench(tmp_path, saltmill, TRAILERS)
    b.input(text)
    r = b.run(*options)
    assert r.returncode in (0, 3), r.stderr
    return [(row, value) for (row, _), value in sorted(cells(tmp_path, "a").items())], r, b.manifest()


def test_a_stray_quote_in_a_skipped_line_costs_no_other_line(tmp_path, saltmill):
    """The quote opens in line 1 and closes in line 2. Only line 1 matches the pattern."""
    got, r, m = skip_trailers(tmp_path, saltmill, b'1,a\nTRAILER,"5 pcs\n2,"b"\n3,c\n')
    assert got == [("1", b"a"), ("2", b"b"), ("3", b"c")]
    assert (m["read"], m["rejected"], m["tables"][0]["filtered"]) == (4, 0, 1)
    assert "filtered_lines" not in m and "several lines" not in r.stdout.decode()


def test_a_malformed_row_that_matches_later_is_rejected(tmp_path, saltmill):
    """The first line does not match, so saltmill reports each dropped value of the row."""
    got, r, m = skip_trailers(tmp_path, saltmill, b'1,"a\nTRAILER,"b"\n3,c\n', "--max-rejects", "1")
    assert got == [("3", b"c")]
    assert (m["read"], m["rejected"], m["tables"][0]["filtered"]) == (2, 1, 0)
    assert m["rejected_lines"] == 1 and "filtered_lines" not in m
    assert "events of several lines: 1 more line inside rejected events, 0 inside filtered events" in r.stdout.decode()


def test_lines_inside_filtered_events_are_reported(tmp_path, saltmill):
    """The second quote closes the first. By RFC 4180, three lines are one value of the skipped row."""
    got, r, m = skip_trailers(tmp_path, saltmill, b'1,a\nTRAILER,"5 pcs\n2,b\n3,c"\n4,d\n')
    assert got == [("1", b"a"), ("4", b"d")]
    assert (m["filtered_lines"], m["tables"][0]["filtered"]) == (2, 1)
    assert "0 more lines inside rejected events, 2 inside filtered events" in r.stdout.decode()


def test_lines_inside_events_that_where_drops_are_reported(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill, TRAILERS.replace('tables:', 'where: id != "9"\ntables:'))
    b.input(b'1,a\n9,"b\nc\n\nd"\n4,d\n')
    r = b.run()
    assert r.returncode == 0, r.stderr
    assert b.manifest()["filtered_lines"] == 3


def test_plan_counts_what_load_loads(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill, JOB)
    b.input(EVENTS)
    r = subprocess.run([saltmill, "plan", "job.yaml", "--json"], cwd=tmp_path, capture_output=True)
    assert r.returncode == 0, r.stderr
    assert [t["rows"] for t in json.loads(r.stdout)["tables"]] == [3, 2]


def test_only_what_an_event_feeds_is_judged(tmp_path, saltmill):
    """A file with several kinds of lines, whose columns have different meanings."""
    b = Bench(tmp_path, saltmill, """\
source: {csv: {files: [in.csv], columns: [kind, id, x], missing: "null"}}
fields: {id: u32, amount: {type: i64, from: x}, title: {from: x}}
tables:
  - name: order
    when: kind = H
    rowkey: [{field: id, as: text}]
    timestamp: 1
    families: {f: {compression: NONE}}
    cells: [{family: f, qualifier: t, value: title}]
  - name: line
    when: kind = L and amount != 0
    rowkey: [{field: id, as: text}]
    timestamp: 1
    families: {f: {compression: NONE}}
    cells: [{family: f, qualifier: a, value: {field: amount, as: i64}}]
""")
    b.input(b"H,1,books\nL,1,7\nL,2,0\nT\nX,none,none\n")
    r = b.run()
    assert r.returncode == 0, r.stderr
    assert cells(tmp_path, "order") == {("1", "t"): b"books"}
    assert cells(tmp_path, "line") == {("1", "a"): (7).to_bytes(8, "big")}
    assert [t["filtered"] for t in b.manifest()["tables"]] == [4, 4]


def test_what_is_fed_must_be_whole(tmp_path, saltmill):
    """saltmill rejects a null key, a null cell and an invalid value, as without a condition."""
    b = Bench(tmp_path, saltmill, """\
source: {csv: {files: [in.csv], columns: [kind, id, x]}}
fields: {id: u32, x: {type: i64}}
tables:
  - name: t
    when: kind = A
    rowkey: [{field: id, as: text}]
    timestamp: 1
    families: {f: {compression: NONE}}
    cells:
      - {family: f, qualifier: k, value: kind}
      - {family: f, qualifier: x, value: x, when: id != 3}
""")
    b.input(b"A,,5\nA,1,\nA,2,two\nA,3,\nB,,two\n")
    r = b.run("--max-rejects", "3")
    assert r.returncode == 3, r.stderr
    assert [(x["line"], x["reason"], x["field"]) for x in b.rejects()] == [
        (1, "null_value", "id"), (2, "null_value", "x"), (3, "bad_number", "x")]
    assert cells(tmp_path, "t") == {("3", "k"): b"A"}


def test_faults_are_named_with_their_place(tmp_path, saltmill):
    base = Bench(tmp_path, saltmill, JOB)
    base.input(EVENTS)
    for old, new, words in [
            ("amount > 0", "amount > x", "job.yaml:7:8: where: character 10: amount: found `x`"),
            ("amount > 0 and", "amount > 0", "job.yaml:7:8: where: character 12: found `kind`"),
            ("where: amount > 0", "where: name > 0", "found the number 0 for `name` of type text"),
            ("kind = A", "knd = A", "the source has no column `knd` (field `knd`); did you mean `kind`?"),
            ('when: name starts with "x"', 'when: [name]', "job.yaml:18:11: when: found a list, expected a condition"),
            ('"^(TRAILER|SUM),"', '"^(TRAILER"', "job.yaml:2:41: skip_matching: "),
            (', when: kind = B', "", "or `when` in both, because one overwrites the other")]:
        (tmp_path / "job.yaml").write_text(JOB.replace(old, new))
        assert JOB != JOB.replace(old, new)
        base.refused(base.run(), 2, words)
