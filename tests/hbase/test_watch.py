"""Compares `watch` with the counters of HBase's own client, on two region servers, while regions split, merge and move."""

import json
import os
import signal
import struct
import subprocess
import time

import pytest
from cluster import HANG_SECONDS

TABLE = "watched"
JOB = """\
source: {csv: {files: [events.csv], header: true}}
fields: {user: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: watched
    rowkey: [{field: user, as: u32}, {field: at, as: reversed_millis}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: user}]
"""
# waits until the master knows the requests that each server counts
COUNTERS = f"""\
name = TableName.valueOf('{TABLE}')
told = nil
600.times do
  told = @java.getClusterMetrics.getLiveServerMetrics.values.all? {{ |s|
    @java.getRegionMetrics(s.getServerName, name).all? {{ |m|
      known = s.getRegionMetrics.get(m.getRegionName)
      known && known.getRequestCount == m.getRequestCount
    }}
  }}
  break if told
  sleep 0.1
end
raise 'the master does not know the requests' unless told
@java.getClusterMetrics.getLiveServerMetrics.each_value do |s|
  s.getRegionMetrics.each_value do |m|
    next unless String.from_java_bytes(m.getRegionName).start_with?('{TABLE},')
    puts [org.apache.hadoop.hbase.client.RegionInfo.encodeRegionName(m.getRegionName),
          m.getReadRequestCount, m.getWriteRequestCount].join(' ')
  end
end
"""
# writes the row of each of these keys in one call, so that a window of a busy machine has all writes, and reads the row
WORK = """\
t = @java.getConnection.getTable(TableName.valueOf('%s'))
%s.each do |hex, puts_, gets|
  key = [hex].pack('H*').to_java_bytes
  p = org.apache.hadoop.hbase.client.Put.new(key)
  p.addColumn('f'.to_java_bytes, 'v'.to_java_bytes, 'x'.to_java_bytes)
  t.put([p] * puts_)
  gets.times { t.get(Get.new(key)) }
end
"""


def user(n):
    return struct.pack(">I", n)


class Watched:
    def __init__(self, saltmill, cluster, folder):
        self.saltmill, self.cluster, self.folder = saltmill, cluster, folder

    def ruby(self, text):
        script = self.folder / "script.rb"
        script.write_text(text, encoding="utf-8")
        return self.cluster.run_script(script)

    def work(self, *keys):
        self.ruby(WORK % (TABLE, json.dumps([[k.hex(), puts, gets] for k, puts, gets in keys])))

    def counters(self):
        """Returns reads and writes by region, as HBase's client reads them, after the servers have reported."""
        return {r: (int(a), int(b)) for r, a, b in (line.split() for line in self.ruby(COUNTERS).splitlines())}

    def start(self, *args):
        return subprocess.Popen([self.saltmill, "watch", "--hbase", self.cluster.master, "--table", TABLE, *args],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def watched(saltmill, hbase_on_hdfs, tmp_path):
    w = Watched(saltmill, hbase_on_hdfs, tmp_path)
    borders = ", ".join("[%s].pack('H*')" % json.dumps(user(1000 * i).hex()) for i in range(1, 8))
    w.ruby(f"create '{TABLE}', 'f', {{SPLITS => [{borders}]}}\n")
    yield w
    w.ruby(f"n = TableName.valueOf('{TABLE}')\n"
           "if @java.tableExists(n)\n @java.disableTable(n) if @java.isTableEnabled(n)\n @java.deleteTable(n)\nend\n")


def sums(lines):
    """Returns reads and writes by region, over windows."""
    out = {}
    for r in (r for line in lines for r in line["regions"]):
        reads, writes = out.get(r["region"], (0, 0))
        out[r["region"]] = reads + r["reads"], writes + r["writes"]
    return out


def test_counters_and_the_hot_region(watched, tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    page = tmp_path / "watch.html"
    before = watched.counters()
    with watched.start("--job", str(job), "--every", "5s", "--json", "-o", str(page)) as w:
        lines = [json.loads(w.stdout.readline())]  # the first reading is over
        began = time.monotonic()
        watched.work(*[(user(1000 * i + 500) + bytes(8), 20, 10) for i in range(8)], (user(4242) + bytes(8), 1500, 40))
        while not any("hot" in line for line in lines):
            lines.append(json.loads(w.stdout.readline()))
            assert time.monotonic() - began < HANG_SECONDS, "the hot region has no name"
        after = watched.counters()
        want = {r: (after[r][0] - before[r][0], after[r][1] - before[r][1]) for r in after}
        while sums(lines) != want:
            lines.append(json.loads(w.stdout.readline()))
            assert time.monotonic() - began < HANG_SECONDS, (sums(lines), want)
        w.send_signal(signal.SIGINT)
        rest = w.stdout.read()  # communicate() loses what readline() has read ahead
        assert w.wait(HANG_SECONDS) in (0, 3), w.stderr.read()
    lines += [json.loads(line) for line in rest.splitlines()]
    hot = next(line["hot"] for line in lines if "hot" in line)
    assert hot["of"] == "writes" and hot["reason"] == "range"
    assert hot["name"] == "user 4000 to user 5000", hot
    assert hot["start"] == "\\x00\\x00\\x0F\\xA0" and f"split '{hot['region']}'" in hot["advice"]
    assert sums(lines) == want
    assert want[hot["region"]] == (50, 1520)
    assert "user 4000" in page.read_text() and hot["region"] in page.read_text()


def test_a_split_a_merge_and_a_drop(watched):
    with watched.start("--every", "4s") as w:
        out = w.stdout.readline()  # the first reading is over
        watched.work((user(4242), 300, 0))
        watched.cluster.split(TABLE, user(4500))
        watched.ruby(f"rs = @java.getRegions(TableName.valueOf('{TABLE}'))\n"
                     "rs = rs.to_a.sort { |a, b| Bytes.compareTo(a.getStartKey, b.getStartKey) }\n"
                     "@java.mergeRegionsAsync(rs[0].getEncodedNameAsBytes, rs[1].getEncodedNameAsBytes, true).get\n")
        watched.cluster.move(TABLE)
        watched.work((user(4242), 400, 0))
        began = time.monotonic()
        while "hot: \\x00\\x00\\x0F\\xA0 to \\x00\\x00\\x11\\x94 gets " not in out:
            out += w.stdout.readline()
            assert time.monotonic() - began < HANG_SECONDS, out
        watched.ruby(f"n = TableName.valueOf('{TABLE}')\n@java.disableTable(n)\n@java.deleteTable(n)\n")
        out += w.stdout.read()  # communicate() loses what readline() has read ahead
        err = w.stderr.read()
    assert w.returncode == 1 and f"found no table {TABLE}" in err, err
    report = out[out.index(f"table {TABLE}: "):]
    assert f"table {TABLE}: 8 regions on " in report  # 8, one more by the split, one less by the merge
    assert "3 regions from splits or merges" in report, report
    writes = next(line for line in report.splitlines() if line.startswith("  writes: "))
    # requests of the last seconds before the split or the move are lost with the counters of the closed region
    assert 400 <= int(writes.split()[1].rstrip(",")) <= 700, writes


def test_no_table_and_no_server(saltmill, hbase_on_hdfs):
    def run(*args, hbase=hbase_on_hdfs.master):
        return subprocess.run([saltmill, "watch", "--hbase", hbase, *args], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
    done = run("--table", "nosuch")
    assert done.returncode == 2 and "found no table nosuch" in done.stderr
    assert run().returncode == 2
