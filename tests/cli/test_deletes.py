"""Tests delete markers with worked jobs and the answers of `scan`. Random loads also have markers."""

import csv
import json
import pathlib
import random
import re
import struct
import subprocess

import hfile_py
import pytest
from load_help import Bench
from load_oracle import salt_of

CONF = pathlib.Path(__file__).resolve().parents[2] / "conf"
PUT, DELETE, FAMILY_VERSION, COLUMN, FAMILY = 4, 8, 10, 12, 14


def cells_of(folder, table):
    """Returns the cells in HBase's order, which hfile_py has checked within each file."""
    found = [c for f in sorted((folder / table / "hfiles").glob("*/*")) for c in hfile_py.read(f)]
    return sorted(found, key=lambda c: c.place())


def visible(cells):
    """Returns the newest version of each column that no marker deletes (ScanDeleteTracker)."""
    seen = {}
    for p in (c for c in cells if c.type == PUT):
        markers = [m for m in cells if (m.row, m.family) == (p.row, p.family)]
        hidden = any((m.type == FAMILY and p.ts <= m.ts) or (m.type == FAMILY_VERSION and p.ts == m.ts)
                     or (m.qualifier == p.qualifier and ((m.type == COLUMN and p.ts <= m.ts)
                                                         or (m.type == DELETE and p.ts == m.ts))) for m in markers)
        if not hidden:
            seen.setdefault((p.row, p.family, p.qualifier), (p.ts, p.value))
    return seen


def load(saltmill, folder, job, *files):
    r = subprocess.run([saltmill, "load", job, *files, "-o", folder / "out"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    v = subprocess.run([saltmill, "verify", folder / "out"], capture_output=True, text=True)
    assert v.returncode == 0, v.stdout
    return json.loads((folder / "out" / "manifest.json").read_text())


def scan(saltmill, job, out, *options):
    r = subprocess.run([saltmill, "scan", job, out, "--format", "csv", *options], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return list(csv.DictReader(r.stdout.splitlines()))


def test_a_returned_book(tmp_path, saltmill):
    job = CONF / "loans_open.yaml"
    load(saltmill, tmp_path, job)
    with open(CONF / "loans.csv", newline="") as f:
        events = sorted(csv.DictReader(f), key=lambda e: e["time"])
    have = {}
    for e in events:
        have[e["student"], e["book"]] = e["book_name"] if e["borrowed"] == "1" else None
    want = {(k[0][::-1], k[1]): name for k, name in have.items() if name}
    found = {(c["row"], c["qualifier"]): c["value"].replace("\\x20", " ") for c in scan(saltmill, job, tmp_path / "out")}
    assert found == want and len(want) == 2


def account(n):
    key = struct.pack(">Q", n)
    return salt_of({"salt": 8}, key) + key


def test_a_change_log(tmp_path, saltmill):
    """The test lists all four markers by hand, and the visible cells follow from these markers."""
    job = CONF / "cdc.yaml"
    m = load(saltmill, tmp_path, job)
    assert [(t["loaded"], t["filtered"]) for t in m["tables"]] == [(10, 1)]
    cells = cells_of(tmp_path / "out", "accounts")
    t = 1700000000000
    markers = [(c.row, c.family, c.qualifier, c.ts - t, c.type) for c in cells if c.type != PUT]
    assert sorted(markers) == sorted(
        [(account(n), f, b"", ts, FAMILY) for n, ts in ((2, 4000), (4, 9000)) for f in (b"d", b"contact")]
        + [x for n, ts in ((3, 5000), (1, 8000)) for x in (
            (account(n), b"contact", b"", ts, FAMILY), (account(n), b"d", b"owner", ts, COLUMN),
            (account(n), b"d", b"balance", ts, DELETE))])
    assert all(not c.value for c in cells if c.type != PUT)
    seen = visible(cells)
    assert seen == {(account(1), b"d", b"balance"): (t + 7000, struct.pack(">q", 1325)),
                    (account(2), b"d", b"balance"): (t + 6000, struct.pack(">q", 100)),
                    (account(2), b"d", b"owner"): (t + 6000, b"Bo again")}
    answer = {(c["row"], c["family"], c["qualifier"], int(c["timestamp"])) for c in scan(saltmill, job, tmp_path / "out")}
    assert answer == {("".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\x{b:02X}" for b in r), f.decode(),
                       q.decode(), ts) for (r, f, q), (ts, _) in seen.items()}
    raw = scan(saltmill, job, tmp_path / "out", "--raw", "--versions", "9")
    assert len(raw) == len(cells)


def test_check_names_the_markers(tmp_path, saltmill):
    (tmp_path / "in.csv").write_text("op,ts,id,owner,balance,mail\ne,1700000004000,2,,,\n")
    command = [saltmill, "check", CONF / "cdc.yaml", tmp_path / "in.csv"]
    r = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    found = [(c["family"], c["qualifier"], c["type"]) for row in json.loads(r.stdout)["shown"] for t in row["tables"]
             for c in t["cells"]]
    assert sorted(found) == [("contact", "", "DeleteFamily"), ("d", "balance", "Delete"), ("d", "owner", "DeleteColumn")]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    assert "    d:owner  1700000004000  DeleteColumn\n" in text


JOB = """\
source: {csv: {files: [in.csv]}}
fields: {t: {type: time, unit: ms}}
tables:
  - name: t
    rowkey: [{field: k}]
    timestamp: t
    duplicates: RULE
    families: {f: {compression: NONE, bloomfilter: NONE}, g: {compression: NONE}}
    cells:
      - {family: f, qualifier: a, value: v}
      - {family: g, qualifier: "", value: v, optional: true}
    deletes: [DELETES]
"""


def marked(tmp_path, saltmill, deletes, events, rule="last", *options):
    b = Bench(tmp_path, saltmill, JOB.replace("DELETES", deletes).replace("RULE", rule))
    b.input(b"op,k,t,v\n" + events)
    r = b.run(*options)
    assert r.returncode == 0, r.stderr
    found = cells_of(b.out, "t")
    return [(c.row.decode(), c.family.decode(), c.qualifier.decode(), c.ts, c.type, c.value.decode()) for c in found], b


@pytest.mark.parametrize("rule", ["last", "first"])
def test_a_duplicate_never_takes_a_marker(tmp_path, saltmill, rule):
    """A put and a marker with one timestamp both stay, in any order. Equal markers become one."""
    events = b"p,x,5,1\nd,x,5,\nd,x,5,\np,x,5,2\nd,y,7,\np,y,7,3\n"
    cells, b = marked(tmp_path, saltmill, "{row: true, when: op = d}", events, rule)
    value = {"x": {"last": "2", "first": "1"}[rule], "y": "3"}
    assert cells == [("x", "f", "", 5, FAMILY, ""), ("x", "f", "a", 5, PUT, value["x"]),
                     ("x", "g", "", 5, FAMILY, ""), ("x", "g", "", 5, PUT, value["x"]),
                     ("y", "f", "", 7, FAMILY, ""), ("y", "f", "a", 7, PUT, "3"),
                     ("y", "g", "", 7, FAMILY, ""), ("y", "g", "", 7, PUT, "3")]
    t = b.manifest()["tables"][0]
    assert (t["loaded"], t["deduplicated"], t["cells_deduplicated"]) == (4, 2, 4)


def test_a_marker_takes_the_place_of_what_it_covers(tmp_path, saltmill):
    """The marker deletes the event's own cells, which have its timestamp, but no cells of another family or column."""
    events = b"d,x,5,1\nc,x,6,2\n"
    cells, _ = marked(tmp_path, saltmill, "{family: f, when: op = d}, {family: f, qualifier: a, when: op = c}", events)
    assert cells == [("x", "f", "", 5, FAMILY, ""), ("x", "f", "a", 6, COLUMN, ""),
                     ("x", "g", "", 6, PUT, "2"), ("x", "g", "", 5, PUT, "1")]


def test_types_of_one_place_in_hbase_s_order(tmp_path, saltmill):
    deletes = ("{row: true, when: op = d}, {family: g, versions: one, when: \"op in (v, a)\"}, "
               "{family: g, qualifier: '', when: \"op in (c, a)\"}, {family: g, qualifier: '', versions: one, when: \"op in (o, a)\"}")
    cells, _ = marked(tmp_path, saltmill, deletes, b"p,x,5,1\no,x,5,1\nc,x,5,1\nv,x,5,1\nd,x,5,1\na,x,4,1\n")
    assert [c[3:5] for c in cells if c[1] == "g"] == [(5, FAMILY), (5, COLUMN), (5, FAMILY_VERSION), (5, DELETE), (5, PUT),
                                                      (4, COLUMN), (4, FAMILY_VERSION), (4, DELETE)]


def hidden_of(cells):
    """Returns the Puts that a marker hides. Compares every Put with every marker of its row."""
    return sum(any((m[0], m[1]) == (p[0], p[1]) and (
        (m[4] == FAMILY and p[3] <= m[3]) or (m[4] == FAMILY_VERSION and p[3] == m[3])
        or (m[2] == p[2] and ((m[4] == COLUMN and p[3] <= m[3]) or (m[4] == DELETE and p[3] == m[3]))))
        for m in cells if m[4] != PUT) for p in cells if p[4] == PUT)


@pytest.mark.parametrize("options", [(), ("--memory", "16M", "--threads", "2")], ids=["gathered", "on disk"])
@pytest.mark.parametrize("seed", range(4))
def test_puts_that_markers_hide_are_counted(tmp_path, saltmill, seed, options):
    rng = random.Random(seed)
    deletes = ("{row: true, when: op = d}, {family: g, versions: one, when: op = v}, {family: f, qualifier: a, when: op = c}, "
               "{family: g, qualifier: '', versions: one, when: op = o}")
    many, times = (3_000, 2_000) if options else (300, 12)
    value = lambda i: b"%d" % i * (300 if options else 1)
    events = b"".join(b"%c,%s,%d,%s\n" % (rng.choice(b"pppppppppvco" + b"d" * (not options)), rng.choice([b"x", b"y", b"z"][:1 if options else 3]),
                                         rng.randrange(times), value(i)) for i in range(many))
    cells, b = marked(tmp_path, saltmill, deletes, events, "last", *options)
    want = hidden_of(cells)
    t = b.manifest()["tables"][0]
    assert want > 10 and t["cells_hidden"] == want and t["cells"] == len(cells)


def test_a_put_after_its_tombstone_in_one_millisecond(tmp_path, saltmill):
    """put, delete, put with one timestamp: HBase shows nothing. The load names the lost events."""
    jobs = JOB.replace("RULE", "last").replace("DELETES", "{row: true, when: op = d}")
    bench = Bench(tmp_path, saltmill, jobs)
    bench.input(b"op,k,t,v\np,a,5,1\nd,a,5,\np,a,5,2\np,b,5,1\nd,b,7,\np,c,5,1\n")
    r = bench.run()
    assert r.returncode == 0
    assert (b"warning: table t: delete markers of this load hide 4 of 10 cells, also cells of events that come after the marker but "
            b"have no newer timestamp") in r.stderr
    examples = re.findall(rb"in\.csv:(\d+)[^;]*? is hidden by in\.csv:(\d+)[^;]*?, both have row (\w+)", r.stderr)
    assert examples[0] == (b"4", b"3", b"a") and len(examples) == 2, r.stderr
    assert bench.manifest()["tables"][0]["cells_hidden"] == 4
    (tmp_path / "quiet").mkdir()
    (tmp_path / "none").mkdir()
    quiet = Bench(tmp_path / "quiet", saltmill, jobs)
    quiet.input(b"op,k,t,v\np,a,5,1\nd,a,5,\np,a,6,2\n")
    r = quiet.run()
    assert b"warning" not in r.stderr and quiet.manifest()["tables"][0]["cells_hidden"] == 2
    assert b"table t: delete markers of this load hide 2 of 6 cells; for example in.csv:2" in r.stdout + r.stderr, r
    none = Bench(tmp_path / "none", saltmill, jobs)
    none.input(b"op,k,t,v\nd,a,5,\np,a,6,2\n")
    none.run()
    assert "cells_hidden" not in none.manifest()["tables"][0]


def test_map_reduce_and_unite_count_hidden_puts(tmp_path, saltmill):
    """The halves count the same puts as one load, and name the same two events in the warning."""
    (tmp_path / "job.yaml").write_text(JOB.replace("RULE", "last").replace("DELETES", "{row: true, when: op = d}"))
    (tmp_path / "in.csv").write_bytes(b"op,k,t,v\n" + b"".join(b"%s,k%d,%d,v\n" % (b"pdp"[i % 3:][:1], i % 7, i // 21) for i in range(400)))

    def run(*args):
        r = subprocess.run([saltmill, *args], cwd=tmp_path, capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        return [line.split("warning: ")[1] for line in r.stderr.splitlines() if "delete markers of this load" in line]
    run("plan", "job.yaml", "-o", "plan")
    one = run("load", "job.yaml", "--plan", "plan", "-o", "one")
    (tmp_path / "maps").mkdir()
    run("map", "job.yaml", "in.csv", "--plan", "plan", "--input", "0", "-o", "maps/0")
    run("reduce", "job.yaml", "maps", "--plan", "plan", "-o", "reduced")
    two = run("unite", "job.yaml", "in.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduced", "-o", "two")
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text())["tables"][0] for name in ("one", "two")]
    cells = [(c.row, c.family, c.qualifier, c.ts, c.type) for c in cells_of(tmp_path / "one", "t")]
    assert manifests[0]["cells_hidden"] == manifests[1]["cells_hidden"] == hidden_of(cells) > 10
    assert len(one) == 1 and one == two and one[0].count(" is hidden by ") == 2


def test_a_row_larger_than_memory(tmp_path, saltmill):
    """The load sorts the cells on disk, and markers keep their order among them."""
    events = b"".join(b"%s,x,%d,%s\n" % (b"pd"[i % 3 == 0:][:1], 1000 + i // 2, b"%d" % i * 300) for i in range(3_000))
    deletes = "{family: f, qualifier: a, when: op = d}"
    cells, b = marked(tmp_path, saltmill, deletes, events, "last", "--memory", "16M", "--threads", "2")
    want = {}
    for i in range(3_000):
        delete = b"pd"[i % 3 == 0:][:1] == b"d"
        want["f", "a", -(1000 + i // 2), -(COLUMN if delete else PUT)] = "" if delete else f"{i}" * 300
        want["g", "", -(1000 + i // 2), -PUT] = f"{i}" * 300
    assert [(f, q, -ts, -kind, v) for _, f, q, ts, kind, v in cells] == [(*k, v) for k, v in sorted(want.items())]


def test_a_list_of_rows_to_delete(tmp_path, saltmill):
    """A table may have only delete markers and no other cells."""
    (tmp_path / "job.yaml").write_text(JOB.replace("RULE", "last").replace("DELETES", "{row: true}").replace(
        "    cells:\n      - {family: f, qualifier: a, value: v}\n      - {family: g, qualifier: \"\", value: v, optional: true}\n",
        ""))
    (tmp_path / "in.csv").write_text("k,t\na,5\nb,6\n")
    load(saltmill, tmp_path, tmp_path / "job.yaml")
    assert [(c.row, c.family, c.ts, c.type) for c in cells_of(tmp_path / "out", "t")] == [
        (b"a", b"f", 5, FAMILY), (b"a", b"g", 5, FAMILY), (b"b", b"f", 6, FAMILY), (b"b", b"g", 6, FAMILY)]


@pytest.mark.parametrize("source,rest", [
    ("csv: {files: [in], columns: [k, op, v], header: false}", "    deletes: [{row: true, when: op = d}, {family: g, versions: one, when: op = d}]\n"),
    ("json: {files: [in]}", "    deletes: [{family: f, when: op = d}, {family: g, qualifier: q, when: op = d}]\n")])
def test_a_marker_of_a_family_is_no_column(tmp_path, saltmill, source, rest):
    """Such a marker has an empty qualifier. The answer names only columns that cells or column markers name."""
    (tmp_path / "job.yaml").write_text(f"""source: {{{source}}}
tables:
  - name: t
    rowkey: [{{field: k}}]
    timestamp: 5
    families: {{f: {{}}, g: {{}}}}
    cells: [{{family: f, qualifier: v, optional: true, value: {{field: v}}, when: op = p}}]
{rest}""")
    (tmp_path / "in").write_text("1,p,x\n2,d,\n" if "csv" in source else '{"k": "1", "op": "p", "v": "x"}\n{"k": "2", "op": "d"}\n')
    load(saltmill, tmp_path, tmp_path / "job.yaml")
    columns = ["k", "f:v"] + (["g:q"] if "qualifier: q" in rest else [])
    assert scan(saltmill, tmp_path / "job.yaml", tmp_path / "out", "--decode") == [dict.fromkeys(columns, "") | {"k": "1", "f:v": "x"}]


def test_faults(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill)
    for deletes, words in [("{row: true, family: f}", "expected `row: true` alone"), ("{}", "expected `row: true` alone"),
                           ("{qualifier: a}", "expected `row: true` alone"), ("{family: h}", "unknown family `h`"),
                           ("{family: f, versions: two}", "versions: "),
                           ("{family: f}, {family: f}", "has the same family and qualifier")]:
        (tmp_path / "job.yaml").write_text(JOB.replace("RULE", "last").replace("DELETES", deletes))
        b.input(b"op,k,t,v\n")
        b.refused(b.run(), 2, "job.yaml:12:", words)


TOMBSTONES = """\
source:
  kafka: {brokers: "127.0.0.1:1", topic: accounts, format: json, tombstones: delete}
fields:
  id: {type: u32, from: $key}
  at: {type: time, unit: ms, from: $timestamp}
tables:
  - name: t
    rowkey: [{field: id, as: text}]
    timestamp: at
    families: {f: {compression: NONE}, g: {compression: NONE}}
    cells: [{family: f, qualifier: v, value: value}, {family: g, qualifier: w, value: other, optional: true}]
"""


def test_messages_without_a_value_delete_their_row(tmp_path, saltmill):
    """The file has the format of a replay. A broker returns the same messages (tests/unit/test_input_kafka_read.c)."""
    (tmp_path / "job.yaml").write_text(TOMBSTONES)
    lines = [{"key": "7", "raw": '{"value": "x", "other": "y"}'}, {"key": "7"}, {"key": "8"}, {"raw": '{"value": 1}'},
             {"key": "no"}]
    at = 1700000000000
    (tmp_path / "rejects.jsonl").write_text("".join(
        json.dumps({"topic": "accounts", "partition": 0, "offset": i, "timestamp": at + i, **line}) + "\n"
        for i, line in enumerate(lines)))
    r = subprocess.run([saltmill, "load", "job.yaml", "rejects.jsonl", "-o", "out", "--max-rejects", "2"], cwd=tmp_path,
                       capture_output=True, text=True)
    assert r.returncode == 3, r.stderr
    cells = [(c.row, c.family, c.ts - at, c.type, c.value) for c in cells_of(tmp_path / "out", "t")]
    assert cells == [(b"7", b"f", 1, FAMILY, b""), (b"7", b"f", 0, PUT, b"x"), (b"7", b"g", 1, FAMILY, b""),
                     (b"7", b"g", 0, PUT, b"y"), (b"8", b"f", 2, FAMILY, b""), (b"8", b"g", 2, FAMILY, b"")]
    rejects = [json.loads(s) for s in (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()]
    assert [(x["offset"], x["reason"]) for x in rejects] == [(3, "null_value"), (4, "bad_number")]
