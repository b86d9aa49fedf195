"""Tests of saltmill agree. A model of a few lines in Python predicts the differences of the loans' two tables."""

import json
import random
import shutil

import pytest

import loads
import test_offline

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
    answer = json.loads(done.stdout)
    assert answer["equal"] == (status == 0)
    return answer


@pytest.fixture(name="loans")
def _loans(tmp_path):
    assert loads.run("load", JOB, "-o", tmp_path / "loans", "--quiet").returncode == 0
    return tmp_path / "loans"


def test_golden(loans, tmp_path):
    """The loans of conf/loans.yaml, by hand: 6 pairs of student and book; each of the 4 books has a name, 3 have an info."""
    answer = agree(JOB, loans, status=0)["tables"][0]
    assert (answer["rows"], answer["cells"], answer["equal"], answer["not_compared"]) == (4, 13, 6, 7)
    assert answer["columns_not_compared"] == [{"column": "info:name", "field": "book_name"},
                                            {"column": "info:info", "field": "book_info"}]
    bad = damage(tmp_path / "bad", [("book_loans", "B0001", "2013010002", 1379388000000, "put", 7),  # another value
                                    ("book_loans", "B0002", "2013010001", 1390000000000, "put", 1),  # a newer version
                                    ("book_loans", "B0009", "2013010002", 1390000000000, "put", 1)])  # no such loan
    answer = agree(JOB, loans, bad, "--repair", tmp_path / "mended", status=3)
    first = answer["tables"][0]["first"]
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
        'book_loans,"4230303031","borrowed","32303133303130303032",1379388000000,Put,"31"',
        'book_loans,"4230303032","borrowed","32303133303130303031",1390000000000,Delete,""',
        'book_loans,"4230303032","borrowed","32303133303130303031",1381190340000,Put,"30"',
        'book_loans,"4230303039","borrowed","32303133303130303032",1390000000000,DeleteColumn,""']
    assert answer["repair_cells"] == 4
    agree(JOB, loans, bad, tmp_path / "mended", status=0)
    assert loads.run("verify", tmp_path / "mended", "--quiet").returncode == 0


def test_a_repair_needs_a_new_folder(loans, tmp_path):
    """--repair names a load that does not exist yet. Users take it for the load to repair."""
    (tmp_path / "mended.csv").write_text("mine")
    for name, expected in ((loans, f"found the folder {loans}, expected a new name, because a repair is a load of its own"),
                           (tmp_path / "mended", f"found the file {tmp_path / 'mended.csv'}, expected a new name"),
                           (tmp_path / "none" / "mended", f"found no folder {tmp_path / 'none'}, expected the folder of the new load"),
                           ("s3://bucket/mended", "found s3://bucket/mended, expected a folder of this machine"),
                           ("", "found an empty name, expected the folder of a new load")):
        done = loads.run("agree", JOB, loans, "--truth", "student_loans", "--repair", name)
        assert done.returncode == 2 and "--repair: " + expected in done.stderr, done.stderr
    done = loads.run("agree", JOB, "--truth", "student_loans", "--repair", loans)
    assert done.returncode == 2 and "--repair names a new load, and not a load to read" in done.stderr
    assert (tmp_path / "mended.csv").read_text() == "mine" and sorted(f.name for f in tmp_path.iterdir()) == ["loans", "mended.csv"]
    bad = damage(tmp_path / "bad", [("book_loans", "B0001", "2013010002", 1379388000000, "put", 7)])
    agree(JOB, loans, bad, "--repair", f"{tmp_path}/new/", status=3)
    agree(JOB, loans, bad, tmp_path / "new", status=0)


def splits_of(folder, table):
    return (folder / table / "splits.txt").read_text().split()


def test_a_repair_has_the_split_points_of_all_loads(tmp_path):
    """Two loads cut the table at other keys, and the newest load does not have the table."""
    key, cells = "{field: user, as: u32}", "{family: f, qualifier: v, value: v}"
    both = USERS + table("newest", key, cells) + table("copy", "{field: user, as: text}", cells)
    lines = [f"{user},{1000 + user},a,x" for user in range(100, 160)]
    for name, points in (("one", "120\n140\n"), ("two", "110\n140\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "points").write_text(points)
        text = "{split: file, file: ../points}".join(both.rsplit("{split: none}", 1))
        job, _ = load(tmp_path / name / "load", text, lines)
    bad = load(tmp_path / "bad", USERS + table("copy", "{field: user, as: text}", cells), ["115,1115,b,x", "150,1150,b,x"])[1]
    last = load(tmp_path / "last", USERS + table("newest", key, cells), ["100,1100,a,x"])[1]
    loads_of = [tmp_path / "one" / "load" / "out", bad, tmp_path / "two" / "load" / "out", last]
    done = loads.run("agree", job, loads_of[2], bad, "--truth", "newest", "--repair", tmp_path / "alone")
    assert done.returncode == 3 and splits_of(tmp_path / "alone", "copy") == ["110", "140"], done.stderr
    done = loads.run("agree", job, loads_of[0], loads_of[2], bad, last, "--truth", "newest", "--repair", tmp_path / "mended")
    assert done.returncode == 3 and splits_of(tmp_path / "mended", "copy") == ["110", "120", "140"], done.stderr
    assert f"table copy: load {loads_of[0]} has other split points than load {bad}; the repair has" in done.stderr
    assert (tmp_path / "mended.copy.splits").read_text() == "110\n120\n140\n"
    assert loads.run("verify", tmp_path / "mended", "--quiet").returncode == 0
    (tmp_path / "again.copy.splits").write_text("mine")
    done = loads.run("agree", job, *loads_of, "--truth", "newest", "--repair", tmp_path / "again")
    assert done.returncode == 2 and "again.copy.splits" in done.stderr
    assert (tmp_path / "again.copy.splits").read_text() == "mine" and not (tmp_path / "again.csv").exists()


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
    answer = agree(JOB, loans, bad, "--repair", tmp_path / "mended", status=3)["tables"][0]
    assert (answer["missing"], answer["hidden"]) == (1, 1)


def load(folder, job, lines):
    folder.mkdir()
    (folder / "in.csv").write_text("".join(line + "\n" for line in lines))
    (folder / "job.yaml").write_text(job)
    done = loads.run("load", folder / "job.yaml", "-o", folder / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "job.yaml", folder / "out"


def table(name, key, cells):
    return (f"  - name: {name}\n    rowkey: [{key}]\n    timestamp: at\n    families: {{f: {{}}}}\n"
            f"    cells: [{cells}]\n    regions: {{split: none}}\n")


USERS = "source: {csv: {files: [in.csv], columns: [user, at, v, note]}}\nfields: {at: {type: time, unit: ms}, user: {type: u32}}\ntables:\n"
NEWEST = table("newest", "{field: user, as: u32}", "{family: f, qualifier: v, value: v}")
HISTORY = table("history", "{field: user, as: u32}, {field: at, as: reversed_millis}", "{family: f, qualifier: v, value: v}")
NOTES = table("notes", "{field: note}", "{family: f, qualifier: v, value: v}")


def test_the_outcome_names_what_it_does_not_cover(loans, tmp_path):
    """The truth has no `note`. So it cannot give the rows of `notes`, and it gives one of the two events of `history`."""
    done = loads.run("agree", JOB, loans, "--truth", "student_loans")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "equal in all that was compared; not compared: 7 cells")
    assert agree(JOB, loans, status=0)["complete"] is False
    job, out = load(tmp_path / "users", USERS + NEWEST + HISTORY + NOTES, ["1,1000,a,x"])
    answer = agree(job, out, truth="newest", status=3)  # a table was not compared
    assert answer["complete"] is False and [("refused" in t, t["equal"]) for t in answer["tables"]] == [(False, 1), (True, 0)]
    done = loads.run("agree", job, out, "--truth", "newest")
    assert done.stdout.splitlines()[-1] == "equal in all that was compared; not compared: 1 table"
    assert agree(job, out, "--table", "history", truth="newest", status=0)["complete"] is True
    assert agree(job, out, "--table", "newest", truth="history", status=0)["complete"] is True
    bad = load(tmp_path / "bad", USERS + HISTORY, ["1,1000,b,x"])[1]
    done = loads.run("agree", job, out, bad, "--truth", "newest")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (3, "different; not compared: 1 table")


def test_older_events_are_deleted_on_request_only(tmp_path):
    """The truth keeps the newest event of user 1. Its other row in the tall table is right, unless the user knows better."""
    job, out = load(tmp_path / "users", USERS + NEWEST + HISTORY, ["1,1000,a,x", "1,2000,b,x", "2,1500,c,x"])
    how = (job, out, "--truth", "newest")
    done = loads.run("agree", *how, "--repair", tmp_path / "kept", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 3 and (answer["tables"][0]["extra"], answer["tables"][0]["equal"]) == (1, 2)
    assert "also has field `at`" in answer["tables"][0]["extra_kept"] and "repair_cells" not in answer and not (tmp_path / "kept").exists()
    done = loads.run("agree", *how, "--repair", tmp_path / "mended", "--delete-extra", "--json")
    assert json.loads(done.stdout)["repair_cells"] == 1
    row = b"\0\0\0\1" + (2**63 - 1 - 1000).to_bytes(8, "big")
    assert (tmp_path / "mended.csv").read_text().splitlines()[1:] == [f'history,"{row.hex()}","f","76",1000,DeleteColumn,""']
    agree(job, out, tmp_path / "mended", truth="newest", status=0)


def test_a_table_that_somebody_altered(loans, tmp_path):
    """The descriptor in HBase's folder has a TTL, fewer versions and a family that the job lacks."""
    altered = {"info": {"VERSIONS": "1"}, "borrowed": {"VERSIONS": "1", "TTL": "86400"}, "extra": {}}
    folder = test_offline.Folder(tmp_path / "hbase", "default", "book_loans", altered)
    manifest = json.loads((loans / "manifest.json").read_text())
    folder.described = next(t for t in manifest["tables"] if t["name"] == "book_loans")
    folder.regions = test_offline.fill(folder, (loans, None, folder.described, None))
    answer = agree(JOB, loans, folder.dir, status=3)
    assert answer["tables"][0]["missing"] == 6  # all are older than a day
    first, second, third = answer["altered"]
    assert first == {"table": "book_loans", "change": "borrowed: VERSIONS is 1, expected 3 as in the job, because it decides how many versions "
                     "a compaction keeps", "fix": "enter in the HBase shell: alter 'book_loans', {NAME => 'borrowed', VERSIONS => '3'}"}
    assert second["change"] == "borrowed: TTL is 86400, expected FOREVER as in the job, because it hides older cells"
    assert second["fix"].endswith("alter 'book_loans', {NAME => 'borrowed', TTL => 'FOREVER'}")
    assert third["change"].startswith("has family extra") and "extra: {other_load: true}" in third["fix"]
    text = loads.run("agree", JOB, loans, folder.dir, "--truth", "student_loans").stdout
    assert text.splitlines()[0] == "altered: book_loans: " + first["change"] and text.splitlines()[1] == "  fix: " + first["fix"]
    for region in folder.regions:
        shutil.rmtree(region / "borrowed")
    folder.describe(2, {"info": {}, "extra": {}})
    done = loads.run("agree", JOB, loans, folder.dir, "--truth", "student_loans")
    assert done.returncode == 2 and "found no family borrowed" in done.stderr and "alter 'book_loans', {NAME => 'borrowed', VERSIONS => 3}" in done.stderr


@pytest.mark.parametrize("as_snapshot", [False, True])
def test_tables_in_folders_of_hbase(loans, tmp_path, as_snapshot):
    """The second table is in HBase's folders, with a damaged cell; the truth is in a load."""
    bad = damage(tmp_path / "bad", [("book_loans", "B0001", "2013010002", 1379388000000, "put", 7)])
    folder = test_offline.Folder(tmp_path / "hbase", "default", "book_loans", {"info": {"VERSIONS": "1"}, "borrowed": {"VERSIONS": "3"}})
    manifest = json.loads((loans / "manifest.json").read_text())
    folder.described = next(t for t in manifest["tables"] if t["name"] == "book_loans")
    folder.regions = test_offline.fill(folder, (loans, None, folder.described, None))
    place = test_offline.snapshot(folder) if as_snapshot else folder.dir
    answer = agree(JOB, place, loans, status=0)
    noted = loads.run("agree", JOB, place, loans, "--truth", "student_loans").stderr
    assert f"reads table book_loans from {place}, and ignores it in load {loans}" in noted
    assert (answer["tables"][0]["equal"], answer["tables"][0]["cells"]) == (6, 13)
    done = loads.run("agree", JOB, place, "--truth", "student_loans")
    assert done.returncode == 2 and "table student_loans: found no load, table or snapshot of it" in done.stderr
    done = loads.run("agree", JOB, place, place, "--truth", "student_loans")
    assert done.returncode == 2 and "found table book_loans" in done.stderr and "contains, too" in done.stderr
    for file in (bad / "book_loans" / "hfiles" / "borrowed").iterdir():
        shutil.copy(file, folder.regions[0] / "borrowed" / test_offline.name_of("bad"))
    place = folder.dir if not as_snapshot else test_offline.snapshot(shutil.rmtree(place) or folder)
    answer = agree(JOB, loans, place, "--repair", tmp_path / "mended", status=3)
    assert answer["tables"][0]["different"] == 1 and answer["repair_cells"] == 1


def test_refusals(loans, tmp_path):
    for args, words in ((["--truth", "nothing"], "nothing"), (["--truth", "book_loans", "--table", "book_loans"], "another table"),
                        (["--truth", "book_loans", "--repair", loans], "expected a new name"), ([], "no --truth")):
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
    answer = agree(*how, "--repair", tmp_path / "mended", status=3)["tables"][0]
    assert {k: answer[k] for k in expect} == expect
    agree(*how, tmp_path / "mended", status=0)
