"""Load with Apache Spark, by saltmill.spark.load(spark, source, job, out), .plan(...), .sink(...) and .register(...).

    slices -> map (a task for each slice) -> Spark's shuffle by region -> reduce (a task for each region) -> unite

Tasks run the native program. Python and the JVM move compressed pieces of sorted rows, never single rows. The command
`unite` checks that all parts of the load are there, and publishes it by one rename. The bytes are the same as those of
`saltmill load --plan` on one machine, even if Spark repeated failed tasks.
"""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import tempfile
import time

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from . import JobError, Rejected, native, sentences, tasks
from .frames import Frame
from .inputs import SMALLEST_SLICE, cut, is_remote, list_inputs, told, unchanged, without_scheme
from .staging import HdfsStaging, S3Staging, Staging, is_hdfs, is_s3
from .stages import (Maps, Request, can_slice, digest_all, files_of_job, files_of_plan, load_all, make_plan,
                     reduce_all, regions_of_plan, ship)
from .tasks import Setting

MOST_LOADS = 16  # hbase.hstore.blockingStoreFiles, by default
MOST_ADDERS, SLICES_OF_AN_ADDER = 32, 64
EVENTS = ("read", "rejected")
OF_A_TABLE = ("loaded", "filtered", "deduplicated", "rows", "cells")


@dataclasses.dataclass
class Result:
    """A published load."""

    out: str
    manifest: dict
    slices: int
    shuffled: int  # bytes of pieces that the maps sent to the reduces
    mended: int  # slices with a second map, because they began inside a row
    seconds: dict  # duration of each stage, and of the slowest map and reduce task

    @property
    def counts(self):
        """Return events read and rejected, and for each table: loaded, filtered, deduplicated, rows, cells."""
        tables = {t["name"]: {k: t[k] for k in OF_A_TABLE} for t in self.manifest["tables"]}
        return {**{k: self.manifest[k] for k in EVENTS}, "tables": tables}

    @property
    def regions(self):
        """Return for each table the files in the manifest: region, rows, key range, digest."""
        return {t["name"]: t["files"] for t in self.manifest["tables"]}


def limit_option(name, value):
    """Check the form of a limit.  The load compares the events with the limit at its end."""
    text = str(value)
    if not re.fullmatch(r"\d+|\d+(\.\d+)?%", text) or (text.endswith("%") and float(text[:-1]) > 100):
        raise JobError(f"{name}: found `{text}`, expected a number or a share like 0.1%")
    return [name, text]


@contextlib.contextmanager
def timed(seconds, name):
    began = time.monotonic()
    yield
    seconds[name] = round(time.monotonic() - began, 3)


def too_many(limit, rejected, read):
    """Return True if `rejected` exceeds the limit, which event_limit_of of include/run.h computes."""
    share = limit.endswith("%")
    return rejected > (int(float(limit[:-1]) / 100 * float(read) * (1 + 1e-13)) if share else int(limit))


def whole_number(name, value):
    """Check an argument that is a number from 1, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise JobError(f"{name}: found {value!r}, expected a whole number from 1")


def check_arguments(spark, slices=None, sample=None, threads=None, memory="512M", out="", webhdfs=None):
    """Refuse wrong arguments before a task starts, where they would fail again and again."""
    if spark.sparkContext._jsc is None:
        raise JobError("found a Spark session that has ended, expected a running one; create it again by "
                       "SparkSession.builder.getOrCreate()")
    whole_number("slices", slices)
    whole_number("threads", threads)
    if sample is not None and not (isinstance(sample, (int, float)) and 0 < sample <= 1):
        raise JobError(f"sample: found {sample!r}, expected a share like 0.05")
    if not re.fullmatch(r"\d+[KMGT]?", str(memory)):
        raise JobError(f"memory: found {memory!r}, expected a size like 512M")
    if webhdfs and not is_hdfs(out):
        raise JobError(f"webhdfs: found {webhdfs} for the output {out}, expected it only for an output in HDFS")


def one_sentence(function):
    """Turn errors of Spark and of the caller's DataFrame into a JobError of one sentence."""
    @functools.wraps(function)
    def work(*args, **more):
        try:
            return function(*args, **more)
        except (Py4JError, PySparkException) as e:
            raise JobError(cause_of(e)) from e
    return work


def cause_of(error):
    """Return the last line of the error of a Python function, or the first line of another error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = "Traceback (most recent call last):" in lines
    return f"Spark: {lines[-1] if python else ' '.join(lines[:2])}" if lines else f"Spark: {type(error).__name__}"


@contextlib.contextmanager
def published(out):
    """After the rename, add "published as" to errors, because the load stays published."""
    try:
        with sentences(out):
            yield
    except (JobError, ValueError, Py4JError) as e:
        raise JobError(f"published as {out}, but {e}") from e


def owner_of(spark):
    """Return the application and its attempt.  The attempt is None if the resource manager does not count attempts."""
    attempt = spark.sparkContext._jsc.sc().applicationAttemptId()
    return spark.sparkContext.applicationId, attempt.get() if attempt.isDefined() else None


def request_of(spark, source, job, filesystem, ordered, program, **more):
    frame = Frame(source, ordered) if isinstance(source, DataFrame) else None
    inputs, filesystem = (frame.inputs(), None) if frame else list_inputs(source, filesystem)
    return Request(spark, inputs, os.fspath(job), native.find_program(program), frame=frame, filesystem=filesystem,
                   **more)


@one_sentence
def plan(spark, source, job, *, slices=None, existing=(), sample=None, filesystem=None, program=None):
    """Return the predicted regions, in the form of `saltmill plan --json`.  The arguments are those of load."""
    check_arguments(spark, slices, sample)
    request = request_of(spark, source, job, filesystem, True, program, existing=listed(existing), sample=sample)
    with sentences(job), tempfile.TemporaryDirectory(prefix="saltmill-plan-") as folder:
        return json.loads(make_plan(request, setting_of(request), slices_of(request, slices),
                                    pathlib.Path(folder) / "plan"))


def listed(existing):
    return (existing,) if isinstance(existing, (str, os.PathLike)) else tuple(existing or ())


@one_sentence
def load(spark, source, job, out, *, slices=None, existing=(), plan=None, sample=None, max_rejects=0,
         max_duplicates=None, memory="512M", threads=None, filesystem=None, ordered=False, shuffle=True,
         program=None, break_lock=False, webhdfs=None, apply=None, login=None):
    """Load `source` with the job into the new folder `out`, and return a Result.

    out: a folder in a file system that all tasks can write to, in HDFS (hdfs://, webhdfs://, swebhdfs://), or in S3
    (s3://, s3a://).
    webhdfs: for hdfs://, the HTTP addresses of the NameNodes, HOST[:PORT],... (default: port 9870).
    source: a DataFrame, for a job with `source: arrow`; or paths, patterns and folders that all tasks can open, URIs of
    pyarrow.fs (hdfs://, s3://, gs:// ...), or paths of `filesystem`, which is a file system of pyarrow.fs.
    slices: number of slices, approximately (default: one for each 256 MiB).
    existing: the region list of an existing table, as for `saltmill load --existing`.
    plan: a folder of `saltmill plan -o`, whose split points and settings the load uses.
    sample: the share of the input that the plan reads. The default depends on the size. The plan always reads all of
    a DataFrame, and all files that only tasks can open.
    memory, threads: limits of the program in each task.
    ordered: the DataFrame's rows always have the same order, so a job may have the rule `duplicates:`.
    shuffle=False: up to 16 slices become separate loads, and `unite --loads` joins them. `unite` refuses
    a cell that is in two loads.
    apply: an HBase for `saltmill apply --hbase`, or a list of it and more options of `apply`; the driver's machine
    applies the published load.
    login: options of `saltmill tokens` for secured servers, such as ["--principal", NAME, "--keytab", FILE], or [] for
    the ticket of kinit. The driver logs in once, and the tasks and `apply` use its tokens.
    Raises Rejected if more events than max_rejects are bad, and JobError for all other failures. Then saltmill
    has published nothing, unless the message begins with "published as".
    """
    check_arguments(spark, slices, sample, threads, memory, out, webhdfs)
    limits = limit_option("--max-rejects", max_rejects)
    if max_duplicates is not None:
        limits += limit_option("--max-duplicates", max_duplicates)
    check_place(out, shuffle)
    threads = threads or int(spark.sparkContext.getConf().get("spark.task.cpus", "1"))
    request = request_of(spark, source, job, filesystem, ordered, program, existing=listed(existing), sample=sample,
                         memory=memory, threads=threads)
    with logged_in(request.program, out, webhdfs, apply, login) as request.tokens:
        with sentences(out), staging_for(spark, request, out, webhdfs, break_lock) as staging:
            result = make(request, staging, slices, plan, limits, shuffle)
        if apply:
            apply_load(request.program, result.out, apply, request.tokens)
    return result


@contextlib.contextmanager
def logged_in(program, out, webhdfs, apply, login):
    """Log in once, and yield a file of tokens for the servers of `out` and `apply`; None if there is no login."""
    if login is None:
        yield None
        return
    places = [out, *(["--webhdfs", webhdfs] if webhdfs else [])] if is_hdfs(out) else []
    with tempfile.TemporaryDirectory(prefix="saltmill-login-") as folder:
        path = os.path.join(folder, "tokens")
        outcome = native.run(program, "tokens", path, *places, *(["--hbase", hbase_of(apply)[0]] if apply else []), *login, "--quiet")
        if outcome.status != native.DONE:
            raise JobError(outcome.sentence)
        yield path


def hbase_of(apply):
    return [apply] if isinstance(apply, str) else list(apply)


def apply_load(program, out, hbase, tokens=None):
    """Apply a published load, or continue to apply it."""
    outcome = native.run(program, "apply", out, "--hbase", *hbase_of(hbase), "--quiet", tokens=tokens)
    if outcome.status != native.DONE:
        raise JobError(f"published as {out}, but not applied: {outcome.sentence}")


# --- Structured Streaming ---

def sink(job, folder, *, apply=None, program=None, **options):
    """Return a function for DataStreamWriter.foreachBatch, which makes a load of each batch.

    The load of a batch is the new folder `folder`/batch-NUMBER. A repeated batch finds this folder, so each batch is
    loaded once. `folder` belongs to one query and its checkpoint. A batch without rows makes no folder.
    `options` are those of `load`. With `apply`, the function applies each load before the query goes on.
    """
    folder = pathlib.Path(os.path.abspath(without_scheme(folder)))

    def write(frame, batch):
        with sentences(folder):
            claim(folder, frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId"))
        out = folder / f"batch-{batch:012d}"
        if out.exists():
            if apply:
                program_here = native.find_program(program)
                with logged_in(program_here, out, None, apply, options.get("login")) as tokens:
                    apply_load(program_here, out, apply, tokens)
        elif not frame.isEmpty():
            load(frame.sparkSession, frame, job, out, program=program, apply=apply, **options)
    return write


def claim(folder, query):
    """Check that the folder is new, or belongs to the query."""
    if not query:
        raise JobError("found no streaming query, expected a call by DataStreamWriter.foreachBatch")
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / ".saltmill-query"
    if not note.exists():
        if any(folder.glob("batch-*")):
            raise JobError(f"{folder}: found loads without the query that made them, expected a new folder")
        part = note.with_name(f".saltmill-query.{os.getpid()}")
        part.write_text(query)
        os.replace(part, note)
    owner = note.read_text()
    if owner != query:
        raise JobError(f"{folder}: found the loads of query {owner}, expected those of this query, {query}, because another "
                       "query, or another checkpoint, numbers its batches anew; use a new folder")


# --- the format of Spark 4 ---

def register(spark, program=None):
    """Let the session read and write format("saltmill"), which needs Spark 4.  source.py lists the options."""
    try:
        from .source import source_of
    except ImportError as e:
        raise JobError('format("saltmill"): found an older Spark, expected Spark 4 or newer; use saltmill.spark.load') from e
    request = Request(spark, [], "", native.find_program(program))
    spark.dataSource.register(source_of(*ship(request)))


def check_place(out, shuffle):
    """Raise JobError if the program cannot publish a load there."""
    if not is_remote(out):
        return
    if not is_hdfs(out) and not is_s3(out):
        raise JobError(f"{out}: found a place that saltmill cannot write to, expected a folder in a file system that all "
                       "tasks can write to, in HDFS (hdfs://, webhdfs://, swebhdfs://), or in S3 (s3://)")
    if not shuffle:
        raise JobError(f"{out}: found a folder in HDFS or S3, expected a folder in a file system that all tasks can write "
                       "to; without --no-shuffle, OUT can be there")


def staging_for(spark, request, out, webhdfs, break_lock):
    """Return the context manager that stages the load."""
    owner = owner_of(spark)
    if not is_remote(out):
        return Staging(without_scheme(out), *owner, break_lock=break_lock)
    knows_remote(request)
    if is_s3(out):
        return S3Staging(request, out)
    return HdfsStaging(spark.sparkContext, os.fspath(out), webhdfs, *owner, break_lock=break_lock)


def knows_remote(request):
    about = json.loads(native.run(request.program, "version", "--json", "--quiet").printed or "{}")
    if not about.get("hdfs"):
        raise JobError(f"{request.program}: found a program without HDFS and S3, such as that of `make worker`, expected "
                       "the whole program; install it on all machines (make deb) and use --program")


def setting_of(request):
    """Return the Setting that tasks need before there is a plan."""
    name, digest = ship(request)
    return Setting(program=name, digest=digest, job=request.job, files=files_of_job(request.job),
                   memory=request.memory, threads=request.threads, filesystem=request.filesystem,
                   tokens=pathlib.Path(request.tokens).read_bytes() if request.tokens else b"",
                   unordered=bool(request.frame) and not request.frame.ordered, counts=request.counts is not None)


def with_plan(setting, plan, stage, place, slices):
    adders = min(MOST_ADDERS, -(-slices // SLICES_OF_AN_ADDER))
    return dataclasses.replace(setting, files={**setting.files, **files_of_plan(plan)}, regions=regions_of_plan(plan),
                               stage=str(stage), place=place, adders=adders)


def slices_of(request, wanted):
    return cut(request.inputs, wanted, can_slice(request))


def inputs_of_unite(request, setting, maps, digests=True):
    """Return the input arguments of unite, which opens no input.

    The file that describes the inputs needs digests only when unite publishes.
    """
    inputs = [i._replace(size=maps.reports[s.number]["size"]) for i, s in zip(request.inputs, maps.slices)] \
        if request.frame else request.inputs
    digested = digest_all(request, setting, maps) if digests and not request.frame else []
    path = maps.folder.with_name("inputs.json")
    path.write_text(json.dumps(told(inputs, digested)))
    return ["--inputs", path]


def few_slices(request, wanted):
    """Return at most 16 slices.

    Each slice makes a file in each region, and HBase blocks writes if a store has more files.
    """
    if request.frame:
        raise JobError("--no-shuffle: found a DataFrame, expected files")
    total = sum(i.size for i in request.inputs)
    slices = slices_of(request, wanted or max(1, min(MOST_LOADS, total // SMALLEST_SLICE)))
    if len(slices) > MOST_LOADS:
        raise JobError(f"--no-shuffle: found {len(slices)} slices, expected at most {MOST_LOADS}, because each slice "
                       "makes a file in each region; reduce --slices")
    return slices


def join(request, setting, slices, staging, limits, seconds):
    """Load each slice separately, and join the loads."""
    with timed(seconds, "load"):
        loads = load_all(request, setting, slices, staging.run / "loads")
    parts = [json.loads((f / "manifest.json").read_text()) for f in loads]
    many = too_many(limits[1], sum(p["rejected"] for p in parts), sum(p["read"] for p in parts))
    unchanged(request.inputs, request.filesystem)  # do not join slices of different versions of a file
    with timed(seconds, "unite"):
        request.native("unite", "--loads", *loads, *limits, "-o", staging.out, "--quiet",
                       accept=(native.DONE, native.REJECTS), failure=Rejected if many else JobError)
    with published(staging.out):
        return Result(str(staging.out), json.loads((staging.out / "manifest.json").read_text()), len(slices), 0, 0, seconds)


def make(request, staging, slices, kept_plan, limits, shuffle):
    here, seconds = staging.run, {}
    plan = pathlib.Path(kept_plan) if kept_plan else here / "plan"
    setting, slices = setting_of(request), (slices_of if shuffle else few_slices)(request, slices)
    with timed(seconds, "plan"):
        if not kept_plan:
            make_plan(request, setting, slices, plan)
    setting = with_plan(setting, plan, staging.make_stage(), staging.place, len(slices))
    if not shuffle:
        return join(request, setting, slices, staging, limits, seconds)
    return map_and_reduce(request, setting, slices, staging, plan, limits, seconds)


def map_and_reduce(request, setting, slices, staging, plan, limits, seconds):
    here, shared = staging.run, request.sc.broadcast(setting)
    maps = Maps(request, shared, here / "maps", slices)
    with timed(seconds, "map"):
        maps.run()
    taken = [maps.reports[s.number] for s in maps.slices]
    base = ["--plan", plan, "--maps", here / "maps"]
    if too_many(limits[1], sum(r["rejected"] for r in taken), sum(r["read"] for r in taken)):
        request.native("unite", *base, *inputs_of_unite(request, shared, maps), "--reduces", here / "maps", *limits, "-o",
                       staging.out, *(staging.place or ()), "--quiet", failure=Rejected)
    inputs = inputs_of_unite(request, shared, maps, digests=False)
    judged = json.loads(request.native("unite", *base, *inputs, "--json").printed)
    with timed(seconds, "totals"):
        mapped = maps.add_up()
    with timed(seconds, "reduce"):
        reduced = reduce_all(request, dataclasses.replace(setting, created_ms=judged["created_ms"]), maps, mapped,
                             here / "reduces")
    if request.frame:
        request.frame.judge(reduced)
    with timed(seconds, "digest"):
        if not request.frame:
            unchanged(request.inputs, request.filesystem)  # each map read another part
        inputs = inputs_of_unite(request, shared, maps)
    seconds["slowest_map"] = round(max(r["seconds"] for r in taken), 3)
    seconds["slowest_reduce"] = round(max(d["seconds"] for d in reduced), 3)
    staging.uniting = True
    with timed(seconds, "unite"):
        request.native("unite", *base, *inputs, "--reduces", here / "reduces", "--totals", maps.totals, *limits, "-o",
                       staging.out, *tasks.sent_to(setting), "--manifest", here / "manifest.json", "--quiet",
                       accept=(native.DONE, native.REJECTS))
    with published(staging.out):
        manifest = json.loads((here / "manifest.json").read_text())
    shuffled = sum(region["bytes"] for table in mapped["tables"] for region in table["regions"])
    return Result(str(staging.out), manifest, len(maps.slices), shuffled, maps.mended, seconds)
