"""Tests that `--limit` and `--page` return the rows of the whole answer, each once and in order.

Other tests check the whole answer (test_where.py, test_live.py, test_index.py). This test checks a prefix by hand.
SALTMILL_WHERE=N runs N conditions (`make where`), otherwise a sample.
"""

import base64
import json
import os
import random
import re

import pytest

import loads
from fake_hbase import FakeHBase
from test_index import JOB as INDEX
from test_where import draw_question, make_table, raw

QUESTIONS = int(os.environ.get("SALTMILL_WHERE", "0"))
PER_TABLE = 20
TOKEN = re.compile(r"^saltmill scan: next page: --page (\S+)$", re.M)


def scan(*args):
    done = loads.run("scan", *args, "--format", "jsonl")
    assert done.returncode == 0, (args, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()], TOKEN.findall(done.stderr)


def pages(rng, *args, sizes=None):
    """Returns the rows of all pages."""
    rows, token = [], None
    while token != []:
        limit = rng.choice(sizes or [1, 2, 3, 7, 50])
        some, token = scan(*args, "--limit", limit, *(["--page", *token] if token else []))
        assert len(token) == (len(some) == limit)  # a page that is not full is the last one
        rows += some
    return rows


def salt_bytes(text):
    return 1 if "{salt" in text else 0


def arguments(rng, events, keys):
    args = rng.choice([[], ["--columns", "f:n"], ["--columns", "g"], ["--max-columns", "2"], ["--raw"]])
    if rng.random() < 0.5:
        args = [*args, "--reverse"]
    some = rng.choice(keys)
    args = [*args, *rng.choice([[], [], ["--prefix", loads.escaped(some[:rng.randrange(1, 3)])],
                                ["--start", loads.escaped(some)], ["--stop", loads.escaped(some)]])]
    if rng.random() < 0.75:
        args = [*args, "--where", draw_question(rng, events)[0]]
    return args if "--raw" not in args or "--columns" not in args else args[2:]


@pytest.mark.parametrize("seed", range(QUESTIONS // PER_TABLE if QUESTIONS else 5))
def test_any_question(tmp_path, seed):
    """Keys, salts, conditions and page sizes are random, from folders and from a live table."""
    rng = random.Random(seed + 700)
    text, salted, _, events, operands = make_table(tmp_path, rng)
    all_rows, _ = scan(*operands)
    keys = [raw(r["row"]) for r in all_rows]
    cells = [(raw(r["row"]), *(raw(c[k]) for k in ("family", "qualifier")), c["timestamp"], raw(c["value"]))
             for r in all_rows for c in r["cells"]]
    borders = sorted(set(rng.sample(keys, min(3, len(keys)))))
    if len(events) > 80:
        events, sizes = events[:80], [20, 60]
    else:
        sizes = None
    with FakeHBase("t", ["f", "g"], cells, borders, rng) as server:
        for _ in range(PER_TABLE):
            args = arguments(rng, events, keys)
            want, _ = scan(*operands, *args)
            assert pages(rng, *operands, *args, sizes=sizes) == want, (args, text)
            order = [raw(r["row"])[salt_bytes(text) if "--where" in args else 0:] for r in want]
            if "hbasewd" not in text:
                assert order == sorted(order, reverse="--reverse" in args), (args, text)
            if "--raw" not in args and rng.random() < 0.3:
                live = (operands[0], "--hbase", server.address)
                assert pages(rng, *live, *args, sizes=sizes) == want, (args, text)


SALTED = """\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}, n: {type: u32}}
tables:
  - name: t
    rowkey: [{salt: 4, of: [id, n]}, {field: id, as: u32}, {field: n, as: u32}]
    timestamp: 1
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


@pytest.fixture()
def salted(tmp_path):
    (tmp_path / "job.yaml").write_text(SALTED)
    (tmp_path / "in.csv").write_text("id,n\n" + "".join(f"{i % 3},{i}\n" for i in range(72)))
    done = loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return tmp_path / "job.yaml", tmp_path / "out"


def numbers(rows):
    return [int(raw(r["cells"][0]["value"])) for r in rows]


@pytest.mark.parametrize("where", ["id = 1", "id = 1 and n >= 0", "id = 1 and f:n >= 0", "not id != 1", "id in (1)"])
def test_one_order(salted, where):
    """Rows of a salted table come in the order of the key after the salt, for any condition on the key."""
    assert numbers(scan(*salted, "--where", where)[0]) == list(range(1, 72, 3))
    assert numbers(pages(random.Random(1), *salted, "--where", where, sizes=[10])) == list(range(1, 72, 3))
    assert numbers(scan(*salted, "--where", where, "--reverse")[0]) == list(range(1, 72, 3))[::-1]


@pytest.mark.parametrize("where", ["f:n >= 0", "n >= 0", "id >= 0", "id = 1 or f:n >= 0", "n < 1000 and not f:n is null"])
def test_order_of_the_whole_table(salted, where):
    want = sorted(range(72), key=lambda i: (i % 3, i))
    assert numbers(scan(*salted, "--where", where)[0]) == want
    assert numbers(pages(random.Random(2), *salted, "--where", where, "--reverse", sizes=[5])) == want[::-1]


@pytest.mark.parametrize("prefix", ["a", "a\\xFF", "\\xFF", "\\xFF\\xFF", "ab", "zz"])
@pytest.mark.parametrize("bounds", [[], ["--start", "a\\xFF\\x01"], ["--stop", "a\\xFF"], ["--start", "zz"]])
def test_prefix_backwards(tmp_path, prefix, bounds):
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv]}}
fields: {k: {type: hex}}
tables:
  - name: t
    rowkey: [{field: k, as: bytes}]
    timestamp: 1
    families: {f: {}}
    cells: [{family: f, qualifier: k, value: {field: k, as: bytes}}]
    regions: {split: none}
""")
    keys = [b"a", b"a\0", b"aa", b"ab", b"ab\xff", b"a\xff", b"a\xff\0", b"a\xff\xff", b"b", b"\xff", b"\xff\0", b"\xff\xff", b"\xff\xffz"]
    (tmp_path / "in.csv").write_text("k\n" + "".join(k.hex() + "\n" for k in keys))
    done = loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    cells = [(k, b"f", b"k", 1, k) for k in keys]
    rng = random.Random(4)
    with FakeHBase("t", ["f"], cells, [b"a\xff"], rng) as server:
        for back in (False, True):
            bound = {name: raw(value) for name, value in zip(bounds[::2], bounds[1::2])}
            start, stop = bound.get("--start"), bound.get("--stop")
            want = sorted((k for k in keys if k.startswith(raw(prefix)) and
                           (start is None or (k <= start if back else k >= start)) and
                           (stop is None or (k > stop if back else k < stop))), reverse=back)
            for place in ([tmp_path / "out"], ["--hbase", server.address]):
                args = [tmp_path / "job.yaml", *place, "--prefix", prefix, *bounds, *(["--reverse"] if back else [])]
                assert [raw(r["row"]) for r in scan(*args)[0]] == want
                assert [raw(r["row"]) for r in pages(rng, *args)] == want


@pytest.mark.parametrize("unique", [True, False])
def test_by_way_of_an_index(tmp_path, unique):
    """A row of the index names up to 82 rows, each three times, so a page may end inside a row."""
    (tmp_path / "job.yaml").write_text(INDEX % ("{hash: md5, of: [name], bytes: 3}", "terminator: '|'", "",
                                                ", {field: id, as: u32}" if unique else ""))
    (tmp_path / "in.csv").write_text("id,n,name,at\n" + "".join(f"{i},{i * i % 37},name{i % 5},{1000 + i}\n" for i in range(800)))
    done = loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    rng = random.Random(6)
    for more in ([], ["--where", "n = 1"], ["--where", "n in (4, 7, 9)", "--reverse"], ["--columns", "f:n"]):
        args = [tmp_path / "job.yaml", tmp_path / "out", "--via", "i", *more]
        want, _ = scan(*args)
        assert len(want) == len({r["row"] for r in want}) > 40
        assert pages(rng, *args, sizes=[13, 40, 257]) == want


def test_tokens_of_others(tmp_path, salted):
    job, out = salted
    _, [token] = scan(job, out, "--where", "id = 1", "--limit", "5")
    (tmp_path / "other.yaml").write_text(SALTED.replace("name: t", "name: u"))
    done = loads.run("load", tmp_path / "other.yaml", "-o", tmp_path / "other", "--quiet")
    assert done.returncode == 0, done.stderr

    def refused(words, *args):
        done = loads.run("scan", *args)
        assert (done.returncode, done.stdout) == (2, "") and words in done.stderr, done.stderr

    other = "--page: found a token of another query or table, expected the same query again"
    refused(other, job, out, "--where", "id = 2", "--page", token)
    refused(other, job, out, "--page", token)
    refused(other, job, out, "--where", "id = 1", "--reverse", "--page", token)
    refused(other, job, out, "--where", "id = 1", "--columns", "f:n", "--page", token)
    refused(other, tmp_path / "other.yaml", tmp_path / "other", "--where", "id = 1", "--page", token)
    none = "expected a token that `saltmill scan --limit` printed"
    bad = bytearray(base64.b64decode(token))
    bad[12] ^= 1
    for text in ("", "AAAA", "?", token[:-4], base64.b64encode(bad).decode()):
        refused(none, job, out, "--where", "id = 1", "--page", text)
    # a condition for one row has no second page, and --quiet only counts
    assert scan(job, out, "--where", "id = 1 and n = 4", "--limit", "1")[1] == []
    assert "next page" not in loads.run("scan", job, out, "--quiet", "--limit", "3").stderr
    # a page may have another size and form
    done = loads.run("scan", job, out, "--where", "id = 1", "--limit", "3", "--page", token, "--format", "csv", "--decode")
    assert [line.split(",")[1] for line in done.stdout.splitlines()[1:]] == ["16", "19", "22"]
