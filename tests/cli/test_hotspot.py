"""Tests `plan --hotspot`, which replays events in their order against the planned regions.

The model is a few lines of Python that build the keys, find the region of each key in splits.txt, and counts windows.
"""

import bisect
import json
import math
import random
import re
import struct
import subprocess

import pytest

from load_oracle import murmur3_32
from test_key_splits import unescape

N = 20000
JOB = """\
source: {csv: {files: [ev.csv], columns: [id, at, user]}}
fields: {id: {type: u32}, at: {type: time, unit: s}, user: {type: u32}}
tables:
"""
TABLE = """\
  - name: NAME
    rowkey: [KEY]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: user}]
    regions: {REGIONS}
"""


def u32(n):
    return struct.pack(">I", n)


def u64(n):
    return struct.pack(">Q", n)


# name: key, regions, the key of an event in Python
TABLES = {
    "time_first": ("{field: at, as: millis}, {field: id, as: u32}", "split: sampled, count: 16",
                   lambda i, at, user: u64(at * 1000) + u32(i)),
    "newest_first": ("{field: at, as: reversed_millis}, {field: id, as: u32}", "split: sampled, count: 10",
                     lambda i, at, user: u64(2**63 - 1 - at * 1000) + u32(i)),
    "salted": ("{salt: 8, of: [id]}, {field: at, as: millis}, {field: id, as: u32}", "split: key, count: 8",
               lambda i, at, user: bytes([murmur3_32(u32(i)) % 8]) + u64(at * 1000) + u32(i)),
    "users": ("{field: user, as: u32}, {field: at, as: millis}, {field: id, as: u32}", "split: sampled, count: 40",
              lambda i, at, user: u32(user) + u64(at * 1000) + u32(i)),
}


@pytest.fixture(scope="module")
def planned(saltmill, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hotspot")
    r = random.Random(28)
    events = [(i, 1_700_000_000 + 2 * i, 7 if r.random() < 0.2 else r.randrange(3000)) for i in range(N)]
    (folder / "ev.csv").write_text("".join(f"{i},{at},{user}\n" for i, at, user in events))
    (folder / "job.yaml").write_text(JOB + "".join(
        TABLE.replace("NAME", n).replace("KEY", k).replace("REGIONS", g) for n, (k, g, _) in TABLES.items()))

    def run(*args):
        done = subprocess.run([saltmill, "plan", "job.yaml", "--hotspot", *map(str, args)], cwd=folder, text=True,
                              capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-o", "plan", "--quiet")
    return folder, events, run


def model(keys, split, window, servers):
    """Returns the shares of server and region (mean, p99), the mean number of written regions, and the counts."""
    counts, size = [], len(split) + 1
    for w in range(len(keys) // window):
        last = (w + 2) * window > len(keys)
        rows = [0] * size
        for key in keys[w * window:None if last else (w + 1) * window]:
            rows[bisect.bisect_right(split, key)] += 1
        counts.append(rows)
    region = sorted(max(rows) / sum(rows) for rows in counts)
    server = sorted(max(sum(rows[s::servers]) for s in range(servers)) / sum(rows) for rows in counts)
    p99 = math.ceil(0.99 * len(counts)) - 1
    return (sum(server) / len(server), server[p99], sum(region) / len(region), region[p99],
            sum(sum(n >= sum(rows) / 100 for n in rows) for rows in counts) / len(counts)), counts


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("args,window,servers", [((), 200, 8), (("--servers", 3, "--writes", "10/s"), 600, 3)])
def test_shares_are_those_of_the_model(planned, name, args, window, servers):
    folder, events, run = planned
    table = next(t for t in json.loads(run("--json", *args))["tables"] if t["name"] == name)
    hot = table["hotspot"]
    split = [unescape(k) for k in (folder / "plan" / name / "splits.txt").read_text().splitlines()]
    want, counts = model([TABLES[name][2](*e) for e in events], split, window, servers)
    found = tuple(hot[k] for k in ("server_mean", "server_p99", "region_mean", "region_p99", "written"))
    assert found == pytest.approx(want, abs=1e-9)
    assert (hot["windows"], hot["window_events"], hot["servers"]) == (N // window, window, servers)
    assert hot["regions"] == len(split) + 1 and hot["every"] == 1 and hot["events"] == N
    # the map: a row of the regions of a band, a column of several windows
    columns, bands = len(hot["busiest"]), hot["map"]
    assert columns == min(60, len(counts)) and len(bands) == min(32, len(split) + 1)
    starts = [b["region"] for b in bands] + [len(split) + 1]
    for c in (0, columns // 2, columns - 1):
        rows = [sum(x) for x in zip(*counts[c * len(counts) // columns:(c + 1) * len(counts) // columns])]
        for band, first, after in zip(bands, starts, starts[1:]):
            assert band["share"][c] == max(rows[first:after]) * 10000 // sum(rows)
        assert hot["busiest"][c] == max(sum(rows[s::servers]) for s in range(servers)) * 10000 // sum(rows)


def test_split_points_that_do_not_last(planned):
    """A rising key sends the newest fifth to one region: 16 regions of 1/16 become one of 1/4 of the rows, 4 means."""
    _, _, run = planned
    told = json.loads(run("--json"))
    grown = {t["name"]: t["hotspot"]["grown"] for t in told["tables"]}
    assert grown["time_first"] == pytest.approx((0.8 / 16 + 0.2) / (1 / 16), rel=0.02)
    assert grown["newest_first"] == pytest.approx((0.8 / 10 + 0.2) / (1 / 10), rel=0.02)
    assert grown["salted"] < 1.1
    # user 7 has a fifth of the events, and its newest events go to the last of its regions
    assert grown["users"] == pytest.approx((0.8 / 40 + 0.2 * 0.2) / (1 / 40), rel=0.1)
    names = [f["rule"] for f in told["lint"]]
    assert names.count("one-region-written") == 2 and names.count("splits-do-not-last") == 3


def test_the_fix_helps(planned, saltmill):
    folder, _, run = planned
    text = (folder / "job.yaml").read_text()
    fixes = [f["fix"] for f in json.loads(run("--json"))["lint"] if f["rule"] == "one-region-written"]
    changed = text.replace("rowkey: [" + TABLES["time_first"][0] + "]", fixes[0])
    changed = changed.replace("rowkey: [" + TABLES["newest_first"][0] + "]", fixes[1])
    assert changed != text
    (folder / "fixed.yaml").write_text(changed)
    done = subprocess.run([saltmill, "plan", "fixed.yaml", "--hotspot", "--json"], cwd=folder, text=True,
                          capture_output=True, check=False)
    left = [f for f in json.loads(done.stdout)["lint"] if f["rule"] in ("one-region-written", "splits-do-not-last")]
    assert [f["rule"] for f in left] == ["splits-do-not-last"]  # that of the table users


def test_threads_do_not_matter(planned):
    _, _, run = planned
    assert run("--threads", 1, "--json") == run("--threads", 2, "--json")


def test_text_and_page(planned, saltmill):
    folder, _, run = planned
    text = run()
    assert "hot spots: 100 windows of 200 events (7 min), 8 servers" in text
    assert re.search(r"\n    1\.\d of 16 regions get writes at a time", text)
    assert "hotspot" in json.loads((folder / "plan" / "plan.json").read_text())["tables"][0]
    done = subprocess.run([saltmill, "report", "plan", "-o", "page.html"], cwd=folder, capture_output=True, text=True,
                          check=False)
    page = (folder / "page.html").read_text()
    assert done.returncode == 0 and page.count('class="busiest"') == len(TABLES)
    assert page.index("Writes over time") < page.index("of 16 regions get writes at a time")


def test_few_events_without_times(saltmill, tmp_path):
    """Few events and a constant time give windows without a duration, and no findings."""
    (tmp_path / "ev.csv").write_text("".join(f"{i},{i},{i}\n" for i in range(50)))
    job = JOB + TABLE.replace("NAME", "t").replace("KEY", "{field: id, as: u32}").replace("REGIONS", "count: 4")
    (tmp_path / "job.yaml").write_text(job.replace("timestamp: at", "timestamp: 1577836800000"))
    done = subprocess.run([saltmill, "plan", "job.yaml", "--hotspot", "--json"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tables"][0]["hotspot"]["window_seconds"] == 0 and told["lint"] == []
    (tmp_path / "ev.csv").write_text("")
    done = subprocess.run([saltmill, "plan", "job.yaml", "--hotspot", "--json"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert json.loads(done.stdout)["tables"][0]["hotspot"]["windows"] == 0


def test_refused(saltmill, tmp_path):
    for args, message in [(("--servers", "3"), "--servers"), (("--writes", "3/s"), "--writes"),
                          (("--hotspot", "--writes", "x"), "a rate like 5000/s")]:
        done = subprocess.run([saltmill, "plan", "job.yaml", *args], cwd=tmp_path, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and message in done.stderr


def test_keys_are_a_part_of_the_memory(saltmill, tmp_path):
    """600,000 events of three tables need more than 48 MB. A hash keeps a part of them, whatever the threads."""
    n = 600000
    (tmp_path / "ev.csv").write_text("".join(f"{i},{1700000000 + i},{i * 7919 % 100003}\n" for i in range(n)))
    (tmp_path / "job.yaml").write_text(JOB + "".join(
        TABLE.replace("NAME", f"t{t}").replace("KEY", k).replace("REGIONS", "count: 8") for t, k in enumerate((
            "{field: user, as: u32}, {field: id, as: u32}", "{salt: 8, of: [id]}, {field: at, as: millis}, {field: id, as: u32}",
            "{hash: md5, of: [id]}, {field: id, as: u64}, {field: at, as: reversed_millis}"))))

    def run(*args, ok=0):
        done = subprocess.run(["/usr/bin/time", "-f", "%M", saltmill, "plan", "job.yaml", "--quiet", "--json", *args], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == ok, done.stderr
        return done, int(done.stderr.split()[-1]) / 1024

    done, peak = run("--hotspot", "--memory", "96M", "--threads", "2")
    _, without = run("--memory", "48M", "--threads", "2")  # what 3 * 16 MB leave
    assert peak < 96 + 32 + 3 * 16 and peak < without + 48  # the sketches are extra
    hot = [t["hotspot"] for t in json.loads(done.stdout)["tables"]]
    assert [h["every"] for h in hot] == [2, 2, 4]  # the third table has keys of 32 bytes
    assert all(abs(h["events"] * h["every"] - n) < n / 50 for h in hot)
    assert run("--hotspot", "--memory", "1G", "--threads", "1")[0].stdout == done.stdout
    refused, _ = run("--hotspot", "--memory", "64M", ok=2)
    assert "found --memory 64M, expected at least 96M" in refused.stderr and "give --memory 96M" in refused.stderr
