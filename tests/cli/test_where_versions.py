"""Tests scan --where, which checks the newest version of each column, and with --any-version each version. Folders and
live tables give the same answers.

The model is a dictionary of versions in Python.
"""

import json
import random

import pytest

import loads
from fake_hbase import FakeHBase
from test_where import raw

JOB = """\
source: {csv: {files: [events.csv]}}
fields:
  student: {type: u32}
  book: {type: u32}
  lent: {type: time, unit: ms}
  borrowed: {type: bool}
  shelf: {type: u32}
tables:
  - name: loans
    rowkey: [{field: student, as: u32}]
    timestamp: lent
    families: {b: {versions: 5}, i: {versions: 5}}
    cells:
      - {family: b, qualifier: {field: book, as: text}, value: borrowed}
      - {family: i, qualifier: shelf, value: shelf}
    regions: {split: none}
"""


class Model:
    """The columns of a row, as {(family, qualifier): [(time, value), newest first]}."""

    def __init__(self, rng):
        self.events = [(rng.randrange(6), rng.randrange(5), t, rng.random() < 0.5, rng.randrange(4))
                       for t in rng.sample(range(1, 2000), 60)]
        self.rows = {}
        for student, book, t, borrowed, shelf in sorted(self.events, key=lambda e: -e[2]):
            row = self.rows.setdefault(student, {})
            row.setdefault(("b", str(book)), []).append((t, "true" if borrowed else "false"))
            row.setdefault(("i", "shelf"), []).append((t, str(shelf)))

    def write(self, folder):
        (folder / "job.yaml").write_text(JOB)
        (folder / "events.csv").write_text("student,book,lent,borrowed,shelf\n" + "".join(
            f"{s},{b},{t},{str(x).lower()},{h}\n" for s, b, t, x, h in self.events))
        done = loads.run("load", folder / "job.yaml", "-o", folder / "o", "--quiet")
        assert done.returncode == 0, done.stderr

    def cells(self):
        return [(s.to_bytes(4, "big"), f.encode(), q.encode(), t, v.encode())
                for s, row in self.rows.items() for (f, q), versions in row.items() for t, v in versions[:5]]

    def answer(self, of_row, of_cell, shown, any_version, within):
        """`of_row` decides from the shelf's value. `of_cell` decides from (family, qualifier, time, value) of a
        version.
        """
        found = []
        for student in sorted(self.rows):
            row = {c: [v for v in versions if v[0] in within][:5] for c, versions in self.rows[student].items()}
            shelves = [v for _, v in row[("i", "shelf")]]
            if not any(of_row(v) for v in (shelves if any_version else shelves[:1])):
                continue
            for (family, qualifier), versions in sorted(row.items()):
                if any_version:
                    taken = [v for v in versions if of_cell(family, qualifier, *v)]
                else:
                    taken = versions if versions and of_cell(family, qualifier, *versions[0]) else []
                found += [(student, family, qualifier, *v) for v in taken[:shown]]
        return found


def draw(rng):
    """Returns (text, of_row, of_cell)"""
    shelf, book, lent = rng.randrange(4), str(rng.randrange(5)), rng.randrange(2000)
    state = rng.choice(["true", "false"])
    rows = rng.choice([(None, lambda v: True), (f"shelf = {shelf}", lambda v: v == str(shelf)),
                       (f"i:shelf > {shelf}", lambda v: int(v) > shelf)])
    cells = rng.choice([(f"borrowed = {state}", lambda f, q, t, v: f == "b" and v == state),
                        (f"book = {book} and borrowed = {state}", lambda f, q, t, v: (f, q, v) == ("b", book, state)),
                        (f"lent <= {lent}", lambda f, q, t, v: t <= lent),
                        (f"borrowed = {state} and lent >= {lent}", lambda f, q, t, v: f == "b" and v == state and t >= lent)])
    texts = [t for t, _ in (rows, cells) if t]
    rng.shuffle(texts)
    return " and ".join(texts), rows[1], cells[1]


def scan(*args):
    done = loads.run("scan", *args, "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    return [(int.from_bytes(raw(r["row"]), "big"), c["family"], c["qualifier"], c["timestamp"], c["value"])
            for r in map(json.loads, done.stdout.splitlines()) for c in r["cells"]]


@pytest.mark.parametrize("seed", range(3))
def test_random_versions(tmp_path, seed):
    rng = random.Random(seed)
    model = Model(rng)
    model.write(tmp_path)
    with FakeHBase("loans", ["b", "i"], model.cells(), [(3).to_bytes(4, "big")], rng) as server:
        for n in range(25):
            text, of_row, of_cell = draw(rng)
            any_version, shown = rng.random() < 0.4, rng.choice([1, 1, 2, 5])
            args = ["--where", text, "--versions", shown, *(["--any-version"] if any_version else [])]
            within = range(2000)
            if n % 3 == 0:  # a real server would apply the time range; this one ignores it
                within = range(rng.randrange(500), rng.randrange(1000, 2000))
            want = model.answer(of_row, of_cell, shown, any_version, within)
            timed = ["--time-range", f"{within.start}..{within.stop}"] if n % 3 == 0 else []
            assert scan(tmp_path / "job.yaml", tmp_path / "o", *args, *timed) == want, (text, args)
            if not timed:
                assert scan(tmp_path / "job.yaml", "--hbase", server.address, *args) == want, (text, args)


def test_returned_books(tmp_path):
    """A returned book has no borrower."""
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "events.csv").write_text("student,book,lent,borrowed,shelf\n1,7,10,true,1\n1,7,20,false,1\n1,8,15,true,1\n")
    done = loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "o", "--quiet")
    assert done.returncode == 0, done.stderr
    operands = [tmp_path / "job.yaml", tmp_path / "o", "--where", "student = 1 and borrowed = true"]
    assert scan(*operands) == [(1, "b", "8", 15, "true")]
    assert scan(*operands, "--any-version") == [(1, "b", "7", 10, "true"), (1, "b", "8", 15, "true")]
    done = loads.run("scan", tmp_path / "job.yaml", tmp_path / "o", "--any-version")
    assert done.returncode == 2 and "--any-version: found no --where, expected `--where TEXT` too" in done.stderr
