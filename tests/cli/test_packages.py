"""Tests the files of a release, which are the container file, the list of components, and the changelog.

hadolint, the linker's own table and dpkg judge them.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from loads import ROOT

VERSION = re.search(r"^VERSION := (\S+)$", (ROOT / "Makefile").read_text(), re.M)[1]


def test_the_newest_change_is_of_this_version(saltmill):
    text = (ROOT / "conf" / "CHANGELOG.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.M)[0] == VERSION
    done = subprocess.run([saltmill, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"saltmill {VERSION}\n"


def test_the_container_file():
    beside = pathlib.Path(sys.executable).parent / "hadolint"
    hadolint = beside if beside.exists() else shutil.which("hadolint")
    if not hadolint:
        pytest.fail("no hadolint here: run `make deps` (tests/deps.sh test)")
    file = ROOT / "conf" / "Containerfile"
    done = subprocess.run([hadolint, "--failure-threshold", "warning", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    text = file.read_text()
    for script, mode in re.findall(r"(tests/\w+\.sh) (\w+)", text):
        assert re.search(rf"^(?:\w+\|)*{mode}\)|^{mode}\)", (ROOT / script).read_text(), re.M), (script, mode)
    for target in re.findall(r"make (?:-j\S+ )?([a-z]+)\b", text.split("# The first stage")[1]):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M) or target == "dpkg", target
    assert text.index("USER saltmill") < text.index("ENTRYPOINT")


def parsed(text):
    """Returns the blocks of a tag:value document, and its relationships."""
    blocks, relations = [{}], []
    for line in filter(None, text.splitlines()):
        tag, value = line.split(": ", 1)
        if tag == "PackageName":
            blocks.append({})
        if tag == "Relationship":
            relations.append(tuple(value.split()))
        else:
            blocks[-1].setdefault(tag, value)
    return blocks[0], {b["SPDXID"]: b for b in blocks[1:]}, relations


def test_the_list_of_what_it_is_made_of(saltmill):
    if not shutil.which("readelf") or not shutil.which("dpkg"):
        pytest.skip("no readelf or dpkg here")
    made = subprocess.run([ROOT / "tests" / "spdx.sh", saltmill, VERSION], capture_output=True, text=True, check=True)
    head, packages, relations = parsed(made.stdout)
    assert head["SPDXVersion"] == "SPDX-2.3" and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", head["Created"])
    dynamic = subprocess.run(["readelf", "-d", saltmill], capture_output=True, text=True, check=True).stdout
    needed = {n for n in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not n.startswith("ld-linux")}
    linked = {b.removeprefix("SPDXRef-") for a, kind, b in relations if kind == "DYNAMIC_LINK"}
    assert linked == needed and len(needed) > 10
    late = {a.removeprefix("SPDXRef-").split(".so")[0] for a, kind, b in relations if kind == "RUNTIME_DEPENDENCY_OF"}
    stand_ins = {f"lib{p.stem.removeprefix('late_')}".replace("_", "-") for p in (ROOT / "pipeline" / "base").glob("late_*.c")} - {"libbz2"}
    assert late == stand_ins and len(late) == 10
    there = dict(line.split() for line in subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}\n"], capture_output=True, text=True, check=True).stdout.splitlines())
    for name, package in packages.items():
        assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name)
        assert name == "SPDXRef-saltmill" or there[package["PackageName"]] == package["PackageVersion"], package
    assert {a for r in relations for a in r[::2]} - {"SPDXRef-DOCUMENT"} == set(packages)
