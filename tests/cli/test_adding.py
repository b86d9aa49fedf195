"""Tests that a developer who adds a codec, a field type or a key part finds every place. The compiler or
pipeline/README.md must name each file.

The test adds a value to the enum in a copy of the tree. The compiler lists the switches that lack it. pipeline/README.md or the compiler must name each file that uses another value of the enum.
"""
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "pipeline" / "README.md").read_text()
FLAGS = ["-std=c17", "-D_GNU_SOURCE", '-DSALTMILL_VERSION="0"', "-Iinclude", "-Ipipeline", "-fsyntax-only", "-Wswitch-enum"]


def row(what):
    """Returns the files that the README names for the change. A bare name is in the folder of the name before."""
    cells = next(line for line in README.split("\n") if line.startswith(f"| {what} |")).split("|")
    files, folder = set(), ""
    for name in re.findall(r"`([\w/]+\.[ch])`", cells[2]):
        folder = name.rpartition("/")[0] or folder
        files.add(name if "/" in name else f"{folder}/{name}")
    return files


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    copy = tmp_path_factory.mktemp("tree")
    for name in ("include", "pipeline", "splitter"):
        shutil.copytree(ROOT / name, copy / name)
    return copy


def users(tree, sibling):
    """Returns the .c files that name another value, with short names as in the README."""
    files = [p for d in ("pipeline", "splitter") for p in (tree / d).rglob("*.c")]
    found = [p for p in files if re.search(rf"\b{sibling}\b", re.sub(r"/\*.*?\*/", "", p.read_text(), flags=re.S))]
    return {str(p.relative_to(tree)).removeprefix("pipeline/"): p for p in found}


def lacking(tree, files, value):
    """Returns the files whose switches lack the value, by the compiler's warnings."""
    def compile_(item):
        done = subprocess.run(["gcc", *FLAGS, str(item[1])], cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return item[0] if f"‘{value}’ not handled" in done.stderr or f"'{value}' not handled" in done.stderr else None

    with ThreadPoolExecutor(2) as pool:
        return set(pool.map(compile_, files.items())) - {None}


@pytest.mark.parametrize("what, header, last, value, sibling", [
    ("a codec", "include/table.h", "CODEC_LZMA", "CODEC_PLANTED", "CODEC_LZ4"),
    ("a field type", "include/encoding.h", "FIELD_HEX", "FIELD_PLANTED", "FIELD_(?:HEX|F64|DECIMAL|BOOL)"),
    ("a key part", "include/job.h", "PART_KEY }", "PART_PLANTED", "PART_(?:HASH|CONST)"),
])
def test_each_place_is_named(tree, what, header, last, value, sibling):
    path = tree / header
    text = path.read_text()
    name = last.removesuffix(" }")
    assert text.count(last) >= 1, header
    path.write_text(text.replace(last, last.replace(name, f"{name}, {value}"), 1))
    try:
        places = users(tree, sibling)
        found = lacking(tree, places, value)
    finally:
        path.write_text(text)
    named = row(what)
    print(f"{what}: the compiler names {sorted(found)}, the README {sorted(named)}")
    assert found, "the compiler names no file"
    missing = set(places) - found - named
    assert not missing, sorted(missing)
    for file in named:
        assert (ROOT / file).exists() or (ROOT / "pipeline" / file).exists() or (ROOT / "tests" / file).exists(), file


def test_each_list_of_codecs_is_named():
    """Texts and tables list the codecs by name, and no compiler knows them."""
    lists = {str(p.relative_to(ROOT)).removeprefix("pipeline/") for d in ("include", "pipeline", "splitter") for p in (ROOT / d).rglob("*")
             if p.suffix in (".c", ".h", ".py") and re.search("SNAPPY.*LZ4", p.read_text())}
    assert len(lists) >= 8
    line = next(line for line in README.split("\n") if line.startswith("| a codec |"))
    missing = {f for f in lists if f"`{f}`" not in line and f"`{Path(f).name}`" not in line}
    assert not missing, sorted(missing)
