"""Tests `saltmill load` with inputs, names and numbers at their limits."""

import gzip
import json
import os
import signal
import subprocess
import threading
import time

import pytest

import hfile_py
from load_help import HEADER, JOB, Bench, rows
from loads import wait_until_caught

OPTIONAL = JOB.replace("{field: value}}", "{field: value}, optional: true}")
PLAIN = """\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}}
tables:
  - name: %s
    rowkey: [{field: value}]
    timestamp: 5
    families: {%s}
    cells: [%s]
    regions: {%s}
"""


def plain(name="t", families=("f",), regions="split: none"):
    cells = ", ".join(f"{{family: {f}, qualifier: v, value: id}}" for f in families)
    return PLAIN % (name, ", ".join(f"{f}: {{}}" for f in families), cells, regions)


def verified(bench, out=None):
    r = subprocess.run([bench.program, "verify", out or bench.out], cwd=bench.folder, capture_output=True)
    assert r.returncode == 0, r.stderr
    return bench.manifest() if out is None else json.loads((out / "manifest.json").read_text())


def cells(bench):
    return [c for p in sorted(bench.out.glob("**/hfiles/*/*")) for c in hfile_py.read(p)]


# --- few or no rows ---

@pytest.mark.parametrize("data,status,counts", [
    (HEADER, 0, (0, 0, 0, 0)),
    (rows(1), 0, (1, 1, 0, 0)),
    (HEADER + b"x,1,a\ny,1,b\n", 3, (2, 0, 2, 0)),
    (HEADER + b"1,1,\n2,1,\n", 0, (2, 0, 0, 2)),
    (HEADER + b"1,1,\nx,1,a\n3,1,c\n", 3, (3, 1, 1, 1)),
    (HEADER + b"\n\n\r\n", 0, (0, 0, 0, 0)),
])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_few_rows(tmp_path, saltmill, data, status, counts, threads):
    bench = Bench(tmp_path, saltmill, OPTIONAL)
    bench.input(data)
    r = bench.run("--max-rejects", "100%", "--threads", threads)
    assert r.returncode == status, r.stderr
    m = verified(bench)
    [t] = m["tables"]
    assert (m["read"], t["loaded"], m["rejected"], t["filtered"]) == counts
    assert len(cells(bench)) == t["cells"] == t["loaded"]
    assert sum(r["rows"] for r in t["regions"]) == t["rows"]


def test_all_rows_in_one_region_of_a_file(tmp_path, saltmill):
    """Regions without rows get no file, at any position."""
    for keys, region in (("a\nb\nv0\n", 3), ("x\ny\nz\n", 0), ("a\n~\n", 1), ("", 0)):
        bench = Bench(tmp_path, saltmill, plain(regions="split: file, file: splits.txt"))
        (tmp_path / "splits.txt").write_text(keys)
        bench.input(rows(10))
        out = tmp_path / f"out{region}{len(keys)}"
        r = bench.run(out=out)
        assert r.returncode == 0, r.stderr
        [t] = verified(bench, out)["tables"]
        assert [f["region"] for f in t["files"]] == [region] and t["files"][0]["rows"] == 10
        assert len(t["regions"]) == keys.count("\n") + 1


# --- the largest keys ---

@pytest.mark.parametrize("encoding", ["NONE", "FAST_DIFF", "ROW_INDEX_V1"])
def test_the_longest_row_keys(tmp_path, saltmill, encoding):
    """The keys are so long that a small file has an index of three levels."""
    family = f"f: {{data_block_encoding: {encoding}, bloomfilter: ROWCOL, blocksize: 1K}}"
    bench = Bench(tmp_path, saltmill, plain().replace("f: {}", family))
    keys = [b"k" * 32760 + b"%07d" % i for i in range(120)]
    bench.input(HEADER + b"".join(b"%d,1,%s\n" % (i, k) for i, k in enumerate(keys)) + b"999,1," + b"k" * 32768 + b"\n")
    assert bench.run("--max-rejects", "1").returncode == 3
    assert bench.rejects()[0]["reason"] == "key_too_long"
    [f] = verified(bench)["tables"][0]["files"]
    file = hfile_py.HFile(bench.out / f["path"])
    assert file.trailer[8] == 3
    assert [(c.row, c.value) for c in file.cells] == [(k, b"%d" % i) for i, k in enumerate(keys)]


def test_the_longest_qualifiers(tmp_path, saltmill):
    """All events are in one row, so that its cells exceed the memory for gathering."""
    job = plain().replace("[{field: value}]", "[{field: at}]").replace("qualifier: v", "qualifier: {field: value}")
    bench = Bench(tmp_path, saltmill, job)
    names = [b"q" * 32758 + b"%07d" % i for i in range(60)]
    lines = [b"%d,row,%s\n" % (i, q) for i, q in enumerate(reversed(names))]
    bench.input(HEADER + b"".join(lines) + b"999,row," + b"q" * 32766 + b"\n")
    assert bench.run("--max-rejects", "1", "--memory", "16M").returncode == 3
    [reject] = bench.rejects()
    assert reject["reason"] == "qualifier_too_long" and "at most 32765" in reject["detail"]
    verified(bench)
    assert [(c.row, c.qualifier, c.value) for c in cells(bench)] == [
        (b"row", q, b"%d" % (59 - i)) for i, q in enumerate(names)]
    (tmp_path / "job.yaml").write_text(plain().replace("qualifier: v", "qualifier: " + "q" * 32766))
    refused = bench.run(out=tmp_path / "out2")
    assert refused.returncode == 2 and b"at most 32765" in refused.stderr


def test_many_families(tmp_path, saltmill):
    names = [f"f{i}" for i in range(200)]
    bench = Bench(tmp_path, saltmill, plain(families=names, regions="split: sampled, count: 2"))
    bench.input(rows(2))
    r = bench.run("--memory", "16M", "--threads", "2")
    assert r.returncode == 0, r.stderr
    verified(bench)
    found = cells(bench)
    assert sorted(c.family.decode() for c in found) == sorted(names * 2)


@pytest.mark.parametrize("share", ["29%", "57%", "58%", "0.7%", "1.1%", "100%"])
def test_an_exact_share_of_rejects(tmp_path, saltmill, share):
    """In floating point, 0.29 * 100 is less than 29. The program computes the share exactly."""
    bench, bad = Bench(tmp_path, saltmill), round(float(share[:-1]) * 10)
    bench.input(rows(1000 - bad) + b"x,1,a\n" * bad)
    r = bench.run("--max-rejects", share)
    assert r.returncode == 3, r.stderr
    assert bench.manifest()["rejected"] == bad
    if bad < 1000:
        bench.input(rows(1000 - bad - 1) + b"x,1,a\n" * (bad + 1))
        assert bench.run("--max-rejects", share, out=tmp_path / "out2").returncode == 1


# --- names ---

@pytest.mark.parametrize("name,own", [
    ("manifest.json", True), ("rejects.jsonl", True), ("plan.json", True), ("t:hfiles", True), ("t:create.rb", True),
    ("t:splits.txt", True), ("hfiles", False), ("create.rb", False), ("t:manifest.json", False)])
def test_tables_named_like_files_of_a_load(tmp_path, saltmill, name, own):
    bench = Bench(tmp_path, saltmill, plain(name))
    bench.input(rows(3))
    r = bench.run()
    if own:
        bench.refused(r, 2, name, "choose another table name")
    else:
        assert r.returncode == 0, r.stderr
        verified(bench)


@pytest.mark.parametrize("out", ["out/", "out//", "./out", "{}/out", "sub/../out"])
def test_spellings_of_the_output_folder(tmp_path, saltmill, out):
    bench = Bench(tmp_path, saltmill)
    (tmp_path / "sub").mkdir()
    bench.input(rows(3))
    r = bench.run(out=out.format(tmp_path))
    assert r.returncode == 0, r.stderr
    verified(bench)
    assert bench.left() == ["out"]


@pytest.mark.parametrize("out", ["", ".", "/", "out/.", "out/..", "in.csv", "in.csv/out", "nowhere/out", "gone"])
def test_impossible_output_folders(tmp_path, saltmill, out):
    bench = Bench(tmp_path, saltmill)
    (tmp_path / "gone").symlink_to("nothing")
    bench.input(rows(3))
    before = sorted(p.name for p in tmp_path.iterdir())
    command = [saltmill, "load", "job.yaml", "-o", out]
    r = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert r.returncode == 2 and r.stderr, r.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_job_in_another_folder(tmp_path, saltmill):
    """Paths in the job are relative to the job file, and paths on the command line are relative to the current
    folder."""
    bench = Bench(tmp_path, saltmill)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "job.yaml").rename(tmp_path / "jobs" / "job.yaml")
    (tmp_path / "jobs" / "in.csv").write_bytes(rows(7))
    bench.input(rows(3))
    for files, want in (([], 7), (["in.csv"], 3), ([tmp_path / "jobs" / "in.csv"], 7)):
        out = tmp_path / f"out{len(files)}{want}"
        r = subprocess.run([saltmill, "load", "jobs/job.yaml", *files, "-o", out], cwd=tmp_path, capture_output=True)
        assert r.returncode == 0, r.stderr
        assert verified(bench, out)["read"] == want


# --- inputs for one reading only ---

@pytest.mark.parametrize("packed", [False, True])
def test_a_fifo(tmp_path, saltmill, packed):
    bench = Bench(tmp_path, saltmill)
    data = rows(50_000)
    bench.input(data)
    assert bench.run().returncode == 0
    want = [f["digest"] for f in bench.manifest()["tables"][0]["files"]]
    os.mkfifo(tmp_path / "pipe")
    sent = gzip.compress(data, 1) if packed else data
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(sent))
    writer.start()
    r = bench.run("pipe", out=tmp_path / "out2")
    writer.join()
    assert r.returncode == 0, r.stderr
    assert [f["digest"] for f in verified(bench, tmp_path / "out2")["tables"][0]["files"]] == want


@pytest.mark.parametrize("which", ["job.yaml", "in.csv"])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_fifo_that_nobody_writes_to(tmp_path, saltmill, which, sig):
    """open() itself would wait, and continue to wait after the signal."""
    bench = Bench(tmp_path, saltmill)
    bench.input(rows(3))
    (tmp_path / which).unlink()
    os.mkfifo(tmp_path / which)
    p = subprocess.Popen([bench.program, "load", "job.yaml", "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE)
    wait_until_caught(p, sig)
    time.sleep(0.4)
    assert p.poll() is None
    p.send_signal(sig)
    assert p.wait(10) == 128 + sig
    assert b"stopped by a signal" in p.stderr.read() and not bench.out.exists()


# --- the date in the files ---

@pytest.mark.parametrize("epoch,ms", [("1700000000", 1_700_000_000_000), ("0", 0), ("", 1_500_000_002_000),
                                      ("9223372036854775", 9223372036854775000)])
def test_source_date_epoch(tmp_path, saltmill, epoch, ms):
    bench = Bench(tmp_path, saltmill)
    bench.input(rows(3))
    r = bench.run(env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    assert r.returncode == 0, r.stderr
    assert verified(bench)["created_ms"] == ms


@pytest.mark.parametrize("epoch", ["garbage", "12x", "-5", " 7", "+7", "1.5", "9223372036854776", "9" * 20])
def test_source_date_epoch_that_is_none(tmp_path, saltmill, epoch):
    bench = Bench(tmp_path, saltmill)
    bench.input(rows(3))
    r = bench.run(env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    bench.refused(r, 2, "SOURCE_DATE_EPOCH", epoch, "whole seconds")


# --- inputs truncated to zero bytes ---

@pytest.mark.parametrize("name", ["in.csv.gz", "in.csv.zst"])
@pytest.mark.parametrize("data", [b"", b"\x1f", b"\x28"])
def test_a_stub_of_packed_data(tmp_path, saltmill, name, data):
    bench = Bench(tmp_path, saltmill)
    bench.input(data, name)
    bench.refused(bench.run(name), 1, name, f"truncated: found {len(data)} bytes")


# --- names of tables ---

def test_a_table_named_lock(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, plain("lock"))
    bench.input(rows(3))
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert verified(bench)["tables"][0]["rows"] == 3


@pytest.mark.parametrize("first,second", [("t", "default:t"), ("default:t", "t"), ("default:t", "default:t")])
def test_one_table_by_two_names(tmp_path, saltmill, first, second):
    job = plain(first)
    bench = Bench(tmp_path, saltmill, job + plain(second)[job.index("  - name"):])
    bench.input(rows(3))
    bench.refused(bench.run(), 2, f"job.yaml:10:11: found table `{second}` twice, first in line 4")
