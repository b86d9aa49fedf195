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
