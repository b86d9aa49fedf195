"""These sets are files of a fourth draw, by producers that no other set uses. fourth.py lists the packages, and orders them.

`python3 tests/sets/packages.py` downloads the packages. README.md describes the rule. Python's csv, its json or a function
of a line gives the truth, which was written before anybody ran init on a file. A shuffle of the names decides their halves.
"""

import csv
import datetime
import functools

import fourth
from packages import records, register, texts
from truth import SEALED, SETS

deb = functools.partial(register, "deb", texts)
deb_json = functools.partial(register, "deb", records)
pip = functools.partial(register, "pip", texts)
pip_json = functools.partial(register, "pip", records)
node = functools.partial(register, "npm", texts)
npm = functools.partial(register, "npm", records)
go = functools.partial(register, "go", texts)
OTHERS = frozenset(SETS)


def readings(*args, numerals=(), form="", dated=(), **how):
    """Reads records of JSON. Texts in columns that end in `numerals` may be numbers, and in `dated` may be times of `form`."""
    s = records(*args, **how)
    columns, rows = s.tables[0]
    for i, (name, _) in enumerate(columns):
        if numerals and name.endswith(numerals):
            columns[i] = (name, "n?")
        if dated and name.endswith(dated):
            columns[i] = (name, "t?")
            for r in rows:
                r[i] = (f"{datetime.datetime.strptime(r[i], form):%Y-%m-%dT%H:%M:%S%z}", r[i]) if r[i] else r[i]
    return s


# ---- Debian ----

WANNIER = "usr/share/doc/wannier90/examples/example24/reference"
BLANKS = dict(header=False, cut=str.split)
deb("bands between blank lines, gzip", "wannier90-data", WANNIER + "/Te_band.dat.gz", "n", **BLANKS)
deb("tensor under comments, gzip", "wannier90-data", WANNIER + "1/Te-gyrotropic-D.dat.gz", "n", skip=4, **BLANKS)
DENSITY = WANNIER + "/Te-gyrotropic-DOS.dat.gz"
deb("density of states under comments, gzip", "wannier90-data", DENSITY, "n", skip=3, **BLANKS)
for title, name in ("heights", "height"), ("survival", "coxph_data"), ("diagnoses", "logist_data"):
    path = f"usr/share/doc/probabel/examples/{name}.txt.gz"
    deb(f"{title} between blanks, gzip", "probabel-examples", path, nulls=("NA",), cut=str.split)
YEAST = "usr/share/doc/seriation-data/Saccharomyces_cerevisiae.dat.gz"
deb("pairs of proteins of yeast, gzip", "seriation-data", YEAST, "x", **BLANKS)
GAP = "usr/share/doc/mindthegap/examples/test/"
CONTIGS = GAP + "contig_test/gold.info.txt"
deb("contigs with rows of two lengths", "mindthegap-examples", CONTIGS, "x x n", header=False, delimiter="\t")
INSERTIONS = GAP + "full_test/gold.insertions.vcf"
VCF = dict(delimiter="\t", comment="##", nulls=(".",), quote=None)
deb("insertions", "mindthegap-examples", INSERTIONS, "x n x x x n x", **VCF)
APBS = "usr/share/apbs/tools/conversion/param/"
AMBER = APBS + "vparam/vparam-amber-parm94.dat"
deb("parameters under comments", "apbs-data", AMBER, "x x n", comment="#", **BLANKS)
NODES = "usr/share/cp2k/NNP/bulkH2O-jcp2020-cnnp/"
WEIGHTS = NODES + "nnp-5/weights.001.data"
deb("weights under comments", "cp2k-data", WEIGHTS, "n x n", comment="#", **BLANKS)
deb("scales under comments", "cp2k-data", NODES + "nnp-4/scaling.data", "n", comment="#", **BLANKS)
TARGETS = "usr/share/doc/mosdepth-examples/empty-tids.bed"
deb("targets of BED", "mosdepth-examples", TARGETS, header=False, delimiter="\t")

# ---- PyPI ----

NOTES = "four lines of headings precede the rows, and notes follow them"
ACTIVATION = "periodictable/activation.dat"
pip("activation under headings", "periodictable", ACTIVATION, header=False, skip=4, end=518, delimiter="\t", refuse=NOTES)
for title, name in ("raw penguins", "penguins-raw"), ("penguins", "penguins"):
    pip(title, "palmerpenguins", f"palmerpenguins/data/{name}.csv", nulls=("NA",))
SIL = "iso639/_data/iso-639-3"
pip("names of languages", "python_iso639", SIL + "_Name_Index.tab", delimiter="\t", quote=None)
pip("languages", "python_iso639", SIL + ".tab", delimiter="\t", quote=None)
pip("retired languages", "python_iso639", SIL + "_Retirements.tab", delimiter="\t", quote=None)
pip("nicknames", "nicknames", "nicknames/names.csv")

# ---- npm ----

npm("emoji by name", "wemoji", "lib/wemoji.json", "*")
STATES = "src/country-state-city/lib/state.json"
register("npm", readings, "states with numbers as texts", "countrycitystatejson", STATES, numerals=("country_id",))
npm("holidays in a document", "holiday-calendar", "data/CN/2011.json", "dates")
npm("symbols of currencies", "currency-symbol", "lib/countries.json")
npm("colors of crayons", "crayola", "colors.json")
npm("languages with lists", "wikidata-lang", "data/languages.json")
npm("languages by code", "@textabledev/langs-flags-list", "lang-flags.json", "*")
LISTS = "data/countries/"
npm("countries in Danish", "world_countries_lists", LISTS + "da/countries.json")
node("countries in German", "world_countries_lists", LISTS + "de/world.csv")
node(
    "countries in statements of MySQL",
    "world_countries_lists",
    LISTS + "da/world.sql",
    "n x",
    header=False,
    cut=lambda x: next(csv.reader([x.strip().rstrip(",;")[1:-1]])) if x.startswith("(") else [],
)
POLTAVA = "dist/data/Ukraine-UA/Poltavska-53/cities.json"
PLACES = "latitude", "longitude", "state_code"
register("npm", readings, "cities of Poltava with numbers as texts", "@countrystatecity/countries", POLTAVA, numerals=PLACES)
npm("types of media by name", "mime-format", "db.json", "*")
npm("emoji with lists", "@dialpad/dialtone-emojis", "src/people-medium-dark.json")
npm("time zones", "timezones-list", "dist/timezones.json")
npm("cities", "bootstrap-list-filter", "examples/cities.json")

# ---- Go ----

register(
    "go",
    readings,
    "tweets in a document",
    "github.com/valyala/fastjson",
    "testdata/twitter.json",
    "statuses",
    numerals=("id_str",),
    dated=("created_at",),
    form="%a %b %d %H:%M:%S %z %Y",
)
CHARTS = "chartdraw/"
COLORS = CHARTS + "_colors/colors_extended.txt"
go("colors with lists", "github.com/go-analyze/charts", COLORS, "x", header=False, delimiter="\t")
go("seconds of requests", "github.com/go-analyze/charts", CHARTS + "examples/request_timings/requests.csv", header=False)

NAMES = frozenset(SETS) - OTHERS
SEALED |= {name: name in fourth.DRAW.held_out(NAMES) for name in NAMES}
