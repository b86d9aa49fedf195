"""Tests that the files of `load --existing` fit the regions of an existing table."""

import pytest

from load_help import JOB, Bench, rows

SECOND = """\
  - name: other
    rowkey: [{field: value}]
    timestamp: at
    families: {g: {}}
    cells:
      - {family: g, qualifier: i, value: id}
    regions: {split: none}
"""
KEYS = [r"\x00\x00\x00\x01\x0A", r"\x01", r"\x01\x00\x00\x00\x80~", r"\x02 |", r"\x03\xFF"]
# a published load writes the same keys, and also escapes blanks, bars and tildes
ESCAPED = [r"\x00\x00\x00\x01\x0A", r"\x01", r"\x01\x00\x00\x00\x80\x7E", r"\x02\x20\x7C", r"\x03\xFF"]


def get_splits(keys):
    return "".join(line + "\n" for line in [f"Total number of splits = {len(keys) + 1}", *keys])


def list_regions(table, keys):
    """Prints regions as list_regions.rb does."""
    head = ["SERVER_NAME", "REGION_NAME", "START_KEY", "END_KEY", "SIZE", "REQ", "LOCALITY"]
    cells = [["h,16020,17", f"{table},{start},1700000000000.{i:032x}.", start.strip(), end.strip(), "5", "0", "1.0"]
             for i, (start, end) in enumerate(zip(["", *keys], [*keys, ""]))]
    width = [max(len(r[c]) for r in [head, *cells]) for c in range(len(head))]
    table = [head, ["-" * w for w in width], *cells]
    return "".join("".join(f" {c:>{w}} |" for c, w in zip(r, width)) + "\n" for r in table) \
        + f" {len(cells)} rows\n"


@pytest.fixture
def bench(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill)
    b.input(rows(1000))
    return b


def unescape(text):
    return text.encode().decode("unicode_escape").encode("latin1")


def check(bench, name, keys):
    [table] = [t for t in bench.manifest()["tables"] if t["name"] == name]
    assert (bench.out / name / "splits.txt").read_text().splitlines() == keys
    assert [r["start"] for r in table["regions"]] == ["", *keys]
    script = " ".join((bench.out / name / "create.rb").read_text().split())
    assert f"SPLITS => [{', '.join(repr(k).replace(chr(92) * 2, chr(92)) for k in keys)}]" in script
    borders = [b"", *map(unescape, keys), b"\xff" * 99]
    for f in table["files"]:
        first, last = unescape(f["first_row"]), unescape(f["last_row"])
        assert borders[f["region"]] <= first <= last < borders[f["region"] + 1]
    assert sum(f["rows"] for f in table["files"]) == table["rows"] == 1000


@pytest.mark.parametrize("text", [get_splits(KEYS), list_regions("t", KEYS)], ids=["splits", "regions"])
@pytest.mark.parametrize("spec", ["live.txt", "t=live.txt"])
def test_cut_at_the_live_regions(bench, text, spec):
    bench.input(text.encode(), "live.txt")
    done = bench.run("--existing", spec)
    assert done.returncode == 0, done.stderr
    check(bench, "t", ESCAPED)


def test_splits_that_saltmill_wrote(bench):
    """splits.txt of a load, a plan or `split` lists regions without changes."""
    bench.input("".join(k + "\n" for k in ESCAPED).encode(), "splits.txt")
    done = bench.run("--existing", "splits.txt")
    assert done.returncode == 0, done.stderr
    check(bench, "t", ESCAPED)
    own, again = bench.out / "t" / "splits.txt", bench.folder / "again"
    done = bench.run("--existing", f"t={own}", out=again)
    assert done.returncode == 0 and (again / "t" / "splits.txt").read_bytes() == own.read_bytes(), done.stderr


def test_splits_out_of_order(bench):
    bench.input((ESCAPED[1] + "\n" + ESCAPED[0] + "\n").encode(), "splits.txt")
    bench.refused(bench.run("--existing", "splits.txt"), 1, "splits.txt:2")


def test_one_region(bench):
    bench.input(b"Total number of splits = 1\n\nTook 0.1 seconds\n=> []\n", "live.txt")
    assert bench.run("--existing", "live.txt").returncode == 0
    assert (bench.out / "t" / "splits.txt").read_text() == ""


def test_several_tables(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, JOB + SECOND)
    bench.input(rows(1000))
    bench.input(get_splits(KEYS).encode(), "live.txt")
    bench.input(list_regions("other", ["v3", "v7"]).encode(), "other.txt")
    bench.refused(bench.run("--existing", "live.txt"), 2, "several tables", "TABLE=live.txt")
    bench.refused(bench.run("--existing", "t=live.txt", "--existing", "t=live.txt"), 2, "twice")
    done = bench.run("--existing", "t=live.txt", "--existing", "other.txt")
    assert done.returncode == 0, done.stderr
    check(bench, "t", ESCAPED)
    check(bench, "other", ["v3", "v7"])


@pytest.mark.parametrize("text,status,words", [
    (list_regions("u", KEYS), 2, ["table u"]),
    (list_regions("ns:t", KEYS), 2, ["table ns:t"]),
    ("ERROR: Table t does not exist.\n", 1, ["live.txt", "get_splits"]),
    (get_splits(KEYS[::-1]), 1, ["live.txt:3", "below"]),
    (get_splits(KEYS).replace("= 6", "= 7"), 1, ["live.txt:6", "end of the text"]),
    (get_splits(KEYS).replace("= 6", "= 5"), 1, ["live.txt:6", "more lines"]),
], ids=["other-table", "other-namespace", "not-regions", "disorder", "cut-off", "too-many"])
def test_refused(bench, text, status, words):
    bench.input(text.encode(), "live.txt")
    bench.refused(bench.run("--existing", "live.txt"), status, *words)


def test_missing_file(bench):
    bench.refused(bench.run("--existing", "u=live.txt"), 1, "u=live.txt", "No such file")
