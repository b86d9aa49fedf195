"""Tests of saltmill agree. A model of a few lines in Python predicts the differences of the loans' two tables."""

import json
import random
import shutil

import pytest

import loads

JOB = loads.ROOT / "conf" / "loans.yaml"

# Writes single cells to the tables of conf/loans.yaml, so that a test can damage them.
CELLS = """\
source: {csv: {files: [cells.csv]}}
fields: {at: {type: time, unit: ms}}
tables:
"""
TABLE = """\
  - name: %(table)s
    when: table = %(table)s
    rowkey: [{field: row}]
    timestamp: at
    families: {info: {other_load: true}, %(family)s: {versions: 3}}
    cells:
      - {family: %(family)s, qualifier: {field: qualifier}, value: value, when: type = put}
    deletes:
      - {family: %(family)s, qualifier: {field: qualifier}, when: type = delete}
    regions: {split: none}
"""
FAMILY = {"student_loans": "borrow", "book_loans": "borrowed"}


def damage(folder, cells):
    """Loads (table, row, qualifier, ms, type, value) as one load."""
    folder.mkdir()
    lines = [",".join(map(str, cell)) for cell in cells]
    (folder / "cells.csv").write_text("\n".join(["table,row,qualifier,at,type,value", *lines]) + "\n")
    text = "".join(TABLE % {"table": t, "family": f} for t, f in FAMILY.items())
    (folder / "job.yaml").write_text(CELLS + text)
    done = loads.run("load", folder / "job.yaml", "-o", folder / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def agree(*args, status, truth="student_loans"):
    done = loads.run("agree", *args, "--truth", truth, "--json")
    assert done.returncode == status, done.stderr
    told = json.loads(done.stdout)
    assert told["equal"] == (status == 0)
    return told


@pytest.fixture(name="loans")
def _loans(tmp_path):
    assert loads.run("load", JOB, "-o", tmp_path / "loans", "--quiet").returncode == 0
    return tmp_path / "loans"


def test_golden(loans, tmp_path):
    """The loans of conf/loans.yaml, by hand: 6 pairs of student and book; each of the 4 books has a name, 3 have an info."""
    told = agree(JOB, loans, status=0)["tables"][0]
    assert (told["rows"], told["cells"], told["equal"], told["not_compared"]) == (4, 13, 6, 7)
    assert told["columns_not_compared"] == [{"column": "info:name", "field": "book_name"},
                                            {"column": "info:info", "field": "book_info"}]
    bad = damage(tmp_path / "bad", [("book_loans", "B0001", "2013010002", 1379388000000, "put", 7),  # another value
                                    ("book_loans", "B0002", "2013010001", 1390000000000, "put", 1),  # a newer version
                                    ("book_loans", "B0009", "2013010002", 1390000000000, "put", 1)])  # no such loan
    told = agree(JOB, loans, bad, "--repair", tmp_path / "mended", status=3)
    first = told["tables"][0]["first"]
    key = {"row": "B0001", "family": "borrowed", "qualifier": "2013010002"}
    assert first == [
        {"difference": "different", **key, "expected_timestamp": 1379388000000, "expected_value": "1",
         "found_timestamp": 1379388000000, "found_value": "7"},
        # returned at 2013-10-08 07:59 in Shanghai
        {"difference": "different", **key, "row": "B0002", "qualifier": "2013010001", "expected_timestamp": 1381190340000,
         "expected_value": "0", "found_timestamp": 1390000000000, "found_value": "1"},
        {"difference": "extra", **key, "row": "B0009", "found_timestamp": 1390000000000, "found_value": "1"}]
    # a put of the value; a marker of the wrong version and a put; a marker of the column
    assert (tmp_path / "mended.csv").read_text().splitlines()[1:] == [
        'book_loans,"4230303031",borrowed,"32303133303130303032",1379388000000,Put,"31"',
        'book_loans,"4230303032",borrowed,"32303133303130303031",1390000000000,Delete,""',
        'book_loans,"4230303032",borrowed,"32303133303130303031",1381190340000,Put,"30"',
        'book_loans,"4230303039",borrowed,"32303133303130303032",1390000000000,DeleteColumn,""']
    assert told["repair_cells"] == 4
    agree(JOB, loans, bad, tmp_path / "mended", status=0)
    assert loads.run("verify", tmp_path / "mended", "--quiet").returncode == 0


def test_a_repair_that_fails_leaves_nothing(loans, tmp_path):
    """The table that agree compares has a damaged block, so agree ends after it began OUT.csv."""
    bad = tmp_path / "bad"
    shutil.copytree(loans, bad)
    for file in bad.glob("book_loans/hfiles/*/*"):
        data = bytearray(file.read_bytes())
        data[40:60] = bytes(20)
        file.write_bytes(data)
    done = loads.run("agree", JOB, bad, "--truth", "student_loans", "--repair", tmp_path / "mended")
    assert (done.returncode, done.stdout) == (1, ""), done
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad", "loans"]


def test_hidden_by_a_marker(loans, tmp_path):
    bad = damage(tmp_path / "bad", [("book_loans", "B0003", "2013010002", 1390000000000, "delete", "")])
    told = agree(JOB, loans, bad, "--repair", tmp_path / "mended", status=3)["tables"][0]
    assert (told["missing"], told["hidden"]) == (1, 1)


def test_refusals(loans, tmp_path):
    for args, words in ((["--truth", "nothing"], "nothing"), (["--truth", "book_loans", "--table", "book_loans"], "another table"),
                        (["--truth", "book_loans", "--repair", loans], "does not exist"), ([], "no --truth")):
        done = loads.run("agree", JOB, loans, *args)
        assert (done.returncode, done.stdout) == (2, "") and words in done.stderr, done.stderr
    text = JOB.read_text().replace("- {field: book}", "- {field: book_name}")
    (tmp_path / "job.yaml").write_text(text.replace("loans.csv", str(JOB.parent / "loans.csv")))
    assert loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "l", "--quiet").returncode == 0
    done = loads.run("agree", tmp_path / "job.yaml", tmp_path / "l", "--truth", "student_loans")
    assert done.returncode == 2 and "depends on field `book_name`" in done.stderr


@pytest.mark.parametrize("seed", range(6))
def test_random(seed, tmp_path):
    """Damages random cells of the second table. The differences are those of two dicts."""
    draw = random.Random(seed)
    lines, truth = [], {}
    for _ in range(draw.choice((3, 40, 400))):
        student, book, second = 2013010000 + draw.randrange(30), f"B{draw.randrange(20):04}", draw.randrange(10**6)
        value, ms = draw.randrange(2), (1400000000 + second) * 1000
        if any(s == student and m == ms for (s, _), (m, _) in truth.items()):
            continue
        lines.append((student, book, value, second))
        truth[student, book] = max(truth.get((student, book), (0, 0)), (ms, value))
    job = JOB.read_text().replace('{type: time, format: "%Y-%m-%d %H:%M:%S", zone: Asia/Shanghai}', "{type: time, unit: s}")
    (tmp_path / "job.yaml").write_text(job.replace("loans.csv", "in.csv"))
    (tmp_path / "in.csv").write_text("student,student_name,student_info,book,book_name,book_info,borrowed,time\n" + "".join(
        f"{s},n{s},,{b},n{b},,{v},{1400000000 + t}\n" for s, b, v, t in lines))
    assert loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "in", "--quiet").returncode == 0
    found, cells = dict(truth), {}
    for _ in range(draw.randrange(1, 30)):
        pair = draw.choice(list(truth)) if draw.random() < 0.7 else (2013010000 + draw.randrange(30), f"B{draw.randrange(30):04}")
        if pair in cells:
            continue
        ms = truth[pair][0] if pair in truth and draw.random() < 0.5 else 1500000000000 + draw.randrange(99)
        cells[pair] = found[pair] = (ms, draw.randrange(2, 9))
    bad = damage(tmp_path / "bad", [("book_loans", b, s, ms, "put", v) for (s, b), (ms, v) in cells.items()])
    expect = {"missing": 0, "extra": len(found.keys() - truth.keys()), "different": sum(found[k] != truth[k] for k in truth),
              "equal": sum(found[k] == truth[k] for k in truth), "differing_rows": len({b for _, b in cells})}
    how = (tmp_path / "job.yaml", tmp_path / "in", bad)
    told = agree(*how, "--repair", tmp_path / "mended", status=3)["tables"][0]
    assert {k: told[k] for k in expect} == expect
    agree(*how, tmp_path / "mended", status=0)
