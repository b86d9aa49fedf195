"""Inputs and how they are cut into slices."""

import dataclasses
import glob
import os
import typing

from . import JobError

SMALLEST_SLICE = 256 << 20
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04")


@dataclasses.dataclass(frozen=True)
class Input:
    number: int
    name: str  # as the caller spells it, and so the manifest
    size: int
    packed: bool

    @property
    def path(self):
        return os.path.abspath(self.name)


class Slice(typing.NamedTuple):
    """One map: an input, or the rows that begin in [start, end) of it."""

    number: int  # of the try: a slice mapped again is another one
    input: int
    path: str
    bounds: typing.Optional[str]  # for --slice; None: all of the input


def without_scheme(path):
    path = os.fspath(path)
    if path.startswith("file://"):
        return path.removeprefix("file://")
    if path.startswith("file:/"):
        return path.removeprefix("file:")
    if "://" in path:
        raise JobError(f"{path}: expected a path that all tasks can open (file://)")
    return path


def visible(name):
    return not name.startswith((".", "_"))


def expand(path):
    """The files of a pattern or a folder, in the order of their names' bytes, as in a job."""
    if os.path.isdir(path):
        found = [e.path for e in os.scandir(path) if e.is_file() and visible(e.name)]
    elif glob.has_magic(path) and not os.path.exists(path):
        found = [f for f in glob.glob(path) if visible(os.path.basename(f)) and os.path.isfile(f)]
    else:
        return [path]
    if not found:
        raise JobError(f"{path}: no file is there")
    return sorted(found, key=os.fsencode)


def list_inputs(paths):
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    names = [name for path in paths for name in expand(without_scheme(path))]
    if not names:
        raise JobError("no input: give the files to load")
    inputs = []
    for number, name in enumerate(names):
        try:
            with open(name, "rb") as f:
                inputs.append(Input(number, name, os.fstat(f.fileno()).st_size, f.read(6).startswith(PACKED)))
        except OSError as e:
            raise JobError(f"{name}: {e.strerror}") from e
    return inputs


def cut(inputs, wanted, sliceable):
    """About so many slices of nearly one size; one an input that cannot be cut.  None: by size."""
    total = sum(i.size for i in inputs)
    each = max(1, -(-total // wanted)) if wanted else SMALLEST_SLICE
    slices = []
    for i in inputs:
        parts = max(1, round(i.size / each)) if sliceable and not i.packed else 1
        for part in range(parts):
            bounds = None if parts == 1 else f"{i.size * part // parts}-{i.size * (part + 1) // parts}"
            slices.append(Slice(len(slices), i.number, i.path, bounds))
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
