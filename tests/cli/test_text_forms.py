"""Tests delimited text that is not CSV: escapes, long delimiters, fixed widths, pairs, stray quotes, presets."""

import json
import random
import subprocess

import pytest
import yaml

JOB = """\
source:
  csv: {{files: [in.txt], {keys}}}
fields:
  n: {{type: decimal, scale: 2}}
tables:
  - name: t
    rowkey: [{{field: id}}]
    timestamp: 1
    families: {{d: {{}}}}
    cells:
      - {{family: d, qualifier: n, value: {{field: n}}, optional: true}}
      - {{family: d, qualifier: s, value: {{field: s}}, optional: true}}
    regions: {{split: none}}
"""


COLUMNS = "columns: [id, n, s]"


def run(saltmill, folder, *args):
    return subprocess.run([saltmill, *args], cwd=folder, capture_output=True, text=True, timeout=120)


def load(saltmill, folder, keys, data, *args, out="out"):
    (folder / "job.yaml").write_text(JOB.format(keys=keys))
    (folder / "in.txt").write_bytes(data if isinstance(data, bytes) else data.encode())
    return run(saltmill, folder, "load", "job.yaml", "-o", out, "--quiet", *args)


def rows(saltmill, folder, out="out"):
    """[(id, n, s)]"""
    r = run(saltmill, folder, "scan", "job.yaml", out, "--decode", "--format", "jsonl")
    assert r.returncode == 0, r.stderr
    lines = [json.loads(x) for x in r.stdout.splitlines()]
    return [(x["key"]["id"], x["cells"].get("d:n"), x["cells"].get("d:s")) for x in lines]


@pytest.mark.parametrize("keys,data,expected", [
    ("delimiter: blanks", '  a 1\t x \nb   2 "y  z"\n"c d"  3  w', [("a", 1, "x"), ("b", 2, "y  z"), ("c d", 3, "w")]),
    ("delimiter: blanks, quotes: none", 'a 1 "x\r\nb 2 y"\r\n', [("a", 1, '"x'), ("b", 2, 'y"')]),
    ("delimiter: blanks, quotes: none, extra: last", "a  1  x  y \nb 2 z\n", [("a", 1, "x  y"), ("b", 2, "z")]),
    ("delimiter: blanks, quotes: none, extra: last, missing: 'null'", "a 1\nb 2 y z\n", [("a", 1, None), ("b", 2, "y z")]),
    ("quotes: none, extra: last", 'a,1,x, "y",z\nb,2,\n', [("a", 1, 'x, "y",z'), ("b", 2, None)]),
    ("quotes: lenient, extra: last", 'a,1,"x, y"\n"b",2,"x",y\n', [("a", 1, "x, y"), ("b", 2, '"x",y')]),
    ("delimiter: ' - ', quotes: none, extra: last", "a - 1 - x - y\nb - 2 - -z\n", [("a", 1, "x - y"), ("b", 2, "-z")]),
])
def test_blanks_and_the_rest_of_a_line(tmp_path, saltmill, keys, data, expected):
    r = load(saltmill, tmp_path, f"{COLUMNS}, {keys}", data)
    assert r.returncode == 0, r.stderr
    assert rows(saltmill, tmp_path) == expected


@pytest.mark.parametrize("keys,words", [
    ("extra: last", "extra: found `last` with `quotes: strict`, expected `quotes: none` or `quotes: lenient`"),
    ("extra: last, widths: [1, 2, 3]", "extra: found `last` with `widths`"),
    ("delimiter: blanks", "in.txt:2 (byte 6): field_count: found 4 fields, expected 3"),
])
def test_what_has_no_last_column(tmp_path, saltmill, keys, words):
    r = load(saltmill, tmp_path, f"{COLUMNS}, {keys}", "a 1 x\nb 2 y z\n")
    assert r.returncode != 0 and words in r.stderr, r.stderr


def test_random_blanks_as_python_splits_them(tmp_path, saltmill):
    """str.split(None, 2) and two threads give the same values, also at the borders of pieces."""
    r = random.Random(7)
    gap = lambda: "".join(r.choice(" \t") for _ in range(r.randrange(1, 4)))
    lines = ["".join((gap() if r.random() < 0.3 else "", f"k{i:06d}", gap(), str(i), gap(), gap().join(r.choices(["a", '"', "b,", "é"], k=r.randrange(1, 5)))))
             + (gap() if r.random() < 0.3 else "") for i in range(3000)]
    ran = load(saltmill, tmp_path, f"{COLUMNS}, delimiter: blanks, quotes: none, extra: last", "\n".join(lines), "--threads", "2")
    assert ran.returncode == 0, ran.stderr
    expected = [(k, int(n), s.rstrip(" \t")) for k, n, s in (x.split(None, 2) for x in lines)]
    assert rows(saltmill, tmp_path) == expected


TEXTS = ["plain", "a\tb", "two\nlines", "back\\slash", "\\N", 'a "quote"', "é北", "\\", "end\\\n", "\\\\", "\r\n", "\b\x1a", "'"]



def mysql(v, delimiter, quote=""):
    """As SELECT ... INTO OUTFILE escapes: the escape, the quote, and the first bytes of terminators"""
    if v is None:
        return "\\N"
    for c in ("\\", quote or delimiter, "\n", "\r"):
        v = v.replace(c, "\\" + c)
    return quote + v + quote


def postgres(v):
    """As COPY ... TO"""
    if v is None:
        return "\\N"
    for c, e in (("\\", "\\\\"), ("\b", "\\b"), ("\f", "\\f"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"), ("\v", "\\v")):
        v = v.replace(c, e)
    return v


@pytest.mark.parametrize("keys,row", [
    ("delimiter: '\\t', quotes: none, escapes: mysql", lambda i, n, s: f"{i}\t{n}\t{mysql(s, chr(9))}"),
    ("escapes: mysql", lambda i, n, s: f"{i},{n},{mysql(s, ',', chr(34))}"),
    ("delimiter: ';', quote: \"'\", escapes: plain", lambda i, n, s: f"{i};{n};{mysql(s, ';', chr(39))}"),
    ("delimiter: '\\t', quotes: none, escapes: postgres", lambda i, n, s: f"{i}\t{n}\t{postgres(s)}"),
])
def test_escapes(tmp_path, saltmill, keys, row):
    r = random.Random(5)
    want = [(f"{i:05}", i / 4 + 0.25, r.choice([*TEXTS, None])) for i in range(3000)]
    data = "".join(row(i, f"{n:.2f}", s) + "\n" for i, n, s in want)
    for threads in ("1", "3"):
        result = load(saltmill, tmp_path, f"{COLUMNS}, {keys}", data, "--threads", threads, out=threads)
        assert result.returncode == 0, result.stderr
        assert rows(saltmill, tmp_path, threads) == want


def test_letters_of_postgres_and_mysql(tmp_path, saltmill):
    data = "1\t1\t\\x41\\102\\v\\f\\q\n"
    for escapes, s in (("postgres", "AB\v\fq"), ("mysql", "x41102vfq"), ("plain", "x41102vfq")):
        keys = f"{COLUMNS}, delimiter: '\\t', quotes: none, escapes: {escapes}"
        assert load(saltmill, tmp_path, keys, data, out=escapes).returncode == 0
        assert rows(saltmill, tmp_path, escapes) == [("1", 1, s)]


@pytest.mark.parametrize("written,delimiter", [("'||'", "||"), ("'~^~'", "~^~"), ("'\\x01\\x02'", "\x01\x02"), ("', '", ", ")])
def test_long_delimiters(tmp_path, saltmill, written, delimiter):
    values = ["a", delimiter[0], "x" + delimiter[0] + "y", "", "é"]
    want = [(f"{i:04}", i, values[i % 5] or None) for i in range(400)]
    data = "id%sn%ss\r\n" % (delimiter, delimiter) + "".join(delimiter.join((i, str(n), s or "")) + "\r\n" for i, n, s in want)
    assert load(saltmill, tmp_path, f"delimiter: {written}", data).returncode == 0
    assert rows(saltmill, tmp_path) == want
    quoted = data.splitlines()[0] + f'\n9{delimiter}1{delimiter}"a{delimiter}""b""\nc"\n'
    assert load(saltmill, tmp_path, f"delimiter: {written}", quoted, out="quoted").returncode == 0
    assert rows(saltmill, tmp_path, "quoted") == [("9", 1, f'a{delimiter}"b"\nc')]


def test_fixed_widths(tmp_path, saltmill):
    want = [(f"k{i}", i / 2, ["äöü", "two words", None][i % 3]) for i in range(300)]
    data = f"{'id':6}{'n':>9}s\n" + "".join(f"{i:6}{n:9.2f}{s or ''}\n" for i, n, s in want)
    assert load(saltmill, tmp_path, "widths: [6, 9, 20]", data).returncode == 0
    assert rows(saltmill, tmp_path) == sorted(want)


def test_pairs(tmp_path, saltmill):
    data = ('id=1 n=1.50 s="a \\"b\\" c=d" x=y\n'
            's=z other="\\n" id=2\n'
            "id=3 n= s\n"
            'id=4 id=5 s="open\n')
    assert load(saltmill, tmp_path, f"{COLUMNS}, pairs: true, delimiter: ' '", data).returncode == 0
    assert rows(saltmill, tmp_path) == [("1", 1.5, 'a "b" c=d'), ("2", None, "z"), ("3", None, "true"), ("5", None, '"open')]


def test_lenient_quotes(tmp_path, saltmill):
    data = '1,1,12" pipe\n2,2,"a "b" c"\n3,3,"x""y,z"\n4,4,"open\n5,5,""\n6,6,"a" b\n'
    assert load(saltmill, tmp_path, f"{COLUMNS}, quotes: lenient", data).returncode == 0
    assert [x[2] for x in rows(saltmill, tmp_path)] == ['12" pipe', 'a "b" c', 'x"y,z', '"open', "", '"a" b']
    assert load(saltmill, tmp_path, COLUMNS, data, out="strict").returncode == 1


def test_lenient_rows_are_lines(tmp_path, saltmill):
    data = '1,1,a\\\n2,2,"b\\\n3,3,"c\\""\n'
    assert load(saltmill, tmp_path, f"{COLUMNS}, quotes: lenient, escapes: plain", data).returncode == 0
    assert [x[2] for x in rows(saltmill, tmp_path)] == ["a\\", '"b\\', 'c"']


def lenient(line):
    """Splits a line in the obvious way. It looks for the closing quote of each value again."""
    values, p = [], 0
    while True:
        text, i, closed = "", p + 1, False
        while line[p:p + 1] == '"' and i < len(line) and not closed:
            closed = line[i] == '"' and line[i + 1:i + 2] in ("", ",")
            pair = line[i:i + 2] == '""'
            text, i = text if closed else text + line[i], i + 1 + pair
        end = i if closed else (line + ",").index(",", p)
        values.append(text if closed else line[p:end])
        if end == len(line):
            return values
        p = end + 1


def test_lenient_quotes_of_any_lines(tmp_path, saltmill):
    draw = random.Random(5)
    texts = ["".join(draw.choices('",a', [4, 2, 1], k=draw.randrange(2, 14))) for _ in range(5000)]
    lines = [f"{t},{i:04},1" for i, t in enumerate(texts)]
    keys = "columns: [a, b, s, id, n], quotes: lenient, empty: value"
    assert load(saltmill, tmp_path, keys, "\n".join(lines) + "\n", "--max-rejects", "100%").returncode in (0, 3)
    want = [(v[3], v[2]) for line in lines if len(v := lenient(line)) == 5]
    assert len(want) > 500 and [(x[0], x[2] or "") for x in rows(saltmill, tmp_path)] == want


def test_minus_signs(tmp_path, saltmill):
    data = "1,12.50-,a\n2,-1.25,b\n3,3,c\n"
    assert load(saltmill, tmp_path, f"{COLUMNS}, minus: trailing", data).returncode == 0
    assert [x[1] for x in rows(saltmill, tmp_path)] == [-12.5, -1.25, 3]
    data = "1;(1.200,50);a\n2;-1,25;b\n3;3;c\n"
    keys = f"{COLUMNS}, delimiter: ';', decimal: ',', thousands: '.', minus: parentheses"
    assert load(saltmill, tmp_path, keys, data, out="p").returncode == 0
    assert [x[1] for x in rows(saltmill, tmp_path, "p")] == [-1200.5, -1.25, 3]
    for bad in ("12-", "(12)", "--1", "(-1)", "-1-"):
        assert load(saltmill, tmp_path, COLUMNS, f"1,{bad},a\n", out="bad").returncode == 1, bad
    assert load(saltmill, tmp_path, f"{COLUMNS}, minus: trailing", "1,-1-,a\n", out="bad").returncode == 1


@pytest.mark.parametrize("keys,message", [
    (f"{COLUMNS}, widths: [2, 3]", "found 2 widths, expected 3"),
    ("pairs: true", "found no `columns`, expected the keys to read"),
    (f"{COLUMNS}, widths: [1, 1, 1], pairs: true", "found `widths` and `pairs`"),
    ("delimiter: tab", 'write `delimiter: "\\t"`'),
    ("preset: mysqll", "mysql"),
    ("preset: mongo", "expected it in `json: {preset: mongo}`"),
])
def test_mistakes(tmp_path, saltmill, keys, message):
    r = load(saltmill, tmp_path, keys, "1,2,3\n")
    assert r.returncode == 2 and message in r.stderr, r.stderr


def test_every_preset_is_the_keys_that_help_prints(tmp_path, saltmill):
    names = [x.split()[0] for x in run(saltmill, tmp_path, "help", "preset").stdout.splitlines() if x.startswith("  ")]
    assert set(names) == set("mysql postgres_copy hive sap_alv sqlplus psql iis vpc_flow alb nlb elb s3_access cloudtrail debezium mongo "
                             "elasticsearch_bulk nginx_json".split())
    for name in names:
        text = run(saltmill, tmp_path, "help", "preset", name).stdout
        (kind, keys), = yaml.safe_load(text).items()
        assert keys.pop("preset") == name and keys
        keys |= {} if kind == "json" or "columns" in keys else {"columns": ["id", "n", "s"]}
        source = {"source": {kind: keys | {"files": ["in.txt"]}}}
        rest = JOB[JOB.index("fields:"):].format().replace("[{field: id}]", "[{field: %s}]" % keys.get("columns", ["id"])[0])
        number, text = keys.get("columns", ["id", "n", "s"])[1:3]
        rest = rest.replace("field: n}", f"field: {number}}}").replace("field: s}", f"field: {text}}}").replace("  n: ", f"  {number}: ")
        (tmp_path / "job.yaml").write_text(yaml.safe_dump(source) + rest)
        (tmp_path / "in.txt").write_text("")
        r = run(saltmill, tmp_path, "load", "job.yaml", "-o", name, "--quiet")
        assert r.returncode == 0, (name, r.stderr)


def test_the_preset_of_mysql_reads_its_export(tmp_path, saltmill):
    data = "1\t1.50\ta\\tb\n2\t\\N\t\n"
    assert load(saltmill, tmp_path, f"preset: mysql, {COLUMNS}", data).returncode == 0
    assert rows(saltmill, tmp_path) == [("1", 1.5, "a\tb"), ("2", None, "")]
    assert load(saltmill, tmp_path, f"preset: mysql, {COLUMNS}, delimiter: ','", data.replace("\t", ","), out="b").returncode == 0
    assert rows(saltmill, tmp_path, "b") == [("1", 1.5, "a\tb"), ("2", None, "")]


@pytest.mark.parametrize("data,key", [
    ("id\tname\n" + "".join(f"{i}\ta\\tb\\\\{i}\n" for i in range(9)), "escapes: mysql"),
    ("".join(f"{i}|x\\|{i}|\n" for i in range(9)), "escapes: plain"),
    ("id||name\n" + "".join(f"{i}||a{chr(124) if i == 5 else 0}b{i}\n" for i in range(9)), "delimiter: '||'"),
    ("".join(f'ts=2026-01-0{i + 1} n={i} s="a b"\n' for i in range(9)), "pairs: true"),
    ("ID     NAME     LOAD\n" + "".join(f"{i:<5}  {'ab' * (i % 4 + 1):8} {i / 4:5}\n" for i in range(9)), "delimiter: blanks"),
    ("ID     NAME     LOAD\n" + "".join(f"{i:<5}  {'a ' * (i % 3) + 'b':8} {i / 4:5}\n" for i in range(9)), "widths: ["),
])
def test_init_finds_the_form(tmp_path, saltmill, data, key):
    (tmp_path / "in.txt").write_text(data)
    r = run(saltmill, tmp_path, "init", "in.txt", "-o", "job.yaml")
    assert r.returncode == 0, r.stderr
    assert key in (tmp_path / "job.yaml").read_text()
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--quiet", "--json")
    assert r.returncode == 0 and json.loads(r.stdout)["tables"][0]["rows"] == 9, r.stdout
