"""Tests of saltmill rekey. Python encodes the old and the new row key of each event, and reads the cells of both loads."""

import hashlib
import json
import os
import random
import shutil
import struct

import pytest

import hfile_py
import loads
from oracle import murmur3_32
from load_oracle import java31, java_rem
from test_merge import tree, verify
from test_offline import Folder

JOB = """\
source:
  csv: {{files: [in.csv]}}
fields:
  id: {{type: u32}}
  n: {{type: i64}}
  at: {{type: time, unit: ms}}
  day: {{type: time, unit: s}}
tables:
  - name: {table}
    rowkey: [{key}]
    timestamp: at
    families: {{f: {{versions: 3}}, g: {{}}, h: {{}}}}
    cells:
      - {{family: f, qualifier: a, value: {{field: a}}, when: op = p}}
      - {{family: f, qualifier: b, value: {{field: a}}, ttl: 9000d, when: op = p}}
      - {{family: g, qualifier: kind, value: {{field: kind}}, when: op = p}}
      - {{family: h, qualifier: {{field: n, as: i64}}, value: {{field: a}}, when: op = p}}
    deletes:
      - {{row: true, when: op = r}}
      - {{family: f, when: op = f}}
      - {{family: f, versions: one, when: op = o}}
      - {{family: f, qualifier: a, when: op = c}}
      - {{family: g, qualifier: kind, versions: one, when: op = v}}
    regions: {{split: {split}}}
"""


def job(path, key, table="t", split="sampled, count: 3"):
    path.write_text(JOB.format(key=", ".join(f"{{{part}}}" for part in key), table=table, split=split))
    return path


def load(folder, key, events, **how):
    """Loads events (id, n, at, day, kind, op, a)."""
    folder.mkdir(exist_ok=True)
    (folder / "in.csv").write_text("id,n,at,day,kind,op,a\n" + "".join(f"{','.join(map(str, e))}\n" for e in events))
    done = loads.run("load", job(folder / "job.yaml", key, **how), "-o", folder / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "job.yaml", folder / "out"


def rekey(*args, status=0):
    done = loads.run("rekey", *args, *(["--json"] if status == 0 else []))
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout) if status == 0 else done.stderr


def stored(folder):
    """Returns all cells of a load, in the order of each file."""
    files = json.loads((folder / "manifest.json").read_text())["tables"][0]["files"]
    return [c for f in files for c in hfile_py.read(folder / f["path"])]


def rest(c):
    return c.family, c.qualifier, c.ts, c.type, c.value, c.tags


# Each field as parts of a key: the job's text, and the bytes without and with the terminator.
PARTS = {
    "id": [("field: id, as: u32", lambda v: struct.pack(">I", v), b""),
           ("field: id, as: u64", lambda v: struct.pack(">Q", v), b""),
           ("field: id, as: descending_u32", lambda v: struct.pack(">I", v ^ 0xffffffff), b""),
           ("field: id, as: text, width: 10", lambda v: b"%010d" % v, b""),
           ("field: id, as: reversed, width: 10", lambda v: (b"%010d" % v)[::-1], b"")],
    "n": [("field: n, as: i64", lambda v: struct.pack(">Q", v + (1 << 63)), b""),
          ("field: n, as: text, terminator: '|'", lambda v: b"%d" % v, b"|")],
    "kind": [("field: kind, terminator: '\\x00'", str.encode, b"\0"),
             ("field: kind, width: 8", lambda v: v.encode().ljust(8), b"")],
}


class Key:
    """A random row key of these fields."""

    def __init__(self, rng, fields):
        self.parts = [(f, *rng.choice(PARTS[f])) for f in rng.sample(fields, len(fields))]
        self.of = rng.sample(fields, rng.randrange(1, len(fields) + 1))
        self.head = rng.choice(["", "salt", "phoenix", "md5"])
        self.n = rng.randrange(2, 20)
        over = ", ".join(self.of)
        head = {"salt": f"salt: {self.n}, of: [{over}]", "phoenix": f"salt: {self.n}, hash: phoenix",
                "md5": f"hash: md5, of: [{over}], bytes: 3"}
        self.text = ([head[self.head]] if self.head else []) + [p[1] for p in self.parts]

    def encode(self, values):
        plain = {f: put(values[f]) for f, _, put, _ in self.parts}
        key = b"".join(plain[f] + end for f, _, _, end in self.parts)
        over = b"".join(plain[f] for f in self.of)
        if self.head == "salt":
            return bytes([murmur3_32(over) % self.n]) + key
        if self.head == "phoenix":
            return bytes([abs(java_rem(java31(key), self.n))]) + key
        return hashlib.md5(over).digest()[:3] + key if self.head else key


def draw(rng, entities):
    """Each entity has a put first, and puts and all kinds of delete markers after it."""
    events = []
    for ident, n, kind in entities:
        times = rng.sample(range(1000, 1020), rng.randrange(1, 6))
        events += [(ident, n, at, 86400, kind, rng.choice("pppprfocv") if i else "p", rng.random())
                   for i, at in enumerate(sorted(times))]
    rng.shuffle(events)
    return events


@pytest.mark.parametrize("seed", range(4))
def test_random_keys(tmp_path, seed):
    """All cells arrive under the new key with their tags, and the bytes depend on neither threads nor memory."""
    rng = random.Random(seed)
    in_key = rng.random() < 0.5
    old = Key(rng, ["id", "n", "kind"] if in_key else ["id", "n"])
    new = Key(rng, rng.choice([["id", "n", "kind"], ["id", "n"]]))
    entities = {(rng.randrange(1 << 32), rng.randrange(-9, 9)): rng.choice(["red", "green", "blue"]) for _ in range(100)}
    entities = [(*e, kind) for e, kind in entities.items()]
    _, source = load(tmp_path / "old", old.text, draw(rng, entities))
    to = job(tmp_path / "new.yaml", new.text, "moved", "sampled, count: 4")
    report = rekey(tmp_path / "old/job.yaml", to, source, "-o", tmp_path / "a")
    values = [dict(zip(("id", "n", "kind"), e)) for e in entities]
    moved = {old.encode(v): new.encode(v) for v in values}
    expected = sorted((moved[c.row], *rest(c)) for c in stored(source))
    assert sorted((c.row, *rest(c)) for c in stored(tmp_path / "a")) == expected
    assert {c.type for c in stored(source)} == {4, 8, 10, 12, 14} and any(c.tags for c in stored(source))
    verify(tmp_path / "a")
    table = report["tables"][0]
    assert (report["rewritten"], table["name"], table["rows"], report["read"]) == ("rekey", "moved", len(entities), len(expected))
    sizes = [r["cell_bytes"] for r in table["regions"]]
    assert len(sizes) == 4 and max(sizes) < 1.3 * sum(sizes) / 4, sizes
    rekey(tmp_path / "old/job.yaml", to, source, "-o", tmp_path / "b", "--threads", 3, "--memory", "16M")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


AS_KEY = ["field: id, as: u32", "field: n, as: i64"]


def old_row(ident, n):
    return struct.pack(">IQ", ident, n + (1 << 63))


def test_the_newest_value_of_a_column(tmp_path):
    """The key takes the newest value that no marker hides, or else the newest stored value."""
    def put(ident, at, kind):
        return ident, 0, at, 0, kind, "p", "x"

    def mark(ident, at, op):
        return ident, 0, at, 0, "", op, ""

    events = [put(1, 10, "old"), put(1, 20, "new"),
              put(2, 10, "old"), put(2, 20, "new"), mark(2, 20, "v"),
              put(3, 10, "old"), put(3, 20, "new"), mark(3, 25, "r"),
              put(4, 10, "old"), put(4, 30, "new"), mark(4, 25, "r")]
    source, out = load(tmp_path / "old", AS_KEY, [e for e in events if e[5] == "p"], split="none")
    _, marks = load(tmp_path / "marks", AS_KEY, [e for e in events if e[5] != "p"], split="none")
    assert loads.run("merge", out, marks, "--raw", "-o", tmp_path / "both", "--quiet").returncode == 0
    to = job(tmp_path / "new.yaml", ["field: kind, terminator: '|'", "field: id, as: u32"], "u", "none")
    rekey(source, to, tmp_path / "both", "-o", tmp_path / "out")
    rows = {1: b"new", 2: b"old", 3: b"new", 4: b"new"}
    assert {c.row for c in stored(tmp_path / "out")} == {k + b"|" + struct.pack(">I", i) for i, k in rows.items()}
    error = rekey(source, to, marks, "-o", tmp_path / "nothing", status=1)
    assert r"t: row \x00\x00\x00\x02" in error and "found no value of column g:kind" in error
    assert "major_compact 't'" in error and not (tmp_path / "nothing").exists()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    events = [(i // 2, i % 2, 1000 + i, 86400 * i, "red", "p", i) for i in range(8)]
    return load(folder, AS_KEY, events)


@pytest.mark.parametrize("key, words", [
    (["salt: 4, draw: random", AS_KEY[0], AS_KEY[1]], "found a salt that is drawn for each event, expected a salt `of:` fields"),
    (["field: day, as: millis", AS_KEY[0]], "field `day`: found no place in table t"),
    (["field: at, as: millis", AS_KEY[0]], "field `at`: found no place in table t"),
    (["hash: md5, of: [day], bytes: 4", AS_KEY[0]], "field `day`: found no place in table t"),
    (["field: other, width: 3", AS_KEY[0]], "has no field `other`")])
def test_a_key_that_cannot_be_known(tmp_path, small, key, words):
    to = job(tmp_path / "new.yaml", key)
    if "other" in words:
        to.write_text(to.read_text().replace("  day:", "  other: {type: text}\n  day:"))
    error = rekey(small[0], to, small[1], "-o", tmp_path / "out", status=2)
    assert error.startswith(f"saltmill rekey: {to}:") and words in error
    assert list(tmp_path.iterdir()) == [to]


@pytest.mark.parametrize("change, words", [
    (("id: {type: u32}", "id: {type: u64}"), "field `id`: found another type than in"),
    (("h: {}", "i: {}"), "found no family h in table t, expected all families of the source"),
    (("field: id, as: u32", "field: id, as: u8"), r"t: row \x00\x00\x00\x00")])
def test_another_new_job(tmp_path, small, change, words):
    source, out = small
    text = source.read_text().replace("family: h", "family: i") if "i: {}" in change else source.read_text()
    to = tmp_path / "new.yaml"
    to.write_text(text.replace(*change))
    if "u8" in change[1]:
        source, out = load(tmp_path / "old", AS_KEY, [(0, 0, 1, 0, "red", "p", 1), (999, 0, 1, 0, "red", "p", 1)])
        words = "999"
    error = rekey(source, to, out, "-o", tmp_path / "out", status=1 if "u8" in change[1] else 2)
    assert words in error and not (tmp_path / "out").exists()


def test_rows_of_another_job(tmp_path, small):
    other = job(tmp_path / "other.yaml", ["salt: 4, of: [id]", *AS_KEY])
    error = rekey(other, small[0], small[1], "-o", tmp_path / "out", status=1)
    assert "t: row " in error and not (tmp_path / "out").exists()


def test_rows_that_become_one(tmp_path, small):
    """A new key without `n` joins two rows each."""
    to = job(tmp_path / "new.yaml", ["field: id, as: u32"], "u", "none")
    error = rekey(small[0], to, small[1], "-o", tmp_path / "out", status=1)
    assert "both become row" in error and "--join-rows" in error and not (tmp_path / "out").exists()
    report = rekey(small[0], to, small[1], "-o", tmp_path / "out", "--join-rows")
    assert report["tables"][0]["rows"] == 4
    expected = sorted((c.row[:4], *rest(c)) for c in stored(small[1]))
    assert sorted((c.row, *rest(c)) for c in stored(tmp_path / "out")) == expected
    verify(tmp_path / "out")


def test_equal_cells_of_joined_rows(tmp_path):
    """Of equal cells, that of the first old row is written."""
    events = [(1, n, 1000, 0, kind, "p", kind) for n, kind in ((5, "second"), (-5, "first"))]
    source, out = load(tmp_path / "old", AS_KEY, events)
    to = job(tmp_path / "new.yaml", ["field: id, as: u32"], "u", "none")
    report = rekey(source, to, out, "-o", tmp_path / "joined", "--join-rows")
    assert (report["read"], report["tables"][0]["loaded"], report["tables"][0]["deduplicated"]) == (8, 5, 3)
    assert [c.value for c in stored(tmp_path / "joined") if c.qualifier == b"kind"] == [b"first"]
    verify(tmp_path / "joined")


def table_of(root, *folders):
    """Writes the folder of a table with one region, which has the files of these loads."""
    table = Folder(root, name="t", families={"f": {}, "g": {}, "h": {}})
    region = table.region(b"", b"")
    for folder in folders:
        for file in folder.glob("t/hfiles/*/*"):
            shutil.copy(file, region / file.parent.name / file.name)
    return table.dir


def test_sources(tmp_path, small):
    """A folder of HFiles and a table's folder give the cells of the load."""
    source, out = small
    to = job(tmp_path / "new.yaml", ["field: n, as: i64", "field: id, as: u32"], "u")
    rekey(source, to, out, "-o", tmp_path / "a")
    rekey(source, to, out / "t" / "hfiles", "-o", tmp_path / "b")
    rekey(source, to, table_of(tmp_path / "root", out), "-o", tmp_path / "c")
    files = [{p.name for p in (tmp_path / load / "u").rglob("*") if p.is_file()} for load in "abc"]
    assert files[0] == files[1] == files[2]


def test_rounds(tmp_path):
    """A second round moves the cells of new files alone. Their keys need a column of the old files."""
    puts = [(i, 0, 1000 + i, 0, ["red", "blue"][i % 2], "p", i) for i in range(40)]
    more = [(i, 0, 900 + i, 0, "", "cro"[i % 3], i) for i in range(20)]
    source, out = load(tmp_path / "old", AS_KEY, puts)
    _, changes = load(tmp_path / "more", AS_KEY, more)
    to = job(tmp_path / "new.yaml", ["field: kind, terminator: '|'", "field: id, as: u32"], "u")
    before, after = table_of(tmp_path / "before", out), table_of(tmp_path / "after", out, changes)
    report = rekey(source, to, after, "--since", before, "-o", tmp_path / "round")
    expected = [([b"red|", b"blue|"][c.row[3] % 2] + c.row[:4], *rest(c)) for c in stored(changes)]
    assert sorted((c.row, *rest(c)) for c in stored(tmp_path / "round")) == sorted(expected)
    assert report["read"] == report["tables"][0]["loaded"] == len(expected) > 20
    verify(tmp_path / "round")
    report = rekey(source, to, before, "--since", before, "-o", tmp_path / "none")
    assert report["read"] == 0 and not stored(tmp_path / "none")


@pytest.mark.parametrize("step", ["rekey-sorted", "merge-written"])
def test_killed(tmp_path, small, step):
    to = job(tmp_path / "new.yaml", AS_KEY[::-1], "u")
    done = loads.run("rekey", small[0], to, small[1], "-o", tmp_path / "out", env=dict(os.environ, SALTMILL_CRASH_AT=step))
    assert done.returncode == -9 and not (tmp_path / "out").exists()
    rekey(small[0], to, small[1], "-o", tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.yaml", "out"]
