"""Compares `tables`, `regions`, `describe` and `drop` on a real HBase with the answers of its Java client."""

import json
import os
import pty
import signal
import subprocess
import time

import pytest

from cluster import HANG_SECONDS
from oracle import unescape

SPACE = "saltmill_tables"
# \x00 and \xFF, a quote, a backslash, spaces at the ends and in the middle, a bar, a comma
KEYS = [b"\x00\x01", b" a b ", b"'q'", b"a|b,c", b"a\\x41", b"m", b"\xc3\xa9", b"\xff\xfe"]

LIST = """\
pattern = %s
names = pattern ? @java.listTableNames(java.util.regex.Pattern.compile(pattern)) : @java.listTableNames
names.map { |n| [n.getNameAsString, @java.isTableEnabled(n), @java.getRegions(n).size] }.sort.each { |t| puts t.join(' ') }
"""
REGIONS = """\
name = TableName.valueOf('%s')
loads = {}
@java.getClusterMetrics.getLiveServerMetrics.each_value do |s|
  s.getRegionMetrics.each_value do |m|
    mib = m.getStoreFileSize.get(org.apache.hadoop.hbase.Size::Unit::MEGABYTE).to_i
    loads[Bytes.toHex(m.getRegionName)] = [mib, m.getStoreFileCount, m.getRequestCount]
  end
end
@java.getConnection.getRegionLocator(name).getAllRegionLocations.each do |l|
  r = l.getRegion
  puts [Bytes.toHex(r.getStartKey), Bytes.toHex(r.getEndKey), r.getEncodedName, l.getServerName.getAddress,
        *loads[Bytes.toHex(r.getRegionName)]].join(',')
end
"""
# what the shell's describe prints (describe.rb), from the descriptor's own text
DESCRIBE = """\
name = TableName.valueOf('%s')
d = @java.getDescriptor(name)
puts "Table #{name} is #{@java.isTableEnabled(name) ? 'ENABLED' : 'DISABLED'}"
puts name.to_s + d.toStringTableAttributes
puts 'COLUMN FAMILIES DESCRIPTION'
d.getColumnFamilies.each { |f| puts f.to_s, '' }
"""


def key(text):
    return unescape(text) if text else b""


class Tables:
    def __init__(self, saltmill, hbase, folder):
        self.saltmill, self.hbase, self.folder = saltmill, hbase, folder

    def ruby(self, text):
        script = self.folder / "script.rb"
        script.write_text(text, encoding="utf-8")
        return self.hbase.run_script(script)

    def run(self, *args, hbase=None):
        return subprocess.run([self.saltmill, *args, "--hbase", hbase or self.hbase.master], capture_output=True,
                              text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)

    def done(self, *args, **how):
        r = self.run(*args, **how)
        assert r.returncode == 0, (args, r.stderr)
        return r.stdout

    def json(self, *args):
        return json.loads(self.done(*args, "--json"))

    def names(self, pattern):
        """Returns the names that HBase's own client lists."""
        return [line.split()[0] for line in self.ruby(LIST % f"'{pattern}'").splitlines()]

    def clean(self):
        self.ruby("@java.listTableNames.select { |n| n.getNameAsString =~ /tabtest/ }.each do |n|\n"
                  " @java.disableTable(n) if @java.isTableEnabled(n)\n @java.deleteTable(n)\nend\n")


@pytest.fixture(scope="module")
def tables(saltmill, hbase, tmp_path_factory):
    one = Tables(saltmill, hbase, tmp_path_factory.mktemp("tables"))
    one.ruby(f"create_namespace '{SPACE}'\n")
    yield one
    one.clean()
    one.ruby(f"@java.deleteNamespace('{SPACE}')\n")


@pytest.fixture
def clean(tables):
    yield tables
    tables.clean()


def test_a_list_is_that_of_hbase(clean):
    clean.ruby(f"""\
create 'tabtest_a', 'f'
create 'tabtest_b', 'f', {{SPLITS => ['b', 'c', 'd']}}
create '{SPACE}:tabtest_a', 'f', {{SPLITS => ['x']}}
create '{SPACE}:tabtest.c', 'f', 'g'
disable 'tabtest_b'
""")
    for pattern in (None, "tabtest.*", f"{SPACE}:.*", "default:tabtest_.", "tabtest_", "(?i)TABTEST_A", "tabtest_[^a]",
                    ".*tabtest\\\\.c", "no such", "hbase:.*"):
        want = [line.split() for line in clean.ruby(LIST % (f"'{pattern}'" if pattern else "nil")).splitlines()]
        asked = [pattern.replace("\\\\", "\\")] if pattern else []
        got = clean.json("tables", *asked)
        assert [[t["table"], str(t["state"] == "ENABLED").lower(), str(t["regions"])] for t in got] == want, pattern
        assert all(t["state"] in ("ENABLED", "DISABLED") for t in got)
        text = clean.done("tables", *asked).splitlines()
        assert text[0].split() == ["TABLE", "STATE", "REGIONS"]
        assert [line.split() for line in text[1:]] == [[t["table"], t["state"], str(t["regions"])] for t in got]
    assert len(clean.json("tables", "tabtest.*")) == 2 and clean.json("tables", "no such") == []
    assert clean.done("tables", "tabtest.*", hbase=clean.hbase.zookeeper) == clean.done("tables", "tabtest.*")


def test_a_wrong_expression_is_refused(tables):
    for command in ("tables", "drop"):
        r = tables.run(command, "tab(")
        assert r.returncode == 2 and "found `tab(`, expected a regular expression" in r.stderr, r.stderr
        assert r.stdout == ""


def test_regions_are_those_of_hbase(clean, tmp_path):
    name = f"{SPACE}:tabtest_regions"
    (tmp_path / "keys.txt").write_text("".join("".join(f"\\x{b:02X}" for b in k) + "\n" for k in KEYS))
    clean.ruby(f"""\
create '{name}', 'f', {{SPLITS => File.readlines('{tmp_path}/keys.txt').map(&:chomp)}}
t = @java.getConnection.getTable(TableName.valueOf('{name}'))
bytes = java.util.Random.new(7)
40.times do |i|
  value = Java::byte[150_000].new
  bytes.nextBytes(value)
  t.put(org.apache.hadoop.hbase.client.Put.new("m#{{i}}".to_java_bytes)
    .addColumn('f'.to_java_bytes, 'q'.to_java_bytes, value))
end
flush '{name}'
""")
    deadline = time.monotonic() + HANG_SECONDS
    while True:  # the servers report every few seconds
        want = [line.split(",") for line in clean.ruby(REGIONS % name).splitlines()]
        got = clean.json("regions", name)
        again = [line.split(",") for line in clean.ruby(REGIONS % name).splitlines()]
        if want == again and all(len(w) == 7 for w in want) and any(int(w[4]) > 0 for w in want):
            break
        assert time.monotonic() < deadline, want
        time.sleep(0.5)
    assert got["table"] == name
    assert [key(r["start"]) for r in got["regions"]] == [b"", *sorted(KEYS)]
    assert [[key(r["start"]).hex(), key(r["end"]).hex(), r["encoded"], r["server"], str(r["bytes"] >> 20),
             str(r["files"]), str(r["requests"])] for r in got["regions"]] == want
    assert got["regions"][6]["bytes"] >> 20 == 5 and got["regions"][6]["requests"] == 40

    lines = clean.done("regions", name).splitlines()
    bars = [i for i, c in enumerate(lines[1]) if c == "|"]
    cut = [[line[a + 1:b].strip() for a, b in zip([-1, *bars], bars)] for line in lines[:1] + lines[2:-1]]
    assert cut[0] == ["SERVER_NAME", "REGION_NAME", "START_KEY", "END_KEY", "SIZE", "REQ"]
    assert [[key(c[1].split(",", 1)[1].rsplit(",", 1)[0]).hex(), c[0], c[4], c[5]] for c in cut[1:]] \
        == [[w[0], w[3], w[4], w[6]] for w in want]
    assert [key(c[3]) for c in cut[1:]] == [bytes.fromhex(w[1]).strip(b" ") for w in want]
    assert lines[-1].split() == [str(len(KEYS) + 1), "rows"]


def test_existing_reads_the_regions(clean, tmp_path):
    """--existing reads the printed regions, so a plan has HBase's split points and the regions' sizes."""
    splits = [b"\x00\x00\x00\x05", b"\x00\x00\x00\x20", b"\x00\x00\x00\x7c"]
    clean.ruby("create 'tabtest_plan', 'f', {SPLITS => [%s]}\n" % ", ".join(
        "'" + "".join(f"\\x{b:02X}" for b in k) + "'" for k in splits))
    (tmp_path / "in.csv").write_text("key,at\n" + "".join(f"{i},1400000000\n" for i in range(200)))
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv], header: true}}
fields: {key: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: tabtest_plan
    rowkey: [{field: key, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: key}]
    regions: {split: none}
""")
    (tmp_path / "regions.txt").write_text(clean.done("regions", "tabtest_plan"))
    r = subprocess.run([clean.saltmill, "plan", tmp_path / "job.yaml", "--existing", tmp_path / "regions.txt", "-o",
                        tmp_path / "plan"], capture_output=True, text=True, timeout=60, check=False)
    assert r.returncode == 0, r.stderr
    printed = (tmp_path / "plan" / "tabtest_plan" / "splits.txt").read_text().splitlines()
    assert [unescape(k) for k in printed] == splits
    assert clean.hbase.splits("tabtest_plan") and [unescape(k) for k in clean.hbase.splits("tabtest_plan")] == splits


TTLS = [1, 59, 60, 61, 3600, 3661, 86400, 90061, 172800, 31536000, 2147483647]


@pytest.mark.parametrize("seed", range(4))
def test_describe_is_that_of_hbase(clean, seed):
    name = f"{SPACE}:tabtest_d{seed}"
    families = [f"{{NAME => 'f{i}', TTL => {ttl}, BLOCKSIZE => {size}, BLOOMFILTER => '{bloom}', VERSIONS => {i + 1}{more}}}"
                for i, (ttl, size, bloom, more) in enumerate([
                    (TTLS[seed], 65536, "ROW", ""),
                    (TTLS[seed + 4], 1024, "ROWCOL", ", CONFIGURATION => {'hbase.hstore.blockingStoreFiles' => '20', 'a' => 'b'}"),
                    (TTLS[(seed + 7) % 11], 1536 * 1024, "NONE", ", METADATA => {'unit' => 'EUR', 'note' => 'x y'}"),
                    (2147483647, 65537, "ROW", ", COMPRESSION => 'GZ', DATA_BLOCK_ENCODING => 'FAST_DIFF', IN_MEMORY => true, "
                     "KEEP_DELETED_CELLS => 'TTL', MIN_VERSIONS => 2, REPLICATION_SCOPE => 1, IS_MOB => true, MOB_THRESHOLD => 5000, "
                     "COMPRESSION_COMPACT => 'GZ', PREFETCH_BLOCKS_ON_OPEN => true, DFS_REPLICATION => 1")])]
    table = ["", ", {MAX_FILESIZE => 10737418240}",
             ", {MAX_FILESIZE => 2099999999, MEMSTORE_FLUSHSIZE => 134217728, SPLIT_POLICY => "
             "'org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy', DURABILITY => 'ASYNC_WAL', "
             "METADATA => {'owner' => 'é', 'Z' => '1'}}",
             ", {NORMALIZATION_ENABLED => false, SPLIT_ENABLED => false, PRIORITY => 3, CONFIGURATION => "
             "{'hbase.hregion.majorcompaction' => '0'}}"][seed]
    clean.ruby(f"create '{name}', {', '.join(families)}{table}\n" + (f"disable '{name}'\n" if seed == 2 else ""))
    want = clean.ruby(DESCRIBE % name)
    assert clean.done("describe", name) == want
    assert ("is DISABLED" in want) == (seed == 2)
    got = clean.json("describe", name)
    java = clean.hbase.describe(name)
    assert got["table"] == name and got["state"] == ("DISABLED" if seed == 2 else "ENABLED")
    assert got["attributes"] == java["table"]
    assert [f["name"] for f in got["families"]] == [f"f{i}" for i in range(4)]
    # the driver has a family's attributes and configuration in one map
    assert {f["name"]: {**f["attributes"], **f["configuration"]} for f in got["families"]} == java["families"]
    assert [f["configuration"] for f in got["families"]] \
        == [{}, {"hbase.hstore.blockingStoreFiles": "20", "a": "b"}, {}, {}]


def test_a_missing_table(tables):
    for command in ("regions", "describe"):
        r = tables.run(command, "tabtest_missing")
        assert r.returncode == 2 and r.stdout == "", r.stdout
        assert "found no table tabtest_missing in the cluster; `saltmill tables` lists the tables" in r.stderr


def on_terminal(tables, answer, *args):
    """Runs drop on a terminal and types the answer. Returns (status, text on the terminal)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(tables.saltmill, [str(tables.saltmill), "drop", *args, "--hbase", tables.hbase.master])
    shown = b""
    try:
        while b"(y/n)? " not in shown:
            shown += os.read(fd, 4096)
        if answer is None:
            os.kill(pid, signal.SIGINT)
        else:
            os.write(fd, answer)
        while True:
            part = os.read(fd, 4096)
            if not part:
                break
            shown += part
    except OSError:  # the other side has closed the terminal
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return status, shown.decode()


@pytest.fixture
def three(clean):
    clean.ruby(f"""\
create 'tabtest_a', 'f'
create 'tabtest_b', 'f', {{SPLITS => ['b']}}
create 'tabtest_c', 'f'
create '{SPACE}:tabtest_a', 'f'
disable 'tabtest_b'
""")
    yield clean


ALL = ["saltmill_tables:tabtest_a", "tabtest_a", "tabtest_b", "tabtest_c"]


def test_a_drop_asks(three):
    for answer, status in ((b"n\n", 1), (b"\n", 1), (b"Y es\n", 1), (b"\x04", 1), (None, 130)):
        got, shown = on_terminal(three, answer, "tabtest_[ab]")
        assert got == status, (answer, shown)
        assert "saltmill dropped nothing" in shown or status == 130
        listed = [line.split()[2] for line in shown.splitlines() if "ABLED" in line]
        assert listed == ["tabtest_a", "tabtest_b"], shown
        assert "Drop the above 2 tables with all their data (y/n)?" in shown
        assert three.names(".*tabtest.*") == ALL
    got, shown = on_terminal(three, b"y\n", "tabtest_[ab]")
    assert got == 0 and "tabtest_a: dropped" in shown and "tabtest_b: dropped" in shown, shown
    assert three.names(".*tabtest.*") == ["saltmill_tables:tabtest_a", "tabtest_c"]


def test_a_drop_without_a_terminal(three):
    r = three.run("drop", "tabtest_.")
    assert r.returncode == 2 and "found no terminal to ask on, expected --yes; saltmill dropped nothing" in r.stderr
    assert "tabtest_b" in r.stderr and r.stdout == ""
    assert three.names(".*tabtest.*") == ALL
    assert three.json("drop", "tabtest_[bc]", "--yes") == {"dropped": ["tabtest_b", "tabtest_c"], "failed": []}
    assert three.names(".*tabtest.*") == ["saltmill_tables:tabtest_a", "tabtest_a"]
    r = three.run("drop", "tabtest_[bc]", "--yes")
    assert (r.returncode, r.stdout) == (0, "") and "no table matches `tabtest_[bc]`" in r.stderr
    assert three.done("drop", ".*:tabtest_a", "--yes") == "saltmill_tables:tabtest_a: dropped\ntabtest_a: dropped\n"
    assert three.names(".*tabtest.*") == []
    assert "hbase:namespace" in three.ruby("@java.listTableNamesByNamespace('hbase').each { |n| puts n.getNameAsString }\n")


TWO_JOBS = """\
source: {csv: {files: [in.csv], header: true}}
fields: {key: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: tabtest_two
    rowkey: [{field: key, as: u32}]
    timestamp: at
    families: {%s}
    cells: [{family: %s, qualifier: v, value: {field: key, as: text}}]
    regions: {split: uniform, count: 2}
"""


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_two_jobs_fill_one_table(clean, tmp_path, order):
    """The first job creates both families, so the second one needs no --alter."""
    (tmp_path / "in.csv").write_text("key,at\n" + "".join(f"{i},1400000000\n" for i in range(20)))
    for own, families in (("a", "a: {versions: 3}, b: {compression: GZ, other_load: true}"),
                          ("b", "a: {versions: 3, other_load: true}, b: {compression: GZ}")):
        job = tmp_path / f"{own}.yaml"
        job.write_text(TWO_JOBS % (families, own))
        subprocess.run([clean.saltmill, "load", job, "-o", tmp_path / own, "--quiet"], check=True, timeout=60)
    for own in order:
        clean.done("apply", str(tmp_path / own), *(["--create"] if own == order[0] else []), "--check", "--quiet")
    names = clean.ruby("@java.getDescriptor(TableName.valueOf('tabtest_two')).getColumnFamilies.each { |f| "
                       "puts [f.getNameAsString, f.getMaxVersions, f.getCompressionType].join(' ') }\n")
    assert names == "a 3 NONE\nb 1 GZ\n"
    rows = clean.ruby("scan 'tabtest_two'\n").splitlines()
    assert [r.split("\t")[0] for r in rows] == [f"{i:08x}" for i in range(20)]
    assert [[c.split(":")[0] for c in r.split("\t")[1:]] for r in rows] == [["61", "62"]] * 20  # families a and b
