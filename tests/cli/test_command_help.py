"""Tests the text below each command's options, which explains terms, exit statuses, and two examples that run."""

import re
import shlex
import shutil
import subprocess

import pytest

from loads import ROOT

# These commands need a cluster, a topic, a state or files of other examples. The test checks that each stops at the
# first missing thing.
ELSEWHERE = ["--hbase", "webhdfs:", "--table-dir", "--snapshot", "--state", "--rejects", "maps/", "described.txt", "region.hfile", "regions.txt", "/srv/", "clicks.yaml",
             "access.log.gz", "splits.txt", "old.yaml", "loans.yaml loans"]
TERMS = {"A bad event cannot": r"\bbad\b|\breject", "A filtered event is": r"\bfiltered\b", "A region is": r"\bregions?\b(?! server)",
         "Duplicates are": r"\bduplicates\b"}


@pytest.fixture(scope="module")
def helps(saltmill):
    overview = subprocess.run([saltmill, "help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  saltmill (\w+) ", overview, re.M)
    assert len(names) > 20
    return {n: subprocess.run([saltmill, n, "--help"], capture_output=True, text=True, check=True).stdout for n in names}


def test_the_overview_has_groups(saltmill):
    overview = subprocess.run([saltmill, "help"], capture_output=True, text=True, check=True).stdout
    groups = re.findall(r"^([A-Z][\w ,]+):\n((?:  .*\n)+)", overview, re.M)
    firsts = {title: re.match("  saltmill (\\w+)", lines).group(1) for title, lines in groups}
    assert firsts == {"Write and check a job": "init", "Load files": "load", "Load from Kafka": "stream",
                      "Choose regions, create tables": "plan", "Work with a live HBase": "apply",
                      "Read, compare and merge tables": "get", "Check what was written": "inspect", "Help": "help"}
    assert sum(lines.count("\n  saltmill ") + 1 for _, lines in groups) == len(re.findall("^  saltmill ", overview, re.M))


def parts(text):
    """Returns options, terms, statuses and examples."""
    options, rest = re.split(r"(?<=  --help, --version\n)", text)
    terms, rest = rest.split("\nExit status: ")
    statuses, examples = rest.split("\n\nExamples:\n")
    return options, terms, statuses, [line[2:] for line in examples.splitlines()]


def test_all_have_them(helps):
    for name, text in helps.items():
        options, terms, statuses, examples = parts(text)
        assert len(examples) == 2 and len(set(examples)) == 2, name
        assert re.match(r"0 ", statuses) and statuses.endswith("."), name
        for example in examples:
            assert example.startswith(f"saltmill {name}"), example
            for option in re.findall(r"(?<= )--?[a-z][a-z-]*", example):
                assert re.search(rf"{option}\b", options), (name, option)
        assert all(len(line) <= 120 for line in text.splitlines()), name


def test_how_a_command_decides(helps):
    """The text has at most five lines, and its sentences have at most 25 words."""
    told = {}
    for name, text in helps.items():
        for block in re.findall(r"\nHow it decides:\n((?:  .*\n)+)\n", text):
            told[name] = block
            assert block.count("\n") <= 5, name
            for sentence in re.split(r"(?<=[.;:]) ", " ".join(block.split())):
                assert len(sentence.split()) <= 25, (name, sentence)
    assert set(helps) - set(told) == {"help", "version"}


def test_terms_are_defined_where_they_are_met(helps):
    met = 0
    for name, text in helps.items():
        if name == "help":  # the example names values that other commands write
            continue
        options, terms, statuses, _ = parts(text)
        for term, word in TERMS.items():
            used = re.search(word, options + statuses) is not None
            met += used
            assert not used or term in terms, (name, term)
            assert used or term not in terms, (name, term)
    assert met > 20


def test_examples_run(saltmill, helps, tmp_path):
    """Each example that needs nothing else ends with the first status in its help. The program refuses no other example because of its arguments."""
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    ratings = "userId,movieId,rating,timestamp\n" + "".join(
        f"{u % 3 + 1},{u},4.5,{1_200_000_000 + u}\n" for u in range(200))
    for name in ("ratings.csv", "day2.csv"):
        (tmp_path / name).write_text(ratings)
    shutil.copy(ROOT / "conf" / "erp.csv", tmp_path / "export.csv")
    (tmp_path / "out").mkdir()

    def run(*words):
        return subprocess.run([saltmill, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    for made in (["load", "conf/timeseries_wide.yaml", "-o", "wide"], ["load", "conf/loans_open.yaml", "-o", "open"],
                 ["load", "conf/cdc.yaml", "-o", "changes"], ["load", "conf/timeseries_wide.yaml", "-o", "monday"],
                 ["load", "conf/timeseries_wide.yaml", "-o", "tuesday"]):
        assert run(*made).returncode == 0
    ran = 0
    order = ["load", "plan"] + [n for n in helps if n not in ("load", "plan")]
    for name in order:
        for example in parts(helps[name])[3]:
            line = example.replace("out/2026-11-21", "out/today")
            if name in ("scan", "verify", "report", "inspect"):
                line = re.sub(r"\bout\b", "out/today", line)
            words = shlex.split(line)[1:]
            if name == "inspect" and words[1].endswith("*"):
                words = ["inspect", *sorted(str(p) for p in (tmp_path / "out/today/ratings/hfiles/f").iterdir())]
            done = run(*words)
            assert not re.search("unknown option|usage: |ambiguous|found `", done.stderr), (example, done.stderr)
            if not any(thing in line for thing in ELSEWHERE):
                # lint may warn about rows made this way
                assert done.returncode in ((0, 3) if name == "lint" else (0,)), (example, done.stderr)
                ran += 1
    assert ran >= 20, ran
