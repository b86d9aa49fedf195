"""Tests `agree` with random jobs and damage. Python builds the row keys and compares two dicts."""

import json
import random
import re

import pytest

import loads
from load_oracle import murmur3_32

FIELDS = "{a: {type: u32}, at: {type: time, unit: ms}, v: {type: u32}}"
CELLS = "{a: {type: u32}, at: {type: time, unit: ms}, row: {type: hex}, qualifier: {type: hex}, value: {type: hex}}"
ODD = ['it,s', 'q"uote', "a'b", "{x}"]  # names that CSV, YAML or a condition must quote


def u32(n):
    return n.to_bytes(4, "big")


def time(at, newest):
    return ((2**63 - 1 - at) if newest else at).to_bytes(8, "big")


class Job:
    """A truth table and another table of the same events. `cells` gives the other table's cells."""

    def __init__(self, draw):
        self.newest, self.wide, self.truth_wide, self.binary = (draw.random() < 0.5 for _ in range(4))
        self.buckets, self.of = draw.choice([(0, ""), (4, "b"), (7, "b, a")])
        self.family, self.second = draw.sample(ODD, 2)
        self.optional = draw.random() < 0.5
        self.index = draw.random() < 0.4  # the cells of `second` name the row of the truth table

    def truth_key(self, e):
        return u32(e["a"]) if self.truth_wide else u32(e["a"]) + time(e["at"], True) + e["b"].encode()

    def key(self, e):
        salt = {"": b"", "b": e["b"].encode(), "b, a": e["b"].encode() + u32(e["a"])}[self.of]
        head = bytes([murmur3_32(salt) % self.buckets]) if self.buckets else b""
        rest = b"" if self.wide else time(e["at"], self.newest) + u32(e["a"])
        return head + e["b"].encode() + rest

    def cells(self, events):
        """Returns {(row, family, qualifier): (time, value)}."""
        out = {}
        for e in events:
            name = (lambda text, e=e: time(e["at"], self.newest) + u32(e["a"]) if self.wide else text)
            out[self.key(e), self.family, name(b"v")] = e["at"], u32(e["v"]) if self.binary else str(e["v"]).encode()
            if self.index:
                out[self.key(e), self.second, name(b"k")] = e["at"], self.truth_key(e)
            elif e["w"]:
                out[self.key(e), self.second, name(b"w")] = e["at"], e["w"].encode()
        return out

    def text(self):
        at = "{field: at, as: reversed_millis}" if self.newest else "{field: at, as: millis}"
        salt = f"{{salt: {self.buckets}, of: [{self.of}]}}, " if self.buckets else ""
        truth = "{field: a, as: u32}" + ("" if self.truth_wide else ", {field: at, as: reversed_millis}, {field: b, width: 3}")
        def named(wide, first, name):
            return f"[{first}, {{field: b, width: 3}}]" if wide == "truth" else f"[{first}, {{field: a, as: u32}}]" if wide else name
        family, second = json.dumps(self.family), json.dumps(self.second)
        v = "{field: v, as: u32}" if self.binary else "v"
        w = "{key_of: truth}" if self.index else "w, optional: true"
        wide = "truth" if self.truth_wide else False
        return f"""\
source: {{csv: {{files: [in.csv], "null": [""]}}}}
fields: {FIELDS}
tables:
  - name: truth
    rowkey: [{truth}]
    timestamp: at
    families: {{f: {{}}, g: {{}}}}
    cells:
      - {{family: f, qualifier: {named(wide, "{field: at, as: millis}", "v")}, value: {{field: v, as: u32}}}}
      - {{family: g, qualifier: {named(wide, "{field: at, as: millis}", "w")}, value: w, optional: true}}
    regions: {{split: none}}
  - name: other
    rowkey: [{salt}{{field: b, width: 3}}{"" if self.wide else ", " + at + ", {field: a, as: u32}"}]
    timestamp: at
    families: {{{family}: {{versions: 5}}, {second}: {{}}}}
    cells:
      - {{family: {family}, qualifier: {named(self.wide, at, "v")}, value: {v}}}
      - {{family: {second}, qualifier: {named(self.wide, at, "k" if self.index else "w")}, value: {w}}}
    regions: {{split: none}}
"""

    def damaging(self):
        """Returns a job that writes single cells to the other table."""
        cells = "".join(f"      - {{family: {json.dumps(f)}, qualifier: {{field: qualifier, as: bytes}}, value: {{field: value, as: bytes}},"
                        f" when: a = {i}}}\n" for i, f in enumerate((self.family, self.second)))
        return f"""\
source: {{csv: {{files: [bad.csv]}}}}
fields: {CELLS}
tables:
  - name: other
    rowkey: [{{field: row, as: bytes}}]
    timestamp: at
    families: {{{json.dumps(self.family)}: {{versions: 5}}, {json.dumps(self.second)}: {{}}}}
    cells:
{cells}    regions: {{split: none}}
"""


def load(folder, name, job, header, lines):
    job = job.replace("in.csv", f"{name}.csv")
    (folder / f"{name}.csv").write_text(header + "".join(",".join(map(str, line)) + "\n" for line in lines))
    (folder / f"{name}.yaml").write_text(job)
    done = loads.run("load", folder / f"{name}.yaml", "-o", folder / name, "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / name


def draw_events(draw):
    """Makes events whose a, at and b differ. In a wide truth table, two events of a row must not have one time."""
    events = {}
    for _ in range(draw.choice([3, 60, 500])):
        e = {"a": draw.randrange(9), "at": 1400000000000 + draw.randrange(10**6), "b": f"b{draw.randrange(20):02}", "v": draw.randrange(10**6),
             "w": draw.choice(["", "w", "x y"])}
        events.setdefault((e["a"], e["at"]), e)
    return list(events.values())


def load_both(folder, job, events, draw):
    """Loads both tables. Unless the other table needs the row keys of the truth table, its load lacks some events. Returns the folders, and
    the events of the other table."""
    lines = [(e["a"], e["at"], e["b"], e["v"], e["w"]) for e in events]
    start, truth, other = re.split("(?=  - name: )", job.text())
    kept = [i for i in range(len(events)) if job.index or draw.random() < 0.9]
    whole = load(folder, "in", job.text(), "a,at,b,v,w\n", lines)
    if len(kept) == len(events):
        return [whole], events
    parts = [load(folder, "truth", start + truth, "a,at,b,v,w\n", lines), load(folder, "other", start + other, "a,at,b,v,w\n", [lines[i] for i in kept])]
    return parts, [events[i] for i in kept]


def draw_damage(draw, job, right):
    """Changes cells: other values, other times, cells of no event."""
    bad = {}
    for _ in range(draw.randrange(1, 25)):
        key = draw.choice(list(right))
        if draw.random() < 0.3:
            last = bytes([draw.randrange(256)])  # of `a`
            key = (key[0], key[1], key[2][:-1] + last) if job.wide else (key[0][:-1] + last, *key[1:])
        at = right[key][0] if key in right and draw.random() < 0.6 else 1500000000000
        bad[key] = at, bytes(draw.randrange(256) for _ in range(4))
    return bad


def read(job, folders):
    done = loads.run("scan", job, *folders, "--table", "other", "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        r = json.loads(line)
        for c in r["cells"]:
            found[tuple(x.encode("latin-1").decode("unicode_escape").encode("latin-1") for x in (r["row"], c["family"], c["qualifier"]))] = (
                c["timestamp"], c["value"].encode("latin-1").decode("unicode_escape").encode("latin-1"))
    return {(row, family.decode(), q): v for (row, family, q), v in found.items()}


@pytest.mark.parametrize("seed", range(8))
def test_damage_is_found_and_mended(seed, tmp_path):
    draw = random.Random(seed)
    job, events = Job(draw), draw_events(draw)
    good, kept = load_both(tmp_path, job, events, draw)
    right = job.cells(events)
    assert read(tmp_path / "in.yaml", good[-1:]) == job.cells(kept)
    bad = draw_damage(draw, job, right)
    rows = [(row.hex(), q.hex(), at, [job.family, job.second].index(f), value.hex()) for (row, f, q), (at, value) in bad.items()]
    damaged = load(tmp_path, "bad", job.damaging(), "row,qualifier,at,a,value\n", rows)
    found = job.cells(kept) | bad
    how = ("agree", tmp_path / "in.yaml", *good, damaged, "--truth", "truth")
    done = loads.run(*how, "--json", "--repair", tmp_path / "mended")
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)["tables"][0]
    both = found.keys() & right.keys()
    assert (told["extra"], told["missing"], told["different"], told["equal"]) == (
        len(found.keys() - both), len(right.keys() - both), sum(found[k] != right[k] for k in both), sum(found[k] == right[k] for k in both))
    assert read(tmp_path / "in.yaml", [good[-1], damaged, tmp_path / "mended"]) == right
    mended = loads.run(*how[:-2], tmp_path / "mended", *how[-2:])
    assert mended.returncode == 0 and mended.stdout.endswith("\nequal\n"), mended.stdout
