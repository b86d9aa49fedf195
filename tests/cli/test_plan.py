"""Compares the splits and predicted sizes of `saltmill plan` with sizes computed from the CSV's own bytes."""

import bisect
import csv
import io
import json
import random
import subprocess

import pytest

from load_help import HEADER, JOB, Bench, rows
from oracle import reversed_millis, salt, u32, unescape

KV_FIXED = 4 + 4 + 2 + 1 + 8 + 1  # lengths of key, value and row; of the family; timestamp; type
HEAVY = HEADER + b"".join(b"%d,%d,v%d\n" % (42 if i % 3 == 0 else i, 1_500_000_000 + i, i) for i in range(3000))
ONE_ROW = HEADER + b"7,1500000000,v\n" * 3000


class Plans(Bench):
    def plan(self, *args, data=None):
        command = [str(self.program), "plan", "job.yaml", *map(str, args)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, input=data, timeout=300, check=False)

    def table(self, *args, status=0, data=None):
        done = self.plan("--json", "--quiet", *args, data=data)
        assert done.returncode == status, done.stderr
        [table] = json.loads(done.stdout)["tables"]
        return table


def bench_of(folder, program, regions="{split: sampled, count: 10}", family="{compression: NONE}"):
    job = JOB.replace("{split: sampled, count: 2}", regions).replace("{compression: NONE}", family)
    return Plans(folder, program, job)


def keys_and_bytes(data):
    """Returns the row key of each event, and the event's size as one KeyValue."""
    events = csv.reader(io.StringIO(data.decode()))
    assert next(events) == HEADER.decode().strip().split(",")
    for number, at, value in events:
        i = u32(int(number))
        key = salt(4, i) + i + reversed_millis(int(at) * 1000)
        yield key, KV_FIXED + len(key) + len("f") + len("v") + len(value)


def true_sizes(table, data):
    """Returns bytes and rows of each planned region, counted from the CSV."""
    borders = [unescape(r["start"]) for r in table["regions"][1:]]
    assert borders == sorted(set(borders))
    size, count = [0] * (len(borders) + 1), [0] * (len(borders) + 1)
    for key, weight in keys_and_bytes(data):
        region = bisect.bisect_right(borders, key)
        size[region] += weight
        count[region] += 1
    return size, count


def check_promise(table, data, wanted, most):
    size, count = true_sizes(table, data)
    assert max(size) * wanted / sum(size) <= most
    assert table["rows"] == sum(count) and table["cell_bytes"] == sum(size)
    # 99 % confidence for each region, so a few of many regions may be outside
    outside = sum(abs(r["cell_bytes"] - s) > r["cell_bytes_error"] + 1 for r, s in zip(table["regions"], size))
    assert outside <= 0.02 * len(size)
    for r, n, s in zip(table["regions"], count, size):
        assert abs(r["rows"] - n) <= 2 * r["cell_bytes_error"] / (s / n) + 5


@pytest.mark.parametrize("data,wanted", [(rows(20000), 10), (rows(300), 7), (HEAVY, 10), (rows(1), 3)],
                         ids=["many", "few", "heavy", "one"])
def test_small_inputs_are_planned_exactly(tmp_path, saltmill, data, wanted):
    bench = bench_of(tmp_path, saltmill, "{split: sampled, count: %d}" % wanted)
    bench.input(data)
    table = bench.table()
    size, count = true_sizes(table, data)
    assert [r["cell_bytes"] for r in table["regions"]] == pytest.approx(size, rel=0.05)
    assert [r["rows"] for r in table["regions"]] == pytest.approx(count, rel=0.05, abs=1)
    if len(size) == wanted:
        check_promise(table, data, wanted, 1.10)


@pytest.mark.parametrize("kind,regions", [("zipf", 1000), ("sequential", 250)])
def test_many_regions(tmp_path, saltmill, kind, regions):
    """With 1,200 rows in a region, the sizes are within a tenth of the target."""
    dice = random.Random(5)
    n = 1200 * regions
    ids = range(n)
    if kind == "zipf":
        ids = [int(2 ** (dice.random() * 20)) for _ in range(n)]
    lines = [b"%d,%d,%s\n" % (k, 1_500_000_000 + i, b"x" * (1 + k % 30)) for i, k in enumerate(ids)]
    data = HEADER + b"".join(lines)
    bench = bench_of(tmp_path, saltmill, f"{{split: sampled, count: {regions}}}")
    table = bench.table("-", data=data)
    check_promise(table, data, regions, 1.10)


def test_few_regions_need_few_rows(tmp_path, saltmill):
    """With 30 MB for 10 regions, plan skips most rows, and the stated error still holds."""
    data = HEADER + b"".join(b"%d,%d,%s\n" % (i * 7919 % 100003, 1_500_000_000 + i, b"y" * (1 + i % 60))
                             for i in range(600_000))
    bench = bench_of(tmp_path, saltmill)
    bench.input(data)
    table = bench.table()
    check_promise(table, data, 10, 1.05)
    assert table["regions"][0]["cell_bytes_error"] > 0


def test_any_threads_any_day(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill, "{split: sampled, count: 40}")
    bench.input(HEADER + b"".join(b"%d,%d,v%d\n" % (i * 31 % 5003, 1_500_000_000 + i, i) for i in range(400_000)))
    first = bench.plan("--json", "--threads", 1)
    assert first.returncode == 0, first.stderr
    for threads in (1, 2, 3, 8):
        again = bench.plan("--json", "--threads", threads, "--save", f"s{threads}")
        assert again.returncode == 0
        if threads > 1:
            assert (tmp_path / f"s{threads}").read_bytes() == (tmp_path / "s1").read_bytes()
    assert bench.plan("--json", "--threads", 8).stdout == first.stdout


def test_saved_is_as_planned(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill)
    bench.input(rows(30000))
    direct = bench.table("--save", "day")
    assert bench.table("--from", "day") == direct


def test_saved_again(tmp_path, saltmill):
    """plan replaces only a file of the same kind, and reports an error before it reads input."""
    bench = bench_of(tmp_path, saltmill)
    bench.input(rows(200))
    bench.table("--save", "day")
    first = (tmp_path / "day").read_bytes()
    bench.input(rows(300))
    bench.table("--save", "day")
    assert (tmp_path / "day").read_bytes() != first
    (tmp_path / "in.csv").unlink()
    (tmp_path / "notes").write_text("mine")
    (tmp_path / "folder").mkdir()
    for name in ("notes", "folder"):
        done = bench.plan("--save", name)
        assert done.returncode == 2 and b"not a file of `saltmill plan --save`" in done.stderr, done.stderr
    assert (tmp_path / "notes").read_text() == "mine"


def test_two_days(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill, "{split: sampled, count: 20}")
    bench.input(rows(30000), "one.csv")
    bench.input(rows(50000, 30000), "two.csv")
    for day in ("one", "two"):
        bench.table("--save", day, f"{day}.csv")
    merged = bench.table("--from", "one", "two")
    assert merged == bench.table("--from", "one", "--from", "two")
    both = bench.table("one.csv", "two.csv")
    assert merged["rows"] == both["rows"] == 80000
    assert merged["cell_bytes"] == both["cell_bytes"]
    assert merged["disk_bytes"] == pytest.approx(both["disk_bytes"], rel=0.02)
    check_promise(merged, rows(80000), 20, 1.05)


def test_damaged_files(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill)
    bench.input(rows(200))
    bench.table("--save", "good")
    good = (tmp_path / "good").read_bytes()
    for i, bad in enumerate([b"", b"hello", good[:-1], good[:40], good + b"x", b"X" + good[1:],
                             good[:len(good) // 2] + b"\x55\xaa" + good[len(good) // 2 + 2:]]):
        (tmp_path / "bad").write_bytes(bad)
        done = bench.plan("--from", "bad", "-o", "out")
        assert done.returncode == 1 and b"bad" in done.stderr, i
        assert bench.left() == []
    assert bench.plan("--from", "nowhere").returncode == 1


@pytest.mark.parametrize("old,new", [("name: t", "name: other"), ("salt: 4", "salt: 8"),
                                     ("field: id, as: u32", "field: id, as: u64")])
def test_sketch_of_another_job(tmp_path, saltmill, old, new):
    bench = bench_of(tmp_path, saltmill)
    bench.input(rows(200))
    bench.table("--save", "mine")
    job = (tmp_path / "job.yaml").read_text()
    (tmp_path / "job.yaml").write_text(job.replace(old, new))
    bench.table("--save", "theirs")
    done = bench.plan("--from", "mine", "theirs")
    assert done.returncode != 0 and done.stderr


@pytest.mark.parametrize("data,status", [(b"", 0), (b"x,1,v\n,,\n", 3)])
@pytest.mark.parametrize("regions", ["{split: sampled, count: 10}", "{split: sampled, size: 1M}", "{split: hex, count: 4}",
                                     "{split: uniform, size: 1M}", "{split: none}"])
def test_no_good_events(tmp_path, saltmill, regions, data, status):
    """plan decides the regions that load decides; load --plan, map, reduce and unite take its folder."""
    bench = bench_of(tmp_path, saltmill, regions)
    bench.input(HEADER + data)
    done = bench.plan("-o", "out", "--tune", "--json")
    assert done.returncode == status, done.stderr
    answer = json.loads(done.stdout)
    t = answer["tables"][0]
    n = 4 if "hex" in regions else 1
    assert (answer["events"], answer["rejected"], t["rows"], t["disk_bytes"], len(t["regions"])) == (
        data.count(b"\n"), data.count(b"\n"), 0, 0, n)
    assert len(set(r["start"] for r in t["regions"])) == n and {r["rows"] for r in t["regions"]} == {0}
    text = bench.plan()
    assert text.returncode == status and b"table t: 0 rows, 0 B predicted on disk" in text.stdout, text

    def run(*args):
        r = subprocess.run([saltmill, *args], cwd=tmp_path, capture_output=True)
        assert r.returncode in (0, status), r.stderr
        return r
    run("load", "job.yaml", "-o", "one", "--max-rejects", "100%")
    assert (tmp_path / "one/t/splits.txt").read_bytes() == (tmp_path / "out/t/splits.txt").read_bytes()
    assert (tmp_path / "one/t/create.rb").read_bytes() == (tmp_path / "out/t/create.rb").read_bytes()
    assert (tmp_path / "out/t/splits.txt").read_bytes() == ((b"4" + b"0" * 7 + b"\n8" + b"0" * 7 + b"\nc" + b"0" * 7 + b"\n") if n == 4 else b"")
    run("load", "job.yaml", "--plan", "out", "-o", "two", "--max-rejects", "100%")
    (tmp_path / "maps").mkdir()
    (tmp_path / "reduces").mkdir()
    run("map", "job.yaml", "in.csv", "--plan", "out", "-o", "maps/0")
    run("reduce", "job.yaml", "maps", "--plan", "out", "--share", "1/1", "-o", "reduces/0")
    run("unite", "job.yaml", "in.csv", "--plan", "out", "--maps", "maps", "--reduces", "reduces", "-o", "three", "--max-rejects", "100%")
    for name in "manifest.json", "rejects.jsonl", "t/splits.txt", "t/create.rb":
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "three" / name).read_bytes(), name


def test_an_empty_sketch_decides_no_columns(tmp_path, saltmill):
    """The columns of a file without rows may differ. A plan of other sketches stays usable with --plan."""
    bench = bench_of(tmp_path, saltmill)
    header = b",".join([b"more", HEADER.strip()]) + b"\n"
    for name, data in ("empty", header), ("full", rows(200)), ("wider", header + b"m,1,1400000001,v\n"):
        bench.input(data)
        bench.table("--save", name)
    bench.table("--from", "full", "-o", "alone")
    for i, files in enumerate([("empty", "full"), ("full", "empty"), ("empty", "full", "empty")]):
        bench.table("--from", *files, "-o", f"out{i}")
        assert (tmp_path / f"out{i}/settings.json").read_bytes() == (tmp_path / "alone/settings.json").read_bytes()
    bench.table("--from", "empty", "full", "wider", "-o", "differs")
    assert not (tmp_path / "differs/settings.json").exists()


def test_bad_events_are_counted(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill)
    bench.input(rows(500) + b"x,1,v\n,,\n")
    done = bench.plan("--json")
    assert done.returncode == 3, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["events"], answer["rejected"], answer["tables"][0]["rows"]) == (502, 2, 500)


def test_sample(tmp_path, saltmill):
    data = rows(400_000)
    bench = bench_of(tmp_path, saltmill)
    bench.input(data)
    part, whole = bench.table("--sample", "25%"), bench.table()
    assert 0.24 < part["input_share"] < 0.27 and "input_share" not in whole
    size, _ = true_sizes(part, data)
    assert max(size) * 10 / sum(size) < 1.5  # of ascending ids, from the whole file and not only its beginning
    for share in ("0", "1.5", "-1", "x", "5%%"):
        assert bench.plan("--sample", share).returncode == 2
    refused = bench.plan("--sample", "25%", "--save", "some.sketch")
    assert refused.returncode == 2 and b"--save" in refused.stderr


@pytest.mark.parametrize("lines", [1, 300, 60_000, 300_000])
def test_a_sample_stands_for_all(tmp_path, saltmill, lines):
    """plan scales rows and bytes of a share of the input up, within the stated error."""
    rng = random.Random(lines + 1)  # of 13 seeds one is off at two shares, because the shares overlap
    data = HEADER + b"".join(b"%d,%d,%s\n" % (rng.randrange(1 << 32), 1_500_000_000 + n, b"v" * rng.randrange(1, 40))
                             for n in range(lines))
    bench = bench_of(tmp_path, saltmill, "{split: sampled, size: 1M}")
    bench.input(data)
    below, keys = [0], []
    for key, weight in sorted(keys_and_bytes(data)):
        keys.append(key)
        below.append(below[-1] + weight)
    missed = 0
    for share in ("0.1%", "5%", "20%", "50%", "99%"):
        table = bench.table("--sample", share)
        error = table.get("scale_error", 0)
        off = max((abs(found - true) - 1) / true for found, true in
                  ((table["cell_bytes"], below[-1]), (table["rows"], lines)))
        assert off <= 2 * error, share
        missed += off > error
        if lines < 300_000 or share == "0.1%":
            continue
        assert 0 < error < 0.25
        for r in table["regions"]:
            low, high = (bisect.bisect_left(keys, unescape(r[side])) if r[side] else end
                         for side, end in (("start", 0), ("end", len(keys))))
            true = below[high] - below[low]
            assert abs(r["cell_bytes"] - true) <= r["cell_bytes_error"], (share, r)
            assert r["cell_bytes_error"] < 0.3 * true, (share, r)
    assert missed <= 1  # of five shares, each stated with 99 % confidence


def test_load_takes_the_plan(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill)
    bench.input(rows(20000))
    assert bench.plan("-o", "planned").returncode == 0
    splits = (tmp_path / "planned" / "t" / "splits.txt").read_bytes()
    planned = json.loads((tmp_path / "planned" / "plan.json").read_text())["tables"][0]
    assert splits.count(b"\n") == 9 and (tmp_path / "planned" / "t" / "create.rb").exists()
    job = (tmp_path / "job.yaml").read_text()
    (tmp_path / "job.yaml").write_text(job.replace("{split: sampled, count: 10}",
                                                   "{split: file, file: planned/t/splits.txt}"))
    done = bench.run()
    assert done.returncode == 0, done.stderr
    assert (bench.out / "t" / "splits.txt").read_bytes() == splits
    [loaded] = bench.manifest()["tables"]
    for mine, theirs in zip(planned["regions"], loaded["regions"], strict=True):
        assert (mine["start"], mine["end"]) == (theirs["start"], theirs["end"])
        assert mine["rows"] == pytest.approx(theirs["rows"], rel=0.01)


# --- problems of the key ---

def test_one_row_is_all(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill)
    bench.input(ONE_ROW)
    table = bench.table()
    assert len(table["regions"]) == 1
    heavy = table["heavy"][0]
    assert heavy["row"] and heavy["name"] == "id 7, at 2017-07-14T02:40:00.000Z" and heavy["rows"] == 3000
    assert any("no split helps" in w and "id 7" in w and "salt of 10" in w for w in table["warnings"])
    assert any("the job requests 10 regions, but the plan has 1," in w for w in table["warnings"])


def test_one_user_is_a_third(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill)
    bench.input(HEAVY)
    table = bench.table()
    size = {k: sum(w for key, w in keys_and_bytes(HEAVY) if key[1:5] == k) for k in (u32(42),)}
    [heavy] = table["heavy"]
    assert (heavy["row"], heavy["name"], heavy["rows"]) == (False, "id 42", 1000)
    assert heavy["at_least"] <= size[u32(42)] <= heavy["at_most"]
    assert heavy["salts"] == 4
    text = bench.plan().stdout.decode()
    assert "id 42" in text and "33.3% of the bytes" in text and "add" not in heavy
    assert "with HexStringSplit, one region has 100% of the bytes" in text


@pytest.mark.parametrize("regions,wanted,warning", [
    ("{split: sampled, servers: 2, per_server: 3}", 6, None),
    ("{split: sampled, servers: 2, per_server: 3, max: 4}", 4, None),
    ("{split: sampled, size: 1MiB, min: 5}", 5, None),
    ("{split: sampled, size: 100KiB}", 9, None),
    ("{split: sampled, size: 100KiB, headroom: 1}", 17, None),
    ("{split: sampled, servers: 1, per_server: 300}", 300, "300 regions on 1 servers are 300 for each server"),
    ("{split: sampled, count: 2, align: salt}", 4, "each salt bucket has at least one"),
])
def test_how_many(tmp_path, saltmill, regions, wanted, warning):
    bench = bench_of(tmp_path, saltmill, regions)
    bench.input(rows(19500))
    table = bench.table()
    assert len(table["regions"]) == pytest.approx(wanted, abs=1 if "size: 100" in regions else 0)
    assert [w for w in table["warnings"] if not warning or warning not in w] == []
    assert bool(table["warnings"]) == bool(warning)


# --- the size on disk ---

@pytest.mark.parametrize("codec", ["NONE", "GZ", "ZSTD"])
@pytest.mark.parametrize("name", ["ratings", "flights"])
def test_disk_bytes(tmp_path, saltmill, request, codec, name):
    """The predictions of plan and load are within a tenth of the bytes that load writes."""
    if name == "ratings":
        data = request.getfixturevalue("shared_data") / "ratings.csv"
    else:
        data = request.getfixturevalue("flights_csv")
    conf = (request.config.rootpath.parent if request.config.rootpath.name == "tests"
            else request.config.rootpath) / "conf" / f"{name}.yaml"
    bench = Plans(tmp_path, saltmill, conf.read_text().replace("{codec: ZSTD, framing: hbase}", codec))
    planned = bench.table(data)
    done = bench.run(data)
    assert done.returncode == 0, done.stderr
    [loaded] = bench.manifest()["tables"]
    achieved = sum(r["bytes"] for r in loaded["regions"])
    assert planned["disk_bytes"] == pytest.approx(achieved, rel=0.10)
    assert loaded["predicted_bytes"] == pytest.approx(achieved, rel=0.10)
    assert loaded["predicted_bytes"] == sum(r["predicted_bytes"] for r in loaded["regions"])
    assert planned["largest_over_target"] <= 1.05
    assert "predicted " in done.stdout.decode() and "of their prediction" in done.stdout.decode()


CALLS = """\
source:
  csv: {files: [in.csv]}
fields:
  at: {type: time, unit: ms}
tables:
  - name: t
    rowkey:
      - {salt: 16, of: [caller]}
      - {field: airport, terminator: '\\x00'}
      - {field: at, as: reversed_millis}
    timestamp: at
    families:
      f: {compression: ZSTD}
    cells:
      - {family: f, qualifier: callee, value: callee}
      - {family: f, qualifier: state, value: state}
    regions: {split: sampled, size: 2M}
"""


@pytest.mark.parametrize("order", ["by time", "mixed"])
def test_few_beginnings(tmp_path, saltmill, order):
    """With 16 salts and 3 airports, plan still measures the size on disk."""
    (tmp_path / "job.yaml").write_text(CALLS)
    rng = random.Random(16)
    airports, states = (b"JFK", b"LGA", b"EWR"), (b"ok", b"busy", b"failed")
    lines = [b"%s,%d,%010d,%010d,%s\n" % (rng.choice(airports), 1_700_000_000_000 + 1000 * n + rng.randrange(999),
                                          rng.randrange(10**10), rng.randrange(10**10), rng.choice(states))
             for n in range(1_000_000)]
    if order == "mixed":
        rng.shuffle(lines)
    (tmp_path / "in.csv").write_bytes(b"airport,at,caller,callee,state\n" + b"".join(lines))
    tables = []
    for command, report in (("plan", "plan.json"), ("load", "manifest.json")):
        done = subprocess.run([saltmill, command, "job.yaml", "-o", command, "--quiet"], cwd=tmp_path,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        tables.append(json.loads((tmp_path / command / report).read_text())["tables"][0])
    plan, load = tables
    real = sum(f["bytes"] for f in load["files"])
    assert abs(plan["disk_bytes"] - real) < 0.05 * real
    assert len(load["regions"]) >= 10 and abs(len(plan["regions"]) - len(load["regions"])) <= 1
