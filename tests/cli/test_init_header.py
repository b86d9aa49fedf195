"""Tests of the lines around the names of columns: units below them, rulers, sentences, and lists without names."""

import pytest

from test_init_doubts import in_order, init, rows_of

STATIONS = [("Aachen", 12.5, 1013), ("Bonn", 9.25, 1009), ("Celle", 7.75, 1021), ("Essen", 8.5, 1017), ("Fulda", 6.25, 998)]
TEXT = [f"{name},{t},{p}" for name, t, p in STATIONS]
FOUND = [dict(zip(("station", "t", "p"), row)) for row in STATIONS]


@pytest.mark.parametrize("below, delimiter", [
    (["Units,degC,hPa"], ","),
    (["varchar;double;int"], ";"),
    (["Units,degC,hPa", "[0],air_t,air_p"], ","),
    (["# a comment", "-,degC,hPa"], ","),
    (["name,\xb0C,hPa", "", "text,real,int", "ok,mean,max"], ","),
    (["avg,mean,mean", "Units,degC,hPa"], ","),
])
def test_lines_of_units_below_the_names(tmp_path, saltmill, below, delimiter):
    text = "\n".join(["station,t,p".replace(",", delimiter), *below, *(x.replace(",", delimiter) for x in TEXT)]) + "\n"
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == 0 and "units or other names" in r.stdout, r.stdout + r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(FOUND)


@pytest.mark.parametrize("second", ["Unknown,missing,missing", "Aachen,cold,low", "Units,degC,17"])
def test_a_second_line_that_may_be_a_row_is_kept(tmp_path, saltmill, second):
    """One word everywhere, a value of another row, or a number: nothing shows that the line has units."""
    r = init(saltmill, tmp_path, "\n".join(["station,t,p", second, *TEXT, "Aachen,7.5,1003", ""]).encode())
    assert "units or other names" not in r.stdout and f"{len(TEXT) + 2} rows" in r.stdout, r.stdout


def test_a_title_above_the_names_is_no_header(tmp_path, saltmill):
    r = init(saltmill, tmp_path, "\n".join(["Weather 2026-01-03,,", "station,t,p", *TEXT, ""]).encode())
    assert "Weather" not in r.stdout.split("tables:")[1] and "units or other names" not in r.stdout


def test_a_ruler_shows_the_names(tmp_path, saltmill):
    """`2024` may be a value, but a ruler is below names only."""
    rows = [("ab", "x"), ("cd", "y"), ("ef", "z")]
    r = init(saltmill, tmp_path, "\n".join(["2024|kind", "-------", *("|".join(x) for x in rows), ""]).encode())
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order({"2024": a, "kind": b} for a, b in rows)


def test_sentences_above_numbers_between_blanks(tmp_path, saltmill):
    text = "Solar spectrum, taken from the tables of a laboratory\nBy using these data you agree to cite them.\n"
    r = init(saltmill, tmp_path, (text + "280.0   4.5E-3\n280.5   1.25E-2\n281.0   5.5E-1\n").encode(), "in.dat")
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(
        {"c1": a, "c2": b} for a, b in ((280, 0.0045), (280.5, 0.0125), (281, 0.55)))


def test_many_numbers_between_blanks(tmp_path, saltmill):
    rows = [[i * 1000 + k * k % 997 for k in range(300)] for i in range(4)]
    r = init(saltmill, tmp_path, "".join("  " + "  ".join(map(str, x)) + "\n" for x in rows).encode(), "in.txt")
    assert r.returncode == 0, r.stderr
    assert sorted(sorted(x.values()) for x in rows_of(tmp_path, saltmill, r.stdout)) == sorted(map(sorted, rows))


def test_a_list_whose_first_line_has_the_form_of_others_has_no_name(tmp_path, saltmill):
    lines = ["shapes/S#1.json", "shapes/T#12.json", "shapes/square", "shapes/cube_2.json", "shapes/U#3.json"]
    r = init(saltmill, tmp_path, "\n".join([*lines, ""]).encode(), "in.txt")
    assert r.returncode == 0, r.stderr
    assert sorted(x["line"] for x in rows_of(tmp_path, saltmill, r.stdout)) == sorted(lines)


def test_a_code_among_numbers_is_a_value(tmp_path, saltmill):
    """A word among numbers may be a heading, but A23 has a digit."""
    rows = [(f"k{i}", "A23" if i == 7 else str(i * 3)) for i in range(30)]
    r = init(saltmill, tmp_path, ("id,n\n" + "".join(f"{a},{b}\n" for a, b in rows)).encode())
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order({"id": a, "n": b} for a, b in rows)
    r = init(saltmill, tmp_path, ("id,n\n" + "".join(f"{a},{b}\n" for a, b in rows).replace("A23", "cold")).encode())
    assert r.returncode == 3 and "1 rows do not look like the others" in r.stderr


@pytest.mark.parametrize("head, names", [
    (',0', ("#1", "0")),
    (',0,1', ("#1", "0", "1")),
    ('"x"', ("row", "x")),
    ('"a","b c"', ("row", "a", "b c")),
    ('x,y,z', ("row", "x", "y", "z")),
])
def test_the_first_column_has_no_name(tmp_path, saltmill, head, names):
    """pandas writes an index below an empty name, and R writes row names without one."""
    rows = [[f"r{i}", i * i, 7 * i, i % 5 + 100][:len(names)] for i in range(9)]
    r = init(saltmill, tmp_path, "\n".join([head, *(",".join(map(str, x)) for x in rows), ""]).encode())
    assert r.returncode == 0, r.stdout + r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(dict(zip(names, x)) for x in rows)


def test_a_title_is_no_name_of_a_column(tmp_path, saltmill):
    """A title without quotes is above two values. A row without a last value shows that the names are complete."""
    r = init(saltmill, tmp_path, b"Report\n" + b"".join(b"k%d,%d\n" % (i, i * i) for i in range(9)))
    assert "Report" not in r.stdout.split("fields:")[1], r.stdout
    r = init(saltmill, tmp_path, b"x,y\n" + b"".join(b"k%d,%d,%s\n" % (i, i * i, b"" if i == 5 else b"1") for i in range(9)))
    assert "row" not in r.stdout.split("fields:")[1].split("tables:")[0], r.stdout


def test_codes_with_digits_among_numbers(tmp_path, saltmill):
    """Corsica is 2A and 2B among French departments."""
    rows = [(f"{n:02d}", f"{n:03d}", n * n) for n in range(1, 90)] + [("2A", "02A", 5), ("2B", "02B", 6)]
    r = init(saltmill, tmp_path, ("code,code3,n\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)).encode())
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(dict(zip(("code", "code3", "n"), x)) for x in rows)


def test_numbers_of_other_rows_are_no_fixed_width(tmp_path, saltmill):
    """A list of neighbours has other numbers of values in each line, so a position has no meaning."""
    lines = ["7 ", "1 7 45 51 53 54", "2 19 28 29 32 38 48", "3 43 46 52", "4 6 43", "6 4 30 34 37 43 49", "8 20 36 41 50 52 55 56"]
    assert init(saltmill, tmp_path, "\n".join([*lines, ""]).encode(), "in.txt").returncode == 1


@pytest.mark.parametrize("data", [
    b"2025||weight\n" + b"".join(b"%d||%s\n" % (1000001 + i, w) for i, w in enumerate([b"amber", b"cedar", b"delta", b"ember"])),
    b"2024\trate\n" + b"".join(b"#%06x\t%d\n2024\trate\n" % (i * 777777, i) for i in range(12)),
])
def test_what_may_be_names_is_marked(tmp_path, saltmill, data):
    assert init(saltmill, tmp_path, data).returncode == 3


@pytest.mark.parametrize("data, expected", [
    (b'sku,title,n\nS1,Pipe 2" steel,7\nS2,TV 41" flat,5\nS3,Rope,6\n',
     [{"sku": "S1", "title": 'Pipe 2" steel', "n": 7}, {"sku": "S2", "title": 'TV 41" flat', "n": 5}, {"sku": "S3", "title": "Rope", "n": 6}]),
    (b"+----+------+\n| id | name |\n+----+------+\n|  1 | Ana  |\n|  2 | Bo   |\n|  3 | Cy   |\n+----+------+\n3 rows in set (0.00 sec)\n",
     [{"id": 1, "name": "Ana"}, {"id": 2, "name": "Bo"}, {"id": 3, "name": "Cy"}]),
    (b"| pkg | n |\n|:---|---:|\n| lib0 | 9 |\n| lib1 | 8 |\n| lib2 | 7 |\n",
     [{"pkg": "lib0", "n": 9}, {"pkg": "lib1", "n": 8}, {"pkg": "lib2", "n": 7}]),
    (b"Series:    U1\n\nid,year,v,\nU1,1959,5.8\nU1,1960,5.1\nU1,1961,5.25\n",
     [{"id": "U1", "year": 1959, "v": 5.8}, {"id": "U1", "year": 1960, "v": 5.1}, {"id": "U1", "year": 1961, "v": 5.25}]),
    (b"gene\tstart\tend\tnote\tby\nG0\t0\t14\tok\tens\nG1\t10\t12\nG2\t20\t29\nG3\t30\t36\tok\nG4\t40\t41\n",
     [{"gene": "G0", "start": 0, "end": 14, "note": "ok", "by": "ens"}, {"gene": "G1", "start": 10, "end": 12},
      {"gene": "G2", "start": 20, "end": 29}, {"gene": "G3", "start": 30, "end": 36, "note": "ok"}, {"gene": "G4", "start": 40, "end": 41}]),
])
def test_forms_of_tables(tmp_path, saltmill, data, expected):
    """Inch marks; MySQL and Markdown between bars; a delimiter after the last name; rows without their last values."""
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 0, r.stdout + r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


CODES = [a + b for a in "AB" for b in "BCDEFGHIJKLMNO"]
NAMES = ("Ann Hill", "Bo", "Cy Lee", "d'Arc", "Ed Vu", "Flo-X")


def lines(rows):
    return "".join("\t".join(x) + "\n" for x in rows).encode()


@pytest.mark.parametrize("data,names,rows", [
    # codes in order, of which the first row has the first
    (lines((c, NAMES[i % 6]) for i, c in enumerate(CODES)), ["c1", "c2"], 28),
    (lines((chr(0x1F600 + i), NAMES[i % 6].lower()) for i in range(30)), ["c1", "c2"], 30),
    # E and T are names
    (b"# scores\n   A     C     T     E\n" + b"".join(b"%c  %.4f -1.00 2.50 %.2f\n" % (65 + i, i, i / 4) for i in range(5)),
     ["row", "A", "C", "T", "E"], 5),
    # the types of ClickHouse's TSVWithNamesAndTypes, with and without backslashes
    (b"id\tmethod\tnote\nUInt64\tLowCardinality(String)\tNullable(String)\n" + b"".join(
        b"%d\tGET\t%s\n" % (i, b"\\N" if i % 3 else b"a\\tb") for i in range(9)), ["id", "method", "note"], 9),
    (b"id\tmethod\tat\nUInt64\tString\tDateTime64(3)\n" + b"".join(
        b"%d\tGET\t2026-01-01 00:00:0%d\n" % (i, i) for i in range(3)), ["id", "method", "at"], 3),
])
def test_first_rows_that_show_what_they_are(tmp_path, saltmill, data, names, rows):
    r = init(saltmill, tmp_path, data)
    assert r.returncode == 0, r.stderr
    found = rows_of(tmp_path, saltmill, r.stdout)
    assert len(found) == rows and set().union(*found) == set(names)


@pytest.mark.parametrize("name", ["id", "code", "ISO", "AA"])
def test_a_name_above_codes_is_no_code(tmp_path, saltmill, name):
    """Without other evidence, init does not take a name as the first code."""
    rows = ((c, NAMES[i % 6]) for i, c in enumerate(CODES if name != "AA" else CODES[20:] * 2))
    r = init(saltmill, tmp_path, lines([(name, "name"), *rows]))
    assert r.returncode == 3 or set().union(*rows_of(tmp_path, saltmill, r.stdout)) == {name, "name"}, name


@pytest.mark.parametrize("word", ["Infinity", "-inf", "INF"])
def test_infinite_numbers_are_no_names(tmp_path, saltmill, word):
    """The first row has infinite numbers. All rows are loaded, as text, because no number type has these values."""
    rows = [("0.0", word, word)] + [(f"{i / 100}", f"{45885.065 / i:.6f}", f"{i * 7 % 40 + 0.5}") for i in range(1, 60)]
    r = init(saltmill, tmp_path, "".join("  ".join(x) + "\n" for x in rows).encode())
    assert r.returncode == 0 and r.stdout.count("numbers, of which some are infinite, so only text fits") == 2, r.stdout + r.stderr
    loaded = rows_of(tmp_path, saltmill, r.stdout)
    assert in_order(loaded) == in_order([{"c1": float(x), "c2": y, "c3": z} for x, y, z in rows])


@pytest.mark.parametrize("inside", ["\n", "\r\n", "\r\n\r\n"])
def test_line_ends_within_names(tmp_path, saltmill, inside):
    """Names of several lines keep their own line ends, also if the rows end otherwise."""
    names = [f"people{inside}(thousands)", "year", f"area{inside}(km2)"]
    text = ",".join(f'"{n}"' for n in names) + "\r\n" + "".join(f"{1000 + 7 * i},{1990 + i},{i * 31 % 17}.5\r\n" for i in range(30))
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == 0, r.stderr
    printed = [n.replace("\r", "\\x0D").replace("\n", "\\x0A") for n in names]  # as scan prints qualifiers
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(
        [dict(zip(printed, (1000 + 7 * i, 1990 + i, i * 31 % 17 + 0.5))) for i in range(30)])


@pytest.mark.parametrize("end", ["", "&\n"])
def test_directives_of_a_plot_are_no_rows(tmp_path, saltmill, end):
    """GROMACS writes such files for Grace."""
    rows = [(i * 0.5, -1000.25 - i * 7 % 31) for i in range(80)]
    head = '# GROMACS\n#\n@    title "Energy"\n@    xaxis  label "Time (ps)"\n@TYPE xy\n'.replace("TYPE", "type")
    head += '@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ s0 legend "Potential"\n'
    r = init(saltmill, tmp_path, (head + "".join(f"{x:12.6f}  {y:.6f}\n" for x, y in rows) + end).encode(), "energy.xvg")
    assert r.returncode == 0 and "skip_matching: '^@[ a-z]|^&$'" in r.stdout, r.stdout + r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order([{"c1": x, "c2": y} for x, y in rows])


def test_two_plots_in_a_file_are_not_one_table(tmp_path, saltmill):
    """Grace ends a set with &, and the next set has its own directives."""
    text = "@type xy\n" + "".join(f"{i}.5 {i * 3}\n" for i in range(40)) + "&\n@type xy\n" + "".join(f"{i}.5 {i * 5}\n" for i in range(40))
    assert init(saltmill, tmp_path, text.encode()).returncode in (1, 3)
