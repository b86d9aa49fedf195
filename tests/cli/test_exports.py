"""Tests files as other programs write them. Each file loads with only a job and without a script, with exit status 0.

We wrote the expected contents of the HFiles by hand beside each file, and hfile_py reads the HFiles.
"""

import bz2
import codecs
import io
import json
import lzma
import struct
import zipfile

import pytest

import hfile_py
from load_help import Bench

JOB = """\
source:
  csv: %s
fields: %s
tables:
  - name: t
    rowkey: [{field: id, as: text}]
    timestamp: 5
    families: {f: {compression: NONE}}
    cells: [%s]
    regions: {split: none}
"""


def job(source, fields, cells):
    """`cells` contains names of fields, or `name:as` for an encoding other than text."""
    each = (f"{{family: f, qualifier: {c.split(':')[0]}, optional: true, "
            f"value: {{field: {c.split(':')[0]}, as: {(c + ':text').split(':')[1]}}}}}" for c in cells)
    return JOB % (source, fields, ", ".join(each))


def loaded(bench):
    rows = {}
    for p in sorted(bench.out.glob("t/hfiles/*/*")):
        for c in hfile_py.read(p):
            rows.setdefault(c.row.decode(), {})[c.qualifier.decode()] = c.value
    return rows


def rows_of(columns, *rows):
    """Returns {id: {column: bytes}}. None means that there is no cell."""
    return {r[0]: {c: v if isinstance(v, bytes) else v.encode() for c, v in zip(columns, r[1:]) if v is not None}
            for r in rows}


def i64(v):
    return struct.pack(">q", v)


ERP = """\
Buchungsliste;;;
"erstellt am 3.11.2026 um 06:00 Uhr
;;;
Beleg;Betrag;Menge;Kunde
4711;1.234,50;1.000;Müller & Söhne
4712;-0,05;7;"Groß; Klein"
4713;12;;
Summe;1.246,45;1.007;
Ende der Liste
"""
IOT = """\
# sensor export, it's version "2
ts,sensor,temp
1,a,20.5

#2,b,99
3,c
4,"d
#5",1
5
"""
CALLS = "A|49301|120|Berlin  \nB|49302|  7|\"  K\u00f6ln \" \nC|   |0|x\nTRAILER|3 records|\n"
SYSLOG = """\
Dec 31 23:59:58 gate sshd[811]: Accepted publickey for root from 192.0.2.1
Jan  1 00:00:03 gate CRON[4711]: (root) CMD (run-parts, "hourly")
Jan  2 06:25:01 db1 kernel: usb 1-1: new device
"""
ACCESS = r"""192.0.2.17 - - [10/Oct/2025:13:55:36 -0700] "GET /index.html HTTP/1.1" 200 2326 "-" "Mozilla/5.0 (X11; Linux)"
2001:db8::7 - frank [10/Oct/2025:22:57:01 +0200] "POST /search?q=a,b HTTP/2" 304 - "https://example.org/" "odd \"agent\" 1.0"
"""
LINES = "{columns: [line], delimiter: '\\x01', quote: '\\x02', 'null': '-'}"
SETS = {
    "syslog": (LINES,
               r"{id: {from: line, substring: [1, 15]}, t: {from: line, substring: [1, 15], type: time, format: '%b %e %T', "
               r"zone: Europe/Berlin, year: {near: 2026-01-03}}, host: {from: line, match: '^.{16}(\S+)'}, "
               r"program: {from: line, match: '^.{16}\S+ ([^][: ]+)'}, pid: {from: line, match: '^.{16}\S+ [^][: ]+(?:\[(\d+))?', "
               r"type: u32}, text: {from: line, match: '^.{16}\S+ \S+ (.*)'}}",
               ["t:millis", "host", "program", "pid:u32", "text"], SYSLOG.encode(),
               [("Dec 31 23:59:58", i64(1767221998000), "gate", "sshd", struct.pack(">I", 811),
                 "Accepted publickey for root from 192.0.2.1"),
                ("Jan  1 00:00:03", i64(1767222003000), "gate", "CRON", struct.pack(">I", 4711),
                 '(root) CMD (run-parts, "hourly")'),
                ("Jan  2 06:25:01", i64(1767331501000), "db1", "kernel", None, "usb 1-1: new device")]),
    "apache log": (LINES,
                   r"{id: {from: line, match: '^\S+'}, user: {from: line, match: '^\S+ \S+ (\S+)'}, "
                   r"t: {from: line, match: '\[([^]]+)\]', type: time, format: '%d/%b/%Y:%H:%M:%S %z'}, "
                   r"path: {from: line, match: '\] \x22[A-Z]+ ([^ ]*)'}, status: {from: line, match: '\x22 (\d{3}) ', type: u32}, "
                   r"size: {from: line, match: '\x22 \d{3} (\S+)', type: u64}, "
                   r"agent: {from: line, match: '\x22((?:[^\x22\\]|\\.)*)\x22$'}}",
                   ["user", "t:millis", "path", "status:u32", "size:u64", "agent"], ACCESS.encode(),
                   [("192.0.2.17", None, i64(1760129736000), "/index.html", struct.pack(">I", 200), i64(2326),
                     "Mozilla/5.0 (X11; Linux)"),
                    ("2001:db8::7", "frank", i64(1760129821000), "/search?q=a,b", struct.pack(">I", 304), None,
                     r'odd \"agent\" 1.0')]),
    "erp": (
        "{encoding: cp1252, delimiter: ';', header: {find: [Beleg, Kunde]}, skip_footer: 2, decimal: ',', "
        "thousands: '.'}",
        "{id: {from: Beleg}, Betrag: {type: decimal, scale: 2}, Menge: {type: u32, default: 0}}",
        ["Betrag", "Betrag2:i64", "Menge:i64", "Kunde"], ERP.encode("cp1252"),
        [("4711", "1234.50", i64(123450), i64(1000), "Müller & Söhne"), ("4712", "-0.05", i64(-5), i64(7), "Groß; Klein"),
         ("4713", "12.00", i64(1200), i64(0), None)]),
    "iot": ("{comment: '#', missing: 'null'}", "{id: {from: ts}}", ["sensor", "temp"], IOT.encode(),
            [("1", "a", "20.5"), ("3", "c", None), ("4", "d\n#5", "1"), ("5", None, None)]),
    "calls": ("{delimiter: '|', columns: [id, number, s, city], trim: true, skip_footer: 1}",
              "{number: {type: u32}, s: {type: u32}}", ["number:u32", "s:u32", "city"], CALLS.encode(),
              [("A", struct.pack(">I", 49301), struct.pack(">I", 120), "Berlin"),
               ("B", struct.pack(">I", 49302), struct.pack(">I", 7), "  K\u00f6ln "),
               ("C", None, struct.pack(">I", 0), "x")]),
    "trim all": ("{trim: all}", "{}", ["a"], b'id , a\n 1 , " x " \n"2 "\t,"\ty"\n   \n3,  \n',
                 [("1", "x"), ("2", "y"), ("3", None)]),
    "old mac": ("{}", "{}", ["v"], b"id,v\r1,one\r2,\"t\rwo\"\r3,three", [("1", "one"), ("2", "t\rwo"), ("3", "three")]),
    "utf-16 with a mark": ("{encoding: utf-16, delimiter: '\\t'}", "{}", ["name"],
                           codecs.BOM_UTF16_LE + "id\tname\r\n1\t\u5317\U0001f642\r\n".encode("utf-16-le"),
                           [("1", "\u5317\U0001f642")]),
    "utf-16be": ("{encoding: utf-16be}", "{}", ["name"], "id,name\n1,\u00fc\n".encode("utf-16-be"), [("1", "\u00fc")]),
    "latin1": ("{encoding: latin1}", "{}", ["n\u00e4me"], "id,n\u00e4me\n1,\u00df\n".encode("latin1"), [("1", "\u00df")]),
    "same names": ("{}", "{second: {from: 'a#2'}, nameless: {from: '#1'}}", ["a", "second", "nameless"],
                   b",id,a,a\nx,1,2,3\n", [("1", "2", "3", "x")]),
    "other names": ("{header: replace, columns: [id, v]}", "{}", ["v"], b"Kunden-Nr.,\"Wert\n(EUR)\"\n1,2\n", [("1", "2")]),
    "found, other names": ("{header: {find: [Wert]}, columns: [id, v]}", "{}", ["v"], b"x\n\nNr,Wert\n1,2\n", [("1", "2")]),
    "a delimiter too many": ("{extra: empty, delimiter: ;}", "{}", ["v"], b"id;v\n1;a;\n2;b;;\n3;c\n",
                             [("1", "a"), ("2", "b"), ("3", "c")]),
    "extra values": ("{extra: ignore}", "{}", ["v"], b"id,v\n1,a,b,c\n", [("1", "a")]),
    "skipped lines": ("{skip: 3, columns: [id, v]}", "{}", ["v"], b"any\"thing\r\n\r\nat all\r\n1,a\r\n", [("1", "a")]),
    "many nulls": ("{'null': [NA, '-', '\\N']}", "{w: {'null': [x]}}", ["v", "w"], b"id,v,w\n1,NA,NA\n2,-,x\n3,\\N,\n4,,1\n",
                   [("1", None, "NA"), ("2", None, None), ("3", None, None), ("4", None, "1")]),
    "empty values": ("{'null': [NA], empty: value}", "{}", ["v"], b"id,v\n1,NA\n2,\n", [("1", None), ("2", "")]),
    "defaults": ("{'null': [NA], missing: 'null'}", "{v: {type: u32, default: 7}, w: {default: none}}", ["v:u32", "w"],
                 b"id,v,w\n1,NA,NA\n2,1,\n3\n", [("1", b"\0\0\0\7", "none"), ("2", b"\0\0\0\1", "none"),
                                                 ("3", b"\0\0\0\7", "none")]),
    "Swiss numbers": ("{thousands: \"'\"}", "{v: {type: i64}, w: {type: f64}}", ["v:i64", "w:f64"],
                      b"id,v,w\n1,-1'234'567,1'000.5\n2,12,3e2\n", [("1", i64(-1234567), struct.pack(">d", 1000.5)),
                                                                    ("2", i64(12), struct.pack(">d", 300.0))]),
    "French numbers": ("{thousands: \"\u202f\", decimal: ',', delimiter: ;}", "{v: {type: f64}}", ["v:f64"],
                       "id;v\n1;1\u202f234,5\n".encode(), [("1", struct.pack(">d", 1234.5))]),
}
EXTRA_FIELDS = {"erp": "Betrag2: {from: Betrag, type: decimal, scale: 2}"}


def make(tmp_path, saltmill, name):
    source, fields, cells, data, rows = SETS[name]
    if name in EXTRA_FIELDS:
        fields = fields[:-1] + ", " + EXTRA_FIELDS[name] + "}"
    source = "{files: [in.csv]" + (", " + source[1:] if source != "{}" else "}")
    bench = Bench(tmp_path, saltmill, job(source, fields, cells))
    bench.input(data)
    return bench, rows_of([c.split(":")[0] for c in cells], *rows)


@pytest.mark.parametrize("name", SETS)
def test_sets(tmp_path, saltmill, name):
    bench, want = make(tmp_path, saltmill, name)
    r = bench.run()
    assert r.returncode == 0, r.stderr
    got = loaded(bench)
    assert got == {k: v for k, v in want.items() if v}

def refused_rows(tmp_path, saltmill, source, fields, cells, data, *reasons):
    """Checks that the load has all other rows, and that each reject has its reason and its line."""
    source = "{files: [in.csv]" + (", " + source[1:] if source != "{}" else "}")
    bench = Bench(tmp_path, saltmill, job(source, fields, cells))
    bench.input(data)
    r = bench.run("--max-rejects", "100")
    assert r.returncode == 3, r.stderr
    assert [(x["line"], x["reason"]) for x in bench.rejects()] == list(reasons)
    return bench, loaded(bench)


def test_unclosed_quote_is_one_reject(tmp_path, saltmill):
    data = b"id,v\n1,a\n2,\"never closed\n" + b"".join(b"%d,x\n" % i for i in range(3, 40_000))
    bench, got = refused_rows(tmp_path, saltmill, "{}", "{}", ["v"], data, (3, "open_quote"))
    assert len(got) == 39_999 - 1 and "2" not in got
    assert json.loads((bench.out / "rejects.jsonl").read_text())["field"] == "v"


def test_signs_are_not_guessed(tmp_path, saltmill):
    data = b"id;v;w\n1;1.5;1\n2;1.23;1\n3;1.234,5;1\n4;1234.567;1\n5;1,2,3;1\n6;,5;1\n7;1.234;0,001\n8;1;x\n9;.5;1\n10;0.123;1\n11;0,5;1\n"
    _, got = refused_rows(tmp_path, saltmill, "{delimiter: ;, decimal: ',', thousands: '.'}",
                          "{v: {type: f64}, w: {type: decimal, scale: 2}}", ["v:f64", "w"], data,
                          *((n, "bad_number") for n in (2, 3, 5, 6, 8, 9, 10, 11)))
    assert got == rows_of(["v", "w"], ("3", struct.pack(">d", 1234.5), "1.00"), ("6", struct.pack(">d", 0.5), "1.00"),
                          ("11", struct.pack(">d", 0.5), "1.00"))


def test_decimals_are_not_rounded(tmp_path, saltmill):
    data = b"id,v\n1,0.125\n2,0.120\n3,+007.5\n4,-0\n5,92233720368547758.07\n6,92233720368547758.08\n" \
           b"7,-92233720368547758.08\n8,1e3\n9,.5\n10,5.\n11,.\n"
    _, got = refused_rows(tmp_path, saltmill, "{}", "{v: {type: decimal, scale: 2}}", ["v"], data, (2, "bad_number"),
                          (7, "out_of_range"), (9, "bad_number"), (12, "bad_number"))
    assert {k: v["v"] for k, v in got.items()} == {
        "2": b"0.12", "3": b"7.50", "4": b"0.00", "5": b"92233720368547758.07", "7": b"-92233720368547758.08",
        "9": b"0.50", "10": b"5.00"}


def test_bytes_the_encoding_lacks(tmp_path, saltmill):
    _, got = refused_rows(tmp_path, saltmill, "{encoding: cp1252}", "{}", ["v"], b"id,v\n1,\x81\n2,\x80\n", (2, "bad_utf8"))
    assert got == rows_of(["v"], ("2", "\u20ac"))
    data = "id,v\n1,x\n2,y\n".encode("utf-16-le").replace(b"x\0", b"\0\xd8")
    _, got = refused_rows(tmp_path / "2", saltmill, "{encoding: utf-16le}", "{}", ["v"], data, (2, "bad_utf8")) \
        if not (tmp_path / "2").mkdir() else None
    assert got == rows_of(["v"], ("2", "y"))


def test_ragged_rows_are_rejects_by_default(tmp_path, saltmill):
    refused_rows(tmp_path, saltmill, "{extra: empty}", "{}", ["v"], b"id,v\n1\n2,a,b\n3,a,\n", (2, "field_count"),
                 (3, "field_count"))


def test_pieces_and_threads_make_no_difference(tmp_path, saltmill):
    """A file of several pieces contains a preamble, comments, a footer, and quotes with line ends."""
    head = b'Report "1\n\n' + b"id;v\n"
    body = b"".join(b'%d;"%s\n#%d"\n# no; row "\n' % (i, b"x" * (i % 200), i) for i in range(20_000))
    bench = Bench(tmp_path, saltmill, job(
        "{files: [in.csv], delimiter: ;, header: {find: [id]}, comment: '#', skip_footer: 2, trim: true}", "{}", ["v"]))
    bench.input(head + body + b'TOTAL;"1\n\nEND\n')
    outs = []
    for n, args in enumerate((["--threads", "1"], ["--threads", "3"], ["--threads", "2", "--memory", "32M"])):
        out = tmp_path / f"out{n}"
        r = bench.run(*args, out=out)
        assert r.returncode == 0, r.stderr
        outs.append({str(p.relative_to(out)): p.read_bytes() for p in out.glob("t/hfiles/*/*")})
    assert outs[0] == outs[1] == outs[2]
    bench.out = tmp_path / "out0"
    assert loaded(bench) == {str(i): {"v": b"%s\n#%d" % (b"x" * (i % 200), i)} for i in range(20_000)}


@pytest.mark.parametrize("text, place", [(b"id,v\n1,2\n#" + b"x" * 3000 + b"\n3,4\n", ":3 (byte 9)"),
                                         (b"#" + b"x" * 3000 + b"\nid,v\n1,2\n", ":1 (byte 0)")],
                         ids=["between rows", "in front"])
def test_a_comment_longer_than_a_row_may_be(tmp_path, saltmill, text, place):
    """An earlier version skipped such a comment if a piece contained all of it, and rejected it if a piece contained a
    part."""
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv], comment: '#', max_row: 1K}", "{}", ["v"]))
    bench.input(text)
    r = bench.run()
    assert r.returncode == 1
    assert f"in.csv{place}: found a row of more than 1024 bytes" in r.stderr.decode()


# --- files ---

def in_files(tmp_path, saltmill, files):
    bench = Bench(tmp_path, saltmill, job("{files: [%s]}" % files, "{}", ["v"]))
    (tmp_path / "inbox" / "deeper").mkdir(parents=True)
    for name in ("b.csv", "a.csv", "c10.csv", "c9.csv", ".hidden.csv", "_SUCCESS", "deeper/d.csv"):
        bench.input(b"id,v\n%s,1\nlast,%s\n" % (name.encode(), name.encode()), "inbox/" + name)
    return bench


@pytest.mark.parametrize("files,order", [
    ("inbox/*.csv", "a.csv b.csv c10.csv c9.csv"),
    ("inbox", "a.csv b.csv c10.csv c9.csv"),
    ("inbox/", "a.csv b.csv c10.csv c9.csv"),
    ("inbox/c*.csv, inbox/a.csv", "c10.csv c9.csv a.csv"),
    ("'inbox/[ab].csv'", "a.csv b.csv"),
])
def test_files_by_pattern(tmp_path, saltmill, files, order):
    bench = in_files(tmp_path, saltmill, files)
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert [i["path"].rsplit("/", 1)[1] for i in bench.manifest()["inputs"]] == order.split()
    got = loaded(bench)
    assert got.pop("last") == {"v": order.split()[-1].encode()}, "expected the value of the later input"
    assert sorted(got) == sorted(order.split())


@pytest.mark.parametrize("files,status,words", [
    ("inbox/*.txt", 1, "found no file that matches this pattern"),
    ("inbox/a.csv, inbox/*.csv", 2, "inbox/a.csv: found this file twice"),
    ("inbox/none.csv", 1, "No such file"),
])
def test_files_that_are_not_there(tmp_path, saltmill, files, status, words):
    bench = in_files(tmp_path, saltmill, files)
    bench.refused(bench.run(), status, words)


def test_a_name_with_a_bracket_is_a_name(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, job("{files: ['in[1].csv']}", "{}", ["v"]))
    bench.input(b"id,v\n1,x\n", "in[1].csv")
    bench.input(b"id,v\n2,x\n", "in1.csv")
    assert bench.run().returncode == 0
    assert list(loaded(bench)) == ["1"]


# --- invalid texts and impossible values ---

@pytest.mark.parametrize("data,words", [
    (b"PAR1\x15\x04", "a Parquet file, expected delimited text; use instead: python3 -c"),
    (b"ORC\x01", "an ORC file"),
    (b"Obj\x01\x04", "an Avro file"),
    (b"ARROW1\0\0", "an Arrow file"),
    (b"\xff\xff\xff\xff\x10", "an Arrow stream"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel workbook (xls)"),
    (b"SQLite format 3\0", "a SQLite database"),
    (codecs.BOM_UTF16_LE + "id,v\n".encode("utf-16-le"), "UTF-16 text, expected delimited text; use instead: `encoding: utf-16`"),
])
def test_other_formats_are_named(tmp_path, saltmill, data, words):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]))
    bench.input(data)
    bench.refused(bench.run(), 1, words)


@pytest.mark.parametrize("source,fields,data,status,words", [
    ("{encoding: utf-16}", "{}", b"\xff\xfei", 1, "incomplete last character"),
    ("{header: {find: [id, w]}}", "{}", b"id,v\n1,2\n", 1, "no line with the names `id`"),
    ("{header: replace, columns: [id, v, w]}", "{}", b"id,v\n1,2\n", 1, "found 2 names in the header, expected 3"),
    ("{skip: 9}", "{}", b"id,v\n1,2\n", 1, "found an empty file, expected a header line"),
    ("{skip_footer: 2}", "{}", b"id,v\n1,2\n", 1, "found an empty file, expected a header line"),
    ("{}", "{v: {type: u32, default: none}}", b"id,v\n1,2\n", 2, "job.yaml:3:10: default of field `v`: found `none`"),
])
def test_faults(tmp_path, saltmill, source, fields, data, status, words):
    source = "{files: [in.csv]" + (", " + source[1:] if source != "{}" else "}")
    bench = Bench(tmp_path, saltmill, job(source, fields, ["v"]))
    bench.input(data)
    bench.refused(bench.run(), status, words)


# --- JSON lines ---

NESTED = "{at: {from: '[\"t\"].at', type: time, unit: s}, n: {type: i64}, f: {type: f64}, s: {}, b: {type: bool}}"
FLAT = "{at: {type: time, unit: s}, n: {type: i64}, f: {type: f64}, s: {}, b: {type: bool}}"
SAME = ["at:millis", "n:i64", "f:f64", "s", "b:bool"]


def events(n):
    for i in range(n):
        yield (str(i), 1_600_000_000 + i, None if i % 7 == 0 else i - 500, i / 8,
               None if i % 11 == 0 else f"t\u00e9xt, \"{i}\"\n\\" * (i % 3 + 1), i % 2 == 0)


def csv_text(v):
    if v is None or isinstance(v, (bool, int, float)):
        return "" if v is None else str(v).lower()
    return '"' + v.replace('"', '""') + '"'


def hfiles(out):
    return {str(p.relative_to(out)): p.read_bytes() for p in out.glob("t/hfiles/*/*")}


def test_json_lines_make_the_hfiles_of_csv(tmp_path, saltmill):
    """Any number of threads and any memory give the same bytes. Python decodes the JSON."""
    found = []
    for kind, fields in ("csv", FLAT), ("json", NESTED):
        folder = tmp_path / kind
        folder.mkdir()
        text = job("{files: [in]}", fields, SAME).replace("csv:", kind + ":")
        bench = Bench(folder, saltmill, text)
        if kind == "csv":
            lines = ["id,at,n,f,s,b", *(",".join(map(csv_text, e)) for e in events(30_000))]
        else:
            lines = [json.dumps({"s": s, "x": [{"n": 1}], "t": {"at": at}, "id": i, "n": n, "f": f, "b": b},
                                ensure_ascii=n is None) + "\r" * (f == 1) for i, at, n, f, s, b in events(30_000)]
            lines.insert(17, " ")
        bench.input("\n".join(lines).encode())
        (folder / "in.csv").rename(folder / "in")
        for n, args in enumerate((["--threads", "1"], ["--threads", "3", "--memory", "64M"])):
            r = bench.run(*args, out=folder / f"out{n}")
            assert r.returncode == 0, r.stderr
            found.append(hfiles(folder / f"out{n}"))
    assert found[0] and found[0] == found[1] == found[2] == found[3]


def test_json_lines_that_are_none(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]).replace("csv: {", "json: {"))
    bench.input(b'{"id": "1", "v": "a"}\n{"id": "2", "v": }\n\n[1]\n{"id": null}\n{"id": "5", "v": ""}\n{"id": "6"')
    r = bench.run("--max-rejects", "9")
    assert r.returncode == 3, r.stderr
    assert [(x["line"], x["reason"]) for x in bench.rejects()] == [
        (2, "bad_json"), (4, "bad_json"), (5, "null_value"), (7, "bad_json")]
    assert loaded(bench) == rows_of(["v"], ("1", "a"), ("5", ""))


@pytest.mark.parametrize("fields,data,status,words", [
    ("{v: {from: $key}}", b"{}", 2, "found `$key`, expected a path"),
    ("{v: {from: 'a..b'}}", b"{}", 2, "expected a path like"),
    ("{}", b'{"id": "' + b"x" * 3_000 + b'"}', 1, "source.json.max_row"),
])
def test_json_faults(tmp_path, saltmill, fields, data, status, words):
    bench = Bench(tmp_path, saltmill,
                  job("{files: [in.csv], max_row: 2000}", fields, ["v"]).replace("csv: {", "json: {"))
    bench.input(data)
    bench.refused(bench.run(), status, words)


# --- compressed files ---

PLAIN = b"id,v\n" + b"".join(b"%d,%s\n" % (i, (b"%x" % (i * 2654435761)) * (i % 9)) for i in range(20_000))


class Pipe(io.RawIOBase):
    """If zipfile cannot seek, it writes sizes and checksum after the data."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def zipped(*members, method=zipfile.ZIP_DEFLATED, pipe=False, zip64=False):
    to = Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(to, "w", method) as z:
        for name, data in members:
            with z.open(zipfile.ZipInfo(name) if not method else name, "w", force_zip64=zip64) as f:
                f.write(data)
    return to.data if pipe else to.getvalue()


MAC = ("__MACOSX/._in.csv", b"attributes" * 50)
PACKED = {
    "bz2": bz2.compress(PLAIN),
    "bz2 of two": bz2.compress(PLAIN[:77_777]) + bz2.compress(PLAIN[77_777:]),
    "xz": lzma.compress(PLAIN),
    "xz -9, no check": lzma.compress(PLAIN, preset=9, check=lzma.CHECK_NONE),
    "xz of two with padding": lzma.compress(PLAIN[:77_777]) + bytes(8) + lzma.compress(PLAIN[77_777:]) + bytes(4),
    "zip": zipped(("in.csv", PLAIN)),
    "zip from a pipe": zipped(("in.csv", PLAIN), pipe=True),
    "zip64 from a pipe": zipped(("in.csv", PLAIN), pipe=True, zip64=True),
    "zip, stored": zipped(("in.csv", PLAIN), method=zipfile.ZIP_STORED),
    "zip, in a folder, by macOS": zipped(("a/", b""), ("a/in.csv", PLAIN), MAC),
    "zip, by macOS, from a pipe": zipped(MAC, ("in.csv", PLAIN), ("__MACOSX/._b", b""), pipe=True),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed(tmp_path, saltmill, name):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]))
    bench.input(PLAIN)
    assert bench.run(out=tmp_path / "plain").returncode == 0
    bench.input(PACKED[name])
    r = bench.run()
    assert r.returncode == 0, r.stderr
    assert hfiles(bench.out) and hfiles(bench.out) == hfiles(tmp_path / "plain")


@pytest.mark.parametrize("kind", ["bz2", "xz", "zip", "zip from a pipe", "zip, stored"])
def test_packed_and_damaged(tmp_path, saltmill, kind):
    """saltmill refuses a file that ends at any place or has one changed byte, and leaves no file."""
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]))
    data = PACKED[kind]
    for cut in (12, len(data) // 3, len(data) // 2, len(data) - (4 if kind in ("bz2", "xz") else 200)):
        bench.input(data[:cut])
        bench.refused(bench.run(), 1, "truncated")
    for at in (len(data) // 4, len(data) // 2):
        bench.input(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        r = bench.run()
        # bzip2 returns a block before it checks the checksum, so saltmill may refuse its rows first
        bench.refused(r, r.returncode or 1, "damaged" if kind != "bz2" else "")


@pytest.mark.parametrize("data,words", [
    (zipped(("a.csv", PLAIN), ("b.csv", PLAIN)), "found a second member, expected one; `unzip -p FILE.zip NAME`"),
    (zipped(("a/", b"")), "no member in the archive"),
    (zipped(("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"")), "an Excel workbook"),
    (zipped(("a.csv", PLAIN), method=zipfile.ZIP_BZIP2), "another compression method, expected deflate"),
    (bz2.compress(PLAIN) + b"more", "not a bzip2 stream"),
    (lzma.compress(PLAIN) + b"more" * 9, "not an xz stream"),
    (b"BZh9 is no magic,v\n1,2\n", "no column `id`"),
], ids=["two", "folder", "xlsx", "method", "behind bz2", "behind xz", "plain"])
def test_packed_otherwise(tmp_path, saltmill, data, words):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]))
    bench.input(data)
    r = bench.run()
    bench.refused(r, r.returncode or 1, words)


# --- guards ---

@pytest.mark.parametrize("args,words", [
    (["--min-rows", "3"], "table t: found 2 rows, expected at least 3 (--min-rows)"),
    (["--max-filtered", "1"], "found 2 of 4 events filtered, expected at most 1 (--max-filtered)"),
    (["--max-filtered", "49%"], "expected at most 1 (--max-filtered)"),
    (["--max-filtered", "50%", "--min-rows", "2"], None),
])
def test_guards(tmp_path, saltmill, args, words):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]))
    bench.input(b"id,v\n1,\n2,a\n3,\n4,b\n")
    r = bench.run(*args)
    if words:
        bench.refused(r, 1, words)
    else:
        assert r.returncode == 0 and len(loaded(bench)) == 2


def test_guard_that_is_no_number(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv]}", "{}", ["v"]))
    bench.input(b"id,v\n")
    bench.refused(bench.run("--min-rows", "many"), 2, "--min-rows: found `many`, expected a whole number")


def test_file_without_rows_is_told(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, job("{files: [in.csv, none.csv]}", "{}", ["v"]))
    bench.input(b"id,v\n1,a\n")
    bench.input(b"id,v\n", "none.csv")
    r = bench.run()
    assert r.returncode == 0 and b"none.csv: found no rows" in r.stderr and b"in.csv: found" not in r.stderr
