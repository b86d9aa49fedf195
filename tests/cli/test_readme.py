"""Tests README.md. It is short, its commands print the shown output, its links have targets, and its picture is
complete. shown.py has the rules by which README.md shows commands. tests/hbase/test_session.py runs the session with
HBase.
"""

import re
import xml.etree.ElementTree

import shown
from loads import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = 200


def test_it_is_short():
    assert len(TEXT.splitlines()) <= LINES


def test_what_it_shows_is_printed(saltmill, flights_csv, tmp_path):
    assert shown.run_all(TEXT, tmp_path, saltmill, flights_csv) >= 6
    assert [c.split()[1] for c, _ in shown.commands(TEXT) if c.startswith("saltmill ")][:6] == [
        "init", "check", "plan", "load", "scan", "apply"]


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) > 8
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link
    for name in re.findall(r"`((?:conf|pipeline|tests)/[\w./@-]+)`", TEXT):
        assert (ROOT / name).exists(), name


def test_each_chapter_is_in_its_table():
    chapters = {f"conf/guide/{p.name}" for p in (ROOT / "conf" / "guide").glob("*.md")}
    linked = re.findall(r"\]\((conf/guide/[^)]+)\)", TEXT.split("## Documentation")[1].split("\n## ")[0])
    assert set(linked) == chapters and len(linked) == len(chapters)


def test_the_picture():
    tree = xml.etree.ElementTree.parse(ROOT / "conf" / "data-path.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert tree.find(space + "title").text and tree.find(space + "desc").text
    assert "prefers-color-scheme: dark" in tree.find(space + "style").text
    left, top, width, height = map(float, tree.get("viewBox").split())
    boxes = [[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in tree.iter(space + "rect")]
    for x, y, w, h in boxes:
        assert left <= x and x + w <= width and top <= y and y + h <= height
        others = [b for b in boxes if b != [x, y, w, h]]
        assert not any(x < b[0] + b[2] and b[0] < x + w and y < b[1] + b[3] and b[1] < y + h for b in others)
