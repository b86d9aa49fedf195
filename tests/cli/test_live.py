"""Tests `scan --hbase` against a server that fails on purpose. The answer equals the folder's answer, or the scan
fails.

The test with a real HBase is tests/hbase/test_live.py.
"""

import json
import pathlib
import random
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import loads
from fake_hbase import MODE_REFUSE_FILTERS, FakeHBase, Refusal, fields, last
from test_where import HEAD, draw_event, draw_question, raw, write_events

JOB = HEAD + """\
tables:
  - name: t
    rowkey: [{salt: 4, of: [id]}, {field: id, as: u32}, {field: at, as: millis}, {field: cat, terminator: '\\x00'}]
    timestamp: at
    families: {f: {}, g: {}}
    cells:
      - {family: f, qualifier: n, value: n}
      - {family: f, qualifier: x, value: {field: x, as: i64}}
      - {family: f, qualifier: cat, value: cat}
      - {family: g, qualifier: d, value: d, optional: true}
      - {family: g, qualifier: note, value: note, optional: true}
    regions: {split: none}
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Returns (job, load, its cells, events)."""
    folder = tmp_path_factory.mktemp("table")
    rng = random.Random(16)
    (folder / "job.yaml").write_text(JOB)
    events = list({(e["id"], e["cat"], e["at"]): e for e in (draw_event(rng, n) for n in range(300))}.values())
    write_events(folder / "events.csv", events)
    done = loads.run("load", folder / "job.yaml", "-o", folder / "load", "--quiet")
    assert done.returncode == 0, done.stderr
    done = loads.run("scan", folder / "job.yaml", folder / "load", "--format", "jsonl")
    cells = [(raw(r["row"]), *(raw(c[k]) for k in ("family", "qualifier")), c["timestamp"], raw(c["value"]))
             for r in map(json.loads, done.stdout.splitlines()) for c in r["cells"]]
    return folder / "job.yaml", folder / "load", cells, events


def server_of(table, rng, **how):
    keys = sorted({c[0] for c in table[2]})
    borders = sorted(rng.sample(keys, rng.choice([0, 1, 5])) + ([b"\2"] if rng.random() < 0.5 else []))
    return FakeHBase("t", ["f", "g"], table[2], [b for i, b in enumerate(borders) if b not in borders[:i]], rng, **how)


def arguments(rng, events):
    args = rng.choice([[], ["--limit", str(rng.randrange(1, 20))], ["--columns", "f:n,g"], ["--max-columns", "2"],
                       ["--quiet"], ["--start", "\\x01", "--stop", "\\x02\\x00\\x00\\x00\\x07"] if rng.random() < 0.5 else ["--prefix", "\\x01"]])
    if "--prefix" not in args and "--start" not in args and rng.random() < 0.4:
        args = [*args, "--reverse"]
    if rng.random() < 0.7:
        args = [*args, "--where", draw_question(rng, events)[0]]
    return args


def answers(table, server, args):
    live = loads.run("scan", table[0], "--hbase", server.address, *args)
    folder = loads.run("scan", *table[:2], *args)
    return live, folder


@pytest.mark.parametrize("faults", [0.0, 0.06])
def test_same_as_folder(table, faults):
    """The scan returns whole rows, once and in order, whatever fails and however small the batches are."""
    def one(seed):
        rng = random.Random(seed)
        with server_of(table, rng, faults=faults) as server:
            args = arguments(random.Random(seed + 1000), table[3])
            live, folder = answers(table, server, args)
            assert (live.returncode, live.stdout) == (folder.returncode, folder.stdout), (seed, args, live.stderr, folder.stderr)
            return server.seen
    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(one, range(24)))
    assert sum(s["filters"] for s in seen) > 3
    assert (sum(s["faults"] for s in seen) > 20) == (faults > 0)


def test_filters_that_are_refused(table):
    """Filters only save work. Without filters the answer is the same, and --explain reports the missing filters."""
    with server_of(table, random.Random(1), mode=MODE_REFUSE_FILTERS) as server:
        for args in (["--where", "f:cat = ab and x > 3"], ["--where", "id in (1, 7, 42)"], ["--max-columns", "1"], ["--quiet"]):
            live, folder = answers(table, server, args)
            assert (live.returncode, live.stdout) == (0, folder.stdout), live.stderr
            told = loads.run("scan", table[0], "--hbase", server.address, "--explain", *args)
            assert "no filters, because a server refused them" in told.stderr and told.stdout == folder.stdout


PLAIN = """\
source: {csv: {files: [events.csv]}}
fields: {id: {type: u32}}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: 1
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: note}]
    regions: {split: none}
"""


def row_of(number):
    return struct.pack(">I", number)


@pytest.fixture()
def plain(tmp_path):
    (tmp_path / "plain.yaml").write_text(PLAIN)
    return tmp_path / "plain.yaml"


def rows_in(done):
    assert done.returncode == 0, done.stderr
    return [raw(json.loads(line)["row"]) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("back", [[], ["--reverse"]])
def test_limit_without_filters(plain, back):
    """Without filters the server also returns rows between two ranges. The limit does not count them."""
    cells = [(row_of(i), b"f", b"n", 1, b"v") for i in [*range(1, 500), 500_000]]
    with FakeHBase("t", ["f"], cells, [], random.Random(8), mode=MODE_REFUSE_FILTERS) as server:
        server.rng.choice = lambda some: 40
        live = loads.run("scan", plain, "--hbase", server.address, "--where", "id in (1, 500000)", "--limit", "100",
                         "--format", "jsonl", *back)
        assert server.seen["filters"] == 1
        assert rows_in(live) == [row_of(i) for i in ([500_000, 1] if back else [1, 500_000])]


class Breaking(FakeHBase):
    """The server throws an unknown exception n times, for scans with filters or for all scans."""
    times, only_filters = 0, True

    def open(self, name, scan, request):
        if self.times and (5 in scan or not self.only_filters):
            self.times -= 1
            raise Refusal("hbase.SomeNewException")
        return super().open(name, scan, request)


@pytest.mark.parametrize("times,filters", [(2, True), (1000, False)])
def test_exceptions_that_may_pass(plain, times, filters):
    """One or two exceptions do not show that the server refuses the filter. If the server always fails with it, the scan omits
    it."""
    cells = [(row_of(i), b"f", b"n", 1, b"v") for i in range(1, 50)]
    with Breaking("t", ["f"], cells, [], random.Random(9)) as server:
        server.times = times
        live = loads.run("scan", plain, "--hbase", server.address, "--where", "id in (1, 40)", "--explain", "--format", "jsonl")
        assert rows_in(live) == [row_of(1), row_of(40)]
        assert ("no filters" in live.stderr) == (not filters), live.stderr
        assert server.seen["filters"] == filters
        assert filters == (server.times == 0)


PART = 16 << 20


class Wide(FakeHBase):
    """A row comes in parts, whose second part fails a few times. The test measures the client's memory meanwhile."""
    times = 5

    def __init__(self, *args):
        super().__init__(*args)
        self.opened, self.pid, self.memory = [], None, 0

    def open(self, name, scan, request):
        self.opened.append(time.monotonic())
        if not self.times:
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            self.memory = int(status.split("VmRSS:")[1].split()[0]) << 10
        return super().open(name, scan, request)

    def answer(self, number_of, request):
        if last(request, 6) is not None and self.times:
            self.times -= 1
            raise Refusal("hadoop.hbase.quotas.RpcThrottlingException")
        self.rng.choice = lambda some: 1
        self.rng.random = lambda: 1.0
        return super().answer(number_of, request)


@pytest.mark.parametrize("back", [[], ["--reverse"]])
def test_wide_row(plain, back):
    """A part of a row is not progress, so the waits grow. A complete row resets them."""
    cells = [(row_of(7), b"f", b"n%d" % i, 1, bytes(PART >> 20 * i)) for i in range(3)]
    with Wide("t", ["f"], cells, [], random.Random(10)) as server:
        with subprocess.Popen([loads.PROGRAM, "scan", plain, "--hbase", server.address, "--quiet", "--explain", *back],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
            server.pid = p.pid
            told = p.stdout.read()
        assert p.returncode == 0 and b"1 row, 3 cells" in told, told
        waits = [b - a for a, b in zip(server.opened, server.opened[1:])]
        assert len(waits) == Wide.times and all(w >= least for w, least in zip(waits, (0.1, 0.2, 0.3, 0.5, 1))), waits
        assert server.memory < 3.5 * PART


class Silent(FakeHBase):
    """The server does not answer a scan of its second region, or the close of a scanner."""
    silent = ""

    def __init__(self, *args):
        super().__init__(*args)
        self.asked = threading.Event()

    def do_Scan(self, request):
        region = last(fields(last(request, 1, b"")), 2)
        opening = region == self.regions[1].name
        if opening:
            self.asked.set()
        if (opening and self.silent == "open") or (last(request, 5) and self.silent == "close"):
            threading.Event().wait(120)
        if region == self.regions[0].name:
            assert self.asked.wait(20)
        return super().do_Scan(request)


@pytest.mark.parametrize("silent", ["open", "close"])
def test_servers_that_are_gone(plain, silent):
    """After a complete answer the client does not wait for further replies of a silent server."""
    cells = [(row_of(i), b"f", b"n", 1, b"v") for i in range(1, 1000)]
    with Silent("t", ["f"], cells, [row_of(500)], random.Random(11)) as server:
        server.silent = silent
        server.rng.choice = lambda some: 2
        done = subprocess.run([loads.PROGRAM, "scan", plain, "--hbase", server.address, "--where", "note = v", "--limit", "1",
                               "--format", "jsonl"], capture_output=True, text=True, timeout=20)
        assert rows_in(done) == [row_of(1)]


class Stuck(FakeHBase):
    """The server does not answer scans of the region of row 500, or refuses them for a while or for ever."""
    refusal = None

    def do_Scan(self, request):
        region = last(fields(last(request, 1, b"")), 2)
        if region == self.regions[1].name:
            if self.refusal:
                raise Refusal(self.refusal)
            threading.Event().wait(60)
        return super().do_Scan(request)


@pytest.mark.parametrize("args", [[], ["--reverse"], ["--where", "note = v"], ["--where", "id in (3, 600)"], ["--quiet"], ["--where", "id = 700"]])
def test_a_region_that_does_not_answer(plain, args):
    """--timeout ends the scan and names the region, its rows and its server. The scan can read the other regions."""
    cells = [(row_of(i), b"f", b"n", 1, b"v") for i in range(1, 1000)]
    with Stuck("t", ["f"], cells, [row_of(500), row_of(900)], random.Random(12)) as server:
        start = time.monotonic()
        done = loads.run("scan", plain, "--hbase", server.address, "--timeout", "2s", *args)
        took = time.monotonic() - start
        name = server.regions[1].name.split(b".")[-2].decode()
        assert done.returncode == 1 and 2 <= took < 8, (took, done.stderr)
        assert (f"region {name} of table t on {server.address.replace('localhost', '127.0.0.1')}, rows from "
                "\\x00\\x00\\x01\\xF4 to \\x00\\x00\\x03\\x84: no result within 2 s (--timeout), after") in done.stderr
        assert f"{server.address.replace('localhost', '127.0.0.1')}: Scan, after " in done.stderr
        rest = loads.run("scan", plain, "--hbase", server.address, "--timeout", "2s", "--stop", "\\x00\\x00\\x01\\xF4", "--quiet")
        assert (rest.returncode, rest.stdout) == (0, "499 rows, 499 cells\n"), rest.stderr


@pytest.mark.parametrize("refusal,words", [("hadoop.hbase.DoNotRetryIOException", "DoNotRetryIOException"),
                                           ("hadoop.hbase.RegionTooBusyException", "no result within 2 s (--timeout), after")])
def test_a_region_that_refuses(plain, refusal, words):
    cells = [(row_of(i), b"f", b"n", 1, b"v") for i in range(1, 1000)]
    with Stuck("t", ["f"], cells, [row_of(500)], random.Random(13)) as server:
        server.refusal = refusal
        done = loads.run("scan", plain, "--hbase", server.address, "--timeout", "2s", "--quiet")
        name = server.regions[1].name.split(b".")[-2].decode()
        assert done.returncode == 1 and f"region {name} of table t on " in done.stderr and words in done.stderr, done.stderr


def test_timeout_is_for_live_tables(table):
    done = loads.run("scan", *table[:2], "--timeout", "2s")
    assert done.returncode == 2 and "--hbase" in done.stderr
    done = loads.run("scan", table[0], "--hbase", "127.0.0.1:1", "--timeout", "soon")
    assert done.returncode == 2 and "a time like 90s or 15m" in done.stderr


def test_leases_are_renewed(table):
    """The scan keeps the scanners of a slow reader until the reader continues."""
    whole = [c for c in table[2] for _ in range(15)]
    many = [(b"\1%08d" % i, *c[1:4], c[4] + b"x" * 5000) for i, c in enumerate(whole)]
    job = table[0].parent / "plain.yaml"
    job.write_text("source: {csv: {files: [events.csv]}}\ntables:\n  - name: t\n    rowkey: [{field: note, width: 9}]\n"
                   "    timestamp: 1\n    families: {f: {}}\n    cells: [{family: f, qualifier: n, value: note}]\n"
                   "    regions: {split: none}\n")
    with FakeHBase("t", ["f"], many, [b"\1%08d" % (len(many) // 2)], random.Random(3), lease_ms=900) as server:
        server.rng.choice = lambda some: some[-1]
        with subprocess.Popen([loads.PROGRAM, "scan", job, "--hbase", server.address, "--format", "csv"], stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            for _ in range(60):
                if server.seen["renewals"] > 1:
                    break
                try:
                    p.wait(0.1)
                except subprocess.TimeoutExpired:
                    pass
            rest = p.stdout.read()
        assert p.returncode == 0 and rest.count(b"\n") == len(many)
        assert server.seen["renewals"] > 1 and server.seen["opened"] == 2


def test_servers_that_lie(table):
    """Rows out of order, or of another region, are an error."""
    class Lying(FakeHBase):
        def rows_of(self, region, scan):
            return super().rows_of(region, scan)[::-1]
    with Lying("t", ["f", "g"], table[2], [], random.Random(4)) as server:
        live = loads.run("scan", table[0], "--hbase", server.address)
        assert live.returncode == 1 and "rows that are not in order" in live.stderr, live.stderr


def test_families_that_differ(table):
    with FakeHBase("t", ["f", "g", "h"], table[2] + [(table[2][0][0], b"h", b"q", 5, b"v")], [], random.Random(5)) as server:
        live, folder = answers(table, server, [])
        assert live.stdout == folder.stdout and "ignored family h of the live table t, because the job lacks it" in live.stderr
    with FakeHBase("t", ["g"], [], [], random.Random(6)) as server:
        live = loads.run("scan", table[0], "--hbase", server.address)
        assert live.returncode == 2 and "found no family f in" in live.stderr


def test_other_salts(table):
    """The scan cannot find rows with the salt of another job, and reports this before an empty answer."""
    other = [(bytes([c[0][0] ^ 1]) + c[0][1:], *c[1:]) for c in table[2]]
    with server_of((*table[:2], other, table[3]), random.Random(7)) as server:
        live = loads.run("scan", table[0], "--hbase", server.address, "--where", "id = 42")
        assert live.returncode == 2 and live.stdout == "" and "that do not have the form of the job" in live.stderr, live.stderr
        assert "expected" in live.stderr
