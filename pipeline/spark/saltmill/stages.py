"""The stages of a load with Spark, as the driver runs them: plan, map, reduce."""

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import pickle
import re
import shutil
import tempfile
import time
import zipfile

from py4j.protocol import Py4JError
from pyspark import InheritableThread

from . import JobError, counts, native, tasks, totals
from .inputs import Slice, bounds_by_quotes, by_task, feed_of, has_digest, mend, read_from
from .shuffle import received, shuffle

REPORT_KEYS = {"seconds", "rows"}  # keys of a report that a task adds
PLAN_TASKS = 200  # each task sends a sketch of up to 3 MB to the driver
SAMPLE_BYTES = 1 << 30  # most bytes that the plan reads; quantiles need a number of rows, not a share
POLL_SECONDS = 0.1


@dataclasses.dataclass
class Request:
    """The arguments of the caller."""

    spark: object
    inputs: list
    job: str
    program: pathlib.Path
    existing: tuple = ()
    sample: float = None
    filesystem: object = None
    frame: object = None  # a Frame instead of files
    memory: str = "512M"
    threads: int = 1
    tokens: str = None  # the file of tokens of the driver's login

    @property
    def sc(self):
        return self.spark.sparkContext

    @functools.cached_property
    def counts(self):
        return counts.function_of(self.sc)

    @property
    def names(self):
        return [i.name for i in self.inputs]

    @property
    def name_of_job(self):
        return pathlib.Path(self.job).stem

    def native(self, command, *args, accept=(native.DONE,), failure=JobError, pieces=None):
        """Run the program on the driver. Raise `failure` with the program's message if the caller does not accept the
        status."""
        outcome = native.run(self.program, command, self.job, *args, pieces=pieces, tokens=self.tokens)
        if outcome.status not in accept:
            error = failure(outcome.sentence)
            error.status = outcome.status
            raise error
        return outcome


# --- files for all tasks ---

def package_file(folder):
    """Write this package as a zip file for the executors, and return its path."""
    here = pathlib.Path(__file__).parent
    path = pathlib.Path(folder) / "saltmill_package.zip"
    with zipfile.ZipFile(path, "w") as z:
        for source in sorted(here.glob("*.py")):
            z.writestr(zipfile.ZipInfo(f"saltmill/{source.name}"), source.read_bytes())
    return path


_shipped = {}  # files that each application already has


def ship(request):
    """Send the program and this package to all executors, once for each application.

    Return the program's name on the executors and its digest.
    """
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
    """Return the bytes of the job and of its codes files, by path relative to the job."""
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
            raise JobError(f"{job}: codes: found {name} outside the job's folder, expected a file in it, which saltmill "
                           "sends to the tasks, or the absolute path of a file that all machines have")
        files[f"job/{name}"] = beside.read_bytes()
    return files


CODES = re.compile(rb"""\bcodes["']?\s*:\s*(?:"([^"\n]*)"|'((?:[^'\n]|'')*)'|([^\s{"'][^\n]*))""")


def names_of_codes(text):
    """Yield possible file names after `codes:`.

    A name without quotes may end in several places, so yield each possible name.
    """
    for double, single, plain in CODES.findall(re.sub(rb"(?m)^\s*#.*", b"", text)):
        plain = re.sub(rb"\s#.*", b"", plain)
        for name in sorted({double, single.replace(b"''", b"'"), plain.strip(), re.split(rb"[,}]", plain)[0].strip()}):
            if name:
                yield os.fsdecode(name)


def files_of_plan(folder):
    return {f"plan/{p.relative_to(folder)}": p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def regions_of_plan(folder):
    """Return (table, number of regions).  splits.txt has one line for each split point."""
    if not (folder / "settings.json").exists():  # the message of pipeline/load/first_pass/kept_plan.c
        raise JobError(f"{folder}: found no settings.json, expected a folder of `saltmill plan JOB FILE... -o DIR`, "
                       "or of --from samples that all have the same columns")
    tables = json.loads((folder / "settings.json").read_text())["tables"]
    regions = []
    for t in tables:
        splits = folder / t["name"].replace(":", "/", 1) / "splits.txt"
        regions.append((t["name"], splits.read_bytes().count(b"\n") + 1))
    return tuple(regions)


# --- jobs of Spark ---

def sentence_of(error, what):
    """Return one sentence about a Spark job that failed."""
    text = str(error)
    said = re.findall(re.escape(tasks.SAID) + r'("(?:[^"\\]|\\.)*")', text)
    if said:
        return f"{what}: {json.loads(said[-1])} (after spark.task.maxFailures attempts)"
    lost = re.search(r"(?:Job aborted|Task \d+ in stage)[^\n]*", text)
    return f"{what}: {lost.group(0) if lost else text.splitlines()[0]}"


def run_job(request, rdd, partitions, faults, what, run=None):
    """Return the values of some partitions.  If a task notes a fault, cancel the job at once and raise JobError.

    `run` replaces sc.runJob.
    """
    sc, group, result = request.sc, f"saltmill-{id(rdd):x}-{time.monotonic_ns()}", {}
    noted = len(faults.value)

    def work():
        try:
            sc.setJobGroup(group, what, interruptOnCancel=True)
            with stage_name(sc, what):
                result["values"] = run() if run else sc.runJob(rdd, list, partitions)  # None: all
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
    except BaseException:  # also on Ctrl-C, stop all tasks
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
    """Choose the split points and the settings for all tasks.  Return the output of the program.

    The driver samples files that the program can open. Tasks read the other inputs.
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
    """Run tasks that sketch the keys of some slices each.  Return one file for each task."""
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
        raise JobError("there are no rows to plan from")
    return files


def probe(request, i, bounds):
    """Return whether the program accepts this slice, which has no rows, with the job."""
    given, pieces = [i.path, "--slice", bounds], None
    if request.filesystem:
        given, offset = feed_of(Slice(0, i, bounds))
        pieces = read_from(request.filesystem, i.path, offset)
    with tempfile.TemporaryDirectory(prefix="saltmill-plan-") as folder:
        outcome = native.run(request.program, "plan", request.job, *given, "--save", os.path.join(folder, "sample"),
                             "--quiet", pieces=pieces)
    return outcome.status == native.DONE


def can_slice(request):
    """Return whether tasks may cut the job's input anywhere, as text."""
    plain = [i for i in request.inputs if not i.packed]
    return bool(plain) and not request.frame and probe(request, plain[0], "0-0")


def needs_head(request, slices):
    """Return whether later slices need the header of the file."""
    cut = [s.input for s in slices if s.bounds]
    return bool(cut) and not probe(request, cut[0], "2-2")


@contextlib.contextmanager
def stage_name(sc, name):
    """Give the name to Spark stages that begin here.  Spark's UI shows it."""
    sc.setLocalProperty("callSite.short", name)
    try:
        yield name
    finally:
        sc.setLocalProperty("callSite.short", None)


class Maps:
    """The map stage: slices, their attempts, and the reports of the attempts."""

    def __init__(self, request, setting, folder, slices):
        self.request, self.setting, self.folder = request, setting, folder
        self.totals = folder.with_name("totals.json")
        self.slices = slices
        self.tries = len(slices)
        self.shuffles = []
        self.reports = {}
        self.rejects = {}
        self.mended = 0
        self.faults = request.sc.accumulator([], tasks.Noted())

    def run(self):
        todo = list(self.slices)
        while todo:
            self.map(todo)
            bad = mend(self.slices, self.reports)
            if bad and not self.mended:
                bad = self.all_bad({self.slices[place].input for place, _ in bad}) or bad
            todo = [self.slices[place]._replace(number=self.tries + n, bounds=bounds)
                    for n, (place, bounds) in enumerate(bad)]
            for (place, _), again in zip(bad, todo):
                self.slices[place] = again
            self.tries += len(todo)
            self.mended += len(todo)
        self.write()

    def all_bad(self, inputs):
        """Return (place, bounds) of all slices of CSV inputs that began at a line end inside quotes.

        Tasks count the quotes of each slice, so one more round of maps is enough.
        """
        places = [n for n, s in enumerate(self.slices) if s.input in inputs and s.bounds
                  and "quote" in self.reports[s.number]]
        if not places:
            return []
        slices = [self.slices[n] for n in places]
        quote = self.reports[slices[0].number]["quote"].encode()
        counted = self.request.sc.parallelize(slices, len(slices)).mapPartitions(
            functools.partial(tasks.edges, self.setting, quote))
        edges = run_job(self.request, counted, None, self.faults, f"saltmill quotes {self.request.name_of_job}")
        bad = []
        for _, of_input in itertools.groupby(zip(places, slices, edges), key=lambda o: o[1].input):
            numbers, parts, quotes = zip(*of_input)
            for n, s, bounds in zip(numbers, parts, bounds_by_quotes(parts, quotes)):
                first = int(bounds.split("=")[1].split("-")[0])
                if first != self.reports[s.number]["first"] and not s.bounds.startswith("0-"):
                    bad.append((n, bounds))
        return bad

    def map(self, slices):
        with stage_name(self.request.sc, f"saltmill map {self.request.name_of_job}") as name:
            self.map_as(name, slices)

    def map_as(self, name, slices):
        sc, setting = self.request.sc, self.setting
        if self.request.frame:
            work = functools.partial(tasks.map_batches, setting, self.faults, self.request.frame.schema, slices)
            mapped = self.request.frame.batches.mapPartitionsWithIndex(work)
        else:
            work = functools.partial(tasks.map_slices, setting, self.faults)
            groups = by_task(slices)
            mapped = sc.parallelize(groups, len(groups)).mapPartitions(work)
        runs = shuffle(mapped, setting.value.adder_of(0) + setting.value.adders, self.request.counts)
        self.shuffles.append(runs)
        for data in run_job(self.request, received(sc, [runs]), [setting.value.reports], self.faults, name):
            number, report, rejects = tasks.read_report(data)
            self.reports[number] = report
            if rejects:
                self.rejects[number] = rejects

    def report_of(self, s):
        """Return the report as the program wrote it, without the regions."""
        return {k: v for k, v in self.reports[s.number].items() if k not in REPORT_KEYS}

    def add_up(self):
        """Let tasks add the regions of all maps up.  Write totals.json and return its value."""
        setting, taken = self.setting.value, frozenset(s.number for s in self.slices)
        work = received(self.request.sc, self.shuffles).mapPartitions(functools.partial(tasks.add_up, taken))
        sums = run_job(self.request, work, sorted({setting.adder_of(n) for n in taken}), self.faults,
                       f"saltmill totals {self.request.name_of_job}")
        lanes = totals.added(sums)
        rows = [self.reports[n]["rows"] for n in taken]
        if totals.rows_of(lanes) != [sum(r[0] for r in rows), sum(r[1] for r in rows) % totals.DIGESTS]:
            cause = ("the DataFrame gives other rows when Spark computes it again; use checkpoint() or persist() before "
                     "the load") if self.request.frame else "an input changed after its map; load again"
            raise JobError(f"a map that ran again found other rows, expected the same rows: {cause}")
        value = totals.tables_of(setting, lanes)
        self.totals.write_text(json.dumps(value))
        return value

    def write(self):
        """Write a folder for each map, like the output of `saltmill map` without the rows, for the native program."""
        for s in self.slices:
            folder = self.folder / f"{s.number:08d}"
            folder.mkdir(parents=True)
            (folder / "report.json").write_text(json.dumps(self.report_of(s)))
            if s.number in self.rejects:
                (folder / "rejects.jsonl").write_bytes(self.rejects[s.number])


def digest_all(request, setting, maps):
    """Return the digests of the inputs whose maps do not have the digest, with a task for each."""
    by_input = {}
    for s in maps.slices:
        by_input.setdefault(s.input, {})[s.number] = maps.report_of(s)
    by_input = {i: reports for i, reports in by_input.items() if not has_digest(list(reports.values()))}
    if not by_input:
        return []
    rdd = request.sc.parallelize(list(by_input.items()), len(by_input))
    work = rdd.mapPartitions(functools.partial(tasks.digest_inputs, setting))
    return run_job(request, work, range(len(by_input)), maps.faults, f"saltmill digest {request.name_of_job}")


def reduce_all(request, setting, maps, mapped, folder):
    """Run the reduce stage for the regions of `mapped`, which is the value of Maps.add_up.  Return the results."""
    sc, name = request.sc, request.name_of_job
    taken = frozenset(s.number for s in maps.slices)
    wanted = [setting.partition_of(t, r["region"]) for t, table in enumerate(mapped["tables"])
              for r in table["regions"]] or [0]
    faults = sc.accumulator([], tasks.Noted())
    work = functools.partial(tasks.reduce_regions, sc.broadcast(setting), faults, taken)
    reduced = received(sc, maps.shuffles).mapPartitionsWithIndex(work)
    reduced._bypass_serializer = True
    run = functools.partial(counts.collect, reduced, request.counts, wanted)
    done = [pickle.loads(d) for d in run_job(request, reduced, wanted, faults, f"saltmill reduce {name}", run)]
    for d in done:
        here = folder / f"{d['table']}-{d['region']}"
        take_staged(setting, d["staged"], here)
        (here / "report.json").write_text(json.dumps(d["report"]))
    return done


def take_staged(setting, staged, folder):
    """Move the files that a task delivered to the folder where the program expects them."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, name in staged.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.rename(pathlib.Path(setting.stage) / name, folder / path)


def load_all(request, setting, slices, folder):
    """Load each slice separately, without a shuffle.  Return the folders of the loads."""
    faults = request.sc.accumulator([], tasks.Noted())
    work = functools.partial(tasks.load_slices, request.sc.broadcast(setting), faults)
    done = run_job(request, request.sc.parallelize(slices, len(slices)).mapPartitions(work), None, faults,
                   f"saltmill load {request.name_of_job}")
    folders = []
    for d in done:
        folders.append(folder / f"{d['number']:04d}")
        take_staged(setting, d["staged"], folders[-1])
    return folders
