"""This module defines a data set with its truth, and compares the truth with the rows that a program read.

A set has files and a table of columns and rows. A cell of the table is a value, or a pair of the value and its text in
the file (`raw`). None is a null. The order of rows and columns is free, because a row key sorts them.
"""

import collections
import datetime
import decimal
import hashlib
import json
import re

D = decimal.Decimal
SETS = {}
SEALED = {}  # the names of a draw that a shuffle split: True in the half `held-out`
SPLIT = "saltmill sets 27:"  # never change this text, because it decides which sets the makers of init may see


class Skip(Exception):
    """The set needs a missing file, which the text names."""


class Set:
    """files: {path: bytes}. columns: "name:kind ..." or a list of such items.

    The kinds are n (number), t (time), x (text), b (truth value) and j (JSON). After a kind, a question mark also accepts
    the text of the file, because a careful reader may keep it. Without `named`, the file has no names of columns, and the
    reader chooses them. `refuse` explains why a refusal is right. `target` is the argument of init: the first file, or a
    folder. `variants` are other tables that are right too: [(columns, rows)].
    """

    def __init__(self, files, columns, rows, encoding="utf-8", named=True, refuse="", target=None, reader="csv", variants=()):
        self.files = files if isinstance(files, dict) else {files[0]: files[1]}
        self.tables = [(kinds(c), [list(r) for r in rs]) for c, rs in [(columns, rows), *variants]]
        self.encoding, self.named, self.refuse, self.reader = encoding, named, refuse, reader
        self.target = target or next(iter(self.files))
        for cols, rs in self.tables:
            for r in rs:
                assert len(r) == len(cols), (cols, r)


def kinds(columns):
    items = columns.split() if isinstance(columns, str) else columns
    split = [c.rpartition(":")[::2] for c in items]
    for _, kind in split:
        assert re.fullmatch(r"[ntxbj]\??", kind), split
    return split


def made(name):
    """Registers the function that makes the set `name`."""

    def register(f):
        assert name not in SETS, name
        SETS[name] = f
        return f

    return register


def half(name):
    if name in SEALED:
        return "held-out" if SEALED[name] else "develop"
    return "held-out" if hashlib.sha256((SPLIT + name).encode()).digest()[0] & 1 else "develop"


# ---- values in one form ----


def number(v):
    """Returns a number. Up to 15 digits are exact, and a double rounds a longer fraction."""
    try:
        d = D(str(v))
    except decimal.InvalidOperation:
        return ("x", str(v))
    if not d.is_finite():
        return ("x", str(v).lower())
    if d == d.to_integral_value():
        return ("n", int(d))
    d = d.normalize()
    return ("n", d if len(d.as_tuple().digits) <= 15 else D(repr(float(d))).normalize())


def millis(v):
    """Converts ISO 8601 to milliseconds, as UTC if it has no offset. Drops further digits, as saltmill does."""
    if isinstance(v, (int, D)) and not isinstance(v, bool):
        return ("t", int(v))
    text = str(v).strip().replace("Z", "+00:00")
    m = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)([.,]\d+)?)?([+-]\d\d(?::?\d\d)?)?", text)
    if not m:
        return ("x", str(v))
    t = datetime.datetime.fromisoformat(
        f"{m[1]}T{m[2] or '00:00:00'}{(m[4] or '+00') + (':00' if len(m[4] or '+00') == 3 else '')}"
    )
    whole = (t - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(seconds=1)
    return ("t", whole * 1000 + int((m[3] or ".0")[1:4].ljust(3, "0")))


def plain_json(v):
    if isinstance(v, dict):
        return tuple(sorted((k, plain_json(x)) for k, x in v.items()))
    if isinstance(v, list):
        return ("list", *map(plain_json, v))
    return number(v) if isinstance(v, (int, float, D)) and not isinstance(v, bool) else ("v", v)


TRUE_FALSE = {
    "true": True,
    "t": True,
    "yes": True,
    "y": True,
    "1": True,
    "on": True,
    "false": False,
    "f": False,
    "no": False,
    "n": False,
    "0": False,
    "off": False,
}


def as_text(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    return json.dumps(v, ensure_ascii=False, default=str) if isinstance(v, (dict, list)) else str(v)


def canon(kind, v):
    """Returns the standard form of a value. A value of another kind stays text."""
    if v is None or v == "":
        return None
    if kind == "n":
        return ("x", as_text(v)) if isinstance(v, (bool, dict, list)) else number(v)
    if kind == "t":
        return millis(v) if isinstance(v, str) else ("x", as_text(v))
    if kind == "b":
        b = TRUE_FALSE.get(as_text(v).lower())
        return ("x", as_text(v)) if b is None else ("b", b)
    if kind == "j":
        try:
            return ("j", plain_json(json.loads(v, parse_float=D) if isinstance(v, str) else v))
        except ValueError:
            return ("x", as_text(v))
    return ("x", as_text(v))


def value(cell):
    return cell[0] if isinstance(cell, tuple) else cell


def raw(cell):
    return cell[1] if isinstance(cell, tuple) else cell


def fine(v):
    """Writes a time with digits below the millisecond, which saltmill does not keep."""
    m = re.search(r"\.(\d+)", v) if isinstance(v, str) else None
    return bool(m) and len(m[1].rstrip("0")) > 3


# ---- comparison ----


def plain_name(s):
    return "".join(c for c in s.casefold() if c.isalnum())


def names_match(truth, found):
    a, b = plain_name(truth), plain_name(found)
    if not a or not b:
        return True  # the text has nothing to compare, as for `#`
    return a == b or a.endswith(b) or b.endswith(a) or a.startswith(b) or b.startswith(a)


def inner(rows):
    """Adds the members of cells that are JSON objects: `geometry` gives `geometry.type`."""
    for row in rows:
        todo = list(row.items())
        while todo:
            name, v = todo.pop()
            if isinstance(v, str) and v[:1] == "{":
                try:
                    v = json.loads(v, parse_float=D)
                except ValueError:
                    continue
            if isinstance(v, dict):
                for k, x in v.items():
                    row.setdefault(f"{name}.{k}", x)
                    todo.append((f"{name}.{k}", x))
    return rows


def forms(kind, cells):
    """Yields (kind of the found column, expected values, True if this is the text of the file)"""
    k = kind[0]
    yield k, [canon(k, value(c)) for c in cells], False
    if k != "x" or any(isinstance(c, tuple) for c in cells):
        yield "x", [canon("x", raw(c)) for c in cells], True
        yield "x", [None if value(c) is None else canon("x", raw(c)) for c in cells], True


def kept(kind, cells, as_raw, column, types):
    """Returns True if the program kept a column of numbers or times as text, although it has a type."""
    if kind in ("n", "t") and any(value(c) is not None for c in cells):
        if kind == "t" and any(fine(value(c)) for c in cells):
            return False
        t = types.get(column)
        return as_raw or t == "text" or (kind == "n" and t == "time")
    return False


def compare(table, named, found, types, comments=""):
    """Returns (outcome, reason) of the found rows, a list of {column: value}. `types` is {column: type}.

    If the comments of the job name a column, init does not omit it silently.
    """
    columns, rows = table
    if len(found) != len(rows):
        extra = len(rows) - len({repr([canon(k[0], value(c)) for (_, k), c in zip(columns, r)]) for r in rows})
        why = f"{len(found)} of {len(rows)} rows"
        return "wrong silently", why + (f" ({extra} of them are identical to others)" if extra and len(found) < len(rows) else "")
    found = inner([dict(r) for r in found])
    names = sorted({n for r in found for n in r})
    read = {}

    def column(name, kind):
        if (name, kind) not in read:
            read[name, kind] = [canon(kind, r.get(name)) for r in found]
        return read[name, kind]

    choice, left_out = [], []
    for i, (title, kind) in enumerate(columns):
        cells = [r[i] for r in rows]
        if all(value(c) is None for c in cells):
            continue
        if not any(names_match(title, n) for n in names) and re.search(rf"(?<!\w){re.escape(title)}(?!\w)", comments):
            left_out.append(title)
            continue
        options = []
        for k, expected, as_raw in forms(kind, cells):
            counted = collections.Counter(expected)
            for n in names:
                if (not named or names_match(title, n)) and collections.Counter(column(n, k)) == counted:
                    options.append((n, column(n, k), expected, kept(kind, cells, as_raw, n, types)))
        if not options:
            return "wrong silently", explain(title, kind, cells, names, column, named)
        options.sort(key=lambda o: (o[3], plain_name(o[0]) != plain_name(title), len(o[0])))
        choice.append((title, options))
    used = fit(choice, [0] * len(rows), [0] * len(rows))
    if used is None:
        return "wrong silently", "values of one row are in different rows"
    if left_out:
        return "incomplete", "left out with a comment: " + ", ".join(left_out)
    notes = [title for title, option in used if option[3]]
    return ("incomplete", "without a type: " + ", ".join(notes)) if notes else ("right", "")


def fit(choice, want, got):
    """Chooses one column for each title so that whole rows agree. Returns [(title, option)], or None if no choice fits."""
    if not choice:
        return []
    title, options = choice[0]
    for option in options:
        want2 = [hash((a, b)) for a, b in zip(want, option[2])]
        got2 = [hash((a, b)) for a, b in zip(got, option[1])]
        if collections.Counter(want2) == collections.Counter(got2):
            rest = fit(choice[1:], want2, got2)
            if rest is not None:
                return [(title, option), *rest]
    return None


def explain(title, kind, cells, names, column, named):
    """Names the first value that is not as expected."""
    near = [n for n in names if names_match(title, n)] if named else []
    near.sort(key=lambda n: plain_name(n) != plain_name(title))
    if named and not near:
        return f"no column {title}, found {', '.join(names)[:60]}"
    k, expected, _ = next(forms(kind, cells))
    best, least = None, None
    for n in near or names:
        left = collections.Counter(expected) - collections.Counter(column(n, k))
        more = collections.Counter(column(n, k)) - collections.Counter(expected)
        if least is None or sum(left.values()) < least:
            least, best = sum(left.values()), (n, left, more)
    n, left, more = best

    def first(c):
        v = next(iter(sorted(c, key=repr)), None)
        return repr(v[1] if v else v)[:40]

    return f"{title}: {least} of {len(cells)} values differ, expected {first(left)}, found {first(more)}"
