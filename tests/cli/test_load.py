"""Tests `saltmill load` in daily use, with bad input, limits and crashes, and with the same bytes each time."""

import filecmp
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from load_help import HEADER, JOB, Bench, gz, rows
from loads import ROOT, wait_until_caught


@pytest.fixture
def bench(tmp_path, saltmill):
    return Bench(tmp_path, saltmill)


def test_good_run(bench):
    bench.input(rows(1000))
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert bench.left() == ["out"]
    t = bench.manifest()["tables"][0]
    assert (t["rows"], t["cells"], t["loaded"]) == (1000, 1000, 1000)
    assert "read 1,000 = loaded 1,000 + rejected 0 + filtered 0 + deduplicated 0" in r.stdout.decode()
    assert {"create.rb", "splits.txt", "hfiles"} == {p.name for p in (bench.out / "t").iterdir()}


# --- unreadable input, for which no load starts ---

def test_missing_file(bench):
    bench.refused(bench.run("nowhere.csv"), 1, "nowhere.csv", "No such file")


def test_folder_as_input(bench):
    (bench.folder / "dir.csv").mkdir()
    bench.refused(bench.run("dir.csv"), 1, "dir.csv", "folder")


def test_empty_file(bench):
    bench.input(b"")
    bench.refused(bench.run(), 1, "in.csv", "empty", "header")


def test_header_only(bench):
    bench.input(HEADER)
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert bench.manifest()["tables"][0]["rows"] == 0
    assert (bench.out / "t" / "create.rb").exists()


def test_missing_column(bench):
    bench.input(b"id,att,value\n1,2,3\n")
    bench.refused(bench.run(), 2, "`at`", "att")


def test_header_of_the_second_file_differs(bench):
    bench.input(rows(3))
    bench.input(b"id,value,at\n1,2,3\n", "b.csv")
    bench.refused(bench.run("in.csv", "b.csv"), 1, "b.csv", "id,at,value")


# --- a bad event stops the run, or is a reject when the user allows it ---

BAD = [
    (b"7,1500000000\n", "field_count", "found 2", "expected 3"),
    (b"7,1500000000,a,b\n", "field_count", "found 4", "expected 3"),
    (b"4294967296,1500000000,a\n", "out_of_range", "id", "4294967295"),
    (b"-1,1500000000,a\n", "", "id", "-1"),
    (b"12x,1500000000,a\n", "bad_number", "id", "12x"),
    (b"7,2013-02-30,a\n", "", "at", "2013-02-30"),
    (b"7,1500000000,a\0b\n", "nul_byte", "value"),
    (b"7,1500000000,a\xff\xfeb\n", "bad_utf8", "value"),
    (b"7,1500000000,\n", "null_value", "value", "optional"),
    (b'7,1500000000,a"b\n', "bad_quote"),
    (b'7,1500000000,"a"b\n', "bad_quote"),
]


@pytest.mark.parametrize("line,reason,words", [(b[0], b[1], b[2:]) for b in BAD])
def test_bad_event(bench, line, reason, words):
    bench.input(rows(50) + line + rows(50, 50)[len(HEADER):])
    bench.refused(bench.run(), 1, "in.csv:52", reason, *words)
    r = bench.run("--max-rejects", "1")
    assert r.returncode == 3, r.stderr
    [bad] = bench.rejects()
    assert (bad["file"], bad["line"], bad["offset"]) == ("in.csv", 52, len(rows(50)))
    raw = bad.get("raw") or __import__("base64").b64decode(bad["raw_base64"]).decode("latin1")
    assert raw.encode("latin1" if "raw_base64" in bad else "utf8") == line.rstrip(b"\n")
    m = bench.manifest()
    assert (m["read"], m["rejected"], m["tables"][0]["loaded"]) == (101, 1, 100)


def test_the_first_bad_event_is_named_whatever_the_threads(bench):
    data = bytearray(rows(200_000))
    lines = bytes(data).split(b"\n")
    for at in (150_000, 90_001, 90_002, 199_999):
        lines[at] = b"bad,1,2"
    bench.input(b"\n".join(lines))
    for threads in "1", "2", "5":
        bench.refused(bench.run("--threads", threads), 1, "in.csv:90002")
        bench.refused(bench.run("--threads", threads, "--max-rejects", "2"), 1, "in.csv:150001")


def test_share_of_rejects(bench):
    bench.input(rows(99) + b"x,1,2\n")
    assert bench.run("--max-rejects", "1%").returncode == 3
    shutil.rmtree(bench.out)
    bench.refused(bench.run("--max-rejects", "0.9%"), 1, "in.csv:101")


def test_100_mb_on_one_line(bench):
    with open(bench.input(rows(10)), "ab") as f:
        f.write(b"11,1500000000,")
        for _ in range(100):
            f.write(b"x" * (1 << 20))
        f.write(b"\n")
    before = time.monotonic()
    r = bench.run("--max-rejects", "5", "--memory", "64M")
    bench.refused(r, 1, "in.csv:12", "max_row")
    assert time.monotonic() - before < 30


def test_key_too_long(tmp_path, saltmill):
    job = JOB.replace("{field: id, as: u32}", "{field: value, as: text, terminator: \"\\\\x00\"}")
    bench = Bench(tmp_path, saltmill, job)
    bench.input(HEADER + b"1,1500000000," + b"k" * 32740 + b"\n")
    assert bench.run().returncode == 0
    shutil.rmtree(bench.out)
    bench.input(HEADER + b"1,1500000000," + b"k" * 32760 + b"\n")
    bench.refused(bench.run(), 1, "in.csv:2", "32767")


# --- the output folder ---

def test_existing_output_is_refused(bench):
    bench.input(rows(10))
    bench.out.mkdir()
    (bench.out / "mine").write_text("keep")
    r = bench.run()
    assert r.returncode == 2 and b"exists" in r.stderr
    assert [p.name for p in bench.out.iterdir()] == ["mine"]


def test_unwritable_parent(bench):
    bench.input(rows(10))
    r = bench.run(out="in.csv/out")
    assert r.returncode == 2 and b"in.csv" in r.stderr
    r = bench.run(out="missing/out")
    assert r.returncode == 2 and b"missing" in r.stderr


def test_wrong_usage(bench, saltmill):
    for args in (["load"], ["load", "job.yaml"], ["frobnicate"], ["load", "--threads", "x", "job.yaml", "-o", "o"],
                 ["load", "--max-rejects", "many", "job.yaml", "-o", "o"], ["load", "missing.yaml", "-o", "o"],
                 ["load", "--temp-dir", "missing", "job.yaml", "-o", "o"],
                 ["load", "--temp-dir", "job.yaml", "job.yaml", "-o", "o"]):
        r = subprocess.run([saltmill, *args], cwd=bench.folder, capture_output=True)
        assert r.returncode == 2, args
        assert r.stderr and not r.stdout


@pytest.mark.parametrize("spill", [False, True])
def test_full_disk(bench, disk_of, spill):
    """The disk fills up although it had enough space when the load began."""
    small_disk = disk_of(3)
    bench.input(rows(600_000))
    args = ["--memory", "16M"] if spill else []
    r = bench.run(*args, out=small_disk / "out")
    assert r.returncode == 1
    assert b"No space left on device" in r.stderr or b"of free space" in r.stderr
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("step", ["load-opened", "load-read", "load-split", "load-written", "described"])
def test_killed_run(bench, step):
    """After SIGKILL only the temporary folder remains, and the next run removes it."""
    bench.input(rows(100_000))
    r = bench.run(env={**os.environ, "SALTMILL_CRASH_AT": step})
    assert r.returncode == -signal.SIGKILL
    assert bench.left() == ["out.saltmill-partial"]
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert bench.left() == ["out"]
    assert b"out.saltmill-partial, which a killed run left" in r.stderr


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_terminated_run(bench, sig):
    command = [str(bench.program), "load", "job.yaml", "-", "-o", "out", "--quiet"]
    p = subprocess.Popen(command, cwd=bench.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(rows(200_000))  # more than a pipe holds, so the run has started
    p.send_signal(sig)
    message = p.communicate(rows(200_000)[len(HEADER):])[1]
    assert p.returncode == 128 + sig and b"stopped by a signal" in message, message
    assert bench.left() == []


@pytest.mark.parametrize("begun", [b"", rows(5)])
def test_signal_while_waiting_for_input(bench, begun):
    """A silent pipe does not keep the run from ending."""
    command = [str(bench.program), "load", "job.yaml", "-", "-o", "out", "--quiet"]
    p = subprocess.Popen(command, cwd=bench.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(begun)
    p.stdin.flush()
    wait_until_caught(p, signal.SIGINT)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    try:
        assert p.wait(10) == 130
    finally:
        p.kill()
    assert b"stopped by a signal" in p.stderr.read()
    assert bench.left() == []


# --- the same input gives the same bytes ---

def same_tree(a, b):
    c = filecmp.dircmp(a, b)
    assert not c.left_only and not c.right_only, (c.left_only, c.right_only)
    _, mismatch, errors = filecmp.cmpfiles(a, b, c.common_files, shallow=False)
    assert not mismatch and not errors, mismatch
    for d in c.common_dirs:
        same_tree(a / d, b / d)


def test_same_bytes_whatever_threads_and_memory(bench):
    rng = random.Random(5)
    n = 400_000
    body = b"".join(b"%d,%d,%s\n" % (rng.randrange(5000), 1_500_000_000 + rng.randrange(300), b"v" * rng.randrange(9) + b"x")
                    for _ in range(n))
    bench.input(HEADER + body + b"bad,1,2\n")
    first = None
    for threads, memory in (("1", "16M"), ("2", "16M"), ("1", "1G"), ("2", "1G"), ("3", "64M"), ("2", "1G")):
        out = bench.folder / f"out-{threads}-{memory}-{time.monotonic_ns()}"
        r = bench.run("--threads", threads, "--memory", memory, "--max-rejects", "1", out=out)
        assert r.returncode == 3, r.stderr
        if first:
            same_tree(first, out)
            shutil.rmtree(out)
        first = first or out


def test_inputs_of_all_kinds_give_the_same_files(bench):
    data = rows(30_000)
    bench.input(data)
    assert bench.run().returncode == 0
    digests = [f["digest"] for f in bench.manifest()["tables"][0]["files"]]

    def check(*args, **kw):
        out = bench.folder / f"out{time.monotonic_ns()}"
        r = bench.run(*args, out=out, **kw)
        assert r.returncode == 0, r.stderr
        import json
        m = json.loads((out / "manifest.json").read_text())
        assert [f["digest"] for f in m["tables"][0]["files"]] == digests

    check("-", input=data)
    check(bench.input(gz(data), "in.csv.gz").name)
    check("-", input=gz(data))
    zst = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
    check(bench.input(zst, "in.csv.zst").name)
    check(bench.input(b"\xef\xbb\xbf" + data, "bom.csv").name)
    check(bench.input(data.replace(b"\n", b"\r\n"), "crlf.csv").name)
    check(bench.input(data.replace(b"\n", b"\r"), "cr.csv").name)
    check(bench.input(data.rstrip(b"\n"), "no_end.csv").name)
    check(bench.input(b"\n".join(b",".join(b'"%s"' % f for f in line.split(b",")) for line in data.split(b"\n") if line),
                      "quoted.csv").name)
    half = data.index(b"\n15000,") + 1
    bench.input(data[:half], "a.csv")
    bench.input(HEADER + data[half:], "b.csv")
    check("a.csv", "b.csv")
    check(bench.input(gz(data[:half]) + gz(data[half:]), "members.csv.gz").name)


def test_truncated_gz(bench):
    whole = gz(rows(100_000))
    bench.input(whole[:-2000], "in.csv.gz")
    bench.refused(bench.run("in.csv.gz"), 1, "in.csv.gz")


def test_peak_memory_stays_near_the_budget(bench, shared_data):
    """8 million rows (the ratings 80 times over, user and time shifted) with --memory 256M."""
    lines = (shared_data / "ratings.csv").read_bytes().split(b"\n")[1:]
    ratings = [tuple(line.split(b",")) for line in lines if line]
    ratings = [(int(u), m, r, int(t)) for u, m, r, t in ratings]
    with open(bench.folder / "ratings.csv", "wb") as f:
        f.write(b"userId,movieId,rating,timestamp\n")
        for k in range(80):
            f.write(b"".join(b"%d,%s,%s,%d\n" % (u + 1000 * k, m, r, t + 604800 * k) for u, m, r, t in ratings))
    command = ["/usr/bin/time", "-f", "%M", str(bench.program), "load", str(ROOT / "conf/ratings.yaml"), "ratings.csv", "-o", "out",
               "--memory", "256M", "--quiet"]
    r = subprocess.run(command, cwd=bench.folder, capture_output=True)
    assert r.returncode == 0, r.stderr
    peak_kib = int(r.stderr.split()[-1])
    assert peak_kib <= 320 * 1024, f"{peak_kib / 1024:.0f} MiB"
    assert bench.manifest()["tables"][0]["rows"] == len(ratings) * 80
