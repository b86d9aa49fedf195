"""Tests `watch` with a fake cluster: hot spots by their fields, restarted servers, a dropped table, signals, metrics.

The model adds the requests that each region got. The tests with a real HBase are in tests/hbase/test_watch.py.
"""

import json
import signal
import socket
import struct
import subprocess
import time
import urllib.request

import pytest

import loads
from fake_hbase import Refusal, data, number
from fake_tables import FakeTables, Table

JOB = """\
source: {csv: {files: [events.csv], columns: [user, at]}}
fields: {user: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: t
    rowkey: [KEY]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: user}]
"""


def u32(n):
    return struct.pack(">I", n)


def u64(n):
    return struct.pack(">Q", n)


class Busy(FakeTables):
    """A table t whose regions have counters [reads, writes]. Each look of the master adds `more` to them."""

    def __init__(self, borders, more):
        super().__init__({"t": Table(borders=borders)})
        self.counts, self.more, self.start_code, self.looks = [[0, 0] for _ in range(len(borders) + 1)], more, 1, 0

    def place(self):
        return data(1, "127.0.0.1") + number(2, self.port) + number(3, self.start_code)

    def restart(self):
        with self.lock:
            self.start_code += 1
            self.counts = [[0, 0] for _ in self.counts]

    def do_GetClusterStatus(self, _):
        with self.lock:
            self.looks += 1
            regions = b""
            for i, (count, more) in enumerate(zip(self.counts, self.more)):
                count[0], count[1] = count[0] + more[0], count[1] + more[1]
                regions += data(5, data(1, number(1, 1) + data(2, self.region_name("t", i))) + number(8, count[0]) + number(9, count[1]))
            return data(1, data(1, data(1, "2.6.4")) + data(2, data(1, self.place()) + data(2, regions))), b""


def watch(cluster, *args):
    return subprocess.Popen([loads.PROGRAM, "watch", "--hbase", cluster.address, "--table", "t", "--every", "1s", *args],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)


def one_window(cluster, *args, status=3):
    with watch(cluster, "--for", "1s", *args) as w:
        out, err = w.communicate(timeout=60)
    assert w.returncode == status, err
    return out


# key parts, borders, the hot region, reads or writes: reason, name, words of the advice
SPOTS = {
    "salt": ("{salt: 8, of: [user]}, {field: user, as: u32}, {field: at, as: millis}", [bytes([i]) for i in range(1, 8)], 5, 0,
             ("salt", "salt 5", "fanout")),
    "first salt": ("{salt: 8, of: [user]}, {field: user, as: u32}", [bytes([i]) for i in range(1, 8)], 0, 0,
                   ("salt", "salt 0", "split '")),
    "two salts": ("{salt: 8, of: [user]}, {field: user, as: u32}", [b"\x02", b"\x04"], 1, 0,
                  ("range", "salt 2 to salt 4", "split '")),
    "entity read": ("{field: user, as: u32}, {field: at, as: millis}",
                    [u32(7), u32(42) + u64(1000), u32(42) + u64(60_000), u32(99)], 2, 0, ("entity", "user 42", "split '")),
    "entity written": ("{field: user, as: u32}, {field: at, as: millis}",
                       [u32(7), u32(42) + u64(1000), u32(42) + u64(60_000), u32(99)], 2, 1,
                       ("entity", "user 42", "{salt: 16, of: [user], fanout: 4}")),
    "time": ("{field: at, as: millis}, {field: user, as: u32}", [u64(1000 * i) for i in range(1, 4)], 3, 1,
             ("newest", "at 1970-01-01T00:00:03.000Z to the end", "saltmill design")),
    "reversed time": ("{field: at, as: reversed_millis}, {field: user, as: u32}", [u64(2**63 - 1 - 1000 * i) for i in (9, 5, 3)], 0, 1,
                      ("newest", "(begin) to at 1970-01-01T00:00:09.000Z", "saltmill design")),
    "old times": ("{field: at, as: reversed_millis}, {field: user, as: u32}", [u64(2**63 - 1 - 1000 * i) for i in (9, 5, 3)], 3, 1,
                  ("range", "at 1970-01-01T00:00:03.000Z to the end", "split '")),
}


@pytest.mark.parametrize("spot", SPOTS)
def test_the_name_of_the_hot_spot(spot, tmp_path):
    key, borders, hot, kind, (reason, name, advice) = SPOTS[spot]
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("KEY", key))
    more = [[10, 10] for _ in range(len(borders) + 1)]
    more[hot][kind] = 5000
    with Busy(borders, more) as cluster:
        line = json.loads(one_window(cluster, "--job", str(job), "--json"))
    assert [(r["reads"], r["writes"]) for r in line["regions"]] == [tuple(m) for m in more]
    assert (line["hot"]["reason"], line["hot"]["name"]) == (reason, name)
    assert advice in line["hot"]["advice"] and line["hot"]["of"] == ["reads", "writes"][kind]
    assert line["hot"]["region"] == f"{hot:032x}"


def test_an_even_table_and_the_report():
    with Busy([b"b", b"c"], [[100, 50]] * 3) as cluster:
        out = one_window(cluster, status=0)
        assert "hot:" not in out and "reads: 300, " in out and "writes: 150, " in out
        assert [line.split()[:2] for line in out.splitlines()[3:6]] == [["0", "(begin)"], ["1", "b"], ["2", "c"]]
        lines = one_window(cluster, "--quiet", status=0).splitlines()
        assert lines[0].startswith("table t: 3 regions on 1 server")


def test_a_restarted_server():
    """Its counters begin again, and exceed those before the restart."""
    with Busy([b"m"], [[300, 0], [300, 7]]) as cluster, watch(cluster, "--json") as w:
        lines = [json.loads(w.stdout.readline())]
        cluster.restart()
        cluster.more = [[5000, 0], [0, 0]]
        while not lines[-1]["counters_restarted"]:
            lines.append(json.loads(w.stdout.readline()))
        w.send_signal(signal.SIGTERM)
        w.communicate(timeout=60)
        assert w.returncode == 3
    assert (lines[-1]["reads"], lines[-1]["writes"]) == (5000, 0)
    assert lines[-1]["counters_restarted"] == 2 and all(line["reads"] == 600 for line in lines[:-1])


def test_an_outage_and_a_region_on_no_server():
    class Slow(Busy):
        def do_GetClusterStatus(self, request):
            answer = super().do_GetClusterStatus(request)
            self.tables["t"].homeless = [1]
            if self.looks in range(2, 8):
                raise Refusal("hadoop.hbase.PleaseHoldException", "the master is starting")
            return answer
    with Slow([b"m"], [[300, 0], [300, 0]]) as cluster, watch(cluster) as w:
        assert w.stdout.readline().endswith("|░░|  1 on no server\n")
        w.send_signal(signal.SIGTERM)
        out, err = w.communicate(timeout=60)
    assert w.returncode == 0 and "HBase did not answer for " in err
    assert "reads: 4,200, " in out or "reads: 4,800, " in out  # the counters of all seven looks, and perhaps of one more


def test_a_dropped_table():
    with Busy([b"m"], [[300, 0], [300, 7]]) as cluster, watch(cluster) as w:
        assert "reads/s" in w.stdout.readline()
        with cluster.lock:
            del cluster.tables["t"]
        out, err = w.communicate(timeout=60)
    assert w.returncode == 1 and "found no table t" in err
    assert "table t: 2 regions" in out  # what it knows


def test_a_signal_metrics_and_the_page(tmp_path):
    page = tmp_path / "page.html"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with Busy([b"b", b"m"], [[9000, 0], [300, 1], [300, 0]]) as cluster:
        with watch(cluster, "--metrics", f"127.0.0.1:{port}", "-o", str(page)) as w:
            assert "reads/s" in w.stdout.readline() and "hot: (begin) to b gets 94% of the reads" in w.stdout.readline()
            time.sleep(0.1)
            text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
            w.send_signal(signal.SIGINT)
            out, err = w.communicate(timeout=60)
            assert (w.returncode, err) == (3, "")
    assert 'saltmill_busiest_region_share{table="t",kind="read"} 0.9375' in text
    assert 'saltmill_watched_regions{table="t"} 3' in text and 'saltmill_hot_share{table="t"} 0.9375' in text
    assert "table t: 3 regions on 1 server" in out
    html = page.read_text()
    assert "(begin) to b gets 94% of the reads" in html and f"{0:032x}" in html and "9,000" in html


def test_refusals(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("KEY", "{field: user, as: u32}"))
    with Busy([], [[1, 1]]) as cluster:
        at = ("--hbase", cluster.address)
        for args, words in ((("--table", "u"), "found no table u"), (("--table", "u", "--job", str(job)), "has no table `u`"),
                            ((), "found no --table"), (("--table", "t", "--every", "0s"), "--every")):
            done = loads.run("watch", *at, *args, stdin=subprocess.DEVNULL)
            assert done.returncode == 2 and words in done.stderr, done.stderr
    done = loads.run("watch", "--table", "t", stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "--hbase" in done.stderr
