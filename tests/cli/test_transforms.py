"""Compares times in all forms, and texts that a field builds from its columns, with Python's results."""

import csv
import datetime as dt
import io
import pathlib
import random
import re
import struct
import subprocess
import time

import hfile_py
from load_help import Bench

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)


def job(fields, source="{files: [in.csv]}"):
    """`fields` is {name: (text of its braces, encoding)}. Each field is a cell that may be absent."""
    lines = ["source:", f"  csv: {source}", "fields:", "  id: {}"]
    lines += [f"  {name}: {{{spec}}}" for name, (spec, _) in fields.items()]
    cells = [f"      - {{family: f, qualifier: {name}, optional: true, value: {{field: {name}, as: {enc}}}}}"
             for name, (_, enc) in fields.items()]
    return "\n".join([*lines, "tables:", "  - name: t", "    rowkey: [{field: id, as: text}]", "    timestamp: 5",
                      "    families: {f: {compression: NONE}}", "    cells:", *cells, "    regions: {split: none}", ""])


def table(header, rows):
    out = io.StringIO()
    w = csv.writer(out, lineterminator="\n")
    w.writerow(header)
    w.writerows(rows)
    return out.getvalue().encode()


def run(tmp_path, saltmill, fields, rows, *args, header=None, name="in.csv", source="{files: [in.csv]}"):
    """Returns the loaded values and the rejects, as ({id: {field: value}}, [(id, field, reason, detail)])."""
    bench = Bench(tmp_path, saltmill, job(fields, source))
    bench.input(table(header or ["id", *fields], rows), name)
    r = bench.run("--max-rejects", "100%", *args)
    assert r.returncode in (0, 3), r.stderr
    loaded = {}
    for p in bench.out.glob("t/hfiles/*/*"):
        for c in hfile_py.read(p):
            loaded.setdefault(c.row.decode(), {})[c.qualifier.decode()] = c.value
    at, line = {}, 2
    for row in rows:
        at[line] = row[0]
        line += 1 + "".join(row).count("\n")
    rejects = [(at[x["line"]], x["field"], x["reason"], x["detail"]) for x in bench.rejects()]
    return loaded, rejects


def ms(t):
    return (t - EPOCH) // dt.timedelta(milliseconds=1)


def millis(v):
    return struct.unpack(">q", v)[0]


# Formats a time with Python's strftime, and computes letters that strftime lacks.
FORMATS = ["%Y-%m-%d %H:%M:%S", "%d/%b/%Y:%H:%M:%S %z", "%a %b %d %H:%M:%S %Y", "%A, %d %B %Y %H:%M", "%Y%m%d%H%M%S%f",
           "%y%j %H%M", "%m/%d/%y %I:%M:%S %p", "%d.%m.%Y", "%Y-%j", "%H:%M %F", "%F %T.%f", "%D %R", "%F %r", "%e.%m.%Y %k:%M",
           "%h %d %Y %l:%M %p", "%s", "%s.%f", "%b %d %Y %T %Z", "%a, %d %b %Y %H:%M:%S %Z", "week day %a of %%Y %F"]
FINEST = {"%f": dt.timedelta(microseconds=1), "%S": dt.timedelta(seconds=1), "%T": dt.timedelta(seconds=1),
          "%r": dt.timedelta(seconds=1), "%s": dt.timedelta(seconds=1), "%M": dt.timedelta(minutes=1),
          "%R": dt.timedelta(minutes=1)}


def text_of(t, format):
    if format == "%s.%f":
        us = abs(t - EPOCH) // dt.timedelta(microseconds=1)
        return f"{'-' if t < EPOCH else ''}{us // 1000000}.{us % 1000000:06d}"
    return t.strftime(format.replace("%s", str((t - EPOCH) // dt.timedelta(seconds=1))).replace("%Z", "GMT"))


def seen_of(t, format):
    """Returns the parts of the time that the text contains."""
    finest = next((v for k, v in FINEST.items() if k in format), dt.timedelta(days=1))
    return EPOCH + (t - EPOCH) // finest * finest


def moments(n, seed, first=1969, last=2068):
    r = random.Random(seed)
    span = dt.datetime(last, 12, 31, tzinfo=UTC) - dt.datetime(first, 1, 1, tzinfo=UTC)
    for _ in range(n):
        yield dt.datetime(first, 1, 1, tzinfo=UTC) + r.random() * span
    yield from (dt.datetime(2000, 2, 29, 23, 59, 59, 999999, tzinfo=UTC), dt.datetime(1970, 1, 1, tzinfo=UTC),
                dt.datetime(2024, 12, 31, 12, 0, 1, tzinfo=UTC), dt.datetime(2024, 12, 31, 0, 0, 1, tzinfo=UTC))


def test_formats_by_strftime(tmp_path, saltmill):
    fields = {f"f{i}": (f"type: time, format: '{f}'", "millis") for i, f in enumerate(FORMATS)}
    rows, want = [], {}
    for n, t in enumerate(moments(300, 1)):
        zoned = [t.astimezone(dt.timezone(dt.timedelta(minutes=15 * (n % 80 - 40)))) if "%z" in f else t for f in FORMATS]
        rows.append([str(n), *(text_of(z, f) for z, f in zip(zoned, FORMATS))])
        want[str(n)] = {f"f{i}": ms(seen_of(t, f)) for i, f in enumerate(FORMATS)}
    got, rejects = run(tmp_path, saltmill, fields, rows)
    assert rejects == []
    assert {k: {f: millis(x) for f, x in v.items()} for k, v in got.items()} == want


def iso_texts(t, r):
    """Returns one of the forms, and the time in this form."""
    day = r.choice([t.strftime("%Y-%m-%d"), t.strftime("%Y%m%d"), t.strftime("%G-W%V-%u"), t.strftime("%GW%V%u"),
                    t.strftime("%Y-%j"), t.strftime("%Y%j")])
    digits = r.randrange(1, 10)
    clock, unit = r.choice([
        ("", dt.timedelta(days=1)), ("%H", dt.timedelta(hours=1)), ("%H:%M", dt.timedelta(minutes=1)),
        ("%H%M", dt.timedelta(minutes=1)), ("%H:%M:%S", dt.timedelta(seconds=1)), ("%H%M%S", dt.timedelta(seconds=1)),
        ("%H:%M:%S" + r.choice(".,") + f"{t.microsecond:06d}000"[:digits],
         dt.timedelta(microseconds=10 ** max(0, 6 - digits)))])
    wall = t.replace(tzinfo=UTC)
    wall = EPOCH + (wall - EPOCH) // unit * unit
    minutes = r.choice([0, 0, 60, -300, 345, 720, -570])
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    zone = r.choice([f"{sign}{size // 60:02d}:{size % 60:02d}", f"{sign}{size // 60:02d}{size % 60:02d}",
                     f"{sign}{size // 60:02d}"]) if minutes else r.choice(["Z", "z", "+00:00", "-00", " UTC", " gmt", " +0000", ""])
    if minutes and not zone[3:]:
        minutes = minutes // 60 * 60 if minutes > 0 else -(-minutes // 60 * 60)
    text = day + (r.choice("Tt ") + t.strftime(clock) if clock else "") + (zone if clock else zone.strip())
    return text, ms(wall - dt.timedelta(minutes=minutes))


def test_iso8601(tmp_path, saltmill):
    r = random.Random(7)
    rows, want = [], {}
    for n, t in enumerate(moments(1500, 2, 1600, 2500)):
        text, at = iso_texts(t, r)
        rows.append([str(n), text])
        want[str(n)] = at
    got, rejects = run(tmp_path, saltmill, {"t": ("type: time, format: iso8601", "millis")}, rows)
    assert rejects == []
    assert {k: millis(v["t"]) for k, v in got.items()} == want


def test_iso8601_by_hand(tmp_path, saltmill):
    """Times are in a zone, at the ends of days and years. Some texts are no valid time."""
    good = {"2024-07-01T12:00": 1719828000000, "2024-07-01T12:00Z": 1719835200000, "2024-01-01": 1704063600000,
            "2023-12-31T24:00:00": 1704063600000, "2020-W53-7": 1609628400000, "2016-12-31 00:00:00.123456789123": 1483138800123,
            "2012-09-01-08:00": 1346486400000, "9999-12-31T23:59:59,999Z": 253402300799999}
    bad = {"2024-07": "bad_time", "2024-7-1": "bad_time", "24-07-01": "bad_time", "2024-07-01T": "bad_time",
           "2024-07-01T1": "bad_time", "2024-07-01T12:0": "bad_time", "2024-07-01T12:00:60": "bad_time",
           "2024-07-01T24:00:01": "bad_time", "2024-07-01T12:00:00.": "bad_time", "2024-07-01T12:00.5": "bad_time",
           "2024-07-01T12:00 CEST": "bad_time", "2024-07-01T12:00+24": "bad_time", "2024-07-01T12:00Zx": "bad_time",
           " 2024-07-01": "bad_time", "2024-02-30": "bad_date", "2023-366": "bad_date", "2024-000": "bad_time",
           "2021-W53-1": "bad_date", "2021-W00-1": "bad_time", "2021-W01-8": "bad_time", "2021-W01": "bad_time",
           "2024-03-31T02:30": "bad_time", "+2024-07-01": "bad_time", "202407": "bad_time", "1719828000": "bad_time"}
    rows = [[str(n), text] for n, text in enumerate([*good, *bad])]
    got, rejects = run(tmp_path, saltmill, {"t": ("type: time, format: iso8601, zone: Europe/Berlin", "millis")}, rows)
    assert {rows[int(k)][1]: millis(v["t"]) for k, v in got.items()} == good
    assert {rows[int(k)][1]: reason for k, _, reason, _ in rejects} == bad
    for k, field, _, detail in rejects:
        assert field == "t" and f"found `{rows[int(k)][1]}`, expected" in detail
    assert any("such as 2012-09-01 or 2012-09-01T16:00:05.123Z" in d for *_, d in rejects)


def test_weekdays_and_zone_names_are_not_read_over(tmp_path, saltmill):
    fields = {"a": ("type: time, format: '%a %F'", "millis"), "z": ("type: time, format: '%F %Z'", "millis")}
    rows = [["1", "Mon 2026-01-05", ""], ["2", "monday 2026-01-05", ""], ["3", "Tue 2026-01-05", ""], ["4", "Mo 2026-01-05", ""],
            ["5", "", "2026-01-05 utc"], ["6", "", "2026-01-05 CST"]]
    got, rejects = run(tmp_path, saltmill, fields, rows)
    assert {k: {f: millis(x) for f, x in v.items()} for k, v in got.items()} == {
        "1": {"a": 1767571200000}, "2": {"a": 1767571200000}, "5": {"z": 1767571200000}}
    assert [r[:3] for r in rejects] == [("3", "a", "bad_date"), ("4", "a", "bad_time"), ("6", "z", "bad_time")]
    assert "expected the weekday of this date (format %a %F)" in rejects[0][3]


# --- times without a year ---

def nearest(text, day):
    """Returns the date of `Mon dd` that is nearest to the day. If two dates are equally near, returns the earlier
    date."""
    found = []
    for y in range(day.year - 1, day.year + 2):
        try:
            found.append(dt.datetime.strptime(f"{y} {text}", "%Y %b %d").date())
        except ValueError:
            pass
    return min(found, key=lambda d: (abs((d - day).days), d))


def test_year_nearest_to_a_day(tmp_path, saltmill):
    days = [dt.date(2026, 1, 3), dt.date(2024, 6, 30), dt.date(2023, 12, 31), dt.date(2000, 2, 29), dt.date(1970, 1, 1)]
    texts = [(dt.date(2024, 1, 1) + dt.timedelta(days=i)).strftime("%b %d") for i in range(366)]
    fields = {f"d{i}": (f"from: d, type: time, format: '%b %d', year: {{near: {day}}}", "millis") for i, day in enumerate(days)}
    rows = [[str(n), text] for n, text in enumerate(texts) if text != "Feb 29"]
    got, rejects = run(tmp_path, saltmill, fields, rows, header=["id", "d"])
    assert rejects == []
    for n, text in rows:
        want = {f"d{i}": ms(dt.datetime.combine(nearest(text, day), dt.time(), UTC)) for i, day in enumerate(days)}
        assert {f: millis(x) for f, x in got[n].items()} == want, text


def test_year_of_the_files_name(tmp_path, saltmill):
    """The events cross a new year. The same texts in files of other days are other times."""
    fields = {"t": ("type: time, format: '%b %e %T', year: file", "millis")}
    texts = ["Dec 31 23:59:59", "Jan  1 00:00:00", "Jan  3 06:00:00", "Feb 29 12:00:00"]
    for name, want in (("syslog-20260104", ["2025-12-31T23:59:59", "2026-01-01T00:00:00", "2026-01-03T06:00:00", None]),
                       ("2023-12-30.syslog", ["2023-12-31T23:59:59", "2024-01-01T00:00:00", "2024-01-03T06:00:00",
                                              "2024-02-29T12:00:00"]),
                       ("no date 202601041.log", [None] * 4)):
        folder = tmp_path / name
        folder.mkdir()
        rows = [[str(n), t] for n, t in enumerate(texts)]
        got, rejects = run(folder, saltmill, fields, rows, name=name, source=f"{{files: ['{name}']}}")
        at = [ms(dt.datetime.fromisoformat(w).replace(tzinfo=UTC)) if w else None for w in want]
        assert [millis(got[str(n)]["t"]) if str(n) in got else None for n in range(4)] == at, name
        assert len(rejects) == want.count(None)
    assert {r[2] for r in rejects} == {"bad_time"} and "expected a file with a date such as 2026-01-03" in rejects[0][3]


def test_given_year(tmp_path, saltmill):
    got, rejects = run(tmp_path, saltmill, {"t": ("type: time, format: '%d.%m.', year: 2023", "millis")},
                       [["1", "28.2."], ["2", "29.2."]])
    assert {k: millis(v["t"]) for k, v in got.items()} == {"1": 1677542400000}
    assert [r[:3] for r in rejects] == [("2", "t", "bad_date")]


# --- an implausible unit ---

def test_a_finer_unit_is_not_guessed_but_named(tmp_path, saltmill):
    now = 1476640644
    number = {"s": f"{now}", "ms": f"{now}000", "us": f"{now}000000", "ns": f"{now}000000000"}
    fields = {u: (f"type: time, unit: {u}", "millis") for u in number}
    rows, bad = [], {}
    for i, column in enumerate(number):
        for k, (unit, text) in enumerate(number.items()):
            n = str(len(rows))
            rows.append([n, *(text if c == column else "" for c in number)])
            if k > i:
                bad[n] = (column, "out_of_range", f"with `unit: {unit}` this is a time between 1990 and 2099")
    for far in ("253402300799", "253402300800", "9223372036854775", "1.476640644E9", "1.476640644E12"):
        rows.append([str(len(rows)), far, "", "", ""])
    bad[str(len(rows) - 1)] = ("s", "out_of_range", "with `unit: ms`")
    got, rejects = run(tmp_path, saltmill, fields, rows)
    assert {r[0] for r in rejects} == set(bad)
    for n, field, reason, detail in rejects:
        assert (field, reason) == bad[n][:2] and bad[n][2] in detail
    assert {n for n in map(str, range(len(rows)))} - set(bad) == set(got)
    assert millis(got["16"]["s"]) == 253402300799000 and millis(got["17"]["s"]) == 253402300800000


# --- changes to a text before parsing ---

ALPHABET = "aZ09 -_/:.,;\"'\u00e4\u00d6\u00df\u0130\u0131\u03a3\u03c3\u0416\u0436\u5317\U0001f642\n\t"


def texts(n, seed):
    r = random.Random(seed)
    yield from ("x", "A", "B", "AB-12", "  ", "0" * 40, "-", "\u00c4\u00d6\u00dc", "a" * 100_000)
    for _ in range(n):
        yield "".join(r.choice(ALPHABET) for _ in range(r.randrange(1, 24)))


def letter_by_letter(text, change):
    """Uses Unicode's simple mappings. Python maps some letters to two letters. Only one of these letters has a simple
    mapping."""
    simple = {"\u0130": "i"} if change is str.lower else {}
    return "".join(simple.get(c) or (change(c) if len(change(c)) == 1 else c) for c in text)


def part(text, start, length=None):
    """Computes SQL's substring. Counts from the end if `start` is negative."""
    first = start - 1 if start > 0 else len(text) + start
    last = len(text) if length is None else first + length
    return text[max(first, 0):max(last, 0)]


def found(pattern, text):
    m = re.search(pattern, text)
    return m and (m.group(1) or "" if m.re.groups else m.group())


WORDS = {"A": "1", "B": "2", "AB-12": "", "x": "y"}
STEPS = {
    "from: x": lambda x, y: x,
    "from: [x, y]": lambda x, y: f"{x} {y}",
    "from: [x, y], join: ''": lambda x, y: x + y,
    "from: [x, ' ', y]": lambda x, y: f"{x} {y}",
    "from: [{text: 'T\u00e4'}, x, '/', {text: x}, y, '--']": lambda x, y: f"T\u00e4{x}/x{y}--",
    "from: [y, {text: ''}, {column: x}]": lambda x, y: y + x,
    "from: ['(', x, x, ')']": lambda x, y: f"({x}{x})",
    "from: x, case: lower": lambda x, y: letter_by_letter(x, str.lower),
    "from: x, case: upper": lambda x, y: letter_by_letter(x, str.upper),
    "from: x, substring: [1, 3]": lambda x, y: part(x, 1, 3),
    "from: x, substring: [4]": lambda x, y: part(x, 4),
    "from: x, substring: [-2]": lambda x, y: part(x, -2),
    "from: x, substring: [-7, 3]": lambda x, y: part(x, -7, 3),
    "from: x, substring: [3, 1]": lambda x, y: part(x, 3, 1),
    "from: x, map: {A: 1, B: 2, AB-12: '', x: y}, otherwise: none": lambda x, y: WORDS.get(x, "none"),
    "from: x, map: {A: 1, B: 2, AB-12: '', x: y}, otherwise: {keep: true}": lambda x, y: WORDS.get(x, x),
    "from: x, map: {A: 1, B: 2, AB-12: '', x: y}": lambda x, y: WORDS.get(x),
    r"from: x, match: '\d+'": lambda x, y: found(r"[0-9]+", x),
    r"from: x, match: '^(?:.*?)([a-zA-Z]{2})'": lambda x, y: found(r"^(?:.*?)([a-zA-Z]{2})", x),
    r"from: x, match: '-(.)?'": lambda x, y: found(r"-(.)?", x),
    "from: x, match: \"^[\\u5317\\u00e4](.*)\"": lambda x, y: found("^[\u5317\u00e4](.*)", x),
    # the order of the steps does not depend on the order of the keys
    r"otherwise: no, map: {ZA: both, zA: wrong}, case: upper, substring: [2, 2], match: '.(.*)', from: [x, y]":
        lambda x, y: (lambda t: t if t is None else {"ZA": "both"}.get(letter_by_letter(part(t, 2, 2), str.upper), "no"))(
            found(r".(.*)", f"{x} {y}")),
}


def may_refuse(spec):
    return "match" in spec or ("map" in spec and "otherwise" not in spec)


def judge(folder, saltmill, steps, pairs):
    """Applies every step to every text. An empty result gives no cell, and no result gives a reject."""
    fields = {f"s{i}": (spec, "text") for i, spec in enumerate(steps)}
    want = {n: {f"s{i}": step(x, y) for i, step in enumerate(steps.values())} for n, x, y in pairs}
    got, rejects = run(folder, saltmill, fields, pairs, header=["id", "x", "y"])
    refused = {n for n, v in want.items() if None in v.values()}
    assert {r[0] for r in rejects} == refused
    for n, v in want.items():
        if n not in refused:
            assert {f: x.decode() for f, x in got.get(n, {}).items() if x} == {f: x for f, x in v.items() if x}, pairs[int(n)]
    return rejects


def test_texts_by_python(tmp_path, saltmill):
    pairs = [(str(i), x, y) for i, (x, y) in enumerate(zip(texts(600, 3), reversed(list(texts(600, 4)))))]
    together = {s: f for s, f in STEPS.items() if not may_refuse(s)}
    assert judge(tmp_path, saltmill, together, pairs) == []
    for i, spec in enumerate(s for s in STEPS if s not in together):
        folder = tmp_path / str(i)
        folder.mkdir()
        rejects = judge(folder, saltmill, {spec: STEPS[spec]}, pairs)
        assert {r[1:3] for r in rejects} <= {("s0", "no_match"), ("s0", "not_in_map")}
        if "map" in spec and rejects:
            assert "expected one of the names in `map`: A, B, AB-12, x" in rejects[0][3]


def test_nulls_before_and_behind(tmp_path, saltmill):
    """A null in one column makes the whole field null. A map may give a null word. Quoted values are never null."""
    fields = {"j": ("from: [x, '/', y]", "text"), "m": ("from: x, map: {a: '', b: NA, c: '7'}, otherwise: {keep: true}", "text"),
              "u": ("from: x, case: upper", "text"), "n": ("from: y, match: '^1?(.*)$', type: u32, default: 9", "text")}
    folder = tmp_path
    bench = Bench(folder, saltmill, job(fields, "{files: [in.csv], 'null': [NA]}"))
    bench.input(b'id,x,y\n1,a,NA\n2,b,1\n3,c12,2\n4,NA,2\n5,"NA",2\n6,"b",2\n7,na,3\n')
    r = bench.run("--max-rejects", "9")
    got = {}
    for p in bench.out.glob("t/hfiles/*/*"):
        for c in hfile_py.read(p):
            got.setdefault(c.row.decode(), {})[c.qualifier.decode()] = c.value.decode()
    assert r.returncode == 0, r.stderr
    assert got == {"1": {"u": "A", "n": "9"}, "2": {"j": "b/1", "u": "B", "n": "9"},
                   "3": {"j": "c12/2", "m": "c12", "u": "C12", "n": "2"}, "4": {"n": "2"},
                   "5": {"j": "NA/2", "m": "NA", "u": "NA", "n": "2"}, "6": {"j": "b/2", "u": "B", "n": "2"},
                   "7": {"j": "na/3", "m": "na", "n": "3"}}


def test_a_map_that_lists_a_word_as_itself(tmp_path, saltmill):
    """NA is Namibia. A quoted NA is a value with `quoted_nulls: false`, also if `map` lists NA as one of the allowed words."""
    fields = {"m": ("from: x, map: {NA: NA, b: NA, d: D}", "text"), "o": ("from: x, map: {d: D}, otherwise: NA", "text"),
              "u": ("from: x, case: upper, map: {NA: NA}, otherwise: {keep: true}", "text")}
    for rule, namibia in ("false", {"m": "NA", "o": "NA", "u": "NA"}), ("true", {}):
        folder = tmp_path / rule
        folder.mkdir()
        bench = Bench(folder, saltmill, job(fields, f"{{files: [in.csv], 'null': [NA], quoted_nulls: {rule}}}")
                      .replace("    regions", "      - {family: f, qualifier: k, value: {field: id}}\n    regions"))
        bench.input(b'id,x\n1,"NA"\n2,NA\n3,"b"\n4,d\n')
        r = bench.run()
        assert r.returncode == 0, r.stderr
        got = {}
        for p in bench.out.glob("t/hfiles/*/*"):
            for c in hfile_py.read(p):
                got.setdefault(c.row.decode(), {})[c.qualifier.decode()] = c.value.decode()
        assert got == {"1": {"k": "1", **namibia}, "2": {"k": "2"}, "3": {"k": "3", "u": "B"},
                       "4": {"k": "4", "m": "D", "o": "D", "u": "D"}}


def test_a_typed_value_of_a_transformed_text(tmp_path, saltmill):
    fields = {"n": ("from: x, match: '#(\\d+)', type: u32", "u32"), "d": ("from: x, substring: [-8], type: time, format: '%Y%m%d'",
                                                                       "millis"),
              "b": ("from: x, substring: [1, 1], case: lower, map: {j: true, n: false}, type: bool", "bool")}
    got, rejects = run(tmp_path, saltmill, fields, [["1", "J #17 20260103"], ["2", "N #x 20260103"], ["3", "J #4294967296 20260103"],
                                                    ["4", "X #1 20260103"], ["5", "N #1 20260132"]], header=["id", "x"])
    assert got == {"1": {"n": struct.pack(">I", 17), "d": struct.pack(">q", 1767398400000), "b": b"\xff"}}
    assert [r[:3] for r in rejects] == [("2", "n", "no_match"), ("3", "n", "out_of_range"), ("4", "b", "not_in_map"),
                                        ("5", "d", "bad_date")]
    assert "found `4294967296`" in rejects[1][3] and "found `x`, expected one of the names in `map`: j, n" in rejects[2][3]


def test_a_text_that_is_a_column_too(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, job({"f": ("from: [x, '-', y]", "text")}))
    bench.input(b"id,x,-,y\n1,a,b,c\n")
    bench.refused(bench.run(), 2, "job.yaml:5:3: from of field `f` has `-`, which is also a column `-` of the source",
                  "{text: '-'} or {column: '-'}")


def test_a_pattern_that_looks_for_ever(tmp_path, saltmill):
    _, rejects = run(tmp_path, saltmill, {"f": ("from: x, match: '^(?:a+)+$'", "text")}, [["1", "a" * 40 + "b"], ["2", "aaa"]],
                     header=["id", "x"])
    assert [r[:3] for r in rejects] == [("1", "f", "too_costly")] and "more than 10 million steps" in rejects[0][3]


def test_a_text_that_costs_too_much_at_each_position(tmp_path, saltmill):
    """From each of 40,000 positions, the pattern runs to the end and back. This needs n * n steps, although each
    position is within any limit."""
    began = time.monotonic()
    _, rejects = run(tmp_path, saltmill, {"f": (r"from: x, match: '(\S+):\d'", "text")},
                     [["1", "a" * 40000 + ":x"], ["2", "b" * 40000 + ":5"]], header=["id", "x"])
    assert [r[:3] for r in rejects] == [("1", "f", "too_costly")]
    assert time.monotonic() - began < 5


def test_an_event_has_one_budget_for_all_its_fields(tmp_path, saltmill):
    """Each of 60 fields alone needs two thirds of the steps. Together the fields stop at the budget."""
    fields = {f"f{i}": (r"from: x, match: '(\S+):\d|a:x$'", "text") for i in range(60)}
    began = time.monotonic()
    _, rejects = run(tmp_path, saltmill, fields, [["1", "a" * 3500 + ":x"], ["2", "b:5"]], header=["id", "x"])
    assert [(r[0], r[2]) for r in rejects] == [("1", "too_costly")]
    assert time.monotonic() - began < 5


def test_the_worked_job_is_without_fault(saltmill):
    """Fields that use other parts of the time's column differ from the time as text."""
    root = pathlib.Path(__file__).resolve().parents[2]
    r = subprocess.run([saltmill, "lint", "conf/access_log.yaml"], cwd=root, capture_output=True, text=True, timeout=60)
    assert "time-as-text" not in r.stdout + r.stderr and r.returncode == 0, r.stdout + r.stderr
