"""Tests that `make layers` finds an include that breaks a layer. Each test adds such an include to a copy of the
tree."""
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
    # a wing that the table lacks
    ("pipeline/input/csv/csv.c", '#include "load.h"', "input/csv/csv.c may not include load.h"),
    ("pipeline/input/csv/csv.c", '#include "ddl.h"', "input/csv/csv.c may not include ddl.h"),
    ("splitter/plan.c", '#include "job.h"', "splitter/plan.c may not include job.h"),
    ("include/bytes.h", '#include "load.h"', "include/bytes.h may not include load.h"),
    # includes from a higher room of the same wing, through a public header and through a shared header of the wing
    ("pipeline/load/row/bind.c", '#include "pass.h"', "load/row/bind.c may not include pass.h"),
    ("pipeline/input/csv/csv.c", '#include "input/avro.h"', "csv/csv.c may not include input/avro.h"),
    # a private header of another room, or of another wing
    ("pipeline/load/cut/cut.c", '#include "compiled.h"', "cut/cut.c may not include compiled.h"),
    ("pipeline/load/cut/cut.c", '#include "load/row/compiled.h"', "may not include load/row/compiled.h"),
    ("pipeline/load/row/bind.c", '#include "../../sort/sorted_run.h"', "may not include ../../sort/sorted_run.h"),
    ("pipeline/load/row/bind.c", '#include "sort/sorted_run.h"', "may not include sort/sorted_run.h"),
    ("pipeline/load/row/bind.c", '#include "input/csv.h"', "may not include input/csv.h"),
    ("splitter/plan.c", '#include <zstd.h>', "splitter/plan.c may not include <zstd.h>"),
    ("include/unowned.h", "#define UNOWNED", "include/unowned.h is opened by 0 rooms"),
    ("pipeline/attic/new.c", '#include "bytes.h"', "no room attic of wing attic in the table"),
    ("pipeline/load/attic/new.c", '#include "bytes.h"', "no room attic of wing load in the table"),
    ("include/bytes.h", '#include "io.h"', "headers include each other in a circle"),
    ("pipeline/hfile/compress.h", '#include "block.h"', "headers include each other in a circle"),
    ("pipeline/load/row/sorter.h", '#include "bytes.h"', "has the name of include/sorter.h"),
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


@pytest.mark.parametrize("old, new, found", [
    ("\nsplitter | base |", "\nsplitter | base model |", "the wings use each other in a circle"),
    ("\nsplitter | base |", "\nsplitter | base hfile |", "wing splitter may use hfile, and uses nothing of it"),
    ("rpc(hbase", "rpc(nothing hbase", "the table opens nothing.h, which does not exist"),
    ("kafka(kafka ", "kafka(kafka sorter ", "sorter.h is opened by 2 rooms"),
])
def test_a_wrong_table_is_found(tree, old, new, found):
    makefile = tree / "Makefile"
    before = makefile.read_text()
    makefile.write_text(before.replace(old, new, 1))
    try:
        done = layers(tree)
    finally:
        makefile.write_text(before)
    assert done.returncode != 0 and found in done.stderr, done.stderr
