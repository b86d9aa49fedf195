"""Tests that a load reports overwritten events with two examples and their places, or refuses them."""

import gzip
import random
import re

import pytest

from load_help import Bench

JOB = """\
source:
  csv: {files: [in.csv], max_row: 64M}
fields:
  id: {type: u32}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: 5
    duplicates: WHICH
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: value}]
    regions: {split: sampled, count: 3}
"""
HEADER = b"id,value\n"
EXAMPLE = re.compile(r"for example (\S+?)(?::(\d+))? \(byte (\d+)\) is overwritten by (\S+?)(?::(\d+))? \(byte (\d+)\), "
                     r"both have row (\S+)$", re.M)


@pytest.fixture
def make(tmp_path, saltmill):
    return lambda which="last": Bench(tmp_path, saltmill, JOB.replace("WHICH", which))


def unescape(key):
    return bytes(int(h, 16) if h else ord(c) for h, c in re.findall(r"\\x([0-9A-F]{2})|(.)", key))


def check_example(message, texts, which="last", lines=True):
    """The two rows are at the reported places and have the reported key. The rows overwrite each other by the rule of
    the job."""
    [(file, line, byte, by_file, by_line, by_byte, key)] = EXAMPLE.findall(message)
    seen = []
    for name, n, at in ((file, line, byte), (by_file, by_line, by_byte)):
        text, at = texts[name], int(at)
        assert text[at - 1:at] in (b"\n", b"\r") and text[at:at + 1].isdigit()
        if lines:
            assert int(n) == len(re.findall(rb"\r\n|\r|\n", text[:at])) + 1
        else:
            assert not n
        row = int(re.match(rb"\d+", text[at:])[0])
        assert row.to_bytes(4, "big") == unescape(key)
        seen.append((list(texts).index(name), at, row))
    assert seen[0][2] == seen[1][2] and seen[0] != seen[1]
    assert (seen[0] < seen[1]) == (which == "last")


@pytest.mark.parametrize("which", ["last", "first"])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_key_that_is_not_unique(make, which, threads):
    """Later events overwrite 19,998 of 20,000 events. The load succeeds, but it warns."""
    bench = make(which)
    text = HEADER + b"".join(b"%d,v%d\n" % (i % 2, i) for i in range(20_000))
    bench.input(text)
    r = bench.run("--threads", threads, "--quiet")
    message = r.stderr.decode()
    assert r.returncode == 0 and bench.manifest()["tables"][0]["deduplicated"] == 19_998
    assert message.startswith("saltmill load: warning: table t: 19998 of 20000 events (99.99%) are overwritten")
    check_example(message, {"in.csv": text}, which)


def test_few_are_not_told(make):
    """The warning starts above 1 % of a table's events."""
    bench = make()
    for n, told in ((100, False), (101, True)):
        bench.input(HEADER + b"".join(b"%d,x\n" % max(i, n) for i in range(10_000)))
        r = bench.run("--quiet", out=bench.folder / f"out{n}")
        assert r.returncode == 0 and (b"are overwritten by events" in r.stderr) == told, r.stderr


@pytest.mark.parametrize("limit,passes", [("0", False), ("99", False), ("100", True), ("9.99%", False), ("10%", True)])
def test_limit(make, limit, passes):
    bench = make()
    bench.input(HEADER + b"".join(b"%d,x\n" % max(i, 100) for i in range(1000)))
    r = bench.run("--max-duplicates", limit)
    if passes:
        assert r.returncode == 0 and bench.manifest()["tables"][0]["deduplicated"] == 100
        return
    bench.refused(r, 1, "table t: 100 of 1000 events (10%) are overwritten", "saltmill published nothing", "is overwritten by")
    assert EXAMPLE.search(r.stderr.decode())


def test_limit_is_a_number_or_a_share(make):
    bench = make()
    bench.input(HEADER)
    bench.refused(bench.run("--max-duplicates", "some"), 2, "--max-duplicates: found `some`")


def test_places(make):
    """The input has several files, plain and compressed, with all kinds of line ends and values of several lines."""
    rng = random.Random(8)
    texts = {}
    for k in range(4):
        end = rng.choice([b"\n", b"\r\n"])
        body = [b'%d,"a%sb"%s' % (i, end * rng.randrange(3), end * rng.randrange(1, 3)) for i in range(k * 999, (k + 1) * 1000)]
        texts[f"{k}.csv" + (".gz" if k % 2 else "")] = HEADER + b"".join(body)
    bench = make()
    for name, text in texts.items():
        bench.input(gzip.compress(text) if name.endswith(".gz") else text, name)
    # 6 of 4,006 events are duplicates; the program reports so few only with a limit
    r = bench.run(*texts, "--max-duplicates", "0", "--threads", "2")
    bench.refused(r, 1, "table t: 6 of 4006 events")
    check_example(r.stderr.decode(), texts)


def test_far_into_a_large_file(make):
    """The input is larger than a piece. Pieces end between the two bytes of a line end."""
    rng = random.Random(9)
    rows = [b"%d,%s" % (i, b"x" * rng.randrange(1, 300)) for i in range(150_000)]
    rows[149_000] = b"77777,y"
    text = HEADER + b"".join(row + b"\r\n" for row in rows)
    assert len(text) > 20 << 20
    bench = make()
    bench.input(text)
    r = bench.run("--max-duplicates", "0", "--memory", "16M")
    bench.refused(r, 1, "table t: 1 of 150000 events")
    assert "in.csv:77779 (" in r.stderr.decode() and "in.csv:149002 (" in r.stderr.decode()
    check_example(r.stderr.decode(), {"in.csv": text})


def test_standard_input_has_no_lines(make):
    bench = make()
    text = HEADER + b"".join(b"%d,x\n" % (i % 9) for i in range(1000))
    r = bench.run("-", "--quiet", input=text)
    assert r.returncode == 0
    message = r.stderr.decode().replace("standard input", "standard-input")
    check_example(message, {"standard-input": text}, lines=False)


@pytest.mark.parametrize("which", ["last", "first"])
def test_row_that_does_not_fit_in_memory(make, which):
    bench = make(which)
    text = HEADER + b"".join(b"5,%s%d\n" % (b"x" * 100, i) for i in range(200_000))
    bench.input(text)
    r = bench.run("--memory", "16M", "--threads", "2", "--quiet")
    assert r.returncode == 0 and bench.manifest()["tables"][0]["deduplicated"] == 199_999
    check_example(r.stderr.decode(), {"in.csv": text}, which)
