"""These sets are files of Debian packages. `python3 tests/sets/packages.py` downloads the packages into the cache folder.

Python's csv or a function of a line reads the rows. A comment of the file or its manual page documents the columns. The
name of a set decides its half, as truth.half does for all sets: nobody has seen init read a file before it got a half.
"""

import functools
import re

from packages import delimited, documents, inflated, member, register, table
from truth import made

debian = functools.partial(register, "deb", delimited)
GNUPLOT = "usr/share/doc/gnuplot/examples/"
FREAD = "usr/lib/R/site-library/data.table/tests/"
READR = "usr/lib/R/site-library/readr/extdata/"
UCD = "usr/share/unicode/"
BABEL = "usr/share/openbabel/3.1.1/"
MISC = "usr/share/misc/"
GDAL = "usr/share/gdal/"


def fixed(*edges):
    """Cuts a line at columns."""
    return lambda x: [x[a:b].strip() for a, b in zip(edges, [*edges[1:], None])]


def remarked(delimiter, keep=True):
    """Cuts at a delimiter, and takes the text after a number sign as a value of its own."""

    def cut(line):
        body, _, remark = line.partition("#")
        parts = [v.strip() for v in body.split(delimiter)]
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
        return [*parts, remark.strip() or None] if keep else parts

    return cut


# ---- CSV and other delimiters ----

debian("releases of Debian with short rows", "distro-info-data", "usr/share/distro-info/debian.csv", "n? x x t")
debian("releases of Ubuntu with short rows", "distro-info-data", "usr/share/distro-info/ubuntu.csv", "x x x t")
debian("small blocks of addresses", "ieee-data", "usr/share/ieee-data/iab.csv", "x")
debian("medium blocks of addresses", "ieee-data", "usr/share/ieee-data/mam.csv", "x")
debian("centers of weather", "gdal-data", GDAL + "grib2_center.csv", "n x")
debian("table of GRIB with rules as rows", "gdal-data", GDAL + "grib2_table_4_2_0_1.csv", "n x x x x")
debian("datums", "gdal-data", GDAL + "gt_datum.csv")
debian(
    "ellipsoids, padded",
    "gdal-data",
    GDAL + "gt_ellips.csv",
    "x x n n n",
    cut=lambda x: x.rsplit(",", 4),
    refuse="a value has the delimiter without quotes",
)
debian("ellipsoids with comments after the header", "gdal-data", GDAL + "ozi_ellips.csv", "x x n n", comment="#")
debian("attributes of charts", "gdal-data", GDAL + "s57attributes.csv", "n x x x x")
debian("input of charts", "gdal-data", GDAL + "s57expectedinput.csv", "n n x", encoding="latin-1", escape="\\")
debian("objects of charts with semicolons in values", "gdal-data", GDAL + "s57objectclasses.csv", "n x x x x x x x")
debian("state planes", "gdal-data", GDAL + "stateplane.csv")
debian(
    "agencies with free commas",
    "gdal-data",
    GDAL + "s57agencies.csv",
    "n x n x",
    header=False,
    comment="#",
    names="AgencyID Token Code AgencyName".split(),
    cut=lambda x: x.split(",", 3),
    refuse="a value has the delimiter without quotes",
)
debian("vendors of screens", "hwdata", "usr/share/hwdata/pnp.ids", "x x", delimiter="\t", header=False, quote=None)
debian("mirrors of CRAN with short rows", "r-base-core", "usr/share/R/doc/CRAN_mirrors.csv", "x x x x x x n x x")
debian(
    "morley under a header without the row names",
    "r-base-core",
    "usr/lib/R/library/datasets/data/morley.tab",
    "x n n n",
    header=False,
    skip=1,
    cut=str.split,
    names="row Expt Run Speed".split(),
    named=False,
)
debian(
    "energies in bars with a bar at the end",
    "libopenbabel7",
    BABEL + "atomization-energies.txt",
    "x n x x n n n x x",
    delimiter="|",
    header=False,
    skip=1,
    quote=None,
    cut=lambda x: x.split("|")[:9],
    names="atom charge method property T(K) Value spin_multiplicity unit reference".split(),
    named=False,
)
debian("angles after patterns", "libopenbabel7", BABEL + "torsion.txt", "x n", header=False, comment="#", cut=str.split)
debian("charges between tabs and blanks", "libopenbabel7", BABEL + "qeq.txt", "x n n n", header=False, comment="#", cut=str.split)
debian("ionization energies", "libopenbabel7", BABEL + "eqeqIonizations.txt", "n x n", delimiter="\t", header=False, comment="#")
debian("airports between colons", "miscfiles", MISC + "airport.gz", "x", delimiter=":", header=False, comment="#", quote=None)
debian("countries between colons", "miscfiles", MISC + "countries.gz", "x", delimiter=":", header=False, comment="#", quote=None)
debian(
    "area codes between colons",
    "miscfiles",
    MISC + "na.phone.gz",
    "n? x x x",
    delimiter=":",
    header=False,
    comment="#",
    quote=None,
)
debian(
    "services with a frequency",
    "nmap-common",
    "usr/share/nmap/nmap-services",
    "x x n x",
    header=False,
    comment="#",
    cut=remarked("\t"),
)
debian(
    "vendors after the first blank",
    "nmap-common",
    "usr/share/nmap/nmap-mac-prefixes",
    "x x",
    header=False,
    comment="#",
    cut=lambda x: x.split(" ", 1),
    refuse="a value has the delimiter without quotes",
)
debian(
    "vendors of arp-scan", "arp-scan", "etc/arp-scan/mac-vendor.txt", "x x", delimiter="\t", header=False, comment="#", quote=None
)
debian(
    "well-known addresses",
    "libwireshark-data",
    "usr/share/wireshark/wka",
    "x x",
    header=False,
    comment="#",
    cut=lambda x: re.split(r"\t+", x.partition("#")[0].strip()),
    refuse="a line has a remark only",
)
debian(
    "protocols with aliases and remarks",
    "netbase",
    "etc/protocols",
    "x n x x",
    header=False,
    comment="#",
    cut=lambda x: [*x.partition("#")[0].split(), *[None] * 3][:3] + [x.partition("#")[2].strip() or None],
    refuse="tabs and blanks separate columns of different numbers",
)
debian(
    "programs of RPC with aliases",
    "netbase",
    "etc/rpc",
    "x n x",
    header=False,
    comment="#",
    cut=lambda x: x.split(None, 2),
    refuse="the last column has blanks",
)
debian(
    "leap seconds with remarks",
    "tzdata",
    "usr/share/zoneinfo/leap-seconds.list",
    "n n x",
    header=False,
    comment="#",
    cut=lambda x: [*x.partition("#")[0].split(), x.partition("#")[2].strip()],
)
debian(
    "zones with comments, ragged",
    "tzdata",
    "usr/share/zoneinfo/zone.tab",
    "x",
    delimiter="\t",
    header=False,
    comment="#",
    quote=None,
)
debian(
    "longley under a page of text",
    "gretl-data",
    "usr/share/gretl/data/nist/Longley.dat",
    "n",
    skip=60,
    cut=str.split,
    header=False,
    refuse="a page of text and two tables precede the rows",
)
debian("recessions", "gretl-data", "usr/share/gretl/data/plotbars/nber.txt", "x", header=False, comment="#", cut=str.split)

# ---- Unicode ----

debian(
    "all characters",
    "unicode-data",
    UCD + "UnicodeData.txt",
    "x x x n x x n n x b x x x x x",
    delimiter=";",
    header=False,
    quote=None,
)
debian("radicals", "unicode-data", UCD + "CJKRadicals.txt", "x", delimiter=";", header=False, comment="#")
debian("sources of emoji", "unicode-data", UCD + "EmojiSources.txt", "x", delimiter=";", header=False, comment="#")
debian("aliases of names", "unicode-data", UCD + "NameAliases.txt", "x", delimiter=";", header=False, comment="#")
debian("shaping of Arabic", "unicode-data", UCD + "ArabicShaping.txt", "x", delimiter=";", header=False, comment="#")
debian(
    "case folding with remarks",
    "unicode-data",
    UCD + "CaseFolding.txt",
    "x x x x",
    header=False,
    comment="#",
    cut=lambda x: [v.strip() for v in x.partition("#")[0].split(";")[:3]] + [(x.partition("#")[2].strip())],
)
debian(
    "ideographs with numbers, bzip2",
    "unicode-data",
    UCD + "Unihan_NumericValues.txt.bz2",
    "x x x?",
    delimiter="\t",
    header=False,
    comment="#",
)
debian("ideographs of UTC", "unicode-data", UCD + "USourceData.txt", "x", delimiter=";", header=False, comment="#", quote=None)

# ---- data of gnuplot ----

debian("energy in the world with backslashes", "gnuplot-doc", GNUPLOT + "WorldEnergy.dat", "n n x n", delimiter="\t")
debian("battery with blanks at the end", "gnuplot-doc", GNUPLOT + "battery.dat", "n", header=False, cut=str.split)
debian("candlesticks, padded in tabs", "gnuplot-doc", GNUPLOT + "candlesticks.dat", "n", delimiter="\t", header=False)
debian(
    "cities with degrees",
    "gnuplot-doc",
    GNUPLOT + "cities.dat",
    "x x n n? n?",
    delimiter="\t",
    header=False,
    number=lambda v: v.rstrip("\u00b0"),
)
debian(
    "energy under a commented header",
    "gnuplot-doc",
    GNUPLOT + "energy_circles.dat",
    "n n x x n",
    delimiter="\t",
    header=False,
    comment="#",
)
debian(
    "prices of a stock without a header",
    "gnuplot-doc",
    GNUPLOT + "finance.dat",
    "t n",
    delimiter="\t",
    header=False,
    times="%m/%d/%Y",
)
debian("glass in blocks", "gnuplot-doc", GNUPLOT + "glass.dat", "n", header=False, comment="#", cut=str.split)
debian(
    "immigration with dashes and a tab at the end",
    "gnuplot-doc",
    GNUPLOT + "immigration.dat",
    "x n",
    comment="#",
    nulls=("-",),
    cut=lambda x: x.split("\t")[:24],
)
debian(
    "weather by the hour in columns", "gnuplot-doc", GNUPLOT + "using.dat", "t? x n", header=False, times="%y%m%d", cut=str.split
)
debian("silver with counts", "gnuplot-doc", GNUPLOT + "silver.dat", "n", header=False, cut=str.split)
debian("densities with exponents of three digits", "gnuplot-doc", GNUPLOT + "moli3.dat", "n", header=False, cut=str.split)
debian(
    "sound in two blocks",
    "gnuplot-doc",
    GNUPLOT + "soundvel.dat",
    "n",
    header=False,
    comment="#",
    cut=str.split,
    refuse="two tables are in the file",
)

# ---- files that broke R's fread ----

debian(
    "futures with zeros, padded in tabs",
    "r-cran-data.table",
    FREAD + "1206FUT.txt.bz2",
    "t? x x n? n? x n? x n? x n? x n? x n? x n? n? n? n? x",
    delimiter="\t",
    quote=None,
    times="%Y%m%d",
)
debian(
    "flights with NA",
    "r-cran-data.table",
    FREAD + "2008head.csv.bz2",
    "n n n n n n n n x n x n n n n n x x n n n n x n n",
    nulls=("NA",),
)
debian("body temperatures", "r-cran-data.table", FREAD + "ch11b.dat.bz2", "x n x n n", header=False, cut=str.split)
debian("weeks of days", "r-cran-data.table", FREAD + "isoweek_test.csv.bz2", "t n")
debian("crashes in New Jersey, padded", "r-cran-data.table", FREAD + "issue_1095_fread.txt.bz2", header=False, quote=None)
debian(
    "iterations with a tab at some ends",
    "r-cran-data.table",
    FREAD + "iterations.txt.bz2",
    "n",
    delimiter="\t",
    nulls=("-",),
    cut=lambda x: x.split("\t")[:4],
    refuse="rows have one value more than the header",
)
debian("estimates of NONMEM", "r-cran-data.table", FREAD + "issue_1113_fread.txt.bz2", "n", cut=str.split)
debian("quotes of futures, padded after tabs", "r-cran-data.table", FREAD + "issue_785_fread.txt.gz",
    "x x x t? n? n n n n n n x" + 20 * " n" + " x n", delimiter="\t", times="%Y%m%d")
debian("news with many empty columns", "r-cran-data.table", FREAD + "issue_2051.csv.gz")
debian(
    "days as 20161130 with an empty column",
    "r-cran-data.table",
    FREAD + "issue_2157_sampling_overlap.txt.gz",
    "x x t? n",
    times="%Y%m%d",
)
debian("balances with an empty day", "r-cran-data.table", FREAD + "issue_2157_sampling_reached_eof_early.txt.bz2", "t n")
debian(
    "index of Russell in Latin-1", "r-cran-data.table", FREAD + "russellCRLF.csv", "x t n n", times="%m/%d/%Y", encoding="latin-1"
)
debian(
    "bikes in Windows lines, all quoted",
    "r-cran-data.table",
    FREAD + "winallquoted.csv.bz2",
    "n n n t",
    times="%Y/%m/%d %H:%M:%S",
)
debian(
    "quotes inside quotes without escape",
    "r-cran-data.table",
    FREAD + "unescaped.csv",
    "n x x",
    skip=1,
    header=False,
    names=["No", "Comment", "Type"],
    cut=lambda x: [x[1:2], x[5:-5], x[-2:-1]],
    refuse="the quotes are not escaped",
)
debian(
    "locates with a head and a trailer",
    "r-cran-data.table",
    FREAD + "noquote.csv.gz",
    "x x n n n x n n x t",
    skip=1,
    end=-2,
    header=False,
    times="%m/%d/%Y %I:%M:%S %p",
    refuse="the first and the last line are records of other kinds",
)
debian("chickens", "r-cran-readr", READR + "chickens.csv", "x x n x")
debian("numbers that change after 1000 rows", "r-cran-readr", READR + "challenge.csv", "n t", nulls=("NA",))
debian(
    "ratings of football in columns",
    "r-cran-readr",
    READR + "massey-rating.txt",
    "n n n n n n n n n n n x x",
    cut=fixed(0, 4, 8, 12, 16, 20, 26, 30, 34, 38, 42, 47, 63),
)
debian("telephones after blanks", "r-cran-readr", READR + "whitespace-sample.txt", "x", cut=str.split)
debian("benchmark of taxis", "r-cran-vroom", "usr/lib/R/site-library/vroom/bench/taxi.tsv", "x x x x n", delimiter="\t")
debian(
    "packages of a session",
    "r-cran-vroom",
    "usr/lib/R/site-library/vroom/bench/session_info.tsv",
    "x x x x x b b t x b? x",
    delimiter="\t",
    nulls=("NA",),
)

# ---- genes ----

debian(
    "genes in BED",
    "bedtools-test",
    "usr/share/bedtools/data/knownGene.hg18.chr21.bed",
    "x n n x n x n n n n x x",
    delimiter="\t",
    header=False,
)
debian(
    "repeats in BED, gzip",
    "bedtools-test",
    "usr/share/bedtools/data/simpleRepeats.chr1.bed.gz",
    "x n n x n",
    delimiter="\t",
    header=False,
)
debian(
    "variants in VCF",
    "vcftools",
    "usr/share/doc/vcftools/examples/testdata/valid-4.1.vcf",
    "x n x x x n x x x",
    delimiter="\t",
    comment="##",
    nulls=(".",),
)
debian(
    "notes of variants",
    "vcftools",
    "usr/share/doc/vcftools/examples/testdata/annotate.txt",
    "n n n x x x x x n",
    delimiter="\t",
    header=False,
    nulls=(".",),
)


@made("samtools-test: reads in SAM")
def reads():
    data = member("deb:samtools-test", "usr/share/samtools/test/dat/mpileup.1.sam")
    rows = [x.split("\t", 11) for x in data.decode().splitlines() if not x.startswith("@")]
    rows = [[None if v == "*" else v for v in r] for r in rows]
    return table("mpileup.1.sam", data, "x n x n n x x n n x x x", None, rows, refuse="the tags of a read are not in columns")


# ---- keys and values after a first value ----


def keyed(package, path):
    data = member(f"deb:{package}", path)
    rows, names = [], ["id"]
    for x in data.decode().splitlines():
        if x.strip() and not x.startswith("#"):
            first, _, rest = x.partition(" ")
            pairs = dict(re.findall(r'(\w+)="([^"]*)"', rest))
            names += [n for n in pairs if n not in names]
            rows.append({"id": first} | pairs)
    rows = [[r.get(n) for n in names] for r in rows]
    return table(path, data, "x", names, rows, named=False, refuse="the first value has no key")


for file, title in (("at/postleitzahl.dat", "post codes of Austria"), ("cz/banks.dat", "banks of Czechia")):
    path = f"usr/lib/python3/dist-packages/stdnum/{file}"
    made(f"python3-stdnum: {title} with keys")(functools.partial(keyed, "python3-stdnum", path))


@made("miscfiles: cities in blocks")
def cities():
    data = member("deb:miscfiles", MISC + "cities.dat.gz")
    blocks = [b for b in inflated(".gz", data).decode("latin-1").split("//\n") if b.strip()]
    rows = [{k.strip(): v.strip() for k, _, v in (x.partition(":") for x in b.splitlines() if ":" in x)} for b in blocks]
    names = list(dict.fromkeys(n for r in rows for n in r))
    return table("cities.dat.gz", data, "auto", names, [[r.get(n) for n in names] for r in rows], refuse="a row has many lines")


@made("media-types: types with the ends of names")
def mime_types():
    data = member("deb:media-types", "etc/mime.types")
    rows = [x.split(None, 1) for x in data.decode().splitlines() if x.strip() and not x.startswith("#")]
    return table("mime.types", data, "x", None, rows, refuse="most rows have one value only")


@made("libwireshark-data: services between tabs")
def services():
    data = member("deb:libwireshark-data", "usr/share/wireshark/services")
    rows = []
    for x in data.decode().splitlines():
        if x.strip() and not x.startswith("#"):
            body, _, remark = x.partition("#")
            rows.append([*body.split()[:2], remark.strip() or None])
    return table("services", data, "x", None, rows, refuse="a remark is a column")


# ---- JSON ----

debian_json = functools.partial(register, "deb", documents)
ISO = "usr/share/iso-codes/json/iso_"
debian_json("scripts", "iso-codes", ISO + "15924.json", "alpha_4:x name:x numeric:x", "15924")
debian_json(
    "languages",
    "iso-codes",
    ISO + "639-3.json",
    "alpha_2:x alpha_3:x bibliographic:x common_name:x inverted_name:x name:x scope:x type:x",
    "639-3",
)
debian_json("subdivisions", "iso-codes", ISO + "3166-2.json", "code:x name:x type:x parent:x", "3166-2")
debian_json("families of languages", "iso-codes", ISO + "639-5.json", "alpha_3:x name:x", "639-5")
