"""Inputs and how they are cut into slices."""

import fnmatch
import glob
import os
import posixpath
import typing

from . import JobError

SMALLEST_SLICE = 256 << 20
READ_BYTES = 1 << 20
HEAD_BYTES = 16 << 20  # in which a file's header stands
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04")


class Input(typing.NamedTuple):
    number: int
    name: str  # as the caller spells it, and so the manifest
    path: str  # that tasks open
    size: int
    packed: bool
    seen: tuple = ()  # when it was listed: what of the file changes when it does


class Slice(typing.NamedTuple):
    """One map: an input, or the rows that begin in [start, end) of it."""

    number: int  # of the try: a slice mapped again is another one
    input: Input
    bounds: typing.Optional[str]  # for --slice; None: all of the input


# --- which files ---

def file_seen(file):
    """Of a path or a descriptor."""
    s = os.stat(file)
    return s.st_size, s.st_mtime_ns, s.st_dev, s.st_ino


def object_seen(info):
    return info.size, info.mtime_ns


def unchanged(inputs, filesystem):
    """JobError when an input is another now than when it was listed."""
    for i in inputs:
        try:
            now = object_seen(filesystem.get_file_info(i.path)) if filesystem else file_seen(i.path)
        except OSError as e:
            raise JobError(f"{i.name}: {e.strerror or e}") from e
        if now != i.seen:
            raise JobError(f"{i.name}: was changed or replaced while it was loaded (its size, time or inode): nothing was "
                           "published")



def visible(name):
    return not posixpath.basename(name).startswith((".", "_"))


def is_pattern(path):
    return glob.has_magic(path)


class LocalFiles:
    """Of paths that all tasks can open, and so the native program itself."""

    filesystem = None

    def __init__(self, paths):
        self.paths = [without_scheme(p) for p in paths]

    def expand(self, path):
        """The files of a pattern or a folder, in the order of their names' bytes, as in a job."""
        if os.path.isdir(path):
            found = [e.path for e in os.scandir(path) if e.is_file() and visible(e.name)]
        elif is_pattern(path) and not os.path.exists(path):
            found = [f for f in glob.glob(path) if visible(f) and os.path.isfile(f)]
        else:
            return [path]
        return sorted(found, key=os.fsencode)

    def look(self, number, name):
        with open(name, "rb") as f:
            size, seen, begin = os.fstat(f.fileno()).st_size, file_seen(f.fileno()), f.read(6)
        return Input(number, name, os.path.abspath(name), size, begin.startswith(PACKED), seen)


class RemoteFiles:
    """Of a pyarrow file system: tasks read them and feed them to the native program."""

    def __init__(self, paths, filesystem=None):
        import pyarrow.fs
        self.fs = pyarrow.fs
        self.filesystem, self.roots = filesystem, {}
        self.paths = [os.fspath(p) for p in paths]
        if not filesystem:
            self.filesystem, _ = self.fs.FileSystem.from_uri(self.paths[0])
        for name in self.paths:
            path = name if filesystem else self.path_of_uri(name)
            self.roots[name] = (name[:len(name) - len(path)] if name.endswith(path) else "", path)

    def path_of_uri(self, uri):
        other, path = self.fs.FileSystem.from_uri(uri)
        if not other.equals(self.filesystem):
            raise JobError(f"{uri}: is on another file system than {self.paths[0]}, expected one a load")
        return path

    def expand(self, name):
        prefix, path = self.roots[name]
        pattern = is_pattern(path)
        folder = posixpath.dirname(path) if pattern else path.rstrip("/")
        if not pattern and self.filesystem.get_file_info(folder).type != self.fs.FileType.Directory:
            return [name]
        found = [f.path for f in self.filesystem.get_file_info(self.fs.FileSelector(folder)) if f.is_file]
        kept = [f for f in found if visible(f) and (not pattern or fnmatch.fnmatchcase(f, path))]
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
        raise JobError(f"{paths[remote.index(False)]}: is on another file system than {paths[remote.index(True)]}, "
                       "expected one a load")
    return RemoteFiles(paths, filesystem) if filesystem or any(remote) else LocalFiles(paths)


def list_inputs(paths, filesystem=None):
    """(inputs, the file system that they are read through, None: the native program opens them)."""
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not paths:
        raise JobError("no input: give the files to load")
    name, inputs = paths[0], []
    try:
        files = files_of(paths, filesystem)
        for given in files.paths:
            names = files.expand(name := given)
            if not names:
                raise JobError(f"{given}: no file is there")
            for name in names:
                inputs.append(files.look(len(inputs), name))
    except OSError as e:
        raise JobError(f"{name}: {e.strerror or e}") from e
    return inputs, files.filesystem


# --- slices ---

def cut(inputs, wanted, sliceable):
    """About so many slices of nearly one size; one an input that cannot be cut.  None: by size."""
    total = sum(i.size for i in inputs)
    each = max(1, -(-total // wanted)) if wanted else SMALLEST_SLICE
    slices = []
    for i in inputs:
        parts = max(1, round(i.size / each)) if sliceable and not i.packed else 1
        for part in range(parts):
            bounds = None if parts == 1 else f"{i.size * part // parts}-{i.size * (part + 1) // parts}"
            slices.append(Slice(len(slices), i, bounds))
    return slices


def mend(slices, reports):
    """(place, bounds) of the slices that do not begin where the one before ended.

    slices: in the order of the input; reports: by their numbers.  Where a slice begins is guessed
    from line ends, so one in quotes shows as a pair that does not meet; mapped again from where the
    one before ended, it does.  A mended slice may end elsewhere: ask again until there is none.
    """
    bad, before, expected = [], None, None
    for place, s in enumerate(slices):
        r = reports[s.number]
        if s.input != before:
            before, expected = s.input, r["head"]
        if s.bounds and r["first"] != expected:
            bad.append((place, f"={expected}-{r['to']}"))
        expected = max(expected, r["end"]) if r["first"] == r["end"] else r["end"]
    return bad


# --- feeding the native program ---

def read_from(filesystem, path, offset=0):
    """The file's bytes from there on.  Opened as a file: a stream would unpack what looks packed."""
    with filesystem.open_input_file(path) as f:
        f.seek(offset)
        while data := f.read(READ_BYTES):
            yield data


def read_head(filesystem, path):
    with filesystem.open_input_file(path) as f:
        return f.read(HEAD_BYTES)


def feed_of(what):
    """Arguments that say what standard input will be, and where in the file it begins."""
    i, offset, of_slice = what.input, 0, []
    if what.bounds:
        start = int(what.bounds.lstrip("=").split("-")[0])
        offset = start if what.bounds[0] == "=" else max(start - 1, 0)
        of_slice = ["--slice", what.bounds, "--offset", offset, "--size", i.size]
    return ["-", "--name", i.name, "--bytes", i.size - offset, *of_slice], offset


def told(inputs, digests=()):
    """For `unite --inputs`: what it does not open."""
    return {"inputs": [{"path": i.name, "size": i.size} for i in inputs], "digests": list(digests)}
