"""Tests that --memory is a limit. For any input, the peak is at most the budget plus 32 MB."""

import random
import subprocess

import pytest

from load_help import Bench

MIB = 1 << 20
SLACK_MIB = 32

JOB = """\
source:
  csv: {files: [in.csv], max_row: 64M}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
  seq: {type: u32}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: at
    families:
      f: {compression: ZSTD, versions: 10000000}
      g: {compression: NONE, bloomfilter: NONE}
    cells:
      - {family: f, qualifier: QUALIFIER, value: {field: value}}
      - {family: g, qualifier: s, value: {field: seq}}
    regions: {split: sampled, count: COUNT}
"""
HEADER = b"id,at,seq,value\n"


def job(qualifier="v", count=4):
    return JOB.replace("QUALIFIER", qualifier).replace("COUNT", str(count))


@pytest.fixture
def make(tmp_path, saltmill):
    return lambda text: Bench(tmp_path, saltmill, text)


def peak_mib(bench, memory, *args, command=("load", "job.yaml", "-o", "out")):
    """Returns the peak that the kernel measured. A small process starts the program, because a child's count starts at
    its parent's."""
    command = ["/usr/bin/time", "-f", "%M", str(bench.program), *command, "--quiet", "--memory", f"{memory}M", *args]
    r = subprocess.run(command, cwd=bench.folder, capture_output=True, timeout=300)
    assert r.returncode in (0, 3), r.stderr
    return int(r.stderr.split()[-1]) / 1024


def stays_within(bench, memory, *args):
    peak = peak_mib(bench, memory, *args)
    assert peak <= memory + SLACK_MIB, f"{peak:.0f} MiB at --memory {memory}M"
    return bench.manifest()["tables"][0]


def write_rows(bench, n, head=HEADER):
    """Writes n rows with distinct, scattered ids."""
    block = b"".join(b"%05d,%d,%d,v%d\n" % (i * 7919 % 100_000, 1_500_000_000 + i, i, i) for i in range(100_000))
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(head)
        for k in range(1, n // 100_000 + 1):
            f.write(b"%d" % k + block[:-1].replace(b"\n", b"\n%d" % k) + b"\n")


@pytest.mark.parametrize("memory,threads", [(16, 2), (64, 2), (64, 16)])
def test_more_rows_than_memory(make, memory, threads):
    bench = make(job())
    write_rows(bench, 5_000_000)
    assert stays_within(bench, memory, "--threads", str(threads))["rows"] == 5_000_000


@pytest.mark.parametrize("command", [("plan",), ("drift", "--existing", "live.txt")])
def test_commands_that_only_look(make, command):
    """The requested threads would need more memory than the budget for their pieces, so saltmill starts fewer threads."""
    bench = make(job())
    write_rows(bench, 1_500_000)
    (bench.folder / "live.txt").write_text("Total number of splits = 2\n\\x80\n")
    peak = peak_mib(bench, 16, "--threads", "64", command=(*command, "job.yaml"))
    assert peak <= 16 + SLACK_MIB, f"{peak:.0f} MiB"


@pytest.mark.parametrize("quote,level", [(b"", "3"), (b'"', "3"), (b"", "auto")])
def test_large_values(make, quote, level):
    """Values have 10 MB, with and without rows between them, and exceed the memory in total."""
    bench = make(job().replace("compression: ZSTD", f"compression: {{codec: ZSTD, level: {level}}}"))
    text = random.Random(3).randbytes(5 * MIB).hex().encode()
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(HEADER)
        for i in range(12):
            f.write(b"%d,1500000000,1,%s%s%s\n" % (i * 100_000, quote, text[i:] + text[:i], quote))
            if i % 2:
                f.write(b"".join(b"%d,1500000000,1,%d\n" % (i * 100_000 + k, k) for k in range(1, 20_000)))
    t = stays_within(bench, 64, "--threads", "2")
    assert t["rows"] == 12 + 6 * 19_999
    assert max(f["bytes"] for f in t["files"]) > 10 * MIB


@pytest.mark.parametrize("quote", [b"", b'"'])
@pytest.mark.parametrize("head", ["in", "end"])
def test_value_that_memory_cannot_hold(make, quote, head):
    """saltmill refuses a row of 200 MB by its size before it reads the row, for any limit in the job."""
    bench = make(job().replace("max_row: 64M", "max_row: 1G"))
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(HEADER + (b"1,1500000000,1,x\n" if head == "end" else b"") + b"2,1500000000,1," + quote)
        for _ in range(200):
            f.write(b"v" * 1_000_000)
        f.write(quote + b"\n")
    command = ["/usr/bin/time", "-f", "%M", str(bench.program), "load", "job.yaml", "-o", "out", "--memory", "16M"]
    r = subprocess.run(command, cwd=bench.folder, capture_output=True, timeout=60)
    assert r.returncode == 1 and not bench.out.exists()
    assert f"in.csv:{3 if head == 'end' else 2} (byte " in r.stderr.decode()
    assert b"found a row of more than 4194304 bytes, a quarter of --memory" in r.stderr
    assert int(r.stderr.split()[-1]) / 1024 <= 16 + SLACK_MIB


@pytest.mark.parametrize("memory", [16, 64])
@pytest.mark.parametrize("quote,codec", [(b"", "ZSTD"), (b'"', "NONE")])
def test_largest_value_that_memory_holds(make, memory, quote, codec):
    """saltmill loads a row just below a quarter of the memory within the limit."""
    bench = make(job().replace("ZSTD", codec))
    text = random.Random(3).randbytes((memory << 20) // 8 - 50).hex().encode()
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(HEADER)
        for i in range(6):
            f.write(b"%d,1500000000,1,%s%s%s\n" % (i * 100_000, quote, text, quote))
            f.write(b"".join(b"%d,1500000000,1,%d\n" % (i * 100_000 + k, k) for k in range(1, 20_000)))
    assert stays_within(bench, memory, "--threads", "2")["rows"] == 6 * 20_000


def test_settings_tried_on_nothing_but_large_values(make):
    bench = make(job().replace("compression: ZSTD", "compression: {codec: ZSTD, level: auto}"))
    text = random.Random(3).randbytes(5 * MIB).hex().encode()
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(HEADER + b"".join(b"%d,1500000000,1,%s\n" % (i, text[i:] + text[:i]) for i in range(12)))
    assert stays_within(bench, 64, "--threads", "2")["rows"] == 12


def test_two_thousand_regions(make):
    bench = make(job(count=2000))
    write_rows(bench, 1_000_000)
    t = stays_within(bench, 64, "--threads", "2")
    assert len(t["regions"]) == 2000 and len(t["files"]) == 4000


@pytest.mark.parametrize("qualifier", ["v", "[{field: seq, as: u32}]"])
def test_one_giant_row(make, qualifier):
    bench = make(job(qualifier))
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(HEADER)
        for k in range(10):
            f.write(b"".join(b"7,%d,%d,value of an event\n" % (1_500_000_000 + i % 50_000, i)
                             for i in range(k * 100_000, (k + 1) * 100_000)))
    t = stays_within(bench, 32, "--threads", "2")
    assert t["rows"] == 1 and t["loaded"] + t["deduplicated"] == 1_000_000


def test_rows_of_many_events(make):
    """Each row is just below the memory for gathering, or just above it."""
    bench = make(job("[{field: seq, as: u32}]"))
    with open(bench.folder / "in.csv", "wb") as f:
        f.write(HEADER)
        for k in range(60):
            f.write(b"".join(b"%d,1500000000,%d,x\n" % (k, i) for i in range(k * 500)))
    assert stays_within(bench, 32, "--threads", "2")["rows"] == 59


def test_all_rows_rejected(make):
    bench = make(job())
    write_rows(bench, 1_500_000, b"id,at,value,seq\n")
    peak = peak_mib(bench, 32, "--threads", "2", "--max-rejects", "100%")
    assert peak <= 32 + SLACK_MIB, f"{peak:.0f} MiB"
    assert bench.manifest()["rejected"] == 1_500_000
    with open(bench.out / "rejects.jsonl", "rb") as f:
        offsets = [int(line.split(b'"offset":')[1].split(b",")[0]) for line in f]
    assert len(offsets) == 1_500_000 and offsets == sorted(offsets)
