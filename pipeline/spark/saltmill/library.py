"""HFiles and row keys by libsaltmill, which the package contains (ctypes, no compiler)."""

from __future__ import annotations

import ctypes
import enum
import os
import pathlib
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

if TYPE_CHECKING:
    import pyarrow

Path = Union[str, "os.PathLike[str]"]
Value = Union[str, bytes, int, float]

OK, END = 0, 1
CELLS_AT_ONCE = 1000


class Error(Exception):
    """A failure of libsaltmill. The text names the place and the fix; `code` is the code of saltmill(3)."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


class DataError(Error):
    """A file is damaged, a cell is invalid, or a row key has another form."""


class OrderError(Error):
    """Cells are out of order. The text names both."""


class FileError(Error, OSError):
    """The system failed, or a new file exists already."""


class Type(enum.IntEnum):
    """The types of cells. All but PUT are delete markers."""

    PUT = 4
    DELETE = 8
    DELETE_FAMILY_VERSION = 10
    DELETE_COLUMN = 12
    DELETE_FAMILY = 14


class Cell(NamedTuple):
    """A cell of HBase. `timestamp` is in milliseconds. `tags` are the bytes of the file."""

    row: bytes
    family: bytes
    qualifier: bytes
    timestamp: int
    value: bytes = b""
    type: Type = Type.PUT
    tags: bytes = b""


class Counts(NamedTuple):
    """Counts of a whole file. `cell_bytes` are those of the uncompressed cells."""

    cells: int
    rows: int
    data_blocks: int
    file_bytes: int
    cell_bytes: int
    min_timestamp: int
    max_timestamp: int


class Info(NamedTuple):
    """The facts at the end of an HFile."""

    compression: str
    encoding: str
    bloom: str
    first_row: bytes
    last_row: bytes
    cells: int
    data_blocks: int
    file_bytes: int
    bloom_keys: int
    time_ms: int
    version: tuple[int, int]
    index_levels: int
    tags: bool
    mvcc: bool


# --- the structs of saltmill.h ---

class _In(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class _Out(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t)]

    def bytes(self) -> bytes:
        return ctypes.string_at(self.ptr, self.len) if self.len else b""


class _Cell(ctypes.Structure):
    _fields_ = [*((name, _In) for name in ("row", "family", "qualifier", "value", "tags")),
                ("timestamp", ctypes.c_int64), ("mvcc", ctypes.c_uint64), ("type", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


_CELL = struct.Struct("PNPNPNPNPNqQII")


class _Counts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t),
                *((name, ctypes.c_uint64) for name in ("cells", "rows", "data_blocks", "file_bytes", "cell_bytes")),
                ("min_timestamp", ctypes.c_int64), ("max_timestamp", ctypes.c_int64)]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t),
                *((name, ctypes.c_char_p) for name in ("compression", "encoding", "bloom", "family", "source_task")),
                ("time_ms", ctypes.c_int64), ("block_bytes", ctypes.c_uint32), ("bloom_prefix", ctypes.c_uint32),
                ("level", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class _Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t),
                *((name, ctypes.c_char_p) for name in ("compression", "encoding", "bloom")),
                ("first_row", _Out), ("last_row", _Out),
                *((name, ctypes.c_uint64) for name in ("cells", "data_blocks", "file_bytes", "bloom_keys")),
                ("time_ms", ctypes.c_int64),
                *((name, ctypes.c_uint32) for name in ("major", "minor", "index_levels", "flags"))]


class _ReaderOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("master_keys", _In), ("dictionaries", ctypes.POINTER(_In)),
                ("dictionary_count", ctypes.c_size_t)]


class _FieldIn(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("text", _In)]


class _FieldOut(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("text", _Out)]


class _Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private")]


_TAGS, _MVCC, _ZSTD_HADOOP = 1, 2, 4
_loading = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def _names() -> list[str]:
    own = pathlib.Path(__file__).parent / "lib" / "libsaltmill.so.1"
    given = os.environ.get("SALTMILL_LIBRARY")
    return [given] if given else [str(own)] if own.exists() else ["libsaltmill.so.1"]


def _library() -> ctypes.CDLL:
    global _loaded
    with _loading:
        if _loaded:
            return _loaded
        try:
            lib = ctypes.CDLL(_names()[0])
        except OSError as e:
            raise ImportError(f"cannot load libsaltmill ({e}); install the wheel of `make wheel`, run `make install`, "
                              "or set SALTMILL_LIBRARY to the path of libsaltmill.so.1") from e
        for kind in ("writer", "reader", "job"):
            getattr(lib, f"sm_{kind}_error").restype = ctypes.c_char_p
            getattr(lib, f"sm_{kind}_close").restype = None
        lib.sm_version.restype = ctypes.c_char_p
        lib.sm_reader_range.argtypes = [ctypes.c_void_p, _In, _In]
        lib.sm_reader_seek.argtypes = [ctypes.c_void_p, _In, _In, _In]
        lib.sm_reader_may_contain.argtypes = [ctypes.c_void_p, _In, _In, ctypes.c_void_p]
        lib.sm_job_decode.argtypes = [ctypes.c_void_p, _In, ctypes.c_void_p, ctypes.c_void_p]
        _loaded = lib
        return lib


def library_version() -> str:
    """Return the version of libsaltmill, such as "0.1.0"."""
    return _library().sm_version().decode()


def _in(value: bytes) -> _In:
    return _In(value, len(value))


def _whole(value: bytes) -> bytes:
    """C would take the bytes before a zero byte for the whole text."""
    if b"\0" in value:
        raise ValueError(f"found a zero byte in {value!r}, expected none")
    return value


def _text(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else _whole(value.encode())


def _path(path: Path) -> bytes:
    return _whole(os.fsencode(path))


def _fit(value: int, bits: int, name: str) -> int:
    """ctypes drops the high bits of a larger number."""
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise OverflowError(f"{name}: found {value}, expected a number of {bits} bits")
    return value


class _Handle:
    """A handle of the library. One thread at a time calls the library with it."""

    _kind = ""

    def __init__(self) -> None:
        self._lib = _library()
        self._at = ctypes.c_void_p()
        self._lock = threading.RLock()

    def _call(self, name: str, *args: Any) -> int:
        with self._lock:
            if not self._at:
                raise ValueError(f"the {self._kind} is closed")
            return self._checked(getattr(self._lib, f"sm_{self._kind}_{name}")(self._at, *args))

    def _checked(self, code: int) -> int:
        if code >= OK:
            return code
        text = getattr(self._lib, f"sm_{self._kind}_error")(self._at).decode("utf-8", "replace")
        if code == -2:
            raise MemoryError(text)
        raise {-1: FileError, -3: DataError, -4: OrderError}.get(code, Error)(text, code)

    def _open(self, name: str, *args: Any) -> None:
        try:
            self._checked(getattr(self._lib, f"sm_{self._kind}_{name}")(ctypes.byref(self._at), *args))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Free the handle. Later calls raise ValueError."""
        at, self._at = getattr(self, "_at", None), ctypes.c_void_p()
        if at:
            with self._lock:
                getattr(self._lib, f"sm_{self._kind}_close")(at)

    def __del__(self) -> None:
        self.close()


class HFileWriter(_Handle):
    """A new HFile of one family. Add cells in the order of HBase: row, family and qualifier as bytes, then timestamp
    and type from high to low.

        with saltmill.HFileWriter("out/f/part-0", family="f", compression="ZSTD") as w:
            w.add(b"row1", b"name", b"Ada", timestamp=1700000000000)

    At the end of `with`, the file gets its name; after an exception, there is no file. `path` must not exist.
    """

    _kind = "writer"

    def __init__(self, path: Path, *, family: Optional[str] = None, compression: str = "NONE", encoding: str = "NONE",
                 bloom: str = "ROW", bloom_prefix: int = 0, level: int = 0, block_bytes: int = 0, time_ms: int = 0,
                 source_task: str = "", tags: bool = False, mvcc: bool = False, zstd_hadoop: bool = False) -> None:
        """compression: NONE, GZ, SNAPPY, LZ4 or ZSTD. encoding: NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1. bloom:
        NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH with bloom_prefix. time_ms: the times in the file info, because the
        library reads no clock. tags: cells can have tags. zstd_hadoop: frame ZSTD for Hadoop's native codec."""
        super().__init__()
        o = _Options(ctypes.sizeof(_Options), _text(compression), _text(encoding), _text(bloom), _text(family),
                     _text(source_task), _fit(time_ms, 64, "time_ms"), _fit(block_bytes, 32, "block_bytes"),
                     _fit(bloom_prefix, 32, "bloom_prefix"), _fit(level, 32, "level"),
                     tags * _TAGS | mvcc * _MVCC | zstd_hadoop * _ZSTD_HADOOP)
        self._open("open", _path(path), ctypes.byref(o))

    def add(self, row: bytes, qualifier: bytes, value: bytes = b"", *, timestamp: int, family: bytes = b"",
            type: Type = Type.PUT, tags: bytes = b"") -> None:
        """Append a cell. Raises OrderError if it sorts before the previous cell."""
        self.add_cells([Cell(row, family, qualifier, timestamp, value, type, tags)])

    def add_cells(self, cells: Iterable[Cell]) -> None:
        """Append cells. This is faster than `add`. After an error, the file has the cells before the wrong one."""
        room = (_Cell * CELLS_AT_ONCE)()
        n = 0
        try:
            for c in cells:
                at = room[n]
                at.row, at.family, at.qualifier = _in(c.row), _in(c.family), _in(c.qualifier)
                at.value, at.tags = _in(c.value), _in(c.tags)
                at.timestamp, at.type = _fit(c.timestamp, 64, "timestamp"), _fit(c.type, 32, "type")
                n += 1
                if n == CELLS_AT_ONCE:
                    n = 0
                    self._call("add", room, ctypes.c_size_t(CELLS_AT_ONCE))
        finally:  # also the cells before a wrong one
            self._call("add", room, ctypes.c_size_t(n))

    def finish(self) -> Counts:
        """Write the end of the file, sync it and give it its name. Never replaces a file."""
        counts = _Counts(ctypes.sizeof(_Counts))
        self._call("finish", ctypes.byref(counts))
        self.close()
        return Counts(*(getattr(counts, name) for name in Counts._fields))

    def __enter__(self) -> "HFileWriter":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._at and kind is None:
            self.finish()
        self.close()


class HFile(_Handle):
    """An HFile of any program, version 2 or 3, from a path or from its bytes.

        with saltmill.HFile("out/f/part-0") as f:
            for cell in f:
                print(cell.row, cell.value)

    A handle has one position, so an iterator ends with RuntimeError when another begins.
    """

    _kind = "reader"

    def __init__(self, path: Union[Path, bytes], *, master_keys: str = "", dictionaries: Iterable[bytes] = ()) -> None:
        """master_keys: for encrypted files, 32 hex digits on each line. dictionaries: for ZSTD, contents of files of
        hbase.io.compress.zstd.dictionary."""
        super().__init__()
        self._walk = 0
        self._bytes = path if isinstance(path, bytes) else None  # the library borrows them
        contents = [_in(d) for d in dictionaries]
        o = _ReaderOptions(ctypes.sizeof(_ReaderOptions), _in(master_keys.encode()), (_In * len(contents))(*contents), len(contents))
        if self._bytes is not None:
            self._open("open_memory_with", self._bytes, ctypes.c_size_t(len(self._bytes)), ctypes.byref(o))
        else:
            self._open("open_with", _path(path), ctypes.byref(o))

    def __enter__(self) -> "HFile":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Cell]:
        return self.cells()

    def cells(self, start: bytes = b"", stop: bytes = b"") -> Iterator[Cell]:
        """Return the cells of the rows from `start` up to, but without, `stop`. Empty means no limit."""
        self._call("range", _in(start), _in(stop))
        return self._cells()

    def seek(self, row: bytes, family: bytes = b"", qualifier: bytes = b"") -> Iterator[Cell]:
        """Return the cells from the first that is not before this row and column."""
        self._call("range", _in(b""), _in(b""))
        self._call("seek", _in(row), _in(family), _in(qualifier))
        return self._cells()

    def get(self, row: bytes) -> list[Cell]:
        """Return the cells of one row. The Bloom filter spares reads."""
        if not self.info.bloom.startswith("ROWCOL") and not self.may_contain(row):
            return []
        return list(self.cells(row, row + b"\0"))

    def _cells(self) -> Iterator[Cell]:
        self._walk += 1
        return self._from_here(self._walk)

    def _from_here(self, walk: int) -> Iterator[Cell]:
        at, n = ctypes.c_void_p(), ctypes.c_size_t()
        copy = ctypes.string_at
        while True:
            if walk != self._walk:
                raise RuntimeError("another iterator of this HFile has begun")
            with self._lock:  # until the bytes are copied
                if self._call("next_cells", ctypes.byref(at), ctypes.byref(n)) == END:
                    return
                cells = [Cell(copy(row, a), copy(family, b), copy(qualifier, c) if c else b"", ts,
                              copy(value, d) if d else b"", Type(kind), copy(tags, e) if e else b"")
                         for row, a, family, b, qualifier, c, value, d, tags, e, ts, _, kind, _
                         in _CELL.iter_unpack(copy(at, n.value * _CELL.size))]
            yield from cells

    def may_contain(self, row: bytes, qualifier: bytes = b"") -> bool:
        """Ask the Bloom filter. False means that the file has no cell of the row (ROWCOL: of the row and qualifier)."""
        may = ctypes.c_int(1)
        self._call("may_contain", _in(row), _in(qualifier), ctypes.byref(may))
        return bool(may.value)

    @property
    def info(self) -> Info:
        """Codec, encoding, Bloom filter, first and last row, and counts."""
        i = _Info(ctypes.sizeof(_Info))
        with self._lock:
            self._call("info", ctypes.byref(i))
            rows = i.first_row.bytes(), i.last_row.bytes()
        return Info(i.compression.decode(), i.encoding.decode(), i.bloom.decode(), *rows, i.cells, i.data_blocks, i.file_bytes, i.bloom_keys, i.time_ms,
                    (i.major, i.minor), i.index_levels, bool(i.flags & _TAGS), bool(i.flags & _MVCC))

    @property
    def meta(self) -> dict[bytes, bytes]:
        """The file info: names such as b"hfile.LASTKEY", and their bytes."""
        found: dict[bytes, bytes] = {}
        key, value = _Out(), _Out()
        with self._lock:
            while self._call("meta", ctypes.c_size_t(len(found)), ctypes.byref(key), ctypes.byref(value)) == OK:
                found[key.bytes()] = value.bytes()
        return found

    def verify(self) -> Counts:
        """Verify the whole file: checksums, index, order, counts and the Bloom filter. Raises DataError."""
        self._walk += 1
        counts = _Counts(ctypes.sizeof(_Counts))
        self._call("verify", ctypes.byref(counts))
        return Counts(*(getattr(counts, name) for name in Counts._fields))


def scan(path: Path, start: bytes = b"", stop: bytes = b"", *, batch_rows: int = 65536, master_keys: str = "",
         dictionaries: Iterable[bytes] = ()) -> "pyarrow.RecordBatchReader":
    """Return the cells of an HFile as Arrow record batches (needs pyarrow). Keys and dictionaries are those of HFile.

        table = saltmill.scan("out/f/part-0", start=b"a", stop=b"b").read_all()

    The columns are row, family, qualifier, timestamp (ms, UTC), type (see Type), value, and tags if the file has them.
    The library fills the buffers of a batch once, and pyarrow uses them without a copy (Arrow C stream interface).
    """
    import pyarrow
    file = HFile(path, master_keys=master_keys, dictionaries=dictionaries)
    file._call("range", _in(start), _in(stop))
    stream = _Stream()
    file._call("to_arrow", ctypes.byref(stream), ctypes.c_size_t(_fit(batch_rows, 64, "batch_rows")))
    file._at = ctypes.c_void_p()  # the stream owns the handle now
    return pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))


class Job(_Handle):
    """The row keys of a table of a job file; see `job`."""

    _kind = "job"

    def __init__(self, path: Path, table: Optional[str] = None) -> None:
        super().__init__()
        self._open("open", _path(path), _text(table))

    @property
    def fields(self) -> list[str]:
        """The names of the fields of the row key, in its order."""
        names: list[str] = []
        name = ctypes.c_char_p()
        while self._call("field", ctypes.c_size_t(len(names)), ctypes.byref(name)) == OK:
            names.append((name.value or b"").decode())
        return names

    def encode(self, fields: Optional[Mapping[str, Value]] = None, **more: Value) -> bytes:
        """Return the row key of these fields. Values are texts in the form of the source, or numbers."""
        given = {**(fields or {}), **more}
        texts = {name: self._form(name, value) for name, value in given.items()}
        room = (_FieldIn * len(texts))(*(_FieldIn(_text(n), _in(t)) for n, t in texts.items()))
        key = _Out()
        with self._lock:
            self._call("encode", room, ctypes.c_size_t(len(texts)), ctypes.byref(key))
            return key.bytes()

    @staticmethod
    def _form(name: str, value: Value) -> bytes:
        if isinstance(value, bool):
            return b"true" if value else b"false"
        if isinstance(value, bytes):
            return value
        if isinstance(value, (str, int, float)):
            return str(value).encode()
        raise TypeError(f"{name}: found {type(value).__name__}, expected a text in the form of the source, or a number")

    def decode(self, key: bytes) -> dict[str, str]:
        """Return the fields of a row key as texts; times are ISO 8601 in UTC. Raises DataError if the key has another
        form, or a wrong salt or hash."""
        at, n = ctypes.c_void_p(), ctypes.c_size_t()
        with self._lock:
            self._call("decode", _in(key), ctypes.byref(at), ctypes.byref(n))
            fields = (_FieldOut * n.value).from_address(at.value or 0) if n.value else []
            return {f.name.decode(): f.text.bytes().decode("utf-8", "replace") for f in fields}


def job(path: Path, table: Optional[str] = None) -> Job:
    """Open a job file to encode and decode the row keys of a table.

        j = saltmill.job("ratings.yaml")
        key = j.encode(userId=42, timestamp=1000, movieId=7)
        j.decode(key)    # {"userId": "42", ...}

    `table` may be None if the job has one table.
    """
    return Job(path, table)
