"""These sets are further files of the packages in real.py, chosen at random among all files with a delimiter that no
other set uses. Python's csv gives the truth. The kind of a column follows from its values, before anybody looked at them.

A column is a number if all of its values are, and a time if all are ISO days or all are days of one order. `NA` and an
empty text are nulls there. In a text, `NA` may be either. `python3 tests/sets/more_real.py` draws the files again.
"""

import csv
import datetime
import functools
import gzip
import io
import pathlib
import random
import re
import zipfile

from real import CACHE, FOLDERS, PACKAGES, member
from truth import Set, made

FILES = """\
bokeh SampleSuperstore.csv.gz
bokeh airports.csv
bokeh anscombe.csv
bokeh browsers_nov_2013.csv
bokeh cows.csv
bokeh cycling.csv.gz
bokeh emissions.csv.gz
bokeh probly.csv
bokeh sea_surface_temperature.csv.gz
bokeh stocks.csv.gz
lifelines interval_diabetes.csv
lifelines kidney_transplant.csv
lifelines lung.csv
lifelines lymphoma.csv
lifelines mice.csv
lifelines panel_test.csv
lifelines psychiatric_patients.csv
lifelines regression.csv
lifelines stanford_heart.csv
lifelines waltons_dataset.csv
statsmodels anes96/anes96.csv
statsmodels ccard/src/ccard.csv
statsmodels elec_equip/elec_equip.csv
statsmodels elnino/elnino.csv
statsmodels fair/fair.csv
statsmodels fair/fair_pt.csv
statsmodels grunfeld/grunfeld.csv
statsmodels longley/longley.csv
statsmodels nile/nile.csv
statsmodels star98/star98.csv
vega airports.csv
vega iowa-electricity.csv"""

NULLS = ("", "NA")
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?")
ORDERS = "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d.%m.%Y", "%Y/%m/%d"


def is_number(v):
    return bool(NUMBER.fullmatch(v)) and bool(re.search(r"\d", v)) and not v.startswith("+")


def day(v, form):
    try:
        return datetime.datetime.strptime(v, form).isoformat()
    except ValueError:
        return None


def kind_of(values):
    """Returns the kind of a column, and the form of its days."""
    full = [v.strip() for v in values if v.strip() not in NULLS]
    if not full:
        return "x?", ""
    if all(is_number(v) for v in full):
        return "n", ""
    if all(v.lower() in ("true", "false") for v in full):
        return "b?", ""
    if all(re.fullmatch(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:?\d\d)?)?", v) for v in full):
        return "t?", "iso"
    forms = [f for f in ORDERS if all(day(v, f) for v in full)]
    return ("t?", forms[0]) if len(forms) == 1 else ("x", "")


def cell(v, kind, form):
    t = v.strip()
    if t in NULLS:
        return (None, v) if kind != "x" or not t else v
    if kind == "t?" and form != "iso":
        return (day(t, form), v)
    return (t, v) if kind != "x" else v


def rows_of(text):
    """Returns (rows, delimiter) if one delimiter gives all rows equally many values, otherwise None."""
    for d in ",;\t":
        rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=d) if r]
        if len(rows) > 3 and len(rows[0]) > 1 and {len(r) for r in rows} == {len(rows[0])}:
            return rows
    return None


def table(package, name):
    data = member(package, name)
    rows = rows_of((gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8-sig"))
    names = [x.strip() for x in rows[0]]
    named = not any(is_number(x) for x in names if x)
    rows = rows[1:] if named else rows
    kinds = [kind_of([r[k] for r in rows]) for k in range(len(names))]
    columns = [f"{n if named else f'c{k + 1}'}:{kind}" for k, (n, (kind, _)) in enumerate(zip(names, kinds))]
    body = [[cell(v, *k) for v, k in zip(r, kinds)] for r in rows]
    equal = len({tuple(r) for r in rows}) < len(rows)
    return Set((pathlib.Path(name).name, data), columns, body, named=named, refuse="two rows are equal" if equal else "")


for line in filter(None, FILES.split("\n")):
    package, _, name = line.partition(" ")
    made(f"{package} file: {name}")(functools.partial(table, package, name))


def draw():
    """Draws the files. Only the seed and the names decide, so nobody chose them."""
    used = pathlib.Path(__file__).with_name("real.py").read_text()
    found = []
    for package in sorted(PACKAGES):
        with zipfile.ZipFile(next(iter(sorted(CACHE.glob(PACKAGES[package] + "-*.whl"))))) as z:
            for i in z.infolist():
                path = i.filename.removeprefix(FOLDERS[package])
                plain = path.removesuffix(".gz")
                if path == i.filename or not plain.endswith((".csv", ".tsv", ".dat", ".tab")) or i.file_size > 500_000:
                    continue
                if pathlib.Path(path).name in used:
                    continue
                data = z.read(i)
                try:
                    text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8-sig")
                except ValueError:
                    continue
                if rows_of(text):
                    found.append(f"{package} {path}")
    return sorted(random.Random("saltmill more sets 27").sample(sorted(found), min(32, len(found))))


if __name__ == "__main__":
    print(*draw(), sep="\n")
