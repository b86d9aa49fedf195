"""List the inputs of a load, and cut them into slices."""

import fnmatch
import glob
import itertools
import os
import posixpath
import re
import typing

from . import JobError

SMALLEST_SLICE = 256 << 20
SLICES_OF_A_TASK = 100  # at most, because each slice starts the program
READ_BYTES = 1 << 20
HEAD_BYTES = 16 << 20  # the header of a file is in these first bytes
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04")


class Input(typing.NamedTuple):
    number: int
    name: str  # as given by the caller, and written to the manifest
    path: str  # path for the tasks
    size: int
    packed: bool
    seen: tuple = ()  # size, time and inode of the file in the listing


class Slice(typing.NamedTuple):
    """The input of one map: a whole input, or the rows that begin in its bytes [start, end)."""

    number: int  # number of the attempt; each attempt of a slice gets another number
    input: Input
    bounds: typing.Optional[str]  # value of --slice; None means the whole input
    task: int = 0  # number of the task that maps this slice; small inputs share a task


# --- files ---

def file_seen(file):
    """Return size, time and inode of a path or a descriptor."""
    s = os.stat(file)
    return s.st_size, s.st_mtime_ns, s.st_dev, s.st_ino


def object_seen(info):
    return info.size, info.mtime_ns


def unchanged(inputs, filesystem):
    """Raise JobError if an input has changed since the listing."""
    for i in inputs:
        try:
            now = object_seen(filesystem.get_file_info(i.path)) if filesystem else file_seen(i.path)
        except OSError as e:
            raise JobError(f"{i.name}: {e.strerror or e}") from e
        if now != i.seen:
            raise JobError(f"{i.name}: found another size, time or inode than at the start, expected an unchanged file; "
                           "saltmill published nothing; run the load again")


def visible(name):
    return not posixpath.basename(name).startswith((".", "_"))


def is_pattern(path):
    return glob.has_magic(path)


def is_partition(name):
    """Return whether a folder is NAME=VALUE, as Hive and Spark write it (`partitions:` of the job)."""
    return visible(name) and "=" in posixpath.basename(name)


def matches(path, pattern):
    """Return whether a path has the names of a pattern, folder by folder, as for the shell."""
    names, patterns = path.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(map(fnmatch.fnmatchcase, names, patterns))


class LocalFiles:
    """Files that all tasks, and therefore the native program, can open."""

    filesystem = None

    def __init__(self, paths):
        self.paths = [without_scheme(p) for p in paths]

    def expand(self, path):
        """Return the files of a pattern or a folder, sorted by the bytes of their names, as in a job.

        A folder also has the files of its partitions.
        """
        if os.path.isdir(path):
            found = list(self.within(path))
        elif is_pattern(path) and not os.path.exists(path):
            found = [f for f in glob.glob(path) if visible(f) and os.path.isfile(f)]
        else:
            return [path]
        return sorted(found, key=os.fsencode)

    def within(self, folder):
        for e in os.scandir(folder):
            if e.is_file() and visible(e.name):
                yield e.path
            elif e.is_dir() and is_partition(e.name):
                yield from self.within(e.path)

    def look(self, number, name):
        with open(name, "rb") as f:
            size, seen, begin = os.fstat(f.fileno()).st_size, file_seen(f.fileno()), f.read(6)
        return Input(number, name, os.path.abspath(name), size, begin.startswith(PACKED), seen)


class RemoteFiles:
    """Files of a pyarrow file system.  Tasks read them and pipe them to the native program."""

    def __init__(self, paths, filesystem=None):
        import pyarrow.fs
        self.fs = pyarrow.fs
        self.filesystem, self.roots = filesystem, {}
        self.paths = [os.fspath(p) for p in paths]
        if not filesystem:
            self.filesystem, _ = self.open_uri(self.paths[0])
        for name in self.paths:
            path = name if filesystem else self.path_of_uri(name)
            self.roots[name] = (name[:len(name) - len(path)] if name.endswith(path) else "", path)

    def open_uri(self, uri):
        """Return (file system, path).  s3a:// and s3n:// are Hadoop's names of s3://."""
        try:
            return self.fs.FileSystem.from_uri(re.sub("^s3[an]://", "s3://", uri))
        except ValueError as e:
            raise JobError(f"{uri}: {e}; expected a path, or a URI of pyarrow.fs like hdfs://, s3:// or gs://") from e

    def path_of_uri(self, uri):
        other, path = self.open_uri(uri)
        if not other.equals(self.filesystem):
            raise JobError(f"{uri}: found another file system than that of {self.paths[0]}, expected one for a load")
        return path

    def expand(self, name):
        prefix, path = self.roots[name]
        pattern = is_pattern(path)
        folder = posixpath.dirname(path) if pattern else path.rstrip("/")
        while is_pattern(folder):
            folder = posixpath.dirname(folder)
        if not pattern and self.filesystem.get_file_info(folder).type != self.fs.FileType.Directory:
            return [name]
        deep = not pattern or is_pattern(posixpath.dirname(path))
        found = [f.path for f in self.filesystem.get_file_info(self.fs.FileSelector(folder, recursive=deep)) if f.is_file]
        kept = [f for f in found if visible(f) and
                (matches(f, path) if pattern else all(map(is_partition, f[len(folder) + 1:].split("/")[:-1])))]
        for f in kept:
            self.roots[prefix + f] = (prefix, f)
        return sorted((prefix + f for f in kept), key=os.fsencode)

    def look(self, number, name):
        path = self.roots[name][1]
        info = self.filesystem.get_file_info(path)
        if not info.is_file:
            raise FileNotFoundError(2, "No such file", name)
        with self.filesystem.open_input_stream(path, compression=None) as f:
            begin = f.read(6)
        return Input(number, name, path, info.size, begin.startswith(PACKED), object_seen(info))


def without_scheme(path):
    path = os.fspath(path)
    for scheme in ("file://", "file:"):
        if path.startswith(scheme + "/"):
            return path.removeprefix(scheme)
    return path


def is_remote(path):
    return "://" in without_scheme(path)


def files_of(paths, filesystem):
    remote = [is_remote(p) for p in paths]
    if any(remote) and not all(remote) and not filesystem:
        raise JobError(f"{paths[remote.index(False)]}: found another file system than that of "
                       f"{paths[remote.index(True)]}, expected one for a load")
    return RemoteFiles(paths, filesystem) if filesystem or any(remote) else LocalFiles(paths)


def list_inputs(paths, filesystem=None):
    """Return (inputs, file system).  The file system is None if the native program opens the inputs."""
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not isinstance(paths, (list, tuple)) or not all(isinstance(p, (str, os.PathLike)) for p in paths):
        raise JobError(f"source: found {paths!r}, expected a DataFrame, or the paths of files")
    if not paths or not all(os.fspath(p) for p in paths):
        raise JobError("source: found no input, expected the files to load")
    name, inputs = paths[0], []
    try:
        files = files_of(paths, filesystem)
        for given in files.paths:
            names = files.expand(name := given)
            if not names:
                raise JobError(f"{given}: found no file, expected at least one")
            for name in names:
                inputs.append(files.look(len(inputs), name))
    except OSError as e:
        raise JobError(f"{name}: {e.strerror or e}") from e
    return inputs, files.filesystem


# --- slices ---

def cut(inputs, wanted, sliceable):
    """Return about `wanted` slices of nearly equal size (None means one for 256 MiB).

    An indivisible input is one slice. Neighbouring inputs that are smaller than a slice share a task.
    """
    total = sum(i.size for i in inputs)
    each = max(1, -(-total // wanted)) if wanted else SMALLEST_SLICE
    slices, task, filled, members = [], 0, 0, 0
    for i in inputs:
        parts = max(1, round(i.size / each)) if sliceable and not i.packed else 1
        for part in range(parts):
            bounds = None if parts == 1 else f"{i.size * part // parts}-{i.size * (part + 1) // parts}"
            if members and (bounds or filled + i.size > each or members == SLICES_OF_A_TASK):
                task, filled, members = task + 1, 0, 0
            slices.append(Slice(len(slices), i, bounds, task))
            filled, members = filled + (each if bounds else i.size), members + 1
    return slices


def by_task(slices):
    """Return the slices of each task."""
    return [list(group) for _, group in itertools.groupby(slices, key=lambda s: s.task)]


class Edge(typing.NamedTuple):
    """The quotes and the first rows of a slice, from the byte before its first byte.

    `starts` has two offsets of the first row that begins in the slice: one if that byte is outside quotes, one if it
    is inside. None means no row. `odd` is true if the number of quotes is odd.
    """

    starts: tuple
    odd: bool


def edge_of(pieces, at, end, quote):
    """Read a slice and return its Edge.  `pieces` has the file's bytes from `at` on, and `end` ends the slice."""
    odd, starts = False, [None, None]
    for data in pieces:
        data = data[:max(0, end - 1 - at)]
        place = -1
        while None in starts and (line := data.find(b"\n", place + 1)) >= 0:
            odd ^= data.count(quote, place + 1, line) % 2
            starts[odd] = at + line + 1 if starts[odd] is None else starts[odd]
            place = line
        odd ^= data.count(quote, place + 1) % 2
        at += len(data)
        if at >= end - 1:
            break
    return Edge(tuple(starts), bool(odd))


def bounds_by_quotes(slices, edges):
    """Return the bounds of each slice of an input, from the first row that begins in it.

    A slice in which no row begins gets the first row of the next slice, so it is empty.
    """
    inside, starts = False, []
    for edge in edges:
        starts.append(edge.starts[inside])
        inside ^= edge.odd
    bounds, start = [], slices[-1].input.size
    for s, known in zip(reversed(slices), reversed(starts)):
        start = start if known is None else known
        bounds.append(exactly(*s.bounds.split("-"), start))
    return bounds[::-1]


def exactly(start, end, row):
    """Return the bounds of the slice [start, end), whose first row begins at `row`."""
    return f"{min(int(start), row)}={row}-{end}"


def mend(slices, reports):
    """Return (place, bounds) of the slices that do not begin at the end of the previous slice.

    `slices` are in the order of the input, and the number of a slice is its index in `reports`. A map finds the start
    of a slice by a line end. If this line end is inside quotes, the slice begins at a wrong byte. Then a task must map
    the slice again from the end of the previous slice. Its end may change, and then the next slice is wrong, too.
    bounds_by_quotes finds the bounds of all such slices at once, unless a quote is inside an unquoted value.
    """
    bad, before, expected = [], None, None
    for place, s in enumerate(slices):
        r = reports[s.number]
        if s.input != before:
            before, expected = s.input, r["head"]
        if s.bounds and r["first"] != expected:
            bad.append((place, exactly(r["from"], r["to"], expected)))
        expected = max(expected, r["end"]) if r["first"] == r["end"] else r["end"]
    return bad


CHUNK_BYTES = 1 << 20  # FILE_CHUNK of include/hash.h


def chunk_end(at):
    return -(-at // CHUNK_BYTES) * CHUNK_BYTES


def has_digest(reports):
    """Return whether the maps of an input together have its digest, because each chunk is in one slice.

    The program makes the same check (pipeline/input/rows/proof.c).
    """
    if len(reports) == 1 and reports[0]["whole"]:
        return True
    at, end = 0, None
    for r in sorted(reports, key=lambda r: (r["from"], r["to"])):
        if not r["summed"] or chunk_end(r["from"]) != at or end not in (None, r["first"]):
            return False
        at, end = chunk_end(r["to"]), r["end"]
    return at >= reports[0]["size"] > 0


# --- input of the native program ---

def read_from(filesystem, path, offset=0):
    """Yield the file's bytes from `offset` on.  Without a file system, the path is of this machine.

    Open the input as a file, because an input stream would decompress the bytes.
    """
    with filesystem.open_input_file(path) if filesystem else open(path, "rb") as f:
        f.seek(offset)
        while data := f.read(READ_BYTES):
            yield data


def read_head(filesystem, path):
    with filesystem.open_input_file(path) as f:
        return f.read(HEAD_BYTES)


def feed_of(what):
    """Return the arguments that describe standard input, and its offset in the file."""
    i, offset, of_slice = what.input, 0, []
    if what.bounds:
        start = int(re.match(r"\d+", what.bounds)[0])
        offset = start if "=" in what.bounds else max(start - 1, 0)
        of_slice = ["--slice", what.bounds, "--offset", offset, "--size", i.size]
    return ["-", "--name", i.name, "--bytes", i.size - offset, *of_slice], offset


def told(inputs, digests=()):
    """Return the value of `unite --inputs`, for inputs that unite cannot open."""
    return {"inputs": [{"path": i.name, "size": i.size} for i in inputs], "digests": list(digests)}
