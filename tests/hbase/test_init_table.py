"""Infers jobs from tables of a real HBase. sets/tables.py builds the row keys and values, and judges the decoded rows."""

import pathlib
import subprocess
import sys
import time

import pytest
from cluster import HANG_SECONDS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sets"))
import systems  # noqa: E402  (needs the path above)
import tables  # noqa: E402

from test_session import drop  # noqa: E402

# seeds of the half `develop`
LOOKS = {"binary": 154, "text": 120, "phoenix": 386, "opentsdb": 283, "wide": 145}


class Live:
    def __init__(self, hbase, saltmill, folder, name):
        self.hbase, self.saltmill, self.folder, self.name = hbase, saltmill, folder, name

    def shell(self, *lines):
        script = self.folder / "script.rb"
        script.write_text("\n".join(lines) + "\n")
        return self.hbase.run_script(script)

    def put(self, cells):
        """Writes cells: (row, family, qualifier, timestamp, value)."""
        for i in range(0, len(cells), 2000):
            self.hbase.call("mutate", table=self.name, mutations=[
                ["Put", row.hex(), family, q.hex(), ts, v.hex()] for row, family, q, ts, v in cells[i:i + 2000]])

    def init(self, *more):
        return subprocess.run([self.saltmill, "init", "--hbase", self.hbase.master, "--table", self.name, *more],
                              cwd=self.folder, capture_output=True, text=True, timeout=HANG_SECONDS)


@pytest.fixture
def live(hbase, saltmill, tmp_path, request):
    name = f"init_{request.node.originalname.removeprefix('test_')}_{time.time_ns()}"
    t = Live(hbase, saltmill, tmp_path, name)
    yield t
    t.shell("@java.listTableNames.select { |n| n.getNameAsString =~ /^init_/ }.each do |n|",
            " @java.disableTable(n) if @java.isTableEnabled(n)", " @java.deleteTable(n)", "end")


def infer(live, table):
    """Makes the table, infers its job, and compares what the job reads with what the maker wrote."""
    families = sorted({c[0] for _, cells, _ in table.rows for c in cells})
    middle = sorted(b"".join(p.data for p in key) for key, _, _ in table.rows)[len(table.rows) // 2]
    live.shell(f"create '{live.name}', " + ", ".join(f"'{f}'" for f in families) +
               f", {{SPLITS => [[\"{middle.hex()}\"].pack('H*')]}}")
    live.put([(b"".join(p.data for p in key), family, q, ts, value.data)
              for key, cells, ts in table.rows for family, q, _, value in cells])
    r = live.init("-o", "job.yaml")
    assert r.returncode in (0, 3), r.stderr
    job = (live.folder / "job.yaml").read_text()
    rows = tables.decoded_rows(live.saltmill, live.folder, "job.yaml", "--hbase", live.hbase.master)
    assert tables.fault_of(table, rows, job) is None
    done = subprocess.run([live.saltmill, "ddl", "job.yaml"], cwd=live.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", LOOKS)
def test_kind(live, kind):
    table = tables.Table(LOOKS[kind])
    assert table.kind == kind and LOOKS[kind] in tables.halves()["develop"]
    infer(live, table)


@pytest.mark.parametrize("system", ["phoenix_salted", "opentsdb_salted"])
def test_system(live, system):
    infer(live, systems.System(system))


def test_attributes(live):
    """The job creates a table with the attributes of the first one. `describe` of HBase compares them."""
    live.shell(f"create '{live.name}', {{NAME => 'a', VERSIONS => 3, TTL => 864000, BLOOMFILTER => 'ROWCOL', "
               "COMPRESSION => 'GZ', DATA_BLOCK_ENCODING => 'FAST_DIFF', BLOCKSIZE => 32768, IN_MEMORY => true}, "
               "{NAME => 'b', MIN_VERSIONS => 1, VERSIONS => 2, TTL => 3600, KEEP_DELETED_CELLS => 'TTL'}")
    live.put([(b"user%04d" % i, f, b"q", int(time.time() * 1000), b"%d" % i) for i in range(50) for f in "ab"])
    r = live.init("-o", "job.yaml")
    assert r.returncode == 0, r.stderr
    before = live.hbase.describe(live.name)
    drop(live.hbase, live.folder, live.name)
    script = subprocess.run([live.saltmill, "ddl", "job.yaml"], cwd=live.folder, capture_output=True, text=True)
    (live.folder / "create.rb").write_text(script.stdout)
    live.hbase.run_script(live.folder / "create.rb")
    assert live.hbase.describe(live.name) == before


def test_few_rows(live):
    live.shell(f"create '{live.name}', 'f'")
    r = live.init()
    assert r.returncode == 1 and "found no row" in r.stderr
    live.put([(b"\x00\x01only", "f", b"q", 1, b"v")])
    r = live.init()
    assert r.returncode == 3 and "only 1 rows were sampled" in r.stderr


def test_no_table(live):
    r = live.init()
    assert r.returncode == 2 and f"found no table {live.name}" in r.stderr and r.stdout == ""
    live.shell(f"create '{live.name}', 'f'", f"disable '{live.name}'")
    r = live.init()
    assert r.returncode == 2 and "disabled" in r.stderr


def test_many_regions_and_large_rows(live):
    """More regions than init samples, a row of many columns, and a value of 8 MB."""
    live.shell(f"create '{live.name}', 'f', {{SPLITS => (1..139).map {{ |i| '%03d' % i }}}}")
    now = int(time.time() * 1000)
    live.put([(b"%03d_%s" % (i % 140, b"abcdefgh"[i % 8:]), "f", b"q", now, b"%d" % i) for i in range(2000)])
    live.put([(b"100_abcd", "f", b"c%d" % i, now, b"x" * 100) for i in range(6000)])
    live.put([(b"101_abcd", "f", b"q", now, b"y" * (8 << 20))])
    r = live.init()
    assert r.returncode in (0, 3), r.stderr
    assert "has 140 regions" in r.stdout
    assert "y" * 100 not in r.stdout


def test_a_region_that_is_offline(live):
    live.shell(f"create '{live.name}', 'f', {{SPLITS => ['m']}}")
    live.put([(b"%s%03d" % (c, i), "f", b"q", 1, b"%d" % i) for c in (b"a", b"z") for i in range(60)])
    live.shell(f"r = @java.getRegions(TableName.valueOf('{live.name}')).find {{ |r| r.getStartKey.length == 0 }}",
               "@java.unassign(r.getRegionName, true)")
    try:
        r = live.init()
    finally:
        live.shell(f"r = @java.getRegions(TableName.valueOf('{live.name}')).find {{ |r| r.getStartKey.length == 0 }}",
                   "@java.assign(r.getRegionName)")
    assert r.returncode == 3, r.stderr
    assert "did not answer" in r.stderr and "60 rows" in r.stdout
