"""Compares the ranges of `saltmill key ranges` for random conditions with a check of all rows in Python.

load_oracle.py makes the keys and decodes the values. This file makes each condition together with its meaning.
"""

import json
import os
import random
import re
import subprocess

import pytest

from load_oracle import Oracle, Reject, Value, decode
from loads import ROOT
from oracle import unescape
from random_jobs import Job
from test_key import draw_values, key, names_of

TEXTS = ("text", "bytes")
COMPARE = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
           ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def plain(f, v):
    """Returns a time in milliseconds, or in microseconds if the key stores them."""
    if f.type == "time" and f.in_micros:
        return v.plain.micros
    return v.text if f.type in TEXTS else v.plain


def quoted(text):
    return "'" + text.decode().replace("'", "''") + "'"


class Question:
    """A condition's text and its meaning."""

    def __init__(self, text, test, names):
        self.text, self.test, self.names = text, test, names


def some_value(rng, job, name):
    f = job.by_name[name]
    for _ in range(50):
        text = rng.choice(f.pool)
        try:
            text.decode()
            if b"\0" not in text and len(text) < 5000:  # NUL ends an argument, and arguments have a maximum length
                return f, text, plain(f, Value(text, decode(f, text)))
        except (Reject, UnicodeDecodeError):
            pass
    return None


def condition(rng, job, names):
    name = rng.choice(names)
    got = [some_value(rng, job, name) for _ in range(3)]
    if not all(got):
        return None
    f, a, x = got[0]
    (_, b, y), (_, c, z) = got[1:]
    kind = rng.choice(["=", "=", "=", "!=", "<", "<=", ">", ">=", "between", "in", "starts"])
    field = f"`{name}`"
    if kind in COMPARE:
        return Question(f"{field} {kind} {quoted(a)}", lambda v: COMPARE[kind](plain(f, v[name]), x), {name})
    if kind == "between":
        return Question(f"{field} between {quoted(a)} AND {quoted(b)}", lambda v: x <= plain(f, v[name]) <= y, {name})
    if kind == "in":
        return Question(f"{field} in ({quoted(a)}, {quoted(b)},{quoted(c)})", lambda v: plain(f, v[name]) in (x, y, z), {name})
    if f.type not in TEXTS:
        return condition(rng, job, names)
    start = a.decode()[:rng.randrange(3)].encode()
    return Question(f"{field} starts with {quoted(start)}", lambda v: v[name].text.startswith(start), {name})


def question(rng, job, names, depth=0):
    kind = rng.choice(["one", "one", "and", "and", "or", "not"]) if depth < 3 else "one"
    if kind == "one":
        return condition(rng, job, names)
    a = question(rng, job, names, depth + 1)
    b = question(rng, job, names, depth + 1) if kind != "not" else a
    if not a or not b:
        return None
    if kind == "not":
        return Question(f"not ({a.text})", lambda v: not a.test(v), a.names)
    joined = f"({a.text}) {kind} ({b.text})"
    if kind == "and":
        return Question(joined, lambda v: a.test(v) and b.test(v), a.names | b.names)
    return Question(joined, lambda v: a.test(v) or b.test(v), a.names | b.names)


class OnlyHashed(Exception):
    """Means that this table cannot answer the condition."""


def checked(text, found):
    """Returns the ranges of an answer. Checks that the ranges ascend and do not touch."""
    list_ = [tuple(unescape(x[end]) if x[end] else b"" for end in ("start", "stop")) for x in found["ranges"]]
    assert all(b and a < b or not b for a, b in list_)
    assert all(x[1] and x[1] < y[0] for x, y in zip(list_, list_[1:])), "ranges touch"
    assert found["filter"] == (None if found["exact"] else text)
    return list_, found


def ranges(saltmill, folder, table, text):
    r = key(saltmill, folder, "ranges", "job.yaml", "--table", table, "--where", text, "--json")
    assert r.returncode == 0, (text, r.stderr)
    return checked(text, json.loads(r.stdout))


def ranges_of_all(saltmill, folder, table, texts):
    """Returns the ranges of many conditions, from one process except for those of several lines. A refused condition
    gives an OnlyHashed."""
    texts = list(texts)
    lines = [t for t in texts if not set(t) & set("\n\r")]
    r = key(saltmill, folder, "ranges", "job.yaml", "--table", table, "--where", "-", "--json",
            input="".join(t + "\n" for t in lines).encode())
    refused = {int(n): why for n, why in re.findall(r"^saltmill key: line (\d+): (.*)$", r.stderr.decode(), re.M)}
    assert all("only hashed" in why for why in refused.values()), refused
    answers = iter(r.stdout.splitlines())
    found = {t: OnlyHashed(refused[n]) if n in refused else checked(t, json.loads(next(answers))) for n, t in enumerate(lines, 1)}
    assert next(answers, None) is None
    for t in set(texts) - set(found):
        one = key(saltmill, folder, "ranges", "job.yaml", "--table", table, "--where", t, "--json")
        if one.returncode == 2 and b"only hashed" in one.stderr:
            found[t] = OnlyHashed(one.stderr.decode())
        else:
            found[t] = checked(t, json.loads(one.stdout))
    return [found[t] for t in texts]


def inside(list_, row):
    return any(a <= row and (not b or row < b) for a, b in list_)


ASKED = int(os.environ.get("SALTMILL_ASKED", "8"))  # of a table
SEEDS = range(*map(int, os.environ.get("SALTMILL_SEEDS", "0:24").split(":")))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_questions(tmp_path, saltmill, seed):
    rng, cases = random.Random(seed), 0
    job = Job(rng)
    (tmp_path / "job.yaml").write_text(job.yaml(["in.csv"]))
    for t in job.tables:
        rows, names = [], names_of(t)
        for f in job.fields:
            hows = {p["as"] for p in t["rowkey"] if p.get("field") == f.name}
            f.in_micros = "reversed_micros" in hows
            if f.in_micros and len(hows) > 1 and f.type == "time":
                names.discard(f.name)  # of both
        oracle = Oracle(job)
        for values in (draw_values(rng, job, t) for _ in range(120)):
            oracle.event = rng.randbytes(9), rng.randrange(1000)
            try:
                row = values and oracle.lay_parts(t["rowkey"], values)
            except Reject:
                continue
            if row and len(row) <= 32767:
                rows.append((row, values))
        number = ASKED if t["rowkey"][0].get("salt", 0) < 1000 else 2  # an answer may have a range for each bucket
        asked = [q for q in (names and question(rng, job, sorted(names)) for _ in range(number)) if q]
        for q, answer in zip(asked, ranges_of_all(saltmill, tmp_path, t["name"], [q.text for q in asked])):
            cases += 1
            if isinstance(answer, OnlyHashed):  # neither the key nor a cell has the value
                assert any(f"stores `{name}` only hashed" in str(answer) for name in q.names - {p.get("field") for p in t["rowkey"]})
                continue
            list_, found = answer
            for row, values in rows:
                if q.test(values):
                    assert inside(list_, row), (q.text, row, list_)
                elif found["exact"]:
                    # another event may have the same row if the salt's fields are not in the key
                    assert not inside(list_, row), (q.text, row, list_)


    print(cases, "cases")


# --- conditions on the first parts of the key ---

# encodings that keep the whole value and have one form for each value; a number as text may have several forms
WHOLE = {"u8", "u16", "u32", "u64", "i32", "i64", "bool", "millis", "reversed_millis", "text", "bytes"}


def beginnings(job, t):
    """Returns the fields of the first key parts that a condition can fix one after another."""
    names = []
    for p in t["rowkey"]:
        if "hash" in p and "salt" not in p:
            break
        if "field" not in p:
            continue
        f = job.by_name[p["field"]]
        if p["as"] not in WHOLE or (p["as"] in ("text", "bytes")) != (f.type in TEXTS) or f.name in names:
            break
        names.append(f.name)
    return names


@pytest.mark.parametrize("seed", SEEDS)
def test_random_beginnings(tmp_path, saltmill, seed):
    """For conditions with = on the first parts, the ranges contain exactly the keys with this prefix, and the output calls them exact."""
    rng, cases = random.Random(f"beginnings {seed}"), 0
    job = Job(rng)
    (tmp_path / "job.yaml").write_text(job.yaml(["in.csv"]))
    for t in job.tables:
        names, rows = beginnings(job, t), []
        oracle = Oracle(job)
        for values in (draw_values(rng, job, t) for _ in range(120)):
            oracle.event = rng.randbytes(9), rng.randrange(1000)
            try:
                row = values and oracle.lay_parts(t["rowkey"], values)
            except Reject:
                continue
            if row and len(row) <= 32767:
                rows.append((row, values))
        for f in job.fields:
            f.in_micros = False
        questions = {}
        for n in list(range(1, len(names) + 1)) * (ASKED // 8) if rows else []:
            asked = rng.choice(rows)[1]
            if any(b"\0" in asked[name].text or len(asked[name].text) > 5000 for name in names[:n]):
                continue
            questions[" and ".join(f"`{name}` = {quoted(asked[name].text)}" for name in names[:n])] = n, asked
        for text, answer in zip(questions, ranges_of_all(saltmill, tmp_path, t["name"], questions)):
            n, asked = questions[text]
            list_, found = answer
            assert found["exact"], (text, found)
            cases += 1
            for row, values in rows:
                same = all(plain(job.by_name[x], values[x]) == plain(job.by_name[x], asked[x]) for x in names[:n])
                assert inside(list_, row) == same, (text, row, list_)
    print(cases, "cases")


PREFIX = """\
source: {csv: {files: [in.csv]}}
fields:
  user: u32
  name: text
  at: {type: time, unit: ms}
  n: i64
tables:
  - name: t
    rowkey: [%s{field: user, as: u32}, {field: name, %s}, {field: at, as: %s}, {field: n}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


@pytest.mark.parametrize("salt", ["", "{salt: 7, of: [user]}, ", "{salt: 300, of: [user, name]}, ", "{salt: 16, hash: phoenix}, ",
                                  "{salt: 5, of: [n]}, "])
@pytest.mark.parametrize("name", ["width: 6", "terminator: '|'", "terminator: '\\x00'"])
@pytest.mark.parametrize("at", ["millis", "reversed_millis"])
def test_prefixes_are_exact(tmp_path, saltmill, salt, name, at):
    (tmp_path / "job.yaml").write_text(PREFIX % (salt, name, at))
    rng = random.Random(salt + name + at)
    texts = ["", "a", "aa", "ab", "a b", "b", "~", "a~"]
    events = [(rng.choice([0, 1, 7, 2**32 - 1]), rng.choice(texts), rng.choice([0, 1, 1000, 10**12]), rng.choice([-5, 0, 5]))
              for _ in range(150)]
    lines = "".join(json.dumps({"user": u, "name": s, "at": a, "n": n}) + "\n" for u, s, a, n in events)
    rows = key(saltmill, tmp_path, "encode", "job.yaml", "-", "--to", "hex", input=lines.encode()).stdout.split()
    assert len(rows) == len(events)
    for _ in range(8):
        u, s, a, n = rng.choice(events)
        low, high = sorted(rng.choices([-1, 0, 1, 500, 1000, 10**12], k=2))
        op = rng.choice(list(COMPARE))
        cases = [
            (f"user = {u}", lambda e: e[0] == u),
            (f"user {op} {u}", lambda e: COMPARE[op](e[0], u)),
            (f"user = {u} and name = '{s}'", lambda e: e[:2] == (u, s)),
            (f"user = {u} and name {op} '{s}'", lambda e: e[0] == u and COMPARE[op](e[1], s)),
            (f"user = {u} and name starts with '{s}'", lambda e: e[0] == u and e[1].startswith(s)),
            (f"user = {u} and name not starts with '{s}'", lambda e: e[0] == u and not e[1].startswith(s)),
            (f"user in (1, {u}) and name = '{s}' and at between {low} and {high}",
             lambda e: e[0] in (1, u) and e[1] == s and low <= e[2] <= high),
            (f"user = {u} and name = '{s}' and at {op} {a}", lambda e: e[:2] == (u, s) and COMPARE[op](e[2], a)),
            (f"user = {u} and name = '{s}' and at = {a} and n {op} {n}", lambda e: e[:3] == (u, s, a) and COMPARE[op](e[3], n)),
            (f"user = {u} and name = '{s}' and at = {a} and n = {n}", lambda e: e == (u, s, a, n)),
            (f"user = {u} and name = '{s}' and n = {n} and not at != {a} or user = 1 and name in ('a', 'ab')",
             lambda e: e == (u, s, a, n) or e[0] == 1 and e[1] in ("a", "ab")),
        ]
        text, test = rng.choice(cases)
        list_, found = ranges(saltmill, tmp_path, "t", text)
        assert found["exact"] and found["advice"] is None, text
        for row, e in zip(rows, events):
            assert inside(list_, bytes.fromhex(row.decode())) == test(e), (text, e, list_)


def test_a_stream_of_questions(tmp_path, saltmill):
    """Each line has one condition. The program reports and skips an invalid line."""
    (tmp_path / "job.yaml").write_text(PREFIX % ("{salt: 7, of: [user]}, ", "width: 6", "millis"))
    texts = ["user = 1", "user = 2 and name >= 'b'", "user = 1 or at > 5"]
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", "-", "--json",
            input="".join(t + "\n" for t in [texts[0], "usr = 1", *texts[1:]]).encode())
    assert r.returncode == 3 and r.stderr.startswith(b"saltmill key: line 2: --where: character 1: job.yaml has no field `usr`")
    assert [checked(t, json.loads(line)) for t, line in zip(texts, r.stdout.splitlines(), strict=True)] == [
        ranges(saltmill, tmp_path, "t", t) for t in texts]


def test_few_ranges(tmp_path, saltmill):
    """If the salt is unknown, there is one range for each bucket. If it is known, there is one range."""
    (tmp_path / "job.yaml").write_text(PREFIX % ("{salt: 7, of: [user]}, ", "width: 6", "reversed_millis"))
    assert len(ranges(saltmill, tmp_path, "t", "user = 1 and name = 'a'")[0]) == 1
    assert len(ranges(saltmill, tmp_path, "t", "user >= 5")[0]) == 7
    assert ranges(saltmill, tmp_path, "t", "name = 'x'")[0] == [(b"\0", b"\7")]
    assert ranges(saltmill, tmp_path, "t", "user = 1 and user = 2")[0] == []
    (tmp_path / "job.yaml").write_text(PREFIX % ("{salt: 256, of: [n]}, ", "width: 6", "reversed_millis"))
    # the open stop of the last range
    assert ranges(saltmill, tmp_path, "t", "user >= 4294967295")[0][-1] == (b"\xff" * 5, b"")


# --- the golden period of the pattern: [2012-09-01, 2012-10-01) in Shanghai ---

def test_golden_period(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(PREFIX.replace("unit: ms", 'format: "%%Y%%m%%d", zone: Asia/Shanghai')
                                       % ("", "width: 6", "reversed_millis"))
    where = "user = 1 and name = 'a' and at >= 20120901 and at < 20121001"
    prefix = bytes.fromhex("00000001") + b"a     "
    # Long.MAX_VALUE - 1349020800000 + 1 .. Long.MAX_VALUE - 1346428800000, both included
    assert ranges(saltmill, tmp_path, "t", where)[0] == [(prefix + bytes.fromhex("7ffffec5e8182c00"),
                                                          prefix + bytes.fromhex("7ffffec68296f400"))]
    out = {form: key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where, "--format", form).stdout.decode()
           for form in ("shell", "java", "python", "table")}
    start, stop = r"\x00\x00\x00\x01a\x20\x20\x20\x20\x20\x7F\xFF\xFE\xC5\xE8\x18\x2C\x00", None
    assert out["shell"].startswith("scan 't', {STARTROW => \"" + start + '", STOPROW => "')
    assert out["java"].startswith('new Scan().withStartRow(Bytes.toBytesBinary("' + start.replace("\\", "\\\\") + '")).withStopRow(')
    assert out["python"].startswith("table.scan(row_start=b'" + start + "', row_stop=b'")
    assert out["table"].startswith(f"from {start} to before ")


@pytest.mark.parametrize("where,words", [
    ("usr = 1", "character 1: ", ), ("user = x", "character 8: user: found `x`, expected a whole number"),
    ("user = 'x", "character 8"), ("user", "found the end, expected"), ("user = 1 and", "found the end"),
    ("at > 2012-13-01", "character 6: at: found `2012-13-01`"), ("g:q = 1", "character 1: found `g:q`, expected a field"),
    ("user starts with 1", "expected a field of type text"),
    ("name >= 5", "character 9: found the number 5 for `name` of type text"), ("(user = 1", "expected"), ("user = 4294967296", "0..4294967295"),
])
def test_bad_questions(tmp_path, saltmill, where, words):
    (tmp_path / "job.yaml").write_text(PREFIX % ("", "width: 6", "millis"))
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where)
    assert (r.returncode, r.stdout) == (2, b"")
    assert words in r.stderr.decode()


HASHED = """\
source: {csv: {files: [in.csv]}}
fields:
  user: u32
tables:
  - name: t
    rowkey: [{salt: 4, of: [user]}, {hash: md5, of: [url], bytes: 8}, {field: user, as: u32}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: n, value: n}]
    regions: {split: none}
"""


@pytest.mark.parametrize("where,at", [("url > 'a'", 1), ("user = 1 and url starts with 'x'", 14), ("not url = 'a'", 5),
                                      ("url between 'a' and 'b'", 1), ("url != 'a'", 1)])
def test_a_field_that_the_key_only_holds_hashed(tmp_path, saltmill, where, at):
    (tmp_path / "job.yaml").write_text(HASHED)
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where)
    assert (r.returncode, r.stdout) == (2, b"")
    assert f"character {at}: table t stores `url` only hashed, in its row key, found" in r.stderr.decode()
    assert "expected `=` or `in`. For other conditions, store the field in a cell: {family: f, qualifier: url, value: url}" in r.stderr.decode()
    (tmp_path / "job.yaml").write_text(HASHED.replace("value: n}]", "value: n}, {family: f, qualifier: url, value: url}]"))
    assert key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where).returncode == 0


def test_a_hashed_field_is_found_by_its_value(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(HASHED)
    row = bytes.fromhex(key(saltmill, tmp_path, "encode", "job.yaml", "user=7", "url=http://x/y", "--to", "hex").stdout.decode())
    list_, _ = ranges(saltmill, tmp_path, "t", "user = 7 and url in ('http://x/y', 'z')")
    assert inside(list_, row) and len(list_) == 2 and all(b and len(a) == 13 for a, b in list_)


# --- checks on the servers, and their cost ---

FUZZY = """\
source: {csv: {files: [in.csv]}}
fields:
  user: u32
  at: {type: time, unit: ms}
tables:
  - name: t
    rowkey: [{salt: 4, of: [user]}, {field: user, as: u32}, {field: kind, width: 2}, {field: at, as: millis}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v, optional: true}]
    regions: {split: sampled, count: 3}
"""


def test_fuzzy_rows(tmp_path, saltmill):
    """If a fixed part follows an open part, the filter has the fixed part's bytes and a mask of the other bytes."""
    (tmp_path / "job.yaml").write_text(FUZZY)
    list_, found = ranges(saltmill, tmp_path, "t", "kind in ('ab', 'cd')")
    assert list_ == [(b"\0", b"\4")] and found["filter_exact"]
    new = "org.apache.hadoop.hbase.filter.FuzzyRowFilter.new([org.apache.hadoop.hbase.util.Pair.new("
    assert new in found["shell_filter"] and "fuzzy-row filter" in found["advice"] and "key ranges JOB DIR" in found["advice"]
    for kind in ("ab", "cd"):
        assert rf"toBytesBinary('\x00\x00\x00\x00\x00{kind}'), " in found["shell_filter"]
        assert rf'new Pair<>(Bytes.toBytesBinary("{(5 * r"-x00").replace("-", 2 * chr(92))}{kind}"), ' in found["java_filter"]
    assert found["shell_filter"].count(r"toBytesBinary('\x01\x01\x01\x01\x01\x00\x00')") == 2
    # no fuzzy filter is useful, because the first part is known, or none is
    assert "Fuzzy" not in ranges(saltmill, tmp_path, "t", "user = 1 and at > 5")[1]["shell_filter"]
    assert "Fuzzy" not in ranges(saltmill, tmp_path, "t", "at > 5")[1]["shell_filter"]
    assert "shell_filter" not in ranges(saltmill, tmp_path, "t", "user = 1 and kind = 'ab'")[1]
    assert "shell_filter" not in ranges(saltmill, tmp_path, "t", "v is null")[1]


def test_a_line_end_in_a_question_ends_no_remark(tmp_path, saltmill):
    """Users paste the output into a shell."""
    (tmp_path / "job.yaml").write_text(FUZZY)
    for form, starts in (("shell", ("#", "scan", "filter")), ("java", ("//", "new Scan", "Filter", "Single", "column")),
                         ("python", ("#", "table.scan", "filter = b\""))):
        for end in ("\n", "\r", "\r\n"):
            r = key(saltmill, tmp_path, "ranges", "job.yaml", "--format", form,
                    "--where", f"v is null and not v = 'a{end}system(1)' or kind > 'a{end}b'")
            assert r.returncode == 0 and b"system" in r.stdout
            assert all(line.startswith(starts) for line in r.stdout.decode().splitlines()), r.stdout


class Scanned:
    """Simulates the parts of a happybase table that the printed code uses."""

    def __init__(self):
        self.found, self.filters, self.gets = [], set(), 0

    def scan(self, row_start=b"", row_stop=b"", filter=None, limit=None, batch_size=1000):  # noqa: A002
        assert isinstance(filter, (bytes, type(None)))
        self.found.append((row_start, row_stop))
        self.filters.add(filter)
        self.sizes = (limit, batch_size)

    def row(self, row):
        self.gets += 1
        self.found.append((row, row + b"\0"))


class Language:
    """Evaluates the printed parts of HBase's filter language on a row, which is a dictionary by (family, qualifier)."""

    def __init__(self, text):
        self.tokens = re.findall(rb"SingleColumnValueFilter|AND|OR|true|<=|>=|!=|[()<>=,]|'(?:[^']|'')*'", text, re.S)
        assert b"".join(self.tokens).replace(b" ", b"") == re.sub(rb" (?=(?:[^']|'[^']*')*$)", b"", text).replace(b" ", b"")
        self.test = self.one()
        assert not self.tokens

    def take(self, *wanted):
        token = self.tokens.pop(0)
        assert not wanted or token in wanted, (token, wanted)
        return token

    def argument(self):
        return self.take()[1:-1].replace(b"''", b"'")

    def one(self):
        if self.tokens[0] == b"(":
            return self.list_()
        self.take(b"SingleColumnValueFilter")
        self.take(b"(")
        column = self.argument(), self.take(b",") and self.argument()
        self.take(b",")
        op = self.take(b"<", b"<=", b"=", b"!=", b">", b">=").decode()
        self.take(b",")
        kind, value = self.argument().split(b":", 1)
        assert kind == b"binary"
        for end in (b",", b"true", b",", b"true", b")"):
            self.take(end)
        return lambda row: column in row and COMPARE[op](row[column], value)

    def list_(self):
        self.take(b"(")
        of, joints = [self.one()], set()
        while self.tokens[0] != b")":
            joints.add(self.take(b"AND", b"OR"))
            of.append(self.one())
        self.take(b")")
        [joint] = joints
        return lambda row: (all if joint == b"AND" else any)(test(row) for test in of)


@pytest.mark.parametrize("where", [
    "kind > 'a' and at > 5", "kind in ('ab', 'cd')", "user = 1 and kind = 'ab'", "user >= 4294967295 or user = 0", "v is null",
    "user = 1 and user = 2", r"v != 'C:\users\N{x} \x' or kind = '\x'", "v = '\"\"\"' or v = ''", "not kind = 'a\nimport os'",
])
def test_python_is_python(tmp_path, saltmill, where):
    """The printed code runs, and requests the same ranges as the JSON."""
    (tmp_path / "job.yaml").write_text(FUZZY)
    list_, found = ranges(saltmill, tmp_path, "t", where)
    text = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where, "--format", "python").stdout.decode()
    table = Scanned()
    exec(compile(text, "printed", "exec"), {"table": table})  # noqa: S102
    assert table.found == list_
    assert ("you must still check each row" in text) == (not found["exact"] and not table.filters - {None})


VALUES = ["", "a", "it's", "a'", "''", "\"x\"", "a,b)", "C:\\x", "é", "ab", "b"]


@pytest.mark.parametrize("seed", range(40))
def test_python_has_filters(tmp_path, saltmill, seed):
    """Parses filters on columns in HBase's filter language and evaluates them on rows."""
    rng = random.Random(f"language {seed}")
    (tmp_path / "job.yaml").write_text(FUZZY.replace("optional: true}", "optional: true}, {family: f, qualifier: \"w'\", value: w, optional: true}"))
    rows = [{"kind": rng.choice("ab") * 2, "v": rng.choice([None, *VALUES]), "w": rng.choice([None, *VALUES])} for _ in range(200)]

    def condition():
        name, value, op = rng.choice("vw"), rng.choice(VALUES), rng.choice([*COMPARE, "null", "starts"])
        text, encoded = "'" + value.replace("'", "''") + "'", value.encode()
        if op == "null":
            return f"{name} is not null", lambda r: r[name] is not None
        if op == "starts":
            return f"{name} starts with {text}", lambda r: r[name] is not None and r[name].encode().startswith(encoded)
        return f"{name} {op} {text}", lambda r: r[name] is not None and COMPARE[op](r[name].encode(), encoded)

    def tree(depth):
        if depth == 0 or rng.random() < 0.3:
            return condition()
        (p, of_p), (q, of_q) = tree(depth - 1), tree(depth - 1)
        if rng.random() < 0.5:
            return f"({p} and {q})", lambda r: of_p(r) and of_q(r)
        return f"({p} or {q})", lambda r: of_p(r) or of_q(r)
    where, test = tree(3)
    kind = rng.choice(["", " and kind = 'aa'", " or kind = 'aa'"])
    whole = {"": test, " and kind = 'aa'": lambda r: test(r) and r["kind"] == "aa",
             " or kind = 'aa'": lambda r: test(r) or r["kind"] == "aa"}[kind]
    text = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where + kind, "--format", "python").stdout.decode()
    table = Scanned()
    exec(compile(text, "printed", "exec"), {"table": table})  # noqa: S102
    [filter_] = table.filters
    if kind.startswith(" or"):  # the language has no filter for a part of the row
        assert filter_ is None and "you must still check each row" in text
        return
    passes = Language(filter_).test
    for r in rows:
        columns = {(b"f", q.encode()): r[n].encode() for q, n in (("v", "v"), ("w'", "w")) if r[n] is not None}
        assert passes(columns) == bool(test(r)), (where, filter_, r)
        assert passes(columns) or not whole(r)
    assert ("you must still check each row" in text) == (kind != "")


def test_limits_and_gets(tmp_path, saltmill):
    """The scans contain --limit only if each row counts. A whole key becomes a get."""
    (tmp_path / "job.yaml").write_text(PREFIX % ("{salt: 7, of: [user]}, ", "width: 6", "reversed_millis"))

    def ask(form, where, *args):
        r = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where, "--format", form, *args)
        assert r.returncode == 0, r.stderr
        return r.stdout.decode().splitlines()
    [shell] = ask("shell", "user = 1 and name = 'a'", "--limit", "20")
    assert shell.startswith("scan 't', {STARTROW => ") and shell.endswith(", LIMIT => 20, CACHE => 20}")
    [java] = ask("java", "user = 1 and name = 'a'", "--limit", "5000")
    assert java.endswith(".setLimit(5000).setCaching(1000)")
    [python] = ask("python", "user = 1", "--limit", "3")
    assert python.endswith(", limit=3, batch_size=3)")
    lines = ask("shell", "user >= 5", "--limit", "20")
    assert len(lines) == 8 and lines[-1] == "# each scan has the limit; stop after 20 rows in all"
    lines = ask("java", "user = 1 and f:n is null", "--limit", "20")
    assert ".setLimit" not in lines[0] and lines[0].endswith(".setCaching(20)")
    assert lines[-1] == "// no scan has the limit, because you must check rows; stop after 20 matching rows"
    # SingleColumnValueFilter checks the rest of the condition
    lines = ask("python", "user = 1 and f:x = 'y'", "--limit", "20")
    assert lines[0] == """filter = b"SingleColumnValueFilter('f', 'x', =, 'binary:y', true, true)\"""" and lines[1].endswith(
        ", filter=filter, limit=20, batch_size=20)") and len(lines) == 2

    row = unescape(key(saltmill, tmp_path, "encode", "job.yaml", "user=1", "name=a", "at=5", "n=7").stdout.decode().rstrip("\n"))
    where = "user = 1 and name = 'a' and at = 5 and n = 7"
    list_, found = ranges(saltmill, tmp_path, "t", where)
    assert list_ == [(row, row + b"\0")] and unescape(found["ranges"][0]["row"]) == row
    [shell], [java], [python], [words] = (ask(form, where) for form in ("shell", "java", "python", "table"))
    assert shell.startswith("get 't', \"") and unescape(shell[len("get 't', \""):-1]) == row
    start = re.fullmatch(r'new Scan\(\)\.withStartRow\((Bytes.*)\)\.withStopRow\(\1, true\)', java)
    assert start, java
    assert python.startswith("table.row(b'") and unescape(words[len("row "):]) == row
    table = Scanned()
    exec(compile(python, "printed", "exec"), {"table": table})  # noqa: S102
    assert table.gets == 1 and table.found == list_
    assert ask("shell", where + " and f:x = 'y'")[1].endswith(", {FILTER => filter}")
    lines = ask("python", where + " and f:x = 'y'")
    assert lines[1].startswith("table.scan(") and lines[1].endswith(", filter=filter)")
    assert ask("shell", where, "--limit", "9") == [shell]
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where, "--limit", "9")
    assert r.returncode == 2 and b"--limit: found no --format of code, expected `--format shell`, `java` or `python`" in r.stderr


def test_the_bytes_that_a_question_reads(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(FUZZY)
    rng = random.Random(1)
    (tmp_path / "in.csv").write_text("user,kind,at,v\n" + "".join(
        f"{rng.randrange(10**9)},ab,{10**12 + i},{'x' * rng.randrange(100)}\n" for i in range(2000)))
    for command in ("load", "plan"):
        assert key_free(saltmill, tmp_path, command, "job.yaml", "-o", command).returncode == 0
    table = json.loads((tmp_path / "load/manifest.json").read_text())["tables"][0]
    assert len(table["files"]) == 3
    all_ = sum(f["bytes"] for f in table["files"])

    def cost(where, *folders):
        r = key(saltmill, tmp_path, "ranges", "job.yaml", *folders, "--where", where, "--json")
        found = json.loads(r.stdout)
        return found["bytes"], found["table_bytes"]
    assert cost("kind = 'ab'", "load") == (all_, all_)
    assert cost("kind = 'ab'", "load", "load") == (2 * all_, 2 * all_)
    for f in table["files"]:  # the size of the one file that contains the row, by its first and last keys
        user = int.from_bytes(unescape(f["last_row"])[1:5], "big")
        assert cost(f"user = {user} and kind = 'ab'", "load") == (f["bytes"], all_)
    regions = json.loads((tmp_path / "plan/plan.json").read_text())["tables"][0]["regions"]
    assert cost("kind = 'ab'", "plan")[1] == sum(r["disk_bytes"] for r in regions)
    user = int.from_bytes(unescape(regions[1]["start"])[1:5], "big")
    assert cost(f"user = {user + 1}", "plan")[0] in [r["disk_bytes"] for r in regions]
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "load", "--where", "kind = 'ab'", "--format", "shell")
    assert "# reads at most " in r.stdout.decode() and "(3 of 3 files)" in r.stdout.decode()
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "nothing", "--where", "user = 1")
    assert r.returncode == 2 and b"expected the folder of a load (manifest.json) or of a plan" in r.stderr


def key_free(saltmill, folder, *args):
    return subprocess.run([saltmill, *args], cwd=folder, capture_output=True, timeout=60)


@pytest.mark.parametrize("where,op,value", [
    ("n = 258", "EQUAL", r"\x00\x00\x01\x02"), ("n != 7", "NOT_EQUAL", r"\x00\x00\x00\x07"), ("n < 258", "LESS", r"\x00\x00\x01\x02"),
    ("n is not null", "GREATER_OR_EQUAL", ""), ("n is null", None, None), ("i = -1", "EQUAL", r"\xFF" * 8), ("i < 5", None, None),
    ("t = 'x'", "EQUAL", "x"), ("d < 5", None, None)])
def test_filters_of_cells(tmp_path, saltmill, where, op, value):
    """HBase compares bytes, so a filter has the bytes of the cell. Bytes of signed numbers do not sort as the numbers do."""
    (tmp_path / "job.yaml").write_text(
        "source: {csv: {files: [a.csv], header: true}}\nfields: {id: u32, n: u32, i: i64, t: text, d: f64}\n"
        "tables:\n  - name: t\n    rowkey: [{field: id, as: u32}]\n    timestamp: 5\n    families: {f: {}}\n    cells:\n" +
        "".join(f"      - {{family: f, qualifier: {name}, value: {{field: {name}, as: {as_}}}}}\n"
                for name, as_ in [("n", "u32"), ("i", "i64"), ("t", "text"), ("d", "f64")]) + "    regions: {split: none}\n")
    r = key(saltmill, tmp_path, "ranges", "job.yaml", "--where", where, "--json")
    found = json.loads(r.stdout)
    if op is None:
        assert "shell_filter" not in found
    else:
        assert f"toBytesBinary('{where[0]}'), org.apache.hadoop.hbase.CompareOperator::{op}, " in found["shell_filter"]
        assert f"toBytesBinary('{value}'))" in found["shell_filter"] and found["filter_exact"]


def test_no_filter_after_a_part_without_width(tmp_path, saltmill):
    """A row filter compares bytes at one offset, so the parts before it must have a fixed width."""
    job = ("source: {csv: {files: [a.csv], header: true}}\nfields: {id: u32, t: text}\n"
           "tables:\n  - name: t\n    rowkey: [{field: t, as: text, %s}, {field: id, as: u32}]\n    timestamp: 5\n"
           "    families: {f: {}}\n    cells: [{family: f, qualifier: q, value: id}]\n    regions: {split: none}\n")
    for end, offset in [("width: 6", 6), ("terminator: '|'", None)]:
        (tmp_path / "job.yaml").write_text((job % end).replace("value: id", "value: {const: x}"))
        found = json.loads(key(saltmill, tmp_path, "ranges", "job.yaml", "--where", "id = 5", "--json").stdout)
        if offset is None:
            assert "RowFilter" not in found.get("shell_filter", "")
        else:
            assert rf"BinaryComponentComparator.new(org.apache.hadoop.hbase.util.Bytes.toBytesBinary('\x00\x00\x00\x05'), {offset})" in found["shell_filter"]


def test_another_table(saltmill):
    def ask(table, where):
        r = subprocess.run([saltmill, "key", "ranges", "conf/files.yaml", "--table", table, "--where", where, "--json"],
                           cwd=ROOT, capture_output=True, check=True)
        return json.loads(r.stdout)
    asked = ask("files", "created >= 20120901 and created < 20121001")
    assert not asked["exact"]
    assert asked["advice"] == "table files_by_time answers the query with 1 range of its row keys: --table files_by_time"
    assert ask("files_by_time", "created >= 20120901 and created < 20121001")["exact"]


@pytest.mark.parametrize("end", ["width: 9000", "terminator: '|'", "terminator: '\\x00'"])
def test_long_values_take_no_long_time(tmp_path, saltmill, end):
    """If a bound has many prefixes, the answer does not list all of them, and checks each row."""
    (tmp_path / "job.yaml").write_text(PREFIX % ("", end, "millis"))
    a, b = "a" * 8000, "b" * 8000
    where = f"user = 1 and name >= '{a}' and not name in ('{b}') and name < '{b}' or user = 2 and name starts with '{a}'"
    list_, found = ranges(saltmill, tmp_path, "t", where)
    assert found["exact"] == (end != "terminator: '|'")
    for row in (b"\0\0\0\1" + a.encode(), b"\0\0\0\2" + a.encode() + b"x"):
        assert inside(list_, row + b" " * 1000 if "width" in end else row + (b"|" if "|" in end else b"\0")), found
