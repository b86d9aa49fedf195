"""Tests parts of a load by Spark that need no Spark, such as folders and locks, shipped files, and messages."""

import fractions
import importlib
import os
import random
import re
import subprocess
import sys
import threading
import types
import zipfile
import zipimport

import pytest

import needs_pyspark  # noqa: F401  (before what imports pyspark)

import pyarrow.fs  # noqa: E402
from spark_rig import assert_nothing  # noqa: E402

import saltmill  # noqa: E402
import saltmill.spark  # noqa: E402
from saltmill import native, stages, staging, tasks, totals  # noqa: E402
from saltmill.inputs import Input, Slice, bounds_by_quotes, edge_of  # noqa: E402


def test_writes_that_take_a_part():
    """Each write to an unbuffered pipe returns the number of bytes that it took."""
    class Pipe:
        got = b""

        def write(self, view):
            self.got += bytes(view[:3])
            return len(view[:3])

        def close(self):
            self.closed = True

    process = types.SimpleNamespace(stdin=Pipe())
    native.feed(process, [b"0123456789", b"", memoryview(b"abcd")])
    assert process.stdin.got == b"0123456789abcd" and process.stdin.closed


def test_sums_of_regions():
    """Random reports, added in groups, against sums of one number at a time."""
    draw = random.Random(8)
    setting = types.SimpleNamespace(regions=(("a", 5), ("ns:b", 3)), partitions=8,
                                    partition_of=lambda table, region: 5 * table + region)
    expected, lanes = {}, []
    for _ in range(100):
        tables = [{"regions": []}, {"regions": []}]
        for table, region in sorted(draw.sample([(t, r) for t, n in ((0, 5), (1, 3)) for r in range(n)], draw.randrange(8))):
            r = {"region": region, "records": draw.randrange(1, 1 << 40), "pieces": draw.randrange(1, 99), "offset": 7,
                 "bytes": draw.randrange(1 << 50), "digest": draw.choice([-2**63, 2**63 - 1, -1, draw.randrange(-2**63, 2**63)])}
            tables[table]["regions"].append(r)
            sums = expected.setdefault((table, region), [0, 0, 0, 0])
            for i, key in enumerate(("records", "pieces", "bytes", "digest")):
                sums[i] += r[key]
        lanes.append(totals.lanes_of(setting, {"tables": tables}))
    total = totals.added([totals.added(lanes[:33]), totals.added(lanes[33:34]), totals.added(memoryview(x) for x in lanes[34:])])
    got = {(t, r["region"]): r for t, table in enumerate(totals.tables_of(setting, total)["tables"]) for r in table["regions"]}
    assert {k: [r["records"], r["pieces"], r["bytes"], r["digest"] % 2**64] for k, r in got.items()} == \
        {k: [*sums[:3], sums[3] % 2**64] for k, sums in expected.items()}
    assert all(-2**63 <= r["digest"] < 2**63 for r in got.values())
    assert totals.rows_of(total) == [sum(s[0] for s in expected.values()), sum(s[3] for s in expected.values()) % 2**64]


# --- thousands of slices ---

class Work:
    """Counts the operations of Python in the package inside a `with` block, whatever else the machine does."""

    def __enter__(self):
        self.operations, self.folder = 0, os.path.dirname(stages.__file__)
        sys.settrace(self.enter)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def enter(self, frame, *_):
        if not frame.f_code.co_filename.startswith(self.folder):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.step

    def step(self, frame, event, _):
        self.operations += event == "opcode"
        return self.step


def report_of(s):
    """Returns the report of a map. Slices with an odd place begin at a line end inside quotes, until they have bounds."""
    start, end = (int(x) for x in re.findall(r"(\d+)=?(?:\d*)-(\d+)", s.bounds)[0])
    first = int(s.bounds.split("=")[1].split("-")[0]) if "=" in s.bounds else start and start + 5 - start // 100 % 2
    return {"first": first, "end": min(end + 5, 1000), "from": start, "to": end, "head": 0, "size": 1000, "quote": '"',
            "summed": True, "whole": False, "rows": [1, 2], "tables": [], "seconds": 0}


def work_of_the_driver(monkeypatch, folder, files):
    """Returns the operations of the driver for 10 slices in each file, of which 5 are mapped again."""
    inputs = [Input(n, str(n), str(n), 1000, False) for n in range(files)]
    sent = []
    request = types.SimpleNamespace(name_of_job="job", frame=None, counts=None, filesystem=None, inputs=inputs)
    request.sc = types.SimpleNamespace(accumulator=lambda *_: None, setLocalProperty=lambda *_: None,
                                       parallelize=lambda items, _: sent.append(items) or request.sc,
                                       mapPartitions=lambda _: request.sc)
    setting = tasks.Setting("", "", "job.yaml", {}, "1M", 1, regions=(("t", 3),), adders=2)

    def run_job(_, __, partitions, ___, what):
        if what == "saltmill quotes job":
            return [saltmill.inputs.Edge(2 * (start and start + 5,), False)
                    for start in (int(s.bounds.split("-")[0]) for s in sent[-1])]
        if what == "saltmill totals job":
            return [totals.LANES.pack(10 * files, 1, 1, 20 * files) + bytes(2 * totals.LANES.size)]
        assert what == "saltmill map job" and partitions == [setting.reports]
        return [tasks.report_bytes(s.number, report_of(s), b"") for group in sent[-1] for s in group]

    with monkeypatch.context() as m:
        m.setattr(stages, "run_job", run_job)
        m.setattr(stages, "shuffle", lambda *_: None)
        m.setattr(stages, "received", lambda *_: request.sc)
        with Work() as work:
            maps = stages.Maps(request, types.SimpleNamespace(value=setting), folder / "maps",
                               saltmill.inputs.cut(inputs, 10 * files, True))
            maps.run()
            maps.add_up()
            saltmill.spark.inputs_of_unite(request, setting, maps)
    assert len(maps.slices) == 10 * files and maps.mended == 5 * files and len(list((folder / "maps").iterdir())) == 10 * files
    return work.operations


def test_work_of_the_driver_grows_with_the_slices(tmp_path, monkeypatch):
    """Each slice costs the same, with any number of slices and files."""
    few, many = (work_of_the_driver(monkeypatch, tmp_path / str(n), n) for n in (4, 20))
    assert few > 40 * 100 and many < 5.2 * few, (few, many)


# --- the folder beside the output ---

def no_space(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("broken", ["tempfile.mkdtemp", "os.fsync", "os.chmod"])
def test_a_lock_that_was_taken_in_vain(tmp_path, monkeypatch, broken):
    """A second lock gives an error at once, also in the same process."""
    module, function = broken.split(".")
    with monkeypatch.context() as m:
        m.setattr(getattr(staging, module), function, no_space)
        with pytest.raises(saltmill.JobError, match="two.saltmill-spark: No space left on device"):
            staging.Staging(tmp_path / "two", "app").__enter__()
    assert_nothing(tmp_path)
    with staging.Staging(tmp_path / "two", "app") as s:
        assert s.run.is_dir()
    assert_nothing(tmp_path)


def test_what_dead_runs_left(tmp_path, monkeypatch):
    """Removes folders, plain files and links. The driver renames a folder that it cannot remove."""
    folder = tmp_path / "two.saltmill-spark"
    (folder / "run-old" / "files").mkdir(parents=True)
    (folder / ".run-older.gone" / "files").mkdir(parents=True)
    (folder / "core").write_text("dumped")
    (folder / "link").symlink_to(tmp_path)
    with staging.Staging(tmp_path / "two", "app") as s:
        assert {p.name for p in folder.iterdir()} == {"lock", s.run.name}
        monkeypatch.setattr(staging.shutil, "rmtree", lambda *_, **__: None)
        name = s.run.name
    assert [p.name for p in folder.iterdir()] == [f".{name}.gone"]
    monkeypatch.undo()
    with staging.Staging(tmp_path / "two", "app"):
        pass
    assert_nothing(tmp_path)


def test_what_the_system_refuses_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(saltmill.spark, "request_of", lambda *_, **__: types.SimpleNamespace(program="saltmill"))
    monkeypatch.setattr(saltmill.spark, "owner_of", lambda _: ("app", None))
    monkeypatch.setattr(saltmill.spark, "setting_of", no_space)
    session = types.SimpleNamespace(sparkContext=types.SimpleNamespace(_jsc="running"))
    with pytest.raises(saltmill.JobError, match="two: No space left on device"):
        saltmill.spark.load(session, [], "job.yaml", tmp_path / "two", threads=1)
    assert_nothing(tmp_path)
    with pytest.raises(saltmill.JobError, match="job.yaml: No space left on device"):
        saltmill.spark.plan(session, [], "job.yaml")


def test_folders_of_tasks(tmp_path):
    """The driver removes folders of dead processes, unless other processes have their numbers, for example in another
    namespace."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    mine = os.stat("/proc/self/ns/pid").st_ino
    names = [f"saltmill-{mine}-{dead.pid}-a", f"saltmill-{mine}-1-b", f"saltmill-{mine + 1}-{dead.pid}-c",
             f"saltmill-{dead.pid}-d"]
    for name in names:
        (tmp_path / name).mkdir()
    tasks.sweep(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names[1:])


# --- arguments, and shipped files ---

def test_limits():
    for good in (0, 7, "7", "0%", "0.5%", "100%"):
        assert saltmill.spark.limit_option("--max-rejects", good) == ["--max-rejects", str(good)]
    for bad in ("x", -1, "", "1.5", "100.1%", "1000%"):
        with pytest.raises(saltmill.JobError, match=f"--max-rejects: found `{bad}`, expected a number or a share"):
            saltmill.spark.limit_option("--max-rejects", bad)


def test_a_folder_that_is_no_plan(tmp_path):
    for folder in (tmp_path, tmp_path / "no"):
        with pytest.raises(saltmill.JobError, match=f"^{folder}: found no settings.json, expected a folder of"):
            stages.regions_of_plan(folder)


CODES = """\
fields:
  a: {codes: plain.csv, unknown: x}
  b: {codes: "with blank.csv"}
  c: {unknown: x, "codes": 'it''s.csv'}
  d:
    codes: no quotes, blank.csv  # as YAML has it
  e: {codes: sub/../plain.csv}
  f: {codes: {plain.csv: 1, DE: 2}}
  g: {codes: no-such.csv}
  # h: {codes: ../above.csv}
"""


def test_files_of_codes(tmp_path):
    """The driver ships all files that the job names. The driver refuses a file that tasks could not find."""
    (tmp_path / "job" / "sub").mkdir(parents=True)
    (tmp_path / "above.csv").write_text("A,1\n")
    job, shipped = tmp_path / "job" / "job.yaml", ["plain.csv", "with blank.csv", "it's.csv", "no quotes, blank.csv"]
    for name in shipped:
        (tmp_path / "job" / name).write_text(f"{name},1\n")
    job.write_text(CODES)
    files = stages.files_of_job(job)
    assert set(files) == {f"job/{name}" for name in ["job.yaml", "sub/../plain.csv", *shipped]}
    assert files["job/it's.csv"] == b"it's.csv,1\n"
    job.write_text(f"fields: {{a: {{codes: {tmp_path}/above.csv}}}}\n")
    assert set(stages.files_of_job(job)) == {"job/job.yaml"}, "a file of all machines must not be shipped"
    for climbs in ("../above.csv", "sub/../../above.csv"):
        job.write_text(f"fields: {{a: {{codes: {climbs}}}}}\n")
        with pytest.raises(saltmill.JobError, match=f"job.yaml: codes: found {climbs} outside the job's folder"):
            stages.files_of_job(job)


# --- slices that begin inside quotes ---

def slices_of(data, n):
    given = Input(0, "x", "x", len(data), False)
    return [Slice(k, given, f"{len(data) * k // n}-{len(data) * (k + 1) // n}") for k in range(n)]


def test_quotes_find_the_rows_of_each_slice():
    """Each slice begins with the first row that begins in it, or is empty, for pieces of any size."""
    rng, checked = random.Random(1), 0
    values = ["a", "", '"x,y"', '"two\nlines"', '"q""uote\n\n"', '"' + "\n" * 7 + '"']
    for _ in range(500):
        rows = [",".join(rng.choices(values, k=3)).encode() + b"\n" for _ in range(rng.randrange(1, 12))]
        data, starts = b"".join(rows), [sum(map(len, rows[:n])) for n in range(len(rows))]
        slices, edges = slices_of(data, rng.randrange(2, 9)), []
        for s in slices:
            start, end = map(int, s.bounds.split("-"))
            at, step = max(start - 1, 0), rng.randrange(1, 7)
            edges.append(edge_of((data[p:p + step] for p in range(at, len(data), step)), at, end, b'"'))
        for s, bounds in zip(slices, bounds_by_quotes(slices, edges)):
            start, end = map(int, s.bounds.split("-"))
            if start > 0:
                assert bounds == f"{start}={next((x for x in starts if x >= start), len(data))}-{end}", (data, s)
                checked += 1
    assert checked > 1000


# --- a canceled Spark job ---

def test_an_interrupted_job_is_cancelled(monkeypatch):
    cancelled = threading.Event()
    groups = []

    class Context:
        def setJobGroup(self, group, *_, **__):
            groups.append(group)

        def setLocalProperty(self, *_):
            pass

        def runJob(self, *_):
            cancelled.wait(20)

        def cancelJobGroup(self, group):
            groups.append(group)
            cancelled.set()

    class Faults:
        asked = 0

        @property
        def value(self):
            self.asked += 1
            if self.asked > 1:
                raise KeyboardInterrupt
            return []

    monkeypatch.setattr(stages, "InheritableThread", threading.Thread)
    with pytest.raises(KeyboardInterrupt):
        stages.run_job(types.SimpleNamespace(sc=Context()), object(), None, Faults(), "saltmill map job")
    assert cancelled.is_set() and len(groups) == 2 and groups[0] == groups[1]


def test_archives_are_not_read_anew_for_each_task(tmp_path, monkeypatch):
    """Works as Python does from 3.10 on. Python still finds the classes in the files."""
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as z:
        for name in ("__init__", "one", "two"):
            z.writestr(f"in_some_zip/{name}.py", f"IS = '{name}'")
    read = []
    monkeypatch.syspath_prepend(str(tmp_path / "some.zip"))
    importlib.import_module("in_some_zip.one")
    monkeypatch.setattr(zipimport, "_read_directory", lambda path, real=zipimport._read_directory:
                        read.append(path) or real(path))
    importlib.invalidate_caches()
    assert str(tmp_path / "some.zip") in read or sys.version_info < (3, 10)
    tasks.forget_archives()
    read.clear()
    importlib.invalidate_caches()
    assert read == []
    assert importlib.import_module("in_some_zip.two").IS == "two"


# --- limits, and their messages ---

def test_limits_are_those_of_the_program():
    """The share of the events is exact, because 29% of 100 is a little less than 29 as a double."""
    for percent in [*range(101), "0.1", "2.5", "33.3", "99.9"]:
        share = fractions.Fraction(str(percent)) / 100
        for read in range(301):
            allowed = int(share * read)
            assert not saltmill.spark.too_many(f"{percent}%", allowed, read), (percent, read)
            assert saltmill.spark.too_many(f"{percent}%", allowed + 1, read), (percent, read)
    assert not saltmill.spark.too_many("7", 7, 10) and saltmill.spark.too_many("7", 8, 10)


def joined(monkeypatch, folder, files, filesystem=None, meanwhile=lambda: None, manifest="{}"):
    """Runs the driver's part without a shuffle, as two loads with an event between. Records the program's calls."""
    called = []
    for part in ("a", "b"):
        (folder / part).mkdir()
        (folder / part / "manifest.json").write_text('{"read": 1, "rejected": 0}')

    def load_all(*_):
        meanwhile()
        return [folder / "a", folder / "b"]

    monkeypatch.setattr(saltmill.spark, "load_all", load_all)
    inputs, filesystem = saltmill.inputs.list_inputs(files, filesystem)
    request = types.SimpleNamespace(inputs=inputs, filesystem=filesystem, native=lambda *a, **_: called.append(a[0]))
    place = types.SimpleNamespace(run=folder, out=folder / "out")
    write_manifest(place.out, manifest)
    try:
        saltmill.spark.join(request, None, [1, 2], place, ["--max-rejects", "0"], {})
    except saltmill.JobError as e:
        return called, str(e)
    return called, None


def replaced(path):
    path.with_name("new").write_bytes(path.read_bytes())
    os.utime(path.with_name("new"), (5, 5))
    path.with_name("new").rename(path)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("change", [None, replaced, lambda path: path.write_text("b"), lambda path: path.unlink(),
                                    lambda path: path.write_text("ab")])
def test_an_input_that_is_replaced_between_its_slices(tmp_path, monkeypatch, change, far):
    """Each load is separate. Only the caller knows that the loads belong to two files."""
    path = tmp_path / "in.csv"
    path.write_text("a")
    os.utime(path, (5, 5))
    called, said = joined(monkeypatch, tmp_path, [path], pyarrow.fs.LocalFileSystem() if far else None,
                          lambda: change and change(path))
    # an object store has no inodes
    if change and not (far and change is replaced):
        assert called == [] and said.startswith(f"{path}: found another size, time or inode") or "No such file" in said
    else:
        assert called == ["unite"] and said is None


def write_manifest(folder, text):
    folder.mkdir(exist_ok=True)
    if text:
        (folder / "manifest.json").write_text(text)


@pytest.mark.parametrize("manifest, why", [(None, ".*/manifest.json: No such file"), ("{", "Expecting")])
def test_what_fails_behind_the_rename_says_that_it_is_published(tmp_path, monkeypatch, manifest, why):
    (tmp_path / "in.csv").write_text("a")
    called, said = joined(monkeypatch, tmp_path, [tmp_path / "in.csv"], manifest=manifest)
    assert called == ["unite"] and re.match(f"published as {tmp_path}/out, but {why}", said)

    class Mapped:
        def __init__(self, request, shared, folder, slices):
            self.slices, self.reports, self.folder, self.mended = slices, {0: {"rejected": 0, "read": 1, "seconds": 0, "whole": True}}, folder, 0
            self.totals = folder / "totals.json"

        def run(self):
            pass

        def report_of(self, s):
            return self.reports[s.number]

        def add_up(self):
            return {"tables": []}

    def native(command, *args, **_):
        called.append(args[-1])
        return types.SimpleNamespace(printed='{"created_ms": 0}')

    monkeypatch.setattr(saltmill.spark, "Maps", Mapped)
    monkeypatch.setattr(saltmill.spark, "reduce_all", lambda *_: [{"seconds": 0}])
    setting = tasks.Setting("", "", "job.yaml", {}, "1M", 1)
    request = types.SimpleNamespace(sc=types.SimpleNamespace(broadcast=lambda x: x), native=native, frame=None,
                                    filesystem=None, inputs=[])
    place = types.SimpleNamespace(run=tmp_path, out="hdfs://nn/out", place=())
    write_manifest(tmp_path, manifest)
    with pytest.raises(saltmill.JobError, match=f"^published as hdfs://nn/out, but {why}"):
        saltmill.spark.map_and_reduce(request, setting, [types.SimpleNamespace(number=0, input=0)], place, "plan",
                                      ["--max-rejects", "0"], {})
    assert called[-1] == "--quiet"
