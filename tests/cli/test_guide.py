"""Tests the guide. Its chapters are short, the program prints them whole, and their commands give the output shown.

shown.py has the rules by which a chapter shows commands and files.
"""

import re
import subprocess

import pytest

import shown
from loads import ROOT
from test_points import is_there

CHAPTERS = {p.stem: p.read_text(encoding="utf-8") for p in sorted((ROOT / "conf" / "guide").glob("*.md"))}
LINES = 250
NAMES = {"files", "fields", "keys", "design", "regions", "kafka", "hbase", "hdfs-and-cloud", "security", "spark", "guarantees",
         "operations", "performance"}


def said(saltmill, *args):
    return subprocess.run([saltmill, "help", "guide", *args], capture_output=True, text=True, check=True).stdout


def words(text):
    """Returns the words of a text, without the characters between them."""
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_short_and_has_a_title(chapter):
    lines = CHAPTERS[chapter].splitlines()
    assert len(lines) <= LINES and all(len(line) <= 130 or line.startswith(("|", "    ")) for line in lines)
    assert re.fullmatch(r"# \S.{5,70}", lines[0])


def test_the_program_lists_them(saltmill):
    listed = dict(re.findall(r"^  (\S+) +(.*)$", said(saltmill), re.M))
    assert listed == {name: text.splitlines()[0][2:] for name, text in CHAPTERS.items()}
    assert "saltmill help guide" in subprocess.run([saltmill, "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_program_prints_all_words(saltmill, chapter):
    text = CHAPTERS[chapter]
    assert said(saltmill, chapter, "--format", "markdown") == text
    plain = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1", re.sub(r"^```.*$", "", text, flags=re.M))
    printed = re.sub(r"\(\s*saltmill\s+help\s+guide\s+[a-z-]+\s*\)|\(https?:\S+\)", "", said(saltmill, chapter))
    assert sorted(words(printed)) == sorted(words(plain))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_terminal_can_show_it(saltmill, chapter):
    """Lines have at most 80 columns. Code and longer words keep their lines."""
    for line in said(saltmill, chapter).splitlines():
        assert len(line) <= 80 or line.startswith("    ") or max(map(len, line.split())) > 28, line
        assert "**" not in line and "](" not in line, line


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_manual_page(saltmill, chapter):
    page = said(saltmill, chapter, "--format", "man")
    done = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-rLL=78n", "-P-cbou"], input=page, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert re.search(rf"saltmill-{chapter}\s+- ", done.stdout)
    # groff hyphenates, so remove the hyphens before the comparison of words
    bare = re.sub(r"\W+|_", "", done.stdout)
    for line in CHAPTERS[chapter].splitlines():
        if line.startswith("## "):
            assert re.sub(r"\W+|_", "", line) in bare, line


def test_no_such_chapter(saltmill):
    done = subprocess.run([saltmill, "help", "guide", "nosuch"], capture_output=True, text=True)
    assert done.returncode == 2 and "nosuch" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_commands(saltmill, flights_csv, tmp_path, chapter):
    shown.run_all(CHAPTERS[chapter], tmp_path, saltmill, flights_csv)


def test_each_server_command_has_its_test():
    for pattern, test in shown.ELSEWHERE:
        assert is_there(test + ".py"), (pattern, test)
    for text in CHAPTERS.values():
        for command, _ in shown.commands(text):
            if re.search("--hbase|--state|hdfs://|--apply|master1|spark-submit", command):
                assert shown.elsewhere(command), command


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_links_and_names(chapter):
    text = CHAPTERS[chapter]
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert link.startswith("https://") or link.removesuffix(".md") in NAMES or (ROOT / "conf" / "guide" / link).exists(), link
    for name in re.findall(r"`((?:conf|pipeline|tests)/[\w./@-]+)`", text):
        assert (ROOT / name).exists(), name


def test_keys_of_the_job_file(saltmill):
    """Each key in a piece of YAML is a key of the job file."""
    every = set(re.findall(r"^\| `([^`]+)` \|", (ROOT / "conf" / "README.md").read_text(), re.M))
    assert len(every) > 100
    for chapter, text in CHAPTERS.items():
        for piece in shown.job_pieces(text):
            assert shown.keys_of(piece) - every <= {"NAME"}, (chapter, shown.keys_of(piece) - every)
