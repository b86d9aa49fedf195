"""Tests that init never guesses silently. It proves the job, detects encodings, and refuses or marks the rest."""

import csv
import io
import json
import re
import shutil
import subprocess

import pytest

from load_help import Bench


def init(saltmill, folder, data, name="in.csv"):
    (folder / name).write_bytes(data)
    return subprocess.run([saltmill, "init", name], cwd=folder, capture_output=True, text=True, timeout=60)


def rows_of(tmp_path, saltmill, job):
    """Load the job, and return the cells of all rows as scan prints them."""
    bench = Bench(tmp_path, saltmill, "")
    (tmp_path / "job.yaml").write_text(job)
    assert bench.run().returncode == 0
    r = subprocess.run([saltmill, "scan", "job.yaml", bench.out, "--decode", "--format", "jsonl"], cwd=tmp_path,
                       capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    return [{k[2:]: v for k, v in json.loads(x)["cells"].items()} for x in r.stdout.splitlines()]


def in_order(rows):
    return sorted(rows, key=lambda x: json.dumps(x, sort_keys=True))


RUSSIAN = "Номер;Город;Примечание\n" + "".join(
    f"{i};{('Москва', 'Новгород', 'Казань')[i % 3]};{('оплачено', 'ожидается отправка', 'возврат')[i % 3]}\n" for i in range(40))
POLISH = "Nr;Nazwisko;Uwagi\n" + "".join(
    f"{i};{('Żukowski', 'Błażej', 'Śliwa')[i % 3]};{('zapłacono', 'częściowo', 'wysłać później')[i % 3]}\n" for i in range(40))
GERMAN = "Nr;Name;Ort\n" + "".join(
    f"{i};{('Müller', 'Schäfer', 'Groß')[i % 3]};{('Köln', 'Düsseldorf', 'Gießen')[i % 3]}\n" for i in range(40))
GREEK = "Αριθμός;Όνομα;Πόλη\n" + "".join(
    f"{i};{('Παπαδόπουλος', 'Γεωργίου', 'Νικολάου')[i % 3]};{('Αθήνα', 'Θεσσαλονίκη', 'Πάτρα')[i % 3]}\n" for i in range(40))
JAPANESE = "番号,名前,住所\n" + "".join(
    f"{i},{('さとう はなこ', 'すずき いちろう', '田中 みほ')[i % 3]},{('東京都千代田区', '大阪府大阪市', '神奈川県横浜市')[i % 3]}\n" for i in range(40))
CHINESE = "编号,姓名,地址\n" + "".join(
    f"{i},{('张伟', '王芳', '李娜')[i % 3]},{('北京市海淀区', '上海市浦东新区', '广州市天河区')[i % 3]}\n" for i in range(40))


@pytest.mark.parametrize("text,encoding", [
    (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (RUSSIAN, "cp866"), (POLISH, "cp1250"), (GERMAN, "cp1252"), (GREEK, "cp1253"),
    (JAPANESE, "cp932"), (JAPANESE, "euc_jp"), (CHINESE, "gb18030"), (RUSSIAN, "utf-16"), (JAPANESE, "iso2022_jp"),
])
def test_values_in_many_encodings(tmp_path, saltmill, text, encoding):
    """The table has the values that Python encoded."""
    r = init(saltmill, tmp_path, text.encode(encoding))
    assert r.returncode == 0, r.stderr
    lines = [re.split("[;,]", x) for x in text.splitlines()]
    expected = [dict(zip(lines[0], [int(x[0]), *x[1:]])) for x in lines[1:]]
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


FEW = [("Léon", "mac-roman", "macintosh"), ("Köln", "mac-roman", "macintosh"), ("Señora", "mac-roman", "macintosh"),
       ("Иванов", "mac-cyrillic", "mac-cyrillic"), ("MÜLLER", "cp437", "cp850"), ("김민준", "euc-kr", ""), ("כהן", "cp1255", ""),
       ("東京", "big5", "")]
SURE = [("Müller", "cp1252"), ("café", "cp1252"), ("don’t", "cp1252"), ("12 °C", "cp1252"), ("5 €", "cp1252"), ("£5", "cp1252"),
        ("Иванов", "cp1251"), ("Москва", "koi8-r")]


@pytest.mark.parametrize("word,encoding,named", [*FEW, *((w, e, None) for w, e in SURE)])
def test_a_single_word_is_little_evidence(tmp_path, saltmill, word, encoding, named):
    """Either the word is right, or init exits with 3 and names the encoding or others. It is never sure by 100 %."""
    rows = "".join(f"{i},{word if i == 7 else 'plain'}\n" for i in range(30))
    r = init(saltmill, tmp_path, ("id,note\n" + rows).encode(encoding))
    share = re.search(r"encoding: \S+   # (\d+) % of the characters", r.stdout)
    assert share and int(share[1]) < 100, r.stdout
    if named is None:
        assert r.returncode == 0, r.stderr
    if r.returncode == 0:
        assert {x["note"] for x in rows_of(tmp_path, saltmill, r.stdout)} == {"plain", word}
    else:
        assert r.returncode == 3 and "# CHECK: the encoding may be " in r.stdout and named in r.stdout.split("compare some")[0]


def test_a_doubtful_encoding_is_marked(tmp_path, saltmill):
    """Random bytes above 127 are letters of no language."""
    data = b"id,v\n" + b"".join(b"%d,%s\n" % (i, bytes(160 + (i * 37 + k * 61) % 95 for k in range(9))) for i in range(50))
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 3 and "# CHECK: the encoding may be " in r.stdout and "the encoding may be " in r.stderr


def test_rows_with_nulls_stay_apart(tmp_path, saltmill):
    """A hash of the columns without nulls is equal for most of these rows. The rows differ only in all columns together."""
    rows = "".join(f"k{i % 2},{'NA' if i % 5 == 0 else i / 10},{'NA' if i % 7 == 0 else i * 3}\n" for i in range(1, 35))
    r = init(saltmill, tmp_path, b"kind,a,b\n" + rows.encode())
    assert r.returncode == 0 and "'key of a': {from: a, default: ''}" in r.stdout
    assert len(rows_of(tmp_path, saltmill, r.stdout)) == 34


@pytest.mark.parametrize("name, data, expected", [
    ("in.csv", b"kind,a\nx,1.5\ny,2.5\nx,1.5\n", [{"kind": "x", "a": 1.5}, {"kind": "x", "a": 1.5}, {"kind": "y", "a": 2.5}]),
    ("in.json", b'{"k": "x"}\n{"k": "y"}\n{"k": "x"}\n', [{"k": "x"}, {"k": "x"}, {"k": "y"}]),
    ("in.txt", b"x\nx\n\ny\nx\n", [{"line": "x"}] * 3 + [{"line": "y"}]),
])
def test_equal_rows_stay_apart_by_their_lines(tmp_path, saltmill, name, data, expected):
    r = init(saltmill, tmp_path, data, name)
    assert r.returncode == 0 and "'key of $line': {from: [$file, ':', $line]}   # only for the row key: " in r.stdout
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


def test_equal_items_of_one_line_are_reported(tmp_path, saltmill):
    items = ", ".join('{"at": "2026-01-01T00:00:00Z", "n": 1}' for _ in range(9))
    r = init(saltmill, tmp_path, "".join(f'{{"id": {i}, "events": [{items}]}}\n' for i in range(4)).encode(), "in.json")
    assert r.returncode == 3 and "# CHECK: the row key joins 32 rows with earlier rows, the first in line 1" in r.stdout


def test_equal_keys_of_the_user_are_reported(tmp_path, saltmill):
    (tmp_path / "in.csv").write_bytes(b"kind,a\nx,1.5\ny,2.5\nx,1.5\n")
    r = subprocess.run([saltmill, "init", "in.csv", "--key", "kind"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 3 and "# CHECK: the row key joins 1 rows with earlier rows, the first in line 4" in r.stdout


def test_rejected_rows_are_reported(tmp_path, saltmill):
    r = init(saltmill, tmp_path, b'id,v\n0,"a"\n' + b"".join(b"%d,a\n" % i for i in range(1, 50)) + b'50,"a" b,c\n')
    assert r.returncode == 3 and "# CHECK: the job rejects 1 rows of the sample, the first in line 52: bad_quote" in r.stdout


@pytest.mark.parametrize("data,reason", [
    (b"".join(b"%-10d%-10s\n" % (i, b"abc") for i in range(9)), "columns of a fixed width"),
    (b"".join(b"a job %d was started by a user\n" % i for i in range(9)), "lines of text without a delimiter"),
    (b"-[ RECORD 1 ]--\nid | 1\n-[ RECORD 2 ]--\nid | 2\n", "one line for each column"),
])
def test_what_is_not_delimited_is_refused(tmp_path, saltmill, data, reason):
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 1 and reason in r.stderr and r.stdout == "", r.stderr


PAGES = "\n".join(("Page %d\n" % (i // 10) if i else "") + "id,city\n" +
                  "".join(f"{k},town {'ab'[k % 2]}\n" for k in range(i, i + 10)) for i in range(0, 40, 10)).encode()


@pytest.mark.parametrize("data,expected", [
    (b"name,2023,2024\na,1,2\nb,3,4\n", [{"name": "a", "2023": 1, "2024": 2}, {"name": "b", "2023": 3, "2024": 4}]),
    (b" id | name \n----+------\n  1 | a\n  2 | b\n(2 rows)\n\n", [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]),
    (b"id,name\n1,a\n2,b\n3,c\n4,d\nid,name\n5,e\n", [{"id": i + 1, "name": "abcde"[i]} for i in range(5)]),
    (b"'id','v'\n1,'a, b'\n2,'it''s'\n", [{"id": 1, "v": "a, b"}, {"id": 2, "v": "it's"}]),
    (b"#Version: 1.0\n#Fields: id cs-method\n1 GET\n2 PUT\n", [{"id": 1, "cs-method": "GET"}, {"id": 2, "cs-method": "PUT"}]),
    (b"id||v\n1||a|b\n2||c\n3||d|\n", [{"id": 1, "v": "a|b"}, {"id": 2, "v": "c"}, {"id": 3, "v": "d|"}]),
    (b"id,at,2024\n1,5,3\n2,6,4\n", [{"id": 1, "at": 5, "2024": 3}, {"id": 2, "at": 6, "2024": 4}]),
    (b"color,n\n#a0b1c2,1\n#d0e1f2,2\n", [{"color": "#a0b1c2", "n": 1}, {"color": "#d0e1f2", "n": 2}]),
    (b"id,v\n1,a\n2,b\n3,c\nSource: a ministry\n", [{"id": i + 1, "v": "abc"[i]} for i in range(3)]),
    (b"ID  NAME      DAY\n--- --------- ----------\n  1 a b       2026-01-02\n  2 NULL      2026-01-03\n\nPage 2\n"
     b"ID  NAME      DAY\n--- --------- ----------\n  3 c         2026-01-04\n\n(3 rows affected)\n",
     [{"ID": 1, "NAME": "a b", "DAY": "2026-01-02T00:00:00.000Z"}, {"ID": 2, "DAY": "2026-01-03T00:00:00.000Z"},
      {"ID": 3, "NAME": "c", "DAY": "2026-01-04T00:00:00.000Z"}]),
    (b"|  Nr | Text |\n--------------\n|   1 | a    |\n|   2 | b    |\n|   3 | c    |\n--------------\n| *   |      |\n",
     [{"Nr": i + 1, "Text": "abc"[i]} for i in range(3)]),
    (b"day,v\n1887-05-12,1\n1999-01-01,2\n", 
     [{"day": "1887-05-12T00:00:00.000Z", "v": 1}, {"day": "1999-01-01T00:00:00.000Z", "v": 2}]),
    (PAGES, [{"id": i, "city": f"town {'ab'[i % 2]}"} for i in range(40)]),
    (b'{"id": 1, "tags": ["a", 2]}\n{"id": 2, "tags": []}\n', [{"id": 1, "tags": '["a", 2]'}, {"id": 2, "tags": "[]"}]),
])
def test_lines_that_are_not_rows(tmp_path, saltmill, data, expected):
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


def test_a_folder_of_files_with_headers(tmp_path, saltmill):
    (tmp_path / "in").mkdir()
    for i in range(3):
        (tmp_path / "in" / f"{i}.csv").write_bytes(b"id,v\n" + b"".join(b"%d,x%d\n" % (i * 10 + k, k) for k in range(5)))
    r = subprocess.run([saltmill, "init", "in"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    assert len(rows_of(tmp_path, saltmill, r.stdout)) == 15
    (tmp_path / "in" / "3.csv").write_bytes(b"v,id,w\nx,40,y\n")
    r = subprocess.run([saltmill, "init", "in"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and "columns: by_name" in r.stdout and "missing: 'null'   # some files lack a column" in r.stdout
    shutil.rmtree(tmp_path / "out")
    rows = rows_of(tmp_path, saltmill, r.stdout)
    assert len(rows) == 16 and {"id": 40, "v": "x", "w": "y"} in rows and {"id": 0, "v": "x0"} in rows
    (tmp_path / "in" / "4.csv").write_bytes(b"a,b\nx,40\n")
    r = subprocess.run([saltmill, "init", "in"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 1 and "found files with different headers: found `v,id,w`, expected `id,v`" in r.stderr


def test_text_alone_does_not_show_a_header(tmp_path, saltmill):
    r = init(saltmill, tmp_path, b"AD,Andorra\nFR,France\nDE,Germany\n")
    assert r.returncode == 3 and "# CHECK: the first row may be data" in r.stdout
    assert init(saltmill, tmp_path, b"code,country\nFR,France\nDE,Germany\n").returncode == 0


ROWS = b"".join(b"%d,2026-01-%02d,x%d\n" % (i, i % 28 + 1, i % 7) for i in range(40))


@pytest.mark.parametrize("data,line", [
    (b"id,day,v\n" + ROWS + b"part two,of,it\n" + b"41,2026-01-02,x\n" * 1, 42),
    (b"id,day,v\n" + ROWS + b"Subtotal,,3\n41,2026-01-02,x\n42,2026-01-03,x\n", 42),
    (b"a,b\n" + b"".join(b"n%d,x%d\n" % (i, i % 9) for i in range(40)) + b"part two\nn41,x3\n", 42),
    (b"no,name,sum\n" + b"".join(b"%04d,x,%d\n" % (i, i * 9) for i in range(6)) + b"ride,kind,fare\n" +
     b"".join(b"R-%d,y,%d\n" % (i, i * 7) for i in range(6)), 8),
    (b"n;kind\n" + b"".join(b"%d;%d\n" % (i, i * 79) for i in range(12)) + b"Sum of it;12\n" + b"".join(b"2%d;%d\n" % (i, i) for i in range(3)), 14),
])
def test_a_row_unlike_the_others_is_reported(tmp_path, saltmill, data, line):
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 3 and f"1 rows do not look like the others, the first in line {line}" in r.stderr, r.stderr


@pytest.mark.parametrize("data,doubt", [
    (b"Store;Berlin;\nid;day;v\n" + ROWS.replace(b",", b";"), "a line above the rows has as many values as a row"),
    (b"id;dir\n" + b"".join(b"%d;C:\\\\t%d\n" % (i, i % 3) for i in range(9)), "each backslash is doubled"),
    (b"".join(b"%d,5;%d,7\n" % (i, i) for i in range(9)), "another delimiter is in each row, equally often"),
    (b"type,n\ntype,1\nkind,2\n", "the first row may be data"),
    (b'"at";"qty"\n' + b"".join(b'"05%04d"\n' % (i * 37) for i in range(9)), "a line is one value, but some lines contain delimiters"),
    (b"#aa\n#bb\n#cc\nx\n", "most lines begin with #"),
    (b"id,name,value\na1,ab,3\n#x,x,x\nb2,cd,4\n", "some rows begin with #, and the job loads them"),
    (b"Sales 2026-01-03;;\n2025;id;a\n" + b"".join(b"%08d;%s;%s\n" % (i * 531, (b"FR", b"US")[i % 2], (b"island", b"nectar", b"sea")[i % 3])
     for i in range(40)), "half of the columns or more have no name"),
    (b"score,total,2025\nf,C:\\\\new,376\nt,kettle #tag,485\nf,lagoon,-14\nt,ember a\\, b jungle,-281\n", "the first row may be names"),
    (b'"id"^"price"^"code"\n' + b"".join(b'"n%d"^%d.07^"b"\n' % (i, i * 3) for i in range(9)) + b'"Total"^341.56^"b"\n\n* preliminary\n',
     "the job skips a line below the rows that has as many values"),
    (b"amount;kind\n" + b"".join(b"SKU-%d;%d\n" % (i, i * 7919) for i in range(4)) + b"Grand total;12345\n", "the job skips a line below the rows"),
    (b"id;n\n1;1,234\n2;5,678\n3;9,012\n", "some numbers have two readings"),
    (b"id\tn\n" + b"".join(b"%d\t%d,%d\n" % (i, i % 5, i % 7) for i in range(30)), "values of the column `n` such as `1,2` may be numbers or lists"),
    (b"id;x;n;m\n" + b"".join(b"%d;%d.5;%d,%d;7,%d\n" % (i, i, i, i % 7, i) for i in range(3)), "values of the column `n` such as `1,2` may be"),
    (b"id\tn\n" + b"".join(b"%d\t'%d'\n" % (i, i) for i in range(9)) + b"9\t'a' b\n10\n", "the job rejects 1 rows of the sample"),
    (b'id,price,n\n1,2.50,"7,855"\n2,3.25,"1,250"\n3,4.75,"3,125"\n', "all numbers of the column `n` have one group of three digits"),
    (b"id;price;n\n1;2.50;1,234\n2;3.25;5,678\n3;4.75;9,012\n", "all numbers of the column `n` have one group of three digits"),
    (b"t,m1,m2\n,1,1\n,0.9,3.5\n" + b"".join(b"%d,A,%s\n" % (i, b"BA"[i % 2:]) for i in range(1, 20)), "only the first rows after"),
    (b"id,name,n\n" + b"".join(b"%d,x%d,%d\n" % (i, i, i * 7) for i in range(9)) + b"#9,y,8\n", "some lines that begin with #"),
    (b"id;a;b;c\n" + b"".join(b"%d;x%d;y;%d\n" % (i, i, i * 7) for i in range(9)) + b"T;9\n", "only the last row has fewer values"),
    (b"store,units,sum\nA 1,47,6.5\nA 2,34,4.5\nA 3,69,9.5\n\nT,3\n", "only the last row has fewer values"),
    (b"".join(b"+49 %d 52%d\t%d\tA\n" % (i * 37 + 105, i, i) for i in range(20)), "a column between tabs has several values"),
    (b"".join(b"%-20s%-10s%s\n" % x for x in ((b"John Smith", b"WA", b"418-Y11-4111"), (b"Mary Hartford", b"CA", b"319-Z19-4341"),
                                               (b"Evan Nolan", b"IL", b"219-532-c301"))), "one blank separates two texts in each row"),
    (b"pos,trend,n\n" + b"".join(b"%d,%s,%s\n" % (i, b"+-"[i % 2:][:1], b"7" if i % 4 else b"-") for i in range(12)),
     "the job takes `-` as no value, but it may be a value like `+` in the column `trend`"),
    (b"id;name\n" + b"".join(b"%d;`x%d`\n" % (i, i) for i in range(9)), "all values of the column `name` are between quotes"),
    (b"".join(b"{'a': %d, 'b': 'x'}\n" % i for i in range(9)), "the text begins like JSON, but it is not JSON"),
    ("id;name\n".encode() + b"".join(b"%d;PLAIN\n" % i for i in range(9)) + "9;ДОМ\n".encode("cp1251"), "the encoding may be koi8-r"),
    (b"n=1,kind=a,v=2\nn=2,kind=b,v=4\nn=3,kind=c,v=5\nn=4,kind=d,v=6\nn=5,kind=e,v=7\nn=6,kind=f,8\n", "most values are pairs"),
    (b"id;a;b;c\n" + b"".join(b"%d;x%d;y;%d\n" % (i, i, i * 7) for i in range(9)) + b"Nr;Name\n1;x\n2;y\n3;z\n",
     "the last rows all have equally many values"),
    (b"Nr;Name;Preis\n" + b"".join(b"%d;x%d;%d\n" % (i, i, i * 7) for i in range(9)) + b"id;name;born;city;lat;tag;on\n" +
     b"".join(b"%d;x;2026-01-%02d;y;%d;z;w\n" % (i, i + 1, i * 3) for i in range(20)), "lines above the rows look like another table"),
    (b"".join(b"chr%d,exon,%d,ID=g%d;Name=A%d\n" % (i % 3, i * 77, i, i) for i in range(20)), "another delimiter is in each row"),
])
def test_other_doubts(tmp_path, saltmill, data, doubt):
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 3 and f"# CHECK: {doubt}" in r.stdout, r.stdout


def test_descriptions_below_the_header_are_rows(tmp_path, saltmill):
    """No row is left out silently: init doubts rows of long texts, or loads them as rows."""
    rows = [[str(i), f"m{i % 7}", str(i * 3)] for i in range(20)]
    long = [["", "kind (required)\n\npossible values: m0, m1", "number\nof events"], ["code", "kind", "events"]]
    data = io.StringIO(newline="")
    csv.writer(data).writerows([["id", "kind", "n"], *long, *rows])
    r = init(saltmill, tmp_path, data.getvalue().encode())
    assert r.returncode in (0, 3), r.stderr
    if r.returncode == 0:
        assert len(rows_of(tmp_path, saltmill, r.stdout)) == 22


@pytest.mark.parametrize("data,fields", [
    (b"zip,n\n0602109,1\n0602139,2\n0602142,3\n", ["zip: {type: text}"]),  # no day of the year 602
    (b"ip;n\n132.169.144.219;1.234\n10.20.30.40;5.678.901\n", ["ip: {type: ip}"]),  # no group of three digits
    (b"id;m\n1;300,200,100\n2;250,500\n3;1167\n4;1,200\n", ["m: {type: text}"]),  # lists, as BED files have
    (b"id;m\n1;1.234.567\n2;250.500\n3;1167\n4;88\n", ["m: {type: u32}"]),  # Spain writes 1167 and 11.670
    (b"id;m\n1;1.234.567\n2;250.500\n3;11670\n4;88\n", ["m: {type: text}"]),
    (b"room,n\n1E2,1\n3E4,2\n2E1,3\n", ["room: {type: text}"]),  # no powers of ten
    (b"x,n\n1E2,1\n3E-4,2\n2.5E1,3\n", ["x: {type: f64}"]),
    (b"update_no,n\n1526000000000,1\n1010066777180,2\n1826000000001,3\n", ["update_no: {type: u64}"]),
    (b"timestamp_id,updated_by\n1526000000,1010066777\n1010066777,1526000000\n",
     ["timestamp_id: {type: u32}", "updated_by: {type: u32}"]),
])
def test_codes_and_ids_are_neither_times_nor_numbers(tmp_path, saltmill, data, fields):
    r = init(saltmill, tmp_path, data)
    assert all(f"  {x}" in r.stdout for x in fields), r.stdout


@pytest.mark.parametrize("delimiter", [":", "~|~", "|~|", "^|^"])
def test_other_delimiters(tmp_path, saltmill, delimiter):
    lines = [["name", "home", "n"], *([f"user{i}", f"/home/u {i}-x", str(i * 7)] for i in range(9))]
    r = init(saltmill, tmp_path, "".join(delimiter.join(x) + "\n" for x in lines).encode())
    assert r.returncode == 0 and f"    delimiter: '{delimiter}'\n" in r.stdout, r.stdout + r.stderr
    expected = [dict(zip(lines[0], [*x[:2], int(x[2])])) for x in lines[1:]]
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


@pytest.mark.parametrize("line", ["at 2026-11-03 10:%02d:00 a b", "http://host:80/%d", "00:1a:2b:3c:4d:%02d", "10:20:%02d"])
def test_colons_of_times_and_addresses_are_no_delimiters(tmp_path, saltmill, line):
    r = init(saltmill, tmp_path, "".join(line % (i + 10) + "\n" for i in range(9)).encode())
    assert "delimiter: ':'" not in r.stdout, r.stdout


def test_folders_of_hive_are_columns(tmp_path, saltmill):
    for day, hour, rows in (("2026-11-01", "a%2Fb", "1,x\n2,y\n"), ("2026-11-02", "__HIVE_DEFAULT_PARTITION__", "1,x\n4,z\n")):
        (tmp_path / f"t/dt={day}/kind={hour}").mkdir(parents=True)
        (tmp_path / f"t/dt={day}/kind={hour}/part-0.csv").write_text("id,v\n" + rows)
    (tmp_path / "t/_SUCCESS").touch()
    r = subprocess.run([saltmill, "init", "t"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and "    files: ['t/*/*/*']\n    partitions: [dt, kind]" in r.stdout, r.stdout + r.stderr
    day = lambda d: {"dt": f"2026-11-0{d}T00:00:00.000Z"}
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order([
        {"id": 1, "v": "x", "kind": "a/b"} | day(1), {"id": 2, "v": "y", "kind": "a/b"} | day(1),
        {"id": 1, "v": "x"} | day(2), {"id": 4, "v": "z"} | day(2)])
    (tmp_path / "t/dt=2026-11-02/kind=__HIVE_DEFAULT_PARTITION__/part-0.csv").write_text("id,dt\n1,x\n")
    (tmp_path / "t/dt=2026-11-01/kind=a%2Fb/part-0.csv").write_text("id,dt\n1,x\n")
    r = subprocess.run([saltmill, "init", "t"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 1 and "found the column `dt` in the files and in the names of the folders" in r.stderr


def test_confidence_is_measured(tmp_path, saltmill):
    """Each figure is counted by hand: 1 of 4 rows lacks a value, 2 of 4 days are at most 12, and commas are in 4 of 5 lines."""
    r = init(saltmill, tmp_path, b"Nr;Datum;Betrag\n1;13/01/2025;1,50\n2;02/03/2025;12,00\n3;05/04/2025;7,25\n4;14/04/2025\n")
    assert "    # delimiter ';': 80 % of the rows have 3 values\n" in r.stdout
    assert "    # header: 100 %, as 3 of 3 columns show\n" in r.stdout
    assert "day and month: 100 %; next: the other order 50 %" in r.stdout
    assert "    decimal: ','   # 2 columns of numbers; next: decimal: '.' 1\n" in r.stdout


def test_the_second_delimiter_has_its_share(tmp_path, saltmill):
    rows = b"".join(b"%d|a;b|%d\n" % (i, i * 7) if i % 4 else b"%d|c|%d\n" % (i, i * 7) for i in range(40))
    r = init(saltmill, tmp_path, b"id|pair;x|n\n" + rows)
    assert "    # delimiter '|': 100 % of the rows have 3 values; next: ';' 76 %\n" in r.stdout, r.stdout  # 31 of 41 lines


def test_units_of_time_have_their_range(tmp_path, saltmill):
    """date -u -d @1735689600 is 2025-01-01, and @1767225599 is 2025-12-31."""
    r = init(saltmill, tmp_path, b"id,ts\n" + b"".join(b"%d,%d\n" % (i, t) for i, t in enumerate((1735689600, 1740000000, 1767225599))))
    assert "unit: s}   # 3 different; 100 % are from 2025-01-01 to 2025-12-31\n" in r.stdout, r.stdout


def test_an_empty_column_between_bars_is_no_delimiter_of_two_bytes(tmp_path, saltmill):
    rows = "".join(f"{100 + i}||{i * 13 % 97}\n" for i in range(30))
    r = init(saltmill, tmp_path, b"city|code|flag\n" + rows.encode())
    assert r.returncode == 0 and "    delimiter: '|'\n" in r.stdout, r.stdout
    r = init(saltmill, tmp_path, b"1|x|5\n" + rows.encode(), "b.csv")
    assert "'||'" not in r.stdout
    r = init(saltmill, tmp_path, b"Sales 2026||||\nid||name||b\n1||x||2.5\n2||y||3.5\n3||z||4.5\n4||w||4.75\n", "c.csv")
    assert "delimiter: '||'" in r.stdout and "header: {find: [id, name, b]}" in r.stdout, r.stdout


def test_full_proves_the_whole_file(tmp_path, saltmill):
    """The last row is after the sample of 64 MiB. Only --full finds that its number does not fit."""
    wide = "x" * 1000
    with open(tmp_path / "in.csv", "w") as f:
        f.write("id,n,text\n")
        f.writelines(f"{i},{i * 7},{wide}\n" for i in range(70000))
        f.write("70000,many,x\n")
    r = subprocess.run([saltmill, "init", "in.csv"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    r = subprocess.run([saltmill, "init", "in.csv", "--full"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 3 and "# CHECK: the job rejects 1 rows of the file, the first in line 70002: " in r.stdout, r.stderr


def test_json_without_a_column_is_named(tmp_path, saltmill):
    data = b'{"a":1,"m":{},"z":{"q":{}}}\n{"a":2,"m":{},"z":{"q":{"r":5}}}\n'
    r = init(saltmill, tmp_path, data, "in.json")
    assert "    # not loaded, because all are {} or null: m\n" in r.stdout, r.stdout
    assert "'z.q.r': {type: u32}" in r.stdout


IIS = (b"#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-uri-stem cs-username sc-status\n"
       b"2026-01-03 00:00:01 /a.html - 200\n2026-01-03 00:00:02 /b.html bob 404\n2026-01-03 00:00:04 /c - 200\n")
PSQL = b" id | name | n\n----+------+----\n  1 | x    | 10\n  2 | y    | 20\n  3 | z    | 30\n(3 rows)\n"
FLOW = (b"version account-id interface-id srcaddr dstaddr bytes\n" + b"".join(b"2 1234 eni-%d 10.0.0.%d %s 5%d\n" % (
    i % 3, i, (b"-", b"10.0.1.1")[i % 2], i) for i in range(9)))
PRESETS = [
    ("mysql", b"1\tc\\nd\t\\N\n2\te\\Z\t6\n3\ta\\\tb\t7\n", 3),
    ("postgres_copy", b"1\tc\\vd\t\\N\n2\te\t6\n3\ta\\\tb\t7\n", 3),
    ("hive", b"1\x01a, b\x01\\N\n2\x01\\N\x015\n3\x01e\x016\n", 3),
    ("iis", IIS, 3), ("psql", PSQL, 3), ("vpc_flow", FLOW, 9),
    ("cloudtrail", b'{"Records": [' + b",".join(b'{"eventVersion":"1.1","eventSource":"s3","eventName":"Get","eventID":"a%d"}' % i for i in range(3)) + b"]}", 3),
    ("mongo", b'[{"_id":{"$oid":"5f00000000000000000000a1"},"n":1},\n{"_id":{"$oid":"5f00000000000000000000a2"},"n":2}]\n', 2),
    ("elasticsearch_bulk", b'{"index":{"_index":"a","_id":"1"}}\n{"n":1}\n{"index":{"_index":"a","_id":"2"}}\n{"n":2}\n', 2),
    ("debezium", b"".join(b'{"before":null,"after":{"id":%d},"source":{"connector":"mysql"},"op":"c","ts_ms":%d}\n' % (i, 1767441600000 + i) for i in range(3)), 3),
    ("nginx_json", b'{"remote_addr":"1.2.3.4","status":200,"body_bytes_sent":5,"http_referer":"-"}\n'
                   b'{"remote_addr":"1.2.3.5","status":404,"body_bytes_sent":7,"http_referer":"x"}\n', 2),
]


@pytest.mark.parametrize("preset,data,rows", PRESETS, ids=[x[0] for x in PRESETS])
def test_a_known_program_has_its_preset(tmp_path, saltmill, preset, data, rows):
    r = init(saltmill, tmp_path, data)
    assert f"    preset: {preset}   # see `saltmill help preset {preset}`\n" in r.stdout, r.stdout + r.stderr
    found = rows_of(tmp_path, saltmill, r.stdout)
    assert len(found) == rows
    if preset in ("iis", "nginx_json"):  # - is no value
        assert "-" not in [v for x in found for v in x.values()]


def test_other_programs_have_no_preset(tmp_path, saltmill):
    for name, data in (("a", b"id|n\n1|2\n2|3\n3|4\n"), ("b", b"a\tb\n1\t2\n2\t3\n"), ("c", b'{"op":"c","ts_ms":5}\n{"op":"d","ts_ms":6}\n')):
        assert "preset" not in init(saltmill, tmp_path, data, name).stdout


def test_ask_takes_a_key_that_differs_in_all_rows(tmp_path, saltmill):
    (tmp_path / "in.csv").write_bytes(b"owner,kind,id\n" + b"".join(b"o%d,k%d,%d\n" % (i % 2, i % 3, i) for i in range(12)))
    r = subprocess.run([saltmill, "init", "in.csv", "--ask", "owner = ?"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and "joins" not in r.stdout, r.stdout + r.stderr
    assert len(rows_of(tmp_path, saltmill, r.stdout)) == 12


def test_only_true_and_false_are_truth_values(tmp_path, saltmill):
    """NO may be Norway, and a later row may have a third answer beside yes and no."""
    r = init(saltmill, tmp_path, b"id,code,yes,flag\n1,NO,no,False\n2,NA,yes,True\n3,NO,no,False\n4,NA,yes,True\n5,NO,no,True\n")
    for field in ("code: {type: text}", "'yes': {type: text}", "flag: {type: bool}"):
        assert f"  {field}" in r.stdout, r.stdout


def test_grand_is_a_word_and_grand_total_is_a_total(tmp_path, saltmill):
    words = "".join(f"{w}\t{i}\n" for i, w in enumerate(["good", "glad", "grand", "great", "happy", "nice"]))
    assert init(saltmill, tmp_path, words.encode(), "words.txt").returncode == 0
    r = init(saltmill, tmp_path, f"{words}Grand total\t3\n{words}".encode(), "words.txt")
    assert r.returncode == 3 and "1 rows do not look like the others, the first in line 7" in r.stderr


@pytest.mark.parametrize("line, other", [
    ("2026-01-03 10:00:00,123 INFO [main] a.b: ready", "2026-01-03 10:00:01,123 WARN [p(2)] a.c: y"),
    ('10.0.0.1 - - [03/Nov/2025:22:15:09 +0000] "GET / HTTP/1.1" 200 5', '10.0.0.2 - - [03/Nov/2025:22:15:10 +0000] "GET /a HTTP/1.1" 404 -'),
])
def test_equal_lines_of_a_log_stay_apart(tmp_path, saltmill, line, other):
    r = init(saltmill, tmp_path, "\n".join([line, other, line, ""]).encode(), "a.log")
    assert r.returncode == 0 and "'key of $line'" in r.stdout, r.stderr
    assert len(rows_of(tmp_path, saltmill, r.stdout)) == 3


def test_short_quoted_rows_are_no_headings(tmp_path, saltmill):
    rows = b"".join(b'"%02d:%02d"%s\n' % (i % 24, i * 7 % 60, b'|"basalt %d"' % i if i % 10 else b"") for i in range(40))
    r = init(saltmill, tmp_path, b'"a"|"weight"\n' + rows)
    assert r.returncode == 3 and "    skip_matching: " not in r.stdout, r.stdout


def test_a_total_is_the_sum_of_its_column(tmp_path, saltmill):
    rows = b"".join(b"n%d,%d\n" % (i, i * 31) for i in range(9))
    r = init(saltmill, tmp_path, b"name,n\n" + rows + b"Total,1116\n")
    assert r.returncode == 0 and "skip_footer: 1" in r.stdout, r.stderr
    assert len(rows_of(tmp_path, saltmill, r.stdout)) == 9
    assert init(saltmill, tmp_path, b"name,n\n" + rows + b"Total,1115\n").returncode == 3


@pytest.mark.parametrize("lines", ['[1,"a",2.5]\n[2,"b",3.5]\n', '["id","name"]\n[1,"a, b"]\n', "[1]\n[2]\n[3]\n"])
def test_json_lists_in_lines(saltmill, tmp_path, lines):
    """CSV would read the brackets as parts of the values. The command of the message makes lines that init reads."""
    r = init(saltmill, tmp_path, lines.encode())
    assert r.returncode == 1 and "found lists without names in the lines" in r.stderr and r.stdout == "", r
    objects = "".join(json.dumps({"a": json.loads(x)[0]}) + "\n" for x in lines.splitlines())
    assert init(saltmill, tmp_path, objects.encode(), "lines.jsonl").returncode in (0, 3)


@pytest.mark.parametrize("lines", ["[a],1\n[b],2\n", "[1],x\n[2],y\n", "[section]\nkey=1\n"])
def test_brackets_that_are_no_json(saltmill, tmp_path, lines):
    assert "lists without names" not in init(saltmill, tmp_path, lines.encode()).stderr


@pytest.mark.parametrize("values,type", [
    (["1,05", "12,5", "7,25"], "decimal, scale: 2"),  # no number of a list begins with 0
    ([f"{20 + i},{i}" for i in range(9)], "decimal, scale: 1"),
    (["1,2", "3,4,5", "6"], "text"),
])
def test_commas_that_show_what_they_are(tmp_path, saltmill, values, type):
    r = init(saltmill, tmp_path, ("id\tv\n" + "".join(f"{i}\t{v}\n" for i, v in enumerate(values))).encode())
    assert r.returncode == 0 and f"  v: {{type: {type}}}" in r.stdout, r.stdout + r.stderr


def test_words_of_totals_in_lists_of_words(tmp_path, saltmill):
    """A total is not below the sum of the last two rows, and a row without numbers is none."""
    words = [f"word{i}" for i in range(40)]
    words[20], words[30] = "total", "end"
    r = init(saltmill, tmp_path, "".join(f"{w}\t{1000 - i}\n" for i, w in enumerate(words)).encode())
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order([{"c1": w, "c2": 1000 - i} for i, w in enumerate(words)])
    r = init(saltmill, tmp_path, "".join(f"{w}\t{1000 + 20000 * (w == 'total')}\n" for w in words).encode())
    assert r.returncode == 3 and "1 rows do not look like the others, the first in line 21" in r.stderr
    codes = [("aa", "Afar", "x"), ("ab", "Abkhaz", "x"), ("tot", "Totonac", ""), ("tr", "Turkish", "x"), ("uk", "Ukrainian", "y")]
    r = init(saltmill, tmp_path, "".join("code;name;kind\n" + "".join(";".join(x) + "\n" for x in codes)).encode())
    assert "do not look like" not in r.stderr, r.stderr


@pytest.mark.parametrize("data,expected", [
    ('id,st\n1,""A"" ST \n2,x\n3,""B"" RD \n', [{"id": 1, "st": '""A"" ST '}, {"id": 2, "st": "x"}, {"id": 3, "st": '""B"" RD '}]),
    ("id,sum\n1,'1'234'\n2,'22'456'\n3,'9'\n", [{"id": 1, "sum": "1'234"}, {"id": 2, "sum": "22'456"}, {"id": 3, "sum": "9"}]),
])
def test_quotes_inside_of_values(tmp_path, saltmill, data, expected):
    r = init(saltmill, tmp_path, data.encode())
    assert r.returncode == 0 and "    quotes: lenient" in r.stdout, r.stdout + r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


@pytest.mark.parametrize("values,numbers", [
    (["+1", "-1", "+1"], [1, -1, 1]),
    (["+000012.50", "-000003.25", "+123456.75"], [12.5, -3.25, 123456.75]),
    (["+491701234", "+4917099", "+49170"], None),  # telephone numbers
])
def test_numbers_with_plus(tmp_path, saltmill, values, numbers):
    r = init(saltmill, tmp_path, ("id,v\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values))).encode())
    assert r.returncode == 0, r.stderr
    found = rows_of(tmp_path, saltmill, r.stdout)
    assert in_order(found) == in_order([{"id": i, "v": v} for i, v in enumerate(numbers or values)])


@pytest.mark.parametrize("word", ["NA", "NULL", "\\N", "#N/A", "(null)", "<NA>", "<null>"])
def test_words_for_no_value(tmp_path, saltmill, word):
    """Numbers stay numbers. A word for "no value" in some rows is null."""
    numbers = {i: None if i % 9 == 0 else i * 37 % 1000 for i in range(1, 41)}
    r = init(saltmill, tmp_path, ("n,x\n" + "".join(f"{i},{word if x is None else x}\n" for i, x in numbers.items())).encode())
    assert r.returncode == 0, r.stderr
    assert {x["n"]: x.get("x") for x in rows_of(tmp_path, saltmill, r.stdout)} == numbers


@pytest.mark.parametrize("data,rows", [
    (b"sign;name\n!;bang\n#;hash\n$;dollar\n", [("!", "bang"), ("#", "hash"), ("$", "dollar")]),
    (b"color;name\n#ff0000;red\n#00ff00;green\n#0000ff;blue\n", [("#ff0000", "red"), ("#00ff00", "green"), ("#0000ff", "blue")]),
])
def test_rows_that_begin_with_a_number_sign(tmp_path, saltmill, data, rows):
    """Each # is a value of its own, or all rows begin with one. So no row is commented out."""
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 0, r.stderr
    assert sorted(tuple(sorted(x.values())) for x in rows_of(tmp_path, saltmill, r.stdout)) == sorted(tuple(sorted(x)) for x in rows)


def test_numbers_in_texts_of_json_keep_their_digits(tmp_path, saltmill):
    """A program with a fixed scale writes all of its digits. Other texts stay as they are."""
    docs = [{"id": i, "lat": t, "price": p} for i, (t, p) in enumerate([("7.1881", "1.50"), ("7.18", "22.25"), ("-7.1", "0.00")])]
    r = init(saltmill, tmp_path, "".join(json.dumps(d) + "\n" for d in docs).encode(), "in.jsonl")
    assert r.returncode == 0, r.stderr
    assert "\n  lat: {type: text}" in r.stdout and "\n  price: {type: decimal, scale: 2}" in r.stdout
    assert sorted(x["lat"] for x in rows_of(tmp_path, saltmill, r.stdout)) == ["-7.1", "7.18", "7.1881"]


@pytest.mark.parametrize("head", [
    "# made by a program\n# id name value\n",
    "# made by a program\n#\n#  id  name   value\n#---------------\n",
    "#id name value\n",
])
def test_names_in_a_comment_between_blanks(tmp_path, saltmill, head):
    data = head + " 1   ab   3.5\n 2   cd   4.5\n 13  ef  15.5\n"
    r = init(saltmill, tmp_path, data.encode(), "in.dat")
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(
        [{"id": i, "name": n, "value": v} for i, n, v in ((1, "ab", 3.5), (2, "cd", 4.5), (13, "ef", 15.5))])


@pytest.mark.parametrize("head", ["# made by us\n", "# lengths of rivers\n", "# id, name and value:\n"])
def test_a_sentence_in_a_comment_has_no_names(tmp_path, saltmill, head):
    r = init(saltmill, tmp_path, f"{head} 1   ab   3.5\n 2   cd   4.5\n 13  ef  15.5\n".encode(), "in.dat")
    assert "columns: [c1, c2, c3]" in r.stdout


@pytest.mark.parametrize("data", [
    b"DROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (\n  `id` int,\n  `n` varchar(20)\n);\nINSERT INTO `t` VALUES (1,'a'),(2,'b, c');\n",
    b"insert into t (id, n)\nvalues (1, 'a');\ninsert into t (id, n)\nvalues (2, 'b');\n",
    b"-- dump\n\nINSERT INTO `t` (`id`, `n`) VALUES\n(1, 'a'),\n(2, 'b');\n",
])
def test_statements_of_sql_are_refused_with_the_fix(tmp_path, saltmill, data):
    r = init(saltmill, tmp_path, data, "dump.sql")
    assert r.returncode == 1 and not r.stdout
    assert "found INSERT statements of SQL" in r.stderr and "mysql --batch" in r.stderr and "mysqldump --tab" in r.stderr


def test_a_table_of_statements_is_data(tmp_path, saltmill):
    data = b"id,query\n1,INSERT INTO t VALUES (1)\n2,SELECT 1\n3,DELETE FROM t\n"
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 0 and "query: {type: text}" in r.stdout, r.stderr


def squid_lines(n):
    """Lines in the native format of Squid: %9d.%03d %6d %s %s/%03d %d %s %s %s %s/%s %s."""
    return [("%9d.%03d" % (1762208109 + 29 * i, i * 7), "%6d" % (i * 997 % 9000), f"10.0.{i % 7}.{i}", ("TCP_MISS/200", "TCP_HIT/200")[i % 2],
             str(400 + i * 31), ("GET", "CONNECT")[i % 3 == 0], f"http://example.org/{i}", "-", ("HIER_DIRECT/192.0.2.7", "HIER_NONE/-")[i % 2],
             ("text/html", "image/png")[i % 3 == 0]) for i in range(n)]


def test_logs_of_words_without_names(tmp_path, saltmill):
    """Many rows of equally many words, with three columns of numbers, are no prose."""
    lines = squid_lines(40)
    r = init(saltmill, tmp_path, "".join(" ".join(x) + "\n" for x in lines).encode(), "access.log")
    assert r.returncode == 0, r.stderr
    found = [[str(x[f"c{i}"]) for i in (2, 3, 4, 5, 6, 7)] for x in rows_of(tmp_path, saltmill, r.stdout)]
    assert sorted(found) == sorted([x.strip() for x in line[1:7]] for line in lines)


def test_messages_of_a_log_are_refused(tmp_path, saltmill):
    lines = [f"{i}.5 {i % 7} sent {100 + i} bytes from {('John Smith', 'Mary Hart')[i % 2]} with {('tls', 'none')[i % 2]} now" for i in range(40)]
    r = init(saltmill, tmp_path, "\n".join(lines).encode(), "access.log")
    assert r.returncode == 1 and "lines of text without a delimiter" in r.stderr


def test_numbers_that_json_has_not(tmp_path, saltmill):
    """Python's json.dumps writes NaN and Infinity. The message has the fix."""
    docs = [{"id": i, "v": v} for i, v in enumerate((1.5, float("nan"), float("-inf"), 2.5))]
    r = init(saltmill, tmp_path, "".join(json.dumps(x) + "\n" for x in docs).encode(), "in.jsonl")
    assert r.returncode == 3 and "which has no NaN and no Infinity; replace them by null" in r.stderr
