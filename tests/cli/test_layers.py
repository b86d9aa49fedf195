"""`make layers` finds an include that breaks a wall: each is planted in a copy of the tree."""
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    copy = tmp_path_factory.mktemp("tree")
    for name in ("pipeline", "splitter", "include", "tests/layers.sh", "Makefile"):
        source, target = ROOT / name, copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    return copy


def layers(tree):
    return subprocess.run(["make", "layers"], cwd=tree, capture_output=True, text=True)


def test_the_tree_as_it_is(tree):
    done = layers(tree)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path, line, found", [
    ("pipeline/input/csv/csv.c", '#include "sorter.h"', "input/csv/csv.c may not include sorter.h"),
    ("pipeline/input/csv/csv.c", '#include "ddl.h"', "input/csv/csv.c may not include ddl.h"),
    ("pipeline/load/row/bind.c", '#include "../sort/sorted_run.h"', "may not include ../sort/sorted_run.h"),
    ("pipeline/load/row/bind.c", '#include "sort/sorted_run.h"', "may not include sort/sorted_run.h"),
    ("splitter/plan.c", '#include "job.h"', "splitter/plan.c may not include job.h"),
    ("splitter/plan.c", '#include <zstd.h>', "splitter/plan.c may not include <zstd.h>"),
    ("include/bytes.h", '#include "load.h"', "include/bytes.h may not include load.h"),
    ("include/unowned.h", "#define UNOWNED", "include/unowned.h is the door of 0 rooms"),
    ("pipeline/attic/new.c", '#include "bytes.h"', "no room attic in the table"),
    ("include/bytes.h", '#include "text.h"', "headers include each other in a circle"),
    ("pipeline/hfile/compress.h", '#include "block.h"', "headers include each other in a circle"),
    ("pipeline/row/sorter.h", '#include "bytes.h"', "has the name of include/sorter.h"),
])
def test_a_planted_include_is_found(tree, path, line, found):
    file = tree / path
    before = file.read_text() if file.exists() else None
    file.parent.mkdir(exist_ok=True)
    file.write_text(line + "\n" + (before or ""))
    try:
        done = layers(tree)
    finally:
        if before is None:
            file.unlink()
            if not any(file.parent.iterdir()):
                file.parent.rmdir()
        else:
            file.write_text(before)
    assert done.returncode != 0 and found in done.stderr, done.stderr


def test_a_circle_of_rooms_is_found(tree):
    makefile = tree / "Makefile"
    before = makefile.read_text()
    makefile.write_text(before.replace("\nsort: record sorter | ", "\nsort: record sorter | cut ", 1))
    try:
        done = layers(tree)
    finally:
        makefile.write_text(before)
    assert done.returncode != 0 and "circle" in done.stderr, done.stderr
