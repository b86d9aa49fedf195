"""shapes.py [--half develop|held-out] [--seeds FROM:TO] [--keep FOLDER] [--program PATH] [SEED...]

Judges `saltmill init` on random delimited files with a known content. A seed decides the form of the file: delimiter,
quotes, header, signs of numbers, order of dates, encoding, nulls, and the lines that are not rows. The outcomes are those of
judge.py. A hash of the seed decides its half. The makers of init look at the seeds of `develop` only.
"""

import argparse
import collections
import datetime as dt
import hashlib
import os
import pathlib
import random
import sys

import judge
from truth import Set

SPLIT = "saltmill shapes 27:"  # never change this text, because it decides which seeds the makers of init may see

WORDS = "amber basalt cedar delta ember fjord glacier harbor island jungle kettle lagoon meadow nectar orchid".split()
ACCENTS = ["Müller", "Zoë", "François", "Ångström", "Señora", "Øresund", "Łódź", "東京", "Ελλάδα", "Москва"]
LATIN = ACCENTS[:6]
NAMES = (
    "id code name city amount price total qty at day status kind note ref owner region weight rate score flag level"
    " Customer OrderDate Unit_Price first_name last.name comment#1 Größe value2 2024 2025 a b x1"
).split()


def half(seed):
    return "held-out" if hashlib.sha256(f"{SPLIT}{seed}".encode()).digest()[0] & 1 else "develop"


class Form:
    """The choices that all lines of a file share."""

    def __init__(self, r):
        self.delimiter = r.choice([",", ",", ",", ";", ";", "\t", "\t", "|", "||", "^", "~"])
        self.quotes = r.choice(["minimal", "minimal", "minimal", "texts", "all", "single", "backslash", "none"])
        self.header = r.random() < 0.8
        self.decimal, self.thousands = r.choice([(".", ""), (".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", "'")])
        self.encoding = r.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"])
        self.end = r.choice(["\n", "\n", "\n", "\r\n"])
        self.null = r.choice(["", "", "", "NA", "NULL", "\\N", "-", "n/a"])
        self.pad = r.choice(["", "", "", "", " ", "align"])
        self.trailing = r.random() < 0.1
        self.last = r.random() < 0.85
        if self.delimiter == "," and self.quotes in ("single", "backslash", "none"):
            self.decimal, self.thousands = ".", ""
        if self.delimiter == "||" and self.quotes not in ("none",):
            self.quotes = "none"  # no known program writes quotes with `||`


# ---- columns: each returns (kind, function of the row that returns (value, text)) ----


def sequence(r, f):
    start, step = r.choice([1, 1, 100, 1000001, 7 * 10**16]), r.choice([1, 1, 3])
    return "n", lambda i: (str(start + step * i),) * 2


def padded(r, f):
    digits = r.choice([5, 6, 8])
    return "x", lambda i: (f"{r.randrange(10**(digits - 1)):0{digits}d}",) * 2


def long_id(r, f):
    digits = r.choice([17, 18, 19, 22])
    return ("x" if digits == 22 else "n"), lambda i: (str(r.randrange(10 ** (digits - 1), 10**digits)),) * 2


def amount(r, f):
    places, most = r.choice([1, 2, 2, 2, 3]), r.choice([10, 1000, 10**6])
    negative = r.random() < 0.3

    def make(i):
        units = r.randrange(most * 10**places) * (-1 if negative and r.random() < 0.4 else 1)
        whole, rest = divmod(abs(units), 10**places)
        grouped = f"{whole:,}".replace(",", f.thousands)
        sign = "-" if units < 0 else ""
        return f"{sign}{whole}.{rest:0{places}d}", f"{sign}{grouped}{f.decimal}{rest:0{places}d}"

    return "n", make


def count(r, f):
    most = r.choice([10, 1000, 10**7])

    def make(i):
        v = r.randrange(most)
        return str(v), f"{v:,}".replace(",", f.thousands) if most > 1000 else str(v)

    return "n", make


def signed(r, f):
    return "n", lambda i: (str(r.randrange(-500, 500)),) * 2


def real(r, f):
    def make(i):
        v = r.uniform(-1, 1) * 10 ** r.randrange(-4, 9)
        return repr(v), repr(v).replace(".", f.decimal)

    return "n", make


def date(r, f):
    form = r.choice(
        ["%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%b-%Y", "%m/%d/%y", "%d-%m-%Y"]
    )
    first = dt.date(r.choice([1998, 2019, 2026]), 1, 1)
    days = r.choice([12, 300, 300])

    def make(i):
        d = first + dt.timedelta(days=r.randrange(days))
        return f"{d}", d.strftime(form)

    return "t", make


def moment(r, f):
    form = r.choice(["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %H:%M:%S"])

    def make(i):
        t = dt.datetime(2025, 1, 1) + dt.timedelta(minutes=i * 313)
        return f"{t}", t.strftime(form)

    return "t", make


def truth_value(r, f):
    words = r.choice([("true", "false"), ("True", "False"), ("yes", "no"), ("Y", "N"), ("t", "f")])

    def make(i):
        b = r.random() < 0.5
        return b, words[0 if b else 1]

    return "b?", make


def hard_text(r, f):
    parts = [*WORDS, "a, b", "x; y", 'say "hi"', "it's", "50%", "1", "C:\\new", "[x]", "#tag", "a|b", "Total", "--", "x=1", "NA1"]

    def make(i):
        text = " ".join(r.choice(parts) for _ in range(r.randrange(1, 4)))
        return text, text

    return "x", make


def word(r, f):
    words = r.sample(WORDS, r.randrange(2, 8))
    return "x", lambda i: (r.choice(words),) * 2


def accent(r, f):
    words = LATIN if f.encoding == "latin-1" else ACCENTS
    return "x", lambda i: (r.choice(words),) * 2


def odd_code(r, f):
    """Codes that look like numbers, dates or truth values in part."""
    one = r.choice(
        [
            lambda i: f"{r.randrange(9999)}" if r.random() < 0.97 else f"A{r.randrange(99)}",
            lambda i: f"{r.randrange(1, 300)}" + r.choice(["", "", "", "a", "b"]),
            lambda i: f"+49 {r.randrange(100, 999)} {r.randrange(10**5, 10**6)}",
            lambda i: f"{r.randrange(1, 9)}.{r.randrange(20)}.{r.randrange(9)}",
            lambda i: f"10.{r.randrange(256)}.{r.randrange(256)}.{r.randrange(256)}",
            lambda i: "".join(r.choice("0123456789abcdef") for _ in range(8)),
            lambda i: f"#{r.randrange(16**6):06x}",
            lambda i: r.choice(["DE", "NA", "NO", "FR", "US"]),
            lambda i: f"{r.randrange(24):02d}:{r.randrange(60):02d}",
            lambda i: f"{r.randrange(1, 99)}%",
            lambda i: f"SKU-{i:04d}",
        ]
    )
    return "x", lambda i: (one(i),) * 2


def empty(r, f):
    return "x", lambda i: (None, "")


MAKERS = [sequence, padded, long_id, amount, amount, count, signed, real, date, date, moment, truth_value, hard_text, hard_text]
MAKERS += [word, word, accent, odd_code, odd_code, odd_code, empty]


# ---- lines ----


def written(f, text, kind, null):
    """Returns the text as the producer writes it between delimiters, or None if the form cannot write it."""
    needs = any(c in text for c in (f.delimiter[0], '"', "\n", "\r"))
    if f.quotes in ("none", "backslash") and null:
        return text
    if f.quotes == "none":
        return text if f.delimiter[0] not in text and '"' not in text else None
    if f.quotes == "backslash":
        return text.replace("\\", "\\\\").replace(f.delimiter, "\\" + f.delimiter)
    if f.quotes == "single":
        return "'" + text.replace("'", "''") + "'" if kind[0] == "x" and not null else text
    if f.quotes == "all" and not null or needs or f.quotes == "texts" and kind[0] == "x" and not null:
        return '"' + text.replace('"', '""') + '"'
    return text


def line_of(f, texts, widths):
    if f.pad == "align" and f.quotes in ("minimal", "none"):
        texts = [t.ljust(w) if k % 2 else t.rjust(w) for k, (t, w) in enumerate(zip(texts, widths))]
    elif f.pad == " " and f.quotes in ("minimal", "none"):
        texts = [t if k == 0 else " " + t for k, t in enumerate(texts)]
    return f.delimiter.join(texts) + (f.delimiter if f.trailing else "")


def make_rows(r, f, columns, n):
    """Returns (truth, texts): rows of values and rows of written texts."""
    kinds, truth, texts = [], [], []
    makers = [m(r, f) for m in columns]
    share = [r.choice([0, 0, 0, 0.1, 0.3]) for _ in columns]
    share[0] = 0
    for i in range(n):
        cells, out = [], []
        for k, (kind, make) in enumerate(makers):
            value, text = make(i)
            null = value is None or r.random() < share[k]
            w = written(f, text, kind, False) if not null else None
            while not null and (w is None or (text.strip() in (f.null, "-", "--") or text.strip() == "")):
                value, text = make(i)
                w = written(f, text, kind, False)
            if null:
                w = written(f, f.null, kind, True)
            cells.append((None, f.null) if null else value if value == text else (value, text))
            out.append(w)
        truth.append(cells)
        texts.append(out)
    kinds = [kind for kind, _ in makers]
    return kinds, truth, texts


def notes(r, f, header, n, width):
    """Returns (lines above, {row: lines before it}, lines below) that are not rows."""
    above, inside, below = [], collections.defaultdict(list), []
    form = r.choice(["", "", "", "", "", "title", "comments", "total", "pages", "repeated", "blank", "ruler", "count", "source"])
    blanks = f.delimiter * (width - 1)
    if form == "title":
        above += r.choice([["Report of sales"], ["Report of sales", ""], ["Sales " + "2026-01-03" + blanks], ["Name: x", "Day: 3", ""]])
    elif form == "comments":
        above += ["# exported by a program", "#"]
        for _ in range(r.randrange(3)):
            inside[r.randrange(n)].append("# a comment")
    elif form == "total":
        below.append(r.choice(["Total", "Sum", "Grand total", "Summe"]) + blanks[len(f.delimiter) :] + f.delimiter + "12345")
        if r.random() < 0.4:
            inside[n // 2].append("Subtotal" + blanks[len(f.delimiter) :] + f.delimiter + "123")
    elif form == "pages":
        for k in range(10, n, 10):
            inside[k] += ["", f"Page {k // 10 + 1}", *([header] if header else [])]
    elif form == "repeated" and header:
        for k in range(max(3, n // 4), n, max(3, n // 4)):
            inside[k].append(header)
    elif form == "blank":
        for _ in range(3):
            inside[r.randrange(n)].append("")
    elif form == "ruler" and header:
        inside[0].append("-" * len(header))
    elif form == "count":
        below += [r.choice([f"({n} rows)", f"({n} rows affected)", f"{n} rows selected.", f"Rows: {n}"])]
    elif form == "source":
        below += ["", r.choice(["Source: ministry of data", "* preliminary", "Data are provisional"])]
    return form, above, inside, below


def shape(seed):
    r = random.Random(f"shapes {seed}")
    f = Form(r)
    columns = [r.choice(MAKERS) for _ in range(r.randrange(2, 10))]
    if r.random() < 0.6:
        columns[0] = r.choice([sequence, odd_code, padded])
    n = r.choice([4, 12, 40, 40, 150, 150, 400])
    if all(c is empty for c in columns):
        columns[0] = sequence
    kinds, truth, texts = make_rows(r, f, columns, n)
    names = r.sample(NAMES, len(columns))
    if f.encoding == "latin-1":
        names = [x.encode("latin-1", "replace").decode("latin-1") for x in names]
    heads = [written(f, x, "x", False) or x for x in names]
    widths = [max(len(row[k]) for row in [heads, *texts]) for k in range(len(columns))]
    header = line_of(f, heads, widths) if f.header else ""
    ragged = r.random() < 0.08 and not f.trailing
    form, above, inside, below = notes(r, f, header, n, len(columns))
    lines = above + ([header] if f.header else [])
    for i, row in enumerate(texts):
        lines += inside[i]
        while ragged and len(row) > 1 and row[-1] == "":
            row = row[:-1]
        lines.append(line_of(f, row, widths))
    text = f.end.join(lines + below) + (f.end if f.last else "")
    titles = [f"{name}:{kind}" for name, kind in zip(names if f.header else [f"c{k}" for k in range(len(names))], kinds)]
    data = text.encode(f.encoding, "replace")
    about = f"{f.delimiter!r} {f.quotes} {f.encoding} null={f.null!r} {f.decimal}{f.thousands} {'header' if f.header else 'no header'}"
    about += f" {form} pad={f.pad!r}{' trailing' if f.trailing else ''}{' ragged' if ragged else ''}"
    return about, Set(("shape.csv", data), titles, truth, encoding=f.encoding, named=f.header)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--half", choices=["develop", "held-out"], default="develop")
    p.add_argument("--seeds", default="0:1000")
    p.add_argument("--keep", metavar="FOLDER", help="write the files into FOLDER")
    p.add_argument("--all", action="store_true", help="print all outcomes, not only the wrong ones")
    p.add_argument("--program", default="build/saltmill")
    p.add_argument("numbers", nargs="*", type=int, metavar="SEED")
    a = p.parse_args()
    first, _, end = a.seeds.partition(":")
    counts = collections.Counter()
    for seed in a.numbers or range(int(first), int(end)):
        if half(seed) != a.half:
            continue
        about, s = shape(seed)
        outcome, why = judge.by_init(os.path.abspath(a.program), s)
        counts[outcome] += 1
        if a.all or outcome == "wrong silently":
            print(f"{seed:6} {outcome:15} {about}: {why}", flush=True)
        if a.keep and (outcome == "wrong silently" or a.numbers):
            pathlib.Path(a.keep).mkdir(exist_ok=True, parents=True)
            (pathlib.Path(a.keep) / f"{seed}.csv").write_bytes(s.files["shape.csv"])
    print(f"{a.half}: " + ", ".join(f"{counts[o]} {o}" for o in judge.ORDER if counts[o]) + f", of {sum(counts.values())}")
    return 1 if counts["wrong silently"] else 0


if __name__ == "__main__":
    sys.exit(main())
