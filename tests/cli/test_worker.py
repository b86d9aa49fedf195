"""Tests `make worker`, which makes one static file. This file writes the same bytes as the whole program, and reports
the parts that it lacks.
"""

import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import termios
import time

import pytest

from load_help import HEADER, JOB
from random_jobs import Case
from test_halves import ROWS, Halves, assert_same, refused

ROOT = pathlib.Path(__file__).parents[2]
SEEDS = range(*map(int, os.environ.get("SALTMILL_SEEDS", "0:5").split(":")))


@pytest.fixture(scope="module")
def worker():
    r = subprocess.run(["make", "-s", "worker"], cwd=ROOT, capture_output=True, timeout=600)
    assert r.returncode == 0, r.stderr.decode()
    return ROOT / "build/saltmill-worker"


def version(program):
    return json.loads(subprocess.run([program, "version", "--json"], capture_output=True, check=True).stdout)


def test_it_needs_no_library_and_no_loader(worker):
    def readelf(option):
        return subprocess.run(["readelf", option, worker], capture_output=True, check=True).stdout.decode()
    assert "DYN (Position-Independent Executable" in readelf("-h") and "INTERP" not in readelf("-l")
    assert "NEEDED" not in readelf("-d") and ".symtab" not in readelf("-S")


def test_versions_tell_what_differs(worker, saltmill):
    a, b = version(saltmill), version(worker)
    assert a.pop("build") != b.pop("build")
    left_out = ("kafka", "metrics", "hdfs")
    assert [a.pop(k) for k in left_out] == [True] * 3 and [b.pop(k) for k in left_out] == [False] * 3
    assert a == b and a["libraries"]["zstd"] and a["formats"]["pieces"]
    assert version(worker) == version(worker)


def test_it_makes_the_bytes_of_the_whole_program(worker, saltmill, tmp_path):
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        case = Case(seed, folder)
        h = Halves(folder, saltmill, case.names, *case.options)
        if h.plan("--tune", status=None).returncode not in (0, 3) or case.oracle.twins:
            continue
        one = h.load("--max-rejects", "100%", status=None)
        h.program = worker
        h.run("load", *h.inputs, "--plan", "plan", "-o", "alone", "--max-rejects", "100%", status=one.returncode)
        assert_same(folder / "one", folder / "alone")
        h.map_all(2)
        h.program = saltmill  # one program may reduce the other's maps
        h.reduce_all(2)
        h.program = worker
        h.unite("--max-rejects", "100%", status=one.returncode)
        assert_same(folder / "one", folder / "two")


def test_another_kind_of_machine_makes_the_same_bytes(saltmill, tmp_path):
    """The bytes of texts, numbers, floats, times, salts and all codecs do not depend on the machine, which this test
    emulates.
    """
    other = ROOT / "build/saltmill-worker-aarch64"
    if not other.exists():
        pytest.skip("no build/saltmill-worker-aarch64: make worker MACHINE=aarch64 builds it")
    emulator = tmp_path / "saltmill"
    emulator.write_text(f'#!/bin/sh\nexec qemu-aarch64-static {other} "$@"\n')
    emulator.chmod(0o755)
    assert version(emulator)["formats"] == version(saltmill)["formats"]
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        case = Case(seed, folder)
        h = Halves(folder, saltmill, case.names, *case.options)
        if h.plan("--tune", status=None).returncode not in (0, 3):
            continue
        one = h.load("--max-rejects", "100%", status=None)
        h.program = emulator
        h.run("load", *h.inputs, "--plan", "plan", "-o", "alone", "--max-rejects", "100%", status=one.returncode)
        assert_same(folder / "one", folder / "alone")


def test_digests_of_any_length_are_those_of_the_whole_program(worker, saltmill, tmp_path):
    for n in (0, 1, 16, 17, 128, 129, 240, 241, 1024, 1 << 20, (1 << 20) + 13):
        (tmp_path / "x").write_bytes(bytes(i * 7 & 255 for i in range(min(n, 4096))) * (n // 4096 + 1))
        with open(tmp_path / "x", "r+b") as f:
            f.truncate(n)
        digests = [subprocess.run([p, "digest", "x"], cwd=tmp_path, capture_output=True, check=True).stdout
                   for p in (worker, saltmill)]
        assert digests[0] == digests[1] and json.loads(digests[0])["size"] == n


def test_what_needs_kafka_says_that_there_is_none(worker, tmp_path):
    job = JOB.replace("csv: {files: [in.csv]}", "kafka: {brokers: '127.0.0.1:1', topic: t, format: json}")
    (tmp_path / "job.yaml").write_text(job)
    r = subprocess.run([worker, "load", "job.yaml", "-o", "out"], cwd=tmp_path, capture_output=True, timeout=60)
    refused(r, 2, "this build has no librdkafka (make worker)")
    r = subprocess.run([worker, "stream", "job.yaml", "--state", "s", "--metrics", "127.0.0.1:0"], cwd=tmp_path,
                       capture_output=True, timeout=60)
    assert r.returncode == 2 and b"this build has no " in r.stderr, r.stderr


def test_it_dies_with_who_started_it(saltmill, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    subprocess.run([saltmill, "plan", "job.yaml", "in.csv", "-o", "plan", "--quiet"], cwd=tmp_path, check=True)
    for extra, dies in (["--die-with-parent"], True), ([], False):
        script = f"{saltmill} map job.yaml - --name x --bytes 1000000 --plan plan -o out {' '.join(extra)} <&3 & echo $!; read"
        keep, feed = os.pipe()  # held open here, so the map waits for bytes whichever process dies
        p = subprocess.Popen(["bash", "-c", f"exec 3<&{keep}; {script}"], cwd=tmp_path, pass_fds=[keep],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child = int(p.stdout.readline())
        os.write(feed, b"1,")
        while int.from_bytes(fcntl.ioctl(keep, termios.FIONREAD, bytes(4)), sys.byteorder):  # until the map reads
            time.sleep(0.01)
        p.kill()
        p.wait()
        end = time.monotonic() + (20 if dies else 1)
        while alive(child) and time.monotonic() < end:
            time.sleep(0.02)
        assert alive(child) != dies
        if not dies:
            os.kill(child, signal.SIGKILL)
        os.close(keep)
        os.close(feed)


def alive(pid):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
