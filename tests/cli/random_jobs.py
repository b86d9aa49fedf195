"""Makes random jobs and inputs for test_random_loads.py from a seed."""

import csv
import gzip
import io
import ipaddress
import json
import random
import re
import subprocess
import uuid
from datetime import datetime, timedelta, timezone

from load_oracle import DATE_PARTS, INTEGERS, Oracle, Reject, Value, decode, field_bytes, lay_down, share
from oracle import LONG_MAX

# --- events: fields and their texts, valid, unusual and bad ---

TEXTS = ["", "a", "b", "ab", "b c", "x,y", 'say "hi"', "two\nlines", "cr\r\nlf", "\n", "\r", "lone\rcr", ",", '"', "NA",
         "null", "0", "Zürich", "中国好声音", "🙂", "tab\there", "semi;colon", "p|pe", "ends with blank ", " starts",
         "long " * 40, "~" * 300, "\x01\x7f", "a/b", "é"]
ASCII = ["", "1", "13", "8613912345678", "abc", "abd", "user-0001", "user-0002", "NA", "x,y", "a b", "zz" * 30]
WORDS = ["true", "FALSE", "t", "F", "Yes", "no", "1", "0", "tRuE"]
REALS = ["0", "-0", "0.0", "-0.0", "1", "-1.5", "3e8", "+2.25", ".5", "5.", "1E-3", "4.9e-324", "1e-400", "0.1",
         "1.7976931348623157e308", "3.4028235e38", "-3.5e38", "16777217", "9007199254740993", "123456789.123456789"]
FORMATS = [  # as in strptime; with a zone's offset? digits of a second
    ("%Y-%m-%d %H:%M:%S", False, 0), ("%Y-%m-%dT%H:%M:%S.%f", False, 3), ("%d/%b/%Y:%H:%M:%S %z", True, 0),
    ("%B %d, %Y %H:%M", False, 0), ("%d.%m.%y %H:%M:%S", False, 0), ("%Y%m%d%H%M%S", False, 0),
    ("%m/%d/%Y %I:%M:%S %p", False, 0), ("%Y-%j %H:%M", False, 0), ("%Y%m%d", False, 0),
]
ZONES = ["Asia/Shanghai", "America/New_York", "Europe/Zurich", "Australia/Lord_Howe", "America/St_Johns", "UTC"]
BAD = {
    "text": [b"\xff\xfe", b"a\0b", b"\xed\xa0\x80", b"\xc0\x80"],
    "bytes": [],
    "hex": [b"abc", b"0g", b"xy"],
    "u32": [b"4294967296", b"-1", b"12x", b" 1", b"+1", b"1.0", b"99999999999999999999999", b"x"],
    "u64": [b"18446744073709551616", b"-1", b"0x10", b"1_000", b"--1"],
    "i64": [b"9223372036854775808", b"-9223372036854775809", b"-", b"1e3", b"+5"],
    "f64": [b"nan", b"inf", b"1e309", b"0x1p3", b"1e", b".", b"1,5", b"- 1"],
    "bool": [b"2", b"truee", b"ja", b"y"],
    "time": [b"x", b"-", b"12:00", b"9223372036854775808"],
    "uuid": [b"123e4567-e89b-12d3-a456-42661417400", b"123e4567-e89b-12d3-a456-4266141740000", b"0", b"{123e4567}",
             b"123e4567e89b12d3a456426614174000", b"g23e4567-e89b-12d3-a456-426614174000"],
    "code": [b"aa", b"A", b"\xff", b" a"],
    "ip": [b"1.2.3", b"256.1.1.1", b"1.2.3.4.5", b"1::2::3", b"x", b"10.0.0.1 ", b"12345::", b"1.2.3.4/8"],
}


class Field:
    """The type of a column, and pools of its texts. The pools are small, so that rows have equal keys."""

    def __init__(self, rng, n):
        self.rng, self.name, self.column = rng, f"f{n}", f"c{n}"
        self.columns, self.join = [self.column], ""
        self.type = rng.choice(["text", "text", "text", "bytes", "hex", "u32", "u32", "u64", "i64", "f64", "bool",
                                "time", "time", "uuid", "ip", "code"])
        self.unit = self.format = self.zone = None
        self.declared = {"type": self.type}
        self.ascii = rng.random() < 0.5
        self.nulls = None
        if self.type == "time":
            self.make_time()
        if self.type == "code":
            self.make_codes()
        if rng.random() < 0.15:
            self.nulls = self.declared["null"] = rng.choice([["", "NA"], ["NA"], ["0"], ["null", "abc"]])
        self.listed = self.type != "text" or self.nulls is not None or rng.random() < 0.5
        if not self.listed:
            self.name = self.column
        elif rng.random() < 0.5:
            self.declared["from"] = self.column
        else:
            self.name = self.column
        self.pool = [self.text() for _ in range(rng.choice([1, 2, 5, 12, 200]))]

    def make_heavy(self):
        """Makes texts so long that neither a row's events nor all rows fit into the memory for gathering."""
        self.pool = [bytes(self.rng.choices(b"abcdefgh", k=9)) * self.rng.choice([100, 1000, 4000])
                     for _ in range(20)]

    def make_codes(self):
        rng = self.rng
        names = rng.sample(["a", "b", "ab", "b c", "x,y", "NA", "Zürich", "中国", "DE", "AT", "0", "17"], rng.randrange(1, 10))
        self.codes = dict(zip(names, rng.sample([0, 1, 2, 3, 200, 255, 256, 65535, 65536, 2**31, 2**32 - 1], len(names))))
        self.declared["codes"] = self.codes
        if rng.random() < 0.5:
            del self.declared["type"]
        if rng.random() < 0.5:
            self.declared["unknown"] = rng.choice(names)

    def make_time(self):
        rng = self.rng
        if rng.random() < 0.6:
            self.unit = self.declared["unit"] = rng.choice(["s", "ms", "us", "ns"])
            return
        self.format, self.offset, self.digits = rng.choice(FORMATS)
        self.declared["format"] = self.format
        if not self.offset and rng.random() < 0.8:
            self.zone = rng.choice(ZONES)
            self.declared["zone"] = self.zone

    def text(self):
        """Returns a valid text as bytes."""
        rng, t = self.rng, self.type
        if t == "text":
            return rng.choice(ASCII if self.ascii else TEXTS).encode()
        if t == "bytes":
            return bytes(rng.choice(b"\x01\x02ab,\xff\x80\n") for _ in range(rng.randrange(6)))
        if t == "hex":
            h = rng.randbytes(rng.choice([0, 1, 4, 9])).hex()
            return (h.upper() if rng.random() < 0.3 else h).encode()
        if t == "f64":
            return (rng.choice(REALS) if rng.random() < 0.6 else repr(rng.uniform(-1e6, 1e6))).encode()
        if t == "bool":
            return rng.choice(WORDS).encode()
        if t == "time":
            return self.time_text().encode()
        if t == "uuid":
            u = str(uuid.UUID(bytes=rng.choice([rng.randbytes(16), b"\0" * 16, b"\xff" * 16, b"\0" * 15 + b"\1"])))
            return (u.upper() if rng.random() < 0.3 else u).encode()
        if t == "ip":
            return self.ip_text().encode()
        if t == "code":
            return rng.choice(list(self.codes) + ["other"] * ("unknown" in self.declared)).encode()
        low, high = INTEGERS[t]
        n = rng.choice([0, 1, 9, 255, 256, 65535, 65536, (1 << 31) - 1, 1 << 31, low, high, high // 2, high // 2 + 1,
                        rng.randrange(1000), rng.randrange(low, high + 1)])
        return b"0" * rng.choice([0, 0, 0, 2]) + b"%d" % n if n >= 0 else b"%d" % n

    def ip_text(self):
        rng = self.rng
        if rng.random() < 0.9:
            n = rng.choice([0, 1, 2**32 - 1, 0x0A000000 + rng.randrange(300), rng.randrange(2**32)])
            text = str(ipaddress.IPv4Address(n))
            return "::ffff:" + text if rng.random() < 0.1 else text
        return str(ipaddress.IPv6Address(rng.choice([0, 1, 2**128 - 1, 0x20010DB8 << 96 | rng.randrange(300),
                                                     0xFFFE << 32, 1 << 48, rng.randrange(2**128)])))

    def time_text(self):
        rng = self.rng
        ms = rng.choice([0, 1, 999, 1_500_000_000_000 + rng.randrange(10**9), rng.randrange(4 * 10**12),
                         rng.choice([1_300_000_000, 1_541_310_000]) * 1000 + rng.randrange(10**10)])
        if rng.random() < 0.04:
            ms = -rng.randrange(1, 10**12)
        if self.unit:
            tail = {"s": -1000, "ms": 1, "us": 1000, "ns": 10**6}[self.unit]
            return str(ms // 1000 if tail < 0 else ms * tail + (rng.randrange(tail) if tail > 1 else 0))
        local = datetime(1970, 1, 1) + timedelta(milliseconds=max(ms, 0))
        if not self.digits:
            local = local.replace(microsecond=0)
        if self.offset:
            local = local.replace(tzinfo=timezone(timedelta(minutes=rng.choice([0, 480, -210, 345]))))
        if rng.random() < 0.1:  # clocks change at about this hour
            local = local.replace(month=rng.choice([3, 11, 10, 4]), day=rng.randrange(1, 31), hour=rng.randrange(4))
        text = local.strftime(self.format)[:-3 if self.digits else None]
        if rng.random() < 0.04:  # often an impossible date or time
            at = rng.choice([m.start() for m in re.finditer(r"\d\d", text)])
            other = text[:at] + rng.choice(["00", "13", "24", "29", "30", "31", "60", "99"]) + text[at + 2:]
            if datetime.min.year < local.year and not re.search(r"00\d\d|(2[2-9]|[3-9]\d)\d\d", other):
                return other
        return text

    def pick(self, bad_share):
        """Returns (text, in quotes?) of one event."""
        rng = self.rng
        r = rng.random()
        if r < bad_share and BAD[self.type]:
            return rng.choice(BAD[self.type]), False
        if r < bad_share * 2:
            return rng.choice([b"", b"NA", b"0", b"null"]), rng.random() < 0.3
        text = rng.choice(self.pool)
        return text, rng.random() < 0.2


class Joined:
    """Makes a field of two columns with a separator. The field is null if one of the columns is null."""

    def __init__(self, rng, fields):
        two = rng.sample(fields, 2)
        self.name, self.type, self.columns = "joined", rng.choice(["text", "bytes"]), [f.column for f in two]
        self.join = rng.choice([" ", "", "--", "T"])
        self.nulls, self.unit, self.listed = None, None, True
        self.declared = {"type": self.type, "from": self.columns}
        if self.join != " " or rng.random() < 0.5:
            self.declared["join"] = self.join
        self.pool = [self.join.encode().join(rng.choice(f.pool) for f in two) for _ in range(9)]


# --- jobs ---

KEY_AS = {
    "text": ["text", "text", "bytes", "reversed", "descending_text"], "bytes": ["bytes", "text", "descending_text"],
    "hex": ["bytes", "text"],
    "u32": ["u32", "u32", "u8", "u16", "u64", "i32", "i64", "f32", "f64", "text", "reversed", "descending_u32",
            "descending_u8", "descending_i32", "descending_u64", "descending_text"],
    "u64": ["u64", "u64", "u32", "i64", "f64", "text", "reversed", "descending_u64", "descending_u16", "descending_i64"],
    "i64": ["i64", "i64", "i32", "u64", "u16", "f64", "f32", "descending_i64", "descending_i32", "descending_u32"],
    "f64": ["f64", "f64", "f32"], "bool": ["bool"],
    "time": ["reversed_millis", "millis", "text", "reversed_millis", "reversed_seconds", "reversed_micros",
             "year", "month", "day", "hour"],
    "code": ["u8", "u16", "u32", "u64", "i32", "descending_u32", "descending_u16", "text"],
    "uuid": ["uuid", "uuid", "text"], "ip": ["ipv6", "ipv4", "text"],
}
VARIABLE = ("text", "bytes", "reversed", "descending_text")


def escaped(data):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02X}" for b in data)


class Job:
    """Makes a random job in JSON, which the program reads as YAML. `chosen` adds conditions and deletes to some
    jobs."""

    def __init__(self, rng, chosen=False):
        self.rng, self.chosen = rng, chosen
        self.columns = [Field(rng, n) for n in range(rng.randrange(3, 9))]
        heavy = [f for f in self.columns if f.type == "text"]
        if heavy and rng.random() < 0.15:
            rng.choice(heavy).make_heavy()
        self.fields = self.columns + ([Joined(rng, self.columns)] if rng.random() < 0.2 else [])
        self.by_name = {f.name: f for f in self.fields}
        self.nulls = rng.choice([None, None, ["", "NA"], ["null"]])
        self.quoted_nulls = rng.random() < 0.2
        self.header = rng.random() < 0.9
        self.delimiter = rng.choice([",", ",", ",", ";", "|", "\t"])
        self.skip = rng.choice(["^[ab]", '^"', "zz", "^x.y", "^[0-9]+5"]) if chosen and rng.random() < 0.1 else None
        self.conditions = {}  # text -> its condition
        self.options = {"where": self.condition()} if chosen and rng.random() < 0.2 else {}
        self.tables = [self.table(n) for n in range(rng.choice([1, 1, 2]))]

    def source(self, files):
        s = {"files": files, "delimiter": "\\t" if self.delimiter == "\t" else self.delimiter}
        if not self.header:
            s["columns"] = [f.column for f in self.columns]
        if self.nulls is not None:
            s["null"] = self.nulls
        if self.quoted_nulls:
            s["quoted_nulls"] = True
        if self.skip:
            s["skip_matching"] = self.skip
        return {"csv": s}

    def yaml(self, files):
        fields = {f.name: f.declared for f in self.fields if f.listed}
        job = {"source": self.source(files), "fields": fields, **self.options, "tables": self.tables}
        if not fields:
            del job["fields"]
        return json.dumps(job, ensure_ascii=False, indent=1)

    def leaf(self):
        """Makes one condition on a field, usually with values that occur."""
        rng, f = self.rng, self.rng.choice(self.fields)
        ops = ["=", "!=", "<", "<=", ">", ">=", "between", "in", "is null"]
        op = rng.choice(ops + ["starts with"] * (f.type in ("text", "bytes")))
        if op == "is null":
            return ("is", f.name, op, []), f"{f.name} is null"
        count = {"between": 2, "in": rng.randrange(1, 6)}.get(op, 1)
        fits = [t for t in f.pool if self.quotable(f, t)] or [None]
        values = [rng.choice(fits) for _ in range(count)]
        if None in values:
            return ("not", ("is", f.name, "is null", [])), f"{f.name} is not null"
        if op == "starts with":
            values = [values[0].decode()[:rng.randrange(3)].encode()]
        q = ["'" + v.decode().replace("'", "''") + "'" for v in values]
        right = {"between": " and ".join(q), "in": "(" + ", ".join(q) + ")"}.get(op, q[0])
        return ("is", f.name, op, values), f"{f.name} {op} {right}"

    def quotable(self, f, text):
        try:
            decode(f, text)
            return bool(text.decode().isprintable())
        except (Reject, UnicodeDecodeError):
            return False

    def question(self, depth):
        """Returns (condition, its text)"""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return self.leaf()
        if rng.random() < 0.2:
            tree, text = self.question(depth - 1)
            return ("not", tree), f"not ({text})"
        kind = rng.choice(["and", "or"])
        parts = [self.question(depth - 1) for _ in range(rng.choice([2, 2, 3]))]
        return (kind, [t for t, _ in parts]), f" {kind} ".join(f"({text})" for _, text in parts)

    def condition(self):
        tree, text = self.question(2)
        self.conditions[text] = tree
        return text

    def field_part(self, last):
        """Makes a pattern that usually matches most of the field's texts."""
        for _ in range(8):
            part = self.any_field_part(last)
            f = self.by_name[part["field"]]
            if share(f, lambda v: field_bytes(f, part, v)) > 0.8:
                break
        return part

    def any_field_part(self, last):
        rng, f = self.rng, self.rng.choice(self.fields)
        part = {"field": f.name, "as": rng.choice(KEY_AS[f.type])}
        if part["as"] in DATE_PARTS and rng.random() < 0.5:
            part["zone"] = rng.choice(ZONES)
        if part["as"] in VARIABLE:
            r = rng.random()
            if r < 0.4:
                part["width"] = rng.choice([1, 4, 10, 40])
                if rng.random() < 0.4:
                    part["pad"] = rng.choice(["0", " ", "#", "\\x00"])
                if rng.random() < 0.4:
                    part["side"] = rng.choice(["left", "right"])
                    if part["as"] == "bytes":
                        part.setdefault("pad", "\\x00")
            elif part["as"] != "descending_text" and (r < 0.7 or not last):
                part["terminator"] = rng.choice(["\\x00", "/", "\\xFF", "|"])
        return part

    def other_part(self):
        rng = self.rng
        some = [f.name for f in rng.sample(self.fields, rng.choice([1, 1, 2]))]
        if rng.random() < 0.4:
            return {"const": escaped(rng.choice([b"k", b"\0\xff", b"a/b", b"k" * rng.choice([300, 3000, 6000])]))}
        if rng.random() < 0.2:
            return {"hex": rng.randbytes(3).hex()}
        if rng.random() < 0.5:
            return {"hash": "md5", "of": some, "bytes": rng.choice([1, 3, 16])}
        return {"hash": "murmur3", "of": some, "bytes": rng.choice([1, 2, 4])}

    def salt(self, names):
        rng = self.rng
        kind = rng.choice(["murmur3", "murmur3", "phoenix", "opentsdb", "hbasewd"])
        salt = {"salt": rng.choice([1, 2, 4, 7, 16, 256]), "hash": kind}
        if kind in ("murmur3", "opentsdb") or rng.random() < 0.5:
            salt["of"] = rng.sample(names, rng.randrange(1, min(3, len(names)) + 1))
        if kind in ("murmur3", "opentsdb") and rng.random() < 0.2:
            salt.update(salt=rng.choice([3, 257, 65536]), width=2)
        if rng.random() < 0.3 and kind == "murmur3":
            del salt["hash"]
        if kind == "murmur3" and salt["salt"] > 1 and rng.random() < 0.3:
            salt["fanout"] = rng.choice([2, salt["salt"], rng.randrange(2, salt["salt"] + 1)])
        return salt

    def parts(self, n):
        parts = [self.field_part(i == n - 1) if self.rng.random() < 0.8 or i == n - 1 else self.other_part()
                 for i in range(n)]
        return parts

    def rowkey(self):
        rng = self.rng
        parts = self.parts(rng.choice([1, 2, 2, 3, 4]))
        if rng.random() < 0.6:
            inside = [p["field"] for p in parts if "field" in p]
            parts.insert(0, self.salt(sorted(set(inside)) if rng.random() < 0.7 else list(self.by_name)))
        elif rng.random() < 0.1:
            parts.insert(0, {"salt": rng.choice([1, 7, 16, 256, 300]), "draw": rng.choice(["random", "round_robin"])})
            if rng.random() < 0.5:
                parts[0]["seed"] = rng.choice([1, 5, 2**32 - 1])
        return parts

    def family(self):
        rng = self.rng
        f = {"compression": rng.choice(["NONE", "GZ", {"codec": "GZ", "level": 1}]),
             "bloomfilter": rng.choice(["NONE", "ROW", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"]),
             "data_block_encoding": rng.choice(["NONE", "NONE", "FAST_DIFF", "DIFF", "PREFIX", "ROW_INDEX_V1"])}
        if f["bloomfilter"].startswith("ROWPREFIX"):
            f["bloom_prefix"] = rng.choice([1, 3, 50])
        if rng.random() < 0.7:
            f["blocksize"] = rng.choice([1024, 2048, 8192])
        return f

    def cell(self, families, number):
        rng, f = self.rng, self.rng.choice(self.fields)
        c = {"family": families[number] if number < len(families) else rng.choice(families)}
        r = rng.random()
        if r < 0.7:
            c["qualifier"] = escaped(rng.choice([b"q", b"", b"\xff", b"long qualifier "])) + str(number)
        elif r < 0.85:
            c["qualifier"] = self.field_part(True)
        else:
            c["qualifier"] = self.parts(rng.choice([1, 2, 3]))
        kinds = {"f64": ["f64", "f32"], "bool": ["bool"], "time": ["millis", "reversed_millis"]}
        r = rng.random()
        if r < 0.1:
            c["value"] = {"const": escaped(rng.choice([b"1", b"", b"\0\1"]))}
        elif f.type in ("text", "bytes") and r < 0.15:
            c["value"] = {"field": f.name, "as": "descending_text"}
        elif r < 0.5 or f.type in ("text", "bytes"):
            c["value"] = rng.choice([f.name, {"field": f.name}, {"field": f.name, "as": "text"}])
        else:
            fits = [a for a in kinds.get(f.type, KEY_AS[f.type]) if share(f, lambda v: lay_down(v, a, False)) > 0.8]
            c["value"] = {"field": f.name, "as": rng.choice(fits or ["text"])}
        if rng.random() < 0.6:
            c["optional"] = True
        if self.chosen and rng.random() < 0.1:
            c["when"] = self.condition()
        return c

    def delete(self, families, cells):
        rng = self.rng
        if rng.random() < 0.3:
            return {"row": True, "when": self.condition()}
        d = {"family": rng.choice(families), "when": self.condition()}
        if rng.random() < 0.7:
            own = [c["qualifier"] for c in cells if c["family"] == d["family"]]
            d["qualifier"] = rng.choice(own or ["gone"])
        if rng.random() < 0.4:
            d["versions"] = rng.choice(["one", "one", "all"])
        if "qualifier" in d and rng.random() < 0.5:
            d["optional"] = True
        return d

    def regions(self, salted):
        rng = self.rng
        kind = rng.choice(["sampled", "sampled", "sampled", "uniform", "hex", "decimal", "none", "file"])
        r = {"split": kind}
        if kind == "file":
            keys = sorted({rng.randbytes(rng.randrange(1, 4)) for _ in range(rng.randrange(5))})
            r["file"] = f"splits{len(keys)}.txt"
            self.split_file = r["file"], "".join("".join(f"\\x{b:02X}" for b in k) + "\n" for k in keys)
        elif kind == "sampled" and rng.random() < 0.3:
            r["size"] = rng.choice(["1K", "6K", "1G"])
            r["max"] = 12
        elif kind != "none":
            r["count"] = rng.choice([1, 2, 3, 7]) if kind == "sampled" else rng.choice([2, 3, 7])
        if kind == "sampled" and salted and rng.random() < 0.3:
            r["align"] = "salt"
        return r

    def table(self, n):
        rng = self.rng
        times = [f.name for f in self.fields if f.type == "time"]
        families = [f"fam{i}" for i in range(rng.choice([1, 1, 2, 3]))]
        self.split_file = None
        rowkey = self.rowkey()
        t = {"name": rng.choice(["t", "ns:t", "a-b.c"]) + str(n), "rowkey": rowkey,
             "timestamp": rng.choice(times) if times and rng.random() < 0.8 else rng.choice([0, 5, LONG_MAX - 1]),
             "families": {f: self.family() for f in families},
             "cells": [self.cell(families, i) for i in range(len(families) + rng.randrange(4))],
             "regions": self.regions("salt" in rowkey[0])}
        if self.chosen and rng.random() < 0.15:
            t["when"] = self.condition()
        if self.chosen and rng.random() < 0.25:
            t["deletes"] = [self.delete(families, t["cells"]) for _ in range(rng.choice([1, 1, 2, 3]))]
            if len(t["deletes"]) == 1 and rng.random() < 0.2:
                del t["deletes"][0]["when"]
        if rng.random() < 0.7:
            t["duplicates"] = rng.choice(["last", "last", "first", "first", "error"])
        if rng.random() < 0.3:
            t["max_hfile"] = rng.choice(["1", "4K", "20K"])
        return t


# --- inputs ---

class Input:
    """Writes one CSV file and gives its lines to the oracle."""

    def __init__(self, rng, job, name, events):
        self.rng, self.job, self.name = rng, job, name
        self.end = rng.choice([b"\n", b"\n", b"\r\n", b"\r"])
        self.delimiter = job.delimiter.encode()
        self.data, self.line, self.rows = bytearray(b"\xef\xbb\xbf" if rng.random() < 0.1 else b""), 1, []
        if job.header:
            self.put(self.delimiter.join(f.column.encode() for f in job.columns))
        bad_share = rng.choice([0, 0, 0.01, 0.05])
        for _ in range(events):
            self.event(bad_share)
        if rng.random() < 0.2 and self.rows:
            del self.data[-len(self.end):]

    def put(self, raw):
        """Returns the line's number and offset."""
        at = self.line, len(self.data)
        self.data += raw + self.end
        self.line += len(re.findall(b"\r\n|\r|\n", raw)) + 1
        return at

    def quoted(self, text):
        return b'"' + text.replace(b'"', b'""') + b'"'

    def event(self, bad_share):
        rng = self.rng
        if rng.random() < 0.02:
            self.put(b"")  # blank lines are not events
        columns = [f.pick(bad_share) for f in self.job.columns]
        special = b'"\r\n' + self.delimiter
        columns = [(t, q or any(b in special for b in t)) for t, q in columns]
        raw = [self.quoted(t) if q else t for t, q in columns]
        r = rng.random()
        if r < bad_share / 4:
            columns, raw = None, raw + [b"one more"]
        elif r < bad_share / 2:
            columns, raw = None, [b"x", b"y"]
        raw = self.delimiter.join(raw)
        line, offset = self.put(raw)
        self.rows.append((columns, self.name, line, offset, raw))

    def check_with_csv(self):
        """Checks that Python's csv reads the same texts."""
        text = io.StringIO(self.data.decode("latin1").removeprefix("ï»¿"), newline="")
        rows = [r for r in csv.reader(text, delimiter=self.job.delimiter, strict=True) if r]
        good = [(r, row) for r, row in zip(self.rows, rows[self.job.header:], strict=True) if r[0]]
        assert all(row == [t.decode("latin1") for t, _ in r[0]] for r, row in good)

    def write(self, folder, packed):
        path = folder / self.name
        cut = self.rng.randrange(len(self.data) + 1) if self.rng.random() < 0.3 else 0  # two gzip members
        path.write_bytes(gzip.compress(self.data[:cut], 1) + gzip.compress(self.data[cut:], 1) if packed else self.data)


class Case:
    """Makes the complete case of one seed in a folder, and gives it to the oracle."""

    def __init__(self, seed, folder):
        rng = self.rng = random.Random(f"saltmill {seed}")
        self.folder, self.job = folder, Job(rng, chosen=True)
        sizes = [rng.choice([0, 1, 2, 30, 200, 700, 700]) for _ in range(rng.choice([1, 1, 2, 3]))]
        self.names, self.oracle = [], Oracle(self.job)
        for n, size in enumerate(sizes):
            packed = rng.random() < 0.3
            name = f"in{n}.csv" + ".gz" * packed
            one = Input(rng, self.job, name, size)
            one.check_with_csv()
            one.write(folder, packed)
            self.names.append(name)
            for row in one.rows:
                self.oracle.take(*row)
        self.options = ["--threads", rng.choice("123"), "--memory", rng.choice(["16M", "64M"])]
        for t in self.job.tables:
            if "file" in t["regions"]:
                self.write_splits(t["regions"]["file"])
        (folder / "job.yaml").write_text(self.job.yaml(self.names))

    def write_splits(self, name):
        n = int(re.search(r"\d+", name)[0])
        keys = sorted({bytes([(i + 1) * 37 % 256]) for i in range(n)})
        (self.folder / name).write_text("".join(f"\\x{k[0]:02X}\n" for k in keys))

    def run(self, saltmill):
        command = [saltmill, "load", "job.yaml", "-o", "out", "--quiet", "--max-rejects", "100%", *self.options]
        return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=60)
