"""The format "saltmill" of Spark 4: reads loads, tables and snapshots, and writes a DataFrame as a load.

The classes run in three places: in a Python process next to the driver, in tasks, and in the caller's process. So they
hold only settings, and they find the program as tasks do.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import uuid

from pyspark.sql.datasource import (DataSource, DataSourceArrowWriter, DataSourceReader, InputPartition,
                                    WriterCommitMessage)

from . import JobError, native
from .tasks import Setting, program_of

CELLS = "row binary, family string, qualifier binary, timestamp bigint, type string, value binary"
# options of format("saltmill") and of `saltmill scan`
OF_SCAN = {"table": "--table", "where": "--where", "columns": "--columns", "versions": "--versions",
           "timeRange": "--time-range", "webhdfs": "--webhdfs", "hdfsUser": "--hdfs-user"}
OF_LOAD = {"plan": "--plan", "existing": "--existing", "maxRejects": "--max-rejects", "memory": "--memory"}
OTHERS = {"path", "job", "tableDir", "snapshot", "splits", "decode", "ordered"}


def arguments(options, names):
    return [x for name, option in names.items() if name in options for x in (option, options[name])]


def check_options(options):
    known = {n.lower() for n in (*OF_SCAN, *OF_LOAD, *OTHERS)}
    wrong = [n for n in options if n.lower() not in known]
    if wrong:
        raise JobError(f'format("saltmill"): found the option {wrong[0]}, expected {", ".join(sorted(known))}')


def is_on(options, name):
    value = options.get(name, "false").lower()
    if value not in ("true", "false"):
        raise JobError(f"{name}: found `{options[name]}`, expected true or false")
    return value == "true"


def unescaped(text):
    """Return the bytes of a text in which \\xHH is a byte."""
    return re.sub(rb"\\x([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())


@dataclasses.dataclass
class Rows(InputPartition):
    """The rows from the key `start` to before `stop`, in \\xHH form.  An empty key is no limit."""

    start: str
    stop: str

    def limits(self):
        return [*(["--start", self.start] if self.start else []), *(["--stop", self.stop] if self.stop else [])]


class Scan:
    """A call of `saltmill scan` by the options of a reader."""

    def __init__(self, setting, options):
        self.setting, self.options = setting, options
        self.decode = is_on(options, "decode")
        self.folders = [p for p in options.get("path", "").split(",") if p]
        of_hbase = [x for name, option in (("tableDir", "--table-dir"), ("snapshot", "--snapshot"))
                    if name in options for x in (option, options[name])]
        if bool(self.folders) == bool(of_hbase) or len(of_hbase) > 2:
            raise JobError('format("saltmill"): expected the folder of a load in load(...), or one of the options tableDir '
                           "and snapshot")
        job = [options["job"]] if "job" in options else []
        if not job and (self.folders or self.decode):
            raise JobError('format("saltmill"): found no option job, expected the job file, which describes the keys')
        self.command = [*job, *self.folders, *of_hbase, *arguments(options, OF_SCAN), *(["--decode"] if self.decode else [])]

    def lines(self, *more):
        """Yield the lines that the program prints.  Raise JobError if it fails."""
        program, why_not = program_of(self.setting)
        if why_not:
            raise JobError(why_not)
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen([program, "scan", *self.command, *more, "--die-with-parent"], stdout=subprocess.PIPE,
                                       stdin=subprocess.DEVNULL, stderr=said)
            try:
                yield from process.stdout
                status = process.wait()
            finally:  # Spark may want no more rows
                process.kill()
                process.wait()
                process.stdout.close()
            said.seek(0)
            if status:
                raise JobError(native.Outcome("scan", status, b"", said.read().decode(errors="replace")).sentence)

    def rows(self, partition):
        for line in self.lines("--format", "jsonl", *partition.limits()):
            yield json.loads(line, parse_int=str, parse_float=str)

    def header(self):
        """Return the names of the decoded columns."""
        with contextlib.closing(self.lines("--format", "csv")) as lines:
            first = next(lines, b"").decode().rstrip("\n")
        if not first or '"' in first:
            raise JobError('format("saltmill"): found no plain names of columns, expected them; give the columns with schema()')
        return first.split(",")

    def partitions(self):
        """Return the regions of the first load, or those between the keys of the file of the option splits."""
        if "splits" in self.options:
            keys = pathlib.Path(self.options["splits"]).read_text().split()
        elif self.folders:
            keys = self.borders(pathlib.Path(self.folders[0]) / "manifest.json")
        else:
            keys = []
        return [Rows(a, b) for a, b in zip(["", *keys], [*keys, ""])]

    def borders(self, manifest):
        if not manifest.exists():  # a state folder
            return []
        tables = json.loads(manifest.read_text())["tables"]
        wanted = [t for t in tables if t["name"] == self.options.get("table", t["name"])]
        return [r["start"] for r in wanted[0]["regions"][1:]] if len(wanted) == 1 else []


class Reader(DataSourceReader):
    def __init__(self, scan, names):
        self.scan, self.names = scan, names

    def partitions(self):
        return self.scan.partitions()

    def read(self, partition):
        return (self.decoded if self.scan.decode else self.cells)(partition)

    def cells(self, partition):
        for row in self.scan.rows(partition):
            key = unescaped(row["row"])
            for c in row["cells"]:
                yield (key, c["family"], unescaped(c["qualifier"]), int(c["timestamp"]), c["type"], unescaped(c["value"]))

    def decoded(self, partition):
        places = {name: n for n, name in enumerate(self.names)}
        for row in self.scan.rows(partition):
            values = [None] * len(places)
            for name, value in {**row["key"], **row["cells"]}.items():
                if name in places:
                    values[places[name]] = value if value is None or isinstance(value, str) else json.dumps(value)
                elif "columns" not in self.scan.options:
                    raise JobError(f'row {row["row"]}: found the column {name}, expected only {", ".join(places)}; list all '
                                   "columns with schema()")
            yield tuple(values)


@dataclasses.dataclass
class Part(WriterCommitMessage):
    number: int
    file: str


class Writer(DataSourceArrowWriter):
    """Tasks write their rows as Arrow files into a folder next to OUT.  The driver's machine loads these files."""

    def __init__(self, setting, options):
        self.setting, self.options = setting, options
        self.out = pathlib.Path(os.path.abspath(options["path"]))
        self.spool = self.out.with_name(f"{self.out.name}.saltmill-write-{uuid.uuid4().hex}")
        if os.path.lexists(self.out):
            raise JobError(f"{self.out}: found an existing folder, expected a new one; a load never changes an existing one")
        self.spool.mkdir()

    def write(self, batches):
        import pyarrow
        from pyspark import TaskContext
        task = TaskContext.get()
        name, writer = f"part-{task.partitionId():05d}.{task.taskAttemptId()}", None
        with open(self.spool / name, "xb") as f:
            for batch in batches:
                writer = writer or pyarrow.ipc.new_stream(f, batch.schema)
                writer.write_batch(batch)
            if writer:
                writer.close()
        return Part(task.partitionId(), name if writer else "")

    def commit(self, messages):
        try:
            files = []
            for part in sorted((m for m in messages if m and m.file), key=lambda m: m.number):
                files.append(f"part-{part.number:05d}.arrow")
                os.rename(self.spool / part.file, self.spool / files[-1])
            if not files:
                raise JobError("found a DataFrame without rows, expected rows to load")
            program, why_not = program_of(self.setting)
            if why_not:
                raise JobError(why_not)
            once = [] if is_on(self.options, "ordered") else ["--max-duplicates", "0"]
            outcome = native.run(program, "load", os.path.abspath(self.options["job"]), *files, "-o", self.out, *once,
                                 *arguments(self.options, OF_LOAD), "--quiet", cwd=self.spool)
            if outcome.status not in (native.DONE, native.REJECTS):
                raise JobError(outcome.sentence)
        finally:
            self.abort(messages)

    def abort(self, messages):
        shutil.rmtree(self.spool, ignore_errors=True)


class Source(DataSource):
    """The data source.  saltmill.spark.register makes a subclass with the program of the session."""

    setting = None

    @classmethod
    def name(cls):
        return "saltmill"

    def __init__(self, options):
        super().__init__(options)
        check_options(options)

    def schema(self):
        scan = Scan(self.setting, self.options)
        return ", ".join(f"`{n}` string" for n in scan.header()) if scan.decode else CELLS

    def reader(self, schema):
        return Reader(Scan(self.setting, self.options), schema.names)

    def writer(self, schema, overwrite):
        if overwrite:
            raise JobError('format("saltmill"): found mode("overwrite"), expected mode("append") and a new folder')
        if "path" not in self.options or "job" not in self.options:
            raise JobError('format("saltmill"): expected save(OUT) and the option job')
        return Writer(self.setting, self.options)


def source_of(program, digest):
    """Return the data source for a session whose tasks have the program.  Spark sends this class by value."""
    setting = Setting(program=program, digest=digest, job="", files={}, memory="512M", threads=1)
    return type("Saltmill", (Source,), {"setting": setting, "__module__": "__main__"})
