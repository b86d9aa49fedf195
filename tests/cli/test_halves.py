"""Tests that map, reduce and unite with N slices make the same load as one process with the whole input.

The oracle is `load --plan`, with all bytes equal, including manifest and rejects. Other tests check the result of
`load` (test_random_loads.py, the tests with a real HBase). `SALTMILL_SEEDS=17:18` repeats a case.
"""

import collections
import filecmp
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import fastavro
import pyarrow
import pytest
import yaml

from load_help import HEADER, JOB
from map_totals import take_totals
from random_jobs import Case
from test_places import Place

SEEDS = range(*map(int, os.environ.get("SALTMILL_SEEDS", "0:12").split(":")))
SLICES = [1, 2, 3, 7]
CONF = pathlib.Path(__file__).resolve().parents[2] / "conf"


class Halves:
    """A folder with a job, the job's inputs, and the runs of both halves."""

    def __init__(self, folder, program, inputs, *options):
        self.folder, self.program, self.inputs, self.options = folder, program, inputs, options

    def run(self, command, *args, status=0, **kw):
        r = subprocess.run([self.program, command, "job.yaml", *map(str, args), "--quiet", *self.options],
                           cwd=self.folder, capture_output=True, timeout=60, **kw)
        assert status is None or r.returncode == status, f"{command} {args}: {r.stderr.decode()}"
        return r

    def plan(self, *args, **kw):
        return self.run("plan", *self.inputs, "-o", "plan", *args, **kw)

    def load(self, *args, **kw):
        return self.run("load", *self.inputs, "--plan", "plan", "-o", "one", *args, **kw)

    def map(self, number, to, *args, **kw):
        (self.folder / "maps").mkdir(exist_ok=True)
        return self.run("map", self.inputs[number], "--plan", "plan", "--input", number, "-o", f"maps/{to}", *args,
                        **kw)

    def map_all(self, slices, *args):
        """Maps each plain input in n slices, mended as the reports request. Returns the number of mended slices.
        """
        mended = 0
        for n, name in enumerate(self.inputs):
            if (self.folder / name).read_bytes()[:2] == b"\x1f\x8b" or slices == 1:
                self.map(n, f"{n}-all", *args)
                continue
            expected = None
            for k in range(slices):
                to = f"{n}-{k}"
                self.map(n, to, "--slice", f"{k + 1}/{slices}", *args, status=None)
                report = self.report(to)
                if report and expected is None:
                    expected = report["head"]
                if not report or report["first"] != expected:
                    mended += 1
                    shutil.rmtree(self.folder / "maps" / to, ignore_errors=True)
                    size = (self.folder / name).stat().st_size
                    end = size // slices * (k + 1) + size % slices * (k + 1) // slices
                    self.map(n, to, "--slice", f"={expected}-{end}", *args)
                    report = self.report(to)
                expected = report["end"]
        return mended

    def report(self, name):
        path = self.folder / "maps" / name / "report.json"
        return json.loads(path.read_text()) if path.exists() else None

    def reduce_all(self, shares, *args, **kw):
        (self.folder / "reduces").mkdir(exist_ok=True)
        return [self.run("reduce", "maps", "--plan", "plan", "--share", f"{k}/{shares}", "-o", f"reduces/{k}", *args,
                         **kw) for k in range(1, shares + 1)]

    def take_totals(self):
        totals = take_totals(self.folder / "maps")
        (self.folder / "totals.json").write_text(json.dumps(totals))
        return totals

    def unite(self, *args, **kw):
        return self.run("unite", *self.inputs, "--plan", "plan", "--maps", "maps", "--reduces", "reduces",
                        "-o", "two", *args, **kw)

    def judge(self, **kw):
        return self.run("unite", *self.inputs, "--plan", "plan", "--maps", "maps", "--json", **kw)


def assert_same(one, two):
    """Checks that two folders contain the same files with the same bytes."""
    names = [sorted(p.relative_to(f).as_posix() for p in f.rglob("*")) for f in (one, two)]
    assert names[0] == names[1]
    for name in names[0]:
        if (one / name).is_file():
            assert filecmp.cmp(one / name, two / name, shallow=False), f"{name} differs in {two}"


def after_colon(result, command):
    return [line.removeprefix(f"saltmill {command}: ") for line in result.stderr.decode().splitlines()]


# --- the same bytes ---

def check_case(seed, folder, program):
    folder.mkdir()
    case = Case(seed, folder)
    h = Halves(folder, program, case.names, *case.options)
    if h.plan("--tune", status=None).returncode not in (0, 3):
        return "nothing to plan"
    one = h.load("--max-rejects", "100%", status=None)
    more = ["--pack"] if seed % 2 else []
    mended = h.map_all(SLICES[seed % len(SLICES)], *more)
    if case.oracle.twins:
        assert one.returncode == 1
        results = h.reduce_all(1, status=None)
        assert results[0].returncode == 4 and b"duplicates: error" in results[0].stderr
        assert case.options[1] != "1" or after_colon(one, "load") == after_colon(results[0], "reduce")
        return "duplicates"
    h.reduce_all(1 + seed % 3, *(["--totals"] if seed % 4 > 1 else []))
    sums = ["--totals", "totals.json"] if seed % 4 == 3 and h.take_totals() else []
    two = h.unite("--max-rejects", "100%", *sums, status=one.returncode)
    assert after_colon(one, "load") == after_colon(two, "load")
    assert_same(folder / "one", folder / "two")
    return "mended" if mended else "rejects" if case.oracle.rejected else "same"


def test_random_jobs_give_the_bytes_of_one_load(tmp_path, saltmill):
    kinds = collections.Counter()
    for seed in SEEDS:
        try:
            kinds[check_case(seed, tmp_path / str(seed), saltmill)] += 1
        except AssertionError as e:
            pytest.fail(f"seed {seed}: {e}", pytrace=False)
        shutil.rmtree(tmp_path / str(seed))
    if len(SEEDS) >= 12:
        assert kinds["mended"] and kinds["rejects"] and kinds["same"], kinds


def inputs_beside(job):
    """Returns the files of the job's own folder that the job names as input. Returns none if the command names the inputs, or if the input is a topic."""
    source = yaml.safe_load(job.read_text()).get("source") or {}
    files = [f for kind in source.values() if isinstance(kind, dict) for f in kind.get("files", [])]
    return files if all((job.parent / f).is_file() for f in files) else []


def test_examples_give_the_bytes_of_one_load(tmp_path, saltmill):
    """Runs all jobs of conf/ whose input exists, in three slices if the input allows slices."""
    whole, cut = [], []
    for job in sorted(CONF.glob("*.yaml")):
        if not inputs_beside(job):
            continue
        folder = tmp_path / job.stem
        shutil.copytree(CONF, folder)
        shutil.copy(job, folder / "job.yaml")
        h = Halves(folder, saltmill, inputs_beside(job))
        h.plan("--tune", status=None)
        one = h.load("--max-rejects", "100%", status=None)
        assert one.returncode in (0, 3), f"{job.name}: {one.stderr.decode()}"
        probe = h.map(0, "probe", "--slice", "1/3", status=None)
        shutil.rmtree(folder / "maps" / "probe", ignore_errors=True)
        assert probe.returncode == 0 or b"--slice: found source.csv.encoding: " in probe.stderr, probe.stderr.decode()
        (cut if probe.returncode == 0 else whole).append(job.stem)
        h.map_all(1 if probe.returncode else 3)
        h.reduce_all(2)
        h.unite("--max-rejects", "100%", status=one.returncode)
        assert_same(folder / "one", folder / "two")
    assert len(cut) >= 10 and len(whole) >= 1, (cut, whole)


# --- small loads that tests damage ---

ROWS = [f"{i % 40},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(400)]


@pytest.fixture
def halves(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    h = Halves(tmp_path, saltmill, ["in.csv"])
    h.plan()
    return h


def refused(result, status, *fragments):
    message = result.stderr.decode()
    assert result.returncode == status, message
    for f in fragments:
        assert f in message, message


def test_pieces_come_by_a_pipe_too_and_by_region(halves):
    halves.load()
    halves.map_all(3)
    created = json.loads(halves.judge().stdout)["created_ms"]
    (halves.folder / "reduces").mkdir()
    for region in range(2):
        pieces = b""
        for name in ("0-2", "0-0", "0-1"):  # in any order
            runs = (halves.folder / "maps" / name / "runs").read_bytes()
            for r in halves.report(name)["tables"][0]["regions"]:
                pieces += runs[r["offset"]:r["offset"] + r["bytes"]] if r["region"] == region else b""
        halves.run("reduce", "-", "--plan", "plan", "--region", region, "--created", created,
                   "-o", f"reduces/{region}", input=pieces)
        short = halves.run("reduce", "-", "--plan", "plan", "--region", region, "--created", created,
                           "-o", "reduces/x", input=pieces[:-5], status=1)
        refused(short, 1, "found the end within a piece")
    halves.unite()
    assert_same(halves.folder / "one", halves.folder / "two")


def test_rejects_are_judged_over_all_slices(halves):
    rows = list(ROWS)
    for i in (30, 170, 390):
        rows[i] = b"bad,1,x\n"
    (halves.folder / "in.csv").write_bytes(HEADER + b"".join(rows))
    shutil.rmtree(halves.folder / "plan")
    halves.plan(status=3)
    halves.map_all(5)
    halves.reduce_all(1)
    for limit in ("0", "2", "0.5%"):
        one = halves.load("--max-rejects", limit, status=1)
        two = halves.unite("--max-rejects", limit, status=4)
        assert after_colon(one, "load") == after_colon(two, "unite")
    halves.load("--max-rejects", "3", status=3)
    halves.unite("--max-rejects", "3", status=3)
    assert_same(halves.folder / "one", halves.folder / "two")
    lines = [json.loads(line)["line"] for line in (halves.folder / "two/rejects.jsonl").read_text().splitlines()]
    assert lines == [32, 172, 392]


def test_a_slice_that_is_missing_twice_or_guessed_wrong_is_told(halves):
    halves.map_all(4)
    shutil.move(halves.folder / "maps/0-2", halves.folder / "away")
    refused(halves.judge(status=4), 4, "are in no slice; map them with --slice =")
    shutil.copytree(halves.folder / "away", halves.folder / "maps/0-2")
    shutil.copytree(halves.folder / "away", halves.folder / "maps/again")
    refused(halves.judge(status=4), 4, ", expected it once; omit one of the two")
    shutil.rmtree(halves.folder / "maps/again")
    shutil.move(halves.folder / "maps/0-3", halves.folder / "end")
    refused(halves.judge(status=4), 4, "are in no slice")
    refused(halves.run("unite", "in.csv", "in.csv", "--plan", "plan", "--maps", "maps", "--maps", "end", "--reduces",
                       "maps", "-o", "two", status=4), 4, "found no map of input 1")
    text = HEADER + b'1,1400000000,"' + b"a\n" * 300 + b'"\n2,1400000001,b\n'
    (halves.folder / "in.csv").write_bytes(text)
    shutil.rmtree(halves.folder / "maps")
    halves.map(0, "a", "--slice", "1/2")
    halves.map(0, "b", "--slice", "2/2")
    r = halves.judge(status=4)
    refused(r, 4, "a line end in quotes", "--slice =")
    asked = r.stderr.decode().split("--slice ")[1].split(",")[0]
    shutil.rmtree(halves.folder / "maps/b")
    halves.map(0, "b", "--slice", asked)
    halves.judge()


def test_what_does_not_belong_together_is_refused(halves):
    halves.map_all(2)
    halves.reduce_all(2)
    shutil.move(halves.folder / "reduces/2", halves.folder / "second")
    refused(halves.unite(status=4), 4, "found no reduce of region 1 of table t, which has rows")
    shutil.copytree(halves.folder / "reduces/1", halves.folder / "reduces/2")
    refused(halves.unite(status=4), 4, "which another reduce also has")
    shutil.rmtree(halves.folder / "reduces/2")
    shutil.move(halves.folder / "second", halves.folder / "reduces/2")
    file = next((halves.folder / "reduces/2/t/hfiles/f").iterdir())
    data = file.read_bytes()
    file.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    refused(halves.unite(status=4), 4, "expected the digest of the report, because the file changed")
    file.write_bytes(data)
    csv = (halves.folder / "in.csv").read_bytes()
    (halves.folder / "in.csv").write_bytes(csv.replace(b"7,1400000007,", b"7,1400000008,"))
    refused(halves.unite(status=1), 1, "the file changed")
    (halves.folder / "in.csv").write_bytes(csv)
    (halves.folder / "job.yaml").write_text(JOB + "# another\n")
    refused(halves.unite(status=2), 2, "found a plan of another job")
    shutil.move(halves.folder / "plan", halves.folder / "before")
    halves.plan()
    refused(halves.unite(status=4), 4, "found a map of another plan or job")
    refused(halves.run("reduce", "maps", "--plan", "plan", "-o", "x", status=4), 4, "found a map of another plan or job")
    assert not (halves.folder / "two").exists() and not (halves.folder / "two.saltmill-partial").exists()


def test_damaged_runs_are_refused_wherever_the_byte_is(halves):
    halves.map_all(1)
    runs = halves.folder / "maps/0-all/runs"
    data = runs.read_bytes()
    for at in [*range(0, 80, 7), 80, len(data) // 2, len(data) - 1]:
        runs.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:])
        r = halves.run("reduce", "maps", "--plan", "plan", "-o", "x", status=None)
        assert r.returncode in (1, 4) and b"runs: " in r.stderr, (at, r.stderr)
        assert not (halves.folder / "x").exists()
    runs.write_bytes(data[:-1])
    refused(halves.run("reduce", "maps", "--plan", "plan", "-o", "x", status=1), 1, "runs")


def test_several_inputs_duplicates_and_settings_of_the_plan(tmp_path, saltmill):
    job = JOB.replace("compression: NONE", "compression: {codec: ZSTD, level: auto, framing: hbase}")
    for keep in ("first", "last", "error"):
        folder = tmp_path / keep
        folder.mkdir()
        (folder / "job.yaml").write_text(job.replace("    timestamp: at\n", f"    timestamp: at\n    duplicates: {keep}\n"))
        one = b"".join(ROWS)
        two = b"".join(f"{i % 40},{1_400_000_000 + i},other{i}\n".encode() for i in range(100, 200))
        (folder / "a.csv.gz").write_bytes(gzip.compress(HEADER + one))
        (folder / "b.csv").write_bytes(HEADER + two)
        h = Halves(folder, saltmill, ["a.csv.gz", "b.csv"])
        if keep == "error":  # plan cannot report duplicate events, either
            h.run("plan", "b.csv", "-o", "plan", "--tune")
            h.map_all(3)
            one, two = h.load(status=1), h.reduce_all(1, status=4)[0]
            assert after_colon(one, "load") == after_colon(two, "reduce")
            continue
        h.plan()
        refused(h.load(status=2), 2, "make the plan with --tune")
        shutil.rmtree(folder / "plan")
        h.plan("--tune")
        h.map_all(3)
        h.load("--max-duplicates", "25%")
        h.reduce_all(2)
        h.unite("--max-duplicates", "25%")
        assert_same(folder / "one", folder / "two")
        manifest = json.loads((folder / "two/manifest.json").read_text())
        assert manifest["tables"][0]["deduplicated"] == 100 and manifest["tables"][0]["tuned"]
        r = h.run("unite", *h.inputs, "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", "three",
                  "--max-duplicates", "10", status=4)
        assert b"a.csv.gz" in r.stderr and b"b.csv" in r.stderr


def test_json_lines_and_a_header_of_its_own(tmp_path, saltmill):
    job = JOB.replace("csv: {files: [in.csv]}", "json: {files: [in.json]}")
    (tmp_path / "job.yaml").write_text(job)
    lines = [json.dumps({"id": i % 9, "at": 1_400_000_000 + i, "value": "é" * (i % 5)}) for i in range(300)]
    (tmp_path / "in.json").write_text("\n".join(lines))
    h = Halves(tmp_path, saltmill, ["in.json"])
    h.plan()
    h.load()
    assert h.map_all(4) == 0
    h.reduce_all(1)
    h.unite()
    assert_same(tmp_path / "one", tmp_path / "two")
    other = tmp_path / "other"
    other.mkdir()
    (other / "job.yaml").write_text(JOB)
    (other / "columns").write_bytes(HEADER)
    (other / "in.csv").write_bytes(b"".join(ROWS))
    h = Halves(other, saltmill, ["in.csv"], "--columns", "columns")
    h.plan()
    h.load()
    h.map_all(3)
    h.options = ()
    h.reduce_all(1)
    h.unite("--columns", "columns")
    assert_same(other / "one", other / "two")


def test_finer_times_are_reported_as_in_one_load(tmp_path, saltmill):
    job = JOB.replace("unit: s", "format: iso8601")
    (tmp_path / "job.yaml").write_text(job)
    rows = [b"%d,2026-11-01T00:00:00.%06d%dZ,v\n" % (i, i, i // 400 if i % 2 else 0) for i in range(800)]
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    h = Halves(tmp_path, saltmill, ["in.csv"])
    h.plan()
    one = h.load()
    h.map_all(3)
    h.reduce_all(1)
    two = h.unite()
    assert after_colon(one, "load") == after_colon(two, "load") == [
        "warning: 200 times have digits after the microseconds, which only cells of text keep; the first is in "
        f"in.csv:403 (byte {len(HEADER) + sum(map(len, rows[:401]))}), field `at`"]


def write_avro(path, rows):
    schema = {"type": "record", "name": "r", "fields": [{"name": n, "type": "string"} for n in ("id", "at", "value")]}
    with open(path, "wb") as f:
        fastavro.writer(f, fastavro.parse_schema(schema), rows, sync_interval=2000)


def write_arrow(path, rows):
    table = pyarrow.Table.from_pylist(rows)
    with pyarrow.OSFile(str(path), "wb") as f, pyarrow.ipc.new_file(f, table.schema) as w:
        w.write_table(table, max_chunksize=64)


@pytest.mark.parametrize("form, write", [("avro", write_avro), ("arrow", write_arrow)])
def test_rejects_of_files_with_blocks(tmp_path, saltmill, form, write):
    """Such rejects have a block and an event, and no line. unite keeps them, within the limit."""
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", f"{form}: {{files: [a, b]}}"))
    bad = {"a": (3, 250), "b": (0, 77, 299)}
    for name, places in bad.items():
        write(tmp_path / name, [{"id": "bad" if i in places else str(i), "at": str(1_400_000_000 + i), "value": "x" * 20}
                                for i in range(300)])
    h = Halves(tmp_path, saltmill, ["a", "b"])
    h.plan(status=3)
    h.map_all(1)
    h.reduce_all(1)
    one, two = h.load("--max-rejects", 4, status=1), h.unite("--max-rejects", 4, status=4)
    assert after_colon(one, "load") == after_colon(two, "unite")
    h.load("--max-rejects", 5, status=3)
    h.unite("--max-rejects", 5, status=3)
    assert_same(tmp_path / "one", tmp_path / "two")
    found = [json.loads(line) for line in (tmp_path / "two/rejects.jsonl").read_text().splitlines()]
    assert [(r["file"], r["event"] - 1) for r in found] == [(n, i) for n in bad for i in bad[n]]
    assert all(r["block"] >= 1 and "line" not in r and r["reason"] == "bad_number" for r in found)
    assert found[1]["block"] > 1


def arrow_stream(rows):
    table = pyarrow.Table.from_pylist(rows)
    out = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(out, table.schema) as w:
        w.write_table(table, max_chunksize=50)
    return out.getvalue().to_pybytes()


def map_twice(folder, saltmill, first, second, *options):
    """Maps both streams as the same input, and combines the report of the first with the rows of the second."""
    (folder / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "arrow: {files: ['-']}"))
    h = Halves(folder, saltmill, [])
    h.run("plan", "-", "-o", "plan", input=arrow_stream(first))
    (folder / "maps").mkdir()
    for name, rows in (("maps/0", first), ("again", second)):
        h.run("map", "-", "--name", "frame/0", "--input", "0", "--plan", "plan", "-o", name, *options,
              input=arrow_stream(rows))
    shutil.move(folder / "maps/0/report.json", folder / "report.json")
    shutil.move(folder / "again/report.json", folder / "maps/0/report.json")
    shutil.move(folder / "again/runs", folder / "maps/0/runs")
    h.reduce_all(1)
    shutil.move(folder / "report.json", folder / "maps/0/report.json")
    size = json.loads((folder / "maps/0/report.json").read_text())["size"]
    (folder / "inputs").write_text(json.dumps({"inputs": [{"path": "frame/0", "size": size}], "digests": []}))
    return h.run("unite", "--inputs", "inputs", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", "two",
                 status=None)


def test_a_map_that_ran_again_with_other_rows(tmp_path, saltmill):
    """The number of rows of each region is the same. unite compares the rows with the report of the map."""
    rows = [{"id": str(i), "at": str(1_400_000_000 + i), "value": f"v{i % 7}"} for i in range(300)]
    reverse, other = rows[::-1], [dict(r) for r in rows]
    other[7]["value"] = "v9"
    for n, (second, options, status) in enumerate((
            (rows, (), 0), (reverse, ("--unordered",), 0), (reverse, (), 4), (other, (), 4),
            (other[::-1], ("--unordered",), 4), (rows[:150] + rows[:1] + rows[151:], ("--unordered",), 4))):
        folder = tmp_path / str(n)
        folder.mkdir()
        r = map_twice(folder, saltmill, rows, second, *options)
        assert r.returncode == status, (n, r.stderr)
        if status:
            refused(r, 4, "table t: found ", "expected the ", "checkpoint()")
            assert not (folder / "two").exists()


def test_totals_in_place_of_slices(halves):
    """unite compares the sums of the regions over all maps. The sums come from the test."""
    h = halves
    h.map_all(3)
    h.reduce_all(2, "--totals")
    for report in h.folder.glob("reduces/*/report.json"):
        for region in json.loads(report.read_text())["tables"][0]["regions"]:
            assert region["slices"] == [] and set(region["total"]) == {"records", "digest"}
    refused(h.unite("--totals", "job.yaml", status=None), 4, "job.yaml")
    totals = h.take_totals()
    path, table = h.folder / "totals.json", totals["tables"][0]
    filled = next(r for r in table["regions"] if r["records"])

    def changed(**how):
        regions = [{**r, **(how if r is filled else {})} for r in table["regions"]]
        path.write_text(json.dumps({"tables": [{**table, "regions": regions}]}))
        return h.unite("--totals", "totals.json", status=None)

    refused(changed(records=filled["records"] + 1), 4, "expected the ", "rows of the maps; reduce the region again")
    refused(changed(digest=filled["digest"] ^ 1), 4, "found other rows than the maps report")
    refused(changed(region=10**6), 4, "found region 1000000 of table", "which the plan lacks")
    path.write_text(json.dumps({"tables": [{**table, "name": "other"}]}))
    refused(h.unite("--totals", "totals.json", status=None), 4, "found table other, expected ")
    refused(h.unite(status=None), 4, "rows of the maps")
    path.write_text(json.dumps(totals))
    h.load()
    h.unite("--totals", "totals.json")
    assert_same(h.folder / "one", h.folder / "two")


def test_totals_beside_regions_are_refused(halves):
    h = halves
    h.map_all(2)
    h.reduce_all(1)
    reports = {p: p.read_text() for p in h.folder.glob("maps/*/report.json")}
    h.take_totals()
    for path, text in reports.items():
        path.write_text(text)
    refused(h.unite("--totals", "totals.json", status=None), 4, "found regions in the report of ", "omit --totals")


def test_a_load_of_one_slice_says_so(halves):
    rows = 0
    for k in (1, 2, 3):
        halves.run("load", "in.csv", "--slice", f"{k}/3", "-o", f"part{k}")
        manifest = json.loads((halves.folder / f"part{k}" / "manifest.json").read_text())
        (entry,) = manifest["inputs"]
        assert entry["bytes"] == entry["slice"]["end"] - entry["slice"]["first"]
        rows += manifest["read"]
    assert rows == len(ROWS)
    for bad in ("5-2", "x", "0/3", "4/3", "=", "1-2-3"):
        refused(halves.run("load", "in.csv", "--slice", bad, "-o", "no", status=2), 2, "--slice: found")


def test_the_example_of_the_guide(halves, saltmill):
    guide = (pathlib.Path(__file__).parents[2] / "conf/guide/spark.md").read_text()
    (block,) = re.findall(r"```sh\n(saltmill plan .*?)```", guide, re.S)
    block = block.replace("conf/ratings.yaml", "job.yaml").replace("ratings.csv", "in.csv")
    shutil.rmtree(halves.folder / "plan")
    links = halves.folder / "bin"
    links.mkdir()
    (links / "saltmill").symlink_to(saltmill)
    r = subprocess.run(["bash", "-ec", block], cwd=halves.folder, capture_output=True, timeout=60,
                       env={**os.environ, "PATH": f"{links}:{os.environ['PATH']}"})
    assert r.returncode == 0 and b"8 maps are complete: 400 events" in r.stdout, r.stderr.decode()
    halves.load()
    assert_same(halves.folder / "one", halves.folder / "night")


def test_a_salt_by_the_line_needs_the_whole_file(halves):
    (halves.folder / "job.yaml").write_text(JOB.replace("{salt: 4, of: [id]}", "{salt: 4, draw: round_robin}"))
    shutil.rmtree(halves.folder / "plan")
    halves.plan()
    refused(halves.map(0, "a", "--slice", "1/2", status=2), 2, "draw: round_robin")
    halves.map_all(1)
    halves.reduce_all(2)
    halves.load()
    halves.unite()
    assert_same(halves.folder / "one", halves.folder / "two")


def test_inputs_without_a_row_and_plans_without_settings(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(HEADER))
    (tmp_path / "b.csv").write_bytes(HEADER)
    (tmp_path / "c.csv").write_bytes(HEADER + b"".join(ROWS))
    (tmp_path / "d.csv").write_bytes(HEADER[:-1])
    h = Halves(tmp_path, saltmill, ["a.csv.gz", "b.csv", "c.csv", "d.csv"])
    h.plan()
    h.load()
    h.map_all(3)
    h.reduce_all(2)
    h.unite()
    assert_same(tmp_path / "one", tmp_path / "two")
    (tmp_path / "e.csv").write_bytes(b"at,id,value\n" + b"".join(ROWS))
    h.run("plan", "c.csv", "--save", "sketch")
    h.run("plan", "e.csv", "--save", "turned")
    h.run("plan", "--from", "sketch", "turned", "-o", "other")
    refused(h.run("map", "c.csv", "--plan", "other", "-o", "no", status=2), 2, "found no settings.json", "--from")


def test_a_map_is_the_same_whatever_threads_and_memory(halves):
    rows = b"".join(f"{i * 7919 % 90000},{1_400_000_000 + i % 977},{'y' * (i % 140)}z\n".encode() for i in range(150000))
    (halves.folder / "in.csv").write_bytes(HEADER + rows)
    shutil.rmtree(halves.folder / "plan")
    halves.plan()
    halves.map(0, "a", "--threads", 1, "--memory", "1G")
    halves.map(0, "b", "--threads", 3, "--memory", "16M")
    assert_same(halves.folder / "maps/a", halves.folder / "maps/b")
    assert any(r["pieces"] > 1 for r in halves.report("a")["tables"][0]["regions"])
    shutil.rmtree(halves.folder / "maps/b")
    halves.load()
    (halves.folder / "reduces").mkdir()
    halves.run("reduce", "maps", "--plan", "plan", "-o", "reduces/all", "--memory", "16M", "--threads", 2)
    halves.unite()
    assert_same(halves.folder / "one", halves.folder / "two")


def test_short_pieces_of_large_maps(tmp_path, saltmill):
    """A reduce merges the pieces of a map as one run, if they are short and the map is not."""
    rows = 60_000
    text = "".join(f"{n * 7919 % 50_000},{n},{n}.5,{1_500_000_000 + n % 5}\n" for n in range(rows))
    (tmp_path / "in.csv").write_text("userId,movieId,rating,timestamp\n" + text)
    job = (CONF / "ratings.yaml").read_text().replace("count: 16", "count: 40").replace(
        "      - {field: movieId, as: u32}  # distinguishes two ratings in one second\n", "").replace(
        "    regions:", "    duplicates: last\n    regions:")
    (tmp_path / "job.yaml").write_text(job)
    h = Halves(tmp_path, saltmill, ["in.csv"])
    h.plan()
    h.load()
    assert json.loads((tmp_path / "one/manifest.json").read_bytes())["tables"][0]["deduplicated"] > 0
    h.map_all(3)
    (tmp_path / "reduces").mkdir()
    for memory, threads in (("16M", 1), ("16M", 3), ("1G", 2)):
        h.run("reduce", "maps", "--plan", "plan", "-o", "reduces/all", "--memory", memory, "--threads", threads)
        h.run("unite", "in.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", "two")
        assert_same(tmp_path / "one", tmp_path / "two")
        for folder in ("reduces/all", "two"):
            shutil.rmtree(tmp_path / folder)


def test_slices_smaller_than_a_row_and_without_any(tmp_path, saltmill):
    """100 slices have 30 rows in total, with CRLF, a row of several slices, and no line end at the end. In most slices
    no row starts."""
    rows = [f"{i % 7},{1_400_000_000 + i},{'x' * (i % 7 * 3 + 1)}\r\n".encode() for i in range(30)]
    rows[11] = b"3,1400000011," + b"y" * 90 + b"\r\n"
    rows[20] = b"bad,1,x\r\n"
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "in.csv").write_bytes(HEADER.replace(b"\n", b"\r\n") + b"".join(rows)[:-2])
    h = Halves(tmp_path, saltmill, ["in.csv"])
    h.plan(status=3)
    h.load("--max-rejects", 1, status=3)
    assert h.map_all(100) == 0
    assert sum(h.report(f"0-{k}")["read"] == 0 for k in range(100)) >= 70
    h.reduce_all(3)
    h.unite("--max-rejects", 1, status=3)
    assert_same(tmp_path / "one", tmp_path / "two")


def test_halves_cut_at_the_regions_that_a_table_has(halves):
    keys = ["\\x00\\x00\\x00\\x00\\x08", "\\x02", "\\x03\\x00\\x00\\x00\\x0B"]
    (halves.folder / "live.txt").write_text(f"Total number of splits = {len(keys) + 1}\n" + "\n".join(keys) + "\n")
    shutil.rmtree(halves.folder / "plan")
    halves.plan("--existing", "live.txt")
    assert (halves.folder / "plan/t/splits.txt").read_text().split() == keys
    halves.map_all(3)
    halves.reduce_all(3)
    halves.unite()
    halves.load()
    assert_same(halves.folder / "one", halves.folder / "two")
    halves.run("load", "in.csv", "--existing", "live.txt", "-o", "three")
    assert_same(halves.folder / "one/t", halves.folder / "three/t")
    refused(halves.run("load", "in.csv", "--existing", "live.txt", "--plan", "plan", "-o", "no", status=2), 2,
            "--plan: found --existing too, expected only one of them")


def test_files_are_copied_to_another_disk(halves, disk_of):
    disk = disk_of(16)
    halves.map_all(2)
    halves.reduce_all(2)
    halves.load()
    halves.run("unite", "in.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", disk / "two")
    assert_same(halves.folder / "one", disk / "two")
    file = next((disk / "two/t/hfiles/f").iterdir())
    assert file.stat().st_nlink == 1


# --- HFiles that reduces send to the load's own storage ---

def send(tmp_path, saltmill, to, *options):
    """Two tables, two maps, and reduces that sent their HFiles. No HFile remains beside their reports."""
    job = JOB + JOB[JOB.index("  - name: t"):].replace("name: t", "name: ns:other")
    (tmp_path / "job.yaml").write_text(job)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(b"%d,1400000000,x%d\n" % (i % 90, i) for i in range(300)))
    h = Halves(tmp_path, saltmill, ["in.csv"])
    h.plan("--tune")
    h.load()
    h.map_all(2)
    h.reduce_all(2, "--hfiles", to, *options)
    for hfiles in tmp_path.glob("reduces/**/hfiles"):
        shutil.rmtree(hfiles)
    return h


@pytest.fixture
def sent(tmp_path, saltmill):
    (tmp_path / "sent").mkdir()
    return send(tmp_path, saltmill, tmp_path / "sent")


@pytest.fixture
def place():
    p = Place()
    yield p
    p.close()


def test_hfiles_that_are_sent(sent):
    """Another attempt sends the same files. unite takes all files from there."""
    waiting = sorted(p.name for p in (sent.folder / "sent").iterdir())
    assert len(waiting) == 4 and not any(name.startswith(".") for name in waiting)
    sent.run("reduce", "maps", "--plan", "plan", "--share", "1/2", "-o", "again", "--hfiles", sent.folder / "sent")
    assert sorted(p.name for p in (sent.folder / "sent").iterdir()) == waiting
    sent.unite("--hfiles", sent.folder / "sent")
    assert_same(sent.folder / "one", sent.folder / "two")
    assert list((sent.folder / "sent").iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_hfiles_that_were_sent_and_are_not_there(sent, damage):
    victim = sorted((sent.folder / "sent").iterdir())[1]
    data = victim.read_bytes()
    victim.unlink()
    if damage == "cut":
        victim.write_bytes(data[:-1])
    r = sent.unite("--hfiles", sent.folder / "sent", status=4)
    what = "of another length" if damage == "cut" else "not there"
    assert f"{victim}: is {what}, expected the file of {len(data)} bytes" in r.stderr.decode()
    assert not (sent.folder / "two").exists()


REFUSED = [(("--max-duplicates", "0"), 4, "expected at most 0 (--max-duplicates)"), (("--min-rows", "91"), 4, "--min-rows")]


@pytest.mark.parametrize("options, status, said", REFUSED)
def test_what_was_sent_outlives_a_refusal(sent, options, status, said):
    """unite checks the limits before it moves the first file, because no other copy of these files exists."""
    waiting = sorted(p.name for p in (sent.folder / "sent").iterdir())
    assert said in sent.unite("--hfiles", sent.folder / "sent", *options, status=status).stderr.decode()
    assert sorted(p.name for p in (sent.folder / "sent").iterdir()) == waiting
    sent.unite("--hfiles", sent.folder / "sent", "--max-duplicates", "80%")
    assert_same(sent.folder / "one", sent.folder / "two")


def test_what_was_sent_outlives_a_failure_and_a_kill(sent):
    """After the first move, a file is missing, or the process dies."""
    folder = sent.folder / "sent"
    waiting = sorted(p.name for p in folder.iterdir())
    for victim in waiting[0], waiting[-1]:
        (folder / victim).rename(sent.folder / "aside")
        assert b"not there" in sent.unite("--hfiles", folder, status=4).stderr
        (sent.folder / "aside").rename(folder / victim)
        assert sorted(p.name for p in folder.iterdir()) == waiting
        assert not list(sent.folder.glob("two*"))
    for _ in range(2):  # the second run finds the first run's leftovers, and dies too
        sent.unite("--hfiles", folder, status=-9, env={**os.environ, "SALTMILL_CRASH_AT": "described"})
        assert list(folder.iterdir()) == []
    sent.unite("--hfiles", folder)
    assert_same(sent.folder / "one", sent.folder / "two")
    assert list(folder.iterdir()) == [] and not list(sent.folder.glob("two.*"))


def test_what_was_sent_to_hdfs(tmp_path, saltmill, place):
    """unite first fails, then dies after it moved the files, and dies again while it sets the leftovers of that run aside. In
    HDFS no file has two names."""
    place.tree.nodes["/x/sent"] = place.tree.node("ann", "755")
    h = send(tmp_path, saltmill, place.url("/x/sent"), "--hdfs-user", "ann")
    waiting = place.names("/x/sent")

    def unite(*args, **kw):
        return h.run("unite", "in.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o",
                     place.url("/x/out"), "--hfiles", place.url("/x/sent"), "--hdfs-user", "ann", *args, **kw)

    assert len(waiting) == 4
    unite("--max-duplicates", "0", status=4)
    assert place.names("/x/sent") == waiting and place.names("/x") == ["sent"]
    unite(status=-9, env={**os.environ, "SALTMILL_CRASH_AT": "described"})
    assert place.names("/x/sent") == [] and place.names("/x") == ["out.saltmill-partial", "sent"]
    for path in list(place.tree.nodes):  # the state after a death between the two steps of the removal
        place.tree.nodes[path.replace("saltmill-partial", "saltmill-partial-removed")] = place.tree.nodes.pop(path)
    place.tree.nodes["/x/out.saltmill-partial"] = place.tree.node("ann", "755")
    unite("--max-duplicates", "80%")
    assert place.names("/x/sent") == [] and place.names("/x") == ["out", "sent"]
    assert place.files("/x/out") == {str(p.relative_to(tmp_path / "one")): p.read_bytes()
                                     for p in (tmp_path / "one").rglob("*") if p.is_file()}


def test_what_was_sent_to_hdfs_outlives_a_signal(tmp_path, saltmill, place, monkeypatch):
    """The signal arrives while unite moves the second file. The moved files go back before unite removes the folder."""
    place.tree.nodes["/x/sent"] = place.tree.node("ann", "755")
    send(tmp_path, saltmill, place.url("/x/sent"), "--hdfs-user", "ann")
    waiting, moved = place.names("/x/sent"), []
    server = place.servers[0].RequestHandlerClass
    rename = server.rename

    def stop_at_the_second(self, path, query):
        answer = rename(self, path, query)
        moved.append(path)
        if len(moved) == 2:
            p.send_signal(signal.SIGTERM)
            time.sleep(1.5)  # the program checks for signals at least once a second
        return answer

    monkeypatch.setattr(server, "rename", stop_at_the_second)
    p = subprocess.Popen([saltmill, "unite", "job.yaml", "in.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces",
                          "-o", place.url("/x/out"), "--hfiles", place.url("/x/sent"), "--hdfs-user", "ann", "--quiet",
                          "--threads", "1"], cwd=tmp_path, stderr=subprocess.PIPE)
    _, err = p.communicate(timeout=30)
    assert p.returncode == 143 and len(moved) == 4, err
    assert place.names("/x/sent") == waiting and place.names("/x") == ["sent"]


def test_sent_to_another_place_than_the_load_goes_to(sent):
    """unite reports files that it cannot move before it reads any input."""
    for hfiles, out in ((sent.folder / "sent", "webhdfs://127.0.0.1:1/x/out"),
                        ("webhdfs://127.0.0.1:1/x/sent", "two"),
                        ("webhdfs://127.0.0.1:1/x/sent", "webhdfs://127.0.0.1:2/x/out")):
        r = sent.run("unite", "in.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", out,
                     "--hfiles", hfiles, "--hdfs-patience", "1s", status=2)
        refused(r, 2, f"--hfiles: found {hfiles}, expected a folder in the same storage as {out}")
    assert len(list((sent.folder / "sent").iterdir())) == 4


def test_nothing_is_sent_to_a_load_that_is_over(sent):
    """unite does not create the folder again."""
    r = sent.run("reduce", "maps", "--plan", "plan", "--share", "1/2", "-o", "late", "--hfiles", sent.folder / "over",
                 status=1)
    assert "over: found no such folder, because the load of this reduce has already ended" in r.stderr.decode()
    assert not (sent.folder / "over").exists() and not (sent.folder / "late").exists()


def test_one_slice_of_one_draws_as_the_whole(saltmill, tmp_path):
    """`--slice 1/1` knows the line numbers that `draw: round_robin` uses."""
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}}
tables:
  - name: t
    rowkey: [{salt: 4, draw: round_robin}, {field: id, as: u32}]
    timestamp: 1700000000000
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: none}
""")
    (tmp_path / "in.csv").write_text("id,v\n" + "".join(f"{i},v\n" for i in range(100)))

    def keys(*args):
        out = args[-1]
        done = subprocess.run([saltmill, "load", "job.yaml", *args[:-1], "-o", out, "--quiet"], cwd=tmp_path, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        return subprocess.run([saltmill, "scan", "job.yaml", out], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert keys("whole") == keys("in.csv", "--slice", "1/1", "slice")
