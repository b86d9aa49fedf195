"""Tests `compression: {codec: ZSTD, level: auto}` on the command line."""

import json
import random
import re
import subprocess

import pytest

from load_help import HEADER, JOB, Bench


# A small load has no trials. Cells with a long qualifier need fewer rows for a large load.
LONG_QUALIFIER = JOB.replace("qualifier: v", "qualifier: " + "v" * 220)


def auto_job(aim, job=LONG_QUALIFIER):
    return job.replace("f: {compression: NONE}", "f: {compression: {codec: ZSTD, level: auto%s}}" % aim)


def ratings(n):
    rng = random.Random(3)
    return b"".join(b"%d,%d,%d.%d\n" % (i // 7, 1_500_000_000 + rng.randrange(1 << 20), rng.randrange(5), 5 * rng.randrange(2))
                    for i in range(n))


@pytest.mark.parametrize("aim", ["", ", aim: speed", ", aim: size"])
def test_chosen_alike_by_any_threads(tmp_path, saltmill, aim):
    bench = Bench(tmp_path, saltmill, auto_job(aim))
    bench.input(HEADER + ratings(150_000 if "size" in aim else 40_000))
    seen = []
    for threads, memory in (("1", "1G"), ("3", "16M")):
        bench.out = bench.folder / f"out-{threads}-{memory}"
        r = bench.run("--threads", threads, "--memory", memory)
        assert r.returncode == 0, r.stderr
        table = bench.manifest()["tables"][0]
        seen.append((table["tuned"], sorted(f["digest"] for f in table["files"])))
        assert not list(bench.out.rglob(".samples"))
        proved = subprocess.run([saltmill, "verify", bench.out], capture_output=True)
        assert proved.returncode == 0, proved.stdout
    assert seen[0] == seen[1]
    (tuned,) = seen[0][0]
    assert (tuned["family"], tuned["aim"]) == ("f", aim[len(", aim: "):] or "balance")
    made = f", hash log {tuned['hash_log']}" if tuned["hash_log"] else ""
    if "min_match" in tuned:
        made += f", ready-made sequences from {tuned['min_match']} bytes"
    assert ("size" not in aim) == ("min_match" in tuned)  # similar rows
    assert f"ZSTD level {tuned['level']}{made}, best for" in r.stdout.decode()
    assert 0 < tuned["stored_bytes"] < tuned["plain_bytes"] <= 3 << 20
    # the sample represents the table
    assert table["regions"][0]["bytes"] < 1.5 * table["regions"][0]["cell_bytes"] * tuned["stored_bytes"] / tuned["plain_bytes"]


def whole_job(compression, job=LONG_QUALIFIER):
    return job.replace("f: {compression: NONE}", "f: {%s}" % compression)


def measurements(n):
    """Neighbouring rows are similar, as in most tables of events."""
    return b"".join(b"%d,%d,%d\n" % (i // 7, 1_500_000_000 + 5 * i, i % 10) for i in range(n))


def attributes(script):
    text = script.read_text()
    return re.search(r"DATA_BLOCK_ENCODING => '(\w+)', BLOCKSIZE => (\d+)", text).groups()


@pytest.mark.parametrize("compression, wanted", [
    ("compression: auto", ("DIFF", "65536")),
    ("compression: {codec: auto, aim: speed}", ("DIFF", "65536")),
    ("compression: {codec: auto, aim: size}", ("DIFF", "65536")),
    ("compression: {codec: auto, aim: read}", ("DIFF", "16384")),
    ("compression: auto, data_block_encoding: FAST_DIFF", ("FAST_DIFF", "65536")),
    ("compression: {codec: auto, aim: read}, blocksize: 32K", ("DIFF", "32768"))])
def test_everything_is_chosen(tmp_path, saltmill, compression, wanted):
    """The script, the manifest, the plan and the files agree, whatever the threads and the memory."""
    large = "size" in compression or "read" in compression
    bench = Bench(tmp_path, saltmill, whole_job(compression, LONG_QUALIFIER if large else JOB))
    bench.input(HEADER + measurements(150_000 if large else 300_000))
    seen = []
    for threads, memory in (("1", "1G"), ("3", "16M")):
        bench.out = bench.folder / f"out-{threads}"
        r = bench.run("--threads", threads, "--memory", memory)
        assert r.returncode == 0, r.stderr
        table = bench.manifest()["tables"][0]
        seen.append((table["tuned"], sorted(f["digest"] for f in table["files"])))
        assert attributes(bench.out / "t" / "create.rb") == wanted
        assert subprocess.run([saltmill, "verify", bench.out], capture_output=True).returncode == 0
    assert seen[0] == seen[1]
    (tuned,) = seen[0][0]
    assert ("encoding" in tuned) == ("data_block_encoding" not in compression)
    assert tuned.get("encoding", "DIFF") == "DIFF" and tuned.get("block_bytes", 16384) == 16384
    if "encoding" in tuned:
        assert f"; ZSTD level 3 alone: {100 * tuned['usual_bytes'] / tuned['plain_bytes']:.1f}%" in r.stdout.decode()
        assert tuned["stored_bytes"] < 0.9 * tuned["usual_bytes"]
    file = next((bench.out / "t" / "hfiles" / "f").iterdir())
    inspected = json.loads(subprocess.run([saltmill, "inspect", "--json", file], capture_output=True, check=True).stdout)
    assert wanted[0] in json.dumps(inspected)


def test_speed_of_values_without_repetition(tmp_path, saltmill):
    """Random values have no matches to find, so `aim: speed` writes Huffman codes only. The script that makes the table
    does not show it."""
    bench = Bench(tmp_path, saltmill, whole_job("compression: {codec: auto, aim: speed}", JOB))
    rng = random.Random(5)
    bench.input(HEADER + b"".join(b"%d,%d,%d\n" % (i // 7, 1_500_000_000 + rng.randrange(1 << 24), rng.randrange(1 << 30))
                                  for i in range(250_000)))
    r = bench.run()
    assert r.returncode == 0, r.stderr
    (tuned,) = bench.manifest()["tables"][0]["tuned"]
    assert (tuned["aim"], tuned["level"], tuned["encoding"]) == ("speed", -131072, "DIFF")
    assert "family f: ZSTD level -131072, hash log 6, DIFF, best for speed" in r.stdout.decode()
    assert attributes(bench.out / "t" / "create.rb") == ("DIFF", "65536")
    assert subprocess.run([saltmill, "verify", bench.out], capture_output=True).returncode == 0
    read = subprocess.run([saltmill, "scan", "job.yaml", bench.out, "--quiet"], cwd=bench.folder, capture_output=True, text=True)
    assert read.stdout == "250000 rows, 250000 cells\n", read.stderr


def test_a_plan_keeps_the_choice(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, whole_job("compression: {codec: auto, aim: read}"))
    bench.input(HEADER + measurements(20_000))
    here = {"cwd": bench.folder, "capture_output": True}
    planned = subprocess.run([saltmill, "plan", "job.yaml", "-o", "plan"], **here)
    assert planned.returncode == 0, planned.stderr
    assert attributes(bench.folder / "plan" / "t" / "create.rb") == ("DIFF", "16384")
    assert bench.run("--plan", "plan").returncode == 0
    assert attributes(bench.out / "t" / "create.rb") == ("DIFF", "16384")
    settings = json.loads((bench.folder / "plan" / "settings.json").read_text())["tables"][0]["tuned"]
    assert bench.manifest()["tables"][0]["tuned"] == settings


def test_ddl_and_an_empty_load_assume_short_values(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, whole_job("compression: auto").replace("split: sampled, count: 2", "split: none"))
    bench.input(HEADER)
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert attributes(bench.out / "t" / "create.rb") == ("DIFF", "65536")
    assert "chosen without a sample" in r.stdout.decode()
    ddl = subprocess.run([saltmill, "ddl", "job.yaml"], cwd=bench.folder, capture_output=True, text=True)
    assert ddl.returncode == 0 and "DATA_BLOCK_ENCODING => 'DIFF'" in ddl.stdout
    assert "assumed short values" in ddl.stderr


def test_nothing_to_choose_from(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, auto_job(""))
    bench.input(HEADER)
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert "tuned" not in bench.manifest()["tables"][0]


@pytest.mark.parametrize("aim, cells", [("", 8 << 20), (", aim: size", 32 << 20)])
def test_a_small_load_has_no_trials(tmp_path, saltmill, aim, cells):
    """A sample needs half a block. Its trials would take more than 2 % of a small load."""
    bench = Bench(tmp_path, saltmill, auto_job(aim))
    for share, tuned in ((0.9, False), (1.1, True)):
        bench.input(HEADER + measurements(int(cells * share / 257)))
        bench.out = tmp_path / f"out-{tuned}"
        assert bench.run().returncode == 0
        table = bench.manifest()["tables"][0]
        assert share - 0.03 < sum(r["cell_bytes"] for r in table["regions"]) / cells < share + 0.03
        assert ("tuned" in table) == tuned
    assert table["tuned"][0]["plain_bytes"] < 64 << 10


def test_a_level_that_is_given_is_not_tuned(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, JOB.replace("NONE", "{codec: ZSTD, level: 3}"))
    bench.input(HEADER + ratings(2000))
    assert bench.run().returncode == 0
    assert "tuned" not in bench.manifest()["tables"][0]
