"""The code on executors.  Each task is one map or one reduce, which runs the native program.

After a temporary failure (a full disk, a killed process) the task raises an exception, and Spark retries it.  If the
same input would fail again, the task returns the failure as a value.  The driver then stops at once and reports the
failure. Tasks make folders only in the temporary space of the executor.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import pickle
import shutil
import struct
import sys
import tempfile
import time
import zipimport

from pyspark import AccumulatorParam, SparkFiles, TaskContext

from . import native
from .inputs import edge_of, feed_of, read_from, read_head
from .totals import added, lanes_of, rows_of

END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # end mark of Arrow IPC
HEAD = struct.Struct("<I")  # number of the attempt, before its pieces
PIECE_HEAD_BYTES = 96  # pipeline/load/map_reduce/pieces.h
PIECE_STORED = struct.Struct("<64xQ16x")
CHUNK_BYTES = 1 << 20  # a chunk has as many whole pieces as fit; a single piece has up to 4 MiB
KEPT = ("--plan", "plan", "-o", "out")
COUNTS = struct.Struct("!16s4q")  # read by counts.py: COUNTS_MARK, bytes and rows read, bytes and rows written
COUNTS_MARK = b"saltmill counts\0"
SAID = "saltmill said: "  # before the message in the text of an exception


class Failed(Exception):
    """A temporary failure of the program."""

    def __init__(self, sentence):
        super().__init__(SAID + json.dumps(sentence))


@dataclasses.dataclass(frozen=True)
class Setting:
    """The settings and files of all tasks of a load."""

    program: str  # name of the program among the files of the application
    digest: str
    job: str  # path as the caller gave it
    files: dict  # bytes by relative path: the job, its codes files, the plan
    memory: str
    threads: int
    regions: tuple = ()  # (name of the table, number of its regions)
    stage: str = ""  # folder for finished HFiles
    place: tuple = None  # options of the program that sends HFiles to HDFS or S3, or None
    filesystem: object = None  # file system of pyarrow for the inputs; None if the program opens the inputs
    created_ms: int = -1
    adders: int = 1  # number of tasks that add the maps' regions up
    counts: bool = False  # the driver has the function of counts.py
    unordered: bool = False  # another computation of a slice may give its rows in another order
    tokens: bytes = dataclasses.field(default=b"", repr=False)  # secret; the file of tokens of the driver's login

    @property
    def partitions(self):
        return sum(n for _, n in self.regions)

    @property
    def reports(self):
        """The partition of the maps' reports.  The partitions of the adders come after it."""
        return self.partitions

    def adder_of(self, number):
        return self.reports + 1 + number % self.adders

    def partition_of(self, table, region):
        return sum(n for _, n in self.regions[:table]) + region

    def region_of(self, partition):
        for table, (name, n) in enumerate(self.regions):
            if partition < n:
                return table, name, partition
            partition -= n
        raise IndexError(partition)


class Noted(AccumulatorParam):
    """A list to which tasks add items.  A retried task may add an item twice."""

    def zero(self, value):
        return []

    def addInPlace(self, one, more):
        one.extend(more)
        return one


# --- the folder of a task ---

def local_folder():
    """Return the temporary folder of this executor.  With several disks, tasks take them in turns."""
    dirs = os.environ.get("LOCAL_DIRS") or os.environ.get("SPARK_LOCAL_DIRS") or tempfile.gettempdir()
    dirs = dirs.split(",")
    return pathlib.Path(dirs[TaskContext.get().taskAttemptId() % len(dirs)])


def own_prefix():
    """Return the prefix of folders of this PID namespace, because containers may share a disk."""
    return f"saltmill-{os.stat('/proc/self/ns/pid').st_ino}-"


def sweep(folder):
    """Remove the folders of killed tasks of this executor."""
    for left in folder.glob(own_prefix() + "*"):
        pid = left.name.split("-")[2]
        if pid == str(os.getpid()) or not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def own_folder(setting):
    """Make a folder with the job and the plan for one task."""
    forget_archives()
    parent = local_folder()
    sweep(parent)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{own_prefix()}{os.getpid()}-", dir=parent))
    try:
        for name, data in setting.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_judged = {}  # digests of programs by path; each Python worker computes them once


def program_of(setting):
    """Return (path, None), or (None, message) if the program differs from the driver's."""
    path = SparkFiles.get(setting.program)
    if path not in _judged:
        os.chmod(path, 0o755)
        _judged[path] = native.digest_of(path)
    if _judged[path] != setting.digest:
        return None, f"{path}: found another saltmill than the driver's, expected the same program on all machines"
    return path, None


def forget_archives():
    """Remove the importers of Spark's archive from the import cache.

    When a worker takes a task, Python from 3.10 on reads the directory of pyspark.zip once for each package in it
    (importlib.invalidate_caches).  This takes 0.13 s, more than a small task.  Python finds the importers again when a
    task needs them.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            del sys.path_importer_cache[path]


def tokens_in(setting, folder):
    """Write the tokens into the task's folder, readable by this user only, and return the file."""
    if not setting.tokens:
        return None
    path = os.path.join(folder, "tokens")
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(setting.tokens)
    return path


def run(setting, folder, program, command, *args, pieces=None, accept=(native.DONE,)):
    outcome = native.run(program, command, f"job/{os.path.basename(setting.job)}", *args, "--quiet", "--memory",
                         setting.memory, "--threads", setting.threads, pieces=pieces, cwd=folder,
                         tokens=tokens_in(setting, folder))
    if outcome.status not in accept and not outcome.is_fault_of_data:
        raise Failed(outcome.sentence)
    return outcome


def counts_of(setting, read=(0, 0), written=(0, 0)):
    """Return the frame that shows (bytes, rows) of a task in Spark's UI, in a list.  Return [] if Spark cannot."""
    return [COUNTS.pack(COUNTS_MARK, *read, *written)] if setting.counts else []


# --- plan ---

def sample_slices(setting, faults, slices, head):
    """Yield the sketch of `plan --save` of some slices together.

    `slices` are pairs of a slice and its Arrow stream, or None.  `head` is true if later slices need the header of the
    file.
    """
    with own_folder(setting) as folder:
        program, why_not = program_of(setting)
        samples = []
        for what, rows in slices:
            given, pieces = input_of(setting, what, rows)
            if head and what.bounds and not what.bounds.startswith("0-"):
                (folder / "head").write_bytes(read_head(setting.filesystem, what.input.path))
                given += ["--columns", "head"]
            name = f"sample-{len(samples)}"
            if not why_not:
                outcome = run(setting, folder, program, "plan", *given, "--tune", "--save", name, pieces=pieces,
                              accept=(native.DONE, native.REJECTS))
            if why_not or outcome.is_fault_of_data:
                faults.add([(what.number, why_not or outcome.sentence)])
                return
            if (folder / name).exists():
                samples.append(name)
        if len(samples) > 1:
            run(setting, folder, program, "plan", "--from", *samples, "--tune", "--save", "all",
                accept=(native.DONE, native.REJECTS))
            samples = ["all"]
        for name in samples:
            yield (folder / name).read_bytes()


# --- map ---

def chunks(runs, offset, size):
    """Yield chunks of whole pieces from [offset, offset + size) of a map's runs."""
    runs.seek(offset)
    data, at, end = b"", 0, offset + size
    while True:
        more = runs.read(min(end - runs.tell(), max(CHUNK_BYTES, 5 << 20)))
        data = data[at:] + more if at < len(data) else more
        at = 0
        while at < len(data):
            start = at
            while at + PIECE_HEAD_BYTES <= len(data) and at - start < CHUNK_BYTES:
                length = PIECE_HEAD_BYTES + PIECE_STORED.unpack_from(data, at)[0]
                if at + length > len(data):
                    break
                at += length
            if at == start:
                break
            yield data[start:at]
        if not more:
            if at < len(data):
                raise Failed("out/runs: found an incomplete piece at the end, expected whole pieces")
            return


def input_of(setting, what, rows):
    """Return the arguments of the program and its standard input (None if the program opens the file)."""
    if rows is not None:
        return ["-", "--name", what.input.name], rows
    if setting.filesystem:
        arguments, offset = feed_of(what)
        return arguments, read_from(setting.filesystem, what.input.path, offset)
    return [what.input.path, *(["--slice", what.bounds] if what.bounds else [])], None


def map_slice(setting, faults, what, rows=None):
    """Yield (partition, bytes) for the pieces of each region, for the sums of all regions, and for the report.

    `rows` is an Arrow stream that replaces the slice's input.
    """
    began = time.monotonic()
    given, pieces = input_of(setting, what, rows)
    with own_folder(setting) as folder:
        program, why_not = program_of(setting)
        outcome = None if why_not else run(setting, folder, program, "map", *given, "--input", what.input.number,
                                           "--pack", *KEPT, *(["--unordered"] if setting.unordered else []),
                                           pieces=pieces)
        if why_not or outcome.status:
            faults.add([(what.number, why_not or outcome.sentence)])
            yield setting.reports, report_bytes(what.number, {"fault": why_not or outcome.sentence}, b"")
            return
        report = json.loads((folder / "out/report.json").read_text())
        report["path"] = what.input.name  # which `unite` prints, too
        with open(folder / "out/runs", "rb", buffering=0) as runs:
            for table, of_table in enumerate(report["tables"]):
                for r in of_table["regions"]:
                    for data in chunks(runs, r["offset"], r["bytes"]):
                        yield setting.partition_of(table, r["region"]), HEAD.pack(what.number) + data
        rejects = folder / "out/rejects.jsonl"
        lanes = lanes_of(setting, report)
        yield setting.adder_of(what.number), HEAD.pack(what.number) + lanes
        report["rows"] = rows_of(lanes)
        report["tables"] = [{**t, "regions": []} for t in report["tables"]]
        report["seconds"] = time.monotonic() - began
        yield setting.reports, report_bytes(what.number, report, rejects.read_bytes() if rejects.exists() else b"")
        if rows is None:  # Spark itself counts what it reads for a DataFrame
            size = report["end"] - report["first"] if what.bounds else what.input.size
            for frame in counts_of(setting, read=(size, report["read"])):
                yield None, frame


def report_bytes(number, report, rejects):
    text = json.dumps(report).encode()
    return HEAD.pack(number) + HEAD.pack(len(text)) + text + rejects


def read_report(data):
    """Return the number of the attempt, the report and the rejects."""
    number, length = HEAD.unpack_from(data, 0)[0], HEAD.unpack_from(data, 4)[0]
    return number, json.loads(data[8:8 + length]), bytes(data[8 + length:])


# --- quotes ---

def edge_of_slice(setting, what, quote):
    start, end = map(int, what.bounds.split("-"))
    at = max(start - 1, 0)
    return edge_of(read_from(setting.filesystem, what.input.path, at), at, end, quote)


# --- digest ---

def digest_input(setting, given, reports):
    """Return the output of `saltmill digest` for an input.  `reports` has the reports of the input's maps, by number."""
    with own_folder(setting) as folder:
        for number, report in reports.items():
            (folder / "maps" / str(number)).mkdir(parents=True)
            (folder / "maps" / str(number) / "report.json").write_text(json.dumps(report))
        program, why_not = program_of(setting)
        if why_not:
            raise Failed(why_not)
        outcome = native.run(program, "digest", "-", "--maps", "maps", "--input", given.number, "--name", given.name,
                             "--bytes", given.size, pieces=read_from(setting.filesystem, given.path), cwd=folder)
        if outcome.status != native.DONE:
            raise Failed(outcome.sentence)
        return json.loads(outcome.printed)


# --- reduce ---

def reduce_region(setting, faults, taken, partition, received):
    """Return the result for a region.  `taken` are the attempts whose pieces are valid."""
    table, name, region = setting.region_of(partition)
    began = time.monotonic()
    pieces = (memoryview(data)[HEAD.size:] for data in received if HEAD.unpack_from(data)[0] in taken)
    with own_folder(setting) as folder:
        program, why_not = program_of(setting)
        outcome = None if why_not else run(setting, folder, program, "reduce", "-", "--table", name, "--region",
                                           region, "--created", setting.created_ms, "--totals", *KEPT, *sent_to(setting),
                                           pieces=pieces)
        if why_not or outcome.status:
            faults.add([(partition, why_not or outcome.sentence)])
            return {"fault": why_not or outcome.sentence}
        report = json.loads((folder / "out/report.json").read_text())
        staged = {}
        for i, path in enumerate(f["path"] for t in report["tables"] for r in t["regions"] for f in r["files"]):
            if setting.place is not None:  # the program has sent the file
                continue
            staged[path] = f"{table}.{region}.{i}.{os.path.basename(path)}"
            deliver(folder / "out" / path, pathlib.Path(setting.stage), staged[path])
    written = [(sum(f["bytes"] for f in r["files"]), r["rows"]) for t in report["tables"] for r in t["regions"]]
    return {"table": table, "region": region, "report": report, "staged": staged, "seconds": time.monotonic() - began,
            "written": tuple(map(sum, zip(*written)))}


def sent_to(setting):
    return [] if setting.place is None else ["--hfiles", setting.stage, *setting.place]


def deliver(file, stage, name):
    """Move or copy the file to stage/name.  The file gets this name only when the file is complete.

    Another attempt writes the same bytes.  This function never makes stage, because a missing stage means that the
    load has ended.
    """
    part = stage / f".{name}.{os.getpid()}.{TaskContext.get().taskAttemptId()}"
    try:
        os.rename(file, part)  # the program has synced the file
    except OSError:
        try:
            with open(file, "rb") as source, open(part, "xb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
                copy.flush()
                os.fsync(copy.fileno())
        except OSError as e:
            with contextlib.suppress(OSError):
                part.unlink()
            raise Failed(f"{stage}: {e.strerror}") from e
    os.rename(part, stage / name)


# --- a load of a slice, without a shuffle ---

def load_slice(setting, faults, what):
    """Return the number of a slice and the places of its files.

    The driver checks the rejects of all slices together.
    """
    given, pieces = input_of(setting, what, None)
    accept = (native.DONE, native.REJECTS)
    with own_folder(setting) as folder:
        program, why_not = program_of(setting)
        outcome = None if why_not else run(setting, folder, program, "load", *given, *KEPT, "--max-rejects", "100%",
                                           pieces=pieces, accept=accept)
        if why_not or outcome.status not in accept:
            faults.add([(what.number, why_not or outcome.sentence)])
            return {"fault": why_not or outcome.sentence}
        staged, out = {}, folder / "out"
        for i, file in enumerate(sorted(p for p in out.rglob("*") if p.is_file())):
            path = file.relative_to(out).as_posix()
            staged[path] = f"load.{what.number}.{i}.{file.name}"
            deliver(file, pathlib.Path(setting.stage), staged[path])
    return {"number": what.number, "staged": staged}


# --- functions for partitions of RDDs ---
# They are in this module, so that a Python worker need not import the modules of the driver.

def arrow_stream(schema, batches):
    return itertools.chain([schema], batches, [END_OF_STREAM])


def look_at_batches(setting, faults, schema, slices, partition, batches):
    yield from sample_slices(setting.value, faults, [(slices[partition], arrow_stream(schema, batches))], False)


def look_at_slices(setting, faults, head, slices):
    yield from sample_slices(setting.value, faults, ((s, None) for s in slices), head)


def map_slices(setting, faults, groups):
    for what in itertools.chain.from_iterable(groups):
        yield from map_slice(setting.value, faults, what)


def edges(setting, quote, slices):
    for what in slices:
        yield edge_of_slice(setting.value, what, quote)


def load_slices(setting, faults, slices):
    for what in slices:
        yield load_slice(setting.value, faults, what)


def add_up(taken, received):
    """Yield the sum of the lanes of the maps whose attempts are valid."""
    yield added(memoryview(data)[HEAD.size:] for data in received if HEAD.unpack_from(data)[0] in taken)


def map_batches(setting, faults, schema, slices, partition, batches):
    yield from map_slice(setting.value, faults, slices[partition], arrow_stream(schema, batches))


def digest_inputs(setting, given):
    for i, reports in given:
        yield digest_input(setting.value, i, reports)


def reduce_regions(setting, faults, taken, partition, pieces):
    done = reduce_region(setting.value, faults, taken, partition, pieces)
    yield pickle.dumps(done)
    yield from counts_of(setting.value, written=done.get("written") or (0, 0))
