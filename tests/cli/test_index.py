"""Tests tables whose cells are row keys of another table. Each index entry names an existing row, which is the right
one."""

import csv
import hashlib
import json
import subprocess
import uuid
from pathlib import Path

import pytest

from loads import PROGRAM
from oracle import unescape

CONF = Path(__file__).parents[2] / "conf"


def saltmill(*args, cwd, status=0):
    done = subprocess.run([PROGRAM, *map(str, args)], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return done.stdout


def cells(folder, job, load, table):
    """Returns {row: {qualifier: value}} as bytes."""
    lines = saltmill("scan", job, load, "--table", table, "--format", "jsonl", cwd=folder).splitlines()
    return {unescape(r["row"]): {unescape(c["qualifier"]) if c["qualifier"] else b"": unescape(c["value"]) if c["value"] else b""
                                 for c in r["cells"]} for r in map(json.loads, lines)}


def test_the_worked_job(tmp_path):
    saltmill("load", CONF / "visits.yaml", "-o", tmp_path / "out", "--quiet", cwd=tmp_path)
    events = list(csv.DictReader(open(CONF / "visits.csv")))
    visits, by_ip, by_ms = (cells(tmp_path, CONF / "visits.yaml", "out", t) for t in ("visits", "visits_by_ip", "visits_by_ms"))
    keys = {uuid.UUID(e["visit"]).bytes: e for e in events}
    assert visits.keys() == keys.keys()
    codes = {"DE": 1, "AT": 2, "CH": 3}
    assert all(visits[k][b"country"] == bytes([codes.get(e["country"], 0)]) for k, e in keys.items())
    # the slowest visit of a country comes first, and each entry names its visit
    order = sorted(keys, key=lambda k: (codes.get(keys[k]["country"], 0), -int(keys[k]["ms"]), k))
    assert [v[b"row"] for v in by_ms.values()] == order
    # for one address, the newest visit comes first
    seen = [(row[1:17], row[17:], q) for row in sorted(by_ip, key=lambda r: r[1:]) for q in by_ip[row]]
    found = [q for ip, _, q in seen if ip.endswith(bytes([192, 0, 2, 7]))]
    assert found == sorted((k for k, e in keys.items() if e["ip"] == "192.0.2.7"), key=lambda k: keys[k]["at"], reverse=True)
    assert sorted(q for _, _, q in seen) == sorted(keys)
    tables = json.loads((tmp_path / "out" / "manifest.json").read_text())["tables"]
    assert [(t["name"], t.get("index_of")) for t in tables] == [("visits", None), ("visits_by_ip", "visits"),
                                                                ("visits_by_ms", "visits")]
    saltmill("verify", "out", cwd=tmp_path)


JOB = """\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}, n: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: t
    rowkey: [%s, {field: name, %s}, {field: id, as: u32}]
    %s
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n, optional: true}]
    regions: {split: none}
  - name: i
    rowkey: [{field: n, as: descending_u32}%s]
    timestamp: at
    families: {v: {}}
    cells:
      - {family: v, qualifier: k, value: {key_of: t}}
      - {family: v, qualifier: [{const: k}, {key_of: t}], value: {const: x}}
      - {family: v, qualifier: {key_of: t}, value: {key_of: t}}
    regions: {split: none}
"""


@pytest.mark.parametrize("salt", ["{hash: md5, of: [name], bytes: 3}", "{salt: 300, of: [id]}", "{salt: 7, draw: random}"])
@pytest.mark.parametrize("when,rows", [("", 3000), ('when: "n >= 20"', 3000), ("", 1), ("", 0)])
@pytest.mark.parametrize("unique", [", {field: id, as: u32}", ""])
def test_references(tmp_path, salt, when, rows, unique):
    """All keys in an index are rows of the table, and each row is in the index under its value."""
    (tmp_path / "job.yaml").write_text(JOB % (salt, "terminator: '|'", when, unique))
    events = [(i, i * i % 37, f"name{i % 5}" * (1 + i % 50), 1000 + i) for i in range(rows)]
    (tmp_path / "in.csv").write_text("id,n,name,at\n" + "".join(",".join(map(str, e)) + "\n" for e in events))
    outs = []
    for threads in "12":
        saltmill("load", "job.yaml", "-o", threads, "--quiet", "--threads", threads, "--memory", "16M", cwd=tmp_path)
        outs.append({p.relative_to(tmp_path / threads): hashlib.md5(p.read_bytes()).digest()
                     for p in (tmp_path / threads).rglob("*") if p.is_file()})
    assert outs[0] == outs[1]
    t, i = (cells(tmp_path, "job.yaml", "1", name) for name in "ti")
    taken = [e for e in events if not when or e[1] >= 20]
    ends = [e[2].encode() + b"|" + e[0].to_bytes(4, "big") for e in taken]  # after salt and hash
    width = 3 if "md5" in salt else 2 if "300" in salt else 1
    assert sorted(k[width:] for k in t) == sorted(ends)
    of = {k[width:]: k for k in t}
    expected = {}
    for e, end in zip(taken, ends):
        row = (2**32 - 1 - e[1]).to_bytes(4, "big") + (e[0].to_bytes(4, "big") if unique else b"")
        expected.setdefault(row, {}).update({b"k": of[end], b"k" + of[end]: b"x", of[end]: of[end]})
    assert i == expected
    m = json.loads((tmp_path / "1" / "manifest.json").read_text())
    assert m["tables"][1]["filtered"] == len(events) - len(taken)


@pytest.mark.parametrize("old,new,words", [
    ("value: {key_of: t}}\n      - {family: v, qualifier: [", "value: {key_of: i}}\n      - {family: v, qualifier: [",
     "key_of: found `i`, expected a table listed above this one"),
    ("{const: k}, {key_of: t}", "{key_of: t}, {const: k}", "expected it as the last part of a qualifier"),
    ("[{field: n, as: descending_u32}]", "[{field: n, as: u32}, {key_of: t}]", "found `key_of` here"),
    ("value: n,", "value: {key_of: t},", "found `t`, expected a table listed above"),
    ("{const: x}", "{const: x, key_of: t}", "expected one of `field`, `const`, `hex` and `key_of`"),
])
def test_bad_references(tmp_path, old, new, words):
    text = JOB % ("{const: a}", "width: 9", "", "")
    assert old in text
    (tmp_path / "job.yaml").write_text(text.replace(old, new, 1))
    done = subprocess.run([PROGRAM, "ddl", "job.yaml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and words in done.stderr, done.stderr


def test_one_decides(tmp_path):
    text = JOB % ("{const: a}", "width: 9", "", "")
    more = text[text.index("  - name: t"):text.index("  - name: i")].replace("name: t", "name: u", 1)
    (tmp_path / "job.yaml").write_text(text.replace("  - name: i", more + "  - name: i").replace(
        "{const: k}, {key_of: t}", "{const: k}, {key_of: u}"))
    done = subprocess.run([PROGRAM, "ddl", "job.yaml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "found table `u`, and `t` before, expected only one, because an index has one main table" in done.stderr


def test_entries_are_deleted(tmp_path):
    """A delete marker for the index entry of a row. The index is the third table, and the marker is its only reference.
    """
    text = JOB % ("{const: a}", "width: 9", "", "")
    more = text[text.index("  - name: t"):text.index("  - name: i")].replace("name: t", "name: u", 1).replace(
        "timestamp: at", "timestamp: at\n    when: n = 5", 1)
    cells_of = text[text.index("    cells:\n"):text.rindex("    regions")]
    (tmp_path / "job.yaml").write_text(text.replace("  - name: i", more + "  - name: i").replace(
        cells_of, "    deletes: [{family: v, qualifier: {key_of: u}}]\n"))
    (tmp_path / "in.csv").write_text("id,n,name,at\n1,5,x,10\n2,6,y,11\n")
    saltmill("load", "job.yaml", "-o", "out", "--quiet", cwd=tmp_path)
    found = [json.loads(x) for x in saltmill("scan", "job.yaml", "out", "--table", "i", "--raw", "--format", "jsonl",
                                             cwd=tmp_path).splitlines()]
    [[c]] = [r["cells"] for r in found]  # the second event has no row in u
    assert unescape(c["qualifier"]) == b"ax        " + (1).to_bytes(4, "big") and c["type"] == "DeleteColumn"
    tables = json.loads((tmp_path / "out" / "manifest.json").read_text())["tables"]
    assert [t.get("index_of") for t in tables] == [None, None, "u"]


def via(folder, *args):
    """Returns [(id, n)] of the rows, in their order."""
    lines = saltmill("scan", "job.yaml", "out", "--via", "i", "--decode", "--format", "jsonl", *args, cwd=folder).splitlines()
    return [(r["key"]["id"], int(r["cells"]["f:n"])) for r in map(json.loads, lines)]


@pytest.mark.parametrize("unique", [True, False])
def test_rows_by_way_of_an_index(tmp_path, unique):
    """The scan returns each row once, although three cells name it. The cases have more rows than one fetch, 37 values,
    and 3,000 values.
    """
    (tmp_path / "job.yaml").write_text(JOB % ("{hash: md5, of: [name], bytes: 3}", "terminator: '|'", "",
                                              ", {field: id, as: u32}" if unique else ""))
    events = [(i, i * i % 37, f"name{i % 5}", 1000 + i) for i in range(3000)]
    (tmp_path / "in.csv").write_text("id,n,name,at\n" + "".join(",".join(map(str, e)) + "\n" for e in events))
    saltmill("load", "job.yaml", "-o", "out", "--quiet", cwd=tmp_path)
    want = sorted(((e[0], e[1]) for e in events), key=lambda r: (-r[1], r[0]))

    def same(found, expected):
        # for one value the index has the ids in order only if its key contains them
        assert [n for _, n in found] == [n for _, n in expected]
        assert found == expected if unique else sorted(found) == sorted(expected)

    same(via(tmp_path), want)
    same(via(tmp_path, "--where", "n >= 20 and n < 30"), [r for r in want if 20 <= r[1] < 30])
    same(via(tmp_path, "--where", "n = 1"), [r for r in want if r[1] == 1])
    assert via(tmp_path, "--where", "n = 1000") == []
    assert len(via(tmp_path, "--limit", "300")) == 300
    same(via(tmp_path, "--limit", "1", "--where", "n = 1"), [r for r in want if r[1] == 1][:1] if unique
         else via(tmp_path, "--where", "n = 1")[:1])
    assert [n for _, n in via(tmp_path, "--reverse")] == [n for _, n in reversed(want)]
    counted = saltmill("scan", "job.yaml", "out", "--via", "i", "--quiet", cwd=tmp_path)
    assert counted == "3000 rows, 3000 cells\n"


@pytest.mark.parametrize("args,words", [
    (["--via", "t"], "--via: found table t, expected an index"), (["--via", "x"], "x"), (["--via", "i", "--explain"], "--via: found --explain too, expected only one of them"),
    (["--via", "i", "--table", "i"], "table i is an index of t, expected --table t or none"),
    (["--via", "i", "--where", "name = x"], "name")])
def test_bad_ways(tmp_path, args, words):
    (tmp_path / "job.yaml").write_text(JOB % ("{const: a}", "width: 9", "", ""))
    (tmp_path / "in.csv").write_text("id,n,name,at\n1,5,x,10\n")
    saltmill("load", "job.yaml", "-o", "out", "--quiet", cwd=tmp_path)
    done = subprocess.run([PROGRAM, "scan", "job.yaml", "out", *args], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and words in done.stderr, done.stderr


# --- stale entries, whose rows no longer have the value ---

CHANGED = """\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}, n: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: t
    rowkey: [{salt: 5, of: [id]}, {field: id, as: u32}]
    timestamp: at
    families: {f: {}}
    cells:
      - {family: f, qualifier: n, value: %s}
      - {family: f, qualifier: word, value: word}
    deletes: [{row: true, when: word = gone}]
    regions: {split: none}
  - name: i
    rowkey: [{field: n, as: %s}, {field: id, as: u32}]
    timestamp: at
    when: word != gone
    families: {v: {}}
    cells: [{family: v, qualifier: k, value: {key_of: t}}]
    regions: {split: none}
"""


def ask_via(folder, *args, dirs=("one", "two")):
    """Returns ([(id, columns)], number of entries reported as stale)."""
    done = subprocess.run([PROGRAM, "scan", "job.yaml", *dirs, "--via", "i", "--decode", "--format", "jsonl", *args], cwd=folder,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = done.stderr.split()
    assert not said or said[:3] + said[4:5] == ["saltmill", "scan:", "skipped", "stale"], done.stderr
    rows = [(r["key"]["id"], r["cells"]) for r in map(json.loads, done.stdout.splitlines())]
    return rows, int(said[3].replace(",", "")) if said else 0


@pytest.mark.parametrize("value,part,kept", [
    ("n", "descending_u32", True), ("{field: n, as: u32}", "u32", True), ("{field: n, as: u64}", "descending_u64", True),
    ("{field: n, as: text}", "u32", True), ("{field: n, as: text}", "text, width: 6", True),
    ("{field: n, as: f32}", "u32", False), ("{field: n, as: u32}", "text, width: 6", False),
    ("{field: n}, when: id < 5000", "u32", False)])
def test_stale_entries(tmp_path, value, part, kept):
    """A second load changes every third of 1,000 rows and deletes every tenth."""
    (tmp_path / "job.yaml").write_text(CHANGED % (value, part))
    now = {}
    for load, (name, step) in enumerate([("one", 1), ("two", 3)]):
        events = [(i, i * 7 % 50 + 100 * load, f"w{i}", 1000 + load) for i in range(0, 1000, step)]
        if load:
            events += [(i, 0, "gone", 2000) for i in range(0, 1000, 10)]
        (tmp_path / "in.csv").write_text("id,n,word,at\n" + "".join(",".join(map(str, e)) + "\n" for e in events))
        saltmill("load", "job.yaml", "-o", name, "--quiet", cwd=tmp_path)
        now.update({i: (n, word) for i, n, word, _ in events})
    now = {i: v for i, v in now.items() if v[1] != "gone"}
    written = 1000 + 334
    changed = sum(i % 3 == 0 for i in now)
    order = sorted(now, key=lambda i: (-now[i][0] if "descending" in part else now[i][0], i))
    want = [(i, {"f:n": now[i][0], "f:word": now[i][1]}) for i in order]
    rows, stale = ask_via(tmp_path)
    if not kept:  # the row's cells cannot show staleness, so scan returns each entry of an existing row
        assert sorted({i for i, _ in rows}) == sorted(now) and len(rows) == len(now) + changed
        assert stale == written - len(rows)
        return
    assert (rows, stale) == (want, written - len(now))
    # for any selection of shown columns, scan checks the whole rows
    rows, some = ask_via(tmp_path, "--columns", "f:word")
    assert (rows, some) == ([(i, {"f:word": c["f:word"]}) for i, c in want], stale)
    assert ask_via(tmp_path, "--max-columns", "1") == ([(i, {"f:n": c["f:n"]}) for i, c in want], stale)
    # at the earlier time, the later entries do not exist
    before = sorted(now, key=lambda i: (-(i * 7 % 50) if "descending" in part else i * 7 % 50, i))
    rows, some = ask_via(tmp_path, "--time-range", "1000000..1000001")
    assert (rows, some) == ([(i, {"f:n": i * 7 % 50, "f:word": f"w{i}"}) for i in before], stale)
    # by an old value, and by a current one
    assert ask_via(tmp_path, "--where", "n = 7") == ([w for w in want if w[1]["f:n"] == 7], sum(i * 7 % 50 == 7 for i in range(1000)) - sum(
        v[0] == 7 for v in now.values()))
    assert ask_via(tmp_path, "--where", "n >= 100")[0] == [w for w in want if w[1]["f:n"] >= 100]
    assert ask_via(tmp_path, "--limit", "400")[0] == want[:400]
    # a single load has no stale entry; --raw shows the stored cells
    assert ask_via(tmp_path, dirs=["one"])[1] == 0 and len(ask_via(tmp_path, dirs=["one"])[0]) == 1000
    assert ask_via(tmp_path, "--raw")[1] == 0
    counted = subprocess.run([PROGRAM, "scan", "job.yaml", "one", "two", "--via", "i", "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert counted.stdout == f"{len(now)} rows, {2 * len(now)} cells\n" and "skipped" in counted.stderr


def test_what_a_row_does_not_hold(tmp_path):
    """visits_by_ms indexes milliseconds, which the visits do not store. visits_by_ip indexes addresses, which they
    store."""
    job = CONF / "visits.yaml"
    visit = "00000000-0000-0000-0000-000000000001"
    for name, ip, ms, at in (("one", "10.0.0.1", 5, "2024-05-01 10:00:00.000"), ("two", "10.0.0.2", 9, "2024-05-01 10:00:01.000")):
        (tmp_path / "in.csv").write_text(f"visit,ip,ms,at,country,page\n{visit},{ip},{ms},{at},DE,/\n")
        saltmill("load", job, "in.csv", "-o", name, "--quiet", cwd=tmp_path)

    def count(index, *where):
        done = subprocess.run([PROGRAM, "scan", job, "one", "two", "--via", index, "--quiet", *where], cwd=tmp_path,
                              capture_output=True, text=True)
        return done.stdout, "skipped 1 stale entry of " + index in done.stderr

    assert count("visits_by_ip") == ("1 rows, 3 cells\n", True)
    assert count("visits_by_ip", "--where", "ip = 10.0.0.1") == ("0 rows, 0 cells\n", True)
    assert count("visits_by_ip", "--where", "ip = 10.0.0.2") == ("1 rows, 3 cells\n", False)
    assert count("visits_by_ms") == ("2 rows, 6 cells\n", False)
