"""Tests the promises and warnings of `load` about the tolerance of region sizes and about a TTL that expires the
data."""

import json
import time

import pytest

from load_help import HEADER, JOB, Bench, rows

HEAVY = HEADER + b"".join(b"%d,%d,v%d\n" % (1 if i % 10 else i, 1_500_000_000 + i, i) for i in range(5000))


def bench_of(folder, program, regions="{split: sampled, count: 4}", family="{compression: NONE}"):
    job = JOB.replace("{split: sampled, count: 2}", regions).replace("{compression: NONE}", family)
    # the id alone is the row, so no region border is inside one id
    return Bench(folder, program, job.replace("      - {field: at, as: reversed_millis}\n", ""))


def sizes(table):
    return [r["bytes"] for r in table["regions"]]


@pytest.mark.parametrize("tolerance,status", [("1.2", 0), ("3", 0), ("", 0)])
def test_even_rows(tmp_path, saltmill, tolerance, status):
    more = f", tolerance: {tolerance}" if tolerance else ""
    bench = bench_of(tmp_path, saltmill, "{split: sampled, count: 4%s}" % more)
    bench.input(rows(5000))
    done = bench.run()
    assert done.returncode == status, done.stderr
    [t] = bench.manifest()["tables"]
    assert t["target_bytes"] == sum(sizes(t)) // 4
    assert t["largest_over_target"] == pytest.approx(4 * max(sizes(t)) / sum(sizes(t)), rel=1e-5)
    assert t["largest_over_target"] <= 1.05
    assert "times the target" in done.stdout.decode() and not any(w in done.stdout + done.stderr for w in (b"EXCEEDED", b"the job allows", b"expected at most"))


def test_a_row_heavier_than_a_region(tmp_path, saltmill):
    """Nine of ten events are one row. No region border can divide the row, so the load breaks the promise."""
    bench = bench_of(tmp_path, saltmill, "{split: sampled, count: 4, tolerance: 1.5}")
    bench.input(HEAVY)
    done = bench.run()
    assert done.returncode == 3, done.stderr
    [t] = bench.manifest()["tables"]
    # the target is that of the 4 requested regions, for any number of regions
    assert t["largest_over_target"] == pytest.approx(4 * max(sizes(t)) / sum(sizes(t)), rel=1e-5)
    assert t["largest_over_target"] > 3
    assert "TOLERANCE EXCEEDED" in done.stdout.decode() and "the job allows 1.5 times" in done.stdout.decode()
    assert "table t" in done.stderr.decode() and "expected at most 1.5 (`tolerance`)" in done.stderr.decode()
    quiet = bench.run("--quiet", out=tmp_path / "out2")
    assert quiet.returncode == 3 and quiet.stdout == b"" and b"expected at most 1.5" in quiet.stderr
    answer = json.loads(bench.run("--json", out=tmp_path / "out3").stdout)
    assert answer["tables"][0]["promise_kept"] is False
    assert answer["tables"][0]["largest_over_target"] == pytest.approx(t["largest_over_target"], rel=1e-5)


@pytest.mark.parametrize("regions", ["{split: none, tolerance: 1}", "{split: hex, count: 2, tolerance: 1.9}"])
def test_regions_that_are_given(tmp_path, saltmill, regions):
    bench = bench_of(tmp_path, saltmill, regions)
    bench.input(HEAVY)
    one = "none" in regions
    done = bench.run()
    assert done.returncode == (0 if one else 3), done.stderr
    assert bench.manifest()["tables"][0]["largest_over_target"] == (1 if one else 2)


def test_no_rows(tmp_path, saltmill):
    bench = bench_of(tmp_path, saltmill, "{split: sampled, count: 4, tolerance: 1.1}")
    bench.input(HEADER)
    assert bench.run().returncode == 0
    [t] = bench.manifest()["tables"]
    assert (t["target_bytes"], t["largest_over_target"]) == (0, 0)


# --- a TTL that hides loaded cells ---

@pytest.mark.parametrize("family,newest,hidden", [
    ("{ttl: 30d}", 1_500_000_000, True),
    ("{ttl: 30d}", None, False),  # None: now
    ("{ttl: 20000d}", 1_500_000_000, False),
    ("{ttl: forever}", 1_500_000_000, False),
    ("{}", 1_500_000_000, False),
    ("{ttl: 30d, min_versions: 1}", 1_500_000_000, False),  # the newest versions stay
])
def test_ttl(tmp_path, saltmill, family, newest, hidden):
    bench = bench_of(tmp_path, saltmill, family=family)
    bench.input(HEADER + b"1,1400000000,old\n2,%d,new\n" % (newest or int(time.time())))
    done = bench.run()
    assert done.returncode == 0, done.stderr
    message = done.stderr.decode()
    assert ("warning" in message) == hidden
    if hidden:
        assert all(w in message for w in ("table t", "family f", "2017-07-14", "2592000 s"))
        manifest = (bench.out / "manifest.json").read_bytes()
        quiet = bench.run("--quiet", out=tmp_path / "again")
        assert quiet.returncode == 0 and quiet.stderr == b""
        assert (tmp_path / "again" / "manifest.json").read_bytes() == manifest
