"""These sets are files of a third draw, by producers that no other set uses. third.py lists the packages, and orders them.

`python3 tests/sets/packages.py` downloads the packages. README.md describes the rule. Python's csv, its json or a function
of a line gives the truth, which was written before anybody ran init on a file. The name of a set decides its half.
"""

import datetime
import functools

from packages import records, register, texts

deb = functools.partial(register, "deb", texts)
pip = functools.partial(register, "pip", texts)
pip_json = functools.partial(register, "pip", records)
npm = functools.partial(register, "npm", records)


def point(text):
    return text.replace(",", ".")


# ---- PyPI ----

pip("random trials", "psychopy", "psychopy/tests/data/corrFullRandom.csv")
pip("mental rotation", "psychopy", "psychopy/demos/builder/Experiments/mentalRotation/MentalRot.csv")
pip(
    "trial types with a decimal comma",
    "psychopy",
    "psychopy/tests/data/trialTypes_eu.csv",
    "x n n x n n",
    delimiter=";",
    number=point,
)
pip("frequencies of Thai words", "pythainlp", "pythainlp/corpus/tnc_freq.txt", "x n", delimiter="\t", header=False, quote=None)
pip("frequencies of Chinese words", "wordfreq", "wordfreq/data/jieba_zh.txt", "x n", header=False, cut=lambda x: x.split(" "))
LOGO = "logomaker/examples/"
pip("matrix of a logo", "logomaker", LOGO + "matrices/logomaker_logo_matrix.txt", delimiter="\t")
pip("counts of a protein domain under comments", "logomaker", LOGO + "matrices/ww_counts_matrix.txt", delimiter="\t", comment="#")
pip("splice sites under comments", "logomaker", LOGO + "datafiles/ss_sequences.txt", delimiter="\t", comment="#")
pip_json("algorithms by name", "pyod", "pyod/utils/knowledge/algorithms.json", "*")
pip_json("prototypes of crystals, gzip", "pymatgen", "pymatgen/analysis/prototypes/aflow_prototypes.json.gz")
pip_json("energies of compounds, gzip", "pymatgen", "pymatgen/analysis/compatibility/exp_compounds.json.gz")
pip("names of languages without a header", "language_data", "language_data/data/extra_language_names.csv", "x", header=False)
pip(
    "codes of languages between tabs",
    "language_data",
    "language_data/data/wiktionary/codes-en.csv",
    "x x x x x x x",
    delimiter="\t",
    header=False,
    quote=None,
)
pip_json("rosters of a match", "kloppy", "kloppy/tests/files/pff_rosters_3812.json")


def frames(*args):
    """Allows milliseconds in utc_time as times, too. The first judgement did not."""
    s = records(*args)
    columns, rows = s.tables[0]
    at = [n for n, _ in columns].index("utc_time")
    times = [f"{datetime.datetime.fromtimestamp(r[at] / 1000, datetime.timezone.utc):%Y-%m-%dT%H:%M:%S.%f}" for r in rows]
    typed = [(n, "t" if n == "utc_time" else k) for n, k in columns]
    s.tables.append((typed, [[*r[:at], (t, str(r[at])), *r[at + 1 :]] for r, t in zip(rows, times)]))
    return s


register("pip", frames, "frames of a match", "kloppy", "kloppy/tests/files/signality_p2_raw_data_subset.json")
pip_json("players", "kloppy", "kloppy/tests/files/impect_players.json")
pip_json("banks of Lithuania", "schwifty", "schwifty/bank_registry/generated_lt.json")
pip_json("banks of Norway in a document", "schwifty", "schwifty/bank_registry/generated_no.v2.json", "entries")
SKTIME = "sktime/datasets/data/"
pip("arrow heads without a header", "sktime", SKTIME + "ArrowHead/ArrowHead_TRAIN.tsv", "n", delimiter="\t", header=False)
pip("months of shampoo", "sktime", SKTIME + "ShampooSales/ShampooSales.csv", "x n")
pip("traffic with labels", "sktime", SKTIME + "yahoo/yahoo.csv")
pip(
    "vendors of addresses",
    "mac_vendor_lookup",
    "mac_vendor_lookup-0.1.15.data/data/cache/mac-vendors.txt",
    "x x",
    header=False,
    cut=lambda x: x.split(":", 1),
)

# ---- Debian ----

BANDAGE = "usr/share/doc/bandage/examples/"
deb("nodes with bad lines", "bandage-examples", BANDAGE + "test.csv", refuse="two lines are no rows")
deb("nodes of Trinity", "bandage-examples", BANDAGE + "test.Trinity.csv")
Q2 = "usr/lib/python3/dist-packages/q2_sample_classifier/tests/data/"
deb("importance of features", "q2-sample-classifier", Q2 + "importance_cv.tsv", delimiter="\t")
deb("predictions", "q2-sample-classifier", Q2 + "predictions.tsv", delimiter="\t")
deb("targets", "q2-sample-classifier", Q2 + "true_targets.tsv", delimiter="\t")
deb(
    "genome of yeast",
    "gbrowse-data",
    "var/lib/gbrowse/databases/yeast_chr1+2/yeast_chr1+2.gff3",
    "x x x n n n? x n? x",
    delimiter="\t",
    header=False,
    comment="#",
    nulls=(".",),
    quote=None,
)
LME = "usr/lib/R/site-library/lme4/testdata/"
deb("operators and parts", "r-cran-lme4", LME + "dat20101314.csv")
deb("doses between blanks", "r-cran-lme4", LME + "dataEx_Glmer.txt", cut=str.split)
deb("power of processors", "r-cran-lme4", LME + "hotpower.csv")
deb("lines of nitrogen", "mocassin-data", "usr/share/mocassin/data/Rniiold.dat", "n", header=False, cut=str.split)
MMSEQS = "usr/share/doc/mmseqs2/example-data/"


def scores(line):
    """Returns the values of a row of a matrix, whose header lacks the first name."""
    values = line.split()
    return ["", *values] if len(values[-1]) == 1 and values[-1].isalpha() else values


deb("scores of PAM under a comment", "mmseqs2-examples", MMSEQS + "PAM50.out", delimiter="\t", comment="#")
deb("scores of BLOSUM under comments", "mmseqs2-examples", MMSEQS + "blosum95.out", "x n", comment="#", cut=scores)
deb("scores of nucleotides under comments", "mmseqs2-examples", MMSEQS + "nucleotide.out", "x n", comment="#", cut=scores)
PURE = "usr/lib/R/site-library/PureCN/extdata/"
deb("mappability", "r-bioc-purecn", PURE + "ex2_mappability.bed", "x n n x n x", delimiter="\t", header=False, nulls=(".",))
deb("counts of alleles under a header of SAM", "r-bioc-purecn", PURE + "example_allelic_counts.tsv", delimiter="\t", comment="@")
deb("coverage between blanks", "r-bioc-purecn", PURE + "example_normal_tiny.txt", nulls=("NA",), cut=str.split)
deb("colors", "healpy-data", "usr/share/healpy/data/planck_cmap.dat", "n", header=False, cut=str.split)
deb("spectra of the sky", "healpy-data", "usr/share/healpy/data/totcls.dat", "n", header=False, cut=str.split)

# ---- npm and Go ----

npm("emoji", "emoji-datasource", "emoji.json")
npm("types of media by name", "mime-db", "db.json", "*")
register("go", records, "random people", "github.com/klauspost/compress", "gzip/testdata/test.json")
