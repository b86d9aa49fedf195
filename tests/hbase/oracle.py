"""Computes the expected contents of a table from the input without the program. The tests describe each job by hand,
and no code reads a job file.
"""

import functools
import itertools
import re
import struct

LONG_MAX = (1 << 63) - 1


def u16(n):
    return struct.pack(">H", n)


def u32(n):
    return struct.pack(">I", n)


def u64(n):
    return struct.pack(">Q", n)


def i32(n):
    return struct.pack(">i", n)


def reversed_millis(ms):
    return struct.pack(">q", LONG_MAX - ms)


@functools.lru_cache(maxsize=1 << 16)
def murmur3_32(data, seed=0):
    """Computes MurmurHash3_x86_32, implemented from Austin Appleby's description."""
    def mix(k):
        k = k * 0xCC9E2D51 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        return k * 0x1B873593 & 0xFFFFFFFF

    h = seed
    whole = len(data) // 4 * 4
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        h ^= mix(k)
        h = (h << 13 | h >> 19) & 0xFFFFFFFF
        h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF
    if len(data) > whole:
        h ^= mix(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def salt(buckets, data):
    return bytes([murmur3_32(data) % buckets])


def unescape(text):
    """Returns the bytes of a split key from its text in splits.txt and get_splits."""
    if not re.fullmatch(r"(?:\\x[0-9A-F]{2}|[ -\[\]-~])+", text):
        raise ValueError(f"not an escaped key: {text!r}")
    return re.sub(rb"\\x(..)", lambda m: bytes([int(m[1], 16)]), text.encode())


class Cells:
    """The cells of one table. If two cells have equal coordinates, the later cell stays."""

    def __init__(self):
        self.rows = {}  # row in hex -> its cells as the driver writes them, sorted, joined by tabs
        self.cells = 0

    def add(self, row, cells):
        """Adds cells, which are (family, qualifier, timestamp, value) tuples."""
        key = row.hex()
        values = {}
        if key in self.rows:
            values = dict(c.rsplit(":", 1) for c in self.rows[key].split("\t"))
            self.cells -= len(values)
        values.update((f"{f}:{q.hex()}:{ts}", v.hex()) for f, q, ts, v in cells)
        self.cells += len(values)
        self.rows[key] = "\t".join(sorted(":".join(c) for c in values.items()))

    def bloom_keys(self, family, bloom):
        """Returns the number of keys in a Bloom filter of this type. A row, or a column of a row, counts once."""
        columns = 0 if bloom == "ROW" else 1
        keys = 0
        for cells in self.rows.values():
            parts = (c.split(":") for c in cells.split("\t"))
            keys += len({p[columns] for p in parts if p[0] == family})
        return keys

    def differences(self, file, most=5):
        """Compares the cells with a scan's file. Returns at most `most` differences."""
        found, seen, last = [], 0, ""
        with open(file, encoding="ascii") as lines:
            for line in lines:
                row, *cells = line.rstrip("\n").split("\t")
                want, got = self.rows.get(row), "\t".join(sorted(cells))
                seen += want is not None
                if row <= last:
                    found.append(f"row {row} after {last}")
                if want != got:
                    found.append(f"row {row}\n  has    {got}\n  wanted {want or 'no such row'}")
                last = row
                if len(found) >= most:
                    return found
        if not found and seen < len(self.rows):
            found.append(f"{len(self.rows) - seen} rows are missing, among them "
                         + ", ".join(self._missing(file, 3)))
        return found

    def _missing(self, file, most):
        with open(file, encoding="ascii") as lines:
            there = {line.split("\t", 1)[0].rstrip("\n") for line in lines}
        return list(itertools.islice((r for r in self.rows if r not in there), most))
