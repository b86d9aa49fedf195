"""Tests disk space. A load reports the space that it needs before it starts, and a quota holds at any time."""

import os
import random
import re
import resource
import subprocess
import time

import pytest

from load_help import HEADER, JOB, Bench, rows


@pytest.fixture
def bench(tmp_path, saltmill):
    return Bench(tmp_path, saltmill)


def bytes_of(text):
    number, unit = re.fullmatch(r"([\d.]+) (\w+)", text).groups()
    return float(number) * {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}[unit]


def seconds_of_children():
    """Returns processor time, because other suites run at the same time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def scattered(n):
    """Makes rows whose keys and values do not compress."""
    rng = random.Random(7)
    return HEADER + b"".join(b"%d,%d,%s\n" % (rng.randrange(1 << 32), 1_500_000_000 + i, rng.randbytes(20).hex().encode())
                             for i in range(n))


def test_hfiles_that_do_not_fit(bench, disk_of):
    bench.input(scattered(150_000))
    assert bench.run(out=bench.folder / "out").returncode == 0
    written = sum(f["bytes"] for f in bench.manifest()["tables"][0]["files"])
    disk = disk_of(5)
    r = bench.run(out=disk / "out")
    assert r.returncode == 1
    message = r.stderr.decode()
    need, free = re.search(r"HFiles of this load need about ([\d.]+ \w+) in \S+, found ([\d.]+ \w+) of free space", message).groups()
    assert 0.85 * written < bytes_of(need) < 1.15 * written, (need, written)
    assert 4e6 < bytes_of(free) <= 5 << 20
    assert list(disk.iterdir()) == []


def test_compression_is_counted_in(tmp_path, saltmill, disk_of):
    """Before compression, the input has four times the size of the disk. The load still fits."""
    bench = Bench(tmp_path, saltmill, JOB.replace("NONE", "ZSTD"))
    bench.input(rows(400_000))
    disk = disk_of(6)
    r = bench.run("--temp-dir", bench.folder, out=disk / "out")
    assert r.returncode == 0, r.stderr


def test_spilling_that_cannot_fit_ends_early(bench, disk_of):
    bench.input(scattered(1_500_000))
    disk = disk_of(24)
    began = seconds_of_children()
    r = bench.run("--memory", "16M", "--temp-dir", disk)
    bench.refused(r, 1, "sorted rows that saltmill still spills need about", str(disk), "--temp-dir")
    early = seconds_of_children() - began
    assert list(disk.iterdir()) == []
    began = seconds_of_children()
    assert bench.run("--memory", "16M").returncode == 0
    assert early < (seconds_of_children() - began) / 2


def test_quota(bench):
    data = scattered(600_000)
    bench.input(data)
    bench.refused(bench.run("--memory", "16M", "--temp-quota", "12M"), 1, "--temp-quota", "--memory")
    # standard input has no known size, so only the quota ends the run
    r = bench.run("-", "--memory", "16M", "--temp-quota", "12M", input=data)
    bench.refused(r, 1, "expected at most 12.6 MB (--temp-quota)", "raise --temp-quota")
    r = bench.run("--memory", "16M", "--temp-quota", "100M", "--json")
    assert r.returncode == 0, r.stderr


def test_quota_is_never_passed(bench):
    """Watches the temporary files, which have no names, while they grow."""
    quota = 60 << 20
    p = subprocess.Popen([bench.program, "load", "job.yaml", "-", "-o", "out", "--memory", "16M", "--temp-quota",
                          str(quota), "--quiet"], cwd=bench.folder, stdin=open(bench.input(scattered(1_500_000)), "rb"))
    seen = 0
    while p.poll() is None:
        total = 0
        for fd in (os.path.join(f"/proc/{p.pid}/fd", n) for n in names(f"/proc/{p.pid}/fd")):
            try:
                if "(deleted)" in os.readlink(fd):
                    total += os.stat(fd).st_blocks * 512
            except OSError:
                pass
        seen = max(seen, total)
        time.sleep(0.01)
    assert p.returncode == 1
    assert 40 << 20 < seen <= quota + (1 << 20), seen


def names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def test_rejects_count_too(bench):
    """A long tail of bad events must not exceed the user's quota."""
    bench.input(HEADER + b"".join(b"not-a-user,%d,%s\n" % (i, b"x" * 200) for i in range(100_000)))
    all_of_them = ("--memory", "64M", "--max-rejects", "100%")
    bench.refused(bench.run(*all_of_them, "--temp-quota", "4M"), 1, "expected at most 4.2 MB (--temp-quota)")
    assert bench.run(*all_of_them, "--temp-quota", "400M").returncode == 3


def test_quota_of_drift(bench):
    bench.input(scattered(300_000))
    (bench.folder / "live.txt").write_text("Total number of splits = 2\n\\x08\n")
    args = [bench.program, "drift", "job.yaml", "in.csv", "--existing", "live.txt", "--memory", "16M", "--temp-quota"]
    r = subprocess.run([*args, "4M"], cwd=bench.folder, capture_output=True, text=True)
    assert r.returncode == 1 and "expected at most 4.2 MB (--temp-quota)" in r.stderr, r.stderr
    r = subprocess.run([*args, "400M"], cwd=bench.folder, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr


@pytest.mark.parametrize("text", ["0", "12X", "-1", ""])
def test_quota_is_a_size(bench, text):
    bench.input(rows(3))
    bench.refused(bench.run("--temp-quota", text), 2, "--temp-quota: found", "expected a size like 256M, from 1")
