"""Makes tables of random schemas, and judges the jobs that `init` infers from their HFiles.

    tables.py SALTMILL [--half develop|held-out] [--seeds N] [--fresh A:B] [--show SEED]

The row keys and values are built here, in Python, as Java programs, Phoenix, OpenTSDB and HBase's OrderedBytes write
them. A job is right if `scan --decode` by it gives each part of each row key, and each value, as the maker put them in.
A part that no job can express (such as the order of Phoenix in values) may be bytes, if a comment CHECK names it.
A random shuffle splits the seeds. Improve `init` with the half `develop` only. --fresh judges seeds that are in no half.
"""

import argparse
import csv
import datetime
import hashlib
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import uuid
import zlib

SEEDS = 400
LONG = (1 << 63) - 1
WORDS = ("alpha beta gamma delta sensor pump valve user order basket north south east west red green blue berlin paris "
         "tokyo lima oslo login logout click view buy sell press fan motor").split()
START = int(datetime.datetime(2021, 1, 1, tzinfo=datetime.timezone.utc).timestamp())


def halves():
    seeds = list(range(SEEDS))
    random.Random("tables of 2026-11-27").shuffle(seeds)
    return {"develop": seeds[:SEEDS // 2], "held-out": seeds[SEEDS // 2:]}


# --- hashes of other systems ---

def java31(data, h):
    for b in data:
        h = (31 * h + (b - 256 if b > 127 else b)) & 0xFFFFFFFF
    return h - (1 << 32) if h >> 31 else h


def murmur3(data, seed=0):
    def rot(x, r):
        return (x << r | x >> (32 - r)) & 0xFFFFFFFF
    h, n = seed, len(data)
    for i in range(0, n - n % 4, 4):
        k = int.from_bytes(data[i:i + 4], "little") * 0xCC9E2D51 & 0xFFFFFFFF
        h = (rot(h ^ rot(k, 15) * 0x1B873593 & 0xFFFFFFFF, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    tail = data[n - n % 4:]
    if tail:
        k = int.from_bytes(tail, "little") * 0xCC9E2D51 & 0xFFFFFFFF
        h ^= rot(k, 15) * 0x1B873593 & 0xFFFFFFFF
    h ^= n
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


# --- what a decoded part may look like ---

def iso(ms):
    at = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"


def escaped(data):
    return "".join(chr(b) if chr(b).isalnum() and b < 128 or b in b"_.-" else f"\\x{b:02X}" for b in data)


class Piece:
    """The bytes of a part or value, and the set of texts that are right for it."""

    def __init__(self, data, *texts, opaque=False, silent=False):
        self.data = data
        self.texts = {str(t) for t in texts}
        self.opaque = opaque  # bytes are right
        self.silent = silent  # a constant, a salt or a hash, which need not be a field
        self.end = b""  # the separator at the end of `data`

    def ended(self, end):
        self.data += end
        self.end = end
        return self

    def body(self):
        return self.data[:len(self.data) - len(self.end)]


def same_bytes(text, data):
    """Returns true if the decoded text shows exactly these bytes."""
    shown = re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), str(text).encode())
    return shown == data or str(text) == data.hex()


# --- parts of keys: a maker returns a function of a row number that returns a Piece ---

def numbers(r, most):
    ids = [r.randrange(1, most) for _ in range(r.choice([20, 200, 5000]))]
    return lambda: r.choice(ids)


def u32(r):
    of = numbers(r, r.choice([3000, 90000, 4000000]))
    return lambda: (lambda v: Piece(struct.pack(">I", v), v))(of())


def u64(r):
    of = numbers(r, r.choice([5000, 10 ** 6, 10 ** 9]))
    return lambda: (lambda v: Piece(struct.pack(">Q", v), v))(of())


def i64_flipped(r):
    of = numbers(r, r.choice([5000, 10 ** 6, 10 ** 9]))
    return lambda: (lambda v: Piece(struct.pack(">Q", v ^ 1 << 63), v))(of())


def i32_flipped(r):
    of = numbers(r, r.choice([5000, 10 ** 6]))
    return lambda: (lambda v: Piece(struct.pack(">I", v ^ 1 << 31), v))(of())


def times(r):
    span = r.choice([86400, 86400 * 30, 86400 * 400]) * 1000
    begin = START * 1000 + r.randrange(10 ** 11)
    return lambda: begin + r.randrange(span)


def reversed_millis(r):
    of = times(r)
    return lambda: (lambda v: Piece(struct.pack(">Q", LONG - v), iso(v)))(of())


def millis(r):
    of = times(r)
    return lambda: (lambda v: Piece(struct.pack(">Q", v), iso(v), v))(of())


def flipped_millis(r):
    of = times(r)
    return lambda: (lambda v: Piece(struct.pack(">Q", v ^ 1 << 63), v, iso(v)))(of())


def inverted_millis(r):
    of = times(r)
    return lambda: (lambda v: Piece(struct.pack(">Q", v ^ (1 << 64) - 1), v, iso(v)))(of())


def seconds(r):
    of = times(r)
    return lambda: (lambda v: Piece(struct.pack(">I", v // 1000), v // 1000, iso(v // 1000 * 1000)))(of())


def reversed_seconds(r):
    of = times(r)
    return lambda: (lambda v: Piece(struct.pack(">Q", LONG - v // 1000), iso(v // 1000 * 1000)))(of())


def uuid16(r):
    def one():
        v = uuid.UUID(int=r.getrandbits(128), version=4)
        return Piece(v.bytes, v)
    return one


def real(r):
    def one():
        v = r.randrange(1, 100000) / r.choice([10, 100])
        return Piece(struct.pack(">Q", struct.unpack(">Q", struct.pack(">d", v))[0] ^ 1 << 63), v)
    return one


def code(r):
    width = r.choice([2, 3, 4])
    codes = ["".join(r.choice("ABCDEFGHJKLMNPRST") for _ in range(width)) for _ in range(r.choice([8, 30]))]
    return lambda: (lambda v: Piece(v.encode(), v))(r.choice(codes))


def word(r, numbered=True):
    def one():
        v = r.choice(WORDS) + (str(r.randrange(10 ** r.choice([1, 2, 4]))) if numbered else "")
        return Piece(v.encode(), v)
    return one


def email(r):
    def one():
        v = f"{r.choice(WORDS)}.{r.choice(WORDS)}{r.randrange(100)}@{r.choice(WORDS)}.com"
        return Piece(v.encode(), v)
    return one


def padded(r):
    width = r.choice([4, 6, 8, 10])
    of = numbers(r, 10 ** r.choice([3, width - 1]))
    return lambda: (lambda v: Piece(f"{v:0{width}}".encode(), v, f"{v:0{width}}"))(of())


def backwards(r):
    width = r.choice([6, 8])
    of = numbers(r, 10 ** (width - 2))
    return lambda: (lambda v: Piece(f"{v:0{width}}"[::-1].encode(), v, f"{v:0{width}}", f"{v:0{width}}"[::-1]))(of())


def digits(r):
    of = numbers(r, 10 ** r.choice([3, 6, 9]))
    return lambda: (lambda v: Piece(str(v).encode(), v))(of())


def date_text(r):
    of, form = times(r), r.choice(["%Y%m%d", "%Y-%m-%d", "%Y%m%d%H%M%S", "%Y%m%d%H"])

    def one():
        at = datetime.datetime.fromtimestamp(of() // 1000, datetime.timezone.utc)
        text = at.strftime(form)
        back = datetime.datetime.strptime(text, form).replace(tzinfo=datetime.timezone.utc)
        return Piece(text.encode(), iso(int(back.timestamp()) * 1000), text)
    return one


def millis_text(r):
    of = times(r)
    return lambda: (lambda v: Piece(str(v).encode(), v, iso(v)))(of())


def reversed_text(r):
    of = times(r)
    return lambda: (lambda v: Piece(str(LONG - v).encode(), LONG - v, v, iso(v)))(of())


def uuid_text(r):
    def one():
        v = uuid.UUID(int=r.getrandbits(128), version=4)
        return Piece(str(v).encode(), v)
    return one


BINARY = [u32, u64, i64_flipped, i32_flipped, reversed_millis, millis, seconds, reversed_seconds, uuid16, real, code,
          flipped_millis, inverted_millis]
TEXT = [word, email, padded, backwards, digits, date_text, millis_text, reversed_text, uuid_text, code]
TIMES = {reversed_millis, millis, seconds, reversed_seconds, flipped_millis, inverted_millis, date_text, millis_text,
         reversed_text}


def draw_parts(r, kinds, n):
    while True:
        parts = [r.choice(kinds) for _ in range(n)]
        if sum(p in TIMES for p in parts) <= 1:
            return parts


# --- whole keys: a list of pieces ---

def binary_key(r):
    parts = draw_parts(r, BINARY + [word], r.choice([1, 2, 2, 3, 3, 4]))
    makers = [p(r) for p in parts]

    def one():
        out = []
        for i, (kind, make) in enumerate(zip(parts, makers)):
            p = make()
            if kind is word and i + 1 < len(parts):
                p.ended(b"\0")
            out.append(p)
        return out
    return one, [p.__name__ for p in parts]


def text_key(r):
    parts = draw_parts(r, TEXT, r.choice([2, 2, 3, 3, 4]))
    makers, sep = [p(r) for p in parts], r.choice("_|-:#").encode()
    if any(p in (uuid_text, date_text) for p in parts) and sep == b"-":
        sep = b"_"
    prefix = Piece(r.choice([b"v1", b"evt", b"ORD"]) + sep, silent=True) if r.random() < 0.2 else None

    def one():
        out = [prefix] if prefix else []
        for i, make in enumerate(makers):
            p = make()
            if i + 1 < len(makers):
                p.ended(sep)
            out.append(p)
        return out
    return one, [p.__name__ for p in parts] + [sep.decode()]


def ordered_key(r):
    """OrderedBytes of HBase: a tag before each value; texts end with 00."""
    def text():
        v = r.choice(WORDS) + str(r.randrange(1000))
        return [Piece(b"\x34", silent=True), Piece(v.encode(), v).ended(b"\0")]

    def long():
        v = r.randrange(10 ** r.choice([3, 6]))
        return [Piece(b"\x2c", silent=True), Piece(struct.pack(">Q", v ^ 1 << 63), v)]

    def whole():
        v = r.randrange(10 ** r.choice([3, 6]))
        return [Piece(b"\x2b", silent=True), Piece(struct.pack(">I", v ^ 1 << 31), v)]
    parts = [r.choice([text, long, whole]) for _ in range(r.choice([2, 3]))]
    return lambda: [p for make in parts for p in make()], ["ordered"] + [p.__name__ for p in parts]


def phoenix_key(r):
    """A primary key of Phoenix: VARCHARs end with 00 unless they are last, numbers and dates have a flipped sign."""
    kinds = draw_parts(r, [word, i64_flipped, i32_flipped, flipped_millis, reversed_millis], r.choice([2, 3]))
    makers = [k(r) for k in kinds]
    n = r.choice([0, 4, 8, 16, 30])

    def one():
        out = []
        for i, (kind, make) in enumerate(zip(kinds, makers)):
            p = make()
            if kind is word and i + 1 < len(kinds):
                p.ended(b"\0")
            out.append(p)
        if n:
            h = java31(b"".join(p.data for p in out), 1)
            out.insert(0, Piece(bytes([abs(h) % n]), silent=True))
        return out
    return one, ["phoenix", n] + [k.__name__ for k in kinds]


def opentsdb_key(r):
    salt, tags = r.choice([0, 1]), r.choice([1, 2, 3])
    hours = r.choice([24, 24 * 60])

    def uid(most):
        v = r.randrange(1, most).to_bytes(3, "big")
        return Piece(v, v.hex(), opaque=True)

    def one():
        metric, pairs = uid(40), []
        for i in range(tags):
            v = (i + 1).to_bytes(3, "big")
            pairs += [Piece(v, v.hex(), opaque=True), uid(500)]
        hour = START + 3600 * r.randrange(hours)
        out = [metric, Piece(struct.pack(">I", hour), hour, iso(hour * 1000))] + pairs
        if salt:
            h = java31(metric.data + b"".join(p.data for p in pairs), 1)
            out.insert(0, Piece(bytes([abs(h) % 20]), silent=True))
        return out
    return one, ["opentsdb", salt, tags]


def with_salt(r, key, parts, text):
    """Adds a salt or a hash of the first part, or of the whole key, before the key."""
    n = r.choice([4, 8, 10, 16, 20, 32])
    first = r.random() < 0.7

    def of(pieces):
        whole = b"".join(p.data for p in pieces)
        if not first:
            return whole
        return pieces[1 if pieces[0].silent and len(pieces) > 1 else 0].body()

    def string(data):
        return java31(data, 0)
    if text:
        sep = r.choice([b"", b"_", b"|", b"-"])
        kinds = {
            "crc": lambda d: b"%02d" % (zlib.crc32(d) % n) + sep,
            "string": lambda d: b"%02d" % (abs(string(d)) % n) + sep,
            "md5hex": lambda d: hashlib.md5(d).hexdigest()[:4].encode() + sep,
            "md5mod": lambda d: b"%02d" % (int(hashlib.md5(d).hexdigest(), 16) % n) + sep,
        }
    else:
        kinds = {
            "murmur": lambda d: bytes([murmur3(d) % n]),
            "arrays": lambda d: bytes([abs(java31(d, 1)) % n]),
            "md5byte": lambda d: bytes([hashlib.md5(d).digest()[0] % n]),
            "md5prefix": lambda d: hashlib.md5(d).digest()[:4],
            "md5two": lambda d: hashlib.md5(d).digest()[:2],
            "random": lambda d: bytes([r.randrange(n)]),
            "crc": lambda d: bytes([zlib.crc32(d) % n]),
        }
    name = r.choice(sorted(kinds))

    def one():
        pieces = key()
        return [Piece(kinds[name](of(pieces)), silent=True)] + pieces
    return one, [f"{name}{n}{'' if first else ' of all'}"] + parts


# --- columns ---

def column(r):
    def text():
        v = " ".join(r.choice(WORDS) for _ in range(r.randrange(1, 5)))
        return Piece(v.encode(), v)

    def long():
        v = r.randrange(-1000, 10 ** 7)
        return Piece(struct.pack(">q", v), v)

    def whole():
        v = r.randrange(-1000, 10 ** 6)
        return Piece(struct.pack(">i", v), v)

    def double():
        v = r.randrange(-10 ** 5, 10 ** 6) / 100
        return Piece(struct.pack(">d", v), v, f"{v:.17g}")

    def single():
        v = r.randrange(-10 ** 3, 10 ** 5) / 4
        return Piece(struct.pack(">f", v), v)

    def count():
        v = r.randrange(10 ** 6)
        return Piece(str(v).encode(), v)

    def decimal():
        v = f"{r.randrange(10 ** 6) / 100:.2f}"
        return Piece(v.encode(), v, float(v))

    def flag():
        v = r.random() < 0.5
        return Piece(b"\xff" if v else b"\0", v, str(v).lower())

    def moment():
        v = START * 1000 + r.randrange(10 ** 11)
        return Piece(struct.pack(">q", v), iso(v), v)

    def document():
        v = json.dumps({"a": r.randrange(100), "b": r.choice(WORDS)})
        return Piece(v.encode(), v)

    def stamp():
        v = START * 1000 + r.randrange(10 ** 11)
        text = iso(v)
        return Piece(text.encode(), text)

    def avro():
        v = b"\0\0\0\0\x07" + bytes(r.randrange(256) for _ in range(r.randrange(6, 20)))
        return Piece(v, opaque=True)

    def bigint():
        v = r.randrange(10 ** 6)
        return Piece(struct.pack(">Q", v ^ 1 << 63), opaque=True)
    return r.choice([text, long, whole, double, single, count, decimal, flag, moment, document, stamp, avro, bigint])


def wide_qualifier(r):
    return r.choice([reversed_millis, millis, u64, date_text, millis_text, uuid_text, email])(r)


class Table:
    """Rows: a list of (pieces of the key, [(family, qualifier, qualifier's Piece or None, value's Piece)], timestamp)."""

    def __init__(self, seed):
        r = random.Random(seed)
        kind = r.choice(["binary"] * 5 + ["text"] * 4 + ["phoenix"] * 2 + ["opentsdb", "ordered", "wide", "wide"])
        self.kind, text = kind, kind == "text"
        make = {"binary": binary_key, "text": text_key, "phoenix": phoenix_key, "opentsdb": opentsdb_key,
                "ordered": ordered_key, "wide": r.choice([binary_key, text_key])}[kind]
        key, self.parts = make(r)
        if kind in ("binary", "text", "wide") and r.random() < 0.5:
            key, self.parts = with_salt(r, key, self.parts, make is text_key)
        self.rows = []
        columns = [(r.choice("fd"), f"{r.choice(WORDS)}{i}", column(r), r.choice([1, 1, 0.6]))
                   for i in range(r.choice([1, 3, 6, 12]))]
        wide, value = wide_qualifier(r), column(r)
        if kind == "wide":
            self.parts = self.parts + ["wide", value.__name__]
        for _ in range(r.choice([150, 800, 2500])):
            cells = [(f, q.encode(), None, make()) for f, q, make, share in columns if r.random() < share]
            if kind == "wide":
                pieces = [wide() for _ in range(r.randrange(1, 12))]
                cells = [("f", p.data, p, value()) for p in pieces]
            if kind == "opentsdb":
                cells = [("t", struct.pack(">H", r.randrange(3600) << 4 | 7), None, Piece(
                    struct.pack(">q", r.randrange(10 ** 5)), opaque=True)) for _ in range(r.randrange(1, 9))]
            cells = list({c[:2]: c for c in cells}.values()) or [("f", b"only", None, Piece(b"x", "x"))]
            self.rows.append((key(), cells, START * 1000 + r.randrange(10 ** 9)))
        self.rows = list({b"".join(p.data for p in row[0]): row for row in self.rows}.values())

    def key_fault(self, key, fields):
        return key_fault(key, fields)

    def load(self, saltmill, folder):
        """Writes the rows as HFiles. The bytes are those of this file; the program only packs them."""
        families = sorted({c[0] for _, cells, _ in self.rows for c in cells})
        with open(folder / "rows.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["row", "family", "q", "v", "ts"])
            for key, cells, ts in self.rows:
                row = b"".join(p.data for p in key).hex()
                for family, q, _, value in cells:
                    w.writerow([row, family, q.hex(), value.data.hex(), ts])
        (folder / "pack.yaml").write_text(
            "source: {csv: {files: [rows.csv]}}\nfields:\n  row: {type: hex}\n  q: {type: hex}\n  v: {type: hex}\n"
            "  ts: {type: time, unit: ms}\ntables:\n  - name: t\n    rowkey: [{field: row}]\n    timestamp: ts\n"
            "    families: {" + ", ".join(f"{f}: {{}}" for f in families) + "}\n    cells:\n" +
            "".join(f"      - {{family: {f}, qualifier: {{field: q}}, value: {{field: v, as: bytes}}, "
                    f"when: family = {f}}}\n" for f in families) +
            "    regions: {split: none}\n")
        subprocess.run([saltmill, "load", "pack.yaml", "-o", "out"], cwd=folder, check=True, capture_output=True,
                       text=True)
        return folder / "out" / "t" / "hfiles"


# --- the judge ---

def decoded_rows(saltmill, folder, job, *place):
    run = subprocess.run([saltmill, "scan", job, *place, "--decode", "--format", "jsonl"], cwd=folder,
                         capture_output=True, text=True)
    if run.returncode:
        raise ValueError(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


def matches(piece, text):
    if str(text) in piece.texts or (isinstance(text, bool) and str(text).lower() in piece.texts):
        return True
    if isinstance(text, (int, float)) and any(is_number(t) and float(t) == text for t in piece.texts):
        return True
    return piece.opaque and same_bytes(text, piece.data)


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def is_same_number(text, data):
    shown = data.rstrip(b"_|-").decode("latin1")
    return is_number(text) and is_number(shown) and float(text) == float(shown)


def key_fault(pieces, fields):
    """Compares a decoded key with its pieces, in order. Constants, salts and hashes may be missing."""
    fits, values = {}, list(fields.values())

    def fit(i, j):
        """Returns true if the pieces from i on fit the values from j on."""
        if (i, j) not in fits:
            fits[i, j] = rest(i, j)
        return fits[i, j]

    def rest(i, j):
        if i == len(pieces):
            return j == len(values)
        piece = pieces[i]
        if j < len(values) and (matches(piece, values[j]) or (piece.silent and shows_silent(values[j], piece))) and fit(
                i + 1, j + 1):
            return True
        return piece.silent and fit(i + 1, j)

    if fit(0, 0):
        return None
    i, j = max((k for k, _ in fits.items()), key=sum)
    want = f"{sorted(pieces[i].texts)} ({pieces[i].data!r})" if i < len(pieces) else "no more fields"
    return f"found {values[j:j + 1]}, expected {want}"


def shows_silent(value, piece):
    return any(same_bytes(value, data) for data in (piece.data, piece.data[:-1])) or is_same_number(value, piece.data)


def fault_of(table, rows, job):
    """Compares the decoded rows with those of the maker. Returns None if all are right."""
    want = {b"".join(p.data for p in key): (key, cells) for key, cells, _ in table.rows}
    if len(rows) != len(want):
        return f"{len(rows)} of {len(want)} rows"
    for row, name in zip(rows, sorted(want)):
        key, cells = want[name]
        fault = table.key_fault(key, row["key"])
        if fault:
            return f"key: {fault}\n{job}"
        fault = cells_fault(cells, row["cells"], table.kind)
        if fault:
            return f"cells: {fault}\n{job}"
    return None


def judge(saltmill, seed):
    """Returns (verdict, explanation, table). See judge_table."""
    table = Table(seed)
    with tempfile.TemporaryDirectory() as temporary:
        return *judge_table(saltmill, table, pathlib.Path(temporary)), table


def judge_table(saltmill, table, folder):
    """Returns (verdict, explanation): right, checked (wrong, but a comment says so) or silent (wrong)."""
    place = table.load(saltmill, folder)
    run = subprocess.run([saltmill, "init", place, "-o", "job.yaml"], cwd=folder, capture_output=True, text=True)
    if run.returncode not in (0, 3):
        return "failed", run.stderr
    job = (folder / "job.yaml").read_text()
    try:
        fault = fault_of(table, decoded_rows(saltmill, folder, "job.yaml", place), job)
    except ValueError as e:  # a row has another form than the sampled ones
        fault = str(e)
    if fault:
        return ("silent" if run.returncode == 0 else "checked"), fault
    return ("right" if run.returncode == 0 else "right, checked"), job


def cells_fault(cells, decoded, kind):
    if kind == "opentsdb":
        return None
    found = list(decoded.items()) if isinstance(decoded, dict) else decoded
    if len(found) != len(cells):
        return f"{len(found)} of {len(cells)} cells: {decoded}"
    for (name, shown), (family, q, piece, value) in zip(found, sorted(cells, key=lambda c: c[:2])):
        qualifier = name.split(":", 1)[1]
        if piece is None and not same_bytes(qualifier, q):
            return f"column {name}, expected {q}"
        if piece is not None and not piece.opaque and not any(t in qualifier or t in json.dumps(shown) for t in piece.texts):
            return f"column {name}, expected {sorted(piece.texts)}"
        if not matches(value, shown):
            return f"value of {name}: {shown!r}, expected {sorted(value.texts) or value.data}"
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("saltmill")
    p.add_argument("--half", choices=["develop", "held-out"], default="develop")
    p.add_argument("--seeds", type=int, default=40)
    p.add_argument("--fresh", help="judge these seeds, such as 5000:5200, instead of a half")
    p.add_argument("--show", type=int, help="judge only this seed, and print its job")
    p.add_argument("--least", type=float, default=0.75, help="fail if a smaller share of the jobs is right")
    a = p.parse_args()
    saltmill = str(pathlib.Path(a.saltmill).resolve())
    seeds = [a.show] if a.show is not None else halves()[a.half][:a.seeds]
    if a.fresh:
        first, end = map(int, a.fresh.split(":"))
        seeds = range(max(first, SEEDS), end)
    counts = {}
    for seed in seeds:
        verdict, why, table = judge(saltmill, seed)
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{seed:4} {verdict:14} {table.kind:9} {len(table.rows):5} rows  {table.parts}")
        if a.show is not None or verdict == "failed":
            print(why)
        elif not verdict.startswith("right"):
            print("     " + why.split("\n", 1)[0][:200])
    right = counts.get("right", 0) + counts.get("right, checked", 0)
    print(f"{a.fresh or a.half}: {right} of {len(seeds)} right, {counts}")
    return 1 if counts.get("failed") or right < a.least * len(seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
