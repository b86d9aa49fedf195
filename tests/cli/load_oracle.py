"""Computes the expected cells, counts and rejects of a load independently of the program.

The oracle reads the texts of the events, and only those parts of the job that random_jobs.py wrote.
"""

import hashlib
import ipaddress
import json
import math
import re
import struct
import uuid
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

from oracle import LONG_MAX, murmur3_32, unescape

INTEGERS = {"u32": (0, (1 << 32) - 1), "u64": (0, (1 << 64) - 1), "i64": (-(1 << 63), (1 << 63) - 1)}


class Reject(Exception):
    """Means that the event goes to no table."""


def refuse(condition, why):
    if condition:
        raise Reject(why)


class Value:
    """A decoded field, or None if the event has no value for the field."""

    def __init__(self, text, plain):
        self.text, self.plain = text, plain


class Millis(int):
    """Returns milliseconds since 1970, and the microseconds of the same moment."""

    def __new__(cls, micros):
        self = super().__new__(cls, micros // 1000)
        self.micros = micros
        return self


def decode_time(f, text):
    if f.unit:
        refuse(not re.fullmatch(rb"-?[0-9]+", text), "time")
        n = int(text)
        refuse(not -(1 << 63) <= n < 1 << 63, "time")
        ms = Millis(n // 1000 if f.unit == "ns" else n * {"s": 10**6, "ms": 1000, "us": 1}[f.unit])
        refuse(not -(1 << 63) <= ms < 1 << 63, "time")
        return ms
    try:
        t = datetime.strptime(text.decode(), f.format)
    except ValueError:
        raise Reject("time") from None
    refuse("%j" in f.format and t.year != int(text[:4]), "day 366 of a year of 365")
    if not f.offset:
        zone = ZoneInfo(f.zone or "UTC")
        local, t = t, t.replace(tzinfo=zone)
        back = t.astimezone(timezone.utc).astimezone(zone).replace(tzinfo=None)
        refuse(back != local, "the clocks jumped over it")
    return Millis((t - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1))


def decode_ip(text):
    """Returns 16 bytes. An IPv4 address becomes ::ffff:a.b.c.d."""
    try:
        ip = ipaddress.ip_address(text.decode("ascii"))
    except ValueError:
        raise Reject("ip") from None
    return ip.packed if ip.version == 6 else b"\0" * 10 + b"\xff\xff" + ip.packed


def decode(f, text):
    t = f.type
    if t == "text":
        refuse(b"\0" in text, "NUL")
        try:
            text.decode()
        except UnicodeDecodeError:
            raise Reject("UTF-8") from None
        return text
    if t == "hex":
        refuse(len(text) % 2 or not re.fullmatch(rb"[0-9a-fA-F]*", text), "hex")
        return bytes.fromhex(text.decode())
    if t in INTEGERS:
        low, high = INTEGERS[t]
        refuse(not re.fullmatch(rb"-?[0-9]+" if low else rb"[0-9]+", text), "number")
        refuse(not low <= int(text) <= high, "range")
        return int(text)
    if t == "f64":
        refuse(not re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text), "real")
        d = float(text)
        refuse(abs(d) == float("inf"), "real")
        return d
    if t == "bool":
        words = {b"true": 1, b"t": 1, b"yes": 1, b"1": 1, b"false": 0, b"f": 0, b"no": 0, b"0": 0}
        refuse(text.lower() not in words, "bool")
        return words[text.lower()]
    if t == "uuid":
        refuse(not re.fullmatch(rb"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text), "uuid")
        return uuid.UUID(text.decode()).bytes
    if t == "ip":
        return decode_ip(text)
    if t == "code":
        name = text.decode("utf8", "surrogateescape")
        if name not in f.codes and "unknown" in f.declared:
            name = f.declared["unknown"]
        refuse(name not in f.codes, "no such name")
        return f.codes[name]
    return decode_time(f, text) if t == "time" else text


def flip_bits(data):
    """Makes signed numbers sort as bytes. Flips the sign bit, and all bits of negative floats."""
    n, bits = int.from_bytes(data, "big"), 8 * len(data)
    return (n ^ 1 << bits - 1).to_bytes(len(data), "big")


def nearest_f32(text):
    """Returns the bytes of the nearest 32-bit float. Uses exact fractions, rounds once, and rounds ties to even."""
    exact = Fraction(text)
    size = abs(exact)
    power = -149
    while size >= Fraction(2) ** (power + 24):
        power += 1
    steps = round(size / Fraction(2) ** power)  # ties to even
    refuse(steps * Fraction(2) ** power >= 2 ** 128, "f32")
    f = math.ldexp(steps, power)
    return struct.pack(">f", -f if text.startswith("-") else f)


def inverted(data):
    return bytes(255 - b for b in data)


DATE_PARTS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H"}


def lay_down(v, how, key, zone=None):
    """Returns the bytes of a value. `key` is true for a key or a qualifier, whose order matters."""
    if how.startswith("descending_"):
        return inverted(lay_down(v, how.removeprefix("descending_"), True))
    if how in DATE_PARTS:
        refuse(v.plain < 0, "before 1970")
        try:
            local = (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=v.plain)).astimezone(ZoneInfo(zone or "UTC"))
        except OverflowError:
            raise Reject("year") from None
        return local.strftime(DATE_PARTS[how]).encode()
    if how in ("uuid", "ipv6"):
        return v.plain
    if how == "ipv4":
        refuse(v.plain[:12] != b"\0" * 10 + b"\xff\xff", "IPv6")
        return v.plain[12:]
    if how in ("reversed_seconds", "reversed_micros"):
        n = v.plain.micros if how == "reversed_micros" else v.plain.micros // 10**6
        refuse(not 0 <= n <= LONG_MAX or v.plain < 0, "before 1970, or too far")
        return struct.pack(">q", LONG_MAX - n)
    if how == "text":
        return v.text
    if how == "bytes":
        return v.plain if isinstance(v.plain, bytes) else v.text
    if how == "reversed":
        refuse(any(b > 127 for b in v.text), "ASCII")
        return v.text[::-1]
    if how == "bool":
        return b"\xff" if v.plain else b"\0"
    if how in ("f32", "f64"):
        data = nearest_f32(v.text.decode()) if how == "f32" else struct.pack(">d", float(v.plain))
        if key:
            return bytes(255 - b for b in data) if data[0] & 128 else flip_bits(data)
        return data
    if how in ("millis", "reversed_millis"):
        refuse(v.plain < 0 and (key or how == "reversed_millis"), "before 1970")
        return struct.pack(">q", LONG_MAX - v.plain if how == "reversed_millis" else v.plain)
    size = int(how[1:]) // 8
    try:
        data = v.plain.to_bytes(size, "big", signed=how[0] == "i")
    except OverflowError:
        raise Reject(how) from None
    return flip_bits(data) if key and how[0] == "i" else data


NATURAL = {"text": "text", "bytes": "bytes", "hex": "bytes", "u32": "u32", "u64": "u64", "i64": "i64", "f64": "f64",
           "bool": "bool", "time": "millis", "uuid": "uuid", "ip": "ipv6",
           "code": "u32"}


def java31(data):
    h = 1
    for b in data:
        h = (31 * h + (b - 256 if b > 127 else b)) & 0xFFFFFFFF
    return h - (1 << 32) if h >> 31 else h


def java_rem(a, b):
    return a % b if a >= 0 else -(-a % b)


def drawn(part, raw, line):
    """Returns a function of the event's bytes and line, which gives the salt if no field determines it."""
    width = part.get("width", 2 if part["salt"] > 256 else 1)
    n = murmur3_32(raw, part.get("seed", 0)) if part["draw"] == "random" else line + part.get("seed", 0)
    return (n % part["salt"]).to_bytes(width, "big")


def fanned(part, data, behind):
    """Returns the bucket of an entity that has several buckets."""
    n = murmur3_32(data) + murmur3_32(behind, 1) % part["fanout"]
    return (n % part["salt"]).to_bytes(part.get("width", 2 if part["salt"] > 256 else 1), "big")


def salt_of(part, data):
    kind, n = part.get("hash", "murmur3"), part["salt"]
    width = part.get("width", 2 if n > 256 else 1)
    if kind == "murmur3":
        s = murmur3_32(data) % n
    elif kind == "hbasewd":
        h = java31(data)
        s = java_rem(h if h == -(1 << 31) else abs(h), n)
    else:
        s = abs(java_rem(java31(data), n))
    return (s & (1 << 8 * width) - 1).to_bytes(width, "big")


def field_bytes(f, p, v):
    """Returns a field part of a key, without its terminator."""
    if p["as"] == "descending_text":  # pad the value first
        refuse("width" not in p and b"\0" in v.text, "the byte that becomes FF, which ends it")
        return inverted(field_bytes(f, {**p, "as": "text"}, v))
    data = v.text if p["as"] == "reversed" else lay_down(v, p["as"], True, p.get("zone", getattr(f, "zone", None)))
    refuse(p["as"] == "reversed" and any(b > 127 for b in data), "ASCII")
    if "width" in p:
        number = f.type in INTEGERS or f.type == "f64"
        left = p["side"] == "left" if "side" in p else number
        exact = p["as"] == "bytes" and "pad" not in p
        pad = p.get("pad", "0" if number else " ")
        fill = unescape(pad) * (p["width"] - len(data))
        refuse(len(data) > p["width"] or (exact and fill), "width")
        edge = data[:1] if left else data[-1:]
        refuse(edge == unescape(pad) and not exact and not (left and pad == "0" and f.type in ("u32", "u64")), "pad")
        data = fill + data if left else data + fill
    if p["as"] == "reversed":
        data = data[::-1]
    refuse("terminator" in p and unescape(p["terminator"]) in data, "terminator")
    return data


def share(f, encode):
    """Returns the valid share of the field's pool."""
    good = 0
    for text in f.pool:
        try:
            encode(Value(text, decode(f, text)))
            good += 1
        except Reject:
            pass
    return good / len(f.pool)


def terminator_of(p):
    if p["as"] == "descending_text" and "width" not in p:
        return b"\xff"
    return unescape(p["terminator"]) if "terminator" in p else b""


# --- conditions: True, False, or None if unknown ---

def compare(op, v, wanted, f):
    """Evaluates one condition on a value that is not null. `wanted` lists texts."""
    if op == "starts with":
        return v.text.startswith(wanted[0])
    have, *to = [t if f.type in ("text", "bytes") else decode(f, t) for t in [v.text, *wanted]]
    if f.type == "time":
        have, *to = [t.micros for t in [have, *to]]
    if op == "in":
        return have in to
    if op == "between":
        return to[0] <= have <= to[1]
    return {"=": have == to[0], "!=": have != to[0], "<": have < to[0], "<=": have <= to[0], ">": have > to[0],
            ">=": have >= to[0]}[op]


def holds(tree, values, fields):
    """Combines conditions as SQL does. Skips conditions that cannot change the answer."""
    kind = tree[0]
    if kind == "not":
        inner = holds(tree[1], values, fields)
        return None if inner is None else not inner
    if kind in ("and", "or"):
        found = []
        for part in tree[1]:
            found.append(holds(part, values, fields))
            if found[-1] == (kind == "or"):
                return found[-1]
        return None if None in found else kind == "and"
    _, name, op, wanted = tree
    v = values[name]
    if op == "is null":
        return v is None
    return None if v is None else compare(op, v, wanted, fields[name])


class Values:
    """The fields of an event, decoded on demand."""

    def __init__(self, job, columns):
        self.job, self.known = job, {}
        self.texts = {f.column: c for f, c in zip(job.columns, columns)}

    def __getitem__(self, name):
        if name not in self.known:
            self.known[name] = self.read(self.job.by_name[name])
        return self.known[name]

    def read(self, f):
        own = [self.texts[name] for name in f.columns]
        nulls = ["", *(f.nulls if f.nulls is not None else self.job.nulls or [])]
        null = any(t in [n.encode() for n in nulls] and (not q or self.job.quoted_nulls) for t, q in own)
        text = f.join.encode().join(t for t, _ in own)
        return None if null else Value(text, decode(f, text))


# KeyValue.Type
PUT = 4
# a marker for one version of a column
DELETES = {(True, True): 8, (False, True): 10, (True, False): 12, (False, False): 14}


def covers(delete, cell):
    """Returns true if the marker deletes the cell of the same event, which has the same timestamp."""
    if "row" in delete:
        return True
    q = delete.get("qualifier")
    same = q is None or (isinstance(q, str) and isinstance(cell["qualifier"], str)
                         and unescape(q) == unescape(cell["qualifier"]))
    return delete["family"] == cell["family"] and same


class Oracle:
    """The complete expected result of a load of some events."""

    def __init__(self, job):
        self.job = job
        always = json.dumps([[t["rowkey"], t["timestamp"],
                              [c for c in t.get("deletes", t["cells"]) if "when" not in c]]
                             for t in job.tables if "when" not in t])
        self.always = [f.name for f in job.fields if f'"{f.name}"' in always]
        self.kept = [{} for _ in job.tables]  # (family, row, qualifier, -ts, -type) -> (value, event)
        self.events, self.rejected, self.shadowed = 0, [], [0] * len(job.tables)
        self.filtered = [0] * len(job.tables)
        self.cells_of = [{} for _ in job.tables]  # event -> number of its cells
        self.twins = False

    def chosen(self, of, values):
        """Returns true if the condition of a job, table or cell is true."""
        text = of.get("where", of.get("when"))
        return text is None or holds(self.job.conditions[text], values, self.job.by_name) is True

    def values(self, columns):
        """Returns None if no table takes the event."""
        values = Values(self.job, columns)
        if not self.chosen(self.job.options, values):
            return None
        for name in self.always:
            values[name]
        return values

    def part_body(self, p, values):
        refuse(values[p["field"]] is None, "null")
        return field_bytes(self.job.by_name[p["field"]], p, values[p["field"]])

    def hash_input(self, p, parts, values):
        data = b""
        for name in p["of"]:
            inside = next((q for q in parts if q.get("field") == name), None)
            refuse(values[name] is None, "null")
            data += (self.part_body(inside, values) if inside
                     else lay_down(values[name], NATURAL[self.job.by_name[name].type], True))
        return data

    def lay_parts(self, parts, values):
        behind = b""
        for p in reversed(parts):
            if "field" in p:
                data = self.part_body(p, values) + terminator_of(p)
            elif "const" in p:
                data = unescape(p["const"])
            elif "hex" in p:
                data = bytes.fromhex(p["hex"])
            elif "draw" in p:
                data = drawn(p, *self.event)
            elif "fanout" in p:
                data = fanned(p, self.hash_input(p, parts, values), behind)
            elif "salt" in p:
                data = salt_of(p, self.hash_input(p, parts, values) if "of" in p else behind)
            else:
                whole = self.hash_input(p, parts, values)
                data = hashlib.md5(whole).digest() if p["hash"] == "md5" else murmur3_32(whole).to_bytes(4, "big")
                data = data[:p["bytes"]]
            behind = data + behind
        return behind

    def cell(self, c, values):
        """Returns (qualifier, value) or None."""
        q = c["qualifier"]
        parts = [{"const": q}] if isinstance(q, str) else [q] if isinstance(q, dict) else q
        v = c["value"]
        v = {"field": v} if isinstance(v, str) else v
        names = [n for p in parts for n in [p.get("field"), *p.get("of", [])] if n]
        names += [v["field"]] if "field" in v else []
        if any([values[n] is None for n in names]):  # check all cells, to find each error
            refuse(not c.get("optional"), "null")
            return None
        qualifier = self.lay_parts(parts, values) if q != "" else b""
        refuse(len(qualifier) > 32765, "qualifier length")
        if "const" in v:
            return qualifier, unescape(v["const"]) if v["const"] else b""
        return qualifier, lay_down(values[v["field"]], v.get("as", "text"), False)

    def table_cells(self, t, values):
        if not self.chosen(t, values):
            return []
        row, ts = self.lay_parts(t["rowkey"], values), t["timestamp"]
        refuse(not 1 <= len(row) <= 32767, "key length")
        if isinstance(ts, str):
            refuse(values[ts] is None or not 0 <= values[ts].plain < LONG_MAX, "timestamp")
            ts = values[ts].plain
        deletes = [d for d in t.get("deletes", []) if self.chosen(d, values)]
        cells = [c for c in t["cells"] if not any(covers(d, c) for d in deletes) and self.chosen(c, values)]
        found = [(c["family"], PUT, self.cell(c, values)) for c in cells]
        for d in deletes:
            one, column = d.get("versions") == "one", "qualifier" in d
            kind = DELETES[column, one]
            for family in t["families"] if "row" in d else [d["family"]]:
                found.append((family, kind, self.cell({"qualifier": "", "value": {"const": ""}, **d}, values)))
        return [((family, row, qv[0], -ts, -kind), qv[1]) for family, kind, qv in found if qv]

    def take(self, columns, name, line, offset, raw):
        event, self.events = self.events, self.events + 1
        try:
            skipped = self.job.skip and re.search(self.job.skip.encode(), raw)
            refuse(columns is None and not skipped, "not the header's number of columns")
            values = None if skipped else self.values(columns)
            self.event = raw, line
            brought = [self.table_cells(t, values) if values else [] for t in self.job.tables]
        except Reject:
            self.rejected.append((name, line, offset, raw))
            return
        for i, (t, cells) in enumerate(zip(self.job.tables, brought)):
            self.filtered[i] += not cells
            if cells:
                self.cells_of[i][event] = len(cells)
            for place, value in cells:
                self.keep(i, t, place, value, event)

    def keep(self, i, t, place, value, event):
        kept = self.kept[i]
        if place in kept:
            self.shadowed[i] += 1
            self.twins |= t.get("duplicates") == "error"
            if t.get("duplicates") == "first":
                return
        kept[place] = value, event

    def counts(self, i):
        alive = {event for _, event in self.kept[i].values()}
        return {"loaded": len(alive), "filtered": self.filtered[i], "deduplicated": len(self.cells_of[i]) - len(alive),
                "cells": len(self.kept[i]), "cells_deduplicated": self.shadowed[i],
                "rows": len({place[1] for place in self.kept[i]})}
