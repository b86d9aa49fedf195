"""The stages of a load by Spark, as the driver runs them: plan, map, reduce."""

import collections
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import tempfile
import time
import zipfile

from py4j.protocol import Py4JError
from pyspark import InheritableThread

from . import JobError, native, tasks
from .inputs import Slice, feed_of, mend, read_from
from .shuffle import received, shuffle

PLAN_TASKS = 200  # whose samples, of up to 3 MB, come to the driver
SAMPLE_BYTES = 1 << 30  # what the plan looks at, at most; quantiles need rows, not a share of them
POLL_SECONDS = 0.1


@dataclasses.dataclass
class Request:
    """What the caller asks for."""

    spark: object
    inputs: list
    job: str
    program: pathlib.Path
    existing: tuple = ()
    sample: float = None
    filesystem: object = None
    frame: object = None  # a Frame, in place of files
    memory: str = "512M"
    threads: int = 1

    @property
    def sc(self):
        return self.spark.sparkContext

    @property
    def names(self):
        return [i.name for i in self.inputs]

    @property
    def name_of_job(self):
        return pathlib.Path(self.job).stem

    def native(self, command, *args, accept=(native.DONE,), failure=JobError, pieces=None):
        """Run on the driver; what is not accepted is raised with the program's sentence."""
        outcome = native.run(self.program, command, self.job, *args, pieces=pieces)
        if outcome.status not in accept:
            raise failure(outcome.sentence)
        return outcome


# --- what all tasks get ---

def package_file(folder):
    """This package as a file for the executors."""
    here = pathlib.Path(__file__).parent
    path = pathlib.Path(folder) / "saltmill_package.zip"
    with zipfile.ZipFile(path, "w") as z:
        for source in sorted(here.glob("*.py")):
            z.writestr(zipfile.ZipInfo(f"saltmill/{source.name}"), source.read_bytes())
    return path


_shipped = {}  # by application: what was added to it


def ship(request):
    """The program and this package to all executors, once an application; the program's name there."""
    sc, digest = request.sc, native.digest_of(request.program)
    name = f"saltmill-{digest}"
    shipped = _shipped.setdefault(sc.applicationId, {"package": None, "programs": set()})
    folder = shipped.setdefault("folder", tempfile.TemporaryDirectory(prefix="saltmill-ship-"))
    if not shipped["package"]:
        shipped["package"] = package_file(folder.name)
        sc.addPyFile(str(shipped["package"]))
    if name not in shipped["programs"]:
        shutil.copy(request.program, pathlib.Path(folder.name) / name)
        sc.addFile(str(pathlib.Path(folder.name) / name))
        shipped["programs"].add(name)
    return name, digest


def files_of_job(job):
    """The job and the files of codes that it names, by path beside it."""
    path = pathlib.Path(job)
    try:
        text = path.read_bytes()
    except OSError as e:
        raise JobError(f"{job}: {e.strerror}") from e
    files = {f"job/{path.name}": text}
    for name in names_of_codes(text):
        beside = path.parent / name
        if os.path.isabs(name) or not beside.is_file():
            continue
        if os.path.normpath(name).startswith("../"):
            raise JobError(f"{job}: codes: {name} is outside of the job's folder: expected a file in it, which tasks get "
                           "too, or the absolute path of one that all machines have")
        files[f"job/{name}"] = beside.read_bytes()
    return files


CODES = re.compile(rb"""\bcodes["']?\s*:\s*(?:"([^"\n]*)"|'((?:[^'\n]|'')*)'|([^\s{"'][^\n]*))""")


def names_of_codes(text):
    """What may be a file's name behind `codes:`; of a name without quotes each end that it may have in YAML."""
    for double, single, plain in CODES.findall(re.sub(rb"(?m)^\s*#.*", b"", text)):
        plain = re.sub(rb"\s#.*", b"", plain)
        for name in sorted({double, single.replace(b"''", b"'"), plain.strip(), re.split(rb"[,}]", plain)[0].strip()}):
            if name:
                yield os.fsdecode(name)


def files_of_plan(folder):
    return {f"plan/{p.relative_to(folder)}": p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def regions_of_plan(folder):
    """(table, regions): one more than the split keys, a line each."""
    if not (folder / "settings.json").exists():  # the sentence of pipeline/load/first_pass/kept_plan.c
        raise JobError(f"{folder}: has no settings.json: expected a folder that `saltmill plan JOB FILE... -o DIR` has "
                       "made of events, or --from samples that all have the same columns")
    tables = json.loads((folder / "settings.json").read_text())["tables"]
    regions = []
    for t in tables:
        splits = folder / t["name"].replace(":", "/", 1) / "splits.txt"
        regions.append((t["name"], splits.read_bytes().count(b"\n") + 1))
    return tuple(regions)


# --- jobs of Spark ---

def sentence_of(error, what):
    """One sentence about a job that Spark gave up."""
    text = str(error)
    said = re.findall(re.escape(tasks.SAID) + r'("(?:[^"\\]|\\.)*")', text)
    if said:
        return f"{what}: {json.loads(said[-1])} (tried as often as spark.task.maxFailures says)"
    lost = re.search(r"(?:Job aborted|Task \d+ in stage)[^\n]*", text)
    return f"{what}: {lost.group(0) if lost else text.splitlines()[0]}"


def run_job(request, rdd, partitions, faults, what):
    """Values of some partitions; a fault that a task noted stops the job at once."""
    sc, group, result = request.sc, f"saltmill-{id(rdd):x}-{time.monotonic_ns()}", {}
    noted = len(faults.value)

    def work():
        try:
            sc.setJobGroup(group, what, interruptOnCancel=True)
            result["values"] = sc.runJob(rdd, list, partitions)  # None: all
        except Exception as e:
            result["error"] = e

    thread = InheritableThread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if len(faults.value) > noted:
                sc.cancelJobGroup(group)
                thread.join()
    except BaseException:  # Ctrl-C: nothing of it goes on
        sc.cancelJobGroup(group)
        raise
    if len(faults.value) > noted:
        raise JobError(min(faults.value[noted:])[1])
    if "error" in result:
        if isinstance(result["error"], (Py4JError, OSError)):
            raise JobError(sentence_of(result["error"], what)) from result["error"]
        raise result["error"]
    return result["values"]


# --- the stages ---

def make_plan(request, setting, slices, folder):
    """stage P: where to cut, and the settings that all keep to.  Returns what the program printed.

    Files that the program can open are sampled on the driver; what only tasks can read is looked at by tasks.
    """
    options = ["--tune", *(x for e in request.existing for x in ("--existing", e)), "-o", folder, "--json", "--quiet"]
    accept = (native.DONE, native.REJECTS)
    if request.frame or request.filesystem:
        with tempfile.TemporaryDirectory(prefix="saltmill-plan-") as samples:
            return request.native("plan", "--from", *save_samples(request, setting, slices, samples), *options,
                                  accept=accept).printed
    total = sum(i.size for i in request.inputs)
    share = request.sample or min(1, SAMPLE_BYTES / max(total, 1))
    sample = ["--sample", f"{share:.6f}"] if share < 1 else []
    return request.native("plan", *request.names, *sample, *options, accept=accept).printed


def save_samples(request, setting, slices, folder):
    """What tasks learn of the keys, a file a task, each of some slices."""
    faults = request.sc.accumulator([], tasks.Noted())
    shared = request.sc.broadcast(setting)
    if request.frame:
        looked = request.frame.batches.mapPartitionsWithIndex(
            functools.partial(tasks.look_at_batches, shared, faults, request.frame.schema, slices))
    else:
        head = needs_head(request, slices)
        looked = request.sc.parallelize(slices, min(len(slices), PLAN_TASKS)).mapPartitions(
            functools.partial(tasks.look_at_slices, shared, faults, head))
    files = []
    for sample in run_job(request, looked, None, faults, f"saltmill plan {request.name_of_job}"):
        files.append(os.path.join(folder, f"{len(files):06d}"))
        pathlib.Path(files[-1]).write_bytes(sample)
    if not files:
        raise JobError(tasks.NO_ROWS)
    return files


def probe(request, i, bounds):
    """May this slice without rows be?  The program looks at what the job says of its input."""
    given, pieces = [i.path, "--slice", bounds], None
    if request.filesystem:
        given, offset = feed_of(Slice(0, i, bounds))
        pieces = read_from(request.filesystem, i.path, offset)
    with tempfile.TemporaryDirectory(prefix="saltmill-plan-") as folder:
        outcome = native.run(request.program, "plan", request.job, *given, "--save", os.path.join(folder, "sample"),
                             "--quiet", pieces=pieces)
    return outcome.status == native.DONE or outcome.sentence == tasks.NO_ROWS


def can_slice(request):
    """Is this job's input text that may be cut anywhere?"""
    plain = [i for i in request.inputs if not i.packed]
    return bool(plain) and not request.frame and probe(request, plain[0], "0-0")


def needs_head(request, slices):
    """Does a slice behind the first one need the file's header to be understood?"""
    cut = [s.input for s in slices if s.bounds]
    return bool(cut) and not probe(request, cut[0], "2-2")


class Maps:
    """Stage M: slices, their tries, and what the tries report."""

    def __init__(self, request, setting, folder, slices):
        self.request, self.setting, self.folder = request, setting, folder
        self.slices = slices
        self.tries = len(slices)
        self.shuffles = []
        self.reports = {}
        self.rejects = {}
        self.mended = 0
        self.faults = request.sc.accumulator([], tasks.Noted())
        self.ran = request.sc.accumulator([], tasks.Noted())  # tries of files, as often as Spark ran them

    def run(self):
        todo = list(self.slices)
        while todo:
            self.map(todo)
            bad = mend(self.slices, self.reports)
            todo = [self.slices[place]._replace(number=self.tries + n, bounds=bounds)
                    for n, (place, bounds) in enumerate(bad)]
            for (place, _), again in zip(bad, todo):
                self.slices[place] = again
            self.tries += len(todo)
            self.mended += len(todo)
        self.write()

    def map(self, slices):
        sc, setting, name = self.request.sc, self.setting, self.request.name_of_job
        if self.request.frame:
            work = functools.partial(tasks.map_batches, setting, self.faults, self.request.frame.schema, slices)
            mapped = self.request.frame.batches.mapPartitionsWithIndex(work)
        else:
            work = functools.partial(tasks.map_slices, setting, self.faults, self.ran)
            mapped = sc.parallelize(slices, len(slices)).mapPartitions(work)
        runs = shuffle(mapped, setting.value.partitions + 1)
        self.shuffles.append(runs)
        for data in run_job(self.request, received(sc, [runs]), [setting.value.partitions], self.faults,
                            f"saltmill map {name}"):
            number, report, rejects = tasks.read_report(data)
            self.reports[number] = report
            if rejects:
                self.rejects[number] = rejects

    def report_of(self, s):
        """As the program wrote it."""
        return {k: v for k, v in self.reports[s.number].items() if k != "seconds"}

    def write(self):
        """For the native program: a folder a map, as `saltmill map` leaves it, without the rows."""
        for s in self.slices:
            folder = self.folder / f"{s.number:08d}"
            folder.mkdir(parents=True)
            (folder / "report.json").write_text(json.dumps(self.report_of(s)))
            if s.number in self.rejects:
                (folder / "rejects.jsonl").write_bytes(self.rejects[s.number])


def digest_all(request, setting, maps):
    """Of the inputs that only tasks can open: a task each.

    Not of one that was read once and as a whole: its map has the digest of the very bytes that were loaded.
    """
    by_input, ran = {}, collections.Counter(maps.ran.value)
    for s in maps.slices:
        if s.bounds or ran[s.number] != 1:
            by_input.setdefault(s.input, {})[s.number] = maps.report_of(s)
    if not by_input:
        return []
    rdd = request.sc.parallelize(list(by_input.items()), len(by_input))
    work = rdd.mapPartitions(functools.partial(tasks.digest_inputs, setting))
    return run_job(request, work, range(len(by_input)), maps.faults, f"saltmill digest {request.name_of_job}")


def reduce_all(request, setting, maps, folder):
    """Stage R; returns what its tasks did."""
    sc, name = request.sc, request.name_of_job
    taken = frozenset(s.number for s in maps.slices)
    wanted = sorted({setting.partition_of(t, r["region"]) for n in taken
                     for t, table in enumerate(maps.reports[n]["tables"]) for r in table["regions"]}) or [0]
    faults = sc.accumulator([], tasks.Noted())
    work = functools.partial(tasks.reduce_regions, sc.broadcast(setting), faults, taken)
    done = run_job(request, received(sc, maps.shuffles).mapPartitionsWithIndex(work), wanted, faults,
                   f"saltmill reduce {name}")
    for d in done:
        here = folder / f"{d['table']}-{d['region']}"
        take_staged(setting, d["staged"], here)
        (here / "report.json").write_text(json.dumps(d["report"]))
    return done


def take_staged(setting, staged, folder):
    """What a task has delivered, to where the program looks for it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, name in staged.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.rename(pathlib.Path(setting.stage) / name, folder / path)


def load_all(request, setting, slices, folder):
    """Without a shuffle: a load a slice; returns their folders."""
    faults = request.sc.accumulator([], tasks.Noted())
    work = functools.partial(tasks.load_slices, request.sc.broadcast(setting), faults)
    done = run_job(request, request.sc.parallelize(slices, len(slices)).mapPartitions(work), None, faults,
                   f"saltmill load {request.name_of_job}")
    folders = []
    for d in done:
        folders.append(folder / f"{d['number']:04d}")
        take_staged(setting, d["staged"], folders[-1])
    return folders
