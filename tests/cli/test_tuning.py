"""Tests `compression: {codec: ZSTD, level: auto}` on the command line."""

import random
import subprocess

import pytest

from load_help import HEADER, JOB, Bench


def auto_job(aim):
    return JOB.replace("f: {compression: NONE}", "f: {compression: {codec: ZSTD, level: auto%s}}" % aim)


def ratings(n):
    rng = random.Random(3)
    return b"".join(b"%d,%d,%d.%d\n" % (i // 7, 1_500_000_000 + rng.randrange(1 << 20), rng.randrange(5), 5 * rng.randrange(2))
                    for i in range(n))


@pytest.mark.parametrize("aim", ["", ", aim: speed", ", aim: size"])
def test_chosen_alike_by_any_threads(tmp_path, saltmill, aim):
    bench = Bench(tmp_path, saltmill, auto_job(aim))
    bench.input(HEADER + ratings(60_000))
    seen = []
    for threads, memory in (("1", "1G"), ("2", "1G"), ("3", "16M")):
        bench.out = bench.folder / f"out-{threads}-{memory}"
        r = bench.run("--threads", threads, "--memory", memory)
        assert r.returncode == 0, r.stderr
        table = bench.manifest()["tables"][0]
        seen.append((table["tuned"], sorted(f["digest"] for f in table["files"])))
        assert not list(bench.out.rglob(".samples"))
        proved = subprocess.run([saltmill, "verify", bench.out], capture_output=True)
        assert proved.returncode == 0, proved.stdout
    assert seen[0] == seen[1] == seen[2]
    (tuned,) = seen[0][0]
    assert (tuned["family"], tuned["aim"]) == ("f", "size" if "size" in aim else "speed")
    made = f", ready-made sequences from {tuned['min_match']} bytes" if "min_match" in tuned else ""
    assert ("size" not in aim) == bool(made)  # similar rows
    assert f"ZSTD level {tuned['level']}, hash log {tuned['hash_log']}{made}, best for" in r.stdout.decode()
    assert 0 < tuned["stored_bytes"] < tuned["plain_bytes"] <= 3 << 20
    # the sample represents the table
    assert table["regions"][0]["bytes"] < 1.5 * table["regions"][0]["cell_bytes"] * tuned["stored_bytes"] / tuned["plain_bytes"]


def test_nothing_to_choose_from(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, auto_job(""))
    bench.input(HEADER)
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert "tuned" not in bench.manifest()["tables"][0]


def test_a_level_that_is_given_is_not_tuned(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, JOB.replace("NONE", "{codec: ZSTD, level: 3}"))
    bench.input(HEADER + ratings(2000))
    assert bench.run().returncode == 0
    assert "tuned" not in bench.manifest()["tables"][0]
