"""Reads HFiles of version 3 for the tests, with only the standard library and no code of the program.

read(path) returns the cells in the order of the file. The reader checks every block's header, sizes and checksums. It
checks that blocks follow each other without a gap, the offsets of earlier blocks, and every index entry at every level.
It also checks the counts, the file info, and that the Bloom filter contains each row (or column).

Section numbers refer to the description of the format.
"""

import dataclasses
import gzip
import itertools
import struct
import zlib

HEADER, TRAILER = 33, 4096
GZ, NONE = 1, 2
ENCODINGS = {2: "PREFIX", 3: "DIFF", 4: "FAST_DIFF", 7: "ROW_INDEX_V1"}
LONG_MAX = (1 << 63) - 1
PUT = 4
MARKERS = (8, 10, 12, 14)  # Delete, DeleteFamilyVersion, DeleteColumn, DeleteFamily
FAMILY_MARKERS = (10, 14)


class Bad(AssertionError):
    """Means that the file does not follow the format."""


def need(condition, *what):
    if not condition:
        raise Bad(" ".join(map(str, what)))


# --- numbers, hashes ---

def crc32c_tables():
    """Slicing by eight: TABLES[k][b] is the sum of byte b followed by k zero bytes."""
    tables = [[0] * 256 for _ in range(8)]
    for n in range(256):
        c = n
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
        tables[0][n] = c
    for k, n in itertools.product(range(1, 8), range(256)):
        c = tables[k - 1][n]
        tables[k][n] = c >> 8 ^ tables[0][c & 0xFF]
    return tables


T0, T1, T2, T3, T4, T5, T6, T7 = crc32c_tables()


def crc32c(data):
    c = 0xFFFFFFFF
    whole = len(data) & ~7
    for low, high in struct.iter_unpack("<II", data[:whole]):
        low ^= c
        c = (T7[low & 255] ^ T6[low >> 8 & 255] ^ T5[low >> 16 & 255] ^ T4[low >> 24]
             ^ T3[high & 255] ^ T2[high >> 8 & 255] ^ T1[high >> 16 & 255] ^ T0[high >> 24])
    for b in data[whole:]:
        c = c >> 8 ^ T0[(c ^ b) & 255]
    return c ^ 0xFFFFFFFF


def signed(byte):
    return byte - 256 if byte > 127 else byte


def murmur2(data, seed):
    """Computes MurmurHash2 with the Java port's signed tail bytes (6.2)."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    whole = len(data) & ~3
    h = (seed ^ len(data)) & mask
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = k * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    tail = data[whole:]
    if tail:
        for i in reversed(range(len(tail))):
            h ^= signed(tail[i]) << 8 * i & mask
        h = h * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


def int32(n):
    n &= 0xFFFFFFFF
    return n - (1 << 32) if n >> 31 else n


def java_mod(n, by):
    return n % by if n >= 0 else -(-n % by)


class Cursor:
    """A position in some bytes. Every read moves the position forward. A read past the end fails."""

    def __init__(self, data, at=0):
        self.data, self.at, self.tags = data, at, None

    def more(self):
        return self.at < len(self.data)

    def take(self, n):
        need(n >= 0 and self.at + n <= len(self.data), "wants", n, "bytes at", self.at, "of", len(self.data))
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def v7(self):
        """Reads 7 bits a byte, low bits first, like protobuf's varint."""
        value = shift = 0
        while True:
            b = self.take(1)[0]
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    def vint(self):
        """Reads Hadoop's variable-length number (3.5)."""
        first = self.number("b")
        if first >= -112:
            return first
        n = -112 - first if first >= -120 else -120 - first
        value = int.from_bytes(self.take(n), "big")
        return value if first >= -120 else ~value


def protobuf(data):
    """Returns the fields of a message: number -> list of values."""
    fields, c = {}, Cursor(data)
    while c.more():
        tag = c.v7()
        kind = tag & 7
        need(kind in (0, 2), "protobuf wire type", kind)
        fields.setdefault(tag >> 3, []).append(c.v7() if kind == 0 else c.take(c.v7()))
    return fields


# --- cells ---

@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    row: bytes
    family: bytes
    qualifier: bytes
    ts: int
    type: int
    value: bytes
    tags: bytes = b""

    def place(self):
        """Returns the key by which HBase sorts cells (3.4)."""
        return self.row, self.family, self.qualifier, -self.ts, -self.type


def flat_key(key):
    """Reads row length, row, family length, family, qualifier, timestamp, type (3.1)"""
    c = Cursor(key)
    row = c.take(c.number("H"))
    family = c.take(c.number("b"))
    qualifier = c.take(len(key) - c.at - 9)
    return Cell(row, family, qualifier, c.number("q"), c.number("B"), b"")


def plain_cell(c):
    key_len, value_len = c.number("i"), c.number("i")
    cell = flat_key(c.take(key_len))
    return with_tags(c, dataclasses.replace(cell, value=c.take(value_len)))


def with_tags(c, cell):
    """Reads the tags after a cell, if the file has tags. `c.tags` reads their length."""
    return dataclasses.replace(cell, tags=c.take(c.tags())) if c.tags else cell


def plain_cells(data, tags):
    c = Cursor(data)
    c.tags = tags and (lambda: c.number("H"))
    while c.more():
        yield plain_cell(c)


def row_index_cells(data, tags):
    (size,) = struct.unpack(">i", data[-4:])
    starts, last, c = [], None, Cursor(data[:size])
    c.tags = tags and (lambda: c.number("H"))
    while c.more():
        at, cell = c.at, plain_cell(c)
        if cell.row != last:
            starts.append(at)
        last = cell.row
        yield cell
    rest = Cursor(data[size:-4])
    need([rest.number("i") for _ in range(rest.number("i"))] == starts, "row index is not", starts)
    need(not rest.more(), "bytes behind the row index")


def key_with_rest(before, cp, length, c):
    """Reads the row length, row, family and qualifier of a DIFF or FAST_DIFF key (4.2)."""
    row_end = 2 + len(before.row)
    flat = struct.pack(">H", len(before.row)) + before.row
    if cp >= row_end:
        kept = cp - row_end - 1 - len(before.family)
        need(kept >= 0, "a common prefix that ends in the family")
        qualifier = before.qualifier[:kept] + c.take(length - 9 - cp)
        return before.row, qualifier
    head = flat[:cp] + c.take(max(0, 2 - cp))
    row_len = struct.unpack(">H", head[:2])[0]
    row = head[2:] + c.take(row_len - len(head[2:]))
    return row, c.take(length - 12 - row_len - len(before.family))


def fast_diff_cells(c):
    before, key_len = None, 0
    while c.more():
        flag = c.number("B")
        need(flag < 128, "flag", flag)
        if before is None:
            key_len, value_len = c.v7(), c.v7()
            need(flag == 0 and c.v7() == 0, "the first cell of a block has a prefix")
            before = dataclasses.replace(flat_key(c.take(key_len)), value=c.take(value_len))
            yield with_tags(c, before)
            continue
        key_len = key_len if flag & 8 else c.v7()
        value_len = len(before.value) if flag & 16 else c.v7()
        row, qualifier = key_with_rest(before, c.v7(), key_len, c)
        same = flag & 7
        stamp = struct.pack(">q", before.ts)[:same] + c.take(8 - same)
        kind = before.type if flag & 32 else c.number("B")
        value = before.value if flag & 64 else c.take(value_len)
        before = Cell(row, before.family, qualifier, struct.unpack(">q", stamp)[0], kind, value)
        yield with_tags(c, before)


def diff_cells(c):
    family = c.take(c.number("b"))
    before, key_len = Cell(b"", family, b"", 0, 0, b""), 0
    first = True
    while c.more():
        flag = c.number("B")
        key_len = key_len if flag & 1 else c.v7()
        value_len = len(before.value) if flag & 2 else c.v7()
        cp = c.v7()
        need(not first or cp == 0, "the first cell of a block has a prefix")
        row, qualifier = key_with_rest(before, cp, key_len, c)
        ts = int.from_bytes(c.take((flag >> 4 & 7) + 1), "little") * (-1 if flag & 128 else 1)
        ts = before.ts - ts if flag & 8 else ts
        kind = before.type if flag & 4 else c.number("B")
        before = Cell(row, family, qualifier, ts, kind, c.take(value_len))
        first = False
        yield with_tags(c, before)


def prefix_cells(c):
    key = b""
    while c.more():
        rest, value_len, cp = c.v7(), c.v7(), c.v7()
        need(cp <= len(key), "a common prefix longer than the key before")
        key = key[:cp] + c.take(rest)
        yield with_tags(c, dataclasses.replace(flat_key(key), value=c.take(value_len)))


def encoded_cells(data, encoding, tags):
    c = Cursor(data)
    c.tags = tags and c.v7
    need(ENCODINGS.get(c.number("h")) == encoding, "block is not encoded as", encoding)
    if encoding == "ROW_INDEX_V1":
        yield from row_index_cells(data[2:], tags)
        return
    size, sum_of_cells = c.number("i"), 0
    for cell in {"PREFIX": prefix_cells, "DIFF": diff_cells, "FAST_DIFF": fast_diff_cells}[encoding](c):
        sum_of_cells += 8 + 12 + len(cell.row) + len(cell.family) + len(cell.qualifier) + len(cell.value)
        sum_of_cells += 2 + len(cell.tags) if tags else 0
        yield cell
    need(size == sum_of_cells, "unencoded size", size, "but the cells have", sum_of_cells)


# --- blocks ---

@dataclasses.dataclass
class Block:
    magic: str
    at: int
    size: int  # size on disk, with header and checksums
    plain_size: int
    payload: bytes


def unpack_gz(stored):
    """Decompresses exactly one member (9.2)."""
    z = zlib.decompressobj(16 + zlib.MAX_WBITS)
    plain = z.decompress(stored)
    need(z.eof and not z.unused_data, "not exactly one gzip member")
    return plain


class HFile:
    """Reads and checks a whole file. `cells` is the list of its cells."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        try:
            self.read_trailer()
            self.read_blocks()
            self.read_file_info()
            self.read_cells()
            self.check_index()
            self.check_counts()
            self.check_bloom()
        except Bad as e:
            raise Bad(f"{path}: {e}") from None

    def read_trailer(self):
        t = self.data[-TRAILER:]
        need(len(t) == TRAILER and t[:8] == b'TRABLK"$', "no trailer")
        need(t[-4:] == b"\3\0\0\3", "version", t[-4:].hex())
        c = Cursor(t, 8)
        message = c.take(c.v7())
        need(not any(t[c.at:-4]), "the trailer's padding is not zero")
        f = {k: v[-1] for k, v in protobuf(message).items()}
        self.trailer = f
        need(f[11] == b"org.apache.hadoop.hbase.KeyValue$KVComparator", "comparator", f[11])
        self.codec = f.get(12, NONE)
        need(self.codec in (GZ, NONE), "codec", self.codec, "is not read here")

    def read_blocks(self):
        self.blocks, at, last = [], 0, {}
        while at < len(self.data) - TRAILER:
            b = self.read_block(at, last)
            self.blocks.append(b)
            at += b.size
        need(at == len(self.data) - TRAILER, "the blocks end at", at)
        self.by_offset = {b.at: b for b in self.blocks}

    def read_block(self, at, last):
        head = self.data[at:at + HEADER]
        need(len(head) == HEADER, "no block at", at)
        magic = head[:8].decode("latin1")
        stored, plain, before, kind, chunk, data_end = struct.unpack(">iiqBii", head[8:])
        where = f"block {magic} at {at}:"
        slot = "DATA" if magic.startswith("DATABLK") else magic
        need(before == last.get(slot, -1), where, "previous block", before, "not", last.get(slot, -1))
        last[slot] = at
        need(kind == 2 and chunk >= HEADER, where, "checksum type", kind, "chunk", chunk)
        sums = self.data[at + data_end:at + HEADER + stored]
        need(len(sums) == 4 * -(-data_end // chunk), where, len(sums), "bytes of checksums")
        covered = self.data[at:at + data_end]
        for i, start in enumerate(range(0, data_end, chunk)):
            want = struct.unpack_from(">I", sums, 4 * i)[0]
            need(crc32c(covered[start:start + chunk]) == want, where, "checksum", i)
        payload = covered[HEADER:]
        if self.codec == GZ:
            payload = unpack_gz(payload)
        need(len(payload) == plain, where, "payload of", len(payload), "not", plain)
        return Block(magic, at, HEADER + stored, plain, payload)

    def of(self, magic):
        return [b for b in self.blocks if b.magic == magic]

    def read_file_info(self):
        [block] = self.of("FILEINF2")
        need(block.at == self.trailer[1], "file info at", block.at)
        need(block.payload[:4] == b"PBUF", "file info without PBUF")
        c = Cursor(block.payload, 4)
        message = c.take(c.v7())
        need(not c.more(), "bytes behind the file info")
        pairs = [protobuf(p) for p in protobuf(message)[1]]
        names = [p[1][0] for p in pairs]
        need(names == sorted(set(names)), "file info is not sorted")
        self.info = {p[1][0].decode(): p[2][0] for p in pairs}
        need("KEY_VALUE_VERSION" not in self.info, "mvcc is not read here")
        need(self.info.get("hfile.TAGS_COMPRESSED", b"\0") == b"\0", "compressed tags are not read here")

    def read_cells(self):
        encoding = self.info.get("DATA_BLOCK_ENCODING", b"NONE").decode()
        tags = "hfile.MAX_TAGS_LEN" in self.info
        self.data_blocks = [b for b in self.blocks if b.magic.startswith("DATABLK")]
        self.block_cells = []
        for b in self.data_blocks:
            need(b.magic == ("DATABLK*" if encoding == "NONE" else "DATABLKE"), b.magic, "for", encoding)
            cells = list(plain_cells(b.payload, tags) if encoding == "NONE" else
                         encoded_cells(b.payload, encoding, tags))
            need(cells, "a data block without cells")
            self.block_cells.append(cells)
        self.cells = list(itertools.chain.from_iterable(self.block_cells))
        longest = max((len(c.tags) for c in self.cells), default=0)
        need(not tags or self.info["hfile.MAX_TAGS_LEN"] == struct.pack(">i", longest), "longest tags", longest)
        for a, b in itertools.pairwise(self.cells):
            need(a.place() < b.place(), "order:", a, "before", b)
        for cell in self.cells:
            need(cell.type in (PUT, *MARKERS) and cell.ts >= 0 and cell.row, "cell", cell)
            need(cell.type == PUT or not cell.value, "a marker's value", cell)
            need(cell.type not in FAMILY_MARKERS or not cell.qualifier, "a qualifier", cell)

    def entries_of(self, block, count):
        """Reads the root form (5.2) with `count`, otherwise the form of leaves (5.3)."""
        c = Cursor(block.payload)
        if count is not None:
            entries = [(c.number("q"), c.number("i"), c.take(c.vint())) for _ in range(count)]
            return entries, block.payload[c.at:]
        starts = [c.number("i") for _ in range(c.number("i"))]
        ends = starts[1:] + [c.number("i")]
        return [(c.number("q"), c.number("i"), c.take(b - a - 12)) for a, b in zip(starts, ends)], b""

    def walk_index(self, entries, level):
        """Returns the data blocks with their keys. `level` 1 is the level above the data."""
        for offset, size, key in entries:
            b = self.by_offset.get(offset)
            need(b and b.size == size, "index entry names", offset, size)
            if level == 1:
                yield b, flat_key(key)
                continue
            need(b.magic == ("IDXLEAF2" if level == 2 else "IDXINTE2"), b.magic, "at level", level)
            below, _ = self.entries_of(b, None)
            need(below and below[0][2] == key, "an index entry is not its child's first key")
            yield from self.walk_index(below, level - 1)

    def check_index(self):
        load_on_open = [b for b in self.blocks if b.at >= self.trailer[2]]
        kinds = [b.magic for b in load_on_open]
        need(kinds[:3] == ["IDXROOT2", "IDXROOT2", "FILEINF2"], "load-on-open", kinds)
        need(load_on_open[0].at == self.trailer[2], "load-on-open is no block's start")
        need(self.trailer[6] == 0 and not load_on_open[1].payload, "a meta index")
        levels = self.trailer[8]
        root, rest = self.entries_of(load_on_open[0], self.trailer[5])
        need(len(rest) == (0 if levels == 1 else 16), len(rest), "bytes behind the root index")
        found = list(self.walk_index(root, levels))
        need([b.at for b, _ in found] == [b.at for b in self.data_blocks], "index and data blocks differ")
        last = None
        for (_, key), cells in zip(found, self.block_cells):
            need(key.place() <= cells[0].place(), "index key", key, "is behind its block")
            need(last is None or last.place() < key.place(), "index key", key, "is in the block before")
            last = cells[-1]
        need(not found or found[0][1].place() == self.cells[0].place(), "first index key", found[0][1])

    def check_counts(self):
        t, info, cells = self.trailer, self.info, self.cells
        need(cells, "a file without cells")
        need(t[7] == len(cells), "entry count", t[7], "but", len(cells), "cells")
        need((t[9], t[10]) == (self.data_blocks[0].at, self.data_blocks[-1].at), "first and last data block")
        index = {"IDXLEAF2", "IDXINTE2"}
        root = next(b for b in self.blocks if b.at == t[2])
        need(t[3] == root.plain_size + sum(b.plain_size for b in self.blocks if b.magic in index), "index size")
        need(t[4] == TRAILER + sum(HEADER + b.plain_size for b in self.blocks
                                   if b is not root and b.magic != "IDXINTE2"), "uncompressed bytes")
        need(flat_key(info["hfile.LASTKEY"]).place() == cells[-1].place(), "LASTKEY")
        keys = sum(12 + len(c.row) + len(c.family) + len(c.qualifier) for c in cells)
        need(struct.unpack(">i", info["hfile.AVG_KEY_LEN"]) == (keys // len(cells),), "AVG_KEY_LEN")
        values = sum(len(c.value) for c in cells)
        need(struct.unpack(">i", info["hfile.AVG_VALUE_LEN"]) == (values // len(cells),), "AVG_VALUE_LEN")
        times, puts = [c.ts for c in cells], [c.ts for c in cells if c.type == PUT]
        first = 0 if any(c.type in (12, 14) for c in cells) else min(times)
        need(struct.unpack(">qq", info["TIMERANGE"]) == (first, max(times)), "TIMERANGE")
        need(struct.unpack(">q", info["EARLIEST_PUT_TS"]) == (min(puts, default=LONG_MAX),), "EARLIEST_PUT_TS")
        family = sum(c.type in FAMILY_MARKERS for c in cells)
        need(struct.unpack(">q", info["DELETE_FAMILY_COUNT"]) == (family,), "DELETE_FAMILY_COUNT")

    def bloom_keys(self):
        """Returns (key, row) in order, which are the added key and the row that selects the chunk (6.1, 6.5)."""
        kind, last = self.info["BLOOM_FILTER_TYPE"].decode(), None
        prefix = struct.unpack(">i", self.info["BLOOM_FILTER_PARAM"])[0] if kind.startswith("ROWPREFIX") else 0
        for c in self.cells:
            if kind == "ROWCOL":
                key = (struct.pack(">H", len(c.row)) + c.row + b"\0" + c.qualifier
                       + struct.pack(">qB", LONG_MAX, 255))
            else:
                key = c.row[:prefix] if prefix else c.row
            if key != last:
                yield key, flat_key(key).place() if kind == "ROWCOL" else key
            last = key

    def deleted_rows(self):
        """Returns (row, row) for each row with a delete marker for its family, in order."""
        return [(r, r) for r in dict.fromkeys(c.row for c in self.cells if c.type in FAMILY_MARKERS)]

    def check_bloom(self):
        metas, deletes = self.of("BLMFMET2"), self.of("DFBLMET2")
        rowcol = self.info.get("BLOOM_FILTER_TYPE") == b"ROWCOL"
        need(bool(metas) == ("BLOOM_FILTER_TYPE" in self.info), "a Bloom filter or its type is missing")
        need(bool(deletes) == bool(self.deleted_rows() and not rowcol), "the filter of deleted rows")
        need(not metas or not deletes or metas[0].at < deletes[0].at, "the order of the filters")
        used = []
        if metas:
            added = list(self.bloom_keys())
            used += self.check_filter(metas[0], added, rowcol)
            need(self.info["LAST_BLOOM_KEY"] == added[-1][0], "LAST_BLOOM_KEY")
        if deletes:
            used += self.check_filter(deletes[0], self.deleted_rows(), False)
        need(sorted(b.at for b in used) == [b.at for b in self.of("BLMFBLK2")], "Bloom chunks that no filter has")

    def check_filter(self, meta, added, rowcol):
        """Returns the filter's chunks."""
        c = Cursor(meta.payload)
        version, size, hashes, kind = c.number("i"), c.number("q"), c.number("i"), c.number("i")
        keys, _, chunks = c.number("q"), c.number("q"), c.number("i")
        need((version, kind) == (3, 1), "Bloom version", version, "hash", kind)
        comparator = c.take(c.vint())
        need(comparator == (b"org.apache.hadoop.hbase.CellComparatorImpl" if rowcol else b""), comparator)
        table = [(c.number("q"), c.number("i"), c.take(c.vint())) for _ in range(chunks)]
        need(not c.more(), "bytes behind the Bloom meta")
        offsets = {e[0] for e in table}
        blocks = [b for b in self.of("BLMFBLK2") if b.at in offsets]
        need([(b.at, b.size) for b in blocks] == [e[:2] for e in table], "Bloom chunks", table)
        need(size == sum(b.plain_size for b in blocks), "Bloom bytes", size)
        need(keys == len(added), "Bloom keys", keys, "but", len(added))
        firsts = [flat_key(e[2]).place() if rowcol else e[2] for e in table]
        need(firsts[0] == added[0][1], "the first chunk begins behind the first key")
        chunk = 0
        for key, place in added:
            while chunk + 1 < chunks and firsts[chunk + 1] <= place:
                chunk += 1
            need(bloom_has(blocks[chunk].payload, key, hashes), "Bloom filter lacks", key)
        return blocks


def bloom_has(bits, key, hashes):
    h1 = murmur2(key, 0)
    h2 = murmur2(key, h1)
    for i in range(hashes):
        at = abs(java_mod(int32(h1 + i * h2), 8 * len(bits)))
        if not bits[at >> 3] >> (at & 7) & 1:
            return False
    return True


def read(path):
    return HFile(path).cells


def self_check():
    """Published vectors for the functions above."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    for text, value in (("00", 0), ("7f", 127), ("8f80", 128), ("8e0100", 256), ("ff", -1), ("8770", -113)):
        assert Cursor(bytes.fromhex(text)).vint() == value
    for key, h1, h2 in (("", 0, 0), ("61", 0x92685F5E, 0x5B2B9C66), ("ff", 0x992C0759, 0x20AEB023),
                        ("fffefd", 0xE3203B2B, 0xDAB8E3BE), ("726f7730303031", 0x2D009A18, 0x55596EE5),
                        ("00112233445566778899aabbccddeeff80", 0x0A7CE1C0, 0x3221992A)):
        assert murmur2(bytes.fromhex(key), 0) == h1 and murmur2(bytes.fromhex(key), h1) == h2
    assert unpack_gz(gzip.compress(b"x")) == b"x"
