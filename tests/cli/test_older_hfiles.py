"""Tests HFiles of HBase 1, versions 3.0 and 2.3. hbase1/Writer.java made the files in hbase1/files.zip with HBase's own
writer, each with a list of its cells.
"""

import json
import zipfile

import pytest

import loads

ZIP = loads.ROOT / "tests" / "hbase1" / "files.zip"
with zipfile.ZipFile(ZIP) as z:
    FILES = {n: z.read(n) for n in z.namelist() if not n.endswith(".cells")}
    LISTS = {n.removesuffix(".cells"): z.read(n).decode() for n in z.namelist() if n.endswith(".cells")}
NAMES = sorted(n for n in FILES if "PREFIX_TREE" not in n)
TRAILERS = {2: 212, 3: 4096}

# A load with one file, whose rows go from 00 to FFFFFFFFFFFF. The tests put each of HBase's files in its place.
JOB = """\
source: {csv: {files: [in.csv]}}
fields: {k: {type: hex}}
tables:
  - name: t
    rowkey: [{field: k}]
    timestamp: 5
    families:
      cf: {versions: 1000000, bloomfilter: NONE}
    cells:
      - {family: cf, qualifier: a, value: {field: k}}
    regions: {split: none}
"""


def version(name):
    return int(name.split("-")[1][1:])


def cells_of(name):
    return cells_in(LISTS[name])


def cells_in(text):
    """Returns (row, qualifier, time, type, value, mvcc, tags) of each cell of a list of Writer.java."""
    def raw(text):
        return b"" if text == "-" else bytes.fromhex(text)
    lines = [line.split(" ") for line in text.splitlines()]
    return [(raw(r), raw(q), int(ts), kind, raw(v), int(mvcc), raw(tags)) for r, q, ts, kind, v, mvcc, tags in lines]


def tags_shown(tags):
    """Prints tags. Each tag is its length in two bytes, its type and its value."""
    shown = []
    while tags:
        end = 2 + int.from_bytes(tags[:2], "big")
        shown.append({"type": tags[2], "value": loads.escaped(tags[3:end])})
        tags = tags[end:]
    return shown


def shown_of(cell):
    row, qualifier, ts, kind, value, mvcc, tags = cell
    shown = {"row": loads.escaped(row), "column": "cf:" + loads.escaped(qualifier), "timestamp": ts, "type": kind,
             "value": loads.escaped(value)}
    if mvcc:
        shown["mvcc"] = mvcc
    if tags:
        shown["tags"] = tags_shown(tags)
    return shown


def written(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


def test_the_files():
    """Checks that the files contain the features that this test needs."""
    assert len(NAMES) == 36 and LISTS.keys() == FILES.keys()
    for name in NAMES:
        assert FILES[name][-4:] == {2: b"\3\0\0\2", 3: b"\0\0\0\3"}[version(name)]
        assert FILES[name][-TRAILERS[version(name)]:][:8] == b'TRABLK"$'
    for part in ("NONE", "PREFIX", "DIFF", "FAST_DIFF", "GZ", "ROW", "ROWCOL", "mvcc", "small"):
        assert {version(n) for n in NAMES if part in n.split("-")[2:]} == {2, 3}, part
    assert [n for n in NAMES if n.endswith("-packed")] and [n for n in NAMES if "-tags" in n]


@pytest.mark.parametrize("name", NAMES)
def test_cells(tmp_path, name):
    path = written(tmp_path, FILES[name])
    expected = [shown_of(c) for c in cells_of(name)]
    done = loads.run("inspect", "--cells", "--json", path)
    assert done.returncode == 0, done.stderr
    [shown] = json.loads(done.stdout)
    assert [{k: v for k, v in c.items() if k != "time"} for c in shown["cells"]] == expected
    assert shown["trailer"]["version"] == {2: "2.3", 3: "3.0"}[version(name)]
    # HBase starts the range at 0 if the file has deletes of columns or families
    times = [0 if kind in ("DeleteColumn", "DeleteFamily") else ts for _, _, ts, kind, *_ in cells_of(name)]
    [range_] = [e["value"] for e in shown["file_info"] if e["key"] == "TIMERANGE"]
    assert range_[0] == min(times) and range_[1] == max(c[2] for c in cells_of(name))
    verified = json.loads(loads.run("verify", "--json", path).stdout)
    assert verified["ok"], verified["problems"]
    assert verified["cells"] == len(expected) and verified["rows"] == len({c["row"] for c in expected})


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    folder = tmp_path_factory.mktemp("load")
    (folder / "job.yaml").write_text(JOB)
    (folder / "in.csv").write_text("k\n00\nffffffffffff\n")
    done = loads.run("load", folder / "job.yaml", "-o", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder


def scanned(load, command, *args):
    done = loads.run(command, load / "job.yaml", load / "out", "--format", "jsonl", "--versions", "1000", *args)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [(r["row"], c["qualifier"], c["timestamp"], c["type"], c["value"]) for r in rows for c in r["cells"]]


@pytest.mark.parametrize("name", NAMES)
def test_scan(load, name):
    """Reads all cells, ranges between some rows, and some rows by get, through the Bloom filter."""
    [path] = (load / "out" / "t" / "hfiles" / "cf").iterdir()
    path.write_bytes(FILES[name])
    cells = cells_of(name)
    assert all(b"\0" <= c[0] <= 6 * b"\xff" for c in cells)
    shown = [tuple(f if isinstance(f, (int, str)) else loads.escaped(f) for f in c[:5]) for c in cells]
    assert scanned(load, "scan", "--raw") == shown
    rows = sorted({c[0] for c in cells})
    for start, stop in zip(rows[::3], rows[2::2]):
        found = scanned(load, "scan", "--raw", "--start", loads.escaped(start), "--stop", loads.escaped(stop))
        assert found == [s for s, c in zip(shown, cells) if start <= c[0] < stop]
    for row in rows[::4]:
        got = scanned(load, "get", "--row", loads.escaped(row))
        of_row = [(s, c) for s, c in zip(shown, cells) if c[0] == row]
        assert set(got) <= {s for s, _ in of_row}
        if all(c[3] == "Put" for _, c in of_row):  # delete markers are the oracle's of other tests
            assert got == [s for s, _ in of_row]
    assert scanned(load, "get", "--row", "no such row") == []


@pytest.mark.parametrize("name", [next(n for n in NAMES if version(n) == v) for v in (2, 3)])
def test_unread(tmp_path, name):
    """The error names unknown codecs and versions. A truncated file is not mistaken for another version."""
    sound, size = FILES[name], TRAILERS[version(name)]
    message = sound[-size:]
    at = len(sound) - size + message.rindex(b"KeyComparator") + len(b"KeyComparator")
    assert sound[at] == 12 << 3  # compression_codec

    def refusal(content):
        path = written(tmp_path, content)
        done = loads.run("verify", path)
        assert done.returncode == 1 and str(path) in done.stdout
        return done.stdout

    assert "compressed with codec 9, expected one of 0 to 8" in refusal(sound[:at + 1] + b"\t" + sound[at + 2:])
    for minor, major in ((2, 2), (4, 2), (4, 3), (0, 4), (0, 1)):
        said = refusal(sound[:-4] + bytes([minor, 0, 0, major]))
        assert f"HFile version {major}.{minor}, expected 2.3 or 3.0 to 3.3" in said
    assert "the file is truncated" in refusal(sound[:-9])
    assert "not an HFile" in refusal(sound[:-size])


def test_prefix_tree(tmp_path):
    [name] = FILES.keys() - set(NAMES)
    done = loads.run("inspect", "--cells", written(tmp_path, FILES[name]))
    assert done.returncode == 1 and "found encoding PREFIX_TREE, expected an encoding that HBase 2 can read" in done.stderr
